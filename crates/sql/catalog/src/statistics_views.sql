-- The views of what the server does and has done, with PostgreSQL 18's columns. Run once, by a superuser, when a cluster is made.

CREATE VIEW pg_catalog.pg_stat_activity AS
SELECT s.datid,
       d.datname,
       s.pid,
       s.leader_pid,
       s.usesysid,
       a.rolname AS usename,
       s.application_name,
       s.client_addr,
       s.client_hostname,
       s.client_port,
       s.backend_start,
       s.xact_start,
       s.query_start,
       s.state_change,
       s.wait_event_type,
       s.wait_event,
       s.state,
       s.backend_xid,
       s.backend_xmin,
       s.query_id,
       s.query,
       s.backend_type
  FROM pg_catalog.pg_stat_get_activity(NULL) s
  LEFT JOIN pg_catalog.pg_database d ON d.oid = s.datid
  LEFT JOIN pg_catalog.pg_authid a ON a.oid = s.usesysid;

CREATE VIEW pg_catalog.pg_stat_ssl AS
SELECT pid,
       ssl,
       sslversion AS version,
       sslcipher AS cipher,
       sslbits AS bits,
       ssl_client_dn AS client_dn,
       ssl_client_serial AS client_serial,
       ssl_issuer_dn AS issuer_dn
  FROM pg_catalog.pg_stat_get_activity(NULL)
 WHERE client_port IS NOT NULL;

CREATE VIEW pg_catalog.pg_stat_gssapi AS
SELECT pid,
       gss_auth AS gss_authenticated,
       gss_princ AS principal,
       gss_enc AS encrypted,
       gss_delegation AS credentials_delegated
  FROM pg_catalog.pg_stat_get_activity(NULL)
 WHERE client_port IS NOT NULL;

CREATE VIEW pg_catalog.pg_stat_replication AS
SELECT s.pid, b.usesysid, a.rolname AS usename, b.application_name, b.client_addr, b.client_hostname, b.client_port,
       b.backend_start, b.backend_xmin, s.state, s.sent_lsn, s.write_lsn, s.flush_lsn, s.replay_lsn, s.write_lag,
       s.flush_lag, s.replay_lag, s.sync_priority, s.sync_state, s.reply_time
  FROM pg_catalog.pg_stat_get_wal_senders() s
  JOIN pg_catalog.pg_stat_get_activity(NULL) b ON b.pid = s.pid
  LEFT JOIN pg_catalog.pg_authid a ON a.oid = b.usesysid;

CREATE VIEW pg_catalog.pg_stat_all_tables AS
SELECT c.oid AS relid,
       n.nspname AS schemaname,
       c.relname,
       pg_catalog.pg_stat_get_numscans(c.oid) AS seq_scan,
       pg_catalog.pg_stat_get_lastscan(c.oid) AS last_seq_scan,
       pg_catalog.pg_stat_get_tuples_returned(c.oid) AS seq_tup_read,
       i.scans AS idx_scan,
       i.last_scan AS last_idx_scan,
       i.fetched + pg_catalog.pg_stat_get_tuples_fetched(c.oid) AS idx_tup_fetch,
       pg_catalog.pg_stat_get_tuples_inserted(c.oid) AS n_tup_ins,
       pg_catalog.pg_stat_get_tuples_updated(c.oid) AS n_tup_upd,
       pg_catalog.pg_stat_get_tuples_deleted(c.oid) AS n_tup_del,
       pg_catalog.pg_stat_get_tuples_hot_updated(c.oid) AS n_tup_hot_upd,
       pg_catalog.pg_stat_get_tuples_newpage_updated(c.oid) AS n_tup_newpage_upd,
       pg_catalog.pg_stat_get_live_tuples(c.oid) AS n_live_tup,
       pg_catalog.pg_stat_get_dead_tuples(c.oid) AS n_dead_tup,
       pg_catalog.pg_stat_get_mod_since_analyze(c.oid) AS n_mod_since_analyze,
       pg_catalog.pg_stat_get_ins_since_vacuum(c.oid) AS n_ins_since_vacuum,
       pg_catalog.pg_stat_get_last_vacuum_time(c.oid) AS last_vacuum,
       pg_catalog.pg_stat_get_last_autovacuum_time(c.oid) AS last_autovacuum,
       pg_catalog.pg_stat_get_last_analyze_time(c.oid) AS last_analyze,
       pg_catalog.pg_stat_get_last_autoanalyze_time(c.oid) AS last_autoanalyze,
       pg_catalog.pg_stat_get_vacuum_count(c.oid) AS vacuum_count,
       pg_catalog.pg_stat_get_autovacuum_count(c.oid) AS autovacuum_count,
       pg_catalog.pg_stat_get_analyze_count(c.oid) AS analyze_count,
       pg_catalog.pg_stat_get_autoanalyze_count(c.oid) AS autoanalyze_count,
       pg_catalog.pg_stat_get_total_vacuum_time(c.oid) AS total_vacuum_time,
       pg_catalog.pg_stat_get_total_autovacuum_time(c.oid) AS total_autovacuum_time,
       pg_catalog.pg_stat_get_total_analyze_time(c.oid) AS total_analyze_time,
       pg_catalog.pg_stat_get_total_autoanalyze_time(c.oid) AS total_autoanalyze_time
  FROM pg_catalog.pg_class c
  LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  LEFT JOIN (SELECT x.indrelid,
                    sum(pg_catalog.pg_stat_get_numscans(x.indexrelid))::int8 AS scans,
                    max(pg_catalog.pg_stat_get_lastscan(x.indexrelid)) AS last_scan,
                    sum(pg_catalog.pg_stat_get_tuples_fetched(x.indexrelid))::int8 AS fetched
               FROM pg_catalog.pg_index x
              GROUP BY x.indrelid) i ON i.indrelid = c.oid
 WHERE c.relkind IN ('r', 't', 'm', 'p');

CREATE VIEW pg_catalog.pg_stat_sys_tables AS
SELECT *
  FROM pg_catalog.pg_stat_all_tables
 WHERE schemaname IN ('pg_catalog', 'information_schema') OR schemaname LIKE 'pg\_toast%';

CREATE VIEW pg_catalog.pg_stat_user_tables AS
SELECT *
  FROM pg_catalog.pg_stat_all_tables
 WHERE schemaname NOT IN ('pg_catalog', 'information_schema') AND schemaname NOT LIKE 'pg\_toast%';

CREATE VIEW pg_catalog.pg_stat_all_indexes AS
SELECT c.oid AS relid,
       i.oid AS indexrelid,
       n.nspname AS schemaname,
       c.relname,
       i.relname AS indexrelname,
       pg_catalog.pg_stat_get_numscans(i.oid) AS idx_scan,
       pg_catalog.pg_stat_get_lastscan(i.oid) AS last_idx_scan,
       pg_catalog.pg_stat_get_tuples_returned(i.oid) AS idx_tup_read,
       pg_catalog.pg_stat_get_tuples_fetched(i.oid) AS idx_tup_fetch
  FROM pg_catalog.pg_index x
  JOIN pg_catalog.pg_class c ON c.oid = x.indrelid
  JOIN pg_catalog.pg_class i ON i.oid = x.indexrelid
  LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind IN ('r', 't', 'm');

CREATE VIEW pg_catalog.pg_stat_sys_indexes AS
SELECT *
  FROM pg_catalog.pg_stat_all_indexes
 WHERE schemaname IN ('pg_catalog', 'information_schema') OR schemaname LIKE 'pg\_toast%';

CREATE VIEW pg_catalog.pg_stat_user_indexes AS
SELECT *
  FROM pg_catalog.pg_stat_all_indexes
 WHERE schemaname NOT IN ('pg_catalog', 'information_schema') AND schemaname NOT LIKE 'pg\_toast%';

CREATE VIEW pg_catalog.pg_statio_all_tables AS
SELECT c.oid AS relid,
       n.nspname AS schemaname,
       c.relname,
       pg_catalog.pg_stat_get_blocks_fetched(c.oid) - pg_catalog.pg_stat_get_blocks_hit(c.oid) AS heap_blks_read,
       pg_catalog.pg_stat_get_blocks_hit(c.oid) AS heap_blks_hit,
       i.blks_read AS idx_blks_read,
       i.blks_hit AS idx_blks_hit,
       pg_catalog.pg_stat_get_blocks_fetched(t.oid) - pg_catalog.pg_stat_get_blocks_hit(t.oid) AS toast_blks_read,
       pg_catalog.pg_stat_get_blocks_hit(t.oid) AS toast_blks_hit,
       ti.blks_read AS tidx_blks_read,
       ti.blks_hit AS tidx_blks_hit
  FROM pg_catalog.pg_class c
  LEFT JOIN pg_catalog.pg_class t ON t.oid = c.reltoastrelid
  LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  LEFT JOIN (SELECT x.indrelid,
                    sum(pg_catalog.pg_stat_get_blocks_fetched(x.indexrelid) - pg_catalog.pg_stat_get_blocks_hit(x.indexrelid))::int8 AS blks_read,
                    sum(pg_catalog.pg_stat_get_blocks_hit(x.indexrelid))::int8 AS blks_hit
               FROM pg_catalog.pg_index x
              GROUP BY x.indrelid) i ON i.indrelid = c.oid
  LEFT JOIN (SELECT x.indrelid,
                    sum(pg_catalog.pg_stat_get_blocks_fetched(x.indexrelid) - pg_catalog.pg_stat_get_blocks_hit(x.indexrelid))::int8 AS blks_read,
                    sum(pg_catalog.pg_stat_get_blocks_hit(x.indexrelid))::int8 AS blks_hit
               FROM pg_catalog.pg_index x
              GROUP BY x.indrelid) ti ON ti.indrelid = t.oid
 WHERE c.relkind IN ('r', 't', 'm');

CREATE VIEW pg_catalog.pg_statio_sys_tables AS
SELECT *
  FROM pg_catalog.pg_statio_all_tables
 WHERE schemaname IN ('pg_catalog', 'information_schema') OR schemaname LIKE 'pg\_toast%';

CREATE VIEW pg_catalog.pg_statio_all_indexes AS
SELECT c.oid AS relid,
       i.oid AS indexrelid,
       n.nspname AS schemaname,
       c.relname,
       i.relname AS indexrelname,
       pg_catalog.pg_stat_get_blocks_fetched(i.oid) - pg_catalog.pg_stat_get_blocks_hit(i.oid) AS idx_blks_read,
       pg_catalog.pg_stat_get_blocks_hit(i.oid) AS idx_blks_hit
  FROM pg_catalog.pg_index x
  JOIN pg_catalog.pg_class c ON c.oid = x.indrelid
  JOIN pg_catalog.pg_class i ON i.oid = x.indexrelid
  LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind IN ('r', 't', 'm');

CREATE VIEW pg_catalog.pg_statio_sys_indexes AS
SELECT *
  FROM pg_catalog.pg_statio_all_indexes
 WHERE schemaname IN ('pg_catalog', 'information_schema') OR schemaname LIKE 'pg\_toast%';

CREATE VIEW pg_catalog.pg_statio_user_indexes AS
SELECT *
  FROM pg_catalog.pg_statio_all_indexes
 WHERE schemaname NOT IN ('pg_catalog', 'information_schema') AND schemaname NOT LIKE 'pg\_toast%';

CREATE VIEW pg_catalog.pg_stat_xact_all_tables AS
SELECT c.oid AS relid,
       n.nspname AS schemaname,
       c.relname,
       pg_catalog.pg_stat_get_xact_numscans(c.oid) AS seq_scan,
       pg_catalog.pg_stat_get_xact_tuples_returned(c.oid) AS seq_tup_read,
       i.scans AS idx_scan,
       i.fetched + pg_catalog.pg_stat_get_xact_tuples_fetched(c.oid) AS idx_tup_fetch,
       pg_catalog.pg_stat_get_xact_tuples_inserted(c.oid) AS n_tup_ins,
       pg_catalog.pg_stat_get_xact_tuples_updated(c.oid) AS n_tup_upd,
       pg_catalog.pg_stat_get_xact_tuples_deleted(c.oid) AS n_tup_del,
       pg_catalog.pg_stat_get_xact_tuples_hot_updated(c.oid) AS n_tup_hot_upd,
       pg_catalog.pg_stat_get_xact_tuples_newpage_updated(c.oid) AS n_tup_newpage_upd
  FROM pg_catalog.pg_class c
  LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  LEFT JOIN (SELECT x.indrelid,
                    sum(pg_catalog.pg_stat_get_xact_numscans(x.indexrelid))::int8 AS scans,
                    sum(pg_catalog.pg_stat_get_xact_tuples_fetched(x.indexrelid))::int8 AS fetched
               FROM pg_catalog.pg_index x
              GROUP BY x.indrelid) i ON i.indrelid = c.oid
 WHERE c.relkind IN ('r', 't', 'm', 'p');

CREATE VIEW pg_catalog.pg_stat_xact_sys_tables AS
SELECT *
  FROM pg_catalog.pg_stat_xact_all_tables
 WHERE schemaname IN ('pg_catalog', 'information_schema') OR schemaname LIKE 'pg\_toast%';

CREATE VIEW pg_catalog.pg_stat_xact_user_tables AS
SELECT *
  FROM pg_catalog.pg_stat_xact_all_tables
 WHERE schemaname NOT IN ('pg_catalog', 'information_schema') AND schemaname NOT LIKE 'pg\_toast%';

CREATE VIEW pg_catalog.pg_stat_wal AS
SELECT w.wal_records,
       w.wal_fpi,
       w.wal_bytes,
       w.wal_buffers_full,
       w.stats_reset
  FROM pg_catalog.pg_stat_get_wal() w;

CREATE VIEW pg_catalog.pg_statio_user_tables AS
SELECT *
  FROM pg_catalog.pg_statio_all_tables
 WHERE schemaname NOT IN ('pg_catalog', 'information_schema') AND schemaname NOT LIKE 'pg\_toast%';

CREATE VIEW pg_catalog.pg_statio_all_sequences AS
SELECT c.oid AS relid,
       n.nspname AS schemaname,
       c.relname,
       pg_catalog.pg_stat_get_blocks_fetched(c.oid) - pg_catalog.pg_stat_get_blocks_hit(c.oid) AS blks_read,
       pg_catalog.pg_stat_get_blocks_hit(c.oid) AS blks_hit
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind = 'S';

CREATE VIEW pg_catalog.pg_statio_sys_sequences AS
SELECT *
  FROM pg_catalog.pg_statio_all_sequences
 WHERE schemaname IN ('pg_catalog', 'information_schema') OR schemaname LIKE 'pg\_toast%';

CREATE VIEW pg_catalog.pg_statio_user_sequences AS
SELECT *
  FROM pg_catalog.pg_statio_all_sequences
 WHERE schemaname NOT IN ('pg_catalog', 'information_schema') AND schemaname NOT LIKE 'pg\_toast%';

CREATE VIEW pg_catalog.pg_stat_user_functions AS
SELECT f.funcid, f.schemaname, f.funcname, f.calls,
       pg_catalog.pg_stat_get_function_total_time(f.funcid) AS total_time,
       pg_catalog.pg_stat_get_function_self_time(f.funcid) AS self_time
  FROM (SELECT p.oid AS funcid,
               n.nspname AS schemaname,
               p.proname AS funcname,
               pg_catalog.pg_stat_get_function_calls(p.oid) AS calls
          FROM pg_catalog.pg_proc p
          LEFT JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
         WHERE p.prolang <> 12) f
 WHERE f.calls IS NOT NULL;

CREATE VIEW pg_catalog.pg_stat_xact_user_functions AS
SELECT f.funcid, f.schemaname, f.funcname, f.calls,
       pg_catalog.pg_stat_get_xact_function_total_time(f.funcid) AS total_time,
       pg_catalog.pg_stat_get_xact_function_self_time(f.funcid) AS self_time
  FROM (SELECT p.oid AS funcid,
               n.nspname AS schemaname,
               p.proname AS funcname,
               pg_catalog.pg_stat_get_xact_function_calls(p.oid) AS calls
          FROM pg_catalog.pg_proc p
          LEFT JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
         WHERE p.prolang <> 12) f
 WHERE f.calls IS NOT NULL;

CREATE VIEW pg_catalog.pg_stat_bgwriter AS
SELECT pg_catalog.pg_stat_get_bgwriter_buf_written_clean() AS buffers_clean,
       pg_catalog.pg_stat_get_bgwriter_maxwritten_clean() AS maxwritten_clean,
       pg_catalog.pg_stat_get_buf_alloc() AS buffers_alloc,
       pg_catalog.pg_stat_get_bgwriter_stat_reset_time() AS stats_reset;

CREATE VIEW pg_catalog.pg_stat_checkpointer AS
SELECT pg_catalog.pg_stat_get_checkpointer_num_timed() AS num_timed,
       pg_catalog.pg_stat_get_checkpointer_num_requested() AS num_requested,
       pg_catalog.pg_stat_get_checkpointer_num_performed() AS num_done,
       pg_catalog.pg_stat_get_checkpointer_restartpoints_timed() AS restartpoints_timed,
       pg_catalog.pg_stat_get_checkpointer_restartpoints_requested() AS restartpoints_req,
       pg_catalog.pg_stat_get_checkpointer_restartpoints_performed() AS restartpoints_done,
       pg_catalog.pg_stat_get_checkpointer_write_time() AS write_time,
       pg_catalog.pg_stat_get_checkpointer_sync_time() AS sync_time,
       pg_catalog.pg_stat_get_checkpointer_buffers_written() AS buffers_written,
       pg_catalog.pg_stat_get_checkpointer_slru_written() AS slru_written,
       pg_catalog.pg_stat_get_checkpointer_stat_reset_time() AS stats_reset;

CREATE VIEW pg_catalog.pg_stat_database AS
SELECT d.datid,
       d.datname,
       CASE WHEN d.datid = 0 THEN 0 ELSE pg_catalog.pg_stat_get_db_numbackends(d.datid) END AS numbackends,
       pg_catalog.pg_stat_get_db_xact_commit(d.datid) AS xact_commit,
       pg_catalog.pg_stat_get_db_xact_rollback(d.datid) AS xact_rollback,
       pg_catalog.pg_stat_get_db_blocks_fetched(d.datid) - pg_catalog.pg_stat_get_db_blocks_hit(d.datid) AS blks_read,
       pg_catalog.pg_stat_get_db_blocks_hit(d.datid) AS blks_hit,
       pg_catalog.pg_stat_get_db_tuples_returned(d.datid) AS tup_returned,
       pg_catalog.pg_stat_get_db_tuples_fetched(d.datid) AS tup_fetched,
       pg_catalog.pg_stat_get_db_tuples_inserted(d.datid) AS tup_inserted,
       pg_catalog.pg_stat_get_db_tuples_updated(d.datid) AS tup_updated,
       pg_catalog.pg_stat_get_db_tuples_deleted(d.datid) AS tup_deleted,
       pg_catalog.pg_stat_get_db_conflict_all(d.datid) AS conflicts,
       pg_catalog.pg_stat_get_db_temp_files(d.datid) AS temp_files,
       pg_catalog.pg_stat_get_db_temp_bytes(d.datid) AS temp_bytes,
       pg_catalog.pg_stat_get_db_deadlocks(d.datid) AS deadlocks,
       pg_catalog.pg_stat_get_db_checksum_failures(d.datid) AS checksum_failures,
       pg_catalog.pg_stat_get_db_checksum_last_failure(d.datid) AS checksum_last_failure,
       pg_catalog.pg_stat_get_db_blk_read_time(d.datid) AS blk_read_time,
       pg_catalog.pg_stat_get_db_blk_write_time(d.datid) AS blk_write_time,
       pg_catalog.pg_stat_get_db_session_time(d.datid) AS session_time,
       pg_catalog.pg_stat_get_db_active_time(d.datid) AS active_time,
       pg_catalog.pg_stat_get_db_idle_in_transaction_time(d.datid) AS idle_in_transaction_time,
       pg_catalog.pg_stat_get_db_sessions(d.datid) AS sessions,
       pg_catalog.pg_stat_get_db_sessions_abandoned(d.datid) AS sessions_abandoned,
       pg_catalog.pg_stat_get_db_sessions_fatal(d.datid) AS sessions_fatal,
       pg_catalog.pg_stat_get_db_sessions_killed(d.datid) AS sessions_killed,
       pg_catalog.pg_stat_get_db_parallel_workers_to_launch(d.datid) AS parallel_workers_to_launch,
       pg_catalog.pg_stat_get_db_parallel_workers_launched(d.datid) AS parallel_workers_launched,
       pg_catalog.pg_stat_get_db_stat_reset_time(d.datid) AS stats_reset
  FROM (SELECT 0::oid AS datid, NULL::name AS datname
        UNION ALL
        SELECT oid, datname FROM pg_catalog.pg_database) d;

CREATE VIEW pg_catalog.pg_stat_database_conflicts AS
SELECT d.oid AS datid,
       d.datname,
       pg_catalog.pg_stat_get_db_conflict_tablespace(d.oid) AS confl_tablespace,
       pg_catalog.pg_stat_get_db_conflict_lock(d.oid) AS confl_lock,
       pg_catalog.pg_stat_get_db_conflict_snapshot(d.oid) AS confl_snapshot,
       pg_catalog.pg_stat_get_db_conflict_bufferpin(d.oid) AS confl_bufferpin,
       pg_catalog.pg_stat_get_db_conflict_startup_deadlock(d.oid) AS confl_deadlock,
       pg_catalog.pg_stat_get_db_conflict_logicalslot(d.oid) AS confl_active_logicalslot
  FROM pg_catalog.pg_database d;

CREATE VIEW pg_catalog.pg_stat_io AS
SELECT backend_type,
       object,
       context,
       reads,
       read_bytes,
       read_time,
       writes,
       write_bytes,
       write_time,
       writebacks,
       writeback_time,
       extends,
       extend_bytes,
       extend_time,
       hits,
       evictions,
       reuses,
       fsyncs,
       fsync_time,
       stats_reset
  FROM pg_catalog.pg_stat_get_io();

CREATE VIEW pg_catalog.pg_stat_slru AS
SELECT name,
       blks_zeroed,
       blks_hit,
       blks_read,
       blks_written,
       blks_exists,
       flushes,
       truncates,
       stats_reset
  FROM pg_catalog.pg_stat_get_slru();

CREATE VIEW pg_catalog.pg_stat_archiver AS
SELECT archived_count,
       last_archived_wal,
       last_archived_time,
       failed_count,
       last_failed_wal,
       last_failed_time,
       stats_reset
  FROM pg_catalog.pg_stat_get_archiver();

CREATE VIEW pg_catalog.pg_stat_recovery_prefetch AS
SELECT stats_reset,
       prefetch,
       hit,
       skip_init,
       skip_new,
       skip_fpw,
       skip_rep,
       wal_distance,
       block_distance,
       io_depth
  FROM pg_catalog.pg_stat_get_recovery_prefetch();

CREATE VIEW pg_catalog.pg_stat_wal_receiver AS
SELECT pid,
       status,
       receive_start_lsn,
       receive_start_tli,
       written_lsn,
       flushed_lsn,
       received_tli,
       last_msg_send_time,
       last_msg_receipt_time,
       latest_end_lsn,
       latest_end_time,
       slot_name,
       sender_host,
       sender_port,
       conninfo
  FROM pg_catalog.pg_stat_get_wal_receiver()
 WHERE pid IS NOT NULL;

CREATE VIEW pg_catalog.pg_stat_replication_slots AS
SELECT s.slot_name, s.spill_txns, s.spill_count, s.spill_bytes, s.stream_txns, s.stream_count, s.stream_bytes, s.total_txns,
       s.total_bytes, s.stats_reset
  FROM pg_catalog.pg_replication_slots r
 CROSS JOIN LATERAL pg_catalog.pg_stat_get_replication_slot(r.slot_name) s
 WHERE r.database IS NOT NULL;

CREATE VIEW pg_catalog.pg_stat_subscription AS
SELECT u.oid AS subid, u.subname, w.worker_type, w.pid, w.leader_pid, w.relid, w.received_lsn, w.last_msg_send_time,
       w.last_msg_receipt_time, w.latest_end_lsn, w.latest_end_time
  FROM pg_catalog.pg_subscription u
  LEFT JOIN pg_catalog.pg_stat_get_subscription(NULL) w ON w.subid = u.oid;

CREATE VIEW pg_catalog.pg_stat_subscription_stats AS
SELECT u.oid AS subid, u.subname, s.apply_error_count, s.sync_error_count, s.confl_insert_exists,
       s.confl_update_origin_differs, s.confl_update_exists, s.confl_update_missing, s.confl_delete_origin_differs,
       s.confl_delete_missing, s.confl_multiple_unique_conflicts, s.stats_reset
  FROM pg_catalog.pg_subscription u
 CROSS JOIN LATERAL pg_catalog.pg_stat_get_subscription_stats(u.oid) s;

-- Commands that take long. The numbers of the parameters are those of exec's progress.

CREATE VIEW pg_catalog.pg_stat_progress_vacuum AS
SELECT p.pid,
       p.datid,
       d.datname,
       p.relid,
       ('{initializing,scanning heap,vacuuming indexes,vacuuming heap,cleaning up indexes,truncating heap,performing final cleanup}'::text[])[p.param1 + 1] AS phase,
       p.param2 AS heap_blks_total,
       p.param3 AS heap_blks_scanned,
       p.param4 AS heap_blks_vacuumed,
       p.param5 AS index_vacuum_count,
       p.param6 AS max_dead_tuple_bytes,
       p.param7 AS dead_tuple_bytes,
       p.param8 AS num_dead_item_ids,
       p.param9 AS indexes_total,
       p.param10 AS indexes_processed,
       p.param11 / 1e6::float8 AS delay_time
  FROM pg_catalog.pg_stat_get_progress_info('VACUUM') p
  LEFT JOIN pg_catalog.pg_database d ON d.oid = p.datid;

CREATE VIEW pg_catalog.pg_stat_progress_analyze AS
SELECT p.pid,
       p.datid,
       d.datname,
       p.relid,
       ('{initializing,acquiring sample rows,acquiring inherited sample rows,computing statistics,computing extended statistics,finalizing analyze}'::text[])[p.param1 + 1] AS phase,
       p.param2 AS sample_blks_total,
       p.param3 AS sample_blks_scanned,
       p.param4 AS ext_stats_total,
       p.param5 AS ext_stats_computed,
       p.param6 AS child_tables_total,
       p.param7 AS child_tables_done,
       p.param8::oid AS current_child_table_relid,
       p.param9 / 1e6::float8 AS delay_time
  FROM pg_catalog.pg_stat_get_progress_info('ANALYZE') p
  LEFT JOIN pg_catalog.pg_database d ON d.oid = p.datid;

CREATE VIEW pg_catalog.pg_stat_progress_cluster AS
SELECT p.pid,
       p.datid,
       d.datname,
       p.relid,
       ('{CLUSTER,VACUUM FULL}'::text[])[p.param1] AS command,
       ('{initializing,seq scanning heap,index scanning heap,sorting tuples,writing new heap,swapping relation files,rebuilding index,performing final cleanup}'::text[])[p.param2 + 1] AS phase,
       p.param3::oid AS cluster_index_relid,
       p.param4 AS heap_tuples_scanned,
       p.param5 AS heap_tuples_written,
       p.param6 AS heap_blks_total,
       p.param7 AS heap_blks_scanned,
       p.param8 AS index_rebuild_count
  FROM pg_catalog.pg_stat_get_progress_info('CLUSTER') p
  LEFT JOIN pg_catalog.pg_database d ON d.oid = p.datid;

CREATE VIEW pg_catalog.pg_stat_progress_copy AS
SELECT p.pid,
       p.datid,
       d.datname,
       p.relid,
       ('{COPY FROM,COPY TO}'::text[])[p.param5] AS command,
       ('{FILE,PROGRAM,PIPE,CALLBACK}'::text[])[p.param6] AS type,
       p.param1 AS bytes_processed,
       p.param2 AS bytes_total,
       p.param3 AS tuples_processed,
       p.param4 AS tuples_excluded,
       p.param7 AS tuples_skipped
  FROM pg_catalog.pg_stat_get_progress_info('COPY') p
  LEFT JOIN pg_catalog.pg_database d ON d.oid = p.datid;

CREATE VIEW pg_catalog.pg_stat_progress_create_index AS
SELECT p.pid,
       p.datid,
       d.datname,
       p.relid,
       p.param7::oid AS index_relid,
       ('{CREATE INDEX,CREATE INDEX CONCURRENTLY,REINDEX,REINDEX CONCURRENTLY}'::text[])[p.param1] AS command,
       ('{initializing,waiting for writers before build,building index,waiting for writers before validation,index validation: scanning index,index validation: sorting tuples,index validation: scanning table,waiting for old snapshots,waiting for readers before marking dead,waiting for readers before dropping}'::text[])[p.param10 + 1]
       || CASE WHEN p.param10 = 2
               THEN coalesce(': ' || pg_catalog.pg_indexam_progress_phasename(p.param9::oid, p.param11), '')
               ELSE '' END AS phase,
       p.param4 AS lockers_total,
       p.param5 AS lockers_done,
       p.param6 AS current_locker_pid,
       p.param16 AS blocks_total,
       p.param17 AS blocks_done,
       p.param12 AS tuples_total,
       p.param13 AS tuples_done,
       p.param14 AS partitions_total,
       p.param15 AS partitions_done
  FROM pg_catalog.pg_stat_get_progress_info('CREATE INDEX') p
  LEFT JOIN pg_catalog.pg_database d ON d.oid = p.datid;

CREATE VIEW pg_catalog.pg_stat_progress_basebackup AS
SELECT p.pid,
       ('{initializing,waiting for checkpoint to finish,estimating backup size,streaming database files,waiting for wal archiving to finish,transferring wal files}'::text[])[p.param1 + 1] AS phase,
       nullif(p.param2, -1) AS backup_total,
       p.param3 AS backup_streamed,
       p.param4 AS tablespaces_total,
       p.param5 AS tablespaces_streamed
  FROM pg_catalog.pg_stat_get_progress_info('BASEBACKUP') p;

CREATE VIEW pg_catalog.pg_wait_events AS
SELECT type,
       name,
       description
  FROM pg_catalog.pg_get_wait_events();

CREATE VIEW pg_catalog.pg_aios AS
SELECT pid,
       io_id,
       io_generation,
       state,
       operation,
       off,
       length,
       target,
       handle_data_len,
       raw_result,
       result,
       target_desc,
       f_sync,
       f_localmem,
       f_buffered
  FROM pg_catalog.pg_get_aios();

CREATE VIEW pg_catalog.pg_backend_memory_contexts AS
SELECT name,
       ident,
       type,
       level,
       path,
       total_bytes,
       total_nblocks,
       free_bytes,
       free_chunks,
       used_bytes
  FROM pg_catalog.pg_get_backend_memory_contexts();

CREATE VIEW pg_catalog.pg_shmem_allocations AS
SELECT name,
       off,
       size,
       allocated_size
  FROM pg_catalog.pg_get_shmem_allocations();

CREATE VIEW pg_catalog.pg_shmem_allocations_numa AS
SELECT name,
       numa_node,
       size
  FROM pg_catalog.pg_get_shmem_allocations_numa();

CREATE VIEW pg_catalog.pg_config AS
SELECT name,
       setting
  FROM pg_catalog.pg_config();

CREATE VIEW pg_catalog.pg_file_settings AS
SELECT sourcefile,
       sourceline,
       seqno,
       name,
       setting,
       applied,
       error
  FROM pg_catalog.pg_show_all_file_settings();

CREATE VIEW pg_catalog.pg_hba_file_rules AS
SELECT rule_number,
       file_name,
       line_number,
       type,
       database,
       user_name,
       address,
       netmask,
       auth_method,
       options,
       error
  FROM pg_catalog.pg_hba_file_rules();

CREATE VIEW pg_catalog.pg_ident_file_mappings AS
SELECT map_number,
       file_name,
       line_number,
       map_name,
       sys_name,
       pg_username,
       error
  FROM pg_catalog.pg_ident_file_mappings();

CREATE VIEW pg_catalog.pg_replication_origin_status AS
SELECT local_id,
       external_id,
       remote_lsn,
       local_lsn
  FROM pg_catalog.pg_show_replication_origin_status();

CREATE VIEW pg_catalog.pg_timezone_abbrevs AS
SELECT abbrev, utc_offset, is_dst
  FROM pg_catalog.pg_timezone_abbrevs_zone()
UNION ALL
SELECT s.abbrev, s.utc_offset, s.is_dst
  FROM pg_catalog.pg_timezone_abbrevs_abbrevs() s
 WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_timezone_abbrevs_zone() z WHERE z.abbrev = s.abbrev);

CREATE VIEW pg_catalog.pg_seclabels AS
SELECT l.objoid, l.classoid, l.objsubid, o.type AS objtype, n.oid AS objnamespace, o.identity AS objname, l.provider, l.label
  FROM (SELECT objoid, classoid, objsubid, provider, label FROM pg_catalog.pg_seclabel
        UNION ALL
        SELECT objoid, classoid, 0, provider, label FROM pg_catalog.pg_shseclabel) l
 CROSS JOIN LATERAL pg_catalog.pg_identify_object(l.classoid, l.objoid, l.objsubid) o
  LEFT JOIN pg_catalog.pg_namespace n ON n.nspname = o.schema;

CREATE VIEW pg_catalog.pg_publication_tables AS
SELECT p.pubname,
       n.nspname AS schemaname,
       c.relname AS tablename,
       (SELECT array_agg(a.attname ORDER BY a.attnum)
          FROM pg_catalog.pg_attribute a
         WHERE a.attrelid = t.relid AND a.attnum = ANY (t.attrs::int2[])) AS attnames,
       pg_catalog.pg_get_expr(t.qual, t.relid) AS rowfilter
  FROM pg_catalog.pg_publication p
 CROSS JOIN LATERAL pg_catalog.pg_get_publication_tables(VARIADIC ARRAY[p.pubname::text]) t
  JOIN pg_catalog.pg_class c ON c.oid = t.relid
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace;

CREATE VIEW pg_catalog.stampede_recovery AS
SELECT CASE WHEN p.param2 < p.param1 THEN 'redoing pages' ELSE 'performing checkpoint' END AS phase,
       p.param1 AS pages_total,
       p.param2 AS pages_redone,
       p.param3 AS wal_bytes,
       p.param4 * '1 millisecond'::interval AS elapsed
  FROM pg_catalog.pg_stat_get_progress_info('STAMPEDE RECOVERY') p;

GRANT SELECT ON
    pg_catalog.pg_stat_activity,
    pg_catalog.pg_stat_ssl,
    pg_catalog.pg_stat_gssapi,
    pg_catalog.pg_stat_replication,
    pg_catalog.pg_stat_all_tables,
    pg_catalog.pg_stat_sys_tables,
    pg_catalog.pg_stat_user_tables,
    pg_catalog.pg_stat_all_indexes,
    pg_catalog.pg_stat_sys_indexes,
    pg_catalog.pg_stat_user_indexes,
    pg_catalog.pg_statio_all_tables,
    pg_catalog.pg_statio_sys_tables,
    pg_catalog.pg_statio_all_indexes,
    pg_catalog.pg_statio_sys_indexes,
    pg_catalog.pg_statio_user_indexes,
    pg_catalog.pg_stat_xact_all_tables,
    pg_catalog.pg_stat_xact_sys_tables,
    pg_catalog.pg_stat_xact_user_tables,
    pg_catalog.pg_stat_wal,
    pg_catalog.pg_statio_user_tables,
    pg_catalog.pg_statio_all_sequences,
    pg_catalog.pg_statio_sys_sequences,
    pg_catalog.pg_statio_user_sequences,
    pg_catalog.pg_stat_user_functions,
    pg_catalog.pg_stat_xact_user_functions,
    pg_catalog.pg_stat_bgwriter,
    pg_catalog.pg_stat_checkpointer,
    pg_catalog.pg_stat_database,
    pg_catalog.pg_stat_database_conflicts,
    pg_catalog.pg_stat_io,
    pg_catalog.pg_stat_slru,
    pg_catalog.pg_stat_archiver,
    pg_catalog.pg_stat_recovery_prefetch,
    pg_catalog.pg_stat_wal_receiver,
    pg_catalog.pg_stat_replication_slots,
    pg_catalog.pg_stat_subscription,
    pg_catalog.pg_stat_subscription_stats,
    pg_catalog.pg_stat_progress_vacuum,
    pg_catalog.pg_stat_progress_analyze,
    pg_catalog.pg_stat_progress_cluster,
    pg_catalog.pg_stat_progress_copy,
    pg_catalog.pg_stat_progress_create_index,
    pg_catalog.pg_stat_progress_basebackup,
    pg_catalog.stampede_recovery,
    pg_catalog.pg_wait_events,
    pg_catalog.pg_timezone_abbrevs,
    pg_catalog.pg_seclabels,
    pg_catalog.pg_publication_tables
    TO PUBLIC;

GRANT SELECT ON
    pg_catalog.pg_aios,
    pg_catalog.pg_backend_memory_contexts,
    pg_catalog.pg_shmem_allocations,
    pg_catalog.pg_shmem_allocations_numa
    TO pg_read_all_stats;

REVOKE ALL ON
    pg_catalog.pg_config,
    pg_catalog.pg_file_settings,
    pg_catalog.pg_hba_file_rules,
    pg_catalog.pg_ident_file_mappings,
    pg_catalog.pg_replication_origin_status
    FROM PUBLIC;
