//! LISTEN, UNLISTEN and NOTIFY within a transaction: they take effect when it commits.

use std::cell::{OnceCell, RefCell};
use std::collections::{HashSet, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

use base::{SqlError, SqlResult, SqlState, SubxactId, sql_err};
use txn::{End, Phase};

use super::Session;
use crate::exchange::{Batch, Notification, Place, Subscription};

/// Channel names are identifiers.
const LONGEST_CHANNEL: usize = 63;
/// What fits on a page of PostgreSQL's queue.
const LONGEST_PAYLOAD: usize = 7999;
/// From here on it is time to say that the queue fills up.
const WARN_AT: f64 = 0.5;
/// Microseconds between two such warnings of a session.
const WARN_EVERY: i64 = 5_000_000;

/// A change to what the session listens to.
#[derive(Debug)]
enum Change {
    Listen(Box<str>),
    Unlisten(Box<str>),
    UnlistenAll,
}

/// What the running transaction will have told and changed.
#[derive(Debug, Default)]
struct Pending {
    /// Channels and payloads, each pair once.
    notifications: Vec<Rc<(Box<str>, Box<str>)>>,
    known: HashSet<Rc<(Box<str>, Box<str>)>>,
    changes: Vec<Change>,
    /// The subtransaction that these lists are noted to be cut back for.
    noted: Option<SubxactId>,
}

impl Pending {
    fn is_empty(&self) -> bool {
        self.notifications.is_empty() && self.changes.is_empty()
    }

    /// Forgets what came after there were so many.
    fn truncate(&mut self, notifications: usize, changes: usize) {
        for notification in self.notifications.drain(notifications.min(self.notifications.len())..) {
            self.known.remove(&notification);
        }
        self.changes.truncate(changes);
        self.noted = None;
    }
}

/// A session's part in LISTEN and NOTIFY.
pub(crate) struct Notifying {
    subscription: Rc<Subscription>,
    /// Made by the session's first LISTEN or NOTIFY, which most sessions never come to.
    pending: OnceCell<Rc<RefCell<Pending>>>,
    /// When it was last said that the queue fills up.
    warned: std::cell::Cell<i64>,
}

impl Notifying {
    pub(crate) fn new(subscription: Subscription) -> Notifying {
        Notifying {
            subscription: Rc::new(subscription),
            pending: OnceCell::new(),
            warned: std::cell::Cell::new(i64::MIN),
        }
    }

    fn pending(&self) -> &Rc<RefCell<Pending>> {
        self.pending.get_or_init(Rc::default)
    }

    /// What is to take effect when the transaction commits, if there is something.
    fn take_pending(&self) -> Option<Pending> {
        let pending = self.pending.get()?.take();
        (!pending.is_empty()).then_some(pending)
    }

    fn has_changes(&self) -> bool {
        self.pending.get().is_some_and(|pending| !pending.borrow().changes.is_empty())
    }

    fn has_pending(&self) -> bool {
        self.pending.get().is_some_and(|pending| !pending.borrow().is_empty())
    }
}

impl Session {
    /// LISTEN
    pub fn listen(&self, channel: &str) {
        self.change_listening(Change::Listen(channel.into()));
    }

    /// UNLISTEN of a channel or, without one, of all.
    pub fn unlisten(&self, channel: Option<&str>) {
        if !self.notifying.has_changes() && self.listening_channels().is_empty() {
            return;
        }
        self.change_listening(channel.map_or(Change::UnlistenAll, |name| Change::Unlisten(name.into())));
    }

    fn change_listening(&self, change: Change) {
        self.note_level();
        self.notifying.pending().borrow_mut().changes.push(change);
    }

    /// NOTIFY
    pub fn notify(&self, channel: &str, payload: &str) -> SqlResult<()> {
        if channel.is_empty() {
            return Err(sql_err!(INVALID_PARAMETER_VALUE, "channel name cannot be empty"));
        }
        if channel.len() > LONGEST_CHANNEL {
            return Err(sql_err!(INVALID_PARAMETER_VALUE, "channel name too long"));
        }
        if payload.len() > LONGEST_PAYLOAD {
            return Err(sql_err!(INVALID_PARAMETER_VALUE, "payload string too long"));
        }
        self.note_level();
        let notification: Rc<(Box<str>, Box<str>)> = Rc::new((channel.into(), payload.into()));
        let mut pending = self.notifying.pending().borrow_mut();
        if pending.known.insert(notification.clone()) {
            pending.notifications.push(notification);
        }
        Ok(())
    }

    /// Sees to it that a rollback of the current subtransaction takes back what it adds from now on.
    fn note_level(&self) {
        let mut txn = self.txn.borrow_mut();
        let mut pending = self.notifying.pending().borrow_mut();
        if pending.noted.replace(txn.subxact()) == Some(txn.subxact()) {
            return;
        }
        let (notifications, changes) = (pending.notifications.len(), pending.changes.len());
        let pending = self.notifying.pending().clone();
        txn.on_end(
            Phase::BeforeLocks,
            Box::new(move |end| {
                if end == End::Abort {
                    pending.borrow_mut().truncate(notifications, changes);
                }
            }),
        );
    }

    /// The channels that the session listens to.
    pub(crate) fn listening_channels(&self) -> Vec<Box<str>> {
        self.notifying.subscription.channels()
    }

    /// How full the queue of notifications is, 0 to 1.
    pub(crate) fn notification_usage(&self) -> f64 {
        self.notifying.subscription.exchange().usage()
    }

    /// What has come for the client; to be asked while no transaction runs.
    pub fn take_notifications(&self) -> VecDeque<Arc<Notification>> {
        self.notifying.subscription.take()
    }

    /// PREPARE TRANSACTION is not for transactions that listen or notify.
    pub(super) fn check_nothing_notified(&self) -> SqlResult<()> {
        if !self.notifying.has_pending() {
            return Ok(());
        }
        Err(sql_err!(
            FEATURE_NOT_SUPPORTED,
            "cannot PREPARE a transaction that has executed LISTEN, UNLISTEN, or NOTIFY"
        ))
    }

    /// Just before the transaction commits: lets its notifications and changes take effect with it.
    pub(super) fn notify_at_commit(&self) -> SqlResult<()> {
        let Some(pending) = self.notifying.take_pending() else { return Ok(()) };
        // Listeners do not know what a notification rests on, and this transaction may be one that waits for no disk.
        runtime::rest::settle()?;
        let batch = match pending.notifications.is_empty() {
            true => None,
            false => Some(self.reserve(&pending)?),
        };
        let place: Rc<RefCell<Option<Place>>> = Rc::default();
        let mut txn = self.txn.borrow_mut();
        if let Some(batch) = batch {
            let (exchange, place) = (self.notifying.subscription.exchange().clone(), place.clone());
            let action = move |_| *place.borrow_mut() = Some(exchange.place(batch));
            txn.on_end(Phase::BeforeVisible, Box::new(action));
        }
        let subscription = self.notifying.subscription.clone();
        txn.on_end(
            Phase::BeforeLocks,
            Box::new(move |_| {
                for change in &pending.changes {
                    match change {
                        Change::Listen(channel) => subscription.listen(channel),
                        Change::Unlisten(channel) => subscription.unlisten(channel),
                        Change::UnlistenAll => subscription.unlisten_all(),
                    }
                }
                drop(place.take());
            }),
        );
        Ok(())
    }

    fn reserve(&self, pending: &Pending) -> SqlResult<Batch> {
        let exchange = self.notifying.subscription.exchange();
        let what = pending.notifications.iter().map(|pair| (&*pair.0, &*pair.1));
        let batch = exchange.reserve(self.catalog.database(), self.info.pid, what)?;
        let usage = exchange.usage();
        let now = runtime::wall_clock_micros();
        if usage >= WARN_AT && now.saturating_sub(self.notifying.warned.get()) >= WARN_EVERY {
            self.notifying.warned.set(now);
            let message = format!("NOTIFY queue is {:.0}% full", usage * 100.0);
            let mut warning = SqlError::with_severity(base::Severity::Warning, SqlState::WARNING, message);
            if let Some(pid) = exchange.slowest() {
                warning = warning
                    .detail(format!(
                        "The server process with PID {pid} is among those with the oldest transactions."
                    ))
                    .hint(
                        "The NOTIFY queue cannot be emptied until that process ends its current transaction.",
                    );
            }
            self.notice(warning);
        }
        Ok(batch)
    }
}
