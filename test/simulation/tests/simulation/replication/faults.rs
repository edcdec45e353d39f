//! What goes wrong in a cluster.

use std::time::Duration;

use history::Choices;
use runtime::sim::machines;
use runtime::sim::net::{self, Link};
use runtime::sim::{disk_used, limit_disk};
use runtime::{sleep, wait};

use super::node::{Node, wait_until};

/// One thing that goes wrong.
#[derive(Clone, Copy, Debug)]
pub enum Fault {
    /// A server loses power, and is started again; its peers may not be told.
    Crash { node: usize, silently: bool },
    /// A server's process is killed, and started again.
    Kill { node: usize },
    /// Nothing goes from one to the other, or in neither direction.
    Cut { from: usize, to: usize, both: bool },
    /// Connections between two are lost.
    Break { one: usize, other: usize },
    /// What goes between two takes long.
    Delay { one: usize, other: usize },
    /// A disk is slow.
    SlowDisk { node: usize },
    /// A disk has little room left.
    FullDisk { node: usize },
}

impl Fault {
    /// A random one of `nodes` servers of which the first is the primary. `harmless`: no standby loses what it has not synced.
    pub fn choose(choices: &mut Choices, nodes: usize, harmless: bool) -> Fault {
        let any = |choices: &mut Choices| choices.below(nodes as u64) as usize;
        let standby = |choices: &mut Choices| 1 + choices.below(nodes as u64 - 1) as usize;
        let pair = |choices: &mut Choices| match choices.below(3) {
            0 => (0, 1),
            1 => (0, 2),
            _ => (1, 0),
        };
        match choices.below(11) {
            0 | 1 => {
                let node = if harmless { 0 } else { standby(choices) };
                Fault::Crash { node, silently: choices.one_in(2) }
            }
            2 => Fault::Crash { node: 0, silently: choices.one_in(2) },
            3 => Fault::Kill { node: any(choices) },
            4 | 5 => {
                let (from, to) = pair(choices);
                Fault::Cut { from, to, both: choices.one_in(2) }
            }
            6 => {
                let (one, other) = pair(choices);
                Fault::Break { one, other }
            }
            7 => {
                let (one, other) = pair(choices);
                Fault::Delay { one, other }
            }
            8 | 9 => Fault::SlowDisk { node: any(choices) },
            _ => Fault::FullDisk { node: standby(choices) },
        }
    }

    /// Lets it go wrong for a time, and then all is well again. Servers that ended run again.
    pub fn happen(self, nodes: &[Node], choices: &mut Choices) {
        let mut last = || wait(sleep(Duration::from_millis(choices.between(1, 900))));
        let number = |at: usize| nodes[at].number();
        match self {
            Fault::Crash { node, silently } => {
                nodes[node].crash(silently);
                last();
                nodes[node].start();
            }
            Fault::Kill { node } => {
                nodes[node].kill();
                last();
                nodes[node].start();
            }
            Fault::Cut { from, to, both } => {
                let set = |cut| {
                    let link = Link { cut, ..Link::default() };
                    net::set_link(number(from), number(to), link);
                    if both {
                        net::set_link(number(to), number(from), link);
                    }
                };
                set(true);
                last();
                set(false);
            }
            Fault::Break { one, other } => net::break_between(number(one), number(other)),
            Fault::Delay { one, other } => {
                let set = |link| {
                    net::set_link(number(one), number(other), link);
                    net::set_link(number(other), number(one), link);
                };
                set(Link { delay: Duration::from_millis(100), ..Link::default() });
                last();
                set(Link::default());
            }
            Fault::SlowDisk { node } => {
                machines::slow_disk(number(node), 50);
                last();
                machines::slow_disk(number(node), 1);
            }
            Fault::FullDisk { node } => {
                let node = &nodes[node];
                limit_disk(node.dir(), Some(disk_used(node.dir()) + (16 << 10)));
                last();
                limit_disk(node.dir(), None);
                // A standby that cannot go on ends itself, as it should.
                if node.failure().is_some() {
                    node.kill();
                    node.start();
                }
            }
        }
        for node in nodes {
            wait_until("a server's start", || {
                assert_eq!(node.failure(), None, "after {self:?}");
                node.is_up()
            });
        }
    }
}
