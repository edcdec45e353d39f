//! # What
//! `hstore`: sets of keys with a text each.
//!
//! # Layout
//! `value`: the payload and the text form. `functions`: what is done with sets. `rows`: from rows and into them. `tree`: GiST. `parts`: GIN.
//!
//! # PostgreSQL counterpart and differences
//! `contrib/hstore`. Signatures of GiST have as many bytes as `siglen` says.

mod functions;
mod parts;
mod rows;
mod tree;
pub(crate) mod value;

use session::module::{Module, ModuleFunction};
use tuple::{Datum, Physical};
use types::registry::libraries::{LibraryType, Parts, Tree, TypeSymbols};
use types::registry::{Entries, TypeImp, TypeInfo};
use types::value::{FromDatum, Reader};
use types::{compare, hashing, oids};

use ModuleFunction::{Session, Value};
use value::Hstore;

/// The extension.
pub static MODULE: Module = Module {
    name: "hstore",
    version: "1.8",
    comment: "data type for storing sets of (key, value) pairs",
    relocatable: true,
    trusted: true,
    script: include_str!("script.sql"),
    types: &[HSTORE, GHSTORE],
    trees: &[("ghstore", Tree::Plain(&tree::SIGNATURES))],
    parts: &[("gin_extract_hstore_query", Parts::Plain(&parts::Pairs))],
    support: &["gin_extract_hstore", "gin_consistent_hstore"],
    functions: &[
        ("hstore_version_diag", Value(|_, _| Ok(Datum::Int4(2)))),
        ("hstore_fetchval", Value(functions::get)),
        ("hstore_slice_to_array", Value(functions::slice_array)),
        ("hstore_slice_to_hstore", Value(functions::slice)),
        ("hstore_exists", Value(functions::exists)),
        ("hstore_exists_any", Value(functions::exists_any)),
        ("hstore_exists_all", Value(functions::exists_all)),
        ("hstore_defined", Value(functions::is_defined)),
        ("hstore_delete", Value(functions::delete_key)),
        ("hstore_delete_array", Value(functions::delete_keys)),
        ("hstore_delete_hstore", Value(functions::delete_pairs)),
        ("hstore_concat", Value(functions::concat)),
        ("hstore_contains", Value(|_, args| Ok(Datum::Bool(two(args, |a, b| a.contains(b)))))),
        ("hstore_contained", Value(|_, args| Ok(Datum::Bool(two(args, |a, b| b.contains(a)))))),
        ("hstore_from_text", Value(functions::from_text)),
        ("hstore_from_arrays", Value(functions::from_arrays)),
        ("hstore_from_array", Value(functions::from_array)),
        ("hstore_to_json", Value(|_, args| functions::to_json(args, false))),
        ("hstore_to_json_loose", Value(|_, args| functions::to_json(args, true))),
        ("hstore_to_jsonb", Value(|_, args| functions::to_jsonb(args, false))),
        ("hstore_to_jsonb_loose", Value(|_, args| functions::to_jsonb(args, true))),
        ("hstore_from_record", Value(rows::from_row)),
        ("hstore_populate_record", Value(rows::populate)),
        ("hstore_to_array", Value(functions::to_array)),
        ("hstore_to_matrix", Value(functions::to_matrix)),
        ("hstore_akeys", Value(functions::keys)),
        ("hstore_avals", Value(functions::values)),
        ("hstore_skeys", Session(functions::set_of_keys)),
        ("hstore_svals", Session(functions::set_of_values)),
        ("hstore_each", Session(functions::each)),
        ("hstore_eq", Value(|_, args| Ok(Datum::Bool(order(args).is_eq())))),
        ("hstore_ne", Value(|_, args| Ok(Datum::Bool(order(args).is_ne())))),
        ("hstore_gt", Value(|_, args| Ok(Datum::Bool(order(args).is_gt())))),
        ("hstore_ge", Value(|_, args| Ok(Datum::Bool(order(args).is_ge())))),
        ("hstore_lt", Value(|_, args| Ok(Datum::Bool(order(args).is_lt())))),
        ("hstore_le", Value(|_, args| Ok(Datum::Bool(order(args).is_le())))),
        ("hstore_cmp", Value(|_, args| Ok(Datum::Int4(order(args) as i32)))),
        ("hstore_hash", Value(|_, args| Ok(Datum::Int4(hash(&args[0], 0) as i32)))),
        (
            "hstore_hash_extended",
            Value(|_, args| Ok(Datum::Int8(hash(&args[0], i64::from_datum(&args[1]) as u64) as i64))),
        ),
    ],
    ..Module::LIBRARY
};

const HSTORE: LibraryType = LibraryType {
    imp: TypeImp {
        row: Some(TypeInfo::new(base::Oid(9800), "hstore", b'U', Physical::Varlena)),
        input: |_, text, _, cx| value::read(text, cx),
        output: |_, value, _, out| {
            value::write(Hstore::from_datum(value), out);
            Ok(())
        },
        receive: |_, reader, _, cx| receive(reader, cx),
        send: |_, value, cx, out| send(Hstore::from_datum(value), cx, out),
        compare: Some(|a, b| Hstore::from_datum(a).compare(Hstore::from_datum(b))),
        equal: Some(|a, b| Hstore::from_datum(a).compare(Hstore::from_datum(b)).is_eq()),
        hash: Some(|value| compare::hash_bytes(<&[u8]>::from_datum(value))),
        seeded_hash: Some(hash),
        entries: Some(&Entries { get: functions::entry, set: functions::with_entry, name: "hstore" }),
        ..TypeImp::NONE
    },
    symbols: TypeSymbols {
        input: "hstore_in",
        output: "hstore_out",
        receive: "hstore_recv",
        send: "hstore_send",
        subscript: "hstore_subscript_handler",
        compare: "hstore_cmp",
        ..TypeSymbols::NONE
    },
};

/// What GiST stores: no values of SQL.
const GHSTORE: LibraryType = LibraryType {
    imp: TypeImp {
        row: Some(TypeInfo::new(base::Oid(9801), "ghstore", b'U', Physical::Varlena)),
        ..TypeImp::NONE
    },
    symbols: TypeSymbols { input: "ghstore_in", output: "ghstore_out", ..TypeSymbols::NONE },
};

fn two<T>(args: &[Datum], of: impl FnOnce(Hstore<'_>, Hstore<'_>) -> T) -> T {
    of(Hstore::from_datum(&args[0]), Hstore::from_datum(&args[1]))
}

fn order(args: &[Datum]) -> std::cmp::Ordering {
    Hstore::from_datum(&args[0]).compare(Hstore::from_datum(&args[1]))
}

fn hash(value: &Datum, seed: u64) -> u64 {
    hashing::hash_bytes(<&[u8]>::from_datum(value), seed)
}

/// Most pairs of a binary form: more cannot lie in a value.
const MOST_PAIRS: i32 = 0x3fff_ffff / 8;

fn receive(reader: &mut Reader<'_>, cx: &types::Call<'_>) -> base::SqlResult<Datum> {
    let count = reader.i32()?;
    if !(0..=MOST_PAIRS).contains(&count) {
        return Err(base::sql_err!(
            PROGRAM_LIMIT_EXCEEDED,
            "number of pairs ({count}) exceeds the maximum allowed ({MOST_PAIRS})"
        ));
    }
    let text = |reader: &mut Reader<'_>| {
        let length = reader.i32()?;
        let Ok(length) = usize::try_from(length) else { return Ok(None) };
        types::receive(oids::text, reader.take(length)?, -1, cx).map(Some)
    };
    let mut pairs = Vec::new();
    for _ in 0..count {
        let key = text(reader)?.ok_or_else(functions::null_key)?;
        pairs.push((key, text(reader)?));
    }
    value::store(
        pairs
            .iter()
            .map(|(key, value)| (<&str>::from_datum(key), value.as_ref().map(<&str>::from_datum)))
            .collect(),
    )
}

fn send(of: Hstore<'_>, cx: &types::Call<'_>, out: &mut Vec<u8>) -> base::SqlResult<()> {
    out.extend_from_slice(&(of.len() as i32).to_be_bytes());
    let mut text = |text: Option<&str>| {
        let Some(text) = text else {
            out.extend_from_slice(&(-1i32).to_be_bytes());
            return Ok::<_, base::SqlError>(());
        };
        let mut bytes = Vec::new();
        types::send(oids::text, &Datum::text(text), cx, &mut bytes)?;
        out.extend_from_slice(&(bytes.len() as i32).to_be_bytes());
        out.extend_from_slice(&bytes);
        Ok(())
    };
    for (key, value) in of.pairs() {
        text(Some(key))?;
        text(value)?;
    }
    Ok(())
}
