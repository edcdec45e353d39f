//! # What
//! CREATE ROLE, ALTER ROLE, DROP ROLE and their kin; memberships (`membership`), passwords (`password`), stored settings
//! (`stored`), and what a role owns (`owned`).
//!
//! # Locks
//! None: a role that is dropped while another transaction makes it own something is not noticed.
//!
//! # PostgreSQL counterpart
//! `commands/user.c`.

mod membership;
mod options;
mod owned;
mod password;
mod stored;

use base::{Oid, SqlError, SqlResult, SqlState, sql_err};
use catalog::change::{Dependent, ObjectAddress, SharedDependency};
use catalog::system::pg_authid;
use catalog::{BOOTSTRAP_SUPERUSER, Role};
use parse::ast::{DefElem, RoleSpec};
use session::Session;

use super::{names, schema};

pub(crate) use membership::grant;
use membership::{Adding, Choice, Grantor};
use options::Options;
pub(crate) use owned::{drop as drop_owned, reassign as reassign_owned};
pub(crate) use stored::set as set_stored;

/// `permission denied to … role` with its detail.
fn denied(act: &str, detail: String) -> SqlError {
    sql_err!(INSUFFICIENT_PRIVILEGE, "permission denied to {act}").detail(detail)
}

/// Names that begin so are the system's.
fn check_reserved(name: &str, detail: &'static str) -> SqlResult<()> {
    if name.starts_with("pg_") {
        return Err(sql_err!(RESERVED_NAME, "role name \"{name}\" is reserved").detail(detail));
    }
    Ok(())
}

const RESERVED: &str = "Role names starting with \"pg_\" are reserved.";
const NOT_ALTERED: &str = "Cannot alter reserved roles.";

/// A role as written, which must not be one of the system's.
fn alterable(session: &Session, spec: &RoleSpec) -> SqlResult<Role> {
    if let RoleSpec::Name(name, _) = spec {
        check_reserved(name, NOT_ALTERED)?;
    }
    let (oid, name) = schema::role(session, spec)?;
    check_reserved(&name, NOT_ALTERED)?;
    by_oid(session, oid)
}

fn by_oid(session: &Session, oid: Oid) -> SqlResult<Role> {
    let role = session.with_reader(|reader| reader.role_by_oid(oid))?;
    role.ok_or_else(|| sql_err!(UNDEFINED_OBJECT, "role with OID {oid} does not exist"))
}

/// What the current user is.
struct User {
    oid: Oid,
    facts: std::sync::Arc<catalog::RoleFacts>,
}

impl User {
    fn of(session: &Session) -> SqlResult<User> {
        let oid = session.names.user();
        Ok(User { oid, facts: session.with_reader(|reader| reader.role_facts(oid))? })
    }

    fn may_create(&self) -> bool {
        self.facts.superuser || self.facts.create_role
    }

    /// CREATEROLE, and ADMIN on the role.
    fn may_manage(&self, session: &Session, role: Oid) -> SqlResult<bool> {
        Ok(self.may_create() && session.with_reader(|reader| reader.is_admin_of(self.oid, role))?)
    }
}

/// CREATE ROLE, USER, GROUP.
pub(crate) fn create(
    session: &Session,
    name: &str,
    login: bool,
    list: &[DefElem],
    text: &str,
) -> SqlResult<()> {
    let options = Options::read(list, text)?;
    if options.sysid {
        let message = "SYSID can no longer be specified";
        session.notice(names::notice(SqlState::SUCCESSFUL_COMPLETION, message));
    }
    check_creator(&User::of(session)?, &options)?;
    check_reserved(name, RESERVED)?;
    if session.with_reader(|reader| reader.role(name))?.is_some() {
        return Err(exists(name));
    }
    let mut role = Role {
        oid: Oid::INVALID,
        name: name.to_owned(),
        superuser: false,
        login,
        inherit: true,
        replication: false,
        bypass_rls: false,
        create_database: false,
        create_role: false,
        connection_limit: -1,
        password: None,
        valid_until: None,
    };
    options.apply(session, &mut role)?;
    role.oid = session.with_changer(|changer| changer.create_role(&role))?;
    for spec in &options.in_roles {
        let (oid, of) = schema::role(session, spec)?;
        membership::check_may_grant(session, oid, &of, true)?;
        let adding = Adding { role: oid, name: &of, grantor: Grantor::Best, options: Choice::default() };
        membership::add(session, &adding, &[(role.oid, role.name.clone())])?;
    }
    take_over(session, &role)?;
    for (members, admin) in [(&options.members, None), (&options.admins, Some(true))] {
        let members = membership::roles(session, members)?;
        let options = Choice { admin, ..Choice::default() };
        let adding = Adding { role: role.oid, name: &role.name, grantor: Grantor::Best, options };
        membership::add(session, &adding, &members)?;
    }
    Ok(())
}

fn exists(name: &str) -> SqlError {
    sql_err!(DUPLICATE_OBJECT, "role \"{name}\" already exists")
}

/// A role can give an attribute only if it has it itself.
fn check_creator(user: &User, options: &Options) -> SqlResult<()> {
    if user.facts.superuser {
        return Ok(());
    }
    let act = "create role";
    if !user.facts.create_role {
        return Err(denied(act, "Only roles with the CREATEROLE attribute may create roles.".into()));
    }
    let on = |option: Option<bool>| option == Some(true);
    for (wanted, held, attribute) in [
        (on(options.superuser), false, "SUPERUSER"),
        (on(options.create_database), user.facts.create_database, "CREATEDB"),
        (on(options.replication), user.facts.replication, "REPLICATION"),
        (on(options.bypass_rls), user.facts.bypass_rls, "BYPASSRLS"),
    ] {
        if wanted && !held {
            let detail = format!(
                "Only roles with the {attribute} attribute may create roles with the {attribute} attribute."
            );
            return Err(denied(act, detail));
        }
    }
    Ok(())
}

/// Who is no superuser administers the roles that he made; `createrole_self_grant` gives him more.
fn take_over(session: &Session, role: &Role) -> SqlResult<()> {
    if session.has_all_rights()? {
        return Ok(());
    }
    let me = session.names.user();
    let my_name = session.with_reader(|reader| reader.role_name(me))?.unwrap_or_default();
    let members = [(me, my_name)];
    let options = Choice { admin: Some(true), inherit: Some(false), set: Some(false) };
    let adding = Adding { role: role.oid, name: &role.name, grantor: Grantor::System, options };
    membership::add(session, &adding, &members)?;
    let wanted = session.settings.borrow().text(base::settings::Setting::createrole_self_grant).to_owned();
    if wanted.is_empty() {
        return Ok(());
    }
    let has = |word: &str| Some(wanted.split(',').any(|w| w.trim().eq_ignore_ascii_case(word)));
    let options = Choice { admin: Some(false), inherit: has("inherit"), set: has("set") };
    let adding = Adding { role: role.oid, name: &role.name, grantor: Grantor::Named(me), options };
    membership::add(session, &adding, &members)
}

/// ALTER ROLE; `action` is 1 for ALTER GROUP ADD USER, -1 for DROP USER.
pub(crate) fn alter(
    session: &Session,
    spec: &RoleSpec,
    list: &[DefElem],
    action: i32,
    text: &str,
) -> SqlResult<()> {
    let options = Options::read(list, text)?;
    let mut role = alterable(session, spec)?;
    check_alterer(session, &options, &role)?;
    if options.superuser == Some(false) && role.oid == BOOTSTRAP_SUPERUSER {
        return Err(sql_err!(FEATURE_NOT_SUPPORTED, "permission denied to alter role")
            .detail("The bootstrap superuser must have the SUPERUSER attribute."));
    }
    options.apply(session, &mut role)?;
    session.with_changer(|changer| changer.alter_role(&role))?;
    if options.members.is_empty() {
        return Ok(());
    }
    let members = membership::roles(session, &options.members)?;
    if action < 0 {
        let removing = membership::Removing {
            role: role.oid,
            name: &role.name,
            grantor: Grantor::Best,
            options: Choice::default(),
            cascade: false,
        };
        return membership::remove(session, &removing, &members);
    }
    let adding =
        Adding { role: role.oid, name: &role.name, grantor: Grantor::Best, options: Choice::default() };
    membership::add(session, &adding, &members)
}

fn check_alterer(session: &Session, options: &Options, role: &Role) -> SqlResult<()> {
    let user = User::of(session)?;
    let act = "alter role";
    if user.facts.superuser {
        return Ok(());
    }
    if role.superuser {
        let detail = "Only roles with the SUPERUSER attribute may alter roles with the SUPERUSER attribute.";
        return Err(denied(act, detail.into()));
    }
    if options.superuser.is_some() {
        let detail = "Only roles with the SUPERUSER attribute may change the SUPERUSER attribute.";
        return Err(denied(act, detail.into()));
    }
    if !user.may_manage(session, role.oid)? {
        if options.changes_attributes() {
            return Err(denied(act, manager_detail(&role.name, "alter this role")));
        }
        if options.password.is_some() && role.oid != user.oid {
            let detail = "To change another role's password, the current user must have the CREATEROLE attribute and the ADMIN option on the role.";
            return Err(denied(act, detail.into()));
        }
    } else {
        for (changed, held, attribute) in [
            (options.create_database, user.facts.create_database, "CREATEDB"),
            (options.replication, user.facts.replication, "REPLICATION"),
            (options.bypass_rls, user.facts.bypass_rls, "BYPASSRLS"),
        ] {
            if changed.is_some() && !held {
                let detail = format!(
                    "Only roles with the {attribute} attribute may change the {attribute} attribute."
                );
                return Err(denied(act, detail));
            }
        }
    }
    let administers = session.with_reader(|reader| reader.is_admin_of(user.oid, role.oid))?;
    if !options.members.is_empty() && !administers {
        let detail =
            format!("Only roles with the ADMIN option on role \"{}\" may add or drop members.", role.name);
        return Err(denied(act, detail));
    }
    Ok(())
}

fn manager_detail(role: &str, act: &str) -> String {
    format!("Only roles with the CREATEROLE attribute and the ADMIN option on role \"{role}\" may {act}.")
}

/// ALTER ROLE ... RENAME TO.
pub(crate) fn rename(session: &Session, old: &str, new: &str) -> SqlResult<()> {
    let role = session.with_reader(|reader| reader.role(old))?;
    let mut role = role.ok_or_else(|| sql_err!(UNDEFINED_OBJECT, "role \"{old}\" does not exist"))?;
    for (user, what) in [(session.names.session_user(), "session"), (session.names.user(), "current")] {
        if role.oid == user {
            return Err(sql_err!(FEATURE_NOT_SUPPORTED, "{what} user cannot be renamed"));
        }
    }
    check_reserved(old, RESERVED)?;
    check_reserved(new, RESERVED)?;
    if session.with_reader(|reader| reader.role(new))?.is_some() {
        return Err(exists(new));
    }
    let user = User::of(session)?;
    let act = "rename role";
    if role.superuser && !user.facts.superuser {
        let detail = "Only roles with the SUPERUSER attribute may rename roles with the SUPERUSER attribute.";
        return Err(denied(act, detail.into()));
    }
    if !user.may_manage(session, role.oid)? {
        return Err(denied(act, manager_detail(old, "rename this role")));
    }
    role.name = new.to_owned();
    // The name is part of an MD5 password.
    if role.password.as_deref().is_some_and(password::is_md5) {
        role.password = None;
        session.notice(names::notice(
            SqlState::SUCCESSFUL_COMPLETION,
            "MD5 password cleared because of role rename",
        ));
    }
    session.with_changer(|changer| changer.alter_role(&role))
}

/// DROP ROLE, USER, GROUP.
pub(crate) fn drop(session: &Session, specs: &[RoleSpec], missing_ok: bool) -> SqlResult<()> {
    let user = User::of(session)?;
    if !user.may_create() {
        let detail = "Only roles with the CREATEROLE attribute and the ADMIN option on the target roles may drop roles.";
        return Err(denied("drop role", detail.into()));
    }
    let mut roles = Vec::with_capacity(specs.len());
    for spec in specs {
        let RoleSpec::Name(name, _) = spec else {
            return Err(sql_err!(INVALID_PARAMETER_VALUE, "cannot use special role specifier in DROP ROLE"));
        };
        match session.with_reader(|reader| reader.role(name))? {
            Some(role) => {
                check_dropper(session, &user, &role)?;
                remove_memberships(session, role.oid)?;
                roles.push(role);
            }
            None if missing_ok => {
                let message = format!("role \"{name}\" does not exist, skipping");
                session.notice(names::notice(SqlState::SUCCESSFUL_COMPLETION, message));
            }
            None => return Err(sql_err!(UNDEFINED_OBJECT, "role \"{name}\" does not exist")),
        }
    }
    for role in &roles {
        check_free(session, role)?;
        session.with_changer(|changer| changer.drop_role(role.oid))?;
    }
    Ok(())
}

fn check_dropper(session: &Session, user: &User, role: &Role) -> SqlResult<()> {
    for (of, what) in [(user.oid, "current"), (session.names.session_user(), "session")] {
        if role.oid == of {
            return Err(sql_err!(OBJECT_IN_USE, "{what} user cannot be dropped"));
        }
    }
    if role.superuser && !user.facts.superuser {
        let detail = "Only roles with the SUPERUSER attribute may drop roles with the SUPERUSER attribute.";
        return Err(denied("drop role", detail.into()));
    }
    if !user.may_manage(session, role.oid)? {
        return Err(denied("drop role", manager_detail(&role.name, "drop this role")));
    }
    Ok(())
}

/// The role that COMMENT ON names, which the current user must manage.
pub(crate) fn commented(session: &Session, name: &str) -> SqlResult<ObjectAddress> {
    let role = session.with_reader(|reader| reader.role(name))?;
    let role = role.ok_or_else(|| sql_err!(UNDEFINED_OBJECT, "role \"{name}\" does not exist"))?;
    let user = User::of(session)?;
    let missing = if role.superuser && !user.facts.superuser {
        Some("SUPERUSER attribute".to_owned())
    } else if !user.may_create() {
        Some("CREATEROLE attribute".to_owned())
    } else if !user.may_manage(session, role.oid)? {
        Some(format!("ADMIN option on role \"{name}\""))
    } else {
        None
    };
    match missing {
        None => Ok(ObjectAddress { class: pg_authid::TABLE.oid, object: role.oid, sub: 0 }),
        Some(what) => Err(sql_err!(INSUFFICIENT_PRIVILEGE, "permission denied")
            .detail(format!("The current user must have the {what}."))),
    }
}

/// A role that goes leaves all roles, and all leave it. What it granted to others stays in the way.
fn remove_memberships(session: &Session, role: Oid) -> SqlResult<()> {
    let rows = session.with_reader(|reader| {
        let mut rows = reader.memberships_of(role)?;
        rows.extend(reader.memberships_in(role)?);
        Ok::<_, SqlError>(rows)
    })?;
    rows.iter().try_for_each(|row| session.with_changer(|changer| changer.drop_membership(row.oid)))
}

/// Most objects that a message names.
const MOST_NAMED: usize = 100;

/// Fails if something needs the role.
fn check_free(session: &Session, role: &Role) -> SqlResult<()> {
    if role.oid.is_pinned() {
        return Err(sql_err!(
            DEPENDENT_OBJECTS_STILL_EXIST,
            "cannot drop role {} because it is required by the database system",
            role.name
        ));
    }
    let dependents = session.with_reader(|reader| reader.dependents_of(pg_authid::TABLE.oid, role.oid))?;
    if dependents.is_empty() {
        return Ok(());
    }
    Err(sql_err!(
        DEPENDENT_OBJECTS_STILL_EXIST,
        "role \"{}\" cannot be dropped because some objects depend on it",
        role.name
    )
    .detail(dependents_detail(session, &dependents)?))
}

/// The DETAIL that tells what needs a role or tablespace.
pub(crate) fn dependents_detail(session: &Session, dependents: &[Dependent]) -> SqlResult<String> {
    let lines = describe(session, dependents)?;
    let hidden = lines.len().saturating_sub(MOST_NAMED);
    let mut detail = lines[..lines.len() - hidden].join("\n");
    if hidden > 0 {
        let more = if hidden == 1 { "object" } else { "objects" };
        detail += &format!("\nand {hidden} other {more} (see server log for list)");
    }
    Ok(detail)
}

/// How messages tell what needs a role; other databases' objects are only counted.
fn describe(session: &Session, dependents: &[Dependent]) -> SqlResult<Vec<String>> {
    let here = session.catalog.database();
    let mut known: Vec<&Dependent> =
        dependents.iter().filter(|d| d.database == here || !d.database.is_valid()).collect();
    known.sort_by_key(|d| {
        let kind = d.kind == SharedDependency::Acl;
        (kind, d.object.class, d.object.object, d.object.sub)
    });
    let mut lines = Vec::new();
    for dependent in known {
        let what = session.with_reader(|reader| reader.describe(dependent.object))?;
        lines.push(match dependent.kind {
            SharedDependency::Owner => format!("owner of {what}"),
            SharedDependency::Acl => format!("privileges for {what}"),
            SharedDependency::InitialAcl => format!("initial privileges for {what}"),
            SharedDependency::Policy => format!("target of {what}"),
            SharedDependency::Tablespace => format!("tablespace for {what}"),
        });
    }
    let mut others: Vec<Oid> = dependents.iter().map(|d| d.database).collect();
    others.retain(|database| *database != here && database.is_valid());
    others.sort_unstable();
    for of in others.chunk_by(|a, b| a == b) {
        let database = session.with_reader(|reader| reader.database_by_oid(of[0]))?;
        let name = database.map_or_else(|| of[0].to_string(), |database| database.name);
        let objects = if of.len() == 1 { "object" } else { "objects" };
        lines.push(format!("{} {objects} in database {name}", of.len()));
    }
    Ok(lines)
}
