//! Settings of sessions.

use super::Effect::{Ends, Logs, Refuses, Seen, Silences, Tells};
use super::{Row, client_with, locked_together, lockers, see, transcript};
use crate::support::client::message;
use crate::support::{Client, Failure, Server, until};

/// What the rows' statements find.
const TABLES: &str = "
    create table t (a int primary key, b int, c text);
    insert into t select i, i % 10, 'x' || i from generate_series(1, 5000) i;
    create index t_b on t (b);
    create table u (a int primary key, b int);
    insert into u select i, i from generate_series(1, 2000) i;
    create table w1 as select i as a, i as b from generate_series(1, 1000) i;
    create table w2 as select i as a, i as b from generate_series(1, 10) i;
    create table w3 as select i % 5 as a, i as b from generate_series(1, 5000) i;
    create table w4 as select i % 5 as a from generate_series(1, 5000) i; analyze w4;
    create table p (a int) partition by list (a);
    create table p1 partition of p for values in (1);
    create table p2 partition of p for values in (2);
    create view v as select 1 as one;
    create schema other;
    create role maker createrole;
    create table held (a int);
    create table first (); create table second ();
    create function f(int) returns int language plpgsql as 'begin return $1; end';
    create function deep(n int) returns int language plpgsql as
        'begin if n = 0 then return 0; end if; return deep(n - 1); end';
    create table fires (a int);
    create function told() returns trigger language plpgsql as 'begin raise notice $$fired$$; return new; end';
    create trigger tells before insert on fires for each row execute function told()";

const FROM_WRITTEN: &str =
    "explain (costs off) select * from w2, (select w3.a, w1.b from w3, w1) s where w2.a = s.a and w2.b = s.b";
const COUNTED: &str = "select * from f(1);;select pg_stat_force_next_flush();;select 'calls ' || calls from pg_stat_user_functions where funcname = 'f'";

pub const ROWS: &[Row] = &[
    // How values are read and written.
    ("DateStyle", Tells("German", "select date '2020-02-01'", "01.02.2020")),
    ("IntervalStyle", Tells("iso_8601", "select interval '1 day'", "P1D")),
    ("TimeZone", Tells("Asia/Tokyo", "select timestamptz 'epoch'", "09:00:00+09")),
    (
        "timezone_abbreviations",
        Tells(
            "Australia",
            "set timezone = 'UTC';;select timestamptz '2020-01-01 00:00 EST'",
            "2019-12-31 14:00",
        ),
    ),
    ("backslash_quote", Tells("off", "select E'\\''", "22P06 unsafe use of \\' in a string literal")),
    ("array_nulls", Tells("off", "select '{null}'::text[]", "{\"null\"}")),
    ("xmlbinary", Tells("hex", "select xmlforest('bar'::bytea as a)", "<a>626172</a>")),
    ("xmloption", Tells("document", "select xml 'a'", "2200M invalid XML document")),
    ("bytea_output", Tells("escape", "select 'ab'::bytea", "ab")),
    ("client_encoding", Tells("SQL_ASCII", "select pg_client_encoding()", "SQL_ASCII")),
    ("extra_float_digits", Tells("-10", "select 1.23456789::float8", "1.2346")),
    (
        "icu_validation_level",
        Tells(
            "notice",
            "create collation odd (provider = icu, locale = 'nonsense');;drop collation odd",
            "NOTICE 22023 ICU locale \"nonsense\" has unknown language",
        ),
    ),
    ("default_text_search_config", Tells("german", "select to_tsvector('katzen')", "'katz':1")),
    ("gin_fuzzy_search_limit", Tells("10", FUZZY, "some")),
    ("gin_pending_list_limit", Tells("64", PENDING, "few")),
    ("lc_messages", Refuses("de_DE.UTF-8", "0A000")),
    ("lc_monetary", Refuses("de_DE.UTF-8", "0A000")),
    ("lc_numeric", Refuses("de_DE.UTF-8", "0A000")),
    ("lc_time", Refuses("de_DE.UTF-8", "0A000")),
    // How statements go.
    (
        "allow_system_table_mods",
        Tells("on", "begin; create table pg_catalog.made (); rollback", "CREATE TABLE"),
    ),
    (
        "application_name",
        Tells("me", "select application_name from pg_stat_activity where pid = pg_backend_pid()", "me"),
    ),
    (
        "check_function_bodies",
        Tells(
            "off",
            "begin; create function g() returns int language sql as 'select nonsense'; rollback",
            "CREATE FUNCTION",
        ),
    ),
    ("client_min_messages", Tells("log", "do 'begin raise log $$heard$$; end'", "heard")),
    (
        "createrole_self_grant",
        Tells(
            "set, inherit",
            "begin; set local role maker; create role made; select count(*) || ' grants' from pg_auth_members where roleid = 'made'::regrole and member = 'maker'::regrole; rollback",
            "2 grants",
        ),
    ),
    ("default_table_access_method", Refuses("other", "Table access method \"other\" does not exist.")),
    ("temp_tablespaces", Refuses("other", "tablespace \"other\" does not exist")),
    ("default_tablespace", Refuses("other", "Tablespace \"other\" does not exist.")),
    (
        "allow_in_place_tablespaces",
        Tells(
            "on",
            "create tablespace here location '';;select 'at ' || pg_tablespace_location(oid) from pg_tablespace where spcname = 'here';;drop tablespace here",
            "at pg_tblspc/",
        ),
    ),
    (
        "default_toast_compression",
        Tells(
            "pglz",
            "create temp table z (a text); insert into z select repeat(md5(i::text), 500) from generate_series(1, 400) i; select 'large ' || (pg_relation_size('z') > 80000) from z limit 1",
            "large true",
        ),
    ),
    (
        "default_transaction_isolation",
        Tells("repeatable read", "show transaction_isolation", "repeatable read"),
    ),
    ("default_transaction_deferrable", Tells("on", "show transaction_deferrable", "on")),
    ("default_transaction_read_only", Tells("on", "create table made ()", "25006")),
    ("exit_on_error", Tells("on", "select 1 / 0", "FATAL 22012 division by zero")),
    ("local_preload_libraries", Seen(a_plugin)),
    (
        "lo_compat_privileges",
        Tells(
            "on",
            "begin; select lo_create(77); set local role maker; select 'read ' || length(lo_get(77)); rollback",
            "read 0",
        ),
    ),
    ("max_stack_depth", Tells("100", "select deep(500)", "54001")),
    (
        "md5_password_warnings",
        Silences(
            "off",
            "begin; create role made password 'md5aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'; rollback",
            "MD5",
        ),
    ),
    (
        "password_encryption",
        Tells(
            "md5",
            "begin; create role made password 'x'; select left(rolpassword, 3) from pg_authid where rolname = 'made'; rollback",
            "md5\n",
        ),
    ),
    (
        "restrict_nonsystem_relation_kind",
        Tells("view", "select * from v", "access to non-system view \"v\" is restricted"),
    ),
    (
        "row_security",
        Tells(
            "off",
            "begin; create role hidden_from; create table hides as select 1; grant select on hides to hidden_from; \
             alter table hides enable row level security; set local role hidden_from; select * from hides; rollback",
            "42501 query would be affected by row-level security policy for table \"hides\"",
        ),
    ),
    (
        "scram_iterations",
        Tells(
            "1234",
            "begin; create role made password 'x'; select rolpassword from pg_authid where rolname = 'made'; rollback",
            "SCRAM-SHA-256$1234:",
        ),
    ),
    ("quote_all_identifiers", Tells("on", "select pg_get_viewdef('v')", "1 AS \"one\"")),
    ("search_path", Tells("other", "select current_schema()", "other")),
    ("session_replication_role", Silences("replica", "insert into fires values (1)", "fired")),
    ("stats_fetch_consistency", Seen(statistics_within_a_transaction)),
    (
        "transform_null_equals",
        Tells("on", "select 'same: ' || count(*) from (values (null::int)) v (x) where x = null", "same: 1"),
    ),
    // PL/pgSQL.
    ("plpgsql.check_asserts", Silences("off", "do 'begin assert false; end'", "P0004")),
    (
        "plpgsql.extra_errors",
        Tells("too_many_rows", "do 'declare x int; begin select a into x from t; end'", "ERROR P0003"),
    ),
    (
        "plpgsql.extra_warnings",
        Tells(
            "shadowed_variables, strict_multi_assignment",
            "do 'declare x int; begin select 1, 2 into x; end'",
            "WARNING 42804 number of source and target fields in assignment does not match",
        ),
    ),
    (
        "plpgsql.print_strict_params",
        Tells(
            "on",
            "do 'declare n int = 0; x int; begin select a into strict x from t where a = n; end'",
            "parameters: n = '0'",
        ),
    ),
    (
        "plpgsql.variable_conflict",
        Tells(
            "use_column",
            "do 'declare a int = 7; x int; begin select a into x from u where b = 1; raise notice $$found %$$, x; end'",
            "found 1",
        ),
    ),
    // Time that passes.
    ("client_connection_check_interval", Seen(a_lost_client)),
    ("deadlock_timeout", Seen(a_deadlock)),
    ("idle_in_transaction_session_timeout", Seen(idle_in_a_transaction)),
    ("idle_session_timeout", Seen(idle)),
    ("wal_sender_timeout", Seen(a_silent_receiver)),
    ("log_replication_commands", Seen(replication_commands)),
    ("lock_timeout", Seen(locked_out)),
    ("statement_timeout", Ends("10", "select pg_sleep(1000000)", "57014")),
    ("transaction_timeout", Ends("10", "select pg_sleep(1000000)", "25P04")),
    // Plans.
    ("cpu_index_tuple_cost", Tells("1", "explain select * from t where a < 10", "17.27")),
    ("cpu_operator_cost", Tells("1", "explain select * from t where b + 1 = 3", "..10078.00")),
    ("cpu_tuple_cost", Tells("1", "explain select * from t", "..5028.00")),
    (
        "cursor_tuple_fraction",
        Tells(
            "1",
            "set random_page_cost = 20;;explain (costs off) declare c cursor for select * from t order by b",
            "Sort",
        ),
    ),
    (
        "default_statistics_target",
        Tells(
            "10",
            "analyze t;;select array_length(histogram_bounds::text::text[], 1) || ' bounds' from pg_stats where tablename = 't' and attname = 'a'",
            "11 bounds",
        ),
    ),
    (
        "effective_cache_size",
        Tells("1", "explain select * from t join u on t.a = u.b where u.a < 13", "Hash Join"),
    ),
    ("enable_bitmapscan", Silences("off", "explain select * from t where b = 3", "Bitmap")),
    ("enable_hashagg", Silences("off", "explain select b, count(*) from t group by b", "HashAggregate")),
    ("enable_hashjoin", Silences("off", "explain select * from t join u on t.b = u.b", "Hash Join")),
    (
        "enable_incremental_sort",
        Silences("off", "explain select * from (select * from t order by a) s order by a, b", "Incremental"),
    ),
    (
        "enable_group_by_reordering",
        Silences(
            "off",
            "set enable_hashagg = off; set enable_seqscan = off; explain select count(*) from t group by c, b",
            "Presorted Key: b",
        ),
    ),
    ("enable_presorted_aggregate", Silences("off", "explain select array_agg(a order by b) from u", "Sort")),
    ("enable_indexonlyscan", Silences("off", "explain select a from t where a < 10", "Index Only Scan")),
    ("enable_indexscan", Silences("off", "explain select * from t where a = 10", "Index Scan using")),
    ("enable_material", Silences("off", "explain select * from u, u u2 where u.b + u2.b = 3", "Materialize")),
    (
        "enable_memoize",
        Silences(
            "off",
            "set enable_hashjoin = off; set enable_mergejoin = off; explain select * from w4 join u on w4.a = u.a",
            "Memoize",
        ),
    ),
    (
        "enable_mergejoin",
        Silences(
            "off",
            "set enable_hashjoin = off; explain select * from t join u on t.a = u.a",
            "Merge Join",
        ),
    ),
    ("enable_nestloop", Tells("off", "explain select * from t, u where t.b < u.b", "Disabled: true")),
    ("enable_partition_pruning", Tells("off", "explain select * from p where a = 1", "p2")),
    (
        "enable_partitionwise_join",
        Tells("on", "explain select * from p x join p y on x.a = y.a", "(x_1.a = y_1.a)"),
    ),
    (
        "stampede.batch_execution",
        Silences("off", "explain (analyze, verbose) select count(*) from w3 where b > 3", "Row Batches"),
    ),
    ("enable_seqscan", Tells("off", "explain select * from t", "Disabled: true")),
    ("enable_sort", Tells("off", "explain select * from t order by c", "Disabled: true")),
    ("enable_tidscan", Tells("off", "explain select * from t where ctid = '(0,1)'", "Disabled: true")),
    ("from_collapse_limit", Tells("1", FROM_WRITTEN, "Hash Cond: ((w3.a = w2.a) AND (w1.b = w2.b))")),
    (
        "geqo_threshold",
        Tells(
            "2",
            "explain (costs off) select * from w1, w2, w3 where w1.a = w2.a and w2.b = w3.b and w3.a = w1.b",
            "Hash Cond: ((w3.b = w2.b) AND (w3.a = w1.b))",
        ),
    ),
    (
        "hash_mem_multiplier",
        Tells(
            "1000",
            "set work_mem = 64; explain (analyze, costs off, timing off) select * from t t1 join t t2 on t1.c = t2.c",
            "Batches: 1 ",
        ),
    ),
    (
        "join_collapse_limit",
        Tells(
            "1",
            "explain (costs off) select * from w3 cross join w1 join w2 on w2.a = w3.a and w2.b = w1.b",
            "Hash Cond: ((w3.a = w2.a) AND (w1.b = w2.b))",
        ),
    ),
    (
        "plan_cache_mode",
        Tells(
            "force_generic_plan",
            "prepare s (int) as select * from t where a = $1; explain execute s(1)",
            "$1",
        ),
    ),
    ("random_page_cost", Tells("1000", "explain select * from t where a = 10", "Seq Scan")),
    ("seq_page_cost", Tells("100", "explain select * from u", "..920.00")),
    (
        "work_mem",
        Tells("64", "explain (analyze, costs off, timing off) select * from t order by c", "external merge"),
    ),
    ("maintenance_work_mem", Seen(memory_of_an_index)),
    // The transaction that runs.
    ("transaction_isolation", Seen(isolation)),
    ("transaction_deferrable", Seen(a_safe_snapshot)),
    (
        "transaction_read_only",
        Ends("off", "begin; set transaction_read_only = on; create table made (); rollback", "25006"),
    ),
    // VACUUM.
    ("vacuum_freeze_min_age", Seen(rows_beside_one_that_is_being_made)),
    ("vacuum_multixact_freeze_min_age", Seen(ended_lockers)),
    (
        "vacuum_truncate",
        Tells(
            "off",
            "create table z as select generate_series(1, 1000); delete from z;;vacuum z;;select 'size ' || pg_relation_size('z');;drop table z",
            "size 40960",
        ),
    ),
    ("vacuum_buffer_usage_limit", Seen(a_ring_for_vacuum)),
    (
        "max_parallel_maintenance_workers",
        Tells("1", INDEXED_WITH_SMALL, "launched 1 parallel vacuum worker for index vacuuming (planned: 1)"),
    ),
    (
        "max_parallel_workers",
        Tells("1", INDEXED_WITH_SMALL, "launched 1 parallel vacuum worker for index vacuuming (planned: 2)"),
    ),
    (
        "min_parallel_index_scan_size",
        Tells("0", INDEXED, "launched 2 parallel vacuum workers for index vacuuming (planned: 2)"),
    ),
    (
        "min_parallel_table_scan_size",
        Tells("0", INDEXED_WITH_WORDS, "on table \"z\" with request for 1 parallel workers"),
    ),
    ("max_parallel_workers_per_gather", Silences("0", COUNTED_TOGETHER, "Gather")),
    ("debug_parallel_query", Tells("on", "explain select * from t", "Single Copy: true")),
    ("enable_gathermerge", Silences("off", SORTED_TOGETHER, "Gather Merge")),
    ("parallel_setup_cost", Tells("0", READ_IN_PARTS, "Partial Aggregate")),
    ("parallel_tuple_cost", Tells("0", COUNTED_TOGETHER, "rows=2083 width=4")),
    ("parallel_leader_participation", Tells("off", COUNTED_TOGETHER, "rows=2500 width=0")),
    ("vacuum_cost_page_miss", Seen(a_price_of_reading)),
    ("track_cost_delay_timing", Tells("on", PACED, "delay time: ")),
    ("vacuum_cost_delay", Silences("1ms", PACED_FROM_ONE, "delay time: 0.000 ms")),
    ("vacuum_cost_limit", Tells("10000", PACED_BY_HITS, "delay time: 0.000 ms")),
    ("vacuum_cost_page_hit", Silences("10000", PACED_BY_OTHERS, "delay time: 0.000 ms")),
    ("vacuum_cost_page_dirty", Silences("10000", PACED_BY_OTHERS, "delay time: 0.000 ms")),
    (
        "temp_file_limit",
        Tells("64", "set work_mem = 64; select * from t order by c", "temporary file size exceeds"),
    ),
    // What is counted.
    ("compute_query_id", Tells("on", "explain (verbose, costs off) select 1", "Query Identifier")),
    (
        "track_counts",
        Silences(
            "off",
            "create table z (); insert into z default values;;select pg_stat_force_next_flush();;select 'inserted ' || n_tup_ins from pg_stat_user_tables where relname = 'z';;drop table z",
            "inserted 1",
        ),
    ),
    (
        "track_activities",
        Tells("off", "select state from pg_stat_activity where pid = pg_backend_pid()", "disabled"),
    ),
    ("track_functions", Tells("all", COUNTED, "calls ")),
    (
        "track_wal_io_timing",
        Tells(
            "on",
            "insert into held values (1);;insert into held values (2);;select 'timed ' || (sum(write_time) + sum(fsync_time) > 0) from pg_stat_io where object = 'wal'",
            "timed true",
        ),
    ),
    // The log.
    ("log_duration", Logs("on", "select 1", "LOG:  duration: ")),
    ("log_error_verbosity", Logs("verbose", "select 1 / 0", "ERROR:  22012: division by zero")),
    ("log_min_duration_statement", Logs("0", "select 1", "ms  statement: select 1")),
    ("log_min_error_statement", Logs("notice", "do 'begin raise warning $$w$$; end'", "STATEMENT:  do")),
    ("log_min_messages", Logs("notice", "do 'begin raise notice $$noted$$; end'", "NOTICE:  noted")),
    ("log_parameter_max_length", Seen(parameters_in_the_log)),
    ("log_parameter_max_length_on_error", Seen(parameters_of_errors)),
    ("log_lock_waits", Seen(long_waits)),
    ("log_min_duration_sample", Logs("0", "select 1", "ms  statement: select 1")),
    ("log_statement_sample_rate", Seen(samples)),
    ("log_transaction_sample_rate", Logs("1", "select 1", "ms  statement: select 1")),
    (
        "log_temp_files",
        Logs("0", "set work_mem = 64; select * from t order by c", "LOG:  temporary file: path"),
    ),
    ("log_statement", Logs("all", "select 1", "LOG:  statement: select 1")),
    // Roles and chance.
    ("role", Tells("maker", "select current_user", "maker")),
    ("seed", Seen(seed)),
    ("session_authorization", Tells("maker", "select session_user", "maker")),
];

#[test]
fn what_sessions_set() {
    let server = Server::start(&["log_line_prefix="]);
    server.client().query(TABLES).unwrap();
    server.client().query("vacuum analyze").unwrap();
    let mut failed = Vec::new();
    for row in ROWS {
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| see(&server, row)));
        if done.is_err() {
            failed.push(row.0);
        }
    }
    assert!(failed.is_empty(), "without the effect that is named: {failed:?}");
}

/// Plans of a table that two workers are to help with.
const READ_IN_PARTS: &str = "create table z with (parallel_workers = 2) as select g a from generate_series(1, 5000) g;;analyze z;;explain select count(*) from z;;explain select a from z;;drop table z";
const COUNTED_TOGETHER: &str = "create table z with (parallel_workers = 2) as select g a from generate_series(1, 5000) g;;analyze z;;set parallel_setup_cost = 0;;explain select count(*) from z;;explain select a from z;;drop table z";

const SORTED_TOGETHER: &str = "create table z with (parallel_workers = 2) as select g a from generate_series(1, 5000) g;;analyze z;;set parallel_setup_cost = 0; set parallel_tuple_cost = 0;;explain select a from z order by a;;drop table z";

/// A search that finds each of a thousand rows.
const FUZZY: &str = "create table z as select array[1, g] a from generate_series(1, 1000) g;create index on z using gin (a);set enable_seqscan = off;;select case when count(*) < 500 then 'some' else 'all' end from z where a && '{1}';;drop table z";
/// How long the list of pending entries is after an INSERT that a short one has no room for.
const PENDING: &str = "create table z (a int[]);create index z_gin on z using gin (a);insert into z select array(select g * 10 + i from generate_series(1, 10) i) from generate_series(1, 3000) g;;select case when gin_clean_pending_list('z_gin') < 30 then 'few' else 'many' end;;drop table z";
/// VACUUM of a table of five pages.
const INDEXED: &str = "create table z as select g a, g b, g c from generate_series(1, 1000) g;create index on z (a);create index on z (b);create index on z (c);delete from z where a % 2 = 0;;vacuum (verbose) z;;drop table z";
const INDEXED_WITH_WORDS: &str = "set client_min_messages = debug;;create table z as select generate_series(1, 10) a;;create index on z (a);;drop table z";
const INDEXED_WITH_SMALL: &str = "set min_parallel_index_scan_size = 0;;create table z as select g a, g b, g c from generate_series(1, 1000) g;create index on z (a);create index on z (b);create index on z (c);delete from z where a % 2 = 0;;vacuum (verbose) z;;drop table z";
const PACED: &str = "create table z as select generate_series(1, 1000) g;;vacuum (verbose) z;;drop table z";
const PACED_FROM_ONE: &str = "set track_cost_delay_timing = on; set vacuum_cost_limit = 1;;create table z as select generate_series(1, 1000) g;;vacuum (verbose) z;;drop table z";
const PACED_BY_HITS: &str = "set track_cost_delay_timing = on; set vacuum_cost_delay = 1; set vacuum_cost_page_hit = 50;;create table z as select generate_series(1, 1000) g;;vacuum (verbose) z;;drop table z";
/// What the prices are of that are not set here is nothing, but for one of them.
const PACED_BY_OTHERS: &str = "set track_cost_delay_timing = on; set vacuum_cost_delay = 1; set vacuum_cost_limit = 10000;;create table z as select generate_series(1, 1000) g;;checkpoint;;vacuum (verbose) z;;drop table z";

/// VACUUM (VERBOSE) of a table none of whose pages is in the pool, with these settings; and the pages that VACUUM's rings took.
fn vacuum_of_a_cold_table(settings: &str) -> (String, String) {
    let mut server = Server::start(&[]);
    server.client().query("create table z as select generate_series(1, 1000) g").unwrap();
    server.stop();
    server.run();
    let mut client = server.client();
    let told = transcript(&mut client, &format!("{settings};;vacuum (verbose) z"));
    let read = "select sum(reads) from pg_stat_io where context = 'vacuum' and object = 'relation'";
    (told, client.value(read))
}

fn a_ring_for_vacuum(_: &Server) {
    for (value, through_it) in [("0", false), ("128kB", true)] {
        let (_, read) = vacuum_of_a_cold_table(&format!("set vacuum_buffer_usage_limit = '{value}'"));
        assert_eq!(read != "0", through_it, "{value}: {read}");
    }
}

fn a_price_of_reading(_: &Server) {
    for (price, sleeps) in [("2", false), ("10000", true)] {
        let settings = format!(
            "set track_cost_delay_timing = on; set vacuum_cost_delay = 1; set vacuum_cost_limit = 10000; set vacuum_cost_page_miss = {price}"
        );
        let (told, _) = vacuum_of_a_cold_table(&settings);
        assert_eq!(!told.contains("delay time: 0.000 ms"), sleeps, "{price}: {told}");
    }
}

fn pid(client: &mut Client) -> String {
    client.value("select pg_backend_pid()")
}

fn statistics_within_a_transaction(server: &Server) {
    let inserted = "select n_tup_ins from pg_stat_user_tables where relname = 'held'";
    let more = |client: &mut Client| {
        client.query("insert into held values (1)").unwrap();
        client.query("select pg_stat_force_next_flush()").unwrap();
    };
    let mut other = server.client();
    more(&mut other);
    for (value, moves) in [("cache", false), ("none", true)] {
        let mut client = client_with(server, "stats_fetch_consistency", value);
        client.query("begin").unwrap();
        let before = client.value(inserted);
        more(&mut other);
        assert_eq!(client.value(inserted) != before, moves, "{value}");
    }
}

fn a_lost_client(server: &Server) {
    let mut client = client_with(server, "client_connection_check_interval", "10");
    let there = format!("select count(*) from pg_stat_activity where pid = {}", pid(&mut client));
    client.send(&message(b'Q', b"select pg_sleep(1000000)\0")).unwrap();
    drop(client);
    let mut watcher = server.client();
    until("the lost client's session ends", || watcher.value(&there) == "0");
}

/// Two sessions that wait for each other: the first one's time to look decides which of them is told.
fn a_deadlock(server: &Server) {
    let mut patient = client_with(server, "deadlock_timeout", "1h");
    let mut hasty = client_with(server, "deadlock_timeout", "1");
    patient.query("begin; lock table first").unwrap();
    hasty.query("begin; lock table second").unwrap();
    patient.send(&message(b'Q', b"lock table second\0")).unwrap();
    until("the patient one waits", || {
        server.client().value("select count(*) from pg_locks where not granted") == "1"
    });
    assert_eq!(hasty.error("lock table first"), "40P01 deadlock detected");
}

/// The session is told that it has ended.
fn ends(mut client: Client, code: &str) {
    let (kind, body) = client.message().unwrap();
    assert!(kind == b'E' && String::from_utf8_lossy(&body).contains(code));
}

fn idle_in_a_transaction(server: &Server) {
    let mut client = client_with(server, "idle_in_transaction_session_timeout", "10");
    client.query("begin").unwrap();
    ends(client, "25P03");
}

fn idle(server: &Server) {
    ends(client_with(server, "idle_session_timeout", "10"), "57P05");
}

fn locked_out(server: &Server) {
    let mut holder = server.client();
    holder.query("begin; lock table held").unwrap();
    let mut client = client_with(server, "lock_timeout", "10");
    assert_eq!(client.error("select * from held"), "55P03 canceling statement due to lock timeout");
}

/// There are no libraries that anybody may load: who wants one does not get in.
fn a_plugin(server: &Server) {
    let refused = |list: &str| match server.connect(&[("local_preload_libraries", list)]) {
        Err(Failure::Error { code, message, .. }) => format!("{code} {message}"),
        _ => panic!("it came in"),
    };
    let missing = "58P01 could not access file \"$libdir/plugins/auto_explain\": No such file or directory";
    assert_eq!(refused("auto_explain"), missing);
    assert_eq!(refused("/tmp/other"), "42501 access to library \"/tmp/other\" is not allowed");
}

/// A deferrable transaction waits until those that may yet make its snapshot unsafe have ended.
fn a_safe_snapshot(server: &Server) {
    let mut writer = server.client();
    transcript(&mut writer, "begin isolation level serializable;;insert into w2 values (0, 0)");
    let look = |value: &str| {
        let begin = "set statement_timeout = '300ms';;begin isolation level serializable read only";
        let statements = format!(
            "{begin};;set transaction_deferrable = {value};;select 'rows ' || count(*) from w2;;rollback"
        );
        transcript(&mut server.client(), &statements)
    };
    assert!(look("off").contains("rows 10"), "{}", look("off"));
    assert!(look("on").contains("57014"), "{}", look("on"));
    transcript(&mut writer, "rollback");
    assert!(look("on").contains("rows 10"), "{}", look("on"));
}

fn memory_of_an_index(server: &Server) {
    let files = |value: &str| {
        let mut client = client_with(server, "maintenance_work_mem", value);
        let count = "select temp_files from pg_stat_database where datname = current_database()";
        let before: i64 = client.value(count).parse().unwrap();
        transcript(&mut client, "begin;;create index on t (c);;rollback;;select pg_stat_force_next_flush()");
        client.value(count).parse::<i64>().unwrap() - before
    };
    assert_eq!(files("64MB"), 0);
    assert!(files("64kB") > 0);
}

fn isolation(server: &Server) {
    let mut other = server.client();
    let mut client = server.client();
    for (level, sees) in [("read committed", true), ("repeatable read", false)] {
        client.query("begin").unwrap();
        client.query(&format!("set transaction_isolation = '{level}'")).unwrap();
        let before = client.value("select count(*) from held");
        other.query("insert into held values (1)").unwrap();
        assert_eq!(client.value("select count(*) from held") != before, sees, "{level}");
        client.query("commit").unwrap();
    }
}

/// Runs a statement with a parameter; what the log says of it.
fn logged_with_parameter(server: &Server, settings: &str, text: &str) -> String {
    let mut client = server.client();
    client.query(settings).unwrap();
    let start = server.log().len();
    let value = b"abcdef";
    let parse = message(b'P', &[b"\0", text.as_bytes(), b"\0\0\0"].concat());
    let bind = message(b'B', &[&b"\0\0\0\0\0\x01\0\0\0\x06"[..], value, b"\0\0"].concat());
    let rest = [message(b'E', b"\0\0\0\0\0"), message(b'S', b"")].concat();
    client.send(&[parse, bind, rest].concat()).unwrap();
    while client.message().unwrap().0 != b'Z' {}
    server.log()[start..].to_string()
}

fn parameters_in_the_log(server: &Server) {
    let all = "set log_statement = 'all'";
    let log = logged_with_parameter(server, all, "select $1::text");
    assert!(log.contains("DETAIL:  Parameters: $1 = 'abcdef'"), "{log}");
    let some = format!("{all}; set log_parameter_max_length = 2");
    let log = logged_with_parameter(server, &some, "select $1::text");
    assert!(log.contains("DETAIL:  Parameters: $1 = 'ab...'"), "{log}");
}

fn parameters_of_errors(server: &Server) {
    let failing = "select $1::text, 1 / (length($1) - 6)";
    let log = logged_with_parameter(server, "select 1", failing);
    assert!(log.contains("division by zero") && !log.contains("CONTEXT"), "{log}");
    let log = logged_with_parameter(server, "set log_parameter_max_length_on_error = 2", failing);
    assert!(log.contains("CONTEXT:  unnamed portal with parameters: $1 = 'ab...'"), "{log}");
}

/// A session that waits for long tells whom it waits for, and when it has its lock; one that ends a deadlock tells that.
fn long_waits(server: &Server) {
    let settings = [("options", "-c log_lock_waits=on -c deadlock_timeout=1")];
    let (mut holder, mut waiter) = (server.client(), server.connect(&settings).unwrap());
    let (first, second) = (pid(&mut holder), pid(&mut waiter));
    let relation = "select 'relation ' || 'held'::regclass::oid || ' of database ' || oid from pg_database where datname = current_database()";
    let relation = holder.value(relation);
    let start = server.log().len();
    holder.query("begin; lock table held").unwrap();
    waiter.send(&message(b'Q', b"select count(*) from held\0")).unwrap();
    let waits = format!("LOG:  process {second} still waiting for AccessShareLock on {relation} after ");
    until("the wait is told of", || server.log()[start..].contains(&waits));
    let log = server.log();
    let detail = format!("DETAIL:  Process holding the lock: {first}. Wait queue: {second}.\n");
    assert!(log.contains(&(detail + "STATEMENT:  select count(*) from held\n")), "{log}");
    holder.query("commit").unwrap();
    let acquired = format!("LOG:  process {second} acquired AccessShareLock on {relation} after ");
    until("the end of the wait is told of", || server.log()[start..].contains(&acquired));
    while waiter.message().unwrap().0 != b'Z' {}

    holder.query("set deadlock_timeout = '1h'; begin; lock table first").unwrap();
    waiter.query("begin; lock table second").unwrap();
    holder.send(&message(b'Q', b"lock table second\0")).unwrap();
    until("the other one waits", || {
        server.client().value("select count(*) from pg_locks where not granted") == "1"
    });
    waiter.error("lock table first");
    let deadlock = format!(
        "LOG:  process {second} detected deadlock while waiting for AccessExclusiveLock on relation "
    );
    until("the deadlock is told of", || server.log()[start..].contains(&deadlock));
}

/// Of many statements some are logged, but not all.
fn samples(server: &Server) {
    let mut client = server.client();
    client.query("set log_min_duration_sample = 0; set log_statement_sample_rate = 0.5").unwrap();
    let start = server.log().len();
    (0..200).for_each(|_| drop(client.query("select 1").unwrap()));
    let logged = server.log()[start..].matches("ms  statement: select 1").count();
    assert!((20..180).contains(&logged), "{logged}");
}

fn seed(server: &Server) {
    let numbers = |value: &str| client_with(server, "seed", value).value("select random()");
    assert_eq!(numbers("0.5"), numbers("0.5"));
    assert_ne!(numbers("0.5"), numbers("0.6"));
}

/// A page that cannot be frozen as a whole keeps the xids that are not old.
fn rows_beside_one_that_is_being_made(server: &Server) {
    let (mut client, mut other) = (server.client(), server.client());
    client.query("create table z (); insert into z default values").unwrap();
    other.query("begin; insert into z default values").unwrap();
    let running = other.value("select txid_current()");
    for (age, frozen) in [("1000000", false), ("0", true)] {
        client_with(server, "vacuum_freeze_min_age", age).query("vacuum z").unwrap();
        let oldest = client.value("select relfrozenxid from pg_class where relname = 'z'");
        assert_eq!(oldest == running, frozen, "{age}: {oldest}, {running}");
    }
    other.query("rollback").unwrap();
    client.query("drop table z").unwrap();
}

/// VACUUM takes a locker that has ended out of a set that lasts, once the set is old.
fn ended_lockers(_: &Server) {
    let server = Server::start(&["max_prepared_transactions=2"]);
    let before = locked_together(&server);
    for (age, kept) in [(1_000_000, true), (0, false)] {
        let mut client = client_with(&server, "vacuum_multixact_freeze_min_age", &age.to_string());
        transcript(&mut client, "vacuum locked");
        assert_eq!(lockers(&mut client) == before, kept, "{age}");
    }
}

/// A receiver of the log that says nothing is asked whether it is there, and then left.
fn a_silent_receiver(server: &Server) {
    let options = [("replication", "1"), ("options", "-c wal_sender_timeout=1s")];
    // From the end on: who still has log to send does not ask.
    let end = server.client().value("select pg_current_wal_lsn()");
    let mut client = server.connect(&options).unwrap();
    client.send(&message(b'Q', format!("START_REPLICATION {end}\0").as_bytes())).unwrap();
    let mut asked = false;
    while let Ok((kind, body)) = client.message() {
        asked |= kind == b'd' && body.first() == Some(&b'k') && body.last() == Some(&1);
    }
    assert!(asked);
}

fn replication_commands(server: &Server) {
    let logged = |value: &str| {
        let start = server.log().len();
        let options = format!("-c log_replication_commands={value}");
        let mut client = server.connect(&[("replication", "1"), ("options", &options)]).unwrap();
        client.query("IDENTIFY_SYSTEM").unwrap();
        server.log()[start..].contains("received replication command: IDENTIFY_SYSTEM")
    };
    assert_eq!((logged("on"), logged("off")), (true, false));
}
