//! SQL/JSON through whole sessions: constructors, IS JSON, path functions, JSON_TABLE, and what views show of them.

use crate::support::{Client, Server};

fn refusal(s: &Client, sql: &str) -> String {
    let Some(error) = s.run(sql).err() else { return format!("{sql}: no error") };
    let detail = error.report().detail.as_deref().map(|d| format!(" | {d}")).unwrap_or_default();
    format!("{} {}{detail}", error.code().as_str(), error.message())
}

/// Compares statements with what they give.
fn check(s: &Client, cases: &[(&str, &str)]) {
    for (sql, expected) in cases {
        assert_eq!(s.query(sql), *expected, "{sql}");
    }
}

#[test]
fn constructors_follow_their_clauses() {
    let server = Server::new();
    let s = server.connect();
    check(
        &s,
        &[
            (
                "select json_object('a': 1, 'b' value null, true: '[1]' format json)",
                r#"{"a" : 1, "b" : null, "true" : [1]}"#,
            ),
            ("select json_object('a': 1, 'b': null absent on null returning jsonb)", r#"{"a": 1}"#),
            ("select pg_typeof(json_object()), json_object(returning text)", "json|{}"),
            ("select json_array(1, null, 'x', '{}' format json)", r#"[1, "x", {}]"#),
            ("select json_array(1, null null on null returning jsonb)", "[1, null]"),
            ("select json_array(select v from (values (2), (null), (1)) t(v) order by v)", "[1, 2]"),
            ("select json_array(select 1 where false)", ""),
            (
                "select json_arrayagg(v order by v desc null on null) from (values (1), (null), (3)) t(v)",
                "[null, 3, 1]",
            ),
            ("select json_arrayagg(v) filter (where v > 1) from generate_series(1, 3) v", "[2, 3]"),
            (
                "select json_objectagg('k' || v: v absent on null returning jsonb) from (values (1), (null), (3)) t(v) where v is not null",
                r#"{"k1": 1, "k3": 3}"#,
            ),
            ("select json_arrayagg(v) over (order by v) from generate_series(1, 2) v", "[1]\n[1, 2]"),
            (
                "select json('{\"a\": 1, \"a\": 2}'), json_scalar(1.50), json_scalar('x'), json_scalar(null)",
                "{\"a\": 1, \"a\": 2}|1.50|\"x\"|",
            ),
            (
                "select json_serialize('{\"a\" : 1}' returning varchar(20)), json_serialize('{\"a\":1}'::jsonb), json_serialize('1' returning bytea)",
                "{\"a\" : 1}|{\"a\": 1}|\\x31",
            ),
            (
                "select '{}' is json, '{}' is json array, '[' is json, '{\"a\":1,\"a\":1}' is json with unique keys, null is json, '1'::jsonb is not json scalar",
                "t|f|f|f||f",
            ),
        ],
    );
    let refused = [
        (
            "select json_object('a': 1, 'a': 2 with unique keys)",
            "22030 duplicate JSON object key value: \"a\"",
        ),
        (
            "select json_object('a': 1, 'a': 2 with unique keys returning jsonb)",
            "22030 duplicate JSON object key value",
        ),
        ("select json_object(null: 1)", "22004 null value not allowed for object key"),
        ("select json('{\"a\": 1, \"a\": 2}' with unique keys)", "22030 duplicate JSON object key value"),
        (
            "select json_array(1 format json)",
            "42804 cannot use non-string types with explicit FORMAT JSON clause",
        ),
        (
            "select json_array('1' format json encoding utf8)",
            "42804 JSON ENCODING clause is only allowed for bytea input type",
        ),
        ("select json_array('1'::bytea format json encoding utf16)", "0A000 unsupported JSON encoding"),
        ("select json_array(1 returning point)", "42846 cannot cast type json to point"),
        ("select json_array(select 1, 2)", "42601 subquery must return only one column"),
        (
            "select json_serialize('1' returning int)",
            "42804 cannot use type integer in RETURNING clause of JSON_SERIALIZE()",
        ),
        (
            "select json_serialize('123' returning varchar(2))",
            "22001 value too long for type character varying(2)",
        ),
        ("select 1 is json", "42804 cannot use type integer in IS JSON predicate"),
    ];
    for (sql, expected) in refused {
        assert_eq!(refusal(&s, sql), expected, "{sql}");
    }
}

#[test]
fn paths_are_followed_in_expressions() {
    let server = Server::new();
    let s = server.connect();
    s.run("create domain small as int check (value < 10)").unwrap();
    s.run("create type pair as (x int, y text[])").unwrap();
    check(
        &s,
        &[
            (
                "select json_exists('{\"a\": 1}', '$.a'), json_exists(jsonb '1', 'strict $.a'), json_exists(jsonb '1', 'strict $.a' unknown on error)",
                "t|f|",
            ),
            ("select json_exists(jsonb '[3]', '$[*] ? (@ > $x)' passing 2 as x)", "t"),
            ("select json_value('{\"a\": \"7\"}', '$.a' returning int) + 1", "8"),
            (
                "select json_value(jsonb 'true', '$'), json_value(jsonb 'null', '$'), json_value(jsonb '\"x\"', '$' returning jsonb)",
                "t||\"x\"",
            ),
            (
                "select json_value(jsonb '{}', '$.a' default 'none' on empty), json_value(jsonb '\"x\"', '$' returning int default -1 on error)",
                "none|-1",
            ),
            (
                "select json_value(jsonb '11', '$' returning small), json_value(jsonb '1', '$' passing date '2020-01-02' as d returning small)",
                "|1",
            ),
            (
                "select json_value(jsonb '1', '$d' passing timestamp '2020-01-02 03:04' as d returning date)",
                "2020-01-02",
            ),
            (
                "select json_query(jsonb '[1, [2]]', '$[*]' with wrapper), json_query(jsonb '[1, [2]]', '$[1]' with conditional wrapper), json_query(jsonb '[1]', '$[0]' with unconditional wrapper)",
                "[1, [2]]|[2]|[1]",
            ),
            (
                "select json_query(jsonb '\"x\"', '$' returning text), json_query(jsonb '\"x\"', '$' returning text omit quotes)",
                "\"x\"|x",
            ),
            (
                "select json_query(jsonb '[]', '$.x' empty object on empty), json_query(jsonb '[1, 2]', '$[*]' empty array on error)",
                "{}|[]",
            ),
            (
                "select json_query(jsonb '{\"x\": 1, \"y\": [\"p\", null]}', '$' returning pair), json_query(jsonb '[1, \"2\"]', '$' returning int[])",
                "(1,\"{p,NULL}\")|{1,2}",
            ),
            (
                "select jsonb_path_query('\"10-03-2017 12:34 +05:20\"', '$.datetime(\"dd-mm-yyyy HH24:MI TZH:TZM\")')",
                "\"2017-03-10T12:34:00+05:20\"",
            ),
        ],
    );
    let refused = [
        (
            "select json_value(jsonb '[]', '$' error on error)",
            "2203F JSON path expression in JSON_VALUE must return single scalar item",
        ),
        (
            "select json_value(jsonb '{}', '$.a' error on empty)",
            "22035 no SQL/JSON item found for specified path",
        ),
        (
            "select json_query(jsonb '[1, 2]', '$[*]' error on error)",
            "22034 JSON path expression in JSON_QUERY must return single item when no wrapper is requested",
        ),
        (
            "select json_query(jsonb '\"a\"', '$' returning int empty array on error)",
            "42804 could not coerce ON ERROR expression (EMPTY ARRAY) to the RETURNING type | invalid input syntax for type integer: \"[]\"",
        ),
        ("select json_value(jsonb '1', '$x')", "42704 could not find jsonpath variable \"x\""),
        (
            "select json_exists(jsonb '1', '$' empty on error)",
            "42601 invalid ON ERROR behavior | Only ERROR, TRUE, FALSE, or UNKNOWN is allowed in ON ERROR for JSON_EXISTS().",
        ),
        (
            "select json_value(jsonb '1', '$' default x on error) from (values (1)) t(x)",
            "42804 can only specify a constant, non-aggregate function, or operator expression for DEFAULT",
        ),
        (
            "select json_query(jsonb '1', '$' with wrapper omit quotes)",
            "42601 SQL/JSON QUOTES behavior must not be specified when WITH WRAPPER is used",
        ),
        (
            "select jsonb_path_query('\"10-03-2017\"', '$.datetime(\"dd-mm-yyyy HH24\")')",
            "22007 input string is too short for datetime format",
        ),
    ];
    for (sql, expected) in refused {
        assert_eq!(refusal(&s, sql), expected, "{sql}");
    }
}

#[test]
fn json_table_gives_rows_of_nested_paths() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table docs (id int, j jsonb)").unwrap();
    s.run(
        r#"insert into docs values (1, '[{"a": 1, "b": [], "c": []}, {"a": 2, "b": [5, 6], "c": [null, 20]}]'), (2, '"x"'), (3, null)"#,
    )
    .unwrap();
    let nested = "select id, t.* from docs, json_table(j, 'strict $[*]' columns (n for ordinality, a int, \
                  nested path '$.b[*]' columns (b int path '$', m for ordinality), nested '$.c[*]' as pc columns (c int path '$'))) t";
    assert_eq!(s.query(nested), "1|1|1|||\n1|2|2|5|1|\n1|2|2|6|2|\n1|2|2|||\n1|2|2|||20");
    check(
        &s,
        &[
            (
                "select t.* from docs left join json_table(j, '$[*]' columns (a int path '$.a' default 0 on empty, e bool exists path '$.a', f text format json path '$.b', q jsonb path '$.c')) t on true where id = 1",
                "1|t|[]|[]\n2|t|[5, 6]|[null, 20]",
            ),
            (
                "select sum(v) from json_table('[1, 2, 3]', '$[*] ? (@ > $x)' passing 1 as x columns (v int path '$'))",
                "5",
            ),
            (
                "select id, (select count(*) from json_table(j, '$[*]' columns (a int))) from docs order by id",
                "1|2\n2|1\n3|0",
            ),
        ],
    );
    let refused = [
        (
            "select * from json_table(jsonb '1', 'strict $.x' columns (a int) error on error)",
            "2203A jsonpath member accessor can only be applied to an object",
        ),
        (
            "select * from json_table(jsonb '1', '$' columns (a int, a int))",
            "42712 duplicate JSON_TABLE column or path name: a",
        ),
        (
            "select * from json_table(jsonb '1', '$' columns (a int path 'strict $.a' error on error))",
            "2203A jsonpath member accessor can only be applied to an object",
        ),
        (
            "select * from json_table(jsonb '1', '$' columns (a int path '$.a' error on empty))",
            "22035 no SQL/JSON item found for specified path of column \"a\"",
        ),
    ];
    for (sql, expected) in refused {
        assert_eq!(refusal(&s, sql), expected, "{sql}");
    }
}

#[test]
fn views_show_what_was_written() {
    let server = Server::new();
    let s = server.connect();
    let shown = |select: &str| {
        s.run(&format!("create view w as {select}")).unwrap();
        let text = s.query("select pg_get_viewdef('w'::regclass)");
        s.run("drop view w").unwrap();
        text
    };
    assert_eq!(
        shown("select json_object('a': '[1]' format json absent on null returning text) x"),
        " SELECT JSON_OBJECT('a' : '[1]'::text FORMAT JSON ABSENT ON NULL RETURNING text) AS x;"
    );
    assert_eq!(
        shown(
            "select json_query('[]', '$' passing 1 as p returning text omit quotes default 'z' on empty) x"
        ),
        " SELECT JSON_QUERY('[]'::text, '$' PASSING 1 AS p RETURNING text WITHOUT WRAPPER OMIT QUOTES DEFAULT 'z'::text ON EMPTY) AS x;"
    );
    assert_eq!(
        shown(
            "select json_arrayagg(v order by v null on null) filter (where v > 1) x, bool_and('1' is json scalar) y from generate_series(1, 2) v"
        ),
        " SELECT JSON_ARRAYAGG(v ORDER BY v NULL ON NULL RETURNING json) FILTER (WHERE (v > 1)) AS x,\n    bool_and(('1'::text IS JSON SCALAR)) AS y\n   FROM generate_series(1, 2) v(v);"
    );
    assert_eq!(
        shown(
            "select * from json_table(jsonb '[]', '$[*]' passing 1 as p columns (o for ordinality, a int, nested path '$.b' columns (e bool exists)))"
        ),
        " SELECT o,\n    a,\n    e\n   FROM JSON_TABLE(\n            '[]'::jsonb, '$[*]' AS json_table_path_0\n            PASSING\n                1 AS p\n            COLUMNS (\n                o FOR ORDINALITY,\n                a integer PATH '$.\"a\"',\n                NESTED PATH '$.\"b\"' AS json_table_path_1\n                COLUMNS (\n                    e boolean EXISTS PATH '$.\"e\"'\n                )\n            )\n        );"
    );
    // What is stored is what runs.
    s.run("create table t (j jsonb, n int generated always as (json_value(j, '$.n' returning int default 0 on empty)) stored, check (json_exists(j, '$.n' true on error)))").unwrap();
    assert_eq!(s.query("insert into t values ('{\"n\": 4}') returning n"), "4");
    assert_eq!(refusal(&s, "insert into t values ('{}')").split(' ').next(), Some("23514"));
    s.run("create index on t (((j ->> 'n')::int))").unwrap();
}
