//! Reads manifests.

use std::collections::BTreeMap;

use base::{Lsn, TimelineId};
use sha2::{Digest, Sha256};
use tuple::Datum;
use types::json::binary::{Json, Kind};

use super::{Checksum, hex};

/// A file of a backup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its length in bytes.
    pub size: u64,
    /// Its check sum, in hexadecimal, and what it is.
    pub checksum: Option<(Checksum, String)>,
}

/// Log that a backup needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// On this time line.
    pub timeline: TimelineId,
    /// From here on.
    pub start: Lsn,
    /// Up to here.
    pub end: Lsn,
}

/// What a manifest says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// Of the server.
    pub system_identifier: u64,
    /// By their paths below the data directory.
    pub files: BTreeMap<String, File>,
    /// In the order of the manifest.
    pub ranges: Vec<Range>,
}

/// Why a text is no manifest that is of use, in PostgreSQL's words.
type Why = String;

impl Manifest {
    /// Reads a manifest.
    pub fn parse(text: &[u8]) -> Result<Manifest, Why> {
        let failed = |why: &str| format!("could not parse backup manifest: {why}");
        check_sum(text).map_err(|why| failed(&why))?;
        let text = std::str::from_utf8(text).map_err(|_| failed("it is not UTF-8"))?;
        let datum = types::json::parse_unique(true, &Datum::text(text)).map_err(|e| failed(e.message()))?;
        let Datum::Bytes(bytes) = &datum else { return Err(failed("expected an object")) };
        let all = Json::of(bytes);
        if all.kind() != Kind::Object {
            return Err(failed("unexpected array start"));
        }
        match all.get("PostgreSQL-Backup-Manifest-Version").and_then(number) {
            Some(2) => {}
            Some(1) => return Err("backup manifest version 1 does not support incremental backup".into()),
            Some(_) => return Err(failed("unexpected manifest version")),
            None => return Err(failed("expected version indicator")),
        }
        let system_identifier = all.get("System-Identifier").and_then(number);
        let system_identifier =
            system_identifier.ok_or_else(|| failed("system identifier in manifest not an integer"))?;
        let (mut files, mut ranges) = (BTreeMap::new(), Vec::new());
        for item in list(all, "Files").map_err(|why| failed(&why))? {
            let (path, file) = file(item).map_err(|why| failed(&why))?;
            if files.insert(path.clone(), file).is_some() {
                return Err(format!("duplicate path name in backup manifest: \"{path}\""));
            }
        }
        for item in list(all, "WAL-Ranges").map_err(|why| failed(&why))? {
            ranges.push(range(item).map_err(|why| failed(&why))?);
        }
        Ok(Manifest { system_identifier, files, ranges })
    }
}

/// The last line has the SHA-256 of all before.
fn check_sum(text: &[u8]) -> Result<(), Why> {
    let body = text.strip_suffix(b"\n").ok_or("last line not newline-terminated")?;
    let last = body.iter().rposition(|byte| *byte == b'\n').ok_or("expected at least 2 lines")? + 1;
    let told =
        body[last..].strip_prefix(b"\"Manifest-Checksum\": \"").and_then(|rest| rest.strip_suffix(b"\"}"));
    let told = told.ok_or("manifest has no checksum")?;
    match told.eq_ignore_ascii_case(hex(&Sha256::digest(&text[..last])).as_bytes()) {
        true => Ok(()),
        false => Err("manifest checksum mismatch".into()),
    }
}

fn number(json: Json<'_>) -> Option<u64> {
    (json.kind() == Kind::Number).then(|| json.number().to_string().parse().ok())?
}

fn string<'a>(of: Json<'a>, name: &str) -> Option<&'a str> {
    of.get(name).filter(|json| json.kind() == Kind::String).map(Json::text)
}

fn list<'a>(of: Json<'a>, name: &str) -> Result<impl Iterator<Item = Json<'a>>, Why> {
    let list = of.get(name).filter(|json| json.kind() == Kind::Array);
    let list: Vec<_> = list.map(|list| list.elements().collect()).unwrap_or_default();
    match list.iter().all(|item| item.kind() == Kind::Object) {
        true => Ok(list.into_iter()),
        false => Err("unexpected scalar".into()),
    }
}

fn file(item: Json<'_>) -> Result<(String, File), Why> {
    let path = match (string(item, "Path"), string(item, "Encoded-Path")) {
        (Some(_), Some(_)) => return Err("both path name and encoded path name".into()),
        (Some(path), None) => path.to_owned(),
        (None, Some(encoded)) => {
            let bytes = bytes_of(encoded).and_then(|bytes| String::from_utf8(bytes).ok());
            bytes.ok_or("could not decode file name")?
        }
        (None, None) => return Err("missing path name".into()),
    };
    let size = item.get("Size").ok_or("missing size")?;
    let size = number(size).ok_or("file size is not an integer")?;
    let checksum = match (string(item, "Checksum-Algorithm"), string(item, "Checksum")) {
        (None, Some(_)) => return Err("checksum without algorithm".into()),
        (Some(name), Some(sum)) => {
            let kind = Checksum::named(name).ok_or(format!("unrecognized checksum algorithm: \"{name}\""))?;
            bytes_of(sum).ok_or(format!("invalid checksum for file \"{path}\": \"{sum}\""))?;
            Some((kind, sum.to_owned()))
        }
        _ => None,
    };
    Ok((path, File { size, checksum }))
}

fn bytes_of(hex: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = hex.chars().map(|c| c.to_digit(16).map(|digit| digit as u8)).collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2))?;
    Some(digits.as_chunks::<2>().0.iter().map(|[high, low]| high << 4 | low).collect())
}

fn range(item: Json<'_>) -> Result<Range, Why> {
    let timeline = item.get("Timeline").ok_or("missing timeline")?;
    let timeline = number(timeline).and_then(|number| u32::try_from(number).ok());
    let timeline = TimelineId(timeline.ok_or("timeline is not an integer")?);
    let lsn = |name: &str, what: &str| {
        let text = string(item, name).ok_or(format!("missing {what}"))?;
        text.parse::<Lsn>().map_err(|()| format!("could not parse {what}"))
    };
    Ok(Range { timeline, start: lsn("Start-LSN", "start LSN")?, end: lsn("End-LSN", "end LSN")? })
}

#[cfg(test)]
mod tests {
    use super::super::Writer;
    use super::*;

    fn written(encodes: bool) -> String {
        let mut writer = Writer::new(Checksum::Sha256, encodes, 7_712_922_208_721_129_341);
        let mut sum = writer.checksum().begin();
        sum.add(b"18\n");
        writer.file("PG_VERSION", 3, 1_795_804_642, sum.end());
        writer.file("odd \"name\" \\", 0, 0, None);
        writer.finish(&[Range { timeline: TimelineId(1), start: Lsn(0x800_0028), end: Lsn(0x800_0158) }])
    }

    #[test]
    fn what_is_written_is_read() {
        for encodes in [false, true] {
            let manifest = Manifest::parse(written(encodes).as_bytes()).unwrap();
            assert_eq!(manifest.system_identifier, 7_712_922_208_721_129_341);
            assert_eq!(manifest.files["odd \"name\" \\"], File { size: 0, checksum: None });
            let version = &manifest.files["PG_VERSION"];
            assert_eq!((version.size, version.checksum.as_ref().unwrap().0), (3, Checksum::Sha256));
            let range = Range { timeline: TimelineId(1), start: Lsn(0x800_0028), end: Lsn(0x800_0158) };
            assert_eq!(manifest.ranges, [range]);
        }
    }

    /// The text with these changes and a check sum that is right again.
    fn changed(from: &str, to: &str) -> String {
        let text = written(false);
        assert!(text.contains(from), "{from}");
        let body = text[..text.find("\"Manifest-Checksum\"").unwrap()].replace(from, to);
        format!("{body}\"Manifest-Checksum\": \"{}\"}}\n", hex(&Sha256::digest(body.as_bytes())))
    }

    #[test]
    fn what_is_wrong_is_told() {
        let why = |text: &str| Manifest::parse(text.as_bytes()).unwrap_err();
        let told = |why: &str| format!("could not parse backup manifest: {why}");
        assert_eq!(why(&written(false).replace("18", "19")), told("manifest checksum mismatch"));
        assert_eq!(why(written(false).trim_end()), told("last line not newline-terminated"));
        assert_eq!(why("x\n"), told("expected at least 2 lines"));
        assert_eq!(why("x\ny\n"), told("manifest has no checksum"));
        for (from, to, reason) in [
            ("Version\": 2", "Version\": 3", "unexpected manifest version"),
            ("\"Size\": 3", "\"Size\": \"x\"", "file size is not an integer"),
            ("\"Size\": 3, ", "", "missing size"),
            ("\"Path\": \"PG_VERSION\"", "\"P\": 1", "missing path name"),
            ("SHA256", "MD5", "unrecognized checksum algorithm: \"MD5\""),
            ("0/8000028", "0x", "could not parse start LSN"),
            ("\"Timeline\": 1", "\"Timeline\": -1", "timeline is not an integer"),
            ("7712922208721129341", "\"x\"", "system identifier in manifest not an integer"),
        ] {
            assert_eq!(why(&changed(from, to)), told(reason), "{from}");
        }
        let old = why(&changed("Version\": 2", "Version\": 1"));
        assert_eq!(old, "backup manifest version 1 does not support incremental backup");
    }
}
