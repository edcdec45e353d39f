//! CREATE TYPE … AS RANGE.
//!
//! A canonical function needs a shell type, which there is not yet: naming one fails as it does without shell type.

use base::{Oid, SqlError, SqlResult, SqlState, sql_err};
use catalog::change::NewRange;
use catalog::{CatalogView, TypeKind};
use parse::ast::{DefElem, Name, OptionValue, TypeName};
use session::Session;

use super::names::at;
use super::{index, object_name, operator_class, options, routine_name, type_name, user_type};

/// The properties as written.
#[derive(Default)]
struct Properties<'a> {
    subtype: Option<&'a TypeName>,
    class: Option<Name>,
    collation: Option<Name>,
    canonical: Option<Name>,
    difference: Option<Name>,
    multirange: Option<Name>,
}

impl<'a> Properties<'a> {
    fn read(list: &'a [DefElem], text: &str) -> SqlResult<Properties<'a>> {
        let mut found = Properties::default();
        for option in list {
            let redundant =
                || at(sql_err!(SYNTAX_ERROR, "conflicting or redundant options"), text, option.location);
            let slot = match option.name.as_str() {
                "subtype" => {
                    let Some(OptionValue::Type(name)) = &option.value else {
                        return Err(sql_err!(
                            SYNTAX_ERROR,
                            "argument of {} must be a type name",
                            option.name
                        ));
                    };
                    if found.subtype.replace(name).is_some() {
                        return Err(redundant());
                    }
                    continue;
                }
                "subtype_opclass" => &mut found.class,
                "collation" => &mut found.collation,
                "canonical" => &mut found.canonical,
                "subtype_diff" => &mut found.difference,
                "multirange_type_name" => &mut found.multirange,
                other => return Err(sql_err!(SYNTAX_ERROR, "type attribute \"{other}\" not recognized")),
            };
            if slot.replace(options::name(option)?).is_some() {
                return Err(redundant());
            }
        }
        Ok(found)
    }
}

/// CREATE TYPE name AS RANGE (…).
pub(super) fn create(session: &Session, name: &Name, list: &[DefElem], text: &str) -> SqlResult<()> {
    let name = user_type::as_relation(name)?;
    let schema = user_type::new_name(session, &name)?;
    let properties = Properties::read(list, text)?;
    let written =
        properties.subtype.ok_or_else(|| sql_err!(SYNTAX_ERROR, "type attribute \"subtype\" is required"))?;
    let (subtype, def) = session.with_reader(|reader| {
        let subtype = type_name::resolve(reader, written, text)?;
        Ok::<_, SqlError>((subtype, reader.type_by_oid(subtype.oid)?))
    })?;
    let shown = || session.with_reader(|reader| type_name::format(reader, subtype.oid, -1));
    if def.is_some_and(|def| matches!(def.kind, TypeKind::Pseudo)) {
        return Err(sql_err!(DATATYPE_MISMATCH, "range subtype cannot be {}", shown()?));
    }
    let class = index::operator_class(session, subtype.oid, properties.class.as_ref()).map_err(for_ranges)?;
    operator_class::refuse_asked(session, class, "for a range type")?;
    let collation = match &properties.collation {
        Some(_) if !subtype.collation.is_valid() => {
            return Err(sql_err!(
                WRONG_OBJECT_TYPE,
                "range collation specified but subtype does not support collation"
            ));
        }
        Some(name) => {
            session.with_reader(|r| type_name::collation(r, (name, Default::default()), &subtype, text))?
        }
        None => subtype.collation,
    };
    if properties.canonical.is_some() {
        return Err(sql_err!(
            INVALID_OBJECT_DEFINITION,
            "cannot specify a canonical function without a pre-created shell type"
        )
        .hint("Create the type as a shell type, then create its canonicalization function, then do a full CREATE TYPE."));
    }
    let difference = match &properties.difference {
        Some(name) => difference(session, name, subtype.oid)?,
        None => Oid::INVALID,
    };
    let multirange = multirange_name(session, (&name.name, schema), properties.multirange.as_ref())?;
    let new = NewRange {
        name: name.name.clone(),
        schema,
        owner: session.names.user(),
        subtype: subtype.oid,
        class,
        collation,
        difference,
        multirange,
    };
    session.with_changer(|changer| changer.create_range(&new))?;
    Ok(())
}

/// The hint of a missing operator class, for ranges.
fn for_ranges(error: SqlError) -> SqlError {
    if error.code() != SqlState::UNDEFINED_OBJECT || error.message().starts_with("operator class") {
        return error;
    }
    error.hint(
        "You must specify an operator class for the range type or define a default operator class for the subtype.",
    )
}

/// The function that gives the distance of two values of the subtype.
fn difference(session: &Session, name: &Name, subtype: Oid) -> SqlResult<Oid> {
    let mut found = None;
    for schema in routine_name::schemas(session, name)? {
        if let Some((oid, _)) =
            session.with_reader(|r| r.routine_oid(schema, name.last(), &[subtype, subtype]))?
        {
            found = Some(oid);
            break;
        }
    }
    let shown = session.with_reader(|reader| type_name::format(reader, subtype, -1))?;
    let signature = format!("{}({shown}, {shown})", name.dotted());
    let oid = found.ok_or_else(|| sql_err!(UNDEFINED_FUNCTION, "function {signature} does not exist"))?;
    let row = session.with_reader(|r| r.routine_row(oid))?;
    let invalid = |what: &str| {
        Err(sql_err!(INVALID_OBJECT_DEFINITION, "range subtype diff function {signature} must {what}"))
    };
    use catalog::RowExt;
    use catalog::system::pg_proc;
    match row {
        Some(row) if row.oid(pg_proc::PRORETTYPE) != types::oids::float8 => {
            invalid("return type double precision")
        }
        Some(row) if row.char(pg_proc::PROVOLATILE) != b'i' => invalid("be immutable"),
        _ => Ok(oid),
    }
}

/// Name and schema of the multirange type: as given, or made of the range type's.
fn multirange_name(
    session: &Session,
    (range, schema): (&str, Oid),
    given: Option<&Name>,
) -> SqlResult<(String, Oid)> {
    if let Some(name) = given {
        let name = user_type::as_relation(name)?;
        let schema = user_type::new_name(session, &name)?;
        return Ok((name.name, schema));
    }
    let name = match range.split_once("range") {
        Some((head, tail)) => object_name::cut(&format!("{head}multirange{tail}")).to_owned(),
        None => object_name::make(range, None, "multirange"),
    };
    if user_type::exists(session, schema, &name)? {
        return Err(sql_err!(DUPLICATE_OBJECT, "type \"{name}\" already exists")
            .detail(format!("Failed while creating a multirange type for type \"{range}\"."))
            .hint("You can manually specify a multirange type name using the \"multirange_type_name\" attribute."));
    }
    Ok((name, schema))
}
