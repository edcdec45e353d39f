CREATE FUNCTION gin_btree_consistent(internal, int2, anyelement, int4, internal,
    internal) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_value_int2(int2, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_compare_prefix_int2(int2, int2, int2, internal) RETURNS int4 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_query_int2(int2, internal, int2, internal, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_value_int4(int4, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_compare_prefix_int4(int4, int4, int2, internal) RETURNS int4 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_query_int4(int4, internal, int2, internal, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_value_int8(int8, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_compare_prefix_int8(int8, int8, int2, internal) RETURNS int4 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_query_int8(int8, internal, int2, internal, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_value_float4(float4, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_compare_prefix_float4(float4, float4, int2, internal) RETURNS int4 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_query_float4(float4, internal, int2, internal,
    internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_value_float8(float8, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_compare_prefix_float8(float8, float8, int2, internal) RETURNS int4 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_query_float8(float8, internal, int2, internal,
    internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_value_money(money, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_compare_prefix_money(money, money, int2, internal) RETURNS int4 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_query_money(money, internal, int2, internal, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_value_oid(oid, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_compare_prefix_oid(oid, oid, int2, internal) RETURNS int4 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_query_oid(oid, internal, int2, internal, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_value_timestamp(timestamp, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_compare_prefix_timestamp(timestamp, timestamp, int2, internal) RETURNS int4 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_query_timestamp(timestamp, internal, int2, internal,
    internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_value_timestamptz(timestamptz, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_compare_prefix_timestamptz(timestamptz, timestamptz, int2,
    internal) RETURNS int4 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_query_timestamptz(timestamptz, internal, int2, internal,
    internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_value_time(time, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_compare_prefix_time(time, time, int2, internal) RETURNS int4 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_query_time(time, internal, int2, internal, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_value_timetz(timetz, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_compare_prefix_timetz(timetz, timetz, int2, internal) RETURNS int4 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_query_timetz(timetz, internal, int2, internal,
    internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_value_date(date, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_compare_prefix_date(date, date, int2, internal) RETURNS int4 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_query_date(date, internal, int2, internal, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_value_interval(interval, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_compare_prefix_interval(interval, interval, int2, internal) RETURNS int4 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_query_interval(interval, internal, int2, internal,
    internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_value_macaddr(macaddr, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_compare_prefix_macaddr(macaddr, macaddr, int2, internal) RETURNS int4 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_query_macaddr(macaddr, internal, int2, internal,
    internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_value_inet(inet, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_compare_prefix_inet(inet, inet, int2, internal) RETURNS int4 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_query_inet(inet, internal, int2, internal, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_value_cidr(cidr, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_compare_prefix_cidr(cidr, cidr, int2, internal) RETURNS int4 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_query_cidr(cidr, internal, int2, internal, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_value_text(text, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_compare_prefix_text(text, text, int2, internal) RETURNS int4 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_query_text(text, internal, int2, internal, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_value_char("char", internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_compare_prefix_char("char", "char", int2, internal) RETURNS int4 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_query_char("char", internal, int2, internal, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_value_bytea(bytea, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_compare_prefix_bytea(bytea, bytea, int2, internal) RETURNS int4 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_query_bytea(bytea, internal, int2, internal, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_value_bit(bit, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_compare_prefix_bit(bit, bit, int2, internal) RETURNS int4 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_query_bit(bit, internal, int2, internal, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_value_varbit(varbit, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_compare_prefix_varbit(varbit, varbit, int2, internal) RETURNS int4 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_query_varbit(varbit, internal, int2, internal,
    internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_value_numeric(numeric, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_compare_prefix_numeric(numeric, numeric, int2, internal) RETURNS int4 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_query_numeric(numeric, internal, int2, internal,
    internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_numeric_cmp(numeric, numeric) RETURNS int4 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_value_macaddr8(macaddr8, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_compare_prefix_macaddr8(macaddr8, macaddr8, int2, internal) RETURNS int4 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_query_macaddr8(macaddr8, internal, int2, internal,
    internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_value_anyenum(anyenum, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_compare_prefix_anyenum(anyenum, anyenum, int2, internal) RETURNS int4 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_query_anyenum(anyenum, internal, int2, internal,
    internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_enum_cmp(anyenum, anyenum) RETURNS int4 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_value_uuid(uuid, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_compare_prefix_uuid(uuid, uuid, int2, internal) RETURNS int4 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_query_uuid(uuid, internal, int2, internal, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_value_name(name, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_compare_prefix_name(name, name, int2, internal) RETURNS int4 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_query_name(name, internal, int2, internal, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_value_bool(bool, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_compare_prefix_bool(bool, bool, int2, internal) RETURNS int4 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_query_bool(bool, internal, int2, internal, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_value_bpchar(bpchar, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_compare_prefix_bpchar(bpchar, bpchar, int2, internal) RETURNS int4 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;
CREATE FUNCTION gin_extract_query_bpchar(bpchar, internal, int2, internal,
    internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT;

CREATE OPERATOR CLASS int2_ops DEFAULT FOR TYPE int2 USING gin AS
    OPERATOR 1 < (int2, int2), OPERATOR 2 <= (int2, int2), OPERATOR 3 = (int2, int2), OPERATOR 4 >= (int2, int2), OPERATOR 5 > (int2, int2),
    FUNCTION 1 btint2cmp(int2,int2), FUNCTION 2 gin_extract_value_int2(int2,internal),
    FUNCTION 3 gin_extract_query_int2(int2,internal,int2,internal,internal),
    FUNCTION 4 gin_btree_consistent(internal,int2,anyelement,int4,internal,internal), FUNCTION 5 gin_compare_prefix_int2(int2,int2,int2,internal);
CREATE OPERATOR CLASS int4_ops DEFAULT FOR TYPE int4 USING gin AS
    OPERATOR 1 < (int4, int4), OPERATOR 2 <= (int4, int4), OPERATOR 3 = (int4, int4), OPERATOR 4 >= (int4, int4), OPERATOR 5 > (int4, int4),
    FUNCTION 1 btint4cmp(int4,int4), FUNCTION 2 gin_extract_value_int4(int4,internal),
    FUNCTION 3 gin_extract_query_int4(int4,internal,int2,internal,internal),
    FUNCTION 4 gin_btree_consistent(internal,int2,anyelement,int4,internal,internal), FUNCTION 5 gin_compare_prefix_int4(int4,int4,int2,internal);
CREATE OPERATOR CLASS int8_ops DEFAULT FOR TYPE int8 USING gin AS
    OPERATOR 1 < (int8, int8), OPERATOR 2 <= (int8, int8), OPERATOR 3 = (int8, int8), OPERATOR 4 >= (int8, int8), OPERATOR 5 > (int8, int8),
    FUNCTION 1 btint8cmp(int8,int8), FUNCTION 2 gin_extract_value_int8(int8,internal),
    FUNCTION 3 gin_extract_query_int8(int8,internal,int2,internal,internal),
    FUNCTION 4 gin_btree_consistent(internal,int2,anyelement,int4,internal,internal), FUNCTION 5 gin_compare_prefix_int8(int8,int8,int2,internal);
CREATE OPERATOR CLASS float4_ops DEFAULT FOR TYPE float4 USING gin AS
    OPERATOR 1 < (float4, float4), OPERATOR 2 <= (float4, float4), OPERATOR 3 = (float4, float4), OPERATOR 4 >= (float4, float4), OPERATOR 5 > (float4,
    float4), FUNCTION 1 btfloat4cmp(float4,float4), FUNCTION 2 gin_extract_value_float4(float4,internal),
    FUNCTION 3 gin_extract_query_float4(float4,internal,int2,internal,internal),
    FUNCTION 4 gin_btree_consistent(internal,int2,anyelement,int4,internal,internal),
    FUNCTION 5 gin_compare_prefix_float4(float4,float4,int2,internal);
CREATE OPERATOR CLASS float8_ops DEFAULT FOR TYPE float8 USING gin AS
    OPERATOR 1 < (float8, float8), OPERATOR 2 <= (float8, float8), OPERATOR 3 = (float8, float8), OPERATOR 4 >= (float8, float8), OPERATOR 5 > (float8,
    float8), FUNCTION 1 btfloat8cmp(float8,float8), FUNCTION 2 gin_extract_value_float8(float8,internal),
    FUNCTION 3 gin_extract_query_float8(float8,internal,int2,internal,internal),
    FUNCTION 4 gin_btree_consistent(internal,int2,anyelement,int4,internal,internal),
    FUNCTION 5 gin_compare_prefix_float8(float8,float8,int2,internal);
CREATE OPERATOR CLASS money_ops DEFAULT FOR TYPE money USING gin AS
    OPERATOR 1 < (money, money), OPERATOR 2 <= (money, money), OPERATOR 3 = (money, money), OPERATOR 4 >= (money, money), OPERATOR 5 > (money, money),
    FUNCTION 1 cash_cmp(money,money), FUNCTION 2 gin_extract_value_money(money,internal),
    FUNCTION 3 gin_extract_query_money(money,internal,int2,internal,internal),
    FUNCTION 4 gin_btree_consistent(internal,int2,anyelement,int4,internal,internal), FUNCTION 5 gin_compare_prefix_money(money,money,int2,internal);
CREATE OPERATOR CLASS oid_ops DEFAULT FOR TYPE oid USING gin AS
    OPERATOR 1 < (oid, oid), OPERATOR 2 <= (oid, oid), OPERATOR 3 = (oid, oid), OPERATOR 4 >= (oid, oid), OPERATOR 5 > (oid, oid),
    FUNCTION 1 btoidcmp(oid,oid), FUNCTION 2 gin_extract_value_oid(oid,internal),
    FUNCTION 3 gin_extract_query_oid(oid,internal,int2,internal,internal),
    FUNCTION 4 gin_btree_consistent(internal,int2,anyelement,int4,internal,internal), FUNCTION 5 gin_compare_prefix_oid(oid,oid,int2,internal);
CREATE OPERATOR CLASS timestamp_ops DEFAULT FOR TYPE timestamp USING gin AS
    OPERATOR 1 < (timestamp, timestamp), OPERATOR 2 <= (timestamp, timestamp), OPERATOR 3 = (timestamp, timestamp), OPERATOR 4 >= (timestamp,
    timestamp), OPERATOR 5 > (timestamp, timestamp), FUNCTION 1 timestamp_cmp(timestamp,timestamp),
    FUNCTION 2 gin_extract_value_timestamp(timestamp,internal), FUNCTION 3 gin_extract_query_timestamp(timestamp,internal,int2,internal,internal),
    FUNCTION 4 gin_btree_consistent(internal,int2,anyelement,int4,internal,internal),
    FUNCTION 5 gin_compare_prefix_timestamp(timestamp,timestamp,int2,internal);
CREATE OPERATOR CLASS timestamptz_ops DEFAULT FOR TYPE timestamptz USING gin AS
    OPERATOR 1 < (timestamptz, timestamptz), OPERATOR 2 <= (timestamptz, timestamptz), OPERATOR 3 = (timestamptz, timestamptz),
    OPERATOR 4 >= (timestamptz, timestamptz), OPERATOR 5 > (timestamptz, timestamptz), FUNCTION 1 timestamptz_cmp(timestamptz,timestamptz),
    FUNCTION 2 gin_extract_value_timestamptz(timestamptz,internal),
    FUNCTION 3 gin_extract_query_timestamptz(timestamptz,internal,int2,internal,internal),
    FUNCTION 4 gin_btree_consistent(internal,int2,anyelement,int4,internal,internal),
    FUNCTION 5 gin_compare_prefix_timestamptz(timestamptz,timestamptz,int2,internal);
CREATE OPERATOR CLASS time_ops DEFAULT FOR TYPE time USING gin AS
    OPERATOR 1 < (time, time), OPERATOR 2 <= (time, time), OPERATOR 3 = (time, time), OPERATOR 4 >= (time, time), OPERATOR 5 > (time, time),
    FUNCTION 1 time_cmp(time,time), FUNCTION 2 gin_extract_value_time(time,internal),
    FUNCTION 3 gin_extract_query_time(time,internal,int2,internal,internal),
    FUNCTION 4 gin_btree_consistent(internal,int2,anyelement,int4,internal,internal), FUNCTION 5 gin_compare_prefix_time(time,time,int2,internal);
CREATE OPERATOR CLASS timetz_ops DEFAULT FOR TYPE timetz USING gin AS
    OPERATOR 1 < (timetz, timetz), OPERATOR 2 <= (timetz, timetz), OPERATOR 3 = (timetz, timetz), OPERATOR 4 >= (timetz, timetz), OPERATOR 5 > (timetz,
    timetz), FUNCTION 1 timetz_cmp(timetz,timetz), FUNCTION 2 gin_extract_value_timetz(timetz,internal),
    FUNCTION 3 gin_extract_query_timetz(timetz,internal,int2,internal,internal),
    FUNCTION 4 gin_btree_consistent(internal,int2,anyelement,int4,internal,internal),
    FUNCTION 5 gin_compare_prefix_timetz(timetz,timetz,int2,internal);
CREATE OPERATOR CLASS date_ops DEFAULT FOR TYPE date USING gin AS
    OPERATOR 1 < (date, date), OPERATOR 2 <= (date, date), OPERATOR 3 = (date, date), OPERATOR 4 >= (date, date), OPERATOR 5 > (date, date),
    FUNCTION 1 date_cmp(date,date), FUNCTION 2 gin_extract_value_date(date,internal),
    FUNCTION 3 gin_extract_query_date(date,internal,int2,internal,internal),
    FUNCTION 4 gin_btree_consistent(internal,int2,anyelement,int4,internal,internal), FUNCTION 5 gin_compare_prefix_date(date,date,int2,internal);
CREATE OPERATOR CLASS interval_ops DEFAULT FOR TYPE interval USING gin AS
    OPERATOR 1 < (interval, interval), OPERATOR 2 <= (interval, interval), OPERATOR 3 = (interval, interval), OPERATOR 4 >= (interval, interval),
    OPERATOR 5 > (interval, interval), FUNCTION 1 interval_cmp(interval,interval), FUNCTION 2 gin_extract_value_interval(interval,internal),
    FUNCTION 3 gin_extract_query_interval(interval,internal,int2,internal,internal),
    FUNCTION 4 gin_btree_consistent(internal,int2,anyelement,int4,internal,internal),
    FUNCTION 5 gin_compare_prefix_interval(interval,interval,int2,internal);
CREATE OPERATOR CLASS macaddr_ops DEFAULT FOR TYPE macaddr USING gin AS
    OPERATOR 1 < (macaddr, macaddr), OPERATOR 2 <= (macaddr, macaddr), OPERATOR 3 = (macaddr, macaddr), OPERATOR 4 >= (macaddr, macaddr),
    OPERATOR 5 > (macaddr, macaddr), FUNCTION 1 macaddr_cmp(macaddr,macaddr), FUNCTION 2 gin_extract_value_macaddr(macaddr,internal),
    FUNCTION 3 gin_extract_query_macaddr(macaddr,internal,int2,internal,internal),
    FUNCTION 4 gin_btree_consistent(internal,int2,anyelement,int4,internal,internal),
    FUNCTION 5 gin_compare_prefix_macaddr(macaddr,macaddr,int2,internal);
CREATE OPERATOR CLASS inet_ops DEFAULT FOR TYPE inet USING gin AS
    OPERATOR 1 < (inet, inet), OPERATOR 2 <= (inet, inet), OPERATOR 3 = (inet, inet), OPERATOR 4 >= (inet, inet), OPERATOR 5 > (inet, inet),
    FUNCTION 1 network_cmp(inet,inet), FUNCTION 2 gin_extract_value_inet(inet,internal),
    FUNCTION 3 gin_extract_query_inet(inet,internal,int2,internal,internal),
    FUNCTION 4 gin_btree_consistent(internal,int2,anyelement,int4,internal,internal), FUNCTION 5 gin_compare_prefix_inet(inet,inet,int2,internal);
CREATE OPERATOR CLASS cidr_ops DEFAULT FOR TYPE cidr USING gin AS
    OPERATOR 1 < (inet, inet), OPERATOR 2 <= (inet, inet), OPERATOR 3 = (inet, inet), OPERATOR 4 >= (inet, inet), OPERATOR 5 > (inet, inet),
    FUNCTION 1 network_cmp(inet,inet), FUNCTION 2 gin_extract_value_cidr(cidr,internal),
    FUNCTION 3 gin_extract_query_cidr(cidr,internal,int2,internal,internal),
    FUNCTION 4 gin_btree_consistent(internal,int2,anyelement,int4,internal,internal), FUNCTION 5 gin_compare_prefix_cidr(cidr,cidr,int2,internal);
CREATE OPERATOR CLASS text_ops DEFAULT FOR TYPE text USING gin AS
    OPERATOR 1 < (text, text), OPERATOR 2 <= (text, text), OPERATOR 3 = (text, text), OPERATOR 4 >= (text, text), OPERATOR 5 > (text, text),
    FUNCTION 1 bttextcmp(text,text), FUNCTION 2 gin_extract_value_text(text,internal),
    FUNCTION 3 gin_extract_query_text(text,internal,int2,internal,internal),
    FUNCTION 4 gin_btree_consistent(internal,int2,anyelement,int4,internal,internal), FUNCTION 5 gin_compare_prefix_text(text,text,int2,internal);
CREATE OPERATOR CLASS varchar_ops DEFAULT FOR TYPE varchar USING gin AS
    OPERATOR 1 < (text, text), OPERATOR 2 <= (text, text), OPERATOR 3 = (text, text), OPERATOR 4 >= (text, text), OPERATOR 5 > (text, text),
    FUNCTION 1 bttextcmp(text,text), FUNCTION 2 gin_extract_value_text(text,internal),
    FUNCTION 3 gin_extract_query_text(text,internal,int2,internal,internal),
    FUNCTION 4 gin_btree_consistent(internal,int2,anyelement,int4,internal,internal), FUNCTION 5 gin_compare_prefix_text(text,text,int2,internal);
CREATE OPERATOR CLASS char_ops DEFAULT FOR TYPE "char" USING gin AS
    OPERATOR 1 < ("char", "char"), OPERATOR 2 <= ("char", "char"), OPERATOR 3 = ("char", "char"), OPERATOR 4 >= ("char", "char"), OPERATOR 5 > ("char",
    "char"), FUNCTION 1 btcharcmp("char","char"), FUNCTION 2 gin_extract_value_char("char",internal),
    FUNCTION 3 gin_extract_query_char("char",internal,int2,internal,internal),
    FUNCTION 4 gin_btree_consistent(internal,int2,anyelement,int4,internal,internal), FUNCTION 5 gin_compare_prefix_char("char","char",int2,internal);
CREATE OPERATOR CLASS bytea_ops DEFAULT FOR TYPE bytea USING gin AS
    OPERATOR 1 < (bytea, bytea), OPERATOR 2 <= (bytea, bytea), OPERATOR 3 = (bytea, bytea), OPERATOR 4 >= (bytea, bytea), OPERATOR 5 > (bytea, bytea),
    FUNCTION 1 byteacmp(bytea,bytea), FUNCTION 2 gin_extract_value_bytea(bytea,internal),
    FUNCTION 3 gin_extract_query_bytea(bytea,internal,int2,internal,internal),
    FUNCTION 4 gin_btree_consistent(internal,int2,anyelement,int4,internal,internal), FUNCTION 5 gin_compare_prefix_bytea(bytea,bytea,int2,internal);
CREATE OPERATOR CLASS bit_ops DEFAULT FOR TYPE bit USING gin AS
    OPERATOR 1 < (bit, bit), OPERATOR 2 <= (bit, bit), OPERATOR 3 = (bit, bit), OPERATOR 4 >= (bit, bit), OPERATOR 5 > (bit, bit),
    FUNCTION 1 bitcmp(bit,bit), FUNCTION 2 gin_extract_value_bit(bit,internal),
    FUNCTION 3 gin_extract_query_bit(bit,internal,int2,internal,internal),
    FUNCTION 4 gin_btree_consistent(internal,int2,anyelement,int4,internal,internal), FUNCTION 5 gin_compare_prefix_bit(bit,bit,int2,internal);
CREATE OPERATOR CLASS varbit_ops DEFAULT FOR TYPE varbit USING gin AS
    OPERATOR 1 < (varbit, varbit), OPERATOR 2 <= (varbit, varbit), OPERATOR 3 = (varbit, varbit), OPERATOR 4 >= (varbit, varbit), OPERATOR 5 > (varbit,
    varbit), FUNCTION 1 varbitcmp(varbit,varbit), FUNCTION 2 gin_extract_value_varbit(varbit,internal),
    FUNCTION 3 gin_extract_query_varbit(varbit,internal,int2,internal,internal),
    FUNCTION 4 gin_btree_consistent(internal,int2,anyelement,int4,internal,internal),
    FUNCTION 5 gin_compare_prefix_varbit(varbit,varbit,int2,internal);
CREATE OPERATOR CLASS numeric_ops DEFAULT FOR TYPE numeric USING gin AS
    OPERATOR 1 < (numeric, numeric), OPERATOR 2 <= (numeric, numeric), OPERATOR 3 = (numeric, numeric), OPERATOR 4 >= (numeric, numeric),
    OPERATOR 5 > (numeric, numeric), FUNCTION 1 gin_numeric_cmp(numeric,numeric), FUNCTION 2 gin_extract_value_numeric(numeric,internal),
    FUNCTION 3 gin_extract_query_numeric(numeric,internal,int2,internal,internal),
    FUNCTION 4 gin_btree_consistent(internal,int2,anyelement,int4,internal,internal),
    FUNCTION 5 gin_compare_prefix_numeric(numeric,numeric,int2,internal);
CREATE OPERATOR CLASS macaddr8_ops DEFAULT FOR TYPE macaddr8 USING gin AS
    OPERATOR 1 < (macaddr8, macaddr8), OPERATOR 2 <= (macaddr8, macaddr8), OPERATOR 3 = (macaddr8, macaddr8), OPERATOR 4 >= (macaddr8, macaddr8),
    OPERATOR 5 > (macaddr8, macaddr8), FUNCTION 1 macaddr8_cmp(macaddr8,macaddr8), FUNCTION 2 gin_extract_value_macaddr8(macaddr8,internal),
    FUNCTION 3 gin_extract_query_macaddr8(macaddr8,internal,int2,internal,internal),
    FUNCTION 4 gin_btree_consistent(internal,int2,anyelement,int4,internal,internal),
    FUNCTION 5 gin_compare_prefix_macaddr8(macaddr8,macaddr8,int2,internal);
CREATE OPERATOR CLASS enum_ops DEFAULT FOR TYPE anyenum USING gin AS
    OPERATOR 1 < (anyenum, anyenum), OPERATOR 2 <= (anyenum, anyenum), OPERATOR 3 = (anyenum, anyenum), OPERATOR 4 >= (anyenum, anyenum),
    OPERATOR 5 > (anyenum, anyenum), FUNCTION 1 gin_enum_cmp(anyenum,anyenum), FUNCTION 2 gin_extract_value_anyenum(anyenum,internal),
    FUNCTION 3 gin_extract_query_anyenum(anyenum,internal,int2,internal,internal),
    FUNCTION 4 gin_btree_consistent(internal,int2,anyelement,int4,internal,internal),
    FUNCTION 5 gin_compare_prefix_anyenum(anyenum,anyenum,int2,internal);
CREATE OPERATOR CLASS uuid_ops DEFAULT FOR TYPE uuid USING gin AS
    OPERATOR 1 < (uuid, uuid), OPERATOR 2 <= (uuid, uuid), OPERATOR 3 = (uuid, uuid), OPERATOR 4 >= (uuid, uuid), OPERATOR 5 > (uuid, uuid),
    FUNCTION 1 uuid_cmp(uuid,uuid), FUNCTION 2 gin_extract_value_uuid(uuid,internal),
    FUNCTION 3 gin_extract_query_uuid(uuid,internal,int2,internal,internal),
    FUNCTION 4 gin_btree_consistent(internal,int2,anyelement,int4,internal,internal), FUNCTION 5 gin_compare_prefix_uuid(uuid,uuid,int2,internal);
CREATE OPERATOR CLASS name_ops DEFAULT FOR TYPE name USING gin AS
    OPERATOR 1 < (name, name), OPERATOR 2 <= (name, name), OPERATOR 3 = (name, name), OPERATOR 4 >= (name, name), OPERATOR 5 > (name, name),
    FUNCTION 1 btnamecmp(name,name), FUNCTION 2 gin_extract_value_name(name,internal),
    FUNCTION 3 gin_extract_query_name(name,internal,int2,internal,internal),
    FUNCTION 4 gin_btree_consistent(internal,int2,anyelement,int4,internal,internal), FUNCTION 5 gin_compare_prefix_name(name,name,int2,internal);
CREATE OPERATOR CLASS bool_ops DEFAULT FOR TYPE bool USING gin AS
    OPERATOR 1 < (bool, bool), OPERATOR 2 <= (bool, bool), OPERATOR 3 = (bool, bool), OPERATOR 4 >= (bool, bool), OPERATOR 5 > (bool, bool),
    FUNCTION 1 btboolcmp(bool,bool), FUNCTION 2 gin_extract_value_bool(bool,internal),
    FUNCTION 3 gin_extract_query_bool(bool,internal,int2,internal,internal),
    FUNCTION 4 gin_btree_consistent(internal,int2,anyelement,int4,internal,internal), FUNCTION 5 gin_compare_prefix_bool(bool,bool,int2,internal);
CREATE OPERATOR CLASS bpchar_ops DEFAULT FOR TYPE bpchar USING gin AS
    OPERATOR 1 < (bpchar, bpchar), OPERATOR 2 <= (bpchar, bpchar), OPERATOR 3 = (bpchar, bpchar), OPERATOR 4 >= (bpchar, bpchar), OPERATOR 5 > (bpchar,
    bpchar), FUNCTION 1 bpcharcmp(bpchar,bpchar), FUNCTION 2 gin_extract_value_bpchar(bpchar,internal),
    FUNCTION 3 gin_extract_query_bpchar(bpchar,internal,int2,internal,internal),
    FUNCTION 4 gin_btree_consistent(internal,int2,anyelement,int4,internal,internal),
    FUNCTION 5 gin_compare_prefix_bpchar(bpchar,bpchar,int2,internal);
