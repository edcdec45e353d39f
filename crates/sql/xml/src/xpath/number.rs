//! Numbers as text, and back.

/// The text of a number, as libxml2 writes it: up to 15 digits, with an exponent above 1e9 and below 1e-5.
pub fn number_text(n: f64) -> String {
    if n.is_nan() {
        return "NaN".to_owned();
    }
    if n.is_infinite() {
        return if n > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    if n == n.trunc() && n.abs() < f64::from(i32::MAX) {
        return format!("{}", n as i64);
    }
    let size = n.abs();
    let exact = format!("{n:.14e}");
    let (mantissa, exponent) = exact.split_once('e').unwrap_or((&exact, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if !(1e-5..=1e9).contains(&size) {
        let mantissa = without_zeros(mantissa);
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{mantissa}e{sign}{:02}", exponent.abs());
    }
    let places = usize::try_from(14 - exponent).unwrap_or(0);
    without_zeros(&format!("{n:.places$}")).to_owned()
}

fn without_zeros(text: &str) -> &str {
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => text,
    }
}

/// The number that a text is: digits with a point, a minus sign before them, blanks around.
pub(super) fn text_number(text: &str) -> f64 {
    let text = text.trim_matches([' ', '\t', '\r', '\n']);
    let digits = text.strip_prefix('-').unwrap_or(text);
    let has_digit = digits.bytes().any(|b| b.is_ascii_digit());
    let fine = has_digit
        && digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && digits.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'));
    if fine { text.parse().unwrap_or(f64::NAN) } else { f64::NAN }
}
