//! Constraints of tables (`pg_constraint`).

use base::{Oid, SqlResult};
use tuple::Datum;

use super::{Changer, Dependency, ObjectAddress, Origin};
use crate::foreign_key::ForeignKey;
use crate::row::{RowBuilder, RowExt};
use crate::system::{pg_class, pg_constraint};
use crate::vectors::{int2_array, oid_array};

/// A constraint to be made.
#[derive(Clone, Debug)]
pub struct NewConstraint {
    /// Name.
    pub name: String,
    /// Schema: the table's.
    pub schema: Oid,
    /// Table.
    pub table: Oid,
    /// `pg_constraint.contype`: `p`, `u`, `x`, `c`, `n` or `f`.
    pub kind: u8,
    /// Columns.
    pub columns: Vec<i16>,
    /// Further columns of its index (INCLUDE).
    pub including: Vec<i16>,
    /// Of an exclusion constraint or a key WITHOUT OVERLAPS, the operator of each column; otherwise empty.
    pub excluders: Vec<Oid>,
    /// WITHOUT OVERLAPS, or PERIOD of a foreign key: the last column is special.
    pub period: bool,
    /// Index that implements it, 0 for CHECK and NOT NULL.
    pub index: Oid,
    /// Stored expression of a CHECK.
    pub check: Option<String>,
    /// What it needs beside columns.
    pub needs: Vec<ObjectAddress>,
    /// DEFERRABLE.
    pub deferrable: bool,
    /// INITIALLY DEFERRED.
    pub deferred: bool,
    /// NO INHERIT.
    pub no_inherit: bool,
    /// False for NOT ENFORCED.
    pub enforced: bool,
    /// False for NOT VALID, and for NOT ENFORCED.
    pub validated: bool,
    /// Where it comes from.
    pub origin: Origin,
    /// The constraint of the partitioned table that it is a part of; 0 if none.
    pub parent: Oid,
    /// What a foreign key refers to; its index is the referenced table's.
    pub foreign: Option<ForeignKey>,
}

/// A constraint as `pg_constraint` has it.
#[derive(Clone, Debug, PartialEq)]
pub struct ConstraintInfo {
    /// OID.
    pub oid: Oid,
    /// Name.
    pub name: String,
    /// `contype`.
    pub kind: u8,
    /// Columns.
    pub columns: Vec<i16>,
    /// Its index; 0 if none.
    pub index: Oid,
    /// False for NOT ENFORCED.
    pub enforced: bool,
    /// VALIDATEd.
    pub validated: bool,
    /// NO INHERIT.
    pub no_inherit: bool,
    /// Where it comes from.
    pub origin: Origin,
    /// The constraint that it is a part of; 0 if none.
    pub parent: Oid,
    /// Stored expression of a CHECK.
    pub check: Option<std::sync::Arc<str>>,
}

impl ConstraintInfo {
    /// Whether it is the NOT NULL of this column.
    pub fn is_not_null_of(&self, column: i16) -> bool {
        self.kind == b'n' && self.columns == [column]
    }
}

impl crate::Reader<'_> {
    /// All constraints of a table, NOT NULL among them.
    pub fn constraints(&self, table: Oid) -> SqlResult<Vec<ConstraintInfo>> {
        use pg_constraint as c;
        let index = c::PG_CONSTRAINT_CONRELID_CONTYPID_CONNAME_INDEX;
        let rows = self.find(&c::TABLE, index, &[table.into()])?;
        let info = |row: &crate::Row| ConstraintInfo {
            oid: row.oid(c::OID),
            name: row.str(c::CONNAME).to_owned(),
            kind: row.char(c::CONTYPE),
            columns: crate::vectors::int2s(&row[c::CONKEY]),
            index: row.oid(c::CONINDID),
            enforced: row.bool(c::CONENFORCED),
            validated: row.bool(c::CONVALIDATED),
            no_inherit: row.bool(c::CONNOINHERIT),
            origin: Origin { local: row.bool(c::CONISLOCAL), inherited: row.int(c::CONINHCOUNT) as i16 },
            parent: row.oid(c::CONPARENTID),
            check: row.opt_str(c::CONBIN).map(Into::into),
        };
        Ok(rows.iter().map(|(_, row)| info(row)).collect())
    }

    /// Whether a table has a constraint of this name.
    pub fn has_constraint(&self, table: Oid, name: &str) -> SqlResult<bool> {
        use pg_constraint as c;
        let key = [table.into(), Oid::INVALID.into(), name.into()];
        Ok(!self.find(&c::TABLE, c::PG_CONSTRAINT_CONRELID_CONTYPID_CONNAME_INDEX, &key)?.is_empty())
    }

    /// Whether some constraint of a schema has this name.
    pub fn constraint_name_taken(&self, schema: Oid, name: &str) -> SqlResult<bool> {
        use pg_constraint as c;
        let key = [name.into(), schema.into()];
        Ok(!self.find(&c::TABLE, c::PG_CONSTRAINT_CONNAME_NSP_INDEX, &key)?.is_empty())
    }
}

impl Changer<'_> {
    /// Renames a constraint; its index, if it has one, is the caller's.
    pub fn rename_constraint(&mut self, oid: Oid, name: &str) -> SqlResult<()> {
        self.edit_constraint(oid, |row| row[pg_constraint::CONNAME] = Datum::text(name))
    }

    /// Changes a constraint's row.
    pub fn edit_constraint(&mut self, oid: Oid, edit: impl FnOnce(&mut crate::Row)) -> SqlResult<()> {
        let index = pg_constraint::PG_CONSTRAINT_OID_INDEX;
        self.edit(&pg_constraint::TABLE, index, &[oid.into()], edit)?;
        self.next_command()
    }

    /// Notes that all rows satisfy a constraint.
    pub fn validate_constraint(&mut self, oid: Oid) -> SqlResult<()> {
        self.edit_constraint(oid, |row| row[pg_constraint::CONVALIDATED] = Datum::Bool(true))
    }

    /// Enters a constraint. Returns its OID.
    pub fn add_constraint(&mut self, new: &NewConstraint) -> SqlResult<Oid> {
        use pg_constraint as c;
        let oid = self.new_oid();
        let key = (!new.columns.is_empty()).then(|| int2_array(&new.columns)).transpose()?;
        let row = RowBuilder::new(&c::TABLE)
            .set(c::OID, oid)
            .set(c::CONNAME, new.name.as_str())
            .set(c::CONNAMESPACE, new.schema)
            .set(c::CONTYPE, new.kind)
            .set(c::CONDEFERRABLE, new.deferrable)
            .set(c::CONDEFERRED, new.deferred)
            .set(c::CONENFORCED, new.enforced)
            .set(c::CONVALIDATED, new.validated)
            .set(c::CONRELID, new.table)
            .set(c::CONINDID, new.index)
            .set(c::CONFUPDTYPE, b' ')
            .set(c::CONFDELTYPE, b' ')
            .set(c::CONFMATCHTYPE, b' ')
            .set(c::CONPARENTID, new.parent)
            .set(c::CONISLOCAL, new.origin.local)
            .set(c::CONINHCOUNT, new.origin.inherited)
            .set(c::CONNOINHERIT, new.no_inherit)
            .set(c::CONPERIOD, new.period)
            .set_some(c::CONKEY, key)
            .set_some(c::CONBIN, new.check.as_deref());
        let row = match &new.foreign {
            None => row,
            Some(foreign) => row
                .set(c::CONFRELID, foreign.table)
                .set(c::CONFKEY, int2_array(&foreign.columns)?)
                .set(c::CONFUPDTYPE, foreign.on_update)
                .set(c::CONFDELTYPE, foreign.on_delete)
                .set(c::CONFMATCHTYPE, foreign.matching)
                .set(c::CONPFEQOP, oid_array(&foreign.equal[0])?)
                .set(c::CONPPEQOP, oid_array(&foreign.equal[1])?)
                .set(c::CONFFEQOP, oid_array(&foreign.equal[2])?),
        };
        let mut row = row.build();
        if let Some(foreign) = new.foreign.as_ref().filter(|foreign| !foreign.delete_columns.is_empty()) {
            row[c::CONFDELSETCOLS] = int2_array(&foreign.delete_columns)?;
        }
        if !new.excluders.is_empty() {
            row[c::CONEXCLOP] = oid_array(&new.excluders)?;
        }
        self.insert(&c::TABLE, &row)?;
        let me = ObjectAddress::constraint(oid);
        for &column in new.columns.iter().chain(&new.including) {
            self.depend(me, ObjectAddress::column(new.table, column), Dependency::Auto)?;
        }
        if new.columns.is_empty() {
            self.depend(me, ObjectAddress::relation(new.table), Dependency::Auto)?;
        }
        self.depend_on_all(me, new.needs.iter().copied())?;
        if let Some(foreign) = &new.foreign {
            for &column in &foreign.columns {
                self.depend(me, ObjectAddress::column(foreign.table, column), Dependency::Normal)?;
            }
            self.depend(me, ObjectAddress::relation(new.index), Dependency::Normal)?;
            if new.parent.is_valid() {
                self.depend_part(me, new)?;
            }
        } else if new.index.is_valid() {
            self.depend(ObjectAddress::relation(new.index), me, Dependency::Internal)?;
            if new.parent.is_valid() {
                self.depend_part(me, new)?;
            }
        }
        if new.kind == b'c' {
            self.count_check(new.table, 1)?;
        }
        self.next_command()?;
        Ok(oid)
    }

    /// A part of a foreign key for a partition that is referred to is of no use without the whole; a partition that refers keeps its part as
    /// long as it is one.
    fn depend_part(&mut self, me: ObjectAddress, new: &NewConstraint) -> SqlResult<()> {
        let index = pg_constraint::PG_CONSTRAINT_OID_INDEX;
        let whole = self.reader().find_one(&pg_constraint::TABLE, index, &[new.parent.into()])?;
        let same = whole.is_some_and(|(_, row)| row.oid(pg_constraint::CONRELID) == new.table);
        let kind = if same { Dependency::Internal } else { Dependency::Part };
        self.depend(me, ObjectAddress::constraint(new.parent), kind)
    }

    /// Makes a constraint a part of another, or (none) one of its own.
    pub fn set_parent_constraint(&mut self, oid: Oid, parent: Option<Oid>) -> SqlResult<()> {
        let me = ObjectAddress::constraint(oid);
        match parent {
            Some(parent) => self.depend(me, ObjectAddress::constraint(parent), Dependency::Part)?,
            None => self.release_part(me)?,
        }
        self.edit_constraint(oid, |row| {
            row[pg_constraint::CONPARENTID] = parent.unwrap_or(Oid::INVALID).into();
            row[pg_constraint::CONISLOCAL] = parent.is_none().into();
            row[pg_constraint::CONINHCOUNT] = Datum::Int2(i16::from(parent.is_some()));
        })
    }

    fn count_check(&mut self, table: Oid, by: i16) -> SqlResult<()> {
        self.edit(&pg_class::TABLE, pg_class::PG_CLASS_OID_INDEX, &[table.into()], |row| {
            row[pg_class::RELCHECKS] = Datum::Int2(row.int(pg_class::RELCHECKS) as i16 + by);
        })?;
        Ok(())
    }

    /// Removes a constraint's row; its index goes by its dependency.
    pub(super) fn drop_constraint(&mut self, oid: Oid) -> SqlResult<()> {
        let index = pg_constraint::PG_CONSTRAINT_OID_INDEX;
        let Some((place, row)) = self.reader().find_one(&pg_constraint::TABLE, index, &[oid.into()])? else {
            return Ok(());
        };
        self.delete(&pg_constraint::TABLE, place, &row)?;
        if row.char(pg_constraint::CONTYPE) == b'c' && row.oid(pg_constraint::CONRELID).is_valid() {
            self.count_check(row.oid(pg_constraint::CONRELID), -1)?;
        }
        Ok(())
    }
}
