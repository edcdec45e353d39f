//! The oldest ids of relations and databases, as `pg_class` and `pg_database` note them for VACUUM.
//!
//! The columns are PostgreSQL's, 32 bits wide. An id is restored from its lower half as the smallest that is not older than what is
//! kept at all: never a younger one than was noted, for nothing older is kept than the oldest that is noted. It may come out older, when
//! four billion lie between, and then holds back for one VACUUM more.
//!
//! A database that nobody entered since it was made holds frozen rows only. It notes the very first xid, which no other does
//! ([`has_own`]), and holds nothing back. Its relations note the same, also when somebody has entered it: each has no older ids than the
//! database, until a VACUUM finds out more.
//!
//! Rows of `pg_class` are overwritten in place: facts about the files, which an abort need not undo, and no new version that would need an xid
//! itself. A row that somebody is replacing stays as it is. Who read it before, and replaces it afterwards, brings back older ids, which hold
//! back for one VACUUM more.
//!
//! Rows of `pg_database` are replaced as any row is: to bring one back that says that nobody entered would be the end of what was written
//! since.

use base::{MultiXactId, Oid, SqlError, SqlResult, Xid};
use heap::Refusal;
use tuple::Datum;
use txn::{OldestIds, TxnSystem};

use super::{Changer, makes_stale};
use crate::row::RowExt;
use crate::system::{SystemTable, pg_class, pg_database};
use crate::view::SizeEstimate;

/// Ids that seem so little older than what is kept belong to a relation that was being made when that was found.
const SLACK: u32 = 1 << 28;

/// The half that is noted. The ids before `first` have a meaning of their own, and so do all that end like them.
fn noted(id: u64, first: u64) -> Datum {
    let id = if (id & 0xffff_ffff) < first { id.saturating_sub(first).max(first) } else { id };
    Datum::Oid(id as u32)
}

fn restored(noted: u32, oldest: u64, next: u64) -> u64 {
    let behind = noted.wrapping_sub(oldest as u32);
    let id = oldest + u64::from(behind);
    if behind > u32::MAX - SLACK || id > next { oldest } else { id }
}

/// What a relation that is being made notes.
pub(super) fn of_new(txns: &TxnSystem) -> [Datum; 2] {
    values(txns.oldest_usable())
}

/// The first xid says that nothing is known, and so is never noted.
fn values(oldest: OldestIds) -> [Datum; 2] {
    [noted(oldest.xid.0, Xid::FIRST_NORMAL.0 + 1), noted(oldest.multi.0, txn::multixact::FIRST.0)]
}

/// What is noted for a database that never had a session, and for its relations.
pub(crate) fn never_entered() -> [Datum; 2] {
    [Datum::Oid(Xid::FIRST_NORMAL.0 as u32), Datum::Oid(txn::multixact::FIRST.0 as u32)]
}

/// Whether an xid was noted, here: of a database, whether anybody was in it since it was made.
pub(crate) fn has_own(row: &[Datum], column: usize) -> bool {
    u64::from(row.oid(column).0) > Xid::FIRST_NORMAL.0
}

/// Whether a relation has rows, with xids in them.
fn has_rows(row: &[Datum]) -> bool {
    matches!(row.char(pg_class::RELKIND), b'r' | b'm' | b't')
}

/// Restores noted ids.
#[derive(Clone, Copy, Debug)]
pub struct NotedIds {
    kept: OldestIds,
    next: OldestIds,
}

impl NotedIds {
    /// To be made before the rows are read.
    pub fn new(txns: &TxnSystem) -> NotedIds {
        let kept = txns.oldest_ids();
        NotedIds { kept, next: OldestIds { xid: txns.next_xid(), multi: txns.next_multi() } }
    }

    fn restore(&self, row: &[Datum], (xid, multi): (usize, usize)) -> OldestIds {
        let half = |column: usize| row.oid(column).0;
        OldestIds {
            xid: Xid(restored(half(xid), self.kept.xid.0, self.next.xid.0)),
            multi: MultiXactId(restored(half(multi), self.kept.multi.0, self.next.multi.0)),
        }
    }

    /// The oldest ids of a relation, by its row of `pg_class`; none if it has no rows. One never vacuumed since the database
    /// was made has none older than the database's.
    pub fn of_relation(&self, row: &[Datum], database: OldestIds) -> Option<OldestIds> {
        let own = || self.restore(row, (pg_class::RELFROZENXID, pg_class::RELMINMXID));
        has_rows(row).then(|| if has_own(row, pg_class::RELFROZENXID) { own() } else { database })
    }

    /// The oldest ids of a database, by its row of `pg_database`; none if it never had a session.
    pub fn of_database(&self, row: &[Datum]) -> Option<OldestIds> {
        has_own(row, pg_database::DATFROZENXID)
            .then(|| self.restore(row, (pg_database::DATFROZENXID, pg_database::DATMINMXID)))
    }
}

/// What came of overwriting a row in place.
enum Overwritten {
    Changed,
    Unchanged,
    /// Somebody has replaced the version or is about to.
    InTheWay(Xid),
}

impl Changer<'_> {
    /// Notes what VACUUM found: a relation's size, and of a table the oldest ids.
    pub fn note_vacuum(
        &mut self,
        relation: Oid,
        size: SizeEstimate,
        oldest: Option<OldestIds>,
    ) -> SqlResult<()> {
        let changed = self.overwrite(&pg_class::TABLE, pg_class::PG_CLASS_OID_INDEX, relation, |row| {
            row[pg_class::RELPAGES] = Datum::Int4(size.pages as i32);
            row[pg_class::RELTUPLES] = Datum::Float4(size.tuples);
            row[pg_class::RELALLVISIBLE] = Datum::Int4(size.all_visible as i32);
            if let Some(oldest) = oldest {
                [row[pg_class::RELFROZENXID], row[pg_class::RELMINMXID]] = values(oldest);
            }
        })?;
        if changed { self.touch_owner(relation) } else { Ok(()) }
    }

    /// Notes the oldest ids of a database, unless it is known to have younger ones only, or another transaction is changing its row: then the older ids stay.
    pub fn note_database(&mut self, database: Oid, oldest: OldestIds, noted: &NotedIds) -> SqlResult<()> {
        let edit = |row: &[Datum]| {
            let known = noted.of_database(row).unwrap_or(oldest);
            Some(OldestIds { xid: known.xid.max(oldest.xid), multi: known.multi.max(oldest.multi) })
        };
        self.replace_ids(database, edit).map(drop)
    }

    /// Somebody enters a database: from now on its rows count. Who changes its row is waited for.
    pub fn enter_database(&mut self, database: Oid) -> SqlResult<()> {
        let txns = self.catalog.engine().txns().clone();
        let edit = |row: &[Datum]| {
            let entered = has_own(row, pg_database::DATFROZENXID);
            (!entered).then(|| txns.oldest_usable())
        };
        while let Some(refusal) = self.replace_ids(database, edit)? {
            if let Refusal::WouldBlock { xid, .. } = refusal {
                self.me.wait_for(xid).map_err(SqlError::from)?;
            }
        }
        Ok(())
    }

    /// Replaces the row of a database by one with the ids that `edit` gives, if it gives any and they differ. Returns the transaction that prevents it, if one does.
    fn replace_ids(
        &mut self,
        database: Oid,
        edit: impl FnOnce(&[Datum]) -> Option<OldestIds>,
    ) -> SqlResult<Option<Refusal>> {
        let (shape, index) = (&pg_database::TABLE, pg_database::PG_DATABASE_OID_INDEX);
        let Some((place, old)) = self.reader().find_one(shape, index, &[database.into()])? else {
            return Ok(None);
        };
        let mut row = old.clone();
        if let Some(oldest) = edit(&old) {
            [row[pg_database::DATFROZENXID], row[pg_database::DATMINMXID]] = values(oldest);
        }
        if row == old {
            return Ok(None);
        }
        let xid = self.me.xid().map_err(SqlError::from)?;
        let refusal = self.writing(shape, |changer| {
            let writer = changer.writer(xid);
            changer.reader().table(shape).update(&writer, place, &old, &row)
        })?;
        if refusal.is_none() {
            let mut stale = Vec::new();
            makes_stale(shape, &old, &mut stale);
            super::register_change(self.catalog, self.session, self.me, stale);
        }
        Ok(refusal)
    }

    /// This database is as after its making, with its relations: all rows are frozen, and nobody is in it. Nobody else is in the server: also
    /// the row of `pg_database` is overwritten, so that it stays frozen.
    pub fn note_template(&mut self) -> SqlResult<()> {
        let database = self.catalog.database();
        let index = pg_database::PG_DATABASE_OID_INDEX;
        self.overwrite(&pg_database::TABLE, index, database, |row| {
            [row[pg_database::DATFROZENXID], row[pg_database::DATMINMXID]] = never_entered();
        })?;
        let relations = self.reader().scan(&pg_class::TABLE)?;
        for (_, row) in relations.iter().filter(|(_, row)| has_rows(row)) {
            let relation = row.oid(pg_class::OID);
            self.overwrite(&pg_class::TABLE, pg_class::PG_CLASS_OID_INDEX, relation, |row| {
                [row[pg_class::RELFROZENXID], row[pg_class::RELMINMXID]] = never_entered();
            })?;
        }
        Ok(())
    }

    /// Overwrites columns of the one row with this OID, in place, unless another transaction is changing it; whether they changed.
    fn overwrite(
        &mut self,
        shape: &SystemTable,
        index: Oid,
        oid: Oid,
        edit: impl FnOnce(&mut [Datum]),
    ) -> SqlResult<bool> {
        Ok(matches!(self.try_overwrite(shape, index, oid, edit)?, Overwritten::Changed))
    }

    /// Overwrites columns of a relation's row in `pg_class`, in place, after waiting for any transaction that is changing it.
    pub(super) fn overwrite_relation(&mut self, relation: Oid, edit: impl Fn(&mut [Datum])) -> SqlResult<()> {
        let index = pg_class::PG_CLASS_OID_INDEX;
        while let Overwritten::InTheWay(xid) = self.try_overwrite(&pg_class::TABLE, index, relation, &edit)? {
            if self.me.is_mine(xid) {
                return Err(SqlError::internal("tuple already updated by self"));
            }
            self.me.wait_for(xid).map_err(SqlError::from)?;
        }
        Ok(())
    }

    fn try_overwrite(
        &mut self,
        shape: &SystemTable,
        index: Oid,
        oid: Oid,
        edit: impl FnOnce(&mut [Datum]),
    ) -> SqlResult<Overwritten> {
        let mut changed = false;
        let found = self.writing(shape, |changer| {
            // Held, so that the version stays where it was found.
            let _snapshot = changer.catalog.engine().txns().snapshot();
            let reader = changer.reader();
            let Some((place, row)) = reader.find_one(shape, index, &[oid.into()])? else { return Ok(None) };
            let in_the_way = reader.table(shape).overwrite(place, |values| {
                let before = values.to_vec();
                edit(values);
                changed = values != before;
                changed
            })?;
            Ok(Some((row, in_the_way)))
        })?;
        let Some((row, in_the_way)) = found else { return Ok(Overwritten::Unchanged) };
        if let Some(xid) = in_the_way {
            return Ok(Overwritten::InTheWay(xid));
        }
        if !changed {
            return Ok(Overwritten::Unchanged);
        }
        let mut stale = Vec::new();
        makes_stale(shape, &row, &mut stale);
        super::register_change(self.catalog, self.session, self.me, stale);
        Ok(Overwritten::Changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn half(id: u64) -> u32 {
        match values(OldestIds { xid: Xid(id), multi: MultiXactId(id) })[0] {
            Datum::Oid(half) => half,
            _ => 0,
        }
    }

    #[test]
    fn what_was_noted_is_restored() {
        for oldest in [700, (5 << 32) - 10, 5 << 32, (7 << 32) + 12] {
            for distance in [0, 1, 2, 5, 1000, 1 << 31, 3 << 30] {
                let id = oldest + distance;
                let back = restored(half(id), oldest, oldest + (1 << 34));
                assert!(back <= id && back >= oldest && id - back <= 4, "{id} from {oldest}: {back}");
            }
        }
    }

    #[test]
    fn no_id_is_noted_as_none() {
        for id in (0..10).map(|n| (6 << 32) + n) {
            assert!(u64::from(half(id)) > Xid::FIRST_NORMAL.0, "{id}");
        }
    }

    #[test]
    fn what_cannot_be_known_comes_out_older() {
        let (oldest, next) = (10_000, 20 << 32);
        // Further away than the half can tell.
        assert_eq!(restored(half(oldest + (1 << 32) + 5), oldest, next), oldest + 5);
        // Older than what is kept: noted by a transaction that ran when that was found.
        assert_eq!(restored(9_000, oldest, next), oldest);
        // Not given out yet.
        assert_eq!(restored(30_000, oldest, 20_000), oldest);
    }
}
