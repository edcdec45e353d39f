//! The extended protocol against the whole server: what PostgreSQL answers to series of messages that drivers send, message by
//! message. The expected lines are those of PostgreSQL 18.

use crate::support::client::message;
use crate::support::{Client, Server};

/// Parse of the unnamed statement, with types given for its parameters.
fn parse(text: &str, types: &[u32]) -> Vec<u8> {
    parse_as("", text, types)
}

fn parse_as(name: &str, text: &str, types: &[u32]) -> Vec<u8> {
    let mut body = format!("{name}\0{text}\0").into_bytes();
    body.extend((types.len() as u16).to_be_bytes());
    types.iter().for_each(|oid| body.extend(oid.to_be_bytes()));
    message(b'P', &body)
}

/// Bind of the unnamed statement to a portal: values as text, and formats of the result.
fn bind(portal: &str, values: &[Option<&str>], formats: &[u16]) -> Vec<u8> {
    let mut body = format!("{portal}\0\0\0\0").into_bytes();
    body.extend((values.len() as u16).to_be_bytes());
    for value in values {
        match value {
            None => body.extend((-1i32).to_be_bytes()),
            Some(text) => {
                body.extend((text.len() as u32).to_be_bytes());
                body.extend(text.bytes());
            }
        }
    }
    body.extend((formats.len() as u16).to_be_bytes());
    formats.iter().for_each(|format| body.extend(format.to_be_bytes()));
    message(b'B', &body)
}

fn bind_named(statement: &str) -> Vec<u8> {
    message(b'B', &[b"\0", statement.as_bytes(), b"\0\0\0\0\0\0\0"].concat())
}

fn describe(kind: char, name: &str) -> Vec<u8> {
    message(b'D', format!("{kind}{name}\0").as_bytes())
}

fn execute(portal: &str) -> Vec<u8> {
    message(b'E', format!("{portal}\0\0\0\0\0").as_bytes())
}

fn query(text: &str) -> Vec<u8> {
    message(b'Q', format!("{text}\0").as_bytes())
}

/// One message as a word; rows with their values.
fn shown(kind: u8, body: &[u8]) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let field = |code: u8| body.split(|b| *b == 0).find(|f| f.first() == Some(&code)).map(|f| text(&f[1..]));
    match kind {
        b'Z' | b'C' => format!("{}[{}]", char::from(kind), text(body).trim_end_matches('\0')),
        b'E' => format!("E[{} {}]", field(b'C').unwrap(), field(b'M').unwrap()),
        b't' => {
            let types =
                body[2..].chunks(4).map(|oid| u32::from_be_bytes(oid.try_into().unwrap()).to_string());
            format!("t[{}]", types.collect::<Vec<_>>().join(" "))
        }
        b'D' => {
            let (mut rest, mut values) = (&body[2..], Vec::new());
            while let Some((head, tail)) = rest.split_first_chunk::<4>() {
                let (value, tail) = tail.split_at(i32::from_be_bytes(*head).max(0) as usize);
                values.push(text(value));
                rest = tail;
            }
            format!("D[{}]", values.join(" "))
        }
        b'd' => format!("d{}", body.len()),
        _ => char::from(kind).to_string(),
    }
}

/// What the server answers, up to ReadyForQuery or the end.
fn answers(client: &mut Client, messages: &[Vec<u8>]) -> String {
    let simple = messages.iter().any(|message| message[0] == b'Q');
    let sync = if simple { Vec::new() } else { message(b'S', b"") };
    client.send(&[messages.concat(), sync].concat()).unwrap();
    let mut seen = Vec::new();
    loop {
        match client.message() {
            Ok((b'S' | b'N', _)) => {}
            Ok((kind, body)) => {
                seen.push(shown(kind, &body));
                if kind == b'Z' {
                    break;
                }
            }
            Err(_) => {
                seen.push("end".into());
                break;
            }
        }
    }
    seen.join(" ")
}

/// One server for all: making one takes longer than asking it.
#[test]
fn series_of_messages_are_answered_as_by_postgresql() {
    let server = Server::start(&[]);
    utility_statements_take_parameters(&server);
    variables_in_utility_statements_of_routines(&server);
    portals_that_bind_made_are_fetched_from(&server);
    what_bind_gives_is_checked(&server);
    binary_copy_sends_its_header_with_the_first_row(&server);
    errors_tell_their_origin(&server);
    a_session_that_ends_itself_is_told_so(&server);
    constants_that_cannot_be_computed_are_told_before_the_result(&server);
}

fn utility_statements_take_parameters(server: &Server) {
    let mut client = server.client();
    client.query("create procedure p(inout x int) language plpgsql as 'begin x := x + 1; end'").unwrap();
    let mut ask = |messages: &[Vec<u8>]| answers(&mut client, messages);
    assert_eq!(
        ask(&[
            parse("call p($1)", &[]),
            describe('S', ""),
            bind("", &[Some("7")], &[]),
            describe('P', ""),
            execute("")
        ]),
        "1 t[23] T 2 T D[8] C[CALL] Z[I]"
    );
    let explain = parse("explain (costs off) select * from pg_class where oid = $1", &[]);
    let explained = ask(&[explain, describe('S', ""), bind("", &[Some("1259")], &[]), execute("")]);
    assert!(explained.contains("t[26] T 2") && explained.contains("(oid = '1259'::oid)"), "{explained}");
    let make = parse("create table made as select $1::int as a, $2::text as b", &[]);
    assert_eq!(
        ask(&[make, describe('S', ""), bind("", &[Some("3"), Some("x")], &[]), execute("")]),
        "1 t[23 25] n 2 C[SELECT 1] Z[I]"
    );
    let into = parse("select a + $1 as c into other from made", &[]);
    assert_eq!(
        ask(&[into, bind("", &[Some("4")], &[]), execute(""), parse("select * from other", &[])]),
        "1 2 C[SELECT 1] 1 Z[I]"
    );
    assert_eq!(ask(&[query("select c, b from other, made")]), "T D[7 x] C[SELECT 1] Z[I]");
    ask(&[query("begin")]);
    let declare = parse("declare c cursor for select x from generate_series(1, $1) x", &[]);
    assert_eq!(
        ask(&[declare, describe('S', ""), bind("", &[Some("2")], &[]), execute("")]),
        "1 t[23] n 2 C[DECLARE CURSOR] Z[T]"
    );
    assert_eq!(ask(&[query("fetch all c")]), "T D[1] D[2] C[FETCH 2] Z[T]");
    ask(&[query("rollback")]);
    // Elsewhere they have no meaning, and their types are those that came with Parse.
    assert_eq!(
        ask(&[parse("begin", &[23]), describe('S', ""), bind("", &[Some("3")], &[]), execute("")]),
        "1 t[23] n 2 C[BEGIN] Z[T]"
    );
    ask(&[query("rollback")]);
    assert_eq!(
        ask(&[parse("copy (select $1) to stdout", &[]), bind("", &[Some("3")], &[])]),
        "1 E[08P01 bind message supplies 1 parameters, but prepared statement \"\" requires 0] Z[I]"
    );
    assert_eq!(ask(&[query("call p($1)")]), "E[42P02 there is no parameter $1] Z[I]");
}

fn variables_in_utility_statements_of_routines(server: &Server) {
    let mut client = server.client();
    client
        .query(
            "create function f(n int) returns text language plpgsql as $$ \
             declare line text; found text := ''; \
             begin \
               create temp table made as select g from generate_series(1, n) g; \
               for line in explain (costs off) select * from pg_class where oid = n loop found := found || line; end loop; \
               return (select count(*) from made) || ' ' || found; \
             end $$",
        )
        .unwrap();
    assert_eq!(
        client.value("select f(3)"),
        "3 Index Scan using pg_class_oid_index on pg_class  Index Cond: (oid = '3'::oid)"
    );
    client
        .query("create function g(n int) returns void language sql as 'create table made2 as select n as a'")
        .unwrap();
    client.query("select g(5)").unwrap();
    assert_eq!(client.value("select a from made2"), "5");
}

fn portals_that_bind_made_are_fetched_from(server: &Server) {
    let mut client = server.client();
    client.query("create table t (a int)").unwrap();
    let mut ask = |messages: &[Vec<u8>]| answers(&mut client, messages);
    ask(&[query("begin")]);
    let series = parse("select * from generate_series(1, 5)", &[]);
    let run = |text| [parse(text, &[]), bind("", &[], &[]), execute("")].concat();
    assert_eq!(
        ask(&[series, bind("p", &[], &[]), run("move 2 in p"), run("fetch p"), execute("p")]),
        "1 2 1 2 C[MOVE 2] 1 2 D[3] C[FETCH 1] D[4] D[5] C[SELECT 2] Z[T]"
    );
    let insert = parse("insert into t values (1), (2) returning a", &[]);
    assert_eq!(
        ask(&[insert, bind("q", &[], &[]), run("fetch 1 q"), run("fetch all q")]),
        "1 2 1 2 D[1] C[FETCH 1] 1 2 D[2] C[FETCH 1] Z[T]"
    );
    assert_eq!(
        ask(&[parse("insert into t values (3)", &[]), bind("r", &[], &[]), run("fetch 1 r")]),
        "1 2 1 2 E[XX000 unsupported portal strategy] Z[E]"
    );
    ask(&[query("rollback")]);
    // What does not exist yet is found out when it is asked for rows.
    let unknown = "E[34000 cursor \"later\" does not exist]";
    assert_eq!(
        ask(&[
            parse("fetch later", &[]),
            describe('S', ""),
            bind("", &[], &[]),
            describe('P', ""),
            execute("")
        ]),
        format!("1 t[] n 2 n {unknown} Z[I]")
    );
    assert_eq!(ask(&[parse("execute later", &[]), describe('S', "")]), "1 t[] n Z[I]");
}

fn what_bind_gives_is_checked(server: &Server) {
    let mut client = server.client();
    client.query("create function doubled(a int) returns int language sql as 'select a * 2'").unwrap();
    let mut ask = |messages: &[Vec<u8>]| answers(&mut client, messages);
    let wrong = |formats, columns| {
        format!("1 E[08P01 bind message has {formats} result formats but query has {columns} columns] Z[I]")
    };
    assert_eq!(ask(&[parse("select 1", &[]), bind("", &[], &[0, 1, 0])]), wrong(3, 1));
    assert_eq!(ask(&[parse("show work_mem", &[]), bind("", &[], &[0, 0])]), wrong(2, 1));
    assert_eq!(ask(&[parse("discard plans", &[]), bind("", &[], &[0, 0])]), "1 2 Z[I]");
    // `{? = call f(?)}` of JDBC: the first parameter stands for the result.
    let call = parse("select * from doubled($1, $2) as result", &[2278, 23]);
    assert_eq!(
        ask(&[call, describe('S', ""), bind("", &[None, Some("4")], &[]), execute("")]),
        "1 t[2278 23] T 2 D[8] C[SELECT 1] Z[I]"
    );
    let undetermined = "E[42P18 could not determine data type of parameter $1] Z[I]";
    assert_eq!(ask(&[parse("select $65536::int", &[])]), undetermined);
    assert_eq!(ask(&[parse("select $0", &[])]), "E[42P02 there is no parameter $0] Z[I]");
    assert_eq!(ask(&[parse("select $999999999", &[])]), "E[42P02 there is no parameter $999999999] Z[I]");
}

fn binary_copy_sends_its_header_with_the_first_row(server: &Server) {
    let mut client = server.client();
    let copy = |query: &str| format!("copy ({query}) to stdout (format binary)");
    let two = answers(&mut client, &[query(&copy("select 1 union all select 2"))]);
    assert_eq!(two, "H d29 d10 d2 c C[COPY 2] Z[I]");
    let none = answers(&mut client, &[query(&copy("select 1 where false"))]);
    assert_eq!(none, "H d21 c C[COPY 0] Z[I]");
}

fn errors_tell_their_origin(server: &Server) {
    let mut client = server.client();
    client.query("create table stale (a int)").unwrap();
    let mut fields = |messages: &[Vec<u8>]| {
        client.send(&[messages.concat(), message(b'S', b"")].concat()).unwrap();
        let mut fields = Vec::new();
        loop {
            match client.message().unwrap() {
                (b'E', body) => fields = body.split(|b| *b == 0).map(<[u8]>::to_vec).collect(),
                (b'Z', _) => break fields,
                _ => {}
            }
        }
    };
    let field = |fields: &[Vec<u8>], code| {
        let found = fields.iter().find(|field| field.first() == Some(&code));
        found.map(|field| String::from_utf8_lossy(&field[1..]).into_owned())
    };
    let failed = fields(&[parse("select * from nowhere", &[])]);
    assert!(field(&failed, b'F').unwrap().ends_with(".rs"), "{failed:?}");
    assert!(field(&failed, b'L').unwrap().parse::<u32>().unwrap() > 0, "{failed:?}");
    // Drivers prepare again what fails in this way.
    fields(&[parse_as("s", "select * from stale", &[])]);
    fields(&[parse("alter table stale add b int", &[]), bind("", &[], &[]), execute("")]);
    let stale = fields(&[bind_named("s"), execute("")]);
    assert_eq!(field(&stale, b'C').as_deref(), Some("0A000"));
    assert_eq!(field(&stale, b'R').as_deref(), Some("RevalidateCachedQuery"));
    let unknown = fields(&[bind_named("nothing")]);
    assert_eq!(field(&unknown, b'R').as_deref(), Some("FetchPreparedStatement"));
    let mismatch = fields(&[parse("insert into stale values (now())", &[])]);
    assert_eq!(field(&mismatch, b'R').as_deref(), Some("transformAssignedExpr"));
}

fn a_session_that_ends_itself_is_told_so(server: &Server) {
    let mut client = server.client();
    let cancel = answers(&mut client, &[query("select pg_cancel_backend(pg_backend_pid())")]);
    assert!(cancel.ends_with("E[57014 canceling statement due to user request] Z[I]"), "{cancel}");
    let end = answers(&mut client, &[query("select pg_terminate_backend(pg_backend_pid())")]);
    assert!(end.ends_with("E[57P01 terminating connection due to administrator command] end"), "{end}");
}

fn constants_that_cannot_be_computed_are_told_before_the_result(server: &Server) {
    let mut client = server.client();
    client.query("create table nothing (a int)").unwrap();
    let mut ask = |messages: &[Vec<u8>]| answers(&mut client, messages);
    let by_zero = "E[22012 division by zero] Z[I]";
    assert_eq!(ask(&[query("select 1/0")]), by_zero);
    assert_eq!(ask(&[query("select a from nothing where a = 1/0")]), by_zero);
    assert_eq!(ask(&[query("select case when a > 0 then 1/0 end from nothing")]), by_zero);
    assert_eq!(ask(&[query("select case when true then 1 else 1/0 end")]), "T D[1] C[SELECT 1] Z[I]");
    assert_eq!(
        ask(&[query("select case 1 when 0 then 1/0 when 1 then 1 else 2/0 end")]),
        "T D[1] C[SELECT 1] Z[I]"
    );
    assert_eq!(ask(&[query("prepare p as select 1/0")]), "C[PREPARE] Z[I]");
    let described =
        ask(&[parse("select 1/0", &[]), describe('S', ""), bind("", &[], &[]), describe('P', "")]);
    assert_eq!(described, format!("1 t[] T 2 {by_zero}"));
}
