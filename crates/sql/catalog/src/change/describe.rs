//! Objects as messages name them: what `pg_describe_object` says, and drops that cascade or are refused.

use base::{Oid, SqlError, SqlResult};
use types::text::quote_identifier;

use super::ObjectAddress;
use crate::database::{PG_CATALOG, Reader};
use crate::object_class::ObjectClass;
use crate::row::{Row, RowExt};
use crate::system::{
    SystemTable, pg_amop, pg_amproc, pg_attrdef, pg_attribute, pg_auth_members, pg_cast, pg_class,
    pg_constraint, pg_default_acl, pg_largeobject, pg_opclass, pg_operator, pg_opfamily, pg_parameter_acl,
    pg_policy, pg_proc, pg_publication_namespace, pg_publication_rel, pg_rewrite, pg_trigger, pg_type,
    pg_user_mapping,
};
use crate::view::{CatalogView, RelationKind};

impl Reader<'_> {
    /// An object as messages name it: `table t`, `column a of table t`, `constraint c on table t`.
    pub fn describe(&self, object: ObjectAddress) -> SqlResult<String> {
        if let Some(class) = ObjectClass::of(object.class) {
            return self.describe_named(class, object.object);
        }
        Ok(match object.class {
            class if class == pg_class::TABLE.oid && object.sub != 0 => self.describe_column(object)?,
            class if class == pg_class::TABLE.oid => self.describe_relation(object.object)?,
            class if class == pg_type::TABLE.oid => format!("type {}", self.type_text(object.object)?),
            class if class == pg_proc::TABLE.oid => self.describe_routine(object.object)?,
            class if class == pg_operator::TABLE.oid => self.describe_operator(object.object)?,
            class if class == pg_opclass::TABLE.oid || class == pg_opfamily::TABLE.oid => {
                self.describe_operator_family(object)?
            }
            class if class == pg_amop::TABLE.oid || class == pg_amproc::TABLE.oid => {
                self.describe_family_member(object)?
            }
            class if class == pg_cast::TABLE.oid => self.describe_cast(object.object)?,
            class if class == pg_auth_members::TABLE.oid => self.describe_membership(object.object)?,
            class if class == pg_default_acl::TABLE.oid => self.describe_default_acl(object.object)?,
            class if class == pg_constraint::TABLE.oid => self.describe_constraint(object.object)?,
            class if class == pg_attrdef::TABLE.oid => self.describe_default(object.object)?,
            class if class == pg_policy::TABLE.oid => self.describe_policy(object.object)?,
            class if class == pg_trigger::TABLE.oid => self.describe_trigger(object.object)?,
            class if class == pg_rewrite::TABLE.oid => self.describe_rule(object.object)?,
            class if class == pg_user_mapping::TABLE.oid => self.describe_user_mapping(object.object)?,
            class if class == pg_publication_rel::TABLE.oid => {
                self.describe_published_table(object.object)?
            }
            class if class == pg_publication_namespace::TABLE.oid => {
                self.describe_published_schema(object.object)?
            }
            class if class == pg_largeobject::TABLE.oid => format!("large object {}", object.object),
            class => format!("object {} of catalog {class}", object.object),
        })
    }

    /// The row of an object, in a catalog where its OID is the key.
    pub fn object_row(&self, shape: &SystemTable, oid: Oid) -> SqlResult<Option<Row>> {
        match shape.indexes.iter().find(|index| index.primary && index.keys == [0]) {
            Some(index) => Ok(self.find_one(shape, index.oid, &[oid.into()])?.map(|(_, row)| row)),
            None => Ok(None),
        }
    }

    /// What a name needs in front of it, if the search path does not show its schema.
    pub(super) fn prefix(&self, schema: Oid) -> SqlResult<String> {
        match schema == PG_CATALOG || CatalogView::search_path(self)?.contains(&schema) {
            true => Ok(String::new()),
            false => {
                let name = CatalogView::schema_name(self, schema)?.unwrap_or_default();
                Ok(format!("{}.", quote_identifier(&name)))
            }
        }
    }

    fn describe_named(&self, class: &ObjectClass, oid: Oid) -> SqlResult<String> {
        let kind = if class.shape.oid == pg_parameter_acl::TABLE.oid { "parameter" } else { class.kind };
        let Some(row) = self.object_row(class.shape, oid)? else { return Ok(format!("{kind} {oid}")) };
        let name = row.str(class.name);
        Ok(match class.schema {
            Some(schema) => format!("{kind} {}{}", self.prefix(row.oid(schema))?, quote_identifier(name)),
            None => format!("{kind} {name}"),
        })
    }

    fn describe_rule(&self, oid: Oid) -> SqlResult<String> {
        let Some(row) = self.object_row(&pg_rewrite::TABLE, oid)? else { return Ok(format!("rule {oid}")) };
        let relation = self.describe_relation(row.oid(pg_rewrite::EV_CLASS))?;
        Ok(format!("rule {} on {relation}", row.str(pg_rewrite::RULENAME)))
    }

    fn describe_published_table(&self, oid: Oid) -> SqlResult<String> {
        use pg_publication_rel::{PRPUBID, PRRELID, TABLE};
        let Some(row) = self.object_row(&TABLE, oid)? else {
            return Ok(format!("publication relation {oid}"));
        };
        let relation = self.describe_relation(row.oid(PRRELID))?;
        Ok(format!(
            "publication of {relation} in {}",
            self.describe(ObjectAddress::publication(row.oid(PRPUBID)))?
        ))
    }

    fn describe_published_schema(&self, oid: Oid) -> SqlResult<String> {
        use pg_publication_namespace::{PNNSPID, PNPUBID, TABLE};
        let Some(row) = self.object_row(&TABLE, oid)? else {
            return Ok(format!("publication namespace {oid}"));
        };
        let schema = self.describe(ObjectAddress::schema(row.oid(PNNSPID)))?;
        Ok(format!(
            "publication of {schema} in {}",
            self.describe(ObjectAddress::publication(row.oid(PNPUBID)))?
        ))
    }

    fn describe_relation(&self, oid: Oid) -> SqlResult<String> {
        let Some(table) = self.relation_by_oid(oid)? else { return Ok(format!("relation {oid}")) };
        let kind = match table.kind {
            RelationKind::Index | RelationKind::PartitionedIndex => "index",
            RelationKind::Sequence => "sequence",
            RelationKind::View => "view",
            RelationKind::MaterializedView => "materialized view",
            RelationKind::Toast => "toast table",
            RelationKind::Composite => "composite type",
            RelationKind::ForeignTable => "foreign table",
            RelationKind::Table | RelationKind::PartitionedTable => "table",
        };
        let qualified = self.relation(None, &table.name)?.is_none_or(|found| found.oid != oid);
        let name = quote_identifier(&table.name);
        Ok(match qualified {
            true => format!("{kind} {}.{name}", quote_identifier(&table.schema_name)),
            false => format!("{kind} {name}"),
        })
    }

    fn describe_column(&self, object: ObjectAddress) -> SqlResult<String> {
        let key = [object.object.into(), object.sub.into()];
        let row = self.find_one(&pg_attribute::TABLE, pg_attribute::PG_ATTRIBUTE_RELID_ATTNUM_INDEX, &key)?;
        let name =
            row.map_or_else(|| object.sub.to_string(), |(_, row)| row.str(pg_attribute::ATTNAME).to_owned());
        Ok(format!("column {name} of {}", self.describe_relation(object.object)?))
    }

    fn describe_membership(&self, oid: Oid) -> SqlResult<String> {
        use pg_auth_members::*;
        let Some((_, row)) = self.find_one(&TABLE, PG_AUTH_MEMBERS_OID_INDEX, &[oid.into()])? else {
            return Ok(format!("membership {oid}"));
        };
        let name = |column: usize| Ok::<_, SqlError>(self.role_name(row.oid(column))?.unwrap_or_default());
        Ok(format!("membership of role {} in role {}", name(MEMBER)?, name(ROLEID)?))
    }

    fn describe_default_acl(&self, oid: Oid) -> SqlResult<String> {
        use pg_default_acl::*;
        let Some((_, row)) = self.find_one(&TABLE, PG_DEFAULT_ACL_OID_INDEX, &[oid.into()])? else {
            return Ok(format!("default ACL {oid}"));
        };
        let what = match row.char(DEFACLOBJTYPE) {
            b'r' => "relations",
            b'S' => "sequences",
            b'f' => "functions",
            b'T' => "types",
            b'n' => "schemas",
            _ => "large objects",
        };
        let role = self.role_name(row.oid(DEFACLROLE))?.unwrap_or_default();
        let place = match self.schema_name(row.oid(DEFACLNAMESPACE))? {
            Some(schema) => format!(" in schema {schema}"),
            None => String::new(),
        };
        Ok(format!("default privileges on new {what} belonging to role {role}{place}"))
    }

    fn describe_constraint(&self, oid: Oid) -> SqlResult<String> {
        let index = pg_constraint::PG_CONSTRAINT_OID_INDEX;
        let Some((_, row)) = self.find_one(&pg_constraint::TABLE, index, &[oid.into()])? else {
            return Ok(format!("constraint {oid}"));
        };
        let name = row.str(pg_constraint::CONNAME);
        Ok(match row.oid(pg_constraint::CONRELID) {
            Oid::INVALID => format!("constraint {name}"),
            table => format!("constraint {name} on {}", self.describe_relation(table)?),
        })
    }

    fn describe_policy(&self, oid: Oid) -> SqlResult<String> {
        let row = self.find_one(&pg_policy::TABLE, pg_policy::PG_POLICY_OID_INDEX, &[oid.into()])?;
        let Some((_, row)) = row else { return Ok(format!("policy {oid}")) };
        let relation = self.describe_relation(row.oid(pg_policy::POLRELID))?;
        Ok(format!("policy {} on {relation}", row.str(pg_policy::POLNAME)))
    }

    fn describe_trigger(&self, oid: Oid) -> SqlResult<String> {
        let row = self.find_one(&pg_trigger::TABLE, pg_trigger::PG_TRIGGER_OID_INDEX, &[oid.into()])?;
        let Some((_, row)) = row else { return Ok(format!("trigger {oid}")) };
        let relation = self.describe_relation(row.oid(pg_trigger::TGRELID))?;
        Ok(format!("trigger {} on {relation}", row.str(pg_trigger::TGNAME)))
    }

    fn describe_default(&self, oid: Oid) -> SqlResult<String> {
        let row = self.find_one(&pg_attrdef::TABLE, pg_attrdef::PG_ATTRDEF_OID_INDEX, &[oid.into()])?;
        let Some((_, row)) = row else { return Ok(format!("default value {oid}")) };
        let column = ObjectAddress::column(row.oid(pg_attrdef::ADRELID), row.int(pg_attrdef::ADNUM) as i16);
        Ok(format!("default value for {}", self.describe_column(column)?))
    }
}
