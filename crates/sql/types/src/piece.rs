//! # What
//! Work on big values in pieces. A call of a function runs on a worker that others share, so what may take long is cut into
//! pieces of `PIECE` bytes (or steps), with a look for interrupts between two of them: a millisecond at most, where 10 are
//! allowed (`runtime::watch`). Values below the size of a piece never look.
//!
//! * `Pace` counts what a loop does and looks when a piece is done: `Pace::did` where an error can be told,
//!   `Pace::pass` where not; then only others run, and the next look tells it.
//! * `slices`, `texts`, `append`, `copy`: bytes, text, copies in pieces. `Finder`: searches.
//! * `sort_by`: sorts. `elsewhere`: calls of libraries that cannot be cut, on another thread.
//!
//! # Invariants
//! 1. A look may let others run: nobody holds a latch, a short lock or a borrow of what the worker's fibers share.
//! 2. Comparison and hash functions run under page latches and never look: nothing here is called by them.

use base::SqlResult;
use memchr::memmem;
use tuple::{Bytes, Datum};

pub(crate) use runtime::pace::{PIECE, Pace};
pub use runtime::pace::{sort_by, sort_by_any};

/// The bytes in pieces, with a look behind each but the last.
pub(crate) fn slices(bytes: &[u8]) -> impl Iterator<Item = SqlResult<&[u8]>> {
    bytes.chunks(PIECE).enumerate().map(|(i, piece)| {
        if i > 0 {
            runtime::check_piece()?;
        }
        Ok(piece)
    })
}

/// The text in pieces of whole characters, with a look behind each but the last.
pub(crate) fn texts(text: &str) -> impl Iterator<Item = SqlResult<&str>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let first = rest.len() == text.len();
        let (piece, behind) = rest.split_at(rest.floor_char_boundary(PIECE));
        rest = behind;
        Some(if first { Ok(piece) } else { runtime::check_piece().map(|()| piece).map_err(Into::into) })
    })
}

/// Appends bytes; a vector that has to grow moves in pieces too.
pub(crate) fn append(out: &mut Vec<u8>, bytes: &[u8]) -> SqlResult<()> {
    if out.capacity() - out.len() < bytes.len() && out.len() > PIECE {
        let mut grown = Vec::with_capacity((out.capacity() * 2).max(out.len() + bytes.len()));
        fill(&mut grown, out)?;
        *out = grown;
    }
    if bytes.len() > PIECE {
        out.reserve(bytes.len());
    }
    fill(out, bytes)
}

fn fill(out: &mut Vec<u8>, bytes: &[u8]) -> SqlResult<()> {
    for piece in slices(bytes) {
        out.extend_from_slice(piece?);
    }
    Ok(())
}

/// A copy.
pub(crate) fn copy(bytes: &[u8]) -> SqlResult<Vec<u8>> {
    concat(&[bytes])
}

/// The parts one behind the other.
pub(crate) fn concat(parts: &[&[u8]]) -> SqlResult<Vec<u8>> {
    let mut out = Vec::with_capacity(parts.iter().map(|part| part.len()).sum());
    for part in parts {
        fill(&mut out, part)?;
    }
    Ok(out)
}

/// A copy as a value.
pub(crate) fn datum(bytes: &[u8]) -> SqlResult<Datum> {
    Ok(Datum::Bytes(if bytes.len() > PIECE { copy(bytes)?.into() } else { Bytes::new(bytes) }))
}

/// Searches for one needle.
pub(crate) struct Finder<'n> {
    forward: memmem::Finder<'n>,
    /// Made with the first search from the end.
    backward: Option<memmem::FinderRev<'static>>,
    pace: Pace,
}

impl<'n> Finder<'n> {
    pub(crate) fn new(needle: &'n [u8]) -> Finder<'n> {
        Finder { forward: memmem::Finder::new(needle), backward: None, pace: Pace::new() }
    }

    /// One that keeps its needle.
    pub(crate) fn owned(needle: &[u8]) -> Finder<'static> {
        Finder { forward: memmem::Finder::new(needle).into_owned(), backward: None, pace: Pace::new() }
    }

    /// Length of the needle.
    pub(crate) fn len(&self) -> usize {
        self.forward.needle().len()
    }

    /// Bytes that are searched at once: what begins in a piece ends in it.
    fn window(&self) -> usize {
        PIECE.max(2 * self.len())
    }

    /// The first place at `from` or behind.
    pub(crate) fn find(&mut self, text: &[u8], mut from: usize) -> SqlResult<Option<usize>> {
        let (window, keep) = (self.window(), self.len().saturating_sub(1));
        loop {
            let end = text.len().min(from + window);
            let found = self.forward.find(&text[from..end]);
            self.pace.did(found.unwrap_or(end - from) + 1)?;
            match found {
                Some(at) => return Ok(Some(from + at)),
                None if end == text.len() => return Ok(None),
                None => from = end - keep,
            }
        }
    }

    /// The last place that ends at `to` or in front of it.
    pub(crate) fn rfind(&mut self, text: &[u8], mut to: usize) -> SqlResult<Option<usize>> {
        let (window, keep) = (self.window(), self.len().saturating_sub(1));
        let needle = self.forward.needle();
        let backward = self.backward.get_or_insert_with(|| memmem::FinderRev::new(needle).into_owned());
        loop {
            let start = to.saturating_sub(window);
            let found = backward.rfind(&text[start..to]);
            self.pace.did(to - found.map_or(start, |at| start + at))?;
            match found {
                Some(at) => return Ok(Some(start + at)),
                None if start == 0 => return Ok(None),
                None => to = start + keep,
            }
        }
    }
}

/// A library's call over so many bytes, which cannot be cut: long ones go to another thread.
pub(crate) fn elsewhere<T: Send>(bytes: usize, call: impl FnOnce() -> T + Send) -> SqlResult<T> {
    if bytes <= 4 * PIECE {
        return Ok(call());
    }
    let result = runtime::blocking(call);
    runtime::check_piece()?;
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_across_pieces_is_found() {
        let mut text = vec![b'a'; 3 * PIECE];
        for at in [0, 1, PIECE - 3, PIECE - 1, PIECE, 2 * PIECE - 2, 3 * PIECE - 3] {
            text[at..at + 3].copy_from_slice(b"xyz");
            let mut finder = Finder::new(b"xyz");
            assert_eq!(finder.find(&text, 0).unwrap(), Some(at));
            assert_eq!(finder.find(&text, at + 1).unwrap(), None);
            assert_eq!(finder.rfind(&text, text.len()).unwrap(), Some(at));
            assert_eq!(finder.rfind(&text, at + 2).unwrap(), None);
            text[at..at + 3].copy_from_slice(b"aaa");
        }
    }

    #[test]
    fn pieces_make_the_whole() {
        let text = "aé€".repeat(PIECE);
        let parts: Vec<&str> = texts(&text).map(Result::unwrap).collect();
        assert!(parts.iter().all(|part| part.len() <= PIECE));
        assert_eq!(parts.concat(), text);
        let mut out = vec![1; PIECE + 1];
        append(&mut out, text.as_bytes()).unwrap();
        assert_eq!(out.len(), PIECE + 1 + text.len());
        assert_eq!(&out[PIECE + 1..], text.as_bytes());
    }
}
