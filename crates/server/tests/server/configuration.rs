//! ALTER SYSTEM, the configuration files as statements see them, and what a reload makes of a bad line.

use std::fs;

use crate::support::{Server, until};

#[test]
fn alter_system_writes_a_file_that_a_reload_reads() {
    let server = Server::start(&[]);
    let mut client = server.client();
    let auto = server.data().join("postgresql.auto.conf");
    for statement in [
        "alter system set work_mem = '9MB'",
        "alter system set max_connections = 77",
        "alter system set search_path = a, \"b C\"",
        "alter system set my.own = 'it''s'",
        "alter system set WORK_MEM to '8MB'",
        "alter system reset my.none",
    ] {
        client.query(statement).unwrap_or_else(|failure| panic!("{statement}: {failure:?}"));
    }
    let text = fs::read_to_string(&auto).unwrap();
    assert!(
        text.ends_with(
            "max_connections = '77'\nsearch_path = 'a, \"b C\"'\nmy.own = 'it''s'\nwork_mem = '8MB'\n"
        ),
        "{text}"
    );
    for (statement, error) in [
        ("alter system set nonsense = 1", "42704 unrecognized configuration parameter \"nonsense\""),
        ("alter system set work_mem = 'x'", "22023 invalid value for parameter \"work_mem\": \"x\""),
        ("alter system set server_version = '1'", "55P02 parameter \"server_version\" cannot be changed"),
        ("alter system set role = 'a'", "55P02 parameter \"role\" cannot be changed"),
        (
            "alter system set search_path = E'a\\nb'",
            "22023 parameter value for ALTER SYSTEM must not contain a newline",
        ),
        (
            "alter system set archive_library = 'x'",
            "0A000 setting \"archive_library\" cannot be changed: libraries that archive is not supported",
        ),
        (
            "begin; alter system set work_mem = '1MB'",
            "25001 ALTER SYSTEM cannot run inside a transaction block",
        ),
    ] {
        assert_eq!(client.error(statement), error, "{statement}");
        client.query("rollback").unwrap();
    }
    assert_eq!(client.value("show work_mem"), "4MB");
    client.query("select pg_reload_conf()").unwrap();
    until("the reload", || client.value("show work_mem") == "8MB");
    assert_eq!(client.value("show my.own"), "it's");
    let row = "select setting || ' ' || (sourcefile like '%/postgresql.auto.conf') || ' ' || sourceline || ' ' || \
               pending_restart from pg_settings where name = 'work_mem'";
    assert_eq!(client.value(row), "8192 true 6 false");
    let pending = "select setting || ' ' || pending_restart from pg_settings where name = 'max_connections'";
    assert_eq!(client.value(pending), "10000 true");
    // Who was granted it may change one setting; nobody but a superuser may change all.
    client.query("create role joe; grant alter system on parameter work_mem to joe; set role joe").unwrap();
    client.query("alter system reset work_mem").unwrap();
    let denied = client.error("alter system set port = 1");
    assert_eq!(denied, "42501 permission denied to set parameter \"port\"");
    let denied = client.error("alter system reset all");
    assert_eq!(denied, "42501 permission denied to perform ALTER SYSTEM RESET ALL");
    client.query("reset role; alter role joe nologin").unwrap();
    client.query("alter system reset all").unwrap();
    assert_eq!(fs::read_to_string(&auto).unwrap().lines().filter(|line| !line.starts_with('#')).count(), 0);
    client.query("select pg_reload_conf()").unwrap();
    until("the old value", || client.value("show work_mem") == "4MB");
    assert_eq!(client.value(pending), "10000 false");
}

#[test]
fn a_bad_line_spoils_itself_or_all() {
    let mut server = Server::start(&[]);
    let mut client = server.client();
    let path = server.data().join("postgresql.conf");
    let add = |text: &str| {
        let before = fs::read_to_string(&path).unwrap();
        fs::write(&path, before + text).unwrap();
    };
    let lines = "select string_agg(concat_ws(' ', name, setting, applied, error), '; ' order by seqno) \
                 from pg_file_settings where name is null or name in ('work_mem', 'jit', 'nonsense', 'lock_timeout')";
    add("work_mem = 5MB\nwork_mem = 6MB\njit = on\nlock_timeout = soon\n");
    assert_eq!(
        client.value(lines),
        "work_mem 5MB f; work_mem 6MB t; jit on f setting could not be applied; \
         lock_timeout soon f setting could not be applied"
    );
    client.query("select pg_reload_conf()").unwrap();
    until("the good line", || client.value("show work_mem") == "6MB");
    server.wait_for_log(
        "setting \"jit\" cannot be changed: compilation of expressions is not supported in file",
    );
    server.wait_for_log("invalid value for parameter \"lock_timeout\": \"soon\"");
    server.wait_for_log("contains errors; unaffected changes were applied");
    assert_eq!(client.value("show jit"), "off");
    add("work_mem = 7MB\nnonsense = 1\nthis is wrong\n");
    assert!(
        client
            .value(lines)
            .ends_with("work_mem 7MB f; nonsense 1 f unrecognized configuration parameter; f syntax error"),
        "{}",
        client.value(lines)
    );
    client.query("select pg_reload_conf()").unwrap();
    server.wait_for_log("contains errors; no changes were applied");
    assert_eq!(client.value("show work_mem"), "6MB");
    // A server does not start with any of them.
    drop(client);
    server.signal(libc::SIGINT);
    server.wait();
    server.launch();
    server.wait_for_log("contains errors");
    assert!(!server.wait().success());
}

#[test]
fn a_reload_reaches_the_checkpointer() {
    let mut server = Server::start(&["shared_buffers=16MB"]);
    let mut client = server.client();
    client.query("alter system set max_wal_size = '32MB'").unwrap();
    client.query("select pg_reload_conf()").unwrap();
    until("the reload", || client.value("show max_wal_size") == "32MB");
    client
        .query("create table t as select repeat(md5(i::text), 10) from generate_series(1, 100000) i")
        .unwrap();
    server.wait_for_log("checkpoint starting: wal");
}
