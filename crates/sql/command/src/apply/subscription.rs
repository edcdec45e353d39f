//! A subscription as its workers know it, and what they ask of its publisher.

use base::{Lsn, Oid, SqlError, SqlResult, sql_err};
use catalog::system::pg_subscription as s;
use catalog::{Row, RowExt, texts_of};
use session::Session;
use session::subscription::{Failure, Publisher};
use types::text::quote_identifier;

/// Versions from which on a publisher knows an option.
const KNOWS_BINARY: u32 = 140_000;
const KNOWS_LISTS: u32 = 150_000;
const KNOWS_ORIGIN: u32 = 160_000;

/// A row of `pg_subscription`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Subscription {
    pub oid: Oid,
    pub name: String,
    pub owner: Oid,
    pub enabled: bool,
    pub binary: bool,
    pub disable_on_error: bool,
    pub password_required: bool,
    pub run_as_owner: bool,
    pub connection: String,
    pub slot: Option<String>,
    pub synchronous_commit: String,
    pub publications: Vec<String>,
    pub origin: String,
    /// A transaction that ends there is not applied; invalid: none.
    pub skip: Lsn,
}

impl Subscription {
    pub(crate) fn of(row: &Row) -> Subscription {
        Subscription {
            oid: row.oid(s::OID),
            name: row.str(s::SUBNAME).into(),
            owner: row.oid(s::SUBOWNER),
            enabled: row.bool(s::SUBENABLED),
            binary: row.bool(s::SUBBINARY),
            disable_on_error: row.bool(s::SUBDISABLEONERR),
            password_required: row.bool(s::SUBPASSWORDREQUIRED),
            run_as_owner: row.bool(s::SUBRUNASOWNER),
            connection: row.str(s::SUBCONNINFO).into(),
            slot: row.opt_str(s::SUBSLOTNAME).map(str::to_owned),
            synchronous_commit: row.str(s::SUBSYNCCOMMIT).into(),
            publications: texts_of(&row[s::SUBPUBLICATIONS]),
            origin: row.str(s::SUBORIGIN).into(),
            skip: Lsn(row.long(s::SUBSKIPLSN) as u64),
        }
    }

    /// The name of the origin that its commits are marked with; that of a table's copy.
    pub(crate) fn origin_name(&self, table: Option<Oid>) -> String {
        match table {
            None => format!("pg_{}", self.oid),
            Some(table) => format!("pg_{}_{table}", self.oid),
        }
    }

    /// The slot of a table's copy.
    pub(crate) fn copy_slot(&self, session: &Session, table: Oid) -> String {
        let identifier = session.instance.engine().wal().system_identifier();
        format!("pg_{}_sync_{table}_{identifier}", self.oid)
    }

    /// Connects to the publisher; `name` is what that sees of us.
    pub(crate) fn connect(&self, session: &Session, name: &str) -> Result<Box<dyn Publisher>, Failure> {
        let strings = session.instance.connection_strings();
        let strings = strings.map_err(|error| Failure::Broken(error.message().to_owned()))?;
        let trusted = session.with_reader(|reader| reader.is_superuser(self.owner));
        let trusted = trusted.map_err(|error| Failure::Broken(error.message().to_owned()))?;
        strings.connect(&self.connection, name, self.password_required && !trusted)
    }

    /// The publications as a list of literals.
    pub(crate) fn publication_list(&self) -> String {
        literals(&self.publications)
    }

    /// The command that begins the stream of changes from `start` on.
    pub(crate) fn stream_command(&self, slot: &str, start: Lsn, version: u32) -> String {
        let protocol = match version {
            160_000.. => 4,
            150_000.. => 3,
            140_000.. => 2,
            _ => 1,
        };
        let names: Vec<String> =
            self.publications.iter().map(|name| format!("\"{}\"", name.replace('"', "\"\""))).collect();
        let mut options = format!("proto_version '{protocol}'");
        if version >= KNOWS_ORIGIN {
            options += &format!(", origin {}", literal(&self.origin));
        }
        options += &format!(", publication_names {}", literal(&names.join(",")));
        if self.binary && version >= KNOWS_BINARY {
            options += ", binary 'true'";
        }
        format!("START_REPLICATION SLOT {} LOGICAL {start} ({options})", quote_identifier(slot))
    }
}

/// A literal of the publisher's SQL.
pub(crate) fn literal(text: &str) -> String {
    let quoted = format!("'{}'", text.replace('\'', "''").replace('\\', "\\\\"));
    if text.contains('\\') { format!("E{quoted}") } else { quoted }
}

/// Literals with commas between.
pub(crate) fn literals(texts: &[String]) -> String {
    texts.iter().map(|text| literal(text)).collect::<Vec<_>>().join(", ")
}

/// A table that a publisher publishes.
pub(crate) type Published = (String, String);

/// The tables that publications publish.
pub(crate) fn published(publisher: &mut dyn Publisher, publications: &str) -> SqlResult<Vec<Published>> {
    let query = format!(
        "SELECT DISTINCT t.schemaname, t.tablename FROM pg_catalog.pg_publication_tables t WHERE t.pubname IN ({publications}) ORDER BY 1, 2"
    );
    let rows = publisher
        .query(&query)
        .map_err(|failure| failure.error("could not receive list of replicated tables from the publisher"))?;
    rows.into_iter()
        .map(|row| match row.as_slice() {
            [Some(schema), Some(table)] => Ok((schema.clone(), table.clone())),
            _ => Err(invalid_answer()),
        })
        .collect()
}

/// A publisher answers what it was not asked.
pub(crate) fn invalid_answer() -> SqlError {
    sql_err!(PROTOCOL_VIOLATION, "invalid response from the publisher")
}

/// Makes a slot; its consistent point. The running transaction has the snapshot of that, if it `uses` it.
pub(crate) fn create_slot(
    publisher: &mut dyn Publisher,
    slot: &str,
    uses: bool,
    failover: bool,
) -> SqlResult<Lsn> {
    let options = match (publisher.version() >= KNOWS_LISTS, uses) {
        (true, true) => "(SNAPSHOT 'use')",
        (true, false) if failover => "(FAILOVER, SNAPSHOT 'nothing')",
        (true, false) => "(SNAPSHOT 'nothing')",
        (false, true) => "USE_SNAPSHOT",
        (false, false) => "NOEXPORT_SNAPSHOT",
    };
    let command = format!("CREATE_REPLICATION_SLOT {} LOGICAL pgoutput {options}", quote_identifier(slot));
    let tried = format!("could not create replication slot \"{slot}\"");
    let rows = publisher.query(&command).map_err(|failure| failure.error(&tried))?;
    let point = rows.first().and_then(|row| row.get(1)?.clone()).ok_or_else(invalid_answer)?;
    Ok(Lsn(types::ids::parse_lsn(&point)? as u64))
}

/// Drops a slot; false if there is none.
pub(crate) fn drop_slot(publisher: &mut dyn Publisher, slot: &str) -> Result<bool, Failure> {
    match publisher.query(&format!("DROP_REPLICATION_SLOT {} WAIT", quote_identifier(slot))) {
        Ok(_) => Ok(true),
        Err(Failure::Refused(code, _)) if code == "42704" => Ok(false),
        Err(failure) => Err(failure),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_for_the_publisher() {
        assert_eq!(literals(&["a'b".into(), "c\\d".into()]), "'a''b', E'c\\\\d'");
    }
}
