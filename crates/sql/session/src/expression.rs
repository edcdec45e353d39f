//! # What
//! Expressions in definitions: defaults, checks, index keys and predicates. Here utility statements meet analysis.

use std::sync::Arc;

use analyze::{
    CoercionForm, Const, Expr, ExprContext, Param, ParamKind, Purpose, RowExpr, Var, facts, stored, walk,
};
use base::{CommandId, Oid, SqlError, SqlResult, SqlState, sql_err};
use catalog::change::{NewDefault, ObjectAddress};
use catalog::{CatalogView, Column, Index, Table};
use executor::run::Execution;
use parse::ast;
use tuple::Datum;
use txn::Snapshot;
use types::{Call, Volatility, oids};

use crate::Session;

/// An expression over the columns of one table, ready for the catalogs.
#[derive(Clone, Debug)]
pub struct Stored {
    /// As `analyze::stored` writes it.
    pub text: String,
    /// Columns that it uses, ascending.
    pub used: Vec<i16>,
    /// Where it uses columns.
    pub places: Vec<(i16, ast::Location)>,
    /// Objects of users that it needs.
    pub needs: Vec<ObjectAddress>,
    /// Its type.
    pub type_oid: Oid,
    /// Its modifier.
    pub typmod: i32,
    /// Its collation.
    pub collation: Oid,
}

fn analyze(session: &Session, expr: &ast::Expr, text: &str, context: ExprContext<'_>) -> SqlResult<Stored> {
    let format = session.format.borrow().clone();
    let call = Call::new(&format).with_session(session);
    let expr = analyze::analyze_expr(expr, text, context, session, &call)?;
    Ok(stored(session, &expr))
}

/// An analysed expression, ready for the catalogs.
pub fn stored(session: &Session, expr: &Expr) -> Stored {
    let places = places_of(expr);
    let mut needs = Vec::new();
    crate::uses::of_expr(expr, &mut needs);
    let mut used: Vec<i16> = places.iter().map(|(number, _)| *number).collect();
    used.sort_unstable();
    used.dedup();
    Stored {
        text: stored::store_expr(expr),
        used,
        places,
        needs,
        type_oid: type_of(session, expr),
        typmod: facts::expr_typmod(expr),
        collation: facts::expr_collation(expr),
    }
}

/// Columns of the relation that an expression stands over, where it names them.
fn places_of(expr: &Expr) -> Vec<(i16, ast::Location)> {
    let mut used = Vec::new();
    walk::contains(expr, |e, depth| {
        if let Expr::Var(var) = e
            && var.levels_up == depth
        {
            used.push((var.attno, var.location));
        }
        false
    });
    used
}

/// The type of an analysed expression.
pub fn type_of(session: &Session, expr: &Expr) -> Oid {
    let array_of = |element: Oid| {
        let known = session.type_by_oid(element).ok().flatten();
        known.map_or(Oid::INVALID, |def| def.array)
    };
    facts::expr_type(expr, &array_of)
}

impl From<Stored> for NewDefault {
    fn from(stored: Stored) -> NewDefault {
        NewDefault { expr: stored.text, needs: stored.needs }
    }
}

/// DEFAULT of a column: its name, type and modifier.
pub fn default(
    session: &Session,
    expr: &ast::Expr,
    column: (&str, Oid, i32),
    text: &str,
) -> SqlResult<Stored> {
    let context =
        ExprContext { purpose: Purpose::ColumnDefault, relation: None, column: Some(column), value: None };
    analyze(session, expr, text, context)
}

/// CHECK of a table.
pub fn check(session: &Session, table: &Arc<Table>, expr: &ast::Expr, text: &str) -> SqlResult<Stored> {
    let context = ExprContext { purpose: Purpose::Check, relation: Some(table), column: None, value: None };
    analyze(session, expr, text, context)
}

/// Whether WHERE of COPY FROM is fit to be one.
pub fn copy_filter(session: &Session, table: &Arc<Table>, expr: &ast::Expr, text: &str) -> SqlResult<()> {
    let context =
        ExprContext { purpose: Purpose::CopyWhere, relation: Some(table), column: None, value: None };
    analyze(session, expr, text, context).map(drop)
}

/// WHERE of a table in a publication, analysed.
pub fn publication_filter(
    session: &Session,
    table: &Arc<Table>,
    expr: &ast::Expr,
    text: &str,
) -> SqlResult<Expr> {
    let format = session.format.borrow().clone();
    let call = Call::new(&format).with_session(session);
    let context =
        ExprContext { purpose: Purpose::PublicationFilter, relation: Some(table), column: None, value: None };
    analyze::analyze_expr(expr, text, context, session, &call)
}

/// USING or WITH CHECK of a policy.
pub fn policy(session: &Session, table: &Arc<Table>, expr: &ast::Expr, text: &str) -> SqlResult<Stored> {
    let context = ExprContext { purpose: Purpose::Policy, relation: Some(table), column: None, value: None };
    analyze(session, expr, text, context)
}

/// CHECK of a domain over a type: its OID, modifier and collation.
pub fn domain_check(
    session: &Session,
    expr: &ast::Expr,
    value: (Oid, i32, Oid),
    text: &str,
) -> SqlResult<Stored> {
    let context = ExprContext { purpose: Purpose::Check, relation: None, column: None, value: Some(value) };
    analyze(session, expr, text, context)
}

/// Generation expression of a column of `table`, and how far its value can be relied on.
pub fn generated(
    session: &Session,
    table: &Arc<Table>,
    expr: &ast::Expr,
    column: (&str, Oid, i32),
    text: &str,
) -> SqlResult<(Stored, Volatility)> {
    let format = session.format.borrow().clone();
    let call = Call::new(&format).with_session(session);
    let context =
        ExprContext { purpose: Purpose::Generated, relation: Some(table), column: Some(column), value: None };
    let mut expr = analyze::analyze_expr(expr, text, context, session, &call)?;
    let stored = stored(session, &expr);
    if stored.used.iter().any(|number| *number <= 0) {
        // A system column, or a whole row: no plan can compute it alone, and the caller refuses what may not be.
        return Ok((stored, Volatility::Immutable));
    }
    columns_to_parameters(&mut expr, table)?;
    let planned = session.with_planner(session, |cx| plan::convert_expression(&expr, cx))?;
    Ok((stored, planned.volatility()))
}

/// USING of ALTER COLUMN TYPE, analysed.
pub fn transform(session: &Session, table: &Arc<Table>, expr: &ast::Expr, text: &str) -> SqlResult<Expr> {
    let format = session.format.borrow().clone();
    let call = Call::new(&format).with_session(session);
    let context =
        ExprContext { purpose: Purpose::AlterUsing, relation: Some(table), column: None, value: None };
    analyze::analyze_expr(expr, text, context, session, &call)
}

/// Whether a stored expression uses a column of its table.
pub fn uses(session: &Session, stored: &str, number: i16) -> SqlResult<bool> {
    let expr = stored::load_expr(stored, session)?;
    Ok(places_of(&expr).iter().any(|(used, _)| *used == number))
}

/// A value of a partition bound for a key column: its name, type and modifier.
pub fn bound_value(
    session: &Session,
    expr: &ast::Expr,
    column: (&str, Oid, i32),
    text: &str,
) -> SqlResult<Datum> {
    let purpose = Purpose::PartitionBound;
    let context = ExprContext { purpose, relation: None, column: Some(column), value: None };
    let format = session.format.borrow().clone();
    let call = Call::new(&format).with_session(session);
    let expr = analyze::analyze_expr(expr, text, context, session, &call)?;
    if let Expr::Const(constant) = &expr {
        return Ok(constant.value.clone());
    }
    let planned = session.with_planner(session, |cx| plan::convert_expression(&expr, cx))?;
    let (snapshot, command) = {
        let mut txn = session.txn.borrow_mut();
        (txn.statement_snapshot()?, txn.current_command())
    };
    session.with_env(&snapshot, command, |env| executor::run::evaluate(&planned, env, &[]))
}

/// A constant of a type, as catalogs keep it.
pub fn stored_constant(value: Datum, (type_oid, typmod, collation): (Oid, i32, Oid)) -> String {
    let location = ast::Location::NONE;
    stored::store_expr(&Expr::Const(Const { type_oid, typmod, collation, value, location }))
}

/// An expression of a partition key.
pub fn partition_key(
    session: &Session,
    table: &Arc<Table>,
    expr: &ast::Expr,
    text: &str,
) -> SqlResult<Stored> {
    Ok(of_index(session, table, expr, text, (Purpose::PartitionKey, "partition key expression"))?.1)
}

/// A key of an index.
pub enum IndexKey {
    /// A column, also one in parentheses, with the collation that the key has.
    Column(i16, Oid),
    /// An expression.
    Expression(Stored),
}

/// A key of an index that is written as an expression.
pub fn index_key(session: &Session, table: &Arc<Table>, expr: &ast::Expr, text: &str) -> SqlResult<IndexKey> {
    let (analyzed, stored) = of_index(session, table, expr, text, (Purpose::Index, "index expression"))?;
    let mut bare = &analyzed;
    while let Expr::Collate(collated) = bare {
        bare = &collated.arg;
    }
    Ok(match bare {
        Expr::Var(var) if var.attno > 0 => IndexKey::Column(var.attno, stored.collation),
        _ => IndexKey::Expression(stored),
    })
}

/// A column or an expression of CREATE STATISTICS that is written as an expression.
pub fn statistics_element(
    session: &Session,
    table: &Arc<Table>,
    expr: &ast::Expr,
    text: &str,
) -> SqlResult<IndexKey> {
    let format = session.format.borrow().clone();
    let call = Call::new(&format).with_session(session);
    let context =
        ExprContext { purpose: Purpose::Statistics, relation: Some(table), column: None, value: None };
    let analyzed = analyze::analyze_expr(expr, text, context, session, &call)?;
    let stored = stored(session, &analyzed);
    Ok(match &analyzed {
        Expr::Var(var) if var.attno > 0 => IndexKey::Column(var.attno, stored.collation),
        _ => IndexKey::Expression(stored),
    })
}

/// Computes stored expressions over rows of a table.
pub struct RowExpressions(Computed);

impl RowExpressions {
    /// Prepares them.
    pub fn new<'t>(
        session: &Session,
        table: &Table,
        texts: impl Iterator<Item = &'t Arc<str>>,
    ) -> SqlResult<RowExpressions> {
        Computed::new(session, table, texts, false).map(RowExpressions)
    }

    /// Their values for a row.
    pub fn values(&mut self, session: &Session, row: &[Datum]) -> SqlResult<&[Datum]> {
        self.0.run(session, row)?;
        Ok(&self.0.values)
    }
}

/// What is known of a stored expression: type, modifier and collation.
pub fn stored_type(session: &Session, text: &str) -> SqlResult<(Oid, i32, Oid)> {
    let expr = stored::load_expr(text, session)?;
    Ok((type_of(session, &expr), facts::expr_typmod(&expr), facts::expr_collation(&expr)))
}

/// The operator of this name between two values of an index's key, and whether it takes them without a conversion.
pub fn operator_between_keys(
    session: &Session,
    table: &Arc<Table>,
    key: &ast::Expr,
    name: &ast::Name,
    text: &str,
) -> SqlResult<(Oid, bool)> {
    let both = ast::Expr::Op(Box::new(ast::OpExpr {
        kind: ast::OpKind::Op,
        name: name.clone(),
        left: Some(key.clone()),
        right: ast::OpRight::Expr(key.clone()),
        location: ast::Location::NONE,
    }));
    let format = session.format.borrow().clone();
    let call = Call::new(&format).with_session(session);
    let context = ExprContext { purpose: Purpose::Index, relation: Some(table), column: None, value: None };
    let key = analyze::analyze_expr(key, text, context, session, &call)?;
    let context = ExprContext { purpose: Purpose::Index, relation: Some(table), column: None, value: None };
    let Expr::Op(both) = analyze::analyze_expr(&both, text, context, session, &call)? else {
        return Err(SqlError::internal("an operator was expected"));
    };
    let plain = |mut arg: &Expr| {
        while let Expr::Relabel(relabeled) = arg
            && *arg != key
        {
            arg = &relabeled.arg;
        }
        stored::store_expr(arg) == stored::store_expr(&key)
    };
    Ok((both.op, both.args.iter().all(plain)))
}

/// WHERE of an index.
pub fn index_predicate(
    session: &Session,
    table: &Arc<Table>,
    expr: &ast::Expr,
    text: &str,
) -> SqlResult<Stored> {
    Ok(of_index(session, table, expr, text, (Purpose::IndexPredicate, "index predicate"))?.1)
}

fn of_index(
    session: &Session,
    table: &Arc<Table>,
    expr: &ast::Expr,
    text: &str,
    (purpose, what): (Purpose, &str),
) -> SqlResult<(Expr, Stored)> {
    let format = session.format.borrow().clone();
    let call = Call::new(&format).with_session(session);
    let context = ExprContext { purpose, relation: Some(table), column: None, value: None };
    let analyzed = analyze::analyze_expr(expr, text, context, session, &call)?;
    let stored = stored(session, &analyzed);
    let mut expr = analyzed.clone();
    columns_to_parameters(&mut expr, table)?;
    // What is constant in it is computed now.
    let planned = session.as_maintainer(table.owner, || {
        session.with_planner(session, |cx| plan::convert_expression(&expr, cx))
    })?;
    if planned.volatility() != Volatility::Immutable {
        let message = format!("functions in {what} must be marked IMMUTABLE");
        return Err(SqlError::new(SqlState::INVALID_OBJECT_DEFINITION, message));
    }
    Ok((analyzed, stored))
}

/// Makes an index's entries from rows of its table.
pub struct IndexKeys {
    /// For each stored column its position in the row; none for an expression.
    columns: Vec<Option<usize>>,
    /// Predicate and expressions.
    computed: Option<Computed>,
    upto: usize,
}

/// Expressions over a row, run as a statement whose parameters are the row's columns.
struct Computed {
    execution: Execution,
    snapshot: Snapshot,
    command: CommandId,
    /// The first value is the predicate's.
    has_predicate: bool,
    values: Vec<Datum>,
}

impl IndexKeys {
    /// Prepares an index.
    pub fn new(session: &Session, table: &Table, index: &Index) -> SqlResult<IndexKeys> {
        let position = |&n: &i16| if n > 0 { Some(n as usize - 1) } else { None };
        let columns: Vec<Option<usize>> = index.keys.iter().chain(&index.including).map(position).collect();
        let plain = index.expressions.is_empty() && index.predicate.is_none();
        let upto = columns.iter().flatten().max().map_or(0, |last| last + 1);
        if plain {
            return Ok(IndexKeys { columns, computed: None, upto });
        }
        let texts = index.predicate.iter().chain(&index.expressions);
        let computed = Computed::new(session, table, texts, index.predicate.is_some())?;
        Ok(IndexKeys { columns, computed: Some(computed), upto: table.columns.len() })
    }

    /// What the entries consist of, if each row has one and nothing of it is computed.
    pub fn plain(&self) -> Option<PlainKeys> {
        match self.computed {
            Some(_) => None,
            None => self.columns.iter().copied().collect::<Option<_>>().map(PlainKeys),
        }
    }

    /// How many leading columns of a row are needed.
    pub fn upto(&self) -> usize {
        self.upto
    }

    /// Replaces `out` by the entry of a row; false if the index has none for it.
    pub fn entry(&mut self, session: &Session, row: &[Datum], out: &mut Vec<Datum>) -> SqlResult<bool> {
        out.clear();
        let mut computed = [].iter();
        if let Some(expressions) = &mut self.computed {
            expressions.run(session, row)?;
            computed = expressions.values.iter();
            if expressions.has_predicate && computed.next() != Some(&Datum::Bool(true)) {
                return Ok(false);
            }
        }
        fill(&self.columns, row, computed, out);
        Ok(true)
    }
}

/// Columns of rows that are entries as they are. Other threads may use it, too.
pub struct PlainKeys(Vec<usize>);

impl PlainKeys {
    /// Their positions in the row.
    pub fn columns(&self) -> impl Iterator<Item = usize> {
        self.0.iter().copied()
    }
}

/// Appends what an entry has: columns of the row, and in the other places what was computed.
fn fill(
    columns: &[Option<usize>],
    row: &[Datum],
    mut computed: std::slice::Iter<'_, Datum>,
    out: &mut Vec<Datum>,
) {
    out.extend(columns.iter().map(|column| match column {
        Some(i) => row.get(*i).cloned().unwrap_or_default(),
        None => computed.next().cloned().unwrap_or_default(),
    }));
}

/// DEFAULT of a column, ready to be computed for one row after the other.
pub struct ColumnDefault {
    computed: Computed,
    has_effects: bool,
    /// Whether it is the same for all rows of a statement, and nobody can tell how often it is computed.
    fixed: bool,
    /// The value of such a one, once it is known.
    known: Option<Datum>,
}

impl ColumnDefault {
    /// Prepares the default of the column with this number; `None` if it has none.
    pub fn new(session: &Session, table: &Table, number: i16) -> SqlResult<Option<ColumnDefault>> {
        let format = session.format();
        let call = Call::new(&format).with_session(session);
        let Some(expr) = analyze::column_default(table, number, session, &call)? else { return Ok(None) };
        let planned = session.with_planner(session, |cx| plan::convert_expression(&expr, cx))?;
        let has_effects = executor::nodes::has_effects(&planned);
        let fixed = planned.volatility() != Volatility::Volatile && !planned.calls(&|f| f.user().is_some());
        let computed = Computed::of(session, vec![planned], false)?;
        Ok(Some(ColumnDefault { computed, has_effects, fixed, known: None }))
    }

    /// Whether computing it may call a function that could look at tables.
    pub fn has_effects(&self) -> bool {
        self.has_effects
    }

    /// The value for the next row.
    pub fn value(&mut self, session: &Session) -> SqlResult<Datum> {
        if let Some(value) = &self.known {
            return Ok(value.clone());
        }
        self.computed.run(session, &[])?;
        let value = self.computed.values.pop().unwrap_or_default();
        if self.fixed {
            self.known = Some(value.clone());
        }
        Ok(value)
    }
}

/// The CHECK constraints of a table, ready to be asked about one row after the other.
pub struct RowChecks(Vec<(String, Computed)>);

impl RowChecks {
    /// Prepares the constraints; `None` if one calls a function that could look at tables, or asks for more than the row's columns.
    pub fn new(session: &Session, table: &Table) -> SqlResult<Option<RowChecks>> {
        let mut checks = Vec::new();
        for check in table.checks.iter().filter(|check| check.enforced) {
            let mut expr = stored::load_expr(&check.expr, session)?;
            if walk::contains(&expr, |e, _| matches!(e, Expr::Var(var) if var.attno < 0)) {
                return Ok(None);
            }
            columns_to_parameters(&mut expr, table)?;
            let planned = session.with_planner(session, |cx| plan::convert_expression(&expr, cx))?;
            if executor::nodes::has_effects(&planned) {
                return Ok(None);
            }
            checks.push((check.name.clone(), Computed::of(session, vec![planned], false)?));
        }
        Ok(Some(RowChecks(checks)))
    }

    /// The first constraint that a row does not satisfy.
    pub fn violated(&mut self, session: &Session, row: &[Datum]) -> SqlResult<Option<&str>> {
        for (name, computed) in &mut self.0 {
            computed.run(session, row)?;
            if computed.values.first() == Some(&Datum::Bool(false)) {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }
}

impl Computed {
    fn new<'t>(
        session: &Session,
        table: &Table,
        texts: impl Iterator<Item = &'t Arc<str>>,
        has_predicate: bool,
    ) -> SqlResult<Computed> {
        let mut expressions = Vec::new();
        for text in texts {
            let mut expr = stored::load_expr(text, session)?;
            columns_to_parameters(&mut expr, table)?;
            let plan = session.with_planner(session, |cx| plan::convert_expression(&expr, cx))?;
            expressions.push(plan);
        }
        Computed::of(session, expressions, has_predicate)
    }

    fn of(session: &Session, expressions: Vec<plan::Expr>, has_predicate: bool) -> SqlResult<Computed> {
        let execution = Execution::of_expressions(expressions)?;
        let (snapshot, command) = {
            let mut txn = session.txn.borrow_mut();
            (txn.statement_snapshot()?, txn.current_command())
        };
        Ok(Computed { execution, snapshot, command, has_predicate, values: Vec::new() })
    }

    fn run(&mut self, session: &Session, row: &[Datum]) -> SqlResult<()> {
        let Computed { execution, snapshot, command, values, .. } = self;
        session.with_env(snapshot, *command, |env| {
            execution.run(env, row, &mut |found| {
                values.clear();
                values.extend_from_slice(found);
                Ok(())
            })
        })?;
        Ok(())
    }
}

/// Makes `$n` of the column with number n, and a row of them of the whole row.
fn columns_to_parameters(expr: &mut Expr, table: &Table) -> SqlResult<()> {
    walk::visit_mut(expr, 0, &mut |e, _| {
        if let Expr::Var(var) = e {
            match var.attno {
                ..0 => return Err(system_column()),
                _ => *e = column_parameter(var, table, 0),
            }
        }
        Ok(true)
    })
}

/// What stands for a column of a table, or its whole row, where the columns' values are the parameters behind the first `start`.
pub(crate) fn column_parameter(var: &Var, table: &Table, start: i16) -> Expr {
    match var.attno {
        0 => whole_row(var, table, start),
        number => parameter(start + number, (var.type_oid, var.typmod, var.collation), var.location),
    }
}

/// 0A000 of an index over a system column.
pub fn system_column() -> SqlError {
    sql_err!(FEATURE_NOT_SUPPORTED, "index creation on system columns is not supported")
}

fn parameter(number: i16, (type_oid, typmod, collation): (Oid, i32, Oid), location: ast::Location) -> Expr {
    Expr::Param(Param {
        kind: ParamKind::Extern,
        id: i32::from(number),
        type_oid,
        typmod,
        collation,
        location,
    })
}

fn whole_row(var: &Var, table: &Table, start: i16) -> Expr {
    let field = |(number, column): (i16, &Column)| match column.dropped {
        true => {
            let (type_oid, location) = (oids::int4, var.location);
            Expr::Const(Const { type_oid, typmod: -1, collation: Oid::INVALID, value: Datum::Null, location })
        }
        false => parameter(start + number, (column.type_oid, column.typmod, column.collation), var.location),
    };
    Expr::Row(Box::new(RowExpr {
        args: (1..).zip(&table.columns).map(field).collect(),
        row_type: var.type_oid,
        names: table.columns.iter().map(|c| c.name.clone()).collect(),
        form: CoercionForm::ImplicitCast,
        location: var.location,
    }))
}

/// An expression over the columns of a table as SQL.
pub fn sql(session: &Session, table: &Table, expr: &Expr) -> String {
    let format = session.format();
    let call = Call::new(&format).with_session(session);
    let columns: Vec<String> = table.columns.iter().map(|c| c.name.clone()).collect();
    let deparse = analyze::deparse::Deparse { catalog: session, call: &call, pretty: false, params: None };
    deparse.expr(expr, &table.name, &columns)
}
