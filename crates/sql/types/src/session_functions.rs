//! Signatures of functions that the executor carries out: session facts, settings, catalog look-ups, privileges,
//! transactions, sizes, sequences, advisory locks.

functions! {
    3100 row_number() -> int8 [immutable] { window RowNumber }
    3101 rank() -> int8 [immutable] { window Rank }
    3102 dense_rank() -> int8 [immutable] { window DenseRank }
    3103 percent_rank() -> float8 [immutable] { window PercentRank }
    3104 cume_dist() -> float8 [immutable] { window CumeDist }
    3105 ntile(int4) -> int4 [immutable strict] { window Ntile }
    3106 lag(anyelement) -> anyelement [immutable strict] { window Lag }
    3107 lag(anyelement, int4) -> anyelement [immutable strict] { window Lag }
    3108 lag(anycompatible, int4, anycompatible) -> anycompatible [immutable strict] { window Lag }
    3109 lead(anyelement) -> anyelement [immutable strict] { window Lead }
    3110 lead(anyelement, int4) -> anyelement [immutable strict] { window Lead }
    3111 lead(anycompatible, int4, anycompatible) -> anycompatible [immutable strict] { window Lead }
    3112 first_value(anyelement) -> anyelement [immutable strict] { window FirstValue }
    3113 last_value(anyelement) -> anyelement [immutable strict] { window LastValue }
    3114 nth_value(anyelement, int4) -> anyelement [immutable strict] { window NthValue }
    861 current_database() -> name [stable strict] { session CurrentDatabase }
    1402 current_schema() -> name [stable strict parallel_unsafe] { session CurrentSchema }
    1403 current_schemas(bool) -> _name [stable strict parallel_unsafe] { session CurrentSchemas }
    745 current_user() -> name [stable strict] { session CurrentUser }
    710 getpgusername() -> name [stable strict] { session CurrentUser }
    817 current_query() -> text [restricted] { session CurrentQuery }
    1349 oidvectortypes(oidvector) -> text [stable strict] { session Oidvectortypes }
    746 session_user() -> name [stable strict] { session SessionUser }
    2077 current_setting(text) -> text [stable strict] { session CurrentSetting }
    3294 current_setting(text, bool) -> text [stable strict] { session CurrentSetting }
    2078 set_config(text, text, bool) -> text [parallel_unsafe] { session SetConfig }
    89 version() -> text [stable strict] { session Version }
    6311 system_user() -> text [stable strict] { session SystemUser }
    2026 pg_backend_pid() -> int4 [stable strict restricted] { session PgBackendPid }
    2560 pg_postmaster_start_time() -> timestamptz [stable strict] { session PgPostmasterStartTime }
    2034 pg_conf_load_time() -> timestamptz [stable strict restricted] { session PgConfLoadTime }
    3810 pg_is_in_recovery() -> bool [strict] { session PgIsInRecovery }
    810 pg_client_encoding() -> name [stable strict] { session PgClientEncoding }
    1039 getdatabaseencoding() -> name [stable strict] { session Getdatabaseencoding }
    3800 pg_current_logfile() -> text [] { session PgCurrentLogfile }
    3801 pg_current_logfile(text) -> text [] { session PgCurrentLogfile }
    2854 pg_my_temp_schema() -> oid [stable strict restricted] { session PgMyTempSchema }
    2855 pg_is_other_temp_schema(oid) -> bool [stable strict] { session PgIsOtherTempSchema }
    2197 inet_client_port() -> int4 [stable restricted] { session InetClientPort }
    2196 inet_client_addr() -> inet [stable restricted] { session InetClientAddr }
    2198 inet_server_addr() -> inet [stable restricted] { session InetServerAddr }
    2199 inet_server_port() -> int4 [stable restricted] { session InetServerPort }
    3035 pg_listening_channels() -> text [stable strict restricted returns_set rows(10.0)] { session PgListeningChannels }
    3036 pg_notify(text, text) -> void [restricted] { session PgNotify }
    3296 pg_notification_queue_usage() -> float8 [strict restricted] { session PgNotificationQueueUsage }
    2626 pg_sleep(float8) -> void [strict] { session PgSleep }
    3935 pg_sleep_for(interval) -> void [strict] { session PgSleepFor }
    3936 pg_sleep_until(timestamptz) -> void [strict] { session PgSleepUntil }
    2079 pg_table_is_visible(oid) -> bool [stable strict cost(10.0)] { session PgTableIsVisible }
    2080 pg_type_is_visible(oid) -> bool [stable strict cost(10.0)] { session PgTypeIsVisible }
    2081 pg_function_is_visible(oid) -> bool [stable strict cost(10.0)] { session PgFunctionIsVisible }
    2082 pg_operator_is_visible(oid) -> bool [stable strict cost(10.0)] { session PgOperatorIsVisible }
    2083 pg_opclass_is_visible(oid) -> bool [stable strict cost(10.0)] { session PgOpclassIsVisible }
    3829 pg_opfamily_is_visible(oid) -> bool [stable strict cost(10.0)] { session PgOpfamilyIsVisible }
    2093 pg_conversion_is_visible(oid) -> bool [stable strict cost(10.0)] { session PgConversionIsVisible }
    3815 pg_collation_is_visible(oid) -> bool [stable strict cost(10.0)] { session PgCollationIsVisible }
    3403 pg_statistics_obj_is_visible(oid) -> bool [stable strict cost(10.0)] { session PgStatisticsObjIsVisible }
    3758 pg_ts_config_is_visible(oid) -> bool [stable strict cost(10.0)] { session PgTsConfigIsVisible }
    3757 pg_ts_dict_is_visible(oid) -> bool [stable strict cost(10.0)] { session PgTsDictIsVisible }
    3756 pg_ts_parser_is_visible(oid) -> bool [stable strict cost(10.0)] { session PgTsParserIsVisible }
    3768 pg_ts_template_is_visible(oid) -> bool [stable strict cost(10.0)] { session PgTsTemplateIsVisible }
    1081 format_type(oid, int4) -> text [stable] { session FormatType }
    1716 pg_get_expr(pg_node_tree, oid) -> text [stable strict] { session PgGetExpr }
    2509 pg_get_expr(pg_node_tree, oid, bool) -> text [stable strict] { session PgGetExpr }
    1643 pg_get_indexdef(oid) -> text [stable strict] { session PgGetIndexdef }
    2507 pg_get_indexdef(oid, int4, bool) -> text [stable strict] { session PgGetIndexdef }
    1387 pg_get_constraintdef(oid) -> text [stable strict] { session PgGetConstraintdef }
    2508 pg_get_constraintdef(oid, bool) -> text [stable strict] { session PgGetConstraintdef }
    1640 pg_get_viewdef(text) -> text [stable strict restricted] { session PgGetViewdef }
    1641 pg_get_viewdef(oid) -> text [stable strict restricted] { session PgGetViewdef }
    2505 pg_get_viewdef(text, bool) -> text [stable strict restricted] { session PgGetViewdef }
    2506 pg_get_viewdef(oid, bool) -> text [stable strict restricted] { session PgGetViewdef }
    3159 pg_get_viewdef(oid, int4) -> text [stable strict restricted] { session PgGetViewdef }
    1573 pg_get_ruledef(oid) -> text [stable strict] { session PgGetRuledef }
    2504 pg_get_ruledef(oid, bool) -> text [stable strict] { session PgGetRuledef }
    1662 pg_get_triggerdef(oid) -> text [stable strict] { session PgGetTriggerdef }
    2730 pg_get_triggerdef(oid, bool) -> text [stable strict] { session PgGetTriggerdef }
    2098 pg_get_functiondef(oid) -> text [stable strict] { session PgGetFunctiondef }
    1642 pg_get_userbyid(oid) -> name [stable strict] { session PgGetUserbyid }
    1665 pg_get_serial_sequence(text, text) -> text [stable strict] { session PgGetSerialSequence }
    2162 pg_get_function_arguments(oid) -> text [stable strict] { session PgGetFunctionArguments }
    2232 pg_get_function_identity_arguments(oid) -> text [stable strict] { session PgGetFunctionIdentityArguments }
    2165 pg_get_function_result(oid) -> text [stable strict] { session PgGetFunctionResult }
    3808 pg_get_function_arg_default(oid, int4) -> text [stable strict] { session PgGetFunctionArgDefault }
    6197 pg_get_function_sqlbody(oid) -> text [stable strict] { session PgGetFunctionSqlbody }
    3415 pg_get_statisticsobjdef(oid) -> text [stable strict] { session PgGetStatisticsobjdef }
    6174 pg_get_statisticsobjdef_columns(oid) -> text [stable strict] { session PgGetStatisticsobjdefColumns }
    6173 pg_get_statisticsobjdef_expressions(oid) -> _text [stable strict] { session PgGetStatisticsobjdefExpressions }
    3427 pg_mcv_list_items(pg_mcv_list) -> record [stable strict returns_set rows(1000.0) names(&["mcv_list", "index", "values", "nulls", "frequency", "base_frequency"]) outs(b"iooooo", &[crate::oids::pg_mcv_list, crate::oids::int4, crate::oids::_text, crate::oids::_bool, crate::oids::float8, crate::oids::float8])] { session PgMcvListItems }
    3352 pg_get_partkeydef(oid) -> text [stable strict] { session PgGetPartkeydef }
    3408 pg_get_partition_constraintdef(oid) -> text [stable strict] { session PgGetPartitionConstraintdef }
    6119 pg_get_publication_tables(_text) -> record [stable strict returns_set rows(1000.0) variadic(crate::oids::text) names(&["pubname", "pubid", "relid", "attrs", "qual"]) outs(b"voooo", &[crate::oids::_text, crate::oids::oid, crate::oids::oid, crate::oids::int2vector, crate::oids::pg_node_tree])] { session PgGetPublicationTables }
    6120 pg_get_replica_identity_index(regclass) -> regclass [stable strict] { session PgGetReplicaIdentityIndex }
    3425 pg_partition_ancestors(regclass) -> regclass [strict returns_set rows(10.0) names(&["partitionid", "relid"]) outs(b"io", &[crate::oids::regclass, crate::oids::regclass])] { session PgPartitionAncestors }
    3423 pg_partition_tree(regclass) -> record [strict returns_set rows(1000.0) names(&["rootrelid", "relid", "parentrelid", "isleaf", "level"]) outs(b"ioooo", &[crate::oids::regclass, crate::oids::regclass, crate::oids::regclass, crate::oids::bool, crate::oids::int4])] { session PgPartitionTree }
    5028 satisfies_hash_partition(oid, int4, int4, any) -> bool [immutable variadic(crate::oids::any)] { session SatisfiesHashPartition }
    3424 pg_partition_root(regclass) -> regclass [immutable strict] { session PgPartitionRoot }
    6121 pg_relation_is_publishable(regclass) -> bool [stable strict] { session PgRelationIsPublishable }
    1686 pg_get_keywords() -> record [stable strict returns_set cost(10.0) rows(500.0) names(&["word", "catcode", "barelabel", "catdesc", "baredesc"]) outs(b"ooooo", &[crate::oids::text, crate::oids::char, crate::oids::bool, crate::oids::text, crate::oids::text])] { session PgGetKeywords }
    6159 pg_get_catalog_foreign_keys() -> record [stable strict returns_set cost(10.0) rows(250.0) names(&["fktable", "fkcols", "pktable", "pkcols", "is_array", "is_opt"]) outs(b"oooooo", &[crate::oids::regclass, crate::oids::_text, crate::oids::regclass, crate::oids::_text, crate::oids::bool, crate::oids::bool])] { session PgGetCatalogForeignKeys }
    2289 pg_options_to_table(_text) -> record [stable strict returns_set rows(3.0) names(&["options_array", "option_name", "option_value"]) outs(b"ioo", &[crate::oids::_text, crate::oids::text, crate::oids::text])] { session PgOptionsToTable }
    1619 pg_typeof(any) -> regtype [stable] { session PgTypeof }
    3162 pg_collation_for(any) -> text [stable] { session PgCollationFor }
    1264 pg_char_to_encoding(name) -> int4 [stable strict] { session PgCharToEncoding }
    1597 pg_encoding_to_char(int4) -> name [stable strict] { session PgEncodingToChar }
    2319 pg_encoding_max_length(int4) -> int4 [immutable strict] { session PgEncodingMaxLength }
    6315 pg_basetype(regtype) -> regtype [stable strict] { session PgBasetype }
    1215 obj_description(oid, name) -> text [stable strict cost(100.0)] { session ObjDescription }
    1348 obj_description(oid) -> text [stable strict cost(100.0)] { session ObjDescription }
    1216 col_description(oid, int4) -> text [stable strict cost(100.0)] { session ColDescription }
    1993 shobj_description(oid, name) -> text [stable strict cost(100.0)] { session ShobjDescription }
    3537 pg_describe_object(oid, oid, int4) -> text [stable strict] { session PgDescribeObject }
    3839 pg_identify_object(oid, oid, int4) -> record [stable strict names(&["classid", "objid", "objsubid", "type", "schema", "name", "identity"]) outs(b"iiioooo", &[crate::oids::oid, crate::oids::oid, crate::oids::int4, crate::oids::text, crate::oids::text, crate::oids::text, crate::oids::text])] { session PgIdentifyObject }
    3382 pg_identify_object_as_address(oid, oid, int4) -> record [stable strict names(&["classid", "objid", "objsubid", "type", "object_names", "object_args"]) outs(b"iiiooo", &[crate::oids::oid, crate::oids::oid, crate::oids::int4, crate::oids::text, crate::oids::_text, crate::oids::_text])] { session PgIdentifyObjectAsAddress }
    3954 pg_get_object_address(text, _text, _text) -> record [stable strict names(&["type", "object_names", "object_args", "classid", "objid", "objsubid"]) outs(b"iiiooo", &[crate::oids::text, crate::oids::_text, crate::oids::_text, crate::oids::oid, crate::oids::oid, crate::oids::int4])] { session PgGetObjectAddress }
    2325 pg_relation_size(regclass) -> int8 [strict] { session PgRelationSize }
    2332 pg_relation_size(regclass, text) -> int8 [strict] { session PgRelationSize }
    2997 pg_table_size(regclass) -> int8 [strict] { session PgTableSize }
    2286 pg_total_relation_size(regclass) -> int8 [strict] { session PgTotalRelationSize }
    2998 pg_indexes_size(regclass) -> int8 [strict] { session PgIndexesSize }
    2168 pg_database_size(name) -> int8 [strict] { session PgDatabaseSize }
    2324 pg_database_size(oid) -> int8 [strict] { session PgDatabaseSize }
    2322 pg_tablespace_size(oid) -> int8 [strict] { session PgTablespaceSize }
    2323 pg_tablespace_size(name) -> int8 [strict] { session PgTablespaceSize }
    2999 pg_relation_filenode(regclass) -> oid [stable strict] { session PgRelationFilenode }
    3034 pg_relation_filepath(regclass) -> text [stable strict] { session PgRelationFilepath }
    3454 pg_filenode_relation(oid, oid) -> regclass [stable strict] { session PgFilenodeRelation }
    2556 pg_tablespace_databases(oid) -> oid [stable strict returns_set rows(1000.0)] { session PgTablespaceDatabases }
    3778 pg_tablespace_location(oid) -> text [stable strict] { session PgTablespaceLocation }
    3842 pg_relation_is_updatable(regclass, bool) -> int4 [stable strict cost(10.0)] { session PgRelationIsUpdatable }
    3843 pg_column_is_updatable(regclass, int2, bool) -> bool [stable strict cost(10.0)] { session PgColumnIsUpdatable }
    3789 gin_clean_pending_list(regclass) -> int8 [strict] { session GinCleanPendingList }
    637 pg_index_has_property(regclass, text) -> bool [stable strict] { session PgIndexHasProperty }
    636 pg_indexam_has_property(oid, text) -> bool [stable strict] { session PgIndexamHasProperty }
    638 pg_index_column_has_property(regclass, int4, text) -> bool [stable strict] { session PgIndexColumnHasProperty }
    1269 pg_column_size(any) -> int4 [stable strict] { session PgColumnSize }
    2121 pg_column_compression(any) -> text [stable strict] { session PgColumnCompression }
    676 pg_indexam_progress_phasename(oid, int8) -> text [immutable strict] { session PgIndexamProgressPhasename }
    3952 brin_summarize_new_values(regclass) -> int4 [strict parallel_unsafe] { session BrinSummarizeNewValues }
    3999 brin_summarize_range(regclass, int8) -> int4 [strict parallel_unsafe] { session BrinSummarizeRange }
    4014 brin_desummarize_range(regclass, int8) -> void [strict parallel_unsafe] { session BrinDesummarizeRange }
    338 amvalidate(oid) -> bool [strict] { session Amvalidate }
    6348 has_largeobject_privilege(name, oid, text) -> bool [stable strict cost(10.0)] { session HasLargeobjectPrivilege }
    6349 has_largeobject_privilege(oid, text) -> bool [stable strict cost(10.0)] { session HasLargeobjectPrivilege }
    6350 has_largeobject_privilege(oid, oid, text) -> bool [stable strict cost(10.0)] { session HasLargeobjectPrivilege }
    715 lo_create(oid) -> oid [strict parallel_unsafe] { session LoCreate }
    764 lo_import(text) -> oid [strict parallel_unsafe] { session LoImport }
    765 lo_export(oid, text) -> int4 [strict parallel_unsafe] { session LoExport }
    767 lo_import(text, oid) -> oid [strict parallel_unsafe] { session LoImport }
    952 lo_open(oid, int4) -> int4 [strict parallel_unsafe] { session LoOpen }
    953 lo_close(int4) -> int4 [strict parallel_unsafe] { session LoClose }
    954 loread(int4, int4) -> bytea [strict parallel_unsafe] { session Loread }
    955 lowrite(int4, bytea) -> int4 [strict parallel_unsafe] { session Lowrite }
    956 lo_lseek(int4, int4, int4) -> int4 [strict parallel_unsafe] { session LoLseek }
    957 lo_creat(int4) -> oid [strict parallel_unsafe] { session LoCreat }
    958 lo_tell(int4) -> int4 [strict parallel_unsafe] { session LoTell }
    964 lo_unlink(oid) -> int4 [strict parallel_unsafe] { session LoUnlink }
    1004 lo_truncate(int4, int4) -> int4 [strict parallel_unsafe] { session LoTruncate }
    3170 lo_lseek64(int4, int8, int4) -> int8 [strict parallel_unsafe] { session LoLseek64 }
    3171 lo_tell64(int4) -> int8 [strict parallel_unsafe] { session LoTell64 }
    3172 lo_truncate64(int4, int8) -> int4 [strict parallel_unsafe] { session LoTruncate64 }
    3457 lo_from_bytea(oid, bytea) -> oid [strict parallel_unsafe] { session LoFromBytea }
    3458 lo_get(oid) -> bytea [strict parallel_unsafe] { session LoGet }
    3459 lo_get(oid, int8, int4) -> bytea [strict parallel_unsafe] { session LoGet }
    3460 lo_put(oid, int8, bytea) -> void [strict parallel_unsafe] { session LoPut }
    1922 has_table_privilege(name, text, text) -> bool [stable strict] { session HasTablePrivilege }
    1923 has_table_privilege(name, oid, text) -> bool [stable strict] { session HasTablePrivilege }
    1924 has_table_privilege(oid, text, text) -> bool [stable strict] { session HasTablePrivilege }
    1925 has_table_privilege(oid, oid, text) -> bool [stable strict] { session HasTablePrivilege }
    1926 has_table_privilege(text, text) -> bool [stable strict] { session HasTablePrivilege }
    1927 has_table_privilege(oid, text) -> bool [stable strict] { session HasTablePrivilege }
    3012 has_column_privilege(name, text, text, text) -> bool [stable strict] { session HasColumnPrivilege }
    3013 has_column_privilege(name, text, int2, text) -> bool [stable strict] { session HasColumnPrivilege }
    3014 has_column_privilege(name, oid, text, text) -> bool [stable strict] { session HasColumnPrivilege }
    3015 has_column_privilege(name, oid, int2, text) -> bool [stable strict] { session HasColumnPrivilege }
    3016 has_column_privilege(oid, text, text, text) -> bool [stable strict] { session HasColumnPrivilege }
    3017 has_column_privilege(oid, text, int2, text) -> bool [stable strict] { session HasColumnPrivilege }
    3018 has_column_privilege(oid, oid, text, text) -> bool [stable strict] { session HasColumnPrivilege }
    3019 has_column_privilege(oid, oid, int2, text) -> bool [stable strict] { session HasColumnPrivilege }
    3020 has_column_privilege(text, text, text) -> bool [stable strict] { session HasColumnPrivilege }
    3021 has_column_privilege(text, int2, text) -> bool [stable strict] { session HasColumnPrivilege }
    3022 has_column_privilege(oid, text, text) -> bool [stable strict] { session HasColumnPrivilege }
    3023 has_column_privilege(oid, int2, text) -> bool [stable strict] { session HasColumnPrivilege }
    3024 has_any_column_privilege(name, text, text) -> bool [stable strict cost(10.0)] { session HasAnyColumnPrivilege }
    3025 has_any_column_privilege(name, oid, text) -> bool [stable strict cost(10.0)] { session HasAnyColumnPrivilege }
    3026 has_any_column_privilege(oid, text, text) -> bool [stable strict cost(10.0)] { session HasAnyColumnPrivilege }
    3027 has_any_column_privilege(oid, oid, text) -> bool [stable strict cost(10.0)] { session HasAnyColumnPrivilege }
    3028 has_any_column_privilege(text, text) -> bool [stable strict cost(10.0)] { session HasAnyColumnPrivilege }
    3029 has_any_column_privilege(oid, text) -> bool [stable strict cost(10.0)] { session HasAnyColumnPrivilege }
    2268 has_schema_privilege(name, text, text) -> bool [stable strict] { session HasSchemaPrivilege }
    2269 has_schema_privilege(name, oid, text) -> bool [stable strict] { session HasSchemaPrivilege }
    2270 has_schema_privilege(oid, text, text) -> bool [stable strict] { session HasSchemaPrivilege }
    2271 has_schema_privilege(oid, oid, text) -> bool [stable strict] { session HasSchemaPrivilege }
    2272 has_schema_privilege(text, text) -> bool [stable strict] { session HasSchemaPrivilege }
    2273 has_schema_privilege(oid, text) -> bool [stable strict] { session HasSchemaPrivilege }
    2250 has_database_privilege(name, text, text) -> bool [stable strict] { session HasDatabasePrivilege }
    2251 has_database_privilege(name, oid, text) -> bool [stable strict] { session HasDatabasePrivilege }
    2252 has_database_privilege(oid, text, text) -> bool [stable strict] { session HasDatabasePrivilege }
    2253 has_database_privilege(oid, oid, text) -> bool [stable strict] { session HasDatabasePrivilege }
    2254 has_database_privilege(text, text) -> bool [stable strict] { session HasDatabasePrivilege }
    2255 has_database_privilege(oid, text) -> bool [stable strict] { session HasDatabasePrivilege }
    2256 has_function_privilege(name, text, text) -> bool [stable strict] { session HasFunctionPrivilege }
    2257 has_function_privilege(name, oid, text) -> bool [stable strict] { session HasFunctionPrivilege }
    2258 has_function_privilege(oid, text, text) -> bool [stable strict] { session HasFunctionPrivilege }
    2259 has_function_privilege(oid, oid, text) -> bool [stable strict] { session HasFunctionPrivilege }
    2260 has_function_privilege(text, text) -> bool [stable strict] { session HasFunctionPrivilege }
    2261 has_function_privilege(oid, text) -> bool [stable strict] { session HasFunctionPrivilege }
    2181 has_sequence_privilege(name, text, text) -> bool [stable strict] { session HasSequencePrivilege }
    2182 has_sequence_privilege(name, oid, text) -> bool [stable strict] { session HasSequencePrivilege }
    2183 has_sequence_privilege(oid, text, text) -> bool [stable strict] { session HasSequencePrivilege }
    2184 has_sequence_privilege(oid, oid, text) -> bool [stable strict] { session HasSequencePrivilege }
    2185 has_sequence_privilege(text, text) -> bool [stable strict] { session HasSequencePrivilege }
    2186 has_sequence_privilege(oid, text) -> bool [stable strict] { session HasSequencePrivilege }
    2390 has_tablespace_privilege(name, text, text) -> bool [stable strict] { session HasTablespacePrivilege }
    2391 has_tablespace_privilege(name, oid, text) -> bool [stable strict] { session HasTablespacePrivilege }
    2392 has_tablespace_privilege(oid, text, text) -> bool [stable strict] { session HasTablespacePrivilege }
    2393 has_tablespace_privilege(oid, oid, text) -> bool [stable strict] { session HasTablespacePrivilege }
    2394 has_tablespace_privilege(text, text) -> bool [stable strict] { session HasTablespacePrivilege }
    2395 has_tablespace_privilege(oid, text) -> bool [stable strict] { session HasTablespacePrivilege }
    2262 has_language_privilege(name, text, text) -> bool [stable strict] { session HasLanguagePrivilege }
    2263 has_language_privilege(name, oid, text) -> bool [stable strict] { session HasLanguagePrivilege }
    2264 has_language_privilege(oid, text, text) -> bool [stable strict] { session HasLanguagePrivilege }
    2265 has_language_privilege(oid, oid, text) -> bool [stable strict] { session HasLanguagePrivilege }
    2266 has_language_privilege(text, text) -> bool [stable strict] { session HasLanguagePrivilege }
    2267 has_language_privilege(oid, text) -> bool [stable strict] { session HasLanguagePrivilege }
    3138 has_type_privilege(name, text, text) -> bool [stable strict] { session HasTypePrivilege }
    3139 has_type_privilege(name, oid, text) -> bool [stable strict] { session HasTypePrivilege }
    3140 has_type_privilege(oid, text, text) -> bool [stable strict] { session HasTypePrivilege }
    3141 has_type_privilege(oid, oid, text) -> bool [stable strict] { session HasTypePrivilege }
    3142 has_type_privilege(text, text) -> bool [stable strict] { session HasTypePrivilege }
    3143 has_type_privilege(oid, text) -> bool [stable strict] { session HasTypePrivilege }
    6205 has_parameter_privilege(name, text, text) -> bool [stable strict] { session HasParameterPrivilege }
    6206 has_parameter_privilege(oid, text, text) -> bool [stable strict] { session HasParameterPrivilege }
    6207 has_parameter_privilege(text, text) -> bool [stable strict] { session HasParameterPrivilege }
    3000 has_foreign_data_wrapper_privilege(name, text, text) -> bool [stable strict] { session HasForeignDataWrapperPrivilege }
    3001 has_foreign_data_wrapper_privilege(name, oid, text) -> bool [stable strict] { session HasForeignDataWrapperPrivilege }
    3002 has_foreign_data_wrapper_privilege(oid, text, text) -> bool [stable strict] { session HasForeignDataWrapperPrivilege }
    3003 has_foreign_data_wrapper_privilege(oid, oid, text) -> bool [stable strict] { session HasForeignDataWrapperPrivilege }
    3004 has_foreign_data_wrapper_privilege(text, text) -> bool [stable strict] { session HasForeignDataWrapperPrivilege }
    3005 has_foreign_data_wrapper_privilege(oid, text) -> bool [stable strict] { session HasForeignDataWrapperPrivilege }
    3006 has_server_privilege(name, text, text) -> bool [stable strict] { session HasServerPrivilege }
    3007 has_server_privilege(name, oid, text) -> bool [stable strict] { session HasServerPrivilege }
    3008 has_server_privilege(oid, text, text) -> bool [stable strict] { session HasServerPrivilege }
    3009 has_server_privilege(oid, oid, text) -> bool [stable strict] { session HasServerPrivilege }
    3010 has_server_privilege(text, text) -> bool [stable strict] { session HasServerPrivilege }
    3011 has_server_privilege(oid, text) -> bool [stable strict] { session HasServerPrivilege }
    2705 pg_has_role(name, name, text) -> bool [stable strict] { session PgHasRole }
    2706 pg_has_role(name, oid, text) -> bool [stable strict] { session PgHasRole }
    2707 pg_has_role(oid, name, text) -> bool [stable strict] { session PgHasRole }
    2708 pg_has_role(oid, oid, text) -> bool [stable strict] { session PgHasRole }
    2709 pg_has_role(name, text) -> bool [stable strict] { session PgHasRole }
    2710 pg_has_role(oid, text) -> bool [stable strict] { session PgHasRole }
    3298 row_security_active(oid) -> bool [stable strict] { session RowSecurityActive }
    3299 row_security_active(text) -> bool [stable strict] { session RowSecurityActive }
    3943 acldefault(char, oid) -> _aclitem [immutable strict] { session Acldefault }
    1689 aclexplode(_aclitem) -> record [stable strict returns_set rows(10.0) names(&["acl", "grantor", "grantee", "privilege_type", "is_grantable"]) outs(b"ioooo", &[crate::oids::_aclitem, crate::oids::oid, crate::oids::oid, crate::oids::text, crate::oids::bool])] { session Aclexplode }
    6385 pg_get_acl(oid, oid, int4) -> _aclitem [stable strict names(&["classid", "objid", "objsubid"])] { session PgGetAcl }
    1365 makeaclitem(oid, oid, text, bool) -> aclitem [immutable strict] { session Makeaclitem }
    2943 txid_current() -> int8 [stable strict parallel_unsafe] { session TxidCurrent }
    3348 txid_current_if_assigned() -> int8 [stable strict parallel_unsafe] { session TxidCurrentIfAssigned }
    3360 txid_status(int8) -> text [strict] { session TxidStatus }
    5059 pg_current_xact_id() -> xid8 [stable strict parallel_unsafe] { session PgCurrentXactId }
    5060 pg_current_xact_id_if_assigned() -> xid8 [stable strict parallel_unsafe] { session PgCurrentXactIdIfAssigned }
    5066 pg_xact_status(xid8) -> text [strict] { session PgXactStatus }
    2944 txid_current_snapshot() -> txid_snapshot [stable strict] { session PgCurrentSnapshot }
    5061 pg_current_snapshot() -> pg_snapshot [stable strict] { session PgCurrentSnapshot }
    3581 pg_xact_commit_timestamp(xid) -> timestamptz [strict] { session PgXactCommitTimestamp }
    3583 pg_last_committed_xact() -> record [strict names(&["xid", "timestamp", "roident"]) outs(b"ooo", &[crate::oids::xid, crate::oids::timestamptz, crate::oids::oid])] { session PgLastCommittedXact }
    1181 age(xid) -> int4 [stable strict] { session XidAge }
    3939 mxid_age(xid) -> int4 [stable strict] { session MxidAge }
    3819 pg_get_multixact_members(xid) -> record [strict returns_set rows(1000.0) names(&["multixid", "xid", "mode"]) outs(b"ioo", &[crate::oids::xid, crate::oids::xid, crate::oids::text])] { session PgGetMultixactMembers }
    1574 nextval(regclass) -> int8 [strict parallel_unsafe] { session Nextval }
    1575 currval(regclass) -> int8 [strict parallel_unsafe] { session Currval }
    1576 setval(regclass, int8) -> int8 [strict parallel_unsafe] { session Setval }
    1765 setval(regclass, int8, bool) -> int8 [strict parallel_unsafe] { session Setval }
    2559 lastval() -> int8 [strict parallel_unsafe] { session Lastval }
    3078 pg_sequence_parameters(oid) -> record [stable strict names(&["sequence_oid", "start_value", "minimum_value", "maximum_value", "increment", "cycle_option", "cache_size", "data_type"]) outs(b"iooooooo", &[crate::oids::oid, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::bool, crate::oids::int8, crate::oids::oid])] { session PgSequenceParameters }
    4032 pg_sequence_last_value(regclass) -> int8 [strict parallel_unsafe] { session PgSequenceLastValue }
    6427 pg_get_sequence_data(regclass) -> record [strict parallel_unsafe names(&["sequence_oid", "last_value", "is_called"]) outs(b"ioo", &[crate::oids::regclass, crate::oids::int8, crate::oids::bool])] { session PgGetSequenceData }
    2880 pg_advisory_lock(int8) -> void [strict restricted] { session PgAdvisoryLock }
    2886 pg_advisory_lock(int4, int4) -> void [strict restricted] { session PgAdvisoryLock }
    2881 pg_advisory_lock_shared(int8) -> void [strict restricted] { session PgAdvisoryLockShared }
    2887 pg_advisory_lock_shared(int4, int4) -> void [strict restricted] { session PgAdvisoryLockShared }
    2884 pg_advisory_unlock(int8) -> bool [strict restricted] { session PgAdvisoryUnlock }
    2890 pg_advisory_unlock(int4, int4) -> bool [strict restricted] { session PgAdvisoryUnlock }
    2885 pg_advisory_unlock_shared(int8) -> bool [strict restricted] { session PgAdvisoryUnlockShared }
    2891 pg_advisory_unlock_shared(int4, int4) -> bool [strict restricted] { session PgAdvisoryUnlockShared }
    2892 pg_advisory_unlock_all() -> void [strict restricted] { session PgAdvisoryUnlockAll }
    3089 pg_advisory_xact_lock(int8) -> void [strict restricted] { session PgAdvisoryXactLock }
    3093 pg_advisory_xact_lock(int4, int4) -> void [strict restricted] { session PgAdvisoryXactLock }
    3090 pg_advisory_xact_lock_shared(int8) -> void [strict restricted] { session PgAdvisoryXactLockShared }
    3094 pg_advisory_xact_lock_shared(int4, int4) -> void [strict restricted] { session PgAdvisoryXactLockShared }
    2882 pg_try_advisory_lock(int8) -> bool [strict restricted] { session PgTryAdvisoryLock }
    2888 pg_try_advisory_lock(int4, int4) -> bool [strict restricted] { session PgTryAdvisoryLock }
    2883 pg_try_advisory_lock_shared(int8) -> bool [strict restricted] { session PgTryAdvisoryLockShared }
    2889 pg_try_advisory_lock_shared(int4, int4) -> bool [strict restricted] { session PgTryAdvisoryLockShared }
    3091 pg_try_advisory_xact_lock(int8) -> bool [strict restricted] { session PgTryAdvisoryXactLock }
    3095 pg_try_advisory_xact_lock(int4, int4) -> bool [strict restricted] { session PgTryAdvisoryXactLock }
    3092 pg_try_advisory_xact_lock_shared(int8) -> bool [strict restricted] { session PgTryAdvisoryXactLockShared }
    3096 pg_try_advisory_xact_lock_shared(int4, int4) -> bool [strict restricted] { session PgTryAdvisoryXactLockShared }
    1371 pg_lock_status() -> record [strict returns_set rows(1000.0) names(&["locktype", "database", "relation", "page", "tuple", "virtualxid", "transactionid", "classid", "objid", "objsubid", "virtualtransaction", "pid", "mode", "granted", "fastpath", "waitstart"]) outs(b"oooooooooooooooo", &[crate::oids::text, crate::oids::oid, crate::oids::oid, crate::oids::int4, crate::oids::int2, crate::oids::text, crate::oids::xid, crate::oids::oid, crate::oids::oid, crate::oids::int2, crate::oids::text, crate::oids::int4, crate::oids::text, crate::oids::bool, crate::oids::bool, crate::oids::timestamptz])] { session PgLockStatus }
    2561 pg_blocking_pids(int4) -> _int4 [strict] { session PgBlockingPids }
    3376 pg_safe_snapshot_blocking_pids(int4) -> _int4 [strict] { session PgSafeSnapshotBlockingPids }
    3378 pg_isolation_test_session_is_blocked(int4, _int4) -> bool [strict] { session PgIsolationTestSessionIsBlocked }
    2171 pg_cancel_backend(int4) -> bool [strict] { session PgCancelBackend }
    2096 pg_terminate_backend(int4, int8) -> bool [strict names(&["pid", "timeout"]) defaults(&["0"])] { session PgTerminateBackend }
    2621 pg_reload_conf() -> bool [strict] { session PgReloadConf }
    2622 pg_rotate_logfile() -> bool [strict] { session PgRotateLogfile }
    3436 pg_promote(bool, int4) -> bool [strict names(&["wait", "wait_seconds"]) defaults(&["true", "60"])] { session PgPromote }
    2848 pg_switch_wal() -> pg_lsn [strict] { session PgSwitchWal }
    3098 pg_create_restore_point(text) -> pg_lsn [strict] { session PgCreateRestorePoint }
    3071 pg_wal_replay_pause() -> void [strict] { session PgWalReplayPause }
    3072 pg_wal_replay_resume() -> void [strict] { session PgWalReplayResume }
    3073 pg_is_wal_replay_paused() -> bool [strict] { session PgIsWalReplayPaused }
    1137 pg_get_wal_replay_pause_state() -> text [strict] { session PgGetWalReplayPauseState }
    6213 pg_split_walfile_name(text) -> record [immutable strict names(&["file_name", "segment_number", "timeline_id"]) outs(b"ioo", &[crate::oids::text, crate::oids::numeric, crate::oids::int8])] { session PgSplitWalfileName }
    2849 pg_current_wal_lsn() -> pg_lsn [strict] { session PgCurrentWalLsn }
    2852 pg_current_wal_insert_lsn() -> pg_lsn [strict] { session PgCurrentWalInsertLsn }
    3330 pg_current_wal_flush_lsn() -> pg_lsn [strict] { session PgCurrentWalFlushLsn }
    3820 pg_last_wal_receive_lsn() -> pg_lsn [strict] { session PgLastWalReceiveLsn }
    3821 pg_last_wal_replay_lsn() -> pg_lsn [strict] { session PgLastWalReplayLsn }
    3830 pg_last_xact_replay_timestamp() -> timestamptz [strict] { session PgLastXactReplayTimestamp }
    2851 pg_walfile_name(pg_lsn) -> text [immutable strict] { session PgWalfileName }
    2850 pg_walfile_name_offset(pg_lsn) -> record [immutable strict names(&["lsn", "file_name", "file_offset"]) outs(b"ioo", &[crate::oids::pg_lsn, crate::oids::text, crate::oids::int4])] { session PgWalfileNameOffset }
    3809 pg_export_snapshot() -> text [strict parallel_unsafe] { session PgExportSnapshot }
    4543 pg_log_backend_memory_contexts(int4) -> bool [strict] { session PgLogBackendMemoryContexts }
    315 pg_jit_available() -> bool [strict] { session PgJitAvailable }
    2084 pg_show_all_settings() -> record [stable strict returns_set rows(1000.0) names(&["name", "setting", "unit", "category", "short_desc", "extra_desc", "context", "vartype", "source", "min_val", "max_val", "enumvals", "boot_val", "reset_val", "sourcefile", "sourceline", "pending_restart"]) outs(b"ooooooooooooooooo", &[crate::oids::text, crate::oids::text, crate::oids::text, crate::oids::text, crate::oids::text, crate::oids::text, crate::oids::text, crate::oids::text, crate::oids::text, crate::oids::text, crate::oids::text, crate::oids::_text, crate::oids::text, crate::oids::text, crate::oids::text, crate::oids::int4, crate::oids::bool])] { session PgShowAllSettings }
    6240 pg_settings_get_flags(text) -> _text [stable strict] { session PgSettingsGetFlags }
    3329 pg_show_all_file_settings() -> record [strict returns_set rows(1000.0) names(&["sourcefile", "sourceline", "seqno", "name", "setting", "applied", "error"]) outs(b"ooooooo", &[crate::oids::text, crate::oids::int4, crate::oids::int4, crate::oids::text, crate::oids::text, crate::oids::bool, crate::oids::text])] { session PgShowAllFileSettings }
    3401 pg_hba_file_rules() -> record [strict returns_set rows(1000.0) names(&["rule_number", "file_name", "line_number", "type", "database", "user_name", "address", "netmask", "auth_method", "options", "error"]) outs(b"ooooooooooo", &[crate::oids::int4, crate::oids::text, crate::oids::int4, crate::oids::text, crate::oids::_text, crate::oids::_text, crate::oids::text, crate::oids::text, crate::oids::text, crate::oids::_text, crate::oids::text])] { session PgHbaFileRules }
    2511 pg_cursor() -> record [stable strict restricted returns_set rows(1000.0) names(&["name", "statement", "is_holdable", "is_binary", "is_scrollable", "creation_time"]) outs(b"oooooo", &[crate::oids::text, crate::oids::text, crate::oids::bool, crate::oids::bool, crate::oids::bool, crate::oids::timestamptz])] { session PgCursor }
    2510 pg_prepared_statement() -> record [stable strict restricted returns_set rows(1000.0) names(&["name", "statement", "prepare_time", "parameter_types", "result_types", "from_sql", "generic_plans", "custom_plans"]) outs(b"oooooooo", &[crate::oids::text, crate::oids::text, crate::oids::timestamptz, crate::oids::_regtype, crate::oids::_regtype, crate::oids::bool, crate::oids::int8, crate::oids::int8])] { session PgPreparedStatement }
    1065 pg_prepared_xact() -> record [strict returns_set rows(1000.0) names(&["transaction", "gid", "prepared", "ownerid", "dbid"]) outs(b"ooooo", &[crate::oids::xid, crate::oids::text, crate::oids::timestamptz, crate::oids::oid, crate::oids::oid])] { session PgPreparedXact }
    2856 pg_timezone_names() -> record [stable strict returns_set rows(1000.0) names(&["name", "abbrev", "utc_offset", "is_dst"]) outs(b"oooo", &[crate::oids::text, crate::oids::text, crate::oids::interval, crate::oids::bool])] { session PgTimezoneNames }
    6401 pg_timezone_abbrevs_zone() -> record [stable strict returns_set rows(10.0) names(&["abbrev", "utc_offset", "is_dst"]) outs(b"ooo", &[crate::oids::text, crate::oids::interval, crate::oids::bool])] { session PgTimezoneAbbrevsZone }
    2599 pg_timezone_abbrevs_abbrevs() -> record [stable strict returns_set rows(1000.0) names(&["abbrev", "utc_offset", "is_dst"]) outs(b"ooo", &[crate::oids::text, crate::oids::interval, crate::oids::bool])] { session PgTimezoneAbbrevsAbbrevs }
    3082 pg_available_extensions() -> record [stable strict returns_set cost(10.0) rows(100.0) names(&["name", "default_version", "comment"]) outs(b"ooo", &[crate::oids::name, crate::oids::text, crate::oids::text])] { session PgAvailableExtensions }
    3083 pg_available_extension_versions() -> record [stable strict returns_set cost(10.0) rows(100.0) names(&["name", "version", "superuser", "trusted", "relocatable", "schema", "requires", "comment"]) outs(b"oooooooo", &[crate::oids::name, crate::oids::text, crate::oids::bool, crate::oids::bool, crate::oids::bool, crate::oids::name, crate::oids::_name, crate::oids::text])] { session PgAvailableExtensionVersions }
    3400 pg_config() -> record [stable strict restricted returns_set rows(23.0) names(&["name", "setting"]) outs(b"oo", &[crate::oids::text, crate::oids::text])] { session PgConfig }
    3441 pg_control_system() -> record [strict names(&["pg_control_version", "catalog_version_no", "system_identifier", "pg_control_last_modified"]) outs(b"oooo", &[crate::oids::int4, crate::oids::int4, crate::oids::int8, crate::oids::timestamptz])] { session PgControlSystem }
    3442 pg_control_checkpoint() -> record [strict names(&["checkpoint_lsn", "redo_lsn", "redo_wal_file", "timeline_id", "prev_timeline_id", "full_page_writes", "next_xid", "next_oid", "next_multixact_id", "next_multi_offset", "oldest_xid", "oldest_xid_dbid", "oldest_active_xid", "oldest_multi_xid", "oldest_multi_dbid", "oldest_commit_ts_xid", "newest_commit_ts_xid", "checkpoint_time"]) outs(b"oooooooooooooooooo", &[crate::oids::pg_lsn, crate::oids::pg_lsn, crate::oids::text, crate::oids::int4, crate::oids::int4, crate::oids::bool, crate::oids::text, crate::oids::oid, crate::oids::xid, crate::oids::xid, crate::oids::xid, crate::oids::oid, crate::oids::xid, crate::oids::xid, crate::oids::oid, crate::oids::xid, crate::oids::xid, crate::oids::timestamptz])] { session PgControlCheckpoint }
    3443 pg_control_recovery() -> record [strict names(&["min_recovery_end_lsn", "min_recovery_end_timeline", "backup_start_lsn", "backup_end_lsn", "end_of_backup_record_required"]) outs(b"ooooo", &[crate::oids::pg_lsn, crate::oids::int4, crate::oids::pg_lsn, crate::oids::pg_lsn, crate::oids::bool])] { session PgControlRecovery }
    3444 pg_control_init() -> record [strict names(&["max_data_alignment", "database_block_size", "blocks_per_segment", "wal_block_size", "bytes_per_wal_segment", "max_identifier_length", "max_index_columns", "max_toast_chunk_size", "large_object_chunk_size", "float8_pass_by_value", "data_page_checksum_version", "default_char_signedness"]) outs(b"oooooooooooo", &[crate::oids::int4, crate::oids::int4, crate::oids::int4, crate::oids::int4, crate::oids::int4, crate::oids::int4, crate::oids::int4, crate::oids::int4, crate::oids::int4, crate::oids::bool, crate::oids::int4, crate::oids::bool])] { session PgControlInit }
    1937 pg_stat_get_backend_pid(int4) -> int4 [stable strict restricted] { session PgStatGetBackendPid }
    1936 pg_stat_get_backend_idset() -> int4 [stable strict restricted returns_set rows(100.0)] { session PgStatGetBackendIdset }
    2274 pg_stat_reset() -> void [] { session PgStatReset }
    3775 pg_stat_reset_shared(text) -> void [names(&["target"]) defaults(&["NULL"])] { session PgStatResetShared }
    2137 pg_stat_force_next_flush() -> void [restricted] { session PgStatForceNextFlush }
    2230 pg_stat_clear_snapshot() -> void [restricted] { session PgStatClearSnapshot }
    1928 pg_stat_get_numscans(oid) -> int8 [stable strict restricted] { session PgStatGetNumscans }
    1929 pg_stat_get_tuples_returned(oid) -> int8 [stable strict restricted] { session PgStatGetTuplesReturned }
    1930 pg_stat_get_tuples_fetched(oid) -> int8 [stable strict restricted] { session PgStatGetTuplesFetched }
    1931 pg_stat_get_tuples_inserted(oid) -> int8 [stable strict restricted] { session PgStatGetTuplesInserted }
    1932 pg_stat_get_tuples_updated(oid) -> int8 [stable strict restricted] { session PgStatGetTuplesUpdated }
    2844 pg_stat_get_db_blk_read_time(oid) -> float8 [stable strict restricted] { session PgStatGetDbBlkReadTime }
    2845 pg_stat_get_db_blk_write_time(oid) -> float8 [stable strict restricted] { session PgStatGetDbBlkWriteTime }
    3037 pg_stat_get_xact_numscans(oid) -> int8 [strict restricted] { session PgStatGetXactNumscans }
    3038 pg_stat_get_xact_tuples_returned(oid) -> int8 [strict restricted] { session PgStatGetXactTuplesReturned }
    3039 pg_stat_get_xact_tuples_fetched(oid) -> int8 [strict restricted] { session PgStatGetXactTuplesFetched }
    3040 pg_stat_get_xact_tuples_inserted(oid) -> int8 [strict restricted] { session PgStatGetXactTuplesInserted }
    3041 pg_stat_get_xact_tuples_updated(oid) -> int8 [strict restricted] { session PgStatGetXactTuplesUpdated }
    3042 pg_stat_get_xact_tuples_deleted(oid) -> int8 [strict restricted] { session PgStatGetXactTuplesDeleted }
    3043 pg_stat_get_xact_tuples_hot_updated(oid) -> int8 [strict restricted] { session PgStatGetXactTuplesHotUpdated }
    6218 pg_stat_get_xact_tuples_newpage_updated(oid) -> int8 [strict restricted] { session PgStatGetXactTuplesNewpageUpdated }
    3044 pg_stat_get_xact_blocks_fetched(oid) -> int8 [strict restricted] { session PgStatGetXactBlocksFetched }
    3045 pg_stat_get_xact_blocks_hit(oid) -> int8 [strict restricted] { session PgStatGetXactBlocksHit }
    3074 pg_stat_get_db_stat_reset_time(oid) -> timestamptz [stable strict restricted] { session PgStatGetDbStatResetTime }
    3150 pg_stat_get_db_temp_files(oid) -> int8 [stable strict restricted] { session PgStatGetDbTempFiles }
    3151 pg_stat_get_db_temp_bytes(oid) -> int8 [stable strict restricted] { session PgStatGetDbTempBytes }
    6188 pg_stat_get_db_sessions(oid) -> int8 [stable strict restricted] { session PgStatGetDbSessions }
    6217 pg_stat_get_tuples_newpage_updated(oid) -> int8 [stable strict restricted] { session PgStatGetTuplesNewpageUpdated }
    6310 pg_stat_get_lastscan(oid) -> timestamptz [stable strict restricted] { session PgStatGetLastscan }
    6358 pg_stat_get_total_vacuum_time(oid) -> float8 [stable strict restricted] { session PgStatGetTotalVacuumTime }
    6359 pg_stat_get_total_autovacuum_time(oid) -> float8 [stable strict restricted] { session PgStatGetTotalAutovacuumTime }
    6360 pg_stat_get_total_analyze_time(oid) -> float8 [stable strict restricted] { session PgStatGetTotalAnalyzeTime }
    6361 pg_stat_get_total_autoanalyze_time(oid) -> float8 [stable strict restricted] { session PgStatGetTotalAutoanalyzeTime }
    3776 pg_stat_reset_single_table_counters(oid) -> void [strict] { session PgStatResetSingleTableCounters }
    1933 pg_stat_get_tuples_deleted(oid) -> int8 [stable strict restricted] { session PgStatGetTuplesDeleted }
    1972 pg_stat_get_tuples_hot_updated(oid) -> int8 [stable strict restricted] { session PgStatGetTuplesHotUpdated }
    2878 pg_stat_get_live_tuples(oid) -> int8 [stable strict restricted] { session PgStatGetLiveTuples }
    2879 pg_stat_get_dead_tuples(oid) -> int8 [stable strict restricted] { session PgStatGetDeadTuples }
    3177 pg_stat_get_mod_since_analyze(oid) -> int8 [stable strict restricted] { session PgStatGetModSinceAnalyze }
    5053 pg_stat_get_ins_since_vacuum(oid) -> int8 [stable strict restricted] { session PgStatGetInsSinceVacuum }
    1934 pg_stat_get_blocks_fetched(oid) -> int8 [stable strict restricted] { session PgStatGetBlocksFetched }
    1935 pg_stat_get_blocks_hit(oid) -> int8 [stable strict restricted] { session PgStatGetBlocksHit }
    2781 pg_stat_get_last_vacuum_time(oid) -> timestamptz [stable strict restricted] { session PgStatGetLastVacuumTime }
    2782 pg_stat_get_last_autovacuum_time(oid) -> timestamptz [stable strict restricted] { session PgStatGetLastAutovacuumTime }
    2783 pg_stat_get_last_analyze_time(oid) -> timestamptz [stable strict restricted] { session PgStatGetLastAnalyzeTime }
    2784 pg_stat_get_last_autoanalyze_time(oid) -> timestamptz [stable strict restricted] { session PgStatGetLastAutoanalyzeTime }
    3054 pg_stat_get_vacuum_count(oid) -> int8 [stable strict restricted] { session PgStatGetVacuumCount }
    3055 pg_stat_get_autovacuum_count(oid) -> int8 [stable strict restricted] { session PgStatGetAutovacuumCount }
    3056 pg_stat_get_analyze_count(oid) -> int8 [stable strict restricted] { session PgStatGetAnalyzeCount }
    3057 pg_stat_get_autoanalyze_count(oid) -> int8 [stable strict restricted] { session PgStatGetAutoanalyzeCount }
    1941 pg_stat_get_db_numbackends(oid) -> int4 [stable strict restricted] { session PgStatGetDbNumbackends }
    1942 pg_stat_get_db_xact_commit(oid) -> int8 [stable strict restricted] { session PgStatGetDbXactCommit }
    1943 pg_stat_get_db_xact_rollback(oid) -> int8 [stable strict restricted] { session PgStatGetDbXactRollback }
    1944 pg_stat_get_db_blocks_fetched(oid) -> int8 [stable strict restricted] { session PgStatGetDbBlocksFetched }
    1945 pg_stat_get_db_blocks_hit(oid) -> int8 [stable strict restricted] { session PgStatGetDbBlocksHit }
    2758 pg_stat_get_db_tuples_returned(oid) -> int8 [stable strict restricted] { session PgStatGetDbTuplesReturned }
    2759 pg_stat_get_db_tuples_fetched(oid) -> int8 [stable strict restricted] { session PgStatGetDbTuplesFetched }
    2760 pg_stat_get_db_tuples_inserted(oid) -> int8 [stable strict restricted] { session PgStatGetDbTuplesInserted }
    2761 pg_stat_get_db_tuples_updated(oid) -> int8 [stable strict restricted] { session PgStatGetDbTuplesUpdated }
    2762 pg_stat_get_db_tuples_deleted(oid) -> int8 [stable strict restricted] { session PgStatGetDbTuplesDeleted }
    3152 pg_stat_get_db_deadlocks(oid) -> int8 [stable strict restricted] { session PgStatGetDbDeadlocks }
    1136 pg_stat_get_wal() -> record [stable restricted names(&["wal_records", "wal_fpi", "wal_bytes", "wal_buffers_full", "stats_reset"]) outs(b"ooooo", &[crate::oids::int8, crate::oids::int8, crate::oids::numeric, crate::oids::int8, crate::oids::timestamptz])] { session PgStatGetWal }
    2772 pg_stat_get_bgwriter_buf_written_clean() -> int8 [stable strict restricted] { session PgStatGetBgwriterBufWrittenClean }
    2773 pg_stat_get_bgwriter_maxwritten_clean() -> int8 [stable strict restricted] { session PgStatGetBgwriterMaxwrittenClean }
    2859 pg_stat_get_buf_alloc() -> int8 [stable strict restricted] { session PgStatGetBufAlloc }
    2771 pg_stat_get_checkpointer_buffers_written() -> int8 [stable strict restricted] { session PgStatGetCheckpointerBuffersWritten }
    2022 pg_stat_get_activity(int4) -> record [stable restricted returns_set rows(100.0) names(&["pid", "datid", "pid", "usesysid", "application_name", "state", "query", "wait_event_type", "wait_event", "xact_start", "query_start", "backend_start", "state_change", "client_addr", "client_hostname", "client_port", "backend_xid", "backend_xmin", "backend_type", "ssl", "sslversion", "sslcipher", "sslbits", "ssl_client_dn", "ssl_client_serial", "ssl_issuer_dn", "gss_auth", "gss_princ", "gss_enc", "gss_delegation", "leader_pid", "query_id"]) outs(b"iooooooooooooooooooooooooooooooo", &[crate::oids::int4, crate::oids::oid, crate::oids::int4, crate::oids::oid, crate::oids::text, crate::oids::text, crate::oids::text, crate::oids::text, crate::oids::text, crate::oids::timestamptz, crate::oids::timestamptz, crate::oids::timestamptz, crate::oids::timestamptz, crate::oids::inet, crate::oids::text, crate::oids::int4, crate::oids::xid, crate::oids::xid, crate::oids::text, crate::oids::bool, crate::oids::text, crate::oids::text, crate::oids::int4, crate::oids::text, crate::oids::numeric, crate::oids::text, crate::oids::bool, crate::oids::text, crate::oids::bool, crate::oids::bool, crate::oids::int4, crate::oids::int8])] { session PgStatGetActivity }
    2769 pg_stat_get_checkpointer_num_timed() -> int8 [stable strict restricted] { session PgStatGetCheckpointerNumTimed }
    2306 pg_stat_get_slru() -> record [stable restricted returns_set rows(100.0) names(&["name", "blks_zeroed", "blks_hit", "blks_read", "blks_written", "blks_exists", "flushes", "truncates", "stats_reset"]) outs(b"ooooooooo", &[crate::oids::text, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::timestamptz])] { session PgStatGetSlru }
    3318 pg_stat_get_progress_info(text) -> record [stable strict restricted returns_set rows(100.0) names(&["cmdtype", "pid", "datid", "relid", "param1", "param2", "param3", "param4", "param5", "param6", "param7", "param8", "param9", "param10", "param11", "param12", "param13", "param14", "param15", "param16", "param17", "param18", "param19", "param20"]) outs(b"iooooooooooooooooooooooo", &[crate::oids::text, crate::oids::int4, crate::oids::oid, crate::oids::oid, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::int8])] { session PgStatGetProgressInfo }
    6399 pg_get_aios() -> record [strict restricted returns_set rows(100.0) names(&["pid", "io_id", "io_generation", "state", "operation", "off", "length", "target", "handle_data_len", "raw_result", "result", "target_desc", "f_sync", "f_localmem", "f_buffered"]) outs(b"ooooooooooooooo", &[crate::oids::int4, crate::oids::int4, crate::oids::int8, crate::oids::text, crate::oids::text, crate::oids::int8, crate::oids::int8, crate::oids::text, crate::oids::int2, crate::oids::int4, crate::oids::text, crate::oids::text, crate::oids::bool, crate::oids::bool, crate::oids::bool])] { session PgGetAios }
    2282 pg_get_backend_memory_contexts() -> record [strict restricted returns_set rows(100.0) names(&["name", "ident", "type", "level", "path", "total_bytes", "total_nblocks", "free_bytes", "free_chunks", "used_bytes"]) outs(b"oooooooooo", &[crate::oids::text, crate::oids::text, crate::oids::text, crate::oids::int4, crate::oids::_int4, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::int8])] { session PgGetBackendMemoryContexts }
    5052 pg_get_shmem_allocations() -> record [strict returns_set rows(50.0) names(&["name", "off", "size", "allocated_size"]) outs(b"oooo", &[crate::oids::text, crate::oids::int8, crate::oids::int8, crate::oids::int8])] { session PgGetShmemAllocations }
    4100 pg_get_shmem_allocations_numa() -> record [strict returns_set rows(50.0) names(&["name", "numa_node", "size"]) outs(b"ooo", &[crate::oids::text, crate::oids::int4, crate::oids::int8])] { session PgGetShmemAllocationsNuma }
    6318 pg_get_wait_events() -> record [strict returns_set rows(250.0) names(&["type", "name", "description"]) outs(b"ooo", &[crate::oids::text, crate::oids::text, crate::oids::text])] { session PgGetWaitEvents }
    6250 pg_ident_file_mappings() -> record [strict returns_set rows(1000.0) names(&["map_number", "file_name", "line_number", "map_name", "sys_name", "pg_username", "error"]) outs(b"ooooooo", &[crate::oids::int4, crate::oids::text, crate::oids::int4, crate::oids::text, crate::oids::text, crate::oids::text, crate::oids::text])] { session PgIdentFileMappings }
    6003 pg_replication_origin_create(text) -> oid [strict parallel_unsafe] { session PgReplicationOriginCreate }
    6004 pg_replication_origin_drop(text) -> void [strict parallel_unsafe] { session PgReplicationOriginDrop }
    6005 pg_replication_origin_oid(text) -> oid [stable strict] { session PgReplicationOriginOid }
    6006 pg_replication_origin_session_setup(text) -> void [strict parallel_unsafe] { session PgReplicationOriginSessionSetup }
    6007 pg_replication_origin_session_reset() -> void [strict parallel_unsafe] { session PgReplicationOriginSessionReset }
    6008 pg_replication_origin_session_is_setup() -> bool [strict restricted] { session PgReplicationOriginSessionIsSetup }
    6009 pg_replication_origin_session_progress(bool) -> pg_lsn [strict parallel_unsafe] { session PgReplicationOriginSessionProgress }
    6010 pg_replication_origin_xact_setup(pg_lsn, timestamptz) -> void [strict restricted] { session PgReplicationOriginXactSetup }
    6011 pg_replication_origin_xact_reset() -> void [strict restricted] { session PgReplicationOriginXactReset }
    6012 pg_replication_origin_advance(text, pg_lsn) -> void [strict parallel_unsafe] { session PgReplicationOriginAdvance }
    6013 pg_replication_origin_progress(text, bool) -> pg_lsn [strict parallel_unsafe] { session PgReplicationOriginProgress }
    6014 pg_show_replication_origin_status() -> record [restricted returns_set rows(100.0) names(&["local_id", "external_id", "remote_lsn", "local_lsn"]) outs(b"oooo", &[crate::oids::oid, crate::oids::text, crate::oids::pg_lsn, crate::oids::pg_lsn])] { session PgShowReplicationOriginStatus }
    3195 pg_stat_get_archiver() -> record [stable restricted names(&["archived_count", "last_archived_wal", "last_archived_time", "failed_count", "last_failed_wal", "last_failed_time", "stats_reset"]) outs(b"ooooooo", &[crate::oids::int8, crate::oids::text, crate::oids::timestamptz, crate::oids::int8, crate::oids::text, crate::oids::timestamptz, crate::oids::timestamptz])] { session PgStatGetArchiver }
    1940 pg_stat_get_backend_activity(int4) -> text [stable strict restricted] { session PgStatGetBackendActivity }
    2094 pg_stat_get_backend_activity_start(int4) -> timestamptz [stable strict restricted] { session PgStatGetBackendActivityStart }
    1392 pg_stat_get_backend_client_addr(int4) -> inet [stable strict restricted] { session PgStatGetBackendClientAddr }
    1393 pg_stat_get_backend_client_port(int4) -> int4 [stable strict restricted] { session PgStatGetBackendClientPort }
    1938 pg_stat_get_backend_dbid(int4) -> oid [stable strict restricted] { session PgStatGetBackendDbid }
    6386 pg_stat_get_backend_io(int4) -> record [strict restricted returns_set rows(5.0) names(&["backend_pid", "backend_type", "object", "context", "reads", "read_bytes", "read_time", "writes", "write_bytes", "write_time", "writebacks", "writeback_time", "extends", "extend_bytes", "extend_time", "hits", "evictions", "reuses", "fsyncs", "fsync_time", "stats_reset"]) outs(b"ioooooooooooooooooooo", &[crate::oids::int4, crate::oids::text, crate::oids::text, crate::oids::text, crate::oids::int8, crate::oids::numeric, crate::oids::float8, crate::oids::int8, crate::oids::numeric, crate::oids::float8, crate::oids::int8, crate::oids::float8, crate::oids::int8, crate::oids::numeric, crate::oids::float8, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::float8, crate::oids::timestamptz])] { session PgStatGetBackendIo }
    1391 pg_stat_get_backend_start(int4) -> timestamptz [stable strict restricted] { session PgStatGetBackendStart }
    6107 pg_stat_get_backend_subxact(int4) -> record [stable strict restricted names(&["bid", "subxact_count", "subxact_overflowed"]) outs(b"ioo", &[crate::oids::int4, crate::oids::int4, crate::oids::bool])] { session PgStatGetBackendSubxact }
    1939 pg_stat_get_backend_userid(int4) -> oid [stable strict restricted] { session PgStatGetBackendUserid }
    2853 pg_stat_get_backend_wait_event(int4) -> text [stable strict restricted] { session PgStatGetBackendWaitEvent }
    2788 pg_stat_get_backend_wait_event_type(int4) -> text [stable strict restricted] { session PgStatGetBackendWaitEventType }
    6313 pg_stat_get_backend_wal(int4) -> record [strict restricted names(&["backend_pid", "wal_records", "wal_fpi", "wal_bytes", "wal_buffers_full", "stats_reset"]) outs(b"iooooo", &[crate::oids::int4, crate::oids::int8, crate::oids::int8, crate::oids::numeric, crate::oids::int8, crate::oids::timestamptz])] { session PgStatGetBackendWal }
    2857 pg_stat_get_backend_xact_start(int4) -> timestamptz [stable strict restricted] { session PgStatGetBackendXactStart }
    3075 pg_stat_get_bgwriter_stat_reset_time() -> timestamptz [stable strict restricted] { session PgStatGetBgwriterStatResetTime }
    6377 pg_stat_get_checkpointer_num_performed() -> int8 [stable strict restricted] { session PgStatGetCheckpointerNumPerformed }
    2770 pg_stat_get_checkpointer_num_requested() -> int8 [stable strict restricted] { session PgStatGetCheckpointerNumRequested }
    6329 pg_stat_get_checkpointer_restartpoints_performed() -> int8 [stable strict restricted] { session PgStatGetCheckpointerRestartpointsPerformed }
    6328 pg_stat_get_checkpointer_restartpoints_requested() -> int8 [stable strict restricted] { session PgStatGetCheckpointerRestartpointsRequested }
    6327 pg_stat_get_checkpointer_restartpoints_timed() -> int8 [stable strict restricted] { session PgStatGetCheckpointerRestartpointsTimed }
    6366 pg_stat_get_checkpointer_slru_written() -> int8 [stable strict restricted] { session PgStatGetCheckpointerSlruWritten }
    6314 pg_stat_get_checkpointer_stat_reset_time() -> timestamptz [stable strict restricted] { session PgStatGetCheckpointerStatResetTime }
    3161 pg_stat_get_checkpointer_sync_time() -> float8 [stable strict restricted] { session PgStatGetCheckpointerSyncTime }
    3160 pg_stat_get_checkpointer_write_time() -> float8 [stable strict restricted] { session PgStatGetCheckpointerWriteTime }
    6186 pg_stat_get_db_active_time(oid) -> float8 [stable strict restricted] { session PgStatGetDbActiveTime }
    3426 pg_stat_get_db_checksum_failures(oid) -> int8 [stable strict restricted] { session PgStatGetDbChecksumFailures }
    3428 pg_stat_get_db_checksum_last_failure(oid) -> timestamptz [stable strict restricted] { session PgStatGetDbChecksumLastFailure }
    3070 pg_stat_get_db_conflict_all(oid) -> int8 [stable strict restricted] { session PgStatGetDbConflictAll }
    3068 pg_stat_get_db_conflict_bufferpin(oid) -> int8 [stable strict restricted] { session PgStatGetDbConflictBufferpin }
    3066 pg_stat_get_db_conflict_lock(oid) -> int8 [stable strict restricted] { session PgStatGetDbConflictLock }
    6309 pg_stat_get_db_conflict_logicalslot(oid) -> int8 [stable strict restricted] { session PgStatGetDbConflictLogicalslot }
    3067 pg_stat_get_db_conflict_snapshot(oid) -> int8 [stable strict restricted] { session PgStatGetDbConflictSnapshot }
    3069 pg_stat_get_db_conflict_startup_deadlock(oid) -> int8 [stable strict restricted] { session PgStatGetDbConflictStartupDeadlock }
    3065 pg_stat_get_db_conflict_tablespace(oid) -> int8 [stable strict restricted] { session PgStatGetDbConflictTablespace }
    6187 pg_stat_get_db_idle_in_transaction_time(oid) -> float8 [stable strict restricted] { session PgStatGetDbIdleInTransactionTime }
    6356 pg_stat_get_db_parallel_workers_launched(oid) -> int8 [stable strict restricted] { session PgStatGetDbParallelWorkersLaunched }
    6355 pg_stat_get_db_parallel_workers_to_launch(oid) -> int8 [stable strict restricted] { session PgStatGetDbParallelWorkersToLaunch }
    6185 pg_stat_get_db_session_time(oid) -> float8 [stable strict restricted] { session PgStatGetDbSessionTime }
    6189 pg_stat_get_db_sessions_abandoned(oid) -> int8 [stable strict restricted] { session PgStatGetDbSessionsAbandoned }
    6190 pg_stat_get_db_sessions_fatal(oid) -> int8 [stable strict restricted] { session PgStatGetDbSessionsFatal }
    6191 pg_stat_get_db_sessions_killed(oid) -> int8 [stable strict restricted] { session PgStatGetDbSessionsKilled }
    2978 pg_stat_get_function_calls(oid) -> int8 [stable strict restricted] { session PgStatGetFunctionCalls }
    2980 pg_stat_get_function_self_time(oid) -> float8 [stable strict restricted] { session PgStatGetFunctionSelfTime }
    2979 pg_stat_get_function_total_time(oid) -> float8 [stable strict restricted] { session PgStatGetFunctionTotalTime }
    6248 pg_stat_get_recovery_prefetch() -> record [strict returns_set rows(1.0) names(&["stats_reset", "prefetch", "hit", "skip_init", "skip_new", "skip_fpw", "skip_rep", "wal_distance", "block_distance", "io_depth"]) outs(b"oooooooooo", &[crate::oids::timestamptz, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::int4, crate::oids::int4, crate::oids::int4])] { session PgStatGetRecoveryPrefetch }
    6169 pg_stat_get_replication_slot(text) -> record [stable strict restricted names(&["slot_name", "slot_name", "spill_txns", "spill_count", "spill_bytes", "stream_txns", "stream_count", "stream_bytes", "total_txns", "total_bytes", "stats_reset"]) outs(b"ioooooooooo", &[crate::oids::text, crate::oids::text, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::timestamptz])] { session PgStatGetReplicationSlot }
    3788 pg_stat_get_snapshot_timestamp() -> timestamptz [stable strict restricted] { session PgStatGetSnapshotTimestamp }
    6118 pg_stat_get_subscription(oid) -> record [stable restricted returns_set rows(10.0) names(&["subid", "subid", "relid", "pid", "leader_pid", "received_lsn", "last_msg_send_time", "last_msg_receipt_time", "latest_end_lsn", "latest_end_time", "worker_type"]) outs(b"ioooooooooo", &[crate::oids::oid, crate::oids::oid, crate::oids::oid, crate::oids::int4, crate::oids::int4, crate::oids::pg_lsn, crate::oids::timestamptz, crate::oids::timestamptz, crate::oids::pg_lsn, crate::oids::timestamptz, crate::oids::text])] { session PgStatGetSubscription }
    6231 pg_stat_get_subscription_stats(oid) -> record [stable strict restricted names(&["subid", "subid", "apply_error_count", "sync_error_count", "confl_insert_exists", "confl_update_origin_differs", "confl_update_exists", "confl_update_missing", "confl_delete_origin_differs", "confl_delete_missing", "confl_multiple_unique_conflicts", "stats_reset"]) outs(b"iooooooooooo", &[crate::oids::oid, crate::oids::oid, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::timestamptz])] { session PgStatGetSubscriptionStats }
    3317 pg_stat_get_wal_receiver() -> record [stable restricted names(&["pid", "status", "receive_start_lsn", "receive_start_tli", "written_lsn", "flushed_lsn", "received_tli", "last_msg_send_time", "last_msg_receipt_time", "latest_end_lsn", "latest_end_time", "slot_name", "sender_host", "sender_port", "conninfo"]) outs(b"ooooooooooooooo", &[crate::oids::int4, crate::oids::text, crate::oids::pg_lsn, crate::oids::int4, crate::oids::pg_lsn, crate::oids::pg_lsn, crate::oids::int4, crate::oids::timestamptz, crate::oids::timestamptz, crate::oids::pg_lsn, crate::oids::timestamptz, crate::oids::text, crate::oids::text, crate::oids::int4, crate::oids::text])] { session PgStatGetWalReceiver }
    3046 pg_stat_get_xact_function_calls(oid) -> int8 [strict restricted] { session PgStatGetXactFunctionCalls }
    3048 pg_stat_get_xact_function_self_time(oid) -> float8 [strict restricted] { session PgStatGetXactFunctionSelfTime }
    3047 pg_stat_get_xact_function_total_time(oid) -> float8 [strict restricted] { session PgStatGetXactFunctionTotalTime }
    6230 pg_stat_have_stats(text, oid, int8) -> bool [strict restricted] { session PgStatHaveStats }
    6387 pg_stat_reset_backend_stats(int4) -> void [strict] { session PgStatResetBackendStats }
    6170 pg_stat_reset_replication_slot(text) -> void [] { session PgStatResetReplicationSlot }
    3777 pg_stat_reset_single_function_counters(oid) -> void [strict] { session PgStatResetSingleFunctionCounters }
    2307 pg_stat_reset_slru(text) -> void [names(&["target"]) defaults(&["NULL"])] { session PgStatResetSlru }
    6232 pg_stat_reset_subscription_stats(oid) -> void [] { session PgStatResetSubscriptionStats }
    6214 pg_stat_get_io() -> record [strict restricted returns_set rows(30.0) names(&["backend_type", "object", "context", "reads", "read_bytes", "read_time", "writes", "write_bytes", "write_time", "writebacks", "writeback_time", "extends", "extend_bytes", "extend_time", "hits", "evictions", "reuses", "fsyncs", "fsync_time", "stats_reset"]) outs(b"oooooooooooooooooooo", &[crate::oids::text, crate::oids::text, crate::oids::text, crate::oids::int8, crate::oids::numeric, crate::oids::float8, crate::oids::int8, crate::oids::numeric, crate::oids::float8, crate::oids::int8, crate::oids::float8, crate::oids::int8, crate::oids::numeric, crate::oids::float8, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::int8, crate::oids::float8, crate::oids::timestamptz])] { session PgStatGetIo }
    4568 pg_event_trigger_ddl_commands() -> record [stable strict restricted returns_set cost(10.0) rows(100.0) names(&["classid", "objid", "objsubid", "command_tag", "object_type", "schema_name", "object_identity", "in_extension", "command"]) outs(b"ooooooooo", &[crate::oids::oid, crate::oids::oid, crate::oids::int4, crate::oids::text, crate::oids::text, crate::oids::text, crate::oids::text, crate::oids::bool, crate::oids::pg_ddl_command])] { session PgEventTriggerDdlCommands }
    3163 pg_trigger_depth() -> int4 [stable strict restricted] { session PgTriggerDepth }
    3086 pg_extension_config_dump(regclass, text) -> void [strict parallel_unsafe] { session PgExtensionConfigDump }
    2624 pg_read_file(text, int8, int8) -> text [strict] { session PgReadFile }
    3293 pg_read_file(text, int8, int8, bool) -> text [strict] { session PgReadFile }
    3826 pg_read_file(text) -> text [strict] { session PgReadFile }
    6208 pg_read_file(text, bool) -> text [strict] { session PgReadFile }
    3295 pg_read_binary_file(text, int8, int8, bool) -> bytea [strict] { session PgReadBinaryFile }
    3827 pg_read_binary_file(text, int8, int8) -> bytea [strict] { session PgReadBinaryFile }
    3828 pg_read_binary_file(text) -> bytea [strict] { session PgReadBinaryFile }
    6209 pg_read_binary_file(text, bool) -> bytea [strict] { session PgReadBinaryFile }
    2623 pg_stat_file(text) -> record [strict names(&["filename", "size", "access", "modification", "change", "creation", "isdir"]) outs(b"ioooooo", &[crate::oids::text, crate::oids::int8, crate::oids::timestamptz, crate::oids::timestamptz, crate::oids::timestamptz, crate::oids::timestamptz, crate::oids::bool])] { session PgStatFile }
    3307 pg_stat_file(text, bool) -> record [strict names(&["filename", "missing_ok", "size", "access", "modification", "change", "creation", "isdir"]) outs(b"iioooooo", &[crate::oids::text, crate::oids::bool, crate::oids::int8, crate::oids::timestamptz, crate::oids::timestamptz, crate::oids::timestamptz, crate::oids::timestamptz, crate::oids::bool])] { session PgStatFile }
    2625 pg_ls_dir(text) -> text [strict returns_set rows(1000.0)] { session PgLsDir }
    3297 pg_ls_dir(text, bool, bool) -> text [strict returns_set rows(1000.0)] { session PgLsDir }
    3354 pg_ls_waldir() -> record [strict returns_set cost(10.0) rows(20.0) names(&["name", "size", "modification"]) outs(b"ooo", &[crate::oids::text, crate::oids::int8, crate::oids::timestamptz])] { session PgLsWaldir }
    6400 pg_ls_summariesdir() -> record [strict returns_set cost(10.0) rows(20.0) names(&["name", "size", "modification"]) outs(b"ooo", &[crate::oids::text, crate::oids::int8, crate::oids::timestamptz])] { session PgLsSummariesdir }
    6321 pg_available_wal_summaries() -> record [strict returns_set rows(100.0) names(&["tli", "start_lsn", "end_lsn"]) outs(b"ooo", &[crate::oids::int8, crate::oids::pg_lsn, crate::oids::pg_lsn])] { session PgAvailableWalSummaries }
    6322 pg_wal_summary_contents(int8, pg_lsn, pg_lsn) -> record [strict returns_set rows(100.0) names(&["tli", "start_lsn", "end_lsn", "relfilenode", "reltablespace", "reldatabase", "relforknumber", "relblocknumber", "is_limit_block"]) outs(b"iiioooooo", &[crate::oids::int8, crate::oids::pg_lsn, crate::oids::pg_lsn, crate::oids::oid, crate::oids::oid, crate::oids::oid, crate::oids::int2, crate::oids::int8, crate::oids::bool])] { session PgWalSummaryContents }
    6323 pg_get_wal_summarizer_state() -> record [strict names(&["summarized_tli", "summarized_lsn", "pending_lsn", "summarizer_pid"]) outs(b"oooo", &[crate::oids::int8, crate::oids::pg_lsn, crate::oids::pg_lsn, crate::oids::int4])] { session PgGetWalSummarizerState }
    5031 pg_ls_archive_statusdir() -> record [strict returns_set cost(10.0) rows(20.0) names(&["name", "size", "modification"]) outs(b"ooo", &[crate::oids::text, crate::oids::int8, crate::oids::timestamptz])] { session PgLsArchiveStatusdir }
    3353 pg_ls_logdir() -> record [strict returns_set cost(10.0) rows(20.0) names(&["name", "size", "modification"]) outs(b"ooo", &[crate::oids::text, crate::oids::int8, crate::oids::timestamptz])] { session PgLsLogdir }
    5029 pg_ls_tmpdir() -> record [strict returns_set cost(10.0) rows(20.0) names(&["name", "size", "modification"]) outs(b"ooo", &[crate::oids::text, crate::oids::int8, crate::oids::timestamptz])] { session PgLsTmpdir }
    5030 pg_ls_tmpdir(oid) -> record [strict returns_set cost(10.0) rows(20.0) names(&["tablespace", "name", "size", "modification"]) outs(b"iooo", &[crate::oids::oid, crate::oids::text, crate::oids::int8, crate::oids::timestamptz])] { session PgLsTmpdir }
    3495 to_regclass(text) -> regclass [stable strict] { session ToRegclass }
    3493 to_regtype(text) -> regtype [stable strict] { session ToRegtype }
    6317 to_regtypemod(text) -> int4 [stable strict] { session ToRegtypemod }
    3494 to_regproc(text) -> regproc [stable strict] { session ToRegproc }
    3479 to_regprocedure(text) -> regprocedure [stable strict] { session ToRegprocedure }
    3492 to_regoper(text) -> regoper [stable strict] { session ToRegoper }
    3476 to_regoperator(text) -> regoperator [stable strict] { session ToRegoperator }
    4086 to_regnamespace(text) -> regnamespace [stable strict] { session ToRegnamespace }
    4093 to_regrole(text) -> regrole [stable strict] { session ToRegrole }
    4195 to_regcollation(text) -> regcollation [stable strict] { session ToRegcollation }
    3781 pg_get_replication_slots() -> record [stable returns_set rows(10.0) names(&["slot_name", "plugin", "slot_type", "datoid", "temporary", "active", "active_pid", "xmin", "catalog_xmin", "restart_lsn", "confirmed_flush_lsn", "wal_status", "safe_wal_size", "two_phase", "two_phase_at", "inactive_since", "conflicting", "invalidation_reason", "failover", "synced"]) outs(b"oooooooooooooooooooo", &[crate::oids::name, crate::oids::name, crate::oids::text, crate::oids::oid, crate::oids::bool, crate::oids::bool, crate::oids::int4, crate::oids::xid, crate::oids::xid, crate::oids::pg_lsn, crate::oids::pg_lsn, crate::oids::text, crate::oids::int8, crate::oids::bool, crate::oids::pg_lsn, crate::oids::timestamptz, crate::oids::bool, crate::oids::text, crate::oids::bool, crate::oids::bool])] { session PgGetReplicationSlots }
    3779 pg_create_physical_replication_slot(name, bool, bool) -> record [strict parallel_unsafe names(&["slot_name", "immediately_reserve", "temporary", "slot_name", "lsn"]) outs(b"iiioo", &[crate::oids::name, crate::oids::bool, crate::oids::bool, crate::oids::name, crate::oids::pg_lsn]) defaults(&["false", "false"])] { session PgCreatePhysicalReplicationSlot }
    3786 pg_create_logical_replication_slot(name, name, bool, bool, bool) -> record [strict parallel_unsafe names(&["slot_name", "plugin", "temporary", "twophase", "failover", "slot_name", "lsn"]) outs(b"iiiiioo", &[crate::oids::name, crate::oids::name, crate::oids::bool, crate::oids::bool, crate::oids::bool, crate::oids::name, crate::oids::pg_lsn]) defaults(&["false", "false", "false"])] { session PgCreateLogicalReplicationSlot }
    4220 pg_copy_physical_replication_slot(name, name, bool) -> record [strict parallel_unsafe names(&["src_slot_name", "dst_slot_name", "temporary", "slot_name", "lsn"]) outs(b"iiioo", &[crate::oids::name, crate::oids::name, crate::oids::bool, crate::oids::name, crate::oids::pg_lsn])] { session PgCopyPhysicalReplicationSlot }
    4221 pg_copy_physical_replication_slot(name, name) -> record [strict parallel_unsafe names(&["src_slot_name", "dst_slot_name", "slot_name", "lsn"]) outs(b"iioo", &[crate::oids::name, crate::oids::name, crate::oids::name, crate::oids::pg_lsn])] { session PgCopyPhysicalReplicationSlot }
    4222 pg_copy_logical_replication_slot(name, name, bool, name) -> record [strict parallel_unsafe names(&["src_slot_name", "dst_slot_name", "temporary", "plugin", "slot_name", "lsn"]) outs(b"iiiioo", &[crate::oids::name, crate::oids::name, crate::oids::bool, crate::oids::name, crate::oids::name, crate::oids::pg_lsn])] { session PgCopyLogicalReplicationSlot }
    4223 pg_copy_logical_replication_slot(name, name, bool) -> record [strict parallel_unsafe names(&["src_slot_name", "dst_slot_name", "temporary", "slot_name", "lsn"]) outs(b"iiioo", &[crate::oids::name, crate::oids::name, crate::oids::bool, crate::oids::name, crate::oids::pg_lsn])] { session PgCopyLogicalReplicationSlot }
    4224 pg_copy_logical_replication_slot(name, name) -> record [strict parallel_unsafe names(&["src_slot_name", "dst_slot_name", "slot_name", "lsn"]) outs(b"iioo", &[crate::oids::name, crate::oids::name, crate::oids::name, crate::oids::pg_lsn])] { session PgCopyLogicalReplicationSlot }
    3782 pg_logical_slot_get_changes(name, pg_lsn, int4, _text) -> record [returns_set parallel_unsafe cost(1000.0) rows(1000.0) variadic(crate::oids::text) names(&["slot_name", "upto_lsn", "upto_nchanges", "options", "lsn", "xid", "data"]) outs(b"iiivooo", &[crate::oids::name, crate::oids::pg_lsn, crate::oids::int4, crate::oids::_text, crate::oids::pg_lsn, crate::oids::xid, crate::oids::text]) defaults(&["{}"])] { session PgLogicalSlotGetChanges }
    3783 pg_logical_slot_get_binary_changes(name, pg_lsn, int4, _text) -> record [returns_set parallel_unsafe cost(1000.0) rows(1000.0) variadic(crate::oids::text) names(&["slot_name", "upto_lsn", "upto_nchanges", "options", "lsn", "xid", "data"]) outs(b"iiivooo", &[crate::oids::name, crate::oids::pg_lsn, crate::oids::int4, crate::oids::_text, crate::oids::pg_lsn, crate::oids::xid, crate::oids::bytea]) defaults(&["{}"])] { session PgLogicalSlotGetBinaryChanges }
    3784 pg_logical_slot_peek_changes(name, pg_lsn, int4, _text) -> record [returns_set parallel_unsafe cost(1000.0) rows(1000.0) variadic(crate::oids::text) names(&["slot_name", "upto_lsn", "upto_nchanges", "options", "lsn", "xid", "data"]) outs(b"iiivooo", &[crate::oids::name, crate::oids::pg_lsn, crate::oids::int4, crate::oids::_text, crate::oids::pg_lsn, crate::oids::xid, crate::oids::text]) defaults(&["{}"])] { session PgLogicalSlotPeekChanges }
    3785 pg_logical_slot_peek_binary_changes(name, pg_lsn, int4, _text) -> record [returns_set parallel_unsafe cost(1000.0) rows(1000.0) variadic(crate::oids::text) names(&["slot_name", "upto_lsn", "upto_nchanges", "options", "lsn", "xid", "data"]) outs(b"iiivooo", &[crate::oids::name, crate::oids::pg_lsn, crate::oids::int4, crate::oids::_text, crate::oids::pg_lsn, crate::oids::xid, crate::oids::bytea]) defaults(&["{}"])] { session PgLogicalSlotPeekBinaryChanges }
    3577 pg_logical_emit_message(bool, text, text, bool) -> pg_lsn [strict parallel_unsafe names(&["transactional", "prefix", "message", "flush"]) defaults(&["false"])] { session PgLogicalEmitMessage }
    3578 pg_logical_emit_message(bool, text, bytea, bool) -> pg_lsn [strict parallel_unsafe names(&["transactional", "prefix", "message", "flush"]) defaults(&["false"])] { session PgLogicalEmitMessage }
    3780 pg_drop_replication_slot(name) -> void [strict parallel_unsafe] { session PgDropReplicationSlot }
    3878 pg_replication_slot_advance(name, pg_lsn) -> record [strict parallel_unsafe names(&["slot_name", "upto_lsn", "slot_name", "end_lsn"]) outs(b"iioo", &[crate::oids::name, crate::oids::pg_lsn, crate::oids::name, crate::oids::pg_lsn])] { session PgReplicationSlotAdvance }
    2172 pg_backup_start(text, bool) -> pg_lsn [strict restricted names(&["label", "fast"]) defaults(&["false"])] { session PgBackupStart }
    2739 pg_backup_stop(bool) -> record [strict restricted names(&["wait_for_archive", "lsn", "labelfile", "spcmapfile"]) outs(b"iooo", &[crate::oids::bool, crate::oids::pg_lsn, crate::oids::text, crate::oids::text]) defaults(&["true"])] { session PgBackupStop }
    3099 pg_stat_get_wal_senders() -> record [stable restricted returns_set rows(10.0) names(&["pid", "state", "sent_lsn", "write_lsn", "flush_lsn", "replay_lsn", "write_lag", "flush_lag", "replay_lag", "sync_priority", "sync_state", "reply_time"]) outs(b"oooooooooooo", &[crate::oids::int4, crate::oids::text, crate::oids::pg_lsn, crate::oids::pg_lsn, crate::oids::pg_lsn, crate::oids::pg_lsn, crate::oids::interval, crate::oids::interval, crate::oids::interval, crate::oids::int4, crate::oids::text, crate::oids::timestamptz])] { session PgStatGetWalSenders }
    3448 pg_collation_actual_version(oid) -> text [strict cost(100.0)] { session PgCollationActualVersion }
    6249 pg_database_collation_actual_version(oid) -> text [strict cost(100.0)] { session PgDatabaseCollationActualVersion }
    6210 pg_input_is_valid(text, text) -> bool [stable strict] { session PgInputIsValid }
    6211 pg_input_error_info(text, text) -> record [stable strict names(&["value", "type_name", "message", "detail", "hint", "sql_error_code"]) outs(b"iioooo", &[crate::oids::text, crate::oids::text, crate::oids::text, crate::oids::text, crate::oids::text, crate::oids::text])] { session PgInputErrorInfo }
    3685 ts_rewrite(tsquery, text) -> tsquery [strict parallel_unsafe cost(100.0)] { session TsRewrite }
    3689 ts_stat(text) -> record [strict parallel_unsafe returns_set cost(10.0) rows(10000.0) names(&["query", "word", "ndoc", "nentry"]) outs(b"iooo", &[crate::oids::text, crate::oids::text, crate::oids::int4, crate::oids::int4])] { session TsStat }
    3690 ts_stat(text, text) -> record [strict parallel_unsafe returns_set cost(10.0) rows(10000.0) names(&["query", "weights", "word", "ndoc", "nentry"]) outs(b"iiooo", &[crate::oids::text, crate::oids::text, crate::oids::text, crate::oids::int4, crate::oids::int4])] { session TsStat }
    3752 tsvector_update_trigger() -> trigger [] { session TsvectorUpdateTrigger }
    3753 tsvector_update_trigger_column() -> trigger [] { session TsvectorUpdateTrigger }
    1291 suppress_redundant_updates_trigger() -> trigger [strict] { session SuppressRedundantUpdatesTrigger }
    1644 RI_FKey_check_ins() -> trigger [strict] { session ForeignKeyTrigger }
    1645 RI_FKey_check_upd() -> trigger [strict] { session ForeignKeyTrigger }
    1646 RI_FKey_cascade_del() -> trigger [strict] { session ForeignKeyTrigger }
    1647 RI_FKey_cascade_upd() -> trigger [strict] { session ForeignKeyTrigger }
    1648 RI_FKey_restrict_del() -> trigger [strict] { session ForeignKeyTrigger }
    1649 RI_FKey_restrict_upd() -> trigger [strict] { session ForeignKeyTrigger }
    1650 RI_FKey_setnull_del() -> trigger [strict] { session ForeignKeyTrigger }
    1651 RI_FKey_setnull_upd() -> trigger [strict] { session ForeignKeyTrigger }
    1652 RI_FKey_setdefault_del() -> trigger [strict] { session ForeignKeyTrigger }
    1653 RI_FKey_setdefault_upd() -> trigger [strict] { session ForeignKeyTrigger }
    1654 RI_FKey_noaction_del() -> trigger [strict] { session ForeignKeyTrigger }
    1655 RI_FKey_noaction_upd() -> trigger [strict] { session ForeignKeyTrigger }
    1250 unique_key_recheck() -> trigger [strict] { session UniqueKeyRecheck }
}
