//! REASSIGN OWNED and DROP OWNED.
//!
//! # PostgreSQL counterpart
//! `shdepReassignOwned` and `shdepDropOwned` of `catalog/pg_shdepend.c`.

use base::{Oid, SqlError, SqlResult, SqlState};
use catalog::RowExt;
use catalog::authority::{self, AclKind};
use catalog::change::{Behavior, Dependent, ObjectAddress, SharedDependency};
use catalog::system::{
    SystemTable, pg_auth_members, pg_authid, pg_class, pg_collation, pg_conversion, pg_database,
    pg_default_acl, pg_depend, pg_extension, pg_foreign_data_wrapper, pg_foreign_server, pg_language,
    pg_largeobject, pg_namespace, pg_opclass, pg_operator, pg_opfamily, pg_proc, pg_publication,
    pg_statistic_ext, pg_subscription, pg_ts_config, pg_ts_dict, pg_type, pg_user_mapping,
};
use parse::ast::{DropBehavior, RoleSpec};
use session::Session;
use txn::{LockMode, LockWait};

use super::super::owner::check_new_owner;
use super::super::{drop as drop_command, grant, names, policy, publication, subscription};
use super::denied;
use super::membership::roles;

/// The roles of a statement, whose rights the current user must have.
fn permitted(session: &Session, specs: &[RoleSpec], act: &str, may: &str) -> SqlResult<Vec<(Oid, String)>> {
    let roles = roles(session, specs)?;
    for (role, name) in &roles {
        if !session.has_role(*role)? {
            let detail = format!("Only roles with privileges of role \"{name}\" may {may}.");
            return Err(denied(act, detail));
        }
    }
    Ok(roles)
}

/// Objects of this database and shared ones.
fn dependents(session: &Session, role: (Oid, &str), act: &str) -> SqlResult<Vec<Dependent>> {
    if role.0.is_pinned() {
        let message =
            format!("cannot {act} role {} because they are required by the database system", role.1);
        return Err(SqlError::new(SqlState::DEPENDENT_OBJECTS_STILL_EXIST, message));
    }
    let here = session.catalog.database();
    let mut all = session.with_reader(|reader| reader.dependents_of(pg_authid::TABLE.oid, role.0))?;
    all.retain(|dependent| dependent.database == here || !dependent.database.is_valid());
    Ok(all)
}

/// REASSIGN OWNED.
pub(crate) fn reassign(session: &Session, specs: &[RoleSpec], to: &RoleSpec) -> SqlResult<()> {
    let act = "reassign objects";
    let from = permitted(session, specs, act, "reassign objects owned by it")?;
    let to = permitted(session, std::slice::from_ref(to), act, "reassign objects to it")?;
    let owner = to.first().map_or(Oid::INVALID, |(oid, _)| *oid);
    for (role, name) in from.iter().filter(|(role, _)| *role != owner) {
        for dependent in dependents(session, (*role, name), "reassign ownership of objects owned by")? {
            let object = dependent.object;
            match dependent.kind {
                SharedDependency::Owner => reassign_one(session, object, owner)?,
                SharedDependency::InitialAcl => session.with_changer(|changer| {
                    changer.replace_in_initial_privileges(object, *role, Some(owner))
                })?,
                SharedDependency::Acl | SharedDependency::Policy | SharedDependency::Tablespace => {}
            }
        }
    }
    Ok(())
}

fn reassign_one(session: &Session, object: ObjectAddress, owner: Oid) -> SqlResult<()> {
    let oid = object.object;
    check_taker(session, object, owner)?;
    if object.class == pg_class::TABLE.oid {
        names::lock_relation(session, oid, LockMode::AccessExclusive, LockWait::Block)?;
    }
    session.with_changer(|changer| match object.class {
        class if class == pg_class::TABLE.oid => changer.set_relation_owner(oid, owner),
        class if class == pg_type::TABLE.oid => changer.set_type_owner(oid, owner),
        class if class == pg_namespace::TABLE.oid => changer.set_owner(&AclKind::SCHEMA, oid, owner, true),
        class if class == pg_database::TABLE.oid => changer.set_owner(&AclKind::DATABASE, oid, owner, true),
        class if class == pg_proc::TABLE.oid => changer.set_owner(&AclKind::FUNCTION, oid, owner, true),
        class if class == pg_language::TABLE.oid => changer.set_owner(&AclKind::LANGUAGE, oid, owner, true),
        class if class == pg_largeobject::TABLE.oid => {
            changer.set_owner(&AclKind::LARGE_OBJECT, oid, owner, true)
        }
        class if class == pg_foreign_data_wrapper::TABLE.oid => {
            changer.set_owner(&AclKind::FOREIGN_DATA_WRAPPER, oid, owner, true)
        }
        class if class == pg_foreign_server::TABLE.oid => {
            changer.set_owner(&AclKind::FOREIGN_SERVER, oid, owner, true)
        }
        // Default privileges are about objects to come, a mapping is the user's own: DROP OWNED takes them.
        class if class == pg_default_acl::TABLE.oid || class == pg_user_mapping::TABLE.oid => Ok(()),
        class => match columns(class) {
            Some((_, column, _)) => changer.set_object_owner(object, column, owner),
            None => Err(SqlError::not_supported(format!("REASSIGN OWNED of an object of catalog {class}"))),
        },
    })
}

/// Where objects without privileges of their own have their owner and their schema: catalog and columns. An extension is no part of its
/// schema.
fn columns(class: Oid) -> Option<(&'static SystemTable, usize, Option<usize>)> {
    let all = [
        (&pg_operator::TABLE, pg_operator::OPROWNER, Some(pg_operator::OPRNAMESPACE)),
        (&pg_opclass::TABLE, pg_opclass::OPCOWNER, Some(pg_opclass::OPCNAMESPACE)),
        (&pg_opfamily::TABLE, pg_opfamily::OPFOWNER, Some(pg_opfamily::OPFNAMESPACE)),
        (&pg_collation::TABLE, pg_collation::COLLOWNER, Some(pg_collation::COLLNAMESPACE)),
        (&pg_conversion::TABLE, pg_conversion::CONOWNER, Some(pg_conversion::CONNAMESPACE)),
        (&pg_extension::TABLE, pg_extension::EXTOWNER, None),
        (&pg_publication::TABLE, pg_publication::PUBOWNER, None),
        (&pg_statistic_ext::TABLE, pg_statistic_ext::STXOWNER, Some(pg_statistic_ext::STXNAMESPACE)),
        (&pg_subscription::TABLE, pg_subscription::SUBOWNER, None),
        (&pg_ts_config::TABLE, pg_ts_config::CFGOWNER, Some(pg_ts_config::CFGNAMESPACE)),
        (&pg_ts_dict::TABLE, pg_ts_dict::DICTOWNER, Some(pg_ts_dict::DICTNAMESPACE)),
    ];
    all.into_iter().find(|(catalog, ..)| catalog.oid == class)
}

/// Fails where ALTER … OWNER TO would for want of a right; relations and types pass unasked.
fn check_taker(session: &Session, object: ObjectAddress, owner: Oid) -> SqlResult<()> {
    if object.class == pg_namespace::TABLE.oid {
        names::check_may_become(session, owner)?;
        if !names::holds_on_database(session, "C")? {
            return Err(authority::denied("database", session.catalog.database_name()));
        }
    } else if object.class == pg_database::TABLE.oid {
        names::check_may_become(session, owner)?;
    } else if let Some((catalog, _, Some(schema))) = columns(object.class) {
        if let Some(row) = session.with_reader(|reader| reader.object_row(catalog, object.object))? {
            check_new_owner(session, owner, row.oid(schema))?;
        }
    } else if object.class == pg_subscription::TABLE.oid {
        subscription::check_taker(session, owner)?;
    } else if object.class == pg_publication::TABLE.oid && !session.has_all_rights()? {
        let row = session.with_reader(|reader| reader.object_row(&pg_publication::TABLE, object.object))?;
        row.map_or(Ok(()), |row| publication::check_taker(session, &row, owner))?;
    } else if object.class == pg_proc::TABLE.oid
        && let Some(row) = session.with_reader(|reader| reader.routine_row(object.object))?
    {
        check_new_owner(session, owner, row.oid(pg_proc::PRONAMESPACE))?;
    }
    Ok(())
}

/// DROP OWNED.
pub(crate) fn drop(session: &Session, specs: &[RoleSpec], behavior: DropBehavior) -> SqlResult<()> {
    let roles = permitted(session, specs, "drop objects", "drop objects owned by it")?;
    let mut doomed = Vec::new();
    for (role, name) in &roles {
        for dependent in dependents(session, (*role, name), "drop objects owned by")? {
            let object = dependent.object;
            match dependent.kind {
                SharedDependency::Acl if object.class == pg_auth_members::TABLE.oid => {
                    session.with_changer(|changer| changer.drop_membership(object.object))?;
                }
                SharedDependency::Acl => grant::revoke_all(session, object, *role)?,
                SharedDependency::InitialAcl => session
                    .with_changer(|changer| changer.replace_in_initial_privileges(object, *role, None))?,
                SharedDependency::Policy => {
                    if !policy::remove_role(session, object.object, (*role, name))? {
                        doomed.push(object);
                    }
                }
                SharedDependency::Owner if dependent.database.is_valid() => {
                    if object.class == pg_class::TABLE.oid {
                        let mode = LockMode::AccessExclusive;
                        names::lock_relation(session, object.object, mode, LockWait::Block)?;
                    }
                    if !is_part(session, object)? {
                        doomed.push(object);
                    }
                }
                // Shared objects are dropped by their own commands only.
                SharedDependency::Owner | SharedDependency::Tablespace => {}
            }
        }
    }
    if doomed.is_empty() {
        return Ok(());
    }
    doomed.sort_by_key(|object| std::cmp::Reverse(object.object));
    let behavior = match behavior {
        DropBehavior::Restrict => Behavior::Restrict,
        DropBehavior::Cascade => Behavior::Cascade,
    };
    let notice = session.with_changer(|changer| changer.drop_objects(&doomed, behavior))?;
    drop_command::tell(session, notice);
    Ok(())
}

/// Whether an object implements another, and goes with it.
fn is_part(session: &Session, object: ObjectAddress) -> SqlResult<bool> {
    let key = [object.class.into(), object.object.into(), 0i32.into()];
    let index = pg_depend::PG_DEPEND_DEPENDER_INDEX;
    let rows = session.with_reader(|reader| reader.find(&pg_depend::TABLE, index, &key))?;
    Ok(rows.iter().any(|(_, row)| row.char(pg_depend::DEPTYPE) == b'i'))
}
