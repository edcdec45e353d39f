//! Lists of TIDs as bytes: distances between neighbours, 7 bits a byte.

use index::bytes::Check;

/// Most bytes of a distance.
pub(crate) const LONGEST: usize = 7;

/// Bytes of a distance.
pub(crate) fn size(distance: u64) -> usize {
    (64 - (distance | 1).leading_zeros() as usize).div_ceil(7)
}

/// Appends a distance.
pub(crate) fn put(mut distance: u64, out: &mut Vec<u8>) {
    while distance >= 0x80 {
        out.push(distance as u8 | 0x80);
        distance >>= 7;
    }
    out.push(distance as u8);
}

/// Appends the distances of TIDs that follow `last`, ascending.
pub(crate) fn encode_behind(mut last: u64, tids: &[u64], out: &mut Vec<u8>) {
    for &tid in tids {
        put(tid - last, out);
        last = tid;
    }
}

/// Takes a distance from the front.
pub(crate) fn take(bytes: &mut &[u8]) -> Check<u64> {
    let (mut value, mut shift) = (0, 0);
    loop {
        let (&byte, rest) = bytes.split_first().ok_or("list of rows is too short")?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(value);
        }
        shift += 7;
        if shift > 42 {
            return Err("distance between rows is too large");
        }
    }
}

/// Appends `count` TIDs, of which the first is known and the others come from a list. Returns the last.
pub(crate) fn decode(first: u64, mut list: &[u8], count: usize, out: &mut Vec<u64>) -> Check<u64> {
    if count == 0 {
        return Err("list of rows is empty");
    }
    let start = out.len();
    out.resize(start + count, first);
    let mut last = first;
    for place in &mut out[start + 1..] {
        // Most distances have three bytes: rows of one key are some pages apart.
        let distance = match *list {
            [a, ref rest @ ..] if a < 0x80 => {
                list = rest;
                u64::from(a)
            }
            [a, b, ref rest @ ..] if b < 0x80 => {
                list = rest;
                u64::from(a & 0x7f) | u64::from(b) << 7
            }
            [a, b, c, ref rest @ ..] if c < 0x80 => {
                list = rest;
                u64::from(a & 0x7f) | u64::from(b & 0x7f) << 7 | u64::from(c) << 14
            }
            _ => take(&mut list)?,
        };
        if distance == 0 {
            return Err("a row is in a list twice");
        }
        last += distance;
        *place = last;
    }
    if list.is_empty() && last < 1 << 48 { Ok(last) } else { Err("list of rows is too long") }
}

/// Adds ascending TIDs to ascending ones; true if any was new.
pub(crate) fn merge(old: &[u64], new: &[u64]) -> Option<Vec<u64>> {
    let mut out = Vec::with_capacity(old.len() + new.len());
    let (mut a, mut b) = (old, new);
    loop {
        match (a, b) {
            ([x, rest @ ..], [y, ..]) if x < y => {
                out.push(*x);
                a = rest;
            }
            ([x, left @ ..], [y, right @ ..]) if x == y => {
                out.push(*x);
                (a, b) = (left, right);
            }
            (_, [y, rest @ ..]) => {
                out.push(*y);
                b = rest;
            }
            (left, []) => {
                out.extend_from_slice(left);
                break;
            }
        }
    }
    (out.len() > old.len()).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let tids = [3, 4, 131, 132, 100_000, 100_001, 1 << 42, (1 << 43) - 1];
        let mut bytes = Vec::new();
        encode_behind(tids[0], &tids[1..], &mut bytes);
        let sizes: usize = tids.windows(2).map(|two| size(two[1] - two[0])).sum();
        assert_eq!(sizes, bytes.len());
        let mut out = Vec::new();
        assert_eq!(decode(tids[0], &bytes, tids.len(), &mut out), Ok(tids[7]));
        assert_eq!(out, tids);
    }

    #[test]
    fn damage_is_told() {
        let mut out = Vec::new();
        for (list, count) in [(&[][..], 0), (&[], 2), (&[0x80], 2), (&[0], 2), (&[1, 1], 2), (&[0xff; 9], 2)]
        {
            assert!(decode(1, list, count, &mut out).is_err(), "{list:?}");
        }
    }

    #[test]
    fn lists_are_merged() {
        assert_eq!(merge(&[1, 5, 9], &[2, 5, 10]), Some(vec![1, 2, 5, 9, 10]));
        assert_eq!(merge(&[1, 5], &[5]), None);
        assert_eq!(merge(&[], &[5]), Some(vec![5]));
    }
}
