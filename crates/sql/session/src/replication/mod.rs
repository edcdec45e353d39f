//! # What
//! Connections that replicate: they take commands of their own beside SQL, or instead of it, and send the log.
//!
//! # Layout
//! [`grammar`]: the commands, from their text. `slots`: those about slots, and functions of SQL that do the same. `sender`: START_REPLICATION. `logical`: decoded changes. `origins`: where replicated transactions come from. `link`: what both know of a receiver. `backup`: base backups. `senders`: who sends,
//! as others see it; `synchronous`: which of them commits wait for. This file: who may replicate, and commands that answer with a row.
//!
//! # Invariants
//! 1. A connection to no database takes replication commands only.
//! 2. Who sends the log holds no transaction, no snapshot and no buffer while he waits: a receiver that takes nothing is in nobody's way.
//!
//! # PostgreSQL counterpart and differences
//! `walsender.c`. A sender there is a process; here it is a fiber that sleeps until there is more log, or word of the receiver.

pub mod backup;
pub mod grammar;
mod link;
mod logical;
mod origins;
mod sender;
mod senders;
pub mod slots;
pub mod synchronous;

use std::sync::Arc;

use base::settings::Setting;
use base::{Lsn, Oid, SqlError, SqlResult, SqlState, sql_err};
use catalog::{DatabaseRow, Role};
use runtime::fs;
use tuple::Datum;
use txn::BlockState;
use types::oids;

use crate::output::{Column, Output, RowEncoder};
use crate::transaction::failed_block;
use crate::{Replication, Session};
use grammar::Command;

pub use link::is_end;
pub use senders::{Figures, Sender, SenderState, Senders};
pub use slots::{check_name as check_slot_name, slot_error};

/// The number by which the receiver of a standby's log is shown.
const RECEIVER_PID: i32 = 6;

/// Where a connection is that is to no database.
pub(crate) fn no_database() -> DatabaseRow {
    DatabaseRow {
        oid: Oid::INVALID,
        name: String::new(),
        encoding: base::Encoding::Utf8,
        rules: collation::numbered(0),
        allow_connections: true,
        connection_limit: -1,
        owner: Oid::INVALID,
        acl: None,
        entered: true,
    }
}

/// Fails unless a role may replicate.
pub(crate) fn check_may_replicate(role: &Role) -> SqlResult<()> {
    if role.superuser || role.replication {
        return Ok(());
    }
    let error = SqlError::fatal(SqlState::INSUFFICIENT_PRIVILEGE, "permission denied to start WAL sender");
    Err(error.detail("Only roles with the REPLICATION attribute may start a WAL sender process."))
}

/// A column of a replication command's answer.
fn column(name: &str, type_oid: Oid) -> Column {
    let type_len = if type_oid == oids::int8 { 8 } else { -1 };
    Column {
        name: name.into(),
        table: Oid::INVALID,
        number: 0,
        type_oid,
        declared: type_oid,
        type_len,
        typmod: -1,
    }
}

/// A text, or NULL.
fn text_or_null(text: Option<&str>) -> Datum {
    text.map_or(Datum::Null, Datum::text)
}

impl Session {
    /// A Query message of a connection that replicates.
    pub(crate) fn run_replication(
        &self,
        kind: Replication,
        text: &str,
        start: i64,
        out: &mut dyn Output,
    ) -> SqlResult<()> {
        // An exported snapshot lasts until the next command.
        *self.slot_snapshot.borrow_mut() = None;
        match grammar::parse(text)? {
            Some(command) => self.run_command(&command, text, out),
            None if kind == Replication::Database => self.run_text(text, start, out),
            None => Err(sql_err!(
                FEATURE_NOT_SUPPORTED,
                "cannot execute SQL commands in WAL sender for physical replication"
            )),
        }
    }

    fn run_command(&self, command: &Command, text: &str, out: &mut dyn Output) -> SqlResult<()> {
        if self.txn.borrow().state() == BlockState::Failed {
            return Err(failed_block());
        }
        if self.instance.senders().are_stopping() {
            return Err(sql_err!(
                OBJECT_NOT_IN_PREREQUISITE_STATE,
                "cannot execute new commands while WAL sender is in stopping mode"
            ));
        }
        self.begin_statement();
        if self.settings.borrow().get(Setting::log_replication_commands).as_bool() {
            self.log(format!("received replication command: {text}"), None);
        }
        self.show_before_run(&Arc::from(text));
        match command {
            Command::IdentifySystem => self.identify_system(out)?,
            Command::Show(name) => {
                let value = self.shown_setting(name)?;
                let shown = Setting::find(name).map_or(name.as_str(), |setting| setting.name());
                self.answer(&[(shown, oids::text)], &[Datum::text(&value)], out)?;
            }
            Command::ReadSlot(name) => self.read_slot(name, out)?,
            Command::CreateSlot { name, temporary, plugin, options } => {
                self.create_slot(name, *temporary, plugin.as_deref(), options, out)?;
            }
            Command::AlterSlot(name, options) => self.alter_slot(name, options)?,
            Command::DropSlot { name, wait } => self.drop_slot(name, *wait)?,
            Command::StartPhysical { slot, start, timeline } => {
                self.prevent_in_block(command.tag())?;
                self.end_statement()?;
                self.start_physical(slot.as_deref(), *start, *timeline, out)?;
                out.command_complete("START_STREAMING")?;
            }
            Command::StartLogical { slot, start, options } => {
                self.prevent_in_block(command.tag())?;
                self.end_statement()?;
                self.start_logical(slot, *start, options, out)?;
                out.command_complete("START_STREAMING")?;
            }
            Command::TimelineHistory(timeline) => {
                self.prevent_in_block(command.tag())?;
                self.timeline_history(*timeline, out)?;
            }
            Command::BaseBackup(options) => {
                self.prevent_in_block(command.tag())?;
                self.base_backup(options, out)?;
            }
            Command::UploadManifest => {
                self.prevent_in_block(command.tag())?;
                self.upload_manifest(out)?;
            }
        }
        if self.txn.borrow().state() != BlockState::Idle {
            self.end_statement()?;
        }
        out.command_complete(command.tag())
    }

    /// One row.
    fn answer(&self, columns: &[(&str, Oid)], row: &[Datum], out: &mut dyn Output) -> SqlResult<()> {
        self.answer_rows(columns, &[row], out)
    }

    fn answer_rows(
        &self,
        columns: &[(&str, Oid)],
        rows: &[impl AsRef<[Datum]>],
        out: &mut dyn Output,
    ) -> SqlResult<()> {
        let columns: Vec<Column> = columns.iter().map(|(name, ty)| column(name, *ty)).collect();
        out.row_description(&columns, &[])?;
        let context = self.format.borrow().clone();
        let encoder = RowEncoder { columns: &columns, formats: &[], context: &context, session: self };
        rows.iter().try_for_each(|row| out.data_row(&encoder, row.as_ref()))
    }

    fn identify_system(&self, out: &mut dyn Output) -> SqlResult<()> {
        let wal = self.engine().wal();
        let columns = [
            ("systemid", oids::text),
            ("timeline", oids::int8),
            ("xlogpos", oids::text),
            ("dbname", oids::text),
        ];
        let name = &self.info.database;
        let row = [
            Datum::text(&wal.system_identifier().to_string()),
            Datum::Int8(wal.timeline().0.into()),
            Datum::text(&wal.durable_end().to_string()),
            text_or_null(Some(name.as_str()).filter(|name| !name.is_empty())),
        ];
        self.answer(&columns, &row, out)
    }

    /// The file that says where time lines began.
    fn timeline_history(&self, timeline: u32, out: &mut dyn Output) -> SqlResult<()> {
        let name = format!("{timeline:08X}.history");
        let path = self.engine().dir().join("pg_wal").join(&name);
        let text = fs::read_to_string(&path).map_err(|error| {
            let message = format!("could not open file \"pg_wal/{name}\": {}", base::os_error(&error));
            base::os::file_error(error.kind(), base::os::is_transient(&error), message)
        })?;
        let row = [Datum::text(&name), Datum::text(&text)];
        self.answer(&[("filename", oids::text), ("content", oids::text)], &row, out)
    }

    /// Where the log was removed before a receiver had it.
    fn removed(name: &str) -> SqlError {
        sql_err!(UNDEFINED_FILE, "requested WAL segment {name} has already been removed")
    }

    /// Fails unless the current user may use slots.
    fn check_may_use_slots(&self) -> SqlResult<()> {
        let me = self.names.user();
        let facts = self.with_reader(|reader| reader.role_facts(me))?;
        if facts.superuser || facts.replication {
            return Ok(());
        }
        Err(sql_err!(INSUFFICIENT_PRIVILEGE, "permission denied to use replication slots")
            .detail("Only roles with the REPLICATION attribute may use replication slots."))
    }
}

fn no_logical_decoding() -> SqlError {
    sql_err!(OBJECT_NOT_IN_PREREQUISITE_STATE, "logical decoding requires \"wal_level\" >= \"logical\"")
}

/// A position, or NULL where there is none.
fn position(lsn: Lsn) -> Datum {
    if lsn == Lsn::INVALID { Datum::Null } else { Datum::Int8(lsn.0 as i64) }
}
