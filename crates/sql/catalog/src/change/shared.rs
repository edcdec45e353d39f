//! Which objects of which databases need which roles and tablespaces (`pg_shdepend`): roles as owners, in ACLs and of policies, tablespaces for relations without files, as those of others show by themselves.
//!
//! What is built in is pinned by its OID range: nothing records that an object needs it.

use base::{Oid, SqlResult};
use types::acl::AclItem;

use super::{Changer, ObjectAddress};
use crate::database::Reader;
use crate::row::{Row, RowBuilder, RowExt};
use crate::system::{self, pg_authid, pg_shdepend as d, pg_tablespace};

/// How an object needs a role or tablespace (`pg_shdepend.deptype`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedDependency {
    /// The role owns it.
    Owner,
    /// The role stands in its ACL.
    Acl,
    /// The role stands in the ACL that it began with (`pg_init_privs`).
    InitialAcl,
    /// It is a policy for the role.
    Policy,
    /// It is to be in the tablespace.
    Tablespace,
}

impl SharedDependency {
    fn letter(self) -> u8 {
        match self {
            SharedDependency::Owner => b'o',
            SharedDependency::Acl => b'a',
            SharedDependency::InitialAcl => b'i',
            SharedDependency::Policy => b'r',
            SharedDependency::Tablespace => b't',
        }
    }

    fn from_letter(letter: u8) -> SharedDependency {
        match letter {
            b'o' => SharedDependency::Owner,
            b't' => SharedDependency::Tablespace,
            b'r' => SharedDependency::Policy,
            b'i' => SharedDependency::InitialAcl,
            _ => SharedDependency::Acl,
        }
    }
}

/// An object that needs a role or tablespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependent {
    /// Its database; 0 if it is shared.
    pub database: Oid,
    /// The object.
    pub object: ObjectAddress,
    /// How.
    pub kind: SharedDependency,
}

impl Reader<'_> {
    /// What needs a role or tablespace (a row of this catalog), in all databases.
    pub fn dependents_of(&self, class: Oid, object: Oid) -> SqlResult<Vec<Dependent>> {
        let key = [class.into(), object.into()];
        let rows = self.find(&d::TABLE, d::PG_SHDEPEND_REFERENCE_INDEX, &key)?;
        let dependent = |row: &Row| Dependent {
            database: row.oid(d::DBID),
            object: ObjectAddress {
                class: row.oid(d::CLASSID),
                object: row.oid(d::OBJID),
                sub: row.int(d::OBJSUBID) as i16,
            },
            kind: SharedDependency::from_letter(row.char(d::DEPTYPE)),
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

    pub(super) fn depend_on_role(
        &mut self,
        object: ObjectAddress,
        role: Oid,
        kind: SharedDependency,
    ) -> SqlResult<()> {
        self.depend_on_shared(object, (pg_authid::TABLE.oid, role), kind)
    }

    /// Records the tablespace of a relation without files.
    pub(super) fn depend_on_tablespace(&mut self, object: ObjectAddress, tablespace: Oid) -> SqlResult<()> {
        self.depend_on_shared(object, (pg_tablespace::TABLE.oid, tablespace), SharedDependency::Tablespace)
    }

    fn depend_on_shared(
        &mut self,
        object: ObjectAddress,
        (class, needed): (Oid, Oid),
        kind: SharedDependency,
    ) -> SqlResult<()> {
        if needed.is_pinned() || !needed.is_valid() {
            return Ok(());
        }
        let row = RowBuilder::new(&d::TABLE)
            .set(d::DBID, self.database_of(object.class))
            .set(d::CLASSID, object.class)
            .set(d::OBJID, object.object)
            .set(d::OBJSUBID, i32::from(object.sub))
            .set(d::REFCLASSID, class)
            .set(d::REFOBJID, needed)
            .set(d::DEPTYPE, kind.letter());
        self.insert(&d::TABLE, &row.build())
    }

    /// Records who owns a new object.
    pub fn depend_on_owner(&mut self, object: ObjectAddress, owner: Oid) -> SqlResult<()> {
        self.depend_on_role(object, owner, SharedDependency::Owner)
    }

    /// Records that an object has another owner.
    pub fn change_owner_dependency(&mut self, object: ObjectAddress, owner: Oid) -> SqlResult<()> {
        self.forget_shared(object, Some(SharedDependency::Owner))?;
        self.depend_on_owner(object, owner)
    }

    /// Records which roles an object's ACL names; its owner it needs anyway.
    pub fn change_acl_dependencies(
        &mut self,
        object: ObjectAddress,
        owner: Oid,
        items: &[AclItem],
    ) -> SqlResult<()> {
        self.depend_on_named_roles(object, owner, items, SharedDependency::Acl)
    }

    /// Records that an object needs the roles that an ACL names, but for one.
    pub(super) fn depend_on_named_roles(
        &mut self,
        object: ObjectAddress,
        but: Oid,
        items: &[AclItem],
        kind: SharedDependency,
    ) -> SqlResult<()> {
        let mut roles: Vec<Oid> = items.iter().flat_map(|item| [item.grantee, item.grantor]).collect();
        roles.sort_unstable();
        roles.dedup();
        self.forget_shared(object, Some(kind))?;
        let mut others = roles.into_iter().filter(|role| *role != but);
        others.try_for_each(|role| self.depend_on_role(object, role, kind))
    }

    /// Forgets which roles and tablespaces an object needs, or those that it needs in one way.
    pub(crate) fn forget_shared(
        &mut self,
        object: ObjectAddress,
        kind: Option<SharedDependency>,
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
