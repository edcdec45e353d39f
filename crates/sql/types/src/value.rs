//! Between [`Datum`] and Rust values: how implementations take arguments and give results.

use base::{SqlResult, sql_err};
use tuple::{Bytes, Datum};

use crate::piece::{self, PIECE, Pace};

/// An argument taken out of its [`Datum`]. The variant follows the declared type (analysis guarantees it), so a mismatch
/// is a bug of the caller; it gives the type's zero in release builds and stops debug builds.
pub trait FromDatum<'a> {
    /// The value; never called for NULL except by `&Datum` and `Option`.
    fn from_datum(datum: &'a Datum) -> Self;
}

macro_rules! from_datum {
    ($($ty:ty, $variant:ident);*) => { $(
        impl FromDatum<'_> for $ty {
            #[inline]
            fn from_datum(datum: &Datum) -> $ty {
                match datum {
                    Datum::$variant(v) => *v,
                    other => mismatch(stringify!($variant), other),
                }
            }
        }
    )* };
}

from_datum!(bool, Bool; i16, Int2; i32, Int4; i64, Int8; u32, Oid; f32, Float4; f64, Float8; u8, Char);

#[cold]
fn mismatch<T: Default>(want: &str, got: &Datum) -> T {
    debug_assert!(false, "a {want} was expected, not {got:?}");
    T::default()
}

impl<'a> FromDatum<'a> for &'a Datum {
    #[inline]
    fn from_datum(datum: &'a Datum) -> &'a Datum {
        datum
    }
}

impl<'a> FromDatum<'a> for &'a [u8] {
    #[inline]
    fn from_datum(datum: &'a Datum) -> &'a [u8] {
        match datum {
            Datum::Bytes(bytes) => bytes,
            other => mismatch("Bytes", other),
        }
    }
}

impl<'a> FromDatum<'a> for &'a str {
    #[inline]
    fn from_datum(datum: &'a Datum) -> &'a str {
        let bytes = <&[u8]>::from_datum(datum);
        if bytes.len() > PIECE { long_str_of(bytes) } else { str_of(bytes) }
    }
}

impl<'a, T: FromDatum<'a>> FromDatum<'a> for Option<T> {
    #[inline]
    fn from_datum(datum: &'a Datum) -> Option<T> {
        if datum.is_null() { None } else { Some(T::from_datum(datum)) }
    }
}

/// Text of a stored value: the bytes were checked to be UTF-8 when they came in; damaged ones are cut at the damage.
#[inline]
pub fn str_of(bytes: &[u8]) -> &str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(e) => std::str::from_utf8(&bytes[..e.valid_up_to()]).unwrap_or_default(),
    }
}

/// The same for a long text, in pieces.
#[cold]
fn long_str_of(bytes: &[u8]) -> &str {
    utf8(bytes).unwrap_or_else(|end| str_of(&bytes[..end]))
}

/// Bytes as text, or where they cease to be. Long ones are looked at in pieces.
pub(crate) fn utf8(bytes: &[u8]) -> Result<&str, usize> {
    let (mut pace, mut at) = (Pace::new(), 0);
    while bytes.len() - at > PIECE {
        at += match std::str::from_utf8(&bytes[at..at + PIECE]) {
            Ok(piece) => piece.len(),
            // The piece ends within a character.
            Err(e) if e.error_len().is_none() => e.valid_up_to(),
            Err(e) => return Err(at + e.valid_up_to()),
        };
        pace.pass(PIECE);
    }
    std::str::from_utf8(&bytes[at..]).map_err(|e| at + e.valid_up_to())?;
    // SAFETY: whole characters up to `at`, as was found piece by piece, and so is the rest.
    Ok(unsafe { std::str::from_utf8_unchecked(bytes) })
}

/// A result on its way into a [`Datum`].
pub trait IntoDatum {
    /// The value, or the error.
    fn into_datum(self) -> SqlResult<Datum>;
}

macro_rules! into_datum {
    ($($ty:ty, $variant:ident);*) => { $(
        impl IntoDatum for $ty {
            #[inline]
            fn into_datum(self) -> SqlResult<Datum> {
                Ok(Datum::$variant(self))
            }
        }
    )* };
}

into_datum!(bool, Bool; i16, Int2; i32, Int4; i64, Int8; u32, Oid; f32, Float4; f64, Float8; u8, Char; Bytes, Bytes);

impl IntoDatum for Datum {
    fn into_datum(self) -> SqlResult<Datum> {
        Ok(self)
    }
}

impl IntoDatum for String {
    fn into_datum(self) -> SqlResult<Datum> {
        Ok(Datum::Bytes(self.into()))
    }
}

impl IntoDatum for &str {
    fn into_datum(self) -> SqlResult<Datum> {
        piece::datum(self.as_bytes())
    }
}

impl IntoDatum for Vec<u8> {
    fn into_datum(self) -> SqlResult<Datum> {
        Ok(Datum::Bytes(self.into()))
    }
}

impl<T: IntoDatum> IntoDatum for Option<T> {
    fn into_datum(self) -> SqlResult<Datum> {
        self.map_or(Ok(Datum::Null), T::into_datum)
    }
}

impl<T: IntoDatum> IntoDatum for SqlResult<T> {
    #[inline]
    fn into_datum(self) -> SqlResult<Datum> {
        self?.into_datum()
    }
}

/// Reads fixed-size pieces from the front of outside bytes; running out is an error, never a panic.
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Over all of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { rest: bytes }
    }

    /// The next `n` bytes.
    pub fn take(&mut self, n: usize) -> SqlResult<&'a [u8]> {
        match self.rest.split_at_checked(n) {
            Some((head, rest)) => {
                self.rest = rest;
                Ok(head)
            }
            None => Err(sql_err!(PROTOCOL_VIOLATION, "insufficient data left in message")),
        }
    }

    /// The next `N` bytes as an array.
    pub fn array<const N: usize>(&mut self) -> SqlResult<[u8; N]> {
        let mut out = [0; N];
        out.copy_from_slice(self.take(N)?);
        Ok(out)
    }

    /// A big-endian `i16`.
    pub fn i16(&mut self) -> SqlResult<i16> {
        Ok(i16::from_be_bytes(self.array()?))
    }

    /// A big-endian `i32`.
    pub fn i32(&mut self) -> SqlResult<i32> {
        Ok(i32::from_be_bytes(self.array()?))
    }

    /// A big-endian `i64`.
    pub fn i64(&mut self) -> SqlResult<i64> {
        Ok(i64::from_be_bytes(self.array()?))
    }

    /// What is left.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }

    /// An error when bytes are left.
    pub fn end(&self) -> SqlResult<()> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(sql_err!(INVALID_BINARY_REPRESENTATION, "incorrect binary data format"))
        }
    }
}

/// The bytes of a value that is kept as bytes; none of any other.
pub(crate) fn bytes_of(value: &Datum) -> tuple::Bytes {
    match value {
        Datum::Bytes(bytes) => bytes.clone(),
        _ => tuple::Bytes::new(&[]),
    }
}
