CREATE FUNCTION pg_visibility_map(regclass, blkno bigint, all_visible OUT boolean, all_frozen OUT boolean)
    RETURNS record AS 'MODULE_PATHNAME', 'pg_visibility_map' LANGUAGE c STRICT;
CREATE FUNCTION pg_visibility(regclass, blkno bigint, all_visible OUT boolean, all_frozen OUT boolean,
    pd_all_visible OUT boolean) RETURNS record AS 'MODULE_PATHNAME', 'pg_visibility' LANGUAGE c STRICT;
CREATE FUNCTION pg_visibility_map(regclass, blkno OUT bigint, all_visible OUT boolean, all_frozen OUT boolean)
    RETURNS SETOF record AS 'MODULE_PATHNAME', 'pg_visibility_map_rel' LANGUAGE c STRICT;
CREATE FUNCTION pg_visibility(regclass, blkno OUT bigint, all_visible OUT boolean, all_frozen OUT boolean,
    pd_all_visible OUT boolean) RETURNS SETOF record AS 'MODULE_PATHNAME', 'pg_visibility_rel' LANGUAGE c STRICT;
CREATE FUNCTION pg_visibility_map_summary(regclass, OUT all_visible bigint, OUT all_frozen bigint)
    RETURNS record AS 'MODULE_PATHNAME', 'pg_visibility_map_summary' LANGUAGE c STRICT;
CREATE FUNCTION pg_check_frozen(regclass, t_ctid OUT tid) RETURNS SETOF tid AS 'MODULE_PATHNAME', 'pg_check_frozen'
    LANGUAGE c STRICT;
CREATE FUNCTION pg_check_visible(regclass, t_ctid OUT tid) RETURNS SETOF tid AS 'MODULE_PATHNAME', 'pg_check_visible'
    LANGUAGE c STRICT;
CREATE FUNCTION pg_truncate_visibility_map(regclass) RETURNS void AS 'MODULE_PATHNAME', 'pg_truncate_visibility_map'
    LANGUAGE c STRICT PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION pg_visibility_map(regclass, bigint), pg_visibility(regclass, bigint), pg_visibility_map(regclass),
    pg_visibility(regclass), pg_visibility_map_summary(regclass), pg_check_frozen(regclass), pg_check_visible(regclass),
    pg_truncate_visibility_map(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pg_visibility_map(regclass, bigint), pg_visibility(regclass, bigint),
    pg_visibility_map(regclass), pg_visibility(regclass), pg_visibility_map_summary(regclass), pg_check_frozen(regclass),
    pg_check_visible(regclass) TO pg_stat_scan_tables;
