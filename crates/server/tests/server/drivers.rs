//! The drivers that applications use: each goes through connecting, prepared statements, values of all types in both forms,
//! transactions, COPY, errors, cancelling and pipelining.
//!
//! The programs stand in `test/clients`, beside those of object mappers and migration tools, which `test/clients/run` runs. Their libraries
//! come from the registries of their languages; where a language or its registry is missing, the driver is skipped and the test says so.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::support::{Server, output, text};
use tokio_postgres::{NoTls, SimpleQueryMessage, error::SqlState};

fn url(server: &Server) -> String {
    format!("postgres://postgres@127.0.0.1:{}/postgres?sslmode=disable", server.port)
}

/// Fetches a driver; if that does not work, or not in time, says that it is skipped.
fn fetched(command: &mut Command) -> bool {
    let mut child = command.stdin(Stdio::null()).spawn().unwrap();
    let done = crate::support::wait(&mut child).is_some_and(|status| status.success());
    if !done {
        let _ = child.kill();
        let _ = child.wait();
        println!("skipped: the driver cannot be had: {command:?}");
    }
    done
}

fn check(server: &Server, command: &mut Command) {
    let done = output(command.env("DATABASE_URL", url(server)));
    assert!(done.status.success(), "{}", text(&done));
}

/// Runs a client of `test/clients` against a server of its own, unless what it needs is missing.
fn client(name: &str, programs: &[&str]) {
    if !programs.iter().all(|program| is_there(program)) {
        println!("skipped: {name} needs {programs:?}");
        return;
    }
    let server = Server::start(&[]);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test/clients").join(name);
    let libraries = server.file(name);
    std::fs::create_dir(&libraries).unwrap();
    if fetched(Command::new("./install").arg(&libraries).current_dir(&folder)) {
        check(&server, Command::new("./check").arg(&libraries).current_dir(&folder));
    }
}

fn is_there(program: &str) -> bool {
    std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .any(|path| path.join(program).exists())
}

#[test]
fn psycopg() {
    client("psycopg", &["python3"]);
}

#[test]
fn node_postgres() {
    client("node-postgres", &["node", "npm"]);
}

#[test]
fn pgx() {
    client("pgx", &["go"]);
}

#[test]
fn tokio_postgres_client() {
    let server = Server::start(&[]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (mut client, connection) = tokio_postgres::connect(&url(&server), NoTls).await.unwrap();
        tokio::spawn(connection);
        client.batch_execute("create table t (id int primary key, v text)").await.unwrap();
        values(&client).await;
        transactions(&mut client).await;
        copy_and_pipeline(&client).await;
        cancelling(&client).await;
    });
}

async fn values(client: &tokio_postgres::Client) {
    let statement = client
        .prepare("select $1::bool, $2::int2, $3::int4, $4::int8, $5::float4, $6::float8, $7::text, $8::bytea, $9::int4[], $10::text")
        .await
        .unwrap();
    let (list, bytes, none) = (vec![Some(1), None, Some(-3)], vec![0u8, 92, 255], None::<String>);
    let row = client
        .query_one(
            &statement,
            &[
                &true,
                &-7i16,
                &123_456i32,
                &(-1i64 << 60),
                &0.5f32,
                &1e-300f64,
                &"Grüße",
                &bytes,
                &list,
                &none,
            ],
        )
        .await
        .unwrap();
    assert!(row.get::<_, bool>(0) && row.get::<_, i16>(1) == -7 && row.get::<_, i32>(2) == 123_456);
    assert!(
        row.get::<_, i64>(3) == -1 << 60 && row.get::<_, f32>(4) == 0.5 && row.get::<_, f64>(5) == 1e-300
    );
    assert!(row.get::<_, &str>(6) == "Grüße" && row.get::<_, Vec<u8>>(7) == bytes);
    assert!(row.get::<_, Vec<Option<i32>>>(8) == list && row.get::<_, Option<String>>(9).is_none());
}

async fn transactions(client: &mut tokio_postgres::Client) {
    let mut outer = client.transaction().await.unwrap();
    outer.execute("insert into t values ($1, $2)", &[&1, &"one"]).await.unwrap();
    let inner = outer.transaction().await.unwrap();
    let error = inner.execute("insert into t values (1, 'twice')", &[]).await.unwrap_err();
    assert_eq!(error.code(), Some(&SqlState::UNIQUE_VIOLATION));
    assert_eq!(error.as_db_error().and_then(|e| e.constraint()), Some("t_pkey"));
    inner.rollback().await.unwrap();
    let portal = outer.bind("select g from generate_series(1, 10) g", &[]).await.unwrap();
    assert_eq!(outer.query_portal(&portal, 4).await.unwrap().len(), 4);
    assert_eq!(outer.query_portal(&portal, 0).await.unwrap().len(), 6);
    outer.commit().await.unwrap();
    let messages = client.simple_query("select 1; select count(*) from t").await.unwrap();
    let last = messages.iter().rev().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0),
        _ => None,
    });
    assert_eq!(last, Some("1"));
    let error = client.query("select 1/0", &[]).await.unwrap_err();
    assert_eq!(error.code(), Some(&SqlState::DIVISION_BY_ZERO));
}

async fn copy_and_pipeline(client: &tokio_postgres::Client) {
    use futures_util::{SinkExt, StreamExt};
    let sink = client.copy_in("copy t from stdin").await.unwrap();
    let mut sink = std::pin::pin!(sink);
    for n in 1000..1100 {
        sink.send(bytes::Bytes::from(format!("{n}\trow {n}\n"))).await.unwrap();
    }
    assert_eq!(sink.finish().await.unwrap(), 100);
    let out = client.copy_out("copy (select * from t where id = 1001) to stdout").await.unwrap();
    let parts: Vec<_> = out.map(|part| part.unwrap()).collect().await;
    assert_eq!(parts.concat(), b"1001\trow 1001\n");
    // Requests that are polled together are sent together.
    let statement = client.prepare("select $1::int * 2").await.unwrap();
    let asked: Vec<i32> = (0..50).collect();
    let twice = futures_util::future::join_all(asked.iter().map(|n| {
        let statement = &statement;
        async move { client.query_one(statement, &[n]).await.unwrap().get::<_, i32>(0) }
    }))
    .await;
    assert_eq!(twice, asked.iter().map(|n| n * 2).collect::<Vec<_>>());
}

async fn cancelling(client: &tokio_postgres::Client) {
    let token = client.cancel_token();
    let cancel = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(300)).await;
        token.cancel_query(NoTls).await
    });
    let error = client.query("select pg_sleep(60)", &[]).await.unwrap_err();
    assert_eq!(error.code(), Some(&SqlState::QUERY_CANCELED));
    cancel.await.unwrap().unwrap();
    assert_eq!(client.query_one("select 1", &[]).await.unwrap().get::<_, i32>(0), 1);
}
