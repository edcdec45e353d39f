//! Who comes in, and what those are told who do not: rules, passwords, certificates, maps of users, kept connections.

use std::fs;

use crate::support::authority::{Authority, secured_server};
use crate::support::{Client, Failure, Server, has, output, text, until};

/// Replaces the rules of access and has them read.
fn rules(server: &Server, text: &str) {
    fs::write(server.data().join("pg_hba.conf"), text).unwrap();
    // The rules are read behind the settings: those of the first reload are in force when the second one has begun.
    for _ in 0..2 {
        let loaded = || server.client().value("select pg_conf_load_time()");
        let before = loaded();
        server.signal(libc::SIGHUP);
        until("the files are read", || loaded() != before);
    }
}

const ADMIN: &str = "host all postgres 127.0.0.1/32 trust\n";

/// `psql` as a role; both outputs.
fn psql(server: &Server, role: &str, password: &str, options: &str, statement: &str) -> String {
    let host = if options.contains("host=") { "" } else { "host=127.0.0.1" };
    server.psql(&format!("{host} user={role} password='{password}' {options}"), statement)
}

#[test]
fn passwords_by_every_method() {
    if !has("psql") {
        return;
    }
    let authority = Authority::new("authority");
    let mut server = secured_server(&authority);
    server.set_option("log_connections=all");
    server.run();
    let mut admin = server.client();
    for statement in [
        "create role modern login password 'secret'",
        "set password_encryption = md5; create role old login password 'secret'",
        "create role bare login",
        "create role past login password 'secret' valid until '2001-01-01'",
        "create role locked nologin password 'secret'",
    ] {
        admin.query(statement).unwrap();
    }
    rules(
        &server,
        &format!(
            "{ADMIN}hostssl all all 127.0.0.1/32 scram-sha-256\nhostnossl all all 127.0.0.1/32 md5\nlocal all all password\n"
        ),
    );
    let identity = "select system_user";
    let unix = format!("host={}", server.socket().display());
    assert_eq!(
        psql(&server, "modern", "secret", "channel_binding=require", identity),
        "scram-sha-256:modern\n"
    );
    assert_eq!(
        psql(&server, "modern", "secret", "channel_binding=disable", identity),
        "scram-sha-256:modern\n"
    );
    assert_eq!(psql(&server, "modern", "secret", "sslmode=disable", identity), "md5:modern\n");
    assert_eq!(psql(&server, "old", "secret", "sslmode=disable", identity), "md5:old\n");
    assert_eq!(psql(&server, "modern", "secret", &unix, identity), "password:modern\n");
    assert_eq!(psql(&server, "old", "secret", &unix, identity), "password:old\n");
    assert_eq!(psql(&server, "postgres", "", "sslmode=disable", identity), "\n", "nothing was asked of it");
    let said = psql(&server, "modern", "secret", "sslmode=disable channel_binding=require", identity);
    assert!(said.contains("channel binding required"), "{said}");
    for (role, password, options, why) in [
        ("modern", "wrong", "sslmode=require", "Password does not match for user \"modern\"."),
        ("old", "secret", "sslmode=require", "User \"old\" does not have a valid SCRAM secret."),
        ("bare", "secret", "sslmode=require", "User \"bare\" has no password assigned."),
        ("past", "secret", "sslmode=require", "User \"past\" has an expired password."),
        ("nobody", "secret", "sslmode=require", "Role \"nobody\" does not exist."),
        ("old", "wrong", "sslmode=disable", "Password does not match for user \"old\"."),
        ("nobody", "secret", "sslmode=disable", "Role \"nobody\" does not exist."),
        ("modern", "wrong", &unix, "Password does not match for user \"modern\"."),
        ("past", "secret", &unix, "User \"past\" has an expired password."),
    ] {
        let before = server.log().matches(why).count();
        let said = psql(&server, role, password, options, identity);
        let told = format!("FATAL:  password authentication failed for user \"{role}\"");
        assert!(said.contains(&told) && !said.contains(why), "{said}");
        until(why, || server.log().matches(why).count() == before + 1);
    }
    let said = psql(&server, "locked", "secret", "", identity);
    assert!(said.contains("role \"locked\" is not permitted to log in"), "{said}");
    let log = server.log();
    assert!(log.contains("line 2: \"hostssl all all 127.0.0.1/32 scram-sha-256\""), "{log}");
    assert!(log.contains("connection authenticated: identity=\"modern\" method=scram-sha-256"), "{log}");
    // Who has no password at hand asks for one and comes again: that is no news.
    let mut command = server.tool("psql");
    command.env_remove("PGHOST").args(["-X", "-w", "-c", "select 1"]);
    command.arg(format!("host=127.0.0.1 port={} user=modern dbname=postgres", server.port));
    assert!(text(&output(&mut command)).contains("no password supplied"));
    assert!(!server.log().contains("unexpected EOF"), "{}", server.log());
}

#[test]
fn certificates_of_clients() {
    if !has("psql") {
        return;
    }
    let (authority, stranger) = (Authority::new("authority"), Authority::new("stranger"));
    let mut server = secured_server(&authority);
    let dir = server.file("");
    authority.sign(&dir, "ann", &[("O", "Firm, Ltd"), ("CN", "ann")], 4_660, &[]);
    authority.sign(&dir, "bob", &[("CN", "bob@firm")], 5, &[]);
    stranger.sign(&dir, "eve", &[("CN", "ann")], 6, &[]);
    server.set_option(&format!("ssl_ca_file={}", server.file("root.crt").display()));
    server.run();
    server.client().query("create role ann login password 'x'; create role bob login password 'x'").unwrap();
    let with = |name: &str| {
        let file = |kind: &str| server.file(&format!("{name}.{kind}")).display().to_string();
        format!("sslmode=require sslcert={} sslkey={}", file("crt"), file("key"))
    };
    let (ann, bob, eve, none) =
        (with("ann"), with("bob"), with("eve"), "sslmode=require sslcert=none".to_string());
    rules(&server, &format!("{ADMIN}hostssl all all all cert\n"));
    let facts = "select system_user, client_dn, client_serial, issuer_dn from pg_stat_ssl where pid = pg_backend_pid()";
    assert_eq!(
        psql(&server, "ann", "", &ann, facts),
        "cert:CN=ann,O=Firm\\, Ltd|/O=Firm\\, Ltd/CN=ann|4660|/CN=authority\n"
    );
    let said = psql(&server, "bob", "", &ann, facts);
    assert!(said.contains("certificate authentication failed for user \"bob\""), "{said}");
    let said = psql(&server, "ann", "", &none, facts);
    assert!(said.contains("connection requires a valid client certificate"), "{said}");
    let said = psql(&server, "ann", "", &eve, facts);
    assert!(said.contains("unknown ca") || said.contains("server closed"), "{said}");
    server.wait_for_log("could not accept SSL connection: invalid peer certificate");

    fs::write(server.data().join("pg_ident.conf"), "firm \"/^CN=(.*),O=Firm\" \\1\nfirm /^(.*)@firm$ \\1\n")
        .unwrap();
    rules(
        &server,
        &format!(
            "{ADMIN}hostssl all ann all cert map=firm clientname=DN\nhostssl all bob all cert map=firm\n"
        ),
    );
    assert!(psql(&server, "ann", "", &ann, facts).starts_with("cert:CN=ann"));
    assert!(psql(&server, "bob", "", &bob, facts).starts_with("cert:CN=bob@firm|"));
    let said = psql(&server, "bob", "", &ann, facts);
    assert!(said.contains("certificate authentication failed for user \"bob\""), "{said}");
    let why = "no match in usermap \"firm\" for user \"bob\" authenticated as \"ann\"";
    until(why, || server.log().contains(why));

    rules(
        &server,
        &format!(
            "{ADMIN}hostssl all ann all scram-sha-256 clientcert=verify-full\nhostssl all bob all scram-sha-256 clientcert=verify-ca\n"
        ),
    );
    assert!(psql(&server, "ann", "x", &ann, facts).starts_with("scram-sha-256:ann|"));
    assert!(psql(&server, "bob", "x", &ann, facts).starts_with("scram-sha-256:bob|"));
    assert!(
        psql(&server, "ann", "x", &bob, facts).contains("password authentication failed for user \"ann\"")
    );
    server
        .wait_for_log("certificate validation (clientcert=verify-full) failed for user \"ann\": CN mismatch");
    assert!(
        psql(&server, "bob", "y", &bob, facts).contains("password authentication failed for user \"bob\"")
    );

    fs::write(server.data().join("revoked.crl"), authority.revoke(4_660)).unwrap();
    let conf = server.data().join("postgresql.conf");
    let changed = fs::read_to_string(&conf).unwrap() + "ssl_crl_file = 'revoked.crl'\n";
    fs::write(&conf, changed).unwrap();
    server.signal(libc::SIGHUP);
    until("the certificate is revoked", || !psql(&server, "ann", "x", &ann, facts).contains("scram"));
    assert!(psql(&server, "bob", "x", &bob, facts).starts_with("scram-sha-256:bob|"));
}

#[test]
fn users_of_the_operating_system() {
    if !has("psql") {
        return;
    }
    let server = Server::start(&[]);
    server.client().query("create role ann login").unwrap();
    // SAFETY: a system call without arguments that cannot fail.
    let me = server::session::user_name(unsafe { libc::geteuid() }).unwrap();
    fs::write(server.data().join("pg_ident.conf"), format!("m {me} ann\n")).unwrap();
    rules(
        &server,
        &format!("{ADMIN}local all ann peer map=m\nlocal all all ident\nhost all ann 127.0.0.1/32 ident\n"),
    );
    let unix = format!("host={}", server.socket().display());
    assert_eq!(psql(&server, "ann", "", &unix, "select system_user"), format!("peer:{me}\n"));
    let said = psql(&server, "postgres", "", &unix, "select 1");
    if me != "postgres" {
        assert!(said.contains("Peer authentication failed for user \"postgres\""), "{said}");
        let why = format!("provided user name (postgres) and authenticated user name ({me}) do not match");
        until(&why, || server.log().contains(&why));
    }
    let said = psql(&server, "ann", "", "", "select 1");
    assert!(said.contains("Ident authentication failed for user \"ann\""), "{said}");
    let why = "could not connect to Ident server at address \"127.0.0.1\", port 113: ";
    until(why, || server.log().contains(why));
}

#[test]
fn views_of_the_files() {
    let mut server = Server::start(&[]);
    let mut admin = server.client();
    let data = server.data();
    let path = |name: &str| data.join(name).display().to_string();
    fs::write(
        path("pg_hba.conf"),
        "local \"a b\",all +staff,/^x peer map=m\nhost all all 10.0.0.0 255.0.0.0 md5\n\
         hostssl all all samenet scram-sha-256 clientcert=verify-ca\nhost all all ::1/128 ldap\n\
         host all all .example.com trust\ninclude_if_exists none\ninclude none\n",
    )
    .unwrap();
    fs::write(path("pg_ident.conf"), "m /^(.*)$ \\1\nm x\n").unwrap();
    let rows = admin
        .query(
            "select rule_number, line_number, type, database, user_name, address, netmask, auth_method, options, error \
             from pg_hba_file_rules order by line_number",
        )
        .unwrap();
    let shown: Vec<String> = rows
        .iter()
        .map(|row| row.iter().map(|value| value.as_deref().unwrap_or("-")).collect::<Vec<_>>().join("|"))
        .collect();
    let missing = format!("could not open file \"{}\": No such file or directory", path("none"));
    assert_eq!(
        shown,
        [
            "1|1|local|{\"a b\",all}|{+staff,/^x}|-|-|peer|{map=m}|-".to_string(),
            "2|2|host|{all}|{all}|10.0.0.0|255.0.0.0|md5|-|-".to_string(),
            "-|3|hostssl|{all}|{all}|samenet|-|scram-sha-256|{clientcert=verify-ca}|hostssl record cannot match because SSL is disabled".to_string(),
            "-|4|-|-|-|-|-|-|-|invalid authentication method \"ldap\": not supported by this build".to_string(),
            "3|5|host|{all}|{all}|.example.com|-|trust|-|-".to_string(),
            format!("-|7|-|-|-|-|-|-|-|{missing}"),
        ]
    );
    assert_eq!(admin.value("select distinct file_name from pg_hba_file_rules"), path("pg_hba.conf"));
    let maps = admin.query(
        "select map_number, line_number, map_name, sys_name, pg_username, error from pg_ident_file_mappings",
    );
    let maps = format!("{:?}", maps.unwrap());
    assert!(maps.contains("/^(.*)$") && maps.contains("missing entry at end of line"), "{maps}");
    // All flaws are told, and the old rules stay.
    server.signal(libc::SIGHUP);
    server.wait_for_log("pg_ident.conf was not reloaded");
    let log = server.log();
    assert!(log.contains("pg_hba.conf was not reloaded"), "{log}");
    let context = format!("CONTEXT:  line 4 of configuration file \"{}\"", path("pg_hba.conf"));
    assert!(log.contains(&context), "{log}");
    assert_eq!(server.client().value("select 1"), "1");
}

#[test]
fn connections_are_kept_for_some() {
    let server =
        Server::start(&["max_connections=6", "superuser_reserved_connections=1", "reserved_connections=2"]);
    let mut admin = server.client();
    admin.query("create role ann login; create role ops login in role pg_use_reserved_connections").unwrap();
    admin.query("create role single login connection limit 1").unwrap();
    let come = |role: &str| match server.connect(&[("user", role)]) {
        Ok(client) => Ok(client),
        Err(Failure::Error { code, message, .. }) => Err(format!("{code} {message}")),
        Err(Failure::Lost) => Err("lost".into()),
    };
    let one = come("single").unwrap();
    assert_eq!(come("single").err().unwrap(), "53300 too many connections for role \"single\"");
    let ann = come("ann").unwrap();
    assert_eq!(
        come("ann").err().unwrap(),
        "53300 remaining connection slots are reserved for roles with privileges of the \"pg_use_reserved_connections\" role"
    );
    let (two, three) = (come("ops").unwrap(), come("ops").unwrap());
    assert_eq!(
        come("ops").err().unwrap(),
        "53300 remaining connection slots are reserved for roles with the SUPERUSER attribute"
    );
    let four = come("postgres").unwrap();
    assert_eq!(come("postgres").err().unwrap(), "53300 sorry, too many clients already");
    drop((one, ann, two, three, four));
}

/// Of many who come at the same time as many are let in as may be, never more and never fewer.
#[test]
fn limits_are_exact_when_many_come_at_once() {
    const LIMIT: usize = 5;
    const COMING: usize = 24;
    let server = Server::start(&["max_connections=100"]);
    let mut admin = server.client();
    let made = format!("create role few login connection limit {LIMIT}; create role other login");
    admin.query(&made).unwrap();
    admin.query("create database small").unwrap();
    admin.query(&format!("alter database small connection limit {LIMIT}")).unwrap();
    for round in 0..6 {
        let [user, database] = [["few", "postgres"], ["other", "small"]][round % 2];
        let parameters = [("user", user), ("database", database)];
        let together = std::sync::Barrier::new(COMING);
        let come = || {
            together.wait();
            server.connect(&parameters)
        };
        let came: Vec<_> = std::thread::scope(|scope| {
            let coming: Vec<_> = (0..COMING).map(|_| scope.spawn(come)).collect();
            coming.into_iter().map(|one| one.join().unwrap()).collect()
        });
        let refused = |one: &&Result<Client, Failure>| matches!(one, Err(Failure::Error { code, .. }) if code == "53300");
        assert_eq!(came.iter().filter(refused).count(), COMING - LIMIT, "round {round}");
        assert_eq!(came.iter().filter(|one| one.is_ok()).count(), LIMIT, "round {round}");
        drop(came);
        let there = "select count(*) from pg_stat_activity where backend_type = 'client backend'";
        until("they are gone", || admin.value(there) == "1");
    }
}

#[test]
fn who_does_not_exist_gets_the_same_salt_after_a_restart() {
    let mut server = Server::start(&[]);
    rules(&server, &format!("{ADMIN}host all all all scram-sha-256\n"));
    let salt = |server: &Server| crate::support::client::scram_salt(server.port, "nobody");
    let (first, again) = (salt(&server), salt(&server));
    assert_eq!(first, again);
    server.stop();
    server.run();
    assert_eq!(salt(&server), first);
}
