CREATE FUNCTION get_raw_page(text, int8) RETURNS bytea AS 'MODULE_PATHNAME', 'get_raw_page_1_9'
    LANGUAGE c STRICT PARALLEL RESTRICTED;
CREATE FUNCTION get_raw_page(text, text, int8) RETURNS bytea AS 'MODULE_PATHNAME', 'get_raw_page_fork_1_9'
    LANGUAGE c STRICT PARALLEL RESTRICTED;
CREATE FUNCTION page_header(page bytea, OUT lsn pg_lsn, OUT checksum smallint, OUT flags smallint, OUT lower int,
    OUT upper int, OUT special int, OUT pagesize int, OUT version smallint, OUT prune_xid xid)
    AS 'MODULE_PATHNAME', 'page_header' LANGUAGE c STRICT PARALLEL SAFE;
CREATE FUNCTION page_checksum(page bytea, blkno int8) RETURNS smallint AS 'MODULE_PATHNAME', 'page_checksum_1_9'
    LANGUAGE c STRICT PARALLEL SAFE;
CREATE FUNCTION heap_page_items(page bytea, OUT lp smallint, OUT lp_off smallint, OUT lp_flags smallint,
    OUT lp_len smallint, OUT t_xmin xid, OUT t_xmax xid, OUT t_field3 int4, OUT t_ctid tid, OUT t_infomask2 integer,
    OUT t_infomask integer, OUT t_hoff smallint, OUT t_bits text, OUT t_oid oid, OUT t_data bytea)
    RETURNS SETOF record AS 'MODULE_PATHNAME', 'heap_page_items' LANGUAGE c STRICT PARALLEL SAFE;
CREATE FUNCTION tuple_data_split(rel_oid oid, t_data bytea, t_infomask integer, t_infomask2 integer, t_bits text)
    RETURNS bytea[] AS 'MODULE_PATHNAME', 'tuple_data_split' LANGUAGE c PARALLEL RESTRICTED;
CREATE FUNCTION tuple_data_split(rel_oid oid, t_data bytea, t_infomask integer, t_infomask2 integer, t_bits text,
    do_detoast bool) RETURNS bytea[] AS 'MODULE_PATHNAME', 'tuple_data_split' LANGUAGE c PARALLEL RESTRICTED;
CREATE FUNCTION heap_page_item_attrs(page bytea, rel_oid regclass, do_detoast bool, OUT lp smallint, OUT lp_off smallint,
    OUT lp_flags smallint, OUT lp_len smallint, OUT t_xmin xid, OUT t_xmax xid, OUT t_field3 int4, OUT t_ctid tid,
    OUT t_infomask2 int4, OUT t_infomask int4, OUT t_hoff smallint, OUT t_bits text, OUT t_oid oid, OUT t_attrs bytea[])
    RETURNS SETOF record AS $$
    SELECT i.lp, i.lp_off, i.lp_flags, i.lp_len, i.t_xmin, i.t_xmax, i.t_field3, i.t_ctid, i.t_infomask2, i.t_infomask,
        i.t_hoff, i.t_bits, i.t_oid,
        tuple_data_split(rel_oid::oid, i.t_data, i.t_infomask, i.t_infomask2, i.t_bits, do_detoast)
    FROM heap_page_items(page) AS i $$ LANGUAGE sql PARALLEL RESTRICTED;
CREATE FUNCTION heap_page_item_attrs(page bytea, rel_oid regclass, OUT lp smallint, OUT lp_off smallint,
    OUT lp_flags smallint, OUT lp_len smallint, OUT t_xmin xid, OUT t_xmax xid, OUT t_field3 int4, OUT t_ctid tid,
    OUT t_infomask2 int4, OUT t_infomask int4, OUT t_hoff smallint, OUT t_bits text, OUT t_oid oid, OUT t_attrs bytea[])
    RETURNS SETOF record AS $$ SELECT * FROM heap_page_item_attrs(page, rel_oid, false) $$
    LANGUAGE sql PARALLEL RESTRICTED;
CREATE FUNCTION heap_tuple_infomask_flags(t_infomask integer, t_infomask2 integer, OUT raw_flags text[],
    OUT combined_flags text[]) RETURNS record AS 'MODULE_PATHNAME', 'heap_tuple_infomask_flags'
    LANGUAGE c STRICT PARALLEL SAFE;
CREATE FUNCTION fsm_page_contents(page bytea) RETURNS text AS 'MODULE_PATHNAME', 'fsm_page_contents'
    LANGUAGE c STRICT PARALLEL SAFE;
CREATE FUNCTION bt_metap(relname text, OUT magic int4, OUT version int4, OUT root int8, OUT level int8, OUT fastroot int8,
    OUT fastlevel int8, OUT last_cleanup_num_delpages int8, OUT last_cleanup_num_tuples float8, OUT allequalimage boolean)
    AS 'MODULE_PATHNAME', 'bt_metap' LANGUAGE c STRICT PARALLEL RESTRICTED;
CREATE FUNCTION bt_page_stats(relname text, blkno int8, OUT blkno int8, OUT type "char", OUT live_items int4,
    OUT dead_items int4, OUT avg_item_size int4, OUT page_size int4, OUT free_size int4, OUT btpo_prev int8,
    OUT btpo_next int8, OUT btpo_level int8, OUT btpo_flags int4)
    AS 'MODULE_PATHNAME', 'bt_page_stats_1_9' LANGUAGE c STRICT PARALLEL RESTRICTED;
CREATE FUNCTION bt_multi_page_stats(relname text, blkno int8, blk_count int8, OUT blkno int8, OUT type "char",
    OUT live_items int4, OUT dead_items int4, OUT avg_item_size int4, OUT page_size int4, OUT free_size int4,
    OUT btpo_prev int8, OUT btpo_next int8, OUT btpo_level int8, OUT btpo_flags int4)
    RETURNS SETOF record AS 'MODULE_PATHNAME', 'bt_multi_page_stats' LANGUAGE c STRICT PARALLEL RESTRICTED;
CREATE FUNCTION bt_page_items(relname text, blkno int8, OUT itemoffset smallint, OUT ctid tid, OUT itemlen smallint,
    OUT nulls bool, OUT vars bool, OUT data text, OUT dead boolean, OUT htid tid, OUT tids tid[])
    RETURNS SETOF record AS 'MODULE_PATHNAME', 'bt_page_items_1_9' LANGUAGE c STRICT PARALLEL RESTRICTED;
CREATE FUNCTION bt_page_items(page bytea, OUT itemoffset smallint, OUT ctid tid, OUT itemlen smallint, OUT nulls bool,
    OUT vars bool, OUT data text, OUT dead boolean, OUT htid tid, OUT tids tid[])
    RETURNS SETOF record AS 'MODULE_PATHNAME', 'bt_page_items_bytea' LANGUAGE c STRICT PARALLEL SAFE;
CREATE FUNCTION gist_page_opaque_info(page bytea, OUT lsn pg_lsn, OUT nsn pg_lsn, OUT rightlink bigint, OUT flags text[])
    AS 'MODULE_PATHNAME', 'gist_page_opaque_info' LANGUAGE c STRICT PARALLEL SAFE;
CREATE FUNCTION gist_page_items_bytea(page bytea, OUT itemoffset smallint, OUT ctid tid, OUT itemlen smallint,
    OUT dead boolean, OUT key_data bytea) RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'gist_page_items_bytea' LANGUAGE c STRICT PARALLEL SAFE;
CREATE FUNCTION gist_page_items(page bytea, index_oid regclass, OUT itemoffset smallint, OUT ctid tid,
    OUT itemlen smallint, OUT dead boolean, OUT keys text) RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'gist_page_items' LANGUAGE c STRICT PARALLEL RESTRICTED;
CREATE FUNCTION gin_metapage_info(page bytea, OUT pending_head bigint, OUT pending_tail bigint, OUT tail_free_size int4,
    OUT n_pending_pages bigint, OUT n_pending_tuples bigint, OUT n_total_pages bigint, OUT n_entry_pages bigint,
    OUT n_data_pages bigint, OUT n_entries bigint, OUT version int4)
    AS 'MODULE_PATHNAME', 'gin_metapage_info' LANGUAGE c STRICT PARALLEL SAFE;
CREATE FUNCTION gin_page_opaque_info(page bytea, OUT rightlink bigint, OUT maxoff int4, OUT flags text[])
    AS 'MODULE_PATHNAME', 'gin_page_opaque_info' LANGUAGE c STRICT PARALLEL SAFE;
CREATE FUNCTION gin_leafpage_items(page bytea, OUT first_tid tid, OUT nbytes int2, OUT tids tid[])
    RETURNS SETOF record AS 'MODULE_PATHNAME', 'gin_leafpage_items' LANGUAGE c STRICT PARALLEL SAFE;
CREATE FUNCTION brin_page_type(page bytea) RETURNS text
    AS 'MODULE_PATHNAME', 'brin_page_type' LANGUAGE c STRICT PARALLEL SAFE;
CREATE FUNCTION brin_metapage_info(page bytea, OUT magic text, OUT version integer, OUT pagesperrange integer,
    OUT lastrevmappage bigint) AS 'MODULE_PATHNAME', 'brin_metapage_info' LANGUAGE c STRICT PARALLEL SAFE;
CREATE FUNCTION brin_revmap_data(page bytea, OUT pages tid) RETURNS SETOF tid
    AS 'MODULE_PATHNAME', 'brin_revmap_data' LANGUAGE c STRICT PARALLEL SAFE;
CREATE FUNCTION brin_page_items(page bytea, index_oid regclass, OUT itemoffset int, OUT blknum int8, OUT attnum int,
    OUT allnulls bool, OUT hasnulls bool, OUT placeholder bool, OUT empty bool, OUT value text)
    RETURNS SETOF record AS 'MODULE_PATHNAME', 'brin_page_items' LANGUAGE c STRICT PARALLEL RESTRICTED;
CREATE FUNCTION hash_page_type(page bytea) RETURNS text
    AS 'MODULE_PATHNAME', 'hash_page_type' LANGUAGE c STRICT PARALLEL SAFE;
CREATE FUNCTION hash_page_stats(page bytea, OUT live_items int4, OUT dead_items int4, OUT page_size int4,
    OUT free_size int4, OUT hasho_prevblkno int8, OUT hasho_nextblkno int8, OUT hasho_bucket int8, OUT hasho_flag int4,
    OUT hasho_page_id int4) AS 'MODULE_PATHNAME', 'hash_page_stats' LANGUAGE c STRICT PARALLEL SAFE;
CREATE FUNCTION hash_page_items(page bytea, OUT itemoffset int4, OUT ctid tid, OUT data int8)
    RETURNS SETOF record AS 'MODULE_PATHNAME', 'hash_page_items' LANGUAGE c STRICT PARALLEL SAFE;
CREATE FUNCTION hash_bitmap_info(index_oid regclass, blkno int8, OUT bitmapblkno int8, OUT bitmapbit int4,
    OUT bitstatus bool) AS 'MODULE_PATHNAME', 'hash_bitmap_info' LANGUAGE c STRICT PARALLEL RESTRICTED;
CREATE FUNCTION hash_metapage_info(page bytea, OUT magic int8, OUT version int8, OUT ntuples double precision,
    OUT ffactor int4, OUT bsize int4, OUT bmsize int4, OUT bmshift int4, OUT maxbucket int8, OUT highmask int8,
    OUT lowmask int8, OUT ovflpoint int8, OUT firstfree int8, OUT nmaps int8, OUT procid oid, OUT spares int8[],
    OUT mapp int8[]) AS 'MODULE_PATHNAME', 'hash_metapage_info' LANGUAGE c STRICT PARALLEL SAFE;
