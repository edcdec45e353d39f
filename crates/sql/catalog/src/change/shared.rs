//! Which objects of which databases need which roles (`pg_shdepend`): as owners and in ACLs.
//!
//! Built-in roles are pinned by their OID range: nothing records that an object needs them.

use base::{Oid, SqlResult};
use types::acl::AclItem;

use super::{Changer, ObjectAddress};
use crate::database::Reader;
use crate::row::{Row, RowBuilder, RowExt};
use crate::system::{self, pg_authid, pg_shdepend as d};

/// How an object needs a role (`pg_shdepend.deptype`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoleDependency {
    /// The role owns it.
    Owner,
    /// The role stands in its ACL.
    Acl,
}

impl RoleDependency {
    fn letter(self) -> u8 {
        match self {
            RoleDependency::Owner => b'o',
            RoleDependency::Acl => b'a',
        }
    }
}

/// An object that needs a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependent {
    /// Its database; 0 if it is shared.
    pub database: Oid,
    /// The object.
    pub object: ObjectAddress,
    /// How.
    pub kind: RoleDependency,
}

impl Reader<'_> {
    /// What needs a role, in all databases.
    pub fn dependents_of_role(&self, role: Oid) -> SqlResult<Vec<Dependent>> {
        let key = [pg_authid::TABLE.oid.into(), role.into()];
        let rows = self.find(&d::TABLE, d::PG_SHDEPEND_REFERENCE_INDEX, &key)?;
        let dependent = |row: &Row| Dependent {
            database: row.oid(d::DBID),
            object: ObjectAddress {
                class: row.oid(d::CLASSID),
                object: row.oid(d::OBJID),
                sub: row.int(d::OBJSUBID) as i16,
            },
            kind: if row.char(d::DEPTYPE) == b'o' { RoleDependency::Owner } else { RoleDependency::Acl },
        };
        Ok(rows.iter().map(|(_, row)| dependent(row)).collect())
    }
}

impl Changer<'_> {
    /// The database that `pg_shdepend` names for objects of a catalog.
    fn database_of(&self, class: Oid) -> Oid {
        let shared = system::tables().any(|table| table.oid == class && table.shared);
        if shared { Oid::INVALID } else { self.catalog.database() }
    }

    fn dependent_key(&self, object: ObjectAddress) -> [tuple::Datum; 4] {
        let database = self.database_of(object.class);
        [database.into(), object.class.into(), object.object.into(), i32::from(object.sub).into()]
    }

    fn depend_on_role(&mut self, object: ObjectAddress, role: Oid, kind: RoleDependency) -> SqlResult<()> {
        if role.is_pinned() || !role.is_valid() {
            return Ok(());
        }
        let row = RowBuilder::new(&d::TABLE)
            .set(d::DBID, self.database_of(object.class))
            .set(d::CLASSID, object.class)
            .set(d::OBJID, object.object)
            .set(d::OBJSUBID, i32::from(object.sub))
            .set(d::REFCLASSID, pg_authid::TABLE.oid)
            .set(d::REFOBJID, role)
            .set(d::DEPTYPE, kind.letter());
        self.insert(&d::TABLE, &row.build())
    }

    /// Records who owns a new object.
    pub fn depend_on_owner(&mut self, object: ObjectAddress, owner: Oid) -> SqlResult<()> {
        self.depend_on_role(object, owner, RoleDependency::Owner)
    }

    /// Records that an object has another owner.
    pub fn change_owner_dependency(&mut self, object: ObjectAddress, owner: Oid) -> SqlResult<()> {
        self.forget_roles(object, Some(RoleDependency::Owner))?;
        self.depend_on_owner(object, owner)
    }

    /// Records which roles an object's ACL names; its owner it needs anyway.
    pub fn change_acl_dependencies(
        &mut self,
        object: ObjectAddress,
        owner: Oid,
        items: &[AclItem],
    ) -> SqlResult<()> {
        let mut roles: Vec<Oid> = items.iter().flat_map(|item| [item.grantee, item.grantor]).collect();
        roles.sort_unstable();
        roles.dedup();
        self.forget_roles(object, Some(RoleDependency::Acl))?;
        let mut others = roles.into_iter().filter(|role| *role != owner);
        others.try_for_each(|role| self.depend_on_role(object, role, RoleDependency::Acl))
    }

    /// Forgets which roles an object needs, or those that it needs in one way.
    pub(crate) fn forget_roles(
        &mut self,
        object: ObjectAddress,
        kind: Option<RoleDependency>,
    ) -> SqlResult<()> {
        let key = self.dependent_key(object);
        // A whole relation goes with its columns.
        let columns = if object.sub == 0 && kind.is_none() { 3 } else { 4 };
        self.delete_where(&d::TABLE, d::PG_SHDEPEND_DEPENDER_INDEX, &key[..columns], |row| {
            kind.is_none_or(|kind| row.char(d::DEPTYPE) == kind.letter())
        })?;
        Ok(())
    }
}
