//! A table that is sorted by any column, filtered, and fitted into a width.

use std::cmp::Ordering;

/// By what a cell is sorted.
#[derive(Clone, Debug, PartialEq)]
pub enum Key {
    /// Numbers; what is unknown is [`f64::NEG_INFINITY`].
    Number(f64),
    /// Words.
    Text,
}

/// What stands in a row under a column.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// As shown.
    pub text: String,
    /// As sorted.
    pub key: Key,
}

impl Cell {
    /// A word, sorted as such.
    pub fn text(text: impl Into<String>) -> Cell {
        Cell { text: text.into(), key: Key::Text }
    }

    /// Something sorted by a number.
    pub fn number(number: f64, text: impl Into<String>) -> Cell {
        Cell { text: text.into(), key: Key::Number(number) }
    }

    fn compare(&self, other: &Cell) -> Ordering {
        match (&self.key, &other.key) {
            (Key::Number(a), Key::Number(b)) => a.total_cmp(b),
            _ => self.text.cmp(&other.text),
        }
    }
}

/// How a column is shown.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its heading.
    pub title: &'static str,
    /// The width that it needs at least to be of use; less if its cells are shorter.
    pub min: usize,
    /// The width that it never exceeds.
    pub max: usize,
    /// Which columns go first where there is not room for all: those of the lowest rank.
    pub rank: u8,
    /// Whether cells end at the same place, as numbers do.
    pub right: bool,
    /// Whether the largest come first.
    pub falling: bool,
}

/// A row, of as many cells as there are columns.
#[derive(Clone, Debug)]
pub struct Row {
    /// What tells it from others, also in later tables.
    pub key: String,
    /// The session that it is about.
    pub pid: Option<i32>,
    /// How it stands out.
    pub tone: Tone,
    /// Its cells.
    pub cells: Vec<Cell>,
}

/// How a row stands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// As text.
    Plain,
    /// Of little interest.
    Faint,
    /// Does something.
    Busy,
    /// Worth a look.
    Warning,
    /// Waits for others.
    Blocked,
}

/// Rows under columns. The last column is as wide as there is room.
#[derive(Clone, Debug)]
pub struct Table {
    /// From left to right.
    pub columns: &'static [Column],
    /// From top to bottom.
    pub rows: Vec<Row>,
    /// What is said if there is no row.
    pub empty: &'static str,
}

/// Room that the last column gets at least, where there is so much.
const LAST: usize = 19;

impl Table {
    /// Sorts by a column; rows that are equal there keep their order. `reversed`: the other way round.
    pub fn sort(&mut self, column: usize, reversed: bool) {
        let falling = self.columns[column].falling != reversed;
        self.rows.sort_by(|a, b| {
            let order = a.cells[column].compare(&b.cells[column]);
            if falling { order.reverse() } else { order }
        });
    }

    /// Keeps the rows that contain a text in some cell, in small or capital letters.
    pub fn filter(&mut self, text: &str) {
        let text = text.to_lowercase();
        self.rows.retain(|row| row.cells.iter().any(|cell| cell.text.to_lowercase().contains(&text)));
    }

    /// Widths of all columns, 0 for those that have no room. One blank stands between two.
    pub fn fit(&self, width: usize) -> Vec<usize> {
        let last = self.columns.len() - 1;
        let wanted: Vec<usize> = (0..last).map(|at| self.wanted(at)).collect();
        let mut ranks: Vec<u8> = self.columns[..last].iter().map(|column| column.rank).collect();
        ranks.sort_unstable();
        let limits = std::iter::once(0).chain(ranks.iter().map(|rank| rank + 1));
        for limit in limits {
            let shown: Vec<usize> = (0..last).filter(|&at| self.columns[at].rank >= limit).collect();
            let least: usize = shown.iter().map(|&at| self.least(at, &wanted) + 1).sum();
            if least + LAST <= width || shown.is_empty() {
                return self.share(width, &shown, &wanted);
            }
        }
        vec![0; self.columns.len()]
    }

    /// The width of a column's widest cell, within bounds.
    fn wanted(&self, at: usize) -> usize {
        let column = &self.columns[at];
        let cells = self.rows.iter().map(|row| width(&row.cells[at].text));
        // A mark may stand beside the title.
        cells.max().unwrap_or(0).min(column.max).max(width(column.title) + 1)
    }

    fn least(&self, at: usize, wanted: &[usize]) -> usize {
        self.columns[at].min.min(wanted[at])
    }

    /// Gives columns what they want, as far as there is room: those of a high rank first.
    fn share(&self, width: usize, shown: &[usize], wanted: &[usize]) -> Vec<usize> {
        let mut widths = vec![0; self.columns.len()];
        let mut rest = width;
        for &at in shown {
            widths[at] = self.least(at, wanted);
            rest = rest.saturating_sub(widths[at] + 1);
        }
        let mut by_rank = shown.to_vec();
        by_rank.sort_by_key(|&at| std::cmp::Reverse(self.columns[at].rank));
        for at in by_rank {
            let more = (wanted[at] - widths[at]).min(rest.saturating_sub(LAST));
            widths[at] += more;
            rest -= more;
        }
        widths[self.columns.len() - 1] = rest;
        widths
    }
}

/// Columns of the terminal that a text takes.
pub fn width(text: &str) -> usize {
    ratatui::text::Span::raw(text).width()
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: &[Column] = &[
        Column { title: "ID", min: 4, max: 6, rank: 9, right: true, falling: false },
        Column { title: "NAME", min: 6, max: 20, rank: 1, right: false, falling: false },
        Column { title: "TIME", min: 5, max: 6, rank: 5, right: true, falling: true },
        Column { title: "QUERY", min: 0, max: 0, rank: 9, right: false, falling: false },
    ];

    fn table() -> Table {
        let row = |id: i32, name: &str, time: f64, query: &str| Row {
            key: id.to_string(),
            pid: Some(id),
            tone: Tone::Plain,
            cells: vec![
                Cell::number(id.into(), id.to_string()),
                Cell::text(name),
                Cell::number(time, time.to_string()),
                Cell::text(query),
            ],
        };
        let rows = vec![
            row(10, "b", 1.0, "select 1"),
            row(9, "a-long-name", 30.0, "UPDATE t"),
            row(8, "b", 2.0, "x"),
        ];
        Table { columns: COLUMNS, rows, empty: "" }
    }

    fn ids(table: &Table) -> Vec<&str> {
        table.rows.iter().map(|row| row.key.as_str()).collect()
    }

    #[test]
    fn sorts_numbers_as_numbers_and_keeps_the_order_of_equals() {
        let mut table = table();
        table.sort(0, false);
        assert_eq!(ids(&table), ["8", "9", "10"]);
        table.sort(2, false);
        assert_eq!(ids(&table), ["9", "8", "10"]);
        table.sort(1, true);
        assert_eq!(ids(&table), ["8", "10", "9"]);
    }

    #[test]
    fn filters_in_all_columns() {
        let mut table = table();
        table.filter("update");
        assert_eq!(ids(&table), ["9"]);
        table.filter("nothing");
        assert!(table.rows.is_empty());
    }

    #[test]
    fn fits() {
        let table = table();
        // All as they want: 3 + 11 + 5, and the rest to the last.
        assert_eq!(table.fit(80), [3, 11, 5, 58]);
        // The name is cut first, then goes.
        assert_eq!(table.fit(38), [3, 8, 5, 19]);
        assert_eq!(table.fit(30), [3, 0, 5, 20]);
        assert_eq!(table.fit(3).iter().sum::<usize>(), 3);
    }
}
