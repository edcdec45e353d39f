//! A hash aggregation over batches.
//!
//! # What
//! Groups are in a flat table, and so are their states, call by call. Once they take the memory that they may take, rows of other groups
//! go to files by hash; each file is aggregated afterwards in the same way, as batches.
//!
//! Several participants may fill such tables beside each other; one of them then takes in what the others have ([`Share`]). If rows went to files, groups of
//! the same parts wait for these: a group may be in the table of one participant, and have rows in a file of another.
//!
//! # Invariants
//! 1. The rows of a group that one participant takes are taken in the order in which they came: all of them go into its table, or all into one file.
//! 2. A table that begins has room for one group at least, so that each file that is read leaves fewer rows.

use base::SqlResult;
use eval::cx::Cx;
use eval::spill::{Parts, SpillFile, SpillReader};
use plan::{AggCall, Expr, Plan};
use tuple::{Batch, Datum};
use types::AggState;

use super::calls::ColumnCalls;
use super::rows::Gathered;
use super::table::{GroupTable, KeptGroups, NONE};
use crate::nodes::{Builder, CallCode};

/// Groups with their states.
pub(crate) struct Groups {
    table: GroupTable,
    /// By call, then by group.
    states: Vec<Vec<AggState>>,
    parts: Parts,
    /// How often the rows were dealt out.
    level: usize,
    /// Rows that are still to be aggregated.
    waiting: Vec<Waiting>,
    /// Of the groups in the table, those of these parts wait for rows in files.
    held_back: Box<[bool]>,
    /// Groups that were held back.
    begun: KeptGroups,
    begun_states: Vec<Vec<AggState>>,
    /// Rows of the batch under way whose groups are in the table.
    known: Vec<u16>,
    row: Vec<Datum>,
    /// The next group that is given.
    next: usize,
}

/// Rows of one part that are still to be aggregated.
struct Waiting {
    files: Vec<SpillFile>,
    /// How often they were dealt out.
    level: usize,
    /// Groups that were held back, to which they may belong.
    begun: Vec<u32>,
}

/// What one participant has found.
pub(crate) struct Share {
    groups: KeptGroups,
    states: Vec<Vec<AggState>>,
    /// Rows, by part.
    files: Vec<Option<SpillFile>>,
}

impl Share {
    /// Number of groups.
    pub(crate) fn len(&self) -> usize {
        self.groups.len()
    }
}

/// What filling a table took: bytes of memory, bytes of files, and their number.
pub(crate) struct Filled {
    pub(crate) memory: u64,
    pub(crate) spilled: u64,
    pub(crate) files: u64,
}

impl Groups {
    /// For an aggregation by these keys; none if they want rows.
    pub(crate) fn new(
        builder: &Builder<'_>,
        child: &Plan,
        keys: &[Expr],
        calls: &[AggCall],
    ) -> SqlResult<Option<Groups>> {
        let table = GroupTable::new(builder, child, keys, calls.len() * size_of::<AggState>())?;
        Ok(table.map(|table| Groups {
            table,
            states: calls.iter().map(|_| Vec::new()).collect(),
            parts: Parts::default(),
            level: 0,
            waiting: Vec::new(),
            held_back: Box::default(),
            begun: KeptGroups::default(),
            begun_states: Vec::new(),
            known: Vec::new(),
            row: Vec::new(),
            next: 0,
        }))
    }

    /// Rows of the input that come one by one.
    pub(crate) fn arriving(child: &Plan) -> Gathered {
        Gathered::of(child.output.iter().map(Expr::type_oid))
    }

    /// Lets go of all groups and files.
    pub(crate) fn forget(&mut self) {
        self.clear();
        self.parts = Parts::default();
        (self.waiting, self.level) = (Vec::new(), 0);
        (self.begun, self.begun_states) = Default::default();
    }

    fn clear(&mut self) {
        self.table.clear();
        self.states.iter_mut().for_each(|states| *states = Vec::new());
        self.held_back = Box::default();
        self.next = 0;
    }

    /// Computes the keys of a batch's rows. No row has been taken if that fails.
    pub(crate) fn prepare(&mut self, batch: &Batch<'_>, cx: &mut Cx<'_>) -> SqlResult<()> {
        self.table.prepare(batch, cx)
    }

    /// Finds the groups of a batch that was prepared, and puts rows into files whose groups have no place. `reads`: the columns
    /// that they need.
    pub(crate) fn find(&mut self, batch: &Batch<'_>, reads: &[usize], cx: &Cx<'_>) -> SqlResult<()> {
        self.table.find(batch, cx.env.hash_mem);
        self.known.clear();
        self.known.extend_from_slice(batch.rows);
        if !self.table.groups.contains(&NONE) {
            return Ok(());
        }
        let mut kept = 0;
        for (at, row) in batch.rows.iter().enumerate() {
            let group = self.table.groups[at];
            if group != NONE {
                (self.known[kept], self.table.groups[kept]) = (*row, group);
                kept += 1;
                continue;
            }
            batch.row(*row, reads.iter().copied(), &mut self.row);
            let part = Parts::part_of(self.table.hashes[at], self.level);
            self.parts.write(part, &self.row, cx.env.temp)?;
        }
        self.known.truncate(kept);
        self.table.groups.truncate(kept);
        Ok(())
    }

    /// The rows of the batch whose groups were found, and these.
    pub(crate) fn known(&self) -> (&[u16], &[u32]) {
        (&self.known, &self.table.groups)
    }

    /// Takes those rows of a batch, for which the calls were prepared, into their groups.
    pub(crate) fn add(
        &mut self,
        batch: &Batch<'_>,
        (calls, codes): (&ColumnCalls, &[CallCode]),
        cx: &Cx<'_>,
    ) -> SqlResult<()> {
        let known = Batch { rows: &self.known, ..*batch };
        for (number, (code, states)) in codes.iter().zip(&mut self.states).enumerate() {
            states.resize_with(self.table.len(), || code.start_column());
            calls.add_to_groups(number, code, states, (&known, &self.table.groups), cx)?;
        }
        Ok(())
    }

    /// After the last row.
    pub(crate) fn end(&mut self) -> SqlResult<Filled> {
        let parts = std::mem::take(&mut self.parts);
        let mut filled = Filled { memory: self.table.bytes as u64, spilled: 0, files: 0 };
        if !parts.is_empty() {
            for file in parts.finish()?.into_iter().flatten() {
                filled.spilled += file.written();
                filled.files += 1;
                self.waiting.push(Waiting { files: vec![file], level: self.level + 1, begun: Vec::new() });
            }
        }
        Ok(filled)
    }

    /// After the last row: what it has, for another one to take in; and what that took.
    pub(crate) fn share(&mut self) -> SqlResult<(Share, Filled)> {
        let parts = std::mem::take(&mut self.parts);
        let files = if parts.is_empty() { Vec::new() } else { parts.finish()? };
        let filled = Filled {
            memory: self.table.bytes as u64,
            spilled: files.iter().flatten().map(SpillFile::written).sum(),
            files: files.iter().flatten().count() as u64,
        };
        let states = self.states.iter_mut().map(std::mem::take).collect();
        Ok((Share { groups: self.table.take(), states, files }, filled))
    }

    /// Takes in what participants have found; it has nothing itself. Returns what that took, and how many parts wait.
    pub(crate) fn take_in(
        &mut self,
        shares: Vec<Share>,
        codes: &[CallCode],
        cx: &Cx<'_>,
    ) -> SqlResult<Filled> {
        let mut files: Vec<Vec<SpillFile>> = Vec::new();
        files.resize_with(Parts::COUNT, Vec::new);
        for share in shares {
            files.iter_mut().zip(share.files).for_each(|(all, more)| all.extend(more));
            let Share { groups, mut states, .. } = share;
            if self.table.len() == 0 {
                self.table.put(groups);
                self.states = states;
                continue;
            }
            for group in 0..groups.len() {
                if group % 1024 == 0 {
                    runtime::check_interrupts().map_err(eval::error::interrupted)?;
                }
                let at = self.table.find_group(&groups, group);
                self.join(at, group, &mut states, codes, cx)?;
            }
        }
        let memory = self.table.bytes as u64;
        self.hold_back(files);
        Ok(Filled { memory, spilled: 0, files: self.waiting.len() as u64 })
    }

    /// Joins a group's states with those of a group elsewhere, which are taken from there.
    fn join(
        &mut self,
        at: usize,
        group: usize,
        states: &mut [Vec<AggState>],
        codes: &[CallCode],
        cx: &Cx<'_>,
    ) -> SqlResult<()> {
        for ((mine, other), code) in self.states.iter_mut().zip(states).zip(codes) {
            let other = std::mem::take(&mut other[group]);
            match mine.get_mut(at) {
                Some(state) => code.combine_columns(state, other, cx)?,
                None => mine.push(other),
            }
        }
        Ok(())
    }

    /// Has groups wait for the rows in these files, by part.
    fn hold_back(&mut self, files: Vec<Vec<SpillFile>>) {
        self.held_back = files.iter().map(|files| !files.is_empty()).collect();
        if !self.held_back.contains(&true) {
            return;
        }
        let waiting = |files| Waiting { files, level: 1, begun: Vec::new() };
        let mut parts: Vec<Waiting> = files.into_iter().map(waiting).collect();
        for group in 0..self.table.len() {
            parts[Parts::part_of(self.table.hash_of(group), 0)].begun.push(group as u32);
        }
        parts.retain(|part| !part.files.is_empty());
        self.waiting = parts;
    }

    /// Replaces `key` by the key of the next group that is complete, and gives its number; none: all have been given.
    pub(crate) fn next(&mut self, key: &mut Vec<Datum>) -> Option<usize> {
        while self.next < self.table.len() {
            let group = self.next;
            self.next += 1;
            let waits = |part: usize| self.held_back.get(part) == Some(&true);
            if !self.held_back.is_empty() && waits(Parts::part_of(self.table.hash_of(group), 0)) {
                continue;
            }
            self.table.key(group, key);
            return Some(group);
        }
        None
    }

    /// A group's states.
    pub(crate) fn states(&self, group: usize) -> impl Iterator<Item = &AggState> {
        self.states.iter().map(move |states| &states[group])
    }

    /// Lets go of the groups, which have been given; the next files that are to be aggregated. Groups that have waited for them are in the table.
    pub(crate) fn next_files(
        &mut self,
        codes: &[CallCode],
        cx: &Cx<'_>,
    ) -> SqlResult<Option<Vec<SpillReader>>> {
        if self.held_back.contains(&true) {
            self.begun_states = self.states.iter_mut().map(std::mem::take).collect();
            self.begun = self.table.take();
        }
        self.clear();
        let Some(Waiting { files, level, begun }) = self.waiting.pop() else { return Ok(None) };
        self.level = level;
        let (groups, mut states) = (std::mem::take(&mut self.begun), std::mem::take(&mut self.begun_states));
        for group in begun {
            let at = self.table.find_group(&groups, group as usize);
            self.join(at, group as usize, &mut states, codes, cx)?;
        }
        (self.begun, self.begun_states) = (groups, states);
        files.into_iter().map(SpillFile::into_reader).collect::<SqlResult<_>>().map(Some)
    }
}
