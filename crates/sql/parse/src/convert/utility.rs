//! Everything that neither reads rows nor defines relations.

use base::{SqlError, SqlResult};
use rupg_sql::nodes as n;

use super::ddl::{behavior, object_kind, role, roles};
use super::{Converter, boxed_range_var, name, opt_text, range_var, range_vars, shape, strings, text_of};
use crate::ast::{
    Call, Copy, CopyTarget, CreateLanguage, DeclareCursor, Discard, Execute, Fetch, FetchDirection, Grant,
    GrantRole, GrantTarget, ObjectKind, Privilege, Reindex, ReindexKind, Rename, Statement, Transaction,
    Vacuum, VacuumRelation,
};

impl Converter<'_> {
    /// Any statement that no other part of the converter takes.
    pub(crate) fn utility(&mut self, node: n::Node) -> SqlResult<Statement> {
        Ok(match node {
            n::Node::TransactionStmt(s) => Statement::Transaction(self.transaction(*s)?),
            n::Node::VariableSetStmt(s) => Statement::Set(self.set_statement(*s)?),
            n::Node::VariableShowStmt(s) => Statement::Show(text_of(s.name)),
            n::Node::CopyStmt(s) => Statement::Copy(Box::new(self.copy(*s)?)),
            n::Node::PrepareStmt(s) => self.prepare(*s)?,
            n::Node::ExecuteStmt(s) => {
                Statement::Execute(Execute { name: text_of(s.name), params: self.exprs(s.params)? })
            }
            n::Node::DeallocateStmt(s) => Statement::Deallocate(opt_text(s.name)),
            n::Node::DeclareCursorStmt(s) => Statement::DeclareCursor(Box::new(self.declare(*s)?)),
            n::Node::FetchStmt(s) => Statement::Fetch(fetch(*s)),
            n::Node::ClosePortalStmt(s) => Statement::Close(opt_text(s.portalname)),
            n::Node::ExplainStmt(s) => Statement::Explain {
                query: Box::new(self.statement(s.query.ok_or_else(|| shape("EXPLAIN"))?)?),
                options: self.def_elems(s.options)?,
            },
            n::Node::VacuumStmt(s) => Statement::Vacuum(self.vacuum(*s)?),
            n::Node::RepackStmt(s) => self.cluster(*s)?,
            n::Node::ReindexStmt(s) => Statement::Reindex(self.reindex(*s)?),
            n::Node::CheckPointStmt(s) => {
                if !s.options.is_empty() {
                    return Err(self.rejected_word(0, "("));
                }
                Statement::Checkpoint(Vec::new())
            }
            n::Node::LockStmt(s) => {
                Statement::Lock { relations: range_vars(s.relations)?, mode: s.mode, nowait: s.nowait }
            }
            n::Node::ListenStmt(s) => Statement::Listen(text_of(s.conditionname)),
            n::Node::UnlistenStmt(s) => Statement::Unlisten(opt_text(s.conditionname)),
            n::Node::NotifyStmt(s) => Statement::Notify(text_of(s.conditionname), opt_text(s.payload)),
            n::Node::DiscardStmt(s) => Statement::Discard(match s.target {
                n::DiscardMode::DISCARD_PLANS => Discard::Plans,
                n::DiscardMode::DISCARD_SEQUENCES => Discard::Sequences,
                n::DiscardMode::DISCARD_TEMP => Discard::Temporary,
                _ => Discard::All,
            }),
            n::Node::DoStmt(s) => Statement::Do(self.def_elems(s.args)?),
            n::Node::CallStmt(s) => {
                let call = self.func_call(*s.funccall.ok_or_else(|| shape("CALL"))?)?;
                Statement::Call(Box::new(Call { call }))
            }
            n::Node::LoadStmt(s) => Statement::Load(text_of(s.filename)),
            n::Node::TruncateStmt(s) => Statement::Truncate {
                relations: range_vars(s.relations)?,
                restart_identity: s.restart_seqs,
                behavior: behavior(s.behavior),
            },
            n::Node::ConstraintsSetStmt(s) => {
                Statement::SetConstraints(range_vars(s.constraints)?, s.deferred)
            }
            n::Node::ReturnStmt(s) => Statement::Return(Box::new(self.expr(s.returnval)?)),
            n::Node::WaitStmt(_) => return Err(self.rejected_word(0, "wait")),
            node => self.administration(node)?,
        })
    }

    /// Roles, databases, privileges, and what ALTER and COMMENT do to any object.
    fn administration(&mut self, node: n::Node) -> SqlResult<Statement> {
        Ok(match node {
            n::Node::RenameStmt(s) => Statement::Rename(Box::new(self.rename(*s)?)),
            n::Node::AlterObjectSchemaStmt(s) => self.set_schema(*s)?,
            n::Node::AlterOwnerStmt(s) => {
                let kind = object_kind(s.objectType)?;
                Statement::AlterOwner {
                    kind,
                    object: self.object_name(kind, s.object)?,
                    owner: role(*s.newowner.ok_or_else(|| shape("OWNER TO"))?),
                }
            }
            n::Node::CommentStmt(s) => {
                let kind = object_kind(s.objtype)?;
                Statement::Comment {
                    kind,
                    object: self.object_name(kind, s.object)?,
                    comment: opt_text(s.comment),
                }
            }
            n::Node::CreateRoleStmt(s) => Statement::CreateRole {
                name: text_of(s.role),
                login: s.stmt_type == n::RoleStmtType::ROLESTMT_USER,
                options: self.def_elems(s.options)?,
            },
            n::Node::AlterRoleStmt(s) => Statement::AlterRole {
                role: role(*s.role.ok_or_else(|| shape("ALTER ROLE"))?),
                options: self.def_elems(s.options)?,
                action: s.action,
            },
            n::Node::AlterRoleSetStmt(s) => Statement::AlterRoleSet {
                role: s.role.map(|r| role(*r)),
                database: opt_text(s.database),
                set: self.set_statement(*s.setstmt.ok_or_else(|| shape("ALTER ROLE"))?)?,
            },
            n::Node::DropRoleStmt(s) => {
                Statement::DropRole { roles: roles(s.roles)?, missing_ok: s.missing_ok }
            }
            n::Node::DropOwnedStmt(s) => Statement::DropOwned(roles(s.roles)?, behavior(s.behavior)),
            n::Node::ReassignOwnedStmt(s) => Statement::ReassignOwned(
                roles(s.roles)?,
                role(*s.newrole.ok_or_else(|| shape("REASSIGN OWNED"))?),
            ),
            n::Node::GrantStmt(s) => Statement::Grant(Box::new(self.grant(*s)?)),
            n::Node::GrantRoleStmt(s) => Statement::GrantRole(Box::new(self.grant_role(*s)?)),
            n::Node::AlterDefaultPrivilegesStmt(s) => {
                let options = self.def_elems(s.options)?;
                let grant = self.grant(*s.action.ok_or_else(|| shape("ALTER DEFAULT PRIVILEGES"))?)?;
                Statement::AlterDefaultPrivileges(options, Box::new(grant))
            }
            n::Node::CreatedbStmt(s) => {
                Statement::CreateDatabase(text_of(s.dbname), self.def_elems(s.options)?)
            }
            n::Node::AlterDatabaseStmt(s) => {
                Statement::AlterDatabase(text_of(s.dbname), self.def_elems(s.options)?)
            }
            n::Node::AlterDatabaseSetStmt(s) => Statement::AlterDatabaseSet(
                text_of(s.dbname),
                self.set_statement(*s.setstmt.ok_or_else(|| shape("ALTER DATABASE"))?)?,
            ),
            n::Node::AlterDatabaseRefreshCollStmt(s) => {
                Statement::RefreshDatabaseCollation(text_of(s.dbname))
            }
            n::Node::DropdbStmt(s) => Statement::DropDatabase {
                name: text_of(s.dbname),
                missing_ok: s.missing_ok,
                options: self.def_elems(s.options)?,
            },
            n::Node::AlterSystemStmt(s) => {
                Statement::AlterSystem(self.set_statement(*s.setstmt.ok_or_else(|| shape("ALTER SYSTEM"))?)?)
            }
            n::Node::CreateExtensionStmt(s) => Statement::CreateExtension {
                name: text_of(s.extname),
                if_not_exists: s.if_not_exists,
                options: self.def_elems(s.options)?,
            },
            n::Node::CreatePLangStmt(s) => {
                let function = |list: n::List| (!list.is_empty()).then(|| name(list)).transpose();
                Statement::CreateLanguage(Box::new(CreateLanguage {
                    name: text_of(s.plname),
                    replace: s.replace,
                    trusted: s.pltrusted,
                    handler: function(s.plhandler)?,
                    inline: function(s.plinline)?,
                    validator: function(s.plvalidator)?,
                }))
            }
            n::Node::AlterExtensionStmt(s) => {
                Statement::AlterExtension { name: text_of(s.extname), options: self.def_elems(s.options)? }
            }
            n::Node::AlterExtensionContentsStmt(s) => {
                let kind = object_kind(s.objtype)?;
                Statement::AlterExtensionMember {
                    name: text_of(s.extname),
                    add: s.action > 0,
                    kind,
                    object: self.object_name(kind, s.object)?,
                }
            }
            n::Node::CreateTableSpaceStmt(s) => Statement::CreateTablespace {
                name: text_of(s.tablespacename),
                owner: s.owner.map(|r| role(*r)),
                location: text_of(s.location),
                options: self.def_elems(s.options)?,
            },
            n::Node::DropTableSpaceStmt(s) => {
                Statement::DropTablespace { name: text_of(s.tablespacename), missing_ok: s.missing_ok }
            }
            node => return Err(SqlError::not_supported(super::unsupported::name(&node))),
        })
    }

    fn transaction(&mut self, s: n::TransactionStmt) -> SqlResult<Transaction> {
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

    fn copy(&mut self, s: n::CopyStmt) -> SqlResult<Copy> {
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

    fn prepare(&mut self, s: n::PrepareStmt) -> SqlResult<Statement> {
        let mut types = Vec::with_capacity(s.argtypes.len());
        for node in s.argtypes.into_iter().flatten() {
            let n::Node::TypeName(t) = node else { return Err(shape("PREPARE")) };
            types.push(self.type_name(*t)?);
        }
        let query = Box::new(self.statement(s.query.ok_or_else(|| shape("PREPARE"))?)?);
        Ok(Statement::Prepare { name: text_of(s.name), types, query })
    }

    fn declare(&mut self, s: n::DeclareCursorStmt) -> SqlResult<DeclareCursor> {
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

    fn vacuum(&mut self, s: n::VacuumStmt) -> SqlResult<Vacuum> {
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

    fn cluster(&mut self, s: n::RepackStmt) -> SqlResult<Statement> {
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

    fn reindex(&mut self, s: n::ReindexStmt) -> SqlResult<Reindex> {
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

    fn rename(&mut self, s: n::RenameStmt) -> SqlResult<Rename> {
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

    fn set_schema(&mut self, s: n::AlterObjectSchemaStmt) -> SqlResult<Statement> {
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

    fn grant(&mut self, s: n::GrantStmt) -> SqlResult<Grant> {
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

    fn grant_role(&mut self, s: n::GrantRoleStmt) -> SqlResult<GrantRole> {
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

fn fetch(s: n::FetchStmt) -> Fetch {
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
