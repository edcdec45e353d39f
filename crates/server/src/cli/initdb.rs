//! `initdb`: makes a data directory.

mod wal_directory;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use base::Encoding;
use base::settings::{ALL, Effect, Kind, Setting};
use collation::{Provider, locale};
use runtime::fs;

use super::options::{Flag, Given, flag, parse, value};
use super::say::{say, say_line};
use super::{Commands, NewCluster, answered, data_directory};
use crate::config::{auto, conf};

const FLAGS: &[Flag] = &[
    value(Some('D'), "pgdata"),
    value(Some('U'), "username"),
    value(Some('A'), "auth"),
    value(None, "auth-local"),
    value(None, "auth-host"),
    value(None, "pwfile"),
    flag(Some('W'), "pwprompt"),
    value(Some('E'), "encoding"),
    value(None, "locale"),
    flag(None, "no-locale"),
    value(None, "lc-collate"),
    value(None, "lc-ctype"),
    value(None, "lc-messages"),
    value(None, "lc-monetary"),
    value(None, "lc-numeric"),
    value(None, "lc-time"),
    value(None, "locale-provider"),
    value(None, "builtin-locale"),
    value(None, "icu-locale"),
    value(None, "icu-rules"),
    value(Some('T'), "text-search-config"),
    value(Some('X'), "waldir"),
    value(None, "wal-segsize"),
    value(Some('c'), "set"),
    flag(Some('g'), "allow-group-access"),
    flag(Some('k'), "data-checksums"),
    flag(None, "no-data-checksums"),
    flag(Some('N'), "no-sync"),
    flag(Some('S'), "sync-only"),
    flag(Some('n'), "no-clean"),
    flag(None, "no-instructions"),
    flag(Some('V'), "version"),
    flag(Some('?'), "help"),
];

const HELP: &str = "\
initdb initializes a PostgreSQL database cluster.

Usage:
  initdb [OPTION]... [DATADIR]

Options:
  -A, --auth=METHOD         default authentication method for local connections
      --auth-host=METHOD    default authentication method for local TCP/IP connections
      --auth-local=METHOD   default authentication method for local-socket connections
  -g, --allow-group-access  allow group read/execute on data directory
  -k, --data-checksums      use data page checksums: always
 [-D, --pgdata=]DATADIR     location for this database cluster
  -E, --encoding=ENCODING   set default encoding for new databases (UTF8)
      --locale=LOCALE       set default locale for new databases; of the C library, text is ordered by code points
      --locale-provider={builtin|libc|icu}
                            set default locale provider for new databases
      --builtin-locale=LOCALE
                            set builtin locale name for new databases
      --icu-locale=LOCALE   set ICU locale ID for new databases
  -U, --username=NAME       database superuser name
      --pwfile=FILE         read password for the new superuser from file
  -X, --waldir=WALDIR       location for the write-ahead log directory
      --wal-segsize=SIZE    size of WAL segments, in megabytes
  -c, --set NAME=VALUE      override default setting for server parameter
  -n, --no-clean            do not clean up after errors
  -N, --no-sync             do not wait for changes to be written safely to disk
  -S, --sync-only           only sync database files to disk, then exit
      --no-instructions     do not print instructions for next steps
  -V, --version             output version information, then exit
  -?, --help                show this help, then exit
";

/// What was asked for.
#[derive(Debug)]
struct Plan {
    cluster: NewCluster,
    /// Whether the encoding was asked for.
    names_encoding: bool,
    auth_local: String,
    auth_host: String,
    settings: Vec<(String, String)>,
    text_search: String,
    wal_dir: Option<PathBuf>,
    group_access: bool,
    clean: bool,
    instructions: bool,
    warn_trust: bool,
}

pub(super) fn main(args: &[String], commands: Commands) -> i32 {
    let given = match parse(args, FLAGS) {
        Ok(given) => given,
        Err(message) => {
            eprintln!("initdb: {message}\ninitdb: hint: Try \"initdb --help\" for more information.");
            return 1;
        }
    };
    if answered(&given, "initdb", HELP) {
        return 0;
    }
    let done = if given.has("sync-only") {
        sync_only(&given)
    } else {
        plan(&given).and_then(|plan| carry_out(&plan, commands))
    };
    match done {
        Ok(()) => 0,
        Err(message) => {
            eprintln!("initdb: error: {message}");
            1
        }
    }
}

/// Makes a data directory as `initdb -D DIR -U NAME --auth trust` does, without output.
pub(super) fn create_default(dir: &Path, superuser: &str, commands: Commands) -> Result<(), String> {
    let given = Given {
        flags: vec![
            ("pgdata", dir.display().to_string()),
            ("username", superuser.to_string()),
            ("auth", "trust".into()),
        ],
        words: Vec::new(),
    };
    build(&plan(&given)?, commands, &|_| ())
}

/// Makes durable what an earlier run left to the operating system.
fn sync_only(given: &Given) -> Result<(), String> {
    let dir = asked_directory(given)?;
    fs::metadata(&dir).map_err(|error| {
        format!("could not access directory \"{}\": {}", dir.display(), base::os_error(&error))
    })?;
    say!("syncing data to disk ... ");
    fs::sync_tree(&dir).map_err(|error| {
        format!("could not sync directory \"{}\": {}", dir.display(), base::os_error(&error))
    })?;
    say_line!("ok");
    Ok(())
}

fn asked_directory(given: &Given) -> Result<PathBuf, String> {
    let dir = given.get("pgdata").or(given.words.first().map(String::as_str));
    data_directory(dir).ok_or_else(|| {
        "no data directory specified\ninitdb: detail: You must identify the directory where the data for this \
         database system will reside.  Do this with either the invocation option -D or the environment variable PGDATA."
            .to_string()
    })
}

fn plan(given: &Given) -> Result<Plan, String> {
    if given.words.len() > 1 {
        return Err(format!("too many command-line arguments (first is \"{}\")", given.words[1]));
    }
    let dir = asked_directory(given)?;
    let encoding = encoding(given)?;
    if given.has("no-data-checksums") {
        return Err("data checksums cannot be disabled".into());
    }
    let (provider, provider_locale) = locale(given, encoding.unwrap_or_default())?;
    let user = || {
        // SAFETY: plain system call without arguments.
        let uid = unsafe { libc::geteuid() };
        crate::session::user_name(uid).unwrap_or_else(|| "postgres".into())
    };
    let superuser = given.get("username").map_or_else(user, str::to_string);
    if superuser.starts_with("pg_") {
        return Err(format!(
            "superuser name \"{superuser}\" is disallowed; role names cannot begin with \"pg_\""
        ));
    }
    let password = match given.get("pwfile") {
        Some(path) => Some(read_password(path)?),
        None if given.has("pwprompt") => {
            return Err("passwords are not prompted for; use --pwfile".into());
        }
        None => None,
    };
    let auth = given.get("auth");
    let auth_local = given.get("auth-local").or(auth).unwrap_or("trust").to_string();
    let auth_host = given.get("auth-host").or(auth).unwrap_or("trust").to_string();
    check_auth(&auth_local, "local")?;
    check_auth(&auth_host, "host")?;
    if password.is_none() && [&auth_local, &auth_host].iter().all(|m| is_password_method(m)) {
        return Err("must specify a password for the superuser to enable password authentication".into());
    }
    let mut settings = Vec::new();
    for pair in given.all("set") {
        let (name, value) = pair.split_once('=').ok_or_else(|| format!("-c {pair} requires a value"))?;
        settings.push((name.to_string(), value.to_string()));
    }
    Ok(Plan {
        cluster: NewCluster {
            dir,
            superuser,
            password,
            wal_segment_size: wal_segment_size(given)?,
            encoding: encoding.unwrap_or_default(),
            provider,
            provider_locale,
        },
        names_encoding: encoding.is_some(),
        warn_trust: auth.is_none() && !(given.has("auth-local") && given.has("auth-host")),
        auth_local,
        auth_host,
        settings,
        wal_dir: given.get("waldir").map(wal_directory::parse).transpose()?,
        group_access: given.has("allow-group-access"),
        text_search: given.get("text-search-config").unwrap_or("simple").to_string(),
        clean: !given.has("no-clean"),
        instructions: !given.has("no-instructions"),
    })
}

/// The encoding that is asked for.
fn encoding(given: &Given) -> Result<Option<Encoding>, String> {
    let Some(name) = given.get("encoding") else { return Ok(None) };
    match Encoding::find(name) {
        Some(encoding @ (Encoding::Utf8 | Encoding::SqlAscii)) => Ok(Some(encoding)),
        Some(encoding) if encoding.is_of_servers() => {
            Err(format!("encoding \"{name}\" is not supported; only UTF8 and SQL_ASCII are"))
        }
        _ => Err(format!("\"{name}\" is not a valid server encoding name")),
    }
}

/// The locale provider, and its locale unless it is the C library.
fn locale(given: &Given, encoding: Encoding) -> Result<(Provider, Option<String>), String> {
    let provider = match given.get("locale-provider") {
        None | Some("libc") => Provider::Libc,
        Some("builtin") => Provider::Builtin,
        Some("icu") => Provider::Icu,
        Some(other) => return Err(format!("unrecognized locale provider: {other}")),
    };
    let own =
        [("builtin-locale", Provider::Builtin), ("icu-locale", Provider::Icu), ("icu-rules", Provider::Icu)];
    for (name, of) in own {
        if given.has(name) && provider != of {
            return Err(format!(
                "--{name} cannot be specified unless locale provider \"{}\" is chosen",
                of.name()
            ));
        }
    }
    if given.has("icu-rules") {
        return Err("--icu-rules is not supported".into());
    }
    if provider == Provider::Libc {
        return Ok((provider, None));
    }
    let all = given.get("locale").or(given.has("no-locale").then_some("C"));
    let name = given.get("builtin-locale").or(given.get("icu-locale")).or(all);
    let name = name.ok_or_else(|| format!("locale must be specified if provider is {}", provider.name()))?;
    let known = match provider {
        Provider::Icu => icu_locale(name, encoding)?,
        _ => collation::builtin_locale(name).map_err(|error| error.message().to_owned())?.to_owned(),
    };
    Ok((provider, Some(known)))
}

/// The language tag of a locale of ICU.
fn icu_locale(name: &str, encoding: Encoding) -> Result<String, String> {
    if encoding != Encoding::Utf8 {
        return Err("encoding mismatch\ninitdb: detail: The encoding you selected is not supported with the ICU \
             provider.\ninitdb: hint: Rerun initdb and either do not specify an encoding explicitly, or choose a \
             matching combination."
            .into());
    }
    let tag = locale::language_tag(name).ok_or_else(|| {
        let error = locale::no_language_tag(name);
        error.message().to_owned()
    })?;
    match locale::unknown_language(&tag) {
        Some(language) => Err(format!("locale \"{tag}\" has unknown language \"{language}\"")),
        None => Ok(tag),
    }
}

fn wal_segment_size(given: &Given) -> Result<u64, String> {
    let Some(text) = given.get("wal-segsize") else { return Ok(16 << 20) };
    let size = text.parse::<u64>().ok().filter(|n| n.is_power_of_two() && (1..=1024).contains(n));
    size.map(|megabytes| megabytes << 20)
        .ok_or_else(|| "argument of --wal-segsize must be a power of two between 1 and 1024".to_string())
}

fn read_password(path: &str) -> Result<String, String> {
    let text = fs::read_to_string(Path::new(path))
        .map_err(|error| format!("could not open file \"{path}\" for reading: {}", base::os_error(&error)))?;
    match text.lines().next() {
        Some(line) if !line.is_empty() => Ok(line.to_string()),
        _ => Err(format!("password file \"{path}\" is empty")),
    }
}

fn is_password_method(method: &str) -> bool {
    matches!(method, "scram-sha-256" | "md5" | "password")
}

fn check_auth(method: &str, kind: &str) -> Result<(), String> {
    let known = match method {
        "trust" | "reject" | "scram-sha-256" | "md5" | "password" => true,
        "peer" => kind == "local",
        "ident" => kind == "host",
        _ => false,
    };
    if known {
        Ok(())
    } else {
        Err(format!("invalid authentication method \"{method}\" for \"{kind}\" connections"))
    }
}

/// What initdb says of locales.
fn locale_configuration(cluster: &NewCluster) -> String {
    match &cluster.provider_locale {
        None => "The database cluster will be initialized with locale \"C.UTF-8\".\n".into(),
        Some(name) => format!(
            "The database cluster will be initialized with this locale configuration:\n  \
             locale provider:   {}\n  default collation: {name}\n  LC_COLLATE:  C.UTF-8\n  LC_CTYPE:    C.UTF-8\n",
            cluster.provider.name()
        ),
    }
}

fn carry_out(plan: &Plan, commands: Commands) -> Result<(), String> {
    let dir = &plan.cluster.dir;
    say_line!(
        "The files belonging to this database system will be owned by user \"{}\".\n\
         This user must also own the server process.\n\n\
         {}\
         {}The default text search configuration will be set to \"{}\".\n\n\
         Data page checksums are enabled.\n",
        // SAFETY: plain system call without arguments.
        crate::session::user_name(unsafe { libc::geteuid() }).unwrap_or_default(),
        locale_configuration(&plan.cluster),
        if plan.names_encoding {
            ""
        } else {
            "The default database encoding has accordingly been set to \"UTF8\".\n"
        },
        plan.text_search
    );
    build(plan, commands, &|text| say!("{text}"))?;
    if plan.warn_trust {
        eprintln!(
            "\ninitdb: warning: enabling \"trust\" authentication for local connections\n\
             initdb: hint: You can change this by editing pg_hba.conf or using the option -A, or --auth-local and \
             --auth-host, the next time you run initdb."
        );
    }
    if plan.instructions {
        say_line!(
            "\nSuccess. You can now start the database server using:\n\n    {} -D {} -l logfile start\n",
            super::program_path("pg_ctl"),
            dir.display()
        );
    }
    Ok(())
}

/// Makes everything, and takes it away again when something fails.
fn build(plan: &Plan, commands: Commands, say: &dyn Fn(&str)) -> Result<(), String> {
    let dir = &plan.cluster.dir;
    fs::set_group_access(plan.group_access);
    let existed = prepare_directory(dir, say)?;
    let mut wal_existed = None;
    let result = match &plan.wal_dir {
        Some(wal) => wal_directory::prepare(wal, dir, say).map(|existed| wal_existed = Some((wal, existed))),
        None => Ok(()),
    }
    .and_then(|()| fill(plan, commands, say));
    if result.is_err() && plan.clean {
        if let Some((wal, existed)) = wal_existed {
            remove(wal, existed);
        }
        eprintln!(
            "initdb: removing {} \"{}\"",
            if existed { "contents of data directory" } else { "data directory" },
            dir.display()
        );
        remove(dir, existed);
    }
    result
}

fn prepare_directory(dir: &Path, say: &dyn Fn(&str)) -> Result<bool, String> {
    let shown = dir.display();
    match fs::read_dir(dir) {
        Ok(entries) if entries.is_empty() => {
            say(&format!("fixing permissions on existing directory {shown} ... "));
            fs::set_permissions(dir, fs::directory_mode()).map_err(|error| {
                format!("could not change permissions of directory \"{shown}\": {}", base::os_error(&error))
            })?;
            say("ok\n");
            Ok(true)
        }
        Ok(_) => Err(format!(
            "directory \"{shown}\" exists but is not empty\n\
             initdb: hint: If you want to create a new database system, either remove or empty the directory \
             \"{shown}\" or run initdb with an argument other than \"{shown}\"."
        )),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            say(&format!("creating directory {shown} ... "));
            fs::create_dir_all(dir).map_err(|error| {
                format!("could not create directory \"{shown}\": {}", base::os_error(&error))
            })?;
            say("ok\n");
            Ok(false)
        }
        Err(error) => Err(format!("could not access directory \"{shown}\": {}", base::os_error(&error))),
    }
}

fn remove(dir: &Path, keep: bool) {
    // Best effort: the error that brought us here is the one to report.
    if !keep {
        let _ = fs::remove_dir_all(dir);
        return;
    }
    for entry in fs::read_dir(dir).unwrap_or_default() {
        let path = dir.join(&entry.name);
        let _ = if entry.is_dir { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
    }
}

fn fill(plan: &Plan, commands: Commands, say: &dyn Fn(&str)) -> Result<(), String> {
    let dir = &plan.cluster.dir;
    say("running bootstrap script ... ");
    (commands.create)(&plan.cluster)?;
    say("ok\ncreating configuration files ... ");
    let files = [
        ("postgresql.conf", configuration(plan)?),
        (auto::NAME, auto::HEADER.to_string()),
        ("pg_hba.conf", host_rules(plan)),
        ("pg_ident.conf", IDENT_CONF.to_string()),
    ];
    for (name, text) in files {
        let path: PathBuf = dir.join(name);
        fs::write_file_durably(&path, text.as_bytes()).map_err(|error| {
            format!("could not write file \"{}\": {}", path.display(), base::os_error(&error))
        })?;
    }
    say("ok\nsyncing data to disk ... ok\n");
    Ok(())
}

const IDENT_CONF: &str = "# User name maps: MAPNAME SYSTEM-USERNAME DATABASE-USERNAME\n";

fn host_rules(plan: &Plan) -> String {
    let (local, host) = (&plan.auth_local, &plan.auth_host);
    format!(
        "# Who may connect, from where, and how they prove who they are. The first line that fits counts.\n\
         #\n\
         # TYPE  DATABASE        USER            ADDRESS                 METHOD\n\n\
         # Unix domain sockets\n\
         local   all             all                                     {local}\n\
         # IPv4 local connections\n\
         host    all             all             127.0.0.1/32            {host}\n\
         # IPv6 local connections\n\
         host    all             all             ::1/128                 {host}\n\
         # Replication, by roles that may\n\
         local   replication     all                                     {local}\n\
         host    replication     all             127.0.0.1/32            {host}\n\
         host    replication     all             ::1/128                 {host}\n"
    )
}

/// `postgresql.conf`: what was chosen, and every other setting that has an effect as a comment with its default.
fn configuration(plan: &Plan) -> Result<String, String> {
    let mut chosen = vec![
        ("shared_buffers".to_string(), "128MB".to_string()),
        ("max_wal_size".into(), "1GB".into()),
        ("min_wal_size".into(), "80MB".into()),
        ("log_timezone".into(), "Etc/UTC".into()),
        ("DateStyle".into(), "iso, mdy".into()),
        ("TimeZone".into(), "Etc/UTC".into()),
        ("default_text_search_config".into(), format!("pg_catalog.{}", plan.text_search)),
    ];
    for (name, value) in &plan.settings {
        let setting = Setting::find(name);
        if let Some(setting) = setting {
            setting.parse(value).map_err(|error| error.message().to_string())?;
        } else if !base::settings::is_custom_name(name) {
            return Err(base::settings::unrecognized(name).message().to_string());
        }
        let name = setting.map_or(name.clone(), |setting| setting.name().to_string());
        chosen.retain(|(known, _)| *known != name);
        chosen.push((name, value.clone()));
    }
    let mut out = String::from(
        "# Configuration of this server: name = value. Lines that begin with # show defaults.\n\
         # Sizes take kB, MB, GB, TB; times take us, ms, s, min, h, d.\n\
         # Read again on SIGHUP (pg_ctl reload); some settings count only after a restart.\n",
    );
    let mut category = "";
    for setting in ALL {
        let definition = setting.definition();
        let line = chosen.iter().position(|(name, _)| name == definition.name).map(|at| chosen.remove(at));
        let shown = definition.effect == Effect::Works
            && !definition.is_hidden
            && !definition.is_not_in_sample
            && !definition.is_computed
            && definition.context > base::settings::Context::Internal;
        if line.is_none() && !shown {
            continue;
        }
        if category != definition.category {
            category = definition.category;
            let _ = write!(out, "\n# {category}\n\n");
        }
        let _ = match line {
            Some((name, value)) => writeln!(
                out,
                "{} = {}\t\t# {}",
                name.to_ascii_lowercase(),
                literal(*setting, &value),
                definition.description
            ),
            None => {
                let default = definition.default_value().show(definition);
                writeln!(
                    out,
                    "#{} = {}\t\t# {}",
                    definition.name.to_ascii_lowercase(),
                    literal(*setting, &default),
                    definition.description
                )
            }
        };
    }
    for (name, value) in chosen {
        let _ = writeln!(out, "{name} = {}", conf::quote(&value));
    }
    Ok(out)
}

/// A value as the file wants it: words and texts in quotes.
fn literal(setting: Setting, value: &str) -> String {
    match setting.definition().kind {
        Kind::Text { .. } | Kind::Choice { .. } => conf::quote(value),
        _ if value.contains('.') && value.ends_with(|c: char| c.is_ascii_alphabetic()) => conf::quote(value),
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan_of(args: &str) -> Result<Plan, String> {
        let args: Vec<String> = args.split_whitespace().map(str::to_string).collect();
        plan(&parse(&args, FLAGS).unwrap())
    }

    #[test]
    fn what_is_asked_for() {
        let made = plan_of("-D /d -U me --auth trust -E utf-8 --locale de_DE -N").unwrap();
        assert_eq!((made.cluster.superuser.as_str(), made.auth_host.as_str()), ("me", "trust"));
        assert!(!made.warn_trust);
        assert!(plan_of("/d").unwrap().warn_trust);
        assert!(!plan_of("-D /d --auth-local trust --auth-host trust").unwrap().warn_trust);
        // Who logs in over the socket as the operating system's user can set a password later.
        assert_eq!(
            plan_of("-D /d --auth-local peer --auth-host scram-sha-256").unwrap().cluster.password,
            None
        );
        for (args, expected) in [
            ("-D /d -E latin1", "encoding \"latin1\" is not supported; only UTF8 and SQL_ASCII are"),
            ("-D /d -E sjis", "\"sjis\" is not a valid server encoding name"),
            ("-D /d --auth magic", "invalid authentication method \"magic\" for \"local\" connections"),
            ("-D /d --auth-host peer", "invalid authentication method \"peer\" for \"host\" connections"),
            (
                "-D /d -A scram-sha-256",
                "must specify a password for the superuser to enable password authentication",
            ),
            ("-D /d -U pg_x", "superuser name \"pg_x\" is disallowed; role names cannot begin with \"pg_\""),
            ("-D /d --wal-segsize 3", "argument of --wal-segsize must be a power of two between 1 and 1024"),
            ("-D /d -X wal", "WAL directory location must be an absolute path"),
            ("-D /d --no-data-checksums", "data checksums cannot be disabled"),
            (
                "-D /d --icu-rules x",
                "--icu-rules cannot be specified unless locale provider \"icu\" is chosen",
            ),
            (
                "-D /d --builtin-locale C",
                "--builtin-locale cannot be specified unless locale provider \"builtin\" is chosen",
            ),
            ("-D /d --locale-provider icu", "locale must be specified if provider is icu"),
            ("-D /d --locale-provider icu --icu-locale xyz", "locale \"xyz\" has unknown language \"xyz\""),
            (
                "-D /d --locale-provider builtin --locale en",
                "invalid locale name \"en\" for builtin provider",
            ),
            ("-D /d --locale-provider icu --icu-locale en --icu-rules x", "--icu-rules is not supported"),
            ("/d /e", "too many command-line arguments (first is \"/e\")"),
        ] {
            assert_eq!(plan_of(args).unwrap_err(), expected);
        }
    }

    #[test]
    fn locales_of_providers() {
        let chosen = |args: &str| {
            let cluster = plan_of(args).unwrap().cluster;
            (cluster.provider, cluster.provider_locale)
        };
        assert_eq!(chosen("-D /d --no-locale"), (Provider::Libc, None));
        let icu = |tag: &str| (Provider::Icu, Some(tag.to_owned()));
        assert_eq!(chosen("-D /d --locale-provider icu --icu-locale de_DE"), icu("de-DE"));
        assert_eq!(chosen("-D /d --locale-provider icu --locale sv"), icu("sv"));
        let builtin = (Provider::Builtin, Some("C.UTF-8".to_owned()));
        assert_eq!(chosen("-D /d --locale-provider builtin --builtin-locale C.UTF8"), builtin);
    }

    #[test]
    fn the_configuration_reads_back() {
        let text = configuration(&plan_of("-D /d -c port=5433 -c a.b=x'y").unwrap()).unwrap();
        assert!(text.contains("\n#listen_addresses = 'localhost'\t"), "{text}");
        let active = text.replace("\n#", "\n").replace("\n ", "\n#");
        runtime::Simulation::new(0)
            .run(move || {
                fs::create_dir_all(Path::new("/d")).unwrap();
                fs::write_file(Path::new("/d/postgresql.conf"), active.as_bytes()).unwrap();
                let command_line =
                    crate::config::CommandLine { data_directory: Some("/d".into()), ..Default::default() };
                let loaded = crate::config::load(&command_line).unwrap();
                assert_eq!(loaded.settings.int(Setting::port), 5433);
                assert_eq!(loaded.settings.custom("a.b"), Some("x'y"));
                let listed = loaded.settings.text(Setting::listen_addresses);
                assert_eq!(listed, "localhost");
            })
            .unwrap();
    }

    #[test]
    fn the_host_rules_read_back() {
        let text = host_rules(&plan_of("-D /d --auth-local=peer").unwrap());
        runtime::Simulation::new(0)
            .run(move || {
                fs::create_dir_all(Path::new("/d")).unwrap();
                fs::write_file(Path::new("/d/hba"), text.as_bytes()).unwrap();
                crate::config::access::Rules::read(Path::new("/d/hba"), false).unwrap();
            })
            .unwrap();
    }
}
