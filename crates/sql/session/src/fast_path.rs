//! # What
//! The FunctionCall message: a function by its OID, as libpq calls those of large objects.
//!
//! It becomes a statement that selects from the function, and so obeys what statements obey: rights, transactions, time-outs. Like a Query
//! message it takes the place of the unnamed statement and portal.
//!
//! # PostgreSQL counterpart
//! `tcop/fastpath.c`.

use base::{Oid, SqlError, SqlResult, SqlState, sql_err};
use catalog::CatalogView;
use catalog::RowExt;
use catalog::system::pg_proc;
use tuple::Datum;
use txn::BlockState;
use types::encoding::Passage;

use super::transaction::failed_block;
use super::{ParamValue, Session};
use crate::output::{Format, Output, RowEncoder, passes_on};

impl Session {
    /// Calls a function. Gives the result in the format asked for; none is NULL.
    pub fn function_call(
        &self,
        function: Oid,
        formats: &[Format],
        args: &[ParamValue<'_>],
        result: Format,
        out: &mut dyn Output,
    ) -> SqlResult<Option<Vec<u8>>> {
        let call = self.text_of_call(function, formats, args);
        let (text, types) = call.inspect_err(|error| self.fail(error))?;
        self.parse("", &text, &types, out)?;
        self.bind("", "", formats, args, &[result])?;
        let mut taken = Taken { value: None, passage: self.passage(), out };
        self.execute("", 0, &mut taken)?;
        let value = taken.value;
        self.sync(out)?;
        Ok(value)
    }

    /// `SELECT s.f($1, …)`, and the types of the parameters.
    fn text_of_call(
        &self,
        function: Oid,
        formats: &[Format],
        args: &[ParamValue<'_>],
    ) -> SqlResult<(String, Vec<Oid>)> {
        self.begin_statement();
        if self.txn.borrow().state() == BlockState::Failed {
            return Err(failed_block());
        }
        let row = self.with_reader(|reader| reader.routine_row(function))?;
        let row = row
            .ok_or_else(|| sql_err!(UNDEFINED_FUNCTION, "function with OID {} does not exist", function.0))?;
        let name = row.str(pg_proc::PRONAME);
        if row.char(pg_proc::PROKIND) != b'f' || row.bool(pg_proc::PRORETSET) {
            let message = format!("cannot call function \"{name}\" via fastpath interface");
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
        }
        let types = catalog::oids_of(&row[pg_proc::PROARGTYPES]);
        if types.len() != args.len() {
            return Err(sql_err!(
                PROTOCOL_VIOLATION,
                "function call message contains {} arguments but function requires {}",
                args.len(),
                types.len()
            ));
        }
        if formats.len() > 1 && formats.len() != args.len() {
            return Err(sql_err!(
                PROTOCOL_VIOLATION,
                "function call message contains {} argument formats but {} arguments",
                formats.len(),
                args.len()
            ));
        }
        let schema = self.with_reader(|reader| reader.schema_name(row.oid(pg_proc::PRONAMESPACE)))?;
        let name = analyze::names::qualified(&schema.unwrap_or_default(), name);
        let parameters: Vec<_> = (1..=types.len()).map(|n| format!("${n}")).collect();
        Ok((format!("SELECT {name}({})", parameters.join(", ")), types))
    }
}

/// Keeps the one value of a result; notices go on.
struct Taken<'a> {
    value: Option<Vec<u8>>,
    passage: Option<Passage>,
    out: &'a mut dyn Output,
}

impl Output for Taken<'_> {
    fn data_row(&mut self, encoder: &RowEncoder<'_>, row: &[Datum]) -> SqlResult<()> {
        let mut bytes = Vec::new();
        let some = match self.passage {
            None => encoder.encode(0, &row[0], &mut bytes)?,
            Some(passage) => encoder.encode_in(passage, 0, &row[0], &mut bytes)?,
        };
        self.value = some.then_some(bytes);
        Ok(())
    }
    passes_on!();
}
