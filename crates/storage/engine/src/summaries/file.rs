//! # Layout
//! The file of a summary, `pg_wal/summaries/` and then, in hexadecimal, the time line, where it begins and where it ends, and `.summary`. Numbers are little-endian; those marked with *
//! are of as many bytes as they need, seven bits each, the lowest first, and all but the last have their highest bit set.
//!
//! | bytes | |
//! |---|---|
//! | 8 | `stmpsum1` |
//! | 4 | number of forks |
//! | | the forks, ascending |
//! | 4 | CRC-32C of all before |
//!
//! | bytes | a fork |
//! |---|---|
//! | 13 | tablespace, database, file number, u32 each; fork u8 |
//! | * | 0: no limit; else the limit and 1 |
//! | * | number of runs of changed blocks |
//! | * * | of each run: blocks between the end of the one before and its beginning; how many there are |

use base::{BlockNo, Fork, Lsn, Oid, RelFile, TimelineId};

use super::table::BlockTable;

const MAGIC: &[u8; 8] = b"stmpsum1";
/// Bytes that name a fork.
const FORK: usize = 13;

/// A stretch of the log that there is a summary of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Summary {
    /// The time line.
    pub timeline: TimelineId,
    /// Where it begins.
    pub start: Lsn,
    /// Where it ends.
    pub end: Lsn,
}

/// Why bytes are no summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadSummary {
    /// They do not begin as one.
    Foreign,
    /// Their check sum is wrong.
    Checksum,
    /// Their parts do not add up.
    Malformed,
}

impl std::fmt::Display for BadSummary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            BadSummary::Foreign => "it is no summary of this server's log",
            BadSummary::Checksum => "its check sum is wrong",
            BadSummary::Malformed => "its contents do not add up",
        })
    }
}

impl Summary {
    /// Name of its file.
    pub fn file_name(&self) -> String {
        format!("{:08X}{:016X}{:016X}.summary", self.timeline.0, self.start.0, self.end.0)
    }

    /// The summary whose file has this name.
    pub fn of_file(name: &str) -> Option<Summary> {
        let digits = name.strip_suffix(".summary").filter(|digits| digits.len() == 40)?;
        let number = |part: &str| u64::from_str_radix(part, 16).ok();
        let timeline = TimelineId(u32::try_from(number(digits.get(..8)?)?).ok()?);
        let summary =
            Summary { timeline, start: Lsn(number(&digits[8..24])?), end: Lsn(number(&digits[24..])?) };
        (summary.file_name() == name).then_some(summary)
    }
}

/// The bytes of a summary.
pub(super) fn encode(table: &BlockTable) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    out.extend((table.forks().count() as u32).to_le_bytes());
    for (rel, fork, changes) in table.forks() {
        for number in [rel.tablespace.0, rel.database.0, rel.number] {
            out.extend(number.to_le_bytes());
        }
        out.push(fork as u8);
        put(&mut out, changes.limit.map_or(0, |limit| u64::from(limit.0) + 1));
        let runs = runs(changes.blocks.iter());
        put(&mut out, runs.len() as u64);
        let mut behind = 0;
        for (first, count) in runs {
            put(&mut out, first - behind);
            put(&mut out, count);
            behind = first + count;
        }
    }
    out.extend(crc32c::crc32c(&out).to_le_bytes());
    out
}

/// Blocks that follow each other, as the first and how many.
pub fn runs(blocks: impl Iterator<Item = BlockNo>) -> Vec<(u64, u64)> {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for block in blocks {
        let block = u64::from(block.0);
        match runs.last_mut() {
            Some((first, count)) if *first + *count == block => *count += 1,
            _ => runs.push((block, 1)),
        }
    }
    runs
}

/// The summary that bytes are.
pub fn decode(bytes: &[u8]) -> Result<BlockTable, BadSummary> {
    let rest = bytes.strip_prefix(MAGIC).ok_or(BadSummary::Foreign)?;
    let (body, sum) =
        bytes.split_last_chunk::<4>().filter(|_| rest.len() >= 8).ok_or(BadSummary::Malformed)?;
    if crc32c::crc32c(body) != u32::from_le_bytes(*sum) {
        return Err(BadSummary::Checksum);
    }
    decode_forks(&body[MAGIC.len()..]).ok_or(BadSummary::Malformed)
}

fn decode_forks(bytes: &[u8]) -> Option<BlockTable> {
    let (count, mut rest) = bytes.split_first_chunk::<4>()?;
    let (mut table, mut before) = (BlockTable::default(), None);
    for _ in 0..u32::from_le_bytes(*count) {
        let (name, behind) = rest.split_first_chunk::<FORK>()?;
        rest = behind;
        let number = |at: usize| name[at..at + 4].try_into().map(u32::from_le_bytes).ok();
        let rel = RelFile { tablespace: Oid(number(0)?), database: Oid(number(4)?), number: number(8)? };
        let fork = Fork::from_u8(name[12])?;
        if before.is_some_and(|before| before >= (rel, fork)) {
            return None;
        }
        before = Some((rel, fork));
        if let Some(limit) = get(&mut rest)?.checked_sub(1) {
            table.cut(rel, fork, BlockNo(u32::try_from(limit).ok()?));
        }
        let mut next = 0u64;
        for run in 0..get(&mut rest)? {
            let (gap, count) = (get(&mut rest)?, get(&mut rest)?);
            let first = next.checked_add(gap)?;
            next = first.checked_add(count)?;
            if count == 0 || (run > 0 && gap == 0) || next > u64::from(u32::MAX) {
                return None;
            }
            table.insert_range(rel, fork, BlockNo(first as u32)..BlockNo(next as u32));
        }
    }
    rest.is_empty().then_some(table)
}

fn put(out: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn get(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for shift in (0..35).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that look random, the same each time.
    fn numbers(mut seed: u64) -> impl FnMut(u64) -> u64 {
        move |below| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        }
    }

    fn random_table(seed: u64) -> BlockTable {
        let (mut next, mut table) = (numbers(seed), BlockTable::default());
        for _ in 0..next(20) {
            let rel =
                RelFile { tablespace: Oid(1663), database: Oid(next(3) as u32), number: next(10) as u32 };
            let fork = [Fork::Main, Fork::Vm, Fork::Init][next(3) as usize];
            let first = next(u64::from(u32::MAX) - 40_000) as u32;
            match next(3) {
                0 => table.cut(rel, fork, BlockNo(first)),
                1 => table.insert(rel, fork, BlockNo(first)),
                _ => (0..next(30_000)).for_each(|n| table.insert(rel, fork, BlockNo(first + n as u32))),
            }
        }
        table
    }

    #[test]
    fn what_is_written_is_read() {
        for seed in 0..60 {
            let table = random_table(seed);
            assert_eq!(decode(&encode(&table)), Ok(table), "seed {seed}");
        }
    }

    #[test]
    fn damaged_bytes_are_refused() {
        for seed in 0..200 {
            let (mut next, bytes) = (numbers(seed), encode(&random_table(seed)));
            let at = next(bytes.len() as u64) as usize;
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << next(8);
            assert!(decode(&flipped).is_err(), "seed {seed}: bit of byte {at}");
            assert!(decode(&bytes[..at]).is_err(), "seed {seed}: cut to {at}");
            assert!(decode(&[&bytes[..], b"x"].concat()).is_err(), "seed {seed}: longer");
        }
        assert_eq!(decode(b""), Err(BadSummary::Foreign));
        assert_eq!(decode(MAGIC), Err(BadSummary::Malformed));
    }

    /// Bytes with the right check sum that no server writes: an error, and neither a panic nor a loop.
    #[test]
    fn whatever_the_contents_are_they_are_read_or_refused() {
        for seed in 0..2000 {
            let (mut next, mut bytes) = (numbers(seed), encode(&random_table(seed % 50)));
            bytes.truncate(bytes.len() - 4);
            bytes.truncate(400);
            for _ in 0..=next(4) {
                let at = MAGIC.len() + next((bytes.len() - MAGIC.len()) as u64) as usize;
                bytes[at] = next(256) as u8;
            }
            bytes.extend(crc32c::crc32c(&bytes).to_le_bytes());
            // Billions of blocks are right, and take long.
            let small =
                |table: &BlockTable| table.forks().all(|(.., changes)| changes.blocks.len() < 1 << 20);
            if let Some(table) = decode(&bytes).ok().filter(small) {
                assert_eq!(decode(&encode(&table)), Ok(table), "seed {seed}");
            }
        }
    }

    #[test]
    fn names_of_files() {
        let summary = Summary { timeline: TimelineId(1), start: Lsn(0x1_0000_0028), end: Lsn(0x1_0200_0028) };
        let name = "0000000100000001000000280000000102000028.summary";
        assert_eq!(summary.file_name(), name);
        assert_eq!(Summary::of_file(name), Some(summary));
        for other in ["temp.summary", &name.to_lowercase().replace('a', "b")[1..], &format!("{name}.tmp")] {
            assert_eq!(Summary::of_file(other), None, "{other}");
        }
    }
}
