//! # What
//! How well a vector matches a query: by the frequency of words and their distances ([`rank`]), or by the shortest passages that satisfy
//! the query ([`rank_cover`]).
//!
//! Figures are computed in single and double precision where PostgreSQL's are, so that they are the same to the last bit.
//!
//! # PostgreSQL counterpart
//! `tsrank.c`.

use base::SqlResult;
use runtime::pace::{Pace, sort_by};

use crate::matching::{Answer, Options, Source, execute};
use crate::query::{Item, Op, Operand, Query};
use crate::vector::{MAX_POSITION, Position, Vector};

/// What a word counts by its weight, `D` first.
pub type Weights = [f32; 4];

/// The weights unless others are given.
pub const DEFAULT_WEIGHTS: Weights = [0.1, 0.2, 0.4, 1.0];

/// By what a rank is divided: bits of an integer.
mod normalization {
    /// The logarithm of the document's length.
    pub const LOG_LENGTH: i32 = 1;
    /// The document's length.
    pub const LENGTH: i32 = 2;
    /// The mean distance of passages.
    pub const DISTANCE: i32 = 4;
    /// The number of different words.
    pub const UNIQUE: i32 = 8;
    /// Its logarithm.
    pub const LOG_UNIQUE: i32 = 16;
    /// Itself and 1.
    pub const ITSELF: i32 = 32;
}

/// Words of the document, each counted as often as it occurs.
fn length(vector: &Vector) -> usize {
    vector.iter().map(|(_, positions)| positions.len().max(1)).sum()
}

/// Places of the lexemes that an operand means.
fn entries(vector: &Vector, operand: &Operand) -> std::ops::Range<usize> {
    let word = operand.word.as_bytes();
    match (vector.find(word), operand.prefix) {
        (Ok(at), false) => at..at + 1,
        (Err(at), false) => at..at,
        (Ok(at) | Err(at), true) => {
            let count = (at..vector.len()).take_while(|i| vector.lexeme(*i).starts_with(word)).count();
            at..at + count
        }
    }
}

/// The operands by their words, one of each.
fn operands<'q>(query: &'q Query) -> SqlResult<Vec<&'q Operand<'q>>> {
    let mut places: Vec<usize> = (0..query.items.len()).collect();
    let word = |at: &usize| match &query.items[*at] {
        Item::Value(operand) => Some(operand),
        _ => None,
    };
    sort_by(&mut places, |a, b| word(a).map(|o| &o.word).cmp(&word(b).map(|o| &o.word)))?;
    let mut found: Vec<&Operand> = places.iter().filter_map(word).collect();
    found.dedup_by(|a, b| a.word == b.word);
    Ok(found)
}

/// `ts_rank`
pub fn rank(weights: &Weights, vector: &Vector, query: &Query, method: i32) -> SqlResult<f32> {
    if vector.is_empty() || query.is_empty() {
        return Ok(0.0);
    }
    let together = matches!(query.items[0], Item::Operator { op: Op::And | Op::Phrase, .. });
    let operands = operands(query)?;
    let mut rank = if together && operands.len() > 1 {
        by_distance(weights, vector, &operands)?
    } else {
        by_frequency(weights, vector, &operands)?
    };
    if rank < 0.0 {
        rank = 1e-20;
    }
    if method & normalization::LOG_LENGTH != 0 {
        rank = (f64::from(rank) / (((length(vector) + 1) as f64).ln() / 2f64.ln())) as f32;
    }
    if method & normalization::LENGTH != 0 {
        rank /= length(vector) as f32;
    }
    if method & normalization::UNIQUE != 0 {
        rank /= vector.len() as f32;
    }
    if method & normalization::LOG_UNIQUE != 0 {
        rank = (f64::from(rank) / (((vector.len() + 1) as f64).ln() / 2f64.ln())) as f32;
    }
    if method & normalization::ITSELF != 0 {
        rank /= rank + 1.0;
    }
    Ok(rank)
}

fn by_frequency(weights: &Weights, vector: &Vector, operands: &[&Operand]) -> SqlResult<f32> {
    let (mut rank, mut pace) = (0f32, Pace::new());
    for operand in operands {
        for at in entries(vector, operand) {
            let (mut sum, mut most, mut most_at) = (0f32, -1f32, 0);
            let positions = vector.positions(at);
            let nowhere = positions.is_empty().then_some(Position(0));
            for (j, position) in positions.iter().chain(nowhere).enumerate() {
                let weight = weights[usize::from(position.weight())];
                sum += weight / ((j + 1) * (j + 1)) as f32;
                if weight > most {
                    (most, most_at) = (weight, j);
                }
            }
            let here = most + sum - most / ((most_at + 1) * (most_at + 1)) as f32;
            // The sum of 1/n².
            #[allow(clippy::excessive_precision)]
            let limit = 1.64493406685f64;
            rank = (f64::from(rank) + f64::from(here) / limit) as f32;
            pace.did(8 + positions.len())?;
        }
    }
    Ok(if operands.is_empty() { rank } else { rank / operands.len() as f32 })
}

/// What two words count that stand so far apart.
fn nearness(distance: i32) -> f32 {
    if distance > 100 {
        return 1e-30;
    }
    (1.0 / (1.005 + 0.05 * (f64::from(distance as f32) / 1.5 - 2.0).exp())) as f32
}

/// Where a word stands; one without positions stands at the end.
fn places(vector: &Vector, at: usize) -> (Vec<Position>, bool) {
    let found: Vec<Position> = vector.positions(at).iter().collect();
    match found.is_empty() {
        true => (vec![Position(MAX_POSITION)], true),
        false => (found, false),
    }
}

fn by_distance(weights: &Weights, vector: &Vector, operands: &[&Operand]) -> SqlResult<f32> {
    let (mut rank, mut pace) = (-1f32, Pace::new());
    let mut before: Vec<Option<(Vec<Position>, bool)>> = Vec::new();
    for operand in operands {
        let mut last = None;
        for at in entries(vector, operand) {
            let (here, unknown) = places(vector, at);
            for (there, unknown_there) in before.iter().flatten() {
                for (a, b) in here.iter().flat_map(|a| there.iter().map(move |b| (a, b))) {
                    let mut distance = (i32::from(a.place()) - i32::from(b.place())).abs();
                    if distance == 0 {
                        if !unknown && !unknown_there {
                            continue;
                        }
                        distance = i32::from(MAX_POSITION) + 1;
                    }
                    let product = weights[usize::from(a.weight())]
                        * weights[usize::from(b.weight())]
                        * nearness(distance);
                    let here = f64::from(product).sqrt() as f32;
                    rank = match rank < 0.0 {
                        true => here,
                        false => (1.0 - (1.0 - f64::from(rank)) * (1.0 - f64::from(here))) as f32,
                    };
                }
                pace.did(here.len() * there.len())?;
            }
            last = Some((here, unknown));
        }
        before.push(last);
    }
    Ok(rank)
}

/// A place of the document with the operands that are found there.
struct Spot {
    position: Position,
    /// By their places in the query.
    operands: Vec<usize>,
}

/// The places of all words that are looked for, in their order.
fn spots(vector: &Vector, query: &Query) -> SqlResult<Vec<Spot>> {
    let (mut found, mut pace) = (Vec::new(), Pace::new());
    for (item, operand) in query.items.iter().enumerate() {
        let Item::Value(operand) = operand else { continue };
        for at in entries(vector, operand) {
            let counts = |p: &Position| operand.weights == 0 || operand.weights & 1 << p.weight() != 0;
            found.extend(vector.positions(at).iter().filter(counts).map(|p| (p, at, item)));
            pace.did(8 + vector.positions(at).len())?;
        }
    }
    let key = |(p, at, _): &(Position, usize, usize)| (p.place(), p.weight(), *at);
    sort_by(&mut found, |a, b| key(a).cmp(&key(b)))?;
    let mut spots: Vec<Spot> = Vec::new();
    for same in found.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        spots.push(Spot { position: same[0].0, operands: same.iter().map(|(_, _, item)| *item).collect() });
    }
    Ok(spots)
}

/// The words of a stretch of the document.
struct Stretch {
    /// Where each operand stands, by its place in the query, in the order in which they were met.
    places: Vec<Vec<u16>>,
    /// Whether the stretch is read from its end.
    backwards: bool,
}

impl Stretch {
    fn clear(&mut self, backwards: bool) {
        self.places.iter_mut().for_each(Vec::clear);
        self.backwards = backwards;
    }

    fn add(&mut self, spot: &Spot) {
        for operand in &spot.operands {
            let places = &mut self.places[*operand];
            if places.last() != Some(&spot.position.place()) {
                places.push(spot.position.place());
            }
        }
    }
}

impl Source for Stretch {
    fn find(&mut self, at: usize, _operand: &Operand, places: Option<&mut Vec<u16>>) -> Answer {
        let found = &self.places[at];
        if let Some(places) = places {
            match self.backwards {
                true => places.extend(found.iter().rev()),
                false => places.extend(found),
            }
        }
        if found.is_empty() { Answer::No } else { Answer::Yes }
    }
}

/// The next shortest passage from spot `from` on that satisfies the query, as first and last spot: no smaller passage in it does.
fn cover(
    spots: &[Spot],
    query: &Query,
    stretch: &mut Stretch,
    mut from: usize,
    pace: &mut Pace,
) -> SqlResult<Option<(usize, usize)>> {
    loop {
        stretch.clear(false);
        let mut end = None;
        for (at, spot) in spots.iter().enumerate().skip(from) {
            stretch.add(spot);
            pace.did(64 * query.items.len())?;
            if execute(query, stretch, Options::default())? != Answer::No {
                end = Some(at);
                break;
            }
        }
        let Some(end) = end else { return Ok(None) };
        stretch.clear(true);
        for at in (from..=end).rev() {
            stretch.add(&spots[at]);
            pace.did(64 * query.items.len())?;
            if execute(query, stretch, Options::default())? != Answer::No {
                return Ok(Some((at, end)));
            }
        }
        from += 1;
    }
}

/// `ts_rank_cd`
pub fn rank_cover(weights: &Weights, vector: &Vector, query: &Query, method: i32) -> SqlResult<f32> {
    if query.is_empty() {
        return Ok(0.0);
    }
    let spots = spots(vector, query)?;
    if spots.is_empty() {
        return Ok(0.0);
    }
    let inverse = weights.map(|weight| 1.0 / f64::from(weight));
    let mut stretch = Stretch { places: vec![Vec::new(); query.items.len()], backwards: false };
    let (mut rank, mut distances, mut count, mut before) = (0f64, 0f64, 0, 0f64);
    let (mut from, mut pace) = (0, Pace::new());
    while let Some((begin, end)) = cover(&spots, query, &mut stretch, from, &mut pace)? {
        from = begin + 1;
        let passage = &spots[begin..=end];
        let sum: f64 = passage.iter().map(|spot| inverse[usize::from(spot.position.weight())]).sum();
        let (first, last) =
            (i32::from(spots[begin].position.place()), i32::from(spots[end].position.place()));
        let others = end - begin;
        // Places have a limit: behind it words stand on one place, and half of them are taken for others.
        let noise = match last - first - others as i32 {
            noise if noise < 0 => (others / 2) as i32,
            noise => noise,
        };
        rank += passage.len() as f64 / sum / f64::from(1 + noise);
        let middle = f64::from(first + last) / 2.0;
        if count > 0 && middle > before {
            distances += 1.0 / (middle - before);
        }
        before = middle;
        count += 1;
    }
    let words = length(vector);
    if method & normalization::LOG_LENGTH != 0 {
        rank /= ((words + 1) as f64).ln();
    }
    if method & normalization::LENGTH != 0 {
        rank /= words as f64;
    }
    if method & normalization::DISTANCE != 0 && count > 0 && distances > 0.0 {
        rank /= f64::from(count) / distances;
    }
    if method & normalization::UNIQUE != 0 {
        rank /= vector.len() as f64;
    }
    if method & normalization::LOG_UNIQUE != 0 {
        rank /= ((vector.len() + 1) as f64).ln() / 2f64.ln();
    }
    if method & normalization::ITSELF != 0 {
        rank /= rank + 1.0;
    }
    Ok(rank as f32)
}
