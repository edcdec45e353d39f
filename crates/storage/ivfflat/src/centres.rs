//! Where lists lie: Lloyd's k-means over a sample of keys, from centres that are drawn far from one another (k-means++).

use index::{IndexResult, interrupts};
use tuple::Datum;

use crate::rel::IvfflatRel;

/// How often keys are given to centres, and centres to the middle of their keys, at most.
const ROUNDS: usize = 10;
/// Of so many keys, one that changes its centre does not matter.
const ONE_OF: usize = 1000;

/// Up to `count` centres; less if the keys differ less.
pub(crate) fn centres(rel: &IvfflatRel, keys: &[&Datum], count: usize) -> IndexResult<Vec<Datum>> {
    let (mut centres, mut homes) = draw(rel, keys, count)?;
    for _ in 0..ROUNDS {
        move_to_middles(rel, keys, &homes, &mut centres)?;
        let changed = assign(rel, keys, &centres, &mut homes)?;
        if changed * ONE_OF <= keys.len() {
            break;
        }
    }
    Ok(centres)
}

/// A number from 0 up to 1.
fn chance() -> f64 {
    (runtime::random_u64() >> 11) as f64 / (1u64 << 53) as f64
}

fn middle(rel: &IvfflatRel, of: &[&Datum]) -> Datum {
    rel.desc.trees[0].union(of)
}

/// Draws keys as centres, rather those that are far from the centres before; with the centre of each key.
fn draw(rel: &IvfflatRel, keys: &[&Datum], count: usize) -> IndexResult<(Vec<Datum>, Vec<usize>)> {
    let Some(last) = keys.len().checked_sub(1) else { return Ok((Vec::new(), Vec::new())) };
    let mut centres = Vec::with_capacity(count);
    // The least distance that a key can have, from a centre made of it alone, and that from the nearest centre.
    let (mut least, mut near) = (Vec::with_capacity(keys.len()), vec![f64::INFINITY; keys.len()]);
    for key in keys {
        interrupts()?;
        least.push(rel.distance(&middle(rel, &[key]), key)?);
    }
    let mut homes = vec![0; keys.len()];
    let mut next = ((chance() * keys.len() as f64) as usize).min(last);
    loop {
        let centre = middle(rel, &[keys[next]]);
        for (at, key) in keys.iter().enumerate() {
            interrupts()?;
            let distance = rel.distance(&centre, key)?;
            if distance < near[at] {
                (near[at], homes[at]) = (distance, centres.len());
            }
        }
        centres.push(centre);
        if centres.len() == count {
            return Ok((centres, homes));
        }
        let weight = |at: usize| (near[at] - least[at]).max(0.0).powi(2);
        let total: f64 = (0..keys.len()).map(weight).sum();
        if total <= 0.0 {
            return Ok((centres, homes));
        }
        let mut left = chance() * total;
        let heavy = |at: &usize| weight(*at) > 0.0;
        let drawn = (0..keys.len()).filter(heavy).find(|at| {
            left -= weight(*at);
            left <= 0.0
        });
        next = drawn.or_else(|| (0..keys.len()).rfind(heavy)).unwrap_or(last);
    }
}

/// Moves each centre to the middle of its keys. One without keys stays.
fn move_to_middles(
    rel: &IvfflatRel,
    keys: &[&Datum],
    homes: &[usize],
    centres: &mut [Datum],
) -> IndexResult<()> {
    let mut of: Vec<Vec<&Datum>> = vec![Vec::new(); centres.len()];
    for (key, home) in keys.iter().zip(homes) {
        of[*home].push(key);
    }
    for (centre, keys) in centres.iter_mut().zip(&of) {
        interrupts()?;
        if !keys.is_empty() {
            *centre = middle(rel, keys);
        }
    }
    Ok(())
}

/// Gives each key to the nearest centre; how many have another one now.
fn assign(rel: &IvfflatRel, keys: &[&Datum], centres: &[Datum], homes: &mut [usize]) -> IndexResult<usize> {
    let mut changed = 0;
    for (key, home) in keys.iter().zip(homes) {
        let mut best = (f64::INFINITY, *home);
        for (at, centre) in centres.iter().enumerate() {
            interrupts()?;
            let distance = rel.distance(centre, key)?;
            if distance < best.0 {
                best = (distance, at);
            }
        }
        changed += usize::from(best.1 != *home);
        *home = best.1;
    }
    Ok(changed)
}
