//! Passwords as they are stored. How SCRAM verifiers are made is the business of the layer that checks them
//! ([`session::Passwords`]).

use base::settings::Setting;
use base::{Severity, SqlError, SqlResult, SqlState};
use session::Session;

use super::super::names;

/// Whether a stored password is an MD5 hash.
pub(super) fn is_md5(stored: &str) -> bool {
    stored
        .strip_prefix("md5")
        .is_some_and(|hex| hex.len() == 32 && hex.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// What is stored for a password, which may come as a verifier already. None for an empty one.
pub(super) fn stored(session: &Session, role: &str, given: &str) -> SqlResult<Option<String>> {
    let passwords = session.instance().passwords()?;
    if given.is_empty() || passwords.matches(given, "") {
        let message = "empty string is not a valid password, clearing password";
        session.notice(names::notice(SqlState::SUCCESSFUL_COMPLETION, message));
        return Ok(None);
    }
    if passwords.is_verifier(given) {
        return Ok(Some(given.to_owned()));
    }
    if is_md5(given) {
        warn_of_md5(session);
        return Ok(Some(given.to_owned()));
    }
    if types::encoding::has_bytes(given.as_bytes()) && types::text::texts_are_bytes() {
        let what = "a password beyond ASCII in a database with the encoding \"SQL_ASCII\"";
        return Err(SqlError::not_supported(what));
    }
    let (method, iterations) = {
        let settings = session.settings.borrow();
        let iterations = settings.get(Setting::scram_iterations).as_int();
        (settings.text(Setting::password_encryption).to_owned(), iterations.unsigned_abs())
    };
    if method != "md5" {
        return Ok(Some(passwords.verifier(given, iterations)));
    }
    warn_of_md5(session);
    Ok(Some(format!("md5{}", types::text::md5_text(format!("{given}{role}"))?)))
}

fn warn_of_md5(session: &Session) {
    if !session.settings.borrow().get(Setting::md5_password_warnings).as_bool() {
        return;
    }
    let warning = SqlError::with_severity(
        Severity::Warning,
        SqlState::WARNING_DEPRECATED_FEATURE,
        "setting an MD5-encrypted password",
    );
    session.notice(
        warning
            .detail(
                "MD5 password support is deprecated and will be removed in a future release of PostgreSQL.",
            )
            .hint(
                "Refer to the PostgreSQL documentation for details about migrating to another password type.",
            ),
    );
}

#[cfg(test)]
mod tests {
    use super::is_md5;

    #[test]
    fn hashes_are_told_from_passwords() {
        assert!(is_md5("md5d8578edf8458ce06fbc5bb76a58c5ca4"));
        assert!(!is_md5("md5"));
        assert!(!is_md5("md5d8578edf8458ce06fbc5bb76a58c5cax"));
    }
}
