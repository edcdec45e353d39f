//! What an object is, and the names that tell it from all others.

use base::{Oid, SqlResult};
use catalog::change::ObjectAddress;
use catalog::system::{
    SystemTable, pg_amop, pg_amproc, pg_attrdef, pg_auth_members, pg_cast, pg_class, pg_constraint,
    pg_default_acl, pg_foreign_server, pg_largeobject, pg_namespace, pg_opclass, pg_operator, pg_opfamily,
    pg_policy, pg_proc, pg_publication_namespace, pg_publication_rel, pg_rewrite, pg_transform, pg_trigger,
    pg_type, pg_user_mapping,
};
use catalog::{CatalogView, ObjectClass, RelationKind, Row, RowExt};
use types::oids;

use super::super::text::{qualified, quote_identifier};
use super::unsupported_class;
use crate::Session;

/// An object, as far as it is there.
#[derive(Debug, Default)]
pub(super) struct Identity {
    /// What kind of object it is, or would be.
    pub(super) kind: String,
    /// Its schema, quoted, if it is in one.
    pub(super) schema: Option<String>,
    /// Its name, quoted, if there is no other of the kind that has it.
    pub(super) name: Option<String>,
    /// None if it is not there.
    pub(super) exact: Option<Exact>,
}

/// The names of an object.
#[derive(Debug, Default)]
pub(super) struct Exact {
    /// In one text.
    pub(super) text: String,
    /// As `pg_get_object_address` takes them.
    pub(super) names: Vec<String>,
    /// The same.
    pub(super) args: Vec<String>,
}

impl Exact {
    fn new(text: String, names: Vec<String>) -> Exact {
        Exact { text, names, args: Vec::new() }
    }
}

/// Catalogs whose objects are named by others, with what they are called.
fn kind_of_class(class: Oid) -> Option<&'static str> {
    let kinds: [(&SystemTable, &str); 19] = [
        (&pg_class::TABLE, "relation"),
        (&pg_type::TABLE, "type"),
        (&pg_proc::TABLE, "routine"),
        (&pg_cast::TABLE, "cast"),
        (&pg_constraint::TABLE, "constraint"),
        (&pg_attrdef::TABLE, "default value"),
        (&pg_largeobject::TABLE, "large object"),
        (&pg_operator::TABLE, "operator"),
        (&pg_opclass::TABLE, "operator class"),
        (&pg_opfamily::TABLE, "operator family"),
        (&pg_amop::TABLE, "operator of access method"),
        (&pg_amproc::TABLE, "function of access method"),
        (&pg_rewrite::TABLE, "rule"),
        (&pg_trigger::TABLE, "trigger"),
        (&pg_policy::TABLE, "policy"),
        (&pg_auth_members::TABLE, "role membership"),
        (&pg_default_acl::TABLE, "default acl"),
        (&pg_user_mapping::TABLE, "user mapping"),
        (&pg_transform::TABLE, "transform"),
    ];
    let publications = [
        (&pg_publication_namespace::TABLE, "publication namespace"),
        (&pg_publication_rel::TABLE, "publication relation"),
    ];
    kinds.iter().chain(&publications).find(|(shape, _)| shape.oid == class).map(|(_, kind)| *kind)
}

fn kind_of_relation(kind: RelationKind) -> &'static str {
    match kind {
        RelationKind::Table | RelationKind::PartitionedTable => "table",
        RelationKind::Index | RelationKind::PartitionedIndex => "index",
        RelationKind::Sequence => "sequence",
        RelationKind::Toast => "toast table",
        RelationKind::View => "view",
        RelationKind::MaterializedView => "materialized view",
        RelationKind::Composite => "composite type",
        RelationKind::ForeignTable => "foreign table",
    }
}

/// What default privileges are for.
pub(super) fn default_acl_kind(letter: u8) -> Option<&'static str> {
    Some(match letter {
        b'r' => "tables",
        b'S' => "sequences",
        b'f' => "functions",
        b'T' => "types",
        b'n' => "schemas",
        b'L' => "large objects",
        _ => return None,
    })
}

impl Session {
    pub(super) fn identify(&self, object: ObjectAddress) -> SqlResult<Identity> {
        if let Some(class) = ObjectClass::of(object.class) {
            return self.identify_named(class, object.object);
        }
        let kind = kind_of_class(object.class).ok_or_else(|| unsupported_class(object.class))?;
        let mut found = Identity { kind: kind.into(), ..Identity::default() };
        match object.class {
            class if class == pg_class::TABLE.oid => self.identify_relation(object, &mut found)?,
            class if class == pg_largeobject::TABLE.oid => {
                if self.with_reader(|r| r.large_object(object.object, None))?.is_some() {
                    let number = object.object.to_string();
                    found.exact = Some(Exact::new(number.clone(), vec![number]));
                }
            }
            class => {
                let shape = catalog::system::catalog_of(class).ok_or_else(|| unsupported_class(class))?;
                if let Some(row) = self.with_reader(|r| r.object_row(shape, object.object))? {
                    self.identify_row(object, &row, &mut found)?;
                }
            }
        }
        Ok(found)
    }

    fn identify_named(&self, class: &ObjectClass, oid: Oid) -> SqlResult<Identity> {
        let kind = class.kind.to_owned();
        let Some(row) = self.with_reader(|r| r.object_row(class.shape, oid))? else {
            return Ok(Identity { kind, ..Identity::default() });
        };
        let mut name = row.str(class.name);
        if class.shape.oid == pg_namespace::TABLE.oid && self.names.temporary_schema() == Some(oid) {
            name = "pg_temp";
        }
        let quoted = quote_identifier(name);
        let Some(schema) = class.schema else {
            let exact = Some(Exact::new(quoted.clone(), vec![name.into()]));
            return Ok(Identity { kind, schema: None, name: Some(quoted), exact });
        };
        let schema = self.schema_text(row.oid(schema))?;
        let exact = Some(Exact::new(qualified(&schema, name), vec![schema.clone(), name.into()]));
        Ok(Identity { kind, schema: Some(quote_identifier(&schema)), name: Some(quoted), exact })
    }

    /// A row of one of the catalogs whose objects are named by others.
    fn identify_row(&self, object: ObjectAddress, row: &Row, found: &mut Identity) -> SqlResult<()> {
        let class = object.class;
        found.exact = Some(match class {
            _ if class == pg_type::TABLE.oid => {
                self.note_place(found, row.oid(pg_type::TYPNAMESPACE), Some(row.str(pg_type::TYPNAME)))?;
                let name = self.qualified_type(object.object)?;
                Exact::new(name.clone(), vec![name])
            }
            _ if class == pg_proc::TABLE.oid => self.identify_routine(row, found)?,
            _ if class == pg_constraint::TABLE.oid => self.identify_constraint(row, found)?,
            _ if class == pg_operator::TABLE.oid => self.identify_operator(row, found)?,
            _ if class == pg_opclass::TABLE.oid => {
                use pg_opclass::*;
                self.note_place(found, row.oid(OPCNAMESPACE), Some(row.str(OPCNAME)))?;
                self.of_access_method(row, [OPCMETHOD, OPCNAMESPACE, OPCNAME])?
            }
            _ if class == pg_opfamily::TABLE.oid => {
                use pg_opfamily::*;
                self.note_place(found, row.oid(OPFNAMESPACE), Some(row.str(OPFNAME)))?;
                self.of_access_method(row, [OPFMETHOD, OPFNAMESPACE, OPFNAME])?
            }
            _ if class == pg_amop::TABLE.oid => {
                use pg_amop::*;
                self.of_family("operator", row, [AMOPFAMILY, AMOPSTRATEGY, AMOPLEFTTYPE, AMOPRIGHTTYPE])?
            }
            _ if class == pg_amproc::TABLE.oid => {
                use pg_amproc::*;
                self.of_family("function", row, [AMPROCFAMILY, AMPROCNUM, AMPROCLEFTTYPE, AMPROCRIGHTTYPE])?
            }
            _ if class == pg_cast::TABLE.oid => {
                let [from, to] =
                    [pg_cast::CASTSOURCE, pg_cast::CASTTARGET].map(|c| self.qualified_type(row.oid(c)));
                let (from, to) = (from?, to?);
                Exact { text: format!("({from} AS {to})"), names: vec![from], args: vec![to] }
            }
            _ if class == pg_attrdef::TABLE.oid => {
                let sub = row.int(pg_attrdef::ADNUM) as i16;
                let column = self.column_names(row.oid(pg_attrdef::ADRELID), sub)?;
                Exact { text: format!("for {}", column.text), ..column }
            }
            _ if class == pg_rewrite::TABLE.oid => {
                self.on_relation(row.str(pg_rewrite::RULENAME), row.oid(pg_rewrite::EV_CLASS))?
            }
            _ if class == pg_trigger::TABLE.oid => {
                self.on_relation(row.str(pg_trigger::TGNAME), row.oid(pg_trigger::TGRELID))?
            }
            _ if class == pg_policy::TABLE.oid => {
                self.on_relation(row.str(pg_policy::POLNAME), row.oid(pg_policy::POLRELID))?
            }
            _ if class == pg_default_acl::TABLE.oid => self.identify_default_acl(row)?,
            _ if class == pg_auth_members::TABLE.oid => {
                let name = |column| self.with_reader(|r| r.role_name(row.oid(column)));
                let [member, role] = [pg_auth_members::MEMBER, pg_auth_members::ROLEID].map(name);
                let (member, role) = (member?.unwrap_or_default(), role?.unwrap_or_default());
                Exact::new(format!("membership of role {member} in role {role}"), Vec::new())
            }
            _ if class == pg_user_mapping::TABLE.oid => {
                use pg_user_mapping::*;
                let server = self.with_reader(|r| r.server(row.oid(UMSERVER)))?;
                let server = server.str(pg_foreign_server::SRVNAME).to_owned();
                let user = self.with_reader(|r| r.role_name(row.oid(UMUSER)))?;
                let user = user.unwrap_or_else(|| "public".into());
                let text = format!("{} on server {server}", quote_identifier(&user));
                Exact { text, names: vec![user], args: vec![server] }
            }
            _ if class == pg_publication_rel::TABLE.oid => {
                let relation = self.relation_names(row.oid(pg_publication_rel::PRRELID))?;
                self.within_publication(row.oid(pg_publication_rel::PRPUBID), relation)?
            }
            _ if class == pg_publication_namespace::TABLE.oid => {
                let schema = self.schema_text(row.oid(pg_publication_namespace::PNNSPID))?;
                let publication = row.oid(pg_publication_namespace::PNPUBID);
                self.within_publication(publication, Exact::new(quote_identifier(&schema), vec![schema]))?
            }
            // Nothing makes rows of the others.
            _ => return Err(unsupported_class(class)),
        });
        Ok(())
    }

    /// What a publication has.
    fn within_publication(&self, publication: Oid, part: Exact) -> SqlResult<Exact> {
        use catalog::system::pg_publication::{PUBNAME, TABLE};
        let row = self.with_reader(|r| r.object_row(&TABLE, publication))?;
        let name = row.map_or_else(String::new, |row| row.str(PUBNAME).to_owned());
        let text = format!("{} in publication {}", part.text, quote_identifier(&name));
        Ok(Exact { text, args: vec![name], ..part })
    }

    fn schema_text(&self, schema: Oid) -> SqlResult<String> {
        if self.names.temporary_schema() == Some(schema) {
            return Ok("pg_temp".into());
        }
        Ok(self.with_reader(|r| CatalogView::schema_name(r, schema))?.unwrap_or_default())
    }

    fn note_place(&self, found: &mut Identity, schema: Oid, name: Option<&str>) -> SqlResult<()> {
        if schema.is_valid() {
            found.schema = Some(quote_identifier(&self.schema_text(schema)?));
        }
        found.name = name.map(quote_identifier);
        Ok(())
    }

    fn identify_relation(&self, object: ObjectAddress, found: &mut Identity) -> SqlResult<()> {
        let class = self.with_reader(|r| r.object_row(&pg_class::TABLE, object.object))?;
        let Some(class) = class else {
            if object.sub != 0 {
                found.kind.push_str(" column");
            }
            return Ok(());
        };
        if let Some(table) = self.with_reader(|r| CatalogView::relation_by_oid(r, object.object))? {
            found.kind = kind_of_relation(table.kind).into();
        }
        if object.sub == 0 {
            self.note_place(found, class.oid(pg_class::RELNAMESPACE), Some(class.str(pg_class::RELNAME)))?;
            found.exact = Some(self.relation_names(object.object)?);
            return Ok(());
        }
        found.kind.push_str(" column");
        let names = self.column_names(object.object, object.sub)?;
        if !names.names.is_empty() {
            self.note_place(found, class.oid(pg_class::RELNAMESPACE), Some(class.str(pg_class::RELNAME)))?;
            found.exact = Some(names);
        }
        Ok(())
    }

    fn relation_names(&self, oid: Oid) -> SqlResult<Exact> {
        let Some(class) = self.with_reader(|r| r.object_row(&pg_class::TABLE, oid))? else {
            return Ok(Exact::default());
        };
        let (schema, name) =
            (self.schema_text(class.oid(pg_class::RELNAMESPACE))?, class.str(pg_class::RELNAME));
        Ok(Exact::new(qualified(&schema, name), vec![schema, name.into()]))
    }

    /// Empty if there is no such column.
    fn column_names(&self, relation: Oid, number: i16) -> SqlResult<Exact> {
        use catalog::system::pg_attribute::*;
        let key = [relation.into(), number.into()];
        let row = self.with_reader(|r| r.find_one(&TABLE, PG_ATTRIBUTE_RELID_ATTNUM_INDEX, &key))?;
        let Some((_, row)) = row else { return Ok(Exact::default()) };
        let mut names = self.relation_names(relation)?;
        names.text = format!("{}.{}", names.text, quote_identifier(row.str(ATTNAME)));
        names.names.push(row.str(ATTNAME).into());
        Ok(names)
    }

    fn on_relation(&self, name: &str, relation: Oid) -> SqlResult<Exact> {
        let mut names = self.relation_names(relation)?;
        names.text = format!("{} on {}", quote_identifier(name), names.text);
        names.names.push(name.into());
        Ok(names)
    }

    /// A type as the same text names it whatever the search path: with its schema, unless SQL has a word for it.
    pub(super) fn qualified_type(&self, ty: Oid) -> SqlResult<String> {
        let Some(def) = self.with_reader(|r| CatalogView::type_by_oid(r, ty))? else {
            return Ok("???".into());
        };
        let builtin = types::format_type(ty, None);
        let is_array = match &builtin {
            Some(name) => name.ends_with("[]"),
            None => def.category == 'A' && def.element.is_valid(),
        };
        if is_array {
            return Ok(format!("{}[]", self.qualified_type(def.element)?));
        }
        let is_word = matches!(ty, oids::bit | oids::numeric | oids::interval);
        match builtin {
            Some(word) if is_word || word != def.name && !word.starts_with('"') => Ok(word),
            _ => Ok(qualified(&def.schema_name, &def.name)),
        }
    }

    fn identify_routine(&self, row: &Row, found: &mut Identity) -> SqlResult<Exact> {
        use pg_proc::*;
        found.kind = match row.char(PROKIND) {
            b'a' => "aggregate",
            b'p' => "procedure",
            _ => "function",
        }
        .into();
        self.note_place(found, row.oid(PRONAMESPACE), None)?;
        let types = catalog::oids_of(&row[PROARGTYPES]);
        let args = types.iter().map(|ty| self.qualified_type(*ty)).collect::<SqlResult<Vec<_>>>()?;
        let (schema, name) = (self.schema_text(row.oid(PRONAMESPACE))?, row.str(PRONAME));
        let text = format!("{}({})", qualified(&schema, name), args.join(","));
        Ok(Exact { text, names: vec![schema, name.into()], args })
    }

    fn identify_operator(&self, row: &Row, found: &mut Identity) -> SqlResult<Exact> {
        use pg_operator::*;
        self.note_place(found, row.oid(OPRNAMESPACE), None)?;
        let (schema, name) = (self.schema_text(row.oid(OPRNAMESPACE))?, row.str(OPRNAME));
        let (mut shown, mut args) = (Vec::new(), Vec::new());
        for ty in [row.oid(OPRLEFT), row.oid(OPRRIGHT)] {
            if ty.is_valid() {
                args.push(self.qualified_type(ty)?);
                shown.extend(args.last().cloned());
            } else {
                shown.push("NONE".into());
            }
        }
        let text = format!("{}.{name}({})", quote_identifier(&schema), shown.join(","));
        Ok(Exact { text, names: vec![schema, name.into()], args })
    }

    fn identify_constraint(&self, row: &Row, found: &mut Identity) -> SqlResult<Exact> {
        use pg_constraint::*;
        self.note_place(found, row.oid(CONNAMESPACE), None)?;
        let (name, table) = (row.str(CONNAME), row.oid(CONRELID));
        if table.is_valid() {
            found.kind = "table constraint".into();
            return self.on_relation(name, table);
        }
        found.kind = "domain constraint".into();
        let domain = self.qualified_type(row.oid(CONTYPID))?;
        let text = format!("{} on {domain}", quote_identifier(name));
        Ok(Exact { text, names: vec![domain], args: vec![name.into()] })
    }

    /// An operator class or family; `columns`: those of its access method, schema and name.
    fn of_access_method(&self, row: &Row, [method, schema, name]: [usize; 3]) -> SqlResult<Exact> {
        use catalog::system::pg_am;
        let method = self.with_reader(|r| r.object_row(&pg_am::TABLE, row.oid(method)))?;
        let method = method.map_or_else(String::new, |row| row.str(pg_am::AMNAME).to_owned());
        let (schema, name) = (self.schema_text(row.oid(schema))?, row.str(name));
        let text = format!("{} USING {}", qualified(&schema, name), quote_identifier(&method));
        Ok(Exact::new(text, vec![method, schema, name.into()]))
    }

    /// An entry of an operator family; `columns`: those of the family, its number in it, and its types.
    fn of_family(
        &self,
        what: &str,
        row: &Row,
        [family, number, left, right]: [usize; 4],
    ) -> SqlResult<Exact> {
        use pg_opfamily::*;
        let mut exact = match self.with_reader(|r| r.object_row(&TABLE, row.oid(family)))? {
            Some(family) => self.of_access_method(&family, [OPFMETHOD, OPFNAMESPACE, OPFNAME])?,
            None => Exact::default(),
        };
        let (left, right) = (self.qualified_type(row.oid(left))?, self.qualified_type(row.oid(right))?);
        let number = row.int(number);
        exact.text = format!("{what} {number} ({left}, {right}) of {}", exact.text);
        exact.names.push(number.to_string());
        exact.args = vec![left, right];
        Ok(exact)
    }

    fn identify_default_acl(&self, row: &Row) -> SqlResult<Exact> {
        use pg_default_acl::*;
        let role = self.with_reader(|r| r.role_name(row.oid(DEFACLROLE)))?.unwrap_or_default();
        let letter = row.char(DEFACLOBJTYPE);
        let mut text = format!("for role {}", quote_identifier(&role));
        let mut names = vec![role];
        if row.oid(DEFACLNAMESPACE).is_valid() {
            let schema = self.schema_text(row.oid(DEFACLNAMESPACE))?;
            text.push_str(&format!(" in schema {}", quote_identifier(&schema)));
            names.push(schema);
        }
        text.push_str(&format!(" on {}", default_acl_kind(letter).unwrap_or("?")));
        Ok(Exact { text, names, args: vec![(letter as char).to_string()] })
    }
}
