//! Statements inside statements: PREPARE and EXECUTE, EXPLAIN.

use std::rc::Rc;
use std::sync::Arc;

use base::{SqlError, SqlResult, SqlState, sql_err};
use parse::Statement;
use parse::ast::{self, DefElem, Execute, OptionValue};
use plan::explain::{self, Measured};
use tuple::Datum;
use types::oids;

use super::Session;
use super::portal::Portal;
use super::statement::{Source, Work};
use crate::command::{TableQuery, table_exists};
use crate::output::{Column, Output, RowEncoder};
use crate::run::Execution;

impl Session {
    /// PREPARE.
    pub(crate) fn prepare(
        &self,
        name: &str,
        types: &[ast::TypeName],
        query: &Statement,
        text: &str,
    ) -> SqlResult<()> {
        if self.prepared.borrow().contains_key(name) {
            return Err(sql_err!(DUPLICATE_PSTATEMENT, "prepared statement \"{name}\" already exists"));
        }
        let format = self.format();
        let call = types::Call::new(&format).with_session(self);
        let types = types.iter().map(|t| Ok(analyze::resolve_type(t, text, self, &call)?.0));
        let types = types.collect::<SqlResult<Vec<_>>>()?;
        let source = Source::nested(text, query, Some(types));
        self.analyze_prepared(&source)?;
        self.name_statement(name, source, text, true);
        Ok(())
    }

    /// EXECUTE: runs the prepared statement; the command tag is its own.
    pub(crate) fn execute_prepared(
        &self,
        execute: &Execute,
        text: &str,
        out: &mut dyn Output,
    ) -> SqlResult<String> {
        let (source, params) = self.prepared_for_execute(execute, text)?;
        let mut portal = Portal::new(source, params, Vec::new());
        let tag = self.run_portal(&mut portal, 0, out)?;
        Ok(tag.map(|tag| tag.to_string()).unwrap_or_default())
    }

    /// What EXECUTE runs: the prepared statement and its parameters.
    pub(crate) fn prepared_for_execute(
        &self,
        execute: &Execute,
        text: &str,
    ) -> SqlResult<(Rc<Source>, Vec<Datum>)> {
        let source = self.source_of_execute(&execute.name)?;
        self.analyze_prepared(&source)?;
        let params = self.execute_params(&source, execute, text)?;
        Ok((source, params))
    }

    /// The current plan of a prepared statement that returns rows.
    pub(crate) fn plan_of(&self, source: &Source) -> SqlResult<Arc<crate::run::Prepared>> {
        let Work::Query(_) = &source.work else {
            return Err(sql_err!(INVALID_CURSOR_DEFINITION, "prepared statement is not a SELECT"));
        };
        let planned = self.current_plan(source)?;
        self.check_permitted(&planned.shared)?;
        Ok(planned.shared.prepared.clone())
    }

    fn source_of_execute(&self, name: &str) -> SqlResult<Rc<Source>> {
        let found = self.prepared.borrow().get(name).map(|named| named.source.clone());
        found.ok_or_else(|| {
            sql_err!(INVALID_SQL_STATEMENT_NAME, "prepared statement \"{name}\" does not exist")
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
    pub(crate) fn evaluate(&self, expr: &analyze::Expr) -> SqlResult<Datum> {
        self.evaluate_with(expr, &[])
    }

    /// Computes an analysed expression over these parameters.
    pub(crate) fn evaluate_with(&self, expr: &analyze::Expr, params: &[Datum]) -> SqlResult<Datum> {
        let expr = self.with_planner(self, |context| plan::convert_expression(expr, context))?;
        let (snapshot, command) = {
            let mut txn = self.txn.borrow_mut();
            (txn.statement_snapshot(), txn.current_command())
        };
        self.with_env(&snapshot, command, |env| crate::run::evaluate(&expr, env, params))
    }

    /// DEALLOCATE; `None` is ALL.
    pub(crate) fn deallocate(&self, name: Option<&str>) -> SqlResult<&'static str> {
        let Some(name) = name else {
            self.prepared.borrow_mut().clear();
            return Ok("DEALLOCATE ALL");
        };
        self.source_of_execute(name)?;
        self.prepared.borrow_mut().remove(name);
        Ok("DEALLOCATE")
    }

    /// Columns of what EXECUTE, FETCH and EXPLAIN return.
    pub(crate) fn nested_columns(&self, statement: &Statement) -> SqlResult<Option<Arc<[Column]>>> {
        match statement {
            Statement::Execute(execute) => {
                let source = self.source_of_execute(&execute.name)?;
                self.columns_of(&source)
            }
            Statement::Fetch(fetch) if !fetch.is_move => self.cursor_columns(&fetch.cursor),
            Statement::Explain { .. } => Ok(Some(explain_columns())),
            _ => Ok(None),
        }
    }

    /// EXPLAIN.
    pub(crate) fn explain(
        &self,
        query: &Statement,
        options: &[DefElem],
        text: &str,
        out: &mut dyn Output,
    ) -> SqlResult<()> {
        let asked = Asked::new(options)?;
        let began = runtime::time::now();
        let mut explained = self.explained(query, text)?;
        let Some(prepared) = explained.prepared.clone() else {
            return Ok(());
        };
        let planning = began.elapsed();
        let mut measured = Vec::new();
        let mut execution_time = None;
        if asked.options.analyze {
            let began = runtime::time::now();
            measured = self.measure(&prepared, &mut explained)?;
            execution_time = Some(began.elapsed());
        }
        let mut lines = explain::text(&prepared.statement, asked.options, &measured, self);
        if asked.summary {
            lines.push(format!("Planning Time: {:.3} ms", planning.as_secs_f64() * 1000.0));
            if let Some(time) = execution_time {
                lines.push(format!("Execution Time: {:.3} ms", time.as_secs_f64() * 1000.0));
            }
        }
        self.send_lines(&lines, out)
    }

    fn explained<'q>(&self, query: &'q Statement, text: &str) -> SqlResult<Explained<'q>> {
        match query {
            Statement::DeclareCursor(declare) => self.explained(&declare.query, text),
            Statement::Execute(execute) => {
                let (source, params) = self.prepared_for_execute(execute, text)?;
                Ok(Explained { prepared: Some(self.plan_of(&source)?), params, table: None })
            }
            Statement::CreateTableAs(create) if !create.materialized_view => {
                if table_exists(self, create)? {
                    return Ok(Explained { prepared: None, params: Vec::new(), table: None });
                }
                let query = TableQuery::new(self, create, text)?;
                let prepared = Some(query.internal.prepared().clone());
                let params = query.params.clone();
                Ok(Explained { prepared, params, table: Some((create, query)) })
            }
            query => {
                let source = Source::nested(text, query, None);
                let Work::Query(_) = &source.work else {
                    let name = crate::command::statement_name(query);
                    return Err(SqlError::not_supported(format!("EXPLAIN {name}")));
                };
                let planned = self.current_plan(&source)?;
                self.check_permitted(&planned.shared)?;
                let prepared = planned.shared.prepared.clone();
                Ok(Explained { prepared: Some(prepared), params: Vec::new(), table: None })
            }
        }
    }

    /// Runs a plan. Its rows make the table of CREATE TABLE AS, or are thrown away.
    fn measure(
        &self,
        prepared: &Arc<crate::run::Prepared>,
        explained: &mut Explained<'_>,
    ) -> SqlResult<Vec<Measured>> {
        self.refuse_writes(&prepared.statement)?;
        let mut load = match &mut explained.table {
            Some((create, query)) => query.target(self, create)?,
            None => None,
        };
        let nothing = matches!(&explained.table, Some((create, _)) if create.into.skip_data);
        let mut execution = Execution::new(prepared, true)?;
        let (snapshot, command) = {
            let mut txn = self.txn.borrow_mut();
            (txn.statement_snapshot(), txn.current_command())
        };
        if !nothing {
            self.with_env(&snapshot, command, |env| {
                execution.run(env, &explained.params, &mut |row| match &mut load {
                    Some(load) => load.put(row),
                    None => Ok(()),
                })
            })?;
        }
        if let Some(load) = load {
            load.finish()?;
        }
        let millis = |nanos: u64| nanos as f64 / 1e6;
        let counters = execution.counters().unwrap_or_default();
        Ok(counters
            .iter()
            .map(|c| Measured {
                rows: c.rows,
                loops: c.loops,
                startup: millis(c.startup),
                total: millis(c.total),
                filtered: c.filtered,
                unjoined: c.unjoined,
            })
            .collect())
    }

    fn send_lines(&self, lines: &[String], out: &mut dyn Output) -> SqlResult<()> {
        let columns = explain_columns();
        let format = self.format();
        let encoder = RowEncoder { columns: &columns, formats: &[], context: &format, session: self };
        lines.iter().try_for_each(|line| out.data_row(&encoder, &[Datum::text(line)]))
    }
}

impl explain::Display for Session {
    fn value(&self, type_oid: base::Oid, value: &Datum, out: &mut Vec<u8>) -> SqlResult<()> {
        let format = self.format();
        types::output(type_oid, value, &types::Call::new(&format).with_session(self), out)
    }
}

/// What EXPLAIN is about: no plan if IF NOT EXISTS leaves nothing to do.
struct Explained<'q> {
    prepared: Option<Arc<crate::run::Prepared>>,
    params: Vec<Datum>,
    /// The table that the rows make.
    table: Option<(&'q ast::CreateTableAs, TableQuery)>,
}

/// Options of EXPLAIN.
struct Asked {
    options: explain::Options,
    summary: bool,
}

impl Asked {
    fn new(list: &[DefElem]) -> SqlResult<Asked> {
        let mut options = explain::Options::default();
        let (mut summary, mut timing) = (None, None);
        for option in list {
            let on = || flag(option);
            match option.name.as_str() {
                "analyze" => options.analyze = on()?,
                "verbose" => options.verbose = on()?,
                "costs" => options.costs = on()?,
                "timing" => timing = Some(on()?),
                "summary" => summary = Some(on()?),
                "format" if matches!(&option.value, Some(OptionValue::String(f)) if f.eq_ignore_ascii_case("text")) =>
                    {}
                "buffers" | "settings" | "wal" | "memory" | "generic_plan" if !on()? => {}
                "format" => return Err(SqlError::not_supported("EXPLAIN in another format than text")),
                other => {
                    let known = ["buffers", "settings", "wal", "memory", "generic_plan", "serialize"]
                        .contains(&other);
                    return Err(match known {
                        true => SqlError::not_supported(format!("EXPLAIN option {}", other.to_uppercase())),
                        false => sql_err!(SYNTAX_ERROR, "unrecognized EXPLAIN option \"{other}\""),
                    });
                }
            }
        }
        if timing == Some(true) && !options.analyze {
            return Err(sql_err!(INVALID_PARAMETER_VALUE, "EXPLAIN option TIMING requires ANALYZE"));
        }
        options.timing = timing.unwrap_or(options.analyze);
        Ok(Asked { summary: summary.unwrap_or(options.analyze), options })
    }
}

fn flag(option: &DefElem) -> SqlResult<bool> {
    match &option.value {
        None => Ok(true),
        Some(OptionValue::Boolean(on)) => Ok(*on),
        Some(OptionValue::Integer(n)) if *n == 0 || *n == 1 => Ok(*n == 1),
        Some(OptionValue::String(text)) if base::settings::parse_bool(text).is_some() => {
            Ok(base::settings::parse_bool(text) == Some(true))
        }
        _ => Err(sql_err!(SYNTAX_ERROR, "{} requires a Boolean value", option.name)),
    }
}

fn explain_columns() -> Arc<[Column]> {
    Arc::from([Column {
        name: "QUERY PLAN".into(),
        table: base::Oid::INVALID,
        number: 0,
        type_oid: oids::text,
        type_len: -1,
        typmod: -1,
    }])
}
