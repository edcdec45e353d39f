//! Which standbys commits wait for (`synchronous_standby_names`), and how far those are.
//!
//! PostgreSQL counterpart · `syncrep.c`, `syncrep_gram.y`, `syncrep_scanner.l`.

use base::Lsn;

/// How standbys are chosen among those that are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The first of the list that are there.
    First,
    /// Any of them, whichever are the fastest.
    Any,
}

/// Standbys by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    method: Method,
    /// So many are waited for.
    count: usize,
    names: Vec<String>,
}

/// What is wrong with a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// It is none, for this reason.
    Syntax(String),
    /// It asks for so many, which are too few.
    Count(i32),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Name(String),
    Number(String),
    Any,
    First,
    Sign(char),
}

impl Token {
    /// As it stood in the text, for errors.
    fn shown(&self) -> String {
        match self {
            Token::Name(text) | Token::Number(text) => text.clone(),
            Token::Any => "ANY".into(),
            Token::First => "FIRST".into(),
            Token::Sign(sign) => sign.to_string(),
        }
    }
}

fn tokens(text: &str) -> Result<Vec<Token>, Flaw> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let take = |is: &dyn Fn(char) -> bool| rest.find(|c: char| !is(c)).unwrap_or(rest.len());
        let starts_name = |c: char| c.is_ascii_alphabetic() || c == '_' || !c.is_ascii();
        let end = match first {
            '"' => {
                let (name, end) = quoted(rest)?;
                tokens.push(Token::Name(name));
                end
            }
            c if c.is_ascii_digit() => {
                let end = take(&|c| c.is_ascii_digit());
                tokens.push(Token::Number(rest[..end].into()));
                end
            }
            c if starts_name(c) => {
                let end = take(&|c| starts_name(c) || c.is_ascii_digit() || c == '$');
                tokens.push(match &rest[..end] {
                    word if word.eq_ignore_ascii_case("any") => Token::Any,
                    word if word.eq_ignore_ascii_case("first") => Token::First,
                    word => Token::Name(word.into()),
                });
                end
            }
            '*' => {
                tokens.push(Token::Name("*".into()));
                1
            }
            other => {
                tokens.push(Token::Sign(other));
                other.len_utf8()
            }
        };
        rest = rest[end..].trim_start();
    }
    Ok(tokens)
}

/// The name in quotes at the front, and where it ends.
fn quoted(text: &str) -> Result<(String, usize), Flaw> {
    let (mut name, mut at) = (String::new(), 1);
    loop {
        let Some(end) = text[at..].find('"') else {
            return Err(Flaw::Syntax("unterminated quoted identifier at end of input".into()));
        };
        name.push_str(&text[at..at + end]);
        at += end + 1;
        if !text[at..].starts_with('"') {
            return Ok((name, at));
        }
        name.push('"');
        at += 1;
    }
}

impl Names {
    /// Reads a list; none if it is empty.
    pub fn parse(text: &str) -> Result<Option<Names>, Flaw> {
        let tokens = tokens(text)?;
        let unexpected = |at: usize| {
            Flaw::Syntax(match tokens.get(at) {
                Some(token) => format!("syntax error at or near \"{}\"", token.shown()),
                None => "syntax error at end of input".into(),
            })
        };
        let (method, count, list) = match tokens.as_slice() {
            [] => return Ok(None),
            [Token::First, Token::Number(count), Token::Sign('('), ..] => (Method::First, count.as_str(), 3),
            [Token::Any, Token::Number(count), Token::Sign('('), ..] => (Method::Any, count.as_str(), 3),
            [Token::First | Token::Any, Token::Number(_), ..] => return Err(unexpected(2)),
            [Token::First | Token::Any, ..] => return Err(unexpected(1)),
            [Token::Number(count), Token::Sign('('), ..] => (Method::First, count.as_str(), 2),
            _ => (Method::First, "1", 0),
        };
        let mut names = Vec::new();
        let mut at = list;
        loop {
            match tokens.get(at) {
                Some(Token::Name(name) | Token::Number(name)) => names.push(name.clone()),
                _ => return Err(unexpected(at)),
            }
            at += 1;
            match tokens.get(at) {
                Some(Token::Sign(',')) => at += 1,
                Some(Token::Sign(')')) if list > 0 && at + 1 == tokens.len() => break,
                None if list == 0 => break,
                Some(Token::Sign(')')) if list > 0 => return Err(unexpected(at + 1)),
                _ => return Err(unexpected(at)),
            }
        }
        match count.parse::<i32>() {
            Ok(count @ 1..) => Ok(Some(Names { method, count: count as usize, names })),
            Ok(count) => Err(Flaw::Count(count)),
            Err(_) => Err(Flaw::Syntax(format!("syntax error at or near \"{count}\""))),
        }
    }

    /// How they are chosen.
    pub fn method(&self) -> Method {
        self.method
    }

    /// The place of a standby in the list, from 1 on; 0: it is not in it.
    pub fn priority(&self, application: &str) -> i32 {
        let fits = |name: &String| name == "*" || name.eq_ignore_ascii_case(application);
        let Some(at) = self.names.iter().position(fits) else { return 0 };
        match self.method {
            Method::First => at as i32 + 1,
            Method::Any => 1,
        }
    }

    /// Those of the candidates that count, by number.
    pub fn chosen(&self, candidates: &[Candidate]) -> Vec<usize> {
        let mut all: Vec<usize> = (0..candidates.len()).collect();
        if self.method == Method::First {
            all.sort_by_key(|at| candidates[*at].priority);
            all.truncate(self.count);
        }
        all
    }

    /// How far as many as are wanted have come: with their writes, flushes and replay; none if too few are there.
    pub fn reached(&self, candidates: &[Candidate]) -> Option<[Lsn; 3]> {
        let chosen = self.chosen(candidates);
        if chosen.len() < self.count {
            return None;
        }
        Some([0, 1, 2].map(|at| {
            let mut positions: Vec<Lsn> = chosen.iter().map(|n| candidates[*n].reported[at]).collect();
            positions.sort_unstable_by(|a, b| b.cmp(a));
            positions[self.count - 1]
        }))
    }
}

/// A standby that is named and there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// [`Names::priority`], not 0.
    pub priority: i32,
    /// What it has written, made durable and applied.
    pub reported: [Lsn; 3],
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> String {
        match Names::parse(text) {
            Ok(None) => "none".into(),
            Ok(Some(Names { method, count, names })) => format!("{method:?} {count} {}", names.join("|")),
            Err(Flaw::Syntax(why)) => why,
            Err(Flaw::Count(count)) => format!("count {count}"),
        }
    }

    #[test]
    fn lists_of_standbys() {
        assert_eq!(parsed(" "), "none");
        assert_eq!(parsed("s1, s2"), "First 1 s1|s2");
        assert_eq!(parsed("*"), "First 1 *");
        assert_eq!(parsed("2 (s1, \"Two \"\"2\"\"\", 3)"), "First 2 s1|Two \"2\"|3");
        assert_eq!(parsed("first 2(a,b,c)"), "First 2 a|b|c");
        assert_eq!(parsed("ANY 1 (*)"), "Any 1 *");
        assert_eq!(parsed("\"any\""), "First 1 any");
        assert_eq!(parsed("5"), "First 1 5");
    }

    #[test]
    fn what_is_wrong_is_told() {
        assert_eq!(parsed("s1 s2"), "syntax error at or near \"s2\"");
        assert_eq!(parsed("ANY (a)"), "syntax error at or near \"(\"");
        assert_eq!(parsed("ANY 1"), "syntax error at end of input");
        assert_eq!(parsed("2 (a, b"), "syntax error at end of input");
        assert_eq!(parsed("2 (a) b"), "syntax error at or near \"b\"");
        assert_eq!(parsed("a,"), "syntax error at end of input");
        assert_eq!(parsed("a;b"), "syntax error at or near \";\"");
        assert_eq!(parsed("\"a"), "unterminated quoted identifier at end of input");
        assert_eq!(parsed("0 (a)"), "count 0");
        for text in ["(", ")", "\"", "\"\"\"", "any any", "1 1", "ä", "a,,b", "99999999999 (a)"] {
            let _ = parsed(text);
        }
    }

    fn candidate(priority: i32, position: u64) -> Candidate {
        Candidate { priority, reported: [position + 2, position + 1, position].map(Lsn) }
    }

    #[test]
    fn the_first_are_waited_for_or_the_fastest() {
        let all = [candidate(3, 30), candidate(1, 10), candidate(2, 20)];
        let names = |text: &str| Names::parse(text).unwrap().unwrap();
        let first = names("2 (a, b, c)");
        assert_eq!((first.priority("B"), first.priority("x"), first.chosen(&all)), (2, 0, vec![1, 2]));
        assert_eq!(first.reached(&all), Some([Lsn(12), Lsn(11), Lsn(10)]));
        let any = names("ANY 2 (a, b, c)");
        assert_eq!((any.priority("C"), any.chosen(&all).len()), (1, 3));
        assert_eq!(any.reached(&all), Some([Lsn(22), Lsn(21), Lsn(20)]));
        assert_eq!(first.reached(&all[..1]), None);
    }
}
