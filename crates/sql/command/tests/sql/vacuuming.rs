//! VACUUM and ANALYZE: their options, what they leave to the next, and what VERBOSE says.

use crate::support::{Client, Server};

/// What a statement tells beside its result, with `#` for each number that is not the same every time.
fn told(s: &Client, sql: &str) -> Vec<String> {
    let notices = s.run(sql).unwrap_or_else(|e| panic!("{sql}: {e}")).notices;
    notices.iter().map(|notice| without_figures(notice)).collect()
}

/// The lines of what was used have no figures that a test could know.
fn without_figures(text: &str) -> String {
    let vague = ["removable", "new ", "avg", "buffer", "WAL", "system", "delay", "I/O"];
    let line = |line: &str| match vague.iter().any(|word| line.starts_with(word)) {
        true => {
            let mut out = String::new();
            for c in line.chars() {
                match c {
                    '0'..='9' if out.ends_with('#') => {}
                    '.' if out.ends_with('#') => {}
                    '0'..='9' => out.push('#'),
                    c => out.push(c),
                }
            }
            out
        }
        false => line.to_string(),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

fn lines<'a>(told: &'a [String], start: &str) -> Vec<&'a str> {
    told.iter().flat_map(|text| text.lines()).filter(|line| line.starts_with(start)).collect()
}

fn table(s: &Client) {
    s.run("create table t (a int primary key, b int)").unwrap();
    s.run("insert into t select i, i from generate_series(1, 20000) i").unwrap();
    s.run("vacuum t").unwrap();
}

#[test]
fn verbose_is_as_postgresql_writes_it() {
    let server = Server::new();
    let s = server.connect();
    table(&s);
    s.run("delete from t where a % 10 = 0").unwrap();
    let told = told(&s, "vacuum (verbose, analyze) t");
    assert_eq!(told[0], "vacuuming \"postgres.public.t\"");
    assert_eq!(
        told[1],
        "finished vacuuming \"postgres.public.t\": index scans: 1\n\
         pages: 0 removed, 89 remain, 89 scanned (100.00% of total), 0 eagerly scanned\n\
         tuples: 2000 removed, 18000 remain, 0 are dead but not yet removable\n\
         removable cutoff: #, which was # XIDs old when operation ended\n\
         new relfrozenxid: #, which is # XIDs ahead of previous value\n\
         frozen: 0 pages from table (0.00% of total) had 0 tuples frozen\n\
         visibility map: 89 pages set all-visible, 89 pages set all-frozen (0 were all-visible)\n\
         index scan needed: 89 pages from table (100.00% of total) had 2000 dead item identifiers removed\n\
         index \"t_pkey\": pages: 57 in total, 0 newly deleted, 0 currently deleted, 0 reusable\n\
         avg read rate: # MB/s, avg write rate: # MB/s\n\
         buffer usage: # hits, # reads, # dirtied\n\
         WAL usage: # records, # full page images, # bytes, # buffers full\n\
         system usage: CPU: user: # s, system: # s, elapsed: # s"
    );
    assert_eq!(
        told[2..],
        [
            "analyzing \"public.t\"",
            "\"t\": scanned 89 of 89 pages, containing 18000 live rows and 0 dead rows; 18000 rows in sample, 18000 estimated total rows",
            "finished analyzing table \"postgres.public.t\"\n\
             avg read rate: # MB/s, avg write rate: # MB/s\n\
             buffer usage: # hits, # reads, # dirtied\n\
             WAL usage: # records, # full page images, # bytes, # buffers full\n\
             system usage: CPU: user: # s, system: # s, elapsed: # s",
        ]
    );
    s.run("set track_io_timing = on; set track_cost_delay_timing = on").unwrap();
    let told = self::told(&s, "vacuum (verbose, freeze) t");
    assert_eq!(told[0], "aggressively vacuuming \"postgres.public.t\"");
    assert_eq!(lines(&told, "delay"), ["delay time: # ms"]);
    assert_eq!(lines(&told, "I/O"), ["I/O timings: read: # ms, write: # ms"]);
}

#[test]
fn indexes_are_left_alone_for_few_dead_rows_or_if_that_is_wanted() {
    let server = Server::new();
    let s = server.connect();
    table(&s);
    let scan =
        |options: &str| lines(&told(&s, &format!("vacuum (verbose{options}) t")), "index scan").join("");
    s.run("delete from t where a = 7").unwrap();
    let bypassed = "index scan bypassed: 1 pages from table (1.12% of total) have 1 dead item identifiers";
    assert_eq!(scan(""), bypassed);
    // They are still there, and counted again.
    assert_eq!(scan(", index_cleanup off"), bypassed);
    assert_eq!(scan(", index_cleanup auto"), bypassed);
    let needed = "index scan needed: 1 pages from table (1.12% of total) had 1 dead item identifiers removed";
    assert_eq!(scan(", index_cleanup on"), needed);
    s.run("delete from t where a < 15000").unwrap();
    s.run("alter table t set (vacuum_index_cleanup = off)").unwrap();
    assert!(scan("").starts_with("index scan bypassed: 67 pages"), "{}", scan(""));
    assert_eq!(s.query("select count(*) from t"), "5001");
    s.run("alter table t reset (vacuum_index_cleanup)").unwrap();
    assert!(scan("").starts_with("index scan needed: 67 pages"));
    assert_eq!(s.query("select count(*) from t where a > 0"), "5001");
}

#[test]
fn the_tail_is_cut_unless_that_is_not_wanted() {
    let server = Server::new();
    let s = server.connect();
    table(&s);
    s.run("delete from t where a > 1000").unwrap();
    let size = || s.query("select pg_relation_size('t') / 8192");
    s.run("vacuum (truncate off) t").unwrap();
    s.run("alter table t set (vacuum_truncate = off)").unwrap();
    s.run("vacuum t").unwrap();
    assert_eq!(size(), "89");
    let told = told(&s, "vacuum (truncate, verbose) t");
    assert_eq!(told.len(), 3, "{told:?}");
    assert_eq!(told[1], "table \"t\": truncated 89 to 5 pages");
    assert_eq!(
        lines(&told, "pages"),
        ["pages: 84 removed, 5 remain, 1 scanned (1.12% of total), 0 eagerly scanned"]
    );
    assert_eq!(size(), "5");
    s.run("insert into t select i, i from generate_series(1001, 3000) i").unwrap();
    assert_eq!(s.query("select count(*), sum(a) from t where a > 0"), "3000|4501500");
}

#[test]
fn options_are_read_as_postgresql_reads_them() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a int)").unwrap();
    let limit = "ERROR:  BUFFER_USAGE_LIMIT option must be 0 or between 128 kB and 16777216 kB";
    for (options, error) in [
        ("buffer_usage_limit '1kB'", limit),
        ("buffer_usage_limit abc", limit),
        ("buffer_usage_limit -1", limit),
        ("buffer_usage_limit", "ERROR:  buffer_usage_limit requires a parameter"),
        ("full, buffer_usage_limit 128", "ERROR:  BUFFER_USAGE_LIMIT cannot be specified for VACUUM FULL"),
        ("index_cleanup foo", "ERROR:  index_cleanup requires a Boolean value"),
        ("parallel -1", "ERROR:  parallel workers for vacuum must be between 0 and 1024"),
    ] {
        assert_eq!(s.query(&format!("vacuum ({options}) t")), error, "{options}");
    }
    for options in
        ["index_cleanup", "buffer_usage_limit 0", "buffer_usage_limit '1 GB'", "parallel 3, skip_locked"]
    {
        assert_eq!(s.query(&format!("vacuum ({options}) t")), "", "{options}");
    }
    s.run("analyze (buffer_usage_limit 256) t").unwrap();
    let refused = s.run("set vacuum_buffer_usage_limit = '100kB'").err().unwrap();
    assert_eq!(refused.message(), "invalid value for parameter \"vacuum_buffer_usage_limit\": 100");
    assert_eq!(
        refused.report().detail.as_deref(),
        Some("\"vacuum_buffer_usage_limit\" must be 0 or between 128 kB and 16777216 kB.")
    );
    assert_eq!(s.query("show vacuum_buffer_usage_limit"), "2MB");
}

#[test]
fn a_partial_index_has_its_own_number_of_rows() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a int, b int)").unwrap();
    s.run("create index t_few on t (a) where b = 1").unwrap();
    s.run("create index t_none on t (a) where b > 1000").unwrap();
    s.run("create index t_half on t ((a + 1)) where a % 2 = 0").unwrap();
    s.run("insert into t select i, i % 10 from generate_series(1, 4000) i").unwrap();
    let sizes = || {
        s.query("select string_agg(concat_ws(' ', relpages, reltuples), ', ' order by relname) from pg_class where relname like 't\\_%'")
    };
    s.run("analyze t").unwrap();
    assert_eq!(sizes(), "2 400, 8 2000, 1 0");
    s.run("delete from t where a <= 2000").unwrap();
    s.run("vacuum t").unwrap();
    assert_eq!(sizes(), "2 200, 8 1000, 1 0");
    s.run("analyze t (a)").unwrap();
    assert_eq!(s.query("select reltuples from pg_class where relname = 't'"), "2000");
    assert_eq!(sizes(), "2 200, 8 1000, 1 0");
}
