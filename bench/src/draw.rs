//! Plots, drawn from the tables that runs write: one look for all of them, no program beside.

use std::fmt::Write as _;

use crate::report::Scale;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 420.0;
/// The area of the values.
const LEFT: f64 = 84.0;
const RIGHT: f64 = WIDTH - 24.0;
const TOP: f64 = 92.0;
const BOTTOM: f64 = HEIGHT - 56.0;

/// Lines told apart by colour and by dash, so that they are on paper too. The first is Stampede's.
const STYLES: [(&str, &str); 6] = [
    ("#c0392b", "none"),
    ("#2c5d8f", "none"),
    ("#7f8c8d", "6 4"),
    ("#1e8449", "none"),
    ("#b9770e", "2 3"),
    ("#6c3483", "8 3 2 3"),
];

/// What is drawn: a line for each server, or bars where the rows are queries.
pub struct Plot<'a> {
    title: &'a str,
    what: &'a str,
    axis: &'a str,
    servers: Vec<&'a str>,
    /// A row's name and its values; none where nothing was measured.
    rows: Vec<(&'a str, Vec<Option<f64>>)>,
    scale: Scale,
}

impl<'a> Plot<'a> {
    /// Reads the first table of a text: a heading `## title: what`, and columns of which those with ratios (`÷ …`) are left out.
    pub fn read(text: &'a str, scale: Scale) -> Result<Plot<'a>, String> {
        let heading = text.lines().find_map(|line| line.strip_prefix("## ")).ok_or("there is no heading")?;
        let (title, what) = heading.split_once(": ").unwrap_or((heading, ""));
        let mut lines = text.lines().filter(|line| line.starts_with('|'));
        let head = cells(lines.next().ok_or("there is no table")?);
        let (axis, names) = head.split_first().ok_or("the table has no columns")?;
        let servers: Vec<&str> = names.iter().copied().take_while(|name| !name.starts_with('÷')).collect();
        let mut rows = Vec::new();
        for line in lines.skip(1) {
            let cells = cells(line);
            let (name, values) = cells.split_first().ok_or("a row is empty")?;
            let values: Vec<Option<f64>> =
                values.iter().take(servers.len()).map(|value| value.parse().ok()).collect();
            if values.len() != servers.len() {
                return Err(format!("the row of {name} has {} values, not {}", values.len(), servers.len()));
            }
            rows.push((*name, values));
        }
        if rows.is_empty() || servers.is_empty() {
            return Err("the table is empty".into());
        }
        Ok(Plot { title, what, axis, servers, rows, scale })
    }

    /// The picture.
    pub fn svg(&self) -> String {
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             font-family=\"system-ui, sans-serif\" font-size=\"12\" fill=\"#333\">\n\
             <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"8\" fill=\"#fff\"/>\n"
        );
        text(&mut out, (24.0, 30.0), "start", "font-size=\"17\" font-weight=\"600\"", self.title);
        text(&mut out, (24.0, 50.0), "start", "fill=\"#666\"", self.what);
        let heights = Heights::of(self);
        for tick in &heights.ticks {
            let y = heights.at(*tick);
            let _ = writeln!(
                out,
                "<line x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#e3e3e3\"/>"
            );
            text(&mut out, (LEFT - 8.0, y + 4.0), "end", "", &number(*tick));
        }
        for (row, (name, _)) in self.rows.iter().enumerate() {
            text(&mut out, (self.middle(row), BOTTOM + 18.0), "middle", "", &thousands(name));
        }
        let axis = ((LEFT + RIGHT) / 2.0, HEIGHT - 14.0);
        text(&mut out, axis, "middle", "fill=\"#666\"", self.axis);
        let mut legend = 24.0;
        for (server, name) in self.servers.iter().enumerate() {
            let (colour, dash) = STYLES[server % STYLES.len()];
            let _ = writeln!(
                out,
                "<line x1=\"{legend}\" x2=\"{}\" y1=\"68\" y2=\"68\" stroke=\"{colour}\" stroke-width=\"3\" stroke-dasharray=\"{dash}\"/>",
                legend + 22.0
            );
            text(&mut out, (legend + 28.0, 72.0), "start", "", name);
            legend += 48.0 + 7.0 * name.chars().count() as f64;
            match self.axis {
                "query" => self.bars(server, &heights, &mut out),
                _ => self.line(server, &heights, &mut out),
            }
        }
        out + "</svg>\n"
    }

    /// Where the middle of a row is: rows are evenly spaced.
    fn middle(&self, row: usize) -> f64 {
        LEFT + (RIGHT - LEFT) * (row as f64 + 0.5) / self.rows.len() as f64
    }

    /// A line through what was measured of a server.
    fn line(&self, server: usize, heights: &Heights, out: &mut String) {
        let (colour, dash) = STYLES[server % STYLES.len()];
        let measured =
            self.rows.iter().enumerate().filter_map(|(row, (_, values))| Some((row, values[server]?)));
        let points: Vec<(f64, f64)> =
            measured.map(|(row, value)| (self.middle(row), heights.at(value))).collect();
        let path: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(
            out,
            "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"2.5\" stroke-dasharray=\"{dash}\" points=\"{}\"/>",
            path.join(" ")
        );
        for (x, y) in points {
            let _ = writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" fill=\"{colour}\"/>");
        }
    }

    /// A server's bar in each row.
    fn bars(&self, server: usize, heights: &Heights, out: &mut String) {
        let (colour, _) = STYLES[server % STYLES.len()];
        let room = (RIGHT - LEFT) / self.rows.len() as f64 * 0.8;
        let width = room / self.servers.len() as f64;
        for (row, (_, values)) in self.rows.iter().enumerate() {
            let Some(value) = values[server] else { continue };
            let (x, y) = (self.middle(row) - room / 2.0 + width * server as f64, heights.at(value));
            let _ = writeln!(
                out,
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{:.1}\" fill=\"{colour}\"/>",
                BOTTOM - y
            );
        }
    }
}

/// How high values are drawn, and which of them are marked at the side.
struct Heights {
    scale: Scale,
    lowest: f64,
    ticks: Vec<f64>,
}

impl Heights {
    fn of(plot: &Plot<'_>) -> Heights {
        let values = || plot.rows.iter().flat_map(|row| row.1.iter().flatten().copied());
        let highest = values().fold(f64::MIN_POSITIVE, f64::max);
        match plot.scale {
            Scale::Linear => {
                // Four or five marks at round numbers.
                let rough = highest / 4.0;
                let power = 10f64.powf(rough.log10().floor());
                let step = [1.0, 2.0, 2.5, 5.0, 10.0].map(|n| n * power).into_iter().find(|n| *n >= rough);
                let step = step.unwrap_or(power * 10.0);
                let count = (highest / step).ceil() as usize;
                let ticks = (0..=count).map(|n| n as f64 * step).collect();
                Heights { scale: plot.scale, lowest: 0.0, ticks }
            }
            Scale::Logarithmic => {
                let least = values().filter(|value| *value > 0.0).fold(highest, f64::min);
                let powers = least.log10().floor() as i32..=highest.log10().ceil() as i32;
                let ticks: Vec<f64> = powers.map(|power| 10f64.powi(power)).collect();
                Heights { scale: plot.scale, lowest: ticks[0], ticks }
            }
        }
    }

    fn at(&self, value: f64) -> f64 {
        let highest = self.ticks.last().copied().unwrap_or(1.0);
        let share = match self.scale {
            Scale::Linear => value / highest,
            Scale::Logarithmic => {
                (value.max(self.lowest) / self.lowest).ln() / (highest / self.lowest).ln().max(1e-9)
            }
        };
        BOTTOM - (BOTTOM - TOP) * share
    }
}

fn cells(line: &str) -> Vec<&str> {
    line.trim().trim_matches('|').split('|').map(str::trim).collect()
}

fn text(out: &mut String, (x, y): (f64, f64), anchor: &str, style: &str, words: &str) {
    let words = words.replace('&', "&amp;").replace('<', "&lt;");
    let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" {style}>{words}</text>");
}

/// A mark's number: no more digits than it needs.
fn number(value: f64) -> String {
    let decimals = if value >= 10.0 || value.fract() == 0.0 { 0 } else { 3 };
    let written = format!("{value:.decimals$}");
    match written.contains('.') {
        true => written.trim_end_matches('0').to_string(),
        false => thousands(&written),
    }
}

/// A whole number with a comma at each thousand; anything else as it is.
fn thousands(written: &str) -> String {
    if !written.bytes().all(|b| b.is_ascii_digit()) {
        return written.to_string();
    }
    let mut out = String::new();
    for (at, digit) in written.chars().enumerate() {
        if at > 0 && (written.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "## select-only: transactions a second, medians

| clients | Stampede | PostgreSQL 18 | limit | ÷ PostgreSQL 18 | ÷ limit |
|---|---|---|---|---|---|
| 1 | 20000 | 15000 | 40000 | 1.33 | 0.50 |
| 10000 | 90000 | – | 180000 | – | 0.50 |
";

    #[test]
    fn a_table_becomes_a_plot() {
        let plot = Plot::read(TABLE, Scale::Linear).unwrap();
        assert_eq!(plot.servers, ["Stampede", "PostgreSQL 18", "limit"]);
        assert_eq!(plot.rows[1], ("10000", vec![Some(90000.0), None, Some(180000.0)]));
        let heights = Heights::of(&plot);
        assert_eq!(heights.ticks, [0.0, 50000.0, 100000.0, 150000.0, 200000.0]);
        assert_eq!((heights.at(0.0), heights.at(200000.0)), (BOTTOM, TOP));
        let svg = plot.svg();
        assert!(svg.contains(">10,000<") && svg.contains(">150,000<"), "{svg}");
        assert_eq!(svg.matches("<circle").count(), 5);
        assert!(Plot::read("## nothing\n", Scale::Linear).is_err());
    }

    #[test]
    fn powers_of_ten() {
        let text = "## tpch 0.1: ms\n\n| query | a | b |\n|---|---|---|\n| 1 | 0.5 | 120 |\n";
        let plot = Plot::read(text, Scale::Logarithmic).unwrap();
        let heights = Heights::of(&plot);
        assert_eq!(heights.ticks, [0.1, 1.0, 10.0, 100.0, 1000.0]);
        assert!((heights.at(10.0) - (TOP + BOTTOM) / 2.0).abs() < 1e-6);
        assert_eq!(plot.svg().matches("<rect x=").count(), 2);
        assert_eq!([number(0.1), number(2.5), number(1234567.0)], ["0.1", "2.5", "1,234,567"]);
    }
}
