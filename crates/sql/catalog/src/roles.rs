//! Roles and databases: the catalogs that all databases share. What a role may do is cached ([`RoleFacts`]); the rest is read
//! directly, for it matters at login and in DDL only.

use std::collections::hash_map::Entry;
use std::sync::Arc;

use base::{Encoding, Oid, SqlResult};
use rustc_hash::FxHashMap;
use tuple::Datum;
use types::acl::{self, AclItem};

use crate::change::oldest::has_own;
use crate::database::Reader;
use crate::row::RowExt;
use crate::system::{pg_auth_members, pg_authid, pg_database, pg_db_role_setting};
use crate::vectors;

/// Roles that the system knows by their OID.
pub mod predefined {
    use base::Oid;

    /// The owner of the current database is a member of it.
    pub const DATABASE_OWNER: Oid = Oid(6171);
    /// May read all tables, views and sequences.
    pub const READ_ALL_DATA: Oid = Oid(6181);
    /// May write all tables, views and sequences.
    pub const WRITE_ALL_DATA: Oid = Oid(6182);
    /// Watches the server.
    pub const MONITOR: Oid = Oid(3373);
    /// Sees all settings.
    pub const READ_ALL_SETTINGS: Oid = Oid(3374);
    /// Sees what other sessions do.
    pub const READ_ALL_STATS: Oid = Oid(3375);
    /// May COPY from files.
    pub const READ_SERVER_FILES: Oid = Oid(4569);
    /// May COPY to files.
    pub const WRITE_SERVER_FILES: Oid = Oid(4570);
    /// May COPY from and to programs.
    pub const EXECUTE_SERVER_PROGRAM: Oid = Oid(4571);
    /// May cancel statements and end sessions of others.
    pub const SIGNAL_BACKEND: Oid = Oid(4200);
    /// May cancel and end automatic vacuums.
    pub const SIGNAL_AUTOVACUUM_WORKER: Oid = Oid(6392);
    /// May create subscriptions.
    pub const CREATE_SUBSCRIPTION: Oid = Oid(6304);
    /// May run CHECKPOINT.
    pub const CHECKPOINT: Oid = Oid(4544);
    /// May maintain all tables.
    pub const MAINTAIN: Oid = Oid(6337);
    /// May use the connections that are kept for it.
    pub const USE_RESERVED_CONNECTIONS: Oid = Oid(4550);
}

/// A role (`pg_authid`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    /// OID.
    pub oid: Oid,
    /// Name.
    pub name: String,
    /// SUPERUSER
    pub superuser: bool,
    /// LOGIN
    pub login: bool,
    /// INHERIT
    pub inherit: bool,
    /// REPLICATION
    pub replication: bool,
    /// BYPASSRLS
    pub bypass_rls: bool,
    /// CREATEDB
    pub create_database: bool,
    /// CREATEROLE
    pub create_role: bool,
    /// CONNECTION LIMIT; -1 for none.
    pub connection_limit: i32,
    /// Password verifier.
    pub password: Option<String>,
    /// VALID UNTIL: when the password ends, microseconds since 2000-01-01 UTC.
    pub valid_until: Option<i64>,
}

/// A role's attributes and memberships.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoleFacts {
    /// SUPERUSER
    pub superuser: bool,
    /// CREATEROLE
    pub create_role: bool,
    /// CREATEDB
    pub create_database: bool,
    /// REPLICATION
    pub replication: bool,
    /// BYPASSRLS
    pub bypass_rls: bool,
    /// Itself, and the roles whose privileges it inherits, nearest first.
    pub inherits: Vec<Oid>,
    /// Itself, and the roles that it may SET ROLE to.
    pub may_become: Vec<Oid>,
    /// Itself, and the roles that it is a member of in any way.
    pub member_of: Vec<Oid>,
}

/// Which memberships count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Membership {
    /// Those WITH INHERIT.
    Inherit,
    /// Those WITH SET.
    Set,
    /// All.
    Any,
}

/// A row of `pg_auth_members`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct MembershipRow {
    pub oid: Oid,
    pub role: Oid,
    pub member: Oid,
    pub grantor: Oid,
    pub admin: bool,
    pub inherit: bool,
    pub set: bool,
}

/// A database (`pg_database`).
#[derive(Clone, Debug, PartialEq)]
pub struct DatabaseRow {
    /// OID.
    pub oid: Oid,
    /// Name.
    pub name: String,
    /// What its texts are: `UTF8` or `SQL_ASCII`.
    pub encoding: Encoding,
    /// What its collation does.
    pub rules: &'static collation::Rules,
    /// ALLOW_CONNECTIONS
    pub allow_connections: bool,
    /// CONNECTION LIMIT; -1 for none.
    pub connection_limit: i32,
    /// Owner.
    pub owner: Oid,
    /// ACL; `None`: what databases grant by default.
    pub acl: Option<Vec<AclItem>>,
    /// Whether anybody was in it since it was made.
    pub entered: bool,
}

impl Reader<'_> {
    /// A role by name.
    pub fn role(&self, name: &str) -> SqlResult<Option<Role>> {
        let row = self.find_one(&pg_authid::TABLE, pg_authid::PG_AUTHID_ROLNAME_INDEX, &[name.into()])?;
        Ok(row.map(|(_, row)| role(&row)))
    }

    /// A role by OID.
    pub fn role_by_oid(&self, oid: Oid) -> SqlResult<Option<Role>> {
        let row = self.find_one(&pg_authid::TABLE, pg_authid::PG_AUTHID_OID_INDEX, &[oid.into()])?;
        Ok(row.map(|(_, row)| role(&row)))
    }

    /// Name of a role.
    pub fn role_name(&self, oid: Oid) -> SqlResult<Option<String>> {
        let row = self.find_one(&pg_authid::TABLE, pg_authid::PG_AUTHID_OID_INDEX, &[oid.into()])?;
        Ok(row.map(|(_, row)| row.str(pg_authid::ROLNAME).to_owned()))
    }

    /// What a role may do; nothing if there is no such role.
    pub fn role_facts(&self, oid: Oid) -> SqlResult<Arc<RoleFacts>> {
        self.cached(
            |entries| entries.roles.get(&oid).cloned(),
            || self.load_role_facts(oid).map(Arc::new),
            |entries, facts| {
                entries.roles.insert(oid, facts);
            },
        )
    }

    fn load_role_facts(&self, oid: Oid) -> SqlResult<RoleFacts> {
        let Some(role) = self.role_by_oid(oid)? else {
            let me = vec![oid];
            return Ok(RoleFacts {
                inherits: me.clone(),
                may_become: me.clone(),
                member_of: me,
                ..RoleFacts::default()
            });
        };
        let mut memberships = FxHashMap::default();
        let owner = self.database_by_oid(self.catalog.database())?.map(|database| database.owner);
        let mut reached = |through| self.roles_reached(oid, through, owner, &mut memberships);
        Ok(RoleFacts {
            superuser: role.superuser,
            create_role: role.create_role,
            create_database: role.create_database,
            replication: role.replication,
            bypass_rls: role.bypass_rls,
            inherits: reached(Membership::Inherit)?,
            may_become: reached(Membership::Set)?,
            member_of: reached(Membership::Any)?,
        })
    }

    /// A role and those that it reaches through memberships, nearest first. `known`: memberships read so far, by member.
    fn roles_reached(
        &self,
        role: Oid,
        through: Membership,
        database_owner: Option<Oid>,
        known: &mut FxHashMap<Oid, Vec<MembershipRow>>,
    ) -> SqlResult<Vec<Oid>> {
        let mut roles = vec![role];
        let mut next = 0;
        while let Some(&member) = roles.get(next) {
            next += 1;
            let rows = match known.entry(member) {
                Entry::Occupied(rows) => rows.into_mut(),
                Entry::Vacant(place) => place.insert(self.memberships_of(member)?),
            };
            for row in rows.iter() {
                let counts = match through {
                    Membership::Inherit => row.inherit,
                    Membership::Set => row.set,
                    Membership::Any => true,
                };
                if counts && !roles.contains(&row.role) {
                    roles.push(row.role);
                }
            }
            if database_owner == Some(member) && !roles.contains(&predefined::DATABASE_OWNER) {
                roles.push(predefined::DATABASE_OWNER);
            }
        }
        Ok(roles)
    }

    /// Memberships that a role has.
    pub fn memberships_of(&self, member: Oid) -> SqlResult<Vec<MembershipRow>> {
        self.memberships(pg_auth_members::PG_AUTH_MEMBERS_MEMBER_ROLE_INDEX, &[member.into()])
    }

    /// Memberships in a role.
    pub fn memberships_in(&self, role: Oid) -> SqlResult<Vec<MembershipRow>> {
        self.memberships(pg_auth_members::PG_AUTH_MEMBERS_ROLE_MEMBER_INDEX, &[role.into()])
    }

    fn memberships(&self, index: Oid, key: &[Datum]) -> SqlResult<Vec<MembershipRow>> {
        use pg_auth_members as m;
        let membership = |row: &[Datum]| MembershipRow {
            oid: row.oid(m::OID),
            role: row.oid(m::ROLEID),
            member: row.oid(m::MEMBER),
            grantor: row.oid(m::GRANTOR),
            admin: row.bool(m::ADMIN_OPTION),
            inherit: row.bool(m::INHERIT_OPTION),
            set: row.bool(m::SET_OPTION),
        };
        Ok(self.find(&m::TABLE, index, key)?.iter().map(|(_, row)| membership(row)).collect())
    }

    /// Whether a role has all privileges of another: it is that role, inherits from it, or is a superuser.
    pub fn has_privileges_of(&self, role: Oid, of: Oid) -> SqlResult<bool> {
        if role == of {
            return Ok(true);
        }
        let facts = self.role_facts(role)?;
        Ok(facts.superuser || facts.inherits.contains(&of))
    }

    /// Whether a role is a member of another in any way; superusers are members of all.
    pub fn is_member_of(&self, role: Oid, of: Oid) -> SqlResult<bool> {
        let facts = self.role_facts(role)?;
        Ok(facts.superuser || facts.member_of.contains(&of))
    }

    /// Whether a role may SET ROLE to another.
    pub fn may_become(&self, role: Oid, other: Oid) -> SqlResult<bool> {
        let facts = self.role_facts(role)?;
        Ok(facts.superuser || facts.may_become.contains(&other))
    }

    /// Whether a role may grant membership in another.
    pub fn is_admin_of(&self, role: Oid, of: Oid) -> SqlResult<bool> {
        let facts = self.role_facts(role)?;
        if facts.superuser {
            return Ok(true);
        }
        let rows = self.memberships_in(of)?;
        Ok(rows.iter().any(|row| row.admin && facts.member_of.contains(&row.member)))
    }

    /// Whether a role is a superuser; a role that does not exist is none.
    pub fn is_superuser(&self, role: Oid) -> SqlResult<bool> {
        Ok(self.role_facts(role)?.superuser)
    }

    /// A database by name.
    pub fn database_by_name(&self, name: &str) -> SqlResult<Option<DatabaseRow>> {
        let row =
            self.find_one(&pg_database::TABLE, pg_database::PG_DATABASE_DATNAME_INDEX, &[name.into()])?;
        Ok(row.map(|(_, row)| database(&row)))
    }

    /// Settings stored for a database and a role; 0 stands for all.
    pub fn stored_settings(&self, database: Oid, role: Oid) -> SqlResult<Vec<(String, String)>> {
        use pg_db_role_setting::*;
        let key = [database.into(), role.into()];
        let row = self.find_one(&TABLE, PG_DB_ROLE_SETTING_DATABASEID_ROL_INDEX, &key)?;
        let split = |entry: String| entry.split_once('=').map(|(n, v)| (n.to_owned(), v.to_owned()));
        let entries = row.map(|(_, row)| vectors::texts(&row[SETCONFIG])).unwrap_or_default();
        Ok(entries.into_iter().filter_map(split).collect())
    }

    /// A database by OID.
    pub fn database_by_oid(&self, oid: Oid) -> SqlResult<Option<DatabaseRow>> {
        let row = self.find_one(&pg_database::TABLE, pg_database::PG_DATABASE_OID_INDEX, &[oid.into()])?;
        Ok(row.map(|(_, row)| database(&row)))
    }
}

fn database(row: &[Datum]) -> DatabaseRow {
    DatabaseRow {
        oid: row.oid(pg_database::OID),
        name: row.str(pg_database::DATNAME).to_owned(),
        encoding: Encoding::from_number(row.int(pg_database::ENCODING)).unwrap_or_default(),
        rules: rules_of(row),
        allow_connections: row.bool(pg_database::DATALLOWCONN),
        connection_limit: row.int(pg_database::DATCONNLIMIT),
        owner: row.oid(pg_database::DATDBA),
        acl: acl::optional_items(&row[pg_database::DATACL]),
        entered: has_own(row, pg_database::DATFROZENXID),
    }
}

fn role(row: &[Datum]) -> Role {
    Role {
        oid: row.oid(pg_authid::OID),
        name: row.str(pg_authid::ROLNAME).to_owned(),
        superuser: row.bool(pg_authid::ROLSUPER),
        login: row.bool(pg_authid::ROLCANLOGIN),
        inherit: row.bool(pg_authid::ROLINHERIT),
        replication: row.bool(pg_authid::ROLREPLICATION),
        bypass_rls: row.bool(pg_authid::ROLBYPASSRLS),
        create_database: row.bool(pg_authid::ROLCREATEDB),
        create_role: row.bool(pg_authid::ROLCREATEROLE),
        connection_limit: row.int(pg_authid::ROLCONNLIMIT),
        password: row.opt_str(pg_authid::ROLPASSWORD).map(str::to_owned),
        valid_until: match row[pg_authid::ROLVALIDUNTIL] {
            Datum::Int8(at) => Some(at),
            _ => None,
        },
    }
}

/// What a database's collation does. A locale that this server does not know, which CREATE DATABASE refuses, is C.
fn rules_of(row: &[Datum]) -> &'static collation::Rules {
    let provider = collation::Provider::of_letter(row.char(pg_database::DATLOCPROVIDER));
    let provider = provider.unwrap_or(collation::Provider::Libc);
    let locale = match row.opt_str(pg_database::DATLOCALE) {
        Some(locale) => locale,
        None => row.str(pg_database::DATCTYPE),
    };
    let definition = collation::Definition { provider, locale, deterministic: true };
    collation::rules(definition).unwrap_or(&collation::C)
}
