//! Makes a relation's file of an incremental one and the earlier backups.
//!
//! # Invariants
//! 1. A block is taken from the newest backup that has it. An incremental file that does not have it leads to the one before, but for blocks that are as new
//!    ([`Incremental::kept`]), which are empty.
//! 2. A full file ends the search: what it does not have is empty.

use std::path::{Path, PathBuf};

use base::PAGE_SIZE;
use engine::incremental::{HEAD, Incremental, PREFIX, head_size};
use runtime::fs::{File, OpenOptions};
use session::replication::backup::manifest::Running;

use super::super::messages::Failure;
use super::io;

/// A file that has blocks.
pub(super) struct Source {
    path: PathBuf,
    file: File,
    /// None: it is a full one.
    head: Option<Incremental>,
    length: u64,
}

impl Source {
    fn open(path: &Path, is_incremental: bool) -> Result<Option<Source>, Failure> {
        let file = match File::open(path, OpenOptions::READ) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(io("open", "file", path, &error)),
        };
        let length = file.len().map_err(|e| io("stat", "file", path, &e))?;
        let head = match is_incremental {
            false => None,
            true => Some(read_head(&file, path, length)?),
        };
        Ok(Some(Source { path: path.to_path_buf(), file, head, length }))
    }

    /// Reads the block that lies at an offset of the file.
    fn read(&self, offset: u64, page: &mut [u8; PAGE_SIZE]) -> Result<(), Failure> {
        self.file.read_exact_at(page, offset).map_err(|error| io("read from", "file", &self.path, &error))
    }
}

fn read_head(file: &File, path: &Path, length: u64) -> Result<Incremental, Failure> {
    let bad = |why: String| Failure::from(format!("file \"{}\" is no good: {why}", path.display()));
    let read = |size: usize| -> Result<Vec<u8>, Failure> {
        let mut bytes = vec![0; size];
        let read = file.read_at(&mut bytes, 0).map_err(|e| io("read", "file", path, &e))?;
        bytes.truncate(read);
        Ok(bytes)
    };
    let count = Incremental::count(&read(HEAD)?).map_err(bad)?;
    let head = Incremental::decode(&read(head_size(count))?).map_err(bad)?;
    if length < head.size() {
        let (path, size) = (path.display(), head.size());
        return Err(format!("file \"{path}\" is too short: expected {size}, found {length}").into());
    }
    Ok(head)
}

/// The files that a relation's file is made of, newest first. `folder` and `name`: those of the file in a full backup; `backups`: newest first.
pub(super) fn sources(backups: &[&Path], folder: &str, name: &str) -> Result<Vec<Source>, Failure> {
    let mut sources = Vec::new();
    for (number, backup) in backups.iter().enumerate() {
        let is_oldest = number + 1 == backups.len();
        let incremental = backup.join(folder).join(format!("{PREFIX}{name}"));
        if let Some(source) = Source::open(&incremental, true)? {
            if is_oldest {
                let shown = incremental.display();
                return Err(format!("full backup contains unexpected incremental file \"{shown}\"").into());
            }
            sources.push(source);
            continue;
        }
        let full = backup.join(folder).join(name);
        return match Source::open(&full, false)? {
            Some(source) => {
                sources.push(source);
                Ok(sources)
            }
            None => Err(format!("file \"{}\" does not exist", full.display()).into()),
        };
    }
    Ok(sources)
}

/// Where each block is: the number of its source and the offset in it; none for an empty one.
fn plan(sources: &[Source]) -> Vec<Option<(usize, u64)>> {
    let length = sources.first().and_then(|source| source.head.as_ref()).map_or(0, |head| head.length);
    (0..length).map(|block| find(sources, block)).collect()
}

fn find(sources: &[Source], block: u32) -> Option<(usize, u64)> {
    for (number, source) in sources.iter().enumerate() {
        let Some(head) = &source.head else {
            let offset = u64::from(block) * PAGE_SIZE as u64;
            return (offset + PAGE_SIZE as u64 <= source.length).then_some((number, offset));
        };
        if let Ok(place) = head.blocks.binary_search(&block) {
            return Some((number, head.offset(place)));
        }
        if block >= head.kept {
            return None;
        }
    }
    None
}

/// Writes the file; unless that is only tried. Returns its length and its check sum.
pub(super) fn rebuild(
    sources: &[Source],
    to: Option<&Path>,
    mut sum: Running,
) -> Result<(u64, Option<String>), Failure> {
    let output = match to {
        Some(path) => {
            Some((path, File::open(path, OpenOptions::TRUNCATE).map_err(|e| io("create", "file", path, &e))?))
        }
        None => None,
    };
    let plan = plan(sources);
    let mut page = [0; PAGE_SIZE];
    for (block, place) in plan.iter().enumerate() {
        match place {
            Some((number, offset)) => sources[*number].read(*offset, &mut page)?,
            None => page.fill(0),
        }
        sum.add(&page);
        if let Some((path, file)) = &output {
            let at = (block * PAGE_SIZE) as u64;
            file.write_all_at(&page, at).map_err(|e| io("write to", "file", path, &e))?;
        }
    }
    Ok(((plan.len() * PAGE_SIZE) as u64, sum.end()))
}
