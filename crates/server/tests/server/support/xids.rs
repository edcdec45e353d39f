//! Transaction ids that are used up without transactions.

use base::Xid;
use engine::{Engine, EngineOptions};
use txn::clog::XIDS_PER_PAGE;
use txn::{SessionId, Transaction};

use super::Server;

/// Gives out the xids before `to`, while the server is down, to nobody.
pub fn skip_xids(server: &Server, to: u64) {
    let engine = Engine::open(&server.data(), EngineOptions::default()).unwrap();
    let txns = engine.txns();
    while txns.next_xid().0 < to {
        // One transaction a page makes all pages.
        txns.observe_xid(Xid((txns.next_xid().0 + XIDS_PER_PAGE).min(to) - 1));
        let mut t = Transaction::new(txns.clone(), SessionId(1));
        t.start(Default::default());
        t.xid().unwrap();
        t.abort();
    }
    engine.shutdown().unwrap();
}
