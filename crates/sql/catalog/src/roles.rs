//! Roles and databases: the catalogs that all databases share. They are read directly, for they matter at login and in DDL
//! only.

use base::{Oid, SqlResult};

use crate::database::Reader;
use crate::row::RowExt;
use crate::system::{pg_authid, pg_database};

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
    /// CREATEDB
    pub create_database: bool,
    /// CREATEROLE
    pub create_role: bool,
    /// CONNECTION LIMIT; -1 for none.
    pub connection_limit: i32,
    /// Password verifier.
    pub password: Option<String>,
}

/// A database (`pg_database`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseRow {
    /// OID.
    pub oid: Oid,
    /// Name.
    pub name: String,
    /// ALLOW_CONNECTIONS
    pub allow_connections: bool,
    /// CONNECTION LIMIT; -1 for none.
    pub connection_limit: i32,
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

    /// A database by name.
    pub fn database_by_name(&self, name: &str) -> SqlResult<Option<DatabaseRow>> {
        let row =
            self.find_one(&pg_database::TABLE, pg_database::PG_DATABASE_DATNAME_INDEX, &[name.into()])?;
        Ok(row.map(|(_, row)| DatabaseRow {
            oid: row.oid(pg_database::OID),
            name: row.str(pg_database::DATNAME).to_owned(),
            allow_connections: row.bool(pg_database::DATALLOWCONN),
            connection_limit: row.int(pg_database::DATCONNLIMIT),
        }))
    }
}

fn role(row: &[tuple::Datum]) -> Role {
    Role {
        oid: row.oid(pg_authid::OID),
        name: row.str(pg_authid::ROLNAME).to_owned(),
        superuser: row.bool(pg_authid::ROLSUPER),
        login: row.bool(pg_authid::ROLCANLOGIN),
        create_database: row.bool(pg_authid::ROLCREATEDB),
        create_role: row.bool(pg_authid::ROLCREATEROLE),
        connection_limit: row.int(pg_authid::ROLCONNLIMIT),
        password: row.opt_str(pg_authid::ROLPASSWORD).map(str::to_owned),
    }
}
