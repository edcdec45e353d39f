//! Types that users make: enums, domains, and the rows that all types share.

use base::{Oid, SqlError, SqlResult};
use tuple::Datum;

use super::{Changer, Dependency, ObjectAddress};
use crate::authority::AclKind;
use crate::row::{Row, RowBuilder, RowExt};
use crate::system::{pg_class, pg_constraint, pg_depend, pg_enum, pg_range, pg_type};
use crate::view::CatalogView;

/// A domain to be made.
#[derive(Clone, Debug)]
pub struct NewDomain {
    /// Name.
    pub name: String,
    /// Schema.
    pub schema: Oid,
    /// Owner.
    pub owner: Oid,
    /// Type underneath.
    pub base: Oid,
    /// Modifier for it.
    pub typmod: i32,
    /// Array dimensions as declared.
    pub dimensions: i32,
    /// Collation, 0 for a type without.
    pub collation: Oid,
    /// DEFAULT: the stored expression, and as SQL.
    pub default: Option<(String, String)>,
    /// NOT NULL.
    pub not_null: bool,
}

/// A base type to be made of a shell.
#[derive(Clone, Debug)]
pub struct NewBaseType {
    /// Name, schema, owner.
    pub names: (String, Oid, Oid),
    /// `typinput`, `typoutput`, `typreceive`, `typsend`, `typmodin`, `typmodout`, `typsubscript`; all but the first two may be 0.
    pub functions: [Oid; 7],
    /// `typlen`
    pub len: i16,
    /// `typbyval`
    pub by_value: bool,
    /// `typalign`
    pub align: u8,
    /// `typstorage`
    pub storage: u8,
    /// `typcategory`
    pub category: u8,
    /// `typispreferred`
    pub preferred: bool,
    /// `typdelim`
    pub delimiter: u8,
    /// DEFAULT
    pub default: Option<String>,
    /// `typcollation`
    pub collation: Oid,
}

/// `shell_in`, `shell_out`.
const SHELL_IO: Io = [2398, 2399, 0, 0];

/// `pg_proc` OIDs of `typinput`, `typoutput`, `typreceive`, `typsend`.
type Io = [u32; 4];

const ENUM_IO: Io = [3506, 3507, 3532, 3533];
const ARRAY_IO: Io = [750, 751, 2400, 2401];
const DOMAIN_IN: u32 = 2597;
const DOMAIN_RECV: u32 = 2598;

impl Changer<'_> {
    /// The `pg_type` row of a new type, with what all kinds have in common.
    pub(super) fn type_row(&self, oid: Oid, (name, schema, owner): (&str, Oid, Oid), io: Io) -> RowBuilder {
        let columns = [pg_type::TYPINPUT, pg_type::TYPOUTPUT, pg_type::TYPRECEIVE, pg_type::TYPSEND];
        let row = RowBuilder::new(&pg_type::TABLE)
            .set(pg_type::OID, oid)
            .set(pg_type::TYPNAME, name)
            .set(pg_type::TYPNAMESPACE, schema)
            .set(pg_type::TYPOWNER, owner)
            .set(pg_type::TYPLEN, -1i16)
            .set(pg_type::TYPISDEFINED, true)
            .set(pg_type::TYPDELIM, b',')
            .set(pg_type::TYPALIGN, b'd')
            .set(pg_type::TYPSTORAGE, b'x')
            .set(pg_type::TYPTYPMOD, -1);
        columns.into_iter().zip(io).fold(row, |row, (column, oid)| row.set(column, Oid(oid)))
    }

    /// Enters the array type over a type.
    pub(super) fn create_array_type(
        &mut self,
        array: Oid,
        element: Oid,
        (name, schema, owner): (&str, Oid, Oid),
        collation: Oid,
    ) -> SqlResult<()> {
        let array_name = self.free_array_name(name, schema)?;
        let row = self
            .type_row(array, (&array_name, schema, owner), ARRAY_IO)
            .set(pg_type::TYPTYPE, b'b')
            .set(pg_type::TYPCATEGORY, b'A')
            .set(pg_type::TYPSUBSCRIPT, Oid(6179))
            .set(pg_type::TYPCOLLATION, collation)
            .set(pg_type::TYPELEM, element);
        self.insert(&pg_type::TABLE, &row.build())?;
        self.depend(ObjectAddress::ty(array), ObjectAddress::ty(element), Dependency::Internal)?;
        self.join_extension(ObjectAddress::ty(array))
    }

    /// Makes a type that is nothing but a name yet. Returns its OID.
    pub fn create_shell(&mut self, name: &str, schema: Oid, owner: Oid) -> SqlResult<Oid> {
        let oid = self.new_oid();
        let row = self
            .type_row(oid, (name, schema, owner), SHELL_IO)
            .set(pg_type::TYPLEN, 4i16)
            .set(pg_type::TYPBYVAL, true)
            .set(pg_type::TYPALIGN, b'i')
            .set(pg_type::TYPSTORAGE, b'p')
            .set(pg_type::TYPTYPE, b'p')
            .set(pg_type::TYPCATEGORY, b'P')
            .set(pg_type::TYPISDEFINED, false);
        self.insert(&pg_type::TABLE, &row.build())?;
        self.depend(ObjectAddress::ty(oid), ObjectAddress::schema(schema), Dependency::Normal)?;
        self.note_new(&AclKind::TYPE, ObjectAddress::ty(oid), owner, schema)?;
        self.next_command()?;
        Ok(oid)
    }

    /// Makes a base type of a shell.
    pub fn define_base_type(&mut self, oid: Oid, new: &NewBaseType) -> SqlResult<()> {
        let array = self.new_oid();
        let names = (new.names.0.as_str(), new.names.1, new.names.2);
        let [input, output, receive, send, typmod_in, typmod_out, subscript] = new.functions;
        let mut row = self
            .type_row(oid, names, [input, output, receive, send].map(|function| function.0))
            .set(pg_type::TYPMODIN, typmod_in)
            .set(pg_type::TYPMODOUT, typmod_out)
            .set(pg_type::TYPSUBSCRIPT, subscript)
            .set(pg_type::TYPLEN, new.len)
            .set(pg_type::TYPBYVAL, new.by_value)
            .set(pg_type::TYPALIGN, new.align)
            .set(pg_type::TYPSTORAGE, new.storage)
            .set(pg_type::TYPTYPE, b'b')
            .set(pg_type::TYPCATEGORY, new.category)
            .set(pg_type::TYPISPREFERRED, new.preferred)
            .set(pg_type::TYPDELIM, new.delimiter)
            .set(pg_type::TYPCOLLATION, new.collation)
            .set(pg_type::TYPARRAY, array)
            .set_some(pg_type::TYPDEFAULT, new.default.as_deref())
            .build();
        self.edit_type(oid, |shell| {
            row[pg_type::TYPACL] = shell[pg_type::TYPACL].clone();
            *shell = row;
        })?;
        self.create_array_type(array, oid, names, new.collation)?;
        if typmod_in.is_valid() {
            self.edit_type(array, |row| {
                row[pg_type::TYPMODIN] = typmod_in.into();
                row[pg_type::TYPMODOUT] = typmod_out.into();
            })?;
        }
        let functions = new.functions.into_iter().filter(|function| function.is_valid());
        self.depend_on_all(ObjectAddress::ty(oid), functions.map(ObjectAddress::routine))?;
        self.next_command()
    }

    /// Makes an enum. Returns its OID.
    pub fn create_enum(&mut self, name: &str, schema: Oid, owner: Oid, labels: &[String]) -> SqlResult<Oid> {
        let (oid, array) = (self.new_oid(), self.new_oid());
        let row = self
            .type_row(oid, (name, schema, owner), ENUM_IO)
            .set(pg_type::TYPLEN, 4i16)
            .set(pg_type::TYPBYVAL, true)
            .set(pg_type::TYPALIGN, b'i')
            .set(pg_type::TYPSTORAGE, b'p')
            .set(pg_type::TYPTYPE, b'e')
            .set(pg_type::TYPCATEGORY, b'E')
            .set(pg_type::TYPARRAY, array);
        self.insert(&pg_type::TABLE, &row.build())?;
        self.create_array_type(array, oid, (name, schema, owner), Oid::INVALID)?;
        self.depend(ObjectAddress::ty(oid), ObjectAddress::schema(schema), Dependency::Normal)?;
        self.note_new(&AclKind::TYPE, ObjectAddress::ty(oid), owner, schema)?;
        for (i, label) in labels.iter().enumerate() {
            self.add_enum_label(oid, label, i as f32 + 1.0)?;
        }
        self.next_command()?;
        Ok(oid)
    }

    /// Enters a label. Returns the OID of its row.
    pub fn add_enum_label(&mut self, enum_type: Oid, label: &str, sort_order: f32) -> SqlResult<Oid> {
        let oid = self.new_oid();
        let row = RowBuilder::new(&pg_enum::TABLE)
            .set(pg_enum::OID, oid)
            .set(pg_enum::ENUMTYPID, enum_type)
            .set(pg_enum::ENUMSORTORDER, sort_order)
            .set(pg_enum::ENUMLABEL, label);
        self.insert(&pg_enum::TABLE, &row.build())?;
        self.next_command()?;
        Ok(oid)
    }

    /// Renames a label.
    pub fn rename_enum_label(&mut self, label: Oid, name: &str) -> SqlResult<()> {
        self.edit(&pg_enum::TABLE, pg_enum::PG_ENUM_OID_INDEX, &[label.into()], |row| {
            row[pg_enum::ENUMLABEL] = Datum::text(name);
        })?;
        self.next_command()
    }

    /// Makes a domain without its CHECK constraints. Returns its OID.
    pub fn create_domain(&mut self, new: &NewDomain) -> SqlResult<Oid> {
        let reader = self.reader();
        let key = [new.base.into()];
        let base = reader.find_one(&pg_type::TABLE, pg_type::PG_TYPE_OID_INDEX, &key)?;
        let (_, base) =
            base.ok_or_else(|| SqlError::internal(format!("cache lookup failed for type {}", new.base)))?;
        let (oid, array) = (self.new_oid(), self.new_oid());
        let names = (new.name.as_str(), new.schema, new.owner);
        let io = [DOMAIN_IN, base.oid(pg_type::TYPOUTPUT).0, DOMAIN_RECV, base.oid(pg_type::TYPSEND).0];
        let mut row = self.type_row(oid, names, io).build();
        for column in [
            pg_type::TYPLEN,
            pg_type::TYPBYVAL,
            pg_type::TYPALIGN,
            pg_type::TYPSTORAGE,
            pg_type::TYPCATEGORY,
            pg_type::TYPDELIM,
        ] {
            row[column] = base[column].clone();
        }
        row[pg_type::TYPTYPE] = Datum::Char(b'd');
        row[pg_type::TYPARRAY] = array.into();
        row[pg_type::TYPBASETYPE] = new.base.into();
        row[pg_type::TYPTYPMOD] = new.typmod.into();
        row[pg_type::TYPNDIMS] = new.dimensions.into();
        row[pg_type::TYPCOLLATION] = new.collation.into();
        row[pg_type::TYPNOTNULL] = new.not_null.into();
        set_default(&mut row, new.default.as_ref());
        self.insert(&pg_type::TABLE, &row)?;
        self.create_array_type(array, oid, names, new.collation)?;
        self.depend(ObjectAddress::ty(oid), ObjectAddress::schema(new.schema), Dependency::Normal)?;
        self.note_new(&AclKind::TYPE, ObjectAddress::ty(oid), new.owner, new.schema)?;
        self.depend(ObjectAddress::ty(oid), ObjectAddress::ty(new.base), Dependency::Normal)?;
        self.depend_on_collation(ObjectAddress::ty(oid), new.collation)?;
        self.next_command()?;
        Ok(oid)
    }

    /// Sets or removes a domain's default: the stored expression, and as SQL.
    pub fn set_domain_default(&mut self, domain: Oid, default: Option<&(String, String)>) -> SqlResult<()> {
        self.edit_type(domain, |row| set_default(row, default))
    }

    /// Changes the row of a type.
    pub fn edit_type(&mut self, ty: Oid, edit: impl FnOnce(&mut Row)) -> SqlResult<()> {
        self.edit(&pg_type::TABLE, pg_type::PG_TYPE_OID_INDEX, &[ty.into()], edit)?;
        self.next_command()
    }

    /// Enters a constraint of a domain: CHECK with its stored expression and what that needs, or NOT NULL. Returns its OID.
    pub fn add_domain_constraint(
        &mut self,
        (domain, schema): (Oid, Oid),
        name: &str,
        (check, needs): (Option<&str>, &[ObjectAddress]),
        validated: bool,
    ) -> SqlResult<Oid> {
        use pg_constraint as c;
        let oid = self.new_oid();
        let row = RowBuilder::new(&c::TABLE)
            .set(c::OID, oid)
            .set(c::CONNAME, name)
            .set(c::CONNAMESPACE, schema)
            .set(c::CONTYPE, if check.is_some() { b'c' } else { b'n' })
            .set(c::CONENFORCED, true)
            .set(c::CONVALIDATED, validated)
            .set(c::CONTYPID, domain)
            .set(c::CONFUPDTYPE, b' ')
            .set(c::CONFDELTYPE, b' ')
            .set(c::CONFMATCHTYPE, b' ')
            .set(c::CONISLOCAL, true)
            .set_some(c::CONBIN, check);
        self.insert(&c::TABLE, &row.build())?;
        self.depend(ObjectAddress::constraint(oid), ObjectAddress::ty(domain), Dependency::Auto)?;
        self.depend_on_all(ObjectAddress::constraint(oid), needs.iter().copied())?;
        self.next_command()?;
        Ok(oid)
    }

    /// Removes a type's row and its labels. What depends on it has been dropped.
    pub(super) fn drop_type(&mut self, oid: Oid) -> SqlResult<()> {
        let key = [oid.into()];
        self.delete_where(&pg_enum::TABLE, pg_enum::PG_ENUM_TYPID_LABEL_INDEX, &key, |_| true)?;
        self.delete_where(&pg_range::TABLE, pg_range::PG_RANGE_RNGTYPID_INDEX, &key, |_| true)?;
        self.delete_where(&pg_type::TABLE, pg_type::PG_TYPE_OID_INDEX, &key, |_| true)?;
        Ok(())
    }
}

fn set_default(row: &mut Row, default: Option<&(String, String)>) {
    let (stored, text) = match default {
        Some((stored, text)) => (Datum::text(stored), Datum::text(text)),
        None => (Datum::Null, Datum::Null),
    };
    row[pg_type::TYPDEFAULTBIN] = stored;
    row[pg_type::TYPDEFAULT] = text;
}

impl Changer<'_> {
    /// RENAME of a type; its array type follows.
    pub fn rename_type(&mut self, ty: Oid, name: &str) -> SqlResult<()> {
        let Some(def) = CatalogView::type_by_oid(&self.reader(), ty)? else { return Ok(()) };
        self.edit_type(ty, |row| row[pg_type::TYPNAME] = Datum::text(name))?;
        if def.array.is_valid() {
            let array = self.free_array_name(name, def.schema)?;
            self.edit_type(def.array, |row| row[pg_type::TYPNAME] = Datum::text(&array))?;
        }
        self.next_command()
    }

    /// Puts an enum, a domain or a range, its array type and the constraints of a domain into another schema.
    pub fn set_type_schema(&mut self, ty: Oid, schema: Oid) -> SqlResult<()> {
        let Some(def) = CatalogView::type_by_oid(&self.reader(), ty)? else { return Ok(()) };
        for ty in std::iter::once(ty).chain(Some(def.array).filter(|array| array.is_valid())) {
            self.edit_type(ty, |row| row[pg_type::TYPNAMESPACE] = schema.into())?;
        }
        for (constraint, ..) in self.reader().domain_constraints(ty)? {
            let index = pg_constraint::PG_CONSTRAINT_OID_INDEX;
            self.edit(&pg_constraint::TABLE, index, &[constraint.into()], |row| {
                row[pg_constraint::CONNAMESPACE] = schema.into();
            })?;
        }
        let [from, to] = [def.schema, schema].map(ObjectAddress::schema);
        self.move_dependency(ObjectAddress::ty(ty), from, to)
    }

    /// Makes a table one of a type, or of none.
    pub fn set_type_of_table(&mut self, table: Oid, ty: Option<Oid>) -> SqlResult<()> {
        let old = self.reader().type_of_table(table)?;
        let me = ObjectAddress::relation(table);
        if old.is_valid() {
            let key = [me.class.into(), table.into()];
            let index = pg_depend::PG_DEPEND_DEPENDER_INDEX;
            self.delete_where(&pg_depend::TABLE, index, &key, |row| {
                row.oid(pg_depend::REFCLASSID) == pg_type::TABLE.oid && row.oid(pg_depend::REFOBJID) == old
            })?;
        }
        if let Some(ty) = ty {
            self.depend(me, ObjectAddress::ty(ty), Dependency::Normal)?;
        }
        self.edit_relation(table, |row| row[pg_class::RELOFTYPE] = ty.unwrap_or(Oid::INVALID).into())
    }
}

impl crate::Reader<'_> {
    /// Constraints of a domain: OID, name, kind.
    pub fn domain_constraints(&self, domain: Oid) -> SqlResult<Vec<(Oid, String, u8)>> {
        use pg_constraint as c;
        let rows = self.find(&c::TABLE, c::PG_CONSTRAINT_CONTYPID_INDEX, &[domain.into()])?;
        let info = |row: &Row| (row.oid(c::OID), row.str(c::CONNAME).to_owned(), row.char(c::CONTYPE));
        Ok(rows.iter().map(|(_, row)| info(row)).collect())
    }

    /// The type that a table was made of; 0 for none.
    pub fn type_of_table(&self, table: Oid) -> SqlResult<Oid> {
        let row = self.object_row(&pg_class::TABLE, table)?;
        Ok(row.map_or(Oid::INVALID, |row| row.oid(pg_class::RELOFTYPE)))
    }

    /// Tables that were made of a type.
    pub fn typed_tables(&self, ty: Oid) -> SqlResult<Vec<Oid>> {
        let key = [pg_type::TABLE.oid.into(), ty.into()];
        let rows = self.find(&pg_depend::TABLE, pg_depend::PG_DEPEND_REFERENCE_INDEX, &key)?;
        let mut out = Vec::new();
        for (_, row) in rows {
            let (class, object) = (row.oid(pg_depend::CLASSID), row.oid(pg_depend::OBJID));
            let whole = class == pg_class::TABLE.oid && row.int(pg_depend::OBJSUBID) == 0;
            if whole && self.type_of_table(object)? == ty {
                out.push(object);
            }
        }
        Ok(out)
    }

    /// Columns of tables that hold values of a type, directly or inside others: table and column number.
    pub fn columns_of_type(&self, ty: Oid) -> SqlResult<Vec<(Oid, i16)>> {
        let key = [pg_type::TABLE.oid.into(), ty.into()];
        let rows = self.find(&pg_depend::TABLE, pg_depend::PG_DEPEND_REFERENCE_INDEX, &key)?;
        let mut out = Vec::new();
        for (_, row) in rows {
            let (class, object) = (row.oid(pg_depend::CLASSID), row.oid(pg_depend::OBJID));
            if class == pg_class::TABLE.oid && row.int(pg_depend::OBJSUBID) > 0 {
                out.push((object, row.int(pg_depend::OBJSUBID) as i16));
            } else if class == pg_type::TABLE.oid && object != ty {
                out.extend(self.columns_of_type(object)?);
            }
        }
        Ok(out)
    }
}

/// `record`'s functions, for composite types.
pub(super) const RECORD_IO: Io = [2290, 2291, 2402, 2403];
