//! Virtual generated columns: what stands for them where they are read.
//!
//! What: analysis leaves columns as they are, so that stored queries keep naming them. Planning puts [`value`] in their places: the generation
//! expression over the same row. Nothing is stored for them.
//!
//! Invariants:
//! 1. Where an outer join, OLD or NEW gives no row, they are NULL, whatever the expression makes of nulls.
//!
//! PostgreSQL counterpart: `expand_virtual_generated_columns` of `rewriteHandler.c`.

use std::convert::Infallible;

use base::{Oid, SqlError, SqlResult};
use catalog::view::{CatalogView, Column, Generated, Table};
use types::oids;

use crate::expr::{CaseExpr, CoercionForm, Expr, Location, NullTest, RowExpr, Var, system_column};
use crate::expr_transform::typed_null;
use crate::walk;

/// Whether nothing is stored for a column.
pub fn is_virtual(column: &Column) -> bool {
    column.generated == Generated::Virtual && !column.dropped
}

/// What stands for a column, or (0) a row, of a table: `None` for what is stored.
pub fn value(var: &Var, table: &Table, catalog: &dyn CatalogView) -> SqlResult<Option<Expr>> {
    match var.attno {
        0 if table.columns.iter().any(is_virtual) => Ok(Some(row(var, table))),
        1.. => match table.columns.get(var.attno as usize - 1).filter(|column| is_virtual(column)) {
            Some(column) => expression(var, column, catalog).map(Some),
            None => Ok(None),
        },
        _ => Ok(None),
    }
}

/// Puts what stands for virtual columns of these tables, by range table index, in their places.
pub fn replace(expr: &mut Expr, tables: &[&Table], catalog: &dyn CatalogView) -> SqlResult<()> {
    walk::visit_mut(expr, 0, &mut |e, depth| {
        let Expr::Var(var) = e else { return Ok::<_, SqlError>(true) };
        let Some(table) = tables.get(var.rte).filter(|_| var.levels_up == depth) else { return Ok(true) };
        if let Some(value) = value(var, table, catalog)? {
            *e = value;
            return Ok(false);
        }
        Ok(true)
    })
}

fn expression(var: &Var, column: &Column, catalog: &dyn CatalogView) -> SqlResult<Expr> {
    let missing =
        || SqlError::internal(format!("no generation expression found for column \"{}\"", column.name));
    let mut expr = crate::stored::load_expr(column.default.as_ref().ok_or_else(missing)?, catalog)?;
    let _ = walk::visit_mut::<Infallible>(&mut expr, 0, &mut |e, depth| {
        if let Expr::Var(used) = e {
            (used.rte, used.levels_up, used.version) = (var.rte, var.levels_up + depth, var.version);
        }
        Ok(true)
    });
    match is_strict(&expr) {
        true => Ok(expr),
        false => Ok(if_there(expr, var)),
    }
}

fn row(var: &Var, table: &Table) -> Expr {
    let column = |(i, column): (usize, &Column)| match column.dropped {
        true => typed_null(oids::int4, -1, Oid::INVALID),
        false => Expr::Var(Var {
            attno: i as i16 + 1,
            type_oid: column.type_oid,
            typmod: column.typmod,
            collation: column.collation,
            ..var.clone()
        }),
    };
    let row = Expr::Row(Box::new(RowExpr {
        args: table.columns.iter().enumerate().map(column).collect(),
        row_type: table.row_type,
        names: table.columns.iter().map(|column| column.name.clone()).collect(),
        form: CoercionForm::ImplicitCast,
        location: Location::NONE,
    }));
    if_there(row, var)
}

/// Whether an expression is NULL where its columns are.
fn is_strict(expr: &Expr) -> bool {
    let strict = |function: Oid, args: &[Expr]| {
        types::registry::function(function).is_some_and(|function| function.strict)
            && args.iter().any(is_strict)
    };
    match expr {
        Expr::Var(_) => true,
        Expr::Op(call) => strict(call.function, &call.args),
        Expr::Func(call) => strict(call.function, &call.args),
        Expr::Relabel(relabel) => is_strict(&relabel.arg),
        _ => false,
    }
}

/// An expression over the row of a variable; null where there is no such row.
pub(crate) fn if_there(e: Expr, of: &Var) -> Expr {
    let (type_oid, typmod) = (crate::facts::expr_type(&e, &|_| Oid::INVALID), crate::facts::expr_typmod(&e));
    let collation = crate::facts::expr_collation(&e);
    let marker = Expr::Var(Var {
        attno: system_column::TABLEOID,
        type_oid: oids::oid,
        typmod: -1,
        collation: Oid::INVALID,
        location: Location::NONE,
        ..of.clone()
    });
    let missing =
        Expr::NullTest(Box::new(NullTest { arg: marker, not: false, row: false, location: Location::NONE }));
    Expr::Case(Box::new(CaseExpr {
        result_type: type_oid,
        collation,
        arg: None,
        whens: vec![(missing, typed_null(type_oid, typmod, collation))],
        default: e,
        location: Location::NONE,
    }))
}
