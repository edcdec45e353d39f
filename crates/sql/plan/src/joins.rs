//! The search for the cheapest join order: dynamic programming up to the threshold, greedy beyond. Either may end where outer joins
//! allow no further step; then relations are joined along the outer joins as they were written, which is always allowed.

use std::collections::HashMap;
use std::rc::Rc;

use base::{SqlResult, sql_err};

use crate::cost::{HashWork, Matches, Rescan, buckets, clamp_rows};
use crate::expr::{Expr, RelId, SortKey, Var};
use crate::level::{Level, as_equality, compared};
use crate::order::{self, Limits, Problem};
use crate::partwise::{Pairing, Partwise};
use crate::path::{Enforced, Keep, Path, PathKey, PathKind, ScanKind, add_path, cheapest, order_contains};
use crate::plan::{Cost, JoinClause, JoinKind};
use crate::planner::Planner;
use crate::relset::RelSet;
use crate::selectivity::{self, Columns};

/// The state of one level's search.
pub(crate) struct Search<'a, 'c> {
    pub planner: &'a mut Planner<'c>,
    pub level: &'a mut Level,
    /// Expressions needed above the joins.
    pub needed: Vec<Expr>,
    /// Orders that something above asks for.
    pub wanted: Vec<Vec<PathKey>>,
    /// Paths of relations without a table, made before.
    pub given: HashMap<RelId, Cost>,
    pub joined: HashMap<RelSet, Vec<Rc<Path>>>,
    /// The cheapest partial path of each set of relations that has one.
    pub partial: HashMap<RelSet, Rc<Path>>,
    pub rows: HashMap<RelSet, f64>,
    pub partwise: Partwise,
}

impl<'a, 'c> Search<'a, 'c> {
    pub fn new(planner: &'a mut Planner<'c>, level: &'a mut Level, needed: Vec<Expr>) -> Search<'a, 'c> {
        Search {
            planner,
            level,
            needed,
            wanted: Vec::new(),
            given: HashMap::new(),
            joined: HashMap::new(),
            partial: HashMap::new(),
            rows: HashMap::new(),
            partwise: Partwise::default(),
        }
    }

    /// All useful paths for all relations of the level.
    pub fn run(&mut self) -> SqlResult<Vec<Rc<Path>>> {
        let rels: Vec<RelId> = self.level.rels.iter().collect();
        for &rel in &rels {
            self.estimate_base(rel);
        }
        for &rel in &rels {
            let paths = self.base_paths(rel);
            self.joined.insert(RelSet::one(rel), paths);
        }
        if rels.len() == 1 {
            return Ok(self.joined.remove(&self.level.rels).unwrap_or_default());
        }
        let settings = self.planner.settings();
        let limits = Limits { from: settings.from_collapse_limit, join: settings.join_collapse_limit };
        let problem = order::problem(&self.level.written, self.level.rels, limits);
        let groups = problem.iter().any(|part| matches!(part, Problem::Group(_)));
        if self.solve(problem)?.is_none() && groups {
            self.search(rels.iter().map(|rel| RelSet::one(*rel)).collect())?;
        }
        if self.joined.get(&self.level.rels).is_none_or(Vec::is_empty) {
            self.as_written(&rels)?;
        }
        self.joined.remove(&self.level.rels).filter(|p| !p.is_empty()).ok_or_else(|| {
            if self.level.specials.iter().any(|s| s.kind == JoinKind::Full) {
                return sql_err!(
                    FEATURE_NOT_SUPPORTED,
                    "FULL JOIN is only supported with merge-joinable or hash-joinable join conditions"
                );
            }
            sql_err!(INTERNAL_ERROR, "failed to build any {}-way joins", rels.len())
        })
    }

    pub(crate) fn estimate_base(&mut self, rel: RelId) {
        self.planner.note_statistics(rel);
        let filters = self.level.filters_of(rel);
        if let Some(rows) = self.planner.member_rows(rel, &filters) {
            self.planner.rows_left.insert(rel, rows);
            self.rows.insert(RelSet::one(rel), rows);
            return;
        }
        let share = selectivity::conjunction(&*self.planner, &filters);
        let tuples = match (&self.planner.relations[rel].table, self.given.get(&rel)) {
            (_, Some(cost)) => cost.rows,
            (Some(table), None) => self.planner.tuples_of(rel, table) * self.planner.sample_share(rel),
            (None, None) => 1.0,
        };
        self.planner.rows_left.insert(rel, clamp_rows(tuples * share));
        self.rows.insert(RelSet::one(rel), clamp_rows(tuples * share));
    }

    pub(crate) fn base_paths(&mut self, rel: RelId) -> Vec<Rc<Path>> {
        let filters = self.level.filters_of(rel);
        if self.planner.is_inherited(rel) {
            return self.member_paths(rel);
        }
        self.own_paths(rel, &filters)
    }

    /// The paths of a relation that stands for itself alone.
    pub fn own_paths(&mut self, rel: RelId, filters: &[Expr]) -> Vec<Rc<Path>> {
        let Some(given) = self.given.get(&rel).copied() else { return self.table_paths(rel, filters) };
        let operators: f64 = filters.iter().map(Expr::operators).sum();
        let settings = self.planner.settings();
        let cpu = given.rows * (settings.cpu_operator_cost * operators);
        let rows = clamp_rows(given.rows * selectivity::conjunction(&*self.planner, filters));
        let cost = Cost { total: given.total + cpu, rows, ..given };
        let outer = self.level.lateral.get(&rel).copied().unwrap_or_default();
        let kind = PathKind::Scan(ScanKind::Whole { rel, filter: filters.to_vec(), keys: None });
        let order = self.derived_order(rel);
        let (rels, enforced) = (RelSet::one(rel), Vec::new());
        vec![Rc::new(Path { rels, cost, order, outer, enforced, workers: 0, kind })]
    }

    /// The order of a subquery's rows, if it serves something.
    fn derived_order(&mut self, rel: RelId) -> Vec<PathKey> {
        let Some(keys) = self.planner.derived_orders.get(&rel) else { return Vec::new() };
        let mut order: Vec<PathKey> = Vec::new();
        for key in keys {
            let info = &self.planner.relations[rel].columns[key.column as usize - 1];
            let (column, type_oid, typmod) = (key.column, info.type_oid, info.typmod);
            let expr = compared(&Expr::Var(Var { rel, column, type_oid, typmod }), key.collation);
            let class = self.level.key_of(&expr);
            if !self.level.is_constant(class) && order.iter().all(|k| k.class != class) {
                order.push(PathKey { class, descending: key.descending, nulls_first: key.nulls_first });
            }
        }
        if self.is_useful_order(&order) { order } else { Vec::new() }
    }

    /// Average width of what is needed of a relation.
    pub fn width_of(&self, rel: RelId) -> f64 {
        let relation = &self.planner.relations[rel];
        let mut width = 0.0;
        for (i, column) in relation.columns.iter().enumerate() {
            let needed = self.needed.iter().any(|e| {
                e.any(&mut |e| matches!(e, Expr::Var(v) if v.rel == rel && (v.column == 0 || v.column == i as i16 + 1)))
            });
            if needed {
                let known = relation
                    .table
                    .as_ref()
                    .and_then(|t| self.planner.context.statistics.column(t.oid, i as i16 + 1))
                    .map(|s| s.width)
                    .filter(|w| *w > 0.0);
                width += known.unwrap_or_else(|| crate::upper::type_width(column.type_oid, column.typmod));
            }
        }
        width
    }

    /// Rows of a set of relations joined, roughly, when it drives a scan.
    pub fn rows_of(&self, rels: RelSet) -> f64 {
        self.level
            .rels_in(rels)
            .map(|rel| self.planner.rows_left.get(&rel).copied().unwrap_or(1.0))
            .product::<f64>()
            .max(1.0)
    }

    /// Whether an order serves a sort above, or a merge join.
    pub fn is_useful_order(&self, order: &[PathKey]) -> bool {
        let Some(first) = order.first() else { return false };
        self.wanted.iter().any(|w| w.first() == Some(first))
            || (!first.descending
                && self.level.classes.get(first.class).is_some_and(|c| {
                    c.constant().is_none() && c.members.iter().filter(|(_, r)| r.len() == 1).count() > 1
                }))
    }

    /// The order of a join's rows, if a sort or a merge join above can use it.
    fn order_above(&self, order: Vec<PathKey>, rels: RelSet) -> Vec<PathKey> {
        let Some(first) = order.first() else { return order };
        let joins_on = self.level.classes.get(first.class).is_some_and(|class| {
            class.constant().is_none() && class.members.iter().any(|(_, member)| !member.is_subset(rels))
        });
        let asked = self.wanted.iter().any(|wanted| wanted.first() == Some(first));
        if joins_on || asked { order } else { Vec::new() }
    }

    fn dynamic(&mut self, parts: Vec<RelSet>) -> SqlResult<()> {
        let count = parts.len();
        let whole = union(&parts);
        let mut levels: Vec<Vec<RelSet>> = vec![Vec::new(), parts];
        for size in 2..=count {
            let mut made: Vec<RelSet> = Vec::new();
            for clauses_only in [true, false] {
                for left_size in 1..=size / 2 {
                    let (lefts, rights) = (levels[left_size].clone(), levels[size - left_size].clone());
                    for left in &lefts {
                        for right in &rights {
                            runtime::check_interrupts().map_err(crate::interrupted)?;
                            if left.overlaps(*right) || (left_size * 2 == size && left > right) {
                                continue;
                            }
                            if clauses_only && !self.connected(*left, *right) {
                                continue;
                            }
                            if self.join(*left, *right) && !made.contains(&(*left | *right)) {
                                made.push(*left | *right);
                            }
                        }
                    }
                }
                if !made.is_empty() && (size < count || self.joined.contains_key(&whole)) {
                    break;
                }
            }
            for rels in &made {
                self.join_parts(*rels)?;
            }
            levels.push(made);
        }
        Ok(())
    }

    /// Joins groups among themselves, then with the rest. Gives all relations as one; none if outer joins do not allow that.
    fn solve(&mut self, problem: Vec<Problem>) -> SqlResult<Option<RelSet>> {
        let mut parts = Vec::with_capacity(problem.len());
        for part in problem {
            match part {
                Problem::Rel(rel) => parts.push(RelSet::one(rel)),
                Problem::Group(group) => match self.solve(group)? {
                    Some(rels) => parts.push(rels),
                    None => return Ok(None),
                },
            }
        }
        let whole = union(&parts);
        self.search(parts)?;
        Ok(self.joined.get(&whole).is_some_and(|paths| !paths.is_empty()).then_some(whole))
    }

    /// Joins parts in the order that is cheapest, exhaustively searched if there are few.
    fn search(&mut self, mut parts: Vec<RelSet>) -> SqlResult<()> {
        let whole = union(&parts);
        match parts.len() < self.planner.settings().geqo_threshold {
            true => self.dynamic(parts),
            false => self.greedy(&mut parts, whole),
        }
    }

    /// Joins all relations along the outer joins as they were written, inner ones first: each side is one part before the join is done.
    fn as_written(&mut self, rels: &[RelId]) -> SqlResult<()> {
        let mut parts: Vec<RelSet> = rels.iter().map(|r| RelSet::one(*r)).collect();
        let sides: Vec<(RelSet, RelSet)> = self.level.specials.iter().map(|s| (s.left, s.right)).collect();
        for (left, right) in sides {
            self.greedy(&mut parts, left)?;
            self.greedy(&mut parts, right)?;
            self.greedy(&mut parts, left | right)?;
        }
        self.greedy(&mut parts, self.level.rels)
    }

    /// Repeatedly joins the pair of parts inside `region` whose result is cheapest, until the region is one part or no pair may be
    /// joined.
    fn greedy(&mut self, parts: &mut Vec<RelSet>, region: RelSet) -> SqlResult<()> {
        loop {
            let within: Vec<usize> = (0..parts.len()).filter(|i| parts[*i].is_subset(region)).collect();
            let Some((i, j)) = self.cheapest_pair(parts, &within)? else { return Ok(()) };
            parts[i] = parts[i] | parts[j];
            self.join_parts(parts[i])?;
            parts.remove(j);
        }
    }

    /// The two of the parts numbered `within`, the lower number first, that are cheapest to join.
    fn cheapest_pair(&mut self, parts: &[RelSet], within: &[usize]) -> SqlResult<Option<(usize, usize)>> {
        if within.len() < 2 {
            return Ok(None);
        }
        let indirect = self.indirect_needs(parts);
        let mut best: Option<(f64, usize, usize)> = None;
        for clauses_only in [true, false] {
            for (n, &i) in within.iter().enumerate() {
                for &j in &within[n + 1..] {
                    runtime::check_interrupts().map_err(crate::interrupted)?;
                    if clauses_only && !self.connected(parts[i], parts[j])
                        || indirect[i].overlaps(parts[j])
                        || indirect[j].overlaps(parts[i])
                        || !self.join(parts[i], parts[j])
                    {
                        continue;
                    }
                    let paths = &self.joined[&(parts[i] | parts[j])];
                    let cost = paths.iter().map(|p| p.cost.rows).fold(f64::MAX, f64::min);
                    if best.is_none_or(|(old, ..)| cost < old) {
                        best = Some((cost, i, j));
                    }
                }
            }
            if best.is_some() {
                break;
            }
        }
        Ok(best.map(|(_, i, j)| (i, j)))
    }

    /// For each part, the relations that lateral ones in it need by way of another part. Joined with one of them, the part would wait
    /// for the other part, and the other part for it.
    fn indirect_needs(&self, parts: &[RelSet]) -> Vec<RelSet> {
        let direct: Vec<RelSet> = parts.iter().map(|part| self.level.lateral_needs(*part)).collect();
        let of_parts = |needs: &[RelSet], wanted: RelSet| {
            let wanted = parts.iter().zip(needs).filter(|(part, _)| part.overlaps(wanted));
            wanted.fold(RelSet::EMPTY, |set, (_, needs)| set | *needs)
        };
        let mut all = direct.clone();
        loop {
            let more: Vec<RelSet> = all.iter().map(|needs| *needs | of_parts(&direct, *needs)).collect();
            if more == all {
                return direct.iter().map(|needs| of_parts(&all, *needs)).collect();
            }
            all = more;
        }
    }

    fn connected(&self, left: RelSet, right: RelSet) -> bool {
        let both = left | right;
        self.level.clauses.iter().any(|c| {
            let mentioned = RelSet::of(&c.expr);
            mentioned.overlaps(left) && mentioned.overlaps(right)
        }) || self.level.classes.iter().any(|c| {
            c.constant().is_none() && c.member_within(left).is_some() && c.member_within(right).is_some()
        }) || self.level.specials.iter().any(|s| {
            let decided = s.all().is_subset(both) && !s.all().is_subset(left) && !s.all().is_subset(right);
            // What an outer join needs joined before it, whether conditions connect it or not.
            decided || both.is_subset(s.right) || both.is_subset(s.min_left)
        }) || self.level.lateral.iter().any(|(rel, needs)| {
            (left.contains(*rel) && needs.overlaps(right)) || (right.contains(*rel) && needs.overlaps(left))
        })
    }

    /// Which outer join this pair would be, as (number, sides swapped); `Err` if the pair may not be joined yet.
    fn legal(&self, left: RelSet, right: RelSet) -> Result<Option<(usize, bool)>, ()> {
        let both = left | right;
        let mut found = None;
        for (number, s) in self.level.specials.iter().enumerate() {
            let inside = |set: RelSet| s.all().is_subset(set);
            if !s.right.overlaps(both) || both.is_subset(s.right) || inside(left) || inside(right) {
                if s.kind == JoinKind::Full
                    && !inside(left)
                    && !inside(right)
                    && !both.is_subset(s.left)
                    && !both.is_subset(s.right)
                    && both.overlaps(s.left | s.right)
                    && !inside(both)
                {
                    return Err(());
                }
                continue;
            }
            let forward = s.min_left.is_subset(left) && s.right == right;
            let backward = s.min_left.is_subset(right) && s.right == left;
            if !forward && !backward {
                return Err(());
            }
            if found.is_some() {
                return Err(());
            }
            found = Some((number, backward));
        }
        Ok(found)
    }

    /// Adds all paths that join two disjoint sets; false if they may not be joined.
    fn join(&mut self, left: RelSet, right: RelSet) -> bool {
        let Ok(special) = self.legal(left, right) else { return false };
        let (Some(_), Some(_)) = (self.joined.get(&left), self.joined.get(&right)) else { return false };
        let (outer, inner, kind) = match special {
            None => (left, right, JoinKind::Inner),
            Some((number, false)) => (left, right, self.level.specials[number].kind),
            Some((number, true)) => (right, left, self.level.specials[number].kind),
        };
        let before = self.joined.get(&(left | right)).map_or(0, Vec::len);
        self.pair_both(Pairing { outer, inner, kind, special: special.map(|s| s.0) });
        self.joined.get(&(left | right)).is_some_and(|p| !p.is_empty()) || before > 0
    }

    /// Conditions checked at this join: those that decide matches, and those that filter afterwards.
    pub(crate) fn clauses_at(
        &self,
        outer: RelSet,
        inner: RelSet,
        special: Option<usize>,
    ) -> (Vec<(Option<Enforced>, Expr)>, Vec<Expr>) {
        let both = outer | inner;
        let mut join = Vec::new();
        let mut filter = Vec::new();
        let is_inner = special.is_none_or(|s| self.level.specials[s].kind == JoinKind::Semi);
        for (number, clause) in self.level.clauses.iter().enumerate() {
            let here =
                clause.rels.is_subset(both) && !clause.rels.is_subset(outer) && !clause.rels.is_subset(inner);
            let condition = || (Some(Enforced::Clause(number)), clause.expr.clone());
            match clause.special {
                Some(s) if Some(s) == special => join.push(condition()),
                Some(_) => {}
                None if here && is_inner => join.push(condition()),
                None if here => filter.push(clause.expr.clone()),
                None => {}
            }
        }
        for (class, expr) in self.level.class_joins(outer, inner) {
            if is_inner {
                join.push((class.map(Enforced::Class), expr));
            } else {
                filter.push(expr);
            }
        }
        (join, filter)
    }

    pub(crate) fn pair(&mut self, outer: RelSet, inner: RelSet, kind: JoinKind, special: Option<usize>) {
        let both = outer | inner;
        let (clauses, filter) = self.clauses_at(outer, inner, special);
        let exprs: Vec<Expr> = clauses.iter().map(|(_, e)| e.clone()).collect();
        let (outer_rows, inner_rows) = (self.rows[&outer], self.rows[&inner]);
        let share = selectivity::conjunction(&*self.planner, &exprs);
        let rows = match self.rows.get(&both) {
            Some(rows) => *rows,
            None => {
                let rows = self.join_rows(kind, outer_rows, inner_rows, share, &filter);
                self.rows.insert(both, rows);
                rows
            }
        };
        let unique = self.is_inner_unique(inner, &exprs);
        let first = unique || matches!(kind, JoinKind::Semi | JoinKind::Anti);
        let matches = first.then(|| {
            // Of joins that are no semijoins PostgreSQL takes the share of pairs for that of rows.
            let semi = matches!(kind, JoinKind::Semi | JoinKind::Anti);
            let matched = if semi { (inner_rows * share).min(1.0) } else { share };
            let count = if matched > 0.0 { (share * inner_rows / matched).max(1.0) } else { 1.0 };
            Matches { share: matched, count, indexed: false }
        });
        let outers = self.joined[&outer].clone();
        let inners = self.joined[&inner].clone();
        let mut paths = self.joined.remove(&both).unwrap_or_default();
        let hash = self.equi_clauses(&exprs, outer, inner);
        let lateral = self.level.lateral_needs(both);
        let ctx = Pair { kind, both, rows, unique, matches, lateral, clauses: &clauses, filter: &filter };
        if !matches!(kind, JoinKind::Right | JoinKind::Full | JoinKind::RightSemi | JoinKind::RightAnti) {
            self.nest_loops(&ctx, &outers, &inners, &mut paths);
        }
        if !hash.0.is_empty() {
            self.hash_joins(&ctx, &outers, &inners, &hash, &mut paths);
            if !matches!(kind, JoinKind::RightSemi | JoinKind::RightAnti) {
                self.merge_joins(&ctx, &outers, &inners, &hash, &mut paths);
            }
        } else if kind == JoinKind::Full && exprs.iter().all(|e| matches!(e, Expr::Const { .. })) {
            // All rows have the one key that has no parts.
            self.merge_joins(&ctx, &outers, &inners, &hash, &mut paths);
        }
        if let Some(outer) = self.partial.get(&outer).cloned() {
            self.partial_joins(&ctx, outer, &inners, &hash, &mut paths);
        }
        self.joined.insert(both, paths);
    }

    fn join_rows(&self, kind: JoinKind, outer: f64, inner: f64, share: f64, filter: &[Expr]) -> f64 {
        let after = selectivity::conjunction(&*self.planner, filter);
        let pairs = outer * inner * share;
        clamp_rows(match kind {
            JoinKind::Inner => pairs,
            JoinKind::Left => pairs.max(outer) * after,
            JoinKind::Right => pairs.max(inner) * after,
            JoinKind::Full => pairs.max(outer).max(inner) * after,
            JoinKind::Semi => outer * (inner * share).min(1.0),
            JoinKind::Anti => outer * (1.0 - (inner * share).min(0.95)).max(0.05),
            JoinKind::RightSemi => inner * (outer * share).min(1.0),
            JoinKind::RightAnti => inner * (1.0 - (outer * share).min(0.95)).max(0.05),
        })
    }

    /// Whether at most one row of `inner` can match.
    fn is_inner_unique(&self, inner: RelSet, clauses: &[Expr]) -> bool {
        let Some(rel) = self.level.only_rel(inner) else { return false };
        let filters = self.level.filters_of(rel);
        self.planner.is_unique_by(rel, clauses.iter().chain(&filters))
    }

    /// The clauses that are equalities between the sides, and the positions of the others.
    fn equi_clauses(&self, clauses: &[Expr], outer: RelSet, inner: RelSet) -> (Vec<JoinClause>, Vec<usize>) {
        let mut hash = Vec::new();
        let mut rest = Vec::new();
        for (i, clause) in clauses.iter().enumerate() {
            let sides = as_equality(clause).and_then(|(call, a, b)| {
                let (ra, rb) = (RelSet::of(a), RelSet::of(b));
                let same =
                    a.type_oid() == b.type_oid() || types::hash(a.type_oid()).is_some() && integers(a, b);
                let usable = same && !a.is_volatile() && !b.is_volatile() && !ra.is_empty() && !rb.is_empty();
                if usable && ra.is_subset(outer) && rb.is_subset(inner) {
                    Some((call, compared(a, call.collation), compared(b, call.collation)))
                } else if usable && ra.is_subset(inner) && rb.is_subset(outer) {
                    Some((call, compared(b, call.collation), compared(a, call.collation)))
                } else {
                    None
                }
            });
            match sides {
                Some((call, outer, inner)) => hash.push(JoinClause {
                    outer,
                    inner,
                    equality: call.function.clone(),
                    original: clause.clone(),
                    collation: call.collation,
                }),
                None => rest.push(i),
            }
        }
        (hash, rest)
    }

    pub(crate) fn nest_loops(
        &mut self,
        ctx: &Pair<'_>,
        outers: &[Rc<Path>],
        inners: &[Rc<Path>],
        paths: &mut Vec<Rc<Path>>,
    ) {
        let settings = self.planner.settings();
        for outer in outers.iter().filter(|p| ctx.is_free(p)) {
            for inner in inners {
                if !(inner.outer.is_subset(outer.rels) || ctx.is_lateral(inner)) {
                    continue;
                }
                let clauses: Vec<Expr> = ctx
                    .clauses
                    .iter()
                    .filter(|(by, _)| by.is_none_or(|by| !inner.enforced.contains(&by)))
                    .map(|(_, e)| e.clone())
                    .collect();
                let operators: f64 = clauses.iter().map(Expr::operators).sum();
                let scan =
                    matches!(&inner.kind, PathKind::Scan(ScanKind::Index { .. } | ScanKind::Tid { .. }));
                let again = Rescan { startup: inner.cost.startup, total: inner.cost.total };
                let mut options = vec![(inner.cost, again, Keep::Nothing)];
                if inner.outer.is_empty() && !(scan && inner.cost.rows < 2.0) {
                    let kept = settings.materialize(inner.cost);
                    options.push((kept, settings.rescan_materialized(inner.cost), Keep::Rows));
                }
                // Who stops at the first match knows the whole result only if that is all there can be, and all conditions are checked below.
                let stops = ctx.unique && (!clauses.is_empty() || !ctx.filter.is_empty());
                let early = !ctx.unique && matches!(ctx.kind, JoinKind::Semi | JoinKind::Anti);
                if !stops
                    && !early
                    && let Some(memo) = self.memo(outer, inner, ctx.unique)
                {
                    let rescan = self.memo_rescan(&memo, outer.cost, inner.cost);
                    let tuple = settings.cpu_tuple_cost;
                    let (startup, total) = (inner.cost.startup + tuple, inner.cost.total + tuple);
                    options.push((Cost { startup, total, ..inner.cost }, rescan, Keep::Results(memo)));
                }
                let looked_up = clauses.is_empty() && inner.is_looked_up();
                for (cost, rescan, keep) in options {
                    let indexed = looked_up && matches!(keep, Keep::Nothing);
                    let matches = ctx.matches.map(|matches| Matches { indexed, ..matches });
                    let (startup, total) = settings.nest_loop(outer.cost, cost, rescan, operators, matches);
                    let kind = PathKind::NestLoop {
                        kind: ctx.kind,
                        outer: outer.clone(),
                        inner: inner.clone(),
                        clauses: clauses.clone(),
                        filter: ctx.filter.to_vec(),
                        inner_unique: ctx.unique,
                        keep,
                    };
                    self.add_join(ctx, startup, total, outer, inner, outer.order.clone(), kind, paths);
                }
            }
        }
    }

    pub(crate) fn hash_joins(
        &mut self,
        ctx: &Pair<'_>,
        outers: &[Rc<Path>],
        inners: &[Rc<Path>],
        (hash, rest): &(Vec<JoinClause>, Vec<usize>),
        paths: &mut Vec<Rc<Path>>,
    ) {
        if hash.iter().any(|c| !self.planner.types.is_hashed(c.outer.type_oid())) {
            return;
        }
        let settings = self.planner.settings();
        let free = |p: &Path| ctx.is_free(p);
        let (Some(outer), Some(inner)) = (cheapest(outers, free), cheapest(inners, free)) else { return };
        let clauses: Vec<Expr> = rest.iter().map(|i| ctx.clauses[*i].1.clone()).collect();
        let operators: f64 = clauses.iter().map(Expr::operators).sum();
        let bucket = hash.iter().map(|c| self.bucket_share(&c.inner, inner.cost.rows)).fold(1.0, f64::min);
        let hashed: Vec<Expr> = hash.iter().map(|c| c.original.clone()).collect();
        let work = HashWork {
            keys: hash.len() as f64,
            quals: operators,
            bucket,
            pairs: clamp_rows(
                outer.cost.rows * inner.cost.rows * selectivity::conjunction(&*self.planner, &hashed),
            ),
            matches: ctx.matches,
            anti: ctx.kind == JoinKind::Anti,
        };
        let (startup, total) = settings.hash_join(outer.cost, inner.cost, work);
        let kind = PathKind::HashJoin {
            kind: ctx.kind,
            outer: outer.clone(),
            inner: inner.clone(),
            hash: hash.clone(),
            clauses,
            filter: ctx.filter.to_vec(),
            inner_unique: ctx.unique,
        };
        self.add_join(ctx, startup, total, &outer, &inner, Vec::new(), kind, paths);
    }

    /// The share of a hash table's `rows` rows that are in the bucket of a value.
    fn bucket_share(&self, key: &Expr, rows: f64) -> f64 {
        let column = selectivity::column_of(key);
        let stats = column.and_then(|var| self.planner.stats(var));
        let most = stats.as_ref().and_then(|stats| stats.common.first()).map_or(0.0, |(_, share)| *share);
        let (Some(column), Some(all)) = (column, selectivity::known_distinct_values(&*self.planner, key))
        else {
            return most.max(0.1);
        };
        let nulls = stats.map_or(0.0, |stats| stats.null_fraction);
        let average = (1.0 - nulls) / all;
        let tuples = self.planner.rows(column);
        let left = self.planner.rows_left.get(&column.rel).map_or(1.0, |rows| rows / tuples.max(1.0));
        let mut share = 1.0 / clamp_rows(all * left).min(buckets(rows));
        if average > 0.0 && most > average {
            share *= most / average;
        }
        share.clamp(1.0e-6, 1.0)
    }

    fn merge_joins(
        &mut self,
        ctx: &Pair<'_>,
        outers: &[Rc<Path>],
        inners: &[Rc<Path>],
        (merge, rest): &(Vec<JoinClause>, Vec<usize>),
        paths: &mut Vec<Rc<Path>>,
    ) {
        if merge.iter().any(|c| {
            !self.planner.types.is_ordered(c.outer.type_oid()) || c.outer.type_oid() != c.inner.type_oid()
        }) {
            return;
        }
        let settings = self.planner.settings();
        let side = |f: fn(&JoinClause) -> &Expr| -> Vec<SortKey> {
            merge
                .iter()
                .map(|c| SortKey { expr: f(c).clone(), descending: false, nulls_first: false })
                .collect()
        };
        let outer_keys = side(|c| &c.outer);
        let inner_keys = side(|c| &c.inner);
        let outer_order = self.level.order_of(&outer_keys);
        let inner_order = self.level.order_of(&inner_keys);
        let clauses: Vec<Expr> = rest.iter().map(|i| ctx.clauses[*i].1.clone()).collect();
        let operators: f64 = clauses.iter().map(Expr::operators).sum();
        let pick = |paths: &[Rc<Path>], order: &[PathKey]| -> Vec<(Rc<Path>, bool)> {
            let mut out = Vec::new();
            let sorted = cheapest(paths, |p| ctx.is_free(p) && order_contains(&p.order, order));
            out.extend(sorted.map(|p| (p, false)));
            out.extend(cheapest(paths, |p| ctx.is_free(p)).map(|p| (p, true)));
            out
        };
        // Keys that are constant are compared all the same.
        let whole = outer_keys.len() == outer_order.len();
        for (outer, sort_outer) in pick(outers, &outer_order) {
            let presorted = if whole { self.planner.presorted(&outer_order, &outer.order) } else { 0 };
            for (inner, sort_inner) in pick(inners, &inner_order) {
                let (mut oc, mut ic) = (outer.cost, inner.cost);
                if sort_outer {
                    (oc.startup, oc.total) = self.planner.sort_cost(oc, &outer_keys, presorted, None);
                }
                if sort_inner {
                    (ic.startup, ic.total) = settings.sort(ic.total, ic.rows, ic.width, None);
                }
                let (startup, total) = settings.merge_join(oc, ic, merge.len() as f64, operators, ctx.rows);
                let kind = PathKind::MergeJoin {
                    kind: ctx.kind,
                    outer: outer.clone(),
                    inner: inner.clone(),
                    merge: merge.clone(),
                    clauses: clauses.clone(),
                    filter: ctx.filter.to_vec(),
                    inner_unique: ctx.unique,
                    sort_outer: sort_outer.then_some(presorted),
                    sort_inner,
                };
                let order = match ctx.kind {
                    JoinKind::Full | JoinKind::Right => Vec::new(),
                    _ if sort_outer => outer_order.clone(),
                    _ => outer.order.clone(),
                };
                self.add_join(ctx, startup, total, &outer, &inner, order, kind, paths);
            }
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn add_join(
        &self,
        ctx: &Pair<'_>,
        startup: f64,
        total: f64,
        outer: &Path,
        inner: &Path,
        order: Vec<PathKey>,
        kind: PathKind,
        paths: &mut Vec<Rc<Path>>,
    ) {
        let width = match ctx.kind {
            JoinKind::Semi | JoinKind::Anti => outer.cost.width,
            JoinKind::RightSemi | JoinKind::RightAnti => inner.cost.width,
            _ => outer.cost.width + inner.cost.width,
        };
        let filter: f64 = ctx.filter.iter().map(Expr::operators).sum();
        let settings = self.planner.settings();
        let (rels, workers) = (ctx.both, outer.workers);
        let rows = match workers {
            0 => ctx.rows,
            _ => clamp_rows(ctx.rows / settings.participants(workers)),
        };
        let total = total + filter * settings.cpu_operator_cost * rows;
        let cost = Cost { startup, total, rows, width };
        let order = self.order_above(order, rels);
        let outer = (outer.outer | inner.outer) - rels;
        add_path(paths, Path { rels, cost, order, outer, enforced: Vec::new(), workers, kind });
    }
}

/// What all paths of one pair share.
pub(crate) struct Pair<'p> {
    pub kind: JoinKind,
    both: RelSet,
    pub rows: f64,
    unique: bool,
    /// Where the first match is enough.
    matches: Option<Matches>,
    /// Relations outside the pair that its lateral relations refer to.
    pub lateral: RelSet,
    /// Join conditions, including those that a scan of the inner side may have enforced already.
    pub clauses: &'p [(Option<Enforced>, Expr)],
    pub filter: &'p [Expr],
}

impl Pair<'_> {
    /// Whether a path can be run to its end before the other side is known.
    fn is_free(&self, path: &Path) -> bool {
        path.outer.is_empty() || (self.is_lateral(path) && !path.outer.overlaps(self.both))
    }

    /// Whether a path is parameterised only by lateral references: the relations outside the pair are joined later.
    fn is_lateral(&self, path: &Path) -> bool {
        path.enforced.is_empty() && (path.outer - self.both).is_subset(self.lateral)
    }
}

/// The kind of join when the sides are exchanged.
pub(crate) fn swapped(kind: JoinKind) -> Option<JoinKind> {
    Some(match kind {
        JoinKind::Left => JoinKind::Right,
        JoinKind::Semi => JoinKind::RightSemi,
        JoinKind::Anti => JoinKind::RightAnti,
        _ => return None,
    })
}

fn integers(a: &Expr, b: &Expr) -> bool {
    let is = |e: &Expr| matches!(e.type_oid().0, 20 | 21 | 23);
    is(a) && is(b)
}

fn union(parts: &[RelSet]) -> RelSet {
    parts.iter().fold(RelSet::EMPTY, |set, part| set | *part)
}
