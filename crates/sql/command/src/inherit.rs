//! # What
//! Table inheritance in definitions: what CREATE TABLE ... INHERITS copies from parents, ALTER TABLE ... INHERIT and NO INHERIT, and the
//! tree of tables below a table.
//!
//! # Invariants
//! 1. A child has every column of its parents under the same name with the same type and collation, and every CHECK and NOT NULL
//!    constraint that is not NO INHERIT.
//! 2. `attinhcount` and `coninhcount` are numbers of direct parents.
//!
//! # Locks
//! SHARE UPDATE EXCLUSIVE on a new parent. A statement that changes a tree locks all its tables in the mode in which it locks the root.
//!
//! # PostgreSQL counterpart
//! `MergeAttributes`, `ATExecAddInherit` and `ATExecDropInherit` of `commands/tablecmds.c`, `catalog/pg_inherits.c`.

use std::sync::Arc;

use analyze::Expr;
use base::{Oid, SqlError, SqlResult, SqlState, sql_err};
use catalog::change::{ConstraintInfo, NewColumn, NewConstraint, NewDefault, ObjectAddress, Origin};
use catalog::{CatalogView, Check, Column, Generated, RelationKind, Table};
use parse::ast::RangeVar;
use session::Session;
use txn::{LockMode, LockWait};

use super::{compression, constraint, expression, names, trigger, type_name};

/// A column that comes from parents.
struct InheritedColumn {
    new: NewColumn,
    /// Default or generation expression, over the columns of the new table once they have numbers.
    default: Option<(Arc<Table>, Arc<str>)>,
    /// Parents disagree on the default.
    conflict: bool,
}

/// A CHECK that comes from parents.
struct InheritedCheck {
    name: String,
    /// The parent, and the expression over its columns.
    parent: Arc<Table>,
    expr: Arc<str>,
    enforced: bool,
    count: i16,
}

/// NOT NULL that comes from parents.
struct InheritedNotNull {
    column: String,
    name: String,
    count: i16,
}

/// What a new table takes over from its parents.
#[derive(Default)]
pub(super) struct Inheritance {
    pub(super) parents: Vec<Arc<Table>>,
    columns: Vec<InheritedColumn>,
    checks: Vec<InheritedCheck>,
    not_nulls: Vec<InheritedNotNull>,
    /// The new table is a partition of its only parent.
    pub(super) partition: bool,
}

/// Locks a table's descendants, each once, nearer ones first; the table itself is not among them.
pub(super) fn descendants(session: &Session, table: &Table, mode: LockMode) -> SqlResult<Vec<Arc<Table>>> {
    let mut found: Vec<Arc<Table>> = Vec::new();
    let mut queue: Vec<Oid> = table.children.clone();
    let mut at = 0;
    while let Some(&oid) = queue.get(at) {
        runtime::check_interrupts().map_err(plan::interrupted)?;
        at += 1;
        if oid == table.oid || found.iter().any(|t| t.oid == oid) {
            continue;
        }
        if let Some(child) = open_child(session, oid, mode)? {
            queue.extend(&child.children);
            found.push(child);
        }
    }
    Ok(found)
}

/// A child under its lock; none if it was dropped meanwhile.
pub(super) fn open_child(session: &Session, oid: Oid, mode: LockMode) -> SqlResult<Option<Arc<Table>>> {
    names::lock_relation(session, oid, mode, LockWait::Block)?;
    session.with_reader(|reader| reader.relation_by_oid(oid))
}

/// An expression stored over the columns of `from`, over those of `to`; `what` names it in errors.
pub(super) fn translate(
    session: &Session,
    stored: &str,
    from: &Table,
    number: &dyn Fn(&str) -> Option<i16>,
    what: &str,
) -> SqlResult<Expr> {
    let mut expr = analyze::stored::load_expr(stored, session)?;
    analyze::walk::visit_mut(&mut expr, 0, &mut |e, _| {
        let Expr::Var(var) = e else { return Ok(true) };
        if var.attno == 0 {
            return Err(sql_err!(FEATURE_NOT_SUPPORTED, "cannot convert whole-row table reference")
                .detail(format!("{what} contains a whole-row reference to table \"{}\".", from.name)));
        }
        if let Some(column) = usize::try_from(var.attno - 1).ok().and_then(|i| from.columns.get(i)) {
            var.attno = number(&column.name).ok_or_else(|| missing_column(&column.name))?;
        }
        Ok(true)
    })?;
    Ok(expr)
}

fn missing_column(name: &str) -> SqlError {
    SqlError::internal(format!("inherited column \"{name}\" not found"))
}

fn type_text(session: &Session, column: (Oid, i32)) -> SqlResult<String> {
    session.with_reader(|reader| type_name::format(reader, column.0, column.1))
}

fn collation_text(session: &Session, oid: Oid) -> SqlResult<String> {
    let found = session.with_reader(|reader| reader.collation_by_oid(oid))?;
    Ok(found.map_or_else(|| "default".into(), |c| c.name))
}

impl Inheritance {
    /// Looks at the parents of a new table, and merges what they have.
    pub(super) fn of(
        session: &Session,
        parents: &[RangeVar],
        (partition, temporary): (bool, bool),
    ) -> SqlResult<Inheritance> {
        let mut made = Inheritance { partition, ..Inheritance::default() };
        for name in parents {
            let mode = if partition { LockMode::AccessExclusive } else { LockMode::ShareUpdateExclusive };
            let parent = names::open(session, name, mode)?;
            check_parent(session, &parent, partition, temporary)?;
            if made.parents.iter().any(|p| p.oid == parent.oid) {
                return Err(twice(&parent));
            }
            made.take(session, &parent)?;
            made.parents.push(parent);
        }
        Ok(made)
    }

    fn take(&mut self, session: &Session, parent: &Arc<Table>) -> SqlResult<()> {
        for column in parent.columns.iter().filter(|c| !c.dropped) {
            match self.columns.iter().position(|c| c.new.name == column.name) {
                Some(at) => self.merge_column(session, at, parent, column)?,
                None => self.columns.push(inherited_column(session, parent, column)?),
            }
        }
        for check in parent.checks.iter().filter(|c| !c.no_inherit) {
            self.take_check(session, parent, check)?;
        }
        for info in session.with_reader(|r| r.constraints(parent.oid))? {
            if info.kind == b'n' && !info.no_inherit {
                let column = &parent.columns[info.columns[0] as usize - 1].name;
                match self.not_nulls.iter_mut().find(|n| n.column == *column) {
                    Some(known) => known.count += 1,
                    None => {
                        let (column, name) = (column.clone(), info.name.clone());
                        self.not_nulls.push(InheritedNotNull { column, name, count: 1 });
                    }
                }
            }
        }
        Ok(())
    }

    fn merge_column(
        &mut self,
        session: &Session,
        at: usize,
        parent: &Arc<Table>,
        column: &Column,
    ) -> SqlResult<()> {
        let name = &column.name;
        let new = inherited_column(session, parent, column)?.new;
        notice(session, format!("merging multiple inherited definitions of column \"{name}\""));
        let known = &mut self.columns[at];
        same_type(session, "inherited column", name, &known.new, column)?;
        if known.new.generated != column.generated {
            return Err(sql_err!(DATATYPE_MISMATCH, "inherited column \"{name}\" has a generation conflict"));
        }
        known.new.compression = compression::merged(name, known.new.compression, new.compression)?;
        known.new.inherited += 1;
        known.new.not_null |= column.not_null;
        if let Some(default) = &column.default {
            match &known.default {
                None => known.default = Some((parent.clone(), default.clone())),
                Some((_, other)) if other == default => {}
                Some(_) => known.conflict = true,
            }
        }
        Ok(())
    }

    fn take_check(&mut self, session: &Session, parent: &Arc<Table>, check: &Check) -> SqlResult<()> {
        let Some(known) = self.checks.iter_mut().find(|c| c.name == check.name) else {
            self.checks.push(InheritedCheck {
                name: check.name.clone(),
                parent: parent.clone(),
                expr: check.expr.clone(),
                enforced: check.enforced,
                count: 1,
            });
            return Ok(());
        };
        let own = |name: &str| known.parent.column(name).map(|(n, _)| n);
        let what = format!("Constraint \"{}\"", check.name);
        let mapped = translate(session, &check.expr, parent, &own, &what);
        if mapped.map(|e| analyze::stored::store_expr(&e)).ok().as_deref() != Some(&*known.expr) {
            return Err(sql_err!(
                DUPLICATE_OBJECT,
                "check constraint name \"{}\" appears multiple times but with different expressions",
                check.name
            ));
        }
        known.count += 1;
        known.enforced |= check.enforced;
        Ok(())
    }

    /// A column of a partition that only its table gives a type.
    pub(super) fn typed(&self, name: &str) -> SqlResult<NewColumn> {
        let known = self.columns.iter().find(|c| c.new.name == name);
        let known = known.ok_or_else(|| sql_err!(UNDEFINED_COLUMN, "column \"{name}\" does not exist"))?;
        let NewColumn { name, type_oid, typmod, dimensions, collation, .. } = known.new.clone();
        Ok(NewColumn { name, type_oid, typmod, dimensions, collation, ..NewColumn::default() })
    }

    /// Columns of the new table: inherited ones first, its own merged into them or put behind.
    pub(super) fn merge<'a>(
        &mut self,
        session: &Session,
        own: Vec<super::table::Column<'a>>,
    ) -> SqlResult<Vec<super::table::Column<'a>>> {
        let mut merged: Vec<super::table::Column<'a>> =
            self.columns.iter().map(|c| super::table::Column::plain(c.new.clone())).collect();
        let inherited = merged.len();
        for (position, column) in own.into_iter().enumerate() {
            let at = merged[..inherited].iter().position(|c| c.new.name == column.new.name);
            let Some(at) = at else {
                merged.push(column);
                continue;
            };
            self.merge_own(session, (at, position), &merged[at].new, &column)?;
            let known = std::mem::take(&mut merged[at].new);
            let generated = if column.generated.is_some() { column.new.generated } else { known.generated };
            let new = NewColumn {
                not_null: known.not_null || column.new.not_null,
                inherited: known.inherited,
                only_inherited: self.partition,
                storage: known.storage,
                compression: compression::merged(&known.name, known.compression, column.new.compression)?,
                generated,
                ..column.new.clone()
            };
            merged[at] = column;
            merged[at].new = new;
        }
        for (column, known) in merged.iter().zip(&self.columns) {
            if known.conflict && column.new.default.is_none() && column.generated.is_none() {
                let name = &known.new.name;
                let (what, hint) = match known.new.generated {
                    Generated::None => ("default values", "a default"),
                    _ => ("generation expressions", "a generation expression"),
                };
                return Err(sql_err!(
                    INVALID_COLUMN_DEFINITION,
                    "column \"{name}\" inherits conflicting {what}"
                )
                .hint(format!("To resolve the conflict, specify {hint} explicitly.")));
            }
        }
        Ok(merged)
    }

    fn merge_own(
        &self,
        session: &Session,
        (at, position): (usize, usize),
        known: &NewColumn,
        column: &super::table::Column<'_>,
    ) -> SqlResult<()> {
        let name = &known.name;
        if at == position || self.partition {
            if !self.partition {
                notice(session, format!("merging column \"{name}\" with inherited definition"));
            }
        } else {
            let message = format!("moving and merging column \"{name}\" with inherited definition");
            let told = names::notice(base::SqlState::SUCCESSFUL_COMPLETION, message);
            session
                .notice(told.detail("User-specified column moved to the position of the inherited column."));
        }
        if !column.new.type_oid.is_valid() {
            return Ok(());
        }
        let as_column = |c: &NewColumn| (c.type_oid, c.typmod);
        if as_column(known) != as_column(&column.new) {
            let (old, new) =
                (type_text(session, as_column(known))?, type_text(session, as_column(&column.new))?);
            return Err(sql_err!(DATATYPE_MISMATCH, "column \"{name}\" has a type conflict")
                .detail(format!("{old} versus {new}")));
        }
        if known.collation != column.new.collation {
            let (old, new) =
                (collation_text(session, known.collation)?, collation_text(session, column.new.collation)?);
            return Err(sql_err!(COLLATION_MISMATCH, "column \"{name}\" has a collation conflict")
                .detail(format!("\"{old}\" versus \"{new}\"")));
        }
        let wrong = |what: String| Err(sql_err!(INVALID_COLUMN_DEFINITION, "{what}"));
        match (known.generated, column.generated.is_some()) {
            (Generated::None, true) => Err(sql_err!(
                INVALID_COLUMN_DEFINITION,
                "child column \"{name}\" specifies generation expression"
            )
            .hint("A child table column cannot be generated unless its parent column is.")),
            (Generated::None, false) => Ok(()),
            (_, true) if known.generated != column.new.generated => Err(different_kinds(
                name,
                SqlState::INVALID_COLUMN_DEFINITION,
                (known.generated, column.new.generated),
            )),
            (_, true) => Ok(()),
            _ if column.new.default.is_some() => {
                wrong(format!("column \"{name}\" inherits from generated column but specifies default"))
            }
            _ if column.new.identity != catalog::Identity::None => {
                wrong(format!("column \"{name}\" inherits from generated column but specifies identity"))
            }
            _ => Ok(()),
        }
    }

    /// Defaults that the new table's own columns do not override.
    pub(super) fn enter_defaults(&self, session: &Session, table: &Arc<Table>) -> SqlResult<()> {
        for (column, known) in table.columns.iter().zip(&self.columns) {
            if let Some((parent, stored)) = &known.default
                && column.default.is_none()
                && !known.conflict
            {
                let number = table.column(&column.name).map_or(0, |(n, _)| n);
                let default = inherited_default(session, parent, stored, table)?;
                session.with_changer(|changer| {
                    changer.set_default(table.oid, number, Some(&default), column.generated)
                })?;
            }
        }
        Ok(())
    }

    /// Notes the parents, and enters their CHECK constraints.
    pub(super) fn enter(&self, session: &Session, table: &Arc<Table>) -> SqlResult<()> {
        for parent in &self.parents {
            session.with_changer(|c| c.add_parent(table.oid, parent.oid, self.partition))?;
        }
        for check in &self.checks {
            let own = |name: &str| table.column(name).map(|(n, _)| n);
            let what = format!("Constraint \"{}\"", check.name);
            let expr = translate(session, &check.expr, &check.parent, &own, &what)?;
            let stored = expression::stored(session, &expr);
            session.with_changer(|changer| {
                changer.add_constraint(&NewConstraint {
                    columns: stored.used.clone(),
                    check: Some(stored.text.clone()),
                    needs: stored.needs.clone(),
                    enforced: check.enforced,
                    validated: check.enforced,
                    origin: Origin { local: false, inherited: check.count },
                    ..constraint::blank(table, check.name.clone())
                })
            })?;
        }
        Ok(())
    }

    /// Enters NOT NULL of a column that the table defines itself, parents' included; or (`own` absent) of parents alone.
    pub(super) fn enter_not_null(
        &self,
        session: &Session,
        table: &Table,
        number: i16,
        own: Option<(Option<&str>, bool)>,
    ) -> SqlResult<()> {
        let no_inherit = own.is_some_and(|(_, no_inherit)| no_inherit);
        if no_inherit && table.kind == RelationKind::PartitionedTable {
            return Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                "not-null constraints on partitioned tables cannot be NO INHERIT",
            ));
        }
        let column = &table.columns[number as usize - 1].name;
        let known = self.not_nulls.iter().find(|n| n.column == *column);
        let Some(known) = known else {
            return match own {
                Some((name, no_inherit)) => {
                    constraint::add_not_null(session, table, number, name, no_inherit)
                }
                None => Ok(()),
            };
        };
        let given = own.and_then(|(name, _)| name);
        if no_inherit {
            return Err(sql_err!(
                DATATYPE_MISMATCH,
                "cannot define not-null constraint with NO INHERIT on column \"{column}\""
            )
            .detail("The column has an inherited not-null constraint."));
        }
        let name = match given {
            Some(name) => name.to_owned(),
            None if session.with_reader(|reader| reader.has_constraint(table.oid, &known.name))? => {
                constraint::not_null_name(session, table, column)?
            }
            None => known.name.clone(),
        };
        let origin = Origin { local: own.is_some(), inherited: known.count };
        constraint::enter_not_null(session, table, number, (&name, false, true), origin)
    }
}

fn notice(session: &Session, message: String) {
    session.notice(names::notice(base::SqlState::SUCCESSFUL_COMPLETION, message));
}

fn twice(parent: &Table) -> SqlError {
    sql_err!(DUPLICATE_TABLE, "relation \"{}\" would be inherited from more than once", parent.name)
}

/// Whether a table may have children, or such a child.
fn check_parent(session: &Session, parent: &Table, partition: bool, temporary: bool) -> SqlResult<()> {
    names::check_not_system(parent)?;
    names::check_owner(session, parent)?;
    let name = &parent.name;
    match (parent.kind, partition) {
        (RelationKind::PartitionedTable, true) => {}
        (RelationKind::Table | RelationKind::ForeignTable, true) => {
            return Err(sql_err!(WRONG_OBJECT_TYPE, "\"{name}\" is not partitioned"));
        }
        (RelationKind::PartitionedTable, false) => {
            return Err(sql_err!(WRONG_OBJECT_TYPE, "cannot inherit from partitioned table \"{name}\""));
        }
        (RelationKind::Table | RelationKind::ForeignTable, false) if parent.partition_of.is_valid() => {
            return Err(sql_err!(WRONG_OBJECT_TYPE, "cannot inherit from partition \"{name}\""));
        }
        (RelationKind::Table | RelationKind::ForeignTable, false) => {}
        _ => {
            return Err(sql_err!(
                WRONG_OBJECT_TYPE,
                "inherited relation \"{name}\" is not a table or foreign table"
            ));
        }
    }
    match (parent.persistence == 't', temporary) {
        (true, false) if partition => Err(sql_err!(
            WRONG_OBJECT_TYPE,
            "cannot create a permanent relation as partition of temporary relation \"{name}\""
        )),
        (true, false) => {
            Err(sql_err!(WRONG_OBJECT_TYPE, "cannot inherit from temporary relation \"{name}\""))
        }
        (false, true) if partition => Err(sql_err!(
            WRONG_OBJECT_TYPE,
            "cannot create a temporary relation as partition of permanent relation \"{name}\""
        )),
        _ => Ok(()),
    }
}

fn inherited_column(session: &Session, parent: &Arc<Table>, column: &Column) -> SqlResult<InheritedColumn> {
    let number = parent.column(&column.name).map_or(0, |(n, _)| n);
    let (storage, compression) = session
        .with_reader(|r| r.column_storage(parent.oid, number))?
        .map_or((None, None), |(s, c)| (Some(s), c));
    let new = NewColumn {
        name: column.name.clone(),
        type_oid: column.type_oid,
        typmod: column.typmod,
        collation: column.collation,
        not_null: column.not_null,
        generated: column.generated,
        storage,
        compression,
        inherited: 1,
        only_inherited: true,
        ..NewColumn::default()
    };
    let default = column.default.as_ref().map(|text| (parent.clone(), text.clone()));
    Ok(InheritedColumn { new, default, conflict: false })
}

/// A parent's default or generation expression as the child's.
pub(super) fn inherited_default(
    session: &Session,
    parent: &Table,
    stored: &str,
    child: &Table,
) -> SqlResult<NewDefault> {
    let own = |name: &str| child.column(name).map(|(n, _)| n);
    let expr = translate(session, stored, parent, &own, "Generation expression")?;
    let stored = expression::stored(session, &expr);
    let columns = stored.used.iter().filter(|&&n| n > 0).map(|&n| ObjectAddress::column(child.oid, n));
    let needs = columns.chain(stored.needs.iter().copied()).collect();
    Ok(NewDefault { expr: stored.text, needs })
}

fn same_type(session: &Session, what: &str, name: &str, known: &NewColumn, column: &Column) -> SqlResult<()> {
    let (old, new) = ((known.type_oid, known.typmod), (column.type_oid, column.typmod));
    if old != new {
        let (old, new) = (type_text(session, old)?, type_text(session, new)?);
        return Err(sql_err!(DATATYPE_MISMATCH, "{what} \"{name}\" has a type conflict")
            .detail(format!("{old} versus {new}")));
    }
    if known.collation != column.collation {
        let (old, new) =
            (collation_text(session, known.collation)?, collation_text(session, column.collation)?);
        return Err(sql_err!(COLLATION_MISMATCH, "{what} \"{name}\" has a collation conflict")
            .detail(format!("\"{old}\" versus \"{new}\"")));
    }
    Ok(())
}

/// ALTER TABLE ... INHERIT.
pub(super) fn add(session: &Session, child: &Arc<Table>, parent: &RangeVar) -> SqlResult<()> {
    if child.partition_of.is_valid() {
        return Err(sql_err!(WRONG_OBJECT_TYPE, "cannot change inheritance of a partition"));
    }
    if child.kind == RelationKind::PartitionedTable {
        return Err(sql_err!(WRONG_OBJECT_TYPE, "cannot change inheritance of partitioned table"));
    }
    let parent = names::open(session, parent, LockMode::ShareUpdateExclusive)?;
    names::check_not_system(&parent)?;
    names::check_owner(session, &parent)?;
    if parent.persistence == 't' && child.persistence != 't' {
        return Err(sql_err!(
            WRONG_OBJECT_TYPE,
            "cannot inherit from temporary relation \"{}\"",
            parent.name
        ));
    }
    match parent.kind {
        RelationKind::Table | RelationKind::ForeignTable => {}
        RelationKind::PartitionedTable => {
            return Err(sql_err!(
                WRONG_OBJECT_TYPE,
                "cannot inherit from partitioned table \"{}\"",
                parent.name
            ));
        }
        _ => {
            return Err(sql_err!(
                WRONG_OBJECT_TYPE,
                "ALTER action INHERIT cannot be performed on relation \"{}\"",
                parent.name
            ));
        }
    }
    if parent.partition_of.is_valid() {
        return Err(sql_err!(WRONG_OBJECT_TYPE, "cannot inherit from a partition"));
    }
    let known = session.with_reader(|r| r.parents(child.oid))?;
    if known.contains(&parent.oid) {
        return Err(twice(&parent));
    }
    check_circle(session, child, &parent)?;
    trigger::check_may_inherit(session, child, ("an inheritance child", "in inheritance hierarchies"))?;
    adopt(session, child, &parent)?;
    session.with_changer(|changer| changer.add_parent(child.oid, parent.oid, false))
}

/// A table may not come to be below itself.
pub(super) fn check_circle(session: &Session, child: &Table, parent: &Table) -> SqlResult<()> {
    let below = descendants(session, child, LockMode::AccessShare)?;
    if child.oid == parent.oid || below.iter().any(|t| t.oid == parent.oid) {
        return Err(sql_err!(DUPLICATE_TABLE, "circular inheritance not allowed")
            .detail(format!("\"{}\" is already a child of \"{}\".", parent.name, child.name)));
    }
    Ok(())
}

/// Columns and constraints of a table that becomes a child: all of the parent's must be there, and are inherited from now on.
pub(super) fn adopt(session: &Session, child: &Arc<Table>, parent: &Arc<Table>) -> SqlResult<()> {
    let partition = parent.kind == RelationKind::PartitionedTable;
    for column in parent.columns.iter().filter(|c| !c.dropped) {
        adopt_column(session, child, column, partition)?;
    }
    let own = session.with_reader(|r| r.constraints(child.oid))?;
    for info in session.with_reader(|r| r.constraints(parent.oid))? {
        if !matches!(info.kind, b'c' | b'n') || info.no_inherit {
            continue;
        }
        adopt_constraint(session, child, parent, &info, &own, partition)?;
    }
    Ok(())
}

/// Fails unless a child's column has its parent's type, modifier and collation.
pub(super) fn check_same_type(child: &Table, own: &Column, parent: (Oid, i32, Oid)) -> SqlResult<()> {
    let (type_oid, typmod, collation) = parent;
    if (own.type_oid, own.typmod) != (type_oid, typmod) {
        return Err(sql_err!(
            DATATYPE_MISMATCH,
            "child table \"{}\" has different type for column \"{}\"",
            child.name,
            own.name
        ));
    }
    if own.collation != collation {
        return Err(sql_err!(
            COLLATION_MISMATCH,
            "child table \"{}\" has different collation for column \"{}\"",
            child.name,
            own.name
        ));
    }
    Ok(())
}

/// The error that a generated column is stored on one side and virtual on the other.
fn different_kinds(name: &str, code: SqlState, (parent, child): (Generated, Generated)) -> SqlError {
    let word = |kind| if kind == Generated::Stored { "STORED" } else { "VIRTUAL" };
    SqlError::new(code, format!("column \"{name}\" inherits from generated column of different kind"))
        .detail(format!("Parent column is {}, child column is {}.", word(parent), word(child)))
}

fn adopt_column(session: &Session, child: &Table, column: &Column, partition: bool) -> SqlResult<()> {
    let name = &column.name;
    let Some((number, own)) = child.column(name) else {
        return Err(sql_err!(DATATYPE_MISMATCH, "child table is missing column \"{name}\""));
    };
    check_same_type(child, own, (column.type_oid, column.typmod, column.collation))?;
    match (column.generated, own.generated) {
        (Generated::None, Generated::None) => {}
        (Generated::None, _) => {
            return Err(sql_err!(
                DATATYPE_MISMATCH,
                "column \"{name}\" in child table must not be a generated column"
            ));
        }
        (_, Generated::None) => {
            return Err(sql_err!(
                DATATYPE_MISMATCH,
                "column \"{name}\" in child table must be a generated column"
            ));
        }
        (parent, own) if parent != own => {
            return Err(different_kinds(name, SqlState::DATATYPE_MISMATCH, (parent, own)));
        }
        _ => {}
    }
    // A partition's columns are all its parent's.
    let origin = Origin { local: own.local && !partition, inherited: own.inherited + 1 };
    session.with_changer(|changer| changer.set_column_origin(child.oid, number, origin))
}

fn adopt_constraint(
    session: &Session,
    child: &Arc<Table>,
    parent: &Table,
    info: &ConstraintInfo,
    own: &[ConstraintInfo],
    partition: bool,
) -> SqlResult<()> {
    let number = |name: &str| child.column(name).map(|(n, _)| n);
    let found = match info.kind {
        b'n' => {
            let column = &parent.columns[info.columns[0] as usize - 1].name;
            let found = number(column).and_then(|number| own.iter().find(|c| c.is_not_null_of(number)));
            match found {
                Some(found) => found,
                None => {
                    return Err(sql_err!(
                        DATATYPE_MISMATCH,
                        "column \"{column}\" in child table \"{}\" must be marked NOT NULL",
                        child.name
                    ));
                }
            }
        }
        _ => match own.iter().find(|c| c.kind == info.kind && c.name == info.name) {
            Some(found) => found,
            None => {
                return Err(sql_err!(
                    DATATYPE_MISMATCH,
                    "child table is missing constraint \"{}\"",
                    info.name
                ));
            }
        },
    };
    if info.kind == b'c' {
        let what = format!("Constraint \"{}\"", info.name);
        let wanted = translate(session, info.check.as_deref().unwrap_or_default(), parent, &number, &what)?;
        if found.check.as_deref() != Some(analyze::stored::store_expr(&wanted).as_str()) {
            return Err(sql_err!(
                DATATYPE_MISMATCH,
                "child table \"{}\" has different definition for check constraint \"{}\"",
                child.name,
                info.name
            ));
        }
    }
    if found.no_inherit {
        return Err(sql_err!(
            INVALID_OBJECT_DEFINITION,
            "constraint \"{}\" conflicts with non-inherited constraint on child table \"{}\"",
            found.name,
            child.name
        ));
    }
    if info.enforced && !found.enforced {
        return Err(sql_err!(
            INVALID_OBJECT_DEFINITION,
            "constraint \"{}\" conflicts with NOT ENFORCED constraint on child table \"{}\"",
            found.name,
            child.name
        ));
    }
    if info.validated && !found.validated {
        return Err(sql_err!(
            INVALID_OBJECT_DEFINITION,
            "constraint \"{}\" conflicts with NOT VALID constraint on child table \"{}\"",
            found.name,
            child.name
        ));
    }
    let origin = Origin { local: found.origin.local && !partition, inherited: found.origin.inherited + 1 };
    session.with_changer(|changer| changer.set_constraint_origin(found.oid, origin))
}

/// ALTER TABLE ... NO INHERIT.
pub(super) fn remove(session: &Session, child: &Arc<Table>, parent: &RangeVar) -> SqlResult<()> {
    if child.partition_of.is_valid() {
        return Err(sql_err!(WRONG_OBJECT_TYPE, "cannot change inheritance of a partition"));
    }
    let parent = names::open(session, parent, LockMode::AccessShare)?;
    let known = session.with_reader(|r| r.parents(child.oid))?;
    if !known.contains(&parent.oid) {
        return Err(sql_err!(
            UNDEFINED_TABLE,
            "relation \"{}\" is not a parent of relation \"{}\"",
            parent.name,
            child.name
        ));
    }
    release(session, child, &parent)
}

/// A child stands alone from now on: what it inherited from the parent is its own.
pub(super) fn release(session: &Session, child: &Arc<Table>, parent: &Arc<Table>) -> SqlResult<()> {
    for column in parent.columns.iter().filter(|c| !c.dropped) {
        if let Some((number, own)) = child.column(&column.name)
            && own.inherited > 0
        {
            let inherited = own.inherited - 1;
            let origin = Origin { local: own.local || inherited == 0, inherited };
            session.with_changer(|changer| changer.set_column_origin(child.oid, number, origin))?;
        }
    }
    let own = session.with_reader(|r| r.constraints(child.oid))?;
    for info in session.with_reader(|r| r.constraints(parent.oid))? {
        let column = |table: &Table, c: &ConstraintInfo| {
            c.columns.first().map(|n| table.columns[*n as usize - 1].name.clone())
        };
        let same = |c: &&ConstraintInfo| match info.kind {
            b'n' => c.kind == b'n' && column(child, c) == column(parent, &info),
            b'c' => c.kind == b'c' && c.name == info.name,
            _ => false,
        };
        if let Some(found) = own.iter().find(same).filter(|c| c.origin.inherited > 0 && !info.no_inherit) {
            let inherited = found.origin.inherited - 1;
            let origin = Origin { local: found.origin.local || inherited == 0, inherited };
            session.with_changer(|changer| changer.set_constraint_origin(found.oid, origin))?;
        }
    }
    session.with_changer(|changer| changer.remove_parent(child.oid, parent.oid))
}
