//! `pg_rewind`: makes a cluster whose time line was left behind like another one again, by what has changed since.
//!
//! # Steps
//! 1. A target that was not shut down is recovered, by a server without sessions.
//! 2. [`log`]: where the two time lines part, and the last checkpoint before that. All that the target has changed since then is not in the source.
//! 3. [`files`]: changed blocks of relations come from the source, other files as a whole; what the source has not goes.
//! 4. `backup_label` and the control file say that the log is to be replayed from that checkpoint on, as far as the source was when all was copied.
//!
//! # PostgreSQL counterpart
//! `src/bin/pg_rewind`.

mod files;
mod log;
mod server;
mod source;
mod target;

use std::path::PathBuf;

use base::{Lsn, TimelineId};
use engine::control::{ClusterState, ControlFile};
use engine::lock::DirectoryLock;
use runtime::fs::{self, File, OpenOptions};
use wal::History;

use super::messages::{Failure, Messages};
use super::options::{Flag, Given, flag, value};
use super::{controldata, given};
use crate::config::{self, CommandLine};
use files::{Action, Decision, Files};
use log::{CommonCheckpoint, Log};
use server::Server;
use source::{Folder, Source};
use target::{Progress, Target};

const FLAGS: &[Flag] = &[
    flag(Some('c'), "restore-target-wal"),
    value(Some('D'), "target-pgdata"),
    value(None, "source-pgdata"),
    value(None, "source-server"),
    flag(Some('n'), "dry-run"),
    flag(Some('N'), "no-sync"),
    flag(Some('P'), "progress"),
    flag(Some('R'), "write-recovery-conf"),
    value(None, "config-file"),
    flag(None, "debug"),
    flag(None, "no-ensure-shutdown"),
    value(None, "sync-method"),
    flag(Some('V'), "version"),
    flag(Some('?'), "help"),
];

const HELP: &str = "\
pg_rewind resynchronizes a PostgreSQL cluster with another copy of the cluster.

Usage:
  pg_rewind [OPTION]...

Options:
  -c, --restore-target-wal       use \"restore_command\" in target configuration to
                                 retrieve WAL files from archives
  -D, --target-pgdata=DIRECTORY  existing data directory to modify
      --source-pgdata=DIRECTORY  source data directory to synchronize with
      --source-server=CONNSTR    source server to synchronize with
  -n, --dry-run                  stop before modifying anything
  -N, --no-sync                  do not wait for changes to be written
                                 safely to disk
  -P, --progress                 write progress messages
  -R, --write-recovery-conf      write configuration for replication
                                 (requires --source-server)
      --config-file=FILENAME     use specified main server configuration
                                 file when running target cluster
      --debug                    write a lot of debug messages
      --no-ensure-shutdown       do not automatically fix unclean shutdown
      --sync-method=METHOD       set method for syncing files to disk
  -V, --version                  output version information, then exit
  -?, --help                     show this help, then exit
";

const PROGRAM: &str = "pg_rewind";

pub(super) fn main(args: &[String]) -> i32 {
    let mut messages = Messages::of(PROGRAM);
    let given = match given(&messages, args, FLAGS, HELP) {
        Ok(given) => given,
        Err(status) => return status,
    };
    messages.debug = given.has("debug");
    let task = match Task::of(&given, messages) {
        Ok(task) => task,
        Err(message) => return messages.misused(message),
    };
    match task.run() {
        Ok(()) => 0,
        Err(failure) => messages.fail(&failure),
    }
}

/// Where the source is.
enum From {
    Folder(PathBuf),
    /// A connection string.
    Server(String),
}

/// What is to be done.
struct Task {
    target: PathBuf,
    source: From,
    restore: bool,
    /// The target is to follow the source as a standby.
    follow: bool,
    dry: bool,
    sync: bool,
    progress: bool,
    ensure_shutdown: bool,
    config_file: Option<String>,
    messages: Messages,
}

impl Task {
    fn of(given: &Given, messages: Messages) -> Result<Task, String> {
        let source = match (given.get("source-pgdata"), given.get("source-server")) {
            (None, None) => return Err("no source specified (--source-pgdata or --source-server)".into()),
            (Some(_), Some(_)) => {
                return Err("only one of --source-pgdata or --source-server can be specified".into());
            }
            (Some(dir), None) => From::Folder(dir.into()),
            (None, Some(server)) => From::Server(server.to_owned()),
        };
        let Some(target) = given.get("target-pgdata") else {
            return Err("no target data directory specified (--target-pgdata)".into());
        };
        if given.has("write-recovery-conf") && !given.has("source-server") {
            return Err(
                "no source server information (--source-server) specified for --write-recovery-conf".into()
            );
        }
        if let Some(word) = given.words.first() {
            return Err(format!("too many command-line arguments (first is \"{word}\")"));
        }
        if let Some(method) = given.get("sync-method").filter(|method| !["fsync", "syncfs"].contains(method))
        {
            return Err(format!("unrecognized sync method: {method}"));
        }
        Ok(Task {
            target: target.into(),
            source,
            restore: given.has("restore-target-wal"),
            follow: given.has("write-recovery-conf"),
            dry: given.has("dry-run"),
            sync: !given.has("no-sync"),
            progress: given.has("progress"),
            ensure_shutdown: !given.has("no-ensure-shutdown"),
            config_file: given.get("config-file").map(str::to_owned),
            messages,
        })
    }

    fn run(&self) -> Result<(), Failure> {
        let messages = self.messages;
        let mode = fs::metadata(&self.target).map_err(|error| {
            let dir = self.target.display();
            format!("could not read permissions of directory \"{dir}\": {}", base::os_error(&error))
        })?;
        fs::set_group_access(mode.mode & 0o040 != 0);
        let restore_command = if self.restore { Some(self.restore_command()?) } else { None };
        let mut source: Box<dyn Source> = match &self.source {
            From::Folder(dir) => Box::new(Folder::new(dir)),
            From::Server(text) => Box::new(Server::connect(text, self.progress, messages)?),
        };
        let mut target_control = controldata::read(&self.target)?;
        if self.ensure_shutdown && !is_shut_down(&target_control) {
            self.recover_target()?;
            target_control = controldata::read(&self.target)?;
        }
        let source_control = source.control()?;
        check(&source_control, &target_control, matches!(self.source, From::Folder(_)))?;
        // No server is to start here meanwhile.
        let _lock = DirectoryLock::acquire(&self.target).map_err(|error| error.to_string())?;

        if source_control.timeline() == target_control.timeline() {
            messages.info("source and target cluster are on the same timeline");
            return self.nothing_to_do();
        }
        let source_history = self.history("Source", &mut *source, source_control.timeline())?;
        let target_history =
            self.history("Target", &mut Folder::new(&self.target), target_control.timeline())?;
        let Some((diverged, timeline)) = log::divergence(&source_history, &target_history) else {
            return Err("could not find common ancestor of the source and target cluster's timelines".into());
        };
        messages.info(format_args!("servers diverged at WAL location {diverged} on timeline {timeline}"));
        let log = Log::new(&self.target, &target_control, target_history, restore_command, messages);
        let end = end_of_target(&target_control, &log)?;
        if end <= diverged {
            return self.nothing_to_do();
        }
        let common = log.last_checkpoint_before(diverged)?;
        messages.info(format_args!(
            "rewinding from last common checkpoint at {} on timeline {}",
            common.at, common.checkpoint.timeline
        ));
        self.rewind(&mut *source, &source_control, &log, (common, diverged, end))?;
        messages.info("Done!");
        Ok(())
    }

    fn nothing_to_do(&self) -> Result<(), Failure> {
        self.messages.info("no rewind required");
        if self.dry { Ok(()) } else { self.follow_source() }
    }

    /// Lets the target follow the source as a standby, if it is to.
    fn follow_source(&self) -> Result<(), Failure> {
        let (true, From::Server(text)) = (self.follow, &self.source) else { return Ok(()) };
        let failed = |what: &str, error: &std::io::Error| {
            Failure::from(format!("could not {what}: {}", base::os_error(error)))
        };
        let path = self.target.join(config::auto::NAME);
        let file = File::open(&path, OpenOptions::CREATE)
            .map_err(|error| failed("open file \"postgresql.auto.conf\"", &error))?;
        let line = format!("primary_conninfo = '{}'\n", text.replace('\'', "''"));
        let written =
            file.len().and_then(|end| file.write_all_at(line.as_bytes(), end)).and_then(|()| file.sync_all());
        written.map_err(|error| failed("write to file \"postgresql.auto.conf\"", &error))?;
        fs::write_file_durably(&self.target.join("standby.signal"), b"")
            .map_err(|error| failed("create file \"standby.signal\"", &error))
    }

    fn rewind(
        &self,
        source: &mut dyn Source,
        source_control: &ControlFile,
        log: &Log,
        (common, diverged, end): (CommonCheckpoint, Lsn, Lsn),
    ) -> Result<(), Failure> {
        let tell = |what: &str| {
            if self.progress {
                self.messages.info(what);
            }
        };
        let mut files = Files::default();
        tell("reading source file list");
        files.add_source(source.list()?);
        tell("reading target file list");
        files.add_target(files::walk(&self.target)?);
        tell("reading WAL in target");
        files.add_changes(&log.changes(common.at, end)?);
        let keep = |path: &str| {
            let needed = log.is_needed(path, common.checkpoint.redo, diverged);
            if needed {
                self.messages
                    .debug(format_args!("Not removing file \"{path}\" because it is required for recovery"));
            }
            needed
        };
        let decisions = files.decide(&keep)?;
        for decision in decisions.iter().filter(|decision| decision.action != Action::Keep) {
            self.messages.debug(format_args!("{} ({})", decision.path, decision.action.word()));
        }
        let all: u64 = decisions.iter().map(Decision::bytes).sum();
        let megabytes = |bytes: u64| bytes >> 20;
        tell(&format!(
            "need to copy {} MB (total source directory size is {} MB)",
            megabytes(all),
            megabytes(files.source_size())
        ));
        let progress = self.progress.then_some(Progress { all, done: 0, told: 0 });
        let mut target = Target::new(&self.target, self.dry, progress);
        for decision in decisions.iter().filter(|decision| decision.action == Action::Create) {
            decision.leads().map_or(Ok(()), |leads| target.check_location(leads))?;
        }
        carry_out(&decisions, source, &mut target)?;
        target.tell(true);

        let (least, timeline, control) = source.end(source_control)?;
        tell("creating backup label and updating control file");
        if self.dry {
            return Ok(());
        }
        self.write_label(&common, u64::from(control.wal_segment_size))?;
        let control = ControlFile {
            state: ClusterState::InArchiveRecovery,
            time: runtime::wall_clock_micros(),
            min_recovery_point: least,
            min_recovery_timeline: timeline,
            ..control
        };
        control.write(&self.target).map_err(|error| error.to_string())?;
        if self.sync {
            tell("syncing target data directory");
            fs::sync_tree(&self.target).map_err(|error| {
                format!("could not fsync file \"{}\": {}", self.target.display(), base::os_error(&error))
            })?;
        }
        self.follow_source()
    }

    /// The target's recovery begins at the checkpoint that both have.
    fn write_label(&self, common: &CommonCheckpoint, segment_size: u64) -> Result<(), Failure> {
        let CommonCheckpoint { at, checkpoint } = common;
        let segment = wal::segment_file_name(checkpoint.timeline, checkpoint.redo, segment_size);
        let time = crate::log::timestamp(runtime::wall_clock_micros(), false);
        let text = format!(
            "START WAL LOCATION: {} (file {segment})\nCHECKPOINT LOCATION: {at}\nBACKUP METHOD: pg_rewind\n\
             BACKUP FROM: standby\nSTART TIME: {time}\n",
            checkpoint.redo
        );
        let path = self.target.join(engine::backup::LABEL);
        fs::write_file_durably(&path, text.as_bytes()).map_err(|error| {
            format!("could not write file \"{}\": {}", path.display(), base::os_error(&error)).into()
        })
    }

    /// The history of a cluster's time line.
    fn history(&self, whose: &str, of: &mut dyn Source, timeline: TimelineId) -> Result<History, Failure> {
        let history = match timeline {
            TimelineId::FIRST => History::of(timeline),
            _ => {
                let text = of.read(&format!("pg_wal/{}", History::file_name(timeline)))?;
                History::parse(timeline, &String::from_utf8_lossy(&text))
                    .map_err(|error| Failure::from(error.message).hint(error.hint))?
            }
        };
        self.messages.debug(format_args!("{whose} timeline history:"));
        for stretch in history.stretches() {
            let end = stretch.end.unwrap_or_default();
            self.messages.debug(format_args!("{}: {} - {end}", stretch.timeline, stretch.begin));
        }
        Ok(history)
    }

    /// The command line of a server on the target.
    fn target_settings(&self) -> CommandLine {
        let settings = self.config_file.iter().map(|file| ("config_file".to_owned(), file.clone())).collect();
        CommandLine { data_directory: Some(self.target.clone()), settings }
    }

    /// `restore_command` of the target.
    fn restore_command(&self) -> Result<String, Failure> {
        let unreadable = "could not read \"restore_command\" from target cluster";
        let loaded = config::load(&self.target_settings())
            .map_err(|error| Failure::from(unreadable).detail(error.fatal))?;
        let command = loaded.settings.text(base::settings::Setting::restore_command).to_owned();
        if command.is_empty() {
            return Err("\"restore_command\" is not set in the target cluster".into());
        }
        self.messages.debug(format_args!("using for rewind \"restore_command = '{command}'\""));
        Ok(command)
    }

    /// Lets a server recover the target and shut it down.
    fn recover_target(&self) -> Result<(), Failure> {
        let program = std::env::current_exe().map_err(|error| base::os_error(&error))?;
        let mut command = std::process::Command::new(&program);
        command.args(["postgres", "--single", "-F", "-D"]).arg(&self.target);
        let mut shown =
            format!("\"{}\" postgres --single -F -D \"{}\"", program.display(), self.target.display());
        if let Some(file) = &self.config_file {
            command.arg("-c").arg(format!("config_file={file}"));
            shown.push_str(&format!(" -c config_file=\"{file}\""));
        }
        command.arg("template1").stdin(std::process::Stdio::null());
        shown.push_str(" template1 < \"/dev/null\"");
        self.messages.info(format_args!(
            "executing \"{}\" for target server to complete crash recovery",
            program.display()
        ));
        if self.dry {
            return Ok(());
        }
        match command.status() {
            Ok(status) if status.success() => Ok(()),
            _ => Err(Failure::from("postgres single-user mode in target cluster failed")
                .detail(format!("Command was: {shown}"))),
        }
    }
}

fn is_shut_down(control: &ControlFile) -> bool {
    matches!(control.state, ClusterState::ShutDown | ClusterState::ShutDownInRecovery)
}

/// Whether one may become like the other.
fn check(source: &ControlFile, target: &ControlFile, is_folder: bool) -> Result<(), Failure> {
    if source.system_identifier != target.system_identifier {
        return Err("source and target clusters are from different systems".into());
    }
    if !is_shut_down(target) {
        return Err("target server must be shut down cleanly".into());
    }
    if is_folder && !is_shut_down(source) {
        return Err("source data directory must be shut down cleanly".into());
    }
    Ok(())
}

/// Where the target's log ends.
fn end_of_target(control: &ControlFile, log: &Log) -> Result<Lsn, Failure> {
    let least = control.min_recovery_point;
    match control.state == ClusterState::ShutDownInRecovery && least > control.checkpoint_lsn {
        true => Ok(least),
        false => log.end_of_record(control.checkpoint_lsn),
    }
}

/// Makes the target's files what they are to be.
fn carry_out(
    decisions: &[Decision<'_>],
    source: &mut dyn Source,
    target: &mut Target,
) -> Result<(), Failure> {
    for decision in decisions {
        match (decision.action, decision.leads()) {
            (Action::Create, Some(leads)) => target.create_link(decision.path, leads)?,
            (Action::Create, None) => target.create_folder(decision.path)?,
            _ => {}
        }
        let wanted = decision.wanted();
        if !wanted.is_empty() {
            source.copy(&wanted, target)?;
        }
        match decision.action {
            Action::Truncate => target.truncate(decision.path, decision.source_length())?,
            Action::Remove => target.remove(decision.path, decision.kind())?,
            _ => {}
        }
    }
    Ok(())
}
