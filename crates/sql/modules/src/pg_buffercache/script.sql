CREATE FUNCTION pg_buffercache_pages() RETURNS SETOF record AS 'MODULE_PATHNAME', 'pg_buffercache_pages'
    LANGUAGE c PARALLEL SAFE;
CREATE VIEW pg_buffercache AS SELECT p.* FROM pg_buffercache_pages() AS p
    (bufferid integer, relfilenode oid, reltablespace oid, reldatabase oid, relforknumber int2, relblocknumber int8,
     isdirty bool, usagecount int2, pinning_backends int4);
CREATE FUNCTION pg_buffercache_summary(OUT buffers_used int4, OUT buffers_unused int4, OUT buffers_dirty int4,
    OUT buffers_pinned int4, OUT usagecount_avg float8)
    AS 'MODULE_PATHNAME', 'pg_buffercache_summary' LANGUAGE c PARALLEL SAFE;
CREATE FUNCTION pg_buffercache_usage_counts(OUT usage_count int4, OUT buffers int4, OUT dirty int4, OUT pinned int4)
    RETURNS SETOF record AS 'MODULE_PATHNAME', 'pg_buffercache_usage_counts' LANGUAGE c PARALLEL SAFE;
CREATE FUNCTION pg_buffercache_numa_pages() RETURNS SETOF record AS 'MODULE_PATHNAME', 'pg_buffercache_numa_pages'
    LANGUAGE c PARALLEL SAFE;
CREATE VIEW pg_buffercache_numa AS SELECT p.* FROM pg_buffercache_numa_pages() AS p
    (bufferid integer, os_page_num bigint, numa_node integer);
CREATE FUNCTION pg_buffercache_evict(int, OUT buffer_evicted boolean, OUT buffer_flushed boolean)
    AS 'MODULE_PATHNAME', 'pg_buffercache_evict' LANGUAGE c PARALLEL SAFE VOLATILE STRICT;
CREATE FUNCTION pg_buffercache_evict_relation(regclass, OUT buffers_evicted int4, OUT buffers_flushed int4,
    OUT buffers_skipped int4)
    AS 'MODULE_PATHNAME', 'pg_buffercache_evict_relation' LANGUAGE c PARALLEL SAFE VOLATILE STRICT;
CREATE FUNCTION pg_buffercache_evict_all(OUT buffers_evicted int4, OUT buffers_flushed int4, OUT buffers_skipped int4)
    AS 'MODULE_PATHNAME', 'pg_buffercache_evict_all' LANGUAGE c PARALLEL SAFE VOLATILE;
REVOKE ALL ON FUNCTION pg_buffercache_pages(), pg_buffercache_summary(), pg_buffercache_usage_counts(),
    pg_buffercache_numa_pages() FROM PUBLIC;
REVOKE ALL ON pg_buffercache, pg_buffercache_numa FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pg_buffercache_pages(), pg_buffercache_summary(), pg_buffercache_usage_counts(),
    pg_buffercache_numa_pages() TO pg_monitor;
GRANT SELECT ON pg_buffercache, pg_buffercache_numa TO pg_monitor;
