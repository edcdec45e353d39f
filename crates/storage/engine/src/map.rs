//! # What
//! Which file each relation of a system catalog has: a map for each database, and one for the catalogs that all share. A catalog begins
//! with its OID as its file's number; what writes it anew (VACUUM FULL, CLUSTER, REINDEX) gives it another.
//!
//! # Layout
//! `pg_filenode.map` in the database's folder in its own tablespace, the one that has the catalogs (`base/<database>` unless it was made elsewhere), and
//! `global/pg_filenode.map`; little-endian:
//!
//! | bytes | |
//! |---|---|
//! | 8 | `STAMPMAP` |
//! | 4 | number of entries |
//! | 8 each | relation, number of its file; ascending by relation, only where the two differ |
//! | 4 | CRC-32C of all before |
//!
//! # Invariants
//! 1. The maps in memory are the truth, and are read from the files once, before the log is replayed.
//! 2. They change with a commit, inside the checkpoint gate and before anybody sees its effects ([`txn::MappedFile`]), and nowhere else.
//! 3. A checkpoint writes those that changed after it waited for the commits in flight: a file is never behind the redo point. It may
//!    be ahead: redo of the commit records repeats the changes, in their order.
//! 4. A database without its map is damaged. During redo there may be one: a database whose removal is yet to be repeated.
//! 5. A database's own tablespace is the one where its map is: nothing else says so before `pg_database` can be read. While it moves to another, both have one; the one that is
//!    [unfinished](crate::database::MAKER) is not its own yet. The commit that moves it says so among its mapped files ([`moved_home`]), and a checkpoint behind it
//!    removes the old map before redo could begin behind the move.
//!
//! # Locks
//! One short mutex, never held over I/O. One checkpoint at a time writes the files.
//!
//! # WAL and crash
//! A change is part of its commit's record ([`txn::MappedFile`]): it is there with all else that the transaction did, or not at all. Files
//! are replaced by renaming a new one.
//!
//! # PostgreSQL counterpart and differences
//! `relmapper.c`. PostgreSQL maps some catalogs only, and writes a map, under a log record of its own, just before the commit.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};

use base::{Oid, RelFile};
use parking_lot::Mutex;
use txn::MappedFile;

use crate::EngineError;

const FILE: &str = "pg_filenode.map";
const MAGIC: &[u8; 8] = b"STAMPMAP";

/// Where the shared catalogs are.
const SHARED: (Oid, Oid) = (Oid::PG_GLOBAL, Oid::INVALID);

/// File numbers that are not the relation's OID.
pub(crate) type Numbers = BTreeMap<Oid, u32>;

#[derive(Clone, Debug, Default)]
struct Map {
    numbers: Numbers,
    /// The database's own tablespace.
    home: Oid,
    /// The one that it was moved from: its map there is no more.
    left: Option<Oid>,
    /// The file does not say so yet.
    changed: bool,
}

impl Map {
    fn new(numbers: Numbers, home: Oid) -> Map {
        Map { numbers, home, left: None, changed: false }
    }
}

/// From its commit on, a database's own tablespace is another: relation 0 stands for it, and its OID for a file's number.
pub(crate) fn moved_home(database: Oid, home: Oid) -> MappedFile {
    MappedFile { database, relation: Oid::INVALID, number: home.0 }
}

/// The maps of all databases, and of the shared catalogs under database 0.
#[derive(Debug, Default)]
pub(crate) struct RelationMaps(Mutex<BTreeMap<Oid, Map>>);

impl RelationMaps {
    /// Reads the maps of a data directory. `redo`: the log will be replayed, and databases that have none are looked at after that
    /// ([`check`](Self::check)).
    pub(crate) fn read(dir: &Path, redo: bool) -> Result<RelationMaps, EngineError> {
        let mut maps = BTreeMap::new();
        for (home, database) in std::iter::once(SHARED).chain(databases(dir)?) {
            match read_file(dir, (home, database)) {
                Err(EngineError::Io(_, e)) if redo && e.kind() == std::io::ErrorKind::NotFound => {}
                numbers => drop(maps.insert(database, Map::new(numbers?, home))),
            }
        }
        Ok(RelationMaps(Mutex::new(maps)))
    }

    /// Replay is over: every database has its map.
    pub(crate) fn check(&self, dir: &Path) -> Result<(), EngineError> {
        for (home, database) in std::iter::once(SHARED).chain(databases(dir)?) {
            if !self.0.lock().contains_key(&database) {
                read_file(dir, (home, database))?;
            }
        }
        Ok(())
    }

    /// The map of a database: file numbers that are not the relation's OID.
    pub(crate) fn numbers(&self, database: Oid) -> Numbers {
        self.0.lock().get(&database).map(|map| map.numbers.clone()).unwrap_or_default()
    }

    /// The own tablespace of a database.
    pub(crate) fn home(&self, database: Oid) -> Oid {
        self.0.lock().get(&database).map_or(Oid::PG_DEFAULT, |map| map.home)
    }

    /// The own tablespace of a database, if it has a map.
    pub(crate) fn known_home(&self, database: Oid) -> Option<Oid> {
        self.0.lock().get(&database).map(|map| map.home).filter(|home| home.is_valid())
    }

    /// A folder was made that has this map: of a new database, or of one that may move there.
    pub(crate) fn insert(&self, (home, database): (Oid, Oid), numbers: Numbers) {
        if self.known_home(database).is_none_or(|known| known == home) {
            self.0.lock().insert(database, Map::new(numbers, home));
        }
    }

    /// A database is to be removed.
    pub(crate) fn remove(&self, database: Oid) {
        self.0.lock().remove(&database);
    }

    /// Number of the file of a catalog's relation. Database 0 stands for the shared ones.
    pub(crate) fn number(&self, database: Oid, relation: Oid) -> u32 {
        let maps = self.0.lock();
        let number = maps.get(&database).and_then(|map| map.numbers.get(&relation));
        number.copied().unwrap_or(relation.0)
    }

    /// The relation whose file has this number, if it is another than its OID.
    pub(crate) fn relation(&self, database: Oid, number: u32) -> Option<Oid> {
        let maps = self.0.lock();
        let (&relation, _) = maps.get(&database)?.numbers.iter().find(|(_, found)| **found == number)?;
        Some(relation)
    }

    /// A transaction committed.
    pub(crate) fn apply(&self, files: &[MappedFile]) {
        let mut maps = self.0.lock();
        for file in files {
            let map = maps.entry(file.database).or_default();
            map.changed = true;
            if file.relation.is_valid() {
                map.numbers.insert(file.relation, file.number);
            } else if map.home != Oid(file.number) {
                map.left = Some(std::mem::replace(&mut map.home, Oid(file.number)));
            }
        }
    }

    /// Writes the maps that changed; durable on return. For one checkpoint at a time.
    pub(crate) fn write(&self, dir: &Path) -> Result<(), EngineError> {
        let changed: Vec<(Oid, Map)> = {
            let mut maps = self.0.lock();
            let changed = maps.iter_mut().filter(|(_, map)| map.changed);
            changed
                .map(|(&database, map)| {
                    map.changed = false;
                    (database, map.clone())
                })
                .collect()
        };
        for (database, map) in &changed {
            base::stop_point!("checkpoint-before-map");
            let written = write_file(dir, (map.home, *database), &map.numbers);
            let Err(error) = written.and_then(|()| self.remove_left(dir, *database, map.left)) else {
                continue;
            };
            let mut maps = self.0.lock();
            // A database that was removed meanwhile needs none.
            if maps.contains_key(database) {
                // The next checkpoint tries all again.
                changed.iter().for_each(|(database, _)| {
                    if let Some(map) = maps.get_mut(database) {
                        map.changed = true;
                    }
                });
                return Err(error);
            }
        }
        Ok(())
    }

    /// Removes the map that a database has left behind, durably: it becomes out of date.
    fn remove_left(&self, dir: &Path, database: Oid, left: Option<Oid>) -> Result<(), EngineError> {
        let Some(left) = left else { return Ok(()) };
        let path = path((left, database));
        let removed = runtime::fs::remove_file(&dir.join(&path))
            .and_then(|()| runtime::fs::sync_dir(dir.join(&path).parent().unwrap_or(dir)));
        match removed {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                return Err(EngineError::Io(format!("could not remove file \"{}\"", path.display()), e));
            }
            _ => {}
        }
        if let Some(map) = self.0.lock().get_mut(&database).filter(|map| map.left == Some(left)) {
            map.left = None;
        }
        Ok(())
    }
}

/// The databases that have a folder, each with its own tablespace.
pub(crate) fn databases(dir: &Path) -> Result<Vec<(Oid, Oid)>, EngineError> {
    let mut homes = BTreeMap::new();
    for (tablespace, database) in database_folders(dir)? {
        if has_map(dir, (tablespace, database))? {
            let folder = smgr::database_folder(dir, tablespace, database);
            let is_new = exists(&folder.join(crate::database::MAKER))?;
            match homes.entry(database) {
                // It may not have moved there.
                Entry::Occupied(_) if is_new => {}
                Entry::Occupied(mut known) => drop(known.insert(tablespace)),
                Entry::Vacant(unknown) => drop(unknown.insert(tablespace)),
            }
        } else if tablespace == Oid::PG_DEFAULT {
            // Damaged, unless it has its map elsewhere.
            homes.entry(database).or_insert(tablespace);
        }
    }
    Ok(homes.into_iter().map(|(database, home)| (home, database)).collect())
}

/// Whether the folder of a database in a tablespace has a map.
pub(crate) fn has_map(dir: &Path, place: (Oid, Oid)) -> Result<bool, EngineError> {
    exists(&dir.join(path(place)))
}

fn exists(path: &Path) -> Result<bool, EngineError> {
    runtime::fs::exists(path)
        .map_err(|e| EngineError::Io(format!("could not stat file \"{}\"", path.display()), e))
}

/// All folders of databases: tablespace, database.
pub(crate) fn database_folders(dir: &Path) -> Result<Vec<(Oid, Oid)>, EngineError> {
    let failed = |folder: &str, e| EngineError::Io(format!("could not open directory \"{folder}\""), e);
    let mut folders = Vec::new();
    for tablespace in smgr::tablespaces(dir).map_err(|e| failed("pg_tblspc", e))? {
        let folder = base::tablespace_folder(tablespace);
        let entries = match runtime::fs::read_dir(&dir.join(&folder)) {
            // Of a tablespace that is yet to be made, or dropped, again by redo.
            Err(e) if e.kind() == std::io::ErrorKind::NotFound && tablespace != Oid::PG_DEFAULT => continue,
            entries => entries.map_err(|e| failed(&folder, e))?,
        };
        let databases =
            entries.iter().filter(|entry| entry.is_dir).filter_map(|entry| entry.name.parse().ok());
        folders.extend(databases.map(|database| (tablespace, Oid(database))));
    }
    Ok(folders)
}

/// Writes the map of the first database, or of the shared catalogs: each file has its relation's OID.
pub(crate) fn create(dir: &Path, database: Oid) -> Result<(), EngineError> {
    let home = if database.is_valid() { Oid::PG_DEFAULT } else { Oid::PG_GLOBAL };
    write_file(dir, (home, database), &Numbers::new())
}

/// Writes a database's map into its folder, which may not have its name yet.
pub(crate) fn write_into(folder: &Path, numbers: &Numbers) -> Result<(), EngineError> {
    write_to(&folder.join(FILE), numbers, &folder.join(FILE))
}

/// Whether a file of a database's folder is its map, or was to become it.
pub(crate) fn is_map(name: &str) -> bool {
    name.starts_with(FILE)
}

fn write_file(dir: &Path, place: (Oid, Oid), numbers: &Numbers) -> Result<(), EngineError> {
    let path = path(place);
    write_to(&dir.join(&path), numbers, &path)
}

fn write_to(file: &Path, numbers: &Numbers, shown: &Path) -> Result<(), EngineError> {
    runtime::fs::write_file_durably(file, &encode(numbers)).map_err(|e| {
        EngineError::Io(format!("could not write relation mapping file \"{}\"", shown.display()), e)
    })
}

fn read_file(dir: &Path, place: (Oid, Oid)) -> Result<Numbers, EngineError> {
    let path = path(place);
    let bytes = runtime::fs::read_to_vec(&dir.join(&path)).map_err(|e| {
        EngineError::Io(format!("could not open relation mapping file \"{}\"", path.display()), e)
    })?;
    decode(&bytes).map_err(|why| {
        EngineError::Map(format!("relation mapping file \"{}\" contains {why}", path.display()))
    })
}

/// Path of the map of a database in its own tablespace, below the data directory.
fn path((home, database): (Oid, Oid)) -> PathBuf {
    Path::new(&RelFile::whole_database(home, database).to_string()).join(FILE)
}

pub(crate) fn encode(numbers: &Numbers) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    out.extend_from_slice(&(numbers.len() as u32).to_le_bytes());
    for (relation, number) in numbers {
        out.extend_from_slice(&relation.0.to_le_bytes());
        out.extend_from_slice(&number.to_le_bytes());
    }
    out.extend_from_slice(&crc32c::crc32c(&out).to_le_bytes());
    out
}

/// The map in a file, or what is wrong with the file.
pub(crate) fn decode(bytes: &[u8]) -> Result<Numbers, &'static str> {
    const INVALID: &str = "invalid data";
    let word = |chunk: &[u8]| chunk.try_into().map(u32::from_le_bytes).map_err(|_| INVALID);
    let (rest, crc) = bytes.split_last_chunk::<4>().ok_or(INVALID)?;
    let body = rest.strip_prefix(MAGIC).ok_or(INVALID)?;
    if crc32c::crc32c(rest) != u32::from_le_bytes(*crc) {
        return Err("incorrect checksum");
    }
    let (count, entries) = body.split_first_chunk::<4>().ok_or(INVALID)?;
    if entries.len() as u64 != u64::from(u32::from_le_bytes(*count)) * 8 {
        return Err(INVALID);
    }
    let entry = |chunk: &[u8]| Ok((Oid(word(&chunk[..4])?), word(&chunk[4..])?));
    entries.chunks_exact(8).map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use runtime::Simulation;

    fn sample() -> Numbers {
        [(Oid(1259), 16_400), (Oid(2608), 16_390)].into()
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(decode(&encode(&sample())), Ok(sample()));
        assert_eq!(decode(&encode(&Numbers::new())), Ok(Numbers::new()));
    }

    #[test]
    fn damage_is_noticed() {
        let good = encode(&sample());
        for bit in 0..good.len() * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(decode(&bad).is_err(), "bit {bit}");
        }
        for len in 0..good.len() {
            assert!(decode(&good[..len]).is_err(), "{len} bytes");
        }
        let mut lying = good[..8].to_vec();
        lying.extend_from_slice(&u32::MAX.to_le_bytes());
        lying.extend_from_slice(&crc32c::crc32c(&lying).to_le_bytes());
        assert_eq!(decode(&lying), Err("invalid data"));
    }

    fn mapped(database: u32, relation: u32, number: u32) -> MappedFile {
        MappedFile { database: Oid(database), relation: Oid(relation), number }
    }

    #[test]
    fn maps_are_read_as_they_were_written() {
        let run = Simulation::new(1).run(|| {
            let dir = Path::new("/data");
            for folder in ["global", "base/5", "base/pgsql_tmp", "pg_tblspc"] {
                runtime::fs::create_dir_all(&dir.join(folder)).unwrap();
            }
            create(dir, Oid::INVALID).unwrap();
            create(dir, Oid(5)).unwrap();
            let maps = RelationMaps::read(dir, false).unwrap();
            assert_eq!(maps.number(Oid(5), Oid(2608)), 2608);
            maps.apply(&[mapped(5, 2608, 16_390), mapped(0, 1262, 16_391), mapped(5, 2608, 16_392)]);
            assert_eq!(RelationMaps::read(dir, false).unwrap().number(Oid(5), Oid(2608)), 2608);
            maps.write(dir).unwrap();
            let maps = RelationMaps::read(dir, false).unwrap();
            assert_eq!((maps.number(Oid(5), Oid(2608)), maps.number(Oid(5), Oid(1262))), (16_392, 1262));
            assert_eq!(maps.number(Oid::INVALID, Oid(1262)), 16_391);
            assert_eq!(maps.relation(Oid(5), 16_392), Some(Oid(2608)));
            assert_eq!(maps.relation(Oid(5), 16_390), None);
        });
        run.unwrap();
    }

    #[test]
    fn a_damaged_or_missing_map_is_named() {
        let run = Simulation::new(1).run(|| {
            let dir = Path::new("/data");
            runtime::fs::create_dir_all(&dir.join("global")).unwrap();
            runtime::fs::create_dir_all(&dir.join("base/5")).unwrap();
            runtime::fs::create_dir_all(&dir.join("pg_tblspc")).unwrap();
            create(dir, Oid::INVALID).unwrap();
            let error = RelationMaps::read(dir, false).unwrap_err().to_string();
            let after_redo = RelationMaps::read(dir, true).unwrap().check(dir).unwrap_err().to_string();
            assert_eq!(after_redo, error);
            assert!(
                error.starts_with("could not open relation mapping file \"base/5/pg_filenode.map\": "),
                "{error}"
            );
            create(dir, Oid(5)).unwrap();
            let mut bytes = encode(&sample());
            bytes[13] ^= 1;
            runtime::fs::write_file(&dir.join("base/5/pg_filenode.map"), &bytes).unwrap();
            let error = RelationMaps::read(dir, false).unwrap_err().to_string();
            assert_eq!(error, "relation mapping file \"base/5/pg_filenode.map\" contains incorrect checksum");
            runtime::fs::write_file(&dir.join("global/pg_filenode.map"), &bytes[..7]).unwrap();
            let error = RelationMaps::read(dir, false).unwrap_err().to_string();
            assert_eq!(error, "relation mapping file \"global/pg_filenode.map\" contains invalid data");
        });
        run.unwrap();
    }
}
