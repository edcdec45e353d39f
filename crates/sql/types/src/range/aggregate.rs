//! `range_agg`, `range_intersect_agg`.

use super::*;
use crate::aggregate::{AggState, AggregateImp};

/// The aggregates over ranges and multiranges.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RangeAgg {
    /// `range_agg(anyrange)`
    Union,
    /// `range_agg(anymultirange)`
    UnionMulti,
    /// `range_intersect_agg(anyrange)`
    Intersect,
    /// `range_intersect_agg(anymultirange)`
    IntersectMulti,
}

impl AggregateImp for RangeAgg {
    fn start(&self) -> AggState {
        AggState::Empty
    }

    fn add(&self, cx: &Call, state: &mut AggState, args: &[Datum]) -> SqlResult<()> {
        let Some(value) = args.first() else { return Ok(()) };
        if value.is_null() {
            return Ok(());
        }
        match (self, &mut *state) {
            (RangeAgg::Union | RangeAgg::UnionMulti, AggState::Values(values)) => values.push(value.clone()),
            (RangeAgg::Union | RangeAgg::UnionMulti, _) => {
                *state = AggState::Values(vec![value.clone()].into())
            }
            (RangeAgg::Intersect, AggState::Value(held)) => {
                *held = Range::from_datum(held).intersection(&Range::from_datum(value)).into_datum()?;
            }
            (RangeAgg::IntersectMulti, AggState::Value(held)) => {
                *held = Multirange::from_datum(held)
                    .intersection(cx, &Multirange::from_datum(value))?
                    .into_datum()?;
            }
            _ => *state = AggState::Value(value.clone()),
        }
        Ok(())
    }

    fn finish(&self, cx: &Call, state: &AggState) -> SqlResult<Datum> {
        let values = match state {
            AggState::Value(value) => return Ok(value.clone()),
            AggState::Values(values) => values,
            _ => return Ok(Datum::Null),
        };
        let mut spans = Vec::with_capacity(values.len());
        for value in values.iter() {
            match self {
                RangeAgg::UnionMulti => spans.extend(Multirange::from_datum(value).spans),
                _ => spans.extend(Range::from_datum(value).span),
            }
        }
        Multirange::of_type(&range_info(cx.arg_type(0), cx)?, spans, cx)?.into_datum()
    }

    fn combine(&self, cx: &Call, state: &mut AggState, other: AggState) -> SqlResult<()> {
        match (&mut *state, other) {
            (_, AggState::Empty) => Ok(()),
            (AggState::Empty, other) => {
                *state = other;
                Ok(())
            }
            (AggState::Values(values), AggState::Values(mut other)) => {
                values.append(&mut other);
                Ok(())
            }
            (_, AggState::Value(value)) => self.add(cx, state, &[value]),
            _ => Err(SqlError::internal("aggregate states of different kinds")),
        }
    }
}
