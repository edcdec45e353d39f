-- The rest of the information schema: what describes types by their parts, privileges, what depends on what, foreign data. Run after
-- its first part.

CREATE FUNCTION _pg_expandarray(IN anyarray, OUT x anyelement, OUT n int)
RETURNS SETOF record LANGUAGE sql STRICT IMMUTABLE PARALLEL SAFE ROWS 100
AS 'SELECT e, o::int FROM pg_catalog.unnest($1) WITH ORDINALITY u(e, o)';

CREATE FUNCTION _pg_index_position(oid, smallint) RETURNS int LANGUAGE sql STRICT STABLE
AS 'SELECT k.n::int FROM pg_catalog.pg_index i CROSS JOIN LATERAL pg_catalog.unnest(i.indkey::int2[]) WITH ORDINALITY k(attnum, n)
     WHERE i.indexrelid = $1 AND k.attnum = $2';

CREATE FUNCTION _pg_truetypid(pg_attribute, pg_type) RETURNS oid LANGUAGE sql STRICT IMMUTABLE PARALLEL SAFE
AS 'SELECT CASE WHEN ($2).typtype = ''d'' THEN ($2).typbasetype ELSE ($1).atttypid END';

CREATE FUNCTION _pg_truetypmod(pg_attribute, pg_type) RETURNS int4 LANGUAGE sql STRICT IMMUTABLE PARALLEL SAFE
AS 'SELECT CASE WHEN ($2).typtype = ''d'' THEN ($2).typtypmod ELSE ($1).atttypmod END';

CREATE FUNCTION _pg_char_max_length(typid oid, typmod int4) RETURNS int LANGUAGE sql STRICT IMMUTABLE PARALLEL SAFE
AS 'SELECT CASE WHEN typmod = -1 THEN NULL WHEN typid IN (1042, 1043) THEN typmod - 4 WHEN typid IN (1560, 1562) THEN typmod END';

CREATE FUNCTION _pg_char_octet_length(typid oid, typmod int4) RETURNS int LANGUAGE sql STRICT IMMUTABLE PARALLEL SAFE
AS 'SELECT CASE WHEN typid NOT IN (25, 1042, 1043) THEN NULL WHEN typmod = -1 THEN 1073741824 ELSE (typmod - 4) * 4 END';

CREATE FUNCTION _pg_numeric_precision(typid oid, typmod int4) RETURNS int LANGUAGE sql STRICT IMMUTABLE PARALLEL SAFE
AS 'SELECT CASE typid WHEN 21 THEN 16 WHEN 23 THEN 32 WHEN 20 THEN 64 WHEN 700 THEN 24 WHEN 701 THEN 53
           WHEN 1700 THEN CASE WHEN typmod <> -1 THEN (typmod - 4) >> 16 & 65535 END END';

CREATE FUNCTION _pg_numeric_precision_radix(typid oid, typmod int4) RETURNS int LANGUAGE sql STRICT IMMUTABLE PARALLEL SAFE
AS 'SELECT CASE WHEN typid IN (20, 21, 23, 700, 701) THEN 2 WHEN typid = 1700 THEN 10 END';

CREATE FUNCTION _pg_numeric_scale(typid oid, typmod int4) RETURNS int LANGUAGE sql STRICT IMMUTABLE PARALLEL SAFE
AS 'SELECT CASE WHEN typid IN (20, 21, 23) THEN 0 WHEN typid = 1700 AND typmod <> -1 THEN (typmod - 4) & 2047 END';

CREATE FUNCTION _pg_datetime_precision(typid oid, typmod int4) RETURNS int LANGUAGE sql STRICT IMMUTABLE PARALLEL SAFE
AS 'SELECT CASE WHEN typid = 1082 THEN 0 WHEN typid IN (1083, 1114, 1184, 1266) THEN CASE WHEN typmod < 0 THEN 6 ELSE typmod END
           WHEN typid = 1186 THEN CASE WHEN typmod < 0 OR typmod & 65535 = 65535 THEN 6 ELSE typmod & 65535 END END';

CREATE FUNCTION _pg_interval_type(typid oid, mod int4) RETURNS text LANGUAGE sql STRICT IMMUTABLE PARALLEL SAFE
AS 'SELECT CASE WHEN typid = 1186
           THEN pg_catalog.upper(pg_catalog.substring(pg_catalog.format_type(typid, mod), ''interval[()0-9]* (.*)'')) END';

CREATE VIEW administrable_role_authorizations AS
SELECT grantee,
       role_name,
       is_grantable
  FROM applicable_roles WHERE is_grantable = 'YES';

CREATE VIEW attributes AS
SELECT current_database()::sql_identifier AS udt_catalog,
       nc.nspname::sql_identifier AS udt_schema,
       c.relname::sql_identifier AS udt_name,
       a.attname::sql_identifier AS attribute_name,
       a.attnum::cardinal_number AS ordinal_position,
       pg_get_expr(d.adbin, d.adrelid)::character_data AS attribute_default,
       (CASE WHEN a.attnotnull OR t.typtype = 'd' AND t.typnotnull THEN 'NO' ELSE 'YES' END)::yes_or_no AS is_nullable,
       (CASE WHEN t.typelem <> 0 AND t.typlen = -1 THEN 'ARRAY' WHEN nt.nspname = 'pg_catalog' THEN format_type(t.oid, NULL)
            ELSE 'USER-DEFINED' END)::character_data AS data_type,
       _pg_char_max_length(b.oid, _pg_truetypmod(a, t))::cardinal_number AS character_maximum_length,
       _pg_char_octet_length(b.oid, _pg_truetypmod(a, t))::cardinal_number AS character_octet_length,
       NULL::sql_identifier AS character_set_catalog,
       NULL::sql_identifier AS character_set_schema,
       NULL::sql_identifier AS character_set_name,
       (CASE WHEN nco.nspname IS NOT NULL THEN current_database() END)::sql_identifier AS collation_catalog,
       nco.nspname::sql_identifier AS collation_schema,
       co.collname::sql_identifier AS collation_name,
       _pg_numeric_precision(b.oid, _pg_truetypmod(a, t))::cardinal_number AS numeric_precision,
       _pg_numeric_precision_radix(b.oid, _pg_truetypmod(a, t))::cardinal_number AS numeric_precision_radix,
       _pg_numeric_scale(b.oid, _pg_truetypmod(a, t))::cardinal_number AS numeric_scale,
       _pg_datetime_precision(b.oid, _pg_truetypmod(a, t))::cardinal_number AS datetime_precision,
       _pg_interval_type(b.oid, _pg_truetypmod(a, t))::character_data AS interval_type,
       NULL::cardinal_number AS interval_precision,
       current_database()::sql_identifier AS attribute_udt_catalog,
       nt.nspname::sql_identifier AS attribute_udt_schema,
       t.typname::sql_identifier AS attribute_udt_name,
       NULL::sql_identifier AS scope_catalog,
       NULL::sql_identifier AS scope_schema,
       NULL::sql_identifier AS scope_name,
       NULL::cardinal_number AS maximum_cardinality,
       a.attnum::sql_identifier AS dtd_identifier,
       'NO'::yes_or_no AS is_derived_reference_attribute
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace nc ON nc.oid = c.relnamespace
  JOIN pg_type t ON t.oid = a.atttypid JOIN pg_type b ON b.oid = _pg_truetypid(a, t) JOIN pg_namespace nt ON nt.oid = t.typnamespace
  LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
  LEFT JOIN (pg_collation co JOIN pg_namespace nco ON nco.oid = co.collnamespace)
    ON co.oid = a.attcollation AND (nco.nspname <> 'pg_catalog' OR co.collname <> 'default')
 WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind = 'c'
   AND (pg_has_role(c.relowner, 'USAGE') OR has_type_privilege(c.reltype, 'USAGE'));

CREATE VIEW character_sets AS
SELECT NULL::sql_identifier AS character_set_catalog,
       NULL::sql_identifier AS character_set_schema,
       getdatabaseencoding()::sql_identifier AS character_set_name,
       (CASE WHEN getdatabaseencoding() = 'UTF8' THEN 'UCS' ELSE getdatabaseencoding() END)::sql_identifier AS character_repertoire,
       getdatabaseencoding()::sql_identifier AS form_of_use,
       current_database()::sql_identifier AS default_collate_catalog,
       n.nspname::sql_identifier AS default_collate_schema,
       c.collname::sql_identifier AS default_collate_name
  FROM pg_database d
  LEFT JOIN (pg_collation c JOIN pg_namespace n ON n.oid = c.collnamespace) ON c.collcollate = d.datcollate AND c.collctype = d.datctype
 WHERE d.datname = current_database()
 ORDER BY char_length(c.collname) DESC, c.collname LIMIT 1;

CREATE VIEW check_constraint_routine_usage AS
SELECT DISTINCT current_database()::sql_identifier AS constraint_catalog,
       nc.nspname::sql_identifier AS constraint_schema,
       o.conname::sql_identifier AS constraint_name,
       current_database()::sql_identifier AS specific_catalog,
       np.nspname::sql_identifier AS specific_schema,
       (p.proname || '_' || p.oid)::sql_identifier AS specific_name
  FROM pg_constraint o JOIN pg_namespace nc ON nc.oid = o.connamespace
  JOIN pg_depend d ON d.classid = 'pg_constraint'::regclass AND d.objid = o.oid AND d.refclassid = 'pg_proc'::regclass
  JOIN pg_proc p ON p.oid = d.refobjid JOIN pg_namespace np ON np.oid = p.pronamespace
 WHERE o.contype = 'c' AND pg_has_role(p.proowner, 'USAGE');

CREATE VIEW collations AS
SELECT current_database()::sql_identifier AS collation_catalog,
       n.nspname::sql_identifier AS collation_schema,
       c.collname::sql_identifier AS collation_name,
       'NO PAD'::character_data AS pad_attribute
  FROM pg_collation c JOIN pg_namespace n ON n.oid = c.collnamespace
 WHERE c.collencoding IN (-1, (SELECT encoding FROM pg_database WHERE datname = current_database()));

CREATE VIEW collation_character_set_applicability AS
SELECT current_database()::sql_identifier AS collation_catalog,
       n.nspname::sql_identifier AS collation_schema,
       c.collname::sql_identifier AS collation_name,
       NULL::sql_identifier AS character_set_catalog,
       NULL::sql_identifier AS character_set_schema,
       getdatabaseencoding()::sql_identifier AS character_set_name
  FROM pg_collation c JOIN pg_namespace n ON n.oid = c.collnamespace
 WHERE c.collencoding IN (-1, (SELECT encoding FROM pg_database WHERE datname = current_database()));

CREATE VIEW column_column_usage AS
SELECT DISTINCT current_database()::sql_identifier AS table_catalog,
       n.nspname::sql_identifier AS table_schema,
       c.relname::sql_identifier AS table_name,
       ac.attname::sql_identifier AS column_name,
       ad.attname::sql_identifier AS dependent_column
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_attribute ad ON ad.attrelid = c.oid AND ad.attgenerated <> ''
  JOIN pg_attrdef f ON f.adrelid = c.oid AND f.adnum = ad.attnum
  JOIN pg_depend d ON d.classid = 'pg_attrdef'::regclass AND d.objid = f.oid AND d.refclassid = 'pg_class'::regclass AND d.refobjid = c.oid
  JOIN pg_attribute ac ON ac.attrelid = c.oid AND ac.attnum = d.refobjsubid AND ac.attnum <> ad.attnum
 WHERE c.relkind IN ('r', 'v', 'f', 'p') AND pg_has_role(c.relowner, 'USAGE');

CREATE VIEW column_domain_usage AS
SELECT current_database()::sql_identifier AS domain_catalog,
       nt.nspname::sql_identifier AS domain_schema,
       t.typname::sql_identifier AS domain_name,
       current_database()::sql_identifier AS table_catalog,
       n.nspname::sql_identifier AS table_schema,
       c.relname::sql_identifier AS table_name,
       a.attname::sql_identifier AS column_name
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_type t ON t.oid = a.atttypid JOIN pg_namespace nt ON nt.oid = t.typnamespace
 WHERE t.typtype = 'd' AND c.relkind IN ('r', 'v', 'f', 'p') AND a.attnum > 0 AND NOT a.attisdropped AND pg_has_role(t.typowner, 'USAGE');

CREATE VIEW column_udt_usage AS
SELECT current_database()::sql_identifier AS udt_catalog,
       nb.nspname::sql_identifier AS udt_schema,
       b.typname::sql_identifier AS udt_name,
       current_database()::sql_identifier AS table_catalog,
       n.nspname::sql_identifier AS table_schema,
       c.relname::sql_identifier AS table_name,
       a.attname::sql_identifier AS column_name
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_type t ON t.oid = a.atttypid JOIN pg_type b ON b.oid = _pg_truetypid(a, t) JOIN pg_namespace nb ON nb.oid = b.typnamespace
 WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'v', 'f', 'p') AND pg_has_role(b.typowner, 'USAGE');

CREATE VIEW domain_udt_usage AS
SELECT current_database()::sql_identifier AS udt_catalog,
       nb.nspname::sql_identifier AS udt_schema,
       b.typname::sql_identifier AS udt_name,
       current_database()::sql_identifier AS domain_catalog,
       nt.nspname::sql_identifier AS domain_schema,
       t.typname::sql_identifier AS domain_name
  FROM pg_type t JOIN pg_namespace nt ON nt.oid = t.typnamespace
  JOIN pg_type b ON b.oid = t.typbasetype JOIN pg_namespace nb ON nb.oid = b.typnamespace
 WHERE t.typtype = 'd' AND pg_has_role(b.typowner, 'USAGE');

CREATE VIEW column_privileges AS
SELECT g.rolname::sql_identifier AS grantor,
       r.rolname::sql_identifier AS grantee,
       current_database()::sql_identifier AS table_catalog,
       n.nspname::sql_identifier AS table_schema,
       x.relname::sql_identifier AS table_name,
       x.attname::sql_identifier AS column_name,
       x.privilege_type::character_data AS privilege_type,
       (CASE WHEN x.grantee = x.relowner OR x.is_grantable THEN 'YES' ELSE 'NO' END)::yes_or_no AS is_grantable
  FROM (SELECT c.relnamespace, c.relname, c.relowner, a.attname, p.grantor, p.grantee, p.privilege_type, p.is_grantable
          FROM pg_class c CROSS JOIN LATERAL aclexplode(coalesce(c.relacl, acldefault('r', c.relowner))) p
          JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
         WHERE c.relkind IN ('r', 'v', 'f', 'p')
         UNION
        SELECT c.relnamespace, c.relname, c.relowner, a.attname, p.grantor, p.grantee, p.privilege_type, p.is_grantable
          FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
         CROSS JOIN LATERAL aclexplode(coalesce(a.attacl, acldefault('c', c.relowner))) p
         WHERE c.relkind IN ('r', 'v', 'f', 'p')) x
  JOIN pg_namespace n ON n.oid = x.relnamespace
  JOIN pg_authid g ON g.oid = x.grantor JOIN (SELECT oid, rolname FROM pg_authid UNION ALL SELECT 0, 'PUBLIC') r ON r.oid = x.grantee
 WHERE x.privilege_type IN ('INSERT', 'SELECT', 'UPDATE', 'REFERENCES')
   AND (pg_has_role(g.oid, 'USAGE') OR pg_has_role(r.oid, 'USAGE') OR r.rolname = 'PUBLIC');

CREATE VIEW role_column_grants AS
SELECT grantor,
       grantee,
       table_catalog,
       table_schema,
       table_name,
       column_name,
       privilege_type,
       is_grantable
  FROM column_privileges
 WHERE grantor IN (SELECT role_name FROM enabled_roles) OR grantee IN (SELECT role_name FROM enabled_roles);

CREATE VIEW routine_privileges AS
SELECT g.rolname::sql_identifier AS grantor,
       r.rolname::sql_identifier AS grantee,
       current_database()::sql_identifier AS specific_catalog,
       n.nspname::sql_identifier AS specific_schema,
       (p.proname || '_' || p.oid)::sql_identifier AS specific_name,
       current_database()::sql_identifier AS routine_catalog,
       n.nspname::sql_identifier AS routine_schema,
       p.proname::sql_identifier AS routine_name,
       'EXECUTE'::character_data AS privilege_type,
       (CASE WHEN x.grantee = p.proowner OR x.is_grantable THEN 'YES' ELSE 'NO' END)::yes_or_no AS is_grantable
  FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
  CROSS JOIN LATERAL aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) x
  JOIN pg_authid g ON g.oid = x.grantor JOIN (SELECT oid, rolname FROM pg_authid UNION ALL SELECT 0, 'PUBLIC') r ON r.oid = x.grantee
 WHERE x.privilege_type = 'EXECUTE' AND (pg_has_role(g.oid, 'USAGE') OR pg_has_role(r.oid, 'USAGE') OR r.rolname = 'PUBLIC');

CREATE VIEW role_routine_grants AS
SELECT grantor,
       grantee,
       specific_catalog,
       specific_schema,
       specific_name,
       routine_catalog,
       routine_schema,
       routine_name,
       privilege_type,
       is_grantable
  FROM routine_privileges
 WHERE grantor IN (SELECT role_name FROM enabled_roles) OR grantee IN (SELECT role_name FROM enabled_roles);

CREATE VIEW udt_privileges AS
SELECT g.rolname::sql_identifier AS grantor,
       r.rolname::sql_identifier AS grantee,
       current_database()::sql_identifier AS udt_catalog,
       n.nspname::sql_identifier AS udt_schema,
       t.typname::sql_identifier AS udt_name,
       'TYPE USAGE'::character_data AS privilege_type,
       (CASE WHEN x.grantee = t.typowner OR x.is_grantable THEN 'YES' ELSE 'NO' END)::yes_or_no AS is_grantable
  FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
  CROSS JOIN LATERAL aclexplode(coalesce(t.typacl, acldefault('T', t.typowner))) x
  JOIN pg_authid g ON g.oid = x.grantor JOIN (SELECT oid, rolname FROM pg_authid UNION ALL SELECT 0, 'PUBLIC') r ON r.oid = x.grantee
 WHERE t.typtype = 'c' AND x.privilege_type = 'USAGE' AND (pg_has_role(g.oid, 'USAGE') OR pg_has_role(r.oid, 'USAGE') OR r.rolname = 'PUBLIC');

CREATE VIEW role_udt_grants AS
SELECT grantor,
       grantee,
       udt_catalog,
       udt_schema,
       udt_name,
       privilege_type,
       is_grantable
  FROM udt_privileges
 WHERE grantor IN (SELECT role_name FROM enabled_roles) OR grantee IN (SELECT role_name FROM enabled_roles);

CREATE VIEW usage_privileges AS
SELECT g.rolname::sql_identifier AS grantor,
       r.rolname::sql_identifier AS grantee,
       current_database()::sql_identifier AS object_catalog,
       x.schema::sql_identifier AS object_schema,
       x.name::sql_identifier AS object_name,
       x.kind::character_data AS object_type,
       'USAGE'::character_data AS privilege_type,
       (CASE WHEN x.grantee = x.owner OR x.is_grantable THEN 'YES' ELSE 'NO' END)::yes_or_no AS is_grantable
  FROM (SELECT n.nspname AS schema, c.collname AS name, 'COLLATION' AS kind, c.collowner AS owner, c.collowner AS grantor, 0::oid AS grantee, 'USAGE' AS privilege_type, false AS is_grantable
          FROM pg_collation c JOIN pg_namespace n ON n.oid = c.collnamespace
         WHERE c.collencoding IN (-1, (SELECT encoding FROM pg_database WHERE datname = current_database()))
         UNION ALL
        SELECT n.nspname, t.typname, 'DOMAIN', t.typowner, p.grantor, p.grantee, p.privilege_type, p.is_grantable
          FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
         CROSS JOIN LATERAL aclexplode(coalesce(t.typacl, acldefault('T', t.typowner))) p WHERE t.typtype = 'd'
         UNION ALL
        SELECT '', f.fdwname, 'FOREIGN DATA WRAPPER', f.fdwowner, p.grantor, p.grantee, p.privilege_type, p.is_grantable
          FROM pg_foreign_data_wrapper f CROSS JOIN LATERAL aclexplode(coalesce(f.fdwacl, acldefault('F', f.fdwowner))) p
         UNION ALL
        SELECT '', s.srvname, 'FOREIGN SERVER', s.srvowner, p.grantor, p.grantee, p.privilege_type, p.is_grantable
          FROM pg_foreign_server s CROSS JOIN LATERAL aclexplode(coalesce(s.srvacl, acldefault('S', s.srvowner))) p
         UNION ALL
        SELECT n.nspname, c.relname, 'SEQUENCE', c.relowner, p.grantor, p.grantee, p.privilege_type, p.is_grantable
          FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
         CROSS JOIN LATERAL aclexplode(coalesce(c.relacl, acldefault('r', c.relowner))) p WHERE c.relkind = 'S') x
  JOIN pg_authid g ON g.oid = x.grantor JOIN (SELECT oid, rolname FROM pg_authid UNION ALL SELECT 0, 'PUBLIC') r ON r.oid = x.grantee
 WHERE x.privilege_type = 'USAGE' AND (pg_has_role(g.oid, 'USAGE') OR pg_has_role(r.oid, 'USAGE') OR r.rolname = 'PUBLIC');

CREATE VIEW role_usage_grants AS
SELECT grantor,
       grantee,
       object_catalog,
       object_schema,
       object_name,
       object_type,
       privilege_type,
       is_grantable
  FROM usage_privileges
 WHERE grantor IN (SELECT role_name FROM enabled_roles) OR grantee IN (SELECT role_name FROM enabled_roles);

CREATE VIEW routine_column_usage AS
SELECT DISTINCT current_database()::sql_identifier AS specific_catalog,
       np.nspname::sql_identifier AS specific_schema,
       (p.proname || '_' || p.oid)::sql_identifier AS specific_name,
       current_database()::sql_identifier AS routine_catalog,
       np.nspname::sql_identifier AS routine_schema,
       p.proname::sql_identifier AS routine_name,
       current_database()::sql_identifier AS table_catalog,
       n.nspname::sql_identifier AS table_schema,
       c.relname::sql_identifier AS table_name,
       a.attname::sql_identifier AS column_name
  FROM pg_proc p JOIN pg_namespace np ON np.oid = p.pronamespace
  JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
  JOIN pg_class c ON d.refclassid = 'pg_class'::regclass AND c.oid = d.refobjid JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = d.refobjsubid
 WHERE c.relkind IN ('r', 'v', 'f', 'p') AND pg_has_role(c.relowner, 'USAGE');

CREATE VIEW routine_table_usage AS
SELECT DISTINCT current_database()::sql_identifier AS specific_catalog,
       np.nspname::sql_identifier AS specific_schema,
       (p.proname || '_' || p.oid)::sql_identifier AS specific_name,
       current_database()::sql_identifier AS routine_catalog,
       np.nspname::sql_identifier AS routine_schema,
       p.proname::sql_identifier AS routine_name,
       current_database()::sql_identifier AS table_catalog,
       n.nspname::sql_identifier AS table_schema,
       c.relname::sql_identifier AS table_name
  FROM pg_proc p JOIN pg_namespace np ON np.oid = p.pronamespace
  JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
  JOIN pg_class c ON d.refclassid = 'pg_class'::regclass AND c.oid = d.refobjid JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind IN ('r', 'v', 'f', 'p') AND pg_has_role(c.relowner, 'USAGE');

CREATE VIEW routine_sequence_usage AS
SELECT DISTINCT current_database()::sql_identifier AS specific_catalog,
       np.nspname::sql_identifier AS specific_schema,
       (p.proname || '_' || p.oid)::sql_identifier AS specific_name,
       current_database()::sql_identifier AS routine_catalog,
       np.nspname::sql_identifier AS routine_schema,
       p.proname::sql_identifier AS routine_name,
       current_database()::sql_identifier AS sequence_catalog,
       n.nspname::sql_identifier AS sequence_schema,
       c.relname::sql_identifier AS sequence_name
  FROM pg_proc p JOIN pg_namespace np ON np.oid = p.pronamespace
  JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
  JOIN pg_class c ON d.refclassid = 'pg_class'::regclass AND c.oid = d.refobjid JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind = 'S' AND pg_has_role(c.relowner, 'USAGE');

CREATE VIEW routine_routine_usage AS
SELECT DISTINCT current_database()::sql_identifier AS specific_catalog,
       np.nspname::sql_identifier AS specific_schema,
       (p.proname || '_' || p.oid)::sql_identifier AS specific_name,
       current_database()::sql_identifier AS routine_catalog,
       nq.nspname::sql_identifier AS routine_schema,
       (q.proname || '_' || q.oid)::sql_identifier AS routine_name
  FROM pg_proc p JOIN pg_namespace np ON np.oid = p.pronamespace
  JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
  JOIN pg_proc q ON d.refclassid = 'pg_proc'::regclass AND q.oid = d.refobjid JOIN pg_namespace nq ON nq.oid = q.pronamespace
 WHERE p.prokind IN ('f', 'p') AND q.prokind IN ('f', 'p') AND pg_has_role(q.proowner, 'USAGE');

CREATE VIEW view_column_usage AS
SELECT DISTINCT current_database()::sql_identifier AS view_catalog,
       nv.nspname::sql_identifier AS view_schema,
       v.relname::sql_identifier AS view_name,
       current_database()::sql_identifier AS table_catalog,
       n.nspname::sql_identifier AS table_schema,
       c.relname::sql_identifier AS table_name,
       a.attname::sql_identifier AS column_name
  FROM pg_class v JOIN pg_namespace nv ON nv.oid = v.relnamespace
  JOIN pg_rewrite w ON w.ev_class = v.oid JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid
  JOIN pg_class c ON d.refclassid = 'pg_class'::regclass AND c.oid = d.refobjid AND c.oid <> v.oid JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = d.refobjsubid
 WHERE v.relkind = 'v' AND c.relkind IN ('r', 'v', 'f', 'p') AND pg_has_role(c.relowner, 'USAGE');

CREATE VIEW view_table_usage AS
SELECT DISTINCT current_database()::sql_identifier AS view_catalog,
       nv.nspname::sql_identifier AS view_schema,
       v.relname::sql_identifier AS view_name,
       current_database()::sql_identifier AS table_catalog,
       n.nspname::sql_identifier AS table_schema,
       c.relname::sql_identifier AS table_name
  FROM pg_class v JOIN pg_namespace nv ON nv.oid = v.relnamespace
  JOIN pg_rewrite w ON w.ev_class = v.oid JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid
  JOIN pg_class c ON d.refclassid = 'pg_class'::regclass AND c.oid = d.refobjid AND c.oid <> v.oid JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE v.relkind = 'v' AND c.relkind IN ('r', 'v', 'f', 'p') AND pg_has_role(c.relowner, 'USAGE');

CREATE VIEW view_routine_usage AS
SELECT DISTINCT current_database()::sql_identifier AS table_catalog,
       nv.nspname::sql_identifier AS table_schema,
       v.relname::sql_identifier AS table_name,
       current_database()::sql_identifier AS specific_catalog,
       np.nspname::sql_identifier AS specific_schema,
       (p.proname || '_' || p.oid)::sql_identifier AS specific_name
  FROM pg_class v JOIN pg_namespace nv ON nv.oid = v.relnamespace
  JOIN pg_rewrite w ON w.ev_class = v.oid JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid
  JOIN pg_proc p ON d.refclassid = 'pg_proc'::regclass AND p.oid = d.refobjid JOIN pg_namespace np ON np.oid = p.pronamespace
 WHERE v.relkind = 'v' AND pg_has_role(p.proowner, 'USAGE');

CREATE VIEW transforms AS
SELECT current_database()::sql_identifier AS udt_catalog,
       nt.nspname::sql_identifier AS udt_schema,
       t.typname::sql_identifier AS udt_name,
       current_database()::sql_identifier AS specific_catalog,
       np.nspname::sql_identifier AS specific_schema,
       (p.proname || '_' || p.oid)::sql_identifier AS specific_name,
       l.lanname::sql_identifier AS group_name,
       x.kind::character_data AS transform_type
  FROM pg_transform f JOIN pg_type t ON t.oid = f.trftype JOIN pg_namespace nt ON nt.oid = t.typnamespace
  JOIN pg_language l ON l.oid = f.trflang
  CROSS JOIN LATERAL (VALUES (f.trffromsql::oid, 'FROM SQL'), (f.trftosql::oid, 'TO SQL')) x(function, kind)
  JOIN pg_proc p ON p.oid = x.function JOIN pg_namespace np ON np.oid = p.pronamespace;

CREATE VIEW triggers AS
SELECT current_database()::sql_identifier AS trigger_catalog,
       n.nspname::sql_identifier AS trigger_schema,
       t.tgname::sql_identifier AS trigger_name,
       e.name::character_data AS event_manipulation,
       current_database()::sql_identifier AS event_object_catalog,
       n.nspname::sql_identifier AS event_object_schema,
       c.relname::sql_identifier AS event_object_table,
       rank() OVER (PARTITION BY n.oid, c.oid, e.bit, t.tgtype & 1, t.tgtype & 66 ORDER BY t.tgname)::cardinal_number AS action_order,
       (CASE WHEN pg_has_role(c.relowner, 'USAGE')
             THEN substring(pg_get_triggerdef(t.oid) FROM 'WHEN \((.*)\) EXECUTE (?:PROCEDURE|FUNCTION)') END)::character_data AS action_condition,
       substring(pg_get_triggerdef(t.oid) FROM 'EXECUTE (?:PROCEDURE|FUNCTION) .*$')::character_data AS action_statement,
       (CASE WHEN t.tgtype & 1 = 1 THEN 'ROW' ELSE 'STATEMENT' END)::character_data AS action_orientation,
       (CASE t.tgtype & 66 WHEN 2 THEN 'BEFORE' WHEN 64 THEN 'INSTEAD OF' ELSE 'AFTER' END)::character_data AS action_timing,
       t.tgoldtable::sql_identifier AS action_reference_old_table,
       t.tgnewtable::sql_identifier AS action_reference_new_table,
       NULL::sql_identifier AS action_reference_old_row,
       NULL::sql_identifier AS action_reference_new_row,
       NULL::time_stamp AS created
  FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN (VALUES (4, 'INSERT'), (8, 'DELETE'), (16, 'UPDATE')) e(bit, name) ON t.tgtype & e.bit <> 0
 WHERE NOT t.tgisinternal AND NOT pg_is_other_temp_schema(n.oid)
   AND (pg_has_role(c.relowner, 'USAGE') OR has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
        OR has_any_column_privilege(c.oid, 'INSERT, UPDATE, REFERENCES'));

CREATE VIEW triggered_update_columns AS
SELECT current_database()::sql_identifier AS trigger_catalog,
       n.nspname::sql_identifier AS trigger_schema,
       t.tgname::sql_identifier AS trigger_name,
       current_database()::sql_identifier AS event_object_catalog,
       n.nspname::sql_identifier AS event_object_schema,
       c.relname::sql_identifier AS event_object_table,
       a.attname::sql_identifier AS event_object_column
  FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
  CROSS JOIN LATERAL unnest(t.tgattr::int2[]) k(attnum) JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum
 WHERE NOT pg_is_other_temp_schema(n.oid) AND (pg_has_role(c.relowner, 'USAGE') OR has_column_privilege(c.oid, a.attnum, 'INSERT, UPDATE, REFERENCES'));

CREATE VIEW user_defined_types AS
SELECT current_database()::sql_identifier AS user_defined_type_catalog,
       n.nspname::sql_identifier AS user_defined_type_schema,
       c.relname::sql_identifier AS user_defined_type_name,
       'STRUCTURED'::character_data AS user_defined_type_category,
       'YES'::yes_or_no AS is_instantiable,
       NULL::yes_or_no AS is_final,
       NULL::character_data AS ordering_form,
       NULL::character_data AS ordering_category,
       NULL::sql_identifier AS ordering_routine_catalog,
       NULL::sql_identifier AS ordering_routine_schema,
       NULL::sql_identifier AS ordering_routine_name,
       NULL::character_data AS reference_type,
       NULL::character_data AS data_type,
       NULL::cardinal_number AS character_maximum_length,
       NULL::cardinal_number AS character_octet_length,
       NULL::sql_identifier AS character_set_catalog,
       NULL::sql_identifier AS character_set_schema,
       NULL::sql_identifier AS character_set_name,
       NULL::sql_identifier AS collation_catalog,
       NULL::sql_identifier AS collation_schema,
       NULL::sql_identifier AS collation_name,
       NULL::cardinal_number AS numeric_precision,
       NULL::cardinal_number AS numeric_precision_radix,
       NULL::cardinal_number AS numeric_scale,
       NULL::cardinal_number AS datetime_precision,
       NULL::character_data AS interval_type,
       NULL::cardinal_number AS interval_precision,
       NULL::sql_identifier AS source_dtd_identifier,
       NULL::sql_identifier AS ref_dtd_identifier
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_type t ON t.oid = c.reltype
 WHERE c.relkind = 'c' AND (pg_has_role(t.typowner, 'USAGE') OR has_type_privilege(t.oid, 'USAGE'));

CREATE VIEW data_type_privileges AS
SELECT current_database()::sql_identifier AS object_catalog,
       x.objschema::sql_identifier AS object_schema,
       x.objname::sql_identifier AS object_name,
       x.objtype::character_data AS object_type,
       x.objdtdid::sql_identifier AS dtd_identifier
  FROM (SELECT udt_schema, udt_name, 'USER-DEFINED TYPE', dtd_identifier FROM attributes
         UNION ALL
        SELECT table_schema, table_name, 'TABLE', dtd_identifier FROM columns
         UNION ALL
        SELECT domain_schema, domain_name, 'DOMAIN', dtd_identifier FROM domains
         UNION ALL
        SELECT specific_schema, specific_name, 'ROUTINE', dtd_identifier FROM parameters
         UNION ALL
        SELECT specific_schema, specific_name, 'ROUTINE', dtd_identifier FROM routines) x(objschema, objname, objtype, objdtdid);

CREATE VIEW element_types AS
SELECT current_database()::sql_identifier AS object_catalog,
       n.nspname::sql_identifier AS object_schema,
       x.objname::sql_identifier AS object_name,
       x.objtype::character_data AS object_type,
       x.objdtdid::sql_identifier AS collection_type_identifier,
       (CASE WHEN nb.nspname = 'pg_catalog' THEN format_type(b.oid, NULL) ELSE 'USER-DEFINED' END)::character_data AS data_type,
       NULL::cardinal_number AS character_maximum_length,
       NULL::cardinal_number AS character_octet_length,
       NULL::sql_identifier AS character_set_catalog,
       NULL::sql_identifier AS character_set_schema,
       NULL::sql_identifier AS character_set_name,
       (CASE WHEN nco.nspname IS NOT NULL THEN current_database() END)::sql_identifier AS collation_catalog,
       nco.nspname::sql_identifier AS collation_schema,
       co.collname::sql_identifier AS collation_name,
       NULL::cardinal_number AS numeric_precision,
       NULL::cardinal_number AS numeric_precision_radix,
       NULL::cardinal_number AS numeric_scale,
       NULL::cardinal_number AS datetime_precision,
       NULL::character_data AS interval_type,
       NULL::cardinal_number AS interval_precision,
       current_database()::sql_identifier AS udt_catalog,
       nb.nspname::sql_identifier AS udt_schema,
       b.typname::sql_identifier AS udt_name,
       NULL::sql_identifier AS scope_catalog,
       NULL::sql_identifier AS scope_schema,
       NULL::sql_identifier AS scope_name,
       NULL::cardinal_number AS maximum_cardinality,
       ('a' || x.objdtdid)::sql_identifier AS dtd_identifier
  FROM (SELECT c.relnamespace, c.relname::text AS objname, CASE WHEN c.relkind = 'c' THEN 'USER-DEFINED TYPE' ELSE 'TABLE' END AS objtype,
               a.attnum::int AS objdtdid, a.atttypid AS type, a.attcollation AS collation
          FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
         WHERE NOT pg_is_other_temp_schema(c.relnamespace)
           AND CASE c.relkind WHEN 'c' THEN pg_has_role(c.relowner, 'USAGE') OR has_type_privilege(c.reltype, 'USAGE')
               ELSE c.relkind IN ('r', 'v', 'f', 'p') AND (pg_has_role(c.relowner, 'USAGE')
                    OR has_column_privilege(c.oid, a.attnum, 'SELECT, INSERT, UPDATE, REFERENCES')) END
         UNION ALL
        SELECT t.typnamespace, t.typname, 'DOMAIN', 1, t.typbasetype, t.typcollation FROM pg_type t
         WHERE t.typtype = 'd' AND (pg_has_role(t.typowner, 'USAGE') OR has_type_privilege(t.oid, 'USAGE'))
         UNION ALL
        SELECT p.pronamespace, p.proname || '_' || p.oid, 'ROUTINE', k.place::int, k.type, 0
          FROM pg_proc p CROSS JOIN LATERAL unnest(coalesce(p.proallargtypes, p.proargtypes::oid[])) WITH ORDINALITY k(type, place)
         WHERE pg_has_role(p.proowner, 'USAGE') OR has_function_privilege(p.oid, 'EXECUTE')
         UNION ALL
        SELECT p.pronamespace, p.proname || '_' || p.oid, 'ROUTINE', 0, p.prorettype, 0 FROM pg_proc p
         WHERE pg_has_role(p.proowner, 'USAGE') OR has_function_privilege(p.oid, 'EXECUTE')) x
  JOIN pg_namespace n ON n.oid = x.relnamespace JOIN pg_type t ON t.oid = x.type AND t.typelem <> 0 AND t.typlen = -1
  JOIN pg_type b ON b.oid = t.typelem JOIN pg_namespace nb ON nb.oid = b.typnamespace
  LEFT JOIN (pg_collation co JOIN pg_namespace nco ON nco.oid = co.collnamespace)
    ON co.oid = x.collation AND (nco.nspname <> 'pg_catalog' OR co.collname <> 'default');

CREATE VIEW _pg_foreign_data_wrappers AS
SELECT w.oid,
       w.fdwowner,
       w.fdwoptions,
       current_database()::sql_identifier AS foreign_data_wrapper_catalog,
       w.fdwname::sql_identifier AS foreign_data_wrapper_name,
       u.rolname::sql_identifier AS authorization_identifier,
       'c'::character_data AS foreign_data_wrapper_language
  FROM pg_foreign_data_wrapper w JOIN pg_authid u ON u.oid = w.fdwowner
 WHERE pg_has_role(w.fdwowner, 'USAGE') OR has_foreign_data_wrapper_privilege(w.oid, 'USAGE');

CREATE VIEW foreign_data_wrappers AS
SELECT foreign_data_wrapper_catalog,
       foreign_data_wrapper_name,
       authorization_identifier,
       NULL::character_data AS library_name,
       foreign_data_wrapper_language
  FROM _pg_foreign_data_wrappers;

CREATE VIEW foreign_data_wrapper_options AS
SELECT w.foreign_data_wrapper_catalog,
       w.foreign_data_wrapper_name,
       o.option_name::sql_identifier AS option_name,
       o.option_value::character_data AS option_value
  FROM _pg_foreign_data_wrappers w CROSS JOIN LATERAL pg_options_to_table(w.fdwoptions) o;

CREATE VIEW _pg_foreign_servers AS
SELECT s.oid,
       s.srvoptions,
       current_database()::sql_identifier AS foreign_server_catalog,
       s.srvname::sql_identifier AS foreign_server_name,
       current_database()::sql_identifier AS foreign_data_wrapper_catalog,
       w.fdwname::sql_identifier AS foreign_data_wrapper_name,
       s.srvtype::character_data AS foreign_server_type,
       s.srvversion::character_data AS foreign_server_version,
       u.rolname::sql_identifier AS authorization_identifier
  FROM pg_foreign_server s JOIN pg_foreign_data_wrapper w ON w.oid = s.srvfdw JOIN pg_authid u ON u.oid = s.srvowner
 WHERE pg_has_role(s.srvowner, 'USAGE') OR has_server_privilege(s.oid, 'USAGE');

CREATE VIEW foreign_servers AS
SELECT foreign_server_catalog,
       foreign_server_name,
       foreign_data_wrapper_catalog,
       foreign_data_wrapper_name,
       foreign_server_type,
       foreign_server_version,
       authorization_identifier
  FROM _pg_foreign_servers;

CREATE VIEW foreign_server_options AS
SELECT s.foreign_server_catalog,
       s.foreign_server_name,
       o.option_name::sql_identifier AS option_name,
       o.option_value::character_data AS option_value
  FROM _pg_foreign_servers s CROSS JOIN LATERAL pg_options_to_table(s.srvoptions) o;

CREATE VIEW _pg_foreign_tables AS
SELECT current_database()::sql_identifier AS foreign_table_catalog,
       n.nspname::sql_identifier AS foreign_table_schema,
       c.relname::sql_identifier AS foreign_table_name,
       t.ftoptions,
       current_database()::sql_identifier AS foreign_server_catalog,
       s.srvname::sql_identifier AS foreign_server_name,
       u.rolname::sql_identifier AS authorization_identifier
  FROM pg_foreign_table t JOIN pg_class c ON c.oid = t.ftrelid JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_foreign_server s ON s.oid = t.ftserver JOIN pg_authid u ON u.oid = c.relowner
 WHERE c.relkind = 'f' AND (pg_has_role(c.relowner, 'USAGE') OR has_table_privilege(c.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
        OR has_any_column_privilege(c.oid, 'SELECT, INSERT, UPDATE, REFERENCES'));

CREATE VIEW foreign_tables AS
SELECT foreign_table_catalog,
       foreign_table_schema,
       foreign_table_name,
       foreign_server_catalog,
       foreign_server_name
  FROM _pg_foreign_tables;

CREATE VIEW foreign_table_options AS
SELECT t.foreign_table_catalog,
       t.foreign_table_schema,
       t.foreign_table_name,
       o.option_name::sql_identifier AS option_name,
       o.option_value::character_data AS option_value
  FROM _pg_foreign_tables t CROSS JOIN LATERAL pg_options_to_table(t.ftoptions) o;

CREATE VIEW _pg_foreign_table_columns AS
SELECT n.nspname,
       c.relname,
       a.attname,
       a.attfdwoptions
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
 WHERE c.relkind = 'f' AND a.attnum > 0
   AND (pg_has_role(c.relowner, 'USAGE') OR has_column_privilege(c.oid, a.attnum, 'SELECT, INSERT, UPDATE, REFERENCES'));

CREATE VIEW column_options AS
SELECT current_database()::sql_identifier AS table_catalog,
       c.nspname::sql_identifier AS table_schema,
       c.relname::sql_identifier AS table_name,
       c.attname::sql_identifier AS column_name,
       o.option_name::sql_identifier AS option_name,
       o.option_value::character_data AS option_value
  FROM _pg_foreign_table_columns c CROSS JOIN LATERAL pg_options_to_table(c.attfdwoptions) o;

CREATE VIEW _pg_user_mappings AS
SELECT m.oid,
       m.umoptions,
       m.umuser,
       coalesce(u.rolname, 'PUBLIC')::sql_identifier AS authorization_identifier,
       s.foreign_server_catalog,
       s.foreign_server_name,
       s.authorization_identifier AS srvowner
  FROM pg_user_mapping m JOIN _pg_foreign_servers s ON s.oid = m.umserver LEFT JOIN pg_authid u ON u.oid = m.umuser;

CREATE VIEW user_mappings AS
SELECT authorization_identifier,
       foreign_server_catalog,
       foreign_server_name
  FROM _pg_user_mappings;

CREATE VIEW user_mapping_options AS
SELECT m.authorization_identifier,
       m.foreign_server_catalog,
       m.foreign_server_name,
       o.option_name::sql_identifier AS option_name,
       (CASE WHEN m.umuser <> 0 AND m.authorization_identifier = current_user OR m.umuser = 0 AND pg_has_role(m.srvowner, 'USAGE')
                  OR (SELECT rolsuper FROM pg_authid WHERE rolname = current_user) THEN o.option_value END)::character_data AS option_value
  FROM _pg_user_mappings m CROSS JOIN LATERAL pg_options_to_table(m.umoptions) o;

-- Everybody may look.
UPDATE pg_namespace
   SET nspacl = acldefault('n', nspowner) || format('=U/%I', current_user)::aclitem
 WHERE nspname = 'information_schema';
UPDATE pg_class
   SET relacl = acldefault('r', relowner) || format('=r/%I', current_user)::aclitem
 WHERE relnamespace = 'information_schema'::regnamespace AND relkind = 'v';

RESET search_path;
