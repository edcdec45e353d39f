//! The catalogs' description of themselves: `pg_class`, `pg_attribute`, `pg_index`, `pg_type`, `pg_constraint`.

use base::{Oid, SqlResult};
use tuple::{Datum, Physical};
use types::{acl, oids};

use super::{BOOTSTRAP_SUPERUSER, Rows, add, everybody};
use crate::database::{PG_CATALOG, PG_TOAST};
use crate::row::RowBuilder;
use crate::shape::align_letter;
use crate::system::{
    self, ColumnType, SystemColumn, SystemIndex, SystemTable, column_type, pg_attribute, pg_authid, pg_class,
    pg_constraint, pg_index, pg_largeobject, pg_statistic, pg_statistic_ext_data, pg_subscription, pg_type,
    pg_user_mapping,
};
use crate::tables::PG_GLOBAL;
use crate::vectors::{int2_vector, oid_vector};

/// Access method `heap`.
const HEAP_AM: Oid = Oid(2);

/// The columns of every TOAST table.
static TOAST_COLUMNS: [SystemColumn; 3] = [
    SystemColumn { name: "chunk_id", ty: &column_type::oid, nullable: true },
    SystemColumn { name: "chunk_seq", ty: &column_type::int4, nullable: true },
    SystemColumn { name: "chunk_data", ty: &column_type::bytea, nullable: true },
];

/// Adds the rows that describe every system catalog.
pub(super) fn describe(rows: &mut Rows) -> SqlResult<()> {
    for table in system::tables() {
        describe_table(rows, table)?;
        for index in table.indexes {
            describe_index(rows, table, index)?;
        }
        if table.toast.is_valid() {
            describe_toast(rows, table)?;
        }
    }
    Ok(())
}

/// What differs between the `pg_class` rows of catalogs.
struct Class<'a> {
    oid: Oid,
    name: &'a str,
    schema: Oid,
    row_type: Oid,
    method: Oid,
    kind: u8,
    columns: usize,
    indexed: bool,
    toast: Oid,
    shared: bool,
    mapped: bool,
}

/// Catalogs whose rows hold secrets or samples of data: only superusers read them.
static PRIVATE: [Oid; 6] = [
    pg_authid::TABLE.oid,
    pg_subscription::TABLE.oid,
    pg_user_mapping::TABLE.oid,
    pg_statistic::TABLE.oid,
    pg_statistic_ext_data::TABLE.oid,
    pg_largeobject::TABLE.oid,
];

fn class_acl(oid: Oid) -> SqlResult<Datum> {
    let mut items = acl::default_items(b'r', BOOTSTRAP_SUPERUSER)?;
    if !PRIVATE.contains(&oid) {
        items.push(everybody(acl::bits("r")));
    }
    acl::array_of(&items)
}

fn add_class(rows: &mut Rows, class: Class<'_>) -> SqlResult<()> {
    use pg_class as c;
    let row = RowBuilder::new(&c::TABLE)
        .set(c::OID, class.oid)
        .set(c::RELNAME, class.name)
        .set(c::RELNAMESPACE, class.schema)
        .set(c::RELTYPE, class.row_type)
        .set(c::RELOWNER, BOOTSTRAP_SUPERUSER)
        .set(c::RELAM, class.method)
        .set(c::RELFILENODE, if class.mapped { Oid::INVALID } else { class.oid })
        .set(c::RELTABLESPACE, if class.shared { PG_GLOBAL } else { Oid::INVALID })
        .set(c::RELTUPLES, -1.0f32)
        .set(c::RELTOASTRELID, class.toast)
        .set(c::RELHASINDEX, class.indexed)
        .set(c::RELISSHARED, class.shared)
        .set(c::RELPERSISTENCE, b'p')
        .set(c::RELKIND, class.kind)
        .set(c::RELNATTS, class.columns as i16)
        .set(c::RELISPOPULATED, true)
        .set(c::RELREPLIDENT, b'n')
        .set_some(c::RELACL, (class.kind == b'r').then(|| class_acl(class.oid)).transpose()?);
    add(rows, &c::TABLE, row.build());
    Ok(())
}

fn add_column(rows: &mut Rows, relation: Oid, number: usize, name: &str, ty: &ColumnType, not_null: bool) {
    use pg_attribute as a;
    let row = RowBuilder::new(&a::TABLE)
        .set(a::ATTRELID, relation)
        .set(a::ATTNAME, name)
        .set(a::ATTTYPID, ty.oid)
        .set(a::ATTLEN, ty.len)
        .set(a::ATTNUM, number as i16)
        .set(a::ATTTYPMOD, -1)
        .set(a::ATTNDIMS, i16::from(ty.name.starts_with('_')))
        .set(a::ATTBYVAL, ty.by_value)
        .set(a::ATTALIGN, align_letter(ty.attr.align))
        .set(a::ATTSTORAGE, ty.attr.storage)
        .set(a::ATTNOTNULL, not_null)
        .set(a::ATTISLOCAL, true)
        .set(a::ATTCOLLATION, ty.collation);
    add(rows, &a::TABLE, row.build());
}

fn describe_table(rows: &mut Rows, table: &SystemTable) -> SqlResult<()> {
    add_class(
        rows,
        Class {
            oid: table.oid,
            name: table.name,
            schema: PG_CATALOG,
            row_type: table.row_type,
            method: HEAP_AM,
            kind: b'r',
            columns: table.columns.len(),
            indexed: !table.indexes.is_empty(),
            toast: table.toast,
            shared: table.shared,
            mapped: table.is_mapped(),
        },
    )?;
    for (i, column) in table.columns.iter().enumerate() {
        add_column(rows, table.oid, i + 1, column.name, column.ty, !column.nullable);
    }
    add_row_types(rows, table);
    Ok(())
}

/// The composite type of a catalog's rows, and the array over it.
fn add_row_types(rows: &mut Rows, table: &SystemTable) {
    use pg_type as t;
    let common = |oid: Oid, name: String| {
        RowBuilder::new(&t::TABLE)
            .set(t::OID, oid)
            .set(t::TYPNAME, name)
            .set(t::TYPNAMESPACE, PG_CATALOG)
            .set(t::TYPOWNER, BOOTSTRAP_SUPERUSER)
            .set(t::TYPLEN, -1i16)
            .set(t::TYPISDEFINED, true)
            .set(t::TYPDELIM, b',')
            .set(t::TYPALIGN, b'd')
            .set(t::TYPSTORAGE, b'x')
            .set(t::TYPTYPMOD, -1)
    };
    let functions = |row: RowBuilder, names: [u32; 4]| {
        let columns = [t::TYPINPUT, t::TYPOUTPUT, t::TYPRECEIVE, t::TYPSEND];
        columns.into_iter().zip(names).fold(row, |row, (column, oid)| row.set(column, Oid(oid)))
    };
    if table.row_type.is_valid() && types::builtin_type(table.row_type).is_none() {
        // record_in, record_out, record_recv, record_send
        let row = functions(common(table.row_type, table.name.to_owned()), [2290, 2291, 2402, 2403])
            .set(t::TYPTYPE, b'c')
            .set(t::TYPCATEGORY, b'C')
            .set(t::TYPRELID, table.oid)
            .set(t::TYPARRAY, table.row_array_type);
        add(rows, &t::TABLE, row.build());
    }
    if table.row_array_type.is_valid() && types::builtin_type(table.row_array_type).is_none() {
        // array_in, array_out, array_recv, array_send
        let row = functions(common(table.row_array_type, format!("_{}", table.name)), [750, 751, 2400, 2401])
            .set(t::TYPTYPE, b'b')
            .set(t::TYPCATEGORY, b'A')
            .set(t::TYPELEM, table.row_type)
            .set(t::TYPSUBSCRIPT, Oid(6179));
        add(rows, &t::TABLE, row.build());
    }
}

/// What differs between the rows of indexes.
struct IndexRows<'a> {
    oid: Oid,
    name: &'a str,
    table: Oid,
    schema: Oid,
    keys: Vec<(usize, &'a SystemColumn)>,
    unique: bool,
    primary: bool,
    shared: bool,
    mapped: bool,
}

fn add_index(rows: &mut Rows, index: &IndexRows<'_>) -> SqlResult<()> {
    use pg_index as x;
    add_class(
        rows,
        Class {
            oid: index.oid,
            name: index.name,
            schema: index.schema,
            row_type: Oid::INVALID,
            method: engine::indexes::DEFAULT_METHOD.oid,
            kind: b'i',
            columns: index.keys.len(),
            indexed: false,
            toast: Oid::INVALID,
            shared: index.shared,
            mapped: index.mapped,
        },
    )?;
    let count = index.keys.len();
    for (i, (_, column)) in index.keys.iter().enumerate() {
        add_column(rows, index.oid, i + 1, column.name, column.ty, false);
    }
    let numbers: Vec<i16> = index.keys.iter().map(|(number, _)| *number as i16 + 1).collect();
    let classes: Vec<Oid> = index.keys.iter().map(|(_, column)| opclass(column.ty)).collect();
    let collations: Vec<Oid> = index.keys.iter().map(|(_, column)| column.ty.collation).collect();
    let row = RowBuilder::new(&x::TABLE)
        .set(x::INDEXRELID, index.oid)
        .set(x::INDRELID, index.table)
        .set(x::INDNATTS, count as i16)
        .set(x::INDNKEYATTS, count as i16)
        .set(x::INDISUNIQUE, index.unique)
        .set(x::INDISPRIMARY, index.primary)
        .set(x::INDIMMEDIATE, true)
        .set(x::INDISVALID, true)
        .set(x::INDISREADY, true)
        .set(x::INDISLIVE, true)
        .set(x::INDKEY, int2_vector(&numbers))
        .set(x::INDCOLLATION, oid_vector(&collations))
        .set(x::INDCLASS, oid_vector(&classes))
        .set(x::INDOPTION, int2_vector(&vec![0; count]));
    add(rows, &x::TABLE, row.build());
    Ok(())
}

fn describe_index(rows: &mut Rows, table: &'static SystemTable, index: &SystemIndex) -> SqlResult<()> {
    let keys = index.keys.iter().map(|&column| (column, &table.columns[column])).collect();
    add_index(
        rows,
        &IndexRows {
            oid: index.oid,
            name: index.name,
            table: table.oid,
            schema: PG_CATALOG,
            keys,
            unique: index.unique,
            primary: index.primary,
            shared: table.shared,
            mapped: table.is_mapped(),
        },
    )?;
    if index.constraint.is_valid() {
        add_constraint(rows, table, index)?;
    }
    Ok(())
}

fn add_constraint(rows: &mut Rows, table: &SystemTable, index: &SystemIndex) -> SqlResult<()> {
    use pg_constraint as c;
    let numbers: Vec<i16> = index.keys.iter().map(|&column| column as i16 + 1).collect();
    let row = RowBuilder::new(&c::TABLE)
        .set(c::OID, index.constraint)
        .set(c::CONNAME, index.name)
        .set(c::CONNAMESPACE, PG_CATALOG)
        .set(c::CONTYPE, if index.primary { b'p' } else { b'u' })
        .set(c::CONENFORCED, true)
        .set(c::CONVALIDATED, true)
        .set(c::CONRELID, table.oid)
        .set(c::CONINDID, index.oid)
        .set(c::CONFUPDTYPE, b' ')
        .set(c::CONFDELTYPE, b' ')
        .set(c::CONFMATCHTYPE, b' ')
        .set(c::CONISLOCAL, true)
        .set(c::CONNOINHERIT, true)
        .set(c::CONKEY, crate::vectors::int2_array(&numbers)?);
    add(rows, &c::TABLE, row.build());
    Ok(())
}

fn describe_toast(rows: &mut Rows, table: &SystemTable) -> SqlResult<()> {
    let name = format!("pg_toast_{}", table.oid);
    add_class(
        rows,
        Class {
            oid: table.toast,
            name: &name,
            schema: PG_TOAST,
            row_type: Oid::INVALID,
            method: HEAP_AM,
            kind: b't',
            columns: TOAST_COLUMNS.len(),
            indexed: true,
            toast: Oid::INVALID,
            shared: table.shared,
            mapped: table.is_mapped(),
        },
    )?;
    for (i, column) in TOAST_COLUMNS.iter().enumerate() {
        // Chunks are stored as they are: they are already compressed and out of line.
        let plain = ColumnType { attr: tuple::Attr { storage: b'p', ..column.ty.attr }, ..*column.ty };
        add_column(rows, table.toast, i + 1, column.name, &plain, false);
    }
    add_index(
        rows,
        &IndexRows {
            oid: table.toast_index,
            name: &format!("{name}_index"),
            table: table.toast,
            schema: PG_TOAST,
            keys: TOAST_COLUMNS[..2].iter().enumerate().collect(),
            unique: true,
            primary: true,
            shared: table.shared,
            mapped: table.is_mapped(),
        },
    )
}

/// The default B-tree operator class of a key column's type.
fn opclass(ty: &ColumnType) -> Oid {
    Oid(match ty.attr.physical {
        Physical::Bool => 424,
        Physical::Char => 429,
        Physical::Int2 => 1979,
        Physical::Int4 => 1978,
        Physical::Int8 => 3124,
        Physical::Oid => 1981,
        Physical::Float4 => 10012,
        Physical::Float8 => 3123,
        Physical::Name => 10028,
        Physical::Fixed(_) | Physical::Varlena if ty.oid == oids::oidvector => 10032,
        Physical::Fixed(_) | Physical::Varlena => 3126,
    })
}
