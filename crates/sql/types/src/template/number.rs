//! `to_char` and `to_number` with numeric templates.

use base::{SqlError, SqlResult, sql_err};

use crate::numeric::Numeric;

use super::{ordinal_suffix, roman};

functions! {
    1773 to_char(int4, text) -> text [stable strict] { |a: i32, template: &str| to_char(Numeric::from_i64(a.into()), template) }
    1774 to_char(int8, text) -> text [stable strict] { |a: i64, template: &str| to_char(Numeric::from_i64(a), template) }
    1772 to_char(numeric, text) -> text [stable strict] { |a: Numeric, template: &str| to_char(a, template) }
    1775 to_char(float4, text) -> text [stable strict] { |a: f32, template: &str| float_to_char(a.into(), 6, template) }
    1776 to_char(float8, text) -> text [stable strict] { |a: f64, template: &str| float_to_char(a, 15, template) }
    1777 to_number(text, text) -> numeric [stable strict] { |text: &str, template: &str| to_number(text, template) }
}

/// What a piece of a template stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
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
    Literal(String),
}

#[derive(Default)]
struct Template {
    tokens: Vec<Token>,
    fill: bool,
    brackets: bool,
    roman: Option<bool>,
    exponent: bool,
    /// Digits that `V` shifts by.
    shift: usize,
    has_shift: bool,
    before: usize,
    after: usize,
    /// Whether `S` stands before the digits.
    leading_sign: Option<bool>,
}

impl Template {
    fn has_point(&self) -> bool {
        self.tokens.contains(&Token::Point)
    }
}

fn bad(message: &str) -> SqlError {
    sql_err!(SYNTAX_ERROR, "{message}")
}

fn parse(text: &str) -> SqlResult<Template> {
    let mut out = Template::default();
    let mut rest = text;
    let mut point = false;
    while let Some(c) = rest.chars().next() {
        let upper = rest.get(..4.min(rest.len())).unwrap_or("").to_ascii_uppercase();
        let mut take = c.len_utf8();
        let token = match upper.as_bytes() {
            [b'E', b'E', b'E', b'E'] => {
                (out.exponent, take) = (true, 4);
                None
            }
            [b'F', b'M', ..] => {
                (out.fill, take) = (true, 2);
                None
            }
            [b'P', b'R', ..] => {
                if out.before == 0 && out.after == 0 {
                    return Err(bad("\"9\" must be ahead of \"PR\""));
                }
                (out.brackets, take) = (true, 2);
                None
            }
            [b'R', b'N', ..] => {
                (out.roman, take) = (Some(c == 'R'), 2);
                None
            }
            [b'M', b'I', ..] => {
                take = 2;
                Some(Token::Minus)
            }
            [b'P', b'L', ..] => {
                take = 2;
                Some(Token::Plus)
            }
            [b'S', b'G', ..] => {
                take = 2;
                Some(Token::PlusMinus)
            }
            [b'T', b'H', ..] => {
                take = 2;
                Some(Token::Ordinal(c == 'T'))
            }
            [b'S', ..] => {
                if out.leading_sign.is_some() {
                    return Err(bad("cannot use \"S\" twice"));
                }
                out.leading_sign = Some(out.before == 0);
                Some(Token::Sign)
            }
            [b'V', ..] => {
                out.has_shift = true;
                None
            }
            // Blanks for zeros: accepted, and of no effect.
            [b'B', ..] => None,
            [b'L', ..] => Some(Token::Currency),
            [b'D' | b'.', ..] => {
                if point {
                    return Err(bad("multiple decimal points"));
                }
                point = true;
                Some(Token::Point)
            }
            [b'G' | b',', ..] => Some(Token::Group),
            [digit @ (b'9' | b'0'), ..] => {
                if out.has_shift {
                    out.shift += 1;
                } else if point {
                    out.after += 1;
                }
                if !point {
                    out.before += 1;
                }
                Some(if *digit == b'9' { Token::Nine } else { Token::Zero })
            }
            [b'"', ..] => {
                let end = rest[1..].find('"').map_or(rest.len(), |i| i + 2);
                take = end;
                Some(Token::Literal(rest[1..end].trim_end_matches('"').to_owned()))
            }
            _ => Some(Token::Literal(c.to_string())),
        };
        out.tokens.extend(token);
        rest = &rest[take..];
    }
    Ok(out)
}

fn to_char(value: Numeric, template: &str) -> SqlResult<String> {
    let template = parse(template)?;
    if let Some(upper) = template.roman {
        return Ok(roman_text(&value, upper, template.fill));
    }
    if template.exponent {
        return Ok(exponent_text(&value, &template));
    }
    let scaled = if template.shift > 0 {
        value.mul(&Numeric::parse(&format!("1e{}", template.shift))?)
    } else {
        value
    };
    let after = if template.has_shift { 0 } else { template.after };
    let rounded = scaled.round(after as i32);
    Ok(lay_out(&template, &rounded.clone().abs().to_string(), rounded.signum() < 0, after))
}

/// The same for a number of so many decimal digits: it is rounded as it is written, to even, and digits that it does not have are
/// not shown.
fn float_to_char(value: f64, digits: usize, template: &str) -> SqlResult<String> {
    let template = parse(template)?;
    if let Some(upper) = template.roman {
        let rounded = Numeric::from_float(value.round_ties_even(), digits)?;
        return Ok(roman_text(&rounded, upper, template.fill));
    }
    if template.exponent {
        return Ok(exponent_text(&Numeric::from_float(value, digits)?, &template));
    }
    let scaled = (value * 10f64.powi(template.shift as i32)).abs();
    let whole = format!("{scaled:.0}").len();
    let wanted = if template.has_shift { 0 } else { template.after };
    let after = wanted.min(digits.saturating_sub(whole));
    let text = match () {
        () if scaled.is_nan() => "NaN".to_owned(),
        () if scaled.is_infinite() => "Infinity".to_owned(),
        () => format!("{scaled:.after$}"),
    };
    Ok(lay_out(&template, &text, value.is_sign_negative() && !value.is_nan(), after))
}

/// A number without sign, with `after` digits behind the point, in the template.
fn lay_out(template: &Template, text: &str, negative: bool, after: usize) -> String {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let zero = text.bytes().all(|b| matches!(b, b'0' | b'.'));
    // A zero before the point is shown only where nothing else would be.
    let bare = template.fill && zero && significant_part(template, part) == 0;
    let whole = if whole == "0" && template.before > 0 && after > 0 && !bare { "" } else { whole };
    let special = !text.starts_with(|c: char| c.is_ascii_digit());
    let (whole, part) = if text == "NaN" && template.before >= 3 {
        ("NaN".to_owned(), String::new())
    } else if special || whole.len() > template.before {
        ("#".repeat(template.before), "#".repeat(after))
    } else {
        (whole.to_owned(), part.to_owned())
    };
    fill_template(template, &whole, &part, negative, text)
}

/// Lays digits into the template.
fn fill_template(template: &Template, whole: &str, part: &str, negative: bool, number: &str) -> String {
    let explicit = template.tokens.iter().any(|t| matches!(t, Token::Sign | Token::Minus | Token::PlusMinus));
    let blank = |out: &mut String| {
        if !template.fill {
            out.push(' ');
        }
    };
    // Trailing zeros that FM drops: those under a 9.
    let last_shown = if template.fill { significant_part(template, part) } else { part.len() };
    let missing = template.before - whole.len().min(template.before);
    let first_zero = digit_tokens(template).take(template.before).position(|z| z).unwrap_or(usize::MAX);
    let start = missing.min(first_zero);
    let sign_text = if template.brackets {
        if negative { "<" } else { " " }
    } else if explicit {
        ""
    } else if negative {
        "-"
    } else {
        " "
    };
    let leading_s = template.leading_sign == Some(true);
    let mut out = String::new();
    let (mut digit, mut behind, mut in_part, mut signed) = (0, 0, false, false);
    let put_sign = |out: &mut String, signed: &mut bool| {
        if *signed {
            return;
        }
        *signed = true;
        if leading_s {
            out.push(if negative { '-' } else { '+' });
        } else if !(template.fill && sign_text == " ") {
            out.push_str(sign_text);
        }
    };
    if template.before == 0 {
        put_sign(&mut out, &mut signed);
    }
    for token in &template.tokens {
        match token {
            Token::Nine | Token::Zero if !in_part => {
                if digit >= start && !signed {
                    put_sign(&mut out, &mut signed);
                }
                if digit < start {
                    blank(&mut out);
                } else if digit < missing {
                    out.push('0');
                } else {
                    out.push(whole.as_bytes()[digit - missing] as char);
                }
                digit += 1;
                if digit == template.before && !signed {
                    put_sign(&mut out, &mut signed);
                }
            }
            Token::Nine | Token::Zero if whole == "NaN" => {}
            Token::Nine | Token::Zero => {
                if behind < last_shown {
                    out.push(part.as_bytes().get(behind).map_or('0', |b| *b as char));
                }
                behind += 1;
            }
            Token::Point => {
                in_part = true;
                if whole != "NaN" {
                    out.push('.');
                }
            }
            Token::Group => {
                if digit > start {
                    out.push(',');
                } else {
                    blank(&mut out);
                }
            }
            Token::Sign if leading_s => {}
            Token::Sign => out.push(if negative { '-' } else { '+' }),
            Token::Minus if negative => out.push('-'),
            Token::Plus if !negative => out.push('+'),
            Token::Minus | Token::Plus => blank(&mut out),
            Token::PlusMinus => out.push(if negative { '-' } else { '+' }),
            Token::Currency => blank(&mut out),
            Token::Ordinal(upper) if !negative && template.after == 0 && !whole.starts_with('#') => {
                out.push_str(ordinal_suffix(number, *upper))
            }
            Token::Ordinal(_) => {}
            Token::Literal(text) => out.push_str(text),
        }
    }
    if template.brackets {
        if negative {
            out.push('>');
        } else if !template.fill {
            out.push(' ');
        }
    }
    out
}

/// Whether each digit position is a `0`.
fn digit_tokens(template: &Template) -> impl Iterator<Item = bool> {
    template.tokens.iter().filter_map(|t| match t {
        Token::Nine => Some(false),
        Token::Zero => Some(true),
        _ => None,
    })
}

/// Digits behind the point that stay under FM.
fn significant_part(template: &Template, part: &str) -> usize {
    let kept = part.trim_end_matches('0').len();
    let forced = digit_tokens(template).skip(template.before).collect::<Vec<_>>();
    let last_zero = forced.iter().rposition(|z| *z).map_or(0, |i| i + 1);
    kept.max(last_zero)
}

fn roman_text(value: &Numeric, upper: bool, fill: bool) -> String {
    let number = value.to_i128().filter(|n| (1..4000).contains(n));
    let text = number.map_or_else(|| "#".repeat(15), |n| roman(n as i64));
    let text = if upper { text } else { text.to_lowercase() };
    if fill { text } else { format!("{text:>15}") }
}

fn exponent_text(value: &Numeric, template: &Template) -> String {
    if !value.is_finite() {
        let after =
            if template.after > 0 { format!(".{}", "#".repeat(template.after)) } else { String::new() };
        return format!(" {}{after}####", "#".repeat(template.before.max(1)));
    }
    let digits: String = value.clone().abs().to_string();
    let point = digits.find('.').unwrap_or(digits.len()) as i32;
    let plain: String = digits.chars().filter(char::is_ascii_digit).collect();
    let lead = plain.bytes().take_while(|b| *b == b'0').count() as i32;
    let mut exponent = if value.is_zero() { 0 } else { point - 1 - lead };
    let mantissa = |exponent: i32| {
        let unit = Numeric::parse(&format!("1e{}", -exponent)).unwrap_or_else(|_| Numeric::zero());
        value.clone().abs().mul(&unit).round(template.after as i32)
    };
    let mut shown = mantissa(exponent);
    if shown.compare(&Numeric::from_i64(10)).is_ge() {
        exponent += 1;
        shown = mantissa(exponent);
    }
    let sign = if value.signum() < 0 { "-" } else { " " };
    let sign = if template.fill && sign == " " { "" } else { sign };
    format!("{sign}{shown}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

/// Most letters of a Roman number.
const ROMAN_LENGTH: usize = 15;

/// Reads a number as the template leads to expect it.
fn to_number(text: &str, template: &str) -> SqlResult<Numeric> {
    let template = parse(template)?;
    if template.exponent {
        return Err(sql_err!(FEATURE_NOT_SUPPORTED, "\"EEEE\" not supported for input"));
    }
    if template.roman.is_some() {
        return roman_number(text);
    }
    let mut reader = Reader {
        text,
        template: &template,
        negative: None,
        digits: String::new(),
        before: 0,
        after: 0,
        point: false,
    };
    reader.read();
    let sign = match reader.negative {
        None => ' ',
        Some(true) => '-',
        Some(false) => '+',
    };
    let value = Numeric::parse(&format!("{sign}{}", reader.digits.trim_end_matches('.')))?;
    // What does not fit the template's digits is refused as a column would refuse it.
    let value = value.apply_typmod((((template.before + reader.after) << 16 | reader.after) + 4) as i32)?;
    if template.shift > 0 {
        let power = Numeric::from_i64(10).power(&Numeric::from_i64(-(template.shift as i64)))?;
        return Ok(value.mul(&power));
    }
    Ok(value)
}

/// The number that Roman digits mean.
fn roman_number(text: &str) -> SqlResult<Numeric> {
    if text.is_empty() {
        // As other templates take it: a sign and no digits.
        return Numeric::parse(" ");
    }
    let text = text.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '\x0b');
    let value = |c: u8| match c.to_ascii_uppercase() {
        b'I' => 1,
        b'V' => 5,
        b'X' => 10,
        b'L' => 50,
        b'C' => 100,
        b'D' => 500,
        b'M' => 1000,
        _ => 0,
    };
    let values: Vec<i64> = text.bytes().map(value).take_while(|v| *v > 0).take(ROMAN_LENGTH).collect();
    let before_larger = |i: usize| values.get(i + 1).is_some_and(|next| *next > values[i]);
    let sum: i64 = (0..values.len()).map(|i| if before_larger(i) { -values[i] } else { values[i] }).sum();
    // Every number has one right form.
    if (1..4000).contains(&sum) && roman(sum).eq_ignore_ascii_case(&text[..values.len()]) {
        return Ok(Numeric::from_i64(sum));
    }
    Err(sql_err!(INVALID_TEXT_REPRESENTATION, "invalid Roman numeral"))
}

/// Takes a text apart, one piece of the template after the other.
struct Reader<'t> {
    /// What is still to be read.
    text: &'t str,
    template: &'t Template,
    negative: Option<bool>,
    digits: String,
    before: usize,
    after: usize,
    point: bool,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.text.chars().next()
    }

    fn skip(&mut self) {
        let length = self.peek().map_or(0, char::len_utf8);
        self.text = &self.text[length..];
    }

    /// Passes over so many characters that can be no part of a number.
    fn skip_foreign(&mut self, count: usize) {
        for _ in 0..count {
            if self.peek().is_some_and(|c| !c.is_ascii_digit() && !matches!(c, '.' | ',' | '+' | '-')) {
                self.skip();
            }
        }
    }

    /// Reads a sign, if one of `signs` is next.
    fn sign(&mut self, signs: &[char]) -> bool {
        let found = self.peek().filter(|c| signs.contains(c));
        if let Some(sign) = found {
            self.negative = Some(sign != '+');
        }
        found.is_some()
    }

    fn read(&mut self) {
        let template = self.template;
        for token in &template.tokens {
            if self.text.is_empty() {
                return;
            }
            let taken = match token {
                Token::Nine | Token::Zero => self.part(true),
                Token::Point => self.part(false),
                Token::Group => !template.fill && self.peek() == Some(','),
                Token::Minus => self.sign(&['-']),
                Token::Plus => self.sign(&['+']),
                Token::PlusMinus => self.sign(&['-', '+']),
                Token::Currency => {
                    self.skip_foreign(1);
                    continue;
                }
                Token::Ordinal(_) => {
                    if !template.has_point() {
                        self.skip_foreign(2);
                    }
                    continue;
                }
                Token::Literal(text) => {
                    text.chars().for_each(|_| self.skip());
                    continue;
                }
                Token::Sign => continue,
            };
            match token {
                Token::Minus | Token::Plus | Token::PlusMinus if !taken => self.skip_foreign(1),
                _ if taken => self.skip(),
                _ => {}
            }
        }
    }

    /// Reads a digit or the point, with a sign before the first or behind the last of them. True if the next character is done
    /// with, whatever it is.
    fn part(&mut self, digit: bool) -> bool {
        if self.peek() == Some(' ') {
            self.skip();
        }
        if self.negative.is_none() && digit && self.before + self.after == 0 {
            let brackets = self.template.brackets && self.template.leading_sign != Some(true);
            if self.sign(if brackets { &['-', '+', '<'] } else { &['-', '+'] }) {
                self.skip();
            }
        }
        let Some(next) = self.peek() else { return false };
        let mut read = false;
        if next.is_ascii_digit() {
            if self.point && self.after == self.template.after {
                return true;
            }
            self.digits.push(next);
            *if self.point { &mut self.after } else { &mut self.before } += 1;
            read = true;
        } else if next == '.' && self.template.has_point() && !self.point {
            self.digits.push('.');
            (self.point, read) = (true, true);
        }
        if self.negative.is_none() && self.before + self.after > 0 {
            self.trailing_sign(read);
        }
        true
    }

    /// A sign behind a number: next to its last digit for `S`, in the place of a digit for `MI` and `PL`.
    fn trailing_sign(&mut self, read: bool) {
        let template = self.template;
        if template.leading_sign.is_some() {
            let mut rest = self.text.chars();
            rest.next();
            if read && matches!(rest.clone().next(), Some('-' | '+')) {
                self.text = rest.as_str();
                self.sign(&['-', '+']);
            }
        } else if !read
            && template.tokens.iter().any(|t| matches!(t, Token::Minus | Token::Plus | Token::PlusMinus))
        {
            self.sign(&['-', '+']);
        }
    }
}
