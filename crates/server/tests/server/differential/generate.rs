//! Random queries whose answer is one: the same rows from every correct server, under every plan.
//!
//! # Invariants
//! 1. An output column shows a value in one way only: what compares equal but looks different (`1.0` and `1.00`, `24:00` and
//!    `1 day`) is brought to one form ([`Type::shown`]).
//! 2. `LIMIT` comes with an order over all output columns.
//! 3. Aggregates that depend on the order of rows get a total order, or one up to values that are the same. Window functions
//!    that do get an order by unique columns: of two rows that are the same, one window might put the one first, another
//!    window the other.

use crate::differential::schema;
use crate::support::Random;

mod apart;
mod doubtful;
mod expression;
mod from;
mod upper;

/// Types of expressions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Type {
    Int,
    Big,
    Num,
    Float,
    Text,
    Bool,
    Date,
    Stamp,
    Zoned,
    Interval,
    Time,
    Ints,
    Json,
    Uuid,
}

use Type::*;

/// All types; the daily ones are there more than once.
const TYPES: &[Type] = &[
    Int, Int, Int, Int, Big, Num, Num, Float, Text, Text, Text, Bool, Date, Stamp, Zoned, Interval, Time,
    Ints, Json, Uuid,
];

impl Type {
    /// Name in SQL.
    pub fn name(self) -> &'static str {
        match self {
            Int => "int",
            Big => "bigint",
            Num => "numeric",
            Float => "float8",
            Text => "text",
            Bool => "boolean",
            Date => "date",
            Stamp => "timestamp",
            Zoned => "timestamptz",
            Interval => "interval",
            Time => "time",
            Ints => "int[]",
            Json => "jsonb",
            Uuid => "uuid",
        }
    }

    /// An expression of this type in the one form of its value.
    fn shown(self, text: &str) -> String {
        match self {
            Num => format!("round({text}, 4)"),
            Interval => format!("justify_interval({text})"),
            Float => format!("({text} + 0.0::float8)"),
            Text => format!("({text})::text"),
            Int => format!("({text})::int"),
            _ => text.to_string(),
        }
    }
}

/// Something that an expression may refer to.
#[derive(Clone, Debug)]
pub struct Column {
    /// How it is written.
    pub text: String,
    /// Its type.
    pub ty: Type,
    /// Whether it is a column, and not a longer expression: only those may be named from inside a subquery.
    pub plain: bool,
}

/// A query and the types of its columns, which are named `x1`, `x2`, …
pub struct Query {
    /// Its text, without parentheses.
    pub text: String,
    /// Types of its columns.
    pub types: Vec<Type>,
    /// Whether the order of its rows is certain.
    pub ordered: bool,
}

/// What the parts of a query know.
#[derive(Clone, Default)]
struct Scope {
    /// Columns of this query's own FROM.
    own: Vec<Column>,
    /// Columns of the queries around it.
    outer: Vec<Column>,
    /// What tells rows of FROM apart.
    identity: Vec<String>,
    /// `identity` may be the same for several rows.
    repeats: bool,
    /// WITH queries in sight: name, types.
    with: Vec<(String, Vec<Type>)>,
}

impl Scope {
    /// What a subquery in an expression sees.
    fn inside(&self) -> Scope {
        let outer = self.own.iter().chain(&self.outer).filter(|column| column.plain).cloned().collect();
        Scope { outer, with: self.with.clone(), ..Scope::default() }
    }

    /// What a query in FROM sees.
    fn beside(&self) -> Scope {
        Scope { outer: self.outer.clone(), with: self.with.clone(), ..Scope::default() }
    }
}

/// Makes queries from a seed.
pub struct Generator {
    random: Random,
    names: usize,
}

impl Generator {
    /// The same seed gives the same queries.
    pub fn new(seed: u64) -> Generator {
        Generator { random: Random(seed), names: 0 }
    }

    /// The next query.
    pub fn next(&mut self) -> Query {
        self.names = 0;
        if self.chance(6) {
            return self.doubtful();
        }
        let depth = 1 + self.below(3);
        self.query(depth, None, &Scope::default())
    }

    fn below(&mut self, end: usize) -> usize {
        self.random.below(end as u64) as usize
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())].clone()
    }

    fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    fn types(&mut self) -> Vec<Type> {
        (0..1 + self.below(4)).map(|_| self.pick(TYPES)).collect()
    }

    /// A query of any kind: WITH, set operation or SELECT; with an order, perhaps.
    fn query(&mut self, depth: usize, want: Option<Vec<Type>>, around: &Scope) -> Query {
        let mut scope = around.clone();
        let mut with = String::new();
        if depth > 1 && self.chance(15) {
            with = self.with(depth, &mut scope);
        }
        let types = want.unwrap_or_else(|| self.types());
        let mut text = if depth > 1 && self.chance(12) {
            self.set_operation(depth, &types, &scope)
        } else {
            self.select(depth, &types, &scope)
        };
        text = with + &text;
        let ordered = self.chance(40);
        if ordered {
            text += &self.order(types.len());
        }
        Query { text, types, ordered }
    }

    /// ORDER BY all output columns, and perhaps a part of the rows.
    fn order(&mut self, columns: usize) -> String {
        let mut positions: Vec<usize> = (1..=columns).collect();
        let turn = self.below(columns);
        positions.rotate_left(turn);
        let mut keys = Vec::new();
        for position in positions {
            let direction = self.pick(&["", "", " desc", " nulls first", " desc nulls last"]);
            keys.push(format!("{position}{direction}"));
        }
        let mut text = format!(" order by {}", keys.join(", "));
        if self.chance(50) {
            text += &format!(" limit {}", self.below(20));
        }
        if self.chance(20) {
            text += &format!(" offset {}", self.below(10));
        }
        text
    }

    /// WITH, some of it recursive.
    fn with(&mut self, depth: usize, scope: &mut Scope) -> String {
        if self.chance(20) {
            return self.walk(depth, scope);
        }
        if self.chance(20) {
            let name = self.name("r");
            let (end, step) = (3 + self.below(12), 1 + self.below(3));
            let distinct = self.pick(&["union all", "union"]);
            scope.with.push((name.clone(), vec![Int, Int]));
            return format!(
                "with recursive {name}(x1, x2) as (values (1, {step}) {distinct} select x1 + x2, x2 from {name} where x1 < {end}) "
            );
        }
        let mut parts = Vec::new();
        for _ in 0..1 + self.below(2) {
            let query = self.query(depth - 1, None, &scope.beside());
            let name = self.name("w");
            let kept = self.pick(&["", "", " materialized", " not materialized"]);
            let columns = column_names(query.types.len());
            parts.push(format!("{name}({columns}) as{kept} ({})", query.text));
            scope.with.push((name, query.types));
        }
        format!("with {} ", parts.join(", "))
    }

    /// WITH RECURSIVE over a table: rows of one lead to rows of the next, each found once.
    fn walk(&mut self, depth: usize, scope: &mut Scope) -> String {
        let (name, start, next) = (self.name("r"), self.name("s"), self.name("t"));
        let ty = self.pick(&[Int, Text, Num, Date, Uuid]);
        let Some(column) = schema::columns().filter(|c| c.1 == ty).last().map(|c| c.0) else {
            return String::new();
        };
        let (table, other) = (self.pick(&["mid", "small"]), self.pick(&["mid", "small", "part"]));
        let seen = Scope {
            own: vec![Column { text: format!("{start}.{column}"), ty, plain: true }],
            ..Scope::default()
        };
        let condition = self.condition(depth.min(2) - 1, &seen);
        let step = self.pick(&["a", "b", "s", "id"]);
        scope.with.push((name.clone(), vec![Int, ty]));
        format!(
            "with recursive {name}(x1, x2) as (select {start}.id, {start}.{column} from {table} {start} where {condition} \
             union select {next}.id, {next}.{column} from {name} join {other} {next} on {next}.{step} = {name}.x1) "
        )
    }

    fn set_operation(&mut self, depth: usize, types: &[Type], scope: &Scope) -> String {
        let mut text = format!("({})", self.query(depth - 1, Some(types.to_vec()), scope).text);
        for _ in 0..1 + self.below(2) {
            let operation = self.pick(&[
                "union",
                "union all",
                "union all",
                "intersect",
                "intersect all",
                "except",
                "except all",
            ]);
            let right = self.query(depth - 1, Some(types.to_vec()), scope);
            text = format!("{text} {operation} ({})", right.text);
        }
        text
    }

    /// One SELECT with the wanted columns.
    fn select(&mut self, depth: usize, types: &[Type], around: &Scope) -> String {
        let mut scope = around.clone();
        scope.own.clear();
        scope.identity.clear();
        scope.repeats = false;
        let from = if depth == 1 && self.chance(5) { String::new() } else { self.from(depth, &mut scope) };
        let condition =
            if self.chance(60) { format!(" where {}", self.condition(depth, &scope)) } else { String::new() };
        let from = if from.is_empty() { condition } else { format!(" from {from}{condition}") };
        match self.below(10) {
            0..=3 => self.plain(depth, types, &scope, &from),
            4..=7 => self.grouped(depth, types, &scope, &from),
            _ => self.windowed(depth, types, &scope, &from),
        }
    }

    /// Expressions over the rows of FROM.
    fn plain(&mut self, depth: usize, types: &[Type], scope: &Scope, from: &str) -> String {
        let mut columns = Vec::new();
        for ty in types {
            let value = self.expression(*ty, depth, scope);
            columns.push(ty.shown(&value));
        }
        if self.chance(15) {
            return format!("select distinct {}{from}", named(&columns));
        }
        let Some(key) = self.own_column(scope).filter(|_| self.chance(8)) else {
            return format!("select {}{from}", named(&columns));
        };
        let order = scope.identity.join(", ");
        format!(
            "select * from (select distinct on ({key}) {}{from} order by {key}, {order}) {}",
            named(&columns),
            self.name("o")
        )
    }

    fn own_column(&mut self, scope: &Scope) -> Option<String> {
        let columns: Vec<&Column> = scope.own.iter().filter(|column| column.plain).collect();
        (!columns.is_empty()).then(|| columns[self.below(columns.len())].text.clone())
    }
}

/// `x1, x2, …`
fn column_names(count: usize) -> String {
    (1..=count).map(|n| format!("x{n}")).collect::<Vec<_>>().join(", ")
}

/// Expressions as columns `x1`, `x2`, …
fn named(columns: &[String]) -> String {
    columns
        .iter()
        .enumerate()
        .map(|(at, text)| format!("{text} as x{}", at + 1))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Names of the base tables.
fn table_names() -> Vec<&'static str> {
    schema::tables().collect()
}
