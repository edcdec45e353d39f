//! Operator classes and families through whole sessions.

use crate::support::Server;

#[test]
fn families_have_members_that_fit() {
    let server = Server::new();
    let s = server.connect();
    s.run("create operator family f using btree").unwrap();
    s.run("alter operator family f using btree add operator 1 < (int4, int2), function 1 btint42cmp(int4, int2)")
        .unwrap();
    for (statement, error) in [
        (
            "create operator family f using btree",
            "operator family \"f\" for access method \"btree\" already exists",
        ),
        ("create operator family g using heap", "access method \"heap\" is not of type INDEX"),
        (
            "alter operator family g using btree add operator 1 <",
            "operator family \"g\" does not exist for access method \"btree\"",
        ),
        (
            "alter operator family f using btree add operator 6 < (int4, int2)",
            "invalid operator number 6, must be between 1 and 5",
        ),
        (
            "alter operator family f using btree add operator 1 <",
            "operator argument types must be specified in ALTER OPERATOR FAMILY",
        ),
        (
            "alter operator family f using btree add operator 1 < (int4, int2)",
            "operator 1(integer,smallint) already exists in operator family \"f\"",
        ),
        (
            "alter operator family f using btree add operator 2 + (int4, int4)",
            "index search operators must return boolean",
        ),
        (
            "alter operator family f using btree add operator 2 <= (int4, int2), operator 2 <= (int4, int2)",
            "operator number 2 for (integer,smallint) appears more than once",
        ),
        (
            "alter operator family f using btree add function 1 int4pl(int4, int4), function 2 int4pl(int4, int4)",
            "ordering sort support functions must accept type \"internal\"",
        ),
        (
            "alter operator family f using btree drop function 1 (int4, int4)",
            "function 1(integer,integer) does not exist in operator family \"f\"",
        ),
        (
            "alter operator family f using btree drop operator 1 (int4, int4, int4)",
            "one or two argument types must be specified",
        ),
    ] {
        assert_eq!(s.query(statement), format!("ERROR:  {error}"), "{statement}");
    }
    let members = "select amopstrategy, amoplefttype::regtype, amoprighttype::regtype, amopopr::regoper::text \
                   from pg_amop join pg_opfamily f on f.oid = amopfamily where opfname = 'f'";
    assert_eq!(s.query(members), "1|integer|smallint|pg_catalog.<");
    s.run("alter operator family f using btree drop operator 1 (int4, int2), function 1 (int4, int2)")
        .unwrap();
    assert_eq!(s.query(members), "");
    s.run("alter operator family f using btree rename to g; drop operator family g using btree").unwrap();
    s.run("drop operator family if exists g using btree").unwrap();
}

#[test]
fn classes_hold_what_they_need() {
    let server = Server::new();
    let s = server.connect();
    s.run("create function h(int4, int8) returns int8 language sql immutable as 'select $1 + $2'").unwrap();
    s.run("create operator class c for type int4 using hash as operator 1 =, function 2 h(int4, int8)")
        .unwrap();
    assert_eq!(
        s.query("create operator class d default for type int4 using hash as operator 1 ="),
        "ERROR:  could not make operator class \"d\" be default for type integer"
    );
    assert_eq!(
        s.query("alter operator family c using hash drop operator 1 (int4)"),
        "ERROR:  cannot drop operator 1 (integer, integer) of operator family c for access method hash: \
         =(integer,integer) because operator class c for access method hash requires it"
    );
    s.run("create table t (a int4, b int4) partition by hash (a c)").unwrap();
    assert_eq!(
        s.query("drop operator class c using hash"),
        "ERROR:  cannot drop operator class c for access method hash because other objects depend on it"
    );
    assert_eq!(
        s.query("create index on t (a c)"),
        "ERROR:  operator class \"c\" does not exist for access method \"btree\""
    );
    s.run("drop table t; drop operator class c using hash; drop function h").unwrap();
    assert_eq!(s.query("select count(*) from pg_amop where amopfamily >= 16384"), "0");
    s.run("create operator class c for type int4 using hash as operator 1 =").unwrap();
    assert_eq!(
        s.query("create table t (a int4) partition by hash (a c)"),
        "ERROR:  operator class \"c\" of access method hash is missing support function 2 for type integer"
    );
}

/// A class of a user for all that a B-tree asks, compared by `function`.
fn whole_class(name: &str, function: &str) -> String {
    format!(
        "create operator class {name} for type int4 using btree as operator 1 <, operator 2 <=, operator 3 =, \
         operator 4 >=, operator 5 >, function 1 {function}(int4, int4)"
    )
}

#[test]
fn a_class_of_a_user_over_built_in_functions_serves_an_index() {
    let server = Server::new();
    let (s, other) = (server.connect(), server.connect());
    s.run("create table t (a int4, b text); insert into t select g, 'x' from generate_series(1, 2000) g")
        .unwrap();
    assert_eq!(
        other.query("create index on t (a mine)"),
        "ERROR:  operator class \"mine\" does not exist for access method \"btree\""
    );
    s.run(&whole_class("mine", "btint4cmp")).unwrap();
    // The other session's look-up is not what it remembers of before.
    other.run("create unique index i on t (a mine); analyze t").unwrap();
    assert_eq!(
        other.query("explain (costs off) select b from t where a = 7"),
        "Index Scan using i on t\n  Index Cond: (a = 7)"
    );
    assert_eq!(other.query("select b from t where a between 7 and 8"), "x\nx");
    assert_eq!(
        other.query("select pg_get_indexdef('i'::regclass)"),
        "CREATE UNIQUE INDEX i ON public.t USING btree (a mine)"
    );
    s.run("insert into t values (7, 'y') on conflict (a mine) do update set b = 'z'").unwrap();
    assert_eq!(s.query("select b from t where a = 7"), "z");
    assert_eq!(
        s.query("insert into t values (7, 'y') on conflict (a int4_ops) do nothing"),
        "ERROR:  there is no unique or exclusion constraint matching the ON CONFLICT specification"
    );
    assert_eq!(
        s.query("drop operator class mine using btree"),
        "ERROR:  cannot drop operator class mine for access method btree because other objects depend on it"
    );
}

/// Operators and a class that order numbers by their magnitudes, with functions that are not inlined.
const BY_MAGNITUDE: &str = "
    create function absb(int4, int4) returns int4 language sql immutable strict set work_mem = '4MB'
        as 'select btint4cmp(abs($1), abs($2))';
    create function abslt(int4, int4) returns bool language sql immutable strict set work_mem = '4MB'
        as 'select abs($1) < abs($2)';
    create function absle(int4, int4) returns bool language sql immutable strict set work_mem = '4MB'
        as 'select abs($1) <= abs($2)';
    create function abseq(int4, int4) returns bool language sql immutable strict set work_mem = '4MB'
        as 'select abs($1) = abs($2)';
    create function absge(int4, int4) returns bool language sql immutable strict set work_mem = '4MB'
        as 'select abs($1) >= abs($2)';
    create function absgt(int4, int4) returns bool language sql immutable strict set work_mem = '4MB'
        as 'select abs($1) > abs($2)';
    create operator <~ (function = abslt, leftarg = int4, rightarg = int4, commutator = >~);
    create operator <=~ (function = absle, leftarg = int4, rightarg = int4, commutator = >=~);
    create operator =~ (function = abseq, leftarg = int4, rightarg = int4, commutator = =~);
    create operator >=~ (function = absge, leftarg = int4, rightarg = int4, commutator = <=~);
    create operator >~ (function = absgt, leftarg = int4, rightarg = int4, commutator = <~);
    create operator class abs_ops for type int4 using btree as operator 1 <~, operator 2 <=~, operator 3 =~,
        operator 4 >=~, operator 5 >~, function 1 absb(int4, int4)";

/// A table of 3,000 rows with an index in the order of magnitudes, and a session that uses it.
fn by_magnitude(s: &crate::support::Client) {
    s.run(BY_MAGNITUDE).unwrap();
    s.run(
        "create table t (a int4, b text);
         insert into t select case when g % 2 = 0 then g else -g end, 'r' || g from generate_series(1, 3000) g;
         create index i on t (a abs_ops); analyze t; set enable_seqscan = off; set enable_bitmapscan = off",
    )
    .unwrap();
}

#[test]
fn a_users_function_orders_an_index() {
    let server = Server::new();
    let s = server.connect();
    by_magnitude(&s);
    for (query, plan, rows) in [
        (
            "select * from t where a <~ 4",
            "Index Scan using i on t\n  Index Cond: (a <~ 4)",
            "-1|r1\n2|r2\n-3|r3",
        ),
        (
            "select a from t where a =~ any (array[5, -4, 4, null])",
            "Index Only Scan using i on t\n  Index Cond: (a =~ ANY ('{5,-4,4,NULL}'::integer[]))",
            "4\n-5",
        ),
        (
            "select a from t order by a using <~ limit 3",
            "Limit\n  ->  Index Only Scan using i on t",
            "-1\n2\n-3",
        ),
        (
            "select a from t order by a using >~ limit 3",
            "Limit\n  ->  Index Only Scan Backward using i on t",
            "3000\n-2999\n2998",
        ),
        // Other operators know nothing of this order.
        ("select b from t where a = 4", "Seq Scan on t\n  Disabled: true\n  Filter: (a = 4)", "r4"),
        (
            "select a from t order by a limit 3",
            "Limit\n  ->  Sort\n        Sort Key: a\n        ->  Index Only Scan using i on t",
            "-2999\n-2997\n-2995",
        ),
        (
            "select b from t order by a using >~ nulls last limit 2",
            "Limit\n  ->  Sort\n        Sort Key: a USING >~ NULLS LAST\n        ->  Seq Scan on t\n              Disabled: true",
            "r3000\nr2999",
        ),
    ] {
        assert_eq!(s.query(&format!("explain (costs off) {query}")), plan, "{query}");
        assert_eq!(s.query(query), rows, "{query}");
    }
    assert_eq!(s.query("select count(*) from t where a >~ 2990 and a <=~ -2995"), "5");
    s.run("insert into t values (null, 'n'), (0, 'zero'), (5, 'five'), (-4, 'minus four')").unwrap();
    assert_eq!(s.query("select b from t where a =~ 4 order by 1"), "minus four\nr4");
    assert_eq!(s.query("select a from t order by a using >~ limit 2"), "\n3000");
    s.run("delete from t where a >~ 100").unwrap();
    s.run("vacuum t").unwrap();
    assert_eq!(s.query("select count(*) from t where a >=~ 50"), "51");
    s.run("reindex index i").unwrap();
    assert_eq!(s.query("select count(*) from t where a >=~ 50"), "51");
}

#[test]
fn keys_are_unique_by_a_users_function() {
    let server = Server::new();
    let s = server.connect();
    by_magnitude(&s);
    s.run("insert into t values (-4, 'minus four')").unwrap();
    assert_eq!(
        s.query("create unique index u on t (a abs_ops)"),
        "ERROR:  could not create unique index \"u\""
    );
    s.run("delete from t where b = 'minus four'; create unique index u on t (a abs_ops)").unwrap();
    let duplicate = "ERROR:  duplicate key value violates unique constraint \"u\"";
    assert_eq!(s.query("insert into t values (-8, 'x')"), duplicate);
    assert_eq!(s.query("insert into t values (8, 'x')"), duplicate);
    for (statement, rows) in [
        ("values (-8, 'new') on conflict (a abs_ops) do update set b = excluded.b returning *", "8|new"),
        ("values (-8, 'conflict') on conflict (a) do nothing returning *", ""),
        ("values (-4000, 'more') on conflict (a) do nothing returning *", "-4000|more"),
    ] {
        assert_eq!(s.query(&format!("insert into t {statement}")), rows, "{statement}");
    }
    // Serializable transactions lock the whole index.
    let other = server.connect();
    for session in [&s, &other] {
        session.run("begin isolation level serializable; set local enable_seqscan = off").unwrap();
        assert_eq!(session.query("select count(*) from t where a =~ 5000"), "0");
    }
    s.run("insert into t values (5000, 's'); commit").unwrap();
    let failed = other.query("insert into t values (6000, 's')");
    let failed = if failed.is_empty() { other.query("commit") } else { failed };
    assert!(failed.starts_with("ERROR:  could not serialize access"), "{failed}");
}

#[test]
fn errors_of_a_function_that_orders_are_errors_of_statements() {
    let server = Server::new();
    let s = server.connect();
    s.run(
        "create function bad(int4, int4) returns int4 language sql
             as 'select case when $1 = 13 or $2 = 13 then 1 / ($1 - $1) else btint4cmp($1, $2) end';
         create table e (a int4)",
    )
    .unwrap();
    s.run(&whole_class("bad_ops", "bad")).unwrap();
    s.run("create index ei on e (a bad_ops); insert into e select g from generate_series(100, 600) g")
        .unwrap();
    let division = "ERROR:  division by zero";
    assert_eq!(s.query("insert into e values (13)"), division);
    s.run("insert into e select g from generate_series(601, 700) g").unwrap();
    s.run("set enable_seqscan = off; set enable_bitmapscan = off").unwrap();
    assert_eq!(s.query("select count(*) from e where a between 150 and 250"), "101");
    assert_eq!(s.query("select * from e where a = 13"), division);
    assert_eq!(s.query("select * from e where a = any (array[200, 13])"), division);
    s.run("create operator <<< (function = int4lt, leftarg = int4, rightarg = int4)").unwrap();
    assert_eq!(
        s.query("select 1 order by 1 using <<<"),
        "ERROR:  operator <<< is not a valid ordering operator"
    );
    s.run(
        "create operator class sort_ops for type int4 using btree as operator 1 <<<, function 1 bad(int4, int4)",
    )
    .unwrap();
    for rows in [20, 2000] {
        let sorted = format!(
            "select x from (values (13), (3)) v(x) union all select g from generate_series(14, {rows}) g"
        );
        assert_eq!(s.query(&format!("{sorted} order by x using <<<")), division);
        assert_eq!(s.query(&format!("{sorted} order by x using <<< limit 1")), division);
    }
    // Nothing of an error is left for the next statement.
    assert_eq!(s.query("select x from (values (4), (1), (3)) v(x) order by x using <<<"), "1\n3\n4");
    s.run("truncate e; insert into e values (14); drop index ei; insert into e values (13)").unwrap();
    assert_eq!(s.query("create index ei on e (a bad_ops)"), division);
    s.run("create function nothing(int4, int4) returns int4 language sql as 'select null::int4'").unwrap();
    s.run(&whole_class("null_ops", "nothing")).unwrap();
    let failed = s.query("create index on e (a null_ops)");
    assert!(failed.starts_with("ERROR:  function ") && failed.ends_with(" returned NULL"), "{failed}");
}

#[test]
fn an_order_that_contradicts_itself_harms_nobody() {
    let server = Server::new();
    let s = server.connect();
    s.run("create function wild(int4, int4) returns int4 language sql volatile as 'select (random() * 3)::int4 - 1'")
        .unwrap();
    s.run(&whole_class("wild_ops", "wild")).unwrap();
    s.run(
        "create table w (a int4); insert into w select g from generate_series(1, 3000) g;
         create index wi on w (a wild_ops); insert into w select g from generate_series(3001, 4000) g",
    )
    .unwrap();
    s.run("create operator <<< (function = int4lt, leftarg = int4, rightarg = int4)").unwrap();
    s.run(
        "create operator class sort_ops for type int4 using btree as operator 1 <<<, function 1 wild(int4, int4)",
    )
    .unwrap();
    assert_eq!(s.query("select count(*) from (select a from w order by a using <<< offset 0) x"), "4000");
    // A condition that no index answers: what this one would find is anybody's guess.
    s.run("delete from w where a + 0 > 10").unwrap();
    s.run("vacuum w").unwrap();
    assert_eq!(s.query("select count(*) from w"), "10");
}

#[test]
fn a_users_function_orders_columns_under_a_collation() {
    let server = Server::new();
    let s = server.connect();
    s.run(
        "create function rev(text, text) returns int4 language sql immutable
             as 'select bttextcmp(reverse($1), reverse($2))';
         create operator class rev_ops for type text using btree as operator 1 <, operator 2 <=, operator 3 =,
             operator 4 >=, operator 5 >, function 1 rev(text, text);
         create table r (k int4, s text);
         insert into r select g % 10, md5(g::text) from generate_series(1, 1000) g;
         create unique index ri on r (k desc, s rev_ops desc);
         set enable_seqscan = off; set enable_bitmapscan = off",
    )
    .unwrap();
    assert_eq!(
        s.query("explain (costs off) select k from r where k = 3 and s = 'x'"),
        "Index Only Scan using ri on r\n  Index Cond: ((k = 3) AND (s = 'x'::text))"
    );
    assert_eq!(s.query("select k from r where k = 3 and s = md5('13')"), "3");
    assert_eq!(
        s.query(
            "select count(*) from r where k in (3, 4) and s = any (array[md5('13'), md5('14'), md5('24')])"
        ),
        "3"
    );
}

#[test]
fn a_users_function_chooses_partitions() {
    let server = Server::new();
    let s = server.connect();
    s.run(BY_MAGNITUDE).unwrap();
    s.run(
        "create table p (a int4) partition by range (a abs_ops);
         create table p1 partition of p for values from (0) to (10);
         create table p2 partition of p for values from (-10) to (-20);
         create table pd partition of p default",
    )
    .unwrap();
    assert_eq!(
        s.query("create table p3 partition of p for values from (15) to (30)"),
        "ERROR:  partition \"p3\" would overlap partition \"p2\""
    );
    s.run("insert into p values (-3), (9), (10), (-19), (20), (null)").unwrap();
    assert_eq!(
        s.query("select tableoid::regclass, a from p order by 1, abs(a)"),
        "p1|-3\np1|9\np2|10\np2|-19\npd|20\npd|"
    );
    assert_eq!(s.query("explain (costs off) select * from p where a <~ -10"), {
        "Append\n  ->  Seq Scan on p1 p_1\n        Filter: (a <~ '-10'::integer)\n  ->  Seq Scan on pd p_2\n        Filter: (a <~ '-10'::integer)"
    });
    assert_eq!(s.query("select a from p where a <~ -10 order by 1"), "-3\n9");
    assert_eq!(s.query("select a from p where a < 0 order by 1"), "-19\n-3");
    s.run("create table x (a int4); insert into x values (25), (-31)").unwrap();
    assert_eq!(
        s.query("alter table p attach partition x for values from (25) to (30)"),
        "ERROR:  partition constraint of relation \"x\" is violated by some row"
    );
    s.run("delete from x where a < 0; alter table p attach partition x for values from (25) to (30)")
        .unwrap();
    assert_eq!(
        s.query("select pg_get_partition_constraintdef('p2'::regclass)"),
        "((a IS NOT NULL) AND (a >=~ '-10'::integer) AND (a <~ '-20'::integer))"
    );
    s.run(
        "create table l (a int4) partition by list (a abs_ops);
         create table l1 partition of l for values in (1, -2); create table l2 partition of l for values in (3)",
    )
    .unwrap();
    assert_eq!(
        s.query("create table l3 partition of l for values in (2)"),
        "ERROR:  partition \"l3\" would overlap partition \"l1\""
    );
    s.run("insert into l values (-1), (2), (-3)").unwrap();
    assert_eq!(s.query("select tableoid::regclass, a from l order by 1, 2"), "l1|-1\nl1|2\nl2|-3");
    assert_eq!(s.query("explain (costs off) select * from l where a =~ -3"), {
        "Seq Scan on l2 l\n  Filter: (a =~ '-3'::integer)"
    });
}

#[test]
fn a_default_class_orders_values_of_a_users_type() {
    let server = Server::new();
    let s = server.connect();
    s.run(
        "create type pair as (x int4, y int4);
         create function size(pair) returns int4 language sql immutable set work_mem = '4MB'
             as 'select $1.x * $1.x + $1.y * $1.y';
         create function pair_cmp(pair, pair) returns int4 language sql immutable set work_mem = '4MB'
             as 'select btint4cmp(public.size($1), public.size($2))';
         create function pair_lt(pair, pair) returns bool language sql immutable as 'select public.size($1) < public.size($2)';
         create function pair_le(pair, pair) returns bool language sql immutable as 'select public.size($1) <= public.size($2)';
         create function pair_eq(pair, pair) returns bool language sql immutable set work_mem = '4MB'
             as 'select public.size($1) = public.size($2)';
         create function pair_ge(pair, pair) returns bool language sql immutable as 'select public.size($1) >= public.size($2)';
         create function pair_gt(pair, pair) returns bool language sql immutable as 'select public.size($1) > public.size($2)';
         create operator <@< (function = pair_lt, leftarg = pair, rightarg = pair);
         create operator <=@ (function = pair_le, leftarg = pair, rightarg = pair);
         create operator =@= (function = pair_eq, leftarg = pair, rightarg = pair, commutator = =@=, merges);
         create operator >=@ (function = pair_ge, leftarg = pair, rightarg = pair);
         create operator >@> (function = pair_gt, leftarg = pair, rightarg = pair);
         create operator class pair_ops default for type pair using btree as operator 1 <@<, operator 2 <=@,
             operator 3 =@=, operator 4 >=@, operator 5 >@>, function 1 pair_cmp(pair, pair);
         create table t (p pair, n int4);
         insert into t values ((3, 4), 1), ((1, 1), 2), ((5, 0), 3), ((-4, 3), 4), ((2, 9), 5), (null, 6)",
    )
    .unwrap();
    assert_eq!(s.query("select n from t order by p, n"), "2\n1\n3\n4\n5\n6");
    assert_eq!(s.query("select n from t order by p desc, n"), "6\n5\n1\n3\n4\n2");
    assert_eq!(s.query("select size(p), count(*) from t group by p order by p"), "2|1\n25|3\n85|1\n|1");
    assert_eq!(s.query("select count(*) from (select distinct p from t) x"), "4");
    assert_eq!(s.query("select count(*) from (select p from t union select p from t) x"), "4");
    assert_eq!(
        s.query("select n, rank() over (order by p) from t where n < 6 order by 1"),
        "1|2\n2|1\n3|2\n4|2\n5|5"
    );
    s.run("set enable_hashjoin = off; set enable_nestloop = off").unwrap();
    assert_eq!(s.query("select count(*) from t a join t b on a.p =@= b.p"), "11");
    s.run("create unique index u on t (p) where n in (1, 2, 5); create index i on t (p); analyze t").unwrap();
    assert_eq!(
        s.query("insert into t values ((4, -3), 1)"),
        "ERROR:  duplicate key value violates unique constraint \"u\""
    );
    s.run("set enable_seqscan = off; set enable_bitmapscan = off; set enable_sort = off").unwrap();
    assert_eq!(s.query("explain (costs off) select p from t order by p limit 1"), {
        "Limit\n  ->  Index Only Scan using i on t"
    });
    assert_eq!(s.query("select n from t where p =@= (0, 5)::pair order by n"), "1\n3\n4");
    let arrays = s.query("select array[p] from t order by 1");
    assert_eq!(arrays, "ERROR:  ordering arrays of type pair is not supported yet");
}

#[test]
fn rows_are_distinct_by_a_users_function() {
    let server = Server::new();
    let s = server.connect();
    s.run(BY_MAGNITUDE).unwrap();
    s.run(
        "create table d (x int4, n int4);
         insert into d values (3, 1), (-3, 2), (1, 3), (-2, 4), (2, 5), (null, 6), (null, 7)",
    )
    .unwrap();
    for (query, rows) in [
        ("select distinct on (x) x, n from d order by x using <~, n", "1|3\n-2|4\n3|1\n|6"),
        ("select distinct on (x) x, n from d order by x using >~, n desc", "|7\n-3|2\n2|5\n1|3"),
        ("select count(*) from (select distinct x from d order by x using <~) y", "4"),
        ("select count(*) from (select distinct x from d order by x) y", "6"),
    ] {
        assert_eq!(s.query(query), rows, "{query}");
    }
    assert_eq!(
        s.query("explain (costs off) select distinct on (x) x, n from d order by x using <~, n"),
        "Unique\n  ->  Sort\n        Sort Key: x USING <~, n\n        ->  Seq Scan on d"
    );
    s.run("create index on d (x abs_ops); set enable_seqscan = off; set enable_bitmapscan = off").unwrap();
    assert_eq!(s.query("select distinct on (x) abs(x) from d order by x using >~"), "\n3\n2\n1");
}

#[test]
fn what_is_unique_by_a_users_function_can_be_referred_to() {
    let server = Server::new();
    let s = server.connect();
    s.run(BY_MAGNITUDE).unwrap();
    s.run(
        "create table k (a int4, b text); create unique index on k (a abs_ops);
         insert into k values (4, 'four'), (-5, 'five');
         create table f (r int4 references k (a) on update cascade on delete set null);
         insert into f values (-4), (5)",
    )
    .unwrap();
    let missing = |table: &str| {
        format!(
            "ERROR:  insert or update on table \"{table}\" violates foreign key constraint \"{table}_r_fkey\""
        )
    };
    assert_eq!(s.query("insert into f values (6)"), missing("f"));
    // A key that is equal, but another value, goes on to the rows that refer to it.
    for (change, rows) in [
        ("update k set a = -4 where b = 'four'", "-4\n5"),
        ("update k set a = 40 where b = 'four'", "5\n40"),
        ("delete from k where b = 'five'", "40\n"),
    ] {
        s.run(change).unwrap();
        assert_eq!(s.query("select r from f order by 1"), rows, "{change}");
    }
    s.run("create table g (r int2 references k (a)); insert into g values (-40)").unwrap();
    assert_eq!(s.query("insert into g values (41)"), missing("g"));
    assert_eq!(
        s.query("create table h (r text references k (a))"),
        "ERROR:  foreign key constraint \"h_r_fkey\" cannot be implemented"
    );
    s.run("insert into k values (9, 'nine'); create table i (r int4); insert into i values (-9), (8)")
        .unwrap();
    assert_eq!(s.query("alter table i add foreign key (r) references k (a)"), missing("i"));
    assert_eq!(
        s.query("delete from k where a = 40"),
        "ERROR:  update or delete on table \"k\" violates foreign key constraint \"g_r_fkey\" on table \"g\""
    );
    s.run(
        "create function abs2(int4, int2) returns bool language sql immutable as 'select abs($1) = abs($2)';
         create function eq2(int2, int2) returns bool language sql immutable as 'select abs($1) = abs($2)';
         create operator =~ (function = abs2, leftarg = int4, rightarg = int2);
         create operator =~ (function = eq2, leftarg = int2, rightarg = int2);
         alter operator family abs_ops using btree add operator 3 =~ (int4, int2), operator 3 =~ (int2, int2);
         create table j (r int2 references k (a)); insert into j values (-9)",
    )
    .unwrap();
    assert_eq!(
        s.query(
            "select conpfeqop[1]::regoperator, conppeqop[1]::regoperator, conffeqop[1]::regoperator
             from pg_constraint where conname in ('g_r_fkey', 'j_r_fkey') order by conname"
        ),
        "=~(integer,integer)|=~(integer,integer)|=~(integer,integer)\n\
         =~(integer,smallint)|=~(integer,integer)|=~(smallint,smallint)"
    );
    assert_eq!(s.query("insert into j values (-10)"), missing("j"));
}

#[test]
fn what_orders_by_users_functions_cannot_do_is_refused() {
    let server = Server::new();
    let s = server.connect();
    by_magnitude(&s);
    assert_eq!(
        s.query("create type absrange as range (subtype = int4, subtype_opclass = abs_ops)"),
        "ERROR:  operator class \"abs_ops\", which is not built in, for a range type is not supported yet"
    );
    s.run("create table x (a int4, exclude using btree (a abs_ops with =~)); insert into x values (1), (-2)")
        .unwrap();
    assert_eq!(
        s.query("insert into x values (-1)"),
        "ERROR:  conflicting key value violates exclusion constraint \"x_a_excl\""
    );
    assert_eq!(s.query("select count(*) from (select distinct a from t order by a using <~) x"), "3000");
    assert_eq!(s.query("select x from (values (1), (3), (2)) v(x) order by x using >"), "3\n2\n1");
}

#[test]
fn whole_classes_are_valid() {
    let server = Server::new();
    let s = server.connect();
    assert_eq!(s.query("select oid from pg_opclass where not amvalidate(oid)"), "");
    s.run(&whole_class("mine", "btint4cmp")).unwrap();
    s.run("create operator class less for type int4 using btree as operator 1 <, function 1 btint4cmp(int4, int4)")
        .unwrap();
    s.run("create operator class h for type int4 using hash as operator 1 =").unwrap();
    s.run("create operator class seeded for type int4 using hash as operator 1 =, function 2 hashint4extended(int4, int8)")
        .unwrap();
    assert_eq!(
        s.query("select opcname, amvalidate(oid) from pg_opclass where oid >= 16384 order by 1"),
        "h|f\nless|f\nmine|t\nseeded|t"
    );
    assert_eq!(s.query("select amvalidate(1::oid)"), "ERROR:  cache lookup failed for operator class 1");
}

#[test]
fn operators_are_altered() {
    let server = Server::new();
    let s = server.connect();
    s.run("create function f(bool, int4) returns bool language sql immutable as 'select null::bool'")
        .unwrap();
    s.run("create operator === (function = f, leftarg = bool, rightarg = int4, restrict = eqsel)").unwrap();
    let state = "select oprrest, oprjoin, oprcanhash, oprcanmerge from pg_operator where oprname = '==='";
    assert_eq!(s.query(state), "eqsel|-|f|f");
    s.run("alter operator === (bool, int4) set (restrict = none, join = eqjoinsel, hashes)").unwrap();
    assert_eq!(s.query(state), "-|eqjoinsel|t|f");
    s.run("alter operator === (bool, int4) set (restrict = contsel, merges)").unwrap();
    assert_eq!(s.query(state), "contsel|eqjoinsel|t|t");
    for (options, error) in [
        ("merges = false", "operator attribute \"merges\" cannot be changed if it has already been set"),
        ("hashes = false", "operator attribute \"hashes\" cannot be changed if it has already been set"),
        ("function = f", "operator attribute \"function\" cannot be changed"),
        ("other = 1", "operator attribute \"other\" not recognized"),
        ("negator = ===", "operator cannot be its own negator"),
        ("restrict = nothing", "function nothing(internal, oid, internal, integer) does not exist"),
    ] {
        let statement = format!("alter operator === (bool, int4) set ({options})");
        assert_eq!(s.query(&statement), format!("ERROR:  {error}"), "{options}");
    }
    s.run("create function g(int4, bool) returns bool language sql immutable as 'select null::bool'")
        .unwrap();
    s.run("create operator ==== (function = g, leftarg = int4, rightarg = bool)").unwrap();
    s.run("alter operator === (bool, int4) set (commutator = ====)").unwrap();
    let names = "select o.oprname, c.oprname from pg_operator o join pg_operator c on o.oprcom = c.oid \
                 where o.oprname in ('===', '====') order by 1";
    assert_eq!(s.query(names), "===|====\n====|===");
    s.run("create operator =&= (function = g, leftarg = int4, rightarg = bool)").unwrap();
    assert_eq!(
        s.query("alter operator === (bool, int4) set (commutator = =&=)"),
        "ERROR:  operator attribute \"commutator\" cannot be changed if it has already been set"
    );
    assert_eq!(
        s.query("alter operator =&= (int4, bool) set (commutator = ===)"),
        "ERROR:  commutator operator === is already the commutator of operator ===="
    );
    s.run("create role nobody_special; set role nobody_special").unwrap();
    assert_eq!(
        s.query("alter operator === (bool, int4) set (restrict = none)"),
        "ERROR:  must be owner of operator ==="
    );
}

#[test]
fn users_functions_choose_hash_partitions() {
    let server = Server::new();
    let s = server.connect();
    s.run("create function h(int4, int8) returns int8 language sql immutable as 'select $1 + $2 * 0'")
        .unwrap();
    s.run("create operator class c for type int4 using hash as operator 1 =, function 2 h(int4, int8)")
        .unwrap();
    s.run("create table t (a int4, b text) partition by hash (a c)").unwrap();
    s.run("create table t0 partition of t for values with (modulus 2, remainder 0)").unwrap();
    s.run("create table t1 (b text, a int4); insert into t1 values ('x', 0)").unwrap();
    let place = "alter table t attach partition t1 for values with (modulus 2, remainder 1)";
    let hash =
        "select satisfies_hash_partition('t'::regclass, 2, 1, a) from (values (0), (1), (2), (null)) v(a)";
    let ones: Vec<String> = s.query(hash).lines().map(str::to_owned).collect();
    assert_eq!(ones.len(), 4);
    // Numbers of one parity are together; NULL is not hashed.
    assert_eq!(ones[0], ones[2]);
    assert_ne!(ones[0], ones[1]);
    assert_eq!(ones[3], "f");
    let (there, elsewhere) = if ones[0] == "t" { (0, 1) } else { (1, 0) };
    s.run(&format!("update t1 set a = {elsewhere}")).unwrap();
    assert_eq!(s.query(place), "ERROR:  partition constraint of relation \"t1\" is violated by some row");
    s.run(&format!("update t1 set a = {there}; {place}")).unwrap();
    s.run("insert into t select g, 'n' from generate_series(10, 13) g; insert into t values (null, 'null')")
        .unwrap();
    assert_eq!(
        s.query("select tableoid::regclass, count(*), count(distinct a % 2) from t group by 1 order by 1"),
        "t0|3|1\nt1|3|1"
    );
    assert_eq!(s.query("select count(*) from t where a = 11"), "1");
    assert_eq!(
        s.query(&format!("insert into t1 values ('x', {elsewhere})")),
        "ERROR:  new row for relation \"t1\" violates partition constraint"
    );
    assert_eq!(
        s.query("select satisfies_hash_partition('t'::regclass, 2, 1, 'x'::text)"),
        "ERROR:  column 1 of the partition key has type integer, but supplied value is of type text"
    );
    assert_eq!(
        s.query("select satisfies_hash_partition('t'::regclass, 2, 1, variadic array[1, 2])"),
        "ERROR:  number of partitioning columns (1) does not match number of partition keys provided (2)"
    );
}

#[test]
fn languages_change_hands() {
    let server = Server::new();
    let s = server.connect();
    s.run("create language l handler plpgsql_call_handler; create role r").unwrap();
    assert_eq!(s.query("alter language l rename to plpgsql"), "ERROR:  language \"plpgsql\" already exists");
    s.run("alter language l rename to m; alter language m owner to r").unwrap();
    assert_eq!(s.query("select lanowner::regrole from pg_language where lanname = 'm'"), "r");
    assert_eq!(
        s.query("drop role r"),
        "ERROR:  role \"r\" cannot be dropped because some objects depend on it"
    );
    assert_eq!(
        s.query("drop language plpgsql"),
        "ERROR:  cannot drop language plpgsql because extension plpgsql requires it"
    );
    s.run("drop language m; drop role r").unwrap();
}

#[test]
fn all_that_a_role_has_made_is_reassigned() {
    let server = Server::new();
    let s = server.connect();
    s.run("create role maker superuser; create role heir; grant create on schema public to heir; set role maker").unwrap();
    s.run(
        "create operator family mine using hash; create operator class mine for type int using hash as operator 1 =;
        create conversion mine for 'LATIN1' to 'UTF8' from iso8859_1_to_utf8;
        create operator === (leftarg = int, rightarg = int, function = int4eq)",
    )
    .unwrap();
    s.run("reset role; reassign owned by maker to heir; drop role maker").unwrap();
    let owners = "select opfowner::regrole, opcowner::regrole, conowner::regrole, oprowner::regrole
        from pg_opfamily, pg_opclass, pg_conversion, pg_operator
        where opfname = 'mine' and opcname = 'mine' and conname = 'mine' and oprname = '==='";
    assert_eq!(s.query(owners), "heir|heir|heir|heir");
}
