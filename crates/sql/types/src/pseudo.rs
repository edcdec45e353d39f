//! Pseudo-types that only signatures have, and types whose values the server alone makes: their descriptors.

use base::{SqlResult, sql_err};

use crate::registry::types::prelude::*;

/// What a type that is only a name yet says to its values.
fn of_shell(verb: &str) -> SqlResult<Datum> {
    Err(sql_err!(FEATURE_NOT_SUPPORTED, "cannot {verb} a value of a shell type"))
}

functions! {
    2398 shell_in(cstring) -> void [immutable] { || of_shell("accept") }
    2399 shell_out(void) -> cstring [immutable strict] { || of_shell("display") }
    86 pg_ddl_command_in(cstring) -> pg_ddl_command [immutable strict] { input pg_ddl_command }
    87 pg_ddl_command_out(pg_ddl_command) -> cstring [immutable strict] { output pg_ddl_command }
    88 pg_ddl_command_recv(internal) -> pg_ddl_command [immutable strict] { receive pg_ddl_command }
    90 pg_ddl_command_send(pg_ddl_command) -> bytea [immutable strict] { send pg_ddl_command }
    267 table_am_handler_in(cstring) -> table_am_handler [immutable] { input table_am_handler }
    268 table_am_handler_out(table_am_handler) -> cstring [immutable strict] { output table_am_handler }
    326 index_am_handler_in(cstring) -> index_am_handler [immutable] { input index_am_handler }
    327 index_am_handler_out(index_am_handler) -> cstring [immutable strict] { output index_am_handler }
    2294 any_in(cstring) -> any [immutable strict] { input any }
    2295 any_out(any) -> cstring [immutable strict] { output any }
    2298 void_in(cstring) -> void [immutable strict] { input void }
    2299 void_out(void) -> cstring [immutable strict] { output void }
    2300 trigger_in(cstring) -> trigger [immutable] { input trigger }
    2301 trigger_out(trigger) -> cstring [immutable strict] { output trigger }
    2302 language_handler_in(cstring) -> language_handler [immutable] { input language_handler }
    2303 language_handler_out(language_handler) -> cstring [immutable strict] { output language_handler }
    2304 internal_in(cstring) -> internal [immutable] { input internal }
    2305 internal_out(internal) -> cstring [immutable strict] { output internal }
    2312 anyelement_in(cstring) -> anyelement [immutable strict] { input anyelement }
    2313 anyelement_out(anyelement) -> cstring [immutable strict] { output anyelement }
    2777 anynonarray_in(cstring) -> anynonarray [immutable strict] { input anynonarray }
    2778 anynonarray_out(anynonarray) -> cstring [immutable strict] { output anynonarray }
    3116 fdw_handler_in(cstring) -> fdw_handler [immutable] { input fdw_handler }
    3117 fdw_handler_out(fdw_handler) -> cstring [immutable strict] { output fdw_handler }
    3120 void_recv(internal) -> void [immutable strict] { receive void }
    3121 void_send(void) -> bytea [immutable strict] { send void }
    3311 tsm_handler_in(cstring) -> tsm_handler [immutable] { input tsm_handler }
    3312 tsm_handler_out(tsm_handler) -> cstring [immutable strict] { output tsm_handler }
    3355 pg_ndistinct_in(cstring) -> pg_ndistinct [immutable strict] { input pg_ndistinct }
    3356 pg_ndistinct_out(pg_ndistinct) -> cstring [immutable strict] { output pg_ndistinct }
    3357 pg_ndistinct_recv(internal) -> pg_ndistinct [stable strict] { receive pg_ndistinct }
    3358 pg_ndistinct_send(pg_ndistinct) -> bytea [stable strict] { send pg_ndistinct }
    3404 pg_dependencies_in(cstring) -> pg_dependencies [immutable strict] { input pg_dependencies }
    3405 pg_dependencies_out(pg_dependencies) -> cstring [immutable strict] { output pg_dependencies }
    3406 pg_dependencies_recv(internal) -> pg_dependencies [stable strict] { receive pg_dependencies }
    3407 pg_dependencies_send(pg_dependencies) -> bytea [stable strict] { send pg_dependencies }
    3594 event_trigger_in(cstring) -> event_trigger [immutable] { input event_trigger }
    3595 event_trigger_out(event_trigger) -> cstring [immutable strict] { output event_trigger }
    4226 anycompatiblemultirange_in(cstring, oid, int4) -> anycompatiblemultirange [stable strict] { input anycompatiblemultirange }
    4227 anycompatiblemultirange_out(anycompatiblemultirange) -> cstring [stable strict] { output anycompatiblemultirange }
    5018 pg_mcv_list_in(cstring) -> pg_mcv_list [immutable strict] { input pg_mcv_list }
    5019 pg_mcv_list_out(pg_mcv_list) -> cstring [immutable strict] { output pg_mcv_list }
    5020 pg_mcv_list_recv(internal) -> pg_mcv_list [stable strict] { receive pg_mcv_list }
    5021 pg_mcv_list_send(pg_mcv_list) -> bytea [stable strict] { send pg_mcv_list }
    5086 anycompatible_in(cstring) -> anycompatible [immutable strict] { input anycompatible }
    5087 anycompatible_out(anycompatible) -> cstring [immutable strict] { output anycompatible }
    5088 anycompatiblearray_in(cstring) -> anycompatiblearray [immutable strict] { input anycompatiblearray }
    5089 anycompatiblearray_out(anycompatiblearray) -> cstring [stable strict] { output anycompatiblearray }
    5090 anycompatiblearray_recv(internal) -> anycompatiblearray [stable strict] { receive anycompatiblearray }
    5091 anycompatiblearray_send(anycompatiblearray) -> bytea [stable strict] { send anycompatiblearray }
    5092 anycompatiblenonarray_in(cstring) -> anycompatiblenonarray [immutable strict] { input anycompatiblenonarray }
    5093 anycompatiblenonarray_out(anycompatiblenonarray) -> cstring [immutable strict] { output anycompatiblenonarray }
    5094 anycompatiblerange_in(cstring, oid, int4) -> anycompatiblerange [stable strict] { input anycompatiblerange }
    5095 anycompatiblerange_out(anycompatiblerange) -> cstring [stable strict] { output anycompatiblerange }
}

/// What a statement of data definition became.
pub(crate) static PG_DDL_COMMAND: TypeImp = TypeImp {
    row: Some(TypeInfo {
        io: [Oid(86), Oid(87), Oid(88), Oid(90)],
        ..TypeInfo::pseudo(oids::pg_ddl_command, "pg_ddl_command", Physical::Int8)
    }),
    ..TypeImp::NONE
};

/// A handler, which the server calls.
pub(crate) static TABLE_AM_HANDLER: TypeImp = TypeImp {
    row: Some(TypeInfo {
        io: [Oid(267), Oid(268), Oid(0), Oid(0)],
        ..TypeInfo::pseudo(oids::table_am_handler, "table_am_handler", Physical::Oid)
    }),
    ..TypeImp::NONE
};

/// A handler, which the server calls.
pub(crate) static INDEX_AM_HANDLER: TypeImp = TypeImp {
    row: Some(TypeInfo {
        io: [Oid(326), Oid(327), Oid(0), Oid(0)],
        ..TypeInfo::pseudo(oids::index_am_handler, "index_am_handler", Physical::Oid)
    }),
    ..TypeImp::NONE
};

/// Any type, in signatures.
pub(crate) static ANY: TypeImp = TypeImp {
    row: Some(TypeInfo {
        io: [Oid(2294), Oid(2295), Oid(0), Oid(0)],
        ..TypeInfo::pseudo(oids::any, "any", Physical::Oid)
    }),
    sql_name: "\"any\"",
    ..TypeImp::NONE
};

/// No value.
pub(crate) static VOID: TypeImp = TypeImp {
    row: Some(TypeInfo {
        io: [Oid(2298), Oid(2299), Oid(3120), Oid(3121)],
        ..TypeInfo::pseudo(oids::void, "void", Physical::Oid)
    }),
    input: |_, _, _, _| Ok(Datum::text("")),
    output: |_, _, _, _| Ok(()),
    receive: |_, _, _, _| Ok(Datum::text("")),
    send: |_, _, _, _| Ok(()),
    ..TypeImp::NONE
};

/// What trigger functions give.
pub(crate) static TRIGGER: TypeImp = TypeImp {
    row: Some(TypeInfo {
        io: [Oid(2300), Oid(2301), Oid(0), Oid(0)],
        ..TypeInfo::pseudo(oids::trigger, "trigger", Physical::Oid)
    }),
    ..TypeImp::NONE
};

/// A handler, which the server calls.
pub(crate) static LANGUAGE_HANDLER: TypeImp = TypeImp {
    row: Some(TypeInfo {
        io: [Oid(2302), Oid(2303), Oid(0), Oid(0)],
        ..TypeInfo::pseudo(oids::language_handler, "language_handler", Physical::Oid)
    }),
    ..TypeImp::NONE
};

/// What only the server itself can pass.
pub(crate) static INTERNAL: TypeImp = TypeImp {
    row: Some(TypeInfo {
        io: [Oid(2304), Oid(2305), Oid(0), Oid(0)],
        ..TypeInfo::pseudo(oids::internal, "internal", Physical::Int8)
    }),
    ..TypeImp::NONE
};

/// Any type that fits, in signatures.
pub(crate) static ANYELEMENT: TypeImp = TypeImp {
    row: Some(TypeInfo {
        io: [Oid(2312), Oid(2313), Oid(0), Oid(0)],
        ..TypeInfo::pseudo(oids::anyelement, "anyelement", Physical::Oid)
    }),
    ..TypeImp::NONE
};

/// Any type that fits, in signatures.
pub(crate) static ANYNONARRAY: TypeImp = TypeImp {
    row: Some(TypeInfo {
        io: [Oid(2777), Oid(2778), Oid(0), Oid(0)],
        ..TypeInfo::pseudo(oids::anynonarray, "anynonarray", Physical::Oid)
    }),
    ..TypeImp::NONE
};

/// A handler, which the server calls.
pub(crate) static FDW_HANDLER: TypeImp = TypeImp {
    row: Some(TypeInfo {
        io: [Oid(3116), Oid(3117), Oid(0), Oid(0)],
        ..TypeInfo::pseudo(oids::fdw_handler, "fdw_handler", Physical::Oid)
    }),
    ..TypeImp::NONE
};

/// A handler, which the server calls.
pub(crate) static TSM_HANDLER: TypeImp = TypeImp {
    row: Some(TypeInfo {
        io: [Oid(3311), Oid(3312), Oid(0), Oid(0)],
        ..TypeInfo::pseudo(oids::tsm_handler, "tsm_handler", Physical::Oid)
    }),
    ..TypeImp::NONE
};

/// Extended statistics; only the server makes them.
pub(crate) static PG_NDISTINCT: TypeImp = TypeImp {
    row: Some(TypeInfo {
        io: [Oid(3355), Oid(3356), Oid(3357), Oid(3358)],
        collation: Oid(100),
        ..TypeInfo::new(oids::pg_ndistinct, "pg_ndistinct", b'Z', Physical::Varlena)
    }),
    ..TypeImp::NONE
};

/// Extended statistics; only the server makes them.
pub(crate) static PG_DEPENDENCIES: TypeImp = TypeImp {
    row: Some(TypeInfo {
        io: [Oid(3404), Oid(3405), Oid(3406), Oid(3407)],
        collation: Oid(100),
        ..TypeInfo::new(oids::pg_dependencies, "pg_dependencies", b'Z', Physical::Varlena)
    }),
    ..TypeImp::NONE
};

/// What event trigger functions give.
pub(crate) static EVENT_TRIGGER: TypeImp = TypeImp {
    row: Some(TypeInfo {
        io: [Oid(3594), Oid(3595), Oid(0), Oid(0)],
        ..TypeInfo::pseudo(oids::event_trigger, "event_trigger", Physical::Oid)
    }),
    ..TypeImp::NONE
};

/// Any type that fits, in signatures.
pub(crate) static ANYCOMPATIBLEMULTIRANGE: TypeImp = TypeImp {
    row: Some(TypeInfo {
        io: [Oid(4226), Oid(4227), Oid(0), Oid(0)],
        align: 8,
        ..TypeInfo::pseudo(oids::anycompatiblemultirange, "anycompatiblemultirange", Physical::Varlena)
    }),
    ..TypeImp::NONE
};

/// Extended statistics; only the server makes them.
pub(crate) static PG_MCV_LIST: TypeImp = TypeImp {
    row: Some(TypeInfo {
        io: [Oid(5018), Oid(5019), Oid(5020), Oid(5021)],
        collation: Oid(100),
        ..TypeInfo::new(oids::pg_mcv_list, "pg_mcv_list", b'Z', Physical::Varlena)
    }),
    ..TypeImp::NONE
};

/// Any type that fits, in signatures.
pub(crate) static ANYCOMPATIBLE: TypeImp = TypeImp {
    row: Some(TypeInfo {
        io: [Oid(5086), Oid(5087), Oid(0), Oid(0)],
        ..TypeInfo::pseudo(oids::anycompatible, "anycompatible", Physical::Oid)
    }),
    ..TypeImp::NONE
};

/// Any type that fits, in signatures.
pub(crate) static ANYCOMPATIBLEARRAY: TypeImp = TypeImp {
    row: Some(TypeInfo {
        io: [Oid(5088), Oid(5089), Oid(5090), Oid(5091)],
        align: 8,
        ..TypeInfo::pseudo(oids::anycompatiblearray, "anycompatiblearray", Physical::Varlena)
    }),
    ..TypeImp::NONE
};

/// Any type that fits, in signatures.
pub(crate) static ANYCOMPATIBLENONARRAY: TypeImp = TypeImp {
    row: Some(TypeInfo {
        io: [Oid(5092), Oid(5093), Oid(0), Oid(0)],
        ..TypeInfo::pseudo(oids::anycompatiblenonarray, "anycompatiblenonarray", Physical::Oid)
    }),
    ..TypeImp::NONE
};

/// Any type that fits, in signatures.
pub(crate) static ANYCOMPATIBLERANGE: TypeImp = TypeImp {
    row: Some(TypeInfo {
        io: [Oid(5094), Oid(5095), Oid(0), Oid(0)],
        align: 8,
        ..TypeInfo::pseudo(oids::anycompatiblerange, "anycompatiblerange", Physical::Varlena)
    }),
    ..TypeImp::NONE
};
