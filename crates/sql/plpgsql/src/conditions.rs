//! Names of conditions.

use base::SqlState;

/// The codes that a name stands for; `SQLSTATE` texts are not names.
pub fn named(name: &str) -> Vec<SqlState> {
    let wanted = |known: &str| {
        known.eq_ignore_ascii_case(name) || known.strip_prefix("S_E_") == Some(&name.to_uppercase())
    };
    base::sqlstate::CONDITIONS.iter().filter(|(known, _)| wanted(known)).map(|(_, code)| *code).collect()
}

/// The code of five digits and capital letters.
pub fn code(text: &str) -> Option<SqlState> {
    SqlState::parse(text)
}

/// Whether a condition's code catches an error's: one that ends in 000 catches its class.
pub fn catches(condition: SqlState, error: SqlState) -> bool {
    let (condition, error) = (condition.as_str().to_owned(), error.as_str().to_owned());
    condition == error || (condition.ends_with("000") && condition[..2] == error[..2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_catch_their_members() {
        assert_eq!(named("division_by_zero"), [SqlState::DIVISION_BY_ZERO]);
        assert!(catches(SqlState::DATA_EXCEPTION, SqlState::DIVISION_BY_ZERO));
        assert!(!catches(SqlState::DIVISION_BY_ZERO, SqlState::DATA_EXCEPTION));
        assert!(named("no_such_condition").is_empty());
        assert_eq!(code("22012"), Some(SqlState::DIVISION_BY_ZERO));
    }
}
