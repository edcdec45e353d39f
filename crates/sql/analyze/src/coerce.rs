//! Implicit and explicit conversion between types.
//!
//! PostgreSQL counterpart: `parse_coerce.c`.

use base::{Oid, SqlResult, sql_err};
use catalog::view::TypeKind;
use tuple::Datum;
use types::{CastContext, CastMethod, oids};

use crate::ParamTypes;
use crate::core::Analyzer;
use crate::expr::{
    ArrayCastExpr, CaseTest, CoercionForm, CollateExpr, Const, Expr, FuncExpr, IoCastExpr, Location,
    ParamKind, RelabelExpr, RowCastExpr, ToDomainExpr,
};
use crate::lookup::is_polymorphic;

/// How one type becomes another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pathway {
    Relabel,
    Function(Oid),
    Array,
    Io,
}

/// A conversion that is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Coercion {
    pub(crate) context: CastContext,
    pub(crate) form: CoercionForm,
    pub(crate) location: Location,
}

impl Coercion {
    /// Without being asked for.
    pub(crate) fn implicit() -> Coercion {
        Coercion {
            context: CastContext::Implicit,
            form: CoercionForm::ImplicitCast,
            location: Location::NONE,
        }
    }

    /// On assignment to a column.
    pub(crate) fn assignment() -> Coercion {
        Coercion {
            context: CastContext::Assignment,
            form: CoercionForm::ImplicitCast,
            location: Location::NONE,
        }
    }

    /// By CAST.
    pub(crate) fn explicit(location: Location) -> Coercion {
        Coercion { context: CastContext::Explicit, form: CoercionForm::ExplicitCast, location }
    }
}

impl Analyzer<'_> {
    /// Whether values of `source` can become `target` in this context.
    pub(crate) fn can_coerce(&self, source: Oid, target: Oid, context: CastContext) -> SqlResult<bool> {
        if source == target || target == oids::any || is_polymorphic(target) || source == oids::unknown {
            return Ok(true);
        }
        if self.pathway(source, target, context)?.is_some() {
            return Ok(true);
        }
        let source_composite = self.is_composite(source)?;
        if source == oids::record && self.is_composite(self.base_type(target, -1)?.0)? {
            return Ok(true);
        }
        if target == oids::record && source_composite {
            return Ok(true);
        }
        if source == oids::_record && self.is_composite(self.element_type(target)?)? {
            return Ok(true);
        }
        if target == oids::_record && source_composite_array(self, source)? {
            return Ok(true);
        }
        Ok(false)
    }

    /// Whether the type is a row type of a relation.
    pub(crate) fn is_composite(&self, oid: Oid) -> SqlResult<bool> {
        if !oid.is_valid() || types::builtin_type(oid).is_some() {
            return Ok(false);
        }
        let base = self.base_type(oid, -1)?.0;
        if types::builtin_type(base).is_some() {
            return Ok(false);
        }
        Ok(matches!(self.type_facts(base)?.kind, TypeKind::Composite(_)))
    }

    /// How to convert, if the context allows it.
    pub(crate) fn pathway(
        &self,
        source: Oid,
        target: Oid,
        context: CastContext,
    ) -> SqlResult<Option<Pathway>> {
        let source = self.base_type(source, -1)?.0;
        let target = self.base_type(target, -1)?.0;
        if source == target {
            return Ok(Some(Pathway::Relabel));
        }
        if let Some(cast) = types::registry::cast(source, target) {
            return Ok((context >= cast.context).then_some(match cast.method {
                CastMethod::Function(f) => Pathway::Function(f),
                CastMethod::Binary => Pathway::Relabel,
                CastMethod::InOut => Pathway::Io,
            }));
        }
        if let Some(cast) = self.catalog.cast(source, target)? {
            let needed = match cast.context {
                'i' => CastContext::Implicit,
                'a' => CastContext::Assignment,
                _ => CastContext::Explicit,
            };
            return Ok((context >= needed).then_some(match cast.method {
                'f' => Pathway::Function(cast.function),
                'i' => Pathway::Io,
                _ => Pathway::Relabel,
            }));
        }
        self.implied_pathway(source, target, context)
    }

    /// Conversions without a catalog entry: of arrays by element, and through text.
    fn implied_pathway(&self, source: Oid, target: Oid, context: CastContext) -> SqlResult<Option<Pathway>> {
        let vector = |t| t == oids::oidvector || t == oids::int2vector;
        if !vector(target) {
            let (from, to) = (self.element_type(source)?, self.element_type(target)?);
            if vector(source) && from == to && from.is_valid() {
                // They are arrays already, with subscripts from 0.
                return Ok(Some(Pathway::Relabel));
            }
            if from.is_valid() && to.is_valid() && !vector(source) {
                let element = self.pathway(from, to, context)?;
                return Ok(element.map(|_| Pathway::Array));
            }
        }
        let facts = |t| self.type_facts(t);
        if context >= CastContext::Assignment && facts(target)?.category == b'S' {
            return Ok(Some(Pathway::Io));
        }
        if context >= CastContext::Explicit && facts(source)?.category == b'S' {
            return Ok(Some(Pathway::Io));
        }
        Ok(None)
    }

    /// Converts to a type and modifier, or `None` if there is no way.
    pub(crate) fn coerce_to(
        &mut self,
        expr: Expr,
        target: Oid,
        typmod: i32,
        how: Coercion,
    ) -> SqlResult<Option<Expr>> {
        let source = self.type_of(&expr);
        if !self.can_coerce(source, target, how.context)? {
            return Ok(None);
        }
        // COLLATE stays on the outside of a conversion to a collatable type.
        let (expr, collate) = match expr {
            Expr::Collate(c) if self.type_collation(target)?.is_valid() => {
                (c.arg, Some((c.collation, c.location)))
            }
            other => (other, None),
        };
        let was_const = matches!(expr, Expr::Const(_));
        let mut converted = self.coerce(expr, target, typmod, how)?;
        let again = was_const && matches!(converted, Expr::Const(_));
        let form = if again || self.type_of(&converted) != source || source == target {
            how.form
        } else {
            CoercionForm::ImplicitCast
        };
        let bare = matches!(converted, Expr::Const(_));
        if source != target && !bare && self.lacks_typmod(&converted, target, typmod)? {
            hide(&mut converted);
        }
        let mut result = self.coerce_typmod(converted, target, typmod, Coercion { form, ..how })?;
        if let Some((collation, location)) = collate {
            result = Expr::Collate(Box::new(CollateExpr { arg: result, collation, location }));
        }
        Ok(Some(result))
    }

    /// Converts to a type that [`Analyzer::can_coerce`] said yes to; the modifier is applied to literals only.
    pub(crate) fn coerce(&mut self, expr: Expr, target: Oid, typmod: i32, how: Coercion) -> SqlResult<Expr> {
        let source = self.type_of(&expr);
        if source == target
            || matches!(target, oids::any | oids::anyelement | oids::anynonarray)
            || matches!(target, oids::anycompatible | oids::anycompatiblenonarray)
        {
            return Ok(expr);
        }
        if is_polymorphic(target) {
            // A literal stays unknown; a domain over an array is looked through.
            let base = self.base_type(source, -1)?.0;
            if source == oids::unknown || base == source {
                return Ok(expr);
            }
            return Ok(relabel(expr, base, -1, Coercion { form: CoercionForm::ImplicitCast, ..how }));
        }
        if source == oids::unknown {
            return self.coerce_unknown(expr, target, typmod, how);
        }
        if let Some(pathway) = self.pathway(source, target, how.context)? {
            return self.follow(expr, source, target, typmod, pathway, how);
        }
        self.coerce_row(expr, source, target, how)
    }

    fn follow(
        &mut self,
        expr: Expr,
        source: Oid,
        target: Oid,
        typmod: i32,
        pathway: Pathway,
        how: Coercion,
    ) -> SqlResult<Expr> {
        let (base, base_typmod) = self.base_type(target, typmod)?;
        if pathway == Pathway::Relabel {
            let domain = base != target;
            let same = if domain { self.base_type(source, -1)?.0 == base } else { source == target };
            let inner = if same {
                expr
            } else {
                let form = if domain { CoercionForm::ImplicitCast } else { how.form };
                relabel(expr, base, -1, Coercion { form, ..how })
            };
            return if domain { self.domain_check(inner, base_typmod, target, how) } else { Ok(inner) };
        }
        let inner_how =
            if base != target { Coercion { form: CoercionForm::ImplicitCast, ..how } } else { how };
        let inner = self.conversion(expr, base, base_typmod, pathway, inner_how)?;
        if base != target { self.domain_check(inner, base_typmod, target, how) } else { Ok(inner) }
    }

    /// The expression of one conversion step.
    fn conversion(
        &mut self,
        expr: Expr,
        target: Oid,
        typmod: i32,
        pathway: Pathway,
        how: Coercion,
    ) -> SqlResult<Expr> {
        let location = how.location;
        Ok(match pathway {
            Pathway::Relabel => relabel(expr, target, typmod, how),
            Pathway::Io => Expr::IoCast(Box::new(IoCastExpr {
                arg: expr,
                result_type: target,
                collation: Oid::INVALID,
                form: how.form,
                location,
            })),
            Pathway::Function(function) => {
                let nargs = self.function_arg_count(function)?;
                let mut args = vec![expr];
                if nargs >= 2 {
                    args.push(int4_const(typmod));
                }
                if nargs >= 3 {
                    args.push(bool_const(how.context == CastContext::Explicit));
                }
                Expr::Func(Box::new(FuncExpr {
                    function,
                    result_type: target,
                    returns_set: false,
                    variadic: false,
                    form: how.form,
                    collation: Oid::INVALID,
                    input_collation: Oid::INVALID,
                    args,
                    location,
                }))
            }
            Pathway::Array => {
                let source = self.base_type(self.type_of(&expr), -1)?.0;
                let (from, to) = (self.element_type(source)?, self.element_type(target)?);
                let test = Expr::CaseTest(CaseTest {
                    type_oid: from,
                    typmod: self.typmod_of(&expr),
                    collation: Oid::INVALID,
                });
                let element = self.coerce_to(test, to, typmod, how)?;
                let Some(element) = element else {
                    return Err(self.cannot_coerce(source, target, location));
                };
                Expr::ArrayCast(Box::new(ArrayCastExpr {
                    arg: expr,
                    element,
                    result_type: target,
                    typmod,
                    collation: Oid::INVALID,
                    form: how.form,
                    location,
                }))
            }
        })
    }

    fn function_arg_count(&self, function: Oid) -> SqlResult<usize> {
        if let Some(f) = types::registry::function(function) {
            return Ok(f.args.len());
        }
        Ok(self.catalog.function_by_oid(function)?.map_or(1, |f| f.args.len()))
    }

    /// A literal, or a parameter whose type is not known yet.
    fn coerce_unknown(&mut self, expr: Expr, target: Oid, typmod: i32, how: Coercion) -> SqlResult<Expr> {
        match expr {
            Expr::Const(c) => self.coerce_literal(c, target, typmod, how),
            Expr::Param(p) if p.kind == ParamKind::Extern && matches!(self.params, ParamTypes::Infer(_)) => {
                self.fix_param(p, target, typmod, how.location)
            }
            Expr::Collate(c) => {
                let arg = self.coerce(c.arg, target, typmod, how)?;
                if !self.type_collation(target)?.is_valid() {
                    return Ok(arg);
                }
                Ok(Expr::Collate(Box::new(CollateExpr { arg, ..*c })))
            }
            expr => {
                let (base, base_typmod) = self.base_type(target, typmod)?;
                let inner = if base == oids::text || base == oids::unknown {
                    relabel(expr, base, -1, how)
                } else {
                    self.conversion(expr, base, base_typmod, Pathway::Io, how)?
                };
                if base != target { self.domain_check(inner, base_typmod, target, how) } else { Ok(inner) }
            }
        }
    }

    fn coerce_literal(&mut self, c: Const, target: Oid, typmod: i32, how: Coercion) -> SqlResult<Expr> {
        let (base, base_typmod) = self.base_type(target, typmod)?;
        // The modifier is applied by a call around the literal, except for interval, whose input needs it.
        let input_typmod = if base == oids::interval { base_typmod } else { -1 };
        let value = match &c.value {
            Datum::Bytes(bytes) => {
                let text = String::from_utf8_lossy(bytes);
                types::input(base, &text, input_typmod, self.call).map_err(|e| self.at(e, c.location))?
            }
            _ => Datum::Null,
        };
        let literal = Expr::Const(Const {
            type_oid: base,
            typmod: input_typmod,
            collation: self.type_collation(base)?,
            value,
            location: c.location.leftmost(how.location),
        });
        if base == target {
            return Ok(literal);
        }
        self.domain_check(literal, base_typmod, target, how)
    }

    /// A value checked by a domain; the base type's modifier is applied first.
    fn domain_check(&mut self, expr: Expr, base_typmod: i32, domain: Oid, how: Coercion) -> SqlResult<Expr> {
        let (base, _) = self.base_type(domain, -1)?;
        let inner = Coercion { form: CoercionForm::ImplicitCast, ..how };
        let arg = self.coerce_typmod(expr, base, base_typmod, inner)?;
        Ok(Expr::ToDomain(Box::new(ToDomainExpr {
            arg,
            domain,
            typmod: -1,
            collation: self.type_collation(domain)?,
            form: how.form,
            location: how.location,
        })))
    }

    fn coerce_row(&mut self, expr: Expr, source: Oid, target: Oid, how: Coercion) -> SqlResult<Expr> {
        if target == oids::record || target == oids::_record {
            return Ok(relabel(expr, target, -1, how));
        }
        if source == oids::_record && self.element_type(target)?.is_valid() {
            return self.conversion(expr, target, -1, Pathway::Array, how);
        }
        if source == oids::record {
            return self.row_to_composite(expr, target, how);
        }
        Ok(Expr::RowCast(Box::new(RowCastExpr {
            arg: expr,
            result_type: target,
            form: how.form,
            location: how.location,
        })))
    }

    fn row_to_composite(&mut self, expr: Expr, target: Oid, how: Coercion) -> SqlResult<Expr> {
        let (base, _) = self.base_type(target, -1)?;
        let at = if how.location == Location::NONE { location_of(&expr) } else { how.location };
        let how = Coercion { location: at, ..how };
        let Some(columns) = self.composite_columns(base)? else {
            return Err(self.cannot_coerce(oids::record, target, how.location));
        };
        let fail = |this: &Self, detail: &str| {
            let error = this.cannot_coerce(oids::record, target, how.location);
            error.detail(detail.to_owned())
        };
        let Expr::Row(mut row) = expr else {
            return Err(self.cannot_coerce(oids::record, target, how.location));
        };
        let given = std::mem::take(&mut row.args);
        let (ngiven, nlive) = (given.len(), columns.iter().filter(|c| c.type_oid.is_valid()).count());
        if ngiven != nlive {
            let few =
                if ngiven < nlive { "Input has too few columns." } else { "Input has too many columns." };
            return Err(fail(self, few));
        }
        let mut given = given.into_iter();
        for (i, column) in columns.iter().enumerate() {
            if !column.type_oid.is_valid() {
                row.args.push(null_const(oids::int4, -1, Oid::INVALID));
                continue;
            }
            let Some(value) = given.next() else { break };
            let from = self.type_of(&value);
            let inner = Coercion { form: CoercionForm::ImplicitCast, ..how };
            match self.coerce_to(value, column.type_oid, column.typmod, inner)? {
                Some(value) => row.args.push(value),
                None => {
                    let detail = format!(
                        "Cannot cast type {} to {} in column {}.",
                        self.type_text(from),
                        self.type_text(column.type_oid),
                        i + 1
                    );
                    return Err(fail(self, &detail));
                }
            }
        }
        row.row_type = base;
        row.form = how.form;
        row.names = columns.into_iter().map(|c| c.name).collect();
        let result = Expr::Row(row);
        if base != target { self.domain_check(result, -1, target, how) } else { Ok(result) }
    }

    /// Applies a type's modifier by its length conversion function, if the value does not have it already.
    pub(crate) fn coerce_typmod(
        &mut self,
        expr: Expr,
        target: Oid,
        typmod: i32,
        how: Coercion,
    ) -> SqlResult<Expr> {
        if !self.lacks_typmod(&expr, target, typmod)? {
            return Ok(expr);
        }
        let element = self.element_type(target)?;
        let vector = target == oids::oidvector || target == oids::int2vector;
        let of = if element.is_valid() && !vector { element } else { target };
        let Some(function) = self.length_function(of)? else {
            return Ok(with_typmod(expr, target, typmod, how));
        };
        if of == target {
            return self.conversion(expr, target, typmod, Pathway::Function(function), how);
        }
        let test = Expr::CaseTest(CaseTest { type_oid: of, typmod: -1, collation: Oid::INVALID });
        let element = self.conversion(test, of, typmod, Pathway::Function(function), how)?;
        Ok(Expr::ArrayCast(Box::new(ArrayCastExpr {
            arg: expr,
            element,
            result_type: target,
            typmod,
            collation: Oid::INVALID,
            form: how.form,
            location: how.location,
        })))
    }

    /// The function that brings a type's values to a modifier: its cast to itself.
    fn length_function(&self, of: Oid) -> SqlResult<Option<Oid>> {
        if let Some(cast) = types::registry::cast(of, of) {
            return Ok(match cast.method {
                CastMethod::Function(function) => Some(function),
                _ => None,
            });
        }
        if types::builtin_type(of).is_some() {
            return Ok(None);
        }
        Ok(self.catalog.cast(of, of)?.filter(|cast| cast.method == 'f').map(|cast| cast.function))
    }

    /// Whether a value of a type is still to be brought to a modifier.
    fn lacks_typmod(&self, expr: &Expr, target: Oid, typmod: i32) -> SqlResult<bool> {
        Ok(typmod >= 0 && typmod != self.typmod_of(expr) && self.base_type(target, -1)?.0 == target)
    }

    /// The error of a cast that does not exist.
    pub(crate) fn cannot_coerce(&self, source: Oid, target: Oid, location: Location) -> base::SqlError {
        let error = sql_err!(
            CANNOT_COERCE,
            "cannot cast type {} to {}",
            self.type_text(source),
            self.type_text(target)
        );
        self.at(error, location)
    }

    /// A value that must be boolean.
    pub(crate) fn coerce_to_boolean(&mut self, expr: Expr, construct: &str) -> SqlResult<Expr> {
        self.coerce_to_specific(expr, oids::bool, construct)
    }

    /// A value that must be of a given type, as the argument of a construct.
    pub(crate) fn coerce_to_specific(&mut self, expr: Expr, target: Oid, construct: &str) -> SqlResult<Expr> {
        let source = self.type_of(&expr);
        let location = location_of(&expr);
        let expr = if source == target {
            expr
        } else {
            match self.coerce_to(expr, target, -1, Coercion::assignment())? {
                Some(expr) => expr,
                None => {
                    let (want, have) = (self.type_text(target), self.type_text(source));
                    return Err(self.at(
                        sql_err!(
                            DATATYPE_MISMATCH,
                            "argument of {construct} must be type {want}, not type {have}"
                        ),
                        location,
                    ));
                }
            }
        };
        if returns_set(&expr) {
            return Err(self
                .at(sql_err!(DATATYPE_MISMATCH, "argument of {construct} must not return a set"), location));
        }
        Ok(expr)
    }

    /// The type that all of these can become. `context` of `None` gives 0 instead of an error.
    pub(crate) fn common_type(&mut self, exprs: &[&Expr], context: Option<&str>) -> SqlResult<Oid> {
        let typed: Vec<(Oid, Location)> = exprs.iter().map(|e| (self.type_of(e), location_of(e))).collect();
        self.common_of(&typed, context)
    }

    /// As [`Analyzer::common_type`], of types.
    pub(crate) fn common_of(&self, typed: &[(Oid, Location)], context: Option<&str>) -> SqlResult<Oid> {
        let Some(first) = typed.first() else { return Ok(oids::text) };
        if first.0 != oids::unknown && typed.iter().all(|t| t.0 == first.0) {
            return Ok(first.0);
        }
        let mut chosen = self.base_type(first.0, -1)?.0;
        let mut facts = self.type_facts(chosen)?;
        for (t, location) in &typed[1..] {
            let candidate = self.base_type(*t, -1)?.0;
            if candidate == oids::unknown || candidate == chosen {
                continue;
            }
            let candidate_facts = self.type_facts(candidate)?;
            if chosen == oids::unknown {
                (chosen, facts) = (candidate, candidate_facts);
            } else if candidate_facts.category != facts.category {
                let Some(context) = context else { return Ok(Oid::INVALID) };
                return Err(self.at(
                    sql_err!(
                        DATATYPE_MISMATCH,
                        "{context} types {} and {} cannot be matched",
                        self.type_text(chosen),
                        self.type_text(candidate)
                    ),
                    *location,
                ));
            } else if !facts.preferred
                && self.can_coerce(chosen, candidate, CastContext::Implicit)?
                && !self.can_coerce(candidate, chosen, CastContext::Implicit)?
            {
                (chosen, facts) = (candidate, candidate_facts);
            }
        }
        Ok(if chosen == oids::unknown { oids::text } else { chosen })
    }

    /// Converts to a type that [`Analyzer::common_type`] chose.
    pub(crate) fn coerce_to_common(&mut self, expr: Expr, target: Oid, context: &str) -> SqlResult<Expr> {
        let source = self.type_of(&expr);
        if source == target {
            return Ok(expr);
        }
        if !self.can_coerce(source, target, CastContext::Implicit)? {
            let (from, to) = (self.type_text(source), self.type_text(target));
            return Err(self.at(
                sql_err!(CANNOT_COERCE, "{context} could not convert type {from} to {to}"),
                location_of(&expr),
            ));
        }
        self.coerce(expr, target, -1, Coercion::implicit())
    }

    /// The modifier that all of these of one type share, or -1.
    pub(crate) fn common_typmod(&self, exprs: &[&Expr], type_oid: Oid) -> i32 {
        let mut all = exprs.iter().map(|e| if self.type_of(e) == type_oid { self.typmod_of(e) } else { -1 });
        let first = all.next().unwrap_or(-1);
        if all.all(|t| t == first) { first } else { -1 }
    }
}

fn source_composite_array(analyzer: &Analyzer<'_>, source: Oid) -> SqlResult<bool> {
    let element = analyzer.element_type(source)?;
    Ok(element.is_valid() && analyzer.is_composite(element)?)
}

/// A change of type only.
pub(crate) fn relabel(arg: Expr, result_type: Oid, typmod: i32, how: Coercion) -> Expr {
    if let Expr::Const(mut c) = arg {
        // A constant simply gets the new type.
        c.value = types::registry::relabel(c.value, result_type);
        c.type_oid = result_type;
        c.typmod = typmod;
        return Expr::Const(c);
    }
    Expr::Relabel(Box::new(RelabelExpr {
        arg,
        result_type,
        typmod,
        collation: Oid::INVALID,
        form: how.form,
        location: how.location,
    }))
}

/// Says that a value has a modifier, for types that have no function to apply it.
fn with_typmod(arg: Expr, result_type: Oid, typmod: i32, how: Coercion) -> Expr {
    relabel(arg, result_type, typmod, how)
}

pub(crate) fn int4_const(value: i32) -> Expr {
    Expr::Const(Const {
        type_oid: oids::int4,
        typmod: -1,
        collation: Oid::INVALID,
        value: Datum::Int4(value),
        location: Location::NONE,
    })
}

pub(crate) fn bool_const(value: bool) -> Expr {
    Expr::Const(Const {
        type_oid: oids::bool,
        typmod: -1,
        collation: Oid::INVALID,
        value: Datum::Bool(value),
        location: Location::NONE,
    })
}

pub(crate) fn null_const(type_oid: Oid, typmod: i32, collation: Oid) -> Expr {
    Expr::Const(Const { type_oid, typmod, collation, value: Datum::Null, location: Location::NONE })
}

/// Whether evaluating the expression's top gives a set.
pub(crate) fn returns_set(expr: &Expr) -> bool {
    crate::walk::contains(expr, |e, depth| {
        depth == 0
            && match e {
                Expr::Func(f) => f.returns_set,
                Expr::Op(o) => o.returns_set,
                _ => false,
            }
    })
}

/// Where the expression begins.
pub(crate) fn location_of(expr: &Expr) -> Location {
    crate::facts::location(expr)
}

/// Has a conversion go without saying: the one around it says as much.
fn hide(e: &mut Expr) {
    let form = match e {
        Expr::Func(f) => &mut f.form,
        Expr::Relabel(r) => &mut r.form,
        Expr::IoCast(c) => &mut c.form,
        Expr::ArrayCast(c) => &mut c.form,
        Expr::RowCast(c) => &mut c.form,
        _ => return,
    };
    *form = CoercionForm::ImplicitCast;
}
