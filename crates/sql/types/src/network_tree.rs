//! GiST over addresses: `inet_ops`. A leaf's key is the address. An internal one is the prefix that all addresses below have in common, and the shortest of their masks.
//!
//! Bytes of an internal key: family (4, 6; 0: both), shortest mask, length of the common prefix, an address with it. The two differ in their lengths.

use std::cmp::Ordering;

use tuple::Datum;
use tuple::tree::{Match, TreeClass, TreeQuery};

use crate::geometry::trees::halves;
use crate::network::Network;
use crate::value::FromDatum;

/// `inet_ops`
pub(crate) static INET_OPS: Prefixes = Prefixes;

/// Strategy numbers.
pub(crate) mod strategy {
    pub const OVERLAPS: u16 = 3;
    pub const EQUAL: u16 = 18;
    pub const NOT_EQUAL: u16 = 19;
    pub const LESS: u16 = 20;
    pub const AT_MOST: u16 = 21;
    pub const GREATER: u16 = 22;
    pub const AT_LEAST: u16 = 23;
    pub const WITHIN: u16 = 24;
    pub const WITHIN_OR_EQUAL: u16 = 25;
    pub const CONTAINS: u16 = 26;
    pub const CONTAINS_OR_EQUAL: u16 = 27;
}

/// The class.
#[derive(Debug)]
pub(crate) struct Prefixes;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Prefix {
    /// None: addresses of both families.
    v6: Option<bool>,
    /// The shortest mask.
    bits: u8,
    /// Leading bits that all addresses share.
    common: u8,
    /// In the high bits.
    address: u128,
}

pub(crate) fn kept(address: u128, bits: u8) -> u128 {
    if bits == 0 { 0 } else { address & u128::MAX << (128 - u32::from(bits)) }
}

pub(crate) fn aligned(of: &Network) -> u128 {
    if of.is_v6() { of.bits_of_address() } else { of.bits_of_address() << 96 }
}

fn width(v6: bool) -> u8 {
    if v6 { 128 } else { 32 }
}

impl Prefix {
    fn of(address: &Network) -> Prefix {
        let v6 = address.is_v6();
        Prefix { v6: Some(v6), bits: address.mask_len(), common: width(v6), address: aligned(address) }
    }

    fn read(key: &Datum) -> Prefix {
        let bytes = <&[u8]>::from_datum(key);
        let (&[family, bits, common], Ok(address)) = (
            bytes.first_chunk::<3>().unwrap_or(&[0; 3]),
            <[u8; 16]>::try_from(bytes.get(3..).unwrap_or_default()),
        ) else {
            return Prefix::of(&Network::from_datum(key));
        };
        let v6 = match family {
            4 => Some(false),
            6 => Some(true),
            _ => None,
        };
        Prefix { v6, bits, common: common.min(128), address: u128::from_be_bytes(address) }
    }

    fn stored(self) -> Datum {
        let family = match self.v6 {
            Some(true) => 6,
            Some(false) => 4,
            None => 0,
        };
        let mut out = vec![family, self.bits, self.common];
        out.extend(kept(self.address, self.common).to_be_bytes());
        Datum::Bytes(out.into())
    }

    fn join(self, other: Prefix) -> Prefix {
        let bits = self.bits.min(other.bits);
        if self.v6.is_none() || self.v6 != other.v6 {
            return Prefix { v6: None, bits, common: 0, address: 0 };
        }
        let equal = (self.address ^ other.address).leading_zeros() as u8;
        let common = equal.min(self.common).min(other.common);
        Prefix { v6: self.v6, bits, common, address: kept(self.address, common) }
    }

    /// Order of the leading bits that decide between the addresses below and another one; equal if it is not known.
    fn compare(&self, other: &Network, length: u8) -> Ordering {
        let length = length.min(self.common);
        kept(self.address, length).cmp(&kept(aligned(other), length))
    }

    fn may_match(&self, strategy: u16, of: &Network) -> bool {
        let Some(v6) = self.v6 else { return true };
        if v6 != of.is_v6() {
            return match strategy {
                strategy::LESS | strategy::AT_MOST => !v6,
                strategy::GREATER | strategy::AT_LEAST => v6,
                strategy => strategy == strategy::NOT_EQUAL,
            };
        }
        let mask = of.mask_len();
        let both = self.compare(of, self.bits.min(mask));
        match strategy {
            strategy::OVERLAPS => both.is_eq(),
            strategy::EQUAL => self.bits <= mask && self.compare(of, width(v6)).is_eq(),
            strategy::LESS | strategy::AT_MOST => both.is_le(),
            strategy::GREATER | strategy::AT_LEAST => both.is_ge(),
            strategy::WITHIN | strategy::WITHIN_OR_EQUAL => self.compare(of, mask).is_eq(),
            strategy::CONTAINS => self.bits < mask && both.is_eq(),
            strategy::CONTAINS_OR_EQUAL => self.bits <= mask && both.is_eq(),
            _ => true,
        }
    }
}

pub(crate) fn related(strategy: u16, a: &Network, b: &Network) -> bool {
    let strict = a.mask_len() != b.mask_len();
    match strategy {
        strategy::OVERLAPS => a.contains(b) || b.contains(a),
        strategy::EQUAL => a.compare(b).is_eq(),
        strategy::NOT_EQUAL => a.compare(b).is_ne(),
        strategy::LESS => a.compare(b).is_lt(),
        strategy::AT_MOST => a.compare(b).is_le(),
        strategy::GREATER => a.compare(b).is_gt(),
        strategy::AT_LEAST => a.compare(b).is_ge(),
        strategy::WITHIN => b.contains(a) && strict,
        strategy::WITHIN_OR_EQUAL => b.contains(a),
        strategy::CONTAINS => a.contains(b) && strict,
        strategy::CONTAINS_OR_EQUAL => a.contains(b),
        _ => false,
    }
}

impl TreeClass for Prefixes {
    fn consistent(&self, key: &Datum, query: TreeQuery<'_>, leaf: bool) -> Match {
        let value = Network::from_datum(query.value);
        Match::of(
            match leaf {
                true => related(query.strategy, &Network::from_datum(key), &value),
                false => Prefix::read(key).may_match(query.strategy, &value),
            },
            true,
        )
    }

    fn union(&self, keys: &[&Datum]) -> Datum {
        let all = keys.iter().map(|key| Prefix::read(key)).reduce(Prefix::join);
        all.map_or(Datum::Null, Prefix::stored)
    }

    fn same(&self, a: &Datum, b: &Datum) -> bool {
        a == b
    }

    /// By how much the common prefix would get shorter.
    fn penalty(&self, key: &Datum, new: &Datum) -> f32 {
        let key = Prefix::read(key);
        let both = key.join(Prefix::read(new));
        let family = if key.v6 == both.v6 { 0.0 } else { 256.0 };
        f32::from(key.common - both.common) + f32::from(key.bits - both.bits) / 256.0 + family
    }

    fn split(&self, keys: &[&Datum]) -> Vec<bool> {
        let keys: Vec<Prefix> = keys.iter().map(|key| Prefix::read(key)).collect();
        if keys.iter().any(|key| key.v6 != keys[0].v6) {
            return keys.iter().map(|key| key.v6 != Some(false)).collect();
        }
        halves(keys.len(), |a, b| keys[a].address.cmp(&keys[b].address))
    }

    fn order(&self, a: &Datum, b: &Datum) -> Ordering {
        let of = |key: &Datum| Prefix::read(key);
        let (a, b) = (of(a), of(b));
        a.v6.cmp(&b.v6).then(a.address.cmp(&b.address)).then(a.bits.cmp(&b.bits))
    }
}
