//! # What
//! The files of a data directory's relations as files: every page of every fork read once, its check sum compared. For `stampede verify`, which finds so
//! what no table and no index leads to.

use std::path::{Path, PathBuf};

use base::{BlockNo, Fork, PAGE_SIZE, RelFile};
use page::PageBytes;
use runtime::fs::{self, File, OpenOptions};

use crate::EngineError;

pub use smgr::{SEGMENT_PAGES, TABLESPACES};

pub use crate::control::FILE as CONTROL;
pub use crate::lengths::FILE as LENGTHS;
pub use crate::lock::FILE as LOCK;

/// Folders at the top of a data directory whose contents are of no use to a copy.
pub const EMPTIED: [&str; 7] =
    ["pg_stat_tmp", "pg_replslot", "pg_dynshmem", "pg_notify", "pg_serial", "pg_snapshots", "pg_subtrans"];
/// Files at the top that a copy does not take over.
pub const LEFT_OUT: [&str; 7] = [
    "postgresql.auto.conf.tmp",
    "current_logfiles.tmp",
    "backup_label",
    "tablespace_map",
    "backup_manifest",
    "postmaster.pid",
    "postmaster.opts",
];

/// Pages read at a time.
const STRETCH: usize = 64;

/// A file of a relation: a segment of a fork.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelationFile {
    /// Below the data directory, as people know it.
    pub name: String,
    path: PathBuf,
    /// Which fork.
    pub fork: Fork,
    first: BlockNo,
    bytes: u64,
}

impl RelationFile {
    /// Whole pages.
    pub fn pages(&self) -> u64 {
        self.bytes / PAGE_SIZE as u64
    }
}

/// All files of relations below a data directory.
pub fn list(dir: &Path) -> Result<Vec<RelationFile>, EngineError> {
    let databases = crate::map::database_folders(dir)?.into_iter();
    let databases = databases.map(|(tablespace, database)| RelFile::whole_database(tablespace, database));
    let folders = std::iter::once("global".to_owned()).chain(databases.map(|whole| whole.to_string()));
    let mut files = Vec::new();
    for folder in folders {
        for entry in entries(&dir.join(&folder))? {
            let Some((fork, segment)) = parse(&entry.name).filter(|_| !entry.is_dir) else { continue };
            let name = format!("{folder}/{}", entry.name);
            let path = dir.join(&name);
            let bytes = File::open(&path, OpenOptions::READ).and_then(|file| file.len());
            let bytes = bytes.map_err(|e| EngineError::Io(format!("could not open file \"{name}\""), e))?;
            let first = BlockNo(segment.saturating_mul(smgr::SEGMENT_PAGES));
            files.push(RelationFile { name, path, fork, first, bytes });
        }
    }
    Ok(files)
}

fn entries(folder: &Path) -> Result<Vec<fs::DirEntry>, EngineError> {
    let failed = |e| EngineError::Io(format!("could not open directory \"{}\"", folder.display()), e);
    fs::read_dir(folder).map_err(failed)
}

/// Fork and segment of a file of this name, if a relation's files have such names.
fn parse(name: &str) -> Option<(Fork, u32)> {
    let (stem, segment) = match name.split_once('.') {
        Some((stem, segment)) => (stem, segment.parse().ok()?),
        None => (name, 0),
    };
    let number = stem.find('_').map_or(stem, |at| &stem[..at]);
    let forks = [Fork::Main, Fork::Fsm, Fork::Vm, Fork::Init];
    let fork = forks.into_iter().find(|fork| *fork.suffix() == stem[number.len()..])?;
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some((fork, segment))
}

/// Reads a file. `damage` is told of a page, by its number in the fork, what is wrong with it; `read` after each stretch, how many pages there were.
pub fn check(
    file: &RelationFile,
    read: &mut dyn FnMut(u64),
    damage: &mut dyn FnMut(BlockNo, String),
) -> Result<(), EngineError> {
    let failed = |e| EngineError::Io(format!("could not read file \"{}\"", file.name), e);
    let handle = File::open(&file.path, OpenOptions::READ).map_err(failed)?;
    let mut buffer = vec![0; STRETCH * PAGE_SIZE];
    let mut done = 0;
    while done < file.pages() {
        let count = (file.pages() - done).min(STRETCH as u64);
        let bytes = &mut buffer[..count as usize * PAGE_SIZE];
        handle.read_exact_at(bytes, done * PAGE_SIZE as u64).map_err(failed)?;
        for (page, n) in bytes.as_chunks_mut::<PAGE_SIZE>().0.iter_mut().zip(done..) {
            let block = BlockNo(file.first.0 + n as u32);
            let page: &mut PageBytes = page;
            if let Err(error) = page::verify(page, block) {
                damage(block, error.to_string());
            }
        }
        done += count;
        read(count);
    }
    if !file.bytes.is_multiple_of(PAGE_SIZE as u64) {
        damage(BlockNo(file.first.0 + done as u32), "the file ends in the middle of a page".into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files() {
        assert_eq!(parse("16384"), Some((Fork::Main, 0)));
        assert_eq!(parse("16384_vm.2"), Some((Fork::Vm, 2)));
        assert_eq!(parse("16384_init"), Some((Fork::Init, 0)));
        for other in ["pg_control", "PG_VERSION", "16384_x", "_vm", "16384.x", "pg_filenode.map", ""] {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
