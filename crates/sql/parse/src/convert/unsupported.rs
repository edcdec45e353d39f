//! Names of the statements that have no node in our tree.

use rupg_sql::nodes::Node;

/// The statement as a user would call it.
pub(crate) fn name(node: &Node) -> &'static str {
    match node {
        Node::AlterEventTrigStmt(_) => "ALTER EVENT TRIGGER",
        Node::AlterFdwStmt(_) => "ALTER FOREIGN DATA WRAPPER",
        Node::AlterForeignServerStmt(_) => "ALTER SERVER",
        Node::AlterObjectDependsStmt(_) => "ALTER ... DEPENDS ON EXTENSION",
        Node::AlterPolicyStmt(_) => "ALTER POLICY",
        Node::AlterPublicationStmt(_) => "ALTER PUBLICATION",
        Node::AlterSubscriptionStmt(_) => "ALTER SUBSCRIPTION",
        Node::AlterTypeStmt(_) => "ALTER TYPE SET",
        Node::AlterUserMappingStmt(_) => "ALTER USER MAPPING",
        Node::CreateEventTrigStmt(_) => "CREATE EVENT TRIGGER",
        Node::CreateFdwStmt(_) => "CREATE FOREIGN DATA WRAPPER",
        Node::CreateForeignServerStmt(_) => "CREATE SERVER",
        Node::CreateForeignTableStmt(_) => "CREATE FOREIGN TABLE",
        Node::CreatePolicyStmt(_) => "CREATE POLICY",
        Node::CreatePublicationStmt(_) => "CREATE PUBLICATION",
        Node::CreateSubscriptionStmt(_) => "CREATE SUBSCRIPTION",
        Node::CreateTransformStmt(_) => "CREATE TRANSFORM",
        Node::CreateUserMappingStmt(_) => "CREATE USER MAPPING",
        Node::DropSubscriptionStmt(_) => "DROP SUBSCRIPTION",
        Node::DropUserMappingStmt(_) => "DROP USER MAPPING",
        Node::ImportForeignSchemaStmt(_) => "IMPORT FOREIGN SCHEMA",
        Node::RuleStmt(_) => "CREATE RULE",
        Node::SecLabelStmt(_) => "SECURITY LABEL",
        _ => "this statement",
    }
}
