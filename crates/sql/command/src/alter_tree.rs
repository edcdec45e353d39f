//! # What
//! Actions of ALTER TABLE that go down the inheritance tree: columns, their types, NOT NULL and other constraints.
//!
//! # Invariants
//! 1. What a child inherits is changed only with the parent it comes from: counts of parents go up and down, and what nobody defines
//!    any more goes.
//!
//! # Locks
//! ACCESS EXCLUSIVE on every table that changes.
//!
//! # PostgreSQL counterpart
//! `ATExecAddColumn` and its neighbours in `commands/tablecmds.c`.

use std::sync::Arc;

use base::{SqlError, SqlResult, SqlState, sql_err};
use catalog::change::{Behavior, ConstraintInfo, NewColumn, NewConstraint, ObjectAddress, Origin};
use catalog::{RelationKind, Table};
use parse::ast::{BoolOp, ColumnDef, Constraint, ConstraintKind, DropBehavior, Expr, Location};
use session::Session;
use session::firing::foreign_key::parsed;
use txn::LockMode;

use super::alter::{behavior_of, column_expr, constraints, find, some_row, undefined_constraint};
use super::constraint::{self, Wanted};
use super::internal::finds_row;
use super::table::Place;
use super::{
    alter_rows, alter_type, drop, existing_index, expression, foreign, generated, inherit, names, partition,
    table,
};

/// Carries `f` out on each direct child, as it is when its turn comes: it may be below another one, too.
pub(super) fn each_child(
    session: &Session,
    table: &Table,
    f: &mut dyn FnMut(&Arc<Table>) -> SqlResult<()>,
) -> SqlResult<()> {
    each_child_under(session, table, LockMode::AccessExclusive, f)
}

/// As [`each_child`], under a lock of this mode.
fn each_child_under(
    session: &Session,
    table: &Table,
    mode: LockMode,
    f: &mut dyn FnMut(&Arc<Table>) -> SqlResult<()>,
) -> SqlResult<()> {
    for &oid in &table.children {
        runtime::check_interrupts().map_err(plan::interrupted)?;
        if let Some(child) = inherit::open_child(session, oid, mode)? {
            f(&child)?;
        }
    }
    Ok(())
}

fn skipping(session: &Session, code: SqlState, message: String) {
    session.notice(names::notice(code, format!("{message}, skipping")));
}

/// ADD COLUMN.
pub(super) fn add_column(
    session: &Session,
    table: &Arc<Table>,
    def: &ColumnDef,
    (if_not_exists, recurse): (bool, bool),
    text: &str,
) -> SqlResult<()> {
    let name = &def.name;
    if table.partition_of.is_valid() {
        return Err(sql_err!(WRONG_OBJECT_TYPE, "cannot add column to a partition"));
    }
    if table.column(name).is_some() {
        let message = format!("column \"{name}\" of relation \"{}\" already exists", table.name);
        if if_not_exists {
            skipping(session, SqlState::DUPLICATE_COLUMN, message);
            return Ok(());
        }
        return Err(SqlError::new(SqlState::DUPLICATE_COLUMN, message));
    }
    table::check_column_name(name)?;
    table::check_column_count(table.columns.len() + 1)?;
    if !recurse && !table.children.is_empty() {
        return Err(sql_err!(INVALID_TABLE_DEFINITION, "column must be added to child tables too"));
    }
    if table.kind == RelationKind::ForeignTable {
        def.constraints
            .iter()
            .try_for_each(|constraint| foreign::table::check_constraint(constraint, text))?;
    }
    let mut constraints = Vec::new();
    let of = Place { schema: table.schema, table: &table.name, persistence: table.persistence as u8 };
    let column = table::column(session, of, def, &mut constraints, text)?;
    // NOT NULL comes when the rows have their values.
    let new = NewColumn { not_null: false, ..column.new.clone() };
    session.with_changer(|changer| changer.check_column_type(name, new.type_oid))?;
    let number = enter_column(session, table, &new, &column, text)?;
    table::own_sequence(session, table.oid, (number, &new), column.sequence)?;
    foreign::table::enter_column(session, &*names::describe(session, table.oid)?, def)?;
    alter_rows::fill_new(session, table.oid, number)?;
    add_to_children(session, table, &new, &column, text)?;
    if let Some((constraint, _)) = column.not_null {
        let table = names::describe(session, table.oid)?;
        set_not_null(session, &table, name, (constraint, recurse, true), text)?;
    }
    for wanted in &constraints {
        add_wanted(session, &names::describe(session, table.oid)?, wanted, recurse, text)?;
    }
    Ok(())
}

/// Gives one table a new column, without values. Returns its number.
fn enter_column(
    session: &Session,
    table: &Arc<Table>,
    new: &NewColumn,
    column: &table::Column<'_>,
    text: &str,
) -> SqlResult<i16> {
    let number = session.with_changer(|changer| changer.add_column(table.oid, new))?;
    if let Some(expr) = column.generated {
        generated::enter(session, &names::describe(session, table.oid)?, number, expr, text)?;
    }
    Ok(number)
}

fn add_to_children(
    session: &Session,
    table: &Table,
    new: &NewColumn,
    column: &table::Column<'_>,
    text: &str,
) -> SqlResult<()> {
    let inherited = NewColumn { inherited: 1, only_inherited: true, ..new.clone() };
    each_child(session, table, &mut |child| {
        let name = &new.name;
        let Some((number, own)) = child.column(name) else {
            let number = enter_column(session, child, &inherited, column, text)?;
            alter_rows::fill_new(session, child.oid, number)?;
            return add_to_children(session, child, new, column, text);
        };
        inherit::check_same_type(child, own, (new.type_oid, new.typmod, new.collation))?;
        let origin = Origin { local: own.local, inherited: own.inherited + 1 };
        session.with_changer(|changer| changer.set_column_origin(child.oid, number, origin))?;
        let message = format!("merging definition of column \"{name}\" for child \"{}\"", child.name);
        session.notice(names::notice(SqlState::SUCCESSFUL_COMPLETION, message));
        Ok(())
    })
}

/// DROP COLUMN.
pub(super) fn drop_column(
    session: &Session,
    table: &Arc<Table>,
    name: &str,
    missing_ok: bool,
    (behavior, recurse): (DropBehavior, bool),
) -> SqlResult<()> {
    let Some((_, column)) = table.column(name) else {
        if super::index::is_system_column(name) {
            return Err(sql_err!(FEATURE_NOT_SUPPORTED, "cannot drop system column \"{name}\""));
        }
        if missing_ok {
            let message = format!("column \"{name}\" of relation \"{}\" does not exist", table.name);
            skipping(session, SqlState::SUCCESSFUL_COMPLETION, message);
            return Ok(());
        }
        return find(table, name).map(std::mem::drop);
    };
    if column.inherited > 0 {
        return Err(sql_err!(INVALID_TABLE_DEFINITION, "cannot drop inherited column \"{name}\""));
    }
    partition::check_no_key(session, table, name, "drop")?;
    let mut objects = Vec::new();
    dropped_columns(session, table, name, recurse, &mut objects)?;
    let told = session.with_changer(|changer| changer.drop_objects(&objects, behavior_of(behavior)))?;
    drop::tell(session, told);
    Ok(())
}

/// The column of a table, and those of tables below that have it from there alone; the others count one parent less.
fn dropped_columns(
    session: &Session,
    table: &Table,
    name: &str,
    recurse: bool,
    objects: &mut Vec<ObjectAddress>,
) -> SqlResult<()> {
    let number = find(table, name)? as i16 + 1;
    if table.kind == RelationKind::PartitionedTable && !recurse && !table.children.is_empty() {
        return Err(sql_err!(
            INVALID_TABLE_DEFINITION,
            "cannot drop column from only the partitioned table when partitions exist"
        )
        .hint("Do not specify the ONLY keyword."));
    }
    each_child(session, table, &mut |child| {
        let at = find(child, name)?;
        let own = &child.columns[at];
        if recurse && own.inherited == 1 && !own.local {
            return dropped_columns(session, child, name, true, objects);
        }
        let origin = Origin { local: own.local || !recurse, inherited: own.inherited - 1 };
        session.with_changer(|changer| changer.set_column_origin(child.oid, at as i16 + 1, origin))
    })?;
    objects.push(ObjectAddress::column(table.oid, number));
    Ok(())
}

/// ALTER COLUMN TYPE.
pub(super) fn column_type(
    session: &Session,
    table: &Arc<Table>,
    wanted: &alter_type::Wanted<'_>,
    recurse: bool,
    text: &str,
) -> SqlResult<()> {
    let name = wanted.column;
    if let Some((_, column)) = table.column(name)
        && column.inherited > 0
    {
        return Err(sql_err!(INVALID_TABLE_DEFINITION, "cannot alter inherited column \"{name}\""));
    }
    partition::check_no_key(session, table, name, "alter")?;
    if !recurse && !table.children.is_empty() {
        return Err(sql_err!(
            INVALID_TABLE_DEFINITION,
            "type of inherited column \"{name}\" must be changed in child tables too"
        ));
    }
    let tree = inherit::descendants(session, table, LockMode::AccessExclusive)?;
    let inside = |parent: &base::Oid| *parent == table.oid || tree.iter().any(|t| t.oid == *parent);
    for child in &tree {
        let parents = session.with_reader(|r| r.parents(child.oid))?;
        let column = &child.columns[find(child, name)?];
        if usize::from(column.inherited as u16) > parents.iter().filter(|p| inside(p)).count() {
            return Err(sql_err!(
                INVALID_TABLE_DEFINITION,
                "cannot alter inherited column \"{name}\" of relation \"{}\"",
                child.name
            ));
        }
    }
    alter_type::run(session, table, wanted, text)?;
    tree.iter().try_for_each(|child| alter_type::run(session, child, wanted, text))
}

/// SET NOT NULL, with the name that the constraint is to have; `added` if it comes with a new constraint or column.
pub(super) fn set_not_null(
    session: &Session,
    table: &Arc<Table>,
    name: &str,
    (constraint_name, recurse, added): (Option<&str>, bool, bool),
    text: &str,
) -> SqlResult<()> {
    let wanted =
        NotNull { column: name, name: constraint_name, recurse, no_inherit: false, valid: true, added };
    let number = find(table, name)? as i16 + 1;
    let all = constraints(session, table)?;
    if let Some(found) = all.iter().find(|c| c.is_not_null_of(number) && !c.validated) {
        validate(session, table, found, recurse, text)?;
    }
    wanted.apply(session, table, false, text)
}

/// NOT NULL of a table that its children are to have from now on.
pub(super) fn inherit_not_null(
    session: &Session,
    table: &Arc<Table>,
    (column, name): (&str, &str),
    recurse: bool,
    text: &str,
) -> SqlResult<()> {
    if !recurse && !table.children.is_empty() {
        return Err(sql_err!(INVALID_TABLE_DEFINITION, "constraint must be added to child tables too"));
    }
    let wanted = NotNull { column, name: Some(name), recurse, no_inherit: false, valid: true, added: false };
    each_child(session, table, &mut |child| wanted.apply(session, child, true, text))
}

/// VALIDATE CONSTRAINT of a CHECK or NOT NULL, on the tables below too.
pub(super) fn validate(
    session: &Session,
    table: &Arc<Table>,
    found: &ConstraintInfo,
    recurse: bool,
    text: &str,
) -> SqlResult<()> {
    if !found.no_inherit && !recurse && !table.children.is_empty() {
        return Err(sql_err!(INVALID_TABLE_DEFINITION, "constraint must be validated on child tables too"));
    }
    let column = found.columns.first().map(|n| table.columns[*n as usize - 1].name.clone());
    if !found.no_inherit {
        each_child(session, table, &mut |child| {
            let all = constraints(session, child)?;
            let number = column.as_ref().and_then(|name| child.column(name)).map(|(number, _)| number);
            let same = |c: &&ConstraintInfo| match found.kind {
                b'n' => number.is_some_and(|number| c.is_not_null_of(number)),
                kind => c.kind == kind && c.name == found.name,
            };
            match all.iter().find(same).filter(|c| !c.validated) {
                Some(own) => validate(session, child, own, recurse, text),
                None => Ok(()),
            }
        })?;
    }
    match (&found.check, column) {
        (Some(check), _) => check_stored(session, table, check, &found.name)?,
        (None, Some(column)) => check_no_nulls(session, table, &column, text)?,
        (None, None) => {}
    }
    session.with_changer(|changer| changer.validate_constraint(found.oid))
}

/// NOT NULL to be given to a column of a tree.
struct NotNull<'a> {
    column: &'a str,
    name: Option<&'a str>,
    recurse: bool,
    no_inherit: bool,
    /// Not NOT VALID.
    valid: bool,
    /// It comes with a new constraint or column: SET NOT NULL and INHERIT are about what is there.
    added: bool,
}

impl NotNull<'_> {
    /// A NOT NULL that is there already must say the same.
    fn check_agrees(&self, found: &ConstraintInfo, table: &Table) -> SqlResult<()> {
        if self.no_inherit != found.no_inherit {
            let error = sql_err!(
                OBJECT_NOT_IN_PREREQUISITE_STATE,
                "cannot change NO INHERIT status of NOT NULL constraint \"{}\" on relation \"{}\"",
                found.name,
                table.name
            );
            return Err(match self.added {
                true => error.hint(
                    "You might need to make the existing constraint inheritable using ALTER TABLE ... ALTER CONSTRAINT ... INHERIT.",
                ),
                false => error,
            });
        }
        if self.valid && !found.validated {
            return Err(constraint::not_valid_yet(found, table));
        }
        Ok(())
    }

    fn apply(&self, session: &Session, table: &Arc<Table>, inherited: bool, text: &str) -> SqlResult<()> {
        let name = self.column;
        let i = find(table, name)?;
        let number = i as i16 + 1;
        let all = constraints(session, table)?;
        let mut below = self.name.map(str::to_owned);
        if let Some(found) = all.iter().find(|c| c.is_not_null_of(number)) {
            self.check_agrees(found, table)?;
            let origin = match inherited {
                true => Origin { inherited: found.origin.inherited + 1, ..found.origin },
                false => Origin { local: true, ..found.origin },
            };
            if origin != found.origin {
                session.with_changer(|changer| changer.set_constraint_origin(found.oid, origin))?;
            }
            return Ok(());
        }
        if !self.recurse && !table.children.is_empty() && !self.no_inherit {
            return Err(sql_err!(INVALID_TABLE_DEFINITION, "constraint must be added to child tables too"));
        }
        if self.valid {
            check_no_nulls(session, table, name, text)?;
        }
        let constraint = match self.name {
            Some(given) => {
                constraint::check_constraint_free(session, table, given)?;
                given.to_owned()
            }
            None => constraint::not_null_name(session, table, name)?,
        };
        below.get_or_insert_with(|| constraint.clone());
        let origin = Origin { local: !inherited, inherited: i16::from(inherited) };
        let made = (constraint.as_str(), self.no_inherit, self.valid);
        constraint::enter_not_null(session, table, number, made, origin)?;
        session.with_changer(|changer| changer.set_not_null(table.oid, number, true))?;
        if self.no_inherit {
            return Ok(());
        }
        let wanted = NotNull { name: below.as_deref(), ..*self };
        each_child(session, table, &mut |child| wanted.apply(session, child, true, text))
    }
}

/// Fails if a column of a table has nulls.
pub(super) fn check_no_nulls(session: &Session, table: &Table, name: &str, text: &str) -> SqlResult<()> {
    let arg = Box::new(column_expr(name));
    let is_null = Expr::NullTest { arg, not: false, location: Location::NONE };
    if table.kind != RelationKind::Table || !some_row(session, table, is_null, text)? {
        return Ok(());
    }
    Err(sql_err!(NOT_NULL_VIOLATION, "column \"{name}\" of relation \"{}\" contains null values", table.name)
        .table(&table.schema_name, &table.name)
        .column(name))
}

/// DROP NOT NULL.
pub(super) fn drop_not_null(session: &Session, table: &Table, name: &str, recurse: bool) -> SqlResult<()> {
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
    match all.iter().find(|c| c.is_not_null_of(number)) {
        Some(found) => drop_found(session, table, found, (Behavior::Restrict, recurse)),
        None => session.with_changer(|changer| changer.set_not_null(table.oid, number, false)),
    }
}

/// ADD CONSTRAINT.
pub(super) fn add_constraint(
    session: &Session,
    table: &Arc<Table>,
    constraint: &Constraint,
    recurse: bool,
    text: &str,
) -> SqlResult<()> {
    if let ConstraintKind::NotNull(Some(column)) = &constraint.kind {
        let (no_inherit, valid) = (constraint.no_inherit, !constraint.not_valid);
        let name = constraint.name.as_deref();
        let wanted = NotNull { column, name, recurse, no_inherit, valid, added: true };
        return wanted.apply(session, table, false, text);
    }
    let wanted = Wanted { only: !recurse, ..Wanted::of(constraint) };
    add_wanted(session, table, &wanted, recurse, text)
}

fn add_wanted(
    session: &Session,
    table: &Arc<Table>,
    wanted: &Wanted<'_>,
    recurse: bool,
    text: &str,
) -> SqlResult<()> {
    match &wanted.constraint.kind {
        ConstraintKind::PrimaryKey(with) => {
            let columns = match &with.using_index {
                Some(index) => existing_index::key_columns(session, table, wanted, index, text)?,
                None => wanted.column.into_iter().chain(with.columns.iter().map(String::as_str)).collect(),
            };
            for name in columns {
                if table.column(name).is_some() {
                    let table = names::describe(session, table.oid)?;
                    check_for_primary_key(session, &table, name)?;
                    each_child(session, &table, &mut |child| check_for_primary_key(session, child, name))?;
                    set_not_null(session, &table, name, (None, recurse, true), text)?;
                }
            }
        }
        ConstraintKind::Check(expr) => return add_check(session, table, wanted, expr, recurse, text),
        _ => {}
    }
    constraint::add(session, table.oid, wanted, text)
}

/// A column of a primary key is NOT NULL in all rows, here and below.
fn check_for_primary_key(session: &Session, table: &Table, column: &str) -> SqlResult<()> {
    let number = find(table, column)? as i16 + 1;
    let all = constraints(session, table)?;
    let Some(found) = all.iter().find(|c| c.is_not_null_of(number)) else { return Ok(()) };
    let (marked, hint) = match (found.no_inherit, found.validated) {
        (true, _) => (
            "NO INHERIT",
            "You might need to make the existing constraint inheritable using ALTER TABLE ... ALTER CONSTRAINT ... INHERIT.",
        ),
        (_, false) => {
            ("NOT VALID", "You might need to validate it using ALTER TABLE ... VALIDATE CONSTRAINT.")
        }
        _ => return Ok(()),
    };
    Err(sql_err!(OBJECT_NOT_IN_PREREQUISITE_STATE, "cannot create primary key on column \"{column}\"")
        .detail(format!(
            "The constraint \"{}\" on column \"{column}\" of table \"{}\", marked {marked}, is incompatible with a primary key.",
            found.name, table.name
        ))
        .hint(hint))
}

/// ADD CHECK, on the tables below too.
fn add_check(
    session: &Session,
    table: &Arc<Table>,
    wanted: &Wanted<'_>,
    expr: &Expr,
    recurse: bool,
    text: &str,
) -> SqlResult<()> {
    let stored = expression::check(session, table, expr, text)?;
    if constraint::merged_with_inherited(session, table, wanted, &stored.text)? {
        return Ok(());
    }
    let name = constraint::check_name(session, table, wanted, expr, text)?;
    let no_inherit = wanted.constraint.no_inherit;
    if no_inherit && table.kind == RelationKind::PartitionedTable {
        return Err(sql_err!(
            INVALID_TABLE_DEFINITION,
            "cannot add NO INHERIT constraint to partitioned table \"{}\"",
            table.name
        ));
    }
    if !recurse && !no_inherit && !table.children.is_empty() {
        return Err(sql_err!(INVALID_TABLE_DEFINITION, "constraint must be added to child tables too"));
    }
    if wanted.validated {
        check_rows(session, table, expr, &name, text)?;
    }
    constraint::add(session, table.oid, wanted, text)?;
    if no_inherit {
        return Ok(());
    }
    let (enforced, validated) = (wanted.enforced, wanted.validated);
    let of = Inherited { expr, name: &name, enforced, validated, known: false };
    of.add_below(session, table, text)
}

/// Adds a CHECK without a name that all rows are known to satisfy, to a table and to those below it. SHARE UPDATE EXCLUSIVE is enough.
pub(super) fn add_known_check(
    session: &Session,
    table: &Arc<Table>,
    constraint: &Constraint,
    text: &str,
) -> SqlResult<()> {
    let ConstraintKind::Check(expr) = &constraint.kind else {
        return Err(SqlError::internal("a CHECK was expected"));
    };
    let wanted = Wanted::of(constraint);
    let name = constraint::check_name(session, table, &wanted, expr, text)?;
    constraint::add(session, table.oid, &wanted, text)?;
    let of = Inherited { expr, name: &name, enforced: true, validated: true, known: true };
    of.add_below(session, table, text)
}

/// A CHECK that goes down a tree.
struct Inherited<'a> {
    expr: &'a Expr,
    name: &'a str,
    enforced: bool,
    validated: bool,
    /// All rows satisfy it: they are not looked through.
    known: bool,
}

impl Inherited<'_> {
    fn add_below(&self, session: &Session, table: &Table, text: &str) -> SqlResult<()> {
        let mode = if self.known { LockMode::ShareUpdateExclusive } else { LockMode::AccessExclusive };
        each_child_under(session, table, mode, &mut |child| self.add(session, child, text))
    }

    /// A constraint that is there already must hold as the inherited one does.
    fn check_agrees(&self, found: &ConstraintInfo, table: &Table) -> SqlResult<()> {
        let weaker = match () {
            () if self.enforced && !found.enforced => "NOT ENFORCED",
            () if self.validated && !found.validated => "NOT VALID",
            () => return Ok(()),
        };
        Err(sql_err!(
            INVALID_OBJECT_DEFINITION,
            "constraint \"{}\" conflicts with {weaker} constraint on relation \"{}\"",
            self.name,
            table.name
        ))
    }

    fn add(&self, session: &Session, table: &Arc<Table>, text: &str) -> SqlResult<()> {
        let stored = expression::check(session, table, self.expr, text)?;
        let all = constraints(session, table)?;
        if let Some(found) = all.iter().find(|c| c.name == self.name) {
            if found.check.as_deref() != Some(stored.text.as_str()) {
                return Err(sql_err!(
                    DUPLICATE_OBJECT,
                    "constraint \"{}\" for relation \"{}\" already exists",
                    self.name,
                    table.name
                ));
            }
            if found.no_inherit {
                return Err(sql_err!(
                    INVALID_OBJECT_DEFINITION,
                    "constraint \"{}\" conflicts with non-inherited constraint on relation \"{}\"",
                    self.name,
                    table.name
                ));
            }
            self.check_agrees(found, table)?;
            let message = format!("merging constraint \"{}\" with inherited definition", self.name);
            session.notice(names::notice(SqlState::SUCCESSFUL_COMPLETION, message));
            let origin = Origin { inherited: found.origin.inherited + 1, ..found.origin };
            return session.with_changer(|changer| changer.set_constraint_origin(found.oid, origin));
        }
        if self.validated && !self.known {
            check_rows(session, table, self.expr, self.name, text)?;
        }
        session.with_changer(|changer| {
            changer.add_constraint(&NewConstraint {
                columns: stored.used.clone(),
                check: Some(stored.text.clone()),
                needs: stored.needs.clone(),
                enforced: self.enforced,
                validated: self.validated,
                origin: Origin { local: false, inherited: 1 },
                ..constraint::blank(table, self.name.to_owned())
            })
        })?;
        self.add_below(session, table, text)
    }
}

/// All rows must satisfy a new CHECK.
fn check_rows(session: &Session, table: &Table, expr: &Expr, name: &str, text: &str) -> SqlResult<()> {
    let violated = Expr::Bool { op: BoolOp::Not, args: vec![expr.clone()], location: Location::NONE };
    if table.kind != RelationKind::Table || !some_row(session, table, violated, text)? {
        return Ok(());
    }
    Err(violated_by_some_row(table, name))
}

/// All rows must satisfy a CHECK that is there already.
fn check_stored(session: &Session, table: &Arc<Table>, stored: &str, name: &str) -> SqlResult<()> {
    let condition = expression::sql(session, table, &analyze::stored::load_expr(stored, session)?);
    let relation = session::functions::quoted_relation(&table.schema_name, &table.name);
    let text = format!("SELECT 1 FROM ONLY {relation} WHERE NOT ({condition}) LIMIT 1");
    if table.kind == RelationKind::Table && finds_row(session, &parsed(&text)?, &text)? {
        return Err(violated_by_some_row(table, name));
    }
    Ok(())
}

fn violated_by_some_row(table: &Table, name: &str) -> SqlError {
    sql_err!(
        CHECK_VIOLATION,
        "check constraint \"{name}\" of relation \"{}\" is violated by some row",
        table.name
    )
    .table(&table.schema_name, &table.name)
    .constraint(name)
}

/// DROP CONSTRAINT.
pub(super) fn drop_constraint(
    session: &Session,
    table: &Table,
    name: &str,
    missing_ok: bool,
    (behavior, recurse): (DropBehavior, bool),
) -> SqlResult<()> {
    let all = constraints(session, table)?;
    let Some(found) = all.iter().find(|c| c.name == name) else {
        if missing_ok {
            let message = format!("constraint \"{name}\" of relation \"{}\" does not exist", table.name);
            skipping(session, SqlState::SUCCESSFUL_COMPLETION, message);
            return Ok(());
        }
        return Err(undefined_constraint(table, name));
    };
    if found.kind == b'n' && found.origin.inherited == 0 {
        let column = found.columns.first().map_or("", |n| table.columns[*n as usize - 1].name.as_str());
        return drop_not_null(session, table, column, recurse);
    }
    drop_found(session, table, found, (behavior_of(behavior), recurse))
}

/// Drops a constraint of a table, and of the tables below that have it from there alone.
fn drop_found(
    session: &Session,
    table: &Table,
    found: &ConstraintInfo,
    (behavior, recurse): (Behavior, bool),
) -> SqlResult<()> {
    if found.origin.inherited > 0 {
        return Err(sql_err!(
            INVALID_TABLE_DEFINITION,
            "cannot drop inherited constraint \"{}\" of relation \"{}\"",
            found.name,
            table.name
        ));
    }
    if table.kind == RelationKind::PartitionedTable
        && !recurse
        && !table.children.is_empty()
        && matches!(found.kind, b'c' | b'n')
    {
        return Err(sql_err!(
            INVALID_TABLE_DEFINITION,
            "cannot remove constraint from only the partitioned table when partitions exist"
        )
        .hint("Do not specify the ONLY keyword."));
    }
    let mut objects = vec![(table.oid, ObjectAddress::constraint(found.oid), found.clone())];
    if !found.no_inherit && matches!(found.kind, b'c' | b'n') {
        dropped_constraints(session, table, found, recurse, &mut objects)?;
    }
    let addresses: Vec<ObjectAddress> = objects.iter().map(|(_, address, _)| *address).collect();
    let told = session.with_changer(|changer| changer.drop_objects(&addresses, behavior))?;
    drop::tell(session, told);
    for (table, _, info) in &objects {
        if let (b'n', [number]) = (info.kind, info.columns.as_slice()) {
            session.with_changer(|changer| changer.set_not_null(*table, *number, false))?;
        }
    }
    Ok(())
}

fn dropped_constraints(
    session: &Session,
    table: &Table,
    found: &ConstraintInfo,
    recurse: bool,
    objects: &mut Vec<(base::Oid, ObjectAddress, ConstraintInfo)>,
) -> SqlResult<()> {
    let column = |table: &Table, c: &ConstraintInfo| {
        c.columns.first().map(|n| table.columns[*n as usize - 1].name.clone())
    };
    each_child(session, table, &mut |child| {
        let all = constraints(session, child)?;
        let same = |c: &&ConstraintInfo| match found.kind {
            b'n' => c.kind == b'n' && column(child, c) == column(table, found),
            kind => c.kind == kind && c.name == found.name,
        };
        let Some(own) = all.iter().find(same).filter(|c| c.origin.inherited > 0) else { return Ok(()) };
        if recurse && own.origin.inherited == 1 && !own.origin.local {
            objects.push((child.oid, ObjectAddress::constraint(own.oid), own.clone()));
            return dropped_constraints(session, child, own, true, objects);
        }
        let origin = Origin { local: own.origin.local || !recurse, inherited: own.origin.inherited - 1 };
        session.with_changer(|changer| changer.set_constraint_origin(own.oid, origin))
    })
}
