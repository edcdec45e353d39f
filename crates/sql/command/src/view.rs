//! # What
//! CREATE VIEW: the analysed query as the view's rule, with what it depends on.
//!
//! # PostgreSQL counterpart
//! `commands/view.c`.

use analyze::{Expr, ParamTypes, Query, RteKind, facts, stored, updatable, walk};
use base::{Oid, SqlError, SqlResult, SqlState, sql_err};
use catalog::change::{NewColumn, NewTable, ObjectAddress};
use catalog::{CatalogView, RelationKind, Table};
use parse::Statement;
use parse::ast::{CreateView, Persistence};
use session::Session;
use txn::LockMode;
use types::{Call, oids};

use super::names::may_change_system;
use super::storage_parameter::{self, Target};
use super::{names, table, temporary, type_name, uses};

/// CREATE [OR REPLACE] VIEW.
pub(crate) fn create(session: &Session, statement: &CreateView, text: &str) -> SqlResult<()> {
    let query = analyzed(session, statement, text)?;
    let options = options_of(statement, &query)?;
    let columns = columns_of(session, &query, &statement.columns)?;
    let schema = match statement.view.persistence {
        Persistence::Unlogged => {
            return Err(sql_err!(SYNTAX_ERROR, "views cannot be unlogged because they do not have storage"));
        }
        Persistence::Temporary => temporary::schema(session)?,
        _ if statement.view.schema.is_none() && reads_temporary(session, &query)? => {
            let message = format!("view \"{}\" will be a temporary view", statement.view.name);
            session.notice(names::notice(SqlState::SUCCESSFUL_COMPLETION, message));
            temporary::schema(session)?
        }
        _ => names::creation_schema(session, &statement.view)?,
    };
    let name = &statement.view.name;
    let existing = session.with_reader(|reader| reader.relation_oid(schema, name))?;
    let view = match existing.filter(|_| statement.replace) {
        Some(oid) => {
            replace(session, oid, &columns)?;
            session.with_changer(|changer| changer.set_options(oid, &options))?;
            oid
        }
        None => {
            table::already_there(session, schema, name, false)?;
            let temporary = session.names.temporary_schema() == Some(schema);
            let new = NewTable {
                name: name.clone(),
                schema,
                owner: session.names.user(),
                kind: RelationKind::View,
                persistence: if temporary { b't' } else { b'p' },
                columns,
                options,
                method: Oid::INVALID,
                tablespace: Oid::INVALID,
            };
            session.with_changer(|changer| changer.create_table(&new))?
        }
    };
    let (query, needs) = self::stored(&query);
    session.with_changer(|changer| changer.set_view_query(view, &query, &needs))
}

/// A view's query as the catalogs keep it, with what it needs.
pub(super) fn stored(query: &Query) -> (String, Vec<ObjectAddress>) {
    let mut needs = Vec::new();
    uses::of_query(query, &mut needs);
    needs.sort_unstable_by_key(|n| (n.class, n.object, n.sub));
    needs.dedup();
    (stored::store_query(query), needs)
}

fn analyzed(session: &Session, statement: &CreateView, text: &str) -> SqlResult<Query> {
    let format = session.format();
    let call = Call::new(&format).with_session(session);
    let whole = Statement::CreateView(Box::new(statement.clone()));
    let analyzed = session.with_relations_locked(|view| {
        analyze::analyze_statement(&whole, text, ParamTypes::None, view, &call)
    })?;
    let query = analyzed.query.utility.and_then(|utility| utility.query);
    let query = query.ok_or_else(|| SqlError::internal("a view has no query"))?;
    if query.has_modifying_cte {
        return Err(sql_err!(
            FEATURE_NOT_SUPPORTED,
            "views must not contain data-modifying statements in WITH"
        ));
    }
    Ok(query)
}

/// WITH (...) and WITH CHECK OPTION, as `name=value`.
fn options_of(statement: &CreateView, query: &Query) -> SqlResult<Vec<String>> {
    let mut options = storage_parameter::check(Target::View, &statement.options)?;
    if let Some(cascaded) = statement.check_option {
        if options.iter().any(|option| option.starts_with("check_option=")) {
            return Err(sql_err!(
                INVALID_PARAMETER_VALUE,
                "parameter \"check_option\" specified more than once"
            ));
        }
        options.push(format!("check_option={}", if cascaded { "cascaded" } else { "local" }));
    }
    match updatable::view_problem(query, true) {
        Some(problem) if options.iter().any(|option| option.starts_with("check_option=")) => {
            Err(check_option_refused(problem))
        }
        _ => Ok(options),
    }
}

fn check_option_refused(problem: &'static str) -> SqlError {
    sql_err!(FEATURE_NOT_SUPPORTED, "WITH CHECK OPTION is supported only on automatically updatable views")
        .hint(problem)
}

/// Refuses WITH CHECK OPTION on a view that cannot be written to.
pub(super) fn require_updatable(session: &Session, view: &Table) -> SqlResult<()> {
    match updatable::problem_of(view, session)? {
        Some(problem) => Err(check_option_refused(problem)),
        None => Ok(()),
    }
}

/// Whether a query reads a temporary relation, which what lasts must not.
pub(super) fn reads_temporary(session: &Session, query: &Query) -> SqlResult<bool> {
    for entry in &query.range_table {
        let temporary = match &entry.kind {
            RteKind::Relation(relation) => relation.table.persistence == 't',
            RteKind::Subquery(sub) if sub.view.is_valid() => {
                names::describe(session, sub.view)?.persistence == 't'
            }
            RteKind::Subquery(sub) => reads_temporary(session, &sub.query)?,
            _ => false,
        };
        if temporary {
            return Ok(true);
        }
    }
    for cte in &query.ctes {
        if reads_temporary(session, &cte.query)? {
            return Ok(true);
        }
    }
    let mut found = false;
    walk::visit_query(query, 0, &mut |expr, _| {
        if let Expr::SubLink(sub) = expr {
            found = found || reads_temporary(session, &sub.query)?;
        }
        Ok::<_, SqlError>(!found)
    })?;
    Ok(found)
}

fn columns_of(session: &Session, query: &Query, names: &[String]) -> SqlResult<Vec<NewColumn>> {
    let array_of = |element: Oid| {
        let known = session.type_by_oid(element).ok().flatten();
        known.map_or(Oid::INVALID, |def| def.array)
    };
    let mut columns: Vec<NewColumn> = Vec::new();
    for (i, target) in query.result_columns().enumerate() {
        let name = match names.get(i) {
            Some(name) => name.clone(),
            None => target.name.clone().unwrap_or_default(),
        };
        if columns.iter().any(|c| c.name == name) {
            return Err(sql_err!(DUPLICATE_COLUMN, "column \"{name}\" specified more than once"));
        }
        let type_oid = facts::expr_type(&target.expr, &array_of);
        let collation = facts::expr_collation(&target.expr);
        let natural = session.type_collation_of(type_oid)?;
        if natural.is_valid() && !collation.is_valid() {
            let error = sql_err!(
                INDETERMINATE_COLLATION,
                "could not determine which collation to use for view column \"{name}\""
            );
            return Err(error.hint("Use the COLLATE clause to set the collation explicitly."));
        }
        let typmod = facts::expr_typmod(&target.expr);
        columns.push(NewColumn { name, type_oid, typmod, collation, ..NewColumn::default() });
    }
    if names.len() > columns.len() {
        return Err(sql_err!(SYNTAX_ERROR, "CREATE VIEW specifies more column names than columns"));
    }
    for column in &columns {
        // The system views show statistics of columns of any type.
        if column.type_oid == oids::anyarray && may_change_system(session) {
            continue;
        }
        session.with_changer(|changer| changer.check_column_type(&column.name, column.type_oid))?;
    }
    Ok(columns)
}

/// OR REPLACE: old columns stay as they are, new ones may follow.
fn replace(session: &Session, oid: Oid, columns: &[NewColumn]) -> SqlResult<()> {
    let old = names::describe(session, oid)?;
    if old.kind != RelationKind::View {
        return Err(sql_err!(WRONG_OBJECT_TYPE, "\"{}\" is not a view", old.name));
    }
    names::lock(session, &old, LockMode::AccessExclusive, txn::LockWait::Block)?;
    let old = names::describe(session, oid)?;
    names::check_owner(session, &old)?;
    check_columns(session, &old, columns)?;
    for column in &columns[old.columns.len()..] {
        session.with_changer(|changer| changer.add_column(oid, column).map(drop))?;
    }
    Ok(())
}

fn check_columns(session: &Session, old: &Table, columns: &[NewColumn]) -> SqlResult<()> {
    if columns.len() < old.columns.len() {
        return Err(sql_err!(INVALID_TABLE_DEFINITION, "cannot drop columns from view"));
    }
    for (old, new) in old.columns.iter().zip(columns) {
        if old.name != new.name {
            let error = sql_err!(
                INVALID_TABLE_DEFINITION,
                "cannot change name of view column \"{}\" to \"{}\"",
                old.name,
                new.name
            );
            return Err(
                error.hint("Use ALTER VIEW ... RENAME COLUMN ... to change name of view column instead.")
            );
        }
        if (old.type_oid, old.typmod) != (new.type_oid, new.typmod) {
            let shown = |oid, typmod| session.with_reader(|reader| type_name::format(reader, oid, typmod));
            return Err(sql_err!(
                INVALID_TABLE_DEFINITION,
                "cannot change data type of view column \"{}\" from {} to {}",
                old.name,
                shown(old.type_oid, old.typmod)?,
                shown(new.type_oid, new.typmod)?
            ));
        }
        if old.collation != new.collation {
            let named = |oid| session.collation_by_oid(oid).map(|c| c.map_or_else(String::new, |c| c.name));
            return Err(sql_err!(
                INVALID_TABLE_DEFINITION,
                "cannot change collation of view column \"{}\" from \"{}\" to \"{}\"",
                old.name,
                named(old.collation)?,
                named(new.collation)?
            ));
        }
    }
    Ok(())
}
