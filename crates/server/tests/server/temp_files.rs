//! Temporary files: their limit, what the log and the counters say of them, and hash tables whose states grow.

use crate::support::{Client, Server};

fn run(client: &mut Client, text: &str) {
    client.query(text).unwrap_or_else(|failure| panic!("{text}: {failure:?}"));
}

fn column(client: &mut Client, text: &str) -> Vec<String> {
    let rows = client.query(text).unwrap_or_else(|failure| panic!("{text}: {failure:?}"));
    rows.into_iter().map(|row| row[0].clone().unwrap_or_default()).collect()
}

#[test]
fn they_are_limited_logged_and_counted() {
    let server = Server::start(&["work_mem=64kB"]);
    let mut client = server.client();
    let sort = "select count(*) from (select repeat('x', 100) || n as t from generate_series(1, 20000) n order by 1 offset 0) s";
    run(&mut client, "set log_temp_files = 0");
    run(&mut client, sort);
    let log = server.log();
    let line = log
        .lines()
        .find(|line| line.contains("temporary file: path \"base/pgsql_tmp/pgsql_tmp"))
        .expect("a line");
    let size: i64 = line.rsplit(' ').next().unwrap().parse().unwrap();
    assert!(size > 0 && log.contains(&format!("STATEMENT:  {sort}")), "{log}");
    let counted =
        "select temp_files > 0 and temp_bytes >= 2000000 from pg_stat_database where datname = 'postgres'";
    assert_eq!(client.value(counted), "t");
    run(&mut client, "set temp_file_limit = '1MB'");
    assert_eq!(client.error(sort), "53400 temporary file size exceeds \"temp_file_limit\" (1024kB)");
    // What is gone does not count.
    assert_eq!(client.error(sort), "53400 temporary file size exceeds \"temp_file_limit\" (1024kB)");
    run(&mut client, "set temp_file_limit = '100MB'");
    assert_eq!(client.value(sort), "20000");
    assert_eq!(std::fs::read_dir(server.data().join("base/pgsql_tmp")).map_or(0, Iterator::count), 0);
}

#[test]
fn states_that_grow_go_to_files() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(&mut client, "create table t (g int, v text)");
    run(&mut client, "insert into t select n % 500, md5(n::text) from generate_series(1, 60000) n");
    run(&mut client, "analyze t; set enable_sort = off; set work_mem = '1GB'");
    let queries = [
        "select g, md5(array_agg(v)::text), count(*) from t group by g",
        "select g, md5(string_agg(v, ',')), max(v) from t group by g",
        "select g, md5(json_agg(v)::text), md5(jsonb_object_agg(v, g)::text) from t group by g",
        "select g, md5(array_agg(v)::text), grouping(g) from t group by grouping sets ((g), ())",
        "select g, count(distinct v), md5(string_agg(v, '' order by v)) from t group by g",
    ];
    let all = |client: &mut Client| {
        queries.map(|query| {
            client.value(&format!("select string_agg(q::text, ';' order by q::text) from ({query}) q"))
        })
    };
    let expected = all(&mut client);
    run(&mut client, "set work_mem = '128kB'");
    assert_eq!(all(&mut client), expected);
    let plan =
        column(&mut client, &format!("explain (analyze, costs off, timing off, summary off) {}", queries[0]));
    let line = plan.iter().find(|line| line.contains("Batches: ")).unwrap_or_else(|| panic!("{plan:?}"));
    let figure = |name: &str| {
        let rest = line.split(name).nth(1).unwrap_or_else(|| panic!("{line}"));
        rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse::<u64>().unwrap()
    };
    // Two and a half megabytes of states: a table has a quarter of one.
    assert!(
        figure("Batches: ") > 1 && figure("Memory Usage: ") < 600 && figure("Disk Usage: ") > 1000,
        "{line}"
    );
}
