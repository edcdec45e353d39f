//! # What
//! Extension modules: what CREATE EXTENSION installs. They are compiled in and registered once, when the server starts.
//!
//! # Layout
//! [`Module`]: what an extension's control file, script and library are in PostgreSQL. [`Modules`]: all of a server. The statements are in
//! `command/extension`. Calls of a module's functions that need their session start in `routine/call`; those of values alone are compiled into expressions
//! as built-in ones are, and like these are not counted by `track_functions`.
//!
//! # Invariants
//! 1. A module's functions, types and operator classes are found by library and symbol (`pg_proc.probin`, `prosrc`), never by name: users may name theirs
//!    as they like. What lower layers ask of them is in `types::registry::libraries`.
//! 2. Its script runs like any other statements; nothing of it is known beside the catalogs.
//!
//! # PostgreSQL counterpart
//! `commands/extension.c`, `utils/fmgr/dfmgr.c`.

use std::sync::{Arc, OnceLock};

use analyze::routine::ReturnType;
use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::FunctionDef;
use eval::trigger::TriggerCall;
use textsearch::dictionary::{Dictionary, Parameter, World};
use tuple::Datum;
use types::Selectivity;
use types::registry::libraries::{self, Library, LibraryType, Parts, Tree};
use types::value::FromDatum;

use crate::foreign::Wrapper;
use crate::routine::{Invocation, Returned, RowShape, RowStore, return_type};
use crate::{Instance, Session};

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
    /// Whether CREATE on the database is enough to install it; otherwise only superusers may.
    pub trusted: bool,
    /// Extensions that it needs.
    pub requires: &'static [&'static str],
    /// The statements that make its members; `MODULE_PATHNAME` stands for its library.
    pub script: &'static str,
    /// Its functions in C, by symbol.
    pub functions: &'static [(&'static str, ModuleFunction)],
    /// Its base types, whose functions need not be in `functions`.
    pub types: &'static [LibraryType],
    /// Its operator classes of GiST, by what the symbols of their support functions begin with.
    pub trees: &'static [(&'static str, Tree)],
    /// Its operator classes of GIN, by the symbol of the support function that takes queries apart.
    pub parts: &'static [(&'static str, Parts)],
    /// Its access methods of indexes, by the symbol of their handler.
    pub methods: &'static [(&'static str, &'static str)],
    /// Functions that estimate what operators select, by symbol.
    pub estimators: &'static [(&'static str, Selectivity)],
    /// What makes dictionaries of its text search templates, by the symbols of the functions that look words up; these stand in `support`.
    pub templates: &'static [(&'static str, MakeDictionary)],
    /// Symbols of functions that the script names but that are never called.
    pub support: &'static [&'static str],
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
        types: &[],
        trees: &[],
        parts: &[],
        methods: &[],
        estimators: &[],
        templates: &[],
        support: &[],
        preload: None,
    };

    /// What lower layers are told of it.
    fn library(&self) -> Library {
        let values = self.functions.iter().filter_map(|(symbol, function)| match function {
            ModuleFunction::Value(eval) => Some((*symbol, *eval)),
            _ => None,
        });
        Library {
            name: self.name,
            types: self.types,
            functions: values.collect(),
            trees: self.trees,
            parts: self.parts,
            methods: self.methods,
            estimators: self.estimators,
        }
    }

    /// The function with this symbol.
    fn function(&self, symbol: &str) -> Option<ModuleFunction> {
        if let Some((_, function)) = self.functions.iter().find(|(name, _)| *name == symbol) {
            return Some(*function);
        }
        if let Some(ty) = libraries::type_of(self.name, symbol) {
            let form = ty.symbols.in_type().into_iter().position(|of| of == symbol)?;
            return Some(ModuleFunction::OfType(ty, form));
        }
        let support = self.support.contains(&symbol) || libraries::is_support(self.name, symbol);
        support.then_some(ModuleFunction::Value(not_called))
    }

    /// Whether CREATE EXTENSION can install it.
    pub fn is_extension(&self) -> bool {
        !self.version.is_empty()
    }
}

/// Makes a dictionary with these parameters.
pub type MakeDictionary = fn(&[Parameter], &dyn World) -> SqlResult<Arc<dyn Dictionary>>;

/// What a module does when the server loads it.
pub type Preload = fn(&Arc<Instance>) -> SqlResult<()>;

/// A function of a module.
#[derive(Clone, Copy, Debug)]
pub enum ModuleFunction {
    /// One of values alone.
    Value(fn(&types::Call<'_>, &[Datum]) -> SqlResult<Datum>),
    /// One that needs its session, or gives rows.
    Session(fn(&Session, &Invocation<'_>) -> SqlResult<Returned>),
    /// One that triggers fire. It answers with the row to go on with, before a change; none: the row is left alone.
    Trigger(fn(&Session, &TriggerCall<'_>) -> SqlResult<Option<Vec<Datum>>>),
    /// The handler of a foreign-data wrapper.
    Wrapper(&'static dyn Wrapper),
    /// A function of a type, by its place among [`TypeSymbols::in_type`](types::registry::libraries::TypeSymbols::in_type).
    OfType(&'static LibraryType, usize),
}

/// Stands for functions that in PostgreSQL only access methods and the planner call; here their work is done elsewhere.
fn not_called(_: &types::Call<'_>, _: &[Datum]) -> SqlResult<Datum> {
    Err(SqlError::not_supported("calling a function that only the server itself calls"))
}

/// Calls a function of a type by its place: text form, binary form, modifiers.
fn of_type(ty: &LibraryType, form: usize, cx: &types::Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    let number = ty.number();
    let typmod = || if let Some(Datum::Int4(typmod)) = args.get(2) { *typmod } else { -1 };
    let mut out = Vec::new();
    match (form, args) {
        (0, [text, ..]) => return types::input(number, <&str>::from_datum(text), typmod(), cx),
        (1, [value]) => types::output(number, value, cx, &mut out)?,
        (3, [value]) => types::send(number, value, cx, &mut out)?,
        (4, [Datum::Bytes(words)]) => {
            let words = types::array::Array::from_payload(words);
            let words: Vec<&str> = words.elements().iter().map(<&str>::from_datum).collect();
            return types::registry::typmod_in(number, &words).map(Datum::Int4);
        }
        (5, [Datum::Int4(typmod)]) => out = types::registry::typmod_out(number, *typmod).into_bytes(),
        _ => return not_called(cx, args),
    }
    Ok(Datum::Bytes(out.into()))
}

fn not_fired(function: &FunctionDef) -> SqlError {
    SqlError::internal(format!("{}: not fired by trigger manager", function.source))
}

impl ModuleFunction {
    /// Carries out a call.
    pub(crate) fn call(self, session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
        match self {
            ModuleFunction::Value(function) => {
                function(invocation.call, invocation.args).map(Returned::Value)
            }
            ModuleFunction::Session(function) => function(session, invocation),
            ModuleFunction::Trigger(_) => Err(not_fired(invocation.function)),
            ModuleFunction::Wrapper(_) => not_called(invocation.call, invocation.args).map(Returned::Value),
            ModuleFunction::OfType(ty, form) => {
                of_type(ty, form, invocation.call, invocation.args).map(Returned::Value)
            }
        }
    }

    /// Carries out what a trigger fires; `function`: this.
    pub(crate) fn fire(
        self,
        session: &Session,
        function: &FunctionDef,
        call: &TriggerCall<'_>,
    ) -> SqlResult<Option<Vec<Datum>>> {
        match self {
            ModuleFunction::Trigger(fire) => fire(session, call),
            _ => Err(SqlError::not_supported(format!("function {}() as a trigger", function.name))),
        }
    }
}

/// The modules of a server, registered once when it starts.
#[derive(Default)]
pub struct Modules(OnceLock<Vec<&'static Module>>);

impl Modules {
    /// Registers them.
    pub fn register(&self, modules: Vec<&'static Module>) {
        libraries::register(modules.iter().map(|module| module.library()).collect());
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
        self.find(libraries::library_name(path)).ok_or_else(|| {
            sql_err!(UNDEFINED_FILE, "could not access file \"{path}\": No such file or directory")
        })
    }

    /// What makes dictionaries of the text search template with this function of a library.
    pub(crate) fn template(&self, path: &str, symbol: &str) -> Option<MakeDictionary> {
        let module = self.library(path).ok()?;
        module.templates.iter().find(|(name, _)| *name == symbol).map(|(_, make)| *make)
    }

    /// The function with this symbol in a library.
    pub fn function(&self, path: &str, symbol: &str) -> SqlResult<ModuleFunction> {
        self.library(path)?.function(symbol).ok_or_else(|| {
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

/// What a function without OUT columns returns: a set of values.
pub fn one_column(session: &Session, values: impl IntoIterator<Item = Datum>) -> SqlResult<Returned> {
    let mut rows = RowStore::default();
    for value in values {
        runtime::check_interrupts()?;
        session.keep_row(&mut rows, vec![value])?;
    }
    Ok(Returned::Set(rows))
}

impl Session {
    /// Types and modifiers of the columns that a call is to return; none if it is not called for rows.
    pub fn row_columns(&self, invocation: &Invocation<'_>) -> SqlResult<Option<Vec<(Oid, i32)>>> {
        let ReturnType::Row(_, columns) = return_type(self, invocation.function, invocation.call)? else {
            return Ok(None);
        };
        Ok(Some(columns.iter().map(|column| (column.type_oid, column.typmod)).collect()))
    }
}

/// What a function answers that only the server itself may call.
pub fn not_callable(_: &types::Call<'_>, _: &[Datum]) -> SqlResult<Datum> {
    Err(SqlError::not_supported("calling a procedural language's own functions"))
}
