//! Queries that may be wrong: operators and functions over any types, columns that are not there or not grouped, aggregates where
//! they may not stand. The answer is the error, or the rows if the query happens to be right.

use super::{Generator, Query, Scope, TYPES};
use crate::differential::schema;

const OPERATORS: &[&str] = &[
    "+",
    "-",
    "*",
    "/",
    "%",
    "||",
    "=",
    "<",
    "<>",
    "@>",
    "->",
    "->>",
    "&&",
    "&",
    "|",
    "^",
    "~",
    "like",
    "is distinct from",
];

/// Functions of one argument; of two.
const ONE: &[&str] = &[
    "abs",
    "length",
    "upper",
    "round",
    "date_trunc",
    "age",
    "cardinality",
    "jsonb_typeof",
    "sum",
    "max",
    "string_agg",
    "unnest",
    "justify_days",
    "to_jsonb",
    "array_agg",
    "twice",
    "named",
    "every",
    "rank",
    "lower",
    "extract",
    "stddev",
    "coalesce",
    "near",
];
const TWO: &[&str] = &[
    "mod",
    "left",
    "strpos",
    "array_append",
    "array_position",
    "concat",
    "nullif",
    "greatest",
    "coalesce",
    "age",
    "date_part",
    "lag",
    "generate_series",
    "string_agg",
    "trunc",
    "log",
    "to_char",
    "jsonb_extract_path",
    "repeat",
    "array_cat",
    "power",
];

const CASTS: &[&str] = &[
    "int",
    "text",
    "date",
    "boolean",
    "numeric(5,2)",
    "interval",
    "jsonb",
    "int[]",
    "uuid",
    "varchar(3)",
    "smallint",
    "bigint",
    "float4",
    "float8",
    "timestamp",
    "timestamptz(0)",
    "time",
    "timetz",
    "json",
    "bytea",
    "name",
    "char(3)",
    "bit(8)",
    "varbit",
    "oid",
    "regtype",
    "inet",
    "text[]",
    "date[]",
    "int4range",
    "numrange",
    "pg_lsn",
    "point",
];

impl Generator {
    /// A query over one or two small tables that may be an error.
    pub(super) fn doubtful(&mut self) -> Query {
        let (one, two) = (self.any_value(), self.any_value());
        let column = self.any_column();
        let text = match self.below(16) {
            0..=2 => format!("select {one} {} {two} from small f1, small f2", self.pick(OPERATORS)),
            3 | 4 => self.doubtful_call(ONE, &one),
            5 | 6 => self.doubtful_call(TWO, &format!("{one}, {two}")),
            7 => format!("select ({one})::{} from small f1, small f2", self.pick(CASTS)),
            8 => format!("select {one}, {column}, count(*) from small f1, small f2 group by {column}"),
            9 => format!(
                "select {column} from small f1, small f2 where {}({one}) > 0",
                self.pick(&["sum", "count", "rank", "max"])
            ),
            10 => format!(
                "select {} from small f1, small f2",
                self.pick(&["f1.nosuch", "id", "f3.id", "f1", "nosuch(f1.id)", "f1.*, f2.g"])
            ),
            11 => format!("select {one} from small f1, small f2 union select {two} from small f1, small f2"),
            12 => format!("select case when f1.g then {one} else {two} end from small f1, small f2"),
            13 => format!(
                "select (select {one} from mid f3 where f3.id = f1.id), array[{one}, {two}] from small f1, small f2"
            ),
            14 => format!(
                "select {one} from small f1, small f2 order by {} limit {}",
                self.below(4),
                self.pick(&["-1", "null", "2", "'x'"])
            ),
            _ => format!(
                "select sum({one}) over (order by {two} range between 1 preceding and current row) from small f1, small f2"
            ),
        };
        Query { text, types: Vec::new(), ordered: false }
    }

    fn doubtful_call(&mut self, functions: &[&str], args: &str) -> String {
        let function = self.pick(functions);
        let order = if function.ends_with("_agg") { format!(" order by {args}") } else { String::new() };
        format!("select {function}({args}{order}) from small f1, small f2")
    }

    fn any_column(&mut self) -> String {
        let columns: Vec<_> = schema::columns().map(|column| column.0).collect();
        format!("{}.{}", self.pick(&["f1", "f2"]), self.pick(&columns))
    }

    fn any_value(&mut self) -> String {
        if self.chance(70) {
            return self.any_column();
        }
        let ty = self.pick(TYPES);
        match self.below(4) {
            0 => self
                .pick(&["'1'", "null", "'x'", "2147483647", "'2024-02-30'", "'{1,2}'", "1.5", "(1, 2)"])
                .to_string(),
            _ => self.expression(ty, 1, &Scope::default()),
        }
    }
}
