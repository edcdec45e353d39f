CREATE TYPE citext;

CREATE FUNCTION citextin(cstring) RETURNS citext AS 'textin' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION citextout(citext) RETURNS cstring AS 'textout' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION citextrecv(internal) RETURNS citext AS 'textrecv' LANGUAGE internal STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION citextsend(citext) RETURNS bytea AS 'textsend' LANGUAGE internal STABLE STRICT PARALLEL SAFE;

CREATE TYPE citext (
    INPUT = citextin, OUTPUT = citextout, RECEIVE = citextrecv, SEND = citextsend,
    INTERNALLENGTH = VARIABLE, STORAGE = extended, CATEGORY = 'S', PREFERRED = false, COLLATABLE = true
);

CREATE CAST (citext AS text) WITHOUT FUNCTION AS IMPLICIT;
CREATE CAST (citext AS varchar) WITHOUT FUNCTION AS IMPLICIT;
CREATE CAST (citext AS bpchar) WITHOUT FUNCTION AS ASSIGNMENT;
CREATE CAST (text AS citext) WITHOUT FUNCTION AS ASSIGNMENT;
CREATE CAST (varchar AS citext) WITHOUT FUNCTION AS ASSIGNMENT;

CREATE FUNCTION citext(bpchar) RETURNS citext LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN ($1::pg_catalog.text)::citext;
CREATE FUNCTION citext(boolean) RETURNS citext LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN ($1::pg_catalog.text)::citext;
CREATE FUNCTION citext(inet) RETURNS citext LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN ($1::pg_catalog.text)::citext;

CREATE CAST (bpchar AS citext) WITH FUNCTION citext(bpchar) AS ASSIGNMENT;
CREATE CAST (boolean AS citext) WITH FUNCTION citext(boolean) AS ASSIGNMENT;
CREATE CAST (inet AS citext) WITH FUNCTION citext(inet) AS ASSIGNMENT;

CREATE FUNCTION citext_eq(citext, citext) RETURNS bool AS 'citext_eq' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION citext_ne(citext, citext) RETURNS bool AS 'citext_ne' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION citext_lt(citext, citext) RETURNS bool AS 'citext_lt' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION citext_le(citext, citext) RETURNS bool AS 'citext_le' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION citext_gt(citext, citext) RETURNS bool AS 'citext_gt' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION citext_ge(citext, citext) RETURNS bool AS 'citext_ge' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION citext_cmp(citext, citext) RETURNS int4 AS 'citext_cmp' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION citext_hash(citext) RETURNS int4 AS 'citext_hash' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

CREATE OPERATOR = (LEFTARG = citext, RIGHTARG = citext, COMMUTATOR = =, NEGATOR = <>, PROCEDURE = citext_eq, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR <> (LEFTARG = citext, RIGHTARG = citext, NEGATOR = =, COMMUTATOR = <>, PROCEDURE = citext_ne, RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR < (LEFTARG = citext, RIGHTARG = citext, NEGATOR = >=, COMMUTATOR = >, PROCEDURE = citext_lt, RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR <= (LEFTARG = citext, RIGHTARG = citext, NEGATOR = >, COMMUTATOR = >=, PROCEDURE = citext_le, RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR >= (LEFTARG = citext, RIGHTARG = citext, NEGATOR = <, COMMUTATOR = <=, PROCEDURE = citext_ge, RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR > (LEFTARG = citext, RIGHTARG = citext, NEGATOR = <=, COMMUTATOR = <, PROCEDURE = citext_gt, RESTRICT = scalargtsel, JOIN = scalargtjoinsel);

CREATE OPERATOR CLASS citext_ops DEFAULT FOR TYPE citext USING btree AS
    OPERATOR 1 < (citext, citext), OPERATOR 2 <= (citext, citext), OPERATOR 3 = (citext, citext),
    OPERATOR 4 >= (citext, citext), OPERATOR 5 > (citext, citext), FUNCTION 1 citext_cmp(citext, citext);
CREATE OPERATOR CLASS citext_ops DEFAULT FOR TYPE citext USING hash AS
    OPERATOR 1 = (citext, citext), FUNCTION 1 citext_hash(citext);

CREATE FUNCTION citext_pattern_lt(citext, citext) RETURNS bool AS 'citext_pattern_lt' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION citext_pattern_le(citext, citext) RETURNS bool AS 'citext_pattern_le' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION citext_pattern_gt(citext, citext) RETURNS bool AS 'citext_pattern_gt' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION citext_pattern_ge(citext, citext) RETURNS bool AS 'citext_pattern_ge' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION citext_pattern_cmp(citext, citext) RETURNS int4 AS 'citext_pattern_cmp' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE OPERATOR ~<~ (LEFTARG = citext, RIGHTARG = citext, NEGATOR = ~>=~, COMMUTATOR = ~>~, PROCEDURE = citext_pattern_lt, RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR ~<=~ (LEFTARG = citext, RIGHTARG = citext, NEGATOR = ~>~, COMMUTATOR = ~>=~, PROCEDURE = citext_pattern_le, RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR ~>=~ (LEFTARG = citext, RIGHTARG = citext, NEGATOR = ~<~, COMMUTATOR = ~<=~, PROCEDURE = citext_pattern_ge, RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR ~>~ (LEFTARG = citext, RIGHTARG = citext, NEGATOR = ~<=~, COMMUTATOR = ~<~, PROCEDURE = citext_pattern_gt, RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR CLASS citext_pattern_ops FOR TYPE citext USING btree AS
    OPERATOR 1 ~<~ (citext, citext), OPERATOR 2 ~<=~ (citext, citext), OPERATOR 3 = (citext, citext),
    OPERATOR 4 ~>=~ (citext, citext), OPERATOR 5 ~>~ (citext, citext), FUNCTION 1 citext_pattern_cmp(citext, citext);

CREATE FUNCTION citext_smaller(citext, citext) RETURNS citext AS 'citext_smaller' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION citext_larger(citext, citext) RETURNS citext AS 'citext_larger' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE AGGREGATE min(citext) (SFUNC = citext_smaller, STYPE = citext, SORTOP = <, PARALLEL = SAFE, COMBINEFUNC = citext_smaller);
CREATE AGGREGATE max(citext) (SFUNC = citext_larger, STYPE = citext, SORTOP = >, PARALLEL = SAFE, COMBINEFUNC = citext_larger);

CREATE FUNCTION texticlike(citext, citext) RETURNS bool AS 'texticlike' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION texticlike(citext, text) RETURNS bool AS 'texticlike' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION texticnlike(citext, citext) RETURNS bool AS 'texticnlike' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION texticnlike(citext, text) RETURNS bool AS 'texticnlike' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION texticregexeq(citext, citext) RETURNS bool AS 'texticregexeq' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION texticregexeq(citext, text) RETURNS bool AS 'texticregexeq' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION texticregexne(citext, citext) RETURNS bool AS 'texticregexne' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION texticregexne(citext, text) RETURNS bool AS 'texticregexne' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE OPERATOR ~ (PROCEDURE = texticregexeq, LEFTARG = citext, RIGHTARG = citext, NEGATOR = !~, RESTRICT = icregexeqsel, JOIN = icregexeqjoinsel);
CREATE OPERATOR ~* (PROCEDURE = texticregexeq, LEFTARG = citext, RIGHTARG = citext, NEGATOR = !~*, RESTRICT = icregexeqsel, JOIN = icregexeqjoinsel);
CREATE OPERATOR !~ (PROCEDURE = texticregexne, LEFTARG = citext, RIGHTARG = citext, NEGATOR = ~, RESTRICT = icregexnesel, JOIN = icregexnejoinsel);
CREATE OPERATOR !~* (PROCEDURE = texticregexne, LEFTARG = citext, RIGHTARG = citext, NEGATOR = ~*, RESTRICT = icregexnesel, JOIN = icregexnejoinsel);
CREATE OPERATOR ~~ (PROCEDURE = texticlike, LEFTARG = citext, RIGHTARG = citext, NEGATOR = !~~, RESTRICT = iclikesel, JOIN = iclikejoinsel);
CREATE OPERATOR ~~* (PROCEDURE = texticlike, LEFTARG = citext, RIGHTARG = citext, NEGATOR = !~~*, RESTRICT = iclikesel, JOIN = iclikejoinsel);
CREATE OPERATOR !~~ (PROCEDURE = texticnlike, LEFTARG = citext, RIGHTARG = citext, NEGATOR = ~~, RESTRICT = icnlikesel, JOIN = icnlikejoinsel);
CREATE OPERATOR !~~* (PROCEDURE = texticnlike, LEFTARG = citext, RIGHTARG = citext, NEGATOR = ~~*, RESTRICT = icnlikesel, JOIN = icnlikejoinsel);
CREATE OPERATOR ~ (PROCEDURE = texticregexeq, LEFTARG = citext, RIGHTARG = text, NEGATOR = !~, RESTRICT = icregexeqsel, JOIN = icregexeqjoinsel);
CREATE OPERATOR ~* (PROCEDURE = texticregexeq, LEFTARG = citext, RIGHTARG = text, NEGATOR = !~*, RESTRICT = icregexeqsel, JOIN = icregexeqjoinsel);
CREATE OPERATOR !~ (PROCEDURE = texticregexne, LEFTARG = citext, RIGHTARG = text, NEGATOR = ~, RESTRICT = icregexnesel, JOIN = icregexnejoinsel);
CREATE OPERATOR !~* (PROCEDURE = texticregexne, LEFTARG = citext, RIGHTARG = text, NEGATOR = ~*, RESTRICT = icregexnesel, JOIN = icregexnejoinsel);
CREATE OPERATOR ~~ (PROCEDURE = texticlike, LEFTARG = citext, RIGHTARG = text, NEGATOR = !~~, RESTRICT = iclikesel, JOIN = iclikejoinsel);
CREATE OPERATOR ~~* (PROCEDURE = texticlike, LEFTARG = citext, RIGHTARG = text, NEGATOR = !~~*, RESTRICT = iclikesel, JOIN = iclikejoinsel);
CREATE OPERATOR !~~ (PROCEDURE = texticnlike, LEFTARG = citext, RIGHTARG = text, NEGATOR = ~~, RESTRICT = icnlikesel, JOIN = icnlikejoinsel);
CREATE OPERATOR !~~* (PROCEDURE = texticnlike, LEFTARG = citext, RIGHTARG = text, NEGATOR = ~~*, RESTRICT = icnlikesel, JOIN = icnlikejoinsel);

CREATE FUNCTION regexp_match(string citext, pattern citext) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$ SELECT pg_catalog.regexp_match($1::pg_catalog.text, $2::pg_catalog.text, 'i') $$;
CREATE FUNCTION regexp_match(string citext, pattern citext, flags text) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$ SELECT pg_catalog.regexp_match($1::pg_catalog.text, $2::pg_catalog.text, CASE WHEN pg_catalog.strpos($3, 'c') = 0 THEN $3 || 'i' ELSE $3 END) $$;
CREATE FUNCTION regexp_matches(string citext, pattern citext) RETURNS SETOF text[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE ROWS 1
    AS $$ SELECT pg_catalog.regexp_matches($1::pg_catalog.text, $2::pg_catalog.text, 'i') $$;
CREATE FUNCTION regexp_matches(string citext, pattern citext, flags text) RETURNS SETOF text[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE ROWS 10
    AS $$ SELECT pg_catalog.regexp_matches($1::pg_catalog.text, $2::pg_catalog.text, CASE WHEN pg_catalog.strpos($3, 'c') = 0 THEN $3 || 'i' ELSE $3 END) $$;
CREATE FUNCTION regexp_replace(string citext, pattern citext, replacement text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$ SELECT pg_catalog.regexp_replace($1::pg_catalog.text, $2::pg_catalog.text, $3, 'i') $$;
CREATE FUNCTION regexp_replace(string citext, pattern citext, replacement text, flags text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$ SELECT pg_catalog.regexp_replace($1::pg_catalog.text, $2::pg_catalog.text, $3, CASE WHEN pg_catalog.strpos($4, 'c') = 0 THEN $4 || 'i' ELSE $4 END) $$;
CREATE FUNCTION regexp_split_to_array(string citext, pattern citext) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$ SELECT pg_catalog.regexp_split_to_array($1::pg_catalog.text, $2::pg_catalog.text, 'i') $$;
CREATE FUNCTION regexp_split_to_array(string citext, pattern citext, flags text) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$ SELECT pg_catalog.regexp_split_to_array($1::pg_catalog.text, $2::pg_catalog.text, CASE WHEN pg_catalog.strpos($3, 'c') = 0 THEN $3 || 'i' ELSE $3 END) $$;
CREATE FUNCTION regexp_split_to_table(string citext, pattern citext) RETURNS SETOF text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$ SELECT pg_catalog.regexp_split_to_table($1::pg_catalog.text, $2::pg_catalog.text, 'i') $$;
CREATE FUNCTION regexp_split_to_table(string citext, pattern citext, flags text) RETURNS SETOF text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$ SELECT pg_catalog.regexp_split_to_table($1::pg_catalog.text, $2::pg_catalog.text, CASE WHEN pg_catalog.strpos($3, 'c') = 0 THEN $3 || 'i' ELSE $3 END) $$;
CREATE FUNCTION strpos(citext, citext) RETURNS integer LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$ SELECT pg_catalog.strpos(pg_catalog.lower($1::pg_catalog.text), pg_catalog.lower($2::pg_catalog.text)) $$;
CREATE FUNCTION replace(citext, citext, citext) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$ SELECT pg_catalog.regexp_replace($1::pg_catalog.text, pg_catalog.regexp_replace($2::pg_catalog.text, '([^a-zA-Z_0-9])', E'\\\\\\1', 'g'), $3::pg_catalog.text, 'gi') $$;
CREATE FUNCTION split_part(citext, citext, integer) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$ SELECT (pg_catalog.regexp_split_to_array($1::pg_catalog.text, pg_catalog.regexp_replace($2::pg_catalog.text, '([^a-zA-Z_0-9])', E'\\\\\\1', 'g'), 'i'))[$3] $$;
CREATE FUNCTION translate(citext, citext, text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$ SELECT pg_catalog.translate(pg_catalog.translate($1::pg_catalog.text, pg_catalog.lower($2::pg_catalog.text), $3), pg_catalog.upper($2::pg_catalog.text), $3) $$;
