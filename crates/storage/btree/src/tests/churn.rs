//! Bottom-up deletion: leaves whose rows have died do not split.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;

use base::{BlockNo, OffsetNo, SqlError, Tid};
use index::{DeadRows, UniqueCheck};
use store::Random;

use super::replay::check_redo;
use super::world::{Shape, World};
use crate::insert::insert;

/// A heap whose rows are updated over and over.
#[derive(Default)]
struct Heap {
    dead: RefCell<HashSet<Tid>>,
    looks: Cell<usize>,
}

impl DeadRows for Heap {
    fn find(&self, block: BlockNo, roots: &[OffsetNo], dead: &mut Vec<OffsetNo>) -> Result<(), SqlError> {
        self.looks.set(self.looks.get() + 1);
        let all = self.dead.borrow();
        dead.extend(roots.iter().filter(|&&n| all.contains(&Tid::new(block, n))));
        Ok(())
    }
}

impl Heap {
    /// Enters a row, and tells how many heap pages were looked at for that.
    fn enter(&self, world: &World, n: i32, tid: Tid) -> usize {
        let before = self.looks.get();
        insert(&world.access(), &world.rel, &world.shape.row(n), tid, UniqueCheck::No, self).unwrap();
        self.looks.get() - before
    }
}

fn pages(world: &World) -> u32 {
    world.store.pool.nblocks(world.rel.desc.file, base::Fork::Main).unwrap()
}

/// Rows are updated without end, one version after the other; each gets an entry, whether its key changes or not.
fn update(shape: Shape, rows: i32, step: i32) {
    let mut world = World::new(shape, 1024);
    let heap = Heap::default();
    let mut current: Vec<(i32, Tid)> = (0..rows).map(|n| (n, world.new_tid())).collect();
    for &(n, tid) in &current {
        heap.enter(&world, n, tid);
    }
    let mut random = Random(7);
    let before = pages(&world);
    for _ in 0..40 * rows {
        let row = random.below(rows as u64) as usize;
        let new = world.new_tid();
        let (n, old) = std::mem::replace(&mut current[row], (0, new));
        current[row].0 = n + step;
        heap.enter(&world, n + step, new);
        heap.dead.borrow_mut().insert(old);
    }
    // A leaf is half full after a split that was due; the last one also splits as keys grow beyond it.
    assert!(pages(&world) <= 2 * before + 1, "{shape:?}: {before} pages became {}", pages(&world));
    for (n, tid) in current {
        world.remember(world.shape.row(n), tid);
    }
    // What is left over of dead rows goes.
    let dead = heap.dead.take();
    world.vacuum(|tid| dead.contains(&tid));
    world.check();
    check_redo(&world);
}

#[test]
fn versions_of_rows_do_not_split_leaves() {
    update(Shape::Int, 2000, 0);
    update(Shape::Int, 2000, 1);
    update(Shape::Included, 1000, 0);
    update(Shape::Included, 1000, 1);
    update(Shape::Mixed, 1000, 0);
}

#[test]
fn some_rows_of_a_posting_list_go() {
    let mut world = World::new(Shape::Int, 256);
    let heap = Heap::default();
    let mut random = Random(3);
    let mut current: Vec<Tid> = Vec::new();
    for n in 0..20_000u32 {
        // All over the table, so that all leaves get some.
        let at = n * 7919 % 20_011;
        let tid = Tid::new(BlockNo(at / 100), (at % 100 + 1) as OffsetNo);
        heap.enter(&world, 5, tid);
        current.push(tid);
        // Two of three rows die, whatever list they are in.
        if n % 3 != 0 {
            let old = current.swap_remove(random.below(current.len() as u64) as usize);
            heap.dead.borrow_mut().insert(old);
        }
    }
    for &tid in &current {
        world.remember(world.shape.row(5), tid);
    }
    let entries = world.verify().entries;
    assert!(entries < 11_000, "{entries} entries of {} rows are left", current.len());
    let dead = heap.dead.take();
    world.vacuum(|tid| dead.contains(&tid));
    world.check();
    check_redo(&world);
}

#[test]
fn looking_that_does_not_pay_ends_soon() {
    let mut world = World::new(Shape::Int, 256);
    let heap = Heap::default();
    let mut random = Random(5);
    let mut most = 0;
    for n in 0..20_000 {
        // Each row on a page of its own.
        let tid = Tid::new(BlockNo(random.below(1 << 20) as u32 * 4096 + n), 1);
        let key = random.below(100_000) as i32 * 97;
        most = most.max(heap.enter(&world, key, tid));
        world.remember(world.shape.row(key), tid);
    }
    assert!(most > 0 && most <= 64, "{most} pages");
    world.check();
}
