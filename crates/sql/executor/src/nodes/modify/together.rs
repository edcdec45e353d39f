//! Rows of one DELETE that are deleted together.
//!
//! Where nothing can tell whether a row of the statement is deleted before the next one is found, rows are kept as long as they are of one page and in its order. Then they are deleted under
//! one latch and with one log record. A row that somebody else holds or has changed, or that takes more than a stamp, is deleted alone, in its turn; so is the first row of the
//! statement, which tells whether the statement has to wait for its own.

use base::{BlockNo, OffsetNo, SqlResult, Tid};
use counters::Change;
use eval::cx::Cx;
use eval::node::tid_datum;
use eval::trigger::Event;
use plan::Command;

use super::{ModifyNode, Target};

/// Rows of one page that are to be deleted.
#[derive(Default)]
pub(super) struct Doomed {
    /// The first row of the statement was deleted.
    pub begun: bool,
    block: BlockNo,
    /// They ascend.
    places: Vec<OffsetNo>,
}

impl Doomed {
    /// Whether a row is of this page and behind those that there are.
    fn takes(&self, tid: Tid) -> bool {
        self.places.last().is_none_or(|last| self.block == tid.block && *last < tid.offset)
    }
}

impl ModifyNode {
    /// Whether rows may be deleted together.
    pub(super) fn deletes_together(&self, cx: &Cx<'_>) -> bool {
        let [target] = self.targets.as_slice() else { return false };
        self.command == Command::Delete
            && self.begins_with_a_row
            && target.rel == self.rel
            && self.others.is_empty()
            && self.returning.is_none()
            && !self.is_instead
            && !self.keeps_old(target, Event::Delete)
            && target.heap.desc.logged.is_none()
            // Whose snapshot stays checks each row against it.
            && !cx.env.fixed_snapshot
    }

    /// DELETE whose rows are deleted together: all of them but the first.
    pub(super) fn delete_together(&mut self, cx: &mut Cx<'_>) -> SqlResult<()> {
        let target = self.targets[0].clone();
        loop {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            let more = self.source.next(cx);
            if !matches!(more, Ok(true)) {
                // What rows before are refused for comes before an error in finding the next one.
                self.delete_kept(&target, cx)?;
                return more.map(drop);
            }
            self.source_row.clear();
            self.source_row.extend_from_slice(self.source.row());
            let tid = self.source_tid()?;
            if !self.doomed.takes(tid) {
                self.delete_kept(&target, cx)?;
            }
            self.doomed.block = tid.block;
            self.doomed.places.push(tid.offset);
        }
    }

    /// Deletes the rows that are kept.
    fn delete_kept(&mut self, target: &Target, cx: &mut Cx<'_>) -> SqlResult<()> {
        let block = self.doomed.block;
        let places = std::mem::take(&mut self.doomed.places);
        let mut rest = places.as_slice();
        while let Some(place) = rest.first() {
            let heap = &target.heap;
            let crowded = cx.env.access.txns.locks().may_be_crowded();
            let done = match crowded {
                true => 0,
                false => cx
                    .with_writer(heap, |access, writer| {
                        heap::delete_rows(access, heap, writer, (block, rest))
                    })?
                    .map_err(eval::error::heap)?,
            };
            cx.count_change(target.table.oid, Change::Delete(done as i64));
            cx.state.processed += done as u64;
            if done > 0 {
                rest = &rest[done..];
                continue;
            }
            self.source_row.clear();
            self.source_row.push(tid_datum(Tid::new(block, *place)));
            self.change(cx)?;
            rest = &rest[1..];
        }
        self.doomed.places = places;
        self.doomed.places.clear();
        Ok(())
    }
}
