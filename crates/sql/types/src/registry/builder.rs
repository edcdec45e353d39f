//! The flags of a `functions!` entry, as constant methods.

use base::Oid;

use super::{Function, Imp, Volatility};

/// An entry under construction; starts as PostgreSQL's defaults: volatile, not strict, parallel safe, cost 1.
#[derive(Clone, Copy)]
pub struct Entry(pub Function);

#[allow(missing_docs)]
impl Entry {
    pub const fn new(oid: u32, name: &'static str, args: &'static [Oid], result: Oid, imp: Imp) -> Entry {
        let kind = match imp {
            Imp::Aggregate => b'a',
            Imp::Window(_) => b'w',
            _ => b'f',
        };
        Entry(Function {
            oid: Oid(oid),
            name: plain(name),
            args,
            result,
            strict: false,
            volatility: Volatility::Volatile,
            retset: matches!(imp, Imp::Set(_)),
            kind,
            leakproof: false,
            parallel: b's',
            variadic: Oid(0),
            cost: 1.0,
            rows: 0.0,
            arg_names: &[],
            arg_modes: &[],
            all_args: &[],
            defaults: &[],
            imp,
        })
    }

    pub const fn immutable(mut self) -> Entry {
        self.0.volatility = Volatility::Immutable;
        self
    }

    pub const fn stable(mut self) -> Entry {
        self.0.volatility = Volatility::Stable;
        self
    }

    pub const fn strict(mut self) -> Entry {
        self.0.strict = true;
        self
    }

    pub const fn leakproof(mut self) -> Entry {
        self.0.leakproof = true;
        self
    }

    pub const fn restricted(mut self) -> Entry {
        self.0.parallel = b'r';
        self
    }

    pub const fn parallel_unsafe(mut self) -> Entry {
        self.0.parallel = b'u';
        self
    }

    /// A set-returning function that the executor carries out.
    pub const fn returns_set(mut self) -> Entry {
        self.0.retset = true;
        self
    }

    /// Rows that are carried out as a set's, of which there is one: no set to the catalog.
    pub const fn one_row(mut self) -> Entry {
        self.0.retset = false;
        self
    }

    pub const fn variadic(mut self, element: Oid) -> Entry {
        self.0.variadic = element;
        self
    }

    pub const fn cost(mut self, cost: f32) -> Entry {
        self.0.cost = cost;
        self
    }

    pub const fn rows(mut self, rows: f32) -> Entry {
        self.0.rows = rows;
        self
    }

    pub const fn names(mut self, names: &'static [&'static str]) -> Entry {
        self.0.arg_names = names;
        self
    }

    /// All arguments with their modes.
    pub const fn outs(mut self, modes: &'static [u8], all: &'static [Oid]) -> Entry {
        self.0.arg_modes = modes;
        self.0.all_args = all;
        self
    }

    pub const fn defaults(mut self, defaults: &'static [&'static str]) -> Entry {
        self.0.defaults = defaults;
        self
    }
}

/// A name as SQL knows it: Rust's own words are written `r#box` in an entry.
const fn plain(name: &'static str) -> &'static str {
    match name.as_bytes() {
        [b'r', b'#', ..] => name.split_at(2).1,
        _ => name,
    }
}
