//! Names of conditions.

use base::SqlState;

/// Classes whose prefix is part of our constants but not of PL/pgSQL's condition names.
const CLASS_INITIALS: [&str; 6] = ["S_R_E_", "E_R_E_", "E_R_I_E_", "S_E_", "T_R_", "L_E_"];

/// Constants that conditions are called differently from.
const RENAMED: [(&str, &str); 8] = [
    ("S_E_INVALID_SPECIFICATION", "invalid_savepoint_specification"),
    ("L_E_INVALID_SPECIFICATION", "invalid_locator_specification"),
    ("T_R_INTEGRITY_CONSTRAINT_VIOLATION", "transaction_integrity_constraint_violation"),
    ("INVALID_ARGUMENT_FOR_LOG", "invalid_argument_for_logarithm"),
    ("INVALID_ARGUMENT_FOR_NTILE", "invalid_argument_for_ntile_function"),
    ("INVALID_ARGUMENT_FOR_NTH_VALUE", "invalid_argument_for_nth_value_function"),
    ("DUPLICATE_PSTATEMENT", "duplicate_prepared_statement"),
    ("INVALID_PSTATEMENT_DEFINITION", "invalid_prepared_statement_definition"),
];

/// Second names of codes, which no condition has.
const UNNAMED: [&str; 6] = [
    "ARRAY_ELEMENT_ERROR",
    "DATETIME_VALUE_OUT_OF_RANGE",
    "UNDEFINED_CURSOR",
    "UNDEFINED_DATABASE",
    "UNDEFINED_PSTATEMENT",
    "UNDEFINED_SCHEMA",
];

/// The codes that a name stands for; `SQLSTATE` texts are not names. Warnings and success are no conditions.
pub fn named(name: &str) -> Vec<SqlState> {
    let wanted = |(known, code): &&(&str, SqlState)| {
        if matches!(&code.as_str()[..2], "00" | "01" | "02") || UNNAMED.contains(known) {
            return false;
        }
        match RENAMED.iter().find(|(constant, _)| constant == known) {
            Some((_, condition)) => *condition == name,
            None => {
                let bare = CLASS_INITIALS.iter().find_map(|initials| known.strip_prefix(initials));
                bare.unwrap_or(known).to_ascii_lowercase() == name
            }
        }
    };
    base::sqlstate::CONDITIONS.iter().filter(wanted).map(|(_, code)| *code).collect()
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
        assert!(named("undefined_schema").is_empty());
        assert_eq!(named("deadlock_detected"), [SqlState::T_R_DEADLOCK_DETECTED]);
        assert_eq!(named("invalid_savepoint_specification"), [SqlState::S_E_INVALID_SPECIFICATION]);
        let reading = named("reading_sql_data_not_permitted");
        assert_eq!(reading.iter().map(SqlState::as_str).collect::<Vec<_>>(), ["2F004", "38004"]);
        assert_eq!(code("22012"), Some(SqlState::DIVISION_BY_ZERO));
    }
}
