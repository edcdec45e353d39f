//! A short byte string held in place, a longer one shared by reference count.

use std::{fmt, ops::Deref, sync::Arc};

/// Longest value kept in place, in bytes.
const INLINE: usize = 22;

/// From this length on a vector is shared as it is: copying it would cost more than one more indirection.
const LONG: usize = 64 << 10;

/// An immutable byte string that is cheap to clone: payload of a variable-length value, without its header.
#[derive(Clone)]
pub enum Bytes {
    /// At most 22 bytes, no allocation.
    Inline {
        /// Bytes in use.
        len: u8,
        /// The bytes, zero behind `len`.
        buf: [u8; INLINE],
    },
    /// Longer strings.
    Shared(Arc<[u8]>),
    /// Very long ones that were built as a vector.
    Long(Arc<Vec<u8>>),
}

impl Bytes {
    /// Copies `bytes`.
    #[inline]
    pub fn new(bytes: &[u8]) -> Bytes {
        if bytes.len() <= INLINE {
            let mut buf = [0; INLINE];
            buf[..bytes.len()].copy_from_slice(bytes);
            Bytes::Inline { len: bytes.len() as u8, buf }
        } else {
            Bytes::Shared(bytes.into())
        }
    }

    /// Copies other bytes, into the same memory if their length is the same and the memory is not shared.
    #[inline]
    pub fn replace(&mut self, bytes: &[u8]) {
        if let Bytes::Shared(old) = self
            && old.len() == bytes.len()
            && let Some(old) = Arc::get_mut(old)
        {
            old.copy_from_slice(bytes);
        } else {
            *self = Bytes::new(bytes);
        }
    }

    /// The bytes.
    #[inline]
    pub fn as_slice(&self) -> &[u8] {
        match self {
            Bytes::Inline { len, buf } => &buf[..*len as usize],
            Bytes::Shared(bytes) => bytes,
            Bytes::Long(bytes) => bytes,
        }
    }
}

impl Default for Bytes {
    fn default() -> Bytes {
        Bytes::new(&[])
    }
}

impl Deref for Bytes {
    type Target = [u8];
    #[inline]
    fn deref(&self) -> &[u8] {
        self.as_slice()
    }
}

impl From<&[u8]> for Bytes {
    fn from(bytes: &[u8]) -> Bytes {
        Bytes::new(bytes)
    }
}

impl From<&str> for Bytes {
    fn from(text: &str) -> Bytes {
        Bytes::new(text.as_bytes())
    }
}

impl From<String> for Bytes {
    fn from(text: String) -> Bytes {
        text.into_bytes().into()
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(mut bytes: Vec<u8>) -> Bytes {
        match bytes.len() {
            ..=INLINE => Bytes::new(&bytes),
            n if n < LONG => Bytes::Shared(bytes.into()),
            _ => {
                // Memory in reserve would be kept with the value.
                if bytes.capacity() - bytes.len() > bytes.len() / 4 {
                    bytes.shrink_to_fit();
                }
                Bytes::Long(Arc::new(bytes))
            }
        }
    }
}

impl PartialEq for Bytes {
    fn eq(&self, other: &Bytes) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl Eq for Bytes {}

impl std::hash::Hash for Bytes {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.as_slice().hash(state);
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b\"{}\"", self.as_slice().escape_ascii())
    }
}
