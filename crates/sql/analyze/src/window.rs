//! WINDOW and OVER: partitions, order and frames.
//!
//! PostgreSQL counterpart: `transformWindowDefinitions` of `parse_clause.c`.

use base::{Oid, SqlError, SqlResult, sql_err};
use parse::ast::{self, FrameUnits};
use types::oids;

use crate::clause::next_ref;
use crate::coerce::location_of;
use crate::core::{Analyzer, Place};
use crate::expr::{Expr, Location, TargetEntry};
use crate::query::{Frame, FrameBound, FrameExclusion, SortGroupClause, WindowClause};
use crate::walk::contains;

/// The support function of an ordering family that tells whether a value is within an offset of another.
const IN_RANGE: i16 = 3;

impl Analyzer<'_> {
    /// The windows that were defined or used.
    pub(crate) fn window_clauses(
        &mut self,
        definitions: &[ast::WindowDef],
        targets: &mut Vec<TargetEntry>,
    ) -> SqlResult<Vec<WindowClause>> {
        let mut out: Vec<WindowClause> = Vec::with_capacity(definitions.len());
        for w in definitions {
            if let Some(name) = &w.name
                && out.iter().any(|o| o.name.as_ref() == Some(name))
            {
                let error = sql_err!(WINDOWING_ERROR, "window \"{name}\" is already defined");
                return Err(self.at(error, w.location));
            }
            let base = match &w.base {
                None => None,
                Some(base) => match out.iter().find(|o| o.name.as_ref() == Some(base)) {
                    Some(b) => Some(b.clone()),
                    None => {
                        let error = sql_err!(UNDEFINED_OBJECT, "window \"{base}\" does not exist");
                        return Err(self.at(error, w.location));
                    }
                },
            };
            let clause = self.window_clause(w, base, targets)?;
            out.push(clause);
        }
        Ok(out)
    }

    fn window_clause(
        &mut self,
        w: &ast::WindowDef,
        base: Option<WindowClause>,
        targets: &mut Vec<TargetEntry>,
    ) -> SqlResult<WindowClause> {
        let order_by = self.sort_clause(&w.order_by, targets, Place::WindowOrder, true)?;
        let mut partition_by: Vec<SortGroupClause> = Vec::new();
        for e in &w.partition_by {
            let i = self.find_target_99(e, targets, Place::WindowPartition)?;
            if targets[i].sort_ref == 0 {
                targets[i].sort_ref = next_ref(targets);
            }
            let sort_ref = targets[i].sort_ref;
            if partition_by.iter().any(|c| c.sort_ref == sort_ref) {
                continue;
            }
            let clause = match order_by.iter().find(|c| c.sort_ref == sort_ref) {
                Some(c) => c.clone(),
                None => self.group_clause_for(&mut targets[i], Location::NONE)?,
            };
            partition_by.push(clause);
        }
        let base_name = base.as_ref().and_then(|b| b.name.clone());
        let shown = base_name.clone().unwrap_or_default();
        let refuse = |a: &Self, what: &str| Err(a.at(sql_err!(WINDOWING_ERROR, "{what}"), w.location));
        let (mut copied_order, mut order_by) = (false, order_by);
        if let Some(b) = base {
            if !partition_by.is_empty() {
                return refuse(self, &format!("cannot override PARTITION BY clause of window \"{shown}\""));
            }
            partition_by = b.partition_by;
            if !order_by.is_empty() && !b.order_by.is_empty() {
                return refuse(self, &format!("cannot override ORDER BY clause of window \"{shown}\""));
            }
            if order_by.is_empty() {
                (order_by, copied_order) = (b.order_by, true);
            }
            if b.frame.explicit {
                let plain = w.name.is_some() || !w.order_by.is_empty() || w.frame.is_some();
                let message = format!("cannot copy window \"{shown}\" because it has a frame clause");
                let error = sql_err!(WINDOWING_ERROR, "{message}");
                let error =
                    if plain { error } else { error.hint("Omit the parentheses in this OVER clause.") };
                return Err(self.at(error, w.location));
            }
        }
        let mut clause = WindowClause {
            name: w.name.clone(),
            base: base_name,
            partition_by,
            order_by,
            frame: default_frame(),
            in_range: (Oid::INVALID, Oid::INVALID),
            in_range_collation: Oid::INVALID,
            in_range_ascending: true,
            in_range_nulls_first: false,
            copied_order,
        };
        if let Some(f) = &w.frame {
            self.frame(f, &mut clause, w.location, targets)?;
        }
        Ok(clause)
    }

    fn frame(
        &mut self,
        f: &ast::Frame,
        clause: &mut WindowClause,
        location: Location,
        targets: &[TargetEntry],
    ) -> SqlResult<()> {
        if f.units == FrameUnits::Groups && clause.order_by.is_empty() {
            return Err(
                self.at(sql_err!(WINDOWING_ERROR, "GROUPS mode requires an ORDER BY clause"), location)
            );
        }
        let offset =
            |b: &ast::FrameBound| matches!(b, ast::FrameBound::Preceding(_) | ast::FrameBound::Following(_));
        let mut range_type = Oid::INVALID;
        if f.units == FrameUnits::Range && (offset(&f.start) || offset(&f.end)) {
            let [key] = clause.order_by.as_slice() else {
                let error = sql_err!(
                    WINDOWING_ERROR,
                    "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column"
                );
                return Err(self.at(error, location));
            };
            let target = targets.iter().find(|t| t.sort_ref == key.sort_ref);
            range_type = target.map_or(Oid::INVALID, |t| self.type_of(&t.expr));
            clause.in_range_collation =
                target.map_or(Oid::INVALID, |t| crate::facts::expr_collation(&t.expr));
            clause.in_range_ascending = !key.descending;
            clause.in_range_nulls_first = key.nulls_first;
        }
        let (start, start_in_range) = self.frame_bound(&f.start, f.units, range_type)?;
        let (end, end_in_range) = self.frame_bound(&f.end, f.units, range_type)?;
        clause.in_range = (start_in_range, end_in_range);
        clause.frame =
            Frame { explicit: true, short: !f.between, units: f.units, start, end, exclusion: f.exclusion };
        Ok(())
    }

    fn frame_bound(
        &mut self,
        b: &ast::FrameBound,
        units: FrameUnits,
        range_type: Oid,
    ) -> SqlResult<(FrameBound, Oid)> {
        Ok(match b {
            ast::FrameBound::UnboundedPreceding => (FrameBound::UnboundedPreceding, Oid::INVALID),
            ast::FrameBound::UnboundedFollowing => (FrameBound::UnboundedFollowing, Oid::INVALID),
            ast::FrameBound::CurrentRow => (FrameBound::CurrentRow, Oid::INVALID),
            ast::FrameBound::Preceding(e) => {
                let (e, f) = self.frame_offset(e, units, range_type)?;
                (FrameBound::Preceding(e), f)
            }
            ast::FrameBound::Following(e) => {
                let (e, f) = self.frame_offset(e, units, range_type)?;
                (FrameBound::Following(e), f)
            }
        })
    }

    fn frame_offset(&mut self, e: &ast::Expr, units: FrameUnits, range_type: Oid) -> SqlResult<(Expr, Oid)> {
        let place = Place::WindowFrame(units);
        let expr = self.in_place(place, |a| a.expr(e))?;
        let location = location_of(&expr);
        let (expr, function) = if units == FrameUnits::Range {
            self.range_offset(expr, range_type, location)?
        } else {
            let name = if units == FrameUnits::Rows { "ROWS" } else { "GROUPS" };
            (self.coerce_to_specific(expr, oids::int8, name)?, Oid::INVALID)
        };
        if contains(&expr, |e, depth| matches!(e, Expr::Var(v) if v.levels_up == depth)) {
            let name = match units {
                FrameUnits::Range => "RANGE",
                FrameUnits::Rows => "ROWS",
                FrameUnits::Groups => "GROUPS",
            };
            let error = sql_err!(INVALID_COLUMN_REFERENCE, "argument of {name} must not contain variables");
            return Err(self.at(error, location));
        }
        Ok((expr, function))
    }

    /// Converts RANGE's offset to a type for which the key's family has an `in_range` function.
    fn range_offset(&mut self, expr: Expr, key: Oid, location: Location) -> SqlResult<(Expr, Oid)> {
        let base = self.base_type(key, -1)?.0;
        let families = self.catalog.operator_families()?;
        let class = families.default_class_for(types::registry::ORDERING_METHOD, base);
        let functions = class.into_iter().flat_map(|class| families.functions_of(class.family));
        let rows: Vec<_> = functions.filter(|f| f.number == IN_RANGE && f.left == base).collect();
        let actual = self.type_of(&expr);
        let mut fitting = Vec::new();
        for p in &rows {
            if self.can_coerce(actual, p.right, types::CastContext::Implicit)? {
                fitting.push(p);
            }
        }
        let exact =
            fitting.iter().find(|p| p.right == actual || (actual == oids::unknown && p.right == base));
        let chosen = match (exact, fitting.as_slice()) {
            (Some(p), _) => **p,
            (None, [one]) => **one,
            (None, many) => {
                let error = sql_err!(
                    FEATURE_NOT_SUPPORTED,
                    "RANGE with offset PRECEDING/FOLLOWING {} column type {} and offset type {}",
                    if rows.is_empty() || many.is_empty() {
                        "is not supported for"
                    } else {
                        "has multiple interpretations for"
                    },
                    self.type_text(base),
                    self.type_text(actual)
                );
                let error = if rows.is_empty() {
                    sql_err!(
                        FEATURE_NOT_SUPPORTED,
                        "RANGE with offset PRECEDING/FOLLOWING is not supported for column type {}",
                        self.type_text(base)
                    )
                } else {
                    error.hint("Cast the offset value to an appropriate type.")
                };
                return Err(self.at(error, location));
            }
        };
        if !chosen.function.is_pinned() {
            let what = format!("function {} as support function of RANGE", chosen.function);
            return Err(self.at(SqlError::not_supported(what), location));
        }
        let expr = self.coerce_to_specific(expr, chosen.right, "RANGE")?;
        Ok((expr, chosen.function))
    }
}

/// The frame of a window that says nothing about it.
pub(crate) fn default_frame() -> Frame {
    Frame {
        explicit: false,
        short: false,
        units: FrameUnits::Range,
        start: FrameBound::UnboundedPreceding,
        end: FrameBound::CurrentRow,
        exclusion: FrameExclusion::NoOthers,
    }
}
