//! # What
//! One descriptor for each kind of object that statements name.
//!
//! # Invariants
//! 1. [`of`] names every kind and has no arm for "all others": a new kind does not compile until it has its descriptor.
//!
//! # PostgreSQL counterpart
//! `AlterObjectTypeCommandTag` of `tcop/utility.c`, `ObjectTypeMap` and `ObjectProperty` of `catalog/objectaddress.c`.

use parse::ast::ObjectKind;

/// What is known of a kind of objects.
pub(crate) struct Descriptor {
    /// What it is called in statements: `FOREIGN TABLE`.
    pub(crate) words: &'static str,
    /// Command tag of the statements that alter such an object.
    pub(crate) alter: &'static str,
    /// Command tag of the statement that drops such objects.
    pub(crate) drop: &'static str,
}

/// The descriptor of a kind that is called like this. `ALTER` names another one where it is a part of something.
macro_rules! kind {
    ($words:literal) => {
        kind!($words, $words)
    };
    ($words:literal, $altered:literal) => {
        &Descriptor { words: $words, alter: concat!("ALTER ", $altered), drop: concat!("DROP ", $words) }
    };
}

/// The descriptor of a kind.
pub(crate) fn of(kind: ObjectKind) -> &'static Descriptor {
    use ObjectKind as K;
    match kind {
        K::AccessMethod => kind!("ACCESS METHOD"),
        K::Aggregate => kind!("AGGREGATE"),
        K::Attribute => kind!("ATTRIBUTE", "TYPE"),
        K::Cast => kind!("CAST"),
        K::Collation => kind!("COLLATION"),
        K::Column => kind!("COLUMN", "TABLE"),
        K::Conversion => kind!("CONVERSION"),
        K::Database => kind!("DATABASE"),
        K::Domain => kind!("DOMAIN"),
        K::DomainConstraint => kind!("CONSTRAINT", "DOMAIN"),
        K::EventTrigger => kind!("EVENT TRIGGER"),
        K::Extension => kind!("EXTENSION"),
        K::ForeignDataWrapper => kind!("FOREIGN DATA WRAPPER"),
        K::ForeignServer => kind!("SERVER"),
        K::ForeignTable => kind!("FOREIGN TABLE"),
        K::Function => kind!("FUNCTION"),
        K::Index => kind!("INDEX"),
        K::Language => kind!("LANGUAGE"),
        K::LargeObject => kind!("LARGE OBJECT"),
        K::MaterializedView => kind!("MATERIALIZED VIEW"),
        K::Operator => kind!("OPERATOR"),
        K::OperatorClass => kind!("OPERATOR CLASS"),
        K::OperatorFamily => kind!("OPERATOR FAMILY"),
        K::Parameter => kind!("PARAMETER"),
        K::Policy => kind!("POLICY"),
        K::Procedure => kind!("PROCEDURE"),
        K::Publication => kind!("PUBLICATION"),
        K::Role => kind!("ROLE"),
        K::Routine => kind!("ROUTINE"),
        K::Rule => kind!("RULE"),
        K::Schema => kind!("SCHEMA"),
        K::Sequence => kind!("SEQUENCE"),
        K::Statistics => kind!("STATISTICS"),
        K::Subscription => kind!("SUBSCRIPTION"),
        K::Table => kind!("TABLE"),
        K::TableConstraint => kind!("CONSTRAINT", "TABLE"),
        K::Tablespace => kind!("TABLESPACE"),
        K::TextSearchConfiguration => kind!("TEXT SEARCH CONFIGURATION"),
        K::TextSearchDictionary => kind!("TEXT SEARCH DICTIONARY"),
        K::TextSearchParser => kind!("TEXT SEARCH PARSER"),
        K::TextSearchTemplate => kind!("TEXT SEARCH TEMPLATE"),
        K::Transform => kind!("TRANSFORM"),
        K::Trigger => kind!("TRIGGER"),
        K::Type => kind!("TYPE"),
        K::View => kind!("VIEW"),
    }
}
