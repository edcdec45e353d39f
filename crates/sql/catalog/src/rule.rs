//! Rules of a relation, as `pg_rewrite` has them. The rule `_RETURN` of a view is its query, and not among them.

use std::sync::Arc;

use base::{Oid, SqlResult};

use crate::database::Reader;
use crate::row::{Row, RowExt};
use crate::system::pg_rewrite as r;

/// The name of the rule that a view's query is.
pub const VIEW_RULE: &str = "_RETURN";

/// What a rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum RuleEvent {
    Update,
    Insert,
    Delete,
}

/// A rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// OID.
    pub oid: Oid,
    /// Name.
    pub name: String,
    /// What it is about.
    pub event: RuleEvent,
    /// It stands in place of the statement.
    pub instead: bool,
    /// When it counts: `O`, `D`, `R` or `A`, as of a trigger.
    pub enabled: u8,
    /// WHERE, as `analyze::stored` writes it: the old row has range table index 0, the new one 1.
    pub condition: Option<Arc<str>>,
    /// What is done, as `analyze::rule` writes it; the rows are one level out.
    pub actions: Arc<str>,
}

/// A view's query, and the other rules of a relation.
pub(crate) type Rules = (Option<Arc<str>>, Vec<Arc<Rule>>);

/// How `pg_rewrite` writes that there is no condition.
pub(crate) const NO_CONDITION: &str = "<>";

impl RuleEvent {
    /// `pg_rewrite.ev_type`
    pub(crate) fn letter(self) -> u8 {
        match self {
            RuleEvent::Update => b'2',
            RuleEvent::Insert => b'3',
            RuleEvent::Delete => b'4',
        }
    }
}

impl Rule {
    /// A rule as its row says; none for a view's query.
    pub fn of_row(row: &Row) -> Option<Rule> {
        let event = match row.char(r::EV_TYPE) {
            b'2' => RuleEvent::Update,
            b'3' => RuleEvent::Insert,
            b'4' => RuleEvent::Delete,
            _ => return None,
        };
        let condition = row.str(r::EV_QUAL);
        Some(Rule {
            oid: row.oid(r::OID),
            name: row.str(r::RULENAME).to_owned(),
            event,
            instead: row.bool(r::IS_INSTEAD),
            enabled: row.char(r::EV_ENABLED),
            condition: (condition != NO_CONDITION).then(|| condition.into()),
            actions: row.str(r::EV_ACTION).into(),
        })
    }

    /// Whether it counts in a session that replicates what others have done, or in one that does not.
    pub fn is_enabled(&self, replica: bool) -> bool {
        match self.enabled {
            b'A' => true,
            b'O' => !replica,
            b'R' => replica,
            _ => false,
        }
    }
}

impl Reader<'_> {
    /// A view's query, and the other rules of a relation by name, the order in which they are applied.
    pub(crate) fn load_rules(&self, relation: Oid) -> SqlResult<Rules> {
        let rows = self.find(&r::TABLE, r::PG_REWRITE_REL_RULENAME_INDEX, &[relation.into()])?;
        let (mut query, mut rules) = (None, Vec::new());
        for (_, row) in &rows {
            match Rule::of_row(row) {
                Some(rule) => rules.push(Arc::new(rule)),
                None => query = Some(row.str(r::EV_ACTION).into()),
            }
        }
        rules.sort_by(|a, b| a.name.cmp(&b.name));
        Ok((query, rules))
    }
}
