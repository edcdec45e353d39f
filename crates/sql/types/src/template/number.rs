//! `to_char` and `to_number` with numeric templates.

use base::{SqlError, SqlResult, sql_err};

use crate::numeric::Numeric;

use super::{ordinal_suffix, roman};

functions! {
    1773 to_char(int4, text) -> text [stable strict] { |a: i32, template: &str| to_char(Numeric::from_i64(a.into()), template) }
    1774 to_char(int8, text) -> text [stable strict] { |a: i64, template: &str| to_char(Numeric::from_i64(a), template) }
    1772 to_char(numeric, text) -> text [stable strict] { |a: Numeric, template: &str| to_char(a, template) }
    1775 to_char(float4, text) -> text [stable strict] { |a: f32, template: &str| to_char(Numeric::from_float(a.into(), 6)?, template) }
    1776 to_char(float8, text) -> text [stable strict] { |a: f64, template: &str| to_char(Numeric::from_float(a, 15)?, template) }
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
    let rounded = scaled.clone().round(after as i32);
    let negative = rounded.signum() < 0;
    let text = rounded.clone().abs().to_string();
    let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
    // A zero before the point is shown only where nothing else would be.
    let bare = template.fill && rounded.is_zero() && significant_part(&template, part) == 0;
    let whole = if whole == "0" && template.before > 0 && after > 0 && !bare { "" } else { whole };
    let special = !rounded.is_finite();
    let (whole, part) = if rounded.is_nan() && template.before >= 3 {
        ("NaN".to_owned(), String::new())
    } else if special || whole.len() > template.before {
        ("#".repeat(template.before), "#".repeat(after))
    } else {
        (whole.to_owned(), part.to_owned())
    };
    Ok(fill_template(&template, &whole, &part, negative, &text))
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

/// Reads the digits, sign and point that the template leads to expect; anything else is passed over.
fn to_number(text: &str, template: &str) -> SqlResult<Numeric> {
    let template = parse(template)?;
    let mut number = String::new();
    let mut negative = false;
    let (mut point, mut before, mut after) = (false, 0, 0);
    for c in text.chars() {
        match c {
            '-' | '<' => negative = true,
            '.' if !point => {
                point = true;
                number.push('.');
            }
            '0'..='9' => {
                let room = if point { after < template.after } else { before < template.before };
                if room {
                    number.push(c);
                    if point { after += 1 } else { before += 1 }
                } else if !point {
                    break;
                }
            }
            _ => {}
        }
    }
    if number.trim_matches('.').is_empty() {
        return Err(sql_err!(INVALID_TEXT_REPRESENTATION, "invalid input syntax for type numeric: \" \""));
    }
    let value = Numeric::parse(&number)?;
    let value = if template.shift > 0 {
        value.div(&Numeric::parse(&format!("1e{}", template.shift))?)?
    } else {
        value
    };
    Ok(if negative { value.negate() } else { value })
}
