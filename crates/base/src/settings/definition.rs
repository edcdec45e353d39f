//! What a setting is: type, bounds, unit, who may change it when, and what it does.

use super::value::Value;
use crate::{SqlResult, sql_err};

/// When a setting may change, and who may change it. Ordered from the strictest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Context {
    /// Never: reports a fact.
    Internal,
    /// At server start.
    Postmaster,
    /// By reloading the configuration.
    Sighup,
    /// As the session starts, by a superuser.
    SuperuserBackend,
    /// As the session starts.
    Backend,
    /// At any time, by a superuser.
    Superuser,
    /// At any time.
    User,
}

impl Context {
    /// The word in `pg_settings.context`.
    pub fn as_str(self) -> &'static str {
        match self {
            Context::Internal => "internal",
            Context::Postmaster => "postmaster",
            Context::Sighup => "sighup",
            Context::SuperuserBackend => "superuser-backend",
            Context::Backend => "backend",
            Context::Superuser => "superuser",
            Context::User => "user",
        }
    }
}

/// What an integer or real counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nothing in particular.
    None,
    /// Bytes.
    Bytes,
    /// Units of 1024 bytes.
    Kb,
    /// Units of 1024 kB.
    Mb,
    /// Pages of 8 kB.
    Pages,
    /// Milliseconds.
    Ms,
    /// Seconds.
    S,
    /// Minutes.
    Min,
}

impl Unit {
    /// The word in `pg_settings.unit`.
    pub fn as_str(self) -> Option<&'static str> {
        match self {
            Unit::None => None,
            Unit::Bytes => Some("B"),
            Unit::Kb => Some("kB"),
            Unit::Mb => Some("MB"),
            Unit::Pages => Some("8kB"),
            Unit::Ms => Some("ms"),
            Unit::S => Some("s"),
            Unit::Min => Some("min"),
        }
    }

    /// Bytes or microseconds of one.
    pub(super) fn size(self) -> f64 {
        match self {
            Unit::None | Unit::Bytes => 1.0,
            Unit::Kb => 1024.0,
            Unit::Mb => 1024.0 * 1024.0,
            Unit::Pages => 8192.0,
            Unit::Ms => 1e3,
            Unit::S => 1e6,
            Unit::Min => 6e7,
        }
    }

    /// Words that values may carry, largest first, with their size in bytes or microseconds.
    pub(super) fn words(self) -> &'static [(&'static str, f64)] {
        const MEMORY: &[(&str, f64)] = &[
            ("TB", 1_099_511_627_776.0),
            ("GB", 1_073_741_824.0),
            ("MB", 1_048_576.0),
            ("kB", 1024.0),
            ("B", 1.0),
        ];
        const TIME: &[(&str, f64)] =
            &[("d", 8.64e10), ("h", 3.6e9), ("min", 6e7), ("s", 1e6), ("ms", 1e3), ("us", 1.0)];
        match self {
            Unit::None => &[],
            Unit::Bytes | Unit::Kb | Unit::Mb | Unit::Pages => MEMORY,
            Unit::Ms | Unit::S | Unit::Min => TIME,
        }
    }
}

/// Type, default and bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// `on` or `off`.
    Bool {
        /// Default.
        default: bool,
    },
    /// 32-bit integer.
    Int {
        /// Default.
        default: i32,
        /// Smallest value.
        min: i32,
        /// Largest value.
        max: i32,
    },
    /// Double.
    Real {
        /// Default.
        default: f64,
        /// Smallest value.
        min: f64,
        /// Largest value.
        max: f64,
    },
    /// Text.
    Text {
        /// Default.
        default: &'static str,
    },
    /// One of some words.
    Choice {
        /// Default.
        default: &'static str,
        /// The words.
        options: &'static [&'static str],
        /// More words that are accepted, and what they stand for.
        aliases: &'static [(&'static str, &'static str)],
        /// Whether the words of a Boolean stand for `on` and `off`.
        bool_words: bool,
    },
}

impl Kind {
    /// The word in `pg_settings.vartype`.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Bool { .. } => "bool",
            Kind::Int { .. } => "integer",
            Kind::Real { .. } => "real",
            Kind::Text { .. } => "string",
            Kind::Choice { .. } => "enum",
        }
    }
}

/// What a setting does here: the header of `table.rs` has the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// What it says.
    Works,
    /// Nothing, and rightly so whatever its value: why.
    Moot(&'static str),
    /// It keeps its default, or one of some values that mean the same.
    Fixed {
        /// Those values.
        also: &'static [&'static str],
        /// What any other would ask for, as a noun in the singular.
        missing: &'static str,
    },
}

/// One setting.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    /// Name as PostgreSQL spells it; compared without regard to case.
    pub name: &'static str,
    /// Heading in `pg_settings.category`.
    pub category: &'static str,
    /// Type, default and bounds.
    pub kind: Kind,
    /// When and by whom it may be changed.
    pub context: Context,
    /// What the value counts.
    pub unit: Unit,
    /// What it is about, one sentence.
    pub description: &'static str,
    /// Shown as an octal number (file modes).
    pub is_octal: bool,
    /// Drivers are told when it changes (ParameterStatus).
    pub is_reported: bool,
    /// A list: SET takes several values.
    pub is_list: bool,
    /// Elements of the list are quoted as identifiers.
    pub is_quoted: bool,
    /// Left out of SHOW ALL and `pg_settings`.
    pub is_hidden: bool,
    /// RESET and RESET ALL leave it alone.
    pub no_reset: bool,
    /// EXPLAIN (SETTINGS) shows it.
    pub in_explain: bool,
    /// What a statement's text means, or may do, depends on it.
    pub shapes_statements: bool,
    /// Not in `postgresql.conf.sample`.
    pub is_not_in_sample: bool,
    /// Known only at run time.
    pub is_computed: bool,
    /// What it does here.
    pub effect: Effect,
    /// The module that it is of.
    pub module: Option<Module>,
}

/// A module that has settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Module {
    /// `auto_explain`
    AutoExplain = 1,
    /// `pg_stat_statements`
    StatStatements = 2,
    /// `pg_trgm`
    Trigrams = 4,
    /// `vector`
    Vector = 8,
}

impl Module {
    /// Its name, in lists of libraries.
    pub fn name(self) -> &'static str {
        match self {
            Module::AutoExplain => "auto_explain",
            Module::StatStatements => "pg_stat_statements",
            Module::Trigrams => "pg_trgm",
            Module::Vector => "vector",
        }
    }

    /// All of them.
    pub const ALL: [Module; 4] =
        [Module::AutoExplain, Module::StatStatements, Module::Trigrams, Module::Vector];
}

pub(super) const MAX: i32 = i32::MAX;
pub(super) const MIN: i32 = i32::MIN;

const fn new(kind: Kind) -> Definition {
    Definition {
        name: "",
        category: "",
        kind,
        context: Context::User,
        unit: Unit::None,
        description: "",
        is_octal: false,
        is_reported: false,
        is_list: false,
        is_quoted: false,
        is_hidden: false,
        no_reset: false,
        in_explain: false,
        shapes_statements: false,
        is_not_in_sample: false,
        is_computed: false,
        effect: Effect::Fixed { also: &[], missing: "" },
        module: None,
    }
}

pub(super) const fn bool(default: bool) -> Definition {
    new(Kind::Bool { default })
}

pub(super) const fn int(default: i32, min: i32, max: i32) -> Definition {
    new(Kind::Int { default, min, max })
}

pub(super) const fn real(default: f64, min: f64, max: f64) -> Definition {
    new(Kind::Real { default, min, max })
}

pub(super) const fn string(default: &'static str) -> Definition {
    new(Kind::Text { default })
}

pub(super) const fn choice(default: &'static str, options: &'static [&'static str]) -> Definition {
    new(Kind::Choice { default, options, aliases: &[], bool_words: false })
}

/// `name => { field = value }`: a function that sets fields of the definition under construction.
macro_rules! with {
    ($($name:ident => $field:ident = $value:expr;)*) => {
        impl Definition {
            $(pub(super) const fn $name(mut self) -> Definition {
                self.$field = $value;
                self
            })*
        }
    };
}

with! {
    internal => context = Context::Internal;
    postmaster => context = Context::Postmaster;
    sighup => context = Context::Sighup;
    superuser_backend => context = Context::SuperuserBackend;
    backend => context = Context::Backend;
    superuser => context = Context::Superuser;
    user => context = Context::User;
    bytes => unit = Unit::Bytes;
    kb => unit = Unit::Kb;
    mb => unit = Unit::Mb;
    pages => unit = Unit::Pages;
    ms => unit = Unit::Ms;
    s => unit = Unit::S;
    min => unit = Unit::Min;
    octal => is_octal = true;
    report => is_reported = true;
    list => is_list = true;
    quoted => is_quoted = true;
    hidden => is_hidden = true;
    no_reset => no_reset = true;
    explain => in_explain = true;
    shapes_statements => shapes_statements = true;
    not_in_sample => is_not_in_sample = true;
    computed => is_computed = true;
    works => effect = Effect::Works;
}

impl Definition {
    pub(super) const fn about(mut self, description: &'static str) -> Definition {
        self.description = description;
        self
    }

    /// Its place in the table; a setting of a module has a name that is none in Rust.
    pub(super) const fn in_table(mut self, name: &'static str, category: &'static str) -> Definition {
        if self.name.is_empty() {
            self.name = name;
        }
        self.category = category;
        self
    }

    /// A setting of a module, which lists show once that is loaded.
    pub(super) const fn of(mut self, module: Module, name: &'static str) -> Definition {
        self.module = Some(module);
        self.named(name).not_in_sample()
    }

    /// A setting whose name is none in Rust. The part before the dot is reserved for such ones.
    pub(super) const fn named(mut self, name: &'static str) -> Definition {
        self.name = name;
        self
    }

    pub(super) const fn aliases(mut self, more: &'static [(&'static str, &'static str)]) -> Definition {
        if let Kind::Choice { aliases, .. } = &mut self.kind {
            *aliases = more;
        }
        self
    }

    pub(super) const fn bool_words(mut self) -> Definition {
        if let Kind::Choice { bool_words, .. } = &mut self.kind {
            *bool_words = true;
        }
        self
    }

    /// Whether plans that were made under another value are of no use.
    pub fn shapes_plans(&self) -> bool {
        self.in_explain || self.shapes_statements
    }

    pub(super) const fn moot(mut self, why: &'static str) -> Definition {
        self.effect = Effect::Moot(why);
        self
    }

    pub(super) const fn lacks(self, missing: &'static str) -> Definition {
        self.only(&[], missing)
    }

    pub(super) const fn only(mut self, also: &'static [&'static str], missing: &'static str) -> Definition {
        self.effect = Effect::Fixed { also, missing };
        self
    }

    /// Fails for a value that asks for what there is not (0A000).
    pub(super) fn check_effect(&self, value: &Value) -> SqlResult<()> {
        let Effect::Fixed { also, missing } = self.effect else { return Ok(()) };
        if *value == self.default_value() {
            return Ok(());
        }
        let (name, text) = (self.name, value.raw(self));
        if also.is_empty() {
            return Err(sql_err!(
                FEATURE_NOT_SUPPORTED,
                "setting \"{name}\" cannot be changed: {missing} is not supported"
            ));
        }
        if also.iter().any(|other| other.eq_ignore_ascii_case(&text)) {
            return Ok(());
        }
        Err(sql_err!(
            FEATURE_NOT_SUPPORTED,
            "setting \"{name}\" cannot be set to \"{text}\": {missing} is not supported"
        ))
    }

    /// `pg_settings.extra_desc`: what the setting does not do here.
    pub fn remark(&self) -> Option<String> {
        match self.effect {
            Effect::Works => None,
            Effect::Moot(why) => Some(why.to_string()),
            Effect::Fixed { also: [], missing } => {
                Some(format!("Cannot be changed: {missing} is not supported."))
            }
            Effect::Fixed { also, missing } => Some(format!(
                "Cannot be anything else than its default or {}: {missing} is not supported.",
                also.join(", ")
            )),
        }
    }

    /// Default, as `pg_settings.boot_val` shows it.
    pub fn boot_value(&self) -> String {
        self.default_value().raw(self)
    }

    /// Words of an enumeration.
    pub fn options(&self) -> &'static [&'static str] {
        match self.kind {
            Kind::Choice { options, .. } => options,
            _ => &[],
        }
    }
}

/// Makes the enumeration of all settings and the table of their definitions, in the same order.
macro_rules! settings {
    ($($category:literal { $($name:ident = $definition:expr;)* })*) => {
        /// Every setting, under its own name.
        #[allow(non_camel_case_types, missing_docs)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        pub enum Setting { $($($name,)*)* }

        /// Every setting, in the order of the table.
        pub const ALL: &[Setting] = &[$($(Setting::$name,)*)*];

        /// What each setting is, in the order of [`ALL`].
        pub static DEFINITIONS: [Definition; ALL.len()] =
            [$($($definition.in_table(stringify!($name), $category),)*)*];
    };
}
pub(super) use settings;
