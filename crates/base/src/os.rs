//! Errors of the operating system, as clients are told of them.

use std::io::{Error, ErrorKind};

use crate::{SqlError, SqlState};

/// The error in the system's own words, as PostgreSQL's `%m`.
pub fn os_error(error: &Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_string(),
        None if error.kind() == ErrorKind::NotFound => "No such file or directory".into(),
        None if error.kind() == ErrorKind::StorageFull => "No space left on device".into(),
        None => text,
    }
}

/// Whether there is no room: what is on the disk is as it was, and later there may be room again.
pub fn is_disk_full(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

/// Whether the system allows no further descriptor, to this process or to all.
pub fn is_out_of_descriptors(error: &Error) -> bool {
    // EMFILE and ENFILE, the same on all systems that we know.
    matches!(error.raw_os_error(), Some(24 | 23))
}

/// Whether there was no room or no descriptor: nothing happened, and what was tried may succeed later.
pub fn is_transient(error: &Error) -> bool {
    is_disk_full(error.kind()) || is_out_of_descriptors(error)
}

/// A statement failed because a file did, [transiently](is_transient) or not: 53100 and PostgreSQL's hint if the disk is full.
pub fn file_error(kind: ErrorKind, transient: bool, message: impl Into<String>) -> SqlError {
    let code = match kind {
        kind if is_disk_full(kind) => {
            return SqlError::new(SqlState::DISK_FULL, message).hint("Check free disk space.");
        }
        _ if transient => SqlState::INSUFFICIENT_RESOURCES,
        ErrorKind::PermissionDenied => SqlState::INSUFFICIENT_PRIVILEGE,
        ErrorKind::NotFound => SqlState::UNDEFINED_FILE,
        _ => SqlState::IO_ERROR,
    };
    SqlError::new(code, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_as_postgresql_tells_it() {
        for (number, text) in [(28, "No space left on device"), (122, "Disk quota exceeded")] {
            let error = Error::from_raw_os_error(number);
            assert!(is_disk_full(error.kind()), "{text}");
            assert_eq!(os_error(&error), text);
            assert!(is_transient(&error));
            assert_eq!(file_error(error.kind(), true, text).code(), SqlState::DISK_FULL);
        }
        assert_eq!(os_error(&ErrorKind::StorageFull.into()), "No space left on device");
        assert_eq!(file_error(ErrorKind::Other, false, "").code(), SqlState::IO_ERROR);
        let many = Error::from_raw_os_error(24);
        assert!(is_out_of_descriptors(&many) && is_transient(&many));
        assert_eq!(file_error(many.kind(), true, "").code(), SqlState::INSUFFICIENT_RESOURCES);
    }
}
