//! WITH RECURSIVE as written: the order in which its queries are analysed, and where a query may refer to itself.
//!
//! PostgreSQL counterpart: `makeDependencyGraph` and `checkWellFormedRecursion` of `parse_cte.c`.

use base::{SqlError, SqlResult, SqlState, sql_err};
use parse::ast::{
    Cte, Distinct, Expr, FromItem, GroupBy, Indirection, JoinKind, JsonExpr, OpRight, Select, SelectBody,
    SetOp, Statement, With,
};

use crate::core::Analyzer;
use crate::expr::Location;

/// Where a reference stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Context {
    Ok,
    NonRecursiveTerm,
    Subquery,
    OuterJoin,
    Intersect,
    Except,
}

impl Context {
    fn words(self) -> &'static str {
        match self {
            Context::Ok => "",
            Context::NonRecursiveTerm => "its non-recursive term",
            Context::Subquery => "a subquery",
            Context::OuterJoin => "an outer join",
            Context::Intersect => "INTERSECT",
            Context::Except => "EXCEPT",
        }
    }
}

/// Finds references to one name.
struct Finder<'f> {
    name: &'f str,
    /// Inner queries of WITH by the same name are under way.
    hidden: usize,
    context: Context,
    found: Vec<(Context, Location)>,
}

/// Indexes of the queries, each after those it refers to; an error if two refer to each other.
pub(crate) fn order(analyzer: &Analyzer<'_>, ctes: &[Cte]) -> SqlResult<Vec<usize>> {
    let refers =
        |from: usize, to: usize| from != to && !references(&ctes[from].query, &ctes[to].name).is_empty();
    let mut left: Vec<usize> = (0..ctes.len()).collect();
    let mut out = Vec::with_capacity(ctes.len());
    while !left.is_empty() {
        match left.iter().position(|i| !left.iter().any(|j| refers(*i, *j))) {
            Some(at) => out.push(left.remove(at)),
            None => {
                let message = "mutual recursion between WITH items is not implemented";
                let error = SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message);
                return Err(analyzer.at(error, ctes[left[0]].location));
            }
        }
    }
    Ok(out)
}

/// Whether a query of WITH that refers to itself does so as it may.
pub(crate) fn check(analyzer: &Analyzer<'_>, cte: &Cte) -> SqlResult<()> {
    let all = references(&cte.query, &cte.name);
    if all.is_empty() {
        return Ok(());
    }
    let refuse = |message: String, at: Location| {
        Err(analyzer.at(SqlError::new(SqlState::INVALID_RECURSION, message), at))
    };
    let name = &cte.name;
    let Statement::Select(s) = &cte.query else {
        return refuse(
            format!("recursive query \"{name}\" must not contain data-modifying statements"),
            cte.location,
        );
    };
    let SelectBody::SetOp { op: SetOp::Union, left, right, .. } = &s.body else {
        return refuse(
            format!(
                "recursive query \"{name}\" does not have the form non-recursive-term UNION [ALL] recursive-term"
            ),
            cte.location,
        );
    };
    let misplaced = |context: Context, at: Location| {
        refuse(
            format!("recursive reference to query \"{name}\" must not appear within {}", context.words()),
            at,
        )
    };
    let mut finder = Finder { name, hidden: 0, context: Context::Subquery, found: Vec::new() };
    finder.with(s.with.as_ref());
    if let Some((context, at)) = finder.found.first() {
        return misplaced(*context, *at);
    }
    let mut finder = Finder { name, hidden: 0, context: Context::NonRecursiveTerm, found: Vec::new() };
    finder.select(left);
    if let Some((context, at)) = finder.found.first() {
        return misplaced(*context, *at);
    }
    let mut finder = Finder { name, hidden: 0, context: Context::Ok, found: Vec::new() };
    finder.select(right);
    let mut plain = 0;
    for (context, at) in &finder.found {
        if *context != Context::Ok {
            return misplaced(*context, *at);
        }
        plain += 1;
        if plain > 1 {
            return refuse(
                format!("recursive reference to query \"{name}\" must not appear more than once"),
                *at,
            );
        }
    }
    tail(analyzer, s)
}

/// ORDER BY and its followers on a recursive query.
fn tail(analyzer: &Analyzer<'_>, s: &Select) -> SqlResult<()> {
    let refuse = |what: &str, at: Location| {
        let message = format!("{what} in a recursive query is not implemented");
        Err(analyzer.at(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message), at))
    };
    let at = crate::syntax_equal::location;
    if let Some(key) = s.order_by.first() {
        return refuse("ORDER BY", at(&key.expr));
    }
    if let Some(e) = &s.offset {
        return refuse("OFFSET", at(e));
    }
    if let Some(e) = &s.limit {
        return refuse("LIMIT", at(e));
    }
    if !s.locking.is_empty() {
        return refuse("FOR UPDATE/SHARE", Location::NONE);
    }
    Ok(())
}

/// Aggregates of the recursive term.
pub(crate) fn aggregates_refused(analyzer: &Analyzer<'_>, at: Location) -> SqlError {
    analyzer.at(
        sql_err!(
            INVALID_RECURSION,
            "aggregate functions are not allowed in a recursive query's recursive term"
        ),
        at,
    )
}

fn references(statement: &Statement, name: &str) -> Vec<(Context, Location)> {
    let mut finder = Finder { name, hidden: 0, context: Context::Ok, found: Vec::new() };
    finder.statement(statement);
    finder.found
}

impl Finder<'_> {
    fn within(&mut self, context: Context, f: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.context, context);
        f(self);
        self.context = before;
    }

    fn statement(&mut self, s: &Statement) {
        match s {
            Statement::Select(s) => self.select(s),
            Statement::Insert(s) => self.scoped(s.with.as_ref(), |f| {
                if let Some(source) = &s.source {
                    f.select(source);
                }
                s.returning.targets.iter().for_each(|t| f.expr(&t.value));
            }),
            Statement::Update(s) => self.scoped(s.with.as_ref(), |f| {
                s.from.iter().for_each(|i| f.item(i));
                s.assignments.iter().for_each(|a| match a {
                    parse::ast::Assignment::Single(_, e) | parse::ast::Assignment::Multi(_, e) => f.expr(e),
                });
                s.filter.iter().for_each(|e| f.expr(e));
                s.returning.targets.iter().for_each(|t| f.expr(&t.value));
            }),
            Statement::Delete(s) => self.scoped(s.with.as_ref(), |f| {
                s.using.iter().for_each(|i| f.item(i));
                s.filter.iter().for_each(|e| f.expr(e));
                s.returning.targets.iter().for_each(|t| f.expr(&t.value));
            }),
            Statement::Merge(s) => self.scoped(s.with.as_ref(), |f| {
                f.item(&s.source);
                f.expr(&s.on);
                s.returning.targets.iter().for_each(|t| f.expr(&t.value));
            }),
            _ => {}
        }
    }

    /// The queries of an inner WITH; they hide outer ones of their names from the rest.
    fn with(&mut self, with: Option<&With>) {
        let Some(with) = with else { return };
        let own = with.ctes.iter().position(|c| c.name == self.name);
        let mut hidden = false;
        for (i, cte) in with.ctes.iter().enumerate() {
            // Not recursive: a query sees those before it.
            hidden |= with.recursive && own.is_some() || own.is_some_and(|o| o < i);
            if !hidden {
                self.statement(&cte.query);
            }
        }
    }

    fn scoped(&mut self, with: Option<&With>, f: impl FnOnce(&mut Self)) {
        self.with(with);
        let hides = with.is_some_and(|w| w.ctes.iter().any(|c| c.name == self.name));
        self.hidden += usize::from(hides);
        f(self);
        self.hidden -= usize::from(hides);
    }

    fn select(&mut self, s: &Select) {
        self.scoped(s.with.as_ref(), |f| f.body(s));
    }

    fn body(&mut self, s: &Select) {
        match &s.body {
            SelectBody::Simple(b) => {
                b.targets.iter().for_each(|t| self.expr(&t.value));
                b.from.iter().for_each(|i| self.item(i));
                b.filter.iter().chain(&b.having).for_each(|e| self.expr(e));
                b.group_by.iter().for_each(|g| self.group(g));
                if let Distinct::On(list) = &b.distinct {
                    list.iter().for_each(|e| self.expr(e));
                }
                for w in &b.windows {
                    w.partition_by.iter().for_each(|e| self.expr(e));
                    w.order_by.iter().for_each(|k| self.expr(&k.expr));
                }
            }
            SelectBody::Values(rows) => rows.iter().flatten().for_each(|e| self.expr(e)),
            SelectBody::SetOp { op, all, left, right } => {
                let (l, r) = match op {
                    SetOp::Union => (self.context, self.context),
                    SetOp::Intersect if *all => (Context::Intersect, Context::Intersect),
                    SetOp::Intersect => (self.context, self.context),
                    SetOp::Except if *all => (Context::Except, Context::Except),
                    SetOp::Except => (self.context, Context::Except),
                };
                self.within(self.stricter(l), |f| f.select(left));
                self.within(self.stricter(r), |f| f.select(right));
            }
        }
        s.order_by.iter().for_each(|k| self.expr(&k.expr));
        s.offset.iter().chain(&s.limit).for_each(|e| self.expr(e));
    }

    /// A context inside another: what the outer one forbids stays forbidden.
    fn stricter(&self, inner: Context) -> Context {
        if self.context == Context::Ok { inner } else { self.context }
    }

    fn group(&mut self, g: &GroupBy) {
        match g {
            GroupBy::Expr(e) => self.expr(e),
            GroupBy::Empty(_) => {}
            GroupBy::Rollup(list, _) | GroupBy::Cube(list, _) | GroupBy::Sets(list, _) => {
                list.iter().for_each(|g| self.group(g));
            }
        }
    }

    fn item(&mut self, item: &FromItem) {
        match item {
            FromItem::Table(t) | FromItem::Sample { table: t, .. } => {
                if t.schema.is_none() && t.name == self.name && self.hidden == 0 {
                    self.found.push((self.context, t.location));
                }
            }
            FromItem::Subquery { query, .. } => self.select(query),
            FromItem::Function { functions, .. } => functions.iter().for_each(|f| self.expr(&f.call)),
            FromItem::JsonTable(t) => {
                self.expr(&t.context.value);
                t.passing.iter().for_each(|(_, v)| self.expr(&v.value));
            }
            FromItem::XmlTable(t) => t.for_exprs(&mut |e| self.expr(e)),
            FromItem::Join(j) => {
                let (l, r) = match j.kind {
                    JoinKind::Inner => (Context::Ok, Context::Ok),
                    JoinKind::Left => (Context::Ok, Context::OuterJoin),
                    JoinKind::Right => (Context::OuterJoin, Context::Ok),
                    JoinKind::Full => (Context::OuterJoin, Context::OuterJoin),
                };
                self.within(self.stricter(l), |f| f.item(&j.left));
                self.within(self.stricter(r), |f| f.item(&j.right));
                j.on.iter().for_each(|e| self.expr(e));
            }
        }
    }

    fn expr(&mut self, e: &Expr) {
        match e {
            Expr::Op(o) => {
                o.left.iter().for_each(|e| self.expr(e));
                match &o.right {
                    OpRight::Expr(e) => self.expr(e),
                    OpRight::List(list) => list.iter().for_each(|e| self.expr(e)),
                }
            }
            Expr::Bool { args, .. }
            | Expr::Coalesce { args, .. }
            | Expr::MinMax { args, .. }
            | Expr::Row { args, .. }
            | Expr::Grouping { args, .. }
            | Expr::Array { elements: args, .. } => args.iter().for_each(|e| self.expr(e)),
            Expr::Func(f) => {
                f.args.iter().chain(&f.filter).for_each(|e| self.expr(e));
                f.order_by.iter().for_each(|k| self.expr(&k.expr));
                if let Some(w) = &f.over {
                    w.partition_by.iter().for_each(|e| self.expr(e));
                    w.order_by.iter().for_each(|k| self.expr(&k.expr));
                }
            }
            Expr::Cast(c) => self.expr(&c.arg),
            Expr::Collate(c) => c.arg.iter().for_each(|e| self.expr(e)),
            Expr::SubLink(s) => {
                s.test.iter().for_each(|e| self.expr(e));
                self.within(self.stricter(Context::Subquery), |f| f.select(&s.query));
            }
            Expr::Case(c) => {
                c.arg.iter().chain(&c.default).for_each(|e| self.expr(e));
                for w in &c.whens {
                    self.expr(&w.when);
                    self.expr(&w.then);
                }
            }
            Expr::NullTest { arg, .. } | Expr::BooleanTest { arg, .. } | Expr::NamedArg { arg, .. } => {
                self.expr(arg)
            }
            Expr::Indirection { arg, steps } => {
                self.expr(arg);
                for step in steps {
                    match step {
                        Indirection::Index(e) => self.expr(e),
                        Indirection::Slice(a, b) => a.iter().chain(b).for_each(|e| self.expr(e)),
                        Indirection::Field(_) | Indirection::Star => {}
                    }
                }
            }
            Expr::Json(json) => {
                json.for_exprs(&mut |e| self.expr(e));
                if let JsonExpr::ArrayQuery { query, .. } = &**json {
                    self.within(self.stricter(Context::Subquery), |f| f.select(query));
                }
            }
            Expr::Xml(xml) => xml.for_exprs(&mut |e| self.expr(e)),
            Expr::Column(_)
            | Expr::Param { .. }
            | Expr::Const { .. }
            | Expr::SqlValue { .. }
            | Expr::Default { .. }
            | Expr::CurrentOf { .. }
            | Expr::MergeAction { .. } => {}
        }
    }
}
