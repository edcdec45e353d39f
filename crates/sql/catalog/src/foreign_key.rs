//! Foreign keys as `pg_constraint` has them.

use base::{Oid, SqlResult};

use crate::database::Reader;
use crate::row::{Row, RowExt};
use crate::system::pg_constraint;
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
    /// False for NOT VALID.
    pub validated: bool,
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
            validated: row.bool(c::CONVALIDATED),
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

    /// Foreign keys that refer to a table, by the triggers that they have there.
    pub fn foreign_keys_to(&self, table: Oid) -> SqlResult<Vec<ForeignKeyInfo>> {
        let mut found: Vec<ForeignKeyInfo> = Vec::new();
        for trigger in self.triggers(table)? {
            if !trigger.internal || found.iter().any(|known| known.oid == trigger.constraint) {
                continue;
            }
            found.extend(self.foreign_key(trigger.constraint)?.filter(|key| key.foreign.table == table));
        }
        Ok(found)
    }
}
