//! Foreign data.

use base::SqlResult;
use rupg_sql::nodes as n;

use super::ddl::role;
use super::{Converter, loc, name, opt_text, range_vars, shape, text_of};
use crate::ast::{
    AlterServer, CreateServer, ForeignOption, ForeignSource, ForeignWrapper, ImportForeignSchema,
    ImportedTables, MappingChange, MappingName, OptionAction, RoleSpec, Statement, WrapperFunction,
};

/// A list of OPTIONS.
pub(super) fn options(list: n::List) -> SqlResult<Vec<ForeignOption>> {
    let option = |node| {
        let n::Node::DefElem(d) = node else { return Err(shape("OPTIONS")) };
        let action = match d.defaction {
            n::DefElemAction::DEFELEM_SET => OptionAction::Set,
            n::DefElemAction::DEFELEM_DROP => OptionAction::Drop,
            _ => OptionAction::Add,
        };
        let value = match d.arg {
            Some(n::Node::String(value)) => value.into(),
            None => String::new(),
            _ => return Err(shape("OPTIONS")),
        };
        Ok(ForeignOption { action, name: text_of(d.defname), value })
    };
    list.into_iter().flatten().map(option).collect()
}

fn functions(list: n::List) -> SqlResult<Vec<WrapperFunction>> {
    let function = |node| {
        let n::Node::DefElem(d) = node else { return Err(shape("HANDLER")) };
        let function = match d.arg {
            Some(n::Node::List(list)) => Some(name(list)?),
            None => None,
            _ => return Err(shape("HANDLER")),
        };
        let is_handler = text_of(d.defname) == "handler";
        Ok(WrapperFunction { is_handler, function, location: loc(d.location) })
    };
    list.into_iter().flatten().map(function).collect()
}

fn mapping(user: Option<Box<n::RoleSpec>>, server: Option<n::Str>) -> SqlResult<MappingName> {
    let user: RoleSpec = role(*user.ok_or_else(|| shape("USER MAPPING"))?);
    Ok(MappingName { user, server: text_of(server) })
}

impl Converter<'_> {
    /// A statement about foreign data, or the node back if it is none.
    pub(super) fn foreign(&mut self, node: n::Node) -> SqlResult<Result<Statement, n::Node>> {
        Ok(Ok(match node {
            n::Node::CreateFdwStmt(s) => Statement::CreateWrapper(ForeignWrapper {
                name: text_of(s.fdwname),
                functions: functions(s.func_options)?,
                options: options(s.options)?,
            }),
            n::Node::AlterFdwStmt(s) => Statement::AlterWrapper(ForeignWrapper {
                name: text_of(s.fdwname),
                functions: functions(s.func_options)?,
                options: options(s.options)?,
            }),
            n::Node::CreateForeignServerStmt(s) => Statement::CreateServer(Box::new(CreateServer {
                name: text_of(s.servername),
                kind: opt_text(s.servertype),
                version: opt_text(s.version),
                wrapper: text_of(s.fdwname),
                if_not_exists: s.if_not_exists,
                options: options(s.options)?,
            })),
            n::Node::AlterForeignServerStmt(s) => Statement::AlterServer(AlterServer {
                name: text_of(s.servername),
                version: if s.has_version { Some(opt_text(s.version)) } else { None },
                options: options(s.options)?,
            }),
            n::Node::CreateUserMappingStmt(s) => Statement::UserMapping(
                mapping(s.user, s.servername)?,
                MappingChange::Create { if_not_exists: s.if_not_exists, options: options(s.options)? },
            ),
            n::Node::AlterUserMappingStmt(s) => Statement::UserMapping(
                mapping(s.user, s.servername)?,
                MappingChange::Alter(options(s.options)?),
            ),
            n::Node::DropUserMappingStmt(s) => Statement::UserMapping(
                mapping(s.user, s.servername)?,
                MappingChange::Drop { missing_ok: s.missing_ok },
            ),
            n::Node::CreateForeignTableStmt(s) => {
                let mut table = self.create_table(s.base)?;
                table.foreign =
                    Some(ForeignSource { server: text_of(s.servername), options: options(s.options)? });
                Statement::CreateTable(Box::new(table))
            }
            n::Node::ImportForeignSchemaStmt(s) => {
                Statement::ImportForeignSchema(Box::new(self.import_schema(*s)?))
            }
            node => return Ok(Err(node)),
        }))
    }

    fn import_schema(&mut self, s: n::ImportForeignSchemaStmt) -> SqlResult<ImportForeignSchema> {
        let names = range_vars(s.table_list)?.into_iter().map(|table| table.name).collect();
        Ok(ImportForeignSchema {
            server: text_of(s.server_name),
            remote_schema: text_of(s.remote_schema),
            local_schema: text_of(s.local_schema),
            tables: match s.list_type {
                n::ImportForeignSchemaType::FDW_IMPORT_SCHEMA_LIMIT_TO => ImportedTables::Only(names),
                n::ImportForeignSchemaType::FDW_IMPORT_SCHEMA_EXCEPT => ImportedTables::Except(names),
                _ => ImportedTables::All,
            },
            options: self.def_elems(s.options)?,
        })
    }
}
