//! References by name: columns, whole rows, and the errors when there is no such thing.
//!
//! PostgreSQL counterpart: `transformColumnRef`, and the searching part of `parse_relation.c`.

use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::view::RelationKind;
use parse::ast::{self, Indirection};
use types::oids;

use crate::core::{Analyzer, NsItem, Place};
use crate::expr::{CoercionForm, DomainValue, Expr, Location, RowExpr, RowVersion, Var, system_column};
use crate::query::{RteKind, access};
use crate::walk::raise_levels;

/// A relation found by name: how many levels out, and its place in that level's namespace.
type Found = (u32, usize);

impl Analyzer<'_> {
    /// A reference by name.
    pub(crate) fn column_ref(&mut self, c: &ast::ColumnRef) -> SqlResult<Expr> {
        if matches!(self.place(), Place::PartitionBound) {
            let error = sql_err!(
                INVALID_COLUMN_REFERENCE,
                "cannot use column reference in partition bound expression"
            );
            return Err(self.at(error, c.location));
        }
        if matches!(self.place(), Place::ColumnDefault) {
            return Err(self.at(
                sql_err!(FEATURE_NOT_SUPPORTED, "cannot use column reference in DEFAULT expression"),
                c.location,
            ));
        }
        let mut names: Vec<&str> = Vec::with_capacity(c.fields.len());
        for field in &c.fields {
            match field {
                Indirection::Field(name) => names.push(name),
                Indirection::Star => break,
                _ => return Err(crate::expr_transform::shape()),
            }
        }
        let star = names.len() < c.fields.len();
        match (names.as_slice(), star) {
            ([column], false) => self.bare_column(column, c.location),
            ([relation], true) => self.star_row(None, relation, c.location),
            ([schema, relation], true) => self.star_row(Some(schema), relation, c.location),
            ([relation, column], false) => self.qualified_column(None, relation, column, c.location),
            ([schema, relation, column], false) => {
                self.qualified_column(Some(schema), relation, column, c.location)
            }
            ([database, schema, relation, column], false) => {
                if *database != self.catalog.database() {
                    let error = sql_err!(
                        FEATURE_NOT_SUPPORTED,
                        "cross-database references are not implemented: {}",
                        names.join(".")
                    );
                    return Err(self.at(error, c.location));
                }
                self.qualified_column(Some(schema), relation, column, c.location)
            }
            _ => {
                let error = sql_err!(
                    SYNTAX_ERROR,
                    "improper qualified name (too many dotted names): {}",
                    names.join(".")
                );
                Err(self.at(error, c.location))
            }
        }
    }

    fn bare_column(&mut self, name: &str, location: Location) -> SqlResult<Expr> {
        if let (Some((type_oid, typmod, collation)), "value") = (self.domain_value, name) {
            return Ok(Expr::DomainValue(DomainValue { type_oid, typmod, collation, location }));
        }
        if let Some(e) = self.find_column(name, location)? {
            return Ok(e);
        }
        // A bare name may be a relation, standing for its row.
        if let Some(found) = self.find_relation(None, name, location)? {
            return self.whole_row(found, location);
        }
        Err(self.missing_column(None, name, location))
    }

    fn qualified_column(
        &mut self,
        schema: Option<&str>,
        relation: &str,
        column: &str,
        location: Location,
    ) -> SqlResult<Expr> {
        let Some(found) = self.find_relation(schema, relation, location)? else {
            return Err(self.missing_relation(schema, relation, location));
        };
        if let Some(e) = self.column_of(found, column, location)? {
            return Ok(e);
        }
        let row = self.whole_row(found, location)?;
        match self.field(row, column, location) {
            Ok(e @ Expr::Func(_)) => Ok(e),
            _ => Err(self.missing_column(Some(relation), column, location)),
        }
    }

    fn star_row(&mut self, schema: Option<&str>, relation: &str, location: Location) -> SqlResult<Expr> {
        match self.find_relation(schema, relation, location)? {
            Some(found) => self.whole_row(found, location),
            None => Err(self.missing_relation(schema, relation, location)),
        }
    }

    /// A column by its bare name, innermost level first.
    pub(crate) fn find_column(&mut self, name: &str, location: Location) -> SqlResult<Option<Expr>> {
        for up in 0..self.levels.len() as u32 {
            let level = &self.levels[self.levels.len() - 1 - up as usize];
            let mut found: Option<usize> = None;
            for (i, item) in level.namespace.iter().enumerate() {
                if !item.cols_visible || (item.lateral_only && !level.lateral_active) {
                    continue;
                }
                if !has_column(item, name, level, self)? {
                    continue;
                }
                if found.is_some() {
                    return Err(self.at(
                        sql_err!(AMBIGUOUS_COLUMN, "column reference \"{name}\" is ambiguous"),
                        location,
                    ));
                }
                self.check_lateral(item, location)?;
                found = Some(i);
            }
            if let Some(i) = found {
                return self.column_of((up, i), name, location);
            }
        }
        Ok(None)
    }

    fn check_lateral(&self, item: &NsItem, location: Location) -> SqlResult<()> {
        if item.lateral_only && !item.lateral_ok {
            let error = sql_err!(
                INVALID_COLUMN_REFERENCE,
                "invalid reference to FROM-clause entry for table \"{}\"",
                item.name
            )
            .detail("The combining JOIN type must be INNER or LEFT for a LATERAL reference.");
            return Err(self.at(error, location));
        }
        Ok(())
    }

    /// A relation by name, innermost level first.
    pub(crate) fn find_relation(
        &mut self,
        schema: Option<&str>,
        name: &str,
        location: Location,
    ) -> SqlResult<Option<Found>> {
        let wanted = match schema {
            None => None,
            Some(schema) => match self.catalog.relation(Some(schema), name)? {
                Some(table) => Some(table.oid),
                None => return Ok(None),
            },
        };
        for up in 0..self.levels.len() as u32 {
            let level = &self.levels[self.levels.len() - 1 - up as usize];
            let mut found = None;
            for (i, item) in level.namespace.iter().enumerate() {
                if !item.rel_visible || (item.lateral_only && !level.lateral_active) {
                    continue;
                }
                let fits = match wanted {
                    None => item.name == name,
                    Some(oid) => !item.aliased && item.relation == oid,
                };
                if !fits {
                    continue;
                }
                if found.is_some() {
                    let error = match wanted {
                        None => sql_err!(AMBIGUOUS_ALIAS, "table reference \"{name}\" is ambiguous"),
                        Some(oid) => sql_err!(AMBIGUOUS_ALIAS, "table reference {oid} is ambiguous"),
                    };
                    return Err(self.at(error, location));
                }
                self.check_lateral(item, location)?;
                found = Some(i);
            }
            if let Some(i) = found {
                return Ok(Some((up, i)));
            }
        }
        Ok(None)
    }

    fn item(&self, found: Found) -> &NsItem {
        &self.levels[self.levels.len() - 1 - found.0 as usize].namespace[found.1]
    }

    /// A column of a relation that was found; `None` if it has none of this name.
    pub(crate) fn column_of(
        &mut self,
        found: Found,
        name: &str,
        location: Location,
    ) -> SqlResult<Option<Expr>> {
        let item = self.item(found);
        let mut same = item.columns.iter().filter(|c| c.name == name);
        if let Some(column) = same.next() {
            if same.next().is_some() {
                let error = sql_err!(AMBIGUOUS_COLUMN, "column reference \"{name}\" is ambiguous");
                return Err(self.at(error, location));
            }
            let mut e = column.expr.clone();
            set_location(&mut e, location);
            self.mark_selected(&e, found.0);
            if found.0 > 0 {
                raise_levels(&mut e, found.0, 0);
            }
            return Ok(Some(e));
        }
        self.system_column(found, name, location)
    }

    fn system_column(&mut self, found: Found, name: &str, location: Location) -> SqlResult<Option<Expr>> {
        let Some((attno, type_oid)) = system_column_named(name) else { return Ok(None) };
        let item = self.item(found);
        let (rte, version) = (item.rte, item.version);
        let place = self.place();
        let Some(entry) = self.level_up(found.0)?.range_table.get(rte) else { return Ok(None) };
        match &entry.kind {
            RteKind::Relation(r) if r.table.kind != RelationKind::View => {}
            _ => return Ok(None),
        }
        if matches!(place, Place::CheckConstraint) && attno != system_column::TABLEOID {
            let error = sql_err!(
                INVALID_COLUMN_REFERENCE,
                "system column \"{name}\" reference in check constraint is invalid"
            );
            return Err(self.at(error, location));
        }
        if matches!(place, Place::GeneratedColumn) && attno != system_column::TABLEOID {
            let error = sql_err!(
                INVALID_COLUMN_REFERENCE,
                "cannot use system column \"{name}\" in column generation expression"
            );
            return Err(self.at(error, location));
        }
        let e = Expr::Var(Var {
            rte,
            attno,
            type_oid,
            typmod: -1,
            collation: Oid::INVALID,
            levels_up: found.0,
            version,
            location,
        });
        self.mark_selected(&e, 0);
        Ok(Some(e))
    }

    /// The row of a relation as one value.
    pub(crate) fn whole_row(&mut self, found: Found, location: Location) -> SqlResult<Expr> {
        let item = self.item(found).clone();
        if item.is_join {
            let mut args: Vec<Expr> = item.columns.iter().map(|c| c.expr.clone()).collect();
            for e in &mut args {
                self.mark_selected(e, found.0);
                raise_levels(e, found.0, 0);
            }
            let names = item.columns.iter().map(|c| c.name.clone()).collect();
            return Ok(Expr::Row(Box::new(RowExpr {
                args,
                row_type: oids::record,
                names,
                form: CoercionForm::ImplicitCast,
                location,
            })));
        }
        let level = self.level_up(found.0)?;
        let Some(entry) = level.range_table.get(item.rte) else {
            return Err(SqlError::internal("range table entry is missing"));
        };
        // A function that returns one scalar stands for that value.
        if let RteKind::Function(f) = &entry.kind
            && f.functions.len() == 1
            && !f.ordinality
            && !f.functions[0].composite
            && let Some(column) = item.columns.first()
        {
            let mut e = column.expr.clone();
            set_location(&mut e, location);
            raise_levels(&mut e, found.0, 0);
            return Ok(e);
        }
        let type_oid = match &entry.kind {
            RteKind::Relation(r) if r.table.row_type.is_valid() => r.table.row_type,
            RteKind::Subquery(s) if s.view.is_valid() => {
                let view = s.view;
                self.catalog.relation_by_oid(view)?.map_or(oids::record, |t| t.row_type)
            }
            RteKind::Function(f) if f.functions.len() == 1 && !f.ordinality => {
                let t = crate::facts::expr_type(&f.functions[0].call, &|_| Oid::INVALID);
                if self.is_composite(t)? { t } else { oids::record }
            }
            _ => oids::record,
        };
        let e = Expr::Var(Var {
            rte: item.rte,
            attno: 0,
            type_oid,
            typmod: -1,
            collation: Oid::INVALID,
            levels_up: found.0,
            version: item.version,
            location,
        });
        self.mark_selected(&e, 0);
        Ok(e)
    }

    /// Notes that a column is read, for the privilege check; `up` is added to the levels that the expression's columns have.
    pub(crate) fn mark_selected(&mut self, e: &Expr, up: u32) {
        let mut marks = Vec::new();
        let _ = crate::walk::visit::<std::convert::Infallible>(e, 0, &mut |e, _| {
            if let Expr::Var(v) = e {
                marks.push((v.rte, v.attno, v.levels_up + up));
            }
            Ok(true)
        });
        for (rte, attno, up) in marks {
            let Ok(level) = self.level_up(up) else { continue };
            if let Some(entry) = level.range_table.get_mut(rte)
                && let Some(a) = &mut entry.access
            {
                a.required |= access::SELECT;
                if let Err(i) = a.selected.binary_search(&attno) {
                    a.selected.insert(i, attno);
                }
            }
        }
    }

    /// The error for a relation that is not in FROM.
    pub(crate) fn missing_relation(
        &mut self,
        schema: Option<&str>,
        name: &str,
        location: Location,
    ) -> SqlError {
        let shown = schema.map_or(name.to_owned(), |s| format!("{s}.{name}"));
        // An entry by that name that cannot be reached from here, or one that hides under an alias.
        let mut hidden: Option<(String, bool, bool)> = None;
        'search: for level in self.levels.iter().rev() {
            for (i, entry) in level.range_table.iter().enumerate() {
                let real = match &entry.kind {
                    RteKind::Relation(r) => Some(r.table.name.as_str()),
                    _ => None,
                };
                let known = entry.name == name || real == Some(name);
                if known {
                    let item = level.namespace.iter().find(|n| n.rte == i);
                    let reachable =
                        item.is_some_and(|n| n.rel_visible && (!n.lateral_only || level.lateral_active));
                    let lateral = item.is_some_and(|n| n.rel_visible && n.lateral_only && n.lateral_ok);
                    hidden = Some((entry.name.clone(), reachable, lateral));
                    break 'search;
                }
            }
        }
        let error = match hidden {
            None => sql_err!(UNDEFINED_TABLE, "missing FROM-clause entry for table \"{shown}\""),
            Some((alias, true, _)) if alias != name => {
                sql_err!(UNDEFINED_TABLE, "invalid reference to FROM-clause entry for table \"{shown}\"")
                    .hint(format!("Perhaps you meant to reference the table alias \"{alias}\"."))
            }
            Some((_, _, lateral)) => {
                let error = sql_err!(UNDEFINED_TABLE, "invalid reference to FROM-clause entry for table \"{shown}\"")
                    .detail(format!(
                        "There is an entry for table \"{shown}\", but it cannot be referenced from this part of the query."
                    ));
                if lateral {
                    error.hint("To reference that table, you must mark this subquery with LATERAL.")
                } else {
                    error
                }
            }
        };
        self.at(error, location)
    }

    /// The error for a column that does not exist, with what the user may have meant.
    pub(crate) fn missing_column(
        &mut self,
        relation: Option<&str>,
        name: &str,
        location: Location,
    ) -> SqlError {
        let message = match relation {
            Some(r) => format!("column {r}.{name} does not exist"),
            None => format!("column \"{name}\" does not exist"),
        };
        let error = SqlError::new(base::SqlState::UNDEFINED_COLUMN, message);
        let error = crate::fuzzy::suggest(self, error, relation, name);
        self.at(error, location)
    }
}

fn has_column(item: &NsItem, name: &str, level: &crate::core::Level, _: &Analyzer<'_>) -> SqlResult<bool> {
    if item.columns.iter().any(|c| c.name == name) {
        return Ok(true);
    }
    let relation = matches!(level.range_table.get(item.rte).map(|r| &r.kind), Some(RteKind::Relation(_)));
    Ok(relation && !item.is_join && system_column_named(name).is_some())
}

/// Attribute number and type of a system column.
pub(crate) fn system_column_named(name: &str) -> Option<(i16, Oid)> {
    Some(match name {
        "ctid" => (system_column::CTID, oids::tid),
        "xmin" => (system_column::XMIN, oids::xid),
        "cmin" => (system_column::CMIN, oids::cid),
        "xmax" => (system_column::XMAX, oids::xid),
        "cmax" => (system_column::CMAX, oids::cid),
        "tableoid" => (system_column::TABLEOID, oids::oid),
        _ => return None,
    })
}

/// Sets the location of a column reference.
pub(crate) fn set_location(e: &mut Expr, location: Location) {
    match e {
        Expr::Var(v) => v.location = location,
        Expr::Coalesce(c) => c.location = location,
        _ => {}
    }
}

/// Marks a column as coming from OLD or NEW.
pub(crate) fn set_version(e: &mut Expr, version: RowVersion) {
    if let Expr::Var(v) = e {
        v.version = version;
    }
}
