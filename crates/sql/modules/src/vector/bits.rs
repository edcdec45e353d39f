//! Distances between strings of bits.

use base::{SqlResult, sql_err};
use tuple::Datum;
use types::Call;
use types::value::FromDatum;

/// Both strings behind their length, which is the same.
fn both(args: &[Datum]) -> SqlResult<[&[u8]; 2]> {
    let [a, b] = [0, 1].map(|at| {
        let bytes = <&[u8]>::from_datum(&args[at]);
        bytes
            .split_first_chunk::<4>()
            .map_or((0, bytes), |(length, bits)| (u32::from_le_bytes(*length), bits))
    });
    match a.0 == b.0 {
        true => Ok([a.1, b.1]),
        false => Err(sql_err!(DATA_EXCEPTION, "different bit lengths {} and {}", a.0, b.0)),
    }
}

fn count([a, b]: [&[u8]; 2], of: fn(u8, u8) -> u8) -> u64 {
    a.iter().zip(b).map(|(a, b)| u64::from(of(*a, *b).count_ones())).sum()
}

/// How many bits differ.
pub(super) fn hamming(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    Ok(Datum::Float8(count(both(args)?, |a, b| a ^ b) as f64))
}

/// The share of the bits set in either that are not set in both.
pub(super) fn jaccard(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    let both = both(args)?;
    let (common, any) = (count(both, |a, b| a & b), count(both, |a, b| a | b));
    Ok(Datum::Float8(if common == 0 { 1.0 } else { 1.0 - common as f64 / any as f64 }))
}

/// The string whose bits are set where they are in more than half of some strings, one at least.
pub(super) fn majority(of: &[&Datum]) -> Datum {
    let all: Vec<&[u8]> = of.iter().map(|string| <&[u8]>::from_datum(string)).collect();
    let mut out = all[0].to_vec();
    for (at, byte) in out.iter_mut().enumerate().skip(4) {
        let set =
            |bit: u8| all.iter().filter(|bytes| bytes.get(at).is_some_and(|byte| byte & bit != 0)).count();
        *byte =
            (0..8).map(|n| 1 << n).filter(|bit| set(*bit) * 2 > all.len()).fold(0, |byte, bit| byte | bit);
    }
    Datum::Bytes(out.into())
}
