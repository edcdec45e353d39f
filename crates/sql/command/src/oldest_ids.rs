//! # What
//! VACUUM and old transaction ids: which ids it freezes in a table, the oldest that remain in the database, and files that the server need not keep any longer.
//!
//! # PostgreSQL counterpart and differences
//! `vacuum_get_cutoffs`, `vac_update_datfrozenxid`, `vac_truncate_clog`. Ids do not wrap around, so nothing forces a VACUUM; the settings for
//! aggressive and emergency vacuums have no effect, as every VACUUM scans all pages that are not all-frozen.

use base::{MultiXactId, SqlError, SqlResult, Xid};
use catalog::NotedIds;
use catalog::system::{pg_class, pg_database};
use session::Session;
use session::lookup::database::noted_ids;
use txn::{OldestIds, RelKind};

use super::vacuum::FreezeAges;

/// What VACUUM takes out of a table.
pub(super) struct Cutoffs {
    /// Ids older than these.
    pub(super) freeze_limit: OldestIds,
    /// No transaction puts ids older than these into rows any more.
    pub(super) usable: OldestIds,
}

/// For a relation of this kind.
pub(super) fn cutoffs(session: &Session, kind: RelKind, ages: FreezeAges) -> Cutoffs {
    let own = session.txn.borrow().top_xid_if_assigned();
    let txns = session.engine().txns();
    let usable = OldestIds { xid: txns.horizon(kind, own).maybe_needed, multi: txns.oldest_usable_multi() };
    let limit = OldestIds {
        xid: Xid(txns.next_xid().0.saturating_sub(ages.xid)),
        multi: MultiXactId(txns.next_multi().0.saturating_sub(ages.multi)),
    };
    Cutoffs { freeze_limit: limit.min(usable), usable }
}

/// After VACUUM: notes the database's oldest ids, and lets go what no database needs.
pub(crate) fn settle(session: &Session) -> SqlResult<()> {
    let txns = session.engine().txns();
    let noted = NotedIds::new(txns);
    let database = session.catalog.database();
    let oldest = of_database(session, &noted)?;
    session.with_changer(|changer| changer.note_database(database, oldest, &noted))?;
    session.next_transaction()?;
    let databases = session.with_reader(|reader| reader.scan(&pg_database::TABLE))?;
    let all = databases.iter().filter_map(|(_, row)| noted.of_database(row));
    Ok(txns.truncate(all.fold(oldest, OldestIds::min))?)
}

/// The oldest ids in the database's relations.
fn of_database(session: &Session, noted: &NotedIds) -> SqlResult<OldestIds> {
    // Before the rows are read: relations that are not seen, as running transactions make them, hold nothing older, and nor do databases that
    // are not seen to be entered.
    let usable = session.engine().txns().oldest_usable();
    let before = noted_ids(session, noted)?;
    let rows = session.with_reader(|reader| reader.scan(&pg_class::TABLE))?;
    let all = rows.iter().filter_map(|(_, row)| noted.of_relation(row, before));
    Ok(all.fold(usable, OldestIds::min))
}

/// The last session leaves a database, all of whose rows are frozen, to be copied.
pub(crate) fn leave_template(session: &Session) -> SqlResult<()> {
    let txns = session.engine().txns();
    if of_database(session, &NotedIds::new(txns))?.xid < txns.next_xid() {
        return Err(SqlError::internal("rows of the template are not frozen"));
    }
    session.with_changer(|changer| changer.note_template())
}
