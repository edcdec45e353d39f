//! Functions that are only named in catalog rows: estimators, transition and final functions of aggregates, sort support,
//! handlers. SQL never calls them here.

functions! {
    3 heap_tableam_handler(internal) -> table_am_handler [strict] { catalog_only }
    101 eqsel(internal, oid, internal, int4) -> float8 [stable strict] { catalog_only }
    102 neqsel(internal, oid, internal, int4) -> float8 [stable strict] { catalog_only }
    103 scalarltsel(internal, oid, internal, int4) -> float8 [stable strict] { catalog_only }
    104 scalargtsel(internal, oid, internal, int4) -> float8 [stable strict] { catalog_only }
    105 eqjoinsel(internal, oid, internal, int2, internal) -> float8 [stable strict] { catalog_only }
    106 neqjoinsel(internal, oid, internal, int2, internal) -> float8 [stable strict] { catalog_only }
    107 scalarltjoinsel(internal, oid, internal, int2, internal) -> float8 [stable strict] { catalog_only }
    108 scalargtjoinsel(internal, oid, internal, int2, internal) -> float8 [stable strict] { catalog_only }
    139 areasel(internal, oid, internal, int4) -> float8 [stable strict] { catalog_only }
    140 areajoinsel(internal, oid, internal, int2, internal) -> float8 [stable strict] { catalog_only }
    330 bthandler(internal) -> index_am_handler [strict] { catalog_only }
    331 hashhandler(internal) -> index_am_handler [strict] { catalog_only }
    332 gisthandler(internal) -> index_am_handler [strict] { catalog_only }
    333 ginhandler(internal) -> index_am_handler [strict] { catalog_only }
    334 spghandler(internal) -> index_am_handler [strict] { catalog_only }
    335 brinhandler(internal) -> index_am_handler [strict] { catalog_only }
    336 scalarlesel(internal, oid, internal, int4) -> float8 [stable strict] { catalog_only }
    337 scalargesel(internal, oid, internal, int4) -> float8 [stable strict] { catalog_only }
    386 scalarlejoinsel(internal, oid, internal, int2, internal) -> float8 [stable strict] { catalog_only }
    398 scalargejoinsel(internal, oid, internal, int2, internal) -> float8 [stable strict] { catalog_only }
    1300 positionsel(internal, oid, internal, int4) -> float8 [stable strict] { catalog_only }
    1301 positionjoinsel(internal, oid, internal, int2, internal) -> float8 [stable strict] { catalog_only }
    1302 contsel(internal, oid, internal, int4) -> float8 [stable strict] { catalog_only }
    1303 contjoinsel(internal, oid, internal, int2, internal) -> float8 [stable strict] { catalog_only }
    1814 iclikesel(internal, oid, internal, int4) -> float8 [stable strict] { catalog_only }
    1815 icnlikesel(internal, oid, internal, int4) -> float8 [stable strict] { catalog_only }
    1816 iclikejoinsel(internal, oid, internal, int2, internal) -> float8 [stable strict] { catalog_only }
    1817 icnlikejoinsel(internal, oid, internal, int2, internal) -> float8 [stable strict] { catalog_only }
    1818 regexeqsel(internal, oid, internal, int4) -> float8 [stable strict] { catalog_only }
    1819 likesel(internal, oid, internal, int4) -> float8 [stable strict] { catalog_only }
    1820 icregexeqsel(internal, oid, internal, int4) -> float8 [stable strict] { catalog_only }
    1821 regexnesel(internal, oid, internal, int4) -> float8 [stable strict] { catalog_only }
    1822 nlikesel(internal, oid, internal, int4) -> float8 [stable strict] { catalog_only }
    1823 icregexnesel(internal, oid, internal, int4) -> float8 [stable strict] { catalog_only }
    1824 regexeqjoinsel(internal, oid, internal, int2, internal) -> float8 [stable strict] { catalog_only }
    1825 likejoinsel(internal, oid, internal, int2, internal) -> float8 [stable strict] { catalog_only }
    1826 icregexeqjoinsel(internal, oid, internal, int2, internal) -> float8 [stable strict] { catalog_only }
    1827 regexnejoinsel(internal, oid, internal, int2, internal) -> float8 [stable strict] { catalog_only }
    1828 nlikejoinsel(internal, oid, internal, int2, internal) -> float8 [stable strict] { catalog_only }
    1829 icregexnejoinsel(internal, oid, internal, int2, internal) -> float8 [stable strict] { catalog_only }
    1833 numeric_accum(internal, numeric) -> internal [immutable] { catalog_only }
    1834 int2_accum(internal, int2) -> internal [immutable] { catalog_only }
    1835 int4_accum(internal, int4) -> internal [immutable] { catalog_only }
    1836 int8_accum(internal, int8) -> internal [immutable] { catalog_only }
    1837 numeric_avg(internal) -> numeric [immutable] { catalog_only }
    1838 numeric_var_samp(internal) -> numeric [immutable] { catalog_only }
    1839 numeric_stddev_samp(internal) -> numeric [immutable] { catalog_only }
    1843 interval_avg_accum(internal, interval) -> internal [immutable] { catalog_only }
    1844 interval_avg(internal) -> interval [immutable] { catalog_only }
    2246 fmgr_internal_validator(oid) -> void [stable strict] { catalog_only }
    2247 fmgr_c_validator(oid) -> void [stable strict] { catalog_only }
    2248 fmgr_sql_validator(oid) -> void [stable strict] { catalog_only }
    2333 array_agg_transfn(internal, anynonarray) -> internal [immutable] { catalog_only }
    2334 array_agg_finalfn(internal, anynonarray) -> anyarray [immutable] { catalog_only }
    2514 numeric_var_pop(internal) -> numeric [immutable] { catalog_only }
    2596 numeric_stddev_pop(internal) -> numeric [immutable] { catalog_only }
    2740 numeric_avg_serialize(internal) -> bytea [immutable strict] { catalog_only }
    2741 numeric_avg_deserialize(bytea, internal) -> internal [immutable strict] { catalog_only }
    2746 int8_avg_accum(internal, int8) -> internal [immutable] { catalog_only }
    2785 int8_avg_combine(internal, internal) -> internal [immutable] { catalog_only }
    2786 int8_avg_serialize(internal) -> bytea [immutable strict] { catalog_only }
    2787 int8_avg_deserialize(bytea, internal) -> internal [immutable strict] { catalog_only }
    2858 numeric_avg_accum(internal, numeric) -> internal [immutable] { catalog_only }
    3129 btint2sortsupport(internal) -> void [immutable strict] { catalog_only }
    3130 btint4sortsupport(internal) -> void [immutable strict] { catalog_only }
    3131 btint8sortsupport(internal) -> void [immutable strict] { catalog_only }
    3132 btfloat4sortsupport(internal) -> void [immutable strict] { catalog_only }
    3133 btfloat8sortsupport(internal) -> void [immutable strict] { catalog_only }
    3134 btoidsortsupport(internal) -> void [immutable strict] { catalog_only }
    3135 btnamesortsupport(internal) -> void [immutable strict] { catalog_only }
    3136 date_sortsupport(internal) -> void [immutable strict] { catalog_only }
    3137 timestamp_sortsupport(internal) -> void [immutable strict] { catalog_only }
    3169 rangesel(internal, oid, internal, int4) -> float8 [stable strict] { catalog_only }
    3173 json_agg_transfn(internal, anyelement) -> internal [stable] { catalog_only }
    3174 json_agg_finalfn(internal) -> json [immutable] { catalog_only }
    3178 numeric_sum(internal) -> numeric [immutable] { catalog_only }
    3180 json_object_agg_transfn(internal, any, any) -> internal [stable] { catalog_only }
    3196 json_object_agg_finalfn(internal) -> json [immutable] { catalog_only }
    3255 bttextsortsupport(internal) -> void [immutable strict] { catalog_only }
    3265 jsonb_agg_transfn(internal, anyelement) -> internal [stable] { catalog_only }
    3266 jsonb_agg_finalfn(internal) -> jsonb [stable] { catalog_only }
    3268 jsonb_object_agg_transfn(internal, any, any) -> internal [stable] { catalog_only }
    3269 jsonb_object_agg_finalfn(internal) -> jsonb [stable] { catalog_only }
    3283 numeric_sortsupport(internal) -> void [immutable strict] { catalog_only }
    3300 uuid_sortsupport(internal) -> void [immutable strict] { catalog_only }
    3325 interval_avg_combine(internal, internal) -> internal [immutable] { catalog_only }
    3328 bpchar_sortsupport(internal) -> void [immutable strict] { catalog_only }
    3331 bytea_sortsupport(internal) -> void [immutable strict] { catalog_only }
    3332 bttext_pattern_sortsupport(internal) -> void [immutable strict] { catalog_only }
    3333 btbpchar_pattern_sortsupport(internal) -> void [immutable strict] { catalog_only }
    3335 numeric_serialize(internal) -> bytea [immutable strict] { catalog_only }
    3336 numeric_deserialize(bytea, internal) -> internal [immutable strict] { catalog_only }
    3337 numeric_avg_combine(internal, internal) -> internal [immutable] { catalog_only }
    3338 numeric_poly_combine(internal, internal) -> internal [immutable] { catalog_only }
    3339 numeric_poly_serialize(internal) -> bytea [immutable strict] { catalog_only }
    3340 numeric_poly_deserialize(bytea, internal) -> internal [immutable strict] { catalog_only }
    3341 numeric_combine(internal, internal) -> internal [immutable] { catalog_only }
    3359 macaddr_sortsupport(internal) -> void [immutable strict] { catalog_only }
    3383 brin_minmax_opcinfo(internal) -> internal [immutable strict] { catalog_only }
    3384 brin_minmax_add_value(internal, internal, internal, internal) -> bool [immutable strict] { catalog_only }
    3385 brin_minmax_consistent(internal, internal, internal) -> bool [immutable strict] { catalog_only }
    3386 brin_minmax_union(internal, internal, internal) -> bool [immutable strict] { catalog_only }
    3387 int8_avg_accum_inv(internal, int8) -> internal [immutable] { catalog_only }
    3388 numeric_poly_sum(internal) -> numeric [immutable] { catalog_only }
    3389 numeric_poly_avg(internal) -> numeric [immutable] { catalog_only }
    3390 numeric_poly_var_pop(internal) -> numeric [immutable] { catalog_only }
    3391 numeric_poly_var_samp(internal) -> numeric [immutable] { catalog_only }
    3392 numeric_poly_stddev_pop(internal) -> numeric [immutable] { catalog_only }
    3393 numeric_poly_stddev_samp(internal) -> numeric [immutable] { catalog_only }
    3437 prefixsel(internal, oid, internal, int4) -> float8 [stable strict] { catalog_only }
    3438 prefixjoinsel(internal, oid, internal, int2, internal) -> float8 [stable strict] { catalog_only }
    3496 bool_accum(internal, bool) -> internal [immutable] { catalog_only }
    3497 bool_accum_inv(internal, bool) -> internal [immutable] { catalog_only }
    3498 bool_alltrue(internal) -> bool [immutable strict] { catalog_only }
    3499 bool_anytrue(internal) -> bool [immutable strict] { catalog_only }
    3535 string_agg_transfn(internal, text, text) -> internal [immutable] { catalog_only }
    3536 string_agg_finalfn(internal) -> text [immutable] { catalog_only }
    3543 bytea_string_agg_transfn(internal, bytea, bytea) -> internal [immutable] { catalog_only }
    3544 bytea_string_agg_finalfn(internal) -> bytea [immutable] { catalog_only }
    3548 numeric_accum_inv(internal, numeric) -> internal [immutable] { catalog_only }
    3549 interval_avg_accum_inv(internal, interval) -> internal [immutable] { catalog_only }
    3560 networksel(internal, oid, internal, int4) -> float8 [stable strict] { catalog_only }
    3561 networkjoinsel(internal, oid, internal, int2, internal) -> float8 [stable strict] { catalog_only }
    3567 int2_accum_inv(internal, int2) -> internal [immutable] { catalog_only }
    3568 int4_accum_inv(internal, int4) -> internal [immutable] { catalog_only }
    3569 int8_accum_inv(internal, int8) -> internal [immutable] { catalog_only }
    3686 tsmatchsel(internal, oid, internal, int4) -> float8 [stable strict] { catalog_only }
    3687 tsmatchjoinsel(internal, oid, internal, int2, internal) -> float8 [stable strict] { catalog_only }
    3688 ts_typanalyze(internal) -> bool [stable strict] { catalog_only }
    3717 prsd_start(internal, int4) -> internal [immutable strict] { catalog_only }
    3718 prsd_nexttoken(internal, internal, internal) -> internal [immutable strict] { catalog_only }
    3719 prsd_end(internal) -> void [immutable strict] { catalog_only }
    3720 prsd_headline(internal, internal, tsquery) -> internal [immutable strict] { catalog_only }
    3721 prsd_lextype(internal) -> internal [immutable strict] { catalog_only }
    3725 dsimple_init(internal) -> internal [immutable strict] { catalog_only }
    3726 dsimple_lexize(internal, internal, internal, internal) -> internal [immutable strict] { catalog_only }
    3728 dsynonym_init(internal) -> internal [immutable strict] { catalog_only }
    3729 dsynonym_lexize(internal, internal, internal, internal) -> internal [immutable strict] { catalog_only }
    3731 dispell_init(internal) -> internal [immutable strict] { catalog_only }
    3732 dispell_lexize(internal, internal, internal, internal) -> internal [immutable strict] { catalog_only }
    3740 thesaurus_init(internal) -> internal [immutable strict] { catalog_only }
    3741 thesaurus_lexize(internal, internal, internal, internal) -> internal [immutable strict] { catalog_only }
    3816 array_typanalyze(internal) -> bool [stable strict] { catalog_only }
    3817 arraycontsel(internal, oid, internal, int4) -> float8 [stable strict] { catalog_only }
    3818 arraycontjoinsel(internal, oid, internal, int2, internal) -> float8 [stable strict] { catalog_only }
    3916 range_typanalyze(internal) -> bool [stable strict] { catalog_only }
    3970 ordered_set_transition(internal, any) -> internal [immutable] { catalog_only }
    3971 ordered_set_transition_multi(internal, any) -> internal [immutable variadic(crate::oids::any) outs(b"iv", &[crate::oids::internal, crate::oids::any])] { catalog_only }
    3973 percentile_disc_final(internal, float8, anyelement) -> anyelement [immutable] { catalog_only }
    3975 percentile_cont_float8_final(internal, float8) -> float8 [immutable] { catalog_only }
    3977 percentile_cont_interval_final(internal, float8) -> interval [immutable] { catalog_only }
    3979 percentile_disc_multi_final(internal, _float8, anyelement) -> anyarray [immutable] { catalog_only }
    3981 percentile_cont_float8_multi_final(internal, _float8) -> _float8 [immutable] { catalog_only }
    3983 percentile_cont_interval_multi_final(internal, _float8) -> _interval [immutable] { catalog_only }
    3985 mode_final(internal, anyelement) -> anyelement [immutable] { catalog_only }
    3987 rank_final(internal, any) -> int8 [immutable variadic(crate::oids::any) outs(b"iv", &[crate::oids::internal, crate::oids::any])] { catalog_only }
    3989 percent_rank_final(internal, any) -> float8 [immutable variadic(crate::oids::any) outs(b"iv", &[crate::oids::internal, crate::oids::any])] { catalog_only }
    3991 cume_dist_final(internal, any) -> float8 [immutable variadic(crate::oids::any) outs(b"iv", &[crate::oids::internal, crate::oids::any])] { catalog_only }
    3993 dense_rank_final(internal, any) -> int8 [immutable variadic(crate::oids::any) outs(b"iv", &[crate::oids::internal, crate::oids::any])] { catalog_only }
    4051 array_agg_array_transfn(internal, anyarray) -> internal [immutable] { catalog_only }
    4052 array_agg_array_finalfn(internal, anyarray) -> anyarray [immutable] { catalog_only }
    4105 brin_inclusion_opcinfo(internal) -> internal [immutable strict] { catalog_only }
    4106 brin_inclusion_add_value(internal, internal, internal, internal) -> bool [immutable strict] { catalog_only }
    4107 brin_inclusion_consistent(internal, internal, internal) -> bool [immutable strict] { catalog_only }
    4108 brin_inclusion_union(internal, internal, internal) -> bool [immutable strict] { catalog_only }
    4242 multirange_typanalyze(internal) -> bool [stable strict] { catalog_only }
    4243 multirangesel(internal, oid, internal, int4) -> float8 [stable strict] { catalog_only }
    4299 range_agg_transfn(internal, anyrange) -> internal [immutable] { catalog_only }
    4300 range_agg_finalfn(internal, anyrange) -> anymultirange [immutable] { catalog_only }
    4591 brin_bloom_opcinfo(internal) -> internal [immutable strict] { catalog_only }
    4592 brin_bloom_add_value(internal, internal, internal, internal) -> bool [immutable strict] { catalog_only }
    4593 brin_bloom_consistent(internal, internal, internal, int4) -> bool [immutable strict] { catalog_only }
    4594 brin_bloom_union(internal, internal, internal) -> bool [immutable strict] { catalog_only }
    4595 brin_bloom_options(internal) -> void [immutable] { catalog_only }
    4616 brin_minmax_multi_opcinfo(internal) -> internal [immutable strict] { catalog_only }
    4617 brin_minmax_multi_add_value(internal, internal, internal, internal) -> bool [immutable strict] { catalog_only }
    4618 brin_minmax_multi_consistent(internal, internal, internal, int4) -> bool [immutable strict] { catalog_only }
    4619 brin_minmax_multi_union(internal, internal, internal) -> bool [immutable strict] { catalog_only }
    4620 brin_minmax_multi_options(internal) -> void [immutable] { catalog_only }
    4621 brin_minmax_multi_distance_int2(internal, internal) -> float8 [immutable strict] { catalog_only }
    4622 brin_minmax_multi_distance_int4(internal, internal) -> float8 [immutable strict] { catalog_only }
    4623 brin_minmax_multi_distance_int8(internal, internal) -> float8 [immutable strict] { catalog_only }
    4624 brin_minmax_multi_distance_float4(internal, internal) -> float8 [immutable strict] { catalog_only }
    4625 brin_minmax_multi_distance_float8(internal, internal) -> float8 [immutable strict] { catalog_only }
    4626 brin_minmax_multi_distance_numeric(internal, internal) -> float8 [immutable strict] { catalog_only }
    4627 brin_minmax_multi_distance_tid(internal, internal) -> float8 [immutable strict] { catalog_only }
    4628 brin_minmax_multi_distance_uuid(internal, internal) -> float8 [immutable strict] { catalog_only }
    4629 brin_minmax_multi_distance_date(internal, internal) -> float8 [immutable strict] { catalog_only }
    4630 brin_minmax_multi_distance_time(internal, internal) -> float8 [immutable strict] { catalog_only }
    4631 brin_minmax_multi_distance_interval(internal, internal) -> float8 [immutable strict] { catalog_only }
    4632 brin_minmax_multi_distance_timetz(internal, internal) -> float8 [immutable strict] { catalog_only }
    4633 brin_minmax_multi_distance_pg_lsn(internal, internal) -> float8 [immutable strict] { catalog_only }
    4634 brin_minmax_multi_distance_macaddr(internal, internal) -> float8 [immutable strict] { catalog_only }
    4635 brin_minmax_multi_distance_macaddr8(internal, internal) -> float8 [immutable strict] { catalog_only }
    4636 brin_minmax_multi_distance_inet(internal, internal) -> float8 [immutable strict] { catalog_only }
    4637 brin_minmax_multi_distance_timestamp(internal, internal) -> float8 [immutable strict] { catalog_only }
    5033 network_sortsupport(internal) -> void [immutable strict] { catalog_only }
    5040 matchingsel(internal, oid, internal, int4) -> float8 [stable strict] { catalog_only }
    5041 matchingjoinsel(internal, oid, internal, int2, internal) -> float8 [stable strict] { catalog_only }
    6098 jsonb_subscript_handler(internal) -> internal [immutable strict] { catalog_only }
    6179 array_subscript_handler(internal) -> internal [immutable strict] { catalog_only }
    6180 raw_array_subscript_handler(internal) -> internal [immutable strict] { catalog_only }
    6225 multirange_agg_transfn(internal, anymultirange) -> internal [immutable] { catalog_only }
    6226 multirange_agg_finalfn(internal, anymultirange) -> anymultirange [immutable] { catalog_only }
    6275 json_agg_strict_transfn(internal, anyelement) -> internal [stable] { catalog_only }
    6277 json_object_agg_strict_transfn(internal, any, any) -> internal [stable] { catalog_only }
    6278 json_object_agg_unique_transfn(internal, any, any) -> internal [stable] { catalog_only }
    6279 json_object_agg_unique_strict_transfn(internal, any, any) -> internal [stable] { catalog_only }
    6283 jsonb_agg_strict_transfn(internal, anyelement) -> internal [stable] { catalog_only }
    6285 jsonb_object_agg_strict_transfn(internal, any, any) -> internal [stable] { catalog_only }
    6286 jsonb_object_agg_unique_transfn(internal, any, any) -> internal [stable] { catalog_only }
    6287 jsonb_object_agg_unique_strict_transfn(internal, any, any) -> internal [stable] { catalog_only }
    6293 array_agg_combine(internal, internal) -> internal [immutable] { catalog_only }
    6294 array_agg_serialize(internal) -> bytea [immutable strict] { catalog_only }
    6295 array_agg_deserialize(bytea, internal) -> internal [immutable strict] { catalog_only }
    6296 array_agg_array_combine(internal, internal) -> internal [immutable] { catalog_only }
    6297 array_agg_array_serialize(internal) -> bytea [immutable strict] { catalog_only }
    6298 array_agg_array_deserialize(bytea, internal) -> internal [immutable strict] { catalog_only }
    6299 string_agg_combine(internal, internal) -> internal [immutable] { catalog_only }
    6300 string_agg_serialize(internal) -> bytea [immutable strict] { catalog_only }
    6301 string_agg_deserialize(bytea, internal) -> internal [immutable strict] { catalog_only }
    6324 interval_avg_serialize(internal) -> bytea [immutable strict] { catalog_only }
    6325 interval_avg_deserialize(bytea, internal) -> internal [immutable strict] { catalog_only }
    6326 interval_sum(internal) -> interval [immutable] { catalog_only }
    6402 btint2skipsupport(internal) -> void [immutable strict] { catalog_only }
    6403 btint4skipsupport(internal) -> void [immutable strict] { catalog_only }
    6404 btint8skipsupport(internal) -> void [immutable strict] { catalog_only }
    6405 btoidskipsupport(internal) -> void [immutable strict] { catalog_only }
    6406 btcharskipsupport(internal) -> void [immutable strict] { catalog_only }
    6407 date_skipsupport(internal) -> void [immutable strict] { catalog_only }
    6408 btboolskipsupport(internal) -> void [immutable strict] { catalog_only }
    6409 timestamp_skipsupport(internal) -> void [immutable strict] { catalog_only }
    6410 uuid_skipsupport(internal) -> void [immutable strict] { catalog_only }

    1030 gist_point_compress(internal) -> internal [immutable strict] { catalog_only }
    2179 gist_point_consistent(internal, point, int2, oid, internal) -> bool [immutable strict] { catalog_only }
    2578 gist_box_consistent(internal, r#box, int2, oid, internal) -> bool [immutable strict] { catalog_only }
    2581 gist_box_penalty(internal, internal, internal) -> internal [immutable strict] { catalog_only }
    2582 gist_box_picksplit(internal, internal) -> internal [immutable strict] { catalog_only }
    2583 gist_box_union(internal, internal) -> r#box [immutable strict] { catalog_only }
    2584 gist_box_same(r#box, r#box, internal) -> internal [immutable strict] { catalog_only }
    2585 gist_poly_consistent(internal, polygon, int2, oid, internal) -> bool [immutable strict] { catalog_only }
    2586 gist_poly_compress(internal) -> internal [immutable strict] { catalog_only }
    2591 gist_circle_consistent(internal, circle, int2, oid, internal) -> bool [immutable strict] { catalog_only }
    2592 gist_circle_compress(internal) -> internal [immutable strict] { catalog_only }
    3064 gist_point_distance(internal, point, int2, oid, internal) -> float8 [immutable strict] { catalog_only }
    3280 gist_circle_distance(internal, circle, int2, oid, internal) -> float8 [immutable strict] { catalog_only }
    3282 gist_point_fetch(internal) -> internal [immutable strict] { catalog_only }
    3288 gist_poly_distance(internal, polygon, int2, oid, internal) -> float8 [immutable strict] { catalog_only }
    3435 gist_point_sortsupport(internal) -> void [immutable strict] { catalog_only }
    3553 inet_gist_consistent(internal, inet, int2, oid, internal) -> bool [immutable strict] { catalog_only }
    3554 inet_gist_union(internal, internal) -> inet [immutable strict] { catalog_only }
    3555 inet_gist_compress(internal) -> internal [immutable strict] { catalog_only }
    3557 inet_gist_penalty(internal, internal, internal) -> internal [immutable strict] { catalog_only }
    3558 inet_gist_picksplit(internal, internal) -> internal [immutable strict] { catalog_only }
    3559 inet_gist_same(inet, inet, internal) -> internal [immutable strict] { catalog_only }
    3573 inet_gist_fetch(internal) -> internal [immutable strict] { catalog_only }
    3875 range_gist_consistent(internal, anyrange, int2, oid, internal) -> bool [immutable strict] { catalog_only }
    3876 range_gist_union(internal, internal) -> anyrange [immutable strict] { catalog_only }
    3879 range_gist_penalty(internal, internal, internal) -> internal [immutable strict] { catalog_only }
    3880 range_gist_picksplit(internal, internal) -> internal [immutable strict] { catalog_only }
    3881 range_gist_same(anyrange, anyrange, internal) -> internal [immutable strict] { catalog_only }
    3998 gist_box_distance(internal, r#box, int2, oid, internal) -> float8 [immutable strict] { catalog_only }
    6154 multirange_gist_consistent(internal, anymultirange, int2, oid, internal) -> bool [immutable strict] { catalog_only }
    6156 multirange_gist_compress(internal) -> internal [immutable strict] { catalog_only }
    3469 spg_range_quad_config(internal, internal) -> void [immutable strict] { catalog_only }
    3470 spg_range_quad_choose(internal, internal) -> void [immutable strict] { catalog_only }
    3471 spg_range_quad_picksplit(internal, internal) -> void [immutable strict] { catalog_only }
    3472 spg_range_quad_inner_consistent(internal, internal) -> void [immutable strict] { catalog_only }
    3473 spg_range_quad_leaf_consistent(internal, internal) -> bool [immutable strict] { catalog_only }
    3795 inet_spg_config(internal, internal) -> void [immutable strict] { catalog_only }
    3796 inet_spg_choose(internal, internal) -> void [immutable strict] { catalog_only }
    3797 inet_spg_picksplit(internal, internal) -> void [immutable strict] { catalog_only }
    3798 inet_spg_inner_consistent(internal, internal) -> void [immutable strict] { catalog_only }
    3799 inet_spg_leaf_consistent(internal, internal) -> bool [immutable strict] { catalog_only }
    4018 spg_quad_config(internal, internal) -> void [immutable strict] { catalog_only }
    4019 spg_quad_choose(internal, internal) -> void [immutable strict] { catalog_only }
    4020 spg_quad_picksplit(internal, internal) -> void [immutable strict] { catalog_only }
    4021 spg_quad_inner_consistent(internal, internal) -> void [immutable strict] { catalog_only }
    4022 spg_quad_leaf_consistent(internal, internal) -> bool [immutable strict] { catalog_only }
    4023 spg_kd_config(internal, internal) -> void [immutable strict] { catalog_only }
    4024 spg_kd_choose(internal, internal) -> void [immutable strict] { catalog_only }
    4025 spg_kd_picksplit(internal, internal) -> void [immutable strict] { catalog_only }
    4026 spg_kd_inner_consistent(internal, internal) -> void [immutable strict] { catalog_only }
    4027 spg_text_config(internal, internal) -> void [immutable strict] { catalog_only }
    4028 spg_text_choose(internal, internal) -> void [immutable strict] { catalog_only }
    4029 spg_text_picksplit(internal, internal) -> void [immutable strict] { catalog_only }
    4030 spg_text_inner_consistent(internal, internal) -> void [immutable strict] { catalog_only }
    4031 spg_text_leaf_consistent(internal, internal) -> bool [immutable strict] { catalog_only }
    5010 spg_bbox_quad_config(internal, internal) -> void [immutable strict] { catalog_only }
    5012 spg_box_quad_config(internal, internal) -> void [immutable strict] { catalog_only }
    5013 spg_box_quad_choose(internal, internal) -> void [immutable strict] { catalog_only }
    5014 spg_box_quad_picksplit(internal, internal) -> void [immutable strict] { catalog_only }
    5015 spg_box_quad_inner_consistent(internal, internal) -> void [immutable strict] { catalog_only }
    5016 spg_box_quad_leaf_consistent(internal, internal) -> bool [immutable strict] { catalog_only }
}
