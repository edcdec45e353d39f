//! Groups of an aggregation in a hash table, and files of rows for those that do not fit.
//!
//! A hash table that outgrows its memory takes no new groups: rows of unknown groups go to files by hash, each of which is
//! aggregated afterwards in the same way. Where states grow with their rows (arrays, texts), it then takes no more rows at all; a file's groups go on
//! from the states that they had. Grouping sets share the table, and the files: a row is written once for each set that
//! does not know its group. What several participants have of one aggregation is joined group by group ([`Share`]).

use base::SqlResult;
use eval::cx::Cx;
use eval::spill::{Parts, SpillFile, row_bytes};
use plan::explain::Detail;
use tuple::Datum;

use super::aggregate::{Core, Group};

/// No group.
pub(super) const NONE: u32 = u32::MAX;

/// Groups of a hash aggregation.
struct Groups {
    /// First group of each bucket; a power of two.
    buckets: Vec<u32>,
    list: Vec<Group>,
    bytes: usize,
}

impl Default for Groups {
    fn default() -> Groups {
        Groups { buckets: vec![NONE; 256], list: Vec::new(), bytes: 0 }
    }
}

impl Groups {
    fn bucket(&self, hash: u64) -> usize {
        // The low bits of a product are the least random.
        (hash >> 32) as usize & (self.buckets.len() - 1)
    }

    fn find(&self, core: &Core, set: usize, hash: u64, key: &[Datum]) -> Option<usize> {
        let mut at = self.buckets[self.bucket(hash)];
        while at != NONE {
            let group = &self.list[at as usize];
            if group.hash == hash && group.set == set && core.row_key.same(&group.key, key) {
                return Some(at as usize);
            }
            at = group.next;
        }
        None
    }

    /// Adds a group that is not there yet.
    fn add(&mut self, core: &Core, hash: u64, mut group: Group) -> usize {
        if self.list.len() >= self.buckets.len() {
            self.buckets = vec![NONE; self.buckets.len() * 4];
            for at in 0..self.list.len() {
                let bucket = self.bucket(self.list[at].hash);
                self.list[at].next = std::mem::replace(&mut self.buckets[bucket], at as u32);
            }
        }
        self.bytes +=
            row_bytes(&group.key) + row_bytes(&group.first) + 64 * core.calls.len() + 64 + group.grown;
        let at = self.list.len();
        let bucket = self.bucket(hash);
        group.hash = hash;
        group.next = std::mem::replace(&mut self.buckets[bucket], at as u32);
        self.list.push(group);
        at
    }
}

/// Rows not aggregated yet; with several hashed sets, each is followed by the number of its set.
pub(super) struct Waiting {
    pub(super) files: Vec<SpillFile>,
    /// How often they were dealt out.
    pub(super) level: usize,
    /// Those of their groups that have rows already.
    pub(super) begun: Vec<Group>,
}

/// Rows are dealt out so often at most because of states that grow: what then is still too large is one group.
const DEEPEST: usize = 6;

/// Groups that a hash table gave, and what is left to aggregate.
#[derive(Default)]
pub(super) struct Hashed {
    pub(super) ready: std::vec::IntoIter<Group>,
    pub(super) files: Vec<Waiting>,
}

/// A hash table that takes rows; those of groups that do not fit go to files.
#[derive(Default)]
pub(super) struct Hashing {
    groups: Groups,
    parts: Parts,
    /// How often the rows were dealt out.
    level: usize,
    /// It takes no more rows.
    full: bool,
}

impl Hashing {
    /// A table of groups that have rows already.
    pub(super) fn of(core: &Core, level: usize, begun: Vec<Group>) -> Hashing {
        let mut hashing = Hashing { level, ..Hashing::default() };
        for group in begun {
            hashing.groups.add(core, group.hash, group);
        }
        hashing
    }

    /// Takes a row into a group of each set.
    pub(super) fn take_row(
        &mut self,
        core: &Core,
        row: (&[Datum], &[Datum]),
        cx: &mut Cx<'_>,
    ) -> SqlResult<()> {
        core.hashed.iter().try_for_each(|set| self.take(core, *set, row, cx))
    }

    /// Takes a row, with its key, into a group of a set.
    pub(super) fn take(
        &mut self,
        core: &Core,
        set: usize,
        (row, key): (&[Datum], &[Datum]),
        cx: &mut Cx<'_>,
    ) -> SqlResult<()> {
        let masked;
        let key = if core.whole[set] {
            key
        } else {
            masked = core.masked(set, key);
            &masked
        };
        let (groups, limit) = (&mut self.groups, cx.env.hash_mem);
        let hash = core.row_key.hash(key).wrapping_add(set as u64);
        self.full |= core.grows && groups.bytes > limit && self.level < DEEPEST && groups.list.len() > 1;
        let found = if self.full { None } else { groups.find(core, set, hash, key) };
        let at = match found {
            Some(at) => at,
            None if self.full || groups.bytes > limit => {
                let part = Parts::part_of(hash, self.level);
                if core.hashed.len() == 1 {
                    return self.parts.write(part, row, cx.env.temp);
                }
                let mut dealt = row.to_vec();
                dealt.push(Datum::Int4(set as i32));
                return self.parts.write(part, &dealt, cx.env.temp);
            }
            None => groups.add(core, hash, core.group(set, key.to_vec(), row)),
        };
        groups.bytes += core.add_measured(&mut groups.list[at], row, cx)?;
        Ok(())
    }

    /// After the last row.
    pub(super) fn finish(self, cx: &mut Cx<'_>) -> SqlResult<Hashed> {
        let level = self.level;
        let Share { groups, files, full } = self.share(cx)?;
        let (ready, files) = set_aside(groups.list, files, level, full);
        Ok(Hashed { ready: ready.into_iter(), files })
    }

    /// After the last row: what others may join with theirs.
    pub(super) fn share(self, cx: &mut Cx<'_>) -> SqlResult<Share> {
        let files = if self.parts.is_empty() { Vec::new() } else { self.parts.finish()? };
        let spilled = files.iter().flatten().map(SpillFile::written).sum::<u64>();
        let batches = files.iter().flatten().count() as u64;
        cx.tell(|before| told(before, self.groups.bytes as u64, spilled, batches));
        let files = files.into_iter().map(|file| file.into_iter().collect()).collect();
        Ok(Share { groups: self.groups, files, full: self.full })
    }
}

/// What one participant has of an aggregation: groups, and rows by part.
pub(super) struct Share {
    groups: Groups,
    files: Vec<Vec<SpillFile>>,
    full: bool,
}

impl Share {
    /// Number of groups.
    pub(super) fn len(&self) -> usize {
        self.groups.list.len()
    }

    /// All shares together. A group that one participant has may have rows in files of others, and waits for them.
    pub(super) fn join(core: &Core, shares: Vec<Share>, cx: &mut Cx<'_>) -> SqlResult<Hashed> {
        let mut shares = shares.into_iter();
        let first = shares.next();
        let (mut groups, mut files) = first.map(|share| (share.groups, share.files)).unwrap_or_default();
        files.resize_with(Parts::COUNT, Vec::new);
        for share in shares {
            for group in share.groups.list {
                runtime::check_interrupts().map_err(eval::error::interrupted)?;
                match groups.find(core, group.set, group.hash, &group.key) {
                    Some(at) => core.join(&mut groups.list[at], group, cx)?,
                    None => {
                        groups.add(core, group.hash, group);
                    }
                }
            }
            files.iter_mut().zip(share.files).for_each(|(all, more)| all.extend(more));
        }
        let memory = groups.bytes as u64;
        let (ready, files) = set_aside(groups.list, files, 0, true);
        cx.tell(|before| told(before, memory, 0, files.len() as u64));
        Ok(Hashed { ready: ready.into_iter(), files })
    }
}

/// What EXPLAIN says after one more table.
pub(super) fn told(before: Detail, memory: u64, spilled: u64, more: u64) -> Detail {
    let (batches, most, disk) = match before {
        Detail::Groups { batches, kilobytes, disk } => (batches, kilobytes, disk),
        _ => (1, 0, 0),
    };
    let disk = disk + spilled.div_ceil(1024);
    let kilobytes = most.max(memory.div_ceil(1024)).max(1);
    Detail::Groups { batches: batches + more, kilobytes, disk }
}

/// Groups that are complete, and files of rows, with the groups that wait for them if the table has taken no more rows (`full`).
fn set_aside(
    groups: Vec<Group>,
    files: Vec<Vec<SpillFile>>,
    level: usize,
    full: bool,
) -> (Vec<Group>, Vec<Waiting>) {
    let waits = |files: Vec<SpillFile>| {
        (!files.is_empty()).then(|| Waiting { files, level: level + 1, begun: Vec::new() })
    };
    let mut waiting: Vec<Option<Waiting>> = files.into_iter().map(waits).collect();
    let mut ready = Vec::with_capacity(groups.len());
    for group in groups {
        let part = if full { waiting.get_mut(Parts::part_of(group.hash, level)) } else { None };
        match part {
            Some(Some(waiting)) => waiting.begun.push(group),
            _ => ready.push(group),
        }
    }
    (ready, waiting.into_iter().flatten().collect())
}
