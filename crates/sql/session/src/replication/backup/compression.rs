//! How the archives of a backup are compressed: gzip, lz4, zstd.
//!
//! # PostgreSQL counterpart and differences
//! `compression.c`, `basebackup_gzip.c`, `basebackup_lz4.c`, `basebackup_zstd.c`. lz4 compresses fast only: levels from 3 on are refused; zstd has no workers of its own.

use std::io::{self, Write};

use base::{SqlError, SqlResult, SqlState, sql_err};
use flate2::write::GzEncoder;
use lz4_flex::frame::FrameEncoder;
use zstd::stream::raw::CParameter;

/// How archives are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    /// Not at all.
    None,
    /// gzip, of this level.
    Gzip(u32),
    /// lz4.
    Lz4,
    /// zstd.
    Zstd {
        /// Its level.
        level: i32,
        /// What is alike is looked for far behind, too.
        long: bool,
    },
}

/// The least level of zstd.
const ZSTD_LEAST: i64 = -131_072;
/// The greatest level of lz4 that compresses fast.
const LZ4_FAST: i64 = 2;

/// What a detail asks for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Detail {
    level: Option<i64>,
    workers: Option<i64>,
    long: bool,
}

impl Detail {
    /// Reads a number, which is the level, or options with commas between them. An error says what is wrong.
    fn read(text: Option<&str>) -> Result<Detail, String> {
        let mut detail = Detail::default();
        let Some(text) = text else { return Ok(detail) };
        if let Ok(level) = text.parse() {
            detail.level = Some(level);
            return Ok(detail);
        }
        for part in text.split(',') {
            if part.is_empty() {
                return Err("found empty string where a compression option was expected".into());
            }
            let (option, value) = match part.split_once('=') {
                Some((option, value)) => (option, Some(value)),
                None => (part, None),
            };
            let number = || {
                let value = value.ok_or(format!("compression option \"{option}\" requires a value"))?;
                let wrong = || format!("value for compression option \"{option}\" must be an integer");
                value.parse().map_err(|_| wrong())
            };
            match option {
                "level" => detail.level = Some(number()?),
                "workers" => detail.workers = Some(number()?),
                "long" => {
                    let wrong =
                        || format!("value for compression option \"{option}\" must be a Boolean value");
                    detail.long = match value {
                        None => true,
                        Some(value) => base::settings::parse_bool(value).ok_or_else(wrong)?,
                    };
                }
                _ => return Err(format!("unrecognized compression option: \"{option}\"")),
            }
        }
        Ok(detail)
    }

    /// The level, within its bounds; `usual` if none is given, which `default` stands for.
    fn level(&self, algorithm: &str, (least, most, default): (i64, i64, i64)) -> Result<i64, String> {
        match self.level {
            None => Ok(default),
            Some(level) if level == default || (least..=most).contains(&level) => Ok(level),
            Some(_) => Err(format!(
                "compression algorithm \"{algorithm}\" expects a compression level between {least} and {most} (default at {default})"
            )),
        }
    }
}

impl Compression {
    /// The compression of this name and detail, if one is named.
    pub fn named(algorithm: Option<&str>, detail: Option<&str>) -> SqlResult<Compression> {
        let Some(algorithm) = algorithm else {
            return match detail {
                None => Ok(Compression::None),
                Some(_) => Err(sql_err!(
                    SYNTAX_ERROR,
                    "compression detail cannot be specified unless compression is enabled"
                )),
            };
        };
        if !["none", "gzip", "lz4", "zstd"].contains(&algorithm) {
            return Err(sql_err!(SYNTAX_ERROR, "unrecognized compression algorithm: \"{algorithm}\""));
        }
        let invalid = |why: String| sql_err!(SYNTAX_ERROR, "invalid compression specification: {why}");
        let asked = Detail::read(detail).map_err(invalid)?;
        let refused = |what: &str| Err(invalid(format!("compression algorithm \"{algorithm}\" {what}")));
        if algorithm == "none" && asked.level.is_some() {
            return refused("does not accept a compression level");
        }
        if algorithm != "zstd" && asked.workers.is_some() {
            return refused("does not accept a worker count");
        }
        if algorithm != "zstd" && asked.long {
            return refused("does not support long-distance mode");
        }
        if let Some(workers) = asked.workers.filter(|workers| *workers > 0) {
            return Err(sql_err!(
                INVALID_PARAMETER_VALUE,
                "could not set compression worker count to {workers}: Unsupported parameter"
            ));
        }
        Ok(match algorithm {
            "gzip" => match asked.level(algorithm, (1, 9, -1)).map_err(invalid)? {
                -1 => Compression::Gzip(6),
                level => Compression::Gzip(level as u32),
            },
            "lz4" => match asked.level(algorithm, (1, 12, 0)).map_err(invalid)? {
                ..=LZ4_FAST => Compression::Lz4,
                level => return Err(SqlError::not_supported(format!("lz4 compression of level {level}"))),
            },
            "zstd" => {
                let level = asked.level(algorithm, (ZSTD_LEAST, 22, 3)).map_err(invalid)?;
                Compression::Zstd { level: level as i32, long: asked.long }
            }
            _ => Compression::None,
        })
    }

    /// What is added to an archive's name.
    pub fn suffix(self) -> &'static str {
        match self {
            Compression::None => "",
            Compression::Gzip(_) => ".gz",
            Compression::Lz4 => ".lz4",
            Compression::Zstd { .. } => ".zst",
        }
    }
}

/// Compresses an archive.
pub(super) enum Encoder {
    Gzip(GzEncoder<Vec<u8>>),
    Lz4(Box<FrameEncoder<Vec<u8>>>),
    Zstd(zstd::Encoder<'static, Vec<u8>>),
}

fn failed(error: io::Error) -> SqlError {
    SqlError::new(SqlState::INTERNAL_ERROR, format!("could not compress data: {error}"))
}

impl Encoder {
    /// None where nothing is compressed.
    pub fn new(compression: Compression) -> SqlResult<Option<Encoder>> {
        Ok(Some(match compression {
            Compression::None => return Ok(None),
            Compression::Gzip(level) => {
                Encoder::Gzip(GzEncoder::new(Vec::new(), flate2::Compression::new(level)))
            }
            Compression::Lz4 => Encoder::Lz4(Box::new(FrameEncoder::new(Vec::new()))),
            Compression::Zstd { level, long } => {
                let mut encoder = zstd::Encoder::new(Vec::new(), level).map_err(failed)?;
                encoder.set_parameter(CParameter::EnableLongDistanceMatching(long)).map_err(failed)?;
                Encoder::Zstd(encoder)
            }
        }))
    }

    /// Takes bytes in; returns those that are ready to go out. It works on another thread: a piece may take long.
    pub fn write(&mut self, bytes: &[u8]) -> SqlResult<Vec<u8>> {
        runtime::blocking(|| self.compress(bytes)).map_err(failed)
    }

    fn compress(&mut self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        Ok(match self {
            Encoder::Gzip(encoder) => {
                encoder.write_all(bytes)?;
                std::mem::take(encoder.get_mut())
            }
            Encoder::Lz4(encoder) => {
                encoder.write_all(bytes)?;
                std::mem::take(encoder.get_mut())
            }
            Encoder::Zstd(encoder) => {
                encoder.write_all(bytes)?;
                std::mem::take(encoder.get_mut())
            }
        })
    }

    /// What is still to go out.
    pub fn finish(self) -> SqlResult<Vec<u8>> {
        let finish = || match self {
            Encoder::Gzip(encoder) => encoder.finish(),
            Encoder::Lz4(encoder) => encoder.finish().map_err(io::Error::other),
            Encoder::Zstd(encoder) => encoder.finish(),
        };
        runtime::blocking(finish).map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn what_is_compressed_comes_back() {
        // Runs and noise, of more than a block of any method.
        let bytes: Vec<u8> = (0..3_000_000_u32)
            .map(|n| if n % 70_000 < 50_000 { (n / 999) as u8 } else { (n.wrapping_mul(n) >> 7) as u8 })
            .collect();
        for (algorithm, detail) in
            [("gzip", Some("9")), ("lz4", None), ("zstd", Some("level=1,long")), ("zstd", Some("-5"))]
        {
            let compression = Compression::named(Some(algorithm), detail).unwrap();
            let mut encoder = Encoder::new(compression).unwrap().unwrap();
            let mut out = Vec::new();
            bytes.chunks(32 << 10).for_each(|piece| out.extend(encoder.write(piece).unwrap()));
            out.extend(encoder.finish().unwrap());
            let mut back = Vec::new();
            match algorithm {
                "gzip" => flate2::read::GzDecoder::new(&out[..]).read_to_end(&mut back).map(drop).unwrap(),
                "lz4" => {
                    lz4_flex::frame::FrameDecoder::new(&out[..]).read_to_end(&mut back).map(drop).unwrap()
                }
                _ => back = zstd::decode_all(&out[..]).unwrap(),
            }
            assert!(back == bytes, "{algorithm}");
            assert!(out.len() < bytes.len() * 3 / 4, "{algorithm}: {}", out.len());
        }
    }

    /// As PostgreSQL 18 says it.
    #[test]
    fn details() {
        let read = |algorithm: &str, detail: &str| {
            Compression::named(Some(algorithm), Some(detail)).map_err(|error| {
                let message = error.message().to_owned();
                message
                    .strip_prefix("invalid compression specification: ")
                    .map_or(message.clone(), str::to_owned)
            })
        };
        assert_eq!(read("gzip", "3"), Ok(Compression::Gzip(3)));
        assert_eq!(read("gzip", "-1"), Ok(Compression::Gzip(6)));
        assert_eq!(read("lz4", "level=1"), Ok(Compression::Lz4));
        assert_eq!(read("zstd", "7"), Ok(Compression::Zstd { level: 7, long: false }));
        assert_eq!(read("zstd", "long=off,level=2"), Ok(Compression::Zstd { level: 2, long: false }));
        for (algorithm, detail, wanted) in [
            ("gzip", "workers=2", "compression algorithm \"gzip\" does not accept a worker count"),
            ("lz4", "long", "compression algorithm \"lz4\" does not support long-distance mode"),
            (
                "lz4",
                "13",
                "compression algorithm \"lz4\" expects a compression level between 1 and 12 (default at 0)",
            ),
            (
                "zstd",
                "23",
                "compression algorithm \"zstd\" expects a compression level between -131072 and 22 (default at 3)",
            ),
            ("zstd", "long=x", "value for compression option \"long\" must be a Boolean value"),
            ("zstd", "level", "compression option \"level\" requires a value"),
            ("zstd", "level=x", "value for compression option \"level\" must be an integer"),
            ("zstd", "level=1,", "found empty string where a compression option was expected"),
            ("zstd", "", "found empty string where a compression option was expected"),
            ("zstd", "fast", "unrecognized compression option: \"fast\""),
            ("zstd", "workers=2", "could not set compression worker count to 2: Unsupported parameter"),
            ("none", "1", "compression algorithm \"none\" does not accept a compression level"),
        ] {
            assert_eq!(read(algorithm, detail), Err(wanted.into()), "{algorithm} {detail}");
        }
    }
}
