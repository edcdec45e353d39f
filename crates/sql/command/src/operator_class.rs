//! # What
//! Operator classes and families by name: CREATE OPERATOR FAMILY, and what DROP, COMMENT and ALTER ... RENAME, OWNER, SET SCHEMA do with
//! both. What is in them: `operator_class_member`.
//!
//! # PostgreSQL counterpart
//! `commands/opclasscmds.c`.

use base::{Oid, SqlError, SqlResult, SqlState, sql_err};
use catalog::change::{NewOperatorClass, NewOperatorFamily, ObjectAddress};
use catalog::system::{SystemTable, pg_am, pg_opclass, pg_opfamily};
use catalog::{CatalogView, Row, RowExt, authority};
use parse::ast::{AlterOperatorFamily, CreateOperatorClass, Drop, Name, ObjectKind, ObjectName, Rename};
use session::Session;
use session::lookup::access_method;
use types::acl;

use super::object_kind::Move;
use super::operator_class_member::{Family, Members};
use super::{names, operator, owner, routine_name};

/// Which of the two a statement names.
#[derive(Clone, Copy)]
struct Kind {
    noun: &'static str,
    shape: &'static SystemTable,
}

const CLASS: Kind = Kind { noun: "operator class", shape: &pg_opclass::TABLE };
const FAMILY: Kind = Kind { noun: "operator family", shape: &pg_opfamily::TABLE };

fn kind_of(kind: ObjectKind) -> Kind {
    if kind == ObjectKind::OperatorClass { CLASS } else { FAMILY }
}

/// OID of an access method that indexes use.
fn access_method(session: &Session, name: &str) -> SqlResult<Oid> {
    Ok(access_method::of_kind(session, name, access_method::Kind::Index)?.oid(pg_am::OID))
}

/// The class or family of a name, the first in the search path.
fn find(session: &Session, kind: Kind, (method, name): (Oid, &Name)) -> SqlResult<Option<Row>> {
    for schema in routine_name::schemas(session, name)? {
        if name.0.len() > 1 {
            check_usage(session, schema)?;
        }
        let key = (method, name.last(), schema);
        let found = session.with_reader(|r| r.operator_family_row(kind.shape, key))?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

fn check_usage(session: &Session, schema: Oid) -> SqlResult<()> {
    session.with_reader(|r| {
        if r.schema_rights(r.session.user(), schema)?.has((acl::bits("U"), false)) {
            return Ok(());
        }
        Err(authority::denied("schema", &CatalogView::schema_name(r, schema)?.unwrap_or_default()))
    })
}

fn missing(kind: Kind, name: &Name, method: &str) -> SqlError {
    let message =
        format!("{} \"{}\" does not exist for access method \"{method}\"", kind.noun, name.dotted());
    SqlError::new(SqlState::UNDEFINED_OBJECT, message)
}

/// The family of a name; an error if there is none.
pub(super) fn family(session: &Session, name: &Name, (oid, method): (Oid, &str)) -> SqlResult<Oid> {
    let row = find(session, FAMILY, (oid, name))?.ok_or_else(|| missing(FAMILY, name, method))?;
    Ok(row.oid(pg_opfamily::OID))
}

/// The operator class of a name.
pub(super) fn class_named(session: &Session, name: &Name, method: Oid) -> SqlResult<Option<Row>> {
    find(session, CLASS, (method, name))
}

/// Requires the function by which keys are to be in order.
pub(super) fn check_ordering(session: &Session, class: Oid) -> SqlResult<()> {
    if class.is_pinned() {
        return Ok(());
    }
    let families = session.operator_families()?;
    let Some(class) = families.class(class) else { return Err(SqlError::internal("a class without row")) };
    if families.function(class.family, (class.input, class.input), 1).is_some() {
        return Ok(());
    }
    Err(sql_err!(
        INVALID_OBJECT_DEFINITION,
        "missing support function 1({0},{0}) in operator class \"{1}\"",
        analyze::names::format_type(session, class.input, None),
        class.name
    ))
}

/// Refuses what is not possible yet with a class in whose order functions of users put values.
pub(super) fn refuse_asked(session: &Session, class: Oid, what: &str) -> SqlResult<()> {
    if catalog::families::class_order(session, class, Oid::INVALID)?.is_none() {
        return Ok(());
    }
    let families = session.operator_families()?;
    let name = families.class(class).map_or("", |class| class.name);
    Err(SqlError::not_supported(format!("operator class \"{name}\", which is not built in, {what}")))
}

/// Requires the function that hash partitions are found by.
pub(super) fn check_hashing(session: &Session, class: Oid, ty: Oid) -> SqlResult<()> {
    if class.is_pinned() || session.hash_function(class)?.is_some() {
        return Ok(());
    }
    let row = session.with_reader(|r| r.operator_class_row(class))?;
    let name = row.map(|row| row.str(pg_opclass::OPCNAME).to_owned()).unwrap_or_default();
    Err(sql_err!(
        INVALID_OBJECT_DEFINITION,
        "operator class \"{name}\" of access method hash is missing support function 2 for type {}",
        analyze::names::format_type(session, ty, None)
    ))
}

/// What DROP, COMMENT and ALTER name: the access method stands before the object's name.
struct Named {
    kind: Kind,
    name: Name,
    row: Row,
}

impl Named {
    fn find(session: &Session, kind: ObjectKind, object: &ObjectName) -> SqlResult<Result<Named, SqlError>> {
        let ObjectName::Name(written) = object else {
            return Err(SqlError::internal("an operator class was expected"));
        };
        let kind = kind_of(kind);
        let (method, parts) =
            written.0.split_first().ok_or_else(|| SqlError::internal("a nameless object"))?;
        let name = Name(parts.to_vec());
        let oid = access_method(session, method)?;
        Ok(match find(session, kind, (oid, &name))? {
            Some(row) => Ok(Named { kind, name, row }),
            None => Err(missing(kind, &name, method)),
        })
    }

    fn address(&self) -> ObjectAddress {
        let object = self.row.oid(pg_opfamily::OID);
        if self.kind.shape.oid == pg_opclass::TABLE.oid {
            ObjectAddress::operator_class(object)
        } else {
            ObjectAddress::operator_family(object)
        }
    }

    fn check_owner(&self, session: &Session) -> SqlResult<()> {
        self.check_owner_as(session, self.name.last())
    }

    /// Fails unless the current user owns it; messages call it `shown`.
    fn check_owner_as(&self, session: &Session, shown: &str) -> SqlResult<()> {
        if names::owns(session, self.row.oid(pg_opfamily::OPFOWNER))? {
            return Ok(());
        }
        Err(sql_err!(INSUFFICIENT_PRIVILEGE, "must be owner of {} {shown}", self.kind.noun))
    }

    /// Refuses a name that is taken in a schema.
    fn check_free(&self, session: &Session, name: &str, schema: Oid) -> SqlResult<()> {
        let method = self.row.oid(pg_opfamily::OPFMETHOD);
        let taken =
            session.with_reader(|r| r.operator_family_row(self.kind.shape, (method, name, schema)))?;
        if taken.is_none() {
            return Ok(());
        }
        let schema = session.with_reader(|r| r.schema_name(schema))?.unwrap_or_default();
        let key = [method.into()];
        let method = session.with_reader(|r| r.find_one(&pg_am::TABLE, pg_am::PG_AM_OID_INDEX, &key))?;
        let method = method.map(|(_, row)| row.str(pg_am::AMNAME).to_owned()).unwrap_or_default();
        Err(sql_err!(
            DUPLICATE_OBJECT,
            "{} \"{name}\" for access method \"{method}\" already exists in schema \"{schema}\"",
            self.kind.noun
        ))
    }
}

/// ALTER ... RENAME TO.
pub(crate) fn rename(session: &Session, asked: &Rename) -> SqlResult<()> {
    let name = asked.new_name.as_str();
    let object = asked.object.as_ref().ok_or_else(|| SqlError::internal("RENAME of nothing"))?;
    let named = Named::find(session, asked.kind, object)??;
    named.check_owner(session)?;
    let schema = named.row.oid(pg_opfamily::OPFNAMESPACE);
    names::check_creation(session, schema)?;
    named.check_free(session, name, schema)?;
    session.with_changer(|changer| changer.set_object_name(named.address(), pg_opfamily::OPFNAME, name))
}

/// ALTER ... OWNER TO.
pub(crate) fn set_owner(session: &Session, kind: ObjectKind, object: &ObjectName, new: Oid) -> SqlResult<()> {
    let named = Named::find(session, kind, object)??;
    if named.row.oid(pg_opfamily::OPFOWNER) == new {
        return Ok(());
    }
    named.check_owner(session)?;
    owner::check_new_owner(session, new, named.row.oid(pg_opfamily::OPFNAMESPACE))?;
    session.with_changer(|changer| changer.set_object_owner(named.address(), pg_opfamily::OPFOWNER, new))
}

/// ALTER ... SET SCHEMA.
pub(crate) fn set_schema(session: &Session, asked: &Move<'_>) -> SqlResult<()> {
    let named = Named::find(session, asked.kind, asked.object()?)??;
    let to = names::schema_to_move_to(session, asked.schema)?;
    if named.row.oid(pg_opfamily::OPFNAMESPACE) == to {
        return Ok(());
    }
    named.check_owner(session)?;
    named.check_free(session, named.row.str(pg_opfamily::OPFNAME), to)?;
    session.with_changer(|changer| changer.set_object_schema(named.address(), pg_opfamily::OPFNAMESPACE, to))
}

/// The name in messages of COMMENT and DROP: the access method, then the object's name.
fn as_written(object: &ObjectName) -> String {
    if let ObjectName::Name(name) = object { name.dotted() } else { String::new() }
}

/// What COMMENT names.
pub(crate) fn address(session: &Session, kind: ObjectKind, object: &ObjectName) -> SqlResult<ObjectAddress> {
    let named = Named::find(session, kind, object)??;
    named.check_owner_as(session, &as_written(object))?;
    Ok(named.address())
}

/// What DROP names.
pub(crate) fn dropped(session: &Session, statement: &Drop) -> SqlResult<Vec<ObjectAddress>> {
    let mut objects = Vec::with_capacity(statement.objects.len());
    for object in &statement.objects {
        match Named::find(session, statement.kind, object) {
            Ok(Ok(named)) => {
                if !names::owns_schema(session, named.row.oid(pg_opfamily::OPFNAMESPACE))? {
                    named.check_owner_as(session, &as_written(object))?;
                }
                objects.push(named.address());
            }
            Ok(Err(missing)) => names::skip_missing(session, statement.missing_ok, missing)?,
            Err(error) if matches!(error.code(), SqlState::UNDEFINED_OBJECT | SqlState::UNDEFINED_SCHEMA) => {
                names::skip_missing(session, statement.missing_ok, error)?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(objects)
}

/// The name, schema and access method of a new class or family; whether the user may make it.
fn new_one(session: &Session, kind: Kind, name: &Name, method: &str) -> SqlResult<NewOperatorFamily> {
    let name = names::relation_name(&ObjectName::Name(name.clone()))?;
    let schema = names::routine_schema(session, &name)?;
    let method = access_method(session, method)?;
    if !session.has_all_rights()? {
        return Err(sql_err!(INSUFFICIENT_PRIVILEGE, "must be superuser to create an {}", kind.noun));
    }
    Ok(NewOperatorFamily { name: name.name, schema, owner: session.names.user(), method })
}

fn check_new(session: &Session, kind: Kind, new: &NewOperatorFamily, method: &str) -> SqlResult<()> {
    let key = (new.method, &*new.name, new.schema);
    match session.with_reader(|r| r.operator_family_row(kind.shape, key))? {
        None => Ok(()),
        Some(_) => Err(sql_err!(
            DUPLICATE_OBJECT,
            "{} \"{}\" for access method \"{method}\" already exists",
            kind.noun,
            new.name
        )),
    }
}

/// CREATE OPERATOR FAMILY.
pub(crate) fn create_family(session: &Session, name: &Name, method: &str) -> SqlResult<()> {
    let new = new_one(session, FAMILY, name, method)?;
    check_new(session, FAMILY, &new, method)?;
    session.with_changer(|changer| changer.create_operator_family(&new).map(drop))
}

/// CREATE OPERATOR CLASS.
pub(crate) fn create_class(session: &Session, statement: &CreateOperatorClass, text: &str) -> SqlResult<()> {
    let method = &*statement.method;
    let new = new_one(session, CLASS, &statement.name, method)?;
    let input = operator::type_oid(session, &statement.type_name, text)?;
    let family = match &statement.family {
        Some(name) => family(session, name, (new.method, method))?,
        None => {
            let key = (new.method, &*new.name, new.schema);
            match session.with_reader(|r| r.operator_family_row(FAMILY.shape, key))? {
                Some(row) => row.oid(pg_opfamily::OID),
                None => session.with_changer(|changer| changer.create_operator_family(&new))?,
            }
        }
    };
    let of = Family { oid: family, method: new.method, method_name: method, input };
    let members = Members::read(session, &of, &statement.items, text)?;
    let key = members.stored_type(session, &of)?;
    check_new(session, CLASS, &new, method)?;
    if statement.default {
        check_default(session, &new, input)?;
    }
    let class = NewOperatorClass { family, input, default: statement.default, key };
    let class = session.with_changer(|changer| changer.create_operator_class(&new, class))?;
    members.add(session, &of, (class, &new.name))
}

/// A type has one default class of an access method.
fn check_default(session: &Session, new: &NewOperatorFamily, input: Oid) -> SqlResult<()> {
    use pg_opclass as c;
    let all = session.with_reader(|r| r.scan(&c::TABLE))?;
    let default = all.iter().map(|(_, row)| row).find(|row| {
        row.oid(c::OPCMETHOD) == new.method && row.oid(c::OPCINTYPE) == input && row.bool(c::OPCDEFAULT)
    });
    let Some(default) = default else { return Ok(()) };
    Err(sql_err!(
        DUPLICATE_OBJECT,
        "could not make operator class \"{}\" be default for type {}",
        new.name,
        analyze::names::format_type(session, input, None)
    )
    .detail(format!("Operator class \"{}\" already is the default.", default.str(c::OPCNAME))))
}

/// ALTER OPERATOR FAMILY ... ADD, DROP.
pub(crate) fn alter_family(session: &Session, statement: &AlterOperatorFamily, text: &str) -> SqlResult<()> {
    let method = &*statement.method;
    let oid = access_method(session, method)?;
    let family = family(session, &statement.name, (oid, method))?;
    if !session.has_all_rights()? {
        return Err(sql_err!(INSUFFICIENT_PRIVILEGE, "must be superuser to alter an operator family"));
    }
    let of = Family { oid: family, method: oid, method_name: method, input: Oid::INVALID };
    let name = statement.name.dotted();
    if statement.drop {
        return Members::read_dropped(session, &of, &statement.items, text)?.remove(session, &of, &name);
    }
    Members::read(session, &of, &statement.items, text)?.add(session, &of, (Oid::INVALID, &name))
}
