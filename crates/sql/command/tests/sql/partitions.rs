//! Partitioned tables through whole sessions.

use crate::support::Server;

#[test]
fn rows_find_their_partitions() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table r (a int, b text) partition by range (a)").unwrap();
    s.run("create table r1 partition of r for values from (minvalue) to (10)").unwrap();
    // Its columns lie elsewhere.
    s.run("create table r2 (b text, a int); alter table r attach partition r2 for values from (10) to (20)")
        .unwrap();
    s.run("create table r3 partition of r for values from (20) to (maxvalue) partition by list (b)").unwrap();
    s.run("create table r3x partition of r3 for values in ('x', null); create table r3d partition of r3 default").unwrap();
    s.run("insert into r values (1, 'one'), (10, 'ten'), (25, 'x'), (30, 'q')").unwrap();
    let rows = "select tableoid::regclass, a, b from r order by a";
    assert_eq!(s.query(rows), "r1|1|one\nr2|10|ten\nr3x|25|x\nr3d|30|q");
    assert_eq!(
        s.query("update r set a = a + 11 where a < 20 returning tableoid::regclass, a, b"),
        "r2|12|one\nr3d|21|ten"
    );
    assert_eq!(s.query("delete from r where a = 12 returning tableoid::regclass, b"), "r2|one");
    assert_eq!(
        s.query("insert into r1 values (10, 'x')"),
        "ERROR:  new row for relation \"r1\" violates partition constraint"
    );
    assert_eq!(
        s.query("insert into r values (null, 'x')"),
        "ERROR:  no partition of relation \"r\" found for row"
    );
    s.run("create table far (a int, b text); insert into far values (5, 'far')").unwrap();
    assert_eq!(
        s.query("alter table r3 attach partition far for values in ('far')"),
        "ERROR:  partition constraint of relation \"far\" is violated by some row"
    );
    s.run("truncate r").unwrap();
    assert_eq!(s.query("select count(*) from r"), "0");
}

#[test]
fn bounds_do_not_overlap() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table l (a text) partition by list (a)").unwrap();
    s.run("create table l1 partition of l for values in ('a', 'b'); create table ld partition of l default")
        .unwrap();
    let new = |bound: &str| s.query(&format!("create table n partition of l {bound}"));
    assert_eq!(new("for values in ('b')"), "ERROR:  partition \"n\" would overlap partition \"l1\"");
    assert_eq!(new("default"), "ERROR:  partition \"n\" conflicts with existing default partition \"ld\"");
    assert_eq!(new("for values from (1) to (2)"), "ERROR:  invalid bound specification for a list partition");
    s.run("insert into l values ('z')").unwrap();
    assert_eq!(
        new("for values in ('z')"),
        "ERROR:  updated partition constraint for default partition \"ld\" would be violated by some row"
    );
    s.run("alter table l detach partition ld; create table l2 partition of l for values in ('z')").unwrap();
    assert_eq!(
        s.query("alter table l attach partition ld default"),
        "ERROR:  partition constraint of relation \"ld\" is violated by some row"
    );
    s.run("create table h (k int) partition by hash (k)").unwrap();
    s.run("create table h0 partition of h for values with (modulus 4, remainder 0)").unwrap();
    assert_eq!(
        s.query("create table h1 partition of h for values with (modulus 6, remainder 1)"),
        "ERROR:  every hash partition modulus must be a factor of the next larger modulus"
    );
    assert_eq!(s.query("select satisfies_hash_partition('h'::regclass, 4, 0, 1)"), "t");
}

#[test]
fn conditions_leave_partitions_out() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table r (a int, b int) partition by range (a)").unwrap();
    for i in 0..4 {
        let (low, high) = (i * 10, i * 10 + 10);
        s.run(&format!("create table r{i} partition of r for values from ({low}) to ({high})")).unwrap();
    }
    s.run("insert into r select g, g from generate_series(0, 39) g").unwrap();
    let explain = |sql: &str| s.query(&format!("explain (costs off) {sql}"));
    assert_eq!(explain("select * from r where a = 15"), "Seq Scan on r1 r\n  Filter: (a = 15)");
    assert_eq!(
        explain("select * from r where a in (5, 35)"),
        "Append\n  ->  Seq Scan on r0 r_1\n        Filter: (a = ANY ('{5,35}'::integer[]))\n  ->  Seq Scan on r3 r_2\n        Filter: (a = ANY ('{5,35}'::integer[]))"
    );
    assert_eq!(explain("select * from r where a > 100"), "Result\n  One-Time Filter: false");
    s.run("prepare p (int) as select sum(b) from r where a >= $1").unwrap();
    assert_eq!(s.query("execute p (38)"), "77");
    assert_eq!(s.query("execute p (35)"), "185");
    s.run("set plan_cache_mode = force_generic_plan").unwrap();
    assert!(
        s.query("explain (analyze, costs off, timing off, summary off, buffers off) execute p (35)")
            .contains("never executed")
    );
    s.run("set enable_partition_pruning = off").unwrap();
    assert!(explain("select * from r where a = 15").contains("r3"));
}

#[test]
fn indexes_reach_every_partition() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table r (a int, b int) partition by range (a)").unwrap();
    s.run("create table r1 partition of r for values from (0) to (100)").unwrap();
    assert_eq!(
        s.query("alter table r add unique (b)"),
        "ERROR:  unique constraint on partitioned table must include all partitioning columns"
    );
    // A partition's own keys count too.
    s.run("create table p (a int, b int) partition by range (a)").unwrap();
    s.run("create table p1 partition of p for values from (0) to (100) partition by list (b)").unwrap();
    let refused = s.run("alter table p add primary key (a)").err().and_then(|e| e.report().detail.clone());
    assert_eq!(
        refused.as_deref(),
        Some("PRIMARY KEY constraint on table \"p1\" lacks column \"b\" which is part of the partition key.")
    );
    s.run("alter table p add unique (b, a)").unwrap();
    // As a dump does it: the parts of a part come last.
    s.run("create table p2 partition of p1 for values in (1); alter table only p add constraint k unique (a, b)").unwrap();
    s.run(
        "alter table only p1 add constraint k1 unique (a, b); alter table p2 add constraint k2 unique (a, b)",
    )
    .unwrap();
    s.run("alter index k attach partition k1").unwrap();
    let valid = "select string_agg(indexrelid::regclass || ':' || indisvalid, ' ' order by indexrelid) from pg_index where indexrelid::regclass::text ~ '^k'";
    assert_eq!(s.query(valid), "k:false k1:false k2:true");
    s.run("alter index k1 attach partition k2").unwrap();
    assert_eq!(s.query(valid), "k:true k1:true k2:true");
    s.run("drop table p").unwrap();
    s.run("alter table r add primary key (a); create index ri on r (b)").unwrap();
    s.run("create table r2 partition of r for values from (100) to (200)").unwrap();
    let parts = "select relname, relkind, relispartition from pg_class where relkind in ('i', 'I') and relname like 'r%' order by 1";
    assert_eq!(s.query(parts), "r1_b_idx|i|t\nr1_pkey|i|t\nr2_b_idx|i|t\nr2_pkey|i|t\nr_pkey|I|f\nri|I|f");
    s.run("insert into r select g, g from generate_series(0, 199) g").unwrap();
    assert_eq!(
        s.query("insert into r values (150, 0)"),
        "ERROR:  duplicate key value violates unique constraint \"r2_pkey\""
    );
    assert_eq!(
        s.query("insert into r values (150, 0) on conflict (a) do update set b = -1 returning tableoid::regclass, *"),
        "r2|150|-1"
    );
    assert_eq!(s.query("select b from r order by a desc limit 2"), "199\n198");
    assert_eq!(
        s.query("drop index r1_b_idx"),
        "ERROR:  cannot drop index r1_b_idx because index ri requires it"
    );
    assert_eq!(
        s.query("alter table r drop column a"),
        "ERROR:  cannot drop column \"a\" because it is part of the partition key of relation \"r\""
    );
    s.run("alter table r detach partition r2").unwrap();
    s.run("drop index ri").unwrap();
    assert_eq!(s.query(parts), "r1_pkey|i|t\nr2_b_idx|i|f\nr2_pkey|i|f\nr_pkey|I|f");
    s.run("drop table r").unwrap();
    assert_eq!(s.query("select count(*) from r2"), "100");
}

#[test]
fn merge_routes_and_moves_rows() {
    let server = Server::new();
    let s = server.connect();
    s.run(
        "create table p (a int, b text, c int) partition by range (a);
         create table p1 partition of p for values from (0) to (10);
         create table other (c int, dropped int, b text, a int);
         alter table other drop column dropped;
         create table p2 (c int, b text, a int) partition by list (c);
         alter table p attach partition p2 for values from (10) to (20);
         alter table p2 attach partition other default;
         insert into p values (1, 'one', 1), (2, 'two', 2), (11, 'eleven', 3)",
    )
    .unwrap();
    let merge = "merge into p using (values (1, 12), (2, 2), (11, 5), (13, 13)) s (a, new) on p.a = s.a
         when matched and s.new = 2 then delete
         when matched then update set a = s.new, b = p.b || ' moved'
         when not matched then insert (a, b) values (s.a, 'new')
         returning merge_action(), old.a, new.a, new.b, p.c";
    assert_eq!(
        s.query(merge),
        "UPDATE|1|12|one moved|1\nDELETE|2|||2\nUPDATE|11|5|eleven moved|3\nINSERT||13|new|"
    );
    assert_eq!(
        s.query("select tableoid::regclass, * from p order by a"),
        "p1|5|eleven moved|3\nother|12|one moved|1\nother|13|new|"
    );
    assert_eq!(
        s.query(
            "merge into p using (values (30)) s (a) on p.a = s.a when not matched then insert values (s.a)"
        ),
        "ERROR:  no partition of relation \"p\" found for row"
    );
    // Through a partition, rows must stay in it.
    assert_eq!(
        s.query("merge into p1 using (values (5)) s (a) on p1.a = s.a when matched then update set a = 15"),
        "ERROR:  new row for relation \"p1\" violates partition constraint"
    );
}

#[test]
fn errors_show_a_row_as_the_statements_table_has_it() {
    let server = Server::new();
    let s = server.connect();
    let setup = "create table t (a int, b text, constraint short check (length(b) < 3)) partition by list (a);
        create table t1 (b text not null, a int, constraint short check (length(b) < 3)); alter table t attach partition t1 for values in (1);
        create view v as select * from t where b <> 'x' with check option";
    assert_eq!(s.query(setup), "");
    let steps = [
        ("insert into t values (1, 'long')", "Failing row contains (1, long)."),
        ("insert into t values (1, null)", "Failing row contains (1, null)."),
        ("insert into v values (1, 'x')", "Failing row contains (1, x)."),
        ("insert into t1 values ('long', 1)", "Failing row contains (long, 1)."),
    ];
    for (sql, expected) in steps {
        let error = s.run(sql).err().expect(sql);
        assert_eq!(error.report().detail.as_deref(), Some(expected), "{sql}");
    }
}

#[test]
fn not_null_of_a_partitioned_table_is_inherited() {
    let server = Server::new();
    let s = server.connect();
    for column in ["a int not null no inherit", "a int, not null a no inherit"] {
        assert_eq!(
            s.query(&format!("create table t ({column}) partition by list (a)")),
            "ERROR:  not-null constraints on partitioned tables cannot be NO INHERIT"
        );
    }
}

#[test]
fn detaching_concurrently_is_refused_where_it_cannot_be() {
    let server = Server::new();
    let s = server.connect();
    s.run(
        "create table l (a text) partition by list (a); create table l1 partition of l for values in ('a');
         create table plain (a text)",
    )
    .unwrap();
    let in_block = "ERROR:  ALTER TABLE ... DETACH CONCURRENTLY cannot run inside a transaction block";
    for sql in [
        "begin; alter table l detach partition l1 concurrently",
        "rollback; select 1; alter table l detach partition l1 concurrently",
    ] {
        assert_eq!(s.query(sql), in_block, "{sql}");
    }
    let action =
        |action: &str| format!("ERROR:  ALTER action {action} cannot be performed on relation \"plain\"");
    for (sql, error) in [
        ("alter table plain detach partition l1 concurrently", action("DETACH PARTITION")),
        ("alter table plain detach partition l1 finalize", action("DETACH PARTITION ... FINALIZE")),
        (
            "alter table l detach partition plain concurrently",
            "ERROR:  relation \"plain\" is not a partition of relation \"l\"".into(),
        ),
        (
            "alter table l detach partition l1 finalize",
            "ERROR:  cannot complete detaching partition \"l1\"".into(),
        ),
    ] {
        assert_eq!(s.query(sql), error, "{sql}");
    }
    s.run("create table ld partition of l default").unwrap();
    let default = "ERROR:  cannot detach partitions concurrently when a default partition exists";
    assert_eq!(s.query("alter table l detach partition l1 concurrently"), default);
    assert_eq!(s.query("select count(*) from pg_inherits where inhdetachpending"), "0");
}

#[test]
fn a_partition_detached_concurrently_keeps_its_bound_as_a_check() {
    let server = Server::new();
    let s = server.connect();
    let checks = |part: &str| {
        s.query(&format!(
            "select conname, pg_get_constraintdef(oid) from pg_constraint where contype = 'c' and conrelid = '{part}'::regclass order by 1"
        ))
    };
    s.run("create table r (a int, b text) partition by range (a)").unwrap();
    // A CHECK that says as much is enough, but only with NOT NULL.
    for (own, expected) in [
        ("", "p_a_check|CHECK (((a IS NOT NULL) AND (a >= 100) AND (a < 200)))"),
        (
            "(check (a >= 123 and a < 133 and a is not null))",
            "p_a_check|CHECK (((a >= 123) AND (a < 133) AND (a IS NOT NULL)))",
        ),
        ("(a not null, check (a = 123 or a = 133))", "p_a_check|CHECK (((a = 123) OR (a = 133)))"),
        (
            "(check (a >= 123 and a < 133))",
            "p_a_check|CHECK (((a >= 123) AND (a < 133)))\np_a_check1|CHECK (((a IS NOT NULL) AND (a >= 100) AND (a < 200)))",
        ),
        (
            "(a not null, check (a >= 123))",
            "p_a_check|CHECK ((a >= 123))\np_a_check1|CHECK (((a IS NOT NULL) AND (a >= 100) AND (a < 200)))",
        ),
    ] {
        s.run(&format!("create table p partition of r {own} for values from (100) to (200)")).unwrap();
        s.run("alter table r detach partition p concurrently").unwrap();
        assert_eq!(checks("p"), expected, "{own}");
        assert_eq!(s.query("select relispartition, relpartbound from pg_class where relname = 'p'"), "f|");
        s.run("drop table p").unwrap();
    }
    // What is above counts, and what is below has it too.
    s.run(
        "create table q partition of r for values from (0) to (100) partition by list (b);
         create table q1 partition of q for values in ('x') partition by hash (a);
         create table q11 partition of q1 for values with (modulus 1, remainder 0)",
    )
    .unwrap();
    s.run("alter table q detach partition q1 concurrently").unwrap();
    let of_both =
        "CHECK (((a IS NOT NULL) AND (a >= 0) AND (a < 100) AND (b IS NOT NULL) AND (b = 'x'::text)))";
    assert_eq!(checks("q1"), format!("q1_check|{of_both}"));
    assert_eq!(checks("q11"), format!("q1_check|{of_both}"));
    // The bound of a hash partition is of use with its table only.
    s.run("alter table q1 detach partition q11 concurrently").unwrap();
    assert_eq!(checks("q11"), format!("q1_check|{of_both}"));
}
