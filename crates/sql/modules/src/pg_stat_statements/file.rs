//! The figures in a file, `pg_stat/pg_stat_statements.stat`: written when the server is shut down, read and removed when it starts.
//!
//! Two lines of text for each statement: its key and figures; its text, with escapes for backslashes and ends of lines.

use std::io;
use std::path::{Path, PathBuf};
use std::str::{FromStr, SplitWhitespace};

use base::Oid;
use runtime::fs;
use runtime::usage::Usage;

use super::figures::{Figures, Times};
use super::store::{Key, Known, Store};

const FIRST: &str = "stampede statements 2";

fn path(data: &Path) -> PathBuf {
    data.join("pg_stat").join("pg_stat_statements.stat")
}

/// Writes all figures.
pub(super) fn save(store: &Store, data: &Path) -> io::Result<()> {
    let (forgotten, reset) = store.info();
    let mut text = format!("{FIRST} {forgotten} {reset}\n");
    for (key, known, figures) in store.sums() {
        let Key { user, database, top_level, id } = key;
        let mut line =
            format!("{} {} {top_level} {id} {} {}", user.0, database.0, known.since, known.extremes_since);
        for times in [&figures.plans, &figures.runs] {
            let Times { count, total, min, max, mean, squares } = times;
            line += &format!(" {count} {total} {min} {max} {mean} {squares}");
        }
        line += &format!(" {}", figures.rows);
        usage_list(&figures.usage).iter().for_each(|figure| line += &format!(" {figure}"));
        text += &line;
        text += "\n";
        text += &known.text.replace('\\', "\\\\").replace('\n', "\\n");
        text += "\n";
    }
    fs::create_dir_all(&data.join("pg_stat"))?;
    fs::write_file_durably(&path(data), text.as_bytes())
}

/// Takes over what the last server wrote. The file is gone afterwards: it speaks of this start only.
pub(super) fn load(store: &Store, data: &Path) {
    let path = path(data);
    let Ok(bytes) = fs::read_to_vec(&path) else { return };
    let _ = fs::remove_file(&path);
    if let Some((list, about)) = String::from_utf8(bytes).ok().and_then(|text| read(&text)) {
        store.restore(list, about);
    }
}

type Entry = (Key, Known, Figures);

fn read(text: &str) -> Option<(Vec<Entry>, (i64, i64))> {
    let mut lines = text.split('\n');
    let mut head = lines.next()?.strip_prefix(FIRST)?.split_whitespace();
    let about = (next(&mut head)?, next(&mut head)?);
    let mut list = Vec::new();
    while let Some(line) = lines.next().filter(|line| !line.is_empty()) {
        list.push(read_entry(line, lines.next()?)?);
    }
    Some((list, about))
}

fn next<T: FromStr>(words: &mut SplitWhitespace<'_>) -> Option<T> {
    words.next()?.parse().ok()
}

fn read_entry(line: &str, text: &str) -> Option<Entry> {
    let words = &mut line.split_whitespace();
    let key = Key {
        user: Oid(next(words)?),
        database: Oid(next(words)?),
        top_level: next(words)?,
        id: next(words)?,
    };
    let known = Known { text: unescaped(text).into(), since: next(words)?, extremes_since: next(words)? };
    let (plans, runs) = (read_times(words)?, read_times(words)?);
    let mut figures = Figures { plans, runs, rows: next(words)?, ..Figures::default() };
    for figure in usage_list_mut(&mut figures.usage) {
        *figure = next(words)?;
    }
    Some((key, known, figures))
}

fn read_times(words: &mut SplitWhitespace<'_>) -> Option<Times> {
    Some(Times {
        count: next(words)?,
        total: next(words)?,
        min: next(words)?,
        max: next(words)?,
        mean: next(words)?,
        squares: next(words)?,
    })
}

fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.extend(chars.next().map(|escaped| if escaped == 'n' { '\n' } else { escaped })),
            c => out.push(c),
        }
    }
    out
}

/// What of the usage is shown.
fn usage_list_mut(usage: &mut Usage) -> [&mut u64; 16] {
    [
        &mut usage.shared_hit,
        &mut usage.shared_read,
        &mut usage.shared_dirtied,
        &mut usage.shared_written,
        &mut usage.temp_read,
        &mut usage.temp_written,
        &mut usage.shared_read_time,
        &mut usage.shared_write_time,
        &mut usage.temp_read_time,
        &mut usage.temp_write_time,
        &mut usage.wal_records,
        &mut usage.wal_images,
        &mut usage.wal_bytes,
        &mut usage.wal_buffers_full,
        &mut usage.helpers_asked,
        &mut usage.helpers_started,
    ]
}

fn usage_list(usage: &Usage) -> [u64; 16] {
    usage_list_mut(&mut usage.clone()).map(|figure| *figure)
}
