//! # What
//! `amvalidate`: whether an operator class has what its access method needs of it and of its family. What is wrong is told as INFO.
//!
//! # PostgreSQL counterpart
//! `amvalidate` of the access methods (`nbtvalidate.c`, `hashvalidate.c`, `ginvalidate.c`).

use std::collections::BTreeMap;

use base::{Oid, Severity, SqlError, SqlResult, SqlState};
use catalog::families::{FamilyFunction, FamilyOperator, OperatorClass, OperatorFamilies};
use catalog::system::pg_proc;
use catalog::{CatalogView, RowExt, families};
use types::oids;
use types::registry::{HASHING_METHOD, ORDERING_METHOD};

use crate::Session;

/// What an access method with fixed strategies needs.
struct Rules {
    name: &'static str,
    /// The greatest strategy number. Each pair of types is to have all.
    strategies: i16,
    /// The greatest support number.
    functions: i16,
}

const RULES: [(Oid, Rules); 2] = [
    (ORDERING_METHOD, Rules { name: "btree", strategies: 5, functions: 6 }),
    (HASHING_METHOD, Rules { name: "hash", strategies: 1, functions: 3 }),
];

/// The access method GIN.
const GIN: Oid = Oid(2742);

/// Support functions of GIN, by number.
mod gin {
    pub const COMPARE: i16 = 1;
    pub const VALUE: i16 = 2;
    pub const QUERY: i16 = 3;
    pub const CONSISTENT: i16 = 4;
    pub const PARTIAL: i16 = 5;
    pub const TERNARY: i16 = 6;
    pub const OPTIONS: i16 = 7;
    /// The greatest strategy number.
    pub const STRATEGIES: i16 = 63;
}

/// What a family has for two types: bits by strategy and by support number.
#[derive(Clone, Copy, Default)]
struct Group {
    operators: u64,
    functions: u64,
}

/// One check of a class.
struct Check<'s> {
    session: &'s Session,
    rules: &'s Rules,
    class: OperatorClass<'s>,
    family: String,
    valid: bool,
}

impl Session {
    /// Whether an operator class is whole; of access methods whose strategies each class defines, nothing more is known.
    pub(super) fn operator_class_is_whole(&self, oid: Oid) -> SqlResult<bool> {
        let families = self.operator_families()?;
        let unknown = || SqlError::internal(format!("cache lookup failed for operator class {oid}"));
        let class = families.class(oid).ok_or_else(unknown)?;
        if class.method == GIN {
            return self.parts_class_is_whole(class, &families);
        }
        let Some((_, rules)) = RULES.iter().find(|(method, _)| *method == class.method) else {
            return Ok(true);
        };
        let family = families.family(class.family).map_or(String::new(), |family| family.name.to_owned());
        Check { session: self, rules, class, family, valid: true }.run(&families)
    }
}

impl Session {
    /// Whether an operator class of GIN is whole.
    fn parts_class_is_whole(&self, class: OperatorClass<'_>, families: &OperatorFamilies) -> SqlResult<bool> {
        let family = families.family(class.family).map_or(String::new(), |family| family.name.to_owned());
        let rules = &Rules { name: "gin", strategies: gin::STRATEGIES, functions: gin::OPTIONS };
        let mut check = Check { session: self, rules, class, family, valid: true };
        let mut own = 0_u64;
        for function in families.functions_of(class.family) {
            if function.left != function.right {
                let what = format!(
                    "contains support procedure {} with different left and right input types",
                    function.function
                );
                check.wrong(&what);
            }
            // What a function takes depends on the class.
            if function.left == class.input {
                own |= 1 << function.number;
                check.check_parts_function(&function)?;
            }
        }
        for operator in families.operators_of(class.family) {
            check.check_operator(&operator)?;
        }
        let has = |number: i16| own & 1 << number != 0;
        let mut missing = |what: String| {
            check.tell(format!(
                "operator class \"{}\" of access method gin is missing support function {what}",
                class.name
            ));
        };
        for number in [gin::VALUE, gin::QUERY].into_iter().filter(|number| !has(*number)) {
            missing(number.to_string());
        }
        if !has(gin::CONSISTENT) && !has(gin::TERNARY) {
            missing(format!("{} or {}", gin::CONSISTENT, gin::TERNARY));
        }
        Ok(check.valid)
    }
}

impl Check<'_> {
    /// Whether a support function of GIN takes and gives what it is to: some may leave out arguments at the end.
    fn check_parts_function(&mut self, member: &FamilyFunction) -> SqlResult<()> {
        use oids::{int2, int4, internal};
        let Some(row) = self.session.with_reader(|r| r.routine_row(member.function))? else { return Ok(()) };
        let (args, result) = (catalog::oids_of(&row[pg_proc::PROARGTYPES]), row.oid(pg_proc::PRORETTYPE));
        let value = self.class.input;
        let key = if self.class.key.is_valid() { self.class.key } else { value };
        let (expected, least, wanted) = match member.number {
            gin::COMPARE => (int4, 2, vec![key, key]),
            gin::VALUE => (internal, 2, vec![value, internal, internal]),
            gin::QUERY => (internal, 5, vec![value, internal, int2, internal, internal, internal, internal]),
            gin::CONSISTENT => {
                (oids::bool, 6, vec![internal, int2, value, int4, internal, internal, internal, internal])
            }
            gin::PARTIAL => (int4, 4, vec![key, key, int2, internal]),
            gin::TERNARY => (oids::char, 7, vec![internal, int2, value, int4, internal, internal, internal]),
            gin::OPTIONS => (oids::void, 1, vec![internal]),
            number => {
                self.wrong(&format!(
                    "contains function {} with invalid support number {number}",
                    member.function
                ));
                return Ok(());
            }
        };
        let mut fits = result == expected && (least..=wanted.len()).contains(&args.len());
        for (arg, wanted) in args.iter().zip(&wanted) {
            fits &= families::binary_coercible(self.session, *wanted, *arg)?;
        }
        if !fits {
            let what = format!(
                "contains function {} with wrong signature for support number {}",
                member.function, member.number
            );
            self.wrong(&what);
        }
        Ok(())
    }

    fn run(mut self, families: &OperatorFamilies) -> SqlResult<bool> {
        let mut groups: BTreeMap<(Oid, Oid), Group> = BTreeMap::new();
        for function in families.functions_of(self.class.family) {
            if (1..=self.rules.functions).contains(&function.number) {
                groups.entry((function.left, function.right)).or_default().functions |= 1 << function.number;
            }
            self.check_function(&function)?;
        }
        for operator in families.operators_of(self.class.family) {
            if (1..=self.rules.strategies).contains(&operator.strategy) {
                groups.entry((operator.left, operator.right)).or_default().operators |=
                    1 << operator.strategy;
            }
            self.check_operator(&operator)?;
        }
        let all: u64 = (1..=self.rules.strategies).map(|strategy| 1 << strategy).sum();
        for ((left, right), group) in &groups {
            // What only in_range knows is no pair of types that is compared.
            if self.class.method == ORDERING_METHOD && group.operators == 0 && group.functions == 1 << 3 {
                continue;
            }
            let between = || format!("{} and {}", self.shown(*left), self.shown(*right));
            if group.operators != all {
                let types = between();
                self.wrong(&format!("is missing operator(s) for types {types}"));
            } else if self.class.method == ORDERING_METHOD && group.functions & (1 << 1) == 0 {
                let types = between();
                self.wrong(&format!("is missing support function for types {types}"));
            }
        }
        let own = groups.get(&(self.class.input, self.class.input)).copied().unwrap_or_default();
        // Values are hashed with a seed or without, and partitions need no more than the first.
        let needed = if self.class.method == ORDERING_METHOD { 1 << 1 } else { 1 << 1 | 1 << 2 };
        if own.operators != all || own.functions & needed == 0 {
            let message = format!(
                "operator class \"{}\" of access method {} is missing {}",
                self.class.name,
                self.rules.name,
                if own.operators == all { "support function 1" } else { "operator(s)" }
            );
            self.tell(message);
        }
        Ok(self.valid)
    }

    fn check_function(&mut self, member: &FamilyFunction) -> SqlResult<()> {
        let row = self.session.with_reader(|r| r.routine_row(member.function))?;
        let Some(row) = row else { return Ok(()) };
        let (args, result) = (catalog::oids_of(&row[pg_proc::PROARGTYPES]), row.oid(pg_proc::PRORETTYPE));
        let (left, right) = (member.left, member.right);
        let ordering = self.class.method == ORDERING_METHOD;
        let (expected, wanted) = match (ordering, member.number) {
            (true, 1) => (oids::int4, vec![left, right]),
            (true, 2) | (true, 5..=6) | (false, 3) => (oids::void, vec![oids::internal]),
            (true, 3) => (oids::bool, vec![left, left, right, oids::bool, oids::bool]),
            (true, 4) => (oids::bool, vec![oids::oid]),
            (false, 1) => (oids::int4, vec![left]),
            (false, 2) => (oids::int8, vec![left, oids::int8]),
            _ => {
                let what = format!(
                    "contains function {} with invalid support number {}",
                    member.function, member.number
                );
                self.wrong(&what);
                return Ok(());
            }
        };
        let mut fits = result == expected && args.len() == wanted.len();
        for (arg, wanted) in args.iter().zip(&wanted) {
            // A hash function may be that of a type whose values hash alike.
            fits &= arg == wanted || !ordering || families::binary_coercible(self.session, *wanted, *arg)?;
        }
        if !ordering && left != right {
            let what = format!(
                "contains support function {} with different left and right input types",
                member.function
            );
            self.wrong(&what);
        }
        if !fits {
            let what = format!(
                "contains function {} with wrong signature for support number {}",
                member.function, member.number
            );
            self.wrong(&what);
        }
        Ok(())
    }

    fn check_operator(&mut self, member: &FamilyOperator) -> SqlResult<()> {
        if !(1..=self.rules.strategies).contains(&member.strategy) {
            let what = format!(
                "contains operator {} with invalid strategy number {}",
                member.operator, member.strategy
            );
            self.wrong(&what);
        }
        if !member.searches() {
            self.wrong(&format!("contains invalid ORDER BY specification for operator {}", member.operator));
        }
        let index = catalog::system::pg_operator::PG_OPERATOR_OID_INDEX;
        let table = &catalog::system::pg_operator::TABLE;
        let row = self.session.with_reader(|r| r.find_one(table, index, &[member.operator.into()]))?;
        let result = row.map(|(_, row)| row.oid(catalog::system::pg_operator::OPRRESULT));
        if result.is_some_and(|result| result != oids::bool) {
            self.wrong(&format!("contains operator {} with wrong signature", member.operator));
        }
        Ok(())
    }

    fn shown(&self, ty: Oid) -> String {
        analyze::names::format_type(self.session, ty, None)
    }

    fn wrong(&mut self, what: &str) {
        self.tell(format!("operator family \"{}\" of access method {} {what}", self.family, self.rules.name));
    }

    fn tell(&mut self, message: String) {
        self.valid = false;
        let code = SqlState::INVALID_OBJECT_DEFINITION;
        self.session.notice(SqlError::with_severity(Severity::Info, code, message));
    }
}
