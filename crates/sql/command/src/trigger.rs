//! # What
//! CREATE TRIGGER, ALTER TRIGGER, ENABLE and DISABLE TRIGGER, what DROP TRIGGER and COMMENT ON TRIGGER name, SET CONSTRAINTS; the triggers that
//! partitions have of their tables.
//!
//! # Locks
//! SHARE ROW EXCLUSIVE on the relation of a new trigger and on its partitions; ACCESS EXCLUSIVE for the others.
//!
//! # PostgreSQL counterpart
//! `commands/trigger.c`.

use std::sync::Arc;

use analyze::{Expr, stored, walk};
use base::{Oid, SqlError, SqlResult, SqlState, sql_err};
use catalog::change::{NewConstraint, NewTrigger, ObjectAddress};
use catalog::system::{pg_constraint, pg_proc, pg_trigger};
use catalog::{CatalogView, Generated, RelationKind, RowExt, Table, Trigger, TriggerKind};
use parse::ast::{CreateTrigger, Drop, Name, ObjectName, RangeVar, TriggerTarget};
use session::Session;
use tuple::Datum;
use txn::LockMode;
use types::{Call, acl, oids};

use super::{constraint, inherit, names, operator, uses};

/// CREATE TRIGGER.
pub(crate) fn create(session: &Session, statement: &CreateTrigger, text: &str) -> SqlResult<()> {
    let table = names::open(session, &statement.relation, LockMode::ShareRowExclusive)?;
    let kind = TriggerKind(statement.timing | statement.events | i16::from(statement.row));
    check_relation(&table, kind, statement)?;
    names::check_not_system(&table)?;
    let from = match &statement.from {
        Some(from) => Some(names::open(session, from, LockMode::AccessShare)?),
        None => None,
    };
    names::check_right(session, &table, "t")?;
    if let Some(from) = &from {
        names::check_right(session, from, "t")?;
    }
    check_clauses(kind, statement)?;
    let when = match &statement.when {
        Some(when) => Some(condition(session, &table, kind, when, text)?),
        None => None,
    };
    let [old_table, new_table] = transitions(session, &table, kind, statement)?;
    let trigger = Trigger {
        old_table,
        new_table,
        name: statement.name.clone(),
        function: function(session, &statement.function)?,
        kind,
        enabled: b'O',
        constraint_relation: from.map_or(Oid::INVALID, |table| table.oid),
        deferrable: statement.deferrable,
        deferred: statement.deferred,
        columns: columns(&table, &statement.columns)?,
        args: statement.args.clone(),
        ..Trigger::default()
    };
    if table.kind == RelationKind::PartitionedTable && kind.row() {
        // Each partition gets one.
        let below = inherit::descendants(session, &table, LockMode::ShareRowExclusive)?;
        below.iter().try_for_each(|partition| names::check_right(session, partition, "t"))?;
    }
    make(session, &table, (trigger, when.as_ref()), (statement.replace, statement.constraint))
}

/// Whether a relation of this kind can have such a trigger.
fn check_relation(table: &Table, kind: TriggerKind, statement: &CreateTrigger) -> SqlResult<()> {
    let name = &table.name;
    let wrong = |what: &str, detail: &str| {
        Err(sql_err!(WRONG_OBJECT_TYPE, "\"{name}\" is a {what}").detail(detail.to_owned()))
    };
    match table.kind {
        RelationKind::Table | RelationKind::PartitionedTable if kind.instead() => {
            wrong("table", "Tables cannot have INSTEAD OF triggers.")
        }
        RelationKind::PartitionedTable if kind.row() && !statement.transitions.is_empty() => wrong(
            "partitioned table",
            "ROW triggers with transition tables are not supported on partitioned tables.",
        ),
        RelationKind::Table | RelationKind::PartitionedTable => Ok(()),
        RelationKind::ForeignTable if kind.instead() => {
            wrong("foreign table", "Foreign tables cannot have INSTEAD OF triggers.")
        }
        RelationKind::ForeignTable if statement.constraint => {
            wrong("foreign table", "Foreign tables cannot have constraint triggers.")
        }
        RelationKind::ForeignTable if !statement.transitions.is_empty() => {
            wrong("foreign table", "Triggers on foreign tables cannot have transition tables.")
        }
        RelationKind::ForeignTable => Ok(()),
        RelationKind::View if !kind.instead() && kind.row() => {
            wrong("view", "Views cannot have row-level BEFORE or AFTER triggers.")
        }
        RelationKind::View if kind.has(TriggerKind::TRUNCATE) => {
            wrong("view", "Views cannot have TRUNCATE triggers.")
        }
        RelationKind::View => Ok(()),
        other => {
            let error = sql_err!(WRONG_OBJECT_TYPE, "relation \"{name}\" cannot have triggers");
            let noun = names::kind_name(other);
            let plural = if noun == "index" { "indexes".to_owned() } else { format!("{noun}s") };
            Err(error.detail(format!("This operation is not supported for {plural}.")))
        }
    }
}

/// Clauses that do not go together.
fn check_clauses(kind: TriggerKind, statement: &CreateTrigger) -> SqlResult<()> {
    if kind.has(TriggerKind::TRUNCATE) && kind.row() {
        return Err(unsupported("TRUNCATE FOR EACH ROW triggers are not supported"));
    }
    if kind.instead() {
        match () {
            () if !kind.row() => return Err(unsupported("INSTEAD OF triggers must be FOR EACH ROW")),
            () if statement.when.is_some() => {
                return Err(unsupported("INSTEAD OF triggers cannot have WHEN conditions"));
            }
            () if !statement.columns.is_empty() => {
                return Err(unsupported("INSTEAD OF triggers cannot have column lists"));
            }
            () => {}
        }
    }
    Ok(())
}

/// REFERENCING: the names of the rows before and after.
fn transitions(
    session: &Session,
    table: &Table,
    kind: TriggerKind,
    statement: &CreateTrigger,
) -> SqlResult<[Option<String>; 2]> {
    let mut names = [None, None];
    for (name, is_new, is_table) in &statement.transitions {
        if !is_table {
            return Err(unsupported("ROW variable naming in the REFERENCING clause is not supported")
                .hint("Use OLD TABLE or NEW TABLE for naming transition tables."));
        }
        check_transitions(session, table, kind, statement)?;
        let (word, own, events) = match is_new {
            true => ("NEW", TriggerKind::INSERT, "INSERT or UPDATE"),
            false => ("OLD", TriggerKind::DELETE, "DELETE or UPDATE"),
        };
        if kind.0 & (own | TriggerKind::UPDATE) == 0 {
            return Err(invalid(
                &format!("{word} TABLE can only be specified for an {events} trigger")
                    .replace("an DELETE", "a DELETE"),
            ));
        }
        if names[usize::from(*is_new)].replace(name.clone()).is_some() {
            return Err(invalid(&format!("{word} TABLE cannot be specified multiple times")));
        }
    }
    if names[0].is_some() && names[0] == names[1] {
        return Err(invalid("OLD TABLE name and NEW TABLE name cannot be the same"));
    }
    Ok(names)
}

/// What a trigger with REFERENCING must be.
fn check_transitions(
    session: &Session,
    table: &Table,
    kind: TriggerKind,
    statement: &CreateTrigger,
) -> SqlResult<()> {
    if table.kind == RelationKind::View {
        let error = sql_err!(WRONG_OBJECT_TYPE, "\"{}\" is a view", table.name);
        return Err(error.detail("Triggers on views cannot have transition tables."));
    }
    if kind.row() && !session.with_reader(|r| r.parents(table.oid))?.is_empty() {
        return Err(unsupported(match table.partition_of.is_valid() {
            true => "ROW triggers with transition tables are not supported on partitions",
            false => "ROW triggers with transition tables are not supported on inheritance children",
        }));
    }
    let events = TriggerKind::INSERT | TriggerKind::UPDATE | TriggerKind::DELETE;
    match () {
        () if !kind.after() => {
            Err(invalid("transition table name can only be specified for an AFTER trigger"))
        }
        () if kind.has(TriggerKind::TRUNCATE) => {
            Err(unsupported("TRUNCATE triggers with transition tables are not supported"))
        }
        () if (kind.0 & events).count_ones() != 1 => {
            Err(unsupported("transition tables cannot be specified for triggers with more than one event"))
        }
        () if !statement.columns.is_empty() => {
            Err(unsupported("transition tables cannot be specified for triggers with column lists"))
        }
        () => Ok(()),
    }
}

fn unsupported(message: &str) -> SqlError {
    SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message)
}

fn invalid(message: &str) -> SqlError {
    SqlError::new(SqlState::INVALID_OBJECT_DEFINITION, message)
}

/// Fails if a table has a row trigger with transition tables: it cannot be below another one. `whole`: what it is to become.
pub(super) fn check_may_inherit(
    session: &Session,
    table: &Table,
    (whole, place): (&str, &str),
) -> SqlResult<()> {
    let all = session.with_reader(|r| r.triggers(table.oid))?;
    let Some(trigger) = all.iter().find(|t| t.kind.row() && t.has_transitions()) else { return Ok(()) };
    let error = sql_err!(
        OBJECT_NOT_IN_PREREQUISITE_STATE,
        "trigger \"{}\" prevents table \"{}\" from becoming {whole}",
        trigger.name,
        table.name
    );
    Err(error.detail(format!("ROW triggers with transition tables are not supported {place}.")))
}

/// WHEN, analysed: the old row has range table index 0, the new one 1.
fn condition(
    session: &Session,
    table: &Arc<Table>,
    kind: TriggerKind,
    when: &parse::ast::Expr,
    text: &str,
) -> SqlResult<Expr> {
    let format = session.format();
    let call = Call::new(&format).with_session(session);
    let expr = analyze::analyze_trigger_condition(when, text, table, session, &call)?;
    let mut wrong = None;
    walk::contains(&expr, |e, _| {
        if let Expr::Var(var) = e
            && wrong.is_none()
        {
            wrong = misplaced(table, kind, var).map(|error| names::at(error, text, var.location));
        }
        false
    });
    match wrong {
        Some(error) => Err(error),
        None => Ok(expr),
    }
}

/// Why WHEN may not name a column.
fn misplaced(table: &Table, kind: TriggerKind, var: &analyze::Var) -> Option<SqlError> {
    let wrong = |message: &str| Some(SqlError::new(SqlState::INVALID_OBJECT_DEFINITION, message));
    let generated = |column: &catalog::Column| column.generated != Generated::None && !column.dropped;
    match var.rte {
        _ if !kind.row() => wrong("statement trigger's WHEN condition cannot reference column values"),
        0 if kind.has(TriggerKind::INSERT) => {
            wrong("INSERT trigger's WHEN condition cannot reference OLD values")
        }
        0 => None,
        _ if kind.has(TriggerKind::DELETE) => {
            wrong("DELETE trigger's WHEN condition cannot reference NEW values")
        }
        _ if var.attno < 0 && kind.before() => Some(SqlError::new(
            SqlState::FEATURE_NOT_SUPPORTED,
            "BEFORE trigger's WHEN condition cannot reference NEW system columns",
        )),
        _ if kind.before() => {
            let message = "BEFORE trigger's WHEN condition cannot reference NEW generated columns";
            let detail = match var.attno {
                0 if table.columns.iter().any(generated) => {
                    "A whole-row reference is used and the table contains generated columns.".to_owned()
                }
                number => {
                    let column = table.columns.get(usize::try_from(number - 1).ok()?)?;
                    if !generated(column) {
                        return None;
                    }
                    format!("Column \"{}\" is a generated column.", column.name)
                }
            };
            wrong(message).map(|error| error.detail(detail))
        }
        _ => None,
    }
}

/// The function with this name, which must be one for triggers and may be called.
fn function(session: &Session, name: &Name) -> SqlResult<Oid> {
    let (oid, result) = operator::function_of(session, name, &[])?;
    let row = session.with_reader(|r| r.routine_row(oid))?;
    let owned =
        row.as_ref().map(|row| (row.oid(pg_proc::PROOWNER), acl::optional_items(&row[pg_proc::PROACL])));
    if let Some((owner, items)) = owned {
        let held = session.with_reader(|r| r.rights(r.session.user(), b'f', (owner, items.as_deref())))?;
        if !held.has((acl::bits("X"), false)) {
            return Err(catalog::authority::denied("function", name.last()));
        }
    }
    if result != oids::trigger {
        return Err(sql_err!(
            INVALID_OBJECT_DEFINITION,
            "function {} must return type trigger",
            name.dotted()
        ));
    }
    Ok(oid)
}

/// UPDATE OF.
fn columns(table: &Table, names: &[String]) -> SqlResult<Vec<i16>> {
    let mut numbers = Vec::with_capacity(names.len());
    for name in names {
        let Some((number, _)) = table.column(name) else {
            return Err(sql_err!(
                UNDEFINED_COLUMN,
                "column \"{name}\" of relation \"{}\" does not exist",
                table.name
            ));
        };
        if numbers.contains(&number) {
            return Err(sql_err!(DUPLICATE_COLUMN, "column \"{name}\" specified more than once"));
        }
        numbers.push(number);
    }
    Ok(numbers)
}

/// Enters a trigger, with its constraint, and those of the partitions.
fn make(
    session: &Session,
    table: &Arc<Table>,
    (mut trigger, when): (Trigger, Option<&Expr>),
    (replace, is_constraint): (bool, bool),
) -> SqlResult<()> {
    let replaces = replaced(session, table, &trigger, replace, is_constraint)?;
    trigger.when = when.map(|expr| stored::store_expr(expr).into());
    let mut needs = Vec::new();
    if let Some(expr) = when {
        uses::of_expr(expr, &mut needs);
        needs.extend(used_columns(expr).map(|number| ObjectAddress::column(table.oid, number)));
    }
    let oid = session.with_changer(|changer| {
        if is_constraint {
            let new = NewConstraint {
                kind: b't',
                deferrable: trigger.deferrable,
                deferred: trigger.deferred,
                no_inherit: true,
                ..constraint::blank(table, trigger.name.clone())
            };
            trigger.constraint = changer.add_constraint(&new)?;
        }
        changer.create_trigger(&NewTrigger { table: table.oid, trigger: trigger.clone(), needs, replaces })
    })?;
    if table.kind == RelationKind::PartitionedTable && trigger.kind.row() {
        for child in &table.children {
            let Some(child) = inherit::open_child(session, *child, LockMode::ShareRowExclusive)? else {
                continue;
            };
            clone(session, (table, oid, &trigger), when, &child, replace)?;
        }
    }
    Ok(())
}

/// Columns of the relation that WHEN names.
fn used_columns(expr: &Expr) -> impl Iterator<Item = i16> {
    let mut used = Vec::new();
    walk::contains(expr, |e, _| {
        if let Expr::Var(var) = e
            && var.attno > 0
        {
            used.push(var.attno);
        }
        false
    });
    used.sort_unstable();
    used.dedup();
    used.into_iter()
}

/// The trigger that a new one replaces.
fn replaced(
    session: &Session,
    table: &Table,
    trigger: &Trigger,
    replace: bool,
    is_constraint: bool,
) -> SqlResult<Option<Oid>> {
    let all = session.with_reader(|r| r.triggers(table.oid))?;
    let Some(old) = all.iter().find(|old| old.name == trigger.name) else { return Ok(None) };
    let (name, relation) = (&trigger.name, &table.name);
    let error =
        |what: &str| Err(sql_err!(DUPLICATE_OBJECT, "trigger \"{name}\" for relation \"{relation}\" {what}"));
    match () {
        () if !replace => error("already exists"),
        () if old.internal || (old.is_clone() && !trigger.is_clone()) => {
            error("is an internal or a child trigger")
        }
        () if is_constraint => error("is a constraint trigger"),
        () if old.constraint.is_valid() => error("is a constraint trigger"),
        () => Ok(Some(old.oid)),
    }
}

/// Gives a partition its part of a trigger.
fn clone(
    session: &Session,
    (parent, oid, trigger): (&Table, Oid, &Trigger),
    when: Option<&Expr>,
    child: &Arc<Table>,
    replace: bool,
) -> SqlResult<()> {
    let number = |number: i16| -> SqlResult<i16> {
        let column = usize::try_from(number - 1).ok().and_then(|i| parent.columns.get(i));
        let found = column.and_then(|column| child.column(&column.name));
        found.map(|(number, _)| number).ok_or_else(|| SqlError::internal("a partition lacks a column"))
    };
    let mut when = when.cloned();
    if let Some(expr) = &mut when {
        walk::visit_mut(expr, 0, &mut |e, _| {
            if let Expr::Var(var) = e
                && var.attno > 0
            {
                var.attno = number(var.attno)?;
            }
            Ok::<_, SqlError>(true)
        })?;
    }
    let part = Trigger {
        parent: oid,
        constraint: Oid::INVALID,
        columns: trigger.columns.iter().map(|n| number(*n)).collect::<SqlResult<_>>()?,
        ..trigger.clone()
    };
    make(session, child, (part, when.as_ref()), (replace, trigger.constraint.is_valid()))
}

/// Gives a table that has become a partition the row triggers of its parent.
pub(super) fn give_to_partition(session: &Session, parent: &Arc<Table>, child: &Arc<Table>) -> SqlResult<()> {
    for trigger in session.with_reader(|r| r.triggers(parent.oid))? {
        if trigger.kind.row() && !trigger.internal {
            let when = trigger.when.as_ref().map(|text| stored::load_expr(text, session)).transpose()?;
            clone(session, (parent, trigger.oid, &trigger), when.as_ref(), child, false)?;
        }
    }
    Ok(())
}

/// Takes away what [`give_to_partition`] gave.
pub(super) fn take_from_partition(session: &Session, child: &Table) -> SqlResult<()> {
    let all = session.with_reader(|r| r.triggers(child.oid))?;
    let parts: Vec<_> = all.iter().filter(|t| t.is_clone() && !t.internal).map(|t| t.oid).collect();
    session.with_changer(|changer| {
        for oid in parts {
            changer.release_trigger(oid)?;
            changer.drop_objects(&[ObjectAddress::trigger(oid)], catalog::change::Behavior::Cascade)?;
        }
        Ok(())
    })
}

/// The trigger of a relation with this name.
fn find(session: &Session, table: &Table, name: &str) -> SqlResult<Arc<Trigger>> {
    let all = session.with_reader(|r| r.triggers(table.oid))?;
    all.into_iter().find(|trigger| trigger.name == name).ok_or_else(|| {
        sql_err!(UNDEFINED_OBJECT, "trigger \"{name}\" for table \"{}\" does not exist", table.name)
    })
}

/// `table.trigger` of DROP and COMMENT; a policy likewise.
pub(super) fn split(object: &ObjectName) -> SqlResult<(RangeVar, &str)> {
    let ObjectName::Name(name) = object else {
        return Err(SqlError::internal("a trigger was expected"));
    };
    let Some((trigger, relation)) = name.0.split_last() else {
        return Err(SqlError::internal("a trigger without a name"));
    };
    let relation = names::relation_name(&ObjectName::Name(Name(relation.to_vec())))?;
    Ok((relation, trigger))
}

/// What DROP TRIGGER names.
pub(crate) fn dropped(session: &Session, statement: &Drop) -> SqlResult<Vec<ObjectAddress>> {
    dropped_parts(session, statement, "trigger", |table, name| {
        Ok(ObjectAddress::trigger(find(session, table, name)?.oid))
    })
}

/// What DROP names, of a kind of objects that belong to relations.
pub(super) fn dropped_parts(
    session: &Session,
    statement: &Drop,
    kind: &str,
    find: impl Fn(&Table, &str) -> SqlResult<ObjectAddress>,
) -> SqlResult<Vec<ObjectAddress>> {
    let mut objects = Vec::with_capacity(statement.objects.len());
    for object in &statement.objects {
        let (relation, name) = split(object)?;
        let missing = |what: String| {
            session.notice(names::notice(SqlState::SUCCESSFUL_COMPLETION, format!("{what}, skipping")));
        };
        if let (Some(schema), true) = (&relation.schema, statement.missing_ok)
            && session.with_reader(|r| r.schema_by_name(schema))?.is_none()
        {
            missing(format!("schema \"{schema}\" does not exist"));
            continue;
        }
        let Some(table) = names::try_open(session, &relation, LockMode::AccessExclusive)? else {
            if !statement.missing_ok {
                return Err(names::missing(session, &relation)?);
            }
            missing(format!("relation \"{}\" does not exist", relation.dotted()));
            continue;
        };
        match find(&table, name) {
            Ok(part) => {
                names::check_owner_of_whole(session, &table)?;
                names::check_not_system(&table)?;
                objects.push(part);
            }
            Err(_) if statement.missing_ok => {
                missing(format!("{kind} \"{name}\" for relation \"{}\" does not exist", relation.dotted()));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(objects)
}

/// What COMMENT ON TRIGGER names.
pub(crate) fn address(session: &Session, object: &ObjectName) -> SqlResult<ObjectAddress> {
    let (relation, name) = split(object)?;
    let table = names::open(session, &relation, LockMode::AccessShare)?;
    let trigger = find(session, &table, name)?;
    names::check_owner_of_whole(session, &table)?;
    Ok(ObjectAddress::trigger(trigger.oid))
}

/// ALTER TRIGGER … RENAME TO.
pub(crate) fn rename(session: &Session, relation: &RangeVar, old: &str, new: &str) -> SqlResult<()> {
    let table = names::open(session, relation, LockMode::AccessExclusive)?;
    match table.kind {
        RelationKind::Table
        | RelationKind::PartitionedTable
        | RelationKind::View
        | RelationKind::ForeignTable => {}
        _ => {
            return Err(sql_err!(WRONG_OBJECT_TYPE, "relation \"{}\" cannot have triggers", table.name));
        }
    }
    names::check_owner(session, &table)?;
    names::check_not_system(&table)?;
    let trigger = find(session, &table, old)?;
    if trigger.is_clone() {
        let parent = names::describe(session, table.partition_of)?;
        return Err(sql_err!(
            FEATURE_NOT_SUPPORTED,
            "cannot rename trigger \"{old}\" on table \"{}\"",
            table.name
        )
        .hint(format!("Rename the trigger on the partitioned table \"{}\" instead.", parent.name)));
    }
    let family = session.with_changer(|changer| changer.trigger_family(trigger.oid))?;
    for (relation, oid) in family {
        let table = names::describe(session, relation)?;
        if session.with_reader(|r| r.triggers(relation))?.iter().any(|t| t.name == new) {
            return Err(sql_err!(
                DUPLICATE_OBJECT,
                "trigger \"{new}\" for relation \"{}\" already exists",
                table.name
            ));
        }
        session.with_changer(|changer| {
            changer.edit_trigger(oid, |row| row[pg_trigger::TGNAME] = Datum::text(new))
        })?;
    }
    Ok(())
}

/// ENABLE and DISABLE TRIGGER.
pub(super) fn enable(
    session: &Session,
    table: &Arc<Table>,
    target: &TriggerTarget,
    letter: char,
    recurse: bool,
) -> SqlResult<()> {
    let all = session.with_reader(|r| r.triggers(table.oid))?;
    let chosen = |trigger: &&Arc<Trigger>| match target {
        TriggerTarget::Name(name) => trigger.name == *name,
        TriggerTarget::All => true,
        TriggerTarget::User => !trigger.internal,
    };
    let chosen: Vec<_> = all.iter().filter(chosen).collect();
    if let (TriggerTarget::Name(name), []) = (target, chosen.as_slice()) {
        return Err(sql_err!(
            UNDEFINED_OBJECT,
            "trigger \"{name}\" for table \"{}\" does not exist",
            table.name
        ));
    }
    for trigger in chosen {
        if trigger.internal && !session.with_reader(|r| r.is_superuser(r.session.user()))? {
            return Err(sql_err!(
                INSUFFICIENT_PRIVILEGE,
                "permission denied: \"{}\" is a system trigger",
                trigger.name
            ));
        }
        let whole = recurse && trigger.kind.row() && table.kind == RelationKind::PartitionedTable;
        session.with_changer(|changer| {
            let family =
                if whole { changer.trigger_family(trigger.oid)? } else { vec![(table.oid, trigger.oid)] };
            family.into_iter().try_for_each(|(_, oid)| {
                changer.edit_trigger(oid, |row| row[pg_trigger::TGENABLED] = Datum::Char(letter as u8))
            })
        })?;
    }
    Ok(())
}

/// A table whose triggers are still to fire stays as it is.
pub(super) fn check_none_wait(session: &Session, table: &Table, doing: &str) -> SqlResult<()> {
    let waits = match &mut *session.deferred.borrow_mut() {
        Some(deferred) => deferred.waits_for(table.oid)?,
        None => false,
    };
    if waits {
        return Err(sql_err!(
            OBJECT_IN_USE,
            "cannot {doing} \"{}\" because it has pending trigger events",
            table.name
        ));
    }
    Ok(())
}

/// SET CONSTRAINTS.
pub(crate) fn set_constraints(session: &Session, list: &[RangeVar], deferred: bool) -> SqlResult<()> {
    session.warn_outside_block("SET CONSTRAINTS");
    let mut chosen = Vec::new();
    for name in list {
        chosen.extend(named_constraints(session, name)?);
    }
    let now = session.txn.borrow().subxact();
    let which = (!list.is_empty()).then_some(chosen.as_slice());
    session.deferred.borrow_mut().get_or_insert_default().set(which, deferred, now);
    if deferred { Ok(()) } else { session.fire_deferred(true) }
}

/// The deferrable constraints with a name, in the first schema of the search path that has any, with those of partitions.
fn named_constraints(session: &Session, name: &RangeVar) -> SqlResult<Vec<Oid>> {
    use pg_constraint as c;
    let schemas = match &name.schema {
        Some(schema) => {
            let found = session.with_reader(|r| r.schema_by_name(schema))?;
            vec![found.ok_or_else(|| names::undefined_schema(schema))?]
        }
        None => session.with_reader(|r| CatalogView::search_path(r))?,
    };
    let key = [Datum::text(&name.name)];
    let rows = session.with_reader(|r| r.find(&c::TABLE, c::PG_CONSTRAINT_CONNAME_NSP_INDEX, &key))?;
    for schema in schemas {
        let here: Vec<_> =
            rows.iter().map(|(_, row)| row).filter(|row| row.oid(c::CONNAMESPACE) == schema).collect();
        if here.is_empty() {
            continue;
        }
        let deferrable: Vec<Oid> =
            here.iter().filter(|row| row.bool(c::CONDEFERRABLE)).map(|row| row.oid(c::OID)).collect();
        if deferrable.is_empty() {
            return Err(sql_err!(WRONG_OBJECT_TYPE, "constraint \"{}\" is not deferrable", name.name));
        }
        let mut all = deferrable;
        let mut at = 0;
        while let Some(&parent) = all.get(at) {
            let index = c::PG_CONSTRAINT_CONPARENTID_INDEX;
            let parts = session.with_reader(|r| r.find(&c::TABLE, index, &[parent.into()]))?;
            all.extend(parts.iter().map(|(_, row)| row.oid(c::OID)));
            at += 1;
        }
        return Ok(all);
    }
    Err(sql_err!(UNDEFINED_OBJECT, "constraint \"{}\" does not exist", name.dotted()))
}
