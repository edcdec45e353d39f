//! What of the data directory is copied, and how.
//!
//! # Invariants
//! 1. A file has in the archive the length that its head says: what was cut meanwhile is filled with zeros, and what came meanwhile is left out.
//! 2. A page that fails its check sum is read again, for it may just be written; so is a sector of the commit log.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use base::calendar::UNIX_SECONDS;
use base::{
    BlockNo, Lsn, Oid, PAGE_SIZE, RelFile, Severity, SqlError, SqlResult, SqlState, TABLESPACE_VERSION,
    tablespace_folder,
};
use engine::backup::{Backup, Tablespace};
use engine::files::{CONTROL, EMPTIED, LEFT_OUT, LENGTHS, LOCK, TABLESPACES};
use engine::incremental::{Incremental, PREFIX};
use page::PageBytes;
use runtime::fs::{self, File, Metadata, OpenOptions};
use runtime::{WaitEvent, waiting};

use super::incremental::Basis;
use super::manifest::{Range, Writer};
use super::options::Options;
use super::sink::{Sink, file_error};
use super::tar::{self, BLOCK, Kind, Member, padding};
use crate::Session;

/// Bytes read at once.
const PIECE: usize = 4 * PAGE_SIZE;
/// How often a page is read that fails its check sum, and the pause in between.
const READS: usize = 5;
const PAUSE: Duration = Duration::from_millis(2);
/// Damaged pages of a file that are told of.
const TOLD: usize = 5;

/// What becomes of a name in the data directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    LeaveOut,
    /// The folder is there, and empty.
    Empty,
    Copy,
}

/// What becomes of an entry; `folder` is where it is, without a slash at its end, empty at the top.
fn fate(folder: &str, name: &str, is_dir: bool) -> Fate {
    let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
    let temporary = name.starts_with("pgsql_tmp") || (!is_dir && name.ends_with(".tmp"));
    // A database whose folder has no name yet, or none any more.
    let has_databases = folder == "base" || folder.ends_with(TABLESPACE_VERSION);
    let unnamed = has_databases && (name.ends_with(".new") || name.ends_with(".gone"));
    if temporary || unnamed || path == CONTROL || path == LENGTHS {
        return Fate::LeaveOut;
    }
    if folder.is_empty() && (LEFT_OUT.contains(&name) || name == LOCK || name.starts_with(".s.PGSQL.")) {
        return Fate::LeaveOut;
    }
    if is_dir && folder.is_empty() && (EMPTIED.contains(&name) || name == "pg_wal") {
        return Fate::Empty;
    }
    Fate::Copy
}

/// A relation's file: its number, its fork, its segment.
fn relation_file(name: &str) -> Option<(u32, &str, u32)> {
    let (stem, segment) = match name.split_once('.') {
        Some((stem, segment)) => (stem, segment.parse().ok()?),
        None => (name, 0),
    };
    let (number, fork) = stem.split_once('_').unwrap_or((stem, ""));
    (["", "fsm", "vm", "init"].contains(&fork)).then_some((number.parse().ok()?, fork, segment))
}

/// Tablespace and database of the relations that lie in a folder, if any do.
fn relations_of(folder: &str) -> Option<(Oid, Oid)> {
    if folder == "global" {
        return Some((Oid(1664), Oid::INVALID));
    }
    let (above, database) = folder.rsplit_once('/')?;
    let database = Oid(database.parse().ok()?);
    if above == tablespace_folder(Oid::PG_DEFAULT) {
        return Some((Oid::PG_DEFAULT, database));
    }
    let tablespace = above.strip_prefix(TABLESPACES)?.strip_prefix('/')?.strip_suffix(TABLESPACE_VERSION)?;
    Some((Oid(tablespace.strip_suffix('/')?.parse().ok()?), database))
}

/// Whether relations lie in a folder.
fn has_relations(folder: &str) -> bool {
    relations_of(folder).is_some()
}

/// Whether a file tells of the making of a tablespace that the backup does not have: redo makes it, and the file too.
fn is_unfinished(path: &str, copied: &[Tablespace]) -> bool {
    let number = path.strip_prefix("global/tablespace_").and_then(|rest| rest.strip_suffix(".unfinished"));
    number.is_some_and(|number| !copied.iter().any(|tablespace| tablespace.oid.to_string() == number))
}

/// The entries of a folder that are copied: those of unlogged relations are not, but for their initial forks. None if the folder has gone.
fn entries(dir: &Path, folder: &str) -> SqlResult<Vec<fs::DirEntry>> {
    let mut entries = match fs::read_dir(&dir.join(folder)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(file_error("open directory", folder, &error)),
    };
    if has_relations(folder) {
        let unlogged: BTreeSet<u32> = entries
            .iter()
            .filter_map(|entry| relation_file(&entry.name))
            .filter(|(_, fork, _)| *fork == "init")
            .map(|(number, ..)| number)
            .collect();
        entries.retain(|entry| {
            relation_file(&entry.name)
                .is_none_or(|(number, fork, _)| fork == "init" || !unlogged.contains(&number))
        });
    }
    entries.retain(|entry| fate(folder, &entry.name, entry.is_dir) != Fate::LeaveOut);
    entries.sort();
    Ok(entries)
}

/// What is known of a name; none if it has gone.
fn metadata(path: &Path, name: &str) -> SqlResult<Option<Metadata>> {
    match fs::metadata(path) {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(file_error("stat file or directory", name, &error)),
    }
}

fn member(found: &Metadata) -> Member {
    Member {
        size: if found.is_dir { 0 } else { found.len },
        mode: found.mode,
        owner: found.owner,
        modified: found.times[1].div_euclid(1_000_000),
        kind: if found.is_dir { Kind::Folder } else { Kind::File },
    }
}

/// Bytes of an archive of a folder of the data directory, about; of the whole directory, but for tablespaces that users made, if it has no name.
pub(super) fn estimate(dir: &Path, folder: &str) -> SqlResult<u64> {
    fn folder_size(dir: &Path, folder: &str) -> SqlResult<u64> {
        let mut size = 0;
        for entry in entries(dir, folder)? {
            runtime::check_interrupts()?;
            let name =
                if folder.is_empty() { entry.name.clone() } else { format!("{folder}/{}", entry.name) };
            let Some(found) = metadata(&dir.join(&name), &name)? else { continue };
            size += BLOCK as u64;
            if !found.is_dir {
                size += found.len.next_multiple_of(BLOCK as u64);
            } else if fate(folder, &entry.name, true) == Fate::Copy && name != TABLESPACES {
                size += folder_size(dir, &name)?;
            }
        }
        Ok(size)
    }
    folder_size(dir, folder)
}

/// How a file's bytes are looked at while they are copied.
#[derive(Clone, Copy)]
enum Check {
    No,
    /// Pages of a relation, from this block on.
    Pages(u32),
    /// Pages of an SLRU, from this one on.
    Sectors(u64),
}

/// Copies the data directory into an archive.
pub(super) struct Copier<'a> {
    session: &'a Session,
    pub sink: Sink<'a>,
    pub manifest: Option<Writer>,
    backup: &'a Backup,
    /// What an incremental one goes by.
    basis: Option<&'a Basis<'a>>,
    verify: bool,
    /// There are links to tablespaces.
    links: bool,
    /// What names in the archive lack of a path below the data directory.
    cut: usize,
    /// Damaged pages.
    pub damaged: usize,
}

impl<'a> Copier<'a> {
    pub fn new(
        session: &'a Session,
        sink: Sink<'a>,
        manifest: Option<Writer>,
        (backup, basis): (&'a Backup, Option<&'a Basis<'a>>),
        options: &Options,
    ) -> Copier<'a> {
        let (verify, links) = (options.verify, !options.tablespace_map);
        Copier { session, sink, manifest, backup, basis, verify, links, cut: 0, damaged: 0 }
    }

    fn dir(&self) -> &'a Path {
        self.session.engine().dir()
    }

    /// A file whose contents are these.
    pub fn text(&mut self, name: &str, bytes: &[u8]) -> SqlResult<()> {
        let owner = metadata(self.dir(), "data directory")?.map_or(0, |found| found.owner);
        let modified = runtime::wall_clock_micros().div_euclid(1_000_000) + UNIX_SECONDS;
        let size = bytes.len() as u64;
        let mode = fs::directory_mode() & 0o666;
        self.sink.write(&tar::head(name, &Member { size, mode, owner, modified, kind: Kind::File })?)?;
        if !bytes.is_empty() {
            self.sink.write(bytes)?;
        }
        self.pad(size)?;
        if let Some(manifest) = &mut self.manifest {
            let mut sum = manifest.checksum().begin();
            sum.add(bytes);
            manifest.file(name, size, modified, sum.end());
        }
        Ok(())
    }

    fn pad(&mut self, size: u64) -> SqlResult<()> {
        match padding(size) {
            0 => Ok(()),
            zeros => self.sink.write(&[0; BLOCK][..zeros]),
        }
    }

    /// What the archive has before the bytes of a member.
    fn head(&mut self, path: &str, member: &Member) -> SqlResult<()> {
        self.sink.write(&tar::head(&path[self.cut..], member)?)
    }

    /// A tablespace that a user made. If it has gone, its folder is there all the same: redo looks for it.
    pub fn tablespace(&mut self, tablespace: &Tablespace) -> SqlResult<()> {
        let folder = tablespace_folder(tablespace.oid);
        self.cut = folder.len() - TABLESPACE_VERSION.len();
        let found = metadata(&self.dir().join(&folder), &folder)?;
        let Some(found) =
            found.map_or_else(|| metadata(self.dir(), "data directory"), |found| Ok(Some(found)))?
        else {
            return Ok(());
        };
        self.head(&folder, &member(&found))?;
        self.folder(&folder)?;
        self.cut = 0;
        Ok(())
    }

    /// Whether a tablespace lies in this folder of the data directory, against all advice: it has an archive of its own.
    fn is_location(&self, folder: &str) -> bool {
        let path = self.dir().join(folder);
        self.backup.tablespaces.iter().any(|tablespace| tablespace.location.as_ref() == Some(&path))
    }

    /// What the data directory has of the tablespaces: links, and folders of those that lie in place.
    fn tablespaces(&mut self, like: &Metadata) -> SqlResult<()> {
        let backup = self.backup;
        for Tablespace { oid, location } in &backup.tablespaces {
            let kind = match location {
                Some(location) if self.links => Kind::Link(location.to_string_lossy().into_owned()),
                Some(_) => continue,
                None => Kind::Folder,
            };
            self.head(&format!("{TABLESPACES}/{oid}"), &Member { kind, ..member(like) })?;
        }
        Ok(())
    }

    /// The data directory, and last the control file.
    pub fn data_directory(&mut self) -> SqlResult<()> {
        self.folder("")?;
        let lengths = &self.backup.lengths;
        self.text(LENGTHS, lengths)?;
        self.file(CONTROL, Check::No)?;
        match self.damaged {
            0 | 1 => {}
            n => self.warn(format!("{n} total checksum verification failures")),
        }
        Ok(())
    }

    fn folder(&mut self, folder: &str) -> SqlResult<()> {
        for entry in entries(self.dir(), folder)? {
            runtime::check_interrupts()?;
            let name =
                if folder.is_empty() { entry.name.clone() } else { format!("{folder}/{}", entry.name) };
            if is_unfinished(&name, &self.backup.tablespaces) {
                continue;
            }
            if !entry.is_dir {
                let check = self.check_of(folder, &entry.name);
                match self.changed_of(folder, &entry.name)? {
                    Some(changed) => self.changed_blocks((folder, &entry.name), &changed, check)?,
                    None => self.file(&name, check)?,
                }
                continue;
            }
            let Some(found) = metadata(&self.dir().join(&name), &name)? else { continue };
            self.head(&name, &member(&found))?;
            match fate(folder, &entry.name, true) {
                _ if name == TABLESPACES => self.tablespaces(&found)?,
                _ if self.is_location(&name) => {}
                Fate::Copy => self.folder(&name)?,
                _ if name == "pg_wal" => {
                    for below in ["./pg_wal/archive_status", "./pg_wal/summaries"] {
                        self.sink.write(&tar::head(below, &member(&found))?)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Which blocks of a file are copied; none: all of it is.
    fn changed_of(&self, folder: &str, name: &str) -> SqlResult<Option<Incremental>> {
        let (Some(basis), Some((number, "", segment))) = (self.basis, relation_file(name)) else {
            return Ok(None);
        };
        let Some((tablespace, database)) = relations_of(folder) else { return Ok(None) };
        let path = format!("{folder}/{name}");
        let Some(found) = metadata(&self.dir().join(&path), &path)? else { return Ok(None) };
        Ok(basis.of_file(&path, (RelFile { tablespace, database, number }, segment), found.len))
    }

    /// Some blocks of a file, in a file of their own; nothing if it has gone.
    fn changed_blocks(
        &mut self,
        (folder, name): (&str, &str),
        changed: &Incremental,
        check: Check,
    ) -> SqlResult<()> {
        let path = format!("{folder}/{name}");
        let file = match File::open(&self.dir().join(&path), OpenOptions::READ) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(file_error("open file", &path, &error)),
        };
        let Some(found) = metadata(&self.dir().join(&path), &path)? else { return Ok(()) };
        let member = Member { size: changed.size(), ..member(&found) };
        let stored = format!("{folder}/{PREFIX}{name}");
        self.head(&stored, &member)?;
        let mut sum = self.manifest.as_ref().map(|manifest| manifest.checksum().begin());
        let mut send = |copier: &mut Copier<'a>, bytes: &[u8]| {
            if let Some(sum) = &mut sum {
                sum.add(bytes);
            }
            copier.sink.write(bytes)
        };
        send(self, &changed.head())?;
        let (mut damaged, mut buffer) = (0, vec![0; PIECE]);
        let runs = changed.blocks.chunk_by(|one, next| one + 1 == *next);
        for blocks in runs.flat_map(|run| run.chunks(PIECE / PAGE_SIZE)) {
            runtime::check_interrupts()?;
            let piece = &mut buffer[..blocks.len() * PAGE_SIZE];
            let at = u64::from(blocks[0]) * PAGE_SIZE as u64;
            let read = waiting(WaitEvent::BackupRead, || file.read_at(piece, at))
                .map_err(|error| file_error("read file", &path, &error))?;
            piece[read..].fill(0);
            damaged += self.mend(&file, (&path, check), at, &mut piece[..read], damaged)?;
            send(self, piece)?;
        }
        self.pad(member.size)?;
        if let (Some(manifest), Some(sum)) = (&mut self.manifest, sum) {
            manifest.file(&stored, member.size, member.modified, sum.end());
        }
        self.damaged += damaged;
        Ok(())
    }

    fn check_of(&self, folder: &str, name: &str) -> Check {
        if !self.verify {
            return Check::No;
        }
        if has_relations(folder)
            && let Some((_, _, segment)) = relation_file(name)
        {
            return Check::Pages(segment.saturating_mul(engine::files::SEGMENT_PAGES));
        }
        if ["pg_xact", "pg_multixact"].contains(&folder)
            && let Some(first) = txn::slru::first_page_of_segment(name)
        {
            return Check::Sectors(first);
        }
        Check::No
    }

    /// A file, unless it has gone.
    fn file(&mut self, name: &str, check: Check) -> SqlResult<()> {
        let path = self.dir().join(name);
        let file = match File::open(&path, OpenOptions::READ) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(file_error("open file", name, &error)),
        };
        let Some(mut found) = metadata(&path, name)? else { return Ok(()) };
        if !found.is_file {
            return Ok(());
        }
        found.len = file.len().map_err(|error| file_error("stat file", name, &error))?;
        let member = member(&found);
        self.head(name, &member)?;
        let mut sum = self.manifest.as_ref().map(|manifest| manifest.checksum().begin());
        let (mut at, mut damaged) = (0, 0);
        let mut buffer = vec![0; PIECE];
        while at < found.len {
            let piece = &mut buffer[..(found.len - at).min(PIECE as u64) as usize];
            let read = waiting(WaitEvent::BackupRead, || file.read_at(piece, at))
                .map_err(|error| file_error("read file", name, &error))?;
            piece[read..].fill(0);
            damaged += self.mend(&file, (name, check), at, &mut piece[..read], damaged)?;
            self.sink.write(piece)?;
            if let Some(sum) = &mut sum {
                sum.add(piece);
            }
            at += piece.len() as u64;
        }
        self.pad(found.len)?;
        if let (Some(manifest), Some(sum)) = (&mut self.manifest, sum) {
            manifest.file(name, found.len, member.modified, sum.end());
        }
        self.damaged += damaged;
        Ok(())
    }

    /// Reads again what fails its check sum. Returns how many pages are damaged.
    fn mend(
        &mut self,
        file: &File,
        (name, check): (&str, Check),
        at: u64,
        piece: &mut [u8],
        told: usize,
    ) -> SqlResult<usize> {
        let mut damaged = 0;
        for (number, page) in piece.as_chunks_mut::<PAGE_SIZE>().0.iter_mut().enumerate() {
            let offset = at + (number * PAGE_SIZE) as u64;
            let block = offset / PAGE_SIZE as u64;
            let mut reads = 1;
            while !is_whole(page, check, block) && reads < READS {
                waiting(WaitEvent::BackupRead, || {
                    runtime::wait(runtime::sleep(PAUSE));
                    file.read_at(page, offset)
                })
                .map_err(|error| file_error("read file", name, &error))?;
                reads += 1;
            }
            if reads < READS || is_whole(page, check, block) || self.is_mended_by_redo(page, check) {
                continue;
            }
            damaged += 1;
            match told + damaged {
                n if n < TOLD => {
                    self.warn(format!("checksum verification failed in file \"{name}\", block {block}"))
                }
                TOLD => self.warn(format!(
                    "further checksum verification failures in file \"{name}\" will not be reported"
                )),
                _ => {}
            }
        }
        Ok(damaged)
    }

    /// Whether redo brings all of a page: it was changed behind the backup's start.
    fn is_mended_by_redo(&self, page: &PageBytes, check: Check) -> bool {
        matches!(check, Check::Pages(_)) && page::lsn(page) >= self.backup.start
    }

    fn warn(&self, message: String) {
        self.session.notice(SqlError::with_severity(Severity::Warning, SqlState::WARNING, message));
    }

    /// The log that the backup needs, the newest first. A segment in which a time line was left is part of the next one's.
    pub fn log(&mut self, ranges: &[Range]) -> SqlResult<()> {
        let wal = self.session.engine().wal();
        let size = wal.segment_size();
        let mut at = ranges.last().map_or(Lsn::INVALID, |oldest| wal.segment_start(oldest.start));
        while let Some(range) = ranges.iter().find(|range| range.start.0 < at.0 + size && at < range.end) {
            let name = wal::segment_file_name(range.timeline, at, size);
            let path = format!("pg_wal/{name}");
            // It is no part of the manifest: check sums of its records tell whether it is whole.
            let manifest = self.manifest.take();
            let copied = self.log_file(&path, size);
            self.manifest = manifest;
            copied?;
            self.text(&format!("pg_wal/archive_status/{name}.done"), b"")?;
            at = Lsn(at.0 + size);
        }
        Ok(())
    }

    fn log_file(&mut self, path: &str, size: u64) -> SqlResult<()> {
        let found = metadata(&self.dir().join(path), path)?;
        if found.is_none_or(|found| found.len != size) {
            let name = path.strip_prefix("pg_wal/").unwrap_or(path);
            return Err(Session::removed(name));
        }
        self.file(path, Check::No)
    }

    /// The end of the archive.
    pub fn end_archive(&mut self) -> SqlResult<()> {
        self.sink.write(&[0; 2 * BLOCK])?;
        self.sink.end_archive()
    }
}

/// Whether a page as it was read has the right check sum; `block` counts from the file's beginning.
fn is_whole(page: &PageBytes, check: Check, block: u64) -> bool {
    match check {
        Check::No => true,
        Check::Pages(first) => page::check(page, BlockNo(first + block as u32)).is_ok(),
        Check::Sectors(first) => txn::slru::is_whole_page(first + block, page),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_copied_and_what_is_not() {
        for (folder, name) in [
            ("", "postmaster.pid"),
            ("", "stampede.lock"),
            ("", "backup_label"),
            ("base", "pgsql_tmp"),
            ("base", "17000.new"),
            ("global", "pg_control"),
            ("global", "pg_lengths"),
            ("pg_twophase", "0000000000000700.tmp"),
            ("pg_tblspc/16384/PG_18_202506291", "pgsql_tmp"),
            ("pg_tblspc/16384/PG_18_202506291", "5.gone"),
        ] {
            assert_eq!(
                fate(folder, name, name == "pgsql_tmp" || name.ends_with("new") || name.ends_with("gone")),
                Fate::LeaveOut,
                "{name}"
            );
        }
        assert_eq!(fate("", "pg_wal", true), Fate::Empty);
        assert_eq!(fate("", "pg_replslot", true), Fate::Empty);
        for (folder, name) in
            [("", "PG_VERSION"), ("", "postgresql.auto.conf"), ("base/5", "1259"), ("pg_xact", "0000")]
        {
            assert_eq!(fate(folder, name, false), Fate::Copy, "{name}");
        }
    }

    #[test]
    fn what_redo_makes_again_is_left_out() {
        let copied = [Tablespace { oid: Oid(7), location: None }];
        assert!(!is_unfinished("global/tablespace_7.unfinished", &copied));
        assert!(is_unfinished("global/tablespace_8.unfinished", &copied));
        assert!(!is_unfinished("global/1262", &copied));
    }

    #[test]
    fn names_of_relations() {
        assert_eq!(relation_file("16384_fsm.2"), Some((16384, "fsm", 2)));
        assert_eq!(relation_file("16384"), Some((16384, "", 0)));
        for other in ["PG_VERSION", "16384_x", "pg_filenode.map", "1.x"] {
            assert_eq!(relation_file(other), None, "{other}");
        }
        assert_eq!(relations_of("pg_tblspc/16384/PG_18_202506291/5"), Some((Oid(16_384), Oid(5))));
        assert_eq!(relations_of("base/5"), Some((Oid::PG_DEFAULT, Oid(5))));
        for other in ["pg_tblspc/16384", "pg_tblspc/16384/PG_18_202506291", "pg_tblspc/x/PG_18_202506291/5"] {
            assert_eq!(relations_of(other), None, "{other}");
        }
        assert!(has_relations("global") && has_relations("base/5"));
        assert!(!has_relations("base") && !has_relations("base/5.new") && !has_relations(""));
    }
}
