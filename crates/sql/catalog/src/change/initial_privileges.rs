//! What was granted on an object when it came about with the server or with an extension (`pg_init_privs`): pg_dump tells only what differs from it.
//!
//! Rows of the server's own objects are written once, when a directory is made. While an extension is made, each change of a privilege is noted.

use base::{Oid, SqlResult};
use tuple::Datum;
use types::acl::{self, AclItem};

use super::{Changer, ObjectAddress, SharedDependency};
use crate::authority::AclKind;
use crate::database::Reader;
use crate::row::RowBuilder;
use crate::system::{pg_class, pg_init_privs as i};
use crate::view::CatalogView;

/// `pg_init_privs.privtype` of what an extension has granted.
const OF_EXTENSION: Datum = Datum::Char(b'e');

fn key(object: ObjectAddress) -> [Datum; 3] {
    [object.object.into(), object.class.into(), i32::from(object.sub).into()]
}

impl Reader<'_> {
    /// Privileges that are granted on an object, and on the columns of a relation.
    fn granted(&self, object: ObjectAddress) -> SqlResult<Vec<(ObjectAddress, Vec<AclItem>)>> {
        if object.class == pg_class::TABLE.oid {
            let Some(table) = self.relation_by_oid(object.object)? else { return Ok(Vec::new()) };
            let whole = table.grants.relation.iter().map(|items| (object, items));
            let columns = table.grants.columns.iter();
            let columns = columns.map(|(number, items)| (ObjectAddress::column(table.oid, *number), items));
            return Ok(whole.chain(columns).map(|(of, items)| (of, items.clone())).collect());
        }
        let Some(kind) = AclKind::of_catalog(object.class) else { return Ok(Vec::new()) };
        let row = self.find_one(kind.table, kind.by_oid, &[object.object.into()])?;
        let items = row.and_then(|(_, row)| acl::optional_items(&row[kind.acl]));
        Ok(items.into_iter().map(|items| (object, items)).collect())
    }
}

impl Changer<'_> {
    /// Notes an ACL that an extension's script gives an object, if one runs. No items: none is its own.
    pub(super) fn note_initial_privileges(
        &mut self,
        object: ObjectAddress,
        items: &[AclItem],
    ) -> SqlResult<()> {
        match self.session.members_of() {
            Some(_) => self.set_initial_privileges(object, items),
            None => Ok(()),
        }
    }

    /// Notes what is granted on an object that an extension gets.
    pub(super) fn keep_initial_privileges(&mut self, object: ObjectAddress) -> SqlResult<()> {
        let granted = self.reader().granted(object)?;
        granted.iter().try_for_each(|(of, items)| self.set_initial_privileges(*of, items))
    }

    fn set_initial_privileges(&mut self, object: ObjectAddress, items: &[AclItem]) -> SqlResult<()> {
        self.delete_where(&i::TABLE, i::PG_INIT_PRIVS_O_C_O_INDEX, &key(object), |_| true)?;
        if !items.is_empty() {
            let row = RowBuilder::new(&i::TABLE)
                .set(i::OBJOID, object.object)
                .set(i::CLASSOID, object.class)
                .set(i::OBJSUBID, i32::from(object.sub))
                .set(i::PRIVTYPE, OF_EXTENSION)
                .set(i::INITPRIVS, acl::array_of(items)?);
            self.insert(&i::TABLE, &row.build())?;
        }
        // The owner too: the object may get another one.
        self.depend_on_named_roles(object, Oid::INVALID, items, SharedDependency::InitialAcl)
    }

    /// Forgets what an object's privileges were at first, a relation's columns with it.
    pub(super) fn forget_initial_privileges(&mut self, object: ObjectAddress) -> SqlResult<()> {
        let columns = if object.sub == 0 { 2 } else { 3 };
        self.delete_where(&i::TABLE, i::PG_INIT_PRIVS_O_C_O_INDEX, &key(object)[..columns], |_| true)?;
        self.forget_shared(object, Some(SharedDependency::InitialAcl))
    }

    /// Puts another role in the place of one that stands in an object's first privileges, or nobody.
    pub fn replace_in_initial_privileges(
        &mut self,
        object: ObjectAddress,
        role: Oid,
        by: Option<Oid>,
    ) -> SqlResult<()> {
        let row = self.reader().find_one(&i::TABLE, i::PG_INIT_PRIVS_O_C_O_INDEX, &key(object))?;
        let Some((_, row)) = row else { return Ok(()) };
        let mut items = acl::items(&row[i::INITPRIVS]);
        match by {
            Some(other) => items = acl::new_owner(&items, role, other),
            None => items.retain(|item| item.grantee != role && item.grantor != role),
        }
        self.set_initial_privileges(object, &items)?;
        self.next_command()
    }
}
