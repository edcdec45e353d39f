//! Roles, memberships, and whose rights apply.

use crate::support::{Client, Server};

fn error(client: &Client, sql: &str) -> String {
    match client.run(sql) {
        Ok(_) => format!("no error: {sql}"),
        Err(error) => {
            let detail = error.report().detail.clone().unwrap_or_default();
            format!("{} {} {detail}", error.code().as_str(), error.message())
        }
    }
}

fn all(client: &Client, statements: &[&str]) {
    for sql in statements {
        client.run(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

#[test]
fn roles_come_change_and_go() {
    let server = Server::new();
    let su = server.connect();
    all(
        &su,
        &["create role r createdb connection limit 3 valid until '2030-01-01 00:00+00'", "create user u"],
    );
    let shown = "select rolname, rolcreatedb, rolcanlogin, rolinherit, rolconnlimit from pg_authid where oid >= 16384 order by 1";
    assert_eq!(su.query(shown), "r|t|f|t|3\nu|f|t|t|-1");
    all(&su, &["alter role r nocreatedb login", "alter role r rename to s"]);
    assert_eq!(su.query(shown), "s|f|t|t|3\nu|f|t|t|-1");
    assert_eq!(error(&su, "create role s"), "42710 role \"s\" already exists ");
    assert_eq!(
        error(&su, "create role pg_x"),
        "42939 role name \"pg_x\" is reserved Role names starting with \"pg_\" are reserved."
    );
    assert_eq!(error(&su, "create role x login nologin"), "42601 conflicting or redundant options ");
    assert_eq!(error(&su, "drop role s, nobody"), "42704 role \"nobody\" does not exist ");
    assert_eq!(error(&su, "drop role postgres"), "55006 current user cannot be dropped ");
    assert_eq!(
        su.run("drop role if exists nobody").unwrap().notices,
        ["role \"nobody\" does not exist, skipping"]
    );
    all(&su, &["drop role s, u"]);
    assert_eq!(su.query(shown), "");
}

#[test]
fn set_role_follows_transactions() {
    let server = Server::new();
    let su = server.connect();
    all(&su, &["create role a", "create role b", "create role c login", "grant a to c"]);
    let who = "select session_user, current_user, current_setting('role'), current_setting('is_superuser')";
    all(&su, &["begin", "set role a"]);
    assert_eq!(su.query(who), "postgres|a|a|off");
    all(&su, &["savepoint s", "set session authorization c"]);
    assert_eq!(su.query(who), "c|c|none|off");
    all(&su, &["set role a"]);
    assert_eq!(su.query(who), "c|a|a|off");
    all(&su, &["rollback to s"]);
    assert_eq!(su.query(who), "postgres|a|a|off");
    all(&su, &["set local role b", "commit"]);
    assert_eq!(su.query(who), "postgres|a|a|off");
    all(&su, &["reset role"]);
    assert_eq!(su.query(who), "postgres|postgres|none|on");
    let c = server.connect_as("c").unwrap();
    assert_eq!(error(&c, "set role b"), "42501 permission denied to set role \"b\" ");
    assert_eq!(
        error(&c, "set session authorization a"),
        "42501 permission denied to set session authorization \"a\" "
    );
    assert_eq!(c.query("set role a; select current_user"), "a");
    all(&c, &["discard all"]);
    assert_eq!(c.query("select current_user"), "c");
}

#[test]
fn who_may_log_in() {
    let server = Server::new();
    let su = server.connect();
    all(&su, &["create role no", "create role one login connection limit 1"]);
    all(&su, &["alter role one set work_mem to '1MB'", "alter role one set search_path to a, \"B\""]);
    let refused = |user: &str| server.connect_as(user).map(drop).unwrap_err().message().to_owned();
    assert_eq!(refused("no"), "role \"no\" is not permitted to log in");
    let one = server.connect_as("one").unwrap();
    assert_eq!(
        one.query("select current_setting('work_mem'), current_setting('search_path')"),
        "1MB|a, \"B\""
    );
    assert_eq!(refused("one"), "too many connections for role \"one\"");
    drop(one);
    all(&su, &["alter role one reset work_mem"]);
    let one = server.connect_as("one").unwrap();
    assert_eq!(one.query("select current_setting('work_mem')"), "4MB");
    assert_eq!(
        error(&one, "alter role one set log_statement to 'all'"),
        "42501 permission denied to set parameter \"log_statement\" "
    );
    assert_eq!(
        error(&one, "set log_statement to 'all'"),
        "42501 permission denied to set parameter \"log_statement\" "
    );
}

#[test]
fn memberships_have_options_and_grantors() {
    let server = Server::new();
    let su = server.connect();
    all(
        &su,
        &["create role g", "create role m login", "create role n login", "create role k login createrole"],
    );
    all(&su, &["grant g to m with admin option", "grant g to n with inherit false, set false"]);
    let rows = "select m.rolname, a.admin_option, a.inherit_option, a.set_option, r.rolname from pg_auth_members a \
                join pg_authid m on m.oid = a.member join pg_authid r on r.oid = a.grantor \
                where a.roleid = 'g'::regrole order by 1, 5";
    assert_eq!(su.query(rows), "m|t|t|t|postgres\nn|f|f|f|postgres");
    let (m, n, k) =
        (server.connect_as("m").unwrap(), server.connect_as("n").unwrap(), server.connect_as("k").unwrap());
    assert_eq!(error(&n, "set role g"), "42501 permission denied to set role \"g\" ");
    assert_eq!(
        error(&n, "grant g to k"),
        "42501 permission denied to grant role \"g\" Only roles with the ADMIN option on role \"g\" may grant this role."
    );
    all(&m, &["grant g to k with admin option"]);
    assert_eq!(
        error(&m, "grant k to g"),
        "42501 permission denied to grant role \"k\" Only roles with the ADMIN option on role \"k\" may grant this role."
    );
    assert_eq!(error(&su, "grant m to g"), "0LP01 role \"m\" is a member of role \"g\" ");
    assert_eq!(
        error(&k, "grant g to m with admin option"),
        "0LP01 ADMIN option cannot be granted back to your own grantor "
    );
    assert_eq!(error(&su, "revoke admin option for g from m"), "2BP01 dependent privileges exist ");
    assert_eq!(
        error(&su, "drop role m"),
        "2BP01 role \"m\" cannot be dropped because some objects depend on it privileges for membership of role k in role g"
    );
    all(&su, &["revoke admin option for g from m cascade"]);
    assert_eq!(su.query(rows), "m|f|t|t|postgres\nn|f|f|f|postgres");
    assert_eq!(
        su.run("grant g to m").unwrap().notices,
        ["role \"m\" has already been granted membership in role \"g\" by role \"postgres\""]
    );
    // Who makes a role administers it.
    all(&k, &["create role child login"]);
    assert_eq!(error(&k, "set role child"), "42501 permission denied to set role \"child\" ");
    all(&k, &["grant child to k", "set role child", "reset role"]);
    assert_eq!(
        error(&k, "alter role g nologin"),
        "42501 permission denied to alter role Only roles with the CREATEROLE attribute and the ADMIN option on role \"g\" may alter this role."
    );
    assert_eq!(
        error(&k, "create role s superuser"),
        "42501 permission denied to create role Only roles with the SUPERUSER attribute may create roles with the SUPERUSER attribute."
    );
    all(&k, &["drop role child"]);
}
