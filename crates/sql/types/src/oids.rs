//! The list of the built-in types: OID, `pg_type` name and [descriptor](TypeImp), then OID and name of the type of its arrays, whose
//! descriptor follows from that of the elements.

#![allow(non_upper_case_globals, missing_docs)]

use base::Oid;

use crate::array::kinds::array_of;
use crate::registry::types::TypeImp;

macro_rules! types {
    ($( $oid:literal $name:ident = $imp:path $(, $array_oid:literal $array:ident )? ; )*) => {
        $(
            pub const $name: Oid = Oid($oid);
            $( pub const $array: Oid = Oid($array_oid); )?
        )*

        /// The descriptors; the first is that of all types that are made at run time.
        pub(crate) static DESCRIPTORS: &[&TypeImp] = &[
            &crate::registry::types::MADE,
            $( &$imp, $( &array_of(&$imp, Oid($array_oid), stringify!($array)), )? )*
        ];

        /// Their OIDs.
        pub(crate) const NUMBERS: &[u32] = &[0, $( $oid, $( $array_oid, )? )*];
    };
}

types! {
    16 bool = crate::bool::BOOL, 1000 _bool;
    17 bytea = crate::text::kinds::BYTEA, 1001 _bytea;
    18 char = crate::ids::CHAR, 1002 _char;
    19 name = crate::text::kinds::NAME, 1003 _name;
    20 int8 = crate::int::INT8, 1016 _int8;
    21 int2 = crate::int::INT2, 1005 _int2;
    22 int2vector = crate::array::kinds::INT2VECTOR, 1006 _int2vector;
    23 int4 = crate::int::INT4, 1007 _int4;
    24 regproc = crate::alias::REGPROC, 1008 _regproc;
    25 text = crate::text::kinds::TEXT, 1009 _text;
    26 oid = crate::ids::OID, 1028 _oid;
    27 tid = crate::ids::TID, 1010 _tid;
    28 xid = crate::ids::XID, 1011 _xid;
    29 cid = crate::ids::CID, 1012 _cid;
    30 oidvector = crate::array::kinds::OIDVECTOR, 1013 _oidvector;
    32 pg_ddl_command = crate::pseudo::PG_DDL_COMMAND;
    114 json = crate::json::functions::JSON, 199 _json;
    142 xml = crate::xml::XML, 143 _xml;
    194 pg_node_tree = crate::text::kinds::PG_NODE_TREE;
    269 table_am_handler = crate::pseudo::TABLE_AM_HANDLER;
    325 index_am_handler = crate::pseudo::INDEX_AM_HANDLER;
    600 point = crate::geometry::point::POINT, 1017 _point;
    601 lseg = crate::geometry::segment::LSEG, 1018 _lseg;
    602 path = crate::geometry::path::PATH, 1019 _path;
    603 r#box = crate::geometry::boxes::BOX, 1020 _box;
    604 polygon = crate::geometry::polygon::POLYGON, 1027 _polygon;
    628 line = crate::geometry::line::LINE, 629 _line;
    650 cidr = crate::network::CIDR, 651 _cidr;
    700 float4 = crate::float::FLOAT4, 1021 _float4;
    701 float8 = crate::float::FLOAT8, 1022 _float8;
    705 unknown = crate::text::kinds::UNKNOWN;
    718 circle = crate::geometry::circle::CIRCLE, 719 _circle;
    774 macaddr8 = crate::macaddr::MACADDR8, 775 _macaddr8;
    790 money = crate::money::MONEY, 791 _money;
    829 macaddr = crate::macaddr::MACADDR, 1040 _macaddr;
    869 inet = crate::network::INET, 1041 _inet;
    1033 aclitem = crate::acl::ACLITEM, 1034 _aclitem;
    1042 bpchar = crate::text::kinds::BPCHAR, 1014 _bpchar;
    1043 varchar = crate::text::kinds::VARCHAR, 1015 _varchar;
    1082 date = crate::date::DATE, 1182 _date;
    1083 time = crate::time::TIME, 1183 _time;
    1114 timestamp = crate::timestamp::TIMESTAMP, 1115 _timestamp;
    1184 timestamptz = crate::timestamp::TIMESTAMPTZ, 1185 _timestamptz;
    1186 interval = crate::interval::INTERVAL, 1187 _interval;
    1266 timetz = crate::time::TIMETZ, 1270 _timetz;
    1560 bit = crate::bits::BIT, 1561 _bit;
    1562 varbit = crate::bits::VARBIT, 1563 _varbit;
    1700 numeric = crate::numeric::functions::NUMERIC, 1231 _numeric;
    1790 refcursor = crate::text::kinds::REFCURSOR, 2201 _refcursor;
    2202 regprocedure = crate::alias::REGPROCEDURE, 2207 _regprocedure;
    2203 regoper = crate::alias::REGOPER, 2208 _regoper;
    2204 regoperator = crate::alias::REGOPERATOR, 2209 _regoperator;
    2205 regclass = crate::alias::REGCLASS, 2210 _regclass;
    2206 regtype = crate::alias::REGTYPE, 2211 _regtype;
    2249 record = crate::record::functions::RECORD;
    2275 cstring = crate::text::kinds::CSTRING, 1263 _cstring;
    2276 any = crate::pseudo::ANY;
    2277 anyarray = crate::array::kinds::ANYARRAY;
    2278 void = crate::pseudo::VOID;
    2279 trigger = crate::pseudo::TRIGGER;
    2280 language_handler = crate::pseudo::LANGUAGE_HANDLER;
    2281 internal = crate::pseudo::INTERNAL;
    2283 anyelement = crate::pseudo::ANYELEMENT;
    2287 _record = crate::record::functions::RECORDS;
    2776 anynonarray = crate::pseudo::ANYNONARRAY;
    2950 uuid = crate::ids::UUID, 2951 _uuid;
    2970 txid_snapshot = crate::snapshot::TXID_SNAPSHOT, 2949 _txid_snapshot;
    3115 fdw_handler = crate::pseudo::FDW_HANDLER;
    3220 pg_lsn = crate::ids::PG_LSN, 3221 _pg_lsn;
    3310 tsm_handler = crate::pseudo::TSM_HANDLER;
    3361 pg_ndistinct = crate::extended_statistics::PG_NDISTINCT;
    3402 pg_dependencies = crate::extended_statistics::PG_DEPENDENCIES;
    3500 anyenum = crate::enums::ANYENUM;
    3614 tsvector = crate::textsearch::TSVECTOR, 3643 _tsvector;
    3615 tsquery = crate::textsearch::TSQUERY, 3645 _tsquery;
    3642 gtsvector = crate::textsearch::GTSVECTOR, 3644 _gtsvector;
    3734 regconfig = crate::alias::REGCONFIG, 3735 _regconfig;
    3769 regdictionary = crate::alias::REGDICTIONARY, 3770 _regdictionary;
    3802 jsonb = crate::json::functions::JSONB, 3807 _jsonb;
    3831 anyrange = crate::range::kinds::ANYRANGE;
    3838 event_trigger = crate::pseudo::EVENT_TRIGGER;
    3904 int4range = crate::range::kinds::INT4RANGE, 3905 _int4range;
    3906 numrange = crate::range::kinds::NUMRANGE, 3907 _numrange;
    3908 tsrange = crate::range::kinds::TSRANGE, 3909 _tsrange;
    3910 tstzrange = crate::range::kinds::TSTZRANGE, 3911 _tstzrange;
    3912 daterange = crate::range::kinds::DATERANGE, 3913 _daterange;
    3926 int8range = crate::range::kinds::INT8RANGE, 3927 _int8range;
    4072 jsonpath = crate::json::path::JSONPATH, 4073 _jsonpath;
    4089 regnamespace = crate::alias::REGNAMESPACE, 4090 _regnamespace;
    4096 regrole = crate::alias::REGROLE, 4097 _regrole;
    4191 regcollation = crate::alias::REGCOLLATION, 4192 _regcollation;
    4451 int4multirange = crate::range::kinds::INT4MULTIRANGE, 6150 _int4multirange;
    4532 nummultirange = crate::range::kinds::NUMMULTIRANGE, 6151 _nummultirange;
    4533 tsmultirange = crate::range::kinds::TSMULTIRANGE, 6152 _tsmultirange;
    4534 tstzmultirange = crate::range::kinds::TSTZMULTIRANGE, 6153 _tstzmultirange;
    4535 datemultirange = crate::range::kinds::DATEMULTIRANGE, 6155 _datemultirange;
    4536 int8multirange = crate::range::kinds::INT8MULTIRANGE, 6157 _int8multirange;
    4537 anymultirange = crate::range::kinds::ANYMULTIRANGE;
    4538 anycompatiblemultirange = crate::pseudo::ANYCOMPATIBLEMULTIRANGE;
    5017 pg_mcv_list = crate::extended_statistics::PG_MCV_LIST;
    5038 pg_snapshot = crate::snapshot::PG_SNAPSHOT, 5039 _pg_snapshot;
    5069 xid8 = crate::ids::XID8, 271 _xid8;
    5077 anycompatible = crate::pseudo::ANYCOMPATIBLE;
    5078 anycompatiblearray = crate::pseudo::ANYCOMPATIBLEARRAY;
    5079 anycompatiblenonarray = crate::pseudo::ANYCOMPATIBLENONARRAY;
    5080 anycompatiblerange = crate::pseudo::ANYCOMPATIBLERANGE;
    // No type of `pg_type`: text that compares without regard to case, as `citext` does. See [`crate::registry::is_unlisted`].
    9960 folded = crate::text::folded::FOLDED;
}
