//! `stampede verify`: checks a data directory that no server runs on.

use std::io::{IsTerminal, Write, stderr};
use std::time::Duration;

use runtime::time::{Instant, now};
use verify::{Damage, Watcher};

use super::options::{Flag, flag, parse, value};
use super::say::say_line;
use super::{Commands, answered, data_directory};

const FLAGS: &[Flag] = &[
    value(Some('D'), "pgdata"),
    flag(Some('P'), "progress"),
    flag(Some('q'), "quiet"),
    flag(Some('V'), "version"),
    flag(Some('?'), "help"),
];

const HELP: &str = "\
verify checks a data directory that was shut down, a primary's or a standby's, and changes nothing of it: every page, every row, every index entry
against its table and back, the fate of every transaction.

Usage:
  stampede verify [OPTION]... [DATADIR]

Options:
 [-D, --pgdata=]DATADIR    data directory
  -P, --progress           show progress even if standard error is no terminal
  -q, --quiet              show no progress, and nothing where nothing is wrong
  -V, --version            output version information, then exit
  -?, --help               show this help, then exit

What is wrong is written to standard output, a line each. The exit code is 0 if nothing is, 2 if something is, 1 if it could not be checked.
";

pub(super) fn main(args: &[String], commands: Commands) -> i32 {
    let given = match parse(args, FLAGS) {
        Ok(given) => given,
        Err(message) => return complain(&message),
    };
    if answered(&given, "verify", HELP) {
        return 0;
    }
    let dir = given.get("pgdata").or(given.words.first().map(String::as_str));
    let Some(dir) = data_directory(dir) else { return complain("no data directory specified") };
    let terminal = stderr().is_terminal();
    let bar = match (given.has("quiet"), terminal) {
        (true, _) => None,
        (false, true) => Some(Bar::new(Style::Drawn)),
        (false, false) => given.has("progress").then(|| Bar::new(Style::Lines)),
    };
    let mut report = Report { bar, found: 0 };
    let done = (commands.verify)(&dir, &mut report);
    if let Some(bar) = &mut report.bar {
        bar.end();
    }
    match (done, report.found) {
        (Err(message), _) => complain(&message),
        (Ok(()), 0) => {
            if !given.has("quiet") {
                say_line!("verify: nothing is wrong");
            }
            0
        }
        (Ok(()), 1) => {
            eprintln!("verify: 1 thing is wrong");
            2
        }
        (Ok(()), found) => {
            eprintln!("verify: {found} things are wrong");
            2
        }
    }
}

fn complain(message: &str) -> i32 {
    eprintln!("verify: error: {message}");
    1
}

/// What was found, and how far the check has come.
struct Report {
    bar: Option<Bar>,
    found: u64,
}

impl Watcher for Report {
    fn begin(&mut self, what: &str, pages: u64) {
        if let Some(bar) = &mut self.bar {
            bar.begin(what, pages);
        }
    }

    fn checked(&mut self, pages: u64) {
        if let Some(bar) = &mut self.bar {
            bar.advance(pages);
        }
    }

    fn damage(&mut self, damage: Damage) {
        self.found += 1;
        if let Some(bar) = &mut self.bar {
            bar.clear();
        }
        say_line!("{}: {}", damage.place, damage.message);
    }
}

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    /// One line, drawn again and again.
    Drawn,
    /// A line now and then, for a file.
    Lines,
}

impl Style {
    fn interval(self) -> Duration {
        match self {
            Style::Drawn => Duration::from_millis(100),
            Style::Lines => Duration::from_secs(10),
        }
    }
}

/// Width of the bar in characters.
const WIDTH: u64 = 40;

/// Progress on standard error.
struct Bar {
    style: Style,
    what: String,
    done: u64,
    total: u64,
    shown: Instant,
}

impl Bar {
    fn new(style: Style) -> Bar {
        Bar { style, what: String::new(), done: 0, total: 0, shown: now() }
    }

    fn begin(&mut self, what: &str, total: u64) {
        (self.what, self.done, self.total) = (what.to_owned(), 0, total);
        self.show();
    }

    fn advance(&mut self, by: u64) {
        self.done += by;
        if self.shown.elapsed() >= self.style.interval() {
            self.show();
        }
    }

    fn show(&mut self) {
        self.shown = now();
        let line = line(&self.what, self.done, self.total);
        match self.style {
            Style::Drawn => eprint!("\r{line}\x1b[K"),
            Style::Lines => eprintln!("{line}"),
        }
        let _ = stderr().flush();
    }

    /// Makes room for a line of output.
    fn clear(&mut self) {
        if self.style == Style::Drawn {
            eprint!("\r\x1b[K");
        }
    }

    fn end(&mut self) {
        self.clear();
    }
}

/// `[########              ]  20 %  tables and indexes, 12/60 MB`
fn line(what: &str, done: u64, total: u64) -> String {
    // Tables may have grown since they were counted, or be counted and not be checked.
    let (share, whole) = (done.min(total), total.max(1));
    let filled = (share * WIDTH / whole) as usize;
    let megabytes = |pages: u64| (pages * 8).div_ceil(1024);
    let empty = WIDTH as usize - filled;
    let percent = share * 100 / whole;
    format!(
        "[{}{}] {percent:3} %  {what}, {}/{} MB",
        "#".repeat(filled),
        " ".repeat(empty),
        megabytes(share),
        megabytes(total)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars() {
        assert_eq!(line("pages", 0, 0), format!("[{}]   0 %  pages, 0/0 MB", " ".repeat(40)));
        assert_eq!(
            line("pages", 64, 256),
            format!("[{}{}]  25 %  pages, 1/2 MB", "#".repeat(10), " ".repeat(30))
        );
        assert_eq!(line("pages", 300, 256), format!("[{}] 100 %  pages, 2/2 MB", "#".repeat(40)));
    }
}
