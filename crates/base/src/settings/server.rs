//! The values that all sessions of a server start from.

use std::sync::Arc;

use super::session::Fast;
use super::{ALL, Context, Setting, Value, check_custom_name, checks, is_custom_name, unrecognized};
use crate::{SqlResult, sql_err};

/// Where a value comes from. Later ones override earlier ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// Built in.
    #[default]
    Default,
    /// Chosen by the server as it started.
    Computed,
    /// A configuration file.
    File,
    /// The command line.
    CommandLine,
    /// `ALTER ROLE ALL SET`.
    Global,
    /// `ALTER DATABASE ... SET`.
    Database,
    /// `ALTER ROLE ... SET`.
    User,
    /// `ALTER ROLE ... IN DATABASE ... SET`.
    DatabaseUser,
    /// The start-up packet.
    Client,
    /// Fixed, whatever else says.
    Override,
    /// SET.
    Session,
}

impl Source {
    /// The words in `pg_settings.source`.
    pub fn as_str(self) -> &'static str {
        match self {
            Source::Default | Source::Computed => "default",
            Source::File => "configuration file",
            Source::CommandLine => "command line",
            Source::Global => "global",
            Source::Database => "database",
            Source::User => "user",
            Source::DatabaseUser => "database user",
            Source::Client => "client",
            Source::Override => "override",
            Source::Session => "session",
        }
    }
}

/// One value and its origin.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) value: Value,
    pub(super) source: Source,
    pub(super) file: Option<(Arc<str>, u32)>,
    /// A reload brought a value that counts only after a restart.
    pub(super) pending_restart: bool,
    /// A weaker source has another value, which counts for nothing.
    overridden: bool,
}

/// The values of a server. Immutable once sessions use it; a reload makes a new one.
#[derive(Clone, Debug)]
pub struct ServerSettings {
    pub(super) entries: Box<[Entry]>,
    pub(super) custom: Vec<(String, String)>,
    pub(super) fast: Fast,
}

impl Default for ServerSettings {
    fn default() -> Self {
        ServerSettings::new()
    }
}

impl ServerSettings {
    /// All defaults.
    pub fn new() -> ServerSettings {
        let entry = |setting: &Setting| Entry {
            value: setting.definition().default_value(),
            source: Source::Default,
            file: None,
            pending_restart: false,
            overridden: false,
        };
        let entries: Box<[Entry]> = ALL.iter().map(entry).collect();
        let mut fast = Fast::default();
        for setting in ALL {
            fast.apply(*setting, &entries[*setting as usize].value);
        }
        ServerSettings { entries, custom: Vec::new(), fast }
    }

    /// The value of a setting.
    #[inline]
    pub fn get(&self, setting: Setting) -> &Value {
        &self.entries[setting as usize].value
    }

    /// Whether it is on.
    pub fn bool(&self, setting: Setting) -> bool {
        self.get(setting).as_bool()
    }

    /// Its number, in its unit.
    pub fn int(&self, setting: Setting) -> i32 {
        self.get(setting).as_int()
    }

    /// Its number, in bytes.
    pub fn bytes(&self, setting: Setting) -> u64 {
        let unit = setting.definition().unit.size();
        (self.get(setting).as_real() * unit).max(0.0) as u64
    }

    /// Its number as a length of time; negative ones are zero.
    pub fn duration(&self, setting: Setting) -> std::time::Duration {
        let unit = setting.definition().unit.size();
        std::time::Duration::from_micros((self.get(setting).as_real() * unit).max(0.0) as u64)
    }

    /// Its number.
    pub fn real(&self, setting: Setting) -> f64 {
        self.get(setting).as_real()
    }

    /// Its text.
    pub fn text(&self, setting: Setting) -> &str {
        self.get(setting).as_text()
    }

    /// As SHOW has it.
    pub fn show(&self, setting: Setting) -> String {
        self.get(setting).show(setting.definition())
    }

    /// The value of an extension's setting.
    pub fn custom(&self, name: &str) -> Option<&str> {
        self.custom
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// Where the value comes from.
    pub fn source(&self, setting: Setting) -> Source {
        self.entries[setting as usize].source
    }

    /// Sets a value by name, as the configuration file and the command line do, unless it comes from a stronger source.
    pub fn set(
        &mut self,
        name: &str,
        text: &str,
        source: Source,
        file: Option<(Arc<str>, u32)>,
    ) -> SqlResult<()> {
        let Some(setting) = Setting::find(name) else {
            if !is_custom_name(name) {
                return Err(unrecognized(name));
            }
            check_custom_name(name, &self.fast.watch)?;
            self.custom.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
            self.custom.push((name.to_string(), text.to_string()));
            return Ok(());
        };
        if setting.definition().context == Context::Internal && source != Source::Override {
            return Err(sql_err!(
                CANT_CHANGE_RUNTIME_PARAM,
                "parameter \"{}\" cannot be changed",
                setting.name()
            ));
        }
        let value = checks::parse(setting, text, self.get(setting))?;
        let entry = &mut self.entries[setting as usize];
        if entry.source > source {
            entry.overridden = entry.value != value;
            return Ok(());
        }
        *entry = Entry { value, source, file, pending_restart: false, overridden: false };
        let value = entry.value.clone();
        self.fast.apply(setting, &value);
        Ok(())
    }

    /// Sets a fact that the server found out, as `data_directory` or `server_encoding`.
    pub fn set_fact(&mut self, setting: Setting, value: Value) {
        self.fast.apply(setting, &value);
        let entry = &mut self.entries[setting as usize];
        entry.value = value;
        entry.source = Source::Override;
    }

    /// Takes a value over from other settings, with where it comes from.
    pub fn keep(&mut self, setting: Setting, from: &ServerSettings) {
        self.entries[setting as usize] = from.entries[setting as usize].clone();
        let value = self.get(setting).clone();
        self.fast.apply(setting, &value);
    }

    /// Whether `fresh` has a value that counts only when a server starts with it. As in PostgreSQL, a file's does even where the command line has another: who wrote
    /// the file may change the command line too.
    pub fn needs_restart(&self, fresh: &ServerSettings, setting: Setting) -> bool {
        setting.definition().context <= Context::Postmaster
            && self.source(setting) != Source::Override
            && (self.get(setting) != fresh.get(setting) || fresh.entries[setting as usize].overridden)
    }

    /// What a reload makes of these running values: `fresh` was read from the files and command line anew. Values that
    /// count only at server start stay; their names are returned. Also returns what changed.
    pub fn reloaded(&self, mut fresh: ServerSettings) -> Reload {
        let (mut changed, mut needs_restart) = (Vec::new(), Vec::new());
        for setting in ALL {
            let fixed = setting.definition().context <= Context::Postmaster;
            let differs = self.needs_restart(&fresh, *setting);
            let (old, new) = (&self.entries[*setting as usize], &mut fresh.entries[*setting as usize]);
            if fixed || old.source == Source::Override {
                *new = Entry { pending_restart: differs, ..old.clone() };
                if differs {
                    needs_restart.push(*setting);
                }
            } else if old.value != new.value {
                changed.push(*setting);
            }
        }
        for setting in ALL {
            let value = fresh.entries[*setting as usize].value.clone();
            fresh.fast.apply(*setting, &value);
        }
        Reload { settings: fresh, changed, needs_restart }
    }
}

/// Outcome of [`ServerSettings::reloaded`].
#[derive(Debug)]
pub struct Reload {
    /// The values from now on.
    pub settings: ServerSettings,
    /// Settings whose value is another now.
    pub changed: Vec<Setting>,
    /// Settings whose new value counts only after a restart.
    pub needs_restart: Vec<Setting>,
}
