//! # What
//! NOTIFY between sessions: who listens to which channel, and what has been notified but not delivered.
//!
//! # Layout
//! * [`Exchange`]: what the sessions of a server share. A [`Batch`] is what one transaction notifies.
//! * In commit order, the notifications of a batch are put into the inbox of each session that listens to their channels.
//!
//! # Invariants
//! 1. Batches are delivered in the order in which their transactions commit: a batch gets its place before anybody can see
//!    its transaction or is let go who waited for it.
//! 2. None is delivered before its transaction can be seen: delivery stops at the first that may not be visible yet. Nothing waits
//!    between place and release.
//! 3. Who began to listen when a transaction was not visible gets what that notifies: listeners are looked up at delivery.
//!
//! # PostgreSQL counterpart and differences
//! `async.c`. The queue is in memory, so that `max_notify_queue_pages` bounds memory. Commits that notify do not wait for each
//! other, and only sessions that listen to the channel are woken.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::{Oid, SqlResult, sql_err};
use parking_lot::Mutex;
use runtime::Interrupts;
use rustc_hash::FxHashMap;

/// `max_notify_queue_pages` counts these.
const PAGE: u64 = 8192;
/// What an entry takes in PostgreSQL's queue besides its two strings.
const ENTRY_HEADER: u64 = 16;

/// One notification, as all who get it share it.
#[derive(Debug)]
pub struct Notification {
    /// Channel.
    pub channel: Box<str>,
    /// What was told; empty if nothing.
    pub payload: Box<str>,
    /// The session that notified.
    pub pid: i32,
    _space: Space,
}

/// Room in the queue; given back when the last who was to get the notification has it.
#[derive(Debug)]
struct Space {
    bytes: u64,
    used: Arc<AtomicU64>,
}

impl Drop for Space {
    fn drop(&mut self) {
        // Relaxed, as all of `used`: a count, which orders nothing.
        self.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// What the sessions of a server share of LISTEN and NOTIFY.
#[derive(Debug)]
pub struct Exchange {
    state: Mutex<State>,
    /// Bytes of what is not delivered.
    used: Arc<AtomicU64>,
    limit: u64,
    next_listener: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    /// Batches of transactions that commit, in their order.
    order: VecDeque<Placed>,
    /// Number of the first of them.
    first: u64,
    listeners: FxHashMap<u64, Listener>,
    /// Who listens to the channels of each database. Names are the clients' choice, so that they are not hashed fast.
    channels: FxHashMap<Oid, HashMap<Box<str>, BTreeSet<u64>>>,
}

#[derive(Debug)]
struct Placed {
    batch: Batch,
    visible: bool,
}

#[derive(Debug)]
struct Listener {
    pid: i32,
    database: Oid,
    interrupts: Interrupts,
    /// In the order in which it began to listen to them.
    channels: Vec<Box<str>>,
    inbox: VecDeque<Arc<Notification>>,
}

/// What one transaction notifies.
#[derive(Debug)]
pub struct Batch {
    database: Oid,
    notifications: Vec<Arc<Notification>>,
}

impl Exchange {
    /// Without listeners. `pages`: room for notifications that are not delivered yet.
    pub fn new(pages: i32) -> Exchange {
        Exchange {
            state: Mutex::default(),
            used: Arc::default(),
            limit: u64::from(pages.unsigned_abs()) * PAGE,
            next_listener: AtomicU64::new(1),
        }
    }

    /// Takes room for what a transaction is about to notify: channels and payloads.
    pub fn reserve<'a>(
        &self,
        database: Oid,
        pid: i32,
        what: impl Iterator<Item = (&'a str, &'a str)>,
    ) -> SqlResult<Batch> {
        let mut notifications = Vec::with_capacity(what.size_hint().0);
        for (channel, payload) in what {
            let bytes = ENTRY_HEADER + (channel.len() + payload.len() + 2) as u64;
            let before = self.used.fetch_add(bytes, Ordering::Relaxed);
            let space = Space { bytes, used: self.used.clone() };
            if before + bytes > self.limit {
                return Err(sql_err!(PROGRAM_LIMIT_EXCEEDED, "too many notifications in the NOTIFY queue"));
            }
            notifications.push(Arc::new(Notification {
                channel: channel.into(),
                payload: payload.into(),
                pid,
                _space: space,
            }));
        }
        Ok(Batch { database, notifications })
    }

    /// Gives a batch its place: its transaction is about to become visible, and nothing can prevent that.
    pub fn place(self: &Arc<Self>, batch: Batch) -> Place {
        let mut state = self.state.lock();
        state.order.push_back(Placed { batch, visible: false });
        let number = state.first + state.order.len() as u64 - 1;
        Place { exchange: self.clone(), number }
    }

    /// Delivers what may be.
    fn deliver(&self, visible: u64) {
        let mut delivered = Vec::new();
        let mut woken = Vec::new();
        let mut state = self.state.lock();
        let state = &mut *state;
        if let Some(placed) = state.order.get_mut((visible - state.first) as usize) {
            placed.visible = true;
        }
        while let Some(Placed { batch, .. }) = state.order.pop_front_if(|placed| placed.visible) {
            state.first += 1;
            if let Some(channels) = state.channels.get(&batch.database) {
                for notification in &batch.notifications {
                    for id in channels.get(&notification.channel).into_iter().flatten() {
                        let Some(listener) = state.listeners.get_mut(id) else { continue };
                        if listener.inbox.is_empty() {
                            woken.push(listener.interrupts.clone());
                        }
                        listener.inbox.push_back(notification.clone());
                    }
                }
            }
            delivered.push(batch);
        }
        // Under the lock: who empties an inbox later also takes the news later. Waking a session takes leaf locks only.
        woken.iter().for_each(Interrupts::set_news);
    }

    /// How full the queue is, 0 to 1.
    pub fn usage(&self) -> f64 {
        let pages = self.used.load(Ordering::Relaxed) / PAGE;
        pages as f64 / (self.limit / PAGE) as f64
    }

    /// The session that has most to fetch.
    pub fn slowest(&self) -> Option<i32> {
        let state = self.state.lock();
        let slow = state.listeners.values().filter(|listener| !listener.inbox.is_empty());
        slow.max_by_key(|listener| listener.inbox.len()).map(|listener| listener.pid)
    }
}

/// The place of a batch. Dropping it says that its transaction is visible.
#[derive(Debug)]
pub struct Place {
    exchange: Arc<Exchange>,
    number: u64,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.exchange.deliver(self.number);
    }
}

/// A session among those that may listen; dropping it ends that.
#[derive(Debug)]
pub struct Subscription {
    exchange: Arc<Exchange>,
    id: u64,
    pid: i32,
    database: Oid,
    interrupts: Interrupts,
}

impl Subscription {
    /// A session that does not listen yet.
    pub fn new(exchange: &Arc<Exchange>, pid: i32, database: Oid, interrupts: Interrupts) -> Subscription {
        let id = exchange.next_listener.fetch_add(1, Ordering::Relaxed);
        Subscription { exchange: exchange.clone(), id, pid, database, interrupts }
    }

    /// What it takes part in.
    pub fn exchange(&self) -> &Arc<Exchange> {
        &self.exchange
    }

    /// Listens to a channel from now on.
    pub fn listen(&self, channel: &str) {
        let mut state = self.exchange.state.lock();
        let state = &mut *state;
        let channels = state.channels.entry(self.database).or_default();
        if !channels.entry(channel.into()).or_default().insert(self.id) {
            return;
        }
        let listener = state.listeners.entry(self.id).or_insert_with(|| Listener {
            pid: self.pid,
            database: self.database,
            interrupts: self.interrupts.clone(),
            channels: Vec::new(),
            inbox: VecDeque::new(),
        });
        listener.channels.push(channel.into());
    }

    /// Does not listen to the channel any more; what came from it is dropped.
    pub fn unlisten(&self, channel: &str) {
        let mut state = self.exchange.state.lock();
        let Some(listener) = state.listeners.get_mut(&self.id) else { return };
        listener.channels.retain(|own| **own != *channel);
        listener.inbox.retain(|notification| *notification.channel != *channel);
        if listener.channels.is_empty() {
            state.listeners.remove(&self.id);
        }
        state.leave(self.database, channel, self.id);
    }

    /// Listens to nothing any more.
    pub fn unlisten_all(&self) {
        let mut state = self.exchange.state.lock();
        let Some(listener) = state.listeners.remove(&self.id) else { return };
        for channel in &listener.channels {
            state.leave(listener.database, channel, self.id);
        }
    }

    /// The channels that it listens to.
    pub fn channels(&self) -> Vec<Box<str>> {
        let state = self.exchange.state.lock();
        state.listeners.get(&self.id).map(|listener| listener.channels.clone()).unwrap_or_default()
    }

    /// What has come.
    pub fn take(&self) -> VecDeque<Arc<Notification>> {
        let mut state = self.exchange.state.lock();
        state
            .listeners
            .get_mut(&self.id)
            .map(|listener| std::mem::take(&mut listener.inbox))
            .unwrap_or_default()
    }
}

impl State {
    fn leave(&mut self, database: Oid, channel: &str, id: u64) {
        let Some(channels) = self.channels.get_mut(&database) else { return };
        if let Some(ids) = channels.get_mut(channel) {
            ids.remove(&id);
            if ids.is_empty() {
                channels.remove(channel);
            }
        }
        if channels.is_empty() {
            self.channels.remove(&database);
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.unlisten_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATABASE: Oid = Oid(5);

    fn exchange() -> Arc<Exchange> {
        Arc::new(Exchange::new(64))
    }

    fn listener(exchange: &Arc<Exchange>, channel: &str) -> Subscription {
        let subscription = Subscription::new(exchange, 7, DATABASE, Interrupts::new());
        subscription.listen(channel);
        subscription
    }

    fn batch(exchange: &Exchange, channel: &str, payload: &str) -> Batch {
        exchange.reserve(DATABASE, 3, [(channel, payload)].into_iter()).unwrap()
    }

    fn payloads(subscription: &Subscription) -> Vec<String> {
        subscription.take().iter().map(|notification| notification.payload.to_string()).collect()
    }

    #[test]
    fn batches_come_in_the_order_of_their_places_and_not_before_they_are_visible() {
        let exchange = exchange();
        let subscription = listener(&exchange, "c");
        let first = exchange.place(batch(&exchange, "c", "first"));
        let second = exchange.place(batch(&exchange, "c", "second"));
        drop(second);
        assert!(payloads(&subscription).is_empty(), "the first is not visible yet");
        assert!(!subscription.interrupts.take_news());
        drop(first);
        assert!(subscription.interrupts.take_news());
        assert_eq!(payloads(&subscription), ["first", "second"]);
    }

    #[test]
    fn who_begins_to_listen_before_a_transaction_is_visible_hears_of_it() {
        let exchange = exchange();
        let place = exchange.place(batch(&exchange, "c", "x"));
        let subscription = listener(&exchange, "c");
        drop(place);
        assert_eq!(payloads(&subscription), ["x"]);
    }

    #[test]
    fn channels_are_of_their_database_and_end_with_their_session() {
        let exchange = exchange();
        let here = listener(&exchange, "c");
        let elsewhere = Subscription::new(&exchange, 8, Oid(6), Interrupts::new());
        elsewhere.listen("c");
        drop(exchange.place(batch(&exchange, "c", "x")));
        drop(exchange.place(batch(&exchange, "d", "y")));
        assert_eq!(payloads(&here), ["x"]);
        assert!(payloads(&elsewhere).is_empty());
        drop((here, elsewhere));
        let state = exchange.state.lock();
        assert!(state.listeners.is_empty() && state.channels.is_empty());
    }

    #[test]
    fn what_came_from_a_channel_goes_with_it() {
        let exchange = exchange();
        let subscription = listener(&exchange, "c");
        subscription.listen("d");
        drop(exchange.place(batch(&exchange, "c", "x")));
        drop(exchange.place(batch(&exchange, "d", "y")));
        subscription.unlisten("c");
        assert_eq!(subscription.channels(), [Box::from("d")]);
        assert_eq!(payloads(&subscription), ["y"]);
    }

    #[test]
    fn room_is_bounded_and_comes_back_when_all_have_it() {
        let exchange = exchange();
        let subscription = listener(&exchange, "c");
        let large = "x".repeat(7000);
        while exchange.usage() < 0.9 {
            drop(exchange.place(batch(&exchange, "c", &large)));
        }
        assert_eq!(exchange.slowest(), Some(7));
        let many = std::iter::repeat_n(("c", large.as_str()), 50);
        let error = exchange.reserve(DATABASE, 3, many).unwrap_err();
        assert_eq!(error.to_string(), "ERROR:  too many notifications in the NOTIFY queue");
        assert!(exchange.usage() < 1.0, "what was refused takes no room");
        drop(subscription.take());
        assert_eq!(exchange.usage(), 0.0);
    }
}
