//! # What
//! `pgstattuple`: how much of a relation's pages is used, dead and free.
//!
//! # Layout
//! `table`: heaps. `index`: indexes, whose methods [measure](::index::IndexAccessMethod::measure) their pages.
//!
//! # PostgreSQL counterpart and differences
//! `contrib/pgstattuple` 1.5. The figures are those of this server's own pages: a hash index has neither overflow pages nor bitmaps.

mod index;
mod table;

use base::{Fork, SqlResult, sql_err};
use catalog::RelationKind as K;
use session::Session;
use session::module::{Module, ModuleFunction, rows};
use session::routine::{Invocation, Returned};
use tuple::Datum;

use crate::relation::{Relation, bytes_of, percent};

use ModuleFunction::Session as F;

/// The extension.
pub static MODULE: Module = Module {
    name: "pgstattuple",
    version: "1.5",
    comment: "show tuple-level statistics",
    relocatable: true,
    script: include_str!("script.sql"),
    functions: &[
        ("pgstattuple_v1_5", F(statistics)),
        ("pgstattuplebyid_v1_5", F(statistics)),
        ("pgstattuple_approx_v1_5", F(table::approximate)),
        ("pgstatindex_v1_5", F(index::btree)),
        ("pgstatindexbyid_v1_5", F(index::btree)),
        ("pgstatginindex_v1_5", F(index::gin)),
        ("pgstathashindex", F(index::hash)),
        ("pg_relpages_v1_5", F(pages)),
        ("pg_relpagesbyid_v1_5", F(pages)),
    ],
    ..Module::LIBRARY
};

/// What a relation's pages have.
#[derive(Clone, Copy, Debug, Default)]
struct Figures {
    pages: u32,
    live: (u64, u64),
    dead: (u64, u64),
    free: u64,
}

/// With two decimals.
fn rounded(value: f64) -> Datum {
    Datum::Float8((value * 100.0).round_ties_even() / 100.0)
}

fn number(value: u64) -> Datum {
    Datum::Int8(value as i64)
}

impl Figures {
    fn row(&self) -> Vec<Datum> {
        let whole = bytes_of(self.pages);
        let part = |bytes: u64| rounded(percent(bytes, whole));
        vec![
            number(whole),
            number(self.live.0),
            number(self.live.1),
            part(self.live.1),
            number(self.dead.0),
            number(self.dead.1),
            part(self.dead.1),
            number(self.free),
            part(self.free),
        ]
    }
}

fn statistics(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    let relation = Relation::open(session, Relation::oid(session, &invocation.args[0])?)?;
    relation.check_not_others(session, "tables")?;
    let figures = match relation.kind() {
        K::Table | K::MaterializedView | K::Toast | K::Sequence => table::figures(session, &relation)?,
        K::Index => index::figures(session, &relation)?,
        _ => {
            let message = format!("cannot get tuple-level statistics for relation \"{}\"", relation.name());
            return Err(sql_err!(FEATURE_NOT_SUPPORTED, "{message}").detail(relation.not_for_kind()));
        }
    };
    rows(session, invocation, [figures.row()])
}

fn pages(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    let relation = Relation::open(session, Relation::oid(session, &invocation.args[0])?)?;
    let Some(file) = relation.file() else {
        return Err(sql_err!(WRONG_OBJECT_TYPE, "cannot get page count of relation \"{}\"", relation.name())
            .detail(relation.not_for_kind()));
    };
    let pages = Relation::blocks(session, file, Fork::Main)?;
    Ok(Returned::Value(Datum::Int8(i64::from(pages))))
}
