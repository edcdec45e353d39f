//! # What
//! Utility statements: everything that is neither a query nor a change of rows. One file per family.
//!
//! # Layout
//! * `statement`: what is known of each statement, and who runs it ([`Commands`]).
//! * Functions: `function` (with `alter_function`, `call`, `function_options`, `parameters`, `routine_name`, `uses`), `operator` (and casts, with `alter_operator`), `operator_class` (with `operator_class_member`).
//! * Relations: `table`, `create_as`, `constraint`, `index` (with `index_build`, `index_sort`), `inherit`, `partition` (with `detach`), `partition_index`, `alter` (with `alter_tree`, `alter_identity`, `alter_type`, `generated`), `rename`, `drop`, `truncate`,
//!   `temporary`, `schema`, `view`, `sequence`.
//! * Databases: `database`.
//! * Extensions, languages, LOAD: `extension`. Foreign data: `foreign`.
//! * Triggers and SET CONSTRAINTS: `trigger`. Row security: `policy`. Rules: `rule`.
//! * Logical replication: `publication` (with `publication_filter`), `subscription` (with `subscription_options`), `apply` (subscriptions at work).
//! * What all kinds of objects have in common: `object_kind` (with `comment`, `drop`, `rename`, `owner`).
//! * Who may do what: `role`, `grant`, `owner`. Rows: `copy`. Upkeep: `vacuum`, `analyze` (with `sample`, `statistics`, `statistics_extended`), `extended_statistics`. The session: `settings`, `lock`.
//! * What they share: `names` (finding and locking relations), `type_name`, `object_name`, `options`, `storage_parameter`,
//!   `expression`, `index_entries`, `violation`.
//! * [`autovacuum`]: VACUUM and ANALYZE by themselves. `initialize`: what initdb does.
//!
//! # Invariants
//! 1. A relation's lock is taken before its description is trusted.
//! 2. A clause that is not supported fails with 0A000 and its name.

mod access_method;
mod aggregate;
mod alter;
mod alter_attribute;
mod alter_column_options;
mod alter_constraint;
mod alter_function;
mod alter_identity;
mod alter_operator;
mod alter_rows;
mod alter_system;
mod alter_tree;
mod alter_type;
mod alter_user_type;
mod analyze;
pub mod apply;
pub mod autovacuum;
mod base_type;
mod call;
mod cluster;
mod collation;
mod comment;
mod compression;
mod concurrently;
mod constraint;
mod conversion;
mod copy;
mod create_as;
mod database;
mod detach;
mod drop;
mod exclusion;
mod existing_index;
mod extended_statistics;
mod extension;
mod foreign;
pub(crate) mod foreign_key;
mod foreign_key_parts;
mod function;
mod function_options;
mod generated;
pub(crate) mod grant;
mod heap_load;
mod index;
pub(crate) mod index_build;
mod index_concurrently;
mod index_sort;
mod inherit;
mod initialize;
mod internal;
mod language;
mod like;
pub(crate) mod lock;
mod matview;
mod number_sort;
mod object_kind;
mod object_name;
pub(crate) mod oldest_ids;
pub(crate) mod on_commit;
pub(crate) mod operator;
mod operator_class;
mod operator_class_member;
mod owner;
mod parameters;
mod partition;
mod partition_index;
mod persistence;
mod policy;
mod publication;
mod publication_filter;
mod range_type;
mod reindex;
mod rename;
mod replica_identity;
mod rewrite;
mod rewrite_catalog;
mod role;
mod rule;
mod sample;
mod schema;
mod schema_object;
mod sequence;
mod set_tablespace;
mod settings;
mod statement;
mod statistics;
mod statistics_extended;
mod statistics_lexemes;
mod storage_parameter;
mod subscription;
mod subscription_options;
mod table;
mod tablespace;
mod text_search;
mod text_search_configuration;
mod trigger;
mod truncate;
mod typed_table;
mod user_type;
pub(crate) mod vacuum;
mod view;

use base::{SqlError, SqlResult, sql_err};
use catalog::predefined;
use parse::ast::Discard;
use session::Session;
use session::lookup::{names, routine_name, temporary, type_name};
use session::{expression, index_entries, options, uses, violation};

pub use initialize::initialize;
pub use statement::Commands;
pub use vacuum::{AnalyzeReport, Budget, FreezeAges, Maintenance, Used, VacuumReport};

/// CHECKPOINT.
fn checkpoint(session: &Session) -> SqlResult<()> {
    if !session.has_role(predefined::CHECKPOINT)? {
        return Err(sql_err!(INSUFFICIENT_PRIVILEGE, "permission denied to execute CHECKPOINT command")
            .detail("Only roles with privileges of the \"pg_checkpoint\" role may execute this command."));
    }
    let cause = engine::CheckpointCause::Requested;
    let done = session.engine().checkpoint(cause);
    done.map(std::mem::drop).map_err(SqlError::from)
}

/// DISCARD.
fn discard(session: &Session, what: Discard) -> SqlResult<()> {
    match what {
        Discard::Temporary => temporary::drop_all(session)?,
        Discard::Sequences => session.sequences.borrow_mut().forget(),
        // Whether a plan still holds is found out when it is used.
        Discard::Plans => {}
        Discard::All => {
            session.close_cursor(None)?;
            session.deallocate(None)?;
            session.change_setting("session_authorization", None, false)?;
            session.settings.borrow_mut().reset_all(session.txn.borrow().depth() as u32);
            session.apply_settings();
            session.unlisten(None);
            session.txn.borrow_mut().unlock_all_for_session(|_| true);
            session.sequences.borrow_mut().forget();
            temporary::drop_all(session)?;
        }
    }
    Ok(())
}
