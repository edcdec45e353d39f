//! # What
//! Constraints of tables: those of CREATE TABLE and of ALTER TABLE ADD CONSTRAINT.
//!
//! # PostgreSQL counterpart
//! `parser/parse_utilcmd.c`, and `ATExecAddConstraint` of `commands/tablecmds.c`.

use std::sync::Arc;

use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::change::{ConstraintInfo, NewConstraint, NewTrigger, Origin};
use catalog::system::pg_constraint;
use catalog::{Changer, RelationKind, Table, Trigger, TriggerKind};
use eval::trigger::function::UNIQUE_KEY_RECHECK;
use parse::ast::{Constraint, ConstraintKind, IndexConstraint};
use session::Session;

use super::exclusion::{self, Written};
use super::names::at;
use super::storage_parameter::Target;
use super::{
    existing_index, expression, foreign_key, generated, index, names, object_name, partition_index,
    storage_parameter,
};

/// A constraint to be made on an existing table.
pub(crate) struct Wanted<'a> {
    /// As written.
    pub(crate) constraint: &'a Constraint,
    /// Columns of a column constraint; none for a table constraint.
    pub(crate) column: Option<&'a str>,
    /// DEFERRABLE.
    pub(crate) deferrable: bool,
    /// INITIALLY DEFERRED.
    pub(crate) deferred: bool,
    /// Not NOT ENFORCED.
    pub(crate) enforced: bool,
    /// The rows that are there are to be checked.
    pub(crate) validated: bool,
    /// ONLY this table, not those below.
    pub(crate) only: bool,
    /// What was said behind a column's constraint: DEFERRABLE or not, INITIALLY, ENFORCED or not.
    pub(crate) said: [bool; 3],
}

impl<'a> Wanted<'a> {
    /// A constraint.
    pub(crate) fn of(constraint: &'a Constraint) -> Wanted<'a> {
        let deferred = constraint.deferred;
        Wanted {
            constraint,
            column: None,
            deferrable: constraint.deferrable || deferred,
            deferred,
            enforced: constraint.enforced,
            validated: constraint.enforced && !constraint.not_valid,
            only: false,
            said: [false; 3],
        }
    }

    /// A constraint of a table that has no rows yet: NOT VALID says nothing there.
    pub(crate) fn of_new_table(constraint: &'a Constraint) -> Wanted<'a> {
        Wanted { validated: constraint.enforced, ..Wanted::of(constraint) }
    }

    /// What stands behind a column's constraint.
    pub(crate) fn attribute(&mut self, attribute: &Constraint, text: &str) -> SqlResult<()> {
        use ConstraintKind as K;
        let kind = &attribute.kind;
        let fits = match self.constraint.kind {
            K::ForeignKey { .. } => true,
            K::PrimaryKey(_) | K::Unique(_) | K::Exclude { .. } => {
                !matches!(kind, K::Enforced | K::NotEnforced)
            }
            K::Check(_) => matches!(kind, K::Enforced | K::NotEnforced),
            _ => false,
        };
        if !fits {
            return Err(misplaced(attribute, text));
        }
        let wrong = |message: &str| {
            Err(at(SqlError::new(base::SqlState::SYNTAX_ERROR, message), text, attribute.location))
        };
        let (which, clauses) = match kind {
            K::Deferrable | K::NotDeferrable => (0, "DEFERRABLE/NOT DEFERRABLE"),
            K::Deferred | K::Immediate => (1, "INITIALLY IMMEDIATE/DEFERRED"),
            _ => (2, "ENFORCED/NOT ENFORCED"),
        };
        if std::mem::replace(&mut self.said[which], true) {
            return wrong(&format!("multiple {clauses} clauses not allowed"));
        }
        match kind {
            K::Deferrable => self.deferrable = true,
            K::NotDeferrable => self.deferrable = false,
            K::Deferred => {
                self.deferred = true;
                self.deferrable |= !self.said[0];
            }
            K::NotEnforced => (self.enforced, self.validated) = (false, false),
            _ => {}
        }
        if self.deferred && !self.deferrable {
            return wrong("constraint declared INITIALLY DEFERRED must be DEFERRABLE");
        }
        Ok(())
    }
}

/// Whether it says something of the constraint before it.
pub(crate) fn is_attribute(kind: &ConstraintKind) -> bool {
    use ConstraintKind as K;
    matches!(
        kind,
        K::Deferrable | K::Deferred | K::NotDeferrable | K::Immediate | K::Enforced | K::NotEnforced
    )
}

/// An attribute that stands behind nothing that could have it.
pub(crate) fn misplaced(attribute: &Constraint, text: &str) -> SqlError {
    let clause = match attribute.kind {
        ConstraintKind::Deferrable => "DEFERRABLE",
        ConstraintKind::Deferred => "INITIALLY DEFERRED",
        ConstraintKind::NotDeferrable => "NOT DEFERRABLE",
        ConstraintKind::Enforced => "ENFORCED",
        ConstraintKind::NotEnforced => "NOT ENFORCED",
        _ => "INITIALLY IMMEDIATE",
    };
    at(sql_err!(SYNTAX_ERROR, "misplaced {clause} clause"), text, attribute.location)
}

/// Makes PRIMARY KEY or UNIQUE with its index. The table's columns are NOT NULL already where they must be.
pub(crate) fn add_unique(
    session: &Session,
    table: &Arc<Table>,
    wanted: &Wanted<'_>,
    (with, primary): (&IndexConstraint, bool),
    text: &str,
) -> SqlResult<()> {
    let constraint = wanted.constraint;
    if let Some(name) = &with.using_index {
        return existing_index::adopt(session, table, wanted, (name, primary), text);
    }
    if primary {
        check_only_primary(table)?;
    }
    let keys = key_columns(table, wanted, with, primary, text)?;
    let including = numbers_of(table, &with.including, constraint, text)?;
    generated::refuse_virtual(table, &keys, if primary { "primary keys" } else { "unique constraints" })?;
    let mut new = index::blank(table, String::new());
    if with.without_overlaps {
        let types: Vec<Oid> = keys.iter().map(|&n| table.columns[n as usize - 1].type_oid).collect();
        exclusion::check_period(session, (&with.columns, &types), constraint, text)?;
        new.method = exclusion::method_of_periods(session)?;
        new.exclusion = true;
    } else {
        partition_index::check_unique(table, &keys, primary)?;
    }
    new.name = match &constraint.name {
        Some(name) => {
            check_free(session, table, name)?;
            name.clone()
        }
        None => choose_name(session, table, &keys, &including, primary)?,
    };
    new.tablespace = index::tablespace_of_new(session, table, with.tablespace.as_deref())?;
    new.unique = true;
    new.primary = primary;
    new.for_constraint = true;
    new.immediate = !wanted.deferrable;
    new.valid = !wanted.only || table.kind != RelationKind::PartitionedTable || table.children.is_empty();
    new.nulls_not_distinct = with.nulls_not_distinct;
    let method = session.with_reader(|reader| reader.index_method(new.method))?;
    new.parameters = storage_parameter::check(Target::Index(method), &with.options)?;
    index::constraint_columns(session, table, (&keys, &including), &mut new)?;
    let mut excluders = Vec::new();
    if with.without_overlaps {
        excluders = exclusion::of_period(session, table, (&keys, &new))?;
        let what = if primary { "PRIMARY KEY" } else { "UNIQUE" };
        partition_index::check_excluders(session, table, (&new, &excluders), what)?;
    }
    let kind = if primary { b'p' } else { b'u' };
    exclusion::enter(session, table, wanted, &new, (kind, excluders, with.without_overlaps))
}

/// A table has one primary key.
pub(crate) fn check_only_primary(table: &Table) -> SqlResult<()> {
    match table.indexes.iter().any(|index| index.primary) {
        true => Err(sql_err!(
            INVALID_TABLE_DEFINITION,
            "multiple primary keys for table \"{}\" are not allowed",
            table.name
        )),
        false => Ok(()),
    }
}

/// Enters PRIMARY KEY, UNIQUE or EXCLUDE. A deferrable one gets the trigger that looks at its index again.
pub(crate) fn add_key(changer: &mut Changer<'_>, new: &NewConstraint) -> SqlResult<()> {
    let constraint = changer.add_constraint(new)?;
    if !new.deferrable {
        return Ok(());
    }
    let prefix = match new.kind {
        b'p' => "PK_ConstraintTrigger",
        b'u' => "Unique_ConstraintTrigger",
        _ => "Exclusion_ConstraintTrigger",
    };
    let trigger = Trigger {
        name: prefix.to_owned(),
        function: UNIQUE_KEY_RECHECK,
        kind: TriggerKind(TriggerKind::ROW | TriggerKind::INSERT | TriggerKind::UPDATE),
        enabled: b'O',
        internal: true,
        constraint_index: new.index,
        constraint,
        deferrable: true,
        deferred: new.deferred,
        ..Trigger::default()
    };
    let new = NewTrigger { table: new.table, trigger, needs: Vec::new(), replaces: None };
    changer.create_trigger(&new).map(drop)
}

/// A constraint of `table` that is checked at once and says nothing yet.
pub(crate) fn blank(table: &Table, name: String) -> NewConstraint {
    NewConstraint {
        name,
        schema: table.schema,
        table: table.oid,
        kind: b'c',
        columns: Vec::new(),
        including: Vec::new(),
        excluders: Vec::new(),
        period: false,
        index: Oid::INVALID,
        check: None,
        needs: Vec::new(),
        deferrable: false,
        deferred: false,
        no_inherit: false,
        enforced: true,
        validated: true,
        origin: Origin { local: true, inherited: 0 },
        parent: Oid::INVALID,
        foreign: None,
    }
}

fn key_columns(
    table: &Table,
    wanted: &Wanted<'_>,
    with: &IndexConstraint,
    primary: bool,
    text: &str,
) -> SqlResult<Vec<i16>> {
    let own: Vec<String> = wanted.column.map(str::to_owned).into_iter().collect();
    let written = if with.columns.is_empty() { &own } else { &with.columns };
    let keys = numbers_of(table, written, wanted.constraint, text)?;
    for (i, number) in keys.iter().enumerate() {
        if keys[..i].contains(number) {
            let kind = if primary { "primary key" } else { "unique" };
            let error =
                sql_err!(DUPLICATE_COLUMN, "column \"{}\" appears twice in {kind} constraint", written[i]);
            return Err(at(error, text, wanted.constraint.location));
        }
    }
    Ok(keys)
}

/// Numbers of the columns that a key names.
pub(crate) fn numbers_of(
    table: &Table,
    columns: &[String],
    constraint: &Constraint,
    text: &str,
) -> SqlResult<Vec<i16>> {
    let number = |column: &String| match table.column(column) {
        Some((number, _)) => Ok(number),
        None => {
            let error = sql_err!(UNDEFINED_COLUMN, "column \"{column}\" named in key does not exist");
            Err(at(error, text, constraint.location))
        }
    };
    columns.iter().map(number).collect()
}

/// A constraint's name must be free for the table, and as an index's in the schema.
pub(crate) fn check_free(session: &Session, table: &Table, name: &str) -> SqlResult<()> {
    if session.with_reader(|reader| reader.relation_oid(table.schema, name))?.is_some() {
        return Err(sql_err!(DUPLICATE_TABLE, "relation \"{name}\" already exists"));
    }
    check_constraint_free(session, table, name)
}

/// `constraint "c" for relation "t" already exists`.
pub(crate) fn check_constraint_free(session: &Session, table: &Table, name: &str) -> SqlResult<()> {
    if session.with_reader(|reader| reader.has_constraint(table.oid, name))? {
        return Err(sql_err!(
            DUPLICATE_OBJECT,
            "constraint \"{name}\" for relation \"{}\" already exists",
            table.name
        ));
    }
    Ok(())
}

fn choose_name(
    session: &Session,
    table: &Table,
    keys: &[i16],
    including: &[i16],
    primary: bool,
) -> SqlResult<String> {
    if primary {
        return object_name::free_relation(session, table.schema, (&table.name, None, "pkey"), true);
    }
    let columns: Vec<String> =
        keys.iter().chain(including).map(|&n| table.columns[n as usize - 1].name.clone()).collect();
    let part = object_name::columns_part(&columns);
    object_name::free_relation(session, table.schema, (&table.name, Some(&part), "key"), true)
}

/// A NOT NULL that is NOT VALID stands in the way.
pub(crate) fn not_valid_yet(found: &ConstraintInfo, table: &Table) -> SqlError {
    sql_err!(
        OBJECT_NOT_IN_PREREQUISITE_STATE,
        "incompatible NOT VALID constraint \"{}\" on relation \"{}\"",
        found.name,
        table.name
    )
    .hint("You might need to validate it using ALTER TABLE ... VALIDATE CONSTRAINT.")
}

/// Enters NOT NULL of a column as a constraint of its own; the column is marked by the caller.
pub(crate) fn add_not_null(
    session: &Session,
    table: &Table,
    number: i16,
    name: Option<&str>,
    no_inherit: bool,
) -> SqlResult<()> {
    let column = &table.columns[number as usize - 1].name;
    let name = match name {
        Some(name) => {
            check_constraint_free(session, table, name)?;
            name.to_owned()
        }
        None => not_null_name(session, table, column)?,
    };
    enter_not_null(session, table, number, (&name, no_inherit, true), Origin { local: true, inherited: 0 })
}

/// The name that NOT NULL of a column gets if none is given.
pub(crate) fn not_null_name(session: &Session, table: &Table, column: &str) -> SqlResult<String> {
    object_name::free_constraint(session, table.schema, (&table.name, Some(column), "not_null"))
}

/// Enters NOT NULL of a column under a name, with NO INHERIT or not, NOT VALID or not.
pub(crate) fn enter_not_null(
    session: &Session,
    table: &Table,
    number: i16,
    (name, no_inherit, validated): (&str, bool, bool),
    origin: Origin,
) -> SqlResult<()> {
    session.with_changer(|changer| {
        let columns = vec![number];
        let name = name.to_owned();
        let new = NewConstraint { kind: b'n', columns, no_inherit, validated, origin, ..blank(table, name) };
        changer.add_constraint(&new).map(drop)
    })
}

/// The name that a CHECK will get.
pub(crate) fn check_name(
    session: &Session,
    table: &Arc<Table>,
    wanted: &Wanted<'_>,
    expr: &parse::ast::Expr,
    text: &str,
) -> SqlResult<String> {
    let stored = expression::check(session, table, expr, text)?;
    name_of_check(session, table, wanted, &stored.used)
}

fn name_of_check(session: &Session, table: &Table, wanted: &Wanted<'_>, used: &[i16]) -> SqlResult<String> {
    if let Some(name) = &wanted.constraint.name {
        check_constraint_free(session, table, name)?;
        return Ok(name.clone());
    }
    let column = match used {
        [one] if *one > 0 => Some(table.columns[*one as usize - 1].name.as_str()),
        _ => None,
    };
    object_name::free_constraint(session, table.schema, (&table.name, column, "check"))
}

/// Makes a CHECK.
pub(crate) fn add_check(
    session: &Session,
    table: &Arc<Table>,
    wanted: &Wanted<'_>,
    expr: &parse::ast::Expr,
    text: &str,
) -> SqlResult<()> {
    let stored = expression::check(session, table, expr, text)?;
    if merged_with_inherited(session, table, wanted, &stored.text)? {
        return Ok(());
    }
    let name = name_of_check(session, table, wanted, &stored.used)?;
    session.with_changer(|changer| {
        let new = NewConstraint {
            columns: stored.used.clone(),
            check: Some(stored.text.clone()),
            needs: stored.needs.clone(),
            no_inherit: wanted.constraint.no_inherit,
            enforced: wanted.enforced,
            validated: wanted.validated,
            ..blank(table, name)
        };
        changer.add_constraint(&new).map(drop)
    })
}

/// Whether a CHECK that is defined is one that the table inherits already: then it is its own, too.
pub(crate) fn merged_with_inherited(
    session: &Session,
    table: &Table,
    wanted: &Wanted<'_>,
    stored: &str,
) -> SqlResult<bool> {
    let Some(name) = &wanted.constraint.name else { return Ok(false) };
    let all = session.with_reader(|reader| reader.constraints(table.oid))?;
    let Some(found) = all.iter().find(|c| c.name == *name && c.check.as_deref() == Some(stored)) else {
        return Ok(false);
    };
    if found.origin.local || found.origin.inherited == 0 {
        return Ok(false);
    }
    if wanted.constraint.no_inherit {
        return Err(sql_err!(
            INVALID_OBJECT_DEFINITION,
            "constraint \"{name}\" conflicts with inherited constraint on relation \"{}\"",
            table.name
        ));
    }
    if !wanted.enforced && found.enforced {
        return Err(sql_err!(
            INVALID_OBJECT_DEFINITION,
            "constraint \"{name}\" conflicts with NOT ENFORCED constraint on relation \"{}\"",
            table.name
        ));
    }
    if wanted.enforced && !found.enforced {
        session.with_changer(|changer| {
            changer.edit_constraint(found.oid, |row| {
                row[pg_constraint::CONENFORCED] = true.into();
                row[pg_constraint::CONVALIDATED] = wanted.validated.into();
            })
        })?;
    }
    let message = format!("merging constraint \"{name}\" with inherited definition");
    session.notice(names::notice(base::SqlState::SUCCESSFUL_COMPLETION, message));
    let origin = Origin { local: true, ..found.origin };
    session.with_changer(|changer| changer.set_constraint_origin(found.oid, origin))?;
    Ok(true)
}

/// Carries out one constraint on a table that is there. NOT NULL of columns is dealt with before.
pub(crate) fn add(session: &Session, oid: Oid, wanted: &Wanted<'_>, text: &str) -> SqlResult<()> {
    let table = names::describe(session, oid)?;
    match &wanted.constraint.kind {
        ConstraintKind::PrimaryKey(with) => add_unique(session, &table, wanted, (with, true), text),
        ConstraintKind::Unique(with) => add_unique(session, &table, wanted, (with, false), text),
        ConstraintKind::Exclude { index, elements, access_method, filter } => {
            let access_method = access_method.as_deref();
            let written = Written { index, elements, access_method, filter: filter.as_ref() };
            exclusion::add(session, &table, wanted, &written, text)
        }
        ConstraintKind::Check(expr) => add_check(session, &table, wanted, expr, text),
        ConstraintKind::ForeignKey { .. } => foreign_key::add(session, &table, wanted, text),
        _ => Err(SqlError::internal("not a constraint to be added to a table")),
    }
}
