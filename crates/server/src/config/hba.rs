//! `pg_hba.conf`: who may connect from where, and how they must prove it.
//!
//! # PostgreSQL counterpart and differences
//! `hba.c`. Host names are not looked up, regular expressions are not matched, and the methods that need a library or
//! send passwords in clear are refused when a client meets them.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use base::{SqlError, SqlState};
use runtime::fs;

/// Files within files at most.
const MAX_DEPTH: u32 = 10;

/// How a client proves who it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Method {
    /// It need not.
    Trust,
    /// It may not connect at all.
    Reject,
    /// By SCRAM-SHA-256. Also stands for `md5`, as PostgreSQL does for roles with a SCRAM verifier.
    Scram,
    /// By the operating system's user on the other end of the Unix socket.
    Peer,
    /// A method known to PostgreSQL but not offered here.
    Unsupported(&'static str),
}

/// Kind of connection that a rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Local,
    Host,
    HostSsl,
    HostNoSsl,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Address {
    /// A local rule has none.
    All,
    Network(IpAddr, u8),
    /// Addresses of this machine.
    SameHost,
    /// A host name or `samenet`: matches nothing.
    Unknown,
}

/// A name in a list. Quoted names lose their special meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Word {
    text: String,
    quoted: bool,
}

impl Word {
    fn is(&self, keyword: &str) -> bool {
        !self.quoted && self.text == keyword
    }
}

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    kind: Kind,
    databases: Vec<Word>,
    users: Vec<Word>,
    address: Address,
    /// What is asked of the client.
    pub method: Method,
    /// Line of the file, from 1.
    pub line: u32,
}

/// What is known of a client when its rule is looked for.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Its address; none over a Unix socket.
    pub address: Option<IpAddr>,
    /// Whether the connection is encrypted.
    pub tls: bool,
    /// Role it wants to be.
    pub user: &'a str,
    /// Database it wants.
    pub database: &'a str,
}

/// All rules, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules(Vec<Rule>);

impl Rules {
    /// Reads the file. Errors are in PostgreSQL's words, with the line they are about.
    pub fn read(path: &Path) -> Result<Rules, Vec<String>> {
        let mut rules = Vec::new();
        let mut errors = Vec::new();
        read_file(path, false, 0, &mut rules, &mut errors);
        if errors.is_empty() && rules.is_empty() {
            errors.push(format!("configuration file \"{}\" contains no entries", path.display()));
        }
        if errors.is_empty() { Ok(Rules(rules)) } else { Err(errors) }
    }

    /// The method of the first rule that fits. `member(user, role)` tells whether the one belongs to the other.
    pub fn find(
        &self,
        request: &Request<'_>,
        member: &dyn Fn(&str, &str) -> bool,
    ) -> Result<&Rule, SqlError> {
        let refuse = |what: &str| {
            let host = request.address.map_or("[local]".to_string(), |a| a.to_string());
            let encryption = if request.tls { "SSL encryption" } else { "no encryption" };
            SqlError::fatal(
                SqlState::INVALID_AUTHORIZATION_SPECIFICATION,
                format!(
                    "{what} host \"{host}\", user \"{}\", database \"{}\", {encryption}",
                    request.user, request.database
                ),
            )
        };
        match self.0.iter().find(|rule| rule.fits(request, member)) {
            None => Err(refuse("no pg_hba.conf entry for")),
            Some(rule) if rule.method == Method::Reject => Err(refuse("pg_hba.conf rejects connection for")),
            Some(rule) => Ok(rule),
        }
    }
}

impl Rule {
    fn fits(&self, request: &Request<'_>, member: &dyn Fn(&str, &str) -> bool) -> bool {
        let kind = match self.kind {
            Kind::Local => request.address.is_none(),
            Kind::Host => request.address.is_some(),
            Kind::HostSsl => request.address.is_some() && request.tls,
            Kind::HostNoSsl => request.address.is_some() && !request.tls,
        };
        let address = match (&self.address, request.address) {
            (Address::All, _) => true,
            (Address::Network(network, bits), Some(address)) => in_network(address, *network, *bits),
            (Address::SameHost, Some(address)) => address.to_canonical().is_loopback(),
            _ => false,
        };
        let database = |word: &Word| {
            word.is("all")
                || (word.is("sameuser") && request.user == request.database)
                || ((word.is("samerole") || word.is("samegroup")) && member(request.user, request.database))
                || (!word.is("replication") && word.text == request.database)
        };
        let user = |word: &Word| match word.text.strip_prefix('+').filter(|_| !word.quoted) {
            Some(group) => member(request.user, group),
            None => word.is("all") || word.text == request.user,
        };
        kind && address && self.databases.iter().any(database) && self.users.iter().any(user)
    }
}

fn in_network(address: IpAddr, network: IpAddr, bits: u8) -> bool {
    let same = |a: &[u8], b: &[u8]| {
        let bit = |bytes: &[u8], i: usize| bytes[i / 8] >> (7 - i % 8) & 1;
        (0..usize::from(bits)).all(|i| bit(a, i) == bit(b, i))
    };
    match (address.to_canonical(), network) {
        (IpAddr::V4(a), IpAddr::V4(n)) => same(&a.octets(), &n.octets()),
        (IpAddr::V6(a), IpAddr::V6(n)) => same(&a.octets(), &n.octets()),
        _ => false,
    }
}

fn read_file(path: &Path, optional: bool, depth: u32, rules: &mut Vec<Rule>, errors: &mut Vec<String>) {
    let shown = path.display();
    if depth > MAX_DEPTH {
        errors.push(format!("could not open file \"{shown}\": maximum nesting depth exceeded"));
        return;
    }
    let text = match fs::read_to_vec(path) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) if optional && error.kind() == std::io::ErrorKind::NotFound => return,
        Err(error) => {
            errors.push(format!("could not open file \"{shown}\": {}", base::os_error(&error)));
            return;
        }
    };
    let mut lines = text.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        let mut line = line.to_string();
        while line.ends_with('\\') {
            line.pop();
            line.push_str(lines.next().map_or("", |(_, more)| more));
        }
        let number = at as u32 + 1;
        let fields = match fields(&line) {
            Ok(fields) => fields,
            Err(message) => {
                errors.push(format!("{message}: line {number} of configuration file \"{shown}\""));
                continue;
            }
        };
        if let Some(included) = include(path, &fields) {
            match included {
                Include::File(file, optional) => read_file(&file, optional, depth + 1, rules, errors),
                Include::Dir(dir) => read_dir(&dir, depth + 1, rules, errors),
            }
        } else if !fields.is_empty() {
            match rule(&fields, number) {
                Ok(rule) => rules.push(rule),
                Err(message) => {
                    errors.push(format!("{message}: line {number} of configuration file \"{shown}\""));
                }
            }
        }
    }
}

enum Include {
    File(PathBuf, bool),
    Dir(PathBuf),
}

fn include(path: &Path, fields: &[Vec<Word>]) -> Option<Include> {
    let [directive, target] = fields else { return None };
    let target = path.parent().unwrap_or(Path::new("")).join(&target.first()?.text);
    let directive = directive.first()?;
    if directive.is("include") {
        Some(Include::File(target, false))
    } else if directive.is("include_if_exists") {
        Some(Include::File(target, true))
    } else if directive.is("include_dir") {
        Some(Include::Dir(target))
    } else {
        None
    }
}

fn read_dir(dir: &Path, depth: u32, rules: &mut Vec<Rule>, errors: &mut Vec<String>) {
    match fs::read_dir(dir) {
        Ok(entries) => {
            for entry in entries.iter().filter(|e| e.name.ends_with(".conf") && !e.name.starts_with('.')) {
                read_file(&dir.join(&entry.name), false, depth, rules, errors);
            }
        }
        Err(error) => {
            errors.push(format!("could not open directory \"{}\": {}", dir.display(), base::os_error(&error)))
        }
    }
}

/// Splits a line into fields, and fields into words at commas.
fn fields(line: &str) -> Result<Vec<Vec<Word>>, String> {
    let mut fields: Vec<Vec<Word>> = Vec::new();
    let mut rest = line.trim_start();
    let mut joined = false;
    while !rest.is_empty() && !rest.starts_with('#') {
        let (word, after) = word(rest)?;
        match fields.last_mut() {
            Some(field) if joined => field.push(word),
            _ => fields.push(vec![word]),
        }
        let trimmed = after.trim_start();
        joined = trimmed.starts_with(',');
        rest = trimmed.trim_start_matches(',').trim_start();
    }
    Ok(fields)
}

fn word(text: &str) -> Result<(Word, &str), String> {
    let mut out = String::new();
    let mut quoted = false;
    let mut inside = false;
    for (at, c) in text.char_indices() {
        match c {
            '"' => {
                inside = !inside;
                quoted = true;
            }
            _ if inside => out.push(c),
            ',' | '#' => return Ok((Word { text: out, quoted }, &text[at..])),
            _ if c.is_whitespace() => return Ok((Word { text: out, quoted }, &text[at..])),
            _ => out.push(c),
        }
    }
    if inside {
        return Err("unterminated quoted string".into());
    }
    Ok((Word { text: out, quoted }, ""))
}

fn rule(fields: &[Vec<Word>], line: u32) -> Result<Rule, String> {
    let mut fields = fields.iter();
    let first = fields.next().map_or("", |f| f[0].text.as_str());
    let kind = match first {
        "local" => Kind::Local,
        "host" | "hostnogssenc" => Kind::Host,
        "hostssl" => Kind::HostSsl,
        "hostnossl" => Kind::HostNoSsl,
        // No connection is ever encrypted by GSS, so the rule fits none.
        "hostgssenc" => Kind::HostSsl,
        other => return Err(format!("invalid connection type \"{other}\"")),
    };
    let databases = fields.next().ok_or("end-of-line before database specification")?.clone();
    let users = fields.next().ok_or("end-of-line before role specification")?.clone();
    let address = match kind {
        Kind::Local => Address::All,
        _ => {
            let field = fields.next().ok_or("end-of-line before IP address specification")?;
            address(&field[0], &mut fields)?
        }
    };
    let method = fields.next().ok_or("end-of-line before authentication method")?;
    let method = method_named(&method[0].text, kind)?;
    for option in fields {
        if !option[0].text.contains('=') {
            return Err(format!("authentication option not in name=value format: {}", option[0].text));
        }
    }
    Ok(Rule { kind, databases, users, address, method, line })
}

fn address<'a>(word: &Word, rest: &mut impl Iterator<Item = &'a Vec<Word>>) -> Result<Address, String> {
    if word.is("all") {
        return Ok(Address::All);
    }
    if word.is("samehost") {
        return Ok(Address::SameHost);
    }
    if word.is("samenet") {
        return Ok(Address::Unknown);
    }
    let (text, mask) = match word.text.split_once('/') {
        Some((text, mask)) => (text, Some(mask)),
        None => (word.text.as_str(), None),
    };
    let Ok(network) = text.parse::<IpAddr>() else {
        return match mask {
            None => Ok(Address::Unknown),
            Some(_) => Err(format!("specifying both host name and CIDR mask is invalid: \"{}\"", word.text)),
        };
    };
    let width = if network.is_ipv4() { 32 } else { 128 };
    let bits = match mask {
        Some(mask) => mask
            .parse()
            .ok()
            .filter(|bits| *bits <= width)
            .ok_or_else(|| format!("invalid CIDR mask in address \"{}\"", word.text))?,
        None => {
            let mask = rest.next().ok_or("end-of-line before netmask specification")?;
            let invalid = || format!("invalid IP mask \"{}\"", mask[0].text);
            mask_bits(mask[0].text.parse().map_err(|_| invalid())?)
        }
    };
    Ok(Address::Network(network, bits))
}

fn mask_bits(mask: IpAddr) -> u8 {
    match mask {
        IpAddr::V4(mask) => u32::from(mask).leading_ones() as u8,
        IpAddr::V6(mask) => u128::from(mask).leading_ones() as u8,
    }
}

fn method_named(name: &str, kind: Kind) -> Result<Method, String> {
    Ok(match name {
        "trust" => Method::Trust,
        "reject" => Method::Reject,
        "scram-sha-256" | "md5" => Method::Scram,
        "peer" if kind == Kind::Local => Method::Peer,
        "peer" => return Err("peer authentication is only supported on local sockets".into()),
        "password" => Method::Unsupported("password"),
        "ident" => Method::Unsupported("ident"),
        "gss" => Method::Unsupported("gss"),
        "sspi" => Method::Unsupported("sspi"),
        "pam" => Method::Unsupported("pam"),
        "bsd" => Method::Unsupported("bsd"),
        "ldap" => Method::Unsupported("ldap"),
        "cert" => Method::Unsupported("cert"),
        "radius" => Method::Unsupported("radius"),
        "oauth" => Method::Unsupported("oauth"),
        other => return Err(format!("invalid authentication method \"{other}\"")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(text: &'static str) -> Result<Rules, Vec<String>> {
        runtime::Simulation::new(0)
            .run(move || {
                fs::create_dir_all(Path::new("/d")).unwrap();
                fs::write_file(Path::new("/d/hba"), text.as_bytes()).unwrap();
                fs::write_file(Path::new("/d/more"), b"host all all ::1/128 reject\n").unwrap();
                Rules::read(Path::new("/d/hba"))
            })
            .unwrap()
    }

    fn verdict(rules: &Rules, address: &str, user: &str, database: &str) -> String {
        let request = Request { address: address.parse().ok(), tls: false, user, database };
        match rules.find(&request, &|user, role| user == "ann" && role == "staff") {
            Ok(rule) => format!("{:?}", rule.method),
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
             hostssl all all all trust\n\
             include 'x'\n"
                .strip_suffix("include 'x'\n")
                .unwrap(),
        )
        .unwrap();
        assert_eq!(verdict(&rules, "", "postgres", "x"), "Peer");
        assert_eq!(verdict(&rules, "", "me", "me"), "Trust");
        assert_eq!(verdict(&rules, "", "me", "all"), "Trust", "a quoted word is a name");
        assert_eq!(
            verdict(&rules, "", "me", "x"),
            "no pg_hba.conf entry for host \"[local]\", user \"me\", database \"x\", no encryption"
        );
        assert_eq!(verdict(&rules, "10.9.9.9", "ann", "x"), "Scram");
        assert_eq!(verdict(&rules, "::ffff:10.9.9.9", "ann", "x"), "Scram");
        assert!(verdict(&rules, "11.9.9.9", "ann", "x").starts_with("no pg_hba.conf entry"));
        assert_eq!(verdict(&rules, "192.168.1.77", "+bob", "bar"), "Scram");
        assert!(verdict(&rules, "192.168.2.77", "+bob", "bar").starts_with("no pg_hba.conf entry"));
    }

    #[test]
    fn included_files() {
        let rules = rules("include more\nhost all all all trust\n").unwrap();
        assert_eq!(
            verdict(&rules, "::1", "u", "d"),
            "pg_hba.conf rejects connection for host \"::1\", user \"u\", database \"d\", no encryption"
        );
        assert_eq!(verdict(&rules, "::2", "u", "d"), "Trust");
    }

    #[test]
    fn errors_name_the_line() {
        let text = "tcp all all trust\nlocal all\nhost all all 1.2.3.4/33 trust\nhost all all 1.2.3.4 trust\n\
            local all all magic\nlocal all all trust map\nlocal \"x\nhost all all ::1/128 peer\n";
        let errors = rules(text).unwrap_err();
        let expected = [
            "invalid connection type \"tcp\"",
            "end-of-line before role specification",
            "invalid CIDR mask in address \"1.2.3.4/33\"",
            "invalid IP mask \"trust\"",
            "invalid authentication method \"magic\"",
            "authentication option not in name=value format: map",
            "unterminated quoted string",
            "peer authentication is only supported on local sockets",
        ];
        for (i, (error, expected)) in errors.iter().zip(expected).enumerate() {
            assert_eq!(*error, format!("{expected}: line {} of configuration file \"/d/hba\"", i + 1));
        }
        assert_eq!(errors.len(), expected.len());
        assert_eq!(rules("").unwrap_err(), ["configuration file \"/d/hba\" contains no entries"]);
    }
}
