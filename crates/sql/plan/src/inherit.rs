//! Relations that stand for members: tables for their children too, and what UNION ALL makes one of ([`crate::united`]). Expressions over such a
//! relation as expressions over a member.
//!
//! # Invariants
//! 1. A table of a tree has every column of the parent under the same name, with the same type and collation; only numbers differ.
//! 2. Tables of a tree are numbered from [`FIRST_MEMBER`] on. A member is in a set of relations in its parent's place
//!    only, together with members of other trees where these are joined by their partitions ([`crate::partwise`]).
//!
//! # PostgreSQL counterpart
//! `optimizer/util/inherit.c`, `optimizer/util/appendinfo.c`.

use std::rc::Rc;
use std::sync::Arc;

use analyze::query::Relation as AnalysedRelation;
use base::{SqlError, SqlResult};
use catalog::RelationKind;
use catalog::view::Table;
use tuple::Datum;

use crate::cost::clamp_rows;
use crate::expr::{Expr, RelId, Var};
use crate::fold::{fold, is_true};
use crate::foreign::check_changeable;
use crate::level::Level;
use crate::logical::Source;
use crate::plan::{Command, Modify, RelColumn, Relation, TargetTable};
use crate::planner::Planner;
use crate::prune::Branch;
use crate::relset::{FIRST_MEMBER, SLOTS};
use crate::selectivity;

/// A relation that stands for members.
pub(crate) struct Inherited {
    /// Lock that the tables of its tree need.
    mode: u8,
    /// Its children are not meant (ONLY).
    only: bool,
    /// What is to be read, after pruning with the level's conditions.
    members: Option<Rc<[Member]>>,
    /// Rows of them all.
    pub tuples: f64,
    /// The partitions that are read, if it is a partitioned table.
    pub branch: Option<Rc<Branch>>,
}

impl Inherited {
    /// The same tree for another relation, whose members are not known yet.
    pub fn again(&self) -> Inherited {
        Inherited { mode: self.mode, only: self.only, members: None, tuples: 0.0, branch: None }
    }

    /// What stands for these, which are known.
    pub fn of(members: Vec<Member>) -> Inherited {
        let tuples = members.iter().map(|member| member.tuples).sum();
        Inherited { mode: 1, only: false, members: Some(members.into()), tuples, branch: None }
    }
}

/// What a relation stands for among others.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    /// Its number.
    pub rel: RelId,
    /// Its rows, by estimate.
    pub tuples: f64,
    /// What the columns of the relation are there.
    pub columns: Columns,
}

/// The columns of a relation in a member.
#[derive(Clone, Debug)]
pub(crate) enum Columns {
    /// Those of a table of the tree.
    Of(TreeTable),
    /// Those of a part of a UNION ALL.
    Computed(Rc<Part>),
}

/// What a part of a UNION ALL does with the rows that it reads.
#[derive(Debug)]
pub(crate) struct Part {
    /// The columns that it computes.
    pub exprs: Vec<Expr>,
    /// Its conditions.
    pub filters: Vec<Expr>,
}

impl Member {
    /// Itself, as a table of a tree.
    fn table(&self) -> Option<&TreeTable> {
        match &self.columns {
            Columns::Of(table) => Some(table),
            Columns::Computed(_) => None,
        }
    }

    /// Conditions of its own.
    pub fn filters(&self) -> &[Expr] {
        match &self.columns {
            Columns::Of(_) => &[],
            Columns::Computed(part) => &part.filters,
        }
    }
}

/// A table of a tree.
#[derive(Clone, Debug)]
pub(crate) struct TreeTable {
    /// Its number.
    pub rel: RelId,
    /// Its descriptor.
    pub table: Arc<Table>,
    /// Its number of each column of the relation that stands for the tree, 0 for dropped ones.
    pub columns: Arc<[i16]>,
}

impl TreeTable {
    /// `columns`, unless they are those of the parent.
    pub fn renumbered(&self) -> Option<Arc<[i16]>> {
        let same = self.columns.len() == self.table.columns.len()
            && self.columns.iter().zip(1..).all(|(own, number)| *own == number);
        (!same).then(|| self.columns.clone())
    }
}

/// `tableoid` of a relation.
pub(crate) fn tableoid(rel: RelId) -> Var {
    Var { rel, column: -6, type_oid: types::oids::oid, typmod: -1 }
}

/// The number in `child` of each column of `parent`.
pub(crate) fn column_map(parent: &Table, child: &Table) -> SqlResult<Arc<[i16]>> {
    let mut map = Vec::with_capacity(parent.columns.len());
    for (i, column) in parent.columns.iter().enumerate() {
        if column.dropped {
            map.push(0);
            continue;
        }
        // Most children have their columns where the parent has them.
        let same = child.columns.get(i).is_some_and(|c| !c.dropped && c.name == column.name);
        let found = if same { Some(i as i16 + 1) } else { child.column(&column.name).map(|(n, _)| n) };
        map.push(found.ok_or_else(|| {
            SqlError::internal(format!(
                "could not find inherited attribute \"{}\" of relation \"{}\"",
                column.name, child.name
            ))
        })?);
    }
    Ok(map.into())
}

impl Planner<'_> {
    /// Notes a relation that stands for more, or less, than its own rows.
    pub(crate) fn note_inherited(&mut self, rel: RelId, relation: &AnalysedRelation) {
        let table = &relation.table;
        let partitioned = table.kind == RelationKind::PartitionedTable;
        if partitioned || relation.inherit && !table.children.is_empty() {
            let (mode, only) = (relation.lock_mode, !relation.inherit);
            self.inherited.insert(rel, Inherited { mode, only, members: None, tuples: 0.0, branch: None });
        }
    }

    /// Whether a relation stands for members.
    pub(crate) fn is_inherited(&self, rel: RelId) -> bool {
        self.inherited.contains_key(&rel)
    }

    /// What a relation stands for, as far as conditions let any be read.
    pub(crate) fn members(&self, rel: RelId) -> Rc<[Member]> {
        self.inherited.get(&rel).and_then(|i| i.members.clone()).unwrap_or_else(|| Rc::from([]))
    }

    /// Finds the members of a relation's tree, and locks them.
    pub(crate) fn expand(&mut self, rel: RelId, level: &Level) -> SqlResult<()> {
        let Some(inherited) = self.inherited.get(&rel) else { return Ok(()) };
        let (mode, only) = (inherited.mode, inherited.only);
        self.take_slot(rel, level);
        let Some(root) = self.relations[rel].table.clone() else { return Ok(()) };
        let (mut tables, mut branch) = (Vec::new(), None);
        if root.partitioning.is_none() {
            tables = if only { vec![root.clone()] } else { self.tree_of(&root)? };
        } else if !only {
            let filters = level.filters_of(rel);
            let numbers = column_map(&root, &root)?;
            branch = Some(Rc::new(self.branch_of(rel, &root, &numbers, &filters, &mut tables)?));
        }
        let mut members = Vec::with_capacity(tables.len());
        for table in tables {
            runtime::check_interrupts().map_err(crate::interrupted)?;
            self.lock(table.oid, mode);
            let number = self.next_member_of(rel);
            let table = self.add_member(&root, table, number)?;
            let tuples = self.tuples_of(table.rel, &table.table);
            if let Source::Sample(sample) = &self.sources[rel] {
                self.sources[table.rel] = Source::Sample(sample.clone());
            }
            members.push(Member { rel: table.rel, tuples, columns: Columns::Of(table) });
        }
        let inherited = Inherited { mode, only, branch, ..Inherited::of(members) };
        self.inherited.insert(rel, inherited);
        Ok(())
    }

    /// A partitioned partition of `parent` as a member: what stands for the tables of `branch` among the parent's.
    pub(crate) fn add_branch(&mut self, parent: RelId, branch: &Branch) -> SqlResult<Member> {
        let Some(root) = self.relations[parent].table.clone() else {
            return Err(SqlError::internal("a tree without a table"));
        };
        let table = branch.table();
        let number = self.next_member_of(parent);
        let own = self.add_member(&root, table.clone(), number)?;
        self.sources[own.rel] = match &self.sources[parent] {
            Source::Sample(sample) => Source::Sample(sample.clone()),
            _ => Source::Table,
        };
        let all = self.members(parent);
        let mut places = Vec::new();
        branch.members(&mut places);
        let mut members = Vec::with_capacity(places.len());
        for member in places.iter().filter_map(|at| all.get(*at)) {
            let Some(leaf) = member.table() else { continue };
            let columns = column_map(table, &leaf.table)?;
            members.push(Member {
                columns: Columns::Of(TreeTable { columns, ..leaf.clone() }),
                ..member.clone()
            });
        }
        let rel = own.rel;
        let mut member = Member { rel, tuples: 0.0, columns: Columns::Of(own) };
        let translate = |e: &Expr| self.for_member(parent, &member, e);
        let branch = Some(Rc::new(branch.renumbered(&places, &translate)));
        let inherited = Inherited { mode: self.mode_of(parent), branch, ..Inherited::of(members) };
        member.tuples = inherited.tuples;
        self.inherited.insert(rel, inherited);
        if let Some(slot) = self.slots.get(&parent) {
            self.slots.insert(rel, *slot);
        }
        Ok(member)
    }

    /// The lock that members of a relation's tree need.
    pub(crate) fn mode_of(&self, rel: RelId) -> u8 {
        self.inherited.get(&rel).map_or(1, |i| i.mode)
    }

    /// The partitions of a relation that are read.
    pub(crate) fn branch(&self, rel: RelId) -> Option<Rc<Branch>> {
        self.inherited.get(&rel).and_then(|i| i.branch.clone())
    }

    /// A table and all below it that have rows, each once, nearer ones first.
    fn tree_of(&self, root: &Arc<Table>) -> SqlResult<Vec<Arc<Table>>> {
        let mut tables = vec![root.clone()];
        let mut at = 0;
        while let Some(table) = tables.get(at).cloned() {
            runtime::check_interrupts().map_err(crate::interrupted)?;
            for &child in &table.children {
                if tables.iter().any(|t| t.oid == child) {
                    continue;
                }
                // A child that was dropped meanwhile is gone when the parent's lock is held.
                if let Some(child) = self.context.catalog.relation_by_oid(child)?
                    && !self.is_of_another_session(&child)?
                {
                    tables.push(child);
                }
            }
            at += 1;
        }
        Ok(tables)
    }

    /// Whether a child is another session's temporary table.
    fn is_of_another_session(&self, table: &Table) -> SqlResult<bool> {
        Ok(table.persistence == 't' && !self.context.catalog.search_path()?.contains(&table.schema))
    }

    pub(crate) fn add_member(&mut self, root: &Table, table: Arc<Table>, rel: RelId) -> SqlResult<TreeTable> {
        let columns = column_map(root, &table)?;
        let column = |c: &catalog::view::Column| RelColumn {
            name: c.name.as_str().into(),
            type_oid: c.type_oid,
            typmod: c.typmod,
        };
        let relation = Relation {
            alias: table.name.as_str().into(),
            columns: table.columns.iter().map(column).collect(),
            table: Some(table.clone()),
        };
        let source = self.source_of(&table)?;
        self.put_relation(rel, relation, source);
        Ok(TreeTable { rel, table, columns })
    }

    /// Lets the members of a partitioned table be joined with those of the level's other ones.
    fn take_slot(&mut self, rel: RelId, level: &Level) {
        let partitioned =
            self.relations[rel].table.as_ref().is_some_and(|table| table.partitioning.is_some());
        if !self.settings().enable_partitionwise_join || !partitioned || level.rels.len() < 2 {
            return;
        }
        let taken = level.rels.iter().filter(|other| self.slots.contains_key(other)).count();
        if taken < SLOTS {
            // Bits go by numbers from the first member on.
            let first = self.next_member() - FIRST_MEMBER;
            self.slots.insert(rel, FIRST_MEMBER + first.next_multiple_of(SLOTS) + taken);
        }
    }

    /// The number of the next member of a relation's tree.
    pub(crate) fn next_member_of(&mut self, rel: RelId) -> RelId {
        let Some(&slot) = self.slots.get(&rel) else { return self.next_member() };
        let free = |at: &RelId| {
            let known = self.relations.get(*at);
            known.is_none_or(|known| known.table.is_none() && known.columns.is_empty())
        };
        let number = (slot..).step_by(SLOTS).find(free).unwrap_or(slot);
        self.slots.insert(rel, number);
        number
    }

    /// The number of the next member.
    pub(crate) fn next_member(&self) -> RelId {
        self.relations.len().max(FIRST_MEMBER)
    }

    /// An expression over `parent` as one over a member.
    pub(crate) fn for_member(&self, parent: RelId, member: &Member, expr: &Expr) -> Expr {
        self.for_places(&[(parent, member)], expr)
    }

    /// An expression over relations as one over members that stand in their places.
    pub(crate) fn for_places(&self, places: &[(RelId, &Member)], expr: &Expr) -> Expr {
        let mut expr = expr.clone();
        expr.replace(&mut |e| {
            let Expr::Var(var) = e else { return None };
            let (_, member) = places.iter().find(|(parent, _)| *parent == var.rel)?;
            match &member.columns {
                Columns::Of(table) => Some(self.member_column(table, var)),
                Columns::Computed(part) => {
                    usize::try_from(var.column - 1).ok().and_then(|i| part.exprs.get(i)).cloned()
                }
            }
        });
        if places.iter().any(|(_, member)| member.table().is_none()) {
            fold(&mut expr);
        }
        expr
    }

    /// The level as a member sees it that takes the place of the relation that stands for it, and the conditions on it alone.
    pub(crate) fn level_of(&self, level: &Level, rel: RelId, member: &Member) -> (Level, Vec<Expr>) {
        let mut own = self.level_with(level, &[(rel, member)]);
        own.restrict(member.rel, member.filters());
        let mut filters = own.filters_of(member.rel);
        // Columns that are constants there decide some of them.
        if member.table().is_none() {
            filters.iter_mut().for_each(fold);
            filters.retain(|filter| !is_true(filter));
        }
        (own, filters)
    }

    /// The level as members see it that take the places of the relations that stand for them.
    pub(crate) fn level_with(&self, level: &Level, places: &[(RelId, &Member)]) -> Level {
        let numbers: Vec<(RelId, RelId)> = places.iter().map(|(rel, member)| (*rel, member.rel)).collect();
        level.for_members(&numbers, &|e| self.for_places(places, e))
    }

    fn member_column(&self, member: &TreeTable, var: &Var) -> Expr {
        let own = |column: i16| Expr::Var(Var { rel: member.rel, column, ..var.clone() });
        match var.column {
            0 => self.member_row(member, var),
            n if n > 0 => own(member.columns.get(n as usize - 1).copied().unwrap_or(n)),
            system => own(system),
        }
    }

    /// The parent's whole row, made of a member's columns.
    fn member_row(&self, member: &TreeTable, var: &Var) -> Expr {
        let Some(row) = self.whole_rows.get(&var.rel) else {
            return Expr::Var(Var { rel: member.rel, ..var.clone() });
        };
        let field = |number: &i16| {
            let column = usize::try_from(*number - 1).ok().and_then(|i| member.table.columns.get(i));
            match column {
                Some(c) => Expr::Var(Var {
                    rel: member.rel,
                    column: *number,
                    type_oid: c.type_oid,
                    typmod: c.typmod,
                }),
                None => Expr::Const { value: Datum::Null, type_oid: types::oids::int4, typmod: -1 },
            }
        };
        Expr::Row { fields: member.columns.iter().map(field).collect(), row: row.clone() }
    }

    /// The share of a relation's rows that TABLESAMPLE leaves.
    pub(crate) fn sample_share(&self, rel: RelId) -> f64 {
        match &self.sources[rel] {
            Source::Sample(sample) => match &sample.percent {
                Expr::Const { value: Datum::Float4(percent), .. } if (0.0..=100.0).contains(percent) => {
                    f64::from(*percent) / 100.0
                }
                _ => 0.1,
            },
            _ => 1.0,
        }
    }

    /// Rows of all members that pass conditions over the relation that stands for them; none if it does for none.
    pub(crate) fn member_rows(&self, rel: RelId, filters: &[Expr]) -> Option<f64> {
        self.inherited.get(&rel)?;
        let rows = |member: &Member| {
            let mut filters: Vec<Expr> = filters.iter().map(|f| self.for_member(rel, member, f)).collect();
            filters.extend_from_slice(member.filters());
            clamp_rows(member.tuples * self.sample_share(rel) * selectivity::conjunction(self, &filters))
        };
        Some(self.members(rel).iter().map(rows).sum::<f64>().max(1.0))
    }

    /// The tables that a statement writes to, as far as it finds rows in them.
    pub(crate) fn target_tables(&mut self, modify: &Modify) -> SqlResult<Vec<TargetTable>> {
        let rel = modify.rel;
        check_changeable(&modify.table, modify.command)?;
        let routed = modify.command == Command::Insert && modify.table.partitioning.is_some();
        if routed || modify.table.kind == RelationKind::View {
            return Ok(Vec::new());
        }
        if modify.command == Command::Insert || !self.is_inherited(rel) {
            return Ok(vec![self.target_table(rel, &modify.table, None)?]);
        }
        let members = self.members(rel);
        let tables = members.iter().filter_map(Member::table);
        tables.clone().try_for_each(|member| check_changeable(&member.table, modify.command))?;
        let targets = tables.map(|t| self.target_table(t.rel, &t.table, t.renumbered()));
        let mut targets = targets.collect::<SqlResult<Vec<_>>>()?;
        // New rows of MERGE go to the table that it names, or are routed from there.
        let unrouted = modify.table.partitioning.is_none();
        if modify.command == Command::Merge
            && unrouted
            && !targets.iter().any(|t| t.table.oid == modify.table.oid)
        {
            targets.push(self.target_table(rel, &modify.table, None)?);
        }
        Ok(targets)
    }
}
