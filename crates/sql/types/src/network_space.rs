//! SP-GiST over addresses: `inet_ops`. An address is a point with two coordinates, its bits and the length of its mask. Inner tuples divide by family first, then in both dimensions.
//!
//! Bytes of a prefix: nothing where families are told apart, else the middle of the addresses (16, the first bit first) and that of the masks. Of a part of the space: family (4, 6; 0: both), the least and
//! the greatest address, the shortest and the longest mask.

use tuple::Datum;
use tuple::space::{Branch, Choice, Division, Space, SpaceClass};
use tuple::tree::{Match, TreeQuery};

use crate::geometry::spaces::middle;
use crate::network::Network;
use crate::network_tree::{aligned, kept, related, strategy};
use crate::value::FromDatum;

/// `inet_ops`
pub(crate) static INET_OPS: Addresses = Addresses;

/// The class.
#[derive(Debug)]
pub(crate) struct Addresses;

#[derive(Clone, Copy)]
struct Part {
    v6: Option<bool>,
    low: u128,
    high: u128,
    shortest: u8,
    longest: u8,
}

impl Part {
    const WHOLE: Part = Part { v6: None, low: 0, high: u128::MAX, shortest: 0, longest: 128 };

    fn read(space: &Space) -> Part {
        let address = |at: usize| space.get(at..at + 16).and_then(|bytes| bytes.try_into().ok());
        let (Some(low), Some(high), [family, .., shortest, longest]) = (address(1), address(17), &space[..])
        else {
            return Part::WHOLE;
        };
        let v6 = match family {
            4 => Some(false),
            6 => Some(true),
            _ => None,
        };
        Part {
            v6,
            low: u128::from_be_bytes(low),
            high: u128::from_be_bytes(high),
            shortest: *shortest,
            longest: *longest,
        }
    }

    fn written(self) -> Space {
        let mut out = Space::from_iter([self.v6.map_or(0, |v6| if v6 { 6 } else { 4 })]);
        out.extend(self.low.to_be_bytes());
        out.extend(self.high.to_be_bytes());
        out.extend([self.shortest, self.longest]);
        out
    }

    /// Whether it may have addresses whose leading bits are those of another.
    fn meets_network(&self, address: u128, bits: u8) -> bool {
        let first = kept(address, bits);
        let last = first | !kept(u128::MAX, bits);
        self.low <= last && first <= self.high
    }
}

/// The middles of an inner tuple that does not tell families apart.
fn middles_of(branch: &Branch<'_>) -> Option<(u128, u8)> {
    let (address, [bits]) = branch.prefix.split_first_chunk::<16>()? else { return None };
    (branch.nodes.len() == 4).then(|| (u128::from_be_bytes(*address), *bits))
}

fn node_of(of: &Network, (address, bits): (u128, u8)) -> usize {
    usize::from(aligned(of) > address) | usize::from(of.mask_len() > bits) << 1
}

impl SpaceClass for Addresses {
    fn choose(&self, branch: Branch<'_>, leaf: &Datum) -> Choice {
        let of = Network::from_datum(leaf);
        let node = match middles_of(&branch) {
            Some(middles) => node_of(&of, middles),
            None if branch.prefix.is_empty() && branch.nodes.len() == 2 => usize::from(of.is_v6()),
            None => return Choice::Nowhere,
        };
        Choice::Down { node, rest: leaf.clone() }
    }

    fn divide(&self, leaves: &[Datum]) -> Division {
        let all: Vec<Network> = leaves.iter().map(Network::from_datum).collect();
        let rest = leaves.to_vec();
        if all.iter().any(|of| of.is_v6() != all[0].is_v6()) {
            let node_of = all.iter().map(|of| usize::from(of.is_v6())).collect();
            return Division { prefix: Vec::new(), labels: vec![0; 2], node_of, rest };
        }
        let address = middle(all.iter().map(aligned).collect(), u128::cmp).unwrap_or_default();
        let bits = middle(all.iter().map(Network::mask_len).collect(), u8::cmp).unwrap_or_default();
        let mut prefix = address.to_be_bytes().to_vec();
        prefix.push(bits);
        let node_of = all.iter().map(|of| node_of(of, (address, bits))).collect();
        Division { prefix, labels: vec![0; 4], node_of, rest }
    }

    fn part(&self, branch: Branch<'_>, node: usize, space: &Space) -> Space {
        let mut part = Part::read(space);
        let Some((address, bits)) = middles_of(&branch) else {
            return Part { v6: Some(node == 1), ..part }.written();
        };
        match node & 1 {
            1 => part.low = part.low.max(address),
            _ => part.high = part.high.min(address),
        }
        match node >> 1 {
            1 => part.shortest = part.shortest.max(bits),
            _ => part.longest = part.longest.min(bits),
        }
        part.written()
    }

    fn may_meet(&self, space: &Space, query: TreeQuery<'_>) -> bool {
        let (part, of) = (Part::read(space), Network::from_datum(query.value));
        if part.v6.is_some_and(|v6| v6 != of.is_v6()) {
            return match query.strategy {
                strategy::LESS | strategy::AT_MOST => of.is_v6(),
                strategy::GREATER | strategy::AT_LEAST => !of.is_v6(),
                strategy => strategy == strategy::NOT_EQUAL,
            };
        }
        if part.v6.is_none() {
            return true;
        }
        let (address, mask) = (aligned(&of), of.mask_len());
        // As many leading bits decide between any address of the part and this one.
        let common = part.shortest.min(mask);
        match query.strategy {
            strategy::OVERLAPS => part.meets_network(address, common),
            strategy::EQUAL => {
                part.low <= address && address <= part.high && part.shortest <= mask && mask <= part.longest
            }
            strategy::LESS | strategy::AT_MOST => kept(part.low, common) <= kept(address, common),
            strategy::GREATER | strategy::AT_LEAST => kept(part.high, common) >= kept(address, common),
            strategy::WITHIN => part.longest > mask && part.meets_network(address, mask),
            strategy::WITHIN_OR_EQUAL => part.longest >= mask && part.meets_network(address, mask),
            strategy::CONTAINS => part.shortest < mask && part.meets_network(address, common),
            strategy::CONTAINS_OR_EQUAL => part.shortest <= mask && part.meets_network(address, common),
            _ => true,
        }
    }

    fn meets(&self, _space: &Space, leaf: &Datum, query: TreeQuery<'_>) -> Match {
        let value = Network::from_datum(query.value);
        Match::of(related(query.strategy, &Network::from_datum(leaf), &value), true)
    }

    fn whole(&self) -> Space {
        Part::WHOLE.written()
    }
}
