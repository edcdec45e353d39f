//! # What
//! ANALYZE of one table: a sample, statistics of each column, sizes.
//!
//! # Locks
//! SHARE UPDATE EXCLUSIVE on the table, taken by the caller.

use base::settings::Setting;
use base::{Oid, Severity, SqlError, SqlResult, SqlState, sql_err};
use catalog::change::StatisticsData;
use catalog::{
    CatalogView, Index, RowExt, SizeEstimate, StatisticsObject, Table, predefined,
    system::{pg_attribute, pg_statistic},
};
use heap::HeapError;
use session::Session;
use session::progress::Lengthy;
use tuple::Datum;
use types::array::Array;
use types::extended_statistics::{Combination, combinations_to_datum};
use types::record::{FieldType, RowType};
use types::{Call, Comparator, oids};

use super::expression::{self, IndexKeys, RowExpressions};
use super::statistics::{self, Population};
use super::statistics_extended::{self, Sampled};
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
    let objects = objects(session, table, &chosen);
    let most = chosen.iter().map(|c| c.1).chain(objects.iter().map(|(_, target)| *target)).max();
    let want = most.unwrap_or(0).max(1) * ROWS_PER_ENTRY;
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
    for &(i, target) in &chosen {
        let column = &table.columns[i];
        let values = values_of(session, table, &sample, i)?;
        if values.is_empty() {
            continue;
        }
        let population = Population { rows: total, target };
        let mut stats = match column.type_oid {
            oids::tsvector => statistics_lexemes::column(&values, population)?,
            _ => {
                statistics::column(&values, order_of(session, column.type_oid, column.collation)?, population)
            }
        };
        if let Some(distinct) = alter_column_options::distinct(session, table.oid, i as i16 + 1)? {
            stats.distinct = f64::from(distinct);
        }
        let operators = operators_of(column.type_oid);
        let ty = (column.type_oid, column.collation);
        session
            .with_changer(|changer| changer.set_statistics(table.oid, i as i16 + 1, ty, operators, &stats))?;
    }
    if !sample.rows.is_empty() {
        progress.set(sample::PHASE, sample::COMPUTING_EXTENDED);
        for (object, target) in objects {
            extended(session, table, (object, target), &chosen, &sample, how.automatic)?;
        }
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

/// The values of a column, by its position.
fn values_of(session: &Session, table: &Table, sample: &sample::Sample, i: usize) -> SqlResult<Vec<Datum>> {
    let value = |row: &Vec<Datum>| resolve(session, table, row.get(i).unwrap_or(&Datum::Null));
    sample.rows.iter().map(value).collect()
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
fn order_of(session: &Session, type_oid: Oid, collation: Oid) -> SqlResult<Option<statistics::Compare>> {
    if type_oid == oids::anyarray {
        return Ok(None);
    }
    let rules = match collation {
        Oid::INVALID => &collation::C,
        collation => catalog::collation_rules(session, collation)?,
    };
    Ok(Comparator::of(type_oid, rules).order)
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

/// Statistics objects that are to be computed, with their targets: their own, or the greatest of their columns'.
fn objects<'t>(
    session: &Session,
    table: &'t Table,
    chosen: &[(usize, usize)],
) -> Vec<(&'t StatisticsObject, usize)> {
    let default = session.settings.borrow().get(Setting::default_statistics_target).as_int();
    let target = |object: &StatisticsObject| {
        let of_column =
            |n: &i16| chosen.iter().find(|(i, _)| *i as i16 + 1 == *n).map_or(default as usize, |c| c.1);
        match object.target {
            Some(target) => usize::try_from(target).unwrap_or(0),
            None => {
                let expressions = object.expressions.iter().map(|_| default as usize);
                object.keys.iter().map(of_column).chain(expressions).max().unwrap_or(0)
            }
        }
    };
    let all = table.statistics.iter().map(|object| (&**object, target(object)));
    all.filter(|(_, target)| *target > 0).collect()
}

/// Computes one statistics object.
fn extended(
    session: &Session,
    table: &Table,
    (object, target): (&StatisticsObject, usize),
    chosen: &[(usize, usize)],
    sample: &sample::Sample,
    automatic: bool,
) -> SqlResult<()> {
    let missing = |n: &i16| !chosen.iter().any(|(i, _)| *i as i16 + 1 == *n);
    if object.keys.iter().any(missing) {
        if !automatic {
            let schema = session.with_reader(|reader| reader.schema_name(object.schema))?;
            session.notice(SqlError::with_severity(
                Severity::Warning,
                SqlState::INVALID_OBJECT_DEFINITION,
                format!(
                    "statistics object \"{}.{}\" could not be computed for relation \"{}.{}\"",
                    schema.unwrap_or_default(),
                    object.name,
                    table.schema_name,
                    table.name
                ),
            ));
        }
        return Ok(());
    }
    let mut columns = Vec::new();
    for &number in &object.keys {
        let i = number as usize - 1;
        let column = &table.columns[i];
        let values = values_of(session, table, sample, i)?;
        let order = order_of(session, column.type_oid, column.collation)?;
        columns.extend(order.map(|order| Sampled::new(number, column.type_oid, values, order)));
    }
    let (expressions, known) = of_expressions(session, table, object, target, sample)?;
    columns.extend(expressions);
    runtime::check_interrupts().map_err(plan::interrupted)?;
    let sampled = statistics_extended::Sample::new(columns, sample.rows.len(), sample.total());
    let format = session.format();
    let call = Call::new(&format).with_session(session);
    let figures = |all: Vec<Combination>| match all.is_empty() {
        true => Datum::Null,
        false => combinations_to_datum(&all),
    };
    let mut data = StatisticsData { expressions: known, ..StatisticsData::default() };
    if object.has(b'd') {
        data.distinct = figures(sampled.distinct());
    }
    if object.has(b'f') {
        data.dependencies = figures(sampled.dependencies());
    }
    if object.has(b'm') {
        data.common = sampled.common(target).map_or(Ok(Datum::Null), |list| list.to_datum(&call))?;
    }
    session.with_changer(|changer| changer.set_statistics_data(object.oid, data))
}

/// The expressions of a statistics object in the sampled rows, and what is known of each as `pg_statistic[]`.
fn of_expressions(
    session: &Session,
    table: &Table,
    object: &StatisticsObject,
    target: usize,
    sample: &sample::Sample,
) -> SqlResult<(Vec<Sampled>, Datum)> {
    if object.expressions.is_empty() {
        return Ok((Vec::new(), Datum::Null));
    }
    let mut values: Vec<Vec<Datum>> = vec![Vec::with_capacity(sample.rows.len()); object.expressions.len()];
    session.as_maintainer(table.owner, || {
        let mut computed = RowExpressions::new(session, table, object.expressions.iter())?;
        for row in &sample.rows {
            runtime::check_interrupts().map_err(plan::interrupted)?;
            let row =
                row.iter().map(|value| resolve(session, table, value)).collect::<SqlResult<Vec<_>>>()?;
            let found = computed.values(session, &row)?;
            values.iter_mut().zip(found).for_each(|(all, value)| all.push(value.clone()));
        }
        Ok(())
    })?;
    let format = session.format();
    let call = Call::new(&format).with_session(session);
    let columns = pg_statistic::TABLE.columns.iter();
    let fields = columns
        .map(|column| {
            let shape = session.with_reader(|reader| catalog::type_shape(reader, column.ty.oid))?;
            Ok(FieldType::new(column.ty.oid, &shape))
        })
        .collect::<SqlResult<_>>()?;
    let row_type = RowType { type_oid: pg_statistic::TABLE.row_type, fields, names: Box::default() };
    let (mut sampled, mut rows) = (Vec::new(), Vec::new());
    for (at, (text, values)) in object.expressions.iter().zip(values).enumerate() {
        let (type_oid, _, collation) = expression::stored_type(session, text)?;
        let order = order_of(session, type_oid, collation)?;
        let stats = statistics::column(&values, order, Population { rows: sample.total(), target });
        let (equals, less) = operators_of(type_oid);
        let row = stats.to_row(Oid::INVALID, 0, type_oid, collation, equals, less)?;
        rows.push(row_type.row(&row));
        let number = -(at as i16) - 1;
        sampled.extend(order.map(|order| Sampled::new(number, type_oid, values, order)));
    }
    let known = Array::from_values(pg_statistic::TABLE.row_type, rows, &call)?.to_datum();
    Ok((sampled, known))
}

fn note_sizes(session: &Session, table: &Table, sample: &sample::Sample, all_columns: bool) -> SqlResult<()> {
    let Some(heap) = &table.heap else {
        let (pages, tuples) = (sample.pages, sample.total() as f32);
        let size = SizeEstimate { pages, tuples, all_visible: 0 };
        return session.with_changer(|changer| changer.set_size(table.oid, size));
    };
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
