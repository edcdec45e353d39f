//! What is known of a row of which is known which parts it has.

use tuple::tree::Match;

/// Whether all are there.
pub(crate) fn all_of(present: &[Match]) -> Match {
    let rank = |found: &Match| match found {
        Match::No => 0,
        Match::Maybe => 1,
        Match::Yes => 2,
    };
    present.iter().copied().min_by_key(rank).unwrap_or(Match::Yes)
}

/// Whether one at least is there.
pub(crate) fn any_of(present: &[Match]) -> Match {
    not(all_of(&present.iter().copied().map(not).collect::<Vec<_>>()))
}

/// The contrary.
pub(crate) fn not(found: Match) -> Match {
    match found {
        Match::No => Match::Yes,
        Match::Maybe => Match::Maybe,
        Match::Yes => Match::No,
    }
}

/// What is known if the row is to be asked anyway.
pub(crate) fn at_most_maybe(found: Match) -> Match {
    if found == Match::Yes { Match::Maybe } else { found }
}
