//! Every table and index of a database, by the verifier that users have.

use catalog::POSTGRES;
use verify::{self, Damage, Watcher};

use crate::cluster::Server;

#[derive(Default)]
struct Found(Vec<Damage>);

impl Watcher for Found {
    fn begin(&mut self, _: &str, _: u64) {}
    fn checked(&mut self, _: u64) {}
    fn damage(&mut self, damage: Damage) {
        self.0.push(damage);
    }
}

/// Checks all tables and B-trees: pages, order, that all rows have their entries and all entries their rows, that unique keys are. Nothing may write
/// meanwhile. Returns the number of tables and indexes.
pub fn verify(server: &Server) -> usize {
    let mut found = Found::default();
    server.engine.txns().verify_status(&mut |error| panic!("{error:?}"));
    let checked = verify::database(&server.instance, POSTGRES, &mut found).expect("the catalogs are read");
    assert!(found.0.is_empty(), "{:#?}", found.0);
    checked
}
