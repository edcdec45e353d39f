//! # What
//! ALTER OPERATOR ... SET: estimators, commutator, negator, HASHES and MERGES. What is set may be added, but not taken back, except estimators.
//!
//! # PostgreSQL counterpart
//! `AlterOperator` of `commands/operatorcmds.c`.

use base::{Oid, SqlError, SqlResult, SqlState, sql_err};
use catalog::change::OperatorChange;
use catalog::system::pg_operator;
use catalog::{Row, RowExt};
use parse::ast::{DefElem, Name, ObjectWithArgs};
use session::Session;
use session::lookup::operator::find as lookup_operator;

use super::{operator, options};

/// ALTER OPERATOR ... SET.
pub(crate) fn alter(session: &Session, named: &ObjectWithArgs, list: &[DefElem]) -> SqlResult<()> {
    let oid = operator::named_operator(session, named)??;
    let row = row_of(session, oid)?;
    let asked = Asked::read(list)?;
    operator::check_operator_owner(session, oid, &named.name, false)?;
    let (left, right) = (row.oid(pg_operator::OPRLEFT), row.oid(pg_operator::OPRRIGHT));
    let estimator = |asked: &Option<Option<Name>>| {
        asked.as_ref().map(|name| operator::estimator(session, name)).transpose()
    };
    let (restrict, join) = (estimator(&asked.restrict)?, estimator(&asked.join)?);
    asked.check(&row)?;
    let other = |name: &Option<Name>, left: Oid, right: Oid| -> SqlResult<Option<Oid>> {
        let Some(name) = name else { return Ok(None) };
        match lookup_operator(session, name, left, right)? {
            Some(found) => Ok(Some(found)),
            None => operator::shell_of(session, name, left, right).map(Some),
        }
    };
    let commutator = other(&asked.commutator, right, left)?;
    let negator = other(&asked.negator, left, right)?;
    if negator == Some(oid) {
        return Err(sql_err!(INVALID_FUNCTION_DEFINITION, "operator cannot be its own negator"));
    }
    let mut change =
        OperatorChange { restrict, join, hashes: asked.hashes, merges: asked.merges, ..Default::default() };
    for (word, column, given, slot) in [
        ("commutator", pg_operator::OPRCOM, commutator, &mut change.commutator),
        ("negator", pg_operator::OPRNEGATE, negator, &mut change.negator),
    ] {
        let Some(given) = given.filter(|given| *given != row.oid(column)) else { continue };
        if row.oid(column).is_valid() {
            return Err(already_set(word));
        }
        check_other(session, (word, column), given, oid)?;
        *slot = Some(given);
    }
    session.with_changer(|changer| changer.alter_operator(oid, change))
}

fn row_of(session: &Session, oid: Oid) -> SqlResult<Row> {
    let index = pg_operator::PG_OPERATOR_OID_INDEX;
    let row = session.with_reader(|r| r.find_one(&pg_operator::TABLE, index, &[oid.into()]))?;
    row.map(|(_, row)| row).ok_or_else(|| SqlError::internal(format!("operator {oid} is gone")))
}

fn already_set(word: &str) -> SqlError {
    sql_err!(
        INVALID_OBJECT_DEFINITION,
        "operator attribute \"{word}\" cannot be changed if it has already been set"
    )
}

/// Refuses a commutator or negator that is another operator's.
fn check_other(session: &Session, (word, column): (&str, usize), other: Oid, own: Oid) -> SqlResult<()> {
    let row = row_of(session, other)?;
    let taken = row.oid(column);
    if !taken.is_valid() || taken == own {
        return Ok(());
    }
    let name = row.str(pg_operator::OPRNAME);
    let of = row_of(session, taken)?;
    Err(sql_err!(
        INVALID_FUNCTION_DEFINITION,
        "{word} operator {name} is already the {word} of operator {}",
        of.str(pg_operator::OPRNAME)
    ))
}

/// What the statement says; of the estimators `Some(None)` is NONE.
#[derive(Default)]
struct Asked {
    restrict: Option<Option<Name>>,
    join: Option<Option<Name>>,
    commutator: Option<Name>,
    negator: Option<Name>,
    hashes: Option<bool>,
    merges: Option<bool>,
}

impl Asked {
    fn read(list: &[DefElem]) -> SqlResult<Asked> {
        let mut asked = Asked::default();
        for option in list {
            let name = || option.value.is_some().then(|| operator::named(&option.value)).transpose();
            match option.name.as_str() {
                "restrict" => asked.restrict = Some(name()?),
                "join" => asked.join = Some(name()?),
                "commutator" => asked.commutator = Some(operator::named(&option.value)?),
                "negator" => asked.negator = Some(operator::named(&option.value)?),
                "hashes" => asked.hashes = Some(options::boolean(option)?),
                "merges" => asked.merges = Some(options::boolean(option)?),
                fixed @ ("leftarg" | "rightarg" | "function" | "procedure") => {
                    let message = format!("operator attribute \"{fixed}\" cannot be changed");
                    return Err(SqlError::new(SqlState::SYNTAX_ERROR, message));
                }
                other => {
                    let message = format!("operator attribute \"{other}\" not recognized");
                    return Err(SqlError::new(SqlState::SYNTAX_ERROR, message));
                }
            }
        }
        Ok(asked)
    }

    /// Whether an operator with these operands and this result may have the attributes that are set.
    fn check(&self, row: &Row) -> SqlResult<()> {
        let given = operator::Given {
            left: row.oid(pg_operator::OPRLEFT),
            restrict: self.restrict.clone().flatten(),
            join: self.join.clone().flatten(),
            commutator: self.commutator.clone(),
            negator: self.negator.clone(),
            hashes: self.hashes == Some(true),
            merges: self.merges == Some(true),
            ..Default::default()
        };
        given.check(row.oid(pg_operator::OPRRESULT))?;
        let set = [
            ("merges", pg_operator::OPRCANMERGE, self.merges),
            ("hashes", pg_operator::OPRCANHASH, self.hashes),
        ];
        match set.iter().find(|(_, column, asked)| *asked == Some(false) && row.bool(*column)) {
            Some((word, ..)) => Err(already_set(word)),
            None => Ok(()),
        }
    }
}
