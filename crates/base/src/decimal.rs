//! Integers as text, without the machinery of `format!`.

/// Appends a number in decimal digits.
#[inline]
pub fn push_decimal(out: &mut Vec<u8>, number: u64) {
    if number < 10 {
        return out.push(b'0' + number as u8);
    }
    let mut buffer = [0; 20];
    let mut at = buffer.len();
    let mut rest = number;
    loop {
        at -= 1;
        buffer[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&buffer[at..]);
}

/// Appends the digits of `number`, with zeros before them where there are fewer than `width`.
pub fn push_padded(out: &mut Vec<u8>, number: u64, width: usize) {
    if width == 2 && number < 100 {
        out.extend_from_slice(&[b'0' + (number / 10) as u8, b'0' + (number % 10) as u8]);
        return;
    }
    let start = out.len();
    push_decimal(out, number);
    let digits = out.len() - start;
    if digits < width {
        out.extend(std::iter::repeat_n(b'0', width - digits));
        out[start..].rotate_right(width - digits);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_come_before_few_digits() {
        for (number, width) in
            [(0, 2), (7, 2), (99, 2), (100, 2), (1, 4), (2024, 4), (12_345, 4), (5, 6), (0, 0)]
        {
            let mut out = b"-".to_vec();
            push_padded(&mut out, number, width);
            assert_eq!(out, format!("-{number:0width$}").into_bytes());
        }
    }

    #[test]
    fn digits_are_those_of_format() {
        for number in [0, 9, 10, 1_234_567_890, u64::MAX] {
            let mut out = b"-".to_vec();
            push_decimal(&mut out, number);
            assert_eq!(out, format!("-{number}").into_bytes());
        }
    }
}
