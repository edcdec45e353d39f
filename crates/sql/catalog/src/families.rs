//! # What
//! Operator classes and families, and the operators and support functions in them: the built-in ones and those of users, as one
//! ([`OperatorFamilies`], which [`CatalogView::operator_families`] answers). Analysis, planning and commands ask here, whatever access method
//! it is about:
//!
//! * a class by OID: [`class`](OperatorFamilies::class); by name: [`CatalogView::operator_class_named`]; the one that a type has by default:
//!   [`default_class`]. Whether a class takes a type: [`binary_coercible`] from the type to [`OperatorClass::input`].
//! * what an operator is in a family, and by which strategy: [`membership`](OperatorFamilies::membership); in all families:
//!   [`memberships`](OperatorFamilies::memberships).
//! * the operator of a strategy: [`operator`](OperatorFamilies::operator), between two types. A class's strategy is asked for with
//!   [`OperatorClass::input`] on the left. Strategy numbers are those of the access method or, for GiST and the like, of the class.
//! * a support function: [`function`](OperatorFamilies::function), by number and types. A class's own function has
//!   [`OperatorClass::input`] on both sides.
//!
//! # Invariants
//! 1. Built-in rows are constants of the registry, found there by map (`types::registry::families`). Rows of users are read from the
//!    catalogs at once, all of them, and kept with what else sessions share until one of the four catalogs changes (`cache`).
//! 2. A family may have members of both kinds: users add to built-in families.
//!
//! # PostgreSQL counterpart
//! `utils/cache/lsyscache.c`, `commands/indexcmds.c` (`GetDefaultOpClass`).

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use base::{Oid, SqlResult};
use index::HashBy;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use tuple::Datum;
use tuple::options::ClassOption;
use types::asked::UserOrder;
use types::registry::libraries::Tree;
use types::registry::{AmOp, AmProc, Eval, Imp, OpClass, families as builtin};
use types::{Call, CastContext, CastMethod, FormatContext, oids};

/// The access method GiST.
const GIST: Oid = Oid(783);
/// The support function that hashes.
const HASH_FUNCTION: i16 = 1;
/// The support function that tells an order.
const ORDER_FUNCTION: i16 = 1;
/// The access method GIN.
const GIN: Oid = Oid(2742);

use crate::database::Reader;
use crate::row::{Row, RowExt};
use crate::system::{SystemTable, pg_amop, pg_amproc, pg_opclass, pg_opfamily};
use crate::view::{CatalogView, TypeDef, TypeKind};

/// An operator class (`pg_opclass`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperatorClass<'f> {
    /// OID.
    pub oid: Oid,
    /// Access method.
    pub method: Oid,
    /// Name.
    pub name: &'f str,
    /// Schema.
    pub schema: Oid,
    /// Its family.
    pub family: Oid,
    /// The type that it is for.
    pub input: Oid,
    /// Whether it is that type's default class.
    pub default: bool,
    /// The type that an index stores; 0 if it is `input`.
    pub key: Oid,
}

/// An operator family (`pg_opfamily`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperatorFamily<'f> {
    /// OID.
    pub oid: Oid,
    /// Access method.
    pub method: Oid,
    /// Name.
    pub name: &'f str,
    /// Schema.
    pub schema: Oid,
}

/// An operator in a family (`pg_amop`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FamilyOperator {
    /// The family.
    pub family: Oid,
    /// Its access method.
    pub method: Oid,
    /// Left type.
    pub left: Oid,
    /// Right type.
    pub right: Oid,
    /// What it asks, in the numbers of the access method or of the family.
    pub strategy: i16,
    /// The operator.
    pub operator: Oid,
    /// The B-tree family that orders its results, if rows come by them (FOR ORDER BY); 0 for an operator that searches.
    pub sort_family: Oid,
}

impl FamilyOperator {
    /// Whether rows are searched by it, and not ordered.
    pub fn searches(&self) -> bool {
        !self.sort_family.is_valid()
    }

    fn built_in(row: &AmOp) -> FamilyOperator {
        FamilyOperator {
            family: row.family,
            method: builtin::method_of(row.family).unwrap_or_default(),
            left: row.left,
            right: row.right,
            strategy: row.strategy,
            operator: row.operator,
            sort_family: row.sort_family,
        }
    }
}

/// A support function of a family (`pg_amproc`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FamilyFunction {
    /// The family.
    pub family: Oid,
    /// Left type.
    pub left: Oid,
    /// Right type.
    pub right: Oid,
    /// What it is for, in the numbers of the access method.
    pub number: i16,
    /// The function.
    pub function: Oid,
}

impl FamilyFunction {
    fn built_in(row: &AmProc) -> FamilyFunction {
        FamilyFunction {
            family: row.family,
            left: row.left,
            right: row.right,
            number: row.number,
            function: row.function,
        }
    }
}

#[derive(Debug)]
struct Named {
    name: Box<str>,
    schema: Oid,
    method: Oid,
}

#[derive(Debug)]
struct UserClass {
    named: Named,
    family: Oid,
    input: Oid,
    default: bool,
    key: Oid,
}

/// All operator classes and families of a database.
#[derive(Debug, Default)]
pub struct OperatorFamilies {
    classes: FxHashMap<Oid, UserClass>,
    families: FxHashMap<Oid, Named>,
    by_operator: FxHashMap<Oid, Vec<FamilyOperator>>,
    by_family: FxHashMap<Oid, Vec<FamilyOperator>>,
    functions: FxHashMap<Oid, Vec<FamilyFunction>>,
}

impl OperatorFamilies {
    /// The built-in ones alone.
    pub fn built_in() -> Arc<OperatorFamilies> {
        static BUILT_IN: LazyLock<Arc<OperatorFamilies>> = LazyLock::new(Arc::default);
        BUILT_IN.clone()
    }

    /// Reads those of users.
    pub(crate) fn load(reader: &Reader<'_>) -> SqlResult<Arc<OperatorFamilies>> {
        let mut all = OperatorFamilies::default();
        all.load_classes(reader)?;
        all.load_families(reader)?;
        all.load_operators(reader)?;
        all.load_functions(reader)?;
        Ok(if all.has_users() { Arc::new(all) } else { OperatorFamilies::built_in() })
    }

    fn load_classes(&mut self, reader: &Reader<'_>) -> SqlResult<()> {
        use pg_opclass as c;
        users_rows(reader, &c::TABLE, c::PG_OPCLASS_OID_INDEX, |row| {
            let class = UserClass {
                named: Named {
                    name: row.str(c::OPCNAME).into(),
                    schema: row.oid(c::OPCNAMESPACE),
                    method: row.oid(c::OPCMETHOD),
                },
                family: row.oid(c::OPCFAMILY),
                input: row.oid(c::OPCINTYPE),
                default: row.bool(c::OPCDEFAULT),
                key: row.oid(c::OPCKEYTYPE),
            };
            self.classes.insert(row.oid(c::OID), class);
        })
    }

    fn load_families(&mut self, reader: &Reader<'_>) -> SqlResult<()> {
        use pg_opfamily as f;
        users_rows(reader, &f::TABLE, f::PG_OPFAMILY_OID_INDEX, |row| {
            let named = Named {
                name: row.str(f::OPFNAME).into(),
                schema: row.oid(f::OPFNAMESPACE),
                method: row.oid(f::OPFMETHOD),
            };
            self.families.insert(row.oid(f::OID), named);
        })
    }

    fn load_operators(&mut self, reader: &Reader<'_>) -> SqlResult<()> {
        use pg_amop as o;
        users_rows(reader, &o::TABLE, o::PG_AMOP_OID_INDEX, |row| {
            let member = FamilyOperator {
                family: row.oid(o::AMOPFAMILY),
                method: row.oid(o::AMOPMETHOD),
                left: row.oid(o::AMOPLEFTTYPE),
                right: row.oid(o::AMOPRIGHTTYPE),
                strategy: row.int(o::AMOPSTRATEGY) as i16,
                operator: row.oid(o::AMOPOPR),
                sort_family: row.oid(o::AMOPSORTFAMILY),
            };
            self.by_operator.entry(member.operator).or_default().push(member);
            self.by_family.entry(member.family).or_default().push(member);
        })
    }

    fn load_functions(&mut self, reader: &Reader<'_>) -> SqlResult<()> {
        use pg_amproc as p;
        users_rows(reader, &p::TABLE, p::PG_AMPROC_OID_INDEX, |row| {
            let member = FamilyFunction {
                family: row.oid(p::AMPROCFAMILY),
                left: row.oid(p::AMPROCLEFTTYPE),
                right: row.oid(p::AMPROCRIGHTTYPE),
                number: row.int(p::AMPROCNUM) as i16,
                function: row.oid(p::AMPROC),
            };
            self.functions.entry(member.family).or_default().push(member);
        })
    }

    /// Whether users made any, or added to one.
    pub fn has_users(&self) -> bool {
        !(self.classes.is_empty()
            && self.families.is_empty()
            && self.by_family.is_empty()
            && self.functions.is_empty())
    }

    /// The operator class with this OID.
    pub fn class(&self, oid: Oid) -> Option<OperatorClass<'_>> {
        match builtin::operator_class(oid) {
            Some(class) => Some(built_in_class(class)),
            None => self.classes.get(&oid).map(|class| users_class(oid, class)),
        }
    }

    /// The default classes of an access method, of all types.
    pub fn default_classes(&self, method: Oid) -> impl Iterator<Item = OperatorClass<'_>> {
        let users = self.classes.iter().map(|(oid, class)| users_class(*oid, class));
        let users = users.filter(move |class| class.method == method && class.default);
        builtin::default_classes(method).map(built_in_class).chain(users)
    }

    /// The class that an access method has by default for just this type; see [`default_class`] for types whose values other types' classes take.
    pub fn default_class_for(&self, method: Oid, input: Oid) -> Option<OperatorClass<'_>> {
        let users = || self.classes.iter().map(|(oid, class)| users_class(*oid, class));
        let is = |c: &OperatorClass<'_>| c.method == method && c.input == input && c.default;
        builtin::default_class_for(method, input).map(built_in_class).or_else(|| users().find(is))
    }

    /// The operator family with this OID.
    pub fn family(&self, oid: Oid) -> Option<OperatorFamily<'_>> {
        if let Some(family) = builtin::operator_family(oid) {
            let (method, name) = (family.method, family.name);
            return Some(OperatorFamily { oid, method, name, schema: crate::PG_CATALOG });
        }
        let named = self.families.get(&oid)?;
        Some(OperatorFamily { oid, method: named.method, name: &named.name, schema: named.schema })
    }

    /// What an operator is in families of all access methods: built-in ones first.
    pub fn memberships(&self, operator: Oid) -> impl Iterator<Item = FamilyOperator> {
        let users = self.by_operator.get(&operator).into_iter().flatten().copied();
        builtin::memberships(operator).iter().map(|row| FamilyOperator::built_in(row)).chain(users)
    }

    /// What an operator is in families of one access method that search by it.
    pub fn memberships_of(&self, operator: Oid, method: Oid) -> impl Iterator<Item = FamilyOperator> {
        self.memberships(operator).filter(move |member| member.method == method && member.searches())
    }

    /// What an operator is in a family that searches by it.
    pub fn membership(&self, family: Oid, operator: Oid) -> Option<FamilyOperator> {
        self.memberships(operator).find(|member| member.family == family && member.searches())
    }

    /// What an operator is in a family that orders rows by it.
    pub fn ordering_membership(&self, family: Oid, operator: Oid) -> Option<FamilyOperator> {
        self.memberships(operator).find(|member| member.family == family && !member.searches())
    }

    /// The operator of a family with this strategy between these types.
    pub fn operator(&self, family: Oid, (left, right): (Oid, Oid), strategy: i16) -> Option<Oid> {
        if let Some(row) = builtin::family_operator(family, left, right, strategy) {
            return Some(row.operator);
        }
        let members = self.by_family.get(&family)?;
        let is = |m: &&FamilyOperator| (m.left, m.right, m.strategy) == (left, right, strategy);
        members.iter().find(is).map(|member| member.operator)
    }

    /// The operators of a family: built-in ones first.
    pub fn operators_of(&self, family: Oid) -> impl Iterator<Item = FamilyOperator> {
        let users = self.by_family.get(&family).into_iter().flatten().copied();
        builtin::family_operators(family).iter().map(|row| FamilyOperator::built_in(row)).chain(users)
    }

    /// The support function of a family with this number for these types.
    pub fn function(&self, family: Oid, (left, right): (Oid, Oid), number: i16) -> Option<Oid> {
        if let Some(row) = builtin::family_function(family, left, right, number) {
            return Some(row.function);
        }
        let members = self.functions.get(&family)?;
        let is = |m: &&FamilyFunction| (m.left, m.right, m.number) == (left, right, number);
        members.iter().find(is).map(|member| member.function)
    }

    /// The support functions of a family: built-in ones first.
    pub fn functions_of(&self, family: Oid) -> impl Iterator<Item = FamilyFunction> {
        let users = self.functions.get(&family).into_iter().flatten().copied();
        builtin::family_functions(family).iter().map(|row| FamilyFunction::built_in(row)).chain(users)
    }
}

fn built_in_class<'f>(class: &'static OpClass) -> OperatorClass<'f> {
    OperatorClass {
        oid: class.oid,
        method: class.method,
        name: class.name,
        schema: crate::PG_CATALOG,
        family: class.family,
        input: class.input,
        default: class.default,
        key: class.key,
    }
}

fn users_class(oid: Oid, class: &UserClass) -> OperatorClass<'_> {
    OperatorClass {
        oid,
        method: class.named.method,
        name: &class.named.name,
        schema: class.named.schema,
        family: class.family,
        input: class.input,
        default: class.default,
        key: class.key,
    }
}

/// Calls `each` with the rows of a catalog that users made: their OIDs, its first column, are not built-in ones.
fn users_rows(
    reader: &Reader<'_>,
    shape: &SystemTable,
    by_oid: Oid,
    mut each: impl FnMut(&Row),
) -> SqlResult<()> {
    let first_made = index::ScanKey {
        column: 0,
        op: index::ScanOp::Strategy(index::strategy::GREATER_EQUAL, Oid::FIRST_NORMAL.into()),
    };
    reader.visit(shape, by_oid, (vec![first_made], index::Direction::Forward), None, |_, row| {
        each(&row);
        Ok(true)
    })
}

/// The class that an access method has for a type by default: the type's own, or else that of a type that takes its values as they are, a
/// preferred one before others. None, too, where several fit alike.
pub fn default_class<C: CatalogView + ?Sized>(view: &C, method: Oid, ty: Oid) -> SqlResult<Option<Oid>> {
    let base = base_type(view, ty)?;
    let families = view.operator_families()?;
    if let Some(class) = families.default_class_for(method, base) {
        return Ok(Some(class.oid));
    }
    let (mut fitting, mut preferred) = (Vec::new(), Vec::new());
    for class in families.default_classes(method) {
        if binary_coercible(view, base, class.input)? {
            fitting.push(class.oid);
            if types::builtin_type(class.input).is_some_and(|info| info.preferred) {
                preferred.push(class.oid);
            }
        }
    }
    Ok(match (&*preferred, &*fitting) {
        ([class], _) | ([], [class]) => Some(*class),
        _ => None,
    })
}

/// The type under domains.
pub fn base_type<C: CatalogView + ?Sized>(view: &C, ty: Oid) -> SqlResult<Oid> {
    let mut base = ty;
    while let Some(def) = view.type_by_oid(base)? {
        let TypeKind::Domain(domain) = &def.kind else { break };
        base = domain.base;
    }
    Ok(base)
}

/// Whether values of one type are values of the other as they are, without being asked to.
pub fn binary_coercible<C: CatalogView + ?Sized>(view: &C, source: Oid, target: Oid) -> SqlResult<bool> {
    if source == target || matches!(target, oids::any | oids::anyelement | oids::anycompatible) {
        return Ok(true);
    }
    let source = base_type(view, source)?;
    if source == target {
        return Ok(true);
    }
    if let Some(fits) = pseudo_type_takes(view, source, target)? {
        return Ok(fits);
    }
    if let Some(cast) = types::registry::cast(source, target) {
        return Ok(cast.context == CastContext::Implicit && cast.method == CastMethod::Binary);
    }
    Ok(view.cast(source, target)?.is_some_and(|cast| (cast.context, cast.method) == ('i', 'b')))
}

/// Whether a pseudo-type stands for values of this type; none if `target` stands for nothing else.
fn pseudo_type_takes<C: CatalogView + ?Sized>(view: &C, source: Oid, target: Oid) -> SqlResult<Option<bool>> {
    let stands_for: fn(&TypeDef) -> bool = match target {
        oids::anyarray | oids::anycompatiblearray => |def| def.element.is_valid(),
        oids::anynonarray | oids::anycompatiblenonarray => |def| !def.element.is_valid(),
        oids::anyenum => |def| matches!(def.kind, TypeKind::Enum(_)),
        oids::anyrange | oids::anycompatiblerange => |def| matches!(def.kind, TypeKind::Range(_)),
        oids::anymultirange | oids::anycompatiblemultirange => {
            |def| matches!(def.kind, TypeKind::Multirange(_))
        }
        oids::record => |def| matches!(def.kind, TypeKind::Composite(_)),
        oids::_record => {
            let Some(def) = view.type_by_oid(source)? else { return Ok(Some(false)) };
            let element = match def.element.is_valid() {
                true => view.type_by_oid(def.element)?,
                false => None,
            };
            return Ok(Some(element.is_some_and(|def| matches!(def.kind, TypeKind::Composite(_)))));
        }
        _ => return Ok(None),
    };
    Ok(Some(view.type_by_oid(source)?.is_some_and(|def| stands_for(&def))))
}

/// What an operator class of GiST does under the rules of a collation; none if it is not one that there is. A class of a user or of a library is known by its first support
/// function.
pub fn tree_class<C: CatalogView + ?Sized>(
    view: &C,
    class: Oid,
    rules: &'static collation::Rules,
) -> SqlResult<Option<&'static dyn tuple::tree::TreeClass>> {
    if let Some(known) = types::registry::tree_class(built_in_like(view, class, (GIST, 1))?) {
        return Ok(Some(known));
    }
    match of_library(view, class, 1, types::registry::libraries::tree_class)? {
        Some(tree) => Ok(Some(tree.under(rules))),
        None => Ok(nearest_class(view, class)?.map(|tree| tree.under(rules))),
    }
}

/// What an operator class of a library does whose first operator tells a distance: it is known by that operator's function.
fn nearest_class<C: CatalogView + ?Sized>(view: &C, class: Oid) -> SqlResult<Option<Tree>> {
    let families = view.operator_families()?;
    let Some(class) = families.class(class) else { return Ok(None) };
    let operator = families.operator(class.family, (class.input, class.input), 1);
    let Some(operator) = operator.filter(|operator| !operator.is_pinned()) else { return Ok(None) };
    let Some(operator) = view.operator_by_oid(operator)? else { return Ok(None) };
    let function = view.function_by_oid(operator.function)?;
    let symbol = function.as_deref().and_then(crate::view::FunctionDef::symbol);
    Ok(symbol.and_then(|(library, symbol)| types::registry::libraries::nearest_class(library, symbol)))
}

/// What an operator class of GIN does under the rules of a collation, on a column of type `key` or one that compares as that; none if it is not one that there is. A class of
/// a user or of a library is known by its third support function, which takes queries apart.
pub fn parts_class<C: CatalogView + ?Sized>(
    view: &C,
    class: Oid,
    key: Oid,
    rules: &'static collation::Rules,
) -> SqlResult<Option<&'static dyn tuple::parts::PartsClass>> {
    let like = built_in_like(view, class, (GIN, 3))?;
    if let Some(known) = types::registry::parts_class(like, key, rules) {
        return Ok(Some(known));
    }
    Ok(of_library(view, class, 3, types::registry::libraries::parts_class)?.map(|parts| parts.under(rules)))
}

/// The built-in class of an access method that has a support function in common with a class of a user; the class itself if it is built in, or there is none.
fn built_in_like<C: CatalogView + ?Sized>(
    view: &C,
    class: Oid,
    (method, number): (Oid, i16),
) -> SqlResult<Oid> {
    if class.is_pinned() {
        return Ok(class);
    }
    let families = view.operator_families()?;
    let Some(of) = families.class(class) else { return Ok(class) };
    let function = families.function(of.family, (of.input, of.input), number);
    for known in function.into_iter().flat_map(|f| builtin::classes_with_function(method, number, f)) {
        if binary_coercible(view, of.input, known.input)? {
            return Ok(known.oid);
        }
    }
    Ok(class)
}

/// What a library says of the symbol of an operator class's support function with this number.
fn of_library<C: CatalogView + ?Sized, T>(
    view: &C,
    class: Oid,
    number: i16,
    find: impl Fn(&str, &str) -> Option<T>,
) -> SqlResult<Option<T>> {
    let families = view.operator_families()?;
    let Some(class) = families.class(class) else { return Ok(None) };
    let Some(function) = families.function(class.family, (class.input, class.input), number) else {
        return Ok(None);
    };
    let function = view.function_by_oid(function)?;
    let symbol = function.as_deref().and_then(crate::view::FunctionDef::symbol);
    Ok(symbol.and_then(|(library, symbol)| find(library, symbol)))
}

/// How values hash in an operator class of a user or of a library, whose function is one of the server or of that library; none of a built-in class, or if it is not.
pub fn class_hash<C: CatalogView + ?Sized>(
    view: &C,
    class: Oid,
    rules: &'static collation::Rules,
) -> SqlResult<Option<HashBy>> {
    if class.is_pinned() {
        return Ok(None);
    }
    let families = view.operator_families()?;
    let Some(class) = families.class(class) else { return Ok(None) };
    let Some(function) = families.function(class.family, (class.input, class.input), HASH_FUNCTION) else {
        return Ok(None);
    };
    let eval = native(view, function)?;
    Ok(eval.map(|eval| hash_by(eval, class.input, rules)))
}

/// What carries a function out without a session: if it is one of the server, also under a user's name, or of a library.
pub fn native<C: CatalogView + ?Sized>(view: &C, function: Oid) -> SqlResult<Option<Eval>> {
    let of_server = |known: &'static types::Function| match known.imp {
        Imp::Native(eval) => Some(eval),
        _ => None,
    };
    if let Some(known) = types::registry::function(function) {
        return Ok(of_server(known));
    }
    let Some(function) = view.function_by_oid(function)? else { return Ok(None) };
    Ok(match function.internal() {
        Some(known) if function.config.is_empty() && !function.security_definer => of_server(known),
        Some(_) => None,
        None => function.pointer(),
    })
}

/// What a function of an index asks of its session: the rules of the column.
struct Given(&'static collation::Rules);

impl types::Session for Given {
    fn collation_rules(&self, _collation: Oid) -> SqlResult<&'static collation::Rules> {
        Ok(self.0)
    }
}

/// A collation that no catalog has: what it does is [given](Given).
const GIVEN: Oid = Oid(u32::MAX);

/// What a function says of values of a type under the rules of a collation. One is made for each, and stays, as the rules do.
fn hash_by(eval: Eval, input: Oid, rules: &'static collation::Rules) -> HashBy {
    type Hash = &'static (dyn Fn(&Datum) -> u64 + Send + Sync);
    static MADE: Mutex<BTreeMap<(usize, Oid, u32), Hash>> = Mutex::new(BTreeMap::new());
    thread_local! {
        static FORMAT: FormatContext = FormatContext::default();
    }
    let make = || -> Hash {
        Box::leak(Box::new(move |value: &Datum| {
            FORMAT.with(|format| {
                let (session, types) = (Given(rules), [input]);
                let call = Call::new(format).with_session(&session).with_types(&types, oids::int4);
                // Values for which the function fails get one code; the row is rechecked anyway.
                match eval(&call.with_collation(GIVEN), std::slice::from_ref(value)) {
                    Ok(Datum::Int4(code)) => u64::from(code as u32),
                    _ => 0,
                }
            })
        }))
    };
    HashBy::By(*MADE.lock().entry((eval as usize, input, rules.number())).or_insert_with(make))
}

/// The function that tells the order of values of the type `input` in an operator family, unless it is the one by which values of that type compare anyway. Such an order
/// is [asked](types::asked).
pub fn asked_order<C: CatalogView + ?Sized>(view: &C, family: Oid, input: Oid) -> SqlResult<Option<Oid>> {
    let families = view.operator_families()?;
    let Some(function) = families.function(family, (input, input), ORDER_FUNCTION) else { return Ok(None) };
    if family.is_pinned() && function.is_pinned() {
        return Ok(None);
    }
    let compared = match types::registry::function(function) {
        Some(known) => types::registry::type_compared_by(known.oid),
        None => view.function_by_oid(function)?.and_then(|def| crate::names::compared_by(&def)),
    };
    let own = match view.type_by_oid(input)?.as_deref().map(|def| &def.kind) {
        Some(TypeKind::Like(like)) => like.order,
        _ => types::registry::operand_type(input),
    };
    Ok((compared != Some(own)).then_some(function))
}

/// The function that orders values of a type by default, and the type that it takes, if the order is [asked](asked_order).
pub fn default_order<C: CatalogView + ?Sized>(view: &C, ty: Oid) -> SqlResult<Option<(Oid, Oid)>> {
    if types::builtin_type(ty).is_some() {
        return Ok(None);
    }
    let families = view.operator_families()?;
    let base = base_type(view, ty)?;
    let class = families.default_class_for(types::registry::ORDERING_METHOD, base);
    let Some(class) = class.filter(|class| !class.oid.is_pinned()) else { return Ok(None) };
    let function = asked_order(view, class.family, class.input)?;
    Ok(function.map(|function| (function, class.input)))
}

/// The order of an operator class under a collation, 0 for none, if it is [asked](asked_order).
pub fn class_order<C: CatalogView + ?Sized>(
    view: &C,
    class: Oid,
    collation: Oid,
) -> SqlResult<Option<&'static UserOrder>> {
    if class.is_pinned() {
        return Ok(None);
    }
    let families = view.operator_families()?;
    let Some(class) = families.class(class) else { return Ok(None) };
    let function = asked_order(view, class.family, class.input)?;
    Ok(function.map(|function| UserOrder::of(function, class.input, collation)))
}

/// Options that indexes may give an operator class.
pub fn class_options<C: CatalogView + ?Sized>(view: &C, class: Oid) -> SqlResult<&'static [ClassOption]> {
    let known = crate::load::summary_options(class);
    if !known.is_empty() {
        return Ok(known);
    }
    Ok(tree_class(view, class, &collation::C)?.map_or(&[], |tree| tree.options()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use types::registry::{HASHING_METHOD, ORDERING_METHOD};

    #[test]
    fn built_in_members_need_no_catalog() {
        let families = OperatorFamilies::built_in();
        let class = families.class(Oid(1978)).unwrap();
        assert_eq!((class.name, class.method, class.input), ("int4_ops", ORDERING_METHOD, oids::int4));
        assert_eq!(families.family(class.family).unwrap().name, "integer_ops");
        let less = families.operator(class.family, (oids::int4, oids::int8), 1).unwrap();
        assert_eq!(families.membership(class.family, less).map(|m| (m.left, m.right)), {
            Some((oids::int4, oids::int8))
        });
        assert_eq!(families.function(class.family, (oids::int4, oids::int4), 1), Some(Oid(351)));
        assert_eq!(families.function(class.family, (oids::int4, oids::int4), 9), None);
        let equal = families.operator(class.family, (oids::int4, oids::int4), 3).unwrap();
        let methods: Vec<Oid> = families.memberships(equal).map(|m| m.method).collect();
        assert_eq!(methods[..2], [ORDERING_METHOD, HASHING_METHOD]);
        assert!(!families.has_users());
    }
}
