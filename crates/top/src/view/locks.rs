//! Locks: who waits for whom, as trees; at the roots those who wait for nobody.

use std::collections::{BTreeMap, BTreeSet};

use super::sessions::{since, state};
use super::{column, figures};
use crate::model::Snapshot;
use crate::table::{Cell, Column, Row, Table, Tone};
use crate::text::one_line;

const COLUMNS: &[Column] = &[
    column("SESSION", 10, 24, 9),
    column("USER", 6, 16, 4),
    column("DB", 6, 16, 1),
    column("STATE", 10, 11, 5),
    figures("TIME", 6, 6, 8),
    column("WAITS FOR", 12, 48, 7),
    column("QUERY", 0, 0, 9),
];

/// A session's place in a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Who; 0: a prepared transaction.
    pub pid: i32,
    /// For each level above it, whether more follows there; at last, whether more follows on its own.
    pub more: Vec<bool>,
    /// Whether it stands elsewhere already, with those who wait for it.
    pub repeated: bool,
}

/// Who waits for whom. `waits`: for each who waits, those that stand in its way.
pub fn tree(waits: &BTreeMap<i32, Vec<i32>>) -> Vec<Place> {
    let mut blocked: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for (waiter, blockers) in waits {
        for blocker in nearest(waits, blockers) {
            blocked.entry(blocker).or_default().push(*waiter);
        }
    }
    let mut growing = Growing { blocked, seen: BTreeSet::new(), places: Vec::new() };
    let free = |pid: &i32| !waits.contains_key(pid);
    let mut roots: Vec<i32> = growing.blocked.keys().copied().filter(free).collect();
    // Most stand behind those who are in the way of most.
    roots.sort_by_key(|pid| std::cmp::Reverse(growing.blocked[pid].len()));
    for root in roots {
        growing.add(root, Vec::new());
    }
    // What is left waits in a circle, until the deadlock is found.
    for pid in waits.keys() {
        if !growing.seen.contains(pid) {
            growing.add(*pid, Vec::new());
        }
    }
    growing.places
}

/// Those of the blockers that do not themselves wait for another of them. Who stands in a queue waits for its head and for all
/// that came before; below the head alone, everybody stands once.
fn nearest(waits: &BTreeMap<i32, Vec<i32>>, blockers: &[i32]) -> BTreeSet<i32> {
    let waits_for = |one: i32, other: i32| waits.get(&one).is_some_and(|blockers| blockers.contains(&other));
    let is_behind = |blocker: i32| {
        blockers
            .iter()
            .any(|&other| other != blocker && waits_for(blocker, other) && !waits_for(other, blocker))
    };
    // A session that has several locks may be named several times.
    blockers.iter().copied().filter(|&blocker| !is_behind(blocker)).collect()
}

struct Growing {
    /// Who waits for each.
    blocked: BTreeMap<i32, Vec<i32>>,
    seen: BTreeSet<i32>,
    places: Vec<Place>,
}

/// Deeper chains are cut: nobody could read them.
const DEEPEST: usize = 50;

impl Growing {
    fn add(&mut self, pid: i32, more: Vec<bool>) {
        let repeated = !self.seen.insert(pid);
        self.places.push(Place { pid, more: more.clone(), repeated });
        if repeated || more.len() == DEEPEST {
            return;
        }
        let children = self.blocked.get(&pid).cloned().unwrap_or_default();
        for (at, child) in children.iter().enumerate() {
            let mut below = more.clone();
            below.push(at + 1 < children.len());
            self.add(*child, below);
        }
    }
}

/// `│  └─ 12`.
fn branch(place: &Place) -> String {
    let mut text = String::new();
    if let Some((own, above)) = place.more.split_last() {
        for more in above {
            text.push_str(if *more { "│  " } else { "   " });
        }
        text.push_str(if *own { "├─ " } else { "└─ " });
    }
    match place.pid {
        0 => text.push_str("prepared"),
        pid => text.push_str(&pid.to_string()),
    }
    text
}

/// The table.
pub fn table(snapshot: &Snapshot) -> Table {
    let blocked = snapshot.sessions.iter().filter(|session| !session.blocked_by.is_empty());
    let waits = blocked.map(|session| (session.pid, session.blocked_by.clone())).collect();
    let rows = tree(&waits).iter().enumerate().map(|(at, place)| row(snapshot, at, place)).collect();
    Table { columns: COLUMNS, rows, empty: "No session waits for another." }
}

fn row(snapshot: &Snapshot, at: usize, place: &Place) -> Row {
    let session = snapshot.session(place.pid).cloned().unwrap_or_default();
    let wanted = snapshot.wanted.iter().find(|lock| lock.pid == place.pid);
    let waits_for = wanted.map(|lock| format!("{}, {}", lock.object, lock.mode)).unwrap_or_default();
    let query = match place.pid {
        0 => "a prepared transaction: see pg_prepared_xacts".to_string(),
        _ if place.repeated => "(see above)".to_string(),
        _ => one_line(&session.query),
    };
    Row {
        key: if place.repeated { format!("{} {at}", place.pid) } else { place.pid.to_string() },
        pid: (place.pid != 0).then_some(place.pid),
        tone: match () {
            () if place.repeated => Tone::Faint,
            () if place.more.is_empty() => Tone::Warning,
            () => Tone::Blocked,
        },
        cells: vec![
            Cell::text(branch(place)),
            Cell::text(one_line(&session.user)),
            Cell::text(one_line(&session.database)),
            Cell::text(state(&session)),
            since(session.in_state),
            Cell::text(one_line(&waits_for)),
            Cell::text(query),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(waits: &[(i32, &[i32])]) -> String {
        let waits = waits.iter().map(|(waiter, blockers)| (*waiter, blockers.to_vec())).collect();
        let line = |place: &Place| format!("{}{}", branch(place), if place.repeated { " …" } else { "" });
        tree(&waits).iter().map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn trees() {
        // 5 stands in the way of two, 1 of one; a row lock names its holder twice.
        assert_eq!(
            drawn(&[(2, &[1]), (6, &[5, 5]), (7, &[5]), (8, &[6])]),
            "5\n├─ 6\n│  └─ 8\n└─ 7\n1\n└─ 2"
        );
    }

    #[test]
    fn who_waits_for_several_stands_below_each() {
        assert_eq!(drawn(&[(3, &[1, 2]), (4, &[3])]), "1\n└─ 3\n   └─ 4\n2\n└─ 3 …");
    }

    #[test]
    fn a_queue_stands_behind_its_head() {
        assert_eq!(
            drawn(&[(2, &[1]), (3, &[1, 2]), (4, &[1, 2, 3]), (5, &[4])]),
            "1\n├─ 2\n├─ 3\n└─ 4\n   └─ 5"
        );
    }

    #[test]
    fn circles_end() {
        assert_eq!(drawn(&[(1, &[2]), (2, &[1])]), "1\n└─ 2\n   └─ 1 …");
        assert_eq!(drawn(&[(1, &[1])]), "1\n└─ 1 …");
    }

    #[test]
    fn prepared_transactions_block_too() {
        assert_eq!(drawn(&[(4, &[0])]), "prepared\n└─ 4");
    }
}
