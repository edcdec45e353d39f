//! What · Deadlock detection over the main lock table.
//!
//! A session that has waited for `deadlock_timeout` looks for a cycle of waits that leads back to it. A wait for a holder is a
//! hard edge; a wait for somebody queued ahead with a conflicting request is a soft one. A cycle of hard edges only is a
//! deadlock, and the session that looks is its victim, of this cycle alone. A cycle with soft edges may vanish when the queue is changed:
//! the waiter of a soft edge goes ahead of its blocker, if that leaves neither of them in another cycle. A cycle of hard edges between other sessions is ignored: the change
//! of a queue did not make it, and the session that closed it looks for it itself.
//!
//! Locks · All partitions of the main table, ascending: nothing moves while it looks.
//!
//! PostgreSQL counterpart · `deadlock.c`. Differences: soft edges are turned one by one and the cycle searched again, instead
//! of sorting whole queues by constraints; no lock groups.

use parking_lot::MutexGuard;
use rustc_hash::FxHashSet;

use crate::SessionId;
use crate::lock::{DeadlockEdge, LockManager, LockTag, Partition};

/// Turned soft edges that may lie on one another before a deadlock is declared.
const TURNS: usize = 8;

struct Edge {
    edge: DeadlockEdge,
    soft: bool,
    /// The blocker is queued for the same mode: whomever it waits for in the queue, the waiter does too.
    alike: bool,
}

struct Graph<'a> {
    manager: &'a LockManager,
    partitions: Vec<MutexGuard<'a, Partition>>,
    changed: Vec<LockTag>,
}

impl LockManager {
    /// Fails with the cycle that `start` waits in, unless turning soft edges resolves it. Whether some were turned.
    pub(crate) fn check_deadlock(&self, start: SessionId) -> Result<bool, Vec<DeadlockEdge>> {
        let mut graph = Graph { manager: self, partitions: self.lock_all(), changed: Vec::new() };
        if let Err(cycle) = graph.resolve(&[start], TURNS) {
            // The victim counts as waiting for nothing from now on, although it has yet to leave its queue, so that the next search does not choose a second victim.
            self.has_waited(start);
            return Err(cycle);
        }
        let changed = std::mem::take(&mut graph.changed);
        let turned = !changed.is_empty();
        for tag in changed {
            if let Some(lock) = graph.lock_mut(tag) {
                lock.wake(tag);
            }
        }
        Ok(turned)
    }
}

impl Graph<'_> {
    fn lock_mut(&mut self, tag: LockTag) -> Option<&mut crate::lock::Lock> {
        self.partitions[LockManager::part_of(&tag)].locks.get_mut(&tag)
    }

    /// Whom `session` waits for, hard edges first; without those who are queued ahead of it if they do not matter.
    fn edges(&self, session: SessionId, queued: bool) -> Vec<Edge> {
        let found = self.manager.waits_for(session).and_then(|tag| {
            let lock = self.partitions[LockManager::part_of(&tag)].locks.get(&tag)?;
            let at = lock.queue.iter().position(|waiter| waiter.session == session)?;
            Some((tag, lock, at))
        });
        let Some((tag, lock, at)) = found else { return Vec::new() };
        let mode = lock.queue[at].mode;
        let edge = |blocker, soft, alike| {
            let edge = DeadlockEdge { waiter: session, tag, mode, blocker };
            Edge { edge, soft, alike }
        };
        let holds =
            lock.holders.iter().filter(|holder| holder.0 != session && holder.1 & mode.conflicts() != 0);
        let ahead = lock.queue.iter().take(if queued { at } else { 0 });
        let ahead = ahead.filter(|waiter| waiter.mode.bit() & mode.conflicts() != 0);
        holds
            .map(|holder| edge(holder.0, false, false))
            .chain(ahead.map(|waiter| edge(waiter.session, true, waiter.mode == mode)))
            .collect()
    }

    /// A cycle through `start`; with `soft`, one that has a soft edge.
    fn cycle(&self, start: SessionId, soft: bool) -> Option<Vec<Edge>> {
        // Whom the path has come to, and whether by a soft edge.
        let mut seen = FxHashSet::default();
        // Depth first, with the path's edges on an explicit stack: chains of waits can be long.
        let mut path: Vec<Edge> = Vec::new();
        let mut softened = vec![false];
        let mut open = vec![self.edges(start, true).into_iter()];
        while let Some(edges) = open.last_mut() {
            let Some(edge) = edges.next() else {
                open.pop();
                softened.pop();
                path.pop();
                continue;
            };
            let blocker = edge.edge.blocker;
            let by_soft = edge.soft || softened.last() == Some(&true);
            if blocker == start {
                if by_soft || !soft {
                    path.push(edge);
                    return Some(path);
                }
            } else if seen.insert((blocker, by_soft)) {
                open.push(self.edges(blocker, !edge.alike).into_iter());
                softened.push(by_soft);
                path.push(edge);
            }
        }
        None
    }

    /// Turns soft edges until the first of `sessions` is in no cycle, and the others, who were turned, in none with a soft edge; otherwise leaves the queues alone and gives
    /// the cycle.
    fn resolve(&mut self, sessions: &[SessionId], turns: usize) -> Result<(), Vec<DeadlockEdge>> {
        let mut each = sessions.iter().enumerate();
        let Some(cycle) = each.find_map(|(n, &session)| self.cycle(session, n > 0)) else { return Ok(()) };
        let soft: Vec<DeadlockEdge> =
            cycle.iter().filter(|edge| edge.soft).map(|edge| edge.edge.clone()).collect();
        if turns > 0 {
            for edge in soft {
                let Some(before) = self.turn(&edge) else { continue };
                let mut next = sessions.to_vec();
                next.extend([edge.waiter, edge.blocker].iter().filter(|session| !sessions.contains(session)));
                if self.resolve(&next, turns - 1).is_ok() {
                    self.changed.push(edge.tag);
                    return Ok(());
                }
                if let Some(lock) = self.lock_mut(edge.tag) {
                    lock.queue = before;
                }
            }
        }
        Err(cycle.into_iter().map(|edge| edge.edge).collect())
    }

    /// Moves the waiter ahead of its blocker; gives the queue as it was.
    fn turn(
        &mut self,
        edge: &DeadlockEdge,
    ) -> Option<std::collections::VecDeque<std::sync::Arc<crate::lock::Waiter>>> {
        let lock = self.lock_mut(edge.tag)?;
        let waiter = lock.queue.iter().position(|waiter| waiter.session == edge.waiter)?;
        let blocker = lock.queue.iter().position(|waiter| waiter.session == edge.blocker)?;
        if blocker > waiter {
            return None;
        }
        let before = lock.queue.clone();
        let moved = lock.queue.remove(waiter)?;
        lock.queue.insert(blocker, moved);
        Some(before)
    }
}
