//! Statistics objects and what ANALYZE learnt for them, in the form that the planner reads.

use std::sync::Arc;

use base::{Oid, SqlResult};
use tuple::Datum;
use types::extended_statistics::{Combination, CommonItems, combinations};

use crate::database::Reader;
use crate::row::{Row, RowExt};
use crate::stats::ColumnStatistics;
use crate::stored_list;
use crate::system::{pg_statistic_ext as s, pg_statistic_ext_data as d};
use crate::vectors;

/// A statistics object of a table (`CREATE STATISTICS`).
#[derive(Clone, Debug, PartialEq)]
pub struct StatisticsObject {
    /// OID.
    pub oid: Oid,
    /// Name.
    pub name: String,
    /// Schema.
    pub schema: Oid,
    /// Columns, ascending.
    pub keys: Vec<i16>,
    /// Letters of what is asked for: d (distinct combinations), f (dependencies), m (most common ones), e (of expressions).
    pub kinds: Vec<u8>,
    /// Stored expressions.
    pub expressions: Vec<Arc<str>>,
    /// Entries wanted in lists, if that was said.
    pub target: Option<i16>,
}

/// What ANALYZE learnt for a statistics object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExtendedStatistics {
    /// How many different ones there are of combinations of columns.
    pub distinct: Vec<Combination>,
    /// How far columns decide the last one.
    pub dependencies: Vec<Combination>,
    /// The most common combinations of all columns.
    pub common: CommonItems,
    /// What is known of each expression.
    pub expressions: Vec<Option<Arc<ColumnStatistics>>>,
}

impl StatisticsObject {
    /// What may be asked for of several columns: names and letters.
    pub const KINDS: [(&'static str, u8); 3] = [("ndistinct", b'd'), ("dependencies", b'f'), ("mcv", b'm')];

    /// Reads a row of `pg_statistic_ext`.
    pub fn from_row(row: &Row) -> StatisticsObject {
        let letter = |d: Datum| if let Datum::Char(c) = d { c } else { 0 };
        StatisticsObject {
            oid: row.oid(s::OID),
            name: row.str(s::STXNAME).to_owned(),
            schema: row.oid(s::STXNAMESPACE),
            keys: vectors::int2s(&row[s::STXKEYS]),
            kinds: vectors::elements(&row[s::STXKIND]).into_iter().map(letter).collect(),
            expressions: row.opt_str(s::STXEXPRS).map_or(Vec::new(), stored_list::split),
            target: match row[s::STXSTATTARGET] {
                Datum::Int2(target) => Some(target),
                _ => None,
            },
        }
    }

    /// Whether something is asked for.
    pub fn has(&self, kind: u8) -> bool {
        self.kinds.contains(&kind)
    }
}

impl ExtendedStatistics {
    fn from_row(row: &Row) -> ExtendedStatistics {
        let payload = |column: usize| match &row[column] {
            Datum::Bytes(bytes) => bytes.as_slice(),
            _ => &[],
        };
        let of_expression = |element: &Datum| {
            let Datum::Bytes(bytes) = element else { return None };
            let fields = types::record::Row::from_payload(bytes).fields;
            let row: Row = fields.into_iter().map(|(_, value)| value).collect();
            (row.len() == crate::system::pg_statistic::TABLE.columns.len())
                .then(|| Arc::new(ColumnStatistics::from_row(&row)))
        };
        ExtendedStatistics {
            distinct: combinations(payload(d::STXDNDISTINCT)),
            dependencies: combinations(payload(d::STXDDEPENDENCIES)),
            common: CommonItems::from_payload(payload(d::STXDMCV)),
            expressions: vectors::elements(&row[d::STXDEXPR]).iter().map(of_expression).collect(),
        }
    }
}

impl Reader<'_> {
    /// The statistics objects of a table, by OID.
    pub(crate) fn load_statistics_objects(&self, table: Oid) -> SqlResult<Vec<Arc<StatisticsObject>>> {
        // initdb makes none, and the catalog of them is one of those that it makes.
        if table.is_pinned() {
            return Ok(Vec::new());
        }
        let rows = self.find(&s::TABLE, s::PG_STATISTIC_EXT_RELID_INDEX, &[table.into()])?;
        let mut all: Vec<_> = rows.iter().map(|(_, row)| Arc::new(StatisticsObject::from_row(row))).collect();
        all.sort_unstable_by_key(|object| object.oid);
        Ok(all)
    }

    /// What ANALYZE learnt for a statistics object.
    pub fn extended_statistics(&self, object: Oid) -> SqlResult<Option<Arc<ExtendedStatistics>>> {
        self.cached(
            |e| e.extended.get(&object).cloned(),
            || {
                let index = d::PG_STATISTIC_EXT_DATA_STXOID_INH_INDEX;
                let row = self.find_one(&d::TABLE, index, &[object.into()])?;
                Ok(row.map(|(_, row)| Arc::new(ExtendedStatistics::from_row(&row))))
            },
            |e, known| {
                e.extended.insert(object, known);
            },
        )
    }
}
