//! # What
//! What analysed queries that differ in constants only have in common ([`of`]).
//!
//! # Invariants
//! 1. Two texts that differ in constants, in white space, in the names of output columns, or in the length of a list of two or more constants,
//!    have one fingerprint. Relations are told by the names that they go by in the query, not by their OIDs.
//! 2. What analysis adds without being told (defaults of columns that an INSERT does not name, queries of views) does not count.
//!
//! # PostgreSQL counterpart
//! `nodes/queryjumblefuncs.c`.

use std::convert::Infallible;
use std::hash::Hash;
use std::mem::discriminant;

use base::Oid;
use parse::fingerprint::{Constant, Fingerprint, Mixer, place};

use crate::expr::{CoercionForm, Expr, Location, ParamKind, TargetEntry};
use crate::facts;
use crate::query::{
    Command, Cte, FrameBound, FromNode, Query, RangeTableEntry, RteKind, SetOperation, SortGroupClause,
};
use crate::walk;

/// The fingerprint of a query. `parameters_are_constants`: its parameters stand for constants of the texts that it is made for.
pub fn of(query: &Query, parameters_are_constants: bool) -> Fingerprint {
    let mut walk = Walk {
        mixer: Mixer::default(),
        constants: Vec::new(),
        highest_parameter: 0,
        parameters_are_constants,
    };
    walk.query(query);
    let Walk { mixer, mut constants, highest_parameter, .. } = walk;
    constants.sort_unstable();
    constants.dedup_by_key(|constant| constant.start());
    Fingerprint { id: mixer.id(), constants: constants.into(), highest_parameter, parameters_are_constants }
}

struct Walk {
    mixer: Mixer,
    constants: Vec<Constant>,
    highest_parameter: i32,
    parameters_are_constants: bool,
}

impl Walk {
    fn mix(&mut self, value: impl Hash) {
        value.hash(&mut self.mixer);
    }

    fn query(&mut self, query: &Query) {
        self.mix(query.command);
        self.mix((query.target, query.recursive, query.overriding as u8, query.distinct_on));
        query.ctes.iter().for_each(|cte| self.cte(cte));
        self.mix(query.range_table.len());
        query.range_table.iter().for_each(|entry| self.range(entry));
        query.join_tree.items.iter().for_each(|item| self.from(item));
        self.optional(query.join_tree.filter.as_ref());
        let inserts = query.command == Command::Insert;
        self.targets(&query.targets, inserts);
        self.conflict(query);
        self.merge(query);
        self.targets(&query.returning, false);
        self.grouping(query);
        self.optional(query.having.as_ref());
        self.windows(query);
        self.keys(&query.distinct);
        self.keys(&query.order_by);
        self.optional(query.offset.as_ref());
        self.optional(query.limit.as_ref());
        self.mix(query.with_ties);
        for mark in query.row_marks.iter().filter(|mark| !mark.pushed_down) {
            self.mix((mark.rte, discriminant(&mark.strength), discriminant(&mark.wait)));
        }
        if let Some(operation) = &query.set_operation {
            self.set_operation(operation);
        }
    }

    fn cte(&mut self, cte: &Cte) {
        self.mix((&cte.name, discriminant(&cte.materialize)));
        if let Some(search) = &cte.search {
            self.mix((&search.columns, search.breadth_first, &search.sequence));
        }
        if let Some(cycle) = &cte.cycle {
            self.mix((&cycle.columns, &cycle.mark.name, &cycle.path));
            self.expr(&cycle.value);
            self.expr(&cycle.default);
        }
        self.query(&cte.query);
    }

    fn range(&mut self, entry: &RangeTableEntry) {
        self.mix(discriminant(&entry.kind));
        self.mix(entry.lateral);
        match &entry.kind {
            RteKind::Relation(relation) => {
                self.mix((&entry.name, relation.inherit));
                if let Some(sample) = &relation.sample {
                    self.mix(&sample.method);
                    self.list(&sample.args);
                    self.optional(sample.repeatable.as_ref());
                }
            }
            // A view is known by its name, as a table is.
            RteKind::Subquery(subquery) if subquery.view.is_valid() => self.mix(&entry.name),
            RteKind::Subquery(subquery) => self.query(&subquery.query),
            RteKind::Join(join) => self.mix(discriminant(&join.kind)),
            RteKind::Function(functions) => {
                self.mix(functions.ordinality);
                functions.functions.iter().for_each(|function| self.expr(&function.call));
            }
            RteKind::Values(values) => {
                for row in &values.rows {
                    row.iter().filter(|value| is_written(value)).for_each(|value| self.expr(value));
                }
            }
            RteKind::Cte(cte) => self.mix((&cte.name, cte.levels_up, cte.self_reference)),
            RteKind::Transition(rows) => self.mix(&rows.name),
        }
    }

    fn from(&mut self, node: &FromNode) {
        match node {
            FromNode::Entry(entry) => self.mix(entry),
            FromNode::Join(join) => {
                self.mix((discriminant(&join.kind), join.rte));
                self.from(&join.left);
                self.from(&join.right);
                self.optional(join.on.as_ref());
            }
        }
    }

    /// `inserts`: what was not written is not counted.
    fn targets(&mut self, targets: &[TargetEntry], inserts: bool) {
        for target in targets.iter().filter(|target| !inserts || is_written(&target.expr)) {
            self.mix((target.resno, target.sort_ref));
            self.expr(&target.expr);
        }
    }

    fn conflict(&mut self, query: &Query) {
        let Some(conflict) = &query.on_conflict else { return };
        self.mix((conflict.constraint, conflict.inference.is_some(), conflict.update.is_some()));
        if let Some(inference) = &conflict.inference {
            inference.elements.iter().for_each(|element| self.expr(&element.expr));
            self.optional(inference.filter.as_ref());
        }
        if let Some(update) = &conflict.update {
            self.targets(&update.targets, false);
            self.optional(update.filter.as_ref());
        }
    }

    fn merge(&mut self, query: &Query) {
        if let Some((source, on)) = &query.merge_join {
            self.from(source);
            self.expr(on);
        }
        for action in &query.merge_actions {
            self.mix((discriminant(&action.matched), action.command));
            self.optional(action.condition.as_ref());
            self.targets(&action.targets, action.command == Command::Insert);
        }
    }

    fn grouping(&mut self, query: &Query) {
        self.keys(&query.group_by);
        self.mix((query.group_distinct, &query.grouping_sets));
    }

    fn windows(&mut self, query: &Query) {
        for window in &query.windows {
            self.keys(&window.partition_by);
            self.keys(&window.order_by);
            self.mix((discriminant(&window.frame.units), discriminant(&window.frame.exclusion)));
            for bound in [&window.frame.start, &window.frame.end] {
                self.mix(discriminant(bound));
                if let FrameBound::Preceding(e) | FrameBound::Following(e) = bound {
                    self.expr(e);
                }
            }
        }
    }

    fn keys(&mut self, keys: &[SortGroupClause]) {
        self.mix(keys.len());
        for key in keys {
            self.mix((key.sort_ref, key.equality, key.ordering, key.nulls_first));
        }
    }

    fn set_operation(&mut self, operation: &SetOperation) {
        match operation {
            SetOperation::Leaf(entry) => self.mix(entry),
            SetOperation::Node(node) => {
                self.mix((discriminant(&node.op), node.all));
                self.set_operation(&node.left);
                self.set_operation(&node.right);
            }
        }
    }

    fn optional(&mut self, expr: Option<&Expr>) {
        self.mix(expr.is_some());
        if let Some(expr) = expr {
            self.expr(expr);
        }
    }

    fn list(&mut self, list: &[Expr]) {
        list.iter().for_each(|expr| self.expr(expr));
    }

    fn constant(&mut self, type_oid: Oid, location: Location) {
        self.mix(("constant", type_oid));
        self.constants.extend(place(location).map(Constant::One));
    }

    fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Const(constant) => return self.constant(constant.type_oid, constant.location),
            Expr::Param(param) if param.kind == ParamKind::Extern => {
                if self.parameters_are_constants {
                    return self.constant(param.type_oid, param.location);
                }
                self.highest_parameter = self.highest_parameter.max(param.id);
            }
            Expr::Array(array) if self.is_list_of_constants(&array.elements) => {
                self.mix(("list", array.element_type));
                let ends = [array.elements.first(), array.elements.last()];
                if let [Some(first), Some(last)] = ends.map(|end| end.and_then(constant_place)) {
                    self.constants.push(Constant::List(first, last));
                }
                return;
            }
            _ => {}
        }
        self.mix(discriminant(expr));
        self.own_facts(expr);
        let Ok(()) = walk::children::<Infallible>(expr, &mut |child| {
            self.expr(child);
            Ok(())
        });
    }

    /// What an expression is beside its operands.
    fn own_facts(&mut self, expr: &Expr) {
        match expr {
            Expr::Var(var) => self.mix((var.rte, var.attno, var.levels_up, var.version)),
            Expr::Param(param) => self.mix((param.kind, param.id, param.type_oid)),
            Expr::Func(call) => self.mix((call.function, call.variadic)),
            Expr::Op(op) | Expr::Distinct(op) | Expr::NullIf(op) => self.mix(op.op),
            Expr::ScalarArray(op) => self.mix((op.op, op.any)),
            Expr::Bool(connective) => self.mix((discriminant(&connective.op), connective.args.len())),
            Expr::Aggregate(call) => {
                self.mix((call.function, call.variadic, call.levels_up));
                self.keys(&call.order_by);
                self.keys(&call.distinct);
            }
            Expr::Grouping(call) => self.mix((&call.refs, call.levels_up)),
            Expr::Window(call) => self.mix((call.function, call.window, call.star)),
            Expr::SubLink(link) => {
                self.mix((link.kind, link.id));
                self.query(&link.query);
            }
            Expr::Subscript(subscript) => self.mix((subscript.upper.len(), subscript.lower.len())),
            Expr::Field(field) => self.mix(field.attno),
            Expr::FieldStore(store) => store.fields.iter().for_each(|(attno, _)| self.mix(attno)),
            Expr::Relabel(cast) => self.mix(cast.result_type),
            Expr::IoCast(cast) => self.mix(cast.result_type),
            Expr::ArrayCast(cast) => self.mix(cast.result_type),
            Expr::RowCast(cast) => self.mix(cast.result_type),
            Expr::Collate(collate) => self.mix(collate.collation),
            Expr::Case(case) => self.mix(case.whens.len()),
            Expr::Array(array) => self.mix((array.element_type, array.elements.len())),
            Expr::Row(row) => self.mix(row.args.len()),
            Expr::RowCompare(compare) => self.mix((compare.kind, &compare.ops)),
            Expr::MinMax(call) => self.mix(call.greatest),
            Expr::SqlValue(value) => self.mix((discriminant(&value.kind), value.typmod)),
            Expr::NullTest(test) => self.mix(test.not),
            Expr::BooleanTest(test) => self.mix(discriminant(&test.test)),
            Expr::ToDomain(domain) => self.mix(domain.domain),
            Expr::CurrentOf(cursor) => self.mix(&cursor.cursor),
            Expr::NextValue(next) => self.mix(next.sequence),
            Expr::Json(json) => self.mix(discriminant(&**json)),
            Expr::Xml(xml) => match &**xml {
                crate::Xml::Call(call) => {
                    self.mix((call.op, &call.name, &call.names, call.document, call.indent))
                }
                crate::Xml::Table(table) => {
                    table.columns.iter().for_each(|c| self.mix((&c.name, c.type_oid)))
                }
            },
            _ => {}
        }
    }

    /// Whether lists of constants count as equal, whatever their length.
    fn is_list_of_constants(&self, elements: &[Expr]) -> bool {
        elements.len() >= 2 && elements.iter().all(is_constant)
    }
}

/// Whether an expression is a constant or a parameter, perhaps cast.
fn is_constant(expr: &Expr) -> bool {
    match expr {
        Expr::Const(_) => true,
        Expr::Param(param) => param.kind == ParamKind::Extern,
        Expr::Relabel(cast) => is_constant(&cast.arg),
        Expr::IoCast(cast) => is_constant(&cast.arg),
        Expr::Func(call) => {
            let cast = matches!(call.form, CoercionForm::ExplicitCast | CoercionForm::ImplicitCast);
            cast && call.function.is_pinned() && call.args.iter().all(is_constant)
        }
        _ => false,
    }
}

/// Where such an expression has its constant.
fn constant_place(expr: &Expr) -> Option<u32> {
    match expr {
        Expr::Const(constant) => place(constant.location),
        Expr::Param(param) => place(param.location),
        Expr::Relabel(cast) => constant_place(&cast.arg),
        Expr::IoCast(cast) => constant_place(&cast.arg),
        Expr::Func(call) => constant_place(call.args.first()?),
        _ => None,
    }
}

/// Whether an expression is in the text, and not put in by analysis.
fn is_written(expr: &Expr) -> bool {
    matches!(expr, Expr::Var(_)) || facts::location(expr) != Location::NONE
}
