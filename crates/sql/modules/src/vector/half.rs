//! Numbers of half precision (IEEE 754 binary16).

/// The number as one of single precision.
pub(super) fn to_single(half: u16) -> f32 {
    let sign = u32::from(half >> 15) << 31;
    let exponent = u32::from(half >> 10 & 0x1f);
    let fraction = u32::from(half & 0x3ff);
    let magnitude = match exponent {
        // Zero and what is too small for a leading one.
        0 => (fraction as f32 * f32::from_bits(0x3380_0000)).to_bits(),
        31 => 0x7f80_0000 | fraction << 13,
        _ => (exponent + 112) << 23 | fraction << 13,
    };
    f32::from_bits(sign | magnitude)
}

/// The nearest number of half precision, the even one of two; infinite where there is none so great.
pub(super) fn of_single(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    let magnitude = bits & 0x7fff_ffff;
    if magnitude >= 0x7f80_0000 {
        return sign | if magnitude > 0x7f80_0000 { 0x7e00 } else { 0x7c00 };
    }
    if magnitude < 0x3880_0000 {
        // Steps of 2^-24. The sum rounds as it drops what is below them.
        let steps = (f32::from_bits(magnitude) + 0.5).to_bits() - 0.5f32.to_bits();
        return sign | steps as u16;
    }
    let rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
    if rounded >= 0x4780_0000 { sign | 0x7c00 } else { sign | ((rounded - 0x3800_0000) >> 13) as u16 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_go_there_and_back() {
        for half in 0..=u16::MAX {
            let single = to_single(half);
            assert!(single.is_nan() || of_single(single) == half, "{half:x}");
        }
        let cases: [(f32, u16); 7] = [
            (1.0, 0x3c00),
            (65504.0, 0x7bff),
            (65519.0, 0x7bff),
            (65520.0, 0x7c00),
            (5.9604645e-8, 1),
            (2.9e-8, 0),
            (-0.1, 0xae66),
        ];
        cases.iter().for_each(|(single, half)| assert_eq!(of_single(*single), *half, "{single}"));
    }
}
