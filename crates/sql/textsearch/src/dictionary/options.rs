//! Parameters of dictionaries, and the text that `pg_ts_dict.dictinitoption` keeps of them: `name = 'value', ...`.

use base::{SqlError, SqlResult, SqlState, sql_err};

/// A parameter of a dictionary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Which.
    pub name: String,
    /// Its value as a text.
    pub value: String,
    /// The value is a number, and is written without quotes.
    pub number: bool,
}

impl Parameter {
    /// Whether it has this name; names of parameters are compared in lower case only.
    pub fn is(&self, name: &str) -> bool {
        self.name == name
    }

    /// A truth value, in one of its spellings.
    ///
    /// # Errors
    /// It is none.
    pub fn flag(&self) -> SqlResult<bool> {
        match self.value.to_ascii_lowercase().as_str() {
            "true" | "on" => Ok(true),
            "false" | "off" => Ok(false),
            "1" if self.number => Ok(true),
            "0" if self.number => Ok(false),
            _ => Err(sql_err!(SYNTAX_ERROR, "{} requires a Boolean value", self.name)),
        }
    }
}

/// Puts a value into a slot that must be empty.
///
/// # Errors
/// It is not.
pub fn once<T>(slot: &mut Option<T>, value: T, what: &str) -> SqlResult<()> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(sql_err!(INVALID_PARAMETER_VALUE, "multiple {what} parameters")),
    }
}

/// What a template says of a parameter that it does not know.
pub fn unknown(what: &str, parameter: &Parameter) -> SqlError {
    sql_err!(INVALID_PARAMETER_VALUE, "unrecognized {what} parameter: \"{}\"", parameter.name)
}

/// The text that parameters are kept as. `quote` writes a name.
pub fn write(parameters: &[Parameter], quote: &dyn Fn(&str) -> String) -> String {
    let one = |parameter: &Parameter| {
        let (name, value) = (quote(&parameter.name), &parameter.value);
        if parameter.number {
            return format!("{name} = {value}");
        }
        let escape = if value.contains('\\') { "E" } else { "" };
        format!("{name} = {escape}'{}'", value.replace('\\', "\\\\").replace('\'', "''"))
    };
    parameters.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Parameters out of the text that they are kept as.
pub fn parse(text: &str) -> SqlResult<Vec<Parameter>> {
    let mut reader = Reader { text, rest: text };
    let mut parameters = Vec::new();
    reader.skip(char::is_whitespace);
    while !reader.rest.is_empty() {
        let name = reader.name()?;
        reader.skip(char::is_whitespace);
        reader.expect('=')?;
        reader.skip(char::is_whitespace);
        let (value, number) = reader.value()?;
        parameters.push(Parameter { name, value, number });
        reader.skip(|c| c.is_whitespace() || c == ',');
    }
    Ok(parameters)
}

struct Reader<'t> {
    text: &'t str,
    rest: &'t str,
}

impl<'t> Reader<'t> {
    fn malformed(&self) -> SqlError {
        SqlError::new(SqlState::SYNTAX_ERROR, format!("invalid parameter list format: \"{}\"", self.text))
    }

    fn skip(&mut self, which: impl Fn(char) -> bool) {
        self.rest = self.rest.trim_start_matches(which);
    }

    fn expect(&mut self, c: char) -> SqlResult<()> {
        self.rest = self.rest.strip_prefix(c).ok_or_else(|| self.malformed())?;
        Ok(())
    }

    /// Text up to a character that ends it.
    fn until(&mut self, ends: impl Fn(char) -> bool) -> SqlResult<&'t str> {
        let end = self.rest.find(ends).unwrap_or(self.rest.len());
        let (found, rest) = self.rest.split_at(end);
        self.rest = rest;
        if found.is_empty() { Err(self.malformed()) } else { Ok(found) }
    }

    fn name(&mut self) -> SqlResult<String> {
        match self.rest.strip_prefix('"') {
            Some(rest) => {
                self.rest = rest;
                self.quoted('"', false)
            }
            None => Ok(self.until(|c| c.is_whitespace() || c == '=')?.to_owned()),
        }
    }

    fn value(&mut self) -> SqlResult<(String, bool)> {
        let escaped = self.rest.strip_prefix(['E', 'e']).and_then(|rest| rest.strip_prefix('\''));
        if let Some(rest) = escaped {
            self.rest = rest;
            return Ok((self.quoted('\'', true)?, false));
        }
        if let Some(rest) = self.rest.strip_prefix('\'') {
            self.rest = rest;
            return Ok((self.quoted('\'', false)?, false));
        }
        let value = self.until(|c| c.is_whitespace() || c == ',')?.to_owned();
        let number = value.parse::<f64>().is_ok()
            && value.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
        Ok((value, number))
    }

    /// What stands in quotes, of which the first is behind us.
    fn quoted(&mut self, quote: char, escapes: bool) -> SqlResult<String> {
        let (mut out, mut chars) = (String::new(), self.rest.chars());
        while let Some(c) = chars.next() {
            if c == quote {
                match chars.as_str().strip_prefix(quote) {
                    Some(rest) => chars = rest.chars(),
                    None => {
                        self.rest = chars.as_str();
                        return Ok(out);
                    }
                }
            } else if escapes && c == '\\' {
                out.push(chars.next().ok_or_else(|| self.malformed())?);
                continue;
            }
            out.push(c);
        }
        Err(self.malformed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_survive_as_text() {
        let of =
            |name: &str, value: &str, number| Parameter { name: name.into(), value: value.into(), number };
        let all = [of("dictfile", "a'b\\c", false), of("x y", "1", false), of("n", "-1.5", true)];
        let quote = |name: &str| if name.contains(' ') { format!("\"{name}\"") } else { name.to_owned() };
        let text = write(&all, &quote);
        assert_eq!(text, "dictfile = E'a''b\\\\c', \"x y\" = '1', n = -1.5");
        assert_eq!(parse(&text).unwrap(), all);
        assert_eq!(parse("  ").unwrap(), []);
        for bad in ["a", "a =", "a = 'x", "\"a = 'x'", "= 'x'", "a = E'\\"] {
            let error = parse(bad).unwrap_err();
            assert_eq!(error.message(), format!("invalid parameter list format: \"{bad}\""), "{bad}");
        }
    }
}
