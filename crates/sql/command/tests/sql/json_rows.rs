//! Rows from JSON documents, through whole sessions.

use crate::support::{Client, Server};

fn report(s: &Client, sql: &str) -> String {
    let Some(error) = s.run(sql).err() else { return format!("{sql}: no error") };
    let detail = error.report().detail.as_deref().map(|d| format!(" | {d}")).unwrap_or_default();
    format!("{}{detail}", error.message())
}

#[test]
fn documents_fill_composite_types() {
    let server = Server::new();
    let s = server.connect();
    s.run("create type pair as (x int, y text)").unwrap();
    s.run("create type whole as (a int, p pair, l pair[], j jsonb, d date)").unwrap();
    let document = r#"'{"a": 1, "p": {"y": "z"}, "l": [{"x": 2}, null, "(3,c)"], "j": [1], "d": "2020-02-03", "other": 5}'"#;
    for (kind, json) in [("json", "json"), ("jsonb", "jsonb")] {
        assert_eq!(
            s.query(&format!("select * from {kind}_populate_record(null::whole, {document}::{json})")),
            "1|(,z)|{\"(2,)\",NULL,\"(3,c)\"}|[1]|2020-02-03"
        );
        assert_eq!(
            s.query(&format!(
                "select ({kind}_populate_record((7, (1, 'q'), null, null, '2001-01-01')::whole, '{{\"p\": {{\"x\": 4}}}}')).*"
            )),
            "7|(4,)|||2001-01-01"
        );
        assert_eq!(
            s.query(&format!(
                "select {kind}_populate_recordset((0, 'b')::pair, '[{{\"x\": 1}}, {{\"y\": \"c\"}}]')"
            )),
            "(1,b)\n(0,c)"
        );
        assert_eq!(
            s.query(&format!(
                "select * from {kind}_populate_recordset(null::record, '[{{\"x\": 1}}]') r(x int, y text)"
            )),
            "1|"
        );
        assert_eq!(s.query(&format!("select {kind}_populate_record((1, 'a')::pair, null)")), "(1,a)");
    }
    assert_eq!(
        s.query("select jsonb_populate_record_valid(null::pair, '{\"x\": \"1\"}'), jsonb_populate_record_valid(null::pair, '{\"x\": \"a\"}')"),
        "t|f"
    );
    assert_eq!(
        s.query("select * from json_to_record('{\"p\": {\"x\": 1, \"y\": \"b\"}}') r(p pair)"),
        "(1,b)"
    );
}

#[test]
fn what_does_not_fit_is_refused() {
    let server = Server::new();
    let s = server.connect();
    s.run("create type pair as (x int, y int)").unwrap();
    s.run("create domain ordered as pair check ((value).x <= (value).y)").unwrap();
    assert_eq!(s.query("select json_populate_record(null::ordered, '{\"x\": 1, \"y\": 2}')"), "(1,2)");
    let refused = [
        (
            "select json_populate_record(null::ordered, '{\"x\": 3, \"y\": 2}')",
            "value for domain ordered violates check constraint \"ordered_check\"",
        ),
        ("select json_populate_record(1, '{}')", "first argument of json_populate_record must be a row type"),
        ("select json_populate_record(null::pair, '[1]')", "cannot call populate_composite on an array"),
        (
            "select json_populate_recordset(null::pair, '{}')",
            "cannot call json_populate_recordset on an object",
        ),
        (
            "select jsonb_populate_recordset(null::pair, '[1]')",
            "argument of jsonb_populate_recordset must be an array of objects",
        ),
        (
            "select * from json_populate_recordset(row(1), '[{}]') r(a text, b text)",
            "function return row and query-specified return row do not match | Returned row contains 1 attribute, but query expects 2.",
        ),
        (
            "select * from json_populate_record(row(1, 2), '{}') r(a text, b text)",
            "function return row and query-specified return row do not match | Returned type integer at ordinal position 1, but query expects text.",
        ),
    ];
    for (sql, wanted) in refused {
        assert_eq!(report(&s, sql), wanted, "{sql}");
    }
}
