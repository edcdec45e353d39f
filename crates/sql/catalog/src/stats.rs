//! Statistics of columns (`pg_statistic`) in the form that the planner reads.

use base::{Oid, SqlResult};
use tuple::Datum;
use types::oids;

use crate::row::{Row, RowBuilder, RowExt};
use crate::system::pg_statistic as s;
use crate::vectors;

/// What ANALYZE learnt of one column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColumnStatistics {
    /// Share of NULLs.
    pub null_fraction: f64,
    /// Average width in bytes.
    pub width: f64,
    /// Number of distinct values; negative: minus the share of rows that are distinct; 0: unknown.
    pub distinct: f64,
    /// Most common values and the share of rows of each.
    pub common: Vec<(Datum, f64)>,
    /// Bounds of buckets with equally many of the other rows.
    pub histogram: Vec<Datum>,
    /// Correlation of column order and row order, if the type has an order.
    pub correlation: Option<f64>,
    /// Most common lexemes of documents.
    pub lexemes: Option<CommonLexemes>,
}

/// Most common lexemes of a column of `tsvector`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CommonLexemes {
    /// Each with the share of the rows that are not NULL which have it, in the order of length, then of bytes.
    pub shares: Vec<(Datum, f32)>,
    /// The least of these shares.
    pub least: f32,
    /// The greatest of them.
    pub most: f32,
}

/// `stakind` of most common values.
const KIND_MCV: i32 = 1;
/// `stakind` of a histogram.
const KIND_HISTOGRAM: i32 = 2;
/// `stakind` of the correlation.
const KIND_CORRELATION: i32 = 3;
/// `stakind` of most common elements.
const KIND_ELEMENTS: i32 = 4;
/// `pg_operator.oid` of equality of `text`.
const TEXT_EQUALS: Oid = Oid(98);
/// Number of slots in a row.
const SLOTS: usize = 5;

impl ColumnStatistics {
    /// Number of distinct values in a table of `rows` rows.
    pub fn distinct_values(&self, rows: f64) -> Option<f64> {
        match self.distinct {
            d if d > 0.0 => Some(d.min(rows.max(1.0))),
            d if d < 0.0 => Some((-d * rows).max(1.0)),
            _ => None,
        }
    }

    /// Share of rows in `common`.
    pub fn common_share(&self) -> f64 {
        self.common.iter().map(|(_, share)| share).sum()
    }

    /// Reads a row of `pg_statistic`.
    pub fn from_row(row: &Row) -> ColumnStatistics {
        let float = |column: usize| match row[column] {
            Datum::Float4(f) => f64::from(f),
            _ => 0.0,
        };
        let mut stats = ColumnStatistics {
            null_fraction: float(s::STANULLFRAC),
            width: f64::from(row.int(s::STAWIDTH)),
            distinct: float(s::STADISTINCT),
            ..ColumnStatistics::default()
        };
        for slot in 0..SLOTS {
            let numbers = || floats(&row[s::STANUMBERS1 + slot]);
            let values = || vectors::elements(&row[s::STAVALUES1 + slot]);
            match row.int(s::STAKIND1 + slot) {
                KIND_MCV => {
                    stats.common = values().into_iter().zip(numbers().into_iter().map(f64::from)).collect();
                }
                KIND_HISTOGRAM => stats.histogram = values(),
                KIND_CORRELATION => stats.correlation = numbers().first().copied().map(f64::from),
                KIND_ELEMENTS => stats.lexemes = lexemes(values(), &numbers()),
                _ => {}
            }
        }
        stats
    }

    /// The row of `pg_statistic` for column `column` of `table`.
    pub fn to_row(
        &self,
        table: Oid,
        column: i16,
        type_oid: Oid,
        collation: Oid,
        equals: Oid,
        less: Oid,
    ) -> SqlResult<Row> {
        let mut row = RowBuilder::new(&s::TABLE)
            .set(s::STARELID, table)
            .set(s::STAATTNUM, column)
            .set(s::STANULLFRAC, self.null_fraction as f32)
            .set(s::STAWIDTH, self.width as i32)
            .set(s::STADISTINCT, self.distinct as f32);
        let mut slot = 0;
        let mut add = |row: RowBuilder,
                       (kind, type_oid, collation): (i32, Oid, Oid),
                       op: Oid,
                       numbers: Vec<f32>,
                       values: Vec<Datum>|
         -> SqlResult<RowBuilder> {
            let mut row = row
                .set(s::STAKIND1 + slot, kind as i16)
                .set(s::STAOP1 + slot, op)
                .set(s::STACOLL1 + slot, collation);
            if !numbers.is_empty() {
                row = row.set(s::STANUMBERS1 + slot, float_array(&numbers)?);
            }
            if !values.is_empty() {
                row = row.set(s::STAVALUES1 + slot, vectors::array_of(type_oid, values)?);
            }
            slot += 1;
            Ok(row)
        };
        if !self.common.is_empty() {
            let (values, shares) =
                self.common.iter().map(|(value, share)| (value.clone(), *share as f32)).unzip();
            row = add(row, (KIND_MCV, type_oid, collation), equals, shares, values)?;
        }
        if !self.histogram.is_empty() {
            row = add(row, (KIND_HISTOGRAM, type_oid, collation), less, Vec::new(), self.histogram.clone())?;
        }
        if let Some(correlation) = self.correlation {
            row = add(
                row,
                (KIND_CORRELATION, type_oid, collation),
                less,
                vec![correlation as f32],
                Vec::new(),
            )?;
        }
        if let Some(CommonLexemes { shares, least, most }) = &self.lexemes {
            let (values, mut numbers): (Vec<Datum>, Vec<f32>) = shares.iter().cloned().unzip();
            numbers.extend([*least, *most]);
            let kind = (KIND_ELEMENTS, oids::text, types::comparator::DEFAULT_COLLATION);
            row = add(row, kind, TEXT_EQUALS, numbers, values)?;
        }
        Ok(row.build())
    }
}

/// The lexemes of a slot, whose numbers have the least and the greatest share behind those of the values. Elements of arrays are of other types and have
/// one more number.
fn lexemes(values: Vec<Datum>, numbers: &[f32]) -> Option<CommonLexemes> {
    let (shares, [least, most]) = numbers.split_last_chunk::<2>()?;
    (shares.len() == values.len()).then(|| CommonLexemes {
        shares: values.into_iter().zip(shares.iter().copied()).collect(),
        least: *least,
        most: *most,
    })
}

fn float_array(numbers: &[f32]) -> SqlResult<Datum> {
    vectors::array_of(oids::float4, numbers.iter().map(|&n| Datum::Float4(n)).collect())
}

fn floats(array: &Datum) -> Vec<f32> {
    vectors::elements(array)
        .into_iter()
        .filter_map(|v| if let Datum::Float4(f) = v { Some(f) } else { None })
        .collect()
}
