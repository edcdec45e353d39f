//! Databases: their rows in `pg_database`, and what other shared catalogs have of them.

use base::{Oid, SqlResult};
use tuple::Datum;

use super::{Changer, ObjectAddress};
use crate::row::{Row, RowExt};
use crate::system::{pg_database as d, pg_db_role_setting as s, pg_shdepend as h};

impl Changer<'_> {
    /// Enters a database that is a copy of another: the copied one's row, as `edit` changes it. What its objects need of roles is as in the
    /// copied one.
    pub fn create_database(&mut self, copied: &Row, oid: Oid, edit: impl FnOnce(&mut Row)) -> SqlResult<()> {
        let mut row = copied.clone();
        row[d::DATACL] = Datum::Null;
        edit(&mut row);
        row[d::OID] = oid.into();
        self.insert(&d::TABLE, &row)?;
        let index = h::PG_SHDEPEND_DEPENDER_INDEX;
        for (_, mut needed) in self.reader().find(&h::TABLE, index, &[copied.oid(d::OID).into()])? {
            needed[h::DBID] = oid.into();
            self.insert(&h::TABLE, &needed)?;
        }
        self.depend_on_owner(database_address(oid), row.oid(d::DATDBA))?;
        self.next_command()
    }

    /// Changes the row of a database.
    pub fn edit_database(&mut self, oid: Oid, edit: impl FnOnce(&mut Row)) -> SqlResult<()> {
        self.edit(&d::TABLE, d::PG_DATABASE_OID_INDEX, &[oid.into()], edit)?;
        self.next_command()
    }

    /// Removes a database without sessions, with its settings and its comment. The caller removes its files.
    pub fn drop_database(&mut self, oid: Oid) -> SqlResult<()> {
        self.delete_where(&d::TABLE, d::PG_DATABASE_OID_INDEX, &[oid.into()], |_| true)?;
        self.delete_where(&s::TABLE, s::PG_DB_ROLE_SETTING_DATABASEID_ROL_INDEX, &[oid.into()], |_| true)?;
        self.set_shared_comment(database_address(oid), None)?;
        self.delete_where(&h::TABLE, h::PG_SHDEPEND_DEPENDER_INDEX, &[oid.into()], |_| true)?;
        self.forget_shared(database_address(oid), None)?;
        self.next_command()
    }
}

fn database_address(oid: Oid) -> ObjectAddress {
    ObjectAddress { class: d::TABLE.oid, object: oid, sub: 0 }
}
