//! # What
//! GRANT and REVOKE on objects (`objects` finds them, `relation` does tables with their columns) and ALTER DEFAULT PRIVILEGES
//! (`defaults`).
//!
//! # PostgreSQL counterpart and differences
//! `catalog/aclchk.c`. Of two statements about one object at a time the later one waits, and fails if the other commits.
//!
//! # Locks
//! ACCESS SHARE on relations that are named: who alters one is waited for.

mod defaults;
mod objects;
mod relation;

use base::{Oid, Severity, SqlError, SqlResult, SqlState, sql_err};
use catalog::authority::{self, AclKind};
use catalog::change::ObjectAddress;
use catalog::system::{pg_class, pg_default_acl, pg_namespace, pg_parameter_acl};
use catalog::{Reader, RowExt};
use parse::ast::{DropBehavior, Grant, ObjectKind, RoleSpec};
use session::Session;
use types::acl::{self, AclItem, Change, bits};

use super::schema;

pub(crate) use defaults::alter as alter_defaults;

/// A GRANT or REVOKE with its roles looked up.
#[derive(Clone)]
pub(super) struct Order {
    pub(super) grant: bool,
    /// `None`: ALL.
    pub(super) privileges: Option<u32>,
    /// Privileges on columns: `None` for ALL, and the columns.
    pub(super) columns: Vec<(Option<u32>, Vec<String>)>,
    /// 0 for PUBLIC.
    pub(super) grantees: Vec<Oid>,
    /// WITH GRANT OPTION, GRANT OPTION FOR
    pub(super) option: bool,
    pub(super) cascade: bool,
}

/// GRANT and REVOKE.
pub(crate) fn run(session: &Session, statement: &Grant) -> SqlResult<()> {
    if let Some(spec) = &statement.grantor
        && schema::role(session, spec)?.0 != session.names.user()
    {
        return Err(sql_err!(FEATURE_NOT_SUPPORTED, "grantor must be current user"));
    }
    let objects = objects::find(session, statement)?;
    let order = Order::read(session, statement, allowed(statement.kind)?)?;
    for object in objects {
        match object {
            objects::Found::Relation(oid) => relation::change(session, statement.kind, &order, oid)?,
            objects::Found::Other(kind, oid) => change(session, &kind, &order, oid)?,
            objects::Found::Parameter(name) => objects::change_parameter(session, &order, &name)?,
        }
    }
    Ok(())
}

/// Privileges on objects of a kind, and what the error about another one calls it.
fn allowed(kind: ObjectKind) -> SqlResult<(u32, &'static str)> {
    Ok(match kind {
        // A sequence may be named as a table.
        ObjectKind::Table => (AclKind::TABLE.all | AclKind::SEQUENCE.all, "relation"),
        ObjectKind::Sequence => (AclKind::SEQUENCE.all, "sequence"),
        ObjectKind::Schema => (AclKind::SCHEMA.all, "schema"),
        ObjectKind::Database => (AclKind::DATABASE.all, "database"),
        ObjectKind::Function => (AclKind::FUNCTION.all, "function"),
        ObjectKind::Procedure => (AclKind::FUNCTION.all, "procedure"),
        ObjectKind::Routine => (AclKind::FUNCTION.all, "routine"),
        ObjectKind::Tablespace => (AclKind::TABLESPACE.all, "tablespace"),
        ObjectKind::Language => (AclKind::LANGUAGE.all, "language"),
        ObjectKind::Type => (AclKind::TYPE.all, "type"),
        ObjectKind::Domain => (AclKind::TYPE.all, "domain"),
        ObjectKind::ForeignDataWrapper => (AclKind::FOREIGN_DATA_WRAPPER.all, "foreign-data wrapper"),
        ObjectKind::ForeignServer => (AclKind::FOREIGN_SERVER.all, "foreign server"),
        ObjectKind::LargeObject => (bits("rw"), "large object"),
        ObjectKind::Parameter => (bits("sA"), "parameter"),
        other => {
            return Err(SqlError::not_supported(format!(
                "GRANT ON {}",
                super::object_kind::of(other).words.sql
            )));
        }
    })
}

fn invalid(privilege: u32, what: &str) -> SqlError {
    let message = format!("invalid privilege type {} for {what}", words(privilege));
    SqlError::new(SqlState::INVALID_GRANT_OPERATION, message)
}

fn words(privilege: u32) -> &'static str {
    acl::PRIVILEGES.iter().find(|p| p.bit == privilege).map_or("", |p| p.words)
}

fn privilege(name: &str) -> SqlResult<u32> {
    let name = if name == "temp" { "temporary" } else { name };
    let known = acl::PRIVILEGES.iter().find(|p| p.words.eq_ignore_ascii_case(name));
    known.map(|p| p.bit).ok_or_else(|| sql_err!(SYNTAX_ERROR, "unrecognized privilege type \"{name}\""))
}

fn grantees(session: &Session, specs: &[RoleSpec]) -> SqlResult<Vec<Oid>> {
    let grantee = |spec: &RoleSpec| match spec {
        RoleSpec::Public(_) => Ok(Oid::INVALID),
        spec => Ok(schema::role(session, spec)?.0),
    };
    specs.iter().map(grantee).collect()
}

impl Order {
    fn read(session: &Session, statement: &Grant, (all, what): (u32, &str)) -> SqlResult<Order> {
        let mut order = Order {
            grant: statement.grant,
            privileges: Some(0),
            columns: Vec::new(),
            grantees: grantees(session, &statement.grantees)?,
            option: statement.grant_option,
            cascade: statement.behavior == DropBehavior::Cascade,
        };
        if statement.privileges.is_empty() {
            order.privileges = None;
        }
        for wanted in &statement.privileges {
            let bit = wanted.name.as_deref().map(privilege).transpose()?;
            if !wanted.columns.is_empty() {
                if statement.kind != ObjectKind::Table {
                    let message = "column privileges are only valid for relations";
                    return Err(SqlError::new(SqlState::INVALID_GRANT_OPERATION, message));
                }
                order.columns.push((bit, wanted.columns.clone()));
                continue;
            }
            let bit = bit.ok_or_else(|| SqlError::internal("a privilege without a name"))?;
            if bit & !all != 0 {
                return Err(invalid(bit, what));
            }
            order.privileges = order.privileges.map(|so_far| so_far | bit);
        }
        Ok(order)
    }

    /// The items after the order, which `grantor` gives for these privileges.
    fn apply(
        &self,
        session: &Session,
        mut items: Vec<AclItem>,
        (grantor, owner): (Oid, Oid),
        privileges: u32,
    ) -> SqlResult<Vec<AclItem>> {
        for &grantee in &self.grantees {
            if self.grant && self.option && grantee == Oid::INVALID {
                let message = "grant options can only be granted to roles";
                return Err(SqlError::new(SqlState::INVALID_GRANT_OPERATION, message));
            }
            let item = AclItem {
                grantee,
                grantor,
                // GRANT OPTION FOR takes the option only; anything else that is revoked goes with its option.
                privileges: if self.grant || !self.option { privileges } else { 0 },
                grantable: if !self.grant || self.option { privileges } else { 0 },
            };
            let change = Change { item, grant: self.grant, cascade: self.cascade };
            session.with_reader(|reader| {
                // An error of the catalog counts as no membership; it comes again with the next look.
                let has = |a: Oid, b: Oid| reader.has_privileges_of(a, b).unwrap_or(false);
                acl::change(&mut items, change, owner, &has)
            })?;
        }
        Ok(items)
    }
}

/// DROP OWNED: takes all that a role was granted on an object.
pub(crate) fn revoke_all(session: &Session, object: ObjectAddress, role: Oid) -> SqlResult<()> {
    let order = Order {
        grant: false,
        privileges: None,
        columns: Vec::new(),
        grantees: vec![role],
        option: false,
        cascade: true,
    };
    let oid = object.object;
    if object.class == pg_class::TABLE.oid {
        return relation::change(session, ObjectKind::Table, &order, oid);
    }
    if object.class == pg_default_acl::TABLE.oid {
        return defaults::revoke_all(session, &order, oid);
    }
    if object.class == pg_parameter_acl::TABLE.oid {
        let index = pg_parameter_acl::PG_PARAMETER_ACL_OID_INDEX;
        let row = session.with_reader(|r| r.find_one(&pg_parameter_acl::TABLE, index, &[oid.into()]))?;
        return match row {
            Some((_, row)) => objects::change_parameter(session, &order, row.str(pg_parameter_acl::PARNAME)),
            None => Ok(()),
        };
    }
    match AclKind::of_catalog(object.class) {
        Some(kind) => change(session, &kind, &order, oid),
        None => {
            let what = format!("DROP OWNED of privileges for an object of catalog {}", object.class);
            Err(SqlError::not_supported(what))
        }
    }
}

/// Who is noted as the grantor, and what he may grant: the owner if the user has his rights, else the role with the most
/// grant options among those that the user has the privileges of.
pub(super) fn grantor(
    reader: &Reader<'_>,
    items: &[AclItem],
    owner: Oid,
    privileges: u32,
) -> SqlResult<(Oid, u32)> {
    let me = reader.session.user();
    let facts = reader.role_facts(me)?;
    if me == owner || facts.superuser {
        return Ok((owner, privileges));
    }
    let mut best = (me, 0u32);
    for &role in &facts.inherits {
        let grantable = acl::held_directly(items, owner, role).grantable & privileges;
        if grantable == privileges {
            return Ok((role, grantable));
        }
        if grantable.count_ones() > best.1.count_ones() {
            best = (role, grantable);
        }
    }
    Ok(best)
}

/// What of an order can be carried out; warns of the rest. `what`: the object's kind, for errors; `name`: how warnings call it.
pub(super) fn restrict(
    session: &Session,
    order: &Order,
    (privileges, all): (u32, u32),
    grantable: u32,
    held: acl::Held,
    (what, name): (&str, &str),
) -> SqlResult<u32> {
    if grantable == 0 && (held.privileges | held.grantable) & all == 0 {
        return Err(authority::denied(what, name.trim_matches('"')));
    }
    let possible = privileges & grantable;
    let everything = order.privileges.is_none();
    let (code, verb) = match order.grant {
        true => (SqlState::WARNING_PRIVILEGE_NOT_GRANTED, "were granted"),
        false => (SqlState::WARNING_PRIVILEGE_NOT_REVOKED, "could be revoked"),
    };
    let warn = |quantity: &str| {
        let message = format!("{quantity} privileges {verb} for {name}");
        session.notice(SqlError::with_severity(Severity::Warning, code, message));
    };
    if possible == 0 {
        warn("no");
    } else if !everything && possible != privileges {
        warn("not all");
    }
    Ok(possible)
}

/// Carries out an order on an object that is no relation.
pub(super) fn change(session: &Session, kind: &AclKind, order: &Order, oid: Oid) -> SqlResult<()> {
    let row = session.with_reader(|reader| reader.find_one(kind.table, kind.by_oid, &[oid.into()]))?;
    let Some((_, row)) = row else {
        return Err(SqlError::internal(format!("cache lookup failed for {} {oid}", kind.word)));
    };
    let owner = row.oid(kind.owner);
    let name = match kind.letter == AclKind::LARGE_OBJECT.letter {
        true => oid.to_string(),
        false => row.str(kind.name).to_owned(),
    };
    let old = match acl::optional_items(&row[kind.acl]) {
        Some(items) => items,
        None => acl::default_items(kind.letter, owner)?,
    };
    let privileges = order.privileges.unwrap_or(kind.all);
    let (grantor, grantable, held) = session.with_reader(|reader| {
        let (grantor, grantable) = grantor(reader, &old, owner, privileges)?;
        let held = match kind.table.oid == pg_namespace::TABLE.oid {
            // Some roles may use all schemas.
            true => reader.schema_rights(grantor, oid)?,
            false => reader.rights(grantor, kind.letter, (owner, Some(&old)))?,
        };
        Ok::<_, SqlError>((grantor, grantable, held))
    })?;
    let about = (kind.word, format!("\"{name}\""));
    let possible = restrict(session, order, (privileges, kind.all), grantable, held, (about.0, &about.1))?;
    let new = order.apply(session, old, (grantor, owner), possible)?;
    let address = ObjectAddress { class: kind.class(), object: oid, sub: 0 };
    session.with_changer(|changer| changer.set_acl(kind, address, owner, &new))
}
