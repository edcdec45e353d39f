//! # What
//! A random sample of a table's rows in two stages: Knuth's selection sampling chooses blocks, a reservoir chooses rows of these.
//!
//! # PostgreSQL counterpart and differences
//! `acquire_sample_rows` of `commands/analyze.c`, `utils/misc/sampling.c`. The reservoir draws once a row (Vitter's algorithm R).

use std::sync::Arc;

use base::{Fork, SqlError, SqlResult};
use buffer::{Purpose, ReadStream, RingKind};
use catalog::{RelationKind, Table};
use heap::HeapError;
use session::Session;
use session::progress::Progress;
use tuple::Datum;

use super::vacuum::Pace;

/// What was found.
pub(crate) struct Sample {
    /// Rows in physical order, all columns, large values fetched.
    pub(crate) rows: Vec<Vec<Datum>>,
    /// Pages of the table.
    pub(crate) pages: u32,
    /// Pages looked at.
    pub(crate) scanned: u32,
    /// Live rows on these.
    pub(crate) live: u64,
    /// Dead rows on these.
    pub(crate) dead: u64,
}

impl Sample {
    /// Rows of the whole table, by the density of the pages looked at.
    pub(crate) fn total(&self) -> f64 {
        self.of_all(self.live)
    }

    /// Dead rows of the whole table, likewise.
    pub(crate) fn total_dead(&self) -> f64 {
        self.of_all(self.dead)
    }

    fn of_all(&self, found: u64) -> f64 {
        if self.scanned == 0 {
            return 0.0;
        }
        (found as f64 / f64::from(self.scanned) * f64::from(self.pages) + 0.5).floor()
    }
}

/// A small generator: samples need speed, not secrecy.
pub(crate) struct Random(u64);

impl Random {
    /// Starts anywhere.
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// Evenly in `0.0..1.0`.
    fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((x ^ (x >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Evenly in `0..n`.
    fn below(&mut self, n: u64) -> u64 {
        (self.share() * n as f64) as u64
    }
}

/// `want` of `total` blocks, ascending, each subset equally likely.
pub(crate) fn choose_blocks(total: u32, want: usize, random: &mut Random) -> Vec<u32> {
    let mut chosen = Vec::with_capacity(want.min(total as usize));
    for block in 0..total {
        let left = f64::from(total - block);
        let need = (want - chosen.len()) as f64;
        if need > 0.0 && random.share() * left < need {
            chosen.push(block);
        }
    }
    chosen
}

// Figures of `pg_stat_progress_analyze`.
pub(crate) const PHASE: usize = 1;
const BLOCKS: usize = 2;
const BLOCKS_SCANNED: usize = 3;
const DELAY_TIME: usize = 9;

pub(crate) const SAMPLING: i64 = 1;
pub(crate) const COMPUTING: i64 = 3;
pub(crate) const COMPUTING_EXTENDED: i64 = 4;
pub(crate) const FINALIZING: i64 = 5;

/// Takes `want` rows of a table at most.
/// `ring`: bytes of the ring of buffers, 0 for all of the pool.
pub(crate) fn take(
    session: &Session,
    table: &Table,
    (want, ring): (usize, usize),
    (progress, pace): (&Progress, &Pace<'_>),
) -> SqlResult<Sample> {
    if table.kind == RelationKind::ForeignTable {
        return foreign(session, &Arc::new(table.clone()), want);
    }
    let Some(heap) = &table.heap else { return Err(SqlError::internal("a table without rows")) };
    let access = session.engine().heap_access();
    let pages = session.blocks(heap.desc.file)?;
    let mut random = Random::new(runtime::random_u64());
    let blocks = choose_blocks(pages, want, &mut random);
    let ring = (ring > 0).then(|| access.pool.ring_of(RingKind::Vacuum, ring));
    progress.set(BLOCKS, blocks.len() as i64);
    let mut sample = Sample { rows: Vec::new(), pages, scanned: blocks.len() as u32, live: 0, dead: 0 };
    // Place among all rows met, so that the sample can be put back into physical order.
    let mut places: Vec<u64> = Vec::new();
    let mut met = 0;
    let file = (heap.desc.file, Fork::Main);
    let mut stream = ReadStream::new(access.pool, file, ring.as_ref(), Purpose::Maintenance);
    let mut blocks = blocks.into_iter();
    loop {
        pace.pause(progress, DELAY_TIME).map_err(plan::interrupted)?;
        let Some(pin) = stream.next(access.pool, ring.as_ref(), || blocks.next())? else { break };
        let me = session.txn.borrow();
        let counts = heap::sample_page(&access, heap, &me, pin, &mut |row| {
            let slot = met;
            met += 1;
            let at = if slot < want as u64 { slot } else { random.below(slot + 1) };
            if at >= want as u64 {
                return Ok(());
            }
            let mut values = Vec::with_capacity(heap.desc.layout.len());
            row.decode(&heap.desc.layout, heap.desc.layout.len(), &mut values)
                .map_err(|_| HeapError::Callback(SqlError::internal("corrupt row")))?;
            if at as usize == sample.rows.len() {
                sample.rows.push(values);
                places.push(slot);
            } else {
                sample.rows[at as usize] = values;
                places[at as usize] = slot;
            }
            Ok(())
        })
        .map_err(HeapError::into_sql)?;
        progress.add(BLOCKS_SCANNED, 1);
        sample.live += counts.live;
        sample.dead += counts.dead;
    }
    let mut order: Vec<usize> = (0..sample.rows.len()).collect();
    order.sort_unstable_by_key(|&i| places[i]);
    let rows = &mut sample.rows;
    sample.rows = order.into_iter().map(|i| std::mem::take(&mut rows[i])).collect();
    Ok(sample)
}

/// `want` rows of a foreign table at most. All are read.
fn foreign(session: &Session, table: &Arc<Table>, want: usize) -> SqlResult<Sample> {
    let pages = session.foreign_pages(table)?.unwrap_or(0).max(1);
    let mut sample = Sample { rows: Vec::new(), pages, scanned: pages, live: 0, dead: 0 };
    let mut random = Random::new(runtime::random_u64());
    let mut scan = session.begin_foreign(table, &vec![true; table.columns.len()])?;
    let mut row = Vec::new();
    while scan.next(session, &mut row)? {
        runtime::check_interrupts().map_err(plan::interrupted)?;
        if sample.rows.len() < want {
            sample.rows.push(std::mem::take(&mut row));
        } else if let Some(place) = sample.rows.get_mut(random.below(sample.live + 1) as usize) {
            std::mem::swap(place, &mut row);
        }
        sample.live += 1;
    }
    Ok(sample)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_as_many_as_wanted_and_ascending() {
        let mut random = Random::new(1);
        for (total, want) in [(0, 10), (5, 10), (1000, 10), (1000, 999)] {
            let blocks = choose_blocks(total, want, &mut random);
            assert_eq!(blocks.len(), want.min(total as usize));
            assert!(blocks.windows(2).all(|w| w[0] < w[1]));
        }
    }

    #[test]
    fn every_block_has_the_same_chance() {
        let mut random = Random::new(7);
        let mut hits = [0u32; 20];
        for _ in 0..2000 {
            for block in choose_blocks(20, 5, &mut random) {
                hits[block as usize] += 1;
            }
        }
        assert!(hits.iter().all(|&n| (400..600).contains(&n)), "{hits:?}");
    }
}
