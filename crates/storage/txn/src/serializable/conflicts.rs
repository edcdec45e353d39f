//! What · The graph: serializable transactions, the rw-conflicts between them, and which one is cancelled where two conflicts follow one another.
//!
//! Layout · A node for each transaction that runs, is prepared, or ended when somebody who still runs had begun. An edge leads from who read to who wrote
//! anew. `ended` has those that committed, in the order of their numbers; `released` of them have no locks any more.
//!
//! Invariants
//! 1. A node's edges are in its neighbours too.
//! 2. `active` and `writers` have a node from its beginning to its end, by the number of its snapshot; prepared ones too. So the first of them says
//!    what is still needed: `ended` nodes up to the first of `active`, their locks up to the first of `writers`.
//! 3. Who was rolled back leaves nothing.
//!
//! Locks · None in here: the caller has the mutex.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use base::Xid;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::member::Member;
use super::summary::{Known, Summary};
use super::{Reason, Who};
use crate::SessionId;

/// A number in the order of commits.
pub type Seq = u64;

/// A number that all that is known in summary has in the place of its own: before every other.
const FIRST: Seq = 1;

/// Number of a transaction; never given twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Id(pub u64);

/// How far a transaction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Running,
    /// It will commit, or did: since this number.
    Prepared(Seq),
    /// All snapshots from the second number on see it.
    Committed(Seq, Seq),
}

#[derive(Debug)]
struct Node {
    member: Arc<Member>,
    who: Who,
    /// The last commit before its snapshot.
    seen: Seq,
    state: State,
    xid: Xid,
    /// READ ONLY; or committed without having written.
    read_only: bool,
    /// Declared so.
    declared_read_only: bool,
    /// Waits for a safe snapshot.
    waits: bool,
    /// Who read what it wrote anew.
    ins: SmallVec<[Id; 2]>,
    /// Who wrote anew what it read.
    outs: SmallVec<[Id; 2]>,
    /// Of those that committed before it did, the first.
    earliest_out: Option<Seq>,
    /// Conflicts with transactions of which only a summary is left.
    summary_in: bool,
    summary_out: bool,
    /// Of a read-only one: writers that may yet make its snapshot unsafe. Of a writer: those that it may make so.
    possible: SmallVec<[Id; 2]>,
}

impl Node {
    fn prepared(&self) -> Option<Seq> {
        match self.state {
            State::Running => None,
            State::Prepared(seq) | State::Committed(seq, _) => Some(seq),
        }
    }

    fn committed(&self) -> Option<Seq> {
        match self.state {
            State::Committed(_, seq) => Some(seq),
            _ => None,
        }
    }

    fn is_doomed(&self) -> bool {
        self.member.is_doomed()
    }

    /// Whether a transaction with this number was concurrent, if it writes, or in its snapshot, if it does not: what of it matters.
    fn may_follow(&self, first: Seq) -> bool {
        self.committed().is_none_or(|committed| first <= committed) && (!self.read_only || first <= self.seen)
    }
}

/// What is to be done after the graph's lock is released.
#[derive(Default)]
pub(super) struct After {
    /// Their locks are needed no more.
    pub released: Vec<Arc<Member>>,
    /// It is known now whether their snapshots are safe.
    pub settled: Vec<Arc<Member>>,
    /// Summaries up to this number are forgotten.
    pub forgotten: Option<Seq>,
}

pub(super) struct Graph {
    nodes: FxHashMap<Id, Node>,
    by_xid: FxHashMap<Xid, Id>,
    active: BTreeSet<(Seq, Id)>,
    writers: BTreeSet<(Seq, Id)>,
    ended: VecDeque<(Seq, Id)>,
    released: usize,
    last_seq: Seq,
    last_id: u64,
    summary: Summary,
    /// Ended ones for which there is room.
    most_ended: usize,
}

impl Graph {
    pub fn new(most_ended: usize) -> Graph {
        Graph {
            nodes: FxHashMap::default(),
            by_xid: FxHashMap::default(),
            active: BTreeSet::new(),
            writers: BTreeSet::new(),
            ended: VecDeque::new(),
            released: 0,
            last_seq: FIRST + 1,
            last_id: 0,
            summary: Summary::default(),
            most_ended,
        }
    }

    fn next_seq(&mut self) -> Seq {
        self.last_seq += 1;
        self.last_seq
    }

    fn node(&self, id: Id) -> Option<&Node> {
        self.nodes.get(&id)
    }

    // Beginnings

    /// A transaction begins; its snapshot is taken now, or was when `seen` was the last number. `None` if it is read-only and can be part of no anomaly.
    pub fn begin(
        &mut self,
        who: Who,
        xid: Option<Xid>,
        read_only: bool,
        seen: Option<Seq>,
    ) -> Option<Arc<Member>> {
        if read_only && self.writers.is_empty() {
            return None;
        }
        let seen = seen.unwrap_or(self.last_seq);
        let id = self.insert(who, seen, State::Running, read_only);
        if read_only {
            self.watch_writers(id);
            if self.nodes[&id].possible.is_empty() {
                self.remove(id);
                return None;
            }
        }
        if let Some(xid) = xid {
            self.set_xid(id, xid);
        }
        Some(self.nodes[&id].member.clone())
    }

    fn insert(&mut self, who: Who, seen: Seq, state: State, read_only: bool) -> Id {
        self.last_id += 1;
        let id = Id(self.last_id);
        let node = Node {
            member: Arc::new(Member::new(id)),
            who,
            seen,
            state,
            xid: Xid::INVALID,
            read_only,
            declared_read_only: read_only,
            waits: false,
            ins: SmallVec::new(),
            outs: SmallVec::new(),
            earliest_out: None,
            summary_in: false,
            summary_out: false,
            possible: SmallVec::new(),
        };
        self.nodes.insert(id, node);
        self.active.insert((seen, id));
        if !read_only {
            self.writers.insert((seen, id));
        }
        id
    }

    /// The transaction has this xid: before it writes anything.
    pub fn set_xid(&mut self, id: Id, xid: Xid) {
        if let Some(node) = self.nodes.get_mut(&id) {
            node.xid = xid;
            self.by_xid.insert(xid, id);
        }
    }

    /// A prepared transaction from before a restart.
    pub fn restore(&mut self, xid: Xid, who: Who) -> Arc<Member> {
        let id = self.insert(who, FIRST, State::Prepared(FIRST), false);
        self.set_xid(id, xid);
        let node = self.nodes.get_mut(&id).expect("it was inserted");
        (node.summary_in, node.summary_out) = (true, true);
        node.member.note_write();
        node.member.clone()
    }

    /// The transaction is another's business now (PREPARE TRANSACTION).
    pub fn set_owner(&mut self, id: Id, who: Who) {
        if let Some(node) = self.nodes.get_mut(&id) {
            node.who = who;
        }
    }

    /// The number of a transaction's snapshot.
    pub fn seen(&self, id: Id) -> Option<Seq> {
        self.node(id).map(|node| node.seen)
    }

    // Conflicts

    /// A reader met what `xid`, whom its snapshot does not see, wrote.
    pub fn conflict_out(&mut self, me: Id, xid: Xid) -> Result<(), Reason> {
        let Some(&writer) = self.by_xid.get(&xid) else { return self.conflict_out_to_old(me, xid) };
        if writer == me {
            return Ok(());
        }
        let (Some(reader), Some(node)) = (self.node(me), self.node(writer)) else { return Ok(()) };
        if node.is_doomed() {
            return Ok(());
        }
        if node.summary_out {
            return match node.prepared() {
                Some(_) => Err(Reason::ReadFromOldPivot(None)),
                None => {
                    node.member.doom();
                    Ok(())
                }
            };
        }
        // A read-only transaction fits before or after the writer, unless its snapshot sees a transaction that must come after the writer.
        if reader.read_only
            && node.committed().is_some()
            && node.earliest_out.is_none_or(|first| reader.seen < first)
        {
            return Ok(());
        }
        if reader.outs.contains(&writer) {
            return Ok(());
        }
        self.flag(me, me, writer)
    }

    /// The same where the writer is no node: it may be one of those that are known in summary.
    fn conflict_out_to_old(&mut self, me: Id, xid: Xid) -> Result<(), Reason> {
        let Some(known) = self.summary.get(xid) else { return Ok(()) };
        let Some(reader) = self.nodes.get_mut(&me) else { return Ok(()) };
        if let Known::Before(first) = known
            && (!reader.read_only || first <= reader.seen)
        {
            return Err(Reason::ReadFromOldPivot(Some(xid)));
        }
        if reader.summary_in || !reader.ins.is_empty() {
            return Err(Reason::PivotBeforeOld(xid));
        }
        reader.summary_out = true;
        Ok(())
    }

    /// A writer changed what `readers` have read, and those of whom only a summary is left: the last of them committed with the number `old`.
    pub fn conflicts_in(&mut self, me: Id, readers: &[Id], old: Seq) -> Result<(), Reason> {
        let Some(writer) = self.node(me) else { return Ok(()) };
        let seen = writer.seen;
        if old > seen {
            self.conflict_in_from_old(me, old)?;
        }
        for &reader in readers {
            let Some(node) = self.node(reader) else { continue };
            let concurrent = node.committed().is_none_or(|committed| committed > seen);
            if concurrent && !node.is_doomed() && !node.outs.contains(&me) {
                self.flag(me, reader, me)?;
            }
        }
        Ok(())
    }

    fn conflict_in_from_old(&mut self, me: Id, old: Seq) -> Result<(), Reason> {
        let writer = &self.nodes[&me];
        let follows = |first: Option<Seq>| first.is_some_and(|first| first <= old);
        let pivot = writer.summary_out
            || writer.outs.iter().any(|out| follows(self.node(*out).and_then(Node::prepared)));
        if pivot {
            return Err(Reason::PivotByWrite);
        }
        self.nodes.get_mut(&me).expect("it is there").summary_in = true;
        Ok(())
    }

    /// Records a conflict, unless it makes a transaction fail: the writer, if that is possible.
    fn flag(&mut self, me: Id, reader: Id, writer: Id) -> Result<(), Reason> {
        if self.is_dangerous(reader, writer) {
            let node = &self.nodes[&writer];
            if writer == me {
                return Err(Reason::PivotByWrite);
            }
            if node.prepared().is_some() {
                return Err(Reason::ReadFromPivot(node.xid));
            }
            node.member.doom();
        }
        self.nodes.get_mut(&reader).expect("both are there").outs.push(writer);
        self.nodes.get_mut(&writer).expect("both are there").ins.push(reader);
        Ok(())
    }

    /// Whether a conflict from `reader` to `writer` is one of two that follow one another, the last of the three the first to commit.
    fn is_dangerous(&self, reader: Id, writer: Id) -> bool {
        let (r, w) = (&self.nodes[&reader], &self.nodes[&writer]);
        // The writer is the pivot: a transaction after it committed, or will, before both others.
        if w.summary_out || w.committed().is_some() && w.earliest_out.is_some() {
            return true;
        }
        let last = |id: &Id| {
            let first = self.node(*id).and_then(Node::prepared);
            first.is_some_and(|first| {
                r.may_follow(first) && w.committed().is_none_or(|committed| first <= committed)
            })
        };
        if w.outs.iter().any(last) {
            return true;
        }
        // The reader in the middle: the writer is the first to commit.
        let Some(first) = w.prepared().filter(|_| !r.read_only) else { return false };
        r.summary_in
            || r.ins.iter().filter_map(|id| self.node(*id)).any(|t0| {
                !t0.is_doomed()
                    && t0.committed().is_none_or(|committed| committed >= first)
                    && (!t0.read_only || t0.seen >= first)
            })
    }

    // Ends

    /// Whether the transaction may commit; if so, it will: others are cancelled for it.
    pub fn prepare(&mut self, me: Id) -> Result<(), Reason> {
        let seq = self.next_seq();
        let Some(node) = self.node(me) else { return Ok(()) };
        node.member.check(Reason::PivotSeenCommitting)?;
        for near in node.ins.iter().filter_map(|id| self.node(*id)) {
            if near.committed().is_some() || near.is_doomed() {
                continue;
            }
            let far = |id: &Id| {
                *id == me
                    || self
                        .node(*id)
                        .is_some_and(|far| far.committed().is_none() && !far.read_only && !far.is_doomed())
            };
            if self.has_forgotten_readers(near) || near.ins.iter().any(far) {
                if near.prepared().is_some() {
                    return Err(Reason::PreparedPivot);
                }
                near.member.doom();
            }
        }
        let node = self.nodes.get_mut(&me).expect("it is there");
        node.state = State::Prepared(seq);
        Ok(())
    }

    /// Whether a transaction is a prepared one from before a restart, and others are that could have read what it wrote anew.
    fn has_forgotten_readers(&self, node: &Node) -> bool {
        node.seen == FIRST && self.active.iter().take_while(|active| active.0 == FIRST).count() > 1
    }

    /// The transaction has committed: every snapshot that is taken now sees it.
    pub fn commit(&mut self, me: Id) -> After {
        let mut after = After::default();
        let seq = self.next_seq();
        let Some(node) = self.nodes.get_mut(&me) else { return after };
        let first = node.prepared().unwrap_or(seq);
        node.state = State::Committed(first, seq);
        node.read_only |= !node.member.wrote();
        if !node.read_only {
            self.note_earliest_out(me);
        }
        self.drop_settled_edges(me);
        self.leave(me, true, &mut after);
        self.ended.push_back((seq, me));
        self.clean(&mut after);
        after
    }

    /// Notes the first of those that `me` is in conflict with and that committed before it.
    fn note_earliest_out(&mut self, me: Id) {
        let node = &self.nodes[&me];
        let committed = |id: &Id| self.node(*id).filter(|out| out.committed().is_some());
        let outs = node.outs.iter().filter_map(committed).filter_map(Node::prepared);
        let summary = node.summary_out.then_some(FIRST);
        let earliest = outs.chain(summary).min();
        self.nodes.get_mut(&me).expect("it is there").earliest_out = earliest;
    }

    /// After a commit: conflicts with others that ended are settled.
    fn drop_settled_edges(&mut self, me: Id) {
        let node = &self.nodes[&me];
        let has_ended = |id: &Id| self.node(*id).is_none_or(|other| other.committed().is_some());
        let outs: SmallVec<[Id; 4]> = node.outs.iter().copied().filter(has_ended).collect();
        let ended_or_reads = |id: &Id| has_ended(id) || self.nodes[id].read_only;
        let ins: SmallVec<[Id; 4]> = node.ins.iter().copied().filter(ended_or_reads).collect();
        outs.iter().for_each(|out| self.drop_edge(me, *out));
        ins.iter().for_each(|reader| self.drop_edge(*reader, me));
    }

    fn drop_edge(&mut self, reader: Id, writer: Id) {
        if let Some(node) = self.nodes.get_mut(&reader) {
            node.outs.retain(|id| *id != writer);
        }
        if let Some(node) = self.nodes.get_mut(&writer) {
            node.ins.retain(|id| *id != reader);
        }
    }

    /// The transaction was rolled back.
    pub fn abort(&mut self, me: Id) -> After {
        let mut after = After::default();
        if self.nodes.contains_key(&me) {
            self.leave(me, false, &mut after);
            after.released.extend(self.remove(me));
            self.clean(&mut after);
        }
        after
    }

    /// It has ended: notifies read-only transactions that it could have made unsafe.
    fn leave(&mut self, me: Id, committed: bool, after: &mut After) {
        let node = self.nodes.get_mut(&me).expect("it is there");
        let (seen, declared) = (node.seen, node.declared_read_only);
        let possible = std::mem::take(&mut node.possible);
        let first = node.earliest_out.filter(|_| committed && node.member.wrote());
        self.active.remove(&(seen, me));
        self.writers.remove(&(seen, me));
        for other in possible {
            match declared {
                true => self.stop_watching(me, other),
                false => self.tell_reader(other, me, first, after),
            }
        }
    }

    /// Takes a node out with all its edges.
    fn remove(&mut self, id: Id) -> Option<Arc<Member>> {
        let node = self.nodes.remove(&id)?;
        node.outs.iter().for_each(|out| self.drop_edge(id, *out));
        node.ins.iter().for_each(|reader| self.drop_edge(*reader, id));
        if node.xid.is_valid() {
            self.by_xid.remove(&node.xid);
        }
        self.active.remove(&(node.seen, id));
        self.writers.remove(&(node.seen, id));
        for other in &node.possible {
            self.stop_watching(id, *other);
        }
        Some(node.member)
    }

    /// Forgets transactions that can no longer form a cycle with a running one.
    fn clean(&mut self, after: &mut After) {
        let needed_by_writers = self.writers.first().map_or(Seq::MAX, |first| first.0);
        while let Some(&(seq, id)) =
            self.ended.get(self.released).filter(|ended| ended.0 <= needed_by_writers)
        {
            debug_assert!(seq > 0);
            self.released += 1;
            let Some(node) = self.node(id) else { continue };
            after.released.push(node.member.clone());
            // Its locks were all that could still matter of it.
            if node.read_only {
                self.remove(id);
            }
        }
        let needed = self.active.first().map_or(Seq::MAX, |first| first.0);
        while self.ended.front().is_some_and(|ended| ended.0 <= needed) {
            self.pop_ended();
        }
        after.forgotten = self.summary.forget_before(needed);
    }

    fn pop_ended(&mut self) -> Option<Arc<Member>> {
        let (_, id) = self.ended.pop_front()?;
        self.released = self.released.saturating_sub(1);
        self.remove(id)
    }

    // Memory

    /// Whether there are more ended transactions than there is room for.
    pub fn is_full(&self) -> bool {
        self.ended.len() > self.most_ended
    }

    /// The one that ended first, and its number.
    pub fn oldest_ended(&self) -> Option<(Arc<Member>, Seq)> {
        let mut ended = self.ended.iter();
        ended.find_map(|(seq, id)| self.node(*id).map(|node| (node.member.clone(), *seq)))
    }

    /// Keeps of the one that ended first only a summary.
    pub fn summarise_oldest(&mut self) {
        while let Some(&(seq, id)) = self.ended.front() {
            if let Some(node) = self.nodes.get(&id) {
                let (ins, outs) = (node.ins.clone(), node.outs.clone());
                match node.xid.is_valid() && !node.read_only {
                    true => self.summary.add(node.xid, node.earliest_out, seq),
                    false => self.summary.add_reader(seq),
                }
                for reader in ins {
                    self.nodes.get_mut(&reader).expect("edges lead to nodes").summary_out = true;
                }
                for writer in outs {
                    self.nodes.get_mut(&writer).expect("edges lead to nodes").summary_in = true;
                }
                self.pop_ended();
                return;
            }
            self.pop_ended();
        }
    }

    // Views

    /// All transactions that may have locks.
    pub fn members(&self) -> Vec<Arc<Member>> {
        self.nodes.values().map(|node| node.member.clone()).collect()
    }

    /// Of all nodes there are so many.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    #[cfg(test)]
    pub fn is_declared_read_only(&self, id: Id) -> bool {
        self.node(id).is_none_or(|node| node.declared_read_only)
    }

    /// The same, with their owners.
    pub fn members_with_owners(&self) -> Vec<(Arc<Member>, Who)> {
        self.nodes.values().map(|node| (node.member.clone(), node.who)).collect()
    }

    /// See [`super::Serializable::safe_snapshot_blockers`].
    pub fn blockers(&self, session: SessionId) -> Vec<SessionId> {
        let waiter = self.nodes.values().find(|node| node.waits && node.who.session == session);
        let possible = waiter.into_iter().flat_map(|node| &node.possible);
        possible.filter_map(|id| self.node(*id)).map(|node| node.who.session).collect()
    }
}

// Safe snapshots: see `safe`.
impl Graph {
    /// A read-only transaction begins: all writers that run now may make its snapshot unsafe.
    fn watch_writers(&mut self, reader: Id) {
        let writers: Vec<Id> = self.writers.iter().map(|writer| writer.1).collect();
        for writer in writers {
            let node = self.nodes.get_mut(&writer).expect("writers are nodes");
            if node.is_doomed() {
                continue;
            }
            node.possible.push(reader);
            self.nodes.get_mut(&reader).expect("it was inserted").possible.push(writer);
        }
    }

    fn stop_watching(&mut self, one: Id, other: Id) {
        if let Some(node) = self.nodes.get_mut(&other) {
            node.possible.retain(|id| *id != one);
        }
    }

    /// A writer has ended; it is in conflict with one that committed as `first` of all.
    fn tell_reader(&mut self, reader: Id, writer: Id, first: Option<Seq>, after: &mut After) {
        let Some(node) = self.nodes.get_mut(&reader) else { return };
        node.possible.retain(|id| *id != writer);
        if first.is_some_and(|first| first <= node.seen) {
            node.member.set_safe(false);
            after.settled.push(node.member.clone());
            let watched = std::mem::take(&mut node.possible);
            watched.into_iter().for_each(|other| self.stop_watching(reader, other));
        } else if node.possible.is_empty() && !node.member.is_unsafe() {
            node.member.set_safe(true);
            after.settled.push(node.member.clone());
            after.released.extend(self.remove(reader));
        }
    }

    /// A transaction waits for its snapshot to be safe.
    pub fn set_waits(&mut self, id: Id) {
        if let Some(node) = self.nodes.get_mut(&id) {
            node.waits = true;
        }
    }
}
