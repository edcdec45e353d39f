//! Foreign keys as `pg_constraint` has them.

use base::{Oid, SqlResult};

use crate::database::Reader;
use crate::row::{Row, RowExt};
use crate::system::{pg_class, pg_constraint, pg_depend, pg_trigger};
use crate::trigger::Trigger;
use crate::vectors;

/// What a foreign key says of the table that it refers to, in the letters of `pg_constraint`.
#[derive(Clone, Debug, PartialEq)]
pub struct ForeignKey {
    /// The referenced table.
    pub table: Oid,
    /// Its columns.
    pub columns: Vec<i16>,
    /// ON UPDATE: a, r, c, n or d.
    pub on_update: u8,
    /// ON DELETE: a, r, c, n or d.
    pub on_delete: u8,
    /// MATCH: s or f.
    pub matching: u8,
    /// Columns of ON DELETE SET NULL or SET DEFAULT; empty: all.
    pub delete_columns: Vec<i16>,
    /// Operators that compare referenced with referencing values, referenced ones, and referencing ones.
    pub equal: [Vec<Oid>; 3],
}

/// A foreign key with its own side.
#[derive(Clone, Debug, PartialEq)]
pub struct ForeignKeyInfo {
    /// The constraint.
    pub oid: Oid,
    /// Its name.
    pub name: String,
    /// The table that refers.
    pub table: Oid,
    /// Its columns.
    pub columns: Vec<i16>,
    /// The referenced table's index.
    pub index: Oid,
    /// False for NOT ENFORCED: then it has no triggers.
    pub enforced: bool,
    /// False for NOT VALID.
    pub validated: bool,
    /// DEFERRABLE.
    pub deferrable: bool,
    /// INITIALLY DEFERRED.
    pub deferred: bool,
    /// The last column holds periods (PERIOD): those of referenced rows together cover that of a referencing one.
    pub period: bool,
    /// The foreign key that it is a part of, for a partition on either side; 0 if none.
    pub parent: Oid,
    /// What it refers to.
    pub foreign: ForeignKey,
}

impl ForeignKeyInfo {
    fn of_row(row: &Row) -> Option<ForeignKeyInfo> {
        use pg_constraint as c;
        (row.char(c::CONTYPE) == b'f').then(|| ForeignKeyInfo {
            oid: row.oid(c::OID),
            name: row.str(c::CONNAME).to_owned(),
            table: row.oid(c::CONRELID),
            columns: vectors::int2s(&row[c::CONKEY]),
            index: row.oid(c::CONINDID),
            enforced: row.bool(c::CONENFORCED),
            validated: row.bool(c::CONVALIDATED),
            deferrable: row.bool(c::CONDEFERRABLE),
            deferred: row.bool(c::CONDEFERRED),
            period: row.bool(c::CONPERIOD),
            parent: row.oid(c::CONPARENTID),
            foreign: ForeignKey {
                table: row.oid(c::CONFRELID),
                columns: vectors::int2s(&row[c::CONFKEY]),
                on_update: row.char(c::CONFUPDTYPE),
                on_delete: row.char(c::CONFDELTYPE),
                matching: row.char(c::CONFMATCHTYPE),
                delete_columns: vectors::int2s(&row[c::CONFDELSETCOLS]),
                equal: [c::CONPFEQOP, c::CONPPEQOP, c::CONFFEQOP].map(|column| vectors::oids(&row[column])),
            },
        })
    }
}

impl Reader<'_> {
    /// The foreign key with this OID.
    pub fn foreign_key(&self, constraint: Oid) -> SqlResult<Option<ForeignKeyInfo>> {
        let index = pg_constraint::PG_CONSTRAINT_OID_INDEX;
        let found = self.find_one(&pg_constraint::TABLE, index, &[constraint.into()])?;
        Ok(found.and_then(|(_, row)| ForeignKeyInfo::of_row(&row)))
    }

    /// Foreign keys of a table, those among them that are parts for partitions that they refer to.
    pub fn foreign_keys_of(&self, table: Oid) -> SqlResult<Vec<ForeignKeyInfo>> {
        let index = pg_constraint::PG_CONSTRAINT_CONRELID_CONTYPID_CONNAME_INDEX;
        let rows = self.find(&pg_constraint::TABLE, index, &[table.into()])?;
        let mut found: Vec<_> = rows.iter().filter_map(|(_, row)| ForeignKeyInfo::of_row(row)).collect();
        found.sort_by_key(|key| key.oid);
        Ok(found)
    }

    /// Foreign keys that refer to a table: they depend on its columns.
    pub fn foreign_keys_to(&self, table: Oid) -> SqlResult<Vec<ForeignKeyInfo>> {
        use pg_depend as d;
        let key = [pg_class::TABLE.oid.into(), table.into()];
        let rows = self.find(&d::TABLE, d::PG_DEPEND_REFERENCE_INDEX, &key)?;
        let constraints = rows.iter().filter(|(_, row)| row.oid(d::CLASSID) == pg_constraint::TABLE.oid);
        let mut oids: Vec<Oid> = constraints.map(|(_, row)| row.oid(d::OBJID)).collect();
        oids.sort_unstable();
        oids.dedup();
        let mut found = Vec::new();
        for oid in oids {
            found.extend(self.foreign_key(oid)?.filter(|key| key.foreign.table == table));
        }
        Ok(found)
    }

    /// The parts of a foreign key, for partitions on either side.
    pub fn foreign_key_parts(&self, constraint: Oid) -> SqlResult<Vec<ForeignKeyInfo>> {
        let index = pg_constraint::PG_CONSTRAINT_CONPARENTID_INDEX;
        let rows = self.find(&pg_constraint::TABLE, index, &[constraint.into()])?;
        let mut found: Vec<_> = rows.iter().filter_map(|(_, row)| ForeignKeyInfo::of_row(row)).collect();
        found.sort_by_key(|key| key.oid);
        Ok(found)
    }

    /// The triggers of a constraint, by OID.
    pub fn constraint_triggers(&self, constraint: Oid) -> SqlResult<Vec<Trigger>> {
        let index = pg_trigger::PG_TRIGGER_TGCONSTRAINT_INDEX;
        let rows = self.find(&pg_trigger::TABLE, index, &[constraint.into()])?;
        let mut found: Vec<_> = rows.iter().map(|(_, row)| Trigger::of_row(row)).collect();
        found.sort_by_key(|trigger| trigger.oid);
        Ok(found)
    }
}
