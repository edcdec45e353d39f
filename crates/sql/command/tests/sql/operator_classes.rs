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

#[test]
fn code_of_users_does_not_order_keys() {
    let server = Server::new();
    let s = server.connect();
    s.run("create function c(int4, int4) returns int4 language sql immutable as 'select btint4cmp($2, $1)'")
        .unwrap();
    s.run(&whole_class("theirs", "c")).unwrap();
    s.run("create table t (a int4)").unwrap();
    let refused =
        "ERROR:  operator class \"theirs\", which is not built in, for ordering is not supported yet";
    assert_eq!(s.query("create index on t (a theirs)"), refused);
    assert_eq!(s.query("create table p (a int4) partition by range (a theirs)"), refused);
    s.run("create operator <<< (function = int4lt, leftarg = int4, rightarg = int4)").unwrap();
    assert_eq!(
        s.query("select 1 order by 1 using <<<"),
        "ERROR:  operator <<< is not a valid ordering operator"
    );
    s.run("create operator family g using btree; alter operator family g using btree add operator 1 <<< (int4, int4)")
        .unwrap();
    assert_eq!(
        s.query("select a from t order by a using <<<"),
        "ERROR:  ordering by operator family \"g\", which is not built in, is not supported yet"
    );
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
