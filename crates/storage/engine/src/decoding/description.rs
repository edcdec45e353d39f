//! What · The description of a table as the log has it for decoders: all that the text of a change needs of the catalogs as they were.
//!
//! Layout · Integers are little-endian; a *name* is a byte with its length, then its bytes.
//!
//! | bytes | |
//! |---|---|
//! | 1 | 1, the version of this layout |
//! | 4 | OID |
//! | names | schema, table |
//! | 1 | replica identity: `d`, `i`, `f` or `n` |
//! | 4 | OID of the TOAST table, or 0 |
//! | 4 | OID of the partitioned table that it is a partition of, or 0 |
//! | 2 | number of columns, dropped ones included; then for each: |
//! | name | |
//! | 4, 4 | OID of the type, type modifier |
//! | 1 | 1 dropped, 2 of the replica identity, 4 generated and stored, 8 generated and computed when read |
//! | 1, 2 | physical class (`TAGS`), and of fixed-length bytes how many |
//! | 1, 1 | alignment, `attstorage` |
//!
//! Invariant: a description says nothing of compression, which decoding finds in the values.

use base::Oid;
use tuple::{Attr, Physical, RowLayout};

/// Physical classes by their numbers; what has a length of its own comes last.
const TAGS: [Physical; 10] = [
    Physical::Bool,
    Physical::Char,
    Physical::Int2,
    Physical::Int4,
    Physical::Int8,
    Physical::Oid,
    Physical::Float4,
    Physical::Float8,
    Physical::Name,
    Physical::Varlena,
];
const FIXED: u8 = 10;
const VERSION: u8 = 1;

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub struct DescribedColumn {
    /// Name.
    pub name: String,
    /// OID of its type.
    pub type_oid: Oid,
    /// Type modifier.
    pub typmod: i32,
    /// It is not there any more.
    pub dropped: bool,
    /// It is of the replica identity.
    pub key: bool,
    /// Generated and stored.
    pub stored: bool,
    /// Generated and computed when read.
    pub computed: bool,
    /// How it lies in rows.
    pub attr: Attr,
}

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// OID.
    pub oid: Oid,
    /// Its schema.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// `pg_class.relreplident`
    pub identity: u8,
    /// Its TOAST table; 0 if none.
    pub toast: Oid,
    /// The partitioned table that it is a partition of; 0 if none.
    pub parent: Oid,
    /// Columns, dropped ones included.
    pub columns: Vec<DescribedColumn>,
    /// How they lie in rows.
    pub layout: RowLayout,
}

fn put_name(out: &mut Vec<u8>, name: &str) {
    debug_assert!(name.len() < 256, "a name has 63 bytes at most");
    out.push(name.len() as u8);
    out.extend_from_slice(name.as_bytes());
}

impl Description {
    /// Its bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(64 + 32 * self.columns.len());
        out.push(VERSION);
        out.extend_from_slice(&self.oid.0.to_le_bytes());
        put_name(&mut out, &self.schema);
        put_name(&mut out, &self.name);
        out.push(self.identity);
        out.extend_from_slice(&self.toast.0.to_le_bytes());
        out.extend_from_slice(&self.parent.0.to_le_bytes());
        out.extend_from_slice(&(self.columns.len() as u16).to_le_bytes());
        for column in &self.columns {
            put_name(&mut out, &column.name);
            out.extend_from_slice(&column.type_oid.0.to_le_bytes());
            out.extend_from_slice(&column.typmod.to_le_bytes());
            let flags = [column.dropped, column.key, column.stored, column.computed];
            out.push(flags.iter().enumerate().fold(0, |all, (bit, set)| all | u8::from(*set) << bit));
            let (tag, len) = match column.attr.physical {
                Physical::Fixed(len) => (FIXED, len),
                other => {
                    (TAGS.iter().position(|tag| *tag == other).expect("every class has a number") as u8, 0)
                }
            };
            out.push(tag);
            out.extend_from_slice(&len.to_le_bytes());
            out.extend_from_slice(&[column.attr.align, column.attr.storage]);
        }
        out
    }

    /// The description of these bytes; `None` if they are none.
    pub fn decode(bytes: &[u8]) -> Option<Description> {
        let mut rest = bytes;
        let rest = &mut rest;
        if take::<1>(rest)? != [VERSION] {
            return None;
        }
        let oid = |rest: &mut &[u8]| Some(Oid(u32::from_le_bytes(take(rest)?)));
        let relation = oid(rest)?;
        let (schema, name) = (take_name(rest)?, take_name(rest)?);
        let [identity] = take(rest)?;
        let (toast, parent) = (oid(rest)?, oid(rest)?);
        let count = u16::from_le_bytes(take(rest)?);
        let mut columns = Vec::with_capacity(count.into());
        for _ in 0..count {
            let name = take_name(rest)?;
            let type_oid = oid(rest)?;
            let typmod = i32::from_le_bytes(take(rest)?);
            let [flags, tag] = take(rest)?;
            let len = u16::from_le_bytes(take(rest)?);
            let [align, storage] = take(rest)?;
            let physical = match tag {
                FIXED => Physical::Fixed(len),
                tag => *TAGS.get(tag as usize)?,
            };
            if !matches!(align, 1 | 2 | 4 | 8) {
                return None;
            }
            let has = |bit: u8| flags >> bit & 1 != 0;
            columns.push(DescribedColumn {
                name,
                type_oid,
                typmod,
                dropped: has(0),
                key: has(1),
                stored: has(2),
                computed: has(3),
                attr: Attr { physical, align, storage, compression: None },
            });
        }
        let layout = RowLayout::new(columns.iter().map(|column| column.attr).collect());
        Some(Description { oid: relation, schema, name, identity, toast, parent, columns, layout })
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (head, behind) = rest.split_first_chunk()?;
    *rest = behind;
    Some(*head)
}

fn take_name(rest: &mut &[u8]) -> Option<String> {
    let [length] = take(rest)?;
    let (name, behind) = rest.split_at_checked(length.into())?;
    *rest = behind;
    String::from_utf8(name.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(name: &str, physical: Physical, dropped: bool) -> DescribedColumn {
        let attr = Attr { physical, align: 4, storage: b'x', compression: None };
        DescribedColumn {
            name: name.into(),
            type_oid: Oid(23),
            typmod: -1,
            dropped,
            key: name == "id",
            stored: false,
            computed: name == "c",
            attr,
        }
    }

    #[test]
    fn a_description_comes_back_and_a_cut_one_does_not() {
        let columns = vec![
            column("id", Physical::Int4, false),
            column("gone", Physical::Varlena, true),
            column("c", Physical::Fixed(16), false),
        ];
        let layout = RowLayout::new(columns.iter().map(|column| column.attr).collect());
        let table = Description {
            oid: Oid(16384),
            schema: "s".into(),
            name: "tä".into(),
            identity: b'd',
            toast: Oid(16387),
            parent: Oid::INVALID,
            columns,
            layout,
        };
        let bytes = table.encode();
        assert_eq!(Description::decode(&bytes), Some(table));
        for end in 0..bytes.len() {
            assert_eq!(Description::decode(&bytes[..end]), None, "{end}");
        }
    }
}
