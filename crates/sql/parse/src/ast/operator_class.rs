//! Operator classes and families.

use super::{Name, ObjectWithArgs, TypeName};

/// CREATE OPERATOR CLASS.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateOperatorClass {
    /// Name.
    pub name: Name,
    /// FAMILY
    pub family: Option<Name>,
    /// USING
    pub method: String,
    /// FOR TYPE
    pub type_name: TypeName,
    /// Operators, functions, the type that an index stores.
    pub items: Vec<OperatorClassItem>,
    /// DEFAULT
    pub default: bool,
}

/// ALTER OPERATOR FAMILY ... ADD, DROP.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterOperatorFamily {
    /// Which.
    pub name: Name,
    /// USING
    pub method: String,
    /// DROP: of operators and functions only numbers and types are given.
    pub drop: bool,
    /// What is added or dropped.
    pub items: Vec<OperatorClassItem>,
}

/// A member of an operator class or family, as written.
#[derive(Clone, Debug, PartialEq)]
pub enum OperatorClassItem {
    /// OPERATOR
    Operator {
        /// Strategy number.
        number: i32,
        /// Which, with its operands where they were written; none in DROP.
        operator: Option<ObjectWithArgs>,
        /// FOR ORDER BY
        sort_family: Option<Name>,
        /// Operands in DROP.
        types: Vec<TypeName>,
    },
    /// FUNCTION
    Function {
        /// Support number.
        number: i32,
        /// Which; none in DROP.
        function: Option<ObjectWithArgs>,
        /// The types that it is for, where they were written.
        types: Vec<TypeName>,
    },
    /// STORAGE
    Storage(TypeName),
}
