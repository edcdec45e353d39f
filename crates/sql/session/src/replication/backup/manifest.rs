//! The manifest of a backup: which files it has, and their check sums.
//!
//! # Layout
//! JSON, as PostgreSQL's version 2. Its last line has the SHA-256 of all before. `read` takes it in.

mod read;

use std::fmt::Write as _;

use base::calendar::UNIX_SECONDS;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};
use types::moment::Moment;
use types::timezone::TimeZone;

pub use read::{File, Manifest, Range};

/// How files are checked.
#[allow(missing_docs, reason = "the names say it")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksum {
    None,
    Crc32c,
    Sha224,
    Sha256,
    Sha384,
    Sha512,
}

impl Checksum {
    /// By its name, in any case.
    pub fn named(word: &str) -> Option<Checksum> {
        Some(match word.to_ascii_uppercase().as_str() {
            "NONE" => Checksum::None,
            "CRC32C" => Checksum::Crc32c,
            "SHA224" => Checksum::Sha224,
            "SHA256" => Checksum::Sha256,
            "SHA384" => Checksum::Sha384,
            "SHA512" => Checksum::Sha512,
            _ => return None,
        })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Checksum::None => "NONE",
            Checksum::Crc32c => "CRC32C",
            Checksum::Sha224 => "SHA224",
            Checksum::Sha256 => "SHA256",
            Checksum::Sha384 => "SHA384",
            Checksum::Sha512 => "SHA512",
        }
    }

    /// The check sum of no bytes yet.
    pub fn begin(self) -> Running {
        match self {
            Checksum::None => Running::None,
            Checksum::Crc32c => Running::Crc32c(0),
            Checksum::Sha224 => Running::Sha224(Sha224::new()),
            Checksum::Sha256 => Running::Sha256(Sha256::new()),
            Checksum::Sha384 => Running::Sha384(Sha384::new()),
            Checksum::Sha512 => Running::Sha512(Sha512::new()),
        }
    }
}

/// The check sum of a file that is being read.
#[allow(missing_docs, reason = "the names say it")]
pub enum Running {
    None,
    Crc32c(u32),
    Sha224(Sha224),
    Sha256(Sha256),
    Sha384(Sha384),
    Sha512(Sha512),
}

impl Running {
    /// More bytes of the file.
    pub fn add(&mut self, bytes: &[u8]) {
        match self {
            Running::None => {}
            Running::Crc32c(crc) => *crc = crc32c::crc32c_append(*crc, bytes),
            Running::Sha224(sha) => sha.update(bytes),
            Running::Sha256(sha) => sha.update(bytes),
            Running::Sha384(sha) => sha.update(bytes),
            Running::Sha512(sha) => sha.update(bytes),
        }
    }

    /// The check sum, in hexadecimal.
    pub fn end(self) -> Option<String> {
        Some(match self {
            Running::None => return None,
            Running::Crc32c(crc) => hex(&crc.to_le_bytes()),
            Running::Sha224(sha) => hex(&sha.finalize()),
            Running::Sha256(sha) => hex(&sha.finalize()),
            Running::Sha384(sha) => hex(&sha.finalize()),
            Running::Sha512(sha) => hex(&sha.finalize()),
        })
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut out, byte| {
        // Writing to a string does not fail.
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// A moment, seconds since 1970, as `2026-11-27 18:37:28`.
fn moment(seconds: i64) -> String {
    let micros = (seconds - UNIX_SECONDS) * 1_000_000;
    Moment::new(micros, &TimeZone::utc()).format("%F %T")
}

/// A manifest that is being written.
pub struct Writer {
    text: String,
    checksum: Checksum,
    encodes: bool,
    files: usize,
}

impl Writer {
    /// `encodes`: names of files are written in hexadecimal.
    pub fn new(checksum: Checksum, encodes: bool, system_identifier: u64) -> Writer {
        let text = format!(
            "{{ \"PostgreSQL-Backup-Manifest-Version\": 2,\n\"System-Identifier\": {system_identifier},\n\"Files\": ["
        );
        Writer { text, checksum, encodes, files: 0 }
    }

    /// How its files are checked.
    pub fn checksum(&self) -> Checksum {
        self.checksum
    }

    /// One more file; `modified` in seconds since 1970.
    pub fn file(&mut self, path: &str, size: u64, modified: i64, sum: Option<String>) {
        self.text.push_str(if self.files > 0 { ",\n" } else { "\n" });
        self.files += 1;
        let out = &mut self.text;
        // Names of our files need no escapes but these.
        let written = match self.encodes {
            true => write!(out, "{{ \"Encoded-Path\": \"{}\", ", hex(path.as_bytes())),
            false => write!(out, "{{ \"Path\": \"{}\", ", path.replace('\\', "\\\\").replace('"', "\\\"")),
        };
        let written = written
            .and_then(|()| write!(out, "\"Size\": {size}, \"Last-Modified\": \"{} GMT\"", moment(modified)));
        let written = written.and_then(|()| match sum {
            Some(sum) => {
                write!(out, ", \"Checksum-Algorithm\": \"{}\", \"Checksum\": \"{sum}\"", self.checksum.name())
            }
            None => Ok(()),
        });
        // Writing to a string does not fail.
        let _ = written.and_then(|()| out.write_str(" }"));
    }

    /// The whole text; the backup needs this log.
    pub fn finish(mut self, ranges: &[Range]) -> String {
        let ranges = ranges.iter().map(|Range { timeline, start, end }| {
            format!("{{ \"Timeline\": {timeline}, \"Start-LSN\": \"{start}\", \"End-LSN\": \"{end}\" }}")
        });
        let ranges = ranges.collect::<Vec<_>>().join(",\n");
        self.text.push_str(&format!("\n],\n\"WAL-Ranges\": [\n{ranges}\n],\n"));
        let sum = hex(&Sha256::digest(self.text.as_bytes()));
        self.text.push_str(&format!("\"Manifest-Checksum\": \"{sum}\"}}\n"));
        self.text
    }
}

#[cfg(test)]
mod tests {
    use base::{Lsn, TimelineId};

    use super::*;

    #[test]
    fn the_text_is_postgresqls() {
        let mut writer = Writer::new(Checksum::Crc32c, false, 7_712_922_208_721_129_341);
        let mut sum = writer.checksum().begin();
        sum.add(b"18\n");
        // 2026-11-27 18:37:22.
        writer.file("PG_VERSION", 3, 1_795_804_642, sum.end());
        writer.file("empty", 0, 0, Checksum::Crc32c.begin().end());
        let text =
            writer.finish(&[Range { timeline: TimelineId(1), start: Lsn(0x800_0028), end: Lsn(0x800_0158) }]);
        let (body, last) = text.split_at(text.find("\"Manifest-Checksum\"").unwrap());
        assert_eq!(
            body,
            "{ \"PostgreSQL-Backup-Manifest-Version\": 2,\n\"System-Identifier\": 7712922208721129341,\n\"Files\": [\n\
             { \"Path\": \"PG_VERSION\", \"Size\": 3, \"Last-Modified\": \"2026-11-27 18:37:22 GMT\", \"Checksum-Algorithm\": \"CRC32C\", \"Checksum\": \"994e7be2\" },\n\
             { \"Path\": \"empty\", \"Size\": 0, \"Last-Modified\": \"1970-01-01 00:00:00 GMT\", \"Checksum-Algorithm\": \"CRC32C\", \"Checksum\": \"00000000\" }\n\
             ],\n\"WAL-Ranges\": [\n{ \"Timeline\": 1, \"Start-LSN\": \"0/8000028\", \"End-LSN\": \"0/8000158\" }\n],\n"
        );
        assert_eq!(last.len(), "\"Manifest-Checksum\": \"\"}\n".len() + 64);
    }

    #[test]
    fn names_may_be_encoded_and_sums_left_out() {
        let mut writer = Writer::new(Checksum::None, true, 1);
        writer.file("ab", 0, 0, Checksum::None.begin().end());
        let text = writer.finish(&[Range { timeline: TimelineId(1), start: Lsn(1), end: Lsn(2) }]);
        assert!(text.contains(
            "{ \"Encoded-Path\": \"6162\", \"Size\": 0, \"Last-Modified\": \"1970-01-01 00:00:00 GMT\" }\n"
        ));
        for (name, sum) in [("sha224", 56), ("SHA256", 64), ("sha384", 96), ("sha512", 128)] {
            assert_eq!(Checksum::named(name).unwrap().begin().end().unwrap().len(), sum);
        }
    }
}
