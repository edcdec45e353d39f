//! # What
//! CREATE INDEX, and the indexes behind constraints.
//!
//! # PostgreSQL counterpart and differences
//! `commands/indexcmds.c`.

use std::sync::Arc;

use base::{Oid, SqlError, SqlResult, SqlState, sql_err};
use catalog::change::{NewColumn, NewIndex};
use catalog::families;
use catalog::system::pg_opclass;
use catalog::{CatalogView, RelationKind, RowExt, Table};
use index::Facts;
use parse::ast::{CreateIndex, DefElem, IndexElement, Location, Name, SortDirection, SortNulls};
use session::Session;
use txn::LockMode;

use super::access_method::IndexMethod;
use super::expression::IndexKey;
use super::index_build::Rows;
use super::storage_parameter::Target;
use super::{
    access_method, expression, generated, index_build, index_concurrently, names, object_name,
    operator_class, operator_class_member, partition_index, storage_parameter, tablespace, type_name,
};

/// Most columns of an index.
const MAX_COLUMNS: usize = 32;
/// B-tree family of the operator class `record_image_ops`.
const RECORD_IMAGE_OPS: Oid = Oid(3194);

/// CREATE INDEX.
pub(crate) fn create(session: &Session, statement: &CreateIndex, text: &str) -> SqlResult<()> {
    let known = access_method::of_index(session, &statement.access_method)?;
    let method = known.facts;
    let mode = if statement.concurrently { LockMode::ShareUpdateExclusive } else { LockMode::Share };
    let table = names::open(session, &statement.relation, mode)?;
    check_table(session, &table)?;
    let space = tablespace_of_new(session, &table, statement.tablespace.as_deref())?;
    // Nobody else writes to a temporary table.
    let concurrently = statement.concurrently && table.persistence != 't';
    if concurrently && table.kind == RelationKind::PartitionedTable {
        return Err(sql_err!(
            FEATURE_NOT_SUPPORTED,
            "cannot create index on partitioned table \"{}\" concurrently",
            table.name
        ));
    }
    let lacks = |what: &str| {
        sql_err!(FEATURE_NOT_SUPPORTED, "access method \"{}\" does not support {what}", known.name)
    };
    if statement.unique && !method.can_unique {
        return Err(lacks("unique indexes"));
    }
    if !statement.including.is_empty() && !method.can_include {
        return Err(lacks("included columns"));
    }
    if statement.keys.len() > 1 && !method.can_multi_column {
        return Err(lacks("multicolumn indexes"));
    }
    let parameters = storage_parameter::check(Target::Index(method), &statement.options)?;
    check_column_count(statement.keys.len() + statement.including.len())?;
    let columns = index_column_names(&statement.keys, &statement.including);
    let name = match &statement.name {
        Some(name) => name.clone(),
        None => {
            let part = object_name::columns_part(&columns);
            object_name::free_relation(session, table.schema, (&table.name, Some(&part), "idx"), false)?
        }
    };
    if session.with_reader(|reader| reader.relation_oid(table.schema, &name))?.is_some() {
        if statement.if_not_exists {
            let message = format!("relation \"{name}\" already exists, skipping");
            session.notice(names::notice(SqlState::DUPLICATE_TABLE, message));
            return Ok(());
        }
        return Err(sql_err!(DUPLICATE_TABLE, "relation \"{name}\" already exists"));
    }
    let mut new = NewIndex {
        method: known.oid,
        unique: statement.unique,
        nulls_not_distinct: statement.nulls_not_distinct,
        parameters,
        tablespace: space,
        ..blank(&table, name)
    };
    add_columns(session, &table, statement, columns, &mut new, text)?;
    if let Some(filter) = &statement.filter {
        let stored = expression::index_predicate(session, &table, filter, text)?;
        new.predicate = Some(stored.text);
        new.used.extend(stored.used);
        new.needs.extend(stored.needs);
    }
    generated::refuse_virtual(&table, &[&new.numbers[..], &new.used].concat(), "indexes")?;
    let keys = &new.numbers[..new.keys];
    if new.unique {
        partition_index::check_unique(&table, keys, false)?;
    }
    let spread = statement.relation.inherit;
    new.ready = !concurrently;
    new.valid = match table.kind {
        RelationKind::PartitionedTable => spread || table.children.is_empty(),
        _ => !concurrently,
    };
    let index = session.with_changer(|changer| changer.create_index(&new))?;
    match table.kind {
        RelationKind::PartitionedTable if spread => partition_index::spread(session, &table, index),
        RelationKind::PartitionedTable => Ok(()),
        _ if concurrently => index_concurrently::build(session, table.oid, index),
        _ => index_build::build(session, &table, index, Rows::All),
    }
}

/// Fails if an index is to have so many columns.
pub(crate) fn check_column_count(count: usize) -> SqlResult<()> {
    if count > MAX_COLUMNS {
        return Err(sql_err!(TOO_MANY_COLUMNS, "cannot use more than {MAX_COLUMNS} columns in an index"));
    }
    Ok(())
}

/// `reltablespace` of a new index of a table.
pub(crate) fn tablespace_of_new(session: &Session, table: &Table, name: Option<&str>) -> SqlResult<Oid> {
    let partitioned = table.kind == RelationKind::PartitionedTable;
    let kept = tablespace::Kept { temporary: table.persistence == 't', partitioned };
    tablespace::of_new(session, name, Oid::INVALID, kept)
}

fn check_table(session: &Session, table: &Table) -> SqlResult<()> {
    let what = match table.kind {
        RelationKind::Table | RelationKind::PartitionedTable => {
            names::check_owner(session, table)?;
            names::check_not_system(table)?;
            return names::check_creation(session, table.schema);
        }
        RelationKind::MaterializedView => return names::check_owner(session, table),
        RelationKind::View => "views",
        RelationKind::Index | RelationKind::PartitionedIndex => "indexes",
        RelationKind::Sequence => "sequences",
        RelationKind::Toast => "TOAST tables",
        RelationKind::Composite => "composite types",
        RelationKind::ForeignTable => "foreign tables",
    };
    Err(sql_err!(WRONG_OBJECT_TYPE, "cannot create index on relation \"{}\"", table.name)
        .detail(format!("This operation is not supported for {what}.")))
}

fn index_column_names(keys: &[IndexElement], including: &[IndexElement]) -> Vec<String> {
    let name = |e: &IndexElement| e.column.clone().or_else(|| analyze::figure_name(e.expr.as_ref()?));
    let names: Vec<Option<String>> = keys.iter().chain(including).map(name).collect();
    object_name::index_columns(names.iter().map(Option::as_deref))
}

/// An index of `table` without columns.
pub(crate) fn blank(table: &Table, name: String) -> NewIndex {
    NewIndex {
        name,
        method: engine::indexes::DEFAULT_METHOD.oid,
        table: table.oid,
        schema: table.schema,
        owner: table.owner,
        persistence: table.persistence as u8,
        columns: Vec::new(),
        numbers: Vec::new(),
        keys: 0,
        opclasses: Vec::new(),
        options: Vec::new(),
        expressions: Vec::new(),
        predicate: None,
        used: Vec::new(),
        needs: Vec::new(),
        unique: false,
        nulls_not_distinct: false,
        primary: false,
        exclusion: false,
        immediate: true,
        for_constraint: false,
        parameters: Vec::new(),
        tablespace: Oid::INVALID,
        partitioned: table.kind == RelationKind::PartitionedTable,
        valid: true,
        ready: true,
    }
}

fn add_columns(
    session: &Session,
    table: &Arc<Table>,
    statement: &CreateIndex,
    columns: Vec<String>,
    new: &mut NewIndex,
    text: &str,
) -> SqlResult<()> {
    new.keys = statement.keys.len();
    let mut columns = columns.into_iter();
    for element in &statement.keys {
        let name = columns.next().unwrap_or_default();
        add_key(session, table, element, name, new, text)?;
    }
    for element in &statement.including {
        let Some(column) = &element.column else {
            return Err(sql_err!(FEATURE_NOT_SUPPORTED, "expressions are not supported in included columns"));
        };
        check_included(element)?;
        let (number, found) = find_column(table, column)?;
        let name = columns.next().unwrap_or_default();
        new.columns.push(NewColumn { name, ..NewColumn::like(found) });
        new.numbers.push(number);
    }
    Ok(())
}

fn check_included(element: &IndexElement) -> SqlResult<()> {
    let what = if element.collation.is_some() {
        "a collation"
    } else if element.opclass.is_some() {
        "an operator class"
    } else if element.direction != SortDirection::Default {
        "ASC/DESC options"
    } else if element.nulls != SortNulls::Default {
        "NULLS FIRST/LAST options"
    } else {
        return Ok(());
    };
    Err(sql_err!(INVALID_OBJECT_DEFINITION, "including column does not support {what}"))
}

fn find_column<'t>(table: &'t Table, name: &str) -> SqlResult<(i16, &'t catalog::Column)> {
    if let Some(found) = table.column(name) {
        return Ok(found);
    }
    if is_system_column(name) {
        return Err(expression::system_column());
    }
    Err(sql_err!(UNDEFINED_COLUMN, "column \"{name}\" does not exist"))
}

/// Whether a name is that of a system column.
pub(crate) fn is_system_column(name: &str) -> bool {
    matches!(name, "ctid" | "xmin" | "cmin" | "xmax" | "cmax" | "tableoid")
}

fn add_key(
    session: &Session,
    table: &Arc<Table>,
    element: &IndexElement,
    name: String,
    new: &mut NewIndex,
    text: &str,
) -> SqlResult<()> {
    let (number, mut stored) = match &element.expr {
        Some(expr) => match expression::index_key(session, table, expr, text)? {
            IndexKey::Column(number, collation) => {
                let found = &table.columns[number as usize - 1];
                (number, NewColumn { name, collation, ..NewColumn::like(found) })
            }
            IndexKey::Expression(key) => {
                new.used.extend(key.used);
                new.needs.extend(key.needs);
                new.expressions.push(key.text);
                let (type_oid, typmod, collation) = (key.type_oid, key.typmod, key.collation);
                (0, NewColumn { name, type_oid, typmod, collation, ..NewColumn::default() })
            }
        },
        None => {
            let (number, found) = find_column(table, element.column.as_deref().unwrap_or_default())?;
            (number, NewColumn { name, ..NewColumn::like(found) })
        }
    };
    if let Some(collation) = &element.collation {
        stored.collation = session.with_reader(|reader| {
            let ty = type_name::ColumnType {
                oid: stored.type_oid,
                typmod: stored.typmod,
                collation: stored.collation,
                dimensions: 0,
            };
            type_name::collation(reader, (collation, Location::NONE), &ty, text)
        })?;
    }
    let known = access_method::of_oid(session, new.method)?;
    let method = known.facts;
    let class = key_class(session, stored.type_oid, element.opclass.as_ref(), &known)?;
    if !element.opclass_options.is_empty() {
        stored.options = class_options(session, class, &element.opclass_options)?;
    }
    if !method.can_order {
        let what = if element.direction != SortDirection::Default {
            "ASC/DESC"
        } else if element.nulls != SortNulls::Default {
            "NULLS FIRST/LAST"
        } else {
            ""
        };
        if !what.is_empty() {
            let message = format!("access method \"{}\" does not support {what} options", known.name);
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
        }
    }
    if catalog::orders_by_bytes(class)
        && stored.collation.is_valid()
        && !catalog::collation_rules(session, stored.collation)?.is_deterministic()
    {
        return Err(sql_err!(
            FEATURE_NOT_SUPPORTED,
            "nondeterministic collations are not supported for operator class \"{}\"",
            element.opclass.as_ref().map_or("", Name::last)
        ));
    }
    let descending = match &element.direction {
        SortDirection::Default | SortDirection::Ascending => false,
        SortDirection::Descending => true,
        SortDirection::Using(_) => return Err(SqlError::internal("USING in an index key")),
    };
    let nulls_first = match element.nulls {
        SortNulls::Default => descending,
        SortNulls::First => true,
        SortNulls::Last => false,
    };
    store_key(session, &mut stored, class, method)?;
    new.columns.push(stored);
    new.numbers.push(number);
    new.opclasses.push(class);
    new.options.push(i16::from(descending) | i16::from(nulls_first) << 1);
    Ok(())
}

/// Options of a key's operator class, as `name=value`.
fn class_options(session: &Session, class: Oid, said: &[DefElem]) -> SqlResult<Vec<String>> {
    let families = session.operator_families()?;
    let Some(of) = families.class(class) else {
        return Err(SqlError::internal(format!("operator class {class} does not exist")));
    };
    let number = operator_class_member::options_function(session, of.method)?;
    if number.and_then(|number| families.function(of.family, (of.input, of.input), number)).is_none() {
        return Err(sql_err!(INVALID_PARAMETER_VALUE, "operator class {} has no options", of.name));
    }
    let known = families::class_options(session, class)?;
    if known.is_empty() {
        return Err(SqlError::not_supported(format!("options of operator class \"{}\"", of.name)));
    }
    storage_parameter::check(Target::Class(known), said)
}

/// The column of an index whose operator class keeps another type than the row's.
fn store_key(session: &Session, column: &mut NewColumn, class: Oid, method: &Facts) -> SqlResult<()> {
    let families = session.operator_families()?;
    let key = families.class(class).map(|known| known.key).filter(|_| !method.summarizes);
    match key.filter(|key| key.is_valid() && *key != types::oids::cstring) {
        Some(types::oids::anyelement) => return store_element(session, column),
        Some(key) => (column.type_oid, column.typmod) = (key, -1),
        None => {}
    }
    Ok(())
}

/// The column of an index that keeps the elements of arrays.
fn store_element(session: &Session, column: &mut NewColumn) -> SqlResult<()> {
    let base = families::base_type(session, column.type_oid)?;
    let element = session.with_reader(|reader| catalog::type_shape(reader, base))?.element;
    let comparable = session.with_reader(|reader| catalog::type_shape(reader, element))?.comparable;
    if types::registry::compare(comparable).is_none() {
        let shown = session.with_reader(|reader| type_name::format(reader, element, -1))?;
        return Err(sql_err!(
            UNDEFINED_FUNCTION,
            "could not identify a comparison function for type {shown}"
        ));
    }
    (column.type_oid, column.typmod) = (element, -1);
    Ok(())
}

/// The operator class of an access method, by its OID and name, that is named, or the type's default; none if it has none.
pub(crate) fn class_for(
    session: &Session,
    ty: Oid,
    name: Option<&Name>,
    (method, method_name): (Oid, &str),
) -> SqlResult<Option<Oid>> {
    let Some(name) = name else { return families::default_class(session, method, ty) };
    let Some(row) = operator_class::class_named(session, name, method)? else {
        return Err(sql_err!(
            UNDEFINED_OBJECT,
            "operator class \"{}\" does not exist for access method \"{method_name}\"",
            name.dotted()
        ));
    };
    if !families::binary_coercible(session, ty, row.oid(pg_opclass::OPCINTYPE))? {
        let shown = session.with_reader(|reader| type_name::format(reader, ty, -1))?;
        return Err(sql_err!(
            DATATYPE_MISMATCH,
            "operator class \"{}\" does not accept data type {shown}",
            name.dotted()
        ));
    }
    if row.oid(pg_opclass::OPCFAMILY) == RECORD_IMAGE_OPS {
        return Err(SqlError::not_supported("operator class \"record_image_ops\" in an index"));
    }
    Ok(Some(row.oid(pg_opclass::OID)))
}

/// The operator class of an access method for an index's key that is named, or the type's default.
fn key_class(session: &Session, ty: Oid, name: Option<&Name>, known: &IndexMethod) -> SqlResult<Oid> {
    let method = known.facts;
    if let Some(class) = class_for(session, ty, name, (known.oid, &known.name))? {
        if method.can_order {
            operator_class::check_ordering(session, class)?;
        } else if !is_known_to(session, method, class)? {
            let families = session.operator_families()?;
            let name = families.class(class).map_or("", |class| class.name);
            let what = format!("operator class \"{name}\", which is not built in, in an index");
            return Err(SqlError::not_supported(what));
        }
        return Ok(class);
    }
    let shown = session.with_reader(|reader| type_name::format(reader, ty, -1))?;
    let error = sql_err!(
        UNDEFINED_OBJECT,
        "data type {shown} has no default operator class for access method \"{}\"",
        known.name
    );
    Err(error.hint("You must specify an operator class for the index or define a default operator class for the data type."))
}

/// Whether an access method that has no order knows what an operator class does.
fn is_known_to(session: &Session, method: &Facts, class: Oid) -> SqlResult<bool> {
    match method.keeps_codes() {
        true => Ok(class.is_pinned() || families::class_hash(session, class, &collation::C)?.is_some()),
        false if method.summarizes => Ok(catalog::has_summary(class)),
        false => Ok(families::parts_class(session, class, types::oids::int4, &collation::C)?.is_some()
            || types::registry::is_space_class(class)
            || families::tree_class(session, class, &collation::C)?.is_some()),
    }
}

/// The operator class named, or the type's default, of the access method of constraints.
pub(crate) fn operator_class(session: &Session, ty: Oid, name: Option<&Name>) -> SqlResult<Oid> {
    key_class(session, ty, name, &IndexMethod::built_in(engine::indexes::DEFAULT_METHOD))
}

/// Columns of a constraint's index: keys as they are written, and columns that are only included.
pub(crate) fn add_elements(
    session: &Session,
    table: &Arc<Table>,
    (keys, including): (&[IndexElement], &[i16]),
    new: &mut NewIndex,
    text: &str,
) -> SqlResult<()> {
    new.keys = keys.len();
    let column = |n: &i16| &table.columns[*n as usize - 1];
    let of_key = |e: &IndexElement| e.column.clone().or_else(|| analyze::figure_name(e.expr.as_ref()?));
    let of_included = including.iter().map(|n| Some(column(n).name.clone()));
    let names: Vec<Option<String>> = keys.iter().map(of_key).chain(of_included).collect();
    let mut names = object_name::index_columns(names.iter().map(Option::as_deref)).into_iter();
    for (element, name) in keys.iter().zip(names.by_ref()) {
        add_key(session, table, element, name, new, text)?;
    }
    for (&number, name) in including.iter().zip(names) {
        new.columns.push(NewColumn { name, ..NewColumn::like(column(&number)) });
        new.numbers.push(number);
    }
    Ok(())
}

/// Key columns of a constraint's index, with their default classes.
pub(crate) fn constraint_columns(
    session: &Session,
    table: &Arc<Table>,
    (keys, including): (&[i16], &[i16]),
    new: &mut NewIndex,
) -> SqlResult<()> {
    new.keys = keys.len();
    let known = access_method::of_oid(session, new.method)?;
    let column = |n: i16| &table.columns[n as usize - 1];
    let all = keys.iter().chain(including);
    let columns = object_name::index_columns(all.clone().map(|&n| Some(column(n).name.as_str())));
    for (&number, name) in all.zip(columns) {
        new.columns.push(NewColumn { name, ..NewColumn::like(column(number)) });
        new.numbers.push(number);
    }
    for (at, &number) in keys.iter().enumerate() {
        let class = key_class(session, column(number).type_oid, None, &known)?;
        store_key(session, &mut new.columns[at], class, known.facts)?;
        new.opclasses.push(class);
        new.options.push(0);
    }
    Ok(())
}
