//! What operator classes of GiST do.

use base::Oid;
use tuple::tree::TreeClass;

use crate::{geometry, network_tree, range, textsearch};

/// What a GiST operator class does; none if it is not one that there is.
pub fn tree_class(class: Oid) -> Option<&'static dyn TreeClass> {
    Some(match class.0 {
        10017 => &network_tree::INET_OPS,
        10060 => &geometry::trees::BOXES,
        10061 => &geometry::trees::POINTS,
        10062 => &geometry::trees::POLYGONS,
        10063 => &geometry::trees::CIRCLES,
        10072 => &textsearch::index::DOCUMENTS,
        10075 => &textsearch::index::QUERIES,
        10078 => &range::trees::RANGES,
        10082 => &range::trees::MULTIRANGES,
        _ => return None,
    })
}
