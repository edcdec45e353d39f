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
    class(10082, 783, "multirange_ops", 6158, 4537, true, 3831), // anymultirange
    class(10064, 2742, "array_ops", 2745, 2277, true, 2283), // anyarray
    class(10090, 2742, "jsonb_ops", 4036, 3802, true, 25), // jsonb
    class(10091, 2742, "jsonb_path_ops", 4037, 3802, false, 23), // jsonb
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
    amop(10367, 3683, 3615, 3615, 1, 3674), // tsquery, tsquery
    amop(10368, 3683, 3615, 3615, 2, 3675), // tsquery, tsquery
    amop(10369, 3683, 3615, 3615, 3, 3676), // tsquery, tsquery
    amop(10370, 3683, 3615, 3615, 4, 3678), // tsquery, tsquery
    amop(10371, 3683, 3615, 3615, 5, 3679), // tsquery, tsquery
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
