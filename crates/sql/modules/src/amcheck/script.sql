CREATE FUNCTION bt_index_check(index regclass)
    RETURNS void AS 'MODULE_PATHNAME', 'bt_index_check' LANGUAGE c STRICT PARALLEL RESTRICTED;
CREATE FUNCTION bt_index_check(index regclass, heapallindexed boolean)
    RETURNS void AS 'MODULE_PATHNAME', 'bt_index_check' LANGUAGE c STRICT PARALLEL RESTRICTED;
CREATE FUNCTION bt_index_check(index regclass, heapallindexed boolean, checkunique boolean)
    RETURNS void AS 'MODULE_PATHNAME', 'bt_index_check' LANGUAGE c STRICT PARALLEL RESTRICTED;
CREATE FUNCTION bt_index_parent_check(index regclass)
    RETURNS void AS 'MODULE_PATHNAME', 'bt_index_parent_check' LANGUAGE c STRICT PARALLEL RESTRICTED;
CREATE FUNCTION bt_index_parent_check(index regclass, heapallindexed boolean)
    RETURNS void AS 'MODULE_PATHNAME', 'bt_index_parent_check' LANGUAGE c STRICT PARALLEL RESTRICTED;
CREATE FUNCTION bt_index_parent_check(index regclass, heapallindexed boolean, rootdescend boolean)
    RETURNS void AS 'MODULE_PATHNAME', 'bt_index_parent_check' LANGUAGE c STRICT PARALLEL RESTRICTED;
CREATE FUNCTION bt_index_parent_check(index regclass, heapallindexed boolean, rootdescend boolean, checkunique boolean)
    RETURNS void AS 'MODULE_PATHNAME', 'bt_index_parent_check' LANGUAGE c STRICT PARALLEL RESTRICTED;
CREATE FUNCTION gin_index_check(index regclass)
    RETURNS void AS 'MODULE_PATHNAME', 'gin_index_check' LANGUAGE c STRICT;
CREATE FUNCTION verify_heapam(relation regclass, on_error_stop boolean DEFAULT false, check_toast boolean DEFAULT false,
    skip text DEFAULT 'none', startblock bigint DEFAULT NULL, endblock bigint DEFAULT NULL,
    blkno OUT bigint, offnum OUT integer, attnum OUT integer, msg OUT text)
    RETURNS SETOF record AS 'MODULE_PATHNAME', 'verify_heapam' LANGUAGE c;
REVOKE ALL ON FUNCTION bt_index_check(regclass) FROM PUBLIC;
REVOKE ALL ON FUNCTION bt_index_check(regclass, boolean) FROM PUBLIC;
REVOKE ALL ON FUNCTION bt_index_check(regclass, boolean, boolean) FROM PUBLIC;
REVOKE ALL ON FUNCTION bt_index_parent_check(regclass) FROM PUBLIC;
REVOKE ALL ON FUNCTION bt_index_parent_check(regclass, boolean) FROM PUBLIC;
REVOKE ALL ON FUNCTION bt_index_parent_check(regclass, boolean, boolean) FROM PUBLIC;
REVOKE ALL ON FUNCTION bt_index_parent_check(regclass, boolean, boolean, boolean) FROM PUBLIC;
REVOKE ALL ON FUNCTION verify_heapam(regclass, boolean, boolean, text, bigint, bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION gin_index_check(regclass) FROM PUBLIC;
