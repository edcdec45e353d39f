//! From syntax tree to checked query tree: names, types, structure.
//!
//! What: [`analyze`] turns a raw statement into a [`Query`] whose every name is resolved through a [`CatalogView`] and whose
//! every expression is typed. [`analyze_expr`] does so for an expression that stands alone (a default, a constraint).
//! [`stored`] writes trees as text for the catalogs, [`deparse`] as SQL for people.
//!
//! Layout: [`expr`] and [`query`] are the tree, [`walk`] visits it, [`facts`] tells types. `core` is the analyzer's state; `select`, `dml`,
//! `assign`, `conflict`, `cte`, `recursion`, [`search_cycle`], `from`, `target`, `join`, `clause`, `window`, `agg` follow the clauses of a statement, [`rewrite`] fills in
//! what changes leave open and applies rules, which `rule_action` joins to the statement, [`updatable`] takes them through views, `instead` leaves them to triggers; `columns` and `fuzzy` names; `expr_transform`, `variables`, `rows`, `func`, `resolve`, `coerce`, `polymorphic`, `collate` expressions; `lookup` asks registry and catalog.
//! `json` and `json_path` are SQL/JSON, [`json_tree`] its nodes, [`json_text`] their clauses as text; `xml`, [`xml_tree`] and [`xml_text`] those of XML.
//! [`routine`]: the result of functions in SQL. [`fingerprint`]: what queries have in common that differ in constants. [`computed`]: virtual generated columns. [`policy`]: conditions of policies. [`rule`]: what rules do.
//!
//! Invariants:
//! 1. Analysis reads the catalog through [`CatalogView`] only and changes nothing.
//! 2. Errors carry PostgreSQL's message, SQLSTATE, position and hint.
//!
//! Locks: none taken here; the caller holds the relation locks that its [`CatalogView`] takes on lookup.
//!
//! PostgreSQL counterpart and differences: `parser/analyze.c` and its neighbours, and of `rewrite/` the expansion of views and the
//! filling in of defaults. Views that are read are expanded in the same pass. A column of a join is replaced by what it stands for at once.

mod agg;
pub mod aggregate;
mod assign;
pub mod body;
mod clause;
mod coerce;
mod collate;
mod columns;
pub mod computed;
mod conflict;
mod core;
mod cte;
pub mod deparse;
mod deparse_change;
mod deparse_from;
mod deparse_json;
mod deparse_names;
mod deparse_query;
mod deparse_syntax;
mod deparse_xml;
mod dml;
mod equal;
pub mod expr;
mod expr_transform;
pub mod facts;
pub mod fingerprint;
mod from;
mod func;
mod fuzzy;
mod instead;
mod join;
mod json;
mod json_path;
pub mod json_text;
pub mod json_tree;
mod lookup;
pub mod names;
pub mod policy;
mod polymorphic;
pub mod query;
mod recursion;
mod resolve;
pub mod rewrite;
pub mod routine;
mod rows;
pub mod rule;
mod rule_action;
pub mod search_cycle;
mod select;
pub mod stored;
mod syntax_equal;
mod target;
pub mod updatable;
pub mod variables;
pub mod views;
pub mod walk;
mod window;
mod xml;
pub mod xml_text;
pub mod xml_tree;

use std::rc::Rc;

use base::{Oid, SqlResult, sql_err};
use catalog::view::{CatalogView, Table};
use parse::RawStatement;
use parse::ast::{self, Statement};
use types::oids;

pub use equal::same as same_expr;
pub use expr::*;
pub use json_tree::*;
pub use lookup::is_polymorphic;
pub use query::*;
pub use rewrite::ByRules;
pub use rule::{Notify, RuleAction};
pub use target::figure_name;
pub use xml_tree::*;

use crate::core::{Analyzer, Place};

/// Result of analysing a statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Analyzed {
    /// The checked tree.
    pub query: Query,
    /// Types of `$1`, `$2`...; those the caller gave first.
    pub params: Vec<Oid>,
    /// What is done beside it, if rules say so.
    pub rules: Option<Box<ByRules>>,
}

/// How `$n` is to be understood.
#[derive(Clone, Debug)]
pub enum ParamTypes {
    /// No parameters: `$1` is an error (simple query protocol).
    None,
    /// These types and no others.
    Fixed(Vec<Oid>),
    /// These types; 0 and missing ones are inferred.
    Infer(Vec<Oid>),
    /// Those of a function, which have names too.
    Variables(Rc<dyn variables::Variables>),
}

/// Analyses one statement of `text`. `call` lends the session's formats to the input of literals.
pub fn analyze(
    raw: &RawStatement,
    text: &str,
    params: ParamTypes,
    catalog: &dyn CatalogView,
    call: &types::Call<'_>,
) -> SqlResult<Analyzed> {
    analyze_statement(&raw.stmt, text, params, catalog, call)
}

/// As [`analyze`], for a statement inside another (PREPARE, EXPLAIN).
pub fn analyze_statement(
    statement: &Statement,
    text: &str,
    params: ParamTypes,
    catalog: &dyn CatalogView,
    call: &types::Call<'_>,
) -> SqlResult<Analyzed> {
    analyze_with(Analyzer::new(text, params, catalog, call), statement)
}

/// As [`analyze_statement`], for a statement of a function's body that is to be stored: [`rewrite::load`] makes of it what can be planned.
pub fn analyze_body(
    statement: &Statement,
    text: &str,
    params: ParamTypes,
    catalog: &dyn CatalogView,
    call: &types::Call<'_>,
) -> SqlResult<Analyzed> {
    written(&mut Analyzer::new(text, params, catalog, call), statement)
}

/// As [`analyze_statement`], for a statement that looks after tables and is no user's: rules do not count.
pub fn analyze_beyond_rules(
    statement: &Statement,
    text: &str,
    params: ParamTypes,
    catalog: &dyn CatalogView,
    call: &types::Call<'_>,
) -> SqlResult<Analyzed> {
    let analyzer = Analyzer::new(text, params, catalog, call);
    analyze_with(Analyzer { beyond_rules: true, ..analyzer }, statement)
}

fn analyze_with(mut analyzer: Analyzer<'_>, statement: &Statement) -> SqlResult<Analyzed> {
    let mut analyzed = written(&mut analyzer, statement)?;
    analyzed.rules = analyzer.rewrite_statement(&mut analyzed.query)?;
    Ok(analyzed)
}

/// A statement as it was written.
fn written(analyzer: &mut Analyzer<'_>, statement: &Statement) -> SqlResult<Analyzed> {
    let mut query = analyzer.statement(statement)?;
    let params = match std::mem::replace(&mut analyzer.params, ParamTypes::None) {
        ParamTypes::None => Vec::new(),
        ParamTypes::Fixed(types) => types,
        ParamTypes::Variables(variables) => variables.types(),
        ParamTypes::Infer(mut types) => {
            settle_params(&mut query, &mut types)?;
            types
        }
    };
    Ok(Analyzed { query, params, rules: None })
}

/// Gives parameters that were met before their type was known that type; all must have one.
fn settle_params(query: &mut Query, types: &mut [Oid]) -> SqlResult<()> {
    for (i, t) in types.iter().enumerate() {
        if !t.is_valid() || *t == oids::unknown {
            return Err(sql_err!(
                INDETERMINATE_DATATYPE,
                "could not determine data type of parameter ${}",
                i + 1
            ));
        }
    }
    if let Some(inner) = query.utility.as_mut().and_then(|u| u.query.as_mut()) {
        type_params(inner, types);
    }
    type_params(query, types);
    Ok(())
}

fn type_params(query: &mut Query, types: &[Oid]) {
    let _ = walk::visit_query_mut::<std::convert::Infallible>(query, 0, &mut |e, _| {
        if let Expr::Param(p) = e
            && p.kind == ParamKind::Extern
            && p.type_oid == oids::unknown
            && let Some(t) = usize::try_from(p.id - 1).ok().and_then(|i| types.get(i))
        {
            p.type_oid = *t;
        }
        Ok(true)
    });
}

impl Analyzer<'_> {
    /// A statement of any kind.
    fn statement(&mut self, s: &Statement) -> SqlResult<Query> {
        match s {
            Statement::Select(_)
            | Statement::Insert(_)
            | Statement::Update(_)
            | Statement::Delete(_)
            | Statement::Merge(_)
            | Statement::Return(_)
            | Statement::Assign(_) => self.nested(|a| a.plannable(s)),
            _ => {
                let query = match s {
                    Statement::Explain { query, .. } => Some(self.statement(query)?),
                    Statement::DeclareCursor(d) => Some(self.cursor(d)?),
                    Statement::CreateTableAs(c) if !matches!(*c.query, Statement::Execute(_)) => {
                        Some(self.statement(&c.query)?)
                    }
                    Statement::CreateView(v) => Some(self.nested(|a| a.select(&v.query))?),
                    Statement::Call(c) => {
                        self.nested(|a| a.in_place(Place::CallArgument, |a| a.procedure(&c.call)))?;
                        None
                    }
                    Statement::Copy(c) => c.query.as_ref().map(|q| self.statement(q)).transpose()?,
                    _ => None,
                };
                let utility = Utility { statement: s.clone(), query };
                Ok(Query { command: Command::Utility, utility: Some(Box::new(utility)), ..Query::default() })
            }
        }
    }

    fn cursor(&mut self, d: &ast::DeclareCursor) -> SqlResult<Query> {
        let query = self.statement(&d.query)?;
        if query.command != Command::Select {
            return Err(sql_err!(
                INVALID_CURSOR_DEFINITION,
                "DECLARE CURSOR must not contain data-modifying statements in WITH"
            ));
        }
        if query.has_modifying_cte {
            return Err(sql_err!(
                FEATURE_NOT_SUPPORTED,
                "DECLARE CURSOR must not contain data-modifying statements in WITH"
            ));
        }
        let refused = match (d.hold, d.scroll == Some(true), d.insensitive == Some(true)) {
            (true, ..) => Some(("DECLARE CURSOR WITH HOLD", "Holdable cursors must be READ ONLY.")),
            (_, true, _) => Some(("DECLARE SCROLL CURSOR", "Scrollable cursors must be READ ONLY.")),
            (.., true) => Some(("DECLARE INSENSITIVE CURSOR", "Insensitive cursors must be READ ONLY.")),
            _ => None,
        };
        if let (Some((what, detail)), Some(mark)) = (refused, query.row_marks.first()) {
            let clause = mark.strength.clause();
            let error = if what.contains("INSENSITIVE") {
                sql_err!(INVALID_CURSOR_DEFINITION, "{what} ... {clause} is not valid")
            } else {
                sql_err!(FEATURE_NOT_SUPPORTED, "{what} ... {clause} is not supported")
            };
            return Err(error.detail(detail));
        }
        Ok(query)
    }
}

/// Assignment of a value to a place, both parsed as expressions; `None` if the place is no name with fields and subscripts.
pub fn assignment(place: ast::Select, value: ast::Select) -> Option<RawStatement> {
    let ast::SelectBody::Simple(body) = place.body else { return None };
    let [target] = body.targets.as_slice() else { return None };
    let (steps, location) = match &target.value {
        ast::Expr::Column(c) => (c.fields.clone(), c.location),
        ast::Expr::Indirection { arg, steps } => match &**arg {
            ast::Expr::Column(c) => ([c.fields.as_slice(), steps].concat(), c.location),
            _ => return None,
        },
        _ => return None,
    };
    let stmt = Statement::Assign(Box::new(ast::Assign { place: steps, value, location }));
    Some(RawStatement { stmt, location: 0, length: 0 })
}

/// A call of a procedure, analysed.
#[derive(Clone, Debug, PartialEq)]
pub struct Procedure {
    /// The procedure.
    pub oid: Oid,
    /// Values of its input parameters.
    pub args: Vec<Expr>,
    /// Its OUT parameters.
    pub outputs: Vec<ColumnType>,
    /// What was given for them, by position: a procedural language assigns to it.
    pub targets: Vec<Expr>,
}

/// Analyses CALL.
pub fn analyze_procedure(
    procedure: &ast::FuncCall,
    text: &str,
    params: ParamTypes,
    catalog: &dyn CatalogView,
    call: &types::Call<'_>,
) -> SqlResult<Procedure> {
    let mut analyzer = Analyzer::new(text, params, catalog, call);
    analyzer.nested(|a| a.in_place(Place::CallArgument, |a| a.procedure(procedure)))
}

/// What an expression that stands alone is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// DEFAULT of a column or domain.
    ColumnDefault,
    /// CHECK; must be boolean.
    Check,
    /// GENERATED ALWAYS AS.
    Generated,
    /// A key of an index.
    Index,
    /// WHERE of an index; must be boolean.
    IndexPredicate,
    /// USING of ALTER COLUMN TYPE.
    AlterUsing,
    /// A parameter of EXECUTE.
    ExecuteParameter,
    /// WHERE of COPY FROM; must be boolean.
    CopyWhere,
    /// WHERE of a table in a publication; must be boolean.
    PublicationFilter,
    /// An argument of CALL.
    CallArgument,
    /// A value of a partition bound.
    PartitionBound,
    /// A key of PARTITION BY.
    PartitionKey,
    /// An expression of CREATE STATISTICS.
    Statistics,
    /// DEFAULT of a function's parameter.
    ParameterDefault,
    /// USING or WITH CHECK of a policy; must be boolean.
    Policy,
}

impl Purpose {
    fn place(self) -> Place {
        match self {
            Purpose::ColumnDefault | Purpose::ParameterDefault => Place::ColumnDefault,
            Purpose::Check => Place::CheckConstraint,
            Purpose::Generated => Place::GeneratedColumn,
            Purpose::Index => Place::IndexExpression,
            Purpose::IndexPredicate => Place::IndexPredicate,
            Purpose::AlterUsing => Place::AlterTransform,
            Purpose::ExecuteParameter => Place::ExecuteParameter,
            Purpose::CopyWhere => Place::CopyWhere,
            Purpose::PublicationFilter => Place::Where,
            Purpose::CallArgument => Place::CallArgument,
            Purpose::PartitionBound => Place::PartitionBound,
            Purpose::PartitionKey => Place::PartitionKey,
            Purpose::Statistics => Place::Statistics,
            Purpose::Policy => Place::Policy,
        }
    }

    fn boolean(self) -> bool {
        matches!(
            self,
            Purpose::Check
                | Purpose::IndexPredicate
                | Purpose::CopyWhere
                | Purpose::PublicationFilter
                | Purpose::Policy
        )
    }

    /// The clause, where its value is not boolean.
    fn clause(self) -> &'static str {
        match self {
            Purpose::PublicationFilter => "PUBLICATION WHERE",
            other => other.place().name(),
        }
    }
}

/// An expression that stands alone, with the column it is for.
#[derive(Clone, Copy, Debug)]
pub struct ExprContext<'a> {
    /// What it is for.
    pub purpose: Purpose,
    /// Relation whose columns may be named; they get range table index 0.
    pub relation: Option<&'a std::sync::Arc<Table>>,
    /// Column that the value is assigned to: name, type, modifier.
    pub column: Option<(&'a str, Oid, i32)>,
    /// What VALUE is in a domain's constraint: type, modifier, collation.
    pub value: Option<(Oid, i32, Oid)>,
}

/// Analyses an expression that stands alone.
pub fn analyze_expr(
    expr: &ast::Expr,
    text: &str,
    context: ExprContext<'_>,
    catalog: &dyn CatalogView,
    call: &types::Call<'_>,
) -> SqlResult<Expr> {
    let mut analyzer = Analyzer::new(text, ParamTypes::None, catalog, call);
    analyzer.domain_value = context.value;
    analyzer.nested(|a| {
        if let Some(table) = context.relation {
            let range =
                ast::RangeVar { name: table.name.clone(), inherit: false, ..ast::RangeVar::default() };
            let mut item = a.relation_item(table.clone(), &range, 1, 0)?;
            item.rte = 0;
            a.level().namespace.push(item);
        }
        let place = context.purpose.place();
        let mut e = a.in_place(place, |a| a.expr(expr))?;
        if context.purpose.boolean() {
            e = a.coerce_to_boolean(e, context.purpose.clause())?;
        }
        if let Some((name, type_oid, typmod)) = context.column {
            let source = a.type_of(&e);
            let at = facts::location(&e);
            e = match a.coerce_to(e, type_oid, typmod, coerce::Coercion::assignment())? {
                Some(e) => e,
                None => {
                    if context.purpose == Purpose::PartitionBound {
                        let message = format!(
                            "specified value cannot be cast to type {} for column \"{name}\"",
                            a.type_text(type_oid)
                        );
                        return Err(a.at(sql_err!(DATATYPE_MISMATCH, "{message}"), at));
                    }
                    let error = sql_err!(
                        DATATYPE_MISMATCH,
                        "column \"{name}\" is of type {} but default expression is of type {}",
                        a.type_text(type_oid),
                        a.type_text(source)
                    )
                    .hint("You will need to rewrite or cast the expression.");
                    return Err(a.at(error, at));
                }
            };
        } else if a.type_of(&e) == oids::unknown
            && !matches!(
                context.purpose,
                Purpose::ExecuteParameter | Purpose::AlterUsing | Purpose::ParameterDefault
            )
        {
            e = a.coerce(e, oids::text, -1, coerce::Coercion::implicit())?;
        }
        collate::assign(a, &mut e)?;
        Ok(e)
    })
}

/// Analyses WHEN of a trigger of a table: the old row has range table index 0, the new one 1.
pub fn analyze_trigger_condition(
    expr: &ast::Expr,
    text: &str,
    table: &std::sync::Arc<Table>,
    catalog: &dyn CatalogView,
    call: &types::Call<'_>,
) -> SqlResult<Expr> {
    let mut analyzer = Analyzer::new(text, ParamTypes::None, catalog, call);
    analyzer.nested(|a| {
        for (rte, name) in ["old", "new"].into_iter().enumerate() {
            let alias = ast::Alias { name: name.to_owned(), columns: Vec::new() };
            let range = ast::RangeVar {
                name: table.name.clone(),
                alias: Some(alias),
                inherit: false,
                ..ast::RangeVar::default()
            };
            let mut item = a.relation_item(table.clone(), &range, 1, 0)?;
            item.rte = rte;
            a.level().namespace.push(item);
        }
        let place = core::Place::TriggerWhen;
        let e = a.in_place(place, |a| a.expr(expr))?;
        let mut e = a.coerce_to_boolean(e, place.name())?;
        collate::assign(a, &mut e)?;
        Ok(e)
    })
}

/// What stands in a column that a row does not give: its DEFAULT, its identity's next value, its domain's default. `None`: null.
pub fn column_default(
    table: &Table,
    attno: i16,
    catalog: &dyn CatalogView,
    call: &types::Call<'_>,
) -> SqlResult<Option<Expr>> {
    Analyzer::new("", ParamTypes::None, catalog, call).column_default(table, attno)
}

/// Converts an analysed expression to a type as on assignment, or `None` if there is no way (EXECUTE's parameters).
pub fn assign_to(
    expr: Expr,
    type_oid: Oid,
    typmod: i32,
    text: &str,
    catalog: &dyn CatalogView,
    call: &types::Call<'_>,
) -> SqlResult<Option<Expr>> {
    let mut analyzer = Analyzer::new(text, ParamTypes::None, catalog, call);
    let converted = analyzer.coerce_to(expr, type_oid, typmod, coerce::Coercion::assignment())?;
    converted
        .map(|mut e| {
            collate::assign(&analyzer, &mut e)?;
            Ok(e)
        })
        .transpose()
}

/// OID and modifier of a type as written.
pub fn resolve_type(
    name: &ast::TypeName,
    text: &str,
    catalog: &dyn CatalogView,
    call: &types::Call<'_>,
) -> SqlResult<(Oid, i32)> {
    Analyzer::new(text, ParamTypes::None, catalog, call).type_name(name)
}

/// OID of a collation as written.
pub fn resolve_collation(
    name: &ast::Name,
    location: Location,
    text: &str,
    catalog: &dyn CatalogView,
    call: &types::Call<'_>,
) -> SqlResult<Oid> {
    Analyzer::new(text, ParamTypes::None, catalog, call).collation(name, location)
}

#[cfg(test)]
mod tests;
