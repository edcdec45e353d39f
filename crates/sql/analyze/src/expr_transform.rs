//! Expressions: from syntax to typed trees.
//!
//! PostgreSQL counterpart: `parse_expr.c`.

use base::{Oid, SqlError, SqlResult, sql_err};
use parse::ast::{self, Literal, OpKind, OpRight};
use tuple::Datum;
use types::oids;

use crate::ParamTypes;
use crate::coerce::{Coercion, location_of, null_const};
use crate::core::{Analyzer, Place};
use crate::expr::{
    ArrayExpr, BoolExpr, BoolOp, BooleanTest, CaseExpr, CaseTest, CoalesceExpr, CoercionForm, CollateExpr,
    Const, CurrentOf, DefaultExpr, Expr, Location, MergeActionExpr, MinMaxExpr, NamedArg, NullTest, Param,
    ParamKind, RowExpr, SqlValueExpr, SubLink, SubLinkKind, SubLinkType,
};
use crate::query::Query;

/// Parameters that a statement may number: PostgreSQL's limit, far beyond what Bind can give.
const MAX_PARAMETERS: usize = 0x3fff_ffff / size_of::<Oid>();

impl Analyzer<'_> {
    /// Types an expression.
    pub(crate) fn expr(&mut self, e: &ast::Expr) -> SqlResult<Expr> {
        runtime::check_stack()?;
        runtime::check_interrupts()?;
        match e {
            ast::Expr::Column(c) => self.column_or_variable(c),
            ast::Expr::Param { number, location } => self.param(*number, *location),
            ast::Expr::Const { value, location } => self.constant(value, *location),
            ast::Expr::Op(o) => self.op(o),
            ast::Expr::Bool { op, args, location } => self.bool_expr(*op, args, *location),
            ast::Expr::Func(f) => self.func_call(f),
            ast::Expr::Cast(c) => self.cast(c),
            ast::Expr::Collate(c) => self.collate(c),
            ast::Expr::SubLink(s) => self.sublink(s),
            ast::Expr::Array { elements, location } => self.array(elements, *location, None),
            ast::Expr::Row { args, explicit, location } => self.row(args, *explicit, *location),
            ast::Expr::Case(c) => self.case(c),
            ast::Expr::Coalesce { args, location } => self.coalesce(args, *location),
            ast::Expr::MinMax { greatest, args, location } => self.min_max(*greatest, args, *location),
            ast::Expr::NullTest { arg, not, location } => {
                let arg = self.expr(arg)?;
                self.null_test(arg, *not, *location)
            }
            ast::Expr::BooleanTest { arg, test, location } => {
                use crate::expr::BoolTest as T;
                let clause = match test {
                    T::True => "IS TRUE",
                    T::NotTrue => "IS NOT TRUE",
                    T::False => "IS FALSE",
                    T::NotFalse => "IS NOT FALSE",
                    T::Unknown => "IS UNKNOWN",
                    T::NotUnknown => "IS NOT UNKNOWN",
                };
                let arg = self.expr(arg)?;
                let arg = self.coerce_to_boolean(arg, clause)?;
                Ok(Expr::BooleanTest(Box::new(BooleanTest { arg, test: *test, location: *location })))
            }
            ast::Expr::SqlValue { kind, typmod, location } => {
                let typmod = self.time_precision(*kind, *typmod);
                Ok(Expr::SqlValue(SqlValueExpr {
                    kind: *kind,
                    result_type: crate::facts::sql_value_type(*kind),
                    typmod,
                    location: *location,
                }))
            }
            ast::Expr::Default { location } => {
                Err(self.at(sql_err!(SYNTAX_ERROR, "DEFAULT is not allowed in this context"), *location))
            }
            ast::Expr::Indirection { arg, steps } => self.indirection(arg, steps),
            ast::Expr::Grouping { args, location } => self.grouping(args, *location),
            ast::Expr::NamedArg { name, arg, location } => {
                let arg = self.expr(arg)?;
                Ok(Expr::NamedArg(Box::new(NamedArg { name: name.clone(), arg, location: *location })))
            }
            ast::Expr::CurrentOf { cursor } => {
                let rte =
                    self.level().target.ok_or_else(|| SqlError::internal("CURRENT OF without a target"))?;
                let variable = self.cursor_variable(cursor)?.map(Box::new);
                Ok(Expr::CurrentOf(CurrentOf { rte, cursor: cursor.clone(), variable }))
            }
            ast::Expr::Json(json) => self.json_expr(json),
            ast::Expr::Xml(xml) => self.xml_expr(xml),
            ast::Expr::MergeAction { location } => {
                if !self.levels.iter().any(|level| level.merge_returning) {
                    let error = sql_err!(
                        SYNTAX_ERROR,
                        "MERGE_ACTION() can only be used in the RETURNING list of a MERGE command"
                    );
                    return Err(self.at(error, *location));
                }
                Ok(Expr::MergeAction(MergeActionExpr { location: *location }))
            }
        }
    }

    fn time_precision(&self, kind: ast::SqlValueKind, typmod: i32) -> i32 {
        use ast::SqlValueKind as K;
        match kind {
            K::CurrentTime | K::CurrentTimestamp | K::LocalTime | K::LocalTimestamp => typmod.min(6),
            _ => -1,
        }
    }

    /// A boolean condition of a clause.
    pub(crate) fn condition(&mut self, e: &ast::Expr, place: Place) -> SqlResult<Expr> {
        self.in_place(place, |a| {
            let e = a.expr(e)?;
            a.coerce_to_boolean(e, place.name())
        })
    }

    /// An optional boolean condition of a clause.
    pub(crate) fn opt_condition(&mut self, e: Option<&ast::Expr>, place: Place) -> SqlResult<Option<Expr>> {
        e.map(|e| self.condition(e, place)).transpose()
    }

    /// A literal.
    pub(crate) fn constant(&mut self, value: &Literal, location: Location) -> SqlResult<Expr> {
        let (type_oid, value) = match value {
            Literal::Null => (oids::unknown, Datum::Null),
            Literal::Integer(i) => (oids::int4, Datum::Int4(*i)),
            Literal::Boolean(b) => (oids::bool, Datum::Bool(*b)),
            Literal::String(s) => (oids::unknown, Datum::text(s)),
            Literal::Float(s) => match parse_int8(s) {
                // With a sign, the least integer is one.
                Some(i) => match i32::try_from(i) {
                    Ok(i) => (oids::int4, Datum::Int4(i)),
                    Err(_) => (oids::int8, Datum::Int8(i)),
                },
                None => {
                    let value =
                        types::input(oids::numeric, s, -1, self.call).map_err(|e| self.at(e, location))?;
                    (oids::numeric, value)
                }
            },
            Literal::BitString(s) => {
                (oids::bit, types::input(oids::bit, s, -1, self.call).map_err(|e| self.at(e, location))?)
            }
        };
        Ok(Expr::Const(Const { type_oid, typmod: -1, collation: Oid::INVALID, value, location }))
    }

    fn param(&mut self, mut number: i32, location: Location) -> SqlResult<Expr> {
        let written = number;
        let missing = || sql_err!(UNDEFINED_PARAMETER, "there is no parameter ${written}");
        let index = usize::try_from(number - 1).ok().filter(|n| *n < MAX_PARAMETERS);
        let Some(index) = index else { return Err(self.at(missing(), location)) };
        let type_oid = match &mut self.params {
            ParamTypes::None => return Err(self.at(missing(), location)),
            ParamTypes::Fixed(types) => match types.get(index) {
                Some(t) if t.is_valid() => *t,
                _ => return Err(self.at(missing(), location)),
            },
            ParamTypes::Variables(variables) => match variables.parameter(number) {
                Some((mapped, t)) => {
                    number = mapped;
                    t
                }
                None => return Err(self.at(missing(), location)),
            },
            ParamTypes::Infer(types) => {
                if types.len() <= index {
                    runtime::memory::ask((index + 1) * size_of::<Oid>())?;
                    types.resize(index + 1, Oid::INVALID);
                }
                if types[index].is_valid() { types[index] } else { oids::unknown }
            }
        };
        let collation = self.type_collation(type_oid)?;
        Ok(Expr::Param(Param {
            kind: ParamKind::Extern,
            id: number,
            type_oid,
            typmod: -1,
            collation,
            location,
        }))
    }

    /// Settles the type of a parameter that had none.
    pub(crate) fn fix_param(
        &mut self,
        mut p: Param,
        target: Oid,
        _: i32,
        location: Location,
    ) -> SqlResult<Expr> {
        let index = usize::try_from(p.id - 1).unwrap_or(0);
        if let ParamTypes::Infer(types) = &mut self.params
            && let Some(slot) = types.get_mut(index)
        {
            if !slot.is_valid() {
                *slot = target;
            } else if *slot != target {
                let (before, now) = (*slot, target);
                let error =
                    sql_err!(AMBIGUOUS_PARAMETER, "inconsistent types deduced for parameter ${}", p.id)
                        .detail(format!("{} versus {}", self.type_text(before), self.type_text(now)));
                return Err(self.at(error, p.location));
            }
        }
        p.type_oid = target;
        p.typmod = -1;
        p.collation = self.type_collation(target)?;
        p.location = p.location.leftmost(location);
        Ok(Expr::Param(p))
    }

    fn op(&mut self, o: &ast::OpExpr) -> SqlResult<Expr> {
        match o.kind {
            OpKind::Op | OpKind::Like | OpKind::Ilike | OpKind::Similar => self.plain_op(o),
            OpKind::OpAny | OpKind::OpAll => {
                let (Some(left), OpRight::Expr(right)) = (&o.left, &o.right) else { return Err(shape()) };
                let (left, right) = (self.expr(left)?, self.expr(right)?);
                self.scalar_array(&o.name, o.kind == OpKind::OpAny, left, right, o.location)
            }
            OpKind::Distinct | OpKind::NotDistinct => self.distinct(o),
            OpKind::NullIf => self.null_if(o),
            OpKind::In => self.in_list(o),
            _ => self.between(o),
        }
    }

    fn null_test(&self, arg: Expr, not: bool, location: Location) -> SqlResult<Expr> {
        let type_oid = self.type_of(&arg);
        let row = type_oid == oids::record || self.is_composite(type_oid)?;
        Ok(Expr::NullTest(Box::new(NullTest { arg, not, row, location })))
    }

    fn plain_op(&mut self, o: &ast::OpExpr) -> SqlResult<Expr> {
        let OpRight::Expr(right) = &o.right else { return Err(shape()) };
        if self.call.format.null_equals
            && o.kind == OpKind::Op
            && let Some(left) = &o.left
            && o.name.0.len() == 1
            && o.name.last() == "="
            && (is_null(left) || is_null(right))
        {
            let arg = self.expr(if is_null(right) { left } else { right })?;
            return self.null_test(arg, false, o.location);
        }
        // A row compared with a row, or with a subquery of as many columns.
        if let (Some(ast::Expr::Row { args: left, .. }), ast::Expr::Row { args: right, .. }) =
            (&o.left, right)
        {
            let left = self.expr_list(left)?;
            let right = self.expr_list(right)?;
            return self.row_comparison(&o.name, left, right, o.location);
        }
        if let (Some(left @ ast::Expr::Row { .. }), ast::Expr::SubLink(s)) = (&o.left, right)
            && s.kind == SubLinkKind::Expr
        {
            return self.comparison_sublink(SubLinkType::RowCompare, left, &o.name, &s.query, o.location);
        }
        let left = o.left.as_ref().map(|l| self.expr(l)).transpose()?;
        let right = self.expr(right)?;
        self.operator(&o.name, left, right, o.location)
    }

    /// A list of expressions.
    pub(crate) fn expr_list(&mut self, list: &[ast::Expr]) -> SqlResult<Vec<Expr>> {
        list.iter().map(|e| self.expr(e)).collect()
    }

    fn distinct(&mut self, o: &ast::OpExpr) -> SqlResult<Expr> {
        let (Some(left), OpRight::Expr(right)) = (&o.left, &o.right) else { return Err(shape()) };
        let result = if is_null(left) || is_null(right) {
            let arg = self.expr(if is_null(right) { left } else { right })?;
            Expr::NullTest(Box::new(NullTest { arg, not: true, row: false, location: o.location }))
        } else if let (ast::Expr::Row { args: l, .. }, ast::Expr::Row { args: r, .. }) = (left, right) {
            let (l, r) = (self.expr_list(l)?, self.expr_list(r)?);
            self.row_distinct(&o.name, l, r, o.location)?
        } else {
            let (l, r) = (self.expr(left)?, self.expr(right)?);
            self.distinct_op(&o.name, l, r, o.location)?
        };
        if o.kind == OpKind::Distinct {
            return Ok(result);
        }
        Ok(not(result, o.location))
    }

    /// `a IS DISTINCT FROM b` of single values.
    pub(crate) fn distinct_op(
        &mut self,
        name: &ast::Name,
        l: Expr,
        r: Expr,
        location: Location,
    ) -> SqlResult<Expr> {
        match self.operator(name, Some(l), r, location)? {
            Expr::Op(op) if op.result_type == oids::bool => Ok(Expr::Distinct(op)),
            _ => Err(self.at(
                sql_err!(DATATYPE_MISMATCH, "IS DISTINCT FROM requires = operator to yield boolean"),
                location,
            )),
        }
    }

    fn null_if(&mut self, o: &ast::OpExpr) -> SqlResult<Expr> {
        let (Some(left), OpRight::Expr(right)) = (&o.left, &o.right) else { return Err(shape()) };
        let (l, r) = (self.expr(left)?, self.expr(right)?);
        match self.operator(&o.name, Some(l), r, o.location)? {
            Expr::Op(mut op) if op.result_type == oids::bool => {
                op.result_type = op.args.first().map_or(oids::text, |a| self.type_of(a));
                Ok(Expr::NullIf(op))
            }
            _ => Err(self
                .at(sql_err!(DATATYPE_MISMATCH, "NULLIF requires = operator to yield boolean"), o.location)),
        }
    }

    fn in_list(&mut self, o: &ast::OpExpr) -> SqlResult<Expr> {
        let (Some(left), OpRight::List(list)) = (&o.left, &o.right) else { return Err(shape()) };
        let negated = o.name.last() == "<>";
        let left_expr = self.expr(left)?;
        let mut constants = Vec::new();
        let mut others = Vec::new();
        for item in list {
            let e = self.expr(item)?;
            let has_var =
                crate::walk::contains(&e, |e, depth| matches!(e, Expr::Var(v) if v.levels_up == depth));
            if has_var { others.push((item, e)) } else { constants.push((item, e)) }
        }
        let mut terms = Vec::new();
        if constants.len() > 1 {
            match self.in_array(o, &left_expr, &constants, negated)? {
                Some(e) => terms.push(e),
                None => others.splice(0..0, std::mem::take(&mut constants)).for_each(drop),
            }
        } else {
            others.splice(0..0, constants).for_each(drop);
        }
        for (_, e) in others {
            let comparison = match (left_expr.clone(), e) {
                (Expr::Row(l), Expr::Row(r)) => self.row_comparison(&o.name, l.args, r.args, o.location)?,
                (l, r) => self.operator(&o.name, Some(l), r, o.location)?,
            };
            terms.push(self.coerce_to_boolean(comparison, "IN")?);
        }
        let op = if negated { BoolOp::And } else { BoolOp::Or };
        connect_pairwise(op, terms, o.location).ok_or_else(shape)
    }

    /// IN as a comparison with an array, where all constants have a common type with the left side.
    fn in_array(
        &mut self,
        o: &ast::OpExpr,
        left: &Expr,
        constants: &[(&ast::Expr, Expr)],
        negated: bool,
    ) -> SqlResult<Option<Expr>> {
        let mut all: Vec<&Expr> = vec![left];
        all.extend(constants.iter().map(|(_, e)| e));
        let common = self.common_type(&all, None)?;
        if !common.is_valid() || common == oids::record || !self.verify_common(common, &all)? {
            return Ok(None);
        }
        let array_type = self.array_type(common)?;
        if !array_type.is_valid() {
            return Ok(None);
        }
        let mut elements = Vec::with_capacity(constants.len());
        for (_, e) in constants {
            elements.push(self.coerce_to_common(e.clone(), common, "IN")?);
        }
        let array = Expr::Array(Box::new(ArrayExpr {
            array_type,
            element_type: common,
            collation: Oid::INVALID,
            elements,
            multidims: false,
            location: Location::NONE,
        }));
        self.scalar_array(&o.name, !negated, left.clone(), array, o.location).map(Some)
    }

    fn verify_common(&mut self, common: Oid, exprs: &[&Expr]) -> SqlResult<bool> {
        for e in exprs {
            let t = self.type_of(e);
            if !self.can_coerce(t, common, types::CastContext::Implicit)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn between(&mut self, o: &ast::OpExpr) -> SqlResult<Expr> {
        let (Some(value), OpRight::List(bounds)) = (&o.left, &o.right) else { return Err(shape()) };
        let [low, high] = bounds.as_slice() else { return Err(shape()) };
        let compare = |op: &str, bound: &ast::Expr| {
            ast::Expr::Op(Box::new(ast::OpExpr {
                kind: OpKind::Op,
                name: ast::Name(vec![op.to_owned()]),
                left: Some(value.clone()),
                right: OpRight::Expr(bound.clone()),
                location: o.location,
            }))
        };
        let bool_expr = |op, args| ast::Expr::Bool { op, args, location: o.location };
        let inside = |low, high| bool_expr(BoolOp::And, vec![compare(">=", low), compare("<=", high)]);
        let outside = |low, high| bool_expr(BoolOp::Or, vec![compare("<", low), compare(">", high)]);
        let rewritten = match o.kind {
            OpKind::Between => inside(low, high),
            OpKind::NotBetween => outside(low, high),
            OpKind::BetweenSymmetric => bool_expr(BoolOp::Or, vec![inside(low, high), inside(high, low)]),
            _ => bool_expr(BoolOp::And, vec![outside(low, high), outside(high, low)]),
        };
        self.expr(&rewritten)
    }

    fn bool_expr(&mut self, op: BoolOp, args: &[ast::Expr], location: Location) -> SqlResult<Expr> {
        let name = match op {
            BoolOp::And => "AND",
            BoolOp::Or => "OR",
            BoolOp::Not => "NOT",
        };
        let mut out = Vec::with_capacity(args.len());
        for arg in args {
            let e = self.expr(arg)?;
            out.push(self.coerce_to_boolean(e, name)?);
        }
        Ok(Expr::Bool(Box::new(BoolExpr { op, args: out, location })))
    }

    fn cast(&mut self, c: &ast::CastExpr) -> SqlResult<Expr> {
        let (target, typmod) = self.value_type_name(&c.type_name)?;
        // ARRAY[] learns its element type from the cast.
        if let ast::Expr::Array { elements, location } = &c.arg {
            let (base, base_typmod) = self.base_type(target, typmod)?;
            let element = self.element_type(base)?;
            if element.is_valid() {
                let array = self.array(elements, *location, Some((base, element, base_typmod)))?;
                if base == target {
                    return Ok(array);
                }
                return self.finish_cast(array, target, typmod, c);
            }
        }
        let arg = self.expr(&c.arg)?;
        self.finish_cast(arg, target, typmod, c)
    }

    fn finish_cast(&mut self, arg: Expr, target: Oid, typmod: i32, c: &ast::CastExpr) -> SqlResult<Expr> {
        let source = self.type_of(&arg);
        let mut location = c.location;
        if location == Location::NONE {
            location = c.type_name.location;
        }
        let arg_location = location_of(&arg);
        match self.coerce_to(arg, target, typmod, Coercion::explicit(location))? {
            Some(e) => Ok(e),
            None => {
                let at = if location == Location::NONE { arg_location } else { location };
                Err(self.cannot_coerce(source, target, at))
            }
        }
    }

    fn collate(&mut self, c: &ast::CollateClause) -> SqlResult<Expr> {
        let Some(arg) = &c.arg else { return Err(shape()) };
        let arg = self.expr(arg)?;
        let t = self.type_of(&arg);
        if t != oids::unknown && !self.type_collation(t)?.is_valid() {
            return Err(self.at(
                sql_err!(DATATYPE_MISMATCH, "collations are not supported by type {}", self.type_text(t)),
                c.location,
            ));
        }
        let collation = self.collation(&c.name, c.location)?;
        Ok(Expr::Collate(Box::new(CollateExpr { arg, collation, location: c.location })))
    }

    /// ARRAY\[...\]; `wanted` is array type, element type and modifier of a cast around it.
    fn array(
        &mut self,
        elements: &[ast::Expr],
        location: Location,
        wanted: Option<(Oid, Oid, i32)>,
    ) -> SqlResult<Expr> {
        let mut out = Vec::with_capacity(elements.len());
        let mut multidims = false;
        for e in elements {
            let value = match e {
                ast::Expr::Array { elements, location } => {
                    multidims = true;
                    self.array(elements, *location, wanted)?
                }
                e => self.expr(e)?,
            };
            let t = self.type_of(&value);
            multidims |= t != oids::unknown
                && t != oids::oidvector
                && t != oids::int2vector
                && self.element_type(t)?.is_valid();
            out.push(value);
        }
        let (array_type, element_type, coerce_type) = match wanted {
            Some((array, element, _)) => (array, element, if multidims { array } else { element }),
            None if out.is_empty() => {
                let error = sql_err!(INDETERMINATE_DATATYPE, "cannot determine type of empty array")
                    .hint("Explicitly cast to the desired type, for example ARRAY[]::integer[].");
                return Err(self.at(error, location));
            }
            None => {
                let refs: Vec<&Expr> = out.iter().collect();
                let common = self.common_type(&refs, Some("ARRAY"))?;
                if multidims {
                    let element = self.element_type(common)?;
                    if !element.is_valid() {
                        let error = sql_err!(
                            UNDEFINED_OBJECT,
                            "could not find element type for data type {}",
                            self.type_text(common)
                        );
                        return Err(self.at(error, location));
                    }
                    (common, element, common)
                } else {
                    let array = self.array_type(common)?;
                    if !array.is_valid() {
                        let error = sql_err!(
                            UNDEFINED_OBJECT,
                            "could not find array type for data type {}",
                            self.type_text(common)
                        );
                        return Err(self.at(error, location));
                    }
                    (array, common, common)
                }
            }
        };
        let mut coerced = Vec::with_capacity(out.len());
        for e in out {
            coerced.push(match wanted {
                None => self.coerce_to_common(e, coerce_type, "ARRAY")?,
                Some((_, _, typmod)) => {
                    let (source, at) = (self.type_of(&e), location_of(&e));
                    match self.coerce_to(e, coerce_type, typmod, Coercion::explicit(Location::NONE))? {
                        Some(e) => e,
                        None => return Err(self.cannot_coerce(source, coerce_type, at)),
                    }
                }
            });
        }
        Ok(Expr::Array(Box::new(ArrayExpr {
            array_type,
            element_type,
            collation: Oid::INVALID,
            elements: coerced,
            multidims,
            location,
        })))
    }

    fn row(&mut self, args: &[ast::Expr], explicit: bool, location: Location) -> SqlResult<Expr> {
        let args = self.expanded_list(args)?;
        if args.len() > 1664 {
            let error = sql_err!(TOO_MANY_COLUMNS, "ROW expressions can have at most 1664 entries");
            return Err(self.at(error, location));
        }
        let names = (1..=args.len()).map(|i| format!("f{i}")).collect();
        let form = if explicit { CoercionForm::Call } else { CoercionForm::ImplicitCast };
        Ok(Expr::Row(Box::new(RowExpr { args, row_type: oids::record, names, form, location })))
    }

    fn case(&mut self, c: &ast::CaseExpr) -> SqlResult<Expr> {
        let mut arg = c.arg.as_ref().map(|a| self.expr(a)).transpose()?;
        let mut test = None;
        if let Some(a) = arg.take() {
            let a = if self.type_of(&a) == oids::unknown {
                match self.coerce_to(a, oids::text, -1, Coercion::implicit())? {
                    Some(a) => a,
                    None => return Err(shape()),
                }
            } else {
                a
            };
            let type_oid = self.type_of(&a);
            test = Some(CaseTest {
                type_oid,
                typmod: self.typmod_of(&a),
                collation: self.type_collation(type_oid)?,
            });
            arg = Some(a);
        }
        let mut whens = Vec::with_capacity(c.whens.len());
        for w in &c.whens {
            let when = self.expr(&w.when)?;
            let when = match &test {
                None => when,
                Some(t) => {
                    let eq = ast::Name(vec!["=".into()]);
                    self.operator(&eq, Some(Expr::CaseTest(t.clone())), when, w.location)?
                }
            };
            let when = self.coerce_to_boolean(when, "CASE/WHEN")?;
            whens.push((when, self.expr(&w.then)?));
        }
        let default = match &c.default {
            Some(d) => self.expr(d)?,
            None => Expr::Const(Const {
                type_oid: oids::unknown,
                typmod: -1,
                collation: Oid::INVALID,
                value: Datum::Null,
                location: Location::NONE,
            }),
        };
        let mut results: Vec<&Expr> = vec![&default];
        results.extend(whens.iter().map(|(_, then)| then));
        let result_type = self.common_type(&results, Some("CASE"))?;
        let default = self.coerce_to_common(default, result_type, "CASE/ELSE")?;
        let mut coerced = Vec::with_capacity(whens.len());
        for (when, then) in whens {
            coerced.push((when, self.coerce_to_common(then, result_type, "CASE/WHEN")?));
        }
        Ok(Expr::Case(Box::new(CaseExpr {
            result_type,
            collation: Oid::INVALID,
            arg,
            whens: coerced,
            default,
            location: c.location,
        })))
    }

    fn coalesce(&mut self, args: &[ast::Expr], location: Location) -> SqlResult<Expr> {
        let (args, result_type) = self.common_args(args, "COALESCE")?;
        Ok(Expr::Coalesce(Box::new(CoalesceExpr { result_type, collation: Oid::INVALID, args, location })))
    }

    fn min_max(&mut self, greatest: bool, args: &[ast::Expr], location: Location) -> SqlResult<Expr> {
        let name = if greatest { "GREATEST" } else { "LEAST" };
        let (args, result_type) = self.common_args(args, name)?;
        Ok(Expr::MinMax(Box::new(MinMaxExpr {
            result_type,
            collation: Oid::INVALID,
            input_collation: Oid::INVALID,
            greatest,
            args,
            location,
        })))
    }

    fn common_args(&mut self, args: &[ast::Expr], name: &str) -> SqlResult<(Vec<Expr>, Oid)> {
        let args = self.expr_list(args)?;
        let refs: Vec<&Expr> = args.iter().collect();
        let common = self.common_type(&refs, Some(name))?;
        let args =
            args.into_iter().map(|a| self.coerce_to_common(a, common, name)).collect::<SqlResult<_>>()?;
        Ok((args, common))
    }

    fn sublink(&mut self, s: &ast::SubLink) -> SqlResult<Expr> {
        self.check_sublink_place(s.location)?;
        self.level().has_sublinks = true;
        match s.kind {
            SubLinkKind::Any | SubLinkKind::All => {
                let kind = if s.kind == SubLinkKind::Any { SubLinkType::Any } else { SubLinkType::All };
                let eq = ast::Name(vec!["=".into()]);
                let name = if s.op.0.is_empty() { &eq } else { &s.op };
                let Some(test) = &s.test else { return Err(shape()) };
                self.comparison_sublink(kind, test, name, &s.query, s.location)
            }
            kind => {
                let query = self.subselect(&s.query)?;
                if kind != SubLinkKind::Exists {
                    let columns = query.targets.iter().filter(|t| !t.junk).count();
                    if columns != 1 {
                        let error = sql_err!(SYNTAX_ERROR, "subquery must return only one column");
                        return Err(self.at(error, s.location));
                    }
                }
                if kind == SubLinkKind::Array {
                    let of =
                        query.targets.iter().find(|t| !t.junk).map_or(oids::text, |t| self.type_of(&t.expr));
                    let found = self.array_type(of)?;
                    if !found.is_valid() && !self.element_type(of)?.is_valid() {
                        let error = sql_err!(
                            UNDEFINED_OBJECT,
                            "could not find array type for data type {}",
                            self.type_text(of)
                        );
                        return Err(self.at(error, s.location));
                    }
                }
                let kind = match kind {
                    SubLinkKind::Exists => SubLinkType::Exists,
                    SubLinkKind::Array => SubLinkType::Array,
                    _ => SubLinkType::Expr,
                };
                Ok(Expr::SubLink(Box::new(SubLink {
                    kind,
                    id: 0,
                    test: None,
                    op_name: Vec::new(),
                    query: Box::new(query),
                    location: s.location,
                })))
            }
        }
    }

    fn check_sublink_place(&mut self, location: Location) -> SqlResult<()> {
        let place = self.place();
        let message = match place {
            Place::CheckConstraint => "cannot use subquery in check constraint",
            Place::ColumnDefault => "cannot use subquery in DEFAULT expression",
            Place::IndexExpression => "cannot use subquery in index expression",
            Place::PartitionBound => "cannot use subquery in partition bound",
            Place::PartitionKey => "cannot use subquery in partition key expression",
            Place::Statistics => "cannot use subquery in statistics expression",
            Place::IndexPredicate => "cannot use subquery in index predicate",
            Place::AlterTransform => "cannot use subquery in transform expression",
            Place::ExecuteParameter => "cannot use subquery in EXECUTE parameter",
            Place::GeneratedColumn => "cannot use subquery in column generation expression",
            Place::CallArgument => "cannot use subquery in CALL argument",
            Place::TriggerWhen => "cannot use subquery in trigger WHEN condition",
            Place::CopyWhere => "cannot use subquery in COPY FROM WHERE condition",
            _ => return Ok(()),
        };
        Err(self.at(SqlError::new(base::SqlState::FEATURE_NOT_SUPPORTED, message), location))
    }

    /// A SELECT inside an expression.
    pub(crate) fn subselect(&mut self, select: &ast::Select) -> SqlResult<Query> {
        self.nested(|a| a.select(select))
    }

    /// ANY, ALL and row comparisons with a subquery.
    fn comparison_sublink(
        &mut self,
        kind: SubLinkType,
        test: &ast::Expr,
        op: &ast::Name,
        select: &ast::Select,
        location: Location,
    ) -> SqlResult<Expr> {
        self.level().has_sublinks = true;
        let left = match self.expr(test)? {
            Expr::Row(r) if r.row_type == oids::record => r.args,
            e => vec![e],
        };
        let query = self.subselect(select)?;
        let mut right = Vec::new();
        for (i, t) in query.targets.iter().filter(|t| !t.junk).enumerate() {
            let type_oid = self.type_of(&t.expr);
            right.push(Expr::Param(Param {
                kind: ParamKind::SubLink,
                id: i as i32 + 1,
                type_oid,
                typmod: self.typmod_of(&t.expr),
                collation: crate::facts::expr_collation(&t.expr),
                location: Location::NONE,
            }));
        }
        let too = match left.len().cmp(&right.len()) {
            std::cmp::Ordering::Less => Some("subquery has too many columns"),
            std::cmp::Ordering::Greater => Some("subquery has too few columns"),
            std::cmp::Ordering::Equal => None,
        };
        if let Some(message) = too {
            return Err(self.at(sql_err!(SYNTAX_ERROR, "{message}"), location));
        }
        let test = self.row_comparison(op, left, right, location)?;
        Ok(Expr::SubLink(Box::new(SubLink {
            kind,
            id: 0,
            test: Some(test),
            op_name: op.0.clone(),
            query: Box::new(query),
            location,
        })))
    }
}

/// Most members of an IN list that are connected one by one.
const MOST_PAIRS: usize = 100;

/// Connects the comparisons of an IN list, each with all before it, as printed views show them. A long list is connected
/// as a whole, so that the tree does not grow as deep as the list is long.
fn connect_pairwise(op: BoolOp, terms: Vec<Expr>, location: Location) -> Option<Expr> {
    let connect = |args| Expr::Bool(Box::new(BoolExpr { op, args, location }));
    if terms.len() > MOST_PAIRS {
        return Some(connect(terms));
    }
    terms.into_iter().reduce(|before, term| connect(vec![before, term]))
}

/// Whether it is the constant NULL, as it stands.
fn is_null(e: &ast::Expr) -> bool {
    matches!(e, ast::Expr::Const { value: Literal::Null, .. })
}

/// NOT of an expression.
pub(crate) fn not(arg: Expr, location: Location) -> Expr {
    Expr::Bool(Box::new(BoolExpr { op: BoolOp::Not, args: vec![arg], location }))
}

/// DEFAULT of a column, where a VALUES list or assignment keeps it for later.
pub(crate) fn default_marker(type_oid: Oid, typmod: i32, collation: Oid, location: Location) -> Expr {
    Expr::Default(DefaultExpr { type_oid, typmod, collation, location })
}

/// A null of a type.
pub(crate) fn typed_null(type_oid: Oid, typmod: i32, collation: Oid) -> Expr {
    null_const(type_oid, typmod, collation)
}

pub(crate) fn shape() -> SqlError {
    SqlError::internal("unexpected syntax tree")
}

/// An integer literal beyond int4, decimal or with a base prefix, underscores allowed.
fn parse_int8(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let plain: String = digits.chars().filter(|c| *c != '_').collect();
    let lower = plain.to_ascii_lowercase();
    let magnitude = if let Some(hex) = lower.strip_prefix("0x") {
        i128::from_str_radix(hex, 16).ok()?
    } else if let Some(octal) = lower.strip_prefix("0o") {
        i128::from_str_radix(octal, 8).ok()?
    } else if let Some(binary) = lower.strip_prefix("0b") {
        i128::from_str_radix(binary, 2).ok()?
    } else if lower.bytes().all(|b| b.is_ascii_digit()) {
        lower.parse().ok()?
    } else {
        return None;
    };
    i64::try_from(if negative { -magnitude } else { magnitude }).ok()
}
