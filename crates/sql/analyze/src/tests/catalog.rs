//! A catalog read from a table of facts.

use std::collections::HashMap;
use std::sync::Arc;

use ::catalog::Validity;

use ::catalog::view::{
    CastDef, CatalogView, CollationDef, Column, Domain, FunctionDef, Generated, Identity, Index, OperatorDef,
    RelationKind, SizeEstimate, Table, TypeDef, TypeKind,
};
use base::{Oid, RelFile, SqlResult};
use types::{Call, FormatContext};

use crate::{ExprContext, ParamTypes, Purpose};

/// The public schema.
const PUBLIC: Oid = Oid(2200);

#[derive(Default)]
pub(super) struct TestCatalog {
    tables: HashMap<Oid, Arc<Table>>,
    types: HashMap<Oid, Arc<TypeDef>>,
    functions: Vec<Arc<FunctionDef>>,
}

fn number<T: std::str::FromStr>(text: &str) -> T
where
    T::Err: std::fmt::Debug,
{
    text.parse().expect("number")
}

fn oid(text: &str) -> Oid {
    Oid(number(text))
}

impl TestCatalog {
    /// The catalog of `schema.sql`.
    pub(super) fn load() -> TestCatalog {
        let mut catalog = TestCatalog::default();
        let lines: Vec<Vec<&str>> =
            include_str!("catalog.tsv").lines().map(|l| l.split('\t').collect()).collect();
        let of = |kind: &'static str| lines.iter().filter(move |l| l[0] == kind);
        for l in of("Y") {
            catalog.add_type(l);
        }
        let mut tables: HashMap<Oid, Table> = of("T").map(|l| (oid(l[1]), table(l))).collect();
        for l in of("C") {
            if let Some(t) = tables.get_mut(&oid(l[1])) {
                t.columns.push(column(l));
            }
        }
        catalog.tables = tables.iter().map(|(k, t)| (*k, Arc::new(t.clone()))).collect();
        for l in of("F") {
            catalog.add_function(l);
        }
        for l in of("C").filter(|l| !l[11].is_empty()) {
            let t = tables.get_mut(&oid(l[1])).expect("table");
            let text = catalog.stored(l[11], &catalog.tables[&t.oid], Purpose::Generated);
            t.columns[number::<usize>(l[2]) - 1].default = Some(text);
        }
        for l in of("I") {
            let t = tables.get_mut(&oid(l[1])).expect("table");
            let index = catalog.index(l, &catalog.tables[&t.oid]);
            t.indexes.push(Arc::new(index));
        }
        catalog.tables = tables.iter().map(|(k, t)| (*k, Arc::new(t.clone()))).collect();
        for l in of("V") {
            let t = tables.get_mut(&oid(l[1])).expect("view");
            t.view_query = Some(catalog.view(l[2]));
        }
        catalog.tables = tables.into_iter().map(|(k, t)| (k, Arc::new(t))).collect();
        catalog
    }

    fn add_type(&mut self, l: &[&str]) {
        let kind = match l[3] {
            "e" => TypeKind::Enum([].into()),
            "c" => TypeKind::Composite(oid(l[7])),
            "d" => TypeKind::Domain(Domain {
                base: oid(l[8]),
                typmod: number(l[9]),
                default: None,
                not_null: false,
                checks: [].into(),
            }),
            _ => TypeKind::Base,
        };
        let t = TypeDef {
            oid: oid(l[1]),
            name: l[2].into(),
            schema: PUBLIC,
            schema_name: "public".into(),
            kind,
            category: l[4].chars().next().expect("category"),
            preferred: false,
            element: oid(l[5]),
            array: oid(l[6]),
            collation: oid(l[10]),
            defined: true,
        };
        self.types.insert(t.oid, Arc::new(t));
    }

    fn add_function(&mut self, l: &[&str]) {
        let args: Vec<Oid> = l[3].split(',').map(oid).collect();
        let first = self.tables.values().find(|t| t.name == "t1").expect("t1").clone();
        let defaults = vec![self.stored(l[5], &first, Purpose::ColumnDefault)];
        self.functions.push(Arc::new(FunctionDef {
            oid: oid(l[1]),
            name: l[2].into(),
            schema: PUBLIC,
            kind: 'f',
            owner: Oid(10),
            parameters: Vec::new(),
            cost: 100.0,
            rows: 0.0,
            leakproof: false,
            security_definer: false,
            language: Oid(14),
            source: "".into(),
            library: None,
            body: None,
            config: Vec::new(),
            args,
            arg_names: l[4].split(',').map(str::to_owned).collect(),
            defaults,
            variadic: Oid(0),
            result: oid(l[6]),
            out_columns: Vec::new(),
            returns_set: false,
            strict: false,
            volatility: 'v',
            aggregate: None,
        }));
    }

    fn stored(&self, sql: &str, table: &Arc<Table>, purpose: Purpose) -> Arc<str> {
        let select = parse::parse_expression(sql).expect("stored expression");
        let parse::ast::SelectBody::Simple(body) = select.body else { panic!("not an expression") };
        let format = FormatContext::default();
        let context = ExprContext { purpose, relation: Some(table), column: None, value: None };
        let call = Call::new(&format);
        let e = crate::analyze_expr(&body.targets[0].value, sql, context, self, &call)
            .expect("stored expression");
        crate::stored::store_expr(&e).into()
    }

    fn index(&self, l: &[&str], table: &Arc<Table>) -> Index {
        let keys: Vec<i16> = l[6].split(',').map(number).collect();
        let optional = |text: &str| (!text.is_empty()).then(|| self.stored(text, table, Purpose::Index));
        Index {
            oid: oid(l[2]),
            name: l[3].into(),
            primary: l[4] == "t",
            unique: l[5] == "t",
            immediate: true,
            valid: true,
            nulls_not_distinct: false,
            excluders: Vec::new(),
            without_overlaps: false,
            constraint: oid(l[7]),
            parent: Oid(0),
            keys,
            including: Vec::new(),
            expressions: optional(l[8]).into_iter().collect(),
            predicate: optional(l[9]),
            opclasses: Vec::new(),
            collations: Vec::new(),
            options: Vec::new(),
            class_options: Vec::new(),
            access_method: catalog::DEFAULT_INDEX_METHOD.oid,
            method: catalog::DEFAULT_INDEX_METHOD,
            ready: true,
            check_xmin: None,
            replica_identity: false,
            serves: true,
            file: RelFile::default(),
            size: SizeEstimate::default(),
            rel: None,
        }
    }

    fn view(&self, sql: &str) -> Arc<str> {
        let format = FormatContext::default();
        let raw = parse::parse(sql).expect("view");
        let analyzed =
            crate::analyze(&raw[0], sql, ParamTypes::None, self, &Call::new(&format)).expect("view");
        crate::stored::store_query(&analyzed.query).into()
    }
}

fn table(l: &[&str]) -> Table {
    Table {
        oid: oid(l[1]),
        name: l[2].into(),
        schema: PUBLIC,
        schema_name: l[5].into(),
        kind: match l[3] {
            "v" => RelationKind::View,
            "S" => RelationKind::Sequence,
            "c" => RelationKind::Composite,
            _ => RelationKind::Table,
        },
        owner: Oid(10),
        grants: Default::default(),
        persistence: 'p',
        row_type: oid(l[4]),
        has_subclass: false,
        children: Vec::new(),
        partitioning: None,
        partition_of: Oid(0),
        columns: Vec::new(),
        checks: Vec::new(),
        indexes: Vec::new(),
        triggers: Vec::new(),
        rules: Vec::new(),
        row_security: None,
        statistics: Vec::new(),
        view_query: None,
        options: Vec::new(),
        file: RelFile::default(),
        size: SizeEstimate::default(),
        toast: Oid(0),
        replica_identity: Default::default(),
        published: None,
        sequence: None,
        populated: true,
        heap: None,
        logged: None,
        validity: Validity::default(),
    }
}

fn column(l: &[&str]) -> Column {
    Column {
        name: l[3].into(),
        type_oid: oid(l[4]),
        typmod: number(l[5]),
        collation: oid(l[6]),
        not_null: l[7] == "t",
        dropped: l[8] == "t",
        default: None,
        identity: match l[9] {
            "a" => Identity::Always,
            "d" => Identity::ByDefault,
            _ => Identity::None,
        },
        identity_sequence: oid(l[12]),
        generated: if l[10] == "s" { Generated::Stored } else { Generated::None },
        local: true,
        inherited: 0,
    }
}

fn in_public(schema: Option<&str>) -> bool {
    matches!(schema, None | Some("public"))
}

impl CatalogView for TestCatalog {
    fn row_security_applies(&self, _table: &Table, _role: Option<Oid>) -> SqlResult<bool> {
        Ok(false)
    }
    fn has_role_of(&self, _role: Option<Oid>, _other: Oid) -> SqlResult<bool> {
        Ok(false)
    }

    fn relation(&self, schema: Option<&str>, name: &str) -> SqlResult<Option<Arc<Table>>> {
        Ok(self.tables.values().find(|t| in_public(schema) && t.name == name).cloned())
    }
    fn relation_by_oid(&self, oid: Oid) -> SqlResult<Option<Arc<Table>>> {
        Ok(self.tables.get(&oid).cloned())
    }
    fn schema(&self, name: &str) -> SqlResult<Option<Oid>> {
        Ok((name == "public").then_some(PUBLIC))
    }
    fn schema_name(&self, oid: Oid) -> SqlResult<Option<String>> {
        Ok((oid == PUBLIC).then(|| "public".into()))
    }
    fn search_path(&self) -> SqlResult<Vec<Oid>> {
        Ok(vec![Oid(11), PUBLIC])
    }
    fn type_by_name(&self, schema: Option<&str>, name: &str) -> SqlResult<Option<Arc<TypeDef>>> {
        Ok(self.types.values().find(|t| in_public(schema) && t.name == name).cloned())
    }
    fn type_by_oid(&self, oid: Oid) -> SqlResult<Option<Arc<TypeDef>>> {
        Ok(self.types.get(&oid).cloned())
    }
    fn functions(&self, schema: Option<&str>, name: &str) -> SqlResult<Vec<Arc<FunctionDef>>> {
        Ok(self.functions.iter().filter(|f| in_public(schema) && f.name == name).cloned().collect())
    }
    fn function_by_oid(&self, oid: Oid) -> SqlResult<Option<Arc<FunctionDef>>> {
        Ok(self.functions.iter().find(|f| f.oid == oid).cloned())
    }
    fn operators(&self, _: Option<&str>, _: &str) -> SqlResult<Vec<Arc<OperatorDef>>> {
        Ok(Vec::new())
    }
    fn operator_by_oid(&self, _: Oid) -> SqlResult<Option<Arc<OperatorDef>>> {
        Ok(None)
    }
    fn cast(&self, _: Oid, _: Oid) -> SqlResult<Option<CastDef>> {
        Ok(None)
    }
    fn collation(&self, _: Option<&str>, _: &str) -> SqlResult<Option<CollationDef>> {
        Ok(None)
    }
    fn collation_by_oid(&self, _: Oid) -> SqlResult<Option<CollationDef>> {
        Ok(None)
    }
    fn constraint_index(&self, table: Oid, name: &str) -> SqlResult<Option<Oid>> {
        let table = self.tables.get(&table);
        Ok(table.and_then(|t| {
            t.indexes.iter().find(|i| i.name == name && i.constraint.is_valid()).map(|i| i.oid)
        }))
    }
    fn database(&self) -> String {
        "postgres".into()
    }
    fn current_user(&self) -> Oid {
        Oid(10)
    }
}
