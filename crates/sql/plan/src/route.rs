//! Routing of rows to partitions, and checks of partition bounds.
//!
//! # PostgreSQL counterpart
//! `executor/execPartition.c`.

use std::sync::Arc;

use base::{Oid, SqlResult};
use catalog::view::Table;
use catalog::{RelationKind, TriggerKind};
use tuple::Datum;
use types::hashing::PARTITION_SEED;
use types::oids;

use crate::expr::{Call, CallForm, Expr, RelId};
use crate::inherit::column_map;
use crate::partition::{KeyColumn, PartitionMap};
use crate::plan::{Command, Modify, PartitionCheck, Route, Routing, TargetTable};
use crate::planner::Planner;

impl Planner<'_> {
    /// How new rows of a statement find their partitions, whose tables join the statement's targets; none if rows cannot come into another
    /// table than the one they were found in.
    pub(crate) fn routing(
        &mut self,
        modify: &Modify,
        targets: &mut Vec<TargetTable>,
    ) -> SqlResult<Option<Routing>> {
        let table = modify.table.clone();
        let arms = || modify.merge.iter().flat_map(|merge| &merge.actions);
        let inserts =
            modify.command == Command::Insert || arms().any(|arm| arm.command == Some(Command::Insert));
        if table.partitioning.is_none() || modify.command == Command::Delete {
            return Ok(None);
        }
        let numbers = column_map(&table, &table)?;
        let updates = arms().filter(|arm| arm.command == Some(Command::Update));
        let mut assigned = modify.columns.clone();
        assigned.extend(updates.flat_map(|arm| arm.set.iter().map(|(number, _)| *number)));
        let before_update = TriggerKind::ROW | TriggerKind::BEFORE | TriggerKind::UPDATE;
        let triggered =
            |t: &TargetTable| t.table.triggers.iter().any(|trigger| trigger.kind.has(before_update));
        let may_move = targets.iter().any(triggered);
        if !inserts && !may_move && !self.moves_rows(modify, &assigned, &table, &numbers)? {
            return Ok(None);
        }
        Ok(Some(self.routing_of(modify.rel, &table, &table, &numbers, targets)?))
    }

    /// Whether one of these columns is in a partition key of the tree.
    fn moves_rows(
        &mut self,
        modify: &Modify,
        columns: &[i16],
        table: &Arc<Table>,
        numbers: &[i16],
    ) -> SqlResult<bool> {
        let mut keys = self.partition_keys(modify.rel, table, numbers)?;
        let Some(of) = &table.partitioning else { return Ok(false) };
        let assigned = |e: &Expr| {
            e.any(&mut |e| matches!(e, Expr::Var(v) if v.column == 0 || columns.contains(&v.column)))
        };
        if keys.iter().any(assigned) {
            return Ok(true);
        }
        for partition in &of.partitions {
            let Some(part) = self.context.catalog.relation_by_oid(partition.oid)? else { continue };
            if part.partitioning.is_some() {
                keys.clear();
                let numbers = column_map(&modify.table, &part)?;
                if self.moves_rows(modify, columns, &part, &numbers)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn routing_of(
        &mut self,
        rel: RelId,
        root: &Arc<Table>,
        table: &Arc<Table>,
        numbers: &[i16],
        targets: &mut Vec<TargetTable>,
    ) -> SqlResult<Routing> {
        runtime::check_stack()?;
        let map = match self.context.routes_to_hidden {
            true => PartitionMap::of_all(table, self.context.catalog)?,
            false => PartitionMap::of(table, self.context.catalog)?,
        };
        let map = Arc::new(map);
        let keys = self.partition_keys(rel, table, numbers)?;
        let hashes = self.hashes_of(&map, &keys)?;
        let mut parts = Vec::with_capacity(map.partitions.len());
        for &oid in &map.partitions {
            runtime::check_interrupts().map_err(crate::interrupted)?;
            // A partition that was dropped meanwhile is gone when the parent's lock is held.
            let Some(part) = self.context.catalog.relation_by_oid(oid)? else {
                parts.push(None);
                continue;
            };
            self.lock(oid, 3);
            if part.partitioning.is_some() {
                let numbers = column_map(root, &part)?;
                let nested = self.routing_of(rel, root, &part, &numbers, targets)?;
                parts.push(Some(Route::Table(Box::new(nested))));
                continue;
            }
            if part.kind == RelationKind::ForeignTable {
                parts.push(Some(Route::Foreign(part)));
                continue;
            }
            let known = targets.iter().position(|t| t.table.oid == oid);
            let at = match known {
                Some(at) => at,
                None => {
                    let number = self.next_member();
                    let member = self.add_member(root, part, number)?;
                    targets.push(self.target_table(member.rel, &member.table, member.renumbered())?);
                    targets.len() - 1
                }
            };
            parts.push(Some(Route::Target(at)));
        }
        Ok(Routing { map, table: table.clone(), keys, hashes, parts })
    }

    /// Calls of the functions of users that hash columns of a key.
    fn hashes_of(&mut self, map: &PartitionMap, keys: &[Expr]) -> SqlResult<Vec<Option<Expr>>> {
        let hash = |(column, key): (&KeyColumn, &Expr)| {
            let Some(function) = column.hash_function else { return Ok(None) };
            let value = Datum::Int8(PARTITION_SEED as i64);
            let seed = Expr::Const { value, type_oid: oids::int8, typmod: -1 };
            let function = self.function(function)?;
            Ok(Some(Expr::Call(Box::new(Call {
                number: self.call_number(&function),
                function,
                form: CallForm::Function,
                args: vec![key.clone(), seed],
                type_oid: oids::int8,
                typmod: -1,
                collation: Oid::INVALID,
                variadic: false,
            }))))
        };
        map.keys.iter().zip(keys).map(hash).collect()
    }

    /// What a row must satisfy to be in a partition, from the nearest ancestor on.
    pub(crate) fn partition_checks(
        &mut self,
        rel: RelId,
        table: &Arc<Table>,
    ) -> SqlResult<Vec<PartitionCheck>> {
        let mut checks = Vec::new();
        let mut child = table.clone();
        while child.partition_of.is_valid() {
            runtime::check_interrupts().map_err(crate::interrupted)?;
            let Some(parent) = self.context.catalog.relation_by_oid(child.partition_of)? else { break };
            let map = Arc::new(PartitionMap::of_all(&parent, self.context.catalog)?);
            let Some(part) = map.partitions.iter().position(|oid| *oid == child.oid) else { break };
            let numbers = column_map(table, &parent)?;
            let keys = self.partition_keys(rel, &parent, &numbers)?;
            let hashes = self.hashes_of(&map, &keys)?;
            checks.push(PartitionCheck { map, keys, hashes, part });
            child = parent;
        }
        Ok(checks)
    }
}
