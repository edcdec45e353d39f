//! Functions of `pg_proc` that the triggers of constraints name.

use base::Oid;

/// `unique_key_recheck`.
pub const UNIQUE_KEY_RECHECK: Oid = Oid(1250);

/// Checks a new row that refers.
pub const CHECK_INSERT: Oid = Oid(1644);
/// Checks a changed row that refers.
pub const CHECK_UPDATE: Oid = Oid(1645);
const CASCADE_DELETE: Oid = Oid(1646);
const CASCADE_UPDATE: Oid = Oid(1647);
const RESTRICT_DELETE: Oid = Oid(1648);
const RESTRICT_UPDATE: Oid = Oid(1649);
const SET_NULL_DELETE: Oid = Oid(1650);
const SET_NULL_UPDATE: Oid = Oid(1651);
const SET_DEFAULT_DELETE: Oid = Oid(1652);
const SET_DEFAULT_UPDATE: Oid = Oid(1653);
const NO_ACTION_DELETE: Oid = Oid(1654);
const NO_ACTION_UPDATE: Oid = Oid(1655);

/// Whether a function checks rows that refer: the others carry out actions.
pub fn is_check(function: Oid) -> bool {
    matches!(function, CHECK_INSERT | CHECK_UPDATE)
}

/// Whether a function carries out an action.
pub fn is_action(function: Oid) -> bool {
    (CASCADE_DELETE..=NO_ACTION_UPDATE).contains(&function)
}

/// Whether a function changes rows that refer.
pub fn changes_rows(function: Oid) -> bool {
    is_action(function)
        && !(RESTRICT_DELETE..=RESTRICT_UPDATE).contains(&function)
        && function < NO_ACTION_DELETE
}

/// Whether a function may wait for the end of the transaction.
pub fn can_wait(function: Oid) -> bool {
    is_check(function) || matches!(function, NO_ACTION_DELETE | NO_ACTION_UPDATE)
}

/// The function of ON DELETE.
pub fn on_delete(action: u8) -> Oid {
    match action {
        b'r' => RESTRICT_DELETE,
        b'c' => CASCADE_DELETE,
        b'n' => SET_NULL_DELETE,
        b'd' => SET_DEFAULT_DELETE,
        _ => NO_ACTION_DELETE,
    }
}

/// The function of ON UPDATE.
pub fn on_update(action: u8) -> Oid {
    match action {
        b'r' => RESTRICT_UPDATE,
        b'c' => CASCADE_UPDATE,
        b'n' => SET_NULL_UPDATE,
        b'd' => SET_DEFAULT_UPDATE,
        _ => NO_ACTION_UPDATE,
    }
}
