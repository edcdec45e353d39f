//! Names of the statements that have no node in our tree.

use rupg_sql::nodes::{Node, ObjectType};

/// The statement as a user would call it.
pub(crate) fn name(node: &Node) -> &'static str {
    match node {
        Node::AlterEventTrigStmt(_) => "ALTER EVENT TRIGGER",
        Node::AlterFdwStmt(_) => "ALTER FOREIGN DATA WRAPPER",
        Node::AlterForeignServerStmt(_) => "ALTER SERVER",
        Node::AlterObjectDependsStmt(_) => "ALTER ... DEPENDS ON EXTENSION",
        Node::AlterPolicyStmt(_) => "ALTER POLICY",
        Node::AlterPublicationStmt(_) => "ALTER PUBLICATION",
        Node::AlterStatsStmt(_) => "ALTER STATISTICS",
        Node::AlterSubscriptionStmt(_) => "ALTER SUBSCRIPTION",
        Node::AlterTSConfigurationStmt(_) => "ALTER TEXT SEARCH CONFIGURATION",
        Node::AlterTSDictionaryStmt(_) => "ALTER TEXT SEARCH DICTIONARY",
        Node::AlterTableMoveAllStmt(_) => "ALTER TABLE ALL IN TABLESPACE",
        Node::AlterTableSpaceOptionsStmt(_) => "ALTER TABLESPACE",
        Node::AlterTypeStmt(_) => "ALTER TYPE SET",
        Node::AlterUserMappingStmt(_) => "ALTER USER MAPPING",
        Node::CreateEventTrigStmt(_) => "CREATE EVENT TRIGGER",
        Node::CreateFdwStmt(_) => "CREATE FOREIGN DATA WRAPPER",
        Node::CreateForeignServerStmt(_) => "CREATE SERVER",
        Node::CreateForeignTableStmt(_) => "CREATE FOREIGN TABLE",
        Node::CreatePolicyStmt(_) => "CREATE POLICY",
        Node::CreatePublicationStmt(_) => "CREATE PUBLICATION",
        Node::CreateStatsStmt(_) => "CREATE STATISTICS",
        Node::CreateSubscriptionStmt(_) => "CREATE SUBSCRIPTION",
        Node::CreateTransformStmt(_) => "CREATE TRANSFORM",
        Node::CreateUserMappingStmt(_) => "CREATE USER MAPPING",
        Node::DefineStmt(s) => define(s.kind),
        Node::DropSubscriptionStmt(_) => "DROP SUBSCRIPTION",
        Node::DropUserMappingStmt(_) => "DROP USER MAPPING",
        Node::ImportForeignSchemaStmt(_) => "IMPORT FOREIGN SCHEMA",
        Node::RuleStmt(_) => "CREATE RULE",
        Node::SecLabelStmt(_) => "SECURITY LABEL",
        _ => "this statement",
    }
}

fn define(kind: ObjectType) -> &'static str {
    match kind {
        ObjectType::OBJECT_COLLATION => "CREATE COLLATION",
        ObjectType::OBJECT_TSPARSER => "CREATE TEXT SEARCH PARSER",
        ObjectType::OBJECT_TSDICTIONARY => "CREATE TEXT SEARCH DICTIONARY",
        ObjectType::OBJECT_TSTEMPLATE => "CREATE TEXT SEARCH TEMPLATE",
        ObjectType::OBJECT_TSCONFIGURATION => "CREATE TEXT SEARCH CONFIGURATION",
        _ => "this statement",
    }
}
