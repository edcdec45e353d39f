//! Subqueries in expressions and common table expressions, as they run.

use base::{Oid, SqlError, SqlResult, sql_err};
use rustc_hash::FxHashMap;
use tuple::Datum;
use types::Comparator;

use crate::code::{Code, Rows, SubCode, SubKind};
use crate::compile::{SubCache, SubProgram};
use crate::cx::Cx;

/// Rows of an uncorrelated subquery.
#[derive(Default)]
pub struct HashedRows {
    /// Those without NULL in a compared column, by the hash of these.
    rows: FxHashMap<u64, Vec<Vec<Datum>>>,
    /// Those with NULL in some, but not in all.
    partial: Vec<Vec<Datum>>,
    /// In some row all are NULL: whatever is looked for may be equal to it.
    unknown: bool,
}

/// A compared pair: what is looked for, the column of the subquery, and how they compare.
type Pair = (Code, usize, Comparator);

impl HashedRows {
    fn add(&mut self, row: &[Datum], pairs: &[Pair]) {
        match pairs.iter().filter(|(_, column, _)| row[*column].is_null()).count() {
            0 => {
                let hash = hash(pairs.iter().map(|(_, column, of)| (&row[*column], *of)));
                self.rows.entry(hash).or_default().push(row.to_vec());
            }
            nulls if nulls == pairs.len() => self.unknown = true,
            _ => self.partial.push(row.to_vec()),
        }
    }

    /// Whether a row is equal to the key; NULL if none is, but one may be.
    fn contains(&self, key: &[Datum], pairs: &[Pair]) -> SqlResult<Datum> {
        let may_equal = |row: &Vec<Datum>| -> SqlResult<bool> {
            runtime::check_interrupts().map_err(crate::error::interrupted)?;
            Ok(key.iter().zip(pairs).all(|(value, (_, column, of))| {
                let other = &row[*column];
                value.is_null()
                    || other.is_null()
                    || of.equality.is_some_and(|equality| equality.equal(value, other))
            }))
        };
        let any = |rows: &mut dyn Iterator<Item = &Vec<Datum>>| -> SqlResult<bool> {
            for row in rows {
                if may_equal(row)? {
                    return Ok(true);
                }
            }
            Ok(false)
        };
        let whole = !key.iter().any(Datum::is_null);
        if whole {
            let hash = hash(key.iter().zip(pairs).map(|(value, (.., of))| (value, *of)));
            if any(&mut self.rows.get(&hash).into_iter().flatten())? {
                return Ok(Datum::Bool(true));
            }
        }
        let unknown = self.unknown
            || any(&mut self.partial.iter())?
            || !whole && any(&mut self.rows.values().flatten())?;
        Ok(if unknown { Datum::Null } else { Datum::Bool(false) })
    }
}

fn hash<'a>(values: impl Iterator<Item = (&'a Datum, Comparator)>) -> u64 {
    values
        .fold(0, |hash, (value, of)| hash.rotate_left(7) ^ of.hash.map_or(0, |function| function.hash(value)))
}

/// The value of a subplan.
pub fn eval(sub: &SubCode, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<Datum> {
    for (cell, code) in &sub.args {
        let value = code.eval(rows, cx)?;
        cx.set(*cell, value);
    }
    let mut program =
        cx.state.subs[sub.plan].take().ok_or_else(|| SqlError::internal("a subplan runs within itself"))?;
    let result = eval_in(sub, &mut program, rows, cx);
    cx.state.subs[sub.plan] = Some(program);
    result
}

/// The value of a subplan that depends on no row, once it is there.
pub(crate) fn at_hand<'a>(sub: &SubCode, cx: &'a Cx<'_>) -> Option<&'a Datum> {
    sub.initial_kind()?;
    let program = cx.state.subs.get(sub.plan)?.as_ref()?;
    match &program.cache {
        Some(SubCache::Value(value, cells)) => {
            program.depends.iter().map(|cell| &cx.state.cells[*cell]).eq(cells).then_some(value)
        }
        _ => None,
    }
}

fn seen_cells(program: &SubProgram, cx: &Cx<'_>) -> Vec<Datum> {
    program.depends.iter().map(|c| cx.state.cells[*c].clone()).collect()
}

fn start(program: &mut SubProgram, cx: &mut Cx<'_>) -> SqlResult<()> {
    if program.started {
        let changed = program.depends.clone();
        let none = [usize::MAX];
        program.node.rescan(cx, if changed.is_empty() { &none } else { &changed })?;
    }
    program.started = true;
    Ok(())
}

fn eval_in(sub: &SubCode, program: &mut SubProgram, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<Datum> {
    if let SubKind::Quantified { any, single, test, columns, hash } = &sub.kind {
        if let Some(pairs) = hash {
            return hashed(program, pairs, rows, cx);
        }
        return quantified(program, *any, *single, test, columns, rows, cx);
    }
    if let Some(SubCache::Value(value, cells)) = &program.cache
        && sub.args.is_empty()
        && *cells == seen_cells(program, cx)
    {
        return Ok(value.clone());
    }
    start(program, cx)?;
    let value = match &sub.kind {
        SubKind::Exists => Datum::Bool(program.node.next(cx)?),
        SubKind::Scalar => {
            if program.node.next(cx)? {
                let value = program.node.row().first().cloned().unwrap_or_default();
                if program.node.next(cx)? {
                    return Err(too_many());
                }
                value
            } else {
                Datum::Null
            }
        }
        SubKind::Array { element, nested } => {
            let mut list = Vec::new();
            let mut arrays = Vec::new();
            loop {
                if !nested {
                    let before = list.len();
                    program.node.append(cx, &mut list)?;
                    if list.len() > before {
                        continue;
                    }
                }
                if !program.node.next(cx)? {
                    break;
                }
                let value = program.node.row().first().cloned().unwrap_or_default();
                match nested {
                    true => types::array::accumulate(&mut arrays, &value)?,
                    false => list.push(value),
                }
            }
            match arrays.is_empty() {
                true => crate::composite::make_array(list, *element, cx)?,
                false => types::array::stacked(&arrays, &cx.call(&[], *element, Oid::INVALID, false))?,
            }
        }
        SubKind::Multi { columns } => {
            let row = if program.node.next(cx)? { Some(program.node.row().to_vec()) } else { None };
            if row.is_some() && program.node.next(cx)? {
                return Err(too_many());
            }
            for (i, cell) in columns.iter().enumerate() {
                cx.set(*cell, row.as_ref().and_then(|r| r.get(i)).cloned().unwrap_or_default());
            }
            Datum::Null
        }
        SubKind::Quantified { .. } => Datum::Null,
    };
    if sub.args.is_empty() && !matches!(sub.kind, SubKind::Multi { .. }) {
        program.cache = Some(SubCache::Value(value.clone(), seen_cells(program, cx)));
    }
    Ok(value)
}

fn too_many() -> SqlError {
    sql_err!(CARDINALITY_VIOLATION, "more than one row returned by a subquery used as an expression")
}

fn quantified(
    program: &mut SubProgram,
    any: bool,
    single: bool,
    test: &Code,
    columns: &[usize],
    rows: Rows<'_>,
    cx: &mut Cx<'_>,
) -> SqlResult<Datum> {
    start(program, cx)?;
    let mut result = Datum::Bool(!any);
    let mut count = 0;
    if single {
        result = Datum::Null;
    }
    while program.node.next(cx)? {
        runtime::check_interrupts().map_err(crate::error::interrupted)?;
        count += 1;
        if single && count > 1 {
            return Err(too_many());
        }
        let row = program.node.row().to_vec();
        for (cell, value) in columns.iter().zip(row) {
            cx.set(*cell, value);
        }
        match test.eval(rows, cx)? {
            value if single => result = value,
            Datum::Bool(v) if v == any => return Ok(Datum::Bool(any)),
            Datum::Null => result = Datum::Null,
            _ => {}
        }
    }
    Ok(result)
}

fn hashed(program: &mut SubProgram, pairs: &[Pair], rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<Datum> {
    let current = seen_cells(program, cx);
    let fresh = matches!(&program.cache, Some(SubCache::Hashed(_, cells)) if *cells == current);
    if !fresh {
        start(program, cx)?;
        let mut table = HashedRows::default();
        while program.node.next(cx)? {
            runtime::check_interrupts().map_err(crate::error::interrupted)?;
            table.add(program.node.row(), pairs);
        }
        program.cache = Some(SubCache::Hashed(table, current));
    }
    let mut key = Vec::with_capacity(pairs.len());
    for (code, ..) in pairs {
        key.push(code.eval(rows, cx)?);
    }
    let Some(SubCache::Hashed(table, _)) = &program.cache else { return Ok(Datum::Null) };
    table.contains(&key, pairs)
}

/// Makes row `at` of a common table expression available; false if it has fewer.
pub fn cte_row(subplan: usize, at: u64, cx: &mut Cx<'_>) -> SqlResult<bool> {
    let Some(mut program) = cx.state.subs[subplan].take() else {
        return Err(SqlError::internal("a common table expression reads itself"));
    };
    // What it changes is not counted for the statement.
    let processed = cx.state.processed;
    let result = (|| {
        while program.rows.len() <= at {
            if program.finished {
                return Ok(false);
            }
            if program.rows.is_empty() && !program.started {
                start(&mut program, cx)?;
            }
            if program.node.next(cx)? {
                let row = program.node.row().to_vec();
                program.rows.push(row, cx.env.work_mem, cx.env.temp)?;
            } else {
                program.finished = true;
            }
        }
        Ok(true)
    })();
    cx.state.processed = processed;
    cx.state.subs[subplan] = Some(program);
    result
}

/// Forgets the rows of a common table expression if it depends on a changed cell.
pub fn cte_changed(subplan: usize, cx: &mut Cx<'_>, changed: &[usize]) -> SqlResult<()> {
    let Some(mut program) = cx.state.subs[subplan].take() else { return Ok(()) };
    let mut result = Ok(());
    if program.depends.iter().any(|c| changed.contains(c)) && program.started {
        program.rows.clear();
        program.finished = false;
        result = program.node.rescan(cx, changed);
    }
    cx.state.subs[subplan] = Some(program);
    result
}
