//! Sorting of rows that come in the order of the first keys: group by group, so that the first rows are there before the last are read.
//!
//! # Invariants
//! 1. A group is what agrees in the first keys. All rows of a group are sorted together, or are taken from sorted rows of several groups.
//! 2. Small groups are sorted several at a time, by all keys ("full-sort groups"); a group that turns out to be large is sorted alone, by the
//!    keys that are left ("pre-sorted groups").
//! 3. Of a run that is bounded no more rows are read than the groups need in which the wanted rows lie.
//!
//! # PostgreSQL counterpart
//! `nodeIncrementalSort.c`; groups are counted the same way.

use std::collections::VecDeque;

use base::SqlResult;
use eval::cx::Cx;
use plan::explain::{Detail, SortGroups};
use plan::{ParamId, Plan, SortKey};
use tuple::Datum;

use super::sort::{Keyed, Sorter};
use super::{BoxNode, Builder, Node};

/// Rows that are sorted together at least, whatever groups they are of.
const LEAST_TOGETHER: usize = 32;

/// Rows of which more in one sort are of a large group.
const MOST_TOGETHER: usize = 64;

/// Sorts rows of `child` that are sorted by the first `presorted` keys.
pub fn build<'p>(
    builder: &mut Builder<'p>,
    child: &'p Plan,
    sort_keys: &[SortKey],
    presorted: usize,
) -> SqlResult<BoxNode> {
    let keyed = Keyed::new(builder, child, sort_keys)?;
    let child = builder.build(child)?;
    Ok(Box::new(IncrementalSort { child, keyed, presorted, bound: None, run: Run::default() }))
}

struct IncrementalSort {
    child: BoxNode,
    keyed: Keyed,
    presorted: usize,
    bound: Option<usize>,
    run: Run,
}

/// The state of one run.
#[derive(Default)]
struct Run {
    /// The rows that are given now, and by how many of the first keys they are sorted anyway.
    sorter: Option<(Sorter, usize)>,
    /// Rows behind them that were sorted already, by all keys.
    sorted: VecDeque<Vec<Datum>>,
    /// The first row of the next group, which was read too far.
    ahead: Option<Vec<Datum>>,
    /// Rows of the groups so far.
    done: usize,
    /// There are no more rows below.
    ended: bool,
}

impl IncrementalSort {
    /// The next row, with its keys.
    fn read(&mut self, cx: &mut Cx<'_>) -> SqlResult<Option<Vec<Datum>>> {
        if let Some(row) = self.run.ahead.take() {
            return Ok(Some(row));
        }
        runtime::check_interrupts().map_err(eval::error::interrupted)?;
        if self.run.ended || !self.child.next(cx)? {
            self.run.ended = true;
            return Ok(None);
        }
        self.keyed.row(self.child.row(), cx).map(Some)
    }

    /// Whether two rows are of one group.
    fn together(&self, a: &[Datum], b: &[Datum]) -> bool {
        let keys = self.keyed.keys.iter().zip(&self.keyed.places).take(self.presorted);
        // The last of these differs most often.
        keys.rev().all(|(key, place)| key.compare(&a[*place], &b[*place]).is_eq())
    }

    /// How many of the wanted rows have not been sorted yet.
    fn wanted(&self) -> Option<usize> {
        self.bound.map(|bound| bound.saturating_sub(self.run.done))
    }

    fn sorter(&self, skipped: usize, bound: Option<usize>) -> Sorter {
        let mut sorter = Sorter::at(self.keyed.places[skipped..].to_vec());
        sorter.bound = bound.filter(|bound| *bound > 0);
        sorter
    }

    /// Sorts what was added, and counts it.
    fn finish(&self, mut sorter: Sorter, skipped: usize, cx: &mut Cx<'_>) -> SqlResult<Sorter> {
        sorter.finish(&self.keyed.keys[skipped..], cx)?;
        let (method, kilobytes) = sorter.told();
        cx.tell(|before| {
            let (mut full, mut presorted) = match before {
                Detail::SortGroups { full, presorted } => (full, presorted),
                _ => (SortGroups::default(), SortGroups::default()),
            };
            let groups = if skipped == 0 { &mut full } else { &mut presorted };
            groups.add(method, kilobytes);
            Detail::SortGroups { full, presorted }
        });
        Ok(sorter)
    }

    /// Reads and sorts the next groups, by all keys; false if there are no more rows.
    fn next_groups(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        let wanted = self.wanted();
        let least = wanted.unwrap_or(LEAST_TOGETHER).clamp(1, LEAST_TOGETHER);
        let mut sorter = self.sorter(0, wanted.filter(|wanted| *wanted < LEAST_TOGETHER));
        let mut count = 0;
        // The last row that is sorted whatever group it is of: the others of its group are sorted with it.
        let mut last: Option<Vec<Datum>> = None;
        while let Some(row) = self.read(cx)? {
            if let Some(last) = &last
                && !self.together(last, &row)
            {
                self.run.ahead = Some(row);
                break;
            }
            count += 1;
            if count == least {
                last = Some(row.clone());
            }
            sorter.add(row, &self.keyed.keys, cx)?;
            if count > MOST_TOGETHER {
                let sorter = self.finish(sorter, 0, cx)?;
                return self.keep(sorter).and_then(|()| self.next_group(cx));
            }
        }
        if count == 0 {
            return Ok(false);
        }
        self.run.done += count;
        self.run.sorter = Some((self.finish(sorter, 0, cx)?, 0));
        Ok(true)
    }

    /// Keeps rows that were sorted by all keys, to give them group by group.
    fn keep(&mut self, mut sorter: Sorter) -> SqlResult<()> {
        while sorter.next(&self.keyed.keys)? {
            self.run.sorted.push_back(sorter.take());
        }
        Ok(())
    }

    /// Takes the next group from rows that were sorted already. If that is the last of them, the rest of its rows is still to be read.
    fn next_group(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        let Some(first) = self.run.sorted.pop_front() else { return Ok(false) };
        let mut sorter = self.sorter(self.presorted, self.wanted());
        let keys = self.presorted..;
        let mut count = 1;
        sorter.add(first.clone(), &self.keyed.keys[keys.clone()], cx)?;
        while let Some(row) = self.run.sorted.pop_front() {
            if !self.together(&first, &row) {
                self.run.sorted.push_front(row);
                break;
            }
            count += 1;
            sorter.add(row, &self.keyed.keys[keys.clone()], cx)?;
        }
        if self.run.sorted.is_empty() {
            while let Some(row) = self.read(cx)? {
                if !self.together(&first, &row) {
                    self.run.ahead = Some(row);
                    break;
                }
                count += 1;
                sorter.add(row, &self.keyed.keys[keys.clone()], cx)?;
            }
        }
        self.run.done += count;
        self.run.sorter = Some((self.finish(sorter, self.presorted, cx)?, self.presorted));
        Ok(true)
    }
}

impl Node for IncrementalSort {
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        loop {
            if let Some((sorter, skipped)) = &mut self.run.sorter
                && sorter.next(&self.keyed.keys[*skipped..])?
            {
                return Ok(true);
            }
            self.run.sorter = None;
            let more = match self.run.sorted.is_empty() {
                true => self.next_groups(cx)?,
                false => self.next_group(cx)?,
            };
            if !more {
                return Ok(false);
            }
        }
    }

    fn row(&self) -> &[Datum] {
        self.run.sorter.as_ref().map_or(&[], |(sorter, _)| &sorter.row()[..self.keyed.width])
    }

    fn bound(&mut self, rows: Option<usize>) {
        self.bound = rows;
    }

    fn rescan(&mut self, cx: &mut Cx<'_>, changed: &[ParamId]) -> SqlResult<()> {
        self.run = Run::default();
        self.child.rescan(cx, changed)
    }

    fn close(&mut self, cx: &mut Cx<'_>) {
        self.run = Run::default();
        self.child.close(cx);
    }
}
