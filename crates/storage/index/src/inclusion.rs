//! Summaries made by a class of trees: the key of a page that had all values below it.

use tuple::summary::SummaryClass;
use tuple::tree::{Match, TreeClass, TreeQuery};
use tuple::{Attr, Datum};

/// One value that includes all of a column.
#[derive(Clone, Debug)]
pub struct Inclusion {
    /// The class of trees over the same type.
    pub tree: &'static dyn TreeClass,
    /// How its keys are stored.
    pub attr: Attr,
    /// The tree's strategy for one of the summary's class; none where a tree tells nothing.
    pub strategy: fn(&TreeQuery<'_>) -> Option<u16>,
}

impl SummaryClass for Inclusion {
    fn attrs(&self) -> Vec<Attr> {
        vec![self.attr]
    }

    fn add(&self, summary: &mut Option<Vec<Datum>>, value: &Datum) -> bool {
        let key = self.tree.compress(value);
        let all = match summary.as_ref().and_then(|summary| summary.first()) {
            Some(old) => {
                let all = self.tree.union(&[old, &key]);
                if self.tree.same(&all, old) {
                    return false;
                }
                all
            }
            None => key,
        };
        *summary = Some(vec![all]);
        true
    }

    fn union(&self, summary: &mut Option<Vec<Datum>>, other: &[Datum]) {
        let Some(key) = other.first() else { return };
        let all = match summary.as_ref().and_then(|summary| summary.first()) {
            Some(old) => self.tree.union(&[old, key]),
            None => key.clone(),
        };
        *summary = Some(vec![all]);
    }

    fn consistent(&self, summary: &[Datum], query: TreeQuery<'_>) -> bool {
        match (summary.first(), (self.strategy)(&query)) {
            (Some(key), Some(strategy)) => {
                self.tree.consistent(key, TreeQuery { strategy, ..query }, false) != Match::No
            }
            _ => true,
        }
    }
}
