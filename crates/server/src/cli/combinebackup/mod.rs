//! `pg_combinebackup`: makes a full backup of one and the incremental ones that are based on it.
//!
//! # What
//! Backups are given oldest first; each is based on the one before. The result is what a full backup at the time of the last one would have been: with a label, a manifest, and the log that
//! is in the last one.
//!
//! # Layout
//! `chain`: whether the backups belong together. `tree`: what becomes of each file. `rebuild`: a relation's file of blocks out of several backups.
//!
//! # Invariants
//! 1. Nothing of the backups is changed, and what was made is removed again if anything fails.
//! 2. The result is durable before the program says that it has succeeded, unless it was told otherwise.

mod chain;
mod rebuild;
mod tree;

use std::path::PathBuf;

use runtime::fs::{self, CopyMethod};
use session::replication::backup::manifest::Checksum;

use super::given;
use super::messages::{Failure, Messages};
use super::options::{Flag, Given, flag, value};

const FLAGS: &[Flag] = &[
    flag(Some('d'), "debug"),
    flag(Some('k'), "link"),
    flag(Some('n'), "dry-run"),
    flag(Some('N'), "no-sync"),
    value(Some('o'), "output"),
    value(Some('T'), "tablespace-mapping"),
    flag(None, "clone"),
    flag(None, "copy"),
    flag(None, "copy-file-range"),
    value(None, "manifest-checksums"),
    flag(None, "no-manifest"),
    value(None, "sync-method"),
    flag(Some('V'), "version"),
    flag(Some('?'), "help"),
];

const HELP: &str = "\
pg_combinebackup reconstructs full backups from incrementals.

Usage:
  pg_combinebackup [OPTION]... DIRECTORY...

Options:
  -d, --debug               generate lots of debugging output
  -k, --link                link files instead of copying
  -n, --dry-run             do not actually do anything
  -N, --no-sync             do not wait for changes to be written safely to disk
  -o, --output=DIRECTORY    output directory
  -T, --tablespace-mapping=OLDDIR=NEWDIR
                            relocate tablespace in OLDDIR to NEWDIR
      --clone               clone (reflink) files instead of copying
      --copy                copy files (default)
      --copy-file-range     copy using copy_file_range() system call
      --manifest-checksums=SHA{224,256,384,512}|CRC32C|NONE
                            use algorithm for manifest checksums
      --no-manifest         suppress generation of backup manifest
      --sync-method=METHOD  set method for syncing files to disk
  -V, --version             output version information, then exit
  -?, --help                show this help, then exit
";

const PROGRAM: &str = "pg_combinebackup";

pub(super) fn main(args: &[String]) -> i32 {
    let mut messages = Messages::of(PROGRAM);
    let given = match given(&messages, args, FLAGS, HELP) {
        Ok(given) => given,
        Err(status) => return status,
    };
    messages.debug = given.has("debug");
    let task = match Task::of(&given, messages) {
        Ok(task) => task,
        Err(Refused::Misused(message)) => return messages.misused(message),
        Err(Refused::Failed(failure)) => return messages.fail(&failure),
    };
    match task.run() {
        Ok(()) => 0,
        Err(failure) => messages.fail(&failure),
    }
}

enum Refused {
    Misused(String),
    Failed(Failure),
}

/// What is to be done.
struct Task {
    /// The backups, oldest first.
    backups: Vec<PathBuf>,
    output: PathBuf,
    /// Where tablespaces go: from and to.
    tablespaces: Vec<(PathBuf, PathBuf)>,
    method: CopyMethod,
    dry: bool,
    sync: bool,
    /// None: no manifest.
    manifest: Option<Checksum>,
    messages: Messages,
}

impl Task {
    fn of(given: &Given, messages: Messages) -> Result<Task, Refused> {
        let misused = |message: &str| Refused::Misused(message.to_owned());
        let failed = |message: String| Refused::Failed(message.into());
        let tablespaces = given.all("tablespace-mapping").map(mapping).collect::<Result<_, _>>();
        let word = given.get("manifest-checksums").unwrap_or("CRC32C");
        let checksum = Checksum::named(word)
            .ok_or_else(|| failed(format!("unrecognized checksum algorithm: \"{word}\"")))?;
        if let Some(method) = given.get("sync-method")
            && !["fsync", "syncfs"].contains(&method)
        {
            return Err(failed(format!("unrecognized sync method: {method}")));
        }
        if given.words.is_empty() {
            return Err(misused("no input directories specified"));
        }
        let output = given.get("output").ok_or_else(|| misused("no output directory specified"))?;
        let methods = [
            ("clone", CopyMethod::Clone),
            ("copy", CopyMethod::Copy),
            ("copy-file-range", CopyMethod::CopyRange),
            ("link", CopyMethod::Link),
        ];
        let last =
            given.flags.iter().rev().find_map(|(name, _)| methods.iter().find(|method| method.0 == *name));
        Ok(Task {
            backups: given.words.iter().map(PathBuf::from).collect(),
            output: output.into(),
            tablespaces: tablespaces.map_err(failed)?,
            method: last.map_or(CopyMethod::Copy, |method| method.1),
            dry: given.has("dry-run"),
            sync: !given.has("no-sync"),
            manifest: (!given.has("no-manifest")).then_some(checksum),
            messages,
        })
    }

    fn run(&self) -> Result<(), Failure> {
        let chain = chain::check(&self.backups, &self.messages)?;
        let mut made = Made::default();
        let done = self.combine(&chain, &mut made);
        if done.is_err() {
            made.remove(&self.messages);
        }
        done
    }

    fn combine(&self, chain: &chain::Chain, made: &mut Made) -> Result<(), Failure> {
        made.folder(&self.output, self.dry, &self.messages)?;
        let tablespaces = tree::tablespaces(self, chain)?;
        for tablespace in &tablespaces {
            if let Some(folder) = &tablespace.to {
                made.folder(folder, self.dry, &self.messages)?;
            }
        }
        let mut writing = tree::Writing::new(self, chain);
        writing.data_directory(&tablespaces)?;
        writing.finish()?;
        if self.sync && !self.dry {
            self.messages.debug(format!("recursively fsyncing \"{}\"", self.output.display()));
            for folder in
                tablespaces.iter().filter_map(|tablespace| tablespace.to.as_ref()).chain([&self.output])
            {
                fs::sync_tree(folder).map_err(|e| io("fsync", "directory", folder, &e))?;
            }
        }
        if self.method == CopyMethod::Link {
            self.messages.warning(
                "--link mode was used; any modifications to the output directory might destructively modify input directories",
            );
        }
        Ok(())
    }
}

/// What a system call said of a file.
fn io(what: &str, kind: &str, path: &std::path::Path, error: &std::io::Error) -> Failure {
    format!("could not {what} {kind} \"{}\": {}", path.display(), base::os_error(error)).into()
}

/// `OLDDIR=NEWDIR`; a backslash before an equals sign makes it a part of a name.
fn mapping(text: &str) -> Result<(PathBuf, PathBuf), String> {
    let mut parts = vec![String::new()];
    let mut rest = text.chars().peekable();
    while let Some(letter) = rest.next() {
        match letter {
            '\\' if rest.next_if_eq(&'=').is_some() => {
                parts.last_mut().into_iter().for_each(|part| part.push('='));
            }
            '=' if parts.len() == 2 => return Err("multiple \"=\" signs in tablespace mapping".into()),
            '=' => parts.push(String::new()),
            letter => parts.last_mut().into_iter().for_each(|part| part.push(letter)),
        }
    }
    let [from, to] = parts.as_slice() else {
        return Err(format!("invalid tablespace mapping format \"{text}\", must be \"OLDDIR=NEWDIR\""));
    };
    if from.is_empty() || to.is_empty() {
        return Err(format!("invalid tablespace mapping format \"{text}\", must be \"OLDDIR=NEWDIR\""));
    }
    if !from.starts_with('/') {
        return Err(format!("old directory is not an absolute path in tablespace mapping: {from}"));
    }
    if !to.starts_with('/') {
        return Err(format!("new directory is not an absolute path in tablespace mapping: {to}"));
    }
    let clean = |path: &str| PathBuf::from(path).components().collect();
    Ok((clean(from), clean(to)))
}

/// Folders that are filled, to be emptied if that fails.
#[derive(Default)]
struct Made {
    folders: Vec<(PathBuf, bool)>,
}

impl Made {
    /// A folder that is new, or there and empty.
    fn folder(&mut self, path: &std::path::Path, dry: bool, messages: &Messages) -> Result<(), Failure> {
        match fs::read_dir(path) {
            Ok(entries) if entries.is_empty() => {
                messages.debug(format!("using existing directory \"{}\"", path.display()));
                self.folders.extend((!dry).then(|| (path.to_path_buf(), false)));
                Ok(())
            }
            Ok(_) => Err(format!("directory \"{}\" exists but is not empty", path.display()).into()),
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(io("access", "directory", path, &error))
            }
            Err(_) if dry => {
                messages.debug(format!("would create directory \"{}\"", path.display()));
                Ok(())
            }
            Err(_) => {
                messages.debug(format!("creating directory \"{}\"", path.display()));
                fs::create_dir_all(path).map_err(|e| io("create", "directory", path, &e))?;
                self.folders.push((path.to_path_buf(), true));
                Ok(())
            }
        }
    }

    fn remove(&self, messages: &Messages) {
        for (folder, is_new) in &self.folders {
            let shown = folder.display();
            let removed = match is_new {
                true => {
                    messages.info(format!("removing output directory \"{shown}\""));
                    fs::remove_dir_all(folder)
                }
                false => {
                    messages.info(format!("removing contents of output directory \"{shown}\""));
                    fs::read_dir(folder).and_then(|entries| {
                        entries.iter().try_for_each(|entry| match entry.is_dir {
                            true => fs::remove_dir_all(&folder.join(&entry.name)),
                            false => fs::remove_file(&folder.join(&entry.name)),
                        })
                    })
                }
            };
            if removed.is_err() {
                messages.info("failed to remove output directory");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_of_tablespaces() {
        let paths = |from: &str, to: &str| Ok((PathBuf::from(from), PathBuf::from(to)));
        assert_eq!(mapping("/a=/b"), paths("/a", "/b"));
        assert_eq!(mapping("/a\\=c=/b/"), paths("/a=c", "/b"));
        for (text, why) in [
            ("/a=/b=/c", "multiple \"=\" signs in tablespace mapping"),
            ("/a", "invalid tablespace mapping format \"/a\", must be \"OLDDIR=NEWDIR\""),
            ("/a=", "invalid tablespace mapping format \"/a=\", must be \"OLDDIR=NEWDIR\""),
            ("a=/b", "old directory is not an absolute path in tablespace mapping: a"),
            ("/a=b", "new directory is not an absolute path in tablespace mapping: b"),
        ] {
            assert_eq!(mapping(text), Err(why.into()));
        }
    }
}
