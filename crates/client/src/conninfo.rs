//! Connection strings: `key=value …` and `postgresql://user:password@host:port/database?key=value`.

/// Whether a database's "name" is one.
pub fn is_connection_string(text: &str) -> bool {
    text.contains('=') || scheme(text).is_some()
}

/// Names and values in order. The error is a message.
pub fn parse(text: &str) -> Result<Vec<(String, String)>, String> {
    match scheme(text) {
        Some(rest) => uri(rest),
        None => pairs(text),
    }
}

fn scheme(text: &str) -> Option<&str> {
    text.strip_prefix("postgresql://").or_else(|| text.strip_prefix("postgres://"))
}

fn pairs(text: &str) -> Result<Vec<(String, String)>, String> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let missing = || format!("missing \"=\" after \"{rest}\" in connection info string");
        let (name, after) = rest.split_once('=').ok_or_else(missing)?;
        if name.trim_end().contains(char::is_whitespace) {
            return Err(missing());
        }
        let (value, after) = value(after.trim_start())?;
        found.push((name.trim_end().to_string(), value));
        rest = after.trim_start();
    }
    Ok(found)
}

/// A value, bare or in quotes, with backslashes before what is meant literally; and what follows.
fn value(text: &str) -> Result<(String, &str), String> {
    let quoted = text.starts_with('\'');
    let mut value = String::new();
    let mut chars = text.char_indices().skip(usize::from(quoted));
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => value.extend(chars.next().map(|(_, c)| c)),
            '\'' if quoted => return Ok((value, &text[at + 1..])),
            c if c.is_whitespace() && !quoted => return Ok((value, &text[at..])),
            c => value.push(c),
        }
    }
    if quoted {
        return Err("unterminated quoted string in connection info string".to_string());
    }
    Ok((value, ""))
}

fn uri(text: &str) -> Result<Vec<(String, String)>, String> {
    let mut found = Vec::new();
    let (text, parameters) = text.split_once('?').unwrap_or((text, ""));
    let (authority, database) = text.split_once('/').unwrap_or((text, ""));
    let (user, places) = authority.rsplit_once('@').unwrap_or(("", authority));
    let (user, password) = user.split_once(':').unwrap_or((user, ""));
    let (hosts, ports): (Vec<_>, Vec<_>) = places.split(',').map(place).unzip();
    let mut add = |name: &str, value: &str| -> Result<(), String> {
        if !value.is_empty() {
            found.push((name.to_string(), decode(value)?));
        }
        Ok(())
    };
    add("user", user)?;
    add("password", password)?;
    if hosts.iter().any(|host| !host.is_empty()) {
        add("host", &hosts.join(","))?;
    }
    if ports.iter().any(|port| !port.is_empty()) {
        let port = |port: &&str| if port.is_empty() { "5432".to_string() } else { port.to_string() };
        add("port", &ports.iter().map(port).collect::<Vec<_>>().join(","))?;
    }
    add("dbname", database)?;
    for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
        let missing = || format!("missing key/value separator \"=\" in URI query parameter: \"{parameter}\"");
        let (name, value) = parameter.split_once('=').ok_or_else(missing)?;
        add(&decode(name)?, value)?;
    }
    Ok(found)
}

/// Host and port of `host:port` or `[address]:port`.
fn place(text: &str) -> (&str, &str) {
    if let Some((address, rest)) = text.strip_prefix('[').and_then(|text| text.split_once(']')) {
        return (address, rest.trim_start_matches(':'));
    }
    text.split_once(':').unwrap_or((text, ""))
}

fn decode(text: &str) -> Result<String, String> {
    let invalid = || format!("invalid percent-encoded token: \"{text}\"");
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = rest.get(..2).and_then(|digits| std::str::from_utf8(digits).ok()).ok_or_else(invalid)?;
        bytes.push(u8::from_str_radix(digits, 16).map_err(|_| invalid())?);
        rest = &rest[2..];
    }
    String::from_utf8(bytes).map_err(|_| invalid())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> String {
        match parse(text) {
            Ok(pairs) => {
                pairs.iter().map(|(name, value)| format!("{name}<{value}>")).collect::<Vec<_>>().join(" ")
            }
            Err(message) => message,
        }
    }

    #[test]
    fn keys_and_values() {
        assert_eq!(
            parsed(r"host=a  port = 1 password='it\'s \\ x' user=x\ y"),
            r"host<a> port<1> password<it's \ x> user<x y>"
        );
        assert_eq!(parsed("host=a port"), "missing \"=\" after \"port\" in connection info string");
        assert_eq!(parsed("host='a"), "unterminated quoted string in connection info string");
        assert!(is_connection_string("host=a") && !is_connection_string("app"));
    }

    #[test]
    fn addresses() {
        assert_eq!(
            parsed("postgresql://me:p%40ss@a:1,[::1]:2/app?sslmode=require"),
            "user<me> password<p@ss> host<a,::1> port<1,2> dbname<app> sslmode<require>"
        );
        assert_eq!(parsed("postgres://%2Frun%2Fx/app"), "host</run/x> dbname<app>");
        assert_eq!(parsed("postgresql://"), "");
        assert_eq!(parsed("postgresql://%zz"), "invalid percent-encoded token: \"%zz\"");
    }
}
