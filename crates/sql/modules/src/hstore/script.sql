CREATE TYPE hstore;
CREATE FUNCTION hstore_in(cstring) RETURNS hstore AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION hstore_out(hstore) RETURNS cstring AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION hstore_recv(internal) RETURNS hstore AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION hstore_send(hstore) RETURNS bytea AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION hstore_subscript_handler(internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE TYPE hstore (INPUT = hstore_in, OUTPUT = hstore_out, RECEIVE = hstore_recv, SEND = hstore_send, SUBSCRIPT = hstore_subscript_handler, INTERNALLENGTH = VARIABLE, STORAGE = extended);

CREATE TYPE ghstore;
CREATE FUNCTION ghstore_in(cstring) RETURNS ghstore AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ghstore_out(ghstore) RETURNS cstring AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE TYPE ghstore (INPUT = ghstore_in, OUTPUT = ghstore_out, INTERNALLENGTH = VARIABLE);

CREATE FUNCTION hstore_version_diag(hstore) RETURNS int4 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION fetchval(hstore, text) RETURNS text AS 'MODULE_PATHNAME', 'hstore_fetchval' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION slice_array(hstore, text[]) RETURNS text[] AS 'MODULE_PATHNAME', 'hstore_slice_to_array' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION slice(hstore, text[]) RETURNS hstore AS 'MODULE_PATHNAME', 'hstore_slice_to_hstore' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION isexists(hstore, text) RETURNS bool AS 'MODULE_PATHNAME', 'hstore_exists' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION exist(hstore, text) RETURNS bool AS 'MODULE_PATHNAME', 'hstore_exists' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION exists_any(hstore, text[]) RETURNS bool AS 'MODULE_PATHNAME', 'hstore_exists_any' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION exists_all(hstore, text[]) RETURNS bool AS 'MODULE_PATHNAME', 'hstore_exists_all' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION isdefined(hstore, text) RETURNS bool AS 'MODULE_PATHNAME', 'hstore_defined' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION defined(hstore, text) RETURNS bool AS 'MODULE_PATHNAME', 'hstore_defined' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION delete(hstore, text) RETURNS hstore AS 'MODULE_PATHNAME', 'hstore_delete' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION delete(hstore, text[]) RETURNS hstore AS 'MODULE_PATHNAME', 'hstore_delete_array' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION delete(hstore, hstore) RETURNS hstore AS 'MODULE_PATHNAME', 'hstore_delete_hstore' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION hs_concat(hstore, hstore) RETURNS hstore AS 'MODULE_PATHNAME', 'hstore_concat' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION hs_contains(hstore, hstore) RETURNS bool AS 'MODULE_PATHNAME', 'hstore_contains' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION hs_contained(hstore, hstore) RETURNS bool AS 'MODULE_PATHNAME', 'hstore_contained' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION tconvert(text, text) RETURNS hstore AS 'MODULE_PATHNAME', 'hstore_from_text' LANGUAGE c IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION hstore(text, text) RETURNS hstore AS 'MODULE_PATHNAME', 'hstore_from_text' LANGUAGE c IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION hstore(text[], text[]) RETURNS hstore AS 'MODULE_PATHNAME', 'hstore_from_arrays' LANGUAGE c IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION hstore(text[]) RETURNS hstore AS 'MODULE_PATHNAME', 'hstore_from_array' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION hstore_to_json(hstore) RETURNS json AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION hstore_to_json_loose(hstore) RETURNS json AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION hstore_to_jsonb(hstore) RETURNS jsonb AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION hstore_to_jsonb_loose(hstore) RETURNS jsonb AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION hstore(record) RETURNS hstore AS 'MODULE_PATHNAME', 'hstore_from_record' LANGUAGE c IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION hstore_to_array(hstore) RETURNS text[] AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION hstore_to_matrix(hstore) RETURNS text[] AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION akeys(hstore) RETURNS text[] AS 'MODULE_PATHNAME', 'hstore_akeys' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION avals(hstore) RETURNS text[] AS 'MODULE_PATHNAME', 'hstore_avals' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION skeys(hstore) RETURNS SETOF text AS 'MODULE_PATHNAME', 'hstore_skeys' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION svals(hstore) RETURNS SETOF text AS 'MODULE_PATHNAME', 'hstore_svals' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION each(hs hstore, OUT key text, OUT value text) RETURNS SETOF record AS 'MODULE_PATHNAME', 'hstore_each' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION populate_record(anyelement, hstore) RETURNS anyelement AS 'MODULE_PATHNAME', 'hstore_populate_record' LANGUAGE c IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION hstore_eq(hstore, hstore) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION hstore_ne(hstore, hstore) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION hstore_gt(hstore, hstore) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION hstore_ge(hstore, hstore) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION hstore_lt(hstore, hstore) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION hstore_le(hstore, hstore) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION hstore_cmp(hstore, hstore) RETURNS int4 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION hstore_hash(hstore) RETURNS int4 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ghstore_compress(internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ghstore_decompress(internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ghstore_penalty(internal, internal, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ghstore_picksplit(internal, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ghstore_union(internal, internal) RETURNS ghstore AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ghstore_same(ghstore, ghstore, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ghstore_consistent(internal, hstore, int2, oid, internal) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION gin_extract_hstore(hstore, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION gin_extract_hstore_query(hstore, internal, int2, internal, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION gin_consistent_hstore(internal, int2, hstore, int4, internal, internal) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION hstore_hash_extended(hstore, int8) RETURNS int8 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ghstore_options(internal) RETURNS void AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE PARALLEL SAFE;

CREATE OPERATOR -> (LEFTARG = hstore, RIGHTARG = text, PROCEDURE = fetchval);
CREATE OPERATOR -> (LEFTARG = hstore, RIGHTARG = text[], PROCEDURE = slice_array);
CREATE OPERATOR ? (LEFTARG = hstore, RIGHTARG = text, PROCEDURE = exist, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR ?| (LEFTARG = hstore, RIGHTARG = text[], PROCEDURE = exists_any, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR ?& (LEFTARG = hstore, RIGHTARG = text[], PROCEDURE = exists_all, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR - (LEFTARG = hstore, RIGHTARG = text, PROCEDURE = delete);
CREATE OPERATOR - (LEFTARG = hstore, RIGHTARG = text[], PROCEDURE = delete);
CREATE OPERATOR - (LEFTARG = hstore, RIGHTARG = hstore, PROCEDURE = delete);
CREATE OPERATOR || (LEFTARG = hstore, RIGHTARG = hstore, PROCEDURE = hs_concat);
CREATE OPERATOR <@ (LEFTARG = hstore, RIGHTARG = hstore, PROCEDURE = hs_contained, COMMUTATOR = @>, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR @> (LEFTARG = hstore, RIGHTARG = hstore, PROCEDURE = hs_contains, COMMUTATOR = <@, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR %% (RIGHTARG = hstore, PROCEDURE = hstore_to_array);
CREATE OPERATOR %# (RIGHTARG = hstore, PROCEDURE = hstore_to_matrix);
CREATE OPERATOR #= (LEFTARG = anyelement, RIGHTARG = hstore, PROCEDURE = populate_record);
CREATE OPERATOR <> (LEFTARG = hstore, RIGHTARG = hstore, PROCEDURE = hstore_ne, COMMUTATOR = <>, NEGATOR = =, RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR = (LEFTARG = hstore, RIGHTARG = hstore, PROCEDURE = hstore_eq, COMMUTATOR = =, NEGATOR = <>, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR #># (LEFTARG = hstore, RIGHTARG = hstore, PROCEDURE = hstore_gt, COMMUTATOR = #<#, NEGATOR = #<=#, RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR #>=# (LEFTARG = hstore, RIGHTARG = hstore, PROCEDURE = hstore_ge, COMMUTATOR = #<=#, NEGATOR = #<#, RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR #<# (LEFTARG = hstore, RIGHTARG = hstore, PROCEDURE = hstore_lt, COMMUTATOR = #>#, NEGATOR = #>=#, RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR #<=# (LEFTARG = hstore, RIGHTARG = hstore, PROCEDURE = hstore_le, COMMUTATOR = #>=#, NEGATOR = #>#, RESTRICT = scalarlesel, JOIN = scalarlejoinsel);

CREATE CAST (text[] AS hstore) WITH FUNCTION hstore(text[]);
CREATE CAST (hstore AS json) WITH FUNCTION hstore_to_json(hstore);
CREATE CAST (hstore AS jsonb) WITH FUNCTION hstore_to_jsonb(hstore);

CREATE OPERATOR CLASS btree_hstore_ops DEFAULT FOR TYPE hstore USING btree AS
    OPERATOR 1 #<# (hstore, hstore), OPERATOR 2 #<=# (hstore, hstore), OPERATOR 3 = (hstore, hstore), OPERATOR 4 #>=# (hstore, hstore),
    OPERATOR 5 #># (hstore, hstore), FUNCTION 1 hstore_cmp(hstore,hstore);
CREATE OPERATOR CLASS hash_hstore_ops DEFAULT FOR TYPE hstore USING hash AS
    OPERATOR 1 = (hstore, hstore), FUNCTION 1 hstore_hash(hstore), FUNCTION 2 hstore_hash_extended(hstore,int8);
CREATE OPERATOR CLASS gist_hstore_ops DEFAULT FOR TYPE hstore USING gist AS
    OPERATOR 7 @> (hstore, hstore), OPERATOR 9 ? (hstore, text), OPERATOR 10 ?| (hstore, text[]), OPERATOR 11 ?& (hstore, text[]),
    FUNCTION 1 ghstore_consistent(internal,hstore,int2,oid,internal), FUNCTION 2 ghstore_union(internal,internal),
    FUNCTION 3 ghstore_compress(internal), FUNCTION 4 ghstore_decompress(internal), FUNCTION 5 ghstore_penalty(internal,internal,internal),
    FUNCTION 6 ghstore_picksplit(internal,internal), FUNCTION 7 ghstore_same(ghstore,ghstore,internal), FUNCTION 10 ghstore_options(internal),
    STORAGE ghstore;
CREATE OPERATOR CLASS gin_hstore_ops DEFAULT FOR TYPE hstore USING gin AS
    OPERATOR 7 @> (hstore, hstore), OPERATOR 9 ? (hstore, text), OPERATOR 10 ?| (hstore, text[]), OPERATOR 11 ?& (hstore, text[]),
    FUNCTION 1 bttextcmp(text,text), FUNCTION 2 gin_extract_hstore(hstore,internal),
    FUNCTION 3 gin_extract_hstore_query(hstore,internal,int2,internal,internal),
    FUNCTION 4 gin_consistent_hstore(internal,int2,hstore,int4,internal,internal), STORAGE text;
