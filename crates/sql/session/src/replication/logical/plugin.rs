//! What · Output plugins: how the changes of a transaction are told. They are built in.
//!
//! Invariants
//! 1. A plugin is called for one transaction after the other: `begin`, its changes, `commit`.
//! 2. What it has to say goes into a [`Sink`] as whole messages; whoever called it brings them to the receiver before the next change.
//!
//! PostgreSQL counterpart · `output_plugin.h`.

use base::{Lsn, Oid, SqlResult, SqlState, sql_err};
use engine::decoding::{Change, Message};
use tuple::Datum;
use txn::origin::Mark;

use super::{pgoutput, test_decoding};
use crate::Session;

/// An option of a plugin: its name, and its value if it has one.
pub(crate) type PluginOption = (String, Option<String>);

/// Messages for the receiver, each with the position that it is told of.
#[derive(Default)]
pub(crate) struct Sink {
    pub(crate) messages: Vec<(Lsn, Vec<u8>)>,
}

impl Sink {
    /// One more.
    pub(crate) fn put(&mut self, lsn: Lsn, message: impl Into<Vec<u8>>) {
        self.messages.push((lsn, message.into()));
    }
}

/// A transaction that is told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Told {
    /// Lower half of its xid, as clients know it.
    pub(crate) xid: u32,
    /// Position of its first record.
    pub(crate) first: Lsn,
    /// That of its commit record.
    pub(crate) commit: Lsn,
    /// The end of that.
    pub(crate) end: Lsn,
    /// When it committed.
    pub(crate) time: i64,
    /// Where it comes from, if it was replicated itself.
    pub(crate) origin: Option<Mark>,
}

/// An output plugin.
pub(crate) trait Plugin {
    /// Whether its messages are no texts.
    fn is_binary(&self) -> bool;
    /// Whether it wants transactions that were replicated themselves.
    fn wants_replicated(&self) -> bool;
    /// A transaction begins.
    fn begin(&mut self, session: &Session, of: &Told, sink: &mut Sink) -> SqlResult<()>;
    /// A change of it, at this position.
    fn change(
        &mut self,
        session: &Session,
        of: &Told,
        change: (Lsn, &Change),
        sink: &mut Sink,
    ) -> SqlResult<()>;
    /// It is complete.
    fn commit(&mut self, session: &Session, of: &Told, sink: &mut Sink) -> SqlResult<()>;
    /// A message that goes with no transaction.
    fn message(&mut self, message: &Message, sink: &mut Sink) -> SqlResult<()>;
}

/// Fails unless there is a plugin of this name.
pub(crate) fn check(name: &str) -> SqlResult<()> {
    match name {
        "pgoutput" | "test_decoding" => Ok(()),
        _ => Err(sql_err!(UNDEFINED_FILE, "could not access file \"{name}\": No such file or directory")),
    }
}

/// The plugin of this name.
pub(crate) fn open(name: &str, options: &[PluginOption]) -> SqlResult<Box<dyn Plugin>> {
    check(name)?;
    Ok(match name {
        "pgoutput" => Box::new(pgoutput::PgOutput::new(options)?),
        _ => Box::new(test_decoding::TestDecoding::new(options)?),
    })
}

/// Appends a value as its type's output function writes it, or in binary.
pub(crate) fn write_value(
    session: &Session,
    type_oid: Oid,
    value: &Datum,
    binary: bool,
    out: &mut Vec<u8>,
) -> SqlResult<()> {
    let context = session.format.borrow().clone();
    let call = types::Call::new(&context).with_session(session);
    match binary {
        true => types::send(type_oid, value, &call, out),
        false => types::output(type_oid, value, &call, out),
    }
}

/// `invalid_parameter_value` about an option.
pub(crate) fn bad_option(message: String) -> base::SqlError {
    base::SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message)
}
