//! Money goes from account to account while the machine crashes.
//!
//! What must hold in every snapshot and after every crash: the sum of all balances; each balance is the first one plus what `history` says
//! about the account, so no transfer is half there; every transfer that a session saw committed is in `history`; none is that nobody
//! tried to commit; each index agrees with its heap.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use base::{SqlError, SqlResult, SqlState, Xid};
use engine::{CheckpointCause, Engine, EngineOptions, RecoveryOptions};
use history::Choices;
use runtime::sim::{DiskImage, Simulation, crash_here};
use runtime::{sleep, wait};
use txn::clog::XIDS_PER_PAGE;

use crate::agreement::verify;
use crate::cluster::{Server, initialized_disk, small_options};
use crate::crash::Crash;
use crate::crew::Crew;
use crate::seeds;
use crate::session::Client;
use crate::two_phase;

/// Accounts, numbered from 0.
const ACCOUNTS: u64 = 24;
/// What each begins with.
const FIRST_BALANCE: i64 = 1000;
/// Crashes of one seed.
const CRASHES: u64 = 3;
/// Of one seed that crashes in recovery, if `STAMPEDE_SIM_CRASHES` does not say how many.
const CRASHES_IN_RECOVERY: u64 = 5;

/// So many transfers do all that transfers may do.
const MANY: usize = 40;

const SETUP: &[&str] = &[
    "create table accounts (id int primary key, balance int not null, filler text) with (fillfactor = 70)",
    "create index accounts_balance on accounts (balance)",
    "create index accounts_by_range on accounts using brin (balance) with (pages_per_range = 1)",
    "create index accounts_by_hash on accounts using hash (balance)",
    "create index accounts_by_parts on accounts using gin ((array[balance % 7, balance])) with (gin_pending_list_limit = 64)",
    "create index accounts_by_place on accounts using spgist (point(id, balance))",
    "create index accounts_by_box on accounts using gist (point(id, balance))",
    "create table history (id int primary key, source int, target int, amount int)",
];

/// What one bank in three has too. Its sessions do less in their time: VACUUM and whoever enters a row read much of a graph, for which the buffers are too few.
const VECTORS: &[&str] = &[
    "create extension vector",
    "create index accounts_by_graph on accounts using hnsw ((array[id, balance]::vector(2)) vector_l2_ops) with (m = 4, ef_construction = 8)",
    "create index accounts_by_list on accounts using ivfflat ((array[id, balance]::vector(2)) vector_l2_ops) with (lists = 3)",
];

/// One transfer: source, target, amount.
pub type Transfer = (u64, u64, i64);

/// What the sessions know. Lives outside the machine, as clients do.
#[derive(Default)]
pub struct Ledger {
    /// COMMIT was sent: it may have happened.
    pub attempted: BTreeMap<u64, Transfer>,
    /// COMMIT was answered, and it was to be durable.
    pub acknowledged: BTreeMap<u64, Transfer>,
    /// Numbers given to transfers.
    last: u64,
    /// What the machine's lives have shown, for the reader of a failure and for the test that the test does something.
    snapshots_checked: u64,
    conflicts: u64,
    oldest_kept: Xid,
    /// Transfers in two phases.
    pub phases: two_phase::Phases,
}

pub type SharedLedger = Rc<RefCell<Ledger>>;

/// What a seed decides about a machine.
#[derive(Clone, Debug)]
struct Plan {
    sessions: u64,
    options: EngineOptions,
    with_balance_index: bool,
    with_vectors: bool,
}

impl Plan {
    fn new(seed: u64, choices: &mut Choices) -> Plan {
        let with_vectors = Choices::new(seed, 3).one_in(3);
        let mut options = small_options();
        options.shared_buffers = *choices.of(&[96, 128, 256]);
        options.wal.buffers = *choices.of(&[32 << 10, 64 << 10, 256 << 10]);
        options.wal.max_size = *choices.of(&[512 << 10, 1 << 20, 4 << 20]);
        options.bgwriter_delay = Duration::from_millis(*choices.of(&[10, 50, 200]));
        options.wal_writer_delay = Duration::from_millis(*choices.of(&[1, 20, 200]));
        options.checkpoint_timeout = Duration::from_millis(*choices.of(&[100, 400, 2000]));
        options.recovery =
            RecoveryOptions { open_early: choices.one_in(2), workers: choices.between(1, 3) as usize };
        let (sessions, with_balance_index) = (choices.between(8, 24), choices.one_in(2));
        Plan { sessions, options, with_balance_index, with_vectors }
    }
}

fn image() -> &'static DiskImage {
    static IMAGE: OnceLock<DiskImage> = OnceLock::new();
    IMAGE.get_or_init(|| initialized_disk(&small_options(), SETUP))
}

/// Where the machine crashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Course {
    /// Anywhere; what is there is checked after each.
    Anywhere,
    /// While it recovers, and while sessions write before pages are redone. What is there is checked now and then, for a check waits for all
    /// pages.
    InRecovery,
}

impl Course {
    fn crashes(self) -> u64 {
        match self {
            Course::Anywhere => CRASHES,
            Course::InRecovery => seeds::number("STAMPEDE_SIM_CRASHES").unwrap_or(CRASHES_IN_RECOVERY),
        }
    }
}

fn simulate(seed: u64, course: Course) {
    let mut choices = Choices::new(seed, 1);
    let mut plan = Plan::new(seed, &mut choices);
    if course == Course::InRecovery {
        plan.options.recovery.open_early = true;
        // Checkpoints would leave little to be redone.
        plan.options.checkpoint_timeout = Duration::from_secs(60);
    }
    let ledger = SharedLedger::default();
    let simulation = Simulation::with_disk(seed, image());
    if choices.one_in(2) {
        simulation.interleave(choices.between(2, 20));
    }
    let first = plan.clone();
    simulation.run(move || open_accounts(&first)).expect("the machine does not crash yet");
    for life in 0..course.crashes() {
        let mut choices = Choices::new(seed, 100 + life);
        let crash = match course {
            Course::Anywhere => Crash::choose(&mut choices),
            Course::InRecovery => Crash::choose_in_recovery(&mut choices),
        };
        let checks = course == Course::Anywhere || choices.one_in(8);
        eprintln!(
            "seed {seed}, life {life}: {} sessions, vectors {}, {crash:?}",
            plan.sessions, plan.with_vectors
        );
        let armed = crash.arm(&simulation);
        let (plan, ledger) = (plan.clone(), ledger.clone());
        let longest = crash.longest();
        let ended = simulation.run(move || {
            let server = Server::open(plan.options.clone());
            if checks {
                check(&server, &ledger);
            }
            let _background = server.start_background();
            let _tellers = start_tellers(&server, &plan, &ledger, &mut choices);
            wait(sleep(longest));
            crash_here()
        });
        let _: runtime::Crashed = ended.map(|never: std::convert::Infallible| never).expect_err("it crashes");
        drop(armed);
    }
    let (last, shared) = (plan.clone(), ledger.clone());
    let mut choices = Choices::new(seed, 99);
    simulation.run(move || last_life(&last, &shared, &mut choices)).expect("nothing crashes the machine now");
    // The process ends; what it wrote stays.
    simulation.kill();
    let shared = ledger.clone();
    simulation
        .run(move || check(&Server::open(plan.options), &shared))
        .expect("nothing crashes the machine now");
    let ledger = ledger.borrow();
    eprintln!(
        "seed {seed}: {} transfers acknowledged of {} tried, {} snapshots checked, {} conflicts; \
         {} prepared ones ended, {} found after an opening; oldest xid {}",
        ledger.acknowledged.len(),
        ledger.attempted.len(),
        ledger.snapshots_checked,
        ledger.conflicts,
        ledger.phases.ended,
        ledger.phases.recovered,
        ledger.oldest_kept
    );
    assert!(ledger.acknowledged.len() > 5, "the sessions got little done");
    // One transfer in four is in two phases, unless too many are prepared already.
    let did_little = course == Course::InRecovery || ledger.attempted.len() < MANY;
    assert!(did_little || ledger.phases.ended > 0, "nothing was done in two phases");
}

fn open_accounts(plan: &Plan) {
    let server = Server::open(plan.options.clone());
    let client = server.connect(1);
    for id in 0..ACCOUNTS {
        let row = format!("insert into accounts values ({id}, {FIRST_BALANCE}, '')");
        client.run(&row).expect("an account is opened");
    }
    if !plan.with_balance_index {
        client.run("drop index accounts_balance").expect("the index is dropped");
    }
    for sql in if plan.with_vectors { VECTORS } else { &[] } {
        client.run(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    client.close();
}

/// The machine stays up, sessions are asked to end, and the server shuts down as it should.
fn last_life(plan: &Plan, ledger: &SharedLedger, choices: &mut Choices) {
    let server = Server::open(plan.options.clone());
    check(&server, ledger);
    let background = server.start_background();
    let tellers = start_tellers(&server, plan, ledger, choices);
    wait(sleep(Duration::from_millis(60)));
    tellers.stop();
    background.stop();
    check(&server, ledger);
    server.engine.shutdown().expect("the server shuts down");
}

fn start_tellers(server: &Server, plan: &Plan, ledger: &SharedLedger, choices: &mut Choices) -> Crew {
    let crew = Crew::default();
    for n in 0..plan.sessions {
        let mut teller = Teller {
            client: server.connect(10 + n as i32),
            choices: Choices::new(choices.below(u64::MAX), n),
            ledger: ledger.clone(),
            durable: true,
            extended: n % 3 == 0,
        };
        crew.start("teller", move |crew| teller.work(&|| crew.told_to_stop()));
    }
    let mut builder = Builder { client: server.connect(5), choices: choices.clone() };
    crew.start("builder", move |crew| builder.work(&|| crew.told_to_stop()));
    let mut resolver =
        two_phase::Resolver { client: server.connect(7), choices: choices.clone(), ledger: ledger.clone() };
    crew.start("resolver", move |crew| resolver.work(&|| crew.told_to_stop(), &|| crew.alone()));
    let (vacuumer, mut pauses) = (server.connect(6), choices.clone());
    crew.start("vacuumer", move |crew| {
        while !crew.told_to_stop() {
            wait(sleep(Duration::from_millis(pauses.between(1, 200))));
            let sql =
                *pauses.of(&["vacuum accounts", "vacuum history", "analyze accounts", "vacuum pg_class"]);
            vacuumer.run(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
    });
    let (client, engine) = (server.connect(8), server.engine.clone());
    let mut ager = Ager { client, engine, choices: choices.clone(), ledger: ledger.clone() };
    crew.start("ager", move |crew| ager.work(&|| crew.told_to_stop()));
    let (engine, mut choices) = (server.engine.clone(), choices.clone());
    crew.start("requested checkpoints", move |crew| {
        while !crew.told_to_stop() {
            wait(sleep(Duration::from_millis(choices.between(1, 400))));
            engine.checkpoint(CheckpointCause::Requested).expect("a checkpoint is taken");
        }
    });
    crew
}

/// A session that lets xids go by, and takes the old ones out of all rows, so that their status goes.
struct Ager {
    client: Client,
    engine: Arc<Engine>,
    choices: Choices,
    ledger: SharedLedger,
}

impl Ager {
    fn work(&mut self, stop: &dyn Fn() -> bool) {
        let run = |sql: &str| self.client.run(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        run("set synchronous_commit = off");
        while !stop() {
            for _ in 0..self.choices.between(1, 48) {
                self.skip_page();
                run("select pg_current_xact_id()");
            }
            let sql = *self.choices.of(&["vacuum (freeze)", "vacuum (freeze) accounts", "vacuum"]);
            run(sql);
            self.ledger.borrow_mut().oldest_kept = self.engine.txns().oldest_ids().xid;
            wait(sleep(Duration::from_millis(self.choices.below(50))));
        }
    }

    /// All xids of the page of the commit log that is in use are given out, to nobody.
    fn skip_page(&self) {
        let next = self.engine.txns().next_xid().0;
        if !next.is_multiple_of(XIDS_PER_PAGE) {
            self.engine.txns().observe_xid(Xid(next.next_multiple_of(XIDS_PER_PAGE) - 1));
        }
    }
}

/// A session that transfers and looks.
struct Teller {
    client: Client,
    choices: Choices,
    ledger: SharedLedger,
    durable: bool,
    extended: bool,
}

impl Teller {
    fn work(&mut self, stop: &dyn Fn() -> bool) {
        if self.choices.one_in(6) {
            self.durable = false;
            self.client.run("set synchronous_commit = off").expect("it is a setting");
        }
        while !stop() {
            let result = match self.choices.below(8) {
                0 => self.look(),
                1 => self.duplicate(),
                _ => self.transfer(),
            };
            if let Err(error) = result {
                self.conflict(&error);
            }
            if self.choices.one_in(4) {
                wait(sleep(Duration::from_micros(self.choices.below(3000))));
            }
        }
    }

    fn run(&self, sql: &str) -> SqlResult<Vec<String>> {
        if self.extended { self.client.run_extended(sql) } else { self.client.run(sql) }
    }

    /// Begins at the given isolation level half of the times.
    fn begin(&mut self) -> SqlResult<()> {
        let repeatable = self.choices.one_in(2);
        self.run(if repeatable { "begin isolation level repeatable read" } else { "begin" }).map(drop)
    }

    /// Only conflicts between sessions may refuse what they do.
    fn conflict(&mut self, error: &SqlError) {
        let expected = [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED];
        assert!(expected.contains(&error.code()), "{} {error}", error.code());
        self.ledger.borrow_mut().conflicts += 1;
        self.run("rollback").expect("a failed block is rolled back");
    }

    fn transfer(&mut self) -> SqlResult<()> {
        let source = self.choices.below(ACCOUNTS);
        let target = (source + self.choices.between(1, ACCOUNTS - 1)) % ACCOUNTS;
        let amount = self.choices.between(1, 50) as i64;
        let id = self.new_id();
        self.begin()?;
        if self.choices.one_in(3) {
            // Others hold the same rows, and change them meanwhile.
            let strength = if self.choices.one_in(3) { "share" } else { "key share" };
            self.run(&format!("select 1 from accounts where id in ({source}, {target}) for {strength}"))?;
        }
        if self.choices.one_in(4) {
            self.change_ones_mind(source)?;
        }
        let subtransaction = self.choices.one_in(4);
        if subtransaction {
            self.run("savepoint whole")?;
        }
        let filler = "x".repeat(self.choices.below(300) as usize);
        self.run(&format!(
            "update accounts set balance = balance - {amount}, filler = '{filler}' where id = {source}"
        ))?;
        self.run(&format!("update accounts set balance = balance + {amount} where id = {target}"))?;
        self.run(&format!("insert into history values ({id}, {source}, {target}, {amount})"))?;
        if subtransaction && self.choices.one_in(2) {
            self.run("release whole")?;
        }
        if self.choices.one_in(8) {
            return self.run("rollback").map(drop);
        }
        if self.choices.one_in(4) && self.ledger.borrow().phases.has_room() {
            self.ledger.borrow_mut().phases.try_to_prepare(id, (source, target, amount));
            self.run(&format!("prepare transaction 'transfer {id}'"))?;
            self.ledger.borrow_mut().phases.prepared(id);
            return Ok(());
        }
        self.ledger.borrow_mut().attempted.insert(id, (source, target, amount));
        self.run("commit")?;
        if self.durable {
            self.ledger.borrow_mut().acknowledged.insert(id, (source, target, amount));
        }
        Ok(())
    }

    fn new_id(&self) -> u64 {
        let mut ledger = self.ledger.borrow_mut();
        ledger.last += 1;
        ledger.last
    }

    /// Something in a subtransaction that is rolled back.
    fn change_ones_mind(&mut self, account: u64) -> SqlResult<()> {
        self.run("savepoint mind")?;
        self.run(&format!("update accounts set balance = balance - 1000000 where id = {account}"))?;
        self.run(&format!("insert into history values (-{}, 0, 0, 0)", self.new_id()))?;
        self.run("rollback to mind").map(drop)
    }

    /// A transfer that is there cannot come a second time.
    fn duplicate(&mut self) -> SqlResult<()> {
        let known = self.ledger.borrow().acknowledged.len() as u64;
        if known == 0 {
            return Ok(());
        }
        let nth = self.choices.below(known) as usize;
        let id = self.ledger.borrow().acknowledged.keys().nth(nth).copied().expect("there are more");
        self.begin()?;
        self.run("update accounts set balance = balance + 1 where id = 0")?;
        let refused = self.run(&format!("insert into history values ({id}, 0, 0, 0)"));
        let error = refused.expect_err("the key is there already");
        if error.code() != SqlState::UNIQUE_VIOLATION {
            return Err(error);
        }
        // A failed block is rolled back by its COMMIT.
        self.run("commit").map(drop)
    }

    /// One snapshot: the sum, and one account's balance against its history.
    fn look(&mut self) -> SqlResult<()> {
        let account = self.choices.below(ACCOUNTS);
        self.run("begin isolation level repeatable read")?;
        let sum = self.run("select sum(balance), count(*) from accounts")?;
        assert_eq!(sum, [format!("{}|{ACCOUNTS}", FIRST_BALANCE * ACCOUNTS as i64)], "the sum of balances");
        if self.choices.one_in(3) {
            wait(sleep(Duration::from_micros(self.choices.below(20_000))));
        }
        let balance = self.run(&format!("select balance from accounts where id = {account}"))?;
        let moved = self.run(&format!(
            "select coalesce(sum(case when target = {account} then amount else -amount end), 0) + {FIRST_BALANCE} \
             from history where source = {account} or target = {account}"
        ))?;
        assert_eq!(balance, moved, "balance of account {account} and its history, in one snapshot");
        let again = self.run("select sum(balance), count(*) from accounts")?;
        assert_eq!(sum, again, "a snapshot does not change");
        self.ledger.borrow_mut().snapshots_checked += 1;
        self.run("commit").map(drop)
    }
}

/// A session that makes and drops tables, so that the catalogs change while the machine crashes.
struct Builder {
    client: Client,
    choices: Choices,
}

impl Builder {
    fn work(&mut self, stop: &dyn Fn() -> bool) {
        let run = |sql: &str| self.client.run(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        run("drop table if exists scratch");
        while !stop() {
            run("begin");
            run("create table scratch (id int primary key, words text)");
            let rows = self.choices.between(1, 40);
            for id in 0..rows {
                run(&format!(
                    "insert into scratch values ({id}, '{}')",
                    "w".repeat(self.choices.below(200) as usize)
                ));
            }
            let end = if self.choices.one_in(3) { "rollback" } else { "commit" };
            run(end);
            if end == "commit" {
                assert_eq!(run("select count(*) from scratch"), [rows.to_string()]);
                run("create index on scratch (words)");
                if self.choices.one_in(2) {
                    run("truncate scratch");
                }
                run("drop table scratch");
            }
            wait(sleep(Duration::from_millis(self.choices.below(50))));
        }
    }
}

/// After an opening, with nobody else connected.
fn check(server: &Server, ledger: &SharedLedger) {
    let client = server.connect(2);
    let run = |sql: &str| client.run(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    two_phase::check(&client, ledger);
    let mut balances = [FIRST_BALANCE; ACCOUNTS as usize];
    let ledger = ledger.borrow();
    let mut found = 0;
    for row in run("select id, source, target, amount from history") {
        let mut numbers = row.split('|').map(|n| n.parse::<i64>().expect("a number"));
        let mut next = || numbers.next().expect("four columns");
        let (id, source, target, amount) = (next() as u64, next() as u64, next() as u64, next());
        assert_eq!(
            ledger.attempted.get(&id),
            Some(&(source, target, amount)),
            "transfer {id} is in history, but nobody committed it so"
        );
        found += u64::from(ledger.acknowledged.contains_key(&id));
        balances[source as usize] -= amount;
        balances[target as usize] += amount;
    }
    assert_eq!(found, ledger.acknowledged.len() as u64, "acknowledged transfers that are in history");
    let expected: Vec<String> = balances.iter().enumerate().map(|(id, b)| format!("{id}|{b}")).collect();
    assert_eq!(run("select id, balance from accounts order by id"), expected, "balances, by history");
    client.close();
    assert!(verify(server) > 100, "the catalogs have many tables and indexes");
}

#[test]
fn money_is_neither_lost_nor_made_0() {
    seeds::for_each(0, 2, |seed| simulate(seed, Course::Anywhere));
}

#[test]
fn money_is_neither_lost_nor_made_1() {
    seeds::for_each(1, 2, |seed| simulate(seed, Course::Anywhere));
}

#[test]
fn crashes_in_recovery_lose_and_make_nothing_0() {
    seeds::for_each(0, 2, |seed| simulate(seed, Course::InRecovery));
}

#[test]
fn crashes_in_recovery_lose_and_make_nothing_1() {
    seeds::for_each(1, 2, |seed| simulate(seed, Course::InRecovery));
}
