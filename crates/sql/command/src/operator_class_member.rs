//! # What
//! Operators and functions in operator classes and families: which an access method takes, and what depends on what.
//!
//! # PostgreSQL counterpart
//! `commands/opclasscmds.c`, `amadjustmembers` of the access methods.

use base::{Oid, SqlError, SqlResult, SqlState, sql_err};
use catalog::change::{Behavior, FamilyMember};
use catalog::system::{pg_opclass, pg_operator, pg_proc};
use catalog::{Row, RowExt};
use parse::ast::{Name, ObjectKind, ObjectWithArgs, OperatorClassItem, TypeName};
use session::Session;
use types::oids;
use types::registry::{HASHING_METHOD, ORDERING_METHOD};

use super::{operator, operator_class, routine_name};

/// What an access method says of its classes.
struct Method {
    oid: Oid,
    /// The greatest strategy number.
    strategies: i32,
    /// The greatest support number.
    functions: i32,
    /// The support function that parses a class's options.
    options: i32,
    /// Indexes may store another type than the column's.
    storage: bool,
    /// It can return rows in the order of an operator's results.
    ordering: bool,
}

const fn method(oid: u32, strategies: i32, functions: i32, options: i32) -> Method {
    Method { oid: Oid(oid), strategies, functions, options, storage: false, ordering: false }
}

/// Strategies of a method that leaves their meaning to each class.
const ANY: i32 = i16::MAX as i32;

const METHODS: [Method; 8] = [
    method(ORDERING_METHOD.0, 5, 6, 5),
    method(HASHING_METHOD.0, 1, 3, 3),
    Method { storage: true, ordering: true, ..method(783, ANY, 12, 10) },
    Method { storage: true, ..method(2742, ANY, 7, 7) },
    Method { storage: true, ordering: true, ..method(4000, ANY, 7, 6) },
    Method { storage: true, ..method(3580, ANY, 15, 5) },
    // HNSW and IVFFlat, as an extension brings them: a class has one operator, which tells a distance.
    Method { ordering: true, ..method(9990, ANY, 3, 0) },
    Method { ordering: true, ..method(9991, ANY, 5, 0) },
];

/// The family that gets or loses members.
pub(super) struct Family<'a> {
    pub(super) oid: Oid,
    pub(super) method: Oid,
    pub(super) method_name: &'a str,
    /// The type of the class that is made; 0 in ALTER OPERATOR FAMILY.
    pub(super) input: Oid,
}

impl Family<'_> {
    fn facts(&self, session: &Session) -> SqlResult<&'static Method> {
        facts(session, self.method)?.ok_or_else(|| {
            SqlError::not_supported(format!("operator class for access method \"{}\"", self.method_name))
        })
    }
}

/// What is known of an access method: one of a user is what its handler is.
fn facts(session: &Session, method: Oid) -> SqlResult<Option<&'static Method>> {
    let known = |oid: Oid| METHODS.iter().find(|m| m.oid == oid);
    match known(method) {
        Some(method) => Ok(Some(method)),
        None => Ok(known(session.with_reader(|reader| reader.index_method(method))?.oid)),
    }
}

/// The number of the support function that parses the options of a class.
pub(super) fn options_function(session: &Session, method: Oid) -> SqlResult<Option<i16>> {
    Ok(facts(session, method)?.and_then(|method| i16::try_from(method.options).ok()))
}

/// What a statement adds to a family, or takes from it.
#[derive(Default)]
pub(super) struct Members {
    list: Vec<FamilyMember>,
    storage: Option<Oid>,
}

fn wrong(message: impl Into<String>) -> SqlError {
    SqlError::new(SqlState::INVALID_OBJECT_DEFINITION, message)
}

/// `(integer,smallint)`
fn pair(session: &Session, member: &FamilyMember) -> String {
    let [left, right] = [member.left, member.right].map(|t| analyze::names::format_type(session, t, None));
    format!("({left},{right})")
}

fn word(member: &FamilyMember) -> &'static str {
    if member.is_function { "function" } else { "operator" }
}

impl Members {
    /// Reads what CREATE OPERATOR CLASS and ALTER OPERATOR FAMILY ... ADD say.
    pub(super) fn read(
        session: &Session,
        of: &Family<'_>,
        items: &[OperatorClassItem],
        text: &str,
    ) -> SqlResult<Members> {
        let facts = of.facts(session)?;
        let mut members = Members::default();
        for item in items {
            match item {
                OperatorClassItem::Operator { number, operator: Some(named), sort_family, .. } => {
                    check_number("operator", *number, facts.strategies)?;
                    let member = operator_member(session, (of, facts), (*number, named), sort_family)?;
                    members.push(session, member)?;
                }
                OperatorClassItem::Function { number, function: Some(named), types } => {
                    check_number("function", *number, facts.functions)?;
                    let types = given_types(session, types, text)?;
                    let member = function_member(session, (of, facts), (*number, named), types)?;
                    members.push(session, member)?;
                }
                OperatorClassItem::Storage(_) if !of.input.is_valid() => {
                    let message = "STORAGE cannot be specified in ALTER OPERATOR FAMILY";
                    return Err(SqlError::new(SqlState::SYNTAX_ERROR, message));
                }
                OperatorClassItem::Storage(_) if members.storage.is_some() => {
                    return Err(wrong("storage type specified more than once"));
                }
                OperatorClassItem::Storage(ty) => {
                    members.storage = Some(operator::type_oid(session, ty, text)?);
                }
                _ => return Err(SqlError::internal("a member of an operator class without a name")),
            }
        }
        Ok(members)
    }

    /// Reads what ALTER OPERATOR FAMILY ... DROP says.
    pub(super) fn read_dropped(
        session: &Session,
        of: &Family<'_>,
        items: &[OperatorClassItem],
        text: &str,
    ) -> SqlResult<Members> {
        let facts = of.facts(session)?;
        let mut members = Members::default();
        for item in items {
            let (is_function, number, types) = match item {
                OperatorClassItem::Operator { number, types, .. } => {
                    check_number("operator", *number, facts.strategies)?;
                    (false, number, types)
                }
                OperatorClassItem::Function { number, types, .. } => {
                    check_number("function", *number, facts.functions)?;
                    (true, number, types)
                }
                OperatorClassItem::Storage(_) => return Err(SqlError::internal("DROP of a storage type")),
            };
            let [left, right] = given_types(session, types, text)?;
            let number = *number as i16;
            let (object, sort_family, class) = (Oid::INVALID, Oid::INVALID, Oid::INVALID);
            let member = FamilyMember { is_function, object, number, left, right, sort_family, class };
            members.push(session, member)?;
        }
        Ok(members)
    }

    fn push(&mut self, session: &Session, new: FamilyMember) -> SqlResult<()> {
        let same = |old: &&FamilyMember| {
            (old.is_function, old.number, old.left, old.right)
                == (new.is_function, new.number, new.left, new.right)
        };
        if self.list.iter().find(same).is_some() {
            let types = pair(session, &new);
            let message = format!("{} number {} for {types} appears more than once", word(&new), new.number);
            return Err(wrong(message));
        }
        self.list.push(new);
        Ok(())
    }

    /// The type that an index stores; 0 if it is the class's.
    pub(super) fn stored_type(&self, session: &Session, of: &Family<'_>) -> SqlResult<Oid> {
        match self.storage {
            Some(ty) if ty != of.input && !of.facts(session)?.storage => Err(wrong(format!(
                "storage type cannot be different from data type for access method \"{}\"",
                of.method_name
            ))),
            Some(ty) if ty != of.input => Ok(ty),
            _ => Ok(Oid::INVALID),
        }
    }

    /// Puts them into the family. `made`: the class that is being made with them, or 0, and the name that messages show.
    pub(super) fn add(self, session: &Session, of: &Family<'_>, made: (Oid, &str)) -> SqlResult<()> {
        for mut member in self.list {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            let key = (member.number, member.left, member.right);
            let taken = session.with_reader(|r| r.family_member(of.oid, member.is_function, key))?;
            if taken.is_some() {
                return Err(sql_err!(
                    DUPLICATE_OBJECT,
                    "{} {}{} already exists in operator family \"{}\"",
                    word(&member),
                    member.number,
                    pair(session, &member),
                    made.1
                ));
            }
            member.class = owning_class(session, of, made.0, &member)?;
            session.with_changer(|changer| changer.add_family_member(of.oid, of.method, &member))?;
        }
        Ok(())
    }

    /// Takes them out of the family.
    pub(super) fn remove(self, session: &Session, of: &Family<'_>, name: &str) -> SqlResult<()> {
        for member in self.list {
            let key = (member.number, member.left, member.right);
            let found = session.with_reader(|r| r.family_member(of.oid, member.is_function, key))?;
            let Some((address, _)) = found else {
                return Err(sql_err!(
                    UNDEFINED_OBJECT,
                    "{} {}{} does not exist in operator family \"{name}\"",
                    word(&member),
                    member.number,
                    pair(session, &member)
                ));
            };
            session.with_changer(|changer| changer.drop_objects(&[address], Behavior::Restrict))?;
        }
        Ok(())
    }
}

fn check_number(what: &str, number: i32, greatest: i32) -> SqlResult<()> {
    if (1..=greatest).contains(&number) {
        return Ok(());
    }
    Err(wrong(format!("invalid {what} number {number}, must be between 1 and {greatest}")))
}

/// The types that a member is said to be for; 0 where none is.
fn given_types(session: &Session, types: &[TypeName], text: &str) -> SqlResult<[Oid; 2]> {
    let oid = |t: &TypeName| operator::type_oid(session, t, text);
    match types {
        [] => Ok([Oid::INVALID; 2]),
        [one] => oid(one).map(|t| [t, t]),
        [left, right] => Ok([oid(left)?, oid(right)?]),
        _ => Err(SqlError::new(SqlState::SYNTAX_ERROR, "one or two argument types must be specified")),
    }
}

fn operator_member(
    session: &Session,
    (of, facts): (&Family<'_>, &Method),
    (number, named): (i32, &ObjectWithArgs),
    sort_family: &Option<Name>,
) -> SqlResult<FamilyMember> {
    let [left, right] = match named.args.as_slice() {
        [] if !of.input.is_valid() => {
            let message = "operator argument types must be specified in ALTER OPERATOR FAMILY";
            return Err(SqlError::new(SqlState::SYNTAX_ERROR, message));
        }
        [] => [of.input; 2],
        args => {
            let mut types = [Oid::INVALID; 2];
            for (slot, arg) in types.iter_mut().zip(args) {
                *slot = arg.as_ref().map_or(Ok(Oid::INVALID), |arg| routine_name::resolve(session, arg))?;
            }
            types
        }
    };
    let object = operator::existing(session, &named.name, [left, right])?;
    let sort_family = match sort_family {
        Some(name) => operator_class::family(session, name, (ORDERING_METHOD, "btree"))?,
        None => Oid::INVALID,
    };
    let index = pg_operator::PG_OPERATOR_OID_INDEX;
    let row = session.with_reader(|r| r.find_one(&pg_operator::TABLE, index, &[object.into()]))?;
    let (_, row) = row.ok_or_else(|| SqlError::internal(format!("operator {object} is gone")))?;
    if row.char(pg_operator::OPRKIND) != b'b' {
        return Err(wrong("index operators must be binary"));
    }
    if sort_family.is_valid() && !facts.ordering {
        let message = format!("access method \"{}\" does not support ordering operators", of.method_name);
        return Err(wrong(message));
    }
    if !sort_family.is_valid() && row.oid(pg_operator::OPRRESULT) != oids::bool {
        return Err(wrong("index search operators must return boolean"));
    }
    let (left, right) = (row.oid(pg_operator::OPRLEFT), row.oid(pg_operator::OPRRIGHT));
    let (number, class) = (number as i16, Oid::INVALID);
    Ok(FamilyMember { is_function: false, object, number, left, right, sort_family, class })
}

/// What a support function takes and gives.
struct Signature {
    args: Vec<Oid>,
    result: Oid,
}

impl Signature {
    fn of(row: &Row) -> Signature {
        Signature { args: catalog::oids_of(&row[pg_proc::PROARGTYPES]), result: row.oid(pg_proc::PRORETTYPE) }
    }

    /// Requires a number of arguments and a result; `what` stands before both complaints.
    fn require(&self, what: &str, count: usize, result: Oid, result_name: &str) -> SqlResult<()> {
        if self.args.len() != count {
            let words = ["no", "one", "two", "three", "four", "five"];
            let argument = if count == 1 { "argument" } else { "arguments" };
            return Err(wrong(format!("{what} must have {} {argument}", words[count])));
        }
        self.require_result(what, result, result_name)
    }

    fn require_result(&self, what: &str, result: Oid, result_name: &str) -> SqlResult<()> {
        match self.result == result {
            true => Ok(()),
            false => Err(wrong(format!("{what} must return {result_name}"))),
        }
    }

    fn require_internal(&self, what: &str) -> SqlResult<()> {
        if self.args != [oids::internal] {
            return Err(wrong(format!("{what} must accept type \"internal\"")));
        }
        self.require_result(what, oids::void, "void")
    }
}

fn function_member(
    session: &Session,
    (of, facts): (&Family<'_>, &Method),
    (number, named): (i32, &ObjectWithArgs),
    given: [Oid; 2],
) -> SqlResult<FamilyMember> {
    let object = routine_name::find(session, ObjectKind::Function, named)?.oid;
    let row = session.with_reader(|r| r.routine_row(object))?;
    let row = row.ok_or_else(|| SqlError::internal(format!("function {object} is gone")))?;
    let signature = Signature::of(&row);
    let inferred = match of.method {
        _ if number == facts.options => check_options(of, &signature, given)?,
        ORDERING_METHOD => btree_types(number, &signature, given)?,
        HASHING_METHOD => hash_types(number, &signature)?,
        _ => [Oid::INVALID; 2],
    };
    let choose = |given: Oid, inferred: Oid| {
        [given, inferred, of.input].into_iter().find(|t| t.is_valid()).unwrap_or_default()
    };
    let [left, right] = [choose(given[0], inferred[0]), choose(given[1], inferred[1])];
    if !left.is_valid() || !right.is_valid() {
        return Err(wrong("associated data types must be specified for index support function"));
    }
    let (number, sort_family, class) = (number as i16, Oid::INVALID, Oid::INVALID);
    Ok(FamilyMember { is_function: true, object, number, left, right, sort_family, class })
}

/// The function that parses options of a class.
fn check_options(of: &Family<'_>, signature: &Signature, given: [Oid; 2]) -> SqlResult<[Oid; 2]> {
    if of.input.is_valid() {
        if given.iter().any(|t| t.is_valid() && *t != of.input) {
            return Err(wrong(
                "associated data types for operator class options parsing functions must match opclass input type",
            ));
        }
    } else if given[0] != given[1] {
        return Err(wrong(
            "left and right associated data types for operator class options parsing functions must match",
        ));
    }
    if signature.result != oids::void || signature.args != [oids::internal] {
        return Err(wrong("invalid operator class options parsing function")
            .hint("Valid signature of operator class options parsing function is (internal) RETURNS void."));
    }
    Ok([Oid::INVALID; 2])
}

/// The types that a support function of a B-tree is for, as its arguments tell.
fn btree_types(number: i32, signature: &Signature, given: [Oid; 2]) -> SqlResult<[Oid; 2]> {
    let none = [Oid::INVALID; 2];
    let one_type = |what: &str| match given[0] == given[1] {
        true => Ok(none),
        false => Err(wrong(format!("{what} must not be cross-type"))),
    };
    match number {
        1 => {
            signature.require("ordering comparison functions", 2, oids::int4, "integer")?;
            Ok([signature.args[0], signature.args[1]])
        }
        2 => {
            signature.require_internal("ordering sort support functions")?;
            Ok(none)
        }
        3 => {
            signature.require("ordering in_range functions", 5, oids::bool, "boolean")?;
            Ok([signature.args[0], signature.args[2]])
        }
        4 => {
            signature.require("ordering equal image functions", 1, oids::bool, "boolean")?;
            one_type("ordering equal image functions")
        }
        _ => {
            signature.require_internal("btree skip support functions")?;
            one_type("btree skip support functions")
        }
    }
}

/// The same for hashing.
fn hash_types(number: i32, signature: &Signature) -> SqlResult<[Oid; 2]> {
    match number {
        1 => signature.require("hash function 1", 1, oids::int4, "integer")?,
        _ => signature.require("hash function 2", 2, oids::int8, "bigint")?,
    }
    Ok([signature.args[0]; 2])
}

/// The class that cannot be without a member; 0 if the family has it by itself: what serves several types, or is optional.
fn owning_class(session: &Session, of: &Family<'_>, made: Oid, member: &FamilyMember) -> SqlResult<Oid> {
    if of.method != ORDERING_METHOD && of.method != HASHING_METHOD {
        return Ok(made);
    }
    let optional = member.is_function && member.number != 1;
    if optional || member.left != member.right {
        return Ok(Oid::INVALID);
    }
    if member.left == of.input && made.is_valid() {
        return Ok(made);
    }
    use pg_opclass as c;
    let all = session.with_reader(|r| r.scan(&c::TABLE))?;
    let class = all.iter().map(|(_, row)| row).find(|row| {
        row.oid(c::OPCMETHOD) == of.method
            && row.oid(c::OPCFAMILY) == of.oid
            && row.oid(c::OPCINTYPE) == member.left
    });
    Ok(class.map_or(Oid::INVALID, |row| row.oid(c::OID)))
}
