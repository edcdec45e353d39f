-- One of every kind of object, and of every clause that a dump must tell.

SET client_min_messages = warning;

COMMENT ON SCHEMA public IS 'what everybody finds';

CREATE SCHEMA app AUTHORIZATION dump_owner;
CREATE SCHEMA "Odd ""Name""";
COMMENT ON SCHEMA app IS 'it''s an application';
GRANT USAGE ON SCHEMA app TO dump_reader;
GRANT ALL ON SCHEMA "Odd ""Name""" TO dump_writer WITH GRANT OPTION;

ALTER DEFAULT PRIVILEGES IN SCHEMA app GRANT SELECT ON TABLES TO dump_reader;
ALTER DEFAULT PRIVILEGES FOR ROLE dump_owner REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
ALTER DEFAULT PRIVILEGES FOR ROLE dump_owner GRANT USAGE ON SEQUENCES TO dump_writer WITH GRANT OPTION;

-- Types.

CREATE TYPE app.mood AS ENUM ('sad', 'so-so', 'happy');
ALTER TYPE app.mood ADD VALUE 'it''s fine' BEFORE 'happy';
ALTER TYPE app.mood OWNER TO dump_owner;
COMMENT ON TYPE app.mood IS 'how it is';
CREATE TYPE app.point3 AS (x double precision, "Y" numeric(10,2), z text COLLATE "C");
COMMENT ON TYPE app.point3 IS 'somewhere';
COMMENT ON COLUMN app.point3."Y" IS 'a quoted column';
CREATE DOMAIN app.positive AS integer DEFAULT 1 NOT NULL CONSTRAINT positive_check CHECK (VALUE > 0);
CREATE DOMAIN app.code AS varchar(5) COLLATE "C" CHECK (VALUE ~ '^[A-Z]+$');
ALTER DOMAIN app.code ADD CONSTRAINT code_short CHECK (length(VALUE) < 5) NOT VALID;
COMMENT ON DOMAIN app.positive IS 'above zero';
COMMENT ON CONSTRAINT positive_check ON DOMAIN app.positive IS 'zero is not';
GRANT USAGE ON TYPE app.positive TO dump_reader;
REVOKE USAGE ON TYPE app.point3 FROM PUBLIC;
CREATE TYPE app.span AS RANGE (subtype = double precision, subtype_diff = float8mi, multirange_type_name = app.spans);

-- Functions and their kin.

CREATE FUNCTION app.add(a integer, b integer DEFAULT 2) RETURNS integer
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 5
    RETURN a + b;
CREATE FUNCTION app.twice(INOUT v anyelement, OUT again anyelement) RETURNS record
    LANGUAGE sql STABLE LEAKPROOF AS 'select v, v';
CREATE FUNCTION app.rows_of(n integer, VARIADIC rest text[] DEFAULT '{}') RETURNS TABLE(i integer, t text)
    LANGUAGE plpgsql ROWS 42 SET search_path TO app, public SET work_mem = '8MB' SECURITY DEFINER AS $body$
begin
    return query select g, rest[g] from generate_series(1, n) g;
    -- a comment with $$ and 'quotes'
end
$body$;
CREATE FUNCTION app.atomic(n integer) RETURNS SETOF integer LANGUAGE sql
BEGIN ATOMIC
    SELECT g FROM generate_series(1, n) g WHERE g % 2 = 0;
    SELECT h.i + n FROM app.rows_of(2, 'x') h, LATERAL (SELECT h.i) l(m) WHERE l.m = n;
END;
CREATE FUNCTION app.is_short(text) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'select length($1) < 10';
COMMENT ON FUNCTION app.add(integer, integer) IS 'the sum';
ALTER FUNCTION app.add(integer, integer) OWNER TO dump_owner;
GRANT EXECUTE ON FUNCTION app.add(integer, integer) TO dump_reader;
REVOKE ALL ON FUNCTION app.rows_of(integer, text[]) FROM PUBLIC;
CREATE PROCEDURE app.clean(IN days integer DEFAULT 7, INOUT done integer DEFAULT NULL)
    LANGUAGE plpgsql AS $$ begin done := days; end $$;
COMMENT ON PROCEDURE app.clean(integer, integer) IS 'sweeps';
GRANT EXECUTE ON PROCEDURE app.clean(integer, integer) TO dump_writer;

CREATE FUNCTION app.sum_step(state numeric, v integer) RETURNS numeric
    LANGUAGE sql IMMUTABLE AS 'select coalesce(state, 0) + coalesce(v, 0)';
CREATE FUNCTION app.sum_back(state numeric, v integer) RETURNS numeric
    LANGUAGE sql IMMUTABLE AS 'select state - coalesce(v, 0)';
CREATE FUNCTION app.sum_final(state numeric) RETURNS text LANGUAGE sql IMMUTABLE AS 'select state::text';
CREATE AGGREGATE app.sum_text(integer) (
    SFUNC = app.sum_step, STYPE = numeric, FINALFUNC = app.sum_final, INITCOND = '0',
    MSFUNC = app.sum_step, MINVFUNC = app.sum_back, MSTYPE = numeric, MFINALFUNC = app.sum_final, MINITCOND = '0',
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE app.sum_text(integer) IS 'a sum in words';
ALTER AGGREGATE app.sum_text(integer) OWNER TO dump_owner;

CREATE FUNCTION app.mood_less(app.mood, app.mood) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'select $1 < $2';
CREATE FUNCTION app.mood_more(app.mood, app.mood) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'select $1 > $2';
CREATE OPERATOR app.<# (
    FUNCTION = app.mood_less, LEFTARG = app.mood, RIGHTARG = app.mood, COMMUTATOR = OPERATOR(app.>#),
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR app.># (
    FUNCTION = app.mood_more, LEFTARG = app.mood, RIGHTARG = app.mood, COMMUTATOR = OPERATOR(app.<#),
    RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR app.<# (app.mood, app.mood) IS 'sadder';
CREATE FUNCTION app.mood_of(integer) RETURNS app.mood LANGUAGE sql IMMUTABLE
    AS $$ select case when $1 < 0 then 'sad' else 'happy' end::app.mood $$;
CREATE CAST (integer AS app.mood) WITH FUNCTION app.mood_of(integer) AS ASSIGNMENT;
CREATE CAST (app.mood AS integer) WITH INOUT;
COMMENT ON CAST (integer AS app.mood) IS 'numbers have moods';

-- Sequences.

CREATE SEQUENCE app.counter AS smallint INCREMENT BY -3 MINVALUE -1000 MAXVALUE 500 START WITH 100 CACHE 7 CYCLE;
SELECT nextval('app.counter');
CREATE SEQUENCE app.fresh;
ALTER SEQUENCE app.counter OWNER TO dump_owner;
COMMENT ON SEQUENCE app.counter IS 'counts down';
GRANT USAGE, SELECT ON SEQUENCE app.counter TO dump_reader;

-- Tables.

CREATE TABLE app.kinds (
    id bigint GENERATED ALWAYS AS IDENTITY (START WITH 10 INCREMENT BY 5) PRIMARY KEY,
    alt integer GENERATED BY DEFAULT AS IDENTITY,
    number serial,
    b boolean DEFAULT true,
    n numeric(12,3) DEFAULT 1.5,
    f4 real, f8 double precision,
    c character(3), v character varying(10) COLLATE "C" DEFAULT 'it''s', t text,
    by bytea, d date DEFAULT CURRENT_DATE, ti time(3) without time zone, tz time with time zone,
    ts timestamp(0) without time zone, tstz timestamp with time zone DEFAULT now(),
    iv interval day to second(2), u uuid, j json, jb jsonb DEFAULT '{"a": [1, null]}',
    ia integer[], ta text[][] DEFAULT ARRAY['a'::text, 'b'::text],
    ip inet, cd cidr, mac macaddr, mac8 macaddr8, bi bit(5), vb bit varying(7), mo money,
    m app.mood DEFAULT 'sad', p app.point3, pos app.positive, code app.code, sp app.span, sps app.spans,
    i4r int4range, nmr nummultirange, o oid, xid xid, pt point, bx box, "select" integer, "UPPER" integer,
    total integer GENERATED ALWAYS AS (app.add("select", 1)) STORED,
    CONSTRAINT kinds_positive CHECK (n > 0 AND (b OR t IS NOT NULL)),
    CONSTRAINT kinds_noinherit CHECK (f4 <> 100) NO INHERIT
);
ALTER TABLE app.kinds OWNER TO dump_owner;
ALTER TABLE app.kinds ALTER COLUMN t SET STORAGE EXTERNAL;
ALTER TABLE app.kinds ALTER COLUMN by SET STATISTICS 500;
ALTER TABLE app.kinds ALTER COLUMN v SET NOT NULL;
ALTER TABLE app.kinds ALTER COLUMN f8 SET (n_distinct = -0.5);
ALTER TABLE app.kinds SET (fillfactor = 70, autovacuum_enabled = false, toast.autovacuum_enabled = false);
ALTER TABLE app.kinds ADD COLUMN gone text;
ALTER TABLE app.kinds DROP COLUMN gone;
COMMENT ON TABLE app.kinds IS 'all kinds of columns';
COMMENT ON COLUMN app.kinds.t IS 'text; with a semicolon';
COMMENT ON CONSTRAINT kinds_positive ON app.kinds IS 'checked';
GRANT SELECT, INSERT ON app.kinds TO dump_reader;
GRANT UPDATE (t, v) ON app.kinds TO dump_writer WITH GRANT OPTION;
GRANT SELECT (id) ON app.kinds TO PUBLIC;

CREATE TABLE app.refs (
    a integer NOT NULL,
    b integer,
    c bigint CONSTRAINT refs_to_kinds REFERENCES app.kinds (id) ON UPDATE CASCADE ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED,
    t text CONSTRAINT refs_t_key UNIQUE NULLS NOT DISTINCT,
    CONSTRAINT refs_pkey PRIMARY KEY (a) INCLUDE (b),
    CONSTRAINT refs_ab UNIQUE (a, b),
    CONSTRAINT refs_late UNIQUE (b, a) DEFERRABLE
) WITH (fillfactor = 50);
CREATE TABLE app.more_refs (
    a integer, b integer, flag boolean,
    CONSTRAINT pair FOREIGN KEY (a, b) REFERENCES app.refs (a, b) MATCH FULL ON DELETE CASCADE NOT VALID,
    CONSTRAINT unchecked FOREIGN KEY (a) REFERENCES app.refs (a) ON DELETE SET NULL (a) NOT ENFORCED,
    CONSTRAINT positive_a CHECK (a > 0) NOT ENFORCED
);
ALTER TABLE app.more_refs ADD CONSTRAINT flag_set CHECK (flag) NOT VALID;
ALTER TABLE app.more_refs ADD CONSTRAINT b_there NOT NULL b NOT VALID;
ALTER TABLE app.refs REPLICA IDENTITY USING INDEX refs_pkey;
ALTER TABLE app.more_refs REPLICA IDENTITY FULL;

CREATE INDEX kinds_expr ON app.kinds (lower(t) DESC NULLS LAST, (n * 2::numeric), v COLLATE "POSIX" text_pattern_ops) INCLUDE (b) WHERE b;
CREATE UNIQUE INDEX kinds_partial ON app.kinds (number) WITH (fillfactor = 60) WHERE (number > 10);
CREATE INDEX "Odd index" ON app.refs USING btree (b, a DESC);
ALTER INDEX app.kinds_expr ALTER COLUMN 1 SET STATISTICS 77;
COMMENT ON INDEX app.kinds_expr IS 'an expression';
ALTER TABLE app.refs CLUSTER ON "Odd index";

-- Inheritance and partitions.

CREATE TABLE app.parent (a integer NOT NULL, t text DEFAULT 'parent', CONSTRAINT a_small CHECK (a < 1000));
CREATE TABLE app.child (extra date, t text DEFAULT 'child') INHERITS (app.parent);
CREATE TABLE app.grandchild (CONSTRAINT own CHECK (extra > '2000-01-01'::date)) INHERITS (app.child);
ALTER TABLE app.grandchild ALTER COLUMN a SET DEFAULT 7;

CREATE TABLE app.measure (at timestamp with time zone NOT NULL, region text, v double precision)
    PARTITION BY RANGE (at);
CREATE TABLE app.measure_old PARTITION OF app.measure FOR VALUES FROM (MINVALUE) TO ('2020-01-01 00:00:00+00');
CREATE TABLE app.measure_new PARTITION OF app.measure (v DEFAULT 3, CONSTRAINT v_sane CHECK (v < 1e6))
    FOR VALUES FROM ('2020-01-01 00:00:00+00') TO ('2030-01-01 00:00:00+00') PARTITION BY LIST (region);
CREATE TABLE app.measure_new_eu PARTITION OF app.measure_new FOR VALUES IN ('eu', 'it''s', NULL);
CREATE TABLE app.measure_new_rest PARTITION OF app.measure_new DEFAULT;
CREATE TABLE app.hashed (k integer, v text, PRIMARY KEY (k)) PARTITION BY HASH (k);
CREATE TABLE app.hashed_0 PARTITION OF app.hashed FOR VALUES WITH (modulus 2, remainder 0);
CREATE TABLE app.hashed_1 (v text, k integer NOT NULL);
ALTER TABLE app.hashed ATTACH PARTITION app.hashed_1 FOR VALUES WITH (modulus 2, remainder 1);
CREATE TABLE app.by_expr (a integer, b text) PARTITION BY RANGE (lower(b) COLLATE "C", a);
CREATE INDEX measure_at ON app.measure (at);
CREATE INDEX measure_region ON ONLY app.measure (region);
ALTER TABLE app.measure_new_eu ADD CONSTRAINT eu_key UNIQUE (at);
ALTER TABLE app.measure ADD CONSTRAINT measure_fk FOREIGN KEY (region) REFERENCES app.refs (t);

-- Views.

CREATE VIEW app.simple AS SELECT id, t AS "Text", n * 2 AS double_n FROM app.kinds WHERE b WITH LOCAL CHECK OPTION;
CREATE VIEW app.safe WITH (security_barrier = true, security_invoker = true) AS
    SELECT s.id, count(*) OVER (PARTITION BY s."Text" ORDER BY s.id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS w
    FROM app.simple s LEFT JOIN app.refs r ON r.c = s.id AND r.t ~~ '%x%' WHERE s.id <> ALL (ARRAY[1, 2])
    ORDER BY s.id DESC NULLS LAST LIMIT 10 OFFSET 1;
CREATE VIEW app.complex (one, two, three) AS
    WITH RECURSIVE t(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM t WHERE n < 5),
         m AS MATERIALIZED (SELECT array_agg(n ORDER BY n DESC) FILTER (WHERE n > 1) AS all_n FROM t)
    SELECT CASE WHEN m.all_n[1] > 3 THEN 'big' ELSE 'small' END, x.y,
        (SELECT max(k.n) FROM app.kinds k WHERE k.t = x.y::text)
    FROM m CROSS JOIN LATERAL (SELECT unnest(m.all_n) AS y) x
    WHERE EXISTS (SELECT 1 FROM app.refs) OR x.y BETWEEN 1 AND 3
    GROUP BY m.all_n, x.y
    HAVING count(*) > 0;
COMMENT ON VIEW app.simple IS 'a view';
COMMENT ON COLUMN app.simple."Text" IS 'a column of a view';
ALTER VIEW app.simple ALTER COLUMN double_n SET DEFAULT 4;
GRANT SELECT ON app.simple TO dump_reader;
CREATE VIEW app.circle AS SELECT 1 AS a, 'x'::text AS b;
CREATE FUNCTION app.of_circle() RETURNS app.circle LANGUAGE sql AS 'select * from app.circle';
CREATE OR REPLACE VIEW app.circle AS SELECT 1 AS a, (app.of_circle()).b AS b WHERE false;
CREATE MATERIALIZED VIEW app.kept AS SELECT t, count(*) AS n FROM app.kinds GROUP BY t;
CREATE UNIQUE INDEX kept_t ON app.kept (t);
CREATE MATERIALIZED VIEW app.unkept AS SELECT * FROM app.kept WITH NO DATA;
COMMENT ON MATERIALIZED VIEW app.kept IS 'what was counted';

-- Triggers.

CREATE FUNCTION app.note() RETURNS trigger LANGUAGE plpgsql AS $$ begin return coalesce(new, old); end $$;
CREATE TRIGGER first_one BEFORE INSERT OR UPDATE OF t, v ON app.kinds FOR EACH ROW
    WHEN ((new.t IS DISTINCT FROM 'skip'::text)) EXECUTE FUNCTION app.note('an arg', '2');
CREATE TRIGGER statement_one AFTER TRUNCATE ON app.refs FOR EACH STATEMENT EXECUTE FUNCTION app.note();
CREATE CONSTRAINT TRIGGER late AFTER UPDATE OR DELETE ON app.refs FROM app.kinds DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION app.note();
CREATE TRIGGER on_partitions AFTER INSERT ON app.measure FOR EACH ROW EXECUTE FUNCTION app.note();
ALTER TABLE app.kinds DISABLE TRIGGER first_one;
ALTER TABLE app.refs ENABLE ALWAYS TRIGGER statement_one;
COMMENT ON TRIGGER first_one ON app.kinds IS 'goes first';

-- Rows.

INSERT INTO app.kinds (b, n, f4, f8, c, v, t, by, d, ti, tz, ts, tstz, iv, u, j, jb, ia, ta, ip, cd, mac, mac8, bi, vb, mo,
        m, p, pos, code, sp, sps, i4r, nmr, o, xid, pt, bx, "select", "UPPER")
    VALUES (true, 12.345, 'NaN', '-Infinity', 'ab', E'tab\there', E'new\nline\\ and \u00e9', '\x00ff10', '0044-03-15 BC',
        '12:34:56.789', '12:00+02', '2024-02-29 12:00', 'infinity', '1 day 02:03:04.05', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
        '{"k":  1}', '{"b": 1, "a": [1, 2.50]}', '{1,NULL,3}', '{{a,"b,c"},{"NULL",""}}', '10.1.2.3/8', '10.0.0.0/8',
        '08:00:2b:01:02:03', '08:00:2b:01:02:03:04:05', B'10101', B'101', 12.34, 'it''s fine', '(1.5,2.25,"x,y")', 5, 'ABC',
        '[1.5,2.5)', '{[1,2),[3,4)}', '[1,10)', '{(,1],[5,)}', 4000000000, '77', '(1,2)', '(3,4),(1,2)', 7, NULL),
    (false, 1, 1e30, 1.7976931348623157e308, '', '', '', '', 'infinity', '00:00', '23:59:59-12', '1999-12-31', '-infinity',
        '-1 days', '00000000-0000-0000-0000-000000000000', '[]', 'null', '{}', '{}', '::1', '::/0', 'ff:ff:ff:ff:ff:ff',
        '00:00:00:00:00:00:00:00', B'00000', B'', -1, 'sad', NULL, 1, NULL, 'empty', '{}', 'empty', '{}', 0, '3', NULL, NULL, 0, 1);
INSERT INTO app.refs VALUES (1, 2, 10, 'eu'), (2, NULL, NULL, NULL), (-3, 4, 15, 'with	tab');
INSERT INTO app.more_refs VALUES (1, 2, true);
INSERT INTO app.parent VALUES (1, DEFAULT), (2, 'two');
INSERT INTO app.child VALUES (3, 'three', '2001-02-03');
INSERT INTO app.grandchild (t, extra) VALUES ('four', '2010-01-01');
INSERT INTO app.measure VALUES ('2001-01-01 00:00:00+00', 'eu', 1), ('2024-06-01 00:00:00+00', 'eu', 0.1),
    ('2025-06-01 00:00:00+00', NULL, 2.5e-17);
INSERT INTO app.hashed SELECT g, 'v' || g FROM generate_series(1, 20) g;
REFRESH MATERIALIZED VIEW app.kept;

CREATE TABLE "Odd ""Name"""."Table with ; and $" ("a b" integer, "select" text DEFAULT 'say "hi"; -- no');
INSERT INTO "Odd ""Name"""."Table with ; and $" VALUES (1, E'\\.'), (2, '\N'), (3, NULL);
COMMENT ON TABLE "Odd ""Name"""."Table with ; and $" IS E'two\nlines';

-- What the rest needs.

CREATE TYPE app.refs_row AS (x integer, y integer);
CREATE FUNCTION app.big_step(integer, VARIADIC integer[]) RETURNS integer LANGUAGE sql IMMUTABLE AS 'select greatest($1, (select max(x) from unnest($2) x))';

-- Generated columns, stored and virtual.

CREATE TABLE app.computed (
    a integer NOT NULL, b integer,
    kept integer GENERATED ALWAYS AS (a * 2) STORED,
    seen integer GENERATED ALWAYS AS (a + b),
    "also seen" text COLLATE "C" GENERATED ALWAYS AS (a::text || '-' || b::text) VIRTUAL,
    CONSTRAINT kept_small CHECK (kept < 1000)
);
COMMENT ON COLUMN app.computed.seen IS 'never stored';
INSERT INTO app.computed (a, b) VALUES (1, 2), (3, NULL);
CREATE TABLE app.computed_child (b integer DEFAULT 4) INHERITS (app.computed);
INSERT INTO app.computed_child (a) VALUES (5);

-- Partitions: every kind of bound.

CREATE TABLE app.bounds (a integer NOT NULL, b text COLLATE "C", c date) PARTITION BY RANGE (a, b);
CREATE TABLE app.bounds_low PARTITION OF app.bounds FOR VALUES FROM (MINVALUE, MINVALUE) TO (1, 'it''s');
CREATE TABLE app.bounds_mid PARTITION OF app.bounds FOR VALUES FROM (1, 'it''s') TO (10, MAXVALUE);
CREATE TABLE app.bounds_high PARTITION OF app.bounds FOR VALUES FROM (20, MINVALUE) TO (MAXVALUE, MAXVALUE);
CREATE TABLE app.bounds_rest PARTITION OF app.bounds DEFAULT PARTITION BY LIST (a);
CREATE TABLE app.bounds_rest_some PARTITION OF app.bounds_rest FOR VALUES IN (12, 13);
CREATE TABLE app.bounds_rest_other PARTITION OF app.bounds_rest DEFAULT;
CREATE TABLE app.flags (f boolean, m app.mood) PARTITION BY LIST (f);
CREATE TABLE app.flags_true PARTITION OF app.flags FOR VALUES IN (true);
CREATE TABLE app.flags_rest PARTITION OF app.flags FOR VALUES IN (false, NULL) PARTITION BY HASH (m);
CREATE TABLE app.flags_rest_0 PARTITION OF app.flags_rest FOR VALUES WITH (MODULUS 1, REMAINDER 0);
CREATE TABLE app.moods (m app.mood, n numeric) PARTITION BY RANGE (m);
CREATE TABLE app.moods_low PARTITION OF app.moods FOR VALUES FROM ('sad') TO ('happy');
ALTER TABLE app.bounds_mid ALTER COLUMN c SET DEFAULT '2000-01-01';
ALTER TABLE app.bounds ADD CONSTRAINT bounds_key PRIMARY KEY (a, b);
CREATE INDEX ON app.bounds (lower(b), c DESC) WHERE a > 0;
ALTER TABLE app.bounds ALTER COLUMN c SET STATISTICS 10;
INSERT INTO app.bounds VALUES (0, 'x', NULL), (5, 'y', '2021-01-01'), (12, '', NULL), (13, '', '2020-01-01'), (30, 'z', NULL);
INSERT INTO app.flags VALUES (true, 'sad'), (NULL, 'happy'), (false, NULL);
COMMENT ON TABLE app.bounds_mid IS 'a partition';
GRANT SELECT ON app.bounds_mid TO dump_reader;
ALTER TABLE app.bounds_mid OWNER TO dump_owner;

-- Keys between partitioned tables; keys to oneself.

CREATE TABLE app.tree (id integer PRIMARY KEY, parent integer REFERENCES app.tree ON DELETE SET DEFAULT DEFAULT 0, CHECK (id <> parent));
INSERT INTO app.tree VALUES (0, NULL), (1, 0), (2, 1);
CREATE TABLE app.follows (k integer, a integer, b text, FOREIGN KEY (a, b) REFERENCES app.bounds (a, b) ON UPDATE CASCADE, UNIQUE (k, a)) PARTITION BY HASH (k);
CREATE TABLE app.follows_0 PARTITION OF app.follows FOR VALUES WITH (MODULUS 1, REMAINDER 0);
INSERT INTO app.follows VALUES (1, 0, 'x');

-- Triggers with transition tables, of views, of partitions.

CREATE FUNCTION app.count_rows() RETURNS trigger LANGUAGE plpgsql AS $$ begin return null; end $$;
CREATE TRIGGER counted AFTER UPDATE ON app.tree REFERENCING OLD TABLE AS before NEW TABLE AS "After"
    FOR EACH STATEMENT EXECUTE FUNCTION app.count_rows();
CREATE TRIGGER rows_counted AFTER INSERT ON app.tree REFERENCING NEW TABLE AS fresh FOR EACH ROW EXECUTE FUNCTION app.count_rows();
CREATE VIEW app.tree_view AS SELECT id, parent FROM app.tree;
CREATE TRIGGER instead INSTEAD OF INSERT OR UPDATE OR DELETE ON app.tree_view FOR EACH ROW EXECUTE FUNCTION app.note('v');
COMMENT ON TRIGGER instead ON app.tree_view IS 'not there';
CREATE TRIGGER before_statement BEFORE DELETE ON app.tree_view EXECUTE FUNCTION app.note();
CREATE TRIGGER on_bounds BEFORE UPDATE OF c ON app.bounds FOR EACH ROW WHEN (old.c IS DISTINCT FROM new.c) EXECUTE FUNCTION app.note();
ALTER TABLE app.bounds_mid DISABLE TRIGGER on_bounds;
ALTER TABLE app.tree ENABLE REPLICA TRIGGER counted;

-- Views and joins of all shapes.

CREATE VIEW app.using_view AS SELECT * FROM app.refs r JOIN app.more_refs m USING (a, b) LEFT JOIN app.tree c ON a = c.id;
CREATE VIEW app.full_view AS SELECT a, b, r.t, m.flag FROM app.refs r FULL JOIN app.more_refs m USING (a, b) WHERE a IS NOT NULL ORDER BY a;
CREATE VIEW app.named_join AS SELECT j.x, j.y, j.kept FROM (app.refs r JOIN app.computed c ON r.a = c.a) j (x, y, z, tt, q, w);
CREATE VIEW app.using_alias AS SELECT u.a AS ua, u.b FROM app.refs r JOIN app.more_refs m USING (a, b) AS u;
CREATE VIEW app.natural_view AS SELECT * FROM app.refs NATURAL JOIN app.more_refs;
CREATE VIEW app.renamed AS SELECT p.one, p.t, q.t AS other FROM app.parent p (one) CROSS JOIN app.child q;
CREATE VIEW app.set_ops AS (SELECT a FROM app.refs EXCEPT SELECT b FROM app.refs) UNION ALL SELECT a FROM app.computed INTERSECT SELECT 1 ORDER BY 1 LIMIT 5;
CREATE VIEW app.windows AS
    SELECT a, row_number() OVER w, sum(b) OVER (w ROWS UNBOUNDED PRECEDING EXCLUDE TIES), first_value(t) OVER (ORDER BY a DESC RANGE BETWEEN 1 PRECEDING AND 2 FOLLOWING)
    FROM app.refs WINDOW w AS (PARTITION BY b ORDER BY a);
CREATE VIEW app.groups AS
    SELECT a, b, grouping(a, b) AS g, string_agg(DISTINCT t, ',' ORDER BY t), percentile_cont(0.5) WITHIN GROUP (ORDER BY a::float8)
    FROM app.refs GROUP BY GROUPING SETS ((a, b), ROLLUP (a), ()) HAVING count(*) FILTER (WHERE b > 0) >= 0;
CREATE VIEW app.functions AS
    SELECT f.ordinality, f.i, f.t, g.generate_series, h.a, h.b FROM app.rows_of(3, 'x', 'y') WITH ORDINALITY f,
        ROWS FROM (generate_series(1, 3), unnest(ARRAY[1, 2])) g,
        LATERAL json_to_record('{"a": 1}'::json) AS h(a integer, b text COLLATE "C");
CREATE VIEW app.values_view AS VALUES (1, 'one'::text), (2, 'two');
CREATE VIEW app.expressions AS
    SELECT a IN (1, 2, 3) AS in_list, a = ANY (SELECT id FROM app.tree) AS in_query, (a, b) IN (SELECT id, parent FROM app.tree) AS row_in,
        NOT (b BETWEEN SYMMETRIC 3 AND 1) AS outside, t LIKE 'a\_%' ESCAPE '!' AS liked, t SIMILAR TO '(a|b)%' AS similar, t IS DISTINCT FROM 'x' AS differs,
        nullif(a, 0) AS n, coalesce(b, a, 0) AS c, greatest(a, b) AS g, extract(epoch FROM now()) AS e, now() AT TIME ZONE 'UTC' AS z,
        CASE a WHEN 1 THEN 'one' ELSE NULL END AS k, ARRAY[[1, 2], [3, 4]] AS arr, (ARRAY[1, 2, 3])[1:2] AS slice, ROW(a, b)::app.refs_row AS r,
        (ROW(a, b)::app.refs_row).x, substring(t FROM 2 FOR 3) AS sub, trim(BOTH 'x' FROM t) AS tr, position('a' IN t) AS pos, overlay(t PLACING 'x' FROM 1) AS ov,
        t COLLATE "C" < 'x' AS col, interval '1 day 2 hours' AS iv, current_date AS cd, current_user AS cu, localtime(2) AS lt, '{"a":1}'::jsonb -> 'a' AS js, -a AS neg, - (-1) AS nn, a::bigint AS big,
        'x'::character(5) AS ch, 1.50::numeric(5,1) AS nu, (a <> b) IS NOT TRUE AS nt, b IS NULL AS nul, ROW(a, b) IS NULL AS rn, EXISTS (SELECT) AS ex, ARRAY(SELECT id FROM app.tree ORDER BY 1) AS aq,
        (SELECT count(*) FROM app.tree t2 WHERE t2.parent = refs.a) AS cnt, t ^@ 'x' AS starts, (c IS NULL) = true AS eq, OPERATOR(pg_catalog.-) a AS op
    FROM app.refs;
CREATE VIEW app.json_view AS
    SELECT json_object('a': 1, 'b': x.t NULL ON NULL) AS o, json_array(1, 2 ABSENT ON NULL) AS ar, json_value(jsonb '{"a": 1}', '$.a' RETURNING integer DEFAULT 0 ON EMPTY) AS v,
        json_query(jsonb '[1]', '$[*]' WITH WRAPPER) AS q, json_exists(jsonb '[1]', '$[0]') AS e, '1' IS JSON SCALAR AS is_j, json_arrayagg(x.a ORDER BY x.a) AS agg
    FROM app.refs x GROUP BY x.t;
CREATE VIEW app.json_rows AS
    SELECT jt.* FROM json_table(jsonb '[{"a": 1, "b": [1, 2]}]', '$[*]' COLUMNS (n FOR ORDINALITY, a integer PATH '$.a' DEFAULT 5 ON EMPTY, NESTED PATH '$.b[*]' COLUMNS (b integer PATH '$'))) jt;
CREATE VIEW app.searched AS
    WITH RECURSIVE t(id, parent) AS (SELECT id, parent FROM app.tree WHERE parent IS NULL UNION ALL SELECT c.id, c.parent FROM app.tree c, t WHERE c.parent = t.id)
        SEARCH DEPTH FIRST BY id SET seq CYCLE id SET looped USING path
    SELECT id, parent, looped FROM t ORDER BY seq;
CREATE VIEW app.sampled AS SELECT a FROM app.refs TABLESAMPLE bernoulli (10) REPEATABLE (3) FOR UPDATE OF refs SKIP LOCKED;
CREATE VIEW app.distinct_view AS SELECT DISTINCT ON (b) b, a FROM app.refs ORDER BY b, a DESC NULLS LAST FETCH FIRST 2 ROWS WITH TIES;
CREATE RECURSIVE VIEW app.numbers (n) AS VALUES (1) UNION ALL SELECT n + 1 FROM numbers WHERE n < 10;
CREATE VIEW app.casc AS SELECT * FROM app.simple WHERE id > 0 WITH CASCADED CHECK OPTION;
CREATE VIEW app.of_only AS SELECT * FROM ONLY app.parent;
CREATE VIEW app.temporal AS SELECT date '2020-01-01' + a AS d, timestamp '2020-01-01 12:00' AS ts, timestamptz '2020-01-01 12:00+00' AS tz, (now(), interval '1 day') OVERLAPS (now(), interval '2 days') AS ovl FROM app.refs;

-- Functions with the rest of their clauses.

CREATE FUNCTION app.first_of(anycompatiblearray, d anycompatible DEFAULT NULL) RETURNS anycompatible LANGUAGE sql AS 'select coalesce($1[1], $2)';
CREATE FUNCTION app.sql_view(n integer) RETURNS SETOF app.refs LANGUAGE sql STABLE ROWS 5 BEGIN ATOMIC SELECT * FROM app.refs WHERE refs.a > sql_view.n ORDER BY a; END;
CREATE FUNCTION app.guarded() RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET datestyle TO 'ISO, DMY' AS 'begin end';
CREATE FUNCTION app.makes_trigger() RETURNS trigger LANGUAGE plpgsql AS 'begin return new; end';
CREATE FUNCTION app.in_out(IN a integer, OUT b integer, INOUT c text DEFAULT 'x') LANGUAGE sql AS 'select a, c';
CREATE FUNCTION app.set_of_text() RETURNS SETOF text LANGUAGE sql WINDOW AS 'select 1';
CREATE AGGREGATE app.middle(double precision ORDER BY anyelement) (SFUNC = ordered_set_transition, STYPE = internal, FINALFUNC = percentile_disc_final, FINALFUNC_EXTRA);
CREATE AGGREGATE app.ranked(VARIADIC "any" ORDER BY VARIADIC "any") (SFUNC = ordered_set_transition_multi, STYPE = internal, FINALFUNC = rank_final, FINALFUNC_EXTRA, HYPOTHETICAL);
CREATE AGGREGATE app.biggest(VARIADIC items integer[]) (SFUNC = app.big_step, STYPE = integer, SSPACE = 8, COMBINEFUNC = int4larger);
CREATE AGGREGATE app.least_of(integer) (SFUNC = int4smaller, STYPE = integer, COMBINEFUNC = int4smaller, SORTOP = <, PARALLEL = RESTRICTED);

-- Large objects.

SELECT lo_from_bytea(424242, '\x00010203ff');
SELECT lo_from_bytea(424243, repeat('page ', 2000)::bytea);
COMMENT ON LARGE OBJECT 424242 IS 'bytes';
ALTER LARGE OBJECT 424242 OWNER TO dump_owner;
GRANT SELECT ON LARGE OBJECT 424242 TO dump_reader;
GRANT ALL ON LARGE OBJECT 424243 TO dump_writer WITH GRANT OPTION;

-- Sequences: of columns, moved, owned.

CREATE TABLE app.numbered (
    s smallserial, b bigserial, i integer GENERATED BY DEFAULT AS IDENTITY (SEQUENCE NAME app.odd_name MINVALUE -5 MAXVALUE 99 CYCLE CACHE 3), t text
);
CREATE SEQUENCE app.owned OWNED BY app.numbered.t;
ALTER SEQUENCE app.numbered_b_seq RESTART WITH 1000 INCREMENT 10;
INSERT INTO app.numbered (t) VALUES ('a'), ('b');
SELECT setval('app.owned', 42, false);
COMMENT ON SEQUENCE app.odd_name IS 'of an identity';

-- Privileges of all kinds; defaults.

GRANT TRIGGER, REFERENCES, TRUNCATE, MAINTAIN ON app.refs TO dump_writer;
GRANT REFERENCES (a, b), INSERT (a) ON app.refs TO dump_reader;
GRANT USAGE ON LANGUAGE sql TO dump_reader WITH GRANT OPTION;
REVOKE USAGE ON LANGUAGE plpgsql FROM PUBLIC;
REVOKE ALL ON FUNCTION pg_catalog.pg_sleep(double precision) FROM PUBLIC;
GRANT SELECT (rolname) ON pg_catalog.pg_authid TO dump_reader;
ALTER DEFAULT PRIVILEGES FOR ROLE dump_reader GRANT ALL ON TYPES TO dump_writer;
ALTER DEFAULT PRIVILEGES FOR ROLE dump_owner IN SCHEMA app GRANT EXECUTE ON ROUTINES TO dump_writer;
ALTER DEFAULT PRIVILEGES FOR ROLE dump_reader GRANT USAGE, CREATE ON SCHEMAS TO dump_writer;
ALTER DEFAULT PRIVILEGES FOR ROLE dump_reader GRANT SELECT ON LARGE OBJECTS TO dump_writer;

-- Text search: templates and parsers over built-in functions, dictionaries and configurations of them.

CREATE TEXT SEARCH TEMPLATE app.small (INIT = dsimple_init, LEXIZE = dsimple_lexize);
CREATE TEXT SEARCH PARSER app.words (START = prsd_start, GETTOKEN = prsd_nexttoken, END = prsd_end, HEADLINE = prsd_headline, LEXTYPES = prsd_lextype);
CREATE TEXT SEARCH DICTIONARY app."Odd Words" (TEMPLATE = app.small, STOPWORDS = 'english', ACCEPT = 1);
CREATE TEXT SEARCH DICTIONARY app.stems (TEMPLATE = snowball, LANGUAGE = danish);
CREATE TEXT SEARCH CONFIGURATION app.texts (PARSER = app.words);
ALTER TEXT SEARCH CONFIGURATION app.texts ADD MAPPING FOR asciiword, word WITH app."Odd Words", app.stems, simple;
ALTER TEXT SEARCH CONFIGURATION app.texts ADD MAPPING FOR url WITH simple;
COMMENT ON TEXT SEARCH CONFIGURATION app.texts IS 'texts';
COMMENT ON TEXT SEARCH DICTIONARY app."Odd Words" IS 'words';
COMMENT ON TEXT SEARCH PARSER app.words IS 'parser';
COMMENT ON TEXT SEARCH TEMPLATE app.small IS 'template';
ALTER TEXT SEARCH DICTIONARY app.stems OWNER TO dump_owner;
ALTER TEXT SEARCH CONFIGURATION app.texts OWNER TO dump_owner;
CREATE TABLE app.documents (v tsvector, q tsquery);
CREATE INDEX ON app.documents USING gin (v);
CREATE INDEX ON app.documents USING gist (v, q);

-- Extensions, their types and operator classes.
CREATE SCHEMA ext;
CREATE EXTENSION hstore SCHEMA ext;
CREATE EXTENSION citext SCHEMA ext;
CREATE EXTENSION pg_trgm SCHEMA ext;
CREATE EXTENSION ltree SCHEMA ext;
CREATE EXTENSION cube SCHEMA ext;
CREATE EXTENSION earthdistance SCHEMA ext;
CREATE EXTENSION intarray SCHEMA ext;
CREATE EXTENSION btree_gist SCHEMA ext;
CREATE EXTENSION btree_gin SCHEMA ext;
CREATE EXTENSION unaccent SCHEMA ext;
CREATE EXTENSION fuzzystrmatch SCHEMA ext;
CREATE EXTENSION tablefunc SCHEMA ext;
CREATE EXTENSION pgcrypto SCHEMA ext;
CREATE EXTENSION "uuid-ossp" SCHEMA ext;
CREATE EXTENSION pgstattuple SCHEMA ext;
COMMENT ON EXTENSION hstore IS 'pairs';
SET search_path = app, ext, pg_catalog;

-- Collations, and where they stand.
CREATE COLLATION app.german (provider = icu, locale = 'de-x-icu');
CREATE COLLATION app.any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE COLLATION app.code_points (provider = builtin, locale = 'C.UTF-8');
COMMENT ON COLLATION app.german IS 'german';
CREATE TABLE app.collated (
    a text COLLATE app.german, b text COLLATE app.any_case, c text COLLATE "en-x-icu", d app.code COLLATE "POSIX",
    CONSTRAINT collated_b UNIQUE (b), CHECK (a > b COLLATE "ucs_basic")
);
CREATE INDEX collated_expr ON app.collated (upper(a) COLLATE app.code_points, c COLLATE "C" DESC);
CREATE TABLE app.by_collated (a text COLLATE app.german) PARTITION BY RANGE (a COLLATE "C");
CREATE VIEW app.sorted AS SELECT a COLLATE "C" AS a, max(c) AS c FROM app.collated GROUP BY a COLLATE "C" ORDER BY a COLLATE "C";

-- Operator families and classes.
CREATE FUNCTION app.mod_cmp(a integer, b integer) RETURNS integer LANGUAGE sql IMMUTABLE AS 'select btint4cmp(a % 100, b % 100)';
CREATE FUNCTION app.mod_lt(a integer, b integer) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'select a % 100 < b % 100';
CREATE FUNCTION app.mod_eq(a integer, b integer) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'select a % 100 = b % 100';
CREATE FUNCTION app.mod_gt(a integer, b integer) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'select a % 100 > b % 100';
CREATE OPERATOR app.<% (FUNCTION = app.mod_lt, LEFTARG = integer, RIGHTARG = integer, COMMUTATOR = OPERATOR(app.>%), RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR app.=% (FUNCTION = app.mod_eq, LEFTARG = integer, RIGHTARG = integer, COMMUTATOR = OPERATOR(app.=%), RESTRICT = eqsel, JOIN = eqjoinsel, MERGES);
CREATE OPERATOR app.>% (FUNCTION = app.mod_gt, LEFTARG = integer, RIGHTARG = integer, COMMUTATOR = OPERATOR(app.<%), RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR FAMILY app.mods USING btree;
CREATE OPERATOR CLASS app.mod_ops FOR TYPE integer USING btree FAMILY app.mods AS
    OPERATOR 1 app.<%, OPERATOR 3 app.=%, OPERATOR 5 app.>%, FUNCTION 1 app.mod_cmp(integer, integer);
ALTER OPERATOR CLASS app.mod_ops USING btree OWNER TO dump_owner;
COMMENT ON OPERATOR FAMILY app.mods USING btree IS 'mods';
CREATE ACCESS METHOD other_gist TYPE INDEX HANDLER gisthandler;

-- Every index access method, with options.
CREATE TABLE app.indexed (
    id integer NOT NULL, t text, ts timestamp with time zone, j jsonb, arr integer[], r int4range, b box, p point, pg polygon, ip inet,
    v tsvector, h ext.hstore, ci ext.citext, path ext.ltree, c ext.cube, m int4multirange, u uuid
);
CREATE INDEX i_btree ON app.indexed USING btree (id, t text_pattern_ops) WITH (fillfactor='70', deduplicate_items='off');
CREATE UNIQUE INDEX i_unique ON app.indexed (id, ci) NULLS NOT DISTINCT;
CREATE INDEX i_hash ON app.indexed USING hash (t) WITH (fillfactor='80');
CREATE INDEX i_gin ON app.indexed USING gin (j jsonb_path_ops, arr) WITH (fastupdate='off', gin_pending_list_limit='128');
CREATE INDEX i_gin_int ON app.indexed USING gin (arr ext.gin__int_ops);
CREATE INDEX i_gin_trgm ON app.indexed USING gin (t ext.gin_trgm_ops, id);
CREATE INDEX i_gin_hstore ON app.indexed USING gin (h);
CREATE INDEX i_gist ON app.indexed USING gist (r, b, p, pg, ip inet_ops, m) WITH (fillfactor='60');
CREATE INDEX i_gist_v ON app.indexed USING gist (v tsvector_ops (siglen='100')) INCLUDE (id);
CREATE INDEX i_gist_ext ON app.indexed USING gist (id, t ext.gist_trgm_ops (siglen='32'), path ext.gist_ltree_ops, c, u);
CREATE INDEX i_spgist ON app.indexed USING spgist (t) WITH (fillfactor='75');
CREATE INDEX i_spgist_p ON app.indexed USING spgist (p kd_point_ops);
CREATE INDEX i_spgist_r ON app.indexed USING spgist (r);
CREATE INDEX i_brin ON app.indexed USING brin (id, ts timestamptz_minmax_multi_ops (values_per_range='16'), t text_bloom_ops (n_distinct_per_range='100')) WITH (pages_per_range='64', autosummarize='on');
CREATE INDEX i_brin_r ON app.indexed USING brin (r, ip inet_inclusion_ops);
CREATE INDEX i_part ON app.indexed (lower(ci::text)) WHERE ((h -> 'a') = 'b');
ALTER INDEX app.i_part ALTER COLUMN 1 SET STATISTICS 300;
COMMENT ON INDEX app.i_gist IS 'many';
ALTER TABLE app.indexed CLUSTER ON i_btree;

-- Constraints by indexes that are not B-trees, and periods.
CREATE TABLE app.rooms (
    room integer, during tstzrange, area box, note text,
    CONSTRAINT rooms_once EXCLUDE USING gist (room WITH =, during WITH &&) WHERE (note IS NOT NULL) DEFERRABLE INITIALLY DEFERRED,
    CONSTRAINT rooms_area EXCLUDE USING spgist (area WITH &&)
);
CREATE TABLE app.periods (id integer, valid daterange, CONSTRAINT periods_pk PRIMARY KEY (id, valid WITHOUT OVERLAPS));
CREATE TABLE app.in_periods (
    id integer, pid integer, valid daterange,
    CONSTRAINT in_periods_fk FOREIGN KEY (pid, PERIOD valid) REFERENCES app.periods (id, PERIOD valid),
    CONSTRAINT in_periods_once UNIQUE (id, valid WITHOUT OVERLAPS)
);
CREATE UNIQUE INDEX by_index ON app.rooms (room, note);
ALTER TABLE app.rooms ADD CONSTRAINT by_index UNIQUE USING INDEX by_index;

-- Foreign data.
CREATE FOREIGN DATA WRAPPER "Far" VALIDATOR postgresql_fdw_validator;
CREATE FOREIGN DATA WRAPPER far OPTIONS (a '1', "b c" 'it''s');
COMMENT ON FOREIGN DATA WRAPPER far IS 'far away';
GRANT USAGE ON FOREIGN DATA WRAPPER far TO dump_owner WITH GRANT OPTION;
CREATE SERVER plain FOREIGN DATA WRAPPER far;
CREATE SERVER "Server" TYPE 'kind' VERSION '1.0' FOREIGN DATA WRAPPER "Far" OPTIONS (host 'localhost', dbname 'x');
ALTER SERVER plain OWNER TO dump_owner;
GRANT USAGE ON FOREIGN SERVER "Server" TO dump_reader;
COMMENT ON SERVER plain IS 'over there';
CREATE USER MAPPING FOR PUBLIC SERVER "Server" OPTIONS ("user" 'nobody');
CREATE USER MAPPING FOR dump_owner SERVER plain;
CREATE FOREIGN TABLE app.foreign_rows (
    id integer OPTIONS (p 'v', "Q" 'w') NOT NULL, t text COLLATE "C" DEFAULT 'x', d integer GENERATED ALWAYS AS (id * 2) STORED,
    CONSTRAINT foreign_rows_check CHECK (id > 0)
) SERVER plain OPTIONS (o 'v', "Odd name" 'it''s');
ALTER FOREIGN TABLE app.foreign_rows ALTER COLUMN id SET STATISTICS 5;
ALTER FOREIGN TABLE app.foreign_rows OWNER TO dump_owner;
GRANT SELECT ON app.foreign_rows TO dump_reader;
COMMENT ON FOREIGN TABLE app.foreign_rows IS 'rows from afar';
COMMENT ON COLUMN app.foreign_rows.t IS 'a column from afar';
CREATE TABLE app.near_and_far (a integer NOT NULL, b text) PARTITION BY LIST (a);
CREATE FOREIGN TABLE app.far_part PARTITION OF app.near_and_far FOR VALUES IN (1) SERVER plain;
CREATE TABLE app.near (a integer, b text);
CREATE FOREIGN TABLE app.far_child (c integer) INHERITS (app.near) SERVER plain OPTIONS (x 'y');
CREATE TRIGGER far_trigger AFTER INSERT ON app.far_child FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger();

-- Policies.
ALTER TABLE app.rooms ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON app.rooms FOR SELECT TO dump_reader, dump_owner USING (((room > 1) AND (EXISTS ( SELECT 1 FROM app.near n WHERE (n.a = rooms.room)))));
CREATE POLICY "Written" ON app.rooms AS RESTRICTIVE FOR INSERT WITH CHECK ((note IS NOT NULL));
CREATE POLICY changed ON app.rooms USING ((room > 0)) WITH CHECK ((CURRENT_USER = 'dump_writer'::name));
COMMENT ON POLICY seen ON app.rooms IS 'what readers see';
ALTER TABLE app.periods FORCE ROW LEVEL SECURITY;

-- Rules.
CREATE RULE seen AS ON UPDATE TO app.rooms WHERE ((old.note IS DISTINCT FROM new.note)) DO INSERT INTO app.near (a) VALUES (new.room);
CREATE RULE "Gone" AS ON DELETE TO app.rooms DO (DELETE FROM app.near WHERE (near.a = old.room); NOTIFY rooms, 'gone');
ALTER TABLE app.rooms ENABLE ALWAYS RULE "Gone";
ALTER TABLE app.rooms DISABLE RULE seen;
COMMENT ON RULE "Gone" ON app.rooms IS 'the near go too';

-- Publications.
CREATE PUBLICATION of_all FOR ALL TABLES WITH (publish = 'insert, truncate', publish_generated_columns = stored);
CREATE PUBLICATION of_some FOR TABLE app.rooms (room, note) WHERE ((room > 7) AND (note IS NOT NULL)), app.periods;
CREATE PUBLICATION of_schemas FOR TABLES IN SCHEMA app, ext, TABLE app.rooms WHERE (room = 1) WITH (publish_via_partition_root);
COMMENT ON PUBLICATION of_some IS 'chosen';
ALTER PUBLICATION of_some OWNER TO dump_owner;
RESET search_path;
