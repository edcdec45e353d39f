//! # What
//! One descriptor for each statement: all that is known of it before it runs. And who runs it.
//!
//! # Invariants
//! 1. [`describe`] and [`carry_out`] name every statement and have no arm for "all others", so that a new statement does not compile
//!    until it has a descriptor and somebody who runs it.
//! 2. What a statement does about a read-only transaction, a snapshot or a transaction block is decided here unless only its options or
//!    the catalog tell; then the command asks [`Session::refuse_read_only`] or [`Session::prevent_in_block`] itself.

use std::sync::Arc;

use ::analyze::ParamTypes;
use base::{SqlError, SqlResult};
use catalog::Table;
use parse::Statement;
use parse::ast::{AlterAction, CreateTableAs, Discard, MappingChange, ObjectKind, SetAction, Transaction};
use session::commands::{self, Block, Descriptor, FileRead, FileSource, LogClass, Rows};
use session::foreign::Scan;
use session::output::{Column, Output};
use session::{Arguments, Session, explain_columns};

use super::object_kind::Move;
use super::{
    access_method, aggregate, alter, alter_function, alter_operator, alter_system, base_type, call,
    checkpoint, cluster, collation, comment, conversion, copy, create_as, database, discard, drop,
    extended_statistics, extension, foreign, function, grant, index, language, lock, matview, object_kind,
    on_commit, operator, operator_class, owner, policy, publication, range_type, reindex, role, rule, schema,
    sequence, set_tablespace, settings, subscription, table, tablespace, text_search,
    text_search_configuration, trigger, truncate, user_type, vacuum, view,
};

/// The descriptor of a statement.
pub(crate) fn describe(statement: &Statement) -> Descriptor<'_> {
    use Descriptor as D;
    use Statement as S;
    match statement {
        S::Select(_) => D::query("SELECT"),
        S::Return(_) => D::query("RETURN"),
        S::Assign(_) => D::query("assignment"),
        S::Insert(_) => D::change("INSERT"),
        S::Update(_) => D::change("UPDATE"),
        S::Delete(_) => D::change("DELETE"),
        S::Merge(_) => D::change("MERGE"),

        S::CreateTable(s) if s.foreign.is_some() => D::definition("CREATE FOREIGN TABLE"),
        S::CreateTable(_) => D::definition("CREATE TABLE"),
        S::CreateTableAs(s) => {
            let tag = match (s.materialized_view, s.select_into) {
                (true, _) => "CREATE MATERIALIZED VIEW",
                (false, true) => "SELECT INTO",
                (false, false) => "CREATE TABLE AS",
            };
            D::definition(tag).with_parameters(true)
        }
        S::RefreshMaterializedView { .. } => D::definition("REFRESH MATERIALIZED VIEW"),
        S::CreateIndex(s) => {
            let create = D::definition("CREATE INDEX");
            if s.concurrently { create.outside_blocks("CREATE INDEX CONCURRENTLY") } else { create }
        }
        S::CreateView(_) => D::definition("CREATE VIEW"),
        S::CreateSequence { .. } => D::definition("CREATE SEQUENCE"),
        S::AlterSequence { .. } => D::definition("ALTER SEQUENCE"),
        S::CreateTrigger(_) => D::definition("CREATE TRIGGER"),
        S::CreateRule(_) => D::definition("CREATE RULE"),
        S::CreatePolicy(_) => D::definition("CREATE POLICY"),
        S::AlterPolicy(_) => D::definition("ALTER POLICY"),
        S::CreatePublication(_) => D::definition("CREATE PUBLICATION"),
        S::AlterPublication(_) => D::definition("ALTER PUBLICATION"),
        S::CreateSubscription(_) => D::definition("CREATE SUBSCRIPTION"),
        S::AlterSubscription(_) => D::definition("ALTER SUBSCRIPTION"),
        S::DropSubscription(_) => D::definition("DROP SUBSCRIPTION"),
        S::AlterTable(s) => {
            let alter = D::definition(object_kind::of(s.kind).words.alter);
            let detaches = |action: &AlterAction| matches!(action, AlterAction::DetachPartition(_, true, _));
            match s.actions.iter().any(detaches) {
                true => alter.outside_blocks("ALTER TABLE ... DETACH CONCURRENTLY"),
                false => alter,
            }
        }
        S::Truncate { .. } => D::definition("TRUNCATE TABLE").logged_as(LogClass::Change),
        S::CreateSchema { .. } => D::definition("CREATE SCHEMA"),
        S::CreateTablespace { .. } => D::definition("CREATE TABLESPACE").outside_blocks("CREATE TABLESPACE"),
        S::DropTablespace { .. } => D::definition("DROP TABLESPACE").outside_blocks("DROP TABLESPACE"),
        S::AlterTablespaceOptions { .. } => D::definition("ALTER TABLESPACE"),
        S::CreateWrapper(_) => D::definition("CREATE FOREIGN DATA WRAPPER"),
        S::AlterWrapper(_) => D::definition("ALTER FOREIGN DATA WRAPPER"),
        S::CreateServer(_) => D::definition("CREATE SERVER"),
        S::AlterServer(_) => D::definition("ALTER SERVER"),
        S::UserMapping(_, MappingChange::Create { .. }) => D::definition("CREATE USER MAPPING"),
        S::UserMapping(_, MappingChange::Alter(_)) => D::definition("ALTER USER MAPPING"),
        S::UserMapping(_, MappingChange::Drop { .. }) => D::definition("DROP USER MAPPING"),
        S::ImportForeignSchema(_) => D::definition("IMPORT FOREIGN SCHEMA"),
        S::MoveAll(s) => D::definition(object_kind::of(s.kind).words.alter),

        S::CreateDomain(_) => D::definition("CREATE DOMAIN"),
        S::AlterDomain(..) => D::definition("ALTER DOMAIN"),
        S::CreateEnum(..) | S::CreateComposite(..) | S::CreateRange(..) => D::definition("CREATE TYPE"),
        S::AlterEnum(_) => D::definition("ALTER TYPE"),
        S::CreateFunction(s) if s.procedure => D::definition("CREATE PROCEDURE"),
        S::CreateFunction(_) => D::definition("CREATE FUNCTION"),
        S::AlterFunction(s) => D::definition(object_kind::of(s.kind).words.alter),
        S::Define(s) => D::definition(object_kind::of(s.kind).words.create),
        S::CreateCast(_) => D::definition("CREATE CAST"),
        S::CreateAccessMethod(_) => D::definition("CREATE ACCESS METHOD"),
        S::CreateConversion(_) => D::definition("CREATE CONVERSION"),
        S::CreateStatistics(_) => D::definition("CREATE STATISTICS"),
        S::AlterStatistics { .. } => D::definition("ALTER STATISTICS"),
        S::AlterTextSearchDictionary(..) => D::definition("ALTER TEXT SEARCH DICTIONARY"),
        S::AlterTextSearchConfiguration(_) => D::definition("ALTER TEXT SEARCH CONFIGURATION"),
        S::RefreshCollation(_) => D::definition("ALTER COLLATION"),
        S::CreateOperatorClass(_) => D::definition("CREATE OPERATOR CLASS"),
        S::CreateOperatorFamily { .. } => D::definition("CREATE OPERATOR FAMILY"),
        S::AlterOperatorFamily(_) => D::definition("ALTER OPERATOR FAMILY"),
        S::AlterOperator { .. } => D::definition("ALTER OPERATOR"),
        S::CreateExtension { .. } => D::definition("CREATE EXTENSION"),
        S::AlterExtension { .. } | S::AlterExtensionMember { .. } => D::definition("ALTER EXTENSION"),
        S::CreateLanguage(s) if s.handler.is_none() => D::definition("CREATE EXTENSION"),
        S::CreateLanguage(_) => D::definition("CREATE LANGUAGE"),

        S::Rename(s) => {
            // Renaming a column has the tag of its relation.
            let kind = if s.kind == ObjectKind::Column { s.relation_kind } else { None };
            D::definition(object_kind::of(kind.unwrap_or(s.kind)).words.alter)
        }
        S::SetSchema { kind, .. } | S::AlterOwner { kind, .. } => {
            D::definition(object_kind::of(*kind).words.alter)
        }
        S::Drop(s) => {
            let drop = D::definition(object_kind::of(s.kind).words.drop);
            if s.concurrently { drop.outside_blocks("DROP INDEX CONCURRENTLY") } else { drop }
        }
        S::Comment { .. } => D::definition("COMMENT"),

        S::CreateRole { .. } => D::definition("CREATE ROLE"),
        S::AlterRole { .. } | S::AlterRoleSet { .. } => D::definition("ALTER ROLE"),
        S::DropRole { .. } => D::definition("DROP ROLE"),
        S::DropOwned(..) => D::definition("DROP OWNED"),
        S::ReassignOwned(..) => D::definition("REASSIGN OWNED"),
        S::Grant(s) => D::definition(if s.grant { "GRANT" } else { "REVOKE" }),
        S::GrantRole(s) => D::definition(if s.grant { "GRANT ROLE" } else { "REVOKE ROLE" }),
        S::AlterDefaultPrivileges(..) => D::definition("ALTER DEFAULT PRIVILEGES"),
        S::CreateDatabase(..) => D::definition("CREATE DATABASE").outside_blocks("CREATE DATABASE"),
        S::AlterDatabase(..) | S::AlterDatabaseSet(..) | S::RefreshDatabaseCollation(_) => {
            D::definition("ALTER DATABASE")
        }
        S::DropDatabase { .. } => D::definition("DROP DATABASE").outside_blocks("DROP DATABASE"),
        // It changes a file, which no transaction knows.
        S::AlterSystem(_) => {
            D::reading("ALTER SYSTEM").logged_as(LogClass::Definition).outside_blocks("ALTER SYSTEM")
        }

        S::Copy(s) => D::reading("COPY").logged_as(if s.from { LogClass::Change } else { LogClass::Other }),
        S::Call(s) => D::reading("CALL").returning(Rows::Call(s)).with_parameters(true),
        S::Do(_) => D::reading("DO"),
        S::Load(_) => D::reading("LOAD"),
        S::Prepare { query, .. } => D::reading("PREPARE").outliving("PREPARE").logged_as(LogClass::As(query)),
        S::Execute(s) => {
            D::reading("EXECUTE").returning(Rows::Prepared(s)).logged_as(LogClass::AsPrepared(&s.name))
        }
        S::Deallocate(name) => {
            let tag = if name.is_some() { "DEALLOCATE" } else { "DEALLOCATE ALL" };
            D::reading(tag).outliving("DEALLOCATE")
        }
        S::DeclareCursor(_) => D::reading("DECLARE CURSOR").with_parameters(true),
        S::Close(name) => {
            let tag = if name.is_some() { "CLOSE CURSOR" } else { "CLOSE CURSOR ALL" };
            D::reading(tag).outliving("CLOSE")
        }
        S::Explain { query, options } => {
            let has = |name: &str| options.iter().any(|option| option.name == name);
            let log = if has("analyze") { LogClass::As(query) } else { LogClass::Other };
            // With GENERIC_PLAN the parameters are those of the plan that is shown.
            let parameters = !has("generic_plan");
            D::reading("EXPLAIN").logged_as(log).returning(Rows::Plan(options)).with_parameters(parameters)
        }
        S::Discard(what) => {
            let discard = D::reading(match what {
                Discard::All => "DISCARD ALL",
                Discard::Plans => "DISCARD PLANS",
                Discard::Sequences => "DISCARD SEQUENCES",
                Discard::Temporary => "DISCARD TEMP",
            });
            let discard = discard.outliving("DISCARD");
            if *what == Discard::All { discard.outside_blocks("DISCARD ALL") } else { discard }
        }

        S::Transaction(command) => {
            let two_phase = matches!(
                command,
                Transaction::Prepare(_) | Transaction::CommitPrepared(_) | Transaction::RollbackPrepared(_)
            );
            D { writes_log: two_phase, ..D::detached(transaction_tag(command)) }
        }
        S::Set(s) => D::detached(match s.action {
            SetAction::Reset | SetAction::ResetAll => "RESET",
            SetAction::Value(_) | SetAction::Default | SetAction::Current | SetAction::Multi(_) => "SET",
        }),
        S::Show(name) => D::detached("SHOW").returning(Rows::Setting(name)),
        S::SetConstraints(..) => D::detached("SET CONSTRAINTS"),
        S::Fetch(s) if s.is_move => D::detached("MOVE"),
        S::Fetch(s) => D::detached("FETCH").returning(Rows::Cursor(&s.cursor)),
        S::Lock { .. } => D { block: Block::Required("LOCK TABLE"), ..D::detached("LOCK TABLE") },
        S::Listen(_) => D::detached("LISTEN").outliving("LISTEN").writing_log(),
        S::Unlisten(_) => D::detached("UNLISTEN").outliving("UNLISTEN"),
        S::Notify(..) => D::detached("NOTIFY").writing_log(),
        S::Checkpoint(_) => D::detached("CHECKPOINT"),
        S::Vacuum(s) => D::detached(if s.vacuum { "VACUUM" } else { "ANALYZE" }).writing_log(),
        S::Cluster { .. } => D::detached("CLUSTER").logged_as(LogClass::Definition).writing_log(),
        S::Reindex(_) => D::detached("REINDEX").writing_log(),
    }
}

/// The command tag of a command about transactions.
pub(crate) fn transaction_tag(command: &Transaction) -> &'static str {
    match command {
        Transaction::Begin(_) => "BEGIN",
        Transaction::Start(_) => "START TRANSACTION",
        Transaction::Commit { .. } => "COMMIT",
        Transaction::Rollback { .. } | Transaction::RollbackTo(_) => "ROLLBACK",
        Transaction::Savepoint(_) => "SAVEPOINT",
        Transaction::Release(_) => "RELEASE",
        Transaction::Prepare(_) => "PREPARE TRANSACTION",
        Transaction::CommitPrepared(_) => "COMMIT PREPARED",
        Transaction::RollbackPrepared(_) => "ROLLBACK PREPARED",
    }
}

/// All utility statements.
pub struct Commands;

impl commands::Commands for Commands {
    fn describe<'s>(&self, statement: &'s Statement) -> Descriptor<'s> {
        describe(statement)
    }

    fn columns(
        &self,
        session: &Session,
        statement: &Statement,
        text: &str,
        types: ParamTypes,
    ) -> SqlResult<Option<Arc<[Column]>>> {
        match describe(statement).rows {
            Rows::None => Ok(None),
            Rows::Call(call) => call::columns(session, call, text, types),
            Rows::Setting(name) => Ok(Some(settings::show_columns(name).into())),
            Rows::Prepared(execute) => session.columns_of_prepared(&execute.name),
            Rows::Cursor(name) => session.cursor_columns(name),
            Rows::Plan(options) => Ok(Some(explain_columns(options))),
        }
    }

    fn run(
        &self,
        session: &Session,
        statement: &Statement,
        text: &str,
        arguments: &Arguments<'_>,
        out: &mut dyn Output,
    ) -> SqlResult<String> {
        run(session, statement, text, arguments, out)
    }

    fn before_commit(&self, session: &Session) -> SqlResult<()> {
        on_commit::apply(session)
    }

    fn table_query(
        &self,
        session: &Session,
        statement: &CreateTableAs,
        text: &str,
        arguments: &Arguments<'_>,
    ) -> SqlResult<Option<Box<dyn commands::TableQuery>>> {
        if create_as::exists(session, statement)? {
            return Ok(None);
        }
        Ok(Some(Box::new(create_as::Query::new(session, statement, text, arguments)?)))
    }

    fn check_file_options(&self, read: &FileRead) -> SqlResult<()> {
        copy::foreign::options(read).map(|_| ())
    }

    fn read_file(
        &self,
        session: &Session,
        table: (&Arc<Table>, &[bool]),
        source: &FileSource,
        read: &FileRead,
    ) -> SqlResult<Box<dyn Scan>> {
        copy::foreign::open(session, table, source, read)
    }
}

/// Runs a utility statement. Returns the command tag.
pub(crate) fn run(
    session: &Session,
    statement: &Statement,
    text: &str,
    arguments: &Arguments<'_>,
    out: &mut dyn Output,
) -> SqlResult<String> {
    let described = describe(statement);
    described.admit(session)?;
    let tag = carry_out(session, statement, text, arguments, out)?;
    Ok(tag.unwrap_or_else(|| described.tag.to_owned()))
}

/// Runs a statement that may run. Returns its command tag, if its descriptor does not have it.
fn carry_out(
    session: &Session,
    statement: &Statement,
    text: &str,
    arguments: &Arguments<'_>,
    out: &mut dyn Output,
) -> SqlResult<Option<String>> {
    match statement {
        Statement::CreateTable(s) => table::create(session, s, text)?,
        Statement::CreateTableAs(s) => return create_as::run(session, s, text, arguments).map(Some),
        Statement::RefreshMaterializedView { relation, concurrently, skip_data } => {
            matview::refresh(session, relation, *concurrently, *skip_data)?;
        }
        Statement::CreateIndex(s) => index::create(session, s, text)?,
        Statement::CreateView(s) => view::create(session, s, text)?,
        Statement::CreateSequence { sequence: name, options, if_not_exists } => {
            sequence::create(session, name, options, *if_not_exists, text)?;
        }
        Statement::AlterSequence { sequence: name, options, missing_ok } => {
            sequence::alter(session, name, options, *missing_ok, text)?;
        }
        Statement::CreateTrigger(s) => trigger::create(session, s, text)?,
        Statement::CreateRule(s) => rule::create(session, s, text)?,
        Statement::CreatePolicy(s) => policy::create(session, s, text)?,
        Statement::AlterPolicy(s) => policy::alter(session, s, text)?,
        Statement::CreatePublication(s) => publication::create(session, s, text)?,
        Statement::AlterPublication(s) => publication::alter(session, s, text)?,
        Statement::CreateSubscription(s) => subscription::create(session, s, text)?,
        Statement::AlterSubscription(s) => subscription::alter(session, s, text)?,
        Statement::DropSubscription(s) => subscription::drop_one(session, s)?,
        Statement::SetConstraints(list, deferred) => trigger::set_constraints(session, list, *deferred)?,
        Statement::AlterTable(s) => alter::run(session, s, text)?,
        Statement::Rename(s) => object_kind::rename(session, s)?,
        Statement::SetSchema { kind, relation, object, schema, missing_ok } => {
            let (relation, object) = (relation.as_ref(), object.as_ref());
            let to = Move { kind: *kind, relation, object, schema, missing_ok: *missing_ok };
            object_kind::set_schema(session, &to)?;
        }
        Statement::Drop(s) => drop::run(session, s)?,
        Statement::Truncate { relations, restart_identity, behavior } => {
            truncate::run(session, relations, *restart_identity, *behavior)?;
        }
        Statement::CreateExtension { name, if_not_exists, options } => {
            extension::create(session, name, *if_not_exists, options, text, out)?;
        }
        Statement::AlterExtension { name, options } => extension::update(session, name, options)?,
        Statement::AlterExtensionMember { name, add, kind, object } => {
            extension::alter_member(session, name, *add, *kind, object)?;
        }
        Statement::CreateLanguage(s) => language::create(session, s, out)?,
        Statement::Load(path) => extension::load(session, path)?,
        Statement::CreateFunction(s) => function::create(session, s, text)?,
        Statement::AlterFunction(s) => alter_function::alter(session, s, text)?,
        Statement::Define(s) => match s.kind {
            ObjectKind::Operator => operator::create(session, s, text)?,
            ObjectKind::Type => base_type::create(session, s, text)?,
            ObjectKind::Aggregate => aggregate::create(session, s, text)?,
            ObjectKind::Collation => collation::create(session, s, text)?,
            ObjectKind::TextSearchConfiguration => text_search_configuration::create(session, s)?,
            ObjectKind::TextSearchDictionary => text_search::create_dictionary(session, s)?,
            ObjectKind::TextSearchParser => text_search::create_parser(session, s)?,
            ObjectKind::TextSearchTemplate => text_search::create_template(session, s)?,
            other => return Err(SqlError::not_supported(object_kind::of(other).words.create)),
        },
        Statement::CreateCast(s) => operator::create_cast(session, s, text)?,
        Statement::CreateAccessMethod(s) => access_method::create(session, s)?,
        Statement::CreateConversion(s) => conversion::create(session, s)?,
        Statement::CreateStatistics(s) => extended_statistics::create(session, s, text).map(drop)?,
        Statement::AlterStatistics { name, target, missing_ok } => {
            extended_statistics::set_target(session, name, *target, *missing_ok)?;
        }
        Statement::AlterTextSearchDictionary(name, options) => {
            text_search::alter_dictionary(session, name, options)?;
        }
        Statement::AlterTextSearchConfiguration(s) => text_search_configuration::alter(session, s)?,
        Statement::RefreshCollation(name) => collation::refresh_version(session, name)?,
        Statement::CreateOperatorClass(s) => operator_class::create_class(session, s, text)?,
        Statement::CreateOperatorFamily { name, method } => {
            operator_class::create_family(session, name, method)?;
        }
        Statement::AlterOperatorFamily(s) => operator_class::alter_family(session, s, text)?,
        Statement::AlterOperator { operator, options } => alter_operator::alter(session, operator, options)?,
        Statement::Call(s) => call::run(session, s, text, arguments, out)?,
        Statement::Do(args) => session.notices.lend(out, |_| call::run_do(session, args))?,
        Statement::CreateSchema { name, owner, elements, if_not_exists } => {
            let (name, owner) = (name.as_deref(), owner.as_ref());
            schema::create(session, name, owner, elements, *if_not_exists, text, out)?;
        }
        Statement::CreateComposite(name, columns) => {
            user_type::create_composite(session, name, columns, text)?;
        }
        Statement::CreateEnum(name, labels) => user_type::create_enum(session, name, labels)?,
        Statement::CreateRange(name, properties) => range_type::create(session, name, properties, text)?,
        Statement::AlterEnum(s) => user_type::alter_enum(session, s)?,
        Statement::CreateDomain(s) => user_type::create_domain(session, s, text)?,
        Statement::AlterDomain(name, action) => user_type::alter_domain(session, name, action, text)?,
        Statement::CreateRole { name, login, options } => role::create(session, name, *login, options, text)?,
        Statement::AlterRole { role: spec, options, action } => {
            role::alter(session, spec, options, *action, text)?;
        }
        Statement::AlterRoleSet { role: spec, database, set } => {
            role::set_stored(session, spec.as_ref(), database.as_deref(), set)?;
        }
        Statement::CreateDatabase(name, options) => database::create(session, name, options, text)?,
        Statement::AlterDatabase(name, options) => database::alter(session, name, options, text)?,
        Statement::RefreshDatabaseCollation(name) => database::refresh_collation(session, name)?,
        Statement::DropDatabase { name, missing_ok, options } => {
            database::drop(session, name, *missing_ok, options, text)?;
        }
        Statement::AlterDatabaseSet(name, set) => role::set_stored(session, None, Some(name), set)?,
        Statement::DropRole { roles, missing_ok } => role::drop(session, roles, *missing_ok)?,
        Statement::GrantRole(s) => role::grant(session, s)?,
        Statement::AlterOwner { kind, object, owner: spec } => owner::alter(session, *kind, object, spec)?,
        Statement::DropOwned(roles, behavior) => role::drop_owned(session, roles, *behavior)?,
        Statement::ReassignOwned(roles, to) => role::reassign_owned(session, roles, to)?,
        Statement::Grant(s) => grant::run(session, s)?,
        Statement::AlterDefaultPrivileges(options, s) => grant::alter_defaults(session, options, s)?,
        Statement::Comment { kind, object, comment } => {
            comment::run(session, *kind, object, comment.as_deref())?;
        }
        Statement::Transaction(s) => return session.transaction_command(s).map(Some),
        Statement::Prepare { name, types, query } => session.prepare(name, types, query, text)?,
        Statement::Execute(s) => return session.execute_prepared(s, text, out).map(Some),
        Statement::Deallocate(name) => session.deallocate(name.as_deref())?,
        Statement::DeclareCursor(s) => session.declare_cursor(s, text, arguments)?,
        Statement::Fetch(s) => return session.fetch(s, out).map(Some),
        Statement::Close(name) => session.close_cursor(name.as_deref())?,
        Statement::Explain { query, options } => session.explain(query, options, text, arguments, out)?,
        Statement::Set(s) => settings::set(session, s)?,
        Statement::Show(name) => settings::show(session, name, out)?,
        Statement::Lock { relations, mode, nowait } => lock::run(session, relations, *mode, *nowait)?,
        Statement::Vacuum(s) => vacuum::run(session, s, text, out)?,
        Statement::Cluster { relation, index, options } => {
            cluster::run(session, relation.as_ref(), index.as_deref(), options, text, out)?;
        }
        Statement::Reindex(s) => reindex::run(session, s, text, out)?,
        Statement::Copy(s) => return copy::run(session, s, text, out).map(Some),
        Statement::Listen(channel) => session.listen(channel),
        Statement::Unlisten(channel) => session.unlisten(channel.as_deref()),
        Statement::Notify(channel, payload) => {
            session.notify(channel, payload.as_deref().unwrap_or_default())?;
        }
        Statement::Checkpoint(_) => checkpoint(session)?,
        Statement::AlterSystem(s) => alter_system::run(session, s)?,
        Statement::Discard(what) => discard(session, *what)?,
        Statement::CreateTablespace { name, owner, location, options } => {
            tablespace::create(session, name, owner.as_ref(), location, options)?;
        }
        Statement::AlterTablespaceOptions { name, options, reset } => {
            tablespace::set_options(session, name, options, *reset)?;
        }
        Statement::CreateWrapper(s) => foreign::wrapper::create(session, s, text)?,
        Statement::AlterWrapper(s) => foreign::wrapper::alter(session, s, text)?,
        Statement::CreateServer(s) => foreign::server::create(session, s)?,
        Statement::AlterServer(s) => foreign::server::alter(session, s)?,
        Statement::UserMapping(name, change) => foreign::mapping::run(session, name, change)?,
        Statement::ImportForeignSchema(s) => foreign::import(session, s)?,
        Statement::MoveAll(s) => set_tablespace::all(session, s)?,
        Statement::DropTablespace { name, missing_ok } => tablespace::drop(session, name, *missing_ok)?,
        Statement::Select(_)
        | Statement::Insert(_)
        | Statement::Update(_)
        | Statement::Delete(_)
        | Statement::Merge(_)
        | Statement::Return(_)
        | Statement::Assign(_) => return Err(SqlError::internal("a planned statement is no command")),
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks a fact of the only statement of each text.
    fn check<T: PartialEq + std::fmt::Debug>(fact: impl Fn(&Descriptor<'_>) -> T, expected: &[(&str, T)]) {
        for (text, value) in expected {
            let parsed = parse::parse(text).unwrap();
            assert_eq!(fact(&describe(&parsed[0].stmt)), *value, "{text}");
        }
    }

    #[test]
    fn tags_tell_what_is_altered_and_dropped() {
        check(
            |described| described.tag,
            &[
                ("alter trigger a on t rename to b", "ALTER TRIGGER"),
                ("alter view v rename a to b", "ALTER VIEW"),
                ("alter table t rename constraint a to b", "ALTER TABLE"),
                ("alter type t rename attribute a to b", "ALTER TYPE"),
                ("alter server s rename to b", "ALTER SERVER"),
                ("alter large object 1 owner to a", "ALTER LARGE OBJECT"),
                ("alter operator class c using btree set schema s", "ALTER OPERATOR CLASS"),
                ("drop materialized view v", "DROP MATERIALIZED VIEW"),
                ("drop server s", "DROP SERVER"),
                ("drop foreign data wrapper w", "DROP FOREIGN DATA WRAPPER"),
                ("drop statistics s", "DROP STATISTICS"),
                ("rollback to a", "ROLLBACK"),
                ("reset all", "RESET"),
                ("close all", "CLOSE CURSOR ALL"),
                ("move c", "MOVE"),
            ],
        );
    }

    #[test]
    fn some_statements_run_outside_blocks_only() {
        let name = |described: &Descriptor<'_>| match described.block {
            Block::Any => "any",
            Block::Refused(name) | Block::Required(name) => name,
        };
        check(
            name,
            &[
                ("create index on t (a)", "any"),
                ("create index concurrently on t (a)", "CREATE INDEX CONCURRENTLY"),
                ("drop index i", "any"),
                ("drop index concurrently i", "DROP INDEX CONCURRENTLY"),
                ("alter table t detach partition p", "any"),
                ("alter table t detach partition p concurrently", "ALTER TABLE ... DETACH CONCURRENTLY"),
                ("discard plans", "any"),
                ("discard all", "DISCARD ALL"),
                ("lock t", "LOCK TABLE"),
            ],
        );
    }

    #[test]
    fn a_statement_inside_another_decides_how_it_is_logged() {
        let class = |described: &Descriptor<'_>| match described.log {
            LogClass::Definition => "ddl",
            LogClass::Change => "mod",
            LogClass::Other => "all",
            LogClass::As(_) => "inner",
            LogClass::AsPrepared(_) => "prepared",
        };
        check(
            class,
            &[
                ("select 1", "all"),
                ("select 1 into t", "ddl"),
                ("truncate t", "mod"),
                ("copy t from stdin", "mod"),
                ("copy t to stdout", "all"),
                ("cluster t using i", "ddl"),
                ("reindex table t", "all"),
                ("alter system set work_mem = 1", "ddl"),
                ("prepare p as select 1", "inner"),
                ("explain delete from t", "all"),
                ("explain analyze delete from t", "inner"),
                ("execute p", "prepared"),
            ],
        );
    }
}
