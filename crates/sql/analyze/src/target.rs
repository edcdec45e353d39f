//! Target lists: values, names, and stars written out.
//!
//! PostgreSQL counterpart: `parse_target.c`.

use base::{Oid, SqlResult, sql_err};
use parse::ast::{self, Indirection};
use types::oids;

use crate::coerce::{Coercion, location_of};
use crate::core::{Analyzer, NsColumn, Place};
use crate::expr::{Expr, FieldExpr, Location, TargetEntry};

/// A target entry without sort reference.
pub(crate) fn entry(expr: Expr, resno: i16, name: Option<String>, junk: bool) -> TargetEntry {
    TargetEntry { expr, resno, name, sort_ref: 0, source_table: Oid::INVALID, source_column: 0, junk }
}

impl Analyzer<'_> {
    /// A target list, stars written out.
    pub(crate) fn target_list(
        &mut self,
        list: &[ast::ResTarget],
        place: Place,
    ) -> SqlResult<Vec<TargetEntry>> {
        let mut out: Vec<TargetEntry> = Vec::with_capacity(list.len());
        for target in list {
            if let Some(columns) = self.star_columns(&target.value, place)? {
                for c in columns {
                    let resno = out.len() as i16 + 1;
                    out.push(entry(c.expr, resno, Some(c.name), false));
                }
                continue;
            }
            let expr = self.in_place(place, |a| a.expr(&target.value))?;
            let name = match &target.name {
                Some(name) => name.clone(),
                None => figure_name(&target.value).unwrap_or_else(|| "?column?".into()),
            };
            let resno = out.len() as i16 + 1;
            out.push(entry(expr, resno, Some(name), false));
        }
        if out.len() > 1664 {
            return Err(sql_err!(TOO_MANY_COLUMNS, "target lists can have at most 1664 entries"));
        }
        Ok(out)
    }

    /// Expressions of a list in which stars may stand (ROW, VALUES).
    pub(crate) fn expanded_list(&mut self, list: &[ast::Expr]) -> SqlResult<Vec<Expr>> {
        let place = self.place();
        let mut out = Vec::with_capacity(list.len());
        for e in list {
            match self.star_columns(e, place)? {
                Some(columns) => out.extend(columns.into_iter().map(|c| c.expr)),
                None => out.push(self.expr(e)?),
            }
        }
        Ok(out)
    }

    /// The expressions that a star expands to; `None` if the expression is not a star.
    fn star_columns(&mut self, e: &ast::Expr, place: Place) -> SqlResult<Option<Vec<NsColumn>>> {
        match e {
            ast::Expr::Column(c) if matches!(c.fields.last(), Some(Indirection::Star)) => {
                if c.fields.len() == 1 {
                    return self.all_columns(c.location).map(Some);
                }
                let names: Vec<&str> = c
                    .fields
                    .iter()
                    .filter_map(|f| if let Indirection::Field(n) = f { Some(n.as_str()) } else { None })
                    .collect();
                let (schema, relation) = match names.as_slice() {
                    [relation] => (None, *relation),
                    [schema, relation] | [_, schema, relation] => (Some(*schema), *relation),
                    _ => {
                        let error = sql_err!(
                            SYNTAX_ERROR,
                            "improper qualified name (too many dotted names): {}",
                            names.join(".")
                        );
                        return Err(self.at(error, c.location));
                    }
                };
                if self.find_relation(schema, relation, c.location)?.is_none()
                    && let Some(value) = self.variable_star(c)?
                {
                    return self.expand_row(value).map(Some);
                }
                self.relation_columns(schema, relation, c.location).map(Some)
            }
            ast::Expr::Indirection { arg, steps } if matches!(steps.last(), Some(Indirection::Star)) => {
                let value = self.in_place(place, |a| {
                    let value = a.expr(arg)?;
                    a.apply_steps(value, &steps[..steps.len() - 1])
                })?;
                self.expand_row(value).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn all_columns(&mut self, location: Location) -> SqlResult<Vec<NsColumn>> {
        let items: Vec<_> = self.level().namespace.iter().filter(|n| !n.lateral_only).cloned().collect();
        let any = items.iter().any(|n| n.cols_visible);
        if !any {
            return Err(
                self.at(sql_err!(SYNTAX_ERROR, "SELECT * with no tables specified is not valid"), location)
            );
        }
        let mut columns = crate::from::visible_columns(&items);
        for c in &mut columns {
            crate::columns::set_location(&mut c.expr, location);
            self.mark_selected(&c.expr, 0);
        }
        // A relation without columns still needs the privilege to read it.
        for item in items.iter().filter(|n| n.cols_visible) {
            if let Some(a) = self.level().range_table.get_mut(item.rte).and_then(|r| r.access.as_mut()) {
                a.required |= crate::query::access::SELECT;
            }
        }
        Ok(columns)
    }

    fn relation_columns(
        &mut self,
        schema: Option<&str>,
        relation: &str,
        location: Location,
    ) -> SqlResult<Vec<NsColumn>> {
        let Some(found) = self.find_relation(schema, relation, location)? else {
            return Err(self.missing_relation(schema, relation, location));
        };
        let level = self.levels.len() - 1 - found.0 as usize;
        let names: Vec<String> = self.levels[level].namespace[found.1]
            .columns
            .iter()
            .map(|c| c.name.clone())
            .filter(|n| !n.is_empty())
            .collect();
        let columns = self.levels[level].namespace[found.1].columns.clone();
        let mut out = Vec::with_capacity(names.len());
        for c in columns.into_iter().filter(|c| !c.name.is_empty() && !c.unlisted) {
            let mut expr = c.expr;
            crate::columns::set_location(&mut expr, location);
            self.mark_selected(&expr, found.0);
            crate::walk::raise_levels(&mut expr, found.0, 0);
            out.push(NsColumn { name: c.name, expr, unlisted: false });
        }
        Ok(out)
    }

    /// The fields of a row value as columns.
    fn expand_row(&mut self, value: Expr) -> SqlResult<Vec<NsColumn>> {
        if let Expr::Row(r) = &value {
            return Ok(r
                .names
                .iter()
                .zip(&r.args)
                .map(|(name, e)| NsColumn { name: name.clone(), expr: e.clone(), unlisted: false })
                .collect());
        }
        let type_oid = self.type_of(&value);
        let Some(columns) = self.row_columns(&value)? else {
            let error = if type_oid == oids::record {
                sql_err!(FEATURE_NOT_SUPPORTED, "record type has not been registered")
            } else {
                sql_err!(WRONG_OBJECT_TYPE, "type {} is not composite", self.type_text(type_oid))
            };
            return Err(self.at(error, location_of(&value)));
        };
        Ok(columns
            .into_iter()
            .enumerate()
            .filter(|(_, c)| c.type_oid.is_valid())
            .map(|(i, c)| NsColumn {
                unlisted: false,
                expr: Expr::Field(Box::new(FieldExpr {
                    arg: value.clone(),
                    attno: i as i16 + 1,
                    result_type: c.type_oid,
                    typmod: c.typmod,
                    collation: c.collation,
                })),
                name: c.name,
            })
            .collect())
    }

    /// Literals of no type in a finished target list become text.
    pub(crate) fn resolve_unknown_targets(&mut self, targets: &mut [TargetEntry]) -> SqlResult<()> {
        for t in targets {
            if self.type_of(&t.expr) == oids::unknown {
                let e = std::mem::replace(&mut t.expr, crate::coerce::bool_const(true));
                t.expr = self.coerce(e, oids::text, -1, Coercion::implicit())?;
            }
        }
        Ok(())
    }

    /// Notes which table's columns the targets are.
    pub(crate) fn mark_origins(&mut self, targets: &mut [TargetEntry]) {
        for t in targets {
            if let Expr::Var(v) = &t.expr {
                (t.source_table, t.source_column) = self.origin(v.rte, v.attno, v.levels_up);
            }
        }
    }

    fn origin(&mut self, rte: usize, attno: i16, levels_up: u32) -> (Oid, i16) {
        let none = (Oid::INVALID, 0);
        let Ok(level) = self.level_up(levels_up) else { return none };
        match level.range_table.get(rte).map(|r| &r.kind) {
            Some(crate::query::RteKind::Relation(r)) => (r.oid, attno),
            Some(crate::query::RteKind::Subquery(s)) if s.view.is_valid() => (s.view, attno),
            Some(crate::query::RteKind::Subquery(s)) if attno > 0 => s
                .query
                .result_columns()
                .nth(attno as usize - 1)
                .map_or(none, |t| (t.source_table, t.source_column)),
            Some(crate::query::RteKind::Cte(c)) if attno > 0 && !c.self_reference => {
                let (name, up) = (c.name.clone(), levels_up + c.levels_up);
                let Ok(level) = self.level_up(up) else { return none };
                let cte = level.ctes.iter().find(|c| c.name == name);
                let column = cte.and_then(|c| c.query.result_columns().nth(attno as usize - 1));
                column.map_or(none, |t| (t.source_table, t.source_column))
            }
            _ => none,
        }
    }
}

/// The name of a result column (or an index's) that has no alias.
pub fn figure_name(e: &ast::Expr) -> Option<String> {
    figure(e).map(|(name, _)| name)
}

/// A name and whether it is a strong one.
fn figure(e: &ast::Expr) -> Option<(String, bool)> {
    let strong = |s: &str| Some((s.to_owned(), true));
    match e {
        ast::Expr::Column(c) => last_field(&c.fields).map(|n| (n, true)),
        ast::Expr::Indirection { arg, steps } => match last_field(steps) {
            Some(n) => Some((n, true)),
            None => figure(arg),
        },
        ast::Expr::Func(f) => strong(f.name.last()),
        ast::Expr::Op(o) if o.kind == ast::OpKind::NullIf => strong("nullif"),
        ast::Expr::Cast(c) => match figure(&c.arg) {
            Some((n, true)) => Some((n, true)),
            _ => c.type_name.names.last().map(|n| (n.clone(), false)),
        },
        ast::Expr::Collate(c) => c.arg.as_ref().and_then(figure),
        ast::Expr::Grouping { .. } => strong("grouping"),
        ast::Expr::MergeAction { .. } => strong("merge_action"),
        ast::Expr::SubLink(s) => match s.kind {
            ast::SubLinkKind::Exists => strong("exists"),
            ast::SubLinkKind::Array => strong("array"),
            ast::SubLinkKind::Expr => subquery_name(&s.query),
            _ => None,
        },
        ast::Expr::Case(c) => match c.default.as_ref().and_then(figure) {
            Some(found) => Some(found),
            None => Some(("case".into(), false)),
        },
        ast::Expr::Array { .. } => strong("array"),
        ast::Expr::Row { .. } => strong("row"),
        ast::Expr::Coalesce { .. } => strong("coalesce"),
        ast::Expr::MinMax { greatest, .. } => strong(if *greatest { "greatest" } else { "least" }),
        ast::Expr::SqlValue { kind, .. } => strong(sql_value_name(*kind)),
        ast::Expr::Json(json) => json_name(json).and_then(strong),
        ast::Expr::Xml(xml) => xml_function(xml).and_then(strong),
        _ => None,
    }
}

/// The keyword of a function of XML, lower case.
fn xml_function(xml: &ast::XmlExpr) -> Option<&'static str> {
    use ast::XmlExpr as X;
    Some(match xml {
        X::Concat { .. } => "xmlconcat",
        X::Element { .. } => "xmlelement",
        X::Forest { .. } => "xmlforest",
        X::Parse { .. } => "xmlparse",
        X::Instruction { .. } => "xmlpi",
        X::Root { .. } => "xmlroot",
        X::Serialize { .. } => "xmlserialize",
        X::IsDocument { .. } => return None,
    })
}

/// The keyword of a function of SQL/JSON, lower case.
fn json_name(json: &ast::JsonExpr) -> Option<&'static str> {
    use ast::JsonExpr as J;
    Some(match json {
        J::Object { .. } => "json_object",
        J::Array { .. } | J::ArrayQuery { .. } => "json_array",
        J::ObjectAgg { .. } => "json_objectagg",
        J::ArrayAgg { .. } => "json_arrayagg",
        J::Parse { .. } => "json",
        J::Scalar { .. } => "json_scalar",
        J::Serialize { .. } => "json_serialize",
        J::Is { .. } => return None,
        J::Path(call) => match call.op {
            ast::JsonPathOp::Exists => "json_exists",
            ast::JsonPathOp::Query => "json_query",
            ast::JsonPathOp::Value | ast::JsonPathOp::Table => "json_value",
        },
    })
}

fn last_field(fields: &[Indirection]) -> Option<String> {
    fields.iter().rev().find_map(|f| match f {
        Indirection::Field(n) => Some(n.clone()),
        _ => None,
    })
}

fn subquery_name(q: &ast::Select) -> Option<(String, bool)> {
    match &q.body {
        ast::SelectBody::Simple(s) => {
            let t = s.targets.first()?;
            match &t.name {
                Some(n) => Some((n.clone(), true)),
                None => figure(&t.value),
            }
        }
        ast::SelectBody::SetOp { left, .. } => subquery_name(left),
        ast::SelectBody::Values(_) => Some(("column1".into(), true)),
    }
}

/// The keyword of CURRENT_DATE and similar expressions, in lower case.
pub(crate) fn sql_value_name(kind: ast::SqlValueKind) -> &'static str {
    use ast::SqlValueKind as K;
    match kind {
        K::CurrentDate => "current_date",
        K::CurrentTime => "current_time",
        K::CurrentTimestamp => "current_timestamp",
        K::LocalTime => "localtime",
        K::LocalTimestamp => "localtimestamp",
        K::CurrentRole => "current_role",
        K::CurrentUser => "current_user",
        K::User => "user",
        K::SessionUser => "session_user",
        K::CurrentCatalog => "current_catalog",
        K::CurrentSchema => "current_schema",
    }
}
