//! What the server needs from the database behind it.
//!
//! The one that counts is `database`, over the storage engine and the executor; tests of the server itself put a
//! canned one here.

use std::collections::VecDeque;
use std::sync::Arc;

use base::settings::{ServerSettings, Timeouts};
use base::{Oid, Severity, SqlError, SqlResult};
use runtime::Workers;
use session::{
    Format, LogSink, Notification, Output, ParamValue, SessionInfo, Situation, SocketSink, TransactionStatus,
};
use types::encoding::Passage;

use crate::sessions::{Rank, Sessions};

/// A role, as far as logging in is concerned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Role {
    /// Whether it may do everything.
    pub superuser: bool,
    /// Whether it may log in.
    pub can_login: bool,
    /// What is stored of its password, if one was set.
    pub password: Option<String>,
    /// Its password is not valid any more (VALID UNTIL).
    pub password_expired: bool,
    /// Whether connections are kept for it (`pg_use_reserved_connections`).
    pub uses_reserved: bool,
}

impl Role {
    /// Which of the connections that are kept it may have.
    pub fn rank(&self) -> Rank {
        match (self.superuser, self.uses_reserved) {
            (true, _) => Rank::Superuser,
            (false, true) => Rank::Reserved,
            (false, false) => Rank::Other,
        }
    }
}

/// A running database. All methods are called inside fibers.
pub trait Database: Send + Sync + 'static {
    /// The role with this name.
    fn role(&self, name: &str) -> SqlResult<Option<Role>>;

    /// Whether `user` is a member of `role`, directly or not.
    fn is_member(&self, user: &str, role: &str) -> SqlResult<bool>;

    /// Opens a session: checks role and database, applies the start-up settings.
    fn connect(&self, info: SessionInfo) -> SqlResult<Box<dyn Client>>;

    /// Whether it is a standby, which only reads.
    fn is_standby(&self) -> bool {
        false
    }

    /// The configuration was read anew.
    fn reload(&self, settings: Arc<ServerSettings>);

    /// Whom statements ask for what concerns the server around the database.
    fn set_control(&self, control: Arc<dyn session::ServerControl>);

    /// Starts what works beside sessions, on these workers; some of it has a number as sessions have.
    fn start_background(&self, workers: &Workers, sessions: &Arc<Sessions>);

    /// Starts only what storage needs, for a server with one session and no client: nothing is archived, and nothing vacuumed by itself.
    fn start_standalone(&self, _workers: &Workers) {}

    /// Name of the superuser that the data directory was made with.
    fn first_superuser(&self) -> SqlResult<Option<String>> {
        Ok(None)
    }

    /// The server stops: no session begins to send the log any more.
    fn stop_replication(&self) {}

    /// All sessions have ended but those that send the log: stops what works beside them and leaves the data directory cleanly closed, sends what is
    /// still to be sent, and waits until they have ended too. Called on a thread of its own.
    fn shutdown(&self) -> SqlResult<()>;
}

/// One session. An error of any method is for the client; the session has put its transaction into the state that follows.
pub trait Client {
    /// Notes what the next messages will look at in the session: it had better be in the processor's cache then.
    fn note_lines(&self, _lines: &mut base::Lines) {}
    /// The Query message.
    fn simple_query(&mut self, text: &str, out: &mut dyn Output) -> SqlResult<()>;
    /// The Parse message.
    fn parse(&mut self, name: &str, text: &str, types: &[Oid], out: &mut dyn Output) -> SqlResult<()>;
    /// The Bind message.
    fn bind(
        &mut self,
        portal: &str,
        statement: &str,
        parameter_formats: &[Format],
        parameters: &[ParamValue<'_>],
        result_formats: &[Format],
    ) -> SqlResult<()>;
    /// Describe of a statement.
    fn describe_statement(&mut self, name: &str, out: &mut dyn Output) -> SqlResult<()>;
    /// Describe of a portal.
    fn describe_portal(&mut self, name: &str, out: &mut dyn Output) -> SqlResult<()>;
    /// The Execute message; 0 rows: all.
    fn execute(&mut self, portal: &str, max_rows: u32, out: &mut dyn Output) -> SqlResult<()>;
    /// The FunctionCall message: the result in the format asked for; none is NULL.
    fn function_call(
        &mut self,
        _function: Oid,
        _formats: &[Format],
        _args: &[ParamValue<'_>],
        _result: Format,
        _out: &mut dyn Output,
    ) -> SqlResult<Option<Vec<u8>>> {
        Err(SqlError::not_supported("the function-call sub-protocol"))
    }
    /// Close of a statement.
    fn close_statement(&mut self, name: &str);
    /// Close of a portal.
    fn close_portal(&mut self, name: &str);
    /// The Sync message.
    fn sync(&mut self, out: &mut dyn Output) -> SqlResult<()>;
    /// An error that the server found itself: fails the transaction as a statement's error would.
    fn fail(&mut self, error: &SqlError);
    /// The statement that an error of this severity is to be logged with.
    fn failed_statement(&mut self, _severity: Severity) -> Option<Arc<str>> {
        None
    }
    /// What the session is doing, for the server's log.
    fn situation(&self) -> Situation {
        Situation::default()
    }
    /// Where the session's lines for the server's log go.
    fn log_to(&mut self, _sink: LogSink) {}
    /// Who takes over the settings `tcp_*` for the session's socket.
    fn socket_to(&mut self, _sink: SocketSink) {}
    /// The value of a setting, as SHOW has it.
    fn setting(&self, _name: &str) -> Option<String> {
        None
    }
    /// For ReadyForQuery.
    fn transaction_status(&self) -> TransactionStatus;
    /// Whether a transaction has followed another at once (AND CHAIN) since this was asked last.
    fn take_chained(&mut self) -> bool;
    /// How long the client and its statements may take.
    fn timeouts(&self) -> Timeouts;
    /// Whether each error ends the session (`exit_on_error`).
    fn exits_on_error(&self) -> bool {
        false
    }
    /// How texts go between the client and the server, before it has set anything else; none: as they are.
    fn passage(&self) -> Option<Passage> {
        None
    }
    /// Settings to tell the client about when it connects: names and values.
    fn reported_settings(&self) -> Vec<(String, String)>;
    /// What other sessions told this one; asked while no transaction runs.
    fn take_notifications(&mut self) -> VecDeque<Arc<Notification>>;
    /// The end of the connection, and how it came to that.
    fn close(&mut self, how: counters::SessionEnd);
}
