//! Pseudo-types that only signatures have: their descriptors.

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
    3594 event_trigger_in(cstring) -> event_trigger [immutable] { input event_trigger }
    3595 event_trigger_out(event_trigger) -> cstring [immutable strict] { output event_trigger }
    4226 anycompatiblemultirange_in(cstring, oid, int4) -> anycompatiblemultirange [stable strict] { input anycompatiblemultirange }
    4227 anycompatiblemultirange_out(anycompatiblemultirange) -> cstring [stable strict] { output anycompatiblemultirange }
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

/// What signatures alone have. One of varying length is aligned as any type may want.
const fn pseudo(oid: Oid, name: &'static str, physical: Physical, io: [u32; 4]) -> TypeImp {
    let row = TypeInfo { io: io_functions(io), ..TypeInfo::pseudo(oid, name, physical) };
    let align = if matches!(physical, Physical::Varlena) { 8 } else { row.align };
    TypeImp { row: Some(TypeInfo { align, ..row }), ..TypeImp::NONE }
}

/// What a statement of data definition became.
pub(crate) static PG_DDL_COMMAND: TypeImp =
    pseudo(oids::pg_ddl_command, "pg_ddl_command", Physical::Int8, [86, 87, 88, 90]);

/// A handler, which the server calls.
pub(crate) static TABLE_AM_HANDLER: TypeImp =
    pseudo(oids::table_am_handler, "table_am_handler", Physical::Oid, [267, 268, 0, 0]);

/// A handler, which the server calls.
pub(crate) static INDEX_AM_HANDLER: TypeImp =
    pseudo(oids::index_am_handler, "index_am_handler", Physical::Oid, [326, 327, 0, 0]);

/// Any type, in signatures.
pub(crate) static ANY: TypeImp =
    TypeImp { sql_name: "\"any\"", ..pseudo(oids::any, "any", Physical::Oid, [2294, 2295, 0, 0]) };

/// No value.
pub(crate) static VOID: TypeImp = TypeImp {
    input: |_, _, _, _| Ok(Datum::text("")),
    output: |_, _, _, _| Ok(()),
    receive: |_, _, _, _| Ok(Datum::text("")),
    send: |_, _, _, _| Ok(()),
    ..pseudo(oids::void, "void", Physical::Oid, [2298, 2299, 3120, 3121])
};

/// What trigger functions give.
pub(crate) static TRIGGER: TypeImp = pseudo(oids::trigger, "trigger", Physical::Oid, [2300, 2301, 0, 0]);

/// A handler, which the server calls.
pub(crate) static LANGUAGE_HANDLER: TypeImp =
    pseudo(oids::language_handler, "language_handler", Physical::Oid, [2302, 2303, 0, 0]);

/// What only the server itself can pass.
pub(crate) static INTERNAL: TypeImp = pseudo(oids::internal, "internal", Physical::Int8, [2304, 2305, 0, 0]);

/// Any type that fits, in signatures.
pub(crate) static ANYELEMENT: TypeImp =
    pseudo(oids::anyelement, "anyelement", Physical::Oid, [2312, 2313, 0, 0]);

/// Any type that fits, in signatures.
pub(crate) static ANYNONARRAY: TypeImp =
    pseudo(oids::anynonarray, "anynonarray", Physical::Oid, [2777, 2778, 0, 0]);

/// A handler, which the server calls.
pub(crate) static FDW_HANDLER: TypeImp =
    pseudo(oids::fdw_handler, "fdw_handler", Physical::Oid, [3116, 3117, 0, 0]);

/// A handler, which the server calls.
pub(crate) static TSM_HANDLER: TypeImp =
    pseudo(oids::tsm_handler, "tsm_handler", Physical::Oid, [3311, 3312, 0, 0]);

/// What event trigger functions give.
pub(crate) static EVENT_TRIGGER: TypeImp =
    pseudo(oids::event_trigger, "event_trigger", Physical::Oid, [3594, 3595, 0, 0]);

/// Any type that fits, in signatures.
pub(crate) static ANYCOMPATIBLEMULTIRANGE: TypeImp =
    pseudo(oids::anycompatiblemultirange, "anycompatiblemultirange", Physical::Varlena, [4226, 4227, 0, 0]);

/// Any type that fits, in signatures.
pub(crate) static ANYCOMPATIBLE: TypeImp =
    pseudo(oids::anycompatible, "anycompatible", Physical::Oid, [5086, 5087, 0, 0]);

/// Any type that fits, in signatures.
pub(crate) static ANYCOMPATIBLEARRAY: TypeImp =
    pseudo(oids::anycompatiblearray, "anycompatiblearray", Physical::Varlena, [5088, 5089, 5090, 5091]);

/// Any type that fits, in signatures.
pub(crate) static ANYCOMPATIBLENONARRAY: TypeImp =
    pseudo(oids::anycompatiblenonarray, "anycompatiblenonarray", Physical::Oid, [5092, 5093, 0, 0]);

/// Any type that fits, in signatures.
pub(crate) static ANYCOMPATIBLERANGE: TypeImp =
    pseudo(oids::anycompatiblerange, "anycompatiblerange", Physical::Varlena, [5094, 5095, 0, 0]);
