//! # What
//! Utility statements: everything that is neither a query nor a change of rows. One file per family.
//!
//! # Layout
//! * [`run`] picks the family. [`columns`]: what a statement returns, for RowDescription.
//! * Functions: `function` (with `alter_function`, `call`, `function_options`, `parameters`, `routine_name`, `uses`), `operator` (and casts), `operator_class` (with `operator_class_member`).
//! * Relations: `table`, `create_as`, `constraint`, `index` (with `index_build`, `index_sort`), `inherit`, `partition` (with `detach`), `partition_index`, `alter` (with `alter_tree`, `alter_identity`, `alter_type`, `generated`), `rename`, `drop`, `truncate`,
//!   `temporary`, `schema`, `view`, `sequence`.
//! * Databases: `database`.
//! * Extensions, languages, LOAD: `extension`.
//! * Triggers and SET CONSTRAINTS: `trigger`.
//! * Who may do what: `role`, `grant`, `owner`. Rows: `copy`. Upkeep: `vacuum`, `analyze` (with `sample`, `statistics`). The session: `settings`, `lock`.
//! * What they share: `names` (finding and locking relations), `type_name`, `object_name`, `options`, `storage_parameter`,
//!   `expression`, `index_entries`, `violation`.
//!
//! # Invariants
//! 1. A relation's lock is taken before its description is trusted.
//! 2. A clause that is not supported fails with 0A000 and its name.

mod aggregate;
mod alter;
mod alter_attribute;
mod alter_column_options;
mod alter_constraint;
mod alter_function;
mod alter_identity;
mod alter_rows;
mod alter_system;
mod alter_tree;
mod alter_type;
mod alter_user_type;
mod analyze;
mod base_type;
mod call;
mod cluster;
mod comment;
mod compression;
mod concurrently;
mod constraint;
mod conversion;
mod copy;
mod create_as;
mod database;
mod detach;
mod drop;
mod existing_index;
pub(crate) mod expression;
mod extension;
pub(crate) mod foreign_key;
mod foreign_key_parts;
mod function;
mod function_options;
mod generated;
pub(crate) mod grant;
mod index;
pub(crate) mod index_build;
mod index_concurrently;
mod index_entries;
mod index_sort;
mod inherit;
mod internal;
mod language;
mod like;
pub(crate) mod lock;
mod matview;
pub(crate) mod names;
mod object_name;
pub(crate) mod oldest_ids;
pub(crate) mod on_commit;
pub(crate) mod operator;
mod operator_class;
mod operator_class_member;
pub(crate) mod options;
mod owner;
mod parameters;
mod partition;
mod partition_index;
mod persistence;
mod range_type;
mod reindex;
mod rename;
mod replica_identity;
mod rewrite;
mod rewrite_catalog;
mod role;
pub(crate) mod routine_name;
mod sample;
mod schema;
mod sequence;
mod settings;
mod statistics;
mod storage_parameter;
mod table;
mod temporary;
mod trigger;
mod truncate;
mod type_name;
mod typed_table;
mod user_type;
mod uses;
pub(crate) mod vacuum;
mod view;
mod violation;

use std::sync::Arc;

use ::analyze::ParamTypes;
use base::{SqlError, SqlResult, sql_err};
use catalog::predefined;
use parse::Statement;
use parse::ast::{Discard, ObjectKind, Transaction};

use crate::output::{Column, Output};
use crate::session::{Arguments, Session};

pub(crate) use call::{call as call_procedure, run_block};
pub(crate) use copy::check_reach;
pub(crate) use create_as::{Query as TableQuery, exists as table_exists};
pub(crate) use expression::{column_parameter, uses as expression_uses};
pub(crate) use index::runs_no_user_code;
pub(crate) use index_entries::recheck as recheck_unique;
pub(crate) use names::{check_tablespace_creation, lock_relation};
pub(crate) use sequence::check_kind as check_sequence;
pub(crate) use temporary::drop_all as drop_temporary;
pub(crate) use temporary::owner_of as owner_of_temporary_schema;
pub(crate) use violation::key_text;

/// Columns of a utility statement's result, if it returns rows.
pub(crate) fn columns(
    session: &Session,
    statement: &Statement,
    text: &str,
    types: ParamTypes,
) -> SqlResult<Option<Arc<[Column]>>> {
    match statement {
        Statement::Call(s) => call::columns(session, s, text, types),
        Statement::Show(name) => Ok(Some(settings::show_columns(name).into())),
        _ => session.nested_columns(statement),
    }
}

/// `CREATE TABLE` and so on of an object's kind: `TABLE`.
fn kind_words(kind: ObjectKind) -> String {
    let name = format!("{kind:?}");
    let mut out = String::with_capacity(name.len() + 4);
    for (i, c) in name.chars().enumerate() {
        if i > 0 && c.is_ascii_uppercase() {
            out.push(' ');
        }
        out.push(c.to_ascii_uppercase());
    }
    out
}

/// Carries out a utility statement. Returns the command tag (`CREATE TABLE`).
///
/// `text` is the whole query string, for positions and for EXPLAIN and PREPARE. RowDescription of [`columns`] has
/// been sent.
pub(crate) fn run(
    session: &Session,
    statement: &Statement,
    text: &str,
    arguments: &Arguments<'_>,
    out: &mut dyn Output,
) -> SqlResult<String> {
    let tag = statement_name(statement);
    match statement {
        Statement::Drop(s) => session.refuse_read_only(&format!("DROP {}", kind_words(s.kind)))?,
        _ if !is_read_only(statement) => session.refuse_read_only(tag)?,
        _ => {}
    }
    if let Some(name) = outlives_operation(statement) {
        session.refuse_restricted(&format!("execute {name}"))?;
    }
    if needs_snapshot(statement) {
        drop(session.txn.borrow_mut().statement_snapshot()?);
    }
    match statement {
        Statement::CreateTable(s) => table::create(session, s, text)?,
        Statement::CreateTableAs(s) => return create_as::run(session, s, text, arguments),
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
        Statement::SetConstraints(list, deferred) => trigger::set_constraints(session, list, *deferred)?,
        Statement::AlterTable(s) => alter::run(session, s, text)?,
        Statement::Rename(s) => rename::run(session, s)?,
        Statement::SetSchema { kind, relation, object, schema, missing_ok } => match kind {
            ObjectKind::Extension => extension::set_schema(session, object.as_ref(), schema)?,
            kind if alter_function::is_routine(*kind) => {
                alter_function::set_schema(session, *kind, object.as_ref(), schema)?;
            }
            kind if operator_class::is_one(*kind) => {
                operator_class::set_schema(session, *kind, object.as_ref(), schema)?;
            }
            ObjectKind::Operator => operator::set_schema(session, object.as_ref(), schema)?,
            ObjectKind::Conversion => conversion::set_schema(session, object.as_ref(), schema)?,
            ObjectKind::Type | ObjectKind::Domain => {
                let object =
                    object.as_ref().ok_or_else(|| SqlError::internal("SET SCHEMA without a type"))?;
                alter_user_type::set_schema(session, *kind, object, schema)?;
            }
            _ => rename::set_schema(session, *kind, relation.as_ref(), schema, *missing_ok)?,
        },
        Statement::Drop(s) => {
            drop::run(session, s)?;
            return Ok(format!("DROP {}", kind_words(s.kind)));
        }
        Statement::Truncate { relations, restart_identity, behavior } => {
            truncate::run(session, relations, *restart_identity, *behavior)?;
        }
        Statement::CreateExtension { name, if_not_exists, options } => {
            extension::create(session, name, *if_not_exists, (options, text), out)?;
        }
        Statement::AlterExtension { name, options } => extension::update(session, name, options)?,
        Statement::AlterExtensionMember { name, add, kind, object } => {
            extension::alter_member(session, name, *add, (*kind, object))?;
        }
        Statement::CreateLanguage(s) => language::create(session, s, out)?,
        Statement::Load(path) => extension::load(session, path)?,
        Statement::CreateFunction(s) => function::create(session, s, text)?,
        Statement::AlterFunction(s) => alter_function::alter(session, s, text)?,
        Statement::AlterOwner { kind, object, owner } if alter_function::is_routine(*kind) => {
            alter_function::set_owner(session, *kind, object, owner)?;
        }
        Statement::Define(s) if s.kind == ObjectKind::Operator => operator::create(session, s, text)?,
        Statement::Define(s) if s.kind == ObjectKind::Type => base_type::create(session, s, text)?,
        Statement::Define(s) => aggregate::create(session, s, text)?,
        Statement::CreateCast(s) => operator::create_cast(session, s, text)?,
        Statement::CreateConversion(s) => conversion::create(session, s)?,
        Statement::CreateOperatorClass(s) => operator_class::create_class(session, s, text)?,
        Statement::CreateOperatorFamily { name, method } => {
            operator_class::create_family(session, name, method)?;
        }
        Statement::AlterOperatorFamily(s) => operator_class::alter_family(session, s, text)?,
        Statement::Call(s) => call::run(session, s, text, arguments, out)?,
        Statement::Do(args) => session.notices.lend(out, |_| call::run_do(session, args))?,
        Statement::CreateSchema { name, owner, elements, if_not_exists } => {
            let who = (name.as_deref(), owner.as_ref());
            schema::create(session, who, elements, *if_not_exists, (text, out))?;
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
        Statement::Transaction(s) => return session.transaction_command(s),
        Statement::Prepare { name, types, query } => session.prepare(name, types, query, text)?,
        Statement::Execute(s) => return session.execute_prepared(s, text, out),
        Statement::Deallocate(name) => return session.deallocate(name.as_deref()).map(str::to_owned),
        Statement::DeclareCursor(s) => session.declare_cursor(s, text, arguments)?,
        Statement::Fetch(s) => return session.fetch(s, out),
        Statement::Close(name) => return session.close_cursor(name.as_deref()).map(str::to_owned),
        Statement::Explain { query, options } => session.explain(query, options, (text, arguments), out)?,
        Statement::Set(s) => return settings::set(session, s).map(str::to_owned),
        Statement::Show(name) => settings::show(session, name, out)?,
        Statement::Lock { relations, mode, nowait } => lock::run(session, relations, *mode, *nowait)?,
        Statement::Vacuum(s) => vacuum::run(session, s, text, out)?,
        Statement::Cluster { relation, index, options } => {
            cluster::run(session, relation.as_ref(), index.as_deref(), options, (text, out))?;
        }
        Statement::Reindex(s) => reindex::run(session, s, (text, out))?,
        Statement::Copy(s) => return copy::run(session, s, text, out),
        Statement::Listen(channel) => session.listen(channel),
        Statement::Unlisten(channel) => session.unlisten(channel.as_deref()),
        Statement::Notify(channel, payload) => {
            session.notify(channel, payload.as_deref().unwrap_or_default())?;
        }
        Statement::Checkpoint(_) => checkpoint(session)?,
        Statement::AlterSystem(s) => alter_system::run(session, s)?,
        Statement::Discard(what) => return discard(session, *what).map(str::to_owned),
        _ => return Err(SqlError::not_supported(tag)),
    }
    Ok(tag.to_owned())
}

fn checkpoint(session: &Session) -> SqlResult<()> {
    if !session.has_role(predefined::CHECKPOINT)? {
        return Err(sql_err!(INSUFFICIENT_PRIVILEGE, "permission denied to execute CHECKPOINT command")
            .detail("Only roles with privileges of the \"pg_checkpoint\" role may execute this command."));
    }
    let cause = engine::CheckpointCause::Requested;
    let done = session.engine().checkpoint(cause);
    done.map(std::mem::drop).map_err(SqlError::from)
}

fn discard(session: &Session, what: Discard) -> SqlResult<&'static str> {
    match what {
        Discard::Temporary => {
            temporary::drop_all(session)?;
            Ok("DISCARD TEMP")
        }
        Discard::Sequences => {
            session.sequences.borrow_mut().forget();
            Ok("DISCARD SEQUENCES")
        }
        Discard::Plans => Ok("DISCARD PLANS"),
        Discard::All => {
            session.prevent_in_block("DISCARD ALL")?;
            session.close_cursor(None)?;
            session.deallocate(None)?;
            session.change_setting("session_authorization", None, false)?;
            session.settings.borrow_mut().reset_all(session.txn.borrow().depth() as u32);
            session.apply_settings();
            session.unlisten(None);
            session.txn.borrow_mut().unlock_all_for_session(|_| true);
            session.sequences.borrow_mut().forget();
            temporary::drop_all(session)?;
            Ok("DISCARD ALL")
        }
    }
}

/// Whether a read-only transaction lets the statement through: it changes nothing that a dump would show, or finds out itself
/// what it may do.
pub(crate) fn is_read_only(statement: &Statement) -> bool {
    matches!(
        statement,
        Statement::Transaction(_)
            | Statement::Set(_)
            | Statement::Show(_)
            | Statement::SetConstraints(..)
            | Statement::Prepare { .. }
            | Statement::Execute(_)
            | Statement::Deallocate(_)
            | Statement::DeclareCursor(_)
            | Statement::Fetch(_)
            | Statement::Close(_)
            | Statement::Explain { .. }
            | Statement::Copy(_)
            | Statement::Vacuum(_)
            | Statement::Cluster { .. }
            | Statement::Reindex(_)
            | Statement::Checkpoint(_)
            | Statement::Lock { .. }
            | Statement::Listen(_)
            | Statement::Unlisten(_)
            | Statement::Notify(..)
            | Statement::Discard(_)
            | Statement::Do(_)
            | Statement::Call(_)
            | Statement::Load(_)
            | Statement::AlterSystem(_)
    )
}

/// The name of a statement whose effect on the session would stay behind a security-restricted operation.
fn outlives_operation(statement: &Statement) -> Option<&'static str> {
    match statement {
        Statement::Prepare { .. } => Some("PREPARE"),
        Statement::Deallocate(_) => Some("DEALLOCATE"),
        Statement::Close(_) => Some("CLOSE"),
        Statement::Listen(_) => Some("LISTEN"),
        Statement::Unlisten(_) => Some("UNLISTEN"),
        _ => None,
    }
}

/// Whether the statement counts as the first query of a transaction: its snapshot is taken no later than now.
fn needs_snapshot(statement: &Statement) -> bool {
    !matches!(
        statement,
        Statement::Transaction(_)
            | Statement::Set(_)
            | Statement::Show(_)
            | Statement::SetConstraints(..)
            | Statement::Fetch(_)
            | Statement::Lock { .. }
            | Statement::Listen(_)
            | Statement::Unlisten(_)
            | Statement::Notify(..)
            | Statement::Checkpoint(_)
            | Statement::Vacuum(_)
            | Statement::Cluster { .. }
            | Statement::Reindex(_)
    )
}

/// What a statement is called: its command tag, or the name in 0A000.
pub(crate) fn statement_name(statement: &Statement) -> &'static str {
    match statement {
        Statement::Select(_) => "SELECT",
        Statement::Insert(_) => "INSERT",
        Statement::Update(_) => "UPDATE",
        Statement::Delete(_) => "DELETE",
        Statement::Merge(_) => "MERGE",
        Statement::CreateTable(_) => "CREATE TABLE",
        Statement::CreateTableAs(s) if s.materialized_view => "CREATE MATERIALIZED VIEW",
        Statement::CreateTableAs(s) if s.select_into => "SELECT INTO",
        Statement::CreateTableAs(_) => "CREATE TABLE AS",
        Statement::RefreshMaterializedView { .. } => "REFRESH MATERIALIZED VIEW",
        Statement::CreateIndex(_) => "CREATE INDEX",
        Statement::AlterTable(s) => alter_name(s.kind),
        Statement::Rename(s) => alter_name(match s.kind {
            ObjectKind::Column => s.relation_kind.unwrap_or(s.kind),
            other => other,
        }),
        Statement::SetSchema { kind, .. } | Statement::AlterOwner { kind, .. } => alter_name(*kind),
        Statement::Drop(_) => "DROP",
        Statement::Truncate { .. } => "TRUNCATE TABLE",
        Statement::CreateView(_) => "CREATE VIEW",
        Statement::CreateSequence { .. } => "CREATE SEQUENCE",
        Statement::AlterSequence { .. } => "ALTER SEQUENCE",
        Statement::CreateSchema { .. } => "CREATE SCHEMA",
        Statement::CreateDomain(_) => "CREATE DOMAIN",
        Statement::AlterDomain(..) => "ALTER DOMAIN",
        Statement::CreateEnum(..) | Statement::CreateComposite(..) | Statement::CreateRange(..) => {
            "CREATE TYPE"
        }
        Statement::AlterEnum(_) => "ALTER TYPE",
        Statement::CreateFunction(s) if s.procedure => "CREATE PROCEDURE",
        Statement::CreateFunction(_) => "CREATE FUNCTION",
        Statement::AlterFunction(s) => alter_name(s.kind),
        Statement::Define(s) if s.kind == ObjectKind::Operator => "CREATE OPERATOR",
        Statement::Define(s) if s.kind == ObjectKind::Type => "CREATE TYPE",
        Statement::Define(_) => "CREATE AGGREGATE",
        Statement::CreateCast(_) => "CREATE CAST",
        Statement::CreateConversion(_) => "CREATE CONVERSION",
        Statement::CreateOperatorClass(_) => "CREATE OPERATOR CLASS",
        Statement::CreateOperatorFamily { .. } => "CREATE OPERATOR FAMILY",
        Statement::AlterOperatorFamily(_) => "ALTER OPERATOR FAMILY",
        Statement::CreateTrigger(_) => "CREATE TRIGGER",
        Statement::CreateExtension { .. } => "CREATE EXTENSION",
        Statement::AlterExtension { .. } | Statement::AlterExtensionMember { .. } => "ALTER EXTENSION",
        Statement::CreateLanguage(s) if s.handler.is_none() => "CREATE EXTENSION",
        Statement::CreateLanguage(_) => "CREATE LANGUAGE",
        Statement::CreateRole { .. } => "CREATE ROLE",
        Statement::AlterRole { .. } | Statement::AlterRoleSet { .. } => "ALTER ROLE",
        Statement::DropRole { .. } => "DROP ROLE",
        Statement::DropOwned(..) => "DROP OWNED",
        Statement::ReassignOwned(..) => "REASSIGN OWNED",
        Statement::Grant(s) if !s.grant => "REVOKE",
        Statement::Grant(_) => "GRANT",
        Statement::GrantRole(s) if !s.grant => "REVOKE ROLE",
        Statement::GrantRole(_) => "GRANT ROLE",
        Statement::AlterDefaultPrivileges(..) => "ALTER DEFAULT PRIVILEGES",
        Statement::Comment { .. } => "COMMENT",
        Statement::CreateDatabase(..) => "CREATE DATABASE",
        Statement::AlterDatabase(..)
        | Statement::AlterDatabaseSet(..)
        | Statement::RefreshDatabaseCollation(_) => "ALTER DATABASE",
        Statement::DropDatabase { .. } => "DROP DATABASE",
        Statement::AlterSystem(_) => "ALTER SYSTEM",
        Statement::Copy(_) => "COPY",
        Statement::Transaction(_) => "transaction control",
        Statement::Set(_) => "SET",
        Statement::Show(_) => "SHOW",
        Statement::SetConstraints(..) => "SET CONSTRAINTS",
        Statement::Prepare { .. } => "PREPARE",
        Statement::Execute(_) => "EXECUTE",
        Statement::Deallocate(_) => "DEALLOCATE",
        Statement::DeclareCursor(_) => "DECLARE CURSOR",
        Statement::Fetch(s) if s.is_move => "MOVE",
        Statement::Fetch(_) => "FETCH",
        Statement::Close(_) => "CLOSE CURSOR",
        Statement::Explain { .. } => "EXPLAIN",
        Statement::Vacuum(s) if s.vacuum => "VACUUM",
        Statement::Vacuum(_) => "ANALYZE",
        Statement::Cluster { .. } => "CLUSTER",
        Statement::Reindex(_) => "REINDEX",
        Statement::Checkpoint(_) => "CHECKPOINT",
        Statement::Lock { .. } => "LOCK TABLE",
        Statement::Listen(_) => "LISTEN",
        Statement::Unlisten(_) => "UNLISTEN",
        Statement::Notify(..) => "NOTIFY",
        Statement::Discard(_) => "DISCARD",
        Statement::Do(_) => "DO",
        Statement::Call(_) => "CALL",
        Statement::Load(_) => "LOAD",
        Statement::CreateTablespace { .. } => "CREATE TABLESPACE",
        Statement::DropTablespace { .. } => "DROP TABLESPACE",
        Statement::Return(_) => "RETURN",
        Statement::Assign(_) => "assignment",
    }
}

/// What a command about transactions is called.
pub(crate) fn transaction_name(command: &Transaction) -> &'static str {
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

fn alter_name(kind: ObjectKind) -> &'static str {
    match kind {
        ObjectKind::Extension => "ALTER EXTENSION",
        ObjectKind::Index => "ALTER INDEX",
        ObjectKind::View => "ALTER VIEW",
        ObjectKind::Sequence => "ALTER SEQUENCE",
        ObjectKind::MaterializedView => "ALTER MATERIALIZED VIEW",
        ObjectKind::Schema => "ALTER SCHEMA",
        ObjectKind::Type | ObjectKind::Attribute => "ALTER TYPE",
        ObjectKind::Domain => "ALTER DOMAIN",
        ObjectKind::Function => "ALTER FUNCTION",
        ObjectKind::Procedure => "ALTER PROCEDURE",
        ObjectKind::Routine => "ALTER ROUTINE",
        ObjectKind::Aggregate => "ALTER AGGREGATE",
        ObjectKind::Language => "ALTER LANGUAGE",
        ObjectKind::Operator => "ALTER OPERATOR",
        ObjectKind::Conversion => "ALTER CONVERSION",
        ObjectKind::OperatorClass => "ALTER OPERATOR CLASS",
        ObjectKind::OperatorFamily => "ALTER OPERATOR FAMILY",
        ObjectKind::Database => "ALTER DATABASE",
        ObjectKind::Role => "ALTER ROLE",
        _ => "ALTER TABLE",
    }
}
