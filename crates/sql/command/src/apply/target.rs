//! The tables that changes are applied to: which column is which, how rows are found, and plans of what is done to them.
//!
//! Plans are kept from change to change. They are made from statements once, and hold until any definition changes.

use std::cell::Cell;
use std::sync::Arc;

use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::authority::Wanted;
use catalog::view::TypeKind;
use catalog::{CatalogView, Generated, RelationKind, Table};
use executor::run::{Execution, Prepared};
use parse::ast::RangeVar;
use rustc_hash::FxHashMap;
use session::Session;
use tuple::Datum;
use txn::LockMode;
use types::registry::TypeImp;
use types::text::quote_identifier;
use types::{Call, acl};

use super::protocol::{RemoteTable, Value};
use crate::internal::Internal;
use crate::names;

/// A plan, and the transaction that has its locks.
struct Plan {
    prepared: Arc<Prepared>,
    locked_in: Cell<u32>,
}

/// How the values of a column are read.
struct Reading {
    type_oid: Oid,
    typmod: i32,
    imp: &'static TypeImp,
    /// The operator by which values are the same.
    equals: String,
}

/// A table of ours that changes of a table there are applied to.
pub(super) struct Target {
    pub(super) table: Arc<Table>,
    /// No definition has changed since.
    generation: u64,
    /// The transaction that has locked it.
    locked_in: Cell<u32>,
    /// Whose rights are needed, if it is not the session's own.
    role: Option<Oid>,
    readings: Vec<Reading>,
    names: Vec<String>,
    /// Columns of the publisher by which rows are found; none: by all, as far as they have values.
    key: Option<Vec<usize>>,
    /// Why rows cannot be found.
    unfound: Option<String>,
    insert: Option<Plan>,
    update: Option<Plan>,
    delete: Option<Plan>,
    /// Those for some of the columns, by what they are about.
    others: FxHashMap<Vec<u8>, Plan>,
}

/// Which error names a table.
fn shown(remote: &RemoteTable) -> String {
    format!("{}.{}", remote.schema, remote.name)
}

fn not_now(message: String) -> SqlError {
    SqlError::new(base::SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, message)
}

/// Fails unless rows of other servers can go into a relation of this kind.
pub(crate) fn check_kind(kind: RelationKind, (schema, name): (&str, &str)) -> SqlResult<()> {
    if matches!(kind, RelationKind::Table | RelationKind::PartitionedTable) {
        return Ok(());
    }
    let error =
        sql_err!(WRONG_OBJECT_TYPE, "cannot use relation \"{schema}.{name}\" as logical replication target");
    Err(error.detail(format!("This operation is not supported for {}.", names::plural(kind))))
}

/// Number of the running transaction.
fn transaction(session: &Session) -> u32 {
    session.txn.borrow().local_id()
}

impl Target {
    /// Finds the table of ours, locks it, and finds out which column is which. `user`: whose rights count instead of its owner's.
    pub(super) fn open(session: &Session, remote: &RemoteTable, user: Option<Oid>) -> SqlResult<Target> {
        let name = RangeVar {
            schema: Some(remote.schema.clone()),
            name: remote.name.clone(),
            ..RangeVar::default()
        };
        let full = shown(remote);
        let table = names::try_open(session, &name, LockMode::RowExclusive)?.ok_or_else(|| {
            not_now(format!("logical replication target relation \"{full}\" does not exist"))
        })?;
        check_kind(table.kind, (&remote.schema, &remote.name))?;
        let places = places(&table, remote)?;
        let role = user.unwrap_or(table.owner);
        check_role(session, &table, role)?;
        let reading = |place: &usize| {
            let column = &table.columns[*place];
            let imp = types::registry::type_imp(column.type_oid);
            let equals = equals(session, column.type_oid)?;
            Ok(Reading { type_oid: column.type_oid, typmod: column.typmod, imp, equals })
        };
        let (key, unfound) = key(&table, remote, &places);
        Ok(Target {
            generation: session.catalog.generation(),
            locked_in: Cell::new(transaction(session)),
            role: Some(role).filter(|role| *role != session.names.user()),
            readings: places.iter().map(reading).collect::<SqlResult<_>>()?,
            names: remote.columns.iter().map(|column| quote_identifier(&column.name)).collect(),
            key,
            unfound,
            insert: None,
            update: None,
            delete: None,
            others: FxHashMap::default(),
            table,
        })
    }

    /// Whether it is what it was; its lock is the running transaction's from now on.
    pub(super) fn is_current(&self, session: &Session) -> SqlResult<bool> {
        let now = transaction(session);
        if self.locked_in.get() != now {
            names::lock(session, &self.table, LockMode::RowExclusive, txn::LockWait::Block)?;
            self.locked_in.set(now);
        }
        Ok(session.catalog.generation() == self.generation)
    }

    /// Whose rights count, if those are not the session's own.
    pub(super) fn role(&self) -> Option<Oid> {
        self.role
    }

    fn relation(&self) -> String {
        let (schema, name) = (quote_identifier(&self.table.schema_name), quote_identifier(&self.table.name));
        match self.table.kind {
            RelationKind::PartitionedTable => format!("{schema}.{name}"),
            _ => format!("ONLY {schema}.{name}"),
        }
    }

    /// The value of column `at`.
    fn value(&self, at: usize, value: Value<'_>, call: &Call<'_>) -> SqlResult<Datum> {
        let Reading { type_oid, typmod, imp, .. } = self.readings[at];
        let read = || match value {
            Value::Null | Value::Unchanged => Ok(Datum::Null),
            Value::Text(bytes) => {
                types::text::check_utf8(bytes)?;
                (imp.input)(type_oid, types::value::str_of(bytes), typmod, call)
            }
            Value::Binary(bytes) => types::receive(type_oid, bytes, typmod, call),
        };
        read().map_err(|error| error.context(format!("column {}", self.names[at])))
    }

    fn values(
        &self,
        session: &Session,
        row: &[Value<'_>],
        which: impl Iterator<Item = usize>,
        out: &mut Vec<Datum>,
    ) -> SqlResult<()> {
        let format = session.format();
        let call = Call::new(&format).with_session(session);
        for at in which {
            let value = row.get(at).copied().ok_or_else(|| {
                sql_err!(PROTOCOL_VIOLATION, "logical replication column {at} not found in row")
            })?;
            out.push(self.value(at, value, &call)?);
        }
        Ok(())
    }

    fn types(&self, which: impl Iterator<Item = usize>) -> Vec<Oid> {
        which.map(|at| self.readings[at].type_oid).collect()
    }

    /// Runs a plan; how many rows it changed.
    fn run(&self, session: &Session, plan: &Plan, params: &[Datum]) -> SqlResult<u64> {
        let now = transaction(session);
        if plan.locked_in.get() != now {
            session.lock_relations(&plan.prepared.statement)?;
            plan.locked_in.set(now);
        }
        let (snapshot, command) = {
            let mut txn = session.txn.borrow_mut();
            (txn.statement_snapshot()?, txn.current_command())
        };
        let mut execution = Execution::obtain(&plan.prepared)?;
        let mut run =
            || session.with_env(&snapshot, command, |env| execution.run(env, params, &mut |_| Ok(())));
        let done = match self.role {
            None => run(),
            Some(role) => session.as_role(role, run),
        };
        let done = done?.processed;
        execution.keep();
        session.next_command()?;
        Ok(done)
    }

    fn plan(&self, session: &Session, text: &str, params: &[Oid]) -> SqlResult<Plan> {
        let parsed = parse::parse(text)?.into_iter().next();
        let parsed = parsed.ok_or_else(|| SqlError::internal("a statement without text"))?;
        let make = || Internal::unsecured(session, &parsed.stmt, text, params);
        let internal = match self.role {
            None => make(),
            Some(role) => session.as_role(role, make),
        }?;
        Ok(Plan { prepared: internal.prepared().clone(), locked_in: Cell::new(transaction(session)) })
    }

    /// Puts in a row.
    pub(super) fn insert(&mut self, session: &Session, new: &[Value<'_>]) -> SqlResult<()> {
        let all = 0..self.names.len();
        let plan = match self.insert.take() {
            Some(plan) => plan,
            None => self.plan(session, &self.insert_text(), &self.types(all.clone()))?,
        };
        let mut params = Vec::with_capacity(all.len());
        self.values(session, new, all, &mut params)?;
        let done = self.run(session, &plan, &params);
        self.insert = Some(plan);
        done.map(drop)
    }

    fn insert_text(&self) -> String {
        let relation = self.relation();
        let relation = relation.strip_prefix("ONLY ").unwrap_or(&relation);
        if self.names.is_empty() {
            return format!("INSERT INTO {relation} DEFAULT VALUES");
        }
        let params: Vec<String> = (1..=self.names.len()).map(|n| format!("${n}")).collect();
        let (names, params) = (self.names.join(", "), params.join(", "));
        format!("INSERT INTO {relation} ({names}) OVERRIDING SYSTEM VALUE VALUES ({params})")
    }

    /// Columns there by which rows are found; none: by all.
    pub(super) fn key(&self) -> Option<&[usize]> {
        self.key.as_deref()
    }

    /// The values of some columns, and their types.
    pub(super) fn params(
        &self,
        session: &Session,
        row: &[Value<'_>],
        which: &[usize],
    ) -> SqlResult<(Vec<Datum>, Vec<Oid>)> {
        let mut values = Vec::with_capacity(which.len());
        self.values(session, row, which.iter().copied(), &mut values)?;
        Ok((values, self.types(which.iter().copied())))
    }

    /// Fails unless rows can be found.
    fn check_finds(&self) -> SqlResult<()> {
        self.unfound.as_ref().map_or(Ok(()), |why| Err(not_now(why.clone())))
    }

    /// The columns by which a row like `old` is found.
    fn key_of(&self, old: &[Value<'_>]) -> (Vec<usize>, Vec<usize>) {
        let null = |at: &usize| matches!(old.get(*at), Some(Value::Null));
        match &self.key {
            Some(key) => (key.clone(), Vec::new()),
            None => {
                let (nulls, values): (Vec<usize>, Vec<usize>) = (0..self.names.len()).partition(null);
                let known = |at: &usize| !matches!(old.get(*at), Some(Value::Unchanged) | None);
                (values.into_iter().filter(known).collect(), nulls)
            }
        }
    }

    /// The condition on a row with these values, which are parameters from `first` on.
    fn condition(&self, (values, nulls): (&[usize], &[usize]), first: usize) -> String {
        let equal = values.iter().enumerate();
        let equal =
            equal.map(|(i, at)| format!("{} {} ${}", self.names[*at], self.readings[*at].equals, first + i));
        let null = nulls.iter().map(|at| format!("{} IS NULL", self.names[*at]));
        let terms: Vec<String> = equal.chain(null).collect();
        let condition = if terms.is_empty() { "true".into() } else { terms.join(" AND ") };
        if self.key.is_some() {
            return condition;
        }
        // One row of those that are alike.
        let relation = self.relation();
        match self.table.kind {
            RelationKind::PartitionedTable => format!(
                "(tableoid, ctid) IN (SELECT tableoid, ctid FROM {relation} WHERE {condition} LIMIT 1)"
            ),
            _ => format!("ctid = (SELECT ctid FROM {relation} WHERE {condition} LIMIT 1)"),
        }
    }

    /// Changes the row that was `old`, or else has the key of `new`; false if there is none.
    pub(super) fn update(
        &mut self,
        session: &Session,
        old: Option<&[Value<'_>]>,
        new: &[Value<'_>],
    ) -> SqlResult<bool> {
        self.check_finds()?;
        let old = old.unwrap_or(new);
        let (by, nulls) = self.key_of(old);
        let changed = |at: &usize| !matches!(new.get(*at), Some(Value::Unchanged));
        let set: Vec<usize> = (0..self.names.len()).filter(changed).collect();
        if set.is_empty() {
            return Ok(true);
        }
        let whole = set.len() == self.names.len() && self.key.is_some();
        let which = (b'u', set.as_slice(), (by.as_slice(), nulls.as_slice()));
        let plan = self.take(whole, which);
        let plan = match plan {
            Some(plan) => plan,
            None => {
                let assigned: Vec<String> = set
                    .iter()
                    .enumerate()
                    .map(|(i, at)| format!("{} = ${}", self.names[*at], i + 1))
                    .collect();
                let condition = self.condition((&by, &nulls), set.len() + 1);
                let text =
                    format!("UPDATE {} SET {} WHERE {condition}", self.relation(), assigned.join(", "));
                self.plan(session, &text, &self.types(set.iter().chain(&by).copied()))?
            }
        };
        let mut params = Vec::with_capacity(set.len() + by.len());
        self.values(session, new, set.iter().copied(), &mut params)?;
        self.values(session, old, by.iter().copied(), &mut params)?;
        let done = self.run(session, &plan, &params);
        self.give_back(whole, which, plan);
        Ok(done? > 0)
    }

    /// Deletes the row that was `old`; false if there is none.
    pub(super) fn delete(&mut self, session: &Session, old: &[Value<'_>]) -> SqlResult<bool> {
        self.check_finds()?;
        let (by, nulls) = self.key_of(old);
        let whole = self.key.is_some();
        let which = (b'd', [].as_slice(), (by.as_slice(), nulls.as_slice()));
        let plan = match self.take(whole, which) {
            Some(plan) => plan,
            None => {
                let condition = self.condition((&by, &nulls), 1);
                let text = format!("DELETE FROM {} WHERE {condition}", self.relation());
                self.plan(session, &text, &self.types(by.iter().copied()))?
            }
        };
        let mut params = Vec::with_capacity(by.len());
        self.values(session, old, by.iter().copied(), &mut params)?;
        let done = self.run(session, &plan, &params);
        self.give_back(whole, which, plan);
        Ok(done? > 0)
    }

    fn take(&mut self, whole: bool, which: Which<'_>) -> Option<Plan> {
        match (whole, which.0) {
            (true, b'u') => self.update.take(),
            (true, _) => self.delete.take(),
            (false, _) => self.others.remove(&word(which)),
        }
    }

    fn give_back(&mut self, whole: bool, which: Which<'_>, plan: Plan) {
        match (whole, which.0) {
            (true, b'u') => self.update = Some(plan),
            (true, _) => self.delete = Some(plan),
            (false, _) => drop(self.others.insert(word(which), plan)),
        }
    }
}

/// The operator by which values of a type are the same: of a type that a user made from nothing, it stands in the type's schema.
fn equals(session: &Session, type_oid: Oid) -> SqlResult<String> {
    let known = match types::builtin_type(type_oid) {
        Some(_) => None,
        None => session.type_by_oid(type_oid)?,
    };
    let of_base = known.filter(|known| matches!(known.kind, TypeKind::Like(_)));
    let schema = of_base.map_or("pg_catalog".into(), |known| quote_identifier(&known.schema_name));
    Ok(format!("OPERATOR({schema}.=)"))
}

/// What a plan does: the kind, columns that it sets, those that it finds by their values and by being null.
type Which<'a> = (u8, &'a [usize], (&'a [usize], &'a [usize]));

/// The same as a key.
fn word((kind, set, (by, nulls)): Which<'_>) -> Vec<u8> {
    let mut word = vec![kind];
    for list in [set, by, nulls] {
        word.extend_from_slice(&(list.len() as u16).to_le_bytes());
        list.iter().for_each(|at| word.extend_from_slice(&(*at as u16).to_le_bytes()));
    }
    word
}

/// Where the columns of a table there are in the table here.
fn places(table: &Table, remote: &RemoteTable) -> SqlResult<Vec<usize>> {
    let (mut places, mut missing, mut generated) = (Vec::new(), Vec::new(), Vec::new());
    for column in &remote.columns {
        match table.column(&column.name) {
            None => missing.push(format!("\"{}\"", column.name)),
            Some((_, ours)) if ours.generated != Generated::None => {
                generated.push(format!("\"{}\"", column.name));
            }
            Some((number, _)) => places.push(number as usize - 1),
        }
    }
    let complain = |what: &str, names: &[String]| {
        let plural = if names.len() == 1 { "" } else { "s" };
        let (full, names) = (shown(remote), names.join(", "));
        Err(not_now(format!("logical replication target relation \"{full}\" {what}{plural}: {names}")))
    };
    if !missing.is_empty() {
        return complain("is missing replicated column", &missing);
    }
    if !generated.is_empty() {
        return complain("has incompatible generated column", &generated);
    }
    Ok(places)
}

/// Columns there by which a row is found here: none, by all; or why it cannot be found.
fn key(table: &Table, remote: &RemoteTable, places: &[usize]) -> (Option<Vec<usize>>, Option<String>) {
    let primary = || table.indexes.iter().find(|i| i.primary && i.valid && i.immediate).map(|i| &**i);
    let Some(index) = table.identity_index().or_else(primary) else {
        let unfound = format!(
            "logical replication target relation \"{}\" has neither REPLICA IDENTITY index nor PRIMARY KEY column and published relation does not have REPLICA IDENTITY FULL",
            shown(remote)
        );
        return (None, Some(unfound).filter(|_| remote.identity != b'f'));
    };
    let there = |number: &i16| {
        let at = places.iter().position(|place| *place + 1 == *number as usize)?;
        (remote.columns[at].key || remote.identity == b'f').then_some(at)
    };
    match index.keys.iter().map(there).collect() {
        Some(key) => (Some(key), None),
        None if remote.identity == b'f' => (None, None),
        None => {
            let unfound = format!(
                "publisher did not send replica identity column expected by the logical replication target relation \"{}\"",
                shown(remote)
            );
            (None, Some(unfound))
        }
    }
}

/// Fails unless changes of a table may be made by this role.
fn check_role(session: &Session, table: &Table, role: Oid) -> SqlResult<()> {
    let trusted = session.with_reader(|reader| reader.is_superuser(role))?;
    if trusted {
        return Ok(());
    }
    if session.hides_rows(table, Some(role))? {
        let name = session.with_reader(|reader| reader.role_by_oid(role))?.map(|role| role.name);
        return Err(sql_err!(
            FEATURE_NOT_SUPPORTED,
            "user \"{}\" cannot replicate into relation with row-level security enabled: \"{}\"",
            name.unwrap_or_default(),
            table.name
        ));
    }
    let wanted = Wanted { required: acl::bits("arwd"), selected: &[], inserted: &[], updated: &[] };
    session.check_relation(role, table.oid, wanted)
}
