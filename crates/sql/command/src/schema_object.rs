//! # What
//! Objects that a schema, a name and an owner are all there is to say of, as far as other statements than CREATE go: what COMMENT, DROP and ALTER ... RENAME, OWNER,
//! SET SCHEMA do with collations, conversions and what text search has.
//!
//! # PostgreSQL counterpart
//! `commands/alter.c`.

use base::{Oid, SqlError, SqlResult, SqlState, sql_err};
use catalog::change::ObjectAddress;
use catalog::{CatalogView, Row, RowExt};
use parse::ast::{Drop, ObjectName, Rename};
use session::Session;

use super::object_kind::Move;
use super::{names, owner};

/// One kind of such objects.
pub(super) struct SchemaObject {
    /// As messages call it.
    pub noun: &'static str,
    /// Columns of its catalog.
    pub oid: usize,
    pub name: usize,
    pub schema: usize,
    /// None: it belongs to superusers.
    pub owner: Option<usize>,
    pub address: fn(Oid) -> ObjectAddress,
    /// The object of a name, the first in the search path; an inner error if there is none.
    pub find: fn(&Session, &ObjectName) -> SqlResult<Result<Row, SqlError>>,
    /// One that has a name in a schema already, so that this one cannot: what its message says behind the name.
    pub taken: fn(&Session, &Row, &str, Oid) -> SqlResult<Option<String>>,
}

impl SchemaObject {
    fn address_of(&self, row: &Row) -> ObjectAddress {
        (self.address)(row.oid(self.oid))
    }

    /// Fails unless the current user owns it.
    pub fn check_owner(&self, session: &Session, row: &Row) -> SqlResult<()> {
        let Some(owner) = self.owner else {
            return match session.has_all_rights()? {
                true => Ok(()),
                false => Err(sql_err!(INSUFFICIENT_PRIVILEGE, "must be superuser")),
            };
        };
        if names::owns(session, row.oid(owner))? {
            return Ok(());
        }
        Err(sql_err!(INSUFFICIENT_PRIVILEGE, "must be owner of {} {}", self.noun, row.str(self.name)))
    }

    /// The same for ALTER: what belongs to superusers is named.
    fn check_alters(&self, session: &Session, row: &Row, what: &str) -> SqlResult<()> {
        if self.owner.is_none() && !session.has_all_rights()? {
            let name = types::text::quote_identifier(row.str(self.name));
            return Err(sql_err!(INSUFFICIENT_PRIVILEGE, "must be superuser to {what} {} {name}", self.noun));
        }
        self.check_owner(session, row)
    }

    fn check_free(&self, session: &Session, row: &Row, (name, schema): (&str, Oid)) -> SqlResult<()> {
        let Some(which) = (self.taken)(session, row, name, schema)? else { return Ok(()) };
        let noun = self.noun;
        let schema = session.with_reader(|r| CatalogView::schema_name(r, schema))?.unwrap_or_default();
        Err(sql_err!(DUPLICATE_OBJECT, "{noun} \"{name}\"{which} already exists in schema \"{schema}\""))
    }

    /// ALTER ... RENAME TO.
    pub fn rename(&self, session: &Session, asked: &Rename) -> SqlResult<()> {
        let object = asked.object.as_ref().ok_or_else(|| SqlError::internal("RENAME of nothing"))?;
        let (row, name) = ((self.find)(session, object)??, &asked.new_name);
        self.check_alters(session, &row, "rename")?;
        let schema = row.oid(self.schema);
        names::check_creation(session, schema)?;
        self.check_free(session, &row, (name, schema))?;
        session.with_changer(|changer| changer.set_object_name(self.address_of(&row), self.name, name))
    }

    /// ALTER ... OWNER TO.
    pub fn set_owner(&self, session: &Session, object: &ObjectName, new: Oid) -> SqlResult<()> {
        let row = (self.find)(session, object)??;
        let Some(column) = self.owner else { return Err(SqlError::internal("an object without an owner")) };
        if row.oid(column) == new {
            return Ok(());
        }
        self.check_owner(session, &row)?;
        owner::check_new_owner(session, new, row.oid(self.schema))?;
        session.with_changer(|changer| changer.set_object_owner(self.address_of(&row), column, new))
    }

    /// ALTER ... SET SCHEMA.
    pub fn set_schema(&self, session: &Session, asked: &Move<'_>) -> SqlResult<()> {
        let row = (self.find)(session, asked.object()?)??;
        let to = names::schema_to_move_to(session, asked.schema)?;
        if row.oid(self.schema) == to {
            return Ok(());
        }
        self.check_alters(session, &row, "set schema of")?;
        self.check_free(session, &row, (row.str(self.name), to))?;
        session.with_changer(|changer| changer.set_object_schema(self.address_of(&row), self.schema, to))
    }

    /// What COMMENT names.
    pub fn commented(&self, session: &Session, object: &ObjectName) -> SqlResult<ObjectAddress> {
        let row = (self.find)(session, object)??;
        self.check_owner(session, &row)?;
        Ok(self.address_of(&row))
    }

    /// What DROP names.
    pub fn dropped(&self, session: &Session, statement: &Drop) -> SqlResult<Vec<ObjectAddress>> {
        let mut objects = Vec::with_capacity(statement.objects.len());
        for object in &statement.objects {
            match (self.find)(session, object) {
                Ok(Ok(row)) => {
                    if !names::owns_schema(session, row.oid(self.schema))? {
                        self.check_owner(session, &row)?;
                    }
                    objects.push(self.address_of(&row));
                }
                Ok(Err(missing)) => {
                    // The notice says no more than the name.
                    let ObjectName::Name(name) = object else { return Err(missing) };
                    let plain =
                        sql_err!(UNDEFINED_OBJECT, "{} \"{}\" does not exist", self.noun, name.dotted());
                    let missing = if statement.missing_ok { plain } else { missing };
                    names::skip_missing(session, statement.missing_ok, missing)?;
                }
                Err(error) if error.code() == SqlState::UNDEFINED_SCHEMA => {
                    names::skip_missing(session, statement.missing_ok, error)?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(objects)
    }
}
