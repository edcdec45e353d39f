//! # What
//! CREATE TYPE (composite, enum), CREATE DOMAIN, and their ALTER and DROP.
//!
//! # PostgreSQL counterpart and differences
//! `commands/typecmds.c`, `catalog/pg_enum.c`. Labels of an enum are never numbered anew (see [`types::enums`]).

use std::sync::Arc;

use base::{Oid, SqlError, SqlResult, SqlState, sql_err};
use catalog::change::{Behavior, NewDomain, NewTable, ObjectAddress};
use catalog::system::pg_type;
use catalog::{CatalogView, EnumLabel, RelationKind, RowExt, TypeDef, TypeKind};
use parse::ast::{
    AlterDomainAction, AlterEnum, ColumnDef, Constraint, ConstraintKind, CreateDomain, Drop, DropBehavior,
    Expr, Name, ObjectKind, ObjectName, RangeVar, TypeName,
};
use session::Session;
use session::functions::quote_identifier;
use tuple::Datum;

use super::internal::Internal;
use super::names::at;
use super::{expression, names, object_name, table, type_name};

/// A qualified name as a relation's, for what relations and types have in common.
pub(super) fn as_relation(name: &Name) -> SqlResult<RangeVar> {
    names::relation_name(&ObjectName::Name(name.clone()))
}

/// Whether a schema has a type of this name.
pub(super) fn exists(session: &Session, schema: Oid, name: &str) -> SqlResult<bool> {
    let key = [name.into(), schema.into()];
    let index = pg_type::PG_TYPE_TYPNAME_NSP_INDEX;
    Ok(session.with_reader(|r| r.find_one(&pg_type::TABLE, index, &key))?.is_some())
}

/// Schema of a new type whose name is free.
pub(super) fn new_name(session: &Session, name: &RangeVar) -> SqlResult<Oid> {
    let schema = names::creation_schema(session, name)?;
    if exists(session, schema, &name.name)? {
        return Err(sql_err!(DUPLICATE_OBJECT, "type \"{}\" already exists", name.name));
    }
    Ok(schema)
}

fn find(session: &Session, name: &Name) -> SqlResult<Option<Arc<TypeDef>>> {
    let name = as_relation(name)?;
    session.with_reader(|r| r.type_by_name(name.schema.as_deref(), &name.name))
}

fn undefined(name: &str) -> SqlError {
    sql_err!(UNDEFINED_OBJECT, "type \"{name}\" does not exist")
}

pub(super) fn existing(session: &Session, name: &Name) -> SqlResult<Arc<TypeDef>> {
    find(session, name)?.ok_or_else(|| undefined(&name.dotted()))
}

pub(super) fn check_owner(session: &Session, def: &TypeDef) -> SqlResult<()> {
    let key = [def.oid.into()];
    let row = session.with_reader(|r| r.find_one(&pg_type::TABLE, pg_type::PG_TYPE_OID_INDEX, &key))?;
    let owner = row.map_or(Oid::INVALID, |(_, row)| row.oid(pg_type::TYPOWNER));
    if names::owns(session, owner)? {
        return Ok(());
    }
    let shown = if def.element.is_valid() { def.element } else { def.oid };
    let shown = analyze::names::format_type(session, shown, None);
    Err(sql_err!(INSUFFICIENT_PRIVILEGE, "must be owner of type {shown}"))
}

/// CREATE TYPE name AS (…).
pub(super) fn create_composite(
    session: &Session,
    name: &RangeVar,
    columns: &[ColumnDef],
    text: &str,
) -> SqlResult<()> {
    let schema = new_name(session, name)?;
    let mut new = NewTable {
        name: name.name.clone(),
        schema,
        owner: session.names.user(),
        kind: RelationKind::Composite,
        persistence: b'p',
        columns: Vec::new(),
        options: Vec::new(),
        method: Oid::INVALID,
        tablespace: Oid::INVALID,
    };
    for def in columns {
        let column = table::plain_column(session, def, text)?;
        if new.columns.iter().any(|c| c.name == column.name) {
            return Err(sql_err!(DUPLICATE_COLUMN, "column \"{}\" specified more than once", column.name));
        }
        session.with_changer(|changer| changer.check_column_type(&column.name, column.type_oid))?;
        new.columns.push(column);
    }
    session.with_changer(|changer| changer.create_table(&new))?;
    Ok(())
}

fn check_label(label: &str) -> SqlResult<()> {
    if label.len() > 63 {
        return Err(sql_err!(INVALID_NAME, "invalid enum label \"{label}\"")
            .detail("Labels must be 63 bytes or less."));
    }
    Ok(())
}

/// CREATE TYPE name AS ENUM (…).
pub(super) fn create_enum(session: &Session, name: &Name, labels: &[String]) -> SqlResult<()> {
    let name = as_relation(name)?;
    let schema = new_name(session, &name)?;
    labels.iter().try_for_each(|label| check_label(label))?;
    let owner = session.names.user();
    let oid = session.with_changer(|changer| changer.create_enum(&name.name, schema, owner, labels))?;
    note_new(session, oid);
    Ok(())
}

/// Remembers an enum or a label until the transaction ends.
fn note_new(session: &Session, oid: Oid) {
    let noted = session.new_labels.clone();
    noted.borrow_mut().insert(oid);
    session.txn.borrow_mut().on_end(
        txn::Phase::BeforeLocks,
        Box::new(move |_| {
            noted.borrow_mut().remove(&oid);
        }),
    );
}

/// ALTER TYPE … ADD VALUE, RENAME VALUE.
pub(super) fn alter_enum(session: &Session, statement: &AlterEnum) -> SqlResult<()> {
    let def = existing(session, &statement.name)?;
    let TypeKind::Enum(labels) = &def.kind else {
        return Err(sql_err!(WRONG_OBJECT_TYPE, "{} is not an enum", statement.name.dotted()));
    };
    check_owner(session, &def)?;
    check_label(&statement.new_value)?;
    let known = labels.iter().any(|l| l.label == statement.new_value);
    let place = |label: &str| {
        let found = labels.iter().position(|l| l.label == label);
        found.ok_or_else(|| sql_err!(INVALID_PARAMETER_VALUE, "\"{label}\" is not an existing enum label"))
    };
    let taken = format!("enum label \"{}\" already exists", statement.new_value);
    if let Some(old) = &statement.old_value {
        let label = &labels[place(old)?];
        if known {
            return Err(SqlError::new(SqlState::DUPLICATE_OBJECT, taken));
        }
        return session.with_changer(|changer| changer.rename_enum_label(label.oid, &statement.new_value));
    }
    if known {
        if !statement.if_not_exists {
            return Err(SqlError::new(SqlState::DUPLICATE_OBJECT, taken));
        }
        session.notice(names::notice(SqlState::DUPLICATE_OBJECT, format!("{taken}, skipping")));
        return Ok(());
    }
    let at = match &statement.neighbor {
        None => labels.len(),
        Some((label, after)) => place(label)? + usize::from(*after),
    };
    let order = sort_order(labels, at)?;
    let label =
        session.with_changer(|changer| changer.add_enum_label(def.oid, &statement.new_value, order))?;
    // The labels of a type that this transaction made go with it.
    if !session.new_labels.borrow().contains(&def.oid) {
        note_new(session, label);
    }
    Ok(())
}

/// The sort order of a label that becomes number `at`.
fn sort_order(labels: &[EnumLabel], at: usize) -> SqlResult<f32> {
    let before = at.checked_sub(1).map(|i| labels[i].sort_order);
    let after = labels.get(at).map(|l| l.sort_order);
    Ok(match (before, after) {
        (None, None) => 1.0,
        (Some(before), None) => before + 1.0,
        (None, Some(after)) => after - 1.0,
        (Some(before), Some(after)) => {
            let middle = (before + after) / 2.0;
            if middle <= before || middle >= after {
                return Err(sql_err!(
                    PROGRAM_LIMIT_EXCEEDED,
                    "too many enum labels were added between \"{}\" and \"{}\"",
                    labels[at - 1].label,
                    labels[at].label
                ));
            }
            middle
        }
    })
}

/// CREATE DOMAIN.
pub(super) fn create_domain(session: &Session, statement: &CreateDomain, text: &str) -> SqlResult<()> {
    let name = as_relation(&statement.name)?;
    let schema = new_name(session, &name)?;
    let (ty, collation) = base_type(session, statement, text)?;
    names::check_type_usage(session, ty.oid)?;
    let mut nullable: Option<bool> = None;
    let mut default = None;
    for constraint in &statement.constraints {
        match &constraint.kind {
            ConstraintKind::NotNull(_) | ConstraintKind::Null => {
                let null = matches!(constraint.kind, ConstraintKind::Null);
                if nullable.is_some_and(|known| known != null) {
                    let error = sql_err!(SYNTAX_ERROR, "conflicting NULL/NOT NULL constraints");
                    return Err(at(error, text, constraint.location));
                }
                nullable = Some(null);
            }
            ConstraintKind::Default(expr) => {
                if default.is_some() {
                    let error = sql_err!(SYNTAX_ERROR, "multiple default expressions");
                    return Err(at(error, text, constraint.location));
                }
                default = Some(stored_default(session, expr, (&name.name, ty.oid, ty.typmod), text)?);
            }
            ConstraintKind::Check(_) => {}
            other => return Err(at(impossible(other), text, constraint.location)),
        }
    }
    let new = NewDomain {
        name: name.name.clone(),
        schema,
        owner: session.names.user(),
        base: ty.oid,
        typmod: ty.typmod,
        dimensions: i32::from(ty.dimensions),
        collation,
        default,
        not_null: nullable == Some(false),
    };
    let oid = session.with_changer(|changer| changer.create_domain(&new))?;
    let domain = DomainOf { oid, schema, name: &name.name, value: (ty.oid, ty.typmod, collation) };
    for constraint in &statement.constraints {
        match &constraint.kind {
            ConstraintKind::Check(expr) => add_check(session, &domain, constraint, expr, text)?,
            ConstraintKind::NotNull(_) => add_not_null(session, &domain, constraint.name.as_deref())?,
            _ => {}
        }
    }
    Ok(())
}

fn base_type(
    session: &Session,
    statement: &CreateDomain,
    text: &str,
) -> SqlResult<(type_name::ColumnType, Oid)> {
    let TypeName { location, .. } = statement.type_name;
    let (ty, def, collation) = session.with_reader(|reader| {
        let ty = type_name::resolve(reader, &statement.type_name, text)?;
        let collation = match &statement.collation {
            Some((name, location)) => type_name::collation(reader, (name, *location), &ty, text)?,
            None => ty.collation,
        };
        Ok::<_, SqlError>((ty, reader.type_by_oid(ty.oid)?, collation))
    })?;
    if def.is_none_or(|def| matches!(def.kind, TypeKind::Pseudo)) {
        let shown = type_name::written(&statement.type_name);
        let error = sql_err!(DATATYPE_MISMATCH, "\"{shown}\" is not a valid base type for a domain");
        return Err(at(error, text, location));
    }
    Ok((ty, collation))
}

fn impossible(kind: &ConstraintKind) -> SqlError {
    let what = match kind {
        ConstraintKind::Unique(_) => "unique constraints",
        ConstraintKind::PrimaryKey(_) => "primary key constraints",
        ConstraintKind::ForeignKey { .. } => "foreign key constraints",
        ConstraintKind::Exclude { .. } => "exclusion constraints",
        ConstraintKind::Generated { .. } => "specifying GENERATED",
        _ => {
            return sql_err!(
                FEATURE_NOT_SUPPORTED,
                "specifying constraint deferrability not supported for domains"
            );
        }
    };
    let words = if what.starts_with("specifying") { "not supported" } else { "not possible" };
    sql_err!(SYNTAX_ERROR, "{what} {words} for domains")
}

/// A default as it is stored, and as SQL; none for a plain NULL.
fn stored_default(
    session: &Session,
    expr: &Expr,
    of: (&str, Oid, i32),
    text: &str,
) -> SqlResult<(String, String)> {
    let stored = expression::default(session, expr, of, text)?;
    let shown = session.stored_expression_text(&stored.text)?;
    Ok((stored.text, shown))
}

/// A domain that constraints are added to.
struct DomainOf<'a> {
    oid: Oid,
    schema: Oid,
    name: &'a str,
    /// Type underneath, its modifier and collation.
    value: (Oid, i32, Oid),
}

fn constraint_name(
    session: &Session,
    domain: &DomainOf<'_>,
    given: Option<&str>,
    label: &str,
) -> SqlResult<String> {
    let Some(name) = given else {
        return object_name::free_constraint(session, domain.schema, (domain.name, None, label));
    };
    let taken = session.with_reader(|r| r.domain_constraints(domain.oid))?;
    if taken.iter().any(|(_, known, _)| known == name) {
        return Err(sql_err!(
            DUPLICATE_OBJECT,
            "constraint \"{name}\" for domain \"{}\" already exists",
            domain.name
        ));
    }
    Ok(name.to_owned())
}

fn add_check(
    session: &Session,
    domain: &DomainOf<'_>,
    constraint: &Constraint,
    expr: &Expr,
    text: &str,
) -> SqlResult<()> {
    let stored = expression::domain_check(session, expr, domain.value, text)?;
    let name = constraint_name(session, domain, constraint.name.as_deref(), "check")?;
    let (of, validated) = ((domain.oid, domain.schema), !constraint.not_valid);
    session.with_changer(|changer| {
        changer.add_domain_constraint(of, &name, (Some(&stored.text), &stored.needs), validated).map(drop)
    })
}

fn add_not_null(session: &Session, domain: &DomainOf<'_>, name: Option<&str>) -> SqlResult<()> {
    let name = constraint_name(session, domain, name, "not_null")?;
    let of = (domain.oid, domain.schema);
    session.with_changer(|changer| {
        changer.add_domain_constraint(of, &name, (None, &[]), true)?;
        changer.edit_type(domain.oid, |row| row[pg_type::TYPNOTNULL] = Datum::Bool(true))
    })
}

/// ALTER DOMAIN.
pub(super) fn alter_domain(
    session: &Session,
    name: &Name,
    action: &AlterDomainAction,
    text: &str,
) -> SqlResult<()> {
    let def = existing(session, name)?;
    let TypeKind::Domain(rules) = &def.kind else {
        return Err(sql_err!(WRONG_OBJECT_TYPE, "{} is not a domain", name.dotted()));
    };
    check_owner(session, &def)?;
    let value = (rules.base, rules.typmod, def.collation);
    let domain = DomainOf { oid: def.oid, schema: def.schema, name: &def.name, value };
    match action {
        AlterDomainAction::Default(expr) => {
            let of = (def.name.as_str(), rules.base, rules.typmod);
            let default = expr.as_ref().map(|e| stored_default(session, e, of, text)).transpose()?;
            session.with_changer(|changer| changer.set_domain_default(def.oid, default.as_ref()))
        }
        AlterDomainAction::SetNotNull if rules.not_null => Ok(()),
        AlterDomainAction::SetNotNull => {
            add_not_null(session, &domain, None)?;
            check_values(session, &def)
        }
        AlterDomainAction::DropNotNull => drop_not_null(session, &def),
        AlterDomainAction::AddConstraint(constraint) => {
            match &constraint.kind {
                ConstraintKind::Check(expr) => add_check(session, &domain, constraint, expr, text)?,
                ConstraintKind::NotNull(_) if rules.not_null => return Ok(()),
                ConstraintKind::NotNull(_) => add_not_null(session, &domain, constraint.name.as_deref())?,
                other => return Err(at(impossible(other), text, constraint.location)),
            }
            if constraint.not_valid { Ok(()) } else { check_values(session, &def) }
        }
        AlterDomainAction::DropConstraint(name, missing_ok, behavior) => {
            drop_constraint(session, &def, name, *missing_ok, *behavior)
        }
        AlterDomainAction::ValidateConstraint(name) => {
            let all = session.with_reader(|r| r.domain_constraints(def.oid))?;
            let Some((oid, ..)) = all.iter().find(|(_, known, kind)| known == name && *kind == b'c') else {
                return Err(no_constraint(name, &def.name));
            };
            check_values(session, &def)?;
            session.with_changer(|changer| changer.validate_constraint(*oid))
        }
    }
}

fn no_constraint(name: &str, domain: &str) -> SqlError {
    sql_err!(UNDEFINED_OBJECT, "constraint \"{name}\" of domain \"{domain}\" does not exist")
}

fn drop_not_null(session: &Session, def: &TypeDef) -> SqlResult<()> {
    let all = session.with_reader(|r| r.domain_constraints(def.oid))?;
    let own: Vec<ObjectAddress> = all
        .iter()
        .filter(|(.., kind)| *kind == b'n')
        .map(|(oid, ..)| ObjectAddress::constraint(*oid))
        .collect();
    session.with_changer(|changer| {
        changer.drop_objects(&own, Behavior::Restrict)?;
        changer.edit_type(def.oid, |row| row[pg_type::TYPNOTNULL] = Datum::Bool(false))
    })
}

fn drop_constraint(
    session: &Session,
    def: &TypeDef,
    name: &str,
    missing_ok: bool,
    behavior: DropBehavior,
) -> SqlResult<()> {
    let all = session.with_reader(|r| r.domain_constraints(def.oid))?;
    let Some((oid, _, kind)) = all.iter().find(|(_, known, _)| known == name) else {
        if missing_ok {
            let message = format!("{}, skipping", no_constraint(name, &def.name).message());
            session.notice(names::notice(SqlState::SUCCESSFUL_COMPLETION, message));
            return Ok(());
        }
        return Err(no_constraint(name, &def.name));
    };
    if *kind == b'n' {
        return drop_not_null(session, def);
    }
    let objects = [ObjectAddress::constraint(*oid)];
    let told = session.with_changer(|changer| changer.drop_objects(&objects, behavior_of(behavior)))?;
    super::drop::tell(session, told);
    Ok(())
}

fn behavior_of(behavior: DropBehavior) -> Behavior {
    match behavior {
        DropBehavior::Restrict => Behavior::Restrict,
        DropBehavior::Cascade => Behavior::Cascade,
    }
}

/// Checks the values that tables hold of a domain whose constraints have changed.
fn check_values(session: &Session, def: &TypeDef) -> SqlResult<()> {
    for (relation, number) in session.with_reader(|r| r.columns_of_type(def.oid))? {
        let table = names::describe(session, relation)?;
        let column = &table.columns[number as usize - 1];
        if column.dropped {
            continue;
        }
        if !is_over(session, column.type_oid, def.oid)? {
            return Err(sql_err!(
                FEATURE_NOT_SUPPORTED,
                "cannot alter type \"{}\" because column \"{}.{}\" uses it",
                def.name,
                table.name,
                column.name
            ));
        }
        if !matches!(table.kind, RelationKind::Table | RelationKind::MaterializedView) {
            continue;
        }
        let of = quote_identifier(&column.name);
        let (schema, name) = (quote_identifier(&table.schema_name), quote_identifier(&table.name));
        let text = format!("select {of} from only {schema}.{name}");
        let parsed = parse::parse(&text)?;
        let select = parsed.first().ok_or_else(|| SqlError::internal("an empty statement"))?;
        Internal::unsecured(session, &select.stmt, &text, &[])?.run(session, &[], &mut |row| {
            session.check_domain(def.oid, row[0].clone()).map(drop).map_err(|error| {
                let mut told = match error.code() {
                    SqlState::NOT_NULL_VIOLATION => {
                        let what = format!(
                            "column \"{}\" of table \"{}\" contains null values",
                            column.name, table.name
                        );
                        SqlError::new(SqlState::NOT_NULL_VIOLATION, what)
                    }
                    SqlState::CHECK_VIOLATION => sql_err!(
                        CHECK_VIOLATION,
                        "column \"{}\" of table \"{}\" contains values that violate the new constraint",
                        column.name,
                        table.name
                    ),
                    _ => return error,
                };
                told = told.table(table.schema_name.clone(), table.name.clone());
                told.column(column.name.clone())
            })
        })?;
    }
    Ok(())
}

/// Whether a type is a domain, or one over it.
fn is_over(session: &Session, ty: Oid, domain: Oid) -> SqlResult<bool> {
    if ty == domain {
        return Ok(true);
    }
    match session.with_reader(|r| r.type_by_oid(ty))?.as_deref().map(|def| &def.kind) {
        Some(TypeKind::Domain(rules)) => is_over(session, rules.base, domain),
        _ => Ok(false),
    }
}

/// The types of DROP TYPE and DROP DOMAIN.
pub(super) fn dropped(session: &Session, statement: &Drop) -> SqlResult<Vec<ObjectAddress>> {
    let mut objects = Vec::with_capacity(statement.objects.len());
    for object in &statement.objects {
        let ObjectName::Type(name) = object else { return Err(SqlError::internal("a type was expected")) };
        let name = Name(name.names.clone());
        let Some(def) = find(session, &name)? else {
            let missing = missing(session, &name)?;
            if !statement.missing_ok {
                return Err(missing);
            }
            let message = format!("{}, skipping", missing.message());
            session.notice(names::notice(SqlState::SUCCESSFUL_COMPLETION, message));
            continue;
        };
        if statement.kind == ObjectKind::Domain && !matches!(def.kind, TypeKind::Domain(_)) {
            return Err(sql_err!(WRONG_OBJECT_TYPE, "\"{}\" is not a domain", name.dotted()));
        }
        if !names::owns_schema(session, def.schema)? {
            check_owner(session, &def)?;
        }
        objects.push(ObjectAddress::ty(def.oid));
    }
    Ok(objects)
}

fn missing(session: &Session, name: &Name) -> SqlResult<SqlError> {
    let relation = as_relation(name)?;
    Ok(match &relation.schema {
        Some(schema) if session.with_reader(|r| r.schema_by_name(schema))?.is_none() => {
            names::undefined_schema(schema)
        }
        _ => undefined(&name.dotted()),
    })
}
