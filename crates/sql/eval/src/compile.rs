//! From a plan's expressions to [`Code`]: an expression that a child's rows carry becomes its place there.

use std::sync::Arc;

use base::{Oid, SqlError, SqlResult};
use catalog::FunctionDef;
use plan::{CallForm, Expr, RelId, Statement, SubPlanKind, SubPlanRef};
use types::Imp;
use types::Order;
use types::numeric::Arithmetic;
use types::registry::{Relation, Subscripting, subscripting};

use crate::code::*;
use crate::decimal::DecimalCode;
use crate::json::JsonCode;
use crate::node::BoxNode;
use crate::truth::{CompareCode, ListCode};
use crate::xml::XmlCode;

/// A subplan ready to run, with what it remembers between runs.
pub struct SubProgram {
    /// Its nodes.
    pub node: BoxNode,
    /// Its result if it was run and nothing it depends on changed since.
    pub cache: Option<SubCache>,
    /// Cells that it reads from outside.
    pub depends: Vec<plan::ParamId>,
    /// Run at least once: it must be rescanned before the next run.
    pub started: bool,
    /// Rows of a common table expression so far; shared by its scans.
    pub rows: crate::row_store::RowStore,
    /// The common table expression has given its last row.
    pub finished: bool,
}

/// A remembered result.
pub enum SubCache {
    /// The value, and the cells' values it was computed for.
    Value(tuple::Datum, Vec<tuple::Datum>),
    /// Rows by key, and whether a NULL key occurred.
    Hashed(crate::subplan::HashedRows, Vec<tuple::Datum>),
}

/// A scan's row before projection: leading columns of the table, then system columns.
#[derive(Clone, Debug)]
pub struct RawRow {
    /// The relation.
    pub rel: RelId,
    /// Columns decoded.
    pub upto: usize,
    /// System columns behind them.
    pub system: Vec<i16>,
    /// Where the row begins in the input row.
    pub start: usize,
}

impl RawRow {
    /// What `exprs` need of a relation.
    pub fn of<'e>(rel: RelId, exprs: impl IntoIterator<Item = &'e Expr>, columns: usize) -> RawRow {
        let mut raw = RawRow { rel, upto: 0, system: Vec::new(), start: 0 };
        for expr in exprs {
            expr.any(&mut |e| {
                if let Expr::Var(var) = e
                    && var.rel == rel
                {
                    match var.column {
                        0 => raw.upto = columns,
                        c if c > 0 => raw.upto = raw.upto.max(c as usize),
                        c if !raw.system.contains(&c) => raw.system.push(c),
                        _ => {}
                    }
                }
                false
            });
        }
        raw
    }

    /// The columns of the relation that `exprs` read, from 0; all, if they read what is no column of its own.
    pub fn read_by<'e>(&self, exprs: impl IntoIterator<Item = &'e Expr>) -> Vec<bool> {
        let mut read = vec![false; self.upto];
        let mut all = false;
        for expr in exprs {
            expr.any(&mut |e| {
                if let Expr::Var(var) = e
                    && var.rel == self.rel
                {
                    match usize::try_from(var.column) {
                        Ok(column @ 1..) => read[column - 1] = true,
                        _ => all = true,
                    }
                }
                false
            });
        }
        if all {
            read.fill(true);
        }
        read
    }

    fn place(&self, column: i16) -> Option<usize> {
        if column > 0 {
            return Some(self.start + column as usize - 1);
        }
        self.system.iter().position(|c| *c == column).map(|i| self.start + self.upto + i)
    }
}

/// What the rows that an expression reads carry.
#[derive(Clone, Copy, Default)]
pub struct Inputs<'p> {
    /// Outer or only input.
    pub outer: &'p [Expr],
    /// Inner input.
    pub inner: &'p [Expr],
    /// The outer input is a scan's row.
    pub raw: Option<&'p RawRow>,
    /// The inner input is a scan's row.
    pub inner_raw: Option<&'p RawRow>,
    /// Rows of a changed table before and after, which the outer input carries too; those that are not there are all NULL.
    pub versions: &'p [RawRow],
}

impl<'p> Inputs<'p> {
    /// One child.
    pub fn one(outer: &'p [Expr]) -> Inputs<'p> {
        Inputs { outer, ..Inputs::default() }
    }

    /// Two children.
    pub fn two(outer: &'p [Expr], inner: &'p [Expr]) -> Inputs<'p> {
        Inputs { outer, inner, ..Inputs::default() }
    }

    /// A scan.
    pub fn scan(raw: &'p RawRow) -> Inputs<'p> {
        Inputs { raw: Some(raw), ..Inputs::default() }
    }
}

/// `tableoid`, which every row of a table has.
const TABLEOID: i16 = -6;

/// A function as a pointer, or as the user's function that is called in its place.
fn pointer(function: &plan::Function) -> Option<(types::Eval, Option<Arc<FunctionDef>>)> {
    match (function.imp(), function.user()) {
        (Some(Imp::Native(eval)), _) => Some((eval, None)),
        (None, Some(routine)) => Some(match routine.pointer() {
            Some(eval) => (eval, None),
            None => (called_by_pointer, Some(routine.clone())),
        }),
        _ => None,
    }
}

/// Stands where a user's function has no pointer.
fn called_by_pointer(_: &types::Call<'_>, _: &[tuple::Datum]) -> SqlResult<tuple::Datum> {
    Err(SqlError::internal("a user's function has no pointer"))
}

/// Compiles expressions of one statement.
pub struct Compiler<'p> {
    /// The statement.
    pub statement: &'p Statement,
}

impl Compiler<'_> {
    /// Compiles a list.
    pub fn list(&self, exprs: &[Expr], inputs: Inputs<'_>) -> SqlResult<Box<[Code]>> {
        exprs.iter().map(|e| self.expr(e, inputs)).collect()
    }

    /// Compiles one expression.
    pub fn expr(&self, expr: &Expr, inputs: Inputs<'_>) -> SqlResult<Code> {
        runtime::check_stack()?;
        runtime::check_interrupts()?;
        if !matches!(expr, Expr::Const { .. } | Expr::Param { .. } | Expr::ExecParam { .. }) {
            if let Some(i) = inputs.outer.iter().position(|e| e == expr) {
                return Ok(Code::Outer(i));
            }
            if let Some(i) = inputs.inner.iter().position(|e| e == expr) {
                return Ok(Code::Inner(i));
            }
        }
        let one = |e: &Expr| self.expr(e, inputs).map(Box::new);
        Ok(match expr {
            Expr::Const { value, .. } => Code::Const(value.clone()),
            Expr::Param { number, .. } => Code::Param(*number),
            Expr::ExecParam { id, .. } => Code::Cell(*id),
            Expr::Var(var) => self.var(var, inputs)?,
            Expr::Placeholder(placeholder) => return self.expr(&placeholder.arg, inputs),
            Expr::Call(call) => self.call(call, inputs)?,
            Expr::ArrayOp(op) => {
                if let Some(code) = self.constant_list(op, inputs)? {
                    return Ok(code);
                }
                let Some((eval, routine)) = pointer(&op.function) else {
                    return Err(SqlError::not_supported(format!(
                        "operator {} with ANY or ALL",
                        op.operator.name
                    )));
                };
                Code::ArrayOp(Box::new(ArrayCode {
                    eval,
                    routine,
                    strict: op.function.strict(),
                    any: op.any,
                    left: self.expr(&op.left, inputs)?,
                    array: self.expr(&op.array, inputs)?,
                    collation: op.collation,
                    types: [op.left.type_oid(), op.element],
                }))
            }
            Expr::And(list) => Code::And(self.list(list, inputs)?),
            Expr::Or(list) => Code::Or(self.list(list, inputs)?),
            Expr::Not(arg) => Code::Not(one(arg)?),
            Expr::Test(test, arg) => Code::Test(*test, one(arg)?),
            Expr::Distinct { equality, negated } => {
                Code::Distinct(Box::new(self.pointer_call(equality, inputs)?), *negated)
            }
            Expr::NullIf(call) => Code::NullIf(Box::new(self.pointer_call(call, inputs)?)),
            Expr::Case { operand, arms, otherwise, .. } => Code::Case {
                operand: match operand {
                    Some((cell, operand)) => Some((*cell, one(operand)?)),
                    None => None,
                },
                arms: arms
                    .iter()
                    .map(|(when, then)| Ok((self.expr(when, inputs)?, self.expr(then, inputs)?)))
                    .collect::<SqlResult<_>>()?,
                otherwise: match otherwise {
                    Some(e) => one(e)?,
                    None => Box::new(Code::Const(tuple::Datum::Null)),
                },
            },
            Expr::Coalesce(list, _) => Code::Coalesce(self.list(list, inputs)?),
            Expr::Extreme(greatest, list, type_oid, collation) => Code::Extreme {
                greatest: *greatest,
                args: self.list(list, inputs)?,
                order: {
                    let of = self.statement.types.comparator(*type_oid, *collation)?;
                    of.order.ok_or_else(|| no_order(*type_oid))?
                },
            },
            Expr::Relabel { arg, type_oid, .. } => {
                match types::registry::relabel_converts(arg.type_oid(), *type_oid) {
                    true => Code::Relabel(one(arg)?, *type_oid),
                    false => self.expr(arg, inputs)?,
                }
            }
            Expr::Ordered { arg, .. } => self.expr(arg, inputs)?,
            Expr::IoCast { arg, type_oid, .. } => {
                Code::IoCast { source: arg.type_oid(), arg: one(arg)?, target: *type_oid }
            }
            Expr::ArrayCast { arg, element, cell, target, .. } => {
                Code::ArrayCast { arg: one(arg)?, element: one(element)?, cell: *cell, target: *target }
            }
            Expr::Array { elements, element, nested, .. } => {
                Code::Array(self.list(elements, inputs)?, ArrayShape { element: *element, nested: *nested })
            }
            Expr::Subscript { array, upper, lower, slice, assign, element, container, .. } => {
                let side = |list: &[Option<Expr>]| {
                    list.iter()
                        .map(|e| e.as_ref().map(|e| self.expr(e, inputs)).transpose())
                        .collect::<SqlResult<Box<[_]>>>()
                };
                Code::Subscript(Box::new(SubscriptCode {
                    array: self.expr(array, inputs)?,
                    upper: side(upper)?,
                    lower: side(lower)?,
                    slice: *slice,
                    element: *element,
                    json: subscripting(*container) == Some(Subscripting::Members),
                    entries: types::registry::type_imp(self.statement.types.comparable(*container)).entries,
                    fixed: types::array::FixedArray::of(*container),
                    assign: assign.as_ref().map(|e| self.expr(e, inputs)).transpose()?,
                }))
            }
            Expr::Row { fields, row } => Code::Row(self.list(fields, inputs)?, row.clone()),
            Expr::Field { arg, field, .. } => match &**arg {
                Expr::Row { fields, .. } if *field < fields.len() => self.expr(&fields[*field], inputs)?,
                _ => Code::Field(one(arg)?, *field),
            },
            Expr::FieldStore { arg, fields, row, .. } => Code::FieldStore(Box::new(FieldStoreCode {
                arg: self.expr(arg, inputs)?,
                fields: fields
                    .iter()
                    .map(|(n, e)| Ok((*n, self.expr(e, inputs)?)))
                    .collect::<SqlResult<_>>()?,
                row: row.clone(),
            })),
            Expr::RowNullTest { arg, not, row } => match &**arg {
                Expr::Row { fields, .. } => Code::RowNull { fields: self.list(fields, inputs)?, not: *not },
                _ => Code::RowValueNull { arg: one(arg)?, not: *not, row: row.clone() },
            },
            Expr::ToDomain { arg, cell, checks, .. } => Code::Domain(Box::new(DomainCode {
                arg: self.expr(arg, inputs)?,
                cell: *cell,
                checks: checks
                    .iter()
                    .map(|check| {
                        let condition = check.expr().map(|e| self.expr(e, inputs)).transpose()?;
                        Ok((condition, check.clone()))
                    })
                    .collect::<SqlResult<_>>()?,
            })),
            Expr::CurrentOf { cursor, variable, table } => Code::CurrentOf {
                cursor: cursor.clone(),
                variable: match variable.as_deref() {
                    Some(Expr::Param { number, .. }) => Some(*number),
                    Some(_) => return Err(SqlError::internal("CURRENT OF something other than a parameter")),
                    None => None,
                },
                table: *table,
            },
            Expr::SqlValue(kind, type_oid, typmod) => Code::SqlValue(*kind, *type_oid, *typmod),
            Expr::SubPlan(sub) => Code::Sub(Box::new(self.subplan(sub, inputs)?)),
            Expr::Json(json) => Code::Json(Box::new(self.json(json, inputs)?)),
            Expr::Xml(xml) => Code::Xml(Box::new(self.xml(xml, inputs)?)),
            Expr::Aggregate(call) => {
                return Err(SqlError::internal(format!(
                    "aggregate {} outside an aggregation",
                    call.function.name()
                )));
            }
            Expr::Window(call) => {
                return Err(SqlError::internal(format!(
                    "window function {} outside a window",
                    call.function.name()
                )));
            }
            Expr::Grouping(_) => return Err(SqlError::internal("GROUPING outside an aggregation")),
        })
    }

    fn var(&self, var: &plan::Var, inputs: Inputs<'_>) -> SqlResult<Code> {
        if let Some(raw) = inputs.raw.filter(|r| r.rel == var.rel) {
            if var.column == 0 {
                return self.whole_row(raw, Code::Outer);
            }
            return raw
                .place(var.column)
                .map(Code::Outer)
                .ok_or_else(|| SqlError::internal("column not decoded"));
        }
        if let Some(raw) = inputs.inner_raw.filter(|r| r.rel == var.rel) {
            if var.column == 0 {
                return self.whole_row(raw, Code::Inner);
            }
            return raw
                .place(var.column)
                .map(Code::Inner)
                .ok_or_else(|| SqlError::internal("column not decoded"));
        }
        if let Some(raw) = inputs.versions.iter().find(|r| r.rel == var.rel) {
            let place = |column| raw.place(column).map(Code::Outer);
            let place = |column| place(column).ok_or_else(|| SqlError::internal("column not decoded"));
            if var.column != 0 {
                return place(var.column);
            }
            // A row that is not there is NULL, not a row of NULLs.
            let there = Code::Test(plan::Test::IsNotNull, Box::new(place(TABLEOID)?));
            return Ok(Code::Case {
                operand: None,
                arms: [(there, self.whole_row(raw, Code::Outer)?)].into(),
                otherwise: Box::new(Code::Const(tuple::Datum::Null)),
            });
        }
        Err(SqlError::internal(format!(
            "column {} of relation {} not found in the input rows",
            var.column, self.statement.relations[var.rel].alias
        )))
    }

    /// All columns of a scan's row as one value.
    fn whole_row(&self, raw: &RawRow, column: fn(usize) -> Code) -> SqlResult<Code> {
        let row = self.statement.whole_rows.get(&raw.rel);
        let row = row.ok_or_else(|| SqlError::internal("a whole row of unknown type"))?;
        let place = |(i, field): (usize, &types::record::FieldType)| match field.is_dropped() {
            true => Code::Const(tuple::Datum::Null),
            false => column(raw.start + i),
        };
        Ok(Code::Row(row.fields.iter().enumerate().map(place).collect(), row.clone()))
    }

    /// A call by pointer, with integer operators in their short form.
    fn call(&self, call: &plan::Call, inputs: Inputs<'_>) -> SqlResult<Code> {
        if let Some(op) = int_cmp_of(call.function.oid()) {
            let sides = (self.expr(&call.args[0], inputs)?, self.expr(&call.args[1], inputs)?);
            return Ok(Code::IntCmp(op, Box::new(sides)));
        }
        if let Some(op) = int_op_of(call.function.oid()) {
            let sides = (self.expr(&call.args[0], inputs)?, self.expr(&call.args[1], inputs)?);
            return Ok(Code::IntOp(op, Box::new(sides)));
        }
        if call.args.len() == 2
            && let Some((relation, order)) = self.comparison(call.function.oid(), call.collation)
        {
            let sides = (self.expr(&call.args[0], inputs)?, self.expr(&call.args[1], inputs)?);
            let types = (call.args[0].type_oid(), call.args[1].type_oid());
            return Ok(Code::Compare(Box::new(CompareCode { relation, order, types, sides })));
        }
        if let Some(op) = arithmetic_of(call.function.oid()) {
            let sides = (self.expr(&call.args[0], inputs)?, self.expr(&call.args[1], inputs)?);
            return Ok(Code::Decimal(Box::new(DecimalCode { op, sides })));
        }
        if matches!(pointer(&call.function), Some((_, None))) {
            return Ok(Code::Call(Box::new(self.pointer_call(call, inputs)?)));
        }
        Ok(Code::Other(Box::new(OtherCall {
            function: call.function.clone(),
            args: self.list(&call.args, inputs)?,
            types: call.args.iter().map(Expr::type_oid).collect(),
            result: call.type_oid,
            collation: call.collation,
            variadic: call.variadic,
        })))
    }

    /// A comparison operator as its relation and the order behind it; none where it is not known by which collation, which its function complains about.
    fn comparison(&self, function: Oid, collation: Oid) -> Option<(Relation, Order)> {
        let of = types::registry::comparison(function)?;
        let rules = match of.is_collated() {
            true => self.statement.types.rules(collation).ok()?,
            false => &collation::C,
        };
        Some((of.relation, of.under(rules)))
    }

    /// Equality with any element of a constant array, or difference from all.
    fn constant_list(&self, op: &plan::ArrayOp, inputs: Inputs<'_>) -> SqlResult<Option<Code>> {
        let Expr::Const { value: array @ tuple::Datum::Bytes(_), .. } = &op.array else { return Ok(None) };
        let Some((relation, order)) = self.comparison(op.function.oid(), op.collation) else {
            return Ok(None);
        };
        let asked = if op.any { Relation::Equal } else { Relation::NotEqual };
        let elements = crate::composite::elements(array);
        if relation != asked || op.left.type_oid() != op.element || elements.is_empty() {
            return Ok(None);
        }
        let left = self.expr(&op.left, inputs)?;
        Ok(Some(Code::List(Box::new(ListCode::new(left, elements, order, !op.any)?))))
    }

    /// The call as a pointer and its arguments.
    pub fn pointer_call(&self, call: &plan::Call, inputs: Inputs<'_>) -> SqlResult<CallCode> {
        let Some((eval, routine)) = pointer(&call.function) else {
            let what = match &call.form {
                CallForm::Operator(operator) => format!("operator {}", operator.name),
                _ => format!("function {}", call.function.name()),
            };
            return Err(SqlError::not_supported(format!("{what} here")));
        };
        Ok(CallCode {
            oid: call.function.oid(),
            eval,
            routine,
            strict: call.function.strict(),
            args: self.list(&call.args, inputs)?,
            types: call.args.iter().map(Expr::type_oid).collect(),
            result: call.type_oid,
            collation: call.collation,
            variadic: call.variadic,
        })
    }

    /// A node of SQL/JSON.
    pub fn json(&self, json: &plan::JsonExpr, inputs: Inputs<'_>) -> SqlResult<JsonCode> {
        let returned = json.node.type_oid(&Expr::type_oid);
        Ok(JsonCode {
            node: json.node.map(&mut |e| self.expr(e, inputs))?,
            cell: json.cell,
            types: json.types.clone(),
            integer: self.statement.types.comparable(returned) == types::oids::int4,
        })
    }

    /// A node of XML.
    pub fn xml(&self, xml: &plan::XmlExpr, inputs: Inputs<'_>) -> SqlResult<XmlCode> {
        Ok(XmlCode { node: xml.node.map(&mut |e| self.expr(e, inputs))?, types: xml.types.clone() })
    }

    fn subplan(&self, sub: &SubPlanRef, inputs: Inputs<'_>) -> SqlResult<SubCode> {
        let args = sub
            .args
            .iter()
            .map(|(cell, arg)| Ok((*cell, self.expr(arg, inputs)?)))
            .collect::<SqlResult<Box<[_]>>>()?;
        let kind = match &sub.kind {
            SubPlanKind::Exists => SubKind::Exists,
            SubPlanKind::Scalar => SubKind::Scalar,
            SubPlanKind::Array { nested } => {
                SubKind::Array { element: self.statement.types.element(sub.type_oid), nested: *nested }
            }
            SubPlanKind::Multi { columns } => SubKind::Multi { columns: columns.clone().into() },
            SubPlanKind::Quantified { any, single, test, columns, hash } => SubKind::Quantified {
                any: *any,
                single: *single,
                test: self.expr(test, inputs)?,
                columns: columns.clone().into(),
                hash: match hash {
                    Some(pairs) if sub.args.is_empty() => Some(
                        pairs
                            .iter()
                            .map(|p| {
                                let of = self.statement.types.comparator(p.type_oid, p.collation)?;
                                Ok((self.expr(&p.left, inputs)?, p.column, of))
                            })
                            .collect::<SqlResult<_>>()?,
                    ),
                    _ => None,
                },
            },
        };
        Ok(SubCode { plan: sub.plan, kind, args })
    }
}

/// B-tree order of the values of an expression.
pub fn order_of(statement: &Statement, expr: &Expr) -> SqlResult<Order> {
    let of = statement.types.comparator_of(expr)?;
    of.order.ok_or_else(|| no_order(expr.type_oid()))
}

fn no_order(type_oid: Oid) -> SqlError {
    base::sql_err!(
        UNDEFINED_FUNCTION,
        "could not identify a comparison function for type {}",
        types::format_type(type_oid, None).unwrap_or_else(|| type_oid.to_string())
    )
}

/// Comparisons of integers, and of dates, which are days.
fn int_cmp_of(function: Oid) -> Option<IntCmp> {
    Some(match function.0 {
        65 | 63 | 467 | 158 | 159 | 474 | 852 | 1850 | 1856 | 1086 => IntCmp::Eq,
        144 | 145 | 468 | 164 | 165 | 475 | 853 | 1851 | 1857 | 1091 => IntCmp::Ne,
        66 | 64 | 469 | 160 | 161 | 476 | 854 | 1852 | 1858 | 1087 => IntCmp::Lt,
        149 | 148 | 471 | 166 | 167 | 478 | 856 | 1854 | 1860 | 1088 => IntCmp::Le,
        147 | 146 | 470 | 162 | 163 | 477 | 855 | 1853 | 1859 | 1089 => IntCmp::Gt,
        150 | 151 | 472 | 168 | 169 | 479 | 857 | 1855 | 1861 | 1090 => IntCmp::Ge,
        _ => return None,
    })
}

fn arithmetic_of(function: Oid) -> Option<Arithmetic> {
    Some(match function.0 {
        1724 => Arithmetic::Add,
        1725 => Arithmetic::Sub,
        1726 => Arithmetic::Mul,
        _ => return None,
    })
}

fn int_op_of(function: Oid) -> Option<IntOp> {
    Some(match function.0 {
        177..=179 => IntOp::Add4,
        181..=183 => IntOp::Sub4,
        141 | 170 | 171 => IntOp::Mul4,
        154 | 172 | 173 => IntOp::Div4,
        156 => IntOp::Mod4,
        463 | 1274 | 1278 | 837 | 841 => IntOp::Add8,
        464 | 1275 | 1279 | 942 | 838 => IntOp::Sub8,
        465 | 1276 | 1280 | 839 | 943 => IntOp::Mul8,
        466 | 1277 | 1281 | 840 | 948 => IntOp::Div8,
        945 => IntOp::Mod8,
        _ => return None,
    })
}
