//! Assignment of values to columns, their fields and elements; defaults.

use base::{Oid, SqlResult, sql_err};
use catalog::view::{Generated, RelationKind, Table, TypeKind};
use parse::ast::{self, Indirection};
use types::oids;

use crate::coerce::{Coercion, location_of};
use crate::core::{Analyzer, Place};
use crate::dml::column_name;
use crate::expr::{
    Expr, FieldStoreExpr, Location, NextValue, Param, ParamKind, SubLink, SubLinkType, SubscriptExpr,
    TargetEntry,
};

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
    ) -> SqlResult<Expr> {
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
            return Ok(crate::dml::open(table, attno));
        }
        if steps.is_empty() {
            return self.coerce_to_column(value, table, attno);
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
        self.assign_part(base, &place, steps, value, location)
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
    ) -> SqlResult<TargetEntry> {
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
    ) -> SqlResult<TargetEntry> {
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
        let value = self.assign_column(table, attno, &column.steps, value, column.location, false)?;
        Ok(crate::target::entry(value, attno, Some(column_name(table, attno)), false))
    }

    /// `(a, b) = source`.
    pub(crate) fn multi_assignment(
        &mut self,
        table: &Table,
        columns: &[ast::TargetColumn],
        source: &ast::Expr,
        out: &mut Vec<TargetEntry>,
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
                    out.push(self.set_to(table, column, value, relation)?);
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
                    out.push(self.set_column_to(table, column, value, relation)?);
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

    /// A text read as a constant of a type.
    fn literal(&self, text: &str, type_oid: Oid) -> SqlResult<Expr> {
        Ok(Expr::Const(crate::expr::Const {
            type_oid,
            typmod: -1,
            collation: self.type_collation(type_oid)?,
            value: types::input(type_oid, text, -1, self.call)?,
            location: Location::NONE,
        }))
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
            TypeKind::Like(like) => like.default.map(|text| self.literal(&text, type_oid)).transpose(),
            _ => Ok(None),
        }
    }
}

/// What is assigned to, as error messages call it.
struct AssignTarget {
    column: String,
    type_oid: Oid,
    typmod: i32,
}
