//! Functions of SQL that need the session: its catalogs, settings, transaction.

use base::{SqlError, SqlResult};
use tuple::Datum;
use types::SessionFn;

use crate::session::Session;

impl types::Session for Session {}

impl Session {
    /// Carries out a function that gives one value.
    pub(crate) fn call_session_function(
        &self,
        id: SessionFn,
        call: &types::Call<'_>,
        args: &[Datum],
    ) -> SqlResult<Datum> {
        let _ = (call, args);
        Err(SqlError::not_supported(format!("function {id:?}")))
    }

    /// Carries out a function that gives rows.
    pub(crate) fn call_session_set(
        &self,
        id: SessionFn,
        call: &types::Call<'_>,
        args: &[Datum],
    ) -> SqlResult<Vec<Vec<Datum>>> {
        let _ = (call, args);
        Err(SqlError::not_supported(format!("function {id:?}")))
    }
}
