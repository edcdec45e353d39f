//! Expressions that are values made of variables: computed over the frame's slots, without a statement.

use std::cell::Cell;
use std::rc::Rc;

use analyze::ColumnType;
use base::SqlResult;
use eval::simple::{Reach, SlotUse, Slots};
use session::Session;
use session::routine::Invocation;
use tuple::Datum;
use types::oids;

use super::Frame;
use crate::ast::{Function, TypeRef, VarId};
use crate::compile::Compiled;
use crate::expr::{Expression, FieldName, Input, Place, Prepared, Simple, Use, unassigned};

/// The value of a function that only returns one, computed from its arguments without a frame. None: it is to be run, an error to be told included.
pub(super) fn only_value(
    session: &Session,
    state: &Compiled,
    function: &Function,
    invocation: &Invocation<'_>,
) -> Option<Datum> {
    let simple = function.only_value()?.simple();
    let simple = simple.as_ref()?;
    let arguments_first = function.arguments.iter().copied().eq(0..invocation.args.len());
    state.look_again(session);
    let current = simple.current.get() == state.turn() && simple.operands.is_empty();
    if !current
        || !simple.inputs.is_empty()
        || !arguments_first
        || function.plain_result != Some(simple.ty.oid)
    {
        return None;
    }
    let format = session.format();
    simple.code.mere()?.mere(&session.site(invocation.args, &format)).ok()
}

impl Frame<'_> {
    /// The value of an expression that was already found current in this turn, if slots are all that it needs.
    #[inline]
    pub(super) fn at_once(&mut self, expression: &Expression) -> Option<SqlResult<(Datum, TypeRef)>> {
        let simple = expression.simple();
        let simple = simple.as_ref()?;
        let value = self.mere(simple)?.mere(&self.session.site(&self.slots, self.scene.0.format()));
        Some(value.map(|value| (value, simple.ty)))
    }

    /// Whether a condition holds that was already found current in this turn, if slots are all that it needs.
    #[inline]
    pub(super) fn truth_at_once(&mut self, expression: &Expression) -> Option<SqlResult<bool>> {
        let simple = expression.simple();
        let simple = simple.as_ref().filter(|simple| simple.ty.oid == oids::bool)?;
        let truth = self.mere(simple)?.mere_truth(&self.session.site(&self.slots, self.scene.0.format()));
        Some(truth.map(|truth| truth == Some(true)))
    }

    /// Gives a variable of the expression's own type the value of an expression that [`Frame::at_once`] computes.
    #[inline]
    pub(super) fn assign_at_once(
        &mut self,
        variable: VarId,
        expression: &Expression,
    ) -> Option<SqlResult<()>> {
        let simple = expression.simple();
        let simple = simple.as_ref().filter(|simple| simple.target == Some(variable))?;
        if !self.arrays.is_empty() {
            return None;
        }
        let mere = self.mere(simple)?;
        let site = self.session.site(&self.slots, self.scene.0.format());
        Some(match mere.mere_sum(&site) {
            Some(sum) => sum.map(|sum| sum.put(&mut self.slots[variable])),
            None => mere.mere(&site).map(|value| self.slots[variable] = value),
        })
    }

    /// The same for a field of a record.
    #[inline]
    pub(super) fn assign_field_at_once(
        &mut self,
        variable: VarId,
        field: &FieldName,
        expression: &Expression,
    ) -> Option<SqlResult<()>> {
        let simple = expression.simple();
        let simple = simple.as_ref()?;
        let row = self.rows_of[variable].as_ref()?;
        let at = field.place.known(&row.columns)?;
        if row.columns[at].type_oid != simple.ty.oid || row.columns[at].typmod >= 0 {
            return None;
        }
        let mere = self.mere(simple)?;
        let site = self.session.site(&self.slots, self.scene.0.format());
        let place = &mut self.rows_of[variable].as_mut()?.values[at];
        Some(match mere.mere_sum(&site) {
            Some(sum) => sum.map(|sum| sum.put(place)),
            None => mere.mere(&site).map(|value| *place = value),
        })
    }

    /// The code of an expression that needs slots only and is current; what it reads of records is in its slots then.
    #[inline]
    fn mere<'s>(&mut self, simple: &'s Simple) -> Option<&'s eval::simple::Simple> {
        let turn = self.state.turn();
        if simple.current.get() != turn || !simple.operands.is_empty() || self.changed_arrays > 0 {
            return None;
        }
        let mere = simple.code.mere()?;
        if self.scene.1 != turn {
            self.refresh_scene(turn);
        }
        (simple.inputs.is_empty() || self.bring(&simple.inputs)).then_some(mere)
    }

    /// Puts fields of records in their slots; false if one has to be looked for.
    fn bring(&mut self, inputs: &[Input]) -> bool {
        if inputs.last().is_some_and(|last| self.slots.len() <= last.slot) {
            return false;
        }
        inputs.iter().all(|input| {
            let Use::Field(v, _) = &input.wanted else { return false };
            let Some(row) = &self.rows_of[*v] else { return false };
            let Some(at) = input.place.known(&row.columns) else { return false };
            self.slots[input.slot].clone_from(&row.values[at]);
            true
        })
    }

    #[cold]
    fn refresh_scene(&mut self, turn: u64) {
        self.scene.0.refresh(self.session);
        self.scene.1 = turn;
    }

    /// The expression compiled for the types that the variables have now, if it is that simple.
    pub(super) fn simple(&self, expression: &Expression) -> SqlResult<Option<Rc<Simple>>> {
        let known = expression.simple().clone();
        if let Some(simple) = known
            && self.suits(&simple)
        {
            let turn = self.state.turn();
            if simple.current.get() == turn {
                return Ok(Some(simple));
            }
            if self.session.is_still_simple(&simple.code) {
                if simple.code.lasts() {
                    simple.current.set(turn);
                }
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
                    let (wanted, place) = (wanted.clone(), Place::default());
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
        let current = Cell::new(if code.lasts() { self.state.turn() } else { 0 });
        let simple = Rc::new(Simple {
            uses_arrays: code.uses().iter().any(|(_, how)| *how == SlotUse::Elements),
            target,
            code,
            ty: TypeRef { oid: type_oid, typmod, collation },
            inputs: inputs.into(),
            operands: operands.into(),
            current,
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
                        input.place.find(&row.columns, field, |c| c.type_oid == input.type_oid).is_some()
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
            self.state.look_again(self.session);
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
            self.refresh_scene(turn);
        }
        Ok(())
    }

    /// What is to be put into an expression's slot.
    fn found(&self, input: &Input) -> SqlResult<Datum> {
        let Use::Field(v, _) = &input.wanted else { return self.used_value(&input.wanted) };
        let missing = || unassigned(&self.function.variables[*v].name);
        match &self.rows_of[*v] {
            Some(row) => {
                let at = input.place.known(&row.columns).ok_or_else(missing)?;
                Ok(row.values[at].clone())
            }
            None if self.is_named_row(*v) => Ok(Datum::Null),
            None => Err(missing()),
        }
    }
}
