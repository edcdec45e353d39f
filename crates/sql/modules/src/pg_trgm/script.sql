CREATE TYPE gtrgm;
CREATE FUNCTION gtrgm_in(cstring) RETURNS gtrgm AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION gtrgm_out(gtrgm) RETURNS cstring AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE TYPE gtrgm (INPUT = gtrgm_in, OUTPUT = gtrgm_out, INTERNALLENGTH = VARIABLE);

CREATE FUNCTION set_limit(float4) RETURNS float4 AS 'MODULE_PATHNAME' LANGUAGE c STRICT;
CREATE FUNCTION show_limit() RETURNS float4 AS 'MODULE_PATHNAME' LANGUAGE c STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION show_trgm(text) RETURNS text[] AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION similarity(text, text) RETURNS float4 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION similarity_op(text, text) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION word_similarity(text, text) RETURNS float4 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION word_similarity_op(text, text) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION word_similarity_commutator_op(text, text) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION similarity_dist(text, text) RETURNS float4 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION word_similarity_dist_op(text, text) RETURNS float4 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION word_similarity_dist_commutator_op(text, text) RETURNS float4 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION gtrgm_consistent(internal, text, int2, oid, internal) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION gtrgm_distance(internal, text, int2, oid, internal) RETURNS float8 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION gtrgm_compress(internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION gtrgm_decompress(internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION gtrgm_penalty(internal, internal, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION gtrgm_picksplit(internal, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION gtrgm_union(internal, internal) RETURNS gtrgm AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION gtrgm_same(gtrgm, gtrgm, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION gin_extract_value_trgm(text, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION gin_extract_query_trgm(text, internal, int2, internal, internal, internal,
    internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION gin_trgm_consistent(internal, int2, text, int4, internal, internal, internal,
    internal) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION gin_trgm_triconsistent(internal, int2, text, int4, internal, internal,
    internal) RETURNS "char" AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION strict_word_similarity(text, text) RETURNS float4 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION strict_word_similarity_op(text, text) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION strict_word_similarity_commutator_op(text, text) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION strict_word_similarity_dist_op(text, text) RETURNS float4 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION strict_word_similarity_dist_commutator_op(text, text) RETURNS float4 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION gtrgm_options(internal) RETURNS void AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE PARALLEL SAFE;

CREATE OPERATOR % (LEFTARG = text, RIGHTARG = text, PROCEDURE = similarity_op, COMMUTATOR = %, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR %> (LEFTARG = text, RIGHTARG = text, PROCEDURE = word_similarity_commutator_op, COMMUTATOR = <%, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR <% (LEFTARG = text, RIGHTARG = text, PROCEDURE = word_similarity_op, COMMUTATOR = %>, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR <-> (LEFTARG = text, RIGHTARG = text, PROCEDURE = similarity_dist, COMMUTATOR = <->);
CREATE OPERATOR <->> (LEFTARG = text, RIGHTARG = text, PROCEDURE = word_similarity_dist_commutator_op, COMMUTATOR = <<->);
CREATE OPERATOR <<-> (LEFTARG = text, RIGHTARG = text, PROCEDURE = word_similarity_dist_op, COMMUTATOR = <->>);
CREATE OPERATOR %>> (LEFTARG = text, RIGHTARG = text, PROCEDURE = strict_word_similarity_commutator_op, COMMUTATOR = <<%, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR <<% (LEFTARG = text, RIGHTARG = text, PROCEDURE = strict_word_similarity_op, COMMUTATOR = %>>, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR <->>> (LEFTARG = text, RIGHTARG = text, PROCEDURE = strict_word_similarity_dist_commutator_op, COMMUTATOR = <<<->);
CREATE OPERATOR <<<-> (LEFTARG = text, RIGHTARG = text, PROCEDURE = strict_word_similarity_dist_op, COMMUTATOR = <->>>);

CREATE OPERATOR CLASS gist_trgm_ops FOR TYPE text USING gist AS
    OPERATOR 1 % (text, text), OPERATOR 2 <-> (text, text) FOR ORDER BY float_ops, OPERATOR 3 ~~ (text, text), OPERATOR 4 ~~* (text, text),
    OPERATOR 5 ~ (text, text), OPERATOR 6 ~* (text, text), OPERATOR 7 %> (text, text), OPERATOR 8 <->> (text, text) FOR ORDER BY float_ops,
    OPERATOR 9 %>> (text, text), OPERATOR 10 <->>> (text, text) FOR ORDER BY float_ops, OPERATOR 11 = (text, text),
    FUNCTION 1 gtrgm_consistent(internal,text,int2,oid,internal), FUNCTION 2 gtrgm_union(internal,internal), FUNCTION 3 gtrgm_compress(internal),
    FUNCTION 4 gtrgm_decompress(internal), FUNCTION 5 gtrgm_penalty(internal,internal,internal), FUNCTION 6 gtrgm_picksplit(internal,internal),
    FUNCTION 7 gtrgm_same(gtrgm,gtrgm,internal), FUNCTION 8 gtrgm_distance(internal,text,int2,oid,internal), FUNCTION 10 gtrgm_options(internal),
    STORAGE gtrgm;
CREATE OPERATOR CLASS gin_trgm_ops FOR TYPE text USING gin AS
    OPERATOR 1 % (text, text), OPERATOR 3 ~~ (text, text), OPERATOR 4 ~~* (text, text), OPERATOR 5 ~ (text, text), OPERATOR 6 ~* (text, text),
    OPERATOR 7 %> (text, text), OPERATOR 9 %>> (text, text), OPERATOR 11 = (text, text), FUNCTION 1 btint4cmp(int4,int4),
    FUNCTION 2 gin_extract_value_trgm(text,internal), FUNCTION 3 gin_extract_query_trgm(text,internal,int2,internal,internal,internal,internal),
    FUNCTION 4 gin_trgm_consistent(internal,int2,text,int4,internal,internal,internal,internal),
    FUNCTION 6 gin_trgm_triconsistent(internal,int2,text,int4,internal,internal,internal), STORAGE int4;
