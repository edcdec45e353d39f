//! # What
//! From text to a statement that can run, and what is remembered between runs.
//!
//! A query's plan depends on the relations that analysis looked at, on the search path, on planner settings, and, in a transaction
//! that changed catalogs, on its own changes. [`Planned`] carries all of these; before each run they are compared, after the
//! locks were taken, and a stale plan is made again.
//!
//! # Invariants
//! 1. A plan runs only while every relation in `depends` is current, checked while the statement holds its locks on them.
//! 2. Plans made from the transaction's own catalog changes are not shared with other sessions, and not used after the next
//!    change.
//! 3. A plan is of one user, who has what it needs ([`super::access`]): asked before its first run, and again when rights changed.
//! 4. No plan reads an index under a snapshot that the index is too young for, or a partition under one that sees it detached; a plan for such
//!    an older snapshot is not shared, and made again for a younger one.
//!
//! # Locks
//! The instance's plan cache (`plan_cache`) has one short mutex, taken at Parse and at replanning, never at Execute of a valid plan.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use analyze::routine::{ReturnForm, ReturnType};
use analyze::variables::Variables;
use analyze::{Analyzed, ParamTypes};
use base::settings::Setting;
use base::{Fork, Oid, SqlError, SqlResult, sql_err};
use catalog::{CatalogView, Table, TypeKind, Validity};
use executor::run::{Execution, Prepared};
use parse::fingerprint::Fingerprint;
use parse::{RawStatement, Statement};
use tuple::Datum;
use txn::{LockMode, LockWait, Snapshot};

use super::Session;
use super::beside::{self, Beside, Plans};
use super::choice::Choices;
use super::plan_cache::PlanKey;
use super::planning::{RecordingView, SessionStatistics, planner_settings};
use crate::functions::alias::schema_and_name;
use crate::output::Column;
use crate::routine::base_and_typmod;

/// What a statement does.
pub(crate) enum Work {
    /// Nothing: the text was empty.
    Empty,
    /// Reads or changes rows: it is analysed and planned.
    Query(Arc<RawStatement>),
    /// The same, analysed when the function whose body it is in was made: as `analyze::stored` writes it.
    Stored,
    /// Anything else.
    Utility(Arc<RawStatement>),
}

/// What a statement in the body of a function has beside its text.
pub(crate) struct Body {
    /// What names stand for.
    pub(crate) variables: Rc<dyn Variables>,
    /// The last statement: what the function declares to return, and whether it is a procedure.
    pub(crate) returns: Option<(ReturnType, bool)>,
}

/// A statement of a client, named or not. In the order of its fields in memory: what every run looks at comes first.
#[repr(C)]
pub struct Source {
    pub(crate) text: Arc<str>,
    pub(crate) work: Work,
    pub(super) planned: RefCell<Option<Rc<Planned>>>,
    /// Which plans it ran by.
    pub(crate) choices: Choices,
    /// Types given with Parse; `None` for the simple protocol, which has no parameters.
    given: Option<Vec<Oid>>,
    body: Option<Body>,
    place: Place,
    /// Its parameters stand for the constants of other texts.
    of_shape: bool,
    /// Its constants mean the same at any time.
    timeless: Cell<bool>,
    /// It is a cursor's query: not all of its rows may be fetched.
    of_cursor: bool,
    /// Types of a utility statement's parameters, once it was prepared.
    utility_types: OnceCell<Arc<[Oid]>>,
    /// A utility statement's fingerprint, once it was asked for.
    utility_fingerprint: OnceCell<Arc<Fingerprint>>,
}

/// Where in its text a statement is, so that sessions find each other's plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    /// It begins at this byte; 0 if it is the only one.
    At(usize),
    /// Within the only statement of the text, as that of PREPARE.
    Within,
    /// The text is not enough to go by: it may contain nested statements, or reading it produces notices each time.
    Unclear,
}

/// A statement with a name, by Parse or PREPARE.
pub(crate) struct Named {
    pub(crate) source: Rc<Source>,
    pub(crate) from_sql: bool,
    /// When, microseconds since 2000-01-01 UTC.
    pub(crate) made: i64,
}

/// What can be shared between sessions.
pub(crate) struct SharedPlan {
    pub(crate) prepared: Arc<Prepared>,
    /// What is done beside it, if rules say so.
    pub(crate) beside: Option<Box<Beside>>,
    pub(crate) params: Arc<[Oid]>,
    pub(crate) columns: Option<Arc<[Column]>>,
    /// What its rows are to the function whose last statement it is.
    pub(crate) form: ReturnForm,
    /// What was prepared, shared by all sessions that prepare the same text.
    said: Option<(Arc<str>, Arc<RawStatement>)>,
    /// The statement that custom plans are made of, if the values of its parameters may matter.
    pub(super) analyzed: Option<Arc<Analyzed>>,
    /// It cannot run: only a plan for the values of the parameters can.
    pub(super) needs_values: bool,
    /// Made for one run.
    pub(super) custom: bool,
    /// Its parameters may stand in for literals, see [`super::shapes`].
    pub(super) suits_literals: bool,
    depends: Vec<Arc<Table>>,
    /// That their names mean no others.
    absences: Box<[Validity]>,
    /// The names that a session's own temporary relations and types would hide.
    names: Box<[Box<str>]>,
    /// Pages of each of them when the plan was made.
    sizes: Box<[u32]>,
    /// Set if it uses types, functions, operators or casts that users made.
    definitions: Option<Validity>,
    /// Roles, memberships and schemas are as they were.
    authority: Validity,
    /// Its user was found to have what it needs.
    permitted: AtomicBool,
    /// A constant part of it cannot be computed: nothing runs.
    constant_error: Option<SqlError>,
    /// Parts that would be constants if its parameters were values; computed when first asked for.
    constants_of_parameters: OnceLock<Box<[plan::Expr]>>,
    /// Some of these are temporary.
    temporary: bool,
    /// Whether some of them are not the same to every snapshot, see [`Table::for_snapshot`].
    pub(super) checks_snapshot: bool,
    /// Made in a transaction that keeps its snapshot; matters where `checks_snapshot`.
    for_kept: bool,
    /// Where relations have rules: whether the session replicates what others have done, which tells the rules that count.
    for_replica: Option<bool>,
}

/// A plan with this session's reasons to believe in it.
pub(crate) struct Planned {
    pub(crate) shared: Arc<SharedPlan>,
    versions: Versions,
    /// Times it was taken.
    uses: Cell<u32>,
}

/// Number of uses of a plan between two checks of the sizes of its relations; smaller at first.
const USES_BETWEEN_LOOKS: u32 = 64;

/// What a plan depends on besides relations.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Versions {
    search_path: u32,
    planner: u32,
    own_changes: u64,
    user: Oid,
}

/// Bytes: a simple query that is longer is not remembered, and plans of statements with more than this around them are not shared.
const LONG_MESSAGE: usize = 4096;

impl Work {
    fn of(raw: Option<RawStatement>) -> Work {
        let Some(raw) = raw else { return Work::Empty };
        if raw.stmt.is_planned() { Work::Query(Arc::new(raw)) } else { Work::Utility(Arc::new(raw)) }
    }

    /// Whether it is planned.
    pub(crate) fn is_query(&self) -> bool {
        matches!(self, Work::Query(_) | Work::Stored)
    }
}

impl Place {
    /// That of a statement within another one.
    pub(super) fn within(text: &str) -> Place {
        let last = text.trim_end_matches(|c: char| c == ';' || c.is_whitespace());
        if last.contains(';') { Place::Unclear } else { Place::Within }
    }
}

impl Source {
    /// Stores the facts that its next run checks.
    pub(super) fn note_lines(&self, lines: &mut base::Lines) {
        lines.add_bytes(self, std::mem::offset_of!(Source, given));
        if let Ok(Some(planned)) = self.planned.try_borrow().as_deref() {
            lines.add(Rc::as_ptr(planned));
        }
    }

    /// A statement that has not been analysed.
    pub(crate) fn new(
        text: impl Into<Arc<str>>,
        raw: Option<RawStatement>,
        given: Option<Vec<Oid>>,
    ) -> Rc<Source> {
        let place = Place::At(raw.as_ref().map_or(0, |raw| raw.location));
        Source::fresh(text.into(), Work::of(raw), given, place).into()
    }

    /// A statement whose parameters stand for the constants of other texts.
    pub(super) fn of_shape(text: String, raw: RawStatement, given: Vec<Oid>) -> Rc<Source> {
        let fresh = Source::fresh(text.into(), Work::of(Some(raw)), Some(given), Place::At(0));
        Source { of_shape: true, ..fresh }.into()
    }

    /// The only statement of a text of Parse. `told`: reading it raised notices.
    pub(super) fn parsed(
        text: Arc<str>,
        raw: Option<RawStatement>,
        given: Vec<Oid>,
        told: bool,
    ) -> Rc<Source> {
        let place = if told { Place::Unclear } else { Place::At(0) };
        Source::fresh(text, Work::of(raw), Some(given), place).into()
    }

    /// A statement in the body of a function.
    pub(crate) fn in_body(text: Arc<str>, raw: RawStatement, body: Body) -> Rc<Source> {
        let place = Place::At(raw.location);
        Source { body: Some(body), ..Source::fresh(text, Work::of(Some(raw)), None, place) }.into()
    }

    /// A statement in a body in SQL-standard form, as it is stored.
    pub(crate) fn stored(text: Arc<str>, body: Body) -> Rc<Source> {
        Source { body: Some(body), ..Source::fresh(text, Work::Stored, None, Place::At(0)) }.into()
    }

    /// A statement within another, as PREPARE has it.
    pub fn nested(text: &str, statement: &Statement, given: Option<Vec<Oid>>) -> Rc<Source> {
        let raw = RawStatement { stmt: statement.clone(), location: 0, length: text.len() };
        Source::fresh(text.into(), Work::of(Some(raw)), given, Place::within(text)).into()
    }

    /// A statement within another whose parameters it shares, as DECLARE has it.
    pub(super) fn sharing(text: &str, statement: &Statement, types: &ParamTypes) -> Rc<Source> {
        let given = match types {
            ParamTypes::None | ParamTypes::Variables(_) => None,
            ParamTypes::Fixed(types) | ParamTypes::Infer(types) => Some(types.clone()),
        };
        let body = match types {
            ParamTypes::Variables(variables) => Some(Body { variables: variables.clone(), returns: None }),
            _ => None,
        };
        let raw = RawStatement { stmt: statement.clone(), location: 0, length: text.len() };
        let fresh = Source::fresh(text.into(), Work::of(Some(raw)), given, Place::within(text));
        Source { body, ..fresh }.into()
    }

    /// The query of DECLARE.
    pub(super) fn of_cursor(text: &str, statement: &Statement, types: &ParamTypes) -> Rc<Source> {
        let mut source = Source::sharing(text, statement, types);
        // Nobody else has it yet.
        if let Some(source) = Rc::get_mut(&mut source) {
            source.of_cursor = true;
        }
        source
    }

    /// The share of its rows that is expected to be fetched, as the planner wants to know it: 0 means all.
    pub(super) fn fraction(&self, settings: &plan::Settings) -> f64 {
        match self.of_cursor && settings.cursor_tuple_fraction < 1.0 {
            true => settings.cursor_tuple_fraction.max(1e-10),
            false => 0.0,
        }
    }

    /// Whether a run reads all of its rows: a cursor's are fetched.
    pub(super) fn is_read_at_once(&self) -> bool {
        !self.of_cursor
    }

    /// How its parameters are understood when it is analysed.
    pub(super) fn parameter_kinds(&self) -> ParamTypes {
        match (&self.body, &self.given) {
            (Some(body), _) => ParamTypes::Variables(body.variables.clone()),
            (None, None) => ParamTypes::None,
            (None, Some(types)) => ParamTypes::Infer(types.clone()),
        }
    }

    /// The types that came with Parse.
    pub(super) fn given_types(&self) -> &[Oid] {
        self.given.as_deref().unwrap_or_default()
    }

    fn fresh(text: Arc<str>, work: Work, given: Option<Vec<Oid>>, place: Place) -> Source {
        Source {
            text,
            work,
            given,
            body: None,
            choices: Choices::default(),
            place,
            planned: RefCell::default(),
            of_shape: false,
            timeless: Cell::new(true),
            of_cursor: false,
            utility_types: OnceCell::new(),
            utility_fingerprint: OnceCell::new(),
        }
    }

    /// The part of its text that is the statement: first byte and length.
    pub(crate) fn part(&self) -> (usize, usize) {
        match &self.work {
            Work::Query(raw) | Work::Utility(raw) => (raw.location, raw.length),
            Work::Empty | Work::Stored => (0, self.text.len()),
        }
    }

    /// The fingerprint of a utility statement.
    pub(crate) fn utility_fingerprint(&self, raw: &RawStatement) -> &Arc<Fingerprint> {
        let (from, length) = (raw.location, raw.length);
        self.utility_fingerprint
            .get_or_init(|| parse::fingerprint::of_utility(&raw.stmt, &self.text, from, length).into())
    }

    /// Columns of a query's result, known once it was analysed.
    pub(crate) fn columns(&self) -> Option<Arc<[Column]>> {
        self.planned.borrow().as_ref().and_then(|planned| planned.shared.columns.clone())
    }

    /// Whether its constants mean the same at any time.
    pub(super) fn is_timeless(&self) -> bool {
        self.timeless.get()
    }

    /// Forgets a plan whose names mean others now: texts that come again are read again.
    pub(super) fn read_names_again(&self) {
        self.planned.borrow_mut().take_if(|planned| !planned.shared.names_hold());
    }

    /// Types of the parameters, known once it was analysed.
    pub(crate) fn param_types(&self) -> Arc<[Oid]> {
        match &*self.planned.borrow() {
            Some(planned) => planned.shared.params.clone(),
            None => self.utility_types.get().cloned().unwrap_or_default(),
        }
    }
}

impl SharedPlan {
    /// Whether nothing that it depends on has changed.
    pub(super) fn is_current(&self) -> bool {
        self.depends.iter().all(|table| table.validity.is_current())
            && self.definitions.as_ref().is_none_or(Validity::is_current)
            && self.authority.is_current()
    }

    /// Whether its names mean the relations that they meant. A statement that was prepared keeps to these as long as they are there.
    pub(super) fn names_hold(&self) -> bool {
        self.absences.iter().all(Validity::is_current)
    }

    /// A plan for one run of the same statement, which found these tables.
    pub(super) fn custom(
        generic: &SharedPlan,
        (prepared, beside): Plans,
        found: Vec<Arc<Table>>,
    ) -> SharedPlan {
        let mut depends = generic.depends.clone();
        let constant_error = constant_error(&prepared, beside.as_deref());
        depends
            .extend(found.into_iter().filter(|t| !generic.depends.iter().any(|known| Arc::ptr_eq(known, t))));
        SharedPlan {
            prepared,
            beside,
            params: generic.params.clone(),
            columns: generic.columns.clone(),
            form: generic.form,
            said: None,
            analyzed: None,
            needs_values: false,
            custom: true,
            suits_literals: generic.suits_literals,
            depends,
            absences: generic.absences.clone(),
            names: Box::default(),
            sizes: Box::default(),
            definitions: generic.definitions.clone(),
            authority: generic.authority.clone(),
            permitted: AtomicBool::new(generic.permitted.load(Ordering::Relaxed)),
            constant_error,
            constants_of_parameters: OnceLock::new(),
            temporary: generic.temporary,
            checks_snapshot: generic.checks_snapshot,
            for_kept: generic.for_kept,
            for_replica: generic.for_replica,
        }
    }

    /// Fails if a constant part of it cannot be computed.
    pub(crate) fn check_constants(&self) -> SqlResult<()> {
        match &self.constant_error {
            None => Ok(()),
            Some(error) => Err(error.clone()),
        }
    }

    /// Whether the same statement with these values in place of its parameters would not fail before it runs.
    pub(super) fn suits_values(&self, params: &[Datum]) -> bool {
        let constants = |prepared: &Arc<Prepared>| prepared.statement.constants_of_parameters();
        let find = || self.plans().flat_map(constants).collect();
        self.constants_of_parameters.get_or_init(find).iter().all(|part| plan::has_value(part, params))
    }

    /// Whether younger snapshots may not share it.
    fn is_transient(&self) -> bool {
        self.checks_snapshot && (self.for_kept || self.depends.iter().any(|t| t.is_for_old_snapshots()))
    }
}

impl Planned {
    /// Takes back the state tree of a run that has ended, for another run of the plan.
    pub(crate) fn give_back(&self, tree: Box<Execution>) {
        if !self.shared.custom {
            tree.keep();
        }
    }

    /// Another plan, believed in for the same reasons.
    pub(super) fn with_plan(&self, shared: Arc<SharedPlan>) -> Planned {
        Planned { shared, versions: self.versions, uses: Cell::new(0) }
    }
}

impl Session {
    /// Columns of a plan's result as clients are told of them.
    pub(super) fn result_columns(&self, columns: &[plan::ResultColumn]) -> SqlResult<Arc<[Column]>> {
        let told = |c: &plan::ResultColumn| self.result_column(&c.name, c.origin, (c.type_oid, c.typmod));
        columns.iter().map(told).collect()
    }

    /// A column of a result with the type and modifier that it has in the statement: a client is told the type under a domain.
    pub fn result_column(
        &self,
        name: &str,
        (table, number): (Oid, i16),
        (declared, typmod): (Oid, i32),
    ) -> SqlResult<Column> {
        let (type_oid, typmod) = base_and_typmod(self, declared, typmod)?;
        let type_len = match types::builtin_type(type_oid) {
            Some(builtin) => builtin.len,
            None => match self.type_by_oid(type_oid)?.map(|def| def.kind.clone()) {
                Some(TypeKind::Enum(_)) => 4,
                _ => -1,
            },
        };
        Ok(Column { name: name.into(), table, number, type_oid, declared, type_len, typmod })
    }

    /// Whether a plan's relations are to the next snapshot what they were to the one that it was made for.
    #[inline]
    fn fits_snapshot(&self, plan: &SharedPlan) -> bool {
        !plan.checks_snapshot || self.fits_next_snapshot(plan)
    }

    fn fits_next_snapshot(&self, plan: &SharedPlan) -> bool {
        let snapshot = self.next_snapshot();
        plan.for_kept == self.keeps_snapshot()
            && plan.depends.iter().all(|table| table.fits_snapshot(&snapshot))
    }

    /// Whether all statements of the transaction have one snapshot.
    pub(super) fn keeps_snapshot(&self) -> bool {
        self.txn.borrow().characteristics().isolation.keeps_snapshot()
    }

    /// The snapshot that the next statement takes, or one before it.
    pub fn next_snapshot(&self) -> Snapshot {
        let txn = self.txn.borrow();
        if self.plans_for_latest.get() { txn.system().snapshot() } else { txn.next_snapshot() }
    }

    /// Plans a statement that runs with the latest snapshot, or not: the transaction may keep an older one.
    pub(crate) fn planning_for<T>(&self, latest: bool, plan: impl FnOnce() -> T) -> T {
        let outer = self.plans_for_latest.replace(latest);
        let planned = plan();
        self.plans_for_latest.set(outer);
        planned
    }

    #[inline]
    pub(crate) fn versions(&self) -> Versions {
        let settings = self.settings.borrow();
        Versions {
            search_path: settings.fast().search_path_version,
            planner: settings.fast().planner_version,
            own_changes: self.names.names_version(&self.catalog),
            user: self.names.user(),
        }
    }

    /// Analyses and plans a statement of Parse, so that its errors come now and its types are known.
    pub(crate) fn analyze_prepared(&self, source: &Source) -> SqlResult<()> {
        match source.work {
            Work::Query(_) | Work::Stored => self.current_plan(source).map(drop),
            Work::Utility(_) | Work::Empty => {
                let types = self.utility_parameters(source)?;
                source.utility_types.get_or_init(|| types);
                Ok(())
            }
        }
    }

    /// Columns of the statement's result, if it returns rows.
    pub(super) fn columns_of(&self, source: &Source) -> SqlResult<Option<Arc<[Column]>>> {
        match &source.work {
            Work::Empty => Ok(None),
            Work::Query(_) | Work::Stored => Ok(self.current_plan(source)?.shared.columns.clone()),
            Work::Utility(raw) => {
                let types = self.arguments_of(source, &[]).types;
                self.commands().columns(self, &raw.stmt, &source.text, types)
            }
        }
    }

    /// Whether a plan whose relations this transaction has locked is still the one to use.
    pub(super) fn still_holds(&self, planned: &Planned) -> bool {
        planned.versions == self.versions()
            && planned.shared.is_current()
            && self.fits_snapshot(&planned.shared)
            && self.fits_role(&planned.shared)
    }

    /// Whether the rules that a plan was made by are those that count in this session.
    #[inline]
    fn fits_role(&self, plan: &SharedPlan) -> bool {
        plan.for_replica.is_none_or(|replica| replica == self.replicates())
    }

    /// Whether a plan that was good for its user is so still.
    pub(super) fn depends_on_the_same(&self, planned: &Planned) -> bool {
        planned.versions.own_changes == self.versions().own_changes && planned.shared.is_current()
    }

    /// A plan that is current, with its relations locked.
    pub(crate) fn current_plan(&self, source: &Source) -> SqlResult<Rc<Planned>> {
        loop {
            let known = source.planned.borrow().clone();
            let planned = match known {
                Some(planned) if self.still_holds(&planned) && self.still_fits(&planned) => planned,
                _ => self.make_plan(source)?,
            };
            self.lock_plan(&planned.shared)?;
            if planned.versions == self.versions() && planned.shared.is_current() {
                if planned.shared.temporary {
                    self.note_temporary();
                }
                return Ok(planned);
            }
        }
    }

    /// Fails unless the current user has what the plan needs: one atomic once that is known.
    pub(crate) fn check_permitted(&self, plan: &SharedPlan) -> SqlResult<()> {
        // Relaxed: the plan's user, tables and authority are compared before each run; nothing else hangs on the flag.
        if !plan.permitted.load(Ordering::Relaxed) {
            plan.plans().try_for_each(|prepared| self.check_access(&prepared.needs))?;
            plan.permitted.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Takes the locks of a plan and of what is done beside it.
    pub(super) fn lock_plan(&self, plan: &SharedPlan) -> SqlResult<()> {
        self.lock_relations(&plan.prepared.statement)?;
        match &plan.beside {
            None => Ok(()),
            Some(beside) => beside.plans().try_for_each(|prepared| self.lock_relations(&prepared.statement)),
        }
    }

    /// Fails if the transaction may not write what a plan, or what is done beside it, writes.
    pub(super) fn refuse_plan(&self, plan: &SharedPlan) -> SqlResult<()> {
        plan.plans().try_for_each(|prepared| self.refuse_writes(&prepared.statement))
    }

    /// Takes the plan's relation locks: two atomics each on the fast path.
    pub fn lock_relations(&self, statement: &plan::Statement) -> SqlResult<()> {
        let mut txn = self.txn.borrow_mut();
        for &(relation, mode) in &statement.locks {
            txn.lock(self.catalog.lock_tag(relation), lock_mode(mode), LockWait::Block)?;
        }
        Ok(())
    }

    fn make_plan(&self, source: &Source) -> SqlResult<Rc<Planned>> {
        let versions = self.versions();
        let key = self.key_of(source);
        let shared = match key.as_ref().and_then(|key| self.known_plan(key)) {
            Some(shared) => shared,
            None => {
                self.show_before_run(&source.text);
                self.format.borrow().read_clock.set(false);
                let shared = Arc::new(self.analyze_and_plan(source)?);
                let timeless = !self.format.borrow().read_clock.get();
                source.timeless.set(timeless);
                if let Some(key) = key.filter(|_| timeless && self.may_share(&shared)) {
                    self.instance.plans.put(key, shared.clone());
                }
                shared
            }
        };
        let old = source.planned.borrow().clone();
        if let Some(old) = old
            && !same_result(old.shared.columns.as_deref(), shared.columns.as_deref())
            && source.given.is_some()
        {
            let error = sql_err!(FEATURE_NOT_SUPPORTED, "cached plan must not change result type");
            return Err(error.routine("RevalidateCachedQuery"));
        }
        let planned = Rc::new(Planned { shared, versions, uses: Cell::new(0) });
        *source.planned.borrow_mut() = Some(planned.clone());
        Ok(planned)
    }

    /// The settings by which constants are read.
    fn formats_of_texts(&self) -> String {
        let settings = self.settings.borrow();
        let text = |setting| settings.text(setting);
        let (date, interval, zone) =
            (text(Setting::DateStyle), text(Setting::IntervalStyle), text(Setting::TimeZone));
        let (abbreviations, nulls) =
            (text(Setting::timezone_abbreviations), settings.get(Setting::array_nulls).as_bool());
        let backslashes = self.refuses_backslash_quotes();
        format!("{date} {interval} {zone} {abbreviations} {nulls} {backslashes}")
    }

    /// What a plan for the statement is found by; `None` if no other session could use it.
    fn key_of(&self, source: &Source) -> Option<PlanKey> {
        let body = match &source.body {
            None => None,
            Some(body) => Some(format!("{} {:?}", body.variables.key()?, body.returns)),
        };
        // Each statement would hash the whole message, and keep it.
        if matches!(&source.work, Work::Query(raw) if source.text.len() - raw.length > LONG_MESSAGE) {
            return None;
        }
        let key = self.plan_key(source.text.clone(), source.place, source.given.clone())?;
        Some(PlanKey { body, ..key })
    }

    /// The same, of a statement that is in no function.
    fn plan_key(&self, text: Arc<str>, place: Place, given: Option<Vec<Oid>>) -> Option<PlanKey> {
        let apart = self.names.changes_version(&self.catalog) != 0 || self.transitions.borrow().is_some();
        let settings = self.settings.borrow();
        (!apart && place != Place::Unclear).then(|| PlanKey {
            body: None,
            database: self.catalog.database(),
            user: self.names.user(),
            text,
            place,
            given,
            search_path: settings.text(Setting::search_path).into(),
            planner: match self.identity.unforced.get() {
                0 => settings.planner_settings().into(),
                _ => format!("{} unforced", settings.planner_settings()).into(),
            },
            formats: self.formats_of_texts().into(),
        })
    }

    /// A plan that some session has made, if it is right for the next run.
    fn known_plan(&self, key: &PlanKey) -> Option<Arc<SharedPlan>> {
        let found = self.instance.plans.get(key);
        found.filter(|shared| {
            self.fits_snapshot(shared)
                && self.fits_role(shared)
                && self.fits_sizes(shared)
                && self.means_the_same(shared)
        })
    }

    /// Whether none of a plan's names means something temporary of this session.
    fn means_the_same(&self, shared: &SharedPlan) -> bool {
        self.names.temporary_schema().is_none()
            || self.with_reader(|reader| reader.hides_one_of(&shared.names)).is_ok_and(|hidden| !hidden)
    }

    /// Whether other sessions may use a plan that this one has made. With a temporary schema, what users have defined may be in it.
    fn may_share(&self, shared: &SharedPlan) -> bool {
        let own = self.names.temporary_schema().is_some()
            && (shared.temporary || shared.definitions.is_some() || !self.means_the_same(shared));
        !own && !shared.is_transient()
    }

    /// A statement that some session has prepared and that has a plan: this session keeps no text and no syntax tree of its own.
    pub(super) fn known_statement(&self, text: Arc<str>, place: Place, given: &[Oid]) -> Option<Rc<Source>> {
        let shared = self.known_plan(&self.plan_key(text, place, Some(given.to_vec()))?)?;
        let (text, raw) = shared.said.clone()?;
        let planned = Planned { shared, versions: self.versions(), uses: Cell::new(0) };
        let source = Source::fresh(text, Work::Query(raw), Some(given.to_vec()), place);
        Some(Rc::new(Source { planned: RefCell::new(Some(planned.into())), ..source }))
    }

    /// Checks now and then whether the relations have kept their sizes: many sessions may run a statement a few times each while a table grows.
    fn still_fits(&self, planned: &Planned) -> bool {
        let uses = planned.uses.get().wrapping_add(1);
        planned.uses.set(uses);
        let looks = uses.is_power_of_two() || uses.is_multiple_of(USES_BETWEEN_LOOKS);
        !looks || self.fits_sizes(&planned.shared)
    }

    /// Whether the relations of a plan are about as large as when it was made: the plan of an empty table is not for a full one.
    fn fits_sizes(&self, shared: &SharedPlan) -> bool {
        let similar = |now: u32, then: u32| now / 2 <= then + 4 && then / 2 <= now + 4;
        shared.depends.iter().zip(&shared.sizes).all(|(table, then)| similar(self.pages(table), *then))
    }

    fn pages(&self, table: &Table) -> u32 {
        let Some(heap) = &table.heap else { return 0 };
        self.engine().pool().nblocks(heap.desc.file, Fork::Main).unwrap_or(0)
    }

    /// The analysed statement, and what its rows are to the function whose last statement it is.
    fn analyzed(
        &self,
        source: &Source,
        view: &RecordingView<'_>,
        call: &types::Call<'_>,
    ) -> SqlResult<(Analyzed, ReturnForm)> {
        let params = source.parameter_kinds();
        let mut analyzed = match (&source.work, &source.body) {
            (Work::Query(raw), _) => analyze::analyze(raw, &source.text, params, view, call)?,
            (Work::Stored, Some(body)) => {
                analyze::rewrite::load(&source.text, body.variables.types(), view, call)?
            }
            _ => return Err(SqlError::internal("a utility statement has no plan")),
        };
        let form = match source.body.as_ref().and_then(|body| body.returns.as_ref()) {
            Some((declared, procedure)) => {
                analyze::routine::convert_result(&mut analyzed, declared, *procedure, view, call)?
            }
            None => ReturnForm::Row,
        };
        Ok((analyzed, form))
    }

    /// The analysed statement of a source whose plan is current.
    pub(super) fn analyze_again(&self, source: &Source) -> SqlResult<Arc<Analyzed>> {
        let view = RecordingView::new(self);
        let format = self.format();
        let call = types::Call::new(&format).with_session(self);
        Ok(Arc::new(self.analyzed(source, &view, &call)?.0))
    }

    fn analyze_and_plan(&self, source: &Source) -> SqlResult<SharedPlan> {
        let (definitions, authority) = (self.catalog.definitions(), self.catalog.authority());
        let view = RecordingView::new(self);
        let notices = self.notices.raised();
        let format = self.format();
        let call = types::Call::new(&format).with_session(self);
        // A constant of type `regclass` is as good as its relation.
        let outer = self.named_classes.replace(Some(Vec::new()));
        let analyzed = self.analyzed(source, &view, &call);
        let named = self.named_classes.replace(outer).unwrap_or_default();
        let (analyzed, form) = analyzed?;
        for (relation, name) in named {
            if let Ok((schema, name)) = schema_and_name(&name, self.catalog.database_name()) {
                view.relation(schema.as_deref(), &name)?;
            }
            view.relation_by_oid(relation)?;
        }
        let fingerprint = Arc::new(analyze::fingerprint::of(&analyzed.query, source.of_shape));
        let (prepared, beside) = self.watch_planning(source, || {
            self.with_planner(&view, |context| {
                let fraction = source.fraction(context.settings);
                let read_at_once = source.is_read_at_once();
                let context = plan::Context { fraction, read_at_once, ..*context };
                beside::plan(&analyzed, fingerprint, &context)
            })
        })?;
        let statement = &prepared.statement;
        let any = |test: fn(&plan::Statement) -> bool| {
            let mut others = beside.iter().flat_map(|beside| beside.plans());
            test(statement) || others.any(|prepared| test(&prepared.statement))
        };
        let params: Arc<[Oid]> = analyzed.params.as_slice().into();
        let matter = !params.is_empty() && any(plan::Statement::parameters_matter);
        let suits_literals = !view.found_users_code()
            && self.notices.raised() == notices
            && params.iter().all(|ty| self.suits_literals(*ty));
        let definitions = view.found_users_definitions().then_some(definitions);
        let (absences, names) = (view.take_absences(), view.take_names());
        let depends = view.into_tables();
        let said = match &source.work {
            Work::Query(raw) if source.given.is_some() => Some((source.text.clone(), raw.clone())),
            _ => None,
        };
        let constant_error = constant_error(&prepared, beside.as_deref());
        let returns_rows = !statement.result.is_empty() || statement.command == plan::Command::Select;
        Ok(SharedPlan {
            params,
            said,
            analyzed: matter.then(|| Arc::new(analyzed)),
            needs_values: any(plan::Statement::needs_values),
            custom: false,
            suits_literals,
            columns: if returns_rows { Some(self.result_columns(&statement.result)?) } else { None },
            form,
            for_replica: depends.iter().any(|table| !table.rules.is_empty()).then(|| self.replicates()),
            prepared,
            beside,
            definitions,
            authority,
            permitted: AtomicBool::new(false),
            constant_error,
            constants_of_parameters: OnceLock::new(),
            temporary: depends.iter().any(|table| table.persistence == 't'),
            sizes: depends.iter().map(|table| self.pages(table)).collect(),
            checks_snapshot: depends.iter().any(|table| table.differs_by_snapshot()),
            for_kept: self.keeps_snapshot(),
            depends,
            absences,
            names,
        })
    }

    /// What the planner works with: this session's settings and statistics.
    pub fn with_planner<T>(&self, catalog: &dyn CatalogView, f: impl FnOnce(&plan::Context<'_>) -> T) -> T {
        let settings = planner_settings(&self.settings.borrow());
        let statistics = &SessionStatistics(self);
        let context = plan::Context {
            settings: &settings,
            statistics,
            catalog,
            params: None,
            fraction: 0.0,
            read_at_once: true,
            routes_to_hidden: self.keeps_snapshot(),
            bodies: Some(self),
        };
        // Bounds of partitions may be in an order that a function of a user tells.
        types::asked::lend(self, || f(&context))
    }

    /// The statement that this text was last time, if it was a single query.
    pub(super) fn cached_simple(&self, text: &str) -> Option<Rc<Source>> {
        let simple = self.simple.borrow();
        let same = |source: &&Rc<Source>| &*source.text == text && source.is_timeless();
        simple.as_ref().filter(same).inspect(|source| source.read_names_again()).cloned()
    }

    /// Remembers a single query of the simple protocol for the case that it comes again.
    pub(super) fn remember_simple(&self, text: &str, source: Rc<Source>) {
        if matches!(source.work, Work::Query(_)) && text.len() <= LONG_MESSAGE {
            *self.simple.borrow_mut() = Some(source);
        }
    }
}

/// What computing the constants of a plan, and of what is done beside it, fails with.
fn constant_error(prepared: &Prepared, beside: Option<&Beside>) -> Option<SqlError> {
    let others = || beside?.plans().find_map(|prepared| prepared.statement.constant_error());
    prepared.statement.constant_error().or_else(others)
}

/// Whether two results look the same to a client: names, types and modifiers of their columns, not the tables that these come from.
fn same_result(one: Option<&[Column]>, other: Option<&[Column]>) -> bool {
    let same = |(a, b): (&Column, &Column)| {
        (&a.name, a.type_oid, a.declared, a.typmod) == (&b.name, b.type_oid, b.declared, b.typmod)
    };
    match (one, other) {
        (Some(one), Some(other)) => one.len() == other.len() && one.iter().zip(other).all(same),
        (one, other) => one.is_none() && other.is_none(),
    }
}

/// PostgreSQL's lock mode numbers.
pub(super) fn lock_mode(number: u8) -> LockMode {
    match number {
        1 => LockMode::AccessShare,
        2 => LockMode::RowShare,
        3 => LockMode::RowExclusive,
        4 => LockMode::ShareUpdateExclusive,
        5 => LockMode::Share,
        6 => LockMode::ShareRowExclusive,
        7 => LockMode::Exclusive,
        _ => LockMode::AccessExclusive,
    }
}
