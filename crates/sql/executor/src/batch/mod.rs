//! # What
//! Many rows at once: columns of a page's rows ([`tuple::Batch`]) instead of one row after the other.
//!
//! A table scan below an aggregation or a hash join gives batches if it is large by the planner's estimate and `stampede.batch_execution` is on. A scan's batch is what is
//! visible on one page: its columns are decoded straight from the page ([`tuple::ColumnReader`]), texts are views of it, and nothing is copied.
//! Conditions shrink the list of rows that are meant ([`condition::Condition`]), expressions make new columns
//! ([`vector::Vector`]), and aggregates take columns ([`calls::ColumnCalls`]), into one state or those of groups in a
//! flat table ([`groups::Groups`]). A hash join whose outer side gives batches gives some itself ([`join`]): of copies of what is read of both sides.
//!
//! # Invariants
//! 1. The answer is that of rows, one after the other: also the first error. What has a kernel for columns is computed by it; for everything else
//!    the compiled expression that rows have is run, for the rows that are meant.
//! 2. An expression that could tell how often, or in which order, it is run is not run over batches: volatile functions, those of users, subplans. A
//!    subplan that has one value for the whole statement is run once also for rows, when the first of them asks for it: that may be within a batch.
//! 3. A condition behind another is asked for those rows only that passed the former; likewise arms of AND and OR.
//! 4. Whatever fails in a batch is done again row by row, by the nodes for rows; that finds the error which comes first. So is a page with a value
//!    that is compressed or stored elsewhere. Beyond work_mem, groups stay in memory that rows would have put into files, or the other way round: there
//!    the first of several errors may be another one.

pub(crate) mod calls;
mod condition;
pub(crate) mod groups;
mod inner;
pub(crate) mod join;
mod keys;
pub(crate) mod rows;
pub(crate) mod scan;
mod table;
mod vector;

use plan::{Expr, Function};

/// Whether an expression may be computed for many rows at once (invariant 2).
pub(crate) fn is_plain(expr: &Expr) -> bool {
    let other = |e: &Expr| match e {
        Expr::SubPlan(sub) => !sub.is_initial(),
        Expr::CurrentOf { .. } | Expr::Aggregate(_) | Expr::Window(_) | Expr::Grouping(_) => true,
        Expr::ToDomain { .. } | Expr::Json(_) | Expr::Xml(_) => true,
        Expr::Var(var) => var.column <= 0,
        _ => false,
    };
    !expr.is_volatile()
        && !expr.any(&mut |e| other(e))
        && !expr.calls(&|f| matches!(f, Function::User(_)) || f.retset())
}
