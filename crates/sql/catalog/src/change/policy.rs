//! Policies (`pg_policy`).

use base::{Oid, SqlResult};
use tuple::Datum;

use super::{Changer, Dependency, ObjectAddress, SharedDependency};
use crate::policy::{Policy, letter};
use crate::row::RowBuilder;
use crate::system::pg_policy as p;
use crate::vectors;

impl ObjectAddress {
    /// A policy.
    pub fn policy(oid: Oid) -> ObjectAddress {
        ObjectAddress { class: p::TABLE.oid, object: oid, sub: 0 }
    }
}

impl Changer<'_> {
    /// Enters a policy of a table; its OID is chosen here. `needs`: what its expressions need, columns of the table among it.
    pub fn create_policy(
        &mut self,
        table: Oid,
        policy: &Policy,
        needs: &[ObjectAddress],
    ) -> SqlResult<ObjectAddress> {
        let oid = self.new_oid();
        let row = RowBuilder::new(&p::TABLE)
            .set(p::OID, oid)
            .set(p::POLNAME, policy.name.as_str())
            .set(p::POLRELID, table)
            .set(p::POLCMD, letter(policy.command))
            .set(p::POLPERMISSIVE, policy.permissive)
            .set(p::POLROLES, vectors::oid_array(&policy.roles)?)
            .set_some(p::POLQUAL, policy.using.as_deref())
            .set_some(p::POLWITHCHECK, policy.check.as_deref());
        self.insert(&p::TABLE, &row.build())?;
        let me = ObjectAddress::policy(oid);
        self.depend_policy(me, table, (&policy.roles, needs))?;
        self.next_command()?;
        Ok(me)
    }

    /// Gives a policy, found by its OID, other roles and expressions.
    pub fn alter_policy(&mut self, table: Oid, policy: &Policy, needs: &[ObjectAddress]) -> SqlResult<()> {
        let me = ObjectAddress::policy(policy.oid);
        let roles = vectors::oid_array(&policy.roles)?;
        self.edit(&p::TABLE, p::PG_POLICY_OID_INDEX, &[policy.oid.into()], |row| {
            row[p::POLROLES] = roles;
            row[p::POLQUAL] = policy.using.as_deref().map_or(Datum::Null, Datum::text);
            row[p::POLWITHCHECK] = policy.check.as_deref().map_or(Datum::Null, Datum::text);
        })?;
        self.forget_dependencies(me)?;
        self.forget_shared(me, Some(SharedDependency::Policy))?;
        self.depend_policy(me, table, (&policy.roles, needs))?;
        self.next_command()
    }

    fn depend_policy(
        &mut self,
        me: ObjectAddress,
        table: Oid,
        (roles, needs): (&[Oid], &[ObjectAddress]),
    ) -> SqlResult<()> {
        self.depend(me, ObjectAddress::relation(table), Dependency::Auto)?;
        self.depend_on_all(me, needs.iter().copied())?;
        roles.iter().try_for_each(|role| self.depend_on_role(me, *role, SharedDependency::Policy))
    }

    /// Gives a policy another name.
    pub fn rename_policy(&mut self, oid: Oid, name: &str) -> SqlResult<()> {
        self.edit(&p::TABLE, p::PG_POLICY_OID_INDEX, &[oid.into()], |row| {
            row[p::POLNAME] = Datum::text(name);
        })?;
        self.next_command()
    }

    /// Takes a role away from a policy; false if it is the only one that this is for.
    pub fn remove_role_of_policy(&mut self, oid: Oid, role: Oid) -> SqlResult<bool> {
        let found = self.reader().find_one(&p::TABLE, p::PG_POLICY_OID_INDEX, &[oid.into()])?;
        let Some((_, row)) = found else { return Ok(true) };
        let mut roles = vectors::oids(&row[p::POLROLES]);
        roles.retain(|other| *other != role);
        if roles.is_empty() {
            return Ok(false);
        }
        let left = vectors::oid_array(&roles)?;
        self.edit(&p::TABLE, p::PG_POLICY_OID_INDEX, &[oid.into()], |row| {
            row[p::POLROLES] = left;
        })?;
        let me = ObjectAddress::policy(oid);
        self.forget_shared(me, Some(SharedDependency::Policy))?;
        roles.iter().try_for_each(|role| self.depend_on_role(me, *role, SharedDependency::Policy))?;
        self.next_command()?;
        Ok(true)
    }
}
