//! Tables of results.

use std::fmt::Write as _;
use std::path::Path;

use crate::draw::Plot;

/// How a plot's values go up.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// From zero.
    Linear,
    /// By powers of ten.
    Logarithmic,
}

/// Medians of one scenario: a row per client count, a column per server.
pub struct Table {
    /// Heading and file name.
    pub title: String,
    /// What the values are.
    pub what: String,
    /// What the rows are.
    pub axis: &'static str,
    /// Names of the servers; the first is Stampede.
    pub servers: Vec<&'static str>,
    /// Clients, and each server's median; not a number where it was not measured.
    pub rows: Vec<(u32, Vec<f64>)>,
    /// Of the plot.
    pub scale: Scale,
}

impl Table {
    /// Prints the table as Markdown and writes it, with a plot, below `out`.
    pub fn publish(&self, out: &Path) -> Result<(), String> {
        let text = self.markdown();
        println!("\n{text}");
        std::fs::create_dir_all(out).map_err(|e| e.to_string())?;
        let file = |ending: &str| out.join(format!("{}.{ending}", self.title.replace(' ', "-")));
        std::fs::write(file("md"), &text).map_err(|e| e.to_string())?;
        std::fs::write(file("svg"), Plot::read(&text, self.scale)?.svg()).map_err(|e| e.to_string())
    }

    fn markdown(&self) -> String {
        let mut text = format!("## {}: {}\n\n| {} |", self.title, self.what, self.axis);
        for server in &self.servers {
            let _ = write!(text, " {server} |");
        }
        for server in &self.servers[1..] {
            let _ = write!(text, " ÷ {server} |");
        }
        let _ = write!(text, "\n|{}\n", "---|".repeat(2 * self.servers.len()));
        for (clients, tps) in &self.rows {
            let _ = write!(text, "| {clients} |");
            for value in tps {
                let _ = write!(text, " {} |", cell(*value, usize::from(*value < 100.0)));
            }
            for value in &tps[1..] {
                let _ = write!(text, " {} |", cell(tps[0] / value, 2));
            }
            text.push('\n');
        }
        text
    }
}

/// A value in a table; a dash for none.
fn cell(value: f64, decimals: usize) -> String {
    if value.is_nan() { "–".into() } else { format!("{value:.decimals$}") }
}

/// The middle value; of an even number, the lower middle.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or(f64::NAN)
}
