//! Triggers (`pg_trigger`).

use base::{Oid, SqlResult};
use tuple::Datum;

use super::{Changer, Dependency, ObjectAddress};
use crate::row::{RowBuilder, RowExt};
use crate::system::{pg_class, pg_trigger};
use crate::trigger::Trigger;
use crate::vectors::int2_vector;

/// A trigger to be made.
#[derive(Clone, Debug)]
pub struct NewTrigger {
    /// Its relation.
    pub table: Oid,
    /// What it is; without an OID. To the name of an internal one its OID is added.
    pub trigger: Trigger,
    /// What WHEN needs, columns of the relation not counted.
    pub needs: Vec<ObjectAddress>,
    /// The trigger that it replaces.
    pub replaces: Option<Oid>,
}

impl ObjectAddress {
    /// A trigger.
    pub fn trigger(oid: Oid) -> ObjectAddress {
        ObjectAddress { class: pg_trigger::TABLE.oid, object: oid, sub: 0 }
    }
}

impl Changer<'_> {
    /// Enters a trigger. Returns its OID.
    pub fn create_trigger(&mut self, new: &NewTrigger) -> SqlResult<Oid> {
        use pg_trigger as t;
        let trigger = &new.trigger;
        let oid = match new.replaces {
            Some(old) => {
                self.forget_dependencies(ObjectAddress::trigger(old))?;
                old
            }
            None => self.new_oid(),
        };
        let name = match trigger.internal {
            true => format!("{}_{oid}", trigger.name),
            false => trigger.name.clone(),
        };
        let mut args = Vec::new();
        for arg in &trigger.args {
            args.extend_from_slice(arg.as_bytes());
            args.push(0);
        }
        let row = RowBuilder::new(&t::TABLE)
            .set(t::OID, oid)
            .set(t::TGRELID, new.table)
            .set(t::TGPARENTID, trigger.parent)
            .set(t::TGNAME, name.as_str())
            .set(t::TGFOID, trigger.function)
            .set(t::TGTYPE, trigger.kind.0)
            .set(t::TGENABLED, trigger.enabled)
            .set(t::TGISINTERNAL, trigger.internal)
            .set(t::TGCONSTRRELID, trigger.constraint_relation)
            .set(t::TGCONSTRINDID, trigger.constraint_index)
            .set(t::TGCONSTRAINT, trigger.constraint)
            .set(t::TGDEFERRABLE, trigger.deferrable)
            .set(t::TGINITDEFERRED, trigger.deferred)
            .set(t::TGNARGS, trigger.args.len() as i16)
            .set(t::TGATTR, int2_vector(&trigger.columns))
            .set(t::TGARGS, Datum::Bytes(args.into()))
            .set_some(t::TGQUAL, trigger.when.as_deref())
            .set_some(t::TGOLDTABLE, trigger.old_table.as_deref())
            .set_some(t::TGNEWTABLE, trigger.new_table.as_deref())
            .build();
        let by_oid = t::PG_TRIGGER_OID_INDEX;
        match self.reader().find_one(&t::TABLE, by_oid, &[oid.into()])? {
            Some((place, old)) => self.update(&t::TABLE, place, &old, &row)?,
            None => self.insert(&t::TABLE, &row)?,
        }
        self.edit(&pg_class::TABLE, pg_class::PG_CLASS_OID_INDEX, &[new.table.into()], |row| {
            row[pg_class::RELHASTRIGGERS] = true.into();
        })?;
        self.depend_trigger(oid, new)?;
        self.next_command()?;
        Ok(oid)
    }

    fn depend_trigger(&mut self, oid: Oid, new: &NewTrigger) -> SqlResult<()> {
        let (me, trigger) = (ObjectAddress::trigger(oid), &new.trigger);
        self.depend(me, ObjectAddress::routine(trigger.function), Dependency::Normal)?;
        if trigger.internal && trigger.constraint.is_valid() {
            self.depend(me, ObjectAddress::constraint(trigger.constraint), Dependency::Internal)?;
        } else {
            self.depend(me, ObjectAddress::relation(new.table), Dependency::Auto)?;
            if trigger.constraint_relation.is_valid() {
                let other = ObjectAddress::relation(trigger.constraint_relation);
                self.depend(me, other, Dependency::Auto)?;
            }
            if trigger.constraint.is_valid() {
                self.depend(ObjectAddress::constraint(trigger.constraint), me, Dependency::Internal)?;
            }
        }
        if trigger.is_clone() {
            self.depend(me, ObjectAddress::trigger(trigger.parent), Dependency::Part)?;
        }
        for &column in &trigger.columns {
            self.depend(me, ObjectAddress::column(new.table, column), Dependency::Normal)?;
        }
        self.depend_on_all(me, new.needs.iter().copied())?;
        Ok(())
    }

    /// Changes a trigger's row.
    pub fn edit_trigger(&mut self, oid: Oid, edit: impl FnOnce(&mut crate::Row)) -> SqlResult<()> {
        self.edit(&pg_trigger::TABLE, pg_trigger::PG_TRIGGER_OID_INDEX, &[oid.into()], edit)?;
        self.next_command()
    }

    /// Makes a partition's trigger one that can be dropped by itself.
    pub fn release_trigger(&mut self, oid: Oid) -> SqlResult<()> {
        self.release_part(ObjectAddress::trigger(oid))
    }

    /// Makes a trigger a part of another, or (none) one of its own.
    pub fn set_parent_trigger(&mut self, oid: Oid, parent: Option<Oid>) -> SqlResult<()> {
        let me = ObjectAddress::trigger(oid);
        match parent {
            Some(parent) => self.depend(me, ObjectAddress::trigger(parent), Dependency::Part)?,
            None => self.release_part(me)?,
        }
        self.edit_trigger(oid, |row| row[pg_trigger::TGPARENTID] = parent.unwrap_or(Oid::INVALID).into())
    }

    /// The trigger and the clones that partitions have of it, at all levels.
    pub fn trigger_family(&self, oid: Oid) -> SqlResult<Vec<(Oid, Oid)>> {
        let reader = self.reader();
        let by_oid = pg_trigger::PG_TRIGGER_OID_INDEX;
        let mut family = Vec::new();
        let mut next = vec![oid];
        while let Some(oid) = next.pop() {
            let Some((_, row)) = reader.find_one(&pg_trigger::TABLE, by_oid, &[oid.into()])? else {
                continue;
            };
            let relation = row.oid(pg_trigger::TGRELID);
            family.push((relation, oid));
            for child in reader.children(relation)? {
                next.extend(reader.triggers(child.oid)?.iter().filter(|t| t.parent == oid).map(|t| t.oid));
            }
        }
        Ok(family)
    }
}
