//! # What
//! Options of CREATE and ALTER SUBSCRIPTION: what they can be, and which go together.
//!
//! # PostgreSQL counterpart
//! `parse_subscription_options` of `commands/subscriptioncmds.c`.

use base::settings::Setting;
use base::{SqlError, SqlResult, sql_err};
use parse::ast::{DefElem, OptionValue};
use session::replication::slots::check_name;

use super::{names, options};

/// What CREATE SUBSCRIPTION can be told.
pub(super) const OF_CREATE: &[&str] = &[
    "connect",
    "enabled",
    "create_slot",
    "slot_name",
    "copy_data",
    "synchronous_commit",
    "binary",
    "streaming",
    "two_phase",
    "disable_on_error",
    "password_required",
    "run_as_owner",
    "failover",
    "origin",
];

/// What ALTER SUBSCRIPTION ... SET can be told.
pub(super) const OF_SET: &[&str] = &[
    "slot_name",
    "synchronous_commit",
    "binary",
    "streaming",
    "two_phase",
    "disable_on_error",
    "password_required",
    "run_as_owner",
    "failover",
    "origin",
];

/// Options as given; none of those that are not.
#[derive(Debug, Default)]
pub(super) struct Options {
    pub connect: Option<bool>,
    pub enabled: Option<bool>,
    pub create_slot: Option<bool>,
    /// An inner none: NONE.
    pub slot_name: Option<Option<String>>,
    pub copy_data: Option<bool>,
    pub refresh: Option<bool>,
    pub synchronous_commit: Option<String>,
    pub binary: Option<bool>,
    /// Letter of `substream`.
    pub streaming: Option<u8>,
    pub two_phase: Option<bool>,
    pub disable_on_error: Option<bool>,
    pub password_required: Option<bool>,
    pub run_as_owner: Option<bool>,
    pub failover: Option<bool>,
    pub origin: Option<String>,
    /// 0: NONE.
    pub lsn: Option<i64>,
}

impl Options {
    /// Reads options, which must be among `known`.
    pub fn read(given: &[DefElem], known: &[&str], text: &str) -> SqlResult<Options> {
        let mut read = Options::default();
        for (at, option) in given.iter().enumerate() {
            let name = option.name.as_str();
            if !known.contains(&name) {
                return Err(sql_err!(SYNTAX_ERROR, "unrecognized subscription parameter: \"{name}\""));
            }
            if given[..at].iter().any(|other| other.name == option.name) {
                let error = sql_err!(SYNTAX_ERROR, "conflicting or redundant options");
                return Err(names::at(error, text, option.location));
            }
            read.set(option)?;
        }
        Ok(read)
    }

    fn set(&mut self, option: &DefElem) -> SqlResult<()> {
        let flag = match option.name.as_str() {
            "slot_name" => {
                let name = options::string(option)?;
                let name = (name != "none").then_some(name);
                name.as_deref().map_or(Ok(()), check_name)?;
                self.slot_name = Some(name);
                return Ok(());
            }
            "synchronous_commit" => {
                let value = options::string(option)?;
                Setting::synchronous_commit.parse(&value)?;
                self.synchronous_commit = Some(value);
                return Ok(());
            }
            "streaming" => {
                self.streaming = Some(streaming(option)?);
                return Ok(());
            }
            "origin" => {
                let value = options::string(option)?;
                if !["none", "any"].iter().any(|known| known.eq_ignore_ascii_case(&value)) {
                    return Err(sql_err!(INVALID_PARAMETER_VALUE, "unrecognized origin value: \"{value}\""));
                }
                self.origin = Some(value);
                return Ok(());
            }
            "lsn" => {
                self.lsn = Some(lsn(&options::string(option)?)?);
                return Ok(());
            }
            "connect" => &mut self.connect,
            "enabled" => &mut self.enabled,
            "create_slot" => &mut self.create_slot,
            "copy_data" => &mut self.copy_data,
            "refresh" => &mut self.refresh,
            "binary" => &mut self.binary,
            "two_phase" => &mut self.two_phase,
            "disable_on_error" => &mut self.disable_on_error,
            "password_required" => &mut self.password_required,
            "run_as_owner" => &mut self.run_as_owner,
            "failover" => &mut self.failover,
            other => return Err(SqlError::internal(format!("unknown option {other}"))),
        };
        *flag = Some(options::boolean(option)?);
        Ok(())
    }

    /// Fails if options of CREATE SUBSCRIPTION contradict each other. What is not given follows from what is.
    pub fn check_create(&self) -> SqlResult<()> {
        if !self.connects() {
            let asked = [
                (self.enabled, "enabled = true"),
                (self.create_slot, "create_slot = true"),
                (self.copy_data, "copy_data = true"),
            ];
            if let Some((_, other)) = asked.iter().find(|(asked, _)| *asked == Some(true)) {
                return Err(exclusive("connect = false", other));
            }
        }
        if self.slot_name == Some(None) {
            let needed = [
                (self.enabled, self.enabled(), "enabled = true", "enabled = false"),
                (self.create_slot, self.creates_slot(), "create_slot = true", "create_slot = false"),
            ];
            let found = needed.iter().find(|(_, on, ..)| *on);
            return match found {
                None => Ok(()),
                Some((Some(_), _, on, _)) => Err(exclusive("slot_name = NONE", on)),
                Some((None, .., off)) => {
                    Err(sql_err!(SYNTAX_ERROR, "subscription with slot_name = NONE must also set {off}"))
                }
            };
        }
        Ok(())
    }

    /// Whether the publisher is connected to.
    pub fn connects(&self) -> bool {
        self.connect.unwrap_or(true)
    }

    /// Whether the subscription is to be enabled.
    pub fn enabled(&self) -> bool {
        self.enabled.unwrap_or(self.connects())
    }

    /// Whether the slot is to be made.
    pub fn creates_slot(&self) -> bool {
        self.create_slot.unwrap_or(self.connects())
    }
}

fn exclusive(one: &str, other: &str) -> SqlError {
    sql_err!(SYNTAX_ERROR, "{one} and {other} are mutually exclusive options")
}

/// `substream`: off, on, or applied in parallel.
fn streaming(option: &DefElem) -> SqlResult<u8> {
    let word = match &option.value {
        None => return Ok(b't'),
        Some(OptionValue::Integer(0)) => return Ok(b'f'),
        Some(OptionValue::Integer(1)) => return Ok(b't'),
        Some(OptionValue::Integer(_)) => None,
        Some(value) => options::text(value),
    };
    match word.map(|word| word.to_ascii_lowercase()).as_deref() {
        Some("true" | "on") => Ok(b't'),
        Some("false" | "off") => Ok(b'f'),
        Some("parallel") => Ok(b'p'),
        _ => Err(sql_err!(SYNTAX_ERROR, "{} requires a Boolean value or \"parallel\"", option.name)),
    }
}

/// The end of the transaction that SKIP names; 0 for NONE.
fn lsn(text: &str) -> SqlResult<i64> {
    if text == "none" {
        return Ok(0);
    }
    match types::ids::parse_lsn(text)? {
        0 => Err(sql_err!(INVALID_PARAMETER_VALUE, "invalid WAL location (LSN): {text}")),
        lsn => Ok(lsn),
    }
}
