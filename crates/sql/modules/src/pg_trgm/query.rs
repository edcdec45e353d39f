//! What the conditions that indexes serve say of a text's trigrams.

use base::SqlResult;
use tuple::tree::{Match, TreeQuery};
use types::text::alike;
use types::value::FromDatum;

use super::pattern::{Needs, of_like, of_regex};
use super::trigram::{Trigram, kinds};
use super::{LIMIT, STRICT_LIMIT, WORD_LIMIT};

/// Strategy numbers.
pub(super) mod strategy {
    pub const SIMILAR: u16 = 1;
    pub const DISTANCE: u16 = 2;
    pub const LIKE: u16 = 3;
    pub const ILIKE: u16 = 4;
    pub const REGEX: u16 = 5;
    pub const REGEX_FOLD: u16 = 6;
    pub const WORD: u16 = 7;
    pub const STRICT: u16 = 9;
    pub const EQUAL: u16 = 11;
}

/// The most trigrams that the index is asked for; the rest is checked on the rows.
const MOST: usize = 512;

/// A condition.
#[derive(Clone, Debug)]
pub(super) struct Query {
    /// The trigrams that it asks for, each once.
    pub(super) trigrams: Vec<Trigram>,
    need: Need,
}

/// Numbers are those of trigrams.
#[derive(Clone, Debug)]
enum Need {
    /// So great a share of all.
    Share(f32),
    Tree(Tree),
}

#[derive(Clone, Debug)]
enum Tree {
    Nothing,
    One(usize),
    All(Vec<Tree>),
    Any(Vec<Tree>),
}

impl Query {
    /// Of a condition or a distance. `exact`: texts that are equal have the same characters.
    pub(super) fn of(query: TreeQuery<'_>, exact: bool) -> SqlResult<Query> {
        let text = <&str>::from_datum(query.value);
        let share = |limit: f32| Ok(Query { trigrams: kinds(text)?, need: Need::Share(limit) });
        let needs = match query.strategy {
            strategy::SIMILAR => return share(alike()[LIMIT]),
            strategy::WORD => return share(alike()[WORD_LIMIT]),
            strategy::STRICT => return share(alike()[STRICT_LIMIT]),
            strategy::LIKE | strategy::EQUAL if !exact => Needs::Nothing,
            strategy::LIKE => of_like(text, false),
            strategy::ILIKE => of_like(text, true),
            strategy::REGEX | strategy::REGEX_FOLD => {
                let hir = types::text::regex_hir(text, query.strategy == strategy::REGEX_FOLD)?;
                hir.map_or(Needs::Nothing, |hir| of_regex(&hir))
            }
            strategy::EQUAL => Needs::All(kinds(text)?.into_iter().map(Needs::One).collect()),
            _ => return share(0.0),
        };
        let mut made = Query { trigrams: Vec::new(), need: Need::Tree(Tree::Nothing) };
        made.need = Need::Tree(made.tree(needs));
        Ok(made)
    }

    fn tree(&mut self, needs: Needs) -> Tree {
        match needs {
            Needs::Nothing => Tree::Nothing,
            Needs::One(trigram) => {
                let known = self.trigrams.iter().position(|known| *known == trigram);
                match known {
                    Some(at) => Tree::One(at),
                    None if self.trigrams.len() >= MOST => Tree::Nothing,
                    None => {
                        self.trigrams.push(trigram);
                        Tree::One(self.trigrams.len() - 1)
                    }
                }
            }
            Needs::All(list) => Tree::All(list.into_iter().map(|needs| self.tree(needs)).collect()),
            Needs::Any(list) => Tree::Any(list.into_iter().map(|needs| self.tree(needs)).collect()),
        }
    }

    /// Whether any text may satisfy it, also one that has no trigram in common.
    pub(super) fn takes_any(&self) -> bool {
        self.satisfied(|_| Match::No) != Match::No
    }

    /// Whether a text that has the `n`th trigram as `has` says may satisfy it: `No` is sure.
    pub(super) fn satisfied(&self, has: impl Fn(usize) -> Match) -> Match {
        match &self.need {
            Need::Share(limit) => {
                let there = (0..self.trigrams.len()).filter(|n| has(*n) != Match::No).count();
                Match::of(share_of(there, self.trigrams.len()) >= *limit, false)
            }
            Need::Tree(tree) => Match::of(tree.satisfied(&|n| has(n) != Match::No), false),
        }
    }
}

/// The share of a query's trigrams: a text with so many of them is not more similar than that.
pub(super) fn share_of(there: usize, all: usize) -> f32 {
    if all == 0 { 0.0 } else { there as f32 / all as f32 }
}

impl Tree {
    fn satisfied(&self, has: &impl Fn(usize) -> bool) -> bool {
        match self {
            Tree::Nothing => true,
            Tree::One(n) => has(*n),
            Tree::All(list) => list.iter().all(|tree| tree.satisfied(has)),
            Tree::Any(list) => list.iter().any(|tree| tree.satisfied(has)),
        }
    }
}
