//! Who, where, when: facts of the session and of the server, encodings, types of arguments.

use base::settings::Setting;
use base::{Encoding, Oid, SqlResult, sql_err};
use catalog::{CatalogView, TypeKind, oids_of};
use tuple::Datum;
use types::value::FromDatum;
use types::{Call, SessionFn, oids};

use super::text::{qualified, quote_identifier};
use super::{Row, arg};
use crate::Session;

impl Session {
    /// `row_security_active`: of a relation by OID or name.
    fn row_security_active(&self, which: &Datum) -> SqlResult<bool> {
        let oid = match which {
            Datum::Oid(oid) => Oid(*oid),
            name => self.class_named(<&str>::from_datum(name))?,
        };
        let table = self.with_reader(|reader| reader.relation_by_oid(oid))?;
        table.map_or(Ok(false), |table| self.hides_rows(&table, None))
    }

    pub(super) fn fact(&self, id: SessionFn, call: &Call<'_>, args: &[Datum]) -> SqlResult<Option<Datum>> {
        use SessionFn as F;
        Ok(Some(match id {
            F::CurrentDatabase => Datum::text(self.catalog.database_name()),
            F::CurrentSchema => self.current_schema()?,
            F::CurrentSchemas => self.current_schemas(arg(args, 0))?,
            F::CurrentQuery => Datum::text(&self.backend.activity().query),
            F::Oidvectortypes => {
                let names = oids_of(&args[0]).into_iter().map(|oid| self.type_name(oid, None));
                Datum::text(&names.collect::<SqlResult<Vec<_>>>()?.join(", "))
            }
            F::CurrentUser => self.role_datum(self.names.user())?,
            F::SessionUser => self.role_datum(self.names.session_user())?,
            F::Version => Datum::text(&version(self.settings.borrow().text(Setting::server_version))),
            F::SystemUser => self.info.system_user.as_deref().map_or(Datum::Null, Datum::text),
            F::PgBackendPid => Datum::Int4(self.info.pid),
            F::PgPostmasterStartTime => Datum::Int8(self.instance.started()),
            F::PgConfLoadTime => Datum::Int8(self.instance.configured()),
            F::PgClientEncoding => Datum::text(self.settings.borrow().text(Setting::client_encoding)),
            F::Getdatabaseencoding => Datum::text(types::text::server_encoding().name()),
            F::PgMyTempSchema => self.names.temporary_schema().unwrap_or_default().into(),
            F::PgIsOtherTempSchema => self.is_other_temp_schema(Oid(arg(args, 0)))?.into(),
            F::InetClientPort => port(self.info.client_address),
            F::InetClientAddr => super::address(self.info.client_address),
            F::InetServerPort => port(self.info.server_address),
            F::InetServerAddr => super::address(self.info.server_address),
            F::PgJitAvailable => Datum::Bool(false),
            F::RowSecurityActive => self.row_security_active(&args[0])?.into(),
            F::SuppressRedundantUpdatesTrigger => {
                return Err(sql_err!(
                    E_R_I_E_TRIGGER_PROTOCOL_VIOLATED,
                    "suppress_redundant_updates_trigger: not called by trigger manager"
                ));
            }
            F::TsvectorUpdateTrigger => {
                return Err(base::SqlError::internal(
                    "tsvector_update_trigger: not fired by trigger manager",
                ));
            }
            F::UniqueKeyRecheck => {
                return Err(sql_err!(
                    E_R_I_E_TRIGGER_PROTOCOL_VIOLATED,
                    "function \"unique_key_recheck\" was not called by trigger manager"
                ));
            }
            F::ForeignKeyTrigger => {
                return Err(sql_err!(
                    E_R_I_E_TRIGGER_PROTOCOL_VIOLATED,
                    "function of a foreign key was not called by trigger manager"
                ));
            }
            F::PgTriggerDepth => Datum::Int4(self.trigger_depth.get()),
            F::PgTypeof => call.arg_type(0).into(),
            F::PgCollationFor => self.collation_for(call)?,
            F::PgBasetype => self.base_type(Oid(arg(args, 0)))?,
            F::PgColumnSize => column_size(call.arg_type(0), &args[0]),
            F::PgColumnCompression => Datum::Null,
            F::PgCharToEncoding => Datum::Int4(Encoding::find(arg(args, 0)).map_or(-1, Encoding::number)),
            F::PgEncodingToChar => {
                Datum::text(Encoding::from_number(arg(args, 0)).map_or("", Encoding::name))
            }
            F::PgEncodingMaxLength => {
                Encoding::from_number(arg(args, 0)).map_or(Datum::Null, |e| Datum::Int4(e.max_length()))
            }
            F::PgInputIsValid => Datum::Bool(self.input_error(call, args)?.is_none()),
            F::PgCollationActualVersion => self.collation_version(Oid(u32::from_datum(&args[0])))?,
            F::PgDatabaseCollationActualVersion => {
                self.database_collation_version(Oid(u32::from_datum(&args[0])))?
            }
            _ => return Ok(None),
        }))
    }

    pub(super) fn fact_rows(
        &self,
        id: SessionFn,
        call: &Call<'_>,
        args: &[Datum],
    ) -> SqlResult<Option<Vec<Row>>> {
        Ok(Some(match id {
            SessionFn::PgListeningChannels => {
                self.listening_channels().iter().map(|channel| vec![Datum::text(channel)]).collect()
            }
            SessionFn::PgAvailableExtensions => {
                self.instance().modules().extensions().map(available_extension).collect()
            }
            SessionFn::PgAvailableExtensionVersions => {
                self.instance().modules().extensions().map(available_version).collect()
            }
            SessionFn::PgOptionsToTable => option_rows(&args[0]),
            SessionFn::PgMcvListItems => self.common_items(&args[0])?,
            SessionFn::PgInputErrorInfo => vec![self.input_error_info(call, args)?],
            _ => return Ok(None),
        }))
    }

    fn role_datum(&self, oid: Oid) -> SqlResult<Datum> {
        let name = self.with_reader(|r| r.role_name(oid))?;
        Ok(name.map_or(Datum::Null, |name| Datum::text(&name)))
    }

    fn current_schema(&self) -> SqlResult<Datum> {
        self.with_reader(|r| match r.creation_schema()? {
            Some(oid) => Ok(r.schema_name(oid)?.map_or(Datum::Null, |name| Datum::text(&name))),
            None => Ok(Datum::Null),
        })
    }

    /// The search path; with `implicit` the schemas too that the setting does not name.
    fn current_schemas(&self, implicit: bool) -> SqlResult<Datum> {
        let names = self.with_reader(|r| {
            let mut path = r.search_path()?;
            if !implicit {
                // What stands before the first schema of the setting stands there implicitly.
                match r.creation_schema()? {
                    Some(first) => drop(path.drain(..path.iter().position(|&s| s == first).unwrap_or(0))),
                    None => path.clear(),
                }
            }
            path.into_iter().filter_map(|oid| r.schema_name(oid).transpose()).collect::<SqlResult<Vec<_>>>()
        })?;
        Ok(types::array::from_names(names.iter().map(String::as_str)))
    }

    fn is_other_temp_schema(&self, schema: Oid) -> SqlResult<bool> {
        if self.names.temporary_schema() == Some(schema) {
            return Ok(false);
        }
        let name = self.with_reader(|r| r.schema_name(schema))?.unwrap_or_default();
        Ok(name.starts_with("pg_temp_") || name.starts_with("pg_toast_temp_"))
    }

    /// The version that a collation's order has now.
    fn collation_version(&self, oid: Oid) -> SqlResult<Datum> {
        if oid == types::comparator::DEFAULT_COLLATION {
            return self.database_collation_version(self.catalog.database());
        }
        let found = self.with_reader(|r| r.collation_by_oid(oid))?;
        let found =
            found.ok_or_else(|| sql_err!(UNDEFINED_OBJECT, "collation with OID {oid} does not exist"))?;
        Ok(found.rules.version().map_or(Datum::Null, Datum::text))
    }

    /// The version that a database's default order has now.
    fn database_collation_version(&self, oid: Oid) -> SqlResult<Datum> {
        let found = self.with_reader(|r| r.database_by_oid(oid))?;
        let found =
            found.ok_or_else(|| sql_err!(UNDEFINED_OBJECT, "database with OID {oid} does not exist"))?;
        Ok(found.rules.version().map_or(Datum::Null, Datum::text))
    }

    fn collation_for(&self, call: &Call<'_>) -> SqlResult<Datum> {
        let ty = call.arg_type(0);
        if ty == oids::unknown {
            return Ok(Datum::Null);
        }
        let collatable = self.with_reader(|r| r.type_by_oid(ty))?.is_some_and(|t| t.collation.is_valid());
        if !collatable {
            let name = self.type_name(ty, None)?;
            return Err(sql_err!(DATATYPE_MISMATCH, "collations are not supported by type {name}"));
        }
        self.with_reader(|r| {
            let Some(collation) = r.collation_by_oid(call.collation)? else { return Ok(Datum::Null) };
            let visible = r.collation(None, &collation.name)?.is_some_and(|c| c.oid == collation.oid);
            Ok(Datum::text(&match visible {
                true => quote_identifier(&collation.name),
                false => qualified(&collation.schema_name, &collation.name),
            }))
        })
    }

    /// The type under a chain of domains.
    fn base_type(&self, mut ty: Oid) -> SqlResult<Datum> {
        loop {
            match self.with_reader(|r| r.type_by_oid(ty))?.as_deref() {
                None => return Ok(Datum::Null),
                Some(catalog::TypeDef { kind: TypeKind::Domain(domain), .. }) => ty = domain.base,
                Some(_) => return Ok(ty.into()),
            }
        }
    }

    /// What a type's input function says to a text.
    fn input_error(&self, call: &Call<'_>, args: &[Datum]) -> SqlResult<Option<base::SqlError>> {
        let (ty, typmod) = self.type_named(arg(args, 1))?;
        Ok(types::input(ty, arg(args, 0), typmod, call).err())
    }

    fn input_error_info(&self, call: &Call<'_>, args: &[Datum]) -> SqlResult<Row> {
        let text = |t: Option<&str>| t.map_or(Datum::Null, Datum::text);
        Ok(match self.input_error(call, args)? {
            None => vec![Datum::Null; 4],
            Some(error) => vec![
                Datum::text(error.message()),
                text(error.report().detail.as_deref()),
                text(error.report().hint.as_deref()),
                Datum::text(error.code().as_str()),
            ],
        })
    }
}

/// What `version()` says. Clients read the number behind `PostgreSQL`.
fn version(server_version: &str) -> String {
    format!("PostgreSQL {server_version} on {}-{}, 64-bit", std::env::consts::ARCH, std::env::consts::OS)
}

/// Bytes that a value takes in a row.
fn column_size(ty: Oid, value: &Datum) -> Datum {
    Datum::Int4(match (types::builtin_type(ty), value) {
        (Some(info), _) if info.len > 0 => i32::from(info.len),
        (_, Datum::Bytes(bytes)) if bytes.len() <= 126 => bytes.len() as i32 + 1,
        (_, Datum::Bytes(bytes)) => bytes.len() as i32 + 4,
        (_, Datum::Toasted(stored)) => stored.len() as i32,
        (_, Datum::Null) => return Datum::Null,
        _ => 4,
    })
}

/// The port of one end of the connection; NULL over a Unix socket.
fn port(end: Option<std::net::SocketAddr>) -> Datum {
    end.map_or(Datum::Null, |end| Datum::Int4(end.port().into()))
}

/// A row of `pg_available_extensions()`.
fn available_extension(module: &&crate::module::Module) -> Row {
    vec![Datum::text(module.name), Datum::text(module.version), Datum::text(module.comment)]
}

/// A row of `pg_available_extension_versions()`.
fn available_version(module: &&crate::module::Module) -> Row {
    let requires = match module.requires {
        [] => Datum::Null,
        names => types::array::from_names(names.iter().copied()),
    };
    vec![
        Datum::text(module.name),
        Datum::text(module.version),
        Datum::Bool(true),
        Datum::Bool(module.trusted),
        Datum::Bool(module.relocatable),
        module.schema.map_or(Datum::Null, Datum::text),
        requires,
        Datum::text(module.comment),
    ]
}

/// `name=value` entries as rows.
fn option_rows(options: &Datum) -> Vec<Row> {
    super::text::texts(options)
        .iter()
        .map(|option| match option.split_once('=') {
            Some((name, value)) => vec![Datum::text(name), Datum::text(value)],
            None => vec![Datum::text(option), Datum::Null],
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drivers_find_the_version_behind_the_name() {
        let text = version("18.1 (Stampede 0.1.0)");
        assert!(text.starts_with("PostgreSQL 18.1 (Stampede "), "{text}");
    }

    #[test]
    fn sizes_count_the_header() {
        assert_eq!(column_size(oids::int8, &Datum::Int8(1)), Datum::Int4(8));
        assert_eq!(column_size(oids::text, &Datum::text("abc")), Datum::Int4(4));
        assert_eq!(column_size(oids::text, &Datum::text(&"x".repeat(200))), Datum::Int4(204));
    }
}
