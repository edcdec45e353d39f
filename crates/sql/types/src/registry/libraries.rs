//! What libraries of extensions bring to the registry: base types, functions of values alone, operator classes of trees. All are found by library
//! and symbol, as `pg_proc.probin` and `prosrc` name them.
//!
//! # Invariants
//! 1. The server registers them once, when it starts, before a catalog is read; then the lists stay as they are.
//! 2. A type has a number of its own in [`NUMBERS`], by which its descriptor is found. Arrays and rows on disk say it, so that it never changes. No row
//!    of a catalog has it.

use std::sync::OnceLock;

use base::Oid;
use collation::Rules;
use rustc_hash::FxHashMap;
use tuple::parts::PartsClass;
use tuple::tree::TreeClass;

use super::types::{MADE, TypeImp, TypeInfo};
use super::{Eval, Selectivity};

/// The numbers of types of libraries: OIDs that PostgreSQL gives to nothing.
pub const NUMBERS: std::ops::Range<u32> = 9800..9960;

/// A base type of a library.
#[derive(Clone, Copy)]
pub struct LibraryType {
    /// What it is and does. The OID in its row is its number.
    pub imp: TypeImp,
    /// Its functions.
    pub symbols: TypeSymbols,
}

/// Symbols of the functions that a descriptor stands for; empty where the type has none.
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct TypeSymbols {
    pub input: &'static str,
    pub output: &'static str,
    pub receive: &'static str,
    pub send: &'static str,
    pub typmod_in: &'static str,
    pub typmod_out: &'static str,
    pub subscript: &'static str,
    /// The first support function of its B-tree class.
    pub compare: &'static str,
}

impl TypeSymbols {
    /// A type without functions.
    pub const NONE: TypeSymbols = TypeSymbols {
        input: "",
        output: "",
        receive: "",
        send: "",
        typmod_in: "",
        typmod_out: "",
        subscript: "",
        compare: "",
    };

    /// Those that the type's row of `pg_type` names, in its order: text form, binary form, modifiers, subscripts.
    pub fn in_type(&self) -> [&'static str; 7] {
        let TypeSymbols { input, output, receive, send, typmod_in, typmod_out, subscript, .. } = *self;
        [input, output, receive, send, typmod_in, typmod_out, subscript]
    }
}

impl std::fmt::Debug for LibraryType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.row().map_or("", |row| row.name))
    }
}

impl LibraryType {
    /// Its row.
    pub fn row(&self) -> Option<&TypeInfo> {
        self.imp.row.as_ref()
    }

    /// Its number.
    pub fn number(&self) -> Oid {
        self.row().map_or(Oid::INVALID, |row| row.oid)
    }
}

/// An operator class of GiST.
#[derive(Clone, Copy, Debug)]
pub enum Tree {
    /// One that heeds no collation.
    Plain(&'static dyn TreeClass),
    /// One for the rules of each collation.
    Collated(fn(&'static Rules) -> &'static dyn TreeClass),
}

impl Tree {
    /// The class under the rules of a collation.
    pub fn under(self, rules: &'static Rules) -> &'static dyn TreeClass {
        match self {
            Tree::Plain(class) => class,
            Tree::Collated(make) => make(rules),
        }
    }
}

/// An operator class of GIN.
#[derive(Clone, Copy, Debug)]
pub enum Parts {
    /// One that heeds no collation.
    Plain(&'static dyn PartsClass),
    /// One for the rules of each collation.
    Collated(fn(&'static Rules) -> &'static dyn PartsClass),
}

impl Parts {
    /// The class under the rules of a collation.
    pub fn under(self, rules: &'static Rules) -> &'static dyn PartsClass {
        match self {
            Parts::Plain(class) => class,
            Parts::Collated(make) => make(rules),
        }
    }
}

/// What a library brings.
#[derive(Clone)]
pub struct Library {
    /// Its name.
    pub name: &'static str,
    /// Base types.
    pub types: &'static [LibraryType],
    /// Functions of values alone, by symbol.
    pub functions: Vec<(&'static str, Eval)>,
    /// Operator classes of GiST, by what the symbols of their support functions begin with.
    pub trees: &'static [(&'static str, Tree)],
    /// Operator classes of GIN, by the symbol of the support function that takes queries apart.
    pub parts: &'static [(&'static str, Parts)],
    /// Access methods of indexes, by the symbol of their handler.
    pub methods: &'static [(&'static str, &'static str)],
    /// Functions that estimate what operators select, by symbol.
    pub estimators: &'static [(&'static str, Selectivity)],
}

/// The libraries, and where their types are.
struct Libraries {
    by_name: FxHashMap<&'static str, Known>,
    descriptors: [&'static TypeImp; NUMBERS.end as usize - NUMBERS.start as usize],
}

struct Known {
    types: &'static [LibraryType],
    functions: FxHashMap<&'static str, Eval>,
    trees: &'static [(&'static str, Tree)],
    parts: &'static [(&'static str, Parts)],
    methods: &'static [(&'static str, &'static str)],
    estimators: &'static [(&'static str, Selectivity)],
}

static LIBRARIES: OnceLock<Libraries> = OnceLock::new();

/// Registers all libraries; whoever comes later finds those of the first.
pub fn register(libraries: Vec<Library>) {
    LIBRARIES.get_or_init(|| {
        let mut all = Libraries {
            by_name: FxHashMap::default(),
            descriptors: [&MADE; NUMBERS.end as usize - NUMBERS.start as usize],
        };
        for library in libraries {
            for ty in library.types {
                let at = (ty.number().0.wrapping_sub(NUMBERS.start)) as usize;
                if let Some(place) = all.descriptors.get_mut(at) {
                    debug_assert!(place.row.is_none(), "two types of one number: {}", ty.number());
                    *place = &ty.imp;
                }
            }
            let Library { name, types, functions, trees, parts, methods, estimators } = library;
            let functions = functions.into_iter().collect();
            all.by_name.insert(name, Known { types, functions, trees, parts, methods, estimators });
        }
        all
    });
}

/// The name of a library that a statement gave: `$libdir/hstore`, or `hstore`, also with the suffix of its file.
pub fn library_name(path: &str) -> &str {
    let name = path.strip_prefix("$libdir/").unwrap_or(path);
    name.strip_suffix(".so").unwrap_or(name)
}

fn known(path: &str) -> Option<&'static Known> {
    LIBRARIES.get()?.by_name.get(library_name(path))
}

/// The descriptor of a type of a library, by number; that of types made at run time if it is none.
#[cold]
pub(super) fn descriptor(number: Oid) -> &'static TypeImp {
    let at = number.0.wrapping_sub(NUMBERS.start) as usize;
    LIBRARIES.get().and_then(|all| all.descriptors.get(at)).copied().unwrap_or(&MADE)
}

/// The function with this symbol, if it is one of values alone.
pub fn function(path: &str, symbol: &str) -> Option<Eval> {
    known(path)?.functions.get(symbol).copied()
}

/// The type that has a function with this symbol.
pub fn type_of(path: &str, symbol: &str) -> Option<&'static LibraryType> {
    known(path)?.types.iter().find(|ty| !symbol.is_empty() && ty.symbols.in_type().contains(&symbol))
}

/// The type whose B-tree class orders values by the function with this symbol.
pub fn type_compared_by(path: &str, symbol: &str) -> Option<Oid> {
    let of = known(path)?.types.iter().find(|ty| ty.symbols.compare == symbol && !symbol.is_empty())?;
    Some(of.number())
}

/// Whether a library has a support function with this symbol that nobody calls: of a class of GiST or GIN, or one that estimates.
pub fn is_support(path: &str, symbol: &str) -> bool {
    tree_class(path, symbol).is_some()
        || parts_class(path, symbol).is_some()
        || estimator(path, symbol).is_some()
}

/// What the function with this symbol estimates.
pub fn estimator(path: &str, symbol: &str) -> Option<Selectivity> {
    known(path)?.estimators.iter().find(|(of, _)| *of == symbol).map(|(_, of)| *of)
}

/// Of a symbol that belongs to a class of GiST, what it begins with.
fn tree_prefix(symbol: &str) -> Option<&str> {
    const FUNCTIONS: [&str; 11] = [
        "consistent",
        "union",
        "compress",
        "decompress",
        "penalty",
        "picksplit",
        "same",
        "distance",
        "fetch",
        "options",
        "sortsupport",
    ];
    let (prefix, function) = symbol.rsplit_once('_')?;
    FUNCTIONS.contains(&function).then_some(prefix)
}

/// What the operator class of GiST does that has a support function with this symbol.
pub fn tree_class(path: &str, symbol: &str) -> Option<Tree> {
    let prefix = tree_prefix(symbol)?;
    known(path)?.trees.iter().find(|(of, _)| *of == prefix).map(|(_, class)| *class)
}

/// What the operator class of GIN does that takes queries apart by the function with this symbol.
pub fn parts_class(path: &str, symbol: &str) -> Option<Parts> {
    known(path)?.parts.iter().find(|(of, _)| *of == symbol).map(|(_, class)| *class)
}

/// What the operator class of an index of nearest neighbours does whose distance the function with this symbol tells.
pub fn nearest_class(path: &str, symbol: &str) -> Option<Tree> {
    known(path)?.trees.iter().find(|(of, _)| *of == symbol).map(|(_, class)| *class)
}

/// The name of the access method whose handler has this symbol.
pub fn method(path: &str, symbol: &str) -> Option<&'static str> {
    known(path)?.methods.iter().find(|(of, _)| *of == symbol).map(|(_, name)| *name)
}
