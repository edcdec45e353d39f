//! Flags as `getopt_long` reads them: `-x value`, `-xvalue`, `-abc`, `--long value`, `--long=value`, `--`.

/// A flag that a program knows.
#[derive(Clone, Copy, Debug)]
pub struct Flag {
    /// One letter, if it has one.
    pub short: Option<char>,
    /// Long name, under which it is reported; for flags without one, the letter.
    pub name: &'static str,
    /// Whether a value follows.
    pub takes_value: bool,
}

/// A flag without a value.
pub const fn flag(short: Option<char>, name: &'static str) -> Flag {
    Flag { short, name, takes_value: false }
}

/// A flag with a value.
pub const fn value(short: Option<char>, name: &'static str) -> Flag {
    Flag { short, name, takes_value: true }
}

/// What was given.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// Flags in order, by name, with their values.
    pub flags: Vec<(&'static str, String)>,
    /// Everything else.
    pub words: Vec<String>,
}

impl Given {
    /// Whether a flag was given.
    pub fn has(&self, name: &str) -> bool {
        self.flags.iter().any(|(given, _)| *given == name)
    }

    /// Last value of a flag.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.flags.iter().rev().find(|(given, _)| *given == name).map(|(_, value)| value.as_str())
    }

    /// All values of a flag.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.flags.iter().filter(move |(given, _)| *given == name).map(|(_, value)| value.as_str())
    }
}

/// Reads arguments. The error is `getopt`'s message.
pub fn parse(args: &[String], known: &[Flag]) -> Result<Given, String> {
    let mut given = Given::default();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if arg == "--" {
            given.words.extend(args.by_ref().cloned());
        } else if let Some(long) = arg.strip_prefix("--") {
            let (name, inline) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value.to_string())),
                None => (long, None),
            };
            let flag = known.iter().find(|flag| flag.name == name && flag.name.len() > 1);
            let flag = flag.ok_or_else(|| format!("unrecognized option '--{name}'"))?;
            let value = match (flag.takes_value, inline) {
                (true, Some(value)) => value,
                (true, None) => {
                    args.next().cloned().ok_or_else(|| format!("option '--{name}' requires an argument"))?
                }
                (false, Some(_)) => return Err(format!("option '--{name}' doesn't allow an argument")),
                (false, None) => String::new(),
            };
            given.flags.push((flag.name, value));
        } else if let Some(letters) = arg.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            let mut letters = letters.chars();
            while let Some(letter) = letters.next() {
                let flag = known.iter().find(|flag| flag.short == Some(letter));
                let flag = flag.ok_or_else(|| format!("invalid option -- '{letter}'"))?;
                if !flag.takes_value {
                    given.flags.push((flag.name, String::new()));
                    continue;
                }
                let value = match letters.as_str() {
                    "" => args
                        .next()
                        .cloned()
                        .ok_or_else(|| format!("option requires an argument -- '{letter}'"))?,
                    rest => rest.to_string(),
                };
                given.flags.push((flag.name, value));
                break;
            }
        } else {
            given.words.push(arg.clone());
        }
    }
    Ok(given)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[Flag] =
        &[value(Some('D'), "pgdata"), flag(Some('w'), "wait"), flag(Some('s'), "s"), value(None, "only")];

    fn read(line: &str) -> String {
        let args: Vec<String> = line.split_whitespace().map(str::to_string).collect();
        match parse(&args, KNOWN) {
            Ok(given) => {
                let flags: Vec<_> = given.flags.iter().map(|(n, v)| format!("{n}={v}")).collect();
                format!("{} / {}", flags.join(" "), given.words.join(" "))
            }
            Err(message) => message,
        }
    }

    #[test]
    fn forms() {
        assert_eq!(read("-D dir -w start"), "pgdata=dir wait= / start");
        assert_eq!(read("start -wsDdir"), "wait= s= pgdata=dir / start");
        assert_eq!(read("--pgdata=dir --only x --wait"), "pgdata=dir only=x wait= / ");
        assert_eq!(read("-w -- -D"), "wait= / -D");
        assert_eq!(read("-D"), "option requires an argument -- 'D'");
        assert_eq!(read("--only"), "option '--only' requires an argument");
        assert_eq!(read("--wait=x"), "option '--wait' doesn't allow an argument");
        assert_eq!(read("-x"), "invalid option -- 'x'");
        assert_eq!(read("--what"), "unrecognized option '--what'");
        assert_eq!(read("--s"), "unrecognized option '--s'");
    }
}
