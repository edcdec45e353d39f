//! Large objects: who they belong to (`pg_largeobject_metadata`), and their bytes in pages (`pg_largeobject`).
//!
//! # Invariants
//! 1. A page holds [`PAGE`] bytes at most; what is missing in one, and pages that are missing, are zeros up to the last byte of the last page.
//! 2. In `pg_depend` and its kin their class is `pg_largeobject`, though that catalog has no OIDs.
//!
//! # PostgreSQL counterpart
//! `catalog/pg_largeobject.c`, `storage/large_object/inv_api.c`.

use base::{Oid, SqlResult, sql_err};
use index::{Direction, ScanKey, ScanOp, strategy};
use tuple::{Bytes, Datum};
use txn::Snapshot;

use super::{Changer, ObjectAddress};
use crate::authority::AclKind;
use crate::database::Reader;
use crate::row::{Row, RowBuilder, RowExt};
use crate::system::{pg_largeobject as p, pg_largeobject_metadata as m};
use crate::tables::Place;

/// Bytes of a page.
const PAGE: u64 = 2048;

/// Largest size of an object.
pub const MAX_LARGE_OBJECT: u64 = i32::MAX as u64 * PAGE;

impl ObjectAddress {
    /// A large object.
    pub fn large_object(oid: Oid) -> ObjectAddress {
        ObjectAddress { class: p::TABLE.oid, object: oid, sub: 0 }
    }
}

fn bytes_of(row: &Row) -> &[u8] {
    match &row[p::DATA] {
        Datum::Bytes(bytes) => bytes,
        _ => &[],
    }
}

impl Reader<'_> {
    /// Owner and ACL of a large object (`pg_largeobject_metadata`), as of a snapshot or now.
    pub fn large_object(&self, oid: Oid, snapshot: Option<&Snapshot>) -> SqlResult<Option<Row>> {
        let mut found = None;
        let key = vec![ScanKey { column: 0, op: ScanOp::Strategy(strategy::EQUAL, oid.into()) }];
        let index = m::PG_LARGEOBJECT_METADATA_OID_INDEX;
        self.visit(&m::TABLE, index, (key, Direction::Forward), snapshot, |_, row| {
            found = Some(row);
            Ok(false)
        })?;
        Ok(found)
    }

    /// Calls `each` with the pages of a large object from one on, until it has enough.
    fn pages(
        &self,
        oid: Oid,
        (from, direction): (i32, Direction),
        snapshot: Option<&Snapshot>,
        mut each: impl FnMut(Place, Row) -> SqlResult<bool>,
    ) -> SqlResult<()> {
        let keys = vec![
            ScanKey { column: 0, op: ScanOp::Strategy(strategy::EQUAL, oid.into()) },
            ScanKey { column: 1, op: ScanOp::Strategy(strategy::GREATER_EQUAL, from.into()) },
        ];
        let index = p::PG_LARGEOBJECT_LOID_PN_INDEX;
        self.visit(&p::TABLE, index, (keys, direction), snapshot, |place, row| {
            runtime::check_interrupts()?;
            each(place, row)
        })
    }

    /// The size of a large object in bytes.
    pub fn large_object_size(&self, oid: Oid, snapshot: Option<&Snapshot>) -> SqlResult<u64> {
        let mut size = 0;
        self.pages(oid, (0, Direction::Backward), snapshot, |_, row| {
            size = row.int(p::PAGENO) as u64 * PAGE + bytes_of(&row).len() as u64;
            Ok(false)
        })?;
        Ok(size)
    }

    /// Up to `count` bytes of a large object.
    pub fn read_large_object(
        &self,
        oid: Oid,
        offset: u64,
        count: usize,
        snapshot: Option<&Snapshot>,
    ) -> SqlResult<Vec<u8>> {
        let mut out = Vec::new();
        if offset >= MAX_LARGE_OBJECT || count == 0 {
            return Ok(out);
        }
        let end = offset + count as u64;
        self.pages(oid, ((offset / PAGE) as i32, Direction::Forward), snapshot, |_, row| {
            let (page, bytes) = (row.int(p::PAGENO) as u64 * PAGE, bytes_of(&row));
            if page >= end {
                // What lies between is a hole up to there.
                out.resize(count, 0);
                return Ok(false);
            }
            let at = offset + out.len() as u64;
            if page > at {
                out.resize((page - offset) as usize, 0);
            }
            let at = offset + out.len() as u64;
            let part = bytes.get((at - page) as usize..).unwrap_or_default();
            out.extend_from_slice(&part[..part.len().min((end - at) as usize)]);
            Ok(out.len() < count)
        })?;
        Ok(out)
    }
}

impl Changer<'_> {
    /// Makes an empty large object, with a new OID if 0 is given. Returns its OID.
    pub fn create_large_object(&mut self, oid: Oid, owner: Oid) -> SqlResult<Oid> {
        let oid = match oid.is_valid() {
            true => oid,
            false => loop {
                let new = self.new_oid();
                if self.reader().large_object(new, None)?.is_none() {
                    break new;
                }
            },
        };
        let index = m::PG_LARGEOBJECT_METADATA_OID_INDEX;
        if self.reader().find_one(&m::TABLE, index, &[oid.into()])?.is_some() {
            return Err(sql_err!(
                UNIQUE_VIOLATION,
                "duplicate key value violates unique constraint \"pg_largeobject_metadata_oid_index\""
            )
            .detail(format!("Key (oid)=({oid}) already exists.")));
        }
        let row = RowBuilder::new(&m::TABLE).set(m::OID, oid).set(m::LOMOWNER, owner);
        self.insert(&m::TABLE, &row.build())?;
        let me = ObjectAddress::large_object(oid);
        self.note_new(&AclKind::LARGE_OBJECT, me, owner, Oid::INVALID)?;
        self.next_command()?;
        Ok(oid)
    }

    /// A page of a large object as it is now.
    fn page(&self, oid: Oid, number: i32) -> SqlResult<Option<(Place, Row)>> {
        self.reader().find_one(&p::TABLE, p::PG_LARGEOBJECT_LOID_PN_INDEX, &[oid.into(), number.into()])
    }

    fn put_page(
        &mut self,
        oid: Oid,
        number: i32,
        old: Option<(Place, Row)>,
        bytes: Vec<u8>,
    ) -> SqlResult<()> {
        let row = RowBuilder::new(&p::TABLE)
            .set(p::LOID, oid)
            .set(p::PAGENO, number)
            .set(p::DATA, Datum::Bytes(Bytes::from(bytes)))
            .build();
        match old {
            Some((place, old)) => self.update(&p::TABLE, place, &old, &row),
            None => self.insert(&p::TABLE, &row),
        }
    }

    /// Writes bytes into a large object, which grows where it must.
    pub fn write_large_object(&mut self, oid: Oid, offset: u64, mut bytes: &[u8]) -> SqlResult<()> {
        let mut at = offset;
        while !bytes.is_empty() {
            runtime::check_interrupts()?;
            let (number, within) = ((at / PAGE) as i32, (at % PAGE) as usize);
            let (part, rest) = bytes.split_at(bytes.len().min(PAGE as usize - within));
            let old = self.page(oid, number)?;
            let mut page = old.as_ref().map_or_else(Vec::new, |(_, row)| bytes_of(row).to_vec());
            if page.len() < within + part.len() {
                page.resize(within + part.len(), 0);
            }
            page[within..within + part.len()].copy_from_slice(part);
            self.put_page(oid, number, old, page)?;
            at += part.len() as u64;
            bytes = rest;
        }
        self.next_command()
    }

    /// Cuts a large object, or lets it grow with zeros.
    pub fn truncate_large_object(&mut self, oid: Oid, length: u64) -> SqlResult<()> {
        let (number, within) = ((length / PAGE) as i32, (length % PAGE) as usize);
        let old = self.page(oid, number)?;
        let mut page = old.as_ref().map_or_else(Vec::new, |(_, row)| bytes_of(row).to_vec());
        page.resize(within, 0);
        self.put_page(oid, number, old, page)?;
        self.drop_pages(oid, number.saturating_add(1))?;
        self.next_command()
    }

    /// Removes the pages from one on.
    fn drop_pages(&mut self, oid: Oid, from: i32) -> SqlResult<()> {
        let mut doomed = Vec::new();
        self.reader().pages(oid, (from, Direction::Forward), None, |_, row| {
            doomed.push(row.int(p::PAGENO));
            Ok(true)
        })?;
        for number in doomed {
            runtime::check_interrupts()?;
            if let Some((place, row)) = self.page(oid, number)? {
                self.delete(&p::TABLE, place, &row)?;
            }
        }
        Ok(())
    }

    pub(super) fn drop_large_object(&mut self, oid: Oid) -> SqlResult<()> {
        self.drop_pages(oid, 0)?;
        let index = m::PG_LARGEOBJECT_METADATA_OID_INDEX;
        self.delete_where(&m::TABLE, index, &[oid.into()], |_| true)?;
        Ok(())
    }
}
