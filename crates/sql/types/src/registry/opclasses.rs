//! `pg_opfamily`, `pg_opclass`, `pg_amop`, `pg_amproc` as initdb enters them. For initdb and the maps of [`super::families`] alone: whoever
//! looks for a class or an operator asks the catalog (`catalog::families`), which knows those of users too.

use base::Oid;

use super::{AmOp, AmProc, OpClass, OpFamily};

/// Every family: OID, access method, name.
#[rustfmt::skip]
pub static OPFAMILIES: &[OpFamily] = &[
    OpFamily { oid: Oid(397), method: Oid(403), name: "array_ops" },
    OpFamily { oid: Oid(424), method: Oid(403), name: "bool_ops" },
    OpFamily { oid: Oid(426), method: Oid(403), name: "bpchar_ops" },
    OpFamily { oid: Oid(427), method: Oid(405), name: "bpchar_ops" },
    OpFamily { oid: Oid(428), method: Oid(403), name: "bytea_ops" },
    OpFamily { oid: Oid(429), method: Oid(403), name: "char_ops" },
    OpFamily { oid: Oid(431), method: Oid(405), name: "char_ops" },
    OpFamily { oid: Oid(434), method: Oid(403), name: "datetime_ops" },
    OpFamily { oid: Oid(435), method: Oid(405), name: "date_ops" },
    OpFamily { oid: Oid(627), method: Oid(405), name: "array_ops" },
    OpFamily { oid: Oid(1970), method: Oid(403), name: "float_ops" },
    OpFamily { oid: Oid(1971), method: Oid(405), name: "float_ops" },
    OpFamily { oid: Oid(1974), method: Oid(403), name: "network_ops" },
    OpFamily { oid: Oid(1975), method: Oid(405), name: "network_ops" },
    OpFamily { oid: Oid(1976), method: Oid(403), name: "integer_ops" },
    OpFamily { oid: Oid(1977), method: Oid(405), name: "integer_ops" },
    OpFamily { oid: Oid(1982), method: Oid(403), name: "interval_ops" },
    OpFamily { oid: Oid(1983), method: Oid(405), name: "interval_ops" },
    OpFamily { oid: Oid(1984), method: Oid(403), name: "macaddr_ops" },
    OpFamily { oid: Oid(1985), method: Oid(405), name: "macaddr_ops" },
    OpFamily { oid: Oid(1988), method: Oid(403), name: "numeric_ops" },
    OpFamily { oid: Oid(1989), method: Oid(403), name: "oid_ops" },
    OpFamily { oid: Oid(1990), method: Oid(405), name: "oid_ops" },
    OpFamily { oid: Oid(1991), method: Oid(403), name: "oidvector_ops" },
    OpFamily { oid: Oid(1992), method: Oid(405), name: "oidvector_ops" },
    OpFamily { oid: Oid(1994), method: Oid(403), name: "text_ops" },
    OpFamily { oid: Oid(1995), method: Oid(405), name: "text_ops" },
    OpFamily { oid: Oid(1996), method: Oid(403), name: "time_ops" },
    OpFamily { oid: Oid(1997), method: Oid(405), name: "time_ops" },
    OpFamily { oid: Oid(1998), method: Oid(405), name: "numeric_ops" },
    OpFamily { oid: Oid(1999), method: Oid(405), name: "timestamptz_ops" },
    OpFamily { oid: Oid(2000), method: Oid(403), name: "timetz_ops" },
    OpFamily { oid: Oid(2001), method: Oid(405), name: "timetz_ops" },
    OpFamily { oid: Oid(2040), method: Oid(405), name: "timestamp_ops" },
    OpFamily { oid: Oid(2095), method: Oid(403), name: "text_pattern_ops" },
    OpFamily { oid: Oid(2097), method: Oid(403), name: "bpchar_pattern_ops" },
    OpFamily { oid: Oid(2222), method: Oid(405), name: "bool_ops" },
    OpFamily { oid: Oid(2223), method: Oid(405), name: "bytea_ops" },
    OpFamily { oid: Oid(2225), method: Oid(405), name: "xid_ops" },
    OpFamily { oid: Oid(2226), method: Oid(405), name: "cid_ops" },
    OpFamily { oid: Oid(2227), method: Oid(405), name: "tid_ops" },
    OpFamily { oid: Oid(2229), method: Oid(405), name: "text_pattern_ops" },
    OpFamily { oid: Oid(2231), method: Oid(405), name: "bpchar_pattern_ops" },
    OpFamily { oid: Oid(2789), method: Oid(403), name: "tid_ops" },
    OpFamily { oid: Oid(2968), method: Oid(403), name: "uuid_ops" },
    OpFamily { oid: Oid(2969), method: Oid(405), name: "uuid_ops" },
    OpFamily { oid: Oid(3253), method: Oid(403), name: "pg_lsn_ops" },
    OpFamily { oid: Oid(3254), method: Oid(405), name: "pg_lsn_ops" },
    OpFamily { oid: Oid(3371), method: Oid(403), name: "macaddr8_ops" },
    OpFamily { oid: Oid(3372), method: Oid(405), name: "macaddr8_ops" },
    OpFamily { oid: Oid(4033), method: Oid(403), name: "jsonb_ops" },
    OpFamily { oid: Oid(4034), method: Oid(405), name: "jsonb_ops" },
    OpFamily { oid: Oid(5032), method: Oid(405), name: "xid8_ops" },
    OpFamily { oid: Oid(5067), method: Oid(403), name: "xid8_ops" },
    OpFamily { oid: Oid(2994), method: Oid(403), name: "record_ops" },
    OpFamily { oid: Oid(3194), method: Oid(403), name: "record_image_ops" },
    OpFamily { oid: Oid(3626), method: Oid(403), name: "tsvector_ops" },
    OpFamily { oid: Oid(3683), method: Oid(403), name: "tsquery_ops" },
    OpFamily { oid: Oid(3655), method: Oid(783), name: "tsvector_ops" },
    OpFamily { oid: Oid(3659), method: Oid(2742), name: "tsvector_ops" },
    OpFamily { oid: Oid(3702), method: Oid(783), name: "tsquery_ops" },
    OpFamily { oid: Oid(3522), method: Oid(403), name: "enum_ops" },
    OpFamily { oid: Oid(3523), method: Oid(405), name: "enum_ops" },
    OpFamily { oid: Oid(6194), method: Oid(405), name: "record_ops" },
    OpFamily { oid: Oid(423), method: Oid(403), name: "bit_ops" },
    OpFamily { oid: Oid(2002), method: Oid(403), name: "varbit_ops" },
    OpFamily { oid: Oid(2099), method: Oid(403), name: "money_ops" },
    OpFamily { oid: Oid(3901), method: Oid(403), name: "range_ops" },
    OpFamily { oid: Oid(3903), method: Oid(405), name: "range_ops" },
    OpFamily { oid: Oid(4199), method: Oid(403), name: "multirange_ops" },
    OpFamily { oid: Oid(4225), method: Oid(405), name: "multirange_ops" },
    OpFamily { oid: Oid(1029), method: Oid(783), name: "point_ops" },
    OpFamily { oid: Oid(2593), method: Oid(783), name: "box_ops" },
    OpFamily { oid: Oid(2594), method: Oid(783), name: "poly_ops" },
    OpFamily { oid: Oid(2595), method: Oid(783), name: "circle_ops" },
    OpFamily { oid: Oid(3550), method: Oid(783), name: "network_ops" },
    OpFamily { oid: Oid(3919), method: Oid(783), name: "range_ops" },
    OpFamily { oid: Oid(6158), method: Oid(783), name: "multirange_ops" },
    OpFamily { oid: Oid(2745), method: Oid(2742), name: "array_ops" },
    OpFamily { oid: Oid(4036), method: Oid(2742), name: "jsonb_ops" },
    OpFamily { oid: Oid(4037), method: Oid(2742), name: "jsonb_path_ops" },
    OpFamily { oid: Oid(4054), method: Oid(3580), name: "integer_minmax_ops" },
    OpFamily { oid: Oid(4055), method: Oid(3580), name: "numeric_minmax_ops" },
    OpFamily { oid: Oid(4056), method: Oid(3580), name: "text_minmax_ops" },
    OpFamily { oid: Oid(4058), method: Oid(3580), name: "timetz_minmax_ops" },
    OpFamily { oid: Oid(4059), method: Oid(3580), name: "datetime_minmax_ops" },
    OpFamily { oid: Oid(4062), method: Oid(3580), name: "char_minmax_ops" },
    OpFamily { oid: Oid(4064), method: Oid(3580), name: "bytea_minmax_ops" },
    OpFamily { oid: Oid(4065), method: Oid(3580), name: "name_minmax_ops" },
    OpFamily { oid: Oid(4068), method: Oid(3580), name: "oid_minmax_ops" },
    OpFamily { oid: Oid(4069), method: Oid(3580), name: "tid_minmax_ops" },
    OpFamily { oid: Oid(4070), method: Oid(3580), name: "float_minmax_ops" },
    OpFamily { oid: Oid(4074), method: Oid(3580), name: "macaddr_minmax_ops" },
    OpFamily { oid: Oid(4075), method: Oid(3580), name: "network_minmax_ops" },
    OpFamily { oid: Oid(4076), method: Oid(3580), name: "bpchar_minmax_ops" },
    OpFamily { oid: Oid(4077), method: Oid(3580), name: "time_minmax_ops" },
    OpFamily { oid: Oid(4078), method: Oid(3580), name: "interval_minmax_ops" },
    OpFamily { oid: Oid(4079), method: Oid(3580), name: "bit_minmax_ops" },
    OpFamily { oid: Oid(4080), method: Oid(3580), name: "varbit_minmax_ops" },
    OpFamily { oid: Oid(4081), method: Oid(3580), name: "uuid_minmax_ops" },
    OpFamily { oid: Oid(4082), method: Oid(3580), name: "pg_lsn_minmax_ops" },
    OpFamily { oid: Oid(4102), method: Oid(3580), name: "network_inclusion_ops" },
    OpFamily { oid: Oid(4103), method: Oid(3580), name: "range_inclusion_ops" },
    OpFamily { oid: Oid(4104), method: Oid(3580), name: "box_inclusion_ops" },
    OpFamily { oid: Oid(4109), method: Oid(3580), name: "macaddr8_minmax_ops" },
    OpFamily { oid: Oid(4572), method: Oid(3580), name: "integer_bloom_ops" },
    OpFamily { oid: Oid(4573), method: Oid(3580), name: "text_bloom_ops" },
    OpFamily { oid: Oid(4574), method: Oid(3580), name: "numeric_bloom_ops" },
    OpFamily { oid: Oid(4575), method: Oid(3580), name: "timetz_bloom_ops" },
    OpFamily { oid: Oid(4576), method: Oid(3580), name: "datetime_bloom_ops" },
    OpFamily { oid: Oid(4577), method: Oid(3580), name: "char_bloom_ops" },
    OpFamily { oid: Oid(4578), method: Oid(3580), name: "bytea_bloom_ops" },
    OpFamily { oid: Oid(4579), method: Oid(3580), name: "name_bloom_ops" },
    OpFamily { oid: Oid(4580), method: Oid(3580), name: "oid_bloom_ops" },
    OpFamily { oid: Oid(4581), method: Oid(3580), name: "tid_bloom_ops" },
    OpFamily { oid: Oid(4582), method: Oid(3580), name: "float_bloom_ops" },
    OpFamily { oid: Oid(4583), method: Oid(3580), name: "macaddr_bloom_ops" },
    OpFamily { oid: Oid(4584), method: Oid(3580), name: "macaddr8_bloom_ops" },
    OpFamily { oid: Oid(4585), method: Oid(3580), name: "network_bloom_ops" },
    OpFamily { oid: Oid(4586), method: Oid(3580), name: "bpchar_bloom_ops" },
    OpFamily { oid: Oid(4587), method: Oid(3580), name: "time_bloom_ops" },
    OpFamily { oid: Oid(4588), method: Oid(3580), name: "interval_bloom_ops" },
    OpFamily { oid: Oid(4589), method: Oid(3580), name: "uuid_bloom_ops" },
    OpFamily { oid: Oid(4590), method: Oid(3580), name: "pg_lsn_bloom_ops" },
    OpFamily { oid: Oid(4602), method: Oid(3580), name: "integer_minmax_multi_ops" },
    OpFamily { oid: Oid(4603), method: Oid(3580), name: "numeric_minmax_multi_ops" },
    OpFamily { oid: Oid(4604), method: Oid(3580), name: "timetz_minmax_multi_ops" },
    OpFamily { oid: Oid(4605), method: Oid(3580), name: "datetime_minmax_multi_ops" },
    OpFamily { oid: Oid(4606), method: Oid(3580), name: "oid_minmax_multi_ops" },
    OpFamily { oid: Oid(4607), method: Oid(3580), name: "tid_minmax_multi_ops" },
    OpFamily { oid: Oid(4608), method: Oid(3580), name: "float_minmax_multi_ops" },
    OpFamily { oid: Oid(4609), method: Oid(3580), name: "macaddr_minmax_multi_ops" },
    OpFamily { oid: Oid(4610), method: Oid(3580), name: "macaddr8_minmax_multi_ops" },
    OpFamily { oid: Oid(4611), method: Oid(3580), name: "network_minmax_multi_ops" },
    OpFamily { oid: Oid(4612), method: Oid(3580), name: "time_minmax_multi_ops" },
    OpFamily { oid: Oid(4613), method: Oid(3580), name: "interval_minmax_multi_ops" },
    OpFamily { oid: Oid(4614), method: Oid(3580), name: "uuid_minmax_multi_ops" },
    OpFamily { oid: Oid(4615), method: Oid(3580), name: "pg_lsn_minmax_multi_ops" },
    OpFamily { oid: Oid(3474), method: Oid(4000), name: "range_ops" },
    OpFamily { oid: Oid(3794), method: Oid(4000), name: "network_ops" },
    OpFamily { oid: Oid(4015), method: Oid(4000), name: "quad_point_ops" },
    OpFamily { oid: Oid(4016), method: Oid(4000), name: "kd_point_ops" },
    OpFamily { oid: Oid(4017), method: Oid(4000), name: "text_ops" },
    OpFamily { oid: Oid(5000), method: Oid(4000), name: "box_ops" },
    OpFamily { oid: Oid(5008), method: Oid(4000), name: "poly_ops" },
];

/// Every class: OID, access method, name, family, type, default, stored type.
#[rustfmt::skip]
pub static OPCLASSES: &[OpClass] = &[
    class(1978, 403, "int4_ops", 1976, 23, true, 0), // int4
    class(1979, 403, "int2_ops", 1976, 21, true, 0), // int2
    class(1981, 403, "oid_ops", 1989, 26, true, 0), // oid
    class(3122, 403, "date_ops", 434, 1082, true, 0), // date
    class(3123, 403, "float8_ops", 1970, 701, true, 0), // float8
    class(3124, 403, "int8_ops", 1976, 20, true, 0), // int8
    class(3125, 403, "numeric_ops", 1988, 1700, true, 0), // numeric
    class(3126, 403, "text_ops", 1994, 25, true, 0), // text
    class(3127, 403, "timestamptz_ops", 434, 1184, true, 0), // timestamptz
    class(3128, 403, "timestamp_ops", 434, 1114, true, 0), // timestamp
    class(4217, 403, "text_pattern_ops", 2095, 25, false, 0), // text
    class(4218, 403, "varchar_pattern_ops", 2095, 25, false, 0), // text
    class(4219, 403, "bpchar_pattern_ops", 2097, 1042, false, 0), // bpchar
    class(10000, 403, "array_ops", 397, 2277, true, 0), // anyarray
    class(10001, 405, "array_ops", 627, 2277, true, 0), // anyarray
    class(10003, 403, "bool_ops", 424, 16, true, 0), // bool
    class(10004, 403, "bpchar_ops", 426, 1042, true, 0), // bpchar
    class(10005, 405, "bpchar_ops", 427, 1042, true, 0), // bpchar
    class(10006, 403, "bytea_ops", 428, 17, true, 0), // bytea
    class(10007, 403, "char_ops", 429, 18, true, 0), // char
    class(10008, 405, "char_ops", 431, 18, true, 0), // char
    class(10009, 403, "cidr_ops", 1974, 869, false, 0), // inet
    class(10010, 405, "cidr_ops", 1975, 869, false, 0), // inet
    class(10011, 405, "date_ops", 435, 1082, true, 0), // date
    class(10012, 403, "float4_ops", 1970, 700, true, 0), // float4
    class(10013, 405, "float4_ops", 1971, 700, true, 0), // float4
    class(10014, 405, "float8_ops", 1971, 701, true, 0), // float8
    class(10015, 403, "inet_ops", 1974, 869, true, 0), // inet
    class(10016, 405, "inet_ops", 1975, 869, true, 0), // inet
    class(10019, 405, "int2_ops", 1977, 21, true, 0), // int2
    class(10020, 405, "int4_ops", 1977, 23, true, 0), // int4
    class(10021, 405, "int8_ops", 1977, 20, true, 0), // int8
    class(10022, 403, "interval_ops", 1982, 1186, true, 0), // interval
    class(10023, 405, "interval_ops", 1983, 1186, true, 0), // interval
    class(10024, 403, "macaddr_ops", 1984, 829, true, 0), // macaddr
    class(10025, 405, "macaddr_ops", 1985, 829, true, 0), // macaddr
    class(10026, 403, "macaddr8_ops", 3371, 774, true, 0), // macaddr8
    class(10027, 405, "macaddr8_ops", 3372, 774, true, 0), // macaddr8
    class(10028, 403, "name_ops", 1994, 19, true, 2275), // name
    class(10029, 405, "name_ops", 1995, 19, true, 0), // name
    class(10030, 405, "numeric_ops", 1998, 1700, true, 0), // numeric
    class(10031, 405, "oid_ops", 1990, 26, true, 0), // oid
    class(10032, 403, "oidvector_ops", 1991, 30, true, 0), // oidvector
    class(10033, 405, "oidvector_ops", 1992, 30, true, 0), // oidvector
    class(10037, 405, "text_ops", 1995, 25, true, 0), // text
    class(10038, 403, "time_ops", 1996, 1083, true, 0), // time
    class(10039, 405, "time_ops", 1997, 1083, true, 0), // time
    class(10040, 405, "timestamptz_ops", 1999, 1184, true, 0), // timestamptz
    class(10041, 403, "timetz_ops", 2000, 1266, true, 0), // timetz
    class(10042, 405, "timetz_ops", 2001, 1266, true, 0), // timetz
    class(10044, 403, "varchar_ops", 1994, 25, false, 0), // text
    class(10045, 405, "varchar_ops", 1995, 25, false, 0), // text
    class(10046, 405, "timestamp_ops", 2040, 1114, true, 0), // timestamp
    class(10048, 405, "bool_ops", 2222, 16, true, 0), // bool
    class(10049, 405, "bytea_ops", 2223, 17, true, 0), // bytea
    class(10050, 403, "tid_ops", 2789, 27, true, 0), // tid
    class(10051, 405, "xid_ops", 2225, 28, true, 0), // xid
    class(10052, 405, "xid8_ops", 5032, 5069, true, 0), // xid8
    class(10053, 403, "xid8_ops", 5067, 5069, true, 0), // xid8
    class(10054, 405, "cid_ops", 2226, 29, true, 0), // cid
    class(10055, 405, "tid_ops", 2227, 27, true, 0), // tid
    class(10056, 405, "text_pattern_ops", 2229, 25, false, 0), // text
    class(10057, 405, "varchar_pattern_ops", 2229, 25, false, 0), // text
    class(10058, 405, "bpchar_pattern_ops", 2231, 1042, false, 0), // bpchar
    class(10065, 403, "uuid_ops", 2968, 2950, true, 0), // uuid
    class(10066, 405, "uuid_ops", 2969, 2950, true, 0), // uuid
    class(10067, 403, "pg_lsn_ops", 3253, 3220, true, 0), // pg_lsn
    class(10068, 405, "pg_lsn_ops", 3254, 3220, true, 0), // pg_lsn
    class(10088, 403, "jsonb_ops", 4033, 3802, true, 0),
    class(10089, 405, "jsonb_ops", 4034, 3802, true, 0),
    class(10034, 403, "record_ops", 2994, 2249, true, 0), // record
    class(10035, 405, "record_ops", 6194, 2249, true, 0), // record
    class(10036, 403, "record_image_ops", 3194, 2249, false, 0), // record
    class(10069, 403, "enum_ops", 3522, 3500, true, 0), // anyenum
    class(10070, 405, "enum_ops", 3523, 3500, true, 0), // anyenum
    class(10071, 403, "tsvector_ops", 3626, 3614, true, 0), // tsvector
    class(10074, 403, "tsquery_ops", 3683, 3615, true, 0), // tsquery
    class(10002, 403, "bit_ops", 423, 1560, true, 0), // bit
    class(10043, 403, "varbit_ops", 2002, 1562, true, 0), // varbit
    class(10047, 403, "money_ops", 2099, 790, true, 0), // money
    class(10076, 403, "range_ops", 3901, 3831, true, 0), // anyrange
    class(10077, 405, "range_ops", 3903, 3831, true, 0), // anyrange
    class(10080, 403, "multirange_ops", 4199, 4537, true, 0), // anymultirange
    class(10081, 405, "multirange_ops", 4225, 4537, true, 0), // anymultirange
    class(9990, 403, "citext_ops", 9992, 9960, true, 0), // folded
    class(9991, 405, "citext_ops", 9993, 9960, true, 0), // folded
    class(10017, 783, "inet_ops", 3550, 869, false, 0), // inet
    class(10060, 783, "box_ops", 2593, 603, true, 0), // box
    class(10061, 783, "point_ops", 1029, 600, true, 603), // point
    class(10062, 783, "poly_ops", 2594, 604, true, 603), // polygon
    class(10063, 783, "circle_ops", 2595, 718, true, 603), // circle
    class(10078, 783, "range_ops", 3919, 3831, true, 0), // anyrange
    class(10072, 783, "tsvector_ops", 3655, 3614, true, 3642), // tsvector
    class(10075, 783, "tsquery_ops", 3702, 3615, true, 20), // tsquery
    class(10082, 783, "multirange_ops", 6158, 4537, true, 3831), // anymultirange
    class(10064, 2742, "array_ops", 2745, 2277, true, 2283), // anyarray
    class(10073, 2742, "tsvector_ops", 3659, 3614, true, 25), // tsvector
    class(10090, 2742, "jsonb_ops", 4036, 3802, true, 25), // jsonb
    class(10091, 2742, "jsonb_path_ops", 4037, 3802, false, 23), // jsonb
    class(10092, 3580, "bytea_minmax_ops", 4064, 17, true, 17), // bytea
    class(10093, 3580, "bytea_bloom_ops", 4578, 17, false, 17), // bytea
    class(10094, 3580, "char_minmax_ops", 4062, 18, true, 18), // "char"
    class(10095, 3580, "char_bloom_ops", 4577, 18, false, 18), // "char"
    class(10096, 3580, "name_minmax_ops", 4065, 19, true, 19), // name
    class(10097, 3580, "name_bloom_ops", 4579, 19, false, 19), // name
    class(10098, 3580, "int8_minmax_ops", 4054, 20, true, 20), // bigint
    class(10099, 3580, "int8_minmax_multi_ops", 4602, 20, false, 20), // bigint
    class(10100, 3580, "int8_bloom_ops", 4572, 20, false, 20), // bigint
    class(10101, 3580, "int2_minmax_ops", 4054, 21, true, 21), // smallint
    class(10102, 3580, "int2_minmax_multi_ops", 4602, 21, false, 21), // smallint
    class(10103, 3580, "int2_bloom_ops", 4572, 21, false, 21), // smallint
    class(10104, 3580, "int4_minmax_ops", 4054, 23, true, 23), // integer
    class(10105, 3580, "int4_minmax_multi_ops", 4602, 23, false, 23), // integer
    class(10106, 3580, "int4_bloom_ops", 4572, 23, false, 23), // integer
    class(10107, 3580, "text_minmax_ops", 4056, 25, true, 25), // text
    class(10108, 3580, "text_bloom_ops", 4573, 25, false, 25), // text
    class(10109, 3580, "oid_minmax_ops", 4068, 26, true, 26), // oid
    class(10110, 3580, "oid_minmax_multi_ops", 4606, 26, false, 26), // oid
    class(10111, 3580, "oid_bloom_ops", 4580, 26, false, 26), // oid
    class(10112, 3580, "tid_minmax_ops", 4069, 27, true, 27), // tid
    class(10113, 3580, "tid_bloom_ops", 4581, 27, false, 27), // tid
    class(10114, 3580, "tid_minmax_multi_ops", 4607, 27, false, 27), // tid
    class(10115, 3580, "float4_minmax_ops", 4070, 700, true, 700), // real
    class(10116, 3580, "float4_minmax_multi_ops", 4608, 700, false, 700), // real
    class(10117, 3580, "float4_bloom_ops", 4582, 700, false, 700), // real
    class(10118, 3580, "float8_minmax_ops", 4070, 701, true, 701), // double precision
    class(10119, 3580, "float8_minmax_multi_ops", 4608, 701, false, 701), // double precision
    class(10120, 3580, "float8_bloom_ops", 4582, 701, false, 701), // double precision
    class(10121, 3580, "macaddr_minmax_ops", 4074, 829, true, 829), // macaddr
    class(10122, 3580, "macaddr_minmax_multi_ops", 4609, 829, false, 829), // macaddr
    class(10123, 3580, "macaddr_bloom_ops", 4583, 829, false, 829), // macaddr
    class(10124, 3580, "macaddr8_minmax_ops", 4109, 774, true, 774), // macaddr8
    class(10125, 3580, "macaddr8_minmax_multi_ops", 4610, 774, false, 774), // macaddr8
    class(10126, 3580, "macaddr8_bloom_ops", 4584, 774, false, 774), // macaddr8
    class(10127, 3580, "inet_minmax_ops", 4075, 869, false, 869), // inet
    class(10128, 3580, "inet_minmax_multi_ops", 4611, 869, false, 869), // inet
    class(10129, 3580, "inet_bloom_ops", 4585, 869, false, 869), // inet
    class(10130, 3580, "inet_inclusion_ops", 4102, 869, true, 869), // inet
    class(10131, 3580, "bpchar_minmax_ops", 4076, 1042, true, 1042), // character
    class(10132, 3580, "bpchar_bloom_ops", 4586, 1042, false, 1042), // character
    class(10133, 3580, "time_minmax_ops", 4077, 1083, true, 1083), // time without time zone
    class(10134, 3580, "time_minmax_multi_ops", 4612, 1083, false, 1083), // time without time zone
    class(10135, 3580, "time_bloom_ops", 4587, 1083, false, 1083), // time without time zone
    class(10136, 3580, "date_minmax_ops", 4059, 1082, true, 1082), // date
    class(10137, 3580, "date_minmax_multi_ops", 4605, 1082, false, 1082), // date
    class(10138, 3580, "date_bloom_ops", 4576, 1082, false, 1082), // date
    class(10139, 3580, "timestamp_minmax_ops", 4059, 1114, true, 1114), // timestamp without time zone
    class(10140, 3580, "timestamp_minmax_multi_ops", 4605, 1114, false, 1114), // timestamp without time zone
    class(10141, 3580, "timestamp_bloom_ops", 4576, 1114, false, 1114), // timestamp without time zone
    class(10142, 3580, "timestamptz_minmax_ops", 4059, 1184, true, 1184), // timestamp with time zone
    class(10143, 3580, "timestamptz_minmax_multi_ops", 4605, 1184, false, 1184), // timestamp with time zone
    class(10144, 3580, "timestamptz_bloom_ops", 4576, 1184, false, 1184), // timestamp with time zone
    class(10145, 3580, "interval_minmax_ops", 4078, 1186, true, 1186), // interval
    class(10146, 3580, "interval_minmax_multi_ops", 4613, 1186, false, 1186), // interval
    class(10147, 3580, "interval_bloom_ops", 4588, 1186, false, 1186), // interval
    class(10148, 3580, "timetz_minmax_ops", 4058, 1266, true, 1266), // time with time zone
    class(10149, 3580, "timetz_minmax_multi_ops", 4604, 1266, false, 1266), // time with time zone
    class(10150, 3580, "timetz_bloom_ops", 4575, 1266, false, 1266), // time with time zone
    class(10151, 3580, "bit_minmax_ops", 4079, 1560, true, 1560), // bit
    class(10152, 3580, "varbit_minmax_ops", 4080, 1562, true, 1562), // bit varying
    class(10153, 3580, "numeric_minmax_ops", 4055, 1700, true, 1700), // numeric
    class(10154, 3580, "numeric_minmax_multi_ops", 4603, 1700, false, 1700), // numeric
    class(10155, 3580, "numeric_bloom_ops", 4574, 1700, false, 1700), // numeric
    class(10156, 3580, "uuid_minmax_ops", 4081, 2950, true, 2950), // uuid
    class(10157, 3580, "uuid_minmax_multi_ops", 4614, 2950, false, 2950), // uuid
    class(10158, 3580, "uuid_bloom_ops", 4589, 2950, false, 2950), // uuid
    class(10159, 3580, "range_inclusion_ops", 4103, 3831, true, 3831), // anyrange
    class(10160, 3580, "pg_lsn_minmax_ops", 4082, 3220, true, 3220), // pg_lsn
    class(10161, 3580, "pg_lsn_minmax_multi_ops", 4615, 3220, false, 3220), // pg_lsn
    class(10162, 3580, "pg_lsn_bloom_ops", 4590, 3220, false, 3220), // pg_lsn
    class(10163, 3580, "box_inclusion_ops", 4104, 603, true, 603), // box
    class(10018, 4000, "inet_ops", 3794, 869, true, 0), // inet
    class(10079, 4000, "range_ops", 3474, 3831, true, 0), // anyrange
    class(10083, 4000, "box_ops", 5000, 603, true, 0), // box
    class(10084, 4000, "quad_point_ops", 4015, 600, true, 0), // point
    class(10085, 4000, "kd_point_ops", 4016, 600, false, 0), // point
    class(10086, 4000, "text_ops", 4017, 25, true, 0), // text
    class(10087, 4000, "poly_ops", 5008, 604, true, 603), // polygon
];

/// Every operator of a family: OID, family, left, right, strategy, operator.
#[rustfmt::skip]
pub static AMOPS: &[AmOp] = &[
    amop(10230, 397, 2277, 2277, 1, 1072), // anyarray, anyarray
    amop(10231, 397, 2277, 2277, 2, 1074), // anyarray, anyarray
    amop(10232, 397, 2277, 2277, 3, 1070), // anyarray, anyarray
    amop(10233, 397, 2277, 2277, 4, 1075), // anyarray, anyarray
    amop(10234, 397, 2277, 2277, 5, 1073), // anyarray, anyarray
    amop(10200, 424, 16, 16, 1, 58), // bool, bool
    amop(10201, 424, 16, 16, 2, 1694), // bool, bool
    amop(10202, 424, 16, 16, 3, 91), // bool, bool
    amop(10203, 424, 16, 16, 4, 1695), // bool, bool
    amop(10204, 424, 16, 16, 5, 59), // bool, bool
    amop(10110, 426, 1042, 1042, 1, 1058), // bpchar, bpchar
    amop(10111, 426, 1042, 1042, 2, 1059), // bpchar, bpchar
    amop(10112, 426, 1042, 1042, 3, 1054), // bpchar, bpchar
    amop(10113, 426, 1042, 1042, 4, 1061), // bpchar, bpchar
    amop(10114, 426, 1042, 1042, 5, 1060), // bpchar, bpchar
    amop(10255, 427, 1042, 1042, 1, 1054), // bpchar, bpchar
    amop(10115, 428, 17, 17, 1, 1957), // bytea, bytea
    amop(10116, 428, 17, 17, 2, 1958), // bytea, bytea
    amop(10117, 428, 17, 17, 3, 1955), // bytea, bytea
    amop(10118, 428, 17, 17, 4, 1960), // bytea, bytea
    amop(10119, 428, 17, 17, 5, 1959), // bytea, bytea
    amop(10085, 429, 18, 18, 1, 631), // char, char
    amop(10086, 429, 18, 18, 2, 632), // char, char
    amop(10087, 429, 18, 18, 3, 92), // char, char
    amop(10088, 429, 18, 18, 4, 634), // char, char
    amop(10089, 429, 18, 18, 5, 633), // char, char
    amop(10256, 431, 18, 18, 1, 92), // char, char
    amop(10120, 434, 1082, 1082, 1, 1095), // date, date
    amop(10121, 434, 1082, 1082, 2, 1096), // date, date
    amop(10122, 434, 1082, 1082, 3, 1093), // date, date
    amop(10123, 434, 1082, 1082, 4, 1098), // date, date
    amop(10124, 434, 1082, 1082, 5, 1097), // date, date
    amop(10125, 434, 1082, 1114, 1, 2345), // date, timestamp
    amop(10126, 434, 1082, 1114, 2, 2346), // date, timestamp
    amop(10127, 434, 1082, 1114, 3, 2347), // date, timestamp
    amop(10128, 434, 1082, 1114, 4, 2348), // date, timestamp
    amop(10129, 434, 1082, 1114, 5, 2349), // date, timestamp
    amop(10130, 434, 1082, 1184, 1, 2358), // date, timestamptz
    amop(10131, 434, 1082, 1184, 2, 2359), // date, timestamptz
    amop(10132, 434, 1082, 1184, 3, 2360), // date, timestamptz
    amop(10133, 434, 1082, 1184, 4, 2361), // date, timestamptz
    amop(10134, 434, 1082, 1184, 5, 2362), // date, timestamptz
    amop(10140, 434, 1114, 1082, 1, 2371), // timestamp, date
    amop(10141, 434, 1114, 1082, 2, 2372), // timestamp, date
    amop(10142, 434, 1114, 1082, 3, 2373), // timestamp, date
    amop(10143, 434, 1114, 1082, 4, 2374), // timestamp, date
    amop(10144, 434, 1114, 1082, 5, 2375), // timestamp, date
    amop(10135, 434, 1114, 1114, 1, 2062), // timestamp, timestamp
    amop(10136, 434, 1114, 1114, 2, 2063), // timestamp, timestamp
    amop(10137, 434, 1114, 1114, 3, 2060), // timestamp, timestamp
    amop(10138, 434, 1114, 1114, 4, 2065), // timestamp, timestamp
    amop(10139, 434, 1114, 1114, 5, 2064), // timestamp, timestamp
    amop(10145, 434, 1114, 1184, 1, 2534), // timestamp, timestamptz
    amop(10146, 434, 1114, 1184, 2, 2535), // timestamp, timestamptz
    amop(10147, 434, 1114, 1184, 3, 2536), // timestamp, timestamptz
    amop(10148, 434, 1114, 1184, 4, 2537), // timestamp, timestamptz
    amop(10149, 434, 1114, 1184, 5, 2538), // timestamp, timestamptz
    amop(10155, 434, 1184, 1082, 1, 2384), // timestamptz, date
    amop(10156, 434, 1184, 1082, 2, 2385), // timestamptz, date
    amop(10157, 434, 1184, 1082, 3, 2386), // timestamptz, date
    amop(10158, 434, 1184, 1082, 4, 2387), // timestamptz, date
    amop(10159, 434, 1184, 1082, 5, 2388), // timestamptz, date
    amop(10160, 434, 1184, 1114, 1, 2540), // timestamptz, timestamp
    amop(10161, 434, 1184, 1114, 2, 2541), // timestamptz, timestamp
    amop(10162, 434, 1184, 1114, 3, 2542), // timestamptz, timestamp
    amop(10163, 434, 1184, 1114, 4, 2543), // timestamptz, timestamp
    amop(10164, 434, 1184, 1114, 5, 2544), // timestamptz, timestamp
    amop(10150, 434, 1184, 1184, 1, 1322), // timestamptz, timestamptz
    amop(10151, 434, 1184, 1184, 2, 1323), // timestamptz, timestamptz
    amop(10152, 434, 1184, 1184, 3, 1320), // timestamptz, timestamptz
    amop(10153, 434, 1184, 1184, 4, 1325), // timestamptz, timestamptz
    amop(10154, 434, 1184, 1184, 5, 1324), // timestamptz, timestamptz
    amop(10257, 435, 1082, 1082, 1, 1093), // date, date
    amop(10298, 627, 2277, 2277, 1, 1070), // anyarray, anyarray
    amop(10065, 1970, 700, 700, 1, 622), // float4, float4
    amop(10066, 1970, 700, 700, 2, 624), // float4, float4
    amop(10067, 1970, 700, 700, 3, 620), // float4, float4
    amop(10068, 1970, 700, 700, 4, 625), // float4, float4
    amop(10069, 1970, 700, 700, 5, 623), // float4, float4
    amop(10070, 1970, 700, 701, 1, 1122), // float4, float8
    amop(10071, 1970, 700, 701, 2, 1124), // float4, float8
    amop(10072, 1970, 700, 701, 3, 1120), // float4, float8
    amop(10073, 1970, 700, 701, 4, 1125), // float4, float8
    amop(10074, 1970, 700, 701, 5, 1123), // float4, float8
    amop(10080, 1970, 701, 700, 1, 1132), // float8, float4
    amop(10081, 1970, 701, 700, 2, 1134), // float8, float4
    amop(10082, 1970, 701, 700, 3, 1130), // float8, float4
    amop(10083, 1970, 701, 700, 4, 1135), // float8, float4
    amop(10084, 1970, 701, 700, 5, 1133), // float8, float4
    amop(10075, 1970, 701, 701, 1, 672), // float8, float8
    amop(10076, 1970, 701, 701, 2, 673), // float8, float8
    amop(10077, 1970, 701, 701, 3, 670), // float8, float8
    amop(10078, 1970, 701, 701, 4, 675), // float8, float8
    amop(10079, 1970, 701, 701, 5, 674), // float8, float8
    amop(10258, 1971, 700, 700, 1, 620), // float4, float4
    amop(10260, 1971, 700, 701, 1, 1120), // float4, float8
    amop(10261, 1971, 701, 700, 1, 1130), // float8, float4
    amop(10259, 1971, 701, 701, 1, 670), // float8, float8
    amop(10190, 1974, 869, 869, 1, 1203), // inet, inet
    amop(10191, 1974, 869, 869, 2, 1204), // inet, inet
    amop(10192, 1974, 869, 869, 3, 1201), // inet, inet
    amop(10193, 1974, 869, 869, 4, 1206), // inet, inet
    amop(10194, 1974, 869, 869, 5, 1205), // inet, inet
    amop(10262, 1975, 869, 869, 1, 1201), // inet, inet
    amop(10030, 1976, 20, 20, 1, 412), // int8, int8
    amop(10031, 1976, 20, 20, 2, 414), // int8, int8
    amop(10032, 1976, 20, 20, 3, 410), // int8, int8
    amop(10033, 1976, 20, 20, 4, 415), // int8, int8
    amop(10034, 1976, 20, 20, 5, 413), // int8, int8
    amop(10035, 1976, 20, 21, 1, 1870), // int8, int2
    amop(10036, 1976, 20, 21, 2, 1872), // int8, int2
    amop(10037, 1976, 20, 21, 3, 1868), // int8, int2
    amop(10038, 1976, 20, 21, 4, 1873), // int8, int2
    amop(10039, 1976, 20, 21, 5, 1871), // int8, int2
    amop(10040, 1976, 20, 23, 1, 418), // int8, int4
    amop(10041, 1976, 20, 23, 2, 420), // int8, int4
    amop(10042, 1976, 20, 23, 3, 416), // int8, int4
    amop(10043, 1976, 20, 23, 4, 430), // int8, int4
    amop(10044, 1976, 20, 23, 5, 419), // int8, int4
    amop(10010, 1976, 21, 20, 1, 1864), // int2, int8
    amop(10011, 1976, 21, 20, 2, 1866), // int2, int8
    amop(10012, 1976, 21, 20, 3, 1862), // int2, int8
    amop(10013, 1976, 21, 20, 4, 1867), // int2, int8
    amop(10014, 1976, 21, 20, 5, 1865), // int2, int8
    amop(10000, 1976, 21, 21, 1, 95), // int2, int2
    amop(10001, 1976, 21, 21, 2, 522), // int2, int2
    amop(10002, 1976, 21, 21, 3, 94), // int2, int2
    amop(10003, 1976, 21, 21, 4, 524), // int2, int2
    amop(10004, 1976, 21, 21, 5, 520), // int2, int2
    amop(10005, 1976, 21, 23, 1, 534), // int2, int4
    amop(10006, 1976, 21, 23, 2, 540), // int2, int4
    amop(10007, 1976, 21, 23, 3, 532), // int2, int4
    amop(10008, 1976, 21, 23, 4, 542), // int2, int4
    amop(10009, 1976, 21, 23, 5, 536), // int2, int4
    amop(10025, 1976, 23, 20, 1, 37), // int4, int8
    amop(10026, 1976, 23, 20, 2, 80), // int4, int8
    amop(10027, 1976, 23, 20, 3, 15), // int4, int8
    amop(10028, 1976, 23, 20, 4, 82), // int4, int8
    amop(10029, 1976, 23, 20, 5, 76), // int4, int8
    amop(10020, 1976, 23, 21, 1, 535), // int4, int2
    amop(10021, 1976, 23, 21, 2, 541), // int4, int2
    amop(10022, 1976, 23, 21, 3, 533), // int4, int2
    amop(10023, 1976, 23, 21, 4, 543), // int4, int2
    amop(10024, 1976, 23, 21, 5, 537), // int4, int2
    amop(10015, 1976, 23, 23, 1, 97), // int4, int4
    amop(10016, 1976, 23, 23, 2, 523), // int4, int4
    amop(10017, 1976, 23, 23, 3, 96), // int4, int4
    amop(10018, 1976, 23, 23, 4, 525), // int4, int4
    amop(10019, 1976, 23, 23, 5, 521), // int4, int4
    amop(10265, 1977, 20, 20, 1, 410), // int8, int8
    amop(10270, 1977, 20, 21, 1, 1868), // int8, int2
    amop(10271, 1977, 20, 23, 1, 416), // int8, int4
    amop(10267, 1977, 21, 20, 1, 1862), // int2, int8
    amop(10263, 1977, 21, 21, 1, 94), // int2, int2
    amop(10266, 1977, 21, 23, 1, 532), // int2, int4
    amop(10269, 1977, 23, 20, 1, 15), // int4, int8
    amop(10268, 1977, 23, 21, 1, 533), // int4, int2
    amop(10264, 1977, 23, 23, 1, 96), // int4, int4
    amop(10175, 1982, 1186, 1186, 1, 1332), // interval, interval
    amop(10176, 1982, 1186, 1186, 2, 1333), // interval, interval
    amop(10177, 1982, 1186, 1186, 3, 1330), // interval, interval
    amop(10178, 1982, 1186, 1186, 4, 1335), // interval, interval
    amop(10179, 1982, 1186, 1186, 5, 1334), // interval, interval
    amop(10272, 1983, 1186, 1186, 1, 1330), // interval, interval
    amop(10180, 1984, 829, 829, 1, 1222), // macaddr, macaddr
    amop(10181, 1984, 829, 829, 2, 1223), // macaddr, macaddr
    amop(10182, 1984, 829, 829, 3, 1220), // macaddr, macaddr
    amop(10183, 1984, 829, 829, 4, 1225), // macaddr, macaddr
    amop(10184, 1984, 829, 829, 5, 1224), // macaddr, macaddr
    amop(10273, 1985, 829, 829, 1, 1220), // macaddr, macaddr
    amop(10195, 1988, 1700, 1700, 1, 1754), // numeric, numeric
    amop(10196, 1988, 1700, 1700, 2, 1755), // numeric, numeric
    amop(10197, 1988, 1700, 1700, 3, 1752), // numeric, numeric
    amop(10198, 1988, 1700, 1700, 4, 1757), // numeric, numeric
    amop(10199, 1988, 1700, 1700, 5, 1756), // numeric, numeric
    amop(10045, 1989, 26, 26, 1, 609), // oid, oid
    amop(10046, 1989, 26, 26, 2, 611), // oid, oid
    amop(10047, 1989, 26, 26, 3, 607), // oid, oid
    amop(10048, 1989, 26, 26, 4, 612), // oid, oid
    amop(10049, 1989, 26, 26, 5, 610), // oid, oid
    amop(10275, 1990, 26, 26, 1, 607), // oid, oid
    amop(10060, 1991, 30, 30, 1, 645), // oidvector, oidvector
    amop(10061, 1991, 30, 30, 2, 647), // oidvector, oidvector
    amop(10062, 1991, 30, 30, 3, 649), // oidvector, oidvector
    amop(10063, 1991, 30, 30, 4, 648), // oidvector, oidvector
    amop(10064, 1991, 30, 30, 5, 646), // oidvector, oidvector
    amop(10276, 1992, 30, 30, 1, 649), // oidvector, oidvector
    amop(10095, 1994, 19, 19, 1, 660), // name, name
    amop(10096, 1994, 19, 19, 2, 661), // name, name
    amop(10097, 1994, 19, 19, 3, 93), // name, name
    amop(10098, 1994, 19, 19, 4, 663), // name, name
    amop(10099, 1994, 19, 19, 5, 662), // name, name
    amop(10100, 1994, 19, 25, 1, 255), // name, text
    amop(10101, 1994, 19, 25, 2, 256), // name, text
    amop(10102, 1994, 19, 25, 3, 254), // name, text
    amop(10103, 1994, 19, 25, 4, 257), // name, text
    amop(10104, 1994, 19, 25, 5, 258), // name, text
    amop(10105, 1994, 25, 19, 1, 261), // text, name
    amop(10106, 1994, 25, 19, 2, 262), // text, name
    amop(10107, 1994, 25, 19, 3, 260), // text, name
    amop(10108, 1994, 25, 19, 4, 263), // text, name
    amop(10109, 1994, 25, 19, 5, 264), // text, name
    amop(10090, 1994, 25, 25, 1, 664), // text, text
    amop(10091, 1994, 25, 25, 2, 665), // text, text
    amop(10092, 1994, 25, 25, 3, 98), // text, text
    amop(10093, 1994, 25, 25, 4, 667), // text, text
    amop(10094, 1994, 25, 25, 5, 666), // text, text
    amop(10279, 1995, 19, 19, 1, 93), // name, name
    amop(10280, 1995, 19, 25, 1, 254), // name, text
    amop(10281, 1995, 25, 19, 1, 260), // text, name
    amop(10278, 1995, 25, 25, 1, 98), // text, text
    amop(10165, 1996, 1083, 1083, 1, 1110), // time, time
    amop(10166, 1996, 1083, 1083, 2, 1111), // time, time
    amop(10167, 1996, 1083, 1083, 3, 1108), // time, time
    amop(10168, 1996, 1083, 1083, 4, 1113), // time, time
    amop(10169, 1996, 1083, 1083, 5, 1112), // time, time
    amop(10282, 1997, 1083, 1083, 1, 1108), // time, time
    amop(10297, 1998, 1700, 1700, 1, 1752), // numeric, numeric
    amop(10283, 1999, 1184, 1184, 1, 1320), // timestamptz, timestamptz
    amop(10170, 2000, 1266, 1266, 1, 1552), // timetz, timetz
    amop(10171, 2000, 1266, 1266, 2, 1553), // timetz, timetz
    amop(10172, 2000, 1266, 1266, 3, 1550), // timetz, timetz
    amop(10173, 2000, 1266, 1266, 4, 1555), // timetz, timetz
    amop(10174, 2000, 1266, 1266, 5, 1554), // timetz, timetz
    amop(10284, 2001, 1266, 1266, 1, 1550), // timetz, timetz
    amop(10285, 2040, 1114, 1114, 1, 2060), // timestamp, timestamp
    amop(10215, 2095, 25, 25, 1, 2314), // text, text
    amop(10216, 2095, 25, 25, 2, 2315), // text, text
    amop(10217, 2095, 25, 25, 3, 98), // text, text
    amop(10218, 2095, 25, 25, 4, 2317), // text, text
    amop(10219, 2095, 25, 25, 5, 2318), // text, text
    amop(10220, 2097, 1042, 1042, 1, 2326), // bpchar, bpchar
    amop(10221, 2097, 1042, 1042, 2, 2327), // bpchar, bpchar
    amop(10222, 2097, 1042, 1042, 3, 1054), // bpchar, bpchar
    amop(10223, 2097, 1042, 1042, 4, 2329), // bpchar, bpchar
    amop(10224, 2097, 1042, 1042, 5, 2330), // bpchar, bpchar
    amop(10286, 2222, 16, 16, 1, 91), // bool, bool
    amop(10287, 2223, 17, 17, 1, 1955), // bytea, bytea
    amop(10288, 2225, 28, 28, 1, 352), // xid, xid
    amop(10290, 2226, 29, 29, 1, 385), // cid, cid
    amop(10291, 2227, 27, 27, 1, 387), // tid, tid
    amop(10292, 2229, 25, 25, 1, 98), // text, text
    amop(10293, 2231, 1042, 1042, 1, 1054), // bpchar, bpchar
    amop(10055, 2789, 27, 27, 1, 2799), // tid, tid
    amop(10056, 2789, 27, 27, 2, 2801), // tid, tid
    amop(10057, 2789, 27, 27, 3, 387), // tid, tid
    amop(10058, 2789, 27, 27, 4, 2802), // tid, tid
    amop(10059, 2789, 27, 27, 5, 2800), // tid, tid
    amop(10245, 2968, 2950, 2950, 1, 2974), // uuid, uuid
    amop(10246, 2968, 2950, 2950, 2, 2976), // uuid, uuid
    amop(10247, 2968, 2950, 2950, 3, 2972), // uuid, uuid
    amop(10248, 2968, 2950, 2950, 4, 2977), // uuid, uuid
    amop(10249, 2968, 2950, 2950, 5, 2975), // uuid, uuid
    amop(10295, 2969, 2950, 2950, 1, 2972), // uuid, uuid
    amop(10250, 3253, 3220, 3220, 1, 3224), // pg_lsn, pg_lsn
    amop(10251, 3253, 3220, 3220, 2, 3226), // pg_lsn, pg_lsn
    amop(10252, 3253, 3220, 3220, 3, 3222), // pg_lsn, pg_lsn
    amop(10253, 3253, 3220, 3220, 4, 3227), // pg_lsn, pg_lsn
    amop(10254, 3253, 3220, 3220, 5, 3225), // pg_lsn, pg_lsn
    amop(10296, 3254, 3220, 3220, 1, 3222), // pg_lsn, pg_lsn
    amop(10185, 3371, 774, 774, 1, 3364), // macaddr8, macaddr8
    amop(10186, 3371, 774, 774, 2, 3365), // macaddr8, macaddr8
    amop(10187, 3371, 774, 774, 3, 3362), // macaddr8, macaddr8
    amop(10188, 3371, 774, 774, 4, 3367), // macaddr8, macaddr8
    amop(10189, 3371, 774, 774, 5, 3366), // macaddr8, macaddr8
    amop(10274, 3372, 774, 774, 1, 3362), // macaddr8, macaddr8
    amop(10349, 2745, 2277, 2277, 1, 2750), // anyarray, anyarray
    amop(10350, 2745, 2277, 2277, 2, 2751), // anyarray, anyarray
    amop(10351, 2745, 2277, 2277, 3, 2752), // anyarray, anyarray
    amop(10352, 2745, 2277, 2277, 4, 1070), // anyarray, anyarray
    amop(10456, 4036, 3802, 3802, 7, 3246), // jsonb, jsonb
    amop(10457, 4036, 3802, 25, 9, 3247), // jsonb, text
    amop(10458, 4036, 3802, 1009, 10, 3248), // jsonb, text[]
    amop(10459, 4036, 3802, 1009, 11, 3249), // jsonb, text[]
    amop(10460, 4036, 3802, 4072, 15, 4012), // jsonb, jsonpath
    amop(10461, 4036, 3802, 4072, 16, 4013), // jsonb, jsonpath
    amop(10462, 4037, 3802, 3802, 7, 3246), // jsonb, jsonb
    amop(10463, 4037, 3802, 4072, 15, 4012), // jsonb, jsonpath
    amop(10464, 4037, 3802, 4072, 16, 4013), // jsonb, jsonpath
    amop(10450, 4033, 3802, 3802, 1, 3242), // jsonb, jsonb
    amop(10451, 4033, 3802, 3802, 2, 3244), // jsonb, jsonb
    amop(10452, 4033, 3802, 3802, 3, 3240), // jsonb, jsonb
    amop(10453, 4033, 3802, 3802, 4, 3245), // jsonb, jsonb
    amop(10454, 4033, 3802, 3802, 5, 3243), // jsonb, jsonb
    amop(10455, 4034, 3802, 3802, 1, 3240), // jsonb, jsonb
    amop(10289, 5032, 5069, 5069, 1, 5068), // xid8, xid8
    amop(10050, 5067, 5069, 5069, 1, 5073), // xid8, xid8
    amop(10051, 5067, 5069, 5069, 2, 5075), // xid8, xid8
    amop(10052, 5067, 5069, 5069, 3, 5068), // xid8, xid8
    amop(10053, 5067, 5069, 5069, 4, 5076), // xid8, xid8
    amop(10054, 5067, 5069, 5069, 5, 5074), // xid8, xid8
    amop(10235, 2994, 2249, 2249, 1, 2990), // record, record
    amop(10236, 2994, 2249, 2249, 2, 2992), // record, record
    amop(10237, 2994, 2249, 2249, 3, 2988), // record, record
    amop(10238, 2994, 2249, 2249, 4, 2993), // record, record
    amop(10239, 2994, 2249, 2249, 5, 2991), // record, record
    amop(10240, 3194, 2249, 2249, 1, 3190), // record, record
    amop(10241, 3194, 2249, 2249, 2, 3192), // record, record
    amop(10242, 3194, 2249, 2249, 3, 3188), // record, record
    amop(10243, 3194, 2249, 2249, 4, 3193), // record, record
    amop(10244, 3194, 2249, 2249, 5, 3191), // record, record
    amop(10277, 6194, 2249, 2249, 1, 2988), // record, record
    amop(10353, 3522, 3500, 3500, 1, 3518), // anyenum, anyenum
    amop(10354, 3522, 3500, 3500, 2, 3520), // anyenum, anyenum
    amop(10355, 3522, 3500, 3500, 3, 3516), // anyenum, anyenum
    amop(10356, 3522, 3500, 3500, 4, 3521), // anyenum, anyenum
    amop(10357, 3522, 3500, 3500, 5, 3519), // anyenum, anyenum
    amop(10358, 3523, 3500, 3500, 1, 3516), // anyenum, anyenum
    amop(10359, 3626, 3614, 3614, 1, 3627), // tsvector, tsvector
    amop(10360, 3626, 3614, 3614, 2, 3628), // tsvector, tsvector
    amop(10361, 3626, 3614, 3614, 3, 3629), // tsvector, tsvector
    amop(10362, 3626, 3614, 3614, 4, 3631), // tsvector, tsvector
    amop(10363, 3626, 3614, 3614, 5, 3632), // tsvector, tsvector
    amop(10364, 3655, 3614, 3615, 1, 3636), // tsvector, tsquery
    amop(10365, 3659, 3614, 3615, 1, 3636), // tsvector, tsquery
    amop(10366, 3659, 3614, 3615, 2, 3660), // tsvector, tsquery
    amop(10367, 3683, 3615, 3615, 1, 3674), // tsquery, tsquery
    amop(10368, 3683, 3615, 3615, 2, 3675), // tsquery, tsquery
    amop(10369, 3683, 3615, 3615, 3, 3676), // tsquery, tsquery
    amop(10370, 3683, 3615, 3615, 4, 3678), // tsquery, tsquery
    amop(10371, 3683, 3615, 3615, 5, 3679), // tsquery, tsquery
    amop(10372, 3702, 3615, 3615, 7, 3693), // tsquery, tsquery
    amop(10373, 3702, 3615, 3615, 8, 3694), // tsquery, tsquery
    amop(10205, 423, 1560, 1560, 1, 1786), // bit, bit
    amop(10206, 423, 1560, 1560, 2, 1788), // bit, bit
    amop(10207, 423, 1560, 1560, 3, 1784), // bit, bit
    amop(10208, 423, 1560, 1560, 4, 1789), // bit, bit
    amop(10209, 423, 1560, 1560, 5, 1787), // bit, bit
    amop(10210, 2002, 1562, 1562, 1, 1806), // varbit, varbit
    amop(10211, 2002, 1562, 1562, 2, 1808), // varbit, varbit
    amop(10212, 2002, 1562, 1562, 3, 1804), // varbit, varbit
    amop(10213, 2002, 1562, 1562, 4, 1809), // varbit, varbit
    amop(10214, 2002, 1562, 1562, 5, 1807), // varbit, varbit
    amop(10225, 2099, 790, 790, 1, 902), // money, money
    amop(10226, 2099, 790, 790, 2, 904), // money, money
    amop(10227, 2099, 790, 790, 3, 900), // money, money
    amop(10228, 2099, 790, 790, 4, 905), // money, money
    amop(10229, 2099, 790, 790, 5, 903), // money, money
    amop(10374, 3901, 3831, 3831, 1, 3884), // anyrange, anyrange
    amop(10375, 3901, 3831, 3831, 2, 3885), // anyrange, anyrange
    amop(10376, 3901, 3831, 3831, 3, 3882), // anyrange, anyrange
    amop(10377, 3901, 3831, 3831, 4, 3886), // anyrange, anyrange
    amop(10378, 3901, 3831, 3831, 5, 3887), // anyrange, anyrange
    amop(10379, 3903, 3831, 3831, 1, 3882), // anyrange, anyrange
    amop(10416, 4199, 4537, 4537, 1, 2862), // anymultirange, anymultirange
    amop(10417, 4199, 4537, 4537, 2, 2863), // anymultirange, anymultirange
    amop(10418, 4199, 4537, 4537, 3, 2860), // anymultirange, anymultirange
    amop(10419, 4199, 4537, 4537, 4, 2864), // anymultirange, anymultirange
    amop(10420, 4199, 4537, 4537, 5, 2865), // anymultirange, anymultirange
    amop(10421, 4225, 4537, 4537, 1, 2860), // anymultirange, anymultirange
    amop(9994, 9992, 9960, 9960, 1, 9980), // folded, folded
    amop(9995, 9992, 9960, 9960, 2, 9981), // folded, folded
    amop(9996, 9992, 9960, 9960, 3, 9982), // folded, folded
    amop(9997, 9992, 9960, 9960, 4, 9984), // folded, folded
    amop(9998, 9992, 9960, 9960, 5, 9985), // folded, folded
    amop(9999, 9993, 9960, 9960, 1, 9982), // folded, folded
    amop(10299, 2593, 603, 603, 1, 493),
    amop(10300, 2593, 603, 603, 2, 494),
    amop(10301, 2593, 603, 603, 3, 500),
    amop(10302, 2593, 603, 603, 4, 495),
    amop(10303, 2593, 603, 603, 5, 496),
    amop(10304, 2593, 603, 603, 6, 499),
    amop(10305, 2593, 603, 603, 7, 498),
    amop(10306, 2593, 603, 603, 8, 497),
    amop(10307, 2593, 603, 603, 9, 2571),
    amop(10308, 2593, 603, 603, 10, 2570),
    amop(10309, 2593, 603, 603, 11, 2573),
    amop(10310, 2593, 603, 603, 12, 2572),
    amop_order(10311, 2593, 603, 600, 15, 606, 1970),
    amop(10312, 1029, 600, 600, 11, 4161),
    amop(10313, 1029, 600, 600, 30, 506),
    amop(10314, 1029, 600, 600, 1, 507),
    amop(10315, 1029, 600, 600, 5, 508),
    amop(10316, 1029, 600, 600, 10, 4162),
    amop(10317, 1029, 600, 600, 29, 509),
    amop(10318, 1029, 600, 600, 6, 510),
    amop_order(10319, 1029, 600, 600, 15, 517, 1970),
    amop(10320, 1029, 600, 603, 28, 511),
    amop(10321, 1029, 600, 604, 48, 756),
    amop(10322, 1029, 600, 718, 68, 758),
    amop(10323, 2594, 604, 604, 1, 485),
    amop(10324, 2594, 604, 604, 2, 486),
    amop(10325, 2594, 604, 604, 3, 492),
    amop(10326, 2594, 604, 604, 4, 487),
    amop(10327, 2594, 604, 604, 5, 488),
    amop(10328, 2594, 604, 604, 6, 491),
    amop(10329, 2594, 604, 604, 7, 490),
    amop(10330, 2594, 604, 604, 8, 489),
    amop(10331, 2594, 604, 604, 9, 2575),
    amop(10332, 2594, 604, 604, 10, 2574),
    amop(10333, 2594, 604, 604, 11, 2577),
    amop(10334, 2594, 604, 604, 12, 2576),
    amop_order(10335, 2594, 604, 600, 15, 3289, 1970),
    amop(10336, 2595, 718, 718, 1, 1506),
    amop(10337, 2595, 718, 718, 2, 1507),
    amop(10338, 2595, 718, 718, 3, 1513),
    amop(10339, 2595, 718, 718, 4, 1508),
    amop(10340, 2595, 718, 718, 5, 1509),
    amop(10341, 2595, 718, 718, 6, 1512),
    amop(10342, 2595, 718, 718, 7, 1511),
    amop(10343, 2595, 718, 718, 8, 1510),
    amop(10344, 2595, 718, 718, 9, 2589),
    amop(10345, 2595, 718, 718, 10, 1515),
    amop(10346, 2595, 718, 718, 11, 1514),
    amop(10347, 2595, 718, 718, 12, 2590),
    amop_order(10348, 2595, 718, 600, 15, 3291, 1970),
    amop(10380, 3919, 3831, 3831, 1, 3893),
    amop(10381, 3919, 3831, 4537, 1, 4395),
    amop(10382, 3919, 3831, 3831, 2, 3895),
    amop(10383, 3919, 3831, 4537, 2, 2875),
    amop(10384, 3919, 3831, 3831, 3, 3888),
    amop(10385, 3919, 3831, 4537, 3, 2866),
    amop(10386, 3919, 3831, 3831, 4, 3896),
    amop(10387, 3919, 3831, 4537, 4, 3585),
    amop(10388, 3919, 3831, 3831, 5, 3894),
    amop(10389, 3919, 3831, 4537, 5, 4398),
    amop(10390, 3919, 3831, 3831, 6, 3897),
    amop(10391, 3919, 3831, 4537, 6, 4179),
    amop(10392, 3919, 3831, 3831, 7, 3890),
    amop(10393, 3919, 3831, 4537, 7, 4539),
    amop(10394, 3919, 3831, 3831, 8, 3892),
    amop(10395, 3919, 3831, 4537, 8, 2873),
    amop(10396, 3919, 3831, 2283, 16, 3889),
    amop(10397, 3919, 3831, 3831, 18, 3882),
    amop(10398, 6158, 4537, 4537, 1, 4397),
    amop(10399, 6158, 4537, 3831, 1, 4396),
    amop(10400, 6158, 4537, 4537, 2, 2877),
    amop(10401, 6158, 4537, 3831, 2, 2876),
    amop(10402, 6158, 4537, 4537, 3, 2868),
    amop(10403, 6158, 4537, 3831, 3, 2867),
    amop(10404, 6158, 4537, 4537, 4, 4142),
    amop(10405, 6158, 4537, 3831, 4, 4035),
    amop(10406, 6158, 4537, 4537, 5, 4400),
    amop(10407, 6158, 4537, 3831, 5, 4399),
    amop(10408, 6158, 4537, 4537, 6, 4198),
    amop(10409, 6158, 4537, 3831, 6, 4180),
    amop(10410, 6158, 4537, 4537, 7, 2871),
    amop(10411, 6158, 4537, 3831, 7, 2870),
    amop(10412, 6158, 4537, 4537, 8, 2874),
    amop(10413, 6158, 4537, 3831, 8, 4540),
    amop(10414, 6158, 4537, 2283, 16, 2869),
    amop(10415, 6158, 4537, 4537, 18, 2860),
    amop(10501, 3550, 869, 869, 3, 3552),
    amop(10502, 3550, 869, 869, 18, 1201),
    amop(10503, 3550, 869, 869, 19, 1202),
    amop(10504, 3550, 869, 869, 20, 1203),
    amop(10505, 3550, 869, 869, 21, 1204),
    amop(10506, 3550, 869, 869, 22, 1205),
    amop(10507, 3550, 869, 869, 23, 1206),
    amop(10508, 3550, 869, 869, 24, 931),
    amop(10509, 3550, 869, 869, 25, 932),
    amop(10510, 3550, 869, 869, 26, 933),
    amop(10511, 3550, 869, 869, 27, 934),
    amop(10523, 4064, 17, 17, 1, 1957),
    amop(10524, 4064, 17, 17, 2, 1958),
    amop(10525, 4064, 17, 17, 3, 1955),
    amop(10526, 4064, 17, 17, 4, 1960),
    amop(10527, 4064, 17, 17, 5, 1959),
    amop(10528, 4578, 17, 17, 1, 1955),
    amop(10529, 4062, 18, 18, 1, 631),
    amop(10530, 4062, 18, 18, 2, 632),
    amop(10531, 4062, 18, 18, 3, 92),
    amop(10532, 4062, 18, 18, 4, 634),
    amop(10533, 4062, 18, 18, 5, 633),
    amop(10534, 4577, 18, 18, 1, 92),
    amop(10535, 4065, 19, 19, 1, 660),
    amop(10536, 4065, 19, 19, 2, 661),
    amop(10537, 4065, 19, 19, 3, 93),
    amop(10538, 4065, 19, 19, 4, 663),
    amop(10539, 4065, 19, 19, 5, 662),
    amop(10540, 4579, 19, 19, 1, 93),
    amop(10541, 4054, 20, 20, 1, 412),
    amop(10542, 4054, 20, 20, 2, 414),
    amop(10543, 4054, 20, 20, 3, 410),
    amop(10544, 4054, 20, 20, 4, 415),
    amop(10545, 4054, 20, 20, 5, 413),
    amop(10546, 4054, 20, 21, 1, 1870),
    amop(10547, 4054, 20, 21, 2, 1872),
    amop(10548, 4054, 20, 21, 3, 1868),
    amop(10549, 4054, 20, 21, 4, 1873),
    amop(10550, 4054, 20, 21, 5, 1871),
    amop(10551, 4054, 20, 23, 1, 418),
    amop(10552, 4054, 20, 23, 2, 420),
    amop(10553, 4054, 20, 23, 3, 416),
    amop(10554, 4054, 20, 23, 4, 430),
    amop(10555, 4054, 20, 23, 5, 419),
    amop(10556, 4054, 21, 21, 1, 95),
    amop(10557, 4054, 21, 21, 2, 522),
    amop(10558, 4054, 21, 21, 3, 94),
    amop(10559, 4054, 21, 21, 4, 524),
    amop(10560, 4054, 21, 21, 5, 520),
    amop(10561, 4054, 21, 20, 1, 1864),
    amop(10562, 4054, 21, 20, 2, 1866),
    amop(10563, 4054, 21, 20, 3, 1862),
    amop(10564, 4054, 21, 20, 4, 1867),
    amop(10565, 4054, 21, 20, 5, 1865),
    amop(10566, 4054, 21, 23, 1, 534),
    amop(10567, 4054, 21, 23, 2, 540),
    amop(10568, 4054, 21, 23, 3, 532),
    amop(10569, 4054, 21, 23, 4, 542),
    amop(10570, 4054, 21, 23, 5, 536),
    amop(10571, 4054, 23, 23, 1, 97),
    amop(10572, 4054, 23, 23, 2, 523),
    amop(10573, 4054, 23, 23, 3, 96),
    amop(10574, 4054, 23, 23, 4, 525),
    amop(10575, 4054, 23, 23, 5, 521),
    amop(10576, 4054, 23, 21, 1, 535),
    amop(10577, 4054, 23, 21, 2, 541),
    amop(10578, 4054, 23, 21, 3, 533),
    amop(10579, 4054, 23, 21, 4, 543),
    amop(10580, 4054, 23, 21, 5, 537),
    amop(10581, 4054, 23, 20, 1, 37),
    amop(10582, 4054, 23, 20, 2, 80),
    amop(10583, 4054, 23, 20, 3, 15),
    amop(10584, 4054, 23, 20, 4, 82),
    amop(10585, 4054, 23, 20, 5, 76),
    amop(10586, 4602, 20, 20, 1, 412),
    amop(10587, 4602, 20, 20, 2, 414),
    amop(10588, 4602, 20, 20, 3, 410),
    amop(10589, 4602, 20, 20, 4, 415),
    amop(10590, 4602, 20, 20, 5, 413),
    amop(10591, 4602, 20, 21, 1, 1870),
    amop(10592, 4602, 20, 21, 2, 1872),
    amop(10593, 4602, 20, 21, 3, 1868),
    amop(10594, 4602, 20, 21, 4, 1873),
    amop(10595, 4602, 20, 21, 5, 1871),
    amop(10596, 4602, 20, 23, 1, 418),
    amop(10597, 4602, 20, 23, 2, 420),
    amop(10598, 4602, 20, 23, 3, 416),
    amop(10599, 4602, 20, 23, 4, 430),
    amop(10600, 4602, 20, 23, 5, 419),
    amop(10601, 4602, 21, 21, 1, 95),
    amop(10602, 4602, 21, 21, 2, 522),
    amop(10603, 4602, 21, 21, 3, 94),
    amop(10604, 4602, 21, 21, 4, 524),
    amop(10605, 4602, 21, 21, 5, 520),
    amop(10606, 4602, 21, 20, 1, 1864),
    amop(10607, 4602, 21, 20, 2, 1866),
    amop(10608, 4602, 21, 20, 3, 1862),
    amop(10609, 4602, 21, 20, 4, 1867),
    amop(10610, 4602, 21, 20, 5, 1865),
    amop(10611, 4602, 21, 23, 1, 534),
    amop(10612, 4602, 21, 23, 2, 540),
    amop(10613, 4602, 21, 23, 3, 532),
    amop(10614, 4602, 21, 23, 4, 542),
    amop(10615, 4602, 21, 23, 5, 536),
    amop(10616, 4602, 23, 23, 1, 97),
    amop(10617, 4602, 23, 23, 2, 523),
    amop(10618, 4602, 23, 23, 3, 96),
    amop(10619, 4602, 23, 23, 4, 525),
    amop(10620, 4602, 23, 23, 5, 521),
    amop(10621, 4602, 23, 21, 1, 535),
    amop(10622, 4602, 23, 21, 2, 541),
    amop(10623, 4602, 23, 21, 3, 533),
    amop(10624, 4602, 23, 21, 4, 543),
    amop(10625, 4602, 23, 21, 5, 537),
    amop(10626, 4602, 23, 20, 1, 37),
    amop(10627, 4602, 23, 20, 2, 80),
    amop(10628, 4602, 23, 20, 3, 15),
    amop(10629, 4602, 23, 20, 4, 82),
    amop(10630, 4602, 23, 20, 5, 76),
    amop(10631, 4572, 20, 20, 1, 410),
    amop(10632, 4572, 21, 21, 1, 94),
    amop(10633, 4572, 23, 23, 1, 96),
    amop(10634, 4056, 25, 25, 1, 664),
    amop(10635, 4056, 25, 25, 2, 665),
    amop(10636, 4056, 25, 25, 3, 98),
    amop(10637, 4056, 25, 25, 4, 667),
    amop(10638, 4056, 25, 25, 5, 666),
    amop(10639, 4573, 25, 25, 1, 98),
    amop(10640, 4068, 26, 26, 1, 609),
    amop(10641, 4068, 26, 26, 2, 611),
    amop(10642, 4068, 26, 26, 3, 607),
    amop(10643, 4068, 26, 26, 4, 612),
    amop(10644, 4068, 26, 26, 5, 610),
    amop(10645, 4606, 26, 26, 1, 609),
    amop(10646, 4606, 26, 26, 2, 611),
    amop(10647, 4606, 26, 26, 3, 607),
    amop(10648, 4606, 26, 26, 4, 612),
    amop(10649, 4606, 26, 26, 5, 610),
    amop(10650, 4580, 26, 26, 1, 607),
    amop(10651, 4069, 27, 27, 1, 2799),
    amop(10652, 4069, 27, 27, 2, 2801),
    amop(10653, 4069, 27, 27, 3, 387),
    amop(10654, 4069, 27, 27, 4, 2802),
    amop(10655, 4069, 27, 27, 5, 2800),
    amop(10656, 4581, 27, 27, 1, 387),
    amop(10657, 4607, 27, 27, 1, 2799),
    amop(10658, 4607, 27, 27, 2, 2801),
    amop(10659, 4607, 27, 27, 3, 387),
    amop(10660, 4607, 27, 27, 4, 2802),
    amop(10661, 4607, 27, 27, 5, 2800),
    amop(10662, 4070, 700, 700, 1, 622),
    amop(10663, 4070, 700, 700, 2, 624),
    amop(10664, 4070, 700, 700, 3, 620),
    amop(10665, 4070, 700, 700, 4, 625),
    amop(10666, 4070, 700, 700, 5, 623),
    amop(10667, 4070, 700, 701, 1, 1122),
    amop(10668, 4070, 700, 701, 2, 1124),
    amop(10669, 4070, 700, 701, 3, 1120),
    amop(10670, 4070, 700, 701, 4, 1125),
    amop(10671, 4070, 700, 701, 5, 1123),
    amop(10672, 4070, 701, 700, 1, 1132),
    amop(10673, 4070, 701, 700, 2, 1134),
    amop(10674, 4070, 701, 700, 3, 1130),
    amop(10675, 4070, 701, 700, 4, 1135),
    amop(10676, 4070, 701, 700, 5, 1133),
    amop(10677, 4070, 701, 701, 1, 672),
    amop(10678, 4070, 701, 701, 2, 673),
    amop(10679, 4070, 701, 701, 3, 670),
    amop(10680, 4070, 701, 701, 4, 675),
    amop(10681, 4070, 701, 701, 5, 674),
    amop(10682, 4608, 700, 700, 1, 622),
    amop(10683, 4608, 700, 700, 2, 624),
    amop(10684, 4608, 700, 700, 3, 620),
    amop(10685, 4608, 700, 700, 4, 625),
    amop(10686, 4608, 700, 700, 5, 623),
    amop(10687, 4608, 700, 701, 1, 1122),
    amop(10688, 4608, 700, 701, 2, 1124),
    amop(10689, 4608, 700, 701, 3, 1120),
    amop(10690, 4608, 700, 701, 4, 1125),
    amop(10691, 4608, 700, 701, 5, 1123),
    amop(10692, 4608, 701, 700, 1, 1132),
    amop(10693, 4608, 701, 700, 2, 1134),
    amop(10694, 4608, 701, 700, 3, 1130),
    amop(10695, 4608, 701, 700, 4, 1135),
    amop(10696, 4608, 701, 700, 5, 1133),
    amop(10697, 4608, 701, 701, 1, 672),
    amop(10698, 4608, 701, 701, 2, 673),
    amop(10699, 4608, 701, 701, 3, 670),
    amop(10700, 4608, 701, 701, 4, 675),
    amop(10701, 4608, 701, 701, 5, 674),
    amop(10702, 4582, 700, 700, 1, 620),
    amop(10703, 4582, 701, 701, 1, 670),
    amop(10704, 4074, 829, 829, 1, 1222),
    amop(10705, 4074, 829, 829, 2, 1223),
    amop(10706, 4074, 829, 829, 3, 1220),
    amop(10707, 4074, 829, 829, 4, 1225),
    amop(10708, 4074, 829, 829, 5, 1224),
    amop(10709, 4609, 829, 829, 1, 1222),
    amop(10710, 4609, 829, 829, 2, 1223),
    amop(10711, 4609, 829, 829, 3, 1220),
    amop(10712, 4609, 829, 829, 4, 1225),
    amop(10713, 4609, 829, 829, 5, 1224),
    amop(10714, 4583, 829, 829, 1, 1220),
    amop(10715, 4109, 774, 774, 1, 3364),
    amop(10716, 4109, 774, 774, 2, 3365),
    amop(10717, 4109, 774, 774, 3, 3362),
    amop(10718, 4109, 774, 774, 4, 3367),
    amop(10719, 4109, 774, 774, 5, 3366),
    amop(10720, 4610, 774, 774, 1, 3364),
    amop(10721, 4610, 774, 774, 2, 3365),
    amop(10722, 4610, 774, 774, 3, 3362),
    amop(10723, 4610, 774, 774, 4, 3367),
    amop(10724, 4610, 774, 774, 5, 3366),
    amop(10725, 4584, 774, 774, 1, 3362),
    amop(10726, 4075, 869, 869, 1, 1203),
    amop(10727, 4075, 869, 869, 2, 1204),
    amop(10728, 4075, 869, 869, 3, 1201),
    amop(10729, 4075, 869, 869, 4, 1206),
    amop(10730, 4075, 869, 869, 5, 1205),
    amop(10731, 4611, 869, 869, 1, 1203),
    amop(10732, 4611, 869, 869, 2, 1204),
    amop(10733, 4611, 869, 869, 3, 1201),
    amop(10734, 4611, 869, 869, 4, 1206),
    amop(10735, 4611, 869, 869, 5, 1205),
    amop(10736, 4585, 869, 869, 1, 1201),
    amop(10737, 4102, 869, 869, 3, 3552),
    amop(10738, 4102, 869, 869, 7, 934),
    amop(10739, 4102, 869, 869, 8, 932),
    amop(10740, 4102, 869, 869, 18, 1201),
    amop(10741, 4102, 869, 869, 24, 933),
    amop(10742, 4102, 869, 869, 26, 931),
    amop(10743, 4076, 1042, 1042, 1, 1058),
    amop(10744, 4076, 1042, 1042, 2, 1059),
    amop(10745, 4076, 1042, 1042, 3, 1054),
    amop(10746, 4076, 1042, 1042, 4, 1061),
    amop(10747, 4076, 1042, 1042, 5, 1060),
    amop(10748, 4586, 1042, 1042, 1, 1054),
    amop(10749, 4077, 1083, 1083, 1, 1110),
    amop(10750, 4077, 1083, 1083, 2, 1111),
    amop(10751, 4077, 1083, 1083, 3, 1108),
    amop(10752, 4077, 1083, 1083, 4, 1113),
    amop(10753, 4077, 1083, 1083, 5, 1112),
    amop(10754, 4612, 1083, 1083, 1, 1110),
    amop(10755, 4612, 1083, 1083, 2, 1111),
    amop(10756, 4612, 1083, 1083, 3, 1108),
    amop(10757, 4612, 1083, 1083, 4, 1113),
    amop(10758, 4612, 1083, 1083, 5, 1112),
    amop(10759, 4587, 1083, 1083, 1, 1108),
    amop(10760, 4059, 1114, 1114, 1, 2062),
    amop(10761, 4059, 1114, 1114, 2, 2063),
    amop(10762, 4059, 1114, 1114, 3, 2060),
    amop(10763, 4059, 1114, 1114, 4, 2065),
    amop(10764, 4059, 1114, 1114, 5, 2064),
    amop(10765, 4059, 1114, 1082, 1, 2371),
    amop(10766, 4059, 1114, 1082, 2, 2372),
    amop(10767, 4059, 1114, 1082, 3, 2373),
    amop(10768, 4059, 1114, 1082, 4, 2374),
    amop(10769, 4059, 1114, 1082, 5, 2375),
    amop(10770, 4059, 1114, 1184, 1, 2534),
    amop(10771, 4059, 1114, 1184, 2, 2535),
    amop(10772, 4059, 1114, 1184, 3, 2536),
    amop(10773, 4059, 1114, 1184, 4, 2537),
    amop(10774, 4059, 1114, 1184, 5, 2538),
    amop(10775, 4059, 1082, 1082, 1, 1095),
    amop(10776, 4059, 1082, 1082, 2, 1096),
    amop(10777, 4059, 1082, 1082, 3, 1093),
    amop(10778, 4059, 1082, 1082, 4, 1098),
    amop(10779, 4059, 1082, 1082, 5, 1097),
    amop(10780, 4059, 1082, 1114, 1, 2345),
    amop(10781, 4059, 1082, 1114, 2, 2346),
    amop(10782, 4059, 1082, 1114, 3, 2347),
    amop(10783, 4059, 1082, 1114, 4, 2348),
    amop(10784, 4059, 1082, 1114, 5, 2349),
    amop(10785, 4059, 1082, 1184, 1, 2358),
    amop(10786, 4059, 1082, 1184, 2, 2359),
    amop(10787, 4059, 1082, 1184, 3, 2360),
    amop(10788, 4059, 1082, 1184, 4, 2361),
    amop(10789, 4059, 1082, 1184, 5, 2362),
    amop(10790, 4059, 1184, 1082, 1, 2384),
    amop(10791, 4059, 1184, 1082, 2, 2385),
    amop(10792, 4059, 1184, 1082, 3, 2386),
    amop(10793, 4059, 1184, 1082, 4, 2387),
    amop(10794, 4059, 1184, 1082, 5, 2388),
    amop(10795, 4059, 1184, 1114, 1, 2540),
    amop(10796, 4059, 1184, 1114, 2, 2541),
    amop(10797, 4059, 1184, 1114, 3, 2542),
    amop(10798, 4059, 1184, 1114, 4, 2543),
    amop(10799, 4059, 1184, 1114, 5, 2544),
    amop(10800, 4059, 1184, 1184, 1, 1322),
    amop(10801, 4059, 1184, 1184, 2, 1323),
    amop(10802, 4059, 1184, 1184, 3, 1320),
    amop(10803, 4059, 1184, 1184, 4, 1325),
    amop(10804, 4059, 1184, 1184, 5, 1324),
    amop(10805, 4605, 1114, 1114, 1, 2062),
    amop(10806, 4605, 1114, 1114, 2, 2063),
    amop(10807, 4605, 1114, 1114, 3, 2060),
    amop(10808, 4605, 1114, 1114, 4, 2065),
    amop(10809, 4605, 1114, 1114, 5, 2064),
    amop(10810, 4605, 1114, 1082, 1, 2371),
    amop(10811, 4605, 1114, 1082, 2, 2372),
    amop(10812, 4605, 1114, 1082, 3, 2373),
    amop(10813, 4605, 1114, 1082, 4, 2374),
    amop(10814, 4605, 1114, 1082, 5, 2375),
    amop(10815, 4605, 1114, 1184, 1, 2534),
    amop(10816, 4605, 1114, 1184, 2, 2535),
    amop(10817, 4605, 1114, 1184, 3, 2536),
    amop(10818, 4605, 1114, 1184, 4, 2537),
    amop(10819, 4605, 1114, 1184, 5, 2538),
    amop(10820, 4605, 1082, 1082, 1, 1095),
    amop(10821, 4605, 1082, 1082, 2, 1096),
    amop(10822, 4605, 1082, 1082, 3, 1093),
    amop(10823, 4605, 1082, 1082, 4, 1098),
    amop(10824, 4605, 1082, 1082, 5, 1097),
    amop(10825, 4605, 1082, 1114, 1, 2345),
    amop(10826, 4605, 1082, 1114, 2, 2346),
    amop(10827, 4605, 1082, 1114, 3, 2347),
    amop(10828, 4605, 1082, 1114, 4, 2348),
    amop(10829, 4605, 1082, 1114, 5, 2349),
    amop(10830, 4605, 1082, 1184, 1, 2358),
    amop(10831, 4605, 1082, 1184, 2, 2359),
    amop(10832, 4605, 1082, 1184, 3, 2360),
    amop(10833, 4605, 1082, 1184, 4, 2361),
    amop(10834, 4605, 1082, 1184, 5, 2362),
    amop(10835, 4605, 1184, 1082, 1, 2384),
    amop(10836, 4605, 1184, 1082, 2, 2385),
    amop(10837, 4605, 1184, 1082, 3, 2386),
    amop(10838, 4605, 1184, 1082, 4, 2387),
    amop(10839, 4605, 1184, 1082, 5, 2388),
    amop(10840, 4605, 1184, 1114, 1, 2540),
    amop(10841, 4605, 1184, 1114, 2, 2541),
    amop(10842, 4605, 1184, 1114, 3, 2542),
    amop(10843, 4605, 1184, 1114, 4, 2543),
    amop(10844, 4605, 1184, 1114, 5, 2544),
    amop(10845, 4605, 1184, 1184, 1, 1322),
    amop(10846, 4605, 1184, 1184, 2, 1323),
    amop(10847, 4605, 1184, 1184, 3, 1320),
    amop(10848, 4605, 1184, 1184, 4, 1325),
    amop(10849, 4605, 1184, 1184, 5, 1324),
    amop(10850, 4576, 1114, 1114, 1, 2060),
    amop(10851, 4576, 1082, 1082, 1, 1093),
    amop(10852, 4576, 1184, 1184, 1, 1320),
    amop(10853, 4078, 1186, 1186, 1, 1332),
    amop(10854, 4078, 1186, 1186, 2, 1333),
    amop(10855, 4078, 1186, 1186, 3, 1330),
    amop(10856, 4078, 1186, 1186, 4, 1335),
    amop(10857, 4078, 1186, 1186, 5, 1334),
    amop(10858, 4613, 1186, 1186, 1, 1332),
    amop(10859, 4613, 1186, 1186, 2, 1333),
    amop(10860, 4613, 1186, 1186, 3, 1330),
    amop(10861, 4613, 1186, 1186, 4, 1335),
    amop(10862, 4613, 1186, 1186, 5, 1334),
    amop(10863, 4588, 1186, 1186, 1, 1330),
    amop(10864, 4058, 1266, 1266, 1, 1552),
    amop(10865, 4058, 1266, 1266, 2, 1553),
    amop(10866, 4058, 1266, 1266, 3, 1550),
    amop(10867, 4058, 1266, 1266, 4, 1555),
    amop(10868, 4058, 1266, 1266, 5, 1554),
    amop(10869, 4604, 1266, 1266, 1, 1552),
    amop(10870, 4604, 1266, 1266, 2, 1553),
    amop(10871, 4604, 1266, 1266, 3, 1550),
    amop(10872, 4604, 1266, 1266, 4, 1555),
    amop(10873, 4604, 1266, 1266, 5, 1554),
    amop(10874, 4575, 1266, 1266, 1, 1550),
    amop(10875, 4079, 1560, 1560, 1, 1786),
    amop(10876, 4079, 1560, 1560, 2, 1788),
    amop(10877, 4079, 1560, 1560, 3, 1784),
    amop(10878, 4079, 1560, 1560, 4, 1789),
    amop(10879, 4079, 1560, 1560, 5, 1787),
    amop(10880, 4080, 1562, 1562, 1, 1806),
    amop(10881, 4080, 1562, 1562, 2, 1808),
    amop(10882, 4080, 1562, 1562, 3, 1804),
    amop(10883, 4080, 1562, 1562, 4, 1809),
    amop(10884, 4080, 1562, 1562, 5, 1807),
    amop(10885, 4055, 1700, 1700, 1, 1754),
    amop(10886, 4055, 1700, 1700, 2, 1755),
    amop(10887, 4055, 1700, 1700, 3, 1752),
    amop(10888, 4055, 1700, 1700, 4, 1757),
    amop(10889, 4055, 1700, 1700, 5, 1756),
    amop(10890, 4603, 1700, 1700, 1, 1754),
    amop(10891, 4603, 1700, 1700, 2, 1755),
    amop(10892, 4603, 1700, 1700, 3, 1752),
    amop(10893, 4603, 1700, 1700, 4, 1757),
    amop(10894, 4603, 1700, 1700, 5, 1756),
    amop(10895, 4574, 1700, 1700, 1, 1752),
    amop(10896, 4081, 2950, 2950, 1, 2974),
    amop(10897, 4081, 2950, 2950, 2, 2976),
    amop(10898, 4081, 2950, 2950, 3, 2972),
    amop(10899, 4081, 2950, 2950, 4, 2977),
    amop(10900, 4081, 2950, 2950, 5, 2975),
    amop(10901, 4614, 2950, 2950, 1, 2974),
    amop(10902, 4614, 2950, 2950, 2, 2976),
    amop(10903, 4614, 2950, 2950, 3, 2972),
    amop(10904, 4614, 2950, 2950, 4, 2977),
    amop(10905, 4614, 2950, 2950, 5, 2975),
    amop(10906, 4589, 2950, 2950, 1, 2972),
    amop(10907, 4103, 3831, 3831, 1, 3893),
    amop(10908, 4103, 3831, 3831, 2, 3895),
    amop(10909, 4103, 3831, 3831, 3, 3888),
    amop(10910, 4103, 3831, 3831, 4, 3896),
    amop(10911, 4103, 3831, 3831, 5, 3894),
    amop(10912, 4103, 3831, 3831, 7, 3890),
    amop(10913, 4103, 3831, 3831, 8, 3892),
    amop(10914, 4103, 3831, 2283, 16, 3889),
    amop(10915, 4103, 3831, 3831, 17, 3897),
    amop(10916, 4103, 3831, 3831, 18, 3882),
    amop(10917, 4103, 3831, 3831, 20, 3884),
    amop(10918, 4103, 3831, 3831, 21, 3885),
    amop(10919, 4103, 3831, 3831, 22, 3887),
    amop(10920, 4103, 3831, 3831, 23, 3886),
    amop(10921, 4082, 3220, 3220, 1, 3224),
    amop(10922, 4082, 3220, 3220, 2, 3226),
    amop(10923, 4082, 3220, 3220, 3, 3222),
    amop(10924, 4082, 3220, 3220, 4, 3227),
    amop(10925, 4082, 3220, 3220, 5, 3225),
    amop(10926, 4615, 3220, 3220, 1, 3224),
    amop(10927, 4615, 3220, 3220, 2, 3226),
    amop(10928, 4615, 3220, 3220, 3, 3222),
    amop(10929, 4615, 3220, 3220, 4, 3227),
    amop(10930, 4615, 3220, 3220, 5, 3225),
    amop(10931, 4590, 3220, 3220, 1, 3222),
    amop(10932, 4104, 603, 603, 1, 493),
    amop(10933, 4104, 603, 603, 2, 494),
    amop(10934, 4104, 603, 603, 3, 500),
    amop(10935, 4104, 603, 603, 4, 495),
    amop(10936, 4104, 603, 603, 5, 496),
    amop(10937, 4104, 603, 603, 6, 499),
    amop(10938, 4104, 603, 603, 7, 498),
    amop(10939, 4104, 603, 603, 8, 497),
    amop(10940, 4104, 603, 603, 9, 2571),
    amop(10941, 4104, 603, 603, 10, 2570),
    amop(10942, 4104, 603, 603, 11, 2573),
    amop(10943, 4104, 603, 603, 12, 2572),
    amop(10944, 4104, 603, 600, 7, 433),
    amop(10422, 4015, 600, 600, 11, 4161), // point, point
    amop(10423, 4015, 600, 600, 30, 506), // point, point
    amop(10424, 4015, 600, 600, 1, 507), // point, point
    amop(10425, 4015, 600, 600, 5, 508), // point, point
    amop(10426, 4015, 600, 600, 10, 4162), // point, point
    amop(10427, 4015, 600, 600, 29, 509), // point, point
    amop(10428, 4015, 600, 600, 6, 510), // point, point
    amop(10429, 4015, 600, 603, 8, 511), // point, box
    amop_order(10430, 4015, 600, 600, 15, 517, 1970), // point, point
    amop(10431, 4016, 600, 600, 11, 4161), // point, point
    amop(10432, 4016, 600, 600, 30, 506), // point, point
    amop(10433, 4016, 600, 600, 1, 507), // point, point
    amop(10434, 4016, 600, 600, 5, 508), // point, point
    amop(10435, 4016, 600, 600, 10, 4162), // point, point
    amop(10436, 4016, 600, 600, 29, 509), // point, point
    amop(10437, 4016, 600, 600, 6, 510), // point, point
    amop(10438, 4016, 600, 603, 8, 511), // point, box
    amop_order(10439, 4016, 600, 600, 15, 517, 1970), // point, point
    amop(10440, 4017, 25, 25, 1, 2314), // text, text
    amop(10441, 4017, 25, 25, 2, 2315), // text, text
    amop(10442, 4017, 25, 25, 3, 98), // text, text
    amop(10443, 4017, 25, 25, 4, 2317), // text, text
    amop(10444, 4017, 25, 25, 5, 2318), // text, text
    amop(10445, 4017, 25, 25, 11, 664), // text, text
    amop(10446, 4017, 25, 25, 12, 665), // text, text
    amop(10447, 4017, 25, 25, 14, 667), // text, text
    amop(10448, 4017, 25, 25, 15, 666), // text, text
    amop(10449, 4017, 25, 25, 28, 3877), // text, text
    amop(10465, 3474, 3831, 3831, 1, 3893), // anyrange, anyrange
    amop(10466, 3474, 3831, 3831, 2, 3895), // anyrange, anyrange
    amop(10467, 3474, 3831, 3831, 3, 3888), // anyrange, anyrange
    amop(10468, 3474, 3831, 3831, 4, 3896), // anyrange, anyrange
    amop(10469, 3474, 3831, 3831, 5, 3894), // anyrange, anyrange
    amop(10470, 3474, 3831, 3831, 6, 3897), // anyrange, anyrange
    amop(10471, 3474, 3831, 3831, 7, 3890), // anyrange, anyrange
    amop(10472, 3474, 3831, 3831, 8, 3892), // anyrange, anyrange
    amop(10473, 3474, 3831, 2283, 16, 3889), // anyrange, anyelement
    amop(10474, 3474, 3831, 3831, 18, 3882), // anyrange, anyrange
    amop(10475, 5000, 603, 603, 1, 493), // box, box
    amop(10476, 5000, 603, 603, 2, 494), // box, box
    amop(10477, 5000, 603, 603, 3, 500), // box, box
    amop(10478, 5000, 603, 603, 4, 495), // box, box
    amop(10479, 5000, 603, 603, 5, 496), // box, box
    amop(10480, 5000, 603, 603, 6, 499), // box, box
    amop(10481, 5000, 603, 603, 7, 498), // box, box
    amop(10482, 5000, 603, 603, 8, 497), // box, box
    amop(10483, 5000, 603, 603, 9, 2571), // box, box
    amop(10484, 5000, 603, 603, 10, 2570), // box, box
    amop(10485, 5000, 603, 603, 11, 2573), // box, box
    amop(10486, 5000, 603, 603, 12, 2572), // box, box
    amop_order(10487, 5000, 603, 600, 15, 606, 1970), // box, point
    amop(10488, 5008, 604, 604, 1, 485), // polygon, polygon
    amop(10489, 5008, 604, 604, 2, 486), // polygon, polygon
    amop(10490, 5008, 604, 604, 3, 492), // polygon, polygon
    amop(10491, 5008, 604, 604, 4, 487), // polygon, polygon
    amop(10492, 5008, 604, 604, 5, 488), // polygon, polygon
    amop(10493, 5008, 604, 604, 6, 491), // polygon, polygon
    amop(10494, 5008, 604, 604, 7, 490), // polygon, polygon
    amop(10495, 5008, 604, 604, 8, 489), // polygon, polygon
    amop(10496, 5008, 604, 604, 9, 2575), // polygon, polygon
    amop(10497, 5008, 604, 604, 10, 2574), // polygon, polygon
    amop(10498, 5008, 604, 604, 11, 2577), // polygon, polygon
    amop(10499, 5008, 604, 604, 12, 2576), // polygon, polygon
    amop_order(10500, 5008, 604, 600, 15, 3289, 1970), // polygon, point
    amop(10512, 3794, 869, 869, 3, 3552), // inet, inet
    amop(10513, 3794, 869, 869, 18, 1201), // inet, inet
    amop(10514, 3794, 869, 869, 19, 1202), // inet, inet
    amop(10515, 3794, 869, 869, 20, 1203), // inet, inet
    amop(10516, 3794, 869, 869, 21, 1204), // inet, inet
    amop(10517, 3794, 869, 869, 22, 1205), // inet, inet
    amop(10518, 3794, 869, 869, 23, 1206), // inet, inet
    amop(10519, 3794, 869, 869, 24, 931), // inet, inet
    amop(10520, 3794, 869, 869, 25, 932), // inet, inet
    amop(10521, 3794, 869, 869, 26, 933), // inet, inet
    amop(10522, 3794, 869, 869, 27, 934), // inet, inet
];

/// Every support function of a family: OID, family, left, right, number, function.
#[rustfmt::skip]
pub static AMPROCS: &[AmProc] = &[
    amproc(10000, 397, 2277, 2277, 1, 382), // anyarray, anyarray
    amproc(10003, 424, 16, 16, 1, 1693), // bool, bool
    amproc(10005, 424, 16, 16, 4, 5051), // bool, bool
    amproc(10004, 424, 16, 16, 6, 6408), // bool, bool
    amproc(10006, 426, 1042, 1042, 1, 1078), // bpchar, bpchar
    amproc(10007, 426, 1042, 1042, 2, 3328), // bpchar, bpchar
    amproc(10008, 426, 1042, 1042, 4, 5050), // bpchar, bpchar
    amproc(10124, 3626, 3614, 3614, 1, 3622), // tsvector, tsvector
    amproc(10125, 3683, 3615, 3615, 1, 3668), // tsquery, tsquery
    amproc(10132, 427, 1042, 1042, 1, 1080), // bpchar, bpchar
    amproc(10133, 427, 1042, 1042, 2, 972), // bpchar, bpchar
    amproc(10009, 428, 17, 17, 1, 1954), // bytea, bytea
    amproc(10010, 428, 17, 17, 2, 3331), // bytea, bytea
    amproc(10011, 428, 17, 17, 4, 5051), // bytea, bytea
    amproc(10012, 429, 18, 18, 1, 358), // char, char
    amproc(10013, 429, 18, 18, 4, 5051), // char, char
    amproc(10014, 429, 18, 18, 6, 6406), // char, char
    amproc(10134, 431, 18, 18, 1, 454), // char, char
    amproc(10135, 431, 18, 18, 2, 446), // char, char
    amproc(10015, 434, 1082, 1082, 1, 1092), // date, date
    amproc(10016, 434, 1082, 1082, 2, 3136), // date, date
    amproc(10017, 434, 1082, 1082, 4, 5051), // date, date
    amproc(10018, 434, 1082, 1082, 6, 6407), // date, date
    amproc(10019, 434, 1082, 1114, 1, 2344), // date, timestamp
    amproc(10020, 434, 1082, 1184, 1, 2357), // date, timestamptz
    amproc(10033, 434, 1082, 1186, 3, 4133), // date, interval
    amproc(10025, 434, 1114, 1082, 1, 2370), // timestamp, date
    amproc(10021, 434, 1114, 1114, 1, 2045), // timestamp, timestamp
    amproc(10022, 434, 1114, 1114, 2, 3137), // timestamp, timestamp
    amproc(10023, 434, 1114, 1114, 4, 5051), // timestamp, timestamp
    amproc(10024, 434, 1114, 1114, 6, 6409), // timestamp, timestamp
    amproc(10026, 434, 1114, 1184, 1, 2526), // timestamp, timestamptz
    amproc(10034, 434, 1114, 1186, 3, 4134), // timestamp, interval
    amproc(10031, 434, 1184, 1082, 1, 2383), // timestamptz, date
    amproc(10032, 434, 1184, 1114, 1, 2533), // timestamptz, timestamp
    amproc(10027, 434, 1184, 1184, 1, 1314), // timestamptz, timestamptz
    amproc(10028, 434, 1184, 1184, 2, 3137), // timestamptz, timestamptz
    amproc(10029, 434, 1184, 1184, 4, 5051), // timestamptz, timestamptz
    amproc(10030, 434, 1184, 1184, 6, 6409), // timestamptz, timestamptz
    amproc(10035, 434, 1184, 1186, 3, 4135), // timestamptz, interval
    amproc(10136, 435, 1082, 1082, 1, 6415), // date, date
    amproc(10137, 435, 1082, 1082, 2, 6416), // date, date
    amproc(10138, 627, 2277, 2277, 1, 626), // anyarray, anyarray
    amproc(10139, 627, 2277, 2277, 2, 782), // anyarray, anyarray
    amproc(10036, 1970, 700, 700, 1, 354), // float4, float4
    amproc(10037, 1970, 700, 700, 2, 3132), // float4, float4
    amproc(10038, 1970, 700, 701, 1, 2194), // float4, float8
    amproc(10043, 1970, 700, 701, 3, 4140), // float4, float8
    amproc(10041, 1970, 701, 700, 1, 2195), // float8, float4
    amproc(10039, 1970, 701, 701, 1, 355), // float8, float8
    amproc(10040, 1970, 701, 701, 2, 3133), // float8, float8
    amproc(10042, 1970, 701, 701, 3, 4139), // float8, float8
    amproc(10140, 1971, 700, 700, 1, 451), // float4, float4
    amproc(10141, 1971, 700, 700, 2, 443), // float4, float4
    amproc(10142, 1971, 701, 701, 1, 452), // float8, float8
    amproc(10143, 1971, 701, 701, 2, 444), // float8, float8
    amproc(10044, 1974, 869, 869, 1, 926), // inet, inet
    amproc(10045, 1974, 869, 869, 2, 5033), // inet, inet
    amproc(10046, 1974, 869, 869, 4, 5051), // inet, inet
    amproc(10144, 1975, 869, 869, 1, 422), // inet, inet
    amproc(10145, 1975, 869, 869, 2, 779), // inet, inet
    amproc(10065, 1976, 20, 20, 1, 842), // int8, int8
    amproc(10066, 1976, 20, 20, 2, 3131), // int8, int8
    amproc(10071, 1976, 20, 20, 3, 4126), // int8, int8
    amproc(10067, 1976, 20, 20, 4, 5051), // int8, int8
    amproc(10068, 1976, 20, 20, 6, 6404), // int8, int8
    amproc(10070, 1976, 20, 21, 1, 2193), // int8, int2
    amproc(10069, 1976, 20, 23, 1, 2189), // int8, int4
    amproc(10052, 1976, 21, 20, 1, 2192), // int2, int8
    amproc(10053, 1976, 21, 20, 3, 4130), // int2, int8
    amproc(10047, 1976, 21, 21, 1, 350), // int2, int2
    amproc(10048, 1976, 21, 21, 2, 3129), // int2, int2
    amproc(10055, 1976, 21, 21, 3, 4132), // int2, int2
    amproc(10049, 1976, 21, 21, 4, 5051), // int2, int2
    amproc(10050, 1976, 21, 21, 6, 6402), // int2, int2
    amproc(10051, 1976, 21, 23, 1, 2190), // int2, int4
    amproc(10054, 1976, 21, 23, 3, 4131), // int2, int4
    amproc(10060, 1976, 23, 20, 1, 2188), // int4, int8
    amproc(10062, 1976, 23, 20, 3, 4127), // int4, int8
    amproc(10061, 1976, 23, 21, 1, 2191), // int4, int2
    amproc(10064, 1976, 23, 21, 3, 4129), // int4, int2
    amproc(10056, 1976, 23, 23, 1, 351), // int4, int4
    amproc(10057, 1976, 23, 23, 2, 3130), // int4, int4
    amproc(10063, 1976, 23, 23, 3, 4128), // int4, int4
    amproc(10058, 1976, 23, 23, 4, 5051), // int4, int4
    amproc(10059, 1976, 23, 23, 6, 6403), // int4, int4
    amproc(10150, 1977, 20, 20, 1, 949), // int8, int8
    amproc(10151, 1977, 20, 20, 2, 442), // int8, int8
    amproc(10146, 1977, 21, 21, 1, 449), // int2, int2
    amproc(10147, 1977, 21, 21, 2, 441), // int2, int2
    amproc(10148, 1977, 23, 23, 1, 450), // int4, int4
    amproc(10149, 1977, 23, 23, 2, 425), // int4, int4
    amproc(10072, 1982, 1186, 1186, 1, 1315), // interval, interval
    amproc(10073, 1982, 1186, 1186, 3, 4136), // interval, interval
    amproc(10152, 1983, 1186, 1186, 1, 1697), // interval, interval
    amproc(10153, 1983, 1186, 1186, 2, 3418), // interval, interval
    amproc(10074, 1984, 829, 829, 1, 836), // macaddr, macaddr
    amproc(10075, 1984, 829, 829, 2, 3359), // macaddr, macaddr
    amproc(10076, 1984, 829, 829, 4, 5051), // macaddr, macaddr
    amproc(10154, 1985, 829, 829, 1, 399), // macaddr, macaddr
    amproc(10155, 1985, 829, 829, 2, 778), // macaddr, macaddr
    amproc(10077, 1988, 1700, 1700, 1, 1769), // numeric, numeric
    amproc(10078, 1988, 1700, 1700, 2, 3283), // numeric, numeric
    amproc(10079, 1988, 1700, 1700, 3, 4141), // numeric, numeric
    amproc(10080, 1989, 26, 26, 1, 356), // oid, oid
    amproc(10081, 1989, 26, 26, 2, 3134), // oid, oid
    amproc(10082, 1989, 26, 26, 4, 5051), // oid, oid
    amproc(10083, 1989, 26, 26, 6, 6405), // oid, oid
    amproc(10156, 1990, 26, 26, 1, 453), // oid, oid
    amproc(10157, 1990, 26, 26, 2, 445), // oid, oid
    amproc(10084, 1991, 30, 30, 1, 404), // oidvector, oidvector
    amproc(10085, 1991, 30, 30, 4, 5051), // oidvector, oidvector
    amproc(10158, 1992, 30, 30, 1, 457), // oidvector, oidvector
    amproc(10159, 1992, 30, 30, 2, 776), // oidvector, oidvector
    amproc(10089, 1994, 19, 19, 1, 359), // name, name
    amproc(10090, 1994, 19, 19, 2, 3135), // name, name
    amproc(10091, 1994, 19, 19, 4, 5050), // name, name
    amproc(10092, 1994, 19, 25, 1, 246), // name, text
    amproc(10093, 1994, 25, 19, 1, 253), // text, name
    amproc(10086, 1994, 25, 25, 1, 360), // text, text
    amproc(10087, 1994, 25, 25, 2, 3255), // text, text
    amproc(10088, 1994, 25, 25, 4, 5050), // text, text
    amproc(10162, 1995, 19, 19, 1, 455), // name, name
    amproc(10163, 1995, 19, 19, 2, 447), // name, name
    amproc(10160, 1995, 25, 25, 1, 400), // text, text
    amproc(10161, 1995, 25, 25, 2, 448), // text, text
    amproc(10094, 1996, 1083, 1083, 1, 1107), // time, time
    amproc(10095, 1996, 1083, 1083, 4, 5051), // time, time
    amproc(10096, 1996, 1083, 1186, 3, 4137), // time, interval
    amproc(10164, 1997, 1083, 1083, 1, 1688), // time, time
    amproc(10165, 1997, 1083, 1083, 2, 3409), // time, time
    amproc(10166, 1998, 1700, 1700, 1, 432), // numeric, numeric
    amproc(10167, 1998, 1700, 1700, 2, 780), // numeric, numeric
    amproc(10168, 1999, 1184, 1184, 1, 6425), // timestamptz, timestamptz
    amproc(10169, 1999, 1184, 1184, 2, 6426), // timestamptz, timestamptz
    amproc(10099, 2000, 1266, 1186, 3, 4138), // timetz, interval
    amproc(10097, 2000, 1266, 1266, 1, 1358), // timetz, timetz
    amproc(10098, 2000, 1266, 1266, 4, 5051), // timetz, timetz
    amproc(10170, 2001, 1266, 1266, 1, 1696), // timetz, timetz
    amproc(10171, 2001, 1266, 1266, 2, 3410), // timetz, timetz
    amproc(10172, 2040, 1114, 1114, 1, 2039), // timestamp, timestamp
    amproc(10173, 2040, 1114, 1114, 2, 3411), // timestamp, timestamp
    amproc(10102, 2095, 25, 25, 1, 2166), // text, text
    amproc(10103, 2095, 25, 25, 2, 3332), // text, text
    amproc(10104, 2095, 25, 25, 4, 5051), // text, text
    amproc(10105, 2097, 1042, 1042, 1, 2180), // bpchar, bpchar
    amproc(10106, 2097, 1042, 1042, 2, 3333), // bpchar, bpchar
    amproc(10107, 2097, 1042, 1042, 4, 5051), // bpchar, bpchar
    amproc(10174, 2222, 16, 16, 1, 6417), // bool, bool
    amproc(10175, 2222, 16, 16, 2, 6418), // bool, bool
    amproc(10176, 2223, 17, 17, 1, 6413), // bytea, bytea
    amproc(10177, 2223, 17, 17, 2, 6414), // bytea, bytea
    amproc(10178, 2225, 28, 28, 1, 6419), // xid, xid
    amproc(10179, 2225, 28, 28, 2, 6420), // xid, xid
    amproc(10182, 2226, 29, 29, 1, 6423), // cid, cid
    amproc(10183, 2226, 29, 29, 2, 6424), // cid, cid
    amproc(10184, 2227, 27, 27, 1, 2233), // tid, tid
    amproc(10185, 2227, 27, 27, 2, 2234), // tid, tid
    amproc(10186, 2229, 25, 25, 1, 400), // text, text
    amproc(10187, 2229, 25, 25, 2, 448), // text, text
    amproc(10188, 2231, 1042, 1042, 1, 1080), // bpchar, bpchar
    amproc(10189, 2231, 1042, 1042, 2, 972), // bpchar, bpchar
    amproc(10110, 2789, 27, 27, 1, 2794), // tid, tid
    amproc(10111, 2789, 27, 27, 4, 5051), // tid, tid
    amproc(10112, 2968, 2950, 2950, 1, 2960), // uuid, uuid
    amproc(10113, 2968, 2950, 2950, 2, 3300), // uuid, uuid
    amproc(10114, 2968, 2950, 2950, 4, 5051), // uuid, uuid
    amproc(10115, 2968, 2950, 2950, 6, 6410), // uuid, uuid
    amproc(10192, 2969, 2950, 2950, 1, 2963), // uuid, uuid
    amproc(10193, 2969, 2950, 2950, 2, 3412), // uuid, uuid
    amproc(10118, 3253, 3220, 3220, 1, 3251), // pg_lsn, pg_lsn
    amproc(10119, 3253, 3220, 3220, 4, 5051), // pg_lsn, pg_lsn
    amproc(10196, 3254, 3220, 3220, 1, 3252), // pg_lsn, pg_lsn
    amproc(10197, 3254, 3220, 3220, 2, 3413), // pg_lsn, pg_lsn
    amproc(10120, 3371, 774, 774, 1, 4119), // macaddr8, macaddr8
    amproc(10121, 3371, 774, 774, 4, 5051), // macaddr8, macaddr8
    amproc(10198, 3372, 774, 774, 1, 328), // macaddr8, macaddr8
    amproc(10199, 3372, 774, 774, 2, 781), // macaddr8, macaddr8
    amproc(10276, 2745, 2277, 2277, 2, 2743), // anyarray, anyarray
    amproc(10277, 2745, 2277, 2277, 3, 2774), // anyarray, anyarray
    amproc(10278, 2745, 2277, 2277, 4, 2744), // anyarray, anyarray
    amproc(10279, 2745, 2277, 2277, 6, 3920), // anyarray, anyarray
    amproc(10240, 3655, 3614, 3614, 1, 3654), // tsvector, tsvector
    amproc(10241, 3655, 3614, 3614, 2, 3651), // tsvector, tsvector
    amproc(10242, 3655, 3614, 3614, 3, 3648), // tsvector, tsvector
    amproc(10243, 3655, 3614, 3614, 4, 3649), // tsvector, tsvector
    amproc(10244, 3655, 3614, 3614, 5, 3653), // tsvector, tsvector
    amproc(10245, 3655, 3614, 3614, 6, 3650), // tsvector, tsvector
    amproc(10246, 3655, 3614, 3614, 7, 3652), // tsvector, tsvector
    amproc(10247, 3655, 3614, 3614, 10, 3434), // tsvector, tsvector
    amproc(10248, 3702, 3615, 3615, 1, 3701), // tsquery, tsquery
    amproc(10249, 3702, 3615, 3615, 2, 3698), // tsquery, tsquery
    amproc(10250, 3702, 3615, 3615, 3, 3695), // tsquery, tsquery
    amproc(10251, 3702, 3615, 3615, 5, 3700), // tsquery, tsquery
    amproc(10252, 3702, 3615, 3615, 6, 3697), // tsquery, tsquery
    amproc(10253, 3702, 3615, 3615, 7, 3699), // tsquery, tsquery
    amproc(10280, 3659, 3614, 3614, 1, 3724), // tsvector, tsvector
    amproc(10281, 3659, 3614, 3614, 2, 3656), // tsvector, tsvector
    amproc(10282, 3659, 3614, 3614, 3, 3657), // tsvector, tsvector
    amproc(10283, 3659, 3614, 3614, 4, 3658), // tsvector, tsvector
    amproc(10284, 3659, 3614, 3614, 5, 2700), // tsvector, tsvector
    amproc(10285, 3659, 3614, 3614, 6, 3921), // tsvector, tsvector
    amproc(10286, 4036, 3802, 3802, 1, 3480), // jsonb, jsonb
    amproc(10287, 4036, 3802, 3802, 2, 3482), // jsonb, jsonb
    amproc(10288, 4036, 3802, 3802, 3, 3483), // jsonb, jsonb
    amproc(10289, 4036, 3802, 3802, 4, 3484), // jsonb, jsonb
    amproc(10290, 4036, 3802, 3802, 6, 3488), // jsonb, jsonb
    amproc(10291, 4037, 3802, 3802, 1, 351), // jsonb, jsonb
    amproc(10292, 4037, 3802, 3802, 2, 3485), // jsonb, jsonb
    amproc(10293, 4037, 3802, 3802, 3, 3486), // jsonb, jsonb
    amproc(10294, 4037, 3802, 3802, 4, 3487), // jsonb, jsonb
    amproc(10295, 4037, 3802, 3802, 6, 3489), // jsonb, jsonb
    amproc(10129, 4033, 3802, 3802, 1, 4044), // jsonb, jsonb
    amproc(10206, 4034, 3802, 3802, 1, 4045), // jsonb, jsonb
    amproc(10207, 4034, 3802, 3802, 2, 3416), // jsonb, jsonb
    amproc(10180, 5032, 5069, 5069, 1, 6421), // xid8, xid8
    amproc(10181, 5032, 5069, 5069, 2, 6422), // xid8, xid8
    amproc(10130, 5067, 5069, 5069, 1, 5096), // xid8, xid8
    amproc(10131, 5067, 5069, 5069, 4, 5051), // xid8, xid8
    amproc(10116, 2994, 2249, 2249, 1, 2987), // record, record
    amproc(10117, 3194, 2249, 2249, 1, 3187), // record, record
    amproc(10122, 3522, 3500, 3500, 1, 3514), // anyenum, anyenum
    amproc(10194, 6194, 2249, 2249, 1, 6192), // record, record
    amproc(10195, 6194, 2249, 2249, 2, 6193), // record, record
    amproc(10200, 3523, 3500, 3500, 1, 3515), // anyenum, anyenum
    amproc(10201, 3523, 3500, 3500, 2, 3414), // anyenum, anyenum
    amproc(10001, 423, 1560, 1560, 1, 1596), // bit, bit
    amproc(10002, 423, 1560, 1560, 4, 5051), // bit, bit
    amproc(10100, 2002, 1562, 1562, 1, 1672), // varbit, varbit
    amproc(10101, 2002, 1562, 1562, 4, 5051), // varbit, varbit
    amproc(10108, 2099, 790, 790, 1, 377), // money, money
    amproc(10109, 2099, 790, 790, 4, 5051), // money, money
    amproc(10126, 3901, 3831, 3831, 1, 3870), // anyrange, anyrange
    amproc(10127, 3901, 3831, 3831, 2, 6391), // anyrange, anyrange
    amproc(10202, 3903, 3831, 3831, 1, 3902), // anyrange, anyrange
    amproc(10203, 3903, 3831, 3831, 2, 3417), // anyrange, anyrange
    amproc(10128, 4199, 4537, 4537, 1, 4273), // anymultirange, anymultirange
    amproc(10204, 4225, 4537, 4537, 1, 4278), // anymultirange, anymultirange
    amproc(10205, 4225, 4537, 4537, 2, 4279), // anymultirange, anymultirange
    amproc(9988, 9992, 9960, 9960, 1, 9967), // folded, folded
    amproc(9989, 9993, 9960, 9960, 1, 9968), // folded, folded
    amproc(10208, 1029, 600, 600, 1, 2179),
    amproc(10209, 1029, 600, 600, 2, 2583),
    amproc(10210, 1029, 600, 600, 3, 1030),
    amproc(10211, 1029, 600, 600, 5, 2581),
    amproc(10212, 1029, 600, 600, 6, 2582),
    amproc(10213, 1029, 600, 600, 7, 2584),
    amproc(10214, 1029, 600, 600, 8, 3064),
    amproc(10215, 1029, 600, 600, 9, 3282),
    amproc(10216, 1029, 600, 600, 11, 3435),
    amproc(10217, 2593, 603, 603, 1, 2578),
    amproc(10218, 2593, 603, 603, 2, 2583),
    amproc(10219, 2593, 603, 603, 5, 2581),
    amproc(10220, 2593, 603, 603, 6, 2582),
    amproc(10221, 2593, 603, 603, 7, 2584),
    amproc(10222, 2593, 603, 603, 8, 3998),
    amproc(10223, 2593, 2276, 2276, 12, 6347),
    amproc(10224, 2594, 604, 604, 1, 2585),
    amproc(10225, 2594, 604, 604, 2, 2583),
    amproc(10226, 2594, 604, 604, 3, 2586),
    amproc(10227, 2594, 604, 604, 5, 2581),
    amproc(10228, 2594, 604, 604, 6, 2582),
    amproc(10229, 2594, 604, 604, 7, 2584),
    amproc(10230, 2594, 604, 604, 8, 3288),
    amproc(10231, 2594, 2276, 2276, 12, 6347),
    amproc(10232, 2595, 718, 718, 1, 2591),
    amproc(10233, 2595, 718, 718, 2, 2583),
    amproc(10234, 2595, 718, 718, 3, 2592),
    amproc(10235, 2595, 718, 718, 5, 2581),
    amproc(10236, 2595, 718, 718, 6, 2582),
    amproc(10237, 2595, 718, 718, 7, 2584),
    amproc(10238, 2595, 718, 718, 8, 3280),
    amproc(10239, 2595, 2276, 2276, 12, 6347),
    amproc(10254, 3919, 3831, 3831, 1, 3875),
    amproc(10255, 3919, 3831, 3831, 2, 3876),
    amproc(10256, 3919, 3831, 3831, 5, 3879),
    amproc(10257, 3919, 3831, 3831, 6, 3880),
    amproc(10258, 3919, 3831, 3831, 7, 3881),
    amproc(10259, 3919, 3831, 3831, 11, 6391),
    amproc(10260, 3919, 2276, 2276, 12, 6347),
    amproc(10261, 3550, 869, 869, 1, 3553),
    amproc(10262, 3550, 869, 869, 2, 3554),
    amproc(10263, 3550, 869, 869, 3, 3555),
    amproc(10264, 3550, 869, 869, 5, 3557),
    amproc(10265, 3550, 869, 869, 6, 3558),
    amproc(10266, 3550, 869, 869, 7, 3559),
    amproc(10267, 3550, 869, 869, 9, 3573),
    amproc(10268, 3550, 2276, 2276, 12, 6347),
    amproc(10269, 6158, 4537, 4537, 1, 6154),
    amproc(10270, 6158, 4537, 4537, 2, 3876),
    amproc(10271, 6158, 4537, 4537, 3, 6156),
    amproc(10272, 6158, 4537, 4537, 5, 3879),
    amproc(10273, 6158, 4537, 4537, 6, 3880),
    amproc(10274, 6158, 4537, 4537, 7, 3881),
    amproc(10275, 6158, 2276, 2276, 12, 6347),
    amproc(10332, 4064, 17, 17, 1, 3383),
    amproc(10333, 4064, 17, 17, 2, 3384),
    amproc(10334, 4064, 17, 17, 3, 3385),
    amproc(10335, 4064, 17, 17, 4, 3386),
    amproc(10336, 4578, 17, 17, 1, 4591),
    amproc(10337, 4578, 17, 17, 2, 4592),
    amproc(10338, 4578, 17, 17, 3, 4593),
    amproc(10339, 4578, 17, 17, 4, 4594),
    amproc(10340, 4578, 17, 17, 5, 4595),
    amproc(10341, 4578, 17, 17, 11, 6413),
    amproc(10342, 4062, 18, 18, 1, 3383),
    amproc(10343, 4062, 18, 18, 2, 3384),
    amproc(10344, 4062, 18, 18, 3, 3385),
    amproc(10345, 4062, 18, 18, 4, 3386),
    amproc(10346, 4577, 18, 18, 1, 4591),
    amproc(10347, 4577, 18, 18, 2, 4592),
    amproc(10348, 4577, 18, 18, 3, 4593),
    amproc(10349, 4577, 18, 18, 4, 4594),
    amproc(10350, 4577, 18, 18, 5, 4595),
    amproc(10351, 4577, 18, 18, 11, 454),
    amproc(10352, 4065, 19, 19, 1, 3383),
    amproc(10353, 4065, 19, 19, 2, 3384),
    amproc(10354, 4065, 19, 19, 3, 3385),
    amproc(10355, 4065, 19, 19, 4, 3386),
    amproc(10356, 4579, 19, 19, 1, 4591),
    amproc(10357, 4579, 19, 19, 2, 4592),
    amproc(10358, 4579, 19, 19, 3, 4593),
    amproc(10359, 4579, 19, 19, 4, 4594),
    amproc(10360, 4579, 19, 19, 5, 4595),
    amproc(10361, 4579, 19, 19, 11, 455),
    amproc(10362, 4054, 20, 20, 1, 3383),
    amproc(10363, 4054, 20, 20, 2, 3384),
    amproc(10364, 4054, 20, 20, 3, 3385),
    amproc(10365, 4054, 20, 20, 4, 3386),
    amproc(10366, 4054, 21, 21, 1, 3383),
    amproc(10367, 4054, 21, 21, 2, 3384),
    amproc(10368, 4054, 21, 21, 3, 3385),
    amproc(10369, 4054, 21, 21, 4, 3386),
    amproc(10370, 4054, 23, 23, 1, 3383),
    amproc(10371, 4054, 23, 23, 2, 3384),
    amproc(10372, 4054, 23, 23, 3, 3385),
    amproc(10373, 4054, 23, 23, 4, 3386),
    amproc(10374, 4602, 21, 21, 1, 4616),
    amproc(10375, 4602, 21, 21, 2, 4617),
    amproc(10376, 4602, 21, 21, 3, 4618),
    amproc(10377, 4602, 21, 21, 4, 4619),
    amproc(10378, 4602, 21, 21, 5, 4620),
    amproc(10379, 4602, 21, 21, 11, 4621),
    amproc(10380, 4602, 23, 23, 1, 4616),
    amproc(10381, 4602, 23, 23, 2, 4617),
    amproc(10382, 4602, 23, 23, 3, 4618),
    amproc(10383, 4602, 23, 23, 4, 4619),
    amproc(10384, 4602, 23, 23, 5, 4620),
    amproc(10385, 4602, 23, 23, 11, 4622),
    amproc(10386, 4602, 20, 20, 1, 4616),
    amproc(10387, 4602, 20, 20, 2, 4617),
    amproc(10388, 4602, 20, 20, 3, 4618),
    amproc(10389, 4602, 20, 20, 4, 4619),
    amproc(10390, 4602, 20, 20, 5, 4620),
    amproc(10391, 4602, 20, 20, 11, 4623),
    amproc(10392, 4572, 20, 20, 1, 4591),
    amproc(10393, 4572, 20, 20, 2, 4592),
    amproc(10394, 4572, 20, 20, 3, 4593),
    amproc(10395, 4572, 20, 20, 4, 4594),
    amproc(10396, 4572, 20, 20, 5, 4595),
    amproc(10397, 4572, 20, 20, 11, 949),
    amproc(10398, 4572, 21, 21, 1, 4591),
    amproc(10399, 4572, 21, 21, 2, 4592),
    amproc(10400, 4572, 21, 21, 3, 4593),
    amproc(10401, 4572, 21, 21, 4, 4594),
    amproc(10402, 4572, 21, 21, 5, 4595),
    amproc(10403, 4572, 21, 21, 11, 449),
    amproc(10404, 4572, 23, 23, 1, 4591),
    amproc(10405, 4572, 23, 23, 2, 4592),
    amproc(10406, 4572, 23, 23, 3, 4593),
    amproc(10407, 4572, 23, 23, 4, 4594),
    amproc(10408, 4572, 23, 23, 5, 4595),
    amproc(10409, 4572, 23, 23, 11, 450),
    amproc(10410, 4056, 25, 25, 1, 3383),
    amproc(10411, 4056, 25, 25, 2, 3384),
    amproc(10412, 4056, 25, 25, 3, 3385),
    amproc(10413, 4056, 25, 25, 4, 3386),
    amproc(10414, 4573, 25, 25, 1, 4591),
    amproc(10415, 4573, 25, 25, 2, 4592),
    amproc(10416, 4573, 25, 25, 3, 4593),
    amproc(10417, 4573, 25, 25, 4, 4594),
    amproc(10418, 4573, 25, 25, 5, 4595),
    amproc(10419, 4573, 25, 25, 11, 400),
    amproc(10420, 4068, 26, 26, 1, 3383),
    amproc(10421, 4068, 26, 26, 2, 3384),
    amproc(10422, 4068, 26, 26, 3, 3385),
    amproc(10423, 4068, 26, 26, 4, 3386),
    amproc(10424, 4606, 26, 26, 1, 4616),
    amproc(10425, 4606, 26, 26, 2, 4617),
    amproc(10426, 4606, 26, 26, 3, 4618),
    amproc(10427, 4606, 26, 26, 4, 4619),
    amproc(10428, 4606, 26, 26, 5, 4620),
    amproc(10429, 4606, 26, 26, 11, 4622),
    amproc(10430, 4580, 26, 26, 1, 4591),
    amproc(10431, 4580, 26, 26, 2, 4592),
    amproc(10432, 4580, 26, 26, 3, 4593),
    amproc(10433, 4580, 26, 26, 4, 4594),
    amproc(10434, 4580, 26, 26, 5, 4595),
    amproc(10435, 4580, 26, 26, 11, 453),
    amproc(10436, 4069, 27, 27, 1, 3383),
    amproc(10437, 4069, 27, 27, 2, 3384),
    amproc(10438, 4069, 27, 27, 3, 3385),
    amproc(10439, 4069, 27, 27, 4, 3386),
    amproc(10440, 4581, 27, 27, 1, 4591),
    amproc(10441, 4581, 27, 27, 2, 4592),
    amproc(10442, 4581, 27, 27, 3, 4593),
    amproc(10443, 4581, 27, 27, 4, 4594),
    amproc(10444, 4581, 27, 27, 5, 4595),
    amproc(10445, 4581, 27, 27, 11, 2233),
    amproc(10446, 4607, 27, 27, 1, 4616),
    amproc(10447, 4607, 27, 27, 2, 4617),
    amproc(10448, 4607, 27, 27, 3, 4618),
    amproc(10449, 4607, 27, 27, 4, 4619),
    amproc(10450, 4607, 27, 27, 5, 4620),
    amproc(10451, 4607, 27, 27, 11, 4627),
    amproc(10452, 4070, 700, 700, 1, 3383),
    amproc(10453, 4070, 700, 700, 2, 3384),
    amproc(10454, 4070, 700, 700, 3, 3385),
    amproc(10455, 4070, 700, 700, 4, 3386),
    amproc(10456, 4070, 701, 701, 1, 3383),
    amproc(10457, 4070, 701, 701, 2, 3384),
    amproc(10458, 4070, 701, 701, 3, 3385),
    amproc(10459, 4070, 701, 701, 4, 3386),
    amproc(10460, 4608, 700, 700, 1, 4616),
    amproc(10461, 4608, 700, 700, 2, 4617),
    amproc(10462, 4608, 700, 700, 3, 4618),
    amproc(10463, 4608, 700, 700, 4, 4619),
    amproc(10464, 4608, 700, 700, 5, 4620),
    amproc(10465, 4608, 700, 700, 11, 4624),
    amproc(10466, 4608, 701, 701, 1, 4616),
    amproc(10467, 4608, 701, 701, 2, 4617),
    amproc(10468, 4608, 701, 701, 3, 4618),
    amproc(10469, 4608, 701, 701, 4, 4619),
    amproc(10470, 4608, 701, 701, 5, 4620),
    amproc(10471, 4608, 701, 701, 11, 4625),
    amproc(10472, 4582, 700, 700, 1, 4591),
    amproc(10473, 4582, 700, 700, 2, 4592),
    amproc(10474, 4582, 700, 700, 3, 4593),
    amproc(10475, 4582, 700, 700, 4, 4594),
    amproc(10476, 4582, 700, 700, 5, 4595),
    amproc(10477, 4582, 700, 700, 11, 451),
    amproc(10478, 4582, 701, 701, 1, 4591),
    amproc(10479, 4582, 701, 701, 2, 4592),
    amproc(10480, 4582, 701, 701, 3, 4593),
    amproc(10481, 4582, 701, 701, 4, 4594),
    amproc(10482, 4582, 701, 701, 5, 4595),
    amproc(10483, 4582, 701, 701, 11, 452),
    amproc(10484, 4074, 829, 829, 1, 3383),
    amproc(10485, 4074, 829, 829, 2, 3384),
    amproc(10486, 4074, 829, 829, 3, 3385),
    amproc(10487, 4074, 829, 829, 4, 3386),
    amproc(10488, 4609, 829, 829, 1, 4616),
    amproc(10489, 4609, 829, 829, 2, 4617),
    amproc(10490, 4609, 829, 829, 3, 4618),
    amproc(10491, 4609, 829, 829, 4, 4619),
    amproc(10492, 4609, 829, 829, 5, 4620),
    amproc(10493, 4609, 829, 829, 11, 4634),
    amproc(10494, 4583, 829, 829, 1, 4591),
    amproc(10495, 4583, 829, 829, 2, 4592),
    amproc(10496, 4583, 829, 829, 3, 4593),
    amproc(10497, 4583, 829, 829, 4, 4594),
    amproc(10498, 4583, 829, 829, 5, 4595),
    amproc(10499, 4583, 829, 829, 11, 399),
    amproc(10500, 4109, 774, 774, 1, 3383),
    amproc(10501, 4109, 774, 774, 2, 3384),
    amproc(10502, 4109, 774, 774, 3, 3385),
    amproc(10503, 4109, 774, 774, 4, 3386),
    amproc(10504, 4610, 774, 774, 1, 4616),
    amproc(10505, 4610, 774, 774, 2, 4617),
    amproc(10506, 4610, 774, 774, 3, 4618),
    amproc(10507, 4610, 774, 774, 4, 4619),
    amproc(10508, 4610, 774, 774, 5, 4620),
    amproc(10509, 4610, 774, 774, 11, 4635),
    amproc(10510, 4584, 774, 774, 1, 4591),
    amproc(10511, 4584, 774, 774, 2, 4592),
    amproc(10512, 4584, 774, 774, 3, 4593),
    amproc(10513, 4584, 774, 774, 4, 4594),
    amproc(10514, 4584, 774, 774, 5, 4595),
    amproc(10515, 4584, 774, 774, 11, 328),
    amproc(10516, 4075, 869, 869, 1, 3383),
    amproc(10517, 4075, 869, 869, 2, 3384),
    amproc(10518, 4075, 869, 869, 3, 3385),
    amproc(10519, 4075, 869, 869, 4, 3386),
    amproc(10520, 4611, 869, 869, 1, 4616),
    amproc(10521, 4611, 869, 869, 2, 4617),
    amproc(10522, 4611, 869, 869, 3, 4618),
    amproc(10523, 4611, 869, 869, 4, 4619),
    amproc(10524, 4611, 869, 869, 5, 4620),
    amproc(10525, 4611, 869, 869, 11, 4636),
    amproc(10526, 4585, 869, 869, 1, 4591),
    amproc(10527, 4585, 869, 869, 2, 4592),
    amproc(10528, 4585, 869, 869, 3, 4593),
    amproc(10529, 4585, 869, 869, 4, 4594),
    amproc(10530, 4585, 869, 869, 5, 4595),
    amproc(10531, 4585, 869, 869, 11, 422),
    amproc(10532, 4102, 869, 869, 1, 4105),
    amproc(10533, 4102, 869, 869, 2, 4106),
    amproc(10534, 4102, 869, 869, 3, 4107),
    amproc(10535, 4102, 869, 869, 4, 4108),
    amproc(10536, 4102, 869, 869, 11, 4063),
    amproc(10537, 4102, 869, 869, 12, 4071),
    amproc(10538, 4102, 869, 869, 13, 930),
    amproc(10539, 4076, 1042, 1042, 1, 3383),
    amproc(10540, 4076, 1042, 1042, 2, 3384),
    amproc(10541, 4076, 1042, 1042, 3, 3385),
    amproc(10542, 4076, 1042, 1042, 4, 3386),
    amproc(10543, 4586, 1042, 1042, 1, 4591),
    amproc(10544, 4586, 1042, 1042, 2, 4592),
    amproc(10545, 4586, 1042, 1042, 3, 4593),
    amproc(10546, 4586, 1042, 1042, 4, 4594),
    amproc(10547, 4586, 1042, 1042, 5, 4595),
    amproc(10548, 4586, 1042, 1042, 11, 1080),
    amproc(10549, 4077, 1083, 1083, 1, 3383),
    amproc(10550, 4077, 1083, 1083, 2, 3384),
    amproc(10551, 4077, 1083, 1083, 3, 3385),
    amproc(10552, 4077, 1083, 1083, 4, 3386),
    amproc(10553, 4612, 1083, 1083, 1, 4616),
    amproc(10554, 4612, 1083, 1083, 2, 4617),
    amproc(10555, 4612, 1083, 1083, 3, 4618),
    amproc(10556, 4612, 1083, 1083, 4, 4619),
    amproc(10557, 4612, 1083, 1083, 5, 4620),
    amproc(10558, 4612, 1083, 1083, 11, 4630),
    amproc(10559, 4587, 1083, 1083, 1, 4591),
    amproc(10560, 4587, 1083, 1083, 2, 4592),
    amproc(10561, 4587, 1083, 1083, 3, 4593),
    amproc(10562, 4587, 1083, 1083, 4, 4594),
    amproc(10563, 4587, 1083, 1083, 5, 4595),
    amproc(10564, 4587, 1083, 1083, 11, 1688),
    amproc(10565, 4059, 1114, 1114, 1, 3383),
    amproc(10566, 4059, 1114, 1114, 2, 3384),
    amproc(10567, 4059, 1114, 1114, 3, 3385),
    amproc(10568, 4059, 1114, 1114, 4, 3386),
    amproc(10569, 4059, 1184, 1184, 1, 3383),
    amproc(10570, 4059, 1184, 1184, 2, 3384),
    amproc(10571, 4059, 1184, 1184, 3, 3385),
    amproc(10572, 4059, 1184, 1184, 4, 3386),
    amproc(10573, 4059, 1082, 1082, 1, 3383),
    amproc(10574, 4059, 1082, 1082, 2, 3384),
    amproc(10575, 4059, 1082, 1082, 3, 3385),
    amproc(10576, 4059, 1082, 1082, 4, 3386),
    amproc(10577, 4605, 1114, 1114, 1, 4616),
    amproc(10578, 4605, 1114, 1114, 2, 4617),
    amproc(10579, 4605, 1114, 1114, 3, 4618),
    amproc(10580, 4605, 1114, 1114, 4, 4619),
    amproc(10581, 4605, 1114, 1114, 5, 4620),
    amproc(10582, 4605, 1114, 1114, 11, 4637),
    amproc(10583, 4605, 1184, 1184, 1, 4616),
    amproc(10584, 4605, 1184, 1184, 2, 4617),
    amproc(10585, 4605, 1184, 1184, 3, 4618),
    amproc(10586, 4605, 1184, 1184, 4, 4619),
    amproc(10587, 4605, 1184, 1184, 5, 4620),
    amproc(10588, 4605, 1184, 1184, 11, 4637),
    amproc(10589, 4605, 1082, 1082, 1, 4616),
    amproc(10590, 4605, 1082, 1082, 2, 4617),
    amproc(10591, 4605, 1082, 1082, 3, 4618),
    amproc(10592, 4605, 1082, 1082, 4, 4619),
    amproc(10593, 4605, 1082, 1082, 5, 4620),
    amproc(10594, 4605, 1082, 1082, 11, 4629),
    amproc(10595, 4576, 1114, 1114, 1, 4591),
    amproc(10596, 4576, 1114, 1114, 2, 4592),
    amproc(10597, 4576, 1114, 1114, 3, 4593),
    amproc(10598, 4576, 1114, 1114, 4, 4594),
    amproc(10599, 4576, 1114, 1114, 5, 4595),
    amproc(10600, 4576, 1114, 1114, 11, 2039),
    amproc(10601, 4576, 1184, 1184, 1, 4591),
    amproc(10602, 4576, 1184, 1184, 2, 4592),
    amproc(10603, 4576, 1184, 1184, 3, 4593),
    amproc(10604, 4576, 1184, 1184, 4, 4594),
    amproc(10605, 4576, 1184, 1184, 5, 4595),
    amproc(10606, 4576, 1184, 1184, 11, 2039),
    amproc(10607, 4576, 1082, 1082, 1, 4591),
    amproc(10608, 4576, 1082, 1082, 2, 4592),
    amproc(10609, 4576, 1082, 1082, 3, 4593),
    amproc(10610, 4576, 1082, 1082, 4, 4594),
    amproc(10611, 4576, 1082, 1082, 5, 4595),
    amproc(10612, 4576, 1082, 1082, 11, 450),
    amproc(10613, 4078, 1186, 1186, 1, 3383),
    amproc(10614, 4078, 1186, 1186, 2, 3384),
    amproc(10615, 4078, 1186, 1186, 3, 3385),
    amproc(10616, 4078, 1186, 1186, 4, 3386),
    amproc(10617, 4613, 1186, 1186, 1, 4616),
    amproc(10618, 4613, 1186, 1186, 2, 4617),
    amproc(10619, 4613, 1186, 1186, 3, 4618),
    amproc(10620, 4613, 1186, 1186, 4, 4619),
    amproc(10621, 4613, 1186, 1186, 5, 4620),
    amproc(10622, 4613, 1186, 1186, 11, 4631),
    amproc(10623, 4588, 1186, 1186, 1, 4591),
    amproc(10624, 4588, 1186, 1186, 2, 4592),
    amproc(10625, 4588, 1186, 1186, 3, 4593),
    amproc(10626, 4588, 1186, 1186, 4, 4594),
    amproc(10627, 4588, 1186, 1186, 5, 4595),
    amproc(10628, 4588, 1186, 1186, 11, 1697),
    amproc(10629, 4058, 1266, 1266, 1, 3383),
    amproc(10630, 4058, 1266, 1266, 2, 3384),
    amproc(10631, 4058, 1266, 1266, 3, 3385),
    amproc(10632, 4058, 1266, 1266, 4, 3386),
    amproc(10633, 4604, 1266, 1266, 1, 4616),
    amproc(10634, 4604, 1266, 1266, 2, 4617),
    amproc(10635, 4604, 1266, 1266, 3, 4618),
    amproc(10636, 4604, 1266, 1266, 4, 4619),
    amproc(10637, 4604, 1266, 1266, 5, 4620),
    amproc(10638, 4604, 1266, 1266, 11, 4632),
    amproc(10639, 4575, 1266, 1266, 1, 4591),
    amproc(10640, 4575, 1266, 1266, 2, 4592),
    amproc(10641, 4575, 1266, 1266, 3, 4593),
    amproc(10642, 4575, 1266, 1266, 4, 4594),
    amproc(10643, 4575, 1266, 1266, 5, 4595),
    amproc(10644, 4575, 1266, 1266, 11, 1696),
    amproc(10645, 4079, 1560, 1560, 1, 3383),
    amproc(10646, 4079, 1560, 1560, 2, 3384),
    amproc(10647, 4079, 1560, 1560, 3, 3385),
    amproc(10648, 4079, 1560, 1560, 4, 3386),
    amproc(10649, 4080, 1562, 1562, 1, 3383),
    amproc(10650, 4080, 1562, 1562, 2, 3384),
    amproc(10651, 4080, 1562, 1562, 3, 3385),
    amproc(10652, 4080, 1562, 1562, 4, 3386),
    amproc(10653, 4055, 1700, 1700, 1, 3383),
    amproc(10654, 4055, 1700, 1700, 2, 3384),
    amproc(10655, 4055, 1700, 1700, 3, 3385),
    amproc(10656, 4055, 1700, 1700, 4, 3386),
    amproc(10657, 4603, 1700, 1700, 1, 4616),
    amproc(10658, 4603, 1700, 1700, 2, 4617),
    amproc(10659, 4603, 1700, 1700, 3, 4618),
    amproc(10660, 4603, 1700, 1700, 4, 4619),
    amproc(10661, 4603, 1700, 1700, 5, 4620),
    amproc(10662, 4603, 1700, 1700, 11, 4626),
    amproc(10663, 4574, 1700, 1700, 1, 4591),
    amproc(10664, 4574, 1700, 1700, 2, 4592),
    amproc(10665, 4574, 1700, 1700, 3, 4593),
    amproc(10666, 4574, 1700, 1700, 4, 4594),
    amproc(10667, 4574, 1700, 1700, 5, 4595),
    amproc(10668, 4574, 1700, 1700, 11, 432),
    amproc(10669, 4081, 2950, 2950, 1, 3383),
    amproc(10670, 4081, 2950, 2950, 2, 3384),
    amproc(10671, 4081, 2950, 2950, 3, 3385),
    amproc(10672, 4081, 2950, 2950, 4, 3386),
    amproc(10673, 4614, 2950, 2950, 1, 4616),
    amproc(10674, 4614, 2950, 2950, 2, 4617),
    amproc(10675, 4614, 2950, 2950, 3, 4618),
    amproc(10676, 4614, 2950, 2950, 4, 4619),
    amproc(10677, 4614, 2950, 2950, 5, 4620),
    amproc(10678, 4614, 2950, 2950, 11, 4628),
    amproc(10679, 4589, 2950, 2950, 1, 4591),
    amproc(10680, 4589, 2950, 2950, 2, 4592),
    amproc(10681, 4589, 2950, 2950, 3, 4593),
    amproc(10682, 4589, 2950, 2950, 4, 4594),
    amproc(10683, 4589, 2950, 2950, 5, 4595),
    amproc(10684, 4589, 2950, 2950, 11, 2963),
    amproc(10685, 4103, 3831, 3831, 1, 4105),
    amproc(10686, 4103, 3831, 3831, 2, 4106),
    amproc(10687, 4103, 3831, 3831, 3, 4107),
    amproc(10688, 4103, 3831, 3831, 4, 4108),
    amproc(10689, 4103, 3831, 3831, 11, 4057),
    amproc(10690, 4103, 3831, 3831, 13, 3859),
    amproc(10691, 4103, 3831, 3831, 14, 3850),
    amproc(10692, 4082, 3220, 3220, 1, 3383),
    amproc(10693, 4082, 3220, 3220, 2, 3384),
    amproc(10694, 4082, 3220, 3220, 3, 3385),
    amproc(10695, 4082, 3220, 3220, 4, 3386),
    amproc(10696, 4615, 3220, 3220, 1, 4616),
    amproc(10697, 4615, 3220, 3220, 2, 4617),
    amproc(10698, 4615, 3220, 3220, 3, 4618),
    amproc(10699, 4615, 3220, 3220, 4, 4619),
    amproc(10700, 4615, 3220, 3220, 5, 4620),
    amproc(10701, 4615, 3220, 3220, 11, 4633),
    amproc(10702, 4590, 3220, 3220, 1, 4591),
    amproc(10703, 4590, 3220, 3220, 2, 4592),
    amproc(10704, 4590, 3220, 3220, 3, 4593),
    amproc(10705, 4590, 3220, 3220, 4, 4594),
    amproc(10706, 4590, 3220, 3220, 5, 4595),
    amproc(10707, 4590, 3220, 3220, 11, 3252),
    amproc(10708, 4104, 603, 603, 1, 4105),
    amproc(10709, 4104, 603, 603, 2, 4106),
    amproc(10710, 4104, 603, 603, 3, 4107),
    amproc(10711, 4104, 603, 603, 4, 4108),
    amproc(10712, 4104, 603, 603, 11, 4067),
    amproc(10713, 4104, 603, 603, 13, 187),
    amproc(10296, 3474, 3831, 3831, 1, 3469), // anyrange, anyrange
    amproc(10297, 3474, 3831, 3831, 2, 3470), // anyrange, anyrange
    amproc(10298, 3474, 3831, 3831, 3, 3471), // anyrange, anyrange
    amproc(10299, 3474, 3831, 3831, 4, 3472), // anyrange, anyrange
    amproc(10300, 3474, 3831, 3831, 5, 3473), // anyrange, anyrange
    amproc(10301, 3794, 869, 869, 1, 3795), // inet, inet
    amproc(10302, 3794, 869, 869, 2, 3796), // inet, inet
    amproc(10303, 3794, 869, 869, 3, 3797), // inet, inet
    amproc(10304, 3794, 869, 869, 4, 3798), // inet, inet
    amproc(10305, 3794, 869, 869, 5, 3799), // inet, inet
    amproc(10306, 4015, 600, 600, 1, 4018), // point, point
    amproc(10307, 4015, 600, 600, 2, 4019), // point, point
    amproc(10308, 4015, 600, 600, 3, 4020), // point, point
    amproc(10309, 4015, 600, 600, 4, 4021), // point, point
    amproc(10310, 4015, 600, 600, 5, 4022), // point, point
    amproc(10311, 4016, 600, 600, 1, 4023), // point, point
    amproc(10312, 4016, 600, 600, 2, 4024), // point, point
    amproc(10313, 4016, 600, 600, 3, 4025), // point, point
    amproc(10314, 4016, 600, 600, 4, 4026), // point, point
    amproc(10315, 4016, 600, 600, 5, 4022), // point, point
    amproc(10316, 4017, 25, 25, 1, 4027), // text, text
    amproc(10317, 4017, 25, 25, 2, 4028), // text, text
    amproc(10318, 4017, 25, 25, 3, 4029), // text, text
    amproc(10319, 4017, 25, 25, 4, 4030), // text, text
    amproc(10320, 4017, 25, 25, 5, 4031), // text, text
    amproc(10321, 5000, 603, 603, 1, 5012), // box, box
    amproc(10322, 5000, 603, 603, 2, 5013), // box, box
    amproc(10323, 5000, 603, 603, 3, 5014), // box, box
    amproc(10324, 5000, 603, 603, 4, 5015), // box, box
    amproc(10325, 5000, 603, 603, 5, 5016), // box, box
    amproc(10326, 5008, 604, 604, 1, 5010), // polygon, polygon
    amproc(10327, 5008, 604, 604, 2, 5013), // polygon, polygon
    amproc(10328, 5008, 604, 604, 3, 5014), // polygon, polygon
    amproc(10329, 5008, 604, 604, 4, 5015), // polygon, polygon
    amproc(10330, 5008, 604, 604, 5, 5016), // polygon, polygon
    amproc(10331, 5008, 604, 604, 6, 5011), // polygon, polygon
];

const fn class(
    oid: u32,
    method: u32,
    name: &'static str,
    family: u32,
    input: u32,
    default: bool,
    key: u32,
) -> OpClass {
    OpClass {
        oid: Oid(oid),
        method: Oid(method),
        name,
        family: Oid(family),
        input: Oid(input),
        default,
        key: Oid(key),
    }
}

const fn amop(oid: u32, family: u32, left: u32, right: u32, strategy: i16, operator: u32) -> AmOp {
    AmOp {
        oid: Oid(oid),
        family: Oid(family),
        left: Oid(left),
        right: Oid(right),
        strategy,
        operator: Oid(operator),
        sort_family: Oid::INVALID,
    }
}

/// An ordering operator, and the family that orders what it gives.
const fn amop_order(
    oid: u32,
    family: u32,
    left: u32,
    right: u32,
    strategy: i16,
    operator: u32,
    sort: u32,
) -> AmOp {
    AmOp { sort_family: Oid(sort), ..amop(oid, family, left, right, strategy, operator) }
}

const fn amproc(oid: u32, family: u32, left: u32, right: u32, number: i16, function: u32) -> AmProc {
    AmProc {
        oid: Oid(oid),
        family: Oid(family),
        left: Oid(left),
        right: Oid(right),
        number,
        function: Oid(function),
    }
}
