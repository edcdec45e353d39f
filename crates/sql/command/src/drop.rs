//! # What
//! DROP: several objects at once, with what depends on them. Here are found those that are relations or schemas.
//!
//! # Locks
//! ACCESS EXCLUSIVE on every relation named; before that on an index's table, with its partitions, and on the table whose partition
//! it is. SHARE UPDATE EXCLUSIVE instead for DROP INDEX CONCURRENTLY.

use std::sync::Arc;

use base::{SqlError, SqlResult, SqlState, sql_err};
use catalog::change::{Behavior, ObjectAddress};
use catalog::system::pg_namespace;
use catalog::{RelationKind, RowExt, Table};
use parse::ast::{Drop, DropBehavior, ObjectName, RangeVar};
use session::Session;
use txn::{LockMode, LockWait};

use super::{index_concurrently, inherit, names, object_kind};

/// How messages call one kind of relation.
struct Words {
    /// `table`
    noun: &'static str,
    /// `a table`
    one: &'static str,
    /// `Use DROP TABLE to remove a table.`
    hint: &'static str,
    missing: SqlState,
}

fn words(kind: RelationKind) -> Words {
    let (noun, one, hint, missing) = match kind {
        RelationKind::Table | RelationKind::PartitionedTable | RelationKind::Toast => {
            ("table", "a table", "Use DROP TABLE to remove a table.", SqlState::UNDEFINED_TABLE)
        }
        RelationKind::Index | RelationKind::PartitionedIndex => {
            ("index", "an index", "Use DROP INDEX to remove an index.", SqlState::UNDEFINED_OBJECT)
        }
        RelationKind::Sequence => {
            ("sequence", "a sequence", "Use DROP SEQUENCE to remove a sequence.", SqlState::UNDEFINED_TABLE)
        }
        RelationKind::View => {
            ("view", "a view", "Use DROP VIEW to remove a view.", SqlState::UNDEFINED_TABLE)
        }
        RelationKind::MaterializedView => (
            "materialized view",
            "a materialized view",
            "Use DROP MATERIALIZED VIEW to remove a materialized view.",
            SqlState::UNDEFINED_TABLE,
        ),
        RelationKind::Composite => {
            ("type", "a type", "Use DROP TYPE to remove a type.", SqlState::UNDEFINED_OBJECT)
        }
        RelationKind::ForeignTable => (
            "foreign table",
            "a foreign table",
            "Use DROP FOREIGN TABLE to remove a foreign table.",
            SqlState::UNDEFINED_OBJECT,
        ),
    };
    Words { noun, one, hint, missing }
}

/// DROP.
pub(crate) fn run(session: &Session, statement: &Drop) -> SqlResult<()> {
    if statement.concurrently {
        index_concurrently::check_drop(statement)?;
    }
    let described = object_kind::of(statement.kind);
    let Some(dropped) = described.dropped else {
        return Err(SqlError::not_supported(described.words.drop));
    };
    let objects = dropped(session, statement)?;
    let behavior = match statement.behavior {
        DropBehavior::Restrict => Behavior::Restrict,
        DropBehavior::Cascade => Behavior::Cascade,
    };
    if objects.is_empty() {
        return Ok(());
    }
    if statement.concurrently {
        let index = names::describe(session, objects[0].object)?;
        // Nobody else uses a temporary table.
        if index.persistence != 't' {
            return index_concurrently::drop(session, names::table_of_index(session, index.oid)?, &index);
        }
    }
    let notice = session.with_changer(|changer| changer.drop_objects(&objects, behavior))?;
    tell(session, notice);
    Ok(())
}

/// Keeps the notice of what CASCADE took.
pub(crate) fn tell(session: &Session, notice: Option<(String, Option<String>)>) {
    if let Some((message, detail)) = notice {
        let mut notice = names::notice(SqlState::SUCCESSFUL_COMPLETION, message);
        notice.report_mut().detail = detail;
        session.notice(notice);
    }
}

/// The relations that a statement names.
pub(super) fn relations(session: &Session, statement: &Drop) -> SqlResult<Vec<ObjectAddress>> {
    let kind = object_kind::of(statement.kind).relation;
    let kind = kind.ok_or_else(|| SqlError::internal("a kind of relation was expected"))?;
    let mut objects = Vec::with_capacity(statement.objects.len());
    let mode = match statement.concurrently {
        true => LockMode::ShareUpdateExclusive,
        false => LockMode::AccessExclusive,
    };
    for object in &statement.objects {
        let name = names::relation_name(object)?;
        let Some(table) = lock(session, &name, kind, mode)? else {
            report_missing(session, &name, kind, statement.missing_ok)?;
            continue;
        };
        names::check_dropper(session, &table)?;
        names::check_not_system(&table)?;
        super::trigger::check_none_wait(session, &table, "DROP TABLE")?;
        let is_index = matches!(table.kind, RelationKind::Index | RelationKind::PartitionedIndex);
        if is_index && table.partition_of.is_valid() {
            let whole = names::describe(session, table.partition_of)?;
            return Err(sql_err!(
                DEPENDENT_OBJECTS_STILL_EXIST,
                "cannot drop index {} because index {} requires it",
                table.name,
                whole.name
            )
            .hint(format!("You can drop index {} instead.", whole.name)));
        }
        let address = ObjectAddress::relation(table.oid);
        if !objects.contains(&address) {
            objects.push(address);
        }
    }
    Ok(objects)
}

/// Finds and locks the relation; an index's table first, or the table that it is a partition of.
fn lock(
    session: &Session,
    name: &RangeVar,
    kind: RelationKind,
    mode: LockMode,
) -> SqlResult<Option<Arc<Table>>> {
    let Some(found) = names::lookup(session, name)? else { return Ok(None) };
    check_kind(&found, kind)?;
    if matches!(found.kind, RelationKind::Index | RelationKind::PartitionedIndex) {
        let table = names::table_of_index(session, found.oid)?;
        if table.is_valid() {
            let table = names::describe(session, table)?;
            names::lock(session, &table, mode, LockWait::Block)?;
            if found.kind == RelationKind::PartitionedIndex {
                inherit::descendants(session, &*names::describe(session, table.oid)?, mode)?;
            }
        }
    } else if found.partition_of.is_valid() {
        names::lock_relation(session, found.partition_of, mode, LockWait::Block)?;
    }
    let table = names::try_open(session, name, mode)?;
    if let Some(table) = &table {
        check_kind(table, kind)?;
    }
    Ok(table)
}

/// The kind that statements name it by, partitioned or not.
fn whole_kind(table: &Table) -> RelationKind {
    match table.kind {
        RelationKind::PartitionedTable => RelationKind::Table,
        RelationKind::PartitionedIndex => RelationKind::Index,
        other => other,
    }
}

/// The error if a relation is not of this kind: `"t" is not a view`.
pub(super) fn expect_kind(table: &Table, kind: RelationKind) -> SqlResult<()> {
    if whole_kind(table) == kind {
        return Ok(());
    }
    Err(sql_err!(WRONG_OBJECT_TYPE, "\"{}\" is not {}", table.name, words(kind).one))
}

fn check_kind(table: &Table, kind: RelationKind) -> SqlResult<()> {
    expect_kind(table, kind).map_err(|error| error.hint(words(whole_kind(table)).hint))
}

/// A notice with IF EXISTS, an error without.
fn report_missing(session: &Session, name: &RangeVar, kind: RelationKind, missing_ok: bool) -> SqlResult<()> {
    let words = words(kind);
    let no_schema = match &name.schema {
        Some(schema) => session.with_reader(|reader| reader.schema_by_name(schema))?.is_none(),
        None => false,
    };
    let schema = name.schema.as_deref().unwrap_or_default();
    let (code, what) = if no_schema {
        (SqlState::UNDEFINED_SCHEMA, format!("schema \"{schema}\" does not exist"))
    } else {
        (words.missing, format!("{} \"{}\" does not exist", words.noun, name.name))
    };
    if missing_ok {
        session.notice(names::notice(SqlState::SUCCESSFUL_COMPLETION, format!("{what}, skipping")));
        return Ok(());
    }
    Err(SqlError::new(code, what))
}

/// The schemas that a statement names.
pub(super) fn schemas(session: &Session, statement: &Drop) -> SqlResult<Vec<ObjectAddress>> {
    let mut objects = Vec::with_capacity(statement.objects.len());
    for object in &statement.objects {
        let ObjectName::Name(name) = object else { return Err(SqlError::internal("a schema was expected")) };
        let name = name.last();
        let Some(oid) = session.with_reader(|reader| reader.schema_by_name(name))? else {
            if !statement.missing_ok {
                return Err(names::undefined_schema(name));
            }
            let message = format!("schema \"{name}\" does not exist, skipping");
            session.notice(names::notice(SqlState::SUCCESSFUL_COMPLETION, message));
            continue;
        };
        check_schema_owner(session, oid, name)?;
        objects.push(ObjectAddress::schema(oid));
    }
    Ok(objects)
}

/// `must be owner of schema s`.
pub(crate) fn check_schema_owner(session: &Session, oid: base::Oid, name: &str) -> SqlResult<()> {
    let index = pg_namespace::PG_NAMESPACE_OID_INDEX;
    let row = session.with_reader(|reader| reader.find_one(&pg_namespace::TABLE, index, &[oid.into()]))?;
    let owner = row.map_or(base::Oid::INVALID, |(_, row)| row.oid(pg_namespace::NSPOWNER));
    if names::owns(session, owner)? {
        return Ok(());
    }
    Err(sql_err!(INSUFFICIENT_PRIVILEGE, "must be owner of schema {name}"))
}
