//! Whether the constraints of a table imply a partition bound.
//!
//! The constraints are treated as conditions of a query on a table with two partitions: this one, and one for all other rows. If they prune the
//! second one, every row that satisfies the constraints lies within the bound.
//!
//! # PostgreSQL counterpart and differences
//! `ConstraintImpliedByRelConstraint` of `commands/tablecmds.c`. Only conditions that prune are understood, and none on a partition that
//! takes NULL.

use std::sync::Arc;

use base::{Oid, SqlResult};
use catalog::partition::{Bound, Partition, Partitioning};
use catalog::view::Table;

use crate::expr::{Expr, Test};
use crate::inherit::column_map;
use crate::partition::PartitionMap;
use crate::planner::{Context, Planner};
use crate::prune::{Key, known_values};
use crate::walk::flatten_and;

/// Whether all rows of `table` satisfy the bound that `part`, which is it or a table above it, has in `parent`. Known of them: the validated
/// CHECKs of the table, and its columns that are not NULL.
pub fn bound_follows(
    context: &Context<'_>,
    table: &Arc<Table>,
    (parent, part): (&Table, Oid),
    not_null: &[i16],
) -> SqlResult<bool> {
    let Some(of) = &parent.partitioning else { return Ok(false) };
    let Some(own) = of.all_partitions().find(|p| p.oid == part) else { return Ok(false) };
    let others = Partition { oid: Oid::INVALID, bound: Bound::Default };
    let two = Partitioning { partitions: vec![own.clone(), others], detaching: None, ..(**of).clone() };
    let two = Table { partitioning: Some(Arc::new(two)), ..parent.clone() };
    let Some(of) = &two.partitioning else { return Ok(false) };

    let mut planner = Planner::new(context)?;
    let number = planner.next_member();
    let rel = planner.add_member(table, table.clone(), number)?.rel;
    let keys = planner.partition_keys(rel, &two, &column_map(table, &two)?)?;
    let mut known = Vec::new();
    for check in table.checks.iter().filter(|check| check.validated && check.enforced) {
        flatten_and(planner.stored(&check.expr, rel)?, &mut known);
    }
    // A CHECK lets NULL pass, a condition does not.
    let is_not_null = |key: &Expr| {
        matches!(key, Expr::Var(var) if not_null.contains(&var.column))
            || known.iter().any(|e| matches!(e, Expr::Test(Test::IsNotNull, arg) if **arg == *key))
    };
    if !keys.iter().all(is_not_null) {
        return Ok(false);
    }
    let map = PartitionMap::of(&two, context.catalog)?;
    let Some(condition) = (Key { rel, exprs: &keys, of, families: &planner.families }).all(&known) else {
        return Ok(false);
    };
    let set = map.matching(&condition, &mut |e, array| Ok(known_values(e, array)))?;
    Ok(map.default.is_some_and(|others| !set.contains(others)))
}
