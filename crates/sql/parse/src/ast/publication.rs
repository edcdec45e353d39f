//! Publications and subscriptions.

use super::{DefElem, DropBehavior, Expr, RangeVar};

/// What is published, as a statement names it.
#[derive(Clone, Debug, PartialEq)]
pub enum PublicationObject {
    /// TABLE
    Table(PublicationTable),
    /// TABLES IN SCHEMA
    Schema(String),
    /// TABLES IN SCHEMA CURRENT_SCHEMA
    CurrentSchema,
}

/// A table that is published.
#[derive(Clone, Debug, PartialEq)]
pub struct PublicationTable {
    /// The table.
    pub relation: RangeVar,
    /// The columns; none: all.
    pub columns: Option<Vec<String>>,
    /// WHERE
    pub filter: Option<Expr>,
}

/// CREATE PUBLICATION
#[derive(Clone, Debug, PartialEq)]
pub struct CreatePublication {
    /// Name.
    pub name: String,
    /// FOR TABLE, TABLES IN SCHEMA
    pub objects: Vec<PublicationObject>,
    /// FOR ALL TABLES
    pub all_tables: bool,
    /// WITH
    pub options: Vec<DefElem>,
}

/// ALTER PUBLICATION
#[derive(Clone, Debug, PartialEq)]
pub struct AlterPublication {
    /// Name.
    pub name: String,
    /// What is to be done.
    pub action: PublicationAction,
}

/// What ALTER PUBLICATION does.
#[derive(Clone, Debug, PartialEq)]
pub enum PublicationAction {
    /// SET (...)
    Options(Vec<DefElem>),
    /// ADD
    Add(Vec<PublicationObject>),
    /// SET
    Set(Vec<PublicationObject>),
    /// DROP
    Drop(Vec<PublicationObject>),
}

/// CREATE SUBSCRIPTION
#[derive(Clone, Debug, PartialEq)]
pub struct CreateSubscription {
    /// Name.
    pub name: String,
    /// CONNECTION
    pub connection: String,
    /// PUBLICATION
    pub publications: Vec<String>,
    /// WITH
    pub options: Vec<DefElem>,
}

/// ALTER SUBSCRIPTION
#[derive(Clone, Debug, PartialEq)]
pub struct AlterSubscription {
    /// Name.
    pub name: String,
    /// What is to be done.
    pub action: SubscriptionAction,
}

/// What ALTER SUBSCRIPTION does.
#[derive(Clone, Debug, PartialEq)]
pub enum SubscriptionAction {
    /// SET (...)
    Options(Vec<DefElem>),
    /// CONNECTION
    Connection(String),
    /// SET PUBLICATION, with WITH
    SetPublications(Vec<String>, Vec<DefElem>),
    /// ADD PUBLICATION, with WITH
    AddPublications(Vec<String>, Vec<DefElem>),
    /// DROP PUBLICATION, with WITH
    DropPublications(Vec<String>, Vec<DefElem>),
    /// REFRESH PUBLICATION, with WITH
    Refresh(Vec<DefElem>),
    /// ENABLE, DISABLE
    Enable(bool),
    /// SKIP (...)
    Skip(Vec<DefElem>),
}

/// DROP SUBSCRIPTION
#[derive(Clone, Debug, PartialEq)]
pub struct DropSubscription {
    /// Name.
    pub name: String,
    /// IF EXISTS
    pub missing_ok: bool,
    /// CASCADE
    pub behavior: DropBehavior,
}
