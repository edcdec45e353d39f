//! What is to fire after rows have changed: compact events, in the order of the changes, beyond `work_mem` in files.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use base::{BlockNo, Oid, SqlResult, SubxactId, Tid};
use catalog::{Table, Trigger};

use super::list::{Bits, EventList, Memory};
use super::{Change, Changed, Event};

/// What events of one kind have in common.
#[derive(Debug)]
pub struct Kind {
    /// The table whose trigger it is.
    pub table: Arc<Table>,
    /// The trigger that is to fire.
    pub trigger: Arc<Trigger>,
    /// What happened.
    pub event: Event,
    /// The user who changed the rows: the function runs with this user's privileges.
    pub user: Oid,
    /// The partitions that the rows before and after are in, where `table` is the partitioned one.
    pub partitions: Option<[Arc<Table>; 2]>,
    /// All rows of the change, for triggers that may read them, and for those of the statement.
    pub changed: Option<Rc<Changed>>,
    /// The statement goes on: its triggers fire later.
    pub cancelled: Cell<bool>,
}

/// What an event is of, while it is put into the queue.
#[derive(Clone, Copy)]
pub(super) struct Of<'a> {
    pub(super) table: &'a Arc<Table>,
    pub(super) trigger: &'a Arc<Trigger>,
    pub(super) event: Event,
    pub(super) user: Oid,
    pub(super) partitions: Option<[&'a Arc<Table>; 2]>,
}

impl Of<'_> {
    fn is(&self, kind: &Kind) -> bool {
        let same = match (&kind.partitions, &self.partitions) {
            (None, None) => true,
            (Some(known), Some(own)) => known.iter().zip(own).all(|(known, own)| Arc::ptr_eq(known, own)),
            _ => false,
        };
        same && kind.trigger.oid == self.trigger.oid
            && (kind.event, kind.user) == (self.event, self.user)
            && !kind.cancelled.get()
            && kind.changed.as_ref().is_none_or(|changed| !changed.is_closed())
    }

    fn kind(&self, changed: Option<Rc<Changed>>) -> Kind {
        Kind {
            table: self.table.clone(),
            trigger: self.trigger.clone(),
            event: self.event,
            user: self.user,
            partitions: self.partitions.map(|partitions| partitions.map(Arc::clone)),
            changed,
            cancelled: Cell::default(),
        }
    }
}

impl Kind {
    fn has_rows_of(&self, relation: Oid) -> bool {
        let partitions = self.partitions.iter().flatten();
        std::iter::once(&self.table).chain(partitions).any(|table| table.oid == relation)
    }
}

/// One event: 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queued {
    /// Its place in the list of kinds.
    pub(super) kind: u32,
    pub(super) blocks: [u32; 2],
    pub(super) offsets: [u16; 2],
}

impl Queued {
    /// TIDs of the row before and after the change, if there are such rows.
    pub fn tids(&self) -> [Option<Tid>; 2] {
        let tid = |i: usize| {
            let offset = self.offsets[i];
            (offset != 0).then(|| Tid::new(BlockNo(self.blocks[i]), offset))
        };
        [tid(0), tid(1)]
    }

    /// As it lies in a file.
    pub(super) fn encode(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        for (at, word) in [self.kind, self.blocks[0], self.blocks[1]].into_iter().enumerate() {
            bytes[at * 4..][..4].copy_from_slice(&word.to_le_bytes());
        }
        bytes[12..14].copy_from_slice(&self.offsets[0].to_le_bytes());
        bytes[14..].copy_from_slice(&self.offsets[1].to_le_bytes());
        bytes
    }

    /// Reads what [`Queued::encode`] wrote.
    pub(super) fn decode(bytes: &[u8; 16]) -> Queued {
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let half = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        Queued { kind: word(0), blocks: [word(4), word(8)], offsets: [half(12), half(14)] }
    }
}

/// Events of one statement. Most have none: those take a word.
#[derive(Default)]
pub struct Events(Option<Box<Lists>>);

#[derive(Default)]
struct Lists {
    kinds: Vec<Rc<Kind>>,
    list: EventList,
    changed: Vec<Rc<Changed>>,
}

impl Lists {
    /// Changes of one kind to one table.
    fn changed(&mut self, table: Oid, event: Event) -> &Rc<Changed> {
        let known = self.changed.iter().rposition(|changed| changed.takes(table, event));
        let at = known.unwrap_or_else(|| {
            self.changed.push(Rc::new(Changed::new(table, event)));
            self.changed.len() - 1
        });
        &self.changed[at]
    }
}

impl Events {
    /// Whether nothing was noted.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |lists| lists.list.len())
    }

    /// Forgets those behind the first `count`.
    pub fn truncate(&mut self, count: usize) {
        if count == 0 {
            self.0 = None;
        }
        if let Some(lists) = &mut self.0 {
            lists.list.truncate(count);
        }
    }

    /// What the statement has done to a table in one way.
    pub fn changed(&mut self, table: Oid, event: Event) -> &Rc<Changed> {
        self.0.get_or_insert_default().changed(table, event)
    }

    /// Notes that the statement begins to change a table; false if it has begun before.
    pub fn begins(&mut self, table: Oid, event: Event) -> bool {
        !self.changed(table, event).begin()
    }

    /// The statement changes a table once more: its triggers are to fire at the end of that.
    pub(super) fn cancel_statement(&mut self, table: Oid, event: Event) {
        let Some(lists) = self.0.as_deref_mut() else { return };
        let now = lists.changed(table, event).clone();
        for kind in lists.kinds.iter().filter(|kind| !kind.trigger.kind.row()) {
            if kind.changed.as_ref().is_some_and(|changed| Rc::ptr_eq(changed, &now)) {
                kind.cancelled.set(true);
            }
        }
    }

    /// Adds one that a user's statement caused.
    pub(super) fn push(&mut self, of: Of<'_>, change: Change<'_>, memory: Memory<'_>) -> SqlResult<()> {
        let lists = &mut **self.0.get_or_insert_default();
        let known = lists.kinds.iter().rposition(|kind| of.is(kind));
        let kind = known.unwrap_or_else(|| {
            let told = !of.trigger.kind.row() || of.trigger.has_transitions();
            let changed = told.then(|| lists.changed(of.table.oid, of.event).clone());
            lists.kinds.push(Rc::new(of.kind(changed)));
            lists.kinds.len() - 1
        });
        let [old, new] = [change.old, change.new].map(|row| row.map_or(Tid::default(), |(tid, _)| tid));
        let (blocks, offsets) = ([old.block.0, new.block.0], [old.offset, new.offset]);
        lists.list.push(Queued { kind: kind as u32, blocks, offsets }, memory)
    }

    /// The event with this number, from 0.
    pub fn get(&mut self, number: usize) -> SqlResult<Option<(Rc<Kind>, Queued)>> {
        let Some(Lists { kinds, list, .. }) = self.0.as_deref_mut() else { return Ok(None) };
        let event = list.get(number)?;
        Ok(event.map(|event| (kinds[event.kind as usize].clone(), event)))
    }
}

/// Whether the checks of constraints wait for the end of the transaction, as SET CONSTRAINTS says.
#[derive(Clone, Debug, Default)]
struct States {
    all: Option<bool>,
    /// Constraints named since ALL.
    named: Vec<(Oid, bool)>,
}

/// Deferred events of a transaction.
#[derive(Default)]
pub struct Deferred {
    kinds: Vec<Rc<Kind>>,
    list: EventList,
    /// Those that have fired.
    fired: Bits,
    /// In which subtransaction events came: it and the first of them. Later subtransactions have greater numbers, so those of one that
    /// is rolled back are the end of the list.
    runs: Vec<(SubxactId, usize)>,
    /// Subtransactions that fired events, and which. When they are rolled back, the events are there again.
    firings: Vec<(SubxactId, Bits)>,
    states: States,
    /// What it was before each subtransaction that changed it.
    saved: Vec<(SubxactId, States)>,
}

impl Deferred {
    /// Whether nothing is to fire, nor has.
    pub fn is_empty(&self) -> bool {
        self.list.len() == 0
    }

    /// Whether a trigger waits for the end of the transaction.
    pub fn defers(&self, trigger: &Trigger) -> bool {
        if !trigger.deferrable {
            return false;
        }
        let named = self.states.named.iter().rev().find(|(constraint, _)| *constraint == trigger.constraint);
        named.map(|(_, deferred)| *deferred).or(self.states.all).unwrap_or(trigger.deferred)
    }

    /// SET CONSTRAINTS: these constraints, or (none) all.
    pub fn set(&mut self, constraints: Option<&[Oid]>, deferred: bool, now: SubxactId) {
        if self.saved.last().is_none_or(|(subxact, _)| *subxact < now) {
            self.saved.push((now, self.states.clone()));
        }
        match constraints {
            None => self.states = States { all: Some(deferred), named: Vec::new() },
            Some(list) => {
                self.states.named.retain(|(known, _)| !list.contains(known));
                self.states.named.extend(list.iter().map(|constraint| (*constraint, deferred)));
            }
        }
    }

    /// Adds an event of a statement.
    pub fn push(
        &mut self,
        kind: Rc<Kind>,
        event: Queued,
        now: SubxactId,
        memory: Memory<'_>,
    ) -> SqlResult<()> {
        if self.runs.last().is_none_or(|(subxact, _)| *subxact != now) {
            self.runs.push((now, self.list.len()));
        }
        let same = |known: &Rc<Kind>| {
            Rc::ptr_eq(known, &kind)
                || kind.partitions.is_none()
                    && known.partitions.is_none()
                    && Arc::ptr_eq(&known.trigger, &kind.trigger)
                    && (known.event, known.user) == (kind.event, kind.user)
        };
        let known = self.kinds.iter().rposition(same);
        let kind = known.unwrap_or_else(|| {
            self.kinds.push(kind);
            self.kinds.len() - 1
        });
        self.list.push(Queued { kind: kind as u32, ..event }, memory)
    }

    /// Takes the first event from `from` on that has not fired and that `which` picks; its number goes along.
    pub fn take(
        &mut self,
        from: usize,
        now: SubxactId,
        which: impl Fn(&Deferred, &Kind) -> bool,
    ) -> SqlResult<Option<(usize, Rc<Kind>, Queued)>> {
        let Some((number, event)) = self.find(from, which)? else { return Ok(None) };
        if self.firings.last().is_none_or(|(by, _)| *by != now) {
            self.firings.push((now, Bits::default()));
        }
        if let Some((_, taken)) = self.firings.last_mut() {
            taken.insert(number);
        }
        self.fired.insert(number);
        Ok(Some((number, self.kinds[event.kind as usize].clone(), event)))
    }

    /// The first event from `from` on that has not fired and that `which` picks, with its number.
    fn find(
        &mut self,
        from: usize,
        which: impl Fn(&Deferred, &Kind) -> bool,
    ) -> SqlResult<Option<(usize, Queued)>> {
        for number in from..self.list.len() {
            if number % 1024 == 0 {
                runtime::check_interrupts().map_err(crate::error::interrupted)?;
            }
            if self.fired.contains(number) {
                continue;
            }
            let Some(event) = self.list.get(number)? else { break };
            if which(self, &self.kinds[event.kind as usize]) {
                return Ok(Some((number, event)));
            }
        }
        Ok(None)
    }

    /// Whether an event of this relation waits.
    pub fn waits_for(&mut self, relation: Oid) -> SqlResult<bool> {
        if !self.kinds.iter().any(|kind| kind.has_rows_of(relation)) {
            return Ok(false);
        }
        Ok(self.find(0, |_, kind| kind.has_rows_of(relation))?.is_some())
    }

    /// A subtransaction, and those within it, is undone.
    pub fn roll_back(&mut self, subxact: SubxactId) {
        while let Some((_, first)) = self.runs.pop_if(|(of, _)| *of >= subxact) {
            self.list.truncate(first);
        }
        for (_, taken) in self.firings.extract_if(.., |(by, _)| *by >= subxact) {
            self.fired.remove(&taken);
        }
        while let Some((_, states)) = self.saved.pop_if(|(of, _)| *of >= subxact) {
            self.states = states;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trigger(oid: u32, deferred: bool) -> Trigger {
        Trigger { oid: Oid(oid), constraint: Oid(oid), deferrable: true, deferred, ..Trigger::default() }
    }

    fn event() -> Queued {
        Queued { kind: 0, blocks: [0, 7], offsets: [0, 3] }
    }

    #[test]
    fn an_event_is_small() {
        assert_eq!(size_of::<Queued>(), 16);
        assert_eq!(Queued::decode(&event().encode()), event());
        assert_eq!(event().tids(), [None, Some(Tid::new(BlockNo(7), 3))]);
    }

    #[test]
    fn a_rolled_back_set_constraints_never_was() {
        let mut deferred = Deferred::default();
        let first = trigger(1, true);
        deferred.set(None, false, SubxactId(3));
        assert!(!deferred.defers(&first));
        deferred.roll_back(SubxactId(2));
        assert!(deferred.defers(&first));
    }

    #[test]
    fn named_constraints_come_before_all() {
        let mut deferred = Deferred::default();
        let (first, second) = (trigger(1, false), trigger(2, true));
        deferred.set(Some(&[Oid(1)]), true, SubxactId(1));
        assert!(deferred.defers(&first) && deferred.defers(&second));
        deferred.set(None, false, SubxactId(1));
        assert!(!deferred.defers(&first) && !deferred.defers(&second));
    }
}
