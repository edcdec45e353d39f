//! PostgreSQL's encodings: numbers, names, widths. What their bytes mean is `types::encoding`'s.

/// An encoding, numbered as in `pg_database.encoding` and `pg_conversion`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Encoding {
    SqlAscii,
    EucJp,
    EucCn,
    EucKr,
    EucTw,
    EucJis2004,
    #[default]
    Utf8,
    MuleInternal,
    Latin1,
    Latin2,
    Latin3,
    Latin4,
    Latin5,
    Latin6,
    Latin7,
    Latin8,
    Latin9,
    Latin10,
    Win1256,
    Win1258,
    Win866,
    Win874,
    Koi8r,
    Win1251,
    Win1252,
    Iso88595,
    Iso88596,
    Iso88597,
    Iso88598,
    Win1250,
    Win1253,
    Win1254,
    Win1255,
    Win1257,
    Koi8u,
    Sjis,
    Big5,
    Gbk,
    Uhc,
    Gb18030,
    Johab,
    ShiftJis2004,
}

use Encoding as E;

/// All of them with their names and the bytes of their longest character, by number.
const ALL: [(Encoding, &str, u8); 42] = [
    (E::SqlAscii, "SQL_ASCII", 1),
    (E::EucJp, "EUC_JP", 3),
    (E::EucCn, "EUC_CN", 2),
    (E::EucKr, "EUC_KR", 3),
    (E::EucTw, "EUC_TW", 4),
    (E::EucJis2004, "EUC_JIS_2004", 3),
    (E::Utf8, "UTF8", 4),
    (E::MuleInternal, "MULE_INTERNAL", 4),
    (E::Latin1, "LATIN1", 1),
    (E::Latin2, "LATIN2", 1),
    (E::Latin3, "LATIN3", 1),
    (E::Latin4, "LATIN4", 1),
    (E::Latin5, "LATIN5", 1),
    (E::Latin6, "LATIN6", 1),
    (E::Latin7, "LATIN7", 1),
    (E::Latin8, "LATIN8", 1),
    (E::Latin9, "LATIN9", 1),
    (E::Latin10, "LATIN10", 1),
    (E::Win1256, "WIN1256", 1),
    (E::Win1258, "WIN1258", 1),
    (E::Win866, "WIN866", 1),
    (E::Win874, "WIN874", 1),
    (E::Koi8r, "KOI8R", 1),
    (E::Win1251, "WIN1251", 1),
    (E::Win1252, "WIN1252", 1),
    (E::Iso88595, "ISO_8859_5", 1),
    (E::Iso88596, "ISO_8859_6", 1),
    (E::Iso88597, "ISO_8859_7", 1),
    (E::Iso88598, "ISO_8859_8", 1),
    (E::Win1250, "WIN1250", 1),
    (E::Win1253, "WIN1253", 1),
    (E::Win1254, "WIN1254", 1),
    (E::Win1255, "WIN1255", 1),
    (E::Win1257, "WIN1257", 1),
    (E::Koi8u, "KOI8U", 1),
    (E::Sjis, "SJIS", 2),
    (E::Big5, "BIG5", 2),
    (E::Gbk, "GBK", 2),
    (E::Uhc, "UHC", 2),
    (E::Gb18030, "GB18030", 4),
    (E::Johab, "JOHAB", 3),
    (E::ShiftJis2004, "SHIFT_JIS_2004", 2),
];

/// Further names, in lower case without punctuation.
const ALIASES: [(&str, Encoding); 39] = [
    ("abc", E::Win1258),
    ("alt", E::Win866),
    ("iso88591", E::Latin1),
    ("iso885910", E::Latin6),
    ("iso885913", E::Latin7),
    ("iso885914", E::Latin8),
    ("iso885915", E::Latin9),
    ("iso885916", E::Latin10),
    ("iso88592", E::Latin2),
    ("iso88593", E::Latin3),
    ("iso88594", E::Latin4),
    ("iso88599", E::Latin5),
    ("koi8", E::Koi8r),
    ("mskanji", E::Sjis),
    ("shiftjis", E::Sjis),
    ("tcvn", E::Win1258),
    ("tcvn5712", E::Win1258),
    ("unicode", E::Utf8),
    ("vscii", E::Win1258),
    ("win", E::Win1251),
    ("win932", E::Sjis),
    ("win936", E::Gbk),
    ("win949", E::Uhc),
    ("win950", E::Big5),
    ("windows1250", E::Win1250),
    ("windows1251", E::Win1251),
    ("windows1252", E::Win1252),
    ("windows1253", E::Win1253),
    ("windows1254", E::Win1254),
    ("windows1255", E::Win1255),
    ("windows1256", E::Win1256),
    ("windows1257", E::Win1257),
    ("windows1258", E::Win1258),
    ("windows866", E::Win866),
    ("windows874", E::Win874),
    ("windows932", E::Sjis),
    ("windows936", E::Gbk),
    ("windows949", E::Uhc),
    ("windows950", E::Big5),
];

/// Letters and digits of a name, in lower case: all that counts of it.
fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

impl Encoding {
    /// The one with this number.
    pub fn from_number(number: i32) -> Option<Encoding> {
        usize::try_from(number).ok().and_then(|n| ALL.get(n)).map(|known| known.0)
    }

    /// Its number.
    pub fn number(self) -> i32 {
        i32::from(self as u8)
    }

    /// The one with this name, whatever its case and punctuation.
    pub fn find(name: &str) -> Option<Encoding> {
        let wanted = plain(name);
        let named = ALL.iter().find(|known| plain(known.1) == wanted).map(|known| known.0);
        named.or_else(|| ALIASES.iter().find(|alias| alias.0 == wanted).map(|alias| alias.1))
    }

    /// Its canonical name.
    pub fn name(self) -> &'static str {
        ALL[self as usize].1
    }

    /// Bytes of its longest character.
    pub fn max_length(self) -> i32 {
        ALL[self as usize].2.into()
    }

    /// Whether a database may have it: every byte of its longer characters is above those of ASCII.
    pub fn is_of_servers(self) -> bool {
        self <= E::Koi8u
    }

    /// Whether texts are converted between it and UTF-8. Those of [`Encoding::Utf8`] and [`Encoding::SqlAscii`] go as they are.
    pub fn is_converted(self) -> bool {
        !matches!(self, E::SqlAscii | E::Utf8)
    }

    /// Whether texts of it can be read and written here.
    pub fn is_known(self) -> bool {
        !matches!(self, E::MuleInternal | E::EucTw | E::EucJis2004 | E::ShiftJis2004)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_found_under_all_their_names() {
        for (i, (encoding, name, _)) in ALL.iter().enumerate() {
            assert_eq!(Encoding::from_number(i as i32), Some(*encoding));
            assert_eq!(Encoding::find(name), Some(*encoding));
        }
        assert_eq!(Encoding::find("utf-8"), Some(E::Utf8));
        assert_eq!(Encoding::find("Windows-1252"), Some(E::Win1252));
        assert_eq!(Encoding::find("ISO 8859-1"), Some(E::Latin1));
        assert_eq!(Encoding::find("klingon"), None);
    }
}
