//! What the server drives, one per connection: the statements of a client, its transaction and its prepared things.

use std::sync::Arc;

use base::{Oid, SqlError, SqlResult};

use crate::output::{Format, Output};

/// What all sessions of a server share: storage, catalogs, plans.
pub struct Instance {}

/// Who is connected to what.
#[derive(Clone, Debug)]
pub struct SessionInfo {
    /// Number that `pg_stat_activity.pid` and BackendKeyData show.
    pub pid: i32,
    /// Role logged in as.
    pub user: String,
    /// Database connected to.
    pub database: String,
    /// Settings of the start-up packet and of `options`, in order.
    pub options: Vec<(String, String)>,
    /// Address of the client, none over a Unix socket.
    pub client_address: Option<std::net::SocketAddr>,
}

/// The byte of ReadyForQuery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionStatus {
    /// `I`: outside a transaction block.
    Idle,
    /// `T`: in a block.
    InBlock,
    /// `E`: in a failed block, everything but its end is refused.
    Failed,
}

impl TransactionStatus {
    /// The byte of the protocol.
    pub fn byte(self) -> u8 {
        match self {
            TransactionStatus::Idle => b'I',
            TransactionStatus::InBlock => b'T',
            TransactionStatus::Failed => b'E',
        }
    }
}

/// A parameter value of Bind: NULL or its bytes.
pub type ParamValue<'a> = Option<&'a [u8]>;

/// One connection's session. All methods run inside the session's fiber with its interrupts installed.
///
/// An `Err` of any method is for the server to send as ErrorResponse; the session has already put its transaction into
/// the right state. After an error in the extended protocol the server skips messages up to Sync and calls
/// [`Session::sync`].
pub struct Session {
    instance: Arc<Instance>,
    info: SessionInfo,
}

impl Session {
    /// Checks that role and database exist and applies the start-up settings.
    pub fn new(instance: Arc<Instance>, info: SessionInfo) -> SqlResult<Session> {
        Ok(Session { instance, info })
    }

    /// Settings to report with ParameterStatus after authentication: name and value.
    pub fn reported_settings(&self) -> Vec<(String, String)> {
        todo!()
    }

    /// The Query message: one or more statements, in one implicit transaction unless they say otherwise.
    pub fn simple_query(&mut self, _text: &str, _out: &mut dyn Output) -> SqlResult<()> {
        todo!()
    }

    /// The Parse message; an empty name is the unnamed statement. Types of 0 are to be inferred.
    pub fn parse(
        &mut self,
        _name: &str,
        _text: &str,
        _types: &[Oid],
        _out: &mut dyn Output,
    ) -> SqlResult<()> {
        todo!()
    }

    /// The Bind message. Formats follow the protocol's rule: none, one for all, or one each.
    pub fn bind(
        &mut self,
        _portal: &str,
        _statement: &str,
        _param_formats: &[Format],
        _params: &[ParamValue<'_>],
        _result_formats: &[Format],
    ) -> SqlResult<()> {
        todo!()
    }

    /// Describe of a statement: ParameterDescription, then RowDescription or NoData.
    pub fn describe_statement(&mut self, _name: &str, _out: &mut dyn Output) -> SqlResult<()> {
        todo!()
    }

    /// Describe of a portal: RowDescription or NoData.
    pub fn describe_portal(&mut self, _name: &str, _out: &mut dyn Output) -> SqlResult<()> {
        todo!()
    }

    /// Execute: `max_rows` 0 means all.
    pub fn execute(&mut self, _portal: &str, _max_rows: u32, _out: &mut dyn Output) -> SqlResult<()> {
        todo!()
    }

    /// Close of a statement; one that does not exist is no error.
    pub fn close_statement(&mut self, _name: &str) {
        todo!()
    }

    /// Close of a portal; one that does not exist is no error.
    pub fn close_portal(&mut self, _name: &str) {
        todo!()
    }

    /// Sync: ends the implicit transaction. An error here is that of the commit.
    pub fn sync(&mut self, _out: &mut dyn Output) -> SqlResult<()> {
        todo!()
    }

    /// For errors that the server itself finds (protocol violations): fails the transaction as a statement's error would.
    pub fn fail(&mut self, _error: &SqlError) {
        todo!()
    }

    /// State of the transaction, for ReadyForQuery.
    pub fn transaction_status(&self) -> TransactionStatus {
        todo!()
    }

    /// Whether `idle_in_transaction_session_timeout` or `idle_session_timeout` applies, and the value of a setting by name.
    pub fn setting(&self, _name: &str) -> Option<String> {
        todo!()
    }

    /// The end of the connection: rolls back, drops temporary tables, releases every lock.
    pub fn close(&mut self) {}

    /// Who is connected.
    pub fn info(&self) -> &SessionInfo {
        &self.info
    }

    /// What the session shares with the others.
    pub fn instance(&self) -> &Arc<Instance> {
        &self.instance
    }
}
