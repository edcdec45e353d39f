//! The server's configuration: files, command line, and where they are.

pub mod access;
pub mod auto;
pub mod conf;

use std::path::{Path, PathBuf};

use base::settings::{Reload, ServerSettings, Setting, Source, Value};
use base::{SqlError, SqlResult, SqlState, sql_err};
use session::FileSetting;

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

/// The configuration files as they are now.
#[derive(Debug)]
struct Files {
    main: PathBuf,
    outcome: conf::Outcome,
}

impl Files {
    fn read(command_line: &CommandLine) -> Result<Files, ConfigError> {
        let main = config_file(command_line)?;
        let mut outcome = conf::read(&main, false);
        if let Some(dir) = &command_line.data_directory {
            let auto = conf::read(&dir.join(auto::NAME), true);
            outcome.lines.extend(auto.lines);
            outcome.notes.extend(auto.notes);
        }
        Ok(Files { main, outcome })
    }
}

/// What becomes of a line of the files.
#[derive(Clone, Debug, Default)]
struct Verdict {
    applied: bool,
    error: Option<String>,
}

/// The values that files and command line make.
struct Assessment {
    settings: ServerSettings,
    /// One for each line.
    verdicts: Vec<Verdict>,
    /// For the log.
    errors: Vec<String>,
    /// Nothing is to be taken from the files: who wrote them meant something else.
    broken: bool,
}

/// `running`: the values so far, which stay where a new one cannot be.
fn assess(
    files: &Files,
    command_line: &CommandLine,
    running: Option<&ServerSettings>,
) -> SqlResult<Assessment> {
    let mut settings = ServerSettings::new();
    for (name, value) in &command_line.settings {
        settings.set(name, value, Source::CommandLine, None)?;
    }
    let lines = &files.outcome.lines;
    let mut found = Assessment {
        settings,
        verdicts: vec![Verdict::default(); lines.len()],
        errors: Vec::new(),
        broken: false,
    };
    for (line, verdict) in lines.iter().zip(&mut found.verdicts) {
        match line {
            Err(fault) => {
                verdict.error = Some(fault.error.clone());
                found.errors.push(fault.message.clone());
            }
            Ok(item) if !is_known(&item.name) => {
                let unknown = base::settings::unrecognized(&item.name);
                verdict.error = Some("unrecognized configuration parameter".into());
                found.errors.push(placed(unknown.message(), item));
            }
            Ok(_) => {}
        }
    }
    found.broken = !found.errors.is_empty();
    if found.broken {
        return Ok(found);
    }
    for (at, item) in lines.iter().flatten().enumerate() {
        let same = |later: &&conf::Item| later.name.eq_ignore_ascii_case(&item.name);
        if lines[at + 1..].iter().flatten().any(|later| same(&later)) {
            continue;
        }
        let place = Some((item.file.clone(), item.line));
        let mut refused = found.settings.set(&item.name, &item.value, Source::File, place).err();
        if let (Some(setting), Some(running)) = (Setting::find(&item.name), running) {
            if refused.is_some() {
                found.settings.keep(setting, running);
            } else if running.needs_restart(&found.settings, setting) {
                refused = Some(restart_needed(setting));
            }
        }
        match refused {
            None => found.verdicts[at].applied = true,
            Some(error) => {
                found.verdicts[at].error = Some("setting could not be applied".into());
                found.errors.push(match error.code() {
                    SqlState::FEATURE_NOT_SUPPORTED => placed(error.message(), item),
                    _ => error.message().to_string(),
                });
            }
        }
    }
    Ok(found)
}

fn is_known(name: &str) -> bool {
    Setting::find(name).is_some() || base::settings::is_custom_name(name)
}

fn placed(message: &str, item: &conf::Item) -> String {
    format!("{message} in file \"{}\" line {}", item.file, item.line)
}

fn restart_needed(setting: Setting) -> SqlError {
    sql_err!(
        CANT_CHANGE_RUNTIME_PARAM,
        "parameter \"{}\" cannot be changed without restarting the server",
        setting.name()
    )
}

/// Reads everything anew: defaults, files, `postgresql.auto.conf`, command line.
pub fn load(command_line: &CommandLine) -> Result<Loaded, ConfigError> {
    let files = Files::read(command_line)?;
    let mut found = assess(&files, command_line, None).map_err(bad_command_line)?;
    if !found.errors.is_empty() {
        return Err(ConfigError {
            details: found.errors,
            fatal: format!("configuration file \"{}\" contains errors", files.main.display()),
            exit_code: 1,
        });
    }
    locations(&mut found.settings, command_line, &files.main);
    Ok(Loaded { settings: found.settings, notes: files.outcome.notes })
}

fn bad_command_line(error: SqlError) -> ConfigError {
    ConfigError { details: Vec::new(), fatal: format!("FATAL:  {}", error.message()), exit_code: 1 }
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

/// Reads everything anew while the server runs: the values from now on, and what is wrong with the files.
pub fn reload(
    running: &ServerSettings,
    command_line: &CommandLine,
) -> Result<(Reload, Vec<String>), ConfigError> {
    let files = Files::read(command_line)?;
    let mut found = assess(&files, command_line, Some(running)).map_err(bad_command_line)?;
    let main = files.main.display();
    if found.broken {
        return Err(ConfigError {
            details: found.errors,
            fatal: format!("configuration file \"{main}\" contains errors; no changes were applied"),
            exit_code: 1,
        });
    }
    locations(&mut found.settings, command_line, &files.main);
    let reload = running.reloaded(found.settings);
    // Those that the files do not name any more have no line of their own.
    for setting in &reload.needs_restart {
        let message = restart_needed(*setting).message().to_string();
        if !found.errors.contains(&message) {
            found.errors.push(message);
        }
    }
    if !found.errors.is_empty() {
        found
            .errors
            .push(format!("configuration file \"{main}\" contains errors; unaffected changes were applied"));
    }
    Ok((reload, found.errors))
}

/// The lines of the files as a reload would take them: `pg_file_settings`.
pub fn file_settings(running: &ServerSettings, command_line: &CommandLine) -> Vec<FileSetting> {
    let Ok(files) = Files::read(command_line) else { return Vec::new() };
    let Ok(found) = assess(&files, command_line, Some(running)) else { return Vec::new() };
    let rows = files.outcome.lines.into_iter().zip(found.verdicts);
    rows.map(|(line, Verdict { applied, error })| match line {
        Ok(conf::Item { name, value, file, line }) => {
            FileSetting { file, line, item: Some((name, value)), applied, error }
        }
        Err(fault) => FileSetting { file: fault.file, line: fault.line, item: None, applied, error },
    })
    .collect()
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
