//! What · The beginnings of serializable transactions, and safe snapshots: read-only transactions that can be part of no anomaly.
//!
//! A read-only transaction R is in a cycle only as R → P → W, with W committed before R's snapshot and P concurrent with R. So its snapshot is *safe*
//! once every writer that ran when it was taken has ended and none of them is in conflict with somebody who committed before the snapshot. Then, or at once if
//! no serializable writer runs, R takes no part any more: it locks nothing and is never cancelled. A DEFERRABLE one waits for that before its first
//! query, and takes another snapshot if this one turns out to be unsafe.
//!
//! PostgreSQL counterpart · `GetSafeSnapshot`, `possibleUnsafeConflicts`.

use std::sync::Arc;

use base::Xid;

use super::{Member, Seq, Who};
use crate::TxnError;
use crate::lock::LockError;
use crate::snapshot::Snapshot;
use crate::system::TxnSystem;
use crate::transaction::Characteristics;

/// A transaction that begins, and what it sees. Without a member it is safe.
pub(crate) type Beginning = (Snapshot, Option<Arc<Member>>);

impl TxnSystem {
    /// A serializable transaction begins with the present snapshot.
    pub(crate) fn begin_serializable(
        &self,
        who: Who,
        xid: Option<Xid>,
        modes: Characteristics,
    ) -> Result<Beginning, TxnError> {
        if modes.read_only && modes.deferrable {
            return Ok((self.safe_snapshot(who)?, None));
        }
        Ok(self.begin_now(who, xid, modes.read_only))
    }

    fn begin_now(&self, who: Who, xid: Option<Xid>, read_only: bool) -> Beginning {
        let mut graph = self.serializable().graph.lock();
        // Within the mutex: the snapshot sees all commits up to the number that is noted, and perhaps more.
        let snapshot = self.snapshot();
        let member = graph.begin(who, xid, read_only, None);
        drop(graph);
        runtime::interleaving_point();
        (snapshot, member)
    }

    /// A serializable transaction goes on with a snapshot that another one took when `seen` was the last number, and still has.
    pub(crate) fn begin_with(
        &self,
        who: Who,
        xid: Option<Xid>,
        read_only: bool,
        seen: Seq,
    ) -> Option<Arc<Member>> {
        self.serializable().graph.lock().begin(who, xid, read_only, Some(seen))
    }

    fn safe_snapshot(&self, who: Who) -> Result<Snapshot, TxnError> {
        let all = self.serializable();
        loop {
            let (snapshot, member) = self.begin_now(who, None, true);
            let Some(member) = member else { return Ok(snapshot) };
            all.graph.lock().set_waits(member.id);
            let waited = member.wait_until_settled();
            if waited.is_ok() && member.is_safe() {
                return Ok(snapshot);
            }
            all.end(&member, false);
            waited.map_err(LockError::Interrupted)?;
        }
    }
}
