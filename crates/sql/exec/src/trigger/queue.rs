//! What is to fire after rows have changed: compact events, in the order of the changes.

use std::rc::Rc;
use std::sync::Arc;

use base::{BlockNo, Oid, SubxactId, Tid};
use catalog::{Table, Trigger};

use super::{Change, Event};

/// What events of one kind have in common.
#[derive(Debug)]
pub(crate) struct Kind {
    pub(crate) table: Arc<Table>,
    pub(crate) trigger: Arc<Trigger>,
    pub(crate) event: Event,
    /// Who changed the rows: the function runs with his rights.
    pub(crate) user: Oid,
}

/// One event: 20 bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queued {
    /// Its place in the list of kinds.
    pub(crate) kind: u32,
    /// Deferred events: 0, or the number of the firing that took it.
    fired: u32,
    blocks: [u32; 2],
    offsets: [u16; 2],
}

impl Queued {
    /// The places of the row before and after; none where there is no such row.
    pub(crate) fn tids(&self) -> [Option<Tid>; 2] {
        let tid = |i: usize| {
            let offset = self.offsets[i];
            (offset != 0).then(|| Tid::new(BlockNo(self.blocks[i]), offset))
        };
        [tid(0), tid(1)]
    }
}

/// Events of one statement. Most have none: those take a word.
#[derive(Debug, Default)]
pub(crate) struct Events(Option<Box<Lists>>);

#[derive(Debug, Default)]
struct Lists {
    kinds: Vec<Rc<Kind>>,
    list: Vec<Queued>,
}

impl Events {
    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |lists| lists.list.len())
    }

    /// Forgets those behind the first `count`.
    pub(crate) fn truncate(&mut self, count: usize) {
        if let Some(lists) = &mut self.0 {
            lists.list.truncate(count);
        }
    }

    /// Puts others behind.
    pub(crate) fn append(&mut self, other: Events) {
        let Some(other) = other.0 else { return };
        let Lists { kinds, list } = &mut **self.0.get_or_insert_default();
        let first = kinds.len() as u32;
        kinds.extend(other.kinds);
        list.extend(other.list.into_iter().map(|event| Queued { kind: event.kind + first, ..event }));
    }

    /// Adds one that a user's statement caused.
    pub(crate) fn push(
        &mut self,
        (table, trigger, event): (&Arc<Table>, &Arc<Trigger>, Event),
        user: Oid,
        change: Change<'_>,
    ) {
        let Lists { kinds, list } = &mut **self.0.get_or_insert_default();
        let same =
            |kind: &Rc<Kind>| kind.trigger.oid == trigger.oid && (kind.event, kind.user) == (event, user);
        let kind = kinds.iter().rposition(same).unwrap_or_else(|| {
            kinds.push(Rc::new(Kind { table: table.clone(), trigger: trigger.clone(), event, user }));
            kinds.len() - 1
        });
        let [old, new] = [change.old, change.new].map(|row| row.map_or(Tid::default(), |(tid, _)| tid));
        list.push(Queued {
            kind: kind as u32,
            fired: 0,
            blocks: [old.block.0, new.block.0],
            offsets: [old.offset, new.offset],
        });
    }

    /// The event with this number, from 0.
    pub(crate) fn get(&self, number: usize) -> Option<(Rc<Kind>, Queued)> {
        let Lists { kinds, list } = &**self.0.as_ref()?;
        let event = *list.get(number)?;
        Some((kinds[event.kind as usize].clone(), event))
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
#[derive(Debug, Default)]
pub(crate) struct Deferred {
    kinds: Vec<Rc<Kind>>,
    list: Vec<Queued>,
    /// In which subtransaction events came: it and the first of them. Later subtransactions have greater numbers, so those of one that
    /// is rolled back are the end of the list.
    runs: Vec<(SubxactId, usize)>,
    /// Subtransactions that fired events. When they are rolled back, the events are there again.
    firings: Vec<SubxactId>,
    states: States,
    /// What it was before each subtransaction that changed it.
    saved: Vec<(SubxactId, States)>,
}

impl Deferred {
    /// Whether a trigger waits for the end of the transaction.
    pub(crate) fn defers(&self, trigger: &Trigger) -> bool {
        if !trigger.deferrable {
            return false;
        }
        let named = self.states.named.iter().rev().find(|(constraint, _)| *constraint == trigger.constraint);
        named.map(|(_, deferred)| *deferred).or(self.states.all).unwrap_or(trigger.deferred)
    }

    /// SET CONSTRAINTS: these constraints, or (none) all.
    pub(crate) fn set(&mut self, constraints: Option<&[Oid]>, deferred: bool, now: SubxactId) {
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
    pub(crate) fn push(&mut self, kind: Rc<Kind>, event: Queued, now: SubxactId) {
        if self.runs.last().is_none_or(|(subxact, _)| *subxact != now) {
            self.runs.push((now, self.list.len()));
        }
        let same = |known: &Rc<Kind>| {
            Arc::ptr_eq(&known.trigger, &kind.trigger) && (known.event, known.user) == (kind.event, kind.user)
        };
        let known = self.kinds.iter().rposition(same);
        let kind = known.unwrap_or_else(|| {
            self.kinds.push(kind);
            self.kinds.len() - 1
        });
        self.list.push(Queued { kind: kind as u32, fired: 0, ..event });
    }

    /// Takes the first event from `from` on that has not fired and that `which` picks; its number goes along.
    pub(crate) fn take(
        &mut self,
        from: usize,
        now: SubxactId,
        which: impl Fn(&Deferred, &Kind) -> bool,
    ) -> Option<(usize, Rc<Kind>, Queued)> {
        let waits = |event: &Queued| event.fired == 0 && which(self, &self.kinds[event.kind as usize]);
        let number = from + self.list.get(from..)?.iter().position(waits)?;
        if self.firings.last() != Some(&now) {
            self.firings.push(now);
        }
        let fired = self.firings.len() as u32;
        let event = &mut self.list[number];
        event.fired = fired;
        let event = *event;
        Some((number, self.kinds[event.kind as usize].clone(), event))
    }

    /// Whether an event of this relation waits.
    pub(crate) fn waits_for(&self, relation: Oid) -> bool {
        let of = |event: &&Queued| self.kinds[event.kind as usize].table.oid == relation;
        self.list.iter().filter(|event| event.fired == 0).any(|event| of(&event))
    }

    /// A subtransaction, and those within it, is undone.
    pub(crate) fn roll_back(&mut self, subxact: SubxactId) {
        while let Some((_, first)) = self.runs.pop_if(|(of, _)| *of >= subxact) {
            self.list.truncate(first);
        }
        if self.firings.iter().any(|of| *of >= subxact) {
            for event in &mut self.list {
                if event.fired > 0 && self.firings[event.fired as usize - 1] >= subxact {
                    event.fired = 0;
                }
            }
        }
        while let Some((_, states)) = self.saved.pop_if(|(of, _)| *of >= subxact) {
            self.states = states;
        }
    }

    /// The transaction is over.
    pub(crate) fn clear(&mut self) {
        if !self.list.is_empty() || !self.saved.is_empty() {
            *self = Deferred::default();
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
        Queued { kind: 0, fired: 0, blocks: [0, 7], offsets: [0, 3] }
    }

    #[test]
    fn an_event_is_small() {
        assert_eq!(size_of::<Queued>(), 20);
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
