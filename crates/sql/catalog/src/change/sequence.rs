//! Sequences: what they count (`pg_sequence`), the columns that they serve, their files.

use base::{Oid, RelFile, SqlError, SqlResult};
use buffer::Persistence;
use engine::sequence::SequenceRow;
use types::oids;

use super::{Changer, Dependency, NewColumn, NewTable, ObjectAddress};
use crate::row::{Row, RowBuilder, RowExt};
use crate::system::{pg_attribute, pg_class, pg_depend, pg_sequence};
use crate::view::{CatalogView, Identity, RelationKind, Sequence};

/// A sequence to be made.
#[derive(Clone, Debug)]
pub struct NewSequence {
    /// Name.
    pub name: String,
    /// Schema.
    pub schema: Oid,
    /// Owner.
    pub owner: Oid,
    /// `pg_class.relpersistence`.
    pub persistence: u8,
    /// What it counts.
    pub sequence: Sequence,
    /// Its first row.
    pub row: SequenceRow,
}

fn parameters(row: &mut Row, relation: Oid, sequence: &Sequence) {
    use pg_sequence as s;
    row[s::SEQRELID] = relation.into();
    row[s::SEQTYPID] = sequence.type_oid.into();
    row[s::SEQSTART] = sequence.start.into();
    row[s::SEQINCREMENT] = sequence.increment.into();
    row[s::SEQMAX] = sequence.max.into();
    row[s::SEQMIN] = sequence.min.into();
    row[s::SEQCACHE] = sequence.cache.into();
    row[s::SEQCYCLE] = sequence.cycle.into();
}

/// Columns that a sequence shows to queries.
fn columns() -> Vec<NewColumn> {
    let column = |(name, type_oid): (&str, Oid)| NewColumn {
        name: name.into(),
        type_oid,
        typmod: -1,
        not_null: true,
        ..NewColumn::default()
    };
    [("last_value", oids::int8), ("log_cnt", oids::int8), ("is_called", oids::bool)].map(column).into()
}

impl Changer<'_> {
    /// Makes a sequence. Returns its OID.
    pub fn create_sequence(&mut self, new: &NewSequence) -> SqlResult<Oid> {
        let oid = self.create_table(&NewTable {
            name: new.name.clone(),
            schema: new.schema,
            owner: new.owner,
            kind: RelationKind::Sequence,
            persistence: new.persistence,
            columns: columns(),
            options: Vec::new(),
            method: Oid::INVALID,
            tablespace: Oid::INVALID,
        })?;
        let mut row = RowBuilder::new(&pg_sequence::TABLE).build();
        parameters(&mut row, oid, &new.sequence);
        self.insert(&pg_sequence::TABLE, &row)?;
        let mut file = RelFile::default();
        let mut found = None;
        self.edit(&pg_class::TABLE, pg_class::PG_CLASS_OID_INDEX, &[oid.into()], |row| {
            row[pg_class::RELPAGES] = 1.into();
            row[pg_class::RELTUPLES] = 1.0f32.into();
            found = Some(row.clone());
        })?;
        if let Some(row) = found {
            file = self.reader().file_of(&row);
        }
        self.first_page(file, new.persistence, new.row)?;
        self.next_command()?;
        Ok(oid)
    }

    fn first_page(&mut self, file: RelFile, persistence: u8, row: SequenceRow) -> SqlResult<()> {
        let xid = self.me.xid().map_err(SqlError::from)?;
        let persistence: Persistence = crate::load::persistence_of(persistence);
        self.catalog.engine().create_sequence(file, persistence, xid, row).map_err(SqlError::from)
    }

    /// ALTER SEQUENCE: new parameters, and the row in a new file, so that a rollback brings the old one back.
    pub fn alter_sequence(&mut self, oid: Oid, sequence: &Sequence, row: SequenceRow) -> SqlResult<()> {
        let by_relation = pg_sequence::PG_SEQUENCE_SEQRELID_INDEX;
        self.edit(&pg_sequence::TABLE, by_relation, &[oid.into()], |row| parameters(row, oid, sequence))?;
        let table = self.reader().relation_by_oid(oid)?;
        let table =
            table.ok_or_else(|| SqlError::internal(format!("cache lookup failed for relation {oid}")))?;
        let file = self.new_file(oid)?;
        self.first_page(file, table.persistence as u8, row)?;
        self.edit(&pg_class::TABLE, pg_class::PG_CLASS_OID_INDEX, &[oid.into()], |row| {
            row[pg_class::RELPAGES] = 1.into();
            row[pg_class::RELTUPLES] = 1.0f32.into();
        })?;
        self.next_command()
    }

    /// OWNED BY: the sequence belongs to the table's owner, and goes with the column (`Auto`, or `Internal` for identity), or with none.
    pub fn own_sequence(&mut self, sequence: Oid, owner: Option<(Oid, i16, Dependency)>) -> SqlResult<()> {
        let key = [pg_class::TABLE.oid.into(), sequence.into()];
        self.delete_where(&pg_depend::TABLE, pg_depend::PG_DEPEND_DEPENDER_INDEX, &key, on_column)?;
        let me = ObjectAddress::relation(sequence);
        if let Some((table, column, kind)) = owner {
            self.depend(me, ObjectAddress::column(table, column), kind)?;
            let owner = self.reader().relation_by_oid(table)?.map(|table| table.owner);
            let own = self.reader().relation_by_oid(sequence)?.map(|sequence| sequence.owner);
            if let Some(owner) = owner.filter(|owner| Some(*owner) != own) {
                self.set_relation_owner(sequence, owner)?;
            }
            // The column's description names its identity sequence.
            let stale = vec![crate::cache::Stale::Relation(table)];
            super::register_change(self.catalog, self.session, self.me, stale);
        }
        self.next_command()
    }

    /// Marks a column as identity, or not.
    pub fn set_identity(&mut self, table: Oid, column: i16, identity: Identity) -> SqlResult<()> {
        self.edit_column(table, column, |row| row[pg_attribute::ATTIDENTITY] = identity.letter().into())
    }
}

fn on_column(row: &Row) -> bool {
    row.oid(pg_depend::REFCLASSID) == pg_class::TABLE.oid
        && matches!(row.char(pg_depend::DEPTYPE), b'a' | b'i')
}

impl crate::Reader<'_> {
    /// The column that a sequence belongs to, and whether it is its identity.
    pub fn sequence_owner(&self, sequence: Oid) -> SqlResult<Option<(ObjectAddress, bool)>> {
        let key = [pg_class::TABLE.oid.into(), sequence.into()];
        let rows = self.find(&pg_depend::TABLE, pg_depend::PG_DEPEND_DEPENDER_INDEX, &key)?;
        Ok(rows.iter().find(|(_, row)| on_column(row)).map(|(_, row)| {
            let column =
                ObjectAddress::column(row.oid(pg_depend::REFOBJID), row.int(pg_depend::REFOBJSUBID) as i16);
            (column, row.char(pg_depend::DEPTYPE) == b'i')
        }))
    }

    /// Sequences that belong to a table's columns, or to one column.
    pub fn owned_sequences(&self, table: Oid, column: Option<i16>) -> SqlResult<Vec<Oid>> {
        let mut key = vec![pg_class::TABLE.oid.into(), table.into()];
        key.extend(column.map(|number| i32::from(number).into()));
        let mut out = Vec::new();
        for (_, row) in self.find(&pg_depend::TABLE, pg_depend::PG_DEPEND_REFERENCE_INDEX, &key)? {
            let dependent = row.oid(pg_depend::OBJID);
            if row.oid(pg_depend::CLASSID) == pg_class::TABLE.oid
                && row.int(pg_depend::REFOBJSUBID) > 0
                && on_column(&row)
                && self.relation_by_oid(dependent)?.is_some_and(|r| r.kind == RelationKind::Sequence)
            {
                out.push(dependent);
            }
        }
        Ok(out)
    }
}
