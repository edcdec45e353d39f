//! Function calls: plain functions, aggregates, window functions; operators.

use base::{Oid, SqlError, SqlResult, sql_err};
use parse::ast;
use types::oids;

use crate::coerce::{Coercion, location_of, returns_set};
use crate::core::{Analyzer, Place};
use crate::expr::{
    Aggregate, AggregateKind, ArrayExpr, CoercionForm, Expr, FuncExpr, Location, OpExpr, ScalarArrayExpr,
    TargetEntry, WindowCall,
};
use crate::lookup::{Candidate, is_polymorphic};
use crate::resolve::Resolved;

const FUNCTION_HINT: &str =
    "No function matches the given name and argument types. You might need to add explicit type casts.";

const PROCEDURE_HINT: &str =
    "No procedure matches the given name and argument types. You might need to add explicit type casts.";

impl Analyzer<'_> {
    /// A call as written.
    pub(crate) fn func_call(&mut self, call: &ast::FuncCall) -> SqlResult<Expr> {
        let mut args = Vec::with_capacity(call.args.len() + call.order_by.len());
        for arg in &call.args {
            args.push(self.expr(arg)?);
        }
        // WITHIN GROUP's sort keys count as arguments for the choice of the function.
        if call.within_group {
            for key in &call.order_by {
                args.push(self.in_place(Place::OrderBy, |a| a.expr(&key.expr))?);
            }
        }
        let filter = match &call.filter {
            None => None,
            Some(f) => Some(self.in_place(Place::Filter, |a| a.filter_clause(f))?),
        };
        self.resolve_call(call, args, filter)
    }

    fn filter_clause(&mut self, f: &ast::Expr) -> SqlResult<Expr> {
        let e = self.expr(f)?;
        self.coerce_to_boolean(e, "FILTER")
    }

    fn resolve_call(
        &mut self,
        call: &ast::FuncCall,
        mut args: Vec<Expr>,
        filter: Option<Expr>,
    ) -> SqlResult<Expr> {
        let location = call.location;
        // JDBC's `{? = call f(?)}` declares what stands for the result to be `void`.
        if !self.calling {
            args.retain(|arg| !matches!(arg, Expr::Param(p) if p.type_oid == oids::void));
        }
        let mut arg_names: Vec<String> = Vec::new();
        for arg in &args {
            match arg {
                Expr::NamedArg(n) => {
                    if arg_names.contains(&n.name) {
                        return Err(self.at(
                            sql_err!(SYNTAX_ERROR, "argument name \"{}\" used more than once", n.name),
                            n.location,
                        ));
                    }
                    arg_names.push(n.name.clone());
                }
                other if !arg_names.is_empty() => {
                    return Err(self.at(
                        sql_err!(SYNTAX_ERROR, "positional argument cannot follow named argument"),
                        location_of(other),
                    ));
                }
                _ => {}
            }
        }
        let actual: Vec<Oid> = args.iter().map(|a| self.type_of(a)).collect();
        let names: Vec<&str> = arg_names.iter().map(String::as_str).collect();
        let literal = matches!(args.first(), Some(Expr::Const(_)));
        let plain = call.order_by.is_empty()
            && call.filter.is_none()
            && call.over.is_none()
            && !call.star
            && !call.distinct
            && !call.within_group;
        let resolved = self
            .resolve_function(&call.name, &actual, &names, call.variadic, literal)
            .map_err(|e| self.at(e, location))?;
        let candidate = match resolved {
            Resolved::Function(c) => c,
            Resolved::Cast(target) if plain && !call.variadic => {
                let Some(arg) = args.pop() else { return Err(SqlError::internal("cast without argument")) };
                return match self.coerce_to(arg, target, -1, Coercion::explicit(location))? {
                    Some(e) => Ok(e),
                    None => Err(self.cannot_coerce(actual[0], target, location)),
                };
            }
            Resolved::Ambiguous => {
                return Err(self.at(
                    sql_err!(
                        AMBIGUOUS_FUNCTION,
                        "function {} is not unique",
                        self.signature(&call.name, &actual, &arg_names)
                    )
                    .hint("Could not choose a best candidate function. You might need to add explicit type casts."),
                    location,
                ));
            }
            _ => return Err(self.no_function(call, &actual, &arg_names)),
        };
        self.build_call(call, candidate, args, &actual, filter)
    }

    /// CALL of a procedure: arguments for its inputs, and what stands for its OUT parameters.
    pub(crate) fn procedure(&mut self, call: &ast::FuncCall) -> SqlResult<crate::Procedure> {
        let mut args = Vec::with_capacity(call.args.len());
        for arg in &call.args {
            args.push(self.expr(arg)?);
        }
        self.calling = true;
        let made = self.resolve_call(call, args, None);
        self.calling = false;
        let Expr::Func(mut made) = made? else {
            let error = sql_err!(WRONG_OBJECT_TYPE, "{} is not a procedure", call.name.dotted());
            return Err(self.at(error, call.location));
        };
        for arg in &mut made.args {
            crate::collate::assign(self, arg)?;
        }
        let missing = || SqlError::internal("cache lookup failed for a procedure");
        let def = self.catalog.function_by_oid(made.function)?.ok_or_else(missing)?;
        let (mut inputs, mut targets) = (Vec::new(), Vec::new());
        for (parameter, arg) in def.parameters.iter().zip(made.args) {
            if matches!(parameter.mode, b'o' | b'b') {
                targets.push(arg.clone());
            }
            if parameter.mode != b'o' {
                inputs.push(arg);
            }
        }
        let arg_types: Vec<Oid> = inputs.iter().map(|a| self.type_of(a)).collect();
        let outputs = crate::routine::output_columns(&def, &arg_types, self.catalog, self.call)?;
        Ok(crate::Procedure { oid: def.oid, args: inputs, outputs, targets })
    }

    /// `name(types)` as error messages show it.
    pub(crate) fn signature(&self, name: &ast::Name, actual: &[Oid], names: &[String]) -> String {
        let positional = actual.len() - names.len();
        let shown: Vec<String> = actual
            .iter()
            .enumerate()
            .map(|(i, t)| match i.checked_sub(positional).and_then(|n| names.get(n)) {
                Some(name) => format!("{name} => {}", self.type_text(*t)),
                None => self.type_text(*t),
            })
            .collect();
        format!("{}({})", name.dotted(), shown.join(", "))
    }

    fn no_function(&self, call: &ast::FuncCall, actual: &[Oid], names: &[String]) -> SqlError {
        let signature = self.signature(&call.name, actual, names);
        if self.calling {
            let error = sql_err!(UNDEFINED_FUNCTION, "procedure {signature} does not exist");
            return self.at(error.hint(PROCEDURE_HINT), call.location);
        }
        let error = if call.order_by.len() > 1 && !call.within_group {
            sql_err!(UNDEFINED_FUNCTION, "function {signature} does not exist").hint(
                "No aggregate function matches the given name and argument types. Perhaps you misplaced ORDER BY; ORDER BY must appear after all regular arguments of the aggregate.",
            )
        } else {
            sql_err!(UNDEFINED_FUNCTION, "function {signature} does not exist").hint(FUNCTION_HINT)
        };
        self.at(error, call.location)
    }

    fn build_call(
        &mut self,
        call: &ast::FuncCall,
        candidate: Candidate,
        args: Vec<Expr>,
        actual: &[Oid],
        filter: Option<Expr>,
    ) -> SqlResult<Expr> {
        let location = call.location;
        let name = call.name.dotted();
        self.check_kind(call, &candidate, &name, actual)?;
        if call.within_group {
            self.check_direct_args(call, candidate.oid, actual)?;
        }
        let mut args: Vec<Expr> =
            args.into_iter().map(|a| if let Expr::NamedArg(n) = a { n.arg } else { a }).collect();
        let mut declared = candidate.args.clone();
        let mut actual = actual.to_vec();
        if candidate.defaults > 0 {
            let defaults = self.default_args(&candidate, args.len())?;
            for d in defaults {
                actual.push(self.type_of(&d));
                args.push(d);
            }
        }
        let result = self.resolve_polymorphic(&actual, &mut declared, candidate.result)?;
        let given: Vec<Location> = args.iter().map(location_of).collect();
        let mut coerced = Vec::with_capacity(args.len());
        for (i, arg) in args.into_iter().enumerate() {
            coerced.push(self.coerce_argument(arg, declared[i], given[i])?);
        }
        let mut args = match &candidate.order {
            None => coerced,
            Some(order) => reorder(coerced, order),
        };
        let mut variadic = call.variadic;
        if variadic
            && declared.last() == Some(&oids::any)
            && let Some(last) = args.last()
        {
            let t = self.type_of(last);
            if t != oids::unknown && !self.element_type(t)?.is_valid() {
                let error = sql_err!(DATATYPE_MISMATCH, "VARIADIC argument must be an array");
                return Err(self.at(error, location_of(last)));
            }
        }
        if candidate.variadic > 0 && declared.last() != Some(&oids::any) {
            variadic = self.collect_variadic(&mut args, &candidate, &declared)?;
        }
        self.check_unresolved_record(&candidate, result, call)?;
        match (candidate.kind, &call.over) {
            (b'a', None) => self.aggregate(call, &candidate, args, declared, result, filter, variadic),
            (b'a' | b'w', Some(over)) => self.window_call(call, &candidate, args, result, filter, over),
            _ => {
                if candidate.returns_set {
                    self.check_srf(&name, location)?;
                }
                Ok(Expr::Func(Box::new(FuncExpr {
                    function: candidate.oid,
                    result_type: result,
                    returns_set: candidate.returns_set,
                    variadic,
                    form: if call.sql_syntax { CoercionForm::SqlSyntax } else { CoercionForm::Call },
                    collation: Oid::INVALID,
                    input_collation: Oid::INVALID,
                    args,
                    location,
                })))
            }
        }
    }

    fn check_unresolved_record(&self, _: &Candidate, result: Oid, call: &ast::FuncCall) -> SqlResult<()> {
        if is_polymorphic(result) && result != oids::anyarray {
            let error =
                sql_err!(DATATYPE_MISMATCH, "could not determine polymorphic type of {}", call.name.dotted());
            return Err(self.at(error, call.location));
        }
        Ok(())
    }

    /// One argument converted to what the function declares.
    pub(crate) fn coerce_argument(
        &mut self,
        arg: Expr,
        declared: Oid,
        location: Location,
    ) -> SqlResult<Expr> {
        let source = self.type_of(&arg);
        if source == declared {
            return Ok(arg);
        }
        let converted = self.coerce(arg, declared, -1, Coercion::implicit());
        converted.map_err(|e| self.at(e, location))
    }

    /// Makes the trailing arguments one array.
    fn collect_variadic(&mut self, args: &mut Vec<Expr>, c: &Candidate, declared: &[Oid]) -> SqlResult<bool> {
        let first = args.len() - c.variadic;
        let elements: Vec<Expr> = args.split_off(first);
        let element_type = declared[first];
        let array_type = self.array_type(element_type)?;
        if !array_type.is_valid() {
            return Err(sql_err!(
                UNDEFINED_OBJECT,
                "could not find array type for data type {}",
                self.type_text(element_type)
            ));
        }
        let location = elements.first().map_or(Location::NONE, location_of);
        args.push(Expr::Array(Box::new(ArrayExpr {
            array_type,
            element_type,
            collation: Oid::INVALID,
            elements,
            multidims: false,
            location,
        })));
        Ok(true)
    }

    /// Values of the parameters that the call leaves to their defaults, in the order of `Candidate::args`.
    fn default_args(&mut self, c: &Candidate, given: usize) -> SqlResult<Vec<Expr>> {
        let total = c.args.len();
        let mut out = Vec::with_capacity(total - given);
        let user = self.catalog.function_by_oid(c.oid)?;
        let builtin = types::registry::function(c.oid);
        for i in given..total {
            let parameter = c.order.as_ref().map_or(i, |o| o[i]);
            if let Some(f) = builtin.filter(|_| !c.user) {
                let at = parameter + f.defaults.len() - f.args.len();
                let text = f.defaults.get(at).copied().unwrap_or("NULL");
                out.push(self.builtin_default(text, f.args[parameter])?);
            } else if let Some(f) = &user {
                let at = (parameter + f.defaults.len()).checked_sub(total);
                let Some(text) = at.and_then(|at| f.defaults.get(at)) else {
                    return Err(SqlError::internal("function default is missing"));
                };
                out.push(crate::stored::load_expr(text, self.catalog)?);
            }
        }
        Ok(out)
    }

    fn builtin_default(&mut self, text: &str, type_oid: Oid) -> SqlResult<Expr> {
        let value =
            if text == "NULL" { tuple::Datum::Null } else { types::input(type_oid, text, -1, self.call)? };
        Ok(Expr::Const(crate::expr::Const {
            type_oid,
            typmod: -1,
            collation: self.type_collation(type_oid)?,
            value,
            location: Location::NONE,
        }))
    }

    /// Whether what was written suits the kind of function found.
    fn check_kind(&self, call: &ast::FuncCall, c: &Candidate, name: &str, actual: &[Oid]) -> SqlResult<()> {
        let wrong = |message: String| Err(self.at(sql_err!(WRONG_OBJECT_TYPE, "{message}"), call.location));
        if self.calling && c.kind != b'p' {
            let error =
                sql_err!(WRONG_OBJECT_TYPE, "{} is not a procedure", self.signature(&call.name, actual, &[]))
                    .hint("To call a function, use SELECT.");
            return Err(self.at(error, call.location));
        }
        if c.kind == b'p' && !self.calling {
            let error =
                sql_err!(WRONG_OBJECT_TYPE, "{} is a procedure", self.signature(&call.name, actual, &[]))
                    .hint("To call a procedure, use CALL.");
            return Err(self.at(error, call.location));
        }
        if c.kind == b'f' {
            if call.star {
                return wrong(format!("{name}(*) specified, but {name} is not an aggregate function"));
            }
            if call.distinct {
                return wrong(format!("DISTINCT specified, but {name} is not an aggregate function"));
            }
            if call.within_group {
                return wrong(format!("WITHIN GROUP specified, but {name} is not an aggregate function"));
            }
            if !call.order_by.is_empty() {
                return wrong(format!("ORDER BY specified, but {name} is not an aggregate function"));
            }
            if call.filter.is_some() {
                return wrong(format!("FILTER specified, but {name} is not an aggregate function"));
            }
            if call.over.is_some() {
                return wrong(format!(
                    "OVER specified, but {name} is not a window function nor an aggregate function"
                ));
            }
        }
        if c.kind == b'w' {
            if call.over.is_none() {
                return wrong(format!("window function {name} requires an OVER clause"));
            }
            if call.within_group {
                return wrong(format!("window function {name} cannot have WITHIN GROUP"));
            }
        }
        if c.kind == b'a' {
            let (kind, _) = self.aggregate_kind(c.oid)?;
            if kind == b'n' && call.within_group {
                return wrong(format!(
                    "{name} is not an ordered-set aggregate, so it cannot have WITHIN GROUP"
                ));
            }
            if kind != b'n' && !call.within_group {
                return wrong(format!("WITHIN GROUP is required for ordered-set aggregate {name}"));
            }
            if kind != b'n' && call.over.is_some() {
                let error = SqlError::new(
                    base::SqlState::FEATURE_NOT_SUPPORTED,
                    format!("OVER is not supported for ordered-set aggregate {name}"),
                );
                return Err(self.at(error, call.location));
            }
        }
        if matches!(c.kind, b'a' | b'w')
            && call.args.is_empty()
            && !call.star
            && c.kind == b'a'
            && !call.within_group
        {
            return wrong(format!("{name}(*) must be used to call a parameterless aggregate function"));
        }
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    fn aggregate(
        &mut self,
        call: &ast::FuncCall,
        c: &Candidate,
        args: Vec<Expr>,
        declared: Vec<Oid>,
        result: Oid,
        filter: Option<Expr>,
        variadic: bool,
    ) -> SqlResult<Expr> {
        if c.returns_set {
            let error = sql_err!(INVALID_FUNCTION_DEFINITION, "aggregates cannot return sets");
            return Err(self.at(error, call.location));
        }
        let kind = match self.aggregate_kind(c.oid)?.0 {
            b'o' => AggregateKind::OrderedSet,
            b'h' => AggregateKind::HypotheticalSet,
            _ => AggregateKind::Normal,
        };
        let mut args = args;
        let mut declared = declared;
        let ndirect = if call.within_group { args.len() - call.order_by.len().min(args.len()) } else { 0 };
        if kind == AggregateKind::HypotheticalSet {
            self.unify_hypothetical(&mut args, &mut declared, ndirect)?;
        }
        let aggregated = args.split_off(ndirect);
        let mut aggregate = Aggregate {
            function: c.oid,
            result_type: result,
            collation: Oid::INVALID,
            input_collation: Oid::INVALID,
            arg_types: declared,
            direct_args: args,
            args: Vec::new(),
            order_by: Vec::new(),
            distinct: Vec::new(),
            filter,
            star: call.star,
            variadic,
            kind,
            levels_up: 0,
            location: call.location,
        };
        let mut targets: Vec<TargetEntry> = aggregated
            .into_iter()
            .enumerate()
            .map(|(i, e)| crate::target::entry(e, i as i16 + 1, None, false))
            .collect();
        if call.within_group {
            for (target, key) in targets.iter_mut().zip(&call.order_by) {
                let clause = self.sort_clause_for(target, key)?;
                aggregate.order_by.push(clause);
            }
        } else {
            aggregate.order_by = self.sort_clause(&call.order_by, &mut targets, Place::OrderBy, true)?;
            if call.distinct {
                let order_by = aggregate.order_by.clone();
                aggregate.distinct = self.distinct_clause(&mut targets, &order_by, true)?;
                for clause in &aggregate.distinct {
                    if !clause.ordering.is_valid() {
                        let t = targets.iter().find(|t| t.sort_ref == clause.sort_ref);
                        let of = t.map_or(oids::text, |t| self.type_of(&t.expr));
                        let error = sql_err!(
                            UNDEFINED_FUNCTION,
                            "could not identify an ordering operator for type {}",
                            self.type_text(of)
                        )
                        .detail("Aggregates with DISTINCT must be able to sort their inputs.");
                        return Err(self.at(error, call.location));
                    }
                }
            }
        }
        aggregate.args = targets;
        self.place_aggregate(&mut aggregate)?;
        Ok(Expr::Aggregate(Box::new(aggregate)))
    }

    /// Whether WITHIN GROUP separates direct from aggregated arguments where the aggregate wants it.
    fn check_direct_args(&self, call: &ast::FuncCall, function: Oid, actual: &[Oid]) -> SqlResult<()> {
        let (kind, wanted) = self.aggregate_kind(function)?;
        let name = call.name.dotted();
        let direct = actual.len().saturating_sub(call.order_by.len());
        let hint = if kind == b'h' {
            let keys = call.order_by.len();
            if direct == keys {
                return Ok(());
            }
            format!(
                "To use the hypothetical-set aggregate {name}, the number of hypothetical direct arguments (here {direct}) must match the number of ordering columns (here {keys})."
            )
        } else {
            let wanted = wanted as usize;
            if direct == wanted {
                return Ok(());
            }
            let plural = if wanted == 1 { "" } else { "s" };
            format!(
                "There is an ordered-set aggregate {name}, but it requires {wanted} direct argument{plural}, not {direct}."
            )
        };
        Err(self.no_function(call, actual, &[]).hint(hint))
    }

    /// Brings each hypothetical value and the column that it is compared with to their common type.
    fn unify_hypothetical(
        &mut self,
        args: &mut [Expr],
        declared: &mut [Oid],
        direct: usize,
    ) -> SqlResult<()> {
        for i in 0..direct {
            let pair = [&args[i], &args[direct + i]];
            // The column comes first, so that its type prevails where neither is preferred.
            let common = self.common_type(&[pair[1], pair[0]], Some("WITHIN GROUP"))?;
            for at in [i, direct + i] {
                let location = location_of(&args[at]);
                args[at] = self.coerce_argument(args[at].clone(), common, location)?;
                if let Some(declared) = declared.get_mut(at) {
                    *declared = common;
                }
            }
        }
        Ok(())
    }

    fn window_call(
        &mut self,
        call: &ast::FuncCall,
        c: &Candidate,
        args: Vec<Expr>,
        result: Oid,
        filter: Option<Expr>,
        over: &ast::WindowDef,
    ) -> SqlResult<Expr> {
        let unsupported = |what: &str| SqlError::new(base::SqlState::FEATURE_NOT_SUPPORTED, what.to_owned());
        let error = if call.distinct {
            Some(unsupported("DISTINCT is not implemented for window functions"))
        } else if c.kind == b'a' && call.args.is_empty() && !call.star {
            Some(sql_err!(
                WRONG_OBJECT_TYPE,
                "{}(*) must be used to call a parameterless aggregate function",
                call.name.dotted()
            ))
        } else if !call.order_by.is_empty() {
            Some(unsupported("aggregate ORDER BY is not implemented for window functions"))
        } else if filter.is_some() && c.kind != b'a' {
            Some(unsupported("FILTER is not implemented for non-aggregate window functions"))
        } else if args.iter().any(returns_set) {
            Some(
                unsupported("window function calls cannot contain set-returning function calls")
                    .hint("You might be able to move the set-returning function into a LATERAL FROM item."),
            )
        } else {
            None
        };
        if let Some(error) = error {
            return Err(self.at(error, call.location));
        }
        let mut window = WindowCall {
            function: c.oid,
            result_type: result,
            collation: Oid::INVALID,
            input_collation: Oid::INVALID,
            args,
            filter,
            window: 0,
            star: call.star,
            is_aggregate: c.kind == b'a',
            location: call.location,
        };
        self.place_window(&mut window, over)?;
        Ok(Expr::Window(Box::new(window)))
    }

    /// Whether a set-returning function may stand here.
    pub(crate) fn check_srf(&mut self, name: &str, location: Location) -> SqlResult<()> {
        let place = self.place();
        let _ = name;
        let forbidden = match place {
            Place::SelectTarget | Place::GroupBy | Place::OrderBy | Place::DistinctOn | Place::Values => {
                self.level().has_srfs = true;
                None
            }
            Place::FromFunction | Place::None => None,
            Place::CallArgument => Some("CALL arguments"),
            place => Some(place.forbidden_in()),
        };
        match forbidden {
            None => Ok(()),
            Some(place) => {
                let error = SqlError::new(
                    base::SqlState::FEATURE_NOT_SUPPORTED,
                    format!("set-returning functions are not allowed in {place}"),
                );
                Err(self.at(error, location))
            }
        }
    }

    /// An operator with its operands.
    pub(crate) fn operator(
        &mut self,
        name: &ast::Name,
        left: Option<Expr>,
        right: Expr,
        location: Location,
    ) -> SqlResult<Expr> {
        let left_type = left.as_ref().map(|l| self.type_of(l));
        let right_type = self.type_of(&right);
        let found = self
            .resolve_operator(name, left_type, right_type)
            .map_err(|e| self.at(e, location))?
            .ok_or_else(|| self.at(self.no_operator(name, left_type, right_type), location))?;
        let mut args: Vec<Expr> = left.into_iter().collect();
        args.push(right);
        let actual: Vec<Oid> = left_type.into_iter().chain([right_type]).collect();
        let mut declared: Vec<Oid> = [found.left, found.right].into_iter().filter(|t| t.is_valid()).collect();
        let result = self.resolve_polymorphic(&actual, &mut declared, found.result)?;
        let mut coerced = Vec::with_capacity(args.len());
        for (arg, to) in args.into_iter().zip(&declared) {
            let at = location_of(&arg);
            coerced.push(self.coerce_argument(arg, *to, at)?);
        }
        let returns_set = self.gives_set(found.function)?;
        Ok(Expr::Op(Box::new(OpExpr {
            op: found.oid,
            function: found.function,
            result_type: result,
            returns_set,
            collation: Oid::INVALID,
            input_collation: Oid::INVALID,
            args: coerced,
            location,
        })))
    }

    /// Whether a function returns a set.
    fn gives_set(&self, function: Oid) -> SqlResult<bool> {
        Ok(match types::registry::function(function) {
            Some(f) => f.retset,
            None => self.catalog.function_by_oid(function)?.is_some_and(|f| f.returns_set),
        })
    }

    /// `scalar op ANY (array)`.
    pub(crate) fn scalar_array(
        &mut self,
        name: &ast::Name,
        any: bool,
        scalar: Expr,
        array: Expr,
        location: Location,
    ) -> SqlResult<Expr> {
        let left_type = self.type_of(&scalar);
        let array_type = self.type_of(&array);
        let right_type = if array_type == oids::unknown {
            oids::unknown
        } else {
            let element = self.element_type(array_type)?;
            if !element.is_valid() {
                let error = sql_err!(WRONG_OBJECT_TYPE, "op ANY/ALL (array) requires array on right side");
                return Err(self.at(error, location));
            }
            element
        };
        let found = self
            .resolve_operator(name, Some(left_type), right_type)
            .map_err(|e| self.at(e, location))?
            .ok_or_else(|| self.at(self.no_operator(name, Some(left_type), right_type), location))?;
        let mut declared = vec![found.left, found.right];
        let result = self.resolve_polymorphic(&[left_type, right_type], &mut declared, found.result)?;
        if result != oids::bool {
            let error = sql_err!(WRONG_OBJECT_TYPE, "op ANY/ALL (array) requires operator to yield boolean");
            return Err(self.at(error, location));
        }
        if self.gives_set(found.function)? {
            let error =
                sql_err!(WRONG_OBJECT_TYPE, "op ANY/ALL (array) requires operator not to return a set");
            return Err(self.at(error, location));
        }
        let to = if is_polymorphic(declared[1]) { array_type } else { self.array_type(declared[1])? };
        if !to.is_valid() {
            let error = sql_err!(
                UNDEFINED_OBJECT,
                "could not find array type for data type {}",
                self.type_text(declared[1])
            );
            return Err(self.at(error, location));
        }
        let scalar_at = location_of(&scalar);
        let scalar = self.coerce_argument(scalar, declared[0], scalar_at)?;
        let array_at = location_of(&array);
        let array = self.coerce_argument(array, to, array_at)?;
        Ok(Expr::ScalarArray(Box::new(ScalarArrayExpr {
            op: found.oid,
            function: found.function,
            any,
            input_collation: Oid::INVALID,
            scalar,
            array,
            location,
        })))
    }
}

/// Puts arguments into the order of the parameters.
fn reorder(args: Vec<Expr>, order: &[usize]) -> Vec<Expr> {
    let mut pairs: Vec<(usize, Expr)> = order.iter().copied().zip(args).collect();
    pairs.sort_by_key(|(p, _)| *p);
    pairs.into_iter().map(|(_, e)| e).collect()
}
