//! Which literals of a statement are mere values: a parameter of the same type in their place means the same.
//!
//! Only places where that is certain are looked at. A literal that is a value stands beside an operator whose other side reads a column, in a
//! list or a range that a column is compared with, is a column's new value, or an OFFSET. In every other place it may be more: the number of
//! an output column, a length, a format, a pattern, part of an expression that an index is found by.

use crate::ast::{
    Assignment, CastExpr, Delete, Expr, FromItem, Insert, Literal, Location, OpExpr, OpKind, OpRight, Select,
    SelectBody, Statement, Update,
};
use crate::shape::{Class, Shape};

/// A literal that is a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    /// Its number among the literals of the shape.
    pub literal: usize,
    /// Bytes before the literal that are its minus sign, the same in all texts of the shape; 0 if it has none.
    pub sign: usize,
}

/// The literals of a statement that are values, in the order of the text. `shape` is that of its text.
pub fn values(statement: &Statement, shape: &Shape<'_>) -> Vec<Value> {
    let mut finder = Finder { shape, found: Vec::new(), depth: 0 };
    finder.statement(statement);
    let mut found = finder.found;
    found.sort_by_key(|value| value.literal);
    found.dedup_by_key(|value| value.literal);
    found
}

/// Nesting beyond which nothing is looked for.
const DEEPEST: usize = 100;

/// Operators that do nothing but compute from the values of their operands.
const OPERATORS: [&str; 13] = ["=", "<>", "<", ">", "<=", ">=", "+", "-", "*", "/", "%", "||", "!="];

struct Finder<'s, 't> {
    shape: &'s Shape<'t>,
    found: Vec<Value>,
    depth: usize,
}

impl Finder<'_, '_> {
    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Select(select) => self.select(select),
            Statement::Insert(insert) => self.insert(insert),
            Statement::Update(update) => self.update(update),
            Statement::Delete(delete) => self.delete(delete),
            _ => {}
        }
    }

    fn deeper(&mut self, look: impl FnOnce(&mut Self)) {
        if self.depth < DEEPEST {
            self.depth += 1;
            look(self);
            self.depth -= 1;
        }
    }

    fn select(&mut self, select: &Select) {
        self.deeper(|finder| {
            for cte in select.with.iter().flat_map(|with| &with.ctes) {
                finder.statement(&cte.query);
            }
            match &select.body {
                SelectBody::Simple(simple) => {
                    simple.from.iter().for_each(|item| finder.from(item));
                    finder.filter(&simple.filter);
                }
                SelectBody::Values(_) => {}
                SelectBody::SetOp { left, right, .. } => {
                    finder.select(left);
                    finder.select(right);
                }
            }
            if let Some(Expr::Const { value: Literal::Integer(_), location }) = &select.offset {
                finder.note(*location);
            }
        });
    }

    fn from(&mut self, item: &FromItem) {
        self.deeper(|finder| match item {
            FromItem::Subquery { query, .. } => finder.select(query),
            FromItem::Join(join) => {
                finder.from(&join.left);
                finder.from(&join.right);
                finder.filter(&join.on);
            }
            FromItem::Table(_)
            | FromItem::Sample { .. }
            | FromItem::Function { .. }
            | FromItem::JsonTable(_)
            | FromItem::XmlTable(_) => {}
        });
    }

    fn insert(&mut self, insert: &Insert) {
        match insert.source.as_deref().map(|source| (&source.body, source)) {
            Some((SelectBody::Values(rows), _)) => {
                if let [row] = &rows[..] {
                    row.iter().for_each(|value| self.assigned(value));
                }
            }
            Some((_, source)) => self.select(source),
            None => {}
        }
        if let Some((assignments, filter)) = insert.on_conflict.as_ref().and_then(|c| c.update.as_ref()) {
            self.assignments(assignments);
            self.filter(filter);
        }
    }

    fn update(&mut self, update: &Update) {
        self.assignments(&update.assignments);
        update.from.iter().for_each(|item| self.from(item));
        self.filter(&update.filter);
    }

    fn delete(&mut self, delete: &Delete) {
        delete.using.iter().for_each(|item| self.from(item));
        self.filter(&delete.filter);
    }

    fn assignments(&mut self, assignments: &[Assignment]) {
        for assignment in assignments {
            if let Assignment::Single(_, value) = assignment {
                self.assigned(value);
            }
        }
    }

    /// A column's new value.
    fn assigned(&mut self, value: &Expr) {
        if !self.literal(value) {
            self.expr(value);
        }
    }

    fn filter(&mut self, filter: &Option<Expr>) {
        if let Some(filter) = filter {
            self.expr(filter);
        }
    }

    fn expr(&mut self, expr: &Expr) {
        self.deeper(|finder| match expr {
            Expr::Op(op) => finder.op(op),
            Expr::Bool { args, .. } => args.iter().for_each(|arg| finder.expr(arg)),
            Expr::NullTest { arg, .. } | Expr::BooleanTest { arg, .. } => finder.expr(arg),
            Expr::SubLink(link) => {
                if let Some(test) = &link.test {
                    finder.expr(test);
                }
                finder.select(&link.query);
            }
            _ => {}
        });
    }

    fn op(&mut self, op: &OpExpr) {
        let Some(left) = &op.left else { return };
        let known = match (op.kind, &op.name.0[..]) {
            (OpKind::Op | OpKind::Distinct | OpKind::NotDistinct, [name]) => {
                OPERATORS.contains(&name.as_str())
            }
            (OpKind::In | OpKind::Between | OpKind::NotBetween, _) => true,
            _ => false,
        };
        if !known {
            return;
        }
        match &op.right {
            OpRight::Expr(right) => {
                self.operand(left, right);
                self.operand(right, left);
            }
            OpRight::List(list) => {
                self.expr(left);
                list.iter().for_each(|right| self.operand(right, left));
            }
        }
    }

    /// One side of an operator.
    fn operand(&mut self, operand: &Expr, other: &Expr) {
        if !(reads_column(other) && self.literal(operand)) {
            self.expr(operand);
        }
    }

    /// Notes an expression that is a literal, or one that is cast by `::` or CAST; false if it is none.
    fn literal(&mut self, expr: &Expr) -> bool {
        match expr {
            Expr::Const { value: Literal::Integer(_) | Literal::Float(_) | Literal::String(_), location } => {
                self.note(*location)
            }
            Expr::Cast(cast) => match &**cast {
                CastExpr { arg: Expr::Const { value: Literal::String(_), location }, type_name, .. }
                    // `date '…'` cannot be written with a parameter.
                    if type_name.location > *location =>
                {
                    self.note(*location)
                }
                _ => false,
            },
            _ => false,
        }
    }

    fn note(&mut self, location: Location) -> bool {
        let Some(start) = location.offset() else { return false };
        let literals = self.shape.literals();
        let number = literals.partition_point(|literal| literal.start < start);
        let Some(literal) = literals.get(number) else { return false };
        let sign = literal.start - start;
        if sign > 0 {
            let between = &self.shape.text().as_bytes()[start..literal.start];
            let signed = matches!(between, [b'-', rest @ ..] if rest.iter().all(u8::is_ascii_whitespace));
            // With its sign a larger number may be of a smaller type.
            if !signed || !matches!(literal.class, Class::Int4 | Class::Numeric) {
                return false;
            }
        }
        self.found.push(Value { literal: number, sign });
        true
    }
}

/// Whether an expression reads a column, as far as its obvious parts tell.
fn reads_column(expr: &Expr) -> bool {
    match expr {
        Expr::Column(_) => true,
        Expr::Op(op) => {
            op.left.as_ref().is_some_and(reads_column)
                || matches!(&op.right, OpRight::Expr(right) if reads_column(right))
        }
        Expr::Cast(cast) => reads_column(&cast.arg),
        Expr::Func(call) => call.args.iter().any(reads_column),
        Expr::Indirection { arg, .. } => reads_column(arg),
        _ => false,
    }
}
