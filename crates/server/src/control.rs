//! What statements ask of the server: its configuration and its log.

use std::path::Path;
use std::sync::Arc;

use base::SqlResult;
use base::settings::Setting;
use session::{AutoChange, FileSetting, ServerControl};

use crate::config::{self, CommandLine, auto};
use crate::log;
use crate::session::Shared;

/// The running server, for its sessions.
pub struct Control {
    shared: Arc<Shared>,
    command_line: CommandLine,
}

impl Control {
    /// Of a server that was started by this command line.
    pub fn new(shared: Arc<Shared>, command_line: CommandLine) -> Control {
        Control { shared, command_line }
    }
}

impl ServerControl for Control {
    fn reload(&self) {
        // SAFETY: a signal to ourselves: the main thread handles it as one from outside.
        unsafe { libc::kill(libc::getpid(), libc::SIGHUP) };
    }

    fn file_settings(&self) -> Vec<FileSetting> {
        config::file_settings(&self.shared.settings(), &self.command_line)
    }

    fn alter_system(&self, change: AutoChange<'_>) -> SqlResult<()> {
        let settings = self.shared.settings();
        let dir = Path::new(settings.text(Setting::data_directory));
        runtime::blocking(|| auto::change(dir, change))
    }

    fn rotate_log(&self) -> bool {
        log::rotate()
    }

    fn log_file(&self, format: Option<&str>) -> Option<String> {
        log::current_file(format)
    }
}
