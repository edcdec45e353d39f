//! What operator classes of SP-GiST do.

use base::Oid;
use collation::Rules;
use tuple::space::SpaceClass;

use crate::{geometry, network_space, range, text};

/// What an SP-GiST operator class does; none if it is not one that there is. `rules`: those of the column's collation.
pub fn space_class(class: Oid, rules: &'static Rules) -> Option<&'static dyn SpaceClass> {
    Some(match class.0 {
        10018 => &network_space::INET_OPS,
        10079 => &range::spaces::RANGES,
        10083 => &geometry::spaces::BOXES,
        10084 => &geometry::spaces::QUAD_POINTS,
        10085 => &geometry::spaces::KD_POINTS,
        10086 => text::radix::class_of(rules)?,
        10087 => &geometry::spaces::POLYGONS,
        _ => return None,
    })
}

/// Whether there is such an SP-GiST operator class.
pub fn is_space_class(class: Oid) -> bool {
    space_class(class, &collation::C).is_some()
}
