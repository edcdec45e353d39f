//! OPEN, FETCH, MOVE, CLOSE.

use std::rc::Rc;

use base::{SqlError, SqlResult, SqlState, sql_err};
use parse::ast::FetchDirection;
use tuple::Datum;
use types::oids;

use super::{Flow, Frame};
use crate::ast::*;
use crate::expr::Expression;

impl Frame<'_> {
    /// A cursor variable's value: the cursor's name.
    fn cursor_name(&self, cursor: VarId) -> Option<String> {
        match &self.slots[cursor] {
            Datum::Bytes(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            _ => None,
        }
    }

    fn open_name(&self, cursor: VarId) -> SqlResult<String> {
        self.cursor_name(cursor).ok_or_else(|| {
            let name = &self.function.variables[cursor].name;
            SqlError::new(SqlState::NULL_VALUE_NOT_ALLOWED, format!("cursor variable \"{name}\" is null"))
        })
    }

    fn check_unused(&self, name: Option<&str>) -> SqlResult<()> {
        match name {
            Some(name) if self.session.has_cursor(name) => {
                Err(sql_err!(DUPLICATE_CURSOR, "cursor \"{name}\" already in use"))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn open(
        &mut self,
        cursor: VarId,
        scroll: Option<bool>,
        source: &OpenSource,
    ) -> SqlResult<Flow> {
        match source {
            OpenSource::Bound(arguments) => {
                self.open_bound(cursor, arguments.as_deref())?;
            }
            OpenSource::Query(query) => {
                let name = self.cursor_name(cursor);
                self.check_unused(name.as_deref())?;
                let ready = self.ready(query)?;
                self.open_ready(cursor, name, &ready, scroll)?;
            }
        }
        Ok(Flow::Next)
    }

    /// Opens the query of a bound cursor. Gives the cursor's name.
    pub(super) fn open_bound(
        &mut self,
        cursor: VarId,
        arguments: Option<&[Rc<Expression>]>,
    ) -> SqlResult<String> {
        let function = self.function;
        let VariableKind::Cursor(bound) = &function.variables[cursor].kind else {
            return Err(SqlError::internal("a cursor without a query"));
        };
        let name = self.cursor_name(cursor);
        self.check_unused(name.as_deref())?;
        if let Some(arguments) = arguments {
            let mut values = Vec::with_capacity(arguments.len());
            for argument in arguments {
                let value = self.evaluate(argument).map_err(|e| {
                    let names = bound.arguments.iter().map(|v| &function.variables[*v].name);
                    let pairs = arguments.iter().zip(names).map(|(a, name)| format!("{} AS {name}", a.text));
                    e.context(format!("PL/pgSQL expression \"{}\"", pairs.collect::<Vec<_>>().join(", ")))
                });
                values.push(value?);
            }
            for (variable, (value, ty)) in bound.arguments.iter().zip(values) {
                self.assign_variable(*variable, value, ty)?;
            }
        }
        let ready = self.ready(&Query::Static(bound.query.clone()))?;
        self.open_ready(cursor, name, &ready, bound.scroll)
    }

    fn open_ready(
        &mut self,
        cursor: VarId,
        name: Option<String>,
        ready: &super::query::Ready,
        scroll: Option<bool>,
    ) -> SqlResult<String> {
        if !ready.statement.is_query() {
            return Err(sql_err!(INVALID_CURSOR_DEFINITION, "cannot open non-SELECT query as cursor"));
        }
        let opened = self.session.open_in_body(
            name.as_deref(),
            &ready.statement,
            ready.params.clone(),
            (scroll, self.sees),
        );
        let opened = opened.map_err(|e| ready.within(self, e))?;
        self.slots[cursor] = Datum::text(&opened);
        Ok(opened)
    }

    pub(super) fn fetch(
        &mut self,
        cursor: VarId,
        direction: &Direction,
        into: Option<&Target>,
    ) -> SqlResult<Flow> {
        let name = self.open_name(cursor)?;
        let count = match &direction.count {
            None => None,
            Some(count) => {
                let (value, ty) = self.evaluate(count)?;
                match self.session.convert_in_body(value, ty.oid, (oids::int4, -1))? {
                    Datum::Int4(n) => Some(i64::from(n)),
                    _ => {
                        return Err(sql_err!(
                            NULL_VALUE_NOT_ALLOWED,
                            "relative or absolute cursor position is null"
                        ));
                    }
                }
            }
        };
        let many = match (direction.all, count) {
            (true, None) => i64::MAX,
            (_, count) => count.unwrap_or(1),
        };
        let way = match direction.way {
            Way::Forward => FetchDirection::Forward(many),
            Way::Backward => FetchDirection::Backward(many),
            Way::Absolute => FetchDirection::Absolute(many),
            Way::Relative => FetchDirection::Relative(many),
            Way::First => FetchDirection::Absolute(1),
            Way::Last => FetchDirection::Absolute(-1),
        };
        let mut row = None;
        let rows = self.session.fetch_in_body(&name, way, into.is_none(), &mut |values| {
            row = Some(values.to_vec());
            Ok(())
        })?;
        if let Some(target) = into {
            let columns: Rc<[analyze::ColumnType]> = self.session.cursor_columns_in_body(&name)?.into();
            self.assign_columns(target, &columns, row.as_deref())?;
        }
        self.row_count = rows;
        self.set_found(rows > 0);
        Ok(Flow::Next)
    }

    pub(super) fn close(&mut self, cursor: VarId) -> SqlResult<Flow> {
        let name = self.open_name(cursor)?;
        self.session.close_in_body(&name)?;
        Ok(Flow::Next)
    }
}
