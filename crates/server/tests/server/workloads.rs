//! The workloads and settings that the discussions behind Stampede's mechanisms were held with: many readers, fill factors and crash
//! recovery, failing subtransactions, rows that many transactions share, two-phase commit. All with PostgreSQL's own programs.

use std::fs;
use std::process::Output;

use crate::support::{Client, Server, has, output, text};

fn succeeded(done: &Output, server: &Server) -> String {
    let said = text(done);
    assert!(done.status.success(), "{said}\n{}", server.log());
    said
}

/// Runs `pgbench -n` with scripts of these texts, named `script0`, `script1`, …; none of the transactions may fail.
fn pgbench(server: &Server, arguments: &[&str], scripts: &[&str]) -> String {
    for (number, script) in scripts.iter().enumerate() {
        fs::write(server.file(&format!("script{number}")), script).unwrap();
    }
    let mut pgbench = server.tool("pgbench");
    let said = succeeded(&output(pgbench.arg("-n").args(arguments)), server);
    assert!(said.contains("number of failed transactions: 0 (0.000%)"), "{arguments:?}: {said}");
    said
}

/// What psql prints of a script, without alignment.
fn psql(server: &Server, script: &str) -> String {
    fs::write(server.file("script.sql"), script).unwrap();
    let mut psql = server.tool("psql");
    psql.args(["-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-f", "script.sql"]);
    succeeded(&output(&mut psql), server)
}

fn pg_ctl(server: &Server, arguments: &[&str]) {
    let mut pg_ctl = server.program("pg_ctl");
    succeeded(&output(pg_ctl.args(arguments).arg("-w").arg("-D").arg(server.data())), server);
}

fn sum(client: &mut Client) -> String {
    client.value("select count(*) || ' ' || sum(hits) from pages")
}

#[test]
fn settings_mean_what_they_say() {
    let settings = [
        ("shared_buffers=20MB", "20MB"),
        ("max_connections=300", "300"),
        ("checkpoint_segments=2", "2"),
        ("checkpoint_timeout=15min", "15min"),
        ("max_wal_size=100GB", "100GB"),
        ("max_prepared_transactions=7", "7"),
        ("old_snapshot_threshold=60min", "1h"),
        ("multixact_offset_buffers=32", "256kB"),
        ("multixact_member_buffers=64", "512kB"),
        ("subtransaction_buffers=32", "256kB"),
        ("transaction_buffers=32", "256kB"),
    ];
    let mut server = Server::init(&["--wal-segsize=1"]);
    settings.iter().for_each(|(setting, _)| server.set_option(setting));
    server.run();
    let mut client = server.client();
    for (setting, shown) in settings {
        let name = setting.split('=').next().unwrap();
        assert_eq!(client.value(&format!("show {name}")), shown);
        let context = client.value(&format!("select context from pg_settings where name = '{name}'"));
        let reloaded = matches!(name, "checkpoint_timeout" | "max_wal_size");
        assert_eq!(context, if reloaded { "sighup" } else { "postmaster" }, "{name}");
    }
    // Two files of the log are full long before the time and the size that were given.
    client.query("create table filler as select repeat('x', 1000) from generate_series(1, 4000)").unwrap();
    server.wait_for_log("checkpoint starting: wal");
}

#[test]
fn updates_of_loose_pages_are_recovered_and_vacuumed() {
    if !has("pgbench") {
        return;
    }
    let mut server = Server::start(&["checkpoint_timeout=1h", "max_wal_size=100GB"]);
    let mut client = server.client();
    client.query("create table pages (page int primary key, hits int not null) with (autovacuum_enabled = false, fillfactor = 85)").unwrap();
    client.query("insert into pages select p, 0 from generate_series(1, 5000) p; create table noted (at pg_lsn not null)").unwrap();
    client.query("insert into noted values (pg_current_wal_lsn())").unwrap();
    let script = "\\set page random(1, 5000)\nupdate pages set hits = hits + 1 where page = :page;\n";
    pgbench(&server, &["-f", "script0", "-t", "100", "-c", "20", "-j", "20", "-M", "prepared"], &[script]);
    let used = "select pg_size_pretty(pg_wal_lsn_diff(pg_current_wal_lsn(), at)) from noted limit 1";
    assert!(client.value(used).ends_with(" kB"), "{}", client.value(used));
    assert_eq!(sum(&mut client), "5000 2000");
    pg_ctl(&server, &["stop", "-m", "immediate"]);
    server.wait();
    server.run();
    let mut client = server.client();
    assert_eq!(sum(&mut client), "5000 2000");
    server.wait_for_log(" system usage: CPU: user: ");
    client.query("vacuum pages").unwrap();
    pgbench(&server, &["-f", "script0", "-t", "100", "-c", "20", "-j", "2", "-M", "prepared"], &[script]);
    assert_eq!(sum(&mut client), "5000 4000");
    drop(client);
    pg_ctl(&server, &["stop", "-m", "smart"]);
    assert!(server.wait().success());
}

#[test]
fn scripts_are_mixed_by_weight() {
    if !has("pgbench") {
        return;
    }
    let server = Server::start(&["max_prepared_transactions=10"]);
    succeeded(&output(server.tool("pgbench").args(["-i", "-s", "1"])), &server);
    let mut client = server.client();
    client.query("create table short (n int)").unwrap();
    let xid = "select txid_current();\n";
    let short = "insert into short values (1);\n";
    let two_phases = "\\set aid random(1, 100000)\nbegin;\nupdate pgbench_accounts set abalance = abalance + 1 where aid = :aid;\n\
                      prepare transaction 'client:client_id';\ncommit prepared 'client:client_id';\n";
    let many = "\\set a random(1, 100000)\n\\set b random(1, 100000)\nbegin;\nselect abalance from pgbench_accounts where aid = :a;\n\
                select abalance from pgbench_accounts where aid = :b;\n\
                update pgbench_accounts set abalance = abalance - 1 where aid = :a;\nend;\n";
    let scripts = [xid, short, two_phases, many];
    let (clients, all) =
        (["-c", "8", "-j", "2", "-t", "40", "-P", "1"], "number of transactions actually processed: 320/320");
    let run = |more: &[&str]| {
        let arguments: Vec<&str> = clients.iter().chain(more).copied().collect();
        let said = pgbench(&server, &arguments, &scripts);
        assert!(said.contains(all), "{more:?}: {said}");
    };
    run(&["-S", "-M", "prepared"]);
    run(&["-f", "script0@1", "-f", "script1@2", "-f", "script3@3", "-M", "prepared"]);
    run(&["-b", "tpcb-like@1", "-b", "select-only@9", "-M", "extended"]);
    // pgbench puts variables into strings in this mode only.
    run(&["-f", "script2@1", "-b", "tpcb-like@9", "-M", "simple"]);
    run(&["-f", "script2@1", "-b", "select-only@9", "-M", "simple"]);
    run(&["-f", "script2", "-M", "simple"]);
    assert_eq!(client.value("select count(*) from pg_prepared_xacts"), "0");
    let (done, deltas) =
        ("select count(*) > 0 from pgbench_history", "select sum(bbalance) from pgbench_branches");
    assert_eq!(client.value(done), "t");
    assert_eq!(client.value(deltas), client.value("select sum(delta) from pgbench_history"));
}

/// Definitions that fail again and again, in one transaction: their rows are known to be dead, so the next one is not slower.
const FAILING: &str = "
do $outer$
begin
  for i in 1 .. 300 loop
    begin
      execute $text$create or replace function broken() returns void language plpgsql as $body$ begin nothing here; end; $body$;$text$;
    exception when others then
    end;
  end loop;
end;
$outer$;
select count(*) from pg_proc where proname = 'broken';
";

/// Rows of failed subtransactions leave an index that is searched as it was.
const ROLLED_BACK: &str = "
begin;
set local enable_seqscan = false;
set local enable_indexonlyscan = false;
set local enable_bitmapscan = false;
create table tried (id int, note text);
create index tried_id on tried (id);
insert into tried values (0, 'an index with a root');
select pg_relation_size('tried_id') as before \\gset
do $$
begin
  for i in 1 .. 60 loop
    begin
      if exists (select from tried where id between 1 and 200) then
        raise data_corrupted using message = 'a row came back';
      end if;
      insert into tried select g, 'for a moment' from generate_series(1, 200) g;
      raise reading_sql_data_not_permitted using message = 'once more';
    exception when reading_sql_data_not_permitted then
    end;
  end loop;
end;
$$;
select 'grew', :before, pg_relation_size('tried_id') where :before != pg_relation_size('tried_id');
rollback;
";

/// Nothing built in is noted as pinned; what a mapped catalog's file is called is nobody's business.
const CATALOGS: &str = "
vacuum full pg_depend;
select count(*), bool_and(pg_relation_size(oid) > 0) from (
  select oid from pg_class where relfilenode <> 0 order by pg_relation_size(oid) desc limit 10) largest;
delete from pg_depend where deptype = 'p' and refobjid <> 0 and refobjid < 10000;
select classid::regclass, objid, refclassid::regclass, deptype from pg_depend where deptype = 'p';
select relname, pg_relation_filenode(oid) = oid, pg_filenode_relation(reltablespace, oid) from pg_class
  where relfilenode = 0 and relname in ('pg_class', 'pg_database', 'pg_proc_oid_index', 'pg_depend', 'pg_views') order by relname collate \"C\";
";

#[test]
fn subtransactions_fail_and_catalogs_stay_small() {
    if !has("psql") {
        return;
    }
    let server = Server::start(&[]);
    assert_eq!(psql(&server, FAILING), "0\n");
    assert_eq!(psql(&server, ROLLED_BACK), "");
    assert_eq!(
        psql(&server, CATALOGS),
        "10|t\npg_class|t|pg_class\npg_database|t|pg_database\npg_proc_oid_index|t|pg_proc_oid_index\npg_views||\n"
    );
}

#[test]
fn sets_of_rows_are_shared_by_many() {
    if !has("pgbench") {
        return;
    }
    let server = Server::start(&["multixact_offset_buffers=16", "multixact_member_buffers=16"]);
    let mut client = server.client();
    client.query("create table shared (id int primary key)").unwrap();
    client.query("insert into shared select generate_series(1, 2000, 1)").unwrap();
    let script = "\\set a random(1, 2000)\n\\set b random(1, 2000)\n\\set c random(1, 2000)\nbegin;\n\
                  select * from shared where id = any (array[:a, :b, :c]::int[]) for share;\n\
                  select count(*) from (select from shared where id between :a and :a + 20 for share) locked;\nend;\n";
    for mode in ["simple", "prepared"] {
        pgbench(&server, &["-f", "script0", "-c", "7", "-j", "2", "-t", "30", "-M", mode], &[script]);
    }
    let busy = "select count(*) from (select pid, wait_event, wait_event_type, state, query from pg_stat_activity \
                where backend_type = 'client backend' order by 1) activity";
    assert_eq!(client.value(busy), "1");
    assert_eq!(client.value("select count(*) from (select from shared for update) free"), "2000");
}
