//! # What
//! What planned statements need on relations and functions, and whether the current user has it.
//!
//! # Invariants
//! 1. A plan of another user's is never run: [`super::statement`] keeps the user beside each. That a plan's needs were met
//!    is remembered with it, and holds as long as the plan is current: changes of ACLs, owners, roles, memberships and
//!    schemas make it stale.
//!
//! # PostgreSQL counterpart
//! `ExecCheckPermissions` of `executor/execMain.c`.

use base::settings::Setting;
use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::authority::{self, Wanted};
use catalog::{CatalogView, RelationKind, Table};
use eval::needs::Needs;
use types::acl::bits;

use super::Session;

impl Session {
    /// Fails unless the current user has what a statement needs.
    pub fn check_access(&self, needs: &Needs) -> SqlResult<()> {
        let user = self.names.user();
        self.check_restricted_kinds(needs)?;
        for (relation, access) in &needs.relations {
            if access.required == 0 {
                continue;
            }
            let role = access.as_role.unwrap_or(user);
            let wanted = Wanted {
                required: access.required,
                selected: &access.selected,
                inserted: &access.inserted,
                updated: &access.updated,
            };
            self.check_relation(role, *relation, wanted)?;
        }
        if self.has_all_rights()? {
            return Ok(());
        }
        needs.functions.iter().try_for_each(|function| self.check_function(user, *function))?;
        needs.windows.iter().try_for_each(|function| self.check_called(user, *function, Some("function")))
    }

    /// Whether `restrict_nonsystem_relation_kind` has this kind of relations.
    pub(crate) fn restricts(&self, kind: &str) -> bool {
        let settings = self.settings.borrow();
        let kinds = settings.text(Setting::restrict_nonsystem_relation_kind).to_ascii_lowercase();
        kinds.split(',').any(|listed| listed.trim().trim_matches('"') == kind)
    }

    /// Fails for a user's view where `restrict_nonsystem_relation_kind` has views.
    fn check_restricted_kinds(&self, needs: &Needs) -> SqlResult<()> {
        if !self.restricts("view") {
            return Ok(());
        }
        let of_users = needs.relations.iter().map(|(oid, _)| *oid).filter(|oid| !oid.is_pinned());
        for oid in of_users {
            let table = self.with_reader(|reader| reader.relation_by_oid(oid))?;
            if let Some(view) = table.filter(|table| table.kind == RelationKind::View) {
                let name = &view.name;
                return Err(sql_err!(
                    OBJECT_NOT_IN_PREREQUISITE_STATE,
                    "access to non-system view \"{name}\" is restricted"
                ));
            }
        }
        Ok(())
    }

    /// Fails unless a role has the required privileges on a relation.
    pub fn check_relation(&self, role: Oid, relation: Oid, wanted: Wanted<'_>) -> SqlResult<()> {
        self.with_reader(|reader| {
            let table = reader
                .relation_by_oid(relation)?
                .ok_or_else(|| SqlError::internal(format!("could not open relation with OID {relation}")))?;
            if reader.may_access(role, &table, wanted)? {
                return Ok(());
            }
            Err(authority::denied(authority::relation_word(table.kind), &table.name))
        })
    }

    /// Whether row security hides rows of a table from a role, or from the current user.
    pub fn hides_rows(&self, table: &Table, role: Option<Oid>) -> SqlResult<bool> {
        if table.row_security.is_none() {
            return Ok(false);
        }
        let forced = table.is_secured_from_owner() && self.identity.unforced.get() == 0;
        self.with_reader(|reader| reader.may_be_hidden(table, role.unwrap_or(self.names.user()), forced))
    }

    /// The same for a statement, which fails if it would be so and `row_security` is off.
    pub fn secures(&self, table: &Table, role: Option<Oid>) -> SqlResult<bool> {
        if !self.hides_rows(table, role)? {
            return Ok(false);
        }
        if self.settings.borrow().get(Setting::row_security).as_bool() {
            return Ok(true);
        }
        let error = sql_err!(
            INSUFFICIENT_PRIVILEGE,
            "query would be affected by row-level security policy for table \"{}\"",
            table.name
        );
        let role = role.unwrap_or(self.names.user());
        let owner = self.with_reader(|reader| reader.has_privileges_of(role, table.owner))?;
        Err(match owner {
            true => error.hint(
                "To disable the policy for the table's owner, use ALTER TABLE NO FORCE ROW LEVEL SECURITY.",
            ),
            false => error,
        })
    }

    /// Columns of a relation that the current user may read, or knows as he wrote them; `None`: all. None at all where rows may be hidden
    /// from him.
    pub(super) fn readable_columns(&self, table: &Table, written: &[i16]) -> Option<Vec<i16>> {
        if self.hides_rows(table, None).unwrap_or(true) {
            return Some(Vec::new());
        }
        let user = self.names.user();
        let read = (bits("r"), false);
        self.with_reader(|reader| {
            if reader.relation_rights(user, table).is_ok_and(|held| held.has(read)) {
                return None;
            }
            let readable = |number: &i16| {
                written.contains(number)
                    || reader.column_rights(user, table, *number).is_ok_and(|held| held.has(read))
            };
            Some((1..=table.columns.len() as i16).filter(readable).collect())
        })
    }

    /// Fails unless a role may call a function.
    pub fn check_function(&self, user: Oid, function: Oid) -> SqlResult<()> {
        self.check_called(user, function, None)
    }

    /// As [`Self::check_function`]; `word` is what an error calls the function, if not its kind.
    fn check_called(&self, user: Oid, function: Oid, word: Option<&str>) -> SqlResult<()> {
        self.with_reader(|reader| {
            let Some(owned) = reader.function_owned(function)? else { return Ok(()) };
            let held = reader.rights(user, b'f', (owned.owner, owned.acl.as_deref()))?;
            if held.has((bits("X"), false)) {
                return Ok(());
            }
            let (name, kind) = reader.function_name(function)?;
            let by_kind = match kind {
                b'p' => "procedure",
                b'a' => "aggregate",
                _ => "function",
            };
            Err(authority::denied(word.unwrap_or(by_kind), &name))
        })
    }
}
