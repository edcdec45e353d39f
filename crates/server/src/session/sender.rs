//! Sends the answers of a worker's sessions together.
//!
//! # What
//! A session that has carried out its messages leaves its answer here ([`gather`]) and goes on to wait for its client. The worker's sender, a
//! task, has its turn behind all sessions that were ready by then; it sends what they left in one go. So answers do not leave one by
//! one, with work between them: a client of many sessions is woken once and not for each, the system's code for sending stays in the
//! processor's cache, and a session is not woken a second time for its answer. The only session that a worker serves has its answers sent at once.
//!
//! # Invariants
//! 1. Answers of one session leave in the order in which it gave them: whatever else it sends, it sends behind [`send_if_waiting`].
//! 2. A socket is not closed before [`take_leave`]: no answer for it is here then.
//! 3. What a socket does not take at once comes back to its session, which is woken ([`take_late`]).

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::future::poll_fn;
use std::io;
use std::os::fd::RawFd;
use std::task::{Poll, Waker};

use runtime::spawn_local;

/// Answers that are sent together, at most.
const ANSWERS: usize = 256;
/// A longer answer goes its own way: to copy it costs more than is saved.
const LONG: usize = 4 << 10;

/// An answer that waits; its bytes end at `end` of all that wait.
struct Answer {
    socket: RawFd,
    end: usize,
}

/// What became of an answer that could not be sent whole.
#[derive(Debug)]
pub enum Late {
    /// These bytes are still to go.
    Bytes(Vec<u8>),
    /// The socket has failed.
    Failed,
}

/// Number of a time of sending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Round(u64);

#[derive(Default)]
struct Sender {
    /// The next time of sending; from 1, so that the default is past.
    round: Cell<u64>,
    bytes: RefCell<Vec<u8>>,
    answers: RefCell<Vec<Answer>>,
    late: RefCell<HashMap<RawFd, Late>>,
    /// The tasks of sessions that have given answers.
    sessions: RefCell<HashMap<RawFd, Waker>>,
    task: RefCell<Option<Waker>>,
}

thread_local! {
    /// Sockets that something is late for: each session asks whenever it is woken.
    static LATE: Cell<usize> = const { Cell::new(0) };
    static SENDER: Sender = Sender { round: Cell::new(1), ..Sender::default() };
}

/// Before the first answer for a socket: whom to wake when one is late.
pub fn introduce(socket: RawFd, session: &Waker) {
    SENDER.with(|sender| sender.sessions.borrow_mut().insert(socket, session.clone()));
}

/// The socket is about to be closed: sends what waits, forgets what is late.
pub fn take_leave(socket: RawFd, last: Round) {
    SENDER.with(|sender| {
        if sender.is_waiting(last) {
            sender.send_all();
        }
        sender.take_late(socket);
        sender.sessions.borrow_mut().remove(&socket);
    });
}

/// Takes an answer to be sent to `socket` with the others. `None` if it is too long: it has not been taken.
pub fn gather(socket: RawFd, answer: &[u8]) -> Option<Round> {
    if answer.len() > LONG {
        return None;
    }
    SENDER.with(|sender| {
        if sender.answers.borrow().len() == ANSWERS {
            sender.send_all();
        }
        let end = {
            let mut bytes = sender.bytes.borrow_mut();
            bytes.extend_from_slice(answer);
            bytes.len()
        };
        let mut answers = sender.answers.borrow_mut();
        answers.push(Answer { socket, end });
        let (first, round) = (answers.len() == 1, Round(sender.round.get()));
        drop(answers);
        match first {
            // Nobody has anything to send with it.
            true if runtime::is_alone() => sender.send_all(),
            true => sender.wake(),
            false => {}
        }
        Some(round)
    })
}

/// Sends all answers that wait, if what was gathered for this round is among them.
pub fn send_if_waiting(last: Round) {
    SENDER.with(|sender| {
        if sender.is_waiting(last) {
            sender.send_all();
        }
    });
}

/// What is late for this socket; it is the caller's from now on.
#[inline]
pub fn take_late(socket: RawFd) -> Option<Late> {
    if LATE.get() == 0 {
        return None;
    }
    SENDER.with(|sender| sender.take_late(socket))
}

impl Sender {
    fn is_waiting(&self, round: Round) -> bool {
        self.round.get() == round.0
    }

    fn take_late(&self, socket: RawFd) -> Option<Late> {
        let mut late = self.late.borrow_mut();
        let taken = late.remove(&socket);
        LATE.set(late.len());
        taken
    }

    /// Has the sender's task run behind all that are ready now.
    fn wake(&self) {
        if let Some(task) = &*self.task.borrow() {
            return task.wake_by_ref();
        }
        spawn_local(poll_fn(|cx| {
            SENDER.with(|sender| {
                sender.send_all();
                let mut task = sender.task.borrow_mut();
                if !task.as_ref().is_some_and(|known| known.will_wake(cx.waker())) {
                    *task = Some(cx.waker().clone());
                }
            });
            Poll::<()>::Pending
        }));
    }

    fn send_all(&self) {
        let (mut bytes, mut answers) = (self.bytes.borrow_mut(), self.answers.borrow_mut());
        let mut start = 0;
        for Answer { socket, end } in answers.drain(..) {
            self.send(socket, &bytes[start..end]);
            start = end;
        }
        bytes.clear();
        self.round.set(self.round.get() + 1);
    }

    fn send(&self, socket: RawFd, answer: &[u8]) {
        let mut late = self.late.borrow_mut();
        let behind = if late.is_empty() { None } else { late.get_mut(&socket) };
        match behind {
            Some(Late::Bytes(bytes)) => bytes.extend_from_slice(answer),
            Some(Late::Failed) => {}
            None => {
                let rest = match send(socket, answer) {
                    Ok(sent) if sent == answer.len() => return,
                    Ok(sent) => Late::Bytes(answer[sent..].to_vec()),
                    Err(_) => Late::Failed,
                };
                late.insert(socket, rest);
                LATE.set(late.len());
                if let Some(session) = self.sessions.borrow().get(&socket) {
                    session.wake_by_ref();
                }
            }
        }
    }
}

/// Sends what the socket takes without waiting: the number of bytes.
fn send(socket: RawFd, bytes: &[u8]) -> io::Result<usize> {
    loop {
        // SAFETY: a pointer to `bytes.len()` readable bytes; a descriptor that is not a socket gives an error.
        let sent = unsafe {
            libc::send(socket, bytes.as_ptr().cast(), bytes.len(), libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL)
        };
        if let Ok(sent) = usize::try_from(sent) {
            return Ok(sent);
        }
        let error = io::Error::last_os_error();
        match error.kind() {
            io::ErrorKind::Interrupted => {}
            io::ErrorKind::WouldBlock => return Ok(0),
            _ => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    use super::*;

    #[derive(Default)]
    struct Woken(AtomicU32);

    impl std::task::Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Relaxed);
        }
    }

    fn pair() -> (UnixStream, UnixStream) {
        let (server, client) = UnixStream::pair().unwrap();
        client.set_nonblocking(true).unwrap();
        (server, client)
    }

    /// What the client has got.
    fn received(mut client: &UnixStream) -> Vec<u8> {
        let mut bytes = Vec::new();
        let end = client.read_to_end(&mut bytes);
        assert!(end.is_ok() || end.is_err_and(|e| e.kind() == io::ErrorKind::WouldBlock));
        bytes
    }

    fn is_waiting(round: Round) -> bool {
        SENDER.with(|sender| sender.is_waiting(round))
    }

    fn send_all() {
        SENDER.with(Sender::send_all);
    }

    fn give(server: &UnixStream, answer: &[u8]) -> Round {
        gather(server.as_raw_fd(), answer).unwrap()
    }

    #[test]
    fn answers_leave_together_and_in_order() {
        runtime::spawn::run(|| {
            let ((a, at_a), (b, at_b)) = (pair(), pair());
            let round = give(&a, b"1");
            give(&b, b"2");
            assert_eq!(give(&a, b"3"), round);
            assert!(is_waiting(round) && !is_waiting(Round::default()));
            assert_eq!(received(&at_a), b"");
            runtime::yield_now();
            assert!(!is_waiting(round), "the sender has had its turn");
            assert_eq!((received(&at_a), received(&at_b)), (b"13".to_vec(), b"2".to_vec()));
            assert_eq!(gather(a.as_raw_fd(), &[0; LONG + 1]), None);
            assert!(take_late(a.as_raw_fd()).is_none());
        });
    }

    #[test]
    fn a_full_round_leaves_at_once() {
        runtime::spawn::run(|| {
            let (server, client) = pair();
            let first = give(&server, b"x");
            for _ in 0..ANSWERS {
                give(&server, b"x");
            }
            assert!(!is_waiting(first));
            assert_eq!(received(&client).len(), ANSWERS);
            send_all();
        });
    }

    #[test]
    fn what_a_full_socket_does_not_take_comes_back() {
        runtime::spawn::run(|| {
            let (server, client) = pair();
            let woken = Arc::new(Woken::default());
            introduce(server.as_raw_fd(), &woken.clone().into());
            let mut given = Vec::new();
            for number in 0..2 * ANSWERS as u32 {
                let answer = number.to_be_bytes().repeat(LONG / 4);
                give(&server, &answer);
                given.extend(answer);
            }
            send_all();
            let Some(Late::Bytes(late)) = take_late(server.as_raw_fd()) else {
                panic!("two megabytes do not fit into a socket")
            };
            let mut got = received(&client);
            got.extend(late);
            assert!(got == given);
            assert_eq!(woken.0.load(Relaxed), 1, "of one that is late already nothing new is told");
            take_leave(server.as_raw_fd(), Round::default());
            assert_eq!(Arc::strong_count(&woken), 1);
        });
    }

    #[test]
    fn a_client_that_has_gone_is_noticed() {
        runtime::spawn::run(|| {
            let (server, client) = pair();
            drop(client);
            give(&server, b"1");
            give(&server, b"2");
            send_all();
            assert!(matches!(take_late(server.as_raw_fd()), Some(Late::Failed)));
        });
    }
}
