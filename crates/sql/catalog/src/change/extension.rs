//! Extensions: their rows, their members, the languages that they bring along.
//!
//! While an extension is made ([`make_members_of`](crate::SessionCatalog::make_members_of)), every object that comes about is its member. Members go with the
//! extension, and cannot be dropped by themselves.

use base::{Oid, SqlResult};

use super::{Changer, Dependency, ObjectAddress};
use crate::database::Reader;
use crate::row::{Row, RowBuilder, RowExt};
use crate::system::{pg_depend, pg_extension, pg_language};

/// An extension to be made (`pg_extension`).
#[derive(Clone, Debug)]
pub struct NewExtension<'a> {
    /// Name.
    pub name: &'a str,
    /// Owner.
    pub owner: Oid,
    /// Schema of its members.
    pub schema: Oid,
    /// Whether they can go to another one.
    pub relocatable: bool,
    /// Version.
    pub version: &'a str,
    /// Extensions that it needs.
    pub requires: Vec<Oid>,
}

/// A procedural language to be made (`pg_language`).
#[derive(Clone, Debug)]
pub struct NewLanguage<'a> {
    /// Name.
    pub name: &'a str,
    /// Owner.
    pub owner: Oid,
    /// TRUSTED.
    pub trusted: bool,
    /// HANDLER.
    pub handler: Oid,
    /// INLINE, or 0.
    pub inline: Oid,
    /// VALIDATOR, or 0.
    pub validator: Oid,
}

impl ObjectAddress {
    /// An extension.
    pub fn extension(oid: Oid) -> ObjectAddress {
        ObjectAddress { class: pg_extension::TABLE.oid, object: oid, sub: 0 }
    }
}

impl Changer<'_> {
    /// Enters an extension. Returns its OID.
    pub fn create_extension(&mut self, new: &NewExtension<'_>) -> SqlResult<Oid> {
        use pg_extension as e;
        let oid = self.new_oid();
        let row = RowBuilder::new(&e::TABLE)
            .set(e::OID, oid)
            .set(e::EXTNAME, new.name)
            .set(e::EXTOWNER, new.owner)
            .set(e::EXTNAMESPACE, new.schema)
            .set(e::EXTRELOCATABLE, new.relocatable)
            .set(e::EXTVERSION, new.version);
        self.insert(&e::TABLE, &row.build())?;
        let me = ObjectAddress::extension(oid);
        self.depend_on_owner(me, new.owner)?;
        self.depend(me, ObjectAddress::schema(new.schema), Dependency::Normal)?;
        self.depend_on_all(me, new.requires.iter().map(|needed| ObjectAddress::extension(*needed)))?;
        self.next_command()?;
        Ok(oid)
    }

    /// Notes that a new object belongs to the extension that is being made, if one is.
    pub(super) fn join_extension(&mut self, object: ObjectAddress) -> SqlResult<()> {
        match self.session.members_of() {
            Some(extension) => {
                self.depend(object, ObjectAddress::extension(extension), Dependency::Extension)
            }
            None => Ok(()),
        }
    }

    /// Makes an object a member of an extension, with the privileges that are granted on it.
    pub fn add_member(&mut self, object: ObjectAddress, extension: Oid) -> SqlResult<()> {
        self.depend(object, ObjectAddress::extension(extension), Dependency::Extension)?;
        self.keep_initial_privileges(object)?;
        self.next_command()
    }

    /// Takes an object out of its extension.
    pub fn remove_member(&mut self, object: ObjectAddress) -> SqlResult<()> {
        let key = [object.class.into(), object.object.into()];
        self.delete_where(&pg_depend::TABLE, pg_depend::PG_DEPEND_DEPENDER_INDEX, &key, |row| {
            row.char(pg_depend::DEPTYPE) == b'e'
        })?;
        self.forget_initial_privileges(object)?;
        self.next_command()
    }

    /// Enters a procedural language.
    pub fn create_language(&mut self, new: &NewLanguage<'_>) -> SqlResult<()> {
        use pg_language as l;
        let oid = self.new_oid();
        let row = RowBuilder::new(&l::TABLE)
            .set(l::OID, oid)
            .set(l::LANNAME, new.name)
            .set(l::LANOWNER, new.owner)
            .set(l::LANISPL, true)
            .set(l::LANPLTRUSTED, new.trusted)
            .set(l::LANPLCALLFOID, new.handler)
            .set(l::LANINLINE, new.inline)
            .set(l::LANVALIDATOR, new.validator);
        self.insert(&l::TABLE, &row.build())?;
        let me = ObjectAddress { class: l::TABLE.oid, object: oid, sub: 0 };
        self.depend_on_owner(me, new.owner)?;
        self.join_extension(me)?;
        let functions = [new.handler, new.inline, new.validator];
        let functions = functions.into_iter().filter(|f| f.is_valid()).map(ObjectAddress::routine);
        self.depend_on_all(me, functions)?;
        self.next_command()
    }
}

impl Reader<'_> {
    /// The row of the extension with this name.
    pub fn extension(&self, name: &str) -> SqlResult<Option<Row>> {
        let index = pg_extension::PG_EXTENSION_NAME_INDEX;
        Ok(self.find_one(&pg_extension::TABLE, index, &[name.into()])?.map(|(_, row)| row))
    }

    /// The extension that an object is a member of.
    pub fn extension_of(&self, object: ObjectAddress) -> SqlResult<Option<Oid>> {
        let key = [object.class.into(), object.object.into()];
        let rows = self.find(&pg_depend::TABLE, pg_depend::PG_DEPEND_DEPENDER_INDEX, &key)?;
        let member = rows.iter().find(|(_, row)| row.char(pg_depend::DEPTYPE) == b'e');
        Ok(member.map(|(_, row)| row.oid(pg_depend::REFOBJID)))
    }

    /// The members of an extension, in the order in which they were made.
    pub fn members(&self, extension: Oid) -> SqlResult<Vec<ObjectAddress>> {
        let key = [pg_extension::TABLE.oid.into(), extension.into()];
        let rows = self.find(&pg_depend::TABLE, pg_depend::PG_DEPEND_REFERENCE_INDEX, &key)?;
        let members = rows.iter().filter(|(_, row)| row.char(pg_depend::DEPTYPE) == b'e');
        let mut members: Vec<_> = members
            .map(|(_, row)| ObjectAddress {
                class: row.oid(pg_depend::CLASSID),
                object: row.oid(pg_depend::OBJID),
                sub: 0,
            })
            .collect();
        members.sort_by_key(|member| member.object);
        Ok(members)
    }
}
