//! # What
//! One descriptor for each kind of object that statements name: what it is called, and who carries out what all kinds have in common
//! (COMMENT and ALTER EXTENSION, DROP, RENAME, SET SCHEMA, OWNER TO).
//!
//! # Invariants
//! 1. [`of`] names every kind and has no arm for "all others": a new kind does not compile until it has its descriptor.
//! 2. What a descriptor does not have, fails with 0A000 and the words of the kind.
//!
//! # PostgreSQL counterpart
//! `AlterObjectTypeCommandTag` of `tcop/utility.c`; `ObjectTypeMap`, `ObjectProperty` and `get_object_address` of
//! `catalog/objectaddress.c`.

use base::{Oid, SqlError, SqlResult};
use catalog::RelationKind;
use catalog::change::ObjectAddress;
use parse::ast::{Drop, ObjectKind, ObjectName, RangeVar, Rename};
use session::Session;

use super::collation::COLLATION;
use super::conversion::CONVERSION;
use super::extended_statistics::STATISTICS;
use super::text_search::{DICTIONARY, PARSER, TEMPLATE};
use super::text_search_configuration::CONFIGURATION;
use super::{
    access_method, alter_function, alter_user_type, comment, database, drop, extension, foreign, language,
    operator, operator_class, owner, policy, publication, rename, role, rule, subscription, tablespace,
    trigger, user_type,
};

type FindOne = fn(&Session, ObjectKind, &ObjectName) -> SqlResult<ObjectAddress>;
type FindDropped = fn(&Session, &Drop) -> SqlResult<Vec<ObjectAddress>>;
type SetOwner = fn(&Session, ObjectKind, &ObjectName, Oid) -> SqlResult<()>;

/// What is known of a kind of objects.
pub(crate) struct Descriptor {
    pub(crate) words: Words,
    /// The kind of relation that it is. Partitioned tables and indexes are tables and indexes.
    pub(crate) relation: Option<RelationKind>,
    /// Whether an extension can have such a member.
    pub(crate) member: bool,
    /// Finds the object that COMMENT or ALTER EXTENSION names, and checks that the user owns it.
    pub(crate) address: Option<FindOne>,
    /// Finds the objects that DROP names, locks them and checks that the user may drop them. Those that are missing and may be are left out.
    pub(crate) dropped: Option<FindDropped>,
    pub(crate) rename: Option<fn(&Session, &Rename) -> SqlResult<()>>,
    pub(crate) set_schema: Option<fn(&Session, &Move<'_>) -> SqlResult<()>>,
    /// ALTER ... OWNER TO; of relations it is an action of ALTER TABLE.
    pub(crate) set_owner: Option<SetOwner>,
}

/// What a kind is called.
#[derive(Clone, Copy)]
pub(crate) struct Words {
    /// In statements: `FOREIGN TABLE`.
    pub(crate) sql: &'static str,
    /// Command tag of the statement that defines such an object.
    pub(crate) create: &'static str,
    /// Command tag of the statements that alter such an object.
    pub(crate) alter: &'static str,
    /// Command tag of the statement that drops such objects.
    pub(crate) drop: &'static str,
}

/// What ALTER ... SET SCHEMA asks for.
pub(crate) struct Move<'s> {
    pub(crate) kind: ObjectKind,
    /// The relation, if it is one.
    pub(crate) relation: Option<&'s RangeVar>,
    /// Any other object.
    pub(crate) object: Option<&'s ObjectName>,
    pub(crate) schema: &'s str,
    pub(crate) missing_ok: bool,
}

impl Move<'_> {
    /// The object that is no relation.
    pub(crate) fn object(&self) -> SqlResult<&ObjectName> {
        self.object.ok_or_else(|| SqlError::internal("SET SCHEMA without an object"))
    }
}

/// The words of a kind. A second word is that of the kind which ALTER names in its place, as it is a part of that.
macro_rules! words {
    ($words:literal) => {
        words!($words, $words)
    };
    ($words:literal, $altered:literal) => {
        Words {
            sql: $words,
            create: concat!("CREATE ", $words),
            alter: concat!("ALTER ", $altered),
            drop: concat!("DROP ", $words),
        }
    };
}

impl Descriptor {
    /// A kind that has nothing but a name: its objects cannot be made, or are parts of others.
    const fn bare(words: Words) -> Self {
        Descriptor {
            words,
            relation: None,
            member: true,
            address: None,
            dropped: None,
            rename: None,
            set_schema: None,
            set_owner: None,
        }
    }

    const fn relation(words: Words, kind: RelationKind) -> Self {
        Descriptor {
            relation: Some(kind),
            member: !matches!(kind, RelationKind::Index),
            address: Some(comment::relation),
            dropped: Some(drop::relations),
            rename: Some(rename::whole_relation),
            set_schema: Some(rename::set_schema_of_relation),
            ..Descriptor::bare(words)
        }
    }

    const fn routine(words: Words) -> Self {
        Descriptor {
            address: Some(alter_function::address),
            dropped: Some(alter_function::dropped),
            rename: Some(alter_function::rename),
            set_schema: Some(alter_function::set_schema),
            set_owner: Some(alter_function::set_owner),
            ..Descriptor::bare(words)
        }
    }

    /// Operator classes and families.
    const fn operator_class(words: Words) -> Self {
        Descriptor {
            address: Some(operator_class::address),
            dropped: Some(operator_class::dropped),
            rename: Some(operator_class::rename),
            set_schema: Some(operator_class::set_schema),
            set_owner: Some(operator_class::set_owner),
            ..Descriptor::bare(words)
        }
    }

    /// Types and domains.
    const fn user_type(words: Words) -> Self {
        Descriptor {
            address: Some(comment::user_type),
            dropped: Some(user_type::dropped),
            rename: Some(alter_user_type::rename),
            set_schema: Some(alter_user_type::set_schema),
            set_owner: Some(owner::of_type),
            ..Descriptor::bare(words)
        }
    }
}

/// The descriptor of a kind.
pub(crate) fn of(kind: ObjectKind) -> Descriptor {
    use Descriptor as D;
    use ObjectKind as K;
    match kind {
        K::Table => D::relation(words!("TABLE"), RelationKind::Table),
        K::Index => D::relation(words!("INDEX"), RelationKind::Index),
        K::View => D::relation(words!("VIEW"), RelationKind::View),
        K::Sequence => D::relation(words!("SEQUENCE"), RelationKind::Sequence),
        K::MaterializedView => D::relation(words!("MATERIALIZED VIEW"), RelationKind::MaterializedView),
        K::ForeignTable => D::relation(words!("FOREIGN TABLE"), RelationKind::ForeignTable),

        K::Aggregate => D::routine(words!("AGGREGATE")),
        K::Function => D::routine(words!("FUNCTION")),
        K::Procedure => D::routine(words!("PROCEDURE")),
        K::Routine => D::routine(words!("ROUTINE")),
        K::OperatorClass => D::operator_class(words!("OPERATOR CLASS")),
        K::OperatorFamily => D::operator_class(words!("OPERATOR FAMILY")),
        K::Type => D::user_type(words!("TYPE")),
        K::Domain => D::user_type(words!("DOMAIN")),

        K::Column => D {
            address: Some(|session, _, object| comment::column(session, object)),
            rename: Some(rename::column_of_relation),
            ..D::bare(words!("COLUMN", "TABLE"))
        },
        K::Attribute => D { rename: Some(rename::attribute), ..D::bare(words!("ATTRIBUTE", "TYPE")) },
        K::TableConstraint => D {
            address: Some(|session, _, object| comment::table_constraint(session, object)),
            rename: Some(rename::constraint_of_table),
            ..D::bare(words!("TABLE CONSTRAINT", "TABLE"))
        },
        K::DomainConstraint => D {
            address: Some(|session, _, object| comment::domain_constraint(session, object)),
            ..D::bare(words!("DOMAIN CONSTRAINT", "DOMAIN"))
        },
        K::Trigger => D {
            address: Some(|session, _, object| trigger::address(session, object)),
            dropped: Some(trigger::dropped),
            rename: Some(rename::trigger),
            ..D::bare(words!("TRIGGER"))
        },

        K::Cast => D {
            address: Some(|session, _, object| operator::cast_address(session, object)),
            dropped: Some(operator::dropped_casts),
            ..D::bare(words!("CAST"))
        },
        K::Collation => D {
            address: Some(|session, _, object| COLLATION.commented(session, object)),
            dropped: Some(|session, statement| COLLATION.dropped(session, statement)),
            rename: Some(|session, asked| COLLATION.rename(session, asked)),
            set_schema: Some(|session, to| COLLATION.set_schema(session, to)),
            set_owner: Some(|session, _, object, owner| COLLATION.set_owner(session, object, owner)),
            ..D::bare(words!("COLLATION"))
        },
        K::Conversion => D {
            address: Some(|session, _, object| CONVERSION.commented(session, object)),
            dropped: Some(|session, statement| CONVERSION.dropped(session, statement)),
            rename: Some(|session, asked| CONVERSION.rename(session, asked)),
            set_schema: Some(|session, to| CONVERSION.set_schema(session, to)),
            set_owner: Some(|session, _, object, owner| CONVERSION.set_owner(session, object, owner)),
            ..D::bare(words!("CONVERSION"))
        },
        K::Operator => D {
            address: Some(|session, _, object| operator::address(session, object)),
            dropped: Some(operator::dropped_operators),
            set_schema: Some(|session, to| operator::set_schema(session, to.object, to.schema)),
            set_owner: Some(|session, _, object, owner| operator::set_owner(session, object, owner)),
            ..D::bare(words!("OPERATOR"))
        },
        K::Extension => D {
            member: false,
            address: Some(|session, _, object| extension::address(session, comment::name(object)?)),
            dropped: Some(extension::dropped),
            set_schema: Some(|session, to| extension::set_schema(session, to.object, to.schema)),
            ..D::bare(words!("EXTENSION"))
        },
        K::Language => D {
            address: Some(|session, _, object| comment::language(session, object)),
            dropped: Some(language::dropped),
            rename: Some(|session, asked| language::rename(session, asked.object.as_ref(), &asked.new_name)),
            set_owner: Some(|session, _, object, owner| language::set_owner(session, object, owner)),
            ..D::bare(words!("LANGUAGE"))
        },
        K::Schema => D {
            address: Some(|session, _, object| comment::schema(session, object)),
            dropped: Some(drop::schemas),
            rename: Some(|session, asked| rename::schema(session, old_name(asked), &asked.new_name)),
            set_owner: Some(|session, _, object, owner| {
                owner::of_schema(session, comment::name(object)?.last(), owner)
            }),
            ..D::bare(words!("SCHEMA"))
        },
        K::LargeObject => D {
            address: Some(|session, _, object| comment::large_object(session, object)),
            set_owner: Some(|session, _, object, owner| owner::of_large_object(session, object, owner)),
            ..D::bare(words!("LARGE OBJECT"))
        },
        K::AccessMethod => D {
            address: Some(|session, _, object| access_method::address(session, object)),
            dropped: Some(access_method::dropped),
            ..D::bare(words!("ACCESS METHOD"))
        },

        // Roles, databases and tablespaces are dropped by statements of their own.
        K::Database => D {
            member: false,
            address: Some(|session, _, object| comment::database(session, object)),
            rename: Some(|session, asked| database::rename(session, old_name(asked), &asked.new_name)),
            set_owner: Some(|session, _, object, owner| {
                owner::of_database(session, comment::name(object)?.last(), owner)
            }),
            ..D::bare(words!("DATABASE"))
        },
        K::Role => D {
            member: false,
            address: Some(|session, _, object| role::commented(session, comment::name(object)?.last())),
            rename: Some(|session, asked| role::rename(session, old_name(asked), &asked.new_name)),
            ..D::bare(words!("ROLE"))
        },
        K::Tablespace => D {
            member: false,
            address: Some(|session, _, object| comment::tablespace(session, object)),
            rename: Some(|session, asked| tablespace::rename(session, old_name(asked), &asked.new_name)),
            set_owner: Some(|session, _, object, owner| tablespace::set_owner(session, object, owner)),
            ..D::bare(words!("TABLESPACE"))
        },

        K::Publication => D {
            member: false,
            address: Some(|session, _, object| publication::address(session, object)),
            dropped: Some(publication::dropped),
            rename: Some(|session, asked| {
                publication::rename(session, asked.object.as_ref(), &asked.new_name)
            }),
            set_owner: Some(|session, _, object, owner| publication::set_owner(session, object, owner)),
            ..D::bare(words!("PUBLICATION"))
        },
        K::Statistics => D {
            member: false,
            address: Some(|session, _, object| STATISTICS.commented(session, object)),
            dropped: Some(|session, statement| STATISTICS.dropped(session, statement)),
            rename: Some(|session, asked| STATISTICS.rename(session, asked)),
            set_schema: Some(|session, to| STATISTICS.set_schema(session, to)),
            set_owner: Some(|session, _, object, owner| STATISTICS.set_owner(session, object, owner)),
            ..D::bare(words!("STATISTICS"))
        },
        // Subscriptions are dropped by a statement of their own.
        K::Subscription => D {
            member: false,
            address: Some(|session, _, object| subscription::address(session, object)),
            rename: Some(|session, asked| {
                subscription::rename(session, asked.object.as_ref(), &asked.new_name)
            }),
            set_owner: Some(|session, _, object, owner| subscription::set_owner(session, object, owner)),
            ..D::bare(words!("SUBSCRIPTION"))
        },
        K::EventTrigger => D::bare(words!("EVENT TRIGGER")),
        K::ForeignDataWrapper => D {
            address: Some(|session, _, object| foreign::wrapper::address(session, object)),
            dropped: Some(foreign::wrapper::dropped),
            rename: Some(foreign::wrapper::rename),
            set_owner: Some(|session, _, object, owner| foreign::wrapper::set_owner(session, object, owner)),
            ..D::bare(words!("FOREIGN DATA WRAPPER"))
        },
        K::ForeignServer => D {
            address: Some(|session, _, object| foreign::server::address(session, object)),
            dropped: Some(foreign::server::dropped),
            rename: Some(foreign::server::rename),
            set_owner: Some(|session, _, object, owner| foreign::server::set_owner(session, object, owner)),
            ..D::bare(words!("SERVER"))
        },
        K::Parameter => D::bare(words!("PARAMETER")),
        K::Policy => D {
            address: Some(|session, _, object| policy::address(session, object)),
            dropped: Some(policy::dropped),
            rename: Some(policy::rename),
            ..D::bare(words!("POLICY"))
        },
        K::Rule => D {
            address: Some(|session, _, object| rule::address(session, object)),
            dropped: Some(rule::dropped),
            rename: Some(rule::rename),
            ..D::bare(words!("RULE"))
        },
        K::TextSearchConfiguration => D {
            address: Some(|session, _, object| CONFIGURATION.commented(session, object)),
            dropped: Some(|session, statement| CONFIGURATION.dropped(session, statement)),
            rename: Some(|session, asked| CONFIGURATION.rename(session, asked)),
            set_schema: Some(|session, to| CONFIGURATION.set_schema(session, to)),
            set_owner: Some(|session, _, object, owner| CONFIGURATION.set_owner(session, object, owner)),
            ..D::bare(words!("TEXT SEARCH CONFIGURATION"))
        },
        K::TextSearchDictionary => D {
            address: Some(|session, _, object| DICTIONARY.commented(session, object)),
            dropped: Some(|session, statement| DICTIONARY.dropped(session, statement)),
            rename: Some(|session, asked| DICTIONARY.rename(session, asked)),
            set_schema: Some(|session, to| DICTIONARY.set_schema(session, to)),
            set_owner: Some(|session, _, object, owner| DICTIONARY.set_owner(session, object, owner)),
            ..D::bare(words!("TEXT SEARCH DICTIONARY"))
        },
        K::TextSearchParser => D {
            address: Some(|session, _, object| PARSER.commented(session, object)),
            dropped: Some(|session, statement| PARSER.dropped(session, statement)),
            rename: Some(|session, asked| PARSER.rename(session, asked)),
            set_schema: Some(|session, to| PARSER.set_schema(session, to)),
            ..D::bare(words!("TEXT SEARCH PARSER"))
        },
        K::TextSearchTemplate => D {
            address: Some(|session, _, object| TEMPLATE.commented(session, object)),
            dropped: Some(|session, statement| TEMPLATE.dropped(session, statement)),
            rename: Some(|session, asked| TEMPLATE.rename(session, asked)),
            set_schema: Some(|session, to| TEMPLATE.set_schema(session, to)),
            ..D::bare(words!("TEXT SEARCH TEMPLATE"))
        },
        K::Transform => D::bare(words!("TRANSFORM")),
    }
}

/// The name that an object without a schema had before RENAME.
pub(super) fn old_name(asked: &Rename) -> &str {
    asked.old_name.as_deref().unwrap_or_default()
}

/// Finds the object that COMMENT, ALTER EXTENSION ADD and so on (`statement`) name, which the user must own.
pub(super) fn address(
    session: &Session,
    statement: &str,
    kind: ObjectKind,
    object: &ObjectName,
) -> SqlResult<ObjectAddress> {
    let described = of(kind);
    match described.address {
        Some(address) => address(session, kind, object),
        None => Err(SqlError::not_supported(format!("{statement} {}", described.words.sql))),
    }
}

/// ALTER ... RENAME.
pub(super) fn rename(session: &Session, asked: &Rename) -> SqlResult<()> {
    let described = of(asked.kind);
    match described.rename {
        Some(rename) => rename(session, asked),
        None => Err(SqlError::not_supported(format!("ALTER {} RENAME", described.words.sql))),
    }
}

/// ALTER ... SET SCHEMA.
pub(super) fn set_schema(session: &Session, to: &Move<'_>) -> SqlResult<()> {
    let described = of(to.kind);
    match described.set_schema {
        Some(set_schema) => set_schema(session, to),
        None => Err(SqlError::not_supported(format!("ALTER {} SET SCHEMA", described.words.sql))),
    }
}

/// ALTER ... OWNER TO of an object that is no relation.
pub(super) fn set_owner(
    session: &Session,
    kind: ObjectKind,
    object: &ObjectName,
    owner: Oid,
) -> SqlResult<()> {
    let described = of(kind);
    match described.set_owner {
        Some(set_owner) => set_owner(session, kind, object, owner),
        None => Err(SqlError::not_supported(format!("ALTER {} OWNER TO", described.words.sql))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_altered_as_what_it_belongs_to() {
        let words = |kind| of(kind).words;
        assert_eq!(words(ObjectKind::Column).alter, "ALTER TABLE");
        assert_eq!(words(ObjectKind::DomainConstraint).alter, "ALTER DOMAIN");
        assert_eq!(words(ObjectKind::Attribute).alter, "ALTER TYPE");
        assert_eq!(words(ObjectKind::Trigger).alter, "ALTER TRIGGER");
        assert_eq!(words(ObjectKind::Trigger).drop, "DROP TRIGGER");
        assert_eq!(words(ObjectKind::ForeignServer).drop, "DROP SERVER");
    }
}
