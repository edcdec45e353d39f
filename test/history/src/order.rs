//! What · The check: is there one order of commits that explains what everybody saw?
//!
//! A snapshot is a moment in the order of commits: it shows what committed before, and nothing of what committed after. So each commit, each
//! snapshot and each moment of the clients' time is a node of a graph, and what must come first has an edge to the other:
//!
//! * who appended the last element that a snapshot shows, to the snapshot; the snapshot to who appended the next;
//! * who appended an element to who appended the one behind it: nobody writes over what has not committed;
//! * who appended the element before a REPEATABLE READ transaction's own to that one's snapshot: it changes nothing that it does not see;
//! * what was sent after a moment, and what was answered before it, to their side of it;
//! * a standby's snapshot, which may be old, to a later one of the same connection.
//!
//! A cycle is an anomaly, and there is no other kind: dirty writes, intermediate reads, cyclic information flow, read skew, lost updates, and
//! observers that disagree on the order of commits (the long fork) are cycles, and so is a snapshot that misses what was acknowledged
//! before it was asked for. Beside the graph stands what no order could explain: elements of the rolled back, or missing ones.
//!
//! READ COMMITTED differs from REPEATABLE READ only in that each statement has a snapshot of its own.

use std::fmt;

use crate::record::{Fate, History, SnapshotId, Span, Transaction, TxnId};
use crate::{LISTS, fork};

/// What a good history was made of.
#[derive(Clone, Copy, Debug, Default)]
pub struct Report {
    /// Transactions that committed.
    pub committed: usize,
    /// Transactions that were rolled back.
    pub rolled_back: usize,
    /// Elements in all lists.
    pub elements: usize,
    /// Snapshots.
    pub snapshots: usize,
    /// Those of them that standbys showed.
    pub at_standbys: usize,
}

/// A node, by what it stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Node {
    Commit(usize),
    Snapshot(usize),
    Moment(u64),
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Node::Commit(n) => write!(f, "commit of transaction {n}"),
            Node::Snapshot(n) => write!(f, "snapshot {n}"),
            Node::Moment(n) => write!(f, "moment {n}"),
        }
    }
}

/// Why one node comes before the other.
#[derive(Clone, Copy)]
enum Why {
    /// The list's element of this number is seen.
    Seen(u32, usize),
    /// It is not.
    NotSeen(u32, usize),
    /// It is behind the other's.
    Behind(u32, usize),
    /// REPEATABLE READ appended it.
    Appended(u32, usize),
    /// Clients know.
    Time,
    /// A standby goes forward only.
    Forward,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::Seen(list, at) => write!(f, "sees element {at} of list {list}"),
            Why::NotSeen(list, at) => write!(f, "does not see element {at} of list {list}"),
            Why::Behind(list, at) => write!(f, "element {at} of list {list} is behind"),
            Why::Appended(list, at) => write!(f, "appended element {at} of list {list} to what it saw"),
            Why::Time => write!(f, "in time"),
            Why::Forward => write!(f, "on a standby"),
        }
    }
}

/// Checks a history whose transactions all ended. The message tells the first thing that cannot be.
pub fn check(history: &History) -> Result<Report, String> {
    if let Some(first) = history.violations.first() {
        return Err(format!("{first} (and {} more)", history.violations.len() - 1));
    }
    check_elements(history)?;
    let mut graph = Graph::new(history)?;
    graph.add_lists(history);
    graph.add_snapshots(history);
    graph.add_time(history);
    // Each way of looking must do without the other.
    match (graph.sort(), fork::find(history)) {
        (Ok(()), None) => {}
        (Ok(()), Some(fork)) => return Err(fork.to_string()),
        (Err(cycle), None) => return Err(cycle),
        (Err(cycle), Some(fork)) => return Err(format!("{cycle}\n{fork}")),
    }
    let count = |fate: fn(&Fate) -> bool| history.transactions.iter().filter(|t| fate(&t.fate)).count();
    Ok(Report {
        committed: count(|fate| matches!(fate, Fate::Committed(_))),
        rolled_back: count(|fate| *fate == Fate::RolledBack),
        elements: history.orders.iter().map(Vec::len).sum(),
        snapshots: history.snapshots.len(),
        at_standbys: history.snapshots.iter().filter(|snapshot| snapshot.of_standby).count(),
    })
}

/// The lists have what committed transactions appended, each once and in their order, and nothing else.
fn check_elements(history: &History) -> Result<(), String> {
    let mut found = vec![0; history.transactions.len()];
    for (list, order) in history.orders.iter().enumerate() {
        for &element in order {
            let Some(&TxnId(writer)) = history.writers.get(&(list as u32, element)) else {
                return Err(format!("list {list}: nobody appended {element}"));
            };
            let txn = &history.transactions[writer];
            if !matches!(txn.fate, Fate::Committed(_)) {
                return Err(format!(
                    "list {list}: {element} is of transaction {writer}, which is {:?}",
                    txn.fate
                ));
            }
            if !txn.appends.iter().any(|a| (a.list as usize, a.element) == (list, element)) {
                return Err(format!("list {list}: {element} was rolled back within transaction {writer}"));
            }
            found[writer] += 1;
        }
    }
    for (n, txn) in history.transactions.iter().enumerate() {
        match txn.fate {
            Fate::Committed(_) if found[n] != txn.appends.len() => {
                return Err(format!(
                    "{} elements of transaction {n} are in the lists, it committed {:?}",
                    found[n], txn.appends
                ));
            }
            Fate::Committed(_) => check_places(history, n, txn)?,
            Fate::RolledBack => {}
            other => return Err(format!("transaction {n} is still {other:?}")),
        }
    }
    Ok(())
}

/// A transaction's elements are where it knew that they would be: behind one another, and the first behind those that it saw while it held
/// the row.
fn check_places(history: &History, n: usize, txn: &Transaction) -> Result<(), String> {
    let mut next = [None; LISTS as usize];
    for append in &txn.appends {
        let list = append.list as usize;
        let at = history.orders[list].iter().position(|&element| element == append.element);
        let expected = next[list].or(append.after);
        if expected.is_some() && expected != at {
            return Err(format!(
                "list {list}: element {} of transaction {n} is at {at:?}, not at {expected:?}",
                append.element
            ));
        }
        next[list] = at.map(|at| at + 1);
    }
    Ok(())
}

/// Nodes by number: commits, snapshots, moments.
struct Graph {
    commits: usize,
    snapshots: usize,
    last_moment: u64,
    /// Edges from each node.
    edges: Vec<Vec<(usize, Why)>>,
    /// Writer of each element of each list.
    writers: Vec<Vec<usize>>,
}

impl Graph {
    fn new(history: &History) -> Result<Graph, String> {
        let writer = |list: usize, element: u64| {
            let found = history.writers.get(&(list as u32, element));
            found.map(|id| id.0).ok_or_else(|| format!("list {list}: nobody appended {element}"))
        };
        let writers = history.orders.iter().enumerate();
        let writers = writers.map(|(list, order)| order.iter().map(|&e| writer(list, e)).collect());
        let ends = |span: Span| span.answered;
        let taken = history.snapshots.iter().map(|s| ends(s.taken));
        let committed = history.transactions.iter().filter_map(|t| match t.fate {
            Fate::Committed(span) => Some(ends(span)),
            _ => None,
        });
        let last_moment = taken.chain(committed).max().unwrap_or(0);
        let (commits, snapshots) = (history.transactions.len(), history.snapshots.len());
        let edges = vec![Vec::new(); commits + snapshots + last_moment as usize + 1];
        Ok(Graph { commits, snapshots, edges, writers: writers.collect::<Result<_, _>>()?, last_moment })
    }

    fn number(&self, node: Node) -> usize {
        match node {
            Node::Commit(n) => n,
            Node::Snapshot(n) => self.commits + n,
            Node::Moment(n) => self.commits + self.snapshots + n as usize,
        }
    }

    fn node(&self, number: usize) -> Node {
        match number.checked_sub(self.commits) {
            None => Node::Commit(number),
            Some(n) if n < self.snapshots => Node::Snapshot(n),
            Some(n) => Node::Moment((n - self.snapshots) as u64),
        }
    }

    fn add(&mut self, before: Node, after: Node, why: Why) {
        let (before, after) = (self.number(before), self.number(after));
        self.edges[before].push((after, why));
    }

    /// The lists' own order, and what REPEATABLE READ says about it.
    fn add_lists(&mut self, history: &History) {
        for list in 0..self.writers.len() {
            for at in 1..self.writers[list].len() {
                let (before, after) = (self.writers[list][at - 1], self.writers[list][at]);
                if before == after {
                    continue;
                }
                self.add(Node::Commit(before), Node::Commit(after), Why::Behind(list as u32, at));
                if let Some(snapshot) = history.transactions[after].snapshot {
                    self.add(
                        Node::Commit(before),
                        Node::Snapshot(snapshot.0),
                        Why::Appended(list as u32, at),
                    );
                }
            }
        }
    }

    fn add_snapshots(&mut self, history: &History) {
        for (n, snapshot) in history.snapshots.iter().enumerate() {
            if let Some(SnapshotId(before)) = snapshot.behind {
                self.add(Node::Snapshot(before), Node::Snapshot(n), Why::Forward);
            }
            for seen in &snapshot.seen {
                let writers = &self.writers[seen.list as usize];
                let last = seen.length.checked_sub(1).map(|at| (writers[at], at));
                let next = writers.get(seen.length).copied();
                if let Some((writer, at)) = last {
                    self.add(Node::Commit(writer), Node::Snapshot(n), Why::Seen(seen.list, at));
                }
                if let Some(writer) = next {
                    let why = Why::NotSeen(seen.list, seen.length);
                    self.add(Node::Snapshot(n), Node::Commit(writer), why);
                }
            }
        }
    }

    fn add_time(&mut self, history: &History) {
        for moment in 0..self.last_moment {
            self.add(Node::Moment(moment), Node::Moment(moment + 1), Why::Time);
        }
        let mut within = |node: Node, span: Span| {
            self.add(Node::Moment(span.sent), node, Why::Time);
            self.add(node, Node::Moment(span.answered), Why::Time);
        };
        for (n, snapshot) in history.snapshots.iter().enumerate() {
            within(Node::Snapshot(n), snapshot.taken);
        }
        for (n, txn) in history.transactions.iter().enumerate() {
            if let Fate::Committed(span) = txn.fate {
                within(Node::Commit(n), span);
            }
        }
    }

    /// Takes away what nothing comes before, until nothing is left; a cycle is what stays.
    fn sort(&self) -> Result<(), String> {
        let mut before = vec![0u32; self.edges.len()];
        for (after, _) in self.edges.iter().flatten() {
            before[*after] += 1;
        }
        let mut free: Vec<usize> = (0..before.len()).filter(|&n| before[n] == 0).collect();
        let mut sorted = 0;
        while let Some(node) = free.pop() {
            sorted += 1;
            for &(after, _) in &self.edges[node] {
                before[after] -= 1;
                if before[after] == 0 {
                    free.push(after);
                }
            }
        }
        if sorted == before.len() { Ok(()) } else { Err(self.describe_cycle(&before)) }
    }

    /// The shortest cycle through one of the nodes that are left.
    fn describe_cycle(&self, before: &[u32]) -> String {
        let left: Vec<usize> = (0..before.len()).filter(|&n| before[n] > 0).collect();
        let no_moment = |n: &&usize| !matches!(self.node(**n), Node::Moment(_));
        // Enough to find a short one.
        let cycles =
            left.iter().filter(no_moment).take(100).filter_map(|&start| self.cycle_through(start, before));
        let Some(cycle) = cycles.min_by_key(Vec::len) else {
            return "a cycle among moments".into();
        };
        let mut text = String::from("no order of commits explains this:");
        for (from, to, why) in cycle {
            // A way through time is told by its two ends.
            if let (Node::Moment(_), Node::Moment(_)) = (self.node(from), self.node(to)) {
                continue;
            }
            text += &format!("\n  {} before {} ({why})", self.node(from), self.node(to));
        }
        text
    }

    fn cycle_through(&self, start: usize, before: &[u32]) -> Option<Vec<(usize, usize, Why)>> {
        let mut came_from: Vec<Option<(usize, Why)>> = vec![None; self.edges.len()];
        let mut queue = std::collections::VecDeque::from([start]);
        while let Some(node) = queue.pop_front() {
            for &(after, why) in self.edges[node].iter().filter(|(after, _)| before[*after] > 0) {
                if came_from[after].is_some() {
                    continue;
                }
                came_from[after] = Some((node, why));
                if after == start {
                    return Some(walk_back(start, &came_from));
                }
                queue.push_back(after);
            }
        }
        None
    }
}

fn walk_back(start: usize, came_from: &[Option<(usize, Why)>]) -> Vec<(usize, usize, Why)> {
    let mut path = Vec::new();
    let mut at = start;
    while let Some((from, why)) = came_from[at] {
        path.push((from, at, why));
        at = from;
        if at == start {
            break;
        }
    }
    path.reverse();
    path
}

#[cfg(test)]
#[path = "order_tests.rs"]
mod tests;
