//! Expressions that are values made of variables: computed over the frame's slots, without a statement.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use analyze::ColumnType;
use base::SqlResult;
use eval::simple::{Reach, SlotUse, Slots};
use tuple::Datum;

use super::Frame;
use crate::ast::{TypeRef, VarId};
use crate::expr::{Expression, Input, Prepared, Simple, Use, unassigned};

impl Frame<'_> {
    /// The value of an expression that was already found current in this turn, if it is computed from integer variables alone.
    #[inline]
    pub(super) fn at_once(&self, expression: &Expression) -> Option<SqlResult<(Datum, TypeRef)>> {
        let simple = expression.simple();
        let simple = simple.as_ref()?;
        let plain = simple.inputs.is_empty() && self.changed_arrays == 0;
        if simple.current.get() != self.state.turn() || !plain {
            return None;
        }
        let value = simple.code.at_once(&self.slots)?;
        Some(value.map(|value| (value, simple.ty)))
    }

    /// Gives a variable of the expression's own type the value of an expression that [`Frame::at_once`] computes.
    #[inline]
    pub(super) fn assign_at_once(
        &mut self,
        variable: VarId,
        expression: &Expression,
    ) -> Option<SqlResult<()>> {
        let simple = expression.simple();
        let simple = simple.as_ref()?;
        let plain = self.arrays.is_empty() && simple.inputs.is_empty();
        if simple.current.get() != self.state.turn() || simple.target != Some(variable) || !plain {
            return None;
        }
        Some(simple.code.at_once(&self.slots)?.map(|value| self.slots[variable] = value))
    }

    /// The expression compiled for the types that the variables have now, if it is that simple.
    pub(super) fn simple(&self, expression: &Expression) -> SqlResult<Option<Rc<Simple>>> {
        let known = expression.simple().clone();
        if let Some(simple) = known
            && self.suits(&simple)
        {
            let turn = self.state.turn();
            if simple.current.get() == turn || self.session.is_still_simple(&simple.code) {
                simple.current.set(turn);
                return Ok(Some(simple));
            }
            // It is planned anew.
            let prepared = self.prepared(expression)?;
            let simple = self.compiled(&prepared, expression.target)?;
            expression.keep(prepared, simple.clone());
            return Ok(simple);
        }
        self.prepared(expression)?;
        Ok(expression.simple().clone())
    }

    /// The record variable, if an expression of a function that returns a row is just that variable.
    pub(super) fn names_row(&self, expression: &Expression) -> SqlResult<Option<VarId>> {
        if !self.function.returns_row {
            return Ok(None);
        }
        Ok(self.simple(expression)?.and_then(|simple| match &*simple.inputs {
            [Input { wanted: Use::Variable(v), slot, .. }] if simple.code.slot() == Some(*slot) => Some(*v),
            _ => None,
        }))
    }

    /// Compiles an expression that was analysed, if it is a value.
    pub(super) fn compiled(
        &self,
        prepared: &Prepared,
        target: Option<VarId>,
    ) -> SqlResult<Option<Rc<Simple>>> {
        // Its variables are known once it is planned.
        self.session.columns_in_body(&prepared.statement)?;
        let first = self.function.variables.len();
        let mut inputs = Vec::new();
        let mut operands = Vec::new();
        let slots: Vec<usize> = prepared
            .names
            .used()
            .iter()
            .map(|(wanted, ty)| match wanted {
                Use::Variable(v) if !self.is_row(*v) => {
                    if self.is_operand(*v) {
                        operands.push((*v, ty.oid));
                    }
                    *v
                }
                wanted => {
                    let slot = first + inputs.len();
                    let (wanted, place) = (wanted.clone(), RefCell::new(None));
                    inputs.push(Input { slot, wanted, type_oid: ty.oid, place });
                    slot
                }
            })
            .collect();
        let Some(code) = self.session.simple_in_body(&prepared.statement, &slots)? else { return Ok(None) };
        let target = target.filter(|v| {
            let (of, to) = (code.result().type_oid, self.type_of(*v));
            !self.is_row(*v) && !self.is_operand(*v) && to.oid == of && to.typmod < 0
        });
        let more = &self.function.more_slots;
        more.set(more.get().max(inputs.len()));
        let ColumnType { type_oid, typmod, collation, .. } = code.result();
        let simple = Rc::new(Simple {
            uses_arrays: code.uses().iter().any(|(_, how)| *how == SlotUse::Elements),
            target,
            code,
            ty: TypeRef { oid: type_oid, typmod, collation },
            inputs: inputs.into(),
            operands: operands.into(),
            current: Cell::new(self.state.turn()),
        });
        // Fields are looked for.
        Ok(self.suits(&simple).then_some(simple))
    }

    /// Whether the variables have the types that it was compiled for.
    fn suits(&self, simple: &Simple) -> bool {
        simple.operands.iter().all(|(v, oid)| self.type_of(*v).oid == *oid)
            && simple.inputs.iter().all(|input| match &input.wanted {
                Use::Variable(_) => true,
                Use::Field(v, field) => match &self.rows_of[*v] {
                    None => self.is_named_row(*v),
                    Some(row) => {
                        let mut place = input.place.borrow_mut();
                        if place.as_ref().is_some_and(|(columns, _)| Rc::ptr_eq(columns, &row.columns)) {
                            return true;
                        }
                        let at = row.columns.iter().position(|c| c.name == *field);
                        let at = at.filter(|at| row.columns[*at].type_oid == input.type_oid);
                        *place = at.map(|at| (row.columns.clone(), at));
                        at.is_some()
                    }
                },
            })
    }

    /// Computes it.
    pub(super) fn compute(&mut self, simple: &Simple) -> SqlResult<Datum> {
        self.fill(simple, None)?;
        let slots = Slots { values: &self.slots, arrays: &self.arrays };
        let value = self.session.compute_in_body(&simple.code, slots, self.sees, &self.scene.0);
        if simple.code.reach() != Reach::Nothing {
            self.state.next_turn();
        }
        value
    }

    /// Puts in its slots what it reads, but for the array of one variable that it is to change.
    pub(super) fn fill(&mut self, simple: &Simple, apart: Option<VarId>) -> SqlResult<()> {
        if let Some(last) = simple.inputs.last()
            && self.slots.len() <= last.slot
        {
            self.slots.resize(last.slot + 1, Datum::Null);
        }
        for input in &simple.inputs {
            self.slots[input.slot] = self.found(input)?;
        }
        if simple.uses_arrays || self.changed_arrays > 0 {
            self.make_ready(simple, apart);
        }
        let turn = self.state.turn();
        if self.scene.1 != turn {
            self.scene.0.refresh(self.session);
            self.scene.1 = turn;
        }
        Ok(())
    }

    /// What is to be put into an expression's slot.
    fn found(&self, input: &Input) -> SqlResult<Datum> {
        let Use::Field(v, _) = &input.wanted else { return self.used_value(&input.wanted) };
        match (&self.rows_of[*v], &*input.place.borrow()) {
            (Some(row), Some((_, at))) => Ok(row.values[*at].clone()),
            (None, _) if self.is_named_row(*v) => Ok(Datum::Null),
            _ => Err(unassigned(&self.function.variables[*v].name)),
        }
    }
}
