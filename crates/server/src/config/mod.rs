//! The server's configuration: files, command line, and where they are.

pub mod access;
pub mod conf;

use std::path::{Path, PathBuf};

use base::SqlState;
use base::settings::{Reload, ServerSettings, Setting, Source, Value};

/// What the command line says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// `-D`, or the environment's `PGDATA`.
    pub data_directory: Option<PathBuf>,
    /// Settings in the order given: `-c name=value` and the switches that stand for one.
    pub settings: Vec<(String, String)>,
}

/// Errors of the configuration: log lines, and the words to end with.
#[derive(Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// What is wrong, one by one.
    pub details: Vec<String>,
    /// Last words.
    pub fatal: String,
    /// Exit code: 2 before there is a log, 1 afterwards.
    pub exit_code: i32,
}

/// Settings that were read, with remarks for the log.
#[derive(Debug)]
pub struct Loaded {
    /// The values.
    pub settings: ServerSettings,
    /// Lines for the log.
    pub notes: Vec<String>,
}

fn config_file(command_line: &CommandLine) -> Result<PathBuf, ConfigError> {
    let named = command_line.settings.iter().rev().find(|(name, _)| name.eq_ignore_ascii_case("config_file"));
    let path = match (named, &command_line.data_directory) {
        (Some((_, path)), _) => PathBuf::from(path),
        (None, Some(dir)) => dir.join("postgresql.conf"),
        (None, None) => {
            return Err(ConfigError {
                details: Vec::new(),
                fatal: "postgres does not know where to find the server configuration file.\n\
                    You must specify the --config-file or -D invocation option or set the PGDATA environment variable."
                    .into(),
                exit_code: 2,
            });
        }
    };
    match runtime::fs::metadata(&path) {
        Ok(_) => Ok(absolute(&path)),
        Err(error) => Err(ConfigError {
            details: Vec::new(),
            fatal: format!(
                "postgres: could not access the server configuration file \"{}\": {}",
                path.display(),
                base::os_error(&error)
            ),
            exit_code: 2,
        }),
    }
}

/// Reads everything anew: defaults, files, `postgresql.auto.conf`, command line.
pub fn load(command_line: &CommandLine) -> Result<Loaded, ConfigError> {
    let mut settings = ServerSettings::new();
    let mut errors = Vec::new();
    for (name, value) in &command_line.settings {
        if let Err(error) = settings.set(name, value, Source::CommandLine, None) {
            return Err(ConfigError {
                details: Vec::new(),
                fatal: format!("FATAL:  {}", error.message()),
                exit_code: 1,
            });
        }
    }
    let main = config_file(command_line)?;
    let mut outcome = conf::read(&main, false);
    if let Some(dir) = &command_line.data_directory {
        let auto = conf::read(&dir.join("postgresql.auto.conf"), true);
        outcome.items.extend(auto.items);
        outcome.errors.extend(auto.errors);
    }
    errors.append(&mut outcome.errors);
    for item in &outcome.items {
        let place = Some((item.file.clone(), item.line));
        if let Err(error) = settings.set(&item.name, &item.value, Source::File, place) {
            let placed = matches!(error.code(), SqlState::UNDEFINED_OBJECT | SqlState::FEATURE_NOT_SUPPORTED);
            errors.push(match placed {
                true => format!("{} in file \"{}\" line {}", error.message(), item.file, item.line),
                false => error.message().to_string(),
            });
        }
    }
    if !errors.is_empty() {
        return Err(ConfigError {
            details: errors,
            fatal: format!("configuration file \"{}\" contains errors", main.display()),
            exit_code: 1,
        });
    }
    locations(&mut settings, command_line, &main);
    Ok(Loaded { settings, notes: outcome.notes })
}

/// Fills in the paths that follow from others.
fn locations(settings: &mut ServerSettings, command_line: &CommandLine, main: &Path) {
    let dir = match settings.text(Setting::data_directory) {
        "" => command_line
            .data_directory
            .clone()
            .unwrap_or_else(|| main.parent().map(Path::to_path_buf).unwrap_or_default()),
        named => PathBuf::from(named),
    };
    let dir = absolute(&dir);
    let mut fact = |setting: Setting, path: PathBuf| {
        settings.set_fact(setting, Value::Text(path.display().to_string().into()));
    };
    fact(Setting::data_directory, dir.clone());
    fact(Setting::config_file, main.to_path_buf());
    for (setting, default) in [(Setting::hba_file, "pg_hba.conf"), (Setting::ident_file, "pg_ident.conf")] {
        let path = match settings.text(setting) {
            "" => dir.join(default),
            named => PathBuf::from(named),
        };
        settings.set_fact(setting, Value::Text(path.display().to_string().into()));
    }
    let megabytes = settings.bytes(Setting::shared_buffers).div_ceil(1 << 20);
    settings.set_fact(Setting::shared_memory_size, Value::Int(megabytes as i32));
    settings.set_fact(Setting::shared_memory_size_in_huge_pages, Value::Int(megabytes.div_ceil(2) as i32));
    let mode = runtime::fs::metadata(&dir).map_or(0o700, |m| m.mode);
    settings.set_fact(Setting::data_directory_mode, Value::Int(mode as i32));
}

/// Reads everything anew while the server runs.
pub fn reload(running: &ServerSettings, command_line: &CommandLine) -> Result<Reload, ConfigError> {
    let loaded = load(command_line).map_err(|mut error| {
        error.fatal.push_str("; no changes were applied");
        error
    })?;
    Ok(running.reloaded(loaded.settings))
}

/// A path that does not depend on the working directory.
pub fn absolute(path: &Path) -> PathBuf {
    runtime::fs::canonical(path)
        .unwrap_or_else(|_| std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()))
}

/// An absolute path that keeps its last component even if that is a link.
pub fn absolute_keeping_links(path: &Path) -> PathBuf {
    match (path.parent().filter(|p| !p.as_os_str().is_empty()), path.file_name()) {
        (Some(parent), Some(name)) => absolute(parent).join(name),
        _ => absolute(path),
    }
}
