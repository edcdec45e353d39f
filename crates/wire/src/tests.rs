//! Round trips, malformed messages, and mutated streams.

use base::{Severity, SqlError, SqlState};
use proptest::prelude::*;

use crate::backend::{self, Field, TransactionStatus};
use crate::frontend::{self, *};
use crate::startup::{FirstPacket, LATEST, Version, first_packet};

/// What a client would send.
fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut out = vec![kind];
    out.extend((body.len() as u32 + 4).to_be_bytes());
    out.extend(body);
    out
}

fn packet(code: u32, body: &[u8]) -> Vec<u8> {
    let mut out = (body.len() as u32 + 8).to_be_bytes().to_vec();
    out.extend(code.to_be_bytes());
    out.extend(body);
    out
}

fn z(text: &str) -> Vec<u8> {
    [text.as_bytes(), b"\0"].concat()
}

fn bind_body(
    portal: &str,
    statement: &str,
    formats: &[i16],
    values: &[Option<Vec<u8>>],
    results: &[i16],
) -> Vec<u8> {
    let mut body = [z(portal), z(statement)].concat();
    let codes = |codes: &[i16], body: &mut Vec<u8>| {
        body.extend((codes.len() as u16).to_be_bytes());
        codes.iter().for_each(|c| body.extend(c.to_be_bytes()));
    };
    codes(formats, &mut body);
    body.extend((values.len() as u16).to_be_bytes());
    for value in values {
        match value {
            None => body.extend((-1i32).to_be_bytes()),
            Some(bytes) => {
                body.extend((bytes.len() as i32).to_be_bytes());
                body.extend(bytes);
            }
        }
    }
    codes(results, &mut body);
    body
}

fn decode_all(buffer: &[u8]) -> Result<Frontend<'_>, SqlError> {
    let frame = frame(buffer)?.expect("a whole message");
    assert_eq!(frame.length, buffer.len());
    frontend::decode(&frame)
}

fn error_of(buffer: &[u8]) -> String {
    let error = decode_all(buffer).unwrap_err();
    format!("{} {} {}", error.report().severity.as_str(), error.code(), error.message())
}

#[test]
fn each_message() {
    assert_eq!(decode_all(&message(b'Q', b"select 1\0")), Ok(Frontend::Query("select 1")));
    assert_eq!(
        decode_all(&message(b'E', b"p\0\0\0\0\x05")),
        Ok(Frontend::Execute { portal: "p", max_rows: 5 })
    );
    assert_eq!(decode_all(&message(b'D', b"Sx\0")), Ok(Frontend::Describe(Target::Statement("x"))));
    assert_eq!(decode_all(&message(b'C', b"P\0")), Ok(Frontend::Close(Target::Portal(""))));
    assert_eq!(decode_all(&message(b'H', b"")), Ok(Frontend::Flush));
    assert_eq!(decode_all(&message(b'S', b"")), Ok(Frontend::Sync));
    assert_eq!(decode_all(&message(b'X', b"")), Ok(Frontend::Terminate));
    assert_eq!(decode_all(&message(b'd', b"1\t2")), Ok(Frontend::CopyData(b"1\t2")));
    assert_eq!(decode_all(&message(b'c', b"")), Ok(Frontend::CopyDone));
    assert_eq!(decode_all(&message(b'f', b"why\0")), Ok(Frontend::CopyFail("why")));
    let call = message(b'F', b"\0\0\x03\xba\0\x01\0\x01\0\x02\0\0\0\x01x\xff\xff\xff\xff\0\x01");
    let Ok(Frontend::FunctionCall(call)) = decode_all(&call) else { panic!("no function call") };
    assert_eq!((call.function, call.argument_count(), call.result_format), (954, 2, 1));
    assert_eq!(call.arguments().collect::<Vec<_>>(), [Some(&b"x"[..]), None]);
}

#[test]
fn malformed_messages() {
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (message(b'Q', b"select"), "ERROR 08P01 invalid string in message"),
        (message(b'Q', b"a\0b"), "ERROR 08P01 invalid message format"),
        (
            message(b'Q', b"\xE2\x28\xA1\0"),
            "ERROR 22021 invalid byte sequence for encoding \"UTF8\": 0xe2 0x28 0xa1",
        ),
        (message(b'Q', b"\xFF\0"), "ERROR 22021 invalid byte sequence for encoding \"UTF8\": 0xff"),
        (message(b'Z', b""), "FATAL 08P01 invalid frontend message type 90"),
        (message(b'D', b"X\0"), "ERROR 08P01 invalid DESCRIBE message subtype 88"),
        (message(b'C', b"X\0"), "ERROR 08P01 invalid CLOSE message subtype 88"),
        (message(b'D', b""), "ERROR 08P01 no data left in message"),
        (message(b'E', b"\0\0\0"), "ERROR 08P01 insufficient data left in message"),
        (message(b'P', b"\0\0\0\x02\0\0\0\x17"), "ERROR 08P01 insufficient data left in message"),
        (
            message(b'B', &bind_body("", "", &[0, 1], &[None], &[])),
            "ERROR 08P01 bind message has 2 parameter formats but 1 parameters",
        ),
        (
            message(b'B', b"\0\0\0\0\0\x01\xFF\xFF\xFF\xFE\0\0"),
            "ERROR 08P01 insufficient data left in message",
        ),
        (message(b'S', b"x"), "ERROR 08P01 invalid message format"),
    ];
    for (bytes, expected) in cases {
        assert_eq!(error_of(&bytes), expected);
    }
}

#[test]
fn lengths_out_of_bounds_are_refused_before_the_body_comes() {
    let refused = |bytes: &[u8]| {
        let error = frame(bytes).unwrap_err();
        assert_eq!(error.report().severity, Severity::Fatal);
        assert_eq!((error.code(), error.message()), (SqlState::PROTOCOL_VIOLATION, "invalid message length"));
    };
    refused(b"Q\0\0\0\x03");
    refused(b"Q\xFF\xFF\xFF\xFF");
    refused(b"S\0\0\x27\x11");
    assert_eq!(frame(b"Q\x3F\xFF\xFF\xFE").unwrap(), None, "long, but PostgreSQL would wait for it");
    let error = authentication_frame(b"Q\0\0\0\x04", "password response").unwrap_err();
    assert_eq!(error.message(), "expected password response, got message type 81");
    assert!(authentication_frame(b"p\0\x01\0\0", "SASL response").is_err());
    assert_eq!(authentication_frame(b"p\0\0\0\x05", "SASL response").unwrap(), None);
}

#[test]
fn packets_before_authentication() {
    let whole = |bytes: &[u8]| {
        for cut in 0..bytes.len() {
            assert_eq!(first_packet(&bytes[..cut]).unwrap(), None, "{cut} bytes are not a packet");
        }
        bytes.len()
    };
    let ssl = packet(80877103, b"");
    assert_eq!(first_packet(&ssl).unwrap(), Some((FirstPacket::SslRequest, whole(&ssl))));
    let gss = packet(80877104, b"");
    assert_eq!(first_packet(&gss).unwrap(), Some((FirstPacket::GssEncRequest, whole(&gss))));
    let cancel = packet(80877102, &[0, 0, 0, 9, 1, 2, 3, 4]);
    let expected = FirstPacket::Cancel { pid: 9, key: &[1, 2, 3, 4] };
    assert_eq!(first_packet(&cancel).unwrap(), Some((expected, whole(&cancel))));

    let body = b"user\0me\0_pq_.x\0on\0database\0db\0database\0db2\0\0";
    let bytes = packet(Version { major: 3, minor: 9 }.code(), body);
    let Some((FirstPacket::Startup(startup), _)) = first_packet(&bytes).unwrap() else { panic!() };
    assert_eq!(startup.negotiated(), LATEST);
    assert!(startup.needs_negotiation());
    assert_eq!(startup.extensions().collect::<Vec<_>>(), [b"_pq_.x"]);
    assert_eq!(startup.get("database"), Some(&b"db2"[..]), "the last one counts");
    assert_eq!(startup.parameters().count(), 3);
    let plain = packet(3 << 16, b"user\0me\0\0");
    let Some((FirstPacket::Startup(startup), _)) = first_packet(&plain).unwrap() else { panic!() };
    assert!(!startup.needs_negotiation());
    assert_eq!(startup.negotiated(), Version { major: 3, minor: 0 });
}

#[test]
fn malformed_packets_before_authentication() {
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (b"\0\0\0\x07".to_vec(), "08P01 invalid length of startup packet"),
        (b"GET / HTTP/1.1\r\n".to_vec(), "08P01 invalid length of startup packet"),
        (packet(80877102, b"\0\0\0\x01"), "08P01 invalid length of startup packet"),
        (
            packet(3 << 16, b"user\0me"),
            "08P01 invalid startup packet layout: expected terminator as last byte",
        ),
        (
            packet(3 << 16, b"user\0me\0\0x"),
            "08P01 invalid startup packet layout: expected terminator as last byte",
        ),
        (packet(2 << 16, b"\0"), "0A000 unsupported frontend protocol 2.0: server supports 3.0 to 3.2"),
    ];
    for (bytes, expected) in cases {
        let error = first_packet(&bytes).unwrap_err();
        assert_eq!(error.report().severity, Severity::Fatal);
        assert_eq!(format!("{} {}", error.code(), error.message()), expected);
    }
}

/// Splits what the server wrote into messages, checking the framing.
fn split(mut bytes: &[u8]) -> Vec<(u8, Vec<u8>)> {
    let mut out = Vec::new();
    while let Some((&kind, rest)) = bytes.split_first() {
        let length = u32::from_be_bytes(*rest.first_chunk().unwrap()) as usize;
        out.push((kind, rest[4..length].to_vec()));
        bytes = &rest[length..];
    }
    out
}

#[test]
fn answers_have_postgresqls_bytes() {
    let mut out = Vec::new();
    backend::authentication_ok(&mut out);
    backend::authentication_sasl(&mut out, &[crate::scram::MECHANISM]);
    backend::authentication_sasl_continue(&mut out, b"r=1");
    backend::authentication_sasl_final(&mut out, b"v=1");
    backend::negotiate_protocol_version(&mut out, LATEST, [&b"_pq_.x"[..]].into_iter());
    backend::parameter_status(&mut out, "TimeZone", "UTC");
    backend::backend_key_data(&mut out, 7, &[1, 2, 3, 4]);
    backend::ready_for_query(&mut out, TransactionStatus::InTransaction);
    backend::command_complete(&mut out, "SELECT 1");
    backend::parameter_description(&mut out, [23, 25].into_iter());
    backend::notification(&mut out, 7, "c", "p\0q");
    backend::copy_in_response(&mut out, false, 2);
    backend::copy_data(&mut out, &[b"1", b"\n"]);
    backend::copy_done(&mut out);
    let expected: Vec<(u8, &[u8])> = vec![
        (b'R', b"\0\0\0\0"),
        (b'R', b"\0\0\0\x0ASCRAM-SHA-256\0\0"),
        (b'R', b"\0\0\0\x0Br=1"),
        (b'R', b"\0\0\0\x0Cv=1"),
        (b'v', b"\0\x03\0\x02\0\0\0\x01_pq_.x\0"),
        (b'S', b"TimeZone\0UTC\0"),
        (b'K', b"\0\0\0\x07\x01\x02\x03\x04"),
        (b'Z', b"T"),
        (b'C', b"SELECT 1\0"),
        (b't', b"\0\x02\0\0\0\x17\0\0\0\x19"),
        (b'A', b"\0\0\0\x07c\0p q\0"),
        (b'G', b"\0\0\x02\0\0\0\0"),
        (b'd', b"1\n"),
        (b'c', b""),
    ];
    let got = split(&out);
    assert_eq!(got.iter().map(|(k, b)| (*k, &b[..])).collect::<Vec<_>>(), expected);
}

#[test]
fn rows_and_their_description() {
    let mut out = Vec::new();
    let field = Field { name: "n", table: 1, column: 2, type_oid: 23, type_len: 4, typmod: -1, format: 1 };
    backend::row_description(&mut out, [field].into_iter());
    let mut row = backend::data_row(&mut out, 5);
    row.null();
    row.value(b"ab");
    row.try_value(|out| {
        out.extend(b"xyz");
        Ok::<_, ()>(true)
    })
    .unwrap();
    assert_eq!(row.try_value(|_| Ok::<_, ()>(false)), Ok(()));
    assert_eq!(row.try_value(|_| Err(7)), Err(7));
    row.finish();
    let before = out.len();
    let mut row = backend::data_row(&mut out, 1);
    row.value(b"lost");
    row.abandon();
    assert_eq!(out.len(), before);
    assert_eq!(
        split(&out),
        [
            (b'T', b"\0\x01n\0\0\0\0\x01\0\x02\0\0\0\x17\0\x04\xFF\xFF\xFF\xFF\0\x01".to_vec()),
            (
                b'D',
                b"\0\x05\xFF\xFF\xFF\xFF\0\0\0\x02ab\0\0\0\x03xyz\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF".to_vec()
            ),
        ]
    );
}

#[test]
fn errors_carry_all_fields() {
    let mut error = SqlError::new(SqlState::UNIQUE_VIOLATION, "dup")
        .detail("Key (a)=(1) already exists.")
        .hint("h")
        .at(8)
        .context("inner")
        .context("outer")
        .table("s", "t")
        .column("c")
        .constraint("k");
    error.report_mut().data_type = Some("d".into());
    let mut out = Vec::new();
    backend::error_response(&mut out, error.routine("r").report());
    let (kind, fields, line) = report(&out);
    assert_eq!(
        (kind, fields.as_str()),
        (
            b'E',
            "SERROR VERROR C23505 Mdup DKey (a)=(1) already exists. Hh Winner\nouter ss tt cc dd nk P8 Fcrates/wire/src/tests.rs Rr"
        )
    );
    assert!(line > 0);
    let mut out = Vec::new();
    let notice = SqlError::with_severity(Severity::Notice, SqlState::SUCCESSFUL_COMPLETION, "n");
    backend::notice_response(&mut out, notice.report());
    let (kind, fields, _) = report(&out);
    assert_eq!((kind, fields.as_str()), (b'N', "SNOTICE VNOTICE C00000 Mn Fcrates/wire/src/tests.rs"));
}

/// The kind of a message with a report, its fields but for the line of the source, and that line.
fn report(out: &[u8]) -> (u8, String, u32) {
    let messages = split(out);
    let [(kind, body)] = messages.as_slice() else { panic!("{messages:?}") };
    let text = String::from_utf8(body.clone()).unwrap();
    let (lines, fields): (Vec<&str>, Vec<&str>) =
        text.split('\0').filter(|field| !field.is_empty()).partition(|field| field.starts_with('L'));
    (*kind, fields.join(" "), lines[0][1..].parse().unwrap())
}

fn name() -> impl Strategy<Value = String> {
    "[^\0]{0,8}"
}

fn codes() -> impl Strategy<Value = Vec<i16>> {
    prop::collection::vec(0i16..2, 0..4)
}

fn values() -> impl Strategy<Value = Vec<Option<Vec<u8>>>> {
    prop::collection::vec(prop::option::of(prop::collection::vec(any::<u8>(), 0..40)), 0..6)
}

/// A plausible stream: start-up and some messages.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let one = prop_oneof![
        name().prop_map(|q| message(b'Q', &z(&q))),
        (name(), name(), prop::collection::vec(any::<u32>(), 0..4)).prop_map(|(n, q, types)| {
            let mut body = [z(&n), z(&q)].concat();
            body.extend((types.len() as u16).to_be_bytes());
            types.iter().for_each(|t| body.extend(t.to_be_bytes()));
            message(b'P', &body)
        }),
        (name(), name(), codes(), values(), codes())
            .prop_map(|(p, s, f, v, r)| message(b'B', &bind_body(&p, &s, &f, &v, &r))),
        name().prop_map(|p| message(b'E', &[z(&p), vec![0; 4]].concat())),
        name().prop_map(|p| message(b'D', &[b"S".to_vec(), z(&p)].concat())),
        prop::collection::vec(any::<u8>(), 0..50).prop_map(|d| message(b'd', &d)),
        Just(message(b'S', b"")),
        Just(message(b'c', b"")),
    ];
    prop::collection::vec(one, 1..8).prop_map(|messages| messages.concat())
}

/// Reads as a session would: until the stream is out of step or at its end.
fn consume(mut bytes: &[u8]) -> usize {
    let mut messages = 0;
    while let Ok(Some(frame)) = frame(bytes) {
        messages += 1;
        if let Ok(Frontend::Bind(bind)) = frontend::decode(&frame) {
            let values: Vec<_> = bind.parameters().collect();
            assert_eq!(values.len(), bind.parameter_count());
            for i in 0..=values.len() {
                bind.parameter_formats.get(i);
                bind.result_formats.get(i);
            }
        }
        let _ = sasl_initial_response(&frame);
        bytes = &bytes[frame.length..];
    }
    messages
}

proptest! {
    #[test]
    fn parse_round_trip(n in name(), query in "[^\0]{0,40}", types in prop::collection::vec(any::<u32>(), 0..5)) {
        let mut body = [z(&n), z(&query)].concat();
        body.extend((types.len() as u16).to_be_bytes());
        types.iter().for_each(|t| body.extend(t.to_be_bytes()));
        let bytes = message(b'P', &body);
        match decode_all(&bytes) {
            Ok(Frontend::Parse { name: got_name, query: got_query, types: got_types }) => {
                prop_assert_eq!(got_name, n);
                prop_assert_eq!(got_query, query);
                prop_assert_eq!(got_types.iter().collect::<Vec<_>>(), types);
            }
            other => prop_assert!(false, "{other:?}"),
        }
    }

    #[test]
    fn bind_round_trip(portal in name(), statement in name(), many in any::<bool>(), v in values(), r in codes()) {
        let formats: Vec<i16> = if many { (0..v.len() as i16).map(|i| i % 2).collect() } else { vec![] };
        let bytes = message(b'B', &bind_body(&portal, &statement, &formats, &v, &r));
        match decode_all(&bytes) {
            Ok(Frontend::Bind(bind)) => {
                prop_assert_eq!(bind.portal, portal);
                prop_assert_eq!(bind.statement, statement);
                prop_assert_eq!(bind.parameters().map(|p| p.map(<[u8]>::to_vec)).collect::<Vec<_>>(), v);
                prop_assert_eq!(bind.parameter_formats.iter().collect::<Vec<_>>(), formats);
                prop_assert_eq!(bind.result_formats.iter().collect::<Vec<_>>(), r);
            }
            other => prop_assert!(false, "{other:?}"),
        }
    }

    #[test]
    fn streams_are_cut_at_message_ends(bytes in stream(), cut in any::<prop::sample::Index>()) {
        let whole = consume(&bytes);
        let cut = cut.index(bytes.len());
        let mut at = 0;
        let mut messages = 0;
        // Bytes come in two pieces: the same messages come out.
        while let Some(found) = frame(&bytes[at..cut]).unwrap() {
            at += found.length;
            messages += 1;
        }
        prop_assert_eq!(messages + consume(&bytes[at..]), whole);
    }

    #[test]
    fn mutated_streams_never_panic(
        bytes in stream(),
        mutations in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0u8..3), 1..6),
    ) {
        let mut bytes = bytes;
        for (at, byte, how) in mutations {
            if bytes.is_empty() {
                break;
            }
            let at = at.index(bytes.len());
            match how {
                0 => bytes[at] = byte,
                1 => bytes.truncate(at),
                _ => bytes.insert(at, byte),
            }
        }
        consume(&bytes);
        let _ = first_packet(&bytes);
        let with_length = packet(3 << 16, &bytes);
        if let Ok(Some((FirstPacket::Startup(startup), _))) = first_packet(&with_length) {
            startup.parameters().count();
            startup.get("user");
        }
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        consume(&bytes);
        let _ = first_packet(&bytes);
        for kind in *b"QPBEDCHSXdcfFp" {
            let bytes = message(kind, &bytes);
            consume(&bytes);
            let _ = authentication_frame(&bytes, "SASL response");
        }
    }
}
