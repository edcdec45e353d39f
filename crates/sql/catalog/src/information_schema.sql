-- The information schema, as far as tools ask for it: the SQL standard's names for what pg_catalog knows. Run once, after the
-- system views. Columns are those of PostgreSQL 18; what the standard has and PostgreSQL has not is NULL.

CREATE SCHEMA information_schema;
SET search_path TO information_schema;

CREATE DOMAIN cardinal_number AS integer CONSTRAINT cardinal_number_domain_check CHECK (VALUE >= 0);
CREATE DOMAIN character_data AS character varying COLLATE "C";
CREATE DOMAIN sql_identifier AS name COLLATE "C";
CREATE DOMAIN time_stamp AS timestamp(2) with time zone DEFAULT CURRENT_TIMESTAMP(2);
CREATE DOMAIN yes_or_no AS character varying(3) COLLATE "C" CONSTRAINT yes_or_no_check CHECK (VALUE IN ('YES', 'NO'));

CREATE VIEW information_schema_catalog_name AS
SELECT current_database()::sql_identifier AS catalog_name;

CREATE VIEW enabled_roles AS
SELECT a.rolname::sql_identifier AS role_name
  FROM pg_authid a WHERE pg_has_role(a.oid, 'USAGE');

CREATE VIEW applicable_roles AS
SELECT a.rolname::sql_identifier AS grantee,
       b.rolname::sql_identifier AS role_name,
       (CASE WHEN m.admin_option THEN 'YES' ELSE 'NO' END)::yes_or_no AS is_grantable
  FROM (SELECT member, roleid, admin_option FROM pg_auth_members
         UNION
        SELECT d.datdba, r.oid, false FROM pg_database d, pg_authid r
         WHERE d.datname = current_database() AND r.rolname = 'pg_database_owner') m
  JOIN pg_authid a ON a.oid = m.member JOIN pg_authid b ON b.oid = m.roleid
 WHERE pg_has_role(a.oid, 'USAGE');

CREATE VIEW schemata AS
SELECT current_database()::sql_identifier AS catalog_name,
       n.nspname::sql_identifier AS schema_name,
       u.rolname::sql_identifier AS schema_owner,
       NULL::sql_identifier AS default_character_set_catalog,
       NULL::sql_identifier AS default_character_set_schema,
       NULL::sql_identifier AS default_character_set_name,
       NULL::character_data AS sql_path
  FROM pg_namespace n JOIN pg_authid u ON u.oid = n.nspowner
 WHERE pg_has_role(n.nspowner, 'USAGE') OR has_schema_privilege(n.oid, 'CREATE, USAGE');

CREATE VIEW tables AS
SELECT current_database()::sql_identifier AS table_catalog,
       n.nspname::sql_identifier AS table_schema,
       c.relname::sql_identifier AS table_name,
       (CASE WHEN n.oid = pg_my_temp_schema() THEN 'LOCAL TEMPORARY' WHEN c.relkind IN ('r', 'p') THEN 'BASE TABLE' WHEN c.relkind = 'v' THEN 'VIEW'
            WHEN c.relkind = 'f' THEN 'FOREIGN' END)::character_data AS table_type,
       NULL::sql_identifier AS self_referencing_column_name,
       NULL::character_data AS reference_generation,
       (CASE WHEN t.oid IS NOT NULL THEN current_database() END)::sql_identifier AS user_defined_type_catalog,
       nt.nspname::sql_identifier AS user_defined_type_schema,
       t.typname::sql_identifier AS user_defined_type_name,
       (CASE WHEN c.relkind IN ('r', 'p') OR c.relkind IN ('v', 'f') AND pg_relation_is_updatable(c.oid, false) & 8 = 8 THEN 'YES' ELSE 'NO' END)::yes_or_no AS is_insertable_into,
       (CASE WHEN t.oid IS NOT NULL THEN 'YES' ELSE 'NO' END)::yes_or_no AS is_typed,
       NULL::character_data AS commit_action
  FROM pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid
  LEFT JOIN pg_type t ON t.oid = c.reloftype LEFT JOIN pg_namespace nt ON nt.oid = t.typnamespace
 WHERE c.relkind IN ('r', 'v', 'f', 'p') AND NOT pg_is_other_temp_schema(n.oid)
   AND (pg_has_role(c.relowner, 'USAGE') OR has_table_privilege(c.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
        OR has_any_column_privilege(c.oid, 'SELECT, INSERT, UPDATE, REFERENCES'));

CREATE VIEW columns AS
SELECT current_database()::sql_identifier AS table_catalog,
       n.nspname::sql_identifier AS table_schema,
       c.relname::sql_identifier AS table_name,
       a.attname::sql_identifier AS column_name,
       a.attnum::cardinal_number AS ordinal_position,
       (CASE WHEN a.attgenerated = '' THEN pg_get_expr(d.adbin, d.adrelid) END)::character_data AS column_default,
       (CASE WHEN a.attnotnull OR t.typtype = 'd' AND t.typnotnull THEN 'NO' ELSE 'YES' END)::yes_or_no AS is_nullable,
       (CASE WHEN b.typelem <> 0 AND b.typlen = -1 THEN 'ARRAY' WHEN nb.nspname = 'pg_catalog' THEN format_type(b.oid, NULL)
            ELSE 'USER-DEFINED' END)::character_data AS data_type,
       (CASE WHEN b.mod = -1 THEN NULL WHEN b.oid IN (1042, 1043) THEN b.mod - 4 WHEN b.oid IN (1560, 1562) THEN b.mod END)::cardinal_number AS character_maximum_length,
       (CASE WHEN b.oid NOT IN (25, 1042, 1043) THEN NULL WHEN b.mod = -1 THEN 1073741824 ELSE (b.mod - 4) * 4 END)::cardinal_number AS character_octet_length,
       (CASE b.oid WHEN 21 THEN 16 WHEN 23 THEN 32 WHEN 20 THEN 64 WHEN 700 THEN 24 WHEN 701 THEN 53
            WHEN 1700 THEN CASE WHEN b.mod <> -1 THEN (b.mod - 4) >> 16 & 65535 END END)::cardinal_number AS numeric_precision,
       (CASE WHEN b.oid IN (20, 21, 23, 700, 701) THEN 2 WHEN b.oid = 1700 THEN 10 END)::cardinal_number AS numeric_precision_radix,
       (CASE WHEN b.oid IN (20, 21, 23) THEN 0 WHEN b.oid = 1700 AND b.mod <> -1 THEN (b.mod - 4) & 65535 END)::cardinal_number AS numeric_scale,
       (CASE WHEN b.oid = 1082 THEN 0 WHEN b.oid IN (1083, 1114, 1184, 1266) THEN CASE WHEN b.mod < 0 THEN 6 ELSE b.mod END
            WHEN b.oid = 1186 THEN CASE WHEN b.mod < 0 OR b.mod & 65535 = 65535 THEN 6 ELSE b.mod & 65535 END END)::cardinal_number AS datetime_precision,
       (CASE WHEN b.oid = 1186 THEN upper(substring(format_type(b.oid, b.mod) FROM 'interval[()0-9]* (.*)')) END)::character_data AS interval_type,
       NULL::cardinal_number AS interval_precision,
       NULL::sql_identifier AS character_set_catalog,
       NULL::sql_identifier AS character_set_schema,
       NULL::sql_identifier AS character_set_name,
       (CASE WHEN nco.nspname IS NOT NULL THEN current_database() END)::sql_identifier AS collation_catalog,
       nco.nspname::sql_identifier AS collation_schema,
       co.collname::sql_identifier AS collation_name,
       (CASE WHEN t.typtype = 'd' THEN current_database() END)::sql_identifier AS domain_catalog,
       (CASE WHEN t.typtype = 'd' THEN nt.nspname END)::sql_identifier AS domain_schema,
       (CASE WHEN t.typtype = 'd' THEN t.typname END)::sql_identifier AS domain_name,
       current_database()::sql_identifier AS udt_catalog,
       nb.nspname::sql_identifier AS udt_schema,
       b.typname::sql_identifier AS udt_name,
       NULL::sql_identifier AS scope_catalog,
       NULL::sql_identifier AS scope_schema,
       NULL::sql_identifier AS scope_name,
       NULL::cardinal_number AS maximum_cardinality,
       a.attnum::sql_identifier AS dtd_identifier,
       'NO'::yes_or_no AS is_self_referencing,
       (CASE WHEN a.attidentity IN ('a', 'd') THEN 'YES' ELSE 'NO' END)::yes_or_no AS is_identity,
       (CASE a.attidentity WHEN 'a' THEN 'ALWAYS' WHEN 'd' THEN 'BY DEFAULT' END)::character_data AS identity_generation,
       seq.seqstart::character_data AS identity_start,
       seq.seqincrement::character_data AS identity_increment,
       seq.seqmax::character_data AS identity_maximum,
       seq.seqmin::character_data AS identity_minimum,
       (CASE WHEN seq.seqcycle THEN 'YES' ELSE 'NO' END)::yes_or_no AS identity_cycle,
       (CASE WHEN a.attgenerated <> '' THEN 'ALWAYS' ELSE 'NEVER' END)::character_data AS is_generated,
       (CASE WHEN a.attgenerated <> '' THEN pg_get_expr(d.adbin, d.adrelid) END)::character_data AS generation_expression,
       (CASE WHEN c.relkind IN ('r', 'p') OR c.relkind IN ('v', 'f') AND pg_column_is_updatable(c.oid, a.attnum, false) THEN 'YES' ELSE 'NO' END)::yes_or_no AS is_updatable
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_type t ON t.oid = a.atttypid JOIN pg_namespace nt ON nt.oid = t.typnamespace
  CROSS JOIN LATERAL (
         SELECT y.*, CASE WHEN x.typtype = 'd' THEN x.typtypmod ELSE a.atttypmod END AS mod
           FROM pg_type x JOIN pg_type y ON y.oid = CASE WHEN x.typtype = 'd' THEN x.typbasetype ELSE x.oid END
          WHERE x.oid = a.atttypid) b
  JOIN pg_namespace nb ON nb.oid = b.typnamespace
  LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
  LEFT JOIN (pg_collation co JOIN pg_namespace nco ON nco.oid = co.collnamespace)
    ON co.oid = a.attcollation AND (nco.nspname <> 'pg_catalog' OR co.collname <> 'default')
  LEFT JOIN (pg_depend dep JOIN pg_sequence seq ON dep.classid = 'pg_class'::regclass AND dep.objid = seq.seqrelid AND dep.deptype = 'i')
    ON dep.refclassid = 'pg_class'::regclass AND dep.refobjid = c.oid AND dep.refobjsubid = a.attnum
 WHERE NOT pg_is_other_temp_schema(n.oid) AND a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'v', 'f', 'p')
   AND (pg_has_role(c.relowner, 'USAGE') OR has_column_privilege(c.oid, a.attnum, 'SELECT, INSERT, UPDATE, REFERENCES'));

CREATE VIEW views AS
SELECT current_database()::sql_identifier AS table_catalog,
       n.nspname::sql_identifier AS table_schema,
       c.relname::sql_identifier AS table_name,
       (CASE WHEN pg_has_role(c.relowner, 'USAGE') THEN pg_get_viewdef(c.oid) END)::character_data AS view_definition,
       (CASE WHEN 'check_option=cascaded' = ANY (c.reloptions) THEN 'CASCADED' WHEN 'check_option=local' = ANY (c.reloptions) THEN 'LOCAL'
            ELSE 'NONE' END)::character_data AS check_option,
       (CASE WHEN pg_relation_is_updatable(c.oid, false) & 20 = 20 THEN 'YES' ELSE 'NO' END)::yes_or_no AS is_updatable,
       (CASE WHEN pg_relation_is_updatable(c.oid, false) & 8 = 8 THEN 'YES' ELSE 'NO' END)::yes_or_no AS is_insertable_into,
       (CASE WHEN EXISTS (SELECT 1 FROM pg_trigger g WHERE g.tgrelid = c.oid AND g.tgtype & 81 = 81) THEN 'YES' ELSE 'NO' END)::yes_or_no AS is_trigger_updatable,
       (CASE WHEN EXISTS (SELECT 1 FROM pg_trigger g WHERE g.tgrelid = c.oid AND g.tgtype & 73 = 73) THEN 'YES' ELSE 'NO' END)::yes_or_no AS is_trigger_deletable,
       (CASE WHEN EXISTS (SELECT 1 FROM pg_trigger g WHERE g.tgrelid = c.oid AND g.tgtype & 69 = 69) THEN 'YES' ELSE 'NO' END)::yes_or_no AS is_trigger_insertable_into
  FROM pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid
 WHERE c.relkind = 'v' AND NOT pg_is_other_temp_schema(n.oid)
   AND (pg_has_role(c.relowner, 'USAGE') OR has_table_privilege(c.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
        OR has_any_column_privilege(c.oid, 'SELECT, INSERT, UPDATE, REFERENCES'));

CREATE VIEW table_constraints AS
SELECT current_database()::sql_identifier AS constraint_catalog,
       nc.nspname::sql_identifier AS constraint_schema,
       o.conname::sql_identifier AS constraint_name,
       current_database()::sql_identifier AS table_catalog,
       n.nspname::sql_identifier AS table_schema,
       c.relname::sql_identifier AS table_name,
       (CASE o.contype WHEN 'f' THEN 'FOREIGN KEY' WHEN 'p' THEN 'PRIMARY KEY' WHEN 'u' THEN 'UNIQUE' ELSE 'CHECK' END)::character_data AS constraint_type,
       (CASE WHEN o.condeferrable THEN 'YES' ELSE 'NO' END)::yes_or_no AS is_deferrable,
       (CASE WHEN o.condeferred THEN 'YES' ELSE 'NO' END)::yes_or_no AS initially_deferred,
       (CASE WHEN o.conenforced THEN 'YES' ELSE 'NO' END)::yes_or_no AS enforced,
       (CASE WHEN o.contype = 'u' THEN CASE WHEN i.indnullsnotdistinct THEN 'NO' ELSE 'YES' END END)::yes_or_no AS nulls_distinct
  FROM pg_constraint o JOIN pg_namespace nc ON nc.oid = o.connamespace JOIN pg_class c ON c.oid = o.conrelid
  JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_index i ON i.indexrelid = o.conindid AND o.contype = 'u'
 WHERE o.contype IN ('c', 'f', 'n', 'p', 'u') AND c.relkind IN ('r', 'p') AND NOT pg_is_other_temp_schema(n.oid)
   AND (pg_has_role(c.relowner, 'USAGE') OR has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
        OR has_any_column_privilege(c.oid, 'INSERT, UPDATE, REFERENCES'));

CREATE VIEW constraint_column_usage AS
SELECT current_database()::sql_identifier AS table_catalog,
       n.nspname::sql_identifier AS table_schema,
       c.relname::sql_identifier AS table_name,
       a.attname::sql_identifier AS column_name,
       current_database()::sql_identifier AS constraint_catalog,
       nc.nspname::sql_identifier AS constraint_schema,
       u.conname::sql_identifier AS constraint_name
  FROM (SELECT o.connamespace, o.conname, d.refobjid AS relid, d.refobjsubid AS attnum
          FROM pg_constraint o JOIN pg_depend d ON d.classid = 'pg_constraint'::regclass AND d.objid = o.oid
         WHERE o.contype = 'c' AND d.refclassid = 'pg_class'::regclass AND d.refobjsubid > 0
         UNION
        SELECT o.connamespace, o.conname, CASE WHEN o.contype = 'f' THEN o.confrelid ELSE o.conrelid END, k
          FROM pg_constraint o CROSS JOIN LATERAL unnest(CASE WHEN o.contype = 'f' THEN o.confkey ELSE o.conkey END) k
         WHERE o.contype IN ('f', 'n', 'p', 'u')) u
  JOIN pg_namespace nc ON nc.oid = u.connamespace JOIN pg_class c ON c.oid = u.relid
  JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = u.attnum
 WHERE c.relkind IN ('r', 'p') AND NOT a.attisdropped AND pg_has_role(c.relowner, 'USAGE');

CREATE VIEW constraint_table_usage AS
SELECT current_database()::sql_identifier AS table_catalog,
       n.nspname::sql_identifier AS table_schema,
       c.relname::sql_identifier AS table_name,
       current_database()::sql_identifier AS constraint_catalog,
       nc.nspname::sql_identifier AS constraint_schema,
       o.conname::sql_identifier AS constraint_name
  FROM pg_constraint o JOIN pg_namespace nc ON nc.oid = o.connamespace
  JOIN pg_class c ON c.oid = CASE WHEN o.contype = 'f' THEN o.confrelid ELSE o.conrelid END
  JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE o.contype IN ('f', 'p', 'u') AND c.relkind IN ('r', 'p') AND pg_has_role(c.relowner, 'USAGE');

CREATE VIEW key_column_usage AS
SELECT current_database()::sql_identifier AS constraint_catalog,
       nc.nspname::sql_identifier AS constraint_schema,
       o.conname::sql_identifier AS constraint_name,
       current_database()::sql_identifier AS table_catalog,
       n.nspname::sql_identifier AS table_schema,
       c.relname::sql_identifier AS table_name,
       a.attname::sql_identifier AS column_name,
       k.place::cardinal_number AS ordinal_position,
       array_position(p.conkey, o.confkey[k.place])::cardinal_number AS position_in_unique_constraint
  FROM pg_constraint o JOIN pg_namespace nc ON nc.oid = o.connamespace JOIN pg_class c ON c.oid = o.conrelid
  JOIN pg_namespace n ON n.oid = c.relnamespace
  CROSS JOIN LATERAL unnest(o.conkey) WITH ORDINALITY k(attnum, place)
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum
  LEFT JOIN pg_constraint p
    ON o.contype = 'f' AND p.conrelid = o.confrelid AND p.conindid = o.conindid AND p.contype IN ('p', 'u')
 WHERE o.contype IN ('p', 'u', 'f') AND c.relkind IN ('r', 'p') AND NOT a.attisdropped AND NOT pg_is_other_temp_schema(n.oid)
   AND (pg_has_role(c.relowner, 'USAGE') OR has_column_privilege(c.oid, a.attnum, 'SELECT, INSERT, UPDATE, REFERENCES'));

CREATE VIEW referential_constraints AS
SELECT current_database()::sql_identifier AS constraint_catalog,
       nc.nspname::sql_identifier AS constraint_schema,
       o.conname::sql_identifier AS constraint_name,
       (CASE WHEN p.oid IS NOT NULL THEN current_database() END)::sql_identifier AS unique_constraint_catalog,
       np.nspname::sql_identifier AS unique_constraint_schema,
       p.conname::sql_identifier AS unique_constraint_name,
       (CASE o.confmatchtype WHEN 'f' THEN 'FULL' WHEN 'p' THEN 'PARTIAL' ELSE 'NONE' END)::character_data AS match_option,
       (CASE o.confupdtype WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' WHEN 'd' THEN 'SET DEFAULT' WHEN 'r' THEN 'RESTRICT' ELSE 'NO ACTION' END)::character_data AS update_rule,
       (CASE o.confdeltype WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' WHEN 'd' THEN 'SET DEFAULT' WHEN 'r' THEN 'RESTRICT' ELSE 'NO ACTION' END)::character_data AS delete_rule
  FROM pg_constraint o JOIN pg_namespace nc ON nc.oid = o.connamespace JOIN pg_class c ON c.oid = o.conrelid
  LEFT JOIN (pg_constraint p JOIN pg_namespace np ON np.oid = p.connamespace)
    ON p.conrelid = o.confrelid AND p.conindid = o.conindid AND p.contype IN ('p', 'u')
 WHERE o.contype = 'f'
   AND (pg_has_role(c.relowner, 'USAGE') OR has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
        OR has_any_column_privilege(c.oid, 'INSERT, UPDATE, REFERENCES'));

CREATE VIEW check_constraints AS
SELECT current_database()::sql_identifier AS constraint_catalog,
       n.nspname::sql_identifier AS constraint_schema,
       o.conname::sql_identifier AS constraint_name,
       (CASE WHEN o.contype = 'n' THEN coalesce(a.attname, 'VALUE') || ' IS NOT NULL'
            ELSE substring(pg_get_constraintdef(o.oid) FROM '^CHECK \((.*)\)') END)::character_data AS check_clause
  FROM pg_constraint o JOIN pg_namespace n ON n.oid = o.connamespace
  LEFT JOIN pg_class c ON c.oid = o.conrelid LEFT JOIN pg_type t ON t.oid = o.contypid
  LEFT JOIN pg_attribute a ON a.attrelid = o.conrelid AND a.attnum = o.conkey[1] AND o.contype = 'n'
 WHERE o.contype IN ('c', 'n') AND pg_has_role(coalesce(c.relowner, t.typowner), 'USAGE');

CREATE VIEW domains AS
SELECT current_database()::sql_identifier AS domain_catalog,
       nt.nspname::sql_identifier AS domain_schema,
       t.typname::sql_identifier AS domain_name,
       (CASE WHEN b.typelem <> 0 AND b.typlen = -1 THEN 'ARRAY' WHEN nb.nspname = 'pg_catalog' THEN format_type(b.oid, NULL)
            ELSE 'USER-DEFINED' END)::character_data AS data_type,
       (CASE WHEN t.typtypmod = -1 THEN NULL WHEN b.oid IN (1042, 1043) THEN t.typtypmod - 4 WHEN b.oid IN (1560, 1562) THEN t.typtypmod END)::cardinal_number AS character_maximum_length,
       (CASE WHEN b.oid NOT IN (25, 1042, 1043) THEN NULL WHEN t.typtypmod = -1 THEN 1073741824 ELSE (t.typtypmod - 4) * 4 END)::cardinal_number AS character_octet_length,
       NULL::sql_identifier AS character_set_catalog,
       NULL::sql_identifier AS character_set_schema,
       NULL::sql_identifier AS character_set_name,
       (CASE WHEN nco.nspname IS NOT NULL THEN current_database() END)::sql_identifier AS collation_catalog,
       nco.nspname::sql_identifier AS collation_schema,
       co.collname::sql_identifier AS collation_name,
       (CASE b.oid WHEN 21 THEN 16 WHEN 23 THEN 32 WHEN 20 THEN 64 WHEN 700 THEN 24 WHEN 701 THEN 53
            WHEN 1700 THEN CASE WHEN t.typtypmod <> -1 THEN (t.typtypmod - 4) >> 16 & 65535 END END)::cardinal_number AS numeric_precision,
       (CASE WHEN b.oid IN (20, 21, 23, 700, 701) THEN 2 WHEN b.oid = 1700 THEN 10 END)::cardinal_number AS numeric_precision_radix,
       (CASE WHEN b.oid IN (20, 21, 23) THEN 0 WHEN b.oid = 1700 AND t.typtypmod <> -1 THEN (t.typtypmod - 4) & 65535 END)::cardinal_number AS numeric_scale,
       (CASE WHEN b.oid = 1082 THEN 0 WHEN b.oid IN (1083, 1114, 1184, 1266) THEN CASE WHEN t.typtypmod < 0 THEN 6 ELSE t.typtypmod END
            WHEN b.oid = 1186 THEN CASE WHEN t.typtypmod < 0 OR t.typtypmod & 65535 = 65535 THEN 6 ELSE t.typtypmod & 65535 END END)::cardinal_number AS datetime_precision,
       (CASE WHEN b.oid = 1186 THEN upper(substring(format_type(b.oid, t.typtypmod) FROM 'interval[()0-9]* (.*)')) END)::character_data AS interval_type,
       NULL::cardinal_number AS interval_precision,
       t.typdefault::character_data AS domain_default,
       current_database()::sql_identifier AS udt_catalog,
       nb.nspname::sql_identifier AS udt_schema,
       b.typname::sql_identifier AS udt_name,
       NULL::sql_identifier AS scope_catalog,
       NULL::sql_identifier AS scope_schema,
       NULL::sql_identifier AS scope_name,
       NULL::cardinal_number AS maximum_cardinality,
       1::sql_identifier AS dtd_identifier
  FROM pg_type t JOIN pg_namespace nt ON nt.oid = t.typnamespace
  JOIN pg_type b ON b.oid = t.typbasetype JOIN pg_namespace nb ON nb.oid = b.typnamespace
  LEFT JOIN (pg_collation co JOIN pg_namespace nco ON nco.oid = co.collnamespace)
    ON co.oid = t.typcollation AND (nco.nspname <> 'pg_catalog' OR co.collname <> 'default')
 WHERE t.typtype = 'd' AND (pg_has_role(t.typowner, 'USAGE') OR has_type_privilege(t.oid, 'USAGE'));

CREATE VIEW domain_constraints AS
SELECT current_database()::sql_identifier AS constraint_catalog,
       n.nspname::sql_identifier AS constraint_schema,
       o.conname::sql_identifier AS constraint_name,
       current_database()::sql_identifier AS domain_catalog,
       nt.nspname::sql_identifier AS domain_schema,
       t.typname::sql_identifier AS domain_name,
       (CASE WHEN o.condeferrable THEN 'YES' ELSE 'NO' END)::yes_or_no AS is_deferrable,
       (CASE WHEN o.condeferred THEN 'YES' ELSE 'NO' END)::yes_or_no AS initially_deferred
  FROM pg_constraint o JOIN pg_namespace n ON n.oid = o.connamespace JOIN pg_type t ON t.oid = o.contypid
  JOIN pg_namespace nt ON nt.oid = t.typnamespace
 WHERE pg_has_role(t.typowner, 'USAGE') OR has_type_privilege(t.oid, 'USAGE');

CREATE VIEW sequences AS
SELECT current_database()::sql_identifier AS sequence_catalog,
       n.nspname::sql_identifier AS sequence_schema,
       c.relname::sql_identifier AS sequence_name,
       format_type(s.seqtypid, NULL)::character_data AS data_type,
       (CASE s.seqtypid WHEN 21 THEN 16 WHEN 23 THEN 32 WHEN 20 THEN 64 END)::cardinal_number AS numeric_precision,
       2::cardinal_number AS numeric_precision_radix,
       0::cardinal_number AS numeric_scale,
       s.seqstart::character_data AS start_value,
       s.seqmin::character_data AS minimum_value,
       s.seqmax::character_data AS maximum_value,
       s.seqincrement::character_data AS increment,
       (CASE WHEN s.seqcycle THEN 'YES' ELSE 'NO' END)::yes_or_no AS cycle_option
  FROM pg_sequence s JOIN pg_class c ON c.oid = s.seqrelid JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE NOT pg_is_other_temp_schema(n.oid)
   AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'i')
   AND (pg_has_role(c.relowner, 'USAGE') OR has_sequence_privilege(c.oid, 'SELECT, UPDATE, USAGE'));

CREATE VIEW routines AS
SELECT current_database()::sql_identifier AS specific_catalog,
       n.nspname::sql_identifier AS specific_schema,
       (p.proname || '_' || p.oid)::sql_identifier AS specific_name,
       current_database()::sql_identifier AS routine_catalog,
       n.nspname::sql_identifier AS routine_schema,
       p.proname::sql_identifier AS routine_name,
       (CASE p.prokind WHEN 'f' THEN 'FUNCTION' WHEN 'p' THEN 'PROCEDURE' END)::character_data AS routine_type,
       NULL::sql_identifier AS module_catalog,
       NULL::sql_identifier AS module_schema,
       NULL::sql_identifier AS module_name,
       NULL::sql_identifier AS udt_catalog,
       NULL::sql_identifier AS udt_schema,
       NULL::sql_identifier AS udt_name,
       (CASE WHEN p.prokind = 'p' THEN NULL WHEN t.typelem <> 0 AND t.typlen = -1 THEN 'ARRAY' WHEN nt.nspname = 'pg_catalog' THEN format_type(t.oid, NULL)
            ELSE 'USER-DEFINED' END)::character_data AS data_type,
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
       (CASE WHEN nt.nspname IS NOT NULL THEN current_database() END)::sql_identifier AS type_udt_catalog,
       nt.nspname::sql_identifier AS type_udt_schema,
       t.typname::sql_identifier AS type_udt_name,
       NULL::sql_identifier AS scope_catalog,
       NULL::sql_identifier AS scope_schema,
       NULL::sql_identifier AS scope_name,
       NULL::cardinal_number AS maximum_cardinality,
       (CASE WHEN p.prokind <> 'p' THEN 0 END)::sql_identifier AS dtd_identifier,
       (CASE WHEN l.lanname = 'sql' THEN 'SQL' ELSE 'EXTERNAL' END)::character_data AS routine_body,
       (CASE WHEN pg_has_role(p.proowner, 'USAGE') THEN p.prosrc END)::character_data AS routine_definition,
       (CASE WHEN l.lanname = 'c' THEN p.prosrc END)::character_data AS external_name,
       upper(l.lanname)::character_data AS external_language,
       'GENERAL'::character_data AS parameter_style,
       (CASE WHEN p.provolatile = 'i' THEN 'YES' ELSE 'NO' END)::yes_or_no AS is_deterministic,
       'MODIFIES'::character_data AS sql_data_access,
       (CASE WHEN p.prokind <> 'p' THEN CASE WHEN p.proisstrict THEN 'YES' ELSE 'NO' END END)::yes_or_no AS is_null_call,
       NULL::character_data AS sql_path,
       'YES'::yes_or_no AS schema_level_routine,
       0::cardinal_number AS max_dynamic_result_sets,
       NULL::yes_or_no AS is_user_defined_cast,
       NULL::yes_or_no AS is_implicitly_invocable,
       (CASE WHEN p.prosecdef THEN 'DEFINER' ELSE 'INVOKER' END)::character_data AS security_type,
       NULL::sql_identifier AS to_sql_specific_catalog,
       NULL::sql_identifier AS to_sql_specific_schema,
       NULL::sql_identifier AS to_sql_specific_name,
       'NO'::yes_or_no AS as_locator,
       NULL::time_stamp AS created,
       NULL::time_stamp AS last_altered,
       NULL::yes_or_no AS new_savepoint_level,
       'NO'::yes_or_no AS is_udt_dependent,
       NULL::character_data AS result_cast_from_data_type,
       NULL::yes_or_no AS result_cast_as_locator,
       NULL::cardinal_number AS result_cast_char_max_length,
       NULL::cardinal_number AS result_cast_char_octet_length,
       NULL::sql_identifier AS result_cast_char_set_catalog,
       NULL::sql_identifier AS result_cast_char_set_schema,
       NULL::sql_identifier AS result_cast_char_set_name,
       NULL::sql_identifier AS result_cast_collation_catalog,
       NULL::sql_identifier AS result_cast_collation_schema,
       NULL::sql_identifier AS result_cast_collation_name,
       NULL::cardinal_number AS result_cast_numeric_precision,
       NULL::cardinal_number AS result_cast_numeric_precision_radix,
       NULL::cardinal_number AS result_cast_numeric_scale,
       NULL::cardinal_number AS result_cast_datetime_precision,
       NULL::character_data AS result_cast_interval_type,
       NULL::cardinal_number AS result_cast_interval_precision,
       NULL::sql_identifier AS result_cast_type_udt_catalog,
       NULL::sql_identifier AS result_cast_type_udt_schema,
       NULL::sql_identifier AS result_cast_type_udt_name,
       NULL::sql_identifier AS result_cast_scope_catalog,
       NULL::sql_identifier AS result_cast_scope_schema,
       NULL::sql_identifier AS result_cast_scope_name,
       NULL::cardinal_number AS result_cast_maximum_cardinality,
       NULL::sql_identifier AS result_cast_dtd_identifier
  FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace JOIN pg_language l ON l.oid = p.prolang
  LEFT JOIN (pg_type t JOIN pg_namespace nt ON nt.oid = t.typnamespace) ON t.oid = p.prorettype AND p.prokind <> 'p'
 WHERE pg_has_role(p.proowner, 'USAGE') OR has_function_privilege(p.oid, 'EXECUTE');

CREATE VIEW parameters AS
SELECT current_database()::sql_identifier AS specific_catalog,
       n.nspname::sql_identifier AS specific_schema,
       (p.proname || '_' || p.oid)::sql_identifier AS specific_name,
       x.place::cardinal_number AS ordinal_position,
       (CASE p.proargmodes[x.place] WHEN 'o' THEN 'OUT' WHEN 'b' THEN 'INOUT' WHEN 't' THEN 'OUT' ELSE 'IN' END)::character_data AS parameter_mode,
       'NO'::yes_or_no AS is_result,
       'NO'::yes_or_no AS as_locator,
       (nullif(p.proargnames[x.place], ''))::sql_identifier AS parameter_name,
       (CASE WHEN t.typelem <> 0 AND t.typlen = -1 THEN 'ARRAY' WHEN nt.nspname = 'pg_catalog' THEN format_type(t.oid, NULL)
            ELSE 'USER-DEFINED' END)::character_data AS data_type,
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
       current_database()::sql_identifier AS udt_catalog,
       nt.nspname::sql_identifier AS udt_schema,
       t.typname::sql_identifier AS udt_name,
       NULL::sql_identifier AS scope_catalog,
       NULL::sql_identifier AS scope_schema,
       NULL::sql_identifier AS scope_name,
       NULL::cardinal_number AS maximum_cardinality,
       x.place::sql_identifier AS dtd_identifier,
       (CASE WHEN pg_has_role(p.proowner, 'USAGE') THEN pg_get_function_arg_default(p.oid, x.place::int) END)::character_data AS parameter_default
  FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
  CROSS JOIN LATERAL unnest(coalesce(p.proallargtypes, p.proargtypes::oid[])) WITH ORDINALITY x(type, place)
  JOIN pg_type t ON t.oid = x.type JOIN pg_namespace nt ON nt.oid = t.typnamespace
 WHERE pg_has_role(p.proowner, 'USAGE') OR has_function_privilege(p.oid, 'EXECUTE');

CREATE VIEW table_privileges AS
SELECT g.rolname::sql_identifier AS grantor,
       r.rolname::sql_identifier AS grantee,
       current_database()::sql_identifier AS table_catalog,
       n.nspname::sql_identifier AS table_schema,
       c.relname::sql_identifier AS table_name,
       x.privilege_type::character_data AS privilege_type,
       (CASE WHEN x.grantee = c.relowner OR x.is_grantable THEN 'YES' ELSE 'NO' END)::yes_or_no AS is_grantable,
       (CASE WHEN x.privilege_type = 'SELECT' THEN 'YES' ELSE 'NO' END)::yes_or_no AS with_hierarchy
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  CROSS JOIN LATERAL aclexplode(coalesce(c.relacl, acldefault('r', c.relowner))) x
  JOIN pg_authid g ON g.oid = x.grantor JOIN (SELECT oid, rolname FROM pg_authid UNION ALL SELECT 0, 'PUBLIC') r ON r.oid = x.grantee
 WHERE c.relkind IN ('r', 'v', 'f', 'p')
   AND x.privilege_type IN ('INSERT', 'SELECT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER')
   AND (pg_has_role(g.oid, 'USAGE') OR pg_has_role(r.oid, 'USAGE') OR r.rolname = 'PUBLIC');

CREATE VIEW role_table_grants AS
SELECT grantor,
       grantee,
       table_catalog,
       table_schema,
       table_name,
       privilege_type,
       is_grantable,
       with_hierarchy
  FROM information_schema.table_privileges
 WHERE grantor IN (SELECT role_name FROM information_schema.enabled_roles)
    OR grantee IN (SELECT role_name FROM information_schema.enabled_roles);
