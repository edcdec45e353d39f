//! Which object needs which (`pg_depend`), and dropping with everything that depends.
//!
//! Built-in objects are pinned by their OID range: no rows say so, and nothing records that it needs them (thread 4). The schema
//! `public` is none of them.

use std::collections::HashSet;

use base::{Oid, SqlError, SqlResult, SqlState};
use txn::{End, LockMode, LockWait};

use super::Changer;
use super::object::catalog_by_oid;
use crate::database::PUBLIC;
use crate::object_class::ObjectClass;
use crate::row::{Row, RowBuilder, RowExt};
use crate::rule::VIEW_RULE;
use crate::system::{
    SystemTable, pg_attrdef, pg_class, pg_constraint, pg_depend, pg_description, pg_extension, pg_index,
    pg_largeobject, pg_namespace, pg_opclass, pg_operator, pg_opfamily, pg_policy, pg_proc, pg_rewrite,
    pg_statistic_ext, pg_trigger, pg_ts_config, pg_type,
};

/// An object of any catalog: the catalog, its OID, and a column number or 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ObjectAddress {
    /// Catalog that describes it.
    pub class: Oid,
    /// Its OID there.
    pub object: Oid,
    /// Column, or 0 for the whole.
    pub sub: i16,
}

impl ObjectAddress {
    /// A relation.
    pub fn relation(oid: Oid) -> ObjectAddress {
        ObjectAddress { class: pg_class::TABLE.oid, object: oid, sub: 0 }
    }

    /// A column of a relation.
    pub fn column(oid: Oid, number: i16) -> ObjectAddress {
        ObjectAddress { class: pg_class::TABLE.oid, object: oid, sub: number }
    }

    /// Whether it is always there, so that nothing says that it is needed: what initdb made, but for an extension and the schema `public`.
    pub fn is_pinned(self) -> bool {
        self.object.is_pinned()
            && self != ObjectAddress::schema(PUBLIC)
            && self.class != pg_largeobject::TABLE.oid
            && !crate::bootstrap::is_of_extension(self.object)
    }

    /// A schema.
    pub fn schema(oid: Oid) -> ObjectAddress {
        ObjectAddress { class: pg_namespace::TABLE.oid, object: oid, sub: 0 }
    }

    /// A type.
    pub fn ty(oid: Oid) -> ObjectAddress {
        ObjectAddress { class: pg_type::TABLE.oid, object: oid, sub: 0 }
    }

    /// A function, procedure or aggregate.
    pub fn routine(oid: Oid) -> ObjectAddress {
        ObjectAddress { class: pg_proc::TABLE.oid, object: oid, sub: 0 }
    }

    /// A constraint.
    pub fn constraint(oid: Oid) -> ObjectAddress {
        ObjectAddress { class: pg_constraint::TABLE.oid, object: oid, sub: 0 }
    }
}

/// How an object depends on another (`pg_depend.deptype`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dependency {
    /// It goes only with CASCADE.
    Normal,
    /// It goes silently with the other.
    Auto,
    /// It is part of the other's implementation: it cannot be dropped by itself.
    Internal,
    /// It is a member of the other, an extension: it cannot be dropped by itself.
    Extension,
    /// It is the part that a partition has of the other: it cannot be dropped by itself, only with the partition.
    Part,
}

impl Dependency {
    fn letter(self) -> u8 {
        match self {
            Dependency::Normal => b'n',
            Dependency::Auto => b'a',
            Dependency::Internal => b'i',
            Dependency::Extension => b'e',
            Dependency::Part => b'P',
        }
    }
}

/// RESTRICT or CASCADE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behavior {
    /// Refuse if anything depends on it.
    Restrict,
    /// Drop what depends on it too.
    Cascade,
}

/// Objects to be dropped, each behind what it depends on.
struct Plan {
    order: Vec<ObjectAddress>,
    seen: HashSet<ObjectAddress>,
    /// Dependents that only CASCADE drops, and what each depends on; those of a dependent before itself.
    normal: Vec<(ObjectAddress, ObjectAddress)>,
}

impl Changer<'_> {
    /// Records that `dependent` needs `on`.
    pub fn depend(&mut self, dependent: ObjectAddress, on: ObjectAddress, kind: Dependency) -> SqlResult<()> {
        if on.is_pinned() {
            return Ok(());
        }
        self.keep(on)?;
        use pg_depend as d;
        let row = RowBuilder::new(&d::TABLE)
            .set(d::CLASSID, dependent.class)
            .set(d::OBJID, dependent.object)
            .set(d::OBJSUBID, i32::from(dependent.sub))
            .set(d::REFCLASSID, on.class)
            .set(d::REFOBJID, on.object)
            .set(d::REFOBJSUBID, i32::from(on.sub))
            .set(d::DEPTYPE, kind.letter());
        self.insert(&d::TABLE, &row.build())
    }

    /// Keeps an object from being dropped until the transaction ends. Relations and their parts need no such lock: statements that use them lock them anyway.
    fn keep(&mut self, object: ObjectAddress) -> SqlResult<()> {
        if in_relations(object.class).is_some() {
            return Ok(());
        }
        if self.lock_object(object, LockMode::AccessShare)? {
            return Ok(());
        }
        let (state, kind) = kind_of(object.class);
        Err(SqlError::new(state, format!("{kind} with OID {} does not exist", object.object)))
    }

    /// Takes the lock of an object that is no relation nor part of one; false if there is no such object any more.
    fn lock_object(&mut self, object: ObjectAddress, mode: LockMode) -> SqlResult<bool> {
        let tag = self.catalog.object_tag(object.class, object.object);
        self.me.lock(tag, mode, LockWait::Block).map_err(SqlError::from)?;
        let (shape, by_oid) = catalog_by_oid(object.class)?;
        self.reader().is_there(shape, by_oid, &[object.object.into()])
    }

    /// Records that `dependent` needs all of these; of a relation some of whose columns are among them, nothing but these.
    pub(super) fn depend_on_all(
        &mut self,
        dependent: ObjectAddress,
        needs: impl IntoIterator<Item = ObjectAddress>,
    ) -> SqlResult<()> {
        let mut all: Vec<ObjectAddress> = Vec::new();
        for need in needs {
            if !all.contains(&need) {
                all.push(need);
            }
        }
        let has_part = |whole: &ObjectAddress| {
            let same = |part: &&ObjectAddress| (part.class, part.object) == (whole.class, whole.object);
            whole.sub == 0 && all.iter().filter(same).any(|part| part.sub != 0)
        };
        let told = all.iter().filter(|need| !has_part(need));
        told.copied().try_for_each(|need| self.depend(dependent, need, Dependency::Normal))
    }

    /// Drops objects and what depends on them. Returns a NOTICE's message and detail if CASCADE took more with it.
    pub fn drop_objects(
        &mut self,
        objects: &[ObjectAddress],
        behavior: Behavior,
    ) -> SqlResult<Option<(String, Option<String>)>> {
        let mut plan = Plan { order: Vec::new(), seen: HashSet::new(), normal: Vec::new() };
        for &object in objects {
            self.check_pinned(object)?;
            self.check_internal(object, objects)?;
        }
        for &object in objects {
            self.collect(&mut plan, object)?;
        }
        let mut extra = Vec::new();
        for &(object, on) in plan.normal.iter().rev().filter(|(object, _)| !objects.contains(object)) {
            if !self.goes_anyway(&plan, object)? {
                extra.push((object, on));
            }
        }
        if behavior == Behavior::Restrict && !extra.is_empty() {
            return Err(self.restricted(objects, &extra)?);
        }
        let notice = self.cascade_notice(&extra)?;
        for object in plan.order {
            self.drop_one(object)?;
        }
        self.next_command()?;
        Ok(notice)
    }

    /// Whether an object that nothing is a part of could be dropped now; takes no lock.
    pub fn check_droppable(&self, object: ObjectAddress) -> SqlResult<()> {
        self.check_pinned(object)?;
        self.check_internal(object, &[object])?;
        let key = [object.class.into(), object.object.into()];
        let rows = self.reader().find(&pg_depend::TABLE, pg_depend::PG_DEPEND_REFERENCE_INDEX, &key)?;
        let mut extra = Vec::new();
        for (_, row) in rows.iter().filter(|(_, row)| row.char(pg_depend::DEPTYPE) == b'n') {
            let (class, dependent) = (row.oid(pg_depend::CLASSID), row.oid(pg_depend::OBJID));
            let sub = row.int(pg_depend::OBJSUBID) as i16;
            extra.push((self.whole_of(ObjectAddress { class, object: dependent, sub })?, object));
        }
        if extra.is_empty() { Ok(()) } else { Err(self.restricted(&[object], &extra)?) }
    }

    fn check_pinned(&self, object: ObjectAddress) -> SqlResult<()> {
        if object.is_pinned() {
            let what = self.reader().describe(object)?;
            let message = format!("cannot drop {what} because it is required by the database system");
            return Err(SqlError::new(SqlState::DEPENDENT_OBJECTS_STILL_EXIST, message));
        }
        Ok(())
    }

    /// An object that implements another goes only with that one.
    fn check_internal(&self, object: ObjectAddress, objects: &[ObjectAddress]) -> SqlResult<()> {
        let key = [object.class.into(), object.object.into(), i32::from(object.sub).into()];
        let reader = self.reader();
        for (_, row) in reader.find(&pg_depend::TABLE, pg_depend::PG_DEPEND_DEPENDER_INDEX, &key)? {
            let owner = referenced(&row);
            if matches!(row.char(pg_depend::DEPTYPE), b'i' | b'P' | b'e') && !objects.contains(&owner) {
                let (what, owner) = (reader.describe(object)?, reader.describe(owner)?);
                return Err(SqlError::new(
                    SqlState::DEPENDENT_OBJECTS_STILL_EXIST,
                    format!("cannot drop {what} because {owner} requires it"),
                )
                .hint(format!("You can drop {owner} instead.")));
            }
        }
        Ok(())
    }

    /// Takes the lock of an object that is to be dropped; of the relation, if it is one, or a part of one: a column, constraint, default, trigger,
    /// policy or rule. Whoever uses it has ended then. False if it has been dropped meanwhile.
    fn lock_for_drop(&mut self, object: ObjectAddress) -> SqlResult<bool> {
        let Some((shape, by_oid)) = in_relations(object.class) else {
            return self.lock_object(object, LockMode::AccessExclusive);
        };
        let Some(row) = self.reader().find_one(shape, by_oid, &[object.object.into()])? else {
            return Ok(false);
        };
        for relation in self.used_with(object, &row.1)? {
            let tag = self.catalog.lock_tag(relation);
            self.me.lock(tag, LockMode::AccessExclusive, LockWait::Block).map_err(SqlError::from)?;
        }
        Ok(self.reader().find_one(shape, by_oid, &[object.object.into()])?.is_some())
    }

    /// The relations that are locked by whoever uses this object, of which this is the row. Who uses an index locks its table only; one that is dead
    /// already nobody uses. A foreign key is used by changes of either table.
    fn used_with(&self, object: ObjectAddress, row: &Row) -> SqlResult<Vec<Oid>> {
        let mut relations = match object.class {
            class if class == pg_class::TABLE.oid => {
                let index = self.reader().index_row(object.object)?;
                let table = index.filter(|row| row.bool(pg_index::INDISLIVE));
                let table = table.map(|row| row.oid(pg_index::INDRELID));
                table.into_iter().chain([object.object]).collect()
            }
            class if class == pg_constraint::TABLE.oid => {
                vec![row.oid(pg_constraint::CONRELID), row.oid(pg_constraint::CONFRELID)]
            }
            class if class == pg_attrdef::TABLE.oid => vec![row.oid(pg_attrdef::ADRELID)],
            class if class == pg_policy::TABLE.oid => vec![row.oid(pg_policy::POLRELID)],
            class if class == pg_trigger::TABLE.oid => vec![row.oid(pg_trigger::TGRELID)],
            _ => vec![row.oid(pg_rewrite::EV_CLASS)],
        };
        relations.retain(|relation| relation.is_valid());
        Ok(relations)
    }

    /// Depth first: dependents come before what they depend on.
    fn collect(&mut self, plan: &mut Plan, object: ObjectAddress) -> SqlResult<()> {
        if !plan.seen.insert(object) {
            return Ok(());
        }
        if !self.lock_for_drop(object)? {
            return Ok(());
        }
        let mut key = vec![object.class.into(), object.object.into()];
        if object.sub != 0 {
            key.push(i32::from(object.sub).into());
        }
        let mut rows = self.reader().find(&pg_depend::TABLE, pg_depend::PG_DEPEND_REFERENCE_INDEX, &key)?;
        // Younger objects first: messages tell of them in the opposite order.
        rows.sort_by_key(|(_, row)| std::cmp::Reverse(row.oid(pg_depend::OBJID)));
        for (_, row) in rows {
            let dependent = ObjectAddress {
                class: row.oid(pg_depend::CLASSID),
                object: row.oid(pg_depend::OBJID),
                sub: row.int(pg_depend::OBJSUBID) as i16,
            };
            // A column of a relation that goes anyway, or the relation itself.
            let within = dependent.class == object.class && dependent.object == object.object;
            if within || plan.seen.contains(&dependent) {
                continue;
            }
            let target = match self.whole_of(dependent)? {
                // Reached from the column, or the view, itself.
                whole if whole == object => dependent,
                // A part of a part of a foreign key that is on its way out, or a member of such an extension.
                whole if is_whole(whole.class) && plan.seen.contains(&whole) => dependent,
                target => target,
            };
            self.collect(plan, target)?;
            // An object that depends on several columns is told of once.
            let told = plan.normal.iter().any(|(known, _)| *known == target);
            if row.char(pg_depend::DEPTYPE) == b'n' && !told {
                plan.normal.push((target, object));
            }
        }
        plan.order.push(object);
        Ok(())
    }

    /// Whether an object is part of something else that is dropped: a column's default, of whose sequence one asks.
    fn goes_anyway(&self, plan: &Plan, object: ObjectAddress) -> SqlResult<bool> {
        if object.sub != 0 && plan.seen.contains(&ObjectAddress { sub: 0, ..object }) {
            return Ok(true);
        }
        let key = [object.class.into(), object.object.into()];
        let rows = self.reader().find(&pg_depend::TABLE, pg_depend::PG_DEPEND_DEPENDER_INDEX, &key)?;
        let part_of_dropped = |row: &Row| {
            let on = referenced(row);
            let whole = ObjectAddress { sub: 0, ..on };
            let same = on.class == object.class && on.object == object.object;
            matches!(row.char(pg_depend::DEPTYPE), b'a' | b'i' | b'P' | b'e')
                && row.int(pg_depend::OBJSUBID) == i32::from(object.sub)
                && !same
                && (plan.seen.contains(&on) || plan.seen.contains(&whole))
        };
        Ok(rows.iter().any(|(_, row)| part_of_dropped(row)))
    }

    /// The object that a user would drop: an extension instead of its member, a view instead of its rule, a column instead of its generation expression, a foreign key instead
    /// of its part for a partition that it refers to.
    fn whole_of(&self, object: ObjectAddress) -> SqlResult<ObjectAddress> {
        if let Some(extension) = self.reader().extension_of(object)? {
            return Ok(ObjectAddress::extension(extension));
        }
        if object.class == pg_constraint::TABLE.oid {
            let key = [object.class.into(), object.object.into()];
            let rows = self.reader().find(&pg_depend::TABLE, pg_depend::PG_DEPEND_DEPENDER_INDEX, &key)?;
            let whole = rows.iter().find(|(_, row)| {
                row.char(pg_depend::DEPTYPE) == b'i' && referenced(row).class == pg_constraint::TABLE.oid
            });
            return whole.map_or(Ok(object), |(_, row)| self.whole_of(referenced(row)));
        }
        if object.class == pg_attrdef::TABLE.oid {
            let key = [object.class.into(), object.object.into()];
            let rows = self.reader().find(&pg_depend::TABLE, pg_depend::PG_DEPEND_DEPENDER_INDEX, &key)?;
            let generated = rows.iter().find(|(_, row)| row.char(pg_depend::DEPTYPE) == b'i');
            return Ok(generated.map_or(object, |(_, row)| referenced(row)));
        }
        if object.class != pg_rewrite::TABLE.oid {
            return Ok(object);
        }
        let rule = self.reader().find_one(
            &pg_rewrite::TABLE,
            pg_rewrite::PG_REWRITE_OID_INDEX,
            &[object.object.into()],
        )?;
        let of_view = rule.filter(|(_, row)| row.str(pg_rewrite::RULENAME) == VIEW_RULE);
        Ok(of_view.map_or(object, |(_, row)| ObjectAddress::relation(row.oid(pg_rewrite::EV_CLASS))))
    }

    fn restricted(
        &self,
        objects: &[ObjectAddress],
        extra: &[(ObjectAddress, ObjectAddress)],
    ) -> SqlResult<SqlError> {
        let reader = self.reader();
        let message = match objects {
            [one] => format!("cannot drop {} because other objects depend on it", reader.describe(*one)?),
            _ => "cannot drop desired object(s) because other objects depend on them".to_owned(),
        };
        let mut lines = Vec::new();
        for (object, on) in extra {
            lines.push(format!("{} depends on {}", reader.describe(*object)?, reader.describe(*on)?));
        }
        Ok(SqlError::new(SqlState::DEPENDENT_OBJECTS_STILL_EXIST, message)
            .detail(lines.join("\n"))
            .hint("Use DROP ... CASCADE to drop the dependent objects too."))
    }

    fn cascade_notice(
        &self,
        extra: &[(ObjectAddress, ObjectAddress)],
    ) -> SqlResult<Option<(String, Option<String>)>> {
        let reader = self.reader();
        match extra {
            [] => Ok(None),
            [(one, _)] => Ok(Some((format!("drop cascades to {}", reader.describe(*one)?), None))),
            many => {
                let lines: Vec<String> = many
                    .iter()
                    .map(|(object, _)| Ok(format!("drop cascades to {}", reader.describe(*object)?)))
                    .collect::<SqlResult<_>>()?;
                Ok(Some((format!("drop cascades to {} other objects", many.len()), Some(lines.join("\n")))))
            }
        }
    }

    /// Removes one object's rows and files.
    pub(super) fn drop_one(&mut self, object: ObjectAddress) -> SqlResult<()> {
        match object.class {
            class if class == pg_class::TABLE.oid && object.sub != 0 => {
                self.drop_column(object.object, object.sub)?
            }
            class if class == pg_class::TABLE.oid => self.drop_relation(object.object)?,
            class if class == pg_attrdef::TABLE.oid => self.drop_default(object.object)?,
            class if class == pg_constraint::TABLE.oid => self.drop_constraint(object.object)?,
            class if class == pg_type::TABLE.oid => self.drop_type(object.object)?,
            class if class == pg_proc::TABLE.oid => {
                self.drop_routine(object.object)?;
                self.gone_with(End::Commit, object.object);
            }
            class if class == pg_operator::TABLE.oid => self.drop_operator(object.object)?,
            class if class == pg_largeobject::TABLE.oid => self.drop_large_object(object.object)?,
            class if class == pg_statistic_ext::TABLE.oid => {
                self.forget_statistics_data(object.object)?;
                self.drop_by_oid(class, object.object)?;
            }
            class if class == pg_ts_config::TABLE.oid => {
                self.drop_mappings(object.object)?;
                self.drop_by_oid(class, object.object)?;
            }
            class => self.drop_by_oid(class, object.object)?,
        }
        self.forget_dependencies(object)?;
        let key = [object.class.into(), object.object.into()];
        let sub = i32::from(object.sub);
        let mine = |row: &Row, column: usize| sub == 0 || row.int(column) == sub;
        self.delete_where(&pg_depend::TABLE, pg_depend::PG_DEPEND_REFERENCE_INDEX, &key, |row| {
            mine(row, pg_depend::REFOBJSUBID)
        })?;
        self.forget_initial_privileges(object)?;
        self.forget_shared(object, None)?;
        let key = [object.object.into(), object.class.into()];
        self.delete_where(&pg_description::TABLE, pg_description::PG_DESCRIPTION_O_C_O_INDEX, &key, |row| {
            mine(row, pg_description::OBJSUBID)
        })?;
        // What follows looks at rows that the next object's drop changes again.
        self.next_command()
    }

    /// Forgets that an object is a part, or implements another: it can be dropped by itself.
    pub fn release_part(&mut self, object: ObjectAddress) -> SqlResult<()> {
        let key = [object.class.into(), object.object.into()];
        self.delete_where(&pg_depend::TABLE, pg_depend::PG_DEPEND_DEPENDER_INDEX, &key, |row| {
            matches!(row.char(pg_depend::DEPTYPE), b'P' | b'i')
        })?;
        self.next_command()
    }

    /// Removes what is recorded of what an object needs.
    pub(super) fn forget_dependencies(&mut self, object: ObjectAddress) -> SqlResult<()> {
        let key = [object.class.into(), object.object.into()];
        let sub = i32::from(object.sub);
        self.delete_where(&pg_depend::TABLE, pg_depend::PG_DEPEND_DEPENDER_INDEX, &key, |row| {
            sub == 0 || row.int(pg_depend::OBJSUBID) == sub
        })?;
        Ok(())
    }
}

/// The catalog of relations, or of parts of them that go by themselves, and its index by OID.
fn in_relations(class: Oid) -> Option<(&'static SystemTable, Oid)> {
    let catalogs = [
        (&pg_class::TABLE, pg_class::PG_CLASS_OID_INDEX),
        (&pg_constraint::TABLE, pg_constraint::PG_CONSTRAINT_OID_INDEX),
        (&pg_attrdef::TABLE, pg_attrdef::PG_ATTRDEF_OID_INDEX),
        (&pg_policy::TABLE, pg_policy::PG_POLICY_OID_INDEX),
        (&pg_trigger::TABLE, pg_trigger::PG_TRIGGER_OID_INDEX),
        (&pg_rewrite::TABLE, pg_rewrite::PG_REWRITE_OID_INDEX),
    ];
    catalogs.into_iter().find(|(shape, _)| shape.oid == class)
}

/// Whether objects of a catalog have parts that are objects of their own.
fn is_whole(class: Oid) -> bool {
    [pg_constraint::TABLE.oid, pg_extension::TABLE.oid].contains(&class)
}

/// What an object that does not exist is called in an error, and that error's state.
fn kind_of(class: Oid) -> (SqlState, &'static str) {
    match class {
        class if class == pg_type::TABLE.oid => (SqlState::UNDEFINED_OBJECT, "type"),
        class if class == pg_namespace::TABLE.oid => (SqlState::UNDEFINED_SCHEMA, "schema"),
        class if class == pg_proc::TABLE.oid => (SqlState::UNDEFINED_FUNCTION, "function"),
        class if class == pg_operator::TABLE.oid => (SqlState::UNDEFINED_FUNCTION, "operator"),
        class if class == pg_opclass::TABLE.oid => (SqlState::UNDEFINED_OBJECT, "operator class"),
        class if class == pg_opfamily::TABLE.oid => (SqlState::UNDEFINED_OBJECT, "operator family"),
        class => match ObjectClass::of(class) {
            Some(known) => (SqlState::UNDEFINED_OBJECT, known.kind),
            None => (SqlState::UNDEFINED_OBJECT, "object"),
        },
    }
}

fn referenced(row: &Row) -> ObjectAddress {
    ObjectAddress {
        class: row.oid(pg_depend::REFCLASSID),
        object: row.oid(pg_depend::REFOBJID),
        sub: row.int(pg_depend::REFOBJSUBID) as i16,
    }
}
