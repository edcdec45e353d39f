CREATE TYPE query_int;
CREATE FUNCTION bqarr_in(cstring) RETURNS query_int AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION bqarr_out(query_int) RETURNS cstring AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE TYPE query_int (INPUT = bqarr_in, OUTPUT = bqarr_out, INTERNALLENGTH = VARIABLE);

CREATE TYPE intbig_gkey;
CREATE FUNCTION _intbig_in(cstring) RETURNS intbig_gkey AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _intbig_out(intbig_gkey) RETURNS cstring AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE TYPE intbig_gkey (INPUT = _intbig_in, OUTPUT = _intbig_out, INTERNALLENGTH = VARIABLE);

CREATE FUNCTION querytree(query_int) RETURNS text AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION boolop(int4[], query_int) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION rboolop(query_int, int4[]) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _int_matchsel(internal, oid, internal, int4) RETURNS float8 AS 'MODULE_PATHNAME' LANGUAGE c STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _int_contains(int4[], int4[]) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _int_contained(int4[], int4[]) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _int_overlap(int4[], int4[]) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _int_same(int4[], int4[]) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _int_different(int4[], int4[]) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _int_union(int4[], int4[]) RETURNS int4[] AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _int_inter(int4[], int4[]) RETURNS int4[] AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _int_overlap_sel(internal, oid, internal, int4) RETURNS float8 AS 'MODULE_PATHNAME' LANGUAGE c STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _int_contains_sel(internal, oid, internal, int4) RETURNS float8 AS 'MODULE_PATHNAME' LANGUAGE c STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _int_contained_sel(internal, oid, internal, int4) RETURNS float8 AS 'MODULE_PATHNAME' LANGUAGE c STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _int_overlap_joinsel(internal, oid, internal, int2, internal) RETURNS float8 AS 'MODULE_PATHNAME' LANGUAGE c STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _int_contains_joinsel(internal, oid, internal, int2, internal) RETURNS float8 AS 'MODULE_PATHNAME' LANGUAGE c STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _int_contained_joinsel(internal, oid, internal, int2, internal) RETURNS float8 AS 'MODULE_PATHNAME' LANGUAGE c STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION intset(int4) RETURNS int4[] AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION icount(int4[]) RETURNS int4 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION sort(int4[], text) RETURNS int4[] AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION sort(int4[]) RETURNS int4[] AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION sort_asc(int4[]) RETURNS int4[] AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION sort_desc(int4[]) RETURNS int4[] AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION uniq(int4[]) RETURNS int4[] AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION idx(int4[], int4) RETURNS int4 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION subarray(int4[], int4, int4) RETURNS int4[] AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION subarray(int4[], int4) RETURNS int4[] AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION intarray_push_elem(int4[], int4) RETURNS int4[] AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION intarray_push_array(int4[], int4[]) RETURNS int4[] AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION intarray_del_elem(int4[], int4) RETURNS int4[] AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION intset_union_elem(int4[], int4) RETURNS int4[] AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION intset_subtract(int4[], int4[]) RETURNS int4[] AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION g_int_consistent(internal, int4[], int2, oid, internal) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION g_int_compress(internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION g_int_decompress(internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION g_int_penalty(internal, internal, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION g_int_picksplit(internal, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION g_int_union(internal, internal) RETURNS int4[] AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION g_int_same(int4[], int4[], internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION g_intbig_consistent(internal, int4[], int2, oid, internal) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION g_intbig_compress(internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION g_intbig_decompress(internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION g_intbig_penalty(internal, internal, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION g_intbig_picksplit(internal, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION g_intbig_union(internal, internal) RETURNS intbig_gkey AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION g_intbig_same(intbig_gkey, intbig_gkey, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ginint4_queryextract(int4[], internal, int2, internal, internal, internal, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ginint4_consistent(internal, int2, int4[], int4, internal, internal, internal, internal) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION g_int_options(internal) RETURNS void AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION g_intbig_options(internal) RETURNS void AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE PARALLEL SAFE;

CREATE OPERATOR ~~ (LEFTARG = query_int, RIGHTARG = int4[], PROCEDURE = rboolop, COMMUTATOR = @@, RESTRICT = _int_matchsel, JOIN = contjoinsel);
CREATE OPERATOR @@ (LEFTARG = int4[], RIGHTARG = query_int, PROCEDURE = boolop, COMMUTATOR = ~~, RESTRICT = _int_matchsel, JOIN = contjoinsel);
CREATE OPERATOR && (LEFTARG = int4[], RIGHTARG = int4[], PROCEDURE = _int_overlap, COMMUTATOR = &&, RESTRICT = _int_overlap_sel, JOIN = _int_overlap_joinsel);
CREATE OPERATOR <@ (LEFTARG = int4[], RIGHTARG = int4[], PROCEDURE = _int_contained, COMMUTATOR = @>, RESTRICT = _int_contained_sel, JOIN = _int_contained_joinsel);
CREATE OPERATOR @> (LEFTARG = int4[], RIGHTARG = int4[], PROCEDURE = _int_contains, COMMUTATOR = <@, RESTRICT = _int_contains_sel, JOIN = _int_contains_joinsel);
CREATE OPERATOR # (RIGHTARG = int4[], PROCEDURE = icount);
CREATE OPERATOR # (LEFTARG = int4[], RIGHTARG = int4, PROCEDURE = idx);
CREATE OPERATOR + (LEFTARG = int4[], RIGHTARG = int4, PROCEDURE = intarray_push_elem);
CREATE OPERATOR + (LEFTARG = int4[], RIGHTARG = int4[], PROCEDURE = intarray_push_array, COMMUTATOR = +);
CREATE OPERATOR - (LEFTARG = int4[], RIGHTARG = int4, PROCEDURE = intarray_del_elem);
CREATE OPERATOR | (LEFTARG = int4[], RIGHTARG = int4, PROCEDURE = intset_union_elem);
CREATE OPERATOR | (LEFTARG = int4[], RIGHTARG = int4[], PROCEDURE = _int_union, COMMUTATOR = |);
CREATE OPERATOR - (LEFTARG = int4[], RIGHTARG = int4[], PROCEDURE = intset_subtract);
CREATE OPERATOR & (LEFTARG = int4[], RIGHTARG = int4[], PROCEDURE = _int_inter, COMMUTATOR = &);

CREATE OPERATOR CLASS gist__int_ops DEFAULT FOR TYPE int4[] USING gist AS
    OPERATOR 3 && (int4[], int4[]), OPERATOR 6 = (anyarray, anyarray), OPERATOR 7 @> (int4[], int4[]), OPERATOR 20 @@ (int4[], query_int),
    FUNCTION 1 g_int_consistent(internal,int4[],int2,oid,internal), FUNCTION 2 g_int_union(internal,internal), FUNCTION 3 g_int_compress(internal),
    FUNCTION 4 g_int_decompress(internal), FUNCTION 5 g_int_penalty(internal,internal,internal), FUNCTION 6 g_int_picksplit(internal,internal),
    FUNCTION 7 g_int_same(int4[],int4[],internal), FUNCTION 10 g_int_options(internal);
CREATE OPERATOR CLASS gist__intbig_ops FOR TYPE int4[] USING gist AS
    OPERATOR 3 && (int4[], int4[]), OPERATOR 6 = (anyarray, anyarray), OPERATOR 7 @> (int4[], int4[]), OPERATOR 20 @@ (int4[], query_int),
    FUNCTION 1 g_intbig_consistent(internal,int4[],int2,oid,internal), FUNCTION 2 g_intbig_union(internal,internal),
    FUNCTION 3 g_intbig_compress(internal), FUNCTION 4 g_intbig_decompress(internal), FUNCTION 5 g_intbig_penalty(internal,internal,internal),
    FUNCTION 6 g_intbig_picksplit(internal,internal), FUNCTION 7 g_intbig_same(intbig_gkey,intbig_gkey,internal),
    FUNCTION 10 g_intbig_options(internal), STORAGE intbig_gkey;
CREATE OPERATOR CLASS gin__int_ops FOR TYPE int4[] USING gin AS
    OPERATOR 3 && (int4[], int4[]), OPERATOR 6 = (anyarray, anyarray), OPERATOR 7 @> (int4[], int4[]), OPERATOR 8 <@ (int4[], int4[]),
    OPERATOR 20 @@ (int4[], query_int), FUNCTION 1 btint4cmp(int4,int4), FUNCTION 2 ginarrayextract(anyarray,internal,internal),
    FUNCTION 3 ginint4_queryextract(int4[],internal,int2,internal,internal,internal,internal),
    FUNCTION 4 ginint4_consistent(internal,int2,int4[],int4,internal,internal,internal,internal), STORAGE int4;
