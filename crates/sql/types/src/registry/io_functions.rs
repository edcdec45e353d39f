//! The functions that `pg_type` names: input, output, binary input and output, type modifiers.

use base::{SqlResult, sql_err};
use tuple::Datum;

/// What a type that is only a name yet says to its values.
fn of_shell(verb: &str) -> SqlResult<Datum> {
    Err(sql_err!(FEATURE_NOT_SUPPORTED, "cannot {verb} a value of a shell type"))
}

functions! {
    31 byteaout(bytea) -> cstring [immutable strict] { output bytea }
    33 charout(char) -> cstring [immutable strict] { output char }
    34 namein(cstring) -> name [immutable strict] { input name }
    35 nameout(name) -> cstring [immutable strict] { output name }
    38 int2in(cstring) -> int2 [immutable strict] { input int2 }
    39 int2out(int2) -> cstring [immutable strict] { output int2 }
    40 int2vectorin(cstring) -> int2vector [immutable strict] { input int2vector }
    41 int2vectorout(int2vector) -> cstring [immutable strict] { output int2vector }
    42 int4in(cstring) -> int4 [immutable strict] { input int4 }
    43 int4out(int4) -> cstring [immutable strict] { output int4 }
    44 regprocin(cstring) -> regproc [stable strict] { input regproc }
    45 regprocout(regproc) -> cstring [stable strict] { output regproc }
    46 textin(cstring) -> text [immutable strict] { input text }
    47 textout(text) -> cstring [immutable strict] { output text }
    48 tidin(cstring) -> tid [immutable strict] { input tid }
    49 tidout(tid) -> cstring [immutable strict] { output tid }
    50 xidin(cstring) -> xid [immutable strict] { input xid }
    51 xidout(xid) -> cstring [immutable strict] { output xid }
    52 cidin(cstring) -> cid [immutable strict] { input cid }
    53 cidout(cid) -> cstring [immutable strict] { output cid }
    54 oidvectorin(cstring) -> oidvector [immutable strict] { input oidvector }
    55 oidvectorout(oidvector) -> cstring [immutable strict] { output oidvector }
    86 pg_ddl_command_in(cstring) -> pg_ddl_command [immutable strict] { input pg_ddl_command }
    87 pg_ddl_command_out(pg_ddl_command) -> cstring [immutable strict] { output pg_ddl_command }
    88 pg_ddl_command_recv(internal) -> pg_ddl_command [immutable strict] { receive pg_ddl_command }
    90 pg_ddl_command_send(pg_ddl_command) -> bytea [immutable strict] { send pg_ddl_command }
    109 unknownin(cstring) -> unknown [immutable strict] { input unknown }
    110 unknownout(unknown) -> cstring [immutable strict] { output unknown }
    117 point_in(cstring) -> point [immutable strict] { input point }
    118 point_out(point) -> cstring [immutable strict] { output point }
    119 lseg_in(cstring) -> lseg [immutable strict] { input lseg }
    120 lseg_out(lseg) -> cstring [immutable strict] { output lseg }
    121 path_in(cstring) -> path [immutable strict] { input path }
    122 path_out(path) -> cstring [immutable strict] { output path }
    123 box_in(cstring) -> r#box [immutable strict] { input r#box }
    124 box_out(r#box) -> cstring [immutable strict] { output r#box }
    195 pg_node_tree_in(cstring) -> pg_node_tree [immutable strict] { input pg_node_tree }
    196 pg_node_tree_out(pg_node_tree) -> cstring [immutable strict] { output pg_node_tree }
    197 pg_node_tree_recv(internal) -> pg_node_tree [stable strict] { receive pg_node_tree }
    198 pg_node_tree_send(pg_node_tree) -> bytea [stable strict] { send pg_node_tree }
    200 float4in(cstring) -> float4 [immutable strict] { input float4 }
    201 float4out(float4) -> cstring [immutable strict] { output float4 }
    214 float8in(cstring) -> float8 [immutable strict] { input float8 }
    215 float8out(float8) -> cstring [immutable strict] { output float8 }
    267 table_am_handler_in(cstring) -> table_am_handler [immutable] { input table_am_handler }
    268 table_am_handler_out(table_am_handler) -> cstring [immutable strict] { output table_am_handler }
    321 json_in(cstring) -> json [immutable strict] { input json }
    322 json_out(json) -> cstring [immutable strict] { output json }
    323 json_recv(internal) -> json [immutable strict] { receive json }
    324 json_send(json) -> bytea [immutable strict] { send json }
    326 index_am_handler_in(cstring) -> index_am_handler [immutable] { input index_am_handler }
    327 index_am_handler_out(index_am_handler) -> cstring [immutable strict] { output index_am_handler }
    347 poly_in(cstring) -> polygon [immutable strict] { input polygon }
    348 poly_out(polygon) -> cstring [immutable strict] { output polygon }
    436 macaddr_in(cstring) -> macaddr [immutable strict] { input macaddr }
    437 macaddr_out(macaddr) -> cstring [immutable strict] { output macaddr }
    460 int8in(cstring) -> int8 [immutable strict] { input int8 }
    461 int8out(int8) -> cstring [immutable strict] { output int8 }
    750 array_in(cstring, oid, int4) -> anyarray [stable strict] { input anyarray }
    751 array_out(anyarray) -> cstring [stable strict] { output anyarray }
    886 cash_in(cstring) -> money [stable strict] { input money }
    887 cash_out(money) -> cstring [stable strict] { output money }
    910 inet_in(cstring) -> inet [immutable strict] { input inet }
    911 inet_out(inet) -> cstring [immutable strict] { output inet }
    1031 aclitemin(cstring) -> aclitem [stable strict] { input aclitem }
    1032 aclitemout(aclitem) -> cstring [stable strict] { output aclitem }
    1044 bpcharin(cstring, oid, int4) -> bpchar [immutable strict] { input bpchar }
    1045 bpcharout(bpchar) -> cstring [immutable strict] { output bpchar }
    1046 varcharin(cstring, oid, int4) -> varchar [immutable strict] { input varchar }
    1047 varcharout(varchar) -> cstring [immutable strict] { output varchar }
    1084 date_in(cstring) -> date [stable strict] { input date }
    1085 date_out(date) -> cstring [stable strict] { output date }
    1143 time_in(cstring, oid, int4) -> time [stable strict] { input time }
    1144 time_out(time) -> cstring [immutable strict] { output time }
    1150 timestamptz_in(cstring, oid, int4) -> timestamptz [stable strict] { input timestamptz }
    1151 timestamptz_out(timestamptz) -> cstring [stable strict] { output timestamptz }
    1160 interval_in(cstring, oid, int4) -> interval [stable strict] { input interval }
    1161 interval_out(interval) -> cstring [stable strict] { output interval }
    1242 boolin(cstring) -> bool [immutable strict] { input bool }
    1243 boolout(bool) -> cstring [immutable strict] { output bool }
    1244 byteain(cstring) -> bytea [immutable strict] { input bytea }
    1245 charin(cstring) -> char [immutable strict] { input char }
    1267 cidr_in(cstring) -> cidr [immutable strict] { input cidr }
    1312 timestamp_in(cstring, oid, int4) -> timestamp [stable strict] { input timestamp }
    1313 timestamp_out(timestamp) -> cstring [stable strict] { output timestamp }
    1350 timetz_in(cstring, oid, int4) -> timetz [stable strict] { input timetz }
    1351 timetz_out(timetz) -> cstring [immutable strict] { output timetz }
    1427 cidr_out(cidr) -> cstring [immutable strict] { output cidr }
    1450 circle_in(cstring) -> circle [immutable strict] { input circle }
    1451 circle_out(circle) -> cstring [immutable strict] { output circle }
    1490 line_in(cstring) -> line [immutable strict] { input line }
    1491 line_out(line) -> cstring [immutable strict] { output line }
    1564 bit_in(cstring, oid, int4) -> bit [immutable strict] { input bit }
    1565 bit_out(bit) -> cstring [immutable strict] { output bit }
    1579 varbit_in(cstring, oid, int4) -> varbit [immutable strict] { input varbit }
    1580 varbit_out(varbit) -> cstring [immutable strict] { output varbit }
    1701 numeric_in(cstring, oid, int4) -> numeric [immutable strict] { input numeric }
    1702 numeric_out(numeric) -> cstring [immutable strict] { output numeric }
    1798 oidin(cstring) -> oid [immutable strict] { input oid }
    1799 oidout(oid) -> cstring [immutable strict] { output oid }
    2212 regprocedurein(cstring) -> regprocedure [stable strict] { input regprocedure }
    2213 regprocedureout(regprocedure) -> cstring [stable strict] { output regprocedure }
    2214 regoperin(cstring) -> regoper [stable strict] { input regoper }
    2215 regoperout(regoper) -> cstring [stable strict] { output regoper }
    2216 regoperatorin(cstring) -> regoperator [stable strict] { input regoperator }
    2217 regoperatorout(regoperator) -> cstring [stable strict] { output regoperator }
    2218 regclassin(cstring) -> regclass [stable strict] { input regclass }
    2219 regclassout(regclass) -> cstring [stable strict] { output regclass }
    2220 regtypein(cstring) -> regtype [stable strict] { input regtype }
    2221 regtypeout(regtype) -> cstring [stable strict] { output regtype }
    2290 record_in(cstring, oid, int4) -> record [stable strict] { input record }
    2291 record_out(record) -> cstring [stable strict] { output record }
    2292 cstring_in(cstring) -> cstring [immutable strict] { input cstring }
    2293 cstring_out(cstring) -> cstring [immutable strict] { output cstring }
    2294 any_in(cstring) -> any [immutable strict] { input any }
    2295 any_out(any) -> cstring [immutable strict] { output any }
    2296 anyarray_in(cstring) -> anyarray [immutable strict] { input anyarray }
    2297 anyarray_out(anyarray) -> cstring [stable strict] { output anyarray }
    2298 void_in(cstring) -> void [immutable strict] { input void }
    2299 void_out(void) -> cstring [immutable strict] { output void }
    2300 trigger_in(cstring) -> trigger [immutable] { input trigger }
    2301 trigger_out(trigger) -> cstring [immutable strict] { output trigger }
    2302 language_handler_in(cstring) -> language_handler [immutable] { input language_handler }
    2303 language_handler_out(language_handler) -> cstring [immutable strict] { output language_handler }
    2304 internal_in(cstring) -> internal [immutable] { input internal }
    2305 internal_out(internal) -> cstring [immutable strict] { output internal }
    2312 anyelement_in(cstring) -> anyelement [immutable strict] { input anyelement }
    2313 anyelement_out(anyelement) -> cstring [immutable strict] { output anyelement }
    2400 array_recv(internal, oid, int4) -> anyarray [stable strict] { receive anyarray }
    2401 array_send(anyarray) -> bytea [stable strict] { send anyarray }
    2402 record_recv(internal, oid, int4) -> record [stable strict] { receive record }
    2403 record_send(record) -> bytea [stable strict] { send record }
    2404 int2recv(internal) -> int2 [immutable strict] { receive int2 }
    2405 int2send(int2) -> bytea [immutable strict] { send int2 }
    2406 int4recv(internal) -> int4 [immutable strict] { receive int4 }
    2407 int4send(int4) -> bytea [immutable strict] { send int4 }
    2408 int8recv(internal) -> int8 [immutable strict] { receive int8 }
    2409 int8send(int8) -> bytea [immutable strict] { send int8 }
    2410 int2vectorrecv(internal) -> int2vector [immutable strict] { receive int2vector }
    2411 int2vectorsend(int2vector) -> bytea [immutable strict] { send int2vector }
    2412 bytearecv(internal) -> bytea [immutable strict] { receive bytea }
    2413 byteasend(bytea) -> bytea [immutable strict] { send bytea }
    2414 textrecv(internal) -> text [stable strict] { receive text }
    2415 textsend(text) -> bytea [stable strict] { send text }
    2416 unknownrecv(internal) -> unknown [immutable strict] { receive unknown }
    2417 unknownsend(unknown) -> bytea [immutable strict] { send unknown }
    2418 oidrecv(internal) -> oid [immutable strict] { receive oid }
    2419 oidsend(oid) -> bytea [immutable strict] { send oid }
    2420 oidvectorrecv(internal) -> oidvector [immutable strict] { receive oidvector }
    2421 oidvectorsend(oidvector) -> bytea [immutable strict] { send oidvector }
    2422 namerecv(internal) -> name [stable strict] { receive name }
    2423 namesend(name) -> bytea [stable strict] { send name }
    2424 float4recv(internal) -> float4 [immutable strict] { receive float4 }
    2425 float4send(float4) -> bytea [immutable strict] { send float4 }
    2426 float8recv(internal) -> float8 [immutable strict] { receive float8 }
    2427 float8send(float8) -> bytea [immutable strict] { send float8 }
    2428 point_recv(internal) -> point [immutable strict] { receive point }
    2429 point_send(point) -> bytea [immutable strict] { send point }
    2430 bpcharrecv(internal, oid, int4) -> bpchar [stable strict] { receive bpchar }
    2431 bpcharsend(bpchar) -> bytea [stable strict] { send bpchar }
    2432 varcharrecv(internal, oid, int4) -> varchar [stable strict] { receive varchar }
    2433 varcharsend(varchar) -> bytea [stable strict] { send varchar }
    2434 charrecv(internal) -> char [immutable strict] { receive char }
    2435 charsend(char) -> bytea [immutable strict] { send char }
    2436 boolrecv(internal) -> bool [immutable strict] { receive bool }
    2437 boolsend(bool) -> bytea [immutable strict] { send bool }
    2438 tidrecv(internal) -> tid [immutable strict] { receive tid }
    2439 tidsend(tid) -> bytea [immutable strict] { send tid }
    2440 xidrecv(internal) -> xid [immutable strict] { receive xid }
    2441 xidsend(xid) -> bytea [immutable strict] { send xid }
    2442 cidrecv(internal) -> cid [immutable strict] { receive cid }
    2443 cidsend(cid) -> bytea [immutable strict] { send cid }
    2444 regprocrecv(internal) -> regproc [immutable strict] { receive regproc }
    2445 regprocsend(regproc) -> bytea [immutable strict] { send regproc }
    2446 regprocedurerecv(internal) -> regprocedure [immutable strict] { receive regprocedure }
    2447 regproceduresend(regprocedure) -> bytea [immutable strict] { send regprocedure }
    2448 regoperrecv(internal) -> regoper [immutable strict] { receive regoper }
    2449 regopersend(regoper) -> bytea [immutable strict] { send regoper }
    2450 regoperatorrecv(internal) -> regoperator [immutable strict] { receive regoperator }
    2451 regoperatorsend(regoperator) -> bytea [immutable strict] { send regoperator }
    2452 regclassrecv(internal) -> regclass [immutable strict] { receive regclass }
    2453 regclasssend(regclass) -> bytea [immutable strict] { send regclass }
    2454 regtyperecv(internal) -> regtype [immutable strict] { receive regtype }
    2455 regtypesend(regtype) -> bytea [immutable strict] { send regtype }
    2456 bit_recv(internal, oid, int4) -> bit [immutable strict] { receive bit }
    2457 bit_send(bit) -> bytea [immutable strict] { send bit }
    2458 varbit_recv(internal, oid, int4) -> varbit [immutable strict] { receive varbit }
    2459 varbit_send(varbit) -> bytea [immutable strict] { send varbit }
    2460 numeric_recv(internal, oid, int4) -> numeric [immutable strict] { receive numeric }
    2461 numeric_send(numeric) -> bytea [immutable strict] { send numeric }
    2468 date_recv(internal) -> date [immutable strict] { receive date }
    2469 date_send(date) -> bytea [immutable strict] { send date }
    2470 time_recv(internal, oid, int4) -> time [immutable strict] { receive time }
    2471 time_send(time) -> bytea [immutable strict] { send time }
    2472 timetz_recv(internal, oid, int4) -> timetz [immutable strict] { receive timetz }
    2473 timetz_send(timetz) -> bytea [immutable strict] { send timetz }
    2474 timestamp_recv(internal, oid, int4) -> timestamp [immutable strict] { receive timestamp }
    2475 timestamp_send(timestamp) -> bytea [immutable strict] { send timestamp }
    2476 timestamptz_recv(internal, oid, int4) -> timestamptz [immutable strict] { receive timestamptz }
    2477 timestamptz_send(timestamptz) -> bytea [immutable strict] { send timestamptz }
    2478 interval_recv(internal, oid, int4) -> interval [immutable strict] { receive interval }
    2479 interval_send(interval) -> bytea [immutable strict] { send interval }
    2480 lseg_recv(internal) -> lseg [immutable strict] { receive lseg }
    2481 lseg_send(lseg) -> bytea [immutable strict] { send lseg }
    2482 path_recv(internal) -> path [immutable strict] { receive path }
    2483 path_send(path) -> bytea [immutable strict] { send path }
    2484 box_recv(internal) -> r#box [immutable strict] { receive r#box }
    2485 box_send(r#box) -> bytea [immutable strict] { send r#box }
    2486 poly_recv(internal) -> polygon [immutable strict] { receive polygon }
    2487 poly_send(polygon) -> bytea [immutable strict] { send polygon }
    2488 line_recv(internal) -> line [immutable strict] { receive line }
    2489 line_send(line) -> bytea [immutable strict] { send line }
    2490 circle_recv(internal) -> circle [immutable strict] { receive circle }
    2491 circle_send(circle) -> bytea [immutable strict] { send circle }
    2492 cash_recv(internal) -> money [immutable strict] { receive money }
    2493 cash_send(money) -> bytea [immutable strict] { send money }
    2494 macaddr_recv(internal) -> macaddr [immutable strict] { receive macaddr }
    2495 macaddr_send(macaddr) -> bytea [immutable strict] { send macaddr }
    2496 inet_recv(internal) -> inet [immutable strict] { receive inet }
    2497 inet_send(inet) -> bytea [immutable strict] { send inet }
    2498 cidr_recv(internal) -> cidr [immutable strict] { receive cidr }
    2499 cidr_send(cidr) -> bytea [immutable strict] { send cidr }
    2500 cstring_recv(internal) -> cstring [stable strict] { receive cstring }
    2501 cstring_send(cstring) -> bytea [stable strict] { send cstring }
    2502 anyarray_recv(internal) -> anyarray [stable strict] { receive anyarray }
    2503 anyarray_send(anyarray) -> bytea [stable strict] { send anyarray }
    2777 anynonarray_in(cstring) -> anynonarray [immutable strict] { input anynonarray }
    2778 anynonarray_out(anynonarray) -> cstring [immutable strict] { output anynonarray }
    2902 varbittypmodin(_cstring) -> int4 [immutable strict] { typmod_in varbit }
    2903 intervaltypmodin(_cstring) -> int4 [immutable strict] { typmod_in interval }
    2904 intervaltypmodout(int4) -> cstring [immutable strict] { typmod_out interval }
    2905 timestamptypmodin(_cstring) -> int4 [immutable strict] { typmod_in timestamp }
    2906 timestamptypmodout(int4) -> cstring [immutable strict] { typmod_out timestamp }
    2907 timestamptztypmodin(_cstring) -> int4 [immutable strict] { typmod_in timestamptz }
    2908 timestamptztypmodout(int4) -> cstring [immutable strict] { typmod_out timestamptz }
    2909 timetypmodin(_cstring) -> int4 [immutable strict] { typmod_in time }
    2910 timetypmodout(int4) -> cstring [immutable strict] { typmod_out time }
    2911 timetztypmodin(_cstring) -> int4 [immutable strict] { typmod_in timetz }
    2912 timetztypmodout(int4) -> cstring [immutable strict] { typmod_out timetz }
    2913 bpchartypmodin(_cstring) -> int4 [immutable strict] { typmod_in _bpchar }
    2914 bpchartypmodout(int4) -> cstring [immutable strict] { typmod_out _bpchar }
    2915 varchartypmodin(_cstring) -> int4 [immutable strict] { typmod_in _varchar }
    2916 varchartypmodout(int4) -> cstring [immutable strict] { typmod_out _varchar }
    2917 numerictypmodin(_cstring) -> int4 [immutable strict] { typmod_in _numeric }
    2918 numerictypmodout(int4) -> cstring [immutable strict] { typmod_out _numeric }
    2919 bittypmodin(_cstring) -> int4 [immutable strict] { typmod_in bit }
    2920 bittypmodout(int4) -> cstring [immutable strict] { typmod_out bit }
    2921 varbittypmodout(int4) -> cstring [immutable strict] { typmod_out varbit }
    2939 txid_snapshot_in(cstring) -> txid_snapshot [immutable strict] { input txid_snapshot }
    2940 txid_snapshot_out(txid_snapshot) -> cstring [immutable strict] { output txid_snapshot }
    2941 txid_snapshot_recv(internal) -> txid_snapshot [immutable strict] { receive txid_snapshot }
    2942 txid_snapshot_send(txid_snapshot) -> bytea [immutable strict] { send txid_snapshot }
    2952 uuid_in(cstring) -> uuid [immutable strict] { input uuid }
    2953 uuid_out(uuid) -> cstring [immutable strict] { output uuid }
    2961 uuid_recv(internal) -> uuid [immutable strict] { receive uuid }
    2962 uuid_send(uuid) -> bytea [immutable strict] { send uuid }
    3116 fdw_handler_in(cstring) -> fdw_handler [immutable] { input fdw_handler }
    3117 fdw_handler_out(fdw_handler) -> cstring [immutable strict] { output fdw_handler }
    3120 void_recv(internal) -> void [immutable strict] { receive void }
    3121 void_send(void) -> bytea [immutable strict] { send void }
    3229 pg_lsn_in(cstring) -> pg_lsn [immutable strict] { input pg_lsn }
    3230 pg_lsn_out(pg_lsn) -> cstring [immutable strict] { output pg_lsn }
    3238 pg_lsn_recv(internal) -> pg_lsn [immutable strict] { receive pg_lsn }
    3239 pg_lsn_send(pg_lsn) -> bytea [immutable strict] { send pg_lsn }
    3311 tsm_handler_in(cstring) -> tsm_handler [immutable] { input tsm_handler }
    3312 tsm_handler_out(tsm_handler) -> cstring [immutable strict] { output tsm_handler }
    3355 pg_ndistinct_in(cstring) -> pg_ndistinct [immutable strict] { input pg_ndistinct }
    3356 pg_ndistinct_out(pg_ndistinct) -> cstring [immutable strict] { output pg_ndistinct }
    3357 pg_ndistinct_recv(internal) -> pg_ndistinct [stable strict] { receive pg_ndistinct }
    3358 pg_ndistinct_send(pg_ndistinct) -> bytea [stable strict] { send pg_ndistinct }
    3404 pg_dependencies_in(cstring) -> pg_dependencies [immutable strict] { input pg_dependencies }
    3405 pg_dependencies_out(pg_dependencies) -> cstring [immutable strict] { output pg_dependencies }
    3406 pg_dependencies_recv(internal) -> pg_dependencies [stable strict] { receive pg_dependencies }
    3407 pg_dependencies_send(pg_dependencies) -> bytea [stable strict] { send pg_dependencies }
    3446 macaddr8_recv(internal) -> macaddr8 [immutable strict] { receive macaddr8 }
    3447 macaddr8_send(macaddr8) -> bytea [immutable strict] { send macaddr8 }
    2398 shell_in(cstring) -> void [immutable] { || of_shell("accept") }
    2399 shell_out(void) -> cstring [immutable strict] { || of_shell("display") }
    3504 anyenum_in(cstring) -> anyenum [immutable strict] { input anyenum }
    3505 anyenum_out(anyenum) -> cstring [stable strict] { output anyenum }
    3594 event_trigger_in(cstring) -> event_trigger [immutable] { input event_trigger }
    3595 event_trigger_out(event_trigger) -> cstring [immutable strict] { output event_trigger }
    3736 regconfigin(cstring) -> regconfig [stable strict] { input regconfig }
    3737 regconfigout(regconfig) -> cstring [stable strict] { output regconfig }
    3738 regconfigrecv(internal) -> regconfig [immutable strict] { receive regconfig }
    3739 regconfigsend(regconfig) -> bytea [immutable strict] { send regconfig }
    3771 regdictionaryin(cstring) -> regdictionary [stable strict] { input regdictionary }
    3772 regdictionaryout(regdictionary) -> cstring [stable strict] { output regdictionary }
    3773 regdictionaryrecv(internal) -> regdictionary [immutable strict] { receive regdictionary }
    3774 regdictionarysend(regdictionary) -> bytea [immutable strict] { send regdictionary }
    3803 jsonb_send(jsonb) -> bytea [immutable strict] { send jsonb }
    3804 jsonb_out(jsonb) -> cstring [immutable strict] { output jsonb }
    3805 jsonb_recv(internal) -> jsonb [immutable strict] { receive jsonb }
    3806 jsonb_in(cstring) -> jsonb [immutable strict] { input jsonb }
    3832 anyrange_in(cstring, oid, int4) -> anyrange [stable strict] { input anyrange }
    3833 anyrange_out(anyrange) -> cstring [stable strict] { output anyrange }
    3834 range_in(cstring, oid, int4) -> anyrange [stable strict] { input anyrange }
    3835 range_out(anyrange) -> cstring [stable strict] { output anyrange }
    3836 range_recv(internal, oid, int4) -> anyrange [stable strict] { receive anyrange }
    3837 range_send(anyrange) -> bytea [stable strict] { send anyrange }
    4001 jsonpath_in(cstring) -> jsonpath [immutable strict] { input jsonpath }
    4002 jsonpath_recv(internal) -> jsonpath [immutable strict] { receive jsonpath }
    4003 jsonpath_out(jsonpath) -> cstring [immutable strict] { output jsonpath }
    4004 jsonpath_send(jsonpath) -> bytea [immutable strict] { send jsonpath }
    4084 regnamespacein(cstring) -> regnamespace [stable strict] { input regnamespace }
    4085 regnamespaceout(regnamespace) -> cstring [stable strict] { output regnamespace }
    4087 regnamespacerecv(internal) -> regnamespace [immutable strict] { receive regnamespace }
    4088 regnamespacesend(regnamespace) -> bytea [immutable strict] { send regnamespace }
    4092 regroleout(regrole) -> cstring [stable strict] { output regrole }
    4094 regrolerecv(internal) -> regrole [immutable strict] { receive regrole }
    4095 regrolesend(regrole) -> bytea [immutable strict] { send regrole }
    4098 regrolein(cstring) -> regrole [stable strict] { input regrole }
    4110 macaddr8_in(cstring) -> macaddr8 [immutable strict] { input macaddr8 }
    4111 macaddr8_out(macaddr8) -> cstring [immutable strict] { output macaddr8 }
    4193 regcollationin(cstring) -> regcollation [stable strict] { input regcollation }
    4194 regcollationout(regcollation) -> cstring [stable strict] { output regcollation }
    4196 regcollationrecv(internal) -> regcollation [immutable strict] { receive regcollation }
    4197 regcollationsend(regcollation) -> bytea [immutable strict] { send regcollation }
    4226 anycompatiblemultirange_in(cstring, oid, int4) -> anycompatiblemultirange [stable strict] { input anycompatiblemultirange }
    4227 anycompatiblemultirange_out(anycompatiblemultirange) -> cstring [stable strict] { output anycompatiblemultirange }
    4229 anymultirange_in(cstring, oid, int4) -> anymultirange [stable strict] { input anymultirange }
    4230 anymultirange_out(anymultirange) -> cstring [stable strict] { output anymultirange }
    4231 multirange_in(cstring, oid, int4) -> anymultirange [stable strict] { input anymultirange }
    4232 multirange_out(anymultirange) -> cstring [stable strict] { output anymultirange }
    4233 multirange_recv(internal, oid, int4) -> anymultirange [stable strict] { receive anymultirange }
    4234 multirange_send(anymultirange) -> bytea [stable strict] { send anymultirange }
    5018 pg_mcv_list_in(cstring) -> pg_mcv_list [immutable strict] { input pg_mcv_list }
    5019 pg_mcv_list_out(pg_mcv_list) -> cstring [immutable strict] { output pg_mcv_list }
    5020 pg_mcv_list_recv(internal) -> pg_mcv_list [stable strict] { receive pg_mcv_list }
    5021 pg_mcv_list_send(pg_mcv_list) -> bytea [stable strict] { send pg_mcv_list }
    5055 pg_snapshot_in(cstring) -> pg_snapshot [immutable strict] { input pg_snapshot }
    5056 pg_snapshot_out(pg_snapshot) -> cstring [immutable strict] { output pg_snapshot }
    5057 pg_snapshot_recv(internal) -> pg_snapshot [immutable strict] { receive pg_snapshot }
    5058 pg_snapshot_send(pg_snapshot) -> bytea [immutable strict] { send pg_snapshot }
    5070 xid8in(cstring) -> xid8 [immutable strict] { input xid8 }
    5081 xid8out(xid8) -> cstring [immutable strict] { output xid8 }
    5082 xid8recv(internal) -> xid8 [immutable strict] { receive xid8 }
    5083 xid8send(xid8) -> bytea [immutable strict] { send xid8 }
    5086 anycompatible_in(cstring) -> anycompatible [immutable strict] { input anycompatible }
    5087 anycompatible_out(anycompatible) -> cstring [immutable strict] { output anycompatible }
    5088 anycompatiblearray_in(cstring) -> anycompatiblearray [immutable strict] { input anycompatiblearray }
    5089 anycompatiblearray_out(anycompatiblearray) -> cstring [stable strict] { output anycompatiblearray }
    5090 anycompatiblearray_recv(internal) -> anycompatiblearray [stable strict] { receive anycompatiblearray }
    5091 anycompatiblearray_send(anycompatiblearray) -> bytea [stable strict] { send anycompatiblearray }
    5092 anycompatiblenonarray_in(cstring) -> anycompatiblenonarray [immutable strict] { input anycompatiblenonarray }
    5093 anycompatiblenonarray_out(anycompatiblenonarray) -> cstring [immutable strict] { output anycompatiblenonarray }
    5094 anycompatiblerange_in(cstring, oid, int4) -> anycompatiblerange [stable strict] { input anycompatiblerange }
    5095 anycompatiblerange_out(anycompatiblerange) -> cstring [stable strict] { output anycompatiblerange }
}
