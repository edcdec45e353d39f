//! `postgres`: runs a server in the foreground, or one without sessions (`--single`).

use base::settings::{DEFINITIONS, Definition, Kind};

use super::options::{Flag, flag, parse, value};
use super::say::{say, say_line};
use super::{Commands, data_directory, version};
use crate::config::{self, CommandLine};
use crate::server::{self, Start};
use crate::single::{self, Single};

const FLAGS: &[Flag] = &[
    value(Some('D'), "D"),
    value(Some('p'), "p"),
    value(Some('k'), "k"),
    value(Some('h'), "h"),
    value(Some('c'), "c"),
    value(Some('C'), "C"),
    value(Some('B'), "B"),
    value(Some('N'), "N"),
    value(Some('S'), "S"),
    value(Some('d'), "d"),
    flag(Some('i'), "i"),
    flag(Some('F'), "F"),
    flag(Some('e'), "e"),
    flag(Some('s'), "s"),
    flag(Some('l'), "l"),
    flag(None, "describe-config"),
    flag(Some('V'), "version"),
    flag(Some('?'), "help"),
];

/// What only a server without sessions takes.
const SINGLE_FLAGS: &[Flag] = &[
    flag(Some('E'), "E"),
    flag(Some('j'), "j"),
    flag(Some('O'), "O"),
    flag(Some('P'), "P"),
    value(Some('r'), "r"),
];

const HELP: &str = "\
postgres is the PostgreSQL server.

Usage:
  postgres [OPTION]...

Options:
  -B NBUFFERS        number of shared buffers
  -c NAME=VALUE      set run-time parameter
  -C NAME            print value of run-time parameter, then exit
  -D DATADIR         database directory
  -e                 use European date input format (DMY)
  -F                 turn fsync off
  -h HOSTNAME        host name or IP address to listen on
  -i                 enable TCP/IP connections (deprecated)
  -k DIRECTORY       Unix-domain socket location
  -N MAX-CONNECT     maximum number of allowed connections
  -p PORT            port number to listen on
  -S WORK-MEM        set amount of memory for sorts (in kB)
  -V, --version      output version information, then exit
  --NAME=VALUE       set run-time parameter
  --describe-config  describe configuration parameters, then exit
  -?, --help         show this help, then exit

Options for single-user mode:
  --single           selects single-user mode (must be first argument)
  DBNAME             database name (defaults to user name)
  -E                 echo statement before execution
  -j                 do not use newline as interactive query delimiter
";

pub(super) fn main(args: &[String], commands: Commands) -> i32 {
    match read(args) {
        Err(message) => {
            eprintln!("postgres: {message}\nTry \"postgres --help\" for more information.");
            1
        }
        Ok(Action::Print(text)) => {
            say!("{text}");
            0
        }
        Ok(Action::Show(command_line, name)) => show(&command_line, &name),
        Ok(Action::Run(command_line)) => {
            server::run(Start { command_line, open: commands.open, ready: |_| () })
        }
        Ok(Action::Single(single)) => single::run(single, commands.open),
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Action {
    Print(String),
    Show(CommandLine, String),
    Run(CommandLine),
    Single(Single),
}

/// `--name=value` is a setting, whatever the name.
fn split_settings(args: &[String]) -> (Vec<String>, Vec<(String, String)>) {
    let mut rest = Vec::new();
    let mut settings = Vec::new();
    for arg in args {
        match arg.strip_prefix("--").and_then(|text| text.split_once('=')) {
            Some((name, value)) => settings.push((name.replace('-', "_"), value.to_string())),
            None => rest.push(arg.clone()),
        }
    }
    (rest, settings)
}

fn read(args: &[String]) -> Result<Action, String> {
    let single = args.first().is_some_and(|word| word == "--single");
    let (args, long) = split_settings(if single { &args[1..] } else { args });
    let known = if single { [FLAGS, SINGLE_FLAGS].concat() } else { FLAGS.to_vec() };
    let given = parse(&args, &known)?;
    if given.has("help") {
        return Ok(Action::Print(HELP.into()));
    }
    if given.has("version") {
        return Ok(Action::Print(version("postgres") + "\n"));
    }
    if given.has("describe-config") {
        return Ok(Action::Print(described()));
    }
    // A server without sessions may be given a database.
    if let Some(word) = given.words.get(usize::from(single)) {
        return Err(format!("invalid argument: \"{word}\""));
    }
    if let Some(flag) = ["O", "P", "r"].iter().find(|flag| given.has(flag)) {
        return Err(format!("option -{flag} is not supported"));
    }
    let mut settings = long;
    for (name, value) in &given.flags {
        let (setting, value) = match *name {
            "p" => ("port", value.as_str()),
            "k" => ("unix_socket_directories", value.as_str()),
            "h" => ("listen_addresses", value.as_str()),
            "B" => ("shared_buffers", value.as_str()),
            "N" => ("max_connections", value.as_str()),
            "S" => ("work_mem", value.as_str()),
            "i" => ("listen_addresses", "*"),
            "F" => ("fsync", "false"),
            "e" => ("DateStyle", "euro"),
            "c" => {
                let Some((name, value)) = value.split_once('=') else {
                    return Err(format!("-c {value} requires a value"));
                };
                settings.push((name.replace('-', "_"), value.to_string()));
                continue;
            }
            _ => continue,
        };
        settings.push((setting.into(), value.into()));
    }
    let command_line = CommandLine { data_directory: data_directory(given.get("D")), settings };
    Ok(match given.get("C") {
        Some(name) => Action::Show(command_line, name.to_string()),
        None if single => Action::Single(Single {
            command_line,
            database: given.words.first().cloned(),
            echo: given.has("E"),
            long: given.has("j"),
        }),
        None => Action::Run(command_line),
    })
}

/// A line for each setting that may stand in a file: name, context, category, type, default, bounds, what it is about.
fn described() -> String {
    let mut definitions: Vec<&Definition> = DEFINITIONS
        .iter()
        .filter(|definition| !definition.is_hidden && !definition.is_not_in_sample && !definition.is_computed)
        .collect();
    definitions.sort_by_key(|definition| definition.name.to_ascii_lowercase());
    let real = |number: f64| if number.abs() < 1e15 { number.to_string() } else { format!("{number:e}") };
    let line = |definition: &&Definition| {
        let values = match definition.kind {
            Kind::Bool { default } => format!("BOOLEAN\t{}\t\t", if default { "TRUE" } else { "FALSE" }),
            Kind::Int { default, min, max } => format!("INTEGER\t{default}\t{min}\t{max}"),
            Kind::Real { default, min, max } => {
                format!("REAL\t{}\t{}\t{}", real(default), real(min), real(max))
            }
            Kind::Text { default } => format!("STRING\t{default}\t\t"),
            Kind::Choice { default, .. } => format!("ENUM\t{default}\t\t"),
        };
        let Definition { name, category, description, context, .. } = definition;
        format!("{name}\t{}\t{category}\t{values}\t{description}\t\n", context.as_str())
    };
    definitions.iter().map(line).collect()
}

fn show(command_line: &CommandLine, name: &str) -> i32 {
    match config::load(command_line) {
        Err(error) => {
            error.details.iter().for_each(|detail| eprintln!("{detail}"));
            eprintln!("{}", error.fatal);
            error.exit_code
        }
        Ok(loaded) => match base::settings::Setting::find(name) {
            Some(setting) => {
                say_line!("{}", loaded.settings.get(setting).raw(setting.definition()));
                0
            }
            None => {
                eprintln!("FATAL:  {}", base::settings::unrecognized(name).message());
                1
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What Patroni reads, in PostgreSQL's form.
    #[test]
    fn settings_are_described() {
        let Ok(Action::Print(text)) = read(&["--describe-config".to_string()]) else { panic!() };
        let of = |name: &str| {
            let line = text.lines().find(|line| line.split('\t').next() == Some(name));
            line.map(|line| line.split('\t').collect::<Vec<_>>())
        };
        let fields = of("max_connections").unwrap();
        assert_eq!((fields.len(), fields[1], fields[3], fields[5]), (9, "postmaster", "INTEGER", "1"));
        assert_eq!(of("wal_level").unwrap()[3..7], ["ENUM", "replica", "", ""]);
        assert!(of("primary_conninfo").is_some() && of("server_version").is_none());
    }

    #[test]
    fn switches_stand_for_settings() {
        let args: Vec<String> =
            ["-D", "/d", "-p", "5433", "-k", "", "-c", "work-mem=1MB", "--fsync=off", "-F"]
                .map(String::from)
                .into();
        let Ok(Action::Run(command_line)) = read(&args) else { panic!() };
        assert_eq!(command_line.data_directory, Some("/d".into()));
        let settings: Vec<_> = command_line.settings.iter().map(|(n, v)| format!("{n}={v}")).collect();
        assert_eq!(
            settings,
            ["fsync=off", "port=5433", "unix_socket_directories=", "work_mem=1MB", "fsync=false"]
        );
        assert_eq!(read(&["x".to_string()]), Err("invalid argument: \"x\"".into()));
        assert_eq!(read(&["-c".to_string(), "x".to_string()]), Err("-c x requires a value".into()));
    }
}
