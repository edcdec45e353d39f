//! Tables and plots.

use std::fmt::Write as _;
use std::path::Path;

/// Medians of one scenario: a row per client count, a column per server.
pub struct Table {
    /// Heading and file name.
    pub title: String,
    /// Names of the servers; the first is Stampede.
    pub servers: Vec<&'static str>,
    /// Clients, and each server's median transactions a second.
    pub rows: Vec<(u32, Vec<f64>)>,
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
        let mut text = format!("## {}: transactions a second, medians\n\n| clients |", self.title);
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
                let _ = write!(text, " {value:.0} |");
            }
            for value in &tps[1..] {
                let _ = write!(text, " {:.2} |", tps[0] / value);
            }
            text.push('\n');
        }
        text
    }

    /// A plot: clients evenly spaced, transactions a second from zero.
    fn svg(&self) -> String {
        const W: f64 = 640.0;
        const H: f64 = 360.0;
        const LEFT: f64 = 70.0;
        const BOTTOM: f64 = 40.0;
        const COLOURS: [&str; 4] = ["#c0392b", "#2c3e50", "#7f8c8d", "#2980b9"];
        let top = self.rows.iter().flat_map(|r| &r.1).fold(1.0, |a: f64, b| a.max(*b));
        let x = |i: usize| LEFT + (W - LEFT - 20.0) * i as f64 / (self.rows.len().max(2) - 1) as f64;
        let y = |v: f64| (H - BOTTOM) * (1.0 - v / top) + 10.0 * (v / top);
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
        for v in [0.0, top / 2.0, top] {
            let _ = writeln!(
                svg,
                "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{v:.0}</text>",
                LEFT - 6.0,
                y(v) + 4.0
            );
        }
        for (s, server) in self.servers.iter().enumerate() {
            let colour = COLOURS[s % COLOURS.len()];
            let points: Vec<String> =
                self.rows.iter().enumerate().map(|(i, r)| format!("{:.1},{:.1}", x(i), y(r.1[s]))).collect();
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

/// The middle value; of an even number, the lower middle.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or(f64::NAN)
}
