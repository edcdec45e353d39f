//! Search keys: comparison with items, straight from the page bytes, and binary search in a page.

use std::cmp::Ordering;

use base::{OffsetNo, Tid};
use index::bytes::Check;
use index::{Compare, IndexDesc, KeyColumn, as_bytes, decide, decide_column, gallop, null_order};
use tuple::{Datum, Physical, RowBytes, RowLayout, varlena};

use crate::format::{BAD_ROW, Item, Node};

/// A place between entries: before or behind everything that equals a prefix of the key columns (and perhaps a TID).
#[derive(Clone, Copy)]
pub(crate) struct SearchKey<'a> {
    pub desc: &'a IndexDesc,
    /// Leading key columns; not empty.
    pub values: &'a [Datum],
    /// Tie-breaker behind all key columns.
    pub tid: Option<Tid>,
    /// Behind everything equal instead of before it.
    pub behind: bool,
    /// Only items that are not below the key are wanted: a pivot that equals all of the key and has nothing else has only smaller ones to
    /// its left, so the search may go right of it at once.
    pub prefer_right: bool,
    /// The first of `values`, if it is an integer.
    pub int: Option<IntKey>,
}

impl<'a> SearchKey<'a> {
    /// The place before (or behind) everything equal to `values`.
    pub fn new(desc: &'a IndexDesc, values: &'a [Datum], behind: bool) -> SearchKey<'a> {
        let int = IntKey::new(&desc.keys[0], &values[0]);
        SearchKey { desc, values, tid: None, behind, prefer_right: false, int }
    }

    /// Order of the key relative to an item. Columns or a TID that a pivot lacks are minus infinity.
    #[inline]
    pub fn compare(&self, item: &Item<'_>) -> Check<Ordering> {
        let columns = item.columns(&self.desc.layout);
        let n = self.values.len();
        let mut done = 0;
        if columns > 0
            && !item.has_nulls()
            && let Some(order) = compare_first(self.desc, &self.values[0], item)?
        {
            if order != Ordering::Equal {
                return Ok(order);
            }
            done = 1;
        }
        if done < n.min(columns) {
            let order = self.compare_columns(item, done, n.min(columns))?;
            if order != Ordering::Equal {
                return Ok(order);
            }
        }
        if n > columns {
            return Ok(Ordering::Greater);
        }
        self.break_tie(item, columns == n)
    }

    /// All columns compared are equal: the TID decides.
    #[inline]
    fn break_tie(&self, item: &Item<'_>, same_columns: bool) -> Check<Ordering> {
        let Some(tid) = self.tid else {
            let right = self.prefer_right && same_columns && item.is_pivot() && item.pivot_tid()?.is_none();
            return Ok(if right { Ordering::Greater } else { Ordering::Equal });
        };
        if item.is_pivot() {
            return Ok(item.pivot_tid()?.map_or(Ordering::Greater, |other| tid.cmp(&other)));
        }
        if tid < item.first_tid()? {
            return Ok(Ordering::Less);
        }
        Ok(if tid > item.last_tid()? { Ordering::Greater } else { Ordering::Equal })
    }

    fn compare_columns(&self, item: &Item<'_>, from: usize, to: usize) -> Check<Ordering> {
        let row = item.row(&self.desc.layout)?;
        let mut walk = Walk::new(&self.desc.layout, row);
        for _ in 0..from {
            walk.next()?;
        }
        for i in from..to {
            let stored = walk.next()?;
            let order = compare_stored(&self.desc.keys[i], &self.values[i], stored)?;
            if order != Ordering::Equal {
                return Ok(order);
            }
        }
        Ok(Ordering::Equal)
    }

    /// Whether the key's place is to the right of a page with this high key.
    #[inline]
    pub fn beyond(&self, high: &Item<'_>) -> Check<bool> {
        let order = self.compare(high)?;
        Ok(if self.behind { order != Ordering::Less } else { order == Ordering::Greater })
    }

    /// [`beyond`](Self::beyond) for item `n` of a page, which has as many.
    #[inline(always)]
    fn beyond_at(&self, node: &Node<'_>, n: OffsetNo) -> Check<bool> {
        match self.first_order(node, n) {
            Some(Ordering::Less) => Ok(false),
            Some(Ordering::Greater) => Ok(true),
            first => self.beyond_undecided(node, n, first),
        }
    }

    /// The same where the first value does not decide.
    #[inline(never)]
    fn beyond_undecided(&self, node: &Node<'_>, n: OffsetNo, first: Option<Ordering>) -> Check<bool> {
        let whole = || self.values.len() == 1 && self.tid.is_none() && node.op.is_leaf() && n >= node.first();
        match first {
            Some(_) if whole() => Ok(self.behind),
            _ => self.beyond(&node.item(n)?),
        }
    }

    /// Order of the first value, if it is an integer, relative to that of item `n`, if it has one.
    #[inline]
    fn first_order(&self, node: &Node<'_>, n: OffsetNo) -> Option<Ordering> {
        let int = self.int.as_ref()?;
        let order = int.value.cmp(&int.width.stored(node, n)?);
        Some(if int.descending { order.reverse() } else { order })
    }

    /// Whether the key's place is to the right of a page; that of the right-most page of a level never is.
    #[inline]
    pub fn beyond_page(&self, node: &Node<'_>) -> Check<bool> {
        if node.op.rightmost() {
            return Ok(false);
        }
        // Of a page that is no longer in the tree nothing is asked: item 1 is a high key.
        match self.first_order(node, 1) {
            Some(Ordering::Less) => Ok(false),
            Some(Ordering::Greater) => Ok(true),
            _ => node.high_key()?.map_or(Ok(false), |high| self.beyond(&high)),
        }
    }

    /// First data item of the page behind the key's place; one more than the last if there is none.
    ///
    /// By an integer, or a byte string, it begins where the key would be if those on the page were spread evenly. A binary search touches two cold cache
    /// lines in each of its steps; from a good guess nearly all that is compared lies side by side. A bad guess costs about as many steps again.
    #[inline]
    pub fn search(&self, node: &Node<'_>) -> Check<OffsetNo> {
        let (low, high) = (node.first(), node.max() + 1);
        let guess = match &self.int {
            Some(int) => int.guess(node, low, high),
            None => self.guess_bytes(node, low, high),
        };
        match guess {
            Some(guess) if self.beyond_at(node, guess)? => self.gallop(node, guess + 1),
            Some(guess) => self.gallop_back(node, low, guess),
            None => self.halve(node, low, high),
        }
    }

    /// Where in `low..high` the key would be, if its first value is a byte string: by the bytes behind those that all on the page have in common.
    fn guess_bytes(&self, node: &Node<'_>, low: OffsetNo, high: OffsetNo) -> Option<OffsetNo> {
        let (key, layout) = (&self.desc.keys[0], &self.desc.layout);
        let by_bytes = matches!(key.compare, Compare::Bytes) && layout.starts_with_varlena();
        if !by_bytes || high < low + WORTH_A_GUESS {
            return None;
        }
        let value = as_bytes(&self.values[0])?;
        let stored = |n| {
            let item = node.item(n).ok()?;
            let plain = item.columns(layout) > 0 && !item.has_nulls();
            plain.then(|| varlena::short(&item.bytes()[8..])).flatten()
        };
        let from = stored(low).or_else(|| stored(low + 1))?;
        let to = stored(if node.op.rightmost() { high - 1 } else { 1 })?;
        let common = from.iter().zip(to).take_while(|(a, b)| a == b).count();
        let behind = |bytes: &[u8]| {
            let mut head = [0; 8];
            let rest = bytes.get(common..).unwrap_or_default();
            head.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
            u64::from_be_bytes(head) as f64
        };
        let share = match value.get(..common).unwrap_or(value).cmp(&from[..common]) {
            Ordering::Equal => (behind(value) - behind(from)) / (behind(to) - behind(from)),
            _ => return None,
        };
        // Not a number if all are equal; the cast makes that zero.
        Some(low + (share.clamp(0.0, 1.0) * f64::from(high - 1 - low)) as OffsetNo)
    }

    /// As [`SearchKey::search`], among items `low..high`.
    #[inline]
    fn halve(&self, node: &Node<'_>, mut low: OffsetNo, mut high: OffsetNo) -> Check<OffsetNo> {
        while low < high {
            let middle = low + (high - low) / 2;
            if self.beyond_at(node, middle)? { low = middle + 1 } else { high = middle }
        }
        Ok(low)
    }

    /// As [`SearchKey::search`] from item `from` on, cheap when the place is near.
    pub fn gallop(&self, node: &Node<'_>, from: OffsetNo) -> Check<OffsetNo> {
        let end = node.max() + 1;
        let (mut low, mut step) = (from, 0);
        while low < end {
            let probe = (low + step).min(end - 1);
            if !self.beyond_at(node, probe)? {
                return if low == probe { Ok(low) } else { self.halve(node, low, probe) };
            }
            // One, one, two, four: most keys are there once.
            step = (2 * step).max(OffsetNo::from(low > from));
            low = probe + 1;
        }
        Ok(end)
    }

    /// As [`SearchKey::search`] among items `low..high`, cheap when the place is near `high`.
    pub fn gallop_back(&self, node: &Node<'_>, low: OffsetNo, mut high: OffsetNo) -> Check<OffsetNo> {
        let mut step = 1;
        while low < high {
            let probe = high.saturating_sub(step).max(low);
            if self.beyond_at(node, probe)? {
                return self.halve(node, probe + 1, high);
            }
            high = probe;
            step *= 2;
        }
        Ok(high)
    }
}

/// The value of a first key column that is an integer: items are compared with it without being taken apart.
#[derive(Clone, Copy)]
pub(crate) struct IntKey {
    value: i64,
    width: Width,
    descending: bool,
}

/// How an integer is stored.
#[derive(Clone, Copy, Debug)]
enum Width {
    Signed4,
    Unsigned4,
    Signed8,
}

impl Width {
    /// The first column of an item; `None` if it has none there, or NULL.
    #[inline]
    fn stored(self, node: &Node<'_>, n: OffsetNo) -> Option<i64> {
        let bytes = node.plain_head(n)?;
        Some(match self {
            Width::Signed4 => i64::from(i32::from_le_bytes(*bytes.first_chunk()?)),
            Width::Unsigned4 => i64::from(u32::from_le_bytes(*bytes.first_chunk()?)),
            Width::Signed8 => i64::from_le_bytes(*bytes),
        })
    }
}

/// Several values of a first key column, all of them integers, in the order of a scan.
#[derive(Clone, Debug)]
pub(crate) struct IntList {
    values: Vec<i64>,
    width: Width,
    /// The index has them from the greatest to the least.
    descending: bool,
}

impl IntList {
    /// `None` if one of them is no integer.
    pub fn new(column: &KeyColumn, list: &[Datum]) -> Option<IntList> {
        let IntKey { width, descending, .. } = IntKey::new(column, list.first()?)?;
        let values = list.iter().map(|value| IntKey::new(column, value).map(|int| int.value));
        Some(IntList { values: values.collect::<Option<_>>()?, width, descending })
    }

    /// Of a scan that goes forward: from value `at` on, the first that is not before the first column of item `n`, and whether it equals that.
    /// `None` if there is no such value, or the item has no such column, or NULL there.
    #[inline]
    pub fn meet(&self, node: &Node<'_>, n: OffsetNo, at: usize) -> Option<(usize, bool)> {
        let stored = self.width.stored(node, n)?;
        let before = |value: &i64| if self.descending { *value > stored } else { *value < stored };
        let at = at + gallop(self.values.get(at..)?, before);
        Some((at, *self.values.get(at)? == stored))
    }
}

/// Items from which on a guess is cheaper than halving.
const WORTH_A_GUESS: OffsetNo = 16;

impl IntKey {
    #[inline]
    fn new(column: &KeyColumn, value: &Datum) -> Option<IntKey> {
        let (value, width) = match (column.compare, value) {
            (Compare::Int4, Datum::Int4(v)) => (i64::from(*v), Width::Signed4),
            (Compare::Int8, Datum::Int8(v)) => (*v, Width::Signed8),
            (Compare::Oid, Datum::Oid(v)) => (i64::from(*v), Width::Unsigned4),
            _ => return None,
        };
        Some(IntKey { value, width, descending: column.descending })
    }

    /// Where in `low..high` the key would be.
    #[inline]
    fn guess(&self, node: &Node<'_>, low: OffsetNo, high: OffsetNo) -> Option<OffsetNo> {
        if high < low + WORTH_A_GUESS {
            return None;
        }
        // The left-most item of a level's left-most page has no columns.
        let stored = |n| self.width.stored(node, n);
        let from = stored(low).or_else(|| stored(low + 1))?;
        let to = stored(if node.op.rightmost() { high - 1 } else { 1 })?;
        let share = (self.value as f64 - from as f64) / (to as f64 - from as f64);
        // Not a number if both are equal; the cast makes that zero.
        Some(low + (share.clamp(0.0, 1.0) * f64::from(high - 1 - low)) as OffsetNo)
    }
}

/// The first column of an item without nulls, for columns that lie plainly at the start of the data.
#[inline]
fn compare_first(desc: &IndexDesc, value: &Datum, item: &Item<'_>) -> Check<Option<Ordering>> {
    let key = &desc.keys[0];
    let bytes = &item.bytes()[8..];
    let order = match (key.compare, value) {
        (Compare::Int4, Datum::Int4(v)) => v.cmp(&i32::from_le_bytes(chunk(bytes)?)),
        (Compare::Int8, Datum::Int8(v)) => v.cmp(&i64::from_le_bytes(chunk(bytes)?)),
        (Compare::Oid, Datum::Oid(v)) => v.cmp(&u32::from_le_bytes(chunk(bytes)?)),
        (Compare::Int2, Datum::Int2(v)) => v.cmp(&i16::from_le_bytes(chunk(bytes)?)),
        (Compare::Bytes, Datum::Bytes(v)) if desc.layout.starts_with_varlena() => {
            let Some(stored) = varlena::short(bytes) else { return Ok(None) };
            v.as_slice().cmp(stored)
        }
        (Compare::By(by), Datum::Bytes(v)) if desc.layout.starts_with_varlena() => {
            match varlena::short(bytes).and_then(|stored| by.compare_bytes(v, stored)) {
                Some(order) => order,
                None => return Ok(None),
            }
        }
        _ => return Ok(None),
    };
    Ok(Some(if key.descending { order.reverse() } else { order }))
}

#[inline]
fn chunk<const N: usize>(bytes: &[u8]) -> Check<[u8; N]> {
    bytes.first_chunk().copied().ok_or(BAD_ROW)
}

/// A column as it lies in an item.
#[derive(Clone, Copy)]
enum Stored<'a> {
    Null,
    Fixed(Physical, &'a [u8]),
    Variable(varlena::View<'a>),
}

/// Walks the columns of an item without building values.
struct Walk<'a, 'l> {
    layout: &'l RowLayout,
    row: RowBytes<'a>,
    column: usize,
    at: usize,
}

impl<'a, 'l> Walk<'a, 'l> {
    fn new(layout: &'l RowLayout, row: RowBytes<'a>) -> Walk<'a, 'l> {
        Walk { layout, row, column: 0, at: 0 }
    }

    fn next(&mut self) -> Check<Stored<'a>> {
        let column = self.column;
        self.column += 1;
        if self.row.is_null(column) {
            return Ok(Stored::Null);
        }
        let attr = self.layout.attrs().get(column).ok_or(BAD_ROW)?;
        let mask = attr.align.max(1) as usize - 1;
        let aligned = (self.at + mask) & !mask;
        if let Some(len) = attr.physical.fixed_len() {
            self.at = aligned + len;
            let bytes = self.row.data.get(aligned..aligned + len).ok_or(BAD_ROW)?;
            return Ok(Stored::Fixed(attr.physical, bytes));
        }
        // A zero byte is padding before an aligned value, unless the place is aligned anyway.
        let start = if self.row.data.get(self.at) == Some(&0) { aligned } else { self.at };
        let (view, len) = varlena::parse(self.row.data.get(start..).ok_or(BAD_ROW)?).map_err(|_| BAD_ROW)?;
        self.at = start + len;
        Ok(Stored::Variable(view))
    }
}

/// Order of a search value relative to a stored one, in index order.
fn compare_stored(key: &KeyColumn, value: &Datum, stored: Stored<'_>) -> Check<Ordering> {
    let order = match (value.is_null(), matches!(stored, Stored::Null)) {
        (true, true) => return Ok(Ordering::Equal),
        (true, false) => return Ok(null_order(key)),
        (false, true) => return Ok(null_order(key).reverse()),
        _ => match (key.compare, stored) {
            (Compare::Bytes, Stored::Variable(varlena::View::Plain(bytes))) => {
                as_bytes(value).ok_or(BAD_ROW)?.cmp(bytes)
            }
            (Compare::Bytes, Stored::Fixed(Physical::Fixed(_), bytes)) => {
                as_bytes(value).ok_or(BAD_ROW)?.cmp(bytes)
            }
            (Compare::Bytes, Stored::Fixed(Physical::Name, bytes)) => {
                let len = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
                as_bytes(value).ok_or(BAD_ROW)?.cmp(&bytes[..len])
            }
            (Compare::By(by), Stored::Variable(varlena::View::Plain(bytes)))
                if let Some(value) = as_bytes(value)
                    && let Some(order) = by.compare_bytes(value, bytes) =>
            {
                order
            }
            _ => decide(key.compare, value, &to_datum(stored)?)?,
        },
    };
    Ok(if key.descending { order.reverse() } else { order })
}

fn to_datum(stored: Stored<'_>) -> Check<Datum> {
    Ok(match stored {
        Stored::Null => Datum::Null,
        Stored::Variable(varlena::View::Plain(bytes)) => Datum::Bytes(bytes.into()),
        Stored::Variable(varlena::View::Compressed { method, raw_size, bytes }) => {
            Datum::Bytes(varlena::decompress(bytes, raw_size as usize, method).map_err(|_| BAD_ROW)?.into())
        }
        Stored::Variable(varlena::View::External(_)) => return Err("index entry points to a TOAST table"),
        Stored::Fixed(physical, bytes) => match physical {
            Physical::Bool => Datum::Bool(bytes[0] != 0),
            Physical::Char => Datum::Char(bytes[0]),
            Physical::Int2 => Datum::Int2(i16::from_le_bytes(chunk(bytes)?)),
            Physical::Int4 => Datum::Int4(i32::from_le_bytes(chunk(bytes)?)),
            Physical::Int8 => Datum::Int8(i64::from_le_bytes(chunk(bytes)?)),
            Physical::Oid => Datum::Oid(u32::from_le_bytes(chunk(bytes)?)),
            Physical::Float4 => Datum::Float4(f32::from_le_bytes(chunk(bytes)?)),
            Physical::Float8 => Datum::Float8(f64::from_le_bytes(chunk(bytes)?)),
            Physical::Fixed(_) | Physical::Varlena => Datum::Bytes(bytes.into()),
            Physical::Name => {
                let len = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
                Datum::Bytes(bytes[..len].into())
            }
        },
    })
}

/// Number of leading key columns in which two items' decoded values are equal.
pub(crate) fn equal_prefix(desc: &IndexDesc, a: &[Datum], b: &[Datum]) -> Check<usize> {
    let mut equal = 0;
    for (key, (a, b)) in desc.keys.iter().zip(a.iter().zip(b)) {
        if decide_column(key, a, b)?.is_ne() {
            break;
        }
        equal += 1;
    }
    Ok(equal)
}
