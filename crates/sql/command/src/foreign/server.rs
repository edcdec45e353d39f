//! Foreign servers.

use base::{Oid, SqlResult};
use catalog::change::{NewServer, ObjectAddress, options_of};
use catalog::system::{pg_foreign_data_wrapper as w, pg_foreign_server as s};
use catalog::{Row, RowExt};
use parse::ast::{AlterServer, CreateServer, Drop, ObjectName, Rename};
use session::Session;

use super::{SERVERS, WRAPPERS, changed};
use crate::{comment, names};

/// CREATE SERVER.
pub(crate) fn create(session: &Session, statement: &CreateServer) -> SqlResult<()> {
    let name = statement.name.as_str();
    if (SERVERS.find)(session, name)?.is_some() {
        return names::skip_taken(session, statement.if_not_exists, SERVERS.taken(name));
    }
    let wrapper = WRAPPERS.get(session, &statement.wrapper)?;
    let owner = session.names.user();
    WRAPPERS.check_usage(session, &wrapper, owner)?;
    let validator = (wrapper.oid(w::FDWVALIDATOR), s::TABLE.oid);
    let options = changed(session, Vec::new(), &statement.options, validator)?;
    let new = NewServer {
        name,
        owner,
        wrapper: wrapper.oid(w::OID),
        kind: statement.kind.as_deref(),
        version: statement.version.as_deref(),
        options: &options,
    };
    session.with_changer(|changer| changer.create_server(&new))
}

/// ALTER SERVER.
pub(crate) fn alter(session: &Session, statement: &AlterServer) -> SqlResult<()> {
    let row = SERVERS.get(session, &statement.name)?;
    SERVERS.check_owner(session, &row)?;
    let mut options = options_of(&row[s::SRVOPTIONS]);
    if !statement.options.is_empty() {
        let validator = (validator(session, &row)?, s::TABLE.oid);
        options = changed(session, options, &statement.options, validator)?;
    }
    let version = statement.version.as_ref().map(Option::as_deref);
    session.with_changer(|changer| changer.alter_server(row.oid(s::OID), version, &options))
}

/// The validator of a server's wrapper; 0: none.
pub(super) fn validator(session: &Session, server: &Row) -> SqlResult<Oid> {
    let wrapper = session.with_reader(|reader| reader.wrapper(server.oid(s::SRVFDW)))?;
    Ok(wrapper.oid(w::FDWVALIDATOR))
}

/// ALTER SERVER ... OWNER TO.
pub(crate) fn set_owner(session: &Session, object: &ObjectName, owner: Oid) -> SqlResult<()> {
    give(session, &SERVERS.get(session, comment::name(object)?.last())?, owner)
}

/// Gives a server to somebody else, who must be allowed to use its wrapper.
pub(crate) fn give(session: &Session, row: &Row, owner: Oid) -> SqlResult<()> {
    if row.oid(s::SRVOWNER) == owner {
        return Ok(());
    }
    if !session.has_all_rights()? {
        SERVERS.check_owner(session, row)?;
        names::check_may_become(session, owner)?;
        let wrapper = session.with_reader(|reader| reader.wrapper(row.oid(s::SRVFDW)))?;
        WRAPPERS.check_usage(session, &wrapper, owner)?;
    }
    session.with_changer(|changer| changer.set_owner(&SERVERS.kind, row.oid(s::OID), owner, true))
}

/// What COMMENT and ALTER EXTENSION name.
pub(crate) fn address(session: &Session, object: &ObjectName) -> SqlResult<ObjectAddress> {
    SERVERS.address(session, object)
}

/// What DROP SERVER names.
pub(crate) fn dropped(session: &Session, statement: &Drop) -> SqlResult<Vec<ObjectAddress>> {
    SERVERS.dropped(session, statement)
}

/// ALTER SERVER ... RENAME TO.
pub(crate) fn rename(session: &Session, asked: &Rename) -> SqlResult<()> {
    SERVERS.rename(session, asked)
}
