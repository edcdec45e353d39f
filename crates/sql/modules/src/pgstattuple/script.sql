CREATE FUNCTION pgstattuple(relname text, OUT table_len bigint, OUT tuple_count bigint, OUT tuple_len bigint,
    OUT tuple_percent float8, OUT dead_tuple_count bigint, OUT dead_tuple_len bigint, OUT dead_tuple_percent float8,
    OUT free_space bigint, OUT free_percent float8)
    AS 'MODULE_PATHNAME', 'pgstattuple_v1_5' LANGUAGE c STRICT PARALLEL SAFE;
CREATE FUNCTION pgstatindex(relname text, OUT version int, OUT tree_level int, OUT index_size bigint,
    OUT root_block_no bigint, OUT internal_pages bigint, OUT leaf_pages bigint, OUT empty_pages bigint,
    OUT deleted_pages bigint, OUT avg_leaf_density float8, OUT leaf_fragmentation float8)
    AS 'MODULE_PATHNAME', 'pgstatindex_v1_5' LANGUAGE c STRICT PARALLEL SAFE;
CREATE FUNCTION pg_relpages(relname text) RETURNS bigint
    AS 'MODULE_PATHNAME', 'pg_relpages_v1_5' LANGUAGE c STRICT PARALLEL SAFE;
CREATE FUNCTION pgstatginindex(relname regclass, OUT version int4, OUT pending_pages int4, OUT pending_tuples bigint)
    AS 'MODULE_PATHNAME', 'pgstatginindex_v1_5' LANGUAGE c STRICT PARALLEL SAFE;
CREATE FUNCTION pgstattuple(reloid regclass, OUT table_len bigint, OUT tuple_count bigint, OUT tuple_len bigint,
    OUT tuple_percent float8, OUT dead_tuple_count bigint, OUT dead_tuple_len bigint, OUT dead_tuple_percent float8,
    OUT free_space bigint, OUT free_percent float8)
    AS 'MODULE_PATHNAME', 'pgstattuplebyid_v1_5' LANGUAGE c STRICT PARALLEL SAFE;
CREATE FUNCTION pgstatindex(relname regclass, OUT version int, OUT tree_level int, OUT index_size bigint,
    OUT root_block_no bigint, OUT internal_pages bigint, OUT leaf_pages bigint, OUT empty_pages bigint,
    OUT deleted_pages bigint, OUT avg_leaf_density float8, OUT leaf_fragmentation float8)
    AS 'MODULE_PATHNAME', 'pgstatindexbyid_v1_5' LANGUAGE c STRICT PARALLEL SAFE;
CREATE FUNCTION pg_relpages(relname regclass) RETURNS bigint
    AS 'MODULE_PATHNAME', 'pg_relpagesbyid_v1_5' LANGUAGE c STRICT PARALLEL SAFE;
CREATE FUNCTION pgstattuple_approx(reloid regclass, OUT table_len bigint, OUT scanned_percent float8,
    OUT approx_tuple_count bigint, OUT approx_tuple_len bigint, OUT approx_tuple_percent float8,
    OUT dead_tuple_count bigint, OUT dead_tuple_len bigint, OUT dead_tuple_percent float8,
    OUT approx_free_space bigint, OUT approx_free_percent float8)
    AS 'MODULE_PATHNAME', 'pgstattuple_approx_v1_5' LANGUAGE c STRICT PARALLEL SAFE;
CREATE FUNCTION pgstathashindex(relname regclass, OUT version integer, OUT bucket_pages bigint,
    OUT overflow_pages bigint, OUT bitmap_pages bigint, OUT unused_pages bigint, OUT live_items bigint,
    OUT dead_items bigint, OUT free_percent float8)
    AS 'MODULE_PATHNAME', 'pgstathashindex' LANGUAGE c STRICT PARALLEL SAFE;
REVOKE EXECUTE ON FUNCTION pgstattuple(text), pgstatindex(text), pg_relpages(text), pgstatginindex(regclass),
    pgstattuple(regclass), pgstatindex(regclass), pg_relpages(regclass), pgstattuple_approx(regclass),
    pgstathashindex(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pgstattuple(text), pgstatindex(text), pg_relpages(text), pgstatginindex(regclass),
    pgstattuple(regclass), pgstatindex(regclass), pg_relpages(regclass), pgstattuple_approx(regclass),
    pgstathashindex(regclass) TO pg_stat_scan_tables;
