//! Joins of whose inner side at most one row can match: outer joins that add nothing are left out, and semijoins become inner joins, which
//! may be done in any order. Grouping columns that others determine.
//!
//! # Invariants
//! 1. An index says so of a table only if it refuses duplicates at once, of all rows, and by the equality that is asked for; of a subquery, what
//!    it groups or makes distinct by.
//! 2. Where a collation finds different texts equal, nothing is known: one side may compare otherwise.
//!
//! # PostgreSQL counterpart and differences
//! `analyzejoins.c`, without the removal of self-joins, and `remove_useless_groupby_columns`.

use base::Oid;
use types::registry::ORDERING_METHOD;

use crate::expr::{CallForm, Expr, RelId, Var};
use crate::level::{as_equality, plain_var};
use crate::logical::{Block, From, SetOperation, SetTree, Source, rels_of};
use crate::plan::JoinKind;
use crate::planner::Planner;
use crate::relset::RelSet;
use crate::scan::strip;

/// A column that equals something that is not of its relation.
struct Equated {
    column: i16,
    type_oid: Oid,
    operator: Oid,
    collation: Oid,
}

/// The columns of a relation that conditions equate with something else.
fn equated<'e>(rel: RelId, clauses: impl Iterator<Item = &'e Expr>) -> Vec<Equated> {
    let column = |e: &Expr| match strip(e) {
        Expr::Var(Var { rel: of, column, type_oid, .. }) if *of == rel && *column > 0 => {
            Some((*column, *type_oid))
        }
        _ => None,
    };
    let mut out = Vec::new();
    for (call, a, b) in clauses.filter_map(as_equality) {
        let CallForm::Operator(operator) = &call.form else { continue };
        for (mine, other) in [(a, b), (b, a)] {
            if let Some((column, type_oid)) = column(mine)
                && !RelSet::of(other).contains(rel)
                && !other.is_volatile()
            {
                out.push(Equated { column, type_oid, operator: operator.oid, collation: call.collation });
            }
        }
    }
    out
}

/// Sets of columns of a query's result of which no two rows have the same values; an empty one if there is one row only.
pub(crate) type Keys = Vec<Vec<i16>>;

fn keys_of(block: &Block) -> Keys {
    let targets: Vec<&Expr> = block.targets.iter().filter(|t| !t.junk).map(|t| &t.expr).collect();
    let places = |exprs: &[Expr]| {
        let place = |e: &Expr| targets.iter().position(|t| *t == e).map(|i| i as i16 + 1);
        exprs.iter().map(place).collect::<Option<Vec<i16>>>()
    };
    let mut keys = Keys::new();
    if block.modify.is_some() {
        return keys;
    }
    if !block.distinct.is_empty() {
        keys.extend(places(&block.distinct));
    }
    let set = targets.iter().any(|t| t.returns_set());
    if block.aggregated && block.grouping_sets.is_empty() && !set {
        keys.extend(places(&block.group));
    }
    let distinct = |tree: &SetTree| match tree {
        SetTree::Op { op, all, .. } => {
            !all && matches!(op, SetOperation::Union | SetOperation::Intersect | SetOperation::Except)
        }
        _ => false,
    };
    if block.set.as_ref().is_some_and(|(_, tree)| distinct(tree)) {
        keys.push((1..=targets.len() as i16).collect());
    }
    keys
}

impl Planner<'_> {
    /// Whether at most one row of a relation satisfies conditions that equate its columns with something else.
    pub(crate) fn is_unique_by<'e>(&self, rel: RelId, clauses: impl Iterator<Item = &'e Expr>) -> bool {
        if let Some(table) = &self.relations[rel].table {
            // Children of a table have indexes of their own.
            let tree = self.is_inherited(rel) && table.partitioning.is_none();
            let may =
                |i: &catalog::view::Index| i.refuses_duplicates() && i.immediate && i.predicate.is_none();
            if tree || !self.sources[rel].is_table() || !table.indexes.iter().any(|i| may(i)) {
                return false;
            }
            let equated = equated(rel, clauses);
            let has = |i: &catalog::view::Index, at: usize| {
                equated.iter().any(|e| e.column == i.keys[at] && self.equates(i, at, e))
            };
            return table
                .indexes
                .iter()
                .any(|i| may(i) && i.is_usable() && (0..i.keys.len()).all(|at| has(i, at)));
        }
        let keys = match (&self.sources[rel], self.derived_keys.get(&rel)) {
            (_, Some(keys)) => keys.clone(),
            (Source::Subquery(inner), None) => keys_of(inner),
            _ => return false,
        };
        if keys.is_empty() {
            return false;
        }
        let equated = equated(rel, clauses);
        let has = |column: i16| equated.iter().any(|e| e.column == column && self.is_usual(e));
        keys.iter().any(|key| key.iter().all(|column| has(*column)))
    }

    /// Grouping expressions without those columns that others of the same table determine, which are the key of an index.
    pub(crate) fn without_determined(&self, mut keys: Vec<Expr>) -> Vec<Expr> {
        // A column is compared by its own collation, or by another one that finds the same texts equal.
        let column = |rel: RelId, e: &Expr| {
            let var = plain_var(e).filter(|var| var.rel == rel && var.column > 0)?;
            (var.type_oid == e.type_oid() && self.is_strict(e.collation())).then_some(var.column)
        };
        let rels = keys.iter().fold(RelSet::EMPTY, |rels, key| rels | RelSet::of(key));
        for rel in rels.iter() {
            let columns: Vec<i16> = keys.iter().filter_map(|key| column(rel, key)).collect();
            if let Some(index) = self.determining(rel, &columns) {
                keys.retain(|key| column(rel, key).is_none_or(|column| index.contains(&column)));
            }
        }
        keys
    }

    /// The columns of the smallest index of which no two rows have the same values, if it has some of these columns, not all, and no others.
    fn determining(&self, rel: RelId, columns: &[i16]) -> Option<&[i16]> {
        let table = self.relations[rel].table.as_ref()?;
        let tree = self.is_inherited(rel) && table.partitioning.is_none();
        if columns.len() < 2 || tree || !self.sources[rel].is_table() {
            return None;
        }
        let differs = |index: &catalog::view::Index, at: usize| {
            let Some(column) = usize::try_from(index.keys[at] - 1).ok().and_then(|i| table.columns.get(i))
            else {
                return false;
            };
            let usual =
                self.families.default_class_for(ORDERING_METHOD, self.types.comparable(column.type_oid));
            let class = index.opclasses.get(at).and_then(|class| self.families.class(*class));
            let own = index.collations.get(at).copied().unwrap_or_default();
            columns.contains(&index.keys[at])
                && (column.not_null || index.nulls_not_distinct)
                && usual.is_some_and(|usual| class.is_some_and(|class| class.family == usual.family))
                && self.is_strict(own)
        };
        let determines = |index: &&std::sync::Arc<catalog::view::Index>| {
            let whole = index.refuses_duplicates() && index.immediate && index.predicate.is_none();
            whole
                && index.is_usable()
                && index.keys.len() < columns.len()
                && (0..index.keys.len()).all(|at| differs(index, at))
        };
        let smallest = table.indexes.iter().filter(determines).min_by_key(|index| index.keys.len());
        smallest.map(|index| index.keys.as_slice())
    }

    /// Notes what a subquery's rows differ in, before it is planned.
    pub(crate) fn note_keys(&mut self, rel: RelId) {
        let Source::Subquery(inner) = &self.sources[rel] else { return };
        let keys = keys_of(inner);
        if !keys.is_empty() {
            self.derived_keys.insert(rel, keys);
        }
    }

    /// Whether rows that differ in a column of an index also do by an equality.
    fn equates(&self, index: &catalog::view::Index, at: usize, equated: &Equated) -> bool {
        let class = index.opclasses.get(at).and_then(|class| self.families.class(*class));
        let member = class.and_then(|class| self.families.membership(class.family, equated.operator));
        let own = index.collations.get(at).copied().unwrap_or_default();
        member.is_some_and(|member| member.strategy == index::strategy::EQUAL as i16)
            && self.is_strict(own)
            && self.is_strict(equated.collation)
    }

    /// Whether an equality is the one by which values are grouped.
    fn is_usual(&self, equated: &Equated) -> bool {
        let class = self.families.default_class_for(ORDERING_METHOD, self.types.comparable(equated.type_oid));
        let member = class.and_then(|class| self.families.membership(class.family, equated.operator));
        let textual = types::comparator::is_collatable(self.types.comparable(equated.type_oid));
        member.is_some_and(|member| member.strategy == index::strategy::EQUAL as i16)
            && (!textual || self.is_strict(equated.collation))
    }

    /// Whether texts are equal by a collation only if they are the same.
    fn is_strict(&self, collation: Oid) -> bool {
        !collation.is_valid() || self.types.rules(collation).is_ok_and(|rules| rules.is_deterministic())
    }

    /// Leaves out outer joins that neither add rows nor are asked for columns, and turns semijoins of which each row matches one at most into
    /// inner joins.
    pub(crate) fn simplify_joins(&mut self, block: &mut Block) {
        while let Some(rel) = self.useless_join(block) {
            remove(&mut block.from, rel);
        }
        self.reduce_semijoins(&mut block.from);
    }

    /// The inner side of an outer join that can be left out.
    fn useless_join(&mut self, block: &mut Block) -> Option<RelId> {
        let mut candidates = Vec::new();
        self.outer_joins(&block.from, &mut candidates);
        let target = block.modify.as_ref().map(|modify| modify.rel);
        candidates.retain(|rel| target != Some(*rel) && !block.marks.iter().any(|mark| mark.rel == *rel));
        for rel in candidates {
            let quals = take_quals(&mut block.from, rel)?;
            let mut used = false;
            self.deep_exprs(block, &mut |e| {
                let placed = |e: &Expr| matches!(e, Expr::Placeholder(p) if p.column.rel == rel);
                used |= RelSet::of(e).contains(rel) || e.any(&mut |e| placed(e));
            });
            put_quals(&mut block.from, rel, quals);
            if !used {
                return Some(rel);
            }
        }
        None
    }

    /// Relations that are alone on the right side of an outer join and match a row of the left side at most once.
    fn outer_joins(&self, items: &[From], out: &mut Vec<RelId>) {
        for item in items {
            let From::Join { kind, left, right, quals } = item else { continue };
            self.outer_joins(left, out);
            self.outer_joins(right, out);
            if let (JoinKind::Left, [From::Rel(rel)]) = (kind, right.as_slice())
                && !quals.iter().any(|q| q.is_volatile() || q.has_subplans())
                && self.is_unique_by(*rel, quals.iter())
            {
                out.push(*rel);
            }
        }
    }

    fn reduce_semijoins(&self, items: &mut [From]) {
        for item in items {
            let From::Join { kind, left, right, quals } = item else { continue };
            self.reduce_semijoins(left);
            self.reduce_semijoins(right);
            if let (JoinKind::Semi, [From::Rel(rel)]) = (*kind, right.as_slice())
                && !quals.iter().any(|q| q.is_volatile() || q.has_subplans())
                && self.is_unique_by(*rel, quals.iter())
            {
                *kind = JoinKind::Inner;
            }
        }
    }
}

/// Calls `f` with the join that has `rel` alone on its right side.
fn with_join<T>(
    items: &mut Vec<From>,
    rel: RelId,
    f: &mut dyn FnMut(&mut Vec<From>, usize) -> T,
) -> Option<T> {
    for at in 0..items.len() {
        if !items[at].rels().contains(rel) {
            continue;
        }
        let From::Join { left, right, .. } = &mut items[at] else { return None };
        if matches!(right.as_slice(), [From::Rel(only)] if *only == rel) {
            return Some(f(items, at));
        }
        let side = if rels_of(left).contains(rel) { left } else { right };
        return with_join(side, rel, f);
    }
    None
}

fn take_quals(items: &mut Vec<From>, rel: RelId) -> Option<Vec<Expr>> {
    with_join(items, rel, &mut |items, at| match &mut items[at] {
        From::Join { quals, .. } => std::mem::take(quals),
        From::Rel(_) => Vec::new(),
    })
}

fn put_quals(items: &mut Vec<From>, rel: RelId, mut given: Vec<Expr>) {
    with_join(items, rel, &mut |items, at| {
        if let From::Join { quals, .. } = &mut items[at] {
            *quals = std::mem::take(&mut given);
        }
    });
}

/// Puts the left side of a join in its place.
fn remove(items: &mut Vec<From>, rel: RelId) {
    with_join(items, rel, &mut |items, at| {
        if let From::Join { left, .. } = &mut items[at] {
            let left = std::mem::take(left);
            items.splice(at..=at, left);
        }
    });
}
