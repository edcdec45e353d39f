//! Tables, queries, cursors, schemas and the database as XML, and as XML Schema: `table_to_xml` and its kin.
//!
//! # PostgreSQL counterpart
//! The second half of `xml.c`, with its spaces and blank lines.

use std::fmt::Write;

use analyze::ColumnType;
use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::view::{CatalogView, Table, TypeKind};
use parse::ast::FetchDirection;
use tuple::Datum;
use types::xml::{value_text, xml_name};
use types::{Call, SessionFn, oids};

use super::arg;
use crate::Session;
use crate::routine::{BodyStatement, Sees, within_body};

const INSTANCES: &str = "http://www.w3.org/2001/XMLSchema-instance";
const SCHEMAS: &str = "http://www.w3.org/2001/XMLSchema";

/// What is mapped.
enum Subject<'a> {
    Table(Oid),
    Query(&'a str),
    /// With the number of rows, and 0 for all.
    Cursor(&'a str, i32),
    Schema(&'a str),
    Database,
}

/// How it is mapped.
#[derive(Clone, Copy)]
struct Style<'a> {
    /// NULLs are elements.
    nulls: bool,
    /// Each row is an element named like the table, and none is around them.
    forest: bool,
    /// Namespace of the result; empty for none.
    target: &'a str,
    /// Nothing is around it.
    top: bool,
}

/// Which documents are asked for.
#[derive(Clone, Copy, PartialEq)]
enum Wanted {
    Data,
    Schema,
    Both,
}

/// A name of SQL as an element's.
fn element_name(name: &str) -> String {
    xml_name(name, true, false)
}

/// The name of a type of XML Schema for an object within others.
fn type_name(kind: &str, parts: &[&str]) -> String {
    let mut out = kind.to_owned();
    for part in parts {
        out.push('.');
        out.push_str(&xml_name(part, true, true));
    }
    out
}

fn subject<'a>(id: SessionFn, args: &'a [Datum]) -> Option<(Subject<'a>, Wanted)> {
    use SessionFn as F;
    let wanted = match id {
        F::TableToXml | F::QueryToXml | F::CursorToXml | F::SchemaToXml | F::DatabaseToXml => Wanted::Data,
        F::TableToXmlschema
        | F::QueryToXmlschema
        | F::CursorToXmlschema
        | F::SchemaToXmlschema
        | F::DatabaseToXmlschema => Wanted::Schema,
        F::TableToXmlAndXmlschema
        | F::QueryToXmlAndXmlschema
        | F::SchemaToXmlAndXmlschema
        | F::DatabaseToXmlAndXmlschema => Wanted::Both,
        _ => return None,
    };
    let subject = match id {
        F::TableToXml | F::TableToXmlschema | F::TableToXmlAndXmlschema => Subject::Table(Oid(arg(args, 0))),
        F::QueryToXml | F::QueryToXmlschema | F::QueryToXmlAndXmlschema => Subject::Query(arg(args, 0)),
        F::CursorToXml => Subject::Cursor(arg(args, 0), arg(args, 1)),
        F::CursorToXmlschema => Subject::Cursor(arg(args, 0), 0),
        F::SchemaToXml | F::SchemaToXmlschema | F::SchemaToXmlAndXmlschema => Subject::Schema(arg(args, 0)),
        _ => Subject::Database,
    };
    Some((subject, wanted))
}

impl Session {
    /// `table_to_xml` and its kin.
    pub(super) fn xml_mapping(
        &self,
        id: SessionFn,
        call: &Call<'_>,
        args: &[Datum],
    ) -> SqlResult<Option<Datum>> {
        let Some((subject, wanted)) = subject(id, args) else { return Ok(None) };
        let last = args.len() - 3;
        let style = Style {
            nulls: arg(args, last),
            forest: arg(args, last + 1),
            target: arg(args, last + 2),
            top: true,
        };
        let mapping = Mapping { session: self, call, style };
        let schema = match wanted {
            Wanted::Data => None,
            _ => Some(mapping.schema(&subject)?),
        };
        let text = match (wanted, schema) {
            (Wanted::Schema, Some(schema)) => schema,
            (_, schema) => mapping.data(&subject, schema.as_deref())?,
        };
        Ok(Some(Datum::text(&text)))
    }
}

/// What is done with each row of a query.
type EachRow<'e> = &'e mut dyn FnMut(&[ColumnType], &[Datum]) -> SqlResult<()>;

struct Mapping<'s> {
    session: &'s Session,
    call: &'s Call<'s>,
    style: Style<'s>,
}

impl Mapping<'_> {
    /// Runs a query that sees what the caller sees; calls `each` with its rows.
    fn run(&self, text: &str, each: EachRow<'_>) -> SqlResult<()> {
        let statement = BodyStatement::of_text(text)?;
        let placed = |error| within_body(error, text);
        let columns = match statement.is_query() {
            true => self.session.columns_in_body(&statement).map_err(placed)?,
            false => Vec::new(),
        };
        let (snapshot, command) = {
            let mut txn = self.session.txn.borrow_mut();
            (txn.statement_snapshot()?, txn.current_command())
        };
        let sees = Sees::Caller(&snapshot, command);
        let ran = self.session.run_in_body(&statement, &[], sees, 0, &mut |row| each(&columns, row));
        let done = ran.map_err(|e| placed(e).context(format!("SQL statement \"{text}\"")))?;
        match statement.is_query() && done.tag == "SELECT" {
            true => Ok(()),
            false => Err(sql_err!(DATA_EXCEPTION, "invalid query")),
        }
    }

    /// The numbers that a query of the catalogs gives.
    fn oids(&self, text: &str) -> SqlResult<Vec<Oid>> {
        let mut out = Vec::new();
        self.run(text, &mut |_, row| {
            if let Some(Datum::Oid(oid)) = row.first() {
                out.push(Oid(*oid));
            }
            Ok(())
        })?;
        Ok(out)
    }

    fn table(&self, oid: Oid) -> SqlResult<std::sync::Arc<Table>> {
        let found = self.session.relation_by_oid(oid)?;
        found.ok_or_else(|| sql_err!(UNDEFINED_TABLE, "relation with OID {oid} does not exist"))
    }

    fn schema_oid(&self, name: &str) -> SqlResult<Oid> {
        CatalogView::schema(self.session, name)?.ok_or_else(|| crate::lookup::names::undefined_schema(name))
    }

    /// Tables, views and materialized views of a schema that may be read.
    fn tables_of(&self, schema: Oid) -> SqlResult<Vec<Oid>> {
        self.oids(&format!(
            "SELECT oid FROM pg_catalog.pg_class WHERE relnamespace = {schema} AND relkind IN ('r', 'm', 'v') \
             AND pg_catalog.has_table_privilege(oid, 'SELECT') ORDER BY relname"
        ))
    }

    /// Schemas of users that may be looked into.
    fn schemas(&self) -> SqlResult<Vec<Oid>> {
        self.oids(
            "SELECT oid FROM pg_catalog.pg_namespace WHERE pg_catalog.has_schema_privilege(oid, 'USAGE') \
             AND NOT (nspname OPERATOR(pg_catalog.~) '^pg_' OR nspname = 'information_schema') ORDER BY nspname",
        )
    }

    // Data.

    fn data(&self, subject: &Subject<'_>, schema: Option<&str>) -> SqlResult<String> {
        let mut out = String::new();
        match subject {
            Subject::Table(oid) => self.table_data(*oid, schema, self.style, &mut out)?,
            Subject::Query(text) => self.query_data(text, None, schema, self.style, &mut out)?,
            Subject::Cursor(name, count) => self.cursor_data(name, *count, &mut out)?,
            Subject::Schema(name) => {
                self.schema_data(self.schema_oid(name)?, schema, self.style, &mut out)?;
            }
            Subject::Database => self.database_data(schema, &mut out)?,
        }
        Ok(out)
    }

    fn root_start(&self, name: &str, schema: Option<&str>, style: Style<'_>, out: &mut String) {
        let _ = write!(out, "<{name}");
        if style.top {
            let _ = write!(out, " xmlns:xsi=\"{INSTANCES}\"");
            if !style.target.is_empty() {
                let _ = write!(out, " xmlns=\"{}\"", style.target);
            }
        }
        match (schema, style.target) {
            (None, _) => {}
            (Some(_), "") => out.push_str(" xsi:noNamespaceSchemaLocation=\"#\""),
            (Some(_), target) => {
                let _ = write!(out, " xsi:schemaLocation=\"{target} #\"");
            }
        }
        out.push_str(">\n");
    }

    fn table_data(
        &self,
        oid: Oid,
        schema: Option<&str>,
        style: Style<'_>,
        out: &mut String,
    ) -> SqlResult<()> {
        let table = self.table(oid)?;
        let text = format!("SELECT * FROM {}", super::quoted_relation(&table.schema_name, &table.name));
        self.query_data(&text, Some(&table.name), schema, style, out)
    }

    fn query_data(
        &self,
        text: &str,
        table: Option<&str>,
        schema: Option<&str>,
        style: Style<'_>,
        out: &mut String,
    ) -> SqlResult<()> {
        let root = table.map_or_else(|| "table".to_owned(), element_name);
        if !style.forest {
            self.root_start(&root, schema, style, out);
            out.push('\n');
        }
        if let Some(schema) = schema {
            let _ = write!(out, "{schema}\n\n");
        }
        self.run(text, &mut |columns, row| self.row(columns, row, table, style, out))?;
        if !style.forest {
            let _ = writeln!(out, "</{root}>");
        }
        Ok(())
    }

    fn row(
        &self,
        columns: &[ColumnType],
        row: &[Datum],
        table: Option<&str>,
        style: Style<'_>,
        out: &mut String,
    ) -> SqlResult<()> {
        let name = match table {
            _ if !style.forest => "row".to_owned(),
            Some(table) => element_name(table),
            None => "row".to_owned(),
        };
        match style.forest {
            true => self.root_start(&name, None, style, out),
            false => out.push_str("<row>\n"),
        }
        for (column, value) in columns.iter().zip(row) {
            let name = element_name(&column.name);
            if !value.is_null() {
                let text = value_text(column.type_oid, value, true, self.call)?;
                let _ = writeln!(out, "  <{name}>{text}</{name}>");
            } else if style.nulls {
                let _ = writeln!(out, "  <{name} xsi:nil=\"true\"/>");
            }
        }
        let _ = write!(out, "</{name}>\n\n");
        Ok(())
    }

    fn cursor_data(&self, name: &str, count: i32, out: &mut String) -> SqlResult<()> {
        let style = self.style;
        if !style.forest {
            self.root_start("table", None, style, out);
            out.push('\n');
        }
        let columns = self.session.cursor_columns_in_body(name)?;
        let direction = FetchDirection::Forward(i64::from(count));
        self.session
            .fetch_in_body(name, direction, false, &mut |row| self.row(&columns, row, None, style, out))?;
        if !style.forest {
            out.push_str("</table>\n");
        }
        Ok(())
    }

    fn schema_data(
        &self,
        oid: Oid,
        schema: Option<&str>,
        style: Style<'_>,
        out: &mut String,
    ) -> SqlResult<()> {
        let name = element_name(&CatalogView::schema_name(self.session, oid)?.unwrap_or_default());
        self.root_start(&name, schema, style, out);
        out.push('\n');
        if let Some(schema) = schema {
            let _ = write!(out, "{schema}\n\n");
        }
        for table in self.tables_of(oid)? {
            self.table_data(table, None, Style { top: false, ..style }, out)?;
            out.push('\n');
        }
        let _ = writeln!(out, "</{name}>");
        Ok(())
    }

    fn database_data(&self, schema: Option<&str>, out: &mut String) -> SqlResult<()> {
        let name = element_name(self.session.catalog.database_name());
        self.root_start(&name, schema, self.style, out);
        out.push('\n');
        if let Some(schema) = schema {
            let _ = write!(out, "{schema}\n\n");
        }
        for schema in self.schemas()? {
            self.schema_data(schema, None, Style { top: false, ..self.style }, out)?;
            out.push('\n');
        }
        let _ = writeln!(out, "</{name}>");
        Ok(())
    }

    // Schemas.

    fn schema(&self, subject: &Subject<'_>) -> SqlResult<String> {
        let mut out = format!("<xsd:schema\n    xmlns:xsd=\"{SCHEMAS}\"");
        if !self.style.target.is_empty() {
            let target = self.style.target;
            let _ = write!(out, "\n    targetNamespace=\"{target}\"\n    elementFormDefault=\"qualified\"");
        }
        out.push_str(">\n\n");
        match subject {
            Subject::Table(oid) => {
                let table = self.table(*oid)?;
                self.table_schema(&columns_of(&table), Some(&table), &mut out)?;
            }
            Subject::Query(text) => {
                let statement = BodyStatement::of_text(text)?;
                if let crate::Work::Utility(raw) = &statement.source().work {
                    let tag = self.session.commands().describe(&raw.stmt).tag;
                    return Err(sql_err!(INVALID_CURSOR_DEFINITION, "cannot open {tag} query as cursor"));
                }
                let columns = self.session.columns_in_body(&statement);
                self.table_schema(&columns.map_err(|e| within_body(e, text))?, None, &mut out)?;
            }
            Subject::Cursor(name, _) => {
                let mut none = |_: &[Datum]| -> SqlResult<()> { Ok(()) };
                // Whether there is such a cursor is asked by moving over nothing.
                self.session.fetch_in_body(name, FetchDirection::Relative(0), true, &mut none)?;
                let columns = self.session.cursor_columns_in_body(name)?;
                self.table_schema(&columns, None, &mut out)?;
            }
            Subject::Schema(name) => {
                let tables = self.tables_of(self.schema_oid(name)?)?;
                self.types_of_tables(&tables, &mut out)?;
                self.schema_type(name, &tables, &mut out)?;
            }
            Subject::Database => self.database_type(&mut out)?,
        }
        out.push_str("</xsd:schema>");
        Ok(out)
    }

    fn table_schema(&self, columns: &[ColumnType], table: Option<&Table>, out: &mut String) -> SqlResult<()> {
        let forest = self.style.forest;
        let database = self.session.catalog.database_name();
        let (name, kinds) = match table {
            Some(t) => {
                let parts = [database, &t.schema_name, &t.name];
                (element_name(&t.name), [type_name("TableType", &parts), type_name("RowType", &parts)])
            }
            None => {
                let name = if forest { "row" } else { "table" };
                (name.to_owned(), ["TableType".to_owned(), "RowType".to_owned()])
            }
        };
        let [table_type, row_type] = kinds;
        self.types(columns.iter().map(|c| c.type_oid), out)?;
        let _ = write!(out, "<xsd:complexType name=\"{row_type}\">\n  <xsd:sequence>\n");
        for column in columns {
            let (name, kind) = (element_name(&column.name), self.xml_type(column.type_oid, -1)?);
            let nulls = if self.style.nulls { "nillable=\"true\"" } else { "minOccurs=\"0\"" };
            let _ = writeln!(out, "    <xsd:element name=\"{name}\" type=\"{kind}\" {nulls}></xsd:element>");
        }
        out.push_str("  </xsd:sequence>\n</xsd:complexType>\n\n");
        if !forest {
            let _ = write!(
                out,
                "<xsd:complexType name=\"{table_type}\">\n  <xsd:sequence>\n    <xsd:element name=\"row\" type=\"{row_type}\" \
                 minOccurs=\"0\" maxOccurs=\"unbounded\"/>\n  </xsd:sequence>\n</xsd:complexType>\n\n"
            );
        }
        let kind = if forest { row_type } else { table_type };
        let _ = write!(out, "<xsd:element name=\"{name}\" type=\"{kind}\"/>\n\n");
        Ok(())
    }

    fn types_of_tables(&self, tables: &[Oid], out: &mut String) -> SqlResult<()> {
        let mut all = Vec::new();
        for oid in tables {
            all.extend(columns_of(&*self.table(*oid)?).iter().map(|c| c.type_oid));
        }
        self.types(all.into_iter(), out)
    }

    fn schema_type(&self, schema: &str, tables: &[Oid], out: &mut String) -> SqlResult<()> {
        let database = self.session.catalog.database_name();
        let kind = type_name("SchemaType", &[database, schema]);
        let group = if self.style.forest { "sequence" } else { "all" };
        let _ = write!(out, "<xsd:complexType name=\"{kind}\">\n  <xsd:{group}>\n");
        for oid in tables {
            let table = self.table(*oid)?;
            let parts = [database, &table.schema_name, &table.name];
            let (of, many) = match self.style.forest {
                true => (type_name("RowType", &parts), " minOccurs=\"0\" maxOccurs=\"unbounded\""),
                false => (type_name("TableType", &parts), ""),
            };
            let name = element_name(&table.name);
            let _ = writeln!(out, "    <xsd:element name=\"{name}\" type=\"{of}\"{many}/>");
        }
        let _ = write!(out, "  </xsd:{group}>\n</xsd:complexType>\n\n");
        let _ = write!(out, "<xsd:element name=\"{}\" type=\"{kind}\"/>\n\n", element_name(schema));
        Ok(())
    }

    fn database_type(&self, out: &mut String) -> SqlResult<()> {
        let database = self.session.catalog.database_name();
        let schemas = self.schemas()?;
        let mut tables = Vec::new();
        for schema in &schemas {
            tables.extend(self.tables_of(*schema)?);
        }
        self.types_of_tables(&tables, out)?;
        let kind = type_name("CatalogType", &[database]);
        let _ = write!(out, "<xsd:complexType name=\"{kind}\">\n  <xsd:all>\n");
        for schema in schemas {
            let schema = CatalogView::schema_name(self.session, schema)?.unwrap_or_default();
            let (name, of) = (element_name(&schema), type_name("SchemaType", &[database, &schema]));
            let _ = writeln!(out, "    <xsd:element name=\"{name}\" type=\"{of}\"/>");
        }
        out.push_str("  </xsd:all>\n</xsd:complexType>\n\n");
        let _ = write!(out, "<xsd:element name=\"{}\" type=\"{kind}\"/>\n\n", element_name(database));
        Ok(())
    }

    /// Definitions of types, each once, those below domains behind the others.
    fn types(&self, all: impl Iterator<Item = Oid>, out: &mut String) -> SqlResult<()> {
        let mut unique: Vec<Oid> = Vec::new();
        for oid in all {
            if !unique.contains(&oid) {
                unique.push(oid);
            }
        }
        for at in 0..unique.len() {
            let base = types::call::Session::base_type(self.session, unique[at]);
            if !unique.contains(&base) {
                unique.push(base);
            }
        }
        for oid in unique {
            out.push_str(&self.definition(oid)?);
            out.push('\n');
        }
        Ok(())
    }

    fn definition(&self, oid: Oid) -> SqlResult<String> {
        const DAY: &str = r"\p{Nd}{4}-\p{Nd}{2}-\p{Nd}{2}";
        const TIME: &str = r"\p{Nd}{2}:\p{Nd}{2}:\p{Nd}{2}(.\p{Nd}+)?";
        const ZONE: &str = r"(\+|-)\p{Nd}{2}:\p{Nd}{2}";
        if oid == oids::xml {
            return Ok("<xsd:complexType mixed=\"true\">\n  <xsd:sequence>\n    <xsd:any name=\"element\" minOccurs=\"0\" \
                maxOccurs=\"unbounded\" processContents=\"skip\"/>\n  </xsd:sequence>\n</xsd:complexType>\n"
                .to_owned());
        }
        let open = |base: &str, inner: &str| {
            format!("  <xsd:restriction base=\"xsd:{base}\">\n{inner}  </xsd:restriction>\n")
        };
        let pattern =
            |base: &str, pattern: String| open(base, &format!("    <xsd:pattern value=\"{pattern}\"/>\n"));
        let limits = |base: &str, most: i64, least: i64| {
            let most = format!("    <xsd:maxInclusive value=\"{most}\"/>\n");
            open(base, &format!("{most}    <xsd:minInclusive value=\"{least}\"/>\n"))
        };
        let bare = |base: &str| format!("  <xsd:restriction base=\"xsd:{base}\"></xsd:restriction>\n");
        let inner = match oid {
            oids::bpchar | oids::varchar | oids::text => open("string", ""),
            oids::bytea => open(if self.call.format.xml_hex { "hexBinary" } else { "base64Binary" }, ""),
            oids::int2 => limits("short", i64::from(i16::MAX), i64::from(i16::MIN)),
            oids::int4 => limits("int", i64::from(i32::MAX), i64::from(i32::MIN)),
            oids::int8 => limits("long", i64::MAX, i64::MIN),
            oids::float4 => bare("float"),
            oids::float8 => bare("double"),
            oids::bool => bare("boolean"),
            oids::time => pattern("time", TIME.to_owned()),
            oids::timetz => pattern("time", format!("{TIME}{ZONE}")),
            oids::timestamp => pattern("dateTime", format!("{DAY}T{TIME}")),
            oids::timestamptz => pattern("dateTime", format!("{DAY}T{TIME}{ZONE}")),
            oids::date => pattern("date", DAY.to_owned()),
            _ => match self.domain(oid)? {
                Some((base, typmod)) => {
                    format!("  <xsd:restriction base=\"{}\"/>\n", self.xml_type(base, typmod)?)
                }
                None => String::new(),
            },
        };
        Ok(format!("<xsd:simpleType name=\"{}\">\n{inner}</xsd:simpleType>\n", self.xml_type(oid, -1)?))
    }

    /// The type below a domain, and its modifier.
    fn domain(&self, oid: Oid) -> SqlResult<Option<(Oid, i32)>> {
        let (mut below, mut typmod, mut any) = (oid, -1, false);
        while types::builtin_type(below).is_none()
            && let Some(found) = self.session.type_by_oid(below)?
            && let TypeKind::Domain(domain) = &found.kind
        {
            (below, any) = (domain.base, true);
            typmod = if typmod == -1 { domain.typmod } else { typmod };
        }
        Ok(any.then_some((below, typmod)))
    }

    /// Name of a type in XML Schema.
    fn xml_type(&self, oid: Oid, typmod: i32) -> SqlResult<String> {
        let sized = |name: &str, size: i32| match typmod {
            -1 => name.to_owned(),
            _ => format!("{name}_{size}"),
        };
        Ok(match oid {
            oids::bpchar => sized("CHAR", typmod - 4),
            oids::varchar => sized("VARCHAR", typmod - 4),
            oids::numeric if typmod == -1 => "NUMERIC".to_owned(),
            oids::numeric => {
                let both = typmod - 4;
                format!("NUMERIC_{}_{}", both >> 16 & 0xffff, both & 0xffff)
            }
            oids::int4 => "INTEGER".to_owned(),
            oids::int2 => "SMALLINT".to_owned(),
            oids::int8 => "BIGINT".to_owned(),
            oids::float4 => "REAL".to_owned(),
            oids::float8 => "DOUBLE".to_owned(),
            oids::bool => "BOOLEAN".to_owned(),
            oids::time => sized("TIME", typmod),
            oids::timetz => sized("TIME_WTZ", typmod),
            oids::timestamp => sized("TIMESTAMP", typmod),
            oids::timestamptz => sized("TIMESTAMP_WTZ", typmod),
            oids::date => "DATE".to_owned(),
            oids::xml => "XML".to_owned(),
            _ => {
                let missing = || SqlError::internal(format!("cache lookup failed for type {oid}"));
                let found = self.session.type_by_oid(oid)?.ok_or_else(missing)?;
                let kind = if matches!(found.kind, TypeKind::Domain(_)) { "Domain" } else { "UDT" };
                type_name(kind, &[self.session.catalog.database_name(), &found.schema_name, &found.name])
            }
        })
    }
}

fn columns_of(table: &Table) -> Vec<ColumnType> {
    let live = table.columns.iter().filter(|c| !c.dropped);
    live.map(|c| ColumnType {
        name: c.name.clone(),
        type_oid: c.type_oid,
        typmod: c.typmod,
        collation: c.collation,
    })
    .collect()
}
