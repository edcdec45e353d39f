//! User mappings: what a server is to know of a role, or of all (PUBLIC, 0).

use base::{Oid, SqlError, SqlResult, SqlState, sql_err};
use catalog::change::{Behavior, ObjectAddress, options_of};
use catalog::system::{pg_foreign_server as s, pg_user_mapping as m};
use catalog::{Row, RowExt};
use parse::ast::{MappingChange, MappingName, RoleSpec};
use session::Session;

use super::{SERVERS, changed, server};
use crate::{names, schema};

/// CREATE, ALTER, DROP USER MAPPING.
pub(crate) fn run(session: &Session, name: &MappingName, change: &MappingChange) -> SqlResult<()> {
    let missing_ok = matches!(change, MappingChange::Drop { missing_ok: true });
    let user = match role(session, &name.user) {
        Err(error) if missing_ok && error.code() == SqlState::UNDEFINED_OBJECT => {
            return names::skip_missing(session, true, error);
        }
        found => found?,
    };
    let Some(server) = (SERVERS.find)(session, &name.server)? else {
        return names::skip_missing(session, missing_ok, SERVERS.missing(&name.server));
    };
    let found = session.with_reader(|reader| reader.user_mapping(user.0, server.oid(s::OID)))?;
    match change {
        MappingChange::Create { if_not_exists, options } => {
            check_right(session, user.0, &server)?;
            if found.is_some() {
                let taken = sql_err!(
                    DUPLICATE_OBJECT,
                    "user mapping for \"{}\" already exists for server \"{}\"",
                    user.1,
                    name.server
                );
                return names::skip_taken(session, *if_not_exists, taken);
            }
            let validator = (server::validator(session, &server)?, m::TABLE.oid);
            let options = changed(session, Vec::new(), options, validator)?;
            session.with_changer(|c| c.create_user_mapping(user.0, server.oid(s::OID), &options))
        }
        MappingChange::Alter(options) => {
            let found = found.ok_or_else(|| missing(&user.1, &name.server))?;
            check_right(session, user.0, &server)?;
            let validator = (server::validator(session, &server)?, m::TABLE.oid);
            let options = changed(session, options_of(&found[m::UMOPTIONS]), options, validator)?;
            session.with_changer(|changer| changer.set_mapping_options(found.oid(m::OID), &options))
        }
        MappingChange::Drop { missing_ok } => {
            let Some(found) = found else {
                return names::skip_missing(session, *missing_ok, missing(&user.1, &name.server));
            };
            check_right(session, user.0, &server)?;
            let object = ObjectAddress::user_mapping(found.oid(m::OID));
            session.with_changer(|changer| changer.drop_objects(&[object], Behavior::Cascade)).map(drop)
        }
    }
}

fn role(session: &Session, spec: &RoleSpec) -> SqlResult<(Oid, String)> {
    match spec {
        RoleSpec::Public(_) => Ok((Oid::INVALID, "public".into())),
        spec => schema::role(session, spec),
    }
}

fn missing(user: &str, server: &str) -> SqlError {
    sql_err!(UNDEFINED_OBJECT, "user mapping for \"{user}\" does not exist for server \"{server}\"")
}

/// The server's owner may map anybody, and who may use it himself.
fn check_right(session: &Session, user: Oid, server: &Row) -> SqlResult<()> {
    if user == session.names.user() && !names::owns(session, server.oid(s::SRVOWNER))? {
        return SERVERS.check_usage(session, server, user);
    }
    SERVERS.check_owner(session, server)
}
