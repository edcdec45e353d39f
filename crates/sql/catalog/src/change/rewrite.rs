//! A system catalog rewritten: new files for some of its relations, which take the old ones' places when the transaction commits.
//!
//! First come empty files ([`Changer::catalog_with_new_files`]), which the caller fills; nobody reads them, nor do this transaction's own
//! look-ups. Once they are complete, the transaction goes over to them ([`Changer::swap_catalog`]): so `pg_class` can be rewritten
//! although this changes rows of `pg_class`. All others follow with the commit.

use std::rc::Rc;
use std::sync::Arc;

use base::{Oid, SqlResult};
use buffer::Persistence;
use rustc_hash::FxHashMap;
use tuple::Datum;
use txn::{End, MappedFile, Phase};

use super::{Changer, register_change};
use crate::cache::Stale;
use crate::system::{SystemTable, pg_class};
use crate::tables::OpenTable;

impl Changer<'_> {
    /// Makes new, empty files for these relations of a catalog: itself, its TOAST table, their indexes. Returns the catalog as it will be
    /// with them. The caller holds a lock that keeps all other writers out.
    pub fn catalog_with_new_files(&mut self, shape: &SystemTable, relations: &[Oid]) -> SqlResult<OpenTable> {
        let now = self.reader().table(shape);
        let engine = self.catalog.engine();
        let mut files = FxHashMap::default();
        for &relation in relations {
            let old = now.file(relation);
            let file = engine.new_rel_file(old.tablespace, old.database)?;
            engine.create_relation(self.me, file, Persistence::Permanent)?;
            files.insert(relation, file.number);
        }
        Ok(now.with_files(&files))
    }

    /// From now on this transaction reads and writes the catalog in its new files, which are complete. The old ones go with the commit.
    pub fn swap_catalog(&mut self, new: OpenTable) -> SqlResult<()> {
        let (shape, new) = (new.shape, Arc::new(new));
        let old = self.reader().table(shape);
        let (mut stale, mut changed) = (Vec::new(), Vec::new());
        for relation in shape.relations() {
            stale.push(Stale::Relation(relation));
            let (from, to) = (old.file(relation), new.file(relation));
            if from != to {
                self.me.map_at_commit(MappedFile { database: to.database, relation, number: to.number });
                self.catalog.engine().drop_relation(self.me, from);
                changed.push((relation, to.number));
            }
        }
        drop(old);
        self.swap_with_transaction(shape, new);
        register_change(self.catalog, self.session, self.me, stale);
        for (relation, number) in changed.into_iter().filter(|_| !shape.is_mapped()) {
            self.edit(&pg_class::TABLE, pg_class::PG_CLASS_OID_INDEX, &[relation.into()], |row| {
                row[pg_class::RELFILENODE] = Datum::Oid(number);
            })?;
        }
        self.next_command()
    }

    /// Puts the catalog in for this session, and for all when the transaction commits. A later one of the same transaction may replace it.
    fn swap_with_transaction(&mut self, shape: &'static SystemTable, new: Arc<OpenTable>) {
        let before = self.session.rewritten(shape);
        self.session.set_rewritten(shape, Some(new.clone()));
        let (catalog, session, mine) = (self.catalog.clone(), self.session.clone(), new.clone());
        let is_last = move |table: &Arc<OpenTable>| {
            session.rewritten(shape).is_some_and(|last| Arc::ptr_eq(&last, table))
        };
        let at_commit = is_last.clone();
        self.me.on_end(
            Phase::BeforeRecord,
            Box::new(move |end| {
                if end == End::Commit && at_commit(&mine) {
                    catalog.tables().close(mine);
                }
            }),
        );
        let (catalog, session) = (self.catalog.clone(), Rc::clone(self.session));
        self.me.on_end(
            Phase::BeforeLocks,
            Box::new(move |end| {
                if end != End::Commit {
                    session.set_rewritten(shape, before);
                } else if is_last(&new) {
                    session.set_rewritten(shape, None);
                    catalog.tables().reopen(shape);
                }
            }),
        );
    }
}
