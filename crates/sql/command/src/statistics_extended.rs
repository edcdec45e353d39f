//! # What
//! From a sample of several columns to what is known of them together: numbers of distinct combinations, how far columns decide others, the most
//! common combinations. Pure.
//!
//! # PostgreSQL counterpart
//! `statistics/mvdistinct.c`, `dependencies.c`, `mcv.c`.

use base::Oid;
use tuple::Datum;
use types::extended_statistics::{Combination, CommonItem, CommonItems};

use super::statistics::{Compare, width};

/// Rows with longer values are in no list of common combinations, and decide nothing.
const TOO_WIDE: usize = 1024;

/// A column, or an expression, in the sampled rows.
pub(crate) struct Sampled {
    /// Its number.
    number: i16,
    type_oid: Oid,
    values: Vec<Datum>,
    /// The place of each row's value among the different ones; NULLs are the last.
    ranks: Vec<u32>,
}

impl Sampled {
    /// With how its values compare.
    pub(crate) fn new(number: i16, type_oid: Oid, values: Vec<Datum>, compare: Compare) -> Sampled {
        let order = |a: &Datum, b: &Datum| {
            a.is_null().cmp(&b.is_null()).then_with(|| match a.is_null() {
                true => std::cmp::Ordering::Equal,
                false => compare.compare(a, b),
            })
        };
        let mut sorted: Vec<usize> = (0..values.len()).collect();
        sorted.sort_by(|a, b| order(&values[*a], &values[*b]));
        let mut ranks = vec![0; values.len()];
        let mut rank = 0;
        for (at, row) in sorted.iter().enumerate() {
            if at > 0 && order(&values[sorted[at - 1]], &values[*row]).is_ne() {
                rank += 1;
            }
            ranks[*row] = rank;
        }
        Sampled { number, type_oid, values, ranks }
    }
}

/// The columns of an object in the sampled rows.
pub(crate) struct Sample {
    columns: Vec<Sampled>,
    /// Number of sampled rows.
    rows: usize,
    /// Rows in the table, by estimate.
    total: f64,
    /// Rows without values that are too wide.
    narrow: Vec<usize>,
}

impl Sample {
    pub(crate) fn new(columns: Vec<Sampled>, rows: usize, total: f64) -> Sample {
        let fits = |row: &usize| columns.iter().all(|column| width(&column.values[*row]) <= TOO_WIDE);
        let narrow = (0..rows).filter(fits).collect();
        Sample { columns, rows, total, narrow }
    }

    /// Groups of rows that agree in `columns`, in their order.
    fn groups(&self, columns: &[usize], rows: &[usize]) -> Vec<Vec<usize>> {
        let key = |row: usize| columns.iter().map(move |column| self.columns[*column].ranks[row]);
        let mut sorted = rows.to_vec();
        sorted.sort_by(|a, b| key(*a).cmp(key(*b)));
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for row in sorted {
            match groups.last_mut() {
                Some(group) if key(group[0]).eq(key(row)) => group.push(row),
                _ => groups.push(vec![row]),
            }
        }
        groups
    }

    fn numbers(&self, columns: &[usize]) -> Vec<i16> {
        columns.iter().map(|column| self.columns[*column].number).collect()
    }

    /// How many different ones there are of each combination of two columns or more.
    pub(crate) fn distinct(&self) -> Vec<Combination> {
        let all: Vec<usize> = (0..self.rows).collect();
        let mut out = Vec::new();
        for size in 2..=self.columns.len() {
            for columns in choices(self.columns.len(), size) {
                let groups = self.groups(&columns, &all);
                let once = groups.iter().filter(|group| group.len() == 1).count();
                let figure = self.estimate(groups.len() as f64, once as f64);
                out.push(Combination { columns: self.numbers(&columns), figure });
            }
        }
        out
    }

    /// The estimate of Haas and Stokes for the whole table, where the sample has `distinct` combinations, and `once` of these in one row only.
    fn estimate(&self, distinct: f64, once: f64) -> f64 {
        let rows = self.rows as f64;
        let estimate = rows * distinct / ((rows - once) + once * rows / self.total);
        (estimate.max(distinct).min(self.total) + 0.5).floor()
    }

    /// How far columns decide another one, where they do at all.
    pub(crate) fn dependencies(&self) -> Vec<Combination> {
        let count = self.columns.len();
        let mut out = Vec::new();
        for size in 2..=count {
            for by in choices(count, size - 1) {
                for implied in (0..count).filter(|column| !by.contains(column)) {
                    let figure = self.degree(&by, implied);
                    if figure > 0.0 {
                        let mut columns = self.numbers(&by);
                        columns.push(self.columns[implied].number);
                        out.push(Combination { columns, figure });
                    }
                }
            }
        }
        out
    }

    /// The share of rows that agree with all others of the same values in `by`.
    fn degree(&self, by: &[usize], implied: usize) -> f64 {
        let ranks = &self.columns[implied].ranks;
        let agrees = |group: &&Vec<usize>| group.iter().all(|row| ranks[*row] == ranks[group[0]]);
        let groups = self.groups(by, &self.narrow);
        let supporting: usize = groups.iter().filter(agrees).map(Vec::len).sum();
        supporting as f64 / self.rows as f64
    }

    /// The most common combinations of all columns, `most` of them at most; none if there is nothing to say.
    pub(crate) fn common(&self, most: usize) -> Option<CommonItems> {
        let columns: Vec<usize> = (0..self.columns.len()).collect();
        let mut groups = self.groups(&columns, &self.narrow);
        groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
        groups.truncate(most);
        let least = self.least_count();
        let keep = groups.iter().position(|group| (group.len() as f64) < least).unwrap_or(groups.len());
        groups.truncate(keep);
        if groups.is_empty() {
            return None;
        }
        let counts: Vec<Vec<f64>> = self.columns.iter().map(|column| self.counts(column)).collect();
        let rows = self.rows as f64;
        let item = |group: &Vec<usize>| {
            let row = group[0];
            let shares =
                self.columns.iter().zip(&counts).map(|(c, counts)| counts[c.ranks[row] as usize] / rows);
            CommonItem {
                values: self.columns.iter().map(|column| column.values[row].clone()).collect(),
                share: group.len() as f64 / rows,
                base_share: shares.product(),
            }
        };
        let types = self.columns.iter().map(|column| column.type_oid).collect();
        Some(CommonItems { types, items: groups.iter().map(item).collect() })
    }

    /// How many of the rows have each value of a column.
    fn counts(&self, column: &Sampled) -> Vec<f64> {
        let mut counts = vec![0.0; column.ranks.iter().max().map_or(0, |rank| *rank as usize + 1)];
        self.narrow.iter().for_each(|row| counts[column.ranks[*row] as usize] += 1.0);
        counts
    }

    /// How often a combination must be in the sample for its share of the table to be known to some 20 %.
    fn least_count(&self) -> f64 {
        let (n, all) = (self.rows as f64, self.total);
        let denominator = all - n + 0.04 * n * (all - 1.0);
        if denominator == 0.0 { 0.0 } else { n * (all - n) / denominator }
    }
}

/// All choices of `size` of `count` things, in their order.
fn choices(count: usize, size: usize) -> Vec<Vec<usize>> {
    let mut out = vec![Vec::new()];
    for _ in 0..size {
        let next = |start: &Vec<usize>| {
            let from = start.last().map_or(0, |last| last + 1);
            let start = start.clone();
            (from..count).map(move |at| start.iter().copied().chain([at]).collect::<Vec<_>>())
        };
        out = out.iter().flat_map(next).collect();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::tests::ints;

    fn sample(rows: &[[i32; 3]], total: f64) -> Sample {
        let column = |at: usize| {
            let value = |row: &[i32; 3]| if row[at] < 0 { Datum::Null } else { Datum::Int4(row[at]) };
            let values = rows.iter().map(value).collect();
            Sampled::new(at as i16 + 1, types::oids::int4, values, types::Order::Plain(ints))
        };
        Sample::new((0..3).map(column).collect(), rows.len(), total)
    }

    #[test]
    fn combinations_are_counted() {
        let rows: Vec<[i32; 3]> = (0..100).map(|i| [i % 10, i % 5, i % 3]).collect();
        let found: Vec<_> = sample(&rows, 100.0).distinct();
        let figure = |columns: &[i16]| found.iter().find(|c| c.columns == columns).unwrap().figure;
        assert_eq!(figure(&[1, 2]), 10.0);
        assert_eq!(figure(&[2, 3]), 15.0);
        assert_eq!(figure(&[1, 2, 3]), 30.0);
        assert_eq!(found.len(), 4);
    }

    #[test]
    fn combinations_that_are_there_once_stand_for_others() {
        let rows: Vec<[i32; 3]> = (0..100).map(|i| [i, i, 0]).collect();
        assert_eq!(sample(&rows, 1000.0).distinct()[0].figure, 1000.0);
    }

    #[test]
    fn what_decides_what_is_told_by_degree() {
        let mut rows: Vec<[i32; 3]> = (0..100).map(|i| [i % 10, i % 5, i % 2]).collect();
        rows[0][1] = 77;
        let found = sample(&rows, 100.0).dependencies();
        let degree = |columns: &[i16]| found.iter().find(|c| c.columns == columns).map(|c| c.figure);
        assert_eq!(degree(&[1, 3]), Some(1.0));
        assert_eq!(degree(&[1, 2]), Some(0.9));
        assert_eq!(degree(&[3, 1]), None);
        assert_eq!(degree(&[1, 3, 2]), Some(0.9));
    }

    #[test]
    fn common_combinations_come_with_what_independence_would_make_of_them() {
        let rows: Vec<[i32; 3]> = (0..100).map(|i| [i % 2, i % 2, if i % 4 == 0 { -1 } else { 1 }]).collect();
        let found = sample(&rows, 100.0).common(2).unwrap();
        assert_eq!(found.items.len(), 2);
        assert_eq!(found.items[0].values, [Datum::Int4(1), Datum::Int4(1), Datum::Int4(1)]);
        assert_eq!((found.items[0].share, found.items[0].base_share), (0.5, 0.5 * 0.5 * 0.75));
        assert_eq!(found.items[1].values[0], Datum::Int4(0));
        // Of a large table a combination in a few rows of the sample says nothing.
        let few: Vec<[i32; 3]> = (0..100).map(|i| [i, i, i]).collect();
        assert_eq!(sample(&few, 1.0e6).common(100), None);
    }
}
