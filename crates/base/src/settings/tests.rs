//! Reading, showing and layering of settings. Expected texts are those of PostgreSQL 18.

use std::sync::Arc;

use super::*;
use crate::SqlResult;

fn error(result: SqlResult<impl std::fmt::Debug>) -> String {
    let error = result.unwrap_err();
    let hint = error.report().hint.as_deref().map(|h| format!(" / {h}")).unwrap_or_default();
    format!("{} {}{hint}", error.code(), error.message())
}

fn shown(setting: Setting, text: &str) -> String {
    let definition = setting.definition();
    definition.parse(text).map_or_else(|e| error(Err::<(), _>(e)), |value| value.show(definition))
}

#[test]
fn the_table_is_consistent() {
    for setting in ALL {
        let definition = setting.definition();
        assert_eq!(Setting::find(definition.name), Some(*setting));
        assert!(definition.description.ends_with('.'), "{}", definition.name);
        if let Effect::Fixed { missing: reason, .. } | Effect::Moot(reason) = definition.effect {
            assert!(!reason.is_empty(), "{}: has an effect, or says why not", definition.name);
        }
        let default = definition.default_value();
        let parsed = definition.parse(&default.raw(definition));
        assert_eq!(parsed.as_ref(), Ok(&default), "{}: the default is valid", definition.name);
        assert_eq!(definition.parse(&default.show(definition)).as_ref(), Ok(&default), "{}", definition.name);
    }
    assert_eq!(Setting::find("datestyle"), Some(Setting::DateStyle));
    assert_eq!(Setting::find("no_such"), None);
}

/// A value that is neither the default nor one of `not`.
fn another(setting: Setting, not: &[&str]) -> Option<String> {
    let definition = setting.definition();
    let (default, shown) = (definition.default_value(), definition.boot_value());
    let candidates: Vec<String> = match definition.kind {
        Kind::Bool { default } => vec![Value::Bool(!default).raw(definition)],
        Kind::Int { min, max, .. } => vec![max.to_string(), min.to_string()],
        Kind::Real { min, max, .. } => vec![max.to_string(), min.to_string()],
        Kind::Text { .. } => vec![format!("{shown}x")],
        Kind::Choice { options, .. } => options.iter().map(|word| word.to_string()).collect(),
    };
    candidates.into_iter().find(|text| {
        definition.parse(text).is_ok_and(|value| value != default) && !not.contains(&text.as_str())
    })
}

/// Wherever a value comes from, it is refused if it asks for what is missing.
#[test]
fn nothing_is_accepted_and_ignored() {
    let server = ServerSettings::new();
    let mut session = SessionSettings::new(Arc::new(server.clone()));
    for setting in ALL {
        let Effect::Fixed { also, missing } = setting.definition().effect else { continue };
        let (name, context) = (setting.name(), setting.definition().context);
        for same in also.iter().map(|text| text.to_string()).chain([setting.definition().boot_value()]) {
            assert!(setting.parse(&same).is_ok(), "{name} = {same}");
        }
        let Some(text) = another(*setting, also) else { continue };
        let mut refused = vec![server.clone().set(name, &text, Source::File, None)];
        if context >= Context::Superuser {
            refused.push(session.set(name, Some(&text), false, 0, Who::Superuser));
            refused.push(session.check_stored(name, Some(&text), Who::Superuser));
            refused.push(session.set_default(name, &text, Source::Client, Who::Superuser));
        }
        for result in refused {
            let error = error(result);
            assert!(error.starts_with("0A000 setting ") && error.contains(missing), "{name}: {error}");
        }
    }
    assert_eq!(
        error(session.set("jit", Some("on"), false, 0, Who::User)),
        "0A000 setting \"jit\" cannot be changed: compilation of expressions is not supported"
    );
    assert_eq!(
        error(session.set("lc_time", Some("de_DE"), false, 0, Who::User)),
        "0A000 setting \"lc_time\" cannot be set to \"de_DE\": another locale than C and en_US is not supported"
    );
    session.set("lc_time", Some("en_US.UTF-8"), false, 0, Who::User).unwrap();
    session.set("enable_async_append", Some("off"), false, 0, Who::User).unwrap();
}

#[test]
fn numbers_and_units() {
    use Setting::*;
    for (setting, text, expected) in [
        (work_mem, "16MB", "16MB"),
        (work_mem, "1025", "1025kB"),
        (work_mem, " 1.5 GB ", "1536MB"),
        (work_mem, "0x400", "1MB"),
        (shared_buffers, "16384", "128MB"),
        (shared_buffers, "30.1GB", "30822MB"),
        (shared_buffers, "100", "800kB"),
        (wal_segment_size, "16777216", "16MB"),
        (statement_timeout, "90s", "90s"),
        (statement_timeout, "60s", "1min"),
        (statement_timeout, "0", "0"),
        (statement_timeout, "1.5d", "36h"),
        (statement_timeout, "400us", "0"),
        (checkpoint_timeout, "5min", "5min"),
        (unix_socket_permissions, "0770", "0770"),
        (autovacuum_vacuum_cost_delay, "2", "2ms"),
        (autovacuum_vacuum_cost_delay, "0.5ms", "500us"),
        (seq_page_cost, "1e-3", "0.001"),
        (random_page_cost, "1.1", "1.1"),
        (log_min_duration_statement, "-1", "-1"),
        (enable_seqscan, "tru", "on"),
        (enable_seqscan, "of", "off"),
        (synchronous_commit, "yes", "on"),
        (client_min_messages, "DEBUG", "debug2"),
        (
            work_mem,
            "16mb",
            "22023 invalid value for parameter \"work_mem\": \"16mb\" / Valid units for this parameter are \"B\", \"kB\", \"MB\", \"GB\", and \"TB\".",
        ),
        (
            statement_timeout,
            "1x",
            "22023 invalid value for parameter \"statement_timeout\": \"1x\" / Valid units for this parameter are \"us\", \"ms\", \"s\", \"min\", \"h\", and \"d\".",
        ),
        (work_mem, "abc", "22023 invalid value for parameter \"work_mem\": \"abc\""),
        (work_mem, "", "22023 invalid value for parameter \"work_mem\": \"\""),
        (port, "1kB", "22023 invalid value for parameter \"port\": \"1kB\""),
        (
            work_mem,
            "1",
            "22023 1 kB is outside the valid range for parameter \"work_mem\" (64 kB .. 2147483647 kB)",
        ),
        (port, "70000", "22023 70000 is outside the valid range for parameter \"port\" (1 .. 65535)"),
        (
            port,
            "99999999999",
            "22023 invalid value for parameter \"port\": \"99999999999\" / Value exceeds integer range.",
        ),
        (geqo_seed, "2", "22023 2 is outside the valid range for parameter \"geqo_seed\" (0 .. 1)"),
        (enable_seqscan, "maybe", "22023 parameter \"enable_seqscan\" requires a Boolean value"),
        (
            bytea_output,
            "octal",
            "22023 invalid value for parameter \"bytea_output\": \"octal\" / Available values: escape, hex.",
        ),
    ] {
        assert_eq!(shown(setting, text), expected, "{} = '{text}'", setting.name());
    }
}

fn session() -> SessionSettings {
    SessionSettings::new(Arc::new(ServerSettings::new()))
}

fn set(session: &mut SessionSettings, name: &str, value: &str, local: bool, level: u32) {
    session.set(name, Some(value), local, level, Who::User).unwrap();
}

#[test]
fn texts_with_a_form_of_their_own() {
    let mut s = session();
    for (text, expected) in [
        ("german", "German, DMY"),
        ("ymd", "German, YMD"),
        ("SQL, European", "SQL, DMY"),
        ("iso", "ISO, DMY"),
        ("\"Postgres\", us", "Postgres, MDY"),
    ] {
        set(&mut s, "datestyle", text, false, 0);
        assert_eq!(s.text(Setting::DateStyle), expected);
    }
    assert!(s.set("DateStyle", Some("iso, sql"), false, 0, Who::User).is_err());
    set(&mut s, "client_encoding", "utf-8", false, 0);
    assert_eq!(s.text(Setting::client_encoding), "UTF8");
    set(&mut s, "client_encoding", "iso-8859-15", false, 0);
    assert_eq!(s.text(Setting::client_encoding), "LATIN9");
    assert_eq!(s.fast().client_encoding, crate::Encoding::Latin9);
    assert_eq!(
        error(s.set("client_encoding", Some("euc_tw"), false, 0, Who::User)),
        "0A000 invalid value for parameter \"client_encoding\": \"euc_tw\""
    );
    set(&mut s, "application_name", "a\u{e9}\n", false, 0);
    assert_eq!(s.text(Setting::application_name), "a\\xc3\\xa9\\x0a");
}

#[test]
fn who_may_change_what() {
    let mut s = session();
    let mut refused = |name, who| error(s.set(name, Some("1"), false, 0, who));
    assert_eq!(refused("block_size", Who::Superuser), "55P02 parameter \"block_size\" cannot be changed");
    assert_eq!(
        refused("port", Who::Superuser),
        "55P02 parameter \"port\" cannot be changed without restarting the server"
    );
    assert_eq!(
        refused("checkpoint_timeout", Who::Superuser),
        "55P02 parameter \"checkpoint_timeout\" cannot be changed now"
    );
    assert_eq!(
        refused("post_auth_delay", Who::Superuser),
        "55P02 parameter \"post_auth_delay\" cannot be set after connection start"
    );
    assert_eq!(
        refused("log_duration", Who::User),
        "42501 permission denied to set parameter \"log_duration\""
    );
    assert_eq!(refused("nothing", Who::User), "42704 unrecognized configuration parameter \"nothing\"");
    assert_eq!(refused("a.1b", Who::User), "42602 invalid configuration parameter name \"a.1b\"");
    s.set("log_duration", Some("on"), false, 0, Who::Superuser).unwrap();
    assert!(s.fast().log_duration);
    assert!(s.set_default("log_duration", "on", Source::Client, Who::User).is_err());
}

#[test]
fn layers_and_reset() {
    let mut server = ServerSettings::new();
    server.set("work_mem", "8MB", Source::CommandLine, None).unwrap();
    server.set("work_mem", "9MB", Source::File, Some(("f".into(), 3))).unwrap();
    assert_eq!(server.show(Setting::work_mem), "8MB", "the command line wins");
    let mut s = SessionSettings::new(Arc::new(server));
    s.set_default("work_mem", "10MB", Source::User, Who::User).unwrap();
    s.set_default("work_mem", "11MB", Source::Database, Who::User).unwrap();
    assert_eq!(s.show("work_mem").unwrap(), "10MB", "the role wins over the database");
    set(&mut s, "work_mem", "12MB", false, 0);
    assert_eq!(s.fast().work_mem, 12 << 20);
    let row = s.rows().into_iter().find(|row| row.name == "work_mem").unwrap();
    assert_eq!(
        (row.setting.as_str(), row.source, row.reset_val.as_deref()),
        ("12288", "session", Some("10240"))
    );
    s.set("work_mem", None, false, 0, Who::User).unwrap();
    assert_eq!(s.show("work_mem").unwrap(), "10MB");
    set(&mut s, "work_mem", "1MB", false, 0);
    set(&mut s, "my.own", "x", false, 0);
    s.reset_all(0);
    assert_eq!(s.fast().work_mem, 10 << 20);
    assert_eq!(s.show("my.own").unwrap(), "");
    assert_eq!(
        error(s.set("transaction_isolation", None, false, 1, Who::User)),
        "0A000 parameter \"transaction_isolation\" cannot be reset"
    );
}

#[test]
fn the_end_of_a_transaction() {
    let mut s = session();
    set(&mut s, "work_mem", "1MB", false, 1);
    s.end_transaction(false);
    assert_eq!(s.show("work_mem").unwrap(), "4MB", "rolled back");
    set(&mut s, "work_mem", "1MB", false, 1);
    s.end_transaction(true);
    assert_eq!(s.show("work_mem").unwrap(), "1MB", "committed");
    set(&mut s, "work_mem", "2MB", true, 1);
    assert_eq!(s.fast().work_mem, 2 << 20);
    s.end_transaction(true);
    assert_eq!(s.show("work_mem").unwrap(), "1MB", "SET LOCAL ends with the transaction");
    set(&mut s, "work_mem", "2MB", false, 1);
    set(&mut s, "work_mem", "3MB", true, 1);
    s.end_transaction(true);
    assert_eq!(s.show("work_mem").unwrap(), "2MB", "SET under SET LOCAL stays");
}

#[test]
fn settings_of_extensions_stay_known() {
    let mut s = session();
    assert_eq!(error(s.show("my.own")), "42704 unrecognized configuration parameter \"my.own\"");
    set(&mut s, "my.own", "x", true, 1);
    s.end_transaction(true);
    assert_eq!(s.show("my.own").unwrap(), "");
    set(&mut s, "My.Other", "x", false, 1);
    s.end_transaction(false);
    assert_eq!(s.show("my.other").unwrap(), "");
    s.set("my.third", None, false, 0, Who::User).unwrap();
    assert_eq!(s.show("my.third").unwrap(), "");
    s.set_default("my.own", "of role", Source::User, Who::User).unwrap();
    s.set_default("my.own", "of database", Source::Database, Who::User).unwrap();
    set(&mut s, "my.own", "y", false, 0);
    assert_eq!(s.show("my.own").unwrap(), "y");
    s.reset_all(0);
    assert_eq!(s.show("my.own").unwrap(), "of role");
    assert!(s.rows().iter().all(|row| !row.name.starts_with("my.")));
}

/// Who mistypes a setting of the server's own, or of a module that is loaded, is told.
#[test]
fn prefixes_are_reserved() {
    let mut server = ServerSettings::new();
    let mut refused = |name: &str| server.set(name, "1", Source::File, None).unwrap_err();
    let told = refused("Stampede.worker");
    assert_eq!(told.message(), "invalid configuration parameter name \"Stampede.worker\"");
    assert_eq!(told.report().detail.as_deref(), Some("\"stampede\" is a reserved prefix."));
    refused("plpgsql.check_assert");
    server.set("pg_stat_statements.tracks", "1", Source::File, None).unwrap();
    server.set("shared_preload_libraries", "pg_stat_statements", Source::File, None).unwrap();
    let mut s = SessionSettings::new(Arc::new(server));
    let mut refused = |name: &str| error(s.set(name, Some("1"), false, 0, Who::User));
    let told = "42602 invalid configuration parameter name \"pg_stat_statements.tracks\"";
    assert_eq!(refused("pg_stat_statements.tracks"), told);
    s.set("auto_explain.logs", Some("1"), false, 0, Who::User).unwrap();
    s.load(Module::AutoExplain);
    assert!(s.check_stored("auto_explain.logs", Some("1"), Who::User).is_err());
}

#[test]
fn savepoints() {
    let mut s = session();
    set(&mut s, "work_mem", "1MB", false, 1);
    set(&mut s, "work_mem", "2MB", false, 2);
    set(&mut s, "work_mem", "3MB", true, 3);
    s.end_subtransaction(3, false);
    assert_eq!(s.show("work_mem").unwrap(), "2MB", "rolled back to the savepoint");
    set(&mut s, "work_mem", "5MB", true, 3);
    s.end_subtransaction(3, true);
    assert_eq!(s.show("work_mem").unwrap(), "5MB");
    s.end_subtransaction(2, true);
    s.end_transaction(true);
    assert_eq!(s.show("work_mem").unwrap(), "2MB", "what was set locally inside is gone");

    set(&mut s, "work_mem", "6MB", true, 2);
    set(&mut s, "work_mem", "7MB", false, 2);
    s.end_subtransaction(2, true);
    s.end_transaction(false);
    assert_eq!(s.show("work_mem").unwrap(), "2MB");
}

#[test]
fn clients_are_told_once() {
    let mut s = session();
    set(&mut s, "work_mem", "1MB", false, 0);
    assert_eq!(s.take_changed(), []);
    set(&mut s, "application_name", "a", false, 0);
    set(&mut s, "application_name", "b", false, 0);
    assert_eq!(s.take_changed(), [("application_name", "b".to_string())]);
    set(&mut s, "application_name", "b", false, 0);
    assert_eq!(s.take_changed(), [], "nothing new");
    assert!(s.reported().iter().any(|(name, value)| *name == "server_encoding" && value == "UTF8"));
}

#[test]
fn reload() {
    let mut running = ServerSettings::new();
    running.set("port", "5433", Source::File, None).unwrap();
    running.set_fact(Setting::data_directory, Value::Text("/d".into()));
    let mut fresh = ServerSettings::new();
    fresh.set("port", "5434", Source::File, None).unwrap();
    fresh.set("log_line_prefix", "x", Source::File, None).unwrap();
    let reload = running.reloaded(fresh);
    assert_eq!(reload.changed, [Setting::log_line_prefix]);
    assert_eq!(reload.needs_restart, [Setting::port]);
    assert_eq!(reload.settings.show(Setting::port), "5433");
    assert_eq!(reload.settings.text(Setting::data_directory), "/d");
    let mut s = SessionSettings::new(Arc::new(running));
    let before = s.fast().clone();
    s.rebase(Arc::new(reload.settings));
    assert_eq!(s.text(Setting::log_line_prefix), "x");
    assert_eq!(*s.fast(), before);
    let row = s.rows().into_iter().find(|row| row.name == "port").unwrap();
    assert!(row.pending_restart);
}

/// What the files say waits for a restart, although the command line has another value: Patroni has both.
#[test]
fn a_file_is_heard_behind_the_command_line() {
    let read = |in_file: &str| {
        let mut settings = ServerSettings::new();
        settings.set("max_connections", "100", Source::CommandLine, None).unwrap();
        settings.set("max_connections", in_file, Source::File, None).unwrap();
        settings
    };
    let running = read("100");
    let reload = running.reloaded(read("120"));
    assert_eq!(reload.needs_restart, [Setting::max_connections]);
    assert_eq!(reload.settings.show(Setting::max_connections), "100");
    assert_eq!(reload.settings.reloaded(read("100")).needs_restart, []);
}

#[test]
fn planner_settings_are_told_by_what_they_are() {
    let server = Arc::new(ServerSettings::new());
    let session = |commands: &[(&str, Option<&str>)]| {
        let mut settings = SessionSettings::new(server.clone());
        settings.set_default("random_page_cost", "2", Source::Database, Who::User).unwrap();
        for (name, text) in commands {
            settings.set(name, *text, false, 0, Who::User).unwrap();
        }
        settings.planner_settings()
    };
    let none = session(&[]);
    assert_eq!(none, session(&[("work_mem", Some("1MB")), ("work_mem", None), ("DateStyle", Some("ISO"))]));
    assert_eq!(none, session(&[("work_mem", Some("4MB"))]), "the server's own value");
    let (one, other) = (("work_mem", Some("1MB")), ("enable_seqscan", Some("off")));
    assert_eq!(session(&[one, other]), session(&[other, one]));
    for differs in [&[one][..], &[other], &[one, other], &[("random_page_cost", Some("4"))]] {
        assert_ne!(none, session(differs), "{differs:?}");
    }
    assert_ne!(session(&[one]), session(&[other]));
}
