//! Ordered-set aggregates (`percentile_cont`, `percentile_disc`, `mode`) and hypothetical-set aggregates (`rank`, … of a row
//! that is not there).
//!
//! The caller sorts a group's rows first. It counts them for [`AggregateImp::start_sorted`], then hands them over in order, so
//! that none has to be kept here. Of a row an ordered-set aggregate gets the value, and whether the value equals the one
//! before; a hypothetical-set aggregate how the row compares with the hypothetical one (-1, 0, 1), and the same.
//!
//! PostgreSQL counterpart: `orderedsetaggs.c`.

use base::{SqlError, SqlResult, sql_err};
use tuple::Datum;

use crate::{
    aggregate::{AggState, AggregateImp},
    array::{Array, Dimensions},
    call::Call,
    float,
    interval::Interval,
    value::{FromDatum, IntoDatum},
};

/// The aggregates over sorted rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sorted {
    /// `percentile_disc`, of one share or of an array of them.
    Discrete,
    /// `percentile_cont`, of one share or of an array of them.
    Continuous,
    Mode,
    Rank,
    DenseRank,
    PercentRank,
    CumeDist,
}

/// What is known of the rows so far.
#[derive(Clone, Debug)]
pub struct State {
    /// All rows of the group.
    rows: u64,
    seen: u64,
    found: Found,
}

#[derive(Clone, Debug)]
enum Found {
    /// The shares asked for; the dimensions if they came as an array.
    Shares(Vec<Option<Share>>, Option<Dimensions>),
    /// The most frequent value so far and its count; the count of the current value.
    Mode(Datum, u64, u64),
    /// Rows before the hypothetical row, rows equal to it, different rows before it.
    Before(u64, u64, u64),
}

/// One percentile: a value between those of two rows (numbered from 0).
#[derive(Clone, Debug)]
struct Share {
    low: u64,
    high: u64,
    /// How far from the one to the other.
    part: f64,
    values: [Datum; 2],
}

impl AggregateImp for Sorted {
    fn start(&self) -> AggState {
        AggState::Empty
    }

    fn start_sorted(&self, cx: &Call, direct: &[Datum], rows: u64) -> SqlResult<AggState> {
        let found = match self {
            Sorted::Discrete | Sorted::Continuous => self.shares(cx, direct, rows)?,
            Sorted::Mode => Found::Mode(Datum::Null, 0, 0),
            _ => Found::Before(0, 0, 0),
        };
        Ok(AggState::Sorted(Box::new(State { rows, seen: 0, found })))
    }

    fn add(&self, _cx: &Call, state: &mut AggState, args: &[Datum]) -> SqlResult<()> {
        let (AggState::Sorted(state), [value, peer]) = (state, args) else {
            return Err(SqlError::internal("an ordered-set aggregate over rows that are not sorted"));
        };
        let peer = bool::from_datum(peer);
        let row = state.seen;
        state.seen += 1;
        match &mut state.found {
            Found::Shares(shares, _) => shares.iter_mut().flatten().for_each(|share| share.take(row, value)),
            Found::Mode(best, most, count) => {
                *count = if peer { *count + 1 } else { 1 };
                if *count > *most {
                    (*best, *most) = (value.clone(), *count);
                }
            }
            Found::Before(before, equal, different) => match i32::from_datum(value) {
                -1 => {
                    *before += 1;
                    *different += u64::from(!peer);
                }
                0 => *equal += 1,
                _ => {}
            },
        }
        Ok(())
    }

    fn finish(&self, cx: &Call, state: &AggState) -> SqlResult<Datum> {
        let AggState::Sorted(state) = state else { return Ok(Datum::Null) };
        let rows = state.rows as f64;
        Ok(match (&state.found, self) {
            (Found::Shares(shares, dimensions), _) => {
                return self.percentiles(cx, state.rows, shares, dimensions);
            }
            (Found::Mode(value, ..), _) => value.clone(),
            (Found::Before(before, ..), Sorted::Rank) => Datum::Int8(*before as i64 + 1),
            (Found::Before(_, _, different), Sorted::DenseRank) => Datum::Int8(*different as i64 + 1),
            (Found::Before(..), Sorted::PercentRank) if state.rows == 0 => Datum::Float8(0.0),
            (Found::Before(before, ..), Sorted::PercentRank) => Datum::Float8(*before as f64 / rows),
            (Found::Before(before, equal, _), _) => Datum::Float8((before + equal + 1) as f64 / (rows + 1.0)),
        })
    }

    fn combine(&self, _cx: &Call, _state: &mut AggState, _other: AggState) -> SqlResult<()> {
        Err(SqlError::internal("states over sorted rows cannot be joined"))
    }
}

impl Share {
    fn take(&mut self, row: u64, value: &Datum) {
        for (at, slot) in [self.low, self.high].into_iter().zip(&mut self.values) {
            if at == row {
                *slot = value.clone();
            }
        }
    }
}

impl Sorted {
    /// The rows to look out for.
    fn shares(&self, cx: &Call, direct: &[Datum], rows: u64) -> SqlResult<Found> {
        let Some(asked) = direct.first() else {
            return Err(SqlError::internal("a percentile without its share"));
        };
        if asked.is_null() {
            return Ok(Found::Shares(vec![None], None));
        }
        if cx.arg_type(0) == crate::oids::float8 {
            return Ok(Found::Shares(vec![Some(self.share(f64::from_datum(asked), rows)?)], None));
        }
        let asked = Array::from_payload(<&[u8]>::from_datum(asked));
        let one =
            |share: &Datum| (!share.is_null()).then(|| self.share(f64::from_datum(share), rows)).transpose();
        let shares = asked.elements().iter().map(one).collect::<SqlResult<_>>()?;
        Ok(Found::Shares(shares, Some(asked.dimensions)))
    }

    fn share(&self, share: f64, rows: u64) -> SqlResult<Share> {
        if !(0.0..=1.0).contains(&share) {
            let shown = float::general(share, 6);
            return Err(sql_err!(
                NUMERIC_VALUE_OUT_OF_RANGE,
                "percentile value {shown} is not between 0 and 1"
            ));
        }
        let values = [Datum::Null, Datum::Null];
        if *self == Sorted::Discrete {
            let row = ((share * rows as f64).ceil() as u64).saturating_sub(1);
            return Ok(Share { low: row, high: row, part: 0.0, values });
        }
        let place = share * rows.saturating_sub(1) as f64;
        let low = place.floor();
        Ok(Share { low: low as u64, high: place.ceil() as u64, part: place - low, values })
    }

    fn percentiles(
        &self,
        cx: &Call,
        rows: u64,
        shares: &[Option<Share>],
        dimensions: &Option<Dimensions>,
    ) -> SqlResult<Datum> {
        if rows == 0 {
            return Ok(Datum::Null);
        }
        let mut values = Vec::new();
        for share in shares {
            values.push(share.as_ref().map_or(Ok(Datum::Null), between)?);
        }
        match dimensions {
            None => Ok(values.pop().unwrap_or_default()),
            Some(dimensions) => {
                Ok(Array::with_dimensions(cx.arg_type(1), dimensions.clone(), values, cx)?.to_datum())
            }
        }
    }
}

/// The value at a share: one row's, or by linear interpolation of two.
fn between(share: &Share) -> SqlResult<Datum> {
    let [low, high] = &share.values;
    if share.low == share.high {
        return Ok(low.clone());
    }
    if let (Datum::Float8(low), Datum::Float8(high)) = (low, high) {
        return Ok(Datum::Float8(low + share.part * (high - low)));
    }
    let [low, high] = [low, high].map(|value| Interval::from_payload(<&[u8]>::from_datum(value)));
    low.add(&high.sub(&low)?.mul(share.part)?)?.into_datum()
}
