//! Clients whose texts are not UTF-8, against the whole server: what goes over the socket, byte by byte.

use crate::support::client::message;
use crate::support::{Client, Server};

/// Sends a Query message of these bytes and reads up to ReadyForQuery: the messages that carry texts, as bytes.
fn ask(client: &mut Client, text: &[u8]) -> Vec<(u8, Vec<u8>)> {
    client.send(&message(b'Q', &[text, b"\0"].concat())).unwrap();
    answers(client)
}

fn answers(client: &mut Client) -> Vec<(u8, Vec<u8>)> {
    let mut all = Vec::new();
    loop {
        let (kind, body) = client.message().unwrap();
        if kind == b'Z' {
            return all;
        }
        all.push((kind, body));
    }
}

/// Whether the bytes are in a message of this kind.
fn holds(messages: &[(u8, Vec<u8>)], kind: u8, bytes: &[u8]) -> bool {
    messages.iter().any(|(k, body)| *k == kind && body.windows(bytes.len()).any(|part| part == bytes))
}

#[test]
fn texts_travel_in_the_clients_encoding() {
    let server = Server::start(&[]);
    let mut client = server
        .connect(&[("user", "postgres"), ("database", "postgres"), ("client_encoding", "latin1")])
        .ok()
        .unwrap();
    let rows = ask(&mut client, b"select '\xe9' as \"\xe8\", length('\xe9'), array['\xea'], 1::text");
    assert!(holds(&rows, b'T', b"\xe8\0") && holds(&rows, b'D', b"\0\0\0\x01\xe9"), "{rows:?}");
    assert!(holds(&rows, b'D', b"{\xea}"));
    let error = ask(&mut client, b"select \"\xe9\"");
    assert!(holds(&error, b'E', b"Mcolumn \"\xe9\" does not exist\0"), "{error:?}");
    let notice = ask(&mut client, b"do $$ begin raise notice '\xe9'; end $$");
    assert!(holds(&notice, b'N', b"M\xe9\0"), "{notice:?}");
    let lost = ask(&mut client, b"select U&'\\20AC'");
    assert!(holds(&lost, b'E', b"C22P05\0"), "{lost:?}");
    assert!(holds(
        &lost,
        b'E',
        b"0xe2 0x82 0xac in encoding \"UTF8\" has no equivalent in encoding \"LATIN1\""
    ));
    let told = ask(&mut client, b"listen \"\xe9\"; notify \"\xe9\", '\xe8'");
    assert!(holds(&told, b'A', b"\xe9\0\xe8\0"), "{told:?}");
    // The next statement of the same message already goes in the new one.
    let set = ask(&mut client, b"set client_encoding to win1252; select U&'\\20AC'");
    assert!(
        holds(&set, b'D', b"\0\0\0\x01\x80") && holds(&set, b'S', b"client_encoding\0WIN1252\0"),
        "{set:?}"
    );
    let bad = ask(&mut client, b"select '\x81'");
    assert!(
        holds(&bad, b'E', b"0x81 in encoding \"WIN1252\" has no equivalent in encoding \"UTF8\""),
        "{bad:?}"
    );
    // What is undone is undone for the client too.
    ask(&mut client, b"begin; set client_encoding to utf8; rollback");
    assert!(holds(&ask(&mut client, b"select '\x80'"), b'D', b"\x01\x80"));
    let undone = ask(&mut client, b"set client_encoding to utf8; select 1/0");
    assert!(!holds(&undone, b'S', b"UTF8"), "{undone:?}");
    assert!(holds(&ask(&mut client, b"select '\x80'"), b'D', b"\x01\x80"));
    let other = ask(&mut client, b"set client_encoding to euc_tw");
    assert!(holds(&other, b'E', b"DConversion between EUC_TW and UTF8 is not supported.\0"), "{other:?}");
}

#[test]
fn parameters_and_copied_rows_are_converted() {
    let server = Server::start(&[]);
    let mut client = server.client();
    ask(&mut client, b"create table t (a text, b text[]); set client_encoding to sjis");
    // In text form, in binary form, and a text within an array in binary form.
    let array =
        [[0, 0, 0, 1], [0; 4], 25u32.to_be_bytes(), [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 2]].concat();
    let array = [&array[..], b"\x95\x5c"].concat();
    let bind = [
        &b"\0\0\0\x02\0\x00\0\x01\0\x02\0\0\0\x02\x95\x5c"[..],
        &(array.len() as u32).to_be_bytes(),
        &array,
        b"\0\x01\0\x01",
    ]
    .concat();
    client
        .send(
            &[
                message(b'P', b"\0insert into t values ($1, $2) returning a, b, a = U&'\\8868'\0\0\0"),
                message(b'B', &bind),
                message(b'E', b"\0\0\0\0\0"),
                message(b'S', b""),
            ]
            .concat(),
        )
        .unwrap();
    let rows = answers(&mut client);
    assert!(holds(&rows, b'D', b"\0\0\0\x02\x95\x5c") && holds(&rows, b'D', &array), "{rows:?}");
    assert!(holds(&rows, b'D', b"\0\0\0\x01\x01"), "the server reads the same character: {rows:?}");
    // The second byte of the character is a backslash.
    client.send(&message(b'Q', b"copy t (a) from stdin\0")).unwrap();
    client.send(&message(b'd', b"\x95\x5c\n\x83")).unwrap();
    client.send(&[message(b'd', b"\x5c\\t\n"), message(b'c', b"")].concat()).unwrap();
    assert!(holds(&answers(&mut client), b'C', b"COPY 2"));
    let out = ask(&mut client, b"copy (select a from t order by a desc) to stdout");
    assert!(holds(&out, b'd', b"\x83\x5c\\t\n") && holds(&out, b'd', b"\x95\x5c\n"), "{out:?}");
    let other = ask(&mut client, b"copy (select '\x95\x5c') to stdout (encoding 'euc_jp')");
    assert!(holds(&other, b'd', b"\xc9\xbd\n"), "{other:?}");
    client.send(&message(b'Q', b"copy t (a) from stdin (encoding 'latin1', format csv)\0")).unwrap();
    client.send(&[message(b'd', b"\xe9\n"), message(b'c', b"")].concat()).unwrap();
    assert!(holds(&answers(&mut client), b'C', b"COPY 1"));
    let odd = ask(&mut client, b"copy (select a from t where a = U&'\\00e9') to stdout");
    assert!(
        holds(&odd, b'E', b"0xc3 0xa9 in encoding \"UTF8\" has no equivalent in encoding \"SJIS\""),
        "{odd:?}"
    );
}

/// A server with a database whose texts are bytes, and a client of it.
fn bytes() -> (Server, Client) {
    let server = Server::start(&[]);
    let made = "create database bytes encoding 'SQL_ASCII' template template0 locale 'C'";
    server.client().query(made).unwrap();
    let client = server.connect(&[("user", "postgres"), ("database", "bytes")]).ok().unwrap();
    (server, client)
}

#[test]
fn texts_of_a_database_without_encoding_are_bytes() {
    let (server, mut client) = bytes();
    let named = ask(&mut client, b"show server_encoding; show client_encoding; select getdatabaseencoding()");
    assert_eq!(
        named.iter().filter(|m| holds(std::slice::from_ref(m), b'D', b"SQL_ASCII")).count(),
        3,
        "{named:?}"
    );
    // Each query, and what is in its row.
    for (query, row) in [
        (&b"select '\xe9' as \"\xe8\""[..], &b"\0\x01\0\0\0\x01\xe9"[..]),
        (b"select length('\xc3\xa9') || ':' || octet_length('\xc3\xa9') || ':' || ascii('\xff')", b"2:2:255"),
        (b"select upper('a\xe9') || substr('\xc3\xa9', 2) || reverse('a\xc3\xa9')", b"A\xe9\xa9\xa9\xc3a"),
        (
            b"select '\xc3\xa9' like '__', '\xc3\xa9' ~ '^..$', '\xe9' ~ '[[:alpha:]]'",
            b"t\0\0\0\x01t\0\0\0\x01f",
        ),
        (b"select E'\\xe9\\351' || chr(233)", b"\xe9\xe9\xe9"),
        (b"select '\xe9'::bytea, convert_from('\\xe9', 'LATIN1'), convert_to('\xe9', 'SQL_ASCII')", b"\\xe9"),
        (
            b"select string_agg(x, '' order by x) from unnest(array['\xff', 'z', '\x80', 'Z']) x",
            b"Zz\x80\xff",
        ),
        (b"select md5('\xe9') = md5('\\xe9'::bytea), hashtext('\xc3\xa9')", b"t\0\0\0\x0a-983094517"),
        (
            b"select textsend('\xe9'), array_send(array['\xe9'])",
            b"\\x0000000100000000000000190000000100000001",
        ),
        (
            b"do $$ begin if E'\\xe9' <> '\xe9' then raise exception 'x'; end if; end $$; select '\xe9'",
            b"\xe9",
        ),
        (b"create table \"\xe9\"(\xe9 text); insert into \xe9 values ('\xe9') returning \xe9", b"\xe9"),
        (b"select \xe9 from \xe9 where \xe9 = E'\\xe9'", b"\xe9"),
        (b"select '[\"\xe9\"]'::jsonb ->> 0", b"\0\x01\xe9"),
    ] {
        let answer = ask(&mut client, query);
        assert!(holds(&answer, b'D', row), "{}: {answer:?}", query.escape_ascii());
    }
    for (query, error) in [
        (&b"select U&'\\00e9'"[..], &b"Mconversion between UTF8 and SQL_ASCII is not supported\0"[..]),
        (b"select E'\\u00e9'", b"C0A000\0"),
        (b"select chr(256)", b"Mrequested character too large for encoding: 256\0"),
        (
            b"select normalize('e')",
            b"MUnicode normalization can only be performed if server encoding is UTF8\0",
        ),
        (
            b"select '\"\\u00e9\"'::jsonb",
            b"DUnicode escape value could not be translated to the server's encoding SQL_ASCII.\0",
        ),
        (
            b"select 'a' collate pg_c_utf8",
            b"Mcollation \"pg_c_utf8\" for encoding \"SQL_ASCII\" does not exist\0",
        ),
        (b"select \"\xea\"", b"Mcolumn \"\xea\" does not exist\0"),
        (b"create role \"\xe9\"", b"C0A000\0"),
        (b"create role r password '\xe9'", b"C0A000\0"),
        (b"select convert_from('\\xe9', 'UTF8')", b"Minvalid byte sequence for encoding \"UTF8\": 0xe9\0"),
    ] {
        let answer = ask(&mut client, query);
        assert!(holds(&answer, b'E', error), "{}: {answer:?}", query.escape_ascii());
    }
    // A client with an encoding gets and gives characters of it, and no others; nothing is converted.
    let utf8 = ask(&mut client, b"set client_encoding to utf8; select '\xc3\xa9', length('\xc3\xa9')");
    assert!(holds(&utf8, b'D', b"\xc3\xa9\0\0\0\x012"), "{utf8:?}");
    for query in [
        &b"select '\xe9'"[..],
        b"select chr(233)",
        b"select * from information_schema.tables where '\xe9' = ''",
    ] {
        let answer = ask(&mut client, query);
        assert!(holds(&answer, b'E', b"Minvalid byte sequence for encoding \"UTF8\": 0xe9"), "{answer:?}");
    }
    ask(&mut client, b"set client_encoding to latin1");
    let latin = ask(&mut client, b"select '\xe9', '\xe9'::bytea");
    assert!(holds(&latin, b'D', b"\xe9\0\0\0\x04\\xe9"), "{latin:?}");
    // Others see what it does as far as it is UTF-8.
    ask(&mut client, b"set client_encoding to sql_ascii; select '\xc3\xa9', '\xe9' as seen");
    let seen = server.client().value("select query from pg_stat_activity where query like '%as seen'");
    assert_eq!(seen, "set client_encoding to sql_ascii; select 'é', '\u{fffd}' as seen");
}

#[test]
fn bytes_come_and_go_in_parameters_and_copies() {
    let (_server, mut client) = bytes();
    ask(&mut client, b"create table t (a text, b text)");
    let bind = b"\0\0\0\x02\0\x00\0\x01\0\x02\0\0\0\x02\xe9\xff\0\0\0\x01\xea\0\x02\0\0\0\x01";
    let sent = [
        message(b'P', b"\0insert into t values ($1, $2) returning a, b\0\0\0"),
        message(b'B', bind),
        message(b'E', b"\0\0\0\0\0"),
        message(b'S', b""),
    ];
    client.send(&sent.concat()).unwrap();
    let rows = answers(&mut client);
    assert!(holds(&rows, b'D', b"\0\0\0\x02\xe9\xff\0\0\0\x01\xea"), "{rows:?}");
    client.send(&message(b'Q', b"copy t from stdin\0")).unwrap();
    client
        .send(&[message(b'd', b"\xc3"), message(b'd', b"\xa9\t\\351\\xff\n"), message(b'c', b"")].concat())
        .unwrap();
    assert!(holds(&answers(&mut client), b'C', b"COPY 1"));
    let out = ask(&mut client, b"copy t to stdout");
    assert!(holds(&out, b'd', b"\xe9\xff\t\xea\n") && holds(&out, b'd', b"\xc3\xa9\t\xe9\xff\n"), "{out:?}");
    let characters = ask(&mut client, b"copy t to stdout (encoding 'utf8')");
    assert!(
        holds(&characters, b'E', b"Minvalid byte sequence for encoding \"UTF8\": 0xe9 0xff"),
        "{characters:?}"
    );
    let binary = ask(&mut client, b"copy t to stdout (format binary)");
    assert!(holds(&binary, b'd', b"\0\x02\0\0\0\x02\xe9\xff\0\0\0\x01\xea"), "{binary:?}");
}
