//! Everything that neither reads rows nor defines relations.

use base::{SqlError, SqlResult};
use rupg_sql::nodes as n;

use super::ddl::{behavior, object_kind, role, roles};
use super::{Converter, boxed_range_var, opt_text, range_var, shape, strings, text_of};
use crate::ast::{
    Copy, CopyTarget, DeclareCursor, Fetch, FetchDirection, Grant, GrantRole, GrantTarget, ObjectKind,
    Privilege, Reindex, ReindexKind, Rename, Statement, Transaction, Vacuum, VacuumRelation,
};

impl Converter<'_> {
    pub(super) fn transaction(&mut self, s: n::TransactionStmt) -> SqlResult<Transaction> {
        use n::TransactionStmtKind as K;
        Ok(match s.kind {
            K::TRANS_STMT_BEGIN => Transaction::Begin(self.def_elems(s.options)?),
            K::TRANS_STMT_START => Transaction::Start(self.def_elems(s.options)?),
            K::TRANS_STMT_COMMIT => Transaction::Commit { chain: s.chain },
            K::TRANS_STMT_ROLLBACK => Transaction::Rollback { chain: s.chain },
            K::TRANS_STMT_SAVEPOINT => Transaction::Savepoint(text_of(s.savepoint_name)),
            K::TRANS_STMT_RELEASE => Transaction::Release(text_of(s.savepoint_name)),
            K::TRANS_STMT_ROLLBACK_TO => Transaction::RollbackTo(text_of(s.savepoint_name)),
            K::TRANS_STMT_PREPARE => Transaction::Prepare(text_of(s.gid)),
            K::TRANS_STMT_COMMIT_PREPARED => Transaction::CommitPrepared(text_of(s.gid)),
            K::TRANS_STMT_ROLLBACK_PREPARED => Transaction::RollbackPrepared(text_of(s.gid)),
            _ => return Err(shape("transaction statement")),
        })
    }

    pub(super) fn copy(&mut self, s: n::CopyStmt) -> SqlResult<Copy> {
        let target = match (s.filename, s.is_program) {
            (None, _) => CopyTarget::Client,
            (Some(f), true) => CopyTarget::Program(f.into()),
            (Some(f), false) => CopyTarget::File(f.into()),
        };
        Ok(Copy {
            relation: s.relation.map(|r| range_var(*r)).transpose()?,
            query: s.query.map(|q| self.statement(q)).transpose()?,
            columns: strings(s.attlist)?,
            from: s.is_from,
            target,
            options: self.def_elems(s.options)?,
            filter: self.opt_expr(s.whereClause)?,
        })
    }

    pub(super) fn prepare(&mut self, s: n::PrepareStmt) -> SqlResult<Statement> {
        let mut types = Vec::with_capacity(s.argtypes.len());
        for node in s.argtypes.into_iter().flatten() {
            let n::Node::TypeName(t) = node else { return Err(shape("PREPARE")) };
            types.push(self.type_name(*t)?);
        }
        let query = Box::new(self.statement(s.query.ok_or_else(|| shape("PREPARE"))?)?);
        Ok(Statement::Prepare { name: text_of(s.name), types, query })
    }

    pub(super) fn declare(&mut self, s: n::DeclareCursorStmt) -> SqlResult<DeclareCursor> {
        let has = |flag| s.options & flag != 0;
        let choice = |yes, no| if has(yes) { Some(true) } else { has(no).then_some(false) };
        let (scroll, insensitive) = (
            choice(n::CURSOR_OPT_SCROLL, n::CURSOR_OPT_NO_SCROLL),
            choice(n::CURSOR_OPT_INSENSITIVE, n::CURSOR_OPT_ASENSITIVE),
        );
        if has(n::CURSOR_OPT_SCROLL) && has(n::CURSOR_OPT_NO_SCROLL) {
            return Err(conflict("SCROLL", "NO SCROLL"));
        }
        if has(n::CURSOR_OPT_INSENSITIVE) && has(n::CURSOR_OPT_ASENSITIVE) {
            return Err(conflict("ASENSITIVE", "INSENSITIVE"));
        }
        Ok(DeclareCursor {
            binary: has(n::CURSOR_OPT_BINARY),
            scroll,
            insensitive,
            hold: has(n::CURSOR_OPT_HOLD),
            name: text_of(s.portalname),
            query: self.statement(s.query.ok_or_else(|| shape("DECLARE"))?)?,
        })
    }

    pub(super) fn vacuum(&mut self, s: n::VacuumStmt) -> SqlResult<Vacuum> {
        let mut relations = Vec::with_capacity(s.rels.len());
        for node in s.rels.into_iter().flatten() {
            let n::Node::VacuumRelation(r) = node else { return Err(shape("VACUUM")) };
            relations.push(VacuumRelation {
                relation: boxed_range_var(r.relation)?,
                columns: strings(r.va_cols)?,
            });
        }
        Ok(Vacuum { vacuum: s.is_vacuumcmd, options: self.def_elems(s.options)?, relations })
    }

    pub(super) fn cluster(&mut self, s: n::RepackStmt) -> SqlResult<Statement> {
        if s.command != n::RepackCommand::REPACK_COMMAND_CLUSTER {
            return Err(self.rejected_word(0, "repack"));
        }
        Ok(Statement::Cluster {
            relation: match s.relation {
                Some(r) => Some(boxed_range_var(r.relation)?),
                None => None,
            },
            index: opt_text(s.indexname),
            options: self.def_elems(s.params)?,
        })
    }

    pub(super) fn reindex(&mut self, s: n::ReindexStmt) -> SqlResult<Reindex> {
        Ok(Reindex {
            kind: match s.kind {
                n::ReindexObjectType::REINDEX_OBJECT_INDEX => ReindexKind::Index,
                n::ReindexObjectType::REINDEX_OBJECT_TABLE => ReindexKind::Table,
                n::ReindexObjectType::REINDEX_OBJECT_SCHEMA => ReindexKind::Schema,
                n::ReindexObjectType::REINDEX_OBJECT_SYSTEM => ReindexKind::System,
                _ => ReindexKind::Database,
            },
            relation: s.relation.map(|r| range_var(*r)).transpose()?,
            name: opt_text(s.name),
            options: self.def_elems(s.params)?,
        })
    }

    pub(super) fn rename(&mut self, s: n::RenameStmt) -> SqlResult<Rename> {
        let kind = object_kind(s.renameType)?;
        let of_relation = matches!(kind, ObjectKind::Column | ObjectKind::Attribute);
        Ok(Rename {
            kind,
            relation_kind: if of_relation { Some(object_kind(s.relationType)?) } else { None },
            relation: s.relation.map(|r| range_var(*r)).transpose()?,
            object: match s.object {
                None => None,
                node => Some(self.object_name(kind, node)?),
            },
            old_name: opt_text(s.subname),
            new_name: text_of(s.newname),
            behavior: behavior(s.behavior),
            missing_ok: s.missing_ok,
        })
    }

    pub(super) fn set_schema(&mut self, s: n::AlterObjectSchemaStmt) -> SqlResult<Statement> {
        let kind = object_kind(s.objectType)?;
        Ok(Statement::SetSchema {
            kind,
            relation: s.relation.map(|r| range_var(*r)).transpose()?,
            object: match s.object {
                None => None,
                node => Some(self.object_name(kind, node)?),
            },
            schema: text_of(s.newschema),
            missing_ok: s.missing_ok,
        })
    }

    pub(super) fn grant(&mut self, s: n::GrantStmt) -> SqlResult<Grant> {
        let kind = object_kind(s.objtype)?;
        let mut objects = Vec::with_capacity(s.objects.len());
        for node in s.objects {
            objects.push(self.object_name(kind, node)?);
        }
        Ok(Grant {
            grant: s.is_grant,
            target: match s.targtype {
                n::GrantTargetType::ACL_TARGET_ALL_IN_SCHEMA => GrantTarget::AllInSchema,
                n::GrantTargetType::ACL_TARGET_DEFAULTS => GrantTarget::Defaults,
                _ => GrantTarget::Objects,
            },
            kind,
            objects,
            privileges: privileges(s.privileges)?,
            grantees: roles(s.grantees)?,
            grant_option: s.grant_option,
            grantor: s.grantor.map(|r| role(*r)),
            behavior: behavior(s.behavior),
        })
    }

    pub(super) fn grant_role(&mut self, s: n::GrantRoleStmt) -> SqlResult<GrantRole> {
        Ok(GrantRole {
            grant: s.is_grant,
            roles: privileges(s.granted_roles)?,
            grantees: roles(s.grantee_roles)?,
            options: self.def_elems(s.opt)?,
            grantor: s.grantor.map(|r| role(*r)),
            behavior: behavior(s.behavior),
        })
    }
}

fn conflict(one: &str, other: &str) -> SqlError {
    base::sql_err!(INVALID_CURSOR_DEFINITION, "cannot specify both {one} and {other}")
}

fn privileges(list: n::List) -> SqlResult<Vec<Privilege>> {
    list.into_iter()
        .flatten()
        .map(|node| match node {
            n::Node::AccessPriv(p) => {
                Ok(Privilege { name: opt_text(p.priv_name), columns: strings(p.cols)? })
            }
            _ => Err(shape("privileges")),
        })
        .collect()
}

pub(super) fn fetch(s: n::FetchStmt) -> Fetch {
    Fetch {
        direction: match s.direction {
            n::FetchDirection::FETCH_BACKWARD => FetchDirection::Backward(s.howMany),
            n::FetchDirection::FETCH_ABSOLUTE => FetchDirection::Absolute(s.howMany),
            n::FetchDirection::FETCH_RELATIVE => FetchDirection::Relative(s.howMany),
            _ => FetchDirection::Forward(s.howMany),
        },
        cursor: text_of(s.portalname),
        is_move: s.ismove,
    }
}
