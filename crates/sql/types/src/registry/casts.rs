//! `pg_cast`.

use base::Oid;

use super::{
    Cast,
    CastContext::{self, Assignment, Explicit, Implicit},
    CastMethod::{self, Binary, Function, InOut},
};

/// Every built-in cast, by source and target: OID, source, target, context, method.
#[rustfmt::skip]
pub static CASTS: &[Cast] = &[
    cast(10046, 23, 24, Implicit, Binary), // int4 to regproc
    cast(10039, 23, 26, Implicit, Binary), // int4 to oid
    cast(10055, 23, 2202, Implicit, Binary), // int4 to regprocedure
    cast(10062, 23, 2203, Implicit, Binary), // int4 to regoper
    cast(10071, 23, 2204, Implicit, Binary), // int4 to regoperator
    cast(10078, 23, 2205, Implicit, Binary), // int4 to regclass
    cast(10092, 23, 2206, Implicit, Binary), // int4 to regtype
    cast(10099, 23, 3734, Implicit, Binary), // int4 to regconfig
    cast(10106, 23, 3769, Implicit, Binary), // int4 to regdictionary
    cast(10122, 23, 4089, Implicit, Binary), // int4 to regnamespace
    cast(10115, 23, 4096, Implicit, Binary), // int4 to regrole
    cast(10085, 23, 4191, Implicit, Binary), // int4 to regcollation
    cast(10048, 24, 23, Assignment, Binary), // regproc to int4
    cast(10043, 24, 26, Implicit, Binary), // regproc to oid
    cast(10049, 24, 2202, Implicit, Binary), // regproc to regprocedure
    cast(10125, 25, 1042, Implicit, Binary), // text to bpchar
    cast(10126, 25, 1043, Implicit, Binary), // text to varchar
    cast(10041, 26, 23, Assignment, Binary), // oid to int4
    cast(10042, 26, 24, Implicit, Binary), // oid to regproc
    cast(10051, 26, 2202, Implicit, Binary), // oid to regprocedure
    cast(10058, 26, 2203, Implicit, Binary), // oid to regoper
    cast(10067, 26, 2204, Implicit, Binary), // oid to regoperator
    cast(10074, 26, 2205, Implicit, Binary), // oid to regclass
    cast(10088, 26, 2206, Implicit, Binary), // oid to regtype
    cast(10095, 26, 3734, Implicit, Binary), // oid to regconfig
    cast(10102, 26, 3769, Implicit, Binary), // oid to regdictionary
    cast(10118, 26, 4089, Implicit, Binary), // oid to regnamespace
    cast(10111, 26, 4096, Implicit, Binary), // oid to regrole
    cast(10081, 26, 4191, Implicit, Binary), // oid to regcollation
    cast(10220, 114, 3802, Assignment, InOut), // json to jsonb
    cast(10151, 194, 25, Implicit, Binary), // pg_node_tree to text
    cast(10129, 1043, 25, Implicit, Binary), // varchar to text
    cast(10130, 1043, 1042, Implicit, Binary), // varchar to bpchar
    cast(10057, 2202, 23, Assignment, Binary), // regprocedure to int4
    cast(10050, 2202, 24, Implicit, Binary), // regprocedure to regproc
    cast(10052, 2202, 26, Implicit, Binary), // regprocedure to oid
    cast(10064, 2203, 23, Assignment, Binary), // regoper to int4
    cast(10059, 2203, 26, Implicit, Binary), // regoper to oid
    cast(10065, 2203, 2204, Implicit, Binary), // regoper to regoperator
    cast(10073, 2204, 23, Assignment, Binary), // regoperator to int4
    cast(10068, 2204, 26, Implicit, Binary), // regoperator to oid
    cast(10066, 2204, 2203, Implicit, Binary), // regoperator to regoper
    cast(10080, 2205, 23, Assignment, Binary), // regclass to int4
    cast(10075, 2205, 26, Implicit, Binary), // regclass to oid
    cast(10094, 2206, 23, Assignment, Binary), // regtype to int4
    cast(10089, 2206, 26, Implicit, Binary), // regtype to oid
    cast(10101, 3734, 23, Assignment, Binary), // regconfig to int4
    cast(10096, 3734, 26, Implicit, Binary), // regconfig to oid
    cast(10108, 3769, 23, Assignment, Binary), // regdictionary to int4
    cast(10103, 3769, 26, Implicit, Binary), // regdictionary to oid
    cast(10221, 3802, 114, Assignment, InOut), // jsonb to json
    cast(10124, 4089, 23, Assignment, Binary), // regnamespace to int4
    cast(10119, 4089, 26, Implicit, Binary), // regnamespace to oid
    cast(10117, 4096, 23, Assignment, Binary), // regrole to int4
    cast(10112, 4096, 26, Implicit, Binary), // regrole to oid
    cast(10087, 4191, 23, Assignment, Binary), // regcollation to int4
    cast(10082, 4191, 26, Implicit, Binary), // regcollation to oid
];

const fn cast(oid: u32, source: u32, target: u32, context: CastContext, method: CastMethod) -> Cast {
    Cast { oid: Oid(oid), source: Oid(source), target: Oid(target), context, method }
}
