//! Joins of partitioned tables, partition by partition.
//!
//! # What
//! Where tables are partitioned alike and a join equates all columns of their keys, a row of a partition finds its matches in one partition
//! of the other side. The parts are then joined each by itself, in the way that is best for it, and their rows appended or merged.
//!
//! A part is joined by the same search as the whole: in a level in which members stand in the places of the relations
//! ([`Search::in_places`]). Conditions, classes and orders keep their numbers there, so that paths of parts mean in the level what they mean
//! in theirs. Partitions that are partitioned themselves, and match in turn, are joined by their own partitions.
//!
//! Parts are joined once all joins of a set of relations have been looked at, and what is left of them are paths: the levels are dropped.
//! While `enable_partitionwise_join` is off, nothing is noted and nothing done.
//!
//! # Invariants
//! 1. Members that stand in a level together have different bits ([`crate::relset::SLOTS`]).
//! 2. Each row of the join is of one part.
//!
//! # PostgreSQL counterpart
//! `try_partitionwise_join` of `optimizer/path/joinrels.c`, `build_joinrel_partition_info` of `optimizer/util/relnode.c`.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use base::SqlResult;
use catalog::view::Table;

use crate::expr::{Call, CallForm, Expr, RelId, Var};
use crate::inherit::Member;
use crate::joins::{Search, swapped};
use crate::level::as_equality;
use crate::matching::{Bounds, Side, matched};
use crate::partition::Comparison;
use crate::path::{Path, PathKey, Places, Whole, cheapest};
use crate::plan::JoinKind;
use crate::prune::{Branch, Key, Part as Partition};
use crate::relset::RelSet;
use crate::scan::strip;

/// A join of two sets of relations, the left side as the kind has it.
#[derive(Clone, Copy)]
pub(crate) struct Pairing {
    pub outer: RelSet,
    pub inner: RelSet,
    pub kind: JoinKind,
    pub special: Option<usize>,
}

/// What is known of joins by partitions.
#[derive(Default)]
pub(crate) struct Partwise {
    /// Joins that may be done by partitions, by what they join.
    noted: HashMap<RelSet, Vec<Pairing>>,
    /// Sets of relations and how they are partitioned; none that are not.
    parted: HashMap<RelSet, Option<Rc<Parted>>>,
}

/// A set of relations whose rows are in partitions.
struct Parted {
    /// A table that is partitioned so.
    like: Arc<Table>,
    bounds: Bounds,
    /// Expressions that each column of the key equals.
    keys: Vec<Vec<Expr>>,
    /// Those of which it may be NULL because an outer join found nothing.
    nullable: Vec<Vec<Expr>>,
    /// The partitions; none of one that no row comes from.
    parts: Vec<Option<Part>>,
}

/// A partition of a set of relations.
#[derive(Clone)]
struct Part {
    places: Places,
    /// Of several relations: how it is joined, its rows, and its own partitions.
    joined: Option<Rc<Joined>>,
}

/// How a part may be joined: of which parts of the two sides.
type Way = (Pairing, Part, Part);

struct Joined {
    paths: Vec<Rc<Path>>,
    rows: f64,
    parted: Option<Rc<Parted>>,
}

impl Parted {
    fn read(&self) -> Vec<bool> {
        self.parts.iter().map(Option::is_some).collect()
    }

    /// Whether an expression equals a column of the key, where the key is there.
    fn has(&self, column: usize, expr: &Expr) -> bool {
        let same = |key: &Expr| strip(key) == strip(expr);
        self.keys[column].iter().chain(&self.nullable[column]).any(same)
    }
}

impl Search<'_, '_> {
    /// Notes a join that may be done by partitions.
    pub(crate) fn note_pairing(&mut self, pairing: Pairing) {
        if self.planner.settings().enable_partitionwise_join {
            self.partwise.noted.entry(pairing.outer | pairing.inner).or_default().push(pairing);
        }
    }

    /// Joins the partitions of a set of relations, if it has been found how; all ways to join the whole are known.
    pub(crate) fn join_parts(&mut self, rels: RelSet) -> SqlResult<()> {
        let Some(noted) = self.partwise.noted.remove(&rels) else { return Ok(()) };
        runtime::check_stack()?;
        let parted = self.joined_parts(rels, noted)?.map(Rc::new);
        if let Some(parted) = &parted {
            let parts: Vec<&Part> = parted.parts.iter().flatten().collect();
            let places: Vec<Places> = parts.iter().map(|part| part.places.clone()).collect();
            let joined = parts.iter().filter_map(|part| part.joined.as_ref());
            let each: Vec<Vec<Rc<Path>>> = joined.map(|joined| joined.paths.clone()).collect();
            let mut paths = self.joined.remove(&rels).unwrap_or_default();
            let whole = Whole::Joins(places.into());
            self.appended((&whole, rels), &each, &mut paths);
            self.driven_parts((&whole, rels), &each, &mut paths);
            self.joined.insert(rels, paths);
        }
        self.partwise.parted.insert(rels, parted);
        Ok(())
    }

    /// Adds the paths that rows of other relations drive.
    fn driven_parts(&self, of: (&Whole, RelSet), each: &[Vec<Rc<Path>>], paths: &mut Vec<Rc<Path>>) {
        for outer in crate::append::outers_of(each) {
            let children = each.iter().map(|paths| cheapest(paths, |path| path.outer == outer));
            if let Some(children) = children.collect::<Option<Vec<_>>>() {
                crate::path::add_path(paths, self.append_path(of, children, Vec::new()));
            }
        }
    }

    fn joined_parts(&mut self, rels: RelSet, noted: Vec<Pairing>) -> SqlResult<Option<Parted>> {
        let mut found: Option<(Parted, Vec<Vec<Way>>)> = None;
        for pairing in noted {
            let (Some(left), Some(right)) = (self.parted(pairing.outer)?, self.parted(pairing.inner)?) else {
                continue;
            };
            if !self.is_alike(&left.like, &right.like) || !self.equates(&left, &right, pairing) {
                continue;
            }
            let sides = (left.read(), right.read());
            let one = Side { bounds: &left.bounds, read: &sides.0 };
            let Some(matched) = matched(pairing.kind, one, Side { bounds: &right.bounds, read: &sides.1 })
            else {
                continue;
            };
            let parts: Vec<Option<(Part, Part)>> = matched
                .pairs
                .iter()
                .map(|pair| pair.and_then(|(l, r)| Some((left.parts[l].clone()?, right.parts[r].clone()?))))
                .collect();
            let both = |(l, r): &(Part, Part)| Part { places: together(&l.places, &r.places), joined: None };
            let wholes: Vec<Option<Part>> = parts.iter().map(|pair| pair.as_ref().map(both)).collect();
            let (known, ways) = found.get_or_insert_with(|| {
                let (keys, nullable) = keys_of(pairing.kind, &left, &right);
                let (like, parts) = (left.like.clone(), wholes.clone());
                let ways = vec![Vec::new(); parts.len()];
                (Parted { like, bounds: matched.bounds, keys, nullable, parts }, ways)
            });
            // Joined in another order, the parts must be the same ones.
            if !same_parts(&known.parts, &wholes) {
                continue;
            }
            for (ways, pair) in ways.iter_mut().zip(parts) {
                ways.extend(pair.map(|(left, right)| (pairing, left, right)));
            }
        }
        let Some((mut parted, ways)) = found else { return Ok(None) };
        for (part, ways) in parted.parts.iter_mut().zip(ways) {
            runtime::check_interrupts().map_err(crate::interrupted)?;
            if let Some(part) = part {
                part.joined = Some(Rc::new(self.join_part(rels, &part.places, ways)?));
            }
        }
        Ok(Some(parted))
    }

    /// Joins one part in each of some ways.
    fn join_part(&mut self, rels: RelSet, places: &Places, ways: Vec<Way>) -> SqlResult<Joined> {
        let singles = self.level.singles.len();
        let own = move |set: RelSet| {
            places
                .iter()
                .filter(|(rel, _)| set.contains(*rel))
                .fold(RelSet::EMPTY, |set, (_, member)| set | RelSet::one(member.rel))
        };
        let (mut paths, rows, parted) = self.in_places(places, |search| {
            for (pairing, left, right) in ways {
                search.stand(own(pairing.outer), rels, &left);
                search.stand(own(pairing.inner), rels, &right);
                let (outer, inner) = (own(pairing.outer), own(pairing.inner));
                search.pair_both(Pairing { outer, inner, ..pairing });
            }
            let both = own(rels);
            search.join_parts(both)?;
            let paths = search.joined.remove(&both).unwrap_or_default();
            let rows = search.rows.get(&both).copied().unwrap_or(1.0);
            let parted = search.partwise.parted.remove(&both).flatten();
            SqlResult::Ok((paths, rows, parted))
        })?;
        self.keep_known_orders(&mut paths, singles);
        Ok(Joined { paths, rows, parted })
    }

    /// Has a side of a part's join ready in the part's level.
    fn stand(&mut self, own: RelSet, replaced: RelSet, part: &Part) {
        if self.joined.contains_key(&own) {
            return;
        }
        match &part.joined {
            Some(joined) => {
                // What the rows of a relation drive that is a partition here was not made for it.
                let fits = |path: &&Rc<Path>| !path.outer.overlaps(replaced);
                self.joined.insert(own, joined.paths.iter().filter(fits).cloned().collect());
                self.rows.insert(own, joined.rows);
                self.partwise.parted.insert(own, joined.parted.clone());
            }
            None => {
                for (_, member) in part.places.iter() {
                    self.estimate_base(member.rel);
                    let paths = self.base_paths(member.rel);
                    self.joined.insert(own, paths);
                }
            }
        }
    }

    /// Runs `f` in a level in which members stand in the places of relations, with joins of its own.
    fn in_places<T>(&mut self, places: &Places, f: impl FnOnce(&mut Self) -> T) -> T {
        let planner = &*self.planner;
        let places: Vec<(RelId, &Member)> = places.iter().map(|(rel, member)| (*rel, member)).collect();
        let mut level = planner.level_with(self.level, &places);
        let mut needed: Vec<Expr> = self.needed.iter().map(|e| planner.for_places(&places, e)).collect();
        std::mem::swap(self.level, &mut level);
        std::mem::swap(&mut self.needed, &mut needed);
        let joined = std::mem::take(&mut self.joined);
        let rows = std::mem::take(&mut self.rows);
        let partial = std::mem::take(&mut self.partial);
        let partwise = std::mem::take(&mut self.partwise);
        // Participants share a whole join, or nothing.
        let parallel = std::mem::replace(&mut self.planner.parallel, false);
        let result = f(self);
        self.planner.parallel = parallel;
        *self.level = level;
        self.needed = needed;
        (self.joined, self.rows, self.partial, self.partwise) = (joined, rows, partial, partwise);
        result
    }

    /// How a set of relations is partitioned.
    fn parted(&mut self, rels: RelSet) -> SqlResult<Option<Rc<Parted>>> {
        if let Some(known) = self.partwise.parted.get(&rels) {
            return Ok(known.clone());
        }
        let parted = match self.level.only_rel(rels) {
            Some(rel) => self.parted_table(rel)?.map(Rc::new),
            None => None,
        };
        self.partwise.parted.insert(rels, parted.clone());
        Ok(parted)
    }

    fn parted_table(&mut self, rel: RelId) -> SqlResult<Option<Parted>> {
        let Some(branch) = self.planner.branch(rel) else { return Ok(None) };
        if !self.planner.slots.contains_key(&rel) || self.level.lateral.contains_key(&rel) {
            return Ok(None);
        }
        // A whole row is of the type of the table that was named.
        let whole =
            |e: &Expr| e.any(&mut |e| matches!(e, Expr::Var(Var { rel: of, column: 0, .. }) if *of == rel));
        let clauses = self.level.clauses.iter().map(|clause| &clause.expr);
        if self.needed.iter().chain(clauses).any(whole) {
            return Ok(None);
        }
        let members = self.planner.members(rel);
        let mut parts = Vec::with_capacity(branch.parts().len());
        for (number, partition) in branch.parts().iter().enumerate() {
            let member = match partition {
                None => None,
                Some(Partition::Member(at)) => members.get(*at).cloned(),
                Some(Partition::Branch(below)) => Some(self.branch_member(rel, number, below)?),
            };
            let part = |member| Part { places: Rc::from([(rel, member)]), joined: None };
            parts.push(member.map(part));
        }
        let keys: Vec<Vec<Expr>> = branch.keys().iter().map(|key| vec![key.clone()]).collect();
        let nullable = vec![Vec::new(); keys.len()];
        let (like, bounds) = (branch.table().clone(), Bounds::of(branch.map()));
        Ok(Some(Parted { like, bounds, keys, nullable, parts }))
    }

    /// The member that a partitioned partition is, which is made once.
    fn branch_member(&mut self, rel: RelId, number: usize, branch: &Branch) -> SqlResult<Member> {
        if let Some(member) = self.planner.branch_members.get(&(rel, number)) {
            return Ok(member.clone());
        }
        let member = self.planner.add_branch(rel, branch)?;
        self.planner.branch_members.insert((rel, number), member.clone());
        Ok(member)
    }

    /// Whether two tables are partitioned by the same strategy, and their keys compare alike.
    fn is_alike(&self, a: &Table, b: &Table) -> bool {
        let (Some(a), Some(b)) = (&a.partitioning, &b.partitioning) else { return false };
        let class = |oid| self.planner.families.class(oid).map(|class| (class.family, class.input));
        a.strategy == b.strategy
            && a.keys.len() == b.keys.len()
            && a.collations == b.collations
            && a.opclasses.iter().zip(&b.opclasses).all(|(a, b)| a == b || class(*a) == class(*b))
    }

    /// Whether a join equates each column of the left side's key with the same one of the right side's.
    fn equates(&self, left: &Parted, right: &Parted, pairing: Pairing) -> bool {
        let (clauses, _) = self.clauses_at(pairing.outer, pairing.inner, pairing.special);
        (0..left.keys.len()).all(|column| {
            let across = |a: &Expr, b: &Expr| {
                (left.has(column, a) && right.has(column, b)) || (left.has(column, b) && right.has(column, a))
            };
            let said = |clause: &Expr| {
                as_equality(clause)
                    .is_some_and(|(call, a, b)| across(a, b) && self.is_equality_of(&left.like, column, call))
            };
            let known = |class: &crate::level::Class| {
                let has = |parted: &Parted| {
                    let member = |(e, _): &(Expr, RelSet)| {
                        parted.keys[column].iter().any(|key| strip(key) == strip(e))
                    };
                    class.members.iter().any(member)
                };
                has(left) && has(right) && self.is_equality_of(&left.like, column, &class.pattern)
            };
            clauses.iter().any(|(_, clause)| said(clause)) || self.level.classes.iter().any(known)
        })
    }

    /// Whether an operator finds those values equal that a column of a table's key has in one partition.
    fn is_equality_of(&self, table: &Table, column: usize, call: &Call) -> bool {
        let (Some(of), CallForm::Operator(operator)) = (&table.partitioning, &call.form) else {
            return false;
        };
        let key = Key { rel: 0, exprs: &[], of, families: &self.planner.families };
        key.is_alike(column, call.collation)
            && key.comparison(column, operator.oid) == Some(Comparison::Equal)
    }

    /// Leaves of the paths' orders what means something in this level: only its first `known` single expressions were there when another
    /// level was made of it.
    pub(crate) fn keep_known_orders(&self, paths: &mut [Rc<Path>], known: usize) {
        for path in paths {
            let meant = path.order.iter().take_while(|key: &&PathKey| self.level.knows(key, known)).count();
            if meant < path.order.len()
                && let Some(path) = Rc::get_mut(path)
            {
                path.order.truncate(meant);
            }
        }
    }
}

impl Search<'_, '_> {
    /// Adds the paths of a join, and of the same with its sides exchanged.
    pub(crate) fn pair_both(&mut self, pairing: Pairing) {
        let Pairing { outer, inner, kind, special } = pairing;
        self.pair(outer, inner, kind, special);
        if kind == JoinKind::Inner {
            self.pair(inner, outer, kind, None);
        } else if let Some(swapped) = swapped(kind) {
            self.pair(inner, outer, swapped, special);
        }
        self.note_pairing(pairing);
    }
}

/// Members that stand in the places of two sets of relations, in the order of these.
fn together(a: &Places, b: &Places) -> Places {
    let mut all: Vec<(RelId, Member)> = a.iter().chain(b.iter()).cloned().collect();
    all.sort_by_key(|(rel, _)| *rel);
    all.into()
}

fn same_parts(a: &[Option<Part>], b: &[Option<Part>]) -> bool {
    let members = |part: &Option<Part>| {
        part.as_ref().map(|part| part.places.iter().map(|(_, member)| member.rel).collect::<Vec<_>>())
    };
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| members(a) == members(b))
}

/// What the columns of a join's key equal, always and where an outer join found something.
fn keys_of(kind: JoinKind, left: &Parted, right: &Parted) -> (Vec<Vec<Expr>>, Vec<Vec<Expr>>) {
    let joined = |lists: &[&Vec<Vec<Expr>>]| -> Vec<Vec<Expr>> {
        (0..left.keys.len())
            .map(|i| lists.iter().flat_map(|list| list[i].iter().cloned()).collect())
            .collect()
    };
    match kind {
        JoinKind::Inner => (joined(&[&left.keys, &right.keys]), joined(&[&left.nullable, &right.nullable])),
        JoinKind::Semi | JoinKind::Anti => (left.keys.clone(), left.nullable.clone()),
        JoinKind::Left => (left.keys.clone(), joined(&[&left.nullable, &right.keys, &right.nullable])),
        _ => {
            let all = |side: &Parted, i: usize| -> Vec<Expr> {
                side.keys[i].iter().chain(&side.nullable[i]).cloned().collect()
            };
            let both = |i: usize| {
                let (left, right) = (all(left, i), all(right, i));
                // The column that USING makes of the two.
                let merged = left.iter().flat_map(|l| {
                    right.iter().map(|r| Expr::Coalesce(vec![l.clone(), r.clone()], l.type_oid()))
                });
                let merged: Vec<Expr> = merged.collect();
                left.into_iter().chain(right).chain(merged).collect()
            };
            (vec![Vec::new(); left.keys.len()], (0..left.keys.len()).map(both).collect())
        }
    }
}
