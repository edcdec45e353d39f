//! LISTEN and NOTIFY: what sessions hear, and when.

use crate::support::client::message;
use crate::support::{Client, Server};

/// Sends a statement; the notifications that come before the session is ready again: sender, channel and payload.
fn heard_with(client: &mut Client, statement: &str) -> Vec<(i32, String, String)> {
    client.send(&message(b'Q', &[statement.as_bytes(), b"\0"].concat())).unwrap();
    let mut heard = Vec::new();
    loop {
        let (kind, body) = client.message().unwrap();
        match kind {
            b'Z' => return heard,
            b'A' => heard.push(notification(&body)),
            b'E' => panic!("{statement}: {}", String::from_utf8_lossy(&body)),
            _ => {}
        }
    }
}

/// The next message, which must be a notification.
fn heard(client: &mut Client) -> (i32, String, String) {
    let (kind, body) = client.message().unwrap();
    assert_eq!(kind, b'A');
    notification(&body)
}

fn notification(body: &[u8]) -> (i32, String, String) {
    let (pid, rest) = body.split_first_chunk::<4>().unwrap();
    let mut parts = rest.split(|&byte| byte == 0).map(|part| String::from_utf8_lossy(part).into_owned());
    (i32::from_be_bytes(*pid), parts.next().unwrap(), parts.next().unwrap())
}

fn pid(client: &mut Client) -> i32 {
    client.value("select pg_backend_pid()").parse().unwrap()
}

fn told(pid: i32, what: &[(&str, &str)]) -> Vec<(i32, String, String)> {
    what.iter().map(|(channel, payload)| (pid, (*channel).into(), (*payload).into())).collect()
}

#[test]
fn an_idle_session_hears_at_once_and_one_in_a_transaction_at_its_end() {
    let server = Server::start(&[]);
    let (mut listener, mut notifier) = (server.client(), server.client());
    let sender = pid(&mut notifier);
    listener.query("listen c").unwrap();
    notifier.query("notify c, 'one'; notify elsewhere").unwrap();
    assert_eq!(heard(&mut listener), (sender, "c".into(), "one".into()));

    listener.query("begin").unwrap();
    notifier.query("notify c, 'two'").unwrap();
    assert_eq!(heard_with(&mut listener, "select 1"), []);
    assert_eq!(heard_with(&mut listener, "commit"), told(sender, &[("c", "two")]));

    // What was not committed is not told, and what was not told when the session stopped to listen is not either.
    notifier.query("begin; notify c, 'three'; rollback").unwrap();
    listener.query("begin; unlisten c").unwrap();
    notifier.query("notify c, 'four'").unwrap();
    assert_eq!(heard_with(&mut listener, "commit"), []);
}

#[test]
fn a_transaction_tells_each_thing_once_and_hears_itself() {
    let server = Server::start(&[]);
    let mut client = server.client();
    let own = pid(&mut client);
    assert_eq!(heard_with(&mut client, "begin; listen c"), []);
    assert_eq!(client.query("select pg_listening_channels()").unwrap().len(), 0);
    let all = "notify c; notify c, 'x'; savepoint a; notify c, 'x'; notify c, 'y'; savepoint b; notify c, 'z';
         listen d; rollback to b; select pg_notify('c', 'y'), pg_notify('d', null), pg_notify('c', 'last'); commit";
    assert_eq!(heard_with(&mut client, all), told(own, &[("c", ""), ("c", "x"), ("c", "y"), ("c", "last")]));
    assert_eq!(client.value("select string_agg(c, ',') from pg_listening_channels() c"), "c");
    // Stopping to listen takes effect with the transaction too.
    assert_eq!(heard_with(&mut client, "begin; unlisten *; notify c; commit"), []);
    assert_eq!(heard_with(&mut client, "begin; notify c; listen c; commit"), told(own, &[("c", "")]));
    client.query("discard all").unwrap();
    assert_eq!(client.value("select count(*) from pg_listening_channels()"), "0");
}

#[test]
fn names_payloads_and_prepared_transactions_have_limits() {
    let server = Server::start(&["max_prepared_transactions=2"]);
    let mut client = server.client();
    let cases = [
        ("select pg_notify('', 'x')", "22023 channel name cannot be empty"),
        ("select pg_notify(null, 'x')", "22023 channel name cannot be empty"),
        ("select pg_notify(repeat('c', 64), 'x')", "22023 channel name too long"),
        ("select pg_notify('c', repeat('x', 8000))", "22023 payload string too long"),
        (
            "begin; listen c; prepare transaction 'p'",
            "0A000 cannot PREPARE a transaction that has executed LISTEN, UNLISTEN, or NOTIFY",
        ),
        (
            "begin; notify c; prepare transaction 'p'",
            "0A000 cannot PREPARE a transaction that has executed LISTEN, UNLISTEN, or NOTIFY",
        ),
    ];
    for (statement, error) in cases {
        assert_eq!(client.error(statement), error, "{statement}");
    }
    client.query("select pg_notify(repeat('c', 63), repeat('x', 7999))").unwrap();
    client.query("begin; savepoint s; notify c; rollback to s; prepare transaction 'p'").unwrap();
    client.query("rollback prepared 'p'").unwrap();
}

#[test]
fn what_nobody_fetched_takes_room() {
    let server = Server::start(&["max_notify_queue_pages=64"]);
    let (mut listener, mut notifier) = (server.client(), server.client());
    listener.query("listen c").unwrap();
    listener.query("begin").unwrap();
    let many = "select count(pg_notify('c', g || repeat('x', 7000))) from generate_series(1, 60) g";
    assert_eq!(notifier.value("select pg_notification_queue_usage()"), "0");
    notifier.query(many).unwrap();
    assert_eq!(notifier.value("select pg_notification_queue_usage() > 0.7"), "t");
    assert_eq!(notifier.error(many), "54000 too many notifications in the NOTIFY queue");
    assert_eq!(heard_with(&mut listener, "rollback").len(), 60);
    assert_eq!(notifier.value("select pg_notification_queue_usage()"), "0");
}

/// Whoever waited for a row that another had changed tells of its own change after that other's.
#[test]
fn notifications_come_in_the_order_of_commits() {
    const SESSIONS: usize = 4;
    const ROUNDS: usize = 50;
    let server = Server::start(&[]);
    let mut listener = server.client();
    listener.query("create table counter (n int); insert into counter values (0); listen c").unwrap();
    std::thread::scope(|scope| {
        for _ in 0..SESSIONS {
            scope.spawn(|| {
                let mut client = server.client();
                client.query("set synchronous_commit = off").unwrap();
                for _ in 0..ROUNDS {
                    client
                        .query("with u as (update counter set n = n + 1 returning n) select pg_notify('c', n::text) from u")
                        .unwrap();
                }
            });
        }
        for n in 1..=SESSIONS * ROUNDS {
            assert_eq!(heard(&mut listener).2, n.to_string());
        }
    });
}
