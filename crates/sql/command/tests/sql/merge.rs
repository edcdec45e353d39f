//! MERGE through whole sessions.

use crate::support::{Client, Server};

fn tables(session: &Client) {
    session
        .run("create table t (id int primary key, v int); insert into t values (1, 10), (2, 20), (3, 30)")
        .unwrap();
    session.run("create table s (id int, d int); insert into s values (2, 5), (3, 20), (4, 40)").unwrap();
}

#[test]
fn each_row_takes_the_first_arm_that_fits() {
    let server = Server::new();
    let s = server.connect();
    tables(&s);
    let out = s
        .run(
            "merge into t using s on t.id = s.id
             when matched and t.v > 25 then delete
             when matched then update set v = t.v + s.d
             when not matched and s.d > 100 then do nothing
             when not matched then insert values (s.id, s.d)
             returning merge_action(), old, new, t.id, s.d",
        )
        .unwrap();
    assert_eq!(out.tags, ["MERGE 3"]);
    let mut rows = out.rows;
    rows.sort();
    assert_eq!(rows, ["DELETE|(3,30)||3|20", "INSERT||(4,40)|4|40", "UPDATE|(2,20)|(2,25)|2|5"]);
    assert_eq!(s.query("select id, v from t order by id"), "1|10\n2|25\n4|40");
}

#[test]
fn rows_of_the_target_without_match_have_arms_too() {
    let server = Server::new();
    let s = server.connect();
    tables(&s);
    let merge = "merge into t using (select id, sum(d) as d from s group by id) x on t.id = x.id
         when not matched by source then update set v = -v
         when matched then delete
         when not matched then insert (v, id) values (d + 1, id)";
    assert_eq!(s.run(merge).unwrap().tags, ["MERGE 4"]);
    assert_eq!(s.query("select id, v from t order by id"), "1|-10\n4|41");
    assert_eq!(
        s.run("merge into t using s on t.id = s.id when not matched by source then delete").unwrap().tags,
        ["MERGE 1"]
    );
    assert_eq!(s.query("select id from t"), "4");
}

#[test]
fn no_row_is_written_twice() {
    let server = Server::new();
    let s = server.connect();
    tables(&s);
    s.run("insert into s values (2, 6)").unwrap();
    let error = "ERROR:  MERGE command cannot affect row a second time";
    assert_eq!(s.query("merge into t using s on t.id = s.id when matched then update set v = 0"), error);
    assert_eq!(s.query("merge into t using s on t.id = s.id when matched then delete"), error);
    assert_eq!(s.query("select count(*) from t where v > 0"), "3");
}

#[test]
fn merge_goes_through_views_and_checks() {
    let server = Server::new();
    let s = server.connect();
    tables(&s);
    s.run("create view big as select id as k, v as w from t where v > 10 with check option").unwrap();
    let merge = "merge into big using s on k = id
         when matched then update set (w, k) = (select w + s.d, k)
         when not matched by source then delete
         when not matched then insert values (id, d) returning merge_action(), big";
    let mut rows = s.run(merge).unwrap().rows;
    rows.sort();
    assert_eq!(rows, ["INSERT|(4,40)", "UPDATE|(2,25)", "UPDATE|(3,50)"]);
    assert_eq!(s.query("select count(*) from t"), "4");
    assert_eq!(
        s.query("merge into big using s on k = id when matched then update set w = 0"),
        "ERROR:  new row violates check option for view \"big\""
    );
    assert_eq!(
        s.query("select merge_action()"),
        "ERROR:  MERGE_ACTION() can only be used in the RETURNING list of a MERGE command"
    );
    assert_eq!(
        s.query("merge into pg_class_oid_index using s on true when matched then delete"),
        "ERROR:  cannot execute MERGE on relation \"pg_class_oid_index\""
    );
}
