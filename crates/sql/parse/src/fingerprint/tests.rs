//! Texts of utility statements, and texts with their constants taken out. Expected texts are those of PostgreSQL 18.

use super::*;

fn utility(text: &str) -> (i64, String) {
    let raw = crate::parse(text).unwrap().pop().unwrap();
    let found = of_utility(&raw.stmt, text, raw.location, raw.length);
    (found.id, found.normalized(text, raw.location, raw.length))
}

#[test]
fn utility_statements_lose_their_constants() {
    for (text, expected) in [
        ("SET work_mem = '1MB';", "SET work_mem = $1"),
        ("SELECT 1; CALL p(1, 'x')", "CALL p($1, $2)"),
        ("savepoint a", "savepoint $1"),
        ("rollback to savepoint a", "rollback to savepoint $1"),
        ("release a", "release $1"),
        ("PREPARE TRANSACTION 'x'", "PREPARE TRANSACTION $1"),
        ("deallocate p1", "deallocate $1"),
        ("DEALLOCATE ALL", "DEALLOCATE ALL"),
        (
            "create table t (a int default 5, b text default 'x')",
            "create table t (a int default 5, b text default 'x')",
        ),
        ("create view v as select 1", "create view v as select 1"),
        ("copy (select 1) to stdout", "copy (select 1) to stdout"),
        ("create table t as select 1", "create table t as select $1"),
        ("explain execute p(1)", "explain execute p(1)"),
        ("explain select 1", "explain select $1"),
        ("comment on table t is 'x'", "comment on table t is 'x'"),
        ("do $$ begin perform 1; end $$", "do $$ begin perform 1; end $$"),
        ("declare c cursor for select 1", "declare c cursor for select $1"),
        ("fetch 3 from c", "fetch 3 from c"),
        ("create sequence s start 5", "create sequence s start 5"),
        ("BEGIN", "BEGIN"),
    ] {
        assert_eq!(utility(text).1, expected);
    }
}

#[test]
fn utility_statements_are_told_by_their_words() {
    let same = |a: &str, b: &str| assert_eq!(utility(a).0, utility(b).0, "{a} / {b}");
    same("begin", "/* x */ BEGIN ;");
    same("set work_mem to '1MB'", "SET  work_mem TO '2MB'");
    same("savepoint a", "SAVEPOINT b");
    assert_ne!(utility("begin").0, utility("commit").0);
    assert_ne!(utility("drop table a").0, utility("drop table b").0);
}

#[test]
fn constants_are_replaced_in_place() {
    let text = "select -5, 'it''s' from t where a in (1, 2, CAST(3 AS int)) and b = $1;";
    let at = |part: &str| text.find(part).unwrap() as u32;
    let mut found = Fingerprint {
        id: 1,
        constants: [Constant::One(at("-5")), Constant::One(at("'it"))].into(),
        highest_parameter: 1,
        parameters_are_constants: false,
    };
    let part = (0, text.len());
    assert_eq!(
        found.normalized(text, part.0, part.1),
        "select $2, $3 from t where a in (1, 2, CAST(3 AS int)) and b = $1"
    );
    found.constants = [Constant::One(at("-5")), Constant::List(at("1, 2"), at("3 AS"))].into();
    found.highest_parameter = 0;
    assert_eq!(
        found.normalized(text, part.0, part.1),
        "select $1, 'it''s' from t where a in ($2 /*, ... */) and b = $1"
    );
}

#[test]
fn strings_behind_types_are_the_constants() {
    let text = "select date '2020-01-01', true, timestamp with time zone 'now', E'a'";
    let at = |part: &str| Constant::One(text.find(part).unwrap() as u32);
    let constants = [at("date"), at("true"), at("timestamp"), at("E'")].into();
    let found = Fingerprint { constants, ..Fingerprint::default() };
    let expected = "select date $1, $2, timestamp with time zone $3, $4";
    assert_eq!(found.normalized(text, 0, text.len()), expected);
}

#[test]
fn parameters_that_stand_for_constants_lose_their_spaces() {
    let text = "select a from t where a = $1  and b in ( $2 , $3 )";
    let text = text.replace("= $1 ", "=  $1 ");
    let at = |part: &str| Constant::One(text.find(part).unwrap() as u32);
    let found = Fingerprint {
        constants: [at("$1"), at("$2"), at("$3")].into(),
        parameters_are_constants: true,
        ..Fingerprint::default()
    };
    assert_eq!(found.normalized(&text, 0, text.len()), "select a from t where a = $1 and b in ($2,$3)");
}
