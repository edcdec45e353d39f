//! Messages to the client, appended to a buffer that the session reuses.
//!
//! Each function appends one whole message. [`begin`] and [`end`] frame messages whose body others write, as rows.

use base::error::Report;

use crate::startup::Version;

/// State of the session's transaction, in ReadyForQuery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum TransactionStatus {
    /// Not in a transaction block.
    Idle = b'I',
    /// In a transaction block.
    InTransaction = b'T',
    /// In a transaction block that has failed.
    Failed = b'E',
}

/// A result column, in RowDescription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field<'a> {
    /// Its name.
    pub name: &'a str,
    /// OID of the table it comes from, or 0.
    pub table: u32,
    /// Its number in the table, or 0.
    pub column: i16,
    /// OID of its type.
    pub type_oid: u32,
    /// Length of its type: `pg_type.typlen`.
    pub type_len: i16,
    /// Type modifier, or -1.
    pub typmod: i32,
    /// 0 text, 1 binary.
    pub format: i16,
}

/// Starts a message; give what it returns to [`end`].
#[inline]
pub fn begin(out: &mut Vec<u8>, kind: u8) -> usize {
    out.extend_from_slice(&[kind, 0, 0, 0, 0]);
    out.len() - 4
}

/// Ends a message: fills in its length.
#[inline]
pub fn end(out: &mut [u8], start: usize) {
    let length = (out.len() - start) as u32;
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
}

fn empty(out: &mut Vec<u8>, kind: u8) {
    out.extend_from_slice(&[kind, 0, 0, 0, 4]);
}

fn cstr(out: &mut Vec<u8>, text: &str) {
    let start = out.len();
    out.extend_from_slice(text.as_bytes());
    // A zero byte inside would end the string early; SQL text never has one.
    out[start..].iter_mut().for_each(|b| *b = if *b == 0 { b' ' } else { *b });
    out.push(0);
}

fn i16(out: &mut Vec<u8>, value: i16) {
    out.extend_from_slice(&value.to_be_bytes());
}

fn i32(out: &mut Vec<u8>, value: i32) {
    out.extend_from_slice(&value.to_be_bytes());
}

fn u32(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_be_bytes());
}

fn authentication(out: &mut Vec<u8>, code: i32, data: &[u8]) {
    let start = begin(out, b'R');
    i32(out, code);
    out.extend_from_slice(data);
    end(out, start);
}

/// AuthenticationOk.
pub fn authentication_ok(out: &mut Vec<u8>) {
    authentication(out, 0, &[]);
}

/// AuthenticationCleartextPassword.
pub fn authentication_cleartext_password(out: &mut Vec<u8>) {
    authentication(out, 3, &[]);
}

/// AuthenticationMD5Password: the password's hash is to be hashed again with this salt.
pub fn authentication_md5_password(out: &mut Vec<u8>, salt: [u8; 4]) {
    authentication(out, 5, &salt);
}

/// AuthenticationSASL: the mechanisms offered.
pub fn authentication_sasl(out: &mut Vec<u8>, mechanisms: &[&str]) {
    let start = begin(out, b'R');
    i32(out, 10);
    for mechanism in mechanisms {
        cstr(out, mechanism);
    }
    out.push(0);
    end(out, start);
}

/// AuthenticationSASLContinue: the mechanism's next message.
pub fn authentication_sasl_continue(out: &mut Vec<u8>, data: &[u8]) {
    authentication(out, 11, data);
}

/// AuthenticationSASLFinal: the mechanism's last message.
pub fn authentication_sasl_final(out: &mut Vec<u8>, data: &[u8]) {
    authentication(out, 12, data);
}

/// NegotiateProtocolVersion: the version spoken here, and extensions that are not known.
pub fn negotiate_protocol_version<'a>(
    out: &mut Vec<u8>,
    version: Version,
    extensions: impl Iterator<Item = &'a [u8]>,
) {
    let start = begin(out, b'v');
    u32(out, version.code());
    let count_at = out.len();
    u32(out, 0);
    let mut count = 0u32;
    for name in extensions {
        out.extend_from_slice(name);
        out.push(0);
        count += 1;
    }
    out[count_at..count_at + 4].copy_from_slice(&count.to_be_bytes());
    end(out, start);
}

/// ParameterStatus: a setting that drivers follow.
pub fn parameter_status(out: &mut Vec<u8>, name: &str, value: &str) {
    let start = begin(out, b'S');
    cstr(out, name);
    cstr(out, value);
    end(out, start);
}

/// BackendKeyData: what a cancel request must name. The key has 4 bytes in protocol 3.0 and up to 256 later.
pub fn backend_key_data(out: &mut Vec<u8>, pid: i32, key: &[u8]) {
    let start = begin(out, b'K');
    i32(out, pid);
    out.extend_from_slice(key);
    end(out, start);
}

/// ReadyForQuery.
pub fn ready_for_query(out: &mut Vec<u8>, status: TransactionStatus) {
    out.extend_from_slice(&[b'Z', 0, 0, 0, 5, status as u8]);
}

/// ParseComplete.
pub fn parse_complete(out: &mut Vec<u8>) {
    empty(out, b'1');
}

/// BindComplete.
pub fn bind_complete(out: &mut Vec<u8>) {
    empty(out, b'2');
}

/// FunctionCallResponse; none is NULL.
pub fn function_call_response(out: &mut Vec<u8>, value: Option<&[u8]>) {
    let start = begin(out, b'V');
    match value {
        Some(value) => {
            i32(out, value.len() as i32);
            out.extend_from_slice(value);
        }
        None => i32(out, -1),
    }
    end(out, start);
}

/// CloseComplete.
pub fn close_complete(out: &mut Vec<u8>) {
    empty(out, b'3');
}

/// NoData: a statement without result columns.
pub fn no_data(out: &mut Vec<u8>) {
    empty(out, b'n');
}

/// EmptyQueryResponse.
pub fn empty_query_response(out: &mut Vec<u8>) {
    empty(out, b'I');
}

/// PortalSuspended: the row limit was reached.
pub fn portal_suspended(out: &mut Vec<u8>) {
    empty(out, b's');
}

/// CommandComplete, with its tag (`INSERT 0 1`).
pub fn command_complete(out: &mut Vec<u8>, tag: &str) {
    let start = begin(out, b'C');
    cstr(out, tag);
    end(out, start);
}

/// CommandComplete of a command that counts rows: its name, and their number.
pub fn command_complete_rows(out: &mut Vec<u8>, command: &str, rows: u64) {
    let start = begin(out, b'C');
    out.extend_from_slice(command.as_bytes());
    out.push(b' ');
    base::push_decimal(out, rows);
    out.push(0);
    end(out, start);
}

/// ParameterDescription: the types of a statement's parameters.
pub fn parameter_description(out: &mut Vec<u8>, types: impl ExactSizeIterator<Item = u32>) {
    let start = begin(out, b't');
    i16(out, types.len() as i16);
    for oid in types {
        u32(out, oid);
    }
    end(out, start);
}

/// RowDescription.
pub fn row_description<'a>(out: &mut Vec<u8>, fields: impl ExactSizeIterator<Item = Field<'a>>) {
    let start = begin(out, b'T');
    i16(out, fields.len() as i16);
    for field in fields {
        cstr(out, field.name);
        let mut rest = [0; 18];
        rest[..4].copy_from_slice(&field.table.to_be_bytes());
        rest[4..6].copy_from_slice(&field.column.to_be_bytes());
        rest[6..10].copy_from_slice(&field.type_oid.to_be_bytes());
        rest[10..12].copy_from_slice(&field.type_len.to_be_bytes());
        rest[12..16].copy_from_slice(&field.typmod.to_be_bytes());
        rest[16..].copy_from_slice(&field.format.to_be_bytes());
        out.extend_from_slice(&rest);
    }
    end(out, start);
}

/// Writes the values of one DataRow.
#[derive(Debug)]
pub struct DataRow<'a> {
    out: &'a mut Vec<u8>,
    start: usize,
}

/// Starts a DataRow of `columns` values; call [`DataRow::finish`] after the last.
#[inline]
pub fn data_row(out: &mut Vec<u8>, columns: usize) -> DataRow<'_> {
    let start = begin(out, b'D');
    i16(out, columns as i16);
    DataRow { out, start }
}

impl DataRow<'_> {
    /// A NULL.
    #[inline]
    pub fn null(&mut self) {
        i32(self.out, -1);
    }

    /// A value's bytes.
    #[inline]
    pub fn value(&mut self, bytes: &[u8]) {
        i32(self.out, bytes.len() as i32);
        self.out.extend_from_slice(bytes);
    }

    /// A value that `write` appends to the buffer, or NULL where it says `false` and appends nothing.
    #[inline]
    pub fn try_value<E>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Result<bool, E>) -> Result<(), E> {
        let at = self.out.len();
        i32(self.out, -1);
        if write(self.out)? {
            let length = (self.out.len() - at - 4) as i32;
            self.out[at..at + 4].copy_from_slice(&length.to_be_bytes());
        }
        Ok(())
    }

    /// Ends the row.
    #[inline]
    pub fn finish(self) {
        end(self.out, self.start);
    }

    /// Takes the row back, as if it had never been begun.
    pub fn abandon(self) {
        self.out.truncate(self.start - 1);
    }
}

fn copy_response(out: &mut Vec<u8>, kind: u8, binary: bool, columns: usize) {
    let start = begin(out, kind);
    out.push(u8::from(binary));
    i16(out, columns as i16);
    for _ in 0..columns {
        i16(out, i16::from(binary));
    }
    end(out, start);
}

/// CopyInResponse: the client may send its data.
pub fn copy_in_response(out: &mut Vec<u8>, binary: bool, columns: usize) {
    copy_response(out, b'G', binary, columns);
}

/// CopyOutResponse: data follows.
pub fn copy_out_response(out: &mut Vec<u8>, binary: bool, columns: usize) {
    copy_response(out, b'H', binary, columns);
}

/// CopyBothResponse.
pub fn copy_both_response(out: &mut Vec<u8>) {
    copy_response(out, b'W', false, 0);
}

/// CopyData, from its parts: one row of COPY TO STDOUT, or what a protocol within it says.
pub fn copy_data(out: &mut Vec<u8>, parts: &[&[u8]]) {
    let start = begin(out, b'd');
    parts.iter().for_each(|part| out.extend_from_slice(part));
    end(out, start);
}

/// CopyDone.
pub fn copy_done(out: &mut Vec<u8>) {
    empty(out, b'c');
}

/// NotificationResponse.
pub fn notification(out: &mut Vec<u8>, pid: i32, channel: &str, payload: &str) {
    let start = begin(out, b'A');
    i32(out, pid);
    cstr(out, channel);
    cstr(out, payload);
    end(out, start);
}

/// ErrorResponse.
pub fn error_response(out: &mut Vec<u8>, report: &Report) {
    report_fields(out, b'E', report);
}

/// NoticeResponse.
pub fn notice_response(out: &mut Vec<u8>, report: &Report) {
    report_fields(out, b'N', report);
}

fn report_fields(out: &mut Vec<u8>, kind: u8, report: &Report) {
    let start = begin(out, kind);
    let mut field = |code: u8, text: &str| {
        out.push(code);
        cstr(out, text);
    };
    field(b'S', report.severity.as_str());
    field(b'V', report.severity.as_str());
    field(b'C', report.code.as_str());
    field(b'M', &report.message);
    let optional = [
        (b'D', &report.detail),
        (b'H', &report.hint),
        (b'q', &report.internal_query),
        (b'W', &report.context),
        (b's', &report.schema),
        (b't', &report.table),
        (b'c', &report.column),
        (b'd', &report.data_type),
        (b'n', &report.constraint),
    ];
    for (code, text) in optional {
        if let Some(text) = text {
            field(code, text);
        }
    }
    if let Some(position) = report.position {
        field(b'P', &position.to_string());
    }
    if let Some(position) = report.internal_position {
        field(b'p', &position.to_string());
    }
    field(b'F', report.origin.0.file());
    field(b'L', &report.origin.0.line().to_string());
    if let Some(routine) = report.routine {
        field(b'R', routine);
    }
    out.push(0);
    end(out, start);
}
