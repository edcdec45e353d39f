//! Replication origins: names and numbers of the servers whose changes are applied here. How far each has come is kept in [`txn::origin`].

use base::{Oid, SqlResult, sql_err};

use super::Changer;
use crate::database::Reader;
use crate::row::{Row, RowBuilder, RowExt};
use crate::system::pg_replication_origin as o;

/// Numbers above are not given: one of them stands for "do not replicate" in PostgreSQL.
const LAST: u32 = 0xFFFE;

impl Reader<'_> {
    /// The number of the origin of this name.
    pub fn origin_by_name(&self, name: &str) -> SqlResult<Option<u16>> {
        let found = self.find_one(&o::TABLE, o::PG_REPLICATION_ORIGIN_RONAME_INDEX, &[name.into()])?;
        Ok(found.map(|(_, row)| number(&row)))
    }

    /// The name of the origin of this number.
    pub fn origin_name(&self, number: u16) -> SqlResult<Option<String>> {
        let key = [Oid(number.into()).into()];
        let found = self.find_one(&o::TABLE, o::PG_REPLICATION_ORIGIN_ROIIDENT_INDEX, &key)?;
        Ok(found.map(|(_, row)| row.str(o::RONAME).to_owned()))
    }
}

impl Changer<'_> {
    /// Enters an origin; its number is the first that is free. The caller keeps others from doing the same meanwhile.
    pub fn create_origin(&mut self, name: &str) -> SqlResult<u16> {
        let rows = self.reader().scan(&o::TABLE)?;
        let mut taken: Vec<u16> = rows.iter().map(|(_, row)| number(row)).collect();
        taken.sort_unstable();
        let free = (1..=LAST).find(|wanted| taken.binary_search(&(*wanted as u16)).is_err());
        let free = free
            .ok_or_else(|| sql_err!(PROGRAM_LIMIT_EXCEEDED, "could not find free replication origin ID"))?;
        let row = RowBuilder::new(&o::TABLE).set(o::ROIDENT, Oid(free)).set(o::RONAME, name);
        self.insert(&o::TABLE, &row.build())?;
        self.next_command()?;
        Ok(free as u16)
    }

    /// Removes an origin; its number, if there was one of this name.
    pub fn drop_origin(&mut self, name: &str) -> SqlResult<Option<u16>> {
        let found =
            self.reader().find_one(&o::TABLE, o::PG_REPLICATION_ORIGIN_RONAME_INDEX, &[name.into()])?;
        let Some((place, row)) = found else { return Ok(None) };
        self.delete(&o::TABLE, place, &row)?;
        self.next_command()?;
        Ok(Some(number(&row)))
    }
}

fn number(row: &Row) -> u16 {
    row.oid(o::ROIDENT).0 as u16
}
