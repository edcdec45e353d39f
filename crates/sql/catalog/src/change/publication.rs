//! Publications, and the tables and schemas in them.

use base::{Oid, SqlResult};
use tuple::Datum;

use super::{Changer, Dependency, ObjectAddress};
use crate::publication::Publication;
use crate::row::{RowBuilder, RowExt};
use crate::system::{pg_publication as p, pg_publication_namespace as s, pg_publication_rel as r};
use crate::vectors;

/// A table to be entered into a publication.
#[derive(Clone, Debug)]
pub struct NewPublishedTable {
    /// The table.
    pub relation: Oid,
    /// The columns that are published, ascending; none: all.
    pub columns: Option<Vec<i16>>,
    /// WHERE, as `analyze::stored` writes it.
    pub filter: Option<String>,
    /// Columns that the filter uses.
    pub used: Vec<i16>,
    /// What else it needs.
    pub needs: Vec<ObjectAddress>,
}

impl ObjectAddress {
    /// A publication.
    pub fn publication(oid: Oid) -> ObjectAddress {
        ObjectAddress { class: p::TABLE.oid, object: oid, sub: 0 }
    }

    /// A table in a publication.
    fn published_table(oid: Oid) -> ObjectAddress {
        ObjectAddress { class: r::TABLE.oid, object: oid, sub: 0 }
    }

    /// A schema in a publication.
    fn published_schema(oid: Oid) -> ObjectAddress {
        ObjectAddress { class: s::TABLE.oid, object: oid, sub: 0 }
    }
}

impl Changer<'_> {
    /// Enters a publication without its tables and schemas; the OID in `new` does not count. Returns the OID.
    pub fn create_publication(&mut self, new: &Publication, owner: Oid) -> SqlResult<Oid> {
        let oid = self.new_oid();
        let row = RowBuilder::new(&p::TABLE)
            .set(p::OID, oid)
            .set(p::PUBNAME, &*new.name)
            .set(p::PUBOWNER, owner)
            .set(p::PUBALLTABLES, new.all_tables)
            .set(p::PUBINSERT, new.insert)
            .set(p::PUBUPDATE, new.update)
            .set(p::PUBDELETE, new.delete)
            .set(p::PUBTRUNCATE, new.truncate)
            .set(p::PUBVIAROOT, new.via_root)
            .set(p::PUBGENCOLS, generated_letter(new.generated));
        self.insert(&p::TABLE, &row.build())?;
        self.depend_on_owner(ObjectAddress::publication(oid), owner)?;
        self.next_command()?;
        Ok(oid)
    }

    /// ALTER PUBLICATION ... SET (...).
    pub fn set_publication_options(&mut self, new: &Publication) -> SqlResult<()> {
        self.edit_object(ObjectAddress::publication(new.oid), |row| {
            row[p::PUBINSERT] = new.insert.into();
            row[p::PUBUPDATE] = new.update.into();
            row[p::PUBDELETE] = new.delete.into();
            row[p::PUBTRUNCATE] = new.truncate.into();
            row[p::PUBVIAROOT] = new.via_root.into();
            row[p::PUBGENCOLS] = Datum::Char(generated_letter(new.generated));
        })
    }

    /// Enters a table into a publication.
    pub fn publish_table(&mut self, publication: Oid, new: &NewPublishedTable) -> SqlResult<()> {
        let oid = self.new_oid();
        let mut row = RowBuilder::new(&r::TABLE)
            .set(r::OID, oid)
            .set(r::PRPUBID, publication)
            .set(r::PRRELID, new.relation)
            .set_some(r::PRQUAL, new.filter.as_deref());
        if let Some(columns) = &new.columns {
            row = row.set(r::PRATTRS, vectors::int2_vector(columns));
        }
        self.insert(&r::TABLE, &row.build())?;
        let me = ObjectAddress::published_table(oid);
        self.depend(me, ObjectAddress::publication(publication), Dependency::Auto)?;
        self.depend(me, ObjectAddress::relation(new.relation), Dependency::Auto)?;
        let mut columns: Vec<i16> = new.columns.iter().flatten().chain(&new.used).copied().collect();
        columns.sort_unstable();
        columns.dedup();
        for number in columns {
            self.depend(me, ObjectAddress::column(new.relation, number), Dependency::Normal)?;
        }
        self.depend_on_all(me, new.needs.iter().copied())?;
        self.next_command()
    }

    /// Enters a schema into a publication.
    pub fn publish_schema(&mut self, publication: Oid, schema: Oid) -> SqlResult<()> {
        let oid = self.new_oid();
        let row =
            RowBuilder::new(&s::TABLE).set(s::OID, oid).set(s::PNPUBID, publication).set(s::PNNSPID, schema);
        self.insert(&s::TABLE, &row.build())?;
        let me = ObjectAddress::published_schema(oid);
        self.depend(me, ObjectAddress::publication(publication), Dependency::Auto)?;
        self.depend(me, ObjectAddress::schema(schema), Dependency::Auto)?;
        self.next_command()
    }

    /// Takes a table out of a publication; false if it is not in it.
    pub fn unpublish_table(&mut self, publication: Oid, relation: Oid) -> SqlResult<bool> {
        let key = [relation.into(), publication.into()];
        let index = r::PG_PUBLICATION_REL_PRRELID_PRPUBID_INDEX;
        let Some((_, row)) = self.reader().find_one(&r::TABLE, index, &key)? else { return Ok(false) };
        self.drop_one(ObjectAddress::published_table(row.oid(r::OID)))?;
        Ok(true)
    }

    /// Takes a schema out of a publication; false if it is not in it.
    pub fn unpublish_schema(&mut self, publication: Oid, schema: Oid) -> SqlResult<bool> {
        let key = [schema.into(), publication.into()];
        let index = s::PG_PUBLICATION_NAMESPACE_PNNSPID_PNPUBID_INDEX;
        let Some((_, row)) = self.reader().find_one(&s::TABLE, index, &key)? else { return Ok(false) };
        self.drop_one(ObjectAddress::published_schema(row.oid(s::OID)))?;
        Ok(true)
    }
}

fn generated_letter(generated: bool) -> u8 {
    if generated { b's' } else { b'n' }
}
