//! # What
//! `uuid-ossp`: UUIDs of all old versions.
//!
//! # PostgreSQL counterpart and differences
//! `contrib/uuid-ossp`. Version 1 never has this machine's hardware address: as where that is not known, the node is random, one for the life
//! of the server, with the multicast bit set.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use base::SqlResult;
use digest::Digest;
use session::module::{Module, ModuleFunction};
use tuple::Datum;
use types::Call;
use types::value::FromDatum;

/// The extension.
pub static MODULE: Module = Module {
    name: "uuid-ossp",
    version: "1.1",
    comment: "generate universally unique identifiers (UUIDs)",
    schema: None,
    relocatable: true,
    trusted: true,
    requires: &[],
    script: include_str!("script.sql"),
    functions: &[
        ("uuid_nil", ModuleFunction::Value(|_, _| Ok(uuid([0; 16])))),
        ("uuid_ns_dns", ModuleFunction::Value(|_, _| Ok(namespace(0)))),
        ("uuid_ns_url", ModuleFunction::Value(|_, _| Ok(namespace(1)))),
        ("uuid_ns_oid", ModuleFunction::Value(|_, _| Ok(namespace(2)))),
        ("uuid_ns_x500", ModuleFunction::Value(|_, _| Ok(namespace(4)))),
        ("uuid_generate_v1", ModuleFunction::Value(|cx, _| Ok(version_1(cx, *NODE)))),
        ("uuid_generate_v1mc", ModuleFunction::Value(|cx, _| Ok(version_1(cx, random_node())))),
        ("uuid_generate_v3", ModuleFunction::Value(|_, args| named::<md5::Md5>(args, 3))),
        ("uuid_generate_v4", ModuleFunction::Value(|_, _| Ok(version_4()))),
        ("uuid_generate_v5", ModuleFunction::Value(|_, args| named::<sha1::Sha1>(args, 5))),
    ],
    ..Module::LIBRARY
};

/// Tenths of microseconds between 1582-10-15, where version 1 begins to count, and 2000-01-01.
const EPOCH: i64 = 131_659_776_000_000_000;

/// The node of this server.
static NODE: LazyLock<[u8; 6]> = LazyLock::new(random_node);

/// The time that the next UUID is later than: two in the same microsecond differ.
static LAST: AtomicU64 = AtomicU64::new(0);

/// The clock sequence: random, for a clock may have gone back before the server started.
static SEQUENCE: LazyLock<u16> = LazyLock::new(|| runtime::random_u64() as u16);

fn uuid(bytes: [u8; 16]) -> Datum {
    Datum::Bytes(bytes[..].into())
}

/// With its version and the variant of RFC 4122.
fn stamped(mut bytes: [u8; 16], version: u8) -> Datum {
    bytes[6] = bytes[6] & 0x0F | version << 4;
    bytes[8] = bytes[8] & 0x3F | 0x80;
    uuid(bytes)
}

/// The namespaces of RFC 4122 differ in one byte.
fn namespace(which: u8) -> Datum {
    let mut bytes =
        [0x6b, 0xa7, 0xb8, 0x10, 0x9d, 0xad, 0x11, 0xd1, 0x80, 0xb4, 0, 0xc0, 0x4f, 0xd4, 0x30, 0xc8];
    bytes[3] += which;
    uuid(bytes)
}

/// A node that is no hardware address: its multicast bit is set.
fn random_node() -> [u8; 6] {
    let mut node = [0; 6];
    runtime::spawn::fill_random(&mut node);
    node[0] |= 3;
    node
}

fn version_1(cx: &Call<'_>, node: [u8; 6]) -> Datum {
    let now = (cx.session.clock() * 10 + EPOCH) as u64;
    // Relaxed: the counter alone matters, nothing is published with it.
    let last = LAST
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(now.max(last + 1)))
        .unwrap_or_default();
    let ticks = now.max(last + 1);
    let mut bytes = [0; 16];
    bytes[..4].copy_from_slice(&(ticks as u32).to_be_bytes());
    bytes[4..6].copy_from_slice(&((ticks >> 32) as u16).to_be_bytes());
    bytes[6..8].copy_from_slice(&((ticks >> 48) as u16).to_be_bytes());
    bytes[8..10].copy_from_slice(&SEQUENCE.to_be_bytes());
    bytes[10..].copy_from_slice(&node);
    stamped(bytes, 1)
}

fn version_4() -> Datum {
    let mut bytes = [0; 16];
    runtime::spawn::fill_random(&mut bytes);
    stamped(bytes, 4)
}

/// From a hash of a namespace and a name.
fn named<H: Digest>(args: &[Datum], version: u8) -> SqlResult<Datum> {
    let hash = crate::pgcrypto::hash::<H>(&[<&[u8]>::from_datum(&args[0]), <&[u8]>::from_datum(&args[1])])?;
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash[..16]);
    Ok(stamped(bytes, version))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_their_uuids() {
        let text = |datum: Datum| {
            let Datum::Bytes(bytes) = datum else { panic!("no uuid") };
            types::ids::uuid_text(&bytes)
        };
        let args = [namespace(0), Datum::text("www.widgets.com")];
        let three = named::<md5::Md5>(&args, 3).expect("hashed");
        assert_eq!(text(three), "3d813cbb-47fb-32ba-91df-831e1593ac29");
        let five = named::<sha1::Sha1>(&args, 5).expect("hashed");
        assert_eq!(text(five), "21f7f8de-8051-5b89-8680-0195ef798b6a");
    }

    #[test]
    fn times_never_repeat() {
        let format = types::FormatContext::default();
        let call = Call::new(&format);
        assert_ne!(version_1(&call, *NODE), version_1(&call, *NODE));
    }
}
