//! A plan looks at itself before it is run.
//!
//! What: nodes hand on their children's rows by position, and the executor trusts that a column is where the plan says and of the type that
//! it says. A mistake of the planner would otherwise be a wrong answer, or a value read as another type. It is looked for once, when the
//! plan is made; each node costs a comparison of its columns' types.
//!
//! Invariants of every plan:
//! 1. The rows of the top begin with the columns of the result, in number and type.
//! 2. A node that passes rows on as they are has the columns of its child.
//! 3. Children whose rows stand beside each other have the columns of their parent.

use base::{Oid, SqlError, SqlResult};

use crate::expr::Expr;
use crate::plan::{Node, Plan, Statement};

/// Fails with an internal error that names the node if the plan breaks an invariant.
pub(crate) fn check(statement: &Statement) -> SqlResult<()> {
    let result = statement.result.iter().map(|column| column.type_oid);
    if !begins_with(&statement.plan, result) {
        return Err(wrong_columns(&statement.plan, "the result"));
    }
    check_tree(&statement.plan)?;
    statement.subplans.iter().try_for_each(|sub| check_tree(&sub.plan))
}

fn check_tree(plan: &Plan) -> SqlResult<()> {
    runtime::check_stack()?;
    let columns = || plan.output.iter().map(Expr::type_oid);
    let mut inputs: Vec<&Plan> = Vec::new();
    match &plan.node {
        Node::Materialize { child }
        | Node::Memoize { child, .. }
        | Node::Gather { child, .. }
        | Node::Sort { child, .. }
        | Node::IncrementalSort { child, .. }
        | Node::Unique { child, .. }
        | Node::Limit { child, .. }
        | Node::LockRows { child, .. } => inputs.push(child),
        Node::Append { children, .. } | Node::MergeAppend { children, .. } => inputs.extend(children),
        Node::SetOp { left, right, .. } => inputs.extend([&**left, &**right]),
        Node::RecursiveUnion { initial, recursive, .. } => inputs.extend([&**initial, &**recursive]),
        _ => {}
    }
    if let Some(wrong) = inputs.iter().find(|input| !begins_with(input, columns())) {
        return Err(wrong_columns(wrong, &kind(plan)));
    }
    let mut checked = Ok(());
    plan.for_children(&mut |child| {
        if checked.is_ok() {
            checked = check_tree(child);
        }
    });
    checked
}

fn begins_with(plan: &Plan, types: impl Iterator<Item = Oid>) -> bool {
    let mut own = plan.output.iter().map(Expr::type_oid);
    types.into_iter().all(|ty| own.next() == Some(ty))
}

fn wrong_columns(plan: &Plan, reader: &str) -> SqlError {
    SqlError::internal(format!("the plan is wrong: {} does not have the columns of {reader}", kind(plan)))
}

/// The name of a node's kind, as its type writes it.
fn kind(plan: &Plan) -> String {
    let node = format!("{:?}", plan.node);
    node.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_string()
}
