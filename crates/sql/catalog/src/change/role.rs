//! Roles, memberships, and what is stored for their sessions.

use base::{Oid, SqlResult};
use tuple::Datum;

use super::{Changer, ObjectAddress};
use crate::roles::{MembershipRow, Role};
use crate::row::{Row, RowBuilder};
use crate::system::{pg_auth_members as m, pg_authid as a, pg_db_role_setting as s, pg_shdescription};
use crate::vectors::text_array;

fn set_columns(row: &mut Row, role: &Role) {
    row[a::OID] = role.oid.into();
    row[a::ROLNAME] = Datum::text(&role.name);
    row[a::ROLSUPER] = role.superuser.into();
    row[a::ROLINHERIT] = role.inherit.into();
    row[a::ROLCREATEROLE] = role.create_role.into();
    row[a::ROLCREATEDB] = role.create_database.into();
    row[a::ROLCANLOGIN] = role.login.into();
    row[a::ROLREPLICATION] = role.replication.into();
    row[a::ROLBYPASSRLS] = role.bypass_rls.into();
    row[a::ROLCONNLIMIT] = role.connection_limit.into();
    row[a::ROLPASSWORD] = role.password.as_deref().map_or(Datum::Null, Datum::text);
    row[a::ROLVALIDUNTIL] = role.valid_until.map_or(Datum::Null, Datum::Int8);
}

impl Changer<'_> {
    /// Enters a role. Returns the OID that it got.
    pub fn create_role(&mut self, role: &Role) -> SqlResult<Oid> {
        let oid = self.new_oid();
        let mut row = RowBuilder::new(&a::TABLE).build();
        set_columns(&mut row, &Role { oid, ..role.clone() });
        self.insert(&a::TABLE, &row)?;
        self.next_command()?;
        Ok(oid)
    }

    /// Makes a role, found by its OID, what is said here.
    pub fn alter_role(&mut self, role: &Role) -> SqlResult<()> {
        self.edit(&a::TABLE, a::PG_AUTHID_OID_INDEX, &[role.oid.into()], |row| set_columns(row, role))?;
        self.next_command()
    }

    /// Removes a role that nothing needs, with its settings and comment.
    pub fn drop_role(&mut self, role: Oid) -> SqlResult<()> {
        self.delete_where(&a::TABLE, a::PG_AUTHID_OID_INDEX, &[role.into()], |_| true)?;
        for (place, row) in self.reader().scan(&s::TABLE)? {
            if crate::RowExt::oid(&row[..], s::SETROLE) == role {
                self.delete(&s::TABLE, place, &row)?;
            }
        }
        let key = [role.into(), a::TABLE.oid.into()];
        let comments = pg_shdescription::PG_SHDESCRIPTION_O_C_INDEX;
        self.delete_where(&pg_shdescription::TABLE, comments, &key, |_| true)?;
        self.next_command()
    }

    /// Enters a membership (its OID is chosen here), or changes the options of the one with this OID.
    pub fn set_membership(&mut self, membership: &MembershipRow) -> SqlResult<()> {
        let set = |row: &mut Row| {
            row[m::ADMIN_OPTION] = membership.admin.into();
            row[m::INHERIT_OPTION] = membership.inherit.into();
            row[m::SET_OPTION] = membership.set.into();
        };
        if membership.oid.is_valid() {
            self.edit(&m::TABLE, m::PG_AUTH_MEMBERS_OID_INDEX, &[membership.oid.into()], set)?;
            return self.next_command();
        }
        let oid = self.new_oid();
        let mut row = RowBuilder::new(&m::TABLE)
            .set(m::OID, oid)
            .set(m::ROLEID, membership.role)
            .set(m::MEMBER, membership.member)
            .set(m::GRANTOR, membership.grantor)
            .build();
        set(&mut row);
        self.insert(&m::TABLE, &row)?;
        let grantor = [types::acl::AclItem {
            grantee: membership.grantor,
            grantor: membership.grantor,
            privileges: 0,
            grantable: 0,
        }];
        self.change_acl_dependencies(membership_address(oid), Oid::INVALID, &grantor)?;
        self.next_command()
    }

    /// Removes a membership.
    pub fn drop_membership(&mut self, oid: Oid) -> SqlResult<()> {
        self.delete_where(&m::TABLE, m::PG_AUTH_MEMBERS_OID_INDEX, &[oid.into()], |_| true)?;
        self.forget_shared(membership_address(oid), None)?;
        self.next_command()
    }

    /// Stores settings for the sessions of a role in a database; 0 stands for all. None are no row.
    pub fn store_settings(
        &mut self,
        database: Oid,
        role: Oid,
        settings: &[(String, String)],
    ) -> SqlResult<()> {
        let key = [database.into(), role.into()];
        let index = s::PG_DB_ROLE_SETTING_DATABASEID_ROL_INDEX;
        self.delete_where(&s::TABLE, index, &key, |_| true)?;
        if !settings.is_empty() {
            let entries: Vec<String> = settings.iter().map(|(n, v)| format!("{n}={v}")).collect();
            let row = RowBuilder::new(&s::TABLE)
                .set(s::SETDATABASE, database)
                .set(s::SETROLE, role)
                .set(s::SETCONFIG, text_array(&entries));
            self.insert(&s::TABLE, &row.build())?;
        }
        self.next_command()
    }
}

fn membership_address(oid: Oid) -> ObjectAddress {
    ObjectAddress { class: m::TABLE.oid, object: oid, sub: 0 }
}
