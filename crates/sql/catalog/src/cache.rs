//! # What
//! Descriptions that all sessions of a database share: what was read from the catalogs and is still true.
//!
//! # Invariants
//! 1. The cache holds only what committed transactions left. A session whose transaction changed catalogs does not use it
//!    until the transaction ends (see [`crate::SessionCatalog`]).
//! 2. A committed change takes the stale entries out before its transaction releases its locks. So a session that takes a
//!    lock on a relation and asks again gets a current description.
//! 3. An entry is put in only if nothing was taken out since before its reader's snapshot was taken: the generation is
//!    compared under the cache's lock. Otherwise a slow reader could put back what a commit just took out. What could not be put in
//!    is read again, and in the end marked as stale: it may be, and nobody else would mark it.
//! 4. An entry is never replaced: of several readers that come at once all get the first one's, which a change will mark.
//!
//! # Locks
//! One short mutex, never held over a wait.
//!
//! # PostgreSQL counterpart and differences
//! `relcache.c`, `catcache.c`, `inval.c`. One process: no copies per session, no messages to them; plans keep the
//! description itself and look at its [`Validity`].

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::Oid;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use textsearch::configuration::Configuration;
use textsearch::dictionary::Dictionary;

use crate::authority::Owned;
use crate::extended::ExtendedStatistics;
use crate::families::OperatorFamilies;
use crate::page_costs::PageCosts;
use crate::publication::Publication;
use crate::roles::RoleFacts;
use crate::stats::ColumnStatistics;
use crate::validity::Validity;
use crate::view::{CastDef, CollationDef, FunctionDef, OperatorDef, Table, TypeDef};

/// Something that a catalog change makes stale.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Stale {
    /// The description of a relation.
    Relation(Oid),
    /// Who has a relation name in a schema.
    RelationName(Oid, Box<str>),
    /// Statistics of a relation's columns.
    Statistics(Oid),
    /// Everything that comes from this catalog.
    Catalog(Oid),
    /// Who may do what by roles, memberships and schemas. Of all databases.
    Authority,
}

impl Stale {
    /// Appends its bytes, for the session that will commit the prepared transaction: a kind, an OID, and a name's length and bytes.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let (kind, oid, name): (u8, Oid, &str) = match self {
            Stale::Relation(oid) => (0, *oid, ""),
            Stale::RelationName(schema, name) => (1, *schema, name),
            Stale::Statistics(oid) => (2, *oid, ""),
            Stale::Catalog(oid) => (3, *oid, ""),
            Stale::Authority => (4, Oid::INVALID, ""),
        };
        out.push(kind);
        out.extend_from_slice(&oid.0.to_le_bytes());
        out.extend_from_slice(&(name.len() as u16).to_le_bytes());
        out.extend_from_slice(name.as_bytes());
    }

    /// All that were encoded; `None` if the bytes are anything else.
    pub(crate) fn decode_all(mut bytes: &[u8]) -> Option<Vec<Stale>> {
        let mut all = Vec::new();
        while !bytes.is_empty() {
            let (&[kind, a, b, c, d, low, high], rest) = bytes.split_first_chunk::<7>()?;
            let oid = Oid(u32::from_le_bytes([a, b, c, d]));
            let (name, rest) = rest.split_at_checked(u16::from_le_bytes([low, high]).into())?;
            bytes = rest;
            all.push(match kind {
                0 => Stale::Relation(oid),
                1 => Stale::RelationName(oid, std::str::from_utf8(name).ok()?.into()),
                2 => Stale::Statistics(oid),
                3 => Stale::Catalog(oid),
                4 => Stale::Authority,
                _ => return None,
            });
        }
        Some(all)
    }
}

/// Who has a relation name in a schema.
#[derive(Clone, Debug)]
pub(crate) enum Holder {
    /// This relation.
    Relation(Oid),
    /// Nobody. The flag goes down when somebody gets it.
    Nobody(Validity),
}

impl Holder {
    /// The relation, if there is one.
    pub(crate) fn relation(&self) -> Option<Oid> {
        match self {
            Holder::Relation(oid) => Some(*oid),
            Holder::Nobody(_) => None,
        }
    }

    /// The name may be another's.
    pub(crate) fn revoke(&self) {
        if let Holder::Nobody(validity) = self {
            validity.revoke();
        }
    }
}

/// What is remembered. A remembered `None` or empty list says that there is nothing of that name.
#[derive(Default)]
pub(crate) struct Entries {
    pub(crate) tables: FxHashMap<Oid, Option<Arc<Table>>>,
    pub(crate) names: FxHashMap<(Oid, Box<str>), Holder>,
    pub(crate) schemas: FxHashMap<Box<str>, Option<Oid>>,
    pub(crate) schema_names: FxHashMap<Oid, Option<String>>,
    pub(crate) schema_acls: FxHashMap<Oid, Option<Arc<Owned>>>,
    pub(crate) function_acls: FxHashMap<Oid, Option<Arc<Owned>>>,
    pub(crate) roles: FxHashMap<Oid, Arc<RoleFacts>>,
    pub(crate) types: FxHashMap<Oid, Option<Arc<TypeDef>>>,
    pub(crate) type_names: FxHashMap<(Oid, Box<str>), Option<Oid>>,
    pub(crate) functions: FxHashMap<Box<str>, Arc<[Arc<FunctionDef>]>>,
    pub(crate) functions_by_oid: FxHashMap<Oid, Option<Arc<FunctionDef>>>,
    pub(crate) operators: FxHashMap<Box<str>, Arc<[Arc<OperatorDef>]>>,
    pub(crate) operators_by_oid: FxHashMap<Oid, Option<Arc<OperatorDef>>>,
    pub(crate) casts: FxHashMap<(Oid, Oid), Option<CastDef>>,
    pub(crate) operator_families: Option<Arc<OperatorFamilies>>,
    /// By access method, schema and name.
    pub(crate) class_names: FxHashMap<(Oid, Oid, Box<str>), Option<Oid>>,
    pub(crate) collations: FxHashMap<Oid, Option<CollationDef>>,
    pub(crate) collation_names: FxHashMap<(Oid, Box<str>), Option<Oid>>,
    pub(crate) statistics: FxHashMap<(Oid, i16), Option<Arc<ColumnStatistics>>>,
    /// By statistics object.
    pub(crate) extended: FxHashMap<Oid, Option<Arc<ExtendedStatistics>>>,
    pub(crate) page_costs: FxHashMap<Oid, PageCosts>,
    pub(crate) dictionaries: FxHashMap<Oid, Arc<dyn Dictionary>>,
    pub(crate) configurations: FxHashMap<Oid, Arc<Configuration>>,
    pub(crate) publications: Option<Arc<[Publication]>>,
    /// Flag of all plans that use types, functions, operators or casts of users: replaced when any of these changes.
    pub(crate) definitions: Validity,
    /// Flag of all plans: replaced when roles, memberships, the names or rights of schemas, objects of text search or tablespaces change, or there is a new schema.
    pub(crate) authority: Validity,
}

impl Entries {
    /// Takes out what `stale` names.
    fn remove(&mut self, stale: &Stale) {
        match stale {
            Stale::Relation(oid) => {
                if let Some(Some(table)) = self.tables.remove(oid) {
                    table.validity.revoke();
                }
            }
            Stale::RelationName(schema, name) => {
                if let Some(holder) = self.names.remove(&(*schema, name.clone())) {
                    holder.revoke();
                }
            }
            Stale::Statistics(table) => self.statistics.retain(|(oid, _), _| oid != table),
            Stale::Catalog(catalog) => self.remove_catalog(*catalog),
            Stale::Authority => {
                self.roles.clear();
                self.schema_acls.clear();
                std::mem::take(&mut self.authority).revoke();
            }
        }
    }

    fn remove_catalog(&mut self, catalog: Oid) {
        use crate::system::*;
        let definitions = [
            &pg_type::TABLE,
            &pg_enum::TABLE,
            &pg_proc::TABLE,
            &pg_aggregate::TABLE,
            &pg_operator::TABLE,
            &pg_cast::TABLE,
            &pg_opclass::TABLE,
            &pg_opfamily::TABLE,
            &pg_amop::TABLE,
            &pg_amproc::TABLE,
        ];
        if definitions.iter().any(|table| table.oid == catalog) {
            std::mem::take(&mut self.definitions).revoke();
        }
        let families =
            [pg_opclass::TABLE.oid, pg_opfamily::TABLE.oid, pg_amop::TABLE.oid, pg_amproc::TABLE.oid];
        if families.contains(&catalog) {
            self.operator_families = None;
            self.class_names.clear();
        }
        match catalog {
            c if c == pg_namespace::TABLE.oid => {
                self.schemas.clear();
                self.schema_names.clear();
                self.schema_acls.clear();
            }
            // The description of a type says how its values are compared.
            c if [pg_type::TABLE.oid, pg_enum::TABLE.oid, pg_opclass::TABLE.oid, pg_amproc::TABLE.oid]
                .contains(&c) =>
            {
                self.types.clear();
                self.type_names.clear();
            }
            c if c == pg_proc::TABLE.oid || c == pg_aggregate::TABLE.oid => {
                self.functions.clear();
                self.functions_by_oid.clear();
                self.function_acls.clear();
            }
            c if c == pg_operator::TABLE.oid => {
                self.operators.clear();
                self.operators_by_oid.clear();
            }
            c if c == pg_cast::TABLE.oid => self.casts.clear(),
            c if c == pg_statistic_ext_data::TABLE.oid => self.extended.clear(),
            c if [
                pg_ts_config::TABLE.oid,
                pg_ts_config_map::TABLE.oid,
                pg_ts_dict::TABLE.oid,
                pg_ts_parser::TABLE.oid,
                pg_ts_template::TABLE.oid,
            ]
            .contains(&c) =>
            {
                self.dictionaries.clear();
                self.configurations.clear();
                // Plans have constants that were made by them.
                std::mem::take(&mut self.authority).revoke();
            }
            c if c == pg_tablespace::TABLE.oid => {
                self.page_costs.clear();
                // Plans were chosen by them.
                std::mem::take(&mut self.authority).revoke();
            }
            // Descriptions of tables say how they are published.
            c if [
                pg_publication::TABLE.oid,
                pg_publication_rel::TABLE.oid,
                pg_publication_namespace::TABLE.oid,
            ]
            .contains(&c) =>
            {
                self.publications = None;
                self.tables.retain(|oid, table| {
                    if let Some(table) = table.as_ref().filter(|_| !oid.is_pinned()) {
                        table.validity.revoke();
                    }
                    oid.is_pinned()
                });
            }
            c if c == pg_collation::TABLE.oid => {
                self.collations.clear();
                self.collation_names.clear();
            }
            _ => {}
        }
    }
}

/// The cache of one database.
#[derive(Default)]
pub(crate) struct SharedCache {
    entries: Mutex<Entries>,
    /// Changes before and behind each removal; read before a reader takes its snapshot.
    generation: AtomicU64,
}

impl SharedCache {
    /// To be read before the snapshot under which an entry is made. As long as it is the same, what was current is.
    pub(crate) fn generation(&self) -> u64 {
        // Acquire: pairs with the release in `remove`; a snapshot taken after this load sees every commit counted in it.
        self.generation.load(Ordering::Acquire)
    }

    /// Looks at the entries.
    pub(crate) fn with<T>(&self, look: impl FnOnce(&Entries) -> T) -> T {
        look(&self.entries.lock())
    }

    /// Puts entries in and returns what `put` does, unless something was taken out since `generation` was read (invariant 3).
    pub(crate) fn fill<T>(&self, generation: u64, put: impl FnOnce(&mut Entries) -> T) -> Option<T> {
        let mut entries = self.entries.lock();
        (self.generation.load(Ordering::Relaxed) == generation).then(|| put(&mut entries))
    }

    /// Takes out what a committed transaction made stale.
    pub(crate) fn remove(&self, stale: &[Stale]) {
        let mut entries = self.entries.lock();
        self.generation.fetch_add(1, Ordering::Release);
        for stale in stale {
            entries.remove(stale);
        }
        // Again: who knows this number finds the flags down.
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// Takes everything out.
    pub(crate) fn remove_all(&self) {
        let mut entries = self.entries.lock();
        self.generation.fetch_add(1, Ordering::Release);
        let all = std::mem::take(&mut *entries);
        all.definitions.revoke();
        all.authority.revoke();
        all.tables.into_values().flatten().for_each(|table| table.validity.revoke());
        all.names.into_values().for_each(|holder| holder.revoke());
        self.generation.fetch_add(1, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_reader_does_not_put_back_what_a_commit_took_out() {
        let cache = SharedCache::default();
        let before = cache.generation();
        cache.remove(&[Stale::RelationName(Oid(2200), "t".into())]);
        let refused = cache.fill(before, |entries| {
            entries.names.insert((Oid(2200), "t".into()), Holder::Relation(Oid(16384)));
        });
        assert_eq!(refused, None);
        assert_eq!(cache.with(|entries| entries.names.len()), 0);
        let now = cache.generation();
        let filled = cache.fill(now, |entries| {
            entries.names.insert((Oid(2200), "t".into()), Holder::Relation(Oid(16385)));
        });
        assert_eq!(filled, Some(()));
        assert_eq!(cache.with(|entries| entries.names.len()), 1);
    }

    #[test]
    fn what_is_stale_survives_as_bytes() {
        let all = [
            Stale::Relation(Oid(16384)),
            Stale::RelationName(Oid(2200), "täble".into()),
            Stale::Statistics(Oid(7)),
            Stale::Catalog(Oid(1247)),
            Stale::Authority,
        ];
        let mut bytes = Vec::new();
        all.iter().for_each(|stale| stale.encode(&mut bytes));
        assert_eq!(Stale::decode_all(&bytes).as_deref(), Some(&all[..]));
        assert_eq!(Stale::decode_all(&bytes[..bytes.len() - 1]), None);
        assert_eq!(Stale::decode_all(&[9, 0, 0, 0, 0, 0, 0]), None);
    }

    #[test]
    fn everything_can_be_made_stale() {
        let cache = SharedCache::default();
        let put = |entries: &mut Entries| {
            entries.names.insert((Oid(2200), "a".into()), Holder::Nobody(Validity::default()));
        };
        cache.fill(0, put);
        let before = cache.generation();
        cache.remove_all();
        assert_eq!(cache.with(|entries| entries.names.len()), 0);
        cache.fill(before, put);
        assert_eq!(cache.with(|entries| entries.names.len()), 0, "a slow reader puts nothing back");
    }

    #[test]
    fn a_change_of_one_name_leaves_the_others() {
        let cache = SharedCache::default();
        cache.fill(0, |entries| {
            entries.names.insert((Oid(2200), "a".into()), Holder::Nobody(Validity::default()));
            entries.names.insert((Oid(2200), "b".into()), Holder::Nobody(Validity::default()));
        });
        cache.remove(&[Stale::RelationName(Oid(2200), "a".into())]);
        assert!(cache.with(|e| !e.names.contains_key(&(Oid(2200), "a".into()))));
        assert!(cache.with(|e| e.names.contains_key(&(Oid(2200), "b".into()))));
    }
}
