//! Figures of the server as a whole, in groups that are reset together (`pg_stat_bgwriter`, `pg_stat_wal`, ...).
//!
//! Storage counts from zero when the server starts, and never forgets; a reset, or what the last server left, is an offset to that.

use super::Counters;

/// The SLRUs that PostgreSQL has; of these, the commit log and the multixacts have files here.
pub const SLRUS: [&str; 8] = [
    "commit_timestamp",
    "multixact_member",
    "multixact_offset",
    "notify",
    "serializable",
    "subtransaction",
    "transaction",
    "other",
];

/// Figures that are reset together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Group {
    /// `pg_stat_archiver`
    Archiver,
    /// `pg_stat_bgwriter`
    BackgroundWriter,
    /// `pg_stat_checkpointer`
    Checkpointer,
    /// `pg_stat_io`
    Io,
    /// `pg_stat_recovery_prefetch`
    RecoveryPrefetch,
    /// `pg_stat_wal`
    Wal,
    /// `pg_stat_slru`: one of [`SLRUS`].
    Slru(u8),
}

impl Group {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Group> {
        use Group as G;
        let whole = [G::Archiver, G::BackgroundWriter, G::Checkpointer, G::Io, G::RecoveryPrefetch, G::Wal];
        whole.into_iter().chain((0..SLRUS.len()).map(|i| G::Slru(i as u8)))
    }

    /// The name of `pg_stat_reset_shared`.
    pub fn name(self) -> &'static str {
        match self {
            Group::Archiver => "archiver",
            Group::BackgroundWriter => "bgwriter",
            Group::Checkpointer => "checkpointer",
            Group::Io => "io",
            Group::RecoveryPrefetch => "recovery_prefetch",
            Group::Wal => "wal",
            Group::Slru(_) => "slru",
        }
    }
}

/// What is to be added to a group's figures.
#[derive(Clone, Debug, Default)]
pub(super) struct Offset {
    /// When they were last set to zero.
    pub(super) reset: i64,
    pub(super) figures: Vec<i64>,
}

/// A group's figures as they are shown, and when they were last set to zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    pub figures: Vec<i64>,
    pub reset: i64,
}

impl Counters {
    /// The figures of a group, of which so much was counted since the server started.
    pub fn shown(&self, group: Group, mut counted: Vec<i64>) -> Shown {
        let settled = self.settled.lock();
        let offset = settled.groups.get(&group).cloned().unwrap_or_default();
        counted.iter_mut().zip(&offset.figures).for_each(|(figure, offset)| *figure += offset);
        Shown { figures: counted, reset: offset.reset }
    }

    /// Sets the figures of a group to zero, of which so much was counted since the server started.
    pub fn reset_group(&self, group: Group, counted: Vec<i64>, now: i64) {
        let figures = counted.into_iter().map(|figure| -figure).collect();
        self.settled.lock().groups.insert(group, Offset { reset: now, figures });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_goes_on_from_a_reset() {
        let counters = Counters::default();
        let shown = |counted: [i64; 2]| counters.shown(Group::Wal, counted.to_vec());
        assert_eq!(shown([3, 4]), Shown { figures: vec![3, 4], reset: 0 });
        counters.reset_group(Group::Wal, vec![3, 4], 77);
        assert_eq!(shown([5, 4]), Shown { figures: vec![2, 0], reset: 77 });
        assert_eq!(counters.shown(Group::Io, vec![1]), Shown { figures: vec![1], reset: 0 });
    }
}
