//! # What
//! The `pglz` method of compressing large values: runs of bytes that came before are replaced by their distance and length. Values that were given to it
//! by name keep its ratio; what is not named takes lz4, which is several times as fast.
//!
//! # Layout
//! Items in groups of eight behind a control byte, whose lowest bit is about the first: 0, one byte as it is; 1, a copy of bytes that are in the output:
//!
//! | byte | bits |
//! |---|---|
//! | first | high 4: upper bits of the distance; low 4: length less 3, 15 for 18 and more |
//! | second | lower 8 bits of the distance, 1 to 4095 |
//! | third, only after a 15 | length less 18 |
//!
//! A copy may reach into what it makes itself: a run of one byte is a copy at distance 1.
//!
//! # PostgreSQL counterpart
//! `common/pg_lzcompress.c`, whose format this is.

const MIN_MATCH: usize = 3;
const MAX_MATCH: usize = 18 + 255;
const MAX_DISTANCE: usize = 0xfff;
/// A match of this length is taken without looking for a longer one.
const GOOD_MATCH: usize = 128;
/// Candidates that are looked at for each place.
const MAX_CANDIDATES: usize = 64;
const HASH_BITS: u32 = 13;
/// Input that does not become shorter within so many bytes is given up.
const FIRST_SUCCESS: usize = 1024;

/// Places of the input by the three bytes that stand there, the latest first.
struct History {
    /// One more than the latest place; 0: none.
    heads: Vec<u32>,
    /// The place before, by place modulo the window.
    chain: Vec<u32>,
}

impl History {
    fn new() -> History {
        History { heads: vec![0; 1 << HASH_BITS], chain: vec![0; MAX_DISTANCE + 1] }
    }

    fn slot(input: &[u8], at: usize) -> usize {
        let bytes = u32::from(input[at]) | u32::from(input[at + 1]) << 8 | u32::from(input[at + 2]) << 16;
        (bytes.wrapping_mul(0x9e37_79b1) >> (32 - HASH_BITS)) as usize
    }

    fn enter(&mut self, input: &[u8], at: usize) {
        if at + MIN_MATCH > input.len() {
            return;
        }
        let slot = Self::slot(input, at);
        self.chain[at & MAX_DISTANCE] = self.heads[slot];
        self.heads[slot] = at as u32 + 1;
    }

    /// Distance and length of the longest match that was found.
    fn longest(&self, input: &[u8], at: usize) -> Option<(usize, usize)> {
        if at + MIN_MATCH > input.len() {
            return None;
        }
        let limit = MAX_MATCH.min(input.len() - at);
        let mut best = None;
        let mut candidate = self.heads[Self::slot(input, at)];
        for _ in 0..MAX_CANDIDATES {
            let Some(place) = (candidate as usize).checked_sub(1) else { break };
            let distance = at - place;
            if distance > MAX_DISTANCE {
                break;
            }
            let length = (0..limit).take_while(|&i| input[place + i] == input[at + i]).count();
            if length >= MIN_MATCH && best.is_none_or(|(_, longest)| length > longest) {
                best = Some((distance, length));
                if length >= GOOD_MATCH.min(limit) {
                    break;
                }
            }
            candidate = self.chain[place & MAX_DISTANCE];
        }
        best
    }
}

/// Appends the compressed form. `None` if it would have more than `limit` bytes, or does not begin to save any early on.
pub(crate) fn compress(input: &[u8], limit: usize, out: &mut Vec<u8>) -> Option<()> {
    let start = out.len();
    let mut history = History::new();
    let (mut at, mut control, mut bit) = (0, 0, 8);
    let mut any_match = false;
    while at < input.len() {
        if out.len() - start > limit || (!any_match && at > FIRST_SUCCESS) {
            return None;
        }
        if bit == 8 {
            (control, bit) = (out.len(), 0);
            out.push(0);
        }
        let length = match history.longest(input, at) {
            Some((distance, length)) => {
                out[control] |= 1 << bit;
                push_copy(distance, length, out);
                any_match = true;
                length
            }
            None => {
                out.push(input[at]);
                1
            }
        };
        (at..at + length).for_each(|place| history.enter(input, place));
        at += length;
        bit += 1;
    }
    (out.len() - start <= limit).then_some(())
}

fn push_copy(distance: usize, length: usize, out: &mut Vec<u8>) {
    let high = ((distance >> 4) & 0xf0) as u8;
    if length < 18 {
        out.extend([high | (length - MIN_MATCH) as u8, distance as u8]);
    } else {
        out.extend([high | 0xf, distance as u8, (length - 18) as u8]);
    }
}

/// Undoes [`compress`]; fails unless all bytes are used up and give `raw_size` bytes.
pub(crate) fn decompress(bytes: &[u8], raw_size: usize) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(raw_size);
    let mut rest = bytes.iter().copied();
    'all: while let Some(control) = rest.next() {
        for bit in 0..8 {
            let Some(first) = rest.next() else { break 'all };
            if control & 1 << bit == 0 {
                out.push(first);
                continue;
            }
            let second = rest.next()?;
            let distance = usize::from(first & 0xf0) << 4 | usize::from(second);
            let mut length = usize::from(first & 0xf) + MIN_MATCH;
            if length == 18 {
                length += usize::from(rest.next()?);
            }
            let from = out.len().checked_sub(distance).filter(|_| distance > 0)?;
            if out.len() + length > raw_size {
                return None;
            }
            (from..from + length).for_each(|i| out.push(out[i]));
        }
    }
    (out.len() == raw_size).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(input: &[u8]) -> usize {
        let mut out = Vec::new();
        compress(input, 2 * input.len() + 16, &mut out).unwrap();
        assert_eq!(decompress(&out, input.len()).unwrap(), input);
        out.len()
    }

    #[test]
    fn what_goes_in_comes_out() {
        assert!(round_trip(&[b'x'; 100_000]) < 1_200, "a run costs three bytes for 273");
        let text: Vec<u8> =
            (0..5_000u32).flat_map(|i| format!("line {} of many\n", i % 700).into_bytes()).collect();
        assert!(round_trip(&text) < text.len() / 2);
        round_trip(b"abcabcabcabcabcabcabcab");
    }

    #[test]
    fn noise_is_given_up() {
        let mut state = 1u32;
        let mut noise = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        let input: Vec<u8> = (0..4_000).map(|_| noise()).collect();
        assert!(compress(&input, 3_000, &mut Vec::new()).is_none());
    }

    /// Damaged bytes are an error, never a panic or a larger value.
    #[test]
    fn damage_is_told() {
        let mut out = Vec::new();
        compress(&b"to be or not to be, ".repeat(40), 800, &mut out).unwrap();
        for at in 0..out.len() {
            for byte in [0, 1, 0x7f, 0xff] {
                let mut damaged = out.clone();
                damaged[at] = byte;
                if let Some(value) = decompress(&damaged, 800) {
                    assert_eq!(value.len(), 800);
                }
            }
        }
        assert!(decompress(&out, 799).is_none() && decompress(&out, 801).is_none());
        assert!(decompress(&[1, 0x0f, 0], 18).is_none());
    }
}
