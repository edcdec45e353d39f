//! Several sessions on one tree: what they do, and what must hold of what they see.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use base::{BlockNo, Tid};
use index::{
    Direction, InsertOutcome, ScanKey, ScanKeys, ScanOp, UniqueCheck, VacuumStats, VerifyOptions, strategy,
};
use store::{AllLive, Random, Store};

use super::model::satisfies;
use super::world::{Entry, Shape, World, manner, same};
use crate::Scan;
use crate::build::create_empty;
use crate::insert::insert;
use crate::vacuum::{bulk_delete, cleanup};
use crate::verify::verify;

/// How much goes on.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// What the inserters' places come from.
    pub seed: u64,
    pub shape: Shape,
    pub buffers: usize,
    pub inserters: u32,
    /// Entries that each of them makes.
    pub rows: u32,
    /// Entries it makes near one place, under one snapshot.
    pub wave: u32,
    /// Its youngest entries that live.
    pub living: usize,
    pub keys: i32,
    /// Below how many times it lets others run after each.
    pub pause: u64,
    /// Every so many keys there is an entry that lives for ever.
    pub stable_step: i32,
}

/// What the sessions share.
pub struct Shared {
    pub world: World,
    load: Load,
    /// Entries that are in and not given to VACUUM, with their key.
    live: Mutex<HashMap<Tid, i32>>,
    /// Rows dead to everybody.
    dead: Mutex<HashSet<Tid>>,
    inserting: AtomicUsize,
}

/// One scan.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    pub direction: Direction,
    pub keep_pin: bool,
    /// Keys, both included; all if there is none.
    pub range: Option<(i32, i32)>,
    /// Turns round after so many entries and goes back to where it came from.
    pub turn_after: Option<usize>,
    /// Marks entries of dead rows.
    pub kill: bool,
    /// After so many entries, lets others run so often.
    pub linger: Option<(usize, u64)>,
}

impl Look {
    pub fn all(direction: Direction) -> Look {
        Look { direction, keep_pin: false, range: None, turn_after: None, kill: false, linger: None }
    }

    pub fn random(random: &mut Random, keys: i32) -> Look {
        let low = random.below(keys as u64) as i32;
        Look {
            direction: if random.below(2) == 0 { Direction::Forward } else { Direction::Backward },
            keep_pin: random.below(3) == 0,
            range: (random.below(3) == 0).then(|| (low, low + random.below(keys as u64 / 4) as i32)),
            turn_after: (random.below(3) == 0).then(|| random.below(2 * keys as u64) as usize),
            kill: random.below(2) == 0,
            linger: (random.below(2) == 0).then(|| (random.below(keys as u64) as usize, random.below(1000))),
        }
    }
}

fn opposite(direction: Direction) -> Direction {
    match direction {
        Direction::Forward => Direction::Backward,
        Direction::Backward => Direction::Forward,
    }
}

impl Shared {
    pub fn new(load: Load) -> Shared {
        let mut world = World::with_store(load.shape, Store::new(load.buffers));
        create_empty(&world.access(), &world.rel).unwrap();
        let mut live = HashMap::new();
        for n in (0..load.keys).step_by(load.stable_step as usize) {
            let tid = Tid::new(BlockNo(9_000_000 + n as u32), 1);
            world.insert_at(n, tid);
            live.insert(tid, n);
        }
        Shared {
            world,
            load,
            live: Mutex::new(live),
            dead: Mutex::default(),
            inserting: AtomicUsize::new(load.inserters as usize),
        }
    }

    /// Whether some inserter is at work still.
    pub fn busy(&self) -> bool {
        self.inserting.load(SeqCst) > 0
    }

    /// Ends a session, by a panic too: the others stop when all inserters have.
    fn leave(&self) -> impl Drop + '_ {
        struct Leave<'a>(&'a AtomicUsize);
        impl Drop for Leave<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, SeqCst);
            }
        }
        Leave(&self.inserting)
    }

    /// Inserts in waves around moving places and lets old entries die.
    pub fn inserter(&self, session: u32) {
        let _leave = self.leave();
        let mut random = Random((self.load.seed * 16 + u64::from(session)) * 77 + 5);
        let mut own = VecDeque::new();
        let mut next = 0;
        while next < self.load.rows {
            let place = random.below(self.load.keys as u64) as i32;
            let snapshot = self.world.snapshots.take();
            for i in 0..self.load.wave as i32 {
                next += 1;
                let tid = Tid::new(BlockNo(session * 1_000_000 + next), 1 + (next % 9) as u16);
                let n = (place + if next % 3 == 0 { 0 } else { i }) % self.load.keys;
                let row = self.world.shape.row(n);
                let outcome =
                    insert(&self.world.access(), &self.world.rel, &row, tid, UniqueCheck::No, &AllLive)
                        .unwrap();
                assert_eq!(outcome, InsertOutcome::Inserted);
                self.live.lock().unwrap().insert(tid, n);
                own.push_back(tid);
                if self.load.pause > 0 {
                    (0..random.below(self.load.pause)).for_each(|_| runtime::yield_now());
                }
            }
            drop(snapshot);
            while own.len() > self.load.living {
                let tid = own.pop_front().unwrap();
                self.live.lock().unwrap().remove(&tid);
                self.dead.lock().unwrap().insert(tid);
            }
            let _ = runtime::check_interrupts();
        }
    }

    pub fn vacuum(&self) {
        let dead: HashSet<Tid> = self.dead.lock().unwrap().clone();
        drop(self.world.snapshots.take());
        let mut stats = VacuumStats::default();
        let access = self.world.access();
        bulk_delete(&access, &self.world.rel, |tid| dead.contains(&tid), &mut manner(), &mut stats).unwrap();
        cleanup(&access, &self.world.rel, &mut manner(), Some(stats)).unwrap();
        self.dead.lock().unwrap().retain(|tid| !dead.contains(tid));
    }

    /// One scan. No entry comes twice. Those that were in when it began come in order, and all of them that outlive it come: what a
    /// snapshot shows. Of the others nothing is promised: when a page behind the scan is emptied and deleted, its keys go on to the
    /// page in front, and so do new entries with such keys.
    pub fn scan(&self, look: Look) {
        let _snapshot = self.world.snapshots.take();
        let before = self.live.lock().unwrap().clone();
        let keys = ScanKeys { keys: self.conditions(look), direction: look.direction };
        let mut scan = Scan::new(self.world.rel.clone(), keys, true, look.keep_pin);
        let limit = look.turn_after.unwrap_or(usize::MAX);
        let there = self.leg(&mut scan, look, look.direction, limit, &before);
        let back =
            look.turn_after.map(|_| self.leg(&mut scan, look, opposite(look.direction), usize::MAX, &before));
        scan.finish(&self.world.access());
        let live = self.live.lock().unwrap();
        let lasting = |tid: &Tid| before.contains_key(tid) && live.contains_key(tid);
        let conditions = self.conditions(look);
        let wanted = |n: i32| {
            let row = self.world.shape.row(n);
            conditions.iter().all(|key| satisfies(key, &self.world.rel.desc, &row))
        };
        if there.len() < limit {
            let there: HashSet<&Tid> = there.iter().collect();
            for (tid, n) in before.iter().filter(|(tid, n)| lasting(tid) && wanted(**n)) {
                assert!(there.contains(tid), "{tid} with key {n} missing, {look:?}");
            }
        }
        if let Some(back) = back {
            let back: HashSet<Tid> = back.into_iter().collect();
            // Standing on the last entry of the way there, the way back begins with the one before.
            for tid in there.iter().rev().skip(1).filter(|tid| lasting(tid)) {
                assert!(back.contains(tid), "{tid} missing on the way back, {look:?}");
            }
        }
    }

    fn conditions(&self, look: Look) -> Vec<ScanKey> {
        let Some((low, high)) = look.range else { return Vec::new() };
        let column = |n| self.world.shape.row(n).swap_remove(0);
        vec![
            ScanKey { column: 0, op: ScanOp::Strategy(strategy::GREATER_EQUAL, column(low)) },
            ScanKey { column: 0, op: ScanOp::Strategy(strategy::LESS_EQUAL, column(high)) },
        ]
    }

    /// Steps in one direction, at most `limit` times: the entries, in the order in which they came.
    fn leg(
        &self,
        scan: &mut Scan,
        look: Look,
        direction: Direction,
        limit: usize,
        before: &HashMap<Tid, i32>,
    ) -> Vec<Tid> {
        let access = self.world.access();
        let (mut seen, mut all) = (HashSet::new(), Vec::new());
        let mut last: Option<Entry> = None;
        while all.len() < limit
            && let Some(tid) = scan.step(&access, direction).unwrap()
        {
            assert!(seen.insert(tid), "{tid} twice, going {direction:?}, {look:?}");
            all.push(tid);
            if let Some((at, times)) = look.linger
                && at == all.len()
            {
                (0..times).for_each(|_| runtime::yield_now());
            }
            if look.kill && self.dead.lock().unwrap().contains(&tid) {
                scan.kill_current();
            }
            let Some(&n) = before.get(&tid) else { continue };
            let mut row = Vec::new();
            scan.values(&mut row).unwrap();
            assert_eq!(row, self.world.shape.row(n), "{tid}");
            if let Some((values, at)) = &last {
                let order = self.world.rel.desc.compare_entries((values, *at), (&row, tid));
                let order = if direction == Direction::Forward { order } else { order.reverse() };
                assert!(order.is_lt(), "out of order: {:.60} {tid}, {look:?}", format!("{row:?}"));
            }
            last = Some((row, tid));
        }
        all
    }

    /// All sessions have ended: the tree holds what lives, once VACUUM has been there.
    pub fn finish(&self) {
        let found = self.world.collect(vec![], Direction::Forward);
        self.vacuum();
        verify(&self.world.access(), &self.world.rel, VerifyOptions::ALL, None).unwrap();
        let live = self.live.lock().unwrap();
        let mut expected: Vec<Entry> = live.iter().map(|(tid, n)| (self.world.shape.row(*n), *tid)).collect();
        let rel = &self.world.rel;
        expected.sort_by(|a, b| rel.desc.compare_entries((&a.0, a.1), (&b.0, b.1)));
        assert!(found.len() >= expected.len());
        same(&self.world.collect(vec![], Direction::Forward), &expected);
        assert_eq!(self.world.store.pool.pins(), 0);
    }
}
