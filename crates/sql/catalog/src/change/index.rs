//! New indexes: their rows and empty files. Building them is the caller's.

use base::{Oid, SqlError, SqlResult};
use tuple::Datum;
use types::oids;

use super::{Changer, Dependency, NewColumn, NewTable, ObjectAddress};
use crate::database::PG_TOAST;
use crate::row::{RowBuilder, RowExt};
use crate::system::{pg_attribute, pg_class, pg_depend, pg_index};
use crate::vectors::{int2_vector, oid_vector, text_array};
use crate::view::RelationKind;

/// An index to be made.
#[derive(Clone, Debug)]
pub struct NewIndex {
    /// Name.
    pub name: String,
    /// Access method.
    pub method: Oid,
    /// Table it is of.
    pub table: Oid,
    /// The table's schema, owner and persistence, which become the index's.
    pub schema: Oid,
    /// See `schema`.
    pub owner: Oid,
    /// See `schema`.
    pub persistence: u8,
    /// Columns as stored: name and type of each, key columns first. Only name, type, modifier and collation count.
    pub columns: Vec<NewColumn>,
    /// Attribute number in the table of each column; 0 for an expression.
    pub numbers: Vec<i16>,
    /// How many of them are the key.
    pub keys: usize,
    /// Operator class of each key column.
    pub opclasses: Vec<Oid>,
    /// Of each key column: bit 0 DESC, bit 1 NULLS FIRST.
    pub options: Vec<i16>,
    /// Stored expressions of the zeros in `numbers`.
    pub expressions: Vec<String>,
    /// Stored WHERE.
    pub predicate: Option<String>,
    /// Columns of the table that expressions and predicate use.
    pub used: Vec<i16>,
    /// What else they need.
    pub needs: Vec<ObjectAddress>,
    /// UNIQUE.
    pub unique: bool,
    /// NULLS NOT DISTINCT.
    pub nulls_not_distinct: bool,
    /// PRIMARY KEY.
    pub primary: bool,
    /// Rows exclude each other by its constraint: an exclusion constraint's, or that of a key WITHOUT OVERLAPS.
    pub exclusion: bool,
    /// Checked at once: not DEFERRABLE.
    pub immediate: bool,
    /// Whether a constraint will own it: then it depends on that, not on the columns.
    pub for_constraint: bool,
    /// Storage parameters: `name=value`.
    pub parameters: Vec<String>,
    /// Tablespace; 0: the database's own.
    pub tablespace: Oid,
    /// Of a partitioned table: it has no entries of its own, its parts do.
    pub partitioned: bool,
    /// Usable from the beginning; a partitioned one without parts for all partitions is not, nor one that is built while others write.
    pub valid: bool,
    /// Inserts maintain it from the beginning.
    pub ready: bool,
}

impl Changer<'_> {
    /// Enters an index and makes its file. Returns its OID.
    pub fn create_index(&mut self, new: &NewIndex) -> SqlResult<Oid> {
        let oid = self.new_oid();
        let (kind, file) = match new.partitioned {
            true => (RelationKind::PartitionedIndex, Oid::INVALID),
            false => (RelationKind::Index, self.create_file(oid, new.persistence, new.tablespace)?),
        };
        let mut row = self
            .class_row(oid, &new.name, new.schema, new.owner, kind, new.persistence)
            .set(pg_class::RELAM, new.method)
            .set(pg_class::RELFILENODE, file)
            .set(pg_class::RELTABLESPACE, new.tablespace)
            .set(pg_class::RELREPLIDENT, b'n')
            .set(pg_class::RELNATTS, new.columns.len() as i16);
        if !new.parameters.is_empty() {
            row = row.set(pg_class::RELOPTIONS, text_array(&new.parameters));
        }
        self.insert(&pg_class::TABLE, &row.build())?;
        self.gone_with(txn::End::Abort, oid);
        for (i, column) in new.columns.iter().enumerate() {
            self.add_column_row(oid, i as i16 + 1, column)?;
        }
        let row = index_row(oid, new)?;
        self.insert(&pg_index::TABLE, &row)?;
        // Another session may be making an index of the same table.
        self.edit_newest(&pg_class::TABLE, pg_class::PG_CLASS_OID_INDEX, &[new.table.into()], |row| {
            row[pg_class::RELHASINDEX] = Datum::Bool(true);
        })?;
        self.index_dependencies(oid, new)?;
        self.next_command()?;
        Ok(oid)
    }

    fn index_dependencies(&mut self, oid: Oid, new: &NewIndex) -> SqlResult<()> {
        let me = ObjectAddress::relation(oid);
        if new.partitioned {
            self.depend_on_tablespace(me, new.tablespace)?;
        }
        self.depend_on_all(me, new.needs.iter().copied())?;
        self.depend_on_all(me, new.opclasses.iter().map(|class| ObjectAddress::operator_class(*class)))?;
        for column in &new.columns[..new.keys] {
            self.depend_on_collation(me, column.collation)?;
        }
        // A constraint depends on the key's columns, but not on those of expressions.
        let numbers = if new.for_constraint { &[] } else { &new.numbers[..] };
        let mut columns: Vec<i16> = numbers.iter().chain(&new.used).copied().filter(|&n| n > 0).collect();
        columns.sort_unstable();
        columns.dedup();
        if columns.is_empty() && !new.for_constraint {
            return self.depend(me, ObjectAddress::relation(new.table), Dependency::Auto);
        }
        for number in columns {
            self.depend(me, ObjectAddress::column(new.table, number), Dependency::Auto)?;
        }
        Ok(())
    }

    /// The index of a new TOAST table.
    pub(super) fn create_toast_index(&mut self, toast: Oid, name: &str, owner: &NewTable) -> SqlResult<Oid> {
        let column = |name: &str, type_oid| NewColumn {
            name: name.into(),
            type_oid,
            typmod: -1,
            ..NewColumn::default()
        };
        let index = self.create_index(&NewIndex {
            method: engine::indexes::DEFAULT_METHOD.oid,
            name: format!("{name}_index"),
            table: toast,
            schema: PG_TOAST,
            owner: owner.owner,
            persistence: owner.persistence,
            columns: vec![column("chunk_id", oids::oid), column("chunk_seq", oids::int4)],
            numbers: vec![1, 2],
            keys: 2,
            opclasses: vec![Oid(1981), Oid(1978)],
            options: vec![0, 0],
            expressions: Vec::new(),
            predicate: None,
            used: Vec::new(),
            needs: Vec::new(),
            unique: true,
            nulls_not_distinct: false,
            primary: true,
            exclusion: false,
            immediate: true,
            for_constraint: false,
            parameters: Vec::new(),
            tablespace: owner.tablespace,
            partitioned: false,
            valid: true,
            ready: true,
        })?;
        self.create_empty_index(index)?;
        Ok(index)
    }

    /// Makes the new index an empty one.
    pub fn create_empty_index(&mut self, index: Oid) -> SqlResult<()> {
        let xid = self.me.xid()?;
        let access = self.catalog.engine().index_access(xid);
        let reader = self.reader();
        let (name, open) = reader.open_index(index)?;
        open.create_empty(&access).map_err(|e| e.into_sql(&name, &name))
    }

    fn set_index_flags(&mut self, index: Oid, flags: &[(usize, bool)]) -> SqlResult<()> {
        self.edit(&pg_index::TABLE, pg_index::PG_INDEX_INDEXRELID_INDEX, &[index.into()], |row| {
            flags.iter().for_each(|&(flag, value)| row[flag] = Datum::Bool(value));
        })?;
        // Of a TOAST table's index the table that it belongs to knows.
        self.touch_owner(index)?;
        self.next_command()
    }

    /// Makes a unique index one that a constraint will own: it depends no longer on the columns by itself.
    pub fn give_index_to_constraint(&mut self, index: Oid, primary: bool, immediate: bool) -> SqlResult<()> {
        let key = [pg_class::TABLE.oid.into(), index.into()];
        self.delete_where(&pg_depend::TABLE, pg_depend::PG_DEPEND_DEPENDER_INDEX, &key, |row| {
            row.char(pg_depend::DEPTYPE) == b'a' && row.oid(pg_depend::REFCLASSID) == pg_class::TABLE.oid
        })?;
        self.set_index_flags(index, &[(pg_index::INDISPRIMARY, primary), (pg_index::INDIMMEDIATE, immediate)])
    }

    /// REPLICA IDENTITY USING INDEX, or not.
    pub fn set_replica_identity(&mut self, index: Oid, chosen: bool) -> SqlResult<()> {
        self.set_index_flags(index, &[(pg_index::INDISREPLIDENT, chosen)])
    }

    /// Notes that rows are missing from a new index which only snapshots see that are older than it.
    pub fn set_index_check_xmin(&mut self, index: Oid) -> SqlResult<()> {
        self.set_index_flags(index, &[(pg_index::INDCHECKXMIN, true)])
    }

    /// A rebuilt index has all rows again, for every snapshot.
    pub fn set_index_rebuilt(&mut self, index: Oid) -> SqlResult<()> {
        self.set_index_flags(
            index,
            &[(pg_index::INDCHECKXMIN, false), (pg_index::INDISVALID, true), (pg_index::INDISREADY, true)],
        )
    }

    /// Notes which of a table's indexes CLUSTER goes by, if any.
    pub fn set_clustered(&mut self, table: Oid, chosen: Option<Oid>) -> SqlResult<()> {
        let rows =
            self.reader().find(&pg_index::TABLE, pg_index::PG_INDEX_INDRELID_INDEX, &[table.into()])?;
        for (_, row) in rows {
            let index = row.oid(pg_index::INDEXRELID);
            self.edit(&pg_index::TABLE, pg_index::PG_INDEX_INDEXRELID_INDEX, &[index.into()], |row| {
                row[pg_index::INDISCLUSTERED] = Datum::Bool(chosen == Some(index));
            })?;
        }
        self.next_command()
    }

    /// Enters an index of the same columns under another name, with a file of its own; neither ready nor valid, of no constraint and no
    /// partitioned index. `tablespace`: where it is to be, unless it stays. Returns its OID.
    pub fn copy_index(&mut self, index: Oid, name: &str, tablespace: Option<Oid>) -> SqlResult<Oid> {
        let missing = || SqlError::internal(format!("cache lookup failed for index {index}"));
        let copy = self.new_oid();
        let key = [index.into()];
        let reader = self.reader();
        let class = reader.find_one(&pg_class::TABLE, pg_class::PG_CLASS_OID_INDEX, &key)?;
        let columns =
            reader.find(&pg_attribute::TABLE, pg_attribute::PG_ATTRIBUTE_RELID_ATTNUM_INDEX, &key)?;
        let own = reader.find_one(&pg_index::TABLE, pg_index::PG_INDEX_INDEXRELID_INDEX, &key)?;
        let (_, mut class) = class.ok_or_else(missing)?;
        let (_, mut own) = own.ok_or_else(missing)?;
        let tablespace = tablespace.unwrap_or(class.oid(pg_class::RELTABLESPACE));
        let file = self.create_file(copy, class.char(pg_class::RELPERSISTENCE), tablespace)?;
        class[pg_class::RELTABLESPACE] = tablespace.into();
        class[pg_class::OID] = Datum::Oid(copy.0);
        class[pg_class::RELNAME] = Datum::text(name);
        class[pg_class::RELFILENODE] = Datum::Oid(file.0);
        class[pg_class::RELISPARTITION] = Datum::Bool(false);
        self.insert(&pg_class::TABLE, &class)?;
        self.gone_with(txn::End::Abort, copy);
        for (_, mut column) in columns {
            column[pg_attribute::ATTRELID] = Datum::Oid(copy.0);
            self.insert(&pg_attribute::TABLE, &column)?;
        }
        // A deferrable key is looked after by the index itself.
        let unique = own.bool(pg_index::INDISUNIQUE)
            && (own.bool(pg_index::INDIMMEDIATE) || !own.bool(pg_index::INDISVALID));
        own[pg_index::INDEXRELID] = Datum::Oid(copy.0);
        own[pg_index::INDISUNIQUE] = Datum::Bool(unique);
        own[pg_index::INDIMMEDIATE] = Datum::Bool(true);
        for flag in [
            pg_index::INDISPRIMARY,
            pg_index::INDISCLUSTERED,
            pg_index::INDISREPLIDENT,
            pg_index::INDCHECKXMIN,
            pg_index::INDISVALID,
            pg_index::INDISREADY,
        ] {
            own[flag] = Datum::Bool(false);
        }
        let table = own.oid(pg_index::INDRELID);
        self.insert(&pg_index::TABLE, &own)?;
        self.depend(ObjectAddress::relation(copy), ObjectAddress::relation(table), Dependency::Auto)?;
        self.next_command()?;
        Ok(copy)
    }

    /// Gives an index the file of its complete copy, and the copy the old file and another name. Who still reads the old file finds
    /// what is written from now on too, for the copy is ready.
    pub fn swap_index_files(&mut self, index: Oid, copy: Oid, name: &str) -> SqlResult<()> {
        const MOVES: [usize; 4] =
            [pg_class::RELFILENODE, pg_class::RELTABLESPACE, pg_class::RELPAGES, pg_class::RELTUPLES];
        let mut rows = Vec::with_capacity(2);
        for oid in [index, copy] {
            let row =
                self.reader().find_one(&pg_class::TABLE, pg_class::PG_CLASS_OID_INDEX, &[oid.into()])?;
            rows.push(
                row.ok_or_else(|| SqlError::internal(format!("cache lookup failed for index {oid}")))?.1,
            );
        }
        for (oid, from) in [(index, &rows[1]), (copy, &rows[0])] {
            self.edit(&pg_class::TABLE, pg_class::PG_CLASS_OID_INDEX, &[oid.into()], |row| {
                MOVES.into_iter().for_each(|column| row[column] = from[column].clone());
                if oid == copy {
                    row[pg_class::RELNAME] = Datum::text(name);
                }
            })?;
            self.touch_owner(oid)?;
        }
        self.set_index_rebuilt(index)
    }

    /// Queries are to use an index no longer (the first step of DROP INDEX CONCURRENTLY).
    pub fn set_index_invalid(&mut self, index: Oid) -> SqlResult<()> {
        self.set_index_flags(
            index,
            &[
                (pg_index::INDISVALID, false),
                (pg_index::INDISCLUSTERED, false),
                (pg_index::INDISREPLIDENT, false),
            ],
        )
    }

    /// Inserts stop maintaining it too: only its drop still looks at it.
    pub fn set_index_dead(&mut self, index: Oid) -> SqlResult<()> {
        self.set_index_flags(index, &[(pg_index::INDISREADY, false), (pg_index::INDISLIVE, false)])
    }

    /// Sets whether an index serves queries and inserts (CREATE INDEX CONCURRENTLY, failed builds).
    pub fn set_index_state(&mut self, index: Oid, valid: bool, ready: bool) -> SqlResult<()> {
        self.set_index_flags(index, &[(pg_index::INDISVALID, valid), (pg_index::INDISREADY, ready)])
    }
}

fn index_row(oid: Oid, new: &NewIndex) -> SqlResult<crate::Row> {
    use pg_index as x;
    let collations: Vec<Oid> = new.columns[..new.keys].iter().map(|c| c.collation).collect();
    Ok(RowBuilder::new(&x::TABLE)
        .set(x::INDEXRELID, oid)
        .set(x::INDRELID, new.table)
        .set(x::INDNATTS, new.columns.len() as i16)
        .set(x::INDNKEYATTS, new.keys as i16)
        .set(x::INDISUNIQUE, new.unique)
        .set(x::INDNULLSNOTDISTINCT, new.nulls_not_distinct)
        .set(x::INDISPRIMARY, new.primary)
        .set(x::INDISEXCLUSION, new.exclusion)
        .set(x::INDIMMEDIATE, new.immediate)
        .set(x::INDISVALID, new.valid)
        .set(x::INDISREADY, new.ready)
        .set(x::INDISLIVE, true)
        .set(x::INDKEY, int2_vector(&new.numbers))
        .set(x::INDCOLLATION, oid_vector(&collations))
        .set(x::INDCLASS, oid_vector(&new.opclasses))
        .set(x::INDOPTION, int2_vector(&new.options))
        .set_some(
            x::INDEXPRS,
            (!new.expressions.is_empty()).then(|| crate::stored_list::join(&new.expressions)),
        )
        .set_some(x::INDPRED, new.predicate.clone())
        .build())
}
