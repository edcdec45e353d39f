//! The messages of the simple and the extended query protocol.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

use base::settings::Setting;
use base::{Oid, SqlError, SqlResult, sql_err};
use parse::Statement;
use txn::{BlockState, XidHolds};

use super::portal::{Formats, Params, Portal};
use super::statement::{Named, Place, Source, Work};
use super::{BackendState, ParamValue, Session, TransactionStatus, format_of};
use crate::output::{Format, Output};

/// Bytes of texts and values from which on it is worth telling that they are being read.
const LONG: usize = 64 << 10;

/// Parses what a client sent. The parser cannot do so in pieces: a long text is left to a thread beside the workers.
pub(super) fn parse_text(text: &str) -> SqlResult<parse::Parsed> {
    let text = &*escapes_read(text)?;
    if text.len() <= LONG {
        return parse::parse_with_notices(text);
    }
    let parsed = runtime::blocking(|| parse::parse_with_notices(text));
    runtime::check_interrupts()?;
    parsed
}

/// A text of SQL as the grammar can read it in the running fiber's database.
pub fn escapes_read(text: &str) -> SqlResult<Cow<'_, str>> {
    match types::text::texts_are_bytes() {
        true => parse::escapes_as_bytes(text, types::encoding::inside),
        false => Ok(Cow::Borrowed(text)),
    }
}

impl Session {
    /// The Query message: one or more statements, in one implicit transaction unless they contain transaction commands.
    pub fn simple_query(&self, text: &str, out: &mut dyn Output) -> SqlResult<()> {
        self.close_portal("");
        self.statements.borrow_mut().remove("");
        let start = self.start_of_message();
        let result = match self.info.replication {
            None => self.run_text(text, start, out),
            Some(kind) => self.run_replication(kind, text, start, out),
        };
        self.send_notices(out);
        match &result {
            Ok(()) => self.log_end(start, || self.told_of_text(text)),
            Err(error) => {
                self.fail(error);
                self.note_failed(text);
            }
        }
        self.report_settings(out);
        self.show_idle();
        result
    }

    /// Whether strings may have no quotes behind backslashes (`backslash_quote`).
    pub(super) fn refuses_backslash_quotes(&self) -> bool {
        match self.settings.borrow().text(Setting::backslash_quote) {
            "on" => false,
            "off" => true,
            _ => !self.encoding().is_of_servers(),
        }
    }

    /// Parses what the client sent, unless `backslash_quote` forbids how its strings are written.
    fn parse_message(&self, text: &str) -> SqlResult<parse::Parsed> {
        if self.refuses_backslash_quotes() {
            parse::refuse_backslash_quotes(text)?;
        }
        parse_text(text)
    }

    pub(super) fn run_text(&self, text: &str, start: i64, out: &mut dyn Output) -> SqlResult<()> {
        self.begin_statement();
        if start != 0 {
            self.log_text(text);
        }
        if let Some(source) = self.cached_simple(text) {
            return self.run_simple(&source, true, out);
        }
        if text.len() > LONG {
            self.show_before_run(&text.into());
        }
        let shape = self.shape_of(text);
        if let Some(shape) = &shape
            && let Some(portal) = self.portal_of_shape(shape)?
        {
            return self.run_simple_portal(portal, true, out);
        }
        let whole: Arc<str> = text.into();
        self.show_before_run(&whole);
        let parsed = self.parse_message(text)?;
        // What was said of a text is to be said each time.
        let quiet = parsed.notices.is_empty();
        parsed.notices.into_iter().for_each(|notice| self.notice(notice));
        if parsed.statements.is_empty() {
            self.end_statement()?;
            return out.empty_query();
        }
        let count = parsed.statements.len();
        for (i, raw) in parsed.statements.into_iter().enumerate() {
            if i > 0 {
                self.begin_statement();
                out.next_statement(self.settings.borrow().fast().statement_timeout);
            }
            if count > 1 {
                self.txn.borrow_mut().begin_implicit_block();
            }
            let source = Source::new(whole.clone(), Some(raw), None);
            self.run_simple(&source, i + 1 == count, out)?;
            if count == 1 && quiet {
                if let Some(shape) = &shape {
                    self.note_shape(shape, &source);
                }
                self.remember_simple(text, source);
            }
        }
        Ok(())
    }

    /// Runs one statement of a Query message. The last one's transaction commits before the client hears of its success.
    fn run_simple(&self, source: &Rc<Source>, last: bool, out: &mut dyn Output) -> SqlResult<()> {
        self.check_usable(source)?;
        self.run_simple_portal(Portal::new(source.clone(), Params::new(), Formats::new()), last, out)
    }

    fn run_simple_portal(&self, mut portal: Box<Portal>, last: bool, out: &mut dyn Output) -> SqlResult<()> {
        let source = portal.source.clone();
        portal.made.0 = self.txn.borrow().subxact();
        portal.shows_all = true;
        if let Some(columns) = self.portal_columns(&portal)? {
            // FETCH takes over the format of its cursor.
            if let Work::Utility(raw) = &source.work
                && let Statement::Fetch(fetch) = &raw.stmt
            {
                portal.formats = self.cursor_formats(&fetch.cursor);
            }
            out.row_description(&columns, &portal.formats)?;
        }
        self.settle_holds(&source);
        let tag = self.run_portal(&mut portal, 0, out)?;
        if last {
            self.end_statement()?;
        } else {
            self.next_command()?;
        }
        self.tell_encoding(out);
        self.send_notices(out);
        match tag {
            Some(tag) => tag.send(out),
            None => Ok(()),
        }
    }

    /// A CREATE INDEX that is all of a Query message, and so of its transaction, runs no code of users and writes catalog rows only: it
    /// need not hold back the removal of tables' rows. In the extended protocol other statements may follow.
    fn settle_holds(&self, source: &Source) {
        let Work::Utility(raw) = &source.work else { return };
        let Statement::CreateIndex(create) = &raw.stmt else { return };
        let mut txn = self.txn.borrow_mut();
        if txn.state() == BlockState::Started && runs_no_user_code(create) {
            txn.set_holds(XidHolds::Catalogs);
        }
    }

    /// The Parse message; an empty name is the unnamed statement. Types of 0 are to be inferred.
    pub fn parse(&self, name: &str, text: &str, types: &[Oid], out: &mut dyn Output) -> SqlResult<()> {
        let start = self.start_of_message();
        let result = self.parse_inner(name, text, types);
        self.send_notices(out);
        match &result {
            Ok(()) => self.log_end(start, || {
                let shown = if name.is_empty() { "<unnamed>" } else { name };
                (format!("parse {shown}: {text}"), None)
            }),
            Err(error) => {
                self.fail(error);
                self.note_failed(text);
            }
        }
        result
    }

    fn parse_inner(&self, name: &str, text: &str, types: &[Oid]) -> SqlResult<()> {
        self.begin_statement();
        if !name.is_empty() && self.statements.borrow().contains(name) {
            return Err(sql_err!(DUPLICATE_PSTATEMENT, "prepared statement \"{name}\" already exists"));
        }
        let whole: Arc<str> = text.into();
        self.show_before_run(&whole);
        let prepared = match self.known_statement(whole.clone(), Place::At(0), types) {
            Some(known) => known,
            None => self.parse_statement(whole, types)?,
        };
        self.check_usable(&prepared)?;
        self.analyze_prepared(&prepared)?;
        self.name_statement(name, prepared, false);
        Ok(())
    }

    /// The only statement of a text.
    fn parse_statement(&self, text: Arc<str>, types: &[Oid]) -> SqlResult<Rc<Source>> {
        let parsed = self.parse_message(&text)?;
        let told = !parsed.notices.is_empty();
        parsed.notices.into_iter().for_each(|notice| self.notice(notice));
        let mut statements = parsed.statements;
        if statements.len() > 1 {
            let message = "cannot insert multiple commands into a prepared statement";
            return Err(SqlError::new(base::SqlState::SYNTAX_ERROR, message));
        }
        Ok(Source::parsed(text, statements.pop(), types.to_vec(), told))
    }

    /// Keeps a statement under its name.
    pub(super) fn name_statement(&self, name: &str, source: Rc<Source>, from_sql: bool) {
        let made = self.format.borrow().statement_time;
        self.statements.borrow_mut().insert(name, Named { source, from_sql, made });
    }

    /// The Bind message. Formats follow the protocol's rule: none, one for all, or one each.
    pub fn bind(
        &self,
        portal: &str,
        statement: &str,
        param_formats: &[Format],
        params: &[ParamValue<'_>],
        result_formats: &[Format],
    ) -> SqlResult<()> {
        let start = self.start_of_message();
        let result = self.bind_inner(portal, statement, param_formats, params, result_formats);
        match &result {
            Ok(()) => self.log_end(start, || self.told_of_bind(portal)),
            Err(error) => {
                self.fail(error);
                self.note_failed_statement(statement);
            }
        }
        result
    }

    fn bind_inner(
        &self,
        portal: &str,
        statement: &str,
        param_formats: &[Format],
        params: &[ParamValue<'_>],
        result_formats: &[Format],
    ) -> SqlResult<()> {
        let prepared = self.prepared_statement(statement)?;
        self.begin_statement();
        self.check_usable(&prepared)?;
        let types = prepared.param_types();
        if params.len() != types.len() {
            let message = format!(
                "bind message supplies {} parameters, but prepared statement \"{statement}\" requires {}",
                params.len(),
                types.len()
            );
            return Err(SqlError::new(base::SqlState::PROTOCOL_VIOLATION, message));
        }
        if param_formats.len() > 1 && param_formats.len() != params.len() {
            let message = format!(
                "bind message has {} parameter formats but {} parameters",
                param_formats.len(),
                params.len()
            );
            return Err(SqlError::new(base::SqlState::PROTOCOL_VIOLATION, message));
        }
        if params.iter().flatten().any(|value| value.len() > LONG) {
            self.show_before_run(&prepared.text);
        }
        let (recoded, borrowed): (_, Vec<_>);
        let params = match self.passage() {
            None => params,
            Some(passage) => {
                recoded = self.recode_parameters(passage, &types, param_formats, params)?;
                borrowed = recoded.iter().map(Option::as_deref).collect();
                &borrowed
            }
        };
        let mut values = Params::with_capacity(params.len());
        for (i, (value, &ty)) in params.iter().zip(types.iter()).enumerate() {
            values.push(self.decode_parameter(i, ty, format_of(param_formats, i)?, *value)?);
        }
        if !portal.is_empty() && self.portals.borrow().contains(portal) {
            return Err(sql_err!(DUPLICATE_CURSOR, "cursor \"{portal}\" already exists"));
        }
        self.close_portal(portal);
        let mut new = Portal::new(prepared, values, Formats::from_slice(result_formats));
        new.made = (self.txn.borrow().subxact(), self.format.borrow().statement_time);
        if result_formats.len() > 1 {
            self.check_result_formats(&new)?;
        }
        self.portals.borrow_mut().insert(portal, new);
        self.just_bound.set(true);
        Ok(())
    }

    /// There is a format for each column of the result, where there are several formats.
    fn check_result_formats(&self, portal: &Portal) -> SqlResult<()> {
        let formats = portal.formats.len();
        let columns = match portal.source.work {
            // Known since Parse.
            Work::Query(_) | Work::Stored => portal.source.columns(),
            _ => self.columns_of(&portal.source)?,
        };
        match columns {
            Some(columns) if columns.len() != formats => Err(sql_err!(
                PROTOCOL_VIOLATION,
                "bind message has {formats} result formats but query has {} columns",
                columns.len()
            )),
            _ => Ok(()),
        }
    }

    /// Describe of a statement: ParameterDescription, then RowDescription or NoData.
    pub fn describe_statement(&self, name: &str, out: &mut dyn Output) -> SqlResult<()> {
        let mut describe = || {
            let prepared = self.prepared_statement(name)?;
            self.begin_statement();
            self.check_describable(&prepared)?;
            out.parameter_description(&prepared.param_types())?;
            match self.columns_of(&prepared)? {
                Some(columns) => out.row_description(&columns, &[]),
                None => out.no_data(),
            }
        };
        describe().inspect_err(|error| {
            self.fail(error);
            self.note_failed_statement(name);
        })
    }

    /// Describe of a portal: RowDescription or NoData.
    pub fn describe_portal(&self, name: &str, out: &mut dyn Output) -> SqlResult<()> {
        let mut describe = || {
            let portals = self.portals.borrow();
            let portal = portals.get(name).ok_or_else(|| no_portal(name))?;
            self.go_on();
            self.check_describable(&portal.source)?;
            match self.portal_columns(portal)? {
                Some(columns) => out.row_description(&columns, &portal.formats),
                None => out.no_data(),
            }
        };
        describe().inspect_err(|error| self.fail(error))
    }

    /// Execute: `max_rows` 0 means all.
    pub fn execute(&self, portal: &str, max_rows: u32, out: &mut dyn Output) -> SqlResult<()> {
        let result = self.execute_inner(portal, max_rows, out).inspect_err(|error| {
            self.send_notices(out);
            self.fail(error);
        });
        self.report_settings(out);
        result
    }

    fn execute_inner(&self, name: &str, max_rows: u32, out: &mut dyn Output) -> SqlResult<()> {
        let mut portal = self.portals.borrow_mut().remove(name).ok_or_else(|| no_portal(name))?;
        match self.just_bound.take() {
            true => self.go_on(),
            false => self.begin_statement(),
        }
        let (start, again) = (self.start_of_message(), portal.is_suspended());
        if start != 0 {
            self.log_execute(name, &portal);
        }
        let result = self.check_usable(&portal.source).and_then(|()| match portal.source.work {
            Work::Empty => out.empty_query().map(|()| None),
            _ => self.run_portal(&mut portal, max_rows, out),
        });
        let tag = match result {
            Ok(tag) => tag,
            Err(error) => {
                portal.close(self);
                self.note_failed(portal.source.text.clone());
                return Err(self.with_parameters(error, name, &portal));
            }
        };
        self.send_notices(out);
        self.log_end(start, || {
            let (what, detail) = self.told_of(name, &portal, again);
            (format!("execute {what}"), detail)
        });
        let suspended = portal.is_suspended();
        let empty = matches!(portal.source.work, Work::Empty);
        // What ended the transaction (COMMIT) ended its portals too.
        if self.txn.borrow().state() != BlockState::Idle || portal.is_held() {
            self.portals.borrow_mut().insert(name, portal);
        } else {
            portal.close(self);
        }
        if !suspended {
            out.next_statement(0);
        }
        // More messages before Sync belong to the same transaction, as in a block, where VACUUM is not allowed.
        self.txn.borrow_mut().begin_implicit_block();
        match tag {
            Some(tag) => {
                tag.send(out)?;
                self.next_command()
            }
            None if suspended => out.portal_suspended(),
            None if empty => Ok(()),
            None => Ok(()),
        }
    }

    /// Close of a statement; one that does not exist is no error.
    pub fn close_statement(&self, name: &str) {
        self.statements.borrow_mut().remove(name);
    }

    /// Close of a portal; one that does not exist is no error.
    pub fn close_portal(&self, name: &str) {
        let portal = self.portals.borrow_mut().remove(name);
        if let Some(mut portal) = portal {
            portal.close(self);
        }
    }

    /// Sync: ends the implicit transaction. An error here is that of the commit.
    pub fn sync(&self, out: &mut dyn Output) -> SqlResult<()> {
        let result = self.end_statement().inspect_err(|error| self.fail(error));
        self.report_settings(out);
        self.show_idle();
        result
    }

    /// Tells `pg_stat_activity` that the session waits for its client.
    fn show_idle(&self) {
        // The fiber may end with this batch of messages; an open transaction goes on in another fiber.
        if self.pending.take_usage() {
            self.log_temporary_files();
        }
        self.show_snapshots();
        let active = self.backend.end_command(match self.transaction_status() {
            TransactionStatus::Idle => BackendState::Idle,
            TransactionStatus::InBlock => BackendState::IdleInTransaction,
            TransactionStatus::Failed => BackendState::IdleInFailedTransaction,
        });
        self.pending.was_active(active);
    }

    /// For errors that the server itself detects (protocol violations): fails the transaction as a statement's error would.
    pub fn fail(&self, _error: &SqlError) {
        self.fail_transaction();
    }

    /// State of the transaction, for ReadyForQuery.
    pub fn transaction_status(&self) -> TransactionStatus {
        match self.txn.borrow().state() {
            BlockState::Idle | BlockState::Started | BlockState::Implicit => TransactionStatus::Idle,
            BlockState::InBlock => TransactionStatus::InBlock,
            BlockState::Failed => TransactionStatus::Failed,
        }
    }

    /// A message about this statement has failed.
    fn note_failed_statement(&self, name: &str) {
        if let Some(source) = self.statements.borrow_mut().find(name) {
            self.note_failed(source.text.clone());
        }
    }

    /// Logs the Bind that has just made a portal.
    fn told_of_bind(&self, portal: &str) -> (String, Option<String>) {
        match self.portals.borrow().get(portal) {
            Some(made) => {
                let (what, detail) = self.told_of(portal, made, false);
                (format!("bind {what}"), detail)
            }
            None => ("bind".into(), None),
        }
    }

    fn prepared_statement(&self, name: &str) -> SqlResult<Rc<Source>> {
        let found = self.statements.borrow_mut().find(name);
        found.ok_or_else(|| match name {
            "" => sql_err!(INVALID_SQL_STATEMENT_NAME, "unnamed prepared statement does not exist"),
            name => sql_err!(INVALID_SQL_STATEMENT_NAME, "prepared statement \"{name}\" does not exist")
                .routine("FetchPreparedStatement"),
        })
    }

    /// A result's description needs the catalog, which a failed transaction cannot read.
    fn check_describable(&self, source: &Source) -> SqlResult<()> {
        match source.work {
            Work::Query(_) => self.check_usable(source),
            _ => Ok(()),
        }
    }

    fn report_settings(&self, out: &mut dyn Output) {
        if !self.settings.borrow().has_changed() {
            return;
        }
        out.passage(self.passage());
        let changed = self.settings.borrow_mut().take_changed();
        for (name, value) in changed {
            if name == "application_name" {
                self.backend.set_application(&value);
            }
            out.parameter_status(name, &value);
        }
    }
}

fn no_portal(name: &str) -> SqlError {
    sql_err!(UNDEFINED_CURSOR, "portal \"{name}\" does not exist")
}

/// Whether building the index evaluates no expression.
fn runs_no_user_code(statement: &parse::ast::CreateIndex) -> bool {
    statement.filter.is_none() && statement.keys.iter().all(|key| key.expr.is_none())
}
