//! Names that stand for parameters: arguments of functions, variables of procedural languages.
//!
//! PostgreSQL counterpart: the parser hooks of `functions.c` and `pl_comp.c`.

use std::fmt::Debug;

use base::{Oid, SqlError, SqlResult, SqlState, sql_err};
use parse::ast;

use crate::ParamTypes;
use crate::core::Analyzer;
use crate::expr::{Expr, Location, Param, ParamKind};

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Number of the parameter, from 1.
    pub number: i32,
    /// Type.
    pub type_oid: Oid,
    /// Modifier.
    pub typmod: i32,
    /// Collation.
    pub collation: Oid,
    /// How many of the names were used; the others select fields of it.
    pub names: usize,
}

/// Who wins where a name may be a column and a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precedence {
    /// The column.
    Columns,
    /// The variable.
    Variables,
    /// Nobody: it is an error with this detail.
    Neither(&'static str),
}

/// The parameters of a statement by number and by name.
pub trait Variables: Debug {
    /// What `$n`, from 1, stands for: the parameter's number and its type.
    fn parameter(&self, number: i32) -> Option<(i32, Oid)>;
    /// The variable that a dotted name begins with.
    fn find(&self, names: &[&str]) -> SqlResult<Option<Variable>>;
    /// Who wins.
    fn precedence(&self) -> Precedence;
    /// Types of all parameters that were assigned, in order.
    fn types(&self) -> Vec<Oid>;
    /// What tells this set of variables from any other that the same text could be analysed with; `None` if nothing does, so that
    /// what is made from it cannot be shared.
    fn key(&self) -> Option<String>;
}

impl Analyzer<'_> {
    /// A column reference where names may stand for variables too.
    pub(crate) fn column_or_variable(&mut self, c: &ast::ColumnRef) -> SqlResult<Expr> {
        let ParamTypes::Variables(variables) = &self.params else { return self.column_ref(c) };
        let variables = variables.clone();
        let precedence = variables.precedence();
        if precedence == Precedence::Variables
            && let Some(found) = self.variable(&*variables, c)?
        {
            return Ok(found);
        }
        match self.column_ref(c) {
            Ok(column) => match precedence {
                Precedence::Neither(detail) if matches!(self.variable(&*variables, c), Ok(Some(_))) => {
                    let shown = dotted(c);
                    let error = sql_err!(AMBIGUOUS_COLUMN, "column reference \"{shown}\" is ambiguous");
                    Err(self.at(error.detail(detail), c.location))
                }
                _ => Ok(column),
            },
            Err(error) if is_missing(&error) => self.variable(&*variables, c)?.ok_or(error),
            Err(error) => Err(error),
        }
    }

    /// The variable before a star.
    pub(crate) fn variable_star(&mut self, c: &ast::ColumnRef) -> SqlResult<Option<Expr>> {
        match &self.params {
            ParamTypes::Variables(variables) => {
                let variables = variables.clone();
                self.variable(&*variables, c)
            }
            _ => Ok(None),
        }
    }

    /// The variable that WHERE CURRENT OF means by a cursor's name.
    pub(crate) fn cursor_variable(&mut self, cursor: &str) -> SqlResult<Option<Expr>> {
        let ParamTypes::Variables(variables) = &self.params else { return Ok(None) };
        let found = variables.find(&[cursor])?;
        let found = found.filter(|variable| variable.type_oid == types::oids::refcursor);
        Ok(found.map(|variable| parameter(&variable, Location::NONE)))
    }

    fn variable(&mut self, variables: &dyn Variables, c: &ast::ColumnRef) -> SqlResult<Option<Expr>> {
        let names = names_of(c);
        let found = variables.find(&names).map_err(|e| self.at(e, c.location))?;
        let Some(found) = found else { return Ok(None) };
        let mut value = parameter(&found, c.location);
        for field in &names[found.names..] {
            value = self.field(value, field, c.location)?;
        }
        Ok(Some(value))
    }
}

fn parameter(variable: &Variable, location: Location) -> Expr {
    Expr::Param(Param {
        kind: ParamKind::Extern,
        id: variable.number,
        type_oid: variable.type_oid,
        typmod: variable.typmod,
        collation: variable.collation,
        location,
    })
}

/// Whether there was no such column or relation.
fn is_missing(error: &SqlError) -> bool {
    matches!(error.code(), SqlState::UNDEFINED_COLUMN | SqlState::UNDEFINED_TABLE)
}

fn names_of(c: &ast::ColumnRef) -> Vec<&str> {
    fn name(field: &ast::Indirection) -> Option<&str> {
        match field {
            ast::Indirection::Field(name) => Some(name.as_str()),
            _ => None,
        }
    }
    c.fields.iter().map_while(name).collect()
}

fn dotted(c: &ast::ColumnRef) -> String {
    names_of(c).join(".")
}

/// The arguments of a function in SQL: `$n`, `name`, `function.name`.
#[derive(Debug)]
pub struct FunctionArguments {
    /// Name of the function.
    pub function: String,
    /// Name, type and collation of each; an empty name if it has none.
    pub list: Vec<(String, Oid, Oid)>,
}

impl FunctionArguments {
    fn named(&self, name: &str, names: usize) -> Option<Variable> {
        let at = self.list.iter().position(|(known, ..)| known == name && !name.is_empty())?;
        let (_, type_oid, collation) = self.list[at];
        Some(Variable { number: at as i32 + 1, type_oid, typmod: -1, collation, names })
    }
}

impl Variables for FunctionArguments {
    fn parameter(&self, number: i32) -> Option<(i32, Oid)> {
        let at = usize::try_from(number).ok()?.checked_sub(1)?;
        self.list.get(at).map(|(_, type_oid, _)| (number, *type_oid))
    }

    fn find(&self, names: &[&str]) -> SqlResult<Option<Variable>> {
        Ok(match names {
            [name] => self.named(name, 1),
            [function, name] if *function == self.function => {
                self.named(name, 2).or_else(|| self.named(function, 1))
            }
            [name, _] => self.named(name, 1),
            [function, name, _] if *function == self.function => self.named(name, 2),
            _ => None,
        })
    }

    fn precedence(&self) -> Precedence {
        Precedence::Columns
    }

    fn types(&self) -> Vec<Oid> {
        self.list.iter().map(|(_, type_oid, _)| *type_oid).collect()
    }

    fn key(&self) -> Option<String> {
        Some(format!("{self:?}"))
    }
}
