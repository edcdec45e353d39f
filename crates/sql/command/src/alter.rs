//! # What
//! ALTER TABLE and its kin: actions on one relation, in the order written.
//!
//! # Locks
//! The strongest that any of the actions needs (`lock_mode`), on the table and on what is below it.
//!
//! # PostgreSQL counterpart and differences
//! `commands/tablecmds.c`. A column added with a default is filled by an UPDATE of all rows, not by a stored missing value. Only a change
//! of a type rewrites the table (`alter_type`).

use std::sync::Arc;

use base::{SqlError, SqlResult, SqlState, sql_err};
use catalog::change::{Behavior, ConstraintInfo, NewDefault};
use catalog::system::pg_attribute;
use catalog::{CatalogView, RelationKind, Table};
use parse::Statement;
use parse::ast::{
    AlterAction, AlterTable, ColumnRef, ConstraintKind, DropBehavior, Expr, FromItem, Indirection, Literal,
    Location, ObjectKind, RangeVar, ResTarget, Select, SelectBody, SimpleSelect,
};
use session::Session;
use tuple::Datum;
use txn::LockMode;

use super::internal::finds_row;
use super::storage_parameter::{self, Target};
use super::{
    access_method, alter_attribute, alter_column_options, alter_constraint, alter_identity, alter_tree,
    alter_type, cluster, compression, detach, drop, expression, foreign, generated, inherit, names,
    object_kind, options, owner, partition, partition_index, persistence, policy, replica_identity, rule,
    schema, set_tablespace, trigger, typed_table, view,
};

/// ALTER TABLE, INDEX, VIEW, SEQUENCE, MATERIALIZED VIEW.
pub(crate) fn run(session: &Session, statement: &AlterTable, text: &str) -> SqlResult<()> {
    let persistence =
        |action: &&AlterAction| matches!(action, AlterAction::SetLogged | AlterAction::SetUnlogged);
    if statement.actions.iter().filter(persistence).count() > 1 {
        return Err(sql_err!(FEATURE_NOT_SUPPORTED, "cannot change persistence setting twice"));
    }
    let methods = |action: &&AlterAction| matches!(action, AlterAction::SetAccessMethod(_));
    if statement.actions.iter().filter(methods).count() > 1 {
        return Err(sql_err!(FEATURE_NOT_SUPPORTED, "cannot have multiple SET ACCESS METHOD subcommands"));
    }
    let moves = |action: &&AlterAction| matches!(action, AlterAction::SetTablespace(_));
    if statement.actions.iter().filter(moves).count() > 1 {
        return Err(sql_err!(SYNTAX_ERROR, "cannot have multiple SET TABLESPACE subcommands"));
    }
    let modes = statement.actions.iter().map(lock_mode);
    let mode = modes.max_by_key(|mode| *mode as u8).unwrap_or(LockMode::AccessExclusive);
    let Some(found) = open(session, &statement.relation, statement.missing_ok, mode)? else { return Ok(()) };
    check_kind(&found, statement.kind)?;
    names::check_owner(session, &found)?;
    names::check_not_system(&found)?;
    trigger::check_none_wait(session, &found, "ALTER TABLE")?;
    for action in &statement.actions {
        let table = names::describe(session, found.oid)?;
        detach::check_not_pending(session, &table, action)?;
        if statement.kind == ObjectKind::Type {
            alter_attribute::run(session, &table, action, text)?;
            continue;
        }
        self::action(session, &table, action, statement.relation.inherit, text)?;
    }
    Ok(())
}

/// The lock that an action needs: all that others may see of it in the middle of a statement needs the strongest.
fn lock_mode(action: &AlterAction) -> LockMode {
    match action {
        AlterAction::SetStatistics(..)
        | AlterAction::SetColumnOptions(..)
        | AlterAction::ResetColumnOptions(..)
        | AlterAction::ValidateConstraint(_)
        | AlterAction::AttachPartition(..)
        | AlterAction::ClusterOn(_)
        | AlterAction::DropCluster => LockMode::ShareUpdateExclusive,
        AlterAction::SetOptions(list) | AlterAction::ResetOptions(list)
            if list.iter().all(|option| !storage_parameter::changes_queries(&option.name)) =>
        {
            LockMode::ShareUpdateExclusive
        }
        AlterAction::DetachPartition(_, concurrently, finalize) => {
            detach::lock_mode((*concurrently, *finalize))
        }
        AlterAction::Trigger(..) => LockMode::ShareRowExclusive,
        AlterAction::AddConstraint(new) if matches!(new.kind, ConstraintKind::ForeignKey { .. }) => {
            LockMode::ShareRowExclusive
        }
        _ => LockMode::AccessExclusive,
    }
}

/// Locks the relation; a notice if it is missing and may be.
pub(crate) fn open(
    session: &Session,
    name: &RangeVar,
    missing_ok: bool,
    mode: LockMode,
) -> SqlResult<Option<Arc<Table>>> {
    if !missing_ok {
        return names::open(session, name, mode).map(Some);
    }
    let found = names::try_open(session, name, mode)?;
    if found.is_none() {
        let message = format!("relation \"{}\" does not exist, skipping", name.name);
        session.notice(names::notice(SqlState::SUCCESSFUL_COMPLETION, message));
    }
    Ok(found)
}

/// The word behind ALTER must fit the relation. ALTER TABLE takes all but composite types.
pub(crate) fn check_kind(table: &Table, kind: ObjectKind) -> SqlResult<()> {
    match (kind, object_kind::of(kind).relation) {
        (ObjectKind::Table, _) if table.kind != RelationKind::Composite => Ok(()),
        (_, Some(relation)) => drop::expect_kind(table, relation),
        _ if table.kind == RelationKind::Composite => Ok(()),
        _ => Err(sql_err!(WRONG_OBJECT_TYPE, "\"{}\" is not a composite type", table.name)),
    }
}

/// Actions on columns, constraints and so on need a table.
fn require_table(table: &Table, action: &str) -> SqlResult<()> {
    if is_table(table) { Ok(()) } else { Err(wrong_kind(table, action)) }
}

/// Actions on how rows are stored are for materialized views too.
fn require_rows(table: &Table, action: &str) -> SqlResult<()> {
    match table.kind {
        RelationKind::MaterializedView => Ok(()),
        _ => require_table(table, action),
    }
}

/// An action that is not for this kind of relation.
fn wrong_kind(table: &Table, action: &str) -> SqlError {
    sql_err!(WRONG_OBJECT_TYPE, "ALTER action {action} cannot be performed on relation \"{}\"", table.name)
        .detail(format!("This operation is not supported for {}.", names::plural(table.kind)))
}

/// Carries `f` out on a table and, if `recurse`, on all tables below it, which are locked in `mode`.
fn each(
    session: &Session,
    table: &Arc<Table>,
    recurse: bool,
    mode: LockMode,
    f: &mut dyn FnMut(&Arc<Table>) -> SqlResult<()>,
) -> SqlResult<()> {
    f(table)?;
    if recurse {
        for child in inherit::descendants(session, table, mode)? {
            f(&child)?;
        }
    }
    Ok(())
}

/// Whether a table is one, partitioned or not.
fn is_table(table: &Table) -> bool {
    matches!(table.kind, RelationKind::Table | RelationKind::PartitionedTable)
}

/// As [`require_table`], for actions that foreign tables know too.
fn require_any_table(table: &Table, action: &str) -> SqlResult<()> {
    match table.kind {
        RelationKind::ForeignTable => Ok(()),
        _ => require_table(table, action),
    }
}

fn not_partitioned(table: &Table) -> SqlError {
    match table.kind {
        RelationKind::Table => sql_err!(WRONG_OBJECT_TYPE, "table \"{}\" is not partitioned", table.name),
        RelationKind::Index => sql_err!(WRONG_OBJECT_TYPE, "index \"{}\" is not partitioned", table.name),
        _ => sql_err!(WRONG_OBJECT_TYPE, "\"{}\" is not partitioned", table.name),
    }
}

/// One action; `recurse` unless ONLY the table is meant.
fn action(
    session: &Session,
    table: &Arc<Table>,
    action: &AlterAction,
    recurse: bool,
    text: &str,
) -> SqlResult<()> {
    match action {
        AlterAction::AddColumn(def, if_not_exists, _) => {
            require_any_table(table, "ADD COLUMN")?;
            typed_table::refuse(session, table, "cannot add column to typed table")?;
            alter_tree::add_column(session, table, def, (*if_not_exists, recurse), text)
        }
        AlterAction::DropColumn(name, missing_ok, behavior) => {
            require_any_table(table, "DROP COLUMN")?;
            typed_table::refuse(session, table, "cannot drop column from typed table")?;
            alter_tree::drop_column(session, table, name, *missing_ok, (*behavior, recurse))
        }
        AlterAction::ColumnDefault(name, default) => {
            if !matches!(table.kind, RelationKind::View) {
                let verb = if default.is_some() { "SET" } else { "DROP" };
                require_any_table(table, &format!("ALTER COLUMN ... {verb} DEFAULT"))?;
            }
            let mut set = |t: &Arc<Table>| column_default(session, t, name, default.as_ref(), text);
            each(session, table, recurse, lock_mode(action), &mut set)
        }
        AlterAction::SetNotNull(name) => {
            require_any_table(table, "ALTER COLUMN ... SET NOT NULL")?;
            alter_tree::set_not_null(session, table, name, (None, recurse, false), text)
        }
        AlterAction::DropNotNull(name) => {
            require_any_table(table, "ALTER COLUMN ... DROP NOT NULL")?;
            alter_tree::drop_not_null(session, table, name, recurse)
        }
        AlterAction::SetStatistics(name, number, target) => {
            let mut set = |t: &Arc<Table>| set_statistics(session, t, name.as_deref(), *number, *target);
            each(session, table, recurse, lock_mode(action), &mut set)
        }
        AlterAction::SetStorage(name, word) => {
            if table.kind != RelationKind::ForeignTable {
                require_rows(table, "ALTER COLUMN ... SET STORAGE")?;
            }
            let mut set = |t: &Arc<Table>| set_storage(session, t, name, word);
            each(session, table, recurse, lock_mode(action), &mut set)
        }
        AlterAction::SetCompression(name, word) => {
            require_rows(table, "ALTER COLUMN ... SET COMPRESSION")?;
            let mut set = |t: &Arc<Table>| compression::set(session, t, name, word);
            each(session, table, recurse, lock_mode(action), &mut set)
        }
        AlterAction::AddConstraint(constraint) => {
            require_any_table(table, "ADD CONSTRAINT")?;
            if table.kind == RelationKind::ForeignTable {
                foreign::table::check_constraint(constraint, text)?;
            }
            alter_tree::add_constraint(session, table, constraint, recurse, text)
        }
        AlterAction::DropConstraint(name, missing_ok, behavior) => {
            require_any_table(table, "DROP CONSTRAINT")?;
            alter_tree::drop_constraint(session, table, name, *missing_ok, (*behavior, recurse))
        }
        AlterAction::ClusterOn(name) => {
            require_rows(table, "CLUSTER ON")?;
            cluster::alter(session, table, Some(name))
        }
        AlterAction::DropCluster => {
            require_rows(table, "SET WITHOUT CLUSTER")?;
            cluster::alter(session, table, None)
        }
        AlterAction::ValidateConstraint(name) => {
            require_any_table(table, "VALIDATE CONSTRAINT")?;
            alter_constraint::validate(session, table, name, recurse, text)
        }
        AlterAction::AlterConstraint { name, enforced, deferrability, no_inherit } => {
            require_table(table, "ALTER CONSTRAINT")?;
            let (enforced, deferrability, no_inherit) = (*enforced, *deferrability, *no_inherit);
            let wanted = alter_constraint::Wanted { name, enforced, deferrability, no_inherit };
            alter_constraint::alter(session, table, &wanted, recurse, text)
        }
        AlterAction::SetOptions(list) => set_options(session, table, list),
        AlterAction::ResetOptions(list) => reset_options(session, table, list),
        AlterAction::Owner(role) => owner::of_relation(session, table, schema::role(session, role)?.0),
        AlterAction::ColumnType { column, type_name, collation, using, location, .. } => {
            require_any_table(table, "ALTER COLUMN ... SET DATA TYPE")?;
            typed_table::refuse(session, table, "cannot alter column type of typed table")
                .map_err(|error| names::at(error, text, *location))?;
            let (collation, using) = (collation.as_ref(), using.as_ref());
            let wanted = alter_type::Wanted { column, type_name, collation, using, location: *location };
            alter_tree::column_type(session, table, &wanted, recurse, text)
        }
        AlterAction::SetExpression(name, expr) => {
            require_any_table(table, "ALTER COLUMN ... SET EXPRESSION")?;
            generated::set(session, table, name, expr, text)
        }
        AlterAction::DropExpression(name, missing_ok) => {
            require_any_table(table, "ALTER COLUMN ... DROP EXPRESSION")?;
            generated::drop(session, table, name, *missing_ok)
        }
        AlterAction::AddIdentity(name, kind, list) => {
            require_any_table(table, "ALTER COLUMN ... ADD IDENTITY")?;
            alter_identity::add(session, table, (name, *kind), list, text)
        }
        AlterAction::SetIdentity(name, list) => {
            require_any_table(table, "ALTER COLUMN ... SET")?;
            alter_identity::set(session, table, name, list, text)
        }
        AlterAction::DropIdentity(name, missing_ok) => {
            require_any_table(table, "ALTER COLUMN ... DROP IDENTITY")?;
            alter_identity::drop(session, table, name, *missing_ok)
        }
        AlterAction::Inherit(parent, true) => {
            require_any_table(table, "INHERIT")?;
            typed_table::refuse(session, table, "cannot change inheritance of typed table")?;
            inherit::add(session, table, parent)
        }
        AlterAction::Inherit(parent, false) => {
            require_any_table(table, "NO INHERIT")?;
            inherit::remove(session, table, parent)
        }
        AlterAction::AttachPartition(name, bound) => match (table.kind, bound) {
            (RelationKind::PartitionedTable, Some(bound)) => {
                partition::attach(session, table, name, bound, text)
            }
            (RelationKind::PartitionedIndex, None) => partition_index::attach(session, table, name),
            _ => Err(not_partitioned(table)),
        },
        AlterAction::DetachPartition(name, concurrently, finalize) => {
            if table.kind != RelationKind::PartitionedTable {
                let how = if *finalize { " ... FINALIZE" } else { "" };
                return Err(wrong_kind(table, &format!("DETACH PARTITION{how}")));
            }
            detach::run(session, table, name, (*concurrently, *finalize))
        }
        AlterAction::SetColumnOptions(name, list) => {
            alter_column_options::set(session, table, name, (list, false))
        }
        AlterAction::ResetColumnOptions(name, list) => {
            alter_column_options::set(session, table, name, (list, true))
        }
        AlterAction::ReplicaIdentity(letter, index) => {
            require_rows(table, "REPLICA IDENTITY")?;
            replica_identity::set(session, table, *letter, index.as_deref())
        }
        AlterAction::RowSecurity(on) => {
            require_table(table, if *on { "ENABLE ROW SECURITY" } else { "DISABLE ROW SECURITY" })?;
            policy::enable(session, table, *on)
        }
        AlterAction::ForceRowSecurity(on) => {
            require_table(table, if *on { "FORCE ROW SECURITY" } else { "NO FORCE ROW SECURITY" })?;
            policy::force(session, table, *on)
        }
        AlterAction::Of(name) => {
            require_table(table, "OF")?;
            typed_table::set(session, table, name, text)
        }
        AlterAction::NotOf => {
            require_table(table, "NOT OF")?;
            typed_table::unset(session, table)
        }
        AlterAction::SetLogged | AlterAction::SetUnlogged => {
            let logged = matches!(action, AlterAction::SetLogged);
            if !matches!(table.kind, RelationKind::Table | RelationKind::Sequence) {
                return Err(wrong_kind(table, if logged { "SET LOGGED" } else { "SET UNLOGGED" }));
            }
            persistence::set(session, table, logged)
        }
        AlterAction::SetAccessMethod(name) => {
            if !matches!(
                table.kind,
                RelationKind::Table | RelationKind::PartitionedTable | RelationKind::MaterializedView
            ) {
                return Err(wrong_kind(table, "SET ACCESS METHOD"));
            }
            access_method::set(session, table, name.as_deref())
        }
        AlterAction::SetTablespace(name) => {
            if !set_tablespace::is_movable(table.kind) {
                return Err(wrong_kind(table, "SET TABLESPACE"));
            }
            set_tablespace::one(session, table, name)
        }
        AlterAction::ForeignOptions(options) => foreign::table::set_options(session, table, options),
        AlterAction::ForeignColumnOptions(name, options) => {
            foreign::table::set_column_options(session, table, name, options)
        }
        AlterAction::Trigger(which, letter) => trigger::enable(session, table, which, *letter, recurse),
        AlterAction::Rule(name, letter) => rule::enable(session, table, name, *letter),
        other => Err(SqlError::not_supported(format!("ALTER TABLE {}", action_name(other)))),
    }
}

fn action_name(action: &AlterAction) -> &'static str {
    match action {
        AlterAction::DropOids => "SET WITHOUT OIDS",
        _ => "action",
    }
}

/// Position of the column with this name.
pub(super) fn find(table: &Table, name: &str) -> SqlResult<usize> {
    match table.column(name) {
        Some((number, _)) => Ok(number as usize - 1),
        None => {
            Err(sql_err!(UNDEFINED_COLUMN, "column \"{name}\" of relation \"{}\" does not exist", table.name))
        }
    }
}

fn target(value: Expr) -> ResTarget {
    ResTarget { name: None, value, location: Location::NONE }
}

pub(super) fn range(table: &Table) -> RangeVar {
    RangeVar { schema: Some(table.schema_name.clone()), name: table.name.clone(), ..RangeVar::default() }
}

/// `SELECT a, b FROM ONLY t`
pub(super) fn select_columns<'n>(table: &Table, names: impl Iterator<Item = &'n str>) -> Statement {
    let body = SimpleSelect {
        targets: names.map(|name| target(column_expr(name))).collect(),
        from: vec![FromItem::Table(range(table))],
        ..SimpleSelect::default()
    };
    Statement::Select(Box::new(Select {
        with: None,
        body: SelectBody::Simple(Box::new(body)),
        order_by: Vec::new(),
        offset: None,
        limit: None,
        with_ties: false,
        locking: Vec::new(),
    }))
}

/// Whether a row satisfies `filter`: `SELECT 1 FROM ONLY t WHERE filter LIMIT 1`.
pub(super) fn some_row(session: &Session, table: &Table, filter: Expr, text: &str) -> SqlResult<bool> {
    let one = || Expr::Const { value: Literal::Integer(1), location: Location::NONE };
    let body = SimpleSelect {
        targets: vec![target(one())],
        from: vec![FromItem::Table(range(table))],
        filter: Some(filter),
        ..SimpleSelect::default()
    };
    let select = Statement::Select(Box::new(Select {
        with: None,
        body: SelectBody::Simple(Box::new(body)),
        order_by: Vec::new(),
        offset: None,
        limit: Some(one()),
        with_ties: false,
        locking: Vec::new(),
    }));
    finds_row(session, &select, text)
}

pub(super) fn column_expr(name: &str) -> Expr {
    let fields = vec![Indirection::Field(name.to_owned())];
    Expr::Column(ColumnRef { fields, location: Location::NONE })
}

pub(super) fn constraints(session: &Session, table: &Table) -> SqlResult<Vec<ConstraintInfo>> {
    session.with_reader(|reader| reader.constraints(table.oid))
}

pub(super) fn behavior_of(behavior: DropBehavior) -> Behavior {
    match behavior {
        DropBehavior::Restrict => Behavior::Restrict,
        DropBehavior::Cascade => Behavior::Cascade,
    }
}

fn column_default(
    session: &Session,
    table: &Table,
    name: &str,
    default: Option<&Expr>,
    text: &str,
) -> SqlResult<()> {
    let i = find(table, name)?;
    let column = &table.columns[i];
    if column.identity != catalog::Identity::None {
        let error =
            sql_err!(SYNTAX_ERROR, "column \"{name}\" of relation \"{}\" is an identity column", table.name);
        return Err(match default {
            Some(_) => error,
            None => error.hint("Use ALTER TABLE ... ALTER COLUMN ... DROP IDENTITY instead."),
        });
    }
    if column.generated != catalog::Generated::None {
        let action = if default.is_some() { "SET" } else { "DROP" };
        return Err(sql_err!(
            SYNTAX_ERROR,
            "column \"{name}\" of relation \"{}\" is a generated column",
            table.name
        )
        .hint(format!("Use ALTER TABLE ... ALTER COLUMN ... {action} EXPRESSION instead.")));
    }
    let stored = match default {
        Some(expr) => {
            let of = (name, column.type_oid, column.typmod);
            Some(NewDefault::from(expression::default(session, expr, of, text)?))
        }
        None => None,
    };
    session.with_changer(|changer| {
        changer.set_default(table.oid, i as i16 + 1, stored.as_ref(), catalog::Generated::None)
    })
}

fn set_statistics(
    session: &Session,
    table: &Table,
    name: Option<&str>,
    number: i16,
    wanted: Option<i32>,
) -> SqlResult<()> {
    let number = match name {
        Some(name) => find(table, name)? as i16 + 1,
        None => number,
    };
    if table.columns.get((number - 1).max(0) as usize).is_none() {
        return Err(sql_err!(
            UNDEFINED_COLUMN,
            "column number {number} of relation \"{}\" does not exist",
            table.name
        ));
    }
    let wanted = wanted.filter(|n| *n >= 0).map(|n| n.min(10_000) as i16);
    session.with_changer(|changer| {
        changer.edit_column(table.oid, number, |row| {
            row[pg_attribute::ATTSTATTARGET] = wanted.map_or(Datum::Null, Datum::Int2);
        })
    })
}

fn set_storage(session: &Session, table: &Table, name: &str, word: &str) -> SqlResult<()> {
    let at = find(table, name)?;
    let ty = table.columns[at].type_oid;
    let storage = super::table::storage(word, ty)?;
    session.with_changer(|changer| changer.set_storage(table.oid, (at as i16 + 1, ty), storage))
}

pub(super) fn undefined_constraint(table: &Table, name: &str) -> SqlError {
    sql_err!(UNDEFINED_OBJECT, "constraint \"{name}\" of relation \"{}\" does not exist", table.name)
}

fn parameter_target(session: &Session, table: &Table, action: &str) -> SqlResult<Target> {
    match table.kind {
        RelationKind::Table | RelationKind::MaterializedView => Ok(Target::Table),
        RelationKind::Index => {
            let owner = names::describe(session, names::table_of_index(session, table.oid)?)?;
            Ok(Target::Index(names::find_index(&owner, table.oid)?.method))
        }
        RelationKind::View => Ok(Target::View),
        RelationKind::ForeignTable => Err(wrong_kind(table, action)),
        _ => Err(SqlError::not_supported("ALTER ... SET of this kind of relation")),
    }
}

fn set_options(session: &Session, table: &Table, list: &[parse::ast::DefElem]) -> SqlResult<()> {
    let target = parameter_target(session, table, "SET (...)")?;
    let new = storage_parameter::check(target, list)?;
    let all = changed_options(&table.options, list, None, new);
    if target == Target::Table {
        let new = storage_parameter::of_toast(list)?;
        set_toast_options(session, table, list, new)?;
    }
    if table.kind == RelationKind::View && all.iter().any(|option| option.starts_with("check_option=")) {
        view::require_updatable(session, table)?;
    }
    session.with_changer(|changer| changer.set_options(table.oid, &all))
}

/// Parameters without those that a list names in a namespace, and with `new` ones.
fn changed_options(
    known: &[(String, String)],
    list: &[parse::ast::DefElem],
    namespace: Option<&str>,
    new: Vec<String>,
) -> Vec<String> {
    let named = |name: &str| list.iter().any(|o| o.namespace.as_deref() == namespace && o.name == name);
    let kept = known.iter().filter(|(name, _)| !named(name));
    kept.map(|(name, value)| format!("{name}={value}")).chain(new).collect()
}

fn set_toast_options(
    session: &Session,
    table: &Table,
    list: &[parse::ast::DefElem],
    new: Vec<String>,
) -> SqlResult<()> {
    let toast = session.with_reader(|reader| reader.relation_by_oid(table.toast))?;
    let Some(toast) = toast.filter(|_| list.iter().any(|o| o.namespace.is_some())) else { return Ok(()) };
    let all = changed_options(&toast.options, list, Some("toast"), new);
    session.with_changer(|changer| changer.set_options(toast.oid, &all))
}

fn reset_options(session: &Session, table: &Table, list: &[parse::ast::DefElem]) -> SqlResult<()> {
    for option in list {
        if option.value.is_some() {
            let _ = options::string(option)?;
            return Err(sql_err!(SYNTAX_ERROR, "RESET must not include values for parameters"));
        }
        let target = match option.namespace {
            Some(_) => Target::Toast,
            None => parameter_target(session, table, "RESET (...)")?,
        };
        storage_parameter::check_name(target, &option.name)?;
    }
    let all = changed_options(&table.options, list, None, Vec::new());
    set_toast_options(session, table, list, Vec::new())?;
    session.with_changer(|changer| changer.set_options(table.oid, &all))
}
