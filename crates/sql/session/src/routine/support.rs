//! What procedural languages ask of a session besides running statements: types, conversions, notices, subtransactions.

use std::any::Any;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use analyze::routine::ReturnType;
use analyze::{ColumnType, Expr, IoCastExpr, Location, Param, ParamKind};
use base::settings::Setting;
use base::{Oid, SqlError, SqlResult};
use catalog::{CatalogView, FunctionDef, Validity};
use eval::mere::Site;
use eval::simple::{Simple, Slots};
use parse::ast::{Name, TypeName};
use rustc_hash::FxHashMap;
use tuple::Datum;

use super::result::{RowShape, composite_columns, return_type};
use super::statement::{BodyStatement, Sees};
use crate::Session;
use crate::output::Column;

/// A conversion ready to run.
struct Conversion {
    code: Simple,
    /// Unless both types are built in: what it was made from is as it was, and in which state of the transaction's own changes.
    definitions: Option<(Validity, u64)>,
}

/// What languages keep in a session.
#[derive(Default)]
pub(crate) struct LanguageState {
    /// One thing a language, of its own type.
    kept: RefCell<Vec<Rc<dyn Any>>>,
    conversions: RefCell<FxHashMap<(Oid, Oid, i32), Rc<Conversion>>>,
    /// Where languages are registered.
    places: RefCell<Vec<(Oid, usize)>>,
}

impl LanguageState {
    /// Where a language is registered, if that was asked before.
    pub(super) fn place(&self, language: Oid) -> Option<usize> {
        self.places.borrow().iter().find(|(oid, _)| *oid == language).map(|(_, place)| *place)
    }

    pub(super) fn keep_place(&self, language: Oid, place: usize) {
        self.places.borrow_mut().push((language, place));
    }
}

/// A subtransaction that a language began.
pub struct Subtransaction(base::SubxactId);

impl Session {
    /// What a language keeps in this session; made when it is first asked for.
    pub fn language_state<T: Default + 'static>(&self) -> Rc<T> {
        let mut kept = self.language_state.kept.borrow_mut();
        for one in kept.iter() {
            if let Ok(found) = one.clone().downcast::<T>() {
                return found;
            }
        }
        let new = Rc::new(T::default());
        kept.push(new.clone());
        new
    }

    /// A type as written in a body: its OID, modifier and collation.
    pub fn type_in_body(&self, name: &TypeName) -> SqlResult<ColumnType> {
        let format = self.format();
        let call = types::Call::new(&format).with_session(self);
        let (type_oid, typmod) = analyze::resolve_type(name, "", self, &call)?;
        let collation = self.type_collation_of(type_oid)?;
        Ok(ColumnType { name: String::new(), type_oid, typmod, collation })
    }

    /// A type's name, as messages show it.
    pub fn type_text(&self, type_oid: Oid) -> String {
        analyze::names::format_type(self, type_oid, None)
    }

    /// The array type over a type.
    pub fn array_type_of(&self, element: Oid) -> SqlResult<Oid> {
        Ok(self.type_by_oid(element)?.map_or(Oid::INVALID, |def| def.array))
    }

    /// The element type of an array type; 0 if it is none.
    pub fn element_type_of(&self, array: Oid) -> SqlResult<Oid> {
        Ok(self.type_by_oid(array)?.map_or(Oid::INVALID, |def| def.element))
    }

    /// The collation with this name.
    pub fn collation_named(&self, name: &Name) -> SqlResult<Oid> {
        let format = self.format();
        let call = types::Call::new(&format).with_session(self);
        analyze::resolve_collation(name, Location::NONE, "", self, &call)
    }

    /// Columns of a composite type or a domain over one, dropped ones with type 0; `None` for other types.
    pub fn row_columns_of(&self, type_oid: Oid) -> SqlResult<Option<Vec<ColumnType>>> {
        composite_columns(self, type_oid)
    }

    /// A row of a composite type, or of `record`.
    pub fn make_row(&self, type_oid: Oid, columns: &[ColumnType], values: &[Datum]) -> SqlResult<Datum> {
        Ok(RowShape::new(self, type_oid, columns)?.row(values))
    }

    /// What a function returns in a call.
    pub fn return_type_of(&self, function: &FunctionDef, call: &types::Call<'_>) -> SqlResult<ReturnType> {
        return_type(self, function, call)
    }

    /// Columns that a statement of a body gives; none if it gives no rows.
    pub fn columns_in_body(&self, statement: &BodyStatement) -> SqlResult<Vec<ColumnType>> {
        let source = statement.source();
        if let crate::Work::Utility(raw) = &source.work {
            // Variables get their numbers now.
            self.analyze_prepared(source)?;
            let types = self.arguments_of(source, &[]).types;
            let columns = self.commands().columns(self, &raw.stmt, &source.text, types)?;
            let column = |c: &Column| ColumnType {
                name: c.name.to_string(),
                type_oid: c.type_oid,
                typmod: c.typmod,
                collation: Oid::INVALID,
            };
            return Ok(columns.iter().flat_map(|list| list.iter()).map(column).collect());
        }
        let planned = self.current_plan(statement.source())?;
        let column = |c: &plan::ResultColumn| ColumnType {
            name: c.name.to_string(),
            type_oid: c.type_oid,
            typmod: c.typmod,
            collation: Oid::INVALID,
        };
        Ok(planned.shared.prepared.statement.result.iter().map(column).collect())
    }

    /// A value's text, as its type's output function writes it.
    pub fn value_text(&self, type_oid: Oid, value: &Datum) -> SqlResult<String> {
        let format = self.format();
        let mut text = Vec::new();
        types::output(type_oid, value, &types::Call::new(&format).with_session(self), &mut text)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// A value converted as assignments of procedural languages do: by a cast, or through text where there is none.
    pub fn convert_in_body(&self, value: Datum, from: Oid, to: (Oid, i32)) -> SqlResult<Datum> {
        if from == to.0 && to.1 < 0 {
            return Ok(value);
        }
        if value.is_null() && types::builtin_type(to.0).is_some() {
            return Ok(value);
        }
        let conversion = self.conversion(from, to)?;
        if conversion.code.is_mere() {
            let format = self.format();
            return conversion.code.mere(&Site { params: &[value], format: &format, session: self });
        }
        let scene = self.scene(None);
        let slots = Slots { values: &[value], arrays: &[] };
        self.in_scene(conversion.code.reach(), Sees::Now, &scene, |env| conversion.code.eval(env, slots))
    }

    /// The conversion, known or made now.
    fn conversion(&self, from: Oid, to: (Oid, i32)) -> SqlResult<Rc<Conversion>> {
        let key = (from, to.0, to.1);
        let changes = || self.names.names_version(&self.catalog);
        if let Some(known) = self.language_state.conversions.borrow().get(&key)
            && known.definitions.as_ref().is_none_or(|(v, own)| v.is_current() && *own == changes())
        {
            return Ok(known.clone());
        }
        let definitions = match from.is_pinned() && to.0.is_pinned() {
            true => None,
            false => Some((self.catalog.definitions(), changes())),
        };
        let made = Rc::new(Conversion { code: self.make_conversion(from, to)?, definitions });
        self.language_state.conversions.borrow_mut().insert(key, made.clone());
        Ok(made)
    }

    fn make_conversion(&self, from: Oid, (to, typmod): (Oid, i32)) -> SqlResult<Simple> {
        let location = Location::NONE;
        let value = Expr::Param(Param {
            kind: ParamKind::Extern,
            id: 1,
            type_oid: from,
            typmod: -1,
            collation: self.type_collation_of(from)?,
            location,
        });
        let format = self.format();
        let call = types::Call::new(&format).with_session(self);
        let assigned = analyze::assign_to(value.clone(), to, typmod, "", self, &call)?;
        let converted = match assigned {
            Some(converted) => converted,
            None => {
                let base = crate::routine::result::base_type(self, to)?;
                let through_text = Expr::IoCast(Box::new(IoCastExpr {
                    arg: value,
                    result_type: base,
                    collation: Oid::INVALID,
                    form: analyze::CoercionForm::ImplicitCast,
                    location,
                }));
                // The modifier, and the constraints of a domain.
                let again = analyze::assign_to(through_text.clone(), to, typmod, "", self, &call)?;
                again.unwrap_or(through_text)
            }
        };
        let planned = self.with_planner(self, |context| plan::convert_expression(&converted, context))?;
        Simple::of_expression(&planned)
    }

    /// The types of a function's OUT parameters in a call with these argument types.
    pub fn output_types_of(&self, function: &FunctionDef, arg_types: &[Oid]) -> SqlResult<Vec<Oid>> {
        let format = self.format();
        let call = types::Call::new(&format).with_session(self);
        let columns = analyze::routine::output_columns(function, arg_types, self, &call)?;
        Ok(columns.into_iter().map(|c| c.type_oid).collect())
    }

    /// The collation of values of a type.
    pub fn type_collation_of(&self, type_oid: Oid) -> SqlResult<Oid> {
        Ok(self.type_by_oid(type_oid)?.map_or(Oid::INVALID, |def| def.collation))
    }

    /// An array of a type with these dimensions.
    pub fn make_array(
        &self,
        array_type: Oid,
        dimensions: Vec<types::array::Dimension>,
        elements: Vec<Datum>,
    ) -> SqlResult<Datum> {
        let element = self.element_type_of(array_type)?;
        let format = self.format();
        let call = types::Call::new(&format).with_session(self);
        Ok(types::array::Array::with_dimensions(element, dimensions.into(), elements, &call)?.to_datum())
    }

    /// Whether ASSERT checks anything (`plpgsql.check_asserts`).
    pub fn checks_asserts(&self) -> bool {
        self.settings.borrow().get(Setting::plpgsql_check_asserts).as_bool()
    }

    /// Whether failures of INTO STRICT show the query's parameters (`plpgsql.print_strict_params`).
    pub fn prints_strict_parameters(&self) -> bool {
        self.settings.borrow().get(Setting::plpgsql_print_strict_params).as_bool()
    }

    /// What a name means that is a variable's and a column's (`plpgsql.variable_conflict`).
    pub fn variable_conflict(&self) -> String {
        self.settings.borrow().text(Setting::plpgsql_variable_conflict).to_owned()
    }

    /// Whether a failed check is an error, and whether it is a warning (`plpgsql.extra_errors`, `plpgsql.extra_warnings`).
    pub fn extra_checks(&self, check: &str) -> (bool, bool) {
        let settings = self.settings.borrow();
        let has = |list: Setting| {
            let text = settings.text(list);
            let words = text.split(',').map(str::trim);
            // Every statement with INTO asks.
            text != "none"
                && words
                    .into_iter()
                    .any(|word| word.eq_ignore_ascii_case(check) || word.eq_ignore_ascii_case("all"))
        };
        (has(Setting::plpgsql_extra_errors), has(Setting::plpgsql_extra_warnings))
    }

    /// Whether a subtransaction runs.
    pub fn in_subtransaction(&self) -> bool {
        self.txn.borrow().depth() > 1
    }

    /// Analyses CALL in a body.
    pub fn procedure_in_body(
        &self,
        statement: &parse::ast::Call,
        text: &str,
        variables: Rc<dyn analyze::variables::Variables>,
    ) -> SqlResult<analyze::Procedure> {
        let format = self.format();
        let call = types::Call::new(&format).with_session(self);
        let params = analyze::ParamTypes::Variables(variables);
        analyze::analyze_procedure(&statement.call, text, params, self, &call)
    }

    /// Calls a procedure from a body. Gives the values of its OUT parameters, if it has any.
    pub fn call_in_body(
        &self,
        procedure: &analyze::Procedure,
        params: &[Datum],
        atomic: bool,
    ) -> SqlResult<Option<Vec<Datum>>> {
        self.see_changes()?;
        super::procedure::call(self, procedure, params, atomic)
    }

    /// Runs DO in a body.
    pub fn do_in_body(&self, args: &[parse::ast::DefElem], atomic: bool) -> SqlResult<()> {
        self.see_changes()?;
        super::procedure::run_block(self, args, atomic)
    }

    /// Sends a notice, if the client wants it.
    pub fn raise_notice(&self, notice: SqlError) {
        self.notice(notice);
    }

    /// A user's function.
    pub fn function_named(&self, oid: Oid) -> SqlResult<Option<Arc<FunctionDef>>> {
        self.function_by_oid(oid)
    }

    /// Begins a subtransaction: a block with EXCEPTION.
    pub fn begin_subtransaction(&self) -> Subtransaction {
        let mut txn = self.txn.borrow_mut();
        txn.push_subxact(None);
        Subtransaction(txn.subxact())
    }

    /// What the subtransaction did is its parent's.
    pub fn commit_subtransaction(&self, begun: Subtransaction) -> SqlResult<()> {
        if self.txn.borrow().subxact() != begun.0 {
            return Err(SqlError::internal("a subtransaction within has not ended"));
        }
        self.leave_subtransaction(true);
        Ok(())
    }

    /// What the subtransaction did, and those within it, is undone.
    pub fn abort_subtransaction(&self, begun: Subtransaction) {
        while self.txn.borrow().subxact() >= begun.0 && self.txn.borrow().depth() > 1 {
            self.leave_subtransaction(false);
        }
    }
}
