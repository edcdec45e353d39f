//! # What
//! EXCLUDE and WITHOUT OVERLAPS: constraints whose index is asked for rows that conflict.
//!
//! # PostgreSQL counterpart
//! `transformIndexConstraint` of `parser/parse_utilcmd.c`, `ComputeIndexAttrs` and `GetOperatorFromCompareType` of `commands/indexcmds.c`.

use std::sync::Arc;

use ::index::Facts;
use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::change::{NewConstraint, NewIndex};
use catalog::families::{OperatorClass, OperatorFamilies};
use catalog::system::pg_operator;
use catalog::{CatalogView, RelationKind, RowExt, Table, TypeKind};
use parse::ast::{ColumnRef, Constraint, Expr, IndexConstraint, IndexElement, Indirection, Location, Name};
use session::Session;
use tuple::Datum;
use types::{Call, oids};

use super::access_method::IndexMethod;
use super::constraint::{self, Wanted};
use super::names::at;
use super::storage_parameter::Target;
use super::{
    access_method, expression, generated, index, index_build, object_name, partition_index, storage_parameter,
};

/// The access method of keys WITHOUT OVERLAPS.
const OF_PERIODS: &str = "gist";
/// The support function of GiST that says which strategy a kind of comparison is.
const TRANSLATE: i16 = 12;

/// Kinds of comparison, in PostgreSQL's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    /// `=`
    Equal = 3,
    /// `&&`
    Overlap = 7,
}

/// EXCLUDE as it is written.
pub(crate) struct Written<'a> {
    pub(crate) index: &'a IndexConstraint,
    pub(crate) elements: &'a [(IndexElement, Name)],
    pub(crate) access_method: Option<&'a str>,
    pub(crate) filter: Option<&'a Expr>,
}

/// Makes an exclusion constraint of `table`.
pub(crate) fn add(
    session: &Session,
    table: &Arc<Table>,
    wanted: &Wanted<'_>,
    written: &Written<'_>,
    text: &str,
) -> SqlResult<()> {
    let known = method(session, written.access_method)?;
    let method = known.facts;
    index::check_column_count(written.elements.len() + written.index.including.len())?;
    let including = constraint::numbers_of(table, &written.index.including, wanted.constraint, text)?;
    let mut new = index::blank(table, String::new());
    new.method = known.oid;
    new.tablespace = index::tablespace_of_new(session, table, written.index.tablespace.as_deref())?;
    new.exclusion = true;
    new.for_constraint = true;
    new.immediate = !wanted.deferrable;
    new.valid = !wanted.only || table.kind != RelationKind::PartitionedTable || table.children.is_empty();
    new.parameters = storage_parameter::check(Target::Index(method), &written.index.options)?;
    let elements: Vec<IndexElement> = written.elements.iter().map(|(element, _)| element.clone()).collect();
    index::add_elements(session, table, (&elements, &including), &mut new, text)?;
    new.name = name(session, table, wanted.constraint, &new)?;
    let mut excluders = Vec::with_capacity(elements.len());
    for ((element, name), &class) in written.elements.iter().zip(&new.opclasses) {
        excluders.push(excluder(session, table, (element, name), (class, method), text)?);
    }
    if let Some(filter) = written.filter {
        let stored = expression::index_predicate(session, table, filter, text)?;
        new.predicate = Some(stored.text);
        new.used.extend(stored.used);
        new.needs.extend(stored.needs);
    }
    generated::refuse_virtual(table, &[&new.numbers[..], &new.used].concat(), "unique constraints")?;
    partition_index::check_excluders(session, table, (&new, &excluders), "EXCLUDE")?;
    enter(session, table, wanted, &new, (b'x', excluders, false))
}

/// Enters the constraint with its index, and builds that.
pub(super) fn enter(
    session: &Session,
    table: &Arc<Table>,
    wanted: &Wanted<'_>,
    new: &NewIndex,
    (kind, excluders, period): (u8, Vec<Oid>, bool),
) -> SqlResult<()> {
    let index = session.with_changer(|changer| {
        let index = changer.create_index(new)?;
        let new = NewConstraint {
            kind,
            columns: new.numbers[..new.keys].to_vec(),
            including: new.numbers[new.keys..].to_vec(),
            excluders,
            period,
            index,
            deferrable: wanted.deferrable,
            deferred: wanted.deferred,
            no_inherit: table.kind != RelationKind::PartitionedTable,
            ..constraint::blank(table, new.name.clone())
        };
        constraint::add_key(changer, &new)?;
        Ok::<_, SqlError>(index)
    })?;
    match table.kind {
        // Partitions' own constraints are attached later.
        RelationKind::PartitionedTable if wanted.only => Ok(()),
        RelationKind::PartitionedTable => partition_index::spread(session, table, index),
        _ => index_build::build(session, table, index, index_build::Rows::All),
    }
}

fn method(session: &Session, name: Option<&str>) -> SqlResult<IndexMethod> {
    let Some(name) = name else { return Ok(IndexMethod::built_in(engine::indexes::DEFAULT_METHOD)) };
    let method = access_method::of_index(session, name)?;
    if method.facts.index_scan { Ok(method) } else { Err(no_exclusion(name)) }
}

fn no_exclusion(method: &str) -> SqlError {
    sql_err!(FEATURE_NOT_SUPPORTED, "access method \"{method}\" does not support exclusion constraints")
}

fn name(session: &Session, table: &Table, constraint: &Constraint, new: &NewIndex) -> SqlResult<String> {
    if let Some(name) = &constraint.name {
        constraint::check_free(session, table, name)?;
        return Ok(name.clone());
    }
    let columns: Vec<String> = new.columns.iter().map(|column| column.name.clone()).collect();
    let part = object_name::columns_part(&columns);
    object_name::free_relation(session, table.schema, (&table.name, Some(&part), "excl"), true)
}

/// The operator of an element: it must be in the family of the operator class, and the same with its sides exchanged.
fn excluder(
    session: &Session,
    table: &Arc<Table>,
    (element, name): (&IndexElement, &Name),
    (class, method): (Oid, &Facts),
    text: &str,
) -> SqlResult<Oid> {
    let key = match (&element.expr, &element.column) {
        (Some(expr), _) => expr.clone(),
        (None, Some(column)) => Expr::Column(ColumnRef {
            fields: vec![Indirection::Field(column.clone())],
            location: Location::NONE,
        }),
        (None, None) => return Err(SqlError::internal("an element of EXCLUDE without column")),
    };
    let (operator, exact) = expression::operator_between_keys(session, table, &key, name, text)?;
    let signature = || Ok::<_, SqlError>(session.operator_signature(operator)?.unwrap_or_default());
    if !exact {
        let signature = signature()?;
        return Err(sql_err!(UNDEFINED_FUNCTION, "operator requires run-time type coercion: {signature}"));
    }
    let (commutator, function) = match types::registry::operator(operator) {
        Some(known) => (known.commutator, known.function),
        None => session.with_reader(|reader| {
            let index = pg_operator::PG_OPERATOR_OID_INDEX;
            let row = reader.find_one(&pg_operator::TABLE, index, &[operator.into()])?;
            let (_, row) = row.ok_or_else(|| SqlError::internal("an operator without row"))?;
            Ok::<_, SqlError>((row.oid(pg_operator::OPRCOM), row.oid(pg_operator::OPRCODE)))
        })?,
    };
    if commutator != operator {
        return Err(sql_err!(WRONG_OBJECT_TYPE, "operator {} is not commutative", signature()?)
            .detail("Only commutative operators can be used in exclusion constraints."));
    }
    let families = session.operator_families()?;
    let class = class_of(&families, class)?;
    if families.membership(class.family, operator).is_none() {
        return Err(sql_err!(
            WRONG_OBJECT_TYPE,
            "operator {} is not a member of operator family \"{}\"",
            signature()?,
            families.family(class.family).map_or("", |family| family.name)
        )
        .detail("The exclusion operator must be related to the index operator class for the constraint."));
    }
    if method.lossy && catalog::families::native(session, function)?.is_none() {
        let what = format!("operator {}, which is not built in, in an exclusion constraint", signature()?);
        return Err(SqlError::not_supported(what));
    }
    Ok(operator)
}

/// What a key WITHOUT OVERLAPS is to be: the access method of its index, and the operator of each column.
pub(super) fn of_period(
    session: &Session,
    table: &Table,
    (keys, new): (&[i16], &NewIndex),
) -> SqlResult<Vec<Oid>> {
    let last = keys.len() - 1;
    let operator = |(at, (&number, &class)): (usize, (&i16, &Oid))| {
        let what = if at == last { Comparison::Overlap } else { Comparison::Equal };
        operator_for(session, class, what, table.columns[number as usize - 1].type_oid)
    };
    keys.iter().zip(&new.opclasses).enumerate().map(operator).collect()
}

/// The access method of keys WITHOUT OVERLAPS.
pub(super) fn method_of_periods(session: &Session) -> SqlResult<Oid> {
    Ok(access_method::of_index(session, OF_PERIODS)?.oid)
}

/// Requires that the last column of a key WITHOUT OVERLAPS holds ranges or multiranges, and that there are others.
pub(super) fn check_period(
    session: &Session,
    (columns, types): (&[String], &[Oid]),
    constraint: &Constraint,
    text: &str,
) -> SqlResult<()> {
    let (Some(name), Some(&ty)) = (columns.last(), types.last()) else { return Ok(()) };
    let kind = session.type_by_oid(session::routine::base_type(session, ty)?)?;
    if !matches!(kind.as_deref().map(|def| &def.kind), Some(TypeKind::Range(_) | TypeKind::Multirange(_))) {
        let error = sql_err!(
            DATATYPE_MISMATCH,
            "column \"{name}\" in WITHOUT OVERLAPS is not a range or multirange type"
        );
        return Err(at(error, text, constraint.location));
    }
    if columns.len() < 2 {
        return Err(sql_err!(SYNTAX_ERROR, "constraint using WITHOUT OVERLAPS needs at least two columns"));
    }
    Ok(())
}

/// The operator of a GiST operator class that makes a kind of comparison, for a column of this type.
pub(super) fn operator_for(session: &Session, class: Oid, what: Comparison, ty: Oid) -> SqlResult<Oid> {
    let families = session.operator_families()?;
    let class = class_of(&families, class)?;
    let family = families.family(class.family).map_or("", |family| family.name);
    let fail = |detail: String| {
        let shown = analyze::names::format_type(session, ty, None);
        let what = match what {
            Comparison::Equal => "an equality",
            Comparison::Overlap => "an overlaps",
        };
        Err(sql_err!(UNDEFINED_OBJECT, "could not identify {what} operator for type {shown}").detail(detail))
    };
    let Some(strategy) = strategy_of(session, &families, class.family, what)? else {
        return fail(format!(
            "Could not translate compare type {} for operator family \"{family}\" of access method \"{OF_PERIODS}\".",
            what as i32
        ));
    };
    match families.operator(class.family, (class.input, class.input), strategy) {
        Some(operator) => Ok(operator),
        None => fail(format!(
            "There is no suitable operator in operator family \"{family}\" for access method \"{OF_PERIODS}\"."
        )),
    }
}

fn strategy_of(
    session: &Session,
    families: &OperatorFamilies,
    family: Oid,
    what: Comparison,
) -> SqlResult<Option<i16>> {
    let translate = families.functions_of(family).find(|f| f.number == TRANSLATE && f.left == oids::any);
    let Some(translate) = translate else { return Ok(None) };
    let eval = catalog::families::native(session, translate.function)?;
    let Some(eval) = eval else { return Ok(None) };
    let format = session.format();
    let call = Call::new(&format).with_session(session);
    Ok(match eval(&call, &[Datum::Int4(what as i32)])? {
        Datum::Int2(strategy) if strategy > 0 => Some(strategy),
        _ => None,
    })
}

fn class_of(families: &OperatorFamilies, oid: Oid) -> SqlResult<OperatorClass<'_>> {
    families.class(oid).ok_or_else(|| SqlError::internal(format!("operator class {oid} does not exist")))
}
