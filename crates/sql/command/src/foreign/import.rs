//! IMPORT FOREIGN SCHEMA.

use base::{SqlResult, sql_err};
use catalog::RowExt;
use catalog::system::{pg_foreign_data_wrapper as w, pg_foreign_server as s};
use parse::ast::ImportForeignSchema;
use session::Session;

use super::SERVERS;
use crate::names;

/// IMPORT FOREIGN SCHEMA. No wrapper that there is knows of schemas.
pub(crate) fn import(session: &Session, statement: &ImportForeignSchema) -> SqlResult<()> {
    let server = SERVERS.get(session, &statement.server)?;
    SERVERS.check_usage(session, &server, session.names.user())?;
    let schema = session.with_reader(|reader| reader.schema_by_name(&statement.local_schema))?;
    let schema = schema.ok_or_else(|| names::undefined_schema(&statement.local_schema))?;
    names::check_creation(session, schema)?;
    session::foreign::wrapper_of(session, server.oid(s::OID))?;
    let wrapper = session.with_reader(|reader| reader.wrapper(server.oid(s::SRVFDW)))?;
    Err(sql_err!(
        FDW_NO_SCHEMAS,
        "foreign-data wrapper \"{}\" does not support IMPORT FOREIGN SCHEMA",
        wrapper.str(w::FDWNAME)
    ))
}
