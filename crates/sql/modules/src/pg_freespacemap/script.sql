CREATE FUNCTION pg_freespace(regclass, bigint) RETURNS int2 AS 'MODULE_PATHNAME', 'pg_freespace'
    LANGUAGE c STRICT PARALLEL SAFE;
CREATE FUNCTION pg_freespace(rel regclass, blkno OUT bigint, avail OUT int2) RETURNS SETOF record AS $$
    SELECT n, pg_freespace($1, n) FROM generate_series(0::bigint,
        pg_relation_size($1) / current_setting('block_size')::bigint - 1) AS n $$ LANGUAGE sql PARALLEL SAFE;
REVOKE ALL ON FUNCTION pg_freespace(regclass, bigint), pg_freespace(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pg_freespace(regclass, bigint), pg_freespace(regclass) TO pg_stat_scan_tables;
