//! JOIN: conditions, USING and NATURAL, and the names that a join brings into view.
//!
//! PostgreSQL counterpart: the JoinExpr part of `transformFromClauseItem`.

use base::{Oid, SqlResult, sql_err};
use parse::ast;

use crate::core::{Analyzer, NsColumn, NsItem, Place};
use crate::expr::{BoolExpr, BoolOp, CoalesceExpr, Expr, Location, RowVersion};
use crate::from::visible_columns;
use crate::query::{FromNode, Join, JoinNode, JoinType, RangeTableEntry, RteAlias, RteKind};

impl Analyzer<'_> {
    pub(crate) fn join(&mut self, j: &ast::Join) -> SqlResult<(FromNode, Vec<NsItem>)> {
        let (left, mut left_names) = self.joined(&j.left)?;
        let outer_left = matches!(j.kind, ast::JoinKind::Inner | ast::JoinKind::Left);
        for n in &mut left_names {
            (n.lateral_only, n.lateral_ok) = (true, outer_left);
        }
        let before = self.level().namespace.len();
        self.check_conflicts(&left_names)?;
        self.level().namespace.extend(left_names.iter().cloned());
        let right = self.joined(&j.right);
        self.level().namespace.truncate(before);
        let (right, right_names) = right?;
        self.check_join_conflicts(&left_names, &right_names)?;
        let kind = match j.kind {
            ast::JoinKind::Inner => JoinType::Inner,
            ast::JoinKind::Left => JoinType::Left,
            ast::JoinKind::Full => JoinType::Full,
            ast::JoinKind::Right => JoinType::Right,
        };
        let left_columns = visible_columns(&left_names);
        let right_columns = visible_columns(&right_names);
        let using = if j.natural { natural(&left_columns, &right_columns) } else { j.using.clone() };
        let mut names: Vec<NsItem> = left_names;
        names.extend(right_names);
        for n in &mut names {
            (n.lateral_only, n.lateral_ok) = (false, true);
        }
        let (merged, on) = if j.natural || !j.using.is_empty() {
            let (merged, on) = self.join_using(kind, &using, &left_columns, &right_columns)?;
            (merged, on)
        } else {
            (Vec::new(), self.join_on(j.on.as_ref(), &names)?)
        };
        self.finish_join(j, kind, using, (left, right), (left_columns, right_columns), merged, on, names)
    }

    fn check_join_conflicts(&mut self, left: &[NsItem], right: &[NsItem]) -> SqlResult<()> {
        for r in right.iter().filter(|r| r.rel_visible) {
            for l in left.iter().filter(|l| l.rel_visible) {
                let both_tables = !l.aliased && !r.aliased && l.relation.is_valid() && r.relation.is_valid();
                if l.name == r.name && !(both_tables && l.relation != r.relation) {
                    return Err(sql_err!(
                        DUPLICATE_ALIAS,
                        "table name \"{}\" specified more than once",
                        r.name
                    ));
                }
            }
        }
        Ok(())
    }

    fn join_on(&mut self, on: Option<&ast::Expr>, names: &[NsItem]) -> SqlResult<Option<Expr>> {
        let Some(on) = on else { return Ok(None) };
        // Only the join's inputs (and LATERAL ones outside) are in view.
        let outer = std::mem::take(&mut self.level().namespace);
        let mut inside = names.to_vec();
        inside.extend(outer.iter().filter(|n| n.lateral_only).cloned());
        self.level().namespace = inside;
        let result = self.condition(on, Place::JoinOn);
        self.level().namespace = outer;
        result.map(Some)
    }

    /// The merged columns of USING and the condition that goes with them.
    #[allow(clippy::type_complexity)]
    fn join_using(
        &mut self,
        kind: JoinType,
        using: &[String],
        left: &[NsColumn],
        right: &[NsColumn],
    ) -> SqlResult<(Vec<NsColumn>, Option<Expr>)> {
        let mut merged: Vec<NsColumn> = Vec::with_capacity(using.len());
        let mut on: Vec<Expr> = Vec::new();
        for name in using {
            if merged.iter().any(|m| m.name == *name) {
                return Err(sql_err!(
                    DUPLICATE_COLUMN,
                    "column name \"{name}\" appears more than once in USING clause"
                ));
            }
            let l = using_column(name, left, "left")?;
            let r = using_column(name, right, "right")?;
            self.mark_selected(&l, 0);
            self.mark_selected(&r, 0);
            let eq = ast::Name(vec!["=".into()]);
            on.push(self.operator(&eq, Some(l.clone()), r.clone(), Location::NONE)?);
            let expr = self.merge_columns(kind, l, r)?;
            merged.push(NsColumn { name: name.clone(), expr, unlisted: false });
        }
        let on = match on.len() {
            0 => None,
            1 => on.pop(),
            _ => Some(Expr::Bool(Box::new(BoolExpr { op: BoolOp::And, args: on, location: Location::NONE }))),
        };
        Ok((merged, on))
    }

    fn merge_columns(&mut self, kind: JoinType, l: Expr, r: Expr) -> SqlResult<Expr> {
        let common = self.common_type(&[&l, &r], Some("JOIN/USING"))?;
        let typmod = self.common_typmod(&[&l, &r], common);
        let convert = |a: &mut Self, e: Expr| -> SqlResult<Expr> {
            let e = a.coerce_to_common(e, common, "JOIN/USING")?;
            let relabeled = a.typmod_of(&e) != typmod && a.type_of(&e) == common;
            Ok(if relabeled {
                crate::coerce::relabel(e, common, typmod, crate::coerce::Coercion::implicit())
            } else {
                e
            })
        };
        let (l, r) = (convert(self, l)?, convert(self, r)?);
        Ok(match kind {
            JoinType::Inner => {
                // Prefer the side that needed no conversion.
                if matches!(l, Expr::Var(_)) || !matches!(r, Expr::Var(_)) { l } else { r }
            }
            JoinType::Left => l,
            JoinType::Right => r,
            JoinType::Full => Expr::Coalesce(Box::new(CoalesceExpr {
                result_type: common,
                collation: Oid::INVALID,
                args: vec![l, r],
                location: Location::NONE,
            })),
        })
    }

    #[allow(clippy::too_many_arguments)]
    fn finish_join(
        &mut self,
        j: &ast::Join,
        kind: JoinType,
        using: Vec<String>,
        (left, right): (FromNode, FromNode),
        (left_columns, right_columns): (Vec<NsColumn>, Vec<NsColumn>),
        merged: Vec<NsColumn>,
        on: Option<Expr>,
        mut names: Vec<NsItem>,
    ) -> SqlResult<(FromNode, Vec<NsItem>)> {
        let nmerged = merged.len();
        let merged_items = merged.clone();
        let mut columns = merged;
        columns.extend(left_columns.into_iter().filter(|c| !using.contains(&c.name)));
        columns.extend(right_columns.into_iter().filter(|c| !using.contains(&c.name)));
        for c in &mut columns {
            crate::collate::assign(self, &mut c.expr)?;
        }
        let on = match on {
            None => None,
            Some(mut e) => {
                crate::collate::assign(self, &mut e)?;
                Some(e)
            }
        };
        let shown = j.alias.as_ref().map_or("unnamed_join", |a| a.name.as_str()).to_owned();
        let plain: Vec<String> = columns.iter().map(|c| c.name.clone()).collect();
        let shown_names = self.aliased_columns(plain, j.alias.as_ref(), &shown)?;
        for (c, name) in columns.iter_mut().zip(&shown_names) {
            c.name.clone_from(name);
        }
        let rte = self.add_rte(RangeTableEntry {
            kind: RteKind::Join(Join {
                kind,
                merged: nmerged,
                columns: columns.iter().map(|c| c.expr.clone()).collect(),
                using_alias: j.using_alias.as_ref().map(|a| a.name.clone()),
            }),
            alias: j.alias.as_ref().map(|a| RteAlias { name: a.name.clone(), columns: a.columns.clone() }),
            name: shown.clone(),
            columns: shown_names,
            lateral: false,
            in_from: true,
            access: None,
        });
        if j.alias.is_some() {
            names.clear();
        } else {
            for n in &mut names {
                n.cols_visible = false;
            }
        }
        let item = |name: String, visible: bool, cols: bool, columns: Vec<NsColumn>| NsItem {
            name,
            aliased: true,
            rte,
            relation: Oid::INVALID,
            columns,
            rel_visible: visible,
            cols_visible: cols,
            lateral_only: false,
            lateral_ok: true,
            version: RowVersion::Default,
            is_join: true,
        };
        if let Some(a) = &j.using_alias {
            names.push(item(a.name.clone(), true, false, merged_items));
        }
        names.push(item(shown, j.alias.is_some(), true, columns));
        let node =
            FromNode::Join(Box::new(JoinNode { kind, left, right, natural: j.natural, using, on, rte }));
        Ok((node, names))
    }
}

fn natural(left: &[NsColumn], right: &[NsColumn]) -> Vec<String> {
    left.iter().map(|c| c.name.clone()).filter(|n| right.iter().any(|r| r.name == *n)).collect()
}

fn using_column(name: &str, columns: &[NsColumn], side: &str) -> SqlResult<Expr> {
    let mut found = columns.iter().filter(|c| c.name == name);
    match (found.next(), found.next()) {
        (None, _) => Err(sql_err!(
            UNDEFINED_COLUMN,
            "column \"{name}\" specified in USING clause does not exist in {side} table"
        )),
        (Some(_), Some(_)) => Err(sql_err!(
            AMBIGUOUS_COLUMN,
            "common column name \"{name}\" appears more than once in {side} table"
        )),
        (Some(c), None) => Ok(c.expr.clone()),
    }
}
