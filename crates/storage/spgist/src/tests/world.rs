//! What the tests stand on: a radix tree of words, one index in a [`store`], and a list of its contents.

use std::sync::Arc;

use base::{Oid, Tid, Xid};
use buffer::Persistence;
use index::{
    Access, Compare, IndexAccessMethod, IndexDesc, IndexScan, InsertOutcome, KeyColumn, Manner, Match,
    ScanKey, ScanKeys, ScanOp, SpaceClass, TreeQuery, UniqueCheck, VacuumStats, VerifyOptions, Wants,
};
use store::{AllLive, FILE, Snapshots, Store, tid};
use tuple::space::{Branch, Choice, Division, Space};
use tuple::{Attr, Bytes, Datum, Physical, RowLayout};

use crate::verify::{VerifyReport, verify};
use crate::{Scan, SpgistRel};

/// Strategy: the word begins with the value.
pub const BEGINS: u16 = 1;
/// Ordering strategy: how many bytes the word lacks, or has more than, of the value's length.
pub const DISTANCE: u16 = 2;
const LONGEST: usize = 3000;

/// A radix tree of words, the first byte behind a prefix as label, -1 for none.
#[derive(Debug)]
pub struct Words;

pub fn bytes(value: &Datum) -> &[u8] {
    let Datum::Bytes(bytes) = value else { panic!("{value:?}") };
    bytes
}

pub fn word(bytes: &[u8]) -> Datum {
    Datum::Bytes(Bytes::from(bytes.to_vec()))
}

fn shared(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

fn behind(text: &[u8]) -> (i16, &[u8]) {
    text.split_first().map_or((-1, &[]), |(first, rest)| (i16::from(*first), rest))
}

pub fn distance(word: &[u8], from: &[u8]) -> f64 {
    word.len().abs_diff(from.len()) as f64
}

impl SpaceClass for Words {
    fn choose(&self, branch: Branch<'_>, leaf: &Datum) -> Choice {
        let (prefix, leaf) = (branch.prefix, bytes(leaf));
        let common = shared(prefix, leaf);
        if common < prefix.len() {
            return Choice::Above {
                prefix: prefix[..common].to_vec(),
                label: i16::from(prefix[common]),
                rest: prefix[common + 1..].to_vec(),
            };
        }
        let (label, rest) = behind(&leaf[common..]);
        let at = (0..branch.nodes.len()).take_while(|&n| branch.label(n) < label).count();
        match at < branch.nodes.len() && branch.label(at) == label {
            true => Choice::Down { node: at, rest: word(rest) },
            false => Choice::Add { label, at },
        }
    }

    fn divide(&self, leaves: &[Datum]) -> Division {
        let first = bytes(&leaves[0]);
        let common = leaves.iter().map(|leaf| shared(first, bytes(leaf))).min().unwrap().min(LONGEST);
        let behind: Vec<_> = leaves.iter().map(|leaf| behind(&bytes(leaf)[common..])).collect();
        let mut labels: Vec<i16> = behind.iter().map(|(label, _)| *label).collect();
        labels.sort_unstable();
        labels.dedup();
        Division {
            prefix: first[..common].to_vec(),
            node_of: behind.iter().map(|(label, _)| labels.partition_point(|known| known < label)).collect(),
            rest: behind.iter().map(|(_, rest)| word(rest)).collect(),
            labels,
        }
    }

    fn part(&self, branch: Branch<'_>, node: usize, space: &Space) -> Space {
        let mut part = space.clone();
        part.extend_from_slice(branch.prefix);
        part.extend(u8::try_from(branch.label(node)).ok());
        part
    }

    fn may_meet(&self, space: &Space, query: TreeQuery<'_>) -> bool {
        let value = bytes(query.value);
        space.starts_with(value) || value.starts_with(space)
    }

    fn meets(&self, space: &Space, leaf: &Datum, query: TreeQuery<'_>) -> Match {
        Match::of(bytes(&self.value(space, leaf)).starts_with(bytes(query.value)), true)
    }

    fn value(&self, space: &Space, leaf: &Datum) -> Datum {
        word(&[&space[..], bytes(leaf)].concat())
    }

    fn least_distance(&self, space: &Space, query: TreeQuery<'_>) -> f64 {
        space.len().saturating_sub(bytes(query.value).len()) as f64
    }

    fn distance(&self, space: &Space, leaf: &Datum, query: TreeQuery<'_>) -> (f64, bool) {
        (distance(bytes(&self.value(space, leaf)), bytes(query.value)), false)
    }
}

/// Words with a byte behind each of few beginnings; long ones; and few words many times with an INCLUDE column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Short,
    Long,
    Equal,
}

impl Shape {
    pub const ALL: [Shape; 3] = [Shape::Short, Shape::Long, Shape::Equal];

    fn desc(self) -> IndexDesc {
        let varlena = Attr { physical: Physical::Varlena, align: 4, storage: b'p', compression: None };
        let int = Attr { physical: Physical::Int4, align: 4, storage: b'p', compression: None };
        let class: &'static dyn SpaceClass = &Words;
        let attrs = if self == Shape::Equal { vec![varlena, int] } else { vec![varlena] };
        IndexDesc {
            file: FILE,
            layout: Arc::new(RowLayout::new(attrs)),
            keys: vec![KeyColumn::ascending(Compare::Bytes)].into(),
            trees: Vec::new(),
            spaces: vec![class],
            hashes: Vec::new(),
            parts: Vec::new(),
            summaries: Vec::new(),
            persistence: Persistence::Permanent,
            unique: false,
            nulls_not_distinct: false,
            equal_image: false,
            options: Vec::new(),
        }
    }

    /// The `n`-th row; NULL now and then.
    pub fn row(self, n: i32) -> Vec<Datum> {
        let key = match self {
            _ if n % 97 == 96 => Datum::Null,
            Shape::Short => word(format!("{}{}", n % 7, n * 31 % 3000).as_bytes()),
            Shape::Long => {
                // The end tells them apart, or the middle.
                let mut long = vec![b'a' + (n % 3) as u8; 300];
                long[(n % 5 * 50) as usize] = b'x';
                long.extend_from_slice(n.to_string().as_bytes());
                if n % 50 == 7 {
                    long.extend(vec![b'z'; 9000]);
                }
                word(&long)
            }
            Shape::Equal => word(if n % 10 == 3 { b"again and again" } else { b"once" }),
        };
        match self {
            Shape::Equal => vec![key, Datum::Int4(n)],
            _ => vec![key],
        }
    }
}

pub type Entry = (Vec<Datum>, Tid);

/// An index beside what must be in it.
pub struct World {
    pub store: Store,
    pub rel: Arc<SpgistRel>,
    pub shape: Shape,
    pub snapshots: Snapshots,
    pub model: Vec<Entry>,
    pub next_tid: u32,
}

impl World {
    pub fn new(shape: Shape, buffers: usize) -> World {
        let world = World::with_store(shape, Store::new(buffers));
        world.rel.create_empty(&world.access()).unwrap();
        world
    }

    pub fn with_store(shape: Shape, store: Store) -> World {
        let rel = Arc::new(SpgistRel::new(shape.desc()));
        World { store, rel, shape, snapshots: Snapshots::default(), model: Vec::new(), next_tid: 0 }
    }

    pub fn access(&self) -> Access<'_> {
        Access {
            pool: &self.store.pool,
            horizon: &self.snapshots,
            xid: Xid::INVALID,
            limits: index::Limits::default(),
        }
    }

    pub fn insert_row(&self, row: &[Datum], tid: Tid) {
        let outcome = self.rel.insert(&self.access(), row, tid, UniqueCheck::No, &AllLive).unwrap();
        assert_eq!(outcome, InsertOutcome::Inserted);
    }

    pub fn new_tid(&mut self) -> Tid {
        self.next_tid += 1;
        tid(self.next_tid)
    }

    pub fn insert(&mut self, n: i32) {
        let (row, tid) = (self.shape.row(n), self.new_tid());
        self.insert_row(&row, tid);
        self.model.push((row, tid));
    }

    pub fn bulk_delete(&self, dead: impl Fn(Tid) -> bool) -> VacuumStats {
        // An xid passes, so that places left before can be used again.
        drop(self.snapshots.take());
        let mut manner = Manner { ring: None, pause: &mut runtime::check_interrupts };
        let (mut stats, access) = (VacuumStats::default(), self.access());
        self.rel.bulk_delete(&access, &mut |tid| dead(tid), &mut manner, &mut stats).unwrap();
        self.rel.cleanup(&access, &mut manner, Some(stats)).unwrap()
    }

    /// VACUUM that removes the entries `dead` names, from the model too.
    pub fn vacuum(&mut self, dead: impl Fn(Tid) -> bool) -> VacuumStats {
        let stats = self.bulk_delete(&dead);
        let before = self.model.len();
        self.model.retain(|(_, tid)| !dead(*tid));
        assert_eq!(stats.tuples_removed, (before - self.model.len()) as u64);
        assert_eq!(stats.tuples, self.model.len() as u64);
        stats
    }

    pub fn scan(&self, keys: Vec<ScanKey>, wants: Wants) -> Scan {
        self.rel.scan(ScanKeys { keys, ..ScanKeys::default() }, wants)
    }

    /// What a scan finds, by TID.
    pub fn collect(&self, keys: Vec<ScanKey>) -> Vec<Entry> {
        let mut scan = self.scan(keys, Wants { values: true, pin: true });
        let mut out = Vec::new();
        while let Some(tid) = scan.next(&self.access()).unwrap() {
            let mut row = Vec::new();
            scan.values(&mut row).unwrap();
            out.push((row, tid));
        }
        scan.finish(&self.access());
        out.sort_by_key(|entry| entry.1);
        out
    }

    pub fn verify(&self) -> VerifyReport {
        verify(&self.access(), &self.rel, VerifyOptions::ALL, None).unwrap()
    }

    /// The tree is sound and holds what the model holds; searches find what they are to find.
    pub fn check(&self) -> VerifyReport {
        let report = self.verify();
        assert_eq!(report.entries, self.model.len() as u64);
        let mut model = self.model.clone();
        model.sort_by_key(|entry| entry.1);
        assert!(self.collect(vec![]) == model, "a scan of all");
        for value in [&b""[..], b"2", b"31", b"aaaa", b"once", b"again and again", b"zz"] {
            let wanted = |entry: &&Entry| !entry.0[0].is_null() && bytes(&entry.0[0]).starts_with(value);
            let expected: Vec<Entry> = model.iter().filter(wanted).cloned().collect();
            let found = self.collect(vec![key(BEGINS, word(value))]);
            assert!(found == expected, "{value:?}: {} instead of {}", found.len(), expected.len());
        }
        let nulls: Vec<Entry> = model.iter().filter(|entry| entry.0[0].is_null()).cloned().collect();
        assert!(self.collect(vec![ScanKey { column: 0, op: ScanOp::IsNull }]) == nulls);
        let others = self.collect(vec![ScanKey { column: 0, op: ScanOp::IsNotNull }]);
        assert_eq!(others.len() + nulls.len(), model.len());
        assert_eq!(self.store.pool.pins(), 0);
        report
    }
}

pub fn key(strategy: u16, value: Datum) -> ScanKey {
    ScanKey { column: 0, op: ScanOp::Operator { strategy, operand: Oid(1), value } }
}
