//! Packets: a tag, a length, a body. New ones have their length in 1, 2 or 5 bytes, or come in parts; old ones in 1, 2 or 4, or to the end.

use base::SqlResult;

use super::corrupt;

/// A packet that was read.
pub(super) struct Packet {
    pub(super) tag: u8,
    pub(super) body: Vec<u8>,
}

/// Writes a packet.
pub(super) fn push(out: &mut Vec<u8>, tag: u8, body: &[u8]) {
    out.push(0xC0 | tag);
    match body.len() {
        n if n < 192 => out.push(n as u8),
        n if n < 8384 => out.extend_from_slice(&[((n - 192) >> 8) as u8 + 192, (n - 192) as u8]),
        n => {
            out.push(255);
            out.extend_from_slice(&(n as u32).to_be_bytes());
        }
    }
    out.extend_from_slice(body);
}

fn take<'a>(rest: &mut &'a [u8], count: usize) -> SqlResult<&'a [u8]> {
    let (taken, behind) = rest.split_at_checked(count).ok_or_else(corrupt)?;
    *rest = behind;
    Ok(taken)
}

fn number(rest: &mut &[u8], count: usize) -> SqlResult<usize> {
    Ok(take(rest, count)?.iter().fold(0, |n, byte| n << 8 | usize::from(*byte)))
}

/// Reads a packet.
pub(super) fn next(rest: &mut &[u8]) -> SqlResult<Packet> {
    let first = number(rest, 1)? as u8;
    if first & 0x80 == 0 {
        return Err(corrupt());
    }
    if first & 0x40 == 0 {
        let length = match first & 3 {
            3 => rest.len(),
            kind => number(rest, 1 << kind)?,
        };
        return Ok(Packet { tag: first >> 2 & 0x0F, body: take(rest, length)?.to_vec() });
    }
    let mut body = Vec::new();
    loop {
        let (length, last) = match number(rest, 1)? {
            n @ 0..192 => (n, true),
            n @ 192..224 => (((n - 192) << 8) + number(rest, 1)? + 192, true),
            255 => (number(rest, 4)?, true),
            n => (1 << (n & 0x1F), false),
        };
        body.extend_from_slice(take(rest, length)?);
        if last {
            return Ok(Packet { tag: first & 0x3F, body });
        }
        runtime::check_interrupts()?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_all_sizes_are_read_back() {
        for length in [0, 191, 192, 8383, 8384, 100_000] {
            let mut out = Vec::new();
            push(&mut out, 11, &vec![7; length]);
            let mut rest = &out[..];
            let packet = next(&mut rest).expect("a packet");
            assert_eq!((packet.tag, packet.body.len(), rest.len()), (11, length, 0));
        }
    }

    #[test]
    fn parts_and_old_packets_are_read() {
        let mut parts: &[u8] = &[0xCB, 0xE1, 1, 2, 0x01, 3];
        assert_eq!(next(&mut parts).expect("a packet").body, [1, 2, 3]);
        let mut old: &[u8] = &[0x80 | 11 << 2 | 1, 0, 2, 8, 9];
        assert_eq!(next(&mut old).expect("a packet").body, [8, 9]);
        let mut cut: &[u8] = &[0xCB, 5, 1];
        assert!(next(&mut cut).is_err());
    }
}
