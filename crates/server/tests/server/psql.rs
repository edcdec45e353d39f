//! `psql` as it comes: what a person at a terminal does first.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::thread;

use crate::support::{Server, has, output, text};

/// Runs statements, one connection; both outputs.
fn psql(server: &Server, statements: &[&str]) -> String {
    let mut command = server.tool("psql");
    command.arg("-X");
    for statement in statements {
        command.args(["-c", statement]);
    }
    text(&output(&mut command))
}

#[test]
fn by_socket_and_by_tcp() {
    if !has("psql") {
        return;
    }
    let server = Server::start(&[]);
    assert!(psql(&server, &["select 1 + 1 as two"]).starts_with(" two \n-----\n   2\n"));
    let mut tcp = server.tool("psql");
    let tcp = tcp.args(["-X", "-A", "-t", "-h", "127.0.0.1", "-c", "select 1 + 1", "-c", "\\conninfo"]);
    let said = text(&output(tcp));
    assert!(said.starts_with("2\n"), "{said}");
    assert!(said.contains(&format!("at port \"{}\"", server.port)), "{said}");
}

#[test]
fn tables_and_their_lists() {
    if !has("psql") {
        return;
    }
    let server = Server::start(&[]);
    let said = psql(
        &server,
        &[
            "create table t (a int primary key, b text not null default 'x', c numeric(10,2), check (a > 0))",
            "create index t_b on t (b, c desc)",
            "insert into t (a, c) values (1, 1.5), (2, null)",
            "select * from t order by a",
        ],
    );
    assert_eq!(
        said,
        "CREATE TABLE\nCREATE INDEX\nINSERT 0 2\n a | b |  c   \n---+---+------\n 1 | x | 1.50\n 2 | x |     \n(2 rows)\n\n"
    );
    assert_eq!(
        psql(&server, &["\\dt"]),
        "        List of relations
 Schema | Name | Type  |  Owner   
--------+------+-------+----------
 public | t    | table | postgres
(1 row)

"
    );
    assert_eq!(psql(&server, &["\\d nothing"]), "Did not find any relation named \"nothing\".\n");
    assert!(psql(&server, &["\\d"]).contains(" public | t    | table | postgres"));
    assert!(psql(&server, &["\\di"]).contains(" public | t_pkey | index | postgres | t"));
}

#[test]
fn databases_roles_and_schemas() {
    if !has("psql") {
        return;
    }
    let server = Server::start(&[]);
    let mut said = psql(&server, &["\\l"]);
    if said.contains("column d.daticulocale does not exist") {
        // A psql that does not know PostgreSQL 17 yet fails so with PostgreSQL too.
        said = psql(&server, &["select datname from pg_database"]);
    }
    for name in ["postgres", "template0", "template1"] {
        assert!(said.contains(&format!("\n {name}")), "{said}");
    }
    assert!(said.contains("(3 rows)"), "{said}");
    let said = psql(&server, &["\\du"]);
    assert!(
        said.contains(" postgres  | Superuser, Create role, Create DB, Replication, Bypass RLS"),
        "{said}"
    );
    let said = psql(&server, &["\\dn"]);
    assert!(said.contains(" public | pg_database_owner\n(1 row)"), "{said}");
}

#[test]
fn errors_point_at_their_place() {
    if !has("psql") {
        return;
    }
    let server = Server::start(&[]);
    let error = |statement: &str| psql(&server, &[statement]);
    assert_eq!(
        error("select 1 + nothing from pg_class"),
        "ERROR:  column \"nothing\" does not exist\nLINE 1: select 1 + nothing from pg_class\n                   ^\n"
    );
    assert_eq!(error("selec 1"), "ERROR:  syntax error at or near \"selec\"\nLINE 1: selec 1\n        ^\n");
    // The place counts characters, not bytes.
    assert_eq!(
        error("select 'äöü', * from nowhere"),
        "ERROR:  relation \"nowhere\" does not exist\nLINE 1: select 'äöü', * from nowhere\n                             ^\n"
            .to_string()
    );
    assert_eq!(
        error("select 'a' + 1"),
        "ERROR:  invalid input syntax for type integer: \"a\"\nLINE 1: select 'a' + 1\n               ^\n"
    );
    assert_eq!(
        error("select true + 1"),
        "ERROR:  operator does not exist: boolean + integer\nLINE 1: select true + 1\n                    ^\n\
         HINT:  No operator matches the given name and argument types. You might need to add explicit type casts.\n"
    );
    assert_eq!(error("select 1/0"), "ERROR:  division by zero\n");
    assert_eq!(
        psql(&server, &["create table u (a int unique)", "insert into u values (7), (7)"]),
        "CREATE TABLE\nERROR:  duplicate key value violates unique constraint \"u_a_key\"\nDETAIL:  Key (a)=(7) already exists.\n"
    );
}

#[test]
fn copy_through_the_client() {
    if !has("psql") {
        return;
    }
    let server = Server::start(&[]);
    let (source, target) = (server.file("in.csv"), server.file("out.txt"));
    let rows: String = (1..=1000).map(|n| format!("{n},\"row \"\"{n}\"\", with a comma\"\n")).collect();
    fs::write(&source, format!("a,b\n{rows}")).unwrap();
    let said = psql(
        &server,
        &[
            "create table t (a int, b text)",
            &format!("\\copy t from '{}' with (format csv, header)", source.display()),
            "insert into t values (1001, E'tab\\there\\nand \\\\ there'), (1002, null)",
            &format!("\\copy (select * from t where a >= 1000 order by a) to '{}'", target.display()),
            &format!("\\copy t from '{}'", source.display()),
        ],
    );
    assert!(
        said.starts_with("CREATE TABLE\nCOPY 1000\nINSERT 0 2\nCOPY 3\nERROR:  invalid input syntax for type integer: \"a,b\"\nCONTEXT:  COPY t, line 1, column a: \"a,b\"\n"),
        "{said}"
    );
    assert_eq!(
        fs::read_to_string(&target).unwrap(),
        "1000\trow \"1000\", with a comma\n1001\ttab\\there\\nand \\\\ there\n1002\t\\N\n"
    );
    assert_eq!(server.client().value("select count(*) from t"), "1002");
}

#[test]
fn transactions() {
    if !has("psql") {
        return;
    }
    let server = Server::start(&[]);
    let said = psql(
        &server,
        &[
            "create table t (a int)",
            "begin",
            "insert into t values (1)",
            "savepoint s",
            "insert into t values (2)",
            "select oops",
            "select 1",
            "rollback to s",
            "insert into t values (3)",
            "commit",
            "begin",
            "delete from t",
            "rollback",
            "commit",
            "select sum(a) from t",
        ],
    );
    assert_eq!(
        said.lines().filter(|line| !line.is_empty()).collect::<Vec<_>>().join("|"),
        "CREATE TABLE|BEGIN|INSERT 0 1|SAVEPOINT|INSERT 0 1|ROLLBACK|INSERT 0 1|COMMIT|BEGIN|DELETE 2|ROLLBACK|COMMIT| sum \
         |-----|   4|(1 row)|ERROR:  column \"oops\" does not exist|LINE 1: select oops|               ^|ERROR:  current \
         transaction is aborted, commands ignored until end of transaction block|WARNING:  there is no transaction in \
         progress"
    );
}

#[test]
fn interrupted_by_the_keyboard() {
    if !has("psql") {
        return;
    }
    let server = Server::start(&[]);
    let mut witness = server.client();
    let mut psql = server.tool("psql");
    let mut psql = psql
        .args(["-X", "-c", "select pg_sleep(600)"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let sleeping = "select count(*) from pg_stat_activity where query like '%pg_sleep(600)%' and pid <> pg_backend_pid() and state = 'active'";
    crate::support::until("psql sleeps", || witness.value(sleeping) == "1");
    crate::support::signal_to(psql.id() as i32, libc::SIGINT);
    assert!(crate::support::wait(&mut psql).is_some(), "psql sleeps on");
    let said = text(&psql.wait_with_output().unwrap());
    assert!(said.contains("ERROR:  canceling statement due to user request"), "{said}");
}

#[test]
fn a_lost_client_rolls_back() {
    if !has("psql") {
        return;
    }
    let server = Server::start(&[]);
    let mut witness = server.client();
    witness.query("create table t (a int primary key)").unwrap();
    witness.query("insert into t values (1)").unwrap();
    let mut psql = server.tool("psql");
    let mut psql =
        psql.args(["-X", "-q", "-A", "-t"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = psql.stdin.take().unwrap();
    let mut lines = BufReader::new(psql.stdout.take().unwrap()).lines();
    input
        .write_all(b"begin;\nupdate t set a = 2 where a = 1;\ninsert into t values (5);\nselect 'done';\n")
        .unwrap();
    assert_eq!(lines.next().unwrap().unwrap(), "done");
    assert_eq!(witness.value("select a from t"), "1");
    // Another one waits for the row that the first has changed.
    let mut waiter = server.client();
    let waiting = thread::spawn(move || waiter.query("update t set a = 3 where a = 1").map(|_| ()));
    psql.kill().unwrap();
    psql.wait().unwrap();
    waiting.join().unwrap().unwrap();
    assert_eq!(witness.value("select string_agg(a::text, ' ') from t"), "3");
}

/// What lists and describes objects, on a schema with every kind of them.
#[test]
fn descriptions_of_every_kind_of_object() {
    if !has("psql") {
        return;
    }
    let server = Server::start(&[]);
    let made = psql(
        &server,
        &[
            "create schema app; comment on schema app is 'the app'",
            "create type mood as enum ('sad', 'ok'); create type app.pair as (x int, y text)",
            "create domain positive as int default 5 check (value > 0)",
            "create sequence numbers increment by 2 minvalue 5 maxvalue 500 cycle",
            "create table t (id int primary key, a serial, b bigint generated always as identity, c text collate \"C\", \
             g int generated always as (id * 2) stored, m mood, p app.pair, d positive, constraint pos check (id > 0))",
            "create index t_low on t (lower(c) desc, id) include (a) where id > 3",
            "comment on table t is 'a table'; comment on column t.id is 'the id'",
            "create view v as select id, upper(c) as uc from t where id > 1",
        ],
    );
    assert!(!made.contains("ERROR"), "{made}");
    let commands = "\\d \\d+ \\dt+ \\di+ \\dv+ \\ds+ \\dT+ \\dD+ \\dn+ \\du+ \\df+ \\da+ \\do+ \\dC+ \\dc+ \\db+ \\dp \\ddp \\dd \\drds \\dRp+ \
         \\dRs+ \\des+ \\dew+ \\deu+ \\det+ \\dx+ \\dy+ \\dF+ \\dA+ \\dAc+ \\dL+ \\dl \\dm+ \\dE+ \\dP+ \\dX \\dconfig";
    let objects =
        ["t", "v", "numbers", "t_a_seq", "t_b_seq", "t_pkey", "app.pair", "pg_class", "pg_stat_activity"];
    let described = objects.iter().map(|object| format!("\\d+ {object}"));
    for command in commands.split_whitespace().map(str::to_owned).chain(described) {
        let said = psql(&server, &[&command]);
        assert!(!said.contains("ERROR") && !said.is_empty(), "{command}: {said}");
    }
    let table = psql(&server, &["\\d t"]);
    assert!(table.contains("\"t_low\" btree (lower(c) DESC, id) INCLUDE (a) WHERE id > 3\n"), "{table}");
    assert!(psql(&server, &["\\d t_low"]).contains(" lower  | text    | yes  | lower(c)\n"));
    let view = psql(&server, &["\\sv v"]);
    assert!(view.starts_with("CREATE OR REPLACE VIEW public.v AS\n SELECT id,\n"), "{view}");
}

#[test]
fn queries_that_psql_goes_on_with() {
    if !has("psql") {
        return;
    }
    let server = Server::start(&[]);
    let script = "select 7 as x \\gset\n\\echo :x\n\
                  select format('select %s as n', g) from generate_series(1, 2) g \\gexec\n\
                  select a, b, a * b from generate_series(1, 2) a, generate_series(3, 4) b order by 1, 2 \\crosstabview\n";
    let path = server.file("script.sql");
    fs::write(&path, script).unwrap();
    let mut command = server.tool("psql");
    let said = text(&output(command.args(["-X", "-A", "-t", "-f"]).arg(&path)));
    assert_eq!(said, "7\n1\n2\n1|3|4\n2|6|8\n");
}
