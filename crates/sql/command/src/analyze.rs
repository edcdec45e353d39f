//! # What
//! ANALYZE of one table: a sample, statistics of each column, sizes.
//!
//! # Locks
//! SHARE UPDATE EXCLUSIVE on the table, taken by the caller.

use base::settings::Setting;
use base::{Oid, SqlResult, sql_err};
use catalog::Column;
use catalog::{
    Index, RowExt, SizeEstimate, Table, predefined,
    system::{pg_attribute, pg_statistic},
};
use heap::HeapError;
use session::Session;
use session::progress::Lengthy;
use tuple::Datum;
use types::Comparator;
use types::oids;

use super::expression::IndexKeys;
use super::statistics::{self, Population};
use super::vacuum::{AnalyzeReport, Effort, Maintenance, Pace, full_name};
use super::{alter_column_options, rewrite, sample, statistics_lexemes};

/// Rows sampled for each entry of a list.
const ROWS_PER_ENTRY: usize = 300;

/// Analyses a table that is locked; all columns, or those named. `None`: that cannot be done.
pub(crate) fn table(
    session: &Session,
    table: &Table,
    columns: &[String],
    how: &Maintenance,
) -> SqlResult<Option<AnalyzeReport>> {
    if table.oid == pg_statistic::TABLE.oid {
        // Its own rows are being written.
        return Ok(None);
    }
    let began = runtime::now();
    let (counters, database) = (session.instance.counters(), session.catalog.database());
    let counted = counters.relation(database, table.oid).unwrap_or_default();
    let effort = Effort::begin(session.settings.borrow().fast().track_io_timing);
    let pace = Pace::new(&how.budget, &session.settings.borrow());
    let chosen = choose(session, table, columns)?;
    let want = chosen.iter().map(|c| c.1).max().unwrap_or(0).max(1) * ROWS_PER_ENTRY;
    let progress = session.progress(Lengthy::Analyze, table.oid);
    progress.set(sample::PHASE, sample::SAMPLING);
    if how.verbose {
        rewrite::info(session, format!("analyzing \"{}.{}\"", table.schema_name, table.name), None);
    }
    let sample = sample::take(session, table, (want, how.ring), (&progress, &pace))?;
    progress.set(sample::PHASE, sample::COMPUTING);
    let total = sample.total();
    if how.verbose {
        report(session, table, &sample, total);
    }
    for (i, target) in chosen {
        let column = &table.columns[i];
        let values: Vec<Datum> = sample
            .rows
            .iter()
            .map(|row| resolve(session, table, row.get(i).unwrap_or(&Datum::Null)))
            .collect::<SqlResult<_>>()?;
        if values.is_empty() {
            continue;
        }
        let population = Population { rows: total, target };
        let mut stats = match column.type_oid {
            oids::tsvector => statistics_lexemes::column(&values, population)?,
            _ => statistics::column(&values, order_of(session, column)?, population),
        };
        if let Some(distinct) = alter_column_options::distinct(session, table.oid, i as i16 + 1)? {
            stats.distinct = f64::from(distinct);
        }
        let operators = operators_of(column.type_oid);
        let ty = (column.type_oid, column.collation);
        session
            .with_changer(|changer| changer.set_statistics(table.oid, i as i16 + 1, ty, operators, &stats))?;
    }
    progress.set(sample::PHASE, sample::FINALIZING);
    note_sizes(session, table, &sample, columns.is_empty())?;
    counters.replace(database, table.oid, |all| {
        (all.live, all.dead) = (total as i64, sample.total_dead() as i64);
        if columns.is_empty() {
            // What changed meanwhile counts for the next one.
            all.changed = (all.changed - counted.changed).max(0);
        }
        all.analyzed(how.automatic, began.elapsed().as_micros() as i64, runtime::wall_clock_micros());
    });
    let report = AnalyzeReport { table: full_name(session, table), used: effort.end(&pace) };
    if how.verbose {
        rewrite::info(session, report.verbose(), None);
    }
    Ok(Some(report))
}

/// Columns to be analysed, with their targets.
fn choose(session: &Session, table: &Table, columns: &[String]) -> SqlResult<Vec<(usize, usize)>> {
    let mut numbers = Vec::new();
    for name in columns {
        let Some((number, _)) = table.column(name) else {
            return Err(sql_err!(
                UNDEFINED_COLUMN,
                "column \"{name}\" of relation \"{}\" does not exist",
                table.name
            ));
        };
        let i = number as usize - 1;
        if numbers.contains(&i) {
            return Err(sql_err!(
                DUPLICATE_COLUMN,
                "column \"{name}\" of relation \"{}\" appears more than once",
                table.name
            ));
        }
        numbers.push(i);
    }
    if columns.is_empty() {
        numbers = (0..table.columns.len()).filter(|&i| !table.columns[i].dropped).collect();
    }
    let default = session.settings.borrow().get(Setting::default_statistics_target).as_int();
    let targets = session.with_reader(|reader| {
        let index = pg_attribute::PG_ATTRIBUTE_RELID_ATTNUM_INDEX;
        reader.find(&pg_attribute::TABLE, index, &[table.oid.into()])
    })?;
    let target = |i: usize| {
        let row = targets.iter().find(|(_, row)| row.int(pg_attribute::ATTNUM) == i as i32 + 1);
        match row.map(|(_, row)| &row[pg_attribute::ATTSTATTARGET]) {
            Some(Datum::Int2(n)) if *n >= 0 => i32::from(*n),
            _ => default,
        }
    };
    Ok(numbers.into_iter().map(|i| (i, target(i).max(0) as usize)).filter(|c| c.1 > 0).collect())
}

/// A value without its TOAST.
fn resolve(session: &Session, table: &Table, value: &Datum) -> SqlResult<Datum> {
    match (value, &table.heap) {
        (Datum::Toasted(_), Some(heap)) => {
            let access = session.engine().heap_access();
            heap::detoast(&access, heap.desc.toast.as_ref(), value).map_err(HeapError::into_sql)
        }
        _ => Ok(value.clone()),
    }
}

/// How values of a type compare. Arrays of any type may hold different ones, which do not.
fn order_of(session: &Session, column: &Column) -> SqlResult<Option<statistics::Compare>> {
    if column.type_oid == oids::anyarray {
        return Ok(None);
    }
    let rules = match column.collation {
        Oid::INVALID => &collation::C,
        collation => catalog::collation_rules(session, collation)?,
    };
    Ok(Comparator::of(column.type_oid, rules).order)
}

/// The type's `=` and `<`, 0 if it has none.
fn operators_of(ty: Oid) -> (Oid, Oid) {
    let input = types::registry::operand_type(ty);
    let find = |name: &str| {
        let all = types::registry::operators_named(name);
        let own = all.iter().find(|op| op.left == input && op.right == input);
        own.map_or(Oid::INVALID, |op| op.oid)
    };
    (find("="), find("<"))
}

fn note_sizes(session: &Session, table: &Table, sample: &sample::Sample, all_columns: bool) -> SqlResult<()> {
    let Some(heap) = &table.heap else { return Ok(()) };
    let access = session.engine().heap_access();
    let (pages, total) = (sample.pages, sample.total());
    let (all_visible, _) = heap::vm::count(&access, heap, pages).map_err(HeapError::into_sql)?;
    let mut sizes = vec![(table.oid, SizeEstimate { pages, tuples: total as f32, all_visible })];
    for index in table.indexes.iter().filter(|_| all_columns) {
        let share = share_in_index(session, table, index, sample)?;
        let (pages, tuples) = (session.blocks(index.file)?, (share * total).ceil() as f32);
        sizes.push((index.oid, SizeEstimate { pages, tuples, all_visible: 0 }));
    }
    session.with_changer(|changer| sizes.iter().try_for_each(|(oid, size)| changer.set_size(*oid, *size)))
}

/// How many of the rows an index has entries for, as the sample tells.
fn share_in_index(
    session: &Session,
    table: &Table,
    index: &Index,
    sample: &sample::Sample,
) -> SqlResult<f64> {
    if index.predicate.is_none() || sample.rows.is_empty() {
        return Ok(1.0);
    }
    let count = || {
        let mut keys = IndexKeys::new(session, table, index)?;
        let (mut entry, mut entries) = (Vec::new(), 0);
        for row in &sample.rows {
            runtime::check_interrupts().map_err(plan::interrupted)?;
            entries += usize::from(keys.entry(session, row, &mut entry)?);
        }
        Ok(entries)
    };
    Ok(session.as_maintainer(table.owner, count)? as f64 / sample.rows.len() as f64)
}

fn report(session: &Session, table: &Table, sample: &sample::Sample, total: f64) {
    let message = format!(
        "\"{}\": scanned {} of {} pages, containing {} live rows and {} dead rows; {} rows in sample, {total:.0} estimated total rows",
        table.name,
        sample.scanned,
        sample.pages,
        sample.live,
        sample.dead,
        sample.rows.len()
    );
    rewrite::info(session, message, None);
}

/// Whether the current user may, with PostgreSQL's warning if not.
pub(crate) fn may(session: &Session, table: &Table, verb: &str) -> SqlResult<bool> {
    let maintains = session.with_reader(|reader| {
        Ok::<_, base::SqlError>(
            reader.relation_rights(reader.session.user(), table)?.has((types::acl::bits("m"), false)),
        )
    })?;
    // So does the owner of the database, but for shared catalogs.
    if maintains
        || (!catalog::system::is_shared_relation(table.oid)
            && session.has_role(predefined::DATABASE_OWNER)?)
    {
        return Ok(true);
    }
    session.notice(base::SqlError::with_severity(
        base::Severity::Warning,
        base::SqlState::WARNING,
        format!("permission denied to {verb} \"{}\", skipping it", table.name),
    ));
    Ok(false)
}
