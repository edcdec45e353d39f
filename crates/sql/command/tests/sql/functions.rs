//! Functions of SQL that look into the session and the catalogs.

use crate::support::Server;

#[test]
fn names_of_objects_follow_the_search_path() {
    let server = Server::new();
    let s = server.connect();
    assert_eq!(
        s.query("select 1259::oid::regclass, 23::regtype, 'pg_class'::regclass::oid"),
        "pg_class|integer|1259"
    );
    s.query("create schema other");
    s.query("create table other.\"My T\" (a int)");
    assert_eq!(s.query("select 'other.\"My T\"'::regclass"), "other.\"My T\"");
    s.query("set search_path = other");
    assert_eq!(s.query("select 'other.\"My T\"'::regclass"), "\"My T\"");
    assert_eq!(s.query("select 'nosuch'::regclass"), "ERROR:  relation \"nosuch\" does not exist");
    assert_eq!(s.query("select to_regclass('nosuch') is null, to_regclass('a b') is null"), "t|t");
    assert_eq!(s.query("select 'abs'::regproc"), "ERROR:  more than one function named \"abs\"");
    assert_eq!(
        s.query("select 'abs(int)'::regprocedure, '+(int4,int4)'::regoperator"),
        "abs(integer)|+(integer,integer)"
    );
    assert_eq!(
        s.query("select format_type(1043, 24), format_type(1700, 655366), format_type(0, null)"),
        "character varying(20)|numeric(10,2)|-"
    );
    assert_eq!(s.query("select pg_table_is_visible(1259), pg_table_is_visible(99999) is null"), "t|t");
    s.query("create temporary table passing (a int)");
    s.query("create index i on \"My T\" (a)");
    assert_eq!(
        s.query(
            "select pg_relation_is_publishable('\"My T\"'), pg_relation_is_publishable('passing'), \
             pg_relation_is_publishable('i'), pg_relation_is_publishable('pg_class'), \
             pg_relation_is_publishable(99999) is null"
        ),
        "t|f|f|f|t"
    );
}

#[test]
fn facts_of_the_session() {
    let server = Server::new();
    let s = server.connect();
    assert_eq!(
        s.query("select current_database(), current_schema(), current_schemas(true)"),
        "postgres|public|{pg_catalog,public}"
    );
    assert!(s.query("select version()").starts_with("PostgreSQL 18"));
    assert_eq!(
        s.query("select pg_backend_pid() > 0, pg_is_in_recovery(), pg_encoding_to_char(6)"),
        "t|f|UTF8"
    );
    assert_eq!(
        s.query("select set_config('work_mem', '8MB', false), current_setting('work_mem')"),
        "8MB|8MB"
    );
    assert_eq!(s.query("select current_setting('no.such', true) is null"), "t");
    assert_eq!(s.query("select pg_typeof(1), pg_typeof('x'::text)"), "integer|text");
    assert_eq!(
        s.query(
            "select txid_current_if_assigned() is null, txid_current() > 0, pg_current_wal_lsn() > '0/0'"
        ),
        "t|t|t"
    );
    assert_eq!(s.query("select pg_walfile_name('0/1000001')"), "000000010000000000000001");
}

#[test]
fn sizes_count_pages() {
    let server = Server::new();
    let s = server.connect();
    s.query("create table t (a int primary key)");
    s.query("insert into t values (1)");
    assert_eq!(s.query("select pg_relation_size('t'), pg_relation_size('t', 'main')"), "8192|8192");
    assert_eq!(
        s.query("select pg_total_relation_size('t') = pg_table_size('t') + pg_indexes_size('t')"),
        "t"
    );
    assert_eq!(
        s.query("select pg_relation_size(99999) is null, pg_database_size('postgres') > 100000"),
        "t|t"
    );
    assert_eq!(s.query("select pg_relation_filepath('t') like 'base/%'"), "t");
}

#[test]
fn advisory_locks_are_seen_and_let_go() {
    let server = Server::new();
    let (a, b) = (server.connect(), server.connect());
    assert_eq!(a.query("select pg_try_advisory_lock(7)"), "t");
    assert_eq!(b.query("select pg_try_advisory_lock(7), pg_try_advisory_lock(1, 2)"), "f|t");
    assert_eq!(b.query("select classid, objid, objsubid, mode, granted from pg_lock_status() where locktype = 'advisory' order by objsubid"), "0|7|1|ExclusiveLock|t\n1|2|2|ExclusiveLock|t");
    assert_eq!(a.query("select pg_advisory_unlock(7), pg_advisory_unlock(7)"), "t|f");
    assert_eq!(b.query("select pg_try_advisory_xact_lock(7)"), "t");
    assert_eq!(a.query("select pg_try_advisory_lock(7)"), "t");
}

#[test]
fn definitions_are_sql() {
    let server = Server::new();
    let s = server.connect();
    s.query(
        "create table d (a int primary key, b text collate \"C\", c int default 5 check (c > 0), unique (b))",
    );
    s.query("create index d_i on d (b nulls first, a desc) include (c) with (fillfactor = 70)");
    assert_eq!(
        s.query("select pg_get_indexdef('d_i'::regclass), pg_get_indexdef('d_i'::regclass, 2, false)"),
        "CREATE INDEX d_i ON public.d USING btree (b NULLS FIRST, a DESC) INCLUDE (c) WITH (fillfactor='70')|a"
    );
    assert_eq!(
        s.query("select conname, pg_get_constraintdef(oid) from pg_constraint where conrelid = 'd'::regclass and contype <> 'n' order by 1"),
        "d_b_key|UNIQUE (b)\nd_c_check|CHECK ((c > 0))\nd_pkey|PRIMARY KEY (a)"
    );
    assert_eq!(
        s.query("select pg_get_expr(adbin, adrelid) from pg_attrdef where adrelid = 'd'::regclass"),
        "5"
    );
    assert_eq!(
        s.query("select pg_get_function_arguments('pg_terminate_backend'::regproc), pg_get_function_result('pg_terminate_backend'::regproc)"),
        "pid integer, timeout bigint DEFAULT 0|boolean"
    );
}

#[test]
fn privileges_of_superuser_and_public() {
    let server = Server::new();
    let s = server.connect();
    assert_eq!(s.query("select has_table_privilege('pg_class', 'select, insert'), has_schema_privilege('public', 'usage')"), "t|t");
    assert_eq!(s.query("select has_table_privilege('public', 'pg_class', 'select'), has_table_privilege('public', 'pg_authid', 'select')"), "t|f");
    assert_eq!(
        s.query("select has_table_privilege('pg_class', 'foo')"),
        "ERROR:  unrecognized privilege type: \"foo\""
    );
    assert_eq!(s.query("select has_table_privilege(99999, 'select') is null"), "t");
    assert_eq!(
        s.query("select acldefault('r', 10), acldefault('d', 10)"),
        "{postgres=arwdDxtm/postgres}|{=Tc/postgres,postgres=CTc/postgres}"
    );
    assert_eq!(
        s.query("select grantee, privilege_type from aclexplode(acldefault('n', 10)) order by 2"),
        "10|CREATE\n10|USAGE"
    );
    assert_eq!(s.query("select pg_has_role('postgres', 'usage')"), "t");
}

#[test]
fn sessions_see_each_other() {
    let server = Server::new();
    let (a, b) = (server.connect(), server.connect());
    a.query("set application_name = 'first'");
    a.query("begin");
    a.query("select 42");
    assert_eq!(
        b.query("select application_name, state, query from pg_stat_get_activity(null) where pid <> pg_backend_pid()"),
        "first|idle in transaction|select 42"
    );
    assert_eq!(b.query("select pg_cancel_backend(99999)"), "f");
    drop(a);
    assert_eq!(b.query("select count(*) from pg_stat_get_activity(null)"), "1");
}

/// Every query of the system views answers, but for those that read other views and those whose function is refused.
#[test]
fn queries_of_the_system_views_run() {
    let server = Server::new();
    let s = server.connect();
    let mut answered = 0;
    let views = [
        include_str!("../../../catalog/src/system_views.sql"),
        include_str!("../../../catalog/src/statistics_views.sql"),
    ];
    for statement in views.iter().flat_map(|views| views.split(";\n")) {
        let Some((head, query)) = statement.split_once(" AS\n") else { continue };
        match s.run(query) {
            Ok(_) => answered += 1,
            Err(error) => {
                let known = error.message().starts_with("relation \"pg_catalog.pg_")
                    || error.code() == base::SqlState::FEATURE_NOT_SUPPORTED;
                assert!(known, "{head}: {error}");
            }
        }
    }
    assert!(answered >= 60, "only {answered} views answer");
}

#[test]
fn elements_and_slices_of_arrays_are_assigned() {
    let server = Server::new();
    let s = server.connect();
    s.query("create table t (k int, a int[])");
    s.query("insert into t (k, a[2], a[4]) values (1, 20, 40)");
    s.query("insert into t values (2, '{1,2,3}'), (3, null)");
    assert_eq!(s.query("select a from t where k = 1"), "[2:4]={20,NULL,40}");
    s.query("update t set a[2:3] = '{8,9}' where k = 2");
    assert_eq!(s.query("select a from t where k = 2"), "{1,8,9}");
    s.query("update t set a[0] = 7 where k = 3");
    assert_eq!(s.query("select a from t where k = 3"), "[0:0]={7}");
    s.query("update t set a[1:2] = null where k = 2");
    assert_eq!(s.query("select a from t where k = 2"), "{1,8,9}");
    assert_eq!(
        s.query("update t set a[null] = 1 where k = 2"),
        "ERROR:  array subscript in assignment must not be null"
    );
    assert_eq!(s.query("update t set a[1:3] = '{1}' where k = 2"), "ERROR:  source array too small");
}

#[test]
fn input_errors_are_rows() {
    let server = Server::new();
    let s = server.connect();
    assert_eq!(
        s.query("select message, sql_error_code from pg_input_error_info('x', 'int')"),
        "invalid input syntax for type integer: \"x\"|22P02"
    );
    assert_eq!(s.query("select message is null from pg_input_error_info('1', 'int')"), "t");
    assert_eq!(s.query("select message is null from pg_input_error_info(null, 'int')"), "t");
}

#[test]
fn the_information_schema_describes_tables() {
    let server = Server::new();
    let client = server.connect();
    client.query("CREATE DOMAIN short AS varchar(7) NOT NULL");
    client.query(
        "CREATE TABLE t (id int PRIMARY KEY, v numeric(12,3) DEFAULT 1.5, at timestamp(3), tags text[], s short, \
         n bigint GENERATED ALWAYS AS IDENTITY, CONSTRAINT low CHECK (id > 0), UNIQUE (v, at))",
    );
    client.query("CREATE VIEW w AS SELECT id, v FROM t");
    let rows = |columns: &str, view: &str, order: &str| {
        let schema = if view == "check_constraints" { "constraint_schema" } else { "table_schema" };
        client.query(&format!(
            "SELECT {columns} FROM information_schema.{view} WHERE {schema} = 'public' ORDER BY {order}"
        ))
    };
    assert_eq!(
        rows("table_name, table_type, is_insertable_into", "tables", "1"),
        "t|BASE TABLE|YES\nw|VIEW|YES"
    );
    let columns = rows(
        "column_name, column_default, is_nullable, data_type, character_maximum_length AS m, numeric_precision AS p, \
         numeric_scale AS c, datetime_precision AS d, domain_name, udt_name, is_identity",
        "columns",
        "table_name, ordinal_position",
    );
    assert_eq!(
        columns,
        "id||NO|integer||32|0|||int4|NO\n\
         v|1.5|YES|numeric||12|3|||numeric|NO\n\
         at||YES|timestamp without time zone||||3||timestamp|NO\n\
         tags||YES|ARRAY||||||_text|NO\n\
         s||NO|character varying|7||||short|varchar|NO\n\
         n||NO|bigint||64|0|||int8|YES\n\
         id||YES|integer||32|0|||int4|NO\n\
         v||YES|numeric||12|3|||numeric|NO"
    );
    assert_eq!(
        rows("constraint_name, column_name, ordinal_position", "key_column_usage", "1, 3"),
        "t_pkey|id|1\nt_v_at_key|v|1\nt_v_at_key|at|2"
    );
    assert_eq!(
        rows("constraint_name, check_clause", "check_constraints", "1"),
        "low|(id > 0)\nshort_not_null|VALUE IS NOT NULL\nt_id_not_null|id IS NOT NULL\nt_n_not_null|n IS NOT NULL"
    );
    assert_eq!(rows("grantee, privilege_type", "role_table_grants", "table_name, 2").lines().count(), 14);
}

/// Calls of functions on values that take them long, in a build that is not optimised.
const LONG_CALLS: &[&str] = &[
    "select count(*) from regexp_split_to_table((select v from big), ',')",
    "select count(*) from regexp_split_to_table((select v from big), '\\s*,')",
    "select cardinality(regexp_split_to_array(v, 'x')) from big",
    "select length(regexp_replace(v, '[0-4]', 'ab', 'g')) from big",
    "select length(regexp_replace(v, '(b|bc)+', '', 'g')) from small",
    "select count(*) from (select regexp_matches(v, '(3)(4)', 'g') from big)",
    "select v ~ 'zzz', regexp_count(v, '7'), regexp_instr(v, 'zzz') from big",
    "select length(encode(b, 'hex')), length(encode(b, 'base64')), length(encode(b, 'escape')) from big",
    "select length(decode(encode(b, 'hex'), 'hex')), length(decode(encode(b, 'base64'), 'base64')) from big",
    "select length(decode(encode(b, 'escape'), 'escape')), length(b::text) from big",
    "select md5(v), sha256(b), sha512(b), crc32(b), crc32c(b) from big",
    "select length(replace(v, '1', 'one')), length(reverse(v)), length(reverse(b)), bit_count(b) from big",
    "select count(*) from string_to_table((select v from big), ',')",
    "select cardinality(string_to_array(v, ',')), length(array_to_string(string_to_array(v, ','), ';')) from big",
    "select cardinality(string_to_array(v, null)) from small",
    "select length(repeat('ab', 20000000)), length(lpad('', 20000000, 'xyz')), length(rpad(v, 20000000)) from big",
    "select length(translate(v, '0123456789', 'abcdefghij')), length(overlay(v placing 'x' from 100)) from big",
    "select position('zzz' in v), strpos(v, ',,'), v like '%zz%', v like '%9_,%z', v ilike '%zz' from big",
    "select length(lower(v)), length(upper(v)), length(initcap(v)), length(trim(v, '0123456789,')) from big",
    "select length(substr(v, 7000000)), length(left(v, -5)), length(right(v, 5)), length(split_part(v, ',', 99999)) from big",
    "select length(split_part(v, ',', -99999)), length(concat(v, v)), length(format('%s-%s', v, v)) from big",
    "select length(convert_from(convert_to(v, 'latin1'), 'utf8')), length(quote_literal(v)) from big",
    "select length((2::numeric ^ 60000)::text), length(factorial(5000)::text), length(exp(3000.5)::text)",
    "select length(ln(1234567.8::numeric(1000,900))::text), length(sqrt(2::numeric(1000,900))::text)",
    "select length((repeat('9', 30000)::numeric * repeat('7', 30000)::numeric)::text)",
    "select length((repeat('9', 40000)::numeric / repeat('7', 20000)::numeric)::text)",
    "select gcd(repeat('9', 3000)::numeric, repeat('7', 2999)::numeric) > 0, ('0x' || repeat('f', 40000))::numeric > 0",
    "select length(('[' || v || '0]')::json::text), length(('[' || v || '0]')::jsonb::text) from big",
    "select jsonb_array_length(to_jsonb(string_to_array(v, ','))), length(to_json(v)::text), length(to_jsonb(v)::text) from big",
    "select count(*) from jsonb_array_elements((select ('[' || v || '0]')::jsonb from big))",
    "select length(jsonb_pretty(jsonb_object_agg(i, i))) from generate_series(1, 100000) i",
    "select length(string_agg(v, '')), length(json_agg(v)::text) from (select v from big, generate_series(1, 4))",
    "select cardinality(array_agg(i)), length(array_agg(i)::text) from generate_series(1, 200000) i",
    "select array_sort(array_agg(-i)) is null, array_reverse(array_agg(i)) is null from generate_series(1, 200000) i",
    "select cardinality(array_fill(1, array[1000000])), cardinality(a || a) from (select string_to_array(v, ',') a from big)",
    "select count(*) from (select i from generate_series(1, 200000) i order by -i offset 1)",
    "insert into kept select v, b from big",
    "select length(v), length(b) from kept",
    "create index on kept (md5(v))",
];

/// As long as so many numbers take to be read, a call may go on between two looks; one that takes all its elements or bytes without any needs longer.
const NUMBERS: u64 = 4_000_000;

#[test]
fn a_long_call_looks_for_interrupts() {
    runtime::run(|| {
        let server = Server::new();
        let s = server.connect();
        s.query("create table kept (v text, b bytea); set work_mem = '200MB'");
        s.query("create table big as select string_agg(i || ',', '') v from generate_series(1, 600000) i");
        s.query("create table small as select repeat('abcd,', 20000) v");
        assert_eq!(
            s.query("alter table big add b bytea; update big set b = sha256(v::bytea) || v::bytea"),
            ""
        );
        runtime::watch::set_bound(|| {
            for _ in 0..NUMBERS {
                let number = std::hint::black_box("1234567.25");
                std::hint::black_box(number.parse::<f64>().is_ok());
            }
        });
        runtime::watch::take();
        let mut late = Vec::new();
        for call in LONG_CALLS {
            let answer = s.query(call);
            assert!(!answer.starts_with("ERROR"), "{call}: {answer}");
            late.extend(runtime::watch::take().iter().map(|late| format!("{late}: {call}")));
        }
        assert!(late.is_empty(), "{}", late.join("\n"));
    });
}

#[test]
fn files_of_the_server_are_for_those_who_may_read_them() {
    let server = Server::new();
    let s = server.connect();
    let error = |s: &crate::support::Client, sql: &str| {
        s.run(sql).err().map(|e| (e.code().as_str().to_owned(), e.message().to_owned()))
    };
    assert_eq!(
        s.query(
            "select pg_read_file('PG_VERSION') is not null, size > 0, isdir from pg_stat_file('PG_VERSION')"
        ),
        "t|t|f"
    );
    assert_eq!(s.query("select count(*) > 0, bool_and(size > 0) from pg_ls_waldir()"), "t|t");
    assert_eq!(s.query("select count(*) from pg_ls_dir('.') d where d = 'base'"), "1");
    assert_eq!(s.query("select count(*) from pg_ls_dir('base', false, true) d where d = '..'"), "1");
    assert_eq!(s.query("select pg_read_file('nope', true), pg_read_binary_file('PG_VERSION', 0, 0)"), "|\\x");
    assert_eq!(
        error(&s, "select pg_read_file('nope')"),
        Some(("58P01".into(), "could not open file \"nope\" for reading: No such file or directory".into()))
    );
    assert_eq!(
        error(&s, "select pg_ls_dir('nope')"),
        Some(("58P01".into(), "could not open directory \"nope\": No such file or directory".into()))
    );
    s.run("create role reader login; grant execute on function pg_read_file(text) to reader").unwrap();
    let reader = server.connect_as("reader").unwrap();
    assert_eq!(
        error(&reader, "select pg_read_file('/etc/passwd')"),
        Some(("42501".into(), "absolute path not allowed".into()))
    );
    assert_eq!(
        error(&reader, "select pg_read_file('base/../../x')"),
        Some(("42501".into(), "path must be in or below the data directory".into()))
    );
    assert_eq!(reader.query("select pg_read_file('base/../PG_VERSION') is not null"), "t");
    assert_eq!(error(&reader, "select pg_ls_dir('.')").map(|e| e.0), Some("42501".into()));
}
