//! The tables that queries are made over: many types, duplicates, nulls, an empty table, all kinds of indexes.
//!
//! Statements only, the same for every server. Floats are multiples of a quarter, so that sums do not depend on the order.

use crate::differential::generate::Type;

/// Columns after the key `id`, with the expression that fills row `n`.
const COLUMNS: &[(&str, Type, &str, &str)] = &[
    ("a", Type::Int, "int", "n * 7 % 23"),
    ("b", Type::Int, "int", "n * 13 % 101 - 20"),
    ("s", Type::Int, "smallint", "n % 5"),
    ("l", Type::Big, "bigint", "(n * 1000003::bigint) % 70001"),
    ("c", Type::Num, "numeric(10,2)", "(n * 37 % 1009)::numeric / 8"),
    ("f", Type::Float, "float8", "(n * 11 % 97) * 0.25"),
    ("d", Type::Text, "text", "substr(md5((n % 29)::text), 1, 1 + n % 6)"),
    ("v", Type::Text, "varchar(12)", "(array['red', 'Green', 'bl_ue', '', 'ye%low', ' x '])[1 + n % 6]"),
    ("g", Type::Bool, "boolean", "n % 3 = 0"),
    ("e", Type::Date, "date", "date '2024-02-20' + n * 17 % 400"),
    ("t", Type::Stamp, "timestamp", "timestamp '2023-12-31 22:30:00' + n * interval '7 hours 13 minutes'"),
    (
        "z",
        Type::Zoned,
        "timestamptz",
        "timestamptz '2024-03-01 00:00:00+00' + (n % 50) * interval '11 hours'",
    ),
    ("i", Type::Interval, "interval", "(n % 40) * interval '1 day 90 minutes'"),
    ("o", Type::Time, "time", "time '00:00' + (n * 1237 % 86400) * interval '1 second'"),
    ("r", Type::Ints, "int[]", "array[n % 4, n % 7, n % 3]"),
    ("u", Type::Uuid, "uuid", "md5((n % 31)::text)::uuid"),
    (
        "j",
        Type::Json,
        "jsonb",
        "jsonb_build_object('k', n % 6, 'w', 'p' || n % 4, 'q', jsonb_build_array(n % 3, true, null))",
    ),
];

/// Tables: name, rows, every how many rows a column is null, how far the rows are shifted.
const TABLES: &[(&str, u32, u32, u32)] =
    &[("big", 400, 11, 0), ("mid", 60, 7, 40), ("small", 9, 5, 3), ("none", 0, 2, 0)];

/// A partitioned table with the columns of the others, its rows and its partitions.
const SPLIT: (&str, u32, u32, u32) = ("split", 150, 9, 17);
const PARTITIONS: &[&str] = &[
    "create table split_low partition of split for values from (minvalue) to (40)",
    "create table split_mid partition of split for values from (40) to (110) partition by hash (id)",
    "create table split_mid_0 partition of split_mid for values with (modulus 2, remainder 0)",
    "create table split_mid_1 partition of split_mid for values with (modulus 2, remainder 1)",
    "create table split_rest partition of split default",
];

/// Indexes of each table.
const INDEXES: &[&str] = &[
    "(a)",
    "(b, a desc)",
    "(d, id)",
    "(e)",
    "(lower(v), l)",
    "(l) where g",
    "(c) include (f)",
    "using hash (u)",
    "using gin (r)",
    "using gin (j)",
    "using brin (t) with (pages_per_range = 1)",
    "using spgist (d)",
    "using gist (int4range(least(a, b), greatest(a, b)))",
];

/// Views with the columns of the tables; `id` is unique in each.
const VIEWS: &[(&str, &str)] = &[
    ("part", "select * from mid where a is not null or g"),
    ("pairs", "select m.* from mid m left join small s on m.id = s.id where s.a is distinct from 3"),
    ("heads", "select distinct on (a, b) * from big where id % 3 = 0 order by a, b, id"),
];

/// Functions: `twice(int)`, `around(int)` with a row, `near(int)` and `upto(int)` with sets, `named(text)`.
const FUNCTIONS: &[&str] = &[
    "create function twice(int) returns int language sql immutable as 'select $1 * 2'",
    "create function named(t text, out first text, out rest text) language sql strict as 'select left(t, 1), substr(t, 2)'",
    "create function near(int) returns setof small language sql stable as 'select * from small where id between $1 - 1 and $1 + 1'",
    "create function upto(n int) returns table (x int, y text) language plpgsql as
        'begin for x in 1 .. least(n, 4) loop y := repeat(''z'', x); return next; end loop; end'",
    "create function around(int, out below int, out above int) language sql as 'select $1 - 1, $1 + 1'",
];

/// Names of the tables and views.
pub fn tables() -> impl Iterator<Item = &'static str> {
    TABLES.iter().map(|table| table.0).chain([SPLIT.0]).chain(VIEWS.iter().map(|view| view.0))
}

/// Name and type of a table's columns, the key first.
pub fn columns() -> impl Iterator<Item = (&'static str, Type)> {
    std::iter::once(("id", Type::Int)).chain(COLUMNS.iter().map(|column| (column.0, column.1)))
}

/// What makes one table.
fn make_table((table, rows, nulls, shift): &(&str, u32, u32, u32), made: &mut Vec<String>) {
    let shapes: Vec<String> = COLUMNS.iter().map(|c| format!("{} {}", c.0, c.2)).collect();
    let parts = if *table == SPLIT.0 { " partition by range (id)" } else { "" };
    made.push(format!("create table {table} (id int primary key, {}){parts}", shapes.join(", ")));
    if *table == SPLIT.0 {
        made.extend(PARTITIONS.iter().map(|text| text.to_string()));
    }
    let values: Vec<String> = COLUMNS
        .iter()
        .enumerate()
        .map(|(at, c)| format!("case when (n * 5 + {at}) % {nulls} <> 0 then {} end", c.3))
        .collect();
    made.push(format!(
        "insert into {table} select k, {} from (select k, k * 31 % {} + {shift} as n from generate_series(1, {rows}) k) x",
        values.join(", "),
        rows + 1
    ));
    made.extend(INDEXES.iter().map(|index| format!("create index on {table} {index}")));
    made.push(format!("create statistics {table}_related on a, b, s, (d || v) from {table}"));
    made.push(format!("analyze {table}"));
}

/// What makes the tables.
pub fn statements() -> Vec<String> {
    let mut made = Vec::new();
    for table in TABLES.iter().chain([&SPLIT]) {
        make_table(table, &mut made);
    }
    made.extend(VIEWS.iter().map(|(name, query)| format!("create view {name} as {query}")));
    made.extend(FUNCTIONS.iter().map(|text| text.to_string()));
    made
}
