//! # What
//! Cursors: DECLARE, FETCH, MOVE, CLOSE; going backward, and outliving the transaction.
//!
//! # Layout
//! A cursor is a portal with a [`Cursor`]. Plans run forward only. Where PostgreSQL would run a plan backward, the rows are computed
//! once more from the start, under the same snapshot, and kept from then on in a [`RowStore`]: a cursor that only goes forward keeps
//! nothing. Where PostgreSQL would put a Materialize node on top of the plan, rows are kept as they come.
//!
//! # Invariants
//! 1. Row `n` of the result, counted from 1, is row `n - 1 - base` of the store, if there is one.
//! 2. With a store, the execution stands behind the store's last row.
//! 3. Behind the columns of a row in the store stand the tables that it is of and the places of their rows (WHERE CURRENT OF).
//! 4. A cursor that is [`Cursor::held`] has all its rows in the store, and no execution, snapshot or plan lock.
//!
//! # PostgreSQL counterpart and differences
//! `commands/portalcmds.c`, `PortalRunFetch`. Whether a cursor can go
//! backward unless it says so follows PostgreSQL's rules, by our plan; bitmap scans can.

use std::sync::Arc;

use base::{Oid, SqlError, SqlResult, SubxactId, sql_err};
use eval::node::{Origin, datum_tid, tid_datum};
use eval::row_store::{Place, RowStore};
use parse::Statement;
use parse::ast::{DeclareCursor, Fetch, FetchDirection};
use plan::{Node, Plan};
use tuple::Datum;

use super::portal::{Formats, Params, Portal};
use super::statement::Source;
use super::{Arguments, Session};
use crate::output::{Column, Format, Output, RowEncoder};

/// What a count of FETCH ALL is.
const ALL: u64 = u64::MAX;

/// Whether a cursor can go backward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scroll {
    No,
    /// The plan would give the same rows again.
    Again,
    /// Rows are kept from the first.
    Kept,
}

/// What a portal made by DECLARE has beyond others.
pub(crate) struct Cursor {
    scroll: Scroll,
    hold: bool,
    binary: bool,
    /// The transaction that declared it has committed.
    held: bool,
    /// An error came while it ran.
    failed: bool,
    columns: Arc<[Column]>,
    /// Number of the current row; 0 before the first, that of the last row behind it.
    position: u64,
    at_start: bool,
    at_end: bool,
    store: Option<RowStore>,
    base: u64,
}

/// A row of `pg_cursors`.
pub(crate) struct CursorInfo {
    pub(crate) name: Box<str>,
    pub(crate) statement: Arc<str>,
    pub(crate) holdable: bool,
    pub(crate) binary: bool,
    pub(crate) scrollable: bool,
    pub(crate) created: i64,
}

impl Cursor {
    /// Whether it outlives its transaction.
    pub(super) fn is_held(&self) -> bool {
        self.held
    }

    /// Whether there is a current row.
    pub(super) fn on_row(&self) -> bool {
        !self.at_start && !self.at_end
    }

    /// The tables that the current row is of, and the places of their rows, if the row is kept.
    pub(super) fn kept_origins(&self) -> SqlResult<Option<Vec<Origin>>> {
        let Some(store) = &self.store else { return Ok(None) };
        let mut place = Place::default();
        let Some(row) = store.get(&mut place, self.position - 1 - self.base)? else { return Ok(None) };
        let origin = |pair: &[Datum]| match pair {
            [Datum::Oid(table), place] => Some((Oid(*table), datum_tid(place)?)),
            _ => None,
        };
        Ok(Some(row[self.columns.len()..].chunks(2).filter_map(origin).collect()))
    }
}

impl Session {
    /// DECLARE: the query's snapshot is taken now.
    pub fn declare_cursor(
        &self,
        declare: &DeclareCursor,
        text: &str,
        arguments: &Arguments<'_>,
    ) -> SqlResult<()> {
        let source = Source::of_cursor(text, &declare.query, &arguments.types);
        let planned = self.current_plan(&source)?;
        let statement = planned.shared.prepared.statement.clone();
        if statement.modifies {
            self.check_declared(declare, text, arguments)?;
        }
        match declare.hold {
            true => self.refuse_restricted("create a cursor WITH HOLD")?,
            false => self.require_block("DECLARE CURSOR")?,
        }
        if self.portals.borrow().contains(&declare.name) {
            return Err(sql_err!(DUPLICATE_CURSOR, "cursor \"{}\" already exists", declare.name));
        }
        let scroll = scroll_of(declare.scroll, &statement);
        let formats = declare.binary.then_some(Format::Binary).into_iter().collect();
        let mut portal = Portal::new(source, Params::from(arguments.values), formats);
        portal.made = (self.txn.borrow().subxact(), self.format().statement_time);
        self.open_portal(&mut portal)?;
        let columns = planned.shared.columns.clone();
        portal.cursor = Some(self.new_cursor(scroll, (declare.hold, declare.binary), columns));
        self.portals.borrow_mut().insert(&declare.name, portal);
        Ok(())
    }

    /// Opens a cursor of a procedural language over a statement of a body.
    pub(crate) fn open_cursor(
        &self,
        name: &str,
        source: std::rc::Rc<Source>,
        params: Vec<Datum>,
        scroll: Option<bool>,
    ) -> SqlResult<()> {
        let planned = self.current_plan(&source)?;
        let statement = planned.shared.prepared.statement.clone();
        if self.portals.borrow().contains(name) {
            return Err(sql_err!(DUPLICATE_CURSOR, "cursor \"{name}\" already in use"));
        }
        let mut portal = Portal::new(source, params.into(), Formats::new());
        portal.made = (self.txn.borrow().subxact(), self.format().statement_time);
        self.open_portal(&mut portal)?;
        let scroll = scroll_of(scroll, &statement);
        portal.cursor = Some(self.new_cursor(scroll, (false, false), planned.shared.columns.clone()));
        self.portals.borrow_mut().insert(name, portal);
        Ok(())
    }

    /// A name for a cursor that has none.
    pub(crate) fn unnamed_cursor(&self) -> String {
        loop {
            let number = self.unnamed_cursors.get() + 1;
            self.unnamed_cursors.set(number);
            let name = format!("<unnamed portal {number}>");
            if !self.portals.borrow().contains(&name) {
                return name;
            }
        }
    }

    fn new_cursor(
        &self,
        scroll: Scroll,
        (hold, binary): (bool, bool),
        columns: Option<Arc<[Column]>>,
    ) -> Box<Cursor> {
        Box::new(Cursor {
            scroll,
            hold,
            binary,
            held: false,
            failed: false,
            columns: columns.unwrap_or_else(|| Arc::from([])),
            position: 0,
            at_start: true,
            at_end: false,
            store: (scroll == Scroll::Kept).then(RowStore::default),
            base: 0,
        })
    }

    /// What a query that locks or changes rows must not be declared as.
    fn check_declared(
        &self,
        declare: &DeclareCursor,
        text: &str,
        arguments: &Arguments<'_>,
    ) -> SqlResult<()> {
        let whole = Statement::DeclareCursor(Box::new(declare.clone()));
        let format = self.format();
        let call = types::Call::new(&format).with_session(self);
        analyze::analyze_statement(&whole, text, arguments.types.clone(), self, &call).map(drop)
    }

    /// FETCH and MOVE. Returns the command tag.
    pub fn fetch(&self, fetch: &Fetch, out: &mut dyn Output) -> SqlResult<String> {
        // Taken out while it runs: what it calls may look at the portals.
        let portal = self.portals.borrow_mut().remove(fetch.cursor.as_str());
        let mut portal = portal.ok_or_else(|| no_cursor(&fetch.cursor))?;
        let count = match portal.cursor.take() {
            Some(cursor) if cursor.failed => {
                portal.cursor = Some(cursor);
                Err(sql_err!(OBJECT_NOT_IN_PREREQUISITE_STATE, "portal \"{}\" cannot be run", fetch.cursor))
            }
            Some(mut cursor) => {
                let count = Run { session: self, portal: &mut portal, cursor: &mut cursor }
                    .direction(fetch.direction, (!fetch.is_move).then_some(out));
                cursor.failed |= count.is_err();
                portal.cursor = Some(cursor);
                count
            }
            None => self.fetch_bound_portal(&mut portal, fetch, out),
        };
        self.portals.borrow_mut().insert(&fetch.cursor, portal);
        Ok(format!("{} {}", if fetch.is_move { "MOVE" } else { "FETCH" }, count?))
    }

    /// FETCH from a portal that Bind made: forward only. It may be the first to run it.
    fn fetch_bound_portal(&self, portal: &mut Portal, fetch: &Fetch, out: &mut dyn Output) -> SqlResult<u64> {
        self.open_bound_portal(portal, out)?;
        let out = (!fetch.is_move).then_some(out);
        match fetch.direction {
            FetchDirection::Forward(i64::MAX) => self.fetch_rows(portal, 0, out),
            FetchDirection::Forward(n) if n > 0 => self.fetch_rows(portal, n as u64, out),
            FetchDirection::Relative(1) => self.fetch_rows(portal, 1, out),
            _ => Err(forward_only()),
        }
    }

    /// Execute of a cursor by its portal's name: up to `limit` rows forward (0: all). `None` while there may be more.
    pub(super) fn execute_cursor(
        &self,
        portal: &mut Portal,
        limit: u32,
        out: &mut dyn Output,
    ) -> SqlResult<Option<String>> {
        let Some(mut cursor) = portal.cursor.take() else { return Ok(None) };
        let count = if limit == 0 { ALL } else { u64::from(limit) };
        let rows = Run { session: self, portal, cursor: &mut cursor }.forward(count, Some(out));
        cursor.failed |= rows.is_err();
        let at_end = cursor.at_end;
        portal.cursor = Some(cursor);
        let rows = rows?;
        Ok(at_end.then(|| format!("SELECT {rows}")))
    }

    /// CLOSE; `None` is ALL.
    pub fn close_cursor(&self, name: Option<&str>) -> SqlResult<()> {
        let Some(name) = name else {
            self.close_portals(|_| true);
            return Ok(());
        };
        if !self.portals.borrow().contains(name) {
            return Err(no_cursor(name));
        }
        self.close_portal(name);
        Ok(())
    }

    /// Whether there is a cursor, or a portal, with this name.
    pub fn has_cursor(&self, name: &str) -> bool {
        self.portals.borrow().get(name).is_some()
    }

    /// Columns of what FETCH returns.
    pub fn cursor_columns(&self, name: &str) -> SqlResult<Option<Arc<[Column]>>> {
        let portals = self.portals.borrow();
        // The caller reports that there is none.
        let Some(portal) = portals.get(name) else { return Ok(None) };
        if let Some(cursor) = &portal.cursor {
            return Ok(Some(cursor.columns.clone()));
        }
        let source = portal.source.clone();
        drop(portals);
        self.columns_of(&source)
    }

    /// Formats that a cursor's rows are sent in.
    pub(super) fn cursor_formats(&self, name: &str) -> Formats {
        self.portals.borrow().get(name).map_or_else(Formats::new, |portal| portal.formats.clone())
    }

    /// Before a transaction commits: its holdable cursors get all their rows.
    pub(super) fn hold_cursors(&self) -> SqlResult<()> {
        if !self.portals.borrow().has_named() {
            return Ok(());
        }
        let is_new = |cursor: &Cursor| cursor.hold && !cursor.held;
        let names: Vec<Box<str>> = {
            let portals = self.portals.borrow();
            let holdable = portals.iter().filter(|(_, p)| p.cursor.as_deref().is_some_and(is_new));
            holdable.map(|(name, _)| name.into()).collect()
        };
        for name in names {
            let Some(mut portal) = self.portals.borrow_mut().remove(&name) else { continue };
            let Some(mut cursor) = portal.cursor.take() else { continue };
            if !cursor.failed {
                let held = Run { session: self, portal: &mut portal, cursor: &mut cursor }.keep_rest();
                portal.close(self);
                held?;
                cursor.held = true;
                portal.cursor = Some(cursor);
                self.portals.borrow_mut().insert(&name, portal);
            } else {
                portal.close(self);
            }
        }
        Ok(())
    }

    /// Whether the running transaction made a cursor that would outlive it.
    pub(super) fn made_holdable_cursor(&self) -> bool {
        let is_new = |cursor: &Cursor| cursor.hold && !cursor.held;
        self.portals.borrow().iter().any(|(_, portal)| portal.cursor.as_deref().is_some_and(is_new))
    }

    /// A savepoint's level ended well: its cursors belong to the level around it.
    pub(super) fn adopt_cursors(&self) {
        self.adopt_large_objects();
        let level = self.txn.borrow().subxact();
        for portal in self.portals.borrow_mut().values_mut() {
            portal.made.0 = portal.made.0.min(level);
        }
    }

    /// A level of the transaction was rolled back: so are the cursors it made and the large objects it opened. What others fetched meanwhile stays fetched.
    pub(super) fn close_cursors_since(&self, level: SubxactId) {
        self.close_large_objects_since(level);
        self.close_portals(|portal| !portal.is_held() && portal.made.0 >= level);
    }

    /// The rows of `pg_cursors`.
    pub(crate) fn cursors(&self) -> Vec<CursorInfo> {
        let portals = self.portals.borrow();
        let info = |name: &str, portal: &Portal| {
            let cursor = portal.cursor.as_deref();
            CursorInfo {
                name: name.into(),
                statement: portal.source.text.clone(),
                holdable: cursor.is_some_and(|c| c.hold),
                binary: cursor.is_some_and(|c| c.binary),
                scrollable: cursor.is_some_and(|c| c.scroll != Scroll::No),
                created: portal.made.1,
            }
        };
        portals.iter().map(|(name, portal)| info(name, portal)).collect()
    }
}

/// How a cursor over a plan can go backward, as it was asked for.
fn scroll_of(asked: Option<bool>, statement: &plan::Statement) -> Scroll {
    let again = !statement.modifies && runs_backward(&statement.plan);
    match asked {
        Some(false) => Scroll::No,
        None if !again => Scroll::No,
        _ if again => Scroll::Again,
        _ => Scroll::Kept,
    }
}

/// A cursor while it is used; it was taken out of its portal.
struct Run<'a> {
    session: &'a Session,
    portal: &'a mut Portal,
    cursor: &'a mut Cursor,
}

impl Run<'_> {
    /// Carries out FETCH or MOVE (without `out`); returns the number of rows of its tag.
    fn direction(&mut self, direction: FetchDirection, out: Option<&mut dyn Output>) -> SqlResult<u64> {
        let count = |n: i64| if n == i64::MAX { ALL } else { n.unsigned_abs() };
        match direction {
            FetchDirection::Forward(0) | FetchDirection::Backward(0) | FetchDirection::Relative(0) => {
                self.current(out)
            }
            FetchDirection::Forward(n) if n > 0 => self.forward(count(n), out),
            FetchDirection::Forward(n) => self.backward(count(n), out),
            FetchDirection::Backward(i64::MAX) if out.is_none() => {
                let before = self.cursor.position.saturating_sub(u64::from(self.cursor.on_row()));
                self.rewind().map(|()| before)
            }
            FetchDirection::Backward(n) if n > 0 => self.backward(count(n), out),
            FetchDirection::Backward(n) => self.forward(count(n), out),
            FetchDirection::Absolute(0) => {
                self.rewind()?;
                Ok(0)
            }
            FetchDirection::Absolute(n) if n > 0 => self.row(n as u64, out),
            FetchDirection::Absolute(n) => {
                if self.cursor.scroll == Scroll::Again {
                    self.keep()?;
                }
                self.forward(ALL, None)?;
                self.backward(n.unsigned_abs() - 1, None)?;
                self.backward(1, out)
            }
            FetchDirection::Relative(n) if n > 0 => {
                self.forward(n as u64 - 1, None)?;
                self.forward(1, out)
            }
            FetchDirection::Relative(n) => {
                self.backward(n.unsigned_abs() - 1, None)?;
                self.backward(1, out)
            }
        }
    }

    /// The current row once more.
    fn current(&mut self, out: Option<&mut dyn Output>) -> SqlResult<u64> {
        if out.is_none() || !self.cursor.on_row() {
            return Ok(u64::from(self.cursor.on_row()));
        }
        self.backward(1, None)?;
        self.forward(1, out)
    }

    /// Row `number`.
    fn row(&mut self, number: u64, out: Option<&mut dyn Output>) -> SqlResult<u64> {
        let here = self.cursor.position + u64::from(self.cursor.at_end);
        if number > here {
            self.forward(number - here - 1, None)?;
        } else {
            self.rewind()?;
            self.forward(number - 1, None)?;
        }
        self.forward(1, out)
    }

    /// Before the first row.
    fn rewind(&mut self) -> SqlResult<()> {
        if self.cursor.at_start && !self.cursor.at_end {
            return Ok(());
        }
        if self.cursor.scroll == Scroll::No {
            return Err(forward_only());
        }
        if self.cursor.store.is_none() {
            self.session.restart(self.portal);
        }
        (self.cursor.position, self.cursor.at_start, self.cursor.at_end) = (0, true, false);
        Ok(())
    }

    /// The next rows.
    fn forward(&mut self, count: u64, out: Option<&mut dyn Output>) -> SqlResult<u64> {
        if self.cursor.at_end || count == 0 {
            return Ok(0);
        }
        let from = self.cursor.position;
        let rows = if self.cursor.store.is_none() {
            let limit = if count == ALL { 0 } else { count };
            self.session.fetch_rows(self.portal, limit, out)?
        } else {
            let have = self.fill(from.saturating_add(count))?;
            let to = have.min(from.saturating_add(count));
            self.send(from + 1..=to, out)?;
            to.saturating_sub(from)
        };
        let cursor = &mut *self.cursor;
        cursor.at_start &= rows == 0;
        cursor.at_end = rows < count;
        cursor.position += rows;
        Ok(rows)
    }

    /// The rows before, the nearest first.
    fn backward(&mut self, count: u64, out: Option<&mut dyn Output>) -> SqlResult<u64> {
        if count == 0 {
            return Ok(0);
        }
        if self.cursor.scroll == Scroll::No {
            return Err(forward_only());
        }
        if self.cursor.at_start {
            return Ok(0);
        }
        self.keep()?;
        // Behind the end the last row is the first one before.
        let from = self.cursor.position + u64::from(self.cursor.at_end);
        let rows = count.min(from - 1);
        self.send((from - rows..from).rev(), out)?;
        let cursor = &mut *self.cursor;
        if rows < count {
            (cursor.position, cursor.at_start) = (0, true);
        } else {
            cursor.position = from - rows;
        }
        cursor.at_end &= rows == 0 && !cursor.at_start;
        Ok(rows)
    }

    /// Keeps rows from now on; those passed already are computed again.
    fn keep(&mut self) -> SqlResult<()> {
        if self.cursor.store.is_some() {
            return Ok(());
        }
        self.session.restart(self.portal);
        self.cursor.store = Some(RowStore::default());
        self.fill(self.cursor.position).map(drop)
    }

    /// Computes rows until the store has row `number`; returns the number of the last one it has.
    fn fill(&mut self, number: u64) -> SqlResult<u64> {
        let base = self.cursor.base;
        let Some(store) = &mut self.cursor.store else { return Ok(base) };
        let missing = number.saturating_sub(base + store.len());
        if missing > 0 && !self.cursor.held {
            let limit = if number == ALL { 0 } else { missing };
            self.session.pull_with_origins(self.portal, limit, &mut |row, origins| {
                let origins = origins.iter().flat_map(|(table, tid)| [Datum::Oid(table.0), tid_datum(*tid)]);
                self.session.keep_row(store, row.iter().cloned().chain(origins).collect())
            })?;
        }
        Ok(base + store.len())
    }

    /// At the end of the transaction: keeps all rows that anybody can still ask for.
    fn keep_rest(&mut self) -> SqlResult<()> {
        if self.cursor.scroll == Scroll::No {
            self.cursor.store = Some(RowStore::default());
            self.cursor.base = self.cursor.position;
        } else {
            self.keep()?;
        }
        self.fill(ALL).map(drop)
    }

    fn send(&mut self, numbers: impl Iterator<Item = u64>, out: Option<&mut dyn Output>) -> SqlResult<()> {
        let (Some(out), Some(store)) = (out, &self.cursor.store) else { return Ok(()) };
        let context = self.session.format();
        let encoder = RowEncoder {
            columns: &self.cursor.columns,
            formats: &self.portal.formats,
            context: &context,
            session: self.session,
        };
        let mut place = Place::default();
        for number in numbers {
            if let Some(row) = store.get(&mut place, number - 1 - self.cursor.base)? {
                out.data_row(&encoder, &row[..self.cursor.columns.len()])?;
            }
        }
        Ok(())
    }
}

/// Whether PostgreSQL could run a plan like this backward.
fn runs_backward(plan: &Plan) -> bool {
    match &plan.node {
        Node::SeqScan { .. }
        | Node::IndexScan { .. }
        | Node::IndexOnlyScan { .. }
        | Node::BitmapHeapScan { .. }
        | Node::TidScan { .. }
        | Node::ValuesScan { .. }
        | Node::FunctionScan { .. }
        | Node::CteScan { .. }
        | Node::Materialize { .. }
        | Node::Sort { .. } => true,
        Node::Result { child: Some(child), .. }
        | Node::SubqueryScan { child, .. }
        | Node::Limit { child, .. } => runs_backward(child),
        Node::Append { children, .. } => children.iter().all(runs_backward),
        _ => false,
    }
}

fn forward_only() -> SqlError {
    sql_err!(OBJECT_NOT_IN_PREREQUISITE_STATE, "cursor can only scan forward")
        .hint("Declare it with SCROLL option to enable backward scan.")
}

fn no_cursor(name: &str) -> SqlError {
    sql_err!(INVALID_CURSOR_NAME, "cursor \"{name}\" does not exist")
}
