//! Integers as text, without the machinery of `format!`.

/// Appends a number in decimal digits.
#[inline]
pub fn push_decimal(out: &mut Vec<u8>, number: u64) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_those_of_format() {
        for number in [0, 9, 10, 1_234_567_890, u64::MAX] {
            let mut out = b"-".to_vec();
            push_decimal(&mut out, number);
            assert_eq!(out, format!("-{number}").into_bytes());
        }
    }
}
