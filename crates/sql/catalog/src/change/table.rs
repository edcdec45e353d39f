//! New tables and other relations with columns.

use base::{Oid, SqlError, SqlResult};
use tuple::varlena::Compression;
use tuple::{Datum, Physical};
use txn::End;
use types::oids;

use super::{Changer, Dependency, ObjectAddress};
use crate::authority::AclKind;
use crate::database::{PG_CATALOG, PG_TOAST};
use crate::row::{RowBuilder, RowExt};
use crate::shape::align_letter;
use crate::system::{pg_attrdef, pg_attribute, pg_class, pg_depend, pg_statistic, pg_type};
use crate::vectors::text_array;
use crate::view::{CatalogView, Column, Generated, Identity, RelationKind};

/// A column to be made.
#[derive(Clone, Debug, Default)]
pub struct NewColumn {
    /// Name.
    pub name: String,
    /// Type.
    pub type_oid: Oid,
    /// Modifier, -1 for none.
    pub typmod: i32,
    /// Number of array dimensions as declared.
    pub dimensions: i16,
    /// Collation, 0 for a type without.
    pub collation: Oid,
    /// NOT NULL.
    pub not_null: bool,
    /// DEFAULT or generation expression.
    pub default: Option<NewDefault>,
    /// Identity.
    pub identity: Identity,
    /// Generated column.
    pub generated: Generated,
    /// STORAGE if given: `p`, `e`, `m` or `x`.
    pub storage: Option<u8>,
    /// COMPRESSION if given.
    pub compression: Option<Compression>,
    /// Direct parents that have it.
    pub inherited: i16,
    /// The table itself does not define it: it comes from parents alone.
    pub only_inherited: bool,
    /// Options: of a key of an index those of its operator class, as `name=value`.
    pub options: Vec<String>,
}

impl NewColumn {
    /// One with name, type and collation of another, and nothing else of it.
    pub fn like(column: &Column) -> NewColumn {
        NewColumn {
            name: column.name.clone(),
            type_oid: column.type_oid,
            typmod: column.typmod,
            collation: column.collation,
            ..NewColumn::default()
        }
    }
}

/// A default or generation expression to be entered.
#[derive(Clone, Debug, Default)]
pub struct NewDefault {
    /// The expression, as `analyze::stored` writes it.
    pub expr: String,
    /// What it uses.
    pub needs: Vec<ObjectAddress>,
}

/// A relation to be made.
#[derive(Clone, Debug)]
pub struct NewTable {
    /// Name.
    pub name: String,
    /// Schema.
    pub schema: Oid,
    /// Owner.
    pub owner: Oid,
    /// Kind: table, view, materialized view, sequence, composite, foreign table.
    pub kind: RelationKind,
    /// `pg_class.relpersistence`: `p`, `u` or `t`.
    pub persistence: u8,
    /// Columns.
    pub columns: Vec<NewColumn>,
    /// Storage parameters: `name=value`.
    pub options: Vec<String>,
    /// Access method; 0: that of all tables, if there are rows.
    pub method: Oid,
    /// Tablespace; 0: the database's own.
    pub tablespace: Oid,
}

/// The access method of tables.
const TABLE_METHOD: Oid = Oid(2);

/// Whether relations of a kind have rows of their own.
fn has_rows(kind: RelationKind) -> bool {
    !matches!(
        kind,
        RelationKind::View
            | RelationKind::Composite
            | RelationKind::PartitionedTable
            | RelationKind::ForeignTable
    )
}

/// What a type says about its columns.
pub(super) struct TypeFacts {
    len: i16,
    by_value: bool,
    align: u8,
    pub(super) storage: u8,
}

impl Changer<'_> {
    /// Makes a relation with its row type, columns, TOAST table and files. Returns its OID.
    pub fn create_table(&mut self, new: &NewTable) -> SqlResult<Oid> {
        let oid = self.new_oid();
        let has_rows = has_rows(new.kind);
        let row_type =
            if new.kind == RelationKind::Sequence { Oid::INVALID } else { self.create_row_type(oid, new)? };
        let file =
            if has_rows { self.create_file(oid, new.persistence, new.tablespace)? } else { Oid::INVALID };
        let toast =
            if has_rows && self.needs_toast(new)? { self.create_toast(oid, new)? } else { Oid::INVALID };
        let mut row = self
            .class_row(oid, &new.name, new.schema, new.owner, new.kind, new.persistence)
            .set(pg_class::RELTYPE, row_type)
            .set(
                pg_class::RELAM,
                match has_rows && new.kind != RelationKind::Sequence && !new.method.is_valid() {
                    true => TABLE_METHOD,
                    false => new.method,
                },
            )
            .set(pg_class::RELFILENODE, file)
            .set(pg_class::RELTABLESPACE, new.tablespace)
            .set(pg_class::RELTOASTRELID, toast)
            .set(pg_class::RELNATTS, new.columns.len() as i16);
        if !new.options.is_empty() {
            row = row.set(pg_class::RELOPTIONS, text_array(&new.options));
        }
        self.insert(&pg_class::TABLE, &row.build())?;
        self.gone_with(End::Abort, oid);
        for (i, column) in new.columns.iter().enumerate() {
            self.add_column_row(oid, i as i16 + 1, column)?;
        }
        let me = ObjectAddress::relation(oid);
        if new.kind != RelationKind::Composite {
            self.depend(me, ObjectAddress::schema(new.schema), Dependency::Normal)?;
            let kind = if new.kind == RelationKind::Sequence { &AclKind::SEQUENCE } else { &AclKind::TABLE };
            self.note_new(kind, me, new.owner, new.schema)?;
        }
        if !file.is_valid() {
            self.depend_on_tablespace(me, new.tablespace)?;
        }
        if new.method.is_valid() {
            self.depend(me, ObjectAddress::access_method(new.method), Dependency::Normal)?;
        }
        if toast.is_valid() {
            self.depend(ObjectAddress::relation(toast), me, Dependency::Internal)?;
        }
        self.next_command()?;
        for (i, column) in new.columns.iter().enumerate() {
            if let Some(default) = &column.default {
                self.add_default_row(oid, i as i16 + 1, default, column.generated)?;
            }
        }
        self.next_command()?;
        Ok(oid)
    }

    /// The `pg_class` row of a new relation, with what all kinds have in common.
    pub(super) fn class_row(
        &self,
        oid: Oid,
        name: &str,
        schema: Oid,
        owner: Oid,
        kind: RelationKind,
        persistence: u8,
    ) -> RowBuilder {
        let has_xids =
            matches!(kind, RelationKind::Table | RelationKind::MaterializedView | RelationKind::Toast);
        let none = || [Datum::Oid(0), Datum::Oid(0)];
        let [xid, multi] =
            if has_xids { super::oldest::of_new(self.catalog.engine().txns()) } else { none() };
        RowBuilder::new(&pg_class::TABLE)
            .set(pg_class::OID, oid)
            .set(pg_class::RELNAME, name)
            .set(pg_class::RELNAMESPACE, schema)
            .set(pg_class::RELOWNER, owner)
            .set(pg_class::RELTUPLES, -1.0f32)
            .set(pg_class::RELPERSISTENCE, persistence)
            .set(pg_class::RELKIND, kind.letter() as u8)
            .set(pg_class::RELFROZENXID, xid)
            .set(pg_class::RELMINMXID, multi)
            .set(pg_class::RELISPOPULATED, kind != RelationKind::MaterializedView)
            .set(pg_class::RELREPLIDENT, if schema == PG_CATALOG { b'n' } else { b'd' })
    }

    /// Where the files of relations lie that have this `reltablespace`.
    pub(super) fn tablespace_of_files(&self, reltablespace: Oid) -> Oid {
        if reltablespace.is_valid() { reltablespace } else { self.catalog.tablespace() }
    }

    /// Makes the main fork of a new relation. Returns its file number.
    pub(super) fn create_file(&mut self, oid: Oid, persistence: u8, reltablespace: Oid) -> SqlResult<Oid> {
        let engine = self.catalog.engine();
        let tablespace = self.tablespace_of_files(reltablespace);
        let file = base::RelFile { tablespace, database: self.catalog.database(), number: oid.0 };
        let taken = engine.smgr().exists(file, base::Fork::Main).map_err(engine::EngineError::from)?;
        let file = if taken { engine.new_rel_file(tablespace, self.catalog.database())? } else { file };
        engine.create_relation(self.me, file, crate::persistence_of(persistence))?;
        Ok(Oid(file.number))
    }

    fn create_row_type(&mut self, relation: Oid, new: &NewTable) -> SqlResult<Oid> {
        let (row_type, array_type) = (self.new_oid(), self.new_oid());
        let names = (new.name.as_str(), new.schema, new.owner);
        let row = self
            .type_row(row_type, names, super::types::RECORD_IO)
            .set(pg_type::TYPTYPE, b'c')
            .set(pg_type::TYPCATEGORY, b'C')
            .set(pg_type::TYPRELID, relation)
            .set(pg_type::TYPARRAY, array_type);
        self.insert(&pg_type::TABLE, &row.build())?;
        self.create_array_type(array_type, row_type, names, Oid::INVALID)?;
        // A type made by CREATE TYPE has its relation; a table has its type.
        let (ty, relation) = (ObjectAddress::ty(row_type), ObjectAddress::relation(relation));
        match new.kind {
            RelationKind::Composite => {
                self.depend(relation, ty, Dependency::Internal)?;
                self.depend(ty, ObjectAddress::schema(new.schema), Dependency::Normal)?;
                self.note_new(&AclKind::TYPE, ty, new.owner, new.schema)?;
            }
            _ => self.depend(ty, relation, Dependency::Internal)?,
        }
        Ok(row_type)
    }

    /// `_name`, with more underscores in front while a type of that name exists.
    pub(super) fn free_array_name(&self, name: &str, schema: Oid) -> SqlResult<String> {
        let mut array = format!("_{name}");
        loop {
            array.truncate(array.floor_char_boundary(63));
            let key = [array.as_str().into(), schema.into()];
            if self.reader().find_one(&pg_type::TABLE, pg_type::PG_TYPE_TYPNAME_NSP_INDEX, &key)?.is_none() {
                return Ok(array);
            }
            array.insert(0, '_');
        }
    }

    /// Whether a row may outgrow a page: some column is of a type that can be moved out.
    fn needs_toast(&self, new: &NewTable) -> SqlResult<bool> {
        if new.kind == RelationKind::Sequence {
            return Ok(false);
        }
        let mut fixed = 0;
        let mut unbounded = false;
        for column in &new.columns {
            let facts = self.type_facts(column.type_oid)?;
            let max = match column.typmod {
                _ if facts.len > 0 => facts.len as usize,
                // A character takes up to four bytes.
                typmod if typmod > 4 && matches!(column.type_oid, oids::varchar | oids::bpchar) => {
                    (typmod as usize - 4) * 4
                }
                _ => usize::MAX,
            };
            unbounded |= max == usize::MAX && column.storage.unwrap_or(facts.storage) != b'p';
            fixed += max.min(1 << 20);
        }
        Ok(unbounded || fixed > heap::TOAST_THRESHOLD)
    }

    /// Makes the TOAST table of a relation, with its index.
    fn create_toast(&mut self, owner_table: Oid, new: &NewTable) -> SqlResult<Oid> {
        let toast = self.new_oid();
        let name = format!("pg_toast_{owner_table}");
        let file = self.create_file(toast, new.persistence, new.tablespace)?;
        let row = self
            .class_row(toast, &name, PG_TOAST, new.owner, RelationKind::Toast, new.persistence)
            .set(pg_class::RELAM, TABLE_METHOD)
            .set(pg_class::RELFILENODE, file)
            .set(pg_class::RELTABLESPACE, new.tablespace)
            .set(pg_class::RELHASINDEX, true)
            .set(pg_class::RELREPLIDENT, b'n')
            .set(pg_class::RELNATTS, 3i16);
        self.insert(&pg_class::TABLE, &row.build())?;
        self.gone_with(End::Abort, toast);
        let columns = [("chunk_id", oids::oid), ("chunk_seq", oids::int4), ("chunk_data", oids::bytea)];
        for (i, (name, ty)) in columns.into_iter().enumerate() {
            let column = NewColumn {
                name: name.into(),
                type_oid: ty,
                typmod: -1,
                storage: Some(b'p'),
                ..NewColumn::default()
            };
            self.add_column_row(toast, i as i16 + 1, &column)?;
        }
        self.create_toast_index(toast, &name, new)?;
        Ok(toast)
    }

    /// ALTER COLUMN TYPE: what a column's row says of its type, and what was known of its values. Rows and indexes are the caller's.
    pub fn set_column_type(&mut self, table: Oid, number: i16, new: &NewColumn) -> SqlResult<()> {
        use pg_attribute as a;
        let facts = self.type_facts(new.type_oid)?;
        let key = [table.into(), number.into()];
        self.delete_where(
            &pg_statistic::TABLE,
            pg_statistic::PG_STATISTIC_RELID_ATT_INH_INDEX,
            &key,
            |_| true,
        )?;
        let me = ObjectAddress::column(table, number);
        let mine = [pg_class::TABLE.oid.into(), table.into(), i32::from(number).into()];
        self.delete_where(&pg_depend::TABLE, pg_depend::PG_DEPEND_DEPENDER_INDEX, &mine, |row| {
            row.oid(pg_depend::REFCLASSID) == pg_type::TABLE.oid
        })?;
        self.edit_column(table, number, |row| {
            row[a::ATTTYPID] = new.type_oid.into();
            row[a::ATTTYPMOD] = new.typmod.into();
            row[a::ATTNDIMS] = new.dimensions.into();
            row[a::ATTLEN] = facts.len.into();
            row[a::ATTBYVAL] = facts.by_value.into();
            row[a::ATTALIGN] = facts.align.into();
            row[a::ATTSTORAGE] = facts.storage.into();
            row[a::ATTCOLLATION] = new.collation.into();
        })?;
        if !new.type_oid.is_pinned() {
            self.depend(me, ObjectAddress::ty(new.type_oid), Dependency::Normal)?;
        }
        self.depend_on_collation(me, new.collation)?;
        self.ensure_toast(table)
    }

    /// Gives a table a TOAST table if its columns may need one now.
    pub(super) fn ensure_toast(&mut self, table: Oid) -> SqlResult<()> {
        let Some(found) = self.reader().relation_by_oid(table)? else { return Ok(()) };
        let column = |column: &crate::view::Column| NewColumn {
            type_oid: column.type_oid,
            typmod: column.typmod,
            ..NewColumn::default()
        };
        let shape = NewTable {
            name: found.name.clone(),
            schema: found.schema,
            owner: found.owner,
            kind: found.kind,
            persistence: found.persistence as u8,
            columns: found.columns.iter().filter(|c| !c.dropped).map(column).collect(),
            options: Vec::new(),
            method: Oid::INVALID,
            tablespace: self.reader().tablespace_of(table)?,
        };
        if found.toast.is_valid() || found.kind != RelationKind::Table || !self.needs_toast(&shape)? {
            return Ok(());
        }
        let toast = self.create_toast(table, &shape)?;
        self.depend(ObjectAddress::relation(toast), ObjectAddress::relation(table), Dependency::Internal)?;
        self.edit_relation(table, |row| row[pg_class::RELTOASTRELID] = toast.into())
    }

    /// Enters the row of one column.
    pub(super) fn add_column_row(&mut self, relation: Oid, number: i16, column: &NewColumn) -> SqlResult<()> {
        use pg_attribute as a;
        let facts = self.type_facts(column.type_oid)?;
        let generated = match column.generated {
            Generated::None => 0,
            Generated::Stored => b's',
            Generated::Virtual => b'v',
        };
        let row = RowBuilder::new(&a::TABLE)
            .set(a::ATTRELID, relation)
            .set(a::ATTNAME, column.name.as_str())
            .set(a::ATTTYPID, column.type_oid)
            .set(a::ATTLEN, facts.len)
            .set(a::ATTNUM, number)
            .set(a::ATTTYPMOD, column.typmod)
            .set(a::ATTNDIMS, column.dimensions)
            .set(a::ATTBYVAL, facts.by_value)
            .set(a::ATTALIGN, facts.align)
            .set(a::ATTSTORAGE, column.storage.unwrap_or(facts.storage))
            .set(a::ATTCOMPRESSION, super::column::compression_letter(column.compression))
            .set(a::ATTNOTNULL, column.not_null)
            .set(a::ATTHASDEF, column.default.is_some())
            .set(a::ATTIDENTITY, column.identity.letter())
            .set(a::ATTGENERATED, generated)
            .set(a::ATTISLOCAL, !column.only_inherited)
            .set(a::ATTINHCOUNT, column.inherited)
            .set(a::ATTCOLLATION, column.collation);
        let row = match column.options.is_empty() {
            true => row,
            false => row.set(a::ATTOPTIONS, text_array(&column.options)),
        };
        self.insert(&a::TABLE, &row.build())?;
        let me = ObjectAddress::column(relation, number);
        if !column.type_oid.is_pinned() {
            self.depend(me, ObjectAddress::ty(column.type_oid), Dependency::Normal)?;
        }
        self.depend_on_collation(me, column.collation)
    }

    /// Enters the row of a column's default; `pg_attribute.atthasdef` is the caller's.
    pub(super) fn add_default_row(
        &mut self,
        relation: Oid,
        number: i16,
        default: &NewDefault,
        generated: Generated,
    ) -> SqlResult<Oid> {
        let oid = self.new_oid();
        let row = RowBuilder::new(&pg_attrdef::TABLE)
            .set(pg_attrdef::OID, oid)
            .set(pg_attrdef::ADRELID, relation)
            .set(pg_attrdef::ADNUM, number)
            .set(pg_attrdef::ADBIN, default.expr.as_str());
        self.insert(&pg_attrdef::TABLE, &row.build())?;
        let me = ObjectAddress { class: pg_attrdef::TABLE.oid, object: oid, sub: 0 };
        // The column of a generation expression goes with it.
        let kind = if generated == Generated::None { Dependency::Auto } else { Dependency::Internal };
        self.depend(me, ObjectAddress::column(relation, number), kind)?;
        self.depend_on_all(me, default.needs.iter().copied())?;
        Ok(oid)
    }

    pub(super) fn type_facts(&self, ty: Oid) -> SqlResult<TypeFacts> {
        if let Some(info) = types::builtin_type(ty) {
            let align = align_letter(info.align);
            return Ok(TypeFacts { len: info.len, by_value: info.byval, align, storage: info.storage });
        }
        let row = self.reader().find_one(&pg_type::TABLE, pg_type::PG_TYPE_OID_INDEX, &[ty.into()])?;
        let (_, row) = row.ok_or_else(|| SqlError::internal(format!("cache lookup failed for type {ty}")))?;
        Ok(TypeFacts {
            len: row.int(pg_type::TYPLEN) as i16,
            by_value: row.bool(pg_type::TYPBYVAL),
            align: row.char(pg_type::TYPALIGN),
            storage: row.char(pg_type::TYPSTORAGE),
        })
    }

    /// Whether values of a column of this type can be stored at all.
    pub fn check_column_type(&self, column: &str, ty: Oid) -> SqlResult<()> {
        let reader = self.reader();
        let def = reader.type_by_oid(ty)?;
        let pseudo = def.as_ref().is_some_and(|t| t.kind == crate::view::TypeKind::Pseudo);
        if pseudo {
            let name = def.map_or_else(|| ty.to_string(), |t| t.name.clone());
            return Err(base::sql_err!(
                INVALID_TABLE_DEFINITION,
                "column \"{column}\" has pseudo-type {name}"
            ));
        }
        reader.physical(ty).map(|_: Physical| ())
    }
}
