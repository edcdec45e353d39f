//! Names in view at a point of a function: variables and labels, innermost first.
//!
//! What: a persistent list. Each declaration puts an entry in front; an expression keeps the entry that was in front where it stands.

use std::rc::Rc;

use crate::ast::{ScopeRef, VarId};

/// An entry.
#[derive(Debug)]
pub struct Scope {
    entry: Entry,
    outer: ScopeRef,
}

#[derive(Debug)]
enum Entry {
    /// A variable; a record may be followed by a field's name.
    Variable { name: String, variable: VarId, record: bool },
    /// Where a level begins; the function's and the blocks' labels qualify names of the level.
    Level { label: Option<String>, is_loop: bool },
}

/// What a dotted name begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The variable.
    pub variable: VarId,
    /// It is a record.
    pub record: bool,
    /// Names used, labels included.
    pub names: usize,
}

/// Opens a level.
pub fn push_level(scope: &mut ScopeRef, label: Option<String>, is_loop: bool) {
    *scope = Some(Rc::new(Scope { entry: Entry::Level { label, is_loop }, outer: scope.take() }));
}

/// Adds a variable.
pub fn push_variable(scope: &mut ScopeRef, name: &str, variable: VarId, record: bool) {
    let entry = Entry::Variable { name: name.to_owned(), variable, record };
    *scope = Some(Rc::new(Scope { entry, outer: scope.take() }));
}

/// What the names begin with.
pub fn lookup(scope: &ScopeRef, names: &[&str]) -> Option<Found> {
    let first = names.first()?;
    let mut level = scope.as_ref();
    while let Some(mut at) = level {
        // Variables of the level, then its label.
        let start = at;
        let label = loop {
            match &at.entry {
                Entry::Variable { name, variable, record } => {
                    if name == first {
                        return Some(Found { variable: *variable, record: *record, names: 1 });
                    }
                    at = at.outer.as_ref()?;
                }
                Entry::Level { label, .. } => break label.as_deref(),
            }
        };
        if label == Some(*first) && names.len() > 1 {
            let mut inner = start;
            while let Entry::Variable { name, variable, record } = &inner.entry {
                if *name == names[1] {
                    return Some(Found { variable: *variable, record: *record, names: 2 });
                }
                inner = inner.outer.as_ref()?;
            }
        }
        level = at.outer.as_ref();
    }
    None
}

/// Whether a name was declared in the innermost level.
pub fn is_local(scope: &ScopeRef, wanted: &str) -> bool {
    let mut level = scope.as_ref();
    while let Some(at) = level {
        match &at.entry {
            Entry::Variable { name, .. } if name == wanted => return true,
            Entry::Variable { .. } => level = at.outer.as_ref(),
            Entry::Level { .. } => return false,
        }
    }
    false
}

/// The label's kind, if one of the levels has it: whether it is a loop's.
pub fn label(scope: &ScopeRef, wanted: &str) -> Option<bool> {
    let mut level = scope.as_ref();
    while let Some(at) = level {
        match &at.entry {
            Entry::Level { label: Some(label), is_loop } if label == wanted => return Some(*is_loop),
            _ => level = at.outer.as_ref(),
        }
    }
    None
}

/// Whether a loop is around.
pub fn in_loop(scope: &ScopeRef) -> bool {
    let mut level = scope.as_ref();
    while let Some(at) = level {
        if matches!(at.entry, Entry::Level { is_loop: true, .. }) {
            return true;
        }
        level = at.outer.as_ref();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_names_hide_outer_ones_unless_qualified() {
        let mut scope = None;
        push_level(&mut scope, Some("f".into()), false);
        push_variable(&mut scope, "x", 0, false);
        push_level(&mut scope, Some("b".into()), false);
        push_variable(&mut scope, "x", 1, true);
        let found = |names: &[&str]| lookup(&scope, names).map(|f| (f.variable, f.names));
        assert_eq!(found(&["x"]), Some((1, 1)));
        assert_eq!(found(&["f", "x"]), Some((0, 2)));
        assert_eq!(found(&["b", "x", "field"]), Some((1, 2)));
        assert_eq!(found(&["y"]), None);
        assert!(is_local(&scope, "x"));
        assert_eq!(label(&scope, "b"), Some(false));
        assert!(!in_loop(&scope));
    }
}
