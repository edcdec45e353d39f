//! Statistics objects: their definitions, what ANALYZE learns for them, and the estimates that come of it. The figures are PostgreSQL 18's.

use crate::support::{Client, Server, run};

const SETUP: &[&str] = &[
    "create function est(text) returns text language plpgsql as $$ declare l text; begin \
     for l in execute 'explain ' || $1 loop return substring(l from 'rows=(\\d+)'); end loop; end $$",
    "create table fd (id int, a int, b int, c int, t text, n int)",
    "insert into fd select i, i % 100, i % 50, i % 25, 'v' || i % 20, case when i % 4 = 0 then null else i % 10 end \
     from generate_series(1, 5000) i",
];

fn setup() -> (Server, Client) {
    let mut server = Server::init(&["-A", "trust"]);
    server.run();
    let mut client = server.client();
    run(&mut client, SETUP);
    (server, client)
}

/// Rows that EXPLAIN expects of a query.
fn estimate(client: &mut Client, query: &str) -> String {
    client.value(&format!("select est('{query}')"))
}

fn assert_estimates(client: &mut Client, expected: &[(&str, &str)]) {
    for (query, rows) in expected {
        assert_eq!(estimate(client, query), *rows, "{query}");
    }
}

/// The error of a statement, without its SQLSTATE.
fn error(client: &mut Client, statement: &str) -> String {
    client.error(statement)[6..].to_owned()
}

#[test]
fn columns_that_decide_others_are_counted_once() {
    let (_server, mut client) = setup();
    let client = &mut client;
    run(client, &["analyze fd"]);
    assert_estimates(client, &[("select * from fd where a = 1 and b = 1", "1")]);
    run(client, &["create statistics s (dependencies) on a, b, c from fd", "analyze fd"]);
    assert_eq!(
        client.value("select dependencies from pg_stats_ext"),
        "{\"2 => 3\": 1.000000, \"2 => 4\": 1.000000, \"3 => 4\": 1.000000, \"2, 3 => 4\": 1.000000, \
         \"2, 4 => 3\": 1.000000}"
    );
    assert_estimates(
        client,
        &[
            ("select * from fd where a = 1 and b = 1", "50"),
            ("select * from fd where a = 1 and b = 1 and c = 1", "50"),
            ("select * from fd where a in (1, 51) and b = 1", "100"),
            ("select * from fd where a < 10 and b < 10", "100"),
            ("select * from fd where n is null and c = 0", "50"),
            ("select * from fd where a = 1 and b = 1 and id < 100", "1"),
        ],
    );
}

#[test]
fn combinations_are_counted_for_groups() {
    let (_server, mut client) = setup();
    let client = &mut client;
    run(client, &["analyze fd"]);
    assert_estimates(client, &[("select a, b, c from fd group by a, b, c", "500")]);
    run(client, &["create statistics s (ndistinct) on a, b, c from fd", "analyze fd"]);
    assert_eq!(
        client.value("select n_distinct from pg_stats_ext"),
        "{\"2, 3\": 100, \"2, 4\": 100, \"3, 4\": 50, \"2, 3, 4\": 100}"
    );
    assert_estimates(
        client,
        &[
            ("select a, b from fd group by a, b", "100"),
            ("select a, b, c from fd group by a, b, c", "100"),
            ("select distinct a, c from fd where id < 1000", "100"),
            ("select a, b, n from fd group by a, b, n", "500"),
            ("select a, t from fd group by a, t", "500"),
            ("select * from fd where a = 1 and b = 1", "1"),
        ],
    );
}

#[test]
fn common_combinations_say_how_often_they_are_there() {
    let (_server, mut client) = setup();
    let client = &mut client;
    run(client, &["create statistics s (mcv) on a, b, n from fd", "analyze fd"]);
    let first = client
        .query("select m.* from pg_statistic_ext_data, pg_mcv_list_items(stxdmcv) m order by index limit 2");
    let first: Vec<Vec<String>> =
        first.unwrap().into_iter().map(|row| row.into_iter().flatten().collect()).collect();
    assert_eq!(
        first,
        [["0", "{0,0,NULL}", "{f,f,t}", "0.01", "5e-05"], ["1", "{1,1,1}", "{f,f,f}", "0.01", "2e-05"]]
    );
    assert_eq!(
        client.value("select most_common_vals[2:2]::text || most_common_freqs[1:2]::text from pg_stats_ext"),
        "{{1,1,1}}{0.01,0.01}"
    );
    assert_estimates(
        client,
        &[
            ("select * from fd where a = 1 and b = 1", "50"),
            ("select * from fd where a = 1 and b = 1 and n = 1", "50"),
            ("select * from fd where a = 1 or b = 1", "100"),
            ("select * from fd where a = 4 and n is null", "50"),
            ("select * from fd where a in (1, 51) and b = 1", "100"),
            ("select * from fd where a < 10 and b < 10", "500"),
            ("select * from fd where not (a = 1 and b = 1)", "4950"),
            ("select * from fd where a = any (array[1,2,3]) and b in (1,2,3)", "150"),
            ("select * from fd where (a = 1 or a = 2) and b = 1", "50"),
            ("select * from fd where a = 1 and b = 1 and id < 100", "1"),
            ("select * from fd where a > 10 or b < 5 or n is null", "4750"),
        ],
    );
}

#[test]
fn expressions_have_statistics_as_columns_have() {
    let (_server, mut client) = setup();
    let client = &mut client;
    run(client, &["analyze fd"]);
    assert_estimates(client, &[("select * from fd where a + b = 2", "25")]);
    run(client, &["create statistics s on (a + b), c from fd", "analyze fd"]);
    assert_eq!(
        client.value("select n_distinct::text || dependencies::text from pg_stats_ext"),
        "{\"4, -1\": 75}{\"-1 => 4\": 1.000000}"
    );
    assert_eq!(
        client.value(
            "select expr || '|' || null_frac || '|' || avg_width || '|' || n_distinct from pg_stats_ext_exprs"
        ),
        "(a + b)|0|4|75"
    );
    assert_estimates(
        client,
        &[
            ("select * from fd where a + b = 2", "50"),
            ("select a + b from fd group by a + b", "75"),
            ("select a + b, c from fd group by a + b, c", "75"),
            ("select * from fd where a + b = 2 and c = 1", "50"),
            ("select * from fd where a + b < 10", "250"),
        ],
    );
    run(client, &["drop statistics s", "create statistics one on (a % 7) from fd", "analyze fd"]);
    assert_estimates(
        client,
        &[("select * from fd where a % 7 = 2", "700"), ("select a % 7 from fd group by 1", "7")],
    );
}

#[test]
fn objects_go_with_what_they_are_made_of() {
    let (_server, mut client) = setup();
    let client = &mut client;
    run(
        client,
        &[
            "create statistics s on a, t from fd",
            "comment on statistics s is 'kept'",
            "create statistics e on (b + c) from fd",
            "analyze fd",
            "create table copy (like fd including statistics including comments)",
        ],
    );
    let definitions =
        "select string_agg(pg_get_statisticsobjdef(oid), ';' order by oid) from pg_statistic_ext";
    assert_eq!(
        client.value(definitions),
        "CREATE STATISTICS public.s ON a, t FROM fd;CREATE STATISTICS public.e ON (b + c) FROM fd;\
         CREATE STATISTICS public.copy_a_t_stat ON a, t FROM copy;\
         CREATE STATISTICS public.copy_expr_stat ON (b + c) FROM copy"
    );
    assert_eq!(
        client.value("select count(*) from pg_description where classoid = 'pg_statistic_ext'::regclass"),
        "2"
    );
    run(client, &["drop table copy", "alter table fd alter t type varchar(20)"]);
    assert_eq!(client.value("select obj_description(oid) from pg_statistic_ext where stxname = 's'"), "kept");
    assert_eq!(
        client.value("select count(*) from pg_statistic_ext_data"),
        "1",
        "of the expression, which is as it was"
    );
    run(client, &["alter table fd alter b type bigint", "analyze fd", "alter table fd rename a to aa"]);
    assert_eq!(
        client.value(definitions),
        "CREATE STATISTICS public.s ON aa, t FROM fd;CREATE STATISTICS public.e ON (b + c) FROM fd"
    );
    run(client, &["alter table fd drop column t"]);
    assert_eq!(client.value(definitions), "CREATE STATISTICS public.e ON (b + c) FROM fd");
    run(client, &["drop table fd"]);
    assert_eq!(client.value("select count(*) from pg_statistic_ext"), "0");
    assert_eq!(client.value("select count(*) from pg_statistic_ext_data"), "0");
    assert_eq!(
        client.value("select count(*) from pg_depend where classid = 'pg_statistic_ext'::regclass"),
        "0"
    );
}

#[test]
fn targets_and_columns_decide_what_is_computed() {
    let (_server, mut client) = setup();
    let client = &mut client;
    run(client, &["create statistics s on a, t from fd", "analyze fd (a)"]);
    assert_eq!(client.value("select count(*) from pg_statistic_ext_data"), "0");
    run(client, &["alter statistics s set statistics 0", "analyze fd"]);
    assert_eq!(client.value("select count(*) from pg_statistic_ext_data"), "0");
    run(client, &["alter statistics s set statistics 5", "analyze fd"]);
    assert_eq!(client.value("select array_length(most_common_freqs, 1) from pg_stats_ext"), "5");
    run(client, &["alter statistics s set statistics default"]);
    assert_eq!(client.value("select stxstattarget is null from pg_statistic_ext"), "t");
    assert_eq!(error(client, "alter statistics s set statistics -2"), "statistics target -2 is too low");
}

#[test]
fn definitions_that_make_no_sense_are_refused() {
    let (_server, mut client) = setup();
    let client = &mut client;
    run(
        client,
        &[
            "create table tst (a int, b int, c text, p point, g int generated always as (a + 1) virtual)",
            "create view tv as select a, b from fd",
            "create role other login",
            "create statistics there on a, b from tst",
            "create statistics random on a, (random()) from tst",
        ],
    );
    let no_class = "because its type point has no default btree operator class";
    for (statement, message) in [
        ("on a, b from tst, tst t2", "only a single relation is allowed in CREATE STATISTICS"),
        ("on a, b from (select 1) x", "CREATE STATISTICS only supports relation names in the FROM clause"),
        ("on a, b from tv", "cannot define statistics for relation \"tv\""),
        ("on oid, relname from pg_class", "permission denied: \"pg_class\" is a system catalog"),
        ("on a from tst", "extended statistics require at least 2 columns"),
        ("on a, a from tst", "duplicate column name in statistics definition"),
        ("on a, nope from tst", "column \"nope\" does not exist"),
        ("on a, p from tst", &format!("column \"p\" cannot be used in statistics {no_class}")),
        ("on a, g from tst", "statistics creation on virtual generated columns is not supported"),
        ("on a, (g + 1) from tst", "statistics creation on virtual generated columns is not supported"),
        ("on a, ctid from tst", "statistics creation on system columns is not supported"),
        ("on a, (tst) from tst", "statistics creation on system columns is not supported"),
        ("on (a + b), (a + b) from tst", "duplicate expression in statistics definition"),
        ("on (count(*)) from tst", "aggregate functions are not allowed in statistics expressions"),
        ("on ((select 1)) from tst", "cannot use subquery in statistics expression"),
        (
            "on a, (point(a, b)) from tst",
            &format!("expression cannot be used in multivariate statistics {no_class}"),
        ),
        (
            "on a, b, c, (a + 1), (a + 2), (a + 3), (a + 4), (a + 5), (a + 6) from tst",
            "cannot have more than 8 columns in statistics",
        ),
    ] {
        assert_eq!(error(client, &format!("create statistics x {statement}")), message, "{statement}");
    }
    assert_eq!(
        error(client, "create statistics x (nope) on a, b from tst"),
        "unrecognized statistics kind \"nope\""
    );
    assert_eq!(
        error(client, "create statistics x (mcv) on (a + b) from tst"),
        "when building statistics on a single expression, statistics kinds may not be specified"
    );
    assert_eq!(
        error(client, "create statistics there on a, b from tst"),
        "statistics object \"there\" already exists"
    );
    run(client, &["create statistics if not exists there on a, c from tst", "set role other"]);
    assert_eq!(error(client, "create statistics mine on a, b from tst"), "must be owner of table tst");
    assert_eq!(error(client, "drop statistics there"), "must be owner of statistics object there");
    assert_eq!(
        error(client, "alter statistics there rename to x"),
        "must be owner of statistics object there"
    );
    run(
        client,
        &[
            "reset role",
            "alter statistics there rename to here",
            "create schema s",
            "alter statistics here set schema s",
            "alter statistics s.here owner to other",
            "reassign owned by other to postgres",
            "drop statistics s.here",
            "drop statistics if exists s.here, gone.here",
            "alter statistics if exists gone.here set statistics 7",
        ],
    );
    assert_eq!(error(client, "drop statistics here"), "statistics object \"here\" does not exist");
    assert_eq!(error(client, "select '{}'::pg_ndistinct"), "cannot accept a value of type pg_ndistinct");
}
