//! What an index is: columns, order, uniqueness; and how values of its columns compare.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use base::{RelFile, SqlError, Tid};
use buffer::Persistence;
use tuple::parts::PartsClass;
use tuple::space::SpaceClass;
use tuple::summary::SummaryClass;
use tuple::tree::TreeClass;
use tuple::{Datum, RowLayout};

/// How two values of a key column compare, ascending. The named ones read the key straight from the page.
#[derive(Clone, Copy, Debug)]
pub enum Compare {
    /// `bool`: false before true.
    Bool,
    /// `"char"`, as an unsigned byte.
    Char,
    /// `int2`; the search value may be any integer [`Datum`].
    Int2,
    /// `int4` and `date`; the search value may be any integer [`Datum`].
    Int4,
    /// `int8`, `timestamp`, `timestamptz`, `time`; the search value may be any integer [`Datum`].
    Int8,
    /// `oid` and its aliases: unsigned.
    Oid,
    /// `float4`; NaN equals itself and sorts after all other values.
    Float4,
    /// `float8`; NaN equals itself and sorts after all other values. The search value may be `float4`.
    Float8,
    /// Byte order: text under the C collation, `name`, `bytea`, `uuid`.
    Bytes,
    /// Anything else. Must be a total order; never sees NULL.
    With(fn(&Datum, &Datum) -> Ordering),
    /// The same, with something behind it: the rules of a collation.
    By(&'static dyn OrderBy),
}

/// An order that is more than a function. It never sees NULL.
pub trait OrderBy: fmt::Debug + Send + Sync {
    /// Order of two values.
    fn compare(&self, a: &Datum, b: &Datum) -> Ordering;

    /// The same by the bytes of values that are kept as bytes; none if these do not tell, or are not to be asked for.
    fn compare_bytes(&self, _a: &[u8], _b: &[u8]) -> Option<Ordering> {
        None
    }

    /// A number that never contradicts the order: of two values, that with the smaller one comes first.
    fn leading(&self, value: &Datum) -> u64;

    /// Whether code of users tells it, which never runs with a latch held ([`asking`](crate::asking())). Then [`compare`](OrderBy::compare) keeps an error of the code for
    /// [`check`](OrderBy::check) to tell.
    fn asks(&self) -> bool {
        false
    }

    /// Order of two values, where an error can be told.
    ///
    /// # Errors
    /// Of code of users.
    fn ask(&self, a: &Datum, b: &Datum) -> Result<Ordering, SqlError> {
        Ok(self.compare(a, b))
    }

    /// Whether code of users failed since this was asked.
    ///
    /// # Errors
    /// The first of them.
    fn check(&self) -> Result<(), SqlError> {
        Ok(())
    }
}

/// How values of a key column hash: equal values have equal codes, whatever types of the operator family they have. Codes are on disk, so they stay what they are.
#[derive(Clone, Copy)]
pub enum HashBy {
    /// By a function, given this seed.
    With(fn(&Datum, u64) -> u64, u64),
    /// The same, with something behind it: the rules of a collation.
    By(&'static (dyn Fn(&Datum) -> u64 + Send + Sync)),
}

impl HashBy {
    /// The code of a value that is not NULL.
    #[inline]
    pub fn code(&self, value: &Datum) -> u32 {
        match self {
            HashBy::With(function, seed) => function(value, *seed) as u32,
            HashBy::By(function) => function(value) as u32,
        }
    }
}

impl fmt::Debug for HashBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HashBy")
    }
}

/// Order of one key column: what its operator class gives as functions.
#[derive(Clone, Copy, Debug)]
pub struct KeyColumn {
    /// How values compare, ascending.
    pub compare: Compare,
    /// `DESC`.
    pub descending: bool,
    /// `NULLS FIRST` (the default of `DESC`).
    pub nulls_first: bool,
}

impl KeyColumn {
    /// Ascending, NULLs last.
    pub fn ascending(compare: Compare) -> KeyColumn {
        KeyColumn { compare, descending: false, nulls_first: false }
    }
}

/// Description of an index, handed down from the catalog.
#[derive(Clone, Debug)]
pub struct IndexDesc {
    /// Its files.
    pub file: RelFile,
    /// Its columns: key columns first, then INCLUDE columns. At most 32.
    pub layout: Arc<RowLayout>,
    /// Order of each key column; the remaining columns of `layout` are INCLUDE columns.
    pub keys: Arc<[KeyColumn]>,
    /// Operator class of each key column; of methods that keep [trees without an order](TreeClass) only, otherwise empty.
    pub trees: Vec<&'static dyn TreeClass>,
    /// Operator class of the key column; of methods that [divide space](SpaceClass) only, otherwise empty.
    pub spaces: Vec<&'static dyn SpaceClass>,
    /// How values of each key column hash; of methods that [keep codes](crate::Facts::keeps_codes) only, otherwise empty.
    pub hashes: Vec<HashBy>,
    /// Operator class of each key column; of methods that keep [parts of values](PartsClass) only, otherwise empty.
    pub parts: Vec<&'static dyn PartsClass>,
    /// What the operator class of each column keeps of many values; of methods that [summarize](crate::Facts::summarizes) only, otherwise empty.
    pub summaries: Vec<Arc<dyn SummaryClass>>,
    /// What a crash may take from it.
    pub persistence: Persistence,
    /// No two live rows may have equal keys.
    pub unique: bool,
    /// NULLs count as equal for `unique`.
    pub nulls_not_distinct: bool,
    /// Values that compare as equal have equal bytes: not so for `numeric`, floats, nondeterministic collations.
    pub equal_image: bool,
    /// Storage parameters that were given, by name. A method knows those of its [facts](crate::Facts::options).
    pub options: Vec<(String, String)>,
}

impl IndexDesc {
    /// Number of key columns.
    #[inline]
    pub fn nkeys(&self) -> usize {
        self.keys.len()
    }

    /// Value of a storage parameter, if it was given.
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Percentage of a page that a build fills: the storage parameter, or what the method takes without it.
    pub fn fillfactor(&self, default: usize) -> usize {
        self.option("fillfactor").and_then(|value| value.parse().ok()).unwrap_or(default).clamp(10, 100)
    }

    /// Whether a storage parameter of truth is not off.
    pub fn is_on(&self, name: &str) -> bool {
        self.option(name).is_none_or(|value| base::settings::parse_bool(value) != Some(false))
    }

    /// Whether a row with these values has an entry: codes are kept of values that are not NULL only.
    pub fn has_entry(&self, values: &[Datum]) -> bool {
        !values.iter().zip(&self.hashes).any(|(value, _)| value.is_null())
    }

    /// Makes of a row's values those that the index keeps: keys of [`trees`](IndexDesc::trees) and [`spaces`](IndexDesc::spaces) may be of another form, and of others there are [codes](IndexDesc::hashes).
    pub fn make_keys(&self, values: &mut [Datum]) {
        for (value, hash) in values.iter_mut().zip(&self.hashes) {
            if !value.is_null() {
                *value = Datum::Int4(hash.code(value) as i32);
            }
        }
        for (value, class) in values.iter_mut().zip(&self.trees) {
            if !value.is_null() {
                *value = class.compress(value);
            }
        }
        for (value, class) in values.iter_mut().zip(&self.spaces) {
            if !value.is_null() {
                *value = class.leaf(value);
            }
        }
    }

    /// Order of two keys in this index (DESC and NULLS FIRST applied); only the key columns are looked at.
    pub fn compare_keys(&self, a: &[Datum], b: &[Datum]) -> Ordering {
        self.keys
            .iter()
            .zip(a.iter().zip(b))
            .map(|(key, (a, b))| compare_column(key, a, b))
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }

    /// [`IndexDesc::compare_keys`], equal keys by their TID.
    pub fn compare_entries(&self, a: (&[Datum], Tid), b: (&[Datum], Tid)) -> Ordering {
        self.compare_keys(a.0, b.0).then(a.1.cmp(&b.1))
    }
}

/// Pages of the table in a range, as the storage parameters of an index that [summarizes](crate::Facts::summarizes) say.
pub fn pages_per_range(options: &[(String, String)]) -> u32 {
    let said = options.iter().find(|(name, _)| name == "pages_per_range");
    said.and_then(|(_, value)| value.parse().ok()).unwrap_or(128).clamp(1, 131_072)
}

/// Whether the storage parameters of an index that [summarizes](crate::Facts::summarizes) ask for a range's summary once rows come to the next one.
pub fn autosummarize(options: &[(String, String)]) -> bool {
    let said = options.iter().find(|(name, _)| name == "autosummarize");
    said.is_some_and(|(_, value)| base::settings::parse_bool(value) == Some(true))
}

/// The bytes of a value that is kept as bytes.
#[inline]
pub fn as_bytes(value: &Datum) -> Option<&[u8]> {
    match value {
        Datum::Bytes(bytes) => Some(bytes),
        _ => None,
    }
}

/// Order of NULL relative to anything else.
#[inline]
pub fn null_order(key: &KeyColumn) -> Ordering {
    if key.nulls_first { Ordering::Less } else { Ordering::Greater }
}

pub(crate) fn as_int(value: &Datum) -> Option<i64> {
    match *value {
        Datum::Bool(v) => Some(i64::from(v)),
        Datum::Char(v) => Some(i64::from(v)),
        Datum::Int2(v) => Some(i64::from(v)),
        Datum::Int4(v) => Some(i64::from(v)),
        Datum::Int8(v) => Some(v),
        Datum::Oid(v) => Some(i64::from(v)),
        _ => None,
    }
}

pub(crate) fn as_float(value: &Datum) -> Option<f64> {
    match *value {
        Datum::Float4(v) => Some(f64::from(v)),
        Datum::Float8(v) => Some(v),
        _ => None,
    }
}

/// PostgreSQL's order of floats: -0 equals 0, NaN equals NaN and is above everything.
fn float_order(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

/// Order of two values that are not NULL, in the type's order. Values of a wrong class compare as equal: a broken promise of the layer
/// above must not crash the server.
#[inline]
pub fn compare_values(compare: Compare, a: &Datum, b: &Datum) -> Ordering {
    match compare {
        Compare::Bool | Compare::Char | Compare::Int2 | Compare::Int4 | Compare::Int8 | Compare::Oid => {
            as_int(a).cmp(&as_int(b))
        }
        Compare::Float4 | Compare::Float8 => match (as_float(a), as_float(b)) {
            (Some(a), Some(b)) => float_order(a, b),
            _ => Ordering::Equal,
        },
        Compare::Bytes => as_bytes(a).cmp(&as_bytes(b)),
        Compare::With(function) => function(a, b),
        Compare::By(order) => order.compare(a, b),
    }
}

/// Order of two values of one key column in index order, NULLs included.
#[inline]
pub fn compare_column(key: &KeyColumn, a: &Datum, b: &Datum) -> Ordering {
    match (a.is_null(), b.is_null()) {
        (true, true) => Ordering::Equal,
        (true, false) => null_order(key),
        (false, true) => null_order(key).reverse(),
        _ => {
            let order = compare_values(key.compare, a, b);
            if key.descending { order.reverse() } else { order }
        }
    }
}
