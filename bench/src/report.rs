//! Tables and plots.

use std::fmt::Write as _;
use std::path::Path;

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
        std::fs::write(file("md"), text).map_err(|e| e.to_string())?;
        std::fs::write(file("svg"), self.svg()).map_err(|e| e.to_string())
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

    /// A plot: rows evenly spaced.
    fn svg(&self) -> String {
        const W: f64 = 640.0;
        const H: f64 = 360.0;
        const LEFT: f64 = 70.0;
        const BOTTOM: f64 = 40.0;
        const COLOURS: [&str; 5] = ["#c0392b", "#2c3e50", "#7f8c8d", "#2980b9", "#27ae60"];
        let top = self.rows.iter().flat_map(|r| &r.1).fold(1.0, |a: f64, b| a.max(*b));
        let share = |v: f64| match self.scale {
            Scale::Linear => v / top,
            Scale::Logarithmic => v.max(1.0).ln() / top.ln().max(1.0),
        };
        let x = |i: usize| LEFT + (W - LEFT - 20.0) * i as f64 / (self.rows.len().max(2) - 1) as f64;
        let y = |v: f64| (H - BOTTOM) * (1.0 - share(v)) + 10.0 * share(v);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {W} {H}\" font-family=\"sans-serif\" font-size=\"12\">\n"
        );
        for (i, (clients, _)) in self.rows.iter().enumerate() {
            let _ = writeln!(
                svg,
                "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{clients}</text>",
                x(i),
                H - 20.0
            );
        }
        let middle = if self.scale == Scale::Linear { top / 2.0 } else { top.sqrt() };
        for v in [0.0, middle, top] {
            let _ = writeln!(
                svg,
                "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{v:.0}</text>",
                LEFT - 6.0,
                y(v) + 4.0
            );
        }
        for (s, server) in self.servers.iter().enumerate() {
            let colour = COLOURS[s % COLOURS.len()];
            let measured = self.rows.iter().map(|row| row.1[s]).enumerate().filter(|(_, v)| !v.is_nan());
            let points: Vec<String> = measured.map(|(i, v)| format!("{:.1},{:.1}", x(i), y(v))).collect();
            let _ = writeln!(
                svg,
                "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" points=\"{}\"/>",
                points.join(" ")
            );
            let _ = writeln!(
                svg,
                "<text x=\"{}\" y=\"{}\" fill=\"{colour}\">{server}</text>",
                LEFT + 8.0,
                20.0 + 16.0 * s as f64
            );
        }
        svg + "</svg>\n"
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
