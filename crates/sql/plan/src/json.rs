//! SQL/JSON in plans.

use analyze::{self as a, Json, JsonConstructorKind};
use base::{Oid, SqlResult};
use types::{Volatility, oids};

use crate::convert::Converter;
use crate::expr::{Expr, ParamId};

/// A node of SQL/JSON.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonExpr {
    /// The node.
    pub node: Json<Expr>,
    /// Stands for the document in the conversion of a constructor, for the item of the row in columns of JSON_TABLE; 0 otherwise.
    pub cell: ParamId,
    /// Types of a constructor's arguments, of PASSING, of the operand of IS JSON.
    pub types: Vec<Oid>,
}

impl JsonExpr {
    /// Calls `f` on each direct child.
    pub(crate) fn for_children<'a>(&'a self, f: &mut dyn FnMut(&'a Expr)) {
        let Ok(()) = self.node.children::<std::convert::Infallible>(&mut |e| {
            f(e);
            Ok(())
        });
    }

    /// Calls `f` on each direct child, to be changed.
    pub(crate) fn for_children_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        let Ok(()) = self.node.children_mut::<std::convert::Infallible>(&mut |e| {
            f(e);
            Ok(())
        });
    }

    /// How predictable the node itself is, its operands apart.
    pub(crate) fn volatility(&self) -> Volatility {
        let stable = match &self.node {
            Json::Constructor(c) => match c.kind {
                JsonConstructorKind::Object | JsonConstructorKind::Array | JsonConstructorKind::Scalar => {
                    self.types.iter().any(|t| !types::json::is_immutable(*t))
                }
                _ => false,
            },
            Json::Path(p) => match &p.path {
                Expr::Const { value, .. } => types::json::path::needs_zone(value, &self.types),
                _ => true,
            },
            Json::Table(_) => true,
            Json::Value(_) | Json::Is(_) => false,
        };
        if stable { Volatility::Stable } else { Volatility::Immutable }
    }
}

impl Converter<'_, '_> {
    /// A node of SQL/JSON.
    pub(crate) fn json(&mut self, json: &Json<a::Expr>) -> SqlResult<Expr> {
        // What was written is kept for EXPLAIN, unless it would be planned twice.
        if let Json::Value(v) = json
            && a::walk::contains(&v.raw, |e, _| matches!(e, a::Expr::SubLink(_)))
        {
            return self.expr(&v.formatted);
        }
        let is_inner = |e: &a::Expr| match json {
            Json::Constructor(c) => c.coercion.as_ref().is_some_and(|c| std::ptr::eq(c, e)),
            Json::Table(t) => {
                !std::ptr::eq(&t.context, e) && !t.passing.iter().any(|p| std::ptr::eq(&p.value, e))
            }
            _ => false,
        };
        let celled = match json {
            Json::Constructor(c) => c.coercion.is_some(),
            json => matches!(json, Json::Table(_)),
        };
        let cell = if celled { self.planner.new_cell() } else { 0 };
        let node = json.map(&mut |e| match is_inner(e) {
            true => self.with_case_cell(cell, e),
            false => self.expr(e),
        })?;
        let mut types = Vec::new();
        match &node {
            Json::Constructor(c) => types.extend(c.args.iter().map(Expr::type_oid)),
            Json::Path(p) => types.extend(p.passing.iter().map(|p| p.value.type_oid())),
            Json::Table(t) => {
                types.extend(t.passing.iter().map(|p| p.value.type_oid()));
                self.note_columns(&t.root)?;
            }
            Json::Is(i) => types.push(i.arg.type_oid()),
            Json::Value(_) => {}
        }
        Ok(Expr::Json(Box::new(JsonExpr { node, cell, types })))
    }

    fn note_columns(&mut self, path: &a::JsonTablePath<Expr>) -> SqlResult<()> {
        for column in &path.columns {
            self.planner.note_type(column.type_oid)?;
        }
        path.nested.iter().try_for_each(|n| self.note_columns(n))
    }
}

/// The type of a node.
pub(crate) fn type_oid(json: &JsonExpr) -> Oid {
    match &json.node {
        // An aggregate's document, if nothing converts it.
        Json::Constructor(c) if c.returning.type_oid == Oid::INVALID => oids::json,
        node => node.type_oid(&Expr::type_oid),
    }
}
