//! Comparisons of rows, selection of fields and array elements.

use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::view::TypeKind;
use parse::ast::{self, Indirection};
use types::oids;
use types::registry::{Entries, Subscripting, subscripting, type_imp};

use crate::coerce::{Coercion, location_of};
use crate::core::Analyzer;
use crate::expr::{
    BoolExpr, BoolOp, Expr, FieldExpr, Location, OpExpr, RowCompareExpr, RowCompareKind, SubscriptExpr,
};
use crate::query::{ColumnType, Query, RangeTableEntry, RteKind};

impl Analyzer<'_> {
    /// `(a, b) op (c, d)`.
    pub(crate) fn row_comparison(
        &mut self,
        name: &ast::Name,
        left: Vec<Expr>,
        right: Vec<Expr>,
        location: Location,
    ) -> SqlResult<Expr> {
        if left.len() != right.len() {
            return Err(
                self.at(sql_err!(SYNTAX_ERROR, "unequal number of entries in row expressions"), location)
            );
        }
        if left.is_empty() {
            return Err(
                self.at(sql_err!(FEATURE_NOT_SUPPORTED, "cannot compare rows of zero length"), location)
            );
        }
        let mut ops: Vec<Box<OpExpr>> = Vec::with_capacity(left.len());
        for (l, r) in left.into_iter().zip(right) {
            match self.operator(name, Some(l), r, location)? {
                Expr::Op(op) if op.result_type == oids::bool => ops.push(op),
                Expr::Op(op) => {
                    let error = sql_err!(
                        DATATYPE_MISMATCH,
                        "row comparison operator must yield type boolean, not type {}",
                        self.type_text(op.result_type)
                    );
                    return Err(self.at(error, location));
                }
                _ => return Err(SqlError::internal("row comparison without operator")),
            }
        }
        if ops.len() == 1 {
            return Ok(ops.pop().map(Expr::Op).unwrap_or_else(|| crate::coerce::bool_const(true)));
        }
        let found = self.common_strategy(&ops)?;
        let Some((strategy, families)) = found else {
            let error = sql_err!(
                FEATURE_NOT_SUPPORTED,
                "could not determine interpretation of row comparison operator {}",
                name.last()
            )
            .hint("Row comparison operators must be associated with btree operator families.");
            return Err(self.at(error, location));
        };
        let kind = match strategy {
            1 => RowCompareKind::Less,
            2 => RowCompareKind::LessEqual,
            4 => RowCompareKind::GreaterEqual,
            5 => RowCompareKind::Greater,
            _ => {
                let op = if strategy == 3 { BoolOp::And } else { BoolOp::Or };
                let args = ops.into_iter().map(Expr::Op).collect();
                return Ok(Expr::Bool(Box::new(BoolExpr { op, args, location })));
            }
        };
        let mut compare = RowCompareExpr {
            kind,
            ops: Vec::new(),
            families,
            collations: vec![Oid::INVALID; ops.len()],
            left: Vec::new(),
            right: Vec::new(),
        };
        for op in ops {
            compare.ops.push(op.op);
            let mut args = op.args.into_iter();
            compare.left.extend(args.next());
            compare.right.extend(args.next());
        }
        Ok(Expr::RowCompare(Box::new(compare)))
    }

    /// IS DISTINCT FROM of rows.
    pub(crate) fn row_distinct(
        &mut self,
        name: &ast::Name,
        left: Vec<Expr>,
        right: Vec<Expr>,
        location: Location,
    ) -> SqlResult<Expr> {
        if left.len() != right.len() {
            return Err(
                self.at(sql_err!(SYNTAX_ERROR, "unequal number of entries in row expressions"), location)
            );
        }
        let mut args = Vec::with_capacity(left.len());
        for (l, r) in left.into_iter().zip(right) {
            args.push(self.distinct_op(name, l, r, location)?);
        }
        Ok(match args.len() {
            0 => crate::coerce::bool_const(false),
            1 => args.remove(0),
            _ => Expr::Bool(Box::new(BoolExpr { op: BoolOp::Or, args, location })),
        })
    }

    /// `x.field`, `x[1]`.
    pub(crate) fn indirection(&mut self, arg: &ast::Expr, steps: &[Indirection]) -> SqlResult<Expr> {
        let value = self.expr(arg)?;
        self.apply_steps(value, steps)
    }

    /// Selects fields and elements of a value.
    pub(crate) fn apply_steps(&mut self, mut value: Expr, steps: &[Indirection]) -> SqlResult<Expr> {
        let mut i = 0;
        while i < steps.len() {
            match &steps[i] {
                Indirection::Index(_) | Indirection::Slice(..) => {
                    let start = i;
                    while i < steps.len()
                        && matches!(steps[i], Indirection::Index(_) | Indirection::Slice(..))
                    {
                        i += 1;
                    }
                    value = self.subscript(value, &steps[start..i])?;
                }
                Indirection::Field(name) => {
                    value = self.field(value, name, Location::NONE)?;
                    i += 1;
                }
                Indirection::Star => {
                    let error = sql_err!(SYNTAX_ERROR, "row expansion via \"*\" is not supported here");
                    return Err(self.at(error, location_of(&value)));
                }
            }
        }
        Ok(value)
    }

    /// A field of a composite value.
    pub(crate) fn field(&mut self, value: Expr, name: &str, location: Location) -> SqlResult<Expr> {
        let type_oid = self.type_of(&value);
        let at = if location == Location::NONE { location_of(&value) } else { location };
        // A field of a whole row is a column.
        let mut relation = None;
        if let Expr::Var(v) = &value
            && v.attno == 0
        {
            let (rte, up, version) = (v.rte, v.levels_up, v.version);
            let level = self.level_up(up)?;
            let item =
                level.namespace.iter().position(|n| n.rte == rte && n.version == version && !n.is_join);
            if let Some(i) = item {
                relation = Some(level.namespace[i].name.clone());
                if let Some(e) = self.column_of((up, i), name, at)? {
                    return Ok(e);
                }
            }
        }
        let columns = self.row_columns(&value)?.unwrap_or_default();
        if let Some(i) = columns.iter().position(|c| c.name == name && c.type_oid.is_valid()) {
            let c = &columns[i];
            return Ok(Expr::Field(Box::new(FieldExpr {
                arg: value,
                attno: i as i16 + 1,
                result_type: c.type_oid,
                typmod: c.typmod,
                collation: c.collation,
            })));
        }
        // A function of one row argument may be written as a field.
        let call = ast::Name(vec![name.to_owned()]);
        if let crate::resolve::Resolved::Function(c) =
            self.resolve_function(&call, &[type_oid], &[], false, false)?
            && c.kind == b'f'
            && c.variadic == 0
            && c.defaults == 0
            && (type_oid == oids::record || self.is_composite(type_oid)?)
        {
            let mut declared = c.args.clone();
            let result_type = self.resolve_polymorphic(&[type_oid], &mut declared, c.result)?;
            let arg = self.coerce_argument(value, declared[0], at)?;
            return Ok(Expr::Func(Box::new(crate::expr::FuncExpr {
                function: c.oid,
                result_type,
                returns_set: c.returns_set,
                variadic: false,
                form: crate::expr::CoercionForm::Call,
                collation: Oid::INVALID,
                input_collation: Oid::INVALID,
                args: vec![arg],
                location: at,
            })));
        }
        let error = if let Some(relation) = relation {
            sql_err!(UNDEFINED_COLUMN, "column {relation}.{name} does not exist")
        } else if self.is_composite(type_oid)? {
            sql_err!(
                UNDEFINED_COLUMN,
                "column \"{name}\" not found in data type {}",
                self.type_text(type_oid)
            )
        } else if type_oid == oids::record {
            sql_err!(UNDEFINED_COLUMN, "could not identify column \"{name}\" in record data type")
        } else {
            sql_err!(
                WRONG_OBJECT_TYPE,
                "column notation .{name} applied to type {}, which is not a composite type",
                self.type_text(type_oid)
            )
        };
        Err(self.at(error, at))
    }

    /// Columns of a row value, if they are known; dropped ones have type 0.
    pub(crate) fn row_columns(&mut self, value: &Expr) -> SqlResult<Option<Vec<ColumnType>>> {
        let type_oid = self.type_of(value);
        if type_oid != oids::record {
            return self.composite_columns(type_oid);
        }
        match value {
            Expr::Func(_) => {
                let columns = self.out_columns(value)?;
                Ok((columns.len() > 1).then_some(columns))
            }
            Expr::Row(r) => {
                let mut out = Vec::with_capacity(r.args.len());
                for (arg, name) in r.args.iter().zip(&r.names) {
                    out.push(ColumnType {
                        name: name.clone(),
                        type_oid: self.type_of(arg),
                        typmod: self.typmod_of(arg),
                        collation: crate::facts::expr_collation(arg),
                    });
                }
                Ok(Some(out))
            }
            Expr::Var(v) if v.attno == 0 => {
                let (rte, levels_up) = (v.rte, v.levels_up);
                let level = self.level_up(levels_up)?;
                Ok(level.range_table.get(rte).map(crate::from::entry_columns))
            }
            // A record column of a subquery or CTE: its definition is that of the column there.
            Expr::Var(v) => {
                let (rte, levels_up, attno) = (v.rte, v.levels_up, v.attno);
                let entry = self.level_up(levels_up)?.range_table.get(rte);
                let made = match entry.map(|entry| &entry.kind) {
                    Some(RteKind::Cte(cte)) => {
                        let (name, out) = (cte.name.clone(), levels_up + cte.levels_up);
                        let level = self.level_up(out)?;
                        level.ctes.iter().find(|c| c.name == name).and_then(|c| target(&c.query, attno))
                    }
                    _ => {
                        let level = self.level_up(levels_up)?;
                        made_in(&level.range_table, rte, attno)
                    }
                };
                match made.cloned() {
                    // What another query made of it is described there.
                    Some(Expr::Var(_)) | None => Ok(None),
                    Some(made) => self.row_columns(&made),
                }
            }
            _ => Ok(None),
        }
    }

    /// Columns of a composite type or domain over one.
    pub(crate) fn composite_columns(&self, type_oid: Oid) -> SqlResult<Option<Vec<ColumnType>>> {
        if types::builtin_type(type_oid).is_some() {
            return Ok(None);
        }
        let base = self.base_type(type_oid, -1)?.0;
        if types::builtin_type(base).is_some() {
            return Ok(None);
        }
        let TypeKind::Composite(relation) = self.type_facts(base)?.kind else { return Ok(None) };
        let Some(table) = self.catalog.relation_by_oid(relation)? else { return Ok(None) };
        let column = |c: &catalog::view::Column| ColumnType {
            name: if c.dropped { String::new() } else { c.name.clone() },
            type_oid: if c.dropped { Oid::INVALID } else { c.type_oid },
            typmod: c.typmod,
            collation: c.collation,
        };
        Ok(Some(table.columns.iter().map(column).collect()))
    }

    /// Container and element type of what is subscripted.
    pub(crate) fn container(
        &self,
        type_oid: Oid,
        typmod: i32,
        location: Location,
    ) -> SqlResult<(Oid, i32, Oid)> {
        let (base, base_typmod) = self.base_type(type_oid, typmod)?;
        // The vector types are subscripted as the arrays they look like.
        let container = match base {
            oids::int2vector => oids::_int2,
            oids::oidvector => oids::_oid,
            other => other,
        };
        let element = self.element_type(container)?;
        if element.is_valid() {
            return Ok((container, base_typmod, element));
        }
        if let Some(info) = types::builtin_type(container).filter(|info| info.subscripting().is_some()) {
            return Ok((container, -1, info.element));
        }
        if self.entries(container)?.is_some() {
            return Ok((container, -1, oids::text));
        }
        let error = sql_err!(
            DATATYPE_MISMATCH,
            "cannot subscript type {} because it does not support subscripting",
            self.type_text(type_oid)
        );
        Err(self.at(error, location))
    }

    /// What subscripts do with a type whose texts are reached by texts.
    fn entries(&self, container: Oid) -> SqlResult<Option<&'static Entries>> {
        if types::builtin_type(container).is_some() {
            return Ok(None);
        }
        Ok(match self.type_facts(container)?.kind {
            TypeKind::Like(like) => type_imp(like.base).entries,
            _ => None,
        })
    }

    /// The subscript of a type whose texts are reached by texts.
    fn entry_key(&mut self, of: &Entries, steps: &[Indirection]) -> SqlResult<Expr> {
        let [Indirection::Index(key)] = steps else {
            return Err(sql_err!(FEATURE_NOT_SUPPORTED, "{} allows only one subscript", of.name));
        };
        let key = self.expr(key)?;
        let at = location_of(&key);
        match self.coerce_to(key, oids::text, -1, Coercion::assignment())? {
            Some(key) => Ok(key),
            None => {
                let error = sql_err!(DATATYPE_MISMATCH, "{} subscript must have type text", of.name);
                Err(self.at(error, at))
            }
        }
    }

    fn subscript(&mut self, value: Expr, steps: &[Indirection]) -> SqlResult<Expr> {
        let (type_oid, typmod) = (self.type_of(&value), self.typmod_of(&value));
        let (container_type, typmod, element_type) = self.container(type_oid, typmod, location_of(&value))?;
        let (upper, lower) = self.subscripts(container_type, steps)?;
        let result_type =
            if lower.is_empty() && element_type.is_valid() { element_type } else { container_type };
        Ok(Expr::Subscript(Box::new(SubscriptExpr {
            container_type,
            element_type,
            result_type,
            typmod,
            collation: Oid::INVALID,
            upper,
            lower,
            arg: value,
            assign: None,
        })))
    }

    /// Upper and lower subscripts; lower ones only if there is a slice.
    #[allow(clippy::type_complexity)]
    pub(crate) fn subscripts(
        &mut self,
        container: Oid,
        steps: &[Indirection],
    ) -> SqlResult<(Vec<Option<Expr>>, Vec<Option<Expr>>)> {
        if let Some(of) = self.entries(container)? {
            return Ok((vec![Some(self.entry_key(of, steps)?)], Vec::new()));
        }
        let sliced = steps.iter().any(|s| matches!(s, Indirection::Slice(..)));
        let json = subscripting(container) == Some(Subscripting::Members);
        let (mut upper, mut lower) = (Vec::new(), Vec::new());
        for step in steps {
            match step {
                Indirection::Index(e) => {
                    upper.push(Some(self.subscript_value(e, json)?));
                    if sliced {
                        lower.push(Some(crate::coerce::int4_const(1)));
                    }
                }
                Indirection::Slice(from, to) => {
                    if json {
                        let error = sql_err!(DATATYPE_MISMATCH, "jsonb subscript does not support slices");
                        return Err(match to.as_ref().or(from.as_ref()) {
                            Some(e) => {
                                let e = self.expr(e)?;
                                self.at(error, location_of(&e))
                            }
                            None => error,
                        });
                    }
                    lower.push(from.as_ref().map(|e| self.subscript_value(e, false)).transpose()?);
                    upper.push(to.as_ref().map(|e| self.subscript_value(e, false)).transpose()?);
                }
                _ => return Err(SqlError::internal("field among subscripts")),
            }
        }
        if !json && upper.len() > 6 {
            return Err(sql_err!(
                PROGRAM_LIMIT_EXCEEDED,
                "number of array dimensions ({}) exceeds the maximum allowed (6)",
                upper.len()
            ));
        }
        Ok((upper, lower))
    }

    fn subscript_value(&mut self, e: &ast::Expr, json: bool) -> SqlResult<Expr> {
        let e = self.expr(e)?;
        let at = location_of(&e);
        let t = self.type_of(&e);
        let target = if json && t != oids::int4 && t != oids::int8 && t != oids::int2 {
            oids::text
        } else {
            oids::int4
        };
        match self.coerce_to(e, target, -1, Coercion::assignment())? {
            Some(e) => Ok(e),
            None => Err(self.at(sql_err!(DATATYPE_MISMATCH, "array subscript must have type integer"), at)),
        }
    }
}

impl Analyzer<'_> {
    /// An ordering strategy that all operators share (6 for `<>`), and a family of each.
    fn common_strategy(&self, ops: &[Box<OpExpr>]) -> SqlResult<Option<(i16, Vec<Oid>)>> {
        let families = self.catalog.operator_families()?;
        let ordering = types::registry::ORDERING_METHOD;
        let of = |op: Oid| -> Vec<(i16, Oid)> {
            let members = families.memberships_of(op, ordering).map(|m| (m.strategy, m.family));
            let negator = types::registry::operator(op).map_or(Oid::INVALID, |op| op.negator);
            let equals = families.memberships_of(negator, ordering).filter(|m| m.strategy == 3);
            members.chain(equals.map(|m| (6, m.family))).collect()
        };
        let all: Vec<Vec<(i16, Oid)>> = ops.iter().map(|o| of(o.op)).collect();
        let strategies = all.first().into_iter().flatten().map(|(strategy, _)| *strategy);
        for strategy in strategies {
            let family = |of: &Vec<(i16, Oid)>| of.iter().find(|(s, _)| *s == strategy).map(|(_, f)| *f);
            let Some(found) = all.iter().map(family).collect::<Option<Vec<Oid>>>() else { continue };
            if let Some(users) = found.iter().find(|family| !family.is_pinned()) {
                let name = families.family(*users).map_or("", |family| family.name);
                let what = format!("comparing rows by operator family \"{name}\", which is not built in,");
                return Err(SqlError::not_supported(what));
            }
            return Ok(Some((strategy, found)));
        }
        Ok(None)
    }
}

/// The expression of a query's column.
fn target(query: &Query, attno: i16) -> Option<&Expr> {
    let mut shown = query.targets.iter().filter(|t| !t.junk);
    let made = &shown.nth(usize::try_from(attno).ok()?.checked_sub(1)?)?.expr;
    match made {
        Expr::Var(v) if v.levels_up == 0 && v.attno > 0 => {
            made_in(&query.range_table, v.rte, v.attno).or(Some(made))
        }
        _ => Some(made),
    }
}

/// What a column is made of, through as many joins and subqueries as hand it on.
fn made_in(range_table: &[RangeTableEntry], rte: usize, attno: i16) -> Option<&Expr> {
    match &range_table.get(rte)?.kind {
        RteKind::Subquery(s) => target(&s.query, attno),
        RteKind::Join(j) => match j.columns.get(usize::try_from(attno).ok()?.checked_sub(1)?)? {
            Expr::Var(v) if v.levels_up == 0 && v.attno > 0 => made_in(range_table, v.rte, v.attno),
            _ => None,
        },
        _ => None,
    }
}
