//! ACLs of objects, and the ACLs that new objects get (`pg_default_acl`).

use base::{Oid, SqlResult};
use tuple::Datum;
use types::acl::{self, AclItem};

use super::{Changer, Dependency, ObjectAddress};
use crate::authority::AclKind;
use crate::database::Reader;
use crate::row::{RowBuilder, RowExt};
use crate::system::{pg_default_acl as d, pg_depend, pg_parameter_acl as p};

/// Which default ACL: of whose objects, in which schema (0: in all), of which kind (`pg_default_acl.defaclobjtype`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct DefaultAcl {
    pub role: Oid,
    pub schema: Oid,
    pub letter: u8,
}

impl DefaultAcl {
    fn key(self) -> [Datum; 3] {
        [self.role.into(), self.schema.into(), Datum::Char(self.letter)]
    }
}

impl Reader<'_> {
    /// What ALTER DEFAULT PRIVILEGES said of a kind of a role's objects in a schema, or in all (0).
    pub fn default_acl(&self, role: Oid, schema: Oid, letter: u8) -> SqlResult<Option<Vec<AclItem>>> {
        let key = DefaultAcl { role, schema, letter }.key();
        let row = self.find_one(&d::TABLE, d::PG_DEFAULT_ACL_ROLE_NSP_OBJ_INDEX, &key)?;
        Ok(row.map(|(_, row)| acl::items(&row[d::DEFACLACL])))
    }

    /// OID and items of a setting's ACL.
    pub fn parameter_acl(&self, name: &str) -> SqlResult<Option<(Oid, Vec<AclItem>)>> {
        let row = self.find_one(&p::TABLE, p::PG_PARAMETER_ACL_PARNAME_INDEX, &[name.into()])?;
        Ok(row.map(|(_, row)| (row.oid(p::OID), acl::items(&row[p::PARACL]))))
    }

    /// The ACL that a new object of a role gets; `None`: the kind's default. `letter` is `acldefault`'s.
    pub fn acl_of_new(&self, letter: u8, owner: Oid, schema: Oid) -> SqlResult<Option<Vec<AclItem>>> {
        let noted = if letter == b's' { b'S' } else { letter };
        let general = self.default_acl(owner, Oid::INVALID, noted)?;
        let of_schema = match schema {
            Oid::INVALID => None,
            schema => self.default_acl(owner, schema, noted)?,
        };
        if general.is_none() && of_schema.is_none() {
            return Ok(None);
        }
        let built_in = acl::default_items(letter, owner)?;
        let mut items = general.unwrap_or_else(|| built_in.clone());
        for item in of_schema.unwrap_or_default() {
            acl::change(&mut items, acl::Change { item, grant: true, cascade: false }, owner, &|a, b| {
                a == b
            })?;
        }
        Ok((!acl::same_items(&items, &built_in)).then_some(items))
    }
}

impl Changer<'_> {
    /// Gives an object this ACL.
    pub fn set_acl(
        &mut self,
        kind: &AclKind,
        object: ObjectAddress,
        owner: Oid,
        items: &[AclItem],
    ) -> SqlResult<()> {
        let value = acl::array_of(items)?;
        self.edit(kind.table, kind.by_oid, &[object.object.into()], |row| row[kind.acl] = value)?;
        self.change_acl_dependencies(object, owner, items)?;
        self.note_initial_privileges(object, items)?;
        self.next_command()
    }

    /// Gives a setting this ACL; one that says nothing goes.
    pub fn set_parameter_acl(&mut self, name: &str, items: &[AclItem]) -> SqlResult<()> {
        let known = self.reader().parameter_acl(name)?.map(|(oid, _)| oid);
        let owner = crate::bootstrap::BOOTSTRAP_SUPERUSER;
        if acl::same_items(items, &acl::default_items(b'p', owner)?) {
            if let Some(oid) = known {
                self.delete_where(&p::TABLE, p::PG_PARAMETER_ACL_OID_INDEX, &[oid.into()], |_| true)?;
                self.forget_shared(ObjectAddress { class: p::TABLE.oid, object: oid, sub: 0 }, None)?;
            }
            return self.next_command();
        }
        let value = acl::array_of(items)?;
        let oid = match known {
            Some(oid) => {
                self.edit(&p::TABLE, p::PG_PARAMETER_ACL_OID_INDEX, &[oid.into()], |row| {
                    row[p::PARACL] = value;
                })?;
                oid
            }
            None => {
                let oid = self.new_oid();
                let row = RowBuilder::new(&p::TABLE).set(p::OID, oid).set(p::PARNAME, name);
                self.insert(&p::TABLE, &row.set(p::PARACL, value).build())?;
                oid
            }
        };
        let object = ObjectAddress { class: p::TABLE.oid, object: oid, sub: 0 };
        self.change_acl_dependencies(object, owner, items)?;
        self.next_command()
    }

    /// Notes the ACL of objects to come, or that it is as it is built in.
    pub fn set_default_acl(&mut self, place: DefaultAcl, items: Option<&[AclItem]>) -> SqlResult<()> {
        let index = d::PG_DEFAULT_ACL_ROLE_NSP_OBJ_INDEX;
        let known = self.reader().find_one(&d::TABLE, index, &place.key())?.map(|(_, row)| row.oid(d::OID));
        let Some(items) = items else {
            if let Some(oid) = known {
                self.drop_default_acl(oid)?;
            }
            return self.next_command();
        };
        let value = acl::array_of(items)?;
        let oid = match known {
            Some(oid) => {
                self.edit(&d::TABLE, d::PG_DEFAULT_ACL_OID_INDEX, &[oid.into()], |row| {
                    row[d::DEFACLACL] = value;
                })?;
                oid
            }
            None => self.add_default_acl(place, value)?,
        };
        let object = ObjectAddress { class: d::TABLE.oid, object: oid, sub: 0 };
        self.change_acl_dependencies(object, place.role, items)?;
        self.next_command()
    }

    fn add_default_acl(&mut self, place: DefaultAcl, items: Datum) -> SqlResult<Oid> {
        let oid = self.new_oid();
        let row = RowBuilder::new(&d::TABLE)
            .set(d::OID, oid)
            .set(d::DEFACLROLE, place.role)
            .set(d::DEFACLNAMESPACE, place.schema)
            .set(d::DEFACLOBJTYPE, place.letter)
            .set(d::DEFACLACL, items);
        self.insert(&d::TABLE, &row.build())?;
        let object = ObjectAddress { class: d::TABLE.oid, object: oid, sub: 0 };
        self.depend_on_owner(object, place.role)?;
        if place.schema.is_valid() {
            self.depend(object, ObjectAddress::schema(place.schema), Dependency::Auto)?;
        }
        Ok(oid)
    }

    fn drop_default_acl(&mut self, oid: Oid) -> SqlResult<()> {
        let object = ObjectAddress { class: d::TABLE.oid, object: oid, sub: 0 };
        self.delete_where(&d::TABLE, d::PG_DEFAULT_ACL_OID_INDEX, &[oid.into()], |_| true)?;
        self.forget_shared(object, None)?;
        let key = [object.class.into(), object.object.into()];
        self.delete_where(&pg_depend::TABLE, pg_depend::PG_DEPEND_DEPENDER_INDEX, &key, |_| true)?;
        Ok(())
    }

    /// Records the owner of a new object and the extension that it belongs to, and gives it the ACL that its owner's objects get there.
    pub(super) fn note_new(
        &mut self,
        kind: &AclKind,
        object: ObjectAddress,
        owner: Oid,
        schema: Oid,
    ) -> SqlResult<()> {
        self.depend_on_owner(object, owner)?;
        self.join_extension(object)?;
        match self.reader().acl_of_new(kind.letter, owner, schema)? {
            Some(items) => {
                self.next_command()?;
                self.set_acl(kind, object, owner, &items)
            }
            None => Ok(()),
        }
    }
}
