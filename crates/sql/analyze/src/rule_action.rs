//! A rule's action for one statement: the action joined to what the statement reads, with the statement's rows in place of OLD and NEW.
//!
//! What: [`Subject`] is a statement whose target has rules. The action gets the statement's range table behind its own, its FROM, its WHERE and its
//! WITH. OLD is the statement's target. NEW is what the statement says of each column. The SELECT of an action that is INSERT with SELECT gets
//! all that in the action's place.
//!
//! Invariants:
//! 1. The statement is filled in: its target list has one entry per column, without DEFAULT.
//! 2. Privileges of the action are its relation's owner's to have, those of the statement stay the user's.
//!
//! PostgreSQL counterpart: `rewriteRuleAction` of `rewriteHandler.c`. There the action's entries are put behind the statement's.

use std::convert::Infallible;
use std::sync::Arc;

use base::{SqlError, SqlResult, sql_err};
use catalog::view::{CatalogView, Generated, RelationKind, Table};

use crate::expr::{
    BoolExpr, BoolOp, BoolTest, BooleanTest, CoercionForm, Expr, Location, ParamKind, RowExpr, RowVersion,
    Var,
};
use crate::query::{Command, FromNode, Query, RteKind, Subquery};
use crate::rewrite::null_of;
use crate::rule::{NEW, OLD, conditional_set_operation, entry_of_source, expr_uses, query_uses};
use crate::walk;

/// A statement whose target has rules.
pub(crate) struct Subject<'a> {
    pub(crate) query: &'a Query,
    /// Its target: entry, and which it is.
    pub(crate) rte: usize,
    pub(crate) table: &'a Arc<Table>,
    pub(crate) catalog: &'a dyn CatalogView,
}

/// The statement's rows, in an action or in the statement itself.
struct Rows<'a> {
    /// The statement, its range table indexes those of the query that it stands in.
    query: &'a Query,
    /// The target.
    rte: usize,
    table: &'a Arc<Table>,
    catalog: &'a dyn CatalogView,
    /// How many levels inside the action its range table stands.
    level: u32,
}

impl Subject<'_> {
    /// The statement itself, for the rows that a condition is not true of.
    pub(crate) fn except(&self, query: Query, condition: &Expr) -> SqlResult<Query> {
        let mut condition = condition.clone();
        self.rows(self.query, self.rte, 0).put_in_condition(&mut condition)?;
        let mut query = query;
        query.has_sublinks |= has_sublinks(&condition);
        let arg = condition;
        let except = Expr::BooleanTest(Box::new(BooleanTest {
            arg,
            test: BoolTest::NotTrue,
            location: Location::NONE,
        }));
        and(&mut query.join_tree.filter, except);
        Ok(query)
    }

    fn rows<'s>(&'s self, query: &'s Query, rte: usize, level: u32) -> Rows<'s> {
        Rows { query, rte, table: self.table, catalog: self.catalog, level }
    }

    /// An action that is a query, for the rows that a condition is true of. `returns`: another action has given the rows of RETURNING.
    pub(crate) fn action(
        &self,
        mut action: Query,
        condition: Option<&Expr>,
        returns: &mut bool,
    ) -> SqlResult<Query> {
        let uses = |row| query_uses(&action, row) || condition.is_some_and(|e| expr_uses(e, row));
        let reads_target = uses(OLD) || (self.query.command == Command::Update && uses(NEW));
        let source = entry_of_source(&action);
        let level = u32::from(source.is_some());
        let mut query = self.query.clone();
        let own = body(&mut action, source).range_table.len();
        move_entries(&mut query, own);
        walk::raise_query_levels(&mut query, level, 1);
        let rte = self.rte + own;
        self.join(body(&mut action, source), &query, (rte, reads_target))?;
        self.share_ctes(body(&mut action, source), &query, level)?;
        let rows = self.rows(&query, rte, level);
        rows.put_in_action(&mut action)?;
        let holder = body(&mut action, source);
        if let Some(condition) = condition {
            let mut condition = condition.clone();
            rows.put_in_condition(&mut condition)?;
            holder.has_sublinks |= has_sublinks(&condition);
            and_all(holder, condition)?;
        }
        if let Some(filter) = query.join_tree.filter.clone() {
            and_all(holder, filter)?;
        }
        holder.has_sublinks |= query.has_sublinks;
        note_lateral(holder, own);
        action.has_sublinks |= query.has_sublinks;
        rows.returning(&mut action, returns)?;
        Ok(action)
    }

    /// Joins what the statement reads to what the action does. The target is among it if the action or a condition names its rows.
    fn join(&self, body: &mut Query, query: &Query, (rte, named): (usize, bool)) -> SqlResult<()> {
        let filter = query.join_tree.filter.as_ref();
        let is_target = |e: &Expr, depth| {
            matches!(e, Expr::Var(v) if v.rte == rte && v.levels_up == depth) || is_cursor(e)
        };
        let reads = named || filter.is_some_and(|filter| walk::contains(filter, is_target));
        let items = query.join_tree.items.iter();
        let mut items: Vec<FromNode> = items
            .filter(|item| reads || !matches!(item, FromNode::Entry(at) if *at == rte))
            .cloned()
            .collect();
        if body.set_operation.is_some() && !items.is_empty() {
            return Err(conditional_set_operation());
        }
        let reads = query.command != Command::Insert && reads;
        items.append(&mut body.join_tree.items);
        body.join_tree.items = items;
        body.range_table.extend(query.range_table.iter().cloned());
        let entry = &mut body.range_table[rte];
        entry.in_from = reads;
        if reads && self.table.kind == RelationKind::View {
            let security_barrier = self.table.bool_option("security_barrier");
            let below = Box::new(crate::views::expand(self.table, self.catalog)?);
            entry.kind = RteKind::Subquery(Subquery { query: below, view: self.table.oid, security_barrier });
        }
        Ok(())
    }

    /// Gives the action the statement's WITH.
    fn share_ctes(&self, body: &mut Query, query: &Query, level: u32) -> SqlResult<()> {
        for cte in &query.ctes {
            if body.ctes.iter().any(|own| own.name == cte.name) {
                return Err(sql_err!(
                    FEATURE_NOT_SUPPORTED,
                    "WITH query name \"{}\" appears in both a rule action and the query being rewritten",
                    cte.name
                ));
            }
        }
        body.ctes.extend(query.ctes.iter().cloned());
        body.recursive |= query.recursive;
        body.has_modifying_cte |= query.has_modifying_cte;
        if body.has_modifying_cte && level > 0 {
            return Err(sql_err!(
                FEATURE_NOT_SUPPORTED,
                "INSERT ... SELECT rule actions are not supported for queries having data-modifying statements in WITH"
            ));
        }
        Ok(())
    }
}

impl Rows<'_> {
    /// Puts the rows into an action, which they stand one level outside of.
    fn put_in_action(&self, action: &mut Query) -> SqlResult<()> {
        walk::visit_query_mut(action, 0, &mut |e, depth| self.put(e, depth, depth + 1))
    }

    /// Puts the rows into a condition of this level.
    fn put_in_condition(&self, condition: &mut Expr) -> SqlResult<()> {
        walk::visit_mut(condition, 0, &mut |e, depth| self.put(e, depth + self.level, depth))
    }

    /// Puts what stands for it in place of a column of the rows; whether to look below. `depth`: how far the place is inside the action, `out`: where
    /// from there the rows are.
    fn put(&self, e: &mut Expr, depth: u32, out: u32) -> SqlResult<bool> {
        let Expr::Var(var) = e else { return Ok(true) };
        if var.levels_up != out {
            return Ok(true);
        }
        let Some(inside) = depth.checked_sub(self.level) else {
            return Err(sql_err!(
                FEATURE_NOT_SUPPORTED,
                "rule actions cannot name OLD or NEW outside of the SELECT of an INSERT"
            ));
        };
        let mut value = match var.rte {
            OLD => Expr::Var(Var { rte: self.rte, levels_up: 0, ..var.clone() }),
            _ => self.new_value(var)?,
        };
        if inside > 0 {
            walk::raise_levels(&mut value, inside, 0);
        }
        *e = value;
        Ok(false)
    }

    /// What NEW's column is, or (0) its row.
    fn new_value(&self, var: &Var) -> SqlResult<Expr> {
        match var.attno {
            0 => {
                let columns = self.table.columns.iter().enumerate();
                let args = columns.map(|(i, _)| self.column(i as i16 + 1)).collect::<SqlResult<_>>()?;
                Ok(row_of(self.table, args))
            }
            1.. => self.column(var.attno),
            _ if self.query.command == Command::Update => {
                Ok(Expr::Var(Var { rte: self.rte, levels_up: 0, ..var.clone() }))
            }
            _ => Ok(crate::expr_transform::typed_null(var.type_oid, var.typmod, var.collation)),
        }
    }

    fn column(&self, attno: i16) -> SqlResult<Expr> {
        let column = &self.table.columns[attno as usize - 1];
        if column.dropped {
            return Ok(null_of(self.table, attno));
        }
        if let (true, Some(text)) = (column.generated != Generated::None, &column.default) {
            return self.generated(text);
        }
        let given = self.query.targets.iter().find(|target| !target.junk && target.resno == attno);
        let Some(given) = given else { return Ok(self.not_given(attno)) };
        let is_multiple = |e: &Expr, _| matches!(e, Expr::Param(p) if p.kind == ParamKind::MultiExpr);
        if walk::contains(&given.expr, is_multiple) {
            return Err(sql_err!(
                FEATURE_NOT_SUPPORTED,
                "NEW variables in ON UPDATE rules cannot reference columns that are part of a multiple assignment in the subject UPDATE command"
            ));
        }
        Ok(given.expr.clone())
    }

    /// A column that the statement says nothing of: it stays, or is null.
    fn not_given(&self, attno: i16) -> Expr {
        let column = &self.table.columns[attno as usize - 1];
        match self.query.command {
            Command::Update => Expr::Var(Var {
                rte: self.rte,
                attno,
                type_oid: column.type_oid,
                typmod: column.typmod,
                collation: column.collation,
                levels_up: 0,
                version: RowVersion::Default,
                location: Location::NONE,
            }),
            _ => null_of(self.table, attno),
        }
    }

    /// A column that is computed from others of the new row.
    fn generated(&self, text: &str) -> SqlResult<Expr> {
        let mut expr = crate::stored::load_expr(text, self.catalog)?;
        walk::visit_mut(&mut expr, 0, &mut |e, depth| {
            let Expr::Var(used) = e else { return Ok::<_, SqlError>(true) };
            let mut value = self.new_value(used)?;
            walk::raise_levels(&mut value, depth, 0);
            *e = value;
            Ok(false)
        })?;
        Ok(expr)
    }

    /// Gives the action the statement's RETURNING, over the rows of its own.
    fn returning(&self, action: &mut Query, returns: &mut bool) -> SqlResult<()> {
        if self.query.returning.is_empty() {
            action.returning.clear();
        }
        if action.returning.is_empty() {
            return Ok(());
        }
        if std::mem::replace(returns, true) {
            return Err(sql_err!(FEATURE_NOT_SUPPORTED, "cannot have RETURNING lists in multiple rules"));
        }
        let given: Vec<Expr> = action.returning.iter().map(|target| target.expr.clone()).collect();
        let mut wanted = self.query.returning.clone();
        for target in &mut wanted {
            walk::visit_mut(&mut target.expr, 0, &mut |e, depth| {
                let Expr::Var(var) = e else { return Ok::<_, SqlError>(true) };
                if (var.rte, var.levels_up) != (self.rte, depth) {
                    return Ok(true);
                }
                let mut value = self.returned(var, &given, action.target)?;
                walk::raise_levels(&mut value, depth, 0);
                *e = value;
                Ok(false)
            })?;
        }
        action.returning = wanted;
        action.row_names.clone_from(&self.query.row_names);
        Ok(())
    }

    /// What stands for a column of the statement's target, or (0) its row, in RETURNING.
    fn returned(&self, var: &Var, given: &[Expr], target: Option<usize>) -> SqlResult<Expr> {
        let mut value = match usize::try_from(var.attno) {
            Ok(0) => row_of(self.table, given.to_vec()),
            Ok(attno) if attno <= given.len() => given[attno - 1].clone(),
            _ => {
                let number = var.attno;
                return Err(SqlError::internal(format!(
                    "could not find replacement targetlist entry for attno {number}"
                )));
            }
        };
        if var.version == RowVersion::Default {
            return Ok(value);
        }
        let Some(target) = target else { return Ok(value) };
        let Ok(()) = walk::visit_mut::<Infallible>(&mut value, 0, &mut |e, depth| {
            if let Expr::Var(v) = e
                && (v.rte, v.levels_up) == (target, depth)
            {
                v.version = var.version;
            }
            Ok(true)
        });
        Ok(match value {
            Expr::Var(_) => value,
            _ => {
                crate::computed::if_there(value, &Var { rte: target, attno: 0, levels_up: 0, ..var.clone() })
            }
        })
    }
}

/// A row of a relation.
fn row_of(table: &Table, args: Vec<Expr>) -> Expr {
    Expr::Row(Box::new(RowExpr {
        args,
        row_type: table.row_type,
        names: table.columns.iter().map(|column| column.name.clone()).collect(),
        form: CoercionForm::ImplicitCast,
        location: Location::NONE,
    }))
}

/// The query of an action that the rows are joined to.
fn body(action: &mut Query, source: Option<usize>) -> &mut Query {
    match source {
        None => action,
        Some(rte) => match &mut action.range_table[rte].kind {
            RteKind::Subquery(sub) => &mut sub.query,
            _ => unreachable!("the source of an INSERT with SELECT is a subquery"),
        },
    }
}

fn and_all(query: &mut Query, condition: Expr) -> SqlResult<()> {
    if query.set_operation.is_some() {
        return Err(conditional_set_operation());
    }
    and(&mut query.join_tree.filter, condition);
    Ok(())
}

fn and(filter: &mut Option<Expr>, condition: Expr) {
    *filter = Some(match filter.take() {
        None => condition,
        Some(first) => {
            let args = vec![first, condition];
            Expr::Bool(Box::new(BoolExpr { op: BoolOp::And, args, location: Location::NONE }))
        }
    });
}

fn has_sublinks(expr: &Expr) -> bool {
    walk::contains(expr, |e, _| matches!(e, Expr::SubLink(_)))
}

fn is_cursor(expr: &Expr) -> bool {
    matches!(expr, Expr::CurrentOf(_))
}

/// Marks those of the first entries that name columns of the statement's now: users need not write LATERAL there.
fn note_lateral(query: &mut Query, own: usize) {
    let is_outside = |e: &Expr, depth: u32| matches!(e, Expr::Var(v) if v.rte >= own && v.levels_up == depth);
    for entry in &mut query.range_table[..own] {
        entry.lateral |= match &entry.kind {
            RteKind::Subquery(sub) => walk::visit_query(&sub.query, 1, &mut |e, depth| {
                if is_outside(e, depth) { Err(()) } else { Ok(true) }
            })
            .is_err(),
            RteKind::Function(f) => f.functions.iter().any(|f| walk::contains(&f.call, is_outside)),
            RteKind::Values(v) => v.rows.iter().flatten().any(|e| walk::contains(e, is_outside)),
            _ => false,
        };
    }
}

/// Adds to all range table indexes of a change, for a range table that others stand in front of.
fn move_entries(query: &mut Query, by: usize) {
    let Ok(()) = walk::visit_query_mut::<Infallible>(query, 0, &mut |e, depth| {
        match e {
            Expr::Var(v) if v.levels_up == depth => v.rte += by,
            Expr::CurrentOf(c) if depth == 0 => c.rte += by,
            _ => {}
        }
        Ok(true)
    });
    query.join_tree.items.iter_mut().for_each(|item| move_node(item, by));
    query.target.iter_mut().for_each(|rte| *rte += by);
    query.row_marks.iter_mut().for_each(|mark| mark.rte += by);
    if let Some(update) = query.on_conflict.as_mut().and_then(|conflict| conflict.update.as_mut()) {
        update.excluded_rte += by;
    }
}

fn move_node(node: &mut FromNode, by: usize) {
    match node {
        FromNode::Entry(rte) => *rte += by,
        FromNode::Join(join) => {
            join.rte += by;
            move_node(&mut join.left, by);
            move_node(&mut join.right, by);
        }
    }
}
