//! New clusters for tests, which take seconds to make in a debug build: made once for each build of the program that makes
//! them, and copied from then on.
//!
//! # Invariants
//! 1. A template has its name when it is whole: it is made under another one and renamed. Whoever comes second throws his away.
//! 2. Copies have one system identifier. A test that needs another one makes a cluster of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

/// Templates of builds that nobody tests any more go after this time.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// Copies a cluster of this kind to `to`, which does not exist. `make` makes one in the folder it is given, if this build of
/// `program` has none among `templates`.
pub fn copy_of(kind: &str, program: &Path, templates: &Path, to: &Path, make: impl FnOnce(&Path)) {
    copy(&template(kind, program, templates, make), to);
}

/// The folder of the template.
fn template(kind: &str, program: &Path, templates: &Path, make: impl FnOnce(&Path)) -> PathBuf {
    // Tests of one process wait for the first of them; those of two may each make one.
    static MAKING: Mutex<()> = Mutex::new(());
    let _making = MAKING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let folder = templates.join(format!("cluster-{kind}-{}", build(program)));
    if !folder.exists() {
        remove_old(templates);
        let whole = templates.join(format!("making-cluster-{}", std::process::id()));
        let _ = fs::remove_dir_all(&whole);
        make(&whole);
        if fs::rename(&whole, &folder).is_err() {
            fs::remove_dir_all(&whole).expect("what is not needed can be removed");
        }
    }
    folder
}

/// What tells builds of a program apart.
fn build(program: &Path) -> String {
    let file = fs::metadata(program).expect("the program is there");
    let changed = file.modified().expect("files have times").duration_since(SystemTime::UNIX_EPOCH);
    format!("{:x}-{:x}", changed.expect("it is after 1970").as_nanos(), file.len())
}

fn remove_old(templates: &Path) {
    fs::create_dir_all(templates).expect("there is a place for templates");
    for entry in fs::read_dir(templates).expect("it can be read").flatten() {
        let named = entry.file_name().to_string_lossy().contains("cluster-");
        let age =
            entry.metadata().and_then(|found| found.modified()).ok().and_then(|made| made.elapsed().ok());
        if named && age.is_some_and(|age| age > KEPT) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Copies a folder with all that it has, links aside.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the folder can be made");
    for entry in fs::read_dir(from).expect("the folder can be read") {
        let entry = entry.expect("its entries can be read");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("it has a type").is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("the file can be copied");
        }
    }
    let mode = fs::metadata(from).expect("the folder is there").permissions();
    fs::set_permissions(to, mode).expect("its permissions can be set");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_made_once_for_a_build_and_copied() {
        let place = std::env::temp_dir().join(format!("stampede-template-{}", std::process::id()));
        let _ = fs::remove_dir_all(&place);
        fs::create_dir_all(&place).unwrap();
        let program = place.join("program");
        let copies = |name: &str, content: &str| {
            let mut made = false;
            copy_of("plain", &program, &place.join("templates"), &place.join(name), |folder| {
                made = true;
                fs::create_dir_all(folder.join("base")).unwrap();
                fs::write(folder.join("base/1"), content).unwrap();
            });
            (made, fs::read_to_string(place.join(name).join("base/1")).unwrap())
        };
        fs::write(&program, "first").unwrap();
        assert_eq!(copies("a", "of the first"), (true, "of the first".to_owned()));
        assert_eq!(copies("b", "not wanted"), (false, "of the first".to_owned()));
        fs::write(&program, "the second build").unwrap();
        assert_eq!(copies("c", "of the second"), (true, "of the second".to_owned()));
        fs::remove_dir_all(&place).unwrap();
    }
}
