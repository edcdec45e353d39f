//! A numeric template taken apart, with what may not stand together in one refused.

use base::{SqlError, SqlResult, sql_err};

/// What a piece of a template stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Nine,
    Zero,
    Point,
    Group,
    Sign,
    Minus,
    Plus,
    PlusMinus,
    Currency,
    Ordinal(bool),
    Roman,
    Literal(String),
}

/// A numeric template.
#[derive(Default)]
pub(super) struct Template {
    pub tokens: Vec<Token>,
    pub fill: bool,
    pub brackets: bool,
    /// `MI` or `SG`.
    pub minus: bool,
    /// `PL` or `SG`.
    pub plus: bool,
    /// `B` before all digits.
    blank: bool,
    pub roman: Option<bool>,
    pub exponent: bool,
    /// Digits that `V` shifts by.
    pub shift: usize,
    pub has_shift: bool,
    pub before: usize,
    /// There is a decimal point.
    pub has_point: bool,
    /// There is a `0`.
    has_zero: bool,
    /// Where the first `0` stands, not counting what `V` shifts by.
    pub first_zero: Option<usize>,
    pub after: usize,
    /// Whether `S` stands before a digit that is before the point.
    pub leading_sign: Option<bool>,
}

/// The keywords, in capital letters; they may be written in small ones too, but not mixed.
const KEYWORDS: [&str; 20] = [
    "EEEE", "FM", "MI", "PL", "PR", "RN", "SG", "SP", "TH", "B", "C", "D", "G", "L", "S", "V", ".", ",", "0",
    "9",
];

/// Whether a keyword is next in a text.
fn is_next(keyword: &str, text: &str) -> bool {
    let small = |(letter, given): (u8, &u8)| letter.to_ascii_lowercase() == *given;
    text.starts_with(keyword)
        || text.len() >= keyword.len() && keyword.bytes().zip(text.as_bytes()).all(small)
}

impl Template {
    /// Takes a text apart.
    pub fn parse(text: &str) -> SqlResult<Template> {
        let mut out = Template::default();
        let mut digits_before_sign = None;
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let keyword = KEYWORDS.iter().find(|keyword| is_next(keyword, rest));
            let taken = match (keyword, c) {
                (Some(keyword), _) => {
                    if *keyword == "S" && !out.has_point {
                        digits_before_sign = Some(out.before - out.shift);
                    }
                    out.keyword(keyword, c)?;
                    keyword.len()
                }
                (None, '"') => out.quoted(rest),
                (None, '\\') if rest[1..].starts_with('"') => {
                    out.tokens.push(Token::Literal("\"".to_owned()));
                    2
                }
                (None, c) => {
                    out.tokens.push(Token::Literal(c.to_string()));
                    c.len_utf8()
                }
            };
            rest = &rest[taken..];
        }
        if out.leading_sign.is_some() {
            out.leading_sign = Some(digits_before_sign.is_some_and(|digits| digits < out.before));
        }
        Ok(out)
    }

    /// Text in quotes at the start of `rest`, in which a backslash takes the next character as it is; how long that is.
    fn quoted(&mut self, rest: &str) -> usize {
        let mut literal = String::new();
        let mut chars = rest.char_indices().skip(1);
        let mut end = rest.len();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    end = at + 1;
                    break;
                }
                '\\' => literal.extend(chars.next().map(|(_, c)| c)),
                c => literal.push(c),
            }
        }
        self.tokens.push(Token::Literal(literal));
        end
    }

    fn keyword(&mut self, keyword: &str, first: char) -> SqlResult<()> {
        if self.exponent && keyword != "EEEE" {
            return Err(bad("\"EEEE\" must be the last pattern used"));
        }
        let token = match keyword {
            "9" | "0" => return self.digit(keyword),
            "." | "D" => {
                self.point()?;
                self.has_point = true;
                Token::Point
            }
            "," | "G" => Token::Group,
            "L" => Token::Currency,
            "TH" => Token::Ordinal(first == 'T'),
            "S" | "MI" | "PL" | "SG" => self.sign(keyword)?,
            "PR" => {
                if self.leading_sign.is_some() || self.plus || self.minus {
                    return Err(bad("cannot use \"PR\" and \"S\"/\"PL\"/\"MI\"/\"SG\" together"));
                }
                self.brackets = true;
                return self.beside_roman();
            }
            "RN" => {
                if self.roman.is_some() {
                    return Err(bad("cannot use \"RN\" twice"));
                }
                self.roman = Some(first == 'R');
                Token::Roman
            }
            "V" => {
                if self.has_point {
                    return Err(bad("cannot use \"V\" and decimal point together"));
                }
                self.has_shift = true;
                return self.beside_roman();
            }
            "EEEE" => return self.scientific(),
            "FM" => {
                self.fill = true;
                return Ok(());
            }
            // Blanks for zeros are accepted, and of no effect; so are `C` and `SP`.
            "B" => {
                self.blank |= self.before + self.after == 0;
                return self.beside_roman();
            }
            _ => return Ok(()),
        };
        self.tokens.push(token);
        self.beside_roman()
    }

    fn digit(&mut self, keyword: &str) -> SqlResult<()> {
        if self.brackets {
            return Err(bad(&format!("\"{keyword}\" must be ahead of \"PR\"")));
        }
        if keyword == "9" && self.has_shift {
            self.shift += 1;
        } else if keyword == "0" && !self.has_point {
            self.first_zero.get_or_insert(self.before - self.shift);
        }
        *if self.has_point { &mut self.after } else { &mut self.before } += 1;
        self.has_zero |= keyword == "0";
        self.tokens.push(if keyword == "9" { Token::Nine } else { Token::Zero });
        self.beside_roman()
    }

    fn point(&self) -> SqlResult<()> {
        if self.has_point {
            return Err(bad("multiple decimal points"));
        }
        if self.has_shift {
            return Err(bad("cannot use \"V\" and decimal point together"));
        }
        Ok(())
    }

    fn sign(&mut self, keyword: &str) -> SqlResult<Token> {
        if keyword == "S" {
            if self.leading_sign.is_some() {
                return Err(bad("cannot use \"S\" twice"));
            }
            if self.plus || self.minus || self.brackets {
                return Err(bad("cannot use \"S\" and \"PL\"/\"MI\"/\"SG\"/\"PR\" together"));
            }
            self.leading_sign = Some(false);
            return Ok(Token::Sign);
        }
        if self.leading_sign.is_some() {
            return Err(bad(&format!("cannot use \"S\" and \"{keyword}\" together")));
        }
        self.minus |= keyword != "PL";
        self.plus |= keyword != "MI";
        Ok(match keyword {
            "MI" => Token::Minus,
            "PL" => Token::Plus,
            _ => Token::PlusMinus,
        })
    }

    fn scientific(&mut self) -> SqlResult<()> {
        if self.exponent {
            return Err(bad("cannot use \"EEEE\" twice"));
        }
        let signs = self.leading_sign.is_some() || self.brackets || self.minus || self.plus;
        if self.blank || self.fill || signs || self.roman.is_some() || self.has_shift {
            return Err(bad("\"EEEE\" is incompatible with other formats")
                .detail("\"EEEE\" may only be used together with digit and decimal point patterns."));
        }
        self.exponent = true;
        Ok(())
    }

    /// Refuses what goes with no Roman number.
    fn beside_roman(&self) -> SqlResult<()> {
        let signs = self.leading_sign.is_some() || self.brackets || self.minus || self.plus;
        let other = self.has_point || self.has_zero || self.blank || signs || self.has_shift;
        if self.roman.is_some() && other {
            return Err(bad("\"RN\" is incompatible with other formats")
                .detail("\"RN\" may only be used together with \"FM\"."));
        }
        Ok(())
    }
}

fn bad(message: &str) -> SqlError {
    sql_err!(SYNTAX_ERROR, "{message}")
}
