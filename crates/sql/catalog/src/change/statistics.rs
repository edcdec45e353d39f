//! Statistics objects (`pg_statistic_ext`), and what ANALYZE learns for them (`pg_statistic_ext_data`).

use base::{Oid, SqlResult};
use tuple::Datum;

use super::{Changer, Dependency, ObjectAddress};
use crate::database::Reader;
use crate::row::{Row, RowBuilder};
use crate::stored_list;
use crate::system::{pg_statistic_ext as s, pg_statistic_ext_data as d};
use crate::vectors;

/// A statistics object to be made.
#[derive(Clone, Debug)]
pub struct NewStatistics {
    /// Name.
    pub name: String,
    /// Schema.
    pub schema: Oid,
    /// Owner.
    pub owner: Oid,
    /// The table that it is about.
    pub table: Oid,
    /// Columns, ascending.
    pub keys: Vec<i16>,
    /// Letters of `pg_statistic_ext.stxkind`.
    pub kinds: Vec<u8>,
    /// Stored expressions.
    pub expressions: Vec<String>,
    /// Columns that these use.
    pub used: Vec<i16>,
    /// What else they need.
    pub needs: Vec<ObjectAddress>,
}

/// What ANALYZE learnt for an object; NULL of what is not asked for or not known.
#[derive(Clone, Debug, Default)]
pub struct StatisticsData {
    /// `pg_ndistinct`
    pub distinct: Datum,
    /// `pg_dependencies`
    pub dependencies: Datum,
    /// `pg_mcv_list`
    pub common: Datum,
    /// `pg_statistic[]`, of the expressions.
    pub expressions: Datum,
}

impl ObjectAddress {
    /// A statistics object.
    pub fn statistics(oid: Oid) -> ObjectAddress {
        ObjectAddress { class: s::TABLE.oid, object: oid, sub: 0 }
    }
}

impl Changer<'_> {
    /// Enters a statistics object. Returns its OID.
    pub fn create_statistics(&mut self, new: &NewStatistics) -> SqlResult<Oid> {
        let oid = self.new_oid();
        let expressions = (!new.expressions.is_empty()).then(|| stored_list::join(&new.expressions));
        let row = RowBuilder::new(&s::TABLE)
            .set(s::OID, oid)
            .set(s::STXRELID, new.table)
            .set(s::STXNAME, &*new.name)
            .set(s::STXNAMESPACE, new.schema)
            .set(s::STXOWNER, new.owner)
            .set(s::STXKEYS, vectors::int2_vector(&new.keys))
            .set(s::STXKIND, vectors::char_array(&new.kinds)?)
            .set_some(s::STXEXPRS, expressions.as_deref());
        self.insert(&s::TABLE, &row.build())?;
        let me = ObjectAddress::statistics(oid);
        let mut columns: Vec<i16> = new.keys.iter().chain(&new.used).copied().filter(|n| *n > 0).collect();
        columns.sort_unstable();
        columns.dedup();
        if columns.is_empty() {
            self.depend(me, ObjectAddress::relation(new.table), Dependency::Auto)?;
        }
        for number in columns {
            self.depend(me, ObjectAddress::column(new.table, number), Dependency::Auto)?;
        }
        self.depend_on_all(me, new.needs.iter().copied())?;
        self.depend(me, ObjectAddress::schema(new.schema), Dependency::Normal)?;
        self.depend_on_owner(me, new.owner)?;
        self.next_command()?;
        Ok(oid)
    }

    /// ALTER STATISTICS ... SET STATISTICS: entries of lists; none for the default.
    pub fn set_statistics_target(&mut self, object: Oid, target: Option<i16>) -> SqlResult<()> {
        self.edit_object(ObjectAddress::statistics(object), |row| {
            row[s::STXSTATTARGET] = target.map_or(Datum::Null, Datum::Int2);
        })
    }

    /// Replaces what is known for a statistics object.
    pub fn set_statistics_data(&mut self, object: Oid, data: StatisticsData) -> SqlResult<()> {
        let row = RowBuilder::new(&d::TABLE)
            .set(d::STXOID, object)
            .set(d::STXDINHERIT, false)
            .set(d::STXDNDISTINCT, data.distinct)
            .set(d::STXDDEPENDENCIES, data.dependencies)
            .set(d::STXDMCV, data.common)
            .set(d::STXDEXPR, data.expressions)
            .build();
        let key = [object.into(), false.into()];
        match self.reader().find_one(&d::TABLE, d::PG_STATISTIC_EXT_DATA_STXOID_INH_INDEX, &key)? {
            Some((place, old)) => self.update(&d::TABLE, place, &old, &row)?,
            None => self.insert(&d::TABLE, &row)?,
        }
        self.next_command()
    }

    /// Forgets what is known for a statistics object.
    pub fn forget_statistics_data(&mut self, object: Oid) -> SqlResult<()> {
        self.delete_where(&d::TABLE, d::PG_STATISTIC_EXT_DATA_STXOID_INH_INDEX, &[object.into()], |_| true)?;
        Ok(())
    }
}

impl Reader<'_> {
    /// The statistics object with this name in a schema.
    pub fn statistics_row(&self, name: &str, schema: Oid) -> SqlResult<Option<Row>> {
        let key = [name.into(), schema.into()];
        Ok(self.find_one(&s::TABLE, s::PG_STATISTIC_EXT_NAME_INDEX, &key)?.map(|(_, row)| row))
    }
}
