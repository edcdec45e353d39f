//! Owners: of objects, and of what goes with them.

use base::{Oid, SqlResult};
use tuple::Datum;
use types::acl;

use super::{Changer, ObjectAddress};
use crate::authority::AclKind;
use crate::row::RowExt;
use crate::system::{pg_attribute, pg_class, pg_type};
use crate::view::{CatalogView, RelationKind, TypeKind};

impl Changer<'_> {
    /// Gives an object another owner, whose place in its ACL changes with it. `recorded`: the object depends on its owner by
    /// itself, and not only through another.
    pub fn set_owner(&mut self, kind: &AclKind, object: Oid, owner: Oid, recorded: bool) -> SqlResult<()> {
        let key = [object.into()];
        let Some((place, old)) = self.reader().find_one(kind.table, kind.by_oid, &key)? else {
            return Ok(());
        };
        let mut row = old.clone();
        row[kind.owner] = owner.into();
        if let Some(items) = acl::optional_items(&old[kind.acl]) {
            row[kind.acl] = acl::array_of(&acl::new_owner(&items, old.oid(kind.owner), owner))?;
        }
        self.update(kind.table, place, &old, &row)?;
        if recorded {
            let address = ObjectAddress { class: kind.class(), object, sub: 0 };
            self.change_owner_dependency(address, owner)?;
            self.change_acl_dependencies(address, owner, &acl::items(&row[kind.acl]))?;
        }
        self.next_command()
    }

    /// A relation with its columns, indexes, TOAST table, row type and sequences.
    pub fn set_relation_owner(&mut self, relation: Oid, owner: Oid) -> SqlResult<()> {
        let Some(table) = self.reader().relation_by_oid(relation)? else { return Ok(()) };
        let kind = if table.kind == RelationKind::Sequence { AclKind::SEQUENCE } else { AclKind::TABLE };
        let composite = table.kind == RelationKind::Composite;
        self.set_owner(&kind, relation, owner, !composite)?;
        for (number, items) in &table.grants.columns {
            self.set_column_acl(relation, *number, owner, &acl::new_owner(items, table.owner, owner))?;
        }
        for index in &table.indexes {
            self.lock_index(index.oid)?;
            self.edit_relation(index.oid, |row| row[pg_class::RELOWNER] = owner.into())?;
        }
        if table.toast.is_valid() {
            let toast = self.reader().relation_by_oid(table.toast)?;
            let indexes = toast.iter().flat_map(|toast| toast.indexes.iter().map(|index| index.oid));
            for part in indexes.chain([table.toast]).collect::<Vec<_>>() {
                self.edit_relation(part, |row| row[pg_class::RELOWNER] = owner.into())?;
            }
        }
        if table.row_type.is_valid() {
            self.set_row_type_owner(table.row_type, owner, composite)?;
        }
        for sequence in self.reader().owned_sequences(relation, None)? {
            self.set_relation_owner(sequence, owner)?;
        }
        Ok(())
    }

    /// A type that is no table's, with its array type and, if it is composite, its relation.
    pub fn set_type_owner(&mut self, ty: Oid, owner: Oid) -> SqlResult<()> {
        let key = [ty.into()];
        let row = self.reader().find_one(&pg_type::TABLE, pg_type::PG_TYPE_OID_INDEX, &key)?;
        match row.map(|(_, row)| row.oid(pg_type::TYPRELID)) {
            Some(relation) if relation.is_valid() => self.set_relation_owner(relation, owner),
            _ => self.set_row_type_owner(ty, owner, true),
        }
    }

    fn set_row_type_owner(&mut self, ty: Oid, owner: Oid, recorded: bool) -> SqlResult<()> {
        self.set_owner(&AclKind::TYPE, ty, owner, recorded)?;
        let def = self.reader().type_by_oid(ty)?;
        let array = def.as_ref().map_or(Oid::INVALID, |def| def.array);
        if array.is_valid() {
            self.edit_type(array, |row| row[pg_type::TYPOWNER] = owner.into())?;
        }
        // A range's multirange belongs to whom the range belongs.
        match def.as_ref().map(|def| &def.kind) {
            Some(TypeKind::Range(info)) => self.set_row_type_owner(info.multirange, owner, false),
            _ => Ok(()),
        }
    }

    /// Sets a column's ACL; NULL if it is empty.
    pub fn set_column_acl(
        &mut self,
        table: Oid,
        number: i16,
        owner: Oid,
        items: &[acl::AclItem],
    ) -> SqlResult<()> {
        let value = if items.is_empty() { Datum::Null } else { acl::array_of(items)? };
        let index = pg_attribute::PG_ATTRIBUTE_RELID_ATTNUM_INDEX;
        self.edit(&pg_attribute::TABLE, index, &[table.into(), number.into()], |row| {
            row[pg_attribute::ATTACL] = value;
        })?;
        let column = ObjectAddress::column(table, number);
        self.change_acl_dependencies(column, owner, items)?;
        self.note_initial_privileges(column, items)?;
        self.next_command()
    }
}
