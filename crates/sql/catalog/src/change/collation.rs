//! Collations that users make (`pg_collation`).

use base::{Oid, SqlResult};

use super::{Changer, Dependency, ObjectAddress};
use crate::database::Reader;
use crate::row::{Row, RowBuilder, RowExt};
use crate::system::pg_collation as c;

/// A collation to be made.
#[derive(Clone, Debug)]
pub struct NewCollation {
    /// Name.
    pub name: String,
    /// Schema.
    pub schema: Oid,
    /// Owner.
    pub owner: Oid,
    /// `collprovider`
    pub provider: u8,
    /// DETERMINISTIC
    pub deterministic: bool,
    /// The encoding of texts that it is for; -1 for any.
    pub encoding: i32,
    /// `collcollate`, `collctype` of the C library.
    pub libc: Option<(String, String)>,
    /// `colllocale` of another provider.
    pub locale: Option<String>,
    /// `collversion`
    pub version: Option<String>,
}

impl ObjectAddress {
    /// A collation.
    pub fn collation(oid: Oid) -> ObjectAddress {
        ObjectAddress { class: c::TABLE.oid, object: oid, sub: 0 }
    }
}

impl Changer<'_> {
    /// Enters a collation.
    pub fn create_collation(&mut self, new: &NewCollation) -> SqlResult<()> {
        let oid = self.new_oid();
        let (collate, ctype) = new.libc.as_ref().map(|(a, b)| (&**a, &**b)).unzip();
        let row = RowBuilder::new(&c::TABLE)
            .set(c::OID, oid)
            .set(c::COLLNAME, &*new.name)
            .set(c::COLLNAMESPACE, new.schema)
            .set(c::COLLOWNER, new.owner)
            .set(c::COLLPROVIDER, new.provider)
            .set(c::COLLISDETERMINISTIC, new.deterministic)
            .set(c::COLLENCODING, new.encoding)
            .set_some(c::COLLCOLLATE, collate)
            .set_some(c::COLLCTYPE, ctype)
            .set_some(c::COLLLOCALE, new.locale.as_deref())
            .set_some(c::COLLVERSION, new.version.as_deref());
        self.insert(&c::TABLE, &row.build())?;
        let me = ObjectAddress::collation(oid);
        self.depend(me, ObjectAddress::schema(new.schema), Dependency::Normal)?;
        self.depend_on_owner(me, new.owner)?;
        self.join_extension(me)?;
        self.next_command()
    }

    /// Notes the version of a collation's order.
    pub fn set_collation_version(&mut self, oid: Oid, version: &str) -> SqlResult<()> {
        self.edit_object(ObjectAddress::collation(oid), |row| row[c::COLLVERSION] = version.into())
    }

    /// Notes that an object needs a collation.
    pub(crate) fn depend_on_collation(&mut self, me: ObjectAddress, collation: Oid) -> SqlResult<()> {
        match collation.is_valid() && !collation.is_pinned() {
            true => self.depend(me, ObjectAddress::collation(collation), Dependency::Normal),
            false => Ok(()),
        }
    }
}

impl Reader<'_> {
    /// The collation with this name in a schema that is for this encoding or for any.
    pub fn collation_row(&self, name: &str, schema: Oid, encoding: i32) -> SqlResult<Option<Row>> {
        let rows = self.find(&c::TABLE, c::PG_COLLATION_NAME_ENC_NSP_INDEX, &[name.into()])?;
        let here = |row: &Row| {
            row.oid(c::COLLNAMESPACE) == schema
                && (encoding == -1 || [-1, encoding].contains(&row.int(c::COLLENCODING)))
        };
        Ok(rows.into_iter().map(|(_, row)| row).find(here))
    }
}
