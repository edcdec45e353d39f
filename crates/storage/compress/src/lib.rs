//! # What
//! The methods that compress: large values in rows, and images of pages in the log.
//!
//! # Invariants
//! 1. Undoing never panics whatever the bytes, and gives as many bytes as were promised or nothing.
//!
//! # PostgreSQL counterpart
//! `common/pg_lzcompress.c`, `toast_compression.c`. lz4 is the block format without a prefix.

mod pglz;

/// How bytes are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Method {
    /// lz4.
    #[default]
    Lz4,
    /// PostgreSQL's own: smaller than lz4's, and several times as slow.
    Pglz,
}

impl Method {
    /// Its name in settings and in SQL.
    pub fn as_str(self) -> &'static str {
        match self {
            Method::Lz4 => "lz4",
            Method::Pglz => "pglz",
        }
    }

    /// The method of this name.
    pub fn of_word(word: &str) -> Option<Method> {
        [Method::Lz4, Method::Pglz].into_iter().find(|method| method.as_str() == word)
    }
}

/// Appends the compressed form of `input` to `out`. `None`, and anything behind what `out` held, if that would take more than `limit` bytes.
pub fn compress(method: Method, input: &[u8], limit: usize, out: &mut Vec<u8>) -> Option<()> {
    let start = out.len();
    match method {
        Method::Pglz => pglz::compress(input, limit, out)?,
        Method::Lz4 => {
            out.resize(start + lz4_flex::block::get_maximum_output_size(input.len()), 0);
            let size = lz4_flex::block::compress_into(input, &mut out[start..]).ok()?;
            out.truncate(start + size);
        }
    }
    (out.len() - start <= limit).then_some(())
}

/// Undoes [`compress`]; `None` unless all bytes are used up and give `size` bytes.
pub fn decompress(method: Method, bytes: &[u8], size: usize) -> Option<Vec<u8>> {
    if method == Method::Pglz {
        return pglz::decompress(bytes, size);
    }
    let mut out = vec![0; size];
    let found = lz4_flex::block::decompress_into(bytes, &mut out).ok()?;
    (found == size).then_some(out)
}
