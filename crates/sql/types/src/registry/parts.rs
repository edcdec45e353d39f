//! What operator classes of GIN do.

use base::Oid;
use collation::Rules;
use tuple::parts::PartsClass;

use crate::{array, json, textsearch};

/// What a GIN operator class does; none if it is not one that there is, or cannot tell keys of this type apart. `key`: the type of the index's column, or the built-in
/// one that it compares as; `rules`: those of its collation.
pub fn parts_class(class: Oid, key: Oid, rules: &'static Rules) -> Option<&'static dyn PartsClass> {
    Some(match class.0 {
        10064 => array::parts::class_of(key, rules)?,
        10073 => &textsearch::index::LEXEMES,
        10090 => &json::parts::JSONB,
        10091 => &json::parts::PATHS,
        _ => return None,
    })
}

/// Whether there is such a GIN operator class.
pub fn is_parts_class(class: Oid) -> bool {
    parts_class(class, crate::oids::int4, &collation::C).is_some()
}
