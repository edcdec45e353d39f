//! Languages of functions by name.

use base::{Oid, SqlResult, sql_err};
use catalog::RowExt;
use catalog::authority::{self, AclKind};
use catalog::system::pg_language;
use types::acl;

use crate::Session;

/// OID of a language by name.
pub fn find(session: &Session, name: &str) -> SqlResult<Oid> {
    let index = pg_language::PG_LANGUAGE_NAME_INDEX;
    let row = session.with_reader(|r| r.find_one(&pg_language::TABLE, index, &[name.into()]))?;
    row.map(|(_, row)| row.oid(pg_language::OID)).ok_or_else(|| {
        let error = sql_err!(UNDEFINED_OBJECT, "language \"{name}\" does not exist");
        match session.instance().modules().find(name) {
            Some(_) => error.hint("Use CREATE EXTENSION to load the language into the database."),
            None => error,
        }
    })
}

/// Fails unless the current user may write routines in a language: one that is not trusted is for superusers.
pub fn check_usage(session: &Session, oid: Oid, name: &str) -> SqlResult<()> {
    let kind = AclKind::LANGUAGE;
    let allowed = session.with_reader(|reader| {
        let Some((_, row)) = reader.find_one(kind.table, kind.by_oid, &[oid.into()])? else {
            return Ok(false);
        };
        let me = reader.session.user();
        if !row.bool(pg_language::LANPLTRUSTED) {
            return reader.is_superuser(me);
        }
        let items = acl::optional_items(&row[kind.acl]);
        let held = reader.rights(me, kind.letter, (row.oid(kind.owner), items.as_deref()))?;
        Ok(held.has((acl::bits("U"), false)))
    })?;
    if allowed { Ok(()) } else { Err(authority::denied("language", name)) }
}
