//! Views as targets of INSERT, UPDATE, DELETE and MERGE.
//!
//! What: a view that selects plain columns of one table (or of another such view) can be written to. `through_view`
//! turns a statement on a view into one on the relation below: columns of the view become what they stand for, its WHERE
//! joins the statement's own or, of a security barrier, comes before it ([`Relation::barriers`]), WITH CHECK OPTION is noted in [`Query::view_checks`]. [`relation_events`] and [`column_is_updatable`] answer
//! what can be done, for catalogs' functions.
//!
//! Invariants:
//! 1. The view's own entry stays in the range table, outside the join tree: privileges on it are the user's to have. The table's entry is
//!    checked as the view's owner.
//! 2. Defaults of the outermost view that has one win; the table's own fill the rest.
//!
//! PostgreSQL counterpart: `rewriteTargetView` and its neighbours in `rewriteHandler.c`.

use std::convert::Infallible;
use std::sync::Arc;

use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::view::{CatalogView, RelationKind, Table};
use catalog::{RuleEvent, TriggerKind};

use crate::core::Analyzer;
use crate::expr::{BoolExpr, BoolOp, CoercionForm, Expr, Location, RowExpr, RowVersion, TargetEntry, Var};
use crate::query::{Access, Command, FromNode, Query, Relation, RteKind, ViewCheck};
use crate::rewrite::{check_updatable, null_of};
use crate::walk;

/// Bits of [`relation_events`].
pub mod events {
    /// UPDATE
    pub const UPDATE: u32 = 1 << 2;
    /// INSERT
    pub const INSERT: u32 = 1 << 3;
    /// DELETE
    pub const DELETE: u32 = 1 << 4;
    /// All of them.
    pub const ALL: u32 = UPDATE | INSERT | DELETE;
}

/// Why nothing can be written through a view with this query; `None` if it can. With `writes`, some column must be writable.
pub fn view_problem(query: &Query, writes: bool) -> Option<&'static str> {
    if let Some(problem) = shape_problem(query) {
        return Some(problem);
    }
    let columns = query.targets.iter().filter(|t| !t.junk);
    if writes && !columns.into_iter().any(|t| base_column(query, t).is_ok()) {
        return Some("Views that have no updatable columns are not automatically updatable.");
    }
    None
}

/// As [`view_problem`], of a view with its columns written to.
pub fn problem_of(view: &Table, catalog: &dyn CatalogView) -> SqlResult<Option<&'static str>> {
    Ok(view_problem(&crate::views::expand(view, catalog)?, true))
}

fn shape_problem(query: &Query) -> Option<&'static str> {
    let problems = [
        (!query.distinct.is_empty(), "Views containing DISTINCT are not automatically updatable."),
        (
            !query.group_by.is_empty() || !query.grouping_sets.is_empty(),
            "Views containing GROUP BY are not automatically updatable.",
        ),
        (query.having.is_some(), "Views containing HAVING are not automatically updatable."),
        (
            query.set_operation.is_some(),
            "Views containing UNION, INTERSECT, or EXCEPT are not automatically updatable.",
        ),
        (!query.ctes.is_empty(), "Views containing WITH are not automatically updatable."),
        (
            query.limit.is_some() || query.offset.is_some(),
            "Views containing LIMIT or OFFSET are not automatically updatable.",
        ),
        (query.has_aggregates, "Views that return aggregate functions are not automatically updatable."),
        (query.has_windows, "Views that return window functions are not automatically updatable."),
        (query.has_target_srfs, "Views that return set-returning functions are not automatically updatable."),
    ];
    if let Some((_, problem)) = problems.into_iter().find(|(found, _)| *found) {
        return Some(problem);
    }
    const SINGLE: &str =
        "Views that do not select from a single table or view are not automatically updatable.";
    let Some(base) = base_entry(query) else { return Some(SINGLE) };
    match &query.range_table[base].kind {
        RteKind::Relation(r) if r.sample.is_some() => {
            Some("Views containing TABLESAMPLE are not automatically updatable.")
        }
        RteKind::Relation(r) => match r.table.kind {
            RelationKind::Table | RelationKind::PartitionedTable | RelationKind::ForeignTable => None,
            _ => Some(SINGLE),
        },
        RteKind::Subquery(s) if s.view.is_valid() => None,
        _ => Some(SINGLE),
    }
}

/// The one entry that a view selects from.
fn base_entry(query: &Query) -> Option<usize> {
    match query.join_tree.items.as_slice() {
        [FromNode::Entry(rte)] => Some(*rte),
        _ => None,
    }
}

/// The column below that a view's column is, or why it cannot be written to.
fn base_column(query: &Query, column: &TargetEntry) -> Result<i16, &'static str> {
    match &column.expr {
        Expr::Var(v) if Some(v.rte) == base_entry(query) && v.levels_up == 0 => match v.attno {
            0 => Err("View columns that return whole-row references are not updatable."),
            attno if attno < 0 => Err("View columns that refer to system columns are not updatable."),
            attno => Ok(attno),
        },
        _ => Err("View columns that are not columns of their base relation are not updatable."),
    }
}

/// The relation that a view selects from.
fn base_relation(query: &Query, catalog: &dyn CatalogView) -> SqlResult<Arc<Table>> {
    let missing = || SqlError::internal("the relation below a view does not exist");
    match base_entry(query).map(|base| &query.range_table[base].kind) {
        Some(RteKind::Relation(r)) => Ok(r.table.clone()),
        Some(RteKind::Subquery(s)) => catalog.relation_by_oid(s.view)?.ok_or_else(missing),
        _ => Err(missing()),
    }
}

/// What can be done with a relation's rows, by rules too, as bits of [`events`]; `triggers`: also what INSTEAD OF triggers do.
pub fn relation_events(table: &Table, triggers: bool, catalog: &dyn CatalogView) -> SqlResult<u32> {
    events_of(table, catalog, (None, triggers))
}

/// Whether a column can be written to by UPDATE, directly or through views; `triggers`: or through INSTEAD OF triggers.
pub fn column_is_updatable(
    table: &Table,
    attno: i16,
    triggers: bool,
    catalog: &dyn CatalogView,
) -> SqlResult<bool> {
    const NEEDED: u32 = events::UPDATE | events::DELETE;
    Ok(attno > 0 && events_of(table, catalog, (Some(&[attno]), triggers))? & NEEDED == NEEDED)
}

/// What INSTEAD OF triggers of a view do.
fn instead_events(view: &Table) -> u32 {
    let event = |(kind, event): (i16, u32)| {
        let wanted = TriggerKind::ROW | TriggerKind::INSTEAD | kind;
        if view.triggers.iter().any(|trigger| trigger.kind.has(wanted)) { event } else { 0 }
    };
    let kinds = [
        (TriggerKind::INSERT, events::INSERT),
        (TriggerKind::UPDATE, events::UPDATE),
        (TriggerKind::DELETE, events::DELETE),
    ];
    kinds.map(event).iter().fold(0, |all, event| all | event)
}

/// What rules of a relation do in every case.
fn rule_events(table: &Table) -> u32 {
    let always = table.rules.iter().filter(|rule| rule.instead && rule.condition.is_none());
    let event = |event| match event {
        RuleEvent::Update => events::UPDATE,
        RuleEvent::Insert => events::INSERT,
        RuleEvent::Delete => events::DELETE,
    };
    always.fold(0, |all, rule| all | event(rule.event))
}

fn events_of(
    table: &Table,
    catalog: &dyn CatalogView,
    (columns, triggers): (Option<&[i16]>, bool),
) -> SqlResult<u32> {
    match table.kind {
        RelationKind::Table | RelationKind::PartitionedTable => return Ok(events::ALL),
        RelationKind::View => {}
        _ => return Ok(0),
    }
    let by_others = rule_events(table) | if triggers { instead_events(table) } else { 0 };
    let query = crate::views::expand(table, catalog)?;
    if by_others == events::ALL || view_problem(&query, false).is_some() {
        return Ok(by_others);
    }
    let given: Vec<&TargetEntry> = query.targets.iter().filter(|t| !t.junk).collect();
    let wanted = |i: usize| columns.is_none_or(|list| list.contains(&(i as i16 + 1)));
    let below: Vec<i16> = given
        .iter()
        .enumerate()
        .filter(|(i, _)| wanted(*i))
        .filter_map(|(_, t)| base_column(&query, t).ok())
        .collect();
    let own = if below.is_empty() { events::DELETE } else { events::ALL };
    let base = base_relation(&query, catalog)?;
    if base.kind != RelationKind::View {
        return Ok(by_others | own);
    }
    Ok(by_others | own & events_of(&base, catalog, (Some(&below), triggers))?)
}

/// A cursor stands on no row of a view.
pub(crate) fn refuse_current_of(query: &Query) -> SqlResult<()> {
    match query.join_tree.filter {
        Some(Expr::CurrentOf(_)) => {
            Err(sql_err!(FEATURE_NOT_SUPPORTED, "WHERE CURRENT OF on a view is not implemented"))
        }
        _ => Ok(()),
    }
}

impl Analyzer<'_> {
    /// Puts the relation below in place of a view that a statement changes.
    pub(crate) fn through_view(&mut self, query: &mut Query, old: usize, view: &Table) -> SqlResult<()> {
        let below = crate::views::expand(view, self.catalog)?;
        let actions = query.merge_actions.iter().map(|a| a.command);
        let writes = matches!(query.command, Command::Insert | Command::Update)
            || actions.into_iter().any(|c| matches!(c, Command::Insert | Command::Update));
        if let Some(problem) = view_problem(&below, writes) {
            return Err(not_updatable(view, query, problem));
        }
        refuse_current_of(query)?;
        let base = base_relation(&below, self.catalog)?;
        let columns = Columns::new(view, &below);
        self.written_columns(query, view, &columns)?;
        let new = add_base(query, old, &below, &base, &columns, 3);
        let mut stands = Substitute { view, below: &below, old, new };
        stands.apply(query);
        query.target = Some(new);
        let above = std::mem::take(barriers_of(query, old));
        *barriers_of(query, new) = above;
        query.has_sublinks |= below.has_sublinks;
        self.map_targets(query, &base, &columns)?;
        if let Some(excluded) =
            query.on_conflict.as_ref().and_then(|c| c.update.as_ref()).map(|u| u.excluded_rte)
        {
            let rte = add_base(query, excluded, &below, &base, &columns, 3);
            query.range_table[rte].access = None;
            stands = Substitute { view, below: &below, old: excluded, new: rte };
            stands.apply(query);
            if let Some(update) = query.on_conflict.as_mut().and_then(|c| c.update.as_mut()) {
                update.excluded_rte = rte;
            }
        }
        for node in &mut query.join_tree.items {
            replace_entry(node, old, new);
        }
        let condition = below.join_tree.filter.clone().map(|mut e| {
            move_base(&mut e, &below, new);
            e
        });
        if writes || query.on_conflict.as_ref().is_some_and(|c| c.update.is_some()) {
            note_check(query, view, condition.clone());
        }
        if let (Some(condition), true) = (condition, query.command != Command::Insert) {
            if view.bool_option("security_barrier") {
                barriers_of(query, new).insert(0, condition);
            } else {
                let filter = &mut query.join_tree.filter;
                *filter = Some(match filter.take() {
                    None => condition,
                    Some(own) => conjunction(own, condition),
                });
            }
        }
        Ok(())
    }

    /// Checks that the columns written to can be.
    fn written_columns(&self, query: &Query, view: &Table, columns: &Columns) -> SqlResult<()> {
        let conflict = query.on_conflict.iter().filter_map(|c| c.update.as_ref()).flat_map(|u| &u.targets);
        let merged = query.merge_actions.iter().flat_map(|a| &a.targets);
        let verb = match query.command {
            Command::Insert => "insert into",
            Command::Update => "update",
            _ => "merge into",
        };
        for target in query.targets.iter().chain(conflict).chain(merged).filter(|t| !t.junk) {
            if let Err(why) = columns.below(target.resno) {
                let name = &view.columns[target.resno as usize - 1].name;
                return Err(sql_err!(
                    FEATURE_NOT_SUPPORTED,
                    "cannot {verb} column \"{name}\" of view \"{}\"",
                    view.name
                )
                .detail(why));
            }
        }
        Ok(())
    }

    /// Target lists in terms of the relation below, with its defaults in what is inserted.
    fn map_targets(&mut self, query: &mut Query, base: &Arc<Table>, columns: &Columns) -> SqlResult<()> {
        let mut targets = std::mem::take(&mut query.targets);
        match query.command {
            Command::Insert => {
                rename_targets(&mut targets, base, columns)?;
                targets = self.complete_row(base, targets, query.overriding, &mut query.range_table)?;
            }
            Command::Update => {
                rename_targets(&mut targets, base, columns)?;
                check_assignments(&targets, base)?;
            }
            _ => {}
        }
        query.targets = targets;
        if let Some(update) = query.on_conflict.as_mut().and_then(|c| c.update.as_mut()) {
            rename_targets(&mut update.targets, base, columns)?;
            check_assignments(&update.targets, base)?;
        }
        let mut actions = std::mem::take(&mut query.merge_actions);
        for action in &mut actions {
            rename_targets(&mut action.targets, base, columns)?;
            match action.command {
                Command::Insert => {
                    let given = std::mem::take(&mut action.targets);
                    let rows = &mut query.range_table;
                    action.targets = self.complete_row(base, given, action.overriding, rows)?;
                }
                Command::Update => check_assignments(&action.targets, base)?,
                _ => {}
            }
        }
        query.merge_actions = actions;
        Ok(())
    }
}

/// What a view's columns are below.
struct Columns(Vec<Result<i16, &'static str>>);

impl Columns {
    fn new(view: &Table, below: &Query) -> Columns {
        let given = below.targets.iter().filter(|t| !t.junk).take(view.columns.len());
        Columns(given.map(|t| base_column(below, t)).collect())
    }

    fn below(&self, attno: i16) -> Result<i16, &'static str> {
        let at = usize::try_from(attno - 1).ok().and_then(|i| self.0.get(i));
        at.copied()
            .unwrap_or(Err("View columns that are not columns of their base relation are not updatable."))
    }
}

/// The error that a view cannot be changed, with the reason.
pub(crate) fn not_updatable(view: &Table, query: &Query, problem: &str) -> SqlError {
    let merge = query.command == Command::Merge;
    let acts = |c: &Command| matches!(c, Command::Insert | Command::Update | Command::Delete);
    let command = match merge {
        true => query.merge_actions.iter().map(|a| a.command).find(acts).unwrap_or(Command::Update),
        false => query.command,
    };
    let (verb, doing, event) = match command {
        Command::Insert => ("insert into", "inserting into", "INSERT"),
        Command::Delete => ("delete from", "deleting from", "DELETE"),
        _ => ("update", "updating", "UPDATE"),
    };
    let hint = match merge {
        true => format!("To enable {doing} the view using MERGE, provide an INSTEAD OF {event} trigger."),
        false => format!(
            "To enable {doing} the view, provide an INSTEAD OF {event} trigger or an unconditional ON {event} DO INSTEAD rule."
        ),
    };
    sql_err!(OBJECT_NOT_IN_PREREQUISITE_STATE, "cannot {verb} view \"{}\"", view.name)
        .detail(problem.to_owned())
        .hint(hint)
}

/// Adds the relation below a view to the range table, with the privileges that the statement needs on it.
fn add_base(
    query: &mut Query,
    old: usize,
    below: &Query,
    base: &Arc<Table>,
    columns: &Columns,
    lock: u8,
) -> usize {
    let at = base_entry(below).unwrap_or(0);
    let mut entry = below.range_table[at].clone();
    let inherit = match &entry.kind {
        RteKind::Relation(r) => r.inherit,
        _ => true,
    };
    let (oid, table, lock_mode) = (base.oid, base.clone(), lock);
    let relation = Relation { oid, table, lock_mode, inherit, sample: None, barriers: Vec::new() };
    entry.kind = RteKind::Relation(relation);
    entry.in_from = query.range_table[old].in_from;
    let asked = query.range_table[old].access.clone().unwrap_or_default();
    let mapped = |list: &[i16]| -> Vec<i16> {
        let mut out: Vec<i16> = list.iter().filter_map(|a| columns.below(*a).ok()).collect();
        out.sort_unstable();
        out.dedup();
        out
    };
    entry.access = Some(Access {
        required: asked.required,
        inserted: mapped(&asked.inserted),
        updated: mapped(&asked.updated),
        ..entry.access.unwrap_or_default()
    });
    query.range_table[old].in_from = false;
    query.range_table.push(entry);
    query.range_table.len() - 1
}

pub(crate) fn replace_entry(node: &mut FromNode, old: usize, new: usize) {
    match node {
        FromNode::Entry(rte) if *rte == old => *rte = new,
        FromNode::Entry(_) => {}
        FromNode::Join(join) => {
            replace_entry(&mut join.left, old, new);
            replace_entry(&mut join.right, old, new);
        }
    }
}

/// Gives target entries the numbers and names of the columns below.
fn rename_targets(targets: &mut [TargetEntry], base: &Table, columns: &Columns) -> SqlResult<()> {
    let mut taken = Vec::new();
    for t in targets.iter_mut().filter(|t| !t.junk) {
        let Ok(attno) = columns.below(t.resno) else { continue };
        let name = &base.columns[attno as usize - 1].name;
        if taken.contains(&attno) {
            return Err(sql_err!(SYNTAX_ERROR, "multiple assignments to same column \"{name}\""));
        }
        taken.push(attno);
        t.resno = attno;
        t.name = Some(name.clone());
    }
    Ok(())
}

fn check_assignments(targets: &[TargetEntry], base: &Table) -> SqlResult<()> {
    targets.iter().filter(|t| !t.junk).try_for_each(|t| check_updatable(&base.columns[t.resno as usize - 1]))
}

/// Records the WITH CHECK OPTION of a view, its own or one that applies because of a view above.
fn note_check(query: &mut Query, view: &Table, condition: Option<Expr>) {
    let own = view.option("check_option").map(|value| value == "cascaded");
    let handed = query.view_checks.first().is_some_and(|c| c.cascaded);
    let cascaded = handed || own == Some(true);
    if (own.is_some() || handed) && (cascaded || condition.is_some()) {
        query.view_checks.insert(0, ViewCheck { view: view.name.clone(), condition, cascaded });
    }
}

/// The conditions of barriers on an entry that is a relation.
fn barriers_of(query: &mut Query, rte: usize) -> &mut Vec<Expr> {
    match &mut query.range_table[rte].kind {
        RteKind::Relation(relation) => &mut relation.barriers,
        _ => unreachable!("the target of a change is a relation"),
    }
}

fn conjunction(first: Expr, second: Expr) -> Expr {
    let args = vec![first, second];
    Expr::Bool(Box::new(BoolExpr { op: BoolOp::And, args, location: Location::NONE }))
}

/// Turns columns of a view's base entry into those of entry `rte`.
fn move_base(e: &mut Expr, below: &Query, rte: usize) {
    let base = base_entry(below);
    let _ = walk::visit_mut::<Infallible>(e, 0, &mut |e, depth| {
        if let Expr::Var(v) = e
            && v.levels_up == depth
            && Some(v.rte) == base
        {
            v.rte = rte;
        }
        Ok(true)
    });
}

/// Puts what a view's columns stand for in their places.
struct Substitute<'v> {
    view: &'v Table,
    below: &'v Query,
    old: usize,
    new: usize,
}

impl Substitute<'_> {
    fn apply(&self, query: &mut Query) {
        let _ = walk::visit_query_mut::<Infallible>(query, 0, &mut |e, depth| Ok(self.replace(e, depth)));
    }

    /// Replaces a column of the view; whether to look below.
    fn replace(&self, e: &mut Expr, depth: u32) -> bool {
        let Expr::Var(v) = e else { return true };
        if v.rte != self.old || v.levels_up != depth {
            return true;
        }
        let mut made = match v.attno {
            0 => self.row(v.version),
            attno if attno < 0 => Expr::Var(Var { rte: self.new, levels_up: 0, ..v.clone() }),
            attno => self.column(attno, v.version),
        };
        if depth > 0 {
            walk::raise_levels(&mut made, depth, 0);
        }
        *e = made;
        false
    }

    fn column(&self, attno: i16, version: RowVersion) -> Expr {
        let column = self.below.targets.iter().filter(|t| !t.junk).nth(attno as usize - 1);
        let Some(column) = column else { return null_of(self.view, attno) };
        let mut e = column.expr.clone();
        move_base(&mut e, self.below, self.new);
        if version == RowVersion::Default {
            return e;
        }
        let _ = walk::visit_mut::<Infallible>(&mut e, 0, &mut |e, depth| {
            if let Expr::Var(v) = e
                && (v.rte, v.levels_up) == (self.new, depth)
            {
                v.version = version;
            }
            Ok(true)
        });
        match e {
            Expr::Var(_) => e,
            _ => self.if_there(e, version),
        }
    }

    /// A row of the view.
    fn row(&self, version: RowVersion) -> Expr {
        let columns = &self.view.columns;
        let args = (1..=columns.len() as i16).map(|attno| self.column(attno, version)).collect();
        let row = Expr::Row(Box::new(RowExpr {
            args,
            row_type: self.view.row_type,
            names: columns.iter().map(|c| c.name.clone()).collect(),
            form: CoercionForm::ImplicitCast,
            location: Location::NONE,
        }));
        match version {
            RowVersion::Default => row,
            _ => self.if_there(row, version),
        }
    }

    /// An expression over OLD or NEW; null where there is no such row.
    fn if_there(&self, e: Expr, version: RowVersion) -> Expr {
        crate::computed::if_there(
            e,
            &Var {
                rte: self.new,
                attno: 0,
                type_oid: Oid::INVALID,
                typmod: -1,
                collation: Oid::INVALID,
                levels_up: 0,
                version,
                location: Location::NONE,
            },
        )
    }
}
