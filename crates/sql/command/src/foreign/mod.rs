//! # What
//! Foreign data: CREATE, ALTER, DROP of wrappers, servers and user mappings, what foreign tables have beside other tables, and IMPORT FOREIGN SCHEMA.
//!
//! # Layout
//! Here: OPTIONS, which all of them have and the wrapper's validator checks; and what wrappers and servers have in common. One file for each kind.
//!
//! # PostgreSQL counterpart
//! `commands/foreigncmds.c`, `foreign/foreign.c`.

mod import;
pub(crate) mod mapping;
pub(crate) mod server;
pub(crate) mod table;
pub(crate) mod wrapper;

use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::authority::{self, AclKind};
use catalog::change::{ForeignOptions, ObjectAddress, options_array};
use catalog::{Row, RowExt};
use parse::ast::{Drop, ForeignOption, ObjectName, OptionAction, Rename};
use session::Session;
use types::acl;

pub(crate) use self::import::import;
use super::{comment, names};

/// What OPTIONS of a statement make of those that there were; the validator, if there is one, is asked about all of them.
fn changed(
    session: &Session,
    mut options: ForeignOptions,
    changes: &[ForeignOption],
    (validator, class): (Oid, Oid),
) -> SqlResult<ForeignOptions> {
    for ForeignOption { action, name, value } in changes {
        if name.contains('=') {
            return Err(sql_err!(
                INVALID_PARAMETER_VALUE,
                "invalid option name \"{name}\": must not contain \"=\""
            ));
        }
        let at = options.iter().position(|(known, _)| known == name);
        match (action, at) {
            (OptionAction::Add, None) => options.push((name.clone(), value.clone())),
            (OptionAction::Add, Some(_)) => {
                return Err(sql_err!(DUPLICATE_OBJECT, "option \"{name}\" provided more than once"));
            }
            (OptionAction::Set, Some(at)) => options[at].1.clone_from(value),
            (OptionAction::Drop, Some(at)) => drop(options.remove(at)),
            (OptionAction::Set | OptionAction::Drop, None) => {
                return Err(sql_err!(UNDEFINED_OBJECT, "option \"{name}\" not found"));
            }
        }
    }
    if validator.is_valid() {
        let args = [(types::oids::_text, options_array(&options)), (types::oids::oid, class.into())];
        session.call_function(validator, args)?;
    }
    Ok(options)
}

/// Wrappers or servers: objects with a name, an owner and privileges.
struct Named {
    kind: AclKind,
    /// As messages call it if there is none, or one already.
    noun: &'static str,
    /// The row of a name.
    find: fn(&Session, &str) -> SqlResult<Option<Row>>,
}

const WRAPPERS: Named = Named {
    kind: AclKind::FOREIGN_DATA_WRAPPER,
    noun: "foreign-data wrapper",
    find: |session, name| session.with_reader(|reader| reader.wrapper_named(name)),
};

const SERVERS: Named = Named {
    kind: AclKind::FOREIGN_SERVER,
    noun: "server",
    find: |session, name| session.with_reader(|reader| reader.server_named(name)),
};

impl Named {
    fn missing(&self, name: &str) -> SqlError {
        sql_err!(UNDEFINED_OBJECT, "{} \"{name}\" does not exist", self.noun)
    }

    fn taken(&self, name: &str) -> SqlError {
        sql_err!(DUPLICATE_OBJECT, "{} \"{name}\" already exists", self.noun)
    }

    fn get(&self, session: &Session, name: &str) -> SqlResult<Row> {
        (self.find)(session, name)?.ok_or_else(|| self.missing(name))
    }

    fn address_of(&self, row: &Row) -> ObjectAddress {
        ObjectAddress { class: self.kind.table.oid, object: row.oid(0), sub: 0 }
    }

    fn check_owner(&self, session: &Session, row: &Row) -> SqlResult<()> {
        if names::owns(session, row.oid(self.kind.owner))? {
            return Ok(());
        }
        let name = row.str(self.kind.name);
        Err(sql_err!(INSUFFICIENT_PRIVILEGE, "must be owner of {} {name}", self.kind.word))
    }

    /// Whether a role may use it.
    fn is_usable(&self, session: &Session, row: &Row, role: Oid) -> SqlResult<bool> {
        let items = acl::optional_items(&row[self.kind.acl]);
        let owned = (row.oid(self.kind.owner), items.as_deref());
        let held = session.with_reader(|reader| reader.rights(role, self.kind.letter, owned))?;
        Ok(held.has((acl::bits("U"), false)))
    }

    fn check_usage(&self, session: &Session, row: &Row, role: Oid) -> SqlResult<()> {
        match self.is_usable(session, row, role)? {
            true => Ok(()),
            false => Err(authority::denied(self.kind.word, row.str(self.kind.name))),
        }
    }

    /// What COMMENT names.
    fn address(&self, session: &Session, object: &ObjectName) -> SqlResult<ObjectAddress> {
        let row = self.get(session, comment::name(object)?.last())?;
        self.check_owner(session, &row)?;
        Ok(self.address_of(&row))
    }

    /// What DROP names.
    fn dropped(&self, session: &Session, statement: &Drop) -> SqlResult<Vec<ObjectAddress>> {
        let mut objects = Vec::with_capacity(statement.objects.len());
        for object in &statement.objects {
            let name = comment::name(object)?.last();
            match (self.find)(session, name)? {
                Some(row) => {
                    self.check_owner(session, &row)?;
                    objects.push(self.address_of(&row));
                }
                None => names::skip_missing(session, statement.missing_ok, self.missing(name))?,
            }
        }
        Ok(objects)
    }

    /// ALTER ... RENAME TO.
    fn rename(&self, session: &Session, asked: &Rename) -> SqlResult<()> {
        let object = asked.object.as_ref().ok_or_else(|| SqlError::internal("RENAME of nothing"))?;
        let row = self.get(session, comment::name(object)?.last())?;
        self.check_owner(session, &row)?;
        let name = &asked.new_name;
        if (self.find)(session, name)?.is_some() {
            return Err(self.taken(name));
        }
        session.with_changer(|c| c.set_object_name(self.address_of(&row), self.kind.name, name))
    }
}
