//! Assignment of values to columns, their fields and elements; defaults; ON CONFLICT.

use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::view::{Generated, RelationKind, Table, TypeKind};
use parse::ast::{self, ConflictTarget, Indirection};
use types::oids;

use crate::coerce::{Coercion, location_of};
use crate::core::{Analyzer, NsItem, Place};
use crate::expr::{
    Expr, FieldStoreExpr, Location, NextValue, Param, ParamKind, SubLink, SubLinkType, SubscriptExpr,
};
use crate::query::{ConflictUpdate, OnConflict};

/// A value for a column.
#[derive(Clone, Debug)]
pub(crate) struct Assigned {
    pub(crate) attno: i16,
    pub(crate) expr: Expr,
    /// DEFAULT was written.
    pub(crate) is_default: bool,
    /// Only a field or element is assigned.
    pub(crate) partial: bool,
    pub(crate) location: Location,
}

/// Two partial assignments to one column as one: the second works on the first one's result.
pub(crate) fn combine(before: Assigned, mut after: Assigned) -> Assigned {
    let base = before.expr;
    replace_innermost(&mut after.expr, base);
    after
}

fn replace_innermost(e: &mut Expr, with: Expr) {
    match e {
        Expr::Subscript(s) if s.assign.is_some() => replace_innermost(&mut s.arg, with),
        Expr::FieldStore(f) => replace_innermost(&mut f.arg, with),
        other => *other = with,
    }
}

impl Analyzer<'_> {
    /// A value converted to a column, or to the part of it that `steps` name.
    pub(crate) fn assign_column(
        &mut self,
        table: &Table,
        attno: i16,
        steps: &[Indirection],
        value: Expr,
        location: Location,
        insert: bool,
    ) -> SqlResult<Assigned> {
        let c = &table.columns[attno as usize - 1];
        if let Expr::Default(_) = value {
            let what = match steps.first() {
                None => None,
                Some(Indirection::Field(_)) => Some("cannot set a subfield to DEFAULT"),
                Some(_) => Some("cannot set an array element to DEFAULT"),
            };
            if let Some(what) = what {
                return Err(self.at(sql_err!(FEATURE_NOT_SUPPORTED, "{what}"), location));
            }
            return Ok(Assigned { attno, expr: value, is_default: true, partial: false, location });
        }
        if steps.is_empty() {
            let expr = self.coerce_to_column(value, table, attno)?;
            return Ok(Assigned { attno, expr, is_default: false, partial: false, location });
        }
        let base = if insert {
            crate::coerce::null_const(c.type_oid, c.typmod, c.collation)
        } else {
            let rte = self.level().target.unwrap_or(0);
            Expr::Var(crate::expr::Var {
                rte,
                attno,
                type_oid: c.type_oid,
                typmod: c.typmod,
                collation: c.collation,
                levels_up: 0,
                version: crate::expr::RowVersion::Default,
                location: Location::NONE,
            })
        };
        let place = AssignTarget { column: c.name.clone(), type_oid: c.type_oid, typmod: c.typmod };
        let expr = self.assign_part(base, &place, steps, value, location)?;
        Ok(Assigned { attno, expr, is_default: false, partial: true, location })
    }

    /// A place within a variable with a new value: gives the variable's value.
    pub(crate) fn assignment(&mut self, s: &ast::Assign) -> SqlResult<crate::query::Query> {
        let mut query = self.select(&s.value)?;
        let names: Vec<&str> = s
            .place
            .iter()
            .map_while(|step| if let Indirection::Field(name) = step { Some(name.as_str()) } else { None })
            .collect();
        let found = match &self.params {
            crate::ParamTypes::Variables(variables) => variables.find(&names)?,
            _ => None,
        };
        let shown = names.join(".");
        let found = found.ok_or_else(|| sql_err!(SYNTAX_ERROR, "\"{shown}\" is not a known variable"))?;
        let base = Expr::Param(Param {
            kind: ParamKind::Extern,
            id: found.number,
            type_oid: found.type_oid,
            typmod: found.typmod,
            collation: found.collation,
            location: s.location,
        });
        let [target] = query.targets.as_mut_slice() else {
            let count = query.targets.len();
            return Err(sql_err!(SYNTAX_ERROR, "assignment source returned {count} columns"));
        };
        let value = std::mem::replace(&mut target.expr, crate::coerce::bool_const(true));
        let place = AssignTarget { column: shown, type_oid: found.type_oid, typmod: found.typmod };
        let mut stored = self.assign_part(base, &place, &s.place[found.names..], value, s.location)?;
        crate::collate::assign(self, &mut stored)?;
        query.targets[0].expr = stored;
        Ok(query)
    }

    /// A value converted to a column's type.
    pub(crate) fn coerce_to_column(&mut self, value: Expr, table: &Table, attno: i16) -> SqlResult<Expr> {
        let c = &table.columns[attno as usize - 1];
        let source = self.type_of(&value);
        let at = location_of(&value);
        match self.coerce_to(value, c.type_oid, c.typmod, Coercion::assignment())? {
            Some(e) => Ok(e),
            None => {
                let error = sql_err!(
                    DATATYPE_MISMATCH,
                    "column \"{}\" is of type {} but expression is of type {}",
                    c.name,
                    self.type_text(c.type_oid),
                    self.type_text(source)
                )
                .hint("You will need to rewrite or cast the expression.")
                .routine("transformAssignedExpr");
                Err(self.at(error, at))
            }
        }
    }

    /// Assignment to a field or element of `base`.
    fn assign_part(
        &mut self,
        base: Expr,
        target: &AssignTarget,
        steps: &[Indirection],
        value: Expr,
        location: Location,
    ) -> SqlResult<Expr> {
        let Some(first) = steps.first() else {
            return self.coerce_part(value, target);
        };
        if let Indirection::Field(name) = first {
            return self.assign_field(base, target, name, &steps[1..], value, location);
        }
        let n = steps.iter().take_while(|s| !matches!(s, Indirection::Field(_) | Indirection::Star)).count();
        let (container_type, typmod, element_type) =
            self.container(target.type_oid, target.typmod, location)?;
        let (upper, lower) = self.subscripts(container_type, &steps[..n])?;
        let whole = !lower.is_empty() || !element_type.is_valid();
        let required = if whole { container_type } else { element_type };
        let inner = AssignTarget { column: target.column.clone(), type_oid: required, typmod };
        let value = if n < steps.len() {
            let element = Expr::Subscript(Box::new(SubscriptExpr {
                container_type,
                element_type,
                result_type: required,
                typmod,
                collation: Oid::INVALID,
                upper: upper.clone(),
                lower: lower.clone(),
                arg: base.clone(),
                assign: None,
            }));
            self.assign_part(element, &inner, &steps[n..], value, location)?
        } else {
            self.coerce_element(value, &inner)?
        };
        let result = Expr::Subscript(Box::new(SubscriptExpr {
            container_type,
            element_type,
            result_type: container_type,
            typmod,
            collation: Oid::INVALID,
            upper,
            lower,
            arg: base,
            assign: Some(value),
        }));
        self.back_to_domain(result, container_type, target)
    }

    fn coerce_element(&mut self, value: Expr, target: &AssignTarget) -> SqlResult<Expr> {
        let source = self.type_of(&value);
        let at = location_of(&value);
        match self.coerce_to(value, target.type_oid, target.typmod, Coercion::assignment())? {
            Some(e) => Ok(e),
            None => {
                let error = sql_err!(
                    DATATYPE_MISMATCH,
                    "subscripted assignment to \"{}\" requires type {} but expression is of type {}",
                    target.column,
                    self.type_text(target.type_oid),
                    self.type_text(source)
                )
                .hint("You will need to rewrite or cast the expression.");
                Err(self.at(error, at))
            }
        }
    }

    fn coerce_part(&mut self, value: Expr, target: &AssignTarget) -> SqlResult<Expr> {
        let source = self.type_of(&value);
        let at = location_of(&value);
        match self.coerce_to(value, target.type_oid, target.typmod, Coercion::assignment())? {
            Some(e) => Ok(e),
            None => {
                let error = sql_err!(
                    DATATYPE_MISMATCH,
                    "subfield \"{}\" is of type {} but expression is of type {}",
                    target.column,
                    self.type_text(target.type_oid),
                    self.type_text(source)
                )
                .hint("You will need to rewrite or cast the expression.");
                Err(self.at(error, at))
            }
        }
    }

    fn back_to_domain(&mut self, e: Expr, have: Oid, target: &AssignTarget) -> SqlResult<Expr> {
        if have == target.type_oid || self.base_type(target.type_oid, -1)?.0 == target.type_oid {
            return Ok(e);
        }
        let converted = self.coerce_to(e, target.type_oid, target.typmod, Coercion::assignment())?;
        converted.ok_or_else(|| self.cannot_coerce(have, target.type_oid, Location::NONE))
    }

    fn assign_field(
        &mut self,
        base: Expr,
        target: &AssignTarget,
        name: &str,
        rest: &[Indirection],
        value: Expr,
        location: Location,
    ) -> SqlResult<Expr> {
        let composite = self.base_type(target.type_oid, -1)?.0;
        let Some(columns) = self.composite_columns(composite)? else {
            let error = sql_err!(
                DATATYPE_MISMATCH,
                "cannot assign to field \"{name}\" of column \"{}\" because its type {} is not a composite type",
                target.column,
                self.type_text(target.type_oid)
            );
            return Err(self.at(error, location));
        };
        let Some(i) = columns.iter().position(|c| c.name == name && c.type_oid.is_valid()) else {
            let error = sql_err!(
                UNDEFINED_COLUMN,
                "cannot assign to field \"{name}\" of column \"{}\" because there is no such column in data type {}",
                target.column,
                self.type_text(target.type_oid)
            );
            return Err(self.at(error, location));
        };
        let c = &columns[i];
        let inner = AssignTarget { column: name.to_owned(), type_oid: c.type_oid, typmod: c.typmod };
        let field = Expr::Field(Box::new(crate::expr::FieldExpr {
            arg: base.clone(),
            attno: i as i16 + 1,
            result_type: c.type_oid,
            typmod: c.typmod,
            collation: c.collation,
        }));
        let value = self.assign_part(field, &inner, rest, value, location)?;
        let result = Expr::FieldStore(Box::new(FieldStoreExpr {
            arg: base,
            fields: vec![(i as i16 + 1, value)],
            result_type: composite,
        }));
        self.back_to_domain(result, composite, target)
    }

    /// `column = value` of SET.
    pub(crate) fn set_column_to(
        &mut self,
        table: &Table,
        column: &ast::TargetColumn,
        value: &ast::Expr,
        relation: &ast::RangeVar,
    ) -> SqlResult<Assigned> {
        let value = match value {
            ast::Expr::Default { location } => {
                crate::expr_transform::default_marker(oids::unknown, -1, Oid::INVALID, *location)
            }
            e => self.in_place(Place::UpdateSource, |a| a.expr(e))?,
        };
        self.set_to(table, column, value, relation)
    }

    fn set_to(
        &mut self,
        table: &Table,
        column: &ast::TargetColumn,
        value: Expr,
        relation: &ast::RangeVar,
    ) -> SqlResult<Assigned> {
        let attno = self.target_attno(table, &column.name, column.location).map_err(|e| {
            let shown = relation.alias.as_ref().map_or(&relation.name, |a| &a.name);
            let qualified =
                column.name == *shown && matches!(column.steps.first(), Some(Indirection::Field(_)));
            if qualified {
                e.hint("SET target columns cannot be qualified with the relation name.")
            } else {
                e
            }
        })?;
        self.assign_column(table, attno, &column.steps, value, column.location, false)
    }

    /// Adds an assignment; two to one column are allowed for its parts only.
    pub(crate) fn add_assigned(
        &mut self,
        out: &mut Vec<Assigned>,
        one: Assigned,
        _: &Table,
        column: &ast::TargetColumn,
    ) -> SqlResult<()> {
        match out.iter().position(|a| a.attno == one.attno) {
            None => out.push(one),
            Some(i) if out[i].partial && one.partial => {
                let before = out.remove(i);
                out.push(combine(before, one));
            }
            Some(_) => {
                return Err(sql_err!(
                    SYNTAX_ERROR,
                    "multiple assignments to same column \"{}\"",
                    column.name
                ));
            }
        }
        Ok(())
    }

    /// `(a, b) = source`.
    pub(crate) fn multi_assignment(
        &mut self,
        table: &Table,
        columns: &[ast::TargetColumn],
        source: &ast::Expr,
        out: &mut Vec<Assigned>,
        junk: &mut Vec<Expr>,
        relation: &ast::RangeVar,
    ) -> SqlResult<()> {
        let mismatch = |a: &Self, at: Location| {
            a.at(sql_err!(SYNTAX_ERROR, "number of columns does not match number of values"), at)
        };
        match source {
            ast::Expr::SubLink(s) if s.kind == ast::SubLinkKind::Expr => {
                let query = self.in_place(Place::UpdateSource, |a| a.subselect(&s.query))?;
                let types: Vec<(Oid, i32, Oid)> = query
                    .targets
                    .iter()
                    .filter(|t| !t.junk)
                    .map(|t| {
                        (
                            self.type_of(&t.expr),
                            self.typmod_of(&t.expr),
                            crate::facts::expr_collation(&t.expr),
                        )
                    })
                    .collect();
                if types.len() != columns.len() {
                    return Err(mismatch(self, s.location));
                }
                let level = self.level();
                level.multi_exprs += 1;
                level.has_sublinks = true;
                let id = level.multi_exprs;
                for (i, (column, (type_oid, typmod, collation))) in columns.iter().zip(types).enumerate() {
                    let value = Expr::Param(Param {
                        kind: ParamKind::MultiExpr,
                        id: id << 16 | (i as i32 + 1),
                        type_oid,
                        typmod,
                        collation,
                        location: s.location,
                    });
                    let one = self.set_to(table, column, value, relation)?;
                    self.add_assigned(out, one, table, column)?;
                }
                junk.push(Expr::SubLink(Box::new(SubLink {
                    kind: SubLinkType::MultiExpr,
                    id,
                    test: None,
                    op_name: Vec::new(),
                    query: Box::new(query),
                    location: s.location,
                })));
                Ok(())
            }
            ast::Expr::Row { args, location, .. } => {
                if args.len() != columns.len() {
                    return Err(mismatch(self, *location));
                }
                for (column, value) in columns.iter().zip(args) {
                    let one = self.set_column_to(table, column, value, relation)?;
                    self.add_assigned(out, one, table, column)?;
                }
                Ok(())
            }
            _ => {
                let error = sql_err!(
                    FEATURE_NOT_SUPPORTED,
                    "source for a multiple-column UPDATE item must be a sub-SELECT or ROW() expression"
                );
                let at = columns.first().map_or(Location::NONE, |c| c.location);
                Err(self.at(error, at))
            }
        }
    }

    /// A column's default: its own, its identity sequence's next value, or its domain's; `None` for null.
    pub(crate) fn column_default(&mut self, table: &Table, attno: i16) -> SqlResult<Option<Expr>> {
        let c = &table.columns[attno as usize - 1];
        if c.generated != Generated::None {
            return Ok(None);
        }
        if c.identity_sequence.is_valid() {
            return Ok(Some(Expr::NextValue(NextValue {
                sequence: c.identity_sequence,
                type_oid: c.type_oid,
            })));
        }
        let own = match &c.default {
            Some(text) => Some(crate::stored::load_expr(text, self.catalog)?),
            None => None,
        };
        let default = match own {
            Some(e) => Some(e),
            None => self.domain_default(c.type_oid)?,
        };
        match default {
            Some(e) => self.coerce_to_column(e, table, attno).map(Some),
            // The table below a view knows what stands in a column that is not given.
            None if table.kind == RelationKind::View => Ok(None),
            // A domain's constraints are checked even for null.
            None if self.base_type(c.type_oid, -1)?.0 != c.type_oid => {
                let null = crate::coerce::null_const(oids::unknown, -1, Oid::INVALID);
                self.coerce_to_column(null, table, attno).map(Some)
            }
            None => Ok(None),
        }
    }

    fn domain_default(&self, type_oid: Oid) -> SqlResult<Option<Expr>> {
        if types::builtin_type(type_oid).is_some() {
            return Ok(None);
        }
        match self.type_facts(type_oid)?.kind {
            TypeKind::Domain(d) => match &d.default {
                Some(text) => crate::stored::load_expr(text, self.catalog).map(Some),
                None => self.domain_default(d.base),
            },
            _ => Ok(None),
        }
    }

    /// ON CONFLICT.
    pub(crate) fn on_conflict(
        &mut self,
        c: &ast::OnConflict,
        relation: &ast::RangeVar,
        table: &std::sync::Arc<Table>,
        target: &NsItem,
    ) -> SqlResult<OnConflict> {
        if c.update.is_some() && c.target.is_none() {
            let error = sql_err!(
                SYNTAX_ERROR,
                "ON CONFLICT DO UPDATE requires inference specification or constraint name"
            )
            .hint("For example, ON CONFLICT (column_name).");
            return Err(self.at(error, c.location));
        }
        self.level().namespace = vec![target.clone()];
        let (arbiters, constraint) = match &c.target {
            None => (Vec::new(), Oid::INVALID),
            Some(t) => self.arbiters(t, table, target.rte)?,
        };
        let update = match &c.update {
            None => None,
            Some((list, filter)) => {
                let excluded = ast::RangeVar {
                    name: table.name.clone(),
                    inherit: false,
                    alias: Some(ast::Alias { name: "excluded".into(), columns: Vec::new() }),
                    ..ast::RangeVar::default()
                };
                let mut item = self.plain_item(table.clone(), &excluded, 3, 0)?;
                let excluded_rte = item.rte;
                self.level().range_table[excluded_rte].in_from = false;
                item.relation = Oid::INVALID;
                item.cols_visible = false;
                let rte = target.rte;
                self.level().namespace.push(item);
                let targets = self.set_list(list, table, rte, relation)?;
                let filter = self.opt_condition(filter.as_ref(), Place::Where)?;
                Some(ConflictUpdate { targets, filter, excluded_rte })
            }
        };
        Ok(OnConflict { arbiters, constraint, update })
    }

    /// The indexes whose violation is the conflict meant.
    fn arbiters(&mut self, t: &ConflictTarget, table: &Table, rte: usize) -> SqlResult<(Vec<Oid>, Oid)> {
        match t {
            ConflictTarget::Constraint { name, location } => {
                let index = self.catalog.constraint_index(table.oid, name)?;
                let found = index.and_then(|oid| table.indexes.iter().find(|i| i.oid == oid));
                match found {
                    Some(i) => {
                        if let Some(access) = &mut self.level().range_table[rte].access {
                            access.required |= crate::query::access::SELECT;
                            access.selected.extend(&i.keys);
                            access.selected.sort_unstable();
                            access.selected.dedup();
                        }
                        Ok((vec![i.oid], i.constraint))
                    }
                    None => {
                        let _ = location;
                        Err(sql_err!(
                            UNDEFINED_OBJECT,
                            "constraint \"{name}\" for table \"{}\" does not exist",
                            table.name
                        ))
                    }
                }
            }
            ConflictTarget::Index { elements, filter, .. } => {
                let elements = self.inference(elements)?;
                elements.iter().for_each(|element| self.mark_selected(element, 0));
                let filter = filter.as_ref().map(|f| self.condition(f, Place::IndexPredicate)).transpose()?;
                if table.kind == RelationKind::View {
                    self.level().inference = Some((elements, filter));
                    return Ok((Vec::new(), Oid::INVALID));
                }
                Ok((self.inferred(table, elements, filter.as_ref())?, Oid::INVALID))
            }
        }
    }

    /// The unique indexes of a table with these columns and expressions as their key.
    pub(crate) fn inferred(
        &mut self,
        table: &Table,
        elements: Vec<Expr>,
        filter: Option<&Expr>,
    ) -> SqlResult<Vec<Oid>> {
        let (mut columns, mut exprs) = (Vec::new(), Vec::new());
        for element in elements {
            match element {
                Expr::Var(v) if v.attno > 0 => columns.push(v.attno),
                other => exprs.push(other),
            }
        }
        columns.sort_unstable();
        columns.dedup();
        let mut found = Vec::new();
        for index in table.indexes.iter().filter(|i| i.unique && i.valid) {
            if self.index_matches(index, &columns, &exprs, filter)? {
                if !index.immediate {
                    return Err(sql_err!(
                        OBJECT_NOT_IN_PREREQUISITE_STATE,
                        "ON CONFLICT does not support deferrable unique constraints/exclusion constraints as arbiters"
                    ));
                }
                found.push(index.oid);
            }
        }
        if found.is_empty() {
            return Err(sql_err!(
                INVALID_COLUMN_REFERENCE,
                "there is no unique or exclusion constraint matching the ON CONFLICT specification"
            ));
        }
        Ok(found)
    }

    fn inference(&mut self, elements: &[ast::IndexElement]) -> SqlResult<Vec<Expr>> {
        let mut out = Vec::new();
        for e in elements {
            if e.direction != ast::SortDirection::Default {
                let error =
                    sql_err!(INVALID_COLUMN_REFERENCE, "ASC/DESC is not allowed in ON CONFLICT clause");
                return Err(self.at(error, e.location));
            }
            if e.nulls != ast::SortNulls::Default {
                let error = sql_err!(
                    INVALID_COLUMN_REFERENCE,
                    "NULLS FIRST/LAST is not allowed in ON CONFLICT clause"
                );
                return Err(self.at(error, e.location));
            }
            out.push(match (&e.column, &e.expr) {
                (Some(name), _) => {
                    let reference = ast::ColumnRef {
                        fields: vec![Indirection::Field(name.clone())],
                        location: e.location,
                    };
                    self.column_ref(&reference)?
                }
                (None, Some(expr)) => self.in_place(Place::IndexExpression, |a| a.expr(expr))?,
                (None, None) => return Err(SqlError::internal("empty index element")),
            });
        }
        Ok(out)
    }

    fn index_matches(
        &mut self,
        index: &catalog::view::Index,
        columns: &[i16],
        exprs: &[Expr],
        filter: Option<&Expr>,
    ) -> SqlResult<bool> {
        let mut keys: Vec<i16> = index.keys.iter().copied().filter(|k| *k != 0).collect();
        keys.sort_unstable();
        keys.dedup();
        if keys != columns || index.expressions.len() != exprs.len() {
            return Ok(false);
        }
        for text in &index.expressions {
            let stored = crate::stored::load_expr(text, self.catalog)?;
            if !exprs.iter().any(|e| same_index_expr(e, &stored)) {
                return Ok(false);
            }
        }
        match (&index.predicate, filter) {
            (None, _) => Ok(true),
            (Some(_), None) => Ok(false),
            (Some(text), Some(filter)) => {
                let stored = crate::stored::load_expr(text, self.catalog)?;
                Ok(implies(filter, &stored))
            }
        }
    }
}

/// What is assigned to, as error messages call it.
struct AssignTarget {
    column: String,
    type_oid: Oid,
    typmod: i32,
}

/// Whether a condition, seen as AND of its parts, has every part of the other.
fn implies(have: &Expr, want: &Expr) -> bool {
    let have = conjuncts(have);
    conjuncts(want).iter().all(|w| have.iter().any(|h| same_index_expr(h, w)))
}

fn conjuncts(e: &Expr) -> Vec<&Expr> {
    match e {
        Expr::Bool(b) if b.op == crate::expr::BoolOp::And => b.args.iter().flat_map(conjuncts).collect(),
        e => vec![e],
    }
}

/// Equality with a stored expression, in which the table is entry 0.
fn same_index_expr(e: &Expr, stored: &Expr) -> bool {
    let mut e = e.clone();
    let _ = crate::walk::visit_mut::<std::convert::Infallible>(&mut e, 0, &mut |e, _| {
        if let Expr::Var(v) = e {
            v.rte = 0;
        }
        clear_collation(e);
        Ok(true)
    });
    let mut stored = stored.clone();
    let _ = crate::walk::visit_mut::<std::convert::Infallible>(&mut stored, 0, &mut |e, _| {
        clear_collation(e);
        Ok(true)
    });
    crate::equal::same(&e, &stored)
}

fn clear_collation(e: &mut Expr) {
    match e {
        Expr::Func(x) => (x.collation, x.input_collation) = (Oid::INVALID, Oid::INVALID),
        Expr::Op(x) => (x.collation, x.input_collation) = (Oid::INVALID, Oid::INVALID),
        Expr::Const(x) => x.collation = Oid::INVALID,
        Expr::Relabel(x) => x.collation = Oid::INVALID,
        _ => {}
    }
}
