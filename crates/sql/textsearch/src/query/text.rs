//! Text forms of queries: `'fat' & ( 'rat' | !'cat':AB* )`, plain words, and what people type into search fields.

use base::{SqlResult, sql_err};
use runtime::pace::Pace;

use super::{Builder, Item, MAX_DISTANCE, Op, Operand, Query, bad_distance};
use crate::token::{Style, Words, is_operator, is_space};
use crate::vector::{letter_of, quote, weight_of};

/// How a text is read as a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// With operators.
    Operators,
    /// All of it is one text, which [`Morphology`] takes apart.
    Plain,
    /// As search engines have it: quotes, `or`, and `-`. Nothing is an error.
    Web,
}

/// What words of a query's text become.
pub trait Morphology {
    /// Adds the query that stands for a word, or a stop word.
    fn push(&mut self, builder: &mut Builder, word: &str, weights: u8, prefix: bool) -> SqlResult<()>;
}

/// Words as they are.
struct AsTheyAre;

impl Morphology for AsTheyAre {
    fn push(&mut self, builder: &mut Builder, word: &str, weights: u8, prefix: bool) -> SqlResult<()> {
        builder.value(word, weights, prefix)
    }
}

/// The query that a text means; an empty query if the text has no words.
pub fn parse(text: &str) -> SqlResult<Query<'static>> {
    parse_as(text, Syntax::Operators, &mut AsTheyAre)
}

/// The same in any syntax, with stop words in it.
pub fn parse_as(text: &str, syntax: Syntax, words: &mut dyn Morphology) -> SqlResult<Query<'static>> {
    let mut parser = Parser { text, at: 0, open: 0, first: true, operand: true, syntax, done: false };
    let mut builder = Builder::new(text);
    // Operators whose right operand is not read, with marks where parentheses were opened.
    let mut operators: Vec<Option<(Op, u16)>> = Vec::new();
    let mut pace = Pace::new();
    loop {
        let from = parser.at;
        match parser.next(&mut builder)? {
            Token::End => break,
            Token::Value(operand) => {
                words.push(&mut builder, &operand.word, operand.weights, operand.prefix)?
            }
            Token::Operator(op, distance) => {
                flush(&mut operators, &mut builder, op);
                operators.push(Some((op, distance)));
            }
            Token::Open => operators.push(None),
            Token::Close => {
                flush(&mut operators, &mut builder, Op::Or);
                operators.pop();
            }
        }
        pace.did(16 + parser.at.saturating_sub(from))?;
    }
    flush(&mut operators, &mut builder, Op::Or);
    builder.finish()
}

/// Takes the operators off that bind at least as strongly as the one that comes.
fn flush(operators: &mut Vec<Option<(Op, u16)>>, builder: &mut Builder, coming: Op) {
    while let Some(Some((op, distance))) = operators.last() {
        // NOT alone is right associative.
        let stays = match coming {
            Op::Not => coming.priority() >= op.priority(),
            _ => coming.priority() > op.priority(),
        };
        if stays {
            return;
        }
        builder.operator(*op, *distance);
        operators.pop();
    }
}

enum Token {
    Value(Operand<'static>),
    Operator(Op, u16),
    Open,
    Close,
    End,
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    /// Parentheses that are open.
    open: usize,
    /// Whether nothing was read.
    first: bool,
    /// Whether an operand comes next, and not an operator.
    operand: bool,
    syntax: Syntax,
    /// Whether a plain text was read.
    done: bool,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn wrong<T>(&self) -> SqlResult<T> {
        Err(sql_err!(SYNTAX_ERROR, "syntax error in tsquery: \"{}\"", self.text))
    }

    fn next(&mut self, builder: &mut Builder) -> SqlResult<Token> {
        if self.syntax == Syntax::Plain {
            if self.done || self.text.is_empty() {
                return Ok(Token::End);
            }
            self.done = true;
            return Ok(value(self.text));
        }
        while self.peek().is_some_and(is_space) {
            self.at += self.peek().map_or(0, char::len_utf8);
        }
        match (self.syntax, self.operand) {
            (Syntax::Web, true) => self.web_operand(builder),
            (Syntax::Web, false) => Ok(self.web_operator()),
            (_, true) => self.operand(),
            (_, false) => self.operator(),
        }
    }

    /// The next character is an operator in front of an operand.
    fn prefix(&mut self, token: Token) -> SqlResult<Token> {
        self.at += 1;
        self.first = false;
        Ok(token)
    }

    fn operand(&mut self) -> SqlResult<Token> {
        match self.peek() {
            Some('!') => self.prefix(Token::Operator(Op::Not, 0)),
            Some('(') => {
                self.open += 1;
                self.prefix(Token::Open)
            }
            Some(':') => self.wrong(),
            None if self.first => Ok(Token::End),
            None => Err(sql_err!(SYNTAX_ERROR, "no operand in tsquery: \"{}\"", self.text)),
            Some(_) => {
                let mut operand = self.word(Style::Query)?;
                self.modifiers(&mut operand);
                Ok(Token::Value(operand))
            }
        }
    }

    fn word(&mut self, style: Style) -> SqlResult<Operand<'static>> {
        let mut words = Words::new(self.text, style);
        words.at = self.at;
        let mut word = String::new();
        words.next(&mut word, &mut Vec::new())?;
        (self.at, self.first, self.operand) = (words.at, false, false);
        Ok(Operand { word: word.into(), weights: 0, prefix: false })
    }

    /// `:*AB` behind a word.
    fn modifiers(&mut self, operand: &mut Operand) {
        if self.peek() != Some(':') {
            return;
        }
        self.at += 1;
        while let Some(c) = self.peek() {
            match u8::try_from(c).ok().and_then(weight_of) {
                Some(weight) => operand.weights |= 1 << weight,
                None if c == '*' => operand.prefix = true,
                None => return,
            }
            self.at += 1;
        }
    }

    fn operator(&mut self) -> SqlResult<Token> {
        let token = match self.peek() {
            Some('&') => Token::Operator(Op::And, 0),
            Some('|') => Token::Operator(Op::Or, 0),
            Some(')') if self.open > 0 => {
                self.open -= 1;
                self.at += 1;
                return Ok(Token::Close);
            }
            None if self.open == 0 => return Ok(Token::End),
            Some('<') => match self.phrase()? {
                Some((distance, length)) => {
                    self.at += length - 1;
                    Token::Operator(Op::Phrase, distance)
                }
                None => return self.wrong(),
            },
            _ => return self.wrong(),
        };
        self.operand = true;
        self.prefix(token)
    }

    /// `<->` or `<2>`: distance and length.
    fn phrase(&self) -> SqlResult<Option<(u16, usize)>> {
        let inside = &self.rest()[1..];
        let digits = inside.bytes().take_while(u8::is_ascii_digit).count();
        let (distance, length) = match digits {
            0 if inside.starts_with('-') => (1, 1),
            0 => return Ok(None),
            _ => {
                let number = inside[..digits].parse().ok().filter(|n| *n <= MAX_DISTANCE);
                (number.ok_or_else(bad_distance)?, digits)
            }
        };
        Ok(inside[length..].starts_with('>').then_some((distance, length + 2)))
    }

    fn web_operand(&mut self, builder: &mut Builder) -> SqlResult<Token> {
        loop {
            match self.peek() {
                Some('-') => return self.prefix(Token::Operator(Op::Not, 0)),
                Some('"') => {
                    let inside = &self.rest()[1..];
                    let length = inside.find('"').unwrap_or(inside.len());
                    let token = value(&inside[..length]);
                    self.at = self.text.len().min(self.at + length + 2);
                    (self.first, self.operand) = (false, false);
                    return Ok(token);
                }
                Some(c) if is_operator(c) => {
                    self.at += 1;
                    self.first = false;
                }
                Some(c) if is_space(c) => self.at += c.len_utf8(),
                Some(_) => return Ok(Token::Value(self.word(Style::Web)?)),
                None => {
                    if !self.first {
                        builder.stop();
                    }
                    return Ok(Token::End);
                }
            }
        }
    }

    fn web_operator(&mut self) -> Token {
        if self.peek().is_none() {
            return Token::End;
        }
        self.operand = true;
        if self.is_or() {
            self.at += 2;
            return Token::Operator(Op::Or, 0);
        }
        Token::Operator(Op::And, 0)
    }

    /// Whether `or` stands here, as a word with something behind it.
    fn is_or(&self) -> bool {
        let rest = self.rest();
        let Some((word, behind)) = rest.split_at_checked(2) else { return false };
        let continued = |c: char| c == '-' || c == '_' || c.is_alphanumeric();
        word.eq_ignore_ascii_case("or")
            && !behind.starts_with(continued)
            && behind.chars().skip(1).any(|c| !is_space(c))
    }
}

fn value(text: &str) -> Token {
    Token::Value(Operand { word: text.to_owned().into(), weights: 0, prefix: false })
}

/// Appends the text form.
pub fn write(query: &Query, out: &mut Vec<u8>) -> SqlResult<()> {
    if query.is_empty() {
        return Ok(());
    }
    write_from(query, 0, 0, false, out, &mut Pace::new())
}

/// Appends the tree at `at`, in parentheses if the operator around it binds stronger. `behind`: it is the right operand of a phrase.
fn write_from(
    query: &Query,
    at: usize,
    around: u8,
    behind: bool,
    out: &mut Vec<u8>,
    pace: &mut Pace,
) -> SqlResult<()> {
    runtime::check_stack()?;
    pace.did(64)?;
    let Some((op, distance, left, right)) = query.operator(at) else {
        if let Some(Item::Value(operand)) = query.items.get(at) {
            write_operand(operand, out);
        }
        return Ok(());
    };
    let priority = op.priority();
    let parentheses = priority < around || op == Op::Phrase && behind;
    if parentheses {
        out.extend_from_slice(b"( ");
    }
    if op == Op::Not {
        out.push(b'!');
    } else {
        write_from(query, left, priority, false, out, pace)?;
        match op {
            Op::Or => out.extend_from_slice(b" | "),
            Op::And => out.extend_from_slice(b" & "),
            _ if distance == 1 => out.extend_from_slice(b" <-> "),
            _ => out.extend_from_slice(format!(" <{distance}> ").as_bytes()),
        }
    }
    write_from(query, right, priority, op == Op::Phrase, out, pace)?;
    if parentheses {
        out.extend_from_slice(b" )");
    }
    Ok(())
}

fn write_operand(operand: &Operand, out: &mut Vec<u8>) {
    quote(operand.word.as_bytes(), out);
    if operand.prefix || operand.weights != 0 {
        out.push(b':');
    }
    if operand.prefix {
        out.push(b'*');
    }
    for weight in (0..4).rev().filter(|weight| operand.weights & 1 << weight != 0) {
        out.push(letter_of(weight) as u8);
    }
}
