//! Where a session's results go. The server implements [`Output`] by encoding straight into the write buffer of the
//! connection; tests collect rows in memory.

use std::pin::Pin;

use base::{Oid, SqlError, SqlResult};
use runtime::Instant;
use tuple::Datum;
use types::FormatContext;
use types::encoding::Passage;

/// How a value travels: PostgreSQL's format codes 0 and 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// As `psql` shows it.
    #[default]
    Text,
    /// The type's `send` and `receive` representation.
    Binary,
}

impl Format {
    /// The format with this code of the protocol.
    pub fn from_code(code: i16) -> Option<Format> {
        match code {
            0 => Some(Format::Text),
            1 => Some(Format::Binary),
            _ => None,
        }
    }

    /// The protocol's code.
    pub fn code(self) -> i16 {
        self as i16
    }
}

/// One column of a result, as RowDescription tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name or alias.
    pub name: Box<str>,
    /// Table that the column comes from, or 0.
    pub table: Oid,
    /// Number of the column in that table, or 0.
    pub number: i16,
    /// Type, with domains replaced by their base type.
    pub type_oid: Oid,
    /// Type as the statement has it.
    pub declared: Oid,
    /// `pg_type.typlen`.
    pub type_len: i16,
    /// Type modifier or -1.
    pub typmod: i32,
}

/// The columns of a result and the format of each: what is needed to encode a row.
#[derive(Clone, Copy)]
pub struct RowEncoder<'a> {
    /// The columns.
    pub columns: &'a [Column],
    /// Formats asked for: none (all text), one (for all), or one a column.
    pub formats: &'a [Format],
    /// Date style, time zone and so on.
    pub context: &'a FormatContext,
    /// Names behind OID aliases, and types that users made.
    pub session: &'a dyn types::Session,
}

impl RowEncoder<'_> {
    /// Number of columns.
    #[inline]
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Whether rows have no columns at all.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// The format of column `i`.
    #[inline]
    pub fn format(&self, i: usize) -> Format {
        match self.formats {
            [] => Format::Text,
            [one] => *one,
            many => many.get(i).copied().unwrap_or_default(),
        }
    }

    /// Appends the value's bytes without length word; `false` for NULL, which appends nothing.
    #[inline]
    pub fn encode(&self, i: usize, value: &Datum, out: &mut Vec<u8>) -> SqlResult<bool> {
        if value.is_null() {
            return Ok(false);
        }
        let type_oid = self.columns[i].type_oid;
        let call = types::Call::new(self.context).with_session(self.session);
        match self.format(i) {
            Format::Text => types::output(type_oid, value, &call, out)?,
            Format::Binary => types::send(type_oid, value, &call, out)?,
        }
        Ok(true)
    }

    /// As [`encode`](Self::encode), for a client to whom texts go this way.
    pub fn encode_in(&self, passage: Passage, i: usize, value: &Datum, out: &mut Vec<u8>) -> SqlResult<bool> {
        let mut bytes = Vec::new();
        if !self.encode(i, value, &mut bytes)? {
            return Ok(false);
        }
        match self.format(i) {
            Format::Text => passage.encode(types::value::str_of(&bytes), out)?,
            Format::Binary => {
                let call = types::Call::new(self.context).with_session(self.session);
                let type_oid = self.columns[i].type_oid;
                out.extend_from_slice(&types::encoding::to_client(passage, type_oid, &bytes, &call)?);
            }
        }
        Ok(true)
    }
}

/// The sink of a session's results. Every method may wait for the fiber when the peer is slow.
///
/// ReadyForQuery is the server's own: after [`crate::Session::simple_query`] and [`crate::Session::sync`] it sends
/// [`crate::Session::transaction_status`].
///
/// Messages that only clients look at are ignored unless a sink says otherwise.
pub trait Output {
    /// RowDescription.
    fn row_description(&mut self, _columns: &[Column], _formats: &[Format]) -> SqlResult<()> {
        Ok(())
    }
    /// NoData: the statement returns no rows.
    fn no_data(&mut self) -> SqlResult<()> {
        Ok(())
    }
    /// ParameterDescription.
    fn parameter_description(&mut self, _types: &[Oid]) -> SqlResult<()> {
        Ok(())
    }
    /// DataRow: calls [`RowEncoder::encode`] for each value.
    fn data_row(&mut self, encoder: &RowEncoder<'_>, row: &[Datum]) -> SqlResult<()>;
    /// A statement begins that is not the first of its Query message, or has ended in the midst of extended messages: `statement_timeout`
    /// (milliseconds; 0: none) counts anew.
    fn next_statement(&mut self, _timeout: i32) {}
    /// CommandComplete with PostgreSQL's tag (`INSERT 0 1`).
    fn command_complete(&mut self, _tag: &str) -> SqlResult<()> {
        Ok(())
    }
    /// CommandComplete of a command that counts rows: the tag is its name and their number.
    fn command_complete_rows(&mut self, command: &'static str, rows: u64) -> SqlResult<()> {
        self.command_complete(&format!("{command} {rows}"))
    }
    /// EmptyQueryResponse.
    fn empty_query(&mut self) -> SqlResult<()> {
        Ok(())
    }
    /// PortalSuspended: the row limit of Execute was reached.
    fn portal_suspended(&mut self) -> SqlResult<()> {
        Ok(())
    }
    /// NoticeResponse; the session has applied `client_min_messages` already.
    fn notice(&mut self, notice: &SqlError);
    /// ParameterStatus after a reported setting changed.
    fn parameter_status(&mut self, _name: &str, _value: &str) {}
    /// The client's encoding may have changed: its texts come and go this way from now on; none: as they are.
    fn passage(&mut self, _passage: Option<Passage>) {}
    /// CopyInResponse.
    fn copy_in(&mut self, format: Format, columns: usize) -> SqlResult<()>;
    /// The next CopyData from the client, `None` at CopyDone. CopyFail and a lost connection are errors. Waits.
    fn copy_in_data(&mut self) -> SqlResult<Option<Vec<u8>>> {
        Ok(None)
    }
    /// CopyOutResponse.
    fn copy_out(&mut self, _format: Format, _columns: usize) -> SqlResult<()> {
        Ok(())
    }
    /// One CopyData message.
    fn copy_out_data(&mut self, row: &[u8]) -> SqlResult<()>;
    /// One CopyData message of several parts.
    fn copy_out_parts(&mut self, parts: &[&[u8]]) -> SqlResult<()> {
        self.copy_out_data(&parts.concat())
    }
    /// CopyDone.
    fn copy_out_done(&mut self) -> SqlResult<()> {
        Ok(())
    }
    /// CopyBothResponse: from now on CopyData goes both ways. Those who have no client of their own cannot.
    fn copy_both(&mut self) -> SqlResult<()> {
        Err(SqlError::not_supported("replication without a client"))
    }
    /// In the midst of that: a CopyData message with the bytes that `write` appends. Does not wait; after an error nothing of it is there.
    fn copy_both_data(&mut self, _write: &mut dyn FnMut(&mut Vec<u8>) -> SqlResult<()>) -> SqlResult<()> {
        Ok(())
    }
    /// In the midst of that: sends what there is to send, and waits for a message of the client, for the time, or, once all is sent, for `ready`.
    fn copy_both_wait(
        &mut self,
        _ready: Pin<&mut dyn Future<Output = ()>>,
        _until: Option<Instant>,
    ) -> SqlResult<Both> {
        Err(SqlError::not_supported("replication without a client"))
    }
    /// Whether the client has not taken everything yet.
    fn is_behind(&self) -> bool {
        false
    }
}

/// What a wait brought in the midst of COPY in both directions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Both {
    /// CopyData of the client.
    Data(Vec<u8>),
    /// CopyDone of the client.
    Done,
    /// Everything is sent, and what was waited for is there.
    Ready,
    /// The time has come.
    Time,
}

/// Within an `impl Output` around `self.out`: notices, settings and COPY are passed on as they are.
macro_rules! passes_on {
    () => {
        fn notice(&mut self, notice: &SqlError) {
            self.out.notice(notice);
        }
        fn parameter_status(&mut self, name: &str, value: &str) {
            self.out.parameter_status(name, value);
        }
        fn passage(&mut self, passage: Option<types::encoding::Passage>) {
            self.out.passage(passage);
        }
        fn copy_in(&mut self, format: Format, columns: usize) -> SqlResult<()> {
            self.out.copy_in(format, columns)
        }
        fn copy_in_data(&mut self) -> SqlResult<Option<Vec<u8>>> {
            self.out.copy_in_data()
        }
        fn copy_out(&mut self, format: Format, columns: usize) -> SqlResult<()> {
            self.out.copy_out(format, columns)
        }
        fn copy_out_data(&mut self, row: &[u8]) -> SqlResult<()> {
            self.out.copy_out_data(row)
        }
        fn copy_out_done(&mut self) -> SqlResult<()> {
            self.out.copy_out_done()
        }
    };
}
pub(crate) use passes_on;

/// Sends rows in other formats than their sender thinks: those that the client asked for.
pub(crate) struct Formatted<'a> {
    pub(crate) formats: &'a [Format],
    pub(crate) out: &'a mut dyn Output,
}

impl Output for Formatted<'_> {
    fn row_description(&mut self, columns: &[Column], formats: &[Format]) -> SqlResult<()> {
        self.out.row_description(columns, formats)
    }
    fn no_data(&mut self) -> SqlResult<()> {
        self.out.no_data()
    }
    fn parameter_description(&mut self, types: &[Oid]) -> SqlResult<()> {
        self.out.parameter_description(types)
    }
    fn data_row(&mut self, encoder: &RowEncoder<'_>, row: &[Datum]) -> SqlResult<()> {
        self.out.data_row(&RowEncoder { formats: self.formats, ..*encoder }, row)
    }
    fn command_complete(&mut self, tag: &str) -> SqlResult<()> {
        self.out.command_complete(tag)
    }
    fn command_complete_rows(&mut self, command: &'static str, rows: u64) -> SqlResult<()> {
        self.out.command_complete_rows(command, rows)
    }
    fn empty_query(&mut self) -> SqlResult<()> {
        self.out.empty_query()
    }
    fn portal_suspended(&mut self) -> SqlResult<()> {
        self.out.portal_suspended()
    }
    passes_on!();
}
