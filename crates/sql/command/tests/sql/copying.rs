//! COPY's formats and options, and tables made like others.

use crate::support::{Client, Collected, Server};

fn copy_in(session: &Client, sql: &str, data: &[&[u8]]) -> Result<Collected, String> {
    let input = data.iter().map(|d| d.to_vec()).collect();
    let mut out = Collected { input, ..Collected::default() };
    match session.session().simple_query(sql, &mut out) {
        Ok(()) => Ok(out),
        Err(e) => Err(format!("{} / {}", e.message(), e.report().context.as_deref().unwrap_or("-"))),
    }
}

#[test]
fn binary_rows_come_back_the_same() {
    let server = Server::new();
    let s = server.connect();
    let path = std::env::temp_dir().join(format!("stampede-copy-{}.bin", std::process::id()));
    let path = path.to_str().unwrap();
    s.run(
        "create table t (a int, b text, c numeric(6,2), d date, e int[], f jsonb, g float8, primary key (a))",
    )
    .unwrap();
    s.run("insert into t values (1, 'x', 1.25, '2020-01-02', '{1,2,null}', '{\"a\":1}', 2.5), (2, null, null, null, null, null, null)").unwrap();
    assert_eq!(s.run(&format!("copy t to '{path}' (format binary)")).unwrap().tags, ["COPY 2"]);
    s.run("create table u (like t including all)").unwrap();
    assert_eq!(s.run(&format!("copy u from '{path}' with binary")).unwrap().tags, ["COPY 2"]);
    assert_eq!(s.query("select count(*) from (select * from t except select * from u) x"), "0");
    assert_eq!(
        copy_in(&s, &format!("copy u (a) from '{path}' (format binary)"), &[]).err().unwrap(),
        "row field count is 7, expected 1 / COPY u, line 1"
    );
    assert_eq!(
        copy_in(&s, &format!("copy u from '{path}' (format binary)"), &[]).err().unwrap(),
        "duplicate key value violates unique constraint \"u_pkey\" / COPY u, line 1"
    );
    std::fs::remove_file(path).unwrap();
    assert_eq!(
        copy_in(&s, "copy u from stdin (format binary)", &[b"PGCO", b"PX"]).err().unwrap(),
        "COPY file signature not recognized / COPY u, line 0"
    );
}

#[test]
fn default_stands_for_a_columns_default() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a serial, b text default 'b' || 1, c int check (c > 0))").unwrap();
    copy_in(&s, "copy t from stdin (default '\\D')", &[b"\\D\t\\D\t1\n\\D\tx\\D\t2\n"]).unwrap();
    copy_in(&s, "copy t from stdin (format csv, default 'D')", &[b"9,\"D\",3\nD,D,4\n"]).unwrap();
    assert_eq!(s.query("select a, b, c from t order by c"), "1|b1|1\n2|xD|2\n9|D|3\n3|b1|4");
    assert_eq!(
        copy_in(&s, "copy t (c) from stdin (default 'D')", &[b"D\n"]).err().unwrap(),
        "unexpected default marker in COPY data / COPY t, line 1, column c: \"D\""
    );
}

#[test]
fn bad_rows_can_be_left_out() {
    let server = Server::new();
    let s = server.connect();
    s.run("create domain pos as int check (value > 0); create table t (p pos, q int)").unwrap();
    let rows: &[&[u8]] = &[b"1\t2\n-1\t2\n3\tx\n4\t\\N\n"];
    let out = copy_in(&s, "copy t from stdin (on_error ignore, log_verbosity verbose)", rows).unwrap();
    assert_eq!(out.tags, ["COPY 2"]);
    assert_eq!(
        out.notices,
        [
            "skipping row due to data type incompatibility at line 2 for column \"p\": \"-1\"",
            "skipping row due to data type incompatibility at line 3 for column \"q\": \"x\"",
            "2 rows were skipped due to data type incompatibility"
        ]
    );
    assert_eq!(
        copy_in(&s, "copy t from stdin (on_error ignore, reject_limit 1)", rows).err().unwrap(),
        "skipped more than REJECT_LIMIT (1) rows due to data type incompatibility / COPY t, line 3, column q: \"x\""
    );
    assert_eq!(
        copy_in(&s, "copy t from stdin where q > (select 1)", rows).err().unwrap(),
        "cannot use subquery in COPY FROM WHERE condition / -"
    );
}

#[test]
fn like_copies_what_it_is_told_to() {
    let server = Server::new();
    let s = server.connect();
    s.run(
        "create table t (
             id int generated always as identity (start 5 increment 2) primary key,
             a varchar(5) constraint a_there not null default 'x' check (a <> 'y'),
             b int generated always as (length(a)) stored,
             c text storage external collate \"C\" unique)",
    )
    .unwrap();
    s.run("create index on t (lower(c)) where id > 0; comment on column t.a is 'of a'").unwrap();
    s.run("create table bare (like t); create table whole (like t including all, more int)").unwrap();
    let shape = "select string_agg(attname || attidentity::text || attgenerated::text || attnotnull::text, ',' order by attnum)
         from pg_attribute where attnum > 0 and attrelid =";
    assert_eq!(s.query(&format!("{shape} 'bare'::regclass")), "idtrue,atrue,bfalse,cfalse");
    assert_eq!(s.query("insert into bare (id, a) values (1, 'y') returning b"), "");
    assert_eq!(s.query("insert into whole (c) values ('q') returning id, a, b, more"), "5|x|1|");
    assert!(
        s.query("insert into whole (a) values ('y')").contains("violates check constraint \"t_a_check\"")
    );
    assert_eq!(
        s.query("select string_agg(conname, ',' order by conname collate \"C\") from pg_constraint where conrelid = 'whole'::regclass"),
        "a_there,t_a_check,t_id_not_null,whole_c_key,whole_pkey"
    );
    assert_eq!(
        s.query("select indexdef from pg_indexes where tablename = 'whole' and indexdef like '%lower%'"),
        "CREATE INDEX whole_lower_idx ON public.whole USING btree (lower(c)) WHERE (id > 0)"
    );
    assert_eq!(s.query("select col_description('whole'::regclass, 2)"), "of a");
    assert_eq!(
        s.query("create table x (like t_pkey)"),
        "ERROR:  relation \"t_pkey\" is invalid in LIKE clause"
    );
}

#[test]
fn an_error_of_a_row_shows_its_line() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a int check (a > 0), b int not null)").unwrap();
    let of = |sql: &str, line: &str| copy_in(&s, sql, &[b"7\t7\n", line.as_bytes()]).err().unwrap();
    assert_eq!(
        of("copy t from stdin", "0\t1\n"),
        "new row for relation \"t\" violates check constraint \"t_a_check\" / COPY t, line 2: \"0\t1\""
    );
    assert_eq!(
        of("copy t from stdin", "1\t\\N\n"),
        "null value in column \"b\" of relation \"t\" violates not-null constraint / COPY t, line 2: \"1\t\\N\""
    );
    s.run("create unique index on t (a)").unwrap();
    let twice = of("copy t from stdin", "7\t0\n");
    assert!(twice.ends_with("/ COPY t, line 2"), "{twice}");
    assert_eq!(
        of("copy t from stdin where 1 / b > -1", "1\t0\n"),
        "division by zero / COPY t, line 2: \"1\t0\""
    );
}

#[test]
fn programs_give_and_take_rows() {
    let server = Server::new();
    let s = server.connect();
    let path = std::env::temp_dir().join(format!("stampede-program-{}", std::process::id()));
    let path = path.to_str().unwrap();
    s.run("create table t (a int, b text)").unwrap();
    assert_eq!(
        s.run("copy t (a) from program 'seq 1 100000' where a % 1000 = 0").unwrap().tags,
        ["COPY 100"]
    );
    let out = format!("copy (select a, repeat('x', 10000) from t) to program 'cat > {path}'");
    assert_eq!(s.run(&out).unwrap().tags, ["COPY 100"]);
    assert_eq!(s.run(&format!("copy t from '{path}'")).unwrap().tags, ["COPY 100"]);
    assert_eq!(s.query("select count(*), sum(length(b)) from t"), "200|1000000");
    std::fs::remove_file(path).unwrap();
    // What comes behind the end marker is not wanted, and whoever goes on with it may die.
    let ended = "copy t from program 'printf \"1\\tx\\n\\\\.\\n\"; yes'";
    assert_eq!(s.run(ended).unwrap().tags, ["COPY 1"]);
    let failure = |sql: &str| {
        let error = s.run(sql).err().unwrap();
        format!("{} {} / {}", error.code(), error.message(), error.report().detail.as_deref().unwrap_or("-"))
    };
    for (command, detail) in [
        ("exit 3", "child process exited with exit code 3"),
        ("exec nosuchprogram 2>&-", "command not found"),
        ("kill -9 $$", "child process was terminated by signal 9: Killed"),
    ] {
        let expected = format!("38000 program \"{command}\" failed / {detail}");
        assert_eq!(failure(&format!("copy t from program '{command}'")), expected);
        let many =
            format!("copy (select repeat('x', 1000) from generate_series(1, 1000)) to program '{command}'");
        assert_eq!(failure(&many), expected);
    }
    assert_eq!(
        failure("copy (select repeat('x', 1000) from generate_series(1, 1000)) to program 'true'"),
        "XX000 could not write to COPY program: Broken pipe / -"
    );
    s.run("create role plain; grant all on t to plain; set role plain").unwrap();
    assert_eq!(
        failure("copy t from program 'true'"),
        "42501 permission denied to COPY to or from an external program / Only roles with privileges of the \
         \"pg_execute_server_program\" role may COPY to or from an external program."
    );
    s.run("reset role; grant pg_execute_server_program to plain; set role plain; copy t from program 'true'")
        .unwrap();
}

#[test]
fn rows_are_completed_by_defaults_and_stored_together() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (id serial primary key, a int, b text default 'b' || 1, c timestamptz not null default now(), d int generated always as identity, e text)").unwrap();
    let data: String = (1..=5000).map(|i| format!("{i}\n")).collect();
    let records = || s.query("select wal_records from pg_stat_wal").parse::<u64>().unwrap();
    let before = records();
    s.run("begin").unwrap();
    copy_in(&s, "copy t (a) from stdin", &[data.as_bytes()]).unwrap();
    assert_eq!(
        s.query("select count(*), count(distinct id), count(distinct d), bool_and(id = a and d = a and b = 'b1' and c = now() and e is null) from t"),
        "5000|5000|5000|t"
    );
    s.run("commit").unwrap();
    // The rows' pages are few; each of their entries in the index, and now and then a sequence, is logged by itself.
    let written = records() - before;
    assert!(written < 8000, "{written} records");
    assert_eq!(s.query("select currval('t_id_seq')"), "5000");
    // An error names the row that it is about, in computing a default or of the value that it gives.
    s.run("create sequence n; create table u (a int, b int not null default 6 / (3 - nextval('n')))")
        .unwrap();
    assert_eq!(
        copy_in(&s, "copy u (a) from stdin", &[b"7\n8\n9\n"]).err().unwrap(),
        "division by zero / COPY u, line 3: \"9\""
    );
    s.run("alter table u alter b set default null").unwrap();
    assert_eq!(
        copy_in(&s, "copy u (a) from stdin", &[b"7\n"]).err().unwrap(),
        "null value in column \"b\" of relation \"u\" violates not-null constraint / COPY u, line 1: \"7\""
    );
}

#[test]
fn a_default_that_looks_at_the_table_sees_the_rows_before() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a int, n bigint)").unwrap();
    s.run("create function seen() returns bigint language sql volatile as 'select count(*) from t'").unwrap();
    s.run("alter table t alter n set default seen()").unwrap();
    copy_in(&s, "copy t (a) from stdin", &[b"1\n2\n3\n"]).unwrap();
    assert_eq!(s.query("select a, n from t order by a"), "1|0\n2|1\n3|2");
}

#[test]
fn rows_that_meet_constraints_are_stored_together() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a int check (a > 0), b text, constraint short check (length(b) < 9 or b is null), check (a <> 6 / (a - 6)))")
        .unwrap();
    let records = || s.query("select wal_records from pg_stat_wal").parse::<u64>().unwrap();
    let before = records();
    let data: String = (10..=5000).map(|i| format!("{i}\tb{i}\n")).collect();
    copy_in(&s, "copy t from stdin", &[data.as_bytes()]).unwrap();
    let written = records() - before;
    assert!(written < 1000, "{written} records");
    // The first constraint that a row does not meet is told of, whatever the others would make of it.
    let refused =
        |data: &str| copy_in(&s, "copy t from stdin", &[b"10\t\\N\n", data.as_bytes()]).err().unwrap();
    assert_eq!(
        refused("10\tmuch too long\n"),
        "new row for relation \"t\" violates check constraint \"short\" / COPY t, line 2: \"10\tmuch too long\""
    );
    assert_eq!(refused("6\tb\n"), "division by zero / COPY t, line 2: \"6\tb\"");
    assert_eq!(
        refused("-1\tmuch too long\n"),
        "new row for relation \"t\" violates check constraint \"short\" / COPY t, line 2: \"-1\tmuch too long\""
    );
    assert_eq!(s.query("select count(*) from t"), "4991");
    // Constraints that look at other rows do not see those that are stored together with theirs.
    s.run("create table u (a int); create function seen() returns bigint language sql volatile as 'select count(*) from u'").unwrap();
    s.run("alter table u add check (a = seen())").unwrap();
    assert_eq!(
        copy_in(&s, "copy u from stdin", &[b"0\n1\n2\n"]).err().unwrap(),
        "new row for relation \"u\" violates check constraint \"u_a_check\" / COPY u, line 2: \"1\""
    );
    copy_in(&s, "copy u from stdin", &[b"0\n0\n0\n"]).unwrap();
    assert_eq!(s.query("select count(*) from u"), "3");
    // The table that a row is stored in is no column of it.
    s.run("create table w (a int, check (tableoid = 'w'::regclass))").unwrap();
    copy_in(&s, "copy w from stdin", &[b"1\n"]).unwrap();
    assert_eq!(s.query("select a from w"), "1");
}

#[test]
fn a_refused_row_shows_what_the_user_may_know() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a int check (a > 0), b text default 'secret', c int not null default 7)").unwrap();
    s.run("create role w; grant insert on t to w; set role w").unwrap();
    let detail = |sql: &str, data: &str| {
        let mut out = Collected { input: vec![data.as_bytes().to_vec()], ..Collected::default() };
        let refused = s.session().simple_query(sql, &mut out).unwrap_err();
        refused.report().detail.clone().unwrap_or_default().to_string()
    };
    assert_eq!(detail("copy t (a) from stdin", "0\n"), "Failing row contains (a) = (0).");
    assert_eq!(detail("copy t (c, a) from stdin", "\\N\t1\n"), "Failing row contains (a, c) = (1, null).");
    s.run("reset role").unwrap();
    assert_eq!(detail("copy t (a) from stdin", "0\n"), "Failing row contains (0, secret, 7).");
}

/// How many log records a COPY of these lines takes, beside what it says.
fn records_of_copy(session: &Client, sql: &str, data: &[u8]) -> i64 {
    let records = || session.query("select wal_records from pg_stat_wal").parse::<i64>().unwrap();
    session.run("select pg_stat_force_next_flush()").unwrap();
    let before = records();
    copy_in(session, sql, &[data]).unwrap();
    session.run("select pg_stat_force_next_flush()").unwrap();
    records() - before
}

/// Lines `1`, `2` and so on, each with what `more` gives.
fn lines(count: usize, more: impl Fn(usize) -> String) -> Vec<u8> {
    (1..=count).map(|n| format!("{n}\t{}\n", more(n))).collect::<String>().into_bytes()
}

#[test]
fn rows_of_many_kinds_of_tables_are_stored_together() {
    let server = Server::new();
    let s = server.connect();
    s.run(
        "create type mood as enum ('sad', 'glad');
        create domain small as int default 7 check (value < 10000);
        create table owners (id int primary key); insert into owners select generate_series(0, 9);
        create function volatile_true(int) returns bool language sql volatile as 'select $1 > 0';
        create table parted (a int, b text, d small) partition by range (a);
        create table parted_low partition of parted for values from (0) to (1000);
        create table parted_high (d small, b text, a int); alter table parted attach partition parted_high for values from (1000) to (9000)",
    )
    .unwrap();
    let data = lines(2000, |n| (n % 10).to_string());
    for table in [
        "create table t (a int, b mood)",
        "create table t (a small, b small, c small)",
        "create table t (a int, b int, c int generated always as (a + b) stored, d int generated always as (a * 2) virtual)",
        "create table t (a int, b int references owners)",
        "create table t (a int primary key, b int, check (volatile_true(a)))",
        "create table t (a int, b int, c int generated always as identity, d float default random())",
        "create table t (a int, b int) partition by hash (a); create table t1 partition of t for values with (modulus 2, remainder 0);
            create table t2 partition of t for values with (modulus 2, remainder 1); create index on t (b)",
        "create table t (a int primary key, b text) partition by range (a); create table t1 partition of t for values from (0) to (1500);
            create table t2 partition of t for values from (1500) to (9000)",
    ] {
        s.run(table).unwrap();
        let data = if table.contains("mood") {
            lines(2000, |n| ["sad", "glad"][n % 2].to_owned())
        } else {
            data.clone()
        };
        let records = records_of_copy(&s, "copy t (a, b) from stdin", &data);
        let entries = if table.contains("primary") || table.contains("index") { 2000 } else { 0 };
        assert!(records < entries + 300, "{records} records: {table}");
        assert_eq!(s.query("select count(*), sum(a), count(b) from t"), "2000|2001000|2000", "{table}");
        s.run("drop table t").unwrap();
    }
    assert!(records_of_copy(&s, "copy parted (a, b) from stdin where a % 2 = 0", &data) < 300);
    assert_eq!(
        s.query("select tableoid::regclass, count(*), min(a), max(a), sum(d), count(b) from parted group by 1 order by 1"),
        "parted_low|499|2|998|3493|499\nparted_high|501|1000|2000|3507|501"
    );
    let data = (1001..3001).map(|n| format!("{n}\tx\n")).collect::<String>();
    assert!(records_of_copy(&s, "copy parted_high (a, b) from stdin", data.as_bytes()) < 300);
    assert_eq!(s.query("select count(*), sum(d) from parted_high"), "2501|17507");
}

#[test]
fn a_row_that_is_refused_when_rows_are_stored_is_told_by_its_line() {
    let server = Server::new();
    let s = server.connect();
    s.run(
        "create table p (a int, b int, unique (a)) partition by range (a);
        create table p1 partition of p for values from (0) to (1000);
        create table p2 partition of p for values from (1000) to (9000);
        create table g (a int, b int, c int generated always as (a) stored);
        create unique index on g (a) where b > 0; create index on g ((1 / (a - 1700)))",
    )
    .unwrap();
    let twice = |at: usize, of: usize| {
        let line = move |n: usize| format!("{}\t1\n", if n == at { of } else { n });
        (1..=2500).map(line).collect::<String>().into_bytes()
    };
    let refusal = |sql: &str, data: Vec<u8>| copy_in(&s, sql, &[&data]).err().unwrap();
    assert_eq!(
        refusal("copy p from stdin", twice(1234, 1230)),
        "duplicate key value violates unique constraint \"p2_a_key\" / COPY p, line 1234"
    );
    assert_eq!(
        refusal("copy p from stdin", twice(2400, 5)),
        "duplicate key value violates unique constraint \"p1_a_key\" / COPY p, line 2400"
    );
    assert_eq!(refusal("copy g from stdin", twice(1, 2500)), "division by zero / COPY g, line 1700");
    assert_eq!(
        refusal("copy g (a, b) from stdin where a <> 1700", twice(1800, 1750)),
        "duplicate key value violates unique constraint \"g_a_idx\" / COPY g, line 1800"
    );
    assert_eq!(
        refusal("copy p from stdin", twice(1300, 9500)),
        "no partition of relation \"p\" found for row / COPY p, line 1300: \"9500\t1\""
    );
    assert_eq!(s.query("select (select count(*) from p), (select count(*) from g)"), "0|0");
    assert_eq!(
        refusal("copy p from stdin (freeze)", b"1\t1\n".to_vec()),
        "cannot perform COPY FREEZE on a partitioned table / -"
    );
}

#[test]
fn domains_may_be_against_null() {
    let server = Server::new();
    let s = server.connect();
    s.run("create domain filled as int not null; create domain seven as int default 7; create table t (a filled, b seven)").unwrap();
    let refused = copy_in(&s, "copy t from stdin", &[b"1\t2\n\\N\t2\n"]).err().unwrap();
    assert_eq!(refused, "domain filled does not allow null values / COPY t, line 2, column a: null input");
    copy_in(&s, "copy t from stdin (on_error ignore)", &[b"1\t2\n\\N\t2\n"]).unwrap();
    copy_in(&s, "copy t (a) from stdin", &[b"3\n"]).unwrap();
    // What a line does not give is not looked at.
    copy_in(&s, "copy t (b) from stdin", &[b"4\n"]).unwrap();
    assert_eq!(s.query("select a, b from t"), "1|2\n3|7\n|4");
}
