//! # What
//! `btree_gin`: operator classes of GIN for what has an order, for indexes over such columns and others together.
//!
//! # Layout
//! `parts`: the classes.
//!
//! # PostgreSQL counterpart
//! `contrib/btree_gin`.

mod parts;

use session::module::{Module, ModuleFunction};
use tuple::Datum;
use types::oids;
use types::registry::libraries::Parts;

use ModuleFunction::Value;
use parts::Ordered;

macro_rules! module {
    ($($ty:literal $class:expr;)*) => {
        /// The extension.
        pub static MODULE: Module = Module {
            name: "btree_gin",
            version: "1.3",
            comment: "support for indexing common datatypes in GIN",
            relocatable: true,
            trusted: true,
            script: include_str!("script.sql"),
            parts: &[$((concat!("gin_extract_query_", $ty), $class)),*],
            support: &[
                "gin_btree_consistent",
                $(concat!("gin_extract_value_", $ty), concat!("gin_compare_prefix_", $ty)),*
            ],
            functions: &[
                ("gin_numeric_cmp", Value(|_, args| Ok(ordering(oids::numeric, args)))),
                ("gin_enum_cmp", Value(|_, args| Ok(ordering(oids::anyenum, args)))),
            ],
            ..Module::LIBRARY
        };
    };
}

module! {
    "int2" Parts::Plain(&Ordered::INT2);
    "int4" Parts::Plain(&Ordered::INT4);
    "int8" Parts::Plain(&Ordered::INT8);
    "float4" Parts::Plain(&Ordered::FLOAT4);
    "float8" Parts::Plain(&Ordered::FLOAT8);
    "money" Parts::Plain(&Ordered::MONEY);
    "oid" Parts::Plain(&Ordered::OID);
    "timestamp" Parts::Plain(&Ordered::TIMESTAMP);
    "timestamptz" Parts::Plain(&Ordered::TIMESTAMP);
    "time" Parts::Plain(&Ordered::TIMESTAMP);
    "timetz" Parts::Plain(&Ordered::TIMETZ);
    "date" Parts::Plain(&Ordered::DATE);
    "interval" Parts::Plain(&Ordered::INTERVAL);
    "macaddr" Parts::Plain(&Ordered::MACADDR);
    "macaddr8" Parts::Plain(&Ordered::MACADDR8);
    "inet" Parts::Plain(&Ordered::INET);
    "cidr" Parts::Plain(&Ordered::INET);
    "text" Parts::Collated(Ordered::texts);
    "bpchar" Parts::Collated(Ordered::padded_texts);
    "char" Parts::Plain(&Ordered::CHAR);
    "bytea" Parts::Plain(&Ordered::BYTEA);
    "bit" Parts::Plain(&Ordered::BITS);
    "varbit" Parts::Plain(&Ordered::BITS);
    "numeric" Parts::Plain(&Ordered::NUMERIC);
    "anyenum" Parts::Plain(&Ordered::ENUM);
    "uuid" Parts::Plain(&Ordered::UUID);
    "name" Parts::Plain(&Ordered::NAME);
    "bool" Parts::Plain(&Ordered::BOOL);
}

/// How two values of a type compare, as a number.
fn ordering(ty: base::Oid, args: &[Datum]) -> Datum {
    let order = types::compare(ty).map_or(0, |compare| compare(&args[0], &args[1]) as i32);
    Datum::Int4(order)
}
