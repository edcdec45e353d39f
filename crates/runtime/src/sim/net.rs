//! Connections between simulated machines, as TCP has them.
//!
//! # What
//! Who [listens](listen) has a name, by which others [connect]. Bytes of a connection arrive in order, each piece after a random delay of its link. A link
//! may be cut in one direction or both: what was sent waits until it heals. A connection may be broken, which both ends are told, or lost with a machine that
//! loses power, of which its peer may hear nothing.
//!
//! # Invariants
//! 1. Nothing is lost, doubled or reordered in a connection that is not broken.
//! 2. A cut link holds back everything, also the end of a connection.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::machines::Machine;
use super::{SimCore, trace};
use crate::env;
use crate::time::{Instant, Sleep, now, sleep, sleep_until};

/// Bytes under way in one direction of a connection at most.
const ROOM: usize = 256 << 10;
/// How long who connects waits for an answer.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long bytes are under way at most, unless the link has another time.
const DELAY: Duration = Duration::from_millis(1);

/// One direction between two machines.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// Nothing arrives.
    pub cut: bool,
    /// How long bytes are under way at most.
    pub delay: Duration,
}

impl Default for Link {
    fn default() -> Link {
        Link { cut: false, delay: DELAY }
    }
}

/// What connects the machines.
#[derive(Default)]
pub(super) struct Network {
    listeners: BTreeMap<String, Port>,
    /// From one machine to another.
    links: BTreeMap<(Machine, Machine), Link>,
    /// Both directions of all connections that there were; those that are over are forgotten as others come.
    pipes: Vec<Arc<Mutex<Pipe>>>,
}

/// Where a machine listens.
struct Port {
    machine: Machine,
    queue: Arc<Mutex<Arrivals>>,
}

/// Connections that nobody has accepted yet.
#[derive(Default)]
struct Arrivals {
    streams: VecDeque<SimStream>,
    waker: Option<Waker>,
}

/// One direction of a connection.
struct Pipe {
    from: Machine,
    to: Machine,
    pieces: VecDeque<(Instant, Vec<u8>)>,
    bytes: usize,
    /// The last piece arrives then: none overtakes it.
    last: Instant,
    /// No more is sent.
    ended: bool,
    /// The connection is no more: both ends fail.
    broken: bool,
    /// An end is gone without a word.
    silent: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

impl Pipe {
    fn new(from: Machine, to: Machine) -> Arc<Mutex<Pipe>> {
        Arc::new(Mutex::new(Pipe {
            from,
            to,
            pieces: VecDeque::new(),
            bytes: 0,
            last: now(),
            ended: false,
            broken: false,
            silent: false,
            reader: None,
            writer: None,
        }))
    }

    fn wakers(&mut self) -> [Option<Waker>; 2] {
        [self.reader.take(), self.writer.take()]
    }
}

fn wake(wakers: impl IntoIterator<Item = Option<Waker>>) {
    wakers.into_iter().flatten().for_each(Waker::wake);
}

impl SimCore {
    fn link(&self, from: Machine, to: Machine) -> Link {
        self.network.borrow().links.get(&(from, to)).copied().unwrap_or_default()
    }

    /// All connections of a machine are lost.
    pub(super) fn break_connections(&self, machine: Machine, silently: bool) {
        let mut network = self.network.borrow_mut();
        network.listeners.retain(|_, port| port.machine != machine);
        let pipes: Vec<_> = network.pipes.clone();
        drop(network);
        for pipe in pipes {
            let mut pipe = pipe.lock();
            if pipe.from == machine || pipe.to == machine {
                match silently {
                    true => pipe.silent = true,
                    false => pipe.broken = true,
                }
                let wakers = pipe.wakers();
                drop(pipe);
                wake(wakers);
            }
        }
    }
}

/// What one direction between two machines is like from now on.
pub fn set_link(from: Machine, to: Machine, link: Link) {
    let sim = env::sim().expect("a simulation runs on this thread");
    let pipes = {
        let mut network = sim.network.borrow_mut();
        network.links.insert((from, to), link);
        network.pipes.clone()
    };
    for pipe in pipes {
        let wakers = pipe.lock().wakers();
        wake(wakers);
    }
}

/// Breaks all connections between two machines.
pub fn break_between(one: Machine, other: Machine) {
    let sim = env::sim().expect("a simulation runs on this thread");
    let pipes = sim.network.borrow().pipes.clone();
    for pipe in pipes {
        let mut pipe = pipe.lock();
        if [(one, other), (other, one)].contains(&(pipe.from, pipe.to)) {
            pipe.broken = true;
            let wakers = pipe.wakers();
            drop(pipe);
            wake(wakers);
        }
    }
}

/// Who accepts connections. Its name is free again once its machine has crashed, or it is dropped.
#[derive(Debug)]
pub struct Listener {
    name: String,
    queue: Arc<Mutex<Arrivals>>,
}

impl std::fmt::Debug for Arrivals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Arrivals").field("streams", &self.streams.len()).finish_non_exhaustive()
    }
}

/// Listens under a name on the machine of the caller.
///
/// # Panics
/// If somebody listens under this name.
pub fn listen(name: &str) -> Listener {
    let sim = env::sim().expect("a simulation runs on this thread");
    let queue = Arc::<Mutex<Arrivals>>::default();
    let port = Port { machine: sim.machine(), queue: queue.clone() };
    let before = sim.network.borrow_mut().listeners.insert(name.to_owned(), port);
    assert!(before.is_none(), "somebody listens as {name}");
    Listener { name: name.to_owned(), queue }
}

impl Listener {
    /// The next connection.
    pub async fn accept(&self) -> SimStream {
        std::future::poll_fn(|cx| {
            let mut queue = self.queue.lock();
            match queue.streams.pop_front() {
                Some(stream) => Poll::Ready(stream),
                None => {
                    queue.waker = Some(cx.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let Some(sim) = env::sim() else { return };
        let mut network = sim.network.borrow_mut();
        if network.listeners.get(&self.name).is_some_and(|port| Arc::ptr_eq(&port.queue, &self.queue)) {
            network.listeners.remove(&self.name);
        }
    }
}

/// Whether the network is simulated, so that [`connect`] is to be asked and not the system.
pub fn is_simulated() -> bool {
    env::kind() == env::Kind::Sim
}

/// Connects the machine of the caller to who listens under a name.
pub async fn connect(name: &str) -> io::Result<SimStream> {
    let Some(sim) = env::sim() else { return Err(ErrorKind::Unsupported.into()) };
    let here = sim.machine();
    let find = || {
        let network = sim.network.borrow();
        network.listeners.get(name).map(|port| (port.machine, port.queue.clone()))
    };
    let delay = sim.random_below(DELAY.as_nanos() as u64);
    sleep(Duration::from_nanos(delay)).await;
    let Some((there, _)) = find() else { return Err(ErrorKind::ConnectionRefused.into()) };
    if sim.link(here, there).cut || sim.link(there, here).cut {
        sleep(PATIENCE).await;
        return Err(ErrorKind::TimedOut.into());
    }
    let Some((_, queue)) = find() else { return Err(ErrorKind::ConnectionRefused.into()) };
    let (out, back) = (Pipe::new(here, there), Pipe::new(there, here));
    {
        let mut network = sim.network.borrow_mut();
        network.pipes.retain(|pipe| Arc::strong_count(pipe) > 1);
        network.pipes.extend([out.clone(), back.clone()]);
    }
    let stream = |incoming: &Arc<Mutex<Pipe>>, outgoing: &Arc<Mutex<Pipe>>| SimStream {
        incoming: incoming.clone(),
        outgoing: outgoing.clone(),
        timer: None,
    };
    let mut arrivals = queue.lock();
    arrivals.streams.push_back(stream(&out, &back));
    let waker = arrivals.waker.take();
    drop(arrivals);
    wake([waker]);
    Ok(stream(&back, &out))
}

/// An end of a connection.
pub struct SimStream {
    incoming: Arc<Mutex<Pipe>>,
    outgoing: Arc<Mutex<Pipe>>,
    /// Until the next piece arrives.
    timer: Option<Sleep>,
}

impl std::fmt::Debug for SimStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let pipe = self.outgoing.lock();
        f.debug_struct("SimStream").field("from", &pipe.from).field("to", &pipe.to).finish_non_exhaustive()
    }
}

fn reset() -> io::Error {
    ErrorKind::ConnectionReset.into()
}

impl SimStream {
    /// Takes what can be sent at once: how much.
    pub fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(sim) = env::sim() else { return Err(reset()) };
        let mut pipe = self.outgoing.lock();
        if pipe.broken {
            return Err(reset());
        }
        let taken = bytes.len().min(ROOM - pipe.bytes);
        if taken == 0 {
            return Ok(0);
        }
        sim.note("sends", trace::hash(&bytes[..taken]));
        let most = sim.link(pipe.from, pipe.to).delay.as_nanos() as u64;
        let arrives = now() + Duration::from_nanos(sim.random_below(most.max(1)));
        pipe.last = pipe.last.max(arrives);
        let last = pipe.last;
        pipe.pieces.push_back((last, bytes[..taken].to_vec()));
        pipe.bytes += taken;
        let reader = pipe.reader.take();
        drop(pipe);
        wake([reader]);
        Ok(taken)
    }

    /// When there will be something to read, if that is known.
    fn due(&self, sim: &SimCore) -> Option<Instant> {
        let pipe = self.incoming.lock();
        if pipe.silent || sim.link(pipe.from, pipe.to).cut {
            return None;
        }
        match pipe.pieces.front() {
            Some((arrives, _)) => Some(*arrives),
            None => pipe.ended.then_some(pipe.last),
        }
    }
}

impl AsyncRead for SimStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Some(sim) = env::sim() else { return Poll::Ready(Err(reset())) };
        self.timer = None;
        if self.incoming.lock().broken {
            return Poll::Ready(Err(reset()));
        }
        let due = self.due(&sim);
        self.incoming.lock().reader = Some(cx.waker().clone());
        let Some(due) = due else { return Poll::Pending };
        let mut timer = sleep_until(due);
        if Pin::new(&mut timer).poll(cx).is_pending() {
            self.timer = Some(timer);
            return Poll::Pending;
        }
        let mut pipe = self.incoming.lock();
        // Where there is none, it is the end.
        if let Some((arrived, mut piece)) = pipe.pieces.pop_front() {
            let taken = piece.len().min(buffer.remaining());
            buffer.put_slice(&piece[..taken]);
            pipe.bytes -= taken;
            if taken < piece.len() {
                piece.drain(..taken);
                pipe.pieces.push_front((arrived, piece));
            }
            let writer = pipe.writer.take();
            drop(pipe);
            wake([writer]);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for SimStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.try_write(bytes) {
            Ok(0) if !bytes.is_empty() => {
                self.outgoing.lock().writer = Some(cx.waker().clone());
                Poll::Pending
            }
            written => Poll::Ready(written),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut pipe = self.outgoing.lock();
        pipe.ended = true;
        let reader = pipe.reader.take();
        drop(pipe);
        wake([reader]);
        Poll::Ready(Ok(()))
    }
}

impl Drop for SimStream {
    /// What was sent arrives, and the end behind it. Who sends more fails.
    fn drop(&mut self) {
        let mut outgoing = self.outgoing.lock();
        outgoing.ended = true;
        let reader = outgoing.reader.take();
        drop(outgoing);
        let mut incoming = self.incoming.lock();
        incoming.broken |= !incoming.silent;
        let writer = incoming.writer.take();
        drop(incoming);
        wake([reader, writer]);
    }
}
