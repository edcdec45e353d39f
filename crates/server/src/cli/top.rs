//! `stampede top`: the command line of the crate `top`.

use std::time::Duration;

use ::top::Options;
use ::top::target::Flags;

use super::answered;
use super::options::{Flag, Given, flag, parse, value};

const FLAGS: &[Flag] = &[
    value(Some('h'), "host"),
    value(Some('p'), "port"),
    value(Some('U'), "username"),
    value(Some('d'), "dbname"),
    flag(Some('w'), "no-password"),
    flag(Some('W'), "password"),
    value(Some('i'), "interval"),
    flag(None, "once"),
    flag(None, "own"),
    flag(Some('V'), "version"),
    flag(Some('?'), "help"),
];

const HELP: &str = "\
top watches sessions, waits, statements and locks of a Stampede or PostgreSQL server, and ends what runs away.

Usage:
  stampede top [OPTION]... [DBNAME [USERNAME]]

Options:
  -i, --interval=SECONDS   how often to look (2)
      --once               write everything once, as text, and exit
      --own                show the session of top itself, too
  -V, --version            output version information, then exit
  -?, --help               show this help, then exit

Connection options:
  -h, --host=HOSTNAME      server host or socket directory
  -p, --port=PORT          server port
  -U, --username=USERNAME  role
  -d, --dbname=DBNAME      database, or a connection string
  -w, --no-password        never ask for a password
  -W, --password           ask for a password

The environment (PGHOST, PGPORT, PGUSER, PGDATABASE, PGPASSWORD, PGSSLMODE, ...) and ~/.pgpass are read as by psql.
Members of pg_monitor see what other roles run, those of pg_signal_backend may end it. The key ? lists all keys.
";

pub(super) fn main(args: &[String]) -> i32 {
    let given = match parse(args, FLAGS) {
        Ok(given) => given,
        Err(message) => return complain(&message),
    };
    if answered(&given, "top", HELP) {
        return 0;
    }
    match options(&given).and_then(|options| ::top::run(&options)) {
        Ok(()) => 0,
        Err(message) => complain(&message),
    }
}

fn complain(message: &str) -> i32 {
    eprintln!("top: error: {message}");
    1
}

fn options(given: &Given) -> Result<Options, String> {
    let mut words = given.words.iter();
    let mut flag_or_word = |name: &str| given.get(name).map(str::to_string).or_else(|| words.next().cloned());
    let (database, user) = (flag_or_word("dbname"), flag_or_word("username"));
    if let Some(word) = words.next() {
        return Err(format!("too many command-line arguments (first is \"{word}\")"));
    }
    let text = |name: &str| given.get(name).map(str::to_string);
    let interval = given.get("interval").unwrap_or("2");
    let seconds = interval.parse().ok().filter(|seconds| (0.1..=3600.0).contains(seconds));
    let seconds =
        seconds.ok_or_else(|| format!("--interval must be between 0.1 and 3600 seconds: \"{interval}\""))?;
    Ok(Options {
        flags: Flags { host: text("host"), port: text("port"), user, database },
        interval: Duration::from_secs_f64(seconds),
        once: given.has("once"),
        own: given.has("own"),
        ask_password: match (given.has("password"), given.has("no-password")) {
            (true, _) => Some(true),
            (false, true) => Some(false),
            (false, false) => None,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(args: &[&str]) -> Result<Options, String> {
        let args: Vec<String> = args.iter().map(ToString::to_string).collect();
        options(&parse(&args, FLAGS)?)
    }

    #[test]
    fn words_stand_for_database_and_user() {
        let flags = read(&["-p", "1", "app", "me", "--once"]).unwrap().flags;
        assert_eq!((flags.database.as_deref(), flags.user.as_deref()), (Some("app"), Some("me")));
        let flags = read(&["-d", "app", "me"]).unwrap().flags;
        assert_eq!((flags.database.as_deref(), flags.user.as_deref()), (Some("app"), Some("me")));
        assert_eq!(read(&["a", "b", "c"]).unwrap_err(), "too many command-line arguments (first is \"c\")");
    }

    #[test]
    fn intervals() {
        assert_eq!(read(&["-i0.5"]).unwrap().interval, Duration::from_millis(500));
        for wrong in ["0", "x", "-1", "NaN"] {
            assert!(read(&["--interval", wrong]).is_err());
        }
    }
}
