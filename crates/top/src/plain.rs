//! Everything once, as text: for scripts, and where there is no terminal.

use crate::model::{Snapshot, WaitHistory};
use crate::screen::header;
use crate::table::{Table, width};
use crate::view::{Shown, View};

/// Header and all four tables, nothing cut.
pub fn text(place: &str, snapshot: &Snapshot, history: &WaitHistory, shown: Shown) -> String {
    let mut lines = header::lines(place, snapshot, None);
    for view in View::ALL {
        let mut table = view.table(snapshot, history, shown, 1);
        if view.is_sorted() {
            table.sort(view.first_sorting(), false);
        }
        lines.push(String::new());
        lines.push(format!("{}:", view.title()));
        lines.extend(rows(&table));
    }
    lines.push(String::new());
    lines.join("\n")
}

fn rows(table: &Table) -> Vec<String> {
    if table.rows.is_empty() {
        return vec![table.empty.to_string()];
    }
    let widths: Vec<usize> = (0..table.columns.len())
        .map(|at| {
            let cells = table.rows.iter().map(|row| width(&row.cells[at].text));
            cells.chain([table.columns[at].title.len()]).max().unwrap_or(0)
        })
        .collect();
    let line = |texts: Vec<&str>| {
        let padded = texts.iter().zip(&widths).zip(table.columns).map(|((text, widest), column)| {
            let blanks = " ".repeat(widest - width(text));
            if column.right { format!("{blanks}{text}") } else { format!("{text}{blanks}") }
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_string()
    };
    let titles = line(table.columns.iter().map(|column| column.title).collect());
    let rows = table.rows.iter().map(|row| line(row.cells.iter().map(|cell| cell.text.as_str()).collect()));
    std::iter::once(titles).chain(rows).collect()
}
