//! # What
//! Extension modules: what CREATE EXTENSION installs. They are compiled in and registered once, when the server starts.
//!
//! # Layout
//! [`Module`]: what an extension's control file, script and library are in PostgreSQL. [`Modules`]: all of a server. The statements are in
//! `command/extension`; calls of a module's functions start in `routine/call`.
//!
//! # Invariants
//! 1. A module's functions are found by library and symbol (`pg_proc.probin`, `prosrc`), never by name: users may name theirs as they like.
//! 2. Its script runs like any other statements; nothing of it is known beside the catalogs.
//!
//! # PostgreSQL counterpart
//! `commands/extension.c`, `utils/fmgr/dfmgr.c`.

use std::sync::{Arc, OnceLock};

use analyze::routine::ReturnType;
use base::{SqlError, SqlResult, sql_err};
use tuple::Datum;

use crate::routine::{Invocation, Returned, RowShape, RowStore, return_type};
use crate::session::{Instance, Session};

/// An extension that can be installed.
#[derive(Debug)]
pub struct Module {
    /// Name of the extension and of its library.
    pub name: &'static str,
    /// The one version that there is.
    pub version: &'static str,
    /// What it is for.
    pub comment: &'static str,
    /// The schema that it must be in, if its members cannot be anywhere.
    pub schema: Option<&'static str>,
    /// Whether its members can go to another schema later.
    pub relocatable: bool,
    /// Whether who may create objects in the database may install it; otherwise superusers.
    pub trusted: bool,
    /// Extensions that it needs.
    pub requires: &'static [&'static str],
    /// The statements that make its members; `MODULE_PATHNAME` stands for its library.
    pub script: &'static str,
    /// Its functions in C, by symbol.
    pub functions: &'static [(&'static str, ModuleFunction)],
    /// What it does when the server loads it as it starts.
    pub preload: Option<Preload>,
}

impl Module {
    /// A library without functions, which is no extension.
    pub const LIBRARY: Module = Module {
        name: "",
        version: "",
        comment: "",
        schema: None,
        relocatable: false,
        trusted: false,
        requires: &[],
        script: "",
        functions: &[],
        preload: None,
    };

    /// Whether CREATE EXTENSION can install it.
    pub fn is_extension(&self) -> bool {
        !self.version.is_empty()
    }
}

/// What a module does when the server loads it.
pub type Preload = fn(&Arc<Instance>) -> SqlResult<()>;

/// A function of a module.
#[derive(Clone, Copy, Debug)]
pub enum ModuleFunction {
    /// One of values alone.
    Value(fn(&types::Call<'_>, &[Datum]) -> SqlResult<Datum>),
    /// One that needs its session, or gives rows.
    Session(fn(&Session, &Invocation<'_>) -> SqlResult<Returned>),
}

impl ModuleFunction {
    /// Carries out a call.
    pub(crate) fn call(self, session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
        match self {
            ModuleFunction::Value(function) => {
                function(invocation.call, invocation.args).map(Returned::Value)
            }
            ModuleFunction::Session(function) => function(session, invocation),
        }
    }
}

/// The modules of a server, registered once when it starts.
#[derive(Default)]
pub struct Modules(OnceLock<Vec<&'static Module>>);

impl Modules {
    /// Registers them.
    pub fn register(&self, modules: Vec<&'static Module>) {
        let _ = self.0.set(modules);
    }

    /// All of them.
    pub fn all(&self) -> &[&'static Module] {
        self.0.get().map_or(&[], Vec::as_slice)
    }

    /// Those that CREATE EXTENSION can install.
    pub fn extensions(&self) -> impl Iterator<Item = &&'static Module> {
        self.all().iter().filter(|module| module.is_extension())
    }

    /// The one with this name.
    pub fn find(&self, name: &str) -> Option<&'static Module> {
        self.all().iter().find(|module| module.name == name).copied()
    }

    /// The one whose library a statement names: `$libdir/pgcrypto`, or `pgcrypto`, also with the suffix of its file.
    pub(crate) fn library(&self, path: &str) -> SqlResult<&'static Module> {
        let name = path.strip_prefix("$libdir/").unwrap_or(path);
        self.find(name.strip_suffix(".so").unwrap_or(name)).ok_or_else(|| {
            sql_err!(UNDEFINED_FILE, "could not access file \"{path}\": No such file or directory")
        })
    }

    /// The function with this symbol in a library.
    pub(crate) fn function(&self, path: &str, symbol: &str) -> SqlResult<ModuleFunction> {
        let module = self.library(path)?;
        let found = module.functions.iter().find(|(name, _)| *name == symbol);
        found.map(|(_, function)| *function).ok_or_else(|| {
            sql_err!(UNDEFINED_FUNCTION, "could not find function \"{symbol}\" in file \"{path}\"")
        })
    }
}

/// What a function with OUT columns returns: rows of them.
pub fn rows(
    session: &Session,
    invocation: &Invocation<'_>,
    rows: impl IntoIterator<Item = Vec<Datum>>,
) -> SqlResult<Returned> {
    let returns = return_type(session, invocation.function, invocation.call)?;
    let ReturnType::Row(type_oid, columns) = returns else {
        return Err(SqlError::internal("a function that returns rows was expected"));
    };
    let shape = RowShape::new(session, type_oid, &columns)?;
    if !invocation.function.returns_set {
        let row = rows.into_iter().next();
        return Ok(Returned::Value(row.map_or(Datum::Null, |row| shape.row(&row))));
    }
    let mut store = RowStore::default();
    for row in rows {
        session.keep_row(&mut store, vec![shape.row(&row)])?;
    }
    Ok(Returned::Set(store))
}

/// What a function answers that only the server itself may call.
pub fn not_callable(_: &types::Call<'_>, _: &[Datum]) -> SqlResult<Datum> {
    Err(SqlError::not_supported("calling a procedural language's own functions"))
}
