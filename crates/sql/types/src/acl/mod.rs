//! # What
//! Access privileges: `aclitem`, what an object without an ACL grants, and what a list of items gives a role ([`Held`]).
//! `grant` changes such a list, `text` reads an item.
//!
//! # Layout
//! An `aclitem` has 16 bytes, little-endian: grantee, grantor, privileges, grant options, each 32 bits.
//!
//! # PostgreSQL counterpart and differences
//! `utils/adt/acl.c`. Privileges and grant options are two words, not one of 64 bits.

mod grant;
mod text;

use base::{Oid, SqlResult, sql_err};
use tuple::{Bytes, Datum};

pub use grant::{Change, change};
pub use text::parse_item;

use crate::array::Array;
use crate::registry::types::prelude::*;
use crate::{Call, FormatContext, oids};

/// One privilege: letter, words, bit.
#[derive(Debug)]
pub struct Privilege {
    /// In the text form of an `aclitem`.
    pub letter: char,
    /// As SQL writes it.
    pub words: &'static str,
    /// Its bit.
    pub bit: u32,
}

const fn privilege(letter: char, words: &'static str, at: u32) -> Privilege {
    Privilege { letter, words, bit: 1 << at }
}

/// All privileges, in the order in which an ACL shows them.
pub const PRIVILEGES: [Privilege; 15] = [
    privilege('a', "INSERT", 0),
    privilege('r', "SELECT", 1),
    privilege('w', "UPDATE", 2),
    privilege('d', "DELETE", 3),
    privilege('D', "TRUNCATE", 4),
    privilege('x', "REFERENCES", 5),
    privilege('t', "TRIGGER", 6),
    privilege('X', "EXECUTE", 7),
    privilege('U', "USAGE", 8),
    privilege('C', "CREATE", 9),
    privilege('T', "TEMPORARY", 10),
    privilege('c', "CONNECT", 11),
    privilege('s', "SET", 12),
    privilege('A', "ALTER SYSTEM", 13),
    privilege('m', "MAINTAIN", 14),
];

/// Bits of privileges given by their letters.
pub const fn bits(letters: &str) -> u32 {
    let (letters, mut bits, mut i) = (letters.as_bytes(), 0, 0);
    while i < letters.len() {
        let mut p = 0;
        while p < PRIVILEGES.len() {
            if PRIVILEGES[p].letter as u8 == letters[i] {
                bits |= PRIVILEGES[p].bit;
            }
            p += 1;
        }
        i += 1;
    }
    bits
}

/// What one role granted another. Grantee 0 is PUBLIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AclItem {
    /// Who may.
    pub grantee: Oid,
    /// Who said so.
    pub grantor: Oid,
    /// What.
    pub privileges: u32,
    /// Those of `privileges` that may be granted on.
    pub grantable: u32,
}

impl AclItem {
    /// As a value of SQL.
    pub fn to_datum(self) -> Datum {
        let words = [self.grantee.0, self.grantor.0, self.privileges, self.grantable];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        Datum::Bytes(Bytes::new(&bytes))
    }

    /// Of a value of SQL.
    pub fn from_datum(datum: &Datum) -> Option<AclItem> {
        let Datum::Bytes(bytes) = datum else { return None };
        let bytes: &[u8; 16] = bytes.as_slice().try_into().ok()?;
        let word = |i: usize| u32::from_le_bytes([bytes[i], bytes[i + 1], bytes[i + 2], bytes[i + 3]]);
        Some(AclItem {
            grantee: Oid(word(0)),
            grantor: Oid(word(4)),
            privileges: word(8),
            grantable: word(12),
        })
    }

    /// The letters, with a star behind those that may be granted on.
    pub fn letters(&self) -> String {
        let mut text = String::new();
        for p in PRIVILEGES.iter().filter(|p| self.privileges & p.bit != 0) {
            text.push(p.letter);
            if self.grantable & p.bit != 0 {
                text.push('*');
            }
        }
        text
    }
}

/// Items of an `aclitem[]`; none of NULL.
pub fn items(acl: &Datum) -> Vec<AclItem> {
    match acl {
        Datum::Bytes(payload) => {
            Array::from_payload(payload).elements().iter().filter_map(AclItem::from_datum).collect()
        }
        _ => Vec::new(),
    }
}

/// Items of an `aclitem[]` that may be NULL.
pub fn optional_items(acl: &Datum) -> Option<Vec<AclItem>> {
    (!matches!(acl, Datum::Null)).then(|| items(acl))
}

/// An `aclitem[]`.
pub fn array_of(items: &[AclItem]) -> SqlResult<Datum> {
    let format = FormatContext::default();
    let values = items.iter().map(|item| item.to_datum()).collect();
    Ok(Array::from_values(oids::aclitem, values, &Call::new(&format))?.to_datum())
}

/// What a role holds on an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Privileges.
    pub privileges: u32,
    /// Privileges that it may grant.
    pub grantable: u32,
}

impl Held {
    /// What a superuser holds.
    pub const ALL: Held = Held { privileges: u32::MAX, grantable: u32::MAX };

    /// Whether it is a privilege wanted.
    pub fn has(self, (bit, grant): Wanted) -> bool {
        (if grant { self.grantable } else { self.privileges }) & bit != 0
    }

    fn add(&mut self, item: &AclItem) {
        self.privileges |= item.privileges;
        self.grantable |= item.grantable;
    }
}

/// What the items give a role, by itself and through the roles whose privileges it `has`. An owner can grant everything.
pub fn held(items: &[AclItem], owner: Oid, has: &dyn Fn(Oid) -> bool) -> Held {
    let mut held = Held { privileges: 0, grantable: if has(owner) { u32::MAX } else { 0 } };
    let reaches = |item: &&AclItem| item.grantee == Oid::INVALID || has(item.grantee);
    items.iter().filter(reaches).for_each(|item| held.add(item));
    held
}

/// Whether two lists grant the same, in whatever order.
pub fn same_items(a: &[AclItem], b: &[AclItem]) -> bool {
    let sorted = |items: &[AclItem]| {
        let mut items = items.to_vec();
        items.sort_unstable_by_key(|i| (i.grantee, i.grantor, i.privileges, i.grantable));
        items
    };
    a.len() == b.len() && sorted(a) == sorted(b)
}

/// The items of an object that changes hands: the new owner in the old one's place.
pub fn new_owner(items: &[AclItem], old: Oid, new: Oid) -> Vec<AclItem> {
    let mut out: Vec<AclItem> = Vec::with_capacity(items.len());
    let renamed = |role: Oid| if role == old { new } else { role };
    for item in items {
        let item = AclItem { grantee: renamed(item.grantee), grantor: renamed(item.grantor), ..*item };
        match out.iter_mut().find(|i| (i.grantee, i.grantor) == (item.grantee, item.grantor)) {
            Some(same) => {
                same.privileges |= item.privileges;
                same.grantable |= item.grantable;
            }
            None => out.push(item),
        }
    }
    out
}

/// What the items give this very role, not counting what everybody and roles that it belongs to have.
pub fn held_directly(items: &[AclItem], owner: Oid, role: Oid) -> Held {
    let mut held = Held { privileges: 0, grantable: if role == owner { u32::MAX } else { 0 } };
    items.iter().filter(|item| item.grantee == role).for_each(|item| held.add(item));
    held
}

/// What an object of a kind grants while it has no ACL: to everybody, and to its owner. `None` for an unknown kind.
pub fn defaults(kind: u8) -> Option<(u32, u32)> {
    Some(match kind {
        b'c' => (0, 0),
        b'r' => (0, bits("arwdDxtm")),
        b's' => (0, bits("rwU")),
        b'd' => (bits("Tc"), bits("CTc")),
        b'f' => (bits("X"), bits("X")),
        b'l' => (bits("U"), bits("U")),
        b'L' => (0, bits("rw")),
        b'n' => (0, bits("UC")),
        b'p' => (0, bits("sA")),
        b't' => (0, bits("C")),
        b'F' | b'S' => (0, bits("U")),
        b'T' => (bits("U"), bits("U")),
        _ => return None,
    })
}

/// `acldefault(kind, owner)`
pub fn default_items(kind: u8, owner: Oid) -> SqlResult<Vec<AclItem>> {
    let Some((public, own)) = defaults(kind) else {
        return Err(sql_err!(INTERNAL_ERROR, "unrecognized object type abbreviation: {}", kind as char));
    };
    let grant = |grantee, privileges| AclItem { grantee, grantor: owner, privileges, grantable: 0 };
    let mut items = Vec::new();
    if public != 0 {
        items.push(grant(Oid::INVALID, public));
    }
    if own != 0 {
        items.push(grant(owner, own));
    }
    Ok(items)
}

/// A privilege asked for: its bit, and whether it must be grantable.
pub type Wanted = (u32, bool);

/// `SELECT, INSERT WITH GRANT OPTION` out of the privileges that an object has.
pub fn parse_privileges(text: &str, allowed: u32) -> SqlResult<Vec<Wanted>> {
    let one = |word: &str| {
        let word = word.trim();
        let upper = word.to_ascii_uppercase();
        let (name, grant) = match upper.strip_suffix(" WITH GRANT OPTION") {
            Some(name) => (name, true),
            None => (upper.as_str(), false),
        };
        let name = if name == "TEMP" { "TEMPORARY" } else { name };
        PRIVILEGES
            .iter()
            .find(|p| p.words == name && allowed & p.bit != 0)
            .map(|p| (p.bit, grant))
            .ok_or_else(|| sql_err!(INVALID_PARAMETER_VALUE, "unrecognized privilege type: \"{word}\""))
    };
    text.split(',').map(one).collect()
}

/// Privileges from their letters, with stars.
pub fn parse_letters(text: &str) -> SqlResult<(u32, u32)> {
    let (mut privileges, mut grantable, mut last) = (0, 0, 0);
    for c in text.chars() {
        if c == '*' {
            grantable |= last;
            continue;
        }
        let known = PRIVILEGES.iter().find(|p| p.letter == c).ok_or_else(|| {
            let letters: String = PRIVILEGES.iter().map(|p| p.letter).collect();
            sql_err!(INVALID_TEXT_REPRESENTATION, "invalid mode character: must be one of \"{letters}\"")
        })?;
        last = known.bit;
        privileges |= last;
    }
    Ok((privileges, grantable))
}

functions! {
    1031 aclitemin(cstring) -> aclitem [stable strict] { input aclitem }
    1032 aclitemout(aclitem) -> cstring [stable strict] { output aclitem }
}

/// Privileges that a role gave another. Its text has names of roles, so the session reads and writes it.
pub(crate) static ACLITEM: TypeImp = TypeImp {
    row: Some(TypeInfo {
        array: oids::_aclitem,
        io: [Oid(1031), Oid(1032), Oid(0), Oid(0)],
        ..TypeInfo::new(oids::aclitem, "aclitem", b'U', Physical::Fixed(16))
    }),
    input: |type_oid, text, typmod, cx| cx.session.type_input(type_oid, text, typmod),
    output: |type_oid, value, cx, out| cx.session.type_output(type_oid, value, out),
    ..TypeImp::NONE
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_survive_storage_and_show_their_letters() {
        let item =
            AclItem { grantee: Oid(0), grantor: Oid(10), privileges: bits("rwm"), grantable: bits("w") };
        assert_eq!(AclItem::from_datum(&item.to_datum()), Some(item));
        assert_eq!(item.letters(), "rw*m");
        assert_eq!(parse_letters("rw*m").unwrap(), (bits("rwm"), bits("w")));
        assert!(parse_letters("q").is_err());
        assert_eq!(AclItem::from_datum(&Datum::text("short")), None);
    }

    #[test]
    fn defaults_are_postgresql_s() {
        let letters = |kind| {
            default_items(kind, Oid(10))
                .unwrap()
                .iter()
                .map(|i| format!("{}={}", i.grantee, i.letters()))
                .collect::<Vec<_>>()
        };
        assert_eq!(letters(b'r'), ["10=arwdDxtm"]);
        assert_eq!(letters(b'd'), ["0=Tc", "10=CTc"]);
        assert_eq!(letters(b'f'), ["0=X", "10=X"]);
        assert!(letters(b'c').is_empty());
        assert!(default_items(b'?', Oid(10)).is_err());
    }

    #[test]
    fn privileges_are_read_as_words() {
        let table = bits("arwdDxtm");
        assert_eq!(
            parse_privileges("select, Insert with grant option", table).unwrap(),
            [(bits("r"), false), (bits("a"), true)]
        );
        assert_eq!(parse_privileges("temp", bits("CTc")).unwrap(), [(bits("T"), false)]);
        let error = parse_privileges("foo", table).unwrap_err();
        assert_eq!(error.message(), "unrecognized privilege type: \"foo\"");
        assert!(parse_privileges("CONNECT", table).is_err());
    }
}
