//! `to_char` and `to_number` with numeric templates.

use base::{SqlResult, sql_err};

use crate::numeric::Numeric;

use super::pattern::{Template, Token};
use super::{ordinal_suffix, roman};

functions! {
    1773 to_char(int4, text) -> text [stable strict] { |a: i32, template: &str| int_to_char(a, template) }
    1774 to_char(int8, text) -> text [stable strict] { |a: i64, template: &str| to_char(Numeric::from_i64(a), template) }
    1772 to_char(numeric, text) -> text [stable strict] { |a: Numeric, template: &str| to_char(a, template) }
    1775 to_char(float4, text) -> text [stable strict] { |a: f32, template: &str| float_to_char(a.into(), 6, template) }
    1776 to_char(float8, text) -> text [stable strict] { |a: f64, template: &str| float_to_char(a, 15, template) }
    1777 to_number(text, text) -> numeric [stable strict] { |text: &str, template: &str| to_number(text, template) }
}

fn int_to_char(value: i32, template: &str) -> SqlResult<String> {
    let template = Template::parse(template)?;
    if template.exponent {
        return Ok(float_exponent(value.into(), &template));
    }
    numeric_to_char(Numeric::from_i64(value.into()), &template)
}

fn to_char(value: Numeric, template: &str) -> SqlResult<String> {
    let template = Template::parse(template)?;
    if template.exponent {
        return Ok(numeric_exponent(&value, &template));
    }
    numeric_to_char(value, &template)
}

fn numeric_to_char(value: Numeric, template: &Template) -> SqlResult<String> {
    if template.roman.is_some() {
        return beside_roman(template, value.to_i128());
    }
    let scaled = if template.shift > 0 {
        value.mul(&Numeric::parse(&format!("1e{}", template.shift))?)
    } else {
        value
    };
    let after = if template.has_shift { 0 } else { template.after };
    let rounded = scaled.round(after as i32);
    lay_out(template, &rounded.clone().abs().to_string(), rounded.signum() < 0, after)
}

/// The same for a number of so many decimal digits: it is rounded as it is written, to even, and digits that it does not have are
/// not shown.
fn float_to_char(value: f64, digits: usize, template: &str) -> SqlResult<String> {
    let template = Template::parse(template)?;
    if template.roman.is_some() {
        let rounded = Numeric::from_float(value.round_ties_even(), digits)?;
        return beside_roman(&template, rounded.to_i128());
    }
    if template.exponent {
        return Ok(float_exponent(value, &template));
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
    lay_out(&template, &text, value.is_sign_negative() && !value.is_nan(), after)
}

/// A number without sign, with `after` digits behind the point, in the template.
fn lay_out(template: &Template, text: &str, negative: bool, after: usize) -> SqlResult<String> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let zero = text.bytes().all(|b| matches!(b, b'0' | b'.'));
    // A zero before the point is shown only where nothing else would be.
    let bare = template.fill && zero && significant_part(template, part) == 0;
    let whole = if whole == "0" && template.before > 0 && after > 0 && !bare { "" } else { whole };
    let special = !text.starts_with(|c: char| c.is_ascii_digit());
    let not_a_number = text == "NaN" && template.before >= 3;
    let overflow = !not_a_number && (special || whole.len() > template.before);
    let hashes = overflow.then(|| ("#".repeat(template.before), "#".repeat(after)));
    let (whole, part) = match &hashes {
        Some((whole, part)) => (whole.as_str(), part.as_str()),
        None => (whole, if not_a_number { "" } else { part }),
    };
    let missing = template.before - whole.len();
    // Trailing zeros that FM drops: those under a 9.
    let shown = if template.fill { significant_part(template, part).min(part.len()) } else { part.len() };
    let has_point = !not_a_number && (overflow || after > 0);
    let mut layout = Layout {
        template,
        whole,
        part,
        negative,
        missing,
        start: missing.min(template.first_zero.unwrap_or(missing)),
        shown,
        last: template.before + usize::from(template.has_point) + shown,
        pieces: 0,
        signed: template.minus,
        inside: false,
        out: String::new(),
    };
    // As it is looked at for its ending; one that does not fit is no number.
    let number = if overflow && template.before == 0 {
        "."
    } else if overflow {
        whole
    } else {
        text
    };
    for token in &template.tokens {
        match token {
            // Where the number is at its end, so is the text: what follows is lost.
            Token::Point if !has_point => return Ok(layout.out),
            Token::Nine | Token::Zero if layout.is_used_up() => return Ok(layout.out),
            Token::Point => layout.point(),
            Token::Nine | Token::Zero => layout.digit(),
            Token::Ordinal(upper) => layout.ordinal(number, *upper)?,
            other => layout.other(other),
        }
    }
    Ok(layout.out)
}

/// A number on its way into a template.
struct Layout<'t> {
    template: &'t Template,
    /// Digits before the point, or what stands for them.
    whole: &'t str,
    /// Digits behind the point.
    part: &'t str,
    negative: bool,
    /// Places before the point that the number has no digit for.
    missing: usize,
    /// The first place that shows something.
    start: usize,
    /// Digits behind the point that are shown.
    shown: usize,
    /// Number of positions, the point included, up to the last one that shows something: a trailing sign is put there.
    last: usize,
    /// Places done with.
    pieces: usize,
    /// The sign is written, or somebody else writes it.
    signed: bool,
    /// A digit is written, before the point or behind it.
    inside: bool,
    out: String,
}

impl Layout<'_> {
    /// Whether the sign is brackets: `MI` and `SG` come before them, and FM drops the blanks for them, but not beside `PL`.
    fn bracketed(&self) -> bool {
        let template = self.template;
        template.brackets && !template.minus && (self.negative || !template.fill || template.plus)
    }

    fn blank(&mut self) {
        if !self.template.fill {
            self.out.push(' ');
        }
    }

    fn sign_character(&mut self) {
        self.out.push(if self.negative { '-' } else { '+' });
    }

    /// The sign in front of the first place that shows something.
    fn sign(&mut self) {
        if std::mem::replace(&mut self.signed, true) {
            return;
        }
        match self.template.leading_sign {
            Some(true) => self.sign_character(),
            Some(false) => {}
            None if self.bracketed() => self.out.push(if self.negative { '<' } else { ' ' }),
            None if self.negative => self.out.push('-'),
            None => self.blank(),
        }
    }

    /// The sign behind the last place that shows something.
    fn end(&mut self) {
        if self.pieces != self.last {
            return;
        }
        if self.bracketed() {
            self.out.push(if self.negative { '>' } else { ' ' });
        } else if self.template.leading_sign == Some(false) {
            self.sign_character();
        }
    }

    /// Whether all digits that the number has are written. A float may have fewer than the template.
    fn is_used_up(&self) -> bool {
        self.pieces > self.template.before + self.part.len()
    }

    fn digit(&mut self) {
        let at = self.pieces;
        self.pieces += 1;
        if at < self.template.before {
            if at < self.start {
                return self.blank();
            }
            let digit = match at.checked_sub(self.missing) {
                None => b'0',
                Some(at) => match self.whole.as_bytes().get(at) {
                    Some(digit) => *digit,
                    None => return,
                },
            };
            self.sign();
            self.out.push(digit as char);
        } else {
            let behind = at - self.template.before - 1;
            let Some(digit) = self.part.as_bytes().get(behind).filter(|_| behind < self.shown) else {
                return;
            };
            self.out.push(*digit as char);
        }
        self.inside = true;
        self.end();
    }

    fn point(&mut self) {
        self.pieces += 1;
        self.sign();
        self.out.push('.');
        self.inside = false;
        self.end();
    }

    fn ordinal(&mut self, number: &str, upper: bool) -> SqlResult<()> {
        if self.negative || self.template.has_point || number.starts_with('#') {
            return Ok(());
        }
        if !number.ends_with(|c: char| c.is_ascii_digit()) {
            return Err(sql_err!(INVALID_TEXT_REPRESENTATION, "\"{number}\" is not a number"));
        }
        self.out.push_str(ordinal_suffix(number, upper));
        Ok(())
    }

    /// What stands beside the number.
    fn other(&mut self, token: &Token) {
        match token {
            Token::Group if self.inside => self.out.push(','),
            Token::Minus if self.negative => self.out.push('-'),
            Token::Plus if !self.negative => self.out.push('+'),
            Token::Group | Token::Minus | Token::Plus => self.blank(),
            Token::PlusMinus => self.sign_character(),
            // The symbol of the locale.
            Token::Currency => self.out.push(' '),
            Token::Literal(text) => self.out.push_str(text),
            _ => {}
        }
    }
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

/// A Roman number and what the template has beside it.
fn beside_roman(template: &Template, value: Option<i128>) -> SqlResult<String> {
    let number = value.filter(|n| (1..4000).contains(n));
    let text = number.map_or_else(|| "#".repeat(15), |n| roman(n as i64));
    let text = if template.roman == Some(true) { text } else { text.to_lowercase() };
    let mut out = String::new();
    for token in &template.tokens {
        match token {
            Token::Roman if template.fill => out.push_str(&text),
            Token::Roman => out.push_str(&format!("{text:>15}")),
            Token::Group if template.fill => {}
            Token::Group | Token::Currency => out.push(' '),
            Token::Literal(text) => out.push_str(text),
            _ => {}
        }
    }
    Ok(out)
}

/// `EEEE` of a number that is none.
fn no_exponent(template: &Template) -> String {
    format!(" {}.{}", "#".repeat(template.before), "#".repeat(template.after + 4))
}

fn float_exponent(value: f64, template: &Template) -> String {
    if !value.is_finite() {
        return no_exponent(template);
    }
    let text = format!("{:.*e}", template.after, value.abs());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    scientific(value.is_sign_negative(), mantissa, exponent.parse().unwrap_or(0))
}

/// The exponent is that of the number before it is rounded: there may be two digits before the point.
fn numeric_exponent(value: &Numeric, template: &Template) -> String {
    if !value.is_finite() {
        return no_exponent(template);
    }
    let digits: String = value.clone().abs().to_string();
    let point = digits.find('.').unwrap_or(digits.len()) as i32;
    let plain: String = digits.chars().filter(char::is_ascii_digit).collect();
    let lead = plain.bytes().take_while(|b| *b == b'0').count() as i32;
    let exponent = if value.is_zero() { 0 } else { point - 1 - lead };
    let unit = Numeric::parse(&format!("1e{}", -exponent)).unwrap_or_else(|_| Numeric::zero());
    let mantissa = value.clone().abs().mul(&unit).round(template.after as i32);
    scientific(value.signum() < 0, &mantissa.to_string(), exponent)
}

fn scientific(negative: bool, mantissa: &str, exponent: i32) -> String {
    let (sign, below) = (if negative { '-' } else { ' ' }, if exponent < 0 { '-' } else { '+' });
    format!("{sign}{mantissa}e{below}{:02}", exponent.abs())
}

/// Most letters of a Roman number.
const ROMAN_LENGTH: usize = 15;

/// Reads a number in the form that the template describes.
fn to_number(text: &str, template: &str) -> SqlResult<Numeric> {
    let template = Template::parse(template)?;
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
                    if !template.has_point {
                        self.skip_foreign(2);
                    }
                    continue;
                }
                Token::Literal(text) => {
                    text.chars().for_each(|_| self.skip());
                    continue;
                }
                Token::Sign | Token::Roman => continue,
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
        } else if next == '.' && self.template.has_point && !self.point {
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
