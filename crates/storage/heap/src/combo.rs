//! Command ids of rows that one transaction both inserted and deleted.
//!
//! A tuple has one field for its command id. While only its inserter or only its deleter matters, the field holds that one's (cmin or
//! cmax). When both are of one transaction the field holds a number into this map, which only that transaction needs: to everybody
//! else such a row is never visible, or visible whole.
//!
//! PostgreSQL counterpart: `combocid.c`.

use std::cell::RefCell;
use std::collections::HashMap;

use base::CommandId;

/// The map of one transaction. The session owns it beside its [`txn::Transaction`] and [`ComboCids::clear`]s it when the top-level
/// transaction ends. Most transactions have none of them: those take a word.
#[derive(Debug, Default)]
pub struct ComboCids(RefCell<Option<Box<Inner>>>);

#[derive(Debug, Default)]
struct Inner {
    pairs: Vec<(CommandId, CommandId)>,
    numbers: HashMap<(CommandId, CommandId), u32>,
}

impl ComboCids {
    /// An empty map.
    pub fn new() -> ComboCids {
        ComboCids::default()
    }

    /// Forgets everything: the top-level transaction has ended.
    #[inline]
    pub fn clear(&self) {
        *self.0.borrow_mut() = None;
    }

    /// The number that stands for this pair.
    pub(crate) fn number(&self, cmin: CommandId, cmax: CommandId) -> u32 {
        let mut inner = self.0.borrow_mut();
        let Inner { pairs, numbers } = &mut **inner.get_or_insert_default();
        *numbers.entry((cmin, cmax)).or_insert_with(|| {
            pairs.push((cmin, cmax));
            pairs.len() as u32 - 1
        })
    }

    /// The pair that a number stands for. A number that was never given out comes from a damaged page and reads as itself.
    pub(crate) fn pair(&self, number: u32) -> (CommandId, CommandId) {
        let inner = self.0.borrow();
        let known = inner.as_ref().and_then(|inner| inner.pairs.get(number as usize).copied());
        known.unwrap_or((CommandId(number), CommandId(number)))
    }
}
