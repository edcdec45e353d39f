//! # What
//! REINDEX: indexes rebuilt, in new files. The old files go with the commit.
//!
//! # Locks
//! SHARE ROW EXCLUSIVE on the table while indexes are built, then ACCESS EXCLUSIVE until the commit removes the old files: index scans lock only the table.
//! (Two sessions that both held SHARE would then wait for each other.) CONCURRENTLY: SHARE UPDATE EXCLUSIVE on the table. For a TOAST table, first
//! the table that it belongs to, in the same mode: a TOAST table is locked only together with its table. Readers of catalogs take no lock and are
//! kept out in another way ([`super::rewrite_catalog`]).
//!
//! # PostgreSQL counterpart and differences
//! `ReindexIndex` and its neighbours in `commands/indexcmds.c`. Writers of large values maintain one index of the TOAST table only, so that index is
//! never rebuilt while others write.

use std::sync::Arc;

use base::{Oid, Severity, SqlError, SqlResult, SqlState, sql_err};
use catalog::system::{catalog_of, pg_class};
use catalog::tables::PG_GLOBAL;
use catalog::{CatalogView, Index, PG_CATALOG, PG_TOAST, RelationKind, RowExt, Table, predefined};
use parse::ast::{DefElem, RangeVar, Reindex, ReindexKind};
use runtime::time::Stopwatch;
use session::Session;
use session::output::Output;
use session::progress::Lengthy;
use txn::{LockMode, LockWait};

use super::names::{self, at};
use super::rewrite;
use super::{index_build, index_concurrently, inherit, options, partition_index, tablespace};

/// REINDEX.
pub(crate) fn run(session: &Session, statement: &Reindex, text: &str, out: &mut dyn Output) -> SqlResult<()> {
    let how = read(session, &statement.options, text)?;
    if how.concurrently {
        session.prevent_in_block("REINDEX CONCURRENTLY")?;
    }
    match (&statement.relation, statement.kind) {
        (Some(name), ReindexKind::Index) => one_index(session, name, how),
        (Some(name), _) => one_table(session, name, how),
        (None, kind) => many(session, kind, statement.name.as_deref(), how, out),
    }
}

/// How to do it.
#[derive(Clone, Copy, Default)]
struct How {
    /// VERBOSE: a message for each index.
    verbose: bool,
    /// While others write.
    concurrently: bool,
    /// `reltablespace` that the indexes get, but those of TOAST tables.
    tablespace: Option<Oid>,
}

impl How {
    /// The lock of a table while its indexes are built.
    fn mode(self) -> LockMode {
        if self.concurrently { LockMode::ShareUpdateExclusive } else { LockMode::ShareRowExclusive }
    }

    /// Locks the table that a TOAST table belongs to.
    fn lock_guard(self, session: &Session, table: &Table) -> SqlResult<()> {
        match names::guard(session, table)? {
            guard if guard == table.oid => Ok(()),
            guard => names::lock_relation(session, guard, self.mode(), LockWait::Block),
        }
    }

    /// Locks a table, and gives its description as of then.
    fn open(self, session: &Session, oid: Oid) -> SqlResult<Option<Arc<Table>>> {
        if let Some(table) = session.with_reader(|reader| reader.relation_by_oid(oid))? {
            self.lock_guard(session, &table)?;
        }
        inherit::open_child(session, oid, self.mode())
    }

    /// How to do it for this table: no other session writes to a temporary one.
    fn of(self, table: &Table) -> SqlResult<How> {
        if !self.concurrently {
            return Ok(self);
        }
        if catalog_of(table.oid).is_some() {
            return Err(sql_err!(FEATURE_NOT_SUPPORTED, "cannot reindex system catalogs concurrently"));
        }
        Ok(How { concurrently: table.persistence != 't', ..self })
    }
}

fn read(session: &Session, list: &[DefElem], text: &str) -> SqlResult<How> {
    let mut how = How::default();
    let mut to = None;
    for option in list {
        match option.name.as_str() {
            "verbose" => how.verbose = options::boolean(option)?,
            "concurrently" => how.concurrently = options::boolean(option)?,
            "tablespace" => to = Some(tablespace::named(session, &options::string(option)?)?),
            other => {
                let error = sql_err!(SYNTAX_ERROR, "unrecognized REINDEX option \"{other}\"");
                return Err(at(error, text, option.location));
            }
        }
    }
    if let Some(to) = to {
        how.tablespace = Some(place(session, to)?);
    }
    Ok(how)
}

/// `reltablespace` of indexes that go to a tablespace. That of shared catalogs is refused where an index is to go there.
fn place(session: &Session, to: Oid) -> SqlResult<Oid> {
    if to == PG_GLOBAL {
        names::check_tablespace_creation(session, to, "pg_global")?;
        return Ok(to);
    }
    tablespace::for_relation(session, to)
}

fn one_index(session: &Session, name: &RangeVar, how: How) -> SqlResult<()> {
    let (found, table) = open_index(session, name, how)?;
    let rights = session.with_reader(|r| r.relation_rights(r.session.user(), &table))?;
    if !rights.has((types::acl::bits("m"), false)) {
        return Err(catalog::authority::denied("index", &found.name));
    }
    if found.kind == RelationKind::PartitionedIndex {
        session.prevent_in_block("REINDEX INDEX")?;
        let parts = partition_index::parts(session, &table, found.oid)?;
        return parts.into_iter().try_for_each(|(partition, part)| {
            session.next_transaction()?;
            match how.open(session, partition)? {
                Some(table) => index_of(session, &table, part, how),
                None => Ok(()),
            }
        });
    }
    index_of(session, &table, found.oid, how)
}

/// The index with this name and its table, both locked.
fn open_index(session: &Session, name: &RangeVar, how: How) -> SqlResult<(Arc<Table>, Arc<Table>)> {
    let mode = if how.concurrently { LockMode::ShareUpdateExclusive } else { LockMode::AccessExclusive };
    loop {
        let Some(found) = names::lookup(session, name)? else { return Err(names::missing(session, name)?) };
        if !matches!(found.kind, RelationKind::Index | RelationKind::PartitionedIndex) {
            return Err(sql_err!(WRONG_OBJECT_TYPE, "\"{}\" is not an index", found.name));
        }
        let table = how.open(session, names::table_of_index(session, found.oid)?)?;
        names::lock(session, &found, mode, LockWait::Block)?;
        // Another may have the name since it was looked up, or none.
        if let (Some(table), Some(now)) = (table, names::lookup(session, name)?)
            && now.oid == found.oid
        {
            return Ok((now, table));
        }
        session.txn.borrow_mut().unlock(session.catalog.lock_tag(found.oid), mode);
    }
}

fn index_of(session: &Session, table: &Table, index: Oid, how: How) -> SqlResult<()> {
    check_movable(table, Some(index), how)?;
    indexes(session, table, Some(index), how)?;
    exclude_readers(session, table, how)
}

/// Indexes of catalogs and of TOAST tables stay where they are.
fn check_movable(table: &Table, only: Option<Oid>, how: How) -> SqlResult<()> {
    let Some(to) = how.tablespace else { return Ok(()) };
    let how = how.of(table)?;
    if catalog_of(table.oid).is_some() || table.kind == RelationKind::Toast {
        let mut indexes = table.indexes.iter().filter(|index| only.is_none_or(|oid| oid == index.oid));
        let name = indexes.next().map_or(table.name.as_str(), |index| index.name.as_str());
        return Err(sql_err!(FEATURE_NOT_SUPPORTED, "cannot move system relation \"{name}\""));
    }
    match to == PG_GLOBAL {
        true if how.concurrently => Err(sql_err!(
            FEATURE_NOT_SUPPORTED,
            "cannot move non-shared relation to tablespace \"pg_global\""
        )),
        true => Err(sql_err!(
            INVALID_PARAMETER_VALUE,
            "only shared relations can be placed in pg_global tablespace"
        )),
        false => Ok(()),
    }
}

fn one_table(session: &Session, name: &RangeVar, how: How) -> SqlResult<()> {
    if let Some(found) = names::lookup(session, name)? {
        how.lock_guard(session, &found)?;
    }
    let table = names::open(session, name, how.mode())?;
    if !matches!(
        table.kind,
        RelationKind::Table
            | RelationKind::MaterializedView
            | RelationKind::PartitionedTable
            | RelationKind::Toast
    ) {
        return Err(sql_err!(WRONG_OBJECT_TYPE, "\"{}\" is not a table or materialized view", table.name));
    }
    names::check_right(session, &table, "m")?;
    check_movable(&table, None, how)?;
    if table.kind == RelationKind::PartitionedTable {
        session.prevent_in_block("REINDEX TABLE")?;
        let all = inherit::descendants(session, &table, LockMode::AccessShare)?;
        let leaves: Vec<Oid> = all.iter().filter(|t| t.kind == RelationKind::Table).map(|t| t.oid).collect();
        return each(session, &leaves, how, None);
    }
    if !with_toast(session, &table, how)? {
        let what = if how.concurrently { "that can be reindexed concurrently" } else { "to reindex" };
        let message = format!("table \"{}\" has no indexes {what}", table.name);
        session.notice(names::notice(SqlState::SUCCESSFUL_COMPLETION, message));
    }
    Ok(())
}

/// The tables of a schema, or of the database.
fn many(
    session: &Session,
    kind: ReindexKind,
    name: Option<&str>,
    how: How,
    out: &mut dyn Output,
) -> SqlResult<()> {
    let (word, schema) = match kind {
        ReindexKind::Schema => {
            ("REINDEX SCHEMA", Some(schema_to_reindex(session, name.unwrap_or_default())?))
        }
        ReindexKind::System => ("REINDEX SYSTEM", None),
        _ => ("REINDEX DATABASE", None),
    };
    if schema.is_none() {
        check_database(session, name)?;
    }
    session.prevent_in_block(word)?;
    if how.concurrently && kind == ReindexKind::System {
        return Err(sql_err!(FEATURE_NOT_SUPPORTED, "cannot reindex system catalogs concurrently"));
    }
    if how.concurrently && schema == Some(PG_CATALOG) {
        let message = "cannot reindex system catalogs concurrently, skipping all";
        session.warning(SqlState::FEATURE_NOT_SUPPORTED, message);
        return Ok(());
    }
    if how.tablespace.is_some() && (kind == ReindexKind::System || schema == Some(PG_CATALOG)) {
        let message = "cannot move system relations, skipping all";
        session.warning(SqlState::INSUFFICIENT_PRIVILEGE, message);
        return Ok(());
    }
    let rows = session.with_reader(|reader| reader.scan(&pg_class::TABLE))?;
    let wanted = |row: &catalog::Row| {
        let space = row.oid(pg_class::RELNAMESPACE);
        let of_system = catalog_of(row.oid(pg_class::OID)).is_some();
        matches!(row.char(pg_class::RELKIND), b'r' | b'm')
            && (schema.is_some() || of_system == (kind == ReindexKind::System))
            && schema.map_or(space != PG_TOAST, |schema| space == schema)
    };
    let tables: Vec<Oid> =
        rows.iter().filter(|(_, row)| wanted(row)).map(|(_, row)| row.oid(pg_class::OID)).collect();
    each(session, &tables, how, Some(out))
}

fn schema_to_reindex(session: &Session, name: &str) -> SqlResult<Oid> {
    let schema = session.with_reader(|reader| reader.schema_by_name(name))?;
    let schema = schema.ok_or_else(|| names::undefined_schema(name))?;
    if !names::owns_schema(session, schema)? && !session.has_role(predefined::MAINTAIN)? {
        return Err(sql_err!(INSUFFICIENT_PRIVILEGE, "must be owner of schema {name}"));
    }
    Ok(schema)
}

fn check_database(session: &Session, name: Option<&str>) -> SqlResult<()> {
    let own = session.catalog.database_name();
    if name.is_some_and(|name| name != own) {
        return Err(sql_err!(FEATURE_NOT_SUPPORTED, "can only reindex the currently open database"));
    }
    if session.has_role(predefined::DATABASE_OWNER)? || session.has_role(predefined::MAINTAIN)? {
        return Ok(());
    }
    Err(sql_err!(INSUFFICIENT_PRIVILEGE, "must be owner of database {own}"))
}

/// Each table in a transaction of its own.
fn each(session: &Session, tables: &[Oid], how: How, mut out: Option<&mut dyn Output>) -> SqlResult<()> {
    for &oid in tables {
        session.next_transaction()?;
        let mine =
            |t: &Arc<Table>| t.persistence != 't' || session.names.temporary_schema() == Some(t.schema);
        let Some(table) = how.open(session, oid)?.filter(mine) else { continue };
        let rights = session.with_reader(|r| r.relation_rights(r.session.user(), &table))?;
        if !rights.has((types::acl::bits("m"), false)) {
            continue;
        }
        check_movable(&table, None, how)?;
        if let Some(to) = how.tablespace {
            tablespace::keep(session, to)?;
        }
        let done = with_toast(session, &table, how)?;
        if done && how.verbose && !how.concurrently {
            let message = format!("table \"{}.{}\" was reindexed", table.schema_name, table.name);
            rewrite::info(session, message, None);
        }
        if let Some(out) = &mut out {
            session.send_notices(&mut **out);
        }
    }
    Ok(())
}

/// All indexes of a table and of its TOAST table; false if there are none.
fn with_toast(session: &Session, table: &Table, how: How) -> SqlResult<bool> {
    let mut done = indexes(session, table, None, how)?;
    if table.toast.is_valid() {
        if how.concurrently {
            session.next_transaction()?;
        }
        if let Some(toast) = how.open(session, table.toast)? {
            done |= indexes(session, &toast, None, How { tablespace: None, ..how })?;
            exclude_readers(session, &toast, how)?;
        }
    }
    exclude_readers(session, table, how)?;
    Ok(done)
}

/// Waits for transactions that read an index whose file the commit will remove, and keeps new readers out until then.
fn exclude_readers(session: &Session, table: &Table, how: How) -> SqlResult<()> {
    if catalog_of(table.oid).is_some() || how.of(table)?.concurrently {
        return Ok(());
    }
    let guard = names::guard(session, table)?;
    names::lock_relation(session, guard, LockMode::AccessExclusive, LockWait::Block)
}

/// The indexes of a table, or one of them; false if there are none.
fn indexes(session: &Session, table: &Table, only: Option<Oid>, how: How) -> SqlResult<bool> {
    if how.of(table)?.concurrently {
        return beside_writers(session, table, only, how);
    }
    // Expressions of indexes may call functions, which look at a snapshot.
    drop(session.txn.borrow_mut().statement_snapshot()?);
    let chosen: Vec<&Arc<Index>> =
        table.indexes.iter().filter(|index| only.is_none_or(|oid| oid == index.oid)).collect();
    for index in &chosen {
        let watch = Stopwatch::start();
        let progress = session.progress(Lengthy::CreateIndex, table.oid);
        progress.set(index_build::COMMAND, index_build::REINDEX);
        names::lock_relation(session, index.oid, LockMode::AccessExclusive, LockWait::Block)?;
        rewrite::rebuild_in(session, table, index, how.tablespace)?;
        if how.verbose {
            rewrite::info(
                session,
                format!("index \"{}\" was reindexed", index.name),
                Some(watch.to_string()),
            );
        }
    }
    Ok(!chosen.is_empty())
}

/// The valid indexes of a table, or one of them, valid or not, each in transactions of its own; false if there are none.
fn beside_writers(session: &Session, table: &Table, only: Option<Oid>, how: How) -> SqlResult<bool> {
    let watch = Stopwatch::start();
    let shown = |index: &Index| format!("\"{}.{}\"", table.schema_name, index.name);
    let mut chosen = Vec::new();
    for index in table.indexes.iter().filter(|index| only.is_none_or(|oid| oid == index.oid)) {
        if !index.excluders.is_empty() {
            if only.is_some() {
                return Err(sql_err!(
                    FEATURE_NOT_SUPPORTED,
                    "concurrent index creation for exclusion constraints is not supported"
                ));
            }
            let message =
                format!("cannot reindex exclusion constraint index {} concurrently, skipping", shown(index));
            session.warning(SqlState::FEATURE_NOT_SUPPORTED, &message);
            continue;
        }
        if index.valid || only.is_some() {
            chosen.push(index.oid);
            continue;
        }
        let message = format!("skipping reindex of invalid index {}", shown(index));
        let warning = SqlError::with_severity(Severity::Warning, SqlState::INDEX_CORRUPTED, message);
        session.notice(warning.hint("Use DROP INDEX or REINDEX INDEX."));
    }
    for &oid in &chosen {
        session.next_transaction()?;
        let Some(table) = how.open(session, table.oid)? else { break };
        let Some(index) = table.indexes.iter().find(|index| index.oid == oid) else { continue };
        if let Some(to) = how.tablespace {
            tablespace::keep(session, to)?;
        }
        index_concurrently::rebuild(session, &table, index, how.tablespace)?;
        if how.verbose {
            let took = only.map(|_| watch.to_string());
            rewrite::info(session, format!("index {} was reindexed", shown(index)), took);
        }
    }
    if how.verbose && only.is_none() && !chosen.is_empty() {
        let message = format!("table \"{}.{}\" was reindexed", table.schema_name, table.name);
        rewrite::info(session, message, Some(watch.to_string()));
    }
    Ok(!chosen.is_empty())
}
