//! # What
//! CREATE and REFRESH MATERIALIZED VIEW: a view's query whose rows are kept, until they are asked for anew.
//!
//! # Invariants
//! 1. The query runs as the view's owner, in a security-restricted operation, no matter which user refreshes the view.
//! 2. A refresh that fails leaves the rows of before: new ones come in new files, or as changes of a transaction that goes.
//!
//! # Locks
//! ACCESS EXCLUSIVE on the view, EXCLUSIVE with CONCURRENTLY: it is read meanwhile.
//!
//! # PostgreSQL counterpart and differences
//! `commands/matview.c`. What changed is found by two anti joins over a unique index's columns, where PostgreSQL stores the outcome of one full
//! join in a second temporary table.

use std::sync::Arc;

use analyze::Analyzed;
use base::{Oid, SqlError, SqlResult, SqlState, sql_err};
use catalog::change::{Behavior, NewColumn, NewTable, ObjectAddress};
use catalog::system::pg_class;
use catalog::{Index, RelationKind, Table};
use parse::ast::{CreateTableAs, Persistence, RangeVar};
use session::Session;
use session::firing::foreign_key::parsed;
use session::functions::quote_identifier;
use tuple::Datum;
use txn::LockMode;
use types::value::FromDatum;

use super::create_as::{self, Definition, Load};
use super::internal::Internal;
use super::{alter_rows, names, temporary, trigger};

/// CREATE MATERIALIZED VIEW. Returns the command tag.
pub(super) fn create(session: &Session, statement: &CreateTableAs, text: &str) -> SqlResult<String> {
    let tag = "CREATE MATERIALIZED VIEW";
    if create_as::exists(session, statement)? {
        return Ok(tag.into());
    }
    let definition = Definition::of(session, statement, text)?;
    let view = definition.make(session, statement)?;
    if statement.into.skip_data {
        return Ok(tag.into());
    }
    let table = names::describe(session, view)?;
    Ok(format!("SELECT {}", fill(session, &table)?))
}

/// What a materialized view must not be, of what the grammar lets through.
pub(super) fn check_definition(
    session: &Session,
    statement: &CreateTableAs,
    query: &analyze::Query,
) -> SqlResult<()> {
    let refused = match () {
        () if query.has_modifying_cte => "materialized views must not use data-modifying statements in WITH",
        () if super::view::reads_temporary(session, query)? => {
            "materialized views must not use temporary tables or views"
        }
        () if statement.into.relation.persistence == Persistence::Unlogged => {
            "materialized views cannot be unlogged"
        }
        () => return Ok(()),
    };
    Err(sql_err!(FEATURE_NOT_SUPPORTED, "{refused}"))
}

/// REFRESH MATERIALIZED VIEW.
pub(super) fn refresh(
    session: &Session,
    name: &RangeVar,
    concurrently: bool,
    skip_data: bool,
) -> SqlResult<()> {
    let mode = if concurrently { LockMode::Exclusive } else { LockMode::AccessExclusive };
    let view = names::open(session, name, mode)?;
    check_kind(&view)?;
    names::check_right(session, &view, "m")?;
    if view.kind != RelationKind::MaterializedView {
        return Err(sql_err!(FEATURE_NOT_SUPPORTED, "\"{}\" is not a materialized view", view.name));
    }
    if concurrently && !view.populated {
        let message = "CONCURRENTLY cannot be used when the materialized view is not populated";
        return Err(sql_err!(FEATURE_NOT_SUPPORTED, "{message}"));
    }
    if concurrently && skip_data {
        let message = "CONCURRENTLY and WITH NO DATA options cannot be used together";
        return Err(sql_err!(SYNTAX_ERROR, "{message}"));
    }
    trigger::check_none_wait(session, &view, "REFRESH MATERIALIZED VIEW")?;
    match (concurrently, skip_data) {
        (true, _) => change(session, &view),
        (_, true) => {
            set_populated(session, view.oid, false)?;
            alter_rows::replace(session, &view, &mut |_| Ok(())).map(drop)
        }
        _ => fill(session, &view).map(drop),
    }
}

/// MAINTAIN allows this on relations that store rows; on others nothing does.
fn check_kind(table: &Table) -> SqlResult<()> {
    match table.kind {
        RelationKind::Table
        | RelationKind::Toast
        | RelationKind::MaterializedView
        | RelationKind::PartitionedTable => Ok(()),
        _ => Err(sql_err!(WRONG_OBJECT_TYPE, "\"{}\" is not a table or materialized view", table.name)),
    }
}

pub(super) fn set_populated(session: &Session, view: Oid, populated: bool) -> SqlResult<()> {
    session.with_changer(|changer| {
        changer.edit_relation(view, |row| row[pg_class::RELISPOPULATED] = populated.into())
    })
}

/// Gives a materialized view the rows of its query, in new files. Returns their number.
fn fill(session: &Session, view: &Table) -> SqlResult<u64> {
    session.as_maintainer(view.owner, || {
        let mut query = planned(session, view)?;
        set_populated(session, view.oid, true)?;
        alter_rows::replace(session, view, &mut |load| {
            load.freeze();
            query.run_into(session, &[], load).map(drop)
        })
    })
}

/// The view's query, planned with the rights of the user there is.
fn planned(session: &Session, view: &Table) -> SqlResult<Internal> {
    let analyze = || {
        let query = analyze::views::expand(view, session)?;
        Ok(Analyzed { query, params: Vec::new(), rules: None })
    };
    let (internal, _) = Internal::analyzed(session, analyze)?;
    session.check_access(&internal.prepared().needs)?;
    Ok(internal)
}

/// Deletes rows of a materialized view that its query no longer returns, and inserts new ones.
fn change(session: &Session, view: &Arc<Table>) -> SqlResult<()> {
    let Some(unique) = view.indexes.iter().find(|index| identifies_rows(index)) else {
        let message =
            format!("cannot refresh materialized view \"{}.{}\" concurrently", view.schema_name, view.name);
        let hint =
            "Create a unique index with no WHERE clause on one or more columns of the materialized view.";
        let error = SqlError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, message);
        return Err(error.hint(hint));
    };
    let schema = temporary::schema(session)?;
    session.as_maintainer(view.owner, || {
        let mut query = planned(session, view)?;
        let new = new_rows(session, view, schema)?;
        let mut load = Load::new(session, new.clone())?;
        query.run_into(session, &[], &mut load)?;
        load.finish()?;
        let texts = Texts::new(view, &new, unique);
        check_distinct(session, view, &texts.duplicates)?;
        session.maintaining(view.oid, || {
            apply(session, &texts.deletion)?;
            apply(session, &texts.insertion)
        })?;
        let new = [ObjectAddress::relation(new.oid)];
        session.with_changer(|changer| changer.drop_objects(&new, Behavior::Restrict).map(drop))
    })
}

/// Whether an index tells all rows apart that have no NULL in its columns.
fn identifies_rows(index: &Index) -> bool {
    index.unique
        && index.valid
        && index.immediate
        && index.predicate.is_none()
        && !index.keys.is_empty()
        && index.keys.iter().all(|&number| number > 0)
}

/// An empty temporary table with the columns of a view.
fn new_rows(session: &Session, view: &Table, schema: Oid) -> SqlResult<Arc<Table>> {
    let new = NewTable {
        name: format!("pg_temp_{}", view.oid),
        schema,
        owner: view.owner,
        kind: RelationKind::Table,
        persistence: b't',
        columns: view.columns.iter().map(NewColumn::like).collect(),
        options: Vec::new(),
        method: Oid::INVALID,
        tablespace: Oid::INVALID,
    };
    let oid = session.with_changer(|changer| changer.create_table(&new))?;
    names::describe(session, oid)
}

/// Statements that compare a view with its new rows.
struct Texts {
    duplicates: String,
    deletion: String,
    insertion: String,
}

impl Texts {
    fn new(view: &Table, new: &Table, unique: &Index) -> Texts {
        let name = |t: &Table| format!("{}.{}", quote_identifier(&t.schema_name), quote_identifier(&t.name));
        let (view_name, new_name) = (name(view), name(new));
        let key = |&number: &i16| {
            let column = quote_identifier(&view.columns[number as usize - 1].name);
            format!("a.{column} OPERATOR(pg_catalog.=) b.{column}")
        };
        let keys: Vec<String> = unique.keys.iter().map(key).collect();
        let same = format!("{} AND a.* OPERATOR(pg_catalog.*=) b.*", keys.join(" AND "));
        Texts {
            duplicates: format!(
                "SELECT (a.*)::pg_catalog.text FROM {new_name} a JOIN {new_name} b ON ({same}) WHERE a.ctid < b.ctid AND a.* IS NOT NULL LIMIT 1"
            ),
            deletion: format!(
                "DELETE FROM {view_name} a WHERE NOT EXISTS (SELECT 1 FROM {new_name} b WHERE {same})"
            ),
            insertion: format!(
                "INSERT INTO {view_name} SELECT a.* FROM {new_name} a WHERE NOT EXISTS (SELECT 1 FROM {view_name} b WHERE {same})"
            ),
        }
    }
}

/// Two rows that are the same could both stand for one row of before.
fn check_distinct(session: &Session, view: &Table, text: &str) -> SqlResult<()> {
    let mut twice = None;
    Internal::new(session, &parsed(text)?, text, &[])?.run(session, &[], &mut |row| {
        twice = row.first().map(|value| <&str>::from_datum(value).to_owned());
        Ok(())
    })?;
    let Some(row) = twice else { return Ok(()) };
    let error = sql_err!(
        CARDINALITY_VIOLATION,
        "new data for materialized view \"{}\" contains duplicate rows without any null columns",
        view.name
    );
    Err(error.detail(format!("Row: {row}")))
}

fn apply(session: &Session, text: &str) -> SqlResult<()> {
    Internal::new(session, &parsed(text)?, text, &[])?.run(session, &[], &mut |_: &[Datum]| Ok(()))?;
    session.next_command()
}
