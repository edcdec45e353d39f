//! Row security: policies become guards of the tables that a statement reads, and checks of the rows that it writes.
//!
//! What: a table with row security hides rows by its policies' USING; a view with `security_barrier` through which a table is changed hides rows
//! by its WHERE. Both are [`Guard`]s of the relation. The scan of the relation evaluates them before all other conditions on it but those
//! that tell nothing of the rows they are asked of.
//!
//! # Invariants
//! 1. Of a relation with guards, a condition that is not leakproof is evaluated for rows only that satisfy all guards: it stands behind
//!    them in the scan's filter, is looked up in no index, and is in no equivalence class.
//! 2. Guards are the table's that the statement names: members of its tree have the parent's, and none of their own.
//! 3. A plan is of one user ([`analyze::query::Access::as_role`] says for which entries of another) and one value of `row_security`: whoever
//!    keeps plans compares both.
//!
//! # PostgreSQL counterpart and differences
//! `rewrite/rowsecurity.c`; security levels of `optimizer/plan/initsplan.c`. Guards are in no equivalence class.

use std::sync::Arc;

use analyze as a;
use analyze::query::{Command, Query, Relation, RteKind, access};
use base::{SqlResult, sql_err};
use catalog::{Policy, PolicyCommand, RelationKind, RowSecurity};

use crate::convert::Converter;
use crate::expr::{Expr, RelId};
use crate::fold::fold;
use crate::function::Function;
use crate::level::Level;
use crate::logical::{Block, Guard, rels_of};
use crate::plan::{CheckKind, RowCheck};
use crate::planner::Planner;
use crate::relset::RelSet;
use crate::walk::flatten_and;

/// Operators in a condition that costs little.
const CHEAP: f64 = 10.0;

/// Policies of a table for one command and one role.
struct Policies<'t> {
    /// One of them is enough; as PostgreSQL has them, the last name first.
    permissive: Vec<&'t Policy>,
    /// All of them count, by name.
    restrictive: Vec<&'t Policy>,
}

/// A condition made of policies.
struct Demand {
    /// The only policy that it is of, if that is restrictive.
    policy: Option<Arc<str>>,
    /// Conditions of which one must be true, as texts; none: false.
    any: Vec<Arc<str>>,
}

impl PartialEq for Demand {
    fn eq(&self, other: &Demand) -> bool {
        (&self.policy, &self.any) == (&other.policy, &other.any)
    }
}

/// What a policy demands: its WITH CHECK, if it has one and that is what is asked for, or else its USING.
fn text_of(policy: &Policy, check: bool) -> Option<&Arc<str>> {
    policy.check.as_ref().filter(|_| check).or(policy.using.as_ref())
}

impl Policies<'_> {
    /// What rows must satisfy. `check`: new rows; otherwise those that are there.
    fn demands(&self, check: bool) -> (Demand, Vec<Demand>) {
        let any = self.permissive.iter().filter_map(|policy| text_of(policy, check).cloned()).collect();
        let one = |policy: &&Policy| {
            let any = vec![text_of(policy, check)?.clone()];
            Some(Demand { policy: Some(policy.name.as_str().into()), any })
        };
        (Demand { policy: None, any }, self.restrictive.iter().filter_map(one).collect())
    }

    /// USING as it hides rows: restrictive policies first; none of them counts where nothing is allowed.
    fn hiding(&self, out: &mut Vec<Demand>) {
        let (allowed, restrictions) = self.demands(false);
        let restrictions = if allowed.any.is_empty() { Vec::new() } else { restrictions };
        for restriction in restrictions {
            push_new(out, Demand { policy: None, ..restriction });
        }
        push_new(out, allowed);
    }

    /// The same as checks of rows.
    fn checking(&self, check: bool, kind: CheckKind, out: &mut Vec<(CheckKind, Demand)>) {
        let (allowed, restrictions) = self.demands(check);
        let restrictions = if allowed.any.is_empty() { Vec::new() } else { restrictions };
        for demand in std::iter::once(allowed).chain(restrictions) {
            push_new(out, (kind, demand));
        }
    }
}

fn push_new<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

impl Converter<'_, '_> {
    /// Notes what hides rows of the relations of the present level from the conditions of the query.
    pub(crate) fn guard(&mut self, query: &Query) -> SqlResult<()> {
        let conflict = query.on_conflict.as_ref().and_then(|c| c.update.as_ref());
        for (at, entry) in query.range_table.iter().enumerate() {
            let RteKind::Relation(relation) = &entry.kind else { continue };
            if relation.table.row_security.is_none() && relation.barriers.is_empty() {
                continue;
            }
            let is_target = query.target == Some(at);
            // No rows of it are read, or it stands for none.
            let read = !(is_target && query.command == Command::Insert)
                && conflict.is_none_or(|update| update.excluded_rte != at);
            let Some(rel) = self.relation_of(at).filter(|_| read) else { continue };
            let mut exprs = Vec::new();
            if let Some(security) = self.security(relation, entry.access.as_ref())? {
                let command = if is_target { query.command } else { Command::Select };
                let demands = self.hiding(&security, command, entry.access.as_ref())?;
                exprs = self.conditions(relation, rel, entry.access.as_ref(), &demands)?;
            }
            for barrier in &relation.barriers {
                exprs.push(self.expr(barrier)?);
            }
            let guards =
                exprs.into_iter().enumerate().map(|(rank, expr)| Guard { rel, rank, expr }).collect();
            self.planner.guards.insert(rel, guards);
        }
        Ok(())
    }

    /// The row security of a relation, if it counts for whoever is to have access.
    fn security(
        &self,
        relation: &Relation,
        access: Option<&a::query::Access>,
    ) -> SqlResult<Option<Arc<RowSecurity>>> {
        let table = &relation.table;
        let Some(security) = &table.row_security else { return Ok(None) };
        if !matches!(table.kind, RelationKind::Table | RelationKind::PartitionedTable) {
            return Ok(None);
        }
        let role = access.and_then(|access| access.as_role);
        let applies = self.planner.context.catalog.row_security_applies(table, role)?;
        Ok(applies.then(|| security.clone()))
    }

    /// The policies that are for a command, and for whoever is to have access.
    fn policies<'t>(
        &self,
        security: &'t RowSecurity,
        command: PolicyCommand,
        access: Option<&a::query::Access>,
    ) -> SqlResult<Policies<'t>> {
        let role = access.and_then(|access| access.as_role);
        let mut found = Policies { permissive: Vec::new(), restrictive: Vec::new() };
        for policy in security.policies.iter().filter(|p| p.command.is_none_or(|of| of == command)) {
            let mut counts = false;
            for of in &policy.roles {
                let catalog = self.planner.context.catalog;
                counts = counts || !of.is_valid() || catalog.has_role_of(role, *of)?;
            }
            match (counts, policy.permissive) {
                (false, _) => {}
                (true, true) => found.permissive.insert(0, policy),
                (true, false) => found.restrictive.push(policy),
            }
        }
        Ok(found)
    }

    /// What rows of a relation must satisfy to be seen by a command.
    fn hiding(
        &self,
        security: &RowSecurity,
        command: Command,
        access: Option<&a::query::Access>,
    ) -> SqlResult<Vec<Demand>> {
        let required = access.map_or(0, |access| access.required);
        let mut demands = Vec::new();
        let mut add = |command| -> SqlResult<()> {
            self.policies(security, command, access)?.hiding(&mut demands);
            Ok(())
        };
        match command {
            Command::Update => add(PolicyCommand::Update)?,
            Command::Delete => add(PolicyCommand::Delete)?,
            Command::Merge => {}
            // Who locks rows must be allowed to update them.
            _ if required & access::UPDATE != 0 => add(PolicyCommand::Update)?,
            _ => {}
        }
        let changes = matches!(command, Command::Update | Command::Delete | Command::Merge);
        if !changes || required & access::SELECT != 0 {
            add(PolicyCommand::Select)?;
        }
        Ok(demands)
    }

    /// Conditions over a relation that demands come to.
    fn conditions(
        &mut self,
        relation: &Relation,
        rel: RelId,
        access: Option<&a::query::Access>,
        demands: &[Demand],
    ) -> SqlResult<Vec<Expr>> {
        let (role, catalog) = (access.and_then(|access| access.as_role), self.planner.context.catalog);
        let mut loaded = Vec::new();
        for demand in demands {
            let any = demand.any.iter().map(|text| a::policy::load(text, role, catalog));
            loaded.push(any.collect::<SqlResult<Vec<Query>>>()?);
        }
        let is_sublink = |e: &a::Expr, _| matches!(e, a::Expr::SubLink(_));
        let filters = || loaded.iter().flatten().filter_map(|query| query.join_tree.filter.as_ref());
        let nested = filters().any(|filter| a::walk::contains(filter, is_sublink));
        if nested {
            self.enter(relation)?;
        }
        self.open_scope(vec![rel]);
        let exprs = loaded.iter().map(|any| self.any_of(any)).collect();
        self.scopes.pop();
        if nested {
            self.planner.securing.pop();
        }
        self.planner.inlined.extend(loaded.into_iter().flatten());
        exprs
    }

    fn enter(&mut self, relation: &Relation) -> SqlResult<()> {
        if self.planner.securing.contains(&relation.oid) {
            let name = &relation.table.name;
            return Err(sql_err!(
                INVALID_OBJECT_DEFINITION,
                "infinite recursion detected in policy for relation \"{name}\""
            ));
        }
        self.planner.securing.push(relation.oid);
        Ok(())
    }

    fn any_of(&mut self, any: &[Query]) -> SqlResult<Expr> {
        let filters = any.iter().filter_map(|query| query.join_tree.filter.as_ref());
        let mut exprs = filters.map(|filter| self.expr(filter)).collect::<SqlResult<Vec<_>>>()?;
        Ok(match exprs.len() {
            0 => Expr::boolean(false),
            1 => exprs.swap_remove(0),
            _ => Expr::Or(exprs),
        })
    }

    /// What policies of the target of a change demand of the rows that it writes.
    pub(crate) fn policy_checks(&mut self, query: &Query) -> SqlResult<Vec<RowCheck>> {
        let entry = query.target.and_then(|target| query.range_table.get(target));
        let Some(entry) = entry else { return Ok(Vec::new()) };
        let RteKind::Relation(relation) = &entry.kind else { return Ok(Vec::new()) };
        let access = entry.access.as_ref();
        let Some(security) = self.security(relation, access)? else { return Ok(Vec::new()) };
        let demands = self.checking(&security, query, access)?;
        let rel = self.target(query)?;
        let (kinds, demands): (Vec<_>, Vec<_>) = demands.into_iter().unzip();
        let exprs = self.conditions(relation, rel, access, &demands)?;
        let checks = exprs.into_iter().zip(kinds).zip(demands).map(|((expr, kind), demand)| {
            let mut quals = Vec::new();
            flatten_and(expr, &mut quals);
            RowCheck { kind, name: demand.policy, quals }
        });
        Ok(checks.collect())
    }

    fn checking(
        &self,
        security: &RowSecurity,
        query: &Query,
        access: Option<&a::query::Access>,
    ) -> SqlResult<Vec<(CheckKind, Demand)>> {
        use CheckKind as K;
        let reads = access.is_some_and(|access| access.required & access::SELECT != 0);
        let of = |command| self.policies(security, command, access);
        let (insert, update) = (of(PolicyCommand::Insert)?, of(PolicyCommand::Update)?);
        // Where rows are read too, new ones must be seen: an error tells of those that would not be.
        let seen = if reads { Some(of(PolicyCommand::Select)?) } else { None };
        let mut out = Vec::new();
        let mut changed = |kinds: &[(K, bool)], policies: &Policies<'_>, seen: Option<&Policies<'_>>| {
            for &(kind, check) in kinds {
                policies.checking(check, kind, &mut out);
                if let Some(seen) = seen.filter(|_| !matches!(kind, K::MergeUpdate | K::MergeDelete)) {
                    seen.checking(false, kind, &mut out);
                }
            }
        };
        match query.command {
            Command::Insert => {
                changed(&[(K::Insert, true)], &insert, seen.as_ref());
                if query.on_conflict.as_ref().is_some_and(|conflict| conflict.update.is_some()) {
                    changed(&[(K::Conflict, false), (K::Update, true)], &update, seen.as_ref());
                }
            }
            Command::Update => changed(&[(K::Update, true)], &update, seen.as_ref()),
            Command::Merge => {
                changed(&[(K::MergeUpdate, false), (K::Update, true)], &update, seen.as_ref());
                changed(&[(K::MergeDelete, false)], &of(PolicyCommand::Delete)?, None);
                let returned = seen.as_ref().filter(|_| !query.returning.is_empty());
                changed(&[(K::Insert, true)], &insert, returned);
            }
            _ => {}
        }
        Ok(out)
    }
}

impl Planner<'_> {
    /// Gives a level that has been prepared the guards of its relations.
    pub(crate) fn take_guards(&mut self, block: &mut Block) {
        if self.guards.is_empty() {
            return;
        }
        for rel in rels_of(&block.from).iter() {
            for Guard { rel, rank, mut expr } in self.guards.remove(&rel).unwrap_or_default() {
                fold(&mut expr);
                let mut flat = Vec::new();
                flatten_and(expr, &mut flat);
                block.guards.extend(flat.into_iter().map(|expr| Guard { rel, rank, expr }));
            }
        }
    }
}

impl Level {
    /// Checks guards once that are the same for all rows, unless the rows of their relation are one side of a join only.
    pub(crate) fn lift_guards(&mut self) {
        if self.guards.is_empty() || !self.specials.is_empty() {
            return;
        }
        let fixed = |guard: &Guard| RelSet::of(&guard.expr).is_empty() && !guard.expr.is_volatile();
        let (lifted, kept) = std::mem::take(&mut self.guards).into_iter().partition(fixed);
        self.guards = kept;
        let lifted: Vec<Guard> = lifted;
        self.constant.extend(lifted.into_iter().map(|guard| guard.expr));
    }

    /// Whether rows of a relation may be hidden.
    pub(crate) fn is_guarded(&self, rel: RelId) -> bool {
        self.guards.iter().any(|guard| guard.rel == rel)
    }

    /// Whether a condition could tell of rows that are hidden.
    pub(crate) fn tells_of_hidden(&self, expr: &Expr, rels: RelSet) -> bool {
        self.guards.iter().any(|guard| rels.contains(guard.rel)) && !is_leakproof(expr)
    }

    /// Whether a condition on a relation may be evaluated before others: looked up in an index.
    pub(crate) fn may_be_looked_up(&self, rel: RelId, expr: &Expr) -> bool {
        let first = |guard: &Guard| guard.rel == rel && guard.rank == 0 && guard.expr == *expr;
        !self.is_guarded(rel) || is_leakproof(expr) || self.guards.iter().any(first)
    }

    /// All conditions on a relation in the order in which they are evaluated: what costs little and tells nothing need not wait for guards.
    pub(crate) fn behind_guards(&self, rel: RelId, conditions: Vec<Expr>) -> Vec<Expr> {
        let of_user = |function: &Function| function.user().is_some();
        let cheap = |expr: &Expr| !expr.has_subplans() && !expr.calls(&of_user) && expr.operators() <= CHEAP;
        let own = self.guards.iter().filter(|guard| guard.rel == rel);
        let (first, later): (Vec<&Guard>, Vec<&Guard>) =
            own.partition(|guard| guard.rank == 0 && cheap(&guard.expr));
        let (silent, others): (Vec<Expr>, Vec<Expr>) =
            conditions.into_iter().partition(|expr| is_leakproof(expr) && cheap(expr));
        let mut all: Vec<Expr> = first.into_iter().map(|guard| guard.expr.clone()).collect();
        all.extend(silent);
        all.sort_by(|a, b| a.operators().total_cmp(&b.operators()));
        all.extend(later.into_iter().map(|guard| guard.expr.clone()));
        all.extend(others);
        all
    }
}

/// Whether evaluating an expression tells nobody of the rows that it is evaluated for, but by its result.
pub(crate) fn is_leakproof(expr: &Expr) -> bool {
    let silent = |function: &Function| match function {
        Function::Builtin(f) => f.leakproof,
        Function::User(f) => f.leakproof,
    };
    let tells = |e: &Expr| match e {
        Expr::Call(call) => !silent(&call.function),
        Expr::ArrayOp(op) => !silent(&op.function),
        Expr::Distinct { equality: call, .. } | Expr::NullIf(call) => !silent(&call.function),
        Expr::Const { .. }
        | Expr::Param { .. }
        | Expr::ExecParam { .. }
        | Expr::Var(_)
        | Expr::And(_)
        | Expr::Or(_)
        | Expr::Not(_)
        | Expr::Test(..)
        | Expr::RowNullTest { .. }
        | Expr::Case { .. }
        | Expr::Coalesce(..)
        | Expr::Array { .. }
        | Expr::Row { .. }
        | Expr::SqlValue(..)
        | Expr::CurrentOf { .. }
        | Expr::Relabel { .. } => false,
        _ => true,
    };
    // What is the same for all rows tells of none.
    let names_rows = |e: &Expr| e.any(&mut |e| matches!(e, Expr::Var(_) | Expr::Placeholder(_)));
    !expr.any(&mut |e| tells(e) && (matches!(e, Expr::SubPlan(_)) || names_rows(e)))
}
