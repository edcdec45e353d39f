//! CREATE and ALTER PUBLICATION; CREATE, ALTER and DROP SUBSCRIPTION.
//!
//! Invariant: what the grammar knows of a version after 18 (all sequences, exceptions, foreign servers) is a syntax error.

use base::SqlResult;
use rupg_sql::nodes as n;

use super::{Converter, boxed_range_var, shape, strings, text_of};
use crate::ast::{
    AlterPublication, AlterSubscription, CreatePublication, CreateSubscription, PublicationAction,
    PublicationObject, PublicationTable, SubscriptionAction,
};

impl Converter<'_> {
    pub(crate) fn create_publication(&mut self, s: n::CreatePublicationStmt) -> SqlResult<CreatePublication> {
        if s.for_all_sequences {
            return Err(self.rejected_word(0, "sequences"));
        }
        Ok(CreatePublication {
            name: text_of(s.pubname),
            objects: self.publication_objects(s.pubobjects)?,
            all_tables: s.for_all_tables,
            options: self.def_elems(s.options)?,
        })
    }

    pub(crate) fn alter_publication(&mut self, s: n::AlterPublicationStmt) -> SqlResult<AlterPublication> {
        if s.for_all_tables || s.for_all_sequences {
            return Err(self.rejected_word(0, "all"));
        }
        let action = match s.action {
            _ if s.pubobjects.is_empty() => PublicationAction::Options(self.def_elems(s.options)?),
            n::AlterPublicationAction::AP_AddObjects => {
                PublicationAction::Add(self.publication_objects(s.pubobjects)?)
            }
            n::AlterPublicationAction::AP_DropObjects => {
                PublicationAction::Drop(self.publication_objects(s.pubobjects)?)
            }
            _ => PublicationAction::Set(self.publication_objects(s.pubobjects)?),
        };
        Ok(AlterPublication { name: text_of(s.pubname), action })
    }

    fn publication_objects(&mut self, list: n::List) -> SqlResult<Vec<PublicationObject>> {
        use n::PublicationObjSpecType as T;
        let mut objects = Vec::with_capacity(list.len());
        for node in list.into_iter().flatten() {
            let n::Node::PublicationObjSpec(object) = node else { return Err(shape("publication")) };
            objects.push(match object.pubobjtype {
                T::PUBLICATIONOBJ_TABLE => {
                    let table = object.pubtable.ok_or_else(|| shape("publication"))?;
                    PublicationObject::Table(self.publication_table(*table)?)
                }
                T::PUBLICATIONOBJ_TABLES_IN_SCHEMA => PublicationObject::Schema(text_of(object.name)),
                T::PUBLICATIONOBJ_TABLES_IN_CUR_SCHEMA => PublicationObject::CurrentSchema,
                _ => return Err(self.rejected_word(0, "except")),
            });
        }
        Ok(objects)
    }

    fn publication_table(&mut self, table: n::PublicationTable) -> SqlResult<PublicationTable> {
        let columns = strings(table.columns)?;
        Ok(PublicationTable {
            relation: boxed_range_var(table.relation)?,
            columns: (!columns.is_empty()).then_some(columns),
            filter: self.opt_expr(table.whereClause)?,
        })
    }

    pub(crate) fn create_subscription(
        &mut self,
        s: n::CreateSubscriptionStmt,
    ) -> SqlResult<CreateSubscription> {
        if s.servername.is_some() {
            return Err(self.rejected_word(0, "server"));
        }
        Ok(CreateSubscription {
            name: text_of(s.subname),
            connection: text_of(s.conninfo),
            publications: strings(s.publication)?,
            options: self.def_elems(s.options)?,
        })
    }

    pub(crate) fn alter_subscription(&mut self, s: n::AlterSubscriptionStmt) -> SqlResult<AlterSubscription> {
        use SubscriptionAction as A;
        use n::AlterSubscriptionType as T;
        let options = self.def_elems(s.options)?;
        let action = match s.kind {
            T::ALTER_SUBSCRIPTION_OPTIONS => A::Options(options),
            T::ALTER_SUBSCRIPTION_CONNECTION => A::Connection(text_of(s.conninfo)),
            T::ALTER_SUBSCRIPTION_SET_PUBLICATION => A::SetPublications(strings(s.publication)?, options),
            T::ALTER_SUBSCRIPTION_ADD_PUBLICATION => A::AddPublications(strings(s.publication)?, options),
            T::ALTER_SUBSCRIPTION_DROP_PUBLICATION => A::DropPublications(strings(s.publication)?, options),
            T::ALTER_SUBSCRIPTION_REFRESH_PUBLICATION => A::Refresh(options),
            T::ALTER_SUBSCRIPTION_ENABLED => {
                let on = crate::ast::OptionValue::Boolean(true);
                A::Enable(options.first().is_some_and(|option| option.value.as_ref() == Some(&on)))
            }
            T::ALTER_SUBSCRIPTION_SKIP => A::Skip(options),
            T::ALTER_SUBSCRIPTION_SERVER => return Err(self.rejected_word(0, "server")),
            _ => return Err(self.rejected_word(0, "sequences")),
        };
        Ok(AlterSubscription { name: text_of(s.subname), action })
    }
}
