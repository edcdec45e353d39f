//! # What
//! CREATE TABLE AS and SELECT INTO: the query is planned, the table made, and the rows go straight to its heap. What CREATE MATERIALIZED
//! VIEW has in common with them.
//!
//! # Invariants
//! 1. Nothing is made if the query cannot be planned.
//!
//! # WAL and crash
//! Rows are logged a page at a time; a crash or an error leaves no table.
//!
//! # PostgreSQL counterpart
//! `commands/createas.c`.

use std::rc::Rc;
use std::sync::Arc;

use analyze::{Analyzed, facts};
use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::change::{NewColumn, NewTable, ObjectAddress};
use catalog::{CatalogView, RelationKind, Table};
use executor::run::{Prepared, StoredRows};
use heap::{InsertOptions, TupleRef};
use parse::Statement;
use parse::ast::{CreateTableAs, Into, Persistence};
use session::commands::{self, TableQuery};
use session::{Arguments, Session, Source};
use tuple::{Datum, RowLayout};
use types::Call;

use super::heap_load::HeapLoad;
use super::internal::Internal;
use super::storage_parameter::Target;
use super::{
    access_method, matview, names, on_commit, storage_parameter, table, tablespace, type_name, view,
};

/// CREATE TABLE AS, SELECT INTO. Returns the command tag.
pub(crate) fn run(
    session: &Session,
    statement: &CreateTableAs,
    text: &str,
    arguments: &Arguments<'_>,
) -> SqlResult<String> {
    if statement.materialized_view {
        return matview::create(session, statement, text);
    }
    if exists(session, statement)? {
        return Ok("CREATE TABLE AS".into());
    }
    let mut query = Query::new(session, statement, text, arguments)?;
    let Some(mut load) = query.target(session, statement)? else { return Ok("CREATE TABLE AS".into()) };
    let Query { internal, source, params, .. } = &mut query;
    internal.run_written_into(session, (source, params), &mut *load)?;
    load.finish().map(|rows| format!("SELECT {rows}"))
}

/// Whether IF NOT EXISTS leaves nothing to do; an error if a relation is in the way without it.
pub(crate) fn exists(session: &Session, statement: &CreateTableAs) -> SqlResult<bool> {
    let relation = &statement.into.relation;
    // Privileges for the query are checked before those for the new table.
    let schema = match relation.persistence {
        Persistence::Temporary => table::target_schema(session, relation)?,
        _ => names::find_creation_schema(session, relation)?,
    };
    let name = &statement.into.relation.name;
    let taken = session.with_reader(|reader| reader.relation_oid(schema, name))?.is_some();
    Ok(taken && table::already_there(session, schema, name, statement.if_not_exists)?.is_some())
}

/// The query of the statement, planned.
pub(crate) struct Query {
    pub(crate) internal: Internal,
    /// What it is read from.
    pub(crate) source: Rc<Source>,
    pub(crate) params: Vec<Datum>,
    definition: Definition,
}

/// What the new relation is.
#[derive(Default)]
pub(super) struct Definition {
    columns: Vec<NewColumn>,
    /// The query that a materialized view keeps, with what it needs.
    view: Option<(String, Vec<ObjectAddress>)>,
}

impl Definition {
    /// Analyses the query and locks what it reads.
    pub(super) fn of(session: &Session, statement: &CreateTableAs, text: &str) -> SqlResult<Definition> {
        let format = session.format();
        let call = Call::new(&format).with_session(session);
        let analyzed = session.with_relations_locked(|view| {
            analyze::analyze_statement(&statement.query, text, analyze::ParamTypes::None, view, &call)
        })?;
        Definition::new(session, statement, &analyzed)
    }

    fn new(session: &Session, statement: &CreateTableAs, analyzed: &Analyzed) -> SqlResult<Definition> {
        let view = match statement.materialized_view {
            true => {
                matview::check_definition(session, statement, &analyzed.query)?;
                Some(view::stored(&analyzed.query))
            }
            false => None,
        };
        let columns = named(session, columns_of(session, analyzed), &statement.into.columns)?;
        Ok(Definition { columns, view })
    }

    /// Makes the relation, without rows. Returns its OID.
    pub(super) fn make(self, session: &Session, statement: &CreateTableAs) -> SqlResult<Oid> {
        let kind = match self.view {
            Some(_) => RelationKind::MaterializedView,
            None => RelationKind::Table,
        };
        let oid = new_table(session, &statement.into, (kind, self.columns))?;
        if let Some((query, needs)) = self.view {
            session.with_changer(|changer| changer.set_view_query(oid, &query, &needs))?;
        }
        Ok(oid)
    }
}

impl Query {
    /// Analyses and plans it, and takes its locks.
    pub(crate) fn new(
        session: &Session,
        statement: &CreateTableAs,
        text: &str,
        arguments: &Arguments<'_>,
    ) -> SqlResult<Query> {
        let names = &statement.into.columns;
        if let Statement::Execute(execute) = &*statement.query {
            let (source, params) = session.prepared_for_execute(execute, text)?;
            let prepared = session.plan_of(&source, &params)?;
            let column = |c: &plan::ResultColumn| (c.name.to_string(), c.type_oid, c.typmod, Oid::INVALID);
            let result = prepared.statement.result.iter().map(column).collect();
            let definition = Definition { columns: named(session, result, names)?, view: None };
            return Ok(Query { internal: Internal::of(session, prepared)?, source, params, definition });
        }
        let format = session.format();
        let call = Call::new(&format).with_session(session);
        let types = || arguments.types.clone();
        let analyze = || analyze::analyze_statement(&statement.query, text, types(), session, &call);
        let (internal, analyzed) = Internal::analyzed(session, analyze)?;
        let definition = Definition::new(session, statement, &analyzed)?;
        session.check_access(&internal.prepared().needs)?;
        let source = Source::nested(text, &statement.query, None);
        Ok(Query { internal, source, params: arguments.values.to_vec(), definition })
    }
}

impl TableQuery for Query {
    fn prepared(&self) -> &Arc<Prepared> {
        self.internal.prepared()
    }

    fn source(&self) -> &Rc<Source> {
        &self.source
    }

    fn params(&self) -> &[Datum] {
        &self.params
    }

    fn target<'s>(
        &mut self,
        session: &'s Session,
        statement: &CreateTableAs,
    ) -> SqlResult<Option<Box<dyn commands::Load + 's>>> {
        let oid = std::mem::take(&mut self.definition).make(session, statement)?;
        if statement.into.skip_data {
            return Ok(None);
        }
        if statement.materialized_view {
            matview::set_populated(session, oid, true)?;
        }
        Ok(Some(Box::new(Load::new(session, names::describe(session, oid)?)?)))
    }
}

/// Name, type, modifier and collation of the result's columns.
type ResultColumns = Vec<(String, Oid, i32, Oid)>;

fn columns_of(session: &Session, analyzed: &Analyzed) -> ResultColumns {
    let array_of = |element: Oid| {
        let known = session.type_by_oid(element).ok().flatten();
        known.map_or(Oid::INVALID, |def| def.array)
    };
    let column = |target: &analyze::TargetEntry| {
        (
            target.name.clone().unwrap_or_default(),
            facts::expr_type(&target.expr, &array_of),
            facts::expr_typmod(&target.expr),
            facts::expr_collation(&target.expr),
        )
    };
    analyzed.query.result_columns().map(column).collect()
}

/// Columns of the table: the result's, under the names given.
fn named(session: &Session, result: ResultColumns, names: &[String]) -> SqlResult<Vec<NewColumn>> {
    if names.len() > result.len() {
        return Err(sql_err!(SYNTAX_ERROR, "too many column names were specified"));
    }
    let mut columns: Vec<NewColumn> = Vec::with_capacity(result.len());
    for (i, (name, type_oid, typmod, collation)) in result.into_iter().enumerate() {
        let name = names.get(i).cloned().unwrap_or(name);
        let natural = session.type_collation_of(type_oid)?;
        if natural.is_valid() && !collation.is_valid() {
            let error = sql_err!(
                INDETERMINATE_COLLATION,
                "no collation was derived for column \"{name}\" with collatable type {}",
                session.with_reader(|reader| type_name::format(reader, type_oid, -1))?
            );
            return Err(error.hint("Use the COLLATE clause to set the collation explicitly."));
        }
        table::check_column_name(&name)?;
        names::check_type_usage(session, type_oid)?;
        if columns.iter().any(|c| c.name == name) {
            return Err(sql_err!(DUPLICATE_COLUMN, "column \"{name}\" specified more than once"));
        }
        session.with_changer(|changer| changer.check_column_type(&name, type_oid))?;
        columns.push(NewColumn { name, type_oid, typmod, collation, ..NewColumn::default() });
    }
    Ok(columns)
}

fn new_table(
    session: &Session,
    into: &Into,
    (kind, columns): (RelationKind, Vec<NewColumn>),
) -> SqlResult<Oid> {
    table::check_storage(&into.relation, into.on_commit)?;
    let method = match kind {
        RelationKind::View => Oid::INVALID,
        _ => access_method::of_table(session, into.access_method.as_deref())?,
    };
    let schema = table::target_schema(session, &into.relation)?;
    table::already_there(session, schema, &into.relation.name, false)?;
    let temporary = table::persistence(session, &into.relation, schema) == b't';
    let kept = tablespace::Kept { temporary, partitioned: false };
    let space = match kind {
        RelationKind::View => Oid::INVALID,
        _ => tablespace::of_new(session, into.tablespace.as_deref(), Oid::INVALID, kept)?,
    };
    let new = NewTable {
        name: into.relation.name.clone(),
        schema,
        owner: session.names.user(),
        kind,
        persistence: table::persistence(session, &into.relation, schema),
        columns,
        options: storage_parameter::check(Target::Table, &into.options)?,
        method,
        tablespace: space,
    };
    let oid = session.with_changer(|changer| changer.create_table(&new))?;
    on_commit::register(session, oid, into.on_commit);
    Ok(oid)
}

/// Rows on their way into the new table.
pub(crate) struct Load<'s> {
    session: &'s Session,
    heap: HeapLoad,
    rows: u64,
}

impl<'s> Load<'s> {
    /// For a table that is there and empty.
    pub(crate) fn new(session: &'s Session, table: Arc<Table>) -> SqlResult<Load<'s>> {
        let heap = table.heap.clone().ok_or_else(|| SqlError::internal("a table without a heap"))?;
        let options = InsertOptions { skip_fsm: true, ..InsertOptions::default() };
        Ok(Load { session, heap: HeapLoad::new(table.oid, heap, options), rows: 0 })
    }

    /// Older snapshots see the rows too, once the transaction has ended. For new files, whose table is locked until then.
    pub(crate) fn freeze(&mut self) {
        self.heap.set_options(InsertOptions { skip_fsm: true, frozen: true });
    }

    /// Takes a row.
    pub(crate) fn put(&mut self, row: &[Datum]) -> SqlResult<()> {
        self.heap.add(self.session, row)?;
        self.taken()
    }

    fn taken(&mut self) -> SqlResult<()> {
        self.rows += 1;
        if self.heap.is_full() {
            self.heap.store(self.session)?;
        }
        Ok(())
    }

    /// Stores the last rows, and shows all of them to the commands that follow. Returns their number.
    pub(crate) fn finish(mut self) -> SqlResult<u64> {
        self.heap.store(self.session)?;
        self.session.next_command()?;
        Ok(self.rows)
    }
}

impl StoredRows for Load<'_> {
    fn layout(&self) -> &RowLayout {
        &self.heap.heap().desc.layout
    }

    fn put(&mut self, row: &[Datum]) -> SqlResult<()> {
        Load::put(self, row)
    }

    fn put_stored(&mut self, row: &TupleRef<'_>) -> SqlResult<()> {
        self.heap.add_stored(row);
        self.taken()
    }
}

impl commands::Load for Load<'_> {
    fn finish(self: Box<Self>) -> SqlResult<u64> {
        Load::finish(*self)
    }
}
