//! Loops.

use std::rc::Rc;

use base::{Oid, SqlResult, SqlState, sql_err};
use session::routine::Fetching;
use tuple::Datum;
use types::array::Array;
use types::oids;

use super::{Flow, Frame};
use crate::ast::*;
use crate::expr::Expression;

/// Rows that a loop over a query takes at a time.
const BATCH: u64 = 50;

/// What a loop does after its body ended so: `Ok` goes on, `Err` leaves with this.
#[inline]
fn after(flow: Flow, label: &Option<String>) -> Result<(), Flow> {
    match flow {
        Flow::Next => Ok(()),
        Flow::Continue(wanted) if wanted.is_none() || wanted == *label => Ok(()),
        Flow::Exit(wanted) if wanted.is_none() || wanted == *label => Err(Flow::Next),
        flow => Err(flow),
    }
}

impl Frame<'_> {
    pub(super) fn plain_loop(&mut self, label: &Option<String>, body: &[Statement]) -> SqlResult<Flow> {
        loop {
            runtime::check_interrupts().map_err(base::SqlError::from)?;
            if let Err(left) = after(self.statements(body)?, label) {
                return Ok(left);
            }
        }
    }

    pub(super) fn while_loop(
        &mut self,
        label: &Option<String>,
        condition: &Expression,
        body: &[Statement],
    ) -> SqlResult<Flow> {
        let present = self.present;
        loop {
            runtime::check_interrupts().map_err(base::SqlError::from)?;
            self.present = present;
            if !self.test(condition)? {
                return Ok(Flow::Next);
            }
            if let Err(left) = after(self.statements(body)?, label) {
                return Ok(left);
            }
        }
    }

    /// A bound of a FOR loop.
    fn bound(&mut self, expression: &Expression, what: &str) -> SqlResult<i32> {
        let (value, ty) = self.evaluate(expression)?;
        match self.session.convert_in_body(value, ty.oid, (oids::int4, -1))? {
            Datum::Int4(n) => Ok(n),
            _ => Err(base::SqlError::new(
                SqlState::NULL_VALUE_NOT_ALLOWED,
                format!("{what} of FOR loop cannot be null"),
            )),
        }
    }

    pub(super) fn range(
        &mut self,
        label: &Option<String>,
        variable: VarId,
        (lower, upper, step): (&Rc<Expression>, &Rc<Expression>, Option<&Rc<Expression>>),
        reverse: bool,
        body: &[Statement],
    ) -> SqlResult<Flow> {
        let mut at = self.bound(lower, "lower bound")?;
        let end = self.bound(upper, "upper bound")?;
        let step = match step {
            Some(step) => self.bound(step, "BY value")?,
            None => 1,
        };
        if step <= 0 {
            return Err(sql_err!(INVALID_PARAMETER_VALUE, "BY value of FOR loop must be greater than zero"));
        }
        let (mut found, mut flow) = (false, Flow::Next);
        while if reverse { at >= end } else { at <= end } {
            runtime::check_interrupts().map_err(base::SqlError::from)?;
            found = true;
            self.slots[variable] = Datum::Int4(at);
            if let Err(left) = after(self.statements(body)?, label) {
                flow = left;
                break;
            }
            let next = if reverse { at.checked_sub(step) } else { at.checked_add(step) };
            match next {
                Some(next) => at = next,
                None => break,
            }
        }
        self.set_found(found);
        Ok(flow)
    }

    pub(super) fn for_query(
        &mut self,
        label: &Option<String>,
        target: &Target,
        query: &Query,
        body: &[Statement],
    ) -> SqlResult<Flow> {
        let ready = self.ready(query)?;
        let columns = self.columns(&ready)?;
        let session = self.session;
        let begun = Fetching::start(session, &ready.statement, &ready.params, self.sees);
        let mut fetching = begun.map_err(|e| ready.within(self, e))?;
        let present = self.present;
        let (mut found, mut flow) = (false, Flow::Next);
        'rows: loop {
            self.present = present;
            let mut rows: Vec<Vec<Datum>> = Vec::new();
            let more = fetching.fetch(BATCH, &mut |row| {
                rows.push(row.to_vec());
                Ok(())
            });
            // Functions in the query may have changed anything.
            self.state.look_again(self.session);
            // An error while rows are fetched is reported for the loop, not for the statement.
            let more = more?;
            for row in rows {
                found = true;
                self.present = present;
                self.assign_columns(target, &columns, Some(&row))?;
                if let Err(left) = after(self.statements(body)?, label) {
                    flow = left;
                    break 'rows;
                }
            }
            if !more {
                if !found {
                    self.assign_columns(target, &columns, None)?;
                }
                break;
            }
        }
        drop(fetching);
        self.set_found(found);
        Ok(flow)
    }

    pub(super) fn foreach(
        &mut self,
        label: &Option<String>,
        target: &Target,
        slice: usize,
        array: &Expression,
        body: &[Statement],
    ) -> SqlResult<Flow> {
        let (value, ty) = self.evaluate(array)?;
        let Datum::Bytes(bytes) = &value else {
            return Err(base::SqlError::new(
                SqlState::NULL_VALUE_NOT_ALLOWED,
                "FOREACH expression must not be null",
            ));
        };
        let element = self.session.element_type_of(ty.oid)?;
        if !element.is_valid() {
            let shown = self.session.type_text(ty.oid);
            return Err(sql_err!(
                DATATYPE_MISMATCH,
                "FOREACH expression must yield an array, not type {shown}"
            ));
        }
        let array = Array::from_payload(bytes);
        let dimensions = array.dimensions.clone();
        if slice > dimensions.len() {
            return Err(sql_err!(
                ARRAY_SUBSCRIPT_ERROR,
                "slice dimension ({slice}) is out of the valid range 0..{}",
                dimensions.len()
            ));
        }
        let is_array = match target {
            Target::Variable(v) if !self.is_row(*v) => {
                self.session.element_type_of(self.type_of(*v).oid)?.is_valid()
            }
            _ => false,
        };
        if slice > 0 && !is_array {
            return Err(sql_err!(
                DATATYPE_MISMATCH,
                "FOREACH ... SLICE loop variable must be of an array type"
            ));
        }
        if slice == 0 && is_array {
            return Err(sql_err!(DATATYPE_MISMATCH, "FOREACH loop variable must not be of an array type"));
        }
        let inner = dimensions[dimensions.len() - slice..].to_vec();
        let each = inner.iter().map(|d| d.length.max(0) as usize).product::<usize>().max(1);
        let elements = array.into_elements();
        let (mut found, mut flow) = (false, Flow::Next);
        for part in elements.chunks(if slice == 0 { 1 } else { each }) {
            runtime::check_interrupts().map_err(base::SqlError::from)?;
            found = true;
            let (value, of) = match slice {
                0 => (part[0].clone(), element),
                _ => (self.session.make_array(ty.oid, inner.clone(), part.to_vec())?, ty.oid),
            };
            self.assign(target, value, TypeRef { oid: of, typmod: -1, collation: Oid::INVALID })?;
            if let Err(left) = after(self.statements(body)?, label) {
                flow = left;
                break;
            }
        }
        self.set_found(found);
        Ok(flow)
    }

    pub(super) fn for_cursor(
        &mut self,
        label: &Option<String>,
        row: VarId,
        cursor: VarId,
        arguments: Option<&[Rc<Expression>]>,
        body: &[Statement],
    ) -> SqlResult<Flow> {
        let name = self.open_bound(cursor, arguments)?;
        let columns: Rc<[analyze::ColumnType]> = self.session.cursor_columns_in_body(&name)?.into();
        let (mut found, mut flow) = (false, Flow::Next);
        let present = self.present;
        loop {
            self.present = present;
            let mut next = None;
            let direction = parse::ast::FetchDirection::Forward(1);
            self.session.fetch_in_body(&name, direction, false, &mut |values| {
                next = Some(values.to_vec());
                Ok(())
            })?;
            self.state.look_again(self.session);
            let Some(values) = next else { break };
            found = true;
            self.assign_columns(&Target::Variable(row), &columns, Some(&values))?;
            if let Err(left) = after(self.statements(body)?, label) {
                flow = left;
                break;
            }
        }
        self.session.close_in_body(&name)?;
        self.slots[cursor] = Datum::Null;
        self.set_found(found);
        Ok(flow)
    }
}
