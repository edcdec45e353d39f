//! Where a change of rows meets triggers.

use base::{SqlError, SqlResult, Tid, sql_err};
use catalog::TriggerKind;
use eval::cx::{Cx, Part};
use eval::node::datum_tid;
use eval::trigger::{At, Change, Event, TableTriggers};
use heap::{LockOutcome, LockStrength, Refusal, Wanted};
use plan::Command;
use tuple::Datum;

use super::{ModifyNode, Step, Target};
use crate::recheck;

impl ModifyNode {
    /// Kinds of changes that the statement makes, in the order in which their BEFORE STATEMENT triggers fire.
    fn statement_events(&self) -> Vec<Event> {
        let updates = self.conflict.as_ref().is_some_and(|conflict| conflict.set.is_some());
        match (self.command, &self.arms) {
            (Command::Insert, _) if updates => vec![Event::Insert, Event::Update],
            (Command::Insert, _) => vec![Event::Insert],
            (Command::Update, _) => vec![Event::Update],
            (Command::Delete, _) => vec![Event::Delete],
            (_, Some(arms)) => {
                let pairs = [
                    (Command::Insert, Event::Insert),
                    (Command::Update, Event::Update),
                    (Command::Delete, Event::Delete),
                ];
                pairs.into_iter().filter(|(command, _)| arms.does(*command)).map(|(_, event)| event).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Columns that the statement as a whole assigns to.
    fn statement_columns(&self) -> Vec<i16> {
        let conflict = self.conflict.iter().filter_map(|c| c.set.as_ref()).flatten().map(|(n, _)| *n);
        let merge = self.arms.iter().flat_map(|arms| arms.updated());
        self.columns.iter().copied().chain(conflict).chain(merge).collect()
    }

    /// Once, before the first row.
    pub(super) fn before_statement(&mut self, cx: &mut Cx<'_>) -> SqlResult<()> {
        if cx.state.part == Part::Load {
            return Ok(());
        }
        let Some(triggers) = self.statement_triggers.clone() else { return Ok(()) };
        let columns = self.statement_columns();
        let at = At::of(cx)?;
        for event in self.statement_events() {
            let fires = triggers.has(TriggerKind::BEFORE, event);
            if fires && cx.state.events.begins(self.root.oid, event) {
                triggers.fire_before_statement(event, Some(&columns), &at)?;
            }
        }
        Ok(())
    }

    /// Once, after the last row.
    pub(super) fn after_statement(&mut self, cx: &mut Cx<'_>) -> SqlResult<()> {
        if cx.state.part == Part::Load {
            return Ok(());
        }
        let Some(triggers) = self.statement_triggers.clone() else { return Ok(()) };
        let columns = self.statement_columns();
        let mut events = self.statement_events().into_iter().rev();
        let at = At::of(cx)?;
        events.try_for_each(|event| {
            triggers.queue_statement(event, Some(&columns), (&at, &mut cx.state.events))
        })
    }

    /// The columns that an UPDATE of a row assigns to, as its table numbers them.
    fn updated(&self, target: &Target) -> SqlResult<Vec<i16>> {
        self.assigned.iter().map(|number| Ok(target.place(*number)? as i16 + 1)).collect()
    }

    /// Before the row in `self.row` is inserted; false if it is not to be.
    pub(super) fn before_insert(&mut self, target: &Target, cx: &mut Cx<'_>) -> SqlResult<bool> {
        let Some(triggers) = &target.triggers else { return Ok(true) };
        if !triggers.has(TriggerKind::ROW | TriggerKind::BEFORE, Event::Insert) {
            return Ok(true);
        }
        let new = Some(&mut self.row);
        if !triggers.fire_row(TriggerKind::BEFORE, Event::Insert, None, new, None, &At::of(cx)?)? {
            return Ok(false);
        }
        self.stays(target, cx)?;
        Ok(true)
    }

    /// A trigger must not give a new row another partition.
    fn stays(&mut self, target: &Target, cx: &mut Cx<'_>) -> SqlResult<()> {
        let Some(router) = &self.router else { return Ok(()) };
        let row = target.to_root(&self.row, &mut self.root_row);
        let place = router.find(row, cx)?;
        if place.is_ok_and(|at| self.targets[at].table.oid == target.table.oid) {
            return Ok(());
        }
        let before_insert = TriggerKind::ROW | TriggerKind::BEFORE | TriggerKind::INSERT;
        let fired = target.table.triggers.iter().rfind(|trigger| trigger.kind.has(before_insert));
        let name = fired.map_or("", |trigger| trigger.name.as_str());
        let (schema, table) = (&target.table.schema_name, &target.table.name);
        Err(sql_err!(
            FEATURE_NOT_SUPPORTED,
            "moving row to another partition during a BEFORE FOR EACH ROW trigger is not supported"
        )
        .detail(format!(
            "Before executing trigger \"{name}\", the row was to be in partition \"{schema}.{table}\"."
        )))
    }

    /// Before the version at `tid`, which is `old`, is replaced by the row in `self.row`: something if it is not to be now.
    pub(super) fn before_update(
        &mut self,
        target: &Target,
        tid: Tid,
        old: &mut [Datum],
        cx: &mut Cx<'_>,
    ) -> SqlResult<Option<Step>> {
        let Some(triggers) = &target.triggers else { return Ok(None) };
        if !triggers.has(TriggerKind::ROW | TriggerKind::BEFORE, Event::Update) {
            return Ok(None);
        }
        let strength = target.update_strength(self.assigned.iter().copied())?;
        if let Some(refusal) = lock(target, tid, strength, cx)? {
            return Ok(Some(Step::Refused(refusal)));
        }
        target.detoast(old, cx)?;
        target.detoast(&mut self.row, cx)?;
        let updated = self.updated(target)?;
        let new = Some(&mut self.row);
        let (rows, at) = ((Some(&*old), new), At::of(cx)?);
        let go_on =
            triggers.fire_row(TriggerKind::BEFORE, Event::Update, rows.0, rows.1, Some(&updated), &at)?;
        Ok((!go_on).then_some(Step::Skipped))
    }

    /// Fires BEFORE DELETE triggers for the version `old` at `tid`; something if it is not to be deleted after all.
    pub(super) fn before_delete(
        &mut self,
        target: &Target,
        tid: Tid,
        old: &mut [Datum],
        cx: &mut Cx<'_>,
    ) -> SqlResult<Option<Step>> {
        let Some(triggers) = &target.triggers else { return Ok(None) };
        if !triggers.has(TriggerKind::ROW | TriggerKind::BEFORE, Event::Delete) {
            return Ok(None);
        }
        if let Some(refusal) = lock(target, tid, LockStrength::Update, cx)? {
            return Ok(Some(Step::Refused(refusal)));
        }
        target.detoast(old, cx)?;
        let go_on =
            triggers.fire_row(TriggerKind::BEFORE, Event::Delete, Some(old), None, None, &At::of(cx)?)?;
        Ok((!go_on).then_some(Step::Skipped))
    }

    /// Whether the row before a change is needed for triggers.
    pub(super) fn keeps_old(&self, target: &Target, event: Event) -> bool {
        target.triggers.is_some() || self.transitions(event)[0]
    }

    /// Which rows of a change triggers of the statement's target want to read as tables.
    fn transitions(&self, event: Event) -> [bool; 2] {
        self.statement_triggers.as_ref().map_or([false; 2], |triggers| triggers.transitions(event))
    }

    /// Whether triggers want to know of rows after such a change.
    pub(super) fn tells_of_rows(&self, target: &Target, event: Event) -> bool {
        let fires = target.triggers.as_ref().is_some_and(|triggers| triggers.after_rows(event));
        fires || self.transitions(event) != [false; 2]
    }

    /// Keeps a row before and after a change, each with its table, for triggers that read them as tables.
    fn keep_changed(
        &mut self,
        event: Event,
        rows: [Option<(&Target, &[Datum])>; 2],
        cx: &mut Cx<'_>,
    ) -> SqlResult<()> {
        let wanted = self.transitions(event);
        for (side, row) in rows.into_iter().enumerate().filter(|(side, _)| wanted[*side]) {
            let Some((target, row)) = row else { continue };
            let mut row = row.to_vec();
            target.detoast(&mut row, cx)?;
            let row = target.to_root(&row, &mut self.root_row)[..self.root.columns.len()].to_vec();
            let memory = (cx.env.work_mem, cx.env.temp);
            cx.state.events.changed(self.root.oid, event).push(side, row, memory)?;
        }
        Ok(())
    }

    /// After a row was written or deleted: `old` is its version before, at the place, and the row in `self.row` the new one unless
    /// it was deleted.
    pub(super) fn after_row(
        &mut self,
        target: &Target,
        event: Event,
        old: Option<(Tid, &[Datum])>,
        cx: &mut Cx<'_>,
    ) -> SqlResult<()> {
        if self.transitions(event) != [false; 2] {
            let new = (event != Event::Delete).then(|| self.row.clone());
            let rows = [old.map(|(_, old)| old), new.as_deref()];
            self.keep_changed(event, rows.map(|row| row.map(|row| (target, row))), cx)?;
        }
        self.queue_row(target, event, old, cx)
    }

    /// Has triggers fire after a row was changed, see [`Self::after_row`].
    pub(super) fn queue_row(
        &mut self,
        target: &Target,
        event: Event,
        old: Option<(Tid, &[Datum])>,
        cx: &mut Cx<'_>,
    ) -> SqlResult<()> {
        let Some(triggers) = &target.triggers else { return Ok(()) };
        if !triggers.after_rows(event) {
            return Ok(());
        }
        let new = match event {
            Event::Delete => None,
            _ => {
                let place = self.row.get(target.width()).and_then(datum_tid);
                let place = place.ok_or_else(|| SqlError::internal("a row without a place"))?;
                target.detoast(&mut self.row, cx)?;
                Some((place, self.row.as_slice()))
            }
        };
        let updated = if event == Event::Update { Some(self.updated(target)?) } else { None };
        let (at, rechecks) = (At::of(cx)?, std::mem::take(&mut cx.rechecks));
        let change = Change { old, new, rechecks: &rechecks, moves: false };
        triggers.queue_row(event, change, updated.as_deref(), (&at, &mut cx.state.events))
    }

    /// After a row, `old` at the place, was deleted where it moves to another partition.
    pub(super) fn after_leaving(
        &mut self,
        target: &Target,
        old: (Tid, &[Datum]),
        cx: &mut Cx<'_>,
    ) -> SqlResult<()> {
        let Some(triggers) = &target.triggers else { return Ok(()) };
        if !triggers.after_rows(Event::Delete) {
            return Ok(());
        }
        let change = Change { old: Some(old), moves: true, ..Change::default() };
        triggers.queue_row(Event::Delete, change, None, (&At::of(cx)?, &mut cx.state.events))
    }

    /// After a row, `old` at the place, has moved to another partition, where it is the row in `self.row`: what refers to the
    /// partitioned table learns of an update of that.
    pub(super) fn after_move(
        &mut self,
        (source, target): (&Target, &Target),
        (tid, old): (Tid, &[Datum]),
        cx: &mut Cx<'_>,
    ) -> SqlResult<()> {
        if self.transitions(Event::Update) != [false; 2] {
            let new = self.row.clone();
            self.keep_changed(Event::Update, [Some((source, old)), Some((target, &new))], cx)?;
        }
        if source.triggers.is_none() {
            return Ok(());
        }
        self.check_referenced_between(source, cx)?;
        let Some(triggers) = self.statement_triggers.clone().filter(|t| t.after_rows(Event::Update)) else {
            return Ok(());
        };
        let place = self.row.get(target.width()).and_then(datum_tid);
        let place = place.ok_or_else(|| SqlError::internal("a row without a place"))?;
        target.detoast(&mut self.row, cx)?;
        let new = target.to_root(&self.row, &mut self.root_row).to_vec();
        let old = source.to_root(old, &mut self.root_row);
        let change = Change { old: Some((tid, old)), new: Some((place, &new)), ..Change::default() };
        let (at, partitions) = (At::of(cx)?, [&source.table, &target.table]);
        triggers.queue_move(partitions, change, (&at, &mut cx.state.events))
    }

    /// Fails if a foreign key refers to a table between the statement's target and the partition that a row leaves, but not to the target itself.
    fn check_referenced_between(&self, source: &Target, cx: &Cx<'_>) -> SqlResult<()> {
        let mut next = source.table.partition_of;
        let firing = At::of(cx)?.firing;
        while next.is_valid() && next != self.root.oid {
            let Some(table) = firing.table(next)? else { return Ok(()) };
            if TableTriggers::new(&table).is_some_and(|triggers| triggers.is_referenced()) {
                let (ancestor, root) = (&table.name, &self.root.name);
                return Err(sql_err!(
                    FEATURE_NOT_SUPPORTED,
                    "cannot move tuple across partitions when a non-root ancestor of the source partition is directly referenced in a foreign key"
                )
                .detail(format!(
                    "A foreign key points to ancestor \"{ancestor}\" but not the root ancestor \"{root}\"."
                ))
                .hint(format!("Consider defining the foreign key on table \"{root}\".")));
            }
            next = table.partition_of;
        }
        Ok(())
    }
}

/// Locks the version that triggers are about to see; the refusal if that is not possible now.
fn lock(target: &Target, tid: Tid, strength: LockStrength, cx: &mut Cx<'_>) -> SqlResult<Option<Refusal>> {
    let outcome = recheck::lock_version(&target.heap, (tid, Wanted::Seen), strength, cx)?;
    Ok(match outcome {
        LockOutcome::Locked { .. } => None,
        LockOutcome::Refused(refusal) => Some(refusal),
    })
}

/// A row that the statement was to change was changed meanwhile by something that it set off.
pub(super) fn check_triggered(refusal: Refusal, command: Command, cx: &Cx<'_>) -> SqlResult<()> {
    let Refusal::SelfModified { cmax, .. } = refusal else { return Ok(()) };
    if cmax == cx.env.command {
        return Ok(());
    }
    let done = match command {
        Command::Delete => "deleted",
        Command::Merge => "updated or deleted",
        _ => "updated",
    };
    Err(sql_err!(
        TRIGGERED_DATA_CHANGE_VIOLATION,
        "tuple to be {done} was already modified by an operation triggered by the current command"
    )
    .hint("Consider using an AFTER trigger instead of a BEFORE trigger to propagate changes to other rows."))
}
