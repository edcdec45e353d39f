//! Built-in types, functions, operators, casts, aggregates and operator classes, from the registry of `sql/types`.

use base::{Oid, SqlResult};
use tuple::Datum;
use types::acl::{self, AclItem};
use types::range::RANGES;
use types::registry::{
    ORDERING_METHOD, aggregates::AGGREGATES, builtin_types, casts::CASTS, families, functions, is_unlisted,
    opclasses, operators::OPERATORS,
};
use types::{CastContext, CastMethod, Function, Operator, Selectivity, TypeInfo, Volatility};

use super::{BOOTSTRAP_SUPERUSER, Rows, add, everybody};
use crate::database::PG_CATALOG;
use crate::roles::predefined;
use crate::row::RowBuilder;
use crate::shape::align_letter;
use crate::system::{
    pg_aggregate, pg_amop, pg_amproc, pg_cast, pg_opclass, pg_operator, pg_opfamily, pg_proc, pg_range,
    pg_type,
};
use crate::vectors::{char_array, oid_array, oid_vector, text_array};

/// Language `internal`.
const INTERNAL: Oid = Oid(12);

/// Adds the rows of everything built in.
pub(super) fn describe(rows: &mut Rows) -> SqlResult<()> {
    for info in builtin_types() {
        add_type(rows, info);
    }
    for function in functions().iter().filter(|f| !is_unlisted(f.oid)) {
        add_function(rows, function)?;
    }
    add_ranges(rows);
    add_operators(rows);
    add_casts(rows);
    add_aggregates(rows);
    add_operator_classes(rows);
    Ok(())
}

fn add_type(rows: &mut Rows, info: &TypeInfo) {
    use pg_type as t;
    let align = align_letter(info.align);
    let row = RowBuilder::new(&t::TABLE)
        .set(t::OID, info.oid)
        .set(t::TYPNAME, info.name)
        .set(t::TYPNAMESPACE, PG_CATALOG)
        .set(t::TYPOWNER, BOOTSTRAP_SUPERUSER)
        .set(t::TYPLEN, info.len)
        .set(t::TYPBYVAL, info.byval)
        .set(t::TYPTYPE, info.kind)
        .set(t::TYPCATEGORY, info.category)
        .set(t::TYPISPREFERRED, info.preferred)
        .set(t::TYPISDEFINED, true)
        .set(t::TYPDELIM, info.delimiter)
        .set(t::TYPSUBSCRIPT, info.subscript)
        .set(t::TYPELEM, info.element)
        .set(t::TYPARRAY, info.array)
        .set(t::TYPINPUT, info.io[0])
        .set(t::TYPOUTPUT, info.io[1])
        .set(t::TYPRECEIVE, info.io[2])
        .set(t::TYPSEND, info.io[3])
        .set(t::TYPMODIN, info.typmod_io[0])
        .set(t::TYPMODOUT, info.typmod_io[1])
        .set(t::TYPALIGN, align)
        .set(t::TYPSTORAGE, info.storage)
        .set(t::TYPTYPMOD, -1)
        .set(t::TYPCOLLATION, info.collation);
    add(rows, &t::TABLE, row.build());
}

fn add_ranges(rows: &mut Rows) {
    use pg_range as r;
    let function = |name: &str| {
        types::registry::functions_named(name).first().map_or(Oid::INVALID, |function| function.oid)
    };
    for range in &RANGES {
        let name = types::builtin_type(range.range).map_or("", |info| info.name);
        let class = families::default_class_for(ORDERING_METHOD, range.subtype);
        let row = RowBuilder::new(&r::TABLE)
            .set(r::RNGTYPID, range.range)
            .set(r::RNGSUBTYPE, range.subtype)
            .set(r::RNGMULTITYPID, range.multirange)
            .set(r::RNGSUBOPC, class.map_or(Oid::INVALID, |class| class.oid))
            .set(r::RNGCANONICAL, function(&format!("{name}_canonical")))
            .set(r::RNGSUBDIFF, function(&format!("{name}_subdiff")));
        add(rows, &r::TABLE, row.build());
    }
}

fn add_function(rows: &mut Rows, f: &Function) -> SqlResult<()> {
    use pg_proc as p;
    let volatility = match f.volatility {
        Volatility::Immutable => b'i',
        Volatility::Stable => b's',
        Volatility::Volatile => b'v',
    };
    let defaults = crate::stored_list::join(f.defaults);
    let row = RowBuilder::new(&p::TABLE)
        .set(p::OID, f.oid)
        .set(p::PRONAME, f.name)
        .set(p::PRONAMESPACE, PG_CATALOG)
        .set(p::PROOWNER, BOOTSTRAP_SUPERUSER)
        .set(p::PROLANG, INTERNAL)
        .set(p::PROCOST, f.cost)
        .set(p::PROROWS, f.rows)
        .set(p::PROVARIADIC, f.variadic)
        .set(p::PROKIND, f.kind)
        .set(p::PROLEAKPROOF, f.leakproof)
        .set(p::PROISSTRICT, f.strict)
        .set(p::PRORETSET, f.retset)
        .set(p::PROVOLATILE, volatility)
        .set(p::PROPARALLEL, f.parallel)
        .set(p::PRONARGS, f.args.len() as i16)
        .set(p::PRONARGDEFAULTS, f.defaults.len() as i16)
        .set(p::PRORETTYPE, f.result)
        .set(p::PROARGTYPES, oid_vector(f.args))
        .set_some(p::PROALLARGTYPES, (!f.all_args.is_empty()).then(|| oid_array(f.all_args)).transpose()?)
        .set_some(p::PROARGMODES, (!f.arg_modes.is_empty()).then(|| char_array(f.arg_modes)).transpose()?)
        .set_some(p::PROARGNAMES, (!f.arg_names.is_empty()).then(|| text_array(f.arg_names)))
        .set_some(p::PROARGDEFAULTS, (!f.defaults.is_empty()).then_some(defaults))
        .set_some(p::PROACL, function_acl(f.name)?)
        .set(p::PROSRC, types::registry::symbol(f));
    add(rows, &p::TABLE, row.build());
    Ok(())
}

/// Functions that only superusers may call, and the predefined roles that may call them too.
const RESTRICTED: &[(&[&str], Option<Oid>)] = &[
    (
        &[
            "lo_export",
            "lo_import",
            "pg_backup_start",
            "pg_backup_stop",
            "pg_config",
            "pg_create_restore_point",
            "pg_hba_file_rules",
            "pg_ident_file_mappings",
            "pg_log_backend_memory_contexts",
            "pg_log_standby_snapshot",
            "pg_ls_dir",
            "pg_promote",
            "pg_read_binary_file",
            "pg_read_file",
            "pg_reload_conf",
            "pg_rotate_logfile",
            "pg_show_all_file_settings",
            "pg_stat_file",
            "pg_stat_have_stats",
            "pg_stat_reset",
            "pg_stat_reset_backend_stats",
            "pg_stat_reset_replication_slot",
            "pg_stat_reset_shared",
            "pg_stat_reset_single_function_counters",
            "pg_stat_reset_single_table_counters",
            "pg_stat_reset_slru",
            "pg_stat_reset_subscription_stats",
            "pg_switch_wal",
            "pg_wal_replay_pause",
            "pg_wal_replay_resume",
        ],
        None,
    ),
    (
        &[
            "pg_current_logfile",
            "pg_ls_archive_statusdir",
            "pg_ls_logdir",
            "pg_ls_logicalmapdir",
            "pg_ls_logicalsnapdir",
            "pg_ls_replslotdir",
            "pg_ls_summariesdir",
            "pg_ls_tmpdir",
            "pg_ls_waldir",
        ],
        Some(predefined::MONITOR),
    ),
    (
        &[
            "pg_get_aios",
            "pg_get_backend_memory_contexts",
            "pg_get_shmem_allocations",
            "pg_get_shmem_allocations_numa",
        ],
        Some(predefined::READ_ALL_STATS),
    ),
];

fn function_acl(name: &str) -> SqlResult<Option<Datum>> {
    let origin = name.starts_with("pg_replication_origin_") || name == "pg_show_replication_origin_status";
    let other = match RESTRICTED.iter().find(|(names, _)| names.contains(&name)) {
        Some((_, other)) => *other,
        None if origin => None,
        None => return Ok(None),
    };
    let execute = |grantee| AclItem { grantee, ..everybody(acl::bits("X")) };
    let items: Vec<AclItem> = [Some(BOOTSTRAP_SUPERUSER), other].into_iter().flatten().map(execute).collect();
    acl::array_of(&items).map(Some)
}

fn add_operators(rows: &mut Rows) {
    use pg_operator as o;
    for op in OPERATORS.iter().filter(|op| !is_unlisted(op.oid)) {
        let (restrict, join) = estimators(op);
        let row = RowBuilder::new(&o::TABLE)
            .set(o::OID, op.oid)
            .set(o::OPRNAME, op.name)
            .set(o::OPRNAMESPACE, PG_CATALOG)
            .set(o::OPROWNER, BOOTSTRAP_SUPERUSER)
            .set(o::OPRKIND, if op.left.is_valid() { b'b' } else { b'l' })
            .set(o::OPRCANMERGE, op.can_merge)
            .set(o::OPRCANHASH, op.can_hash)
            .set(o::OPRLEFT, op.left)
            .set(o::OPRRIGHT, op.right)
            .set(o::OPRRESULT, op.result)
            .set(o::OPRCOM, op.commutator)
            .set(o::OPRNEGATE, op.negator)
            .set(o::OPRCODE, op.function)
            .set(o::OPRREST, Oid(restrict))
            .set(o::OPRJOIN, Oid(join));
        add(rows, &o::TABLE, row.build());
    }
}

/// OIDs of the estimator functions, for restrictions and for joins.
fn estimators(op: &Operator) -> (u32, u32) {
    // Joins over ranges are estimated by what the operator's name means elsewhere.
    let range_join = || match op.name {
        "<" | "<<" | "&<" => 107,
        "<=" => 386,
        ">" | ">>" | "&>" => 108,
        ">=" => 398,
        "&&" => 140,
        _ => 1303,
    };
    let (restrict, join) = op.selectivity.estimators();
    match op.selectivity {
        Selectivity::Range | Selectivity::Multirange => (restrict.0, range_join()),
        _ => (restrict.0, join.0),
    }
}

fn add_casts(rows: &mut Rows) {
    use pg_cast as c;
    for cast in CASTS {
        let (method, function) = match cast.method {
            CastMethod::Function(oid) => (b'f', oid),
            CastMethod::Binary => (b'b', Oid::INVALID),
            CastMethod::InOut => (b'i', Oid::INVALID),
        };
        let context = match cast.context {
            CastContext::Implicit => b'i',
            CastContext::Assignment => b'a',
            CastContext::Explicit => b'e',
        };
        let row = RowBuilder::new(&c::TABLE)
            .set(c::OID, cast.oid)
            .set(c::CASTSOURCE, cast.source)
            .set(c::CASTTARGET, cast.target)
            .set(c::CASTFUNC, function)
            .set(c::CASTCONTEXT, context)
            .set(c::CASTMETHOD, method);
        add(rows, &c::TABLE, row.build());
    }
}

fn add_aggregates(rows: &mut Rows) {
    use pg_aggregate as a;
    for aggregate in AGGREGATES {
        let result = types::registry::function(aggregate.function).map(|f| f.result);
        let polymorphic = matches!(result, Some(types::oids::anyelement | types::oids::anyarray));
        let modify = match aggregate.kind {
            b'o' => b's',
            b'h' => b'w',
            _ => b'r',
        };
        let row = RowBuilder::new(&a::TABLE)
            .set(a::AGGFNOID, aggregate.function)
            .set(a::AGGKIND, aggregate.kind)
            .set(a::AGGNUMDIRECTARGS, aggregate.direct_args)
            .set(a::AGGTRANSFN, aggregate.transition)
            .set(a::AGGFINALFN, aggregate.final_function)
            .set(a::AGGCOMBINEFN, aggregate.combine)
            .set(a::AGGFINALEXTRA, aggregate.kind == b'h' || aggregate.kind == b'o' && polymorphic)
            .set(a::AGGFINALMODIFY, modify)
            .set(a::AGGMFINALMODIFY, modify)
            .set(a::AGGSORTOP, aggregate.sort_operator)
            .set(a::AGGTRANSTYPE, aggregate.transition_type)
            .set_some(a::AGGINITVAL, aggregate.initial);
        add(rows, &a::TABLE, row.build());
    }
}

fn add_operator_classes(rows: &mut Rows) {
    for family in opclasses::OPFAMILIES {
        use pg_opfamily as f;
        let row = RowBuilder::new(&f::TABLE)
            .set(f::OID, family.oid)
            .set(f::OPFMETHOD, family.method)
            .set(f::OPFNAME, family.name)
            .set(f::OPFNAMESPACE, PG_CATALOG)
            .set(f::OPFOWNER, BOOTSTRAP_SUPERUSER);
        add(rows, &f::TABLE, row.build());
    }
    for class in opclasses::OPCLASSES.iter().filter(|class| !is_unlisted(class.oid)) {
        use pg_opclass as c;
        let row = RowBuilder::new(&c::TABLE)
            .set(c::OID, class.oid)
            .set(c::OPCMETHOD, class.method)
            .set(c::OPCNAME, class.name)
            .set(c::OPCNAMESPACE, PG_CATALOG)
            .set(c::OPCOWNER, BOOTSTRAP_SUPERUSER)
            .set(c::OPCFAMILY, class.family)
            .set(c::OPCINTYPE, class.input)
            .set(c::OPCDEFAULT, class.default)
            .set(c::OPCKEYTYPE, class.key);
        add(rows, &c::TABLE, row.build());
    }
    for op in opclasses::AMOPS.iter().filter(|op| !is_unlisted(op.oid)) {
        use pg_amop as o;
        let method = family_method(op.family);
        let row = RowBuilder::new(&o::TABLE)
            .set(o::OID, op.oid)
            .set(o::AMOPFAMILY, op.family)
            .set(o::AMOPLEFTTYPE, op.left)
            .set(o::AMOPRIGHTTYPE, op.right)
            .set(o::AMOPSTRATEGY, op.strategy)
            .set(o::AMOPPURPOSE, if op.sort_family.is_valid() { b'o' } else { b's' })
            .set(o::AMOPOPR, op.operator)
            .set(o::AMOPMETHOD, method)
            .set(o::AMOPSORTFAMILY, op.sort_family);
        add(rows, &o::TABLE, row.build());
    }
    for function in opclasses::AMPROCS.iter().filter(|function| !is_unlisted(function.oid)) {
        use pg_amproc as p;
        let row = RowBuilder::new(&p::TABLE)
            .set(p::OID, function.oid)
            .set(p::AMPROCFAMILY, function.family)
            .set(p::AMPROCLEFTTYPE, function.left)
            .set(p::AMPROCRIGHTTYPE, function.right)
            .set(p::AMPROCNUM, function.number)
            .set(p::AMPROC, function.function);
        add(rows, &p::TABLE, row.build());
    }
}

fn family_method(family: Oid) -> Oid {
    families::operator_family(family).map_or(Oid::INVALID, |f| f.method)
}
