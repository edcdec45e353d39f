//! Rules (`pg_rewrite`), but for those that are queries of views.

use base::{Oid, SqlResult};
use tuple::Datum;

use super::{Changer, Dependency, ObjectAddress};
use crate::row::RowBuilder;
use crate::rule::{NO_CONDITION, Rule};
use crate::system::{pg_class, pg_rewrite as r};

impl ObjectAddress {
    /// A rule.
    pub fn rule(oid: Oid) -> ObjectAddress {
        ObjectAddress { class: r::TABLE.oid, object: oid, sub: 0 }
    }
}

impl Changer<'_> {
    /// Enters a rule of a relation, or puts it in place of the one that has its OID; `needs`: what its condition and its actions need.
    pub fn set_rule(
        &mut self,
        relation: Oid,
        rule: &Rule,
        needs: &[ObjectAddress],
    ) -> SqlResult<ObjectAddress> {
        let oid = if rule.oid.is_valid() { rule.oid } else { self.new_oid() };
        let me = ObjectAddress::rule(oid);
        let row = RowBuilder::new(&r::TABLE)
            .set(r::OID, oid)
            .set(r::RULENAME, rule.name.as_str())
            .set(r::EV_CLASS, relation)
            .set(r::EV_TYPE, rule.event.letter())
            .set(r::EV_ENABLED, rule.enabled)
            .set(r::IS_INSTEAD, rule.instead)
            .set(r::EV_QUAL, rule.condition.as_deref().unwrap_or(NO_CONDITION))
            .set(r::EV_ACTION, &*rule.actions)
            .build();
        match self.reader().find_one(&r::TABLE, r::PG_REWRITE_OID_INDEX, &[oid.into()])? {
            Some((place, old)) => {
                self.update(&r::TABLE, place, &old, &row)?;
                self.forget_dependencies(me)?;
            }
            None => self.insert(&r::TABLE, &row)?,
        }
        self.edit(&pg_class::TABLE, pg_class::PG_CLASS_OID_INDEX, &[relation.into()], |row| {
            row[pg_class::RELHASRULES] = true.into();
        })?;
        self.depend(me, ObjectAddress::relation(relation), Dependency::Auto)?;
        self.depend_on_all(me, needs.iter().copied())?;
        self.next_command()?;
        Ok(me)
    }

    /// Gives a rule another name.
    pub fn rename_rule(&mut self, oid: Oid, name: &str) -> SqlResult<()> {
        self.edit(&r::TABLE, r::PG_REWRITE_OID_INDEX, &[oid.into()], |row| {
            row[r::RULENAME] = Datum::text(name);
        })?;
        self.next_command()
    }

    /// Says when a rule counts: `O`, `D`, `R` or `A`.
    pub fn enable_rule(&mut self, oid: Oid, enabled: u8) -> SqlResult<()> {
        self.edit(&r::TABLE, r::PG_REWRITE_OID_INDEX, &[oid.into()], |row| {
            row[r::EV_ENABLED] = Datum::Char(enabled);
        })?;
        self.next_command()
    }
}
