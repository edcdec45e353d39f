//! What `pg_get_statisticsobjdef` and its kin say of statistics objects, and `pg_mcv_list_items`.

use base::{Oid, SqlResult};
use catalog::system::pg_statistic_ext as s;
use catalog::{CatalogView, StatisticsObject};
use catalog::{RowExt, Table};
use tuple::Datum;
use types::extended_statistics::CommonItems;
use types::value::FromDatum;
use types::{Call, SessionFn, oids};

use super::text::name_in_schema;
use super::{Row, arg, quote_identifier};
use crate::Session;

impl Session {
    pub(super) fn statistics_definition(&self, id: SessionFn, args: &[Datum]) -> SqlResult<Option<Datum>> {
        use SessionFn as F;
        let oid = || Oid(arg(args, 0));
        Ok(Some(match id {
            F::PgGetStatisticsobjdef => {
                self.statistics_statement(oid())?.map_or(Datum::Null, |text| Datum::text(&text))
            }
            F::PgGetStatisticsobjdefColumns => match self.statistics_object(oid())? {
                Some((object, table)) => Datum::text(&self.statistics_elements(&object, &table)?.join(", ")),
                None => Datum::Null,
            },
            F::PgGetStatisticsobjdefExpressions => match self.statistics_object(oid())? {
                Some((object, table)) if !object.expressions.is_empty() => {
                    let all = object.expressions.iter();
                    let texts = all
                        .map(|e| self.expression_text(e, Some(&table), false))
                        .collect::<SqlResult<Vec<_>>>()?;
                    types::array::from_texts(texts.iter().map(|text| Some(text.as_str())))
                }
                _ => Datum::Null,
            },
            _ => return Ok(None),
        }))
    }

    fn statistics_object(&self, oid: Oid) -> SqlResult<Option<(StatisticsObject, std::sync::Arc<Table>)>> {
        let row =
            self.with_reader(|r| r.find_one(&s::TABLE, s::PG_STATISTIC_EXT_OID_INDEX, &[oid.into()]))?;
        let Some((_, row)) = row else { return Ok(None) };
        let table = self.with_reader(|r| r.relation_by_oid(row.oid(s::STXRELID)))?;
        Ok(table.map(|table| (StatisticsObject::from_row(&row), table)))
    }

    /// The CREATE STATISTICS that makes an object; none if there is no such object.
    pub fn statistics_statement(&self, oid: Oid) -> SqlResult<Option<String>> {
        let Some((object, table)) = self.statistics_object(oid)? else { return Ok(None) };
        let schema = self.with_reader(|r| r.schema_name(object.schema))?.unwrap_or_default();
        let mut text = format!("CREATE STATISTICS {}", name_in_schema(&schema, &object.name, false));
        let asked = StatisticsObject::KINDS.iter().filter(|(_, letter)| object.has(*letter));
        let kinds: Vec<&str> = asked.map(|(name, _)| *name).collect();
        let count = object.keys.len() + object.expressions.len();
        if kinds.len() < StatisticsObject::KINDS.len() && count > 1 {
            text.push_str(&format!(" ({})", kinds.join(", ")));
        }
        text.push_str(&format!(" ON {}", self.statistics_elements(&object, &table)?.join(", ")));
        text.push_str(&format!(" FROM {}", self.relation_text(&table, true)?));
        Ok(Some(text))
    }

    /// The columns and expressions.
    fn statistics_elements(&self, object: &StatisticsObject, table: &Table) -> SqlResult<Vec<String>> {
        let name = |n: &i16| {
            let column = usize::try_from(n - 1).ok().and_then(|i| table.columns.get(i));
            quote_identifier(column.map_or("", |c| &c.name))
        };
        let mut all: Vec<String> = object.keys.iter().map(name).collect();
        for stored in &object.expressions {
            all.push(self.expression_in_parentheses(stored, table, true)?);
        }
        Ok(all)
    }

    /// The combinations of a `pg_mcv_list`, a row each.
    pub(super) fn common_items(&self, list: &Datum) -> SqlResult<Vec<Row>> {
        let list = CommonItems::from_payload(<&[u8]>::from_datum(list));
        let format = self.format();
        let call = Call::new(&format).with_session(self);
        let mut rows = Vec::with_capacity(list.items.len());
        for (at, item) in list.items.iter().enumerate() {
            let mut texts = Vec::new();
            for (value, type_oid) in item.values.iter().zip(&list.types) {
                texts.push(match value.is_null() {
                    true => None,
                    false => {
                        let mut out = Vec::new();
                        types::output(*type_oid, value, &call, &mut out)?;
                        Some(String::from_utf8_lossy(&out).into_owned())
                    }
                });
            }
            let nulls = item.values.iter().map(|value| Datum::Bool(value.is_null())).collect();
            rows.push(vec![
                Datum::Int4(at as i32),
                types::array::from_texts(texts.iter().map(Option::as_deref)),
                types::array::Array::from_values(oids::bool, nulls, &call)?.to_datum(),
                Datum::Float8(item.share),
                Datum::Float8(item.base_share),
            ]);
        }
        Ok(rows)
    }
}
