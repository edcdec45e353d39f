//! Changes of a view that its INSTEAD OF triggers carry out.
//!
//! The source's rows have the view's present row behind the columns that UPDATE assigns to; those of MERGE say before it whether there is one.

use base::{SqlError, SqlResult};
use catalog::TriggerKind;
use eval::code::Rows;
use eval::cx::Cx;
use eval::trigger::{At, Event};
use plan::{Command, MergeMatch};
use tuple::Datum;

use super::{ModifyNode, SYSTEM};

impl ModifyNode {
    /// The present row of the source; whether a row counts as written.
    pub(super) fn instead(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        match self.command {
            Command::Insert => {
                let new = self.view_row(0);
                self.hand_over(Event::Insert, None, Some(new), cx)
            }
            Command::Update => {
                let old = self.view_row(self.columns.len());
                let mut new = old.clone();
                for (number, value) in self.columns.iter().zip(&self.source_row) {
                    new[*number as usize - 1] = value.clone();
                }
                self.hand_over(Event::Update, Some(old), Some(new), cx)
            }
            Command::Merge => self.merge_instead(cx),
            _ => {
                let old = self.view_row(0);
                self.hand_over(Event::Delete, Some(old), None, cx)
            }
        }
    }

    /// The row of the view that begins here in the source's row; its system columns have no values but the last.
    fn view_row(&self, from: usize) -> Vec<Datum> {
        let width = self.root.columns.len();
        let mut row = self.source_row[from..from + width].to_vec();
        row.resize(width + SYSTEM.len() - 1, Datum::Null);
        row.push(Datum::Oid(self.root.oid.0));
        row
    }

    /// Leaves a change to the triggers; false if one of them is against it.
    fn hand_over(
        &mut self,
        event: Event,
        old: Option<Vec<Datum>>,
        mut new: Option<Vec<Datum>>,
        cx: &mut Cx<'_>,
    ) -> SqlResult<bool> {
        if let Some(triggers) = self.statement_triggers.clone() {
            let at = At::of(cx)?;
            if !triggers.fire_row(TriggerKind::INSTEAD, event, old.as_deref(), new.as_mut(), None, &at)? {
                return Ok(false);
            }
        }
        self.did = match event {
            Event::Insert => Command::Insert,
            Event::Update => Command::Update,
            _ => Command::Delete,
        };
        (self.old, self.row) = match (old, new) {
            (old, Some(new)) => (old.unwrap_or_default(), new),
            (Some(old), None) => (Vec::new(), old),
            (None, None) => return Err(SqlError::internal("a change without a row")),
        };
        cx.state.processed += 1;
        if event != Event::Delete {
            self.check_views_of(&self.row, cx)?;
        }
        Ok(true)
    }

    fn merge_instead(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        let Some(arms) = self.arms.clone() else { return Err(SqlError::internal("MERGE without arms")) };
        let there = self.source_row[0] == Datum::Bool(true);
        let old = self.view_row(1);
        let matched = match (there, self.has_source(&arms)) {
            (true, true) => MergeMatch::Matched,
            (true, false) => MergeMatch::NotMatchedBySource,
            (false, true) => MergeMatch::NotMatchedByTarget,
            (false, false) => return Ok(false),
        };
        let rows = Rows { outer: &old, inner: &self.source_row };
        let Some(arm) = arms.choose(matched, rows, cx)? else { return Ok(false) };
        let mut new = old.clone();
        for (number, value) in arm.values(rows, cx)? {
            new[number as usize - 1] = value;
        }
        let done = match arm.command() {
            None => return Ok(false),
            Some(Command::Insert) => self.hand_over(Event::Insert, None, Some(new), cx)?,
            Some(Command::Delete) => self.hand_over(Event::Delete, Some(old), None, cx)?,
            Some(_) => self.hand_over(Event::Update, Some(old), Some(new), cx)?,
        };
        if done {
            arms.done(self.did, cx);
        }
        Ok(done)
    }
}
