//! What becomes of each file of the target.
//!
//! # Invariants
//! 1. A relation's main fork that both clusters have is copied by the block: those that the target has changed since the histories parted, and what is
//!    behind the shorter file's end. All others are brought up to date by the log of the source.
//! 2. A tablespace that both have stays where it lies in the target. One that only the source has comes to lie where the source says, and nobody else's may be there.
//! 3. All other files are copied whole, with the maps of relations: what they hold has no blocks in the log, or not all of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use base::{Fork, PAGE_SIZE, RelFile, TABLESPACE_VERSION};
use engine::changes::Changes;
use engine::files::{CONTROL, EMPTIED, LEFT_OUT, LOCK, SEGMENT_PAGES, TABLESPACES};
use runtime::fs;

use super::super::messages::Failure;
use super::source::Wanted;

/// What a name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
    /// A link to where a tablespace lies.
    Link,
}

/// A file or folder of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Below the data directory.
    pub path: String,
    pub kind: Kind,
    /// Bytes of a file.
    pub size: u64,
    /// Where a link leads.
    pub leads: Option<PathBuf>,
}

impl Found {
    /// A name; `leads`: of a tablespace that does not lie in place, where it does.
    pub fn new(path: String, is_folder: bool, size: u64, leads: Option<PathBuf>) -> Found {
        let kind = match (is_folder, &leads) {
            (_, Some(_)) => Kind::Link,
            (true, None) => Kind::Folder,
            (false, None) => Kind::File,
        };
        Found { path, kind, size: if kind == Kind::File { size } else { 0 }, leads }
    }
}

/// Whether a path is the name of a tablespace that users made.
pub(super) fn is_tablespace(path: &str) -> bool {
    let oid = path.strip_prefix(TABLESPACES).and_then(|rest| rest.strip_prefix('/'));
    oid.is_some_and(|oid| oid.parse::<u32>().is_ok())
}

/// All files and folders below a data directory. A link counts as what it leads to, but for those of tablespaces, which are followed too.
pub(super) fn walk(dir: &Path) -> Result<Vec<Found>, Failure> {
    fn folder(dir: &Path, below: &str, found: &mut Vec<Found>) -> Result<(), Failure> {
        let path = dir.join(below);
        let failed = |what: &str, path: &Path, e: &std::io::Error| {
            Failure::from(format!("could not {what} \"{}\": {}", path.display(), base::os_error(e)))
        };
        for entry in fs::read_dir(&path).map_err(|e| failed("open directory", &path, &e))? {
            let name = if below.is_empty() { entry.name } else { format!("{below}/{}", entry.name) };
            let full = dir.join(&name);
            let known = match fs::metadata(&full) {
                // A file that is gone already is none.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                known => known.map_err(|e| failed("stat file", &full, &e))?,
            };
            if !known.is_dir && !known.is_file {
                continue;
            }
            let leads = match is_tablespace(&name) {
                true => fs::read_link(&full).map_err(|e| failed("read symbolic link", &full, &e))?,
                false => None,
            };
            found.push(Found::new(name.clone(), known.is_dir, known.len, leads));
            if known.is_dir {
                folder(dir, &name, found)?;
            }
        }
        Ok(())
    }
    let mut found = Vec::new();
    folder(dir, "", &mut found)?;
    Ok(found)
}

/// What names of temporary files, which are of no use elsewhere, and of their folders begin with.
const TEMPORARY: &str = "pgsql_tmp";

/// Why a file is not wanted, of whichever cluster; none if it is.
fn exclusion(path: &str) -> Option<&'static str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    if let Some(left_out) = LEFT_OUT.iter().find(|left_out| **left_out == name) {
        return Some(left_out);
    }
    if path.split('/').any(|name| name.starts_with(TEMPORARY)) {
        return Some(TEMPORARY);
    }
    EMPTIED.into_iter().find(|folder| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')))
}

/// Whether a file is a segment of a relation's main fork.
fn is_main_fork(path: &str) -> bool {
    let Some((folder, name)) = path.rsplit_once('/') else { return false };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (number, segment) = name.split_once('.').unwrap_or((name, "0"));
    let has_relations = folder == "global"
        || folder.rsplit_once('/').is_some_and(|(above, database)| {
            let tablespace = above.strip_suffix(TABLESPACE_VERSION).and_then(|link| link.strip_suffix('/'));
            is_number(database) && (above == "base" || tablespace.is_some_and(is_tablespace))
        });
    has_relations && is_number(number) && is_number(segment)
}

/// What becomes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Action {
    /// A folder is made, or a link.
    Create,
    /// The source's file takes its place.
    Copy,
    /// What the source's file has behind the target's end is added.
    CopyTail,
    /// It stays, but for changed blocks.
    Keep,
    /// It becomes as short as the source's.
    Truncate,
    /// It goes.
    Remove,
}

impl Action {
    /// PostgreSQL's word.
    pub fn word(self) -> &'static str {
        match self {
            Action::Create => "CREATE",
            Action::Copy => "COPY",
            Action::CopyTail => "COPY_TAIL",
            Action::Keep => "NONE",
            Action::Truncate => "TRUNCATE",
            Action::Remove => "REMOVE",
        }
    }
}

/// A name, in both clusters.
#[derive(Clone, Debug, Default)]
struct Pair {
    source: Option<(Kind, u64)>,
    target: Option<(Kind, u64)>,
    /// Where the source's link leads.
    leads: Option<PathBuf>,
    /// Offsets of blocks that the target has changed, ascending.
    blocks: Vec<u64>,
}

/// The files of both clusters.
#[derive(Debug, Default)]
pub(super) struct Files(BTreeMap<String, Pair>);

/// What is to be done with a file.
#[derive(Clone, Debug)]
pub(super) struct Decision<'a> {
    pub path: &'a str,
    pub action: Action,
    kind: Kind,
    source: u64,
    target: u64,
    blocks: &'a [u64],
    leads: Option<&'a Path>,
}

impl Files {
    pub fn add_source(&mut self, found: Vec<Found>) {
        for Found { path, kind, size, leads } in found {
            let pair = self.0.entry(path).or_default();
            (pair.source, pair.leads) = (Some((kind, size)), leads);
        }
    }

    pub fn add_target(&mut self, found: Vec<Found>) {
        for Found { path, kind, size, .. } in found {
            self.0.entry(path).or_default().target = Some((kind, size));
        }
    }

    /// Bytes of the source.
    pub fn source_size(&self) -> u64 {
        self.0.values().filter_map(|pair| pair.source).map(|(_, size)| size).sum()
    }

    /// Takes over which blocks the target has changed, where both clusters have them.
    pub fn add_changes(&mut self, changes: &Changes) {
        for (rel, fork, blocks) in changes.forks().filter(|(_, fork, _)| *fork == Fork::Main) {
            for block in blocks.iter() {
                let segment = block.0 / SEGMENT_PAGES;
                let Some(pair) = self.0.get_mut(&file_name(rel, fork, segment)) else { continue };
                let at = u64::from(block.0 % SEGMENT_PAGES) * PAGE_SIZE as u64;
                let (Some((_, source)), Some((_, target))) = (pair.source, pair.target) else { continue };
                if at + PAGE_SIZE as u64 <= source.min(target) {
                    pair.blocks.push(at);
                }
            }
        }
    }

    /// What becomes of all: folders first, removals last. `keep`: whether a file of the target's log is needed yet.
    pub fn decide(&self, keep: &dyn Fn(&str) -> bool) -> Result<Vec<Decision<'_>>, Failure> {
        let mut decisions = Vec::new();
        for (path, pair) in &self.0 {
            let action = decide(path, pair, keep)?;
            let kind = pair.source.or(pair.target).map_or(Kind::File, |(kind, _)| kind);
            let size = |known: Option<(Kind, u64)>| known.map_or(0, |(_, size)| size);
            let (source, target) = (size(pair.source), size(pair.target));
            decisions.push(Decision {
                path,
                action,
                kind,
                source,
                target,
                blocks: &pair.blocks,
                leads: pair.leads.as_deref(),
            });
        }
        // What is in a folder goes before the folder.
        decisions.sort_by_key(|decision| (decision.action == Action::Remove, decision.action));
        let removals = decisions.partition_point(|decision| decision.action != Action::Remove);
        decisions[removals..].reverse();
        Ok(decisions)
    }
}

fn file_name(rel: RelFile, fork: Fork, segment: u32) -> String {
    match segment {
        0 => format!("{rel}{}", fork.suffix()),
        n => format!("{rel}{}.{n}", fork.suffix()),
    }
}

fn decide(path: &str, pair: &Pair, keep: &dyn Fn(&str) -> bool) -> Result<Action, Failure> {
    // The control file is written last.
    if path == CONTROL || path == LOCK {
        return Ok(Action::Keep);
    }
    if exclusion(path).is_some() {
        return Ok(if pair.target.is_some() { Action::Remove } else { Action::Keep });
    }
    let ((kind, source), (target_kind, target)) = match (pair.source, pair.target) {
        (Some((Kind::Folder | Kind::Link, _)), None) => return Ok(Action::Create),
        (Some((Kind::File, _)), None) => return Ok(Action::Copy),
        (None, Some(_)) if keep(path) => return Ok(Action::Keep),
        (None, _) => return Ok(Action::Remove),
        (Some(source), Some(target)) => (source, target),
    };
    // A tablespace may lie in place in one cluster, and elsewhere in the other.
    let is_file = |kind: Kind| kind == Kind::File;
    if is_file(kind) != is_file(target_kind) {
        return Err(format!("file \"{path}\" is of different type in source and target").into());
    }
    if !is_file(kind) || path.ends_with("PG_VERSION") {
        return Ok(Action::Keep);
    }
    Ok(match is_main_fork(path) {
        false => Action::Copy,
        true if target < source => Action::CopyTail,
        true if target > source => Action::Truncate,
        true => Action::Keep,
    })
}

impl Decision<'_> {
    /// What is to be copied, in stretches of blocks that follow one another.
    pub fn wanted(&self) -> Vec<Wanted> {
        let block = PAGE_SIZE as u64;
        let mut wanted: Vec<Wanted> = Vec::new();
        for at in self.blocks {
            match wanted.last_mut().and_then(|last| Some((last.offset, last.length.as_mut()?))) {
                Some((offset, length)) if offset + *length == *at => *length += block,
                _ => wanted.push(Wanted {
                    path: self.path.into(),
                    offset: *at,
                    length: Some(block),
                    known: self.source,
                }),
            }
        }
        let (path, source, target) = (self.path.to_owned(), self.source, self.target);
        match self.action {
            Action::Copy => wanted.push(Wanted { path, offset: 0, length: None, known: source }),
            Action::CopyTail => {
                wanted.push(Wanted { path, offset: target, length: Some(source - target), known: source })
            }
            _ => {}
        }
        wanted
    }

    /// Bytes that are copied.
    pub fn bytes(&self) -> u64 {
        let behind = match self.action {
            Action::Copy => self.source,
            Action::CopyTail => self.source - self.target,
            _ => 0,
        };
        behind + (self.blocks.len() * PAGE_SIZE) as u64
    }

    /// Length of the source's file.
    pub fn source_length(&self) -> u64 {
        self.source
    }

    /// What it is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Where the source's link leads.
    pub fn leads(&self) -> Option<&Path> {
        self.leads
    }
}

#[cfg(test)]
mod tests {
    use base::{BlockNo, Oid};

    use super::*;

    fn pair(source: Option<(Kind, u64)>, target: Option<(Kind, u64)>) -> Pair {
        Pair { source, target, ..Pair::default() }
    }

    #[test]
    fn each_file_has_its_fate() {
        let (file, longer, folder) =
            (Some((Kind::File, 8192)), Some((Kind::File, 16384)), Some((Kind::Folder, 0)));
        let link = Some((Kind::Link, 0));
        let cases = [
            ("base/5/100", file, file, Action::Keep),
            ("base/5/100.1", longer, file, Action::CopyTail),
            ("base/5/100", file, longer, Action::Truncate),
            ("base/5/100_vm", file, file, Action::Copy),
            ("base/5/100_fsm", file, None, Action::Copy),
            ("base/5/100", None, file, Action::Remove),
            ("pg_tblspc/9", link, None, Action::Create),
            ("pg_tblspc/9", None, link, Action::Remove),
            ("pg_tblspc/9", link, link, Action::Keep),
            ("pg_tblspc/9/PG_18_202506291/5/100", longer, file, Action::CopyTail),
            ("pg_tblspc/9/PG_18_202506291/5/100_vm", file, file, Action::Copy),
            ("pg_tblspc/9/PG_18_202506291/pgsql_tmp/x", file, None, Action::Keep),
            ("base/7", folder, None, Action::Create),
            ("base/7", None, folder, Action::Remove),
            ("base/5/PG_VERSION", file, file, Action::Keep),
            ("base/5/pg_filenode.map", file, file, Action::Copy),
            ("global/pg_control", file, file, Action::Keep),
            ("stampede.lock", None, file, Action::Keep),
            ("pg_xact/0000", file, file, Action::Copy),
            ("postmaster.opts", file, file, Action::Remove),
            ("pg_replslot/a/state", file, None, Action::Keep),
            ("pg_wal/000000010000000000000003", None, file, Action::Keep),
            ("pg_wal/000000010000000000000004", None, file, Action::Remove),
        ];
        let keep = |path: &str| path.ends_with('3');
        for (path, source, target, action) in cases {
            assert_eq!(decide(path, &pair(source, target), &keep), Ok(action), "{path}");
        }
        let differs = decide("pg_wal", &pair(folder, file), &keep).unwrap_err();
        assert_eq!(differs.message, "file \"pg_wal\" is of different type in source and target");
    }

    #[test]
    fn blocks_are_copied_together_where_both_have_them() {
        let rel = RelFile { tablespace: Oid::PG_DEFAULT, database: Oid(5), number: 100 };
        let mut files = Files::default();
        let found = |size: u64| vec![Found::new("base/5/100".into(), false, size * 8192, None)];
        files.add_source(found(10));
        files.add_target(found(8));
        let mut changes = Changes::default();
        for block in [3, 1, 2, 5, 8, 12] {
            changes.insert(rel, Fork::Main, BlockNo(block));
        }
        changes.insert(rel, Fork::Vm, BlockNo(7));
        files.add_changes(&changes);
        let decisions = files.decide(&|_| false).unwrap();
        let stretches: Vec<_> = decisions[0]
            .wanted()
            .iter()
            .map(|wanted| (wanted.offset / 8192, wanted.length.unwrap() / 8192))
            .collect();
        assert_eq!(stretches, [(1, 3), (5, 1), (8, 2)]);
        assert_eq!(decisions[0].bytes(), 6 * 8192);
    }

    #[test]
    fn files_of_relations() {
        for (path, is) in [
            ("base/5/16384", true),
            ("base/5/16384.2", true),
            ("global/1262", true),
            ("pg_tblspc/9/PG_18_202506291/5/16384", true),
            ("pg_tblspc/9/PG_17_202406281/5/16384", false),
            ("pg_tblspc/9/PG_18_202506291/5/16384_init", false),
            ("base/5/16384_vm", false),
            ("base/5/pg_filenode.map", false),
            ("base/pgsql_tmp/1", false),
            ("pg_xact/0000", false),
            ("PG_VERSION", false),
        ] {
            assert_eq!(is_main_fork(path), is, "{path}");
        }
    }
}
