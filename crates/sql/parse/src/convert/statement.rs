//! Statements: the nodes of the tree, and how they are made from the grammar's nodes. Nodes for the parts of a statement are in [`ast`](crate::ast), and the functions that make
//! them are in the files beside this one.
//!
//! Invariant: statements of the grammar without a node here are refused by name.

use base::{SqlError, SqlResult};
use rupg_sql::nodes as n;

use super::ddl::{
    alter_enum, alter_text_search_configuration, behavior, collation, object_kind, role, roles,
};
use super::utility::fetch;
use super::{Converter, boxed_range_var, name, opt_text, range_vars, shape, strings, text_of};
use crate::ast::{
    AlterDomainAction, AlterEnum, AlterFunction, AlterOperatorFamily, AlterPolicy, AlterPublication,
    AlterServer, AlterSubscription, AlterTable, AlterTextSearchConfiguration, Assign, Call, ColumnDef, Copy,
    CreateAccessMethod, CreateCast, CreateConversion, CreateDomain, CreateFunction, CreateIndex,
    CreateLanguage, CreateOperatorClass, CreatePolicy, CreatePublication, CreateRule, CreateServer,
    CreateStatistics, CreateSubscription, CreateTable, CreateTableAs, CreateTrigger, CreateView,
    DeclareCursor, DefElem, Define, Delete, Discard, Drop, DropBehavior, DropSubscription, Execute, Expr,
    Fetch, ForeignWrapper, Grant, GrantRole, ImportForeignSchema, Insert, MappingChange, MappingName, Merge,
    MoveAll, Name, ObjectKind, ObjectName, ObjectWithArgs, RangeVar, Reindex, Rename, RoleSpec, Select,
    SetStatement, Transaction, TypeName, Update, Vacuum,
};

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// SELECT, VALUES, TABLE
    Select(Box<Select>),
    /// INSERT
    Insert(Box<Insert>),
    /// UPDATE
    Update(Box<Update>),
    /// DELETE
    Delete(Box<Delete>),
    /// MERGE
    Merge(Box<Merge>),
    /// CREATE TABLE
    CreateTable(Box<CreateTable>),
    /// CREATE TABLE AS, SELECT INTO, CREATE MATERIALIZED VIEW
    CreateTableAs(Box<CreateTableAs>),
    /// REFRESH MATERIALIZED VIEW
    RefreshMaterializedView {
        /// View.
        relation: RangeVar,
        /// CONCURRENTLY
        concurrently: bool,
        /// WITH NO DATA
        skip_data: bool,
    },
    /// CREATE INDEX
    CreateIndex(Box<CreateIndex>),
    /// ALTER TABLE, INDEX, VIEW...
    AlterTable(Box<AlterTable>),
    /// ALTER ... RENAME
    Rename(Box<Rename>),
    /// ALTER ... SET SCHEMA
    SetSchema {
        /// Kind.
        kind: ObjectKind,
        /// Relation, if one.
        relation: Option<RangeVar>,
        /// Other object.
        object: Option<ObjectName>,
        /// New schema.
        schema: String,
        /// IF EXISTS
        missing_ok: bool,
    },
    /// ALTER ... OWNER TO, of objects that are not relations
    AlterOwner {
        /// Kind.
        kind: ObjectKind,
        /// Object.
        object: ObjectName,
        /// New owner.
        owner: RoleSpec,
    },
    /// DROP
    Drop(Box<Drop>),
    /// TRUNCATE
    Truncate {
        /// Tables.
        relations: Vec<RangeVar>,
        /// RESTART IDENTITY
        restart_identity: bool,
        /// CASCADE
        behavior: DropBehavior,
    },
    /// CREATE VIEW
    CreateView(Box<CreateView>),
    /// CREATE SEQUENCE
    CreateSequence {
        /// Name and persistence.
        sequence: RangeVar,
        /// Options.
        options: Vec<DefElem>,
        /// IF NOT EXISTS
        if_not_exists: bool,
    },
    /// ALTER SEQUENCE
    AlterSequence {
        /// Sequence.
        sequence: RangeVar,
        /// Options.
        options: Vec<DefElem>,
        /// IF EXISTS
        missing_ok: bool,
    },
    /// CREATE SCHEMA
    CreateSchema {
        /// Name; the role's if absent.
        name: Option<String>,
        /// AUTHORIZATION
        owner: Option<RoleSpec>,
        /// Objects made with it.
        elements: Vec<Statement>,
        /// IF NOT EXISTS
        if_not_exists: bool,
    },
    /// CREATE DOMAIN
    CreateDomain(Box<CreateDomain>),
    /// ALTER DOMAIN
    AlterDomain(Name, AlterDomainAction),
    /// CREATE TYPE AS ENUM
    CreateEnum(Name, Vec<String>),
    /// CREATE TYPE AS RANGE: name, properties
    CreateRange(Name, Vec<DefElem>),
    /// ALTER TYPE ADD VALUE, RENAME VALUE
    AlterEnum(AlterEnum),
    /// CREATE TYPE AS (...)
    CreateComposite(RangeVar, Vec<ColumnDef>),
    /// CREATE FUNCTION, PROCEDURE
    CreateFunction(Box<CreateFunction>),
    /// ALTER FUNCTION, PROCEDURE, ROUTINE
    AlterFunction(Box<AlterFunction>),
    /// CREATE AGGREGATE, OPERATOR
    Define(Box<Define>),
    /// CREATE CAST
    CreateCast(Box<CreateCast>),
    /// CREATE ACCESS METHOD
    CreateAccessMethod(Box<CreateAccessMethod>),
    /// CREATE CONVERSION
    CreateConversion(Box<CreateConversion>),
    /// CREATE STATISTICS
    CreateStatistics(Box<CreateStatistics>),
    /// ALTER STATISTICS ... SET STATISTICS.
    AlterStatistics {
        /// The object.
        name: Name,
        /// Entries of lists; none for the default.
        target: Option<i32>,
        /// IF EXISTS
        missing_ok: bool,
    },
    /// ALTER TEXT SEARCH DICTIONARY: its parameters.
    AlterTextSearchDictionary(Name, Vec<DefElem>),
    /// ALTER TEXT SEARCH CONFIGURATION ... MAPPING
    AlterTextSearchConfiguration(Box<AlterTextSearchConfiguration>),
    /// ALTER COLLATION ... REFRESH VERSION.
    RefreshCollation(Name),
    /// CREATE OPERATOR CLASS
    CreateOperatorClass(Box<CreateOperatorClass>),
    /// CREATE OPERATOR FAMILY
    CreateOperatorFamily {
        /// Name.
        name: Name,
        /// USING
        method: String,
    },
    /// ALTER OPERATOR FAMILY ... ADD, DROP
    AlterOperatorFamily(Box<AlterOperatorFamily>),
    /// ALTER OPERATOR ... SET
    AlterOperator {
        /// Which.
        operator: ObjectWithArgs,
        /// What it is to have; no value: NONE.
        options: Vec<DefElem>,
    },
    /// CREATE TRIGGER
    CreateTrigger(Box<CreateTrigger>),
    /// CREATE RULE
    CreateRule(Box<CreateRule>),
    /// CREATE POLICY
    CreatePolicy(Box<CreatePolicy>),
    /// ALTER POLICY
    AlterPolicy(Box<AlterPolicy>),
    /// CREATE PUBLICATION
    CreatePublication(Box<CreatePublication>),
    /// ALTER PUBLICATION
    AlterPublication(Box<AlterPublication>),
    /// CREATE SUBSCRIPTION
    CreateSubscription(Box<CreateSubscription>),
    /// ALTER SUBSCRIPTION
    AlterSubscription(Box<AlterSubscription>),
    /// DROP SUBSCRIPTION
    DropSubscription(Box<DropSubscription>),
    /// CREATE EXTENSION
    CreateExtension {
        /// Name.
        name: String,
        /// IF NOT EXISTS
        if_not_exists: bool,
        /// Options.
        options: Vec<DefElem>,
    },
    /// CREATE LANGUAGE
    CreateLanguage(Box<CreateLanguage>),
    /// ALTER EXTENSION UPDATE
    AlterExtension {
        /// Name.
        name: String,
        /// Options.
        options: Vec<DefElem>,
    },
    /// ALTER EXTENSION ADD, DROP
    AlterExtensionMember {
        /// Name.
        name: String,
        /// ADD
        add: bool,
        /// Kind of the member.
        kind: ObjectKind,
        /// The member.
        object: ObjectName,
    },
    /// CREATE ROLE, USER, GROUP
    CreateRole {
        /// Name.
        name: String,
        /// USER: LOGIN is the default.
        login: bool,
        /// Options.
        options: Vec<DefElem>,
    },
    /// ALTER ROLE
    AlterRole {
        /// Role.
        role: RoleSpec,
        /// Options.
        options: Vec<DefElem>,
        /// ALTER GROUP ADD USER (1), DROP USER (-1)
        action: i32,
    },
    /// ALTER ROLE SET
    AlterRoleSet {
        /// Role; none for ALL.
        role: Option<RoleSpec>,
        /// IN DATABASE
        database: Option<String>,
        /// Setting.
        set: SetStatement,
    },
    /// DROP ROLE
    DropRole {
        /// Roles.
        roles: Vec<RoleSpec>,
        /// IF EXISTS
        missing_ok: bool,
    },
    /// DROP OWNED
    DropOwned(Vec<RoleSpec>, DropBehavior),
    /// REASSIGN OWNED
    ReassignOwned(Vec<RoleSpec>, RoleSpec),
    /// GRANT, REVOKE on objects
    Grant(Box<Grant>),
    /// GRANT, REVOKE of roles
    GrantRole(Box<GrantRole>),
    /// ALTER DEFAULT PRIVILEGES
    AlterDefaultPrivileges(Vec<DefElem>, Box<Grant>),
    /// COMMENT ON
    Comment {
        /// Kind.
        kind: ObjectKind,
        /// Object.
        object: ObjectName,
        /// Text; none to remove it.
        comment: Option<String>,
    },
    /// CREATE DATABASE
    CreateDatabase(String, Vec<DefElem>),
    /// ALTER DATABASE
    AlterDatabase(String, Vec<DefElem>),
    /// ALTER DATABASE SET
    AlterDatabaseSet(String, SetStatement),
    /// ALTER DATABASE REFRESH COLLATION VERSION
    RefreshDatabaseCollation(String),
    /// DROP DATABASE
    DropDatabase {
        /// Name.
        name: String,
        /// IF EXISTS
        missing_ok: bool,
        /// WITH
        options: Vec<DefElem>,
    },
    /// ALTER SYSTEM
    AlterSystem(SetStatement),
    /// COPY
    Copy(Box<Copy>),
    /// BEGIN, COMMIT, SAVEPOINT...
    Transaction(Transaction),
    /// SET, RESET
    Set(SetStatement),
    /// SHOW; `all` for SHOW ALL
    Show(String),
    /// SET CONSTRAINTS; empty: ALL
    SetConstraints(Vec<RangeVar>, bool),
    /// PREPARE
    Prepare {
        /// Name.
        name: String,
        /// Parameter types.
        types: Vec<TypeName>,
        /// Statement.
        query: Box<Statement>,
    },
    /// EXECUTE
    Execute(Execute),
    /// DEALLOCATE; none for ALL
    Deallocate(Option<String>),
    /// DECLARE
    DeclareCursor(Box<DeclareCursor>),
    /// FETCH, MOVE
    Fetch(Fetch),
    /// CLOSE; none for ALL
    Close(Option<String>),
    /// EXPLAIN
    Explain {
        /// Statement explained.
        query: Box<Statement>,
        /// Options.
        options: Vec<DefElem>,
    },
    /// VACUUM, ANALYZE
    Vacuum(Vacuum),
    /// CLUSTER
    Cluster {
        /// Table; none: all.
        relation: Option<RangeVar>,
        /// Index.
        index: Option<String>,
        /// Options.
        options: Vec<DefElem>,
    },
    /// REINDEX
    Reindex(Reindex),
    /// CHECKPOINT
    Checkpoint(Vec<DefElem>),
    /// LOCK TABLE
    Lock {
        /// Tables.
        relations: Vec<RangeVar>,
        /// PostgreSQL's number of the mode, 1 (ACCESS SHARE) to 8 (ACCESS EXCLUSIVE).
        mode: i32,
        /// NOWAIT
        nowait: bool,
    },
    /// LISTEN
    Listen(String),
    /// UNLISTEN; none for `*`
    Unlisten(Option<String>),
    /// NOTIFY
    Notify(String, Option<String>),
    /// DISCARD
    Discard(Discard),
    /// DO: options `as` and `language`
    Do(Vec<DefElem>),
    /// CALL
    Call(Box<Call>),
    /// LOAD
    Load(String),
    /// CREATE TABLESPACE
    CreateTablespace {
        /// Name.
        name: String,
        /// OWNER
        owner: Option<RoleSpec>,
        /// LOCATION
        location: String,
        /// WITH
        options: Vec<DefElem>,
    },
    /// ALTER TABLESPACE SET, RESET
    AlterTablespaceOptions {
        /// Name.
        name: String,
        /// The options.
        options: Vec<DefElem>,
        /// RESET
        reset: bool,
    },
    /// ALTER TABLE, INDEX, MATERIALIZED VIEW ... ALL IN TABLESPACE
    MoveAll(MoveAll),
    /// CREATE FOREIGN DATA WRAPPER
    CreateWrapper(ForeignWrapper),
    /// ALTER FOREIGN DATA WRAPPER
    AlterWrapper(ForeignWrapper),
    /// CREATE SERVER
    CreateServer(Box<CreateServer>),
    /// ALTER SERVER
    AlterServer(AlterServer),
    /// CREATE, ALTER, DROP USER MAPPING
    UserMapping(MappingName, MappingChange),
    /// IMPORT FOREIGN SCHEMA
    ImportForeignSchema(Box<ImportForeignSchema>),
    /// DROP TABLESPACE
    DropTablespace {
        /// Name.
        name: String,
        /// IF EXISTS
        missing_ok: bool,
    },
    /// RETURN, in the body of an SQL function only
    Return(Box<Expr>),
    /// Assignment to a part of a variable, in a procedural language only
    Assign(Box<Assign>),
}

impl Statement {
    /// Whether it is planned and executed. All others are utility statements.
    pub fn is_planned(&self) -> bool {
        matches!(
            self,
            Statement::Select(_)
                | Statement::Insert(_)
                | Statement::Update(_)
                | Statement::Delete(_)
                | Statement::Merge(_)
                | Statement::Return(_)
                | Statement::Assign(_)
        )
    }
}

/// What [`Converter::definition`] gives: a statement, or the node back.
type Tried = Result<Statement, n::Node>;

impl Converter<'_> {
    /// A statement of any kind.
    pub(crate) fn statement(&mut self, node: n::Node) -> SqlResult<Statement> {
        self.deeper(|c| match node {
            n::Node::SelectStmt(s) => c.select_statement(*s),
            n::Node::InsertStmt(s) => c.insert(*s),
            n::Node::UpdateStmt(s) => c.update(*s),
            n::Node::DeleteStmt(s) => c.delete(*s),
            n::Node::MergeStmt(s) => c.merge(*s),
            node => match c.definition(node)? {
                Ok(statement) => Ok(statement),
                Err(node) => c.utility(node),
            },
        })
    }

    /// A statement that defines an object, or the node back if it is none.
    pub(crate) fn definition(&mut self, node: n::Node) -> SqlResult<Tried> {
        Ok(Ok(match node {
            n::Node::CreateStmt(s) => Statement::CreateTable(Box::new(self.create_table(*s)?)),
            n::Node::CreateTableAsStmt(s) => self.create_table_as(*s)?,
            n::Node::RefreshMatViewStmt(s) => Statement::RefreshMaterializedView {
                relation: boxed_range_var(s.relation)?,
                concurrently: s.concurrent,
                skip_data: s.skipData,
            },
            n::Node::IndexStmt(s) => Statement::CreateIndex(Box::new(self.create_index(*s)?)),
            n::Node::AlterTableStmt(s) => Statement::AlterTable(Box::new(self.alter_table(*s)?)),
            n::Node::DropStmt(s) => Statement::Drop(Box::new(self.drop(*s)?)),
            n::Node::ViewStmt(s) => Statement::CreateView(Box::new(self.create_view(*s)?)),
            n::Node::CreateSeqStmt(s) => Statement::CreateSequence {
                sequence: boxed_range_var(s.sequence)?,
                options: self.def_elems(s.options)?,
                if_not_exists: s.if_not_exists,
            },
            n::Node::AlterSeqStmt(s) => Statement::AlterSequence {
                sequence: boxed_range_var(s.sequence)?,
                options: self.def_elems(s.options)?,
                missing_ok: s.missing_ok,
            },
            n::Node::CreateSchemaStmt(s) => Statement::CreateSchema {
                name: opt_text(s.schemaname),
                owner: s.authrole.map(|r| role(*r)),
                elements: self.statements(s.schemaElts)?,
                if_not_exists: s.if_not_exists,
            },
            n::Node::CreateDomainStmt(s) => Statement::CreateDomain(Box::new(CreateDomain {
                name: name(s.domainname)?,
                type_name: self.boxed_type(s.typeName)?,
                collation: s.collClause.map(|c| collation(*c)).transpose()?,
                constraints: self.constraints(s.constraints)?,
            })),
            n::Node::AlterDomainStmt(s) => self.alter_domain(*s)?,
            n::Node::CreateEnumStmt(s) => Statement::CreateEnum(name(s.typeName)?, strings(s.vals)?),
            n::Node::CreateRangeStmt(s) => {
                Statement::CreateRange(name(s.typeName)?, self.def_elems(s.params)?)
            }
            n::Node::AlterEnumStmt(s) => alter_enum(*s)?,
            n::Node::CompositeTypeStmt(s) => {
                Statement::CreateComposite(boxed_range_var(s.typevar)?, self.column_defs(s.coldeflist)?)
            }
            n::Node::CreateFunctionStmt(s) => Statement::CreateFunction(Box::new(self.create_function(*s)?)),
            n::Node::AlterFunctionStmt(s) => Statement::AlterFunction(Box::new(AlterFunction {
                kind: object_kind(s.objtype)?,
                function: self.object_with_args(*s.func.ok_or_else(|| shape("ALTER FUNCTION"))?)?,
                actions: self.def_elems(s.actions)?,
            })),
            n::Node::DefineStmt(s)
                if matches!(
                    s.kind,
                    n::ObjectType::OBJECT_AGGREGATE
                        | n::ObjectType::OBJECT_COLLATION
                        | n::ObjectType::OBJECT_OPERATOR
                        | n::ObjectType::OBJECT_TSCONFIGURATION
                        | n::ObjectType::OBJECT_TSDICTIONARY
                        | n::ObjectType::OBJECT_TSPARSER
                        | n::ObjectType::OBJECT_TSTEMPLATE
                        | n::ObjectType::OBJECT_TYPE
                ) =>
            {
                Statement::Define(Box::new(self.define(*s)?))
            }
            n::Node::CreateCastStmt(s) => Statement::CreateCast(Box::new(CreateCast {
                source: self.boxed_type(s.sourcetype)?,
                target: self.boxed_type(s.targettype)?,
                function: s.func.map(|f| self.object_with_args(*f)).transpose()?,
                inout: s.inout,
                context: match s.context {
                    n::CoercionContext::COERCION_IMPLICIT => b'i',
                    n::CoercionContext::COERCION_ASSIGNMENT => b'a',
                    _ => b'e',
                },
            })),
            n::Node::AlterCollationStmt(s) => Statement::RefreshCollation(name(s.collname)?),
            n::Node::CreateAmStmt(s) => Statement::CreateAccessMethod(Box::new(CreateAccessMethod {
                name: text_of(s.amname),
                handler: name(s.handler_name)?,
                kind: s.amtype,
            })),
            n::Node::CreateConversionStmt(s) => Statement::CreateConversion(Box::new(CreateConversion {
                name: name(s.conversion_name)?,
                from: text_of(s.for_encoding_name),
                to: text_of(s.to_encoding_name),
                function: name(s.func_name)?,
                default: s.def,
            })),
            n::Node::CreateStatsStmt(s) => Statement::CreateStatistics(Box::new(self.create_statistics(*s)?)),
            n::Node::AlterStatsStmt(s) => Statement::AlterStatistics {
                name: name(s.defnames)?,
                target: match s.stxstattarget {
                    Some(n::Node::Integer(target)) => Some(target),
                    _ => None,
                },
                missing_ok: s.missing_ok,
            },
            n::Node::AlterTSDictionaryStmt(s) => {
                Statement::AlterTextSearchDictionary(name(s.dictname)?, self.def_elems(s.options)?)
            }
            n::Node::AlterTSConfigurationStmt(s) => {
                Statement::AlterTextSearchConfiguration(Box::new(alter_text_search_configuration(*s)?))
            }
            n::Node::CreateOpClassStmt(s) => {
                Statement::CreateOperatorClass(Box::new(self.create_operator_class(*s)?))
            }
            n::Node::CreateOpFamilyStmt(s) => {
                Statement::CreateOperatorFamily { name: name(s.opfamilyname)?, method: text_of(s.amname) }
            }
            n::Node::AlterOpFamilyStmt(s) => {
                Statement::AlterOperatorFamily(Box::new(self.alter_operator_family(*s)?))
            }
            n::Node::AlterOperatorStmt(s) => {
                let operator = s.opername.ok_or_else(|| shape("ALTER OPERATOR"))?;
                let operator = self.object_with_args(*operator)?;
                Statement::AlterOperator { operator, options: self.def_elems(s.options)? }
            }
            n::Node::CreateTrigStmt(s) => Statement::CreateTrigger(Box::new(self.create_trigger(*s)?)),
            n::Node::RuleStmt(s) => Statement::CreateRule(Box::new(self.create_rule(*s)?)),
            n::Node::CreatePolicyStmt(s) => Statement::CreatePolicy(Box::new(self.create_policy(*s)?)),
            n::Node::AlterPolicyStmt(s) => Statement::AlterPolicy(Box::new(self.alter_policy(*s)?)),
            n::Node::CreatePublicationStmt(s) => {
                Statement::CreatePublication(Box::new(self.create_publication(*s)?))
            }
            n::Node::AlterPublicationStmt(s) => {
                Statement::AlterPublication(Box::new(self.alter_publication(*s)?))
            }
            n::Node::CreateSubscriptionStmt(s) => {
                Statement::CreateSubscription(Box::new(self.create_subscription(*s)?))
            }
            n::Node::AlterSubscriptionStmt(s) => {
                Statement::AlterSubscription(Box::new(self.alter_subscription(*s)?))
            }
            n::Node::DropSubscriptionStmt(s) => Statement::DropSubscription(Box::new(DropSubscription {
                name: text_of(s.subname),
                missing_ok: s.missing_ok,
                behavior: behavior(s.behavior),
            })),
            node => return Ok(Err(node)),
        }))
    }

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
            n::Node::AlterTableSpaceOptionsStmt(s) => Statement::AlterTablespaceOptions {
                name: text_of(s.tablespacename),
                options: self.def_elems(s.options)?,
                reset: s.isReset,
            },
            n::Node::AlterTableMoveAllStmt(s) => Statement::MoveAll(MoveAll {
                kind: object_kind(s.objtype)?,
                from: text_of(s.orig_tablespacename),
                to: text_of(s.new_tablespacename),
                owners: roles(s.roles)?,
                nowait: s.nowait,
            }),
            n::Node::DropTableSpaceStmt(s) => {
                Statement::DropTablespace { name: text_of(s.tablespacename), missing_ok: s.missing_ok }
            }
            node => match self.foreign(node)? {
                Ok(statement) => statement,
                Err(node) => return Err(SqlError::not_supported(super::unsupported::name(&node))),
            },
        })
    }
}
