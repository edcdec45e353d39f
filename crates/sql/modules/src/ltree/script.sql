CREATE TYPE ltree;
CREATE FUNCTION ltree_in(cstring) RETURNS ltree AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ltree_out(ltree) RETURNS cstring AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ltree_recv(internal) RETURNS ltree AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ltree_send(ltree) RETURNS bytea AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE TYPE ltree (INPUT = ltree_in, OUTPUT = ltree_out, RECEIVE = ltree_recv, SEND = ltree_send, INTERNALLENGTH = VARIABLE, STORAGE = extended);

CREATE TYPE lquery;
CREATE FUNCTION lquery_in(cstring) RETURNS lquery AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION lquery_out(lquery) RETURNS cstring AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION lquery_recv(internal) RETURNS lquery AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION lquery_send(lquery) RETURNS bytea AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE TYPE lquery (INPUT = lquery_in, OUTPUT = lquery_out, RECEIVE = lquery_recv, SEND = lquery_send, INTERNALLENGTH = VARIABLE, STORAGE = extended);

CREATE TYPE ltxtquery;
CREATE FUNCTION ltxtq_in(cstring) RETURNS ltxtquery AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ltxtq_out(ltxtquery) RETURNS cstring AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ltxtq_recv(internal) RETURNS ltxtquery AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ltxtq_send(ltxtquery) RETURNS bytea AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE TYPE ltxtquery (INPUT = ltxtq_in, OUTPUT = ltxtq_out, RECEIVE = ltxtq_recv, SEND = ltxtq_send, INTERNALLENGTH = VARIABLE, STORAGE = extended);

CREATE TYPE ltree_gist;
CREATE FUNCTION ltree_gist_in(cstring) RETURNS ltree_gist AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ltree_gist_out(ltree_gist) RETURNS cstring AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE TYPE ltree_gist (INPUT = ltree_gist_in, OUTPUT = ltree_gist_out, INTERNALLENGTH = VARIABLE);

CREATE FUNCTION ltree_cmp(ltree, ltree) RETURNS int4 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ltree_lt(ltree, ltree) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ltree_le(ltree, ltree) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ltree_eq(ltree, ltree) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ltree_ge(ltree, ltree) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ltree_gt(ltree, ltree) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ltree_ne(ltree, ltree) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION subltree(ltree, int4, int4) RETURNS ltree AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION subpath(ltree, int4, int4) RETURNS ltree AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION subpath(ltree, int4) RETURNS ltree AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION index(ltree, ltree) RETURNS int4 AS 'MODULE_PATHNAME', 'ltree_index' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION index(ltree, ltree, int4) RETURNS int4 AS 'MODULE_PATHNAME', 'ltree_index' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION nlevel(ltree) RETURNS int4 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ltree2text(ltree) RETURNS text AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION text2ltree(text) RETURNS ltree AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION lca(ltree[]) RETURNS ltree AS 'MODULE_PATHNAME', '_lca' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION lca(ltree, ltree) RETURNS ltree AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION lca(ltree, ltree, ltree) RETURNS ltree AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION lca(ltree, ltree, ltree, ltree) RETURNS ltree AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION lca(ltree, ltree, ltree, ltree, ltree) RETURNS ltree AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION lca(ltree, ltree, ltree, ltree, ltree, ltree) RETURNS ltree AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION lca(ltree, ltree, ltree, ltree, ltree, ltree, ltree) RETURNS ltree AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION lca(ltree, ltree, ltree, ltree, ltree, ltree, ltree,
    ltree) RETURNS ltree AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ltree_isparent(ltree, ltree) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ltree_risparent(ltree, ltree) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ltree_addltree(ltree, ltree) RETURNS ltree AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ltree_addtext(ltree, text) RETURNS ltree AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ltree_textadd(text, ltree) RETURNS ltree AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ltreeparentsel(internal, oid, internal, int4) RETURNS float8 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ltq_regex(ltree, lquery) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ltq_rregex(lquery, ltree) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION lt_q_regex(ltree, lquery[]) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION lt_q_rregex(lquery[], ltree) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ltxtq_exec(ltree, ltxtquery) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ltxtq_rexec(ltxtquery, ltree) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ltree_consistent(internal, ltree, int2, oid, internal) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ltree_compress(internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ltree_decompress(internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ltree_penalty(internal, internal, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ltree_picksplit(internal, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ltree_union(internal, internal) RETURNS ltree_gist AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ltree_same(ltree_gist, ltree_gist, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _ltree_isparent(ltree[], ltree) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _ltree_r_isparent(ltree, ltree[]) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _ltree_risparent(ltree[], ltree) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _ltree_r_risparent(ltree, ltree[]) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _ltq_regex(ltree[], lquery) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _ltq_rregex(lquery, ltree[]) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _lt_q_regex(ltree[], lquery[]) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _lt_q_rregex(lquery[], ltree[]) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _ltxtq_exec(ltree[], ltxtquery) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _ltxtq_rexec(ltxtquery, ltree[]) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _ltree_extract_isparent(ltree[], ltree) RETURNS ltree AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _ltree_extract_risparent(ltree[], ltree) RETURNS ltree AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _ltq_extract_regex(ltree[], lquery) RETURNS ltree AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _ltxtq_extract_exec(ltree[], ltxtquery) RETURNS ltree AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _ltree_consistent(internal, ltree[], int2, oid, internal) RETURNS bool AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _ltree_compress(internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _ltree_penalty(internal, internal, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _ltree_picksplit(internal, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _ltree_union(internal, internal) RETURNS ltree_gist AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _ltree_same(ltree_gist, ltree_gist, internal) RETURNS internal AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ltree_gist_options(internal) RETURNS void AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION _ltree_gist_options(internal) RETURNS void AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION hash_ltree(ltree) RETURNS int4 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION hash_ltree_extended(ltree, int8) RETURNS int8 AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;

CREATE OPERATOR > (LEFTARG = ltree, RIGHTARG = ltree, PROCEDURE = ltree_gt, COMMUTATOR = <, NEGATOR = <=, RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR >= (LEFTARG = ltree, RIGHTARG = ltree, PROCEDURE = ltree_ge, COMMUTATOR = <=, NEGATOR = <, RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR < (LEFTARG = ltree, RIGHTARG = ltree, PROCEDURE = ltree_lt, COMMUTATOR = >, NEGATOR = >=, RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR <= (LEFTARG = ltree, RIGHTARG = ltree, PROCEDURE = ltree_le, COMMUTATOR = >=, NEGATOR = >, RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR <> (LEFTARG = ltree, RIGHTARG = ltree, PROCEDURE = ltree_ne, COMMUTATOR = <>, NEGATOR = =, RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR = (LEFTARG = ltree, RIGHTARG = ltree, PROCEDURE = ltree_eq, COMMUTATOR = =, NEGATOR = <>, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR <@ (LEFTARG = ltree, RIGHTARG = ltree, PROCEDURE = ltree_risparent, COMMUTATOR = @>, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR @> (LEFTARG = ltree, RIGHTARG = ltree, PROCEDURE = ltree_isparent, COMMUTATOR = <@, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR ^<@ (LEFTARG = ltree, RIGHTARG = ltree, PROCEDURE = ltree_risparent, COMMUTATOR = ^@>, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR ^@> (LEFTARG = ltree, RIGHTARG = ltree, PROCEDURE = ltree_isparent, COMMUTATOR = ^<@, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR || (LEFTARG = ltree, RIGHTARG = ltree, PROCEDURE = ltree_addltree);
CREATE OPERATOR || (LEFTARG = ltree, RIGHTARG = text, PROCEDURE = ltree_addtext);
CREATE OPERATOR || (LEFTARG = text, RIGHTARG = ltree, PROCEDURE = ltree_textadd);
CREATE OPERATOR ~ (LEFTARG = lquery, RIGHTARG = ltree, PROCEDURE = ltq_rregex, COMMUTATOR = ~, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR ~ (LEFTARG = ltree, RIGHTARG = lquery, PROCEDURE = ltq_regex, COMMUTATOR = ~, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR ^~ (LEFTARG = lquery, RIGHTARG = ltree, PROCEDURE = ltq_rregex, COMMUTATOR = ^~, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR ^~ (LEFTARG = ltree, RIGHTARG = lquery, PROCEDURE = ltq_regex, COMMUTATOR = ^~, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR ? (LEFTARG = lquery[], RIGHTARG = ltree, PROCEDURE = lt_q_rregex, COMMUTATOR = ?, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR ? (LEFTARG = ltree, RIGHTARG = lquery[], PROCEDURE = lt_q_regex, COMMUTATOR = ?, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR ^? (LEFTARG = lquery[], RIGHTARG = ltree, PROCEDURE = lt_q_rregex, COMMUTATOR = ^?, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR ^? (LEFTARG = ltree, RIGHTARG = lquery[], PROCEDURE = lt_q_regex, COMMUTATOR = ^?, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR @ (LEFTARG = ltxtquery, RIGHTARG = ltree, PROCEDURE = ltxtq_rexec, COMMUTATOR = @, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR @ (LEFTARG = ltree, RIGHTARG = ltxtquery, PROCEDURE = ltxtq_exec, COMMUTATOR = @, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR ^@ (LEFTARG = ltxtquery, RIGHTARG = ltree, PROCEDURE = ltxtq_rexec, COMMUTATOR = ^@, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR ^@ (LEFTARG = ltree, RIGHTARG = ltxtquery, PROCEDURE = ltxtq_exec, COMMUTATOR = ^@, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR <@ (LEFTARG = ltree, RIGHTARG = ltree[], PROCEDURE = _ltree_r_isparent, COMMUTATOR = @>, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR @> (LEFTARG = ltree[], RIGHTARG = ltree, PROCEDURE = _ltree_isparent, COMMUTATOR = <@, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR @> (LEFTARG = ltree, RIGHTARG = ltree[], PROCEDURE = _ltree_r_risparent, COMMUTATOR = <@, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR <@ (LEFTARG = ltree[], RIGHTARG = ltree, PROCEDURE = _ltree_risparent, COMMUTATOR = @>, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR ~ (LEFTARG = lquery, RIGHTARG = ltree[], PROCEDURE = _ltq_rregex, COMMUTATOR = ~, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR ~ (LEFTARG = ltree[], RIGHTARG = lquery, PROCEDURE = _ltq_regex, COMMUTATOR = ~, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR ? (LEFTARG = lquery[], RIGHTARG = ltree[], PROCEDURE = _lt_q_rregex, COMMUTATOR = ?, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR ? (LEFTARG = ltree[], RIGHTARG = lquery[], PROCEDURE = _lt_q_regex, COMMUTATOR = ?, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR @ (LEFTARG = ltxtquery, RIGHTARG = ltree[], PROCEDURE = _ltxtq_rexec, COMMUTATOR = @, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR @ (LEFTARG = ltree[], RIGHTARG = ltxtquery, PROCEDURE = _ltxtq_exec, COMMUTATOR = @, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR ^<@ (LEFTARG = ltree, RIGHTARG = ltree[], PROCEDURE = _ltree_r_isparent, COMMUTATOR = ^@>, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR ^@> (LEFTARG = ltree[], RIGHTARG = ltree, PROCEDURE = _ltree_isparent, COMMUTATOR = ^<@, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR ^@> (LEFTARG = ltree, RIGHTARG = ltree[], PROCEDURE = _ltree_r_risparent, COMMUTATOR = ^<@, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR ^<@ (LEFTARG = ltree[], RIGHTARG = ltree, PROCEDURE = _ltree_risparent, COMMUTATOR = ^@>, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR ^~ (LEFTARG = lquery, RIGHTARG = ltree[], PROCEDURE = _ltq_rregex, COMMUTATOR = ^~, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR ^~ (LEFTARG = ltree[], RIGHTARG = lquery, PROCEDURE = _ltq_regex, COMMUTATOR = ^~, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR ^? (LEFTARG = lquery[], RIGHTARG = ltree[], PROCEDURE = _lt_q_rregex, COMMUTATOR = ^?, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR ^? (LEFTARG = ltree[], RIGHTARG = lquery[], PROCEDURE = _lt_q_regex, COMMUTATOR = ^?, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR ^@ (LEFTARG = ltxtquery, RIGHTARG = ltree[], PROCEDURE = _ltxtq_rexec, COMMUTATOR = ^@, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR ^@ (LEFTARG = ltree[], RIGHTARG = ltxtquery, PROCEDURE = _ltxtq_exec, COMMUTATOR = ^@, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR ?@> (LEFTARG = ltree[], RIGHTARG = ltree, PROCEDURE = _ltree_extract_isparent);
CREATE OPERATOR ?<@ (LEFTARG = ltree[], RIGHTARG = ltree, PROCEDURE = _ltree_extract_risparent);
CREATE OPERATOR ?~ (LEFTARG = ltree[], RIGHTARG = lquery, PROCEDURE = _ltq_extract_regex);
CREATE OPERATOR ?@ (LEFTARG = ltree[], RIGHTARG = ltxtquery, PROCEDURE = _ltxtq_extract_exec);

CREATE OPERATOR CLASS ltree_ops DEFAULT FOR TYPE ltree USING btree AS
    OPERATOR 1 < (ltree, ltree), OPERATOR 2 <= (ltree, ltree), OPERATOR 3 = (ltree, ltree), OPERATOR 4 >= (ltree, ltree), OPERATOR 5 > (ltree, ltree),
    FUNCTION 1 ltree_cmp(ltree,ltree);
CREATE OPERATOR CLASS gist_ltree_ops DEFAULT FOR TYPE ltree USING gist AS
    OPERATOR 1 < (ltree, ltree), OPERATOR 2 <= (ltree, ltree), OPERATOR 3 = (ltree, ltree), OPERATOR 4 >= (ltree, ltree), OPERATOR 5 > (ltree, ltree),
    OPERATOR 10 @> (ltree, ltree), OPERATOR 11 <@ (ltree, ltree), OPERATOR 12 ~ (ltree, lquery), OPERATOR 13 ~ (lquery, ltree),
    OPERATOR 14 @ (ltree, ltxtquery), OPERATOR 15 @ (ltxtquery, ltree), OPERATOR 16 ? (ltree, lquery[]), OPERATOR 17 ? (lquery[], ltree),
    FUNCTION 1 ltree_consistent(internal,ltree,int2,oid,internal), FUNCTION 2 ltree_union(internal,internal), FUNCTION 3 ltree_compress(internal),
    FUNCTION 4 ltree_decompress(internal), FUNCTION 5 ltree_penalty(internal,internal,internal), FUNCTION 6 ltree_picksplit(internal,internal),
    FUNCTION 7 ltree_same(ltree_gist,ltree_gist,internal), FUNCTION 10 ltree_gist_options(internal), STORAGE ltree_gist;
CREATE OPERATOR CLASS gist__ltree_ops DEFAULT FOR TYPE ltree[] USING gist AS
    OPERATOR 10 <@ (ltree[], ltree), OPERATOR 11 @> (ltree, ltree[]), OPERATOR 12 ~ (ltree[], lquery), OPERATOR 13 ~ (lquery, ltree[]),
    OPERATOR 14 @ (ltree[], ltxtquery), OPERATOR 15 @ (ltxtquery, ltree[]), OPERATOR 16 ? (ltree[], lquery[]), OPERATOR 17 ? (lquery[], ltree[]),
    FUNCTION 1 _ltree_consistent(internal,ltree[],int2,oid,internal), FUNCTION 2 _ltree_union(internal,internal),
    FUNCTION 3 _ltree_compress(internal), FUNCTION 4 ltree_decompress(internal), FUNCTION 5 _ltree_penalty(internal,internal,internal),
    FUNCTION 6 _ltree_picksplit(internal,internal), FUNCTION 7 _ltree_same(ltree_gist,ltree_gist,internal),
    FUNCTION 10 _ltree_gist_options(internal), STORAGE ltree_gist;
CREATE OPERATOR CLASS hash_ltree_ops DEFAULT FOR TYPE ltree USING hash AS
    OPERATOR 1 = (ltree, ltree), FUNCTION 1 hash_ltree(ltree), FUNCTION 2 hash_ltree_extended(ltree,int8);
