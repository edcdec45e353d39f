//! Settings of reads: how far ahead, and how many pages at once.

use super::transcript;
use crate::support::{Client, Server};

/// Seen here; but for `maintenance_io_concurrency` and `io_workers`, which the tests of the layers below see.
pub const NAMES: &[&str] = &[
    "effective_io_concurrency",
    "io_combine_limit",
    "io_max_combine_limit",
    "io_max_concurrency",
    "io_method",
    "io_workers",
    "maintenance_io_concurrency",
];

const TABLE: &str = "create extension if not exists pg_buffercache;;
    create table t (n int, filler text) with (autovacuum_enabled = off);;
    insert into t select n, repeat('x', 2000) from generate_series(1, 1600) n;;
    vacuum t;;checkpoint";
/// Reads the first rows of a table that no buffer has, on 150 of its 400 pages; how many pages are read, and how many by one read.
const LOOK: &str = "select pg_buffercache_evict_relation('t');;select pg_stat_reset_shared('io');;
    select count(*) from (select from t limit 600) s;;select pg_stat_force_next_flush();;
    select 'seen', sum(read_bytes) / 8192, sum(read_bytes) / 8192 / sum(reads) from pg_stat_io where object = 'relation' and backend_type = 'client backend'";

fn server(options: &[&str]) -> Server {
    let options = [options, &["shared_buffers=16MB", "autovacuum=off", "max_parallel_workers_per_gather=0"]];
    let server = Server::start(&options.concat());
    transcript(&mut server.client(), TABLE);
    server
}

/// Pages read, and pages by one read.
fn look(client: &mut Client) -> (f64, f64) {
    let told = transcript(client, LOOK);
    let seen = told.lines().find_map(|line| line.strip_prefix("seen|"));
    let seen = seen.unwrap_or_else(|| panic!("{told}")).split_once('|').unwrap();
    (seen.0.parse().unwrap(), seen.1.parse().unwrap())
}

#[test]
fn sessions_say_how_far_ahead_is_read_and_how_much_at_once() {
    let server = server(&[]);
    let mut client = server.client();
    let (pages, at_once) = look(&mut client);
    assert!(pages > 250.0 && at_once > 2.0, "{pages}, {at_once}");
    transcript(&mut client, "set effective_io_concurrency = 0");
    let (pages, at_once) = look(&mut client);
    assert!((150.0..200.0).contains(&pages) && at_once > 2.0, "nothing ahead of need: {pages}, {at_once}");
    transcript(&mut client, "reset effective_io_concurrency;;set io_combine_limit = 1");
    let (pages, at_once) = look(&mut client);
    assert!(pages < 200.0 && at_once == 1.0, "one by one: {pages}, {at_once}");
}

#[test]
fn servers_say_how_far_ahead_is_read_and_how_much_at_once() {
    let ring = runtime::fs::prepare_reads(runtime::fs::ReadMethod::IoUring);
    if let Err(error) = &ring {
        eprintln!("io_method = io_uring is skipped: {error}");
    }
    let ring = ring.is_ok().then_some(("io_method=io_uring", true, true));
    let others = [("io_method=sync", false, true), ("io_max_concurrency=1", false, true)];
    for (option, far, much) in others.into_iter().chain(ring) {
        let (pages, at_once) = look(&mut server(&[option]).client());
        assert_eq!((pages > 250.0, at_once > 2.0), (far, much), "{option}: {pages}, {at_once}");
    }
    let server = server(&["io_max_combine_limit=2"]);
    let mut client = server.client();
    transcript(&mut client, "set io_combine_limit = 128");
    let (_, at_once) = look(&mut client);
    assert!((1.5..=2.0).contains(&at_once), "{at_once}");
}
