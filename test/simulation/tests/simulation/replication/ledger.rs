//! Clients that write numbers, and what they were told of them.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

use history::Choices;
use runtime::sim::machines;
use runtime::{sleep, wait};

use super::node::{Node, wait_until};
use crate::session::Client;

/// Tables of the numbers, and of their sums for each client.
pub const SETUP: &[&str] = &[
    "create table numbers (n bigint, client int)",
    "create index on numbers (n)",
    "create table sums (client int primary key, total bigint not null) with (fillfactor = 50)",
    "insert into sums select c, 0 from generate_series(0, 9) as c",
];

/// What clients know. It is outside of all machines.
#[derive(Clone, Default)]
pub struct Ledger(Rc<RefCell<Known>>);

#[derive(Default)]
struct Known {
    last: u64,
    attempted: BTreeSet<u64>,
    acknowledged: BTreeSet<u64>,
    /// Clients are to stop.
    told: bool,
    /// Those that have not stopped.
    working: u64,
}

/// Statements beside those of clients.
const UPKEEP: &[&str] = &["vacuum sums", "vacuum (freeze) numbers", "checkpoint", "select pg_switch_wal()"];

impl Ledger {
    /// Starts clients of a server, on its machine: they end with it.
    pub fn start_clients(&self, node: &Node, level: &'static str, choices: &mut Choices, clients: u64) {
        {
            // Those there were have ended with their server.
            let mut known = self.0.borrow_mut();
            (known.told, known.working) = (false, clients + 1);
        }
        let (ledger, on, upkeep) = (self.clone(), node.clone(), Choices::new(choices.below(u64::MAX), 99));
        machines::spawn_on(node.number(), "upkeep", move || ledger.keep_up(&on, upkeep));
        for number in 0..clients {
            let (ledger, node) = (self.clone(), node.clone());
            let choices = Choices::new(choices.below(u64::MAX), number);
            machines::spawn_on(node.number(), "client", move || {
                let client = node.connect(10 + number as i32).expect("the server is up");
                client.run(&format!("set synchronous_commit = {level}")).expect("it is a setting");
                ledger.work(&client, number, choices);
                client.close();
                ledger.0.borrow_mut().working -= 1;
            });
        }
    }

    fn keep_up(&self, node: &Node, mut choices: Choices) {
        let client = node.connect(9).expect("the server is up");
        while !self.0.borrow().told {
            wait(sleep(Duration::from_millis(choices.between(1, 100))));
            let sql = choices.of(UPKEEP);
            client.run(sql).unwrap_or_else(|error| panic!("{sql}: {} {error}", error.code()));
        }
        client.close();
        self.0.borrow_mut().working -= 1;
    }

    /// Has clients end, and waits until they have.
    pub fn stop_clients(&self) {
        self.0.borrow_mut().told = true;
        wait_until("the end of clients", || self.0.borrow().working == 0);
    }

    /// How many numbers were acknowledged.
    pub fn acknowledged(&self) -> usize {
        self.0.borrow().acknowledged.len()
    }

    fn work(&self, client: &Client, number: u64, mut choices: Choices) {
        while !self.0.borrow().told {
            let n = {
                let mut known = self.0.borrow_mut();
                known.last += 1;
                let n = known.last;
                known.attempted.insert(n);
                n
            };
            let sql = format!(
                "insert into numbers values ({n}, {number}); \
                 update sums set total = total + {n} where client = {number}"
            );
            match client.run(&sql) {
                Ok(_) => drop(self.0.borrow_mut().acknowledged.insert(n)),
                Err(error) => panic!("{sql}: {} {error}", error.code()),
            }
            wait(sleep(Duration::from_micros(choices.below(4000))));
        }
    }

    /// A server has every number that was acknowledged, each once, none that nobody wrote, and the sums are theirs.
    pub fn check(&self, node: &Node) {
        let client = node.connect(3).expect("the server is up");
        let rows = client.run("select n from numbers order by n").expect("the table is read");
        let rows: Vec<u64> = rows.iter().map(|n| n.parse().expect("a number")).collect();
        let set: BTreeSet<u64> = rows.iter().copied().collect();
        assert_eq!(rows.len(), set.len(), "numbers are there twice: {rows:?}");
        let known = self.0.borrow();
        let missing: Vec<_> = known.acknowledged.difference(&set).collect();
        assert!(missing.is_empty(), "acknowledged, and lost: {missing:?} of {} numbers", set.len());
        let invented: Vec<_> = set.difference(&known.attempted).collect();
        assert!(invented.is_empty(), "nobody wrote {invented:?}");
        let wrong = "select s.client, s.total, coalesce(sum(n), 0) from sums s left join numbers n using (client) \
                     group by 1, 2 having s.total <> coalesce(sum(n), 0)";
        assert_eq!(client.show(wrong), "", "sums differ");
        client.close();
    }
}

/// All that a server has, in one line.
pub fn contents(node: &Node) -> String {
    node.show(
        "select count(*), sum(n), md5(string_agg(n || ':' || client, ',' order by n)), \
         (select md5(string_agg(client || ':' || total, ',' order by client)) from sums) from numbers",
    )
}
