//! Access privileges: `aclitem`, and what an object without an ACL grants.
//!
//! Layout of an `aclitem` (16 bytes, little-endian): grantee, grantor, privileges, grant options, each 32 bits.

use base::{Oid, SqlResult, sql_err};
use tuple::{Bytes, Datum};
use types::array::Array;
use types::{Call, oids};

/// One privilege: letter, words, bit.
pub(super) struct Privilege {
    pub letter: char,
    pub words: &'static str,
    pub bit: u32,
}

const fn privilege(letter: char, words: &'static str, at: u32) -> Privilege {
    Privilege { letter, words, bit: 1 << at }
}

/// All privileges, in the order in which an ACL shows them.
pub(super) const PRIVILEGES: [Privilege; 15] = [
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
pub(super) const fn bits(letters: &str) -> u32 {
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
pub(super) struct AclItem {
    pub grantee: Oid,
    pub grantor: Oid,
    pub privileges: u32,
    /// Those of `privileges` that may be granted on.
    pub grantable: u32,
}

impl AclItem {
    pub fn to_datum(self) -> Datum {
        let words = [self.grantee.0, self.grantor.0, self.privileges, self.grantable];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        Datum::Bytes(Bytes::new(&bytes))
    }

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
pub(super) fn items(acl: &Datum) -> Vec<AclItem> {
    match acl {
        Datum::Bytes(payload) => {
            Array::from_payload(payload).elements().iter().filter_map(AclItem::from_datum).collect()
        }
        _ => Vec::new(),
    }
}

/// An `aclitem[]`.
pub(super) fn array_of(items: &[AclItem], call: &Call<'_>) -> SqlResult<Datum> {
    let values = items.iter().map(|item| item.to_datum()).collect();
    Ok(Array::from_values(oids::aclitem, values, call)?.to_datum())
}

/// What an object of a kind grants while it has no ACL: to everybody, and to its owner. `None` for an unknown kind.
pub(super) fn defaults(kind: u8) -> Option<(u32, u32)> {
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
pub(super) fn default_items(kind: u8, owner: Oid) -> SqlResult<Vec<AclItem>> {
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
pub(super) type Wanted = (u32, bool);

/// `SELECT, INSERT WITH GRANT OPTION` out of the privileges that an object has.
pub(super) fn parse_privileges(text: &str, allowed: u32) -> SqlResult<Vec<Wanted>> {
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
pub(super) fn parse_letters(text: &str) -> SqlResult<(u32, u32)> {
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
