//! One query level while its joins are planned: conditions placed, equivalence classes, outer joins' limits.
//!
//! # Invariants
//! 1. A [`Clause`] is applied at the lowest join whose relations include its `rels`, or at the join of its [`Special`].
//! 2. An equality between plain expressions above no outer join is in a class and nowhere else; clauses are made from
//!    the class where two sets of relations meet.

use std::collections::HashMap;

use base::Oid;

use crate::expr::{Call, CallForm, Expr, RelId, Var};
use crate::logical::{From, Guard, rels_of};
use crate::order::Shape;
use crate::path::PathKey;
use crate::plan::JoinKind;
use crate::relset::{FIRST_MEMBER, RelSet};
use crate::sorting::Wanted;
use crate::walk::{flatten_and, or_restriction};

/// A condition.
#[derive(Clone, Debug)]
pub struct Clause {
    /// The condition.
    pub expr: Expr,
    /// Relations that must be joined before it is applied.
    pub rels: RelSet,
    /// ON condition of this outer join: decides matches rather than filtering.
    pub special: Option<usize>,
}

/// An outer, semi or anti join: what must be joined on either side first.
#[derive(Clone, Debug)]
pub struct Special {
    /// Kind.
    pub kind: JoinKind,
    /// Least left side.
    pub min_left: RelSet,
    /// Least right side.
    pub min_right: RelSet,
    /// Whole right side as written.
    pub right: RelSet,
    /// Whole left side as written.
    pub left: RelSet,
}

impl Special {
    /// Everything that must have been joined when this join is done.
    pub fn all(&self) -> RelSet {
        self.min_left | self.min_right
    }
}

/// Expressions known to be equal.
#[derive(Clone, Debug)]
pub struct Class {
    /// Members and the relations they mention; constants mention none.
    pub members: Vec<(Expr, RelSet)>,
    /// A call of the equality operator, as a pattern.
    pub pattern: Call,
}

impl Class {
    /// `a = b` with the class's operator.
    pub fn equality(&self, a: &Expr, b: &Expr) -> Expr {
        let mut call = self.pattern.clone();
        call.args = vec![a.clone(), b.clone()];
        Expr::Call(Box::new(call))
    }

    /// The member that is the same for the whole statement.
    pub fn constant(&self) -> Option<&Expr> {
        self.members.iter().find(|(_, rels)| rels.is_empty()).map(|(e, _)| e)
    }

    /// A member computable from `rels` alone.
    pub fn member_within(&self, rels: RelSet) -> Option<&Expr> {
        self.members.iter().find(|(_, r)| !r.is_empty() && r.is_subset(rels)).map(|(e, _)| e)
    }
}

/// Conditions and orders of one level.
#[derive(Default)]
pub struct Level {
    /// All relations of FROM.
    pub rels: RelSet,
    /// FROM as it was written.
    pub written: Vec<Shape>,
    /// Conditions outside classes.
    pub clauses: Vec<Clause>,
    /// Joins whose order matters; those inside another's sides come before it.
    pub specials: Vec<Special>,
    /// Equivalence classes.
    pub classes: Vec<Class>,
    /// Expressions that orders name but no class has; numbered behind the classes.
    pub singles: Vec<Expr>,
    /// Conditions without relations: checked once.
    pub constant: Vec<Expr>,
    /// Relations a lateral relation needs.
    pub lateral: HashMap<RelId, RelSet>,
    /// The values that they take from these.
    pub lateral_values: HashMap<RelId, Vec<Expr>>,
    /// What hides rows of relations from all other conditions.
    pub guards: Vec<Guard>,
    /// Conditions on a subquery that are checked inside it.
    pub pushed: Vec<(RelId, Expr)>,
    /// Members that stand in their parents' places.
    pub members: Vec<RelId>,
}

/// Number from which [`PathKey::class`] counts `singles`.
const SINGLES: usize = 1 << 20;

impl Level {
    /// Takes apart FROM and WHERE.
    pub fn new(from: &[From], quals: Vec<Expr>, guards: Vec<Guard>) -> Level {
        let mut level = Level { rels: rels_of(from), guards, ..Level::default() };
        level.items(from);
        level.lift_guards();
        let mut flat = Vec::new();
        quals.into_iter().for_each(|q| flatten_and(q, &mut flat));
        let all = level.rels;
        for qual in flat {
            level.place(qual, all, None, true);
        }
        level.restrict_by_ors();
        level
    }

    /// Adds what ORs over several relations demand of each alone, so that fewer rows come to the join. The ORs stay; their
    /// estimate knows of the restrictions ([`crate::selectivity`]).
    fn restrict_by_ors(&mut self) {
        let mut found = Vec::new();
        for clause in &self.clauses {
            let Expr::Or(arms) = &clause.expr else { continue };
            // Above an outer join, a condition on one side may be about NULLs that the join adds.
            if clause.special.is_some() || clause.rels.len() < 2 || clause.rels != RelSet::of(&clause.expr) {
                continue;
            }
            for rel in clause.rels.iter() {
                if let Some(expr) = or_restriction(arms, rel) {
                    found.push(Clause { expr, rels: RelSet::one(rel), special: None });
                }
            }
        }
        self.clauses.append(&mut found);
    }

    fn items(&mut self, from: &[From]) {
        for item in from {
            let From::Join { kind, left, right, quals } = item else { continue };
            self.items(left);
            self.items(right);
            self.join(*kind, rels_of(left), rels_of(right), quals);
        }
    }

    fn join(&mut self, kind: JoinKind, left: RelSet, right: RelSet, quals: &[Expr]) {
        if kind == JoinKind::Inner {
            for qual in quals {
                let nullable = self.specials.iter().any(|s| s.all().is_subset(left | right));
                self.place(qual.clone(), left | right, None, !nullable || self.no_outer_within(left | right));
            }
            return;
        }
        let mentioned = quals.iter().fold(RelSet::EMPTY, |set, q| set | RelSet::of(q));
        let (mut min_left, mut min_right) =
            if kind == JoinKind::Full { (left, right) } else { (mentioned & left, right) };
        if min_left.is_empty() {
            min_left = left;
        }
        for lower in &self.specials {
            let nullable = if lower.kind == JoinKind::Full { lower.left | lower.right } else { lower.right };
            if lower.all().is_subset(left) && min_left.overlaps(nullable) {
                min_left = min_left | lower.all();
            }
            if lower.kind == JoinKind::Full && lower.left.overlaps(left) {
                min_left = min_left | lower.all();
            }
        }
        if kind == JoinKind::Full {
            min_right = right;
        }
        let number = self.specials.len();
        self.specials.push(Special { kind, min_left, min_right, left, right });
        for qual in quals {
            let rels = RelSet::of(qual);
            let pushable = matches!(kind, JoinKind::Left | JoinKind::Semi | JoinKind::Anti)
                && rels.is_subset(right)
                && !rels.is_empty();
            if pushable {
                self.place(qual.clone(), right, None, false);
            } else {
                let expr = qual.clone();
                self.clauses.push(Clause { expr, rels: rels | min_left | min_right, special: Some(number) });
            }
        }
    }

    fn no_outer_within(&self, rels: RelSet) -> bool {
        !self
            .specials
            .iter()
            .any(|s| matches!(s.kind, JoinKind::Left | JoinKind::Full) && s.all().overlaps(rels))
    }

    /// Files a condition that holds for every row of `scope`.
    fn place(&mut self, expr: Expr, scope: RelSet, special: Option<usize>, top: bool) {
        let mentioned = RelSet::of(&expr);
        let mut rels = mentioned;
        for s in &self.specials {
            if !s.all().is_subset(scope) {
                continue;
            }
            let nullable = match s.kind {
                JoinKind::Full => s.left | s.right,
                _ => s.right,
            };
            if rels.overlaps(nullable) && matches!(s.kind, JoinKind::Left | JoinKind::Full) {
                rels = rels | s.all() | s.right;
            }
        }
        // Of one side of an outer join, a condition without relations decides about that side's rows alone. A volatile one is asked
        // again for every row, but where there are no relations there is one row.
        if rels.is_empty() && scope == self.rels && (!expr.is_volatile() || scope.is_empty()) {
            self.constant.push(expr);
            return;
        }
        if rels.is_empty() {
            rels = scope;
        }
        let below_outer = rels != mentioned;
        let within_nullable = self.specials.iter().any(|s| {
            let nullable = if s.kind == JoinKind::Full { s.left | s.right } else { s.right };
            !matches!(s.kind, JoinKind::Semi) && mentioned.overlaps(nullable)
        });
        let plain = special.is_none() && !below_outer && !within_nullable;
        if top && plain && !self.tells_of_hidden(&expr, mentioned) && self.add_equality(&expr) {
            return;
        }
        self.clauses.push(Clause { expr, rels, special });
    }

    /// Puts `a = b` into the classes if it is such an equality.
    fn add_equality(&mut self, expr: &Expr) -> bool {
        let Some((call, a, b)) = as_equality(expr) else { return false };
        let (a, b) = (&compared(a, call.collation), &compared(b, call.collation));
        if a == b || a.is_volatile() || b.is_volatile() || a.has_subplans() || b.has_subplans() {
            return false;
        }
        if a.type_oid() != b.type_oid() {
            return false;
        }
        let (ra, rb) = (RelSet::of(a), RelSet::of(b));
        if ra.is_empty() && rb.is_empty() {
            return false;
        }
        let fits = |class: &Class, e: &Expr| {
            class.pattern.function.oid() == call.function.oid()
                && class.pattern.collation == call.collation
                && class.members.iter().any(|(m, _)| m == e)
        };
        let at = |e: &Expr| self.classes.iter().position(|c| fits(c, e));
        match (at(a), at(b)) {
            (Some(i), Some(j)) if i == j => {}
            (Some(i), Some(j)) => {
                // The emptied class stays, so that the others keep their numbers.
                let members = std::mem::take(&mut self.classes[j].members);
                self.classes[i].members.extend(members);
            }
            (Some(i), None) => self.classes[i].members.push((b.clone(), rb)),
            (None, Some(j)) => self.classes[j].members.push((a.clone(), ra)),
            (None, None) => {
                let mut pattern = call.clone();
                pattern.args = Vec::new();
                let members = vec![(a.clone(), ra), (b.clone(), rb)];
                self.classes.push(Class { members, pattern });
            }
        }
        true
    }

    /// Conditions on one relation alone that are to be checked where it is read.
    pub fn filters_of(&self, rel: RelId) -> Vec<Expr> {
        let one = RelSet::one(rel);
        let mut out = self.class_filters(rel);
        let own = self.clauses.iter().filter(|c| c.rels == one && c.special.is_none());
        out.extend(own.map(|c| c.expr.clone()));
        if !self.pushed.is_empty() {
            out.retain(|e| !self.pushed.iter().any(|(of, pushed)| *of == rel && pushed == e));
        }
        if self.is_guarded(rel) { self.behind_guards(rel, out) } else { out }
    }

    /// The level as members of inheritance trees see it that stand for their parents (`places`: parent and member). Classes and single
    /// expressions keep their numbers; `translate` turns the parents' columns into the members'.
    pub fn for_members(&self, places: &[(RelId, RelId)], translate: &dyn Fn(&Expr) -> Expr) -> Level {
        let set = |set: RelSet| {
            places
                .iter()
                .filter(|(parent, _)| set.contains(*parent))
                .fold(set, |to, (parent, member)| (to - RelSet::one(*parent)) | RelSet::one(*member))
        };
        let of = |rel: RelId| places.iter().find(|(parent, _)| *parent == rel).map(|(_, member)| *member);
        let clause = |c: &Clause| Clause { expr: translate(&c.expr), rels: set(c.rels), special: c.special };
        let special = |s: &Special| Special {
            kind: s.kind,
            min_left: set(s.min_left),
            min_right: set(s.min_right),
            right: set(s.right),
            left: set(s.left),
        };
        let class = |c: &Class| Class {
            members: c.members.iter().map(|(e, rels)| (translate(e), set(*rels))).collect(),
            pattern: c.pattern.clone(),
        };
        let guard = |g: &Guard| Some(Guard { rel: of(g.rel)?, rank: g.rank, expr: translate(&g.expr) });
        let replaced = |rel: &&RelId| of(**rel).is_none();
        let members = self.members.iter().filter(replaced).copied();
        Level {
            rels: set(self.rels),
            written: Vec::new(),
            clauses: self.clauses.iter().map(clause).collect(),
            specials: self.specials.iter().map(special).collect(),
            classes: self.classes.iter().map(class).collect(),
            singles: self.singles.iter().map(translate).collect(),
            constant: Vec::new(),
            lateral: self.lateral.iter().map(|(rel, needs)| (*rel, set(*needs))).collect(),
            lateral_values: HashMap::new(),
            guards: self.guards.iter().filter_map(guard).collect(),
            pushed: self
                .pushed
                .iter()
                .filter(|(rel, _)| places.iter().any(|(_, m)| m == rel))
                .cloned()
                .collect(),
            members: members.chain(places.iter().map(|(_, member)| *member)).collect(),
        }
    }

    /// Adds conditions on one relation alone.
    pub fn restrict(&mut self, rel: RelId, filters: &[Expr]) {
        let clause = |expr: &Expr| Clause { expr: expr.clone(), rels: RelSet::one(rel), special: None };
        self.clauses.extend(filters.iter().map(clause));
    }

    /// Relations outside `rels` that lateral ones among them need.
    pub fn lateral_needs(&self, rels: RelSet) -> RelSet {
        let needs = rels.iter().filter_map(|rel| self.lateral.get(&rel));
        needs.fold(RelSet::EMPTY, |set, needs| set | *needs) - rels
    }

    /// Whether an order's key is of a class, or of one of the first `singles` single expressions.
    pub fn knows(&self, key: &PathKey, singles: usize) -> bool {
        key.class.checked_sub(SINGLES).is_none_or(|single| single < singles)
    }

    /// An expression over `rels` that equals an order's key, if there is one.
    pub fn expr_of(&self, key: &PathKey, rels: RelSet) -> Option<Expr> {
        let within = |own: RelSet| !own.is_empty() && own.is_subset(rels);
        match key.class.checked_sub(SINGLES) {
            Some(single) => self.singles.get(single).filter(|e| within(RelSet::of(e))).cloned(),
            None => self.classes.get(key.class)?.member_within(rels).cloned(),
        }
    }

    /// The relations of a set, members that stand in their parents' places among them.
    pub fn rels_in(&self, rels: RelSet) -> impl Iterator<Item = RelId> {
        rels.iter().map(move |rel| {
            let stands = |member: &&RelId| RelSet::one(**member) == RelSet::one(rel);
            if rel < FIRST_MEMBER { rel } else { self.members.iter().find(stands).copied().unwrap_or(rel) }
        })
    }

    /// The only relation of a set.
    pub fn only_rel(&self, rels: RelSet) -> Option<RelId> {
        if rels.len() == 1 { self.rels_in(rels).next() } else { None }
    }

    /// Conditions that classes give for one relation: members against the constant, or against each other.
    pub fn class_filters(&self, rel: RelId) -> Vec<Expr> {
        let one = RelSet::one(rel);
        let mut out = Vec::new();
        for class in &self.classes {
            let mut within = class.members.iter().filter(|(_, r)| *r == one).map(|(e, _)| e);
            if let Some(constant) = class.constant() {
                out.extend(within.map(|e| class.equality(e, constant)));
                // Two constants must be equal as well.
                continue;
            }
            if let Some(first) = within.next() {
                out.extend(within.map(|e| class.equality(first, e)));
            }
        }
        out
    }

    /// Contradicting or repeated constants of classes, to be checked once.
    pub fn class_constants(&self) -> Vec<Expr> {
        let mut out = Vec::new();
        for class in &self.classes {
            let mut constants = class.members.iter().filter(|(_, r)| r.is_empty()).map(|(e, _)| e);
            if let Some(first) = constants.next() {
                out.extend(constants.map(|e| class.equality(first, e)));
            }
        }
        out
    }

    /// Class conditions to be checked where `left` and `right` are joined. Those between a member of each side come with the class's
    /// number: a scan that looks one side up by such a condition has seen to it.
    pub fn class_joins(&self, left: RelSet, right: RelSet) -> Vec<(Option<usize>, Expr)> {
        let both = left | right;
        let mut out = Vec::new();
        for (number, class) in self.classes.iter().enumerate() {
            let spanning = |r: &RelSet| r.is_subset(both) && r.overlaps(left) && r.overlaps(right);
            if class.constant().is_none()
                && let (Some(a), Some(b)) = (class.member_within(left), class.member_within(right))
            {
                out.push((Some(number), class.equality(a, b)));
            }
            for (e, _) in class.members.iter().filter(|(_, r)| spanning(r)) {
                let other = class.constant().or(class.member_within(left)).or(class.member_within(right));
                let other = other.or_else(|| class.members.iter().map(|(m, _)| m).find(|m| *m != e));
                if let Some(other) = other.filter(|o| RelSet::of(o).is_subset(both)) {
                    out.push((None, class.equality(e, other)));
                }
            }
        }
        out
    }

    /// Number of an expression for orders.
    pub fn key_of(&mut self, expr: &Expr) -> usize {
        if let Some(i) = self.classes.iter().position(|c| c.members.iter().any(|(m, _)| m == expr)) {
            return i;
        }
        let at = self.singles.iter().position(|e| e == expr).unwrap_or_else(|| {
            self.singles.push(expr.clone());
            self.singles.len() - 1
        });
        SINGLES + at
    }

    /// The order that sort keys ask for, without keys that are constant or repeated.
    pub fn order_of(&mut self, keys: &[crate::expr::SortKey]) -> Vec<PathKey> {
        self.wanted(keys).order
    }

    /// The same with the keys that are left.
    pub fn wanted(&mut self, keys: &[crate::expr::SortKey]) -> Wanted {
        let mut out = Wanted::default();
        for key in keys {
            let class = self.key_of(&key.expr);
            let constant =
                key.expr.is_fixed() || self.classes.get(class).is_some_and(|c| c.constant().is_some());
            if constant || out.order.iter().any(|k| k.class == class) {
                continue;
            }
            out.order.push(PathKey { class, descending: key.descending, nulls_first: key.nulls_first });
            out.keys.push(key.clone());
        }
        out
    }

    /// Whether the class holds only one value.
    pub fn is_constant(&self, class: usize) -> bool {
        self.classes.get(class).is_some_and(|c| c.constant().is_some())
    }
}

/// `a = b` by an operator that sorts or hashes.
pub fn as_equality(expr: &Expr) -> Option<(&Call, &Expr, &Expr)> {
    let Expr::Call(call) = expr else { return None };
    let CallForm::Operator(operator) = &call.form else { return None };
    let [a, b] = call.args.as_slice() else { return None };
    (operator.selectivity == types::Selectivity::Equal && (operator.can_merge || operator.can_hash))
        .then_some((call, a, b))
}

/// A side of a comparison under the collation that it compares by, if its type has one.
pub fn compared(side: &Expr, collation: Oid) -> Expr {
    if collation.is_valid() && side.collation() != collation {
        side.clone().under(collation)
    } else {
        side.clone()
    }
}

/// The plain column that an expression is.
pub fn plain_var(expr: &Expr) -> Option<&Var> {
    match expr {
        Expr::Var(var) => Some(var),
        Expr::Relabel { arg, .. } => plain_var(arg),
        _ => None,
    }
}
