use proptest::prelude::*;

use super::super::options::{Columns, Header};
use super::*;

fn options(format: Format) -> CopyOptions {
    let csv = format == Format::Csv;
    CopyOptions {
        encoding: None,
        format,
        delimiter: if csv { b',' } else { b'\t' },
        null: if csv { String::new() } else { "\\N".into() },
        default: None,
        header: Header::None,
        quote: b'"',
        escape: b'"',
        force_quote: Columns::None,
        force_not_null: Columns::None,
        force_null: Columns::None,
        freeze: false,
        ignore_errors: false,
        reject_limit: 0,
        verbose: false,
        silent: false,
    }
}

type Rows = Vec<Vec<Option<Vec<u8>>>>;

/// All rows of an input that comes in pieces of `piece` bytes.
fn read(options: &CopyOptions, input: &[u8], piece: usize) -> SqlResult<Rows> {
    let mut splitter = Splitter::new(Arc::new(options.clone()));
    let (mut rows, mut pieces) = (Vec::new(), input.chunks(piece.max(1)));
    let mut last = false;
    loop {
        match splitter.next_line(last)? {
            Next::End => return Ok(rows),
            Next::More => match pieces.next() {
                Some(bytes) => splitter.feed(bytes),
                None => last = true,
            },
            Next::Line => {
                let fields = splitter.fields()?.to_vec();
                let value = |f: &Field| (!f.null).then(|| splitter.bytes(*f).to_vec());
                rows.push(fields.iter().map(value).collect());
            }
        }
    }
}

fn text(rows: &Rows) -> Vec<Vec<Option<String>>> {
    let value = |v: &Option<Vec<u8>>| v.as_ref().map(|b| String::from_utf8_lossy(b).into_owned());
    rows.iter().map(|row| row.iter().map(value).collect()).collect()
}

fn some(values: &[&str]) -> Vec<Option<String>> {
    values.iter().map(|v| Some((*v).to_owned())).collect()
}

#[test]
fn text_lines_end_in_any_one_way() {
    let options = options(Format::Text);
    for ending in ["\n", "\r", "\r\n"] {
        let input = ["1\tx", "2\t\\N", ""].join(ending);
        let rows = read(&options, input.as_bytes(), 1).unwrap();
        assert_eq!(text(&rows), [some(&["1", "x"]), vec![Some("2".into()), None]]);
    }
    let error = read(&options, b"a\r\nb\nc", 100).unwrap_err();
    assert_eq!(error.message(), "literal newline found in data");
    assert_eq!(error.report().hint.as_deref(), Some("Use \"\\n\" to represent newline."));
}

#[test]
fn text_escapes_are_resolved() {
    let rows = read(&options(Format::Text), b"a\\tb\\\\\t\\x41\\101\\q\\\nend\n", 3).unwrap();
    assert_eq!(text(&rows), [some(&["a\tb\\", "AAq\nend"])]);
}

#[test]
fn the_end_marker_ends() {
    let options = options(Format::Text);
    assert_eq!(text(&read(&options, b"a\n\\.\nb\n", 2).unwrap()), [some(&["a"])]);
    let error = read(&options, b"a\nx\\.\n", 2).unwrap_err();
    assert_eq!(error.message(), "end-of-copy marker is not alone on its line");
    // Not so in CSV.
    assert_eq!(read(&super::tests::options(Format::Csv), b"a\n\\.\n", 2).unwrap().len(), 2);
}

#[test]
fn csv_quotes_hold_everything() {
    let options = options(Format::Csv);
    let rows = read(&options, b"a,\"b \"\"c\"\"\nd\",,\"\"\nx,y,z,w\n", 1).unwrap();
    let first = vec![Some("a".into()), Some("b \"c\"\nd".into()), None, Some(String::new())];
    assert_eq!(text(&rows), [first, some(&["x", "y", "z", "w"])]);
    let error = read(&options, b"a,\"b\n", 1).unwrap_err();
    assert_eq!(error.message(), "unterminated CSV quoted field");
}

#[test]
fn lines_are_counted_once_however_they_come() {
    for (format, input, lines) in [
        (Format::Text, &b"a\\\nb\nc\n"[..], 2),
        (Format::Csv, b"\"a\nb\"\nc\n", 3),
        (Format::Text, b"\\\n", 1),
    ] {
        for piece in 1..5 {
            let options = options(format);
            let mut splitter = Splitter::new(Arc::new(options));
            let mut pieces = input.chunks(piece);
            let mut last = false;
            loop {
                match splitter.next_line(last).unwrap() {
                    Next::End => break,
                    Next::More => match pieces.next() {
                        Some(bytes) => splitter.feed(bytes),
                        None => last = true,
                    },
                    Next::Line => {}
                }
            }
            assert_eq!(splitter.line_number, lines, "{format:?} {piece}");
        }
    }
}

proptest! {
    #[test]
    fn no_input_makes_it_panic(
        input in proptest::collection::vec(
            prop_oneof![Just(b'\n'), Just(b'\r'), Just(b'\\'), Just(b'"'), Just(b','), Just(b'.'), any::<u8>()],
            0..60,
        ),
        piece in 1usize..8,
        csv in any::<bool>(),
    ) {
        let options = options(if csv { Format::Csv } else { Format::Text });
        let pieces = read(&options, &input, piece);
        // However the input is cut, the result is the same.
        let whole = read(&options, &input, input.len().max(1));
        prop_assert_eq!(pieces, whole);
    }

    #[test]
    fn what_is_written_is_read_back(
        rows in proptest::collection::vec(
            proptest::collection::vec(proptest::option::of("[a-zA-Z\\\\\n\r\t,\"N. ]{0,8}"), 2..4),
            1..6,
        ),
        csv in any::<bool>(),
    ) {
        let options = options(if csv { Format::Csv } else { Format::Text });
        let mut out = Vec::new();
        for row in &rows {
            for (i, value) in row.iter().enumerate() {
                if i > 0 {
                    out.push(options.delimiter);
                }
                write_field(&options, value.as_deref().map(str::as_bytes), (false, false), &mut out);
            }
            out.push(b'\n');
        }
        prop_assert_eq!(text(&read(&options, &out, 7).unwrap()), rows);
    }
}

#[test]
fn the_first_of_two_bytes_is_found_whatever_is_behind() {
    for length in 0..40 {
        for (at, byte) in (0..length).flat_map(|at| [(at, b'a'), (at, b'b')]) {
            // Bytes that differ from those sought in one bit, and one of them behind the limit.
            let mut bytes: Vec<u8> = (0..length).map(|i| [b'c', b'`', 0, 255, b'a' ^ 0x80][i % 5]).collect();
            bytes[at] = byte;
            assert_eq!(first_of(b'a', b'b', &bytes, length), at);
            assert_eq!(first_of(b'a', b'b', &bytes, at), at);
            assert_eq!(first_of(b'b', b'a', &bytes, at / 2), at / 2);
            bytes[at] = b'c';
            assert_eq!(first_of(b'a', b'b', &bytes, length), length);
        }
    }
}
