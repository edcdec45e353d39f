//! The cluster: databases, roles, tablespaces, extensions, replication.
//!
//! Names, types, numbers and order of columns are PostgreSQL 18's.

use super::{SystemTable, system_tables};

system_tables! {
    pg_auth_members = 1261 shared, rowtype 2843 10058, toast 0 0 {
        OID: oid oid,
        ROLEID: roleid oid,
        MEMBER: member oid,
        GRANTOR: grantor oid,
        ADMIN_OPTION: admin_option bool,
        INHERIT_OPTION: inherit_option bool,
        SET_OPTION: set_option bool,
    } indexes {
        PG_AUTH_MEMBERS_OID_INDEX: pg_auth_members_oid_index = 6303 primary 10218 (OID),
        PG_AUTH_MEMBERS_GRANTOR_INDEX: pg_auth_members_grantor_index = 6302 plain 0 (GRANTOR),
        PG_AUTH_MEMBERS_MEMBER_ROLE_INDEX: pg_auth_members_member_role_index = 2695 unique 10220 (MEMBER, ROLEID, GRANTOR),
        PG_AUTH_MEMBERS_ROLE_MEMBER_INDEX: pg_auth_members_role_member_index = 2694 unique 10219 (ROLEID, MEMBER, GRANTOR),
    }
    pg_authid = 1260 shared, rowtype 2842 10057, toast 0 0 {
        OID: oid oid,
        ROLNAME: rolname name,
        ROLSUPER: rolsuper bool,
        ROLINHERIT: rolinherit bool,
        ROLCREATEROLE: rolcreaterole bool,
        ROLCREATEDB: rolcreatedb bool,
        ROLCANLOGIN: rolcanlogin bool,
        ROLREPLICATION: rolreplication bool,
        ROLBYPASSRLS: rolbypassrls bool,
        ROLCONNLIMIT: rolconnlimit int4,
        ROLPASSWORD: rolpassword text null,
        ROLVALIDUNTIL: rolvaliduntil timestamptz null,
    } indexes {
        PG_AUTHID_OID_INDEX: pg_authid_oid_index = 2677 primary 10216 (OID),
        PG_AUTHID_ROLNAME_INDEX: pg_authid_rolname_index = 2676 unique 10214 (ROLNAME),
    }
    pg_database = 1262 shared, rowtype 1248 10052, toast 4177 4178 {
        OID: oid oid,
        DATNAME: datname name,
        DATDBA: datdba oid,
        ENCODING: encoding int4,
        DATLOCPROVIDER: datlocprovider char,
        DATISTEMPLATE: datistemplate bool,
        DATALLOWCONN: datallowconn bool,
        DATHASLOGINEVT: dathasloginevt bool,
        DATCONNLIMIT: datconnlimit int4,
        DATFROZENXID: datfrozenxid xid,
        DATMINMXID: datminmxid xid,
        DATTABLESPACE: dattablespace oid,
        DATCOLLATE: datcollate text,
        DATCTYPE: datctype text,
        DATLOCALE: datlocale text null,
        DATICURULES: daticurules text null,
        DATCOLLVERSION: datcollversion text null,
        DATACL: datacl _aclitem null,
    } indexes {
        PG_DATABASE_OID_INDEX: pg_database_oid_index = 2672 primary 10207 (OID),
        PG_DATABASE_DATNAME_INDEX: pg_database_datname_index = 2671 unique 10205 (DATNAME),
    }
    pg_db_role_setting = 2964 shared, rowtype 10054 10053, toast 2966 2967 {
        SETDATABASE: setdatabase oid,
        SETROLE: setrole oid,
        SETCONFIG: setconfig _text null,
    } indexes {
        PG_DB_ROLE_SETTING_DATABASEID_ROL_INDEX: pg_db_role_setting_databaseid_rol_index = 2965 primary 10210 (SETDATABASE, SETROLE),
    }
    pg_default_acl = 826 local, rowtype 10088 10087, toast 4143 4144 {
        OID: oid oid,
        DEFACLROLE: defaclrole oid,
        DEFACLNAMESPACE: defaclnamespace oid,
        DEFACLOBJTYPE: defaclobjtype char,
        DEFACLACL: defaclacl _aclitem,
    } indexes {
        PG_DEFAULT_ACL_OID_INDEX: pg_default_acl_oid_index = 828 primary 10262 (OID),
        PG_DEFAULT_ACL_ROLE_NSP_OBJ_INDEX: pg_default_acl_role_nsp_obj_index = 827 unique 10260 (DEFACLROLE, DEFACLNAMESPACE, DEFACLOBJTYPE),
    }
    pg_event_trigger = 3466 local, rowtype 10039 10038, toast 4145 4146 {
        OID: oid oid,
        EVTNAME: evtname name,
        EVTEVENT: evtevent name,
        EVTOWNER: evtowner oid,
        EVTFOID: evtfoid oid,
        EVTENABLED: evtenabled char,
        EVTTAGS: evttags _text null,
    } indexes {
        PG_EVENT_TRIGGER_OID_INDEX: pg_event_trigger_oid_index = 3468 primary 10186 (OID),
        PG_EVENT_TRIGGER_EVTNAME_INDEX: pg_event_trigger_evtname_index = 3467 unique 10184 (EVTNAME),
    }
    pg_extension = 3079 local, rowtype 10074 10073, toast 4147 4148 {
        OID: oid oid,
        EXTNAME: extname name,
        EXTOWNER: extowner oid,
        EXTNAMESPACE: extnamespace oid,
        EXTRELOCATABLE: extrelocatable bool,
        EXTVERSION: extversion text,
        EXTCONFIG: extconfig _oid null,
        EXTCONDITION: extcondition _text null,
    } indexes {
        PG_EXTENSION_OID_INDEX: pg_extension_oid_index = 3080 primary 10241 (OID),
        PG_EXTENSION_NAME_INDEX: pg_extension_name_index = 3081 unique 10242 (EXTNAME),
    }
    pg_foreign_data_wrapper = 2328 local, rowtype 10076 10075, toast 4149 4150 {
        OID: oid oid,
        FDWNAME: fdwname name,
        FDWOWNER: fdwowner oid,
        FDWHANDLER: fdwhandler oid,
        FDWVALIDATOR: fdwvalidator oid,
        FDWACL: fdwacl _aclitem null,
        FDWOPTIONS: fdwoptions _text null,
    } indexes {
        PG_FOREIGN_DATA_WRAPPER_OID_INDEX: pg_foreign_data_wrapper_oid_index = 112 primary 10244 (OID),
        PG_FOREIGN_DATA_WRAPPER_NAME_INDEX: pg_foreign_data_wrapper_name_index = 548 unique 10245 (FDWNAME),
    }
    pg_foreign_server = 1417 local, rowtype 10078 10077, toast 4151 4152 {
        OID: oid oid,
        SRVNAME: srvname name,
        SRVOWNER: srvowner oid,
        SRVFDW: srvfdw oid,
        SRVTYPE: srvtype text null,
        SRVVERSION: srvversion text null,
        SRVACL: srvacl _aclitem null,
        SRVOPTIONS: srvoptions _text null,
    } indexes {
        PG_FOREIGN_SERVER_OID_INDEX: pg_foreign_server_oid_index = 113 primary 10247 (OID),
        PG_FOREIGN_SERVER_NAME_INDEX: pg_foreign_server_name_index = 549 unique 10248 (SRVNAME),
    }
    pg_foreign_table = 3118 local, rowtype 10082 10081, toast 4153 4154 {
        FTRELID: ftrelid oid,
        FTSERVER: ftserver oid,
        FTOPTIONS: ftoptions _text null,
    } indexes {
        PG_FOREIGN_TABLE_RELID_INDEX: pg_foreign_table_relid_index = 3119 primary 10253 (FTRELID),
    }
    pg_parameter_acl = 6243 shared, rowtype 10097 10096, toast 6244 6245 {
        OID: oid oid,
        PARNAME: parname text,
        PARACL: paracl _aclitem null,
    } indexes {
        PG_PARAMETER_ACL_OID_INDEX: pg_parameter_acl_oid_index = 6247 primary 10281 (OID),
        PG_PARAMETER_ACL_PARNAME_INDEX: pg_parameter_acl_parname_index = 6246 unique 10279 (PARNAME),
    }
    pg_publication = 6104 local, rowtype 10107 10106, toast 0 0 {
        OID: oid oid,
        PUBNAME: pubname name,
        PUBOWNER: pubowner oid,
        PUBALLTABLES: puballtables bool,
        PUBINSERT: pubinsert bool,
        PUBUPDATE: pubupdate bool,
        PUBDELETE: pubdelete bool,
        PUBTRUNCATE: pubtruncate bool,
        PUBVIAROOT: pubviaroot bool,
        PUBGENCOLS: pubgencols char,
    } indexes {
        PG_PUBLICATION_OID_INDEX: pg_publication_oid_index = 6110 primary 10293 (OID),
        PG_PUBLICATION_PUBNAME_INDEX: pg_publication_pubname_index = 6111 unique 10294 (PUBNAME),
    }
    pg_publication_namespace = 6237 local, rowtype 10109 10108, toast 0 0 {
        OID: oid oid,
        PNPUBID: pnpubid oid,
        PNNSPID: pnnspid oid,
    } indexes {
        PG_PUBLICATION_NAMESPACE_OID_INDEX: pg_publication_namespace_oid_index = 6238 primary 10296 (OID),
        PG_PUBLICATION_NAMESPACE_PNNSPID_PNPUBID_INDEX: pg_publication_namespace_pnnspid_pnpubid_index = 6239 unique 10297 (PNNSPID, PNPUBID),
    }
    pg_publication_rel = 6106 local, rowtype 10111 10110, toast 6228 6229 {
        OID: oid oid,
        PRPUBID: prpubid oid,
        PRRELID: prrelid oid,
        PRQUAL: prqual pg_node_tree null,
        PRATTRS: prattrs int2vector null,
    } indexes {
        PG_PUBLICATION_REL_OID_INDEX: pg_publication_rel_oid_index = 6112 primary 10299 (OID),
        PG_PUBLICATION_REL_PRPUBID_INDEX: pg_publication_rel_prpubid_index = 6116 plain 0 (PRPUBID),
        PG_PUBLICATION_REL_PRRELID_PRPUBID_INDEX: pg_publication_rel_prrelid_prpubid_index = 6113 unique 10300 (PRRELID, PRPUBID),
    }
    pg_replication_origin = 6000 shared, rowtype 10086 10085, toast 0 0 {
        ROIDENT: roident oid,
        RONAME: roname text,
    } indexes {
        PG_REPLICATION_ORIGIN_ROIIDENT_INDEX: pg_replication_origin_roiident_index = 6001 primary 10258 (ROIDENT),
        PG_REPLICATION_ORIGIN_RONAME_INDEX: pg_replication_origin_roname_index = 6002 unique 10259 (RONAME),
    }
    pg_subscription = 6100 shared, rowtype 6101 10112, toast 4183 4184 {
        OID: oid oid,
        SUBDBID: subdbid oid,
        SUBSKIPLSN: subskiplsn pg_lsn,
        SUBNAME: subname name,
        SUBOWNER: subowner oid,
        SUBENABLED: subenabled bool,
        SUBBINARY: subbinary bool,
        SUBSTREAM: substream char,
        SUBTWOPHASESTATE: subtwophasestate char,
        SUBDISABLEONERR: subdisableonerr bool,
        SUBPASSWORDREQUIRED: subpasswordrequired bool,
        SUBRUNASOWNER: subrunasowner bool,
        SUBFAILOVER: subfailover bool,
        SUBCONNINFO: subconninfo text,
        SUBSLOTNAME: subslotname name null,
        SUBSYNCCOMMIT: subsynccommit text,
        SUBPUBLICATIONS: subpublications _text,
        SUBORIGIN: suborigin text null,
    } indexes {
        PG_SUBSCRIPTION_OID_INDEX: pg_subscription_oid_index = 6114 primary 10302 (OID),
        PG_SUBSCRIPTION_SUBNAME_INDEX: pg_subscription_subname_index = 6115 unique 10303 (SUBDBID, SUBNAME),
    }
    pg_subscription_rel = 6102 local, rowtype 10114 10113, toast 0 0 {
        SRSUBID: srsubid oid,
        SRRELID: srrelid oid,
        SRSUBSTATE: srsubstate char,
        SRSUBLSN: srsublsn pg_lsn null,
    } indexes {
        PG_SUBSCRIPTION_REL_SRRELID_SRSUBID_INDEX: pg_subscription_rel_srrelid_srsubid_index = 6117 primary 10306 (SRRELID, SRSUBID),
    }
    pg_tablespace = 1213 shared, rowtype 10056 10055, toast 4185 4186 {
        OID: oid oid,
        SPCNAME: spcname name,
        SPCOWNER: spcowner oid,
        SPCACL: spcacl _aclitem null,
        SPCOPTIONS: spcoptions _text null,
    } indexes {
        PG_TABLESPACE_OID_INDEX: pg_tablespace_oid_index = 2697 primary 10212 (OID),
        PG_TABLESPACE_SPCNAME_INDEX: pg_tablespace_spcname_index = 2698 unique 10213 (SPCNAME),
    }
    pg_user_mapping = 1418 local, rowtype 10080 10079, toast 4173 4174 {
        OID: oid oid,
        UMUSER: umuser oid,
        UMSERVER: umserver oid,
        UMOPTIONS: umoptions _text null,
    } indexes {
        PG_USER_MAPPING_OID_INDEX: pg_user_mapping_oid_index = 174 primary 10250 (OID),
        PG_USER_MAPPING_USER_SERVER_INDEX: pg_user_mapping_user_server_index = 175 unique 10251 (UMUSER, UMSERVER),
    }
}
