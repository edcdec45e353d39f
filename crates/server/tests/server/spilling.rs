//! Joins, sorts, aggregates and everything else that keeps rows, with a hundredth of the memory that their rows would take: the
//! answers are those that much memory gives, temporary files are used, and are gone afterwards, whatever the end.
//!
//! `STAMPEDE_SPILL_ROWS` makes the table larger; the server's memory must not grow with it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::support::{Client, Server, knob};

/// Queries over `t` (k: unique, g: groups of 100 rows, s: few values, most often the same one; pad, w: a kilobyte, w the same in a group).
const QUERIES: &[&str] = &[
    // Sorts.
    "select pad, k from t order by pad desc, k",
    "select distinct on (g) g, k, pad from t order by g, k desc",
    // Hash joins.
    "select a.k, b.pad from t a join t b using (k)",
    "select a.k, b.pad from t a left join t b on a.k = b.k * 2",
    "select a.k, b.k, a.pad, b.pad from t a full join t b on a.k = b.k + 1000",
    "select k, pad from t a where exists (select 1 from t b where b.k = a.k * 3 and b.pad <> a.pad)",
    "select k, pad from t a where not exists (select 1 from t b where b.k = a.k * 3)",
    "select a.pad, b.k from (select * from t where s <> 1 or k % 2000 = 0) a full join t b on a.s = b.s and a.g = b.g",
    // Aggregates.
    "select k, max(pad), count(*) from t group by k",
    "select distinct k, pad from t",
    "select g, count(distinct pad), string_agg(pad, '' order by k desc) from t group by g",
    "select count(distinct pad), percentile_disc(0.5) within group (order by pad) from t",
    "select g, k, grouping(g, k), count(*), max(pad) from t group by cube (g, k)",
    "select g, k, count(distinct pad) from t group by rollup (g, k)",
    // Set operations.
    "select k, pad from t except select k * 2, pad from t",
    "select k / 2, w from t intersect all select k / 3, w from t",
    "select k / 2, w from t except all select k / 3, w from t",
    "select k, pad from t union select k + 10, pad from t",
    // Windows.
    "select k, rank() over (order by g), sum(k) over (order by g), lag(pad, 500) over (order by k) from t",
    "select k, first_value(pad) over (order by k rows between 3 preceding and 2 following) from t",
    // What is read more than once.
    "with c as materialized (select * from t) select a.pad, b.k from c a join c b on a.k = b.k + 1",
    "with recursive r(n, k, pad) as (select 1, k, pad from t union all select n + 1, k, pad from r where n < 3) select * from r",
    "select * from pads()",
    "select (pads()).pad",
];

/// Queries that only merge joins and nested loops answer.
const MERGED: &[&str] = &[
    "select a.k, b.pad from t a join t b on a.k = b.k + 1",
    "select a.k, b.k from t a full join (select * from t where k % 100 = 0) b on a.s = b.s and a.k = b.k",
];

/// Looks at the directory of temporary files all the time.
struct Watch {
    dir: PathBuf,
    most: Arc<AtomicU64>,
    end: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Bytes in temporary files.
fn bytes_in(dir: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(dir) else { return 0 };
    entries.flatten().filter_map(|entry| entry.metadata().ok()).map(|file| file.len()).sum()
}

impl Watch {
    fn new(server: &Server) -> Watch {
        let dir = server.data().join("base/pgsql_tmp");
        let (most, end) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let thread = std::thread::spawn({
            let (dir, most, end) = (dir.clone(), most.clone(), end.clone());
            move || {
                while !end.load(Ordering::Relaxed) {
                    most.fetch_max(bytes_in(&dir), Ordering::Relaxed);
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
        });
        Watch { dir, most, end, thread: Some(thread) }
    }

    /// The most bytes that there were since the last call; there must be no file now.
    fn most(&self) -> u64 {
        assert_eq!(std::fs::read_dir(&self.dir).map_or(0, Iterator::count), 0, "temporary files stay behind");
        self.most.swap(0, Ordering::Relaxed)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Resident memory of the server, in megabytes.
fn resident(server: &Server) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{}/statm", server.pid())).unwrap();
    text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap() / 256
}

/// Number of rows of a query and a sum over all that is in them.
fn digest(client: &mut Client, query: &str) -> String {
    client.value(&format!(
        "select count(*) || ' rows, ' || coalesce(sum(hashtextextended(x::text, 0)::numeric), 0) from ({query}) x"
    ))
}

fn filled(rows: u64) -> (Server, Client) {
    let server = Server::start(&["statement_timeout=0", "shared_buffers=16MB"]);
    let mut client = server.client();
    let skewed = "case when n % 10 < 8 then 1 else n % 1000 end";
    for statement in [
        "create table t (k int, g int, s int, pad text, w text)".to_string(),
        format!(
            "insert into t select n, n / 100, {skewed}, repeat(md5(n::text), 32), repeat(md5((n / 100)::text), 32)
             from generate_series(1, {rows}) n"
        ),
        "create function pads() returns table (k int, pad text) language sql as 'select k, pad from t'"
            .into(),
        "analyze t".into(),
    ] {
        client.query(&statement).unwrap();
    }
    (server, client)
}

#[test]
fn little_memory_gives_the_answers_of_much() {
    let rows = knob("STAMPEDE_SPILL_ROWS", 6500);
    let (server, mut client) = filled(rows);
    let watch = Watch::new(&server);
    let before = resident(&server);
    let merge = "set enable_hashjoin = off; set enable_hashagg = off";
    let plans = [("set enable_mergejoin = off", QUERIES), (merge, MERGED)];
    for (settings, queries) in plans {
        let mut little = server.connect(&[("work_mem", "64kB")]).unwrap();
        little.query(settings).unwrap();
        client.query("reset all; set work_mem = '1GB'").unwrap();
        client.query(settings).unwrap();
        for query in queries {
            let answer = digest(&mut little, query);
            let spilled = watch.most();
            let grown = resident(&server).saturating_sub(before);
            println!("{query}: {answer}, {} kB in files, {grown} MB more", spilled / 1024);
            assert!(spilled > rows * 10, "{query}: only {spilled} bytes in temporary files");
            assert!(grown < 100, "{query}: {grown} MB more");
            if rows <= 20_000 {
                assert_eq!(answer, digest(&mut client, query), "{query}");
                watch.most();
            }
        }
    }
}

#[test]
fn files_go_with_the_statement_however_it_ends() {
    let (server, mut client) = filled(6500);
    let watch = Watch::new(&server);
    client.query("set work_mem = '64kB'").unwrap();
    let failing = "select a.pad from t a join t b on a.k = b.k order by 1, 1 / (a.k - 6499)";
    assert_eq!(client.error(failing), "22012 division by zero");
    assert!(watch.most() > 0);
    // A cancelled statement.
    client.query("set statement_timeout = '300ms'").unwrap();
    let long = "select count(*) from (select a.pad, b.k from t a, t b order by 1, 2) x";
    assert_eq!(client.error(long), "57014 canceling statement due to statement timeout");
    assert!(watch.most() > 0);
    // A cursor that is closed early, one that goes back, and one that outlives its transaction.
    client.query("reset statement_timeout; begin").unwrap();
    client.query("declare c cursor for select * from t order by pad; fetch 3 from c").unwrap();
    client.query("close c").unwrap();
    assert!(watch.most() > 0);
    client.query("declare c scroll cursor for select k from t order by k; move last from c").unwrap();
    assert_eq!(client.value("fetch absolute 777 from c"), "777");
    client.query("declare h scroll cursor with hold for select k, pad from t order by k; commit").unwrap();
    assert_eq!(client.value("fetch absolute 5432 from h"), "5432");
    assert_eq!(client.value("fetch backward 4 from h"), "5431");
    client.query("close h").unwrap();
    assert!(watch.most() > 0);
    // A session that goes away in the middle.
    let mut other = server.connect(&[("work_mem", "64kB")]).unwrap();
    other.query("begin; declare c cursor for select * from t order by pad; fetch 3 from c").unwrap();
    drop(other);
    crate::support::until("the files of the session are gone", || bytes_in(&watch.dir) == 0);
}
