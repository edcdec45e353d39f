//! How aggregates are computed: a state a group, a row at a time, a result at the end.

use base::SqlResult;
use tuple::Datum;

use crate::call::Call;

/// State of one aggregate in one group.
#[derive(Clone, Debug, Default)]
pub enum AggState {
    /// Nothing seen yet.
    #[default]
    Empty,
    /// A running count.
    Count(i64),
}

/// One aggregate's three steps. The caller handles DISTINCT, FILTER and ORDER BY.
pub trait AggregateImp: Sync {
    /// The state before the first row.
    fn start(&self) -> AggState;

    /// Takes one row's arguments, NULLs included.
    fn add(&self, cx: &Call, state: &mut AggState, args: &[Datum]) -> SqlResult<()>;

    /// The result so far; the state may go on.
    fn finish(&self, cx: &Call, state: &AggState) -> SqlResult<Datum>;

    /// Merges another group's state (parallel and spilled aggregation).
    fn combine(&self, cx: &Call, state: &mut AggState, other: AggState) -> SqlResult<()>;
}
