//! The last statement of a function in SQL: its rows brought to the function's result type.
//!
//! PostgreSQL counterpart: `check_sql_fn_retval` of `functions.c`.

use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::view::{CatalogView, FunctionDef};
use types::oids;

use crate::Analyzed;
use crate::ParamTypes;
use crate::coerce::Coercion;
use crate::core::Analyzer;
use crate::expr::{Const, Expr, Location, RowVersion, TargetEntry, Var};
use crate::query::*;

/// What a function declares to return.
#[derive(Clone, Debug, PartialEq)]
pub enum ReturnType {
    /// Nothing: whatever the last statement gives is thrown away.
    Void,
    /// Values of a type that is no row.
    Scalar(Oid),
    /// Rows with these columns; the type is composite or `record`.
    Row(Oid, Vec<ColumnType>),
    /// Rows of whatever columns the statement gives.
    Record,
}

impl ReturnType {
    fn type_oid(&self) -> Oid {
        match self {
            ReturnType::Void => oids::void,
            ReturnType::Scalar(type_oid) | ReturnType::Row(type_oid, _) => *type_oid,
            ReturnType::Record => oids::record,
        }
    }
}

/// What the rows of the statement are to the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReturnForm {
    /// Nothing.
    Ignored,
    /// The only column is the result.
    Value,
    /// The columns are those of the result.
    Row,
}

/// Converts the columns of a function's last statement to what it declares to return.
pub fn convert_result(
    analyzed: &mut Analyzed,
    declared: &ReturnType,
    procedure: bool,
    catalog: &dyn CatalogView,
    call: &types::Call<'_>,
) -> SqlResult<ReturnForm> {
    if *declared == ReturnType::Void {
        return Ok(ReturnForm::Ignored);
    }
    let mut analyzer = Analyzer::new("", ParamTypes::None, catalog, call);
    let mismatch = |a: &Analyzer<'_>, detail: String| mismatch(&a.type_text(declared.type_oid()), detail);
    let query = &mut analyzed.query;
    let columns = analyzer.query_columns(query);
    let returns = match query.command {
        Command::Select => true,
        Command::Utility => false,
        _ => !query.returning.is_empty(),
    };
    if !returns {
        return Err(mismatch(&analyzer, NO_RESULT.to_owned()));
    }
    let single = match columns.as_slice() {
        [one] => analyzer.can_coerce(one.type_oid, declared.type_oid(), types::CastContext::Assignment)?,
        _ => false,
    };
    match declared {
        ReturnType::Scalar(type_oid) => {
            let [column] = columns.as_slice() else {
                return Err(mismatch(
                    &analyzer,
                    "Final statement must return exactly one column.".to_owned(),
                ));
            };
            if !single {
                let detail = format!("Actual return type is {}.", analyzer.type_text(column.type_oid));
                return Err(mismatch(&analyzer, detail));
            }
            analyzer.convert_columns(query, &[Some((*type_oid, -1))])?;
            Ok(ReturnForm::Value)
        }
        ReturnType::Row(type_oid, _) if single && !procedure => {
            analyzer.convert_columns(query, &[Some((*type_oid, -1))])?;
            Ok(ReturnForm::Value)
        }
        ReturnType::Row(_, wanted) => {
            let mut targets = Vec::with_capacity(wanted.len());
            let mut given = columns.iter().enumerate();
            for column in wanted {
                if !column.type_oid.is_valid() {
                    targets.push(None);
                    continue;
                }
                let Some((i, found)) = given.next() else {
                    return Err(mismatch(&analyzer, "Final statement returns too few columns.".to_owned()));
                };
                let assignable = types::CastContext::Assignment;
                if !analyzer.can_coerce(found.type_oid, column.type_oid, assignable)? {
                    let detail = format!(
                        "Final statement returns {} instead of {} at column {}.",
                        analyzer.type_text(found.type_oid),
                        analyzer.type_text(column.type_oid),
                        i + 1
                    );
                    return Err(mismatch(&analyzer, detail));
                }
                targets.push(Some((column.type_oid, column.typmod)));
            }
            if given.next().is_some() {
                return Err(mismatch(&analyzer, "Final statement returns too many columns.".to_owned()));
            }
            analyzer.convert_columns(query, &targets)?;
            Ok(ReturnForm::Row)
        }
        ReturnType::Record if single && columns[0].type_oid == oids::record => Ok(ReturnForm::Value),
        ReturnType::Record => Ok(ReturnForm::Row),
        ReturnType::Void => Ok(ReturnForm::Ignored),
    }
}

/// OUT columns of a function in a call with these argument types, polymorphic ones resolved.
pub fn output_columns(
    function: &FunctionDef,
    arg_types: &[Oid],
    catalog: &dyn CatalogView,
    call: &types::Call<'_>,
) -> SqlResult<Vec<ColumnType>> {
    let mut analyzer = Analyzer::new("", ParamTypes::None, catalog, call);
    let mut columns = Vec::with_capacity(function.out_columns.len());
    for (i, (name, declared)) in function.out_columns.iter().enumerate() {
        let mut inputs = function.args.clone();
        let type_oid = match arg_types.len() == inputs.len() {
            true => analyzer.resolve_polymorphic(arg_types, &mut inputs, *declared)?,
            false => *declared,
        };
        let name = if name.is_empty() { format!("column{}", i + 1) } else { name.clone() };
        let collation = analyzer.type_collation(type_oid)?;
        columns.push(ColumnType { name, type_oid, typmod: -1, collation });
    }
    Ok(columns)
}

/// DETAIL where the last statement gives no rows.
pub const NO_RESULT: &str =
    "Function's final statement must be SELECT or INSERT/UPDATE/DELETE/MERGE RETURNING.";

/// 42P13 of a function whose last statement does not give what it declares.
pub fn mismatch(declared: &str, detail: String) -> SqlError {
    sql_err!(INVALID_FUNCTION_DEFINITION, "return type mismatch in function declared to return {declared}")
        .detail(detail)
}

impl Analyzer<'_> {
    /// Brings a query's columns to these types and modifiers; `None` puts a NULL between them.
    fn convert_columns(&mut self, query: &mut Query, wanted: &[Option<(Oid, i32)>]) -> SqlResult<()> {
        let columns = self.query_columns(query);
        let same = |(column, want): (&ColumnType, &Option<(Oid, i32)>)| {
            want.is_some_and(|(oid, typmod)| {
                column.type_oid == oid && (typmod == -1 || column.typmod == typmod)
            })
        };
        if columns.len() == wanted.len() && columns.iter().zip(wanted).all(same) {
            return Ok(());
        }
        let select = query.command == Command::Select;
        let list = if select { &query.targets } else { &query.returning };
        if select && (query.set_operation.is_some() || list.iter().any(|t| t.sort_ref != 0)) {
            wrap(query, &columns);
        }
        let list = if select { &mut query.targets } else { &mut query.returning };
        let mut given = std::mem::take(list).into_iter();
        let mut converted = Vec::with_capacity(wanted.len());
        for (i, want) in wanted.iter().enumerate() {
            let entry = match want {
                None => null_entry(),
                Some((type_oid, typmod)) => {
                    let mut entry =
                        given.next().ok_or_else(|| SqlError::internal("a result column is missing"))?;
                    let made = self.coerce_to(entry.expr, *type_oid, *typmod, Coercion::assignment())?;
                    entry.expr = made.ok_or_else(|| SqlError::internal("a result cannot be converted"))?;
                    crate::collate::assign(self, &mut entry.expr)?;
                    entry
                }
            };
            converted.push(TargetEntry { resno: i as i16 + 1, ..entry });
        }
        converted.extend(given);
        *if select { &mut query.targets } else { &mut query.returning } = converted;
        Ok(())
    }
}

fn null_entry() -> TargetEntry {
    TargetEntry {
        expr: Expr::Const(Const {
            type_oid: oids::int4,
            typmod: -1,
            collation: Oid::INVALID,
            value: tuple::Datum::Null,
            location: Location::NONE,
        }),
        resno: 0,
        name: None,
        sort_ref: 0,
        source_table: Oid::INVALID,
        source_column: 0,
        junk: false,
    }
}

/// Makes a query the subquery of one that gives the same columns.
fn wrap(query: &mut Query, columns: &[ColumnType]) {
    let inner = std::mem::take(query);
    let target = |(i, c): (usize, &ColumnType)| TargetEntry {
        expr: Expr::Var(Var {
            rte: 0,
            attno: i as i16 + 1,
            type_oid: c.type_oid,
            typmod: c.typmod,
            collation: c.collation,
            levels_up: 0,
            version: RowVersion::Default,
            location: Location::NONE,
        }),
        name: Some(c.name.clone()),
        ..null_entry()
    };
    query.targets = columns.iter().enumerate().map(target).collect();
    query.join_tree.items.push(FromNode::Entry(0));
    query.range_table.push(RangeTableEntry {
        kind: RteKind::Subquery(Subquery {
            query: Box::new(inner),
            view: Oid::INVALID,
            security_barrier: false,
        }),
        alias: None,
        name: "*SELECT*".to_owned(),
        columns: columns.iter().map(|c| c.name.clone()).collect(),
        lateral: false,
        in_from: true,
        access: None,
    });
}
