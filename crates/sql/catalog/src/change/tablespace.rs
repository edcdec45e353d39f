//! Tablespaces: their rows in `pg_tablespace`, and what other shared catalogs have of them.

use base::{Oid, SqlResult};

use super::{Changer, ObjectAddress};
use crate::authority::AclKind;
use crate::row::{Row, RowBuilder};
use crate::system::pg_tablespace as t;
use crate::text_array;

impl Changer<'_> {
    /// Enters a tablespace. Its files are the caller's. Returns its OID.
    pub fn create_tablespace(&mut self, name: &str, owner: Oid, options: &[String]) -> SqlResult<Oid> {
        let oid = self.new_oid();
        let mut row =
            RowBuilder::new(&t::TABLE).set(t::OID, oid).set(t::SPCNAME, name).set(t::SPCOWNER, owner);
        if !options.is_empty() {
            row = row.set(t::SPCOPTIONS, text_array(options));
        }
        self.insert(&t::TABLE, &row.build())?;
        self.depend_on_owner(address(oid), owner)?;
        self.next_command()?;
        Ok(oid)
    }

    /// Changes the row of a tablespace.
    pub fn edit_tablespace(&mut self, oid: Oid, edit: impl FnOnce(&mut Row)) -> SqlResult<()> {
        self.edit(&t::TABLE, t::PG_TABLESPACE_OID_INDEX, &[oid.into()], edit)?;
        self.next_command()
    }

    /// Removes a tablespace that nothing is in, with its comment. The caller removes its files.
    pub fn drop_tablespace(&mut self, oid: Oid) -> SqlResult<()> {
        self.delete_where(&t::TABLE, t::PG_TABLESPACE_OID_INDEX, &[oid.into()], |_| true)?;
        self.set_shared_comment(address(oid), None)?;
        self.forget_shared(address(oid), None)?;
        self.next_command()
    }
}

fn address(oid: Oid) -> ObjectAddress {
    ObjectAddress { class: AclKind::TABLESPACE.class(), object: oid, sub: 0 }
}
