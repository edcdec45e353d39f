//! Arrays whose elements are set and read one by one: they are kept taken apart, so that a step takes no longer in a long one.
//!
//! Invariants:
//! 1. An array that is apart has the value of its variable. Where it has changed since it was taken apart, its slot has a boolean in its place that nobody reads: who
//!    wants the value as a whole has it put together first.
//! 2. Assigning a slot as a whole drops the array.
//!
//! PostgreSQL counterpart: `array_expanded.c`.

use base::{SqlError, SqlResult};
use eval::simple::{Change, Reach, SlotUse, Slots};
use tuple::Datum;
use types::array::Array;

use super::Frame;
use crate::ast::VarId;
use crate::expr::{Expression, Simple};

impl Frame<'_> {
    /// Gives a scalar variable a value.
    #[inline]
    pub(super) fn set_slot(&mut self, variable: VarId, value: Datum) {
        if !self.arrays.is_empty() {
            self.forget_array(variable);
        }
        self.slots[variable] = value;
    }

    fn forget_array(&mut self, variable: VarId) {
        if self.is_behind(variable) {
            self.changed_arrays -= 1;
        }
        self.arrays[variable] = None;
    }

    /// Whether a variable's slot is out of date: its array was changed.
    pub(super) fn is_behind(&self, variable: VarId) -> bool {
        self.changed_arrays > 0
            && matches!(self.arrays.get(variable), Some(Some(_)))
            && matches!(&self.slots[variable], Datum::Bool(_))
    }

    /// The value of a scalar variable.
    pub(super) fn scalar_value(&self, variable: VarId) -> Datum {
        match self.arrays.get(variable) {
            Some(Some(array)) if self.is_behind(variable) => array.to_datum(),
            _ => self.slots[variable].clone(),
        }
    }

    /// Has the slots that an expression reads as it wants them. Of `apart` it reads elements at most: the rest of its value is only copied.
    pub(super) fn make_ready(&mut self, simple: &Simple, apart: Option<VarId>) {
        // The first use of what is changed is that as a whole.
        let mut apart = apart;
        for &(slot, how) in simple.code.uses() {
            if apart == Some(slot) && how == SlotUse::Whole {
                apart = None;
                continue;
            }
            match how {
                SlotUse::Whole if self.is_behind(slot) => {
                    self.slots[slot] = self.scalar_value(slot);
                    self.changed_arrays -= 1;
                }
                SlotUse::Elements if slot < self.function.variables.len() => self.take_apart(slot),
                _ => {}
            }
        }
    }

    fn take_apart(&mut self, variable: VarId) {
        if self.arrays.is_empty() {
            self.arrays.resize_with(self.function.variables.len(), || None);
        }
        if self.arrays[variable].is_none()
            && let Datum::Bytes(bytes) = &self.slots[variable]
        {
            self.arrays[variable] = Some(Box::new(Array::from_payload(bytes)));
        }
    }

    /// Sets or adds an element where it is, if the expression gives a variable's own array with that change. False: it is to be computed.
    pub(super) fn change_array(&mut self, variable: VarId, expression: &Expression) -> SqlResult<bool> {
        let changes = |simple: &Simple| simple.code.changed_array() == Some(variable);
        if !expression.simple().as_ref().is_some_and(|simple| changes(simple)) {
            return Ok(false);
        }
        let simple = self.simple(expression)?.filter(|simple| changes(simple));
        let to = self.type_of(variable);
        let Some(simple) = simple.filter(|simple| simple.ty.oid == to.oid && to.typmod < 0) else {
            return Ok(false);
        };
        self.take_apart(variable);
        if self.arrays[variable].is_none() {
            return Ok(false);
        }
        let change = self.change(&simple, variable).map_err(|e| self.within(e, expression))?;
        // A function that was called has a frame of its own: the array is still there.
        let Some(array) = &mut self.arrays[variable] else {
            return Err(SqlError::internal("an array that was taken apart is gone"));
        };
        let (at, value) = match change {
            Change::Set(at, value) => (at, value),
            Change::Append(value) => match array.dimensions.as_slice() {
                [] => ([1].into_iter().collect(), value),
                [one] if one.upper() < i32::MAX => ([one.upper() + 1].into_iter().collect(), value),
                _ => return Ok(false),
            },
        };
        array.set(&at, value).map_err(|e| self.within(e, expression))?;
        if !self.is_behind(variable) {
            self.slots[variable] = Datum::Bool(true);
            self.changed_arrays += 1;
        }
        Ok(true)
    }

    /// A change of a variable's array, which was taken apart.
    fn change(&mut self, simple: &Simple, variable: VarId) -> SqlResult<Change> {
        self.fill(simple, Some(variable))?;
        let slots = Slots { values: &self.slots, arrays: &self.arrays };
        let change = self.session.change_in_body(&simple.code, slots, self.sees, &self.scene.0);
        if simple.code.reach() != Reach::Nothing {
            self.state.look_again(self.session);
        }
        change
    }
}
