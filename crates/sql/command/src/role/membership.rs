//! Memberships: GRANT and REVOKE of roles, and what CREATE ROLE and ALTER GROUP say of members.
//!
//! # Invariants
//! 1. Memberships make no circles, and neither do grants of ADMIN: every membership has a grantor who has ADMIN without it,
//!    or is the first superuser.

use base::{Oid, Severity, SqlError, SqlResult, SqlState, sql_err};
use catalog::roles::{MembershipRow, predefined};
use catalog::{BOOTSTRAP_SUPERUSER, Reader};
use parse::ast::{DefElem, DropBehavior, GrantRole, RoleSpec};
use session::Session;

use super::super::{names, options, schema};
use super::denied;

/// Options of a membership; `None`: not said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) admin: Option<bool>,
    pub(super) inherit: Option<bool>,
    pub(super) set: Option<bool>,
}

/// A role that gets members.
#[derive(Debug)]
pub(super) struct Adding<'a> {
    pub(super) role: Oid,
    pub(super) name: &'a str,
    pub(super) grantor: Grantor,
    pub(super) options: Choice,
}

/// Who is noted as the grantor of a membership.
#[derive(Clone, Copy, Debug)]
pub(super) enum Grantor {
    /// The best for the current user.
    Best,
    /// The one that a statement names.
    Named(Oid),
    /// The bootstrap superuser, no matter which user runs the statement.
    System,
}

/// A role that loses members, or memberships in it that lose options: those that are said.
#[derive(Debug)]
pub(super) struct Removing<'a> {
    pub(super) role: Oid,
    pub(super) name: &'a str,
    pub(super) grantor: Grantor,
    pub(super) options: Choice,
    pub(super) cascade: bool,
}

/// OIDs and names of roles as written.
pub(super) fn roles(session: &Session, specs: &[RoleSpec]) -> SqlResult<Vec<(Oid, String)>> {
    specs.iter().map(|spec| schema::role(session, spec)).collect()
}

/// GRANT and REVOKE of roles.
pub(crate) fn grant(session: &Session, statement: &GrantRole) -> SqlResult<()> {
    let options = choice(&statement.options)?;
    let grantor = match &statement.grantor {
        Some(spec) => Grantor::Named(schema::role(session, spec)?.0),
        None => Grantor::Best,
    };
    let members = roles(session, &statement.grantees)?;
    for granted in &statement.roles {
        if !granted.columns.is_empty() {
            let message = "column names cannot be included in GRANT/REVOKE ROLE";
            return Err(SqlError::new(SqlState::INVALID_GRANT_OPERATION, message));
        }
        let name = granted.name.as_deref().unwrap_or_default();
        let role = session.with_reader(|reader| reader.role(name))?;
        let role = role.ok_or_else(|| sql_err!(UNDEFINED_OBJECT, "role \"{name}\" does not exist"))?.oid;
        check_may_grant(session, role, name, statement.grant)?;
        if statement.grant {
            add(session, &Adding { role, name, grantor, options }, &members)?;
        } else {
            let cascade = statement.behavior == DropBehavior::Cascade;
            remove(session, &Removing { role, name, grantor, options, cascade }, &members)?;
        }
    }
    Ok(())
}

fn choice(list: &[DefElem]) -> SqlResult<Choice> {
    let mut choice = Choice::default();
    for option in list {
        let value = options::boolean(option).map_err(|_| {
            let value = option.value.as_ref().and_then(options::text).unwrap_or_default();
            sql_err!(
                INVALID_PARAMETER_VALUE,
                "unrecognized value for role option \"{}\": \"{value}\"",
                option.name
            )
        })?;
        match option.name.as_str() {
            "admin" => choice.admin = Some(value),
            "inherit" => choice.inherit = Some(value),
            "set" => choice.set = Some(value),
            other => return Err(sql_err!(SYNTAX_ERROR, "unrecognized role option \"{other}\"")),
        }
    }
    Ok(choice)
}

/// Fails unless the current user may give or take memberships in a role.
pub(super) fn check_may_grant(session: &Session, role: Oid, name: &str, grant: bool) -> SqlResult<()> {
    if role == predefined::DATABASE_OWNER {
        return Err(sql_err!(FEATURE_NOT_SUPPORTED, "role \"{name}\" cannot have explicit members"));
    }
    let verb = if grant { "grant" } else { "revoke" };
    let me = session.names.user();
    session.with_reader(|reader| {
        let (allowed, detail) = if reader.is_superuser(role)? {
            let detail = format!(
                "Only roles with the SUPERUSER attribute may {verb} roles with the SUPERUSER attribute."
            );
            (reader.is_superuser(me)?, detail)
        } else {
            let detail = format!("Only roles with the ADMIN option on role \"{name}\" may {verb} this role.");
            (reader.is_admin_of(me, role)?, detail)
        };
        if allowed { Ok(()) } else { Err(denied(&format!("{verb} role \"{name}\""), detail)) }
    })
}

/// The nearest role whose privileges `member` has and that has ADMIN on `role`.
fn best_admin(reader: &Reader<'_>, member: Oid, role: Oid) -> SqlResult<Option<Oid>> {
    if member == role {
        return Ok(None);
    }
    let admins: Vec<Oid> =
        reader.memberships_in(role)?.iter().filter(|row| row.admin).map(|row| row.member).collect();
    Ok(reader.role_facts(member)?.inherits.iter().copied().find(|role| admins.contains(role)))
}

/// Who is noted as the grantor.
fn grantor(session: &Session, role: (Oid, &str), given: Grantor, grant: bool) -> SqlResult<Oid> {
    let me = session.names.user();
    session.with_reader(|reader| {
        let Grantor::Named(given) = given else {
            if matches!(given, Grantor::System) || reader.is_superuser(me)? {
                return Ok(BOOTSTRAP_SUPERUSER);
            }
            let best = best_admin(reader, me, role.0)?;
            return best.ok_or_else(|| SqlError::internal("no possible grantors"));
        };
        let name = reader.role_name(given)?.unwrap_or_default();
        if !reader.has_privileges_of(me, given)? {
            let (act, detail) = if grant {
                (format!("grant privileges as role \"{name}\""), "grant privileges as this role")
            } else {
                (
                    format!("revoke privileges granted by role \"{name}\""),
                    "revoke privileges granted by this role",
                )
            };
            let detail = format!("Only roles with privileges of role \"{name}\" may {detail}.");
            return Err(denied(&act, detail));
        }
        if grant && given != BOOTSTRAP_SUPERUSER && best_admin(reader, given, role.0)? != Some(given) {
            let detail = format!("The grantor must have the ADMIN option on role \"{}\".", role.1);
            return Err(denied(&format!("grant privileges as role \"{name}\""), detail));
        }
        Ok(given)
    })
}

/// Makes roles members of a role. That the current user may do so was checked, but not his grantor.
pub(super) fn add(session: &Session, adding: &Adding<'_>, members: &[(Oid, String)]) -> SqlResult<()> {
    if members.is_empty() {
        return Ok(());
    }
    let grantor = grantor(session, (adding.role, adding.name), adding.grantor, true)?;
    for (member, name) in members {
        if *member == predefined::DATABASE_OWNER {
            let message = format!("role \"{name}\" cannot be a member of any role");
            return Err(SqlError::new(SqlState::INVALID_GRANT_OPERATION, message));
        }
        // Superusers are members of a role only if they were made so.
        let facts = session.with_reader(|reader| reader.role_facts(adding.role))?;
        if facts.member_of.contains(member) {
            let message = format!("role \"{}\" is a member of role \"{name}\"", adding.name);
            return Err(SqlError::new(SqlState::INVALID_GRANT_OPERATION, message));
        }
    }
    let rows = session.with_reader(|reader| reader.memberships_in(adding.role))?;
    if adding.options.admin == Some(true) && grantor != BOOTSTRAP_SUPERUSER {
        check_admin_circle(&rows, grantor, members)?;
    }
    for (member, name) in members {
        add_one(session, adding, grantor, (*member, name), &rows)?;
    }
    Ok(())
}

/// The grantor must hold ADMIN through a grant that does not depend on the new members.
fn check_admin_circle(rows: &[MembershipRow], grantor: Oid, members: &[(Oid, String)]) -> SqlResult<()> {
    let circle = || {
        let message = "ADMIN option cannot be granted back to your own grantor";
        Err(SqlError::new(SqlState::INVALID_GRANT_OPERATION, message))
    };
    let mut plan = Plan::new(rows);
    for (member, _) in members {
        if *member == BOOTSTRAP_SUPERUSER {
            return circle();
        }
        for (i, _) in rows.iter().enumerate().filter(|(_, row)| row.member == *member) {
            plan.revoke(i, true, true)?;
        }
    }
    let keeps = |i: usize| rows[i].member == grantor && rows[i].admin && plan.actions[i] == Action::Keep;
    if (0..rows.len()).any(keeps) { Ok(()) } else { circle() }
}

fn add_one(
    session: &Session,
    adding: &Adding<'_>,
    grantor: Oid,
    (member, name): (Oid, &str),
    rows: &[MembershipRow],
) -> SqlResult<()> {
    let Choice { admin, inherit, set } = adding.options;
    let known = rows.iter().find(|row| (row.member, row.grantor) == (member, grantor));
    let new = match known {
        Some(row) => MembershipRow {
            admin: admin.unwrap_or(row.admin),
            inherit: inherit.unwrap_or(row.inherit),
            set: set.unwrap_or(row.set),
            ..*row
        },
        None => MembershipRow {
            oid: Oid::INVALID,
            role: adding.role,
            member,
            grantor,
            admin: admin.unwrap_or(false),
            inherit: match inherit {
                Some(inherit) => inherit,
                None => {
                    session.with_reader(|reader| reader.role_by_oid(member))?.is_some_and(|role| role.inherit)
                }
            },
            set: set.unwrap_or(true),
        },
    };
    if known == Some(&new) {
        let by = session.with_reader(|reader| reader.role_name(grantor))?.unwrap_or_default();
        let message = format!(
            "role \"{name}\" has already been granted membership in role \"{}\" by role \"{by}\"",
            adding.name
        );
        session.notice(names::notice(SqlState::SUCCESSFUL_COMPLETION, message));
        return Ok(());
    }
    session.with_changer(|changer| changer.set_membership(&new))
}

/// Takes memberships or options of them away.
pub(super) fn remove(session: &Session, removing: &Removing<'_>, members: &[(Oid, String)]) -> SqlResult<()> {
    if members.is_empty() {
        return Ok(());
    }
    let grantor = grantor(session, (removing.role, removing.name), removing.grantor, false)?;
    let rows = session.with_reader(|reader| reader.memberships_in(removing.role))?;
    let mut plan = Plan::new(&rows);
    for (member, name) in members {
        let found = rows.iter().position(|row| (row.member, row.grantor) == (*member, grantor));
        let Some(i) = found else {
            let by = session.with_reader(|reader| reader.role_name(grantor))?.unwrap_or_default();
            let message = format!(
                "role \"{name}\" has not been granted membership in role \"{}\" by role \"{by}\"",
                removing.name
            );
            session.notice(SqlError::with_severity(Severity::Warning, SqlState::WARNING, message));
            continue;
        };
        if removing.options.inherit.is_some() {
            plan.actions[i] = Action::Inherit;
        } else if removing.options.set.is_some() {
            plan.actions[i] = Action::Set;
        } else {
            plan.revoke(i, removing.options.admin.is_some(), removing.cascade)?;
        }
    }
    for (row, action) in rows.iter().zip(&plan.actions) {
        let changed = match action {
            Action::Keep => continue,
            Action::Delete => {
                session.with_changer(|changer| changer.drop_membership(row.oid))?;
                continue;
            }
            Action::Admin => MembershipRow { admin: false, ..*row },
            Action::Inherit => MembershipRow { inherit: false, ..*row },
            Action::Set => MembershipRow { set: false, ..*row },
        };
        session.with_changer(|changer| changer.set_membership(&changed))?;
    }
    Ok(())
}

/// What becomes of a membership.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Keep,
    /// It loses ADMIN.
    Admin,
    /// It loses INHERIT.
    Inherit,
    /// It loses SET.
    Set,
    Delete,
}

/// What a REVOKE does to the memberships in one role.
struct Plan<'a> {
    rows: &'a [MembershipRow],
    actions: Vec<Action>,
}

impl Plan<'_> {
    fn new(rows: &[MembershipRow]) -> Plan<'_> {
        Plan { rows, actions: vec![Action::Keep; rows.len()] }
    }

    /// Takes a membership, or its ADMIN only, and with CASCADE what its member granted and can no longer grant.
    fn revoke(&mut self, first: usize, admin_only: bool, cascade: bool) -> SqlResult<()> {
        let mut todo = vec![(first, admin_only)];
        while let Some((i, admin_only)) = todo.pop() {
            let action = if admin_only { Action::Admin } else { Action::Delete };
            if self.actions[i] == Action::Delete || self.actions[i] == action {
                continue;
            }
            self.actions[i] = action;
            let MembershipRow { member, admin, .. } = self.rows[i];
            if !admin || self.still_admin(member) {
                continue;
            }
            for (j, row) in self.rows.iter().enumerate() {
                if row.grantor != member || self.actions[j] == Action::Delete {
                    continue;
                }
                if !cascade {
                    return Err(sql_err!(DEPENDENT_OBJECTS_STILL_EXIST, "dependent privileges exist")
                        .hint("Use CASCADE to revoke them too."));
                }
                todo.push((j, false));
            }
        }
        Ok(())
    }

    /// Whether a member keeps ADMIN by another membership.
    fn still_admin(&self, member: Oid) -> bool {
        let keeps = |(row, action): (&MembershipRow, &Action)| {
            row.member == member && row.admin && !matches!(action, Action::Delete | Action::Admin)
        };
        self.rows.iter().zip(&self.actions).any(keeps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(oid: u32, member: u32, grantor: u32, admin: bool) -> MembershipRow {
        MembershipRow {
            oid: Oid(oid),
            role: Oid(1),
            member: Oid(member),
            grantor: Oid(grantor),
            admin,
            inherit: true,
            set: true,
        }
    }

    #[test]
    fn what_a_member_granted_goes_with_its_admin_option() {
        let rows = [row(1, 20, 10, true), row(2, 30, 20, true), row(3, 40, 30, false), row(4, 50, 10, false)];
        let mut plan = Plan::new(&rows);
        assert_eq!(plan.revoke(0, true, false).unwrap_err().message(), "dependent privileges exist");
        let mut plan = Plan::new(&rows);
        plan.revoke(0, true, true).unwrap();
        assert_eq!(plan.actions, [Action::Admin, Action::Delete, Action::Delete, Action::Keep]);
    }

    #[test]
    fn admin_from_somebody_else_keeps_what_was_granted() {
        let rows = [row(1, 20, 10, true), row(2, 20, 11, true), row(3, 30, 20, false)];
        let mut plan = Plan::new(&rows);
        plan.revoke(0, false, false).unwrap();
        assert_eq!(plan.actions, [Action::Delete, Action::Keep, Action::Keep]);
    }

    #[test]
    fn admin_does_not_go_in_circles() {
        let rows = [row(1, 20, 10, true), row(2, 30, 20, true)];
        assert!(check_admin_circle(&rows, Oid(30), &[(Oid(20), "a".into())]).is_err());
        assert!(check_admin_circle(&rows, Oid(30), &[(Oid(40), "b".into())]).is_ok());
    }
}
