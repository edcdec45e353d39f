//! The settings `tcp_*` of a session, which are handed to the owner of its socket.
//!
//! PostgreSQL counterpart: the assign hooks of `pqcomm.c`. SHOW tells what was set, not what the system makes of 0.

use std::cell::{Cell, OnceCell};

use base::settings::{SessionSettings, Setting};

use super::Session;

/// How the system is to watch over a connection; 0: as it likes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SocketOptions {
    /// Seconds before a keepalive is sent (`tcp_keepalives_idle`).
    pub idle: i32,
    /// Seconds between keepalives (`tcp_keepalives_interval`).
    pub interval: i32,
    /// Keepalives that may be lost (`tcp_keepalives_count`).
    pub count: i32,
    /// Milliseconds that data may stay unacknowledged (`tcp_user_timeout`).
    pub user_timeout: i32,
}

/// Takes over options for the session's socket.
pub type SocketSink = Box<dyn Fn(SocketOptions)>;

/// Who takes them over, and the version of the settings that was told last.
#[derive(Default)]
pub(super) struct Socket {
    sink: OnceCell<SocketSink>,
    told: Cell<u32>,
}

impl Session {
    /// Who takes over the settings `tcp_*`; set once, and told at once.
    pub fn socket_to(&self, sink: SocketSink) {
        let _ = self.socket.sink.set(sink);
        self.tell_socket(&self.settings.borrow());
    }

    /// After a change of settings.
    pub(super) fn follow_socket(&self, settings: &SessionSettings) {
        let version = settings.fast().socket_version;
        if self.socket.told.replace(version) != version {
            self.tell_socket(settings);
        }
    }

    fn tell_socket(&self, settings: &SessionSettings) {
        let value = |setting| settings.get(setting).as_int();
        if let Some(sink) = self.socket.sink.get() {
            sink(SocketOptions {
                idle: value(Setting::tcp_keepalives_idle),
                interval: value(Setting::tcp_keepalives_interval),
                count: value(Setting::tcp_keepalives_count),
                user_timeout: value(Setting::tcp_user_timeout),
            });
        }
    }
}
