//! Aggregates over columns: rows of one column go into states in one call.
//!
//! # Invariants
//! 1. States and results are those of [`AggregateImp::add`] called for one row after the other; sums of floats are rounded in
//!    the same order.
//! 2. What is here fails with nothing but overflow, always in the same words, so that it does not matter which of several calls comes first.

use base::SqlResult;
use tuple::{Column, Datum, Values, View};

use crate::aggregate::{AggState, AggregateImp, Kind, accumulate, numeric_state};
use crate::call::Call;
use crate::compare::{compare_floats, double, orders_as_integer, widen};
use crate::float;
use crate::numeric::{Numeric, Small};

/// Rows of a column; without a column they are only counted.
#[derive(Clone, Copy)]
pub struct Lane<'a> {
    /// The column.
    pub column: Option<&'a Column>,
    /// The page that it was read from.
    pub page: &'a [u8],
    /// Numbers of the rows.
    pub rows: &'a [u16],
}

/// Where rows go.
pub enum States<'a> {
    /// All into one state.
    One(&'a mut AggState),
    /// Each into that of its group: the groups' states, and the group of each row.
    Groups(&'a mut [AggState], &'a [u32]),
}

/// Whether [`add`] is to be used for an aggregate.
pub(crate) fn takes(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::CountStar
            | Kind::Count
            | Kind::Min(_)
            | Kind::Max(_)
            | Kind::SumInt
            | Kind::SumInt8
            | Kind::AvgInt
            | Kind::SumNumeric
            | Kind::AvgNumeric
            | Kind::SumFloat4
            | Kind::SumFloat8
            | Kind::AvgFloat
            | Kind::BoolAnd
            | Kind::BoolOr
            | Kind::Bits(_)
    )
}

/// Takes rows, each into its state.
pub(crate) fn add(kind: Kind, cx: &Call, states: States<'_>, lane: &Lane<'_>) -> SqlResult<()> {
    let Some(column) = lane.column.filter(|_| kind != Kind::CountStar) else { return count(states, lane) };
    match states {
        States::One(state) => add_to_one(kind, cx, state, column, lane),
        States::Groups(states, groups) => {
            let rows = lane.rows.iter().zip(groups).filter(|(row, _)| !column.is_null(**row as usize));
            let rows = rows.map(|(row, group)| (*row as usize, *group as usize));
            add_to_groups(kind, cx, states, column, rows, lane.page)
        }
    }
}

/// Counts rows whatever they are.
fn count(states: States<'_>, lane: &Lane<'_>) -> SqlResult<()> {
    match states {
        States::One(state) => count_some(state, lane.rows.len()),
        States::Groups(states, groups) => {
            groups.iter().try_for_each(|group| count_some(&mut states[*group as usize], 1))
        }
    }
}

#[inline]
fn count_some(state: &mut AggState, rows: usize) -> SqlResult<()> {
    if let AggState::Count(n) = state {
        *n = crate::int::eight::add(*n, rows as i64)?;
    }
    Ok(())
}

fn add_to_one(
    kind: Kind,
    cx: &Call,
    state: &mut AggState,
    column: &Column,
    lane: &Lane<'_>,
) -> SqlResult<()> {
    let rows = || lane.rows.iter().map(|row| *row as usize).filter(|row| !column.is_null(*row));
    match (kind, &column.values) {
        (Kind::Count, _) => count_some(state, rows().count()),
        (Kind::SumInt | Kind::SumInt8 | Kind::AvgInt, Values::Ints(list)) => {
            let (sum, count) = match column.nulls.is_empty() {
                true => {
                    let values = lane.rows.iter().map(|row| i128::from(list[*row as usize]));
                    (values.sum::<i128>(), lane.rows.len())
                }
                false => rows().fold((0, 0), |(sum, n), row| (sum + i128::from(list[row]), n + 1)),
            };
            if count > 0 {
                add_integers(state, sum, count as i64);
            }
            Ok(())
        }
        (Kind::SumFloat8, Values::Floats(list)) => {
            let mut rows = rows();
            let mut sum = match state {
                AggState::Value(Datum::Float8(sum)) => *sum,
                _ => match rows.next() {
                    Some(first) => list[first],
                    None => return Ok(()),
                },
            };
            for row in rows {
                sum = float::add(sum, list[row])?;
            }
            *state = AggState::Value(Datum::Float8(sum));
            Ok(())
        }
        (Kind::Min(ty) | Kind::Max(ty), Values::Ints(list)) if orders_as_integer(ty) => {
            let best = match kind {
                Kind::Min(_) => rows().min_by_key(|row| list[*row]),
                _ => rows().max_by_key(|row| list[*row]),
            };
            match best {
                Some(row) => kind.add(cx, state, &[column.datum(row, lane.page)]),
                None => Ok(()),
            }
        }
        _ => {
            let states = std::slice::from_mut(state);
            add_to_groups(kind, cx, states, column, rows().map(|row| (row, 0)), lane.page)
        }
    }
}

#[inline]
fn add_integers(state: &mut AggState, more: i128, rows: i64) {
    match state {
        AggState::Integers(sum, count) => {
            *sum += more;
            *count += rows;
        }
        _ => *state = AggState::Integers(more, rows),
    }
}

/// `rows`: those that are not NULL, each with its group.
fn add_to_groups(
    kind: Kind,
    cx: &Call,
    states: &mut [AggState],
    column: &Column,
    mut rows: impl Iterator<Item = (usize, usize)>,
    page: &[u8],
) -> SqlResult<()> {
    match (kind, &column.values) {
        (Kind::Count, _) => rows.try_for_each(|(_, group)| count_some(&mut states[group], 1)),
        (Kind::SumInt | Kind::SumInt8 | Kind::AvgInt, Values::Ints(list)) => {
            rows.for_each(|(row, group)| add_integers(&mut states[group], list[row].into(), 1));
            Ok(())
        }
        (Kind::SumNumeric | Kind::AvgNumeric, Values::Views(list)) => {
            rows.for_each(|(row, group)| add_numeric(&mut states[group], list[row], page));
            Ok(())
        }
        (Kind::AvgFloat, Values::Floats(list)) => {
            rows.try_for_each(|(row, group)| match &mut states[group] {
                AggState::Floats(sums) => accumulate(sums, list[row]),
                _ => Ok(()),
            })
        }
        (Kind::SumFloat8, Values::Floats(list)) => rows.try_for_each(|(row, group)| {
            let state = &mut states[group];
            match state {
                AggState::Value(Datum::Float8(sum)) => *sum = float::add(*sum, list[row])?,
                _ => *state = AggState::Value(Datum::Float8(list[row])),
            }
            Ok(())
        }),
        (Kind::Min(ty) | Kind::Max(ty), Values::Ints(list)) if orders_as_integer(ty) => {
            rows.try_for_each(|(row, group)| {
                let state = &mut states[group];
                let better = match state {
                    AggState::Value(held) if kind_is_min(kind) => list[row] < widen(held),
                    AggState::Value(held) => list[row] > widen(held),
                    _ => true,
                };
                if better {
                    *state = AggState::Value(column.datum(row, page));
                }
                Ok(())
            })
        }
        (Kind::Min(_) | Kind::Max(_), Values::Floats(list)) => rows.try_for_each(|(row, group)| {
            let state = &mut states[group];
            // Of two that are equal but not the same, the later one.
            let better = match state {
                AggState::Value(held) => {
                    let found = compare_floats(list[row], double(held));
                    if kind_is_min(kind) { found.is_le() } else { found.is_ge() }
                }
                _ => true,
            };
            if better {
                *state = AggState::Value(column.datum(row, page));
            }
            Ok(())
        }),
        _ => rows.try_for_each(|(row, group)| kind.add(cx, &mut states[group], &[column.datum(row, page)])),
    }
}

fn kind_is_min(kind: Kind) -> bool {
    matches!(kind, Kind::Min(_))
}

#[inline]
fn add_numeric(state: &mut AggState, value: View, page: &[u8]) {
    let sum = numeric_state(state);
    let payload = value.of(page);
    match Small::from_payload(payload) {
        Some(small) => sum.add_small(small),
        None => sum.add(&Numeric::from_payload(payload), false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::FormatContext;
    use crate::oids;
    use crate::value::IntoDatum;
    use tuple::{ColumnReader, Physical, RowLayout, RowPlace};

    /// Values of a type, extremes and NULL among them.
    fn values(physical: Physical) -> Vec<Datum> {
        let ints = [0, 1, -1, 7, 7, 30_000, -30_000];
        let floats = [0.0, -0.0, 1.5, -2.25, 1e10, f64::NAN, f64::INFINITY, 0.1, 0.2];
        let numbers =
            ["0", "1.50", "-3.25", "123456789012345678901234567890.5", "NaN", "7", "0.001", "Infinity"];
        let mut list: Vec<Datum> = match physical {
            Physical::Int2 => {
                ints.iter().map(|v| Datum::Int2(*v as i16)).chain([Datum::Int2(i16::MIN)]).collect()
            }
            Physical::Int4 => ints.iter().map(|v| Datum::Int4(*v)).chain([Datum::Int4(i32::MAX)]).collect(),
            Physical::Int8 => ints
                .iter()
                .map(|v| Datum::Int8((*v).into()))
                .chain([Datum::Int8(i64::MIN), Datum::Int8(i64::MIN)])
                .collect(),
            Physical::Float4 => floats.iter().map(|v| Datum::Float4(*v as f32)).collect(),
            Physical::Float8 => floats.iter().map(|v| Datum::Float8(*v)).collect(),
            Physical::Bool => vec![Datum::Bool(true), Datum::Bool(false)],
            _ => numbers.iter().map(|v| Numeric::parse(v).unwrap().into_datum().unwrap()).collect(),
        };
        list.insert(1, Datum::Null);
        list.push(Datum::Null);
        list
    }

    /// A page with these values, one a row.
    fn read(physical: Physical, align: u8, values: &[Datum]) -> (Vec<u8>, Column) {
        let attr = tuple::Attr { physical, align, storage: b'm', compression: None };
        let layout = RowLayout::new(vec![attr]);
        let (mut page, mut places) = (vec![0; 8], Vec::new());
        for value in values {
            let start = page.len() as u16;
            layout.encode(std::slice::from_ref(value), &mut page);
            // The byte at 1 is a bitmap that says NULL.
            let nulls = u16::from(value.is_null());
            places.push(RowPlace { data: (start, page.len() as u16), nulls, columns: 1 });
            page.resize(page.len().next_multiple_of(8), 0);
        }
        let mut columns = [Column::new(physical)];
        assert!(ColumnReader::new(&layout, |_| true).read(&layout, &page, &places, &mut columns));
        let [column] = columns;
        (page, column)
    }

    /// Every aggregate over columns, by rows one after the other as well: one state, and groups.
    #[test]
    fn columns_give_the_results_of_rows() {
        use Physical::*;
        let cases: [(Kind, Physical, u8); 22] = [
            (Kind::Count, Int4, 4),
            (Kind::SumInt, Int2, 2),
            (Kind::SumInt, Int4, 4),
            (Kind::AvgInt, Int4, 4),
            (Kind::SumInt8, Int8, 8),
            (Kind::AvgInt, Int8, 8),
            (Kind::Min(oids::int2), Int2, 2),
            (Kind::Max(oids::int4), Int4, 4),
            (Kind::Min(oids::int8), Int8, 8),
            (Kind::Max(oids::int8), Int8, 8),
            (Kind::SumFloat4, Float4, 4),
            (Kind::SumFloat8, Float8, 8),
            (Kind::AvgFloat, Float8, 8),
            (Kind::Min(oids::float8), Float8, 8),
            (Kind::Max(oids::float8), Float8, 8),
            (Kind::Max(oids::float4), Float4, 4),
            (Kind::SumNumeric, Varlena, 4),
            (Kind::AvgNumeric, Varlena, 4),
            (Kind::Min(oids::numeric), Varlena, 4),
            (Kind::BoolAnd, Bool, 1),
            (Kind::BoolOr, Bool, 1),
            (Kind::Bits(crate::aggregate::Bits::Xor), Int4, 4),
        ];
        let format = FormatContext::default();
        let call = Call::new(&format);
        for (kind, physical, align) in cases {
            assert!(takes(kind));
            let all = values(physical);
            // Each stretch of the values, so that special ones come first, last and not at all.
            for (from, to) in (0..all.len()).flat_map(|from| (from..=all.len()).map(move |to| (from, to))) {
                let values = &all[from..to];
                let (page, column) = read(physical, align, values);
                let rows: Vec<u16> = (0..values.len() as u16).collect();
                let groups: Vec<u32> = rows.iter().map(|row| u32::from(row % 3)).collect();
                let lane = Lane { column: Some(&column), page: &page, rows: &rows };
                let mut one = kind.start();
                let added = add(kind, &call, States::One(&mut one), &lane);
                let mut each = kind.start();
                let by_row =
                    values.iter().try_for_each(|v| kind.add(&call, &mut each, std::slice::from_ref(v)));
                let result = |added: SqlResult<()>, state: &AggState| {
                    added.and_then(|()| kind.finish(&call, state)).map_err(|e| e.to_string())
                };
                let (of_column, of_rows) = (result(added, &one), result(by_row, &each));
                assert_eq!(format!("{of_column:?}"), format!("{of_rows:?}"), "{kind:?} {values:?}");
                let mut states = vec![kind.start(); 3];
                let added = add(kind, &call, States::Groups(&mut states, &groups), &lane);
                for (group, state) in states.iter().enumerate().filter(|_| added.is_ok()) {
                    let mut each = kind.start();
                    let own = values.iter().skip(group).step_by(3);
                    let by_row =
                        own.clone().try_for_each(|v| kind.add(&call, &mut each, std::slice::from_ref(v)));
                    let (of_column, of_rows) = (result(Ok(()), state), result(by_row, &each));
                    assert_eq!(
                        format!("{of_column:?}"),
                        format!("{of_rows:?}"),
                        "{kind:?} {group} {values:?}"
                    );
                }
            }
        }
    }
}
