//! # What
//! Databases as files: one is made as a copy of another, moved to another tablespace, or removed, with the end of a transaction.
//!
//! # Layout
//! A folder in each tablespace where the database has files; the one in its own tablespace (`base/<oid>`, unless it was made elsewhere) has the catalogs, their map (`map`), and, until it is known that the database was
//! made or has moved there, [`MAKER`]: the xid of the transaction that makes it, in decimal digits; in a second line, of one that moves, the OID of the tablespace that it leaves. It gets its name once both are in it, and before any other of the database's folders is made.
//!
//! # Invariants
//! 1. Nobody is in the database that is copied or moved, from before the copy until its transaction has ended: the caller sees to it.
//! 2. A folder without a [`MAKER`] belongs to a database that was made. Who aborts removes the folder; after a crash the next start does, for
//!    the commit log does not have the xid as committed. If it has, what a move has left is removed.
//! 3. A database has moved once its map says so (`map`): with the commit, before anybody can enter it.
//!
//! # Locks
//! None of its own. The caller holds the heavyweight lock of the database that is copied or removed.
//!
//! # WAL and crash
//! CREATE_WAL_LOG makes the folder, empty but for the map; records of new files and images of their pages follow, so that redo needs nothing
//! else; pages of unlogged relations have no images, but for those of their initial forks. CREATE_FILE_COPY says that the files of another database were copied as they were then: redo copies again. So a checkpoint follows
//! before the transaction may commit: from then on somebody may change what was copied, and redo must not begin before. A removal is part
//! of the end of its transaction ([`RelFile::whole_database`]), as that of any relation's files.
//!
//! # PostgreSQL counterpart and differences
//! `createdb`, `dropdb` and `dbase_redo` of `dbcommands.c`. There files are removed before the transaction ends, and a database whose
//! removal was cut off stays behind, marked as invalid; a crash in CREATE DATABASE leaves a folder that nobody removes. Free-space maps are not
//! copied page by page: they are not logged, and VACUUM makes new ones.

use std::io;
use std::path::{Path, PathBuf};

use base::{BlockNo, Fork, Oid, RelFile, Xid, stop_point, tablespace_folder};
use buffer::{PageChange, Persistence, Ring, RingKind, Tag, WalAction};
use runtime::fs::{self, File, OpenOptions};
use txn::{End, Phase, RelationFiles, Transaction};
use wal::{RecordRef, Rmgr, xlog_info};

use crate::map::{self, Numbers};
use crate::xlog::{self, DatabaseChange};
use crate::{CheckpointCause, Engine, EngineError};

/// File in the folder of a database that may not have been made, or may not have moved there.
pub const MAKER: &str = "unfinished";

/// Bytes that are copied between two looks for interrupts.
const PIECE: usize = 1 << 20;

/// How the files of a new database come about (CREATE DATABASE ... STRATEGY).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyStrategy {
    /// Page by page through the buffer pool, each logged.
    WalLog,
    /// File by file, between two checkpoints.
    FileCopy,
}

impl Engine {
    /// Makes the files of database `to`, whose own tablespace is `home`, a copy of `from`, to be removed if `txn` aborts. What is in another tablespace than the own
    /// of `from` has its copy there.
    pub fn create_database(
        &self,
        txn: &mut Transaction,
        (to, home): (Oid, Oid),
        from: Oid,
        strategy: CopyStrategy,
    ) -> Result<(), EngineError> {
        let xid = txn.xid()?;
        for tablespace in self.tablespaces_of_database(from)? {
            txn.drop_at_abort(RelFile::whole_database(self.place(tablespace, from, home), to));
        }
        let numbers = self.maps.numbers(from);
        match strategy {
            CopyStrategy::WalLog => self.copy_pages(xid, (to, home), from, numbers)?,
            CopyStrategy::FileCopy => self.copy_files(xid, (to, home), from, numbers)?,
        }
        stop_point!("database-made");
        self.finish_at_commit(txn, home, to);
        Ok(())
    }

    /// Moves what a database has in its own tablespace to another, which becomes its own when `txn` commits. It has [no files](Self::database_has_files) there.
    pub fn move_database(&self, txn: &mut Transaction, database: Oid, to: Oid) -> Result<(), EngineError> {
        let (xid, from) = (txn.xid()?, self.maps.home(database));
        let empty = self.folder(to, database);
        match fs::remove_dir(&empty) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(failed("remove", &empty, e)),
            _ => {}
        }
        txn.drop_at_abort(RelFile::whole_database(to, database));
        self.pool.admit(Persistence::Permanent)?;
        let numbers = self.maps.numbers(database);
        let record = xlog::create_logged_database_record(xid, (database, to), &map::encode(&numbers));
        let end = self.wal.insert(&record);
        self.wal.flush(end)?;
        self.make_home((database, to), xid, numbers, |_| Ok(()))?;
        let rings = [RingKind::BulkRead, RingKind::BulkWrite].map(|kind| self.pool.ring(kind));
        for old in self.relations_with(from, database, Fork::Main)? {
            let persistence = match self.smgr.exists(old, Fork::Init)? {
                true => Persistence::Unlogged,
                false => Persistence::Permanent,
            };
            self.copy_forks(xid, (RelFile { tablespace: to, ..old }, old), persistence, &rings)?;
        }
        stop_point!("database-moved");
        txn.drop_at_commit(RelFile::whole_database(from, database));
        txn.map_at_commit(map::moved_home(database, to));
        self.finish_at_commit(txn, to, database);
        Ok(())
    }

    /// Whether a database has files in a tablespace.
    pub fn database_has_files(&self, tablespace: Oid, database: Oid) -> Result<bool, EngineError> {
        let folder = self.folder(tablespace, database);
        match fs::read_dir(&folder) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
            entries => Ok(!entries.map_err(|e| failed("open", &folder, e))?.is_empty()),
        }
    }

    /// A folder that a transaction has made is finished when it commits.
    fn finish_at_commit(&self, txn: &mut Transaction, tablespace: Oid, database: Oid) {
        let maker = self.folder(tablespace, database).join(MAKER);
        let made = move |end| {
            if end == End::Commit
                && let Err(error) = fs::remove_file(&maker)
            {
                tracing::warn!("could not remove file \"{}\": {error}", maker.display());
            }
        };
        txn.on_end(Phase::AfterLocks, Box::new(made));
    }

    /// Removes all files of a database when `txn` commits. Nobody is in it, or will be before that.
    pub fn drop_database(&self, txn: &mut Transaction, database: Oid) -> Result<(), EngineError> {
        // Its own tablespace last: as long as a folder is there, so is the map.
        for tablespace in self.tablespaces_of_database(database)? {
            txn.drop_at_commit(RelFile::whole_database(tablespace, database));
        }
        Ok(())
    }

    /// Whether there is a folder for a database of this OID.
    pub fn has_database_folder(&self, database: Oid) -> Result<bool, EngineError> {
        Ok(map::database_folders(&self.dir)?.iter().any(|(_, found)| *found == database))
    }

    /// The tablespaces where a database has a folder, its own last.
    pub fn tablespaces_of_database(&self, database: Oid) -> Result<Vec<Oid>, EngineError> {
        let home = self.maps.home(database);
        let folders = map::database_folders(&self.dir)?.into_iter();
        let others = folders.filter(|(tablespace, found)| *found == database && *tablespace != home);
        Ok(others.map(|(tablespace, _)| tablespace).chain([home]).collect())
    }

    /// Where the copy of what `from` has in a tablespace lies, in a database whose own tablespace is `home`.
    fn place(&self, tablespace: Oid, from: Oid, home: Oid) -> Oid {
        if tablespace == self.maps.home(from) { home } else { tablespace }
    }

    fn folder(&self, tablespace: Oid, database: Oid) -> PathBuf {
        smgr::database_folder(&self.dir, tablespace, database)
    }

    fn copy_pages(
        &self,
        xid: Xid,
        (to, home): (Oid, Oid),
        from: Oid,
        numbers: Numbers,
    ) -> Result<(), EngineError> {
        self.pool.admit(Persistence::Permanent)?;
        let map = map::encode(&numbers);
        let end = self.wal.insert(&xlog::create_logged_database_record(xid, (to, home), &map));
        self.wal.flush(end)?;
        self.make_home((to, home), xid, numbers, |_| Ok(()))?;
        let rings = [RingKind::BulkRead, RingKind::BulkWrite].map(|kind| self.pool.ring(kind));
        let mut relations = Vec::new();
        for tablespace in self.tablespaces_of_database(from)? {
            relations.append(&mut self.relations_with(tablespace, from, Fork::Main)?);
        }
        for old in relations {
            let new = RelFile { tablespace: self.place(old.tablespace, from, home), database: to, ..old };
            let persistence = match self.smgr.exists(old, Fork::Init)? {
                true => Persistence::Unlogged,
                false => Persistence::Permanent,
            };
            let forks =
                [(Fork::Main, persistence), (Fork::Vm, persistence), (Fork::Init, Persistence::Permanent)];
            for (fork, persistence) in forks {
                if self.smgr.exists(old, fork)? {
                    self.copy_fork(xid, (new, old, fork), persistence, &rings)?;
                }
            }
        }
        Ok(())
    }

    /// Makes `new` a copy of a relation, in another tablespace as a rule, to be removed if `txn` aborts. The caller keeps all others from changing the old one.
    pub fn copy_relation(
        &self,
        txn: &mut Transaction,
        (new, old): (RelFile, RelFile),
        persistence: Persistence,
    ) -> Result<(), EngineError> {
        let xid = txn.xid()?;
        txn.drop_at_abort(new);
        let rings = [RingKind::BulkRead, RingKind::BulkWrite].map(|kind| self.pool.ring(kind));
        self.copy_forks(xid, (new, old), persistence, &rings)?;
        stop_point!("relation-copied");
        Ok(())
    }

    fn copy_forks(
        &self,
        xid: Xid,
        (new, old): (RelFile, RelFile),
        persistence: Persistence,
        rings: &[Ring; 2],
    ) -> Result<(), EngineError> {
        for fork in Fork::ALL {
            let persistence = match (fork, persistence) {
                (Fork::Init, _) => Persistence::Permanent,
                // Free-space maps are not logged.
                (Fork::Fsm, Persistence::Permanent) => Persistence::Unlogged,
                _ => persistence,
            };
            if self.smgr.exists(old, fork)? {
                self.copy_fork(xid, (new, old, fork), persistence, rings)?;
            }
        }
        Ok(())
    }

    fn copy_fork(
        &self,
        xid: Xid,
        (new, old, fork): (RelFile, RelFile, Fork),
        persistence: Persistence,
        [reading, writing]: &[Ring; 2],
    ) -> Result<(), EngineError> {
        self.wal.insert(&xlog::create_record(xid, new, fork));
        self.smgr.create(new, fork, false)?;
        let mut copy = Box::new([0; base::PAGE_SIZE]);
        for block in 0..self.pool.nblocks(old, fork)? {
            runtime::check_interrupts().map_err(EngineError::Interrupted)?;
            self.pool.admit(persistence)?;
            let tag = Tag::new(old, fork, BlockNo(block));
            copy.copy_from_slice(&self.pool.read_with(tag, Some(reading))?.shared()[..]);
            let mut page = self.pool.extend_with(new, fork, persistence, Some(writing))?;
            // One that nobody has used yet stays all zero: with the place of a record it would be no page.
            if page::is_new(&copy) {
                continue;
            }
            page.copy_from_slice(&copy[..]);
            let (rmgr, info) = (Rmgr::Xlog, xlog_info::FPI);
            let mut action = WalAction::for_relation(&self.pool, persistence, rmgr, info, xid);
            action.page(&mut page, PageChange { force_image: true, ..PageChange::default() });
            action.commit();
        }
        Ok(())
    }

    fn copy_files(
        &self,
        xid: Xid,
        (to, home): (Oid, Oid),
        from: Oid,
        numbers: Numbers,
    ) -> Result<(), EngineError> {
        // Files have what recovery brought to their pages only when they were written.
        self.finish_recovery()?;
        self.pool.flush_database(from)?;
        self.copy_folders(xid, (to, home), from, numbers)?;
        let end = self.wal.insert(&xlog::copy_database_record(xid, (to, home), from));
        self.wal.flush(end)?;
        self.checkpoint(CheckpointCause::Requested)?;
        Ok(())
    }

    /// Copies all folders of a database.
    fn copy_folders(
        &self,
        xid: Xid,
        (to, home): (Oid, Oid),
        from: Oid,
        numbers: Numbers,
    ) -> Result<(), EngineError> {
        let mut old = self.tablespaces_of_database(from)?;
        let own = old.pop().unwrap_or(Oid::PG_DEFAULT);
        self.make_home((to, home), xid, numbers, |folder| self.copy_folder((own, from), folder))?;
        old.into_iter().try_for_each(|tablespace| {
            self.make_folder((tablespace, to), |folder| self.copy_folder((tablespace, from), folder))
        })
    }

    /// Makes the folder of a new database in its own tablespace, or of one that moves there, with its map and what `fill` puts there.
    fn make_home(
        &self,
        (database, home): (Oid, Oid),
        xid: Xid,
        numbers: Numbers,
        fill: impl FnOnce(&Path) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        let left = self.maps.known_home(database).filter(|left| *left != home);
        let maker = match left {
            Some(left) => format!("{xid}\n{left}"),
            None => xid.to_string(),
        };
        self.make_folder((home, database), |part| {
            fs::write_file_durably(&part.join(MAKER), maker.as_bytes())
                .map_err(|e| failed("write", part, e))?;
            map::write_into(part, &numbers)?;
            fill(part)
        })?;
        self.maps.insert((home, database), numbers);
        Ok(())
    }

    /// Makes a folder of a new database, with what `fill` puts there; it has all of it or does not exist.
    fn make_folder(
        &self,
        (tablespace, database): (Oid, Oid),
        fill: impl FnOnce(&Path) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        let part = smgr::unfinished_folder(&self.dir, tablespace, database);
        let folder = self.folder(tablespace, database);
        let made = (|| {
            crate::empty_folder(&part).map_err(|e| failed("create", &part, e))?;
            fill(&part)?;
            stop_point!("database-before-rename");
            // What is left in memory of one that had this OID is not of this one.
            self.smgr.forget_database(tablespace, database);
            let above = self.dir.join(tablespace_folder(tablespace));
            let renamed = fs::rename(&part, &folder).and_then(|()| fs::sync_dir(&above));
            renamed.map_err(|e| failed("rename", &part, e))
        })();
        if made.is_err() {
            // The error that made it useless is the one to tell.
            drop(fs::remove_dir_all(&part));
        }
        made
    }

    /// The relations of a database in a tablespace that have a fork.
    pub(crate) fn relations_with(
        &self,
        tablespace: Oid,
        database: Oid,
        fork: Fork,
    ) -> Result<Vec<RelFile>, EngineError> {
        let folder = self.folder(tablespace, database);
        let entries = fs::read_dir(&folder).map_err(|e| failed("open", &folder, e))?;
        let numbers = entries.iter().filter_map(|entry| entry.name.strip_suffix(fork.suffix())?.parse().ok());
        Ok(numbers.map(|number| RelFile { tablespace, database, number }).collect())
    }

    /// Copies the files of relations, durably. The pages are all in the files.
    fn copy_folder(&self, (tablespace, from): (Oid, Oid), to: &Path) -> Result<(), EngineError> {
        let folder = self.folder(tablespace, from);
        let entries = fs::read_dir(&folder).map_err(|e| failed("open", &folder, e))?;
        for entry in entries.iter().filter(|entry| !entry.is_dir) {
            if map::is_map(&entry.name) || entry.name.starts_with(MAKER) {
                continue;
            }
            self.copy_file(&folder.join(&entry.name), &to.join(&entry.name))?;
        }
        fs::sync_dir(to).map_err(|e| failed("fsync", to, e))
    }

    fn copy_file(&self, from: &Path, to: &Path) -> Result<(), EngineError> {
        let source = File::open(from, OpenOptions::READ).map_err(|e| failed("open", from, e))?;
        let copy = File::open(to, OpenOptions::CREATE_NEW).map_err(|e| failed("create", to, e))?;
        let mut piece = vec![0; PIECE];
        let mut at = 0;
        loop {
            runtime::check_interrupts().map_err(EngineError::Interrupted)?;
            let length = source.read_at(&mut piece, at).map_err(|e| failed("read", from, e))?;
            copy.write_all_at(&piece[..length], at).map_err(|e| failed("write", to, e))?;
            at += length as u64;
            if length < PIECE {
                break;
            }
        }
        match self.options().wal.fsync {
            true => copy.sync_all().map_err(|e| failed("fsync", to, e)),
            false => Ok(()),
        }
    }

    /// Redo of the making of a database; of one that is copied the files have everything.
    pub(crate) fn redo_database(&self, record: &RecordRef<'_>) -> Result<(), EngineError> {
        let malformed = |reason: &str| EngineError::Redo { lsn: record.lsn, reason: reason.into() };
        match xlog::as_database_change(record) {
            Some(DatabaseChange::CreateLogged { database, home, map }) => {
                let numbers = map::decode(map).map_err(malformed)?;
                // One that is there is as it was made, or newer.
                if !map::has_map(&self.dir, (home, database))? {
                    self.make_home((database, home), record.xid, numbers, |_| Ok(()))?;
                }
                Ok(())
            }
            Some(DatabaseChange::CreateCopied { database, home, from }) => {
                self.remove_database(database)?;
                if !self.has_database_folder(from)? {
                    tracing::warn!("skipping the copy of database {from}: it was removed");
                    return Ok(());
                }
                let numbers = self.maps.numbers(from);
                self.copy_folders(record.xid, (database, home), from, numbers)
            }
            None => Err(malformed("malformed record of a database")),
        }
    }

    /// At a start, when it is known which transactions committed: databases whose making was cut off go, those that were made are finished.
    pub(crate) fn settle_databases(&self) -> Result<(), EngineError> {
        self.maps.check(&self.dir)?;
        for (tablespace, database) in map::database_folders(&self.dir)? {
            let maker = self.folder(tablespace, database).join(MAKER);
            let text = match fs::read_to_string(&maker) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                text => text.map_err(|e| failed("read", &maker, e))?,
            };
            let (xid, left) = decode_maker(&text).ok_or_else(|| {
                EngineError::Map(format!("file \"{}\" contains invalid data", maker.display()))
            })?;
            let is_home = self.maps.home(database) == tablespace;
            if self.was_committed(xid)? {
                if let Some(left) = left.filter(|_| is_home) {
                    self.files.drop_files(&[RelFile::whole_database(left, database)]);
                }
                fs::remove_file(&maker).map_err(|e| failed("remove", &maker, e))?;
            } else if is_home {
                tracing::info!("removing database {database}, which was not made");
                self.remove_database(database)?;
            } else {
                tracing::info!("removing files of database {database}, which was not moved");
                self.files.drop_files(&[RelFile::whole_database(tablespace, database)]);
            }
        }
        Ok(())
    }

    /// Removes all folders of a database that was not made.
    fn remove_database(&self, database: Oid) -> Result<(), EngineError> {
        for tablespace in self.tablespaces_of_database(database)? {
            self.files.drop_files(&[RelFile::whole_database(tablespace, database)]);
        }
        Ok(())
    }

    /// Whether a transaction of an earlier run committed. What is so old that nobody asks any more has.
    pub(crate) fn was_committed(&self, xid: Xid) -> Result<bool, EngineError> {
        if xid >= self.txns.next_xid() {
            return Ok(false);
        }
        Ok(xid < self.txns.oldest_ids().xid || self.txns.did_commit(xid)?)
    }
}

/// What [`MAKER`] says: a transaction, and the tablespace that a database leaves.
fn decode_maker(text: &str) -> Option<(Xid, Option<Oid>)> {
    let (xid, left) = match text.split_once('\n') {
        Some((xid, left)) => (xid, Some(Oid(left.parse().ok()?))),
        None => (text, None),
    };
    Some((Xid(xid.parse().ok()?), left))
}

fn failed(what: &str, path: &Path, error: io::Error) -> EngineError {
    EngineError::Io(format!("could not {what} \"{}\"", path.display()), error)
}
