//! Options of operator classes: what a class takes (`gist_trgm_ops (siglen = 32)`), and what an index says.

/// An option of an operator class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClassOption {
    /// Its name.
    pub name: &'static str,
    /// Its values.
    pub kind: ClassOptionKind,
}

/// What an option may be, and what it is if nothing is said.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ClassOptionKind {
    /// Whole numbers, from the least to the most.
    Int {
        /// Without the option.
        default: i64,
        /// The smallest.
        least: i64,
        /// The greatest.
        most: i64,
        /// What they are multiples of.
        step: i64,
    },
    /// Numbers, from the least to the most.
    Real {
        /// Without the option.
        default: f64,
        /// The smallest.
        least: f64,
        /// The greatest.
        most: f64,
    },
}

/// The options of a class with their values: those that an index gives, and the defaults of all others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClassOptions(Vec<(&'static str, Value)>);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Value {
    Int(i64),
    Real(f64),
}

impl ClassOptions {
    /// Reads what an index says by name; what no class would take counts as not said.
    pub fn read(known: &[ClassOption], said: &[(String, String)]) -> ClassOptions {
        let value = |option: &ClassOption| {
            let said = said.iter().find(|(name, _)| name == option.name).map(|(_, value)| value.trim());
            let value = match option.kind {
                ClassOptionKind::Int { default, least, most, step } => {
                    let said = said.and_then(|text| text.parse().ok());
                    Value::Int(
                        said.filter(|n| (least..=most).contains(n) && n % step == 0).unwrap_or(default),
                    )
                }
                ClassOptionKind::Real { default, least, most } => {
                    let said = said.and_then(|text| text.parse().ok());
                    Value::Real(said.filter(|n| (least..=most).contains(n)).unwrap_or(default))
                }
            };
            (option.name, value)
        };
        ClassOptions(known.iter().map(value).collect())
    }

    fn value(&self, name: &str) -> Option<Value> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    /// A whole number; 0 of an option that the class does not have.
    pub fn int(&self, name: &str) -> i64 {
        match self.value(name) {
            Some(Value::Int(n)) => n,
            _ => 0,
        }
    }

    /// A number; 0 of an option that the class does not have.
    pub fn real(&self, name: &str) -> f64 {
        match self.value(name) {
            Some(Value::Real(n)) => n,
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_said_is_the_default() {
        const KNOWN: &[ClassOption] = &[
            ClassOption {
                name: "siglen",
                kind: ClassOptionKind::Int { default: 12, least: 1, most: 2024, step: 1 },
            },
            ClassOption {
                name: "rate",
                kind: ClassOptionKind::Real { default: 0.01, least: 0.0, most: 0.25 },
            },
        ];
        let read = |name: &str, value: &str| ClassOptions::read(KNOWN, &[(name.into(), value.into())]);
        assert_eq!(read("siglen", "32").int("siglen"), 32);
        assert_eq!(read("siglen", "4000").int("siglen"), 12);
        assert_eq!(read("rate", " 0.1 ").real("rate"), 0.1);
        assert_eq!(read("rate", "x").real("rate"), 0.01);
        assert_eq!((read("a", "1").int("a"), read("a", "1").int("siglen")), (0, 12));
    }
}
