//! The write-ahead log, its recovery and the control file: positions, names of files, switches, restore points.

use std::time::Duration;

use base::{Lsn, SqlResult, Xid, sql_err};
use engine::ReplayPause;
use engine::control::{CATALOG_VERSION, ControlFile, PG_CONTROL_VERSION, WalLevel};
use tuple::Datum;
use types::SessionFn;
use types::numeric::Numeric;
use types::value::IntoDatum;

use super::{Row, arg};
use crate::Session;

/// Bytes of a restore point's name at most.
const RESTORE_POINT_NAME: usize = 63;
/// Databases that hold ids back are not told one by one: the first stands for all.
const TEMPLATE1: u32 = 1;

impl Session {
    pub(super) fn wal_function(&self, id: SessionFn, args: &[Datum]) -> SqlResult<Option<Datum>> {
        use SessionFn as F;
        let wal = self.engine().wal();
        Ok(Some(match id {
            F::PgIsInRecovery => Datum::Bool(self.engine().is_following()),
            F::PgLastWalReceiveLsn => {
                self.engine().received().map_or(Datum::Null, |progress| lsn(progress.flushed))
            }
            F::PgLastWalReplayLsn => {
                let replayed = self.engine().replayed();
                replayed.map_or(Datum::Null, |replayed| lsn(wal.told_end(replayed.end)))
            }
            F::PgLastXactReplayTimestamp => {
                let replayed = self.engine().replayed().and_then(|replayed| replayed.last_end);
                replayed.map_or(Datum::Null, Datum::Int8)
            }
            F::PgCurrentWalLsn
            | F::PgCurrentWalFlushLsn
            | F::PgCurrentWalInsertLsn
            | F::PgSwitchWal
            | F::PgCreateRestorePoint
                if self.engine().is_following() =>
            {
                return Err(in_recovery("WAL control functions"));
            }
            F::PgWalfileName if self.engine().is_following() => return Err(in_recovery("pg_walfile_name()")),
            F::PgCurrentWalLsn | F::PgCurrentWalFlushLsn => lsn(wal.told_end(wal.flushed())),
            F::PgCurrentWalInsertLsn => lsn(wal.insert_end()),
            F::PgWalfileName => Datum::text(&self.wal_file(arg(args, 0)).0),
            F::PgSwitchWal => lsn(wal.told_end(self.engine().switch_wal()?)),
            F::PgCreateRestorePoint => self.create_restore_point(arg(args, 0))?,
            F::PgPromote
            | F::PgWalReplayPause
            | F::PgWalReplayResume
            | F::PgIsWalReplayPaused
            | F::PgGetWalReplayPauseState
                if !self.engine().is_following() =>
            {
                return Err(sql_err!(OBJECT_NOT_IN_PREREQUISITE_STATE, "recovery is not in progress")
                    .hint("Recovery control functions can only be executed during recovery."));
            }
            F::PgWalReplayPause => {
                self.refuse_while_promoted()?;
                self.engine().pause_replay(true);
                Datum::text("")
            }
            F::PgWalReplayResume => {
                self.refuse_while_promoted()?;
                self.engine().pause_replay(false);
                Datum::text("")
            }
            F::PgIsWalReplayPaused => Datum::Bool(self.engine().replay_pause() != ReplayPause::No),
            F::PgGetWalReplayPauseState => Datum::text(match self.engine().replay_pause() {
                ReplayPause::No => "not paused",
                ReplayPause::Requested => "pause requested",
                ReplayPause::Paused => "paused",
            }),
            F::PgPromote => Datum::Bool(self.promote(arg(args, 0), arg(args, 1))?),
            _ => return Ok(None),
        }))
    }

    fn refuse_while_promoted(&self) -> SqlResult<()> {
        if !self.engine().promotion_is_triggered() {
            return Ok(());
        }
        let (pause, resume) = ("pg_wal_replay_pause()", "pg_wal_replay_resume()");
        Err(sql_err!(OBJECT_NOT_IN_PREREQUISITE_STATE, "standby promotion is ongoing")
            .hint(format!("{pause} or {resume} cannot be executed after promotion is triggered.")))
    }

    /// Has the standby become a server of its own; whether it has, if that is waited for.
    fn promote(&self, wait: bool, seconds: i32) -> SqlResult<bool> {
        if seconds <= 0 {
            return Err(sql_err!(
                NUMERIC_VALUE_OUT_OF_RANGE,
                "\"wait_seconds\" must not be negative or zero"
            ));
        }
        self.engine().promote()?;
        if !wait {
            return Ok(true);
        }
        let began = runtime::now();
        while self.engine().is_following() {
            if began.elapsed() >= Duration::from_secs(seconds as u64) {
                let plural = if seconds == 1 { "second" } else { "seconds" };
                let message = format!("server did not promote within {seconds} {plural}");
                self.warning(base::SqlState::WARNING, &message);
                return Ok(false);
            }
            runtime::check_interrupts()?;
            runtime::wait_interruptible(runtime::sleep(Duration::from_millis(10)))?;
        }
        Ok(true)
    }

    pub(super) fn wal_rows(&self, id: SessionFn, args: &[Datum]) -> SqlResult<Option<Vec<Row>>> {
        use SessionFn as F;
        let row = match id {
            F::PgWalfileNameOffset => {
                let (name, offset) = self.wal_file(arg(args, 0));
                vec![Datum::text(&name), Datum::Int4(offset as i32)]
            }
            F::PgSplitWalfileName => self.split_file_name(arg(args, 0))?,
            F::PgControlSystem => control_system(&self.engine().control()),
            F::PgControlCheckpoint => self.control_checkpoint(&self.engine().control()),
            F::PgControlRecovery => control_recovery(&self.engine().control()),
            F::PgControlInit => control_init(&self.engine().control()),
            _ => return Ok(None),
        };
        Ok(Some(vec![row]))
    }

    /// The segment that a position lies in, and where in it; a position between two belongs to the first.
    fn wal_file(&self, position: i64) -> (String, u64) {
        let wal = self.engine().wal();
        let before = Lsn((position as u64).saturating_sub(1));
        (wal.file_name(before), position as u64 % wal.options().segment_size)
    }

    /// Number and time line of the segment with this file name.
    fn split_file_name(&self, name: &str) -> SqlResult<Row> {
        let per_id = (1u64 << 32) / self.engine().wal().options().segment_size;
        let upper = name.to_ascii_uppercase();
        if !wal::is_segment_name(&upper) {
            return Err(sql_err!(INVALID_PARAMETER_VALUE, "invalid WAL file name \"{name}\""));
        }
        // Eight digits always fit.
        let part = |at: usize| u64::from_str_radix(&upper[at..at + 8], 16).unwrap_or(0);
        let segment = Numeric::from_i128(i128::from(part(8) * per_id + part(16))).into_datum()?;
        Ok(vec![segment, Datum::Int8(part(0) as i64)])
    }

    fn create_restore_point(&self, name: &str) -> SqlResult<Datum> {
        let engine = self.engine();
        if engine.options().recorded.wal_level < WalLevel::Replica {
            return Err(sql_err!(
                OBJECT_NOT_IN_PREREQUISITE_STATE,
                "WAL level not sufficient for creating a restore point"
            )
            .hint("\"wal_level\" must be set to \"replica\" or \"logical\" at server start."));
        }
        if name.len() > RESTORE_POINT_NAME {
            return Err(sql_err!(
                INVALID_PARAMETER_VALUE,
                "value too long for restore point (maximum {RESTORE_POINT_NAME} characters)"
            ));
        }
        Ok(lsn(engine.create_restore_point(name)?))
    }

    fn control_checkpoint(&self, control: &ControlFile) -> Row {
        let of = &control.checkpoint;
        let xid = |xid: Xid| Datum::Oid(xid.0 as u32);
        let size = u64::from(control.wal_segment_size);
        let next = format!("{}:{}", of.next_xid.0 >> 32, of.next_xid.0 as u32);
        vec![
            lsn(control.checkpoint_lsn),
            lsn(of.redo),
            Datum::text(&wal::segment_file_name(of.timeline, of.redo, size)),
            Datum::Int4(of.timeline.0 as i32),
            Datum::Int4(of.previous_timeline.0 as i32),
            Datum::Bool(of.full_page_writes),
            Datum::text(&next),
            Datum::Oid(of.next_oid.0),
            Datum::Oid(of.next_multixact as u32),
            Datum::Oid(0),
            xid(of.oldest_xid.max(Xid::FIRST_NORMAL)),
            Datum::Oid(TEMPLATE1),
            xid(of.oldest_running),
            Datum::Oid(of.oldest_multixact.max(1) as u32),
            Datum::Oid(TEMPLATE1),
            Datum::Oid(0),
            Datum::Oid(0),
            Datum::Int8(of.time),
        ]
    }
}

/// What cannot be asked while the log is replayed.
fn in_recovery(what: &str) -> base::SqlError {
    sql_err!(OBJECT_NOT_IN_PREREQUISITE_STATE, "recovery is in progress")
        .hint(format!("{what} cannot be executed during recovery."))
}

fn lsn(at: Lsn) -> Datum {
    Datum::Int8(at.0 as i64)
}

fn control_system(control: &ControlFile) -> Row {
    vec![
        Datum::Int4(PG_CONTROL_VERSION as i32),
        Datum::Int4(CATALOG_VERSION as i32),
        Datum::Int8(control.system_identifier as i64),
        Datum::Int8(control.time),
    ]
}

fn control_recovery(control: &ControlFile) -> Row {
    vec![
        lsn(control.min_recovery_point),
        Datum::Int4(control.min_recovery_timeline.0 as i32),
        lsn(control.backup_start),
        lsn(control.backup_end),
        Datum::Bool(control.backup_end_required),
    ]
}

fn control_init(control: &ControlFile) -> Row {
    let sizes = [8, 8192, 131_072, 8192, control.wal_segment_size as i32, 64, 32, 1996, 2048];
    let mut row: Row = sizes.into_iter().map(Datum::Int4).collect();
    row.extend([Datum::Bool(true), Datum::Int4(1), Datum::Bool(true)]);
    row
}
