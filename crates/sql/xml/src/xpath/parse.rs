//! Trees of XPath.

use super::Error;
use super::functions::Function;
use super::lex::Token;

/// Operators between two operands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Operator {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Union,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Axis {
    Ancestor,
    AncestorOrSelf,
    Attribute,
    Child,
    Descendant,
    DescendantOrSelf,
    Following,
    FollowingSibling,
    Namespace,
    Parent,
    Preceding,
    PrecedingSibling,
    Itself,
}

#[derive(Clone, Debug)]
pub(super) enum Test {
    /// A name; `*` for any.
    Name {
        prefix: Option<Box<str>>,
        local: Box<str>,
    },
    Node,
    Text,
    Comment,
    /// With this target, if one is told.
    Instruction(Option<Box<str>>),
}

#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) axis: Axis,
    pub(super) test: Test,
    pub(super) predicates: Vec<Expr>,
}

#[derive(Clone, Debug)]
pub(super) enum Start {
    /// `/`
    Root,
    /// The context node.
    Here,
    /// The nodes of an expression.
    Expr(Box<Expr>),
}

#[derive(Clone, Debug)]
pub(super) enum Expr {
    Binary(Operator, Box<(Expr, Expr)>),
    Negate(Box<Expr>),
    Literal(Box<str>),
    Number(f64),
    Variable,
    Call(Function, Vec<Expr>),
    Unknown,
    Filter(Box<Expr>, Vec<Expr>),
    Path(Start, Vec<Step>),
}

const INVALID: Error = Error::Syntax("Invalid expression");

struct Parser<'t> {
    tokens: &'t [Token],
    at: usize,
}

pub(super) fn expression(tokens: &[Token]) -> Result<Expr, Error> {
    let mut parser = Parser { tokens, at: 0 };
    let out = parser.binary(0)?;
    if parser.at < tokens.len() { Err(INVALID) } else { Ok(out) }
}

/// Operators by how tightly they bind, the loosest first.
const LEVELS: [&[(&str, Operator)]; 7] = [
    &[("or", Operator::Or)],
    &[("and", Operator::And)],
    &[("=", Operator::Equal), ("!=", Operator::NotEqual)],
    &[
        ("<", Operator::Less),
        ("<=", Operator::LessEqual),
        (">", Operator::Greater),
        (">=", Operator::GreaterEqual),
    ],
    &[("+", Operator::Add), ("-", Operator::Subtract)],
    &[("*", Operator::Multiply), ("div", Operator::Divide), ("mod", Operator::Modulo)],
    &[("|", Operator::Union)],
];

/// The level below which a minus sign stands.
const UNARY: usize = 6;

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(Token::Sign(s)) if *s == sign)
    }

    fn take(&mut self, sign: &str) -> bool {
        let there = self.is_sign(sign);
        self.at += usize::from(there);
        there
    }

    fn expect(&mut self, sign: &str) -> Result<(), Error> {
        if self.take(sign) { Ok(()) } else { Err(INVALID) }
    }

    fn binary(&mut self, level: usize) -> Result<Expr, Error> {
        runtime::check_stack()?;
        if level == UNARY {
            let mut minus = 0usize;
            while self.take("-") {
                minus += 1;
            }
            let inner = self.operands(level)?;
            return Ok(match minus {
                0 => inner,
                n if n % 2 == 0 => Expr::Negate(Box::new(Expr::Negate(Box::new(inner)))),
                _ => Expr::Negate(Box::new(inner)),
            });
        }
        self.operands(level)
    }

    /// Operands of one level with the operators between them.
    fn operands(&mut self, level: usize) -> Result<Expr, Error> {
        let Some(operators) = LEVELS.get(level) else { return self.path() };
        let mut left = self.binary(level + 1)?;
        let mut height = 0;
        loop {
            let sign = match self.peek() {
                Some(Token::Sign(s) | Token::Operator(s)) => *s,
                _ => return Ok(left),
            };
            let Some((_, operator)) = operators.iter().find(|(s, _)| *s == sign) else { return Ok(left) };
            // The tree is as high as the chain is long.
            height += 1;
            if height > MOST_OPERANDS {
                return Err(Error::Syntax("Recursion limit exceeded"));
            }
            self.at += 1;
            let right = self.binary(level + 1)?;
            left = Expr::Binary(*operator, Box::new((left, right)));
        }
    }

    /// A location path, or a primary expression with what follows it.
    fn path(&mut self) -> Result<Expr, Error> {
        let primary = match self.peek().ok_or(INVALID)? {
            Token::Sign("(") => {
                self.at += 1;
                let inner = self.binary(0)?;
                self.expect(")")?;
                inner
            }
            Token::Literal(text) => {
                let text = text.clone();
                self.at += 1;
                Expr::Literal(text)
            }
            Token::Number(n) => {
                let n = *n;
                self.at += 1;
                Expr::Number(n)
            }
            Token::Variable => {
                self.at += 1;
                Expr::Variable
            }
            Token::Name { .. } if self.is_call() => self.call()?,
            _ => return self.location_path(),
        };
        let predicates = self.predicates()?;
        let primary = match predicates.is_empty() {
            true => primary,
            false => Expr::Filter(Box::new(primary), predicates),
        };
        if !self.is_sign("/") && !self.is_sign("//") {
            return Ok(primary);
        }
        let mut steps = Vec::new();
        self.more_steps(&mut steps)?;
        Ok(Expr::Path(Start::Expr(Box::new(primary)), steps))
    }

    /// Whether a name is a function's, and not a node type's.
    fn is_call(&self) -> bool {
        let behind = matches!(self.tokens.get(self.at + 1), Some(Token::Sign("(")));
        let is_type = matches!(self.peek(), Some(Token::Name { prefix: None, local })
            if matches!(&**local, "node" | "text" | "comment" | "processing-instruction"));
        behind && !is_type
    }

    fn call(&mut self) -> Result<Expr, Error> {
        let function = match self.peek() {
            Some(Token::Name { prefix: None, local }) => Function::named(local),
            _ => None,
        };
        self.at += 2;
        let mut args = Vec::new();
        if !self.take(")") {
            loop {
                args.push(self.binary(0)?);
                if self.take(")") {
                    break;
                }
                self.expect(",")?;
            }
        }
        Ok(function.map_or(Expr::Unknown, |f| Expr::Call(f, args)))
    }

    fn predicates(&mut self) -> Result<Vec<Expr>, Error> {
        let mut out = Vec::new();
        while self.take("[") {
            out.push(self.binary(0)?);
            self.expect("]")?;
        }
        Ok(out)
    }

    fn location_path(&mut self) -> Result<Expr, Error> {
        let mut steps = Vec::new();
        if self.is_sign("//") {
            self.more_steps(&mut steps)?;
            return Ok(Expr::Path(Start::Root, steps));
        }
        let start = match self.take("/") {
            true => Start::Root,
            false => Start::Here,
        };
        if matches!(start, Start::Here) || self.is_step() {
            steps.push(self.step()?);
            self.more_steps(&mut steps)?;
        }
        Ok(Expr::Path(start, steps))
    }

    fn is_step(&self) -> bool {
        matches!(self.peek(), Some(Token::Name { .. } | Token::Sign("." | ".." | "@")))
    }

    fn more_steps(&mut self, steps: &mut Vec<Step>) -> Result<(), Error> {
        loop {
            if self.take("//") {
                steps.push(Step { axis: Axis::DescendantOrSelf, test: Test::Node, predicates: Vec::new() });
            } else if !self.take("/") {
                return Ok(());
            }
            steps.push(self.step()?);
        }
    }

    fn step(&mut self) -> Result<Step, Error> {
        if self.take(".") {
            return Ok(Step { axis: Axis::Itself, test: Test::Node, predicates: self.predicates()? });
        }
        if self.take("..") {
            return Ok(Step { axis: Axis::Parent, test: Test::Node, predicates: self.predicates()? });
        }
        let axis = match self.take("@") {
            true => Axis::Attribute,
            false => self.axis()?,
        };
        let test = self.test()?;
        Ok(Step { axis, test, predicates: self.predicates()? })
    }

    fn axis(&mut self) -> Result<Axis, Error> {
        let named = matches!(self.tokens.get(self.at + 1), Some(Token::Sign("::")));
        let Some(Token::Name { prefix: None, local }) = self.peek().filter(|_| named) else {
            return Ok(Axis::Child);
        };
        let axis = match &**local {
            "ancestor" => Axis::Ancestor,
            "ancestor-or-self" => Axis::AncestorOrSelf,
            "attribute" => Axis::Attribute,
            "child" => Axis::Child,
            "descendant" => Axis::Descendant,
            "descendant-or-self" => Axis::DescendantOrSelf,
            "following" => Axis::Following,
            "following-sibling" => Axis::FollowingSibling,
            "namespace" => Axis::Namespace,
            "parent" => Axis::Parent,
            "preceding" => Axis::Preceding,
            "preceding-sibling" => Axis::PrecedingSibling,
            "self" => Axis::Itself,
            _ => return Err(INVALID),
        };
        self.at += 2;
        Ok(axis)
    }

    fn test(&mut self) -> Result<Test, Error> {
        let Some(Token::Name { prefix, local }) = self.peek().cloned() else { return Err(INVALID) };
        self.at += 1;
        if !self.is_sign("(") {
            return Ok(Test::Name { prefix, local });
        }
        self.at += 1;
        let test = match (prefix, &*local) {
            (None, "node") => Test::Node,
            (None, "text") => Test::Text,
            (None, "comment") => Test::Comment,
            (None, "processing-instruction") => match self.peek().cloned() {
                Some(Token::Literal(target)) => {
                    self.at += 1;
                    Test::Instruction(Some(target))
                }
                _ => Test::Instruction(None),
            },
            _ => return Err(INVALID),
        };
        self.expect(")")?;
        Ok(test)
    }
}

/// Operands of one chain; evaluation goes as deep.
const MOST_OPERANDS: usize = 5000;
