//! # What
//! The log as another server sends it: bytes that lie in its files and are to lie the same in ours.
//!
//! # Invariants
//! 1. Bytes come in order, from the beginning of a segment on, and go to the files of one time line. Who begins again writes the same bytes once more.
//! 2. A file has its name once it has its length and its header, so a reader finds none that is damaged.
//! 3. What counts as received is durable, and no reader looks further ([`SegmentSource::end_of_written`](crate::SegmentSource::end_of_written)).
//! 4. A segment is archived once all of it is durable.
//!
//! # PostgreSQL counterpart
//! `XLogWalRcvWrite`, `XLogWalRcvFlush`.

use std::io;
use std::sync::Arc;

use base::{Lsn, TimelineId};
use runtime::fs::{File, OpenOptions};

use crate::log::{Wal, WalError};

/// Writes what is received of a time line.
pub struct Incoming {
    wal: Arc<Wal>,
    timeline: TimelineId,
    /// Where the next byte belongs.
    written: Lsn,
    /// What is before this is durable.
    flushed: Lsn,
    file: Option<(u64, Arc<File>)>,
    /// Segments that are written to their ends and not durable yet.
    full: Vec<(u64, Arc<File>)>,
}

/// Makes durable what had been written when it was made, on whatever thread.
pub struct Syncing {
    wal: Arc<Wal>,
    timeline: TimelineId,
    /// The full ones first.
    files: Vec<(u64, Arc<File>)>,
    full: usize,
    end: Lsn,
}

impl Syncing {
    /// Does it.
    ///
    /// # Errors
    /// Of the disk.
    pub fn run(&self) -> Result<(), WalError> {
        if !self.wal.options().fsync {
            return Ok(());
        }
        self.files.iter().try_for_each(|(segment, file)| {
            file.sync_data().map_err(|error| failed(&self.wal, self.timeline, ("fsync", *segment), &error))
        })
    }
}

impl Incoming {
    /// Of a log that is being replayed; `start` is the beginning of a segment.
    pub fn new(wal: Arc<Wal>, timeline: TimelineId, start: Lsn) -> Incoming {
        debug_assert_eq!(wal.segment_start(start), start);
        Incoming { wal, timeline, written: start, flushed: start, file: None, full: Vec::new() }
    }

    /// Where the next byte belongs.
    pub fn written(&self) -> Lsn {
        self.written
    }

    /// What is before this is durable.
    pub fn flushed(&self) -> Lsn {
        self.flushed
    }

    /// Writes bytes behind those that were written.
    pub fn write(&mut self, mut bytes: &[u8]) -> Result<(), WalError> {
        let size = self.wal.geometry.segment_size();
        while !bytes.is_empty() {
            let segment = self.wal.geometry.segment_of(self.written);
            let offset = self.written.0 % size;
            let (now, later) = bytes.split_at(bytes.len().min((size - offset) as usize));
            if self.file.as_ref().is_none_or(|(open, _)| *open != segment) {
                let file = self.wal.segments.of_timeline(self.timeline, segment)?;
                self.file = Some((segment, Arc::new(file)));
                self.prepare(segment + 1);
            }
            let (_, file) = self.file.as_ref().expect("opened above");
            let written = file.write_all_at(now, offset);
            written.map_err(|error| failed(&self.wal, self.timeline, ("write to", segment), &error))?;
            self.written = Lsn(self.written.0 + now.len() as u64);
            if offset + now.len() as u64 == size {
                self.full.extend(self.file.take());
            }
            bytes = later;
        }
        Ok(())
    }

    /// Makes the file of a segment that will be wanted soon, beside: who waits for what is received is not to wait for that. An error is met again when it is
    /// wanted.
    fn prepare(&self, segment: u64) {
        let (wal, timeline) = (self.wal.clone(), self.timeline);
        let make = move || drop(wal.segments.of_timeline(timeline, segment));
        let _ = runtime::spawn_thread("walreceiver files", make);
    }

    /// Bytes that were written and are not durable.
    pub fn unflushed(&self) -> u64 {
        self.written.0 - self.flushed.0
    }

    /// Makes durable what was written.
    pub fn flush(&mut self) -> Result<(), WalError> {
        let syncing = self.sync();
        syncing.run()?;
        self.synced(syncing)
    }

    /// What makes durable all that was written so far. Only one at a time may be under way.
    pub fn sync(&mut self) -> Syncing {
        let mut files = std::mem::take(&mut self.full);
        let full = files.len();
        files.extend(self.file.clone());
        Syncing { wal: self.wal.clone(), timeline: self.timeline, files, full, end: self.written }
    }

    /// That was done. Full segments are archived here if the server archives while it recovers, and by the sender otherwise.
    pub fn synced(&mut self, done: Syncing) -> Result<(), WalError> {
        self.flushed = done.end;
        self.wal.note_received(None, self.flushed);
        for (segment, _) in &done.files[..done.full] {
            let name = self.wal.geometry.file_name(self.timeline, *segment);
            match self.wal.archive() {
                archive if archive.is_active() => archive.notify(&name),
                archive => archive.set_done(&name),
            }?;
        }
        Ok(())
    }
}

fn failed(wal: &Wal, timeline: TimelineId, (what, segment): (&str, u64), error: &io::Error) -> WalError {
    WalError::new(what, &wal.dir().join(wal.geometry.file_name(timeline, segment)), error)
}

impl crate::segment::Segments {
    /// The file of a segment on a time line that is not ours to write yet, made if it is not there.
    fn of_timeline(&self, timeline: TimelineId, segment: u64) -> Result<File, WalError> {
        let _guard = self.lock_preparing();
        let path = self.path_on(timeline, segment);
        let open = || File::open(&path, OpenOptions::READ_WRITE);
        let whole = match open().and_then(|file| Ok((file.len()?, file))) {
            Ok((length, file)) if length == self.segment_size() => Some(file),
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(WalError::new("open", &path, &error));
            }
            _ => None,
        };
        match whole {
            Some(file) => Ok(file),
            None => {
                self.make(timeline, segment, &mut |_| Ok(()))?;
                open().map_err(|error| WalError::new("open", &path, &error))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use base::Xid;
    use runtime::Event;

    use super::*;
    use crate::{Gap, RecordBuilder, Rmgr, SegmentSource, WalOptions, WalReader};

    struct Dir(std::path::PathBuf);

    impl Drop for Dir {
        fn drop(&mut self) {
            let _ = runtime::fs::remove_dir_all(&self.0);
        }
    }

    const SEGMENT: u64 = 64 << 10;

    fn options() -> WalOptions {
        WalOptions {
            segment_size: SEGMENT,
            buffers: 64 << 10,
            min_size: 0,
            max_size: 0,
            ..WalOptions::default()
        }
    }

    fn dir(name: &str) -> Dir {
        let dir = std::env::temp_dir().join(format!("stampede-wal-{name}-{:x}", runtime::random_u64()));
        runtime::fs::create_dir_all(&dir).unwrap();
        Dir(dir)
    }

    /// Gives bytes of another log, some at a time.
    struct Wire {
        bytes: Vec<u8>,
        incoming: Incoming,
        step: usize,
    }

    impl SegmentSource for Wire {
        fn bring(&mut self, _: TimelineId, _: Lsn, _: &str) -> Result<bool, WalError> {
            Ok(false)
        }

        fn end_of_written(&self) -> Option<Lsn> {
            Some(self.incoming.flushed())
        }

        fn wait_for_more(&mut self, _: &Gap<'_>, _: &Event) -> Result<bool, WalError> {
            let sent = (self.incoming.written().0 - SEGMENT) as usize;
            let next = &self.bytes[sent..self.bytes.len().min(sent + self.step)];
            self.incoming.write(next)?;
            self.incoming.flush()?;
            Ok(!next.is_empty())
        }
    }

    #[test]
    fn records_are_read_as_their_bytes_arrive() {
        let (from, to) = (dir("sent"), dir("received"));
        let sent = Wal::create(&from.0, options(), 7).unwrap();
        let mut ends = Vec::new();
        for n in 0..300 {
            let mut record = RecordBuilder::new(Rmgr::Heap, 0, Xid(3));
            let data = vec![n as u8; n * 7 % 3000];
            record.data(&data);
            ends.push(sent.insert(&record));
        }
        sent.flush(sent.insert_end()).unwrap();
        let mut bytes = Vec::new();
        let mut stream = sent.stream(TimelineId::FIRST);
        while Lsn(SEGMENT + bytes.len() as u64) < sent.flushed_bytes() {
            let at = Lsn(SEGMENT + bytes.len() as u64);
            stream.read(at, sent.flushed_bytes(), 1 << 20, &mut bytes).unwrap();
        }
        let received = Arc::new(Wal::recovering(&to.0, options(), 7));
        let incoming = Incoming::new(received, TimelineId::FIRST, Lsn(SEGMENT));
        let wire = Wire { bytes, incoming, step: 777 };
        let first = Lsn(SEGMENT + crate::geometry::SEGMENT_HEADER);
        let mut reader = WalReader::open(&to.0, SEGMENT, Some(7), first).bringing(Box::new(wire));
        let mut found = Vec::new();
        while let Some(chunk) = reader.next_chunk() {
            let chunk = chunk.unwrap();
            found.extend(chunk.records().map(|(_, _, record)| record.unwrap().end));
        }
        assert_eq!(found, ends);
        assert_eq!(reader.position(), sent.insert_end());
    }

    #[test]
    fn what_is_written_counts_once_it_was_synced() {
        let dir = dir("synced");
        let wal = Arc::new(Wal::recovering(&dir.0, options(), 7));
        let mut incoming = Incoming::new(wal.clone(), TimelineId::FIRST, Lsn(SEGMENT));
        let end = Lsn(2 * SEGMENT + 100);
        incoming.write(&vec![1; (SEGMENT + 100) as usize]).unwrap();
        let status =
            dir.0.join("archive_status").join(wal.geometry.file_name(TimelineId::FIRST, 1) + ".done");
        let syncing = incoming.sync();
        incoming.write(&[2; 50]).unwrap();
        syncing.run().unwrap();
        assert_eq!((incoming.flushed(), incoming.unflushed()), (Lsn(SEGMENT), SEGMENT + 150));
        assert!(!runtime::fs::exists(&status).unwrap());
        incoming.synced(syncing).unwrap();
        assert_eq!((incoming.flushed(), incoming.unflushed()), (end, 50));
        assert!(runtime::fs::exists(&status).unwrap());
        // The next one has nothing of a segment that is durable.
        assert_eq!(incoming.sync().files.iter().map(|(segment, _)| *segment).collect::<Vec<_>>(), [2]);
    }
}
