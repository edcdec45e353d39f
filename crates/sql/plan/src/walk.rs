//! Going through expressions: types, children, replacement, what they mention.

use base::Oid;
use types::Volatility;

use crate::expr::{Expr, ParamId, RelId, SubPlanKind, Test};
use crate::function::Function;
use crate::relset::RelSet;

/// `bool`
const BOOL: Oid = Oid(16);

impl Expr {
    /// A boolean constant.
    pub fn boolean(value: bool) -> Expr {
        Expr::Const { value: tuple::Datum::Bool(value), type_oid: BOOL, typmod: -1 }
    }

    /// The type of the value.
    pub fn type_oid(&self) -> Oid {
        match self {
            Expr::Const { type_oid, .. }
            | Expr::Param { type_oid, .. }
            | Expr::ExecParam { type_oid, .. }
            | Expr::Case { type_oid, .. }
            | Expr::Coalesce(_, type_oid)
            | Expr::Extreme(_, _, type_oid, _)
            | Expr::Relabel { type_oid, .. }
            | Expr::IoCast { type_oid, .. }
            | Expr::ArrayCast { type_oid, .. }
            | Expr::Array { type_oid, .. }
            | Expr::Subscript { type_oid, .. }
            | Expr::FieldStore { type_oid, .. }
            | Expr::ToDomain { type_oid, .. }
            | Expr::SqlValue(_, type_oid, _)
            | Expr::Field { type_oid, .. } => *type_oid,
            Expr::Row { row, .. } => row.type_oid,
            Expr::Var(var) => var.type_oid,
            Expr::Placeholder(placeholder) => placeholder.arg.type_oid(),
            Expr::Ordered { arg, .. } => arg.type_oid(),
            Expr::Call(call) => call.type_oid,
            Expr::NullIf(call) => call.args[0].type_oid(),
            Expr::Aggregate(call) => call.type_oid,
            Expr::Window(call) => call.type_oid,
            Expr::SubPlan(sub) => sub.type_oid,
            Expr::Grouping(_) => Oid(23),
            Expr::CurrentOf { .. } => types::oids::tid,
            Expr::Json(json) => crate::json::type_oid(json),
            Expr::Xml(xml) => xml.node.type_oid(),
            Expr::ArrayOp(_)
            | Expr::And(_)
            | Expr::Or(_)
            | Expr::Not(_)
            | Expr::Test(..)
            | Expr::RowNullTest { .. }
            | Expr::Distinct { .. } => BOOL,
        }
    }

    /// The type modifier of the value, or -1.
    pub fn typmod(&self) -> i32 {
        match self {
            Expr::Const { typmod, .. } | Expr::Relabel { typmod, .. } => *typmod,
            Expr::Var(var) => var.typmod,
            Expr::Placeholder(placeholder) => placeholder.arg.typmod(),
            Expr::Call(call) => call.typmod,
            Expr::SubPlan(sub) => sub.typmod,
            Expr::Json(json) => json.node.typmod(&Expr::typmod),
            _ => -1,
        }
    }

    /// Calls `f` on each direct child.
    pub fn for_children<'a>(&'a self, f: &mut dyn FnMut(&'a Expr)) {
        match self {
            Expr::Const { .. }
            | Expr::Param { .. }
            | Expr::ExecParam { .. }
            | Expr::Var(_)
            | Expr::SqlValue(..)
            | Expr::Grouping(_) => {}
            Expr::CurrentOf { variable, .. } => variable.iter().for_each(|e| f(e)),
            Expr::Json(json) => json.for_children(f),
            Expr::Xml(xml) => xml.for_children(f),
            Expr::Placeholder(placeholder) => f(&placeholder.arg),
            Expr::Call(call) | Expr::NullIf(call) | Expr::Distinct { equality: call, .. } => {
                call.args.iter().for_each(f)
            }
            Expr::ArrayOp(op) => {
                f(&op.left);
                f(&op.array);
            }
            Expr::And(list)
            | Expr::Or(list)
            | Expr::Coalesce(list, _)
            | Expr::Extreme(_, list, ..)
            | Expr::Row { fields: list, .. } => {
                list.iter().for_each(f);
            }
            Expr::Array { elements, .. } => elements.iter().for_each(f),
            Expr::Not(arg)
            | Expr::Test(_, arg)
            | Expr::Relabel { arg, .. }
            | Expr::Ordered { arg, .. }
            | Expr::IoCast { arg, .. }
            | Expr::RowNullTest { arg, .. }
            | Expr::Field { arg, .. } => f(arg),
            Expr::ArrayCast { arg, element, .. } => {
                f(arg);
                f(element);
            }
            Expr::FieldStore { arg, fields, .. } => {
                f(arg);
                fields.iter().for_each(|(_, e)| f(e));
            }
            Expr::ToDomain { arg, checks, .. } => {
                f(arg);
                checks.iter().filter_map(|c| c.check.as_ref()).for_each(|(_, e)| f(e));
            }
            Expr::Case { operand, arms, otherwise, .. } => {
                if let Some((_, operand)) = operand {
                    f(operand);
                }
                for (when, then) in arms {
                    f(when);
                    f(then);
                }
                if let Some(otherwise) = otherwise {
                    f(otherwise);
                }
            }
            Expr::Subscript { array, upper, lower, assign, .. } => {
                f(array);
                upper.iter().chain(lower).flatten().for_each(&mut *f);
                assign.iter().for_each(|e| f(e));
            }
            Expr::Aggregate(call) => {
                call.args.iter().chain(&call.direct).for_each(&mut *f);
                call.order.iter().for_each(|key| f(&key.expr));
                call.filter.iter().for_each(f);
            }
            Expr::Window(call) => {
                call.args.iter().for_each(&mut *f);
                call.filter.iter().for_each(f);
            }
            Expr::SubPlan(sub) => {
                sub.args.iter().for_each(|(_, arg)| f(arg));
                if let SubPlanKind::Quantified { test, hash, .. } = &sub.kind {
                    f(test);
                    hash.iter().flatten().for_each(|pair| f(&pair.left));
                }
            }
        }
    }

    /// Calls `f` on each direct child, to be changed.
    pub fn for_children_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        match self {
            Expr::Const { .. }
            | Expr::Param { .. }
            | Expr::ExecParam { .. }
            | Expr::Var(_)
            | Expr::SqlValue(..)
            | Expr::Grouping(_) => {}
            Expr::CurrentOf { variable, .. } => variable.iter_mut().for_each(|e| f(e)),
            Expr::Json(json) => json.for_children_mut(f),
            Expr::Xml(xml) => xml.for_children_mut(f),
            Expr::Placeholder(placeholder) => f(&mut placeholder.arg),
            Expr::Call(call) | Expr::NullIf(call) | Expr::Distinct { equality: call, .. } => {
                call.args.iter_mut().for_each(f);
            }
            Expr::ArrayOp(op) => {
                f(&mut op.left);
                f(&mut op.array);
            }
            Expr::And(list)
            | Expr::Or(list)
            | Expr::Coalesce(list, _)
            | Expr::Extreme(_, list, ..)
            | Expr::Row { fields: list, .. } => {
                list.iter_mut().for_each(f);
            }
            Expr::Array { elements, .. } => elements.iter_mut().for_each(f),
            Expr::Not(arg)
            | Expr::Test(_, arg)
            | Expr::Relabel { arg, .. }
            | Expr::Ordered { arg, .. }
            | Expr::IoCast { arg, .. }
            | Expr::RowNullTest { arg, .. }
            | Expr::Field { arg, .. } => f(arg),
            Expr::ArrayCast { arg, element, .. } => {
                f(arg);
                f(element);
            }
            Expr::FieldStore { arg, fields, .. } => {
                f(arg);
                fields.iter_mut().for_each(|(_, e)| f(e));
            }
            Expr::ToDomain { arg, checks, .. } => {
                f(arg);
                checks.iter_mut().filter_map(|c| c.check.as_mut()).for_each(|(_, e)| f(e));
            }
            Expr::Case { operand, arms, otherwise, .. } => {
                if let Some((_, operand)) = operand {
                    f(operand);
                }
                for (when, then) in arms {
                    f(when);
                    f(then);
                }
                if let Some(otherwise) = otherwise {
                    f(otherwise);
                }
            }
            Expr::Subscript { array, upper, lower, assign, .. } => {
                f(array);
                upper.iter_mut().chain(lower).flatten().for_each(&mut *f);
                assign.iter_mut().for_each(|e| f(e));
            }
            Expr::Aggregate(call) => {
                call.args.iter_mut().chain(&mut call.direct).for_each(&mut *f);
                call.order.iter_mut().for_each(|key| f(&mut key.expr));
                call.filter.iter_mut().for_each(f);
            }
            Expr::Window(call) => {
                call.args.iter_mut().for_each(&mut *f);
                call.filter.iter_mut().for_each(f);
            }
            Expr::SubPlan(sub) => {
                sub.args.iter_mut().for_each(|(_, arg)| f(arg));
                if let SubPlanKind::Quantified { test, hash, .. } = &mut sub.kind {
                    f(test);
                    hash.iter_mut().flatten().for_each(|pair| f(&mut pair.left));
                }
            }
        }
    }

    /// Whether `f` holds for this expression or one below it.
    pub fn any(&self, f: &mut dyn FnMut(&Expr) -> bool) -> bool {
        if f(self) {
            return true;
        }
        let mut found = false;
        self.for_children(&mut |child| found = found || child.any(f));
        found
    }

    /// Replaces, from the top: where `f` gives an expression it stands for the whole part, else the children are visited.
    pub fn replace(&mut self, f: &mut dyn FnMut(&Expr) -> Option<Expr>) {
        if let Some(new) = f(self) {
            *self = new;
        } else {
            self.for_children_mut(&mut |child| child.replace(f));
        }
    }

    /// Calls `f` with each relation mentioned.
    pub fn for_rels(&self, f: &mut dyn FnMut(RelId)) {
        if let Expr::Var(var) = self {
            f(var.rel);
        }
        self.for_children(&mut |child| child.for_rels(f));
    }

    /// Whether any column is mentioned.
    pub fn has_vars(&self) -> bool {
        self.any(&mut |e| matches!(e, Expr::Var(_)))
    }

    /// Whether an aggregate is called (outside subplans).
    pub fn has_aggregates(&self) -> bool {
        self.any(&mut |e| matches!(e, Expr::Aggregate(_) | Expr::Grouping(_)))
    }

    /// Whether a window function is called.
    pub fn has_windows(&self) -> bool {
        self.any(&mut |e| matches!(e, Expr::Window(_)))
    }

    /// Whether a set-returning function is called.
    pub fn returns_set(&self) -> bool {
        self.any(&mut |e| matches!(e, Expr::Call(call) if call.function.retset()))
    }

    /// Whether there is a subplan.
    pub fn has_subplans(&self) -> bool {
        self.any(&mut |e| matches!(e, Expr::SubPlan(_)))
    }

    /// The least predictable function in it.
    pub fn volatility(&self) -> Volatility {
        if self.is_volatile() {
            return Volatility::Volatile;
        }
        let stable = |e: &Expr| match e {
            Expr::Call(call) | Expr::NullIf(call) | Expr::Distinct { equality: call, .. } => {
                call.function.volatility() == Volatility::Stable
            }
            Expr::ArrayOp(op) => op.function.volatility() == Volatility::Stable,
            Expr::IoCast { arg, type_oid, .. } => {
                let builtin = (types::builtin_type(arg.type_oid()), types::builtin_type(*type_oid));
                !matches!(builtin, (Some(from), Some(to)) if from.output_is_immutable() && to.input_is_immutable())
            }
            Expr::SubPlan(_) | Expr::SqlValue(..) => true,
            Expr::Json(json) => json.volatility() != Volatility::Immutable,
            Expr::Xml(xml) => xml.volatility() != Volatility::Immutable,
            _ => false,
        };
        if self.any(&mut |e| stable(e)) { Volatility::Stable } else { Volatility::Immutable }
    }

    /// Whether two evaluations in one statement may differ.
    pub fn is_volatile(&self) -> bool {
        self.calls_volatile(&|_| true)
    }

    /// Whether a volatile function is called that is `meant`.
    pub fn calls_volatile(&self, meant: &dyn Fn(&Function) -> bool) -> bool {
        self.calls(&|f| f.volatility() == Volatility::Volatile && meant(f))
    }

    /// Whether a function is called that is `meant`.
    pub fn calls(&self, meant: &dyn Fn(&Function) -> bool) -> bool {
        self.any(&mut |e| match e {
            Expr::Call(call) | Expr::NullIf(call) | Expr::Distinct { equality: call, .. } => {
                meant(&call.function)
            }
            Expr::ArrayOp(op) => meant(&op.function),
            _ => false,
        })
    }

    /// Number of executor parameters that it needs: one more than the highest that it sets or reads.
    pub fn cells(&self) -> usize {
        let mut most = 0;
        self.any(&mut |e| {
            match e {
                Expr::ExecParam { id, .. }
                | Expr::Case { operand: Some((id, _)), .. }
                | Expr::ArrayCast { cell: id, .. }
                | Expr::ToDomain { cell: id, .. } => {
                    most = most.max(id + 1);
                }
                _ => {}
            }
            false
        });
        most
    }

    /// Whether the value is the same for the whole run of a node: no columns, nothing volatile, no set. Parameters are allowed.
    pub fn is_fixed(&self) -> bool {
        let column = |e: &Expr| matches!(e, Expr::Var(_) | Expr::Placeholder(_));
        let varies = self.any(&mut |e| column(e)) || self.is_volatile() || self.returns_set();
        !varies && !self.has_aggregates() && !self.has_windows()
    }

    /// Whether it is WHERE CURRENT OF as a condition.
    pub fn is_current_of(&self) -> bool {
        matches!(self, Expr::Call(call) if matches!(call.args.get(1), Some(Expr::CurrentOf { .. })))
    }

    /// Whether a cell is read, other than those bound inside the expression itself.
    pub fn reads_cell(&self, id: ParamId) -> bool {
        self.any(&mut |e| matches!(e, Expr::ExecParam { id: cell, .. } if *cell == id))
    }

    /// Whether it is false or NULL, as a condition, wherever all columns of these relations are NULL.
    pub fn rejects_nulls_of(&self, is_rel: &dyn Fn(RelId) -> bool) -> bool {
        match self {
            Expr::And(list) => list.iter().any(|e| e.rejects_nulls_of(is_rel)),
            Expr::Or(list) => list.iter().all(|e| e.rejects_nulls_of(is_rel)),
            // False where the array is empty.
            Expr::ArrayOp(op) => op.any && op.function.strict() && op.left.is_null_with(is_rel),
            Expr::Test(Test::IsTrue, arg) => arg.rejects_nulls_of(is_rel),
            Expr::Test(Test::IsNotNull | Test::IsFalse, arg) => arg.is_null_with(is_rel),
            _ => self.is_null_with(is_rel),
        }
    }

    /// Whether it is NULL wherever all columns of these relations are.
    fn is_null_with(&self, is_rel: &dyn Fn(RelId) -> bool) -> bool {
        match self {
            Expr::Var(var) => is_rel(var.rel),
            Expr::Call(call) => call.function.strict() && call.args.iter().any(|a| a.is_null_with(is_rel)),
            Expr::Relabel { arg, .. } | Expr::IoCast { arg, .. } | Expr::Not(arg) => arg.is_null_with(is_rel),
            // One that is not NULL may decide.
            Expr::And(list) | Expr::Or(list) => list.iter().all(|e| e.is_null_with(is_rel)),
            _ => false,
        }
    }

    /// Number of operators and functions evaluated per row, for costs.
    pub fn operators(&self) -> f64 {
        let mut count = match self {
            Expr::Call(_) | Expr::NullIf(_) | Expr::Distinct { .. } => 1.0,
            Expr::ArrayOp(op) => match &op.array {
                Expr::Const { .. } | Expr::Param { .. } => 5.0,
                Expr::Array { elements, .. } => elements.len() as f64 / 2.0,
                _ => 10.0,
            },
            Expr::IoCast { .. } => 2.0,
            Expr::SubPlan(_) => 100.0,
            _ => 0.0,
        };
        self.for_children(&mut |child| count += child.operators());
        count
    }
}

/// Splits conjunctions into a flat list.
pub fn flatten_and(expr: Expr, out: &mut Vec<Expr>) {
    match expr {
        Expr::And(list) => list.into_iter().for_each(|e| flatten_and(e, out)),
        Expr::Const { value: tuple::Datum::Bool(true), .. } => {}
        Expr::Or(arms) => match factor_or(arms) {
            Ok(parts) => parts.into_iter().for_each(|e| flatten_and(e, out)),
            Err(arms) => out.push(Expr::Or(arms)),
        },
        other => out.push(other),
    }
}

/// Takes out of an OR the conditions that all its arms demand: `(a AND b) OR (a AND c)` is `a AND (b OR c)`, so that a join
/// condition repeated in each arm can join. `Err` gives the arms back if they share nothing.
fn factor_or(arms: Vec<Expr>) -> Result<Vec<Expr>, Vec<Expr>> {
    let parts = |arm: &Expr| match arm {
        Expr::And(list) => list.clone(),
        other => vec![other.clone()],
    };
    let mut split: Vec<Vec<Expr>> = arms.iter().map(parts).collect();
    let Some((first, others)) = split.split_first() else { return Err(arms) };
    let shared =
        |e: &&Expr| !e.is_volatile() && !e.has_subplans() && others.iter().all(|arm| arm.contains(e));
    let mut common: Vec<Expr> = first.iter().filter(shared).cloned().collect();
    if common.is_empty() {
        return Err(arms);
    }
    split.iter_mut().for_each(|arm| arm.retain(|e| !common.contains(e)));
    // An arm with nothing else left is true wherever the common part is.
    if split.iter().all(|arm| !arm.is_empty()) {
        let arm = |mut list: Vec<Expr>| if list.len() == 1 { list.remove(0) } else { Expr::And(list) };
        common.push(Expr::Or(split.into_iter().map(arm).collect()));
    }
    Ok(common)
}

/// What an OR over several relations demands of one of them alone: `(a AND x) OR (b AND y)` demands `a OR b`. None if an arm demands
/// nothing.
pub fn or_restriction(arms: &[Expr], rel: RelId) -> Option<Expr> {
    let one = RelSet::one(rel);
    let own = |e: &&Expr| RelSet::of(e) == one && !e.is_volatile() && !e.has_subplans();
    let demanded = |arm: &Expr| {
        let parts = match arm {
            Expr::And(list) => list.as_slice(),
            other => std::slice::from_ref(other),
        };
        let parts: Vec<Expr> = parts.iter().filter(own).cloned().collect();
        (!parts.is_empty()).then(|| conjunction(parts))
    };
    arms.iter().map(demanded).collect::<Option<Vec<Expr>>>().map(Expr::Or)
}

/// Flattens nested ORs.
pub fn flatten_or(expr: Expr, out: &mut Vec<Expr>) {
    match expr {
        Expr::Or(list) => list.into_iter().for_each(|e| flatten_or(e, out)),
        other => out.push(other),
    }
}

/// The conjunction of a list.
pub fn conjunction(mut list: Vec<Expr>) -> Expr {
    match list.len() {
        0 => Expr::boolean(true),
        1 => list.swap_remove(0),
        _ => Expr::And(list),
    }
}
