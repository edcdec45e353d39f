//! Functions of text search that run a query of their own: `ts_stat`, and `ts_rewrite` with a text.
//!
//! # PostgreSQL counterpart
//! `ts_stat_sql` of `tsvector_op.c`, `tsquery_rewrite_query` of `tsquery_rewrite.c`.

use std::collections::BTreeMap;
use std::rc::Rc;

use analyze::variables::FunctionArguments;
use base::{Oid, SqlError, SqlResult, sql_err};
use textsearch::rewrite::Rewriting;
use textsearch::{Query, Vector};
use tuple::Datum;
use types::value::FromDatum;
use types::{SessionFn, oids};

use super::{Row, arg};
use crate::Session;
use crate::routine::{BodyStatement, Sees, within_body};

impl Session {
    /// `ts_stat`.
    pub(super) fn text_search_rows(&self, id: SessionFn, args: &[Datum]) -> SqlResult<Option<Vec<Row>>> {
        match id {
            SessionFn::TsStat => {
                let weights: Option<&str> = args.get(1).map(<&str>::from_datum);
                self.lexeme_counts(arg(args, 0), weight_bits(weights.unwrap_or_default())).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// `ts_rewrite` with a text.
    pub(super) fn text_search_function(&self, id: SessionFn, args: &[Datum]) -> SqlResult<Option<Datum>> {
        match id {
            SessionFn::TsRewrite => self.rewritten(&args[0], arg(args, 1)).map(Some),
            _ => Ok(None),
        }
    }

    /// Runs a query that must return columns of these types, and sees what the statement sees that calls the function.
    fn run_for_text_search(
        &self,
        text: &str,
        (columns, wrong): (&[Oid], &str),
        each: &mut dyn FnMut(&[Datum]) -> SqlResult<()>,
    ) -> SqlResult<()> {
        let refused = || sql_err!(INVALID_PARAMETER_VALUE, "{wrong}");
        let placed = |error| within_body(error, text);
        let mut statements = parse::parse(text).map_err(placed)?.into_iter();
        let (Some(raw), None) = (statements.next(), statements.next()) else { return Err(refused()) };
        let variables = Rc::new(FunctionArguments { function: String::new(), list: Vec::new() });
        let statement = BodyStatement::new(text.into(), raw, variables, None);
        let found = self.columns_in_body(&statement).map_err(placed)?;
        if !statement.is_query() || !found.iter().map(|column| &column.type_oid).eq(columns) {
            return Err(refused());
        }
        let (snapshot, command) = {
            let mut txn = self.txn.borrow_mut();
            (txn.statement_snapshot()?, txn.current_command())
        };
        let ran = self.run_in_body(&statement, &[], Sees::Caller(&snapshot, command), 0, each);
        ran.map_err(|error| placed(error).context(format!("SQL statement \"{text}\"")))?;
        Ok(())
    }

    fn lexeme_counts(&self, text: &str, weights: u8) -> SqlResult<Vec<Row>> {
        let wrong = "ts_stat query must return one tsvector column";
        // Documents and places of each lexeme.
        let mut counts: BTreeMap<Box<[u8]>, (i32, i32)> = BTreeMap::new();
        let mut pace = runtime::pace::Pace::new();
        self.run_for_text_search(text, (&[oids::tsvector], wrong), &mut |row| {
            let Some(bytes) = row.first().and_then(Option::<&[u8]>::from_datum) else { return Ok(()) };
            let vector = Vector::new(bytes);
            for at in 0..vector.len() {
                pace.did(64 + vector.lexeme(at).len())?;
                let positions = vector.positions(at);
                let places = match (weights, positions.is_empty()) {
                    (0, true) => 1,
                    (0, false) => positions.iter().count(),
                    _ => positions.iter().filter(|p| weights & 1 << p.weight() != 0).count(),
                };
                if places == 0 {
                    continue;
                }
                let lexeme = vector.lexeme(at);
                if !counts.contains_key(lexeme) {
                    counts.insert(lexeme.into(), (0, 0));
                }
                if let Some((documents, all)) = counts.get_mut(lexeme) {
                    *documents = documents.saturating_add(1);
                    *all = all.saturating_add(i32::try_from(places).unwrap_or(i32::MAX));
                }
            }
            Ok(())
        })?;
        let row = |(lexeme, (documents, places)): (Box<[u8]>, (i32, i32))| {
            vec![Datum::Bytes(lexeme.into_vec().into()), Datum::Int4(documents), Datum::Int4(places)]
        };
        Ok(counts.into_iter().map(row).collect())
    }

    fn rewritten(&self, query: &Datum, text: &str) -> SqlResult<Datum> {
        let decode = |value: &Datum| Query::decode(<&[u8]>::from_datum(value)).map(Query::into_owned);
        let found = decode(query)?;
        if found.is_empty() {
            return Ok(query.clone());
        }
        let mut rewriting = Rewriting::new(&found)?;
        let wrong = "ts_rewrite query must return two tsquery columns";
        self.run_for_text_search(text, (&[oids::tsquery; 2], wrong), &mut |row| {
            let [part, other] = row else { return Err(SqlError::internal("a row of two columns")) };
            if rewriting.is_empty() || part.is_null() || other.is_null() {
                return Ok(());
            }
            rewriting.replace(&decode(part)?, &decode(other)?)
        })?;
        Ok(Datum::Bytes(rewriting.finish()?.encode().into()))
    }
}

/// The weights that letters name, a bit each; others say nothing.
fn weight_bits(letters: &str) -> u8 {
    letters.bytes().fold(0, |bits, letter| {
        bits | match letter.to_ascii_uppercase() {
            b'A' => 8,
            b'B' => 4,
            b'C' => 2,
            b'D' => 1,
            _ => 0,
        }
    })
}
