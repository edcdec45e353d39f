//! The built-in operator classes and families by map. What users added is in the catalogs: `catalog::families` knows both, and is what
//! the layers above ask.

use std::hash::Hash;
use std::sync::LazyLock;

use base::Oid;
use rustc_hash::FxHashMap;

use super::opclasses::{AMOPS, AMPROCS, OPCLASSES, OPFAMILIES};
use super::{AmOp, AmProc, OpClass, OpFamily, is_unlisted};

/// Family, left type, right type, and strategy or support number.
type MemberKey = (Oid, Oid, Oid, i16);

struct Maps {
    classes: FxHashMap<Oid, &'static OpClass>,
    defaults: FxHashMap<(Oid, Oid), &'static OpClass>,
    classes_by_name: FxHashMap<(Oid, &'static str), &'static OpClass>,
    families: FxHashMap<Oid, &'static OpFamily>,
    /// Access methods of families, those that no catalog lists too.
    methods: FxHashMap<Oid, Oid>,
    operators: FxHashMap<MemberKey, &'static AmOp>,
    by_operator: FxHashMap<Oid, Vec<&'static AmOp>>,
    operators_by_family: FxHashMap<Oid, Vec<&'static AmOp>>,
    functions: FxHashMap<MemberKey, &'static AmProc>,
    functions_by_family: FxHashMap<Oid, Vec<&'static AmProc>>,
}

static MAPS: LazyLock<Maps> = LazyLock::new(|| Maps {
    classes: OPCLASSES.iter().map(|c| (c.oid, c)).collect(),
    defaults: OPCLASSES.iter().filter(|c| c.default).map(|c| ((c.method, c.input), c)).collect(),
    classes_by_name: (OPCLASSES.iter().filter(|c| !is_unlisted(c.oid)))
        .map(|c| ((c.method, c.name), c))
        .collect(),
    families: OPFAMILIES.iter().map(|f| (f.oid, f)).collect(),
    methods: (OPCLASSES.iter().map(|c| (c.family, c.method)))
        .chain(OPFAMILIES.iter().map(|f| (f.oid, f.method)))
        .collect(),
    operators: AMOPS.iter().map(|a| ((a.family, a.left, a.right, a.strategy), a)).collect(),
    by_operator: grouped(AMOPS, |a| a.operator),
    operators_by_family: grouped(AMOPS, |a| a.family),
    functions: AMPROCS.iter().map(|p| ((p.family, p.left, p.right, p.number), p)).collect(),
    functions_by_family: grouped(AMPROCS, |p| p.family),
});

fn grouped<K: Hash + Eq, T>(all: &'static [T], key: impl Fn(&T) -> K) -> FxHashMap<K, Vec<&'static T>> {
    let mut map: FxHashMap<K, Vec<&'static T>> = FxHashMap::default();
    for one in all {
        map.entry(key(one)).or_default().push(one);
    }
    map
}

/// The operator class with this OID.
pub fn operator_class(oid: Oid) -> Option<&'static OpClass> {
    MAPS.classes.get(&oid).copied()
}

/// The operator class of an access method with this name.
pub fn class_named(method: Oid, name: &str) -> Option<&'static OpClass> {
    MAPS.classes_by_name.get(&(method, name)).copied()
}

/// The default class that an access method has for just this type.
pub fn default_class_for(method: Oid, input: Oid) -> Option<&'static OpClass> {
    MAPS.defaults.get(&(method, input)).copied()
}

/// The default classes of an access method.
pub fn default_classes(method: Oid) -> impl Iterator<Item = &'static OpClass> {
    OPCLASSES.iter().filter(move |class| class.method == method && class.default)
}

/// The operator family with this OID.
pub fn operator_family(oid: Oid) -> Option<&'static OpFamily> {
    MAPS.families.get(&oid).copied()
}

/// The access method of a family.
pub fn method_of(family: Oid) -> Option<Oid> {
    MAPS.methods.get(&family).copied()
}

/// The operator of a family with this strategy between these types.
pub fn family_operator(family: Oid, left: Oid, right: Oid, strategy: i16) -> Option<&'static AmOp> {
    MAPS.operators.get(&(family, left, right, strategy)).copied()
}

/// What an operator is in families.
pub fn memberships(operator: Oid) -> &'static [&'static AmOp] {
    MAPS.by_operator.get(&operator).map_or(&[], Vec::as_slice)
}

/// The operators of a family.
pub fn family_operators(family: Oid) -> &'static [&'static AmOp] {
    MAPS.operators_by_family.get(&family).map_or(&[], Vec::as_slice)
}

/// The support function of a family with this number for these types.
pub fn family_function(family: Oid, left: Oid, right: Oid, number: i16) -> Option<&'static AmProc> {
    MAPS.functions.get(&(family, left, right, number)).copied()
}

/// The support functions of a family.
pub fn family_functions(family: Oid) -> &'static [&'static AmProc] {
    MAPS.functions_by_family.get(&family).map_or(&[], Vec::as_slice)
}

/// The classes of an access method that have this support function under a number.
pub fn classes_with_function(
    method: Oid,
    number: i16,
    function: Oid,
) -> impl Iterator<Item = &'static OpClass> {
    OPCLASSES.iter().filter(move |class| {
        class.method == method
            && family_function(class.family, class.input, class.input, number)
                .is_some_and(|row| row.function == function)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oids;
    use crate::registry::{HASHING_METHOD, ORDERING_METHOD};

    #[test]
    fn built_in_families_are_found_by_all_their_keys() {
        let class = default_class_for(ORDERING_METHOD, oids::int4).unwrap();
        assert_eq!((class.name, operator_class(class.oid).unwrap().oid), ("int4_ops", class.oid));
        assert_eq!(operator_family(class.family).unwrap().name, "integer_ops");
        let less = family_operator(class.family, oids::int4, oids::int8, 1).unwrap();
        let of = memberships(less.operator);
        assert!(of.iter().any(|m| m.family == class.family && m.strategy == 1));
        assert!(default_class_for(HASHING_METHOD, oids::varchar).is_none());
        assert_eq!(family_function(class.family, oids::int4, oids::int4, 1).unwrap().function, Oid(351));
        assert_eq!(family_operators(class.family).len(), 45);
        assert!(family_functions(class.family).iter().all(|p| p.family == class.family));
    }

    #[test]
    fn every_member_is_of_a_family_that_there_is() {
        let known = |family| operator_family(family).is_some() || crate::registry::is_unlisted(family);
        assert!(AMOPS.iter().all(|a| known(a.family)));
        assert!(AMPROCS.iter().all(|p| known(p.family)));
        assert!(OPCLASSES.iter().all(|c| known(c.family)));
        let sorted = |family: Oid| operator_family(family).is_some_and(|f| f.method == ORDERING_METHOD);
        assert!(AMOPS.iter().all(|a| !a.sort_family.is_valid() || sorted(a.sort_family)));
    }
}
