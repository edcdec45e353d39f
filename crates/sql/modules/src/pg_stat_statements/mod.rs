//! # What
//! `pg_stat_statements`: time and resources of statements, grouped by query: statements that differ in constants only count as one.
//!
//! # Layout
//! `store`: counting, forgetting, and the sum. `figures`: what is counted of one statement. `file`: what is kept over a clean restart. Here are the
//! extension's functions. Statements and their texts come from `session::hooks`.
//!
//! # PostgreSQL counterpart and differences
//! `contrib/pg_stat_statements` 1.12. Texts are kept in memory. There are no local buffers and no compiled expressions: their columns are 0.

mod figures;
mod file;
mod store;

use std::sync::Arc;

use base::settings::Setting;
use base::{SqlError, SqlResult, sql_err};
use catalog::predefined;
use session::module::{Module, ModuleFunction, rows};
use session::routine::{Invocation, Returned};
use session::{Instance, Session};
use tuple::Datum;
use types::numeric::Numeric;
use types::value::{FromDatum, IntoDatum};

use figures::{Figures, Times};
use store::{Key, Known, Store};

/// The extension.
pub static MODULE: Module = Module {
    name: "pg_stat_statements",
    version: "1.12",
    comment: "track planning and execution statistics of all SQL statements executed",
    relocatable: true,
    script: include_str!("script.sql"),
    functions: &[
        ("pg_stat_statements_1_12", ModuleFunction::Session(statements)),
        ("pg_stat_statements_info", ModuleFunction::Session(info)),
        ("pg_stat_statements_reset_1_11", ModuleFunction::Session(reset)),
    ],
    preload: Some(preload),
    ..Module::LIBRARY
};

/// The server loads the module: from now on statements are counted.
fn preload(instance: &Arc<Instance>) -> SqlResult<()> {
    let settings = instance.settings();
    let max = settings.int(Setting::pg_stat_statements_max).max(1) as usize;
    let store = Store::new(max, Arc::downgrade(instance));
    // Figures that cannot be read are not worth a server that does not start.
    file::load(&store, instance.engine().dir());
    instance.on_statements(Arc::new(store));
    Ok(())
}

fn store(session: &Session) -> SqlResult<&Store> {
    let found = session.instance().statements();
    found.and_then(|statements| statements.as_any().downcast_ref::<Store>()).ok_or_else(|| {
        sql_err!(
            OBJECT_NOT_IN_PREREQUISITE_STATE,
            "pg_stat_statements must be loaded via \"shared_preload_libraries\""
        )
    })
}

fn reset(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    let store = store(session)?;
    let [user, database, id, only_extremes] = invocation.args else {
        return Err(SqlError::internal("four arguments were expected"));
    };
    let (user, database) = (u32::from_datum(user), u32::from_datum(database));
    let id = i64::from_datum(id);
    let chosen = |key: &Key| {
        (user == 0 || key.user.0 == user)
            && (database == 0 || key.database.0 == database)
            && (id == 0 || key.id == id)
    };
    let all = (user, database, id) == (0, 0, 0);
    let now = store.reset(chosen, bool::from_datum(only_extremes), all);
    Ok(Returned::Value(Datum::Int8(now)))
}

fn info(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    let (forgotten, since) = store(session)?.info();
    rows(session, invocation, [vec![Datum::Int8(forgotten), Datum::Int8(since)]])
}

fn statements(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    let store = store(session)?;
    let with_text = bool::from_datum(&invocation.args[0]);
    let (me, all) = (session.user(), session.has_role(predefined::READ_ALL_STATS)?);
    let mut list = Vec::new();
    for (key, known, figures) in store.sums() {
        runtime::check_interrupts()?;
        list.push(row(&key, &known, &figures, (with_text, all || key.user == me))?);
    }
    rows(session, invocation, list)
}

/// A row of the view. `visible`: the statement may be told, not only what it took.
fn row(
    key: &Key,
    known: &Known,
    figures: &Figures,
    (with_text, visible): (bool, bool),
) -> SqlResult<Vec<Datum>> {
    let (int, float) = (|n: u64| Datum::Int8(n as i64), Datum::Float8);
    let millis = |nanos: u64| Datum::Float8(nanos as f64 / 1e6);
    let usage = &figures.usage;
    let text = match (visible, with_text) {
        (_, false) => Datum::Null,
        (true, true) => Datum::text(&known.text),
        (false, true) => Datum::text("<insufficient privilege>"),
    };
    let mut row = vec![
        key.user.into(),
        key.database.into(),
        Datum::Bool(key.top_level),
        if visible { Datum::Int8(key.id) } else { Datum::Null },
        text,
    ];
    row.extend(times(&figures.plans));
    row.extend(times(&figures.runs));
    row.push(int(figures.rows));
    row.extend([usage.shared_hit, usage.shared_read, usage.shared_dirtied, usage.shared_written].map(int));
    row.extend([0; 4].map(int));
    row.extend([usage.temp_read, usage.temp_written].map(int));
    row.extend([usage.shared_read_time, usage.shared_write_time, 0, 0].map(millis));
    row.extend([usage.temp_read_time, usage.temp_write_time].map(millis));
    row.extend([usage.wal_records, usage.wal_images].map(int));
    row.push(Numeric::from_i64(usage.wal_bytes as i64).into_datum()?);
    row.push(int(usage.wal_buffers_full));
    // Compiled expressions: functions, then time and count of three steps, then those of taking rows apart.
    row.extend([int(0), float(0.0)]);
    (0..4).for_each(|_| row.extend([int(0), float(0.0)]));
    row.extend([usage.helpers_asked, usage.helpers_started].map(int));
    row.extend([Datum::Int8(known.since), Datum::Int8(known.extremes_since)]);
    Ok(row)
}

fn times(times: &Times) -> [Datum; 6] {
    let shown = [times.total, times.shown_min(), times.max, times.mean, times.deviation()].map(Datum::Float8);
    let [total, min, max, mean, deviation] = shown;
    [Datum::Int8(times.count as i64), total, min, max, mean, deviation]
}
