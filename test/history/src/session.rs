//! What · Sessions that run random transactions on the lists, and note what they did and saw.
//!
//! A transaction appends to lists (an UPDATE, an INSERT … ON CONFLICT, or the whole list rewritten by who knows what is in it), reads one
//! or all, locks rows, opens savepoints, rolls back to them after errors or without, keeps a cursor open, exports its snapshot or goes on with
//! another's, and commits, rolls back or is prepared for somebody else to end.
//!
//! Invariant: the world's mutex is never held while the server is asked.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::choices::Choices;
use crate::order::{self, Report};
use crate::record::{Append, Element, Fate, History, ListId, SnapshotId, Span, TxnId};
use crate::{FIRST_LISTS, LISTS, serial};

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The server's error.
    Error {
        /// SQLSTATE.
        code: String,
        /// Primary message.
        message: String,
    },
    /// The server is gone.
    Lost,
}

/// The server is gone, and what was asked last may have been done or not.
#[derive(Clone, Copy, Debug)]
pub struct Lost;

/// A connection to the server under test.
pub trait Database {
    /// Runs a statement; rows, their columns separated by `|`.
    fn run(&mut self, sql: &str) -> Result<Vec<String>, Failure>;

    /// Lets others work for some time.
    fn pause(&mut self, time: Duration);
}

/// Errors that a transaction may meet because of others: serialization failure, deadlock, and an exported snapshot that is gone.
const CONFLICTS: [&str; 3] = ["40001", "40P01", "42704"];

/// Shows all lists.
pub(crate) const LOOK: &str = "select id, elements from lists";

/// Prepared transactions at most, not counting those that are being prepared.
const MOST_PREPARED: usize = 10;

/// What all sessions share. Lives outside the server, as clients do.
#[derive(Default)]
pub struct World {
    /// What happened.
    pub history: History,
    /// All transactions are serializable.
    pub only_serializable: bool,
    /// Snapshots that transactions give to others; whether those are serializable.
    exports: Vec<(String, SnapshotId, bool)>,
}

/// The world, shared.
pub type SharedWorld = Arc<Mutex<World>>;

fn lock(world: &SharedWorld) -> MutexGuard<'_, World> {
    world.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Own elements of a transaction, by list.
type Own = [Vec<Element>; LISTS as usize];

/// A running transaction, as its session knows it.
struct Running {
    id: TxnId,
    /// REPEATABLE READ, or SERIALIZABLE.
    repeatable: bool,
    serializable: bool,
    /// When its first statement that needs a snapshot was sent.
    began: Option<u64>,
    /// The snapshot it keeps.
    snapshot: Option<SnapshotId>,
    state: State,
    /// What each savepoint goes back to.
    savepoints: Vec<State>,
    cursor: Option<(SnapshotId, Own)>,
    exported: Option<String>,
}

/// What a rollback to a savepoint takes back.
#[derive(Clone, Default)]
struct State {
    own: Own,
    /// Lists that nobody else can append to before this transaction ends, if it appends itself, and the number of others' elements there.
    known: [Option<usize>; LISTS as usize],
    /// Appends that stand.
    appends: usize,
}

/// A session.
pub struct Session<D> {
    db: D,
    choices: Choices,
    world: SharedWorld,
}

impl<D: Database> Session<D> {
    /// A session on a connection of its own.
    pub fn new(mut db: D, mut choices: Choices, world: SharedWorld) -> Result<Session<D>, Lost> {
        if choices.one_in(3) {
            match db.run("set enable_seqscan = off") {
                Err(Failure::Lost) => return Err(Lost),
                result => drop(result.expect("it is a setting")),
            }
        }
        Ok(Session { db, choices, world })
    }

    /// Runs one transaction.
    pub fn transaction(&mut self) -> Result<(), Lost> {
        let repeatable = self.choices.one_in(2);
        let serializable = lock(&self.world).only_serializable || repeatable && self.choices.one_in(2);
        let mut txn = Running {
            id: lock(&self.world).history.begin(),
            repeatable: repeatable || serializable,
            serializable,
            began: None,
            snapshot: None,
            state: State::default(),
            savepoints: Vec::new(),
            cursor: None,
            exported: None,
        };
        let result = self.attempt(&mut txn);
        self.withdraw_export(&mut txn);
        match result {
            Ok(()) => Ok(()),
            Err(Failure::Lost) => Err(Lost),
            Err(failure) if is_conflict(&failure) => {
                self.control("rollback")?;
                lock(&self.world).history.of(txn.id).fate = Fate::RolledBack;
                Ok(())
            }
            Err(failure) => panic!("transaction {}: {failure:?}", txn.id.0),
        }
    }

    /// A statement that cannot fail.
    fn control(&mut self, sql: &str) -> Result<(), Lost> {
        match self.db.run(sql) {
            Ok(_) => Ok(()),
            Err(Failure::Lost) => Err(Lost),
            Err(failure) => panic!("{sql}: {failure:?}"),
        }
    }

    fn attempt(&mut self, txn: &mut Running) -> Result<(), Failure> {
        lock(&self.world).history.of(txn.id).serializable = txn.serializable;
        self.db.run(match (txn.serializable, txn.repeatable) {
            (true, _) => "begin isolation level serializable",
            (_, true) => "begin isolation level repeatable read",
            _ => "begin",
        })?;
        if txn.repeatable && self.choices.one_in(6) {
            self.import(txn)?;
        } else if txn.repeatable && self.choices.one_in(6) {
            self.export(txn)?;
        }
        for _ in 0..self.choices.between(1, 8) {
            if let Err(failure) = self.step(txn) {
                let mend = !txn.savepoints.is_empty() && is_conflict(&failure) && self.choices.one_in(2);
                if !mend {
                    return Err(failure);
                }
                self.rollback_to(txn)?;
            }
        }
        self.end(txn)
    }

    fn step(&mut self, txn: &mut Running) -> Result<(), Failure> {
        match self.choices.below(18) {
            0..=4 => self.append(txn),
            5 => self.append_to_two(txn),
            6 => self.rewrite(txn),
            7..=8 => self.read_one(txn),
            9 => self.read_all(txn),
            10 => self.lock_one(txn),
            11..=12 => self.savepoint(txn),
            13 => self.rollback_to(txn),
            14 => self.release(txn),
            15 => self.fail(txn),
            16 => self.cursor(txn),
            _ => {
                self.db.pause(Duration::from_micros(self.choices.below(2000)));
                Ok(())
            }
        }
    }

    /// Runs a statement that needs a snapshot. Under REPEATABLE READ the first of them takes it.
    fn statement(&mut self, txn: &mut Running, sql: &str) -> Result<(Vec<String>, Span), Failure> {
        let sent = lock(&self.world).history.now();
        let began = *txn.began.get_or_insert(sent);
        let rows = self.db.run(sql)?;
        let history = &mut lock(&self.world).history;
        let span = Span { sent, answered: history.now() };
        if txn.repeatable && txn.snapshot.is_none() {
            let taken = history.snapshot(Span { sent: began, ..span });
            txn.snapshot = Some(taken);
            history.of(txn.id).snapshot = Some(taken);
        }
        Ok((rows, span))
    }

    // Reading

    /// Notes the lists that a statement returned as `list|elements`; those of `asked` that it did not return have no row. Those that the
    /// snapshot showed of others are known under REPEATABLE READ: if one of them grows, the transaction cannot append to it.
    fn note_lists(&mut self, txn: &mut Running, span: Span, asked: &[ListId], rows: &[String]) {
        let history = &mut lock(&self.world).history;
        let snapshot = txn.snapshot.unwrap_or_else(|| history.snapshot(span));
        history.of(txn.id).looked.extend_from_slice(asked);
        for (list, length) in see(history, snapshot, asked, rows, &txn.state.own) {
            if txn.repeatable {
                txn.state.known[list as usize] = Some(length);
            }
        }
    }

    fn read_one(&mut self, txn: &mut Running) -> Result<(), Failure> {
        let list = self.any_list();
        // The weakest lock waits for no append.
        let locking = if self.choices.one_in(3) { " for key share" } else { "" };
        let sql = format!("select id, elements from lists where id = {list}{locking}");
        let (rows, span) = self.statement(txn, &sql)?;
        self.note_lists(txn, span, &[list], &rows);
        Ok(())
    }

    fn read_all(&mut self, txn: &mut Running) -> Result<(), Failure> {
        let sql = *self.choices.of(&[
            "select id, elements from lists",
            "select id, elements from lists where id >= 0 order by id",
            "select a.id, b.elements from lists a join lists b on a.id = b.id",
        ]);
        let (rows, span) = self.statement(txn, sql)?;
        self.note_lists(txn, span, &ALL, &rows);
        Ok(())
    }

    /// Declares a cursor; or reads the one that was declared, which shows what there was then.
    fn cursor(&mut self, txn: &mut Running) -> Result<(), Failure> {
        if let Some((snapshot, own)) = txn.cursor.take() {
            let rows = self.db.run("fetch all from c")?;
            self.db.run("close c")?;
            let history = &mut lock(&self.world).history;
            history.of(txn.id).looked.extend_from_slice(&ALL);
            see(history, snapshot, &ALL, &rows, &own);
        } else if txn.savepoints.is_empty() {
            let (_, span) = self.statement(txn, "declare c cursor for select id, elements from lists")?;
            let snapshot = txn.snapshot.unwrap_or_else(|| lock(&self.world).history.snapshot(span));
            txn.cursor = Some((snapshot, txn.state.own.clone()));
        }
        Ok(())
    }

    fn export(&mut self, txn: &mut Running) -> Result<(), Failure> {
        let (rows, _) = self.statement(txn, "select pg_export_snapshot()")?;
        let snapshot = txn.snapshot.expect("REPEATABLE READ keeps it");
        lock(&self.world).exports.push((rows[0].clone(), snapshot, txn.serializable));
        txn.exported = Some(rows[0].clone());
        Ok(())
    }

    fn withdraw_export(&mut self, txn: &mut Running) {
        if let Some(name) = txn.exported.take() {
            lock(&self.world).exports.retain(|export| export.0 != name);
        }
    }

    fn import(&mut self, txn: &mut Running) -> Result<(), Failure> {
        let mut exports = lock(&self.world).exports.clone();
        exports.retain(|export| export.2 || !txn.serializable);
        if exports.is_empty() {
            return Ok(());
        }
        let (name, snapshot, _) = self.choices.of(&exports);
        self.db.run(&format!("set transaction snapshot '{name}'"))?;
        txn.snapshot = Some(*snapshot);
        lock(&self.world).history.of(txn.id).snapshot = Some(*snapshot);
        Ok(())
    }

    // Writing

    fn any_list(&mut self) -> ListId {
        self.choices.below(LISTS.into()) as ListId
    }

    fn append(&mut self, txn: &mut Running) -> Result<(), Failure> {
        let list = self.any_list();
        let element = lock(&self.world).history.new_element();
        let change = if list >= FIRST_LISTS {
            format!(
                "insert into lists values ({list}, array[{element}]) on conflict (id) \
                 do update set elements = lists.elements || excluded.elements"
            )
        } else {
            format!("update lists set elements = elements || {element}::bigint where id = {list}")
        };
        self.change(txn, &[list], element, &change)
    }

    fn append_to_two(&mut self, txn: &mut Running) -> Result<(), Failure> {
        let first = self.choices.below(FIRST_LISTS.into()) as ListId;
        let second = (first + 1 + self.choices.below(u64::from(FIRST_LISTS) - 1) as ListId) % FIRST_LISTS;
        let element = lock(&self.world).history.new_element();
        let change = format!(
            "update lists set elements = elements || {element}::bigint where id in ({first}, {second})"
        );
        self.change(txn, &[first, second], element, &change)
    }

    /// Writes the whole list, which the transaction knows.
    fn rewrite(&mut self, txn: &mut Running) -> Result<(), Failure> {
        let list = self.choices.below(FIRST_LISTS.into()) as ListId;
        let Some(others) = txn.state.known[list as usize] else { return Ok(()) };
        let (text, element) = {
            let history = &mut lock(&self.world).history;
            let element = history.new_element();
            let known = &history.orders[list as usize][..others];
            let all = known.iter().chain(&txn.state.own[list as usize]).chain([&element]);
            (all.map(u64::to_string).collect::<Vec<_>>().join(","), element)
        };
        let change = format!("update lists set elements = '{{{text}}}' where id = {list}");
        self.change(txn, &[list], element, &change)
    }

    /// Appends an element to some lists by one statement, and perhaps looks at them.
    fn change(
        &mut self,
        txn: &mut Running,
        lists: &[ListId],
        element: Element,
        change: &str,
    ) -> Result<(), Failure> {
        let returning = self.choices.one_in(2);
        let sql = if returning { format!("{change} returning id, elements") } else { change.to_owned() };
        let (rows, span) = self.statement(txn, &sql)?;
        for &list in lists {
            let after = txn.state.known[list as usize];
            txn.state.own[list as usize].push(element);
            txn.state.appends += 1;
            lock(&self.world).history.append(txn.id, Append { list, element, after });
        }
        if returning {
            self.note_latest(txn, span, lists, &rows);
        }
        Ok(())
    }

    fn lock_one(&mut self, txn: &mut Running) -> Result<(), Failure> {
        let list = self.choices.below(FIRST_LISTS.into()) as ListId;
        let strength = *self.choices.of(&["update", "no key update", "share"]);
        let sql = format!("select id, elements from lists where id = {list} for {strength}");
        let (rows, span) = self.statement(txn, &sql)?;
        self.note_latest(txn, span, &[list], &rows);
        Ok(())
    }

    /// Notes lists whose rows the transaction holds: they show the latest state, for each row at a moment of its own, which under
    /// REPEATABLE READ must be that of the snapshot.
    fn note_latest(&mut self, txn: &mut Running, span: Span, lists: &[ListId], rows: &[String]) {
        let history = &mut lock(&self.world).history;
        for &list in lists {
            let latest = history.snapshot(span);
            let rows: Vec<String> = rows.iter().filter(|row| row_of(row).0 == list).cloned().collect();
            let seen = see(history, latest, &[list], &rows, &txn.state.own);
            if let Some(snapshot) = txn.snapshot {
                history.of(txn.id).looked.push(list);
                see(history, snapshot, &[list], &rows, &txn.state.own);
            }
            txn.state.known[list as usize] = seen.first().map(|seen| seen.1);
        }
    }

    // Savepoints

    fn savepoint(&mut self, txn: &mut Running) -> Result<(), Failure> {
        self.db.run(&format!("savepoint s{}", txn.savepoints.len()))?;
        txn.savepoints.push(txn.state.clone());
        Ok(())
    }

    /// Goes back to some savepoint, which stays.
    fn rollback_to(&mut self, txn: &mut Running) -> Result<(), Failure> {
        let Some(at) = self.any_savepoint(txn) else { return Ok(()) };
        self.db.run(&format!("rollback to s{at}"))?;
        txn.savepoints.truncate(at + 1);
        txn.state = txn.savepoints[at].clone();
        lock(&self.world).history.abandon(txn.id, txn.state.appends);
        Ok(())
    }

    fn release(&mut self, txn: &mut Running) -> Result<(), Failure> {
        let Some(at) = self.any_savepoint(txn) else { return Ok(()) };
        self.db.run(&format!("release s{at}"))?;
        txn.savepoints.truncate(at);
        Ok(())
    }

    fn any_savepoint(&mut self, txn: &Running) -> Option<usize> {
        let depth = txn.savepoints.len() as u64;
        (depth > 0).then(|| self.choices.below(depth) as usize)
    }

    /// An error that the transaction makes itself, and mends.
    fn fail(&mut self, txn: &mut Running) -> Result<(), Failure> {
        if txn.savepoints.is_empty() {
            return Ok(());
        }
        match self.statement(txn, "select 1 / 0") {
            Err(Failure::Error { code, .. }) if code == "22012" => self.rollback_to(txn),
            other => other.map(|rows| panic!("1 / 0 is {rows:?}")),
        }
    }

    // Ends

    fn end(&mut self, txn: &mut Running) -> Result<(), Failure> {
        let exported = txn.exported.is_some();
        self.withdraw_export(txn);
        let set_fate = |fate: fn(u64) -> Fate| {
            let history = &mut lock(&self.world).history;
            let now = history.now();
            history.of(txn.id).fate = fate(now);
        };
        let room = lock(&self.world).history.prepared().len() < MOST_PREPARED;
        if self.choices.one_in(8) {
            self.db.run("rollback")?;
            set_fate(|_| Fate::RolledBack);
        } else if room && !exported && self.choices.one_in(4) {
            set_fate(|_| Fate::Preparing);
            self.db.run(&format!("prepare transaction 'list {}'", txn.id.0))?;
            set_fate(|_| Fate::Prepared);
        } else {
            set_fate(Fate::Committing);
            self.db.run("commit")?;
            lock(&self.world).history.committed(txn.id);
        }
        Ok(())
    }

    /// Ends a transaction that somebody prepared; false if there is none.
    pub fn resolve(&mut self) -> Result<bool, Lost> {
        let commits = !self.choices.one_in(3);
        let id = {
            let history = &mut lock(&self.world).history;
            let prepared = history.prepared();
            if prepared.is_empty() {
                return Ok(false);
            }
            let id = *self.choices.of(&prepared);
            let now = history.now();
            history.of(id).fate =
                if commits { Fate::CommittingPrepared(now) } else { Fate::RollingBackPrepared };
            id
        };
        let command = if commits { "commit" } else { "rollback" };
        self.control(&format!("{command} prepared 'list {}'", id.0))?;
        let history = &mut lock(&self.world).history;
        if commits {
            history.committed(id);
        } else {
            history.of(id).fate = Fate::RolledBack;
        }
        Ok(true)
    }

    /// Waits some time, or none.
    pub fn rest(&mut self) {
        let time = if self.choices.one_in(3) { self.choices.below(3000) } else { 0 };
        self.db.pause(Duration::from_micros(time));
    }

    // Looking from outside

    /// The server is back, and nobody else is connected.
    pub fn recover(&mut self) -> Result<(), Lost> {
        lock(&self.world).exports.clear();
        let rows = self.look("select gid from pg_prepared_xacts")?.0;
        let id = |gid: &String| gid.strip_prefix("list ").and_then(|n| n.parse().ok()).map(TxnId);
        let listed: Vec<TxnId> = rows.iter().map(|gid| id(gid).expect("a name that was given")).collect();
        self.observe()?;
        lock(&self.world).history.recovered(&listed);
        Ok(())
    }

    /// Reads all lists.
    pub fn observe(&mut self) -> Result<(), Lost> {
        let (rows, span) = self.look(LOOK)?;
        let history = &mut lock(&self.world).history;
        let snapshot = history.snapshot(span);
        see(history, snapshot, &ALL, &rows, &Own::default());
        Ok(())
    }

    /// Reads all lists twice at a standby, in a transaction with one snapshot, which is not older than `behind`. None if the replay was in the way.
    pub fn observe_standby(&mut self, behind: Option<SnapshotId>) -> Result<Option<SnapshotId>, Lost> {
        let mut looks = Vec::new();
        for sql in ["begin isolation level repeatable read", LOOK, LOOK, "commit"] {
            match self.db.run(sql) {
                Ok(rows) if sql == LOOK => looks.push(rows),
                Ok(_) => {}
                Err(failure) if is_conflict(&failure) => {
                    // Ends the transaction, if the error has not.
                    let _ = self.db.run("rollback");
                    return Ok(None);
                }
                Err(Failure::Lost) => return Err(Lost),
                Err(failure) => panic!("{sql}: {failure:?}"),
            }
            self.rest();
        }
        let history = &mut lock(&self.world).history;
        let snapshot = history.snapshot_of_standby(behind);
        for rows in &looks {
            see(history, snapshot, &ALL, rows, &Own::default());
        }
        Ok(Some(snapshot))
    }

    fn look(&mut self, sql: &str) -> Result<(Vec<String>, Span), Lost> {
        let sent = lock(&self.world).history.now();
        let rows = match self.db.run(sql) {
            Ok(rows) => rows,
            Err(Failure::Lost) => return Err(Lost),
            Err(failure) => panic!("{sql}: {failure:?}"),
        };
        Ok((rows, Span { sent, answered: lock(&self.world).history.now() }))
    }

    /// All transactions have ended: reads the lists a last time and checks everything.
    pub fn check(&mut self) -> Result<Report, String> {
        self.observe().map_err(|Lost| "the server is gone")?;
        let world = lock(&self.world);
        serial::check(&world.history)?;
        order::check(&world.history)
    }
}

/// All lists.
const ALL: [ListId; LISTS as usize] = {
    let mut all = [0; LISTS as usize];
    let mut n = 0;
    while n < all.len() {
        all[n] = n as ListId;
        n += 1;
    }
    all
};

fn is_conflict(failure: &Failure) -> bool {
    matches!(failure, Failure::Error { code, .. } if CONFLICTS.contains(&code.as_str()))
}

/// Notes what `asked` lists have in a snapshot; the number of others' elements in each.
fn see(
    history: &mut History,
    snapshot: SnapshotId,
    asked: &[ListId],
    rows: &[String],
    own: &Own,
) -> Vec<(ListId, usize)> {
    let mut seen = Vec::with_capacity(asked.len());
    let mut missing: Vec<ListId> = asked.to_vec();
    for row in rows {
        let (list, elements) = row_of(row);
        if !missing.contains(&list) {
            history.violations.push(format!("one snapshot shows two rows of list {list}"));
        }
        missing.retain(|other| *other != list);
        seen.push((list, history.saw(snapshot, list, &elements, &own[list as usize])));
    }
    for list in missing {
        seen.push((list, history.saw_none(snapshot, list, &own[list as usize])));
    }
    seen
}

/// `list|{elements}`.
fn row_of(row: &str) -> (ListId, Vec<Element>) {
    let (list, elements) = row.split_once('|').expect("two columns");
    let elements = elements.trim_matches(['{', '}']).split(',').filter(|e| !e.is_empty());
    let number = |text: &str| text.parse().expect("a number");
    (list.parse().expect("a number"), elements.map(number).collect())
}
