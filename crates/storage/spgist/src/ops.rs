//! Pure changes of one page. A record has for each page the changes in their order, as [`Op`]s; normal running and redo call the same [`apply`].

use base::{BlockNo, OffsetNo, PAGE_SIZE};
use index::bytes::{Check, Reader, put_sized};
use page::{LinePointer, PageBytes};

use crate::format::{
    Bucket, FREE, HEADER, Item, Link, Place, SPECIAL, bucket, item, items, parse, set_link, set_special,
    special,
};

/// One change of a page.
#[derive(Clone, Debug)]
pub(crate) enum Op<'a> {
    /// Makes it an empty page of the tree.
    Init,
    /// Puts an item at a number, in place of one that may be there.
    Put(OffsetNo, &'a [u8]),
    /// Adds an entry to a bucket.
    Append(OffsetNo, &'a [u8]),
    /// Sets a link.
    Set(OffsetNo, Link, Place),
    /// Removes entries from a bucket, by their numbers from 0, ascending.
    Remove(OffsetNo, &'a [u16]),
    /// Takes an item away; its number may be used again.
    Drop(OffsetNo),
}

const INIT: u8 = 0;
const PUT: u8 = 1;
const APPEND: u8 = 2;
const SET: u8 = 3;
const REMOVE: u8 = 4;
const DROP: u8 = 5;
const REST: u16 = u16::MAX;

const NO_ROOM: &str = "item does not fit on the page";
const NO_ITEM: &str = "there is no such item";

/// Appends what a record says of a change.
pub(crate) fn encode(op: &Op<'_>, out: &mut Vec<u8>) {
    let mut head = |code: u8, n: OffsetNo| {
        out.push(code);
        out.extend_from_slice(&n.to_le_bytes());
    };
    match op {
        Op::Init => head(INIT, 0),
        Op::Put(n, _) => head(PUT, *n),
        Op::Append(n, _) => head(APPEND, *n),
        Op::Set(n, ..) => head(SET, *n),
        Op::Remove(n, _) => head(REMOVE, *n),
        Op::Drop(n) => head(DROP, *n),
    }
    match op {
        Op::Put(_, bytes) | Op::Append(_, bytes) => put_sized(bytes, out),
        Op::Set(_, link, to) => {
            let node = match link {
                Link::Node(node) => *node as u16,
                Link::Rest => REST,
            };
            out.extend_from_slice(&node.to_le_bytes());
            out.extend_from_slice(&to.item.to_le_bytes());
            out.extend_from_slice(&to.block.0.to_le_bytes());
        }
        Op::Remove(_, numbers) => {
            out.extend_from_slice(&(numbers.len() as u16).to_le_bytes());
            numbers.iter().for_each(|n| out.extend_from_slice(&n.to_le_bytes()));
        }
        Op::Init | Op::Drop(_) => {}
    }
}

/// Carries out a change. A page that it fails on is useless.
pub(crate) fn apply(page: &mut PageBytes, op: &Op<'_>) -> Check<()> {
    match op {
        Op::Init => {
            init(page);
            Ok(())
        }
        Op::Put(n, bytes) => {
            parse(bytes)?;
            match page::item(page, *n) {
                Some(_) => page::overwrite(page, *n, bytes).then_some(()).ok_or(NO_ROOM),
                None => page::add_item(page, bytes, Some(*n)).map(|_| ()).ok_or(NO_ROOM),
            }
        }
        Op::Append(n, entry) => append(page, *n, entry),
        Op::Set(n, link, to) => set_link(page::item_mut(page, *n).ok_or(NO_ITEM)?, *link, *to),
        Op::Remove(n, numbers) => {
            let left = without(&bucket_at(page, *n)?, numbers)?;
            page::overwrite(page, *n, &left).then_some(()).ok_or(NO_ROOM)
        }
        Op::Drop(n) => {
            page::item(page, *n).ok_or(NO_ITEM)?;
            page::set_line_pointer(page, *n, LinePointer::UNUSED);
            page::repair(page).map_err(|_| "the page's structure is damaged")
        }
    }
}

/// Carries out what a record says of a page.
pub(crate) fn redo(page: &mut PageBytes, bytes: &[u8]) -> Check<()> {
    let mut r = Reader(bytes);
    while !r.0.is_empty() {
        let code = r.take(1)?[0];
        let n = r.u16()?;
        match code {
            INIT => apply(page, &Op::Init)?,
            PUT => apply(page, &Op::Put(n, r.sized()?))?,
            APPEND => apply(page, &Op::Append(n, r.sized()?))?,
            SET => {
                let node = r.u16()?;
                let link = if node == REST { Link::Rest } else { Link::Node(node as usize) };
                let item = r.u16()?;
                apply(page, &Op::Set(n, link, Place { item, block: r.block()? }))?;
            }
            REMOVE => {
                let count = r.u16()?;
                let numbers = (0..count).map(|_| r.u16()).collect::<Check<Vec<u16>>>()?;
                apply(page, &Op::Remove(n, &numbers))?;
            }
            DROP => apply(page, &Op::Drop(n))?,
            _ => return Err("the record has an unknown change"),
        }
    }
    Ok(())
}

/// Makes a page an empty one, keeping only its LSN.
pub(crate) fn init(page: &mut PageBytes) {
    let mut new: PageBytes = [0; PAGE_SIZE];
    page::init(&mut new, SPECIAL);
    page::set_lsn(&mut new, page::lsn(page));
    set_special(&mut new, 0, BlockNo(0));
    *page = new;
}

fn bucket_at(page: &PageBytes, n: OffsetNo) -> Check<Bucket<'_>> {
    match item(page, n)?.ok_or(NO_ITEM)? {
        Item::Bucket(bucket) => Ok(bucket),
        _ => Err("item is no bucket"),
    }
}

fn append(page: &mut PageBytes, n: OffsetNo, entry: &[u8]) -> Check<()> {
    let bucket = bucket_at(page, n)?;
    let count = bucket.count() as u16 + 1;
    let mut bytes = Vec::with_capacity(bucket.bytes().len() + entry.len());
    bytes.extend_from_slice(bucket.bytes());
    bytes.extend_from_slice(entry);
    bytes[2..4].copy_from_slice(&count.to_le_bytes());
    page::overwrite(page, n, &bytes).then_some(()).ok_or(NO_ROOM)
}

/// A bucket without some of its entries.
fn without(of: &Bucket<'_>, numbers: &[u16]) -> Check<Vec<u8>> {
    let mut left = Vec::with_capacity(of.count());
    let mut doomed = numbers.iter().peekable();
    for (at, entry) in of.entries().enumerate() {
        let entry = entry?;
        if doomed.next_if(|&&n| n as usize == at).is_none() {
            left.push(entry.bytes());
        }
    }
    if doomed.next().is_some() {
        return Err("entries to remove are not there");
    }
    Ok(bucket(&left, of.rest()))
}

/// Puts a page without items, or one that was never used, on the list of free pages, before `next`.
pub(crate) fn mark_free(page: &mut PageBytes, next: BlockNo) -> Check<()> {
    if !page::is_new(page) {
        special(page)?;
        if items(page).next().is_some() {
            return Err("page to be freed has items");
        }
    }
    init(page);
    set_special(page, FREE, next);
    Ok(())
}

/// Takes a page off the list of free pages.
pub(crate) fn unmark_free(page: &mut PageBytes) -> Check<()> {
    special(page)?;
    set_special(page, 0, BlockNo(0));
    Ok(())
}

/// On the head: the list of free pages begins with `first`.
pub(crate) fn set_free(head: &mut PageBytes, first: BlockNo) -> Check<()> {
    special(head)?;
    set_special(head, 0, first);
    Ok(())
}

/// Bytes that an entry needs of a page beside its bucket's.
pub(crate) fn fits(page: &PageBytes, more: usize) -> bool {
    page::free_space(page) >= more
}

const _: () = assert!(HEADER.is_multiple_of(8));
