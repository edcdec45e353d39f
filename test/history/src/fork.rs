//! What · The long fork: two snapshots of which each shows a commit that the other does not.
//!
//! One order of commits has it nowhere: of two moments one is later, and shows all that the earlier one does. [`order`](crate::order) would find it as a cycle; here it is
//! looked for by itself, without that graph, and told by its name. It is what two standbys would show that apply commits in different orders.
//!
//! For two lists, snapshots are sorted by what they show of the one: then they are sorted by what they show of the other, too.

use std::fmt;

use crate::LISTS;
use crate::record::{History, ListId};

/// What a snapshot shows of two lists: elements of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Shown {
    lengths: [usize; 2],
    snapshot: usize,
}

/// Two snapshots that no order of commits has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongFork {
    lists: [ListId; 2],
    shown: [Shown; 2],
}

impl fmt::Display for LongFork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [one, other] = self.lists;
        f.write_str("a long fork:")?;
        for (shown, end) in self.shown.iter().zip([",", ""]) {
            let Shown { lengths: [of_one, of_other], snapshot } = shown;
            write!(
                f,
                " snapshot {snapshot} shows {of_one} elements of list {one} and {of_other} of list {other}{end}"
            )?;
        }
        Ok(())
    }
}

/// The first long fork in a history, if there is one.
pub fn find(history: &History) -> Option<LongFork> {
    let mut pairs = (0..LISTS).flat_map(|other| (0..other).map(move |one| [one, other]));
    pairs.find_map(|lists| Some(LongFork { lists, shown: fork(shown(history, lists))? }))
}

fn shown(history: &History, lists: [ListId; 2]) -> Vec<Shown> {
    let snapshots = history.snapshots.iter().enumerate();
    let of = |(number, snapshot): (usize, &crate::record::Snapshot)| {
        let length = |list| snapshot.seen.iter().find(|seen| seen.list == list).map(|seen| seen.length);
        Some(Shown { lengths: [length(lists[0])?, length(lists[1])?], snapshot: number })
    };
    snapshots.filter_map(of).collect()
}

fn fork(mut shown: Vec<Shown>) -> Option<[Shown; 2]> {
    shown.sort_unstable();
    // Those that show less of the one list: which of them shows most of the other.
    let mut most: Option<Shown> = None;
    for same in shown.chunk_by(|a, b| a.lengths[0] == b.lengths[0]) {
        if let Some(most) = most.filter(|most| most.lengths[1] > same[0].lengths[1]) {
            return Some([most, same[0]]);
        }
        most = most.into_iter().chain(same.last().copied()).max_by_key(|shown| shown.lengths[1]);
    }
    None
}
