//! Conversions between encodings that users make (`pg_conversion`).

use base::{Encoding, Oid, SqlResult};

use super::{Changer, Dependency, ObjectAddress};
use crate::database::Reader;
use crate::row::{Row, RowBuilder, RowExt};
use crate::system::pg_conversion as c;

/// A conversion to be made.
#[derive(Clone, Debug)]
pub struct NewConversion {
    /// Name.
    pub name: String,
    /// Schema.
    pub schema: Oid,
    /// Owner.
    pub owner: Oid,
    /// Source.
    pub from: Encoding,
    /// Destination.
    pub to: Encoding,
    /// Its function.
    pub function: Oid,
    /// DEFAULT
    pub default: bool,
}

impl ObjectAddress {
    /// A conversion.
    pub fn conversion(oid: Oid) -> ObjectAddress {
        ObjectAddress { class: c::TABLE.oid, object: oid, sub: 0 }
    }
}

impl Changer<'_> {
    /// Enters a conversion.
    pub fn create_conversion(&mut self, new: &NewConversion) -> SqlResult<()> {
        let oid = self.new_oid();
        let row = RowBuilder::new(&c::TABLE)
            .set(c::OID, oid)
            .set(c::CONNAME, &*new.name)
            .set(c::CONNAMESPACE, new.schema)
            .set(c::CONOWNER, new.owner)
            .set(c::CONFORENCODING, new.from.number())
            .set(c::CONTOENCODING, new.to.number())
            .set(c::CONPROC, new.function)
            .set(c::CONDEFAULT, new.default);
        self.insert(&c::TABLE, &row.build())?;
        let me = ObjectAddress::conversion(oid);
        self.depend(me, ObjectAddress::routine(new.function), Dependency::Normal)?;
        self.depend(me, ObjectAddress::schema(new.schema), Dependency::Normal)?;
        self.depend_on_owner(me, new.owner)?;
        self.join_extension(me)?;
        self.next_command()
    }
}

impl Reader<'_> {
    /// The conversion with this name in a schema.
    pub fn conversion_row(&self, name: &str, schema: Oid) -> SqlResult<Option<Row>> {
        let key = [name.into(), schema.into()];
        let row = self.find_one(&c::TABLE, c::PG_CONVERSION_NAME_NSP_INDEX, &key)?;
        Ok(row.map(|(_, row)| row))
    }

    /// Whether a schema has a default conversion between two encodings.
    pub fn has_default_conversion(&self, schema: Oid, from: Encoding, to: Encoding) -> SqlResult<bool> {
        let key = [schema.into(), from.number().into(), to.number().into()];
        let rows = self.find(&c::TABLE, c::PG_CONVERSION_DEFAULT_INDEX, &key)?;
        Ok(rows.iter().any(|(_, row)| row.bool(c::CONDEFAULT)))
    }
}
