//! A session that copies a table for a subscription, and brings it up to where the subscription's own worker is.
//!
//! The states of a table (`pg_subscription_rel.srsubstate`): i, to be copied; d, being copied; f, copied in the snapshot of a slot that is made for it; s, brought up to a position at which the
//! subscription's own worker goes on with it; r, that one is there. A copy that is broken off begins again: what it did is one transaction, which sets f.

use std::sync::Arc;
use std::time::Duration;

use base::{Lsn, Oid, SqlError, SqlResult, SqlState};
use catalog::CatalogView;
use parse::Statement;
use session::output::{Format, Output, RowEncoder};
use session::subscription::{Publisher, Step};
use session::{Instance, Session};
use tuple::Datum;
use types::text::quote_identifier;

use super::Place;
use super::protocol::{RemoteColumn, RemoteTable};
use super::subscription::{create_slot, drop_slot, invalid_answer, literal};
use super::target::Target;
use super::worker::{Worker, live};
use crate::copy;

/// Versions from which on a publisher tells columns and conditions of what it publishes.
const TELLS_COLUMNS: u32 = 150_000;
/// Version from which on values are copied in binary form, if that is wanted.
const COPIES_BINARY: u32 = 160_000;

/// The life of a copier.
pub(super) fn work(instance: &Arc<Instance>, place: Place, database: Oid, (subscription, table): (Oid, Oid)) {
    live(instance, place, database, (subscription, Some(table)), |worker| bring_up(worker, table));
}

fn bring_up(worker: &mut Worker<'_>, table: Oid) -> SqlResult<()> {
    worker.load_states()?;
    let state = worker.state(table);
    if !matches!(state, Some(b'i' | b'd' | b'f')) {
        return Ok(());
    }
    let slot = worker.known.copy_slot(worker.session, table);
    let mut publisher = worker.connect(&slot)?;
    let start = match state {
        Some(b'f') => worker.progress(),
        _ => copy_table(worker, &mut *publisher, table, &slot)?,
    };
    let Some(upto) = wait_for_position(worker)? else { return Ok(()) };
    let mut end = start;
    if upto > start {
        let command = worker.known.stream_command(&slot, start, publisher.version());
        publisher.begin_stream(&command).map_err(|failure| failure.error("could not start WAL streaming"))?;
        worker.received = start;
        worker.follow(&mut *publisher, Some(upto))?;
        if worker.received < upto {
            return Ok(());
        }
        end = worker.received;
        let _ = publisher.end_stream();
    }
    worker.set_state(table, b's', Some(end))?;
    // Commits of workers may not wait for the disk. After a crash that forgot the state, the slot would be asked for again.
    let wal = worker.session.instance.engine().wal();
    wal.flush(wal.insert_end()).map_err(engine::EngineError::Wal)?;
    let dropped = drop_slot(&mut *publisher, &slot).map_err(|failure| {
        failure.error(&format!("could not drop replication slot \"{slot}\" on publisher"))
    });
    publisher.close();
    let session = worker.session;
    session.leave_origin();
    session.begin_statement();
    session.drop_origin(&worker.known.origin_name(Some(table)))?;
    session.commit_transaction()?;
    dropped?;
    let name = worker.name_of(table)?;
    worker.log(format!(
        "logical replication table synchronization worker for subscription \"{}\", table \"{name}\" has finished",
        worker.known.name
    ));
    Ok(())
}

/// Waits until the subscription's own worker tells how far to go; none if nobody wants that any more.
fn wait_for_position(worker: &mut Worker<'_>) -> SqlResult<Option<Lsn>> {
    worker.entered.go_to(Step::Waiting);
    loop {
        worker.entered.wake().reset();
        if let Step::CatchingUp(upto) = worker.entered.step() {
            return Ok(Some(upto));
        }
        if !worker.goes_on()? {
            return Ok(None);
        }
        let woken = worker.entered.wake().until_set();
        let nap = runtime::time::timeout(Duration::from_secs(1), woken);
        let _ = runtime::wait_interruptible(nap)?;
    }
}

/// Copies the rows that the table has at the consistent point of a new slot, which is returned.
fn copy_table(
    worker: &mut Worker<'_>,
    publisher: &mut dyn Publisher,
    table: Oid,
    slot: &str,
) -> SqlResult<Lsn> {
    let ask = |publisher: &mut dyn Publisher, command: &str, tried: &str| {
        publisher.query(command).map(drop).map_err(|failure| failure.error(tried))
    };
    // What an attempt that was broken off has left.
    if worker.state(table) == Some(b'd') {
        drop_slot(publisher, slot).map_err(|failure| {
            failure.error(&format!("could not drop replication slot \"{slot}\" on publisher"))
        })?;
    }
    worker.set_state(table, b'd', None)?;
    let begin = "BEGIN READ ONLY ISOLATION LEVEL REPEATABLE READ";
    ask(publisher, begin, "table copy could not start transaction on publisher")?;
    let point = create_slot(publisher, slot, true, false)?;
    worker.begin_at(point)?;
    let session = worker.session;
    session.begin_statement();
    let found = session.with_reader(|reader| reader.relation_by_oid(table))?;
    let found =
        found.ok_or_else(|| SqlError::internal(format!("could not open relation with OID {table}")))?;
    let (remote, select) =
        describe(publisher, &worker.known.publication_list(), (&found.schema_name, &found.name))?;
    let user = worker.known.run_as_owner.then_some(worker.known.owner);
    let target = Target::open(session, &remote, user)?;
    let binary = worker.known.binary && publisher.version() >= COPIES_BINARY;
    let format = if binary { " WITH (FORMAT binary)" } else { "" };
    let tried =
        format!("could not start initial contents copy for table \"{}.{}\"", remote.schema, remote.name);
    publisher
        .begin_copy(&format!("COPY {select} TO STDOUT{format}"))
        .map_err(|failure| failure.error(&tried))?;
    take_rows(session, &target, &remote, format, publisher)?;
    ask(publisher, "COMMIT", "table copy could not finish transaction on publisher")?;
    worker.enter_state(table, b'f', None)?;
    session.commit_transaction()?;
    Ok(point)
}

/// The rows that a publisher sends, for COPY FROM STDIN.
struct Sent<'a>(&'a mut dyn Publisher);

impl Output for Sent<'_> {
    fn data_row(&mut self, _encoder: &RowEncoder<'_>, _row: &[Datum]) -> SqlResult<()> {
        Err(SqlError::internal("rows of a COPY from a publisher"))
    }

    fn notice(&mut self, _notice: &SqlError) {}

    fn copy_in(&mut self, _format: Format, _columns: usize) -> SqlResult<()> {
        Ok(())
    }

    fn copy_in_data(&mut self) -> SqlResult<Option<Vec<u8>>> {
        self.0.copied().map_err(|failure| failure.error("could not receive data from WAL stream"))
    }

    fn copy_out_data(&mut self, _row: &[u8]) -> SqlResult<()> {
        Err(SqlError::internal("COPY to a publisher"))
    }
}

fn take_rows(
    session: &Session,
    target: &Target,
    remote: &RemoteTable,
    format: &str,
    publisher: &mut dyn Publisher,
) -> SqlResult<()> {
    let names: Vec<String> = remote.columns.iter().map(|column| quote_identifier(&column.name)).collect();
    let (schema, name) = (quote_identifier(&remote.schema), quote_identifier(&remote.name));
    let list = if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
    let text = format!("COPY {schema}.{name}{list} FROM STDIN{format}");
    let parsed = parse::parse(&text)?.into_iter().next().map(|raw| raw.stmt);
    let Some(Statement::Copy(statement)) = parsed else {
        return Err(SqlError::internal("COPY of a table"));
    };
    let mut sent = Sent(publisher);
    let mut run = || copy::run(session, &statement, &text, &mut sent).map(drop);
    match target.role() {
        None => run(),
        Some(role) => session.as_role(role, run),
    }
}

/// What a publisher answers to a query about a table.
fn ask(publisher: &mut dyn Publisher, full: &str, query: &str) -> SqlResult<Vec<Vec<Option<String>>>> {
    let tried = format!("could not fetch table info for table \"{full}\" from publisher");
    publisher.query(query).map_err(|failure| failure.error(&tried))
}

/// The columns of a table that are published, and what is to be copied there.
fn describe(
    publisher: &mut dyn Publisher,
    publications: &str,
    (schema, name): (&str, &str),
) -> SqlResult<(RemoteTable, String)> {
    let full = format!("{schema}.{name}");
    let (schema_text, name_text) = (literal(schema), literal(name));
    let found = ask(
        publisher,
        &full,
        &format!(
            "SELECT c.oid, c.relkind FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = {schema_text} AND c.relname = {name_text}"
        ),
    )?;
    let Some(row) = found.into_iter().next() else {
        let message = format!("table \"{full}\" not found on publisher");
        return Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message));
    };
    let [Some(oid), Some(kind)] = row.as_slice() else { return Err(invalid_answer()) };
    let tells = publisher.version() >= TELLS_COLUMNS;
    let of = format!(
        "t.pubname IN ({publications}) AND t.schemaname = {schema_text} AND t.tablename = {name_text}"
    );
    let listed = match tells {
        true => format!(
            "EXISTS (SELECT 1 FROM pg_catalog.pg_publication_tables t WHERE {of} AND a.attname = ANY (t.attnames))"
        ),
        false => "a.attgenerated = ''".into(),
    };
    let columns = ask(
        publisher,
        &full,
        &format!(
            "SELECT a.attname, a.attgenerated <> '' FROM pg_catalog.pg_attribute a WHERE a.attrelid = {oid} AND a.attnum > 0 AND NOT a.attisdropped AND {listed} ORDER BY a.attnum"
        ),
    )?;
    let filters = match tells {
        true => ask(
            publisher,
            &full,
            &format!("SELECT DISTINCT t.rowfilter FROM pg_catalog.pg_publication_tables t WHERE {of}"),
        )?,
        false => Vec::new(),
    };
    Ok(chosen((schema, name), kind, &columns, &filters))
}

/// The table as far as it is published, and what is to be copied: the table itself, or a query where only some of its rows are published or COPY would not tell them.
fn chosen(
    (schema, name): (&str, &str),
    kind: &str,
    columns: &[Vec<Option<String>>],
    filters: &[Vec<Option<String>>],
) -> (RemoteTable, String) {
    let text = |row: &Vec<Option<String>>, at: usize| row.get(at).cloned().flatten();
    let names: Vec<String> = columns.iter().filter_map(|row| text(row, 0)).collect();
    let generated = columns.iter().any(|row| text(row, 1).as_deref() == Some("t"));
    let filters: Option<Vec<String>> = filters.iter().map(|row| text(row, 0)).collect();
    let filters = filters.unwrap_or_default();
    let quoted = format!("{}.{}", quote_identifier(schema), quote_identifier(name));
    let list: Vec<String> = names.iter().map(|name| quote_identifier(name)).collect();
    let list = list.join(", ");
    let select = match kind == "r" && filters.is_empty() && !generated {
        true if names.is_empty() => quoted,
        true => format!("{quoted} ({list})"),
        false => {
            let only = if kind == "r" { "ONLY " } else { "" };
            let condition = match filters.is_empty() {
                true => String::new(),
                false => format!(" WHERE {}", filters.join(" OR ")),
            };
            format!("(SELECT {list} FROM {only}{quoted}{condition})")
        }
    };
    let column = |name: String| RemoteColumn { name, key: false };
    let remote = RemoteTable {
        number: 0,
        schema: schema.into(),
        name: name.into(),
        identity: b'd',
        columns: names.into_iter().map(column).collect(),
    };
    (remote, select)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_copied_follows_from_what_is_published() {
        let row = |texts: &[Option<&str>]| -> Vec<Option<String>> {
            texts.iter().map(|text| text.map(str::to_owned)).collect()
        };
        let columns = [row(&[Some("a"), Some("f")]), row(&[Some("B"), Some("f")])];
        let select = |kind, columns: &[_], filters: &[_]| chosen(("s", "t"), kind, columns, filters).1;
        assert_eq!(select("r", &columns, &[]), "s.t (a, \"B\")");
        assert_eq!(select("r", &columns, &[row(&[None]), row(&[Some("a > 1")])]), "s.t (a, \"B\")");
        let filters = [row(&[Some("(a > 1)")]), row(&[Some("(a < 0)")])];
        let filtered = "(SELECT a, \"B\" FROM ONLY s.t WHERE (a > 1) OR (a < 0))";
        assert_eq!(select("r", &columns, &filters), filtered);
        assert_eq!(select("p", &columns, &[]), "(SELECT a, \"B\" FROM s.t)");
        let generated = [row(&[Some("g"), Some("t")])];
        assert_eq!(select("r", &generated, &[]), "(SELECT g FROM ONLY s.t)");
    }
}
