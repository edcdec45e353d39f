-- The system views of pg_catalog, with PostgreSQL 18's columns. Run once, by a superuser, when a cluster is made.
-- A column is NULL where nothing counts what it shows.

CREATE VIEW pg_catalog.pg_roles AS
SELECT a.rolname,
       a.rolsuper,
       a.rolinherit,
       a.rolcreaterole,
       a.rolcreatedb,
       a.rolcanlogin,
       a.rolreplication,
       a.rolconnlimit,
       '********'::text AS rolpassword,
       a.rolvaliduntil,
       a.rolbypassrls,
       s.setconfig AS rolconfig,
       a.oid
  FROM pg_catalog.pg_authid a
  LEFT JOIN pg_catalog.pg_db_role_setting s ON s.setrole = a.oid AND s.setdatabase = 0;

CREATE VIEW pg_catalog.pg_shadow AS
SELECT a.rolname AS usename,
       a.oid AS usesysid,
       a.rolcreatedb AS usecreatedb,
       a.rolsuper AS usesuper,
       a.rolreplication AS userepl,
       a.rolbypassrls AS usebypassrls,
       a.rolpassword AS passwd,
       a.rolvaliduntil AS valuntil,
       s.setconfig AS useconfig
  FROM pg_catalog.pg_authid a
  LEFT JOIN pg_catalog.pg_db_role_setting s ON s.setrole = a.oid AND s.setdatabase = 0
 WHERE a.rolcanlogin;

CREATE VIEW pg_catalog.pg_user AS
SELECT usename,
       usesysid,
       usecreatedb,
       usesuper,
       userepl,
       usebypassrls,
       '********'::text AS passwd,
       valuntil,
       useconfig
  FROM pg_catalog.pg_shadow;

CREATE VIEW pg_catalog.pg_group AS
SELECT a.rolname AS groname,
       a.oid AS grosysid,
       ARRAY(SELECT m.member FROM pg_catalog.pg_auth_members m WHERE m.roleid = a.oid) AS grolist
  FROM pg_catalog.pg_authid a
 WHERE NOT a.rolcanlogin;

CREATE VIEW pg_catalog.pg_tables AS
SELECT n.nspname AS schemaname,
       c.relname AS tablename,
       pg_catalog.pg_get_userbyid(c.relowner) AS tableowner,
       t.spcname AS tablespace,
       c.relhasindex AS hasindexes,
       c.relhasrules AS hasrules,
       c.relhastriggers AS hastriggers,
       c.relrowsecurity AS rowsecurity
  FROM pg_catalog.pg_class c
  LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  LEFT JOIN pg_catalog.pg_tablespace t ON t.oid = c.reltablespace
 WHERE c.relkind IN ('r', 'p');

CREATE VIEW pg_catalog.pg_views AS
SELECT n.nspname AS schemaname,
       c.relname AS viewname,
       pg_catalog.pg_get_userbyid(c.relowner) AS viewowner,
       pg_catalog.pg_get_viewdef(c.oid) AS definition
  FROM pg_catalog.pg_class c
  LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind = 'v';

CREATE VIEW pg_catalog.pg_matviews AS
SELECT n.nspname AS schemaname,
       c.relname AS matviewname,
       pg_catalog.pg_get_userbyid(c.relowner) AS matviewowner,
       t.spcname AS tablespace,
       c.relhasindex AS hasindexes,
       c.relispopulated AS ispopulated,
       pg_catalog.pg_get_viewdef(c.oid) AS definition
  FROM pg_catalog.pg_class c
  LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  LEFT JOIN pg_catalog.pg_tablespace t ON t.oid = c.reltablespace
 WHERE c.relkind = 'm';

CREATE VIEW pg_catalog.pg_indexes AS
SELECT n.nspname AS schemaname,
       c.relname AS tablename,
       i.relname AS indexname,
       t.spcname AS tablespace,
       pg_catalog.pg_get_indexdef(i.oid) AS indexdef
  FROM pg_catalog.pg_index x
  JOIN pg_catalog.pg_class c ON c.oid = x.indrelid
  JOIN pg_catalog.pg_class i ON i.oid = x.indexrelid
  LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  LEFT JOIN pg_catalog.pg_tablespace t ON t.oid = i.reltablespace
 WHERE c.relkind IN ('r', 'm', 'p') AND i.relkind IN ('i', 'I');

CREATE VIEW pg_catalog.pg_rules AS
SELECT n.nspname AS schemaname,
       c.relname AS tablename,
       r.rulename,
       pg_catalog.pg_get_ruledef(r.oid) AS definition
  FROM pg_catalog.pg_rewrite r
  JOIN pg_catalog.pg_class c ON c.oid = r.ev_class
  LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE r.rulename <> '_RETURN';

CREATE VIEW pg_catalog.pg_policies AS
SELECT n.nspname AS schemaname,
       c.relname AS tablename,
       p.polname AS policyname,
       CASE WHEN p.polpermissive THEN 'PERMISSIVE' ELSE 'RESTRICTIVE' END AS permissive,
       CASE WHEN p.polroles = '{0}'::oid[] THEN '{public}'::name[]
            ELSE ARRAY(SELECT a.rolname FROM pg_catalog.pg_authid a WHERE a.oid = ANY (p.polroles) ORDER BY a.rolname)
       END AS roles,
       CASE p.polcmd WHEN 'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE' WHEN 'd' THEN 'DELETE'
                     WHEN '*' THEN 'ALL' END AS cmd,
       pg_catalog.pg_get_expr(p.polqual, p.polrelid) AS qual,
       pg_catalog.pg_get_expr(p.polwithcheck, p.polrelid) AS with_check
  FROM pg_catalog.pg_policy p
  JOIN pg_catalog.pg_class c ON c.oid = p.polrelid
  LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace;

CREATE VIEW pg_catalog.pg_sequences AS
SELECT n.nspname AS schemaname,
       c.relname AS sequencename,
       pg_catalog.pg_get_userbyid(c.relowner) AS sequenceowner,
       s.seqtypid::pg_catalog.regtype AS data_type,
       s.seqstart AS start_value,
       s.seqmin AS min_value,
       s.seqmax AS max_value,
       s.seqincrement AS increment_by,
       s.seqcycle AS cycle,
       s.seqcache AS cache_size,
       pg_catalog.pg_sequence_last_value(c.oid) AS last_value
  FROM pg_catalog.pg_sequence s
  JOIN pg_catalog.pg_class c ON c.oid = s.seqrelid
  LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind = 'S' AND NOT pg_catalog.pg_is_other_temp_schema(n.oid);

CREATE VIEW pg_catalog.pg_settings AS
SELECT name, setting, unit, category, short_desc, extra_desc, context, vartype, source, min_val, max_val, enumvals,
       boot_val, reset_val, sourcefile, sourceline, pending_restart
  FROM pg_catalog.pg_show_all_settings();

CREATE VIEW pg_catalog.pg_locks AS
SELECT locktype, database, relation, page, tuple, virtualxid, transactionid, classid, objid, objsubid,
       virtualtransaction, pid, mode, granted, fastpath, waitstart
  FROM pg_catalog.pg_lock_status();

CREATE VIEW pg_catalog.pg_cursors AS
SELECT name, statement, is_holdable, is_binary, is_scrollable, creation_time
  FROM pg_catalog.pg_cursor();

CREATE VIEW pg_catalog.pg_prepared_statements AS
SELECT name, statement, prepare_time, parameter_types, result_types, from_sql, generic_plans, custom_plans
  FROM pg_catalog.pg_prepared_statement();

CREATE VIEW pg_catalog.pg_prepared_xacts AS
SELECT p.transaction,
       p.gid,
       p.prepared,
       a.rolname AS owner,
       d.datname AS database
  FROM pg_catalog.pg_prepared_xact() p
  LEFT JOIN pg_catalog.pg_authid a ON a.oid = p.ownerid
  LEFT JOIN pg_catalog.pg_database d ON d.oid = p.dbid;

CREATE VIEW pg_catalog.pg_available_extensions AS
SELECT e.name, e.default_version, x.extversion AS installed_version, e.comment
  FROM pg_catalog.pg_available_extensions() e
  LEFT JOIN pg_catalog.pg_extension x ON x.extname = e.name;

CREATE VIEW pg_catalog.pg_available_extension_versions AS
SELECT e.name, e.version, x.extname IS NOT NULL AS installed, e.superuser, e.trusted, e.relocatable, e.schema, e.requires,
       e.comment
  FROM pg_catalog.pg_available_extension_versions() e
  LEFT JOIN pg_catalog.pg_extension x ON x.extname = e.name AND x.extversion = e.version;

CREATE VIEW pg_catalog.pg_timezone_names AS
SELECT name, abbrev, utc_offset, is_dst FROM pg_catalog.pg_timezone_names();

CREATE VIEW pg_catalog.pg_replication_slots AS
SELECT s.slot_name, s.plugin, s.slot_type, s.datoid, d.datname AS database, s.temporary, s.active, s.active_pid, s.xmin,
       s.catalog_xmin, s.restart_lsn, s.confirmed_flush_lsn, s.wal_status, s.safe_wal_size, s.two_phase, s.two_phase_at,
       s.inactive_since, s.conflicting, s.invalidation_reason, s.failover, s.synced
  FROM pg_catalog.pg_get_replication_slots() s
  LEFT JOIN pg_catalog.pg_database d ON d.oid = s.datoid;

-- A column's statistics stand in five numbered places, each with the kind of what it holds.
CREATE VIEW pg_catalog.pg_stats AS
SELECT n.nspname AS schemaname,
       c.relname AS tablename,
       a.attname,
       s.stainherit AS inherited,
       s.stanullfrac AS null_frac,
       s.stawidth AS avg_width,
       s.stadistinct AS n_distinct,
       CASE 1 WHEN s.stakind1 THEN s.stavalues1 WHEN s.stakind2 THEN s.stavalues2 WHEN s.stakind3 THEN s.stavalues3
              WHEN s.stakind4 THEN s.stavalues4 WHEN s.stakind5 THEN s.stavalues5 END AS most_common_vals,
       CASE 1 WHEN s.stakind1 THEN s.stanumbers1 WHEN s.stakind2 THEN s.stanumbers2 WHEN s.stakind3 THEN s.stanumbers3
              WHEN s.stakind4 THEN s.stanumbers4 WHEN s.stakind5 THEN s.stanumbers5 END AS most_common_freqs,
       CASE 2 WHEN s.stakind1 THEN s.stavalues1 WHEN s.stakind2 THEN s.stavalues2 WHEN s.stakind3 THEN s.stavalues3
              WHEN s.stakind4 THEN s.stavalues4 WHEN s.stakind5 THEN s.stavalues5 END AS histogram_bounds,
       CASE 3 WHEN s.stakind1 THEN s.stanumbers1[1] WHEN s.stakind2 THEN s.stanumbers2[1]
              WHEN s.stakind3 THEN s.stanumbers3[1] WHEN s.stakind4 THEN s.stanumbers4[1]
              WHEN s.stakind5 THEN s.stanumbers5[1] END AS correlation,
       CASE 4 WHEN s.stakind1 THEN s.stavalues1 WHEN s.stakind2 THEN s.stavalues2 WHEN s.stakind3 THEN s.stavalues3
              WHEN s.stakind4 THEN s.stavalues4 WHEN s.stakind5 THEN s.stavalues5 END AS most_common_elems,
       CASE 4 WHEN s.stakind1 THEN s.stanumbers1 WHEN s.stakind2 THEN s.stanumbers2 WHEN s.stakind3 THEN s.stanumbers3
              WHEN s.stakind4 THEN s.stanumbers4 WHEN s.stakind5 THEN s.stanumbers5 END AS most_common_elem_freqs,
       CASE 5 WHEN s.stakind1 THEN s.stanumbers1 WHEN s.stakind2 THEN s.stanumbers2 WHEN s.stakind3 THEN s.stanumbers3
              WHEN s.stakind4 THEN s.stanumbers4 WHEN s.stakind5 THEN s.stanumbers5 END AS elem_count_histogram,
       CASE 6 WHEN s.stakind1 THEN s.stavalues1 WHEN s.stakind2 THEN s.stavalues2 WHEN s.stakind3 THEN s.stavalues3
              WHEN s.stakind4 THEN s.stavalues4 WHEN s.stakind5 THEN s.stavalues5 END AS range_length_histogram,
       CASE 6 WHEN s.stakind1 THEN s.stanumbers1[1] WHEN s.stakind2 THEN s.stanumbers2[1]
              WHEN s.stakind3 THEN s.stanumbers3[1] WHEN s.stakind4 THEN s.stanumbers4[1]
              WHEN s.stakind5 THEN s.stanumbers5[1] END AS range_empty_frac,
       CASE 7 WHEN s.stakind1 THEN s.stavalues1 WHEN s.stakind2 THEN s.stavalues2 WHEN s.stakind3 THEN s.stavalues3
              WHEN s.stakind4 THEN s.stavalues4 WHEN s.stakind5 THEN s.stavalues5 END AS range_bounds_histogram
  FROM pg_catalog.pg_statistic s
  JOIN pg_catalog.pg_class c ON c.oid = s.starelid
  JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = s.staattnum
  LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE NOT a.attisdropped
   AND pg_catalog.has_column_privilege(c.oid, a.attnum, 'select')
   AND (NOT c.relrowsecurity OR NOT pg_catalog.row_security_active(c.oid));

-- Extended statistics. No list of their most common values is made, so there is none to take apart.
CREATE VIEW pg_catalog.pg_stats_ext AS
SELECT n.nspname AS schemaname,
       c.relname AS tablename,
       sn.nspname AS statistics_schemaname,
       s.stxname AS statistics_name,
       pg_catalog.pg_get_userbyid(s.stxowner) AS statistics_owner,
       (SELECT pg_catalog.array_agg(a.attname ORDER BY a.attnum)
          FROM pg_catalog.pg_attribute a
         WHERE a.attrelid = s.stxrelid AND a.attnum = ANY (s.stxkeys)) AS attnames,
       pg_catalog.pg_get_statisticsobjdef_expressions(s.oid) AS exprs,
       s.stxkind AS kinds,
       d.stxdinherit AS inherited,
       d.stxdndistinct AS n_distinct,
       d.stxddependencies AS dependencies,
       m.vals AS most_common_vals,
       m.val_nulls AS most_common_val_nulls,
       m.freqs AS most_common_freqs,
       m.base_freqs AS most_common_base_freqs
  FROM pg_catalog.pg_statistic_ext s
  JOIN pg_catalog.pg_class c ON c.oid = s.stxrelid
  JOIN pg_catalog.pg_statistic_ext_data d ON d.stxoid = s.oid
  LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  LEFT JOIN pg_catalog.pg_namespace sn ON sn.oid = s.stxnamespace
  LEFT JOIN LATERAL (SELECT pg_catalog.array_agg(i.values) AS vals,
                            pg_catalog.array_agg(i.nulls) AS val_nulls,
                            pg_catalog.array_agg(i.frequency) AS freqs,
                            pg_catalog.array_agg(i.base_frequency) AS base_freqs
                       FROM pg_catalog.pg_mcv_list_items(d.stxdmcv) i) m ON d.stxdmcv IS NOT NULL
 WHERE pg_catalog.pg_has_role(c.relowner, 'USAGE')
    OR NOT EXISTS (SELECT
                     FROM pg_catalog.pg_attribute a
                    WHERE a.attrelid = c.oid
                      AND a.attnum = ANY (s.stxkeys)
                      AND NOT pg_catalog.has_column_privilege(c.oid, a.attnum, 'select'))
   AND (NOT c.relrowsecurity OR NOT pg_catalog.row_security_active(c.oid));

-- Statistics of expressions, by the arrays of rows that ANALYZE makes of them.
CREATE VIEW pg_catalog.pg_stats_ext_exprs AS
SELECT cn.nspname AS schemaname,
       c.relname AS tablename,
       sn.nspname AS statistics_schemaname,
       s.stxname AS statistics_name,
       pg_catalog.pg_get_userbyid(s.stxowner) AS statistics_owner,
       e.expr,
       d.stxdinherit AS inherited,
       (e.a).stanullfrac AS null_frac,
       (e.a).stawidth AS avg_width,
       (e.a).stadistinct AS n_distinct,
       CASE 1 WHEN (e.a).stakind1 THEN (e.a).stavalues1 WHEN (e.a).stakind2 THEN (e.a).stavalues2
              WHEN (e.a).stakind3 THEN (e.a).stavalues3 WHEN (e.a).stakind4 THEN (e.a).stavalues4
              WHEN (e.a).stakind5 THEN (e.a).stavalues5 END AS most_common_vals,
       CASE 1 WHEN (e.a).stakind1 THEN (e.a).stanumbers1 WHEN (e.a).stakind2 THEN (e.a).stanumbers2
              WHEN (e.a).stakind3 THEN (e.a).stanumbers3 WHEN (e.a).stakind4 THEN (e.a).stanumbers4
              WHEN (e.a).stakind5 THEN (e.a).stanumbers5 END AS most_common_freqs,
       CASE 2 WHEN (e.a).stakind1 THEN (e.a).stavalues1 WHEN (e.a).stakind2 THEN (e.a).stavalues2
              WHEN (e.a).stakind3 THEN (e.a).stavalues3 WHEN (e.a).stakind4 THEN (e.a).stavalues4
              WHEN (e.a).stakind5 THEN (e.a).stavalues5 END AS histogram_bounds,
       CASE 3 WHEN (e.a).stakind1 THEN (e.a).stanumbers1[1] WHEN (e.a).stakind2 THEN (e.a).stanumbers2[1]
              WHEN (e.a).stakind3 THEN (e.a).stanumbers3[1] WHEN (e.a).stakind4 THEN (e.a).stanumbers4[1]
              WHEN (e.a).stakind5 THEN (e.a).stanumbers5[1] END AS correlation,
       CASE 4 WHEN (e.a).stakind1 THEN (e.a).stavalues1 WHEN (e.a).stakind2 THEN (e.a).stavalues2
              WHEN (e.a).stakind3 THEN (e.a).stavalues3 WHEN (e.a).stakind4 THEN (e.a).stavalues4
              WHEN (e.a).stakind5 THEN (e.a).stavalues5 END AS most_common_elems,
       CASE 4 WHEN (e.a).stakind1 THEN (e.a).stanumbers1 WHEN (e.a).stakind2 THEN (e.a).stanumbers2
              WHEN (e.a).stakind3 THEN (e.a).stanumbers3 WHEN (e.a).stakind4 THEN (e.a).stanumbers4
              WHEN (e.a).stakind5 THEN (e.a).stanumbers5 END AS most_common_elem_freqs,
       CASE 5 WHEN (e.a).stakind1 THEN (e.a).stanumbers1 WHEN (e.a).stakind2 THEN (e.a).stanumbers2
              WHEN (e.a).stakind3 THEN (e.a).stanumbers3 WHEN (e.a).stakind4 THEN (e.a).stanumbers4
              WHEN (e.a).stakind5 THEN (e.a).stanumbers5 END AS elem_count_histogram
  FROM pg_catalog.pg_statistic_ext s
  JOIN pg_catalog.pg_class c ON c.oid = s.stxrelid
  LEFT JOIN pg_catalog.pg_statistic_ext_data d ON d.stxoid = s.oid
  LEFT JOIN pg_catalog.pg_namespace cn ON cn.oid = c.relnamespace
  LEFT JOIN pg_catalog.pg_namespace sn ON sn.oid = s.stxnamespace
  JOIN LATERAL (SELECT unnest(pg_catalog.pg_get_statisticsobjdef_expressions(s.oid)) AS expr, unnest(d.stxdexpr) AS a) e
       ON e.expr IS NOT NULL
 WHERE pg_catalog.pg_has_role(c.relowner, 'USAGE')
   AND (NOT c.relrowsecurity OR NOT pg_catalog.row_security_active(c.oid));

CREATE VIEW pg_catalog.pg_user_mappings AS
SELECT m.oid AS umid,
       s.oid AS srvid,
       s.srvname,
       m.umuser,
       CASE WHEN m.umuser = 0 THEN 'public'::name ELSE a.rolname END AS usename,
       m.umoptions
  FROM pg_catalog.pg_user_mapping m
  JOIN pg_catalog.pg_foreign_server s ON s.oid = m.umserver
  LEFT JOIN pg_catalog.pg_authid a ON a.oid = m.umuser;

-- What everybody may read. The catalogs themselves have their ACLs from the beginning.
GRANT SELECT ON
    pg_catalog.pg_roles,
    pg_catalog.pg_user,
    pg_catalog.pg_group,
    pg_catalog.pg_tables,
    pg_catalog.pg_views,
    pg_catalog.pg_matviews,
    pg_catalog.pg_indexes,
    pg_catalog.pg_rules,
    pg_catalog.pg_policies,
    pg_catalog.pg_sequences,
    pg_catalog.pg_settings,
    pg_catalog.pg_locks,
    pg_catalog.pg_cursors,
    pg_catalog.pg_prepared_statements,
    pg_catalog.pg_prepared_xacts,
    pg_catalog.pg_available_extensions,
    pg_catalog.pg_available_extension_versions,
    pg_catalog.pg_timezone_names,
    pg_catalog.pg_replication_slots,
    pg_catalog.pg_stats,
    pg_catalog.pg_stats_ext,
    pg_catalog.pg_stats_ext_exprs,
    pg_catalog.pg_user_mappings
    TO PUBLIC;

REVOKE ALL ON pg_catalog.pg_shadow FROM PUBLIC;
GRANT SELECT (oid, subdbid, subskiplsn, subname, subowner, subenabled, subbinary, substream, subtwophasestate,
              subdisableonerr, subpasswordrequired, subrunasowner, subfailover, subslotname, subsynccommit,
              subpublications, suborigin)
    ON pg_catalog.pg_subscription TO PUBLIC;
