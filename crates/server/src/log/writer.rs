//! The thread that writes the log.
//!
//! # What
//! Whoever has a line hands it over and goes on: a slow or full disk stops nobody. What the queue has no room for is lost and
//! counted, and the log says so as soon as it can. Without the thread (before it starts, in commands) lines are written at once.
//!
//! # Locks
//! The queue's mutex is held for a push or a swap, never over I/O.
//!
//! # PostgreSQL counterpart
//! The pipe to the collector process, which blocks who writes.

use std::io::Write as _;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use super::files::Files;

/// Bytes that may wait.
const ROOM: usize = 16 << 20;
/// How often files are looked at when nothing is logged.
const PAUSE: Duration = Duration::from_secs(1);
/// How long the end of the server waits for its last lines.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// A line in the forms that are asked for.
#[derive(Default)]
pub struct Forms {
    pub stderr: Option<String>,
    pub csv: Option<String>,
    pub json: Option<String>,
}

impl Forms {
    fn bytes(&self) -> usize {
        [&self.stderr, &self.csv, &self.json].into_iter().flatten().map(String::len).sum()
    }
}

#[derive(Default)]
struct Queue {
    lines: Vec<Forms>,
    bytes: usize,
    /// Lines that found no room since the thread looked last.
    lost: u64,
    /// What is to be done beside writing.
    rotate: bool,
    files: Option<Files>,
    /// The thread has written all that it has taken.
    idle: bool,
}

struct Writer {
    queue: Mutex<Queue>,
    /// There is something to do.
    ready: Condvar,
    /// Everything is written.
    done: Condvar,
}

/// Set once the thread runs.
static WRITER: OnceLock<Arc<Writer>> = OnceLock::new();

/// Starts the thread.
pub fn start() -> std::io::Result<()> {
    let queue = Mutex::new(Queue { idle: true, ..Queue::default() });
    let writer = Arc::new(Writer { queue, ready: Condvar::new(), done: Condvar::new() });
    let its = writer.clone();
    // Nobody waits for its end: it lives as long as the process.
    drop(runtime::spawn_thread("logger", move || run(&its))?);
    // Started once: this is the only place.
    let _ = WRITER.set(writer);
    Ok(())
}

/// Hands a line over.
pub fn write(line: Forms) {
    let Some(writer) = WRITER.get() else {
        to_stderr(&line);
        return;
    };
    let mut queue = writer.queue.lock();
    let bytes = line.bytes();
    if queue.bytes + bytes > ROOM {
        queue.lost += 1;
    } else {
        queue.bytes += bytes;
        queue.lines.push(line);
    }
    drop(queue);
    writer.ready.notify_one();
}

/// From now on lines go to these files.
pub fn use_files(files: Files) {
    if let Some(writer) = WRITER.get() {
        writer.queue.lock().files = Some(files);
        writer.ready.notify_one();
    }
}

/// Begins new files, soon.
pub fn rotate() {
    if let Some(writer) = WRITER.get() {
        writer.queue.lock().rotate = true;
        writer.ready.notify_one();
    }
}

/// Waits until everything is written, or the disk has had its time.
pub fn flush() {
    let Some(writer) = WRITER.get() else { return };
    let mut queue = writer.queue.lock();
    let is_busy = |queue: &mut Queue| !queue.idle || !queue.lines.is_empty() || queue.lost > 0;
    // Whatever comes of it, the server ends.
    let _ = writer.done.wait_while_for(&mut queue, is_busy, LAST_WORDS);
}

fn to_stderr(line: &Forms) {
    let text = [&line.stderr, &line.csv, &line.json].into_iter().flatten().next();
    // There is nowhere to report that the log cannot be written.
    let _ = std::io::stderr().write_all(text.map_or(&[], |text| text.as_bytes()));
}

fn run(writer: &Writer) {
    let mut files: Option<Files> = None;
    // Lines that could not be written, and why.
    let mut failed: Option<(u64, String)> = None;
    loop {
        let mut queue = writer.queue.lock();
        if queue.lines.is_empty() && queue.lost == 0 && !queue.rotate && queue.files.is_none() {
            queue.idle = true;
            writer.done.notify_all();
            writer.ready.wait_for(&mut queue, PAUSE);
        }
        let lines = std::mem::take(&mut queue.lines);
        let (lost, rotate) = (std::mem::take(&mut queue.lost), std::mem::take(&mut queue.rotate));
        let fresh = queue.files.take();
        (queue.bytes, queue.idle) = (0, false);
        drop(queue);
        if let Some(fresh) = fresh {
            match &mut files {
                Some(files) => files.change(fresh),
                None => files = Some(fresh),
            }
        }
        let Some(files) = &mut files else {
            lines.iter().for_each(to_stderr);
            if lost > 0 {
                to_stderr(&super::note(lost_message(lost, "they came faster than they could be written")));
            }
            continue;
        };
        files.keep_up(rotate);
        if let Some((count, why)) = failed.take_if(|_| !lines.is_empty())
            && files.write(&[super::note(lost_message(count, &why))]).is_err()
        {
            failed = Some((count, why));
        }
        if let Err(error) = files.write(&lines) {
            let why = base::os_error(&error);
            if failed.is_none() {
                to_stderr(&super::note(format!("could not write to log file: {why}")));
            }
            let before = failed.take().map_or(0, |(count, _)| count);
            failed = Some((before + lines.len() as u64, why));
        }
        if lost > 0 {
            let note = super::note(lost_message(lost, "they came faster than they could be written"));
            // If that cannot be written either, standard error has been told why.
            let _ = files.write(&[note]);
        }
    }
}

fn lost_message(count: u64, why: &str) -> String {
    format!("{count} lines of the log were lost: {why}")
}
