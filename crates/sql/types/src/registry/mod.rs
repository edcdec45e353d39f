//! The shapes of registry entries, and look-up by OID and by name.
//!
//! The tables themselves: [`mod@types`], [`operators`], [`casts`], [`opclasses`], [`aggregates`]; functions stand beside their
//! implementations and are collected here.

use std::{cmp::Ordering, fmt, sync::LazyLock};

use base::{Oid, SqlResult};
use rustc_hash::FxHashMap;
use tuple::{Datum, Physical};

pub use crate::aggregate::AggState;
use crate::call::Call;
pub use crate::compare::{compare, equal, hash};

pub mod aggregates;
pub mod builder;
pub mod casts;
mod catalog_only;
#[cfg(test)]
mod combine_tests;
mod comparisons;
pub mod families;
mod functions;
mod io;
pub mod libraries;
pub mod opclasses;
pub mod operators;
mod parts;
pub mod session;
mod spaces;
mod trees;
pub mod types;

pub use comparisons::{Comparison, Relation, comparison};
pub use functions::{function, functions, functions_named, functions_of_symbol, symbol};
pub use io::{format_type, input, output, receive, send, typmod_in, typmod_out};
pub use parts::{is_parts_class, parts_class};
pub use session::SessionFn;
pub use spaces::{is_space_class, space_class};
pub use trees::tree_class;
pub use types::{
    Entries, Subscripting, TypeImp, TypeInfo, TypeShape, builtin_type, builtin_types, operand_type, shape_of,
    subscripting, type_imp, type_named, type_with_input,
};

/// Three-way comparison of two values that are not NULL, of one type, or of two types of one family.
pub type CompareFn = fn(&Datum, &Datum) -> Ordering;

/// An ordinary function: context and arguments to result.
pub type Eval = fn(&Call, &[Datum]) -> SqlResult<Datum>;

/// A set-returning function: gives the rows one by one.
pub type SetFn = fn(&Call, &[Datum]) -> SqlResult<Box<dyn SetRows>>;

/// Rows of a set-returning function. Owns all it needs: it may outlive the call (a cursor).
pub trait SetRows {
    /// Replaces `row` by the next row's columns; false at the end.
    fn next(&mut self, row: &mut Vec<Datum>) -> SqlResult<bool>;

    /// Appends the first column of next rows, `most` or fewer; none at the end, and where [`SetRows::next`] is the only way.
    fn append(&mut self, _most: usize, _out: &mut Vec<Datum>) -> SqlResult<()> {
        Ok(())
    }
}

/// One-column rows from an iterator.
pub struct Values<I>(pub I);

impl<I: Iterator<Item = SqlResult<Datum>>> SetRows for Values<I> {
    fn next(&mut self, row: &mut Vec<Datum>) -> SqlResult<bool> {
        row.clear();
        match self.0.next() {
            Some(value) => {
                row.push(value?);
                Ok(true)
            }
            None => Ok(false),
        }
    }

    fn append(&mut self, most: usize, out: &mut Vec<Datum>) -> SqlResult<()> {
        for value in self.0.by_ref().take(most) {
            out.push(value?);
        }
        Ok(())
    }
}

/// What the caller may assume about a function's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Volatility {
    /// The same arguments give the same result for ever.
    Immutable,
    /// The same within a statement.
    Stable,
    /// Anything.
    Volatile,
}

/// How a function is carried out.
#[derive(Clone, Copy)]
pub enum Imp {
    /// By this pointer.
    Native(Eval),
    /// By this pointer, as rows.
    Set(SetFn),
    /// By the executor, which has catalogs and a session.
    Session(SessionFn),
    /// It is an aggregate: see [`aggregate`].
    Aggregate,
    /// It is a window function: see [`crate::registry::WindowFn`].
    Window(WindowFn),
    /// The input function of this type.
    Input(Oid),
    /// The output function of this type.
    Output(Oid),
    /// The binary input function of this type.
    Receive(Oid),
    /// The binary output function of this type.
    Send(Oid),
    /// Modifier input of this type.
    TypmodIn(Oid),
    /// Modifier output of this type.
    TypmodOut(Oid),
    /// Only named in catalog rows (estimators, support functions, index handlers): never called by SQL.
    CatalogOnly,
}

impl fmt::Debug for Imp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Imp::Native(_) => f.write_str("Native"),
            Imp::Set(_) => f.write_str("Set"),
            Imp::Session(id) => write!(f, "Session({id:?})"),
            Imp::Aggregate => f.write_str("Aggregate"),
            Imp::Window(w) => write!(f, "Window({w:?})"),
            Imp::Input(t) => write!(f, "Input({t})"),
            Imp::Output(t) => write!(f, "Output({t})"),
            Imp::Receive(t) => write!(f, "Receive({t})"),
            Imp::Send(t) => write!(f, "Send({t})"),
            Imp::TypmodIn(t) => write!(f, "TypmodIn({t})"),
            Imp::TypmodOut(t) => write!(f, "TypmodOut({t})"),
            Imp::CatalogOnly => f.write_str("CatalogOnly"),
        }
    }
}

/// Window functions; the executor carries them out.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowFn {
    RowNumber,
    Rank,
    DenseRank,
    PercentRank,
    CumeDist,
    Ntile,
    Lag,
    Lead,
    FirstValue,
    LastValue,
    NthValue,
}

/// A row of `pg_proc`.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// PostgreSQL's OID.
    pub oid: Oid,
    /// `proname`
    pub name: &'static str,
    /// Declared types of the input arguments.
    pub args: &'static [Oid],
    /// Declared result type.
    pub result: Oid,
    /// Whether a NULL argument makes the result NULL without a call.
    pub strict: bool,
    /// `provolatile`
    pub volatility: Volatility,
    /// Whether it gives a set of rows.
    pub retset: bool,
    /// `prokind`: `f` function, `a` aggregate, `w` window, `p` procedure.
    pub kind: u8,
    /// `proleakproof`
    pub leakproof: bool,
    /// `proparallel`: `s`, `r` or `u`.
    pub parallel: u8,
    /// Element type that the last argument collects (`provariadic`), 0 if not variadic.
    pub variadic: Oid,
    /// `procost`
    pub cost: f32,
    /// `prorows`
    pub rows: f32,
    /// Names of all arguments (inputs, then outputs as in `all_args`), empty when unnamed.
    pub arg_names: &'static [&'static str],
    /// Modes (`i`, `o`, `b`, `v`, `t`) of all arguments, empty when all are inputs.
    pub arg_modes: &'static [u8],
    /// Types of all arguments including outputs, empty when all are inputs.
    pub all_args: &'static [Oid],
    /// Default values of the last input arguments, as the text of constants (`NULL` for a NULL).
    pub defaults: &'static [&'static str],
    /// How it is carried out.
    pub imp: Imp,
}

impl Function {
    /// Whether rows have more than one column (or named OUT columns).
    pub fn out_columns(&self) -> impl Iterator<Item = (&'static str, Oid)> {
        let (names, modes, all) = (self.arg_names, self.arg_modes, self.all_args);
        all.iter()
            .enumerate()
            .filter(move |(i, _)| matches!(modes.get(*i), Some(b'o' | b'b' | b't')))
            .map(move |(i, ty)| (names.get(i).copied().unwrap_or_default(), *ty))
    }
}

/// A row of `pg_operator`.
#[derive(Clone, Copy, Debug)]
pub struct Operator {
    /// PostgreSQL's OID.
    pub oid: Oid,
    /// `oprname`
    pub name: &'static str,
    /// Left argument, 0 for a prefix operator.
    pub left: Oid,
    /// Right argument.
    pub right: Oid,
    /// Result.
    pub result: Oid,
    /// Function that carries it out.
    pub function: Oid,
    /// Operator with the arguments swapped, 0 if none.
    pub commutator: Oid,
    /// Operator that gives the opposite, 0 if none.
    pub negator: Oid,
    /// `oprcanhash`
    pub can_hash: bool,
    /// `oprcanmerge`
    pub can_merge: bool,
    /// Restriction estimator.
    pub selectivity: Selectivity,
}

/// How the planner estimates an operator: `oprrest`; `oprjoin` is the estimator of the same name for joins.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selectivity {
    None,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Like,
    NotLike,
    ILike,
    NotILike,
    Prefix,
    Regex,
    NotRegex,
    IRegex,
    NotIRegex,
    ArrayContain,
    Contain,
    Matching,
    TextSearch,
    Area,
    Network,
    Position,
    Range,
    Multirange,
}

/// The OIDs of their functions: `oprrest`, `oprjoin`. Ranges have none of their own for joins.
const ESTIMATORS: [(Selectivity, u32, u32); 24] = [
    (Selectivity::Equal, 101, 105),
    (Selectivity::NotEqual, 102, 106),
    (Selectivity::Less, 103, 107),
    (Selectivity::LessEqual, 336, 386),
    (Selectivity::Greater, 104, 108),
    (Selectivity::GreaterEqual, 337, 398),
    (Selectivity::Like, 1819, 1825),
    (Selectivity::NotLike, 1822, 1828),
    (Selectivity::ILike, 1814, 1816),
    (Selectivity::NotILike, 1815, 1817),
    (Selectivity::Prefix, 3437, 3438),
    (Selectivity::Regex, 1818, 1824),
    (Selectivity::NotRegex, 1821, 1827),
    (Selectivity::IRegex, 1820, 1826),
    (Selectivity::NotIRegex, 1823, 1829),
    (Selectivity::ArrayContain, 3817, 3818),
    (Selectivity::Contain, 1302, 1303),
    (Selectivity::Area, 139, 140),
    (Selectivity::Network, 3560, 3561),
    (Selectivity::Position, 1300, 1301),
    (Selectivity::Range, 3169, 0),
    (Selectivity::Multirange, 4243, 0),
    (Selectivity::Matching, 5040, 5041),
    (Selectivity::TextSearch, 3686, 3687),
];

impl Selectivity {
    /// The OIDs of its functions: `oprrest`, `oprjoin`; 0 where it has none.
    pub fn estimators(self) -> (Oid, Oid) {
        let own = ESTIMATORS.iter().find(|(one, ..)| *one == self);
        own.map_or((Oid(0), Oid(0)), |&(_, restrict, join)| (Oid(restrict), Oid(join)))
    }

    /// The one that a function estimates.
    pub fn of_estimator(function: Oid) -> Selectivity {
        let of = ESTIMATORS.iter().find(|(_, restrict, _)| *restrict == function.0);
        of.map_or(Selectivity::None, |(one, ..)| *one)
    }
}

/// When a cast may be applied without being asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CastContext {
    /// Anywhere: `i`.
    Implicit,
    /// On assignment to a column: `a`.
    Assignment,
    /// Only with CAST or `::`: `e`.
    Explicit,
}

/// How a cast is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CastMethod {
    /// By a function of one to three arguments (value, typmod, explicit).
    Function(Oid),
    /// Not at all: the payload is the same.
    Binary,
    /// Through the text forms.
    InOut,
}

/// A row of `pg_cast`.
#[derive(Clone, Copy, Debug)]
pub struct Cast {
    /// PostgreSQL's OID.
    pub oid: Oid,
    /// From.
    pub source: Oid,
    /// To.
    pub target: Oid,
    /// When.
    pub context: CastContext,
    /// How.
    pub method: CastMethod,
}

/// The access method whose operator families say how values are ordered: operators of ORDER BY, merge joins and window frames are found there,
/// whatever indexes there are.
pub const ORDERING_METHOD: Oid = Oid(403);

/// The access method whose operator families say how values are hashed.
pub const HASHING_METHOD: Oid = Oid(405);

/// A row of `pg_opfamily`.
#[derive(Clone, Copy, Debug)]
pub struct OpFamily {
    /// PostgreSQL's OID.
    pub oid: Oid,
    /// Access method.
    pub method: Oid,
    /// `opfname`
    pub name: &'static str,
}

/// A row of `pg_opclass`.
#[derive(Clone, Copy, Debug)]
pub struct OpClass {
    /// PostgreSQL's OID.
    pub oid: Oid,
    /// Access method.
    pub method: Oid,
    /// `opcname`
    pub name: &'static str,
    /// Its family.
    pub family: Oid,
    /// Type of indexed columns.
    pub input: Oid,
    /// Whether it is the type's default class.
    pub default: bool,
    /// Type that is stored, 0 if the same.
    pub key: Oid,
}

/// A row of `pg_amop`.
#[derive(Clone, Copy, Debug)]
pub struct AmOp {
    /// PostgreSQL's OID.
    pub oid: Oid,
    /// Family.
    pub family: Oid,
    /// Left type.
    pub left: Oid,
    /// Right type.
    pub right: Oid,
    /// What it asks, by the numbers of the access method. B-tree: 1 `<`, 2 `<=`, 3 `=`, 4 `>=`, 5 `>`. Hash: 1 `=`.
    pub strategy: i16,
    /// Operator.
    pub operator: Oid,
    /// The B-tree family that orders its results, if rows come by them; 0 for an operator that searches.
    pub sort_family: Oid,
}

/// A row of `pg_amproc`.
#[derive(Clone, Copy, Debug)]
pub struct AmProc {
    /// PostgreSQL's OID.
    pub oid: Oid,
    /// Family.
    pub family: Oid,
    /// Left type.
    pub left: Oid,
    /// Right type.
    pub right: Oid,
    /// B-tree: 1 order, 2 sort support, 3 in_range, 4 equalimage. Hash: 1 hash, 2 seeded hash. GiST: the method's, 1 to 12.
    pub number: i16,
    /// Function.
    pub function: Oid,
}

/// A row of `pg_aggregate`, and how it is computed.
#[derive(Clone, Copy)]
pub struct Aggregate {
    /// OID of its `pg_proc` row.
    pub function: Oid,
    /// `aggkind`: `n` normal, `o` ordered set, `h` hypothetical set.
    pub kind: u8,
    /// `aggnumdirectargs`
    pub direct_args: i16,
    /// `aggtransfn`, as the catalog names it (0 when that function is not registered).
    pub transition: Oid,
    /// `aggfinalfn`
    pub final_function: Oid,
    /// `aggcombinefn`
    pub combine: Oid,
    /// `aggtranstype`
    pub transition_type: Oid,
    /// `agginitval`
    pub initial: Option<&'static str>,
    /// `aggsortop`: a MIN or MAX that an index in this order answers.
    pub sort_operator: Oid,
    /// How it is computed.
    pub imp: &'static dyn crate::aggregate::AggregateImp,
}

impl Aggregate {
    /// Whether states of parts of a group's rows may be joined, in whatever order: the result is that of all rows, rounding of floats aside.
    pub fn combines(&self) -> bool {
        self.kind == b'n' && self.combine.is_valid() && !self.imp.order_matters()
    }
}

impl fmt::Debug for Aggregate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Aggregate({})", self.function)
    }
}

/// A value under another type that a binary cast leads to. Integers and OIDs have the same bits, but not the same variant.
#[inline]
pub fn relabel(value: Datum, target: Oid) -> Datum {
    let physical = builtin_type(target).map(|info| info.physical);
    match (value, physical) {
        (Datum::Int4(n), Some(Physical::Oid)) => Datum::Oid(n as u32),
        (Datum::Oid(n), Some(Physical::Int4)) => Datum::Int4(n as i32),
        (value, _) => value,
    }
}

/// Whether values of these types have different variants although a binary cast may lead from one to the other. A pseudo-type
/// has no values of its own.
pub fn relabel_converts(source: Oid, target: Oid) -> bool {
    let own = |ty| builtin_type(ty).filter(|info| info.category != b'P');
    let physical = |ty| own(ty).map(|info| info.physical);
    matches!(
        (physical(source), physical(target)),
        (Some(Physical::Int4), Some(Physical::Oid)) | (Some(Physical::Oid), Some(Physical::Int4))
    )
}

/// The operator with this OID.
pub fn operator(oid: Oid) -> Option<&'static Operator> {
    operators::OPERATORS.binary_search_by_key(&oid, |o| o.oid).ok().map(|i| &operators::OPERATORS[i])
}

/// Whether an entry is in no catalog: comparisons of extensions' types, which only their own functions reach. PostgreSQL gives out
/// no OIDs from this range.
pub const fn is_unlisted(oid: Oid) -> bool {
    9960 <= oid.0 && oid.0 < 10_000
}

/// The operator of this name between values that compare as these types.
pub fn operator_between(name: &str, left: Oid, right: Oid) -> Option<&'static Operator> {
    operators::OPERATORS.iter().find(|o| o.name == name && (o.left, o.right) == (left, right))
}

/// The type whose B-tree class orders values by this function.
pub fn type_compared_by(function: Oid) -> Option<Oid> {
    let orders = opclasses::AMPROCS.iter().filter(|p| {
        p.number == 1 && p.left == p.right && families::method_of(p.family) == Some(ORDERING_METHOD)
    });
    orders.into_iter().find(|p| p.function == function).map(|p| p.left)
}

/// The operator that a function carries out over operands that compare as these types.
pub fn operator_of(function: Oid, left: Oid, right: Oid) -> Option<&'static Operator> {
    operators::OPERATORS.iter().find(|o| (o.function, o.left, o.right) == (function, left, right))
}

/// All operators of this name.
pub fn operators_named(name: &str) -> &'static [&'static Operator] {
    static NAMES: LazyLock<FxHashMap<&str, Vec<&Operator>>> = LazyLock::new(|| {
        let mut map: FxHashMap<&str, Vec<&Operator>> = FxHashMap::default();
        for op in operators::OPERATORS.iter().filter(|op| !is_unlisted(op.oid)) {
            map.entry(op.name).or_default().push(op);
        }
        map
    });
    NAMES.get(name).map_or(&[], Vec::as_slice)
}

/// The cast from `source` to `target`, if the catalog has one.
pub fn cast(source: Oid, target: Oid) -> Option<&'static Cast> {
    casts::CASTS
        .binary_search_by_key(&(source, target), |c| (c.source, c.target))
        .ok()
        .map(|i| &casts::CASTS[i])
}

/// How the aggregate with this `pg_proc` OID is computed.
pub fn aggregate(function: Oid) -> Option<&'static Aggregate> {
    aggregates::AGGREGATES
        .binary_search_by_key(&function, |a| a.function)
        .ok()
        .map(|i| &aggregates::AGGREGATES[i])
}
