//! # What
//! CREATE TABLE.
//!
//! # PostgreSQL counterpart
//! `DefineRelation` of `commands/tablecmds.c`, `parser/parse_utilcmd.c`.

use std::sync::Arc;

use base::{Oid, SqlError, SqlResult, SqlState, sql_err};
use catalog::change::{Dependency, NewColumn, NewTable};
use catalog::{CatalogView, Generated, Identity, RelationKind, Table, TypeKind};
use parse::ast::{
    ColumnDef, Constraint, ConstraintKind, CreateTable, Location, OnCommit, Persistence, RangeVar,
    TableElement, TypeName,
};
use session::Session;

use super::constraint::{self, Wanted};
use super::inherit::Inheritance;
use super::names::at;
use super::sequence::{self, ForColumn};
use super::storage_parameter::Target;
use super::typed_table::OfType;
use super::{
    access_method, compression, expression, foreign, generated, index, like, names, on_commit, partition,
    partition_index, storage_parameter, tablespace, temporary, type_name,
};

/// Most columns of a table.
const MAX_COLUMNS: usize = 1600;

/// What CREATE TABLE says of one column.
pub(crate) struct Column<'a> {
    pub(crate) new: NewColumn,
    /// NOT NULL: its constraint's name and NO INHERIT.
    pub(crate) not_null: Option<(Option<&'a str>, bool)>,
    /// Where NULL or NOT NULL stands, to find contradictions.
    nullable: bool,
    /// Its own sequence: serial or identity.
    pub(crate) sequence: Option<Oid>,
    /// Its generation expression, to be entered when the table is there.
    pub(crate) generated: Option<&'a parse::ast::Expr>,
}

impl<'a> Column<'a> {
    /// A column without constraints.
    pub(crate) fn plain(new: NewColumn) -> Column<'a> {
        Column { new, not_null: None, nullable: false, sequence: None, generated: None }
    }

    /// Takes one more NOT NULL, which must agree with those before; false if not in NO INHERIT.
    fn require(&mut self, name: Option<&'a str>, no_inherit: bool) -> SqlResult<bool> {
        let (known, inherits_not) = self.not_null.unwrap_or((None, no_inherit));
        if let (Some(known), Some(name)) = (known, name)
            && known != name
        {
            return Err(sql_err!(
                SYNTAX_ERROR,
                "conflicting not-null constraint names \"{known}\" and \"{name}\""
            ));
        }
        self.new.not_null = true;
        self.not_null = Some((known.or(name), no_inherit));
        Ok(inherits_not == no_inherit)
    }
}

/// CREATE TABLE.
pub(crate) fn create(session: &Session, statement: &CreateTable, text: &str) -> SqlResult<()> {
    check_statement(statement, text)?;
    if statement.elements.iter().any(|element| matches!(element, TableElement::Like(..))) {
        return like::create(session, statement, text);
    }
    let relation = &statement.relation;
    let schema = target_schema(session, relation).map_err(|error| at(error, text, relation.location))?;
    if let Some(()) = already_there(session, schema, &relation.name, statement.if_not_exists)? {
        return Ok(());
    }
    let persistence = self::persistence(session, relation, schema);
    let temporary = persistence == b't';
    let options = storage_parameter::check(Target::Table, &statement.options)?;
    let mut inheritance =
        Inheritance::of(session, &statement.inherits, (statement.partition_of.is_some(), temporary))?;
    if let (Some(_), Some(_), [parent]) =
        (&statement.foreign, &statement.partition_of, inheritance.parents.as_slice())
    {
        foreign::table::check_parent(parent)?;
    }
    let inherited = match (&statement.partition_of, inheritance.parents.as_slice()) {
        (Some(_), [parent]) => session.with_reader(|reader| reader.tablespace_of(parent.oid))?,
        _ => Oid::INVALID,
    };
    let kept = tablespace::Kept { temporary, partitioned: statement.partition_by.is_some() };
    let space = match statement.foreign {
        Some(_) => Oid::INVALID,
        None => tablespace::of_new(session, statement.tablespace.as_deref(), inherited, kept)?,
    };
    let of_type = statement.of_type.as_ref().map(|name| OfType::find(session, name, text)).transpose()?;
    let (mut columns, mut constraints) = (Vec::new(), Vec::new());
    for element in &statement.elements {
        match element {
            TableElement::Column(def) => {
                let of = Place { schema, table: &relation.name, persistence };
                columns.push(match &def.type_name {
                    Some(_) => column(session, of, def, &mut constraints, text)?,
                    None => {
                        let new = match &of_type {
                            Some(of) => of.column(&def.name)?,
                            None => inheritance.typed(&def.name)?,
                        };
                        column_with(session, of, (def, new), &mut constraints, text)?
                    }
                });
            }
            TableElement::Constraint(constraint) => {
                constraints.push(Wanted::of_new_table(constraint));
            }
            TableElement::Like(..) => return Err(SqlError::internal("LIKE was not expanded")),
        }
    }
    check_columns(&columns)?;
    if let Some(of) = &of_type {
        columns = of.all(columns);
    }
    let mut columns = inheritance.merge(session, columns)?;
    check_columns(&columns)?;
    apply_table_constraints(&mut columns, &constraints, &relation.name, text)?;
    let method = method_of(session, statement, &inheritance.parents)?;
    let new = NewTable {
        name: relation.name.clone(),
        schema,
        owner: session.names.user(),
        kind: match (&statement.partition_by, &statement.foreign) {
            (Some(_), _) => RelationKind::PartitionedTable,
            (None, Some(_)) => RelationKind::ForeignTable,
            (None, None) => RelationKind::Table,
        },
        persistence,
        columns: columns.iter().map(|c| c.new.clone()).collect(),
        options,
        method,
        tablespace: space,
    };
    for column in &new.columns {
        session.with_changer(|changer| changer.check_column_type(&column.name, column.type_oid))?;
    }
    let of_toast = storage_parameter::of_toast(&statement.options)?;
    let oid = session.with_changer(|changer| {
        let oid = changer.create_table(&new)?;
        if let Some(of) = &of_type {
            changer.set_type_of_table(oid, Some(of.oid))?;
        }
        let toast = changer.reader().relation_by_oid(oid)?.map_or(Oid::INVALID, |table| table.toast);
        if toast.is_valid() && !of_toast.is_empty() {
            changer.set_options(toast, &of_toast)?;
        }
        Ok::<_, SqlError>(oid)
    })?;
    if let Some(source) = &statement.foreign {
        foreign::table::enter(session, oid, source)?;
    }
    on_commit::register(session, oid, statement.on_commit);
    inheritance.enter_defaults(session, &names::describe(session, oid)?)?;
    for (i, column) in columns.iter().enumerate() {
        own_sequence(session, oid, (i as i16 + 1, &column.new), column.sequence)?;
    }
    let table = names::describe(session, oid)?;
    for (i, column) in columns.iter().enumerate() {
        if let Some(expr) = column.generated {
            generated::enter(session, &table, i as i16 + 1, expr, text)?;
        }
    }
    for element in &statement.elements {
        if let TableElement::Column(def) = element {
            foreign::table::enter_column(session, &table, def)?;
        }
    }
    if let Some(by) = &statement.partition_by {
        partition::set_key(session, &names::describe(session, oid)?, by, text)?;
    }
    inheritance.enter(session, &names::describe(session, oid)?)?;
    if let (Some(spec), [parent]) = (&statement.partition_of, inheritance.parents.as_slice()) {
        let of = partition::Parent::new(session, parent)?;
        let bound = of.bound(spec, text)?;
        of.check(&relation.name, &bound, (spec, text))?;
        of.add(oid, &bound)?;
    }
    add_constraints(session, oid, &columns, &inheritance, &constraints, text)?;
    if let (Some(_), [parent]) = (&statement.partition_of, inheritance.parents.as_slice()) {
        partition_index::give_indexes(session, parent, &names::describe(session, oid)?)?;
        super::trigger::give_to_partition(session, parent, &names::describe(session, oid)?)?;
        super::foreign_key_parts::give_to_partition(session, parent, &names::describe(session, oid)?)?;
    }
    Ok(())
}

fn check_statement(statement: &CreateTable, text: &str) -> SqlResult<()> {
    if statement.foreign.is_some() {
        foreign::table::check(statement, text)?;
    }
    if statement.partition_by.is_some() && statement.relation.persistence == Persistence::Unlogged {
        return Err(sql_err!(FEATURE_NOT_SUPPORTED, "partitioned tables cannot be unlogged"));
    }
    check_storage(&statement.relation, statement.on_commit)
}

/// What CREATE TABLE and CREATE TABLE AS say of how and how long a table is stored.
pub(crate) fn check_storage(relation: &RangeVar, on_commit: OnCommit) -> SqlResult<()> {
    if on_commit != OnCommit::None && relation.persistence != Persistence::Temporary {
        return Err(sql_err!(INVALID_TABLE_DEFINITION, "ON COMMIT can only be used on temporary tables"));
    }
    Ok(())
}

/// The access method of a new table: the one that is named; otherwise a partition has its parent's, and a partitioned table none.
fn method_of(session: &Session, statement: &CreateTable, parents: &[Arc<Table>]) -> SqlResult<Oid> {
    if let (None, None, Some(_), [parent]) =
        (&statement.foreign, &statement.access_method, &statement.partition_of, parents)
    {
        let inherited = session.with_reader(|reader| reader.access_method_of(parent.oid))?;
        if inherited.is_valid() {
            return Ok(inherited);
        }
    }
    match (&statement.access_method, &statement.partition_by) {
        _ if statement.foreign.is_some() => Ok(Oid::INVALID),
        (None, Some(_)) => Ok(Oid::INVALID),
        (name, _) => access_method::of_table(session, name.as_deref()),
    }
}

/// `pg_class.relpersistence` of a new relation.
pub(crate) fn persistence(session: &Session, relation: &RangeVar, schema: Oid) -> u8 {
    match relation.persistence {
        Persistence::Temporary => b't',
        _ if session.names.temporary_schema() == Some(schema) => b't',
        Persistence::Permanent => b'p',
        Persistence::Unlogged => b'u',
    }
}

/// The schema of a new unlogged relation, which is not the session's own.
fn schema_of_unlogged(session: &Session, relation: &RangeVar) -> SqlResult<Oid> {
    let schema = match relation.schema.as_deref() {
        Some("pg_temp") => temporary::schema(session)?,
        _ => names::creation_schema(session, relation)?,
    };
    if session.names.temporary_schema() == Some(schema) {
        return Err(sql_err!(
            INVALID_TABLE_DEFINITION,
            "only temporary relations may be created in temporary schemas"
        ));
    }
    Ok(schema)
}

/// The schema of a new relation: the session's own for temporary ones.
pub(crate) fn target_schema(session: &Session, relation: &RangeVar) -> SqlResult<Oid> {
    let named_temporary = relation.schema.as_deref() == Some("pg_temp");
    if relation.persistence == Persistence::Unlogged {
        return schema_of_unlogged(session, relation);
    }
    if relation.persistence != Persistence::Temporary && !named_temporary {
        return names::creation_schema(session, relation);
    }
    match &relation.schema {
        Some(schema) if !named_temporary => {
            let own = temporary::schema(session)?;
            match session.with_reader(|reader| reader.schema_by_name(schema))? {
                Some(found) if found == own => Ok(own),
                Some(_) => Err(sql_err!(
                    INVALID_TABLE_DEFINITION,
                    "cannot create temporary relation in non-temporary schema"
                )),
                None => Err(names::undefined_schema(schema)),
            }
        }
        _ => temporary::schema(session),
    }
}

/// Whether a relation (or type) of the name is in the way; `Some` if IF NOT EXISTS makes that a notice.
pub(crate) fn already_there(
    session: &Session,
    schema: Oid,
    name: &str,
    if_not_exists: bool,
) -> SqlResult<Option<()>> {
    if session.with_reader(|reader| reader.relation_oid(schema, name))?.is_some() {
        if if_not_exists {
            let message = format!("relation \"{name}\" already exists, skipping");
            session.notice(names::notice(SqlState::DUPLICATE_TABLE, message));
            return Ok(Some(()));
        }
        return Err(sql_err!(DUPLICATE_TABLE, "relation \"{name}\" already exists"));
    }
    let clash = session.with_reader(|reader| {
        let found = match reader.type_oid(schema, name)? {
            Some(oid) => reader.type_by_oid(oid)?,
            None => None,
        };
        Ok::<_, SqlError>(found.filter(|t| t.kind != TypeKind::Pseudo))
    })?;
    if clash.is_some() {
        return Err(sql_err!(DUPLICATE_OBJECT, "type \"{name}\" already exists").hint(
            "A relation has an associated type of the same name, so you must use a name that doesn't conflict with any existing type.",
        ));
    }
    Ok(None)
}

/// The table that a column is for.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    /// Its schema.
    pub(crate) schema: Oid,
    /// Its name.
    pub(crate) table: &'a str,
    /// `pg_class.relpersistence`
    pub(crate) persistence: u8,
}

/// A column with what its constraints say of itself; its other constraints go to `constraints`.
pub(crate) fn column<'a>(
    session: &Session,
    of: Place<'_>,
    def: &'a ColumnDef,
    constraints: &mut Vec<Wanted<'a>>,
    text: &str,
) -> SqlResult<Column<'a>> {
    let new = plain_column(session, def, text)?;
    column_with(session, of, (def, new), constraints, text)
}

/// As [`column()`], with a type that is known.
fn column_with<'a>(
    session: &Session,
    place: Place<'_>,
    (def, new): (&'a ColumnDef, NewColumn),
    constraints: &mut Vec<Wanted<'a>>,
    text: &str,
) -> SqlResult<Column<'a>> {
    let table = place.table;
    let mut column = Column::plain(new);
    if is_serial(def, text)? {
        column.not_null = Some((None, false));
        column.new.not_null = true;
        let of = for_column(place, &column.new, false);
        let sequence = sequence::for_column(session, &of, &[], text)?;
        let next = sequence::next_value(session, sequence)?;
        let of = (def.name.as_str(), column.new.type_oid, column.new.typmod);
        column.new.default = Some(expression::default(session, &next, of, text)?.into());
        column.sequence = Some(sequence);
    }
    // Whether attributes belong to the last of `constraints`.
    let mut of_last = false;
    for constraint in &def.constraints {
        if constraint::is_attribute(&constraint.kind) {
            let last = constraints.last_mut().filter(|_| of_last);
            last.ok_or_else(|| constraint::misplaced(constraint, text))?.attribute(constraint, text)?;
            continue;
        }
        of_last = false;
        match &constraint.kind {
            ConstraintKind::Null => {
                column.nullable = true;
                if column.not_null.is_some() {
                    return Err(contradiction(&def.name, table, text, constraint.location));
                }
            }
            ConstraintKind::NotNull(_) => {
                if column.nullable {
                    return Err(contradiction(&def.name, table, text, constraint.location));
                }
                let inherits = |c: &Constraint| {
                    matches!(c.kind, ConstraintKind::PrimaryKey(_) | ConstraintKind::Identity(..))
                };
                let refused = constraint.no_inherit && def.constraints.iter().any(inherits);
                if !column.require(constraint.name.as_deref(), constraint.no_inherit)? || refused {
                    return Err(sql_err!(
                        SYNTAX_ERROR,
                        "conflicting NO INHERIT declarations for not-null constraints on column \"{}\"",
                        def.name
                    ));
                }
            }
            ConstraintKind::Identity(kind, list) => {
                identity(&mut column, *kind, (table, constraint.location), text)?;
                let of = for_column(place, &column.new, true);
                column.sequence = Some(sequence::for_column(session, &of, list, text)?);
            }
            ConstraintKind::Generated { expr, stored, .. } => {
                if column.generated.replace(expr).is_some() {
                    let error = sql_err!(
                        SYNTAX_ERROR,
                        "multiple generation clauses specified for column \"{}\" of table \"{table}\"",
                        def.name
                    );
                    return Err(at(error, text, constraint.location));
                }
                column.new.generated = if *stored { Generated::Stored } else { Generated::Virtual };
            }
            ConstraintKind::Default(expr) => {
                if column.new.default.is_some() {
                    let error = sql_err!(
                        SYNTAX_ERROR,
                        "multiple default values specified for column \"{}\" of table \"{table}\"",
                        def.name
                    );
                    return Err(at(error, text, constraint.location));
                }
                let of = (def.name.as_str(), column.new.type_oid, column.new.typmod);
                column.new.default = Some(expression::default(session, expr, of, text)?.into());
            }
            _ => {
                of_last = true;
                constraints.push(Wanted { column: Some(&def.name), ..Wanted::of(constraint) });
            }
        }
        if let Some(both) = two_sources(&column) {
            let error = sql_err!(
                SYNTAX_ERROR,
                "both {both} specified for column \"{}\" of table \"{table}\"",
                def.name
            );
            return Err(at(error, text, constraint.location));
        }
    }
    Ok(column)
}

/// A column's value comes from one place.
fn two_sources(column: &Column<'_>) -> Option<&'static str> {
    let identity = column.new.identity != Identity::None;
    match (column.new.default.is_some(), identity, column.generated.is_some()) {
        (true, true, _) => Some("default and identity"),
        (true, _, true) => Some("default and generation expression"),
        (_, true, true) => Some("identity and generation expression"),
        _ => None,
    }
}

fn for_column<'a>(place: Place<'a>, column: &'a NewColumn, identity: bool) -> ForColumn<'a> {
    let Place { schema, table, persistence } = place;
    ForColumn { schema, table, persistence, column: &column.name, type_oid: column.type_oid, identity }
}

/// Marks a column as identity, with the NOT NULL that comes with it.
fn identity(
    column: &mut Column<'_>,
    kind: parse::ast::Identity,
    (table, location): (&str, Location),
    text: &str,
) -> SqlResult<()> {
    let name = &column.new.name;
    if column.new.identity != Identity::None {
        let error = sql_err!(
            SYNTAX_ERROR,
            "multiple identity specifications for column \"{name}\" of table \"{table}\""
        );
        return Err(at(error, text, location));
    }
    if column.nullable {
        return Err(contradiction(name, table, text, location));
    }
    column.new.identity = identity_of(kind);
    column.new.not_null = true;
    column.not_null.get_or_insert((None, false));
    Ok(())
}

/// The catalogs' word for it.
pub(crate) fn identity_of(kind: parse::ast::Identity) -> Identity {
    match kind {
        parse::ast::Identity::Always => Identity::Always,
        parse::ast::Identity::ByDefault => Identity::ByDefault,
    }
}

/// Links a column with its own sequence.
pub(crate) fn own_sequence(
    session: &Session,
    table: Oid,
    (number, column): (i16, &NewColumn),
    sequence: Option<Oid>,
) -> SqlResult<()> {
    let Some(sequence) = sequence else { return Ok(()) };
    let kind = if column.identity == Identity::None { Dependency::Auto } else { Dependency::Internal };
    session.with_changer(|changer| changer.own_sequence(sequence, Some((table, number, kind))))
}

/// The integer type behind a serial one.
fn serial_type(name: &str) -> Option<&'static str> {
    match name {
        "smallserial" | "serial2" => Some("int2"),
        "serial" | "serial4" => Some("int4"),
        "bigserial" | "serial8" => Some("int8"),
        _ => None,
    }
}

/// Whether a column is declared with a serial type.
pub(crate) fn is_serial(def: &ColumnDef, text: &str) -> SqlResult<bool> {
    let Some(TypeName { names, array_bounds, location, .. }) = &def.type_name else { return Ok(false) };
    let serial = matches!(names.as_slice(), [name] if serial_type(name).is_some());
    if serial && !array_bounds.is_empty() {
        let error = sql_err!(FEATURE_NOT_SUPPORTED, "array of serial is not implemented");
        return Err(at(error, text, *location));
    }
    Ok(serial)
}

fn contradiction(column: &str, table: &str, text: &str, location: Location) -> SqlError {
    let error = sql_err!(
        SYNTAX_ERROR,
        "conflicting NULL/NOT NULL declarations for column \"{column}\" of table \"{table}\""
    );
    at(error, text, location)
}

/// Name, type and storage of a column.
pub(crate) fn plain_column(session: &Session, def: &ColumnDef, text: &str) -> SqlResult<NewColumn> {
    let Some(type_name) = &def.type_name else {
        return Err(SqlError::internal("a column without a type"));
    };
    let mut type_name = std::borrow::Cow::Borrowed(type_name);
    if let [name] = type_name.names.as_slice()
        && let Some(integer) = serial_type(name)
    {
        type_name.to_mut().names = vec!["pg_catalog".into(), integer.into()];
    }
    let (ty, collation) = session.with_reader(|reader| {
        let ty = type_name::resolve(reader, &type_name, text)?;
        let collation = match &def.collation {
            Some((name, location)) => type_name::collation(reader, (name, *location), &ty, text)?,
            None => ty.collation,
        };
        Ok::<_, SqlError>((ty, collation))
    })?;
    names::check_type_usage(session, ty.oid)?;
    Ok(NewColumn {
        name: def.name.clone(),
        type_oid: ty.oid,
        typmod: ty.typmod,
        dimensions: ty.dimensions,
        collation,
        storage: def.storage.as_deref().map(|word| storage(word, ty.oid)).transpose()?.flatten(),
        compression: compression::method(def.compression.as_deref(), ty.oid)?,
        ..NewColumn::default()
    })
}

/// STORAGE as its letter; none for DEFAULT.
pub(super) fn storage(word: &str, ty: Oid) -> SqlResult<Option<u8>> {
    let letter = match word.to_ascii_lowercase().as_str() {
        "default" => return Ok(None),
        "plain" => b'p',
        "external" => b'e',
        "extended" => b'x',
        "main" => b'm',
        _ => return Err(sql_err!(INVALID_PARAMETER_VALUE, "invalid storage type \"{word}\"")),
    };
    let fixed = types::builtin_type(ty).is_some_and(|info| info.len >= 0 || info.storage == b'p');
    if letter != b'p' && fixed {
        let shown = types::format_type(ty, None).unwrap_or_default();
        return Err(sql_err!(FEATURE_NOT_SUPPORTED, "column data type {shown} can only have storage PLAIN"));
    }
    Ok(Some(letter))
}

/// Columns that were dropped count too: rows have a place for them.
pub(super) fn check_column_count(count: usize) -> SqlResult<()> {
    if count > MAX_COLUMNS {
        return Err(sql_err!(TOO_MANY_COLUMNS, "tables can have at most {MAX_COLUMNS} columns"));
    }
    Ok(())
}

fn check_columns(columns: &[Column<'_>]) -> SqlResult<()> {
    check_column_count(columns.len())?;
    for (i, column) in columns.iter().enumerate() {
        let name = &column.new.name;
        check_column_name(name)?;
        if columns[..i].iter().any(|other| other.new.name == *name) {
            return Err(sql_err!(DUPLICATE_COLUMN, "column \"{name}\" specified more than once"));
        }
    }
    Ok(())
}

/// A column may not be called like a system column.
pub(crate) fn check_column_name(name: &str) -> SqlResult<()> {
    if index::is_system_column(name) {
        return Err(sql_err!(DUPLICATE_COLUMN, "column name \"{name}\" conflicts with a system column name"));
    }
    Ok(())
}

fn conflicting_no_inherit(column: &str) -> SqlError {
    sql_err!(
        SYNTAX_ERROR,
        "conflicting NO INHERIT declaration for not-null constraint on column \"{column}\""
    )
}

/// NOT NULL that table constraints and primary keys bring to columns; one primary key at most.
fn apply_table_constraints<'a>(
    columns: &mut [Column<'a>],
    constraints: &[Wanted<'a>],
    table: &str,
    text: &str,
) -> SqlResult<()> {
    let mut primary = false;
    for wanted in constraints {
        let constraint = wanted.constraint;
        match &constraint.kind {
            ConstraintKind::PrimaryKey(with) | ConstraintKind::Unique(with) if with.using_index.is_some() => {
                let error = sql_err!(FEATURE_NOT_SUPPORTED, "cannot use an existing index in CREATE TABLE");
                return Err(at(error, text, constraint.location));
            }
            ConstraintKind::PrimaryKey(with) => {
                if std::mem::replace(&mut primary, true) {
                    let error = sql_err!(
                        INVALID_TABLE_DEFINITION,
                        "multiple primary keys for table \"{table}\" are not allowed"
                    );
                    return Err(at(error, text, constraint.location));
                }
                let own = wanted.column.into_iter();
                for name in own.chain(with.columns.iter().map(String::as_str)) {
                    let Some(column) = columns.iter_mut().find(|c| c.new.name == name) else { continue };
                    if column.nullable {
                        return Err(contradiction(name, table, text, constraint.location));
                    }
                    column.new.not_null = true;
                    if column.not_null.get_or_insert((None, false)).1 {
                        return Err(conflicting_no_inherit(name));
                    }
                }
            }
            ConstraintKind::NotNull(Some(name)) => {
                let Some(column) = columns.iter_mut().find(|c| c.new.name == *name) else {
                    return Err(sql_err!(
                        UNDEFINED_COLUMN,
                        "column \"{name}\" of relation \"{table}\" does not exist"
                    ));
                };
                if column.nullable {
                    return Err(contradiction(name, table, text, constraint.location));
                }
                if !column.require(constraint.name.as_deref(), constraint.no_inherit)? {
                    return Err(conflicting_no_inherit(name));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn add_constraints(
    session: &Session,
    oid: Oid,
    columns: &[Column<'_>],
    inheritance: &Inheritance,
    constraints: &[Wanted<'_>],
    text: &str,
) -> SqlResult<()> {
    let table = names::describe(session, oid)?;
    for (i, column) in columns.iter().enumerate() {
        inheritance.enter_not_null(session, &table, i as i16 + 1, column.not_null)?;
    }
    let is_key = |c: &Constraint| matches!(c.kind, ConstraintKind::PrimaryKey(_));
    let (primary, rest): (Vec<_>, Vec<_>) = constraints.iter().partition(|w| is_key(w.constraint));
    for wanted in rest.iter().filter(|w| matches!(w.constraint.kind, ConstraintKind::Check(_))) {
        constraint::add(session, oid, wanted, text)?;
    }
    let is_indexed =
        |c: &Constraint| matches!(c.kind, ConstraintKind::Unique(_) | ConstraintKind::Exclude { .. });
    let indexed = rest.iter().filter(|w| is_indexed(w.constraint));
    let foreign = rest.iter().filter(|w| matches!(w.constraint.kind, ConstraintKind::ForeignKey { .. }));
    for wanted in primary.iter().chain(indexed).chain(foreign) {
        constraint::add(session, oid, wanted, text)?;
    }
    Ok(())
}
