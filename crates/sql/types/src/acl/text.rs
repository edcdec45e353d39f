//! The text form of an `aclitem`: `grantee=privileges/grantor`, with a star behind what may be granted on.

use base::{Oid, SqlError, SqlResult, sql_err};

use super::{AclItem, parse_letters};

/// Longest name of a role, in bytes.
const MAX_NAME: usize = 63;

fn wrong(message: impl Into<String>) -> SqlError {
    SqlError::new(base::SqlState::INVALID_TEXT_REPRESENTATION, message)
}

/// A name, quoted or not, with spaces around, and what follows it.
fn name(text: &str) -> SqlResult<(String, &str)> {
    let text = text.trim_start();
    let (mut name, mut quoted) = (String::new(), false);
    let mut chars = text.char_indices().peekable();
    let mut end = text.len();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' if !quoted => quoted = true,
            '"' if chars.next_if(|(_, next)| *next == '"').is_some() => name.push('"'),
            '"' => quoted = false,
            c if quoted || c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii() => name.push(c),
            _ => {
                end = at;
                break;
            }
        }
        if name.len() > MAX_NAME {
            return Err(sql_err!(NAME_TOO_LONG, "identifier too long")
                .detail(format!("Identifier must be less than {} characters.", MAX_NAME + 1)));
        }
    }
    Ok((name, text[end..].trim_start()))
}

/// Reads an item; `role` finds roles by name. `None` as grantor: none was given.
pub fn parse_item(text: &str, role: impl Fn(&str) -> SqlResult<Oid>) -> SqlResult<(AclItem, Option<Oid>)> {
    let (mut grantee, mut rest) = name(text)?;
    if !rest.starts_with('=') {
        if grantee != "group" && grantee != "user" {
            return Err(wrong(format!("unrecognized key word: \"{grantee}\""))
                .hint("ACL key word must be \"group\" or \"user\"."));
        }
        (grantee, rest) = name(rest)?;
        if grantee.is_empty() {
            return Err(wrong("missing name").hint("A name must follow the \"group\" or \"user\" key word."));
        }
    }
    let rest = rest.strip_prefix('=').ok_or_else(|| wrong("missing \"=\" sign"))?;
    let end = rest.find(|c: char| !c.is_ascii_alphabetic() && c != '*').unwrap_or(rest.len());
    let (privileges, grantable) = parse_letters(&rest[..end])?;
    let grantee = if grantee.is_empty() { Oid::INVALID } else { role(&grantee)? };
    let (grantor, rest) = match rest[end..].strip_prefix('/') {
        Some(rest) => {
            let (grantor, rest) = name(rest)?;
            if grantor.is_empty() {
                return Err(wrong("a name must follow the \"/\" sign"));
            }
            (Some(role(&grantor)?), rest)
        }
        None => (None, &rest[end..]),
    };
    if !rest.trim_start().is_empty() {
        return Err(wrong("extra garbage at the end of the ACL specification"));
    }
    let item = AclItem { grantee, grantor: grantor.unwrap_or_default(), privileges, grantable };
    Ok((item, grantor))
}

#[cfg(test)]
mod tests {
    use super::super::bits;
    use super::*;

    fn read(text: &str) -> Result<AclItem, String> {
        let role = |name: &str| match name {
            "a" => Ok(Oid(20)),
            "b\"c" => Ok(Oid(30)),
            _ => Err(wrong(format!("role \"{name}\" does not exist"))),
        };
        parse_item(text, role).map(|(item, _)| item).map_err(|e| e.message().to_owned())
    }

    #[test]
    fn items_are_read() {
        let item = |grantee, grantor, privileges, grantable| {
            Ok(AclItem { grantee: Oid(grantee), grantor: Oid(grantor), privileges, grantable })
        };
        assert_eq!(read("a=r*w/a"), item(20, 20, bits("rw"), bits("r")));
        assert_eq!(read(" user a =/ \"b\"\"c\" "), item(20, 30, 0, 0));
        assert_eq!(read("=X/a"), item(0, 20, bits("X"), 0));
    }

    #[test]
    fn nonsense_is_told_apart() {
        let error = |text: &str| read(text).unwrap_err();
        assert_eq!(error("a"), "unrecognized key word: \"a\"");
        assert_eq!(error("group \"\"=r/a"), "missing name");
        assert_eq!(error("user a r"), "missing \"=\" sign");
        assert_eq!(error("\"\"=r*/\"\""), "a name must follow the \"/\" sign");
        assert_eq!(error("a=r/a x"), "extra garbage at the end of the ACL specification");
        assert_eq!(error("a=q/a"), "invalid mode character: must be one of \"arwdDxtXUCTcsAm\"");
        assert_eq!(error(&format!("{}=r/a", "x".repeat(64))), "identifier too long");
    }
}
