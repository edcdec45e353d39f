//! Relations, their columns, indexes, constraints and dependencies.
//!
//! Names, types, numbers and order of columns are PostgreSQL 18's.

use super::{SystemTable, system_tables};

system_tables! {
    pg_class = 1259 local, rowtype 83 273, toast 0 0 {
        OID: oid oid,
        RELNAME: relname name,
        RELNAMESPACE: relnamespace oid,
        RELTYPE: reltype oid,
        RELOFTYPE: reloftype oid,
        RELOWNER: relowner oid,
        RELAM: relam oid,
        RELFILENODE: relfilenode oid,
        RELTABLESPACE: reltablespace oid,
        RELPAGES: relpages int4,
        RELTUPLES: reltuples float4,
        RELALLVISIBLE: relallvisible int4,
        RELALLFROZEN: relallfrozen int4,
        RELTOASTRELID: reltoastrelid oid,
        RELHASINDEX: relhasindex bool,
        RELISSHARED: relisshared bool,
        RELPERSISTENCE: relpersistence char,
        RELKIND: relkind char,
        RELNATTS: relnatts int2,
        RELCHECKS: relchecks int2,
        RELHASRULES: relhasrules bool,
        RELHASTRIGGERS: relhastriggers bool,
        RELHASSUBCLASS: relhassubclass bool,
        RELROWSECURITY: relrowsecurity bool,
        RELFORCEROWSECURITY: relforcerowsecurity bool,
        RELISPOPULATED: relispopulated bool,
        RELREPLIDENT: relreplident char,
        RELISPARTITION: relispartition bool,
        RELREWRITE: relrewrite oid,
        RELFROZENXID: relfrozenxid xid,
        RELMINMXID: relminmxid xid,
        RELACL: relacl _aclitem null,
        RELOPTIONS: reloptions _text null,
        RELPARTBOUND: relpartbound pg_node_tree null,
    } indexes {
        PG_CLASS_OID_INDEX: pg_class_oid_index = 2662 primary 10126 (OID),
        PG_CLASS_RELNAME_NSP_INDEX: pg_class_relname_nsp_index = 2663 unique 10127 (RELNAME, RELNAMESPACE),
        PG_CLASS_TBLSPC_RELFILENODE_INDEX: pg_class_tblspc_relfilenode_index = 3455 plain 0 (RELTABLESPACE, RELFILENODE),
    }
    pg_attribute = 1249 local, rowtype 75 270, toast 0 0 {
        ATTRELID: attrelid oid,
        ATTNAME: attname name,
        ATTTYPID: atttypid oid,
        ATTLEN: attlen int2,
        ATTNUM: attnum int2,
        ATTTYPMOD: atttypmod int4,
        ATTNDIMS: attndims int2,
        ATTBYVAL: attbyval bool,
        ATTALIGN: attalign char,
        ATTSTORAGE: attstorage char,
        ATTCOMPRESSION: attcompression char,
        ATTNOTNULL: attnotnull bool,
        ATTHASDEF: atthasdef bool,
        ATTHASMISSING: atthasmissing bool,
        ATTIDENTITY: attidentity char,
        ATTGENERATED: attgenerated char,
        ATTISDROPPED: attisdropped bool,
        ATTISLOCAL: attislocal bool,
        ATTINHCOUNT: attinhcount int2,
        ATTCOLLATION: attcollation oid,
        ATTSTATTARGET: attstattarget int2 null,
        ATTACL: attacl _aclitem null,
        ATTOPTIONS: attoptions _text null,
        ATTFDWOPTIONS: attfdwoptions _text null,
        ATTMISSINGVAL: attmissingval anyarray null,
    } indexes {
        PG_ATTRIBUTE_RELID_ATTNUM_INDEX: pg_attribute_relid_attnum_index = 2659 primary 10124 (ATTRELID, ATTNUM),
        PG_ATTRIBUTE_RELID_ATTNAM_INDEX: pg_attribute_relid_attnam_index = 2658 unique 10121 (ATTRELID, ATTNAME),
    }
    pg_attrdef = 2604 local, rowtype 10001 10000, toast 2830 2831 {
        OID: oid oid,
        ADRELID: adrelid oid,
        ADNUM: adnum int2,
        ADBIN: adbin pg_node_tree,
    } indexes {
        PG_ATTRDEF_OID_INDEX: pg_attrdef_oid_index = 2657 primary 10130 (OID),
        PG_ATTRDEF_ADRELID_ADNUM_INDEX: pg_attrdef_adrelid_adnum_index = 2656 unique 10128 (ADRELID, ADNUM),
    }
    pg_index = 2610 local, rowtype 10007 10006, toast 6351 6352 {
        INDEXRELID: indexrelid oid,
        INDRELID: indrelid oid,
        INDNATTS: indnatts int2,
        INDNKEYATTS: indnkeyatts int2,
        INDISUNIQUE: indisunique bool,
        INDNULLSNOTDISTINCT: indnullsnotdistinct bool,
        INDISPRIMARY: indisprimary bool,
        INDISEXCLUSION: indisexclusion bool,
        INDIMMEDIATE: indimmediate bool,
        INDISCLUSTERED: indisclustered bool,
        INDISVALID: indisvalid bool,
        INDCHECKXMIN: indcheckxmin bool,
        INDISREADY: indisready bool,
        INDISLIVE: indislive bool,
        INDISREPLIDENT: indisreplident bool,
        INDKEY: indkey int2vector,
        INDCOLLATION: indcollation oidvector,
        INDCLASS: indclass oidvector,
        INDOPTION: indoption int2vector,
        INDEXPRS: indexprs pg_node_tree null,
        INDPRED: indpred pg_node_tree null,
    } indexes {
        PG_INDEX_INDEXRELID_INDEX: pg_index_indexrelid_index = 2679 primary 10138 (INDEXRELID),
        PG_INDEX_INDRELID_INDEX: pg_index_indrelid_index = 2678 plain 0 (INDRELID),
    }
    pg_constraint = 2606 local, rowtype 10003 10002, toast 2832 2833 {
        OID: oid oid,
        CONNAME: conname name,
        CONNAMESPACE: connamespace oid,
        CONTYPE: contype char,
        CONDEFERRABLE: condeferrable bool,
        CONDEFERRED: condeferred bool,
        CONENFORCED: conenforced bool,
        CONVALIDATED: convalidated bool,
        CONRELID: conrelid oid,
        CONTYPID: contypid oid,
        CONINDID: conindid oid,
        CONPARENTID: conparentid oid,
        CONFRELID: confrelid oid,
        CONFUPDTYPE: confupdtype char,
        CONFDELTYPE: confdeltype char,
        CONFMATCHTYPE: confmatchtype char,
        CONISLOCAL: conislocal bool,
        CONINHCOUNT: coninhcount int2,
        CONNOINHERIT: connoinherit bool,
        CONPERIOD: conperiod bool,
        CONKEY: conkey _int2 null,
        CONFKEY: confkey _int2 null,
        CONPFEQOP: conpfeqop _oid null,
        CONPPEQOP: conppeqop _oid null,
        CONFFEQOP: conffeqop _oid null,
        CONFDELSETCOLS: confdelsetcols _int2 null,
        CONEXCLOP: conexclop _oid null,
        CONBIN: conbin pg_node_tree null,
    } indexes {
        PG_CONSTRAINT_OID_INDEX: pg_constraint_oid_index = 2667 primary 10133 (OID),
        PG_CONSTRAINT_CONNAME_NSP_INDEX: pg_constraint_conname_nsp_index = 2664 plain 0 (CONNAME, CONNAMESPACE),
        PG_CONSTRAINT_CONPARENTID_INDEX: pg_constraint_conparentid_index = 2579 plain 0 (CONPARENTID),
        PG_CONSTRAINT_CONRELID_CONTYPID_CONNAME_INDEX: pg_constraint_conrelid_contypid_conname_index = 2665 unique 10131 (CONRELID, CONTYPID, CONNAME),
        PG_CONSTRAINT_CONTYPID_INDEX: pg_constraint_contypid_index = 2666 plain 0 (CONTYPID),
    }
    pg_inherits = 2611 local, rowtype 10005 10004, toast 0 0 {
        INHRELID: inhrelid oid,
        INHPARENT: inhparent oid,
        INHSEQNO: inhseqno int4,
        INHDETACHPENDING: inhdetachpending bool,
    } indexes {
        PG_INHERITS_RELID_SEQNO_INDEX: pg_inherits_relid_seqno_index = 2680 primary 10136 (INHRELID, INHSEQNO),
        PG_INHERITS_PARENT_INDEX: pg_inherits_parent_index = 2187 plain 0 (INHPARENT),
    }
    pg_partitioned_table = 3350 local, rowtype 10099 10098, toast 4165 4166 {
        PARTRELID: partrelid oid,
        PARTSTRAT: partstrat char,
        PARTNATTS: partnatts int2,
        PARTDEFID: partdefid oid,
        PARTATTRS: partattrs int2vector,
        PARTCLASS: partclass oidvector,
        PARTCOLLATION: partcollation oidvector,
        PARTEXPRS: partexprs pg_node_tree null,
    } indexes {
        PG_PARTITIONED_TABLE_PARTRELID_INDEX: pg_partitioned_table_partrelid_index = 3351 primary 10283 (PARTRELID),
    }
    pg_sequence = 2224 local, rowtype 10105 10104, toast 0 0 {
        SEQRELID: seqrelid oid,
        SEQTYPID: seqtypid oid,
        SEQSTART: seqstart int8,
        SEQINCREMENT: seqincrement int8,
        SEQMAX: seqmax int8,
        SEQMIN: seqmin int8,
        SEQCACHE: seqcache int8,
        SEQCYCLE: seqcycle bool,
    } indexes {
        PG_SEQUENCE_SEQRELID_INDEX: pg_sequence_seqrelid_index = 5002 primary 10291 (SEQRELID),
    }
    pg_rewrite = 2618 local, rowtype 10035 10034, toast 2838 2839 {
        OID: oid oid,
        RULENAME: rulename name,
        EV_CLASS: ev_class oid,
        EV_TYPE: ev_type char,
        EV_ENABLED: ev_enabled char,
        IS_INSTEAD: is_instead bool,
        EV_QUAL: ev_qual pg_node_tree,
        EV_ACTION: ev_action pg_node_tree,
    } indexes {
        PG_REWRITE_OID_INDEX: pg_rewrite_oid_index = 2692 primary 10179 (OID),
        PG_REWRITE_REL_RULENAME_INDEX: pg_rewrite_rel_rulename_index = 2693 unique 10180 (EV_CLASS, RULENAME),
    }
    pg_trigger = 2620 local, rowtype 10037 10036, toast 2336 2337 {
        OID: oid oid,
        TGRELID: tgrelid oid,
        TGPARENTID: tgparentid oid,
        TGNAME: tgname name,
        TGFOID: tgfoid oid,
        TGTYPE: tgtype int2,
        TGENABLED: tgenabled char,
        TGISINTERNAL: tgisinternal bool,
        TGCONSTRRELID: tgconstrrelid oid,
        TGCONSTRINDID: tgconstrindid oid,
        TGCONSTRAINT: tgconstraint oid,
        TGDEFERRABLE: tgdeferrable bool,
        TGINITDEFERRED: tginitdeferred bool,
        TGNARGS: tgnargs int2,
        TGATTR: tgattr int2vector,
        TGARGS: tgargs bytea,
        TGQUAL: tgqual pg_node_tree null,
        TGOLDTABLE: tgoldtable name null,
        TGNEWTABLE: tgnewtable name null,
    } indexes {
        PG_TRIGGER_OID_INDEX: pg_trigger_oid_index = 2702 primary 10183 (OID),
        PG_TRIGGER_TGCONSTRAINT_INDEX: pg_trigger_tgconstraint_index = 2699 plain 0 (TGCONSTRAINT),
        PG_TRIGGER_TGRELID_TGNAME_INDEX: pg_trigger_tgrelid_tgname_index = 2701 unique 10181 (TGRELID, TGNAME),
    }
    pg_policy = 3256 local, rowtype 10084 10083, toast 4167 4168 {
        OID: oid oid,
        POLNAME: polname name,
        POLRELID: polrelid oid,
        POLCMD: polcmd char,
        POLPERMISSIVE: polpermissive bool,
        POLROLES: polroles _oid,
        POLQUAL: polqual pg_node_tree null,
        POLWITHCHECK: polwithcheck pg_node_tree null,
    } indexes {
        PG_POLICY_OID_INDEX: pg_policy_oid_index = 3257 primary 10255 (OID),
        PG_POLICY_POLRELID_POLNAME_INDEX: pg_policy_polrelid_polname_index = 3258 unique 10256 (POLRELID, POLNAME),
    }
    pg_depend = 2608 local, rowtype 10051 10050, toast 0 0 {
        CLASSID: classid oid,
        OBJID: objid oid,
        OBJSUBID: objsubid int4,
        REFCLASSID: refclassid oid,
        REFOBJID: refobjid oid,
        REFOBJSUBID: refobjsubid int4,
        DEPTYPE: deptype char,
    } indexes {
        PG_DEPEND_DEPENDER_INDEX: pg_depend_depender_index = 2673 plain 0 (CLASSID, OBJID, OBJSUBID),
        PG_DEPEND_REFERENCE_INDEX: pg_depend_reference_index = 2674 plain 0 (REFCLASSID, REFOBJID, REFOBJSUBID),
    }
    pg_shdepend = 1214 shared, rowtype 10060 10059, toast 0 0 {
        DBID: dbid oid,
        CLASSID: classid oid,
        OBJID: objid oid,
        OBJSUBID: objsubid int4,
        REFCLASSID: refclassid oid,
        REFOBJID: refobjid oid,
        DEPTYPE: deptype char,
    } indexes {
        PG_SHDEPEND_DEPENDER_INDEX: pg_shdepend_depender_index = 1232 plain 0 (DBID, CLASSID, OBJID, OBJSUBID),
        PG_SHDEPEND_REFERENCE_INDEX: pg_shdepend_reference_index = 1233 plain 0 (REFCLASSID, REFOBJID),
    }
    pg_description = 2609 local, rowtype 10041 10040, toast 2834 2835 {
        OBJOID: objoid oid,
        CLASSOID: classoid oid,
        OBJSUBID: objsubid int4,
        DESCRIPTION: description text,
    } indexes {
        PG_DESCRIPTION_O_C_O_INDEX: pg_description_o_c_o_index = 2675 primary 10190 (OBJOID, CLASSOID, OBJSUBID),
    }
    pg_shdescription = 2396 shared, rowtype 10062 10061, toast 2846 2847 {
        OBJOID: objoid oid,
        CLASSOID: classoid oid,
        DESCRIPTION: description text,
    } indexes {
        PG_SHDESCRIPTION_O_C_INDEX: pg_shdescription_o_c_index = 2397 primary 10223 (OBJOID, CLASSOID),
    }
    pg_seclabel = 3596 local, rowtype 10092 10091, toast 3598 3599 {
        OBJOID: objoid oid,
        CLASSOID: classoid oid,
        OBJSUBID: objsubid int4,
        PROVIDER: provider text,
        LABEL: label text,
    } indexes {
        PG_SECLABEL_OBJECT_INDEX: pg_seclabel_object_index = 3597 primary 10271 (OBJOID, CLASSOID, OBJSUBID, PROVIDER),
    }
    pg_shseclabel = 3592 shared, rowtype 4066 10093, toast 4060 4061 {
        OBJOID: objoid oid,
        CLASSOID: classoid oid,
        PROVIDER: provider text,
        LABEL: label text,
    } indexes {
        PG_SHSECLABEL_OBJECT_INDEX: pg_shseclabel_object_index = 3593 primary 10275 (OBJOID, CLASSOID, PROVIDER),
    }
    pg_init_privs = 3394 local, rowtype 10090 10089, toast 4155 4156 {
        OBJOID: objoid oid,
        CLASSOID: classoid oid,
        OBJSUBID: objsubid int4,
        PRIVTYPE: privtype char,
        INITPRIVS: initprivs _aclitem,
    } indexes {
        PG_INIT_PRIVS_O_C_O_INDEX: pg_init_privs_o_c_o_index = 3395 primary 10266 (OBJOID, CLASSOID, OBJSUBID),
    }
    pg_statistic = 2619 local, rowtype 10029 10028, toast 2840 2841 {
        STARELID: starelid oid,
        STAATTNUM: staattnum int2,
        STAINHERIT: stainherit bool,
        STANULLFRAC: stanullfrac float4,
        STAWIDTH: stawidth int4,
        STADISTINCT: stadistinct float4,
        STAKIND1: stakind1 int2,
        STAKIND2: stakind2 int2,
        STAKIND3: stakind3 int2,
        STAKIND4: stakind4 int2,
        STAKIND5: stakind5 int2,
        STAOP1: staop1 oid,
        STAOP2: staop2 oid,
        STAOP3: staop3 oid,
        STAOP4: staop4 oid,
        STAOP5: staop5 oid,
        STACOLL1: stacoll1 oid,
        STACOLL2: stacoll2 oid,
        STACOLL3: stacoll3 oid,
        STACOLL4: stacoll4 oid,
        STACOLL5: stacoll5 oid,
        STANUMBERS1: stanumbers1 _float4 null,
        STANUMBERS2: stanumbers2 _float4 null,
        STANUMBERS3: stanumbers3 _float4 null,
        STANUMBERS4: stanumbers4 _float4 null,
        STANUMBERS5: stanumbers5 _float4 null,
        STAVALUES1: stavalues1 anyarray null,
        STAVALUES2: stavalues2 anyarray null,
        STAVALUES3: stavalues3 anyarray null,
        STAVALUES4: stavalues4 anyarray null,
        STAVALUES5: stavalues5 anyarray null,
    } indexes {
        PG_STATISTIC_RELID_ATT_INH_INDEX: pg_statistic_relid_att_inh_index = 2696 primary 10171 (STARELID, STAATTNUM, STAINHERIT),
    }
    pg_statistic_ext = 3381 local, rowtype 10031 10030, toast 3439 3440 {
        OID: oid oid,
        STXRELID: stxrelid oid,
        STXNAME: stxname name,
        STXNAMESPACE: stxnamespace oid,
        STXOWNER: stxowner oid,
        STXKEYS: stxkeys int2vector,
        STXSTATTARGET: stxstattarget int2 null,
        STXKIND: stxkind _char,
        STXEXPRS: stxexprs pg_node_tree null,
    } indexes {
        PG_STATISTIC_EXT_OID_INDEX: pg_statistic_ext_oid_index = 3380 primary 10173 (OID),
        PG_STATISTIC_EXT_NAME_INDEX: pg_statistic_ext_name_index = 3997 unique 10174 (STXNAME, STXNAMESPACE),
        PG_STATISTIC_EXT_RELID_INDEX: pg_statistic_ext_relid_index = 3379 plain 0 (STXRELID),
    }
    pg_statistic_ext_data = 3429 local, rowtype 10033 10032, toast 3430 3431 {
        STXOID: stxoid oid,
        STXDINHERIT: stxdinherit bool,
        STXDNDISTINCT: stxdndistinct pg_ndistinct null,
        STXDDEPENDENCIES: stxddependencies pg_dependencies null,
        STXDMCV: stxdmcv pg_mcv_list null,
        STXDEXPR: stxdexpr _pg_statistic null,
    } indexes {
        PG_STATISTIC_EXT_DATA_STXOID_INH_INDEX: pg_statistic_ext_data_stxoid_inh_index = 3433 primary 10177 (STXOID, STXDINHERIT),
    }
    pg_largeobject = 2613 local, rowtype 10025 10024, toast 0 0 {
        LOID: loid oid,
        PAGENO: pageno int4,
        DATA: data bytea,
    } indexes {
        PG_LARGEOBJECT_LOID_PN_INDEX: pg_largeobject_loid_pn_index = 2683 primary 10165 (LOID, PAGENO),
    }
    pg_largeobject_metadata = 2995 local, rowtype 10023 10022, toast 0 0 {
        OID: oid oid,
        LOMOWNER: lomowner oid,
        LOMACL: lomacl _aclitem null,
    } indexes {
        PG_LARGEOBJECT_METADATA_OID_INDEX: pg_largeobject_metadata_oid_index = 2996 primary 10162 (OID),
    }
    pg_namespace = 2615 local, rowtype 10047 10046, toast 4163 4164 {
        OID: oid oid,
        NSPNAME: nspname name,
        NSPOWNER: nspowner oid,
        NSPACL: nspacl _aclitem null,
    } indexes {
        PG_NAMESPACE_OID_INDEX: pg_namespace_oid_index = 2685 primary 10200 (OID),
        PG_NAMESPACE_NSPNAME_INDEX: pg_namespace_nspname_index = 2684 unique 10198 (NSPNAME),
    }
}
