//! # What
//! ALTER TABLE and its kin: actions on one relation, in the order written.
//!
//! # Locks
//! ACCESS EXCLUSIVE for all actions; PostgreSQL takes weaker ones for a few.
//!
//! # PostgreSQL counterpart and differences
//! `commands/tablecmds.c`. A column added with a default is filled by an UPDATE of all rows, not by a stored missing value. Only a change
//! of a type writes the table anew (`alter_type`).

use std::sync::Arc;

use base::{Oid, SqlError, SqlResult, SqlState, sql_err};
use catalog::change::{Behavior, ConstraintInfo, NewColumn, NewDefault, ObjectAddress};
use catalog::system::{pg_attribute, pg_class};
use catalog::{RelationKind, Table};
use parse::Statement;
use parse::ast::{
    AlterAction, AlterTable, Assignment, BoolOp, ColumnDef, ColumnRef, Constraint, ConstraintKind,
    DropBehavior, Expr, FromItem, Indirection, Literal, Location, ObjectKind, RangeVar, ResTarget, Returning,
    Select, SelectBody, SimpleSelect, TargetColumn, Update,
};
use tuple::Datum;
use txn::LockMode;

use super::constraint::{self, Wanted};
use super::internal::{Internal, finds_row};
use super::storage_parameter::{self, Target};
use super::{alter_identity, alter_type, drop, expression, generated, names, options, schema, table, view};
use crate::session::Session;

/// ALTER TABLE, INDEX, VIEW, SEQUENCE, MATERIALIZED VIEW.
pub(crate) fn run(session: &Session, statement: &AlterTable, text: &str) -> SqlResult<()> {
    if statement.kind == ObjectKind::Type {
        return Err(SqlError::not_supported("ALTER TYPE of a composite type"));
    }
    let Some(found) = open(session, &statement.relation, statement.missing_ok)? else { return Ok(()) };
    check_kind(&found, statement.kind)?;
    names::check_not_system(&found)?;
    names::check_owner(session, &found)?;
    for action in &statement.actions {
        let table = names::describe(session, found.oid)?;
        self::action(session, &table, action, text)?;
    }
    Ok(())
}

/// Locks the relation; a notice if it is missing and may be.
pub(crate) fn open(session: &Session, name: &RangeVar, missing_ok: bool) -> SqlResult<Option<Arc<Table>>> {
    if !missing_ok {
        return names::open(session, name, LockMode::AccessExclusive).map(Some);
    }
    let found = names::try_open(session, name, LockMode::AccessExclusive)?;
    if found.is_none() {
        let message = format!("relation \"{}\" does not exist, skipping", name.name);
        session.notice(names::notice(SqlState::SUCCESSFUL_COMPLETION, message));
    }
    Ok(found)
}

/// The word behind ALTER must fit the relation; ALTER TABLE takes any.
pub(crate) fn check_kind(table: &Table, kind: ObjectKind) -> SqlResult<()> {
    let (fits, what) = match kind {
        ObjectKind::Index => (table.kind == RelationKind::Index, "an index"),
        ObjectKind::View => (table.kind == RelationKind::View, "a view"),
        ObjectKind::Sequence => (table.kind == RelationKind::Sequence, "a sequence"),
        ObjectKind::MaterializedView => (table.kind == RelationKind::MaterializedView, "a materialized view"),
        ObjectKind::Type => (table.kind == RelationKind::Composite, "a composite type"),
        _ => (table.kind != RelationKind::Composite, "a table"),
    };
    if fits {
        return Ok(());
    }
    Err(sql_err!(WRONG_OBJECT_TYPE, "\"{}\" is not {what}", table.name))
}

/// Actions on columns, constraints and so on need a table.
fn require_table(table: &Table, action: &str) -> SqlResult<()> {
    if table.kind == RelationKind::Table {
        return Ok(());
    }
    let kinds = match table.kind {
        RelationKind::View => "views",
        RelationKind::Index => "indexes",
        RelationKind::Sequence => "sequences",
        RelationKind::MaterializedView => "materialized views",
        _ => "relations of this kind",
    };
    Err(sql_err!(
        WRONG_OBJECT_TYPE,
        "ALTER action {action} cannot be performed on relation \"{}\"",
        table.name
    )
    .detail(format!("This operation is not supported for {kinds}.")))
}

fn action(session: &Session, table: &Arc<Table>, action: &AlterAction, text: &str) -> SqlResult<()> {
    match action {
        AlterAction::AddColumn(def, if_not_exists) => {
            require_table(table, "ADD COLUMN")?;
            add_column(session, table, def, *if_not_exists, text)
        }
        AlterAction::DropColumn(name, missing_ok, behavior) => {
            require_table(table, "DROP COLUMN")?;
            drop_column(session, table, name, *missing_ok, *behavior)
        }
        AlterAction::ColumnDefault(name, default) => {
            column_default(session, table, name, default.as_ref(), text)
        }
        AlterAction::SetNotNull(name) => {
            require_table(table, "ALTER COLUMN ... SET NOT NULL")?;
            set_not_null(session, table, name, None, text)
        }
        AlterAction::DropNotNull(name) => {
            require_table(table, "ALTER COLUMN ... DROP NOT NULL")?;
            drop_not_null(session, table, name)
        }
        AlterAction::SetStatistics(name, number, target) => {
            set_statistics(session, table, (name.as_deref(), *number), *target)
        }
        AlterAction::AddConstraint(constraint) => {
            require_table(table, "ADD CONSTRAINT")?;
            add_constraint(session, table, constraint, text)
        }
        AlterAction::DropConstraint(name, missing_ok, behavior) => {
            require_table(table, "DROP CONSTRAINT")?;
            drop_constraint(session, table, name, *missing_ok, *behavior)
        }
        AlterAction::ValidateConstraint(name) => validate(session, table, name),
        AlterAction::SetOptions(list) => set_options(session, table, list),
        AlterAction::ResetOptions(list) => reset_options(session, table, list),
        AlterAction::Owner(role) => owner(session, table, schema::role(session, role)?.0),
        AlterAction::ColumnType { column, type_name, collation, using, location } => {
            require_table(table, "ALTER COLUMN ... SET DATA TYPE")?;
            let (collation, using) = (collation.as_ref(), using.as_ref());
            let wanted = alter_type::Wanted { column, type_name, collation, using, location: *location };
            alter_type::run(session, table, &wanted, text)
        }
        AlterAction::SetExpression(name, expr) => {
            require_table(table, "ALTER COLUMN ... SET EXPRESSION")?;
            generated::set(session, table, name, expr, text)
        }
        AlterAction::DropExpression(name, missing_ok) => {
            require_table(table, "ALTER COLUMN ... DROP EXPRESSION")?;
            generated::drop(session, table, name, *missing_ok)
        }
        AlterAction::AddIdentity(name, kind, list) => {
            require_table(table, "ALTER COLUMN ... ADD IDENTITY")?;
            alter_identity::add(session, table, (name, *kind), list, text)
        }
        AlterAction::SetIdentity(name, list) => {
            require_table(table, "ALTER COLUMN ... SET")?;
            alter_identity::set(session, table, name, list, text)
        }
        AlterAction::DropIdentity(name, missing_ok) => {
            require_table(table, "ALTER COLUMN ... DROP IDENTITY")?;
            alter_identity::drop(session, table, name, *missing_ok)
        }
        other => Err(SqlError::not_supported(format!("ALTER TABLE {}", action_name(other)))),
    }
}

fn action_name(action: &AlterAction) -> &'static str {
    match action {
        AlterAction::SetColumnOptions(..) => "ALTER COLUMN SET",
        AlterAction::ResetColumnOptions(..) => "ALTER COLUMN RESET",
        AlterAction::SetStorage(..) => "ALTER COLUMN SET STORAGE",
        AlterAction::SetCompression(..) => "ALTER COLUMN SET COMPRESSION",
        AlterAction::AlterConstraint { .. } => "ALTER CONSTRAINT",
        AlterAction::ClusterOn(_) => "CLUSTER ON",
        AlterAction::DropCluster => "SET WITHOUT CLUSTER",
        AlterAction::SetLogged => "SET LOGGED",
        AlterAction::SetUnlogged => "SET UNLOGGED",
        AlterAction::DropOids => "SET WITHOUT OIDS",
        AlterAction::SetAccessMethod(_) => "SET ACCESS METHOD",
        AlterAction::SetTablespace(_) => "SET TABLESPACE",
        AlterAction::Trigger(..) => "ENABLE or DISABLE TRIGGER",
        AlterAction::Rule(..) => "ENABLE or DISABLE RULE",
        AlterAction::Inherit(..) => "INHERIT",
        AlterAction::Of(_) | AlterAction::NotOf => "OF",
        AlterAction::ReplicaIdentity(..) => "REPLICA IDENTITY",
        AlterAction::RowSecurity(_) | AlterAction::ForceRowSecurity(_) => "ROW LEVEL SECURITY",
        AlterAction::AttachPartition(..) => "ATTACH PARTITION",
        AlterAction::DetachPartition(..) => "DETACH PARTITION",
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

fn add_column(
    session: &Session,
    table: &Arc<Table>,
    def: &ColumnDef,
    if_not_exists: bool,
    text: &str,
) -> SqlResult<()> {
    let name = &def.name;
    if table.column(name).is_some() {
        if if_not_exists {
            let message =
                format!("column \"{name}\" of relation \"{}\" already exists, skipping", table.name);
            session.notice(names::notice(SqlState::DUPLICATE_COLUMN, message));
            return Ok(());
        }
        return Err(sql_err!(
            DUPLICATE_COLUMN,
            "column \"{name}\" of relation \"{}\" already exists",
            table.name
        ));
    }
    table::check_column_name(name)?;
    let mut constraints = Vec::new();
    let column = table::column(session, (table.schema, &table.name), def, &mut constraints, text)?;
    // NOT NULL comes when the rows have their values.
    let new = NewColumn { not_null: false, ..column.new.clone() };
    let number = session.with_changer(|changer| {
        changer.check_column_type(name, new.type_oid)?;
        changer.add_column(table.oid, &new)
    })?;
    table::own_sequence(session, table.oid, (number, &new), column.sequence)?;
    if let Some(expr) = column.generated {
        generated::enter(session, &names::describe(session, table.oid)?, number, expr, text)?;
    }
    if new.default.is_some() || column.sequence.is_some() || column.generated.is_some() {
        fill(session, table, name)?;
    }
    if let Some((constraint, _)) = column.not_null {
        set_not_null(session, &names::describe(session, table.oid)?, name, constraint, text)?;
    }
    for wanted in &constraints {
        add_wanted(session, &names::describe(session, table.oid)?, wanted, text)?;
    }
    Ok(())
}

fn target(value: Expr) -> ResTarget {
    ResTarget { name: None, value, location: Location::NONE }
}

fn range(table: &Table) -> RangeVar {
    RangeVar { schema: Some(table.schema_name.clone()), name: table.name.clone(), ..RangeVar::default() }
}

/// `UPDATE ONLY t SET column = DEFAULT`
pub(super) fn fill(session: &Session, table: &Table, column: &str) -> SqlResult<()> {
    let of = TargetColumn { name: column.to_owned(), steps: Vec::new(), location: Location::NONE };
    let value = Expr::Default { location: Location::NONE };
    let update = Statement::Update(Box::new(Update {
        with: None,
        relation: range(table),
        assignments: vec![Assignment::Single(of, value)],
        from: Vec::new(),
        filter: None,
        returning: Returning::default(),
    }));
    Internal::new(session, &update, "", &[])?.run(session, &[], &mut |_| Ok(()))?;
    session.next_command()
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
fn some_row(session: &Session, table: &Table, filter: Expr, text: &str) -> SqlResult<bool> {
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

fn set_not_null(
    session: &Session,
    table: &Arc<Table>,
    name: &str,
    constraint_name: Option<&str>,
    text: &str,
) -> SqlResult<()> {
    let i = find(table, name)?;
    if table.columns[i].not_null {
        return Ok(());
    }
    let arg = Box::new(column_expr(name));
    let is_null = Expr::NullTest { arg, not: false, location: Location::NONE };
    if some_row(session, table, is_null, text)? {
        return Err(sql_err!(
            NOT_NULL_VIOLATION,
            "column \"{name}\" of relation \"{}\" contains null values",
            table.name
        )
        .table(&table.schema_name, &table.name)
        .column(name));
    }
    let number = i as i16 + 1;
    constraint::add_not_null(session, table, number, constraint_name, false)?;
    session.with_changer(|changer| changer.set_not_null(table.oid, number, true))
}

fn constraints(session: &Session, table: &Table) -> SqlResult<Vec<ConstraintInfo>> {
    session.with_reader(|reader| reader.constraints(table.oid))
}

fn drop_not_null(session: &Session, table: &Table, name: &str) -> SqlResult<()> {
    let number = find(table, name)? as i16 + 1;
    if table.columns[number as usize - 1].identity != catalog::Identity::None {
        return Err(sql_err!(
            SYNTAX_ERROR,
            "column \"{name}\" of relation \"{}\" is an identity column",
            table.name
        ));
    }
    let all = constraints(session, table)?;
    if all.iter().any(|c| c.kind == b'p' && c.columns.contains(&number)) {
        return Err(sql_err!(INVALID_TABLE_DEFINITION, "column \"{name}\" is in a primary key"));
    }
    let own = all.iter().filter(|c| c.kind == b'n' && c.columns == [number]);
    let objects: Vec<ObjectAddress> = own.map(|c| ObjectAddress::constraint(c.oid)).collect();
    session.with_changer(|changer| {
        if !objects.is_empty() {
            changer.drop_objects(&objects, Behavior::Restrict)?;
        }
        changer.set_not_null(table.oid, number, false)
    })
}

fn behavior_of(behavior: DropBehavior) -> Behavior {
    match behavior {
        DropBehavior::Restrict => Behavior::Restrict,
        DropBehavior::Cascade => Behavior::Cascade,
    }
}

fn drop_column(
    session: &Session,
    table: &Table,
    name: &str,
    missing_ok: bool,
    behavior: DropBehavior,
) -> SqlResult<()> {
    let Some((number, _)) = table.column(name) else {
        if super::index::is_system_column(name) {
            return Err(sql_err!(FEATURE_NOT_SUPPORTED, "cannot drop system column \"{name}\""));
        }
        if missing_ok {
            let message =
                format!("column \"{name}\" of relation \"{}\" does not exist, skipping", table.name);
            session.notice(names::notice(SqlState::SUCCESSFUL_COMPLETION, message));
            return Ok(());
        }
        return find(table, name).map(std::mem::drop);
    };
    let objects = [ObjectAddress::column(table.oid, number)];
    let told = session.with_changer(|changer| changer.drop_objects(&objects, behavior_of(behavior)))?;
    drop::tell(session, told);
    Ok(())
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
    (name, number): (Option<&str>, i16),
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

fn add_constraint(
    session: &Session,
    table: &Arc<Table>,
    constraint: &Constraint,
    text: &str,
) -> SqlResult<()> {
    constraint::refuse_unsupported(constraint)?;
    if let ConstraintKind::NotNull(Some(column)) = &constraint.kind {
        return set_not_null(session, table, column, constraint.name.as_deref(), text);
    }
    add_wanted(session, table, &Wanted { constraint, column: None }, text)
}

fn add_wanted(session: &Session, table: &Arc<Table>, wanted: &Wanted<'_>, text: &str) -> SqlResult<()> {
    match &wanted.constraint.kind {
        ConstraintKind::PrimaryKey(with) => {
            let own = wanted.column.into_iter();
            for name in own.chain(with.columns.iter().map(String::as_str)) {
                if table.column(name).is_some() {
                    set_not_null(session, table, name, None, text)?;
                }
            }
        }
        ConstraintKind::Check(expr) if !wanted.constraint.not_valid => {
            let named = constraint::check_name(session, table, wanted, expr, text)?;
            check_rows(session, table, expr, &named, text)?;
        }
        _ => {}
    }
    constraint::add(session, table.oid, wanted, text)
}

/// All rows must satisfy a new CHECK.
fn check_rows(session: &Session, table: &Table, expr: &Expr, name: &str, text: &str) -> SqlResult<()> {
    let violated = Expr::Bool { op: BoolOp::Not, args: vec![expr.clone()], location: Location::NONE };
    if !some_row(session, table, violated, text)? {
        return Ok(());
    }
    Err(sql_err!(
        CHECK_VIOLATION,
        "check constraint \"{name}\" of relation \"{}\" is violated by some row",
        table.name
    )
    .table(&table.schema_name, &table.name)
    .constraint(name))
}

fn undefined_constraint(table: &Table, name: &str) -> SqlError {
    sql_err!(UNDEFINED_OBJECT, "constraint \"{name}\" of relation \"{}\" does not exist", table.name)
}

fn drop_constraint(
    session: &Session,
    table: &Table,
    name: &str,
    missing_ok: bool,
    behavior: DropBehavior,
) -> SqlResult<()> {
    let all = constraints(session, table)?;
    let Some(found) = all.iter().find(|c| c.name == name) else {
        if missing_ok {
            let message =
                format!("constraint \"{name}\" of relation \"{}\" does not exist, skipping", table.name);
            session.notice(names::notice(SqlState::SUCCESSFUL_COMPLETION, message));
            return Ok(());
        }
        return Err(undefined_constraint(table, name));
    };
    if found.kind == b'n' {
        let column = found.columns.first().map_or("", |n| table.columns[*n as usize - 1].name.as_str());
        return drop_not_null(session, table, column);
    }
    let objects = [ObjectAddress::constraint(found.oid)];
    let told = session.with_changer(|changer| changer.drop_objects(&objects, behavior_of(behavior)))?;
    drop::tell(session, told);
    Ok(())
}

fn validate(session: &Session, table: &Table, name: &str) -> SqlResult<()> {
    let all = constraints(session, table)?;
    let found = all.iter().find(|c| c.name == name).ok_or_else(|| undefined_constraint(table, name))?;
    if found.validated {
        return Ok(());
    }
    Err(SqlError::not_supported("VALIDATE CONSTRAINT"))
}

fn parameter_target(table: &Table) -> SqlResult<Target> {
    match table.kind {
        RelationKind::Table | RelationKind::MaterializedView => Ok(Target::Table),
        RelationKind::Index => Ok(Target::Index),
        RelationKind::View => Ok(Target::View),
        _ => Err(SqlError::not_supported("ALTER ... SET of this kind of relation")),
    }
}

fn set_options(session: &Session, table: &Table, list: &[parse::ast::DefElem]) -> SqlResult<()> {
    let new = storage_parameter::check(parameter_target(table)?, list)?;
    let replaced = |name: &str| list.iter().any(|option| option.namespace.is_none() && option.name == name);
    let kept = table.options.iter().filter(|(name, _)| !replaced(name));
    let mut all: Vec<String> = kept.map(|(name, value)| format!("{name}={value}")).collect();
    all.extend(new);
    if table.kind == RelationKind::View && all.iter().any(|option| option.starts_with("check_option=")) {
        view::require_updatable(session, table)?;
    }
    session.with_changer(|changer| changer.set_options(table.oid, &all))
}

fn reset_options(session: &Session, table: &Table, list: &[parse::ast::DefElem]) -> SqlResult<()> {
    for option in list {
        if option.value.is_some() {
            let _ = options::string(option)?;
            return Err(sql_err!(SYNTAX_ERROR, "RESET must not include values for parameters"));
        }
        storage_parameter::check_name(parameter_target(table)?, &option.name)?;
    }
    let kept = table.options.iter().filter(|(name, _)| !list.iter().any(|option| option.name == *name));
    let all: Vec<String> = kept.map(|(name, value)| format!("{name}={value}")).collect();
    session.with_changer(|changer| changer.set_options(table.oid, &all))
}

fn owner(session: &Session, table: &Table, owner: Oid) -> SqlResult<()> {
    session.with_changer(|changer| {
        changer.edit_relation(table.oid, |row| row[pg_class::RELOWNER] = owner.into())?;
        for index in &table.indexes {
            changer.edit_relation(index.oid, |row| row[pg_class::RELOWNER] = owner.into())?;
        }
        Ok(())
    })
}
