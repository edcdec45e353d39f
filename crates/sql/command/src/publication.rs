//! # What
//! CREATE, ALTER and DROP PUBLICATION. What a row filter may be is in `publication_filter`.
//!
//! # Locks
//! SHARE UPDATE EXCLUSIVE on the tables that a statement names.
//!
//! # PostgreSQL counterpart
//! `commands/publicationcmds.c`, `catalog/pg_publication.c`.

use std::sync::Arc;

use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::authority;
use catalog::change::{NewPublishedTable, ObjectAddress};
use catalog::publication::is_publishable;
use catalog::system::pg_publication;
use catalog::{CatalogView, Generated, PG_CATALOG, PG_TOAST, Publication, PublishedTable, RelationKind};
use catalog::{Row, RowExt, Table};
use engine::control::WalLevel;
use parse::ast::{
    AlterPublication, CreatePublication, DefElem, Drop, ObjectName, PublicationAction, PublicationObject,
    PublicationTable,
};
use session::Session;
use txn::LockMode;

use super::publication_filter::{Filter, filter};
use super::{comment, index, inherit, names, options};

/// The option that says how changes of partitions are published.
const VIA_ROOT: &str = "publish_via_partition_root";

/// CREATE PUBLICATION.
pub(crate) fn create(session: &Session, statement: &CreatePublication, text: &str) -> SqlResult<()> {
    let name = &statement.name;
    if !names::holds_on_database(session, "C")? {
        return Err(authority::denied("database", session.catalog.database_name()));
    }
    if statement.all_tables && !session.has_all_rights()? {
        return Err(denied("must be superuser to create FOR ALL TABLES publication"));
    }
    check_free(session, name)?;
    let mut new = Publication {
        oid: Oid::INVALID,
        name: name.clone(),
        all_tables: statement.all_tables,
        insert: true,
        update: true,
        delete: true,
        truncate: true,
        via_root: false,
        generated: false,
        tables: Vec::new(),
        schemas: Vec::new(),
    };
    set_options(&mut new, &statement.options, text)?;
    let named = Named::of(session, &statement.objects)?;
    if !named.schemas.is_empty() && !session.has_all_rights()? {
        return Err(denied("must be superuser to create FOR TABLES IN SCHEMA publication"));
    }
    let owner = session.names.user();
    new.oid = session.with_changer(|changer| changer.create_publication(&new, owner))?;
    let tables = chosen(session, &named.tables)?;
    let tables = prepared(session, &new, &tables, !named.schemas.is_empty(), text)?;
    add_tables(session, &new, &tables, true)?;
    add_schemas(session, &new, &named.schemas, true)?;
    if session.engine().options().recorded.wal_level < WalLevel::Logical {
        let message = "\"wal_level\" is insufficient to publish logical changes";
        let warning = SqlError::with_severity(
            base::Severity::Warning,
            base::SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
            message,
        );
        session.notice(warning.hint("Set \"wal_level\" to \"logical\" before creating subscriptions."));
    }
    Ok(())
}

fn denied(message: impl Into<String>) -> SqlError {
    SqlError::new(base::SqlState::INSUFFICIENT_PRIVILEGE, message)
}

fn wrong(message: String, detail: &str) -> SqlError {
    sql_err!(INVALID_PARAMETER_VALUE, "{message}").detail(detail.to_owned())
}

fn undefined(name: &str) -> SqlError {
    sql_err!(UNDEFINED_OBJECT, "publication \"{name}\" does not exist")
}

fn row_named(session: &Session, name: &str) -> SqlResult<Option<Row>> {
    let index = pg_publication::PG_PUBLICATION_PUBNAME_INDEX;
    let row = session.with_reader(|r| r.find_one(&pg_publication::TABLE, index, &[name.into()]))?;
    Ok(row.map(|(_, row)| row))
}

fn check_free(session: &Session, name: &str) -> SqlResult<()> {
    match row_named(session, name)? {
        None => Ok(()),
        Some(_) => Err(sql_err!(DUPLICATE_OBJECT, "publication \"{name}\" already exists")),
    }
}

fn check_owner(session: &Session, row: &Row) -> SqlResult<()> {
    if names::owns(session, row.oid(pg_publication::PUBOWNER))? {
        return Ok(());
    }
    Err(denied(format!("must be owner of publication {}", row.str(pg_publication::PUBNAME))))
}

/// The publication of this name, which the user must own.
fn owned(session: &Session, name: &str) -> SqlResult<Row> {
    let row = row_named(session, name)?.ok_or_else(|| undefined(name))?;
    check_owner(session, &row)?;
    Ok(row)
}

/// What is known of a publication as of now.
fn described(session: &Session, oid: Oid) -> SqlResult<Publication> {
    let all = session.with_reader(|reader| reader.publications())?;
    let found = all.iter().find(|publication| publication.oid == oid);
    found.cloned().ok_or_else(|| SqlError::internal(format!("publication {oid} is gone")))
}

/// WITH and SET: returns whether `publish_via_partition_root` is among the options.
fn set_options(publication: &mut Publication, given: &[DefElem], text: &str) -> SqlResult<bool> {
    for (at, option) in given.iter().enumerate() {
        if given[..at].iter().any(|other| other.name == option.name) {
            let error = sql_err!(SYNTAX_ERROR, "conflicting or redundant options");
            return Err(names::at(error, text, option.location));
        }
        match option.name.as_str() {
            "publish" => set_actions(publication, &options::string(option)?)?,
            VIA_ROOT => publication.via_root = options::boolean(option)?,
            "publish_generated_columns" => publication.generated = publishes_generated(option)?,
            other => return Err(sql_err!(SYNTAX_ERROR, "unrecognized publication parameter: \"{other}\"")),
        }
    }
    Ok(given.iter().any(|option| option.name == VIA_ROOT))
}

fn set_actions(publication: &mut Publication, list: &str) -> SqlResult<()> {
    let Some(actions) = identifiers(list) else {
        return Err(sql_err!(SYNTAX_ERROR, "invalid list syntax in parameter \"publish\""));
    };
    let all = [
        ("insert", &mut publication.insert),
        ("update", &mut publication.update),
        ("delete", &mut publication.delete),
        ("truncate", &mut publication.truncate),
    ];
    if let Some(unknown) = actions.iter().find(|action| !all.iter().any(|(name, _)| name == action)) {
        return Err(sql_err!(
            SYNTAX_ERROR,
            "unrecognized value for publication option \"publish\": \"{unknown}\""
        ));
    }
    for (name, flag) in all {
        *flag = actions.iter().any(|action| action == name);
    }
    Ok(())
}

/// Identifiers of a list, unquoted ones in lower case; none if it is no list.
fn identifiers(list: &str) -> Option<Vec<String>> {
    if list.trim().is_empty() {
        return Some(Vec::new());
    }
    let word = |word: &str| match word.trim() {
        "" => None,
        word => match word.strip_prefix('"') {
            Some(quoted) => quoted.strip_suffix('"').map(str::to_owned),
            None if word.contains(char::is_whitespace) => None,
            None => Some(word.to_lowercase()),
        },
    };
    list.split(',').map(word).collect()
}

fn publishes_generated(option: &DefElem) -> SqlResult<bool> {
    let value = option.value.as_ref().and_then(options::text).unwrap_or_default();
    match value.to_ascii_lowercase().as_str() {
        "none" => Ok(false),
        "stored" => Ok(true),
        _ => {
            let name = &option.name;
            Err(sql_err!(SYNTAX_ERROR, "invalid value for publication parameter \"{name}\": \"{value}\"")
                .detail("Valid values are \"none\" and \"stored\"."))
        }
    }
}

/// What a statement names.
struct Named<'s> {
    tables: Vec<&'s PublicationTable>,
    /// Each once.
    schemas: Vec<Oid>,
}

impl<'s> Named<'s> {
    fn of(session: &Session, objects: &'s [PublicationObject]) -> SqlResult<Named<'s>> {
        let mut named = Named { tables: Vec::new(), schemas: Vec::new() };
        for object in objects {
            let schema = match object {
                PublicationObject::Table(table) => {
                    named.tables.push(table);
                    continue;
                }
                PublicationObject::Schema(name) => session
                    .with_reader(|reader| reader.schema_by_name(name))?
                    .ok_or_else(|| names::undefined_schema(name))?,
                PublicationObject::CurrentSchema => {
                    session.with_reader(|reader| reader.creation_schema())?.ok_or_else(|| {
                        sql_err!(UNDEFINED_SCHEMA, "no schema has been selected for CURRENT_SCHEMA")
                    })?
                }
            };
            if !named.schemas.contains(&schema) {
                named.schemas.push(schema);
            }
        }
        Ok(named)
    }
}

/// A table that a statement names, or a child of one.
struct Chosen<'s> {
    table: Arc<Table>,
    written: &'s PublicationTable,
}

/// The tables of a statement and their children, each once, locked.
fn chosen<'s>(session: &Session, named: &[&'s PublicationTable]) -> SqlResult<Vec<Chosen<'s>>> {
    let mode = LockMode::ShareUpdateExclusive;
    let mut all: Vec<Chosen<'s>> = Vec::new();
    for written in named {
        let table = names::open(session, &written.relation, mode)?;
        if let Some(known) = all.iter().find(|known| known.table.oid == table.oid) {
            check_same(&table, written, known.written)?;
            continue;
        }
        let recurses = written.relation.inherit && table.kind != RelationKind::PartitionedTable;
        let children = if recurses { inherit::descendants(session, &table, mode)? } else { Vec::new() };
        all.push(Chosen { table, written });
        for child in children {
            match all.iter().find(|known| known.table.oid == child.oid) {
                Some(known) => check_same(&child, written, known.written)?,
                None => all.push(Chosen { table: child, written }),
            }
        }
    }
    Ok(all)
}

/// A table that is named twice has neither filter nor columns.
fn check_same(table: &Table, one: &PublicationTable, other: &PublicationTable) -> SqlResult<()> {
    let twice = |what: &str| {
        Err(sql_err!(DUPLICATE_OBJECT, "conflicting or redundant {what} for table \"{}\"", table.name))
    };
    if one.filter.is_some() || other.filter.is_some() {
        return twice("WHERE clauses");
    }
    if one.columns.is_some() || other.columns.is_some() {
        return twice("column lists");
    }
    Ok(())
}

/// A table with its filter, which is fit to be one.
struct Prepared<'s> {
    chosen: &'s Chosen<'s>,
    filter: Option<Filter>,
}

/// Analyses the filters of tables; `with_schemas`: the publication has schemas, too.
fn prepared<'s>(
    session: &Session,
    publication: &Publication,
    tables: &'s [Chosen<'s>],
    with_schemas: bool,
    text: &str,
) -> SqlResult<Vec<Prepared<'s>>> {
    let mut all = Vec::with_capacity(tables.len());
    for chosen in tables {
        let table = &chosen.table;
        let of_root = table.kind == RelationKind::PartitionedTable && !publication.via_root;
        let filter = match &chosen.written.filter {
            None => None,
            Some(_) if of_root => {
                return Err(wrong(
                    format!("cannot use publication WHERE clause for relation \"{}\"", table.name),
                    "WHERE clause cannot be used for a partitioned table when publish_via_partition_root is false.",
                ));
            }
            Some(expr) => Some(filter(session, table, expr, text)?),
        };
        all.push(Prepared { chosen, filter });
    }
    for chosen in tables.iter().filter(|chosen| chosen.written.columns.is_some()) {
        check_column_list(publication, &chosen.table, with_schemas)?;
    }
    Ok(all)
}

/// Whether a table's columns can be chosen.
fn check_column_list(publication: &Publication, table: &Table, with_schemas: bool) -> SqlResult<()> {
    let detail = match () {
        () if with_schemas => {
            "Column lists cannot be specified in publications containing FOR TABLES IN SCHEMA elements."
        }
        () if table.kind == RelationKind::PartitionedTable && !publication.via_root => {
            "Column lists cannot be specified for partitioned tables when publish_via_partition_root is false."
        }
        () => return Ok(()),
    };
    let message = format!(
        "cannot use column list for relation \"{}.{}\" in publication \"{}\"",
        table.schema_name, table.name, publication.name
    );
    Err(wrong(message, detail))
}

/// Enters tables; `may_be_there`: those that are in the publication already are passed over.
fn add_tables(
    session: &Session,
    publication: &Publication,
    tables: &[Prepared<'_>],
    may_be_there: bool,
) -> SqlResult<()> {
    let known = described(session, publication.oid)?;
    for prepared in tables {
        let table = &prepared.chosen.table;
        names::check_owner(session, table)?;
        if known.table(table.oid).is_some() {
            if may_be_there {
                continue;
            }
            return Err(sql_err!(
                DUPLICATE_OBJECT,
                "relation \"{}\" is already member of publication \"{}\"",
                table.name,
                publication.name
            ));
        }
        check_table(table)?;
        let columns = prepared.chosen.written.columns.as_deref();
        let columns = columns.map(|written| column_list(table, written)).transpose()?;
        let (filter, used, needs) = match &prepared.filter {
            Some(filter) => (Some(filter.text.clone()), filter.used.clone(), filter.needs.clone()),
            None => (None, Vec::new(), Vec::new()),
        };
        let new = NewPublishedTable { relation: table.oid, columns, filter, used, needs };
        session.with_changer(|changer| changer.publish_table(publication.oid, &new))?;
    }
    Ok(())
}

/// Whether a relation can be published by itself.
fn check_table(table: &Table) -> SqlResult<()> {
    if is_publishable(table.kind, table.persistence, table.oid) {
        return Ok(());
    }
    let kinds = match table.kind {
        RelationKind::Table | RelationKind::PartitionedTable => match table.persistence {
            't' => "temporary tables",
            'u' => "unlogged tables",
            _ => "system tables",
        },
        kind => names::plural(kind),
    };
    let message = format!("cannot add relation \"{}\" to publication", table.name);
    Err(wrong(message, &format!("This operation is not supported for {kinds}.")))
}

/// Numbers of the columns of a list, ascending.
fn column_list(table: &Table, written: &[String]) -> SqlResult<Vec<i16>> {
    let mut numbers = Vec::with_capacity(written.len());
    for name in written {
        if index::is_system_column(name) {
            return Err(sql_err!(
                INVALID_COLUMN_REFERENCE,
                "cannot use system column \"{name}\" in publication column list"
            ));
        }
        let (number, column) = table.column(name).ok_or_else(|| {
            sql_err!(UNDEFINED_COLUMN, "column \"{name}\" of relation \"{}\" does not exist", table.name)
        })?;
        if column.generated == Generated::Virtual {
            return Err(sql_err!(
                INVALID_COLUMN_REFERENCE,
                "cannot use virtual generated column \"{name}\" in publication column list"
            ));
        }
        if numbers.contains(&number) {
            return Err(sql_err!(DUPLICATE_OBJECT, "duplicate column \"{name}\" in publication column list"));
        }
        numbers.push(number);
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// Enters schemas; `may_be_there`: those that are in the publication already are passed over.
fn add_schemas(
    session: &Session,
    publication: &Publication,
    schemas: &[Oid],
    may_be_there: bool,
) -> SqlResult<()> {
    let known = described(session, publication.oid)?.schemas;
    for &schema in schemas {
        let name = schema_name(session, schema)?;
        if known.contains(&schema) {
            if may_be_there {
                continue;
            }
            return Err(sql_err!(
                DUPLICATE_OBJECT,
                "schema \"{name}\" is already member of publication \"{}\"",
                publication.name
            ));
        }
        let detail = match () {
            () if [PG_CATALOG, PG_TOAST].contains(&schema) => {
                "This operation is not supported for system schemas."
            }
            () if name.starts_with("pg_temp_") || name.starts_with("pg_toast_temp_") => {
                "Temporary schemas cannot be replicated."
            }
            () => {
                session.with_changer(|changer| changer.publish_schema(publication.oid, schema))?;
                continue;
            }
        };
        return Err(wrong(format!("cannot add schema \"{name}\" to publication"), detail));
    }
    Ok(())
}

fn schema_name(session: &Session, schema: Oid) -> SqlResult<String> {
    Ok(session.with_reader(|reader| CatalogView::schema_name(reader, schema))?.unwrap_or_default())
}

/// ALTER PUBLICATION.
pub(crate) fn alter(session: &Session, statement: &AlterPublication, text: &str) -> SqlResult<()> {
    let row = owned(session, &statement.name)?;
    let publication = described(session, row.oid(pg_publication::OID))?;
    let (objects, verb) = match &statement.action {
        PublicationAction::Options(given) => return alter_options(session, publication, given, text),
        PublicationAction::Add(objects) | PublicationAction::Set(objects) => (objects, "add"),
        PublicationAction::Drop(objects) => (objects, "drop"),
    };
    let named = Named::of(session, objects)?;
    if verb == "add" && !named.schemas.is_empty() && !session.has_all_rights()? {
        return Err(denied("must be superuser to add or set schemas"));
    }
    if publication.all_tables {
        let what = if named.schemas.is_empty() { "Tables" } else { "Schemas" };
        return Err(sql_err!(
            OBJECT_NOT_IN_PREREQUISITE_STATE,
            "publication \"{}\" is defined as FOR ALL TABLES",
            publication.name
        )
        .detail(format!("{what} cannot be added to or dropped from FOR ALL TABLES publications.")));
    }
    let tables = chosen(session, &named.tables)?;
    match &statement.action {
        PublicationAction::Add(_) => add(session, &publication, (&tables, &named.schemas), text),
        PublicationAction::Drop(_) => drop_members(session, &publication, (&tables, &named.schemas)),
        _ => set(session, &publication, (&tables, &named.schemas), text),
    }
}

/// ALTER PUBLICATION ... SET (...).
fn alter_options(
    session: &Session,
    mut publication: Publication,
    given: &[DefElem],
    text: &str,
) -> SqlResult<()> {
    if set_options(&mut publication, given, text)? && !publication.via_root {
        for listed in &publication.tables {
            check_without_root(session, &publication, listed)?;
        }
    }
    session.with_changer(|changer| changer.set_publication_options(&publication))
}

/// What is listed of a partitioned table counts only if its partitions are published as that.
fn check_without_root(
    session: &Session,
    publication: &Publication,
    listed: &PublishedTable,
) -> SqlResult<()> {
    let what = match listed {
        PublishedTable { filter: Some(_), .. } => "WHERE clause",
        PublishedTable { columns: Some(_), .. } => "column list",
        _ => return Ok(()),
    };
    let table = names::describe(session, listed.relation)?;
    if table.kind != RelationKind::PartitionedTable {
        return Ok(());
    }
    let name = &publication.name;
    Err(sql_err!(
        OBJECT_NOT_IN_PREREQUISITE_STATE,
        "cannot set parameter \"{VIA_ROOT}\" to false for publication \"{name}\""
    )
    .detail(format!(
        "The publication contains a {what} for partitioned table \"{}\", which is not allowed when \"{VIA_ROOT}\" is false.",
        table.name
    )))
}

fn add(
    session: &Session,
    publication: &Publication,
    (tables, schemas): (&[Chosen<'_>], &[Oid]),
    text: &str,
) -> SqlResult<()> {
    let with_schemas = !schemas.is_empty() || !publication.schemas.is_empty();
    let tables = prepared(session, publication, tables, with_schemas, text)?;
    add_tables(session, publication, &tables, false)?;
    if !schemas.is_empty() && described(session, publication.oid)?.tables.iter().any(|t| t.columns.is_some())
    {
        return Err(wrong(
            format!("cannot add schema to publication \"{}\"", publication.name),
            "Schemas cannot be added if any tables that specify a column list are already part of the publication.",
        ));
    }
    add_schemas(session, publication, schemas, false)
}

/// SET: what is not named goes, and so does what is named otherwise.
fn set(
    session: &Session,
    publication: &Publication,
    (tables, schemas): (&[Chosen<'_>], &[Oid]),
    text: &str,
) -> SqlResult<()> {
    let tables = prepared(session, publication, tables, !schemas.is_empty(), text)?;
    for listed in &publication.tables {
        let stays = tables.iter().find(|prepared| prepared.chosen.table.oid == listed.relation);
        if !stays.map_or(Ok(false), |prepared| is_same(prepared, listed))? {
            session.with_changer(|changer| changer.unpublish_table(publication.oid, listed.relation))?;
        }
    }
    add_tables(session, publication, &tables, true)?;
    for schema in publication.schemas.iter().filter(|schema| !schemas.contains(schema)) {
        session.with_changer(|changer| changer.unpublish_schema(publication.oid, *schema))?;
    }
    add_schemas(session, publication, schemas, true)
}

/// Whether a table is in the publication just as it is to be.
fn is_same(prepared: &Prepared<'_>, listed: &PublishedTable) -> SqlResult<bool> {
    let columns = prepared.chosen.written.columns.as_deref();
    let columns = columns.map(|written| column_list(&prepared.chosen.table, written)).transpose()?;
    let filter = prepared.filter.as_ref().map(|filter| filter.text.as_str());
    Ok(columns.as_deref() == listed.columns.as_deref() && filter == listed.filter.as_deref())
}

fn drop_members(
    session: &Session,
    publication: &Publication,
    (tables, schemas): (&[Chosen<'_>], &[Oid]),
) -> SqlResult<()> {
    for chosen in tables {
        let name = &chosen.table.name;
        if chosen.written.columns.is_some() {
            return Err(sql_err!(
                SYNTAX_ERROR,
                "column list must not be specified in ALTER PUBLICATION ... DROP"
            ));
        }
        if publication.table(chosen.table.oid).is_none() {
            return Err(sql_err!(UNDEFINED_OBJECT, "relation \"{name}\" is not part of the publication"));
        }
        if chosen.written.filter.is_some() {
            return Err(sql_err!(
                SYNTAX_ERROR,
                "cannot use a WHERE clause when removing a table from a publication"
            ));
        }
        session.with_changer(|changer| changer.unpublish_table(publication.oid, chosen.table.oid))?;
    }
    for &schema in schemas {
        if !session.with_changer(|changer| changer.unpublish_schema(publication.oid, schema))? {
            return Err(sql_err!(
                UNDEFINED_OBJECT,
                "tables from schema \"{}\" are not part of the publication",
                schema_name(session, schema)?
            ));
        }
    }
    Ok(())
}

/// What COMMENT names.
pub(super) fn address(session: &Session, object: &ObjectName) -> SqlResult<ObjectAddress> {
    let row = owned(session, comment::name(object)?.last())?;
    Ok(ObjectAddress::publication(row.oid(pg_publication::OID)))
}

/// What DROP PUBLICATION names.
pub(super) fn dropped(session: &Session, statement: &Drop) -> SqlResult<Vec<ObjectAddress>> {
    let mut objects = Vec::with_capacity(statement.objects.len());
    for object in &statement.objects {
        let name = comment::name(object)?.last();
        match row_named(session, name)? {
            Some(row) => {
                check_owner(session, &row)?;
                objects.push(ObjectAddress::publication(row.oid(pg_publication::OID)));
            }
            None => names::skip_missing(session, statement.missing_ok, undefined(name))?,
        }
    }
    Ok(objects)
}

/// ALTER PUBLICATION ... RENAME TO.
pub(super) fn rename(session: &Session, object: Option<&ObjectName>, new: &str) -> SqlResult<()> {
    let object = object.ok_or_else(|| SqlError::internal("RENAME of nothing"))?;
    let row = owned(session, comment::name(object)?.last())?;
    check_free(session, new)?;
    let address = ObjectAddress::publication(row.oid(pg_publication::OID));
    session.with_changer(|changer| changer.set_object_name(address, pg_publication::PUBNAME, new))
}

/// ALTER PUBLICATION ... OWNER TO.
pub(super) fn set_owner(session: &Session, object: &ObjectName, owner: Oid) -> SqlResult<()> {
    let name = comment::name(object)?.last();
    let row = row_named(session, name)?.ok_or_else(|| undefined(name))?;
    give(session, &row, owner)
}

/// Gives a publication to another role, which must be able to own it.
fn give(session: &Session, row: &Row, owner: Oid) -> SqlResult<()> {
    if row.oid(pg_publication::PUBOWNER) == owner {
        return Ok(());
    }
    let oid = row.oid(pg_publication::OID);
    if !session.has_all_rights()? {
        check_owner(session, row)?;
        check_taker(session, row, owner)?;
    }
    session.with_changer(|changer| {
        changer.set_object_owner(ObjectAddress::publication(oid), pg_publication::PUBOWNER, owner)
    })
}

/// What a new owner must be, of whom the user is no superuser.
pub(super) fn check_taker(session: &Session, row: &Row, owner: Oid) -> SqlResult<()> {
    names::check_may_become(session, owner)?;
    if !names::role_holds_on_database(session, owner, "C")? {
        return Err(authority::denied("database", session.catalog.database_name()));
    }
    if session.with_reader(|reader| reader.is_superuser(owner))? {
        return Ok(());
    }
    let publication = described(session, row.oid(pg_publication::OID))?;
    let what = match () {
        () if publication.all_tables => "FOR ALL TABLES",
        () if !publication.schemas.is_empty() => "FOR TABLES IN SCHEMA",
        () => return Ok(()),
    };
    Err(denied(format!("permission denied to change owner of publication \"{}\"", publication.name))
        .hint(format!("The owner of a {what} publication must be a superuser.")))
}

/// Whether a publication names a table.
pub(super) fn lists(session: &Session, table: Oid) -> SqlResult<bool> {
    let all = session.with_reader(|reader| reader.publications())?;
    Ok(all.iter().any(|publication| publication.table(table).is_some()))
}

/// A table that a publication names must be logged.
pub(super) fn check_unlogged(session: &Session, table: &Table, logged: bool) -> SqlResult<()> {
    if logged || !lists(session, table.oid)? {
        return Ok(());
    }
    Err(sql_err!(
        OBJECT_NOT_IN_PREREQUISITE_STATE,
        "cannot change table \"{}\" to unlogged because it is part of a publication",
        table.name
    )
    .detail("Unlogged relations cannot be replicated."))
}
