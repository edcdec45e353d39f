//! What · The check of SERIALIZABLE: is there one order of those transactions, each of them at one moment, that explains all that they saw and did?
//!
//! The order need not be that of the commits. Each committed transaction is a node, and what must come first has an edge to the other:
//!
//! * who appended the last element that another saw of a list, to that one; and that one to who appended the next;
//! * who appended an element to who appended the one behind it.
//!
//! Only neighbours count: what stands between them by transactions of lower levels is nobody's promise. A cycle is an anomaly: write skew, or a report of what
//! never was.

use std::fmt::Write;

use crate::record::{Fate, History};

/// Checks the serializable transactions of a history in which all transactions have ended.
pub fn check(history: &History) -> Result<(), String> {
    let edges = edges(history);
    let mut before = vec![0_u32; edges.len()];
    edges.iter().flatten().for_each(|edge| before[edge.0] += 1);
    let mut free: Vec<usize> = (0..before.len()).filter(|&n| before[n] == 0).collect();
    let mut sorted = 0;
    while let Some(node) = free.pop() {
        sorted += 1;
        for &(after, ..) in &edges[node] {
            before[after] -= 1;
            if before[after] == 0 {
                free.push(after);
            }
        }
    }
    if sorted == before.len() { Ok(()) } else { Err(describe(&edges, &before)) }
}

/// To whom, because of which list, and why.
type Edge = (usize, u32, &'static str);

fn edges(history: &History) -> Vec<Vec<Edge>> {
    let all = &history.transactions;
    let counts = |n: usize| all[n].serializable && matches!(all[n].fate, Fate::Committed(_));
    let mut edges = vec![Vec::new(); all.len()];
    let mut add = |from: usize, to: usize, list: usize, why| {
        if from != to && counts(from) && counts(to) {
            edges[from].push((to, list as u32, why));
        }
    };
    let writer = |list: usize, at: usize| {
        let element = history.orders[list].get(at)?;
        history.writers.get(&(list as u32, *element)).map(|id| id.0)
    };
    for list in 0..history.orders.len() {
        for at in 1..history.orders[list].len() {
            if let (Some(one), Some(next)) = (writer(list, at - 1), writer(list, at)) {
                add(one, next, list, "was appended to by");
            }
        }
    }
    for (n, txn) in all.iter().enumerate() {
        let Some(snapshot) = txn.snapshot.filter(|_| counts(n)) else { continue };
        for seen in &history.snapshots[snapshot.0].seen {
            // A snapshot that others have too shows what this one did not look at.
            if !txn.looked.contains(&seen.list) {
                continue;
            }
            let list = seen.list as usize;
            if let Some(last) = seen.length.checked_sub(1).and_then(|at| writer(list, at)) {
                add(last, n, list, "was seen by");
            }
            if let Some(next) = writer(list, seen.length) {
                add(n, next, list, "was not seen in, which was appended to by");
            }
        }
    }
    edges
}

/// A cycle among the nodes that are left.
fn describe(edges: &[Vec<Edge>], before: &[u32]) -> String {
    let mut text = String::from("no order of serializable transactions explains this:");
    let left = |n: &usize| before[*n] > 0;
    let Some(mut at) = (0..before.len()).find(left) else { return text };
    let mut way: Vec<usize> = Vec::new();
    // Every node that is left has something left before it: going back leads into a cycle.
    while !way.contains(&at) {
        way.push(at);
        let leads = |n: &usize| left(n) && edges[*n].iter().any(|edge| edge.0 == at);
        let Some(previous) = (0..before.len()).find(leads) else { return text };
        at = previous;
    }
    let from = way.iter().position(|n| *n == at).unwrap_or(0);
    way.push(at);
    for pair in way[from..].windows(2).rev() {
        let (to, from) = (pair[0], pair[1]);
        if let Some((_, list, why)) = edges[from].iter().find(|edge| edge.0 == to) {
            let _ = write!(text, "\n  transaction {from}: list {list} {why} transaction {to}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Append, Span, TxnId};

    /// Two transactions that both saw both lists empty, and each of which appended to one.
    fn skew(serializable: [bool; 2]) -> History {
        let mut history = History::default();
        let ids = [history.begin(), history.begin()];
        for (id, serializable) in ids.into_iter().zip(serializable) {
            let span = Span { sent: history.now(), answered: history.now() };
            let snapshot = history.snapshot(span);
            let txn = history.of(id);
            (txn.snapshot, txn.serializable) = (Some(snapshot), serializable);
            txn.looked = vec![0, 1];
            history.saw(snapshot, 0, &[], &[]);
            history.saw(snapshot, 1, &[], &[]);
        }
        for (list, id) in [(0, ids[0]), (1, ids[1])] {
            let element = history.new_element();
            history.append(id, Append { list, element, after: None });
            let sent = history.now();
            history.of(id).fate = Fate::Committing(sent);
            history.committed(id);
            history.orders[list as usize].push(element);
        }
        history
    }

    #[test]
    fn write_skew_is_found_among_serializable_transactions_only() {
        let found = check(&skew([true, true])).unwrap_err();
        assert!(found.contains("transaction 0") && found.contains("transaction 1"), "{found}");
        assert_eq!(check(&skew([true, false])), Ok(()));
        assert_eq!(crate::order::check(&skew([true, false])).map(|report| report.committed), Ok(2));
    }

    #[test]
    fn an_order_against_that_of_the_commits_is_one() {
        let mut history = skew([true, true]);
        // The second looked at its own list alone.
        history.of(TxnId(1)).looked = vec![1];
        assert_eq!(check(&history), Ok(()));
    }
}
