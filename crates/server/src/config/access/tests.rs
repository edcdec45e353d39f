//! Rules and maps, read from a simulated disk.

use runtime::fs;

use super::*;

struct Canned;

impl Surroundings for Canned {
    fn is_member(&self, user: &str, role: &str) -> bool {
        user == "ann" && role == "staff"
    }

    fn interfaces(&self) -> Vec<(IpAddr, IpAddr)> {
        vec![("172.16.5.9".parse().unwrap(), "255.255.0.0".parse().unwrap())]
    }

    fn host_name(&self) -> &HostName {
        static NAME: std::sync::OnceLock<HostName> = std::sync::OnceLock::new();
        NAME.get_or_init(|| HostName { name: Some("db1.example.com".into()), is_confirmed: true })
    }

    fn known_host_name(&self) -> Option<&HostName> {
        None
    }
}

/// Runs `read` on files of a simulated disk.
fn on_disk<T: Send + 'static>(files: &[(&str, &str)], read: impl FnOnce() -> T + Send + 'static) -> T {
    let files: Vec<(String, String)> = files.iter().map(|(n, t)| (n.to_string(), t.to_string())).collect();
    runtime::Simulation::new(0)
        .run(move || {
            fs::create_dir_all(Path::new("/d/sub")).unwrap();
            for (name, text) in files {
                fs::write_file(&Path::new("/d").join(name), text.as_bytes()).unwrap();
            }
            read()
        })
        .unwrap()
}

fn rules_of(files: &[(&str, &str)]) -> Result<Rules, Vec<SqlError>> {
    on_disk(files, || Rules::read(Path::new("/d/hba"), true))
}

fn rules(text: &str) -> Rules {
    rules_of(&[("hba", text)]).unwrap()
}

fn verdict(rules: &Rules, address: &str, user: &str, database: &str) -> String {
    let (address, tls) = match address.strip_suffix(" tls") {
        Some(address) => (address, true),
        None => (address, false),
    };
    // As clients ask for it: no database has such a name here.
    let replication = database == "(replication)";
    let request = Request { address: address.parse().ok(), tls, user, database, replication };
    match rules.find(&request, &Canned) {
        Ok(rule) => rule.method.as_str().to_string(),
        Err(error) => error.message().to_string(),
    }
}

#[test]
fn the_first_rule_that_fits() {
    let rules = rules(
        "# TYPE DATABASE USER ADDRESS METHOD\n\
         local all postgres peer\n\
         local sameuser,\"all\" all trust # odd\n\
         host  all  +staff 10.0.0.0/8 scram-sha-256\n\
         host  shop, \\\n  bar  \"+bob\" 192.168.1.0 255.255.255.0 md5\n\
         hostssl all all 1.0.0.0/8 trust\n\
         hostnossl all all 1.0.0.0/8 password\n\
         hostgssenc all all all trust\n\
         host samerole all 2.2.2.2/32 trust\n\
         hostnogssenc replication all 2.2.2.2/32 trust\n",
    );
    assert_eq!(verdict(&rules, "", "postgres", "x"), "peer");
    assert_eq!(verdict(&rules, "", "me", "me"), "trust");
    assert_eq!(verdict(&rules, "", "me", "all"), "trust", "a quoted word is a name");
    assert_eq!(
        verdict(&rules, "", "me", "x"),
        "no pg_hba.conf entry for host \"[local]\", user \"me\", database \"x\", no encryption"
    );
    assert_eq!(verdict(&rules, "10.9.9.9", "ann", "x"), "scram-sha-256");
    assert_eq!(verdict(&rules, "::ffff:10.9.9.9", "ann", "x"), "scram-sha-256");
    assert!(verdict(&rules, "11.9.9.9", "ann", "x").starts_with("no pg_hba.conf entry"));
    assert_eq!(verdict(&rules, "192.168.1.77", "+bob", "bar"), "md5");
    assert!(verdict(&rules, "192.168.2.77", "+bob", "bar").starts_with("no pg_hba.conf entry"));
    assert_eq!(verdict(&rules, "1.1.1.1 tls", "me", "x"), "trust");
    assert_eq!(verdict(&rules, "1.1.1.1", "me", "x"), "password");
    assert_eq!(verdict(&rules, "2.2.2.2", "ann", "staff"), "trust");
    assert!(verdict(&rules, "2.2.2.2 tls", "me", "replication").ends_with("SSL encryption"));
    assert_eq!(verdict(&rules, "2.2.2.2", "me", "(replication)"), "trust");
    assert_eq!(
        verdict(&rules, "10.9.9.9", "ann", "(replication)"),
        "no pg_hba.conf entry for replication connection from host \"10.9.9.9\", user \"ann\", no encryption"
    );
}

#[test]
fn addresses_and_expressions() {
    let rules = rules(
        "host /^db[0-9]+$ \"/^a.*z$\" samehost trust\n\
         host all all samenet md5\n\
         host x all .example.com password\n\
         host all all other.example.com trust\n",
    );
    assert_eq!(verdict(&rules, "172.16.5.9", "abcz", "db12"), "trust");
    assert_eq!(verdict(&rules, "172.16.5.9", "abcz", "db"), "md5");
    assert_eq!(verdict(&rules, "172.16.9.9", "u", "x"), "md5");
    assert_eq!(verdict(&rules, "172.17.9.9", "u", "x"), "password");
    assert!(verdict(&rules, "172.17.9.9", "u", "y").starts_with("no pg_hba.conf entry"));
}

#[test]
fn included_files() {
    let rules = rules_of(&[
        ("hba", "include more\ninclude_if_exists no\ninclude_dir sub\nhost @names @names all trust\n"),
        ("more", "host all all ::1/128 reject\n"),
        ("sub/1.conf", "host one all all md5\n"),
        ("sub/2.txt", "nonsense\n"),
        ("names", "a, b\nc # and so on\n@again\n"),
        ("again", "d\n"),
    ])
    .unwrap();
    assert_eq!(
        verdict(&rules, "::1", "u", "d"),
        "pg_hba.conf rejects connection for host \"::1\", user \"u\", database \"d\", no encryption"
    );
    assert_eq!(verdict(&rules, "::2", "u", "one"), "md5");
    assert_eq!(verdict(&rules, "::2", "c", "d"), "trust");
    let flaws = rules_of(&[("hba", "include hba\nhost all @none all trust\n")]).unwrap_err();
    assert_eq!(flaws[0].message(), "could not open file \"/d/hba\": maximum nesting depth exceeded");
    assert_eq!(flaws.last().unwrap().message(), "could not open file \"/d/none\": No such file or directory");
}

#[test]
fn errors_name_the_line() {
    let expected = [
        ("tcp all all trust", "invalid connection type \"tcp\""),
        ("local,host all all trust", "multiple values specified for connection type"),
        ("local", "end-of-line before database specification"),
        ("local all", "end-of-line before role specification"),
        ("host all all", "end-of-line before IP address specification"),
        ("host all all 1.2.3.4/33 trust", "invalid CIDR mask in address \"1.2.3.4/33\""),
        ("host all all 1.2.3.4", "end-of-line before netmask specification"),
        ("host all all 1.2.3.4 trust", "invalid IP mask \"trust\": Name or service not known"),
        ("host all all 1.2.3.4 ffff:: trust", "IP address and mask do not match"),
        ("host all all a.b/8 trust", "specifying both host name and CIDR mask is invalid: \"a.b/8\""),
        ("local all all", "end-of-line before authentication method"),
        ("local all all magic", "invalid authentication method \"magic\""),
        ("local all all ldap", "invalid authentication method \"ldap\": not supported by this build"),
        ("local all all trust map", "authentication option not in name=value format: map"),
        ("host all all ::1/128 peer", "peer authentication is only supported on local sockets"),
        ("host all all ::1/128 cert", "cert authentication is only supported on hostssl connections"),
        (
            "host all all all md5 clientcert=verify-ca",
            "clientcert can only be configured for \"hostssl\" rows",
        ),
        ("hostssl all all all md5 clientcert=1", "invalid value for clientcert: \"1\""),
        (
            "hostssl all all all cert clientcert=verify-ca",
            "clientcert only accepts \"verify-full\" when using \"cert\" authentication",
        ),
        (
            "host all all all trust map=m",
            "authentication option \"map\" is only valid for authentication methods ident, peer, gssapi, sspi, cert, and oauth",
        ),
        (
            "host all all all trust ldaptls=1",
            "authentication option \"ldaptls\" is only valid for authentication methods ldap",
        ),
        ("local all all trust x=1", "unrecognized authentication option name: \"x\""),
    ];
    let text: String = expected.iter().map(|(line, _)| format!("{line}\n")).collect();
    let flaws = rules_of(&[("hba", &text)]).unwrap_err();
    for (i, (flaw, (line, expected))) in flaws.iter().zip(expected).enumerate() {
        assert_eq!(flaw.message(), expected, "{line}");
        let context = format!("line {} of configuration file \"/d/hba\"", i + 1);
        assert_eq!(flaw.report().context.as_deref(), Some(context.as_str()));
    }
    assert_eq!(flaws.len(), expected.len());
    let bad = rules_of(&[("hba", "local /(a all trust\n")]).unwrap_err();
    assert!(bad[0].message().starts_with("invalid regular expression \"(a\": "), "{bad:?}");
    let empty = rules_of(&[("hba", "")]).unwrap_err();
    assert_eq!(empty[0].message(), "configuration file \"/d/hba\" contains no entries");
}

#[test]
fn maps_of_users() {
    let text = "m  joe    \"jim\"\n\
        m  /^(.*)@example\\.com$  \\1\n\
        m  /^adm   +staff\n\
        m  guest   /^g[0-9]$\n\
        m  boss    all\n\
        n  /nothing  \\1\n";
    let maps = on_disk(&[("ident", text)], || Maps::read(Path::new("/d/ident"))).unwrap();
    let may = |map, role: &str, user: &str| maps.allow(map, role, user, &Canned);
    assert_eq!(may(None, "me", "me"), Ok(()));
    assert_eq!(
        may(None, "me", "you").unwrap_err(),
        "provided user name (me) and authenticated user name (you) do not match"
    );
    for (role, user, fits) in [
        ("jim", "joe", true),
        ("joe", "joe", false),
        ("ann", "ann@example.com", true),
        ("ann", "ann@example.org", false),
        ("all", "all@example.com", true),
        ("bob", "all@example.com", false),
        ("ann", "adm1", true),
        ("bob", "adm1", false),
        ("g7", "guest", true),
        ("gx", "guest", false),
        ("whoever", "boss", true),
    ] {
        assert_eq!(may(Some("m"), role, user).is_ok(), fits, "{role} {user}");
    }
    assert_eq!(
        may(Some("m"), "x", "y").unwrap_err(),
        "no match in usermap \"m\" for user \"x\" authenticated as \"y\""
    );
    assert!(may(Some("n"), "x", "nothing").unwrap_err().contains("has no subexpressions"));
    let flaws =
        on_disk(&[("ident", "m a\nm a,b c\nm /( c\n")], || Maps::read(Path::new("/d/ident"))).unwrap_err();
    let words: Vec<_> = flaws.iter().map(|flaw| flaw.message().split(':').next().unwrap()).collect();
    assert_eq!(
        words,
        [
            "missing entry at end of line",
            "multiple values in ident field",
            "invalid regular expression \"(\""
        ]
    );
}
