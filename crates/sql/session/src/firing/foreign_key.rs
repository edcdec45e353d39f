//! # What
//! What foreign keys do when rows change: checks on the referencing side, actions on the referenced one.
//!
//! # Invariants
//! 1. A referenced row that was found is locked FOR KEY SHARE: it cannot go before the transaction that relies on it has ended.
//! 2. Whether rows still refer to a key is asked of all that has committed, whatever snapshot the transaction keeps: else a row that came
//!    after that snapshot could be orphaned.
//! 3. Statements run as the owner of the table that they read or change. What they set off fires with the events of the statement that
//!    runs.
//!
//! # PostgreSQL counterpart and differences
//! `utils/adt/ri_triggers.c`. The statements are planned once for each session and constraint.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use base::{Oid, SqlError, SqlResult, Tid, sql_err};
use catalog::foreign_key::ForeignKeyInfo;
use catalog::{CatalogView, RelationKind, Table, Trigger, TypeKind};
use eval::trigger::function::changes_rows;
use eval::trigger::{Change, Events, TriggerCall};
use heap::{HeapTuple, View};
use parse::Statement;
use rustc_hash::FxHashMap;
use tuple::Datum;
use txn::{LockMode, LockWait};

use super::internal::Internal;
use super::referenced::Referenced;
use crate::functions::quote_identifier;
use crate::lookup::names;
use crate::routine::{Run, Sees};
use crate::{Session, Source};

/// What a trigger's function does, by its OID.
pub(super) fn find(oid: Oid) -> Option<&'static Internal> {
    static CHECK: Internal = Internal { wanted: check_wanted, fire: check };
    static ACT: Internal = Internal { wanted: action_wanted, fire: act };
    match oid.0 {
        1644 | 1645 => Some(&CHECK),
        1646..=1655 => Some(&ACT),
        _ => None,
    }
}

/// What is done by a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Query {
    /// Finds and locks the row that a referencing one refers to.
    Referenced,
    /// The same, for a key of the referenced table.
    CameBack,
    /// Finds and locks rows that refer to a key.
    Referencing,
    /// Deletes them.
    Delete,
    /// Gives them the new key.
    Cascade,
    /// Sets their columns, on deletion or update.
    SetNull {
        on_delete: bool,
    },
    SetDefault {
        on_delete: bool,
    },
}

/// How two values of a key are compared, in a statement.
pub(super) struct Equality {
    /// `OPERATOR(schema.name)`
    operator: String,
    /// Casts that bring each side to the operator's types; empty where none is needed.
    pub(super) casts: [String; 2],
}

impl Equality {
    /// The operator, for values of these types.
    fn of(session: &Session, operator: Oid, sides: [Oid; 2]) -> SqlResult<Equality> {
        let missing = || SqlError::internal(format!("cache lookup failed for operator {operator}"));
        let (schema, name, takes) = match types::registry::operator(operator) {
            Some(known) => ("pg_catalog".to_owned(), known.name.to_owned(), [known.left, known.right]),
            None => {
                let def = session.operator_by_oid(operator)?.ok_or_else(missing)?;
                let schema = CatalogView::schema_name(session, def.schema)?.ok_or_else(missing)?;
                (schema, def.name.clone(), [def.left, def.right])
            }
        };
        let mut casts = [String::new(), String::new()];
        for ((cast, taken), side) in casts.iter_mut().zip(takes).zip(sides) {
            let own = session.type_by_oid(side)?.is_some_and(|def| matches!(def.kind, TypeKind::Like(_)));
            if own && taken != side {
                let def = session.type_by_oid(taken)?.ok_or_else(missing)?;
                *cast = format!("::{}", analyze::names::qualified(&def.schema_name, &def.name));
            }
        }
        Ok(Equality { operator: format!("OPERATOR({}.{name})", quote_identifier(&schema)), casts })
    }

    fn between(&self, left: &str, right: &str) -> String {
        format!("{left}{} {} {right}{}", self.casts[0], self.operator, self.casts[1])
    }
}

/// Those of a foreign key's columns: of referenced values with referencing ones, and among referenced ones.
pub(super) struct Equalities {
    pub(super) across: Vec<Equality>,
    within: Vec<Equality>,
}

impl Equalities {
    fn of(session: &Session, table: &Table, other: &Table, info: &ForeignKeyInfo) -> SqlResult<Equalities> {
        let mut found = Equalities { across: Vec::new(), within: Vec::new() };
        let base = |table: &Table, number: i16| {
            crate::routine::base_type(session, table.columns[number as usize - 1].type_oid)
        };
        let [across, within, _] = &info.foreign.equal;
        for (i, (own, their)) in info.columns.iter().zip(&info.foreign.columns).enumerate() {
            let (own, their) = (base(table, *own)?, base(other, *their)?);
            found.across.push(Equality::of(session, across[i], [their, own])?);
            found.within.push(Equality::of(session, within[i], [their, their])?);
        }
        Ok(found)
    }
}

/// A foreign key that this session has had to do with.
pub(super) struct Known {
    pub(super) info: ForeignKeyInfo,
    pub(super) equal: Equalities,
    /// The referencing table and the referenced one, as the statements were made for them.
    pub(super) table: Arc<Table>,
    pub(super) other: Arc<Table>,
    sources: RefCell<FxHashMap<Query, Rc<Source>>>,
    pub(super) probe: Referenced,
}

/// Foreign keys that a session has had to do with, by constraint.
#[derive(Default)]
pub(crate) struct ForeignKeys(RefCell<FxHashMap<Oid, Rc<Known>>>);

impl Session {
    fn known_foreign_key(&self, constraint: Oid) -> SqlResult<Rc<Known>> {
        let known = self.foreign_keys.0.borrow().get(&constraint).cloned();
        if let Some(known) = known {
            let current =
                |table: &Arc<Table>| names::describe(self, table.oid).map(|now| Arc::ptr_eq(&now, table));
            if current(&known.table)? && current(&known.other)? {
                return Ok(known);
            }
        }
        let missing = || SqlError::internal(format!("cache lookup failed for constraint {constraint}"));
        let info = self.with_reader(|reader| reader.foreign_key(constraint))?.ok_or_else(missing)?;
        let (table, other) = (names::describe(self, info.table)?, names::describe(self, info.foreign.table)?);
        let equal = Equalities::of(self, &table, &other, &info)?;
        let (sources, probe) = Default::default();
        let known = Rc::new(Known { info, equal, table, other, sources, probe });
        self.foreign_keys.0.borrow_mut().insert(constraint, known.clone());
        Ok(known)
    }

    /// A foreign key with one of its tables locked, so that the statements name what the constraint is about; the other one is locked
    /// by the statement that fired.
    fn locked_foreign_key(
        &self,
        constraint: Oid,
        table: fn(&Known) -> &Table,
        mode: LockMode,
    ) -> SqlResult<Rc<Known>> {
        loop {
            let known = self.known_foreign_key(constraint)?;
            names::lock(self, table(&known), mode, LockWait::Block)?;
            if Rc::ptr_eq(&known, &self.known_foreign_key(constraint)?) {
                return Ok(known);
            }
        }
    }
}

fn values(row: &[Datum], columns: &[i16]) -> Vec<Datum> {
    columns.iter().map(|number| row[*number as usize - 1].clone()).collect()
}

/// Whether a new or changed referencing row is to be checked.
fn check_wanted(session: &Session, trigger: &Trigger, change: &Change<'_>) -> SqlResult<bool> {
    let (Some((_, old)), Some((_, new))) = (change.old, change.new) else { return Ok(true) };
    let known = session.known_foreign_key(trigger.constraint)?;
    let (old, new) = (values(old, &known.info.columns), values(new, &known.info.columns));
    let nulls = new.iter().filter(|value| value.is_null()).count();
    let free = nulls == new.len() || nulls > 0 && known.info.foreign.matching != b'f';
    // A row of this transaction may have been written before its first version was checked: the check of that passes it over.
    Ok(!free
        && (nulls > 0
            || old != new
            || known.info.foreign.matching == b'f'
            || own_version(session, &known.table, change)?))
}

/// Whether the version before a change was written by the running transaction.
fn own_version(session: &Session, table: &Table, change: &Change<'_>) -> SqlResult<bool> {
    let (Some((tid, _)), Some(heap)) = (change.old, &table.heap) else { return Ok(false) };
    let mut version = HeapTuple::new();
    heap::fetch_version(&session.engine().heap_access(), heap, tid, &mut version)
        .map_err(eval::error::heap)?;
    Ok(version.get().is_some_and(|tuple| session.txn.borrow().is_mine(tuple.xmin())))
}

/// Whether a version that this transaction wrote is still the newest of its row.
fn is_present(session: &Session, table: &Table, tid: Tid) -> SqlResult<bool> {
    let Some(heap) = &table.heap else { return Ok(false) };
    session.see_changes()?;
    let me = session.txn.borrow();
    let (snapshot, curcid) = (me.system().snapshot(), me.current_command());
    let view = View { snapshot: &snapshot, curcid, me: &me, combo: &session.combo };
    heap::fetch_exact(&session.engine().heap_access(), heap, &view, tid, &mut HeapTuple::new())
        .map_err(eval::error::heap)
}

/// Whether a row of another table could refer to a key that goes away.
fn action_wanted(session: &Session, trigger: &Trigger, change: &Change<'_>) -> SqlResult<bool> {
    let Some((_, old)) = change.old else { return Ok(false) };
    let known = session.known_foreign_key(trigger.constraint)?;
    let old = values(old, &known.info.foreign.columns);
    if old.iter().any(Datum::is_null) {
        return Ok(false);
    }
    Ok(change.new.is_none_or(|(_, new)| values(new, &known.info.foreign.columns) != old))
}

/// The referenced row must be there.
fn check(
    session: &Session,
    call: &TriggerCall<'_>,
    [_, tid]: [Option<Tid>; 2],
    _: &mut Events,
) -> SqlResult<()> {
    let (Some(row), Some(tid)) = (call.new, tid) else { return Ok(()) };
    let known =
        session.locked_foreign_key(call.trigger.constraint, |known| &known.other, LockMode::RowShare)?;
    if !is_present(session, call.table, tid)? {
        // Changed again since: that change has an event of its own.
        return Ok(());
    }
    let key = values(row, &known.info.columns);
    let nulls = key.iter().filter(|value| value.is_null()).count();
    if nulls == key.len() || nulls > 0 && known.info.foreign.matching != b'f' {
        return Ok(());
    }
    if nulls > 0 {
        return Err(violation(&known.table, &known.info, &known.table)
            .detail("MATCH FULL does not allow mixing of null and nonnull key values."));
    }
    // A partition that is being detached must not be found, whatever snapshot the transaction keeps.
    let sees = match known.other.kind {
        RelationKind::PartitionedTable => Sees::Latest,
        _ => Sees::Now,
    };
    if known.is_referenced(session, &key, sees)? {
        return Ok(());
    }
    Err(not_present(session, (&known.table, &known.other), &known.info, &key)?)
}

fn violation(table: &Table, info: &ForeignKeyInfo, of: &Table) -> SqlError {
    let name = &info.name;
    sql_err!(
        FOREIGN_KEY_VIOLATION,
        "insert or update on table \"{}\" violates foreign key constraint \"{name}\"",
        table.name
    )
    .table(of.schema_name.as_str(), of.name.as_str())
    .constraint(name.as_str())
}

/// `Key (a)=(1) is not present in table "t".`
pub fn not_present(
    session: &Session,
    (table, other): (&Arc<Table>, &Arc<Table>),
    info: &ForeignKeyInfo,
    key: &[Datum],
) -> SqlResult<SqlError> {
    let shown = shown_key(session, table, &info.columns, key)?;
    Ok(violation(table, info, table)
        .detail(format!("Key {shown}is not present in table \"{}\".", other.name)))
}

/// `(a, b)=(1, 2) `, or nothing if the user may not read all of them.
fn shown_key(session: &Session, table: &Arc<Table>, columns: &[i16], key: &[Datum]) -> SqlResult<String> {
    use eval::cx::Facilities;
    if session.shown_columns(table, &[]).is_some_and(|shown| !columns.iter().all(|c| shown.contains(c))) {
        return Ok(String::new());
    }
    let format = session.format();
    let (mut names, mut texts) = (Vec::new(), Vec::new());
    for (number, value) in columns.iter().zip(key) {
        let column = &table.columns[*number as usize - 1];
        names.push(column.name.as_str());
        let mut text = Vec::new();
        if value.is_null() {
            text.extend_from_slice(b"null");
        } else {
            let call = types::Call::new(&format).with_session(session);
            types::output(column.type_oid, value, &call, &mut text)?;
        }
        texts.push(String::from_utf8_lossy(&text).into_owned());
    }
    Ok(format!("({})=({}) ", names.join(", "), texts.join(", ")))
}

/// A referenced row has gone, or its key has changed: carries out the action.
fn act(session: &Session, call: &TriggerCall<'_>, _: [Option<Tid>; 2], more: &mut Events) -> SqlResult<()> {
    let Some(old) = call.old else { return Ok(()) };
    let mode = if changes_rows(call.trigger.function) { LockMode::RowExclusive } else { LockMode::RowShare };
    let known = session.locked_foreign_key(call.trigger.constraint, |known| &known.table, mode)?;
    let key = values(old, &known.info.foreign.columns);
    let on_delete = call.new.is_none();
    let action = if on_delete { known.info.foreign.on_delete } else { known.info.foreign.on_update };
    match action {
        b'c' if on_delete => known.change(session, Query::Delete, &key, more),
        b'c' => {
            let Some(new) = call.new else { return Ok(()) };
            let mut params = key;
            params.extend(values(new, &known.info.foreign.columns));
            known.change(session, Query::Cascade, &params, more)
        }
        b'n' => known.change(session, Query::SetNull { on_delete }, &key, more),
        b'd' => {
            known.change(session, Query::SetDefault { on_delete }, &key, more)?;
            known.must_not_refer(session, &key, true)
        }
        action => known.must_not_refer(session, &key, action == b'a'),
    }
}

impl Known {
    /// Fails if rows refer to a key that no longer exists; with NO ACTION another row may have got it meanwhile.
    fn must_not_refer(&self, session: &Session, key: &[Datum], may_come_back: bool) -> SqlResult<()> {
        // Of periods the other query asks what is still covered.
        if may_come_back && !self.info.period && self.finds(session, Query::CameBack, key, Sees::Latest)? {
            return Ok(());
        }
        if !self.finds(session, Query::Referencing, key, Sees::Latest)? {
            return Ok(());
        }
        let (name, table, other) = (&self.info.name, &self.table.name, &self.other.name);
        let shown = shown_key(session, &self.other, &self.info.foreign.columns, key)?;
        let error = match may_come_back {
            true => sql_err!(
                FOREIGN_KEY_VIOLATION,
                "update or delete on table \"{other}\" violates foreign key constraint \"{name}\" on table \"{table}\""
            )
            .detail(format!("Key {shown}is still referenced from table \"{table}\".")),
            false => sql_err!(
                RESTRICT_VIOLATION,
                "update or delete on table \"{other}\" violates RESTRICT setting of foreign key constraint \"{name}\" on table \"{table}\""
            )
            .detail(format!("Key {shown}is referenced from table \"{table}\".")),
        };
        Err(error.table(self.table.schema_name.as_str(), table.as_str()).constraint(name.as_str()))
    }

    /// The table that a statement reads or changes, whose owner runs it.
    fn target(&self, query: Query) -> &Table {
        if matches!(query, Query::Referenced | Query::CameBack) { &self.other } else { &self.table }
    }

    pub(super) fn finds(
        &self,
        session: &Session,
        query: Query,
        key: &[Datum],
        sees: Sees<'_>,
    ) -> SqlResult<bool> {
        let mut found = false;
        self.run(session, query, key, sees, &mut |run| {
            run.fetch(session, 1, &mut |_| {
                found = true;
                Ok(())
            })
            .map(drop)
        })?;
        Ok(found)
    }

    /// Runs a statement that changes rows. What it sets off fires behind what is there.
    fn change(&self, session: &Session, query: Query, params: &[Datum], more: &mut Events) -> SqlResult<()> {
        self.run(session, query, params, Sees::Latest, &mut |run| {
            run.within(std::mem::take(more));
            let done = run.fetch(session, 0, &mut |_| Ok(())).map(drop);
            *more = run.take_events();
            done
        })
    }

    fn run(
        &self,
        session: &Session,
        query: Query,
        params: &[Datum],
        sees: Sees<'_>,
        body: &mut dyn FnMut(&mut Run) -> SqlResult<()>,
    ) -> SqlResult<()> {
        let source = self.source(query)?;
        session.without_force(|| {
            session.as_role(self.target(query).owner, || {
                let mut run = Run::of_source(session, &source, params, sees)?;
                let result = body(&mut run);
                run.end(session);
                result
            })
        })
    }

    pub(super) fn source(&self, query: Query) -> SqlResult<Rc<Source>> {
        if let Some(source) = self.sources.borrow().get(&query) {
            return Ok(source.clone());
        }
        let key_types = |table: &Table, columns: &[i16]| -> Vec<Oid> {
            columns.iter().map(|number| table.columns[*number as usize - 1].type_oid).collect()
        };
        let foreign = &self.info.foreign;
        let text = self.text(query);
        let types = match query {
            Query::Referenced => key_types(&self.table, &self.info.columns),
            Query::Cascade => {
                [key_types(&self.other, &foreign.columns), key_types(&self.other, &foreign.columns)].concat()
            }
            _ => key_types(&self.other, &foreign.columns),
        };
        let source = Source::nested(&text, &parsed(&text)?, Some(types));
        self.sources.borrow_mut().insert(query, source.clone());
        Ok(source)
    }

    fn text(&self, query: Query) -> String {
        let (own, other) = (rows_of(&self.table), rows_of(&self.other));
        let (columns, foreign) = (&self.info.columns, &self.info.foreign);
        let own_name = |i: usize| column(&self.table, columns[i]);
        let refers = |prefix: &str| {
            let each = (self.equal.across.iter().enumerate())
                .map(|(i, equal)| equal.between(&format!("${}", i + 1), &format!("{prefix}{}", own_name(i))));
            each.collect::<Vec<_>>().join(" AND ")
        };
        let set = |only: &[i16], to: &str| {
            let names = columns.iter().filter(|c| only.is_empty() || only.contains(c));
            names.map(|c| format!("{} = {to}", column(&self.table, *c))).collect::<Vec<_>>().join(", ")
        };
        let only = |on_delete| if on_delete { foreign.delete_columns.as_slice() } else { &[] };
        match query {
            Query::Referenced if self.info.period => self.covered(),
            Query::Referencing if self.info.period => self.uncovered(&refers("x.")),
            Query::Referenced | Query::CameBack => {
                let equal = if query == Query::Referenced { &self.equal.across } else { &self.equal.within };
                let each = (foreign.columns.iter().zip(equal).enumerate()).map(|(i, (c, equal))| {
                    equal.between(&format!("x.{}", column(&self.other, *c)), &format!("${}", i + 1))
                });
                let found = each.collect::<Vec<_>>().join(" AND ");
                format!("SELECT 1 FROM {other} x WHERE {found} FOR KEY SHARE OF x")
            }
            Query::Referencing => {
                format!("SELECT 1 FROM {own} x WHERE {} FOR KEY SHARE OF x", refers("x."))
            }
            Query::Delete => format!("DELETE FROM {own} WHERE {}", refers("")),
            Query::Cascade => {
                let new = (0..columns.len()).map(|i| format!("{} = ${}", own_name(i), columns.len() + i + 1));
                let new = new.collect::<Vec<_>>().join(", ");
                format!("UPDATE {own} SET {new} WHERE {}", refers(""))
            }
            Query::SetNull { on_delete } => {
                format!("UPDATE {own} SET {} WHERE {}", set(only(on_delete), "NULL"), refers(""))
            }
            Query::SetDefault { on_delete } => {
                format!("UPDATE {own} SET {} WHERE {}", set(only(on_delete), "DEFAULT"), refers(""))
            }
        }
    }
}

/// With PERIOD.
impl Known {
    /// A row if the periods of referenced rows cover that of the key; these rows are locked.
    fn covered(&self) -> String {
        let foreign = &self.info.foreign;
        let each = (foreign.columns.iter().zip(&self.equal.across).enumerate()).map(|(i, (c, equal))| {
            equal.between(&format!("x.{}", column(&self.other, *c)), &format!("${}", i + 1))
        });
        let found = each.collect::<Vec<_>>().join(" AND ");
        let periods = period(&self.other, &foreign.columns);
        format!(
            "SELECT 1 FROM (SELECT x.{periods} AS r FROM {} x WHERE {found} FOR KEY SHARE OF x) x1 \
             HAVING ${} OPERATOR(pg_catalog.<@) pg_catalog.range_agg(x1.r)",
            rows_of(&self.other),
            foreign.columns.len()
        )
    }

    /// Rows that refer to a key, of whose periods the part that the key had is not covered by other rows.
    fn uncovered(&self, refers: &str) -> String {
        let foreign = &self.info.foreign;
        let each = (foreign.columns.iter().zip(&self.equal.within).enumerate()).map(|(i, (c, equal))| {
            equal.between(&format!("${}", i + 1), &format!("y.{}", column(&self.other, *c)))
        });
        let there = each.collect::<Vec<_>>().join(" AND ");
        let (own, periods) = (period(&self.table, &self.info.columns), period(&self.other, &foreign.columns));
        format!(
            "SELECT 1 FROM {} x WHERE {refers} AND NOT coalesce(\
             (x.{own} OPERATOR(pg_catalog.*) ${}) OPERATOR(pg_catalog.<@) \
             (SELECT pg_catalog.range_agg(y2.r) FROM (SELECT y.{periods} AS r FROM {} y WHERE {there} \
             FOR KEY SHARE OF y) y2), false) FOR KEY SHARE OF x",
            rows_of(&self.table),
            foreign.columns.len(),
            rows_of(&self.other)
        )
    }
}

/// The column of a key that holds periods.
fn period(table: &Table, columns: &[i16]) -> String {
    columns.last().map_or_else(String::new, |number| column(table, *number))
}

/// A table in a statement: with its partitions, but not with other children.
fn rows_of(table: &Table) -> String {
    let only = if table.kind == RelationKind::PartitionedTable { "" } else { "ONLY " };
    format!("{only}{}.{}", quote_identifier(&table.schema_name), quote_identifier(&table.name))
}

fn column(table: &Table, number: i16) -> String {
    quote_identifier(&table.columns[number as usize - 1].name).to_string()
}

/// A statement of our own making.
pub fn parsed(text: &str) -> SqlResult<Statement> {
    let mut statements = parse::parse(text)?;
    match (statements.pop(), statements.is_empty()) {
        (Some(raw), true) => Ok(raw.stmt),
        _ => Err(SqlError::internal("a foreign key's text is one statement")),
    }
}

/// `pk.a OPERATOR(pg_catalog.=) fk.b`, for each column of a key.
fn joined(session: &Session, table: &Table, other: &Table, info: &ForeignKeyInfo) -> SqlResult<String> {
    let equal = Equalities::of(session, table, other, info)?;
    let pairs =
        info.columns.iter().zip(&info.foreign.columns).zip(&equal.across).map(|((own, their), equal)| {
            equal.between(&format!("pk.{}", column(other, *their)), &format!("fk.{}", column(table, *own)))
        });
    Ok(pairs.collect::<Vec<_>>().join(" AND "))
}

fn referring_columns(table: &Table, info: &ForeignKeyInfo) -> Vec<String> {
    info.columns.iter().map(|c| format!("fk.{}", column(table, *c))).collect()
}

/// A query for the keys of rows that refer to nothing.
pub fn orphans(session: &Session, table: &Table, other: &Table, info: &ForeignKeyInfo) -> SqlResult<String> {
    let own = referring_columns(table, info);
    if info.period {
        let there: Vec<String> = own.iter().map(|fk| format!("{fk} IS NOT NULL")).collect();
        return Ok(format!(
            "SELECT {} FROM {} fk WHERE {} AND NOT coalesce(fk.{} OPERATOR(pg_catalog.<@) \
             (SELECT pg_catalog.range_agg(pk.{}) FROM {} pk WHERE {}), false) LIMIT 1",
            own.join(", "),
            rows_of(table),
            there.join(" AND "),
            period(table, &info.columns),
            period(other, &info.foreign.columns),
            rows_of(other),
            joined(session, table, other, info)?
        ));
    }
    let there: Vec<String> = own.iter().map(|fk| format!("{fk} IS NOT NULL")).collect();
    let separator = if info.foreign.matching == b'f' { " OR " } else { " AND " };
    Ok(format!(
        "SELECT {} FROM {} fk LEFT OUTER JOIN {} pk ON ({}) WHERE pk.{} IS NULL AND ({}) LIMIT 1",
        own.join(", "),
        rows_of(table),
        rows_of(other),
        joined(session, table, other, info)?,
        column(other, info.foreign.columns[0]),
        there.join(separator)
    ))
}

/// A query for the keys of rows that refer to some row of a partition.
pub fn referring(
    session: &Session,
    table: &Table,
    partition: &Table,
    info: &ForeignKeyInfo,
) -> SqlResult<String> {
    Ok(format!(
        "SELECT {} FROM {} fk JOIN {} pk ON ({}) LIMIT 1",
        referring_columns(table, info).join(", "),
        rows_of(table),
        rows_of(partition),
        joined(session, table, partition, info)?
    ))
}

/// A partition cannot go: a row refers to it.
pub fn still_referenced(
    session: &Session,
    (table, partition): (&Arc<Table>, &Table),
    info: &ForeignKeyInfo,
    key: &[Datum],
) -> SqlResult<SqlError> {
    let shown = shown_key(session, table, &info.columns, key)?;
    Ok(sql_err!(
        FOREIGN_KEY_VIOLATION,
        "removing partition \"{}\" violates foreign key constraint \"{}\"",
        partition.name,
        info.name
    )
    .detail(format!("Key {shown}is still referenced from table \"{}\".", table.name))
    .table(table.schema_name.as_str(), table.name.as_str())
    .constraint(info.name.as_str()))
}
