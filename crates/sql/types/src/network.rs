//! `inet` and `cidr`: addresses of both families, with the length of their network's prefix.
//!
//! # Layout
//! Payload: 4 or 6 for the family, the prefix's length in bits, the address's 4 or 16 bytes. A `cidr` is the same with no bit
//! set behind the prefix.

use std::{
    cmp::Ordering,
    net::{Ipv4Addr, Ipv6Addr},
};

use base::{SqlResult, sql_err};
use tuple::Datum;

use crate::registry::types::prelude::*;
use crate::value::{FromDatum, IntoDatum, Reader};

/// What both share: bytes are in order of comparison only where they are equal.
const NETWORK: TypeImp = TypeImp {
    compare: Some(compare),
    plain_order: false,
    seeded_hash: Some(|value, seed| crate::hashing::hash_network(<&[u8]>::from_datum(value), seed)),
    ..crate::compare::BYTES
};

/// The address of a host, with or without its network.
pub(crate) static INET: TypeImp = TypeImp {
    row: Some(TypeInfo {
        preferred: true,
        array: oids::_inet,
        io: [Oid(910), Oid(911), Oid(2496), Oid(2497)],
        storage: b'm',
        ..TypeInfo::new(oids::inet, "inet", b'I', Physical::Varlena)
    }),
    input: |_, text, _, _| parse(text, false),
    output: |_, value, _, out| show(text(value, false), out),
    receive: |_, reader, _, _| receive(reader, false),
    send: |_, value, _, out| {
        send(value, false, out);
        Ok(())
    },
    ..NETWORK
};

/// A network, as addresses of hosts have it.
pub(crate) static CIDR: TypeImp = TypeImp {
    row: Some(TypeInfo {
        array: oids::_cidr,
        io: [Oid(1267), Oid(1427), Oid(2498), Oid(2499)],
        storage: b'm',
        ..TypeInfo::new(oids::cidr, "cidr", b'I', Physical::Varlena)
    }),
    input: |_, text, _, _| parse(text, true),
    output: |_, value, _, out| show(text(value, true), out),
    receive: |_, reader, _, _| receive(reader, true),
    send: |_, value, _, out| {
        send(value, true, out);
        Ok(())
    },
    ..NETWORK
};

functions! {
    910 inet_in(cstring) -> inet [immutable strict] { input inet }
    911 inet_out(inet) -> cstring [immutable strict] { output inet }
    1267 cidr_in(cstring) -> cidr [immutable strict] { input cidr }
    1427 cidr_out(cidr) -> cstring [immutable strict] { output cidr }
    2496 inet_recv(internal) -> inet [immutable strict] { receive inet }
    2497 inet_send(inet) -> bytea [immutable strict] { send inet }
    2498 cidr_recv(internal) -> cidr [immutable strict] { receive cidr }
    2499 cidr_send(cidr) -> bytea [immutable strict] { send cidr }
    422 hashinet(inet) -> int4 [immutable strict] { |a: &Datum| crate::hashing::hash32(crate::oids::inet, a) }
    598 abbrev(inet) -> text [immutable strict] { |a: Network| a.text(false) }
    599 abbrev(cidr) -> text [immutable strict] { |a: Network| a.short() }
    605 set_masklen(inet, int4) -> inet [immutable strict] { |a: Network, bits: i32| a.with_bits(bits) }
    635 set_masklen(cidr, int4) -> cidr [immutable strict] { |a: Network, bits: i32| a.with_bits(bits).map(Network::network) }
    683 network(inet) -> cidr [immutable strict] { |a: Network| a.network() }
    696 netmask(inet) -> inet [immutable strict] { |a: Network| a.whole(a.mask()) }
    697 masklen(inet) -> int4 [immutable strict] { |a: Network| i32::from(a.bits) }
    698 broadcast(inet) -> inet [immutable strict] { |a: Network| Network { address: a.address | a.host_mask(), ..a } }
    699 host(inet) -> text [immutable strict] { |a: Network| a.host() }
    711 family(inet) -> int4 [immutable strict] { |a: Network| if a.v6 { 6 } else { 4 } }
    730 text(inet) -> text [immutable strict] { |a: Network| a.text(true) }
    779 hashinetextended(inet, int8) -> int8 [immutable strict] { |a: &Datum, seed: i64| crate::hashing::hash64(crate::oids::inet, a, seed) }
    920 network_eq(inet, inet) -> bool [immutable strict leakproof] { |a: Network, b: Network| a.compare(&b).is_eq() }
    921 network_lt(inet, inet) -> bool [immutable strict leakproof] { |a: Network, b: Network| a.compare(&b).is_lt() }
    922 network_le(inet, inet) -> bool [immutable strict leakproof] { |a: Network, b: Network| a.compare(&b).is_le() }
    923 network_gt(inet, inet) -> bool [immutable strict leakproof] { |a: Network, b: Network| a.compare(&b).is_gt() }
    924 network_ge(inet, inet) -> bool [immutable strict leakproof] { |a: Network, b: Network| a.compare(&b).is_ge() }
    925 network_ne(inet, inet) -> bool [immutable strict leakproof] { |a: Network, b: Network| a.compare(&b).is_ne() }
    926 network_cmp(inet, inet) -> int4 [immutable strict leakproof] { |a: Network, b: Network| a.compare(&b) as i32 }
    927 network_sub(inet, inet) -> bool [immutable strict] { |a: Network, b: Network| b.bits < a.bits && b.contains(&a) }
    928 network_subeq(inet, inet) -> bool [immutable strict] { |a: Network, b: Network| b.contains(&a) }
    929 network_sup(inet, inet) -> bool [immutable strict] { |a: Network, b: Network| a.bits < b.bits && a.contains(&b) }
    930 network_supeq(inet, inet) -> bool [immutable strict] { |a: Network, b: Network| a.contains(&b) }
    1362 hostmask(inet) -> inet [immutable strict] { |a: Network| a.whole(a.host_mask()) }
    1715 cidr(inet) -> cidr [immutable strict] { |a: Network| a.network() }
    2627 inetnot(inet) -> inet [immutable strict] { |a: Network| Network { address: !a.address & a.all(), ..a } }
    2628 inetand(inet, inet) -> inet [immutable strict] { |a: Network, b: Network| a.with(b, "AND", |x, y| x & y) }
    2629 inetor(inet, inet) -> inet [immutable strict] { |a: Network, b: Network| a.with(b, "OR", |x, y| x | y) }
    2630 inetpl(inet, int8) -> inet [immutable strict] { |a: Network, n: i64| a.plus(n.into()) }
    2631 int8pl_inet(int8, inet) -> inet [immutable strict] { |n: i64, a: Network| a.plus(n.into()) }
    2632 inetmi_int8(inet, int8) -> inet [immutable strict] { |a: Network, n: i64| a.plus(-i128::from(n)) }
    2633 inetmi(inet, inet) -> int8 [immutable strict] { |a: Network, b: Network| a.minus(&b) }
    3551 network_overlap(inet, inet) -> bool [immutable strict] { |a: Network, b: Network| a.contains(&b) || b.contains(&a) }
    3562 network_larger(inet, inet) -> inet [immutable strict] { |a: Network, b: Network| if a.compare(&b).is_gt() { a } else { b } }
    3563 network_smaller(inet, inet) -> inet [immutable strict] { |a: Network, b: Network| if a.compare(&b).is_lt() { a } else { b } }
    4063 inet_merge(inet, inet) -> cidr [immutable strict] { |a: Network, b: Network| a.merge(&b) }
    4071 inet_same_family(inet, inet) -> bool [immutable strict] { |a: Network, b: Network| a.v6 == b.v6 }
}

/// An address and the length of its prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    v6: bool,
    bits: u8,
    /// In the low 32 bits for IPv4.
    address: u128,
}

fn out_of_range() -> base::SqlError {
    sql_err!(NUMERIC_VALUE_OUT_OF_RANGE, "result is out of range")
}

impl Network {
    fn width(&self) -> u8 {
        if self.v6 { 128 } else { 32 }
    }

    pub(crate) fn is_v6(&self) -> bool {
        self.v6
    }

    /// Length of the prefix.
    pub(crate) fn mask_len(&self) -> u8 {
        self.bits
    }

    /// The address; that of IPv4 in the low 32 bits.
    pub(crate) fn bits_of_address(&self) -> u128 {
        self.address
    }

    /// All bits of the family.
    fn all(&self) -> u128 {
        if self.v6 { u128::MAX } else { u32::MAX.into() }
    }

    fn host_mask(&self) -> u128 {
        u128::MAX.checked_shr(u32::from(128 - (self.width() - self.bits))).unwrap_or(0)
    }

    fn mask(&self) -> u128 {
        self.all() & !self.host_mask()
    }

    /// Another address of the family, all of it prefix.
    fn whole(&self, address: u128) -> Network {
        Network { v6: self.v6, bits: self.width(), address }
    }

    fn network(self) -> Network {
        Network { address: self.address & self.mask(), ..self }
    }

    fn with_bits(self, bits: i32) -> SqlResult<Network> {
        match u8::try_from(bits) {
            Ok(bits) if bits <= self.width() => Ok(Network { bits, ..self }),
            _ if bits == -1 => Ok(Network { bits: self.width(), ..self }),
            _ => Err(sql_err!(INVALID_PARAMETER_VALUE, "invalid mask length: {bits}")),
        }
    }

    /// Whether `other` lies in this network, or is it.
    pub(crate) fn contains(&self, other: &Network) -> bool {
        self.v6 == other.v6 && self.bits <= other.bits && (self.address ^ other.address) & self.mask() == 0
    }

    /// IPv4 first; then by the prefix that both have, by its length, by the whole address.
    pub fn compare(&self, other: &Network) -> Ordering {
        let common = if self.bits < other.bits { self.mask() } else { other.mask() };
        self.v6
            .cmp(&other.v6)
            .then_with(|| (self.address & common).cmp(&(other.address & common)))
            .then_with(|| self.bits.cmp(&other.bits))
            .then_with(|| self.address.cmp(&other.address))
    }

    fn with(self, other: Network, verb: &str, f: impl Fn(u128, u128) -> u128) -> SqlResult<Network> {
        if self.v6 != other.v6 {
            return Err(sql_err!(INVALID_PARAMETER_VALUE, "cannot {verb} inet values of different sizes"));
        }
        let address = f(self.address, other.address);
        Ok(Network { address, bits: self.bits.max(other.bits), ..self })
    }

    fn plus(self, n: i128) -> SqlResult<Network> {
        let sum = if n < 0 {
            self.address.checked_sub(n.unsigned_abs())
        } else {
            self.address.checked_add(n.unsigned_abs())
        };
        let address = sum.filter(|a| *a <= self.all()).ok_or_else(out_of_range)?;
        Ok(Network { address, ..self })
    }

    fn minus(&self, other: &Network) -> SqlResult<i64> {
        if self.v6 != other.v6 {
            return Err(sql_err!(INVALID_PARAMETER_VALUE, "cannot subtract inet values of different sizes"));
        }
        let distance = i128::try_from(self.address.abs_diff(other.address)).map_err(|_| out_of_range())?;
        let signed = if self.address < other.address { -distance } else { distance };
        i64::try_from(signed).map_err(|_| out_of_range())
    }

    /// The smallest network that has both.
    fn merge(&self, other: &Network) -> SqlResult<Network> {
        if self.v6 != other.v6 {
            return Err(sql_err!(INVALID_PARAMETER_VALUE, "cannot merge addresses from different families"));
        }
        let equal = (self.address ^ other.address).leading_zeros() as u8 - (128 - self.width());
        Ok(Network { bits: self.bits.min(other.bits).min(equal), ..*self }.network())
    }

    fn host(&self) -> String {
        if !self.v6 {
            return Ipv4Addr::from(self.address as u32).to_string();
        }
        let address = Ipv6Addr::from(self.address);
        match address.segments() {
            // IPv4 in IPv6.
            [0, 0, 0, 0, 0, 0, high, _] if high != 0 => format!("::{}", Ipv4Addr::from(self.address as u32)),
            _ => address.to_string(),
        }
    }

    /// With the prefix's length if it is wanted or not the whole.
    fn text(&self, always: bool) -> String {
        if always || self.bits != self.width() {
            format!("{}/{}", self.host(), self.bits)
        } else {
            self.host()
        }
    }

    /// A `cidr` without the octets that are behind the prefix.
    fn short(&self) -> String {
        if self.v6 {
            return self.text(true);
        }
        let octets = (self.address as u32).to_be_bytes();
        let count = usize::from(self.bits.div_ceil(8)).max(1);
        let parts: Vec<String> = octets[..count].iter().map(u8::to_string).collect();
        format!("{}/{}", parts.join("."), self.bits)
    }
}

impl FromDatum<'_> for Network {
    fn from_datum(datum: &Datum) -> Network {
        let bytes = <&[u8]>::from_datum(datum);
        let none = Network { v6: false, bits: 32, address: 0 };
        let Some(([family, bits], address)) = bytes.split_first_chunk::<2>() else { return none };
        match (family, <[u8; 16]>::try_from(address), <[u8; 4]>::try_from(address)) {
            (6, Ok(a), _) => Network { v6: true, bits: (*bits).min(128), address: u128::from_be_bytes(a) },
            (4, _, Ok(a)) => {
                Network { v6: false, bits: (*bits).min(32), address: u32::from_be_bytes(a).into() }
            }
            _ => none,
        }
    }
}

impl IntoDatum for Network {
    fn into_datum(self) -> SqlResult<Datum> {
        let mut out = vec![if self.v6 { 6 } else { 4 }, self.bits];
        match self.v6 {
            true => out.extend(self.address.to_be_bytes()),
            false => out.extend((self.address as u32).to_be_bytes()),
        }
        Ok(Datum::Bytes(out.into()))
    }
}

/// Order of two payloads.
pub fn compare(a: &Datum, b: &Datum) -> Ordering {
    Network::from_datum(a).compare(&Network::from_datum(b))
}

/// Text form of an `inet` or a `cidr`.
pub fn text(value: &Datum, cidr: bool) -> String {
    Network::from_datum(value).text(cidr)
}

/// Reads an `inet` or a `cidr`.
pub fn parse(text: &str, cidr: bool) -> SqlResult<Datum> {
    let name = if cidr { "cidr" } else { "inet" };
    let read = if text.contains(':') { read_v6(text) } else { read_v4(text, cidr) };
    let value = read.ok_or_else(|| {
        sql_err!(INVALID_TEXT_REPRESENTATION, "invalid input syntax for type {name}: \"{text}\"")
    })?;
    if cidr && value.network() != value {
        return Err(sql_err!(INVALID_TEXT_REPRESENTATION, "invalid cidr value: \"{text}\"")
            .detail("Value has bits set to right of mask."));
    }
    value.into_datum()
}

/// The address, and the prefix's length if there is one.
fn parts(text: &str) -> Option<(&str, Option<u8>)> {
    match text.split_once('/') {
        None => Some((text, None)),
        Some((address, bits)) if !bits.is_empty() && bits.bytes().all(|b| b.is_ascii_digit()) => {
            Some((address, Some(bits.parse().ok()?)))
        }
        Some(_) => None,
    }
}

fn read_v6(text: &str) -> Option<Network> {
    let (address, bits) = parts(text)?;
    let bits = bits.unwrap_or(128);
    let address: Ipv6Addr = address.parse().ok()?;
    (bits <= 128).then(|| Network { v6: true, bits, address: address.to_bits() })
}

fn read_v4(text: &str, cidr: bool) -> Option<Network> {
    let (address, bits) = parts(text)?;
    let mut octets = [0u8; 4];
    let mut count = 0;
    // A `cidr` may end with a point.
    let address = if cidr { address.strip_suffix('.').unwrap_or(address) } else { address };
    for part in address.split('.') {
        if part.is_empty() || !part.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        *octets.get_mut(count)? = part.parse().ok()?;
        count += 1;
    }
    let bits = match bits {
        Some(bits) => bits,
        None if !cidr && count < 4 => return None,
        None if !cidr => 32,
        // The whole of class D.
        None if octets[0] == 224 && count == 1 => 4,
        None => class_bits(octets[0]).max(8 * count as u8),
    };
    (bits <= 32).then(|| Network { v6: false, bits, address: u32::from_be_bytes(octets).into() })
}

/// Length of the prefix of an address without one, by its class.
fn class_bits(first: u8) -> u8 {
    match first {
        240.. => 32,
        224.. => 8,
        192.. => 24,
        128.. => 16,
        _ => 8,
    }
}

/// Reads the binary form: family, bits, whether it is a `cidr`, length, address.
pub fn receive(reader: &mut Reader<'_>, cidr: bool) -> SqlResult<Datum> {
    let name = if cidr { "cidr" } else { "inet" };
    let bad =
        |what: &str| sql_err!(INVALID_BINARY_REPRESENTATION, "invalid {what} in external \"{name}\" value");
    let [family, bits, _, length] = reader.array()?;
    let v6 = match family {
        2 => false,
        3 => true,
        _ => return Err(bad("address family")),
    };
    if bits > if v6 { 128 } else { 32 } {
        return Err(bad("bits"));
    }
    let address = match (v6, length) {
        (true, 16) => u128::from_be_bytes(reader.array()?),
        (false, 4) => u32::from_be_bytes(reader.array()?).into(),
        _ => return Err(bad("length")),
    };
    let value = Network { v6, bits, address };
    if cidr && value.network() != value {
        return Err(sql_err!(INVALID_BINARY_REPRESENTATION, "invalid external \"cidr\" value")
            .detail("Value has bits set to right of mask."));
    }
    value.into_datum()
}

/// Appends the binary form.
pub fn send(value: &Datum, cidr: bool, out: &mut Vec<u8>) {
    let value = Network::from_datum(value);
    let (family, length) = if value.v6 { (3, 16) } else { (2, 4) };
    out.extend([family, value.bits, u8::from(cidr), length]);
    out.extend(&value.address.to_be_bytes()[16 - usize::from(length)..]);
}
