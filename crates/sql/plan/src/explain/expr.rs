//! Plans as text, in PostgreSQL's shape.
//!
//! Nodes are numbered as the executor builds them: the main plan in pre-order, then each subplan; [`Measured`] values are
//! found by that number.

use std::fmt::Write as _;

use base::{Oid, SqlResult};
use tuple::Datum;

use crate::expr::*;
use crate::plan::*;

/// What EXPLAIN was asked for.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Estimates.
    pub costs: bool,
    /// What a run measured.
    pub analyze: bool,
    /// Times of nodes.
    pub timing: bool,
    /// Output lists.
    pub verbose: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { costs: true, analyze: false, timing: true, verbose: false }
    }
}

/// What a run measured of one node.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measured {
    /// Rows of all runs.
    pub rows: f64,
    /// Runs.
    pub loops: f64,
    /// Milliseconds to the first row, all runs.
    pub startup: f64,
    /// Milliseconds, all runs.
    pub total: f64,
    /// Rows that the filter threw away, all runs.
    pub filtered: f64,
    /// Pairs that a join's own conditions threw away, all runs.
    pub unjoined: f64,
}

/// Text forms of values, as the session shows them.
pub trait Display {
    /// Appends the text form of a value.
    fn value(&self, type_oid: Oid, value: &Datum, out: &mut Vec<u8>) -> SqlResult<()>;
}

/// Lines of EXPLAIN's text format, without the closing summary.
pub fn text(
    statement: &Statement,
    options: Options,
    measured: &[Measured],
    display: &dyn Display,
) -> Vec<String> {
    let mut explain =
        Explain { statement, options, measured, display, lines: Vec::new(), number: 0, starts: Vec::new() };
    explain.number_subplans();
    let mut number = 0;
    explain.plan(&statement.plan, 0, &mut number, None);
    explain.lines
}

struct Explain<'a> {
    statement: &'a Statement,
    options: Options,
    measured: &'a [Measured],
    display: &'a dyn Display,
    lines: Vec<String>,
    number: usize,
    /// First number of each subplan.
    starts: Vec<usize>,
}

fn count(plan: &Plan) -> usize {
    let mut nodes = 1;
    plan.for_children(&mut |child| nodes += count(child));
    nodes
}

impl<'a> Explain<'a> {
    fn number_subplans(&mut self) {
        self.number = count(&self.statement.plan);
        for sub in &self.statement.subplans {
            self.starts.push(self.number);
            self.number += count(&sub.plan);
        }
    }

    fn line(&mut self, indent: usize, text: &str) {
        self.lines.push(format!("{:indent$}{text}", ""));
    }

    /// A node: its headline, its properties, its subplans and children. `indent` is that of the arrow, 0 for the top.
    fn plan(&mut self, plan: &'a Plan, indent: usize, number: &mut usize, label: Option<&str>) {
        let own = *number;
        *number += 1;
        if let Some(only) = only_member(plan) {
            return self.plan(only, indent, number, label);
        }
        let mut child_indent = indent;
        if let Some(label) = label {
            self.line(child_indent, label);
            child_indent += 2;
        }
        let head = self.headline(plan, own);
        let body = if indent == 0 && label.is_none() {
            self.line(0, &head);
            2
        } else {
            self.line(child_indent, &format!("->  {head}"));
            child_indent + 6
        };
        self.properties(plan, body, own);
        self.subplans(plan, body);
        let mut numbers = *number;
        if let Node::BitmapHeapScan { bitmap, .. } = &plan.node {
            self.bitmap(bitmap, body);
        }
        let is_hash = matches!(plan.node, Node::HashJoin { .. });
        let mut children = Vec::new();
        plan.for_children(&mut |child| children.push(child));
        for (at, child) in children.into_iter().enumerate() {
            if is_hash && at == 1 {
                let head = self.hash_headline(child, numbers);
                self.line(body, &format!("->  {head}"));
                self.plan(child, body + 6, &mut numbers, None);
            } else {
                self.plan(child, body, &mut numbers, None);
            }
        }
        *number = numbers;
    }

    fn hash_headline(&self, child: &Plan, number: usize) -> String {
        let cost = Cost { startup: child.cost.total, ..child.cost };
        format!("Hash{}", self.figures(&cost, number, false))
    }

    fn figures(&self, cost: &Cost, number: usize, own: bool) -> String {
        let mut out = String::new();
        if self.options.costs {
            let _ = write!(
                out,
                "  (cost={:.2}..{:.2} rows={:.0} width={:.0})",
                cost.startup, cost.total, cost.rows, cost.width
            );
        }
        if self.options.analyze {
            let m = self.measured.get(number).copied().unwrap_or_default();
            if m.loops == 0.0 {
                out.push_str(" (never executed)");
            } else {
                out.push_str(" (actual ");
                if self.options.timing {
                    let startup = if own { m.startup } else { m.total };
                    let _ = write!(out, "time={:.3}..{:.3} ", startup / m.loops, m.total / m.loops);
                }
                let _ = write!(out, "rows={:.2} loops={:.0})", m.rows / m.loops, m.loops);
            }
        }
        out
    }

    fn headline(&self, plan: &Plan, number: usize) -> String {
        let name = self.node_name(plan);
        format!("{name}{}", self.figures(&plan.cost, number, true))
    }

    fn target(&self, rel: RelId) -> String {
        let relation = &self.statement.relations[rel];
        match &relation.table {
            Some(table) => {
                let name = quote(&table.name);
                let name =
                    if self.options.verbose { format!("{}.{name}", quote(&table.schema_name)) } else { name };
                if *table.name == *relation.alias {
                    name
                } else {
                    format!("{name} {}", quote(&relation.alias))
                }
            }
            None => quote(&relation.alias),
        }
    }

    fn node_name(&self, plan: &Plan) -> String {
        let back = |b: &bool| if *b { " Backward" } else { "" };
        match &plan.node {
            Node::Result { .. } => "Result".into(),
            Node::ProjectSet { .. } => "ProjectSet".into(),
            Node::SeqScan { rel } => format!("Seq Scan on {}", self.target(*rel)),
            Node::IndexScan { rel, index, backward, .. } => {
                format!("Index Scan{} using {} on {}", back(backward), quote(&index.name), self.target(*rel))
            }
            Node::IndexOnlyScan { rel, index, backward, .. } => {
                format!(
                    "Index Only Scan{} using {} on {}",
                    back(backward),
                    quote(&index.name),
                    self.target(*rel)
                )
            }
            Node::BitmapHeapScan { rel, .. } => format!("Bitmap Heap Scan on {}", self.target(*rel)),
            Node::TidScan { rel, .. } => format!("Tid Scan on {}", self.target(*rel)),
            Node::ValuesScan { rel, .. } => {
                format!("Values Scan on {}", quoted_always(&self.statement.relations[*rel].alias))
            }
            Node::FunctionScan { rel, functions, .. } => match functions.as_slice() {
                [Expr::Call(call)] => {
                    let alias = &self.statement.relations[*rel].alias;
                    let name = quote(call.function.name());
                    if **alias == *call.function.name() {
                        format!("Function Scan on {name}")
                    } else {
                        format!("Function Scan on {name} {}", quote(alias))
                    }
                }
                _ => format!("Function Scan on {}", self.target(*rel)),
            },
            Node::SubqueryScan { rel, .. } => format!("Subquery Scan on {}", self.target(*rel)),
            Node::CteScan { rel, subplan } => {
                let name = self.statement.subplans[*subplan].name.trim_start_matches("CTE ").to_string();
                let alias = &self.statement.relations[*rel].alias;
                if **alias == *name {
                    format!("CTE Scan on {}", quote(&name))
                } else {
                    format!("CTE Scan on {} {}", quote(&name), quote(alias))
                }
            }
            Node::WorkTableScan { rel, .. } => format!("WorkTable Scan on {}", self.target(*rel)),
            Node::RecursiveUnion { .. } => "Recursive Union".into(),
            Node::NestLoop { kind, .. } => match join_word(*kind) {
                "" => "Nested Loop".into(),
                word => format!("Nested Loop {word} Join"),
            },
            Node::HashJoin { kind, .. } => match join_word(*kind) {
                "" => "Hash Join".into(),
                word => format!("Hash {word} Join"),
            },
            Node::MergeJoin { kind, .. } => match join_word(*kind) {
                "" => "Merge Join".into(),
                word => format!("Merge {word} Join"),
            },
            Node::Materialize { .. } => "Materialize".into(),
            Node::Sort { .. } => "Sort".into(),
            Node::Unique { .. } => "Unique".into(),
            Node::Aggregate { strategy, .. } => match strategy {
                AggStrategy::Plain => "Aggregate".into(),
                AggStrategy::Sorted => "GroupAggregate".into(),
                AggStrategy::Hashed => "HashAggregate".into(),
                AggStrategy::Mixed => "MixedAggregate".into(),
            },
            Node::WindowAgg { .. } => "WindowAgg".into(),
            Node::Limit { .. } => "Limit".into(),
            Node::SetOp { kind, .. } => format!(
                "HashSetOp {}",
                match kind {
                    SetOpKind::Intersect => "Intersect",
                    SetOpKind::IntersectAll => "Intersect All",
                    SetOpKind::Except => "Except",
                    SetOpKind::ExceptAll => "Except All",
                }
            ),
            Node::Append { .. } => "Append".into(),
            Node::MergeAppend { .. } => "Merge Append".into(),
            Node::LockRows { .. } => "LockRows".into(),
            Node::Modify(modify) => format!("{} on {}", verb(modify.command), self.target(modify.rel)),
        }
    }

    fn quals(&mut self, indent: usize, label: &str, quals: &[Expr], qualify: bool) {
        if quals.is_empty() {
            return;
        }
        let text = self.condition(quals, qualify);
        self.line(indent, &format!("{label}: {text}"));
    }

    /// A conjunction in parentheses.
    fn condition(&self, quals: &[Expr], qualify: bool) -> String {
        let parts: Vec<String> = quals.iter().map(|e| self.expr(e, qualify)).collect();
        match parts.as_slice() {
            [one] => one.clone(),
            many => format!("({})", many.join(" AND ")),
        }
    }

    fn list(&self, exprs: &[Expr], qualify: bool) -> String {
        exprs.iter().map(|e| self.expr(e, qualify)).collect::<Vec<_>>().join(", ")
    }

    fn properties(&mut self, plan: &'a Plan, indent: usize, number: usize) {
        let joins =
            matches!(plan.node, Node::NestLoop { .. } | Node::HashJoin { .. } | Node::MergeJoin { .. });
        let qualify = joins || self.options.verbose || self.statement.relations.len() > 1;
        if self.options.verbose && !plan.output.is_empty() {
            let list = self.list(&plan.output, qualify);
            self.line(indent, &format!("Output: {list}"));
        }
        match &plan.node {
            Node::Result { one_time, .. } => self.quals(indent, "One-Time Filter", one_time, qualify),
            Node::IndexScan { conditions, .. } | Node::IndexOnlyScan { conditions, .. } => {
                let list: Vec<Expr> = conditions.iter().map(|c| c.original.clone()).collect();
                self.quals(indent, "Index Cond", &list, false);
            }
            Node::BitmapHeapScan { recheck, .. } => self.quals(indent, "Recheck Cond", recheck, false),
            Node::TidScan { condition, .. } => self.quals(indent, "TID Cond", condition, false),
            Node::NestLoop { clauses, .. } => self.join_filter(indent, clauses, number),
            Node::HashJoin { hash, clauses, .. } => {
                let list: Vec<Expr> = hash.iter().map(|c| c.original.clone()).collect();
                self.quals(indent, "Hash Cond", &list, true);
                self.join_filter(indent, clauses, number);
            }
            Node::MergeJoin { merge, clauses, .. } => {
                let list: Vec<Expr> = merge.iter().map(|c| c.original.clone()).collect();
                self.quals(indent, "Merge Cond", &list, true);
                self.join_filter(indent, clauses, number);
            }
            Node::Sort { keys, .. } | Node::MergeAppend { keys, .. } => {
                let text = self.sort_keys(keys, qualify);
                self.line(indent, &format!("Sort Key: {text}"));
            }
            Node::Aggregate { keys, sets, .. } if !keys.is_empty() => {
                if sets.is_empty() {
                    let text = self.list(keys, qualify);
                    self.line(indent, &format!("Group Key: {text}"));
                }
                for set in sets {
                    let part: Vec<Expr> = set.iter().map(|i| keys[*i].clone()).collect();
                    let text = if part.is_empty() { "()".into() } else { self.list(&part, qualify) };
                    self.line(indent, &format!("Hash Key: {text}"));
                }
            }
            Node::FunctionScan { functions, .. } if self.options.verbose => {
                let text = self.list(functions, qualify);
                self.line(indent, &format!("Function Call: {text}"));
            }
            Node::WindowAgg { partition, order, name, .. } => {
                let mut parts = Vec::new();
                if !partition.is_empty() {
                    parts.push(format!("PARTITION BY {}", self.list(partition, qualify)));
                }
                if !order.is_empty() {
                    parts.push(format!("ORDER BY {}", self.sort_keys(order, qualify)));
                }
                let text = parts.join(" ");
                self.line(indent, &format!("Window: {} AS ({text})", quote(name)));
            }
            Node::Modify(modify) => {
                self.targets(modify, indent);
                if let Some(conflict) = &modify.on_conflict {
                    let kind = if conflict.set.is_some() { "UPDATE" } else { "NOTHING" };
                    self.line(indent, &format!("Conflict Resolution: {kind}"));
                    let names: Vec<String> = modify
                        .table
                        .indexes
                        .iter()
                        .filter(|i| conflict.arbiters.contains(&i.oid))
                        .map(|i| quote(&i.name))
                        .collect();
                    if !names.is_empty() {
                        self.line(indent, &format!("Conflict Arbiter Indexes: {}", names.join(", ")));
                    }
                }
            }
            _ => {}
        }
        self.quals(
            indent,
            "Filter",
            &plan.filter,
            qualify && !matches!(plan.node, Node::SeqScan { .. } | Node::IndexScan { .. }),
        );
        if !plan.filter.is_empty() {
            self.removed(indent, "Filter", number, |m| m.filtered);
        }
    }

    /// The tables that a change of an inheritance tree writes to.
    fn targets(&mut self, modify: &Modify, indent: usize) {
        if modify.command == Command::Insert {
            return;
        }
        for target in modify.targets.iter().filter(|t| t.rel != modify.rel) {
            let text = format!("{} on {}", verb(modify.command), self.target(target.rel));
            self.line(indent, &text);
        }
    }

    fn join_filter(&mut self, indent: usize, clauses: &[Expr], number: usize) {
        self.quals(indent, "Join Filter", clauses, true);
        if !clauses.is_empty() {
            self.removed(indent, "Join Filter", number, |m| m.unjoined);
        }
    }

    /// How many rows a condition threw away, a run on average.
    fn removed(&mut self, indent: usize, by: &str, number: usize, count: fn(&Measured) -> f64) {
        if let Some(measured) = self.measured.get(number).filter(|m| m.loops > 0.0 && count(m) > 0.0) {
            let rows = count(measured) / measured.loops;
            self.line(indent, &format!("Rows Removed by {by}: {rows:.0}"));
        }
    }

    fn sort_keys(&self, keys: &[SortKey], qualify: bool) -> String {
        let part = |k: &SortKey| {
            let mut text = self.expr(&k.expr, qualify);
            if k.descending {
                text.push_str(" DESC");
                if !k.nulls_first {
                    text.push_str(" NULLS LAST");
                }
            } else if k.nulls_first {
                text.push_str(" NULLS FIRST");
            }
            text
        };
        keys.iter().map(part).collect::<Vec<_>>().join(", ")
    }

    fn bitmap(&mut self, bitmap: &Bitmap, indent: usize) {
        match bitmap {
            Bitmap::Index { index, conditions, cost } => {
                let figures = if self.options.costs {
                    format!("  (cost={:.2}..{:.2} rows={:.0} width=0)", 0.0, cost.total, cost.rows)
                } else {
                    String::new()
                };
                self.line(indent, &format!("->  Bitmap Index Scan on {}{figures}", quote(&index.name)));
                let list: Vec<Expr> = conditions.iter().map(|c| c.original.clone()).collect();
                self.quals(indent + 6, "Index Cond", &list, false);
            }
            Bitmap::And(list, cost) | Bitmap::Or(list, cost) => {
                let name = if matches!(bitmap, Bitmap::And(..)) { "BitmapAnd" } else { "BitmapOr" };
                let figures = if self.options.costs {
                    format!("  (cost={:.2}..{:.2} rows={:.0} width=0)", cost.total, cost.total, cost.rows)
                } else {
                    String::new()
                };
                self.line(indent, &format!("->  {name}{figures}"));
                list.iter().for_each(|b| self.bitmap(b, indent + 6));
            }
        }
    }

    /// Subplans that the node's expressions use, and common table expressions that it reads first.
    fn subplans(&mut self, plan: &'a Plan, indent: usize) {
        let mut used = Vec::new();
        plan.for_exprs(&mut |e| crate::planner::collect_subplans(e, &mut used));
        if let Node::CteScan { subplan, .. } = &plan.node {
            used.push(*subplan);
        }
        used.sort_unstable();
        used.dedup();
        for number in used {
            let sub = &self.statement.subplans[number];
            let label = sub.name.clone();
            if self.lines.iter().any(|l| l.trim() == label) {
                continue;
            }
            let mut start = self.starts[number];
            self.plan(&sub.plan, indent, &mut start, Some(&label));
        }
    }

    fn exprs(&self, list: &[Expr], qualify: bool) -> String {
        list.iter().map(|e| self.expr(e, qualify)).collect::<Vec<_>>().join(", ")
    }

    fn type_name(&self, type_oid: Oid, typmod: i32) -> String {
        let typmod = (typmod >= 0).then_some(typmod);
        types::format_type(type_oid, typmod).unwrap_or_else(|| type_oid.to_string())
    }

    /// An expression as PostgreSQL deparses it.
    pub fn expr(&self, expr: &Expr, qualify: bool) -> String {
        match expr {
            Expr::Const { value, type_oid, typmod } => self.constant(value, *type_oid, *typmod),
            Expr::Param { number, .. } => format!("${}", number + 1),
            Expr::ExecParam { source: Some(source), .. } => self.expr(source, true),
            Expr::ExecParam { id, .. } => format!("${id}"),
            Expr::Var(var) => self.var(var, qualify),
            Expr::Call(call) => self.call(call, qualify),
            Expr::ArrayOp(op) => format!(
                "({} {} {} ({}))",
                self.expr(&op.left, qualify),
                op.operator.1,
                if op.any { "ANY" } else { "ALL" },
                self.expr(&op.array, qualify)
            ),
            Expr::And(list) => format!("({})", self.joined(list, " AND ", qualify)),
            Expr::Or(list) => format!("({})", self.joined(list, " OR ", qualify)),
            Expr::Not(arg) => format!("(NOT {})", self.expr(arg, qualify)),
            Expr::Test(test, arg) => {
                let word = match test {
                    Test::IsNull => "IS NULL",
                    Test::IsNotNull => "IS NOT NULL",
                    Test::IsTrue => "IS TRUE",
                    Test::IsNotTrue => "IS NOT TRUE",
                    Test::IsFalse => "IS FALSE",
                    Test::IsNotFalse => "IS NOT FALSE",
                    Test::IsUnknown => "IS UNKNOWN",
                    Test::IsNotUnknown => "IS NOT UNKNOWN",
                };
                format!("({} {word})", self.expr(arg, qualify))
            }
            Expr::Distinct { equality, negated } => format!(
                "({} IS {}DISTINCT FROM {})",
                self.expr(&equality.args[0], qualify),
                if *negated { "NOT " } else { "" },
                self.expr(&equality.args[1], qualify)
            ),
            Expr::NullIf(call) => format!("NULLIF({})", self.exprs(&call.args, qualify)),
            Expr::Case { operand, arms, otherwise, .. } => {
                let mut out = "CASE".to_string();
                if let Some((_, operand)) = operand {
                    let _ = write!(out, " {}", self.expr(operand, qualify));
                }
                for (when, then) in arms {
                    let _ =
                        write!(out, " WHEN {} THEN {}", self.expr(when, qualify), self.expr(then, qualify));
                }
                if let Some(otherwise) = otherwise {
                    let _ = write!(out, " ELSE {}", self.expr(otherwise, qualify));
                }
                out + " END"
            }
            Expr::Coalesce(list, _) => format!("COALESCE({})", self.exprs(list, qualify)),
            Expr::Extreme(greatest, list, ..) => {
                format!("{}({})", if *greatest { "GREATEST" } else { "LEAST" }, self.exprs(list, qualify))
            }
            Expr::Relabel { arg, type_oid, typmod, explicit } => {
                self.cast(arg, *type_oid, *typmod, *explicit, qualify)
            }
            Expr::IoCast { arg, type_oid, explicit } => self.cast(arg, *type_oid, -1, *explicit, qualify),
            Expr::ArrayCast { arg, type_oid, .. } => self.cast(arg, *type_oid, -1, true, qualify),
            Expr::Array { elements, .. } => format!("ARRAY[{}]", self.exprs(elements, qualify)),
            Expr::Subscript { array, upper, lower, .. } => {
                let mut out = self.expr(array, qualify);
                for (i, upper) in upper.iter().enumerate() {
                    let text =
                        |e: &Option<Expr>| e.as_ref().map(|e| self.expr(e, qualify)).unwrap_or_default();
                    match lower.get(i) {
                        Some(lower) => {
                            let _ = write!(out, "[{}:{}]", text(lower), text(upper));
                        }
                        None => {
                            let _ = write!(out, "[{}]", text(upper));
                        }
                    }
                }
                out
            }
            Expr::Row { fields, .. } => format!("ROW({})", self.exprs(fields, qualify)),
            Expr::FieldStore { arg, .. } | Expr::ToDomain { arg, .. } => self.expr(arg, qualify),
            Expr::RowNullTest { arg, not, .. } => {
                format!("({} IS {}NULL)", self.expr(arg, qualify), if *not { "NOT " } else { "" })
            }
            Expr::Field { arg, field, .. } => format!("({}).f{}", self.expr(arg, qualify), field + 1),
            Expr::SqlValue(kind, ..) => sql_value_name(*kind).into(),
            Expr::Aggregate(call) => self.aggregate(call, qualify),
            Expr::Window(call) => {
                let args = if call.star { "*".into() } else { self.exprs(&call.args, qualify) };
                format!("{}({args}) OVER w{}", call.function.name(), call.window + 1)
            }
            Expr::SubPlan(sub) => self.subplan_ref(sub, qualify),
            Expr::Grouping(_) => "GROUPING(...)".into(),
        }
    }

    fn subplan_ref(&self, sub: &SubPlanRef, qualify: bool) -> String {
        let name = &self.statement.subplans[sub.plan].name;
        match &sub.kind {
            SubPlanKind::Exists => format!("EXISTS({name})"),
            SubPlanKind::Array { .. } => format!("ARRAY({name})"),
            SubPlanKind::Quantified { any, test, .. } => {
                format!("({} {name}.{})", if *any { "ANY" } else { "ALL" }, self.expr(test, qualify))
            }
            _ if sub.args.is_empty() => format!("({name}).col1"),
            _ => format!("({name})"),
        }
    }

    fn joined(&self, list: &[Expr], word: &str, qualify: bool) -> String {
        list.iter().map(|e| self.expr(e, qualify)).collect::<Vec<_>>().join(word)
    }

    fn cast(&self, arg: &Expr, type_oid: Oid, typmod: i32, explicit: bool, qualify: bool) -> String {
        let inner = self.expr(arg, qualify);
        // A relabelled text column is shown with its cast even where nobody wrote it, as in PostgreSQL.
        if !explicit && !matches!(type_oid, Oid(25)) {
            return inner;
        }
        format!("({inner})::{}", self.type_name(type_oid, typmod))
    }

    fn aggregate(&self, call: &AggCall, qualify: bool) -> String {
        let mut args = if call.star { "*".into() } else { self.exprs(&call.args, qualify) };
        if call.distinct {
            args = format!("DISTINCT {args}");
        }
        if !call.order.is_empty() {
            args = format!("{args} ORDER BY {}", self.sort_keys(&call.order, qualify));
        }
        let mut out = format!("{}({args})", call.function.name());
        if let Some(filter) = &call.filter {
            let _ = write!(out, " FILTER (WHERE {})", self.expr(filter, qualify));
        }
        out
    }

    fn call(&self, call: &Call, qualify: bool) -> String {
        match (&call.form, call.args.as_slice()) {
            (CallForm::Operator(_, name), [arg]) => format!("({name} {})", self.expr(arg, qualify)),
            (CallForm::Operator(_, name), [left, right]) => {
                format!("({} {name} {})", self.expr(left, qualify), self.expr(right, qualify))
            }
            (CallForm::ExplicitCast, [arg, ..]) => self.cast(arg, call.type_oid, call.typmod, true, qualify),
            (CallForm::ImplicitCast, [arg, ..]) => self.expr(arg, qualify),
            _ => format!("{}({})", call.function.name(), self.exprs(&call.args, qualify)),
        }
    }

    fn var(&self, var: &Var, qualify: bool) -> String {
        let relation = &self.statement.relations[var.rel];
        let name = match var.column {
            0 => "*".to_string(),
            -1 => "ctid".into(),
            -2 => "xmin".into(),
            -3 => "cmin".into(),
            -4 => "xmax".into(),
            -5 => "cmax".into(),
            -6 => "tableoid".into(),
            n => relation.columns.get(n as usize - 1).map_or_else(|| "?".into(), |c| quote(&c.name)),
        };
        let whole = var.column == 0;
        if qualify || whole { format!("{}.{name}", quote(&relation.alias)) } else { name }
    }

    fn constant(&self, value: &Datum, type_oid: Oid, typmod: i32) -> String {
        let plain = matches!(type_oid.0, 16 | 23);
        let with_type = |text: String| format!("{text}::{}", self.type_name(type_oid, typmod));
        match value {
            Datum::Null => with_type("NULL".into()),
            Datum::Bool(v) => if *v { "true" } else { "false" }.into(),
            _ => {
                let mut text = Vec::new();
                if self.display.value(type_oid, value, &mut text).is_err() {
                    return "?".into();
                }
                let text = String::from_utf8_lossy(&text).into_owned();
                if plain && !text.starts_with('-') {
                    return text;
                }
                if matches!(type_oid.0, 1700) && !text.starts_with('-') && text.contains('.') {
                    return text;
                }
                let quoted = text.replace('\'', "''");
                with_type(format!("'{quoted}'"))
            }
        }
    }
}

/// The scan of a tree's only member, which is shown in the tree's place.
fn only_member(plan: &Plan) -> Option<&Plan> {
    match &plan.node {
        Node::Append { children, tree: Some(_) } => match children.as_slice() {
            [only] => Some(only),
            _ => None,
        },
        _ => None,
    }
}

fn verb(command: Command) -> &'static str {
    match command {
        Command::Insert => "Insert",
        Command::Update => "Update",
        Command::Delete => "Delete",
        _ => "Merge",
    }
}

fn join_word(kind: JoinKind) -> &'static str {
    match kind {
        JoinKind::Inner => "",
        JoinKind::Left => "Left",
        JoinKind::Right => "Right",
        JoinKind::Full => "Full",
        JoinKind::Semi => "Semi",
        JoinKind::Anti => "Anti",
        JoinKind::RightSemi => "Right Semi",
        JoinKind::RightAnti => "Right Anti",
    }
}

fn sql_value_name(kind: SqlValueKind) -> &'static str {
    match kind {
        SqlValueKind::CurrentDate => "CURRENT_DATE",
        SqlValueKind::CurrentTime => "CURRENT_TIME",
        SqlValueKind::CurrentTimestamp => "CURRENT_TIMESTAMP",
        SqlValueKind::LocalTime => "LOCALTIME",
        SqlValueKind::LocalTimestamp => "LOCALTIMESTAMP",
        SqlValueKind::CurrentRole => "CURRENT_ROLE",
        SqlValueKind::CurrentUser => "CURRENT_USER",
        SqlValueKind::User => "USER",
        SqlValueKind::SessionUser => "SESSION_USER",
        SqlValueKind::CurrentCatalog => "CURRENT_CATALOG",
        SqlValueKind::CurrentSchema => "CURRENT_SCHEMA",
    }
}

/// An identifier, quoted where it must be.
pub fn quote(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '$');
    if plain { name.to_string() } else { quoted_always(name) }
}

fn quoted_always(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
