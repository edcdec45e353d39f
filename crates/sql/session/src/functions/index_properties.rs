//! What indexes and their access methods can do, by the names of properties.
//!
//! PostgreSQL counterpart: `amutils.c`. The facts of methods answer.

use base::{Oid, SqlResult};
use catalog::system::{pg_am, pg_class, pg_index};
use catalog::{CatalogView, Row, RowExt, int2s_of, oids_of};
use index::Facts;
use tuple::Datum;
use types::SessionFn;

use super::arg;
use crate::Session;

/// Properties of access methods, in the order in which their facts are asked.
const METHOD_PROPERTIES: [&str; 5] =
    ["can_order", "can_unique", "can_multi_col", "can_exclude", "can_include"];

/// Flags of `pg_index.indoption`.
const DESCENDING: i16 = 1;
const NULLS_FIRST: i16 = 2;

impl Session {
    pub(super) fn index_property(&self, id: SessionFn, args: &[Datum]) -> SqlResult<Option<Datum>> {
        let oid = || Oid(arg(args, 0));
        let answer = match id {
            SessionFn::PgIndexamHasProperty => self.method_can(oid(), arg(args, 1))?,
            SessionFn::PgIndexHasProperty => self.index_can(oid(), arg(args, 1))?,
            SessionFn::PgIndexColumnHasProperty => {
                self.index_column_can(oid(), arg(args, 1), arg(args, 2))?
            }
            _ => return Ok(None),
        };
        Ok(Some(answer.map_or(Datum::Null, Datum::Bool)))
    }

    fn method_can(&self, method: Oid, property: &str) -> SqlResult<Option<bool>> {
        let key = [method.into()];
        let row = self.with_reader(|r| r.find_one(&pg_am::TABLE, pg_am::PG_AM_OID_INDEX, &key))?;
        let Some((_, row)) = row else { return Ok(None) };
        let facts = match row.char(pg_am::AMTYPE) {
            b'i' => self.with_reader(|r| r.index_handler(row.oid(pg_am::AMHANDLER)))?,
            _ => None,
        };
        let facts = facts.map(|f| {
            // A plain scan is what an exclusion constraint looks for conflicts with.
            [f.can_order, f.can_unique, f.can_multi_column, f.index_scan, f.can_include]
        });
        let at = METHOD_PROPERTIES.iter().position(|known| property.eq_ignore_ascii_case(known));
        Ok(facts.zip(at).map(|(can, at)| can[at]))
    }

    fn index_can(&self, index: Oid, property: &str) -> SqlResult<Option<bool>> {
        let Some(facts) = self.facts_of(index)? else { return Ok(None) };
        Ok(match property.to_ascii_lowercase().as_str() {
            "clusterable" => Some(facts.clusterable),
            "index_scan" => Some(facts.index_scan),
            "bitmap_scan" => Some(facts.bitmap_scan),
            "backward_scan" => Some(facts.can_backward),
            _ => None,
        })
    }

    /// What the access method of an index can do; none if it is no index.
    fn facts_of(&self, index: Oid) -> SqlResult<Option<&'static Facts>> {
        let key = [index.into()];
        let row = self.with_reader(|r| match r.index_row(index)? {
            Some(_) => r.find_one(&pg_class::TABLE, pg_class::PG_CLASS_OID_INDEX, &key),
            None => Ok(None),
        })?;
        row.map(|(_, class)| self.with_reader(|r| r.index_method(class.oid(pg_class::RELAM)))).transpose()
    }

    fn index_column_can(&self, index: Oid, column: i32, property: &str) -> SqlResult<Option<bool>> {
        let Some(row) = self.with_reader(|r| r.index_row(index))? else { return Ok(None) };
        let columns = int2s_of(&row[pg_index::INDKEY]).len();
        let Some(at) = usize::try_from(column - 1).ok().filter(|at| *at < columns) else { return Ok(None) };
        let Some(facts) = self.facts_of(index)? else { return Ok(None) };
        // What an index only includes has no order.
        let options = int2s_of(&row[pg_index::INDOPTION]);
        let option = options.get(at).filter(|_| at < row.int(pg_index::INDNKEYATTS) as usize).copied();
        let flag = |flag: i16, set: bool| option.map(|option| facts.can_order && (option & flag != 0) == set);
        Ok(match property.to_ascii_lowercase().as_str() {
            "asc" => flag(DESCENDING, false),
            "desc" => flag(DESCENDING, true),
            "nulls_first" => flag(NULLS_FIRST, true),
            "nulls_last" => flag(NULLS_FIRST, false),
            "orderable" => Some(option.is_some() && facts.can_order),
            "distance_orderable" => {
                Some(option.is_some() && facts.can_order_by_operator && self.orders_by_distance(&row, at)?)
            }
            "returnable" => Some(facts.returnable && self.returns_column(index, (at, option.is_some()))?),
            "search_array" => option.map(|_| facts.search_array),
            "search_nulls" => option.map(|_| facts.search_nulls),
            _ => None,
        })
    }

    /// Whether the operator class of a key has operators that tell a distance.
    fn orders_by_distance(&self, row: &Row, at: usize) -> SqlResult<bool> {
        let families = self.operator_families()?;
        let class = oids_of(&row[pg_index::INDCLASS]).get(at).and_then(|class| families.class(*class));
        Ok(class.is_some_and(|class| {
            let mut operators = families.operators_of(class.family);
            operators.any(|operator| !operator.searches() && operator.left == class.input)
        }))
    }

    /// Whether entries hold the values of a column; one that is only included they do.
    fn returns_column(&self, index: Oid, (at, key): (usize, bool)) -> SqlResult<bool> {
        Ok(!key || self.index(index)?.is_some_and(|(_, index)| index.returns_key(at)))
    }
}
