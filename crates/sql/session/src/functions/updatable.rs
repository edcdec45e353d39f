//! `pg_relation_is_updatable`, `pg_column_is_updatable`: what can be written to, directly or through views.

use analyze::updatable;
use base::{Oid, SqlResult};
use catalog::CatalogView;
use tuple::Datum;
use types::SessionFn;

use super::arg;
use crate::Session;

impl Session {
    pub(super) fn updatable_function(&self, id: SessionFn, args: &[Datum]) -> SqlResult<Option<Datum>> {
        let table = match id {
            SessionFn::PgRelationIsUpdatable | SessionFn::PgColumnIsUpdatable => {
                self.relation_by_oid(Oid(arg(args, 0)))?
            }
            _ => return Ok(None),
        };
        Ok(Some(match (id, table) {
            (SessionFn::PgColumnIsUpdatable, None) => Datum::Bool(false),
            (SessionFn::PgColumnIsUpdatable, Some(table)) => Datum::Bool(updatable::column_is_updatable(
                &table,
                arg::<i16>(args, 1),
                arg::<bool>(args, 2),
                self,
            )?),
            (_, None) => Datum::Int4(0),
            (_, Some(table)) => {
                Datum::Int4(updatable::relation_events(&table, arg::<bool>(args, 1), self)? as i32)
            }
        }))
    }
}
