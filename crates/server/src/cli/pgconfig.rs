//! `pg_config`: where the programs and files of the server lie.

use std::path::PathBuf;

use super::say::{say, say_line};
use super::version;

const HELP: &str = "\
pg_config provides information about the installed version of PostgreSQL.

Usage:
  pg_config [OPTION]...

Options:
  --bindir              show location of user executables
  --docdir              show location of documentation files
  --htmldir             show location of HTML documentation files
  --includedir          show location of C header files of the client interfaces
  --pkgincludedir       show location of other C header files
  --includedir-server   show location of C header files for the server
  --libdir              show location of object code libraries
  --pkglibdir           show location of dynamically loadable modules
  --localedir           show location of locale support files
  --mandir              show location of manual pages
  --sharedir            show location of architecture-independent support files
  --sysconfdir          show location of system-wide configuration files
  --version             show the PostgreSQL version
  -?, --help            show this help, then exit

With no arguments, all known items are shown.
";

/// Folders below that of the installation, in PostgreSQL's order.
const FOLDERS: [(&str, &str); 12] = [
    ("BINDIR", "bin"),
    ("DOCDIR", "share/doc"),
    ("HTMLDIR", "share/doc"),
    ("INCLUDEDIR", "include"),
    ("PKGINCLUDEDIR", "include"),
    ("INCLUDEDIR-SERVER", "include/server"),
    ("LIBDIR", "lib"),
    ("PKGLIBDIR", "lib"),
    ("LOCALEDIR", "share/locale"),
    ("MANDIR", "share/man"),
    ("SHAREDIR", "share"),
    ("SYSCONFDIR", "etc"),
];

pub(super) fn main(called: &str, args: &[String]) -> i32 {
    if args.iter().any(|arg| arg == "--help" || arg == "-?") {
        say!("{HELP}");
        return 0;
    }
    let values = values(&folder_of(called));
    if args.is_empty() {
        for (name, value) in &values {
            say_line!("{name} = {value}");
        }
        return 0;
    }
    for arg in args {
        let wanted = arg.strip_prefix("--").unwrap_or_default().to_uppercase();
        let Some((_, value)) = values.iter().find(|(name, _)| *name == wanted) else {
            eprintln!("pg_config: invalid argument: {arg}\nTry \"pg_config --help\" for more information.");
            return 1;
        };
        say_line!("{value}");
    }
    0
}

/// The folder of the program, under the name that it was called by.
fn folder_of(called: &str) -> PathBuf {
    let path = PathBuf::from(super::program_path(called));
    path.parent().map(PathBuf::from).unwrap_or_default()
}

fn values(bin: &std::path::Path) -> Vec<(&'static str, String)> {
    let root = bin.parent().map(PathBuf::from).unwrap_or_default();
    let mut values: Vec<(&str, String)> = FOLDERS
        .iter()
        .map(|(name, folder)| {
            let path = if *folder == "bin" { bin.to_path_buf() } else { root.join(folder) };
            (*name, path.display().to_string())
        })
        .collect();
    values.push(("VERSION", version("PostgreSQL").replacen("PostgreSQL (PostgreSQL)", "PostgreSQL", 1)));
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_beside_that_of_the_programs() {
        let values = values(std::path::Path::new("/opt/x/bin"));
        let of = |name: &str| values.iter().find(|(known, _)| *known == name).unwrap().1.clone();
        assert_eq!((of("BINDIR"), of("SHAREDIR")), ("/opt/x/bin".into(), "/opt/x/share".into()));
        assert!(of("VERSION").starts_with("PostgreSQL 18"));
    }
}
