//! From an empty directory to an application that connects safely, as the quick start tells it.

use std::fs;

use crate::support::authority::{Authority, write_key};
use crate::support::{Server, has, output, text, until};

/// `psql` over TLS, bound to the server's certificate; both outputs.
fn psql(server: &Server, role: &str, password: &str, statements: &[&str]) -> String {
    let mut command = server.tool("psql");
    command
        .env_remove("PGHOST")
        .env_remove("PGUSER")
        .env("PGPASSWORD", password)
        .args(["-X", "-A", "-t", "-q", "-w"]);
    for statement in statements {
        command.args(["-c", statement]);
    }
    let (root, port) = (server.file("root.crt"), server.port);
    let database = if role == "postgres" { "postgres" } else { "shop" };
    command.arg(format!(
        "host=localhost hostaddr=127.0.0.1 port={port} user={role} dbname={database} sslmode=verify-full \
         sslrootcert={} channel_binding=require",
        root.display()
    ));
    text(&output(&mut command))
}

#[test]
fn from_nothing_to_a_safe_connection() {
    if !has("psql") {
        return;
    }
    let secret = std::env::temp_dir().join(format!("stampede-start-{}", std::process::id()));
    write_key(&secret, "first secret\n");
    let pwfile = format!("--pwfile={}", secret.display());
    let mut server = Server::init(&["--auth=scram-sha-256", &pwfile]);
    fs::remove_file(&secret).unwrap();
    let authority = Authority::new("authority");
    authority.sign(&server.data(), "server", &[("CN", "localhost")], 1, &["localhost"]);
    fs::write(server.file("root.crt"), authority.pem()).unwrap();
    fs::write(
        server.data().join("pg_hba.conf"),
        "local all all scram-sha-256\nhostssl all all 127.0.0.1/32 scram-sha-256\n",
    )
    .unwrap();
    let conf = server.data().join("postgresql.conf");
    let changed = fs::read_to_string(&conf).unwrap() + "ssl = on\n";
    fs::write(&conf, changed).unwrap();
    server.run();

    let made = psql(
        &server,
        "postgres",
        "first secret",
        &["create role app login password 'second secret'", "create database shop owner app"],
    );
    assert_eq!(made, "");
    let facts = "select system_user, current_database(), ssl from pg_stat_ssl where pid = pg_backend_pid()";
    let filled =
        ["create table t (a int primary key)", "insert into t select generate_series(1, 1000)", facts];
    assert_eq!(psql(&server, "app", "second secret", &filled), "scram-sha-256:app|shop|t\n");
    let told = psql(&server, "app", "first secret", &["select 1"]);
    assert!(told.contains("password authentication failed for user \"app\""), "{told}");
    // Without TLS no rule lets anybody in.
    let mut plain = server.tool("psql");
    plain.env_remove("PGHOST").env("PGPASSWORD", "first secret").env("PGSSLMODE", "disable");
    let told = text(&output(plain.args(["-X", "-w", "-h", "127.0.0.1", "-c", "select 1"])));
    let words = "no pg_hba.conf entry for host \"127.0.0.1\", user \"postgres\", database \"postgres\", no encryption";
    assert!(told.contains(words), "{told}");

    // What a restart is to bring.
    let told = psql(
        &server,
        "postgres",
        "first secret",
        &[
            "alter system set max_connections = 77",
            "alter system set shared_preload_libraries = 'pg_stat_statements'",
            "alter system set stampede.workers = 3",
            "select pg_reload_conf()",
        ],
    );
    assert_eq!(told, "t\n");
    let waits = "select string_agg(name, ' ' order by name) from pg_settings where pending_restart";
    let names = "max_connections shared_preload_libraries stampede.workers\n";
    until("the reload", || psql(&server, "postgres", "first secret", &[waits]) == names);

    server.stop();
    server.run();
    assert_eq!(psql(&server, "app", "second secret", &["select count(*) from t"]), "1000\n");
    let values = "select current_setting('max_connections'), current_setting('stampede.workers'), \
                  count(*) filter (where pending_restart) from pg_settings";
    let counted =
        ["create extension pg_stat_statements", values, "select count(*) > 0 from pg_stat_statements"];
    assert_eq!(psql(&server, "postgres", "first secret", &counted), "77|3|0\nt\n");
}
