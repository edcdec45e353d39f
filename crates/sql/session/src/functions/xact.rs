//! Transactions: xids, snapshots, notifications, sleeping.

use std::time::Duration;

use base::{MultiXactId, SqlError, SqlResult, Xid, sql_err};
use eval::error;
use runtime::WaitEvent;
use tuple::Datum;
use txn::{Snapshot, TxnError, XidStatus};
use types::{Call, SessionFn};

use super::{Row, arg};
use crate::Session;

const MICROS_PER_DAY: i64 = 86_400_000_000;

impl Session {
    pub(super) fn xact(
        &self,
        id: SessionFn,
        call: &Call<'_>,
        args: &[Datum],
        snapshot: &Snapshot,
    ) -> SqlResult<Option<Datum>> {
        use SessionFn as F;
        Ok(Some(match id {
            F::TxidCurrent | F::PgCurrentXactId if self.engine().is_following() => {
                self.refuse_in_recovery("pg_current_xact_id()")?;
                return Ok(None);
            }
            F::TxidCurrent | F::PgCurrentXactId => Datum::Int8(self.assigned_xid()?.0 as i64),
            F::TxidCurrentIfAssigned | F::PgCurrentXactIdIfAssigned => {
                let xid = self.txn.borrow().top_xid_if_assigned();
                xid.map_or(Datum::Null, |xid| Datum::Int8(xid.0 as i64))
            }
            F::TxidStatus | F::PgXactStatus => self.xact_status(Xid(arg::<i64>(args, 0) as u64))?,
            F::PgCurrentSnapshot => self.visible(snapshot),
            F::PgExportSnapshot => Datum::text(&self.export_snapshot(snapshot)?),
            F::XidAge => self.xid_age(arg(args, 0)),
            F::MxidAge => Datum::Int4(match arg::<u32>(args, 0) {
                0 => i32::MAX,
                multi => (self.engine().txns().next_multi().0 as u32).wrapping_sub(multi) as i32,
            }),
            F::PgXactCommitTimestamp => return Err(no_commit_timestamp(arg(args, 0))),
            F::PgNotify => {
                let text = |i: usize| if args[i].is_null() { "" } else { arg(args, i) };
                self.notify(text(0), text(1))?;
                Datum::text("")
            }
            F::PgNotificationQueueUsage => Datum::Float8(self.notification_usage()),
            F::PgSleep => self.sleep((arg::<f64>(args, 0) * 1e6) as i64)?,
            F::PgSleepFor => self.sleep(interval_micros(arg(args, 0)))?,
            F::PgSleepUntil => self.sleep(arg::<i64>(args, 0) - call.session.clock())?,
            _ => return Ok(None),
        }))
    }

    pub(super) fn xact_rows(&self, id: SessionFn, args: &[Datum]) -> SqlResult<Option<Vec<Row>>> {
        Ok(Some(match id {
            SessionFn::PgLastCommittedXact => return Err(no_commit_timestamps()),
            SessionFn::PgPreparedXact => self.prepared_rows(),
            SessionFn::PgGetMultixactMembers => self.multixact_rows(arg::<u32>(args, 0))?,
            _ => return Ok(None),
        }))
    }

    /// How many transactions ago an xid was given out, of which only the lower half is shown.
    fn xid_age(&self, xid: u32) -> Datum {
        if u64::from(xid) < Xid::FIRST_NORMAL.0 {
            return Datum::Int4(i32::MAX);
        }
        let own = self.txn.borrow().top_xid_if_assigned();
        let now = own.unwrap_or_else(|| self.engine().txns().next_xid());
        Datum::Int4((now.0 as u32).wrapping_sub(xid) as i32)
    }

    /// xid of the top-level transaction, assigned now if it has none.
    fn assigned_xid(&self) -> SqlResult<Xid> {
        let mut txn = self.txn.borrow_mut();
        let own = txn.xid_for(false).map_err(error::txn)?;
        Ok(txn.top_xid_if_assigned().unwrap_or(own))
    }

    /// A snapshot as a value. The transaction does not count itself among those in progress.
    fn visible(&self, snapshot: &Snapshot) -> Datum {
        let own = self.txn.borrow().top_xid_if_assigned();
        let others = snapshot.in_progress().iter().filter(|&&xid| Some(xid) != own);
        types::snapshot::snapshot_datum(snapshot.xmin().0, snapshot.xmax().0, others.map(|xid| xid.0))
    }

    fn xact_status(&self, xid: Xid) -> SqlResult<Datum> {
        let txns = self.engine().txns();
        if xid >= txns.next_xid() {
            return Err(sql_err!(INVALID_PARAMETER_VALUE, "transaction ID {xid} is in the future"));
        }
        if !xid.is_valid() {
            return Ok(Datum::Null);
        }
        if !xid.is_normal() {
            return Ok(Datum::text("committed"));
        }
        let status = txns.status(xid);
        // Afterwards: it may just have been removed.
        if xid < txns.oldest_ids().xid {
            return Ok(Datum::Null);
        }
        Ok(Datum::text(match status.map_err(error::txn)? {
            XidStatus::InProgress => "in progress",
            XidStatus::Committed => "committed",
            XidStatus::Aborted => "aborted",
        }))
    }

    /// Members of a multixact, of whose id only the lower half is shown: of those that end like this, the last.
    fn multixact_rows(&self, shown: u32) -> SqlResult<Vec<Row>> {
        let txns = self.engine().txns();
        let next = txns.next_multi().0;
        let newest = (next & !u64::from(u32::MAX)) | u64::from(shown);
        let older = || newest.checked_sub(1 << 32);
        if shown == 0 {
            return Err(sql_err!(INVALID_PARAMETER_VALUE, "invalid MultiXactId: {shown}"));
        }
        let Some(id) = Some(newest).filter(|id| *id < next).or_else(older) else {
            return Err(sql_err!(
                INTERNAL_ERROR,
                "MultiXactId {shown} has not been created yet -- apparent wraparound"
            ));
        };
        let id = MultiXactId(id);
        let members = txns.multixacts().members(id);
        // Afterwards: it may just have been removed.
        if id < txns.oldest_ids().multi {
            return Err(sql_err!(
                INTERNAL_ERROR,
                "MultiXactId {shown} does no longer exist -- apparent wraparound"
            ));
        }
        let members = members.map_err(|error| error::txn(TxnError::multi(id)(error)))?;
        let row =
            |member: txn::Member| vec![Datum::Oid(member.xid.0 as u32), Datum::text(member.status.name())];
        Ok(members.into_iter().map(row).collect())
    }

    fn sleep(&self, micros: i64) -> SqlResult<Datum> {
        if micros > 0 {
            let slept = runtime::waiting(WaitEvent::PgSleep, || {
                runtime::wait_interruptible(runtime::sleep(Duration::from_micros(micros as u64)))
            });
            slept.map_err(error::interrupted)?;
        }
        Ok(Datum::text(""))
    }
}

/// An interval's length with months of 30 days, as `pg_sleep_for` takes it.
fn interval_micros(payload: &[u8]) -> i64 {
    let span = types::interval::Interval::from_payload(payload);
    let days = i64::from(span.days) + i64::from(span.months) * 30;
    span.micros.saturating_add(days.saturating_mul(MICROS_PER_DAY))
}

fn no_commit_timestamp(xid: u32) -> SqlError {
    if xid == 0 {
        return sql_err!(INVALID_PARAMETER_VALUE, "cannot retrieve commit timestamp for transaction 0");
    }
    no_commit_timestamps()
}

fn no_commit_timestamps() -> SqlError {
    sql_err!(OBJECT_NOT_IN_PREREQUISITE_STATE, "could not get commit timestamp data")
        .hint("Make sure the configuration parameter \"track_commit_timestamp\" is set.")
}
