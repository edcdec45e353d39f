//! Names of the statements that have no node in our tree.

use rupg_sql::nodes::Node;

/// The statement as a user would call it.
pub(crate) fn name(node: &Node) -> &'static str {
    match node {
        Node::AlterEventTrigStmt(_) => "ALTER EVENT TRIGGER",
        Node::AlterObjectDependsStmt(_) => "ALTER ... DEPENDS ON EXTENSION",
        Node::AlterTypeStmt(_) => "ALTER TYPE SET",
        Node::CreateEventTrigStmt(_) => "CREATE EVENT TRIGGER",
        Node::CreateTransformStmt(_) => "CREATE TRANSFORM",
        Node::SecLabelStmt(_) => "SECURITY LABEL",
        _ => "this statement",
    }
}
