//! What publications publish, as subscribers ask for it: `pg_get_publication_tables`.
//!
//! # PostgreSQL counterpart
//! `pg_get_publication_tables` of `catalog/pg_publication.c`.

use std::sync::Arc;

use base::{Oid, SqlResult, sql_err};
use catalog::publication::is_publishable;
use catalog::system::pg_class;
use catalog::{CatalogView, Generated, Publication, RelationKind, RowExt, Table};
use tuple::Datum;
use types::SessionFn;

use super::{Row, arg};
use crate::Session;

impl Session {
    pub(super) fn publication_rows(&self, id: SessionFn, args: &[Datum]) -> SqlResult<Option<Vec<Row>>> {
        let SessionFn::PgGetPublicationTables = id else { return Ok(None) };
        let names: &[u8] = arg(args, 0);
        let all = self.with_reader(|reader| reader.publications())?;
        let (mut found, mut via_root): (Vec<(&Publication, Arc<Table>)>, bool) = (Vec::new(), false);
        for name in catalog::texts_of(&Datum::Bytes(names.to_vec().into())) {
            let publication = all.iter().find(|one| one.name == name);
            let publication = publication
                .ok_or_else(|| sql_err!(UNDEFINED_OBJECT, "publication \"{name}\" does not exist"))?;
            via_root |= publication.via_root;
            found.extend(self.published_tables(publication)?.into_iter().map(|table| (publication, table)));
        }
        let listed: Vec<Oid> = found.iter().map(|(_, table)| table.oid).collect();
        let mut rows = Vec::with_capacity(found.len());
        for (publication, table) in found {
            runtime::check_interrupts().map_err(plan::interrupted)?;
            let line = self.with_reader(|reader| reader.with_ancestors(table.oid, table.schema))?;
            // Where partitions are published as their roots, those of a root that is told are not told beside it.
            if !via_root || !line[1..].iter().any(|(oid, _)| listed.contains(oid)) {
                rows.push(published_row(publication, &table));
            }
        }
        Ok(Some(rows))
    }

    /// The tables whose changes a publication publishes, each once.
    fn published_tables(&self, publication: &Publication) -> SqlResult<Vec<Arc<Table>>> {
        let mut named: Vec<Oid> = publication.tables.iter().map(|table| table.relation).collect();
        if publication.all_tables || !publication.schemas.is_empty() {
            for (_, row) in self.with_reader(|reader| reader.scan(&pg_class::TABLE))? {
                let within = publication.schemas.contains(&row.oid(pg_class::RELNAMESPACE));
                let is_table = matches!(row.char(pg_class::RELKIND), b'r' | b'p');
                if is_table && (publication.all_tables || within) {
                    named.push(row.oid(pg_class::OID));
                }
            }
        }
        let mut tables: Vec<Arc<Table>> = Vec::with_capacity(named.len());
        for oid in named {
            self.add_published(publication, oid, &mut tables)?;
        }
        Ok(tables)
    }

    /// Adds a table, or the leaves of a partitioned one unless they are published as that.
    fn add_published(
        &self,
        publication: &Publication,
        oid: Oid,
        tables: &mut Vec<Arc<Table>>,
    ) -> SqlResult<()> {
        let Some(table) = self.with_reader(|r| CatalogView::relation_by_oid(r, oid))? else { return Ok(()) };
        if !is_publishable(table.kind, table.persistence, oid) || tables.iter().any(|t| t.oid == oid) {
            return Ok(());
        }
        if publication.all_tables && publication.via_root && table.partition_of.is_valid() {
            return Ok(());
        }
        if table.kind != RelationKind::PartitionedTable || publication.via_root {
            tables.push(table);
            return Ok(());
        }
        table.children.iter().try_for_each(|child| self.add_published(publication, *child, tables))
    }
}

/// A table with its columns and its filter, which count only where the table is published by itself.
fn published_row(publication: &Publication, table: &Table) -> Row {
    let alone = !publication.all_tables && !publication.schemas.contains(&table.schema);
    let listed = publication.table(table.oid).filter(|_| alone);
    let columns = match listed.and_then(|listed| listed.columns.as_deref()) {
        Some(columns) => columns.to_vec(),
        None => (1..)
            .zip(&table.columns)
            .filter(|(_, column)| match column.generated {
                Generated::None => !column.dropped,
                Generated::Stored => publication.generated && !column.dropped,
                Generated::Virtual => false,
            })
            .map(|(number, _)| number)
            .collect(),
    };
    let columns = if columns.is_empty() { Datum::Null } else { catalog::int2_vector(&columns) };
    let filter = listed.and_then(|listed| listed.filter.as_deref());
    let filter = filter.map_or(Datum::Null, Datum::text);
    vec![Datum::Oid(publication.oid.0), Datum::Oid(table.oid.0), columns, filter]
}
