//! # What
//! The system catalogs' own shape: every table of `pg_catalog`, its columns and indexes, as constants.
//!
//! Each table is a module with its OID and one column number per column, so that a row (`Vec<Datum>`) is read as
//! `row[pg_class::RELNAME]`. The same declarations drive bootstrap, which writes the catalogs' description of
//! themselves, and the descriptors with which the caches read them.
//!
//! Invariant: names, OIDs, column order and index OIDs are PostgreSQL 18's; tools and drivers know them by heart.

mod relations;
mod server;
mod types;

pub use relations::*;
pub use server::*;
pub use types::*;

use std::sync::OnceLock;

use base::Oid;
use rustc_hash::FxHashMap;
use tuple::{Attr, Physical};

/// One column of a system catalog.
#[derive(Clone, Copy, Debug)]
pub struct SystemColumn {
    /// Column name.
    pub name: &'static str,
    /// Its type.
    pub ty: &'static ColumnType,
    /// Whether NULL may stand in it.
    pub nullable: bool,
}

/// One B-tree index of a system catalog.
#[derive(Clone, Copy, Debug)]
pub struct SystemIndex {
    /// Index name.
    pub name: &'static str,
    /// Index OID, also the number of its first file.
    pub oid: Oid,
    /// Whether it forbids equal keys.
    pub unique: bool,
    /// Whether it is the primary key; then `constraint` is its `pg_constraint` row.
    pub primary: bool,
    /// OID of the constraint it implements, or 0.
    pub constraint: Oid,
    /// Column numbers (from 0) of the keys.
    pub keys: &'static [usize],
}

/// One system catalog.
#[derive(Debug)]
pub struct SystemTable {
    /// Table name.
    pub name: &'static str,
    /// Table OID, also the number of its first file.
    pub oid: Oid,
    /// Whether it is shared by all databases and lies in `pg_global`.
    pub shared: bool,
    /// OID of its row type.
    pub row_type: Oid,
    /// OID of the array type over its row type.
    pub row_array_type: Oid,
    /// OID of its TOAST table, or 0 where it has none.
    pub toast: Oid,
    /// OID of the TOAST table's index.
    pub toast_index: Oid,
    /// Columns in order.
    pub columns: &'static [SystemColumn],
    /// Indexes.
    pub indexes: &'static [SystemIndex],
}

impl SystemTable {
    /// Whether `relfilenode` of it, its indexes and its TOAST table is 0, as in PostgreSQL, where a file maps them: those that must be
    /// found before `pg_class` can be read. Here all catalogs are mapped ([`crate::tables`]); of the others `relfilenode` says the same.
    pub fn is_mapped(&self) -> bool {
        let first = [pg_class::TABLE.oid, pg_attribute::TABLE.oid, pg_proc::TABLE.oid, pg_type::TABLE.oid];
        self.shared || first.contains(&self.oid)
    }

    /// All that has files of its own: the table, its TOAST table and that one's index, its indexes.
    pub fn relations(&self) -> impl Iterator<Item = Oid> {
        let indexes = self.indexes.iter().map(|index| index.oid);
        [self.oid, self.toast, self.toast_index].into_iter().filter(|oid| oid.is_valid()).chain(indexes)
    }
}

/// Physical facts about a type that stands in a catalog column.
#[derive(Debug)]
pub struct ColumnType {
    /// Type name as SQL writes it.
    pub name: &'static str,
    /// Type OID.
    pub oid: Oid,
    /// Layout on disk.
    pub attr: Attr,
    /// `pg_type.typlen`.
    pub len: i16,
    /// `pg_type.typbyval`.
    pub by_value: bool,
    /// Default collation: 950 (`C`) for `name`, 100 for text in catalogs is 950 as well, 0 otherwise.
    pub collation: Oid,
}

const fn plain(name: &'static str, oid: u32, physical: Physical, size: u8) -> ColumnType {
    let attr = Attr { physical, align: size, storage: b'p', compression: None };
    ColumnType { name, oid: Oid(oid), attr, len: size as i16, by_value: true, collation: Oid(0) }
}

const fn varlena(name: &'static str, oid: u32, align: u8, storage: u8, collation: u32) -> ColumnType {
    let attr = Attr { physical: Physical::Varlena, align, storage, compression: None };
    ColumnType { name, oid: Oid(oid), attr, len: -1, by_value: false, collation: Oid(collation) }
}

/// The types of catalog columns, named as `pg_type.typname` names them.
#[allow(non_upper_case_globals, missing_docs)]
pub mod column_type {
    use super::*;

    pub static bool: ColumnType = plain("bool", 16, Physical::Bool, 1);
    pub static char: ColumnType = plain("char", 18, Physical::Char, 1);
    pub static int2: ColumnType = plain("int2", 21, Physical::Int2, 2);
    pub static int4: ColumnType = plain("int4", 23, Physical::Int4, 4);
    pub static int8: ColumnType = plain("int8", 20, Physical::Int8, 8);
    pub static oid: ColumnType = plain("oid", 26, Physical::Oid, 4);
    pub static regproc: ColumnType = plain("regproc", 24, Physical::Oid, 4);
    pub static xid: ColumnType = plain("xid", 28, Physical::Oid, 4);
    pub static float4: ColumnType = plain("float4", 700, Physical::Float4, 4);
    pub static timestamptz: ColumnType = plain("timestamptz", 1184, Physical::Int8, 8);
    pub static pg_lsn: ColumnType = plain("pg_lsn", 3220, Physical::Int8, 8);
    pub static name: ColumnType = ColumnType {
        name: "name",
        oid: Oid(19),
        attr: Attr { physical: Physical::Name, align: 1, storage: b'p', compression: None },
        len: 64,
        by_value: false,
        collation: Oid(950),
    };
    pub static text: ColumnType = varlena("text", 25, 4, b'x', 950);
    pub static bytea: ColumnType = varlena("bytea", 17, 4, b'x', 0);
    pub static int2vector: ColumnType = varlena("int2vector", 22, 4, b'p', 0);
    pub static oidvector: ColumnType = varlena("oidvector", 30, 4, b'p', 0);
    pub static pg_node_tree: ColumnType = varlena("pg_node_tree", 194, 4, b'x', 950);
    pub static pg_ndistinct: ColumnType = varlena("pg_ndistinct", 3361, 4, b'x', 950);
    pub static pg_dependencies: ColumnType = varlena("pg_dependencies", 3402, 4, b'x', 950);
    pub static pg_mcv_list: ColumnType = varlena("pg_mcv_list", 5017, 4, b'x', 950);
    pub static anyarray: ColumnType = varlena("anyarray", 2277, 8, b'x', 0);
    pub static _aclitem: ColumnType = varlena("_aclitem", 1034, 8, b'x', 0);
    pub static _char: ColumnType = varlena("_char", 1002, 4, b'x', 0);
    pub static _float4: ColumnType = varlena("_float4", 1021, 4, b'x', 0);
    pub static _int2: ColumnType = varlena("_int2", 1005, 4, b'x', 0);
    pub static _oid: ColumnType = varlena("_oid", 1028, 4, b'x', 0);
    pub static _text: ColumnType = varlena("_text", 1009, 4, b'x', 950);
    pub static _pg_statistic: ColumnType = varlena("_pg_statistic", 10028, 8, b'x', 0);
}

macro_rules! nullable {
    () => {
        false
    };
    (null) => {
        true
    };
}

macro_rules! index_kind {
    (primary) => {
        (true, true)
    };
    (unique) => {
        (true, false)
    };
    (plain) => {
        (false, false)
    };
}

macro_rules! is_shared {
    (shared) => {
        true
    };
    (local) => {
        false
    };
}

/// Declares system catalogs: `name = oid scope, rowtype oid arrayoid, toast oid indexoid { COLUMN: column type [null], … } indexes { … }`.
macro_rules! system_tables {
    ($(
        $table:ident = $oid:literal $scope:ident, rowtype $row:literal $array:literal, toast $toast:literal $tidx:literal {
            $($column:ident: $name:ident $ty:ident $($null:ident)?,)*
        } indexes {
            $($index:ident: $iname:ident = $ioid:literal $kind:ident $con:literal ($($key:ident),*),)*
        }
    )*) => {
        $(
            #[doc = concat!("Column numbers and index OIDs of `", stringify!($table), "`.")]
            #[allow(missing_docs)]
            pub mod $table {
                use base::Oid;
                use super::super::{SystemColumn, SystemIndex, SystemTable, column_type};

                #[allow(clippy::upper_case_acronyms, non_camel_case_types)]
                enum Column { $($column),* }

                $(pub const $column: usize = Column::$column as usize;)*
                $(pub const $index: Oid = Oid($ioid);)*

                /// The catalog's shape.
                pub static TABLE: SystemTable = SystemTable {
                    name: stringify!($table),
                    oid: Oid($oid),
                    shared: super::super::is_shared!($scope),
                    row_type: Oid($row),
                    row_array_type: Oid($array),
                    toast: Oid($toast),
                    toast_index: Oid($tidx),
                    columns: &[$(SystemColumn {
                        name: stringify!($name),
                        ty: &column_type::$ty,
                        nullable: super::super::nullable!($($null)?),
                    }),*],
                    indexes: &[$(SystemIndex {
                        name: stringify!($iname),
                        oid: Oid($ioid),
                        unique: super::super::index_kind!($kind).0,
                        primary: super::super::index_kind!($kind).1,
                        constraint: Oid($con),
                        keys: &[$($key),*],
                    }),*],
                };
            }
        )*

        /// Every table declared here.
        pub(super) static TABLES: &[&SystemTable] = &[$(&$table::TABLE),*];
    };
}

use {index_kind, is_shared, nullable, system_tables};

/// Every system catalog.
pub fn tables() -> impl Iterator<Item = &'static SystemTable> {
    relations::TABLES.iter().chain(types::TABLES).chain(server::TABLES).copied()
}

/// Whether a relation is a catalog that all databases share, or a part of one.
pub fn is_shared_relation(relation: Oid) -> bool {
    catalog_of(relation).is_some_and(|catalog| catalog.shared)
}

/// The catalog that a relation is, or is a part of: its TOAST table, that one's index, or an index of it.
pub fn catalog_of(relation: Oid) -> Option<&'static SystemTable> {
    static BY_RELATION: OnceLock<FxHashMap<Oid, &'static SystemTable>> = OnceLock::new();
    if !relation.is_pinned() {
        return None;
    }
    let all =
        || tables().flat_map(|table| table.relations().map(move |relation| (relation, table))).collect();
    BY_RELATION.get_or_init(all).get(&relation).copied()
}
