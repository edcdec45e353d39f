//! Messages of a publisher (`pgoutput`), read: the layout stands at the head of `session/src/replication/logical/pgoutput.rs`.

use base::{Lsn, SqlError, SqlResult, sql_err};

/// A value of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value<'a> {
    Null,
    /// A large value that did not change.
    Unchanged,
    Text(&'a [u8]),
    Binary(&'a [u8]),
}

/// A table as its publisher describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RemoteTable {
    pub number: u32,
    pub schema: String,
    pub name: String,
    /// `relreplident`
    pub identity: u8,
    pub columns: Vec<RemoteColumn>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RemoteColumn {
    pub name: String,
    /// It identifies rows.
    pub key: bool,
}

/// A message.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Message<'a> {
    Begin {
        commit: Lsn,
        time: i64,
        xid: u32,
    },
    Commit {
        commit: Lsn,
        end: Lsn,
        time: i64,
    },
    Table(RemoteTable),
    Insert {
        table: u32,
        new: Vec<Value<'a>>,
    },
    Update {
        table: u32,
        old: Option<Vec<Value<'a>>>,
        new: Vec<Value<'a>>,
    },
    Delete {
        table: u32,
        old: Vec<Value<'a>>,
    },
    Truncate {
        tables: Vec<u32>,
        restart: bool,
    },
    /// What nothing is made of: where the transaction comes from, a type, a message of a user.
    Other,
}

impl Message<'_> {
    /// How PostgreSQL calls what is being done.
    pub(super) fn kind(byte: u8) -> &'static str {
        match byte {
            b'B' => "BEGIN",
            b'C' => "COMMIT",
            b'O' => "ORIGIN",
            b'I' => "INSERT",
            b'U' => "UPDATE",
            b'D' => "DELETE",
            b'T' => "TRUNCATE",
            b'R' => "RELATION",
            b'Y' => "TYPE",
            b'M' => "MESSAGE",
            _ => "???",
        }
    }
}

fn violation(what: &str) -> SqlError {
    sql_err!(PROTOCOL_VIOLATION, "{what}")
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> SqlResult<&'a [u8]> {
        let (taken, rest) =
            self.0.split_at_checked(count).ok_or_else(|| violation("insufficient data left in message"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> SqlResult<[u8; N]> {
        let taken = self.take(N)?;
        taken.try_into().map_err(|_| violation("insufficient data left in message"))
    }

    fn byte(&mut self) -> SqlResult<u8> {
        Ok(self.array::<1>()?[0])
    }

    fn u16(&mut self) -> SqlResult<u16> {
        self.array().map(u16::from_be_bytes)
    }

    fn u32(&mut self) -> SqlResult<u32> {
        self.array().map(u32::from_be_bytes)
    }

    fn u64(&mut self) -> SqlResult<u64> {
        self.array().map(u64::from_be_bytes)
    }

    fn text(&mut self) -> SqlResult<String> {
        let end = self.0.iter().position(|byte| *byte == 0);
        let end = end.ok_or_else(|| violation("invalid string in message"))?;
        let bytes = self.take(end + 1)?;
        String::from_utf8(bytes[..end].to_vec()).map_err(|_| violation("invalid string in message"))
    }

    fn row(&mut self) -> SqlResult<Vec<Value<'a>>> {
        let count = self.u16()?;
        let mut values = Vec::with_capacity(count.into());
        for _ in 0..count {
            values.push(match self.byte()? {
                b'n' => Value::Null,
                b'u' => Value::Unchanged,
                kind @ (b't' | b'b') => {
                    let length = self.u32()? as usize;
                    let bytes = self.take(length)?;
                    if kind == b't' { Value::Text(bytes) } else { Value::Binary(bytes) }
                }
                other => {
                    return Err(violation(&format!(
                        "unrecognized data representation type '{}'",
                        other as char
                    )));
                }
            });
        }
        Ok(values)
    }

    fn expect(&mut self, byte: u8) -> SqlResult<()> {
        match self.byte()? {
            found if found == byte => Ok(()),
            found => {
                Err(violation(&format!("expected new tuple ('{}'), got '{}'", byte as char, found as char)))
            }
        }
    }
}

/// Reads a message.
pub(super) fn read(bytes: &[u8]) -> SqlResult<Message<'_>> {
    let mut r = Reader(bytes);
    Ok(match r.byte()? {
        b'B' => Message::Begin { commit: Lsn(r.u64()?), time: r.u64()? as i64, xid: r.u32()? },
        b'C' => {
            r.byte()?;
            Message::Commit { commit: Lsn(r.u64()?), end: Lsn(r.u64()?), time: r.u64()? as i64 }
        }
        b'R' => Message::Table(table(&mut r)?),
        b'I' => {
            let table = r.u32()?;
            r.expect(b'N')?;
            Message::Insert { table, new: r.row()? }
        }
        b'U' => {
            let table = r.u32()?;
            let mut old = None;
            if matches!(r.0.first(), Some(b'K' | b'O')) {
                r.byte()?;
                old = Some(r.row()?);
            }
            r.expect(b'N')?;
            Message::Update { table, old, new: r.row()? }
        }
        b'D' => {
            let table = r.u32()?;
            match r.byte()? {
                b'K' | b'O' => Message::Delete { table, old: r.row()? },
                other => {
                    return Err(violation(&format!("expected action 'O' or 'K', got '{}'", other as char)));
                }
            }
        }
        b'T' => {
            let (count, flags) = (r.u32()?, r.byte()?);
            let tables = (0..count).map(|_| r.u32()).collect::<SqlResult<_>>()?;
            Message::Truncate { tables, restart: flags & 2 != 0 }
        }
        b'O' | b'Y' | b'M' => Message::Other,
        other => {
            return Err(violation(&format!("invalid logical replication message type \"??? ({other})\"")));
        }
    })
}

fn table(r: &mut Reader<'_>) -> SqlResult<RemoteTable> {
    let number = r.u32()?;
    let mut schema = r.text()?;
    if schema.is_empty() {
        schema = "pg_catalog".into();
    }
    let (name, identity, count) = (r.text()?, r.byte()?, r.u16()?);
    let mut columns = Vec::with_capacity(count.into());
    for _ in 0..count {
        let key = r.byte()? & 1 != 0;
        let name = r.text()?;
        r.take(8)?;
        columns.push(RemoteColumn { name, key });
    }
    Ok(RemoteTable { number, schema, name, identity, columns })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_and_short_ones_refused() {
        let begin = b"B\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0\x04\0\0\0\x07";
        assert_eq!(read(begin).unwrap(), Message::Begin { commit: Lsn(2), time: 4, xid: 7 });
        assert!((1..begin.len()).all(|end| read(&begin[..end]).is_err()));
        let table =
            b"R\0\0\x40\x01s\0t\0d\0\x02\x01id\0\0\0\0\x17\xff\xff\xff\xff\0v\0\0\0\0\x17\xff\xff\xff\xff";
        let column = |name: &str, key| RemoteColumn { name: name.into(), key };
        let known = RemoteTable {
            number: 0x4001,
            schema: "s".into(),
            name: "t".into(),
            identity: b'd',
            columns: vec![column("id", true), column("v", false)],
        };
        assert_eq!(read(table).unwrap(), Message::Table(known));
        let update = b"U\0\0\0\x01K\0\x01t\0\0\0\x015N\0\x03nub\0\0\0\x02ab";
        let new = vec![Value::Null, Value::Unchanged, Value::Binary(b"ab")];
        let old = Some(vec![Value::Text(b"5")]);
        assert_eq!(read(update).unwrap(), Message::Update { table: 1, old, new });
        assert!((1..update.len()).all(|end| read(&update[..end]).is_err()));
        let truncate = b"T\0\0\0\x01\x02\0\0\0\x09";
        assert_eq!(read(truncate).unwrap(), Message::Truncate { tables: vec![9], restart: true });
        assert!(read(b"?").is_err());
    }
}
