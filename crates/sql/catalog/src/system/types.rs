//! Types, functions, operators, casts and access methods.
//!
//! Names, types, numbers and order of columns are PostgreSQL 18's.

use super::{SystemTable, system_tables};

system_tables! {
    pg_type = 1247 local, rowtype 71 210, toast 4171 4172 {
        OID: oid oid,
        TYPNAME: typname name,
        TYPNAMESPACE: typnamespace oid,
        TYPOWNER: typowner oid,
        TYPLEN: typlen int2,
        TYPBYVAL: typbyval bool,
        TYPTYPE: typtype char,
        TYPCATEGORY: typcategory char,
        TYPISPREFERRED: typispreferred bool,
        TYPISDEFINED: typisdefined bool,
        TYPDELIM: typdelim char,
        TYPRELID: typrelid oid,
        TYPSUBSCRIPT: typsubscript regproc,
        TYPELEM: typelem oid,
        TYPARRAY: typarray oid,
        TYPINPUT: typinput regproc,
        TYPOUTPUT: typoutput regproc,
        TYPRECEIVE: typreceive regproc,
        TYPSEND: typsend regproc,
        TYPMODIN: typmodin regproc,
        TYPMODOUT: typmodout regproc,
        TYPANALYZE: typanalyze regproc,
        TYPALIGN: typalign char,
        TYPSTORAGE: typstorage char,
        TYPNOTNULL: typnotnull bool,
        TYPBASETYPE: typbasetype oid,
        TYPTYPMOD: typtypmod int4,
        TYPNDIMS: typndims int4,
        TYPCOLLATION: typcollation oid,
        TYPDEFAULTBIN: typdefaultbin pg_node_tree null,
        TYPDEFAULT: typdefault text null,
        TYPACL: typacl _aclitem null,
    } indexes {
        PG_TYPE_OID_INDEX: pg_type_oid_index = 2703 primary 10119 (OID),
        PG_TYPE_TYPNAME_NSP_INDEX: pg_type_typname_nsp_index = 2704 unique 10120 (TYPNAME, TYPNAMESPACE),
    }
    pg_proc = 1255 local, rowtype 81 272, toast 2836 2837 {
        OID: oid oid,
        PRONAME: proname name,
        PRONAMESPACE: pronamespace oid,
        PROOWNER: proowner oid,
        PROLANG: prolang oid,
        PROCOST: procost float4,
        PROROWS: prorows float4,
        PROVARIADIC: provariadic oid,
        PROSUPPORT: prosupport regproc,
        PROKIND: prokind char,
        PROSECDEF: prosecdef bool,
        PROLEAKPROOF: proleakproof bool,
        PROISSTRICT: proisstrict bool,
        PRORETSET: proretset bool,
        PROVOLATILE: provolatile char,
        PROPARALLEL: proparallel char,
        PRONARGS: pronargs int2,
        PRONARGDEFAULTS: pronargdefaults int2,
        PRORETTYPE: prorettype oid,
        PROARGTYPES: proargtypes oidvector,
        PROALLARGTYPES: proallargtypes _oid null,
        PROARGMODES: proargmodes _char null,
        PROARGNAMES: proargnames _text null,
        PROARGDEFAULTS: proargdefaults pg_node_tree null,
        PROTRFTYPES: protrftypes _oid null,
        PROSRC: prosrc text,
        PROBIN: probin text null,
        PROSQLBODY: prosqlbody pg_node_tree null,
        PROCONFIG: proconfig _text null,
        PROACL: proacl _aclitem null,
    } indexes {
        PG_PROC_OID_INDEX: pg_proc_oid_index = 2690 primary 10116 (OID),
        PG_PROC_PRONAME_ARGS_NSP_INDEX: pg_proc_proname_args_nsp_index = 2691 unique 10117 (PRONAME, PROARGTYPES, PRONAMESPACE),
    }
    pg_operator = 2617 local, rowtype 10009 10008, toast 0 0 {
        OID: oid oid,
        OPRNAME: oprname name,
        OPRNAMESPACE: oprnamespace oid,
        OPROWNER: oprowner oid,
        OPRKIND: oprkind char,
        OPRCANMERGE: oprcanmerge bool,
        OPRCANHASH: oprcanhash bool,
        OPRLEFT: oprleft oid,
        OPRRIGHT: oprright oid,
        OPRRESULT: oprresult oid,
        OPRCOM: oprcom oid,
        OPRNEGATE: oprnegate oid,
        OPRCODE: oprcode regproc,
        OPRREST: oprrest regproc,
        OPRJOIN: oprjoin regproc,
    } indexes {
        PG_OPERATOR_OID_INDEX: pg_operator_oid_index = 2688 primary 10140 (OID),
        PG_OPERATOR_OPRNAME_L_R_N_INDEX: pg_operator_oprname_l_r_n_index = 2689 unique 10141 (OPRNAME, OPRLEFT, OPRRIGHT, OPRNAMESPACE),
    }
    pg_cast = 2605 local, rowtype 10043 10042, toast 0 0 {
        OID: oid oid,
        CASTSOURCE: castsource oid,
        CASTTARGET: casttarget oid,
        CASTFUNC: castfunc oid,
        CASTCONTEXT: castcontext char,
        CASTMETHOD: castmethod char,
    } indexes {
        PG_CAST_OID_INDEX: pg_cast_oid_index = 2660 primary 10192 (OID),
        PG_CAST_SOURCE_TARGET_INDEX: pg_cast_source_target_index = 2661 unique 10193 (CASTSOURCE, CASTTARGET),
    }
    pg_aggregate = 2600 local, rowtype 10027 10026, toast 4159 4160 {
        AGGFNOID: aggfnoid regproc,
        AGGKIND: aggkind char,
        AGGNUMDIRECTARGS: aggnumdirectargs int2,
        AGGTRANSFN: aggtransfn regproc,
        AGGFINALFN: aggfinalfn regproc,
        AGGCOMBINEFN: aggcombinefn regproc,
        AGGSERIALFN: aggserialfn regproc,
        AGGDESERIALFN: aggdeserialfn regproc,
        AGGMTRANSFN: aggmtransfn regproc,
        AGGMINVTRANSFN: aggminvtransfn regproc,
        AGGMFINALFN: aggmfinalfn regproc,
        AGGFINALEXTRA: aggfinalextra bool,
        AGGMFINALEXTRA: aggmfinalextra bool,
        AGGFINALMODIFY: aggfinalmodify char,
        AGGMFINALMODIFY: aggmfinalmodify char,
        AGGSORTOP: aggsortop oid,
        AGGTRANSTYPE: aggtranstype oid,
        AGGTRANSSPACE: aggtransspace int4,
        AGGMTRANSTYPE: aggmtranstype oid,
        AGGMTRANSSPACE: aggmtransspace int4,
        AGGINITVAL: agginitval text null,
        AGGMINITVAL: aggminitval text null,
    } indexes {
        PG_AGGREGATE_FNOID_INDEX: pg_aggregate_fnoid_index = 2650 primary 10167 (AGGFNOID),
    }
    pg_am = 2601 local, rowtype 10015 10014, toast 0 0 {
        OID: oid oid,
        AMNAME: amname name,
        AMHANDLER: amhandler regproc,
        AMTYPE: amtype char,
    } indexes {
        PG_AM_OID_INDEX: pg_am_oid_index = 2652 primary 10150 (OID),
        PG_AM_NAME_INDEX: pg_am_name_index = 2651 unique 10148 (AMNAME),
    }
    pg_amop = 2602 local, rowtype 10017 10016, toast 0 0 {
        OID: oid oid,
        AMOPFAMILY: amopfamily oid,
        AMOPLEFTTYPE: amoplefttype oid,
        AMOPRIGHTTYPE: amoprighttype oid,
        AMOPSTRATEGY: amopstrategy int2,
        AMOPPURPOSE: amoppurpose char,
        AMOPOPR: amopopr oid,
        AMOPMETHOD: amopmethod oid,
        AMOPSORTFAMILY: amopsortfamily oid,
    } indexes {
        PG_AMOP_OID_INDEX: pg_amop_oid_index = 2756 primary 10154 (OID),
        PG_AMOP_FAM_STRAT_INDEX: pg_amop_fam_strat_index = 2653 unique 10151 (AMOPFAMILY, AMOPLEFTTYPE, AMOPRIGHTTYPE, AMOPSTRATEGY),
        PG_AMOP_OPR_FAM_INDEX: pg_amop_opr_fam_index = 2654 unique 10152 (AMOPOPR, AMOPPURPOSE, AMOPFAMILY),
    }
    pg_amproc = 2603 local, rowtype 10019 10018, toast 0 0 {
        OID: oid oid,
        AMPROCFAMILY: amprocfamily oid,
        AMPROCLEFTTYPE: amproclefttype oid,
        AMPROCRIGHTTYPE: amprocrighttype oid,
        AMPROCNUM: amprocnum int2,
        AMPROC: amproc regproc,
    } indexes {
        PG_AMPROC_OID_INDEX: pg_amproc_oid_index = 2757 primary 10157 (OID),
        PG_AMPROC_FAM_PROC_INDEX: pg_amproc_fam_proc_index = 2655 unique 10155 (AMPROCFAMILY, AMPROCLEFTTYPE, AMPROCRIGHTTYPE, AMPROCNUM),
    }
    pg_opclass = 2616 local, rowtype 10013 10012, toast 0 0 {
        OID: oid oid,
        OPCMETHOD: opcmethod oid,
        OPCNAME: opcname name,
        OPCNAMESPACE: opcnamespace oid,
        OPCOWNER: opcowner oid,
        OPCFAMILY: opcfamily oid,
        OPCINTYPE: opcintype oid,
        OPCDEFAULT: opcdefault bool,
        OPCKEYTYPE: opckeytype oid,
    } indexes {
        PG_OPCLASS_OID_INDEX: pg_opclass_oid_index = 2687 primary 10147 (OID),
        PG_OPCLASS_AM_NAME_NSP_INDEX: pg_opclass_am_name_nsp_index = 2686 unique 10145 (OPCMETHOD, OPCNAME, OPCNAMESPACE),
    }
    pg_opfamily = 2753 local, rowtype 10011 10010, toast 0 0 {
        OID: oid oid,
        OPFMETHOD: opfmethod oid,
        OPFNAME: opfname name,
        OPFNAMESPACE: opfnamespace oid,
        OPFOWNER: opfowner oid,
    } indexes {
        PG_OPFAMILY_OID_INDEX: pg_opfamily_oid_index = 2755 primary 10144 (OID),
        PG_OPFAMILY_AM_NAME_NSP_INDEX: pg_opfamily_am_name_nsp_index = 2754 unique 10142 (OPFMETHOD, OPFNAME, OPFNAMESPACE),
    }
    pg_enum = 3501 local, rowtype 10045 10044, toast 0 0 {
        OID: oid oid,
        ENUMTYPID: enumtypid oid,
        ENUMSORTORDER: enumsortorder float4,
        ENUMLABEL: enumlabel name,
    } indexes {
        PG_ENUM_OID_INDEX: pg_enum_oid_index = 3502 primary 10195 (OID),
        PG_ENUM_TYPID_LABEL_INDEX: pg_enum_typid_label_index = 3503 unique 10196 (ENUMTYPID, ENUMLABEL),
        PG_ENUM_TYPID_SORTORDER_INDEX: pg_enum_typid_sortorder_index = 3534 unique 10197 (ENUMTYPID, ENUMSORTORDER),
    }
    pg_range = 3541 local, rowtype 10101 10100, toast 0 0 {
        RNGTYPID: rngtypid oid,
        RNGSUBTYPE: rngsubtype oid,
        RNGMULTITYPID: rngmultitypid oid,
        RNGCOLLATION: rngcollation oid,
        RNGSUBOPC: rngsubopc oid,
        RNGCANONICAL: rngcanonical regproc,
        RNGSUBDIFF: rngsubdiff regproc,
    } indexes {
        PG_RANGE_RNGTYPID_INDEX: pg_range_rngtypid_index = 3542 primary 10285 (RNGTYPID),
        PG_RANGE_RNGMULTITYPID_INDEX: pg_range_rngmultitypid_index = 2228 unique 10286 (RNGMULTITYPID),
    }
    pg_collation = 3456 local, rowtype 10095 10094, toast 6175 6176 {
        OID: oid oid,
        COLLNAME: collname name,
        COLLNAMESPACE: collnamespace oid,
        COLLOWNER: collowner oid,
        COLLPROVIDER: collprovider char,
        COLLISDETERMINISTIC: collisdeterministic bool,
        COLLENCODING: collencoding int4,
        COLLCOLLATE: collcollate text null,
        COLLCTYPE: collctype text null,
        COLLLOCALE: colllocale text null,
        COLLICURULES: collicurules text null,
        COLLVERSION: collversion text null,
    } indexes {
        PG_COLLATION_OID_INDEX: pg_collation_oid_index = 3085 primary 10278 (OID),
        PG_COLLATION_NAME_ENC_NSP_INDEX: pg_collation_name_enc_nsp_index = 3164 unique 10276 (COLLNAME, COLLENCODING, COLLNAMESPACE),
    }
    pg_conversion = 2607 local, rowtype 10049 10048, toast 0 0 {
        OID: oid oid,
        CONNAME: conname name,
        CONNAMESPACE: connamespace oid,
        CONOWNER: conowner oid,
        CONFORENCODING: conforencoding int4,
        CONTOENCODING: contoencoding int4,
        CONPROC: conproc regproc,
        CONDEFAULT: condefault bool,
    } indexes {
        PG_CONVERSION_OID_INDEX: pg_conversion_oid_index = 2670 primary 10204 (OID),
        PG_CONVERSION_DEFAULT_INDEX: pg_conversion_default_index = 2668 unique 10201 (CONNAMESPACE, CONFORENCODING, CONTOENCODING, OID),
        PG_CONVERSION_NAME_NSP_INDEX: pg_conversion_name_nsp_index = 2669 unique 10202 (CONNAME, CONNAMESPACE),
    }
    pg_language = 2612 local, rowtype 10021 10020, toast 4157 4158 {
        OID: oid oid,
        LANNAME: lanname name,
        LANOWNER: lanowner oid,
        LANISPL: lanispl bool,
        LANPLTRUSTED: lanpltrusted bool,
        LANPLCALLFOID: lanplcallfoid oid,
        LANINLINE: laninline oid,
        LANVALIDATOR: lanvalidator oid,
        LANACL: lanacl _aclitem null,
    } indexes {
        PG_LANGUAGE_OID_INDEX: pg_language_oid_index = 2682 primary 10160 (OID),
        PG_LANGUAGE_NAME_INDEX: pg_language_name_index = 2681 unique 10158 (LANNAME),
    }
    pg_transform = 3576 local, rowtype 10103 10102, toast 0 0 {
        OID: oid oid,
        TRFTYPE: trftype oid,
        TRFLANG: trflang oid,
        TRFFROMSQL: trffromsql regproc,
        TRFTOSQL: trftosql regproc,
    } indexes {
        PG_TRANSFORM_OID_INDEX: pg_transform_oid_index = 3574 primary 10288 (OID),
        PG_TRANSFORM_TYPE_LANG_INDEX: pg_transform_type_lang_index = 3575 unique 10289 (TRFTYPE, TRFLANG),
    }
    pg_ts_config = 3602 local, rowtype 10064 10063, toast 0 0 {
        OID: oid oid,
        CFGNAME: cfgname name,
        CFGNAMESPACE: cfgnamespace oid,
        CFGOWNER: cfgowner oid,
        CFGPARSER: cfgparser oid,
    } indexes {
        PG_TS_CONFIG_OID_INDEX: pg_ts_config_oid_index = 3712 primary 10226 (OID),
        PG_TS_CONFIG_CFGNAME_INDEX: pg_ts_config_cfgname_index = 3608 unique 10224 (CFGNAME, CFGNAMESPACE),
    }
    pg_ts_config_map = 3603 local, rowtype 10066 10065, toast 0 0 {
        MAPCFG: mapcfg oid,
        MAPTOKENTYPE: maptokentype int4,
        MAPSEQNO: mapseqno int4,
        MAPDICT: mapdict oid,
    } indexes {
        PG_TS_CONFIG_MAP_INDEX: pg_ts_config_map_index = 3609 primary 10230 (MAPCFG, MAPTOKENTYPE, MAPSEQNO),
    }
    pg_ts_dict = 3600 local, rowtype 10068 10067, toast 4169 4170 {
        OID: oid oid,
        DICTNAME: dictname name,
        DICTNAMESPACE: dictnamespace oid,
        DICTOWNER: dictowner oid,
        DICTTEMPLATE: dicttemplate oid,
        DICTINITOPTION: dictinitoption text null,
    } indexes {
        PG_TS_DICT_OID_INDEX: pg_ts_dict_oid_index = 3605 primary 10233 (OID),
        PG_TS_DICT_DICTNAME_INDEX: pg_ts_dict_dictname_index = 3604 unique 10231 (DICTNAME, DICTNAMESPACE),
    }
    pg_ts_parser = 3601 local, rowtype 10070 10069, toast 0 0 {
        OID: oid oid,
        PRSNAME: prsname name,
        PRSNAMESPACE: prsnamespace oid,
        PRSSTART: prsstart regproc,
        PRSTOKEN: prstoken regproc,
        PRSEND: prsend regproc,
        PRSHEADLINE: prsheadline regproc,
        PRSLEXTYPE: prslextype regproc,
    } indexes {
        PG_TS_PARSER_OID_INDEX: pg_ts_parser_oid_index = 3607 primary 10236 (OID),
        PG_TS_PARSER_PRSNAME_INDEX: pg_ts_parser_prsname_index = 3606 unique 10234 (PRSNAME, PRSNAMESPACE),
    }
    pg_ts_template = 3764 local, rowtype 10072 10071, toast 0 0 {
        OID: oid oid,
        TMPLNAME: tmplname name,
        TMPLNAMESPACE: tmplnamespace oid,
        TMPLINIT: tmplinit regproc,
        TMPLLEXIZE: tmpllexize regproc,
    } indexes {
        PG_TS_TEMPLATE_OID_INDEX: pg_ts_template_oid_index = 3767 primary 10239 (OID),
        PG_TS_TEMPLATE_TMPLNAME_INDEX: pg_ts_template_tmplname_index = 3766 unique 10237 (TMPLNAME, TMPLNAMESPACE),
    }
}
