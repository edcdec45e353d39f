//! Objects that are no relations: schemas, views' rules, comments; and the removal of one row by its OID.

use base::{Oid, SqlError, SqlResult};
use tuple::Datum;

use super::{Changer, Dependency, ObjectAddress};
use crate::authority::AclKind;
use crate::row::{Row, RowBuilder, RowExt};
use crate::rule::{NO_CONDITION, VIEW_RULE};
use crate::system::{
    self, SystemTable, pg_class, pg_description, pg_largeobject, pg_largeobject_metadata, pg_namespace,
    pg_rewrite, pg_shdescription,
};

/// What objects of many catalogs have: `column` is where the object's catalog keeps it.
impl Changer<'_> {
    /// Gives an object another name.
    pub fn set_object_name(&mut self, object: ObjectAddress, column: usize, name: &str) -> SqlResult<()> {
        self.edit_object(object, |row| row[column] = Datum::text(name))
    }

    /// Gives an object without privileges of its own to another role; [`Changer::set_owner`] is for others.
    pub fn set_object_owner(&mut self, object: ObjectAddress, column: usize, owner: Oid) -> SqlResult<()> {
        self.change_owner_dependency(object, owner)?;
        self.edit_object(object, |row| row[column] = owner.into())
    }

    /// Puts an object into another schema.
    pub fn set_object_schema(&mut self, object: ObjectAddress, column: usize, schema: Oid) -> SqlResult<()> {
        let mut from = Oid::INVALID;
        self.edit_object(object, |row| {
            from = row.oid(column);
            row[column] = schema.into();
        })?;
        self.move_dependency(object, ObjectAddress::schema(from), ObjectAddress::schema(schema))
    }

    pub(super) fn edit_object(
        &mut self,
        object: ObjectAddress,
        edit: impl FnOnce(&mut Row),
    ) -> SqlResult<()> {
        let (shape, by_oid) = catalog_by_oid(object.class)?;
        self.edit(shape, by_oid, &[object.object.into()], edit)?;
        self.next_command()
    }
}

impl Changer<'_> {
    /// Enters a schema. Returns its OID.
    pub fn create_schema(&mut self, name: &str, owner: Oid) -> SqlResult<Oid> {
        let oid = self.new_oid();
        let row = RowBuilder::new(&pg_namespace::TABLE)
            .set(pg_namespace::OID, oid)
            .set(pg_namespace::NSPNAME, name)
            .set(pg_namespace::NSPOWNER, owner);
        self.insert(&pg_namespace::TABLE, &row.build())?;
        self.note_new(&AclKind::SCHEMA, ObjectAddress::schema(oid), owner, Oid::INVALID)?;
        self.next_command()?;
        Ok(oid)
    }

    /// Enters a view's query, as `analyze::stored` writes it, with what it needs; in place of the one that it has.
    pub fn set_view_query(&mut self, view: Oid, query: &str, needs: &[ObjectAddress]) -> SqlResult<()> {
        let key = [view.into()];
        self.drop_rules(view, Some(VIEW_RULE))?;
        let oid = self.new_oid();
        let row = RowBuilder::new(&pg_rewrite::TABLE)
            .set(pg_rewrite::OID, oid)
            .set(pg_rewrite::RULENAME, VIEW_RULE)
            .set(pg_rewrite::EV_CLASS, view)
            .set(pg_rewrite::EV_TYPE, b'1')
            .set(pg_rewrite::EV_ENABLED, b'O')
            .set(pg_rewrite::IS_INSTEAD, true)
            .set(pg_rewrite::EV_QUAL, NO_CONDITION)
            .set(pg_rewrite::EV_ACTION, query);
        self.insert(&pg_rewrite::TABLE, &row.build())?;
        self.edit(&pg_class::TABLE, pg_class::PG_CLASS_OID_INDEX, &key, |row| {
            row[pg_class::RELHASRULES] = true.into();
        })?;
        let rule = ObjectAddress::rule(oid);
        self.depend(rule, ObjectAddress::relation(view), Dependency::Internal)?;
        self.depend_on_all(rule, needs.iter().copied())?;
        self.next_command()
    }

    /// Removes the rules of a relation, or the one of this name, and what is recorded of what they need.
    pub(super) fn drop_rules(&mut self, relation: Oid, name: Option<&str>) -> SqlResult<()> {
        let by_relation = pg_rewrite::PG_REWRITE_REL_RULENAME_INDEX;
        let key: Vec<Datum> = std::iter::once(relation.into()).chain(name.map(Datum::from)).collect();
        for (place, rule) in self.reader().find(&pg_rewrite::TABLE, by_relation, &key)? {
            self.forget_dependencies(ObjectAddress::rule(rule.oid(pg_rewrite::OID)))?;
            self.delete(&pg_rewrite::TABLE, place, &rule)?;
        }
        self.next_command()
    }

    /// COMMENT ON: sets or removes a comment.
    pub fn set_comment(&mut self, object: ObjectAddress, comment: Option<&str>) -> SqlResult<()> {
        let key = [object.object.into(), object.class.into(), i32::from(object.sub).into()];
        self.delete_where(&pg_description::TABLE, pg_description::PG_DESCRIPTION_O_C_O_INDEX, &key, |_| {
            true
        })?;
        if let Some(comment) = comment.filter(|c| !c.is_empty()) {
            let row = RowBuilder::new(&pg_description::TABLE)
                .set(pg_description::OBJOID, object.object)
                .set(pg_description::CLASSOID, object.class)
                .set(pg_description::OBJSUBID, i32::from(object.sub))
                .set(pg_description::DESCRIPTION, comment);
            self.insert(&pg_description::TABLE, &row.build())?;
        }
        self.next_command()
    }

    /// COMMENT ON an object that all databases share: sets or removes a comment.
    pub fn set_shared_comment(&mut self, object: ObjectAddress, comment: Option<&str>) -> SqlResult<()> {
        use pg_shdescription as d;
        let key = [object.object.into(), object.class.into()];
        self.delete_where(&d::TABLE, d::PG_SHDESCRIPTION_O_C_INDEX, &key, |_| true)?;
        if let Some(comment) = comment.filter(|c| !c.is_empty()) {
            let row = RowBuilder::new(&d::TABLE)
                .set(d::OBJOID, object.object)
                .set(d::CLASSOID, object.class)
                .set(d::DESCRIPTION, comment);
            self.insert(&d::TABLE, &row.build())?;
        }
        self.next_command()
    }

    /// Removes the row with this OID from a catalog whose first column is the OID and first index is on it.
    pub(super) fn drop_by_oid(&mut self, class: Oid, oid: Oid) -> SqlResult<()> {
        let (shape, by_oid) = catalog_by_oid(class)?;
        self.delete_where(shape, by_oid, &[oid.into()], |_| true)?;
        Ok(())
    }
}

/// A catalog whose first column is the OID, and its index on that.
pub(super) fn catalog_by_oid(class: Oid) -> SqlResult<(&'static SystemTable, Oid)> {
    // Their pages have no OID.
    let class = if class == pg_largeobject::TABLE.oid { pg_largeobject_metadata::TABLE.oid } else { class };
    let shape = system::tables().find(|t| t.oid == class);
    let shape = shape.ok_or_else(|| SqlError::internal(format!("catalog {class} does not exist")))?;
    let by_oid = shape.indexes.iter().find(|i| i.keys == [0] && shape.columns[0].name == "oid");
    let by_oid =
        by_oid.ok_or_else(|| SqlError::internal(format!("objects of catalog {} have no OID", shape.name)))?;
    Ok((shape, by_oid.oid))
}
