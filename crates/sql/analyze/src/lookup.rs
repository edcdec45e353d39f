//! Types, functions, operators and casts by name and OID: the built-in registry and the users' ones as one.

use std::borrow::Cow;

use base::{Oid, SqlError, SqlResult, SqlState, sql_err};
use catalog::view::TypeKind;
use parse::ast::{self, Literal, TypeName};
use types::oids;

use crate::core::Analyzer;
use crate::expr::Location;

/// What analysis asks of a type.
#[derive(Clone, Debug)]
pub(crate) struct TypeFacts {
    pub(crate) category: u8,
    pub(crate) preferred: bool,
    /// Element type if this is a true array.
    pub(crate) element: Oid,
    pub(crate) array: Oid,
    pub(crate) collation: Oid,
    pub(crate) kind: TypeKind,
}

/// A function that a call may mean.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) oid: Oid,
    /// Argument types, a variadic one expanded to the call's length.
    pub(crate) args: Vec<Oid>,
    pub(crate) result: Oid,
    pub(crate) returns_set: bool,
    pub(crate) kind: u8,
    /// How many trailing arguments a variadic one was expanded to; 0 if not variadic.
    pub(crate) variadic: usize,
    /// How many defaults are used.
    pub(crate) defaults: usize,
    /// For calls with named arguments: parameter number of each argument given, then those of the defaults.
    pub(crate) order: Option<Vec<usize>>,
    /// A function made by a user.
    pub(crate) user: bool,
    /// Schema, of a user's function.
    pub(crate) schema: Oid,
    /// Another function takes the same arguments with defaults of its own.
    pub(crate) ambiguous: bool,
}

/// An operator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OperatorFacts {
    pub(crate) oid: Oid,
    pub(crate) left: Oid,
    pub(crate) right: Oid,
    pub(crate) result: Oid,
    pub(crate) function: Oid,
}

/// A function in the shape that candidates are made from.
pub(crate) struct Signature<'f> {
    pub(crate) oid: Oid,
    pub(crate) args: &'f [Oid],
    pub(crate) names: Vec<&'f str>,
    pub(crate) result: Oid,
    pub(crate) returns_set: bool,
    pub(crate) kind: u8,
    pub(crate) variadic: Oid,
    pub(crate) defaults: usize,
    pub(crate) user: bool,
    /// Schema, of a user's function.
    pub(crate) schema: Oid,
}

/// Whether the type is polymorphic.
pub fn is_polymorphic(t: Oid) -> bool {
    matches!(t, oids::anyelement | oids::anyarray | oids::anynonarray | oids::anyenum)
        || matches!(t, oids::anyrange | oids::anymultirange)
        || is_compatible_family(t)
}

/// Whether the type is of the `anycompatible` family.
pub(crate) fn is_compatible_family(t: Oid) -> bool {
    matches!(t, oids::anycompatible | oids::anycompatiblearray | oids::anycompatiblenonarray)
        || matches!(t, oids::anycompatiblerange | oids::anycompatiblemultirange)
}

impl Analyzer<'_> {
    /// Facts of a type.
    pub(crate) fn type_facts(&self, oid: Oid) -> SqlResult<TypeFacts> {
        if let Some(t) = types::builtin_type(oid) {
            return Ok(TypeFacts {
                category: t.category,
                preferred: t.preferred,
                element: match t.category {
                    b'A' if t.is_array() => t.element,
                    // Arrays of rows of any type are a pseudo-type.
                    _ if oid == oids::_record => t.element,
                    _ => Oid::INVALID,
                },
                array: t.array,
                collation: t.collation,
                kind: match types::range::builtin_range(oid) {
                    Some(info) if info.range == oid => TypeKind::Range(*info),
                    Some(info) => TypeKind::Multirange(*info),
                    None if t.kind == b'p' => TypeKind::Pseudo,
                    None => TypeKind::Base,
                },
            });
        }
        let t = self
            .catalog
            .type_by_oid(oid)?
            .ok_or_else(|| SqlError::internal(format!("cache lookup failed for type {oid}")))?;
        Ok(TypeFacts {
            category: u8::try_from(t.category).unwrap_or(b'U'),
            preferred: t.preferred,
            element: if t.category == 'A' { t.element } else { Oid::INVALID },
            array: t.array,
            collation: t.collation,
            kind: t.kind.clone(),
        })
    }

    /// A domain's base type and modifier, through domains over domains; the type itself otherwise.
    pub(crate) fn base_type(&self, mut oid: Oid, mut typmod: i32) -> SqlResult<(Oid, i32)> {
        while types::builtin_type(oid).is_none() && oid.is_valid() {
            match self.type_facts(oid)?.kind {
                TypeKind::Domain(d) => {
                    oid = d.base;
                    if typmod < 0 {
                        typmod = d.typmod;
                    }
                }
                _ => break,
            }
        }
        Ok((oid, typmod))
    }

    /// Element type of an array (or of a domain over one); 0 if it is none.
    pub(crate) fn element_type(&self, oid: Oid) -> SqlResult<Oid> {
        match oid {
            oids::int2vector => Ok(oids::int2),
            oids::oidvector => Ok(oids::oid),
            _ => Ok(self.type_facts(self.base_type(oid, -1)?.0)?.element),
        }
    }

    /// Array type over a type; 0 if there is none.
    pub(crate) fn array_type(&self, oid: Oid) -> SqlResult<Oid> {
        Ok(self.type_facts(oid)?.array)
    }

    /// What a range or multirange type is made of; none for other types.
    pub(crate) fn range_info(&self, oid: Oid) -> SqlResult<Option<types::range::RangeInfo>> {
        Ok(match self.type_facts(oid)?.kind {
            TypeKind::Range(info) | TypeKind::Multirange(info) => Some(info),
            _ => None,
        })
    }

    /// Collation that columns of a type have.
    pub(crate) fn type_collation(&self, oid: Oid) -> SqlResult<Oid> {
        if !oid.is_valid() {
            return Ok(oid);
        }
        Ok(self.type_facts(oid)?.collation)
    }

    /// A type's name as error messages show it.
    pub(crate) fn type_text(&self, oid: Oid) -> String {
        crate::names::format_type(self.catalog, oid, None)
    }

    /// A type's name with its modifier.
    pub(crate) fn type_text_mod(&self, oid: Oid, typmod: i32) -> String {
        crate::names::format_type(self.catalog, oid, Some(typmod))
    }

    /// OID and modifier of a type as written.
    pub(crate) fn type_name(&self, name: &TypeName) -> SqlResult<(Oid, i32)> {
        match self.try_type_name(name)? {
            Some(found) => Ok(found),
            None => Err(self.at(
                sql_err!(UNDEFINED_OBJECT, "type \"{}\" does not exist", written_type(name)),
                name.location,
            )),
        }
    }

    /// As [`Analyzer::type_name`], for a value: SETOF is refused.
    pub(crate) fn value_type_name(&self, name: &TypeName) -> SqlResult<(Oid, i32)> {
        if name.setof {
            return Err(self.at(sql_err!(SYNTAX_ERROR, "type declaration cannot be SETOF"), name.location));
        }
        self.type_name(name)
    }

    /// As [`Analyzer::type_name`], `None` if there is no such type.
    pub(crate) fn try_type_name(&self, name: &TypeName) -> SqlResult<Option<(Oid, i32)>> {
        if name.percent_type {
            return self.percent_type(name).map(Some);
        }
        let (schema, last) = match name.names.as_slice() {
            [last] => (None, last),
            [schema, last] => (Some(schema.as_str()), last),
            [_, schema, last] => (Some(schema.as_str()), last),
            _ => return Ok(None),
        };
        let builtin = matches!(schema, None | Some("pg_catalog")).then(|| types::type_named(last)).flatten();
        let mut oid = match builtin {
            Some(t) => t.oid,
            None => match self.user_type(schema, last).map_err(|e| self.at(e, name.location))? {
                Some(t) => {
                    if !t.defined {
                        return Err(self.at(
                            sql_err!(UNDEFINED_OBJECT, "type \"{}\" is only a shell", written_type(name)),
                            name.location,
                        ));
                    }
                    t.oid
                }
                None => return Ok(None),
            },
        };
        let typmod = self.type_modifier(name, oid)?;
        if !name.array_bounds.is_empty() {
            let array = self.array_type(oid)?;
            if !array.is_valid() {
                return Err(self.at(
                    sql_err!(UNDEFINED_OBJECT, "type \"{}\" does not exist", written_type(name)),
                    name.location,
                ));
            }
            oid = array;
        }
        Ok(Some((oid, typmod)))
    }

    fn user_type(
        &self,
        schema: Option<&str>,
        name: &str,
    ) -> SqlResult<Option<std::sync::Arc<catalog::view::TypeDef>>> {
        if schema != Some("pg_catalog") {
            self.check_schema(schema)?;
        }
        self.catalog.type_by_name(schema, name)
    }

    /// Refuses a schema that does not exist.
    fn check_schema(&self, schema: Option<&str>) -> SqlResult<()> {
        match schema {
            Some(name) if self.catalog.schema(name)?.is_none() => {
                Err(sql_err!(INVALID_SCHEMA_NAME, "schema \"{name}\" does not exist"))
            }
            _ => Ok(()),
        }
    }

    fn type_modifier(&self, name: &TypeName, oid: Oid) -> SqlResult<i32> {
        if name.modifiers.is_empty() {
            return Ok(name.typmod);
        }
        let mut words: Vec<Cow<'_, str>> = Vec::with_capacity(name.modifiers.len());
        for modifier in &name.modifiers {
            words.push(match modifier {
                ast::Expr::Const { value: Literal::Integer(i), .. } => Cow::Owned(i.to_string()),
                ast::Expr::Const { value: Literal::Float(s) | Literal::String(s), .. } => {
                    Cow::Borrowed(s.as_str())
                }
                ast::Expr::Column(c) => match c.fields.as_slice() {
                    [ast::Indirection::Field(s)] => Cow::Borrowed(s.as_str()),
                    _ => return Err(self.bad_modifier(name)),
                },
                _ => return Err(self.bad_modifier(name)),
            });
        }
        let Some(modified) = crate::names::modified(self.catalog, oid)? else {
            return Err(self.at(
                sql_err!(SYNTAX_ERROR, "type modifier is not allowed for type \"{}\"", written_type(name)),
                name.location,
            ));
        };
        let words: Vec<&str> = words.iter().map(|w| &**w).collect();
        types::registry::typmod_in(modified, &words).map_err(|e| self.at(e, name.location))
    }

    fn bad_modifier(&self, name: &TypeName) -> SqlError {
        self.at(
            sql_err!(SYNTAX_ERROR, "type modifiers must be simple constants or identifiers"),
            name.location,
        )
    }

    fn percent_type(&self, name: &TypeName) -> SqlResult<(Oid, i32)> {
        let (schema, table, column) = match name.names.as_slice() {
            [table, column] => (None, table, column),
            [schema, table, column] | [_, schema, table, column] => (Some(schema.as_str()), table, column),
            _ => {
                return Err(self.at(
                    sql_err!(
                        SYNTAX_ERROR,
                        "improper %TYPE reference (too few dotted names): {}",
                        name.names.join(".")
                    ),
                    name.location,
                ));
            }
        };
        let relation = self.catalog.relation(schema, table)?.ok_or_else(|| {
            let written = schema.map_or(table.clone(), |s| format!("{s}.{table}"));
            self.at(sql_err!(UNDEFINED_TABLE, "relation \"{written}\" does not exist"), name.location)
        })?;
        match relation.column(column) {
            Some((_, c)) => Ok((c.type_oid, c.typmod)),
            None => Err(self.at(
                sql_err!(UNDEFINED_COLUMN, "column \"{column}\" of relation \"{table}\" does not exist"),
                name.location,
            )),
        }
    }

    /// Runs `f` over every function of a name, built-in ones first.
    pub(crate) fn each_function(&self, name: &ast::Name, f: &mut dyn FnMut(&Signature<'_>)) -> SqlResult<()> {
        let (schema, last) = self.split_name(name)?;
        if matches!(schema, None | Some("pg_catalog")) {
            for b in types::registry::functions_named(last) {
                f(&builtin_signature(b));
            }
        }
        // Extensions may have put theirs there too.
        if schema != Some("pg_catalog") {
            self.check_schema(schema)?;
        }
        for u in self.catalog.functions(schema, last)? {
            let kind = u8::try_from(u.kind).unwrap_or(b'f');
            // A call of a procedure has arguments for its OUT parameters too.
            let all: Vec<Oid> = match self.calling && kind == b'p' {
                true => u.parameters.iter().map(|p| p.type_oid).collect(),
                false => Vec::new(),
            };
            let names = match all.is_empty() {
                true => u.arg_names.iter().map(String::as_str).collect(),
                false => u.parameters.iter().map(|p| p.name.as_str()).collect(),
            };
            f(&Signature {
                oid: u.oid,
                args: if all.is_empty() { &u.args } else { &all },
                names,
                result: u.result,
                returns_set: u.returns_set,
                kind,
                variadic: u.variadic,
                defaults: u.defaults.len(),
                user: true,
                schema: u.schema,
            });
        }
        Ok(())
    }

    /// Every operator of a name, built-in ones first.
    pub(crate) fn operators(&self, name: &ast::Name) -> SqlResult<Vec<OperatorFacts>> {
        let (schema, last) = self.split_name(name)?;
        let mut out = Vec::new();
        if matches!(schema, None | Some("pg_catalog")) {
            out.extend(types::registry::operators_named(last).iter().map(|o| builtin_operator(o)));
        }
        if schema != Some("pg_catalog") {
            self.check_schema(schema)?;
        }
        for o in self.catalog.operators(schema, last)? {
            out.push(OperatorFacts {
                oid: o.oid,
                left: o.left,
                right: o.right,
                result: o.result,
                function: o.function,
            });
        }
        Ok(out)
    }

    /// Schema and last part of a name; a database part must be the current one.
    pub(crate) fn split_name<'n>(&self, name: &'n ast::Name) -> SqlResult<(Option<&'n str>, &'n str)> {
        match name.0.as_slice() {
            [last] => Ok((None, last)),
            [schema, last] => Ok((Some(schema), last)),
            [database, schema, last] => {
                if *database != self.catalog.database() {
                    return Err(SqlError::new(
                        SqlState::FEATURE_NOT_SUPPORTED,
                        format!("cross-database references are not implemented: {}", name.dotted()),
                    ));
                }
                Ok((Some(schema), last))
            }
            _ => Err(sql_err!(
                SYNTAX_ERROR,
                "improper qualified name (too many dotted names): {}",
                name.dotted()
            )),
        }
    }

    /// OID of an operator class, as written, of the method that unique indexes have.
    pub(crate) fn unique_index_class(&self, name: &ast::Name) -> SqlResult<Oid> {
        let method = catalog::DEFAULT_INDEX_METHOD;
        let (schema, last) = self.split_name(name)?;
        self.catalog.operator_class_named(method.oid, schema, last)?.ok_or_else(|| {
            sql_err!(
                UNDEFINED_OBJECT,
                "operator class \"{}\" does not exist for access method \"{}\"",
                name.dotted(),
                method.name
            )
        })
    }

    /// OID of a collation as written.
    pub(crate) fn collation(&self, name: &ast::Name, location: Location) -> SqlResult<Oid> {
        let (schema, last) = self.split_name(name)?;
        let builtin = match (schema, last) {
            (None | Some("pg_catalog"), "default") => Some(Oid(100)),
            (None | Some("pg_catalog"), "C") => Some(Oid(950)),
            (None | Some("pg_catalog"), "POSIX") => Some(Oid(951)),
            _ => None,
        };
        if let Some(oid) = builtin {
            return Ok(oid);
        }
        match self.catalog.collation(schema, last)? {
            Some(c) => Ok(c.oid),
            None => Err(self.at(
                sql_err!(
                    UNDEFINED_OBJECT,
                    "collation \"{}\" for encoding \"{}\" does not exist",
                    name.dotted(),
                    types::text::server_encoding().name()
                ),
                location,
            )),
        }
    }
}

/// An operator of the registry.
pub(crate) fn builtin_operator(o: &types::Operator) -> OperatorFacts {
    OperatorFacts { oid: o.oid, left: o.left, right: o.right, result: o.result, function: o.function }
}

/// A function of the registry.
pub(crate) fn builtin_signature(b: &'static types::Function) -> Signature<'static> {
    let names = if b.arg_modes.is_empty() {
        b.arg_names.to_vec()
    } else {
        let modes = b.arg_modes.iter().zip(b.arg_names);
        modes.filter(|(m, _)| matches!(**m, b'i' | b'b' | b'v')).map(|(_, n)| *n).collect()
    };
    Signature {
        oid: b.oid,
        args: b.args,
        names,
        result: b.result,
        returns_set: b.retset,
        kind: b.kind,
        variadic: b.variadic,
        defaults: b.defaults.len(),
        user: false,
        schema: Oid::INVALID,
    }
}

/// A type's name as it was written, for messages.
pub(crate) fn written_type(name: &TypeName) -> String {
    let mut text = name.names.join(".");
    if name.percent_type {
        text.push_str("%TYPE");
    }
    if !name.array_bounds.is_empty() {
        text.push_str("[]");
    }
    text
}
