//! Statements inside statements: PREPARE and EXECUTE.

use std::rc::Rc;
use std::sync::Arc;

use analyze::{CoercionForm, Const, Expr, FuncExpr, Location};
use base::{Oid, SqlError, SqlResult, SqlState, sql_err};
use catalog::RowExt;
use catalog::system::pg_proc;
use parse::Statement;
use parse::ast::{self, Execute};
use tuple::Datum;

use super::Session;
use super::choice::Wanted;
use super::portal::{Formats, Portal};
use super::statement::{Place, Planned, Source, Work};
use crate::output::{Column, Output};

impl Session {
    /// PREPARE.
    pub fn prepare(
        &self,
        name: &str,
        types: &[ast::TypeName],
        query: &Statement,
        text: &str,
    ) -> SqlResult<()> {
        if self.statements.borrow().contains(name) {
            return Err(sql_err!(DUPLICATE_PSTATEMENT, "prepared statement \"{name}\" already exists"));
        }
        let format = self.format();
        let call = types::Call::new(&format).with_session(self);
        let types = types.iter().map(|t| Ok(analyze::resolve_type(t, text, self, &call)?.0));
        let types = types.collect::<SqlResult<Vec<_>>>()?;
        let known = self.known_statement(text.into(), Place::within(text), &types);
        let source = known.unwrap_or_else(|| Source::nested(text, query, Some(types)));
        self.analyze_prepared(&source)?;
        self.name_statement(name, source, true);
        Ok(())
    }

    /// EXECUTE: runs the prepared statement; the command tag is its own.
    pub fn execute_prepared(&self, execute: &Execute, text: &str, out: &mut dyn Output) -> SqlResult<String> {
        let (source, params) = self.prepared_for_execute(execute, text)?;
        let mut portal = Portal::new(source, params.into(), Formats::new());
        let tag = self.run_portal(&mut portal, 0, out)?;
        Ok(tag.map(|tag| tag.to_string()).unwrap_or_default())
    }

    /// What EXECUTE runs: the prepared statement and its parameters.
    pub fn prepared_for_execute(&self, execute: &Execute, text: &str) -> SqlResult<(Rc<Source>, Vec<Datum>)> {
        let source = self.source_of_execute(&execute.name)?;
        self.analyze_prepared(&source)?;
        let params = self.execute_params(&source, execute, text)?;
        Ok((source, params))
    }

    /// The plan of a prepared statement for these parameters, which is shown or makes a table.
    pub fn plan_of(&self, source: &Source, params: &[Datum]) -> SqlResult<Arc<executor::run::Prepared>> {
        Ok(self.planned_for(source, params)?.shared.prepared.clone())
    }

    /// The same, with what is done beside it.
    pub(super) fn planned_for(&self, source: &Source, params: &[Datum]) -> SqlResult<Rc<Planned>> {
        let Work::Query(_) = &source.work else {
            return Err(sql_err!(INVALID_CURSOR_DEFINITION, "prepared statement is not a SELECT"));
        };
        let planned = self.plan_for(source, params, Wanted::Exact)?;
        self.check_permitted(&planned.shared)?;
        Ok(planned)
    }

    fn source_of_execute(&self, name: &str) -> SqlResult<Rc<Source>> {
        let found = self.statements.borrow_mut().find(name);
        found.ok_or_else(|| {
            sql_err!(INVALID_SQL_STATEMENT_NAME, "prepared statement \"{name}\" does not exist")
                .routine("FetchPreparedStatement")
        })
    }

    fn execute_params(&self, source: &Source, execute: &Execute, text: &str) -> SqlResult<Vec<Datum>> {
        let types = source.param_types();
        if types.len() != execute.params.len() {
            let message = format!("wrong number of parameters for prepared statement \"{}\"", execute.name);
            let detail = format!("Expected {} parameters but got {}.", types.len(), execute.params.len());
            return Err(SqlError::new(SqlState::SYNTAX_ERROR, message).detail(detail));
        }
        let format = self.format();
        let call = types::Call::new(&format).with_session(self);
        let mut values = Vec::with_capacity(types.len());
        for (i, (expr, &ty)) in execute.params.iter().zip(types.iter()).enumerate() {
            let purpose = analyze::Purpose::ExecuteParameter;
            let context = analyze::ExprContext { purpose, relation: None, column: None, value: None };
            let expr = analyze::analyze_expr(expr, text, context, self, &call)?;
            let planned = self.with_planner(self, |context| plan::convert_expression(&expr, context))?;
            let converted = analyze::assign_to(expr, ty, -1, text, self, &call)?.ok_or_else(|| {
                let name = |oid: base::Oid| types::format_type(oid, None).unwrap_or_else(|| oid.to_string());
                sql_err!(
                    DATATYPE_MISMATCH,
                    "parameter ${} of type {} cannot be coerced to the expected type {}",
                    i + 1,
                    name(planned.type_oid()),
                    name(ty)
                )
                .hint("You will need to rewrite or cast the expression.")
            })?;
            values.push(self.evaluate(&converted)?);
        }
        Ok(values)
    }

    /// Computes an analysed expression that stands alone.
    pub fn evaluate(&self, expr: &analyze::Expr) -> SqlResult<Datum> {
        self.evaluate_with(expr, &[])
    }

    /// Calls a function of any language, built-in or not, with values of these types. Whether the user may is not asked.
    pub fn call_function<const N: usize>(&self, function: Oid, args: [(Oid, Datum); N]) -> SqlResult<Datum> {
        let location = Location::NONE;
        let constant = |(type_oid, value)| {
            Expr::Const(Const { type_oid, typmod: -1, collation: Oid::INVALID, value, location })
        };
        let row = self.with_reader(|reader| reader.routine_row(function))?;
        let missing = || SqlError::internal(format!("cache lookup failed for function {function}"));
        let result_type = row.ok_or_else(missing)?.oid(pg_proc::PRORETTYPE);
        self.evaluate(&Expr::Func(Box::new(FuncExpr {
            function,
            result_type,
            returns_set: false,
            variadic: false,
            form: CoercionForm::Call,
            collation: Oid::INVALID,
            input_collation: Oid::INVALID,
            args: args.into_iter().map(constant).collect(),
            location,
        })))
    }

    /// Computes an analysed expression over these parameters.
    pub(crate) fn evaluate_with(&self, expr: &analyze::Expr, params: &[Datum]) -> SqlResult<Datum> {
        let expr = self.with_planner(self, |context| plan::convert_expression(expr, context))?;
        let (snapshot, command) = {
            let mut txn = self.txn.borrow_mut();
            (txn.statement_snapshot()?, txn.current_command())
        };
        self.with_env(&snapshot, command, |env| executor::run::evaluate(&expr, env, params))
    }

    /// DEALLOCATE; `None` is ALL.
    pub fn deallocate(&self, name: Option<&str>) -> SqlResult<()> {
        let Some(name) = name else {
            self.statements.borrow_mut().clear();
            return Ok(());
        };
        self.source_of_execute(name)?;
        self.statements.borrow_mut().remove(name);
        Ok(())
    }

    /// Columns of what EXECUTE returns. That there is no such statement is told when it runs.
    pub fn columns_of_prepared(&self, name: &str) -> SqlResult<Option<Arc<[Column]>>> {
        let source = self.statements.borrow_mut().find(name);
        source.map_or(Ok(None), |source| self.columns_of(&source))
    }
}
