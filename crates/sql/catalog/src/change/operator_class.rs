//! Operator classes and families that users make, with the operators and functions in them (`pg_opclass`, `pg_opfamily`, `pg_amop`,
//! `pg_amproc`).

use base::{Oid, SqlResult};
use types::text::quote_identifier;

use super::{Changer, Dependency, ObjectAddress};
use crate::database::Reader;
use crate::row::{Row, RowBuilder, RowExt};
use crate::system::{SystemTable, pg_am, pg_amop, pg_amproc, pg_opclass, pg_opfamily};

/// An operator class or family to be made.
#[derive(Clone, Debug)]
pub struct NewOperatorFamily {
    /// Name.
    pub name: String,
    /// Schema.
    pub schema: Oid,
    /// Owner.
    pub owner: Oid,
    /// Access method.
    pub method: Oid,
}

/// What a class has beyond a family.
#[derive(Clone, Copy, Debug)]
pub struct NewOperatorClass {
    /// The family that it is in.
    pub family: Oid,
    /// The type that it is for.
    pub input: Oid,
    /// DEFAULT
    pub default: bool,
    /// The type that an index stores; 0 if it is `input`.
    pub key: Oid,
}

/// An operator or function that a family is to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FamilyMember {
    /// A function, not an operator.
    pub is_function: bool,
    /// Its OID.
    pub object: Oid,
    /// Strategy or support number.
    pub number: i16,
    /// The types that it is for.
    pub left: Oid,
    /// See `left`.
    pub right: Oid,
    /// FOR ORDER BY: the B-tree family that sorts results; 0 for an operator that searches.
    pub sort_family: Oid,
    /// The class that cannot be without it; 0 if it belongs to the family alone and goes silently with what it is.
    pub class: Oid,
}

impl ObjectAddress {
    /// An operator class.
    pub fn operator_class(oid: Oid) -> ObjectAddress {
        ObjectAddress { class: pg_opclass::TABLE.oid, object: oid, sub: 0 }
    }

    /// An operator family.
    pub fn operator_family(oid: Oid) -> ObjectAddress {
        ObjectAddress { class: pg_opfamily::TABLE.oid, object: oid, sub: 0 }
    }
}

impl Changer<'_> {
    /// Enters an operator family. Returns its OID.
    pub fn create_operator_family(&mut self, new: &NewOperatorFamily) -> SqlResult<Oid> {
        use pg_opfamily as f;
        let oid = self.new_oid();
        let row = RowBuilder::new(&f::TABLE)
            .set(f::OID, oid)
            .set(f::OPFMETHOD, new.method)
            .set(f::OPFNAME, &*new.name)
            .set(f::OPFNAMESPACE, new.schema)
            .set(f::OPFOWNER, new.owner);
        self.insert(&f::TABLE, &row.build())?;
        let me = ObjectAddress::operator_family(oid);
        self.depend(me, ObjectAddress::access_method(new.method), Dependency::Auto)?;
        self.note_operator_family(me, new)?;
        self.next_command()?;
        Ok(oid)
    }

    /// Enters an operator class; its members follow. Returns its OID.
    pub fn create_operator_class(
        &mut self,
        new: &NewOperatorFamily,
        class: NewOperatorClass,
    ) -> SqlResult<Oid> {
        use pg_opclass as c;
        let oid = self.new_oid();
        let row = RowBuilder::new(&c::TABLE)
            .set(c::OID, oid)
            .set(c::OPCMETHOD, new.method)
            .set(c::OPCNAME, &*new.name)
            .set(c::OPCNAMESPACE, new.schema)
            .set(c::OPCOWNER, new.owner)
            .set(c::OPCFAMILY, class.family)
            .set(c::OPCINTYPE, class.input)
            .set(c::OPCDEFAULT, class.default)
            .set(c::OPCKEYTYPE, class.key);
        self.insert(&c::TABLE, &row.build())?;
        let me = ObjectAddress::operator_class(oid);
        self.note_operator_family(me, new)?;
        self.depend(me, ObjectAddress::operator_family(class.family), Dependency::Auto)?;
        for ty in [class.input, class.key].into_iter().filter(|ty| ty.is_valid()) {
            self.depend(me, ObjectAddress::ty(ty), Dependency::Normal)?;
        }
        self.next_command()?;
        Ok(oid)
    }

    fn note_operator_family(&mut self, me: ObjectAddress, new: &NewOperatorFamily) -> SqlResult<()> {
        self.depend(me, ObjectAddress::schema(new.schema), Dependency::Normal)?;
        self.depend_on_owner(me, new.owner)?;
        self.join_extension(me)
    }

    /// Puts an operator or function into a family.
    pub fn add_family_member(&mut self, family: Oid, method: Oid, new: &FamilyMember) -> SqlResult<()> {
        let oid = self.new_oid();
        let (me, used) = if new.is_function {
            use pg_amproc as p;
            let row = RowBuilder::new(&p::TABLE)
                .set(p::OID, oid)
                .set(p::AMPROCFAMILY, family)
                .set(p::AMPROCLEFTTYPE, new.left)
                .set(p::AMPROCRIGHTTYPE, new.right)
                .set(p::AMPROCNUM, new.number)
                .set(p::AMPROC, new.object);
            self.insert(&p::TABLE, &row.build())?;
            (p::TABLE.oid, ObjectAddress::routine(new.object))
        } else {
            use pg_amop as o;
            let row = RowBuilder::new(&o::TABLE)
                .set(o::OID, oid)
                .set(o::AMOPFAMILY, family)
                .set(o::AMOPLEFTTYPE, new.left)
                .set(o::AMOPRIGHTTYPE, new.right)
                .set(o::AMOPSTRATEGY, new.number)
                .set(o::AMOPPURPOSE, if new.sort_family.is_valid() { b'o' } else { b's' })
                .set(o::AMOPOPR, new.object)
                .set(o::AMOPMETHOD, method)
                .set(o::AMOPSORTFAMILY, new.sort_family);
            self.insert(&o::TABLE, &row.build())?;
            (o::TABLE.oid, ObjectAddress::operator(new.object))
        };
        let me = ObjectAddress { class: me, object: oid, sub: 0 };
        let (how, whole, as_part) = match new.class {
            Oid::INVALID => (Dependency::Auto, ObjectAddress::operator_family(family), Dependency::Auto),
            class => (Dependency::Normal, ObjectAddress::operator_class(class), Dependency::Internal),
        };
        self.depend(me, used, how)?;
        self.depend(me, whole, as_part)?;
        if new.sort_family.is_valid() {
            self.depend(me, ObjectAddress::operator_family(new.sort_family), how)?;
        }
        self.next_command()
    }
}

/// What both catalogs have in the same columns is read and written by those of `pg_opfamily`.
const _: () = assert!(
    pg_opclass::OPCMETHOD == pg_opfamily::OPFMETHOD
        && pg_opclass::OPCNAME == pg_opfamily::OPFNAME
        && pg_opclass::OPCNAMESPACE == pg_opfamily::OPFNAMESPACE
        && pg_opclass::OPCOWNER == pg_opfamily::OPFOWNER
);

impl Reader<'_> {
    /// The operator class or family (as `shape` says) of an access method with this name in a schema.
    pub fn operator_family_row(
        &self,
        shape: &SystemTable,
        (method, name, schema): (Oid, &str, Oid),
    ) -> SqlResult<Option<Row>> {
        let index = match shape.oid == pg_opclass::TABLE.oid {
            true => pg_opclass::PG_OPCLASS_AM_NAME_NSP_INDEX,
            false => pg_opfamily::PG_OPFAMILY_AM_NAME_NSP_INDEX,
        };
        let row = self.find_one(shape, index, &[method.into(), name.into(), schema.into()])?;
        Ok(row.map(|(_, row)| row))
    }

    /// The member of a family with this number for these types: its OID in `pg_amop` or `pg_amproc`, and the operator's or function's.
    pub fn family_member(
        &self,
        family: Oid,
        is_function: bool,
        (number, left, right): (i16, Oid, Oid),
    ) -> SqlResult<Option<(ObjectAddress, Oid)>> {
        let key = [family.into(), left.into(), right.into(), number.into()];
        let (shape, index, object): (&SystemTable, Oid, usize) = match is_function {
            true => (&pg_amproc::TABLE, pg_amproc::PG_AMPROC_FAM_PROC_INDEX, pg_amproc::AMPROC),
            false => (&pg_amop::TABLE, pg_amop::PG_AMOP_FAM_STRAT_INDEX, pg_amop::AMOPOPR),
        };
        let row = self.find_one(shape, index, &key)?;
        Ok(row.map(|(_, row)| {
            (ObjectAddress { class: shape.oid, object: row.oid(0), sub: 0 }, row.oid(object))
        }))
    }

    /// The row of an operator class.
    pub fn operator_class_row(&self, oid: Oid) -> SqlResult<Option<Row>> {
        let row = self.find_one(&pg_opclass::TABLE, pg_opclass::PG_OPCLASS_OID_INDEX, &[oid.into()])?;
        Ok(row.map(|(_, row)| row))
    }

    /// `operator class c for access method hash`, `operator family f for access method hash`.
    pub(super) fn describe_operator_family(&self, object: ObjectAddress) -> SqlResult<String> {
        use pg_opfamily as f;
        let what = if object.class == f::TABLE.oid { "operator family" } else { "operator class" };
        let (shape, by_oid) = super::object::catalog_by_oid(object.class)?;
        let Some((_, row)) = self.find_one(shape, by_oid, &[object.object.into()])? else {
            return Ok(format!("{what} {}", object.object));
        };
        let (prefix, name) = (self.prefix(row.oid(f::OPFNAMESPACE))?, quote_identifier(row.str(f::OPFNAME)));
        let key = [row.oid(f::OPFMETHOD).into()];
        let method = self.find_one(&pg_am::TABLE, pg_am::PG_AM_OID_INDEX, &key)?;
        let method = method.map(|(_, row)| row.str(pg_am::AMNAME).to_owned()).unwrap_or_default();
        Ok(format!("{what} {prefix}{name} for access method {method}"))
    }

    /// `operator 1 (integer, integer) of operator family f for access method btree: <(integer,integer)`.
    pub(super) fn describe_family_member(&self, object: ObjectAddress) -> SqlResult<String> {
        let operator = object.class == pg_amop::TABLE.oid;
        let (what, shape, index, columns) = match operator {
            true => {
                use pg_amop::*;
                let columns = [AMOPSTRATEGY, AMOPLEFTTYPE, AMOPRIGHTTYPE, AMOPFAMILY, AMOPOPR];
                ("operator", &TABLE, PG_AMOP_OID_INDEX, columns)
            }
            false => {
                use pg_amproc::*;
                let columns = [AMPROCNUM, AMPROCLEFTTYPE, AMPROCRIGHTTYPE, AMPROCFAMILY, AMPROC];
                ("function", &TABLE, PG_AMPROC_OID_INDEX, columns)
            }
        };
        let Some((_, row)) = self.find_one(shape, index, &[object.object.into()])? else {
            return Ok(format!("{what} {}", object.object));
        };
        let [number, left, right, family, used] = columns;
        let used = match operator {
            true => self.describe_operator(row.oid(used))?,
            false => self.describe_routine(row.oid(used))?,
        };
        Ok(format!(
            "{what} {} ({}, {}) of {}: {}",
            row.int(number),
            self.type_text(row.oid(left))?,
            self.type_text(row.oid(right))?,
            self.describe_operator_family(ObjectAddress::operator_family(row.oid(family)))?,
            used.split_once(' ').map_or(&*used, |(_, used)| used)
        ))
    }
}
