//! Peer groups of a window partition: one bit a row tells whether a group begins there.

/// Rows of a partition in groups, both counted from 0.
#[derive(Default)]
pub struct Peers {
    /// Where groups begin.
    bits: Vec<u64>,
    /// Groups that begin before each word.
    before: Vec<u64>,
    rows: u64,
    groups: u64,
}

impl Peers {
    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.bits.clear();
        self.before.clear();
        (self.rows, self.groups) = (0, 0);
    }

    /// Appends a row; the first one begins a group anyway.
    pub fn push(&mut self, begins: bool) {
        if self.rows.is_multiple_of(64) {
            self.bits.push(0);
            self.before.push(self.groups);
        }
        if begins || self.rows == 0 {
            self.bits[(self.rows / 64) as usize] |= 1 << (self.rows % 64);
            self.groups += 1;
        }
        self.rows += 1;
    }

    /// The group of a row.
    pub fn group_of(&self, row: u64) -> u64 {
        let word = (row / 64) as usize;
        let upto = self.bits[word] & (u64::MAX >> (63 - row % 64));
        self.before[word] + u64::from(upto.count_ones()) - 1
    }

    /// The first row of a group; the number of rows if there is no such group.
    pub fn start_of(&self, group: u64) -> u64 {
        if group >= self.groups {
            return self.rows;
        }
        let word = self.before.partition_point(|before| *before <= group) - 1;
        let mut bits = self.bits[word];
        for _ in self.before[word]..group {
            bits &= bits - 1;
        }
        word as u64 * 64 + u64::from(bits.trailing_zeros())
    }

    /// The row behind the last of a group.
    pub fn end_of(&self, group: u64) -> u64 {
        self.start_of(group.saturating_add(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_found_by_row_and_rows_by_group() {
        for every in [1, 2, 3, 63, 64, 65, 200, 1000] {
            let mut peers = Peers::default();
            for _ in 0..2 {
                peers.clear();
                for row in 0..500 {
                    peers.push(row % every == 0);
                }
                for row in 0..500 {
                    let group = row / every;
                    assert_eq!(peers.group_of(row), group);
                    assert_eq!(peers.start_of(group), group * every);
                    assert_eq!(peers.end_of(group), ((group + 1) * every).min(500));
                }
                assert_eq!(peers.start_of(500), 500);
                assert_eq!(peers.end_of(u64::MAX), 500);
            }
        }
    }
}
