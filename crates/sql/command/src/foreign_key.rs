//! # What
//! FOREIGN KEY constraints in CREATE TABLE and ALTER TABLE, and the check of existing rows. `foreign_key_parts` makes their triggers, and
//! their parts for partitions.
//!
//! # Locks
//! SHARE ROW EXCLUSIVE on the referenced table until the end of the transaction, so that its rows do not change before the constraint is in force.
//!
//! # PostgreSQL counterpart
//! `ATAddForeignKeyConstraint` of `commands/tablecmds.c`, `RI_Initial_Check` of `utils/adt/ri_triggers.c`.

use std::sync::Arc;

use base::{Oid, SqlError, SqlResult, SqlState, sql_err};
use catalog::change::NewConstraint;
use catalog::foreign_key::{ForeignKey, ForeignKeyInfo};
use catalog::system::pg_opclass;
use catalog::{CatalogView, Generated, Index, RelationKind, RowExt, Table, TypeKind, families};
use parse::ast::{ConstraintKind, ForeignKeyAction, ForeignKeyMatch, RangeVar};
use session::Session;
use session::firing::foreign_key as queries;
use tuple::Datum;
use txn::LockMode;
use types::{oids, registry::operand_type};

use super::constraint::{Wanted, blank, check_constraint_free};
use super::exclusion::{self, Comparison};
use super::foreign_key_parts;
use super::internal::Internal;
use super::names::{self, at};
use super::object_name;

/// The number of equality among a B-tree class's operators.
const EQUAL: i16 = 3;

/// Most columns of a key.
const MAX_COLUMNS: usize = 32;

/// FOREIGN KEY as it is written.
struct Written<'a> {
    columns: &'a [String],
    table: &'a RangeVar,
    referenced: &'a [String],
    matching: ForeignKeyMatch,
    on_update: ForeignKeyAction,
    on_delete: ForeignKeyAction,
    delete_columns: &'a [String],
    /// PERIOD on the referencing and on the referenced side.
    period: [bool; 2],
}

impl<'a> Written<'a> {
    fn of(wanted: &Wanted<'a>, own: &'a [String]) -> SqlResult<Written<'a>> {
        let ConstraintKind::ForeignKey {
            table,
            columns,
            referenced,
            matching,
            on_update,
            on_delete,
            delete_columns,
            period,
            referenced_period,
        } = &wanted.constraint.kind
        else {
            return Err(SqlError::internal("not a foreign key"));
        };
        if *matching == ForeignKeyMatch::Partial {
            return Err(sql_err!(FEATURE_NOT_SUPPORTED, "MATCH PARTIAL not yet implemented"));
        }
        let columns = if columns.is_empty() { own } else { columns.as_slice() };
        Ok(Written {
            columns,
            table,
            referenced,
            matching: *matching,
            on_update: *on_update,
            on_delete: *on_delete,
            delete_columns,
            period: [*period, *referenced_period],
        })
    }
}

/// Makes a foreign key of `table`.
pub(crate) fn add(session: &Session, table: &Arc<Table>, wanted: &Wanted<'_>, text: &str) -> SqlResult<()> {
    let own: Vec<String> = wanted.column.map(str::to_owned).into_iter().collect();
    let written = Written::of(wanted, &own)?;
    let other = names::open(session, written.table, LockMode::ShareRowExclusive)
        .map_err(|error| at(error, text, written.table.location))?;
    check_tables(session, table, &other)?;
    if wanted.only && table.kind == RelationKind::PartitionedTable {
        return Err(sql_err!(
            WRONG_OBJECT_TYPE,
            "cannot use ONLY for foreign key on partitioned table \"{}\" referencing relation \"{}\"",
            table.name,
            other.name
        ));
    }
    let columns = numbers(table, written.columns)?;
    let delete_columns = numbers(table, written.delete_columns)?;
    check_delete_columns(table, &columns, &delete_columns)?;
    let (referenced, index) = referenced_key(&other, &written)?;
    check_references(session, &other, &referenced)?;
    check_generated(table, &columns, &written)?;
    check_period_actions(&written)?;
    if columns.len() != referenced.len() {
        return Err(sql_err!(
            INVALID_FOREIGN_KEY,
            "number of referencing and referenced columns for foreign key disagree"
        ));
    }
    let name = match &wanted.constraint.name {
        Some(name) => {
            check_constraint_free(session, table, name)?;
            name.clone()
        }
        None => {
            let part = object_name::columns_part(written.columns);
            object_name::free_constraint(session, table.schema, (&table.name, Some(&part), "fkey"))?
        }
    };
    let period = written.period[0];
    let mut equal = [Vec::new(), Vec::new(), Vec::new()];
    for (at, (own, other_number)) in columns.iter().zip(&referenced).enumerate() {
        let what = match period && at + 1 == columns.len() {
            true => Comparison::Overlap,
            false => Comparison::Equal,
        };
        let (own, other_number) = ((&**table, *own), (&*other, *other_number));
        let operators = match period {
            true => operators_of_index(session, &name, own, other_number, (&index, what))?,
            false => operators(session, &name, own, other_number, &index)?,
        };
        for (list, operator) in equal.iter_mut().zip(operators) {
            list.push(operator);
        }
    }
    let new = NewConstraint {
        kind: b'f',
        columns,
        period,
        index: index.oid,
        deferrable: wanted.deferrable,
        deferred: wanted.deferred,
        no_inherit: table.kind != RelationKind::PartitionedTable,
        enforced: wanted.enforced,
        validated: wanted.validated,
        foreign: Some(ForeignKey {
            table: other.oid,
            columns: referenced,
            on_update: letter(written.on_update),
            on_delete: letter(written.on_delete),
            matching: if written.matching == ForeignKeyMatch::Full { b'f' } else { b's' },
            delete_columns,
            equal,
        }),
        ..blank(table, name)
    };
    foreign_key_parts::enter(session, table, &other, &new)
}

/// ALTER TABLE … VALIDATE CONSTRAINT; the parts of partitions that refer go with it.
pub(crate) fn validate(session: &Session, constraint: Oid) -> SqlResult<()> {
    let key = info(session, constraint)?;
    let mode = LockMode::ShareUpdateExclusive;
    names::lock_relation(session, key.table, mode, txn::LockWait::Block)?;
    names::lock_relation(session, key.foreign.table, LockMode::RowShare, txn::LockWait::Block)?;
    for part in session.with_reader(|reader| reader.foreign_key_parts(constraint))? {
        match part.table == key.table {
            true => session.with_changer(|changer| changer.validate_constraint(part.oid))?,
            false if !part.validated => validate(session, part.oid)?,
            false => {}
        }
    }
    if names::describe(session, key.table)?.kind != RelationKind::PartitionedTable {
        check_rows(session, constraint)?;
    }
    session.with_changer(|changer| changer.validate_constraint(constraint))
}

/// The foreign key with this OID.
pub(super) fn info(session: &Session, constraint: Oid) -> SqlResult<ForeignKeyInfo> {
    session
        .with_reader(|reader| reader.foreign_key(constraint))?
        .ok_or_else(|| SqlError::internal(format!("cache lookup failed for constraint {constraint}")))
}

fn letter(action: ForeignKeyAction) -> u8 {
    match action {
        ForeignKeyAction::NoAction => b'a',
        ForeignKeyAction::Restrict => b'r',
        ForeignKeyAction::Cascade => b'c',
        ForeignKeyAction::SetNull => b'n',
        ForeignKeyAction::SetDefault => b'd',
    }
}

/// What kinds of tables may refer to what kinds.
fn check_tables(session: &Session, table: &Table, other: &Table) -> SqlResult<()> {
    if !matches!(other.kind, RelationKind::Table | RelationKind::PartitionedTable) {
        return Err(sql_err!(WRONG_OBJECT_TYPE, "referenced relation \"{}\" is not a table", other.name));
    }
    if !names::may_change_system(session) {
        names::check_not_system(other)?;
    }
    let wrong = |message: &str| Err(SqlError::new(SqlState::INVALID_TABLE_DEFINITION, message));
    match (table.persistence, other.persistence) {
        ('p', 'u' | 't') => wrong("constraints on permanent tables may reference only permanent tables"),
        ('u', 't') => wrong("constraints on unlogged tables may reference only permanent or unlogged tables"),
        ('t', 'p' | 'u') => wrong("constraints on temporary tables may reference only temporary tables"),
        ('t', _) if session.names.temporary_schema() != Some(other.schema) => {
            wrong("constraints on temporary tables must involve temporary tables of this session")
        }
        _ => Ok(()),
    }
}

fn numbers(table: &Table, columns: &[String]) -> SqlResult<Vec<i16>> {
    if columns.len() > MAX_COLUMNS {
        return Err(sql_err!(TOO_MANY_COLUMNS, "cannot have more than {MAX_COLUMNS} keys in a foreign key"));
    }
    let number = |column: &String| match table.column(column) {
        Some((number, _)) => Ok(number),
        None => Err(sql_err!(
            UNDEFINED_COLUMN,
            "column \"{column}\" referenced in foreign key constraint does not exist"
        )),
    };
    columns.iter().map(number).collect()
}

fn column_name(table: &Table, number: i16) -> &str {
    &table.columns[number as usize - 1].name
}

fn check_delete_columns(table: &Table, columns: &[i16], set: &[i16]) -> SqlResult<()> {
    match set.iter().find(|number| !columns.contains(number)) {
        None => Ok(()),
        Some(number) => Err(sql_err!(
            INVALID_COLUMN_REFERENCE,
            "column \"{}\" referenced in ON DELETE SET action must be part of foreign key",
            column_name(table, *number)
        )),
    }
}

/// The referenced columns, and the index that makes them a key: a unique one or, with PERIOD, one whose rows exclude each other.
fn referenced_key(other: &Table, written: &Written<'_>) -> SqlResult<(Vec<i16>, Arc<Index>)> {
    let [period, referenced_period] = written.period;
    let wrong = |message: &str| Err(SqlError::new(SqlState::INVALID_FOREIGN_KEY, message));
    const ONLY_REFERENCED: &str =
        "foreign key uses PERIOD on the referenced table but not the referencing table";
    if referenced_period && !period {
        return wrong(ONLY_REFERENCED);
    }
    if written.referenced.is_empty() {
        let found = primary_key(other)?;
        if found.1.without_overlaps && !period {
            return wrong(ONLY_REFERENCED);
        }
        return Ok(found);
    }
    if period && !referenced_period {
        return wrong("foreign key uses PERIOD on the referencing table but not the referenced table");
    }
    let found = key_on(other, written.referenced, period)?;
    if found.1.without_overlaps && !period {
        return wrong("foreign key must use PERIOD when referencing a primary key using WITHOUT OVERLAPS");
    }
    Ok(found)
}

fn primary_key(other: &Table) -> SqlResult<(Vec<i16>, Arc<Index>)> {
    let Some(index) = other.indexes.iter().find(|index| index.primary) else {
        return Err(sql_err!(
            UNDEFINED_OBJECT,
            "there is no primary key for referenced table \"{}\"",
            other.name
        ));
    };
    if !index.immediate {
        return Err(sql_err!(
            OBJECT_NOT_IN_PREREQUISITE_STATE,
            "cannot use a deferrable primary key for referenced table \"{}\"",
            other.name
        ));
    }
    Ok((index.keys.clone(), index.clone()))
}

fn key_on(other: &Table, columns: &[String], period: bool) -> SqlResult<(Vec<i16>, Arc<Index>)> {
    let usable = |index: &&Arc<Index>| {
        let tells = if period { !index.excluders.is_empty() } else { index.unique };
        tells && index.valid && index.predicate.is_none() && index.expressions.is_empty()
    };
    let numbers = numbers(other, columns)?;
    if (1..numbers.len()).any(|i| numbers[..i].contains(&numbers[i])) {
        return Err(sql_err!(
            INVALID_FOREIGN_KEY,
            "foreign key referenced-columns list must not contain duplicates"
        ));
    }
    let same = |index: &&Arc<Index>| {
        index.keys.len() == numbers.len()
            && numbers.iter().all(|number| index.keys.contains(number))
            && (!period || index.keys.last() == numbers.last())
    };
    let fits: Vec<_> = other.indexes.iter().filter(usable).filter(same).collect();
    match fits.iter().find(|index| index.immediate) {
        Some(index) => Ok((numbers, Arc::clone(index))),
        None if !fits.is_empty() => Err(sql_err!(
            OBJECT_NOT_IN_PREREQUISITE_STATE,
            "cannot use a deferrable unique constraint for referenced table \"{}\"",
            other.name
        )),
        None => Err(sql_err!(
            INVALID_FOREIGN_KEY,
            "there is no unique constraint matching given keys for referenced table \"{}\"",
            other.name
        )),
    }
}

/// With PERIOD nothing but NO ACTION is there, as in PostgreSQL.
fn check_period_actions(written: &Written<'_>) -> SqlResult<()> {
    if !written.period[0] {
        return Ok(());
    }
    for (what, action) in [("ON UPDATE", written.on_update), ("ON DELETE", written.on_delete)] {
        if action != ForeignKeyAction::NoAction {
            return Err(sql_err!(
                FEATURE_NOT_SUPPORTED,
                "unsupported {what} action for foreign key constraint using PERIOD"
            ));
        }
    }
    Ok(())
}

/// REFERENCES on the table, or on each of the columns.
fn check_references(session: &Session, other: &Table, columns: &[i16]) -> SqlResult<()> {
    let wanted = (types::acl::bits("x"), false);
    let held = session.with_reader(|reader| {
        let user = reader.session.user();
        if reader.relation_rights(user, other)?.has(wanted) {
            return Ok::<_, SqlError>(true);
        }
        for &number in columns {
            if !reader.column_rights(user, other, number)?.has(wanted) {
                return Ok(false);
            }
        }
        Ok(!columns.is_empty())
    })?;
    if held { Ok(()) } else { names::check_right(session, other, "x") }
}

/// Generated columns take no value from an action.
fn check_generated(table: &Table, columns: &[i16], written: &Written<'_>) -> SqlResult<()> {
    use ForeignKeyAction as A;
    super::generated::refuse_virtual(table, columns, "foreign key constraints")?;
    let generated = |n: &i16| table.columns[*n as usize - 1].generated != Generated::None;
    if !columns.iter().any(generated) {
        return Ok(());
    }
    let wrong = |what: &str| {
        let message = format!("invalid {what} action for foreign key constraint containing generated column");
        Err(SqlError::new(base::SqlState::SYNTAX_ERROR, message))
    };
    match (written.on_update, written.on_delete) {
        (A::SetNull | A::SetDefault | A::Cascade, _) => wrong("ON UPDATE"),
        (_, A::SetNull | A::SetDefault) => wrong("ON DELETE"),
        _ => Ok(()),
    }
}

/// Columns of a key whose collations tell different texts apart cannot refer to each other.
fn check_collations(
    session: &Session,
    (own, other): (&catalog::Column, &catalog::Column),
    name: &str,
) -> SqlResult<()> {
    if own.collation == other.collation || !own.collation.is_valid() || !other.collation.is_valid() {
        return Ok(());
    }
    let of = |collation| session.with_reader(|r| catalog::collation_rules(r, collation));
    if of(own.collation)?.is_deterministic() && of(other.collation)?.is_deterministic() {
        return Ok(());
    }
    let word = |oid| {
        let found = session.with_reader(|r| r.collation_by_oid(oid))?;
        Ok::<_, SqlError>(found.map_or_else(|| oid.to_string(), |found| found.name))
    };
    Err(sql_err!(COLLATION_MISMATCH, "foreign key constraint \"{name}\" cannot be implemented").detail(format!(
        "Key columns \"{}\" of the referencing table and \"{}\" of the referenced table have incompatible collations: \"{}\" and \"{}\".  If either collation is nondeterministic, then both collations have to be the same.",
        own.name,
        other.name,
        word(own.collation)?,
        word(other.collation)?
    )))
}

/// The operators for two columns: referenced = referencing, and both with their own kind.
fn operators(
    session: &Session,
    name: &str,
    (table, own): (&Table, i16),
    (other, referenced): (&Table, i16),
    index: &Index,
) -> SqlResult<[Oid; 3]> {
    let (own_column, other_column) =
        (&table.columns[own as usize - 1], &other.columns[referenced as usize - 1]);
    let base = |type_oid| session::routine::base_type(session, type_oid);
    let (foreign, primary) = (base(own_column.type_oid)?, base(other_column.type_oid)?);
    let class = class_of(index, referenced)?;
    let found = match class.is_pinned() {
        true => built_in_operators(session, primary, foreign)?,
        false => operators_of_class(session, class, foreign)?,
    };
    let found = found.ok_or_else(|| incompatible(session, name, own_column, other_column))?;
    check_collations(session, (own_column, other_column), name)?;
    Ok(found)
}

/// The operator class that an index has a column of its table in.
fn class_of(index: &Index, column: i16) -> SqlResult<Oid> {
    let at = index.keys.iter().position(|key| *key == column);
    let class = at.and_then(|at| index.opclasses.get(at)).copied();
    class.ok_or_else(|| SqlError::internal("a referenced column is not in its index"))
}

/// The operators of the types' own equality.
fn built_in_operators(session: &Session, primary: Oid, foreign: Oid) -> SqlResult<Option<[Oid; 3]>> {
    let found = equality(session, primary, foreign)?.zip(equality(session, primary, primary)?);
    let Some((across, within)) = found else { return Ok(None) };
    // A referencing value that is cast is compared as what it is cast to.
    let own = if across == within { None } else { equality(session, foreign, foreign)? };
    Ok(Some([across, within, own.unwrap_or(within)]))
}

/// The operators of the class in whose order the referenced column is indexed: what is unique there is what can be referred to.
fn operators_of_class(session: &Session, class: Oid, foreign: Oid) -> SqlResult<Option<[Oid; 3]>> {
    let families = session.operator_families()?;
    let class = families.class(class).ok_or_else(|| SqlError::internal("a class without row"))?;
    let equality = |left, right| families.operator(class.family, (left, right), EQUAL);
    let Some(within) = equality(class.input, class.input) else { return Ok(None) };
    let foreign = operand_type(foreign);
    if let Some((across, own)) = equality(class.input, foreign).zip(equality(foreign, foreign)) {
        return Ok(Some([across, within, own]));
    }
    let fits = families::binary_coercible(session, foreign, class.input)?
        || is_cast_implicitly(session, foreign, class.input)?;
    Ok(fits.then_some([within; 3]))
}

fn is_cast_implicitly(session: &Session, from: Oid, to: Oid) -> SqlResult<bool> {
    let built_in = types::registry::cast(from, to);
    Ok(built_in.is_some_and(|cast| cast.context == types::CastContext::Implicit)
        || session.cast(from, to)?.is_some_and(|cast| cast.context == 'i'))
}

/// As [`operators`], those of the index that is referred to.
fn operators_of_index(
    session: &Session,
    name: &str,
    (table, own): (&Table, i16),
    (other, referenced): (&Table, i16),
    (index, what): (&Index, Comparison),
) -> SqlResult<[Oid; 3]> {
    let (own, their) = (&table.columns[own as usize - 1], &other.columns[referenced as usize - 1]);
    let base = |column: &catalog::Column| session::routine::base_type(session, column.type_oid);
    let class = class_of(index, referenced)?;
    let operator = exclusion::operator_for(session, class, what, their.type_oid)?;
    if base(own)? != base(their)? {
        return Err(incompatible(session, name, own, their));
    }
    if what == Comparison::Overlap {
        check_period_type(session, base(their)?)?;
    }
    Ok([operator; 3])
}

/// The periods of referenced rows are put together: they must be ranges, or sets of them.
fn check_period_type(session: &Session, ty: Oid) -> SqlResult<()> {
    let def = session.type_by_oid(ty)?;
    match def.as_deref().map(|def| &def.kind) {
        Some(TypeKind::Range(_) | TypeKind::Multirange(_)) => Ok(()),
        _ => Err(sql_err!(DATATYPE_MISMATCH, "invalid type for PERIOD part of foreign key")
            .detail("Only range and multirange are supported.")),
    }
}

fn incompatible(session: &Session, name: &str, own: &catalog::Column, their: &catalog::Column) -> SqlError {
    let words = |type_oid| analyze::names::format_type(session, type_oid, None);
    sql_err!(DATATYPE_MISMATCH, "foreign key constraint \"{name}\" cannot be implemented").detail(format!(
        "Key columns \"{}\" of the referencing table and \"{}\" of the referenced table are of incompatible types: {} and {}.",
        own.name,
        their.name,
        words(own.type_oid),
        words(their.type_oid)
    ))
}

/// The operator that compares a referenced value with a referencing one as the referenced column's index would; none if there is none.
fn equality(session: &Session, primary: Oid, foreign: Oid) -> SqlResult<Option<Oid>> {
    let (primary, foreign) = (operand_type(primary), operand_type(foreign));
    let named = |left, right| {
        types::registry::operator_between("=", left, right).filter(|o| o.can_merge).map(|o| o.oid)
    };
    if let Some(operator) = named(primary, foreign) {
        return Ok(Some(operator));
    }
    if primary == foreign {
        if let Some(def) = session.type_by_oid(primary)?.filter(|def| matches!(def.kind, TypeKind::Like(_))) {
            return equality_of_class(session, def.oid);
        }
        let general = general_type(session, primary)?;
        return Ok(general.and_then(|general| named(general, general)));
    }
    match is_cast_implicitly(session, foreign, primary)? {
        true => equality(session, primary, primary),
        false => Ok(None),
    }
}

/// The operator for equality of a user's type: that of its default B-tree class.
fn equality_of_class(session: &Session, type_oid: Oid) -> SqlResult<Option<Oid>> {
    let class = super::index::operator_class(session, type_oid, None)?;
    session.with_reader(|reader| {
        let Some(row) = reader.operator_class_row(class)? else { return Ok(None) };
        let input = row.oid(pg_opclass::OPCINTYPE);
        let member = reader.family_member(row.oid(pg_opclass::OPCFAMILY), false, (EQUAL, input, input))?;
        Ok(member.map(|(_, operator)| operator))
    })
}

/// The pseudo-type whose operators a type uses.
fn general_type(session: &Session, type_oid: Oid) -> SqlResult<Option<Oid>> {
    let Some(found) = session.with_reader(|reader| reader.type_by_oid(type_oid))? else { return Ok(None) };
    Ok(match &found.kind {
        TypeKind::Enum(_) => Some(oids::anyenum),
        TypeKind::Range(_) => Some(oids::anyrange),
        TypeKind::Multirange(_) => Some(oids::anymultirange),
        TypeKind::Composite(_) => Some(oids::record),
        TypeKind::Base if found.element.is_valid() => Some(oids::anyarray),
        _ => None,
    })
}

/// Fails if some row refers to nothing.
pub(super) fn check_rows(session: &Session, constraint: Oid) -> SqlResult<()> {
    let key = info(session, constraint)?;
    let (table, other) = (names::describe(session, key.table)?, names::describe(session, key.foreign.table)?);
    let text = queries::orphans(session, &table, &other, &key)?;
    let statement = queries::parsed(&text)?;
    let mut orphan: Option<Vec<Datum>> = None;
    session.see_changes()?;
    Internal::unsecured(session, &statement, &text, &[])?.run(session, &[], &mut |row| {
        orphan.get_or_insert_with(|| row.to_vec());
        Ok(())
    })?;
    match orphan {
        None => Ok(()),
        Some(values) => Err(queries::not_present(session, (&table, &other), &key, &values)?),
    }
}
