CREATE DOMAIN lo AS pg_catalog.oid;
CREATE FUNCTION lo_oid(lo) RETURNS pg_catalog.oid AS 'SELECT $1::pg_catalog.oid'
    LANGUAGE sql STRICT IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION lo_manage() RETURNS pg_catalog.trigger AS 'MODULE_PATHNAME' LANGUAGE c;
