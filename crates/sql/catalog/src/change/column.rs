//! Columns of existing tables, and their defaults.

use base::{Oid, SqlResult};
use tuple::Datum;
use tuple::varlena::Compression;

use super::{Changer, NewColumn, NewDefault, ObjectAddress};
use crate::row::RowExt;
use crate::system::{pg_attrdef, pg_attribute, pg_class, pg_statistic};
use crate::view::Generated;

impl Changer<'_> {
    /// Appends a column. Returns its number.
    pub fn add_column(&mut self, table: Oid, column: &NewColumn) -> SqlResult<i16> {
        let mut number = 0;
        self.edit(&pg_class::TABLE, pg_class::PG_CLASS_OID_INDEX, &[table.into()], |row| {
            number = row.int(pg_class::RELNATTS) as i16 + 1;
            row[pg_class::RELNATTS] = Datum::Int2(number);
        })?;
        self.add_column_row(table, number, column)?;
        if let Some(default) = &column.default {
            self.add_default_row(table, number, default, column.generated)?;
        }
        self.next_command()?;
        self.ensure_toast(table)?;
        Ok(number)
    }

    /// Changes the row of a column.
    pub fn edit_column(
        &mut self,
        table: Oid,
        number: i16,
        edit: impl FnOnce(&mut crate::Row),
    ) -> SqlResult<()> {
        let index = pg_attribute::PG_ATTRIBUTE_RELID_ATTNUM_INDEX;
        self.edit(&pg_attribute::TABLE, index, &[table.into(), number.into()], edit)?;
        self.next_command()
    }

    /// SET NOT NULL and DROP NOT NULL.
    pub fn set_not_null(&mut self, table: Oid, number: i16, not_null: bool) -> SqlResult<()> {
        self.edit_column(table, number, |row| row[pg_attribute::ATTNOTNULL] = Datum::Bool(not_null))
    }

    /// SET STORAGE, the type's own if none is given: for values that are stored from now on.
    pub fn set_storage(
        &mut self,
        table: Oid,
        (number, ty): (i16, Oid),
        storage: Option<u8>,
    ) -> SqlResult<()> {
        let storage = match storage {
            Some(letter) => letter,
            None => self.type_facts(ty)?.storage,
        };
        self.edit_column(table, number, |row| row[pg_attribute::ATTSTORAGE] = storage.into())?;
        self.ensure_toast(table)
    }

    /// SET COMPRESSION, none for the default: for values that are stored from now on.
    pub fn set_compression(&mut self, table: Oid, number: i16, method: Option<Compression>) -> SqlResult<()> {
        let letter = compression_letter(method);
        self.edit_column(table, number, |row| row[pg_attribute::ATTCOMPRESSION] = letter.into())
    }

    /// SET DEFAULT and DROP DEFAULT, or a new generation expression.
    pub fn set_default(
        &mut self,
        table: Oid,
        number: i16,
        default: Option<&NewDefault>,
        generated: Generated,
    ) -> SqlResult<()> {
        let key = [table.into(), number.into()];
        let old =
            self.reader().find_one(&pg_attrdef::TABLE, pg_attrdef::PG_ATTRDEF_ADRELID_ADNUM_INDEX, &key)?;
        if let Some((_, row)) = old {
            let me = ObjectAddress { class: pg_attrdef::TABLE.oid, object: row.oid(pg_attrdef::OID), sub: 0 };
            self.drop_one(me)?;
        }
        if let Some(default) = default {
            self.add_default_row(table, number, default, generated)?;
        }
        self.edit_column(table, number, |row| row[pg_attribute::ATTHASDEF] = Datum::Bool(default.is_some()))
    }

    /// What a column has in rows that do not store it: an array of the one value.
    pub fn set_missing(&mut self, table: Oid, number: i16, list: Datum) -> SqlResult<()> {
        self.edit_column(table, number, |row| {
            row[pg_attribute::ATTHASMISSING] = Datum::Bool(true);
            row[pg_attribute::ATTMISSINGVAL] = list;
        })
    }

    /// All rows of a table store all of its columns.
    pub fn clear_missing(&mut self, table: Oid) -> SqlResult<()> {
        let index = pg_attribute::PG_ATTRIBUTE_RELID_ATTNUM_INDEX;
        let rows = self.reader().find(&pg_attribute::TABLE, index, &[table.into()])?;
        for (_, row) in rows.iter().filter(|(_, row)| row.bool(pg_attribute::ATTHASMISSING)) {
            self.edit_column(table, row.int(pg_attribute::ATTNUM) as i16, no_missing)?;
        }
        Ok(())
    }

    /// Marks a column as dropped: its values stay in the rows but are never read.
    pub(super) fn drop_column(&mut self, table: Oid, number: i16) -> SqlResult<()> {
        let index = pg_attribute::PG_ATTRIBUTE_RELID_ATTNUM_INDEX;
        self.edit(&pg_attribute::TABLE, index, &[table.into(), number.into()], |row| {
            row[pg_attribute::ATTNAME] = Datum::text(&format!("........pg.dropped.{number}........"));
            row[pg_attribute::ATTTYPID] = Datum::Oid(0);
            row[pg_attribute::ATTNOTNULL] = Datum::Bool(false);
            row[pg_attribute::ATTHASDEF] = Datum::Bool(false);
            row[pg_attribute::ATTISDROPPED] = Datum::Bool(true);
            no_missing(row);
        })?;
        let key = [table.into(), number.into()];
        self.delete_where(
            &pg_statistic::TABLE,
            pg_statistic::PG_STATISTIC_RELID_ATT_INH_INDEX,
            &key,
            |_| true,
        )?;
        Ok(())
    }

    /// Removes a default's row.
    pub(super) fn drop_default(&mut self, oid: Oid) -> SqlResult<()> {
        let row =
            self.reader().find_one(&pg_attrdef::TABLE, pg_attrdef::PG_ATTRDEF_OID_INDEX, &[oid.into()])?;
        let Some((place, row)) = row else { return Ok(()) };
        self.delete(&pg_attrdef::TABLE, place, &row)?;
        let key = [row[pg_attrdef::ADRELID].clone(), row[pg_attrdef::ADNUM].clone()];
        self.edit(&pg_attribute::TABLE, pg_attribute::PG_ATTRIBUTE_RELID_ATTNUM_INDEX, &key, |row| {
            row[pg_attribute::ATTHASDEF] = Datum::Bool(false);
        })?;
        Ok(())
    }
}

/// A column of which nothing is known in rows that do not store it.
fn no_missing(row: &mut crate::Row) {
    row[pg_attribute::ATTHASMISSING] = Datum::Bool(false);
    row[pg_attribute::ATTMISSINGVAL] = Datum::Null;
}

/// `attcompression`.
pub(super) fn compression_letter(method: Option<Compression>) -> u8 {
    match method {
        None => 0,
        Some(Compression::Lz4) => b'l',
        Some(Compression::Pglz) => b'p',
    }
}
