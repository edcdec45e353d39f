//! The catalog as analysis sees it: [`CatalogView`] over a [`Reader`].

use std::sync::Arc;

use base::{Oid, SqlError, SqlResult};
use types::range::RangeInfo;
use types::registry::{ORDERING_METHOD, libraries};

use crate::cache::Holder;
use crate::database::{PG_CATALOG, Reader};
use crate::families::OperatorFamilies;
use crate::page_costs::PageCosts;
use crate::row::{Row, RowExt};
use crate::stats::ColumnStatistics;
use crate::system::{
    pg_aggregate, pg_amproc, pg_cast, pg_class, pg_collation, pg_constraint, pg_enum, pg_namespace,
    pg_opclass, pg_operator, pg_proc, pg_range, pg_statistic, pg_tablespace, pg_type,
};
use crate::tables::Place;
use crate::validity::Validity;
use crate::vectors;
use crate::view::{
    AggregateDef, AggregateSteps, CastDef, CatalogView, CollationDef, Domain, DomainCheck, EnumLabel,
    FunctionDef, Like, OperatorDef, Parameter, Table, TypeDef, TypeKind, setting_of,
};

/// Below it are the OIDs of the registry, which PostgreSQL numbers by hand.
const FIRST_MADE: Oid = Oid(10_000);

impl Reader<'_> {
    /// OID of the relation with this name in this schema.
    pub fn relation_oid(&self, schema: Oid, name: &str) -> SqlResult<Option<Oid>> {
        Ok(self.name_holder(schema, name)?.relation())
    }

    fn name_holder(&self, schema: Oid, name: &str) -> SqlResult<Holder> {
        self.cached_or_doubted(
            |e| e.names.get(&(schema, name.into())).cloned(),
            || {
                let key = [name.into(), schema.into()];
                let row = self.find_one(&pg_class::TABLE, pg_class::PG_CLASS_RELNAME_NSP_INDEX, &key)?;
                let nobody = || Holder::Nobody(Validity::default());
                Ok(row.map_or_else(nobody, |(_, row)| Holder::Relation(row.oid(pg_class::OID))))
            },
            |e, holder| {
                e.names.insert((schema, name.into()), holder);
            },
            Holder::revoke,
        )
    }

    /// Whether the session has something temporary of one of these names, which hides all others of that name.
    pub fn hides_one_of(&self, names: &[Box<str>]) -> SqlResult<bool> {
        let Some(schema) = self.session.temporary_schema() else { return Ok(false) };
        for name in names {
            if self.relation_oid(schema, name)?.is_some() || self.type_oid(schema, name)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The first thing that `find` finds in a schema of the search path, or in the schema named.
    fn along_path<T>(
        &self,
        schema: Option<&str>,
        find: impl Fn(Oid) -> SqlResult<Option<T>>,
    ) -> SqlResult<Option<T>> {
        if let Some(schema) = schema {
            return self.schema_to_look_in(schema)?.map_or(Ok(None), find);
        }
        for &schema in self.resolved_path()?.iter() {
            if let Some(found) = find(schema)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// What ANALYZE learnt of a column of `table`.
    pub fn statistics(&self, table: Oid, column: i16) -> SqlResult<Option<Arc<ColumnStatistics>>> {
        self.cached(
            |e| e.statistics.get(&(table, column)).cloned(),
            || {
                let key = [table.into(), column.into()];
                let index = pg_statistic::PG_STATISTIC_RELID_ATT_INH_INDEX;
                let Some((_, row)) = self.find_one(&pg_statistic::TABLE, index, &key)? else {
                    return Ok(None);
                };
                Ok(Some(Arc::new(ColumnStatistics::from_row(&row))))
            },
            |e, stats| {
                e.statistics.insert((table, column), stats);
            },
        )
    }

    /// What pages of a tablespace cost to read, where its options say so.
    pub fn page_costs(&self, tablespace: Oid) -> SqlResult<PageCosts> {
        self.cached(
            |e| e.page_costs.get(&tablespace).copied(),
            || {
                let index = pg_tablespace::PG_TABLESPACE_OID_INDEX;
                let found = self.find_one(&pg_tablespace::TABLE, index, &[tablespace.into()])?;
                let options = found.map(|(_, row)| vectors::texts(&row[pg_tablespace::SPCOPTIONS]));
                Ok(PageCosts::of(&options.unwrap_or_default()))
            },
            |e, costs| {
                e.page_costs.insert(tablespace, costs);
            },
        )
    }

    /// A type by its schema and name; USAGE on the schema is not checked.
    pub fn type_oid(&self, schema: Oid, name: &str) -> SqlResult<Option<Oid>> {
        self.cached(
            |e| e.type_names.get(&(schema, name.into())).copied(),
            || {
                let key = [name.into(), schema.into()];
                let row = self.find_one(&pg_type::TABLE, pg_type::PG_TYPE_TYPNAME_NSP_INDEX, &key)?;
                Ok(row.map(|(_, row)| row.oid(pg_type::OID)))
            },
            |e, oid| {
                e.type_names.insert((schema, name.into()), oid);
            },
        )
    }

    fn type_def(&self, row: &Row) -> SqlResult<Arc<TypeDef>> {
        let schema = row.oid(pg_type::TYPNAMESPACE);
        let kind = match row.char(pg_type::TYPTYPE) {
            b'c' => TypeKind::Composite(row.oid(pg_type::TYPRELID)),
            b'd' => TypeKind::Domain(Domain {
                base: row.oid(pg_type::TYPBASETYPE),
                typmod: row.int(pg_type::TYPTYPMOD),
                default: row.opt_str(pg_type::TYPDEFAULTBIN).map(Into::into),
                not_null: row.bool(pg_type::TYPNOTNULL),
                checks: self.domain_checks(row.oid(pg_type::OID))?,
            }),
            b'e' => TypeKind::Enum(self.enum_labels(row.oid(pg_type::OID))?),
            b'p' => TypeKind::Pseudo,
            b'r' => TypeKind::Range(self.range_info(row.oid(pg_type::OID), false)?),
            b'm' => TypeKind::Multirange(self.range_info(row.oid(pg_type::OID), true)?),
            _ if row.oid(pg_type::OID).is_pinned() || row.oid(pg_type::TYPELEM).is_valid() => TypeKind::Base,
            _ => self.like(row)?,
        };
        // A type that is subscripted by position is no array type; arrays are variable-length.
        let is_array = row.int(pg_type::TYPLEN) == -1;
        Ok(Arc::new(TypeDef {
            oid: row.oid(pg_type::OID),
            name: row.str(pg_type::TYPNAME).to_owned(),
            schema,
            schema_name: CatalogView::schema_name(self, schema)?.unwrap_or_default(),
            kind,
            category: row.char(pg_type::TYPCATEGORY) as char,
            preferred: row.bool(pg_type::TYPISPREFERRED),
            element: if is_array { row.oid(pg_type::TYPELEM) } else { Oid::INVALID },
            array: row.oid(pg_type::TYPARRAY),
            collation: row.oid(pg_type::TYPCOLLATION),
            defined: row.bool(pg_type::TYPISDEFINED),
        }))
    }

    /// What a base type of a user is like.
    fn like(&self, row: &Row) -> SqlResult<TypeKind> {
        let Some(input) = self.function_by_oid(row.oid(pg_type::TYPINPUT))? else {
            return Ok(TypeKind::Base);
        };
        let base = match input.symbol() {
            Some((library, symbol)) => libraries::type_of(library, symbol).map(|ty| ty.number()),
            None => input.internal().and_then(|f| types::registry::type_with_input(f.oid)).map(|row| row.oid),
        };
        let Some(base) = base else { return Ok(TypeKind::Base) };
        Ok(TypeKind::Like(Like {
            base,
            modifiers: row.oid(pg_type::TYPMODIN).is_valid(),
            order: self.order_of(row.oid(pg_type::OID))?,
            default: row.opt_str(pg_type::TYPDEFAULT).map(Into::into),
        }))
    }

    /// The type of the registry that the default B-tree class of a user's type compares values as.
    fn order_of(&self, ty: Oid) -> SqlResult<Oid> {
        let by_method = pg_opclass::PG_OPCLASS_AM_NAME_NSP_INDEX;
        let classes = self.find(&pg_opclass::TABLE, by_method, &[ORDERING_METHOD.into()])?;
        let is_default =
            |row: &&Row| row.oid(pg_opclass::OPCINTYPE) == ty && row.bool(pg_opclass::OPCDEFAULT);
        let Some(class) = classes.iter().map(|(_, row)| row).find(is_default) else {
            return Ok(Oid::INVALID);
        };
        let key = [class.oid(pg_opclass::OPCFAMILY).into(), ty.into(), ty.into(), 1i16.into()];
        let by_family = pg_amproc::PG_AMPROC_FAM_PROC_INDEX;
        let Some((_, row)) = self.find_one(&pg_amproc::TABLE, by_family, &key)? else {
            return Ok(Oid::INVALID);
        };
        let function = self.function_by_oid(row.oid(pg_amproc::AMPROC))?;
        Ok(function.and_then(|function| compared_by(&function)).unwrap_or_default())
    }

    /// What a range type is made of, or the one that a multirange type belongs to.
    fn range_info(&self, oid: Oid, multirange: bool) -> SqlResult<RangeInfo> {
        let index = match multirange {
            true => pg_range::PG_RANGE_RNGMULTITYPID_INDEX,
            false => pg_range::PG_RANGE_RNGTYPID_INDEX,
        };
        let found = self.find_one(&pg_range::TABLE, index, &[oid.into()])?;
        let (_, row) =
            found.ok_or_else(|| SqlError::internal(format!("cache lookup failed for range type {oid}")))?;
        Ok(RangeInfo {
            range: row.oid(pg_range::RNGTYPID),
            multirange: row.oid(pg_range::RNGMULTITYPID),
            subtype: row.oid(pg_range::RNGSUBTYPE),
        })
    }

    fn enum_labels(&self, enum_type: Oid) -> SqlResult<Arc<[EnumLabel]>> {
        let index = pg_enum::PG_ENUM_TYPID_SORTORDER_INDEX;
        let rows = self.find(&pg_enum::TABLE, index, &[enum_type.into()])?;
        let label = |(_, row): &(Place, Row)| EnumLabel {
            oid: row.oid(pg_enum::OID),
            sort_order: if let tuple::Datum::Float4(order) = row[pg_enum::ENUMSORTORDER] {
                order
            } else {
                0.0
            },
            label: row.str(pg_enum::ENUMLABEL).to_owned(),
        };
        Ok(rows.iter().map(label).collect())
    }

    fn domain_checks(&self, domain: Oid) -> SqlResult<Arc<[DomainCheck]>> {
        let index = pg_constraint::PG_CONSTRAINT_CONTYPID_INDEX;
        let rows = self.find(&pg_constraint::TABLE, index, &[domain.into()])?;
        let checks = rows.iter().map(|(_, row)| row).filter(|row| row.char(pg_constraint::CONTYPE) == b'c');
        let mut checks: Vec<DomainCheck> = checks
            .map(|row| DomainCheck {
                name: row.str(pg_constraint::CONNAME).to_owned(),
                expr: row.opt_str(pg_constraint::CONBIN).unwrap_or_default().into(),
            })
            .collect();
        checks.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(checks.into())
    }

    /// User-made functions of one name, of all schemas.
    fn functions_named(&self, name: &str) -> SqlResult<Arc<[Arc<FunctionDef>]>> {
        self.cached(
            |e| e.functions.get(name).cloned(),
            || {
                let rows =
                    self.find(&pg_proc::TABLE, pg_proc::PG_PROC_PRONAME_ARGS_NSP_INDEX, &[name.into()])?;
                let others = rows.iter().map(|(_, row)| row).filter(|row| is_unregistered(row));
                others.map(|row| self.function_def(row)).collect()
            },
            |e, functions| {
                e.functions.insert(name.into(), functions);
            },
        )
    }

    fn function_def(&self, row: &Row) -> SqlResult<Arc<FunctionDef>> {
        let mut def = function_def(row);
        if def.kind == 'a' {
            def.aggregate = self.aggregate_def(def.oid)?.map(Arc::new);
        }
        Ok(Arc::new(def))
    }

    fn aggregate_def(&self, oid: Oid) -> SqlResult<Option<AggregateDef>> {
        use pg_aggregate as a;
        let Some(row) = self.aggregate_row(oid)? else { return Ok(None) };
        let inverse = row.oid(a::AGGMINVTRANSFN);
        let moving = AggregateSteps {
            transition: row.oid(a::AGGMTRANSFN),
            finale: row.oid(a::AGGMFINALFN),
            final_extra: row.bool(a::AGGMFINALEXTRA),
            final_modify: row.char(a::AGGMFINALMODIFY),
            state: row.oid(a::AGGMTRANSTYPE),
            initial: row.opt_str(a::AGGMINITVAL).map(Arc::from),
        };
        Ok(Some(AggregateDef {
            kind: row.char(a::AGGKIND),
            direct_args: if let tuple::Datum::Int2(n) = row[a::AGGNUMDIRECTARGS] { n } else { 0 },
            steps: AggregateSteps {
                transition: row.oid(a::AGGTRANSFN),
                finale: row.oid(a::AGGFINALFN),
                final_extra: row.bool(a::AGGFINALEXTRA),
                final_modify: row.char(a::AGGFINALMODIFY),
                state: row.oid(a::AGGTRANSTYPE),
                initial: row.opt_str(a::AGGINITVAL).map(Arc::from),
            },
            moving: inverse.is_valid().then_some((inverse, moving)),
        }))
    }

    /// User-made operators of one name, of all schemas.
    fn operators_named(&self, name: &str) -> SqlResult<Arc<[Arc<OperatorDef>]>> {
        self.cached(
            |e| e.operators.get(name).cloned(),
            || {
                let index = pg_operator::PG_OPERATOR_OPRNAME_L_R_N_INDEX;
                let rows = self.find(&pg_operator::TABLE, index, &[name.into()])?;
                let users = rows.iter().map(|(_, row)| row).filter(|row| {
                    // An operator that was only named as a commutator or negator does not exist yet.
                    made_by_user(row, pg_operator::OID) && row.oid(pg_operator::OPRCODE).is_valid()
                });
                Ok(users.map(operator_def).collect())
            },
            |e, operators| {
                e.operators.insert(name.into(), operators);
            },
        )
    }

    /// Those in the schema named, or in a schema of the search path.
    fn in_path<T>(
        &self,
        schema: Option<&str>,
        all: &[Arc<T>],
        schema_of: impl Fn(&T) -> Oid,
    ) -> SqlResult<Vec<Arc<T>>> {
        if all.is_empty() {
            return Ok(Vec::new());
        }
        let schemas: Vec<Oid> = match schema {
            Some(name) => self.schema_to_look_in(name)?.into_iter().collect(),
            None => self.resolved_path()?.to_vec(),
        };
        Ok(all.iter().filter(|item| schemas.contains(&schema_of(item))).cloned().collect())
    }

    fn collation_def(&self, row: &Row) -> SqlResult<CollationDef> {
        let schema = row.oid(pg_collation::COLLNAMESPACE);
        Ok(CollationDef {
            oid: row.oid(pg_collation::OID),
            name: row.str(pg_collation::COLLNAME).to_owned(),
            schema_name: CatalogView::schema_name(self, schema)?.unwrap_or_default(),
            rules: match collation::Provider::of_letter(row.char(pg_collation::COLLPROVIDER)) {
                Some(provider) => collation::rules(collation::Definition {
                    provider,
                    locale: row
                        .opt_str(pg_collation::COLLLOCALE)
                        .or(row.opt_str(pg_collation::COLLCTYPE))
                        .unwrap_or("C"),
                    deterministic: row.bool(pg_collation::COLLISDETERMINISTIC),
                })?,
                None => types::comparator::default_rules(),
            },
        })
    }
}

/// Built-in functions and operators come from the registry, not from here. Those that statements of initdb made are like users' own.
fn made_by_user(row: &Row, oid: usize) -> bool {
    row.oid(oid) >= FIRST_MADE
}

/// Whether a function is known by its row of `pg_proc` alone: those of users, and built-in ones that SQL cannot call.
fn is_unregistered(row: &Row) -> bool {
    let oid = row.oid(pg_proc::OID);
    made_by_user(row, pg_proc::OID) || types::registry::function(oid).is_none()
}

fn function_def(row: &Row) -> FunctionDef {
    let modes: Vec<u8> = vectors::elements(&row[pg_proc::PROARGMODES])
        .iter()
        .map(|d| if let tuple::Datum::Char(c) = d { *c } else { b'i' })
        .collect();
    let names = vectors::texts(&row[pg_proc::PROARGNAMES]);
    let all = vectors::oids(&row[pg_proc::PROALLARGTYPES]);
    let args = vectors::oids(&row[pg_proc::PROARGTYPES]);
    let types = if all.is_empty() { &args } else { &all };
    let parameter = |(i, type_oid): (usize, &Oid)| Parameter {
        name: names.get(i).cloned().unwrap_or_default(),
        type_oid: *type_oid,
        mode: modes.get(i).copied().unwrap_or(b'i'),
    };
    let parameters: Vec<Parameter> = types.iter().enumerate().map(parameter).collect();
    let inputs = parameters.iter().filter(|p| !matches!(p.mode, b'o' | b't'));
    let outputs = parameters.iter().filter(|p| matches!(p.mode, b'o' | b'b' | b't'));
    FunctionDef {
        oid: row.oid(pg_proc::OID),
        name: row.str(pg_proc::PRONAME).to_owned(),
        schema: row.oid(pg_proc::PRONAMESPACE),
        owner: row.oid(pg_proc::PROOWNER),
        kind: row.char(pg_proc::PROKIND) as char,
        arg_names: inputs.map(|p| p.name.clone()).collect(),
        args,
        defaults: row.opt_str(pg_proc::PROARGDEFAULTS).map(crate::stored_list::split).unwrap_or_default(),
        variadic: row.oid(pg_proc::PROVARIADIC),
        result: row.oid(pg_proc::PRORETTYPE),
        out_columns: outputs.map(|p| (p.name.clone(), p.type_oid)).collect(),
        parameters,
        returns_set: row.bool(pg_proc::PRORETSET),
        strict: row.bool(pg_proc::PROISSTRICT),
        volatility: row.char(pg_proc::PROVOLATILE) as char,
        cost: float(&row[pg_proc::PROCOST]),
        rows: float(&row[pg_proc::PROROWS]),
        leakproof: row.bool(pg_proc::PROLEAKPROOF),
        security_definer: row.bool(pg_proc::PROSECDEF),
        language: row.oid(pg_proc::PROLANG),
        source: row.str(pg_proc::PROSRC).into(),
        library: row.opt_str(pg_proc::PROBIN).map(Arc::from),
        body: row.opt_str(pg_proc::PROSQLBODY).map(crate::stored_list::split),
        config: vectors::texts(&row[pg_proc::PROCONFIG]).iter().map(|entry| setting_of(entry)).collect(),
        aggregate: None,
    }
}

fn float(value: &tuple::Datum) -> f32 {
    if let tuple::Datum::Float4(n) = value { *n } else { 0.0 }
}

fn operator_def(row: &Row) -> Arc<OperatorDef> {
    Arc::new(OperatorDef {
        oid: row.oid(pg_operator::OID),
        name: row.str(pg_operator::OPRNAME).to_owned(),
        schema: row.oid(pg_operator::OPRNAMESPACE),
        left: row.oid(pg_operator::OPRLEFT),
        right: row.oid(pg_operator::OPRRIGHT),
        result: row.oid(pg_operator::OPRRESULT),
        function: row.oid(pg_operator::OPRCODE),
        commutator: row.oid(pg_operator::OPRCOM),
        negator: row.oid(pg_operator::OPRNEGATE),
        restrict: row.oid(pg_operator::OPRREST),
        can_hash: row.bool(pg_operator::OPRCANHASH),
        can_merge: row.bool(pg_operator::OPRCANMERGE),
    })
}

/// The type of the registry whose values a user's function orders.
pub fn compared_by(function: &FunctionDef) -> Option<Oid> {
    match function.symbol() {
        Some((library, symbol)) => libraries::type_compared_by(library, symbol),
        None => types::registry::type_compared_by(function.internal()?.oid),
    }
}

impl CatalogView for Reader<'_> {
    fn row_security_applies(&self, table: &Table, role: Option<Oid>) -> SqlResult<bool> {
        self.may_be_hidden(table, role.unwrap_or(self.current_user()), table.is_secured_from_owner())
    }

    fn has_role_of(&self, role: Option<Oid>, other: Oid) -> SqlResult<bool> {
        let facts = self.role_facts(role.unwrap_or(self.current_user()))?;
        Ok(facts.superuser || facts.inherits.contains(&other))
    }

    fn relation(&self, schema: Option<&str>, name: &str) -> SqlResult<Option<Arc<Table>>> {
        match self.along_path(schema, |schema| self.relation_oid(schema, name))? {
            Some(oid) => self.relation_by_oid(oid),
            None => Ok(None),
        }
    }

    fn absences(&self, name: &str, schema: Oid) -> SqlResult<Vec<Validity>> {
        let mut absences = Vec::new();
        let path = self.resolved_path()?;
        for &earlier in path.iter().take_while(|earlier| **earlier != schema) {
            // No relation can be created in the catalogs' schema, and plans track a session's own temporary ones in another way.
            if earlier == PG_CATALOG || self.session.temporary_schema() == Some(earlier) {
                continue;
            }
            if let Holder::Nobody(validity) = self.name_holder(earlier, name)? {
                absences.push(validity);
            }
        }
        Ok(absences)
    }

    fn relation_by_oid(&self, oid: Oid) -> SqlResult<Option<Arc<Table>>> {
        self.cached_or_doubted(
            |e| e.tables.get(&oid).cloned(),
            || self.load_table(oid),
            |e, table| {
                e.tables.insert(oid, table);
            },
            |table| table.iter().for_each(|table| table.validity.revoke()),
        )
    }

    fn schema(&self, name: &str) -> SqlResult<Option<Oid>> {
        self.schema_by_name(name)
    }

    fn schema_name(&self, oid: Oid) -> SqlResult<Option<String>> {
        self.cached(
            |e| e.schema_names.get(&oid).cloned(),
            || {
                let row =
                    self.find_one(&pg_namespace::TABLE, pg_namespace::PG_NAMESPACE_OID_INDEX, &[oid.into()])?;
                Ok(row.map(|(_, row)| row.str(pg_namespace::NSPNAME).to_owned()))
            },
            |e, name| {
                e.schema_names.insert(oid, name);
            },
        )
    }

    fn search_path(&self) -> SqlResult<Vec<Oid>> {
        Ok(self.resolved_path()?.to_vec())
    }

    fn type_by_name(&self, schema: Option<&str>, name: &str) -> SqlResult<Option<Arc<TypeDef>>> {
        match self.along_path(schema, |schema| self.type_oid(schema, name))? {
            Some(oid) => self.type_by_oid(oid),
            None => Ok(None),
        }
    }

    fn type_by_oid(&self, oid: Oid) -> SqlResult<Option<Arc<TypeDef>>> {
        self.cached(
            |e| e.types.get(&oid).cloned(),
            || match self.find_one(&pg_type::TABLE, pg_type::PG_TYPE_OID_INDEX, &[oid.into()])? {
                Some((_, row)) => self.type_def(&row).map(Some),
                None => Ok(None),
            },
            |e, def| {
                e.types.insert(oid, def);
            },
        )
    }

    fn functions(&self, schema: Option<&str>, name: &str) -> SqlResult<Vec<Arc<FunctionDef>>> {
        self.in_path(schema, &self.functions_named(name)?, |f| f.schema)
    }

    fn function_by_oid(&self, oid: Oid) -> SqlResult<Option<Arc<FunctionDef>>> {
        self.cached(
            |e| e.functions_by_oid.get(&oid).cloned(),
            || match self.find_one(&pg_proc::TABLE, pg_proc::PG_PROC_OID_INDEX, &[oid.into()])? {
                Some((_, row)) if is_unregistered(&row) => self.function_def(&row).map(Some),
                _ => Ok(None),
            },
            |e, def| {
                e.functions_by_oid.insert(oid, def);
            },
        )
    }

    fn operators(&self, schema: Option<&str>, name: &str) -> SqlResult<Vec<Arc<OperatorDef>>> {
        self.in_path(schema, &self.operators_named(name)?, |o| o.schema)
    }

    fn operator_by_oid(&self, oid: Oid) -> SqlResult<Option<Arc<OperatorDef>>> {
        self.cached(
            |e| e.operators_by_oid.get(&oid).cloned(),
            || {
                let row =
                    self.find_one(&pg_operator::TABLE, pg_operator::PG_OPERATOR_OID_INDEX, &[oid.into()])?;
                Ok(row
                    .map(|(_, row)| row)
                    .filter(|row| made_by_user(row, pg_operator::OID))
                    .map(|row| operator_def(&row)))
            },
            |e, def| {
                e.operators_by_oid.insert(oid, def);
            },
        )
    }

    fn hash_function(&self, class: Oid) -> SqlResult<Option<Oid>> {
        let Some(row) = self.operator_class_row(class)? else { return Ok(None) };
        let (family, ty) = (row.oid(pg_opclass::OPCFAMILY), row.oid(pg_opclass::OPCINTYPE));
        Ok(self.family_member(family, true, (2, ty, ty))?.map(|(_, function)| function))
    }

    fn cast(&self, source: Oid, target: Oid) -> SqlResult<Option<CastDef>> {
        self.cached(
            |e| e.casts.get(&(source, target)).cloned(),
            || {
                let key = [source.into(), target.into()];
                let row = self.find_one(&pg_cast::TABLE, pg_cast::PG_CAST_SOURCE_TARGET_INDEX, &key)?;
                let row = row.map(|(_, row)| row).filter(|row| made_by_user(row, pg_cast::OID));
                Ok(row.map(|row| CastDef {
                    function: row.oid(pg_cast::CASTFUNC),
                    context: row.char(pg_cast::CASTCONTEXT) as char,
                    method: row.char(pg_cast::CASTMETHOD) as char,
                }))
            },
            |e, def| {
                e.casts.insert((source, target), def);
            },
        )
    }

    fn operator_families(&self) -> SqlResult<Arc<OperatorFamilies>> {
        self.cached(
            |e| e.operator_families.clone(),
            || OperatorFamilies::load(self),
            |e, families| e.operator_families = Some(families),
        )
    }

    fn operator_class_named(&self, method: Oid, schema: Option<&str>, name: &str) -> SqlResult<Option<Oid>> {
        self.along_path(schema, |schema| {
            self.cached(
                |e| e.class_names.get(&(method, schema, name.into())).copied(),
                || {
                    let row = self.operator_family_row(&pg_opclass::TABLE, (method, name, schema))?;
                    Ok(row.map(|row| row.oid(pg_opclass::OID)))
                },
                |e, class| {
                    e.class_names.insert((method, schema, name.into()), class);
                },
            )
        })
    }

    fn collation(&self, schema: Option<&str>, name: &str) -> SqlResult<Option<CollationDef>> {
        let find = |schema: Oid| {
            self.cached(
                |e| e.collation_names.get(&(schema, name.into())).copied(),
                || {
                    let rows = self.find(
                        &pg_collation::TABLE,
                        pg_collation::PG_COLLATION_NAME_ENC_NSP_INDEX,
                        &[name.into()],
                    )?;
                    // Those for other encodings than the database's are not there.
                    let here = |row: &&Row| {
                        let encoding = row.int(pg_collation::COLLENCODING);
                        row.oid(pg_collation::COLLNAMESPACE) == schema
                            && (encoding == -1 || encoding == types::text::server_encoding().number())
                    };
                    Ok(rows.iter().map(|(_, row)| row).find(here).map(|row| row.oid(pg_collation::OID)))
                },
                |e, oid| {
                    e.collation_names.insert((schema, name.into()), oid);
                },
            )
        };
        match self.along_path(schema, find)? {
            Some(oid) => self.collation_by_oid(oid),
            None => Ok(None),
        }
    }

    fn collation_by_oid(&self, oid: Oid) -> SqlResult<Option<CollationDef>> {
        self.cached(
            |e| e.collations.get(&oid).cloned(),
            || match self.find_one(
                &pg_collation::TABLE,
                pg_collation::PG_COLLATION_OID_INDEX,
                &[oid.into()],
            )? {
                Some((_, row)) => self.collation_def(&row).map(Some),
                None => Ok(None),
            },
            |e, def| {
                e.collations.insert(oid, def);
            },
        )
    }

    fn constraint_index(&self, table: Oid, name: &str) -> SqlResult<Option<Oid>> {
        let index = pg_constraint::PG_CONSTRAINT_CONRELID_CONTYPID_CONNAME_INDEX;
        let rows =
            self.find(&pg_constraint::TABLE, index, &[table.into(), Oid::INVALID.into(), name.into()])?;
        Ok(rows.first().map(|(_, row)| row.oid(pg_constraint::CONINDID)).filter(|oid| oid.is_valid()))
    }

    fn database(&self) -> String {
        self.catalog.database_name().to_owned()
    }

    fn current_user(&self) -> Oid {
        self.session.user()
    }
}
