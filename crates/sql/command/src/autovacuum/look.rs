//! What the catalogs say of tables that may need upkeep, read in passing: without a session in their database.

use base::settings::{ServerSettings, Setting};
use base::{Oid, SqlResult};
use catalog::system::{pg_class, pg_database};
use catalog::{
    CatalogView, DatabaseRow, NotedIds, Reader, Row, RowExt, SessionCatalog, SizeEstimate, database_lock,
    texts_of,
};
use heap::ComboCids;
use rustc_hash::FxHashMap;
use session::lookup::temporary;
use session::{Instance, Sessions};
use tuple::Datum;
use txn::{LockMode, LockWait, OldestIds, SessionId, Transaction};

use super::LAUNCHER_PID;
use super::need::{Facts, Parameters};

/// Ends with a transaction of the launcher's.
struct Passing(Transaction);

impl Drop for Passing {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Databases that allow connections and have had one since they were made.
pub(super) fn databases(instance: &Instance) -> SqlResult<Vec<Oid>> {
    instance.read_shared(LAUNCHER_PID, |reader| {
        let rows = reader.scan(&pg_database::TABLE)?;
        let mut found = Vec::new();
        for (_, row) in rows {
            let oid = row.oid(pg_database::OID);
            if reader.database_by_oid(oid)?.is_some_and(|database| is_kept_up(&database)) {
                found.push(oid);
            }
        }
        Ok(found)
    })
}

fn is_kept_up(database: &DatabaseRow) -> bool {
    database.allow_connections && database.entered
}

/// Reads the catalogs of a database, which cannot be removed meanwhile; none if it is not to be vacuumed, or is being removed.
pub(super) fn in_database<T>(
    instance: &Instance,
    database: Oid,
    read: impl FnOnce(&Reader<'_>) -> SqlResult<T>,
) -> SqlResult<Option<T>> {
    let mut me = Transaction::new(instance.engine().txns().clone(), SessionId(LAUNCHER_PID as u32));
    me.start(Default::default());
    let mut me = Passing(me);
    let (combo, session) = (ComboCids::new(), SessionCatalog::new(Oid::INVALID));
    if me.0.lock(database_lock(database), LockMode::RowExclusive, LockWait::NoWait).is_err() {
        return Ok(None);
    }
    let shared = instance.shared_catalog();
    let reader = Reader { catalog: &shared, session: &session, me: &me.0, combo: &combo };
    let Some(row) = reader.database_by_oid(database)?.filter(is_kept_up) else { return Ok(None) };
    let catalog = instance.catalog(database, &row.name);
    read(&Reader { catalog: &catalog, session: &session, me: &me.0, combo: &combo }).map(Some)
}

/// What makes ids old.
struct Ages {
    noted: NotedIds,
    usable: OldestIds,
    /// Of tables that note nothing themselves.
    database: OldestIds,
    most: (u64, u64),
}

impl Ages {
    fn new(reader: &Reader<'_>, settings: &ServerSettings) -> SqlResult<Ages> {
        let txns = reader.catalog.engine().txns();
        let noted = NotedIds::new(txns);
        let key = [reader.catalog.database().into()];
        let row = reader.find_one(&pg_database::TABLE, pg_database::PG_DATABASE_OID_INDEX, &key)?;
        let database = row.and_then(|(_, row)| noted.of_database(&row)).unwrap_or_else(|| txns.oldest_ids());
        let most = |setting| settings.int(setting).max(0) as u64;
        Ok(Ages {
            noted,
            usable: txns.oldest_usable(),
            database,
            most: (
                most(Setting::autovacuum_freeze_max_age),
                most(Setting::autovacuum_multixact_freeze_max_age),
            ),
        })
    }

    /// Whether a table has ids so old that they are to be frozen, and can be. Nothing wraps around: this only lets the server forget
    /// what has become of them.
    fn are_old(&self, row: &Row, parameters: &Parameters) -> bool {
        let Some(oldest) = self.noted.of_relation(row, self.database) else { return false };
        let most = |own: &str, all: u64| parameters.int(own).map_or(all, |own| all.min(own.max(0) as u64));
        let xids = most("autovacuum_freeze_max_age", self.most.0);
        let multis = most("autovacuum_multixact_freeze_max_age", self.most.1);
        self.usable.xid.0.saturating_sub(oldest.xid.0) > xids
            || self.usable.multi.0.saturating_sub(oldest.multi.0) > multis
    }
}

fn parameters_of(row: &Row) -> Parameters {
    let split = |entry: String| {
        let (name, value) = entry.split_once('=').unwrap_or((&entry, ""));
        (name.to_owned(), value.to_owned())
    };
    Parameters::new(texts_of(&row[pg_class::RELOPTIONS]).into_iter().map(split))
}

/// What becomes of a relation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// A table that can be kept up: its rows are its own.
    KeptUp,
    /// A temporary table whose session has ended without a word, as in a crash.
    Orphan,
    /// Nothing that anybody else may touch.
    LeftAlone,
}

fn fate(reader: &Reader<'_>, sessions: &Sessions, row: &Row) -> SqlResult<Fate> {
    let (kind, is_temporary) = (row.char(pg_class::RELKIND), row.char(pg_class::RELPERSISTENCE) == b't');
    Ok(match (kind, is_temporary) {
        (b'r' | b'm' | b't', false) => Fate::KeptUp,
        // A TOAST table goes with its table.
        (b'r' | b'm', true) => {
            let schema = row.oid(pg_class::RELNAMESPACE);
            // The row was there before the sessions are asked: who makes a table has said before that the schema is its own.
            let name = reader.schema_name(schema)?;
            let owner = name.as_deref().and_then(temporary::owner_of);
            let lives = |pid| sessions.get(pid).is_some_and(|backend| backend.temporary_schema() == schema);
            if owner.is_some_and(|pid| !lives(pid)) { Fate::Orphan } else { Fate::LeftAlone }
        }
        _ => Fate::LeftAlone,
    })
}

fn facts(
    (row, fate): (&Row, Fate),
    owner: impl FnOnce() -> SqlResult<Parameters>,
    ages: &Ages,
) -> SqlResult<Facts> {
    let is_toast = row.char(pg_class::RELKIND) == b't';
    let mut parameters = parameters_of(row);
    if is_toast && parameters.is_empty() {
        parameters = owner()?;
    }
    Ok(Facts {
        oid: row.oid(pg_class::OID),
        size: SizeEstimate {
            pages: row.int(pg_class::RELPAGES).max(0) as u32,
            tuples: if let Datum::Float4(tuples) = row[pg_class::RELTUPLES] { tuples } else { -1.0 },
            all_visible: row.int(pg_class::RELALLVISIBLE).max(0) as u32,
        },
        all_frozen: match row[pg_class::RELALLFROZEN] {
            Datum::Int4(pages) => pages.max(0) as u32,
            _ => 0,
        },
        is_toast,
        has_old_ids: fate == Fate::KeptUp && ages.are_old(row, &parameters),
        is_orphan: fate == Fate::Orphan,
        parameters,
    })
}

fn class_row(reader: &Reader<'_>, relation: Oid) -> SqlResult<Option<Row>> {
    let found = reader.find_one(&pg_class::TABLE, pg_class::PG_CLASS_OID_INDEX, &[relation.into()])?;
    Ok(found.map(|(_, row)| row))
}

/// What is known of a table; none if it is none that can be kept up.
pub(super) fn table(
    reader: &Reader<'_>,
    sessions: &Sessions,
    relation: Oid,
    settings: &ServerSettings,
) -> SqlResult<Option<Facts>> {
    let Some(row) = class_row(reader, relation)? else { return Ok(None) };
    let fate = fate(reader, sessions, &row)?;
    if fate == Fate::LeftAlone {
        return Ok(None);
    }
    let owner = || {
        let owner = reader.toast_owner(relation)?;
        let row = owner.map(|owner| class_row(reader, owner)).transpose()?.flatten();
        Ok(row.map_or_else(Parameters::default, |row| parameters_of(&row)))
    };
    facts((&row, fate), owner, &Ages::new(reader, settings)?).map(Some)
}

/// What is known of all tables of a database.
pub(super) fn tables(
    reader: &Reader<'_>,
    sessions: &Sessions,
    settings: &ServerSettings,
) -> SqlResult<Vec<Facts>> {
    let ages = Ages::new(reader, settings)?;
    let rows = reader.scan(&pg_class::TABLE)?;
    let mut owners = FxHashMap::default();
    for (_, row) in &rows {
        let (toast, parameters) = (row.oid(pg_class::RELTOASTRELID), parameters_of(row));
        if toast.is_valid() && !parameters.is_empty() {
            owners.insert(toast, parameters);
        }
    }
    let mut found = Vec::new();
    for (_, row) in &rows {
        runtime::check_interrupts().map_err(plan::interrupted)?;
        let fate = fate(reader, sessions, row)?;
        if fate == Fate::LeftAlone {
            continue;
        }
        let owner = || Ok(owners.remove(&row.oid(pg_class::OID)).unwrap_or_default());
        found.push(facts((row, fate), owner, &ages)?);
    }
    Ok(found)
}
