//! Log files: where they are, what is in them, and when new ones begin.

use std::fs;

use crate::support::{Server, until};

fn start(more: &[&str]) -> Server {
    let mut server = Server::init(&[]);
    let path = server.data().join("postgresql.conf");
    let text = "logging_collector = on\nlog_destination = 'stderr,csvlog,jsonlog'\nlog_filename = 'pg-%Y.log'\n\
                log_timezone = 'Europe/Berlin'\nlog_line_prefix = '%p %q%u@%d %a %i %e: '\n";
    fs::write(&path, fs::read_to_string(&path).unwrap() + text).unwrap();
    more.iter().for_each(|setting| server.set_option(setting));
    server.launch();
    until("the server", || server.connect(&[]).is_ok());
    server
}

#[test]
fn a_line_in_all_forms() {
    let server = start(&["log_file_mode=0640", "log_error_verbosity=verbose"]);
    let mut client = server.connect(&[("application_name", "me, \"myself\"")]).unwrap();
    let pid = client.value("select pg_backend_pid()");
    client.error("select 'a\nb'::text, 1/0");
    let file = |format: &str| {
        let name = match format {
            "" => client_value(&server, "select pg_current_logfile()"),
            format => client_value(&server, &format!("select pg_current_logfile('{format}')")),
        };
        server.data().join(name)
    };
    let text = |format: &str| fs::read_to_string(file(format)).unwrap();
    until("the error", || text("jsonlog").contains("division by zero"));
    assert!(file("").ends_with(file("stderr")) && file("csvlog").to_str().unwrap().ends_with(".csv"));
    let expected =
        format!("{pid} postgres@postgres me, \"myself\" SELECT 22012: ERROR:  22012: division by zero\n");
    assert!(text("stderr").contains(&expected), "{}", text("stderr"));
    assert!(text("stderr").contains("STATEMENT:  select 'a\n\tb'::text, 1/0\n"));
    let csv = text("csvlog");
    let line = csv.split("\n20").find(|line| line.contains("division by zero")).unwrap().to_string();
    assert!(line.contains(&format!(",\"postgres\",\"postgres\",{pid},\"127.0.0.1:")), "{line}");
    assert!(line.contains(",ERROR,22012,\"division by zero\",,,,,,\"select 'a\nb'::text, 1/0\",,,\"me, \"\"myself\"\"\",\"client backend\",,0"), "{line}");
    let json = text("jsonlog");
    let line = json.lines().find(|line| line.contains("division by zero")).unwrap();
    let value =
        client_value(&server, &format!("select '{}'::json ->> 'statement'", line.replace('\'', "''")));
    assert_eq!(value, "select 'a\nb'::text, 1/0");
    assert!(line.contains("CET\"") || line.contains("CEST\""), "{line}");
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(file("csvlog")).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o640);
    let list = fs::read_to_string(server.data().join("current_logfiles")).unwrap();
    assert!(list.starts_with("stderr log/pg-") && list.lines().count() == 3, "{list}");
}

fn client_value(server: &Server, query: &str) -> String {
    server.client().value(query)
}

#[test]
fn files_follow_the_settings() {
    let server = start(&[]);
    let mut client = server.client();
    let before = client.value("select pg_current_logfile()");
    client.query("alter system set log_filename = 'other.log'").unwrap();
    client.query("alter system set log_destination = 'jsonlog'").unwrap();
    client.query("select pg_reload_conf()").unwrap();
    until("the other file", || {
        client.value("select coalesce(pg_current_logfile(), '-')") == "log/other.json"
    });
    assert_eq!(client.value("select coalesce(pg_current_logfile('stderr'), '-')"), "-");
    assert_ne!(before, "log/other.json");
    // Whoever takes the file away gets a new one when he asks for it.
    let path = server.data().join("log/other.json");
    fs::rename(&path, server.data().join("log/kept.json")).unwrap();
    assert_eq!(client.value("select pg_rotate_logfile()"), "t");
    until("the new file", || path.exists());
    assert_eq!(client.error("select pg_current_logfile('xml')"), "22023 log format \"xml\" is not supported");
    let refused = client.error("alter system set log_destination = 'stderr,syslog'");
    assert_eq!(
        refused,
        "0A000 setting \"log_destination\" cannot be set to \"syslog\": syslog is not supported"
    );
}

#[test]
fn a_log_that_cannot_be_written_stops_nobody() {
    let server = start(&["log_filename=gone.log", "log_statement=all"]);
    let mut client = server.client();
    until("the file", || server.data().join("log/gone.log").exists());
    fs::remove_dir_all(server.data().join("log")).unwrap();
    fs::write(server.data().join("log"), "no directory").unwrap();
    client.query("select pg_rotate_logfile()").unwrap();
    for _ in 0..100 {
        assert_eq!(client.value("select 1"), "1");
    }
}
