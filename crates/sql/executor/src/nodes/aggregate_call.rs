//! One call of an aggregate: rows in, a result out. Kept are a running state, or the rows themselves where they must be sorted first.

use std::cmp::Ordering;

use base::{Oid, SqlError, SqlResult};
use eval::code::{Code, Rows, project};
use eval::compile::{Inputs, order_of};
use eval::cx::Cx;
use plan::{AggCall, Expr, Steps};
use tuple::Datum;
use types::AggState;
use types::aggregate_columns::{Lane, States};
use types::registry::Aggregate;

use super::sort::Sorter;
use super::user_aggregate::{UserCode, UserState};
use super::{Builder, Key};

/// One aggregate call, compiled.
pub struct CallCode {
    steps: StepsCode,
    args: Box<[Code]>,
    /// Direct arguments of an ordered-set aggregate.
    direct: Box<[Code]>,
    types: Box<[Oid]>,
    result: Oid,
    collation: Oid,
    filter: Option<Code>,
    distinct: bool,
    /// Order of the rows handed over: keys over (arguments, sort expressions).
    order: Box<[Code]>,
    order_keys: Vec<Key>,
    /// Rows come in this order.
    presorted: bool,
    skip_nulls: bool,
    /// An ordered-set aggregate whose functions take rows as they come.
    unsorted_set: bool,
}

/// What computes an aggregate.
enum StepsCode {
    Native(&'static Aggregate),
    User(Box<UserCode>),
}

/// State of one call in one group.
pub enum State {
    /// Running.
    Plain(AggState),
    /// Running, by functions of a user.
    User(UserState),
    /// Running, of rows that come sorted: those that equal the one before are passed over.
    Distinct(Box<Distinct>),
    /// Rows kept until the end, for DISTINCT and ORDER BY.
    Kept(Box<Sorter>),
    /// Rows of an ordered-set aggregate.
    Set(Box<SortedSet>),
}

impl CallCode {
    /// Compiles a call over the rows of `inputs`; its direct arguments are computed from what a group has: `grouped`. `moving`: rows
    /// may be taken back.
    pub fn new(
        builder: &Builder<'_>,
        call: &AggCall,
        inputs: Inputs<'_>,
        grouped: Inputs<'_>,
        moving: bool,
    ) -> SqlResult<CallCode> {
        let compiler = builder.compiler();
        let args = &call.args;
        let types_of = |list: &[Expr]| list.iter().map(Expr::type_oid).collect::<Vec<_>>();
        let (steps, skip_nulls) = match &call.steps {
            Steps::Native(row) => {
                let strict = types::registry::function(row.function).is_some_and(|f| f.strict);
                (StepsCode::Native(row), strict)
            }
            Steps::User(user) => {
                let steps = user.moving.as_ref().filter(|_| moving).unwrap_or(&user.plain);
                let types = (&types_of(&call.direct)[..], &types_of(args)[..]);
                let code = UserCode::new(&compiler, steps, types, (call.type_oid, call.collation))?;
                (StepsCode::User(Box::new(code)), false)
            }
        };
        let width = args.len();
        let mut keys: Vec<Key> = Vec::new();
        let mut order = Vec::new();
        for key in &call.order {
            let mut made = Key::column(width + order.len(), order_of(builder.statement, &key.expr)?);
            made.set_direction(key.descending, key.nulls_first);
            keys.push(made);
            order.push(compiler.expr(&key.expr, inputs)?);
        }
        if call.distinct {
            for (i, arg) in args.iter().enumerate() {
                keys.push(Key::column(i, order_of(builder.statement, arg)?));
            }
        }
        Ok(CallCode {
            steps,
            types: call.direct.iter().chain(args).map(Expr::type_oid).collect(),
            args: compiler.list(args, inputs)?,
            direct: compiler.list(&call.direct, grouped)?,
            result: call.type_oid,
            collation: call.collation,
            filter: call.filter.as_ref().map(|e| compiler.expr(e, inputs)).transpose()?,
            distinct: call.distinct,
            order: order.into(),
            order_keys: keys,
            presorted: call.presorted,
            skip_nulls,
            unsorted_set: call.within_group,
        })
    }

    /// The state of a new group.
    pub fn start(&self) -> State {
        match self.steps {
            StepsCode::Native(Aggregate { kind: kind @ (b'o' | b'h'), .. }) => {
                State::Set(Box::new(SortedSet::new(*kind, &self.order_keys)))
            }
            _ if self.presorted && self.distinct => {
                State::Distinct(Box::new(Distinct { state: self.fresh(), last: None }))
            }
            _ if self.order_keys.is_empty() || self.unsorted_set || self.presorted => self.fresh(),
            _ => State::Kept(Box::new(Sorter::new(&self.order_keys))),
        }
    }

    /// The state of a new group of a call that takes columns.
    pub fn start_column(&self) -> AggState {
        match &self.steps {
            StepsCode::Native(row) => row.imp.start(),
            StepsCode::User(_) => AggState::Empty,
        }
    }

    /// The state before the first row that the aggregate's functions see.
    fn fresh(&self) -> State {
        match &self.steps {
            StepsCode::Native(_) => State::Plain(self.start_column()),
            StepsCode::User(_) => State::User(UserState::default()),
        }
    }

    /// Hands a row's arguments to the aggregate's functions.
    fn step(&self, state: &mut State, args: &[Datum], cx: &mut Cx<'_>) -> SqlResult<()> {
        match (state, &self.steps) {
            (State::Plain(state), _) => self.add_plain(state, args, cx),
            (State::User(state), StepsCode::User(code)) => code.add(state, args, cx),
            _ => Err(SqlError::internal("a state of another aggregate")),
        }
    }

    /// Takes back a row that was taken before all others in the state; false if that cannot be done.
    pub fn take_back(&self, state: &mut State, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<bool> {
        let (State::User(state), StepsCode::User(code)) = (state, &self.steps) else { return Ok(false) };
        if let Some(filter) = &self.filter
            && !filter.test(rows, cx)?
        {
            return Ok(true);
        }
        let mut args = Vec::new();
        project(&self.args, rows, cx, &mut args)?;
        code.take_back(state, &args, cx)
    }

    /// Whether the result depends on columns of the group: it has direct arguments.
    pub fn reads_group(&self) -> bool {
        !self.direct.is_empty()
    }

    /// Whether rows can be taken back.
    pub fn moves(&self) -> bool {
        matches!(&self.steps, StepsCode::User(code) if code.moves())
    }

    /// Whether it is `count(*)`.
    pub fn counts_rows(&self) -> bool {
        let counts = matches!(self.steps, StepsCode::Native(row) if row.imp.counts_rows());
        counts && self.filter.is_none() && self.order_keys.is_empty()
    }

    /// Takes so many rows, if it counts them.
    pub fn count(&self, state: &mut State, rows: i64, cx: &Cx<'_>) -> SqlResult<()> {
        match (state, &self.steps) {
            (State::Plain(state), StepsCode::Native(_)) => {
                self.combine_columns(state, AggState::Count(rows), cx)
            }
            _ => Err(SqlError::internal("a state of another aggregate")),
        }
    }

    fn context<'a>(&'a self, cx: &'a Cx<'_>) -> types::Call<'a> {
        cx.call(&self.types, self.result, self.collation, false)
    }

    /// Takes rows of a column.
    pub fn add_column(&self, states: States<'_>, lane: &Lane<'_>, cx: &Cx<'_>) -> SqlResult<()> {
        match self.steps {
            StepsCode::Native(row) => row.imp.add_column(&self.context(cx), states, lane),
            StepsCode::User(_) => Err(SqlError::internal("a state of another aggregate")),
        }
    }

    /// Computes what taking a row would, and takes nothing.
    pub fn rehearse(&self, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<()> {
        if let Some(filter) = &self.filter
            && !filter.test(rows, cx)?
        {
            return Ok(());
        }
        self.args.iter().try_for_each(|arg| arg.eval(rows, cx).map(|_| ()))
    }

    /// Takes a row.
    pub fn add(&self, state: &mut State, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<()> {
        if let Some(filter) = &self.filter
            && !filter.test(rows, cx)?
        {
            return Ok(());
        }
        if let (State::Plain(state), [arg]) = (&mut *state, &*self.args) {
            // What is at hand is not copied.
            return match arg.peek(rows, cx) {
                Some(value) => self.add_plain(state, std::slice::from_ref(value), cx),
                None => self.add_plain(state, &[arg.eval(rows, cx)?], cx),
            };
        }
        let mut args: smallvec::SmallVec<[Datum; 4]> = smallvec::SmallVec::new();
        for code in &self.args {
            args.push(code.eval(rows, cx)?);
        }
        match state {
            State::Plain(state) => self.add_plain(state, &args, cx),
            State::Kept(sorter) => {
                let mut row = args.into_vec();
                for code in &self.order {
                    row.push(code.eval(rows, cx)?);
                }
                sorter.add(row, &self.order_keys, cx)
            }
            State::User(_) => self.step(state, &args, cx),
            State::Distinct(distinct) => {
                if !self.is_same(distinct.last.as_deref(), &args) {
                    self.step(&mut distinct.state, &args, cx)?;
                    distinct.last = Some(args.into_vec());
                }
                Ok(())
            }
            State::Set(set) if set.kind == b'o' && args.iter().any(Datum::is_null) => Ok(()),
            State::Set(set) => {
                let mut row = args.into_vec();
                for code in &self.order {
                    row.push(code.eval(rows, cx)?);
                }
                set.rows += 1;
                set.sorter.add(row, &self.order_keys, cx)
            }
        }
    }

    #[inline]
    fn add_plain(&self, state: &mut AggState, args: &[Datum], cx: &Cx<'_>) -> SqlResult<()> {
        if self.skip_nulls && args.iter().any(Datum::is_null) {
            return Ok(());
        }
        match self.steps {
            StepsCode::Native(row) => row.imp.add(&self.context(cx), state, args),
            StepsCode::User(_) => Err(SqlError::internal("a state of another aggregate")),
        }
    }

    /// The group's result; `grouped` is the row for direct arguments.
    pub fn finish(&self, state: &mut State, grouped: &[Datum], cx: &mut Cx<'_>) -> SqlResult<Datum> {
        match state {
            State::Plain(_) | State::User(_) => self.finish_running(state, grouped, cx),
            State::Distinct(distinct) => self.finish_running(&mut distinct.state, grouped, cx),
            State::Kept(sorter) => {
                sorter.finish(&self.order_keys, cx)?;
                let mut inner = self.fresh();
                let width = self.args.len();
                let mut last: Option<Vec<Datum>> = None;
                while sorter.next(&self.order_keys)? {
                    runtime::check_interrupts().map_err(eval::error::interrupted)?;
                    let row = sorter.row();
                    if self.distinct {
                        if self.is_same(last.as_deref(), row) {
                            continue;
                        }
                        last = Some(row.to_vec());
                    }
                    self.step(&mut inner, &row[..width], cx)?;
                }
                self.finish_running(&mut inner, grouped, cx)
            }
            State::Set(set) => self.finish_set(set, grouped, cx),
        }
    }

    /// Whether arguments that are to be distinct, whatever is behind them, equal those before.
    fn is_same(&self, last: Option<&[Datum]>, args: &[Datum]) -> bool {
        let keys = &self.order_keys[self.order_keys.len() - self.args.len()..];
        last.is_some_and(|last| {
            keys.iter().zip(last.iter().zip(args)).all(|(k, (a, b))| k.compare(a, b).is_eq())
        })
    }

    /// Adds the state that other rows of the group have.
    pub fn combine(&self, state: &mut State, other: State, cx: &Cx<'_>) -> SqlResult<()> {
        match (state, other) {
            (State::Plain(state), State::Plain(other)) => self.combine_columns(state, other, cx),
            _ => Err(SqlError::internal("a state that cannot be joined with others")),
        }
    }

    /// The same for a call that takes columns.
    pub fn combine_columns(&self, state: &mut AggState, other: AggState, cx: &Cx<'_>) -> SqlResult<()> {
        match &self.steps {
            StepsCode::Native(row) => row.imp.combine(&self.context(cx), state, other),
            StepsCode::User(_) => Err(SqlError::internal("a state of another aggregate")),
        }
    }

    /// The result of a call that takes columns.
    pub fn finish_column(&self, state: &AggState, cx: &Cx<'_>) -> SqlResult<Datum> {
        match &self.steps {
            StepsCode::Native(row) => row.imp.finish(&self.context(cx), state),
            StepsCode::User(_) => Err(SqlError::internal("a state of another aggregate")),
        }
    }

    /// The result of the aggregate's functions.
    fn finish_running(&self, state: &mut State, grouped: &[Datum], cx: &mut Cx<'_>) -> SqlResult<Datum> {
        match (state, &self.steps) {
            (State::Plain(state), StepsCode::Native(row)) => row.imp.finish(&self.context(cx), state),
            (State::User(state), StepsCode::User(code)) => {
                let mut direct = Vec::new();
                project(&self.direct, Rows::one(grouped), cx, &mut direct)?;
                code.finish(state, &direct, cx)
            }
            _ => Err(SqlError::internal("a state of another aggregate")),
        }
    }

    /// The result of an ordered-set or hypothetical-set aggregate.
    fn finish_set(&self, set: &mut SortedSet, grouped: &[Datum], cx: &mut Cx<'_>) -> SqlResult<Datum> {
        let mut direct = Vec::new();
        project(&self.direct, Rows::one(grouped), cx, &mut direct)?;
        set.sorter.finish(&self.order_keys, cx)?;
        let StepsCode::Native(row) = self.steps else {
            return Err(SqlError::internal("a state of another aggregate"));
        };
        let mut state = row.imp.start_sorted(&self.context(cx), &direct, set.rows)?;
        let keys = &self.order_keys;
        let width = self.args.len();
        let mut last: Option<Vec<Datum>> = None;
        while set.sorter.next(keys)? {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            let sorted = &set.sorter.row()[width..];
            let peer = last.as_deref().is_some_and(|last| compare_keys(keys, last, sorted).is_eq());
            let value = match row.kind {
                b'h' => Datum::Int4(compare_keys(keys, sorted, &direct) as i32),
                _ => sorted.first().cloned().unwrap_or_default(),
            };
            row.imp.add(&self.context(cx), &mut state, &[value, Datum::Bool(peer)])?;
            last = Some(sorted.to_vec());
        }
        row.imp.finish(&self.context(cx), &state)
    }
}

/// A running state that takes no arguments twice.
pub struct Distinct {
    state: State,
    /// The arguments that it took last.
    last: Option<Vec<Datum>>,
}

/// The rows of one group, for an ordered-set aggregate.
pub struct SortedSet {
    /// `o` or `h`
    kind: u8,
    sorter: Sorter,
    rows: u64,
}

impl SortedSet {
    fn new(kind: u8, keys: &[Key]) -> SortedSet {
        SortedSet { kind, sorter: Sorter::new(keys), rows: 0 }
    }
}

/// Order of two lists of key values.
pub fn compare_keys(keys: &[Key], a: &[Datum], b: &[Datum]) -> Ordering {
    let orders = keys.iter().zip(a.iter().zip(b)).map(|(key, (a, b))| key.compare(a, b));
    orders.fold(Ordering::Equal, Ordering::then)
}
