//! ORDER BY, GROUP BY, DISTINCT, LIMIT, WINDOW.
//!
//! PostgreSQL counterpart: the later half of `parse_clause.c`.

use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::view::TypeKind;
use parse::ast::{self, GroupBy, Literal, SortBy, SortDirection, SortNulls};
use types::oids;

use crate::coerce::{Coercion, location_of};
use crate::core::{Analyzer, Place};
use crate::expr::{Expr, Location, TargetEntry};
use crate::query::{Grouping, SortGroupClause};
use crate::walk::contains;

/// Most grouping sets that one query may have.
const MAX_GROUPING_SETS: usize = 4096;

/// `<`, `=`, `>` of a type and whether `=` can be hashed; 0 where there is none.
#[derive(Clone, Copy, Default)]
pub(crate) struct SortOperators {
    pub(crate) less: Oid,
    pub(crate) equal: Oid,
    pub(crate) greater: Oid,
    pub(crate) hashable: bool,
}

/// GROUP BY, analysed.
#[derive(Default)]
pub(crate) struct Grouped {
    /// The keys.
    pub(crate) keys: Vec<SortGroupClause>,
    /// The grouping sets, if any were written: each some of the keys.
    pub(crate) sets: Vec<Vec<u32>>,
    /// How they were written.
    pub(crate) written: Vec<Grouping>,
}

impl Analyzer<'_> {
    /// Whether a type's default classes compare values as the type of a library says.
    fn is_ordered_by_library(&self, type_oid: Oid) -> SqlResult<bool> {
        if types::builtin_type(type_oid).is_some() {
            return Ok(false);
        }
        Ok(match self.type_facts(type_oid)?.kind {
            TypeKind::Like(like) => types::registry::libraries::NUMBERS.contains(&like.order.0),
            _ => false,
        })
    }

    /// Comparison operators of a type's default operator classes.
    pub(crate) fn sort_operators(&self, type_oid: Oid) -> SqlResult<SortOperators> {
        use types::registry::{HASHING_METHOD, ORDERING_METHOD};
        let families = self.catalog.operator_families()?;
        let base = self.base_type(type_oid, -1)?.0;
        let mut input = base;
        // Values are compared as those of built-in types, as a library's type says, or as a function of a user does.
        let by_library = self.is_ordered_by_library(base)?;
        let asked = catalog::families::default_order(self.catalog, base)?.is_some();
        let class = |method: Oid, input: Oid| {
            let of_user = by_library || asked && method == ORDERING_METHOD;
            families.default_class_for(method, input).filter(|class| class.oid.is_pinned() || of_user)
        };
        let mut elements_hash = true;
        if class(ORDERING_METHOD, input).is_none() && class(HASHING_METHOD, input).is_none() {
            let facts = self.type_facts(base)?;
            let operand = types::registry::operand_type(base);
            input = if operand != base {
                operand
            } else if facts.element.is_valid() {
                oids::anyarray
            } else {
                match facts.kind {
                    TypeKind::Enum(_) => oids::anyenum,
                    TypeKind::Composite(_) => oids::record,
                    TypeKind::Range(_) => oids::anyrange,
                    TypeKind::Multirange(_) => oids::anymultirange,
                    TypeKind::Like(like) => like.order,
                    _ if facts.category == b'S' => oids::text,
                    _ => base,
                }
            };
            // An array sorts and hashes if its elements do.
            if facts.element.is_valid() {
                if catalog::families::default_order(self.catalog, facts.element)?.is_some() {
                    let what = format!("ordering arrays of type {}", self.type_text(facts.element));
                    return Err(SqlError::not_supported(what));
                }
                let of = self.sort_operators(facts.element)?;
                if !of.less.is_valid() {
                    return Ok(SortOperators::default());
                }
                elements_hash = of.hashable;
            }
        }
        let find = |family: Oid, strategy: i16, key: Oid| {
            families.operator(family, (key, key), strategy).unwrap_or_default()
        };
        let mut out = SortOperators::default();
        if let Some(c) = class(ORDERING_METHOD, input) {
            out.less = find(c.family, 1, c.input);
            out.equal = find(c.family, 3, c.input);
            out.greater = find(c.family, 5, c.input);
        }
        if let Some(c) = class(HASHING_METHOD, input) {
            out.hashable = elements_hash;
            if !out.equal.is_valid() {
                out.equal = find(c.family, 1, c.input);
            }
        }
        if !out.equal.is_valid()
            && let Some(class) = families.default_class_for(ORDERING_METHOD, base)
        {
            let what = format!("ordering by operator class \"{}\", which is not built in,", class.name);
            return Err(SqlError::not_supported(what));
        }
        Ok(out)
    }

    /// ORDER BY. In SQL92's manner a bare name may be an output column and an integer its number; `sql99` turns that off.
    pub(crate) fn sort_clause(
        &mut self,
        list: &[SortBy],
        targets: &mut Vec<TargetEntry>,
        place: Place,
        sql99: bool,
    ) -> SqlResult<Vec<SortGroupClause>> {
        let mut out: Vec<SortGroupClause> = Vec::with_capacity(list.len());
        for key in list {
            let i = if sql99 {
                self.find_target_99(&key.expr, targets, place)?
            } else {
                self.find_target_92(&key.expr, targets, place)?
            };
            self.add_sort_key(&mut out, targets, i, key)?;
        }
        Ok(out)
    }

    fn add_sort_key(
        &mut self,
        out: &mut Vec<SortGroupClause>,
        targets: &mut [TargetEntry],
        i: usize,
        key: &SortBy,
    ) -> SqlResult<()> {
        if targets[i].sort_ref == 0 {
            targets[i].sort_ref = next_ref(targets);
        }
        let clause = self.sort_clause_for(&mut targets[i], key)?;
        // A key that was there already decides nothing, in whichever direction.
        if !out.iter().any(|c| c.sort_ref == clause.sort_ref && same_order(c, &clause)) {
            out.push(clause);
        }
        Ok(())
    }

    /// The sort clause of one key on its target entry.
    pub(crate) fn sort_clause_for(
        &mut self,
        target: &mut TargetEntry,
        key: &SortBy,
    ) -> SqlResult<SortGroupClause> {
        if self.type_of(&target.expr) == oids::unknown {
            let e = std::mem::replace(&mut target.expr, crate::coerce::bool_const(true));
            target.expr = self.coerce(e, oids::text, -1, Coercion::implicit())?;
        }
        if target.sort_ref == 0 {
            target.sort_ref = target.resno as u32;
        }
        let type_oid = self.type_of(&target.expr);
        let location = location_of(&target.expr);
        let ops = self.sort_operators(type_oid)?;
        let (ordering, descending, equality) = match &key.direction {
            SortDirection::Default | SortDirection::Ascending => (ops.less, false, ops.equal),
            SortDirection::Descending => (ops.greater, true, ops.equal),
            SortDirection::Using(name) => {
                let op = self
                    .resolve_operator(name, Some(type_oid), type_oid)?
                    .ok_or_else(|| self.at(self.no_operator(name, Some(type_oid), type_oid), key.location))?;
                let families = self.catalog.operator_families()?;
                let mut members = families.memberships_of(op.oid, types::registry::ORDERING_METHOD);
                let Some(s) = members.find(|m| m.left == m.right && (m.strategy == 1 || m.strategy == 5))
                else {
                    let error = sql_err!(
                        WRONG_OBJECT_TYPE,
                        "operator {} is not a valid ordering operator",
                        name.last()
                    )
                    .hint("Ordering operators must be \"<\" or \">\" members of btree operator families.");
                    return Err(self.at(error, key.location));
                };
                (op.oid, s.strategy == 5, ops.equal)
            }
        };
        if !ordering.is_valid() {
            let error = sql_err!(
                UNDEFINED_FUNCTION,
                "could not identify an ordering operator for type {}",
                self.type_text(type_oid)
            )
            .hint("Use an explicit ordering operator or modify the query.");
            return Err(self.at(error, location));
        }
        Ok(SortGroupClause {
            sort_ref: target.sort_ref,
            equality,
            ordering,
            descending,
            nulls_first: match key.nulls {
                SortNulls::Default => descending,
                SortNulls::First => true,
                SortNulls::Last => false,
            },
            hashable: ops.hashable,
        })
    }

    /// A grouping clause on a target entry with the type's default operators.
    pub(crate) fn group_clause_for(
        &mut self,
        target: &mut TargetEntry,
        location: Location,
    ) -> SqlResult<SortGroupClause> {
        if self.type_of(&target.expr) == oids::unknown {
            let e = std::mem::replace(&mut target.expr, crate::coerce::bool_const(true));
            target.expr = self.coerce(e, oids::text, -1, Coercion::implicit())?;
        }
        let type_oid = self.type_of(&target.expr);
        let ops = self.sort_operators(type_oid)?;
        if !ops.equal.is_valid() {
            let error = sql_err!(
                UNDEFINED_FUNCTION,
                "could not identify an equality operator for type {}",
                self.type_text(type_oid)
            );
            return Err(self.at(error, location.leftmost(location_of(&target.expr))));
        }
        Ok(SortGroupClause {
            sort_ref: target.sort_ref,
            equality: ops.equal,
            ordering: ops.less,
            descending: false,
            nulls_first: false,
            hashable: ops.hashable,
        })
    }

    /// Target entry for a key in SQL92's manner.
    pub(crate) fn find_target_92(
        &mut self,
        e: &ast::Expr,
        targets: &mut Vec<TargetEntry>,
        place: Place,
    ) -> SqlResult<usize> {
        let clause = place.name();
        if let ast::Expr::Column(c) = e
            && let [ast::Indirection::Field(name)] = c.fields.as_slice()
        {
            // GROUP BY prefers input columns, the others output columns.
            let input_first =
                place == Place::GroupBy && self.find_column(name, c.location).ok().flatten().is_some();
            if !input_first && let Some(i) = self.find_by_name(name, targets, clause, c.location)? {
                return Ok(i);
            }
        }
        if let ast::Expr::Const { value, location } = e {
            let Literal::Integer(n) = value else {
                let error = sql_err!(SYNTAX_ERROR, "non-integer constant in {clause}");
                return Err(self.at(error, *location));
            };
            let found = usize::try_from(*n - 1).ok().filter(|i| targets.get(*i).is_some_and(|t| !t.junk));
            return found.ok_or_else(|| {
                let error = sql_err!(INVALID_COLUMN_REFERENCE, "{clause} position {n} is not in select list");
                self.at(error, *location)
            });
        }
        self.find_target_99(e, targets, place)
    }

    fn find_by_name(
        &mut self,
        name: &str,
        targets: &[TargetEntry],
        clause: &str,
        location: Location,
    ) -> SqlResult<Option<usize>> {
        let mut found: Option<usize> = None;
        for (i, t) in targets.iter().enumerate() {
            if t.junk || t.name.as_deref() != Some(name) {
                continue;
            }
            match found {
                Some(before) if !crate::equal::same(&targets[before].expr, &t.expr) => {
                    let error = sql_err!(AMBIGUOUS_COLUMN, "{clause} \"{name}\" is ambiguous");
                    return Err(self.at(error, location));
                }
                Some(_) => {}
                None => found = Some(i),
            }
        }
        Ok(found)
    }

    /// Target entry for a key that is an expression; added as junk if there is none equal.
    pub(crate) fn find_target_99(
        &mut self,
        e: &ast::Expr,
        targets: &mut Vec<TargetEntry>,
        place: Place,
    ) -> SqlResult<usize> {
        let expr = self.in_place(place, |a| a.expr(e))?;
        if let Some(i) = targets.iter().position(|t| crate::equal::same(strip_implicit(&t.expr), &expr)) {
            return Ok(i);
        }
        let resno = targets.len() as i16 + 1;
        targets.push(crate::target::entry(expr, resno, None, true));
        Ok(targets.len() - 1)
    }

    /// GROUP BY.
    pub(crate) fn group_clause(
        &mut self,
        list: &[GroupBy],
        targets: &mut Vec<TargetEntry>,
        order_by: &[SortGroupClause],
        distinct: bool,
    ) -> SqlResult<Grouped> {
        let mut keys: Vec<SortGroupClause> = Vec::new();
        let plain = list.iter().all(|g| matches!(g, GroupBy::Expr(_)));
        if plain {
            for item in list {
                if let GroupBy::Expr(e) = item {
                    for e in implicit_row(e) {
                        self.group_key(e, targets, order_by, &mut keys)?;
                    }
                }
            }
            return Ok(Grouped { keys, ..Grouped::default() });
        }
        let mut product: Vec<Vec<u32>> = vec![Vec::new()];
        let mut written = Vec::with_capacity(list.len());
        for item in list {
            let (sets, shape) = self.grouping_item(item, targets, order_by, &mut keys)?;
            written.push(shape);
            let mut next = Vec::new();
            for left in &product {
                for right in &sets {
                    let mut set = left.clone();
                    set.extend(right.iter().filter(|r| !left.contains(r)));
                    next.push(set);
                }
            }
            product = next;
            if product.len() > MAX_GROUPING_SETS {
                return Err(sql_err!(
                    STATEMENT_TOO_COMPLEX,
                    "too many grouping sets present (maximum {MAX_GROUPING_SETS})"
                ));
            }
        }
        if distinct {
            let mut seen: Vec<Vec<u32>> = Vec::new();
            product.retain(|set| {
                let mut sorted = set.clone();
                sorted.sort_unstable();
                let new = !seen.contains(&sorted);
                if new {
                    seen.push(sorted);
                }
                new
            });
        }
        product.sort_by_key(Vec::len);
        Ok(Grouped { keys, sets: product, written })
    }

    fn grouping_item(
        &mut self,
        item: &GroupBy,
        targets: &mut Vec<TargetEntry>,
        order_by: &[SortGroupClause],
        keys: &mut Vec<SortGroupClause>,
    ) -> SqlResult<(Vec<Vec<u32>>, Grouping)> {
        Ok(match item {
            GroupBy::Expr(e) => {
                let mut set = Vec::new();
                for e in implicit_row(e) {
                    let r = self.group_key(e, targets, order_by, keys)?;
                    if !set.contains(&r) {
                        set.push(r);
                    }
                }
                (vec![set.clone()], Grouping::Keys(set))
            }
            GroupBy::Empty(_) => (vec![Vec::new()], Grouping::Keys(Vec::new())),
            GroupBy::Sets(items, _) => {
                let mut all = Vec::new();
                let mut shapes = Vec::with_capacity(items.len());
                for item in items {
                    let (sets, shape) = self.grouping_item(item, targets, order_by, keys)?;
                    all.extend(sets);
                    shapes.push(shape);
                }
                (all, Grouping::Sets(shapes))
            }
            GroupBy::Rollup(items, _) => {
                let (parts, shapes) = self.grouping_parts(items, targets, order_by, keys)?;
                let sets = (0..=parts.len()).rev().map(|n| union(&parts[..n])).collect();
                (sets, Grouping::Rollup(shapes))
            }
            GroupBy::Cube(items, location) => {
                if items.len() > 12 {
                    let error = sql_err!(TOO_MANY_COLUMNS, "CUBE is limited to 12 elements");
                    return Err(self.at(error, *location));
                }
                let (parts, shapes) = self.grouping_parts(items, targets, order_by, keys)?;
                let n = parts.len();
                let sets = (0..1_usize << n)
                    .rev()
                    .map(|bits| {
                        let chosen: Vec<Vec<u32>> = (0..n)
                            .filter(|i| bits >> (n - 1 - i) & 1 == 1)
                            .map(|i| parts[i].clone())
                            .collect();
                        union(&chosen)
                    })
                    .collect();
                (sets, Grouping::Cube(shapes))
            }
        })
    }

    fn grouping_parts(
        &mut self,
        items: &[GroupBy],
        targets: &mut Vec<TargetEntry>,
        order_by: &[SortGroupClause],
        keys: &mut Vec<SortGroupClause>,
    ) -> SqlResult<(Vec<Vec<u32>>, Vec<Grouping>)> {
        let mut parts = Vec::with_capacity(items.len());
        let mut shapes = Vec::with_capacity(items.len());
        for item in items {
            let (sets, shape) = self.grouping_item(item, targets, order_by, keys)?;
            parts.push(union(&sets));
            shapes.push(shape);
        }
        Ok((parts, shapes))
    }

    fn group_key(
        &mut self,
        e: &ast::Expr,
        targets: &mut Vec<TargetEntry>,
        order_by: &[SortGroupClause],
        keys: &mut Vec<SortGroupClause>,
    ) -> SqlResult<u32> {
        let i = self.find_target_92(e, targets, Place::GroupBy)?;
        let sort_ref = targets[i].sort_ref;
        if sort_ref != 0 && keys.iter().any(|k| k.sort_ref == sort_ref) {
            return Ok(sort_ref);
        }
        if sort_ref == 0 {
            targets[i].sort_ref = next_ref(targets);
        }
        let sort_ref = targets[i].sort_ref;
        // Grouping in the order of ORDER BY lets one sort serve both.
        let clause = match order_by.iter().find(|c| c.sort_ref == sort_ref) {
            Some(c) => c.clone(),
            None => self.group_clause_for(&mut targets[i], Location::NONE)?,
        };
        keys.push(clause);
        Ok(sort_ref)
    }

    /// DISTINCT: all columns, those of ORDER BY first.
    pub(crate) fn distinct_clause(
        &mut self,
        targets: &mut [TargetEntry],
        order_by: &[SortGroupClause],
        aggregate: bool,
    ) -> SqlResult<Vec<SortGroupClause>> {
        let mut out = Vec::new();
        for c in order_by {
            if let Some(t) = targets.iter().find(|t| t.sort_ref == c.sort_ref)
                && t.junk
            {
                let message = if aggregate {
                    "in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list"
                } else {
                    "for SELECT DISTINCT, ORDER BY expressions must appear in select list"
                };
                return Err(self.at(sql_err!(INVALID_COLUMN_REFERENCE, "{message}"), location_of(&t.expr)));
            }
            out.push(c.clone());
        }
        for i in 0..targets.len() {
            if targets[i].junk
                || (targets[i].sort_ref != 0 && out.iter().any(|c| c.sort_ref == targets[i].sort_ref))
            {
                continue;
            }
            if targets[i].sort_ref == 0 {
                targets[i].sort_ref = next_ref(targets);
            }
            out.push(self.group_clause_for(&mut targets[i], Location::NONE)?);
        }
        if out.is_empty() && !aggregate {
            return Err(sql_err!(SYNTAX_ERROR, "SELECT DISTINCT must have at least one column"));
        }
        Ok(out)
    }

    /// DISTINCT ON: its expressions must be the first of ORDER BY.
    pub(crate) fn distinct_on(
        &mut self,
        list: &[ast::Expr],
        targets: &mut Vec<TargetEntry>,
        order_by: &[SortGroupClause],
    ) -> SqlResult<Vec<SortGroupClause>> {
        let mut refs = Vec::with_capacity(list.len());
        for e in list {
            let i = self.find_target_92(e, targets, Place::DistinctOn)?;
            if targets[i].sort_ref == 0 {
                targets[i].sort_ref = next_ref(targets);
            }
            refs.push((targets[i].sort_ref, crate::syntax_equal::location(e)));
        }
        let mut out: Vec<SortGroupClause> = Vec::new();
        let mut skipped = false;
        for c in order_by {
            if let Some((_, at)) = refs.iter().find(|(r, _)| *r == c.sort_ref) {
                if skipped {
                    return Err(self.distinct_on_mismatch(*at));
                }
                out.push(c.clone());
            } else {
                skipped = true;
            }
        }
        for (r, at) in refs {
            if out.iter().any(|c| c.sort_ref == r) {
                continue;
            }
            if skipped {
                return Err(self.distinct_on_mismatch(at));
            }
            if let Some(i) = targets.iter().position(|t| t.sort_ref == r) {
                out.push(self.group_clause_for(&mut targets[i], Location::NONE)?);
            }
        }
        Ok(out)
    }

    fn distinct_on_mismatch(&self, location: Location) -> base::SqlError {
        let message = "SELECT DISTINCT ON expressions must match initial ORDER BY expressions";
        self.at(sql_err!(INVALID_COLUMN_REFERENCE, "{message}"), location)
    }

    /// LIMIT or OFFSET.
    pub(crate) fn limit(
        &mut self,
        e: Option<&ast::Expr>,
        place: Place,
        with_ties: bool,
    ) -> SqlResult<Option<Expr>> {
        let Some(e) = e else { return Ok(None) };
        let name = place.name();
        let expr = self.in_place(place, |a| a.expr(e))?;
        let expr = self.coerce_to_specific(expr, oids::int8, name)?;
        let mut variable = Location::NONE;
        if contains(&expr, |e, depth| match e {
            Expr::Var(v) if v.levels_up == depth => {
                variable = v.location;
                true
            }
            _ => false,
        }) {
            let error = sql_err!(INVALID_COLUMN_REFERENCE, "argument of {name} must not contain variables");
            return Err(self.at(error, variable));
        }
        let null = matches!(&expr, Expr::Const(c) if c.value.is_null());
        if with_ties && place == Place::Limit && null {
            return Err(sql_err!(
                INVALID_ROW_COUNT_IN_LIMIT_CLAUSE,
                "row count cannot be null in FETCH FIRST ... WITH TIES clause"
            ));
        }
        Ok(Some(expr))
    }
}

/// What an expression was before analysis converted it.
pub(crate) fn strip_implicit(e: &Expr) -> &Expr {
    peel_implicit(e).map_or(e, strip_implicit)
}

/// What an expression was before the last conversion that analysis put in.
pub(crate) fn peel_implicit(e: &Expr) -> Option<&Expr> {
    use crate::expr::CoercionForm::ImplicitCast;
    match e {
        Expr::Func(f) if f.form == ImplicitCast => f.args.first(),
        Expr::Relabel(r) if r.form == ImplicitCast => Some(&r.arg),
        Expr::IoCast(r) if r.form == ImplicitCast => Some(&r.arg),
        Expr::ArrayCast(r) if r.form == ImplicitCast => Some(&r.arg),
        Expr::RowCast(r) if r.form == ImplicitCast => Some(&r.arg),
        Expr::ToDomain(r) if r.form == ImplicitCast => Some(&r.arg),
        _ => None,
    }
}

/// The smallest sort reference not in use.
pub(crate) fn next_ref(targets: &[TargetEntry]) -> u32 {
    targets.iter().map(|t| t.sort_ref).max().unwrap_or(0) + 1
}

fn same_order(a: &SortGroupClause, b: &SortGroupClause) -> bool {
    a.ordering == b.ordering || a.equality == b.equality
}

/// A parenthesised list in GROUP BY stands for its items.
fn implicit_row(e: &ast::Expr) -> Vec<&ast::Expr> {
    match e {
        ast::Expr::Row { args, explicit: false, .. } => args.iter().flat_map(implicit_row).collect(),
        e => vec![e],
    }
}

fn union(sets: &[Vec<u32>]) -> Vec<u32> {
    let mut out = Vec::new();
    for r in sets.iter().flatten() {
        if !out.contains(r) {
            out.push(*r);
        }
    }
    out
}
