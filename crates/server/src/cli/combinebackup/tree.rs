//! What becomes of each file of the last backup.

use std::path::{Path, PathBuf};

use base::calendar::UNIX_SECONDS;
use engine::backup::LABEL;
use engine::files::TABLESPACES;
use engine::incremental::PREFIX;
use runtime::fs::{self, CopyMethod, File, OpenOptions};
use session::replication::backup::manifest::{Checksum, Writer};

use super::super::messages::Failure;
use super::chain::{Backup, Chain};
use super::{Task, io, rebuild};

/// Bytes of a file that are read at once.
const PIECE: usize = 1 << 20;

/// A tablespace of the last backup.
pub(super) struct Tablespace {
    oid: String,
    /// Where it lies.
    from: PathBuf,
    /// Where it goes; none if it lies in the data directory itself.
    pub to: Option<PathBuf>,
}

/// The tablespaces of the last backup. Each that lies elsewhere has its mapping, and no two have the same place.
pub(super) fn tablespaces(task: &Task, chain: &Chain) -> Result<Vec<Tablespace>, Failure> {
    let folder = last(chain).dir.join(TABLESPACES);
    let entries = match fs::read_dir(&folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|e| io("open", "directory", &folder, &e))?,
    };
    let mut found: Vec<Tablespace> = Vec::new();
    for entry in entries {
        let path = folder.join(&entry.name);
        if entry.name.parse::<u32>().is_err() {
            task.messages.debug(format!(
                "skipping \"{}\" because the filename is not a legal tablespace OID",
                path.display()
            ));
            continue;
        }
        let from = fs::canonical(&path).map_err(|e| io("read", "symbolic link", &path, &e))?;
        let in_place =
            fs::canonical(&folder).map_err(|e| io("stat", "directory", &folder, &e))?.join(&entry.name);
        let to = match from == in_place {
            true => None,
            false => Some(mapped(task, &from)?),
        };
        if let Some(other) = found.iter().find(|other| to.is_some() && other.to == to) {
            return Err(format!(
                "tablespaces with OIDs {} and {} both point at directory \"{}\"",
                other.oid,
                entry.name,
                to.unwrap_or_default().display()
            )
            .into());
        }
        found.push(Tablespace { oid: entry.name, from, to });
    }
    Ok(found)
}

fn mapped(task: &Task, from: &Path) -> Result<PathBuf, Failure> {
    let canonical = |path: &Path| fs::canonical(path).unwrap_or_else(|_| path.to_path_buf());
    let found = task.tablespaces.iter().find(|(old, _)| old == from || canonical(old) == from);
    found.map(|(_, new)| new.clone()).ok_or_else(|| {
        Failure::from(format!("tablespace at \"{}\" has no tablespace mapping", from.display()))
    })
}

fn last(chain: &Chain) -> &Backup {
    chain.backups.last().expect("the program was given a backup")
}

/// The new backup while it is made.
pub(super) struct Writing<'a> {
    task: &'a Task,
    chain: &'a Chain,
    manifest: Option<Writer>,
}

impl<'a> Writing<'a> {
    pub fn new(task: &'a Task, chain: &'a Chain) -> Writing<'a> {
        let mut checksum = task.manifest;
        if checksum.is_some() && last(chain).manifest.is_none() {
            let why =
                "cannot generate a manifest because no manifest is available for the final input backup";
            task.messages.warning(why);
            checksum = None;
        }
        let manifest = checksum.map(|checksum| Writer::new(checksum, false, chain.system_identifier));
        Writing { task, chain, manifest }
    }

    /// All of it but the manifest.
    pub fn data_directory(&mut self, tablespaces: &[Tablespace]) -> Result<(), Failure> {
        let last = last(self.chain);
        self.text(LABEL, last.label.of_full().as_bytes())?;
        self.task.messages.debug(format!("processing backup directory \"{}\"", last.dir.display()));
        let backups: Vec<PathBuf> =
            self.chain.backups.iter().rev().map(|backup| backup.dir.clone()).collect();
        self.folder(&backups, &self.task.output, ("", ""))?;
        for tablespace in tablespaces {
            let below = format!("{TABLESPACES}/{}", tablespace.oid);
            let link = self.task.output.join(&below);
            match &tablespace.to {
                None => self.make_folder(&link)?,
                Some(to) => self.link(to, &link)?,
            }
            let to = tablespace.to.as_ref().unwrap_or(&link);
            self.task
                .messages
                .debug(format!("processing tablespace directory \"{}\"", tablespace.from.display()));
            // Earlier backups have it where their own links lead.
            let backups: Vec<PathBuf> = backups.iter().map(|dir| dir.join(&below)).collect();
            self.folder(&backups, to, ("", &below))?;
        }
        Ok(())
    }

    fn link(&self, to: &Path, link: &Path) -> Result<(), Failure> {
        let (shown, target) = (link.display(), to.display());
        if self.task.dry {
            self.task.messages.debug(format!("would create symbolic link from \"{shown}\" to \"{target}\""));
            return Ok(());
        }
        self.task.messages.debug(format!("creating symbolic link from \"{shown}\" to \"{target}\""));
        fs::symlink(to, link).map_err(|e| {
            let why = base::os_error(&e);
            format!("could not create symbolic link from \"{shown}\" to \"{target}\": {why}").into()
        })
    }

    fn make_folder(&self, path: &Path) -> Result<(), Failure> {
        match self.task.dry {
            true => Ok(()),
            false => fs::create_dir_all(path).map_err(|e| io("create", "directory", path, &e)),
        }
    }

    /// What is in a folder. `backups`: where trees of this kind begin, newest first; `below` and `prefix`: where the folder is in the tree, and the tree in the data directory.
    fn folder(
        &mut self,
        backups: &[PathBuf],
        to: &Path,
        (below, prefix): (&str, &str),
    ) -> Result<(), Failure> {
        let from = backups[0].join(below);
        let mut entries = fs::read_dir(&from).map_err(|e| io("open", "directory", &from, &e))?;
        entries.sort();
        for entry in entries {
            let path = join(below, &entry.name);
            let whole = join(prefix, &path);
            if whole == LABEL || whole == "backup_manifest" {
                continue;
            }
            let target = to.join(&path);
            let is_folder = fs::metadata(&from.join(&entry.name)).is_ok_and(|found| found.is_dir);
            if is_folder {
                let is_tablespace =
                    below == TABLESPACES && prefix.is_empty() && entry.name.parse::<u32>().is_ok();
                if !is_tablespace {
                    self.make_folder(&target)?;
                    self.folder(backups, to, (&path, prefix))?;
                }
                continue;
            }
            match entry.name.strip_prefix(PREFIX) {
                Some(name) => self.rebuilt(backups, to, (below, name), &join(prefix, &join(below, name)))?,
                None => self.copied(&from.join(&entry.name), &target, &whole)?,
            }
        }
        Ok(())
    }

    /// A relation's file of which the last backup has some blocks.
    fn rebuilt(
        &mut self,
        backups: &[PathBuf],
        to: &Path,
        (below, name): (&str, &str),
        whole: &str,
    ) -> Result<(), Failure> {
        let target = to.join(below).join(name);
        let dirs: Vec<&Path> = backups.iter().map(PathBuf::as_path).collect();
        let sources = rebuild::sources(&dirs, below, name)?;
        let verb = if self.task.dry { "would reconstruct" } else { "reconstructing" };
        let checksum = self.manifest.as_ref().map_or(Checksum::None, Writer::checksum);
        self.task.messages.debug(format!("{verb} \"{}\"", target.display()));
        let place = (!self.task.dry).then_some(target.as_path());
        let (size, sum) = rebuild::rebuild(&sources, place, checksum.begin())?;
        let modified = runtime::wall_clock_micros().div_euclid(1_000_000) + UNIX_SECONDS;
        self.note(whole, size, modified, sum);
        Ok(())
    }

    /// A file that the last backup has as a whole.
    fn copied(&mut self, from: &Path, to: &Path, whole: &str) -> Result<(), Failure> {
        let found = fs::metadata(from).map_err(|e| io("stat", "file", from, &e))?;
        let (source, target) = (from.display(), to.display());
        match self.task.dry {
            true => self.task.messages.debug(format!("would copy \"{source}\" to \"{target}\"")),
            false => {
                self.task.messages.debug(format!("copying \"{source}\" to \"{target}\""));
                let method = self.task.method;
                fs::copy_file(from, to, method).map_err(|e| {
                    let undone = match method {
                        CopyMethod::Copy => format!("could not copy file \"{source}\""),
                        CopyMethod::Clone => format!("error while cloning file \"{source}\""),
                        CopyMethod::CopyRange => format!("error while copying file range from \"{source}\""),
                        CopyMethod::Link => format!("could not create link from \"{source}\""),
                    };
                    Failure::from(format!("{undone} to \"{target}\": {}", base::os_error(&e)))
                })?;
            }
        }
        let Some(checksum) = self.manifest.as_ref().map(Writer::checksum) else { return Ok(()) };
        if whole.starts_with("pg_wal/") {
            return Ok(());
        }
        let known = last(self.chain).manifest.as_ref().and_then(|manifest| manifest.files.get(whole));
        if known.is_none() {
            let name = last(self.chain).dir.join("backup_manifest");
            self.task.messages.warning(format!(
                "manifest file \"{}\" contains no entry for file \"{whole}\"",
                name.display()
            ));
        }
        let known = known.and_then(|file| file.checksum.clone()).filter(|(kind, _)| *kind == checksum);
        let sum = match known {
            Some((_, sum)) => Some(sum),
            None => sum_of(from, checksum).map_err(|e| io("read", "file", from, &e))?,
        };
        self.note(whole, found.len, found.times[1].div_euclid(1_000_000), sum);
        Ok(())
    }

    fn note(&mut self, path: &str, size: u64, modified: i64, sum: Option<String>) {
        if let Some(manifest) = &mut self.manifest {
            manifest.file(path, size, modified, sum);
        }
    }

    /// A file with these contents.
    fn text(&mut self, name: &str, bytes: &[u8]) -> Result<(), Failure> {
        let path = self.task.output.join(name);
        let shown = path.display();
        match self.task.dry {
            true => self.task.messages.debug(format!("would generate \"{shown}\"")),
            false => {
                self.task.messages.debug(format!("generating \"{shown}\""));
                fs::write_file(&path, bytes).map_err(|e| io("write", "file", &path, &e))?;
            }
        }
        let mut sum = self.manifest.as_ref().map_or(Checksum::None, Writer::checksum).begin();
        sum.add(bytes);
        let modified = runtime::wall_clock_micros().div_euclid(1_000_000) + UNIX_SECONDS;
        self.note(name, bytes.len() as u64, modified, sum.end());
        Ok(())
    }

    /// The manifest, which comes last.
    pub fn finish(&mut self) -> Result<(), Failure> {
        let ranges = last(self.chain).manifest.as_ref().map(|manifest| manifest.ranges.clone());
        let (Some(manifest), Some(ranges)) = (self.manifest.take(), ranges) else { return Ok(()) };
        let path = self.task.output.join("backup_manifest");
        match self.task.dry {
            true => Ok(()),
            false => fs::write_file(&path, manifest.finish(&ranges).as_bytes())
                .map_err(|e| io("write", "file", &path, &e)),
        }
    }
}

/// The check sum of a file, which may be large.
fn sum_of(path: &Path, checksum: Checksum) -> std::io::Result<Option<String>> {
    let file = File::open(path, OpenOptions::READ)?;
    let (mut sum, mut piece, mut at) = (checksum.begin(), vec![0; PIECE], 0);
    loop {
        let read = file.read_at(&mut piece, at)?;
        if read == 0 {
            return Ok(sum.end());
        }
        sum.add(&piece[..read]);
        at += read as u64;
    }
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}
