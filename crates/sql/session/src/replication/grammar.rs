//! The commands of replication connections, from their text.
//!
//! # What
//! [`parse()`] tells whether a text is a replication command, by its first word, and reads it. Pure.
//!
//! # Invariants
//! 1. No text makes it panic.
//! 2. Keywords are written in capitals; other words are folded to lower case unless they are quoted.
//!
//! # PostgreSQL counterpart
//! `repl_scanner.l`, `repl_gram.y`.

use base::{Lsn, SqlError, SqlResult, SqlState, sql_err};

/// Bytes of a name that count.
const NAME_LENGTH: usize = 63;

/// A replication command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// IDENTIFY_SYSTEM
    IdentifySystem,
    /// SHOW, of a setting.
    Show(String),
    /// READ_REPLICATION_SLOT
    ReadSlot(String),
    /// CREATE_REPLICATION_SLOT
    CreateSlot {
        /// Its name.
        name: String,
        /// It ends with its session.
        temporary: bool,
        /// The output plugin of a logical one.
        plugin: Option<String>,
        /// Options, as they stand in parentheses.
        options: Vec<OptionItem>,
    },
    /// ALTER_REPLICATION_SLOT
    AlterSlot(String, Vec<OptionItem>),
    /// DROP_REPLICATION_SLOT
    DropSlot {
        /// Its name.
        name: String,
        /// Whether to wait until nobody uses it.
        wait: bool,
    },
    /// START_REPLICATION, of the log itself.
    StartPhysical {
        /// From which slot.
        slot: Option<String>,
        /// From where on.
        start: Lsn,
        /// On which time line; none: the current one.
        timeline: Option<u32>,
    },
    /// START_REPLICATION of decoded changes.
    StartLogical {
        /// From which slot.
        slot: String,
        /// From where on.
        start: Lsn,
        /// Options of the output plugin: names and values.
        options: Vec<(String, Option<String>)>,
    },
    /// TIMELINE_HISTORY
    TimelineHistory(u32),
    /// BASE_BACKUP
    BaseBackup(Vec<OptionItem>),
    /// UPLOAD_MANIFEST
    UploadManifest,
}

impl Command {
    /// Its tag.
    pub fn tag(&self) -> &'static str {
        match self {
            Command::IdentifySystem => "IDENTIFY_SYSTEM",
            Command::Show(_) => "SHOW",
            Command::ReadSlot(_) => "READ_REPLICATION_SLOT",
            Command::CreateSlot { .. } => "CREATE_REPLICATION_SLOT",
            Command::AlterSlot(..) => "ALTER_REPLICATION_SLOT",
            Command::DropSlot { .. } => "DROP_REPLICATION_SLOT",
            Command::StartPhysical { .. } | Command::StartLogical { .. } => "START_REPLICATION",
            Command::TimelineHistory(_) => "TIMELINE_HISTORY",
            Command::BaseBackup(_) => "BASE_BACKUP",
            Command::UploadManifest => "UPLOAD_MANIFEST",
        }
    }
}

/// An option in parentheses: its name, and its value if it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionItem {
    /// Name, in lower case unless it was quoted.
    pub name: String,
    /// Value.
    pub value: Option<OptionValue>,
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionValue {
    /// A word or a string.
    Text(String),
    /// A number.
    Number(u32),
}

impl OptionItem {
    fn word(name: &str, value: Option<&str>) -> OptionItem {
        OptionItem { name: name.to_owned(), value: value.map(|v| OptionValue::Text(v.to_owned())) }
    }

    /// The value as text.
    pub fn text(&self) -> SqlResult<String> {
        match &self.value {
            Some(OptionValue::Text(text)) => Ok(text.clone()),
            Some(OptionValue::Number(number)) => Ok(number.to_string()),
            None => Err(sql_err!(SYNTAX_ERROR, "{} requires a parameter", self.name)),
        }
    }

    /// The value as a truth value; an option alone is true.
    pub fn truth(&self) -> SqlResult<bool> {
        let word = match &self.value {
            None | Some(OptionValue::Number(1)) => return Ok(true),
            Some(OptionValue::Number(0)) => return Ok(false),
            Some(OptionValue::Text(text)) => text.as_str(),
            Some(OptionValue::Number(_)) => "",
        };
        match word.to_ascii_lowercase().as_str() {
            "true" | "on" => Ok(true),
            "false" | "off" => Ok(false),
            _ => Err(sql_err!(SYNTAX_ERROR, "{} requires a Boolean value", self.name)),
        }
    }

    /// The value as a whole number.
    pub fn number(&self) -> SqlResult<i64> {
        match &self.value {
            Some(OptionValue::Number(number)) => Ok(i64::from(*number)),
            Some(OptionValue::Text(_)) => {
                Err(sql_err!(SYNTAX_ERROR, "{} requires an integer value", self.name))
            }
            None => Err(sql_err!(SYNTAX_ERROR, "{} requires a numeric value", self.name)),
        }
    }
}

/// Words that begin a command.
const COMMANDS: [&str; 10] = [
    "IDENTIFY_SYSTEM",
    "BASE_BACKUP",
    "START_REPLICATION",
    "CREATE_REPLICATION_SLOT",
    "DROP_REPLICATION_SLOT",
    "ALTER_REPLICATION_SLOT",
    "READ_REPLICATION_SLOT",
    "TIMELINE_HISTORY",
    "UPLOAD_MANIFEST",
    "SHOW",
];

/// Other words that are no names.
const KEYWORDS: [&str; 11] = [
    "SLOT",
    "PHYSICAL",
    "LOGICAL",
    "TEMPORARY",
    "RESERVE_WAL",
    "TWO_PHASE",
    "EXPORT_SNAPSHOT",
    "NOEXPORT_SNAPSHOT",
    "USE_SNAPSHOT",
    "TIMELINE",
    "WAIT",
];

/// A piece of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// A word that means something, in capitals.
    Keyword(&'static str),
    /// A name.
    Name(String),
    /// A string.
    Text(String),
    Number(u32),
    Position(Lsn),
    /// Anything else.
    Other(u8),
}

fn syntax_error() -> SqlError {
    SqlError::new(SqlState::SYNTAX_ERROR, "syntax error")
}

/// Cuts a text into tokens.
struct Scanner<'a> {
    rest: &'a str,
}

impl<'a> Scanner<'a> {
    fn next(&mut self) -> SqlResult<Option<Token>> {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r', '\x0b', '\x0c']);
        let Some(&first) = self.rest.as_bytes().first() else { return Ok(None) };
        let token = match first {
            b'\'' => Token::Text(self.quoted('\'', "unterminated quoted string")?),
            b'"' => Token::Name(clip(self.quoted('"', "unterminated quoted string")?)),
            b'0'..=b'9' | b'A'..=b'F' | b'a'..=b'f' if let Some(position) = self.position() => {
                Token::Position(position)
            }
            b'0'..=b'9' => {
                let digits = self.take(|b| b.is_ascii_digit());
                // A number that is too great stands for the greatest one, as strtoul has it.
                Token::Number(digits.parse::<u64>().unwrap_or(u64::MAX) as u32)
            }
            b'A'..=b'Z' | b'a'..=b'z' | b'_' | 0x80.. => {
                let word = self.take(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'$' || b >= 0x80);
                let known = COMMANDS.iter().chain(&KEYWORDS).find(|known| **known == word);
                known.map_or_else(
                    || Token::Name(clip(word.to_ascii_lowercase())),
                    |known| Token::Keyword(known),
                )
            }
            other => {
                // No byte of a longer character comes here.
                self.rest = &self.rest[1..];
                Token::Other(other)
            }
        };
        Ok(Some(token))
    }

    fn take(&mut self, belongs: impl Fn(u8) -> bool) -> &'a str {
        let length = self.rest.bytes().position(|b| !belongs(b)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        taken
    }

    /// Two hexadecimal numbers with a slash between them.
    fn position(&mut self) -> Option<Lsn> {
        let hex = |text: &str| text.bytes().position(|b| !b.is_ascii_hexdigit()).unwrap_or(text.len());
        let (high, behind) = self.rest.split_at(hex(self.rest));
        let behind = behind.strip_prefix('/')?;
        let (low, rest) = behind.split_at(hex(behind));
        let half = |digits: &str| u32::from_str_radix(digits, 16).ok();
        let position = Lsn(u64::from(half(high)?) << 32 | u64::from(half(low)?));
        self.rest = rest;
        Some(position)
    }

    /// What stands between two of these quotes; two in a row are one of it.
    fn quoted(&mut self, quote: char, unterminated: &str) -> SqlResult<String> {
        let mut text = String::new();
        let mut chars = self.rest[1..].char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            if c != quote {
                text.push(c);
            } else if chars.next_if(|(_, next)| *next == quote).is_some() {
                text.push(quote);
            } else {
                self.rest = &self.rest[at + 2..];
                return Ok(text);
            }
        }
        Err(sql_err!(SYNTAX_ERROR, "{unterminated}"))
    }
}

/// A name that is not too long.
fn clip(mut name: String) -> String {
    if name.len() > NAME_LENGTH {
        let end = (0..=NAME_LENGTH).rev().find(|at| name.is_char_boundary(*at)).unwrap_or(0);
        name.truncate(end);
    }
    name
}

/// The command that a text is; `None` if it is SQL.
pub fn parse(text: &str) -> SqlResult<Option<Command>> {
    let mut scanner = Scanner { rest: text };
    match scanner.next()? {
        Some(Token::Keyword(word)) if COMMANDS.contains(&word) => {
            let mut parser = Parser { scanner, ahead: None };
            let command = parser.command(word)?;
            if parser.accept(&Token::Other(b';'))? && parser.peek()?.is_none() || parser.peek()?.is_none() {
                return Ok(Some(command));
            }
            Err(syntax_error())
        }
        _ => Ok(None),
    }
}

/// Puts tokens together.
struct Parser<'a> {
    scanner: Scanner<'a>,
    ahead: Option<Option<Token>>,
}

impl Parser<'_> {
    fn peek(&mut self) -> SqlResult<Option<&Token>> {
        if self.ahead.is_none() {
            self.ahead = Some(self.scanner.next()?);
        }
        Ok(self.ahead.as_ref().and_then(Option::as_ref))
    }

    fn next(&mut self) -> SqlResult<Option<Token>> {
        self.peek()?;
        Ok(self.ahead.take().flatten())
    }

    fn accept(&mut self, token: &Token) -> SqlResult<bool> {
        let found = self.peek()? == Some(token);
        if found {
            self.ahead = None;
        }
        Ok(found)
    }

    fn accept_word(&mut self, word: &'static str) -> SqlResult<bool> {
        self.accept(&Token::Keyword(word))
    }

    fn expect(&mut self, byte: u8) -> SqlResult<()> {
        if self.accept(&Token::Other(byte))? { Ok(()) } else { Err(syntax_error()) }
    }

    fn name(&mut self) -> SqlResult<String> {
        match self.next()? {
            Some(Token::Name(name)) => Ok(name),
            _ => Err(syntax_error()),
        }
    }

    /// A name, or two with a dot between them.
    fn dotted_name(&mut self) -> SqlResult<String> {
        let mut name = self.name()?;
        while self.accept(&Token::Other(b'.'))? {
            name = format!("{name}.{}", self.name()?);
        }
        Ok(name)
    }

    fn start(&mut self) -> SqlResult<Lsn> {
        match self.next()? {
            Some(Token::Position(position)) => Ok(position),
            _ => Err(syntax_error()),
        }
    }

    fn timeline(&mut self) -> SqlResult<u32> {
        match self.next()? {
            Some(Token::Number(0)) => Err(sql_err!(SYNTAX_ERROR, "invalid timeline 0")),
            Some(Token::Number(number)) => Ok(number),
            _ => Err(syntax_error()),
        }
    }

    fn command(&mut self, word: &'static str) -> SqlResult<Command> {
        Ok(match word {
            "IDENTIFY_SYSTEM" => Command::IdentifySystem,
            "SHOW" => Command::Show(self.dotted_name()?),
            "READ_REPLICATION_SLOT" => Command::ReadSlot(self.dotted_name()?),
            "CREATE_REPLICATION_SLOT" => self.create_slot()?,
            "ALTER_REPLICATION_SLOT" => Command::AlterSlot(self.name()?, self.options()?),
            "DROP_REPLICATION_SLOT" => {
                Command::DropSlot { name: self.name()?, wait: self.accept_word("WAIT")? }
            }
            "START_REPLICATION" => self.start_replication()?,
            "TIMELINE_HISTORY" => Command::TimelineHistory(self.timeline()?),
            "UPLOAD_MANIFEST" => Command::UploadManifest,
            _ => match self.peek()? {
                Some(Token::Other(b'(')) => Command::BaseBackup(self.options()?),
                _ => Command::BaseBackup(Vec::new()),
            },
        })
    }

    fn create_slot(&mut self) -> SqlResult<Command> {
        let name = self.name()?;
        let temporary = self.accept_word("TEMPORARY")?;
        let plugin = match self.next()? {
            Some(Token::Keyword("PHYSICAL")) => None,
            Some(Token::Keyword("LOGICAL")) => Some(self.name()?),
            _ => return Err(syntax_error()),
        };
        let options = match self.peek()? {
            Some(Token::Other(b'(')) => self.options()?,
            _ => self.words_of_slot()?,
        };
        Ok(Command::CreateSlot { name, temporary, plugin, options })
    }

    /// Options of a new slot as they were written before there were parentheses.
    fn words_of_slot(&mut self) -> SqlResult<Vec<OptionItem>> {
        let mut options = Vec::new();
        while let Some(Token::Keyword(word)) = self.peek()? {
            options.push(match *word {
                "EXPORT_SNAPSHOT" => OptionItem::word("snapshot", Some("export")),
                "NOEXPORT_SNAPSHOT" => OptionItem::word("snapshot", Some("nothing")),
                "USE_SNAPSHOT" => OptionItem::word("snapshot", Some("use")),
                "RESERVE_WAL" => OptionItem::word("reserve_wal", Some("true")),
                "TWO_PHASE" => OptionItem::word("two_phase", Some("true")),
                _ => return Err(syntax_error()),
            });
            self.next()?;
        }
        Ok(options)
    }

    fn start_replication(&mut self) -> SqlResult<Command> {
        let slot = if self.accept_word("SLOT")? { Some(self.name()?) } else { None };
        if let Some(slot) = &slot
            && self.accept_word("LOGICAL")?
        {
            let slot = slot.clone();
            let start = self.start()?;
            return Ok(Command::StartLogical { slot, start, options: self.plugin_options()? });
        }
        self.accept_word("PHYSICAL")?;
        let start = self.start()?;
        let timeline = if self.accept_word("TIMELINE")? { Some(self.timeline()?) } else { None };
        Ok(Command::StartPhysical { slot, start, timeline })
    }

    fn plugin_options(&mut self) -> SqlResult<Vec<(String, Option<String>)>> {
        let mut options = Vec::new();
        if !self.accept(&Token::Other(b'('))? {
            return Ok(options);
        }
        loop {
            let name = self.name()?;
            let value = match self.peek()? {
                Some(Token::Text(text)) => Some(text.clone()),
                _ => None,
            };
            if value.is_some() {
                self.next()?;
            }
            options.push((name, value));
            if !self.accept(&Token::Other(b','))? {
                self.expect(b')')?;
                return Ok(options);
            }
        }
    }

    /// Options in parentheses, one at least.
    fn options(&mut self) -> SqlResult<Vec<OptionItem>> {
        self.expect(b'(')?;
        let mut options = Vec::new();
        loop {
            let name = match self.next()? {
                Some(Token::Name(name)) => name,
                Some(Token::Keyword(word)) => word.to_ascii_lowercase(),
                _ => return Err(syntax_error()),
            };
            let value = match self.peek()? {
                Some(Token::Name(text) | Token::Text(text)) => Some(OptionValue::Text(text.clone())),
                Some(Token::Number(number)) => Some(OptionValue::Number(*number)),
                _ => None,
            };
            if value.is_some() {
                self.next()?;
            }
            options.push(OptionItem { name, value });
            if !self.accept(&Token::Other(b','))? {
                self.expect(b')')?;
                return Ok(options);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        match parse(text) {
            Ok(Some(command)) => format!("{command:?}"),
            Ok(None) => "SQL".into(),
            Err(error) => format!("{} {}", error.code(), error.message()),
        }
    }

    fn item(name: &str, value: Option<OptionValue>) -> OptionItem {
        OptionItem { name: name.into(), value }
    }

    #[test]
    fn commands_are_told_from_sql_by_their_first_word() {
        assert_eq!(read("IDENTIFY_SYSTEM"), "IdentifySystem");
        assert_eq!(read(" IDENTIFY_SYSTEM ; "), "IdentifySystem");
        for sql in ["", "-- x", "select 1", "show foo", "identify_system", "WAIT", "begin; SHOW x"] {
            assert_eq!(read(sql), "SQL", "{sql}");
        }
        assert_eq!(read("'abc"), "42601 unterminated quoted string");
    }

    #[test]
    fn commands_have_parts() {
        assert_eq!(parse("SHOW a.B").unwrap(), Some(Command::Show("a.b".into())));
        assert_eq!(
            parse("START_REPLICATION SLOT \"S\" PHYSICAL 1A/b TIMELINE 3").unwrap(),
            Some(Command::StartPhysical {
                slot: Some("S".into()),
                start: Lsn(0x1A_0000_000B),
                timeline: Some(3)
            })
        );
        assert_eq!(
            parse("START_REPLICATION ab/0").unwrap(),
            Some(Command::StartPhysical { slot: None, start: Lsn(0xAB << 32), timeline: None })
        );
        assert_eq!(
            parse("START_REPLICATION SLOT s LOGICAL 0/7 (a 'b', \"c\")").unwrap(),
            Some(Command::StartLogical {
                slot: "s".into(),
                start: Lsn(7),
                options: vec![("a".into(), Some("b".into())), ("c".into(), None)],
            })
        );
        assert_eq!(
            parse("DROP_REPLICATION_SLOT s WAIT;").unwrap(),
            Some(Command::DropSlot { name: "s".into(), wait: true })
        );
        assert_eq!(
            parse("CREATE_REPLICATION_SLOT s TEMPORARY PHYSICAL RESERVE_WAL").unwrap(),
            Some(Command::CreateSlot {
                name: "s".into(),
                temporary: true,
                plugin: None,
                options: vec![OptionItem::word("reserve_wal", Some("true"))],
            })
        );
        assert_eq!(
            parse("BASE_BACKUP (LABEL 'it''s', wait, WAIT off, max_rate 32)").unwrap(),
            Some(Command::BaseBackup(vec![
                item("label", Some(OptionValue::Text("it's".into()))),
                item("wait", None),
                item("wait", Some(OptionValue::Text("off".into()))),
                item("max_rate", Some(OptionValue::Number(32))),
            ]))
        );
    }

    #[test]
    fn what_is_no_command_is_a_syntax_error() {
        for text in [
            "IDENTIFY_SYSTEM x",
            "IDENTIFY_SYSTEM;;",
            "START_REPLICATION",
            "START_REPLICATION SLOT 0/0",
            "START_REPLICATION 0/123456789",
            "BASE_BACKUP LABEL 'x' FAST",
            "BASE_BACKUP ()",
            "BASE_BACKUP (a,)",
            "BASE_BACKUP (a",
            "CREATE_REPLICATION_SLOT a",
            "CREATE_REPLICATION_SLOT a PHYSICAL WAIT",
            "SHOW TRANSACTION ISOLATION LEVEL",
            "DROP_REPLICATION_SLOT WAIT",
            "SHOW ä ö",
        ] {
            assert_eq!(read(text), "42601 syntax error", "{text}");
        }
        assert_eq!(read("TIMELINE_HISTORY 0"), "42601 invalid timeline 0");
        assert_eq!(read("START_REPLICATION 0/0 TIMELINE 0"), "42601 invalid timeline 0");
    }

    #[test]
    fn options_have_values_of_kinds() {
        let truth = |value| item("o", value).truth().map_err(|error| error.message().to_owned());
        assert_eq!(truth(None), Ok(true));
        assert_eq!(truth(Some(OptionValue::Number(0))), Ok(false));
        assert_eq!(truth(Some(OptionValue::Text("Off".into()))), Ok(false));
        assert_eq!(truth(Some(OptionValue::Text("yes".into()))), Err("o requires a Boolean value".into()));
    }

    #[test]
    fn any_bytes_are_read_without_harm() {
        let words =
            ["BASE_BACKUP", "SHOW", "(", ")", ",", "'", "\"", "ä", "0/0", "9999999999999999999", "F/", "x"];
        let mut seed = 1u64;
        for _ in 0..20_000 {
            let mut text = String::from("START_REPLICATION ");
            for _ in 0..seed % 9 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                text.push_str(words[(seed >> 33) as usize % words.len()]);
                if seed & 1 << 40 == 0 {
                    text.push(' ');
                }
            }
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
            let _ = parse(&text);
            let _ = parse(&text[18..]);
        }
    }
}
