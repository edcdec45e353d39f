//! What indexes and their access methods can do, by the names of properties.
//!
//! PostgreSQL counterpart: `amutils.c`. All indexes are B-trees; other methods can only be asked about as such.

use base::{Oid, SqlResult};
use catalog::system::{pg_am, pg_index};
use catalog::{RowExt, int2s_of};
use tuple::Datum;
use types::SessionFn;

use super::arg;
use crate::session::Session;

/// Access methods with what each can: order, be unique, have several columns, exclude, include columns.
const METHODS: [(&str, [bool; 5]); 6] = [
    ("btree", [true, true, true, true, true]),
    ("hash", [false, false, false, true, false]),
    ("gist", [false, false, true, true, true]),
    ("gin", [false, false, true, false, false]),
    ("spgist", [false, false, false, true, true]),
    ("brin", [false, false, true, false, false]),
];

/// The properties of the list above.
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
        let name = row.str(pg_am::AMNAME);
        let known = METHODS.iter().find(|(method, _)| *method == name);
        let at = METHOD_PROPERTIES.iter().position(|known| property.eq_ignore_ascii_case(known));
        Ok(known.zip(at).map(|((_, can), at)| can[at]))
    }

    fn index_can(&self, index: Oid, property: &str) -> SqlResult<Option<bool>> {
        let is_index = self.with_reader(|r| r.index_row(index))?.is_some();
        let known = ["clusterable", "index_scan", "bitmap_scan", "backward_scan"];
        let can = known.iter().any(|known| property.eq_ignore_ascii_case(known));
        Ok((is_index && can).then_some(true))
    }

    fn index_column_can(&self, index: Oid, column: i32, property: &str) -> SqlResult<Option<bool>> {
        let Some(row) = self.with_reader(|r| r.index_row(index))? else { return Ok(None) };
        let columns = int2s_of(&row[pg_index::INDKEY]).len();
        let Some(at) = usize::try_from(column - 1).ok().filter(|at| *at < columns) else { return Ok(None) };
        // What an index only includes has no order.
        let options = int2s_of(&row[pg_index::INDOPTION]);
        let option = options.get(at).filter(|_| at < row.int(pg_index::INDNKEYATTS) as usize).copied();
        let flag = |flag: i16, set: bool| option.map(|option| (option & flag != 0) == set);
        Ok(match property.to_ascii_lowercase().as_str() {
            "asc" => flag(DESCENDING, false),
            "desc" => flag(DESCENDING, true),
            "nulls_first" => flag(NULLS_FIRST, true),
            "nulls_last" => flag(NULLS_FIRST, false),
            "orderable" => Some(option.is_some()),
            "distance_orderable" => Some(false),
            "returnable" => Some(true),
            "search_array" | "search_nulls" => option.map(|_| true),
            _ => None,
        })
    }
}
