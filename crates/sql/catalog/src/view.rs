//! The catalog as analysis and planning see it: a trait and plain structs.
//!
//! What: [`CatalogView`] answers names and OIDs as of one session, transaction and search path. Built-in functions, operators
//! and casts come from the `types` registry and are not asked for here; the methods about functions, operators and casts
//! return those that users made.
//!
//! Locks: implementations take the relation locks that their contract with the executor asks for.

use std::sync::Arc;

use base::{Oid, RelFile, SqlError, SqlResult, Xid};
use engine::OpenIndex;
use heap::HeapRel;
use index::Facts;
use txn::Snapshot;

use crate::authority::Grants;
use crate::extended::StatisticsObject;
use crate::families::OperatorFamilies;
use crate::partition::{Detaching, Partitioning};
use crate::policy::RowSecurity;
use crate::publication::{Published, ReplicaIdentity};
use crate::rule::Rule;
use crate::trigger::Trigger;
use crate::validity::Validity;

/// `pg_class.relkind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum RelationKind {
    Table,
    Index,
    Sequence,
    View,
    MaterializedView,
    Toast,
    Composite,
    ForeignTable,
    PartitionedTable,
    PartitionedIndex,
}

impl RelationKind {
    /// The letter in `pg_class.relkind`.
    pub fn letter(self) -> char {
        match self {
            RelationKind::Table => 'r',
            RelationKind::Index => 'i',
            RelationKind::Sequence => 'S',
            RelationKind::View => 'v',
            RelationKind::MaterializedView => 'm',
            RelationKind::Toast => 't',
            RelationKind::Composite => 'c',
            RelationKind::ForeignTable => 'f',
            RelationKind::PartitionedTable => 'p',
            RelationKind::PartitionedIndex => 'I',
        }
    }
}

/// GENERATED ... AS IDENTITY
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Identity {
    #[default]
    None,
    Always,
    ByDefault,
}

impl Identity {
    /// `pg_attribute.attidentity`.
    pub fn letter(self) -> u8 {
        match self {
            Identity::None => 0,
            Identity::Always => b'a',
            Identity::ByDefault => b'd',
        }
    }
}

/// GENERATED ALWAYS AS (...)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Generated {
    #[default]
    None,
    Stored,
    Virtual,
}

/// A column of a relation (`pg_attribute`).
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Name.
    pub name: String,
    /// Type; 0 if dropped.
    pub type_oid: Oid,
    /// Modifier.
    pub typmod: i32,
    /// Collation; 0 if none.
    pub collation: Oid,
    /// NOT NULL.
    pub not_null: bool,
    /// Dropped.
    pub dropped: bool,
    /// DEFAULT or generation expression, as `analyze::stored` writes it.
    pub default: Option<Arc<str>>,
    /// Identity.
    pub identity: Identity,
    /// Sequence of an identity column; 0 if none.
    pub identity_sequence: Oid,
    /// Generated column.
    pub generated: Generated,
    /// Defined by the table itself, not only by its parents (`attislocal`).
    pub local: bool,
    /// Number of direct parents that have it (`attinhcount`).
    pub inherited: i16,
}

/// CHECK (`pg_constraint`).
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// OID of the constraint.
    pub oid: Oid,
    /// Name.
    pub name: String,
    /// Expression, as `analyze::stored` writes it.
    pub expr: Arc<str>,
    /// VALIDATEd.
    pub validated: bool,
    /// Enforced.
    pub enforced: bool,
    /// NO INHERIT.
    pub no_inherit: bool,
    /// Defined by the table itself, not only by its parents (`conislocal`).
    pub local: bool,
    /// Number of direct parents that have it (`coninhcount`).
    pub inherited: i16,
}

/// Size of a relation as VACUUM, ANALYZE or CREATE INDEX last saw it (`pg_class`).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SizeEstimate {
    /// `relpages`
    pub pages: u32,
    /// `reltuples`; -1 when it was never counted.
    pub tuples: f32,
    /// `relallvisible`
    pub all_visible: u32,
}

/// What a sequence counts (`pg_sequence`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sequence {
    /// Type: `int2`, `int4` or `int8`.
    pub type_oid: Oid,
    /// START.
    pub start: i64,
    /// INCREMENT BY.
    pub increment: i64,
    /// MAXVALUE.
    pub max: i64,
    /// MINVALUE.
    pub min: i64,
    /// CACHE.
    pub cache: i64,
    /// CYCLE.
    pub cycle: bool,
}

/// An index of a table. Two descriptions are equal if they are of one index in one state of its files.
#[derive(Clone, Debug)]
pub struct Index {
    /// OID.
    pub oid: Oid,
    /// Name.
    pub name: String,
    /// Primary key.
    pub primary: bool,
    /// Unique.
    pub unique: bool,
    /// Checked at once (not deferrable).
    pub immediate: bool,
    /// Built and usable.
    pub valid: bool,
    /// NULLS NOT DISTINCT.
    pub nulls_not_distinct: bool,
    /// Of an exclusion constraint or a key WITHOUT OVERLAPS, one for each key column: rows conflict if all of these are true of their keys. Otherwise
    /// empty.
    pub excluders: Vec<Excluder>,
    /// Of a key WITHOUT OVERLAPS: the last column holds ranges, or sets of ranges, none of them empty.
    pub without_overlaps: bool,
    /// Constraint it implements; 0 if none.
    pub constraint: Oid,
    /// The partitioned index that it is a part of; 0 if none.
    pub parent: Oid,
    /// Attribute numbers of the key; 0 for an expression.
    pub keys: Vec<i16>,
    /// Attribute numbers of INCLUDE.
    pub including: Vec<i16>,
    /// Expressions of the zeros in `keys`, in order, as `analyze::stored` writes them.
    pub expressions: Vec<Arc<str>>,
    /// WHERE, as `analyze::stored` writes it.
    pub predicate: Option<Arc<str>>,
    /// Operator classes of the key.
    pub opclasses: Vec<Oid>,
    /// Collations of the key.
    pub collations: Vec<Oid>,
    /// For each key column: bit 0 DESC, bit 1 NULLS FIRST (`indoption`).
    pub options: Vec<i16>,
    /// For each key column: options of its operator class, by name.
    pub class_options: Vec<Vec<(String, String)>>,
    /// Access method.
    pub access_method: Oid,
    /// What it can do.
    pub method: &'static Facts,
    /// Inserts maintain it (`indisready`), though it may not be [`valid`](Index::valid) for queries yet.
    pub ready: bool,
    /// With `indcheckxmin`, who built it: a snapshot that does not see this xid ended must not use it, as rows may be missing that
    /// only older snapshots see.
    pub check_xmin: Option<Xid>,
    /// It is the table's replica identity.
    pub replica_identity: bool,
    /// Whether queries may use it, if it is [`valid`](Index::valid): false in the description for a snapshot that is older.
    pub serves: bool,
    /// Its files.
    pub file: RelFile,
    /// Its size.
    pub size: SizeEstimate,
    /// The open index. None in tests of the layers above, which have no storage.
    pub rel: Option<OpenIndex>,
}

/// An operator of an exclusion constraint.
#[derive(Clone, Copy, Debug)]
pub struct Excluder {
    /// The operator.
    pub operator: Oid,
    /// Its function, if that is one of the server or of a library: no others are asked of entries that may not satisfy it.
    pub eval: Option<types::Eval>,
    /// Its strategy number in the family of the column's operator class.
    pub strategy: u16,
    /// The type that it takes on the right side, as the family has it.
    pub operand: Oid,
}

impl Index {
    /// Whether its access method refuses equal keys. Those of a key WITHOUT OVERLAPS are looked for beside it.
    pub fn refuses_duplicates(&self) -> bool {
        self.unique && self.excluders.is_empty()
    }

    /// The open index.
    ///
    /// # Errors
    /// It has none: it is partitioned.
    pub fn storage(&self) -> SqlResult<&OpenIndex> {
        let none = || SqlError::internal(format!("index \"{}\" has no storage", self.name));
        self.rel.as_ref().ok_or_else(none)
    }

    /// Whether a function of a user tells the order of its key column at this place, counted from 0.
    pub fn asks(&self, at: usize) -> bool {
        let key = self.rel.as_ref().and_then(|rel| rel.desc().keys.get(at));
        key.is_some_and(|key| index::asks(std::slice::from_ref(key)))
    }

    /// Whether its entries hold the values of its key column at this place, counted from 0.
    pub fn returns_key(&self, at: usize) -> bool {
        let returns = self.rel.as_ref().is_none_or(|rel| {
            let desc = rel.desc();
            desc.trees.get(at).is_none_or(|class| class.returns())
                && desc.spaces.get(at).is_none_or(|class| class.returns())
        });
        self.method.returnable && returns
    }

    /// Which of its columns, counted from 0, holds the values of a column of the table.
    pub fn holds(&self, column: i16) -> Option<usize> {
        let key = (0..self.keys.len()).find(|at| self.keys[*at] == column && self.returns_key(*at));
        let included = || self.including.iter().position(|number| *number == column);
        key.or_else(|| Some(self.keys.len() + included()?))
    }

    /// Pages of the table in a range, of an index that has summaries.
    pub fn pages_per_range(&self) -> f64 {
        f64::from(index::pages_per_range(self.rel.as_ref().map_or(&[], |rel| &rel.desc().options)))
    }

    /// Whether a query may read it.
    pub fn is_usable(&self) -> bool {
        self.valid && self.serves
    }
}

impl PartialEq for Index {
    fn eq(&self, other: &Index) -> bool {
        (self.oid, self.file) == (other.oid, other.file)
    }
}

/// A relation. Shared by all sessions while [`Table::validity`] says that it is current. Two descriptions are equal if they are
/// of one relation with the same columns and files.
#[derive(Clone, Debug)]
pub struct Table {
    /// OID.
    pub oid: Oid,
    /// Name.
    pub name: String,
    /// Schema.
    pub schema: Oid,
    /// Its name.
    pub schema_name: String,
    /// Kind.
    pub kind: RelationKind,
    /// Owner.
    pub owner: Oid,
    /// Who else may do what with it.
    pub grants: Grants,
    /// `pg_class.relpersistence`: p, u, t
    pub persistence: char,
    /// Composite type of the rows; 0 if none.
    pub row_type: Oid,
    /// Has children, or had some: looked for in `children`.
    pub has_subclass: bool,
    /// Tables that inherit from it directly, its partitions among them, by OID. Not the partition that is being detached: definitions pass
    /// it over.
    pub children: Vec<Oid>,
    /// How it is partitioned, if it is.
    pub partitioning: Option<Arc<Partitioning>>,
    /// The partitioned table that it is a partition of; 0 if none.
    pub partition_of: Oid,
    /// Columns by attribute number - 1, dropped ones included.
    pub columns: Vec<Column>,
    /// CHECK constraints.
    pub checks: Vec<Check>,
    /// Indexes, valid or not.
    pub indexes: Vec<Arc<Index>>,
    /// Triggers by name, the order in which they fire.
    pub triggers: Vec<Arc<Trigger>>,
    /// Rules by name, the order in which they are applied; a view's query is not among them.
    pub rules: Vec<Arc<Rule>>,
    /// Row security, if it is enabled.
    pub row_security: Option<Arc<RowSecurity>>,
    /// Statistics objects, by OID.
    pub statistics: Vec<Arc<StatisticsObject>>,
    /// The query of a view or materialized view, as `analyze::stored` writes it.
    pub view_query: Option<Arc<str>>,
    /// Has the rows that it is to have: false for a materialized view made or refreshed WITH NO DATA (`relispopulated`).
    pub populated: bool,
    /// Storage parameters and view options: (name, value).
    pub options: Vec<(String, String)>,
    /// Its files; zeros where it has none.
    pub file: RelFile,
    /// Its size.
    pub size: SizeEstimate,
    /// OID of its TOAST table; 0 if none.
    pub toast: Oid,
    /// What of its rows is told to subscribers when they change.
    pub replica_identity: ReplicaIdentity,
    /// How publications publish its changed and deleted rows; none if none does.
    pub published: Option<Arc<[Published]>>,
    /// What it counts, if it is a sequence.
    pub sequence: Option<Sequence>,
    /// What the log says of it to those who decode it; none if nobody can.
    pub logged: Option<Arc<heap::Logged>>,
    /// The open heap. None for relations without rows of their own, and in tests of the layers above.
    pub heap: Option<Arc<HeapRel>>,
    /// Turns false when a committed change made this description stale. Plans that keep the description check it before each use.
    pub validity: Validity,
}

impl PartialEq for Table {
    fn eq(&self, other: &Table) -> bool {
        (self.oid, self.file, &self.columns) == (other.oid, other.file, &other.columns)
    }
}

impl Table {
    /// The column with this name and its attribute number.
    pub fn column(&self, name: &str) -> Option<(i16, &Column)> {
        let i = self.columns.iter().position(|c| !c.dropped && c.name == name)?;
        Some((i as i16 + 1, &self.columns[i]))
    }

    /// An option of a view or table, if it was given.
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Whether an option of a view or table that is on or off is on.
    pub fn bool_option(&self, name: &str) -> bool {
        matches!(self.option(name), Some("true" | "on" | "yes" | "1" | "t" | "y"))
    }

    /// The description for a snapshot, which is asked for only if it matters: without the service of indexes that are too young for it,
    /// and without the partition that it sees detached.
    pub fn for_snapshot(self: Arc<Table>, snapshot: impl FnOnce() -> Snapshot) -> Arc<Table> {
        if !self.differs_by_snapshot() {
            return self;
        }
        let snapshot = snapshot();
        let mut table = (*self).clone();
        for index in &mut table.indexes {
            if index.check_xmin.is_some_and(|builder| builder >= snapshot.xmin()) {
                Arc::make_mut(index).serves = false;
            }
        }
        let seen = table.partitioning.as_ref().and_then(|of| of.seen_by(|xid| snapshot.sees(xid)));
        if let Some(seen) = seen {
            table.partitioning = Some(Arc::new(seen));
        }
        Arc::new(table)
    }

    /// Whether snapshots may have different descriptions of it.
    pub fn differs_by_snapshot(&self) -> bool {
        self.indexes.iter().any(|index| index.check_xmin.is_some()) || self.detaching().is_some()
    }

    /// Whether a snapshot has this description, which [`Table::for_snapshot`] made for one.
    pub fn fits_snapshot(&self, snapshot: &Snapshot) -> bool {
        let serves = |index: &Arc<Index>| index.check_xmin.is_none_or(|builder| builder < snapshot.xmin());
        self.indexes.iter().all(|index| index.serves == serves(index))
            && self.detaching().is_none_or(|d| d.hidden == snapshot.sees(d.by))
    }

    /// Whether younger snapshots may have more indexes or fewer partitions than the description says.
    pub fn is_for_old_snapshots(&self) -> bool {
        self.indexes.iter().any(|index| !index.serves) || self.detaching().is_some_and(|d| !d.hidden)
    }

    /// The partition that is being detached.
    pub fn detaching(&self) -> Option<&Detaching> {
        self.partitioning.as_ref().and_then(|of| of.detaching.as_ref())
    }
}

/// What a type is (`pg_type.typtype`).
#[derive(Clone, Debug, PartialEq)]
pub enum TypeKind {
    /// A built-in one, or an array of a user's type.
    Base,
    /// One that a user made whose values are those of a built-in one or of a library's.
    Like(Like),
    /// A row type and its relation.
    Composite(Oid),
    /// A domain.
    Domain(Domain),
    /// An enum and its labels in their order.
    Enum(Arc<[EnumLabel]>),
    /// A pseudo-type.
    Pseudo,
    /// A range.
    Range(types::range::RangeInfo),
    /// A multirange.
    Multirange(types::range::RangeInfo),
}

/// A type whose input and output functions are those of a built-in one, or of a library.
#[derive(Clone, Debug, PartialEq)]
pub struct Like {
    /// The built-in type, or the number of the library's ([`types::registry::libraries`]): by it the descriptor is found.
    pub base: Oid,
    /// Whether it has type modifiers, which are those of the descriptor.
    pub modifiers: bool,
    /// The type of the registry that its default B-tree class compares values as; 0 if it has no such class.
    pub order: Oid,
    /// DEFAULT, as a text for the input function.
    pub default: Option<Arc<str>>,
}

/// A domain.
#[derive(Clone, Debug, PartialEq)]
pub struct Domain {
    /// Type underneath, maybe a domain.
    pub base: Oid,
    /// Modifier for it.
    pub typmod: i32,
    /// Default, as `analyze::stored` writes it.
    pub default: Option<Arc<str>>,
    /// NOT NULL.
    pub not_null: bool,
    /// CHECK constraints by name.
    pub checks: Arc<[DomainCheck]>,
}

/// A label of an enum (`pg_enum`).
#[derive(Clone, Debug, PartialEq)]
pub struct EnumLabel {
    /// OID of its row.
    pub oid: Oid,
    /// `enumsortorder`
    pub sort_order: f32,
    /// The label.
    pub label: String,
}

/// CHECK of a domain.
#[derive(Clone, Debug, PartialEq)]
pub struct DomainCheck {
    /// Name.
    pub name: String,
    /// Expression over VALUE, as `analyze::stored` writes it.
    pub expr: Arc<str>,
}

/// A type, built-in or made by a user (`pg_type`).
#[derive(Clone, Debug, PartialEq)]
pub struct TypeDef {
    /// OID.
    pub oid: Oid,
    /// Name.
    pub name: String,
    /// Schema.
    pub schema: Oid,
    /// Its name.
    pub schema_name: String,
    /// Kind.
    pub kind: TypeKind,
    /// `typcategory`
    pub category: char,
    /// `typispreferred`
    pub preferred: bool,
    /// Element type of an array type; 0 if none.
    pub element: Oid,
    /// Array type over this one; 0 if none.
    pub array: Oid,
    /// Collation of columns of this type; 0 if none.
    pub collation: Oid,
    /// False while only a shell.
    pub defined: bool,
}

/// A function, procedure or aggregate made by a user (`pg_proc`).
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionDef {
    /// OID.
    pub oid: Oid,
    /// Name.
    pub name: String,
    /// Schema.
    pub schema: Oid,
    /// Owner.
    pub owner: Oid,
    /// `f`, `p`, `a` or `w`
    pub kind: char,
    /// Input argument types.
    pub args: Vec<Oid>,
    /// Their names (and those of OUT parameters in `out_columns`); empty strings if unnamed.
    pub arg_names: Vec<String>,
    /// All parameters in order; inputs only if there are no others.
    pub parameters: Vec<Parameter>,
    /// Default expressions of the last arguments, as `analyze::stored` writes them.
    pub defaults: Vec<Arc<str>>,
    /// Element type of a trailing VARIADIC argument; 0 if none.
    pub variadic: Oid,
    /// Result type.
    pub result: Oid,
    /// OUT, INOUT and TABLE columns: name, type.
    pub out_columns: Vec<(String, Oid)>,
    /// Returns a set.
    pub returns_set: bool,
    /// Strict.
    pub strict: bool,
    /// `i`, `s` or `v`
    pub volatility: char,
    /// `procost`
    pub cost: f32,
    /// `prorows`
    pub rows: f32,
    /// LEAKPROOF.
    pub leakproof: bool,
    /// SECURITY DEFINER.
    pub security_definer: bool,
    /// Language (`pg_language`).
    pub language: Oid,
    /// `prosrc`: the body as text, or the name of a built-in function.
    pub source: Arc<str>,
    /// `probin`: the library of a function in C.
    pub library: Option<Arc<str>>,
    /// A body in SQL-standard form: its analysed queries, as `analyze::stored` writes them.
    pub body: Option<Vec<Arc<str>>>,
    /// SET: (name, value).
    pub config: Vec<(String, String)>,
    /// How it is computed, if it is an aggregate.
    pub aggregate: Option<Arc<AggregateDef>>,
}

/// How an aggregate that a user made is computed (`pg_aggregate`).
#[derive(Clone, Debug, PartialEq)]
pub struct AggregateDef {
    /// `aggkind`: `n` normal, `o` ordered set, `h` hypothetical set.
    pub kind: u8,
    /// `aggnumdirectargs`
    pub direct_args: i16,
    /// The steps over a group.
    pub steps: AggregateSteps,
    /// The function that takes a row back, and the steps that go with it: for frames that move.
    pub moving: Option<(Oid, AggregateSteps)>,
}

/// The functions of an aggregate.
#[derive(Clone, Debug, PartialEq)]
pub struct AggregateSteps {
    /// From a state and a row's arguments to the next state.
    pub transition: Oid,
    /// From the last state to the result; 0: the state is the result.
    pub finale: Oid,
    /// The final function has the aggregate's arguments too, for their types.
    pub final_extra: bool,
    /// What the final function may do to the state: `r` nothing, `s` what others can live with, `w` anything.
    pub final_modify: u8,
    /// Type of the state.
    pub state: Oid,
    /// The first state, as text; `None` is NULL.
    pub initial: Option<Arc<str>>,
}

impl FunctionDef {
    /// The built-in function that it is another name of, if its language is `internal`.
    pub fn internal(&self) -> Option<&'static types::Function> {
        if self.language != Oid(INTERNAL_LANGUAGE) {
            return None;
        }
        if let Some(constructor) = types::range::constructor(&self.source) {
            return types::registry::function(constructor);
        }
        let named = types::registry::functions_of_symbol(&self.source);
        let same = named.iter().find(|f| f.args.iter().eq(self.args.iter()));
        same.or_else(|| named.iter().find(|f| f.args.len() == self.args.len())).copied()
    }

    /// The library and the symbol in it, of a function in C.
    pub fn symbol(&self) -> Option<(&str, &str)> {
        let library = self.library.as_deref().filter(|_| self.language == Oid(crate::C_LANGUAGE))?;
        Some((library, &self.source))
    }

    /// The pointer to a function of a library that needs nothing but its arguments: neither settings nor rights of its own.
    pub fn pointer(&self) -> Option<types::Eval> {
        let (library, symbol) = self.symbol()?;
        let plain = self.config.is_empty() && !self.security_definer;
        types::registry::libraries::function(library, symbol).filter(|_| plain)
    }
}

/// Name and value of a setting in `proconfig`.
pub fn setting_of(entry: &str) -> (String, String) {
    let (name, value) = entry.split_once('=').unwrap_or((entry, ""));
    (name.to_owned(), value.to_owned())
}

/// `pg_language` OID of functions that are part of the server.
pub const INTERNAL_LANGUAGE: u32 = 12;
/// `pg_language` OID of functions in C: those of extension modules.
pub const C_LANGUAGE: u32 = 13;
/// `pg_language` OID of SQL.
pub const SQL_LANGUAGE: u32 = 14;

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Name, may be empty.
    pub name: String,
    /// Type.
    pub type_oid: Oid,
    /// `i`, `o`, `b` (INOUT), `v` (VARIADIC) or `t` (a column of TABLE)
    pub mode: u8,
}

/// An operator made by a user (`pg_operator`).
#[derive(Clone, Debug, PartialEq)]
pub struct OperatorDef {
    /// OID.
    pub oid: Oid,
    /// Name.
    pub name: String,
    /// Schema.
    pub schema: Oid,
    /// Left operand; 0 for a prefix operator.
    pub left: Oid,
    /// Right operand.
    pub right: Oid,
    /// Result.
    pub result: Oid,
    /// Function.
    pub function: Oid,
    /// The operator with its operands exchanged; 0 if none.
    pub commutator: Oid,
    /// The operator that is true where it is false; 0 if none.
    pub negator: Oid,
    /// The function that estimates what it selects; 0 if none.
    pub restrict: Oid,
    /// HASHES
    pub can_hash: bool,
    /// MERGES
    pub can_merge: bool,
}

/// A cast made by a user (`pg_cast`).
#[derive(Clone, Debug, PartialEq)]
pub struct CastDef {
    /// Function; 0 if none.
    pub function: Oid,
    /// `i`, `a` or `e`
    pub context: char,
    /// `f`, `b` or `i`
    pub method: char,
}

/// A collation.
#[derive(Clone, Debug, PartialEq)]
pub struct CollationDef {
    /// OID.
    pub oid: Oid,
    /// Name.
    pub name: String,
    /// Schema.
    pub schema_name: String,
    /// What it does.
    pub rules: &'static collation::Rules,
}

/// The rows that a statement has changed, under the name that REFERENCING gives them.
#[derive(Clone, Debug)]
pub struct Transition {
    /// The table whose rows they are, or were.
    pub table: Arc<Table>,
    /// How many there are.
    pub rows: u64,
}

/// The catalog of one session at one moment.
pub trait CatalogView {
    /// A relation by name; without schema, the first on the search path. `Ok(None)` if there is none, also if the schema does
    /// not exist (see [`CatalogView::schema`]). Indexes and composite types are found too.
    fn relation(&self, schema: Option<&str>, name: &str) -> SqlResult<Option<Arc<Table>>>;

    /// That no relation of this name is in the schemas of the search path before `schema`: flags that go down when one comes there.
    /// None where names mean the same for ever.
    fn absences(&self, _name: &str, _schema: Oid) -> SqlResult<Vec<Validity>> {
        Ok(Vec::new())
    }

    /// A relation by OID.
    fn relation_by_oid(&self, oid: Oid) -> SqlResult<Option<Arc<Table>>>;

    /// OID of a schema.
    fn schema(&self, name: &str) -> SqlResult<Option<Oid>>;

    /// Name of a schema.
    fn schema_name(&self, oid: Oid) -> SqlResult<Option<String>>;

    /// OIDs of the schemas searched for names, in order, `pg_catalog` and the temporary schema where they stand implicitly.
    fn search_path(&self) -> SqlResult<Vec<Oid>>;

    /// A type by name, built-in ones included; without schema, the first on the search path.
    fn type_by_name(&self, schema: Option<&str>, name: &str) -> SqlResult<Option<Arc<TypeDef>>>;

    /// A type by OID, built-in ones included.
    fn type_by_oid(&self, oid: Oid) -> SqlResult<Option<Arc<TypeDef>>>;

    /// Functions that users made with this name; without schema, those in schemas of the search path.
    fn functions(&self, schema: Option<&str>, name: &str) -> SqlResult<Vec<Arc<FunctionDef>>>;

    /// A function that a user made.
    fn function_by_oid(&self, oid: Oid) -> SqlResult<Option<Arc<FunctionDef>>>;

    /// Operators that users made with this name; without schema, those in schemas of the search path.
    fn operators(&self, schema: Option<&str>, name: &str) -> SqlResult<Vec<Arc<OperatorDef>>>;

    /// An operator that a user made.
    fn operator_by_oid(&self, oid: Oid) -> SqlResult<Option<Arc<OperatorDef>>>;

    /// A cast that a user made.
    fn cast(&self, source: Oid, target: Oid) -> SqlResult<Option<CastDef>>;

    /// The function with a seed that hashes for an operator class that a user made.
    fn hash_function(&self, _class: Oid) -> SqlResult<Option<Oid>> {
        Ok(None)
    }

    /// Operator classes and families with their members: those of users beside the built-in ones.
    fn operator_families(&self) -> SqlResult<Arc<OperatorFamilies>> {
        Ok(OperatorFamilies::built_in())
    }

    /// OID of the operator class of an access method with this name; without schema, the first on the search path.
    fn operator_class_named(&self, method: Oid, schema: Option<&str>, name: &str) -> SqlResult<Option<Oid>> {
        let here = matches!(schema, None | Some("pg_catalog"));
        let class = types::registry::families::class_named(method, name).filter(|_| here);
        Ok(class.map(|class| class.oid))
    }

    /// A collation by name; without schema, the first on the search path.
    fn collation(&self, schema: Option<&str>, name: &str) -> SqlResult<Option<CollationDef>>;

    /// A collation by OID.
    fn collation_by_oid(&self, oid: Oid) -> SqlResult<Option<CollationDef>>;

    /// A constraint of a table by name: its index, if it has one.
    fn constraint_index(&self, table: Oid, name: &str) -> SqlResult<Option<Oid>>;

    /// Name of the database.
    fn database(&self) -> String;

    /// The current user.
    fn current_user(&self) -> Oid;

    /// Whether the row security of a table that has it enabled counts for a role, or for the current user.
    ///
    /// # Errors
    /// It does, and `row_security` is off.
    fn row_security_applies(&self, table: &Table, role: Option<Oid>) -> SqlResult<bool>;

    /// Whether a role, or the current user, has the privileges of another.
    fn has_role_of(&self, role: Option<Oid>, other: Oid) -> SqlResult<bool>;

    /// The rows that triggers of a statement may read under this name, in the function of one of them.
    fn transition(&self, _name: &str) -> Option<Transition> {
        None
    }

    /// Whether the session replicates what others have done (`session_replication_role = replica`).
    fn replicates(&self) -> bool {
        false
    }

    /// The materialized view whose rows this session is bringing up to date, which statements may write to; 0 if none.
    fn maintained(&self) -> Oid {
        Oid::INVALID
    }
}
