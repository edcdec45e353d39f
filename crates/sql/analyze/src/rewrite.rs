//! From a statement as it was written to the queries that are planned: what is left open is filled in, rules are applied, views are gone through.
//!
//! What: analysis gives changes as they were written. [`load`] and the analyzer's `rewrite_statement` make of that what can be
//! planned, by the definitions of now: a function's body that is stored as written follows new defaults, rules and views. Where a target has no
//! rules, one query becomes one. Rules make a list of it: [`ByRules`].
//!
//! For INSERT, the actions of rules come behind the statement, for others in front of it: they would not find the rows any more. The
//! actions are statements with rules and views of their own.
//!
//! Invariants:
//! 1. A query is rewritten once; what it holds then is what [`crate::query`] promises.
//! 2. Columns that only the server may fill are looked at here, after all types have been.
//! 3. Of the queries of a list one tells what the statement did, and returns its rows.
//!
//! PostgreSQL counterpart: `rewriteHandler.c`.

use std::sync::Arc;

use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::rule::{Rule, RuleEvent};
use catalog::view::{CatalogView, Column, Generated, Identity, RelationKind, Table};

use crate::core::Analyzer;
use crate::expr::{Expr, TargetEntry};
use crate::query::{Command, FromExpr, Overriding, Query, RangeTableEntry, RteKind, Values};
use crate::rule::RuleAction;
use crate::rule_action::Subject;
use crate::{Analyzed, ParamTypes};

/// What rules made of a statement, beside the query that tells what it did.
#[derive(Clone, Debug, PartialEq)]
pub struct ByRules {
    /// What the statement was.
    pub command: Command,
    /// No query tells what it did: [`Analyzed::query`] is a stand-in that does nothing.
    pub replaced: bool,
    /// What is done before that query.
    pub before: Vec<RuleAction>,
    /// What is done after it.
    pub after: Vec<RuleAction>,
    /// The rules that stand in the way where there can be one query only.
    obstacle: Option<&'static str>,
}

/// An obstacle: what rules have put in a query's place is no query.
pub const NOTIFY: &str = "DO INSTEAD NOTIFY rules";

impl Analyzed {
    /// The statement as one query, whose rows are wanted; the kind of rules that have made something else of it.
    pub fn as_one(self) -> Result<Analyzed, &'static str> {
        let Analyzed { query, params, rules } = self;
        let Some(rules) = rules else { return Ok(Analyzed { query, params, rules: None }) };
        let query = match (rules.obstacle, rules.before.into_iter().next()) {
            (Some(obstacle), _) => return Err(obstacle),
            (None, Some(RuleAction::Query(other))) if rules.replaced => *other,
            _ => query,
        };
        Ok(Analyzed { query, params, rules: None })
    }
}

/// Where a query of the list comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Statement,
    Also,
    Instead,
    ConditionalInstead,
}

/// A query of the list.
struct Product {
    action: RuleAction,
    origin: Origin,
}

/// What the rules of a target say of a statement.
#[derive(Default)]
struct Fired {
    products: Vec<Product>,
    /// The statement is not done.
    instead: bool,
    /// What remains of it, where rules do something else in some cases.
    rest: Option<Query>,
    /// An action returns what the statement is to return.
    returns: bool,
}

/// A statement of a function's body, as [`crate::stored::store_query`] wrote what [`crate::analyze_body`] made of it, for planning.
pub fn load(
    text: &str,
    params: Vec<Oid>,
    catalog: &dyn CatalogView,
    call: &types::Call<'_>,
) -> SqlResult<Analyzed> {
    let mut query = crate::stored::load_query(text, catalog)?;
    crate::views::refresh(&mut query, catalog)?;
    let rules = Analyzer::new("", ParamTypes::None, catalog, call).rewrite_statement(&mut query)?;
    Ok(Analyzed { query, params, rules })
}

impl Analyzer<'_> {
    /// Rewrites a statement, and gives what is to be done beside it.
    pub(crate) fn rewrite_statement(&mut self, query: &mut Query) -> SqlResult<Option<Box<ByRules>>> {
        let command = query.command;
        let Some(mut list) = self.rewrite(query)? else { return Ok(None) };
        let told = list.iter().position(|product| product.origin == Origin::Statement).or_else(|| {
            list.iter().rposition(|product| {
                matches!(product.origin, Origin::Instead | Origin::ConditionalInstead)
                    && matches!(&product.action, RuleAction::Query(query) if query.command == command)
            })
        });
        let obstacle = obstacle(&list);
        let actions = |list: Vec<Product>| list.into_iter().map(|product| product.action).collect();
        let (after, replaced) = match told {
            None => (Vec::new(), true),
            Some(at) => (list.split_off(at + 1), false),
        };
        *query = match told.and_then(|_| list.pop()).map(|product| product.action) {
            Some(RuleAction::Query(query)) => *query,
            _ => nothing(),
        };
        Ok(Some(Box::new(ByRules {
            command,
            replaced,
            before: actions(list),
            after: actions(after),
            obstacle,
        })))
    }

    /// Rewrites a query and those of its WITH; what becomes of it, if rules make anything else of it.
    fn rewrite(&mut self, query: &mut Query) -> SqlResult<Option<Vec<Product>>> {
        self.rewrite_ctes(query)?;
        self.complete_change(query)?;
        self.apply_rules(query, Origin::Statement, &mut Vec::new())
    }

    fn rewrite_ctes(&mut self, query: &mut Query) -> SqlResult<()> {
        for cte in &mut query.ctes {
            if let Some(list) = self.rewrite(&mut cte.query)? {
                cte.query = only_query(list)?;
            }
        }
        Ok(())
    }

    /// Fills in what a change leaves open.
    fn complete_change(&mut self, query: &mut Query) -> SqlResult<()> {
        let Some((_, table)) = target(query) else { return Ok(()) };
        let targets = std::mem::take(&mut query.targets);
        let what = (query.command, query.overriding);
        query.targets = self.complete(&table, targets, what, &mut query.range_table)?;
        if let Some(update) = query.on_conflict.as_mut().and_then(|c| c.update.as_mut()) {
            update.targets = self.complete_assignments(&table, std::mem::take(&mut update.targets))?;
        }
        for action in &mut query.merge_actions {
            let targets = std::mem::take(&mut action.targets);
            let what = (action.command, action.overriding);
            action.targets = self.complete(&table, targets, what, &mut query.range_table)?;
        }
        Ok(())
    }

    /// Applies the rules of a query's target, and goes through it if it is a view. `outer`: the relations whose rules or views have led here.
    fn apply_rules(
        &mut self,
        query: &mut Query,
        origin: Origin,
        outer: &mut Vec<(Oid, Command)>,
    ) -> SqlResult<Option<Vec<Product>>> {
        runtime::check_stack()?;
        let Some((rte, table)) = target(query) else { return Ok(None) };
        let is_view = table.kind == RelationKind::View;
        if table.rules.is_empty() && !is_view {
            return Ok(None);
        }
        let fired = self.fire(query, rte, &table)?;
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let inserts = query.command == Command::Insert;
        let beside = if inserts { &mut after } else { &mut before };
        let passes = is_view && !fired.instead && !crate::instead::is_handled(query, &table)?;
        if passes && fired.rest.is_some() {
            const CONDITIONAL: &str =
                "Views with conditional DO INSTEAD rules are not automatically updatable.";
            return Err(crate::updatable::not_updatable(&table, query, CONDITIONAL));
        }
        if (passes || !fired.products.is_empty()) && outer.contains(&(table.oid, query.command)) {
            return Err(crate::views::recursion(&table.name));
        }
        outer.push((table.oid, query.command));
        for Product { action, origin } in fired.products {
            match action {
                RuleAction::Notify(_) => beside.push(Product { action, origin }),
                RuleAction::Query(mut action) => {
                    self.complete_change(&mut action)?;
                    let list = self.apply_rules(&mut action, origin, outer)?;
                    beside.extend(list.unwrap_or_else(|| alone(*action, origin)));
                }
            }
        }
        if !passes {
            check_returning(query, &table, (fired.instead || fired.rest.is_some()) && !fired.returns)?;
            let updates = self.rules_for(&table, RuleEvent::Update).next().is_some();
            if query.on_conflict.is_some() && (!beside.is_empty() || updates) {
                return Err(sql_err!(
                    FEATURE_NOT_SUPPORTED,
                    "INSERT with ON CONFLICT clause cannot be used with table that has INSERT or UPDATE rules"
                ));
            }
        }
        let mut list = before;
        let acted = !list.is_empty() || !after.is_empty() || fired.instead;
        let mut own = None;
        if passes {
            self.through_view(query, rte, &table)?;
            own = self.apply_rules(query, origin, outer)?;
        } else if !fired.instead {
            if let Some(rest) = fired.rest {
                *query = rest;
            }
            self.instead(query, rte, &table)?;
        }
        outer.pop();
        if !acted && own.is_none() {
            return Ok(None);
        }
        if !fired.instead {
            list.extend(own.unwrap_or_else(|| alone(query.clone(), origin)));
        }
        list.append(&mut after);
        check_ctes(query, &list)?;
        Ok(Some(list))
    }

    /// The rules of a table for an event that count now.
    fn rules_for<'t>(
        &self,
        table: &'t Table,
        event: RuleEvent,
    ) -> impl Iterator<Item = &'t Arc<Rule>> + use<'t> {
        let replica = self.catalog.replicates();
        let beyond = self.beyond_rules;
        table.rules.iter().filter(move |rule| !beyond && rule.event == event && rule.is_enabled(replica))
    }

    /// What the rules of a query's target make of it.
    fn fire(&mut self, query: &Query, rte: usize, table: &Arc<Table>) -> SqlResult<Fired> {
        let mut fired = Fired::default();
        let event = match query.command {
            Command::Insert => RuleEvent::Insert,
            Command::Update => RuleEvent::Update,
            Command::Delete => RuleEvent::Delete,
            _ => {
                let events = [RuleEvent::Insert, RuleEvent::Update, RuleEvent::Delete];
                if events.into_iter().all(|event| self.rules_for(table, event).next().is_none()) {
                    return Ok(fired);
                }
                return Err(sql_err!(
                    FEATURE_NOT_SUPPORTED,
                    "cannot execute MERGE on relation \"{}\"",
                    table.name
                )
                .detail("MERGE is not supported for relations with rules."));
            }
        };
        let mut filled = None;
        for rule in self.rules_for(table, event) {
            if table.kind == RelationKind::View {
                crate::updatable::refuse_current_of(query)?;
            }
            let query = filled.get_or_insert_with(|| {
                let mut query = query.clone();
                crate::instead::leave_open_null(&mut query);
                query
            });
            let subject = Subject { query, rte, table, catalog: self.catalog };
            self.fire_rule(rule, &subject, &mut fired)?;
        }
        Ok(fired)
    }

    fn fire_rule(&mut self, rule: &Rule, subject: &Subject<'_>, fired: &mut Fired) -> SqlResult<()> {
        let owner = subject.table.owner;
        let load = |text: &Arc<str>| crate::policy::load(text, Some(owner), self.catalog);
        let condition = rule.condition.as_ref().map(load).transpose()?;
        let condition = condition.and_then(|query| query.join_tree.filter);
        let origin = match (rule.instead, &condition) {
            (false, _) => Origin::Also,
            (true, None) => Origin::Instead,
            (true, Some(_)) => Origin::ConditionalInstead,
        };
        fired.instead |= origin == Origin::Instead;
        if let (Origin::ConditionalInstead, Some(condition), false) = (origin, &condition, fired.instead) {
            let rest = fired.rest.take().unwrap_or_else(|| subject.query.clone());
            fired.rest = Some(subject.except(rest, condition)?);
        }
        for action in crate::stored::load_actions(&rule.actions, self.catalog)? {
            let action = match action {
                RuleAction::Notify(_) => action,
                RuleAction::Query(mut action) => {
                    crate::views::refresh(&mut action, self.catalog)?;
                    crate::views::check_as(&mut action, owner);
                    self.rewrite_ctes(&mut action)?;
                    RuleAction::Query(Box::new(subject.action(
                        *action,
                        condition.as_ref(),
                        &mut fired.returns,
                    )?))
                }
            };
            fired.products.push(Product { action, origin });
        }
        Ok(())
    }

    /// What a query or an action of MERGE writes.
    fn complete(
        &mut self,
        table: &Table,
        given: Vec<TargetEntry>,
        (command, overriding): (Command, Overriding),
        entries: &mut [RangeTableEntry],
    ) -> SqlResult<Vec<TargetEntry>> {
        match command {
            Command::Insert => self.complete_row(table, given, overriding, entries),
            Command::Update => self.complete_assignments(table, given),
            _ => Ok(given),
        }
    }

    /// The row that an INSERT stores: what is given, in the order of the columns, and defaults for the rest.
    pub(crate) fn complete_row(
        &mut self,
        table: &Table,
        given: Vec<TargetEntry>,
        overriding: Overriding,
        entries: &mut [RangeTableEntry],
    ) -> SqlResult<Vec<TargetEntry>> {
        let mut by_column: Vec<Option<Expr>> = vec![None; table.columns.len()];
        for target in given {
            let slot = &mut by_column[target.resno as usize - 1];
            *slot = Some(match slot.take() {
                None => target.expr,
                Some(before) => combine(before, target.expr),
            });
        }
        let mut out = Vec::with_capacity(table.columns.len());
        for (i, given) in by_column.into_iter().enumerate().filter(|(i, _)| !table.columns[*i].dropped) {
            let attno = i as i16 + 1;
            let stored = match given {
                Some(expr) if !matches!(expr, Expr::Default(_)) => {
                    self.given_value(table, attno, expr, overriding, entries)?
                }
                _ => self.filled_in(table, attno)?,
            };
            let name = || Some(table.columns[i].name.clone());
            out.extend(stored.map(|expr| crate::target::entry(expr, attno, name(), false)));
        }
        Ok(out)
    }

    /// What becomes of a value that is given for a column: nothing, if the server computes that.
    fn given_value(
        &mut self,
        table: &Table,
        attno: i16,
        expr: Expr,
        overriding: Overriding,
        entries: &mut [RangeTableEntry],
    ) -> SqlResult<Option<Expr>> {
        let column = &table.columns[attno as usize - 1];
        let own = overriding == Overriding::User && column.identity != Identity::None;
        let written = match rows_of(&expr, entries) {
            Some((values, at)) => self.fill_rows(table, attno, values, (at, own))?,
            None => true,
        };
        if written {
            check_insertable(column, overriding)?;
        }
        match (column.generated, own) {
            (Generated::None, false) => Ok(Some(expr)),
            (Generated::None, true) => self.filled_in(table, attno),
            _ => Ok(None),
        }
    }

    /// Puts the default of a column in place of DEFAULT in rows of VALUES, or of all values if the column is the server's `own`. Whether a
    /// value other than DEFAULT was written.
    fn fill_rows(
        &mut self,
        table: &Table,
        attno: i16,
        values: &mut Values,
        (at, own): (usize, bool),
    ) -> SqlResult<bool> {
        let is_open = |value: &Expr| matches!(value, Expr::Default(_));
        let written = values.rows.iter().any(|row| !is_open(&row[at]));
        // A column that is not given gets the default of the table below the view.
        let default = match self.filled_in(table, attno)? {
            None if table.kind == RelationKind::View => return Ok(written),
            None => null_of(table, attno),
            Some(default) => default,
        };
        for value in values.rows.iter_mut().map(|row| &mut row[at]) {
            if own || is_open(value) {
                value.clone_from(&default);
            }
        }
        Ok(written)
    }

    /// The list of an UPDATE: one entry a column, defaults put in, without columns that the server computes.
    fn complete_assignments(
        &mut self,
        table: &Table,
        given: Vec<TargetEntry>,
    ) -> SqlResult<Vec<TargetEntry>> {
        let mut out: Vec<TargetEntry> = Vec::with_capacity(given.len());
        for target in given {
            match out.iter().position(|t| !target.junk && t.resno == target.resno) {
                None => out.push(target),
                Some(at) if is_partial(&out[at].expr) && is_partial(&target.expr) => {
                    let before = out.remove(at);
                    out.push(TargetEntry { expr: combine(before.expr, target.expr), ..target });
                }
                Some(_) => {
                    let name = &table.columns[target.resno as usize - 1].name;
                    return Err(sql_err!(SYNTAX_ERROR, "multiple assignments to same column \"{name}\""));
                }
            }
        }
        for target in out.iter_mut().filter(|t| !t.junk) {
            if matches!(target.expr, Expr::Default(_)) {
                target.expr =
                    self.filled_in(table, target.resno)?.unwrap_or_else(|| null_of(table, target.resno));
            } else {
                check_updatable(&table.columns[target.resno as usize - 1])?;
            }
        }
        let computed = |t: &TargetEntry| table.columns[t.resno as usize - 1].generated != Generated::None;
        out.retain(|t| t.junk || !computed(t));
        Ok(out)
    }

    /// A column's default, ready to be stored; `None` for null.
    fn filled_in(&mut self, table: &Table, attno: i16) -> SqlResult<Option<Expr>> {
        let mut default = self.column_default(table, attno)?;
        default.iter_mut().try_for_each(|expr| crate::collate::assign(self, expr))?;
        Ok(default)
    }
}

/// The relation that a statement changes, as its target names it, and its entry.
fn target(query: &Query) -> Option<(usize, Arc<Table>)> {
    let rte = query.target?;
    match &query.range_table.get(rte)?.kind {
        RteKind::Relation(r) => Some((rte, r.table.clone())),
        _ => None,
    }
}

fn alone(query: Query, origin: Origin) -> Vec<Product> {
    vec![Product { action: RuleAction::Query(Box::new(query)), origin }]
}

/// A query that gives no rows and does nothing.
fn nothing() -> Query {
    let filter = Some(crate::coerce::bool_const(false));
    Query { join_tree: FromExpr { items: Vec::new(), filter }, ..Query::default() }
}

/// Refuses RETURNING where no rule gives what is to be returned.
fn check_returning(query: &Query, table: &Table, missing: bool) -> SqlResult<()> {
    if query.returning.is_empty() || !missing {
        return Ok(());
    }
    let event = match query.command {
        Command::Insert => "INSERT",
        Command::Update => "UPDATE",
        _ => "DELETE",
    };
    let error =
        sql_err!(FEATURE_NOT_SUPPORTED, "cannot perform {event} RETURNING on relation \"{}\"", table.name);
    Err(error.hint(format!("You need an unconditional ON {event} DO INSTEAD rule with a RETURNING clause.")))
}

/// Each query of the list has the statement's WITH, which would run more than once.
fn check_ctes(query: &Query, list: &[Product]) -> SqlResult<()> {
    let queries = list.iter().filter(|product| matches!(product.action, RuleAction::Query(_)));
    if query.ctes.is_empty() || queries.count() <= 1 {
        return Ok(());
    }
    Err(sql_err!(
        FEATURE_NOT_SUPPORTED,
        "WITH cannot be used in a query that is rewritten by rules into multiple queries"
    ))
}

/// What becomes of a query of WITH: rules may put one query in its place, and no more.
fn only_query(mut list: Vec<Product>) -> SqlResult<Query> {
    if let Some(what) = obstacle(&list) {
        return Err(sql_err!(
            FEATURE_NOT_SUPPORTED,
            "{what} are not supported for data-modifying statements in WITH"
        ));
    }
    match list.pop().map(|product| product.action) {
        Some(RuleAction::Query(query)) => Ok(*query),
        _ => Err(SqlError::internal("rules have left no query")),
    }
}

/// The kind of rules because of which a list is not one query.
fn obstacle(list: &[Product]) -> Option<&'static str> {
    match list {
        [] => Some("DO INSTEAD NOTHING rules"),
        [Product { action: RuleAction::Query(_), .. }] => None,
        [_] => Some(NOTIFY),
        list => list
            .iter()
            .find_map(|product| match product.origin {
                Origin::ConditionalInstead => Some("conditional DO INSTEAD rules"),
                Origin::Also => Some("DO ALSO rules"),
                _ => None,
            })
            .or(Some("multi-statement DO INSTEAD rules")),
    }
}

/// The rows of VALUES that an expression is a column of, and which.
fn rows_of<'e>(expr: &Expr, entries: &'e mut [RangeTableEntry]) -> Option<(&'e mut Values, usize)> {
    let Expr::Var(var) = expr else { return None };
    match &mut entries.get_mut(var.rte)?.kind {
        RteKind::Values(values) => Some((values, usize::try_from(var.attno - 1).ok()?)),
        _ => None,
    }
}

/// Whether a value assigns to a field or an element only.
pub(crate) fn is_partial(expr: &Expr) -> bool {
    match expr {
        Expr::Subscript(s) => s.assign.is_some(),
        Expr::FieldStore(_) => true,
        Expr::ToDomain(d) => is_partial(&d.arg),
        _ => false,
    }
}

/// What an assignment to a part of a column puts there.
pub(crate) fn take_value(e: &mut Expr) -> Expr {
    match e {
        Expr::Subscript(s) if s.assign.is_some() => take_value(s.assign.as_mut().unwrap_or(&mut s.arg)),
        Expr::FieldStore(f) if !f.fields.is_empty() => take_value(&mut f.fields[0].1),
        Expr::ToDomain(d) if is_partial(&d.arg) => take_value(&mut d.arg),
        value => std::mem::replace(value, crate::coerce::bool_const(true)),
    }
}

/// Combines two assignments to parts of one column: the second is applied to the result of the first.
fn combine(before: Expr, mut after: Expr) -> Expr {
    replace_innermost(&mut after, before);
    after
}

fn replace_innermost(e: &mut Expr, with: Expr) {
    match e {
        Expr::Subscript(s) if s.assign.is_some() => replace_innermost(&mut s.arg, with),
        Expr::FieldStore(f) => replace_innermost(&mut f.arg, with),
        Expr::ToDomain(d) if is_partial(&d.arg) => replace_innermost(&mut d.arg, with),
        other => *other = with,
    }
}

/// Refuses a value for a column that only the server may fill.
fn check_insertable(c: &Column, overriding: Overriding) -> SqlResult<()> {
    let cannot =
        || sql_err!(GENERATED_ALWAYS, "cannot insert a non-DEFAULT value into column \"{}\"", c.name);
    if c.generated != Generated::None {
        return Err(cannot().detail(format!("Column \"{}\" is a generated column.", c.name)));
    }
    if c.identity == Identity::Always && overriding == Overriding::None {
        return Err(cannot()
            .detail(format!("Column \"{}\" is an identity column defined as GENERATED ALWAYS.", c.name))
            .hint("Use OVERRIDING SYSTEM VALUE to override."));
    }
    Ok(())
}

/// Refuses to update a column that only the server may fill, but by DEFAULT.
pub(crate) fn check_updatable(c: &Column) -> SqlResult<()> {
    let detail = if c.generated != Generated::None {
        format!("Column \"{}\" is a generated column.", c.name)
    } else if c.identity == Identity::Always {
        format!("Column \"{}\" is an identity column defined as GENERATED ALWAYS.", c.name)
    } else {
        return Ok(());
    };
    let error: SqlError = sql_err!(GENERATED_ALWAYS, "column \"{}\" can only be updated to DEFAULT", c.name);
    Err(error.detail(detail))
}

/// A null of a column's type.
pub(crate) fn null_of(table: &Table, attno: i16) -> Expr {
    let c = &table.columns[attno as usize - 1];
    crate::expr_transform::typed_null(c.type_oid, c.typmod, c.collation)
}
