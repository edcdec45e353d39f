//! # What
//! What ANALYZE learns of several columns together, as `pg_statistic_ext_data` keeps it: numbers of distinct combinations, how far columns decide
//! others, the most common combinations. Only the server makes such values.
//!
//! # Layout
//! Little-endian payloads. A column is its number, an expression of the object -1, -2, …
//! * `pg_ndistinct`, `pg_dependencies`: number of entries in 4 bytes; of each the number of distinct values, or the degree, in 8; the number
//!   of columns in 2, and these in 2 each. The last column of a dependency is the one that the others decide.
//! * `pg_mcv_list`: number of columns in 2 bytes, of items in 4; the type of each column in 4; of each item its share of the rows and the share
//!   that it would have were the columns independent, in 8 each; of each column the length of an array in 4, and that: its values in all items.
//!
//! # Invariants
//! 1. Damaged payloads decode to fewer entries, never to a panic.
//!
//! # PostgreSQL counterpart and differences
//! `statistics/mvdistinct.c`, `dependencies.c`, `mcv.c`: the same texts; the payloads are ours.

use std::fmt::Write;

use base::{SqlResult, sql_err};
use tuple::{Bytes, Datum};

use crate::array::{Array, Cursor};
use crate::call::Call;
use crate::registry::types::prelude::*;
use crate::value::FromDatum;

/// A combination of columns, with what is known of it: how many different ones there are, or how far all but the last decide the last.
#[derive(Clone, Debug, PartialEq)]
pub struct Combination {
    /// Numbers of columns.
    pub columns: Vec<i16>,
    /// Number of distinct combinations, or the degree from 0 to 1.
    pub figure: f64,
}

/// One of the most common combinations.
#[derive(Clone, Debug, PartialEq)]
pub struct CommonItem {
    /// A value of each column.
    pub values: Vec<Datum>,
    /// Its share of the rows.
    pub share: f64,
    /// The product of its values' shares.
    pub base_share: f64,
}

/// The most common combinations, the most common first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CommonItems {
    /// Types of the columns.
    pub types: Vec<Oid>,
    /// The combinations.
    pub items: Vec<CommonItem>,
}

/// The payload of combinations.
pub fn combinations_to_datum(all: &[Combination]) -> Datum {
    let mut out = Vec::with_capacity(4 + all.len() * 16);
    out.extend_from_slice(&(all.len() as u32).to_le_bytes());
    for one in all {
        out.extend_from_slice(&one.figure.to_le_bytes());
        out.extend_from_slice(&(one.columns.len() as u16).to_le_bytes());
        one.columns.iter().for_each(|column| out.extend_from_slice(&column.to_le_bytes()));
    }
    Datum::Bytes(Bytes::from(out))
}

/// Reads a payload of combinations.
pub fn combinations(payload: &[u8]) -> Vec<Combination> {
    let mut cursor = Cursor(payload);
    let Some(count) = cursor.array().map(u32::from_le_bytes) else { return Vec::new() };
    let mut one = || {
        let figure = f64::from_le_bytes(cursor.array()?);
        let columns = u16::from_le_bytes(cursor.array()?);
        let columns = (0..columns).map(|_| cursor.array().map(i16::from_le_bytes)).collect::<Option<_>>()?;
        Some(Combination { columns, figure })
    };
    (0..count).map_while(|_| one()).collect()
}

impl CommonItems {
    /// The payload.
    pub fn to_datum(&self, call: &Call) -> SqlResult<Datum> {
        let mut out = Vec::new();
        out.extend_from_slice(&(self.types.len() as u16).to_le_bytes());
        out.extend_from_slice(&(self.items.len() as u32).to_le_bytes());
        self.types.iter().for_each(|oid| out.extend_from_slice(&oid.0.to_le_bytes()));
        for item in &self.items {
            out.extend_from_slice(&item.share.to_le_bytes());
            out.extend_from_slice(&item.base_share.to_le_bytes());
        }
        for (at, type_oid) in self.types.iter().enumerate() {
            let values = self.items.iter().map(|item| item.values[at].clone()).collect();
            let array = Array::from_values(*type_oid, values, call)?.to_payload();
            out.extend_from_slice(&(array.len() as u32).to_le_bytes());
            out.extend_from_slice(&array);
        }
        Ok(Datum::Bytes(Bytes::from(out)))
    }

    /// Reads a payload.
    pub fn from_payload(payload: &[u8]) -> CommonItems {
        read_items(payload).unwrap_or_default()
    }
}

fn read_items(payload: &[u8]) -> Option<CommonItems> {
    let mut cursor = Cursor(payload);
    let columns = u16::from_le_bytes(cursor.array()?);
    let count = u32::from_le_bytes(cursor.array()?);
    let types =
        (0..columns).map(|_| Some(Oid(u32::from_le_bytes(cursor.array()?)))).collect::<Option<Vec<_>>>()?;
    let mut items = Vec::new();
    for _ in 0..count {
        let share = f64::from_le_bytes(cursor.array()?);
        let base_share = f64::from_le_bytes(cursor.array()?);
        items.push(CommonItem { values: Vec::with_capacity(types.len()), share, base_share });
    }
    for _ in 0..columns {
        let length = u32::from_le_bytes(cursor.array()?) as usize;
        let array = Array::from_payload(cursor.take(length)?).into_elements();
        if array.len() != items.len() {
            return None;
        }
        items.iter_mut().zip(array).for_each(|(item, value)| item.values.push(value));
    }
    Some(CommonItems { types, items })
}

fn list(columns: &[i16]) -> String {
    columns.iter().map(i16::to_string).collect::<Vec<_>>().join(", ")
}

fn show_distinct(payload: &[u8]) -> String {
    let one = |c: &Combination| format!("\"{}\": {}", list(&c.columns), c.figure as i32);
    format!("{{{}}}", combinations(payload).iter().map(one).collect::<Vec<_>>().join(", "))
}

fn show_dependencies(payload: &[u8]) -> String {
    let mut out = String::from("{");
    for (at, one) in combinations(payload).iter().enumerate() {
        let Some((implied, by)) = one.columns.split_last() else { continue };
        let comma = if at > 0 { ", " } else { "" };
        let _ = write!(out, "{comma}\"{} => {implied}\": {:.6}", list(by), one.figure);
    }
    out + "}"
}

fn no_input(name: &str) -> SqlResult<Datum> {
    Err(sql_err!(FEATURE_NOT_SUPPORTED, "cannot accept a value of type {name}"))
}

/// What the three have in common.
const fn statistics(oid: Oid, name: &'static str, io: [u32; 4]) -> TypeImp {
    let row = TypeInfo::new(oid, name, b'Z', Physical::Varlena);
    TypeImp {
        row: Some(TypeInfo { io: io_functions(io), collation: Oid(100), ..row }),
        send: |_, value, _, out| {
            out.extend_from_slice(<&[u8]>::from_datum(value));
            Ok(())
        },
        ..TypeImp::NONE
    }
}

/// Numbers of distinct combinations.
pub(crate) static PG_NDISTINCT: TypeImp = TypeImp {
    input: |_, _, _, _| no_input("pg_ndistinct"),
    output: |_, value, _, out| {
        out.extend_from_slice(show_distinct(<&[u8]>::from_datum(value)).as_bytes());
        Ok(())
    },
    receive: |_, _, _, _| no_input("pg_ndistinct"),
    ..statistics(oids::pg_ndistinct, "pg_ndistinct", [3355, 3356, 3357, 3358])
};

/// How far columns decide others.
pub(crate) static PG_DEPENDENCIES: TypeImp = TypeImp {
    input: |_, _, _, _| no_input("pg_dependencies"),
    output: |_, value, _, out| {
        out.extend_from_slice(show_dependencies(<&[u8]>::from_datum(value)).as_bytes());
        Ok(())
    },
    receive: |_, _, _, _| no_input("pg_dependencies"),
    ..statistics(oids::pg_dependencies, "pg_dependencies", [3404, 3405, 3406, 3407])
};

/// The most common combinations. They are shown as their bytes; `pg_mcv_list_items` takes them apart.
pub(crate) static PG_MCV_LIST: TypeImp = TypeImp {
    input: |_, _, _, _| no_input("pg_mcv_list"),
    output: |_, value, call, out| {
        (crate::registry::type_imp(oids::bytea).output)(oids::bytea, value, call, out)
    },
    receive: |_, _, _, _| no_input("pg_mcv_list"),
    ..statistics(oids::pg_mcv_list, "pg_mcv_list", [5018, 5019, 5020, 5021])
};

functions! {
    3355 pg_ndistinct_in(cstring) -> pg_ndistinct [immutable strict] { input pg_ndistinct }
    3356 pg_ndistinct_out(pg_ndistinct) -> cstring [immutable strict] { output pg_ndistinct }
    3357 pg_ndistinct_recv(internal) -> pg_ndistinct [stable strict] { receive pg_ndistinct }
    3358 pg_ndistinct_send(pg_ndistinct) -> bytea [stable strict] { send pg_ndistinct }
    3404 pg_dependencies_in(cstring) -> pg_dependencies [immutable strict] { input pg_dependencies }
    3405 pg_dependencies_out(pg_dependencies) -> cstring [immutable strict] { output pg_dependencies }
    3406 pg_dependencies_recv(internal) -> pg_dependencies [stable strict] { receive pg_dependencies }
    3407 pg_dependencies_send(pg_dependencies) -> bytea [stable strict] { send pg_dependencies }
    5018 pg_mcv_list_in(cstring) -> pg_mcv_list [immutable strict] { input pg_mcv_list }
    5019 pg_mcv_list_out(pg_mcv_list) -> cstring [immutable strict] { output pg_mcv_list }
    5020 pg_mcv_list_recv(internal) -> pg_mcv_list [stable strict] { receive pg_mcv_list }
    5021 pg_mcv_list_send(pg_mcv_list) -> bytea [stable strict] { send pg_mcv_list }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(datum: &Datum) -> &[u8] {
        <&[u8]>::from_datum(datum)
    }

    #[test]
    fn combinations_are_shown_as_postgresql_shows_them() {
        let all = [
            Combination { columns: vec![1, 2], figure: 7.0 },
            Combination { columns: vec![1, -1, 3], figure: 0.5 },
        ];
        let datum = combinations_to_datum(&all);
        assert_eq!(combinations(bytes(&datum)), all);
        assert_eq!(show_distinct(bytes(&datum)), "{\"1, 2\": 7, \"1, -1, 3\": 0}");
        assert_eq!(show_dependencies(bytes(&datum)), "{\"1 => 2\": 7.000000, \"1, -1 => 3\": 0.500000}");
        assert_eq!(combinations(&bytes(&datum)[..bytes(&datum).len() - 1]), all[..1]);
        assert!(combinations(&[1]).is_empty());
    }

    #[test]
    fn items_survive_as_bytes() {
        let item = |values: [Datum; 2], share| CommonItem { values: values.into(), share, base_share: 0.25 };
        let all = CommonItems {
            types: vec![oids::int4, oids::text],
            items: vec![
                item([Datum::Int4(1), Datum::text("a")], 0.5),
                item([Datum::Null, Datum::text("b")], 0.1),
            ],
        };
        let format = crate::FormatContext::default();
        let datum = all.to_datum(&Call::new(&format)).unwrap();
        assert_eq!(CommonItems::from_payload(bytes(&datum)), all);
        for end in 0..bytes(&datum).len() {
            assert_eq!(CommonItems::from_payload(&bytes(&datum)[..end]), CommonItems::default());
        }
    }
}
