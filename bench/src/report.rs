//! Tables of results, and figures of servers beside each other.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::draw::Plot;
use crate::peers::Server;

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
        let _ = writeln!(text, "\n{}", circumstances());
        text
    }
}

/// When, and on what kind of machine: nothing that names it.
fn circumstances() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let memory = std::fs::read_to_string("/proc/meminfo").ok().and_then(|facts| gibibytes(&facts));
    let memory = memory.map_or(String::new(), |memory| format!(", {memory} GiB of memory"));
    format!(
        "Made on {}: {}, {}, {processors} processors{memory}.",
        date(seconds / 86_400),
        std::env::consts::OS,
        std::env::consts::ARCH
    )
}

/// Memory of the machine, by `/proc/meminfo`.
fn gibibytes(facts: &str) -> Option<u64> {
    let line = facts.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some((kibibytes + (1 << 19)) >> 20)
}

/// The date so many days after 1970-01-01.
fn date(mut days: u64) -> String {
    let is_leap =
        |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", days + 1)
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

#[cfg(test)]
mod tests {
    use super::{date, gibibytes};

    #[test]
    fn tables_tell_when_and_where_they_were_made() {
        let of = |days| date(days);
        assert_eq!(
            [of(0), of(59), of(364), of(365)],
            ["1970-01-01", "1970-03-01", "1970-12-31", "1971-01-01"]
        );
        assert_eq!([of(11_016), of(11_017), of(20_000)], ["2000-02-29", "2000-03-01", "2024-10-04"]);
        assert_eq!(gibibytes("MemTotal:       16384000 kB\nMemFree: 1 kB\n"), Some(16));
        assert_eq!(gibibytes("nothing"), None);
    }
}

/// One figure: by the clock, and by the server's processor time.
#[derive(Clone, Copy)]
pub struct Figure {
    pub clock: f64,
    pub processor: f64,
}

impl Figure {
    /// Milliseconds of some work on a server.
    pub fn milliseconds(
        server: &Server,
        work: impl FnOnce() -> Result<(), String>,
    ) -> Result<Figure, String> {
        let (start, before) = (Instant::now(), server.processor_seconds());
        work()?;
        let (clock, processor) = (start.elapsed().as_secs_f64(), server.processor_seconds() - before);
        Ok(Figure { clock: clock * 1000.0, processor: processor.max(0.01) * 1000.0 })
    }

    /// What so many things a second are, which took so much processor time altogether.
    pub fn rate(per_second: f64, things: f64, processor_seconds: f64) -> Figure {
        Figure { clock: per_second, processor: things / processor_seconds.max(0.01) }
    }
}

/// The medians of each server's figures, and how the first server's speed compares. `is_time`: less is better.
pub fn beside(servers: &[&Server], figures: &[Vec<Figure>], is_time: bool) -> String {
    let medians = |of: fn(&Figure) -> f64| -> Vec<f64> {
        figures.iter().map(|figures| median(figures.iter().map(of).collect())).collect()
    };
    let (clock, processor) = (medians(|figure| figure.clock), medians(|figure| figure.processor));
    let ratio = |of: &[f64], n: usize| if is_time { of[n] / of[0] } else { of[0] / of[n] };
    let shown = servers.iter().enumerate().map(|(n, server)| {
        format!(
            "{} {:.0}, by processor time {:.0} (Stampede's speed ÷ this: {:.2}, by processor time {:.2})",
            server.name,
            clock[n],
            processor[n],
            ratio(&clock, n),
            ratio(&processor, n)
        )
    });
    shown.collect::<Vec<_>>().join("; ")
}
