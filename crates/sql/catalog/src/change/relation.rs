//! What can be changed of a relation as a whole: its files, name, size, and its end.

use base::{Oid, RelFile, SqlError, SqlResult};
use tuple::Datum;
use txn::{End, LockMode, LockWait, Phase};

use super::Changer;
use crate::cache::Stale;
use crate::row::{Row, RowExt};
use crate::stats::ColumnStatistics;
use crate::system::{
    pg_attrdef, pg_attribute, pg_class, pg_index, pg_inherits, pg_partitioned_table, pg_sequence,
    pg_statistic, pg_type,
};
use crate::view::{CatalogView, RelationKind, SizeEstimate};

impl Changer<'_> {
    /// Gives a relation new empty files (TRUNCATE, rewriting ALTER TABLE); the old ones go with the commit. Index trees
    /// and rows are the caller's. Returns the new file.
    pub fn new_file(&mut self, relation: Oid) -> SqlResult<RelFile> {
        self.new_file_in(relation, None)
    }

    /// The same, in another tablespace (`reltablespace`) if one is given.
    pub fn new_file_in(&mut self, relation: Oid, tablespace: Option<Oid>) -> SqlResult<RelFile> {
        let persistence = |row: &Row| crate::persistence_of(row.char(pg_class::RELPERSISTENCE));
        let make = |changer: &mut Self, row: &Row, _, new| {
            Ok(changer.catalog.engine().create_relation(changer.me, new, persistence(row))?)
        };
        self.replace_file(relation, tablespace, make, |row| {
            row[pg_class::RELPAGES] = Datum::Int4(0);
            row[pg_class::RELTUPLES] = Datum::Float4(-1.0);
            row[pg_class::RELALLVISIBLE] = Datum::Int4(0);
        })
    }

    /// Moves a relation to another tablespace (`reltablespace`). Its TOAST table and indexes are the caller's. One without files only notes it.
    pub fn set_tablespace(&mut self, relation: Oid, tablespace: Oid) -> SqlResult<()> {
        if self.class_of(relation)?.oid(pg_class::RELFILENODE).is_valid() {
            let copy = |changer: &mut Self, row: &Row, old, new| {
                let persistence = crate::persistence_of(row.char(pg_class::RELPERSISTENCE));
                Ok(changer.catalog.engine().copy_relation(changer.me, (new, old), persistence)?)
            };
            return self.replace_file(relation, Some(tablespace), copy, |_| ()).map(drop);
        }
        let me = super::ObjectAddress::relation(relation);
        self.forget_shared(me, Some(super::SharedDependency::Tablespace))?;
        self.depend_on_tablespace(me, tablespace)?;
        self.edit_relation(relation, |row| row[pg_class::RELTABLESPACE] = tablespace.into())
    }

    fn class_of(&self, relation: Oid) -> SqlResult<Row> {
        let key = [relation.into()];
        let row = self.reader().find_one(&pg_class::TABLE, pg_class::PG_CLASS_OID_INDEX, &key)?;
        let missing = || SqlError::internal(format!("cache lookup failed for relation {relation}"));
        row.map(|(_, row)| row).ok_or_else(missing)
    }

    /// Gives a relation other files, which `make` makes, given the old and the new one; the old ones go with the commit. `edit` changes what else its row says of them.
    /// Returns the new file.
    fn replace_file(
        &mut self,
        relation: Oid,
        tablespace: Option<Oid>,
        make: impl FnOnce(&mut Self, &Row, RelFile, RelFile) -> SqlResult<()>,
        edit: impl FnOnce(&mut Row),
    ) -> SqlResult<RelFile> {
        self.lock_index(relation)?;
        let row = self.class_of(relation)?;
        let old = self.reader().file_of(&row);
        let tablespace = tablespace.unwrap_or(row.oid(pg_class::RELTABLESPACE));
        let file = self
            .catalog
            .engine()
            .new_rel_file(self.tablespace_of_files(tablespace), self.catalog.database())?;
        make(self, &row, old, file)?;
        let table = self.table_file_of_index(relation)?;
        self.catalog.engine().txns().serializable().transfer(old, table.unwrap_or(file));
        self.catalog.engine().drop_relation(self.me, old);
        self.edit_relation(relation, |row| {
            row[pg_class::RELFILENODE] = Datum::Oid(file.number);
            row[pg_class::RELTABLESPACE] = tablespace.into();
            edit(row);
        })?;
        Ok(file)
    }

    /// The file of the table of an index; none for other relations. What serializable transactions have read by the index counts, when it goes, as
    /// read of the table.
    fn table_file_of_index(&mut self, relation: Oid) -> SqlResult<Option<RelFile>> {
        let reader = self.reader();
        let Some(index) = reader.index_row(relation)? else { return Ok(None) };
        let key = [index[pg_index::INDRELID].clone()];
        let table = reader.find_one(&pg_class::TABLE, pg_class::PG_CLASS_OID_INDEX, &key)?;
        Ok(table.map(|(_, row)| reader.file_of(&row)))
    }

    /// A relation is dropped. Serializable transactions that have read it conflict with this one; those that have read a dropped index count as having read its table.
    fn tell_serializable(&mut self, relation: Oid, file: RelFile) -> SqlResult<()> {
        if let Some(table) = self.table_file_of_index(relation)? {
            self.catalog.engine().txns().serializable().transfer(file, table);
        } else if let Some(serial) = self.me.serializable() {
            serial.write_all(file)?;
        }
        Ok(())
    }

    /// SET LOGGED, SET UNLOGGED of one relation, which gets new files behind this.
    pub fn set_persistence(&mut self, relation: Oid, letter: char) -> SqlResult<()> {
        self.lock_index(relation)?;
        self.edit_relation(relation, |row| row[pg_class::RELPERSISTENCE] = Datum::Char(letter as u8))
    }

    /// Locks a relation if it is an index. Callers have locked its table, but who renames an index locks that one only.
    pub fn lock_index(&mut self, relation: Oid) -> SqlResult<()> {
        if self.reader().index_row(relation)?.is_some() {
            self.me.lock(self.catalog.lock_tag(relation), LockMode::AccessExclusive, LockWait::Block)?;
        }
        Ok(())
    }

    /// A table's description holds those of its indexes and of its TOAST table: a change of their `pg_class` rows makes the table's stale too.
    pub(super) fn touch_owner(&mut self, relation: Oid) -> SqlResult<()> {
        let reader = self.reader();
        let of_index = reader.index_row(relation)?.map(|row| row.oid(pg_index::INDRELID));
        let of_toast = reader.toast_owner(of_index.unwrap_or(relation))?;
        let stale: Vec<Stale> = of_index.into_iter().chain(of_toast).map(Stale::Relation).collect();
        if !stale.is_empty() {
            super::register_change(self.catalog, self.session, self.me, stale);
        }
        Ok(())
    }

    /// Notes a relation's size as ANALYZE or CREATE INDEX saw it; in place, for several of them may work on a table at a time.
    pub fn set_size(&mut self, relation: Oid, size: SizeEstimate) -> SqlResult<()> {
        self.overwrite_relation(relation, |row| {
            row[pg_class::RELPAGES] = Datum::Int4(size.pages as i32);
            row[pg_class::RELTUPLES] = Datum::Float4(size.tuples);
            row[pg_class::RELALLVISIBLE] = Datum::Int4(size.all_visible as i32);
        })?;
        self.touch_owner(relation)?;
        self.next_command()
    }

    /// Replaces the statistics of one column. `equals` and `less` are the type's operators, 0 if it has none.
    pub fn set_statistics(
        &mut self,
        table: Oid,
        column: i16,
        ty: (Oid, Oid),
        (equals, less): (Oid, Oid),
        stats: &ColumnStatistics,
    ) -> SqlResult<()> {
        let (type_oid, collation) = ty;
        let row = stats.to_row(table, column, type_oid, collation, equals, less)?;
        let key = [table.into(), column.into()];
        let index = pg_statistic::PG_STATISTIC_RELID_ATT_INH_INDEX;
        match self.reader().find_one(&pg_statistic::TABLE, index, &key)? {
            Some((place, old)) => self.update(&pg_statistic::TABLE, place, &old, &row)?,
            None => self.insert(&pg_statistic::TABLE, &row)?,
        }
        self.next_command()
    }

    /// RENAME of a relation; its row type and that one's array type follow.
    pub fn rename_relation(&mut self, relation: Oid, name: &str) -> SqlResult<()> {
        let mut row_type = Oid::INVALID;
        self.edit(&pg_class::TABLE, pg_class::PG_CLASS_OID_INDEX, &[relation.into()], |row| {
            row[pg_class::RELNAME] = Datum::text(name);
            row_type = row.oid(pg_class::RELTYPE);
        })?;
        self.touch_owner(relation)?;
        if row_type.is_valid() {
            self.rename_type(row_type, name)?;
        }
        self.next_command()
    }

    /// Changes the `pg_class` row of a relation (storage parameters, owner, schema, flags).
    pub fn edit_relation(&mut self, relation: Oid, edit: impl FnOnce(&mut Row)) -> SqlResult<()> {
        self.edit(&pg_class::TABLE, pg_class::PG_CLASS_OID_INDEX, &[relation.into()], edit)?;
        self.touch_owner(relation)?;
        self.next_command()
    }

    /// Replaces storage parameters: `name=value`.
    pub fn set_options(&mut self, relation: Oid, options: &[String]) -> SqlResult<()> {
        let array = if options.is_empty() { Datum::Null } else { crate::vectors::text_array(options) };
        self.edit_relation(relation, |row| row[pg_class::RELOPTIONS] = array)
    }

    /// Puts a relation and its indexes' and row type's names into another schema.
    pub fn set_schema(&mut self, relation: Oid, schema: Oid) -> SqlResult<()> {
        let (mut types, mut from, mut kind) = (Vec::new(), Oid::INVALID, 0);
        self.edit_relation(relation, |row| {
            (from, kind) = (row.oid(pg_class::RELNAMESPACE), row.char(pg_class::RELKIND));
            row[pg_class::RELNAMESPACE] = schema.into();
            types.push(row.oid(pg_class::RELTYPE));
        })?;
        if let Some(ty) = types.first().copied().filter(|ty| ty.is_valid()) {
            let array = crate::CatalogView::type_by_oid(&self.reader(), ty)?.map(|t| t.array);
            types.extend(array);
        }
        for ty in types.iter().copied().filter(|ty| ty.is_valid()) {
            self.edit(&pg_type::TABLE, pg_type::PG_TYPE_OID_INDEX, &[ty.into()], |row| {
                row[pg_type::TYPNAMESPACE] = schema.into();
            })?;
        }
        // A type that stands alone is what depends on the schema.
        let me = match types.first() {
            Some(&ty) if kind == RelationKind::Composite.letter() as u8 => super::ObjectAddress::ty(ty),
            _ => super::ObjectAddress::relation(relation),
        };
        self.move_dependency(me, super::ObjectAddress::schema(from), super::ObjectAddress::schema(schema))
    }

    /// With this end of the transaction, the relation or function is gone ([`take_gone`](crate::SessionCatalog::take_gone)).
    pub(super) fn gone_with(&mut self, end: End, object: Oid) {
        let session = self.session.clone();
        let action = move |how| {
            if how == end {
                session.note_gone(object);
            }
        };
        self.me.on_end(Phase::BeforeLocks, Box::new(action));
    }

    /// Removes a relation's rows, and its files with the commit. What depends on it has been dropped.
    pub(super) fn drop_relation(&mut self, oid: Oid) -> SqlResult<()> {
        self.lock_index(oid)?;
        let row = self.reader().find_one(&pg_class::TABLE, pg_class::PG_CLASS_OID_INDEX, &[oid.into()])?;
        let Some((place, row)) = row else { return Ok(()) };
        let file = self.reader().file_of(&row);
        self.tell_serializable(oid, file)?;
        let key = [oid.into()];
        self.delete_where(&pg_index::TABLE, pg_index::PG_INDEX_INDEXRELID_INDEX, &key, |_| true)?;
        self.delete_where(&pg_attribute::TABLE, pg_attribute::PG_ATTRIBUTE_RELID_ATTNUM_INDEX, &key, |_| {
            true
        })?;
        self.delete_where(&pg_attrdef::TABLE, pg_attrdef::PG_ATTRDEF_ADRELID_ADNUM_INDEX, &key, |_| true)?;
        self.delete_where(
            &pg_statistic::TABLE,
            pg_statistic::PG_STATISTIC_RELID_ATT_INH_INDEX,
            &key,
            |_| true,
        )?;
        self.drop_rules(oid, None)?;
        self.delete_where(&pg_sequence::TABLE, pg_sequence::PG_SEQUENCE_SEQRELID_INDEX, &key, |_| true)?;
        self.delete_where(&pg_inherits::TABLE, pg_inherits::PG_INHERITS_RELID_SEQNO_INDEX, &key, |_| true)?;
        self.drop_foreign_source(oid)?;
        let by_table = pg_partitioned_table::PG_PARTITIONED_TABLE_PARTRELID_INDEX;
        self.delete_where(&pg_partitioned_table::TABLE, by_table, &key, |_| true)?;
        if file.number != 0 {
            self.catalog.engine().drop_relation(self.me, file);
        }
        self.gone_with(End::Commit, oid);
        self.delete(&pg_class::TABLE, place, &row)
    }
}

impl crate::Reader<'_> {
    /// `pg_class.reltablespace`: 0 is the database's own.
    pub fn tablespace_of(&self, relation: Oid) -> SqlResult<Oid> {
        let row = self.find_one(&pg_class::TABLE, pg_class::PG_CLASS_OID_INDEX, &[relation.into()])?;
        Ok(row.map_or(Oid::INVALID, |(_, row)| row.oid(pg_class::RELTABLESPACE)))
    }

    /// An index, and its name.
    pub fn open_index(&self, index: Oid) -> SqlResult<(String, engine::OpenIndex)> {
        let missing = || SqlError::internal(format!("cache lookup failed for index {index}"));
        let row = self.find_one(&pg_index::TABLE, pg_index::PG_INDEX_INDEXRELID_INDEX, &[index.into()])?;
        let table = row.ok_or_else(missing)?.1.oid(pg_index::INDRELID);
        let table = self.relation_by_oid(table)?.ok_or_else(missing)?;
        let found = table.indexes.iter().find(|i| i.oid == index).ok_or_else(missing)?;
        Ok((found.name.clone(), found.rel.clone().ok_or_else(missing)?))
    }
}
