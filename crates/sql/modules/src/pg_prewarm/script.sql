CREATE FUNCTION pg_prewarm(regclass, mode text DEFAULT 'buffer', fork text DEFAULT 'main', first_block int8 DEFAULT NULL,
    last_block int8 DEFAULT NULL) RETURNS int8 AS 'MODULE_PATHNAME', 'pg_prewarm' LANGUAGE c PARALLEL SAFE;
CREATE FUNCTION autoprewarm_start_worker() RETURNS void AS 'MODULE_PATHNAME', 'autoprewarm_start_worker'
    LANGUAGE c STRICT;
CREATE FUNCTION autoprewarm_dump_now() RETURNS int8 AS 'MODULE_PATHNAME', 'autoprewarm_dump_now' LANGUAGE c STRICT;
