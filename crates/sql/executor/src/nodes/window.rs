//! Window functions: a partition is read whole, then each row's frame is worked out. A partition that outgrows `work_mem` lies in a
//! file.

use base::{SqlError, SqlResult, sql_err};
use eval::code::{Code, Rows, passes};
use eval::compile::Inputs;
use eval::cx::Cx;
use eval::row_store::{Place, RowStore};
use plan::{
    AggCall, Expr, FrameBound, FrameExclude, FrameMode, FrameRange, ParamId, Plan, SortKey, Steps,
    WindowCall, WindowFrame,
};
use tuple::Datum;
use types::Imp;
use types::registry::WindowFn;

use super::aggregate_call::{CallCode, State};
use super::peers::Peers;
use super::sort::{self, compare_rows};
use super::window_range::{self, Offset};
use super::{BoxNode, Builder, Key, Node, Projection, stored};

enum Function {
    Window(WindowFn, Box<[Code]>),
    Aggregate(Box<CallCode>),
}

enum Bound {
    Unbounded,
    Current,
    Preceding(Code),
    Following(Code),
}

/// A window aggregation.
pub fn build<'p>(
    builder: &mut Builder<'p>,
    plan: &'p Plan,
    child: &'p Plan,
    (partition, order): (&[Expr], &[SortKey]),
    frame: &WindowFrame,
    (calls, run): (&[WindowCall], &[Expr]),
) -> SqlResult<BoxNode> {
    let inputs = Inputs::one(&child.output);
    let compiler = builder.compiler();
    let keys: Vec<SortKey> = partition
        .iter()
        .map(|e| SortKey { expr: e.clone(), descending: false, nulls_first: false })
        .collect();
    let partition = sort::keys(builder, &keys, inputs)?;
    let order_keys = sort::keys(builder, order, inputs)?;
    let mut functions = Vec::new();
    for call in calls {
        functions.push(match (&call.steps, call.function.imp()) {
            (Some(steps), _) => {
                let moving = takes_back(call, steps, frame)?;
                let call = as_aggregate(call, steps);
                Function::Aggregate(Box::new(CallCode::new(builder, &call, inputs, inputs, moving)?))
            }
            (None, Some(Imp::Window(function))) => {
                Function::Window(function, compiler.list(&call.args, inputs)?)
            }
            _ => {
                let what = format!("window function {}()", call.function.name());
                return Err(SqlError::not_supported(what));
            }
        });
    }
    let mut carried = child.output.clone();
    carried.extend(calls.iter().map(|c| Expr::Window(Box::new(c.clone()))));
    let projection = builder.projection(plan, Inputs::one(&carried))?;
    let run = compiler.list(run, Inputs::one(&carried))?;
    let lazy = functions.iter().all(|function| {
        use WindowFn as F;
        matches!(function, Function::Window(F::RowNumber | F::Rank | F::DenseRank, _))
    });
    let bound = |b: &FrameBound| -> SqlResult<Bound> {
        Ok(match b {
            FrameBound::UnboundedPreceding | FrameBound::UnboundedFollowing => Bound::Unbounded,
            FrameBound::CurrentRow => Bound::Current,
            FrameBound::Preceding(e) => Bound::Preceding(compiler.expr(e, Inputs::default())?),
            FrameBound::Following(e) => Bound::Following(compiler.expr(e, Inputs::default())?),
        })
    };
    let (start, end) = (bound(&frame.start)?, bound(&frame.end)?);
    let child = builder.build(child)?;
    Ok(Box::new(WindowAgg {
        child,
        partition,
        order: order_keys,
        mode: frame.mode,
        start,
        end,
        exclude: frame.exclude,
        range: frame.range.clone(),
        functions,
        projection,
        run,
        lazy,
        ended: false,
        last: Vec::new(),
        rows: RowStore::default(),
        peers: Peers::default(),
        at: 0,
        places: Vec::new(),
        row: Vec::new(),
        next_row: None,
        started: false,
        drained: false,
        running: Vec::new(),
        group_frame: None,
    }))
}

/// Whether an aggregate uses the functions that take rows back; an error if it cannot give a result for each row.
fn takes_back(call: &WindowCall, steps: &Steps, frame: &WindowFrame) -> SqlResult<bool> {
    let Steps::User(user) = steps else { return Ok(false) };
    let varies = || call.args.iter().chain(&call.filter).any(|e| e.is_volatile() || e.has_subplans());
    let moving = match &user.moving {
        None => false,
        Some(moving) if moving.final_modify == b'r' && user.plain.final_modify != b'r' => true,
        Some(_) => !matches!(frame.start, FrameBound::UnboundedPreceding) && !varies(),
    };
    let used = user.moving.as_ref().filter(|_| moving).unwrap_or(&user.plain);
    if used.final_modify == b'w' {
        let name = call.function.name();
        return Err(sql_err!(
            FEATURE_NOT_SUPPORTED,
            "aggregate function {name} does not support use as a window function"
        ));
    }
    Ok(moving)
}

fn as_aggregate(call: &WindowCall, steps: &Steps) -> AggCall {
    AggCall {
        function: call.function.clone(),
        steps: steps.clone(),
        args: call.args.clone(),
        direct: Vec::new(),
        order: Vec::new(),
        within_group: false,
        distinct: false,
        presorted: false,
        filter: call.filter.clone(),
        star: call.star,
        type_oid: call.type_oid,
        collation: call.collation,
    }
}

/// An aggregate over the rows of a frame, kept for the next one.
struct Running {
    start: u64,
    end: u64,
    /// The peer group that was left out.
    excluded: Option<u64>,
    state: State,
    /// Of exactly these rows.
    result: Datum,
}

struct WindowAgg {
    child: BoxNode,
    partition: Box<[Key]>,
    order: Box<[Key]>,
    mode: FrameMode,
    start: Bound,
    end: Bound,
    exclude: FrameExclude,
    /// RANGE with an offset.
    range: Option<FrameRange>,
    functions: Vec<Function>,
    projection: Projection,
    /// Once one is not true, no more rows of the partition are wanted.
    run: Box<[Code]>,
    /// Its functions look at no row behind the current one: the partition is read as far as it is needed.
    lazy: bool,
    /// No more rows are wanted.
    ended: bool,
    /// The row of the partition last read.
    last: Vec<Datum>,
    /// The partition, as far as it was read.
    rows: RowStore,
    peers: Peers,
    /// The current row.
    at: u64,
    row: Vec<Datum>,
    /// Where each function reads, and behind them where the current row is read.
    places: Vec<Place>,
    next_row: Option<Vec<Datum>>,
    started: bool,
    /// There are no more input rows.
    drained: bool,
    /// Aggregates over a frame that only grows, or that can give rows back.
    running: Vec<Option<Running>>,
    /// The frame of a peer group, which is that of all its rows unless the frame counts rows.
    group_frame: Option<(u64, (u64, u64))>,
}

impl WindowAgg {
    fn read_row(&mut self, cx: &mut Cx<'_>) -> SqlResult<()> {
        runtime::check_interrupts().map_err(eval::error::interrupted)?;
        self.next_row = if self.child.next(cx)? { Some(self.child.row().to_vec()) } else { None };
        self.drained = self.next_row.is_none();
        Ok(())
    }

    fn read_partition(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        self.forget();
        let Some(first) = self.next_row.take() else { return Ok(false) };
        self.last.clone_from(&first);
        self.peers.push(true);
        self.rows.push(first, cx.env.work_mem, cx.env.temp)?;
        while !self.lazy && self.read_more(cx)? {}
        self.tell_stored(cx);
        Ok(true)
    }

    /// Reads another row of the partition; false if there is none: then the next partition's first one is at hand.
    fn read_more(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        if self.next_row.is_none() && !self.drained {
            self.read_row(cx)?;
        }
        let same = match &self.next_row {
            Some(row) => compare_rows(&self.partition, &self.last, row, cx)?.is_eq(),
            None => false,
        };
        let Some(row) = self.next_row.as_ref().filter(|_| same) else {
            self.tell_stored(cx);
            return Ok(false);
        };
        let begins = !self.order.is_empty() && compare_rows(&self.order, &self.last, row, cx)?.is_ne();
        self.peers.push(begins);
        self.last.clone_from(row);
        if let Some(row) = self.next_row.take() {
            self.rows.push(row, cx.env.work_mem, cx.env.temp)?;
        }
        Ok(true)
    }

    fn tell_stored(&self, cx: &mut Cx<'_>) {
        cx.tell(|before| stored(before, &self.rows));
    }

    /// Passes over the rest of a partition; without partitions, that is all.
    fn pass_partition(&mut self, cx: &mut Cx<'_>) -> SqlResult<()> {
        self.tell_stored(cx);
        self.ended = self.partition.is_empty();
        while self.lazy && !self.ended && self.read_more(cx)? {
            self.rows.clear();
        }
        self.at = self.rows.len();
        Ok(())
    }

    /// Forgets the partition.
    fn forget(&mut self) {
        self.rows.clear();
        self.peers.clear();
        self.at = 0;
        self.places.clear();
        self.places.resize_with(self.functions.len() + 1, Place::default);
        self.running.clear();
        self.running.resize_with(self.functions.len(), || None);
        self.group_frame = None;
    }

    fn offset_value(code: &Code, what: &str, cx: &mut Cx<'_>) -> SqlResult<Datum> {
        match code.eval(Rows::one(&[]), cx)? {
            Datum::Null => Err(sql_err!(NULL_VALUE_NOT_ALLOWED, "frame {what} offset must not be null")),
            value => Ok(value),
        }
    }

    fn offset(code: &Code, what: &str, cx: &mut Cx<'_>) -> SqlResult<u64> {
        let n = match Self::offset_value(code, what, cx)? {
            Datum::Int8(n) => n,
            _ => 0,
        };
        u64::try_from(n).map_err(|_| {
            sql_err!(INVALID_PRECEDING_OR_FOLLOWING_SIZE, "frame {what} offset must not be negative")
        })
    }

    /// The edge of the current row's frame that RANGE with an offset gives, if the bound is one.
    fn range_edge(&self, bound: &Bound, start: bool, cx: &mut Cx<'_>) -> SqlResult<Option<u64>> {
        let (Some(range), Some(key)) = (&self.range, self.order.first()) else { return Ok(None) };
        let (code, preceding) = match bound {
            Bound::Preceding(code) => (code, true),
            Bound::Following(code) => (code, false),
            Bound::Unbounded | Bound::Current => return Ok(None),
        };
        let value = Self::offset_value(code, if start { "starting" } else { "ending" }, cx)?;
        let offset = Offset { value, preceding };
        let edge = if start { window_range::start } else { window_range::end };
        edge(range, key, &self.rows, &self.row, &offset, cx).map(Some)
    }

    /// The frame of the current row, as a half-open range before exclusion.
    fn frame(&mut self, cx: &mut Cx<'_>) -> SqlResult<(u64, u64)> {
        if self.mode == FrameMode::Rows {
            return self.edges(cx);
        }
        let group = self.peers.group_of(self.at);
        match self.group_frame {
            Some((known, frame)) if known == group => Ok(frame),
            _ => {
                let frame = self.edges(cx)?;
                self.group_frame = Some((group, frame));
                Ok(frame)
            }
        }
    }

    fn edges(&self, cx: &mut Cx<'_>) -> SqlResult<(u64, u64)> {
        let start = match self.range_edge(&self.start, true, cx)? {
            Some(edge) => edge,
            None => self.frame_start(cx)?,
        };
        let end = match self.range_edge(&self.end, false, cx)? {
            Some(edge) => edge,
            None => self.frame_end(cx)?,
        };
        Ok((start, end.max(start)))
    }

    fn frame_start(&self, cx: &mut Cx<'_>) -> SqlResult<u64> {
        let at = self.at;
        let rows_mode = self.mode == FrameMode::Rows;
        let peer = self.peers.group_of(at);
        Ok(match &self.start {
            Bound::Unbounded => 0,
            Bound::Current if rows_mode => at,
            Bound::Current => self.peers.start_of(peer),
            Bound::Preceding(code) => {
                let n = Self::offset(code, "starting", cx)?;
                if rows_mode { at.saturating_sub(n) } else { self.peers.start_of(peer.saturating_sub(n)) }
            }
            Bound::Following(code) => {
                let n = Self::offset(code, "starting", cx)?;
                if rows_mode {
                    at.saturating_add(n).min(self.rows.len())
                } else {
                    self.peers.start_of(peer.saturating_add(n))
                }
            }
        })
    }

    fn frame_end(&self, cx: &mut Cx<'_>) -> SqlResult<u64> {
        let at = self.at;
        let rows_mode = self.mode == FrameMode::Rows;
        let peer = self.peers.group_of(at);
        Ok(match &self.end {
            Bound::Unbounded => self.rows.len(),
            Bound::Current if rows_mode => at + 1,
            Bound::Current => self.peers.end_of(peer),
            Bound::Preceding(code) => {
                let n = Self::offset(code, "ending", cx)?;
                match rows_mode {
                    true => (at + 1).saturating_sub(n),
                    false if n > peer => 0,
                    false => self.peers.end_of(peer - n),
                }
            }
            Bound::Following(code) => {
                let n = Self::offset(code, "ending", cx)?;
                if rows_mode {
                    at.saturating_add(n).saturating_add(1).min(self.rows.len())
                } else {
                    self.peers.end_of(peer.saturating_add(n))
                }
            }
        })
    }

    fn excluded(&self, at: u64, row: u64) -> bool {
        match self.exclude {
            FrameExclude::Nothing => false,
            FrameExclude::CurrentRow => row == at,
            FrameExclude::Group => self.peers.group_of(row) == self.peers.group_of(at),
            FrameExclude::Ties => row != at && self.peers.group_of(row) == self.peers.group_of(at),
        }
    }

    fn aggregate(&mut self, number: usize, call: &CallCode, cx: &mut Cx<'_>) -> SqlResult<Datum> {
        let at = self.at;
        let (start, end) = self.frame(cx)?;
        let excluded = match self.exclude {
            FrameExclude::Group => Some(self.peers.group_of(at)),
            _ => None,
        };
        // If rows are left out by what they are to the current one, its neighbour has another frame.
        let keeps = matches!(self.exclude, FrameExclude::Nothing | FrameExclude::Group);
        let mut running = Running { start, end: start, excluded, state: call.start(), result: Datum::Null };
        if let Some(before) = self.running[number].take() {
            if (before.start, before.end, before.excluded) == (start, end, excluded) {
                let result = before.result.clone();
                self.running[number] = Some(before);
                return Ok(result);
            }
            if self.exclude == FrameExclude::Nothing
                && before.end <= end
                && (before.start == start || call.moves())
                && let Some(advanced) = self.advance(number, call, before, start, cx)?
            {
                running = advanced;
            }
        }
        while running.end < end {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            if !self.excluded(at, running.end)
                && let Some(row) = self.rows.get(&mut self.places[number], running.end)?
            {
                call.add(&mut running.state, Rows::one(row), cx)?;
            }
            running.end += 1;
        }
        running.result = call.finish(&mut running.state, &[], cx)?;
        let result = running.result.clone();
        self.running[number] = keeps.then_some(running);
        Ok(result)
    }

    /// Takes back the rows before `start`; none if that cannot be done, or would leave no row.
    fn advance(
        &mut self,
        number: usize,
        call: &CallCode,
        mut before: Running,
        start: u64,
        cx: &mut Cx<'_>,
    ) -> SqlResult<Option<Running>> {
        if before.start < start && before.end <= start {
            return Ok(None);
        }
        while before.start < start {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            if let Some(row) = self.rows.get(&mut self.places[number], before.start)?
                && !call.take_back(&mut before.state, Rows::one(row), cx)?
            {
                return Ok(None);
            }
            before.start += 1;
        }
        Ok(Some(before))
    }

    fn window(
        &mut self,
        place: &mut Place,
        function: WindowFn,
        args: &[Code],
        cx: &mut Cx<'_>,
    ) -> SqlResult<Datum> {
        let at = self.at;
        let count = self.rows.len();
        let peer = self.peers.group_of(at);
        let of_frame = matches!(function, WindowFn::FirstValue | WindowFn::LastValue | WindowFn::NthValue);
        let (start, end) = if of_frame { self.frame(cx)? } else { (0, count) };
        let mut arg = |i: usize, row: u64, cx: &mut Cx<'_>| match (args.get(i), row == at) {
            (Some(code), true) => code.eval(Rows::one(&self.row), cx),
            (Some(code), false) => code.eval(Rows::one(self.rows.get(place, row)?.unwrap_or_default()), cx),
            (None, _) => Ok(Datum::Null),
        };
        Ok(match function {
            WindowFn::RowNumber => Datum::Int8(at as i64 + 1),
            WindowFn::Rank => Datum::Int8(self.peers.start_of(peer) as i64 + 1),
            WindowFn::DenseRank => Datum::Int8(peer as i64 + 1),
            WindowFn::PercentRank if count <= 1 => Datum::Float8(0.0),
            WindowFn::PercentRank => Datum::Float8(self.peers.start_of(peer) as f64 / (count - 1) as f64),
            WindowFn::CumeDist => Datum::Float8(self.peers.end_of(peer) as f64 / count as f64),
            WindowFn::Ntile => match arg(0, at, cx)? {
                Datum::Int4(n) if n > 0 => {
                    let n = n as u64;
                    let (size, larger) = (count / n, count % n);
                    let edge = larger * (size + 1);
                    let bucket = if at < edge { at / (size + 1) } else { larger + (at - edge) / size.max(1) };
                    Datum::Int4(bucket as i32 + 1)
                }
                Datum::Null => Datum::Null,
                _ => {
                    return Err(sql_err!(
                        INVALID_ARGUMENT_FOR_NTILE,
                        "argument of ntile must be greater than zero"
                    ));
                }
            },
            WindowFn::Lag | WindowFn::Lead => {
                let offset = match args.get(1).map(|_| arg(1, at, cx)).transpose()? {
                    None => 1,
                    Some(Datum::Int4(n)) => i64::from(n),
                    Some(_) => return Ok(Datum::Null),
                };
                let offset = if function == WindowFn::Lag { -offset } else { offset };
                match u64::try_from(at as i64 + offset) {
                    Ok(row) if row < count => arg(0, row, cx)?,
                    _ => arg(2, at, cx)?,
                }
            }
            WindowFn::FirstValue | WindowFn::LastValue | WindowFn::NthValue => {
                let mut rows = (start..end).filter(|r| !self.excluded(at, *r));
                let row = match function {
                    WindowFn::FirstValue => rows.next(),
                    WindowFn::LastValue => rows.next_back(),
                    _ => match arg(1, at, cx)? {
                        Datum::Int4(n) if n > 0 => rows.nth(n as usize - 1),
                        Datum::Null => None,
                        _ => {
                            return Err(sql_err!(
                                INVALID_ARGUMENT_FOR_NTH_VALUE,
                                "argument of nth_value must be greater than zero"
                            ));
                        }
                    },
                };
                match row {
                    Some(row) => arg(0, row, cx)?,
                    None => Datum::Null,
                }
            }
        })
    }
}

impl Node for WindowAgg {
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        if !self.started {
            self.started = true;
            self.read_row(cx)?;
        }
        loop {
            if self.ended {
                return Ok(false);
            }
            let at_hand = self.at < self.rows.len() || (self.lazy && self.at > 0 && self.read_more(cx)?);
            if !at_hand && !self.read_partition(cx)? {
                return Ok(false);
            }
            let mut place = self.places.pop().unwrap_or_default();
            self.rows.read(&mut place, self.at, &mut self.row)?;
            self.places.push(place);
            let mut row = self.row.clone();
            let functions = std::mem::take(&mut self.functions);
            let mut result = Ok(());
            for (number, function) in functions.iter().enumerate() {
                let value = match function {
                    Function::Window(function, args) => {
                        let mut place = std::mem::take(&mut self.places[number]);
                        let value = self.window(&mut place, *function, args, cx);
                        self.places[number] = place;
                        value
                    }
                    Function::Aggregate(call) => self.aggregate(number, call, cx),
                };
                match value {
                    Ok(value) => row.push(value),
                    Err(error) => {
                        result = Err(error);
                        break;
                    }
                }
            }
            self.functions = functions;
            result?;
            self.at += 1;
            if !self.run.is_empty() && !passes(&self.run, Rows::one(&row), cx)? {
                self.pass_partition(cx)?;
                continue;
            }
            if self.projection.apply(Rows::one(&row), cx)? {
                return Ok(true);
            }
        }
    }

    fn row(&self) -> &[Datum] {
        self.projection.row()
    }

    fn rescan(&mut self, cx: &mut Cx<'_>, changed: &[ParamId]) -> SqlResult<()> {
        self.forget();
        self.next_row = None;
        (self.started, self.drained, self.ended) = (false, false, false);
        self.child.rescan(cx, changed)
    }

    fn close(&mut self, cx: &mut Cx<'_>) {
        self.forget();
        self.next_row = None;
        self.child.close(cx);
    }
}
