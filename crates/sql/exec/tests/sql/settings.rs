//! What settings do to the statements of a session, and which values are refused.

use crate::support::Server;

#[test]
fn what_is_missing_is_refused_and_said() {
    let server = Server::new();
    let session = server.connect();
    let refused = "ERROR:  setting \"jit\" cannot be changed: compilation of expressions is not supported";
    for statement in [
        "set jit = on",
        "alter role all set jit = on",
        "select set_config('jit', 'on', false)",
        "set local jit to yes",
    ] {
        assert_eq!(session.query(statement), refused, "{statement}");
    }
    assert_eq!(session.query("set jit = off; show jit"), "off");
    let remark = |name: &str| {
        session.query(&format!("select coalesce(extra_desc, '-') from pg_settings where name = '{name}'"))
    };
    assert_eq!(remark("jit"), "Cannot be changed: compilation of expressions is not supported.");
    assert_eq!(remark("parallel_setup_cost"), "No plan runs in parallel, and no worker is started.");
    assert_eq!(remark("work_mem"), "-");
    // What no answer depends on is kept.
    assert_eq!(session.query("set parallel_setup_cost = 0; show parallel_setup_cost"), "0");
}

/// What pg_dump sets before it reads: views of users might do something.
#[test]
fn views_of_users_can_be_kept_out() {
    let server = Server::new();
    let session = server.connect();
    session.query("create table t (a int); insert into t values (1); create view v as select a from t");
    session.query("create view w as select * from v; prepare p as select * from v");
    assert_eq!(session.query("execute p"), "1");
    session.query("set restrict_nonsystem_relation_kind to 'view, foreign-table'");
    for statement in ["select * from v", "execute p", "insert into v values (2)", "select (select a from v)"]
    {
        let refused = "ERROR:  access to non-system view \"v\" is restricted";
        assert_eq!(session.query(statement), refused, "{statement}");
    }
    assert!(session.query("select * from w").ends_with("is restricted"));
    assert_eq!(session.query("select a from t; select count(*) > 0 from pg_settings"), "1\nt");
    assert_eq!(
        session.query("set restrict_nonsystem_relation_kind to 'table'"),
        "ERROR:  invalid value for parameter \"restrict_nonsystem_relation_kind\": \"table\""
    );
    assert_eq!(session.query("reset restrict_nonsystem_relation_kind; execute p"), "1");
}
