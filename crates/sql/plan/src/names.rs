//! What EXPLAIN calls relations: the alias where it is free, else the alias and a number.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::expr::RelId;
use crate::plan::{Node, Plan};
use crate::planner::Planner;
use crate::relset::FIRST_MEMBER;

/// The relations that plans show, and for members of trees what stands for them.
#[derive(Default)]
struct Shown {
    rels: BTreeSet<RelId>,
    parents: HashMap<RelId, RelId>,
}

impl Shown {
    fn plan(&mut self, plan: &Plan) {
        match &plan.node {
            Node::SeqScan { rel, .. }
            | Node::SampleScan { rel, .. }
            | Node::ForeignScan { rel, .. }
            | Node::IndexScan { rel, .. }
            | Node::IndexOnlyScan { rel, .. }
            | Node::BitmapHeapScan { rel, .. }
            | Node::TidScan { rel, .. }
            | Node::TidRangeScan { rel, .. }
            | Node::ValuesScan { rel, .. }
            | Node::FunctionScan { rel, .. }
            | Node::SubqueryScan { rel, .. }
            | Node::CteScan { rel, .. }
            | Node::WorkTableScan { rel, .. }
            | Node::TransitionScan { rel, .. } => {
                self.rels.insert(*rel);
            }
            Node::Append { tree: Some(tree), children } => {
                self.parents.extend(tree.parents());
                // The scan of an only member is shown in place of the tree's.
                if children.len() > 1 {
                    self.rels.extend(&tree.rels);
                }
            }
            Node::MergeAppend { tree: Some(tree), .. } => {
                self.parents.extend(tree.parents());
                self.rels.extend(&tree.rels);
            }
            Node::Modify(modify) => {
                self.rels.insert(modify.rel);
                for target in modify.targets.iter().filter(|t| t.rel != modify.rel) {
                    self.parents.insert(target.rel, modify.rel);
                    self.rels.insert(target.rel);
                }
            }
            _ => {}
        }
        plan.for_children(&mut |child| self.plan(child));
    }
}

impl Planner<'_> {
    /// Gives the relations that plans show names of their own: outer queries' first, members of trees last.
    pub(crate) fn name_relations<'p>(&mut self, plans: impl Iterator<Item = &'p Plan>) {
        let mut shown = Shown::default();
        plans.for_each(|plan| shown.plan(plan));
        let mut order: Vec<RelId> = shown.rels.iter().copied().collect();
        let depth = |rel: RelId| match rel {
            FIRST_MEMBER.. => usize::MAX,
            rel => self.depths.get(rel).copied().unwrap_or_default(),
        };
        // A member that stands for others comes before them, though it was numbered later.
        let mut first = HashMap::new();
        for (member, parent) in shown.parents.iter().filter(|(_, parent)| **parent >= FIRST_MEMBER) {
            first
                .entry(*parent)
                .and_modify(|first: &mut RelId| *first = (*first).min(*member))
                .or_insert(*member);
        }
        let place = |rel: &RelId| (first.get(rel).copied().unwrap_or(*rel), !first.contains_key(rel));
        order.sort_by_key(|rel| (depth(*rel), place(rel)));
        // Members are called by what was written for their parent, whatever that is called now.
        let written = |rel: &RelId| {
            let root = std::iter::successors(Some(*rel), |rel| shown.parents.get(rel).copied()).last();
            self.relations[root.unwrap_or(*rel)].alias.clone()
        };
        let aliases: Vec<Arc<str>> = order.iter().map(written).collect();
        let mut taken = HashMap::new();
        for (rel, alias) in order.into_iter().zip(aliases) {
            self.relations[rel].alias = free_name(&alias, &mut taken);
        }
    }
}

/// The alias, or the alias with the next number that makes it differ from all before.
fn free_name(alias: &Arc<str>, taken: &mut HashMap<Arc<str>, usize>) -> Arc<str> {
    if !taken.contains_key(alias) {
        taken.insert(alias.clone(), 0);
        return alias.clone();
    }
    loop {
        let number = taken.get(alias).copied().unwrap_or_default() + 1;
        taken.insert(alias.clone(), number);
        let name: Arc<str> = format!("{alias}_{number}").into();
        if !taken.contains_key(&name) {
            taken.insert(name.clone(), 0);
            return name;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_aliases_are_numbered() {
        let mut taken = HashMap::new();
        let names: Vec<String> = ["t", "t", "t_1", "t", "u"]
            .iter()
            .map(|alias| free_name(&Arc::from(*alias), &mut taken).to_string())
            .collect();
        assert_eq!(names, ["t", "t_1", "t_1_1", "t_2", "u"]);
    }
}
