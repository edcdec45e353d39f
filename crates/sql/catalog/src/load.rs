//! Relations as the catalogs' rows describe them: `pg_class`, `pg_attribute`, `pg_attrdef`, `pg_index`, `pg_constraint`,
//! `pg_trigger`, `pg_rewrite` become a [`Table`].

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use base::{Oid, RelFile, SqlError, SqlResult};
use buffer::Persistence;
use collation::Rules;
use engine::OpenIndex;
use heap::{HeapDesc, HeapRel, Logged, ToastTable};
use index::{
    Bloom, Compare, HashBy, Inclusion, IndexDesc, KeyColumn, MinMax, MinMaxMulti, OrderBy, SummaryClass,
    TreeQuery,
};
use parking_lot::Mutex;
use tuple::options::{ClassOption, ClassOptions};
use tuple::varlena::Compression;
use tuple::{Attr, Datum, Physical, RowLayout};
use txn::RelKind;
use types::acl::{self, AclItem};
use types::asked::UserOrder;
use types::made::Made;
use types::registry::type_imp;
use types::{By, Collated, Comparator};

use crate::authority::Grants;
use crate::database::{PG_CATALOG, PG_TOAST, Reader};
use crate::policy::RowSecurity;
use crate::publication::ReplicaIdentity;
use crate::row::{Row, RowExt};
use crate::system::{
    catalog_of, pg_attrdef, pg_attribute, pg_class, pg_constraint, pg_depend, pg_index, pg_sequence,
};
use crate::tables::Place;
use crate::toast_index::{open_toast, open_toast_index, toast_layout};
use crate::validity::Validity;
use crate::vectors;
use crate::view::{
    CatalogView, Check, Column, Excluder, Generated, Identity, Index, RelationKind, Sequence, SizeEstimate,
    Table,
};

/// Items of columns by attribute number.
type ColumnAcls = Vec<(i16, Vec<AclItem>)>;

/// The columns of a relation.
struct LoadedColumns {
    columns: Vec<Column>,
    attrs: Vec<Attr>,
    /// What each has in rows that do not store it.
    missing: Vec<Datum>,
    acls: ColumnAcls,
    /// Options of each, by name.
    options: Vec<Vec<(String, String)>>,
}

impl Reader<'_> {
    /// Reads the description of a relation.
    pub(crate) fn load_table(&self, oid: Oid) -> SqlResult<Option<Arc<Table>>> {
        let Some((_, class)) =
            self.find_one(&pg_class::TABLE, pg_class::PG_CLASS_OID_INDEX, &[oid.into()])?
        else {
            return Ok(None);
        };
        let kind = relation_kind(class.char(pg_class::RELKIND))?;
        let schema = class.oid(pg_class::RELNAMESPACE);
        let LoadedColumns { mut columns, attrs, missing, acls: column_grants, .. } =
            self.load_columns(oid, class.int(pg_class::RELNATTS) as usize)?;
        self.load_defaults(oid, &mut columns)?;
        let (view_query, rules) = match class.bool(pg_class::RELHASRULES) {
            true => self.load_rules(oid)?,
            false => Default::default(),
        };
        let file = self.file_of(&class);
        let options = options_of(&class[pg_class::RELOPTIONS]);
        let mut table = Table {
            oid,
            name: class.str(pg_class::RELNAME).to_owned(),
            schema,
            schema_name: CatalogView::schema_name(self, schema)?.unwrap_or_default(),
            kind,
            owner: class.oid(pg_class::RELOWNER),
            grants: Grants {
                relation: acl::optional_items(&class[pg_class::RELACL]),
                columns: column_grants,
            },
            persistence: class.char(pg_class::RELPERSISTENCE) as char,
            row_type: class.oid(pg_class::RELTYPE),
            has_subclass: class.bool(pg_class::RELHASSUBCLASS),
            children: match class.bool(pg_class::RELHASSUBCLASS) {
                true => {
                    self.children(oid)?.iter().filter(|c| c.detached_by.is_none()).map(|c| c.oid).collect()
                }
                false => Vec::new(),
            },
            partitioning: match kind {
                RelationKind::PartitionedTable => self.load_partitioning(oid)?.map(Arc::new),
                _ => None,
            },
            partition_of: match class.bool(pg_class::RELISPARTITION) {
                true => self.parents(oid)?.first().copied().unwrap_or(Oid::INVALID),
                false => Oid::INVALID,
            },
            columns,
            checks: if class.int(pg_class::RELCHECKS) > 0 { self.load_checks(oid)? } else { Vec::new() },
            indexes: if class.bool(pg_class::RELHASINDEX) { self.load_indexes(oid)? } else { Vec::new() },
            triggers: if class.bool(pg_class::RELHASTRIGGERS) { self.triggers(oid)? } else { Vec::new() },
            row_security: match class.bool(pg_class::RELROWSECURITY) {
                true => Some(Arc::new(RowSecurity {
                    forced: class.bool(pg_class::RELFORCEROWSECURITY),
                    policies: self.policies(oid)?,
                })),
                false => None,
            },
            statistics: match kind {
                RelationKind::Table
                | RelationKind::MaterializedView
                | RelationKind::PartitionedTable
                | RelationKind::ForeignTable => self.load_statistics_objects(oid)?,
                _ => Vec::new(),
            },
            view_query,
            rules,
            populated: class.bool(pg_class::RELISPOPULATED),
            options,
            file,
            size: size_of(&class),
            toast: class.oid(pg_class::RELTOASTRELID),
            replica_identity: ReplicaIdentity::from_letter(class.char(pg_class::RELREPLIDENT)),
            published: self.load_published(
                (oid, schema),
                kind,
                class.char(pg_class::RELPERSISTENCE) as char,
            )?,
            sequence: if kind == RelationKind::Sequence { self.load_sequence(oid)? } else { None },
            logged: None,
            heap: None,
            validity: Validity::default(),
        };
        table.logged = self.logged_of(&table, &attrs);
        if let RelationKind::Table
        | RelationKind::Toast
        | RelationKind::MaterializedView
        | RelationKind::Sequence = kind
        {
            let layout = RowLayout::new(attrs).with_missing(missing);
            let desc = self.heap_desc(&class, layout, &table.options, table.logged.clone())?;
            table.heap = Some(Arc::new(HeapRel::new(desc)));
        }
        Ok(Some(Arc::new(table)))
    }

    /// The place of a relation's files; none for relations without storage. The database's own tablespace is written as 0.
    pub fn file_of(&self, class: &Row) -> RelFile {
        let oid = class.oid(pg_class::OID);
        if let Some(catalog) = catalog_of(oid) {
            return self.session.catalog_file(self.catalog, catalog, oid);
        }
        let number = class.oid(pg_class::RELFILENODE).0;
        match class.oid(pg_class::RELTABLESPACE) {
            _ if number == 0 => RelFile::default(),
            Oid::INVALID => {
                RelFile { tablespace: self.catalog.tablespace(), database: self.catalog.database(), number }
            }
            tablespace => RelFile { tablespace, database: self.catalog.database(), number },
        }
    }

    /// Columns 1.. of a relation, how their values lie on disk, and the ACLs of those that have one.
    fn load_columns(&self, table: Oid, count: usize) -> SqlResult<LoadedColumns> {
        let mut rows =
            self.find(&pg_attribute::TABLE, pg_attribute::PG_ATTRIBUTE_RELID_ATTNUM_INDEX, &[table.into()])?;
        let acl = |row: &Row| {
            let items = acl::optional_items(&row[pg_attribute::ATTACL])?;
            Some((row.int(pg_attribute::ATTNUM) as i16, items))
        };
        let acls = rows.iter().filter_map(|(_, row)| acl(row)).collect();
        rows.retain(|(_, row)| row.int(pg_attribute::ATTNUM) > 0);
        if rows.len() != count {
            let message =
                format!("pg_attribute has {} rows for relation with OID {table}, not {count}", rows.len());
            return Err(SqlError::internal(message));
        }
        let (mut columns, mut attrs) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let missing = rows.iter().map(|(_, row)| missing_of(row)).collect();
        let options = rows.iter().map(|(_, row)| options_of(&row[pg_attribute::ATTOPTIONS])).collect();
        for (_, row) in rows {
            attrs.push(self.attr(&row)?);
            let mut column = column_of(&row);
            if column.identity != Identity::None {
                column.identity_sequence = self.identity_sequence(table, columns.len() as i32 + 1)?;
            }
            columns.push(column);
        }
        Ok(LoadedColumns { columns, attrs, missing, acls, options })
    }

    /// `attstorage` and `attcompression` of a column.
    pub fn column_storage(&self, table: Oid, number: i16) -> SqlResult<Option<(u8, Option<Compression>)>> {
        let index = pg_attribute::PG_ATTRIBUTE_RELID_ATTNUM_INDEX;
        let row = self.find_one(&pg_attribute::TABLE, index, &[table.into(), number.into()])?;
        let facts = |row: &Row| {
            (row.char(pg_attribute::ATTSTORAGE), compression_of(row.char(pg_attribute::ATTCOMPRESSION)))
        };
        Ok(row.map(|(_, row)| facts(&row)))
    }

    /// Physical class of a column: from its type, or for a dropped column from what `pg_attribute` kept of it.
    fn attr(&self, row: &Row) -> SqlResult<Attr> {
        let align = match row.char(pg_attribute::ATTALIGN) {
            b's' => 2,
            b'i' => 4,
            b'd' => 8,
            _ => 1,
        };
        let storage = row.char(pg_attribute::ATTSTORAGE);
        let physical = match row.oid(pg_attribute::ATTTYPID) {
            Oid::INVALID => match row.int(pg_attribute::ATTLEN) {
                len if len > 0 => Physical::Fixed(len as u16),
                _ => Physical::Varlena,
            },
            ty => self.physical(ty)?,
        };
        let compression = compression_of(row.char(pg_attribute::ATTCOMPRESSION));
        Ok(Attr { physical, align, storage, compression })
    }

    /// The rules of column `i` of an index; any if it has no collation.
    fn rules_of(&self, collations: &[Oid], i: usize) -> SqlResult<&'static Rules> {
        match collations.get(i) {
            Some(collation) if collation.is_valid() => crate::collation_rules(self, *collation),
            _ => Ok(&collation::C),
        }
    }

    /// The order of column `i` of an index, if a function of a user tells it.
    fn asked_order(
        &self,
        classes: &[Oid],
        collations: &[Oid],
        i: usize,
    ) -> SqlResult<Option<&'static UserOrder>> {
        let class = classes.get(i).copied().unwrap_or_default();
        crate::families::class_order(self, class, collations.get(i).copied().unwrap_or_default())
    }

    fn key_columns(
        &self,
        method: &index::Facts,
        columns: &[Column],
        options: &[i16],
        collations: &[Oid],
        classes: &[Oid],
    ) -> SqlResult<Arc<[KeyColumn]>> {
        let key = |(i, column): (usize, &Column)| {
            if !method.can_order {
                // Its operator classes compare, or hash codes.
                return Ok(KeyColumn::ascending(Compare::Bytes));
            }
            let option = options.get(i).copied().unwrap_or(0);
            let (descending, nulls_first) = (option & 1 != 0, option & 2 != 0);
            if let Some(order) = self.asked_order(classes, collations, i)? {
                return Ok(KeyColumn { compare: compare_asked(order), descending, nulls_first });
            }
            let comparable = crate::type_shape(self, column.type_oid)?.comparable;
            let compare = compare_under(comparable, self.rules_of(collations, i)?)?;
            Ok(KeyColumn { compare, descending, nulls_first })
        };
        columns.iter().enumerate().map(key).collect()
    }

    /// How values of an index's columns hash, if its method keeps codes.
    fn hashes_of(
        &self,
        method: &index::Facts,
        columns: &[Column],
        asked: &Asked<'_>,
    ) -> SqlResult<Vec<HashBy>> {
        if !method.keeps_codes() {
            return Ok(Vec::new());
        }
        let hash = |(i, column): (usize, &Column)| {
            let rules = self.rules_of(asked.collations, i)?;
            let class = asked.classes.get(i).copied().unwrap_or_default();
            match crate::families::class_hash(self, class, rules)? {
                Some(hash) => Ok(hash),
                None => hash_under(crate::type_shape(self, column.type_oid)?.comparable, rules),
            }
        };
        columns.iter().enumerate().map(hash).collect()
    }

    /// The operator classes of an index whose method asks them: those that keep trees without an order, those that divide space, or those that keep parts of values.
    fn classes_of(
        &self,
        method: &index::Facts,
        asked: &Asked<'_>,
        columns: &[Column],
    ) -> SqlResult<AskedClasses> {
        let (mut trees, mut spaces, mut parts): AskedClasses = Default::default();
        if method.equality.is_some() || method.summarizes {
            return Ok((trees, spaces, parts));
        }
        for (i, (class, column)) in asked.classes.iter().zip(columns).enumerate() {
            let rules = self.rules_of(asked.collations, i)?;
            if let Some(tree) = crate::families::tree_class(self, *class, rules)? {
                let said = asked.options_of(i);
                let other = (!said.is_empty())
                    .then(|| tree.with_options(&ClassOptions::read(tree.options(), said)))
                    .flatten();
                trees.push(other.unwrap_or(tree));
                continue;
            }
            if let Some(space) = types::registry::space_class(*class, rules) {
                spaces.push(space);
                continue;
            }
            let key = crate::type_shape(self, column.type_oid)?.comparable;
            let found = crate::families::parts_class(self, *class, key, rules)?;
            let unknown = || SqlError::internal(format!("operator class {class} is not known to its method"));
            parts.push(found.ok_or_else(unknown)?);
        }
        Ok((trees, spaces, parts))
    }

    /// What the operator classes of an index keep, if its method has summaries.
    fn summaries_of(
        &self,
        method: &index::Facts,
        columns: &[Column],
        asked: &Asked<'_>,
        parameters: &[(String, String)],
    ) -> SqlResult<Vec<Arc<dyn SummaryClass>>> {
        if !method.summarizes {
            return Ok(Vec::new());
        }
        let summary = |(i, column): (usize, &Column)| {
            let class = asked.classes.get(i).copied().unwrap_or_default();
            let shape = crate::type_shape(self, column.type_oid)?;
            let storage = if shape.physical == Physical::Varlena { b'x' } else { b'p' };
            let attr = Attr { physical: shape.physical, align: shape.align, storage, compression: None };
            let unknown = || SqlError::internal(format!("operator class {class} is not known to its method"));
            Ok(match kept_by(class).ok_or_else(unknown)? {
                Kept::Bounds => {
                    let compare = compare_under(shape.comparable, self.rules_of(asked.collations, i)?)?;
                    Arc::new(MinMax { compare, attr, compares_with, column: shape.comparable })
                        as Arc<dyn SummaryClass>
                }
                Kept::Intervals => Arc::new(MinMaxMulti {
                    compare: compare_under(shape.comparable, self.rules_of(asked.collations, i)?)?,
                    attr,
                    compares_with,
                    column: shape.comparable,
                    place: types::place_of(shape.comparable),
                    values: MinMaxMulti::values(&ClassOptions::read(
                        MinMaxMulti::OPTIONS,
                        asked.options_of(i),
                    )),
                }),
                Kept::Filter => {
                    let hash = hash_under(shape.comparable, self.rules_of(asked.collations, i)?)?;
                    let options = ClassOptions::read(Bloom::OPTIONS, asked.options_of(i));
                    Arc::new(Bloom::new(hash, &options, index::pages_per_range(parameters)))
                }
                Kept::Inclusion(tree, strategy) => {
                    let tree = types::registry::tree_class(tree).ok_or_else(unknown)?;
                    Arc::new(Inclusion { tree, attr, strategy })
                }
            })
        };
        columns.iter().enumerate().map(summary).collect()
    }

    /// Physical class of a type.
    pub fn physical(&self, ty: Oid) -> SqlResult<Physical> {
        Ok(crate::type_shape(self, ty)?.physical)
    }

    fn identity_sequence(&self, table: Oid, column: i32) -> SqlResult<Oid> {
        let key = [pg_class::TABLE.oid.into(), table.into(), column.into()];
        let rows = self.find(&pg_depend::TABLE, pg_depend::PG_DEPEND_REFERENCE_INDEX, &key)?;
        let internal = |row: &Row| {
            row.oid(pg_depend::CLASSID) == pg_class::TABLE.oid && row.char(pg_depend::DEPTYPE) == b'i'
        };
        Ok(rows
            .iter()
            .find(|(_, row)| internal(row))
            .map_or(Oid::INVALID, |(_, row)| row.oid(pg_depend::OBJID)))
    }

    fn load_defaults(&self, table: Oid, columns: &mut [Column]) -> SqlResult<()> {
        for (_, row) in
            self.find(&pg_attrdef::TABLE, pg_attrdef::PG_ATTRDEF_ADRELID_ADNUM_INDEX, &[table.into()])?
        {
            let number = row.int(pg_attrdef::ADNUM) as usize;
            if let Some(column) = number.checked_sub(1).and_then(|i| columns.get_mut(i)) {
                column.default = Some(row.str(pg_attrdef::ADBIN).into());
            }
        }
        Ok(())
    }

    fn load_checks(&self, table: Oid) -> SqlResult<Vec<Check>> {
        let index = pg_constraint::PG_CONSTRAINT_CONRELID_CONTYPID_CONNAME_INDEX;
        let rows = self.find(&pg_constraint::TABLE, index, &[table.into()])?;
        let is_check = |row: &&Row| row.char(pg_constraint::CONTYPE) == b'c';
        let check = |row: &Row| Check {
            oid: row.oid(pg_constraint::OID),
            name: row.str(pg_constraint::CONNAME).to_owned(),
            expr: row.str(pg_constraint::CONBIN).into(),
            validated: row.bool(pg_constraint::CONVALIDATED),
            enforced: row.bool(pg_constraint::CONENFORCED),
            no_inherit: row.bool(pg_constraint::CONNOINHERIT),
            local: row.bool(pg_constraint::CONISLOCAL),
            inherited: row.int(pg_constraint::CONINHCOUNT) as i16,
        };
        Ok(rows.iter().map(|(_, row)| row).filter(is_check).map(check).collect())
    }

    fn load_sequence(&self, oid: Oid) -> SqlResult<Option<Sequence>> {
        use pg_sequence as s;
        let row = self.find_one(&s::TABLE, s::PG_SEQUENCE_SEQRELID_INDEX, &[oid.into()])?;
        Ok(row.map(|(_, row)| Sequence {
            type_oid: row.oid(s::SEQTYPID),
            start: row.long(s::SEQSTART),
            increment: row.long(s::SEQINCREMENT),
            max: row.long(s::SEQMAX),
            min: row.long(s::SEQMIN),
            cache: row.long(s::SEQCACHE),
            cycle: row.bool(s::SEQCYCLE),
        }))
    }

    /// Indexes of a table in OID order, as PostgreSQL lists them.
    fn load_indexes(&self, table: Oid) -> SqlResult<Vec<Arc<Index>>> {
        let rows = self.find(&pg_index::TABLE, pg_index::PG_INDEX_INDRELID_INDEX, &[table.into()])?;
        let mut indexes = Vec::with_capacity(rows.len());
        for (place, row) in rows {
            if row.bool(pg_index::INDISLIVE) {
                indexes.push(Arc::new(self.load_index(table, place, &row)?));
            }
        }
        indexes.sort_by_key(|index| index.oid);
        Ok(indexes)
    }

    fn load_index(&self, table: Oid, place: Place, row: &Row) -> SqlResult<Index> {
        let oid = row.oid(pg_index::INDEXRELID);
        let Some((_, class)) =
            self.find_one(&pg_class::TABLE, pg_class::PG_CLASS_OID_INDEX, &[oid.into()])?
        else {
            return Err(SqlError::internal(format!("cache lookup failed for index {oid}")));
        };
        let nkeys = row.int(pg_index::INDNKEYATTS) as usize;
        let mut keys: Vec<i16> = vectors::int2s(&row[pg_index::INDKEY]);
        let including = keys.split_off(nkeys.min(keys.len()));
        let LoadedColumns { columns, attrs, options: mut class_options, .. } =
            self.load_columns(oid, class.int(pg_class::RELNATTS) as usize)?;
        class_options.truncate(nkeys);
        let options = vectors::int2s(&row[pg_index::INDOPTION]);
        let collations = vectors::oids(&row[pg_index::INDCOLLATION]);
        let classes = vectors::oids(&row[pg_index::INDCLASS]);
        // By which each key column is in order.
        let orders: Vec<Oid> = collations
            .iter()
            .zip(&classes)
            .map(|(collation, class)| if orders_by_bytes(*class) { Oid::INVALID } else { *collation })
            .collect();
        let access_method = class.oid(pg_class::RELAM);
        let method = self.index_method(access_method)?;
        let file = self.file_of(&class);
        let unique = row.bool(pg_index::INDISUNIQUE);
        let constraint = self.constraint_of_index(table, oid)?;
        let excluders = match &constraint {
            Some(constraint) if row.bool(pg_index::INDISEXCLUSION) => self.excluders(constraint, &classes)?,
            _ => Vec::new(),
        };
        let nulls_not_distinct = row.bool(pg_index::INDNULLSNOTDISTINCT);
        let mut equal_image = method.equality.is_some();
        for (i, column) in columns.iter().enumerate() {
            equal_image &= Comparator::is_bitwise(column.type_oid, self.rules_of(&orders, i)?)
                && (!method.can_order || self.asked_order(&classes, &orders, i)?.is_none());
        }
        let asked = Asked { classes: &classes, collations: &orders, options: &class_options };
        let (trees, spaces, parts) = self.classes_of(method, &asked, &columns)?;
        let parameters = options_of(&class[pg_class::RELOPTIONS]);
        let desc = IndexDesc {
            file,
            layout: Arc::new(RowLayout::new(if method.keeps_codes() { vec![code_attr()] } else { attrs })),
            summaries: self.summaries_of(
                method,
                &columns[..nkeys.min(columns.len())],
                &asked,
                &parameters,
            )?,
            hashes: self.hashes_of(method, &columns[..nkeys.min(columns.len())], &asked)?,
            keys: self.key_columns(
                method,
                &columns[..nkeys.min(columns.len())],
                &options,
                &orders,
                &classes,
            )?,
            trees,
            spaces,
            parts,
            unique: unique && !row.bool(pg_index::INDISEXCLUSION),
            nulls_not_distinct,
            equal_image,
            options: parameters,
            persistence: persistence_of(class.char(pg_class::RELPERSISTENCE)),
        };
        Ok(Index {
            oid,
            name: class.str(pg_class::RELNAME).to_owned(),
            primary: row.bool(pg_index::INDISPRIMARY),
            unique,
            immediate: row.bool(pg_index::INDIMMEDIATE),
            valid: row.bool(pg_index::INDISVALID),
            nulls_not_distinct,
            excluders,
            without_overlaps: constraint.as_ref().is_some_and(|row| row.bool(pg_constraint::CONPERIOD)),
            constraint: constraint.map_or(Oid::INVALID, |row| row.oid(pg_constraint::OID)),
            parent: match class.bool(pg_class::RELISPARTITION) {
                true => self.parents(oid)?.first().copied().unwrap_or(Oid::INVALID),
                false => Oid::INVALID,
            },
            keys,
            including,
            expressions: row.opt_str(pg_index::INDEXPRS).map(crate::stored_list::split).unwrap_or_default(),
            predicate: row.opt_str(pg_index::INDPRED).map(Into::into),
            opclasses: vectors::oids(&row[pg_index::INDCLASS]),
            collations,
            options,
            class_options,
            access_method,
            method,
            ready: row.bool(pg_index::INDISREADY),
            check_xmin: row.bool(pg_index::INDCHECKXMIN).then_some(place.inserter),
            replica_identity: row.bool(pg_index::INDISREPLIDENT),
            serves: true,
            file,
            size: size_of(&class),
            rel: (file.number != 0).then(|| OpenIndex::open(method.oid, desc)).transpose()?,
        })
    }

    /// The row of the constraint that an index implements.
    fn constraint_of_index(&self, table: Oid, index: Oid) -> SqlResult<Option<Row>> {
        let by_table = pg_constraint::PG_CONSTRAINT_CONRELID_CONTYPID_CONNAME_INDEX;
        let rows = self.find(&pg_constraint::TABLE, by_table, &[table.into()])?;
        let implements = |row: &Row| {
            row.oid(pg_constraint::CONINDID) == index
                && matches!(row.char(pg_constraint::CONTYPE), b'p' | b'u' | b'x')
        };
        Ok(rows.into_iter().map(|(_, row)| row).find(implements))
    }

    /// The operators by which rows exclude each other, with their places in the families of the index's operator classes.
    fn excluders(&self, constraint: &Row, classes: &[Oid]) -> SqlResult<Vec<Excluder>> {
        let families = self.operator_families()?;
        let excluder = |(operator, class): (Oid, &Oid)| {
            let class = families.class(*class);
            let member = class.and_then(|class| families.membership(class.family, operator));
            let function = match types::registry::operator(operator) {
                Some(known) => Some(known.function),
                None => self.operator_by_oid(operator)?.map(|def| def.function),
            };
            let (Some(member), Some(function)) = (member, function) else {
                return Err(SqlError::internal(format!("operator {operator} excludes rows of no index")));
            };
            let (strategy, operand) = (member.strategy as u16, member.right);
            Ok(Excluder { operator, eval: crate::families::native(self, function)?, strategy, operand })
        };
        vectors::oids(&constraint[pg_constraint::CONEXCLOP]).into_iter().zip(classes).map(excluder).collect()
    }

    fn heap_desc(
        &self,
        class: &Row,
        layout: RowLayout,
        options: &[(String, String)],
        logged: Option<Arc<Logged>>,
    ) -> SqlResult<HeapDesc> {
        let schema = class.oid(pg_class::RELNAMESPACE);
        let persistence = persistence_of(class.char(pg_class::RELPERSISTENCE));
        let kind = match () {
            () if class.bool(pg_class::RELISSHARED) => RelKind::Shared,
            () if persistence == Persistence::Temporary => RelKind::Temp,
            () if schema == PG_CATALOG || (schema == PG_TOAST && class.oid(pg_class::OID).is_pinned()) => {
                RelKind::Catalog
            }
            () => RelKind::Plain,
        };
        Ok(HeapDesc {
            file: self.file_of(class),
            layout: Arc::new(layout),
            fillfactor: fillfactor(options),
            persistence,
            kind,
            toast: self.load_toast(
                class.oid(pg_class::RELTOASTRELID),
                (persistence, kind),
                logged.as_ref(),
            )?,
            logged,
        })
    }

    fn load_toast(
        &self,
        oid: Oid,
        (persistence, kind): (Persistence, RelKind),
        logged: Option<&Arc<Logged>>,
    ) -> SqlResult<Option<ToastTable>> {
        if !oid.is_valid() {
            return Ok(None);
        }
        let missing = || SqlError::internal(format!("cache lookup failed for TOAST relation {oid}"));
        let by_oid = pg_class::PG_CLASS_OID_INDEX;
        let (_, class) = self.find_one(&pg_class::TABLE, by_oid, &[oid.into()])?.ok_or_else(missing)?;
        let indexes = self.find(&pg_index::TABLE, pg_index::PG_INDEX_INDRELID_INDEX, &[oid.into()])?;
        let (mut searched, mut others) = (None, Vec::new());
        for (_, index) in &indexes {
            let (valid, ready) = (index.bool(pg_index::INDISVALID), index.bool(pg_index::INDISREADY));
            if !valid && !ready {
                continue;
            }
            let key = [index.oid(pg_index::INDEXRELID).into()];
            let (_, class) = self.find_one(&pg_class::TABLE, by_oid, &key)?.ok_or_else(missing)?;
            let open = open_toast_index(self.file_of(&class), persistence);
            match valid && searched.is_none() {
                true => searched = Some(open),
                false => others.push(open),
            }
        }
        let heap = Arc::new(HeapRel::new(HeapDesc {
            file: self.file_of(&class),
            layout: Arc::new(toast_layout()),
            fillfactor: 100,
            persistence,
            kind,
            toast: None,
            logged: crate::logged::chunks(logged, oid),
        }));
        let searched = searched.ok_or_else(missing)?;
        Ok(Some(open_toast(self.catalog.engine(), oid, heap, (searched, others))))
    }
}

/// What a column has in rows that do not store it.
fn missing_of(row: &Row) -> Datum {
    match row.bool(pg_attribute::ATTHASMISSING) {
        true => vectors::elements(&row[pg_attribute::ATTMISSINGVAL]).pop().unwrap_or_default(),
        false => Datum::Null,
    }
}

fn column_of(row: &Row) -> Column {
    Column {
        name: row.str(pg_attribute::ATTNAME).to_owned(),
        type_oid: row.oid(pg_attribute::ATTTYPID),
        typmod: row.int(pg_attribute::ATTTYPMOD),
        collation: row.oid(pg_attribute::ATTCOLLATION),
        not_null: row.bool(pg_attribute::ATTNOTNULL),
        dropped: row.bool(pg_attribute::ATTISDROPPED),
        default: None,
        identity: match row.char(pg_attribute::ATTIDENTITY) {
            b'a' => Identity::Always,
            b'd' => Identity::ByDefault,
            _ => Identity::None,
        },
        identity_sequence: Oid::INVALID,
        generated: match row.char(pg_attribute::ATTGENERATED) {
            b's' => Generated::Stored,
            b'v' => Generated::Virtual,
            _ => Generated::None,
        },
        local: row.bool(pg_attribute::ATTISLOCAL),
        inherited: row.int(pg_attribute::ATTINHCOUNT) as i16,
    }
}

fn relation_kind(letter: u8) -> SqlResult<RelationKind> {
    Ok(match letter {
        b'r' => RelationKind::Table,
        b'i' => RelationKind::Index,
        b'S' => RelationKind::Sequence,
        b'v' => RelationKind::View,
        b'm' => RelationKind::MaterializedView,
        b't' => RelationKind::Toast,
        b'c' => RelationKind::Composite,
        b'f' => RelationKind::ForeignTable,
        b'p' => RelationKind::PartitionedTable,
        b'I' => RelationKind::PartitionedIndex,
        other => return Err(SqlError::internal(format!("unknown relkind {:?}", other as char))),
    })
}

/// `pg_class.relpersistence`.
pub fn persistence_of(letter: u8) -> Persistence {
    match letter {
        b't' => Persistence::Temporary,
        b'u' => Persistence::Unlogged,
        _ => Persistence::Permanent,
    }
}

fn size_of(class: &Row) -> SizeEstimate {
    SizeEstimate {
        pages: class.int(pg_class::RELPAGES).max(0) as u32,
        tuples: if let Datum::Float4(tuples) = class[pg_class::RELTUPLES] { tuples } else { -1.0 },
        all_visible: class.int(pg_class::RELALLVISIBLE).max(0) as u32,
    }
}

/// What the keys of an index say of their operator classes.
struct Asked<'a> {
    classes: &'a [Oid],
    /// By which each is in order.
    collations: &'a [Oid],
    options: &'a [Vec<(String, String)>],
}

impl Asked<'_> {
    fn options_of(&self, key: usize) -> &[(String, String)] {
        self.options.get(key).map_or(&[], Vec::as_slice)
    }
}

/// Operator classes that an index asks: of trees, of space, or of parts.
type AskedClasses = (
    Vec<&'static dyn index::TreeClass>,
    Vec<&'static dyn index::SpaceClass>,
    Vec<&'static dyn tuple::parts::PartsClass>,
);

/// `name=value` strings of `reloptions`.
fn options_of(array: &Datum) -> Vec<(String, String)> {
    let split = |entry: String| match entry.split_once('=') {
        Some((name, value)) => (name.to_owned(), value.to_owned()),
        None => (entry, String::new()),
    };
    vectors::texts(array).into_iter().map(split).collect()
}

/// That of a table; an index's is its access method's to read.
fn fillfactor(options: &[(String, String)]) -> u8 {
    let found = options.iter().find(|(name, _)| name == "fillfactor");
    found.and_then(|(_, value)| value.parse().ok()).unwrap_or(100)
}

/// How values of a built-in type compare in a B-tree; for other types ask for [`comparable`](types::registry::TypeShape) first.
pub fn compare_of(ty: Oid) -> SqlResult<Compare> {
    let imp = type_imp(ty);
    let Some(order) = imp.compare else {
        return Err(SqlError::not_supported(format!("a B-tree index over type with OID {ty}")));
    };
    let plain = imp.row.filter(|_| imp.plain_order).map(|row| row.physical);
    Ok(match plain {
        None => Compare::With(order),
        Some(Physical::Bool) => Compare::Bool,
        Some(Physical::Char) => Compare::Char,
        Some(Physical::Int2) => Compare::Int2,
        Some(Physical::Int4) => Compare::Int4,
        Some(Physical::Int8) => Compare::Int8,
        Some(Physical::Oid) => Compare::Oid,
        Some(Physical::Float4) => Compare::Float4,
        Some(Physical::Float8) => Compare::Float8,
        Some(Physical::Fixed(_) | Physical::Name | Physical::Varlena) => Compare::Bytes,
    })
}

/// How values of a built-in type compare in a B-tree by the rules of a collation. One order is made for each type and rules and stays, as the rules do.
pub fn compare_under(ty: Oid, rules: &'static Rules) -> SqlResult<Compare> {
    static MADE: Made<(usize, u32), CollatedOrder> = Made::new();
    let Some(of) = type_imp(ty).collated.filter(|_| !rules.is_bytewise()) else { return compare_of(ty) };
    let key = (std::ptr::from_ref(of).addr(), rules.number());
    Ok(Compare::By(MADE.get(key, || CollatedOrder { of, rules })))
}

/// How values compare in a B-tree by an order that a function of a user tells.
fn compare_asked(order: &'static UserOrder) -> Compare {
    static MADE: Made<UserOrder, AskedOrder> = Made::new();
    Compare::By(MADE.get(*order, || AskedOrder(order)))
}

/// An order that a function of a user tells.
#[derive(Debug)]
struct AskedOrder(&'static UserOrder);

impl OrderBy for AskedOrder {
    fn compare(&self, a: &Datum, b: &Datum) -> Ordering {
        self.0.compare(a, b)
    }

    fn leading(&self, _value: &Datum) -> u64 {
        0
    }

    fn asks(&self) -> bool {
        true
    }

    fn ask(&self, a: &Datum, b: &Datum) -> SqlResult<Ordering> {
        self.0.ask(a, b)
    }

    fn check(&self) -> SqlResult<()> {
        types::asked::check()
    }
}

/// The order of a type by the rules of a collation.
#[derive(Debug)]
struct CollatedOrder {
    of: &'static Collated,
    rules: &'static Rules,
}

impl OrderBy for CollatedOrder {
    fn compare(&self, a: &Datum, b: &Datum) -> Ordering {
        (self.of.compare)(self.rules, a, b)
    }

    fn compare_bytes(&self, a: &[u8], b: &[u8]) -> Option<Ordering> {
        self.of.compare_bytes.map(|compare| compare(self.rules, a, b))
    }

    fn leading(&self, value: &Datum) -> u64 {
        (self.of.leading)(self.rules, value)
    }
}

/// What an operator class of a method that has summaries keeps.
enum Kept {
    /// The least and the greatest value.
    Bounds,
    /// Several intervals.
    Intervals,
    /// A Bloom filter.
    Filter,
    /// What includes all values, as the class of trees with this OID has it, whose strategies these are.
    Inclusion(Oid, fn(&TreeQuery<'_>) -> Option<u16>),
}

fn kept_by(class: Oid) -> Option<Kept> {
    let name = types::registry::families::operator_class(class)?.name;
    Some(match name {
        "inet_inclusion_ops" => Kept::Inclusion(Oid(10017), |query| match query.strategy {
            7 => Some(27),
            8 => Some(25),
            24 => Some(26),
            26 => Some(24),
            same @ (3 | 18) => Some(same),
            _ => None,
        }),
        "range_inclusion_ops" => Kept::Inclusion(Oid(10078), |query| match query.strategy {
            17 => Some(6),
            same @ (1..=5 | 7 | 8 | 16 | 18) => Some(same),
            _ => None,
        }),
        "box_inclusion_ops" => Kept::Inclusion(Oid(10060), |query| {
            (query.operand == types::oids::r#box && query.strategy <= 12).then_some(query.strategy)
        }),
        name if name.ends_with("_minmax_ops") => Kept::Bounds,
        name if name.ends_with("_minmax_multi_ops") => Kept::Intervals,
        name if name.ends_with("_bloom_ops") => Kept::Filter,
        _ => return None,
    })
}

/// Whether it is known what an operator class of a method that has summaries keeps.
pub fn has_summary(class: Oid) -> bool {
    kept_by(class).is_some()
}

/// Options of an operator class of a method that has summaries.
pub(crate) fn summary_options(class: Oid) -> &'static [ClassOption] {
    match kept_by(class) {
        Some(Kept::Intervals) => MinMaxMulti::OPTIONS,
        Some(Kept::Filter) => Bloom::OPTIONS,
        _ => &[],
    }
}

/// Whether values of a column compare with those of an operand by what the column's order does.
fn compares_with(column: Oid, operand: Oid) -> bool {
    let any = |kinds: &[Oid]| kinds.contains(&column) && kinds.contains(&operand);
    use types::oids::{bpchar, float4, float8, int2, int4, int8, name, text, varchar};
    column == operand
        || any(&[int2, int4, int8])
        || any(&[float4, float8])
        || any(&[text, varchar, name, bpchar])
}

/// What an index has of a value whose hash code it keeps.
fn code_attr() -> Attr {
    Attr { physical: Physical::Int4, align: 4, storage: b'p', compression: None }
}

/// How values of a built-in type hash in an index by the rules of a collation; for other types ask for [`comparable`](types::registry::TypeShape) first. As with
/// [`compare_under`], one function is made for each type and rules.
pub fn hash_under(ty: Oid, rules: &'static Rules) -> SqlResult<HashBy> {
    type Hash = &'static (dyn Fn(&Datum) -> u64 + Send + Sync);
    static MADE: Mutex<BTreeMap<(usize, u32), Hash>> = Mutex::new(BTreeMap::new());
    match Comparator::of(ty, rules).seeded_hash {
        Some(By::Plain(hash)) => Ok(HashBy::With(hash, 0)),
        Some(By::Collated(of, rules)) => {
            let key = (std::ptr::from_ref(of).addr(), rules.number());
            let make = || -> Hash { Box::leak(Box::new(|value: &Datum| (of.seeded_hash)(rules, value, 0))) };
            Ok(HashBy::By(*MADE.lock().entry(key).or_insert_with(make)))
        }
        Some(By::Asked(_)) | None => {
            Err(SqlError::not_supported(format!("a hash index over type with OID {ty}")))
        }
    }
}

/// Whether an operator class orders texts by their bytes whatever their collation: `text_pattern_ops` and the like.
pub fn orders_by_bytes(class: Oid) -> bool {
    (4217..=4219).contains(&class.0)
}

/// The method that a letter of `attcompression` stands for; none for the default.
fn compression_of(letter: u8) -> Option<Compression> {
    match letter {
        b'l' => Some(Compression::Lz4),
        b'p' => Some(Compression::Pglz),
        _ => None,
    }
}
