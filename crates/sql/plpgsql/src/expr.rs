//! Expressions and statements of SQL in a function, and the variables that they name.
//!
//! What: an expression is analysed and planned when it is first evaluated, and keeps its plan for the session's later calls. The types of
//! records' fields are those of that moment; when they change, it is made again. One that is a value made of variables is compiled besides
//! ([`Simple`]): no statement runs for it.

use std::cell::{Cell, Ref, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use analyze::ColumnType;
use analyze::variables::{Precedence, Variable, Variables};
use base::{Oid, SqlResult, sql_err};
use parse::RawStatement;
use session::routine::{BodyStatement, SimpleExpression};
use types::oids;

use crate::ast::{ScopeRef, TypeRef, VarId};
use crate::namespace::{Found, lookup};

/// How the text is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A value, or what may follow SELECT.
    Value,
    /// A whole statement.
    Statement,
}

/// SQL within a function.
#[derive(Debug)]
pub struct Expression {
    /// The text.
    pub text: Arc<str>,
    /// How it is read.
    pub form: Form,
    /// The text parsed.
    pub raw: RawStatement,
    /// Names in view.
    pub scope: ScopeRef,
    /// Whether the variable or the column is meant where a name is both.
    pub precedence: Precedence,
    /// The variable that an assignment gives its value to, if it takes NULL.
    pub target: Option<VarId>,
    /// Once it was analysed.
    prepared: RefCell<Option<Prepared>>,
    /// The same, if it is a value that is computed without a statement.
    simple: RefCell<Option<Rc<Simple>>>,
}

/// An expression that is computed over the slots of a frame.
pub struct Simple {
    /// Compiled.
    pub code: SimpleExpression,
    /// The value's type.
    pub ty: TypeRef,
    /// What is put into slots behind the variables' before each run.
    pub inputs: Box<[Input]>,
    /// It reads elements of arrays.
    pub uses_arrays: bool,
    /// Operands of CASE that it uses, and the types that it takes them for.
    pub operands: Box<[(VarId, Oid)]>,
    /// The variable that is given the value, if it has the value's type and takes NULL.
    pub target: Option<VarId>,
    /// The turn in which it was last found to be current.
    pub current: Cell<u64>,
}

/// A field of a record, or a record as a whole, as an expression finds it.
pub struct Input {
    /// Where it is put.
    pub slot: usize,
    /// What it is.
    pub wanted: Use,
    /// The type that it is taken for.
    pub type_oid: Oid,
    /// Where the field is.
    pub place: Place,
}

/// Where a field is in rows with the columns that it was last looked for in.
#[derive(Clone, Debug, Default)]
pub struct Place(RefCell<Option<(Rc<[ColumnType]>, usize)>>);

impl Place {
    /// The number of the column, if these are the same columns again.
    #[inline]
    pub fn known(&self, columns: &Rc<[ColumnType]>) -> Option<usize> {
        match &*self.0.borrow() {
            Some((of, at)) if Rc::ptr_eq(of, columns) => Some(*at),
            _ => None,
        }
    }

    /// The number of the column of this name, if it suits.
    pub fn find(
        &self,
        columns: &Rc<[ColumnType]>,
        name: &str,
        suits: impl Fn(&ColumnType) -> bool,
    ) -> Option<usize> {
        if let Some(at) = self.known(columns) {
            return Some(at);
        }
        let at = columns.iter().position(|c| c.name == name).filter(|at| suits(&columns[*at]));
        *self.0.borrow_mut() = at.map(|at| (columns.clone(), at));
        at
    }
}

/// The name of a record's field that is assigned to.
#[derive(Clone, Debug)]
pub struct FieldName {
    /// The name.
    pub name: String,
    /// Where the field is.
    pub place: Place,
}

impl FieldName {
    /// A field that has not been looked for.
    pub fn new(name: &str) -> FieldName {
        FieldName { name: name.to_owned(), place: Place::default() }
    }
}

/// An expression that was analysed.
#[derive(Clone)]
pub struct Prepared {
    /// The statement.
    pub statement: BodyStatement,
    /// The variables that it uses.
    pub names: Rc<Names>,
    /// Columns of its result, with the plan that gives them.
    pub columns: Rc<[ColumnType]>,
}

impl std::fmt::Debug for Simple {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Simple")
    }
}

impl std::fmt::Debug for Prepared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Prepared")
    }
}

impl Expression {
    /// An expression that has not been analysed.
    pub fn new(
        text: Arc<str>,
        form: Form,
        raw: RawStatement,
        scope: ScopeRef,
        precedence: Precedence,
        target: Option<VarId>,
    ) -> Expression {
        Expression {
            text,
            form,
            raw,
            scope,
            precedence,
            target,
            prepared: RefCell::new(None),
            simple: RefCell::new(None),
        }
    }

    /// What was made of it last time.
    pub fn prepared(&self) -> Option<Prepared> {
        self.prepared.borrow().clone()
    }

    /// Keeps what was made of it.
    pub fn keep(&self, prepared: Prepared, simple: Option<Rc<Simple>>) {
        *self.prepared.borrow_mut() = Some(prepared);
        *self.simple.borrow_mut() = simple;
    }

    /// The compiled expression of the last run, to be checked whether it is still current.
    #[inline]
    pub fn simple(&self) -> Ref<'_, Option<Rc<Simple>>> {
        self.simple.borrow()
    }

    /// Whether it is a value made of no relation, whose errors need no line of their own.
    pub fn is_plain(&self) -> bool {
        use parse::ast::SelectBody;
        match (&self.form, &self.raw.stmt) {
            (Form::Value, parse::Statement::Select(select)) => match &select.body {
                SelectBody::Simple(body) => body.from.is_empty() && body.filter.is_none(),
                _ => false,
            },
            (Form::Value, parse::Statement::Assign(_)) => true,
            _ => false,
        }
    }

    /// The line of context for errors in it.
    pub fn context(&self) -> String {
        match self.form {
            Form::Value => format!("PL/pgSQL expression \"{}\"", self.text),
            Form::Statement => format!("SQL statement \"{}\"", self.text),
        }
    }
}

/// What a parameter of an expression stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Use {
    /// A variable as a whole.
    Variable(VarId),
    /// A field of a record.
    Field(VarId, String),
}

/// What variables are, for analysis: their types, and the columns that records have now.
#[derive(Clone, Debug)]
pub enum Shape {
    /// One value of this type.
    Scalar(TypeRef),
    /// A row: its type, and its columns if they are known.
    Row(Oid, Option<Rc<[ColumnType]>>),
}

/// The type of cursors.
pub const REFCURSOR: TypeRef = TypeRef { oid: oids::refcursor, typmod: -1, collation: Oid(100) };

/// Variables in view of one expression, and those that it uses.
#[derive(Debug)]
pub struct Names {
    scope: ScopeRef,
    precedence: Precedence,
    /// By variable: name and shape.
    shapes: Vec<(String, Shape)>,
    /// Parameters from `$1` on.
    used: RefCell<Vec<(Use, TypeRef)>>,
    /// `$n` of the function.
    arguments: Vec<VarId>,
}

impl Names {
    /// Names in view of an expression, as variables are now.
    pub fn new(expression: &Expression, shapes: Vec<(String, Shape)>, arguments: Vec<VarId>) -> Names {
        Names {
            scope: expression.scope.clone(),
            precedence: expression.precedence,
            shapes,
            used: RefCell::default(),
            arguments,
        }
    }

    /// What the parameters stand for, and the types that they were taken for.
    pub fn used(&self) -> Ref<'_, [(Use, TypeRef)]> {
        Ref::map(self.used.borrow(), Vec::as_slice)
    }

    fn number(&self, wanted: Use, ty: TypeRef) -> i32 {
        let mut used = self.used.borrow_mut();
        let known = used.iter().position(|(known, _)| *known == wanted);
        let at = known.unwrap_or_else(|| {
            used.push((wanted, ty));
            used.len() - 1
        });
        at as i32 + 1
    }

    fn whole(&self, variable: VarId) -> (Use, TypeRef) {
        let ty = match &self.shapes[variable].1 {
            Shape::Scalar(ty) => *ty,
            Shape::Row(oid, _) => TypeRef { oid: *oid, typmod: -1, collation: Oid::INVALID },
        };
        (Use::Variable(variable), ty)
    }

    fn field(&self, variable: VarId, field: &str) -> SqlResult<(Use, TypeRef)> {
        let (name, shape) = &self.shapes[variable];
        let Shape::Row(_, Some(columns)) = shape else {
            return Err(unassigned(name));
        };
        let column = columns.iter().find(|c| c.name == field && c.type_oid.is_valid());
        let column =
            column.ok_or_else(|| sql_err!(UNDEFINED_COLUMN, "record \"{name}\" has no field \"{field}\""))?;
        let ty = TypeRef { oid: column.type_oid, typmod: column.typmod, collation: column.collation };
        Ok((Use::Field(variable, field.to_owned()), ty))
    }
}

/// 55000 of a record without columns.
pub fn unassigned(name: &str) -> base::SqlError {
    sql_err!(OBJECT_NOT_IN_PREREQUISITE_STATE, "record \"{name}\" is not assigned yet")
        .detail("The tuple structure of a not-yet-assigned record is indeterminate.")
}

impl Variables for Names {
    fn parameter(&self, number: i32) -> Option<(i32, Oid)> {
        let at = usize::try_from(number).ok()?.checked_sub(1)?;
        let (wanted, ty) = self.whole(*self.arguments.get(at)?);
        Some((self.number(wanted, ty), ty.oid))
    }

    fn find(&self, names: &[&str]) -> SqlResult<Option<Variable>> {
        let Some(Found { variable, record, names: count }) = lookup(&self.scope, names) else {
            return Ok(None);
        };
        let rest = &names[count..];
        let ((wanted, ty), taken) = match (record, rest) {
            (_, []) => (self.whole(variable), count),
            (true, [field, ..]) => (self.field(variable, field)?, count + 1),
            // A plain variable has no fields: the name is a column's.
            (false, _) => return Ok(None),
        };
        let number = self.number(wanted, ty);
        Ok(Some(Variable {
            number,
            type_oid: ty.oid,
            typmod: ty.typmod,
            collation: ty.collation,
            names: taken,
        }))
    }

    fn precedence(&self) -> Precedence {
        self.precedence
    }

    fn types(&self) -> Vec<Oid> {
        self.used.borrow().iter().map(|(_, ty)| ty.oid).collect()
    }

    fn key(&self) -> Option<String> {
        None
    }
}
