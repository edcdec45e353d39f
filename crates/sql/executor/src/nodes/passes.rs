//! Aggregation of rows that come in order. One pass over them serves the grouping sets whose keys the order begins with: the group of a set ends
//! where one of its keys changes. Sets that need another order take the rows in a later pass, sorted for it meanwhile; those that are hashed take
//! them in the first.

use std::collections::VecDeque;
use std::ops::Range;

use base::SqlResult;
use eval::code::{Rows, project};
use eval::cx::Cx;
use tuple::Datum;

use super::aggregate::{Core, Group};
use super::hashing::{Hashed, Hashing};
use super::sort::Sorter;
use super::{BoxNode, Key};

/// What one pass is for.
pub(super) struct Pass {
    /// Its sets; the keys of each begin those of the one before.
    pub(super) sets: Range<usize>,
    /// The keys of its largest set.
    pub(super) keys: Vec<usize>,
    /// The order of rows with the keys behind their columns.
    pub(super) order: Vec<Key>,
}

/// All passes, under way.
#[derive(Default)]
pub(super) struct Passes {
    /// The pass under way.
    number: usize,
    /// Its rows, with their keys; the child's in the first.
    rows: Option<Sorter>,
    /// Those of the next.
    next: Option<Sorter>,
    /// The groups under way, of each set of the pass; none before its first row.
    open: Vec<Group>,
    ended: VecDeque<Group>,
    /// In the first pass, of sets that are hashed.
    hashing: Option<Hashing>,
    /// The same afterwards.
    hashed: Option<Hashed>,
    done: bool,
    key: Vec<Datum>,
}

impl Passes {
    /// Before the first row.
    pub(super) fn new(core: &Core) -> Passes {
        let hashing = (!core.hashed.is_empty()).then(Hashing::default);
        Passes { hashing, next: sorter(core, 1), ..Passes::default() }
    }

    /// The next group of a sorted set.
    pub(super) fn next(
        &mut self,
        core: &Core,
        child: &mut BoxNode,
        cx: &mut Cx<'_>,
    ) -> SqlResult<Option<Group>> {
        loop {
            if let Some(group) = self.ended.pop_front() {
                return Ok(Some(group));
            }
            if self.done {
                return Ok(None);
            }
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            self.advance(core, child, cx)?;
        }
    }

    /// After the last group: those of hashed sets.
    pub(super) fn hashed(self) -> Hashed {
        self.hashed.unwrap_or_default()
    }

    /// Takes a row, or ends the pass.
    fn advance(&mut self, core: &Core, child: &mut BoxNode, cx: &mut Cx<'_>) -> SqlResult<()> {
        let pass = &core.passes[self.number];
        let more = match &mut self.rows {
            Some(rows) => rows.next(&pass.order)?,
            None => child.next(cx)?,
        };
        if !more {
            return self.end(core, cx);
        }
        let row = match &self.rows {
            Some(rows) => &rows.row()[..core.width],
            None => child.row(),
        };
        project(&core.keys, Rows::one(row), cx, &mut self.key)?;
        let key = &self.key;
        let same = match self.open.first() {
            Some(last) => {
                let mut keys = pass.keys.iter().zip(&pass.order);
                keys.position(|(k, order)| order.compare(&last.key[*k], &key[*k]).is_ne())
                    .unwrap_or(pass.keys.len())
            }
            None => {
                self.open.extend(pass.sets.clone().map(|set| core.group(set, core.masked(set, key), row)));
                pass.keys.len()
            }
        };
        for (set, group) in pass.sets.clone().zip(&mut self.open) {
            if core.sets[set].len() > same {
                let new = core.group(set, core.masked(set, key), row);
                self.ended.push_back(std::mem::replace(group, new));
            }
            core.add(group, row, cx)?;
        }
        if let Some(hashing) = &mut self.hashing {
            hashing.take_row(core, (row, key), cx)?;
        }
        if let Some(next) = &mut self.next {
            next.add([row, key].concat(), &core.passes[self.number + 1].order, cx)?;
        }
        Ok(())
    }

    /// After the last row of a pass: its last groups, and on to the next one.
    fn end(&mut self, core: &Core, cx: &mut Cx<'_>) -> SqlResult<()> {
        if self.open.is_empty() {
            // The empty set has a group without rows.
            let empty = core.passes[self.number].sets.clone().filter(|set| core.sets[*set].is_empty());
            let key = vec![Datum::Null; core.keys.len()];
            self.ended.extend(empty.map(|set| core.group(set, key.clone(), &[])));
        }
        self.ended.extend(self.open.drain(..));
        if let Some(hashing) = self.hashing.take() {
            self.hashed = Some(hashing.finish(cx)?);
        }
        let Some(mut rows) = self.next.take() else {
            self.done = true;
            return Ok(());
        };
        self.number += 1;
        rows.finish(&core.passes[self.number].order, cx)?;
        self.rows = Some(rows);
        self.next = sorter(core, self.number + 1);
        Ok(())
    }
}

/// For the rows of a pass.
fn sorter(core: &Core, number: usize) -> Option<Sorter> {
    core.passes.get(number).map(|pass| Sorter::new(&pass.order))
}
