//! All functions, and look-up by OID and by name.

use std::sync::LazyLock;

use base::Oid;
use rustc_hash::FxHashMap;

use super::Function;

/// Every family's entries.
static FAMILIES: &[&[Function]] = &[
    super::aggregates::FUNCTIONS,
    super::catalog_only::FUNCTIONS,
    crate::acl::FUNCTIONS,
    crate::alias::FUNCTIONS,
    crate::array::FUNCTIONS,
    crate::array::kinds::FUNCTIONS,
    crate::array::SEARCH_FUNCTIONS,
    crate::array::parts::FUNCTIONS,
    crate::bool::FUNCTIONS,
    crate::date::FUNCTIONS,
    crate::float::FUNCTIONS,
    crate::foreign::FUNCTIONS,
    crate::ids::FUNCTIONS,
    crate::in_range::FUNCTIONS,
    crate::int::FUNCTIONS,
    crate::interval::FUNCTIONS,
    crate::macaddr::FUNCTIONS,
    crate::xml::FUNCTIONS,
    crate::json::FUNCTIONS,
    crate::json::POPULATE_FUNCTIONS,
    crate::json::parts::FUNCTIONS,
    crate::json::path::FUNCTIONS,
    crate::network::FUNCTIONS,
    crate::numeric::FUNCTIONS,
    crate::pseudo::FUNCTIONS,
    crate::record::FUNCTIONS,
    crate::encoding::FUNCTIONS,
    crate::enums::FUNCTIONS,
    crate::session_functions::FUNCTIONS,
    crate::extended_statistics::FUNCTIONS,
    crate::size::FUNCTIONS,
    crate::snapshot::FUNCTIONS,
    crate::template::MOMENT_FUNCTIONS,
    crate::template::NUMBER_FUNCTIONS,
    crate::template::READ_FUNCTIONS,
    crate::textsearch::FUNCTIONS,
    crate::textsearch::CONFIGURED_FUNCTIONS,
    crate::textsearch::HEADLINE_FUNCTIONS,
    crate::textsearch::INDEX_FUNCTIONS,
    crate::textsearch::DOCUMENT_FUNCTIONS,
    crate::text::FUNCTIONS,
    crate::text::kinds::FUNCTIONS,
    crate::text::EDIT_FUNCTIONS,
    crate::text::FOLDED_FUNCTIONS,
    crate::text::ENCODE_FUNCTIONS,
    crate::text::FORMAT_FUNCTIONS,
    crate::text::NORMAL_FUNCTIONS,
    crate::text::LIKE_FUNCTIONS,
    crate::text::REGEX_FUNCTIONS,
    crate::time::FUNCTIONS,
    crate::timestamp::FUNCTIONS,
    crate::transition::FUNCTIONS,
    crate::range::MULTIRANGE_FUNCTIONS,
    crate::range::FUNCTIONS,
    crate::range::kinds::FUNCTIONS,
    crate::bits::FUNCTIONS,
    crate::money::FUNCTIONS,
    crate::geometry::CIRCLE_FUNCTIONS,
    crate::geometry::POLYGON_FUNCTIONS,
    crate::geometry::PATH_FUNCTIONS,
    crate::geometry::BOX_FUNCTIONS,
    crate::geometry::SEGMENT_FUNCTIONS,
    crate::geometry::LINE_FUNCTIONS,
    crate::geometry::POINT_FUNCTIONS,
];

/// Largest OID that the dense table covers, exclusive: above it PostgreSQL numbers no function by hand.
const DENSE: usize = 10_000;

struct Index {
    all: Vec<&'static Function>,
    /// Position in `all` plus one, by OID; 0 is none.
    by_oid: Vec<u16>,
    by_name: FxHashMap<&'static str, Vec<&'static Function>>,
    by_symbol: FxHashMap<&'static str, Vec<&'static Function>>,
    /// Those that are not called as their functions are.
    symbols: FxHashMap<Oid, &'static str>,
}

/// OIDs with `pg_proc.prosrc`, where that is not the function's name.
const SYMBOLS: &str = include_str!("symbols.txt");

static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let mut all: Vec<&'static Function> = FAMILIES.iter().flat_map(|family| family.iter()).collect();
    all.sort_by_key(|f| f.oid);
    let mut by_oid = vec![0; DENSE];
    let mut by_name: FxHashMap<&'static str, Vec<&'static Function>> = FxHashMap::default();
    let mut by_symbol: FxHashMap<&'static str, Vec<&'static Function>> = FxHashMap::default();
    let symbols: FxHashMap<Oid, &'static str> =
        SYMBOLS.lines().filter_map(|line| line.split_once(' ')).filter_map(symbol_of_line).collect();
    for (i, f) in all.iter().enumerate() {
        by_oid[f.oid.0 as usize] = i as u16 + 1;
        if !super::is_unlisted(f.oid) {
            by_name.entry(f.name).or_default().push(f);
        }
        by_symbol.entry(symbols.get(&f.oid).copied().unwrap_or(f.name)).or_default().push(f);
    }
    Index { all, by_oid, by_name, by_symbol, symbols }
});

fn symbol_of_line((oid, symbol): (&str, &'static str)) -> Option<(Oid, &'static str)> {
    oid.parse().ok().map(|oid| (Oid(oid), symbol))
}

/// What a function is called inside the server (`pg_proc.prosrc`, and after AS in `CREATE FUNCTION … LANGUAGE internal`).
pub fn symbol(function: &Function) -> &'static str {
    INDEX.symbols.get(&function.oid).copied().unwrap_or(function.name)
}

/// All functions that have this name inside the server.
pub fn functions_of_symbol(symbol: &str) -> &'static [&'static Function] {
    INDEX.by_symbol.get(symbol).map_or(&[], Vec::as_slice)
}

/// Every function, by OID.
pub fn functions() -> &'static [&'static Function] {
    &INDEX.all
}

/// The function with this OID.
#[inline]
pub fn function(oid: Oid) -> Option<&'static Function> {
    match INDEX.by_oid.get(oid.0 as usize) {
        None | Some(0) => None,
        Some(n) => Some(INDEX.all[*n as usize - 1]),
    }
}

/// All functions of this name that SQL can call.
pub fn functions_named(name: &str) -> &'static [&'static Function] {
    INDEX.by_name.get(name).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oids;
    use crate::registry::Imp;

    /// Functions that SQL could call and nobody carries out. The list may only become shorter.
    const NOT_CARRIED_OUT: [&str; 3] = ["fmgr_c_validator", "fmgr_internal_validator", "fmgr_sql_validator"];

    #[test]
    fn what_can_be_called_is_carried_out() {
        let callable = |f: &&&Function| !f.args.contains(&oids::internal) && f.result != oids::internal;
        let missing = functions().iter().filter(callable).filter(|f| matches!(f.imp, Imp::CatalogOnly));
        let mut missing: Vec<&str> = missing.map(|f| f.name).collect();
        // Handlers take a pseudo-type, and give one that no expression can have.
        missing.retain(|name| !name.ends_with("handler"));
        missing.sort_unstable();
        assert_eq!(missing, NOT_CARRIED_OUT);
    }

    #[test]
    fn every_function_is_found_by_its_symbol() {
        for f in functions() {
            assert!(functions_of_symbol(symbol(f)).iter().any(|other| other.oid == f.oid), "{}", f.name);
        }
        let known = SYMBOLS.lines().filter_map(|line| line.split_once(' ')).filter_map(symbol_of_line);
        for (oid, symbol) in known {
            assert!(function(oid).is_some_and(|f| f.name != symbol), "{oid} {symbol}");
        }
        let names: Vec<_> = functions_of_symbol("pg_advisory_lock_int8").iter().map(|f| f.name).collect();
        assert_eq!(names, ["pg_advisory_lock"]);
    }
}
