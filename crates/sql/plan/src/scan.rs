//! Ways to read one relation.

use std::rc::Rc;

use base::Oid;
use catalog::families::OperatorFamilies;
use tuple::Datum;

use crate::cost::{IndexShape, IndexWork, TableShape, clamp_rows};
use crate::expr::{Call, CallForm, Expr, OperatorRef, RelId, TID_ABOVE, TID_BELOW, TID_EQUAL, Test, Var};
use crate::function::Function;
use crate::implication::follows;
use crate::joins::Search;
use crate::logical::Source;
use crate::nearest::Nearest;
use crate::path::{Enforced, Path, PathKey, PathKind, ScanKind, add_path};
use crate::plan::{Bitmap, Cost, IndexBound, IndexCondition, IndexRef, SoughtKeys, TidBound};
use crate::relset::RelSet;
use crate::selectivity;

/// A condition on an index column that comes from a join.
#[derive(Clone)]
struct JoinCandidate {
    expr: Expr,
    outer: RelSet,
    enforced: Enforced,
}

/// In place of the position of a condition: it is none of them.
const IMPLIED: usize = usize::MAX;

/// What one index can do with a list of conditions.
struct Matched {
    conditions: Vec<IndexCondition>,
    /// Positions in the list of conditions that they are; [`IMPLIED`] for those that only follow from one, which must be checked as well.
    used: Vec<usize>,
    /// Every column has an equality with one value.
    unique: bool,
    /// Groups of entries that the scan goes to one after the other.
    groups: f64,
    /// How many of the conditions used keep it from reading the whole index.
    bounding: usize,
}

impl Matched {
    /// The conditions as they were.
    fn originals(&self) -> Vec<Expr> {
        self.conditions.iter().map(|condition| condition.original.clone()).collect()
    }
}

/// Positions without those of conditions that only follow from one.
fn known(mut used: Vec<usize>) -> Vec<usize> {
    used.retain(|position| *position != IMPLIED);
    used
}

impl Search<'_, '_> {
    /// All paths of a table.
    pub(crate) fn table_paths(&mut self, rel: RelId, filters: &[Expr]) -> Vec<Rc<Path>> {
        let Some(table) = self.planner.relations[rel].table.clone() else { return Vec::new() };
        if let Source::Foreign(rows) = &self.planner.sources[rel] {
            return vec![self.foreign_path(rel, rows, filters)];
        }
        let shape = self.planner.context.statistics.table(&table);
        let settings = self.planner.settings();
        let share = selectivity::conjunction(&*self.planner, filters);
        let rows = clamp_rows(shape.tuples * share);
        let width = self.width_of(rel);
        let operators: f64 = filters.iter().map(Expr::operators).sum();
        if let Some(path) = self.current_of_path(rel, table.oid, (filters, shape), width) {
            return vec![path];
        }
        if let Source::Sample(sample) = &self.planner.sources[rel] {
            return vec![self.sample_path(rel, (shape, sample.system), filters)];
        }
        let mut paths = Vec::new();
        let (startup, total) = settings.seq_scan(shape, operators);
        let kind = PathKind::Scan(ScanKind::Whole { rel, filter: filters.to_vec(), keys: None });
        add_path(&mut paths, scan_path(rel, Cost { startup, total, rows, width }, kind));
        self.partial_scan(rel, (&table, shape), filters, (rows, width), &mut paths);
        self.tid_path(rel, filters, shape, rows, width, &mut paths);
        self.tid_range_path(rel, filters, shape, (rows, width), &mut paths);
        let joins = self.join_candidates(rel);
        let mut bitmaps: Vec<(Bitmap, f64, Vec<usize>)> = Vec::new();
        for position in 0..table.indexes.len() {
            let index = IndexRef { table: table.clone(), position };
            if !index.is_usable() || !self.predicate_holds(rel, &index, filters) {
                continue;
            }
            let index_shape = self.index_shape(&index);
            self.index_paths(
                rel,
                &index,
                filters,
                &[],
                shape,
                index_shape,
                rows,
                width,
                &mut paths,
                &mut bitmaps,
            );
            let mut outers: Vec<RelSet> = joins.iter().map(|j| j.outer).collect();
            outers.sort();
            outers.dedup();
            if outers.len() > 1 && outers.len() < 5 {
                let all = outers.iter().fold(RelSet::EMPTY, |a, b| a | *b);
                outers.push(all);
            }
            for outer in outers {
                let usable: Vec<JoinCandidate> =
                    joins.iter().filter(|j| j.outer.is_subset(outer)).cloned().collect();
                let mut unused = Vec::new();
                self.index_paths(
                    rel,
                    &index,
                    filters,
                    &usable,
                    shape,
                    index_shape,
                    rows,
                    width,
                    &mut paths,
                    &mut unused,
                );
            }
        }
        note_sought_keys(&mut paths, &bitmaps);
        self.or_bitmaps(rel, &table, filters, &mut bitmaps);
        self.bitmap_paths(rel, filters, shape, rows, width, bitmaps, &mut paths);
        paths
    }

    /// The one way to read a sample: rows are drawn from all pages, or pages as they come.
    fn sample_path(&self, rel: RelId, (shape, system): (TableShape, bool), filters: &[Expr]) -> Rc<Path> {
        let (settings, share) = (self.planner.settings(), self.planner.sample_share(rel));
        let tuples = clamp_rows(shape.tuples * share);
        let pages = if system { (shape.pages * share).ceil() } else { shape.pages };
        let operators: f64 = filters.iter().map(Expr::operators).sum();
        let page = if system { settings.random_page(shape.costs) } else { settings.seq_page(shape.costs) };
        let row = settings.cpu_tuple_cost + settings.cpu_operator_cost * operators;
        let cost = Cost {
            startup: 0.0,
            total: page * pages + row * tuples,
            rows: clamp_rows(tuples * selectivity::conjunction(&*self.planner, filters)),
            width: self.width_of(rel),
        };
        let kind = PathKind::Scan(ScanKind::Whole { rel, filter: filters.to_vec(), keys: None });
        let outer = self.level.lateral.get(&rel).copied().unwrap_or_default();
        Rc::new(Path { outer, ..scan_path(rel, cost, kind) })
    }

    fn index_shape(&self, index: &IndexRef) -> IndexShape {
        let mut shape = self.planner.context.statistics.index(&index.table, index);
        if let Some(&column) = index.keys.first().filter(|c| **c > 0) {
            let stats = self.planner.context.statistics.column(index.table.oid, column);
            shape.correlation = stats.and_then(|s| s.correlation).unwrap_or(0.0);
            if index.keys.len() > 1 {
                shape.correlation *= 0.75;
            }
        }
        shape
    }

    /// Whether the predicate of a partial index follows from the conditions: each part stands among them.
    fn predicate_holds(&mut self, rel: RelId, index: &IndexRef, filters: &[Expr]) -> bool {
        if index.predicate.is_none() {
            return true;
        }
        let Some(parts) = self.planner.index_predicate(rel, index) else { return false };
        parts.iter().all(|part| follows(part, filters, &self.planner.families))
    }

    #[allow(clippy::too_many_arguments)]
    fn index_paths(
        &mut self,
        rel: RelId,
        index: &IndexRef,
        filters: &[Expr],
        joins: &[JoinCandidate],
        shape: TableShape,
        index_shape: IndexShape,
        rows: f64,
        width: f64,
        paths: &mut Vec<Rc<Path>>,
        bitmaps: &mut Vec<(Bitmap, f64, Vec<usize>)>,
    ) {
        let mut all: Vec<Expr> = filters.to_vec();
        all.extend(joins.iter().map(|j| j.expr.clone()));
        if self.level.is_guarded(rel) {
            // What keeps its place in the list and may not be looked up.
            let refused = all.iter_mut().filter(|e| !self.level.may_be_looked_up(rel, e));
            refused.for_each(|e| *e = Expr::boolean(true));
        }
        let matched = self.match_index(rel, index, &all, index_shape);
        let join_used: Vec<&JoinCandidate> =
            matched.used.iter().filter_map(|i| joins.get(i.checked_sub(filters.len())?)).collect();
        if !joins.is_empty() && join_used.is_empty() {
            return;
        }
        let method = index.method;
        let only = index.method.returnable
            && self.planner.settings().enable_indexonlyscan
            && self.index_covers(rel, index, filters, joins);
        let order = self.index_order(rel, index);
        let useful = !order.is_empty() && self.is_useful_order(&order);
        let nearest = if joins.is_empty() { self.nearest(rel, index) } else { Nearest::default() };
        let sought = !matched.conditions.is_empty() || index.predicate.is_some();
        if !sought && !useful && !only && nearest.distances.is_empty() {
            return;
        }
        if matched.conditions.is_empty() && method.keeps_codes() {
            // Entries are found by their codes only.
            return;
        }
        let used = matched.originals();
        let mut share = selectivity::conjunction(&*self.planner, &used);
        if index.unique && matched.unique {
            share = share.min(1.0 / shape.tuples.max(1.0));
        }
        let outer = join_used.iter().fold(RelSet::EMPTY, |set, j| set | j.outer);
        let loops = if outer.is_empty() { 1.0 } else { self.rows_of(outer) };
        if method.summarizes {
            if joins.is_empty() && !matched.conditions.is_empty() {
                bitmaps.push(self.bitmap_of_ranges(index, matched, share, (shape, index_shape)));
            }
            return;
        }
        let filter: Vec<Expr> = filters
            .iter()
            .enumerate()
            .filter(|(i, _)| !matched.used.contains(i))
            .map(|(_, e)| e.clone())
            .collect();
        let operators: f64 = filter.iter().map(Expr::operators).sum();
        let mut work = self.index_work(&matched, &used, share, loops);
        work.keys += nearest.distances.len() as f64;
        let path_rows = if outer.is_empty() {
            rows
        } else {
            clamp_rows(shape.tuples * share * selectivity::conjunction(&*self.planner, &filter))
        };
        let settings = self.planner.settings();
        let (startup, total) = settings.index_scan(shape, index_shape, share, work, operators, only);
        let cost = Cost { startup, total, rows: path_rows, width };
        let enforced: Vec<Enforced> = join_used.iter().map(|j| j.enforced).collect();
        let several = matched.conditions.iter().any(|condition| condition.bound == IndexBound::Any);
        let one_by_one = method.index_scan && (method.search_array || !several);
        let directions = [one_by_one.then_some(false), (one_by_one && method.can_order).then_some(true)];
        for backward in directions.into_iter().flatten() {
            let mut order: Vec<PathKey> = match nearest.order.is_empty() {
                true => order.iter().map(|k| if backward { reversed(*k) } else { *k }).collect(),
                false => nearest.order.clone(),
            };
            if !self.is_useful_order(&order) {
                if backward {
                    continue;
                }
                // Orders that the query does not ask for are no reason to keep two indexes.
                order.clear();
            }
            let (conditions, filter) = (matched.conditions.clone(), filter.clone());
            let (index, distances) = (index.clone(), nearest.distances.clone());
            let kind = ScanKind::Index { rel, index, conditions, distances, filter, backward, only };
            let kind = PathKind::Scan(kind);
            let enforced = enforced.clone();
            let rels = RelSet::one(rel);
            add_path(paths, Path { rels, cost, order, outer, enforced, workers: 0, kind });
        }
        if method.bitmap_scan && !matched.conditions.is_empty() && joins.is_empty() {
            let keys = used.len() as f64;
            let (startup, total) = settings.index_access(index_shape, IndexWork { loops: 1.0, keys, ..work });
            let cost = Cost { startup, total, rows: clamp_rows(shape.tuples * share), width: 0.0 };
            let (conditions, used) = (matched.conditions, known(matched.used));
            bitmaps.push((Bitmap::Index { index: index.clone(), conditions, cost }, share, used));
        }
    }

    /// What an index of summaries finds: the less its columns follow the order of the table, the more ranges a row with a value may be in.
    fn bitmap_of_ranges(
        &self,
        index: &IndexRef,
        matched: Matched,
        share: f64,
        (table, shape): (TableShape, IndexShape),
    ) -> (Bitmap, f64, Vec<usize>) {
        let correlation = matched.conditions.iter().filter_map(|condition| {
            let column = *index.keys.get(condition.column)?;
            Some(self.planner.context.statistics.column(index.table.oid, column)?.correlation?.abs())
        });
        let correlation = correlation.fold(0.0, f64::max);
        let settings = self.planner.settings();
        let (share, startup, total) =
            settings.summaries(table, shape, index.pages_per_range(), (share, correlation));
        let cost = Cost { startup, total, rows: clamp_rows(table.tuples * share), width: 0.0 };
        (Bitmap::Index { index: index.clone(), conditions: matched.conditions, cost }, share, matched.used)
    }

    /// Index columns' conditions. Where a column before others has several values or any, the scan goes from group to group, if these are few.
    fn match_index(&mut self, rel: RelId, index: &IndexRef, quals: &[Expr], shape: IndexShape) -> Matched {
        let mut matched =
            Matched { conditions: Vec::new(), used: Vec::new(), unique: true, groups: 1.0, bounding: 0 };
        let columns = self.planner.index_columns(rel, index);
        let columns = &columns[..columns.len().min(index.keys.len())];
        if !index.method.can_order {
            // Conditions on any columns are of use, for nothing lies in the order of the first.
            for (column, of) in columns.iter().enumerate() {
                self.match_column((rel, index, column), of, quals, &mut matched);
            }
            (matched.unique, matched.bounding) = (false, matched.used.len());
            return matched;
        }
        // Values of the columns since the last condition or, of a range, within it; conditions that are of use.
        let (mut skip, mut kept) = (1.0, 0);
        let worth = shape.pages.max(1.0);
        for (column, of) in columns.iter().enumerate() {
            let before = matched.conditions.len();
            let values = self.match_column((rel, index, column), of, quals, &mut matched);
            let gap = matched.conditions.len() == before;
            if !gap {
                matched.groups *= std::mem::replace(&mut skip, 1.0) * values.unwrap_or(1.0);
                kept = matched.conditions.len();
                if matched.groups <= worth {
                    matched.bounding = kept;
                }
            }
            matched.unique &= values == Some(1.0);
            if values.is_some() {
                continue;
            }
            if gap && !has_condition(&self.planner.families, (rel, index, column + 1), columns, quals) {
                break;
            }
            let own: Vec<Expr> = matched.conditions[before..].iter().map(|c| c.original.clone()).collect();
            let share = selectivity::conjunction(&*self.planner, &own);
            let rows = self.rows_of(RelSet::one(rel));
            skip *= (selectivity::distinct_values(&*self.planner, of, rows) * share).max(1.0);
            if gap && matched.groups * skip > worth {
                break;
            }
        }
        matched.conditions.truncate(kept);
        matched.used.truncate(kept);
        if matched.groups > worth {
            matched.groups = 1.0;
        }
        matched
    }

    /// Adds the conditions on one column. If it is to equal something: the number of values.
    fn match_column(
        &self,
        (rel, index, column): (RelId, &IndexRef, usize),
        expr: &Expr,
        quals: &[Expr],
        matched: &mut Matched,
    ) -> Option<f64> {
        let mut values = None;
        for (i, qual) in quals.iter().enumerate() {
            if matched.used.contains(&i) {
                continue;
            }
            let Some(condition) = condition_on(&self.planner.families, (rel, index, column), expr, qual)
            else {
                let of_row = implied_bound(qual);
                let of_row = of_row.and_then(|bound| {
                    condition_on(&self.planner.families, (rel, index, column), expr, &bound)
                });
                let implied = self.planner.range_of_pattern((index, column), expr, qual);
                for condition in implied.into_iter().chain(of_row) {
                    if condition.bound == IndexBound::Equal {
                        values = Some(1.0);
                    }
                    matched.used.push(IMPLIED);
                    matched.conditions.push(condition);
                }
                continue;
            };
            match (condition.bound, &condition.original) {
                (IndexBound::Equal | IndexBound::IsNull, _) => values = Some(1.0),
                (IndexBound::Any, Expr::ArrayOp(op)) => {
                    let several = selectivity::array_length(&op.array).max(1.0 + f64::EPSILON);
                    values = Some(values.unwrap_or(several).min(several));
                }
                _ => {}
            }
            matched.used.push(i);
            matched.conditions.push(condition);
        }
        values
    }

    /// What a scan by these conditions reads of the index. `used` are the conditions, `share` is that of the rows that satisfy all of them.
    fn index_work(&self, matched: &Matched, used: &[Expr], share: f64, loops: f64) -> IndexWork {
        let read = match matched.bounding < used.len() {
            true => selectivity::conjunction(&*self.planner, &used[..matched.bounding]),
            false => share,
        };
        IndexWork { read, groups: matched.groups, keys: used.len() as f64, loops }
    }

    /// The order in which the index yields rows.
    fn index_order(&mut self, rel: RelId, index: &IndexRef) -> Vec<PathKey> {
        let mut order = Vec::new();
        if !index.method.can_order {
            return order;
        }
        for (i, expr) in self.planner.index_columns(rel, index).into_iter().enumerate().take(index.keys.len())
        {
            let option = index.options.get(i).copied().unwrap_or(0);
            let Ok(expr) = self.planner.as_ordered(expr, (index, i)) else { break };
            let class = self.level.key_of(&expr);
            if self.level.is_constant(class) || order.iter().any(|k: &PathKey| k.class == class) {
                continue;
            }
            order.push(PathKey { class, descending: option & 1 != 0, nulls_first: option & 2 != 0 });
        }
        order
    }

    /// Whether every column needed of the table is in the index.
    fn index_covers(&self, rel: RelId, index: &IndexRef, filters: &[Expr], joins: &[JoinCandidate]) -> bool {
        let has = |column: i16| index.holds(column).is_some();
        let fits =
            |expr: &Expr| !expr.any(&mut |e| matches!(e, Expr::Var(v) if v.rel == rel && !has(v.column)));
        self.needed.iter().all(fits)
            && filters.iter().all(fits)
            && joins.iter().all(|j| fits(&j.expr))
            && self.level.clauses.iter().all(|c| fits(&c.expr))
            && self.level.classes.iter().all(|c| c.members.iter().all(|(e, _)| fits(e)))
            && index.keys.iter().any(|k| *k > 0)
    }

    /// The whole table, with the join conditions that rows of `outer` decide.
    pub(crate) fn filtered_scan(&mut self, rel: RelId, filters: &[Expr], outer: RelSet) -> Option<Rc<Path>> {
        let joins = self.join_candidates(rel);
        let joins: Vec<&JoinCandidate> = joins.iter().filter(|j| j.outer.is_subset(outer)).collect();
        let table = self.planner.relations[rel].table.clone()?;
        let shape = self.planner.context.statistics.table(&table);
        let filter: Vec<Expr> = filters.iter().chain(joins.iter().map(|j| &j.expr)).cloned().collect();
        let rows = clamp_rows(shape.tuples * selectivity::conjunction(&*self.planner, &filter));
        let operators = filter.iter().map(Expr::operators).sum();
        let (startup, total) = self.planner.settings().seq_scan(shape, operators);
        let cost = Cost { startup, total, rows, width: self.width_of(rel) };
        let enforced = joins.iter().map(|j| j.enforced).collect();
        let kind = PathKind::Scan(ScanKind::Whole { rel, filter, keys: None });
        let path = Path { outer, enforced, ..scan_path(rel, cost, kind) };
        (!joins.is_empty()).then(|| Rc::new(path))
    }

    /// Join conditions that compare something of `rel` with other relations.
    fn join_candidates(&self, rel: RelId) -> Vec<JoinCandidate> {
        let one = RelSet::one(rel);
        let mut out = Vec::new();
        for (number, class) in self.level.classes.iter().enumerate() {
            if class.constant().is_some() {
                continue;
            }
            for (mine, _) in class.members.iter().filter(|(_, r)| *r == one) {
                for (other, rels) in class.members.iter().filter(|(_, r)| !r.contains(rel)) {
                    if !self.may_be_outer(*rels, rel) {
                        continue;
                    }
                    let expr = class.equality(mine, other);
                    out.push(JoinCandidate { expr, outer: *rels, enforced: Enforced::Class(number) });
                }
            }
        }
        for (number, clause) in self.level.clauses.iter().enumerate() {
            let mentioned = RelSet::of(&clause.expr);
            let outer = mentioned - one;
            if !mentioned.contains(rel) || outer.is_empty() || !self.may_be_outer(outer, rel) {
                continue;
            }
            let own_join = match clause.special {
                None => clause.rels == mentioned,
                Some(s) => {
                    let special = &self.level.specials[s];
                    special.right.contains(rel) && !special.right.overlaps(outer)
                }
            };
            if own_join {
                let enforced = Enforced::Clause(number);
                out.push(JoinCandidate { expr: clause.expr.clone(), outer, enforced });
            }
        }
        out
    }

    /// Whether rows of `outer` may drive a scan of `rel`: not from inside the nullable side to its outside.
    fn may_be_outer(&self, outer: RelSet, rel: RelId) -> bool {
        self.level.specials.iter().all(|s| match s.kind {
            crate::plan::JoinKind::Full => {
                !(s.left | s.right).contains(rel) || (s.left | s.right).is_subset(RelSet::EMPTY)
            }
            _ => s.right.contains(rel) || !s.right.overlaps(outer),
        })
    }

    /// The only way to WHERE CURRENT OF.
    fn current_of_path(
        &self,
        rel: RelId,
        table: Oid,
        (filters, shape): (&[Expr], TableShape),
        width: f64,
    ) -> Option<Rc<Path>> {
        let at = filters.iter().position(Expr::is_current_of)?;
        let mut filter = filters.to_vec();
        let qual = filter.remove(at);
        let Expr::Call(call) = &qual else { return None };
        let mut place = call.args.get(1)?.clone();
        if let Expr::CurrentOf { table: of, .. } = &mut place {
            *of = table;
        }
        let settings = self.planner.settings();
        let total = settings.random_page(shape.costs) + settings.cpu_tuple_cost;
        let kind = ScanKind::Tid { rel, tids: vec![place], condition: vec![qual], filter };
        Some(Rc::new(scan_path(rel, Cost { startup: 0.0, total, rows: 1.0, width }, PathKind::Scan(kind))))
    }

    fn tid_path(
        &mut self,
        rel: RelId,
        filters: &[Expr],
        shape: TableShape,
        rows: f64,
        width: f64,
        paths: &mut Vec<Rc<Path>>,
    ) {
        let is_ctid = |e: &Expr| is_ctid(rel, e);
        for (i, qual) in filters.iter().enumerate() {
            if !self.level.may_be_looked_up(rel, qual) {
                continue;
            }
            let (value, count) = match qual {
                Expr::Call(call) if call.function.oid() == TID_EQUAL && call.args.len() == 2 => {
                    match (is_ctid(&call.args[0]), is_ctid(&call.args[1])) {
                        (true, false) if call.args[1].is_fixed() => (call.args[1].clone(), 1.0),
                        (false, true) if call.args[0].is_fixed() => (call.args[0].clone(), 1.0),
                        _ => continue,
                    }
                }
                Expr::ArrayOp(op)
                    if op.any
                        && op.function.oid() == TID_EQUAL
                        && is_ctid(&op.left)
                        && op.array.is_fixed() =>
                {
                    (op.array.clone(), 10.0)
                }
                _ => continue,
            };
            let settings = self.planner.settings();
            let filter: Vec<Expr> =
                filters.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, e)| e.clone()).collect();
            let total = count * (settings.random_page(shape.costs) + settings.cpu_tuple_cost);
            let rows = rows.min(count).min(shape.tuples.max(1.0));
            let kind = ScanKind::Tid { rel, tids: vec![value], condition: vec![qual.clone()], filter };
            let cost = Cost { startup: 0.0, total, rows, width };
            add_path(paths, scan_path(rel, cost, PathKind::Scan(kind)));
        }
    }

    /// The pages between places that conditions name.
    fn tid_range_path(
        &self,
        rel: RelId,
        filters: &[Expr],
        shape: TableShape,
        (rows, width): (f64, f64),
        paths: &mut Vec<Rc<Path>>,
    ) {
        let settings = self.planner.settings();
        let (mut bounds, mut condition, mut filter) = (Vec::new(), Vec::new(), Vec::new());
        for qual in filters {
            match tid_bound(rel, qual).filter(|_| self.level.may_be_looked_up(rel, qual)) {
                Some(bound) => {
                    bounds.push(bound);
                    condition.push(qual.clone());
                }
                None => filter.push(qual.clone()),
            }
        }
        if bounds.is_empty() || !settings.enable_tidscan {
            return;
        }
        let share = selectivity::conjunction(self.planner, &condition);
        let pages = (shape.pages * share).ceil().max(1.0);
        let operators: f64 = filter.iter().map(Expr::operators).sum();
        let disk = settings.random_page(shape.costs) + settings.seq_page(shape.costs) * (pages - 1.0);
        let cpu = settings.cpu_tuple_cost + settings.cpu_operator_cost * operators;
        let total = disk + cpu * clamp_rows(shape.tuples * share);
        let kind = ScanKind::TidRange { rel, bounds, condition, filter };
        let cost = Cost { startup: 0.0, total, rows, width };
        add_path(paths, scan_path(rel, cost, PathKind::Scan(kind)));
    }

    /// `a = 1 OR b = 2` with an index for each arm.
    fn or_bitmaps(
        &mut self,
        rel: RelId,
        table: &std::sync::Arc<catalog::view::Table>,
        filters: &[Expr],
        bitmaps: &mut Vec<(Bitmap, f64, Vec<usize>)>,
    ) {
        for (number, qual) in filters.iter().enumerate() {
            let Expr::Or(arms) = qual else { continue };
            if !self.level.may_be_looked_up(rel, qual) {
                continue;
            }
            let mut parts = Vec::new();
            let mut total = 0.0;
            for arm in arms {
                let mut quals = Vec::new();
                crate::walk::flatten_and(arm.clone(), &mut quals);
                let mut best: Option<(Bitmap, f64)> = None;
                for position in 0..table.indexes.len() {
                    let index = IndexRef { table: table.clone(), position };
                    if !index.is_usable() || index.predicate.is_some() {
                        continue;
                    }
                    let shape = self.index_shape(&index);
                    let matched = self.match_index(rel, &index, &quals, shape);
                    if matched.conditions.is_empty() {
                        continue;
                    }
                    let used = matched.originals();
                    let share = selectivity::conjunction(&*self.planner, &used);
                    let settings = self.planner.settings();
                    let work = self.index_work(&matched, &used, share, 1.0);
                    let (startup, cost) = settings.index_access(shape, work);
                    let rows = clamp_rows(shape.tuples * share);
                    if best.as_ref().is_none_or(|(_, old)| cost < *old) {
                        let cost_of = Cost { startup, total: cost, rows, width: 0.0 };
                        let conditions = matched.conditions;
                        best = Some((Bitmap::Index { index, conditions, cost: cost_of }, cost));
                    }
                }
                match best {
                    Some((bitmap, cost)) => {
                        total += cost;
                        parts.push(bitmap);
                    }
                    None => break,
                }
            }
            if parts.len() == arms.len() {
                let share = selectivity::selectivity(&*self.planner, qual);
                let cost = Cost { startup: total, total, rows: 0.0, width: 0.0 };
                bitmaps.push((Bitmap::Or(parts, cost), share, vec![number]));
            }
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn bitmap_paths(
        &mut self,
        rel: RelId,
        filters: &[Expr],
        shape: TableShape,
        rows: f64,
        width: f64,
        mut bitmaps: Vec<(Bitmap, f64, Vec<usize>)>,
        paths: &mut Vec<Rc<Path>>,
    ) {
        bitmaps.sort_by(|a, b| a.1.total_cmp(&b.1));
        let mut combined: Option<(Vec<Bitmap>, f64, f64, Vec<usize>)> = None;
        let mut candidates = Vec::new();
        for (bitmap, share, used) in bitmaps {
            let cost = bitmap_cost(&bitmap);
            candidates.push((bitmap.clone(), share, cost, used.clone()));
            match &mut combined {
                None => combined = Some((vec![bitmap], share, cost, used)),
                Some((list, all, total, covered)) if !used.iter().any(|u| covered.contains(u)) => {
                    list.push(bitmap);
                    *all *= share;
                    *total += cost;
                    covered.extend(used);
                }
                Some(_) => {}
            }
        }
        if let Some((list, share, total, used)) = combined
            && list.len() > 1
        {
            let cost = Cost { startup: total, total, rows: clamp_rows(shape.tuples * share), width: 0.0 };
            candidates.push((Bitmap::And(list, cost), share, total, used));
        }
        for (bitmap, share, cost, used) in candidates {
            let recheck: Vec<Expr> = used.iter().map(|i| filters[*i].clone()).collect();
            let filter: Vec<Expr> = filters
                .iter()
                .enumerate()
                .filter(|(i, _)| !used.contains(i))
                .map(|(_, e)| e.clone())
                .collect();
            let operators = filter.iter().map(Expr::operators).sum();
            let (startup, total) = self.planner.settings().bitmap_heap(shape, cost, share, operators, 1.0);
            let scan = ScanKind::Bitmap { rel, bitmap, recheck, filter };
            let kind = PathKind::Scan(scan.clone());
            add_path(paths, scan_path(rel, Cost { startup, total, rows, width }, kind));
            self.partial_bitmap(scan, shape, (cost, share, operators), (rows, width), paths);
        }
    }
}

/// Tells the scan of the whole table, if it is still there, which range of an index has the fewest of the rows beside its own.
fn note_sought_keys(paths: &mut [Rc<Path>], indexes: &[(Bitmap, f64, Vec<usize>)]) {
    let mut best: Option<(&IndexRef, &[IndexCondition], f64)> = None;
    for (bitmap, share, _) in indexes {
        if let Bitmap::Index { index, conditions, .. } = bitmap
            && index.keys.iter().all(|column| *column > 0)
            && conditions.iter().all(|condition| is_at_hand(&condition.value))
            && best.is_none_or(|best| *share < best.2)
        {
            best = Some((index, conditions, *share));
        }
    }
    let Some((index, conditions, _)) = best else { return };
    for path in paths.iter_mut().filter_map(Rc::get_mut) {
        if let PathKind::Scan(ScanKind::Whole { keys, .. }) = &mut path.kind {
            *keys = Some(SoughtKeys { index: index.clone(), conditions: conditions.to_vec() });
        }
    }
}

/// Whether a value is there when a scan begins, and nothing has to be run for it.
fn is_at_hand(value: &Expr) -> bool {
    match value {
        Expr::Const { .. } | Expr::Param { .. } => true,
        // A column that belongs to no other node is the result of a subquery.
        Expr::ExecParam { source, .. } => source.is_some(),
        _ => false,
    }
}

fn bitmap_cost(bitmap: &Bitmap) -> f64 {
    match bitmap {
        Bitmap::Index { cost, .. } | Bitmap::And(_, cost) | Bitmap::Or(_, cost) => cost.total,
    }
}

pub(crate) fn scan_path(rel: RelId, cost: Cost, kind: PathKind) -> Path {
    let (rels, order, enforced) = (RelSet::one(rel), Vec::new(), Vec::new());
    Path { rels, cost, order, outer: RelSet::EMPTY, enforced, workers: 0, kind }
}

/// Whether there is a condition on one of the index columns from `column` on.
fn has_condition(
    families: &OperatorFamilies,
    (rel, index, column): (RelId, &IndexRef, usize),
    columns: &[Expr],
    quals: &[Expr],
) -> bool {
    columns.iter().enumerate().skip(column).any(|(column, of)| {
        quals.iter().any(|qual| condition_on(families, (rel, index, column), of, qual).is_some())
    })
}

fn reversed(key: PathKey) -> PathKey {
    PathKey { class: key.class, descending: !key.descending, nulls_first: !key.nulls_first }
}

/// What a comparison of rows says of their first columns: `a >= x` of `a > x OR (a = x AND …)`, as which it is planned. It is a bound for an index of which the
/// comparison as a whole is none.
fn implied_bound(qual: &Expr) -> Option<Expr> {
    let Expr::Or(arms) = qual else { return None };
    let [Expr::Call(strict), Expr::And(tied)] = arms.as_slice() else { return None };
    let Some(Expr::Call(equal)) = tied.first() else { return None };
    let (CallForm::Operator(strict_op), CallForm::Operator(equal_op)) = (&strict.form, &equal.form) else {
        return None;
    };
    if &*equal_op.name != "=" || strict.args != equal.args || strict.collation != equal.collation {
        return None;
    }
    let name = match &*strict_op.name {
        "<" => "<=",
        ">" => ">=",
        _ => return None,
    };
    let known = types::registry::operator(strict_op.oid)?;
    let loose = types::registry::operator_between(name, known.left, known.right)?;
    Some(Expr::Call(Box::new(Call {
        function: Function::Builtin(types::registry::function(loose.function)?),
        form: CallForm::Operator(OperatorRef::built_in(loose)),
        ..(**strict).clone()
    })))
}

/// The bound that `qual` gives for an index column, if any.
fn condition_on(
    families: &OperatorFamilies,
    (rel, index, column): (RelId, &IndexRef, usize),
    expr: &Expr,
    qual: &Expr,
) -> Option<IndexCondition> {
    let make = |bound, value: Expr| Some(IndexCondition { column, bound, value, original: qual.clone() });
    let fixed = |e: &Expr| !RelSet::of(e).contains(rel) && !e.is_volatile();
    let same = |e: &Expr| e == expr || strip(e) == strip(expr);
    let nulls = index.method.search_nulls;
    // An index of another collation is in another order.
    let of_index = index.collations.get(column).copied().unwrap_or_default();
    let alike = |collation: Oid| !of_index.is_valid() || collation == of_index;
    match qual {
        Expr::Call(call) if !alike(call.collation) => None,
        Expr::ArrayOp(op) if !alike(op.collation) => None,
        Expr::Call(call) => {
            let CallForm::Operator(operator) = &call.form else { return None };
            let [left, right] = call.args.as_slice() else { return None };
            if same(left) && fixed(right) {
                let bound = strategy(families, (index, column), operator.oid, expr, right)?;
                return make(bound, right.clone());
            }
            if same(right) && fixed(left) {
                let bound = strategy(families, (index, column), operator.commutator, expr, left)?;
                return make(bound, left.clone());
            }
            None
        }
        Expr::ArrayOp(op) if op.any && same(&op.left) && fixed(&op.array) => {
            let value = Expr::Const { value: Datum::Null, type_oid: op.element, typmod: -1 };
            (strategy(families, (index, column), op.operator.oid, expr, &value)? == IndexBound::Equal)
                .then(|| make(IndexBound::Any, op.array.clone()))?
        }
        Expr::Test(Test::IsNull, arg) if nulls && same(arg) => make(IndexBound::IsNull, Expr::boolean(true)),
        Expr::Test(Test::IsNotNull, arg) if nulls && same(arg) => {
            make(IndexBound::IsNotNull, Expr::boolean(true))
        }
        Expr::Var(_) if index.method.equality.is_some() && same(qual) && qual.type_oid() == Oid(16) => {
            make(IndexBound::Equal, Expr::boolean(true))
        }
        Expr::Not(arg) if index.method.equality.is_some() && same(arg) && arg.type_oid() == Oid(16) => {
            make(IndexBound::Equal, Expr::boolean(false))
        }
        _ => None,
    }
}

pub(crate) fn strip(expr: &Expr) -> &Expr {
    match expr {
        Expr::Relabel { arg, .. } => strip(arg),
        other => other,
    }
}

/// What an operator asks of an index: its strategy in the family of the column's class, in the numbers of the index's access method.
fn strategy(
    families: &OperatorFamilies,
    (index, column): (&IndexRef, usize),
    operator: Oid,
    expr: &Expr,
    value: &Expr,
) -> Option<IndexBound> {
    use index::strategy as order;
    let class = families.class(*index.opclasses.get(column)?)?;
    let asks = index.asks(column);
    let entry = families.membership(class.family, operator).or_else(|| {
        if asks {
            return None;
        }
        // Types of users compare as ones of the registry, whose operators stand for those of the class.
        let input = types::registry::operator(operator)?.left;
        let like = families.default_class_for(class.method, input).filter(|_| !class.oid.is_pinned())?;
        families.membership(like.family, operator)
    })?;
    let number = u16::try_from(entry.strategy).ok()?;
    if index.method.equality.is_none() {
        return Some(IndexBound::Operator { strategy: number, operand: entry.right });
    }
    // A function of a user compares values of its type alone.
    let fits = match asks {
        true => entry.left == class.input && entry.right == class.input,
        false => comparable(strip(expr).type_oid(), value.type_oid()),
    };
    if !fits {
        return None;
    }
    if index.method.equality == Some(number) {
        return Some(IndexBound::Equal);
    }
    match number {
        _ if !index.method.can_order => None,
        order::LESS => Some(IndexBound::Less),
        order::LESS_EQUAL => Some(IndexBound::LessEqual),
        order::GREATER_EQUAL => Some(IndexBound::GreaterEqual),
        order::GREATER => Some(IndexBound::Greater),
        _ => None,
    }
}

/// Whether the index can compare values of these types by their bits: integers of any width, or one physical form.
pub(crate) fn comparable(column: Oid, value: Oid) -> bool {
    let integer = |t: Oid| matches!(t, Oid(20) | Oid(21) | Oid(23));
    if column == value || (integer(column) && integer(value)) {
        return true;
    }
    let textual = |t: Oid| matches!(t, Oid(25) | Oid(1043) | Oid(19));
    if textual(column) && textual(value) {
        return true;
    }
    let oid_like = |t: Oid| types::builtin_type(t).is_some_and(|t| t.physical == tuple::Physical::Oid);
    let floating = |t: Oid| matches!(t, Oid(700) | Oid(701));
    oid_like(column) && oid_like(value) || column == Oid(701) && floating(value) || value == Oid(2277)
}
fn is_ctid(rel: RelId, expr: &Expr) -> bool {
    matches!(expr, Expr::Var(Var { column: -1, rel: r, .. }) if *r == rel)
}

/// The bound of a relation's places that a condition sets.
fn tid_bound(rel: RelId, qual: &Expr) -> Option<TidBound> {
    let Expr::Call(call) = qual else { return None };
    let (below, above) = (TID_BELOW.contains(&call.function.oid()), TID_ABOVE.contains(&call.function.oid()));
    let [left, right] = call.args.as_slice() else { return None };
    let (value, swapped) = match (is_ctid(rel, left), is_ctid(rel, right)) {
        (true, false) => (right, false),
        (false, true) => (left, true),
        _ => return None,
    };
    ((below || above) && value.is_fixed()).then(|| TidBound { lower: above != swapped, value: value.clone() })
}
