//! UNION ALL without more: its parts are read as the tables of a tree are. A condition, an order or a join reaches each part, and indexes serve it there.
//!
//! # Invariants
//! 1. Inputs have the types of the result: what must be converted is planned as a set operation.
//! 2. A part that reads one table and does no more than judge and compute row by row is that table; any other is a subquery among the members.
//! 3. A union that takes values from its neighbours in FROM stays a subquery: they are handed to it as a whole.
//!
//! # PostgreSQL counterpart
//! `pull_up_simple_union_all` and `flatten_simple_union_all` of `optimizer/prep/prepjointree.c`.

use std::collections::HashMap;
use std::rc::Rc;

use base::SqlResult;

use crate::expr::{Expr, RelId, Var};
use crate::fold::is_false_or_null;
use crate::inherit::{Columns, Inherited, Member, Part};
use crate::level::Level;
use crate::logical::{Block, From, SetOperation, SetTree, Source};
use crate::plan::{Cost, Plan, RelColumn, Relation};
use crate::planner::Planner;

/// Whether a set operation is nothing but UNION ALL of queries.
pub(crate) fn is_union_all(tree: &SetTree) -> bool {
    let part = |tree: &SetTree| matches!(tree, SetTree::Leaf(_)) || is_union_all(tree);
    match tree {
        SetTree::Op { op: SetOperation::Union, all: true, left, right } => part(left) && part(right),
        _ => false,
    }
}

fn parts_of(tree: SetTree, out: &mut Vec<Block>) {
    match tree {
        SetTree::Leaf(block) => out.push(*block),
        SetTree::Op { left, right, .. } => {
            parts_of(*left, out);
            parts_of(*right, out);
        }
        SetTree::Converted { .. } | SetTree::Recursive { .. } => {}
    }
}

/// The union that a subquery is, if its result is that of the union.
fn union_of(block: &mut Block) -> Option<SetTree> {
    let (rel, tree) = block.set.as_ref()?;
    let same = |(number, expr): (usize, &Expr)| matches!(expr, Expr::Var(var) if var.rel == *rel && usize::try_from(var.column) == Ok(number + 1));
    let plain = block.sort.is_empty()
        && block.limit.is_none()
        && block.offset.is_none()
        && block.marks.is_empty()
        && block.ctes.is_empty()
        && block.modify.is_none()
        && !block.barrier
        && block.targets.iter().map(|target| &target.expr).enumerate().all(same);
    (plain && is_union_all(tree)).then(|| block.set.take()).flatten().map(|(_, tree)| tree)
}

impl Planner<'_> {
    /// Makes the parts of a union the members of the relation that stands for it; false if it stands for something else.
    pub(crate) fn unite(
        &mut self,
        rel: RelId,
        level: &mut Level,
        subqueries: &mut HashMap<RelId, Plan>,
        given: &mut HashMap<RelId, Cost>,
    ) -> SqlResult<bool> {
        let tree = self.unions.remove(&rel).or_else(|| match &mut self.sources[rel] {
            // A whole row is made of the columns that it has as a subquery.
            Source::Subquery(inner)
                if !level.lateral.contains_key(&rel) && !self.whole_rows.contains_key(&rel) =>
            {
                union_of(inner)
            }
            _ => None,
        });
        let Some(tree) = tree else { return Ok(false) };
        self.sources[rel] = Source::Columns;
        let mut parts = Vec::new();
        parts_of(tree, &mut parts);
        let mut members = Vec::new();
        for (number, part) in parts.into_iter().enumerate() {
            runtime::check_interrupts().map_err(crate::interrupted)?;
            self.add_part((rel, number + 1), part, level, &mut members, subqueries, given)?;
        }
        self.inherited.insert(rel, Inherited::of(members));
        Ok(true)
    }

    fn add_part(
        &mut self,
        (rel, number): (RelId, usize),
        mut part: Block,
        level: &mut Level,
        members: &mut Vec<Member>,
        subqueries: &mut HashMap<RelId, Plan>,
        given: &mut HashMap<RelId, Cost>,
    ) -> SqlResult<()> {
        if part.is_simple() {
            // Subqueries in it are merged with it.
            self.prepare(&mut part);
        }
        let Some(table) = self.only_table(&part) else {
            let member = self.add_subquery((rel, number), part);
            let (mut own, _) = self.level_of(level, rel, &member);
            self.push_down(member.rel, &mut own);
            level.pushed.append(&mut own.pushed);
            self.plan_source(member.rel, subqueries, given)?;
            let tuples = given.get(&member.rel).map_or(1.0, |cost| cost.rows);
            members.push(Member { tuples, ..member });
            return Ok(());
        };
        let exprs = part.targets.into_iter().filter(|t| !t.junk).map(|t| t.expr).collect();
        let part = Rc::new(Part { exprs, filters: part.quals });
        let tuples = self.relations[table].table.as_ref().map_or(1.0, |t| self.tuples_of(table, t));
        let member = Member { rel: table, tuples, columns: Columns::Computed(part.clone()) };
        let (own, filters) = self.level_of(level, rel, &member);
        if filters.iter().any(is_false_or_null) {
            return Ok(());
        }
        if !self.is_inherited(table) {
            members.push(member);
            return Ok(());
        }
        self.expand(table, &own)?;
        for below in self.members(table).iter() {
            let own = |list: &[Expr]| list.iter().map(|e| self.for_member(table, below, e)).collect();
            let part = Part { exprs: own(&part.exprs), filters: own(&part.filters) };
            self.relations[below.rel].alias = self.relations[table].alias.clone();
            members.push(Member { columns: Columns::Computed(Rc::new(part)), ..below.clone() });
        }
        Ok(())
    }

    /// The table whose rows are a query's, with nothing but other columns.
    fn only_table(&self, part: &Block) -> Option<RelId> {
        let [From::Rel(table)] = part.from.as_slice() else { return None };
        let plain = |e: &Expr| !e.is_volatile() && !e.has_subplans();
        let only = part.is_simple()
            && part.guards.is_empty()
            && part.quals.iter().all(plain)
            && part.sort.is_empty()
            && part.targets.iter().all(|target| plain(&target.expr))
            && matches!(self.sources[*table], Source::Table);
        only.then_some(*table)
    }

    /// A part as a subquery among the members.
    fn add_subquery(&mut self, (rel, number): (RelId, usize), part: Block) -> Member {
        let own = self.next_member();
        let columns: Vec<RelColumn> = self.relations[rel].columns.clone();
        let exprs = columns.iter().enumerate().map(|(i, column)| {
            let (type_oid, typmod) = (column.type_oid, column.typmod);
            Expr::Var(Var { rel: own, column: i as i16 + 1, type_oid, typmod })
        });
        let computed = Part { exprs: exprs.collect(), filters: Vec::new() };
        let member = Member { rel: own, tuples: 1.0, columns: Columns::Computed(Rc::new(computed)) };
        let relation = Relation { alias: format!("*SELECT* {number}").into(), table: None, columns };
        self.put_relation(own, relation, Source::Subquery(Box::new(part)));
        member
    }
}
