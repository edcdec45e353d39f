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
    assert_eq!(remark("enable_async_append"), "No plan does so.");
    assert_eq!(remark("work_mem"), "-");
    // What no answer depends on is kept.
    assert_eq!(session.query("set enable_async_append = off; show enable_async_append"), "off");
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

/// What a text means may change with a setting: nothing is kept that was made before.
#[test]
fn null_may_equal_null() {
    let server = Server::new();
    let session = server.connect();
    session.query("create table t (a int); insert into t values (1), (null)");
    let equal = "select count(*) from t where a = null";
    assert_eq!(session.query(equal), "0");
    session.query("prepare p as select count(*) from t where null = a");
    assert_eq!(session.query("execute p"), "0");
    session.query("set transform_null_equals = on");
    assert_eq!((session.query(equal), session.query("execute p")), ("1".into(), "1".into()));
    assert_eq!(session.query("select count(*) from t where a <> null or a operator(pg_catalog.=) null"), "0");
    assert_eq!(session.query("select case null::int when null then 1 else 2 end"), "2");
    assert_eq!(server.connect().query(equal), "0", "others have their own");
    session.query("reset transform_null_equals");
    assert_eq!((session.query(equal), session.query("execute p")), ("0".into(), "0".into()));
}

#[test]
fn all_names_may_be_quoted() {
    let server = Server::new();
    let session = server.connect();
    session.query("create table t (a int); create view v as select a from t");
    let texts = "select quote_ident('a'), format('%I', 'b'), 't'::regclass, pg_get_viewdef('v')";
    let plain = session.query(texts);
    assert!(plain.starts_with("a|b|t| SELECT a"), "{plain}");
    session.query("set quote_all_identifiers = on");
    let quoted = session.query(texts);
    assert!(quoted.starts_with("\"a\"|\"b\"|\"t\"| SELECT \"a\""), "{quoted}");
    assert_eq!(session.query("begin; set local quote_all_identifiers = off; select quote_ident('a')"), "a");
    assert_eq!(session.query("rollback; select quote_ident('a')"), "\"a\"");
    assert_eq!(server.connect().query(texts), plain, "others have their own");
    session.query("reset quote_all_identifiers");
    assert_eq!(session.query(texts), plain);
}

/// The words that are quoted are those that the grammar reserves.
#[test]
fn reserved_words_are_quoted() {
    let server = Server::new();
    let session = server.connect();
    let words =
        "select count(*), bool_and((catcode <> 'U') = (quote_ident(word) <> word)) from pg_get_keywords()";
    assert!(session.query(words).ends_with("|t"));
}

#[test]
fn backslashes_before_quotes_may_be_refused() {
    let server = Server::new();
    let session = server.connect();
    let text = "select E'it\\'s'";
    let refused = "ERROR:  unsafe use of \\' in a string literal";
    assert_eq!(session.query(text), "it's");
    session.query("set backslash_quote = off");
    assert_eq!(
        (session.query(text), session.query("select E'it''s \\\\' || '\\'")),
        (refused.into(), "it's \\\\".into())
    );
    session.query("set backslash_quote = on; set client_encoding = 'SJIS'");
    assert_eq!(session.query(text), "it's");
    session.query("set backslash_quote = safe_encoding");
    assert_eq!(session.query(text), refused);
}

#[test]
fn prefixes_of_known_settings_are_reserved() {
    let server = Server::new();
    let session = server.connect();
    let refused = "ERROR:  invalid configuration parameter name \"plpgsql.variable_conflicts\"";
    for statement in ["set", "alter role all set", "alter system set"] {
        let statement = format!("{statement} plpgsql.variable_conflicts = 'error'");
        assert_eq!(session.query(&statement), refused, "{statement}");
    }
    assert_eq!(session.query("set plpgsqls.anything = 'x'; show plpgsqls.anything"), "x");
    let ours = "select string_agg(name, ' ' order by name) from pg_settings where name like 'stampede.%'";
    assert_eq!(
        session.query(ours),
        "stampede.allow_root_access stampede.batch_execution stampede.memory_limit stampede.open_during_recovery stampede.workers"
    );
    assert_eq!(session.query("show stampede.workers"), "0");
}
