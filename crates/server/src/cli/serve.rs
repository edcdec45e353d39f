//! `stampede serve`: one command from nothing to a running server.

use std::path::PathBuf;

use base::settings::{ServerSettings, Setting};

use super::options::{Flag, flag, parse, value};
use super::say::{say, say_line};
use super::{Commands, initdb};
use crate::config::CommandLine;
use crate::server::{self, Start};

const FLAGS: &[Flag] = &[
    value(Some('D'), "data"),
    value(Some('p'), "port"),
    value(Some('h'), "host"),
    value(Some('k'), "socket"),
    value(Some('c'), "set"),
    flag(Some('?'), "help"),
];

/// Role of a data directory that `serve` makes.
const SUPERUSER: &str = "postgres";

pub(super) fn main(args: &[String], commands: Commands) -> i32 {
    let given = match parse(args, FLAGS) {
        Ok(given) if given.words.is_empty() => given,
        Ok(given) => return complain(&format!("unknown argument \"{}\"", given.words[0])),
        Err(message) => return complain(&message),
    };
    if given.has("help") {
        say!("{}", super::HELP);
        return 0;
    }
    let dir = PathBuf::from(given.get("data").unwrap_or("stampede-data"));
    if !runtime::fs::exists(&dir.join("PG_VERSION")).unwrap_or(false) {
        say_line!("making data directory {}", dir.display());
        if let Err(message) = initdb::create_default(&dir, SUPERUSER, commands) {
            return complain(&message);
        }
    }
    let mut settings = vec![("listen_addresses".to_string(), "127.0.0.1".to_string())];
    for (name, value) in &given.flags {
        let name = match *name {
            "port" => "port",
            "host" => "listen_addresses",
            "socket" => "unix_socket_directories",
            "set" => {
                let Some((name, value)) = value.split_once('=') else {
                    return complain(&format!("-c {value} requires a value"));
                };
                settings.push((name.replace('-', "_"), value.to_string()));
                continue;
            }
            _ => continue,
        };
        settings.push((name.to_string(), value.clone()));
    }
    let command_line = CommandLine { data_directory: Some(dir), settings };
    server::run(Start { command_line, open: commands.open, ready: tell })
}

fn complain(message: &str) -> i32 {
    eprintln!("stampede serve: {message}");
    1
}

/// The one line that a newcomer needs.
fn tell(settings: &ServerSettings) {
    let host = settings.text(Setting::listen_addresses).split(',').next().unwrap_or("127.0.0.1").trim();
    let host = if matches!(host, "" | "*" | "0.0.0.0") { "127.0.0.1" } else { host };
    say_line!("\nconnect with:  psql -h {host} -p {} -U {SUPERUSER} postgres\n", settings.int(Setting::port));
}
