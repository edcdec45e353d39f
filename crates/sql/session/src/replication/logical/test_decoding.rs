//! What · `test_decoding`: changes as lines of text.
//!
//! PostgreSQL counterpart · `contrib/test_decoding`, whose lines these are, letter for letter.

use base::settings::parse_bool;
use base::{Lsn, SqlResult, sql_err};
use engine::decoding::{Change, Description, Message};
use tuple::Datum;
use types::oids;

use super::plugin::{Plugin, PluginOption, Sink, Told, bad_option, write_value};
use crate::Session;
use crate::functions::{quote_identifier, quoted_relation};

pub(super) struct TestDecoding {
    include_xids: bool,
    include_timestamp: bool,
    force_binary: bool,
    skip_empty: bool,
    only_local: bool,
    /// BEGIN was written of the transaction that is told.
    begun: bool,
}

impl TestDecoding {
    pub(super) fn new(options: &[PluginOption]) -> SqlResult<TestDecoding> {
        let mut this = TestDecoding {
            include_xids: true,
            include_timestamp: false,
            force_binary: false,
            skip_empty: false,
            only_local: false,
            begun: false,
        };
        for (name, value) in options {
            // What there is nothing of, in Stampede: tables being rewritten, transactions told before they end.
            let mut ignored = false;
            let target = match name.as_str() {
                "include-xids" => &mut this.include_xids,
                "include-timestamp" => &mut this.include_timestamp,
                "force-binary" => &mut this.force_binary,
                "skip-empty-xacts" => &mut this.skip_empty,
                "only-local" => &mut this.only_local,
                "include-rewrites" | "stream-changes" => &mut ignored,
                _ => {
                    let value = value.as_deref().unwrap_or("(null)");
                    return Err(bad_option(format!("option \"{name}\" = \"{value}\" is unknown")));
                }
            };
            *target = match value {
                // Alone, all are on but this one.
                None => name != "force-binary",
                Some(text) => parse_bool(text.trim()).ok_or_else(|| {
                    bad_option(format!("could not parse value \"{text}\" for parameter \"{name}\""))
                })?,
            };
        }
        Ok(this)
    }

    fn write_begin(&mut self, of: &Told, sink: &mut Sink) {
        self.begun = true;
        sink.put(of.first, if self.include_xids { format!("BEGIN {}", of.xid) } else { "BEGIN".into() });
    }
}

/// Appends the columns of a row.
fn write_row(
    session: &Session,
    table: &Description,
    values: &[Datum],
    skip_nulls: bool,
    out: &mut Vec<u8>,
) -> SqlResult<()> {
    for (column, value) in table.columns.iter().zip(values) {
        if column.dropped || (skip_nulls && value.is_null()) {
            continue;
        }
        let type_name = session.type_name(column.type_oid, None)?;
        out.extend_from_slice(format!(" {}[{type_name}]:", quote_identifier(&column.name)).as_bytes());
        match value {
            Datum::Null => out.extend_from_slice(b"null"),
            Datum::Toasted(_) => out.extend_from_slice(b"unchanged-toast-datum"),
            value => {
                let mut text = Vec::new();
                write_value(session, column.type_oid, value, false, &mut text)?;
                write_literal(column.type_oid, &text, out);
            }
        }
    }
    Ok(())
}

/// Appends a value's text as SQL would have it, more or less.
fn write_literal(type_oid: base::Oid, text: &[u8], out: &mut Vec<u8>) {
    match type_oid {
        oids::int2 | oids::int4 | oids::int8 | oids::oid | oids::float4 | oids::float8 | oids::numeric => {
            out.extend_from_slice(text);
        }
        oids::bit | oids::varbit => {
            out.extend_from_slice(b"B'");
            out.extend_from_slice(text);
            out.push(b'\'');
        }
        oids::bool => out.extend_from_slice(if text == b"t" { b"true" } else { b"false" }),
        _ => {
            out.push(b'\'');
            for byte in text {
                out.extend(std::iter::repeat_n(*byte, if *byte == b'\'' { 2 } else { 1 }));
            }
            out.push(b'\'');
        }
    }
}

impl Plugin for TestDecoding {
    fn wants_replicated(&self) -> bool {
        !self.only_local
    }

    fn is_binary(&self) -> bool {
        self.force_binary
    }

    fn begin(&mut self, _session: &Session, of: &Told, sink: &mut Sink) -> SqlResult<()> {
        self.begun = false;
        if !self.skip_empty {
            self.write_begin(of, sink);
        }
        Ok(())
    }

    fn change(
        &mut self,
        session: &Session,
        of: &Told,
        (lsn, change): (Lsn, &Change),
        sink: &mut Sink,
    ) -> SqlResult<()> {
        if !self.begun {
            self.write_begin(of, sink);
        }
        let mut line = Vec::with_capacity(64);
        let name = |table: &Description| quoted_relation(&table.schema, &table.name);
        let head = |line: &mut Vec<u8>, table: &Description, what: &str| {
            line.extend_from_slice(format!("table {}: {what}:", name(table)).as_bytes());
        };
        match change {
            Change::Insert(table, new) => {
                head(&mut line, table, "INSERT");
                write_row(session, table, new, false, &mut line)?;
            }
            Change::Update(table, old, new) => {
                head(&mut line, table, "UPDATE");
                if let Some(old) = old {
                    line.extend_from_slice(b" old-key:");
                    write_row(session, table, &old.values, true, &mut line)?;
                    line.extend_from_slice(b" new-tuple:");
                }
                write_row(session, table, new, false, &mut line)?;
            }
            Change::Delete(table, old) => {
                head(&mut line, table, "DELETE");
                match old {
                    Some(old) => write_row(session, table, &old.values, true, &mut line)?,
                    None => line.extend_from_slice(b" (no-tuple-data)"),
                }
            }
            Change::Truncate { tables, cascade, restart } => {
                let names: Vec<String> = tables.iter().map(|table| name(table)).collect();
                line.extend_from_slice(format!("table {}: TRUNCATE:", names.join(", ")).as_bytes());
                let words = [
                    (*restart, " restart_seqs"),
                    (*cascade, " cascade"),
                    (!restart && !cascade, " (no-flags)"),
                ];
                words
                    .iter()
                    .filter(|(is, _)| *is)
                    .for_each(|(_, word)| line.extend_from_slice(word.as_bytes()));
            }
            Change::Message(message) => write_message(message, true, &mut line),
        }
        sink.put(lsn, line);
        Ok(())
    }

    fn commit(&mut self, session: &Session, of: &Told, sink: &mut Sink) -> SqlResult<()> {
        if !self.begun {
            return Ok(());
        }
        let mut line =
            if self.include_xids { format!("COMMIT {}", of.xid) } else { "COMMIT".into() }.into_bytes();
        if self.include_timestamp {
            line.extend_from_slice(b" (at ");
            write_value(session, oids::timestamptz, &Datum::Int8(of.time), false, &mut line)?;
            line.push(b')');
        }
        sink.put(of.end, line);
        Ok(())
    }

    fn message(&mut self, message: &Message, sink: &mut Sink) -> SqlResult<()> {
        let mut line = Vec::new();
        write_message(message, false, &mut line);
        sink.put(message.lsn, line);
        Ok(())
    }
}

fn write_message(message: &Message, transactional: bool, line: &mut Vec<u8>) {
    let (prefix, size) = (&message.prefix, message.contents.len());
    let transactional = u8::from(transactional);
    let head = format!("message: transactional: {transactional} prefix: {prefix}, sz: {size} content:");
    line.extend_from_slice(head.as_bytes());
    line.extend_from_slice(&message.contents);
}

/// Fails where texts are wanted of a plugin that writes none.
pub(super) fn check_text(plugin: &dyn Plugin, name: &str, function: &str) -> SqlResult<()> {
    if !plugin.is_binary() {
        return Ok(());
    }
    Err(sql_err!(
        FEATURE_NOT_SUPPORTED,
        "logical decoding output plugin \"{name}\" produces binary output, but function \"{function}\" expects textual data"
    ))
}
