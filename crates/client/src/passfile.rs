//! The password file: lines of `host:port:database:user:password`.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Directories where a server puts its socket unless told otherwise; they stand for this machine.
const SOCKET_DIRECTORIES: [&str; 2] = ["/tmp", "/var/run/postgresql"];

/// The password for the first of these hosts and ports that has one. A file that others may read is not used, and `warn` is told so.
pub fn look_up(
    file: &Path,
    places: &[(String, u16)],
    database: &str,
    user: &str,
    warn: impl FnOnce(&str),
) -> Option<String> {
    let meta = std::fs::metadata(file).ok()?;
    if !meta.is_file() {
        warn(&format!("WARNING: password file \"{}\" is not a plain file", file.display()));
        return None;
    }
    if meta.permissions().mode() & 0o077 != 0 {
        warn(&format!(
            "WARNING: password file \"{}\" has group or world access; permissions should be u=rw (0600) or less",
            file.display()
        ));
        return None;
    }
    let text = std::fs::read_to_string(file).ok()?;
    places.iter().find_map(|(host, port)| {
        let host = if SOCKET_DIRECTORIES.contains(&host.as_str()) { "localhost" } else { host };
        find(&text, [host, &port.to_string(), database, user])
    })
}

/// The password of the first line that fits.
fn find(text: &str, wanted: [&str; 4]) -> Option<String> {
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let fields = fields(line);
        let fits = |(field, wanted): (&String, &&str)| field == "*" || field == wanted;
        (fields.len() >= 5 && fields.iter().zip(&wanted).all(fits)).then(|| fields[4].clone())
    })
}

/// Fields between colons; a backslash stands before a colon or backslash that is part of one.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            ':' => fields.push(String::new()),
            '\\' => fields.last_mut().expect("never empty").extend(chars.next()),
            c => fields.last_mut().expect("never empty").push(c),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_fits() {
        let file =
            "# a comment\nhost:1:app:me:first\n*:*:app:me:sec\\:ond\n::1:*:*:*:x\n\\:\\:1:5432:*:*:third";
        let find = |wanted| find(file, wanted).unwrap_or_default();
        assert_eq!(find(["host", "1", "app", "me"]), "first");
        assert_eq!(find(["host", "2", "app", "me"]), "sec:ond");
        assert_eq!(find(["::1", "5432", "db", "me"]), "third");
        assert_eq!(find(["host", "1", "db", "me"]), "");
    }
}
