//! # What
//! The catalogs: their shape ([`system`]), their first rows ([`bootstrap()`]), reading them through caches that all sessions
//! share ([`Catalog`], [`Reader`]) and changing them ([`change`]).
//!
//! # Layout
//! * [`system`]: columns and indexes of every table of `pg_catalog`, as constants. [`row`]: rows by column name.
//! * [`tables`]: the catalogs as open tables. `cache`: what sessions share. [`database`]: what a statement reads through.
//! * [`view`]: what the layers above see: relations, types, functions as plain structs. `load`, `names`: how they are read.
//!   `stats`, `extended`: what ANALYZE learnt. [`partition`]: keys and bounds of partitioned tables. [`families`]: operator classes and families.
//! * [`change`]: CREATE, ALTER and DROP as row changes. [`bootstrap()`]: initdb.
//!
//! # Invariants
//! 1. Catalogs are ordinary MVCC tables: what a transaction did to them is seen by itself at once, by others after its
//!    commit, by nobody after its abort.
//! 2. This layer does not know statements or expressions: stored expressions are text to it. It knows who may do what ([`roles`],
//!    [`authority`]), and asks that itself only where names are looked up: a schema without USAGE is not looked into.
//!
//! # PostgreSQL counterpart
//! `src/backend/catalog`, `utils/cache`.

pub mod authority;
mod bootstrap;
mod cache;
pub mod change;
pub mod database;
mod extended;
pub mod families;
pub mod foreign_key;
mod load;
mod logged;
mod names;
mod object_class;
mod page_costs;
pub mod partition;
pub mod policy;
pub mod publication;
pub mod roles;
pub mod row;
pub mod rule;
mod shape;
mod stats;
mod stored_list;
pub mod system;
pub mod tables;
mod toast_index;
pub mod trigger;
mod validity;
mod vectors;
pub mod view;

pub use authority::{AclKind, Grants};
pub use bootstrap::{
    BOOTSTRAP_SUPERUSER, BootstrapOptions, INFORMATION_SCHEMA, INITIAL_PRIVILEGES, POSTGRES,
    STATISTICS_VIEWS, SYSTEM_VIEWS, TEMPLATE0, TEMPLATE1, bootstrap,
};
pub use cache::Stale;
pub use change::{Changer, NotedIds};
pub use database::{
    Catalog, Cluster, PG_CATALOG, PG_TOAST, PUBLIC, Reader, SessionCatalog, Written, database_lock,
};
pub use engine::indexes::DEFAULT_METHOD as DEFAULT_INDEX_METHOD;
pub use extended::{ExtendedStatistics, StatisticsObject};
pub use load::{compare_of, has_summary, orders_by_bytes, persistence_of};
pub use names::compared_by;
pub use object_class::ObjectClass;
pub use page_costs::PageCosts;
pub use policy::{Policy, PolicyCommand, RowSecurity};
pub use publication::{Publication, Published, PublishedTable, ReplicaIdentity};
pub use roles::{DatabaseRow, Membership, MembershipRow, Role, RoleFacts, predefined};
pub use row::{Row, RowBuilder, RowExt};
pub use rule::{Rule, RuleEvent};
pub use shape::{align_letter, collation_rules, composite_relation, row_columns, type_shape};
pub use stats::{ColumnStatistics, CommonLexemes};
pub use trigger::{Trigger, TriggerKind};
pub use validity::Validity;
pub use vectors::{int2_vector, int2s as int2s_of, oids as oids_of, text_array, texts as texts_of};
pub use view::*;
