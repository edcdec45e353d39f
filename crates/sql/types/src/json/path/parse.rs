//! `jsonpath` text to a [`Path`].

use base::{SqlResult, sql_err};

use crate::{
    json::depth::{MAX_NESTING, deeper, too_deep},
    numeric::Numeric,
};

use super::{
    Arith, Compare, Item, Method, Node, NodeId, Path,
    lex::{Lexer, Token, syntax_error},
};

/// What a part of a path gives.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Value,
    Predicate,
}

pub(super) struct Parser<'a> {
    lexer: Lexer<'a>,
    token: Token,
    near: Option<&'a str>,
    nodes: Vec<Node>,
    /// Filters and subscripts around the current place.
    filters: usize,
    subscripts: usize,
}

type Parsed = SqlResult<(NodeId, Sort)>;

/// Reads a path.
pub(super) fn parse(text: &str) -> SqlResult<Path> {
    let mut parser = Parser {
        lexer: Lexer::new(text),
        token: Token::End,
        near: None,
        nodes: Vec::new(),
        filters: 0,
        subscripts: 0,
    };
    parser.advance()?;
    if parser.token == Token::End {
        return Err(sql_err!(
            INVALID_TEXT_REPRESENTATION,
            "invalid input syntax for type jsonpath: \"{text}\""
        ));
    }
    let strict = parser.word("strict");
    if strict || parser.word("lax") {
        parser.advance()?;
    }
    let (root, _) = parser.or(0)?;
    if parser.token != Token::End {
        return Err(parser.unexpected());
    }
    Ok(Path { nodes: parser.nodes, root, lax: !strict })
}

impl Parser<'_> {
    fn advance(&mut self) -> SqlResult<()> {
        (self.token, self.near) = self.lexer.next()?;
        Ok(())
    }

    fn unexpected(&self) -> base::SqlError {
        syntax_error(self.near)
    }

    fn sign(&self, sign: &str) -> bool {
        matches!(self.token, Token::Sign(s) if s == sign)
    }

    /// Whether a keyword stands here; all but three are written in any case.
    fn word(&self, keyword: &str) -> bool {
        matches!(&self.token, Token::Word(word) if word.eq_ignore_ascii_case(keyword))
    }

    fn expect(&mut self, sign: &str) -> SqlResult<()> {
        if !self.sign(sign) {
            return Err(self.unexpected());
        }
        self.advance()
    }

    fn expect_word(&mut self, keyword: &str) -> SqlResult<()> {
        if !self.word(keyword) {
            return Err(self.unexpected());
        }
        self.advance()
    }

    fn node(&mut self, item: Item) -> NodeId {
        self.nodes.push(Node { item, next: None });
        self.nodes.len() - 1
    }

    fn value(&self, sort: Sort) -> SqlResult<()> {
        if sort == Sort::Value { Ok(()) } else { Err(self.unexpected()) }
    }

    fn or(&mut self, level: usize) -> Parsed {
        deeper(level, || {
            let mut left = self.and(level)?;
            while left.1 == Sort::Predicate && self.sign("||") {
                self.advance()?;
                let right = self.predicate(level, Self::and)?;
                left = (self.node(Item::Or(left.0, right)), Sort::Predicate);
            }
            Ok(left)
        })
    }

    fn and(&mut self, level: usize) -> Parsed {
        let mut left = self.comparison(level)?;
        while left.1 == Sort::Predicate && self.sign("&&") {
            self.advance()?;
            let right = self.predicate(level, Self::comparison)?;
            left = (self.node(Item::And(left.0, right)), Sort::Predicate);
        }
        Ok(left)
    }

    fn predicate(&mut self, level: usize, part: fn(&mut Self, usize) -> Parsed) -> SqlResult<NodeId> {
        match part(self, level)? {
            (id, Sort::Predicate) => Ok(id),
            _ => Err(self.unexpected()),
        }
    }

    fn comparison(&mut self, level: usize) -> Parsed {
        if self.sign("!") {
            self.advance()?;
            let inner = if self.word("exists") {
                self.exists(level)?
            } else {
                self.expect("(")?;
                let inner = self.predicate(level + 1, Self::or)?;
                self.expect(")")?;
                inner
            };
            return Ok((self.node(Item::Not(inner)), Sort::Predicate));
        }
        let left = self.sum(level)?;
        if left.1 == Sort::Predicate {
            return Ok(left);
        }
        let item = match &self.token {
            Token::Sign(sign @ ("==" | "!=" | "<>" | "<" | "<=" | ">" | ">=")) => {
                let compare = match *sign {
                    "==" => Compare::Equal,
                    "!=" | "<>" => Compare::NotEqual,
                    "<" => Compare::Less,
                    "<=" => Compare::LessEqual,
                    ">" => Compare::Greater,
                    _ => Compare::GreaterEqual,
                };
                self.advance()?;
                let right = self.sum(level)?;
                self.value(right.1)?;
                Item::Compare(compare, left.0, right.0)
            }
            _ if self.word("starts") => {
                self.advance()?;
                self.expect_word("with")?;
                let right = match std::mem::replace(&mut self.token, Token::End) {
                    Token::String(text) => self.node(Item::String(text)),
                    Token::Variable(name) => self.node(Item::Variable(name)),
                    token => {
                        self.token = token;
                        return Err(self.unexpected());
                    }
                };
                self.advance()?;
                Item::StartsWith(left.0, right)
            }
            _ if self.word("like_regex") => self.like_regex(left.0)?,
            _ => return Ok(left),
        };
        Ok((self.node(item), Sort::Predicate))
    }

    fn string(&mut self) -> SqlResult<String> {
        let Token::String(text) = &self.token else { return Err(self.unexpected()) };
        let text = text.clone();
        self.advance()?;
        Ok(text)
    }

    fn like_regex(&mut self, left: NodeId) -> SqlResult<Item> {
        self.advance()?;
        let pattern = self.string()?;
        let mut flags = String::new();
        if self.word("flag") {
            self.advance()?;
            flags = self.string()?;
        }
        let mut ordered = String::new();
        for flag in "ismxq".chars().filter(|flag| flags.contains(*flag)) {
            ordered.push(flag);
        }
        if let Some(bad) = flags.chars().find(|c| !"ismxq".contains(*c)) {
            return Err(sql_err!(SYNTAX_ERROR, "invalid input syntax for type jsonpath")
                .detail(format!("Unrecognized flag character \"{bad}\" in LIKE_REGEX predicate.")));
        }
        if flags.contains('x') && !flags.contains('q') {
            return Err(sql_err!(
                FEATURE_NOT_SUPPORTED,
                "XQuery \"x\" flag (expanded regular expressions) is not implemented"
            ));
        }
        crate::text::check_regex(&pattern, &super::regex_flags(&ordered))?;
        Ok(Item::LikeRegex(left, pattern, ordered))
    }

    fn sum(&mut self, level: usize) -> Parsed {
        let mut left = self.product(level)?;
        while left.1 == Sort::Value && (self.sign("+") || self.sign("-")) {
            let op = if self.sign("+") { Arith::Add } else { Arith::Sub };
            self.advance()?;
            let right = self.product(level)?;
            self.value(right.1)?;
            left = (self.node(Item::Arith(op, left.0, right.0)), Sort::Value);
        }
        Ok(left)
    }

    fn product(&mut self, level: usize) -> Parsed {
        let mut left = self.signed(level)?;
        while left.1 == Sort::Value && (self.sign("*") || self.sign("/") || self.sign("%")) {
            let op = match self.token {
                Token::Sign("*") => Arith::Mul,
                Token::Sign("/") => Arith::Div,
                _ => Arith::Mod,
            };
            self.advance()?;
            let right = self.signed(level)?;
            self.value(right.1)?;
            left = (self.node(Item::Arith(op, left.0, right.0)), Sort::Value);
        }
        Ok(left)
    }

    fn signed(&mut self, level: usize) -> Parsed {
        let mut signs = Vec::new();
        while self.sign("-") || self.sign("+") {
            signs.push(self.sign("-"));
            self.advance()?;
        }
        if signs.len() > MAX_NESTING {
            return Err(too_deep());
        }
        let (mut arg, sort) = self.primary(level)?;
        if !signs.is_empty() {
            self.value(sort)?;
        }
        for minus in signs.into_iter().rev() {
            let node = &mut self.nodes[arg];
            match (&mut node.item, node.next) {
                (Item::Number(n), None) if minus => *n = n.clone().negate(),
                (Item::Number(_), None) => {}
                _ => arg = self.node(if minus { Item::Minus(arg) } else { Item::Plus(arg) }),
            }
        }
        Ok((arg, sort))
    }

    fn exists(&mut self, level: usize) -> SqlResult<NodeId> {
        self.advance()?;
        self.expect("(")?;
        let (inner, sort) = self.or(level + 1)?;
        self.value(sort)?;
        self.expect(")")?;
        Ok(self.node(Item::Exists(inner)))
    }

    fn primary(&mut self, level: usize) -> Parsed {
        if self.word("exists") {
            return Ok((self.exists(level)?, Sort::Predicate));
        }
        if self.sign("(") {
            self.advance()?;
            let (inner, sort) = self.or(level + 1)?;
            self.expect(")")?;
            if sort == Sort::Predicate && self.word("is") {
                self.advance()?;
                self.expect_word("unknown")?;
                return Ok((self.node(Item::IsUnknown(inner)), Sort::Predicate));
            }
            let any = self.accessors(inner, level)?;
            return Ok((inner, if any { Sort::Value } else { sort }));
        }
        let item = match std::mem::replace(&mut self.token, Token::End) {
            Token::String(text) => Item::String(text),
            Token::Variable(name) => Item::Variable(name),
            Token::Number(text, _) => Item::Number(Numeric::parse(&text)?),
            Token::Sign("$") => Item::Root,
            Token::Sign("@") if self.filters == 0 => {
                return Err(sql_err!(SYNTAX_ERROR, "@ is not allowed in root expressions"));
            }
            Token::Sign("@") => Item::Current,
            Token::Word(word) => match word.as_str() {
                "null" => Item::Null,
                "true" => Item::Bool(true),
                "false" => Item::Bool(false),
                _ if word.eq_ignore_ascii_case("last") && self.subscripts == 0 => {
                    return Err(sql_err!(SYNTAX_ERROR, "LAST is allowed only in array subscripts"));
                }
                _ if word.eq_ignore_ascii_case("last") => Item::Last,
                _ => return Err(self.unexpected()),
            },
            token => {
                self.token = token;
                return Err(self.unexpected());
            }
        };
        self.advance()?;
        let id = self.node(item);
        self.accessors(id, level)?;
        Ok((id, Sort::Value))
    }

    /// Accessors behind a primary, chained to its end; whether there are any.
    fn accessors(&mut self, head: NodeId, level: usize) -> SqlResult<bool> {
        let mut end = head;
        while let Some(next) = self.nodes[end].next {
            end = next;
        }
        let mut any = false;
        loop {
            let next = if self.sign(".") {
                self.advance()?;
                self.member()?
            } else if self.sign("[") {
                self.advance()?;
                self.subscript(level)?
            } else if self.sign("?") {
                self.advance()?;
                self.expect("(")?;
                self.filters += 1;
                let condition = self.predicate(level + 1, Self::or)?;
                self.filters -= 1;
                self.expect(")")?;
                self.node(Item::Filter(condition))
            } else {
                return Ok(any);
            };
            self.nodes[end].next = Some(next);
            end = next;
            any = true;
        }
    }

    fn subscript(&mut self, level: usize) -> SqlResult<NodeId> {
        if self.sign("*") {
            self.advance()?;
            self.expect("]")?;
            return Ok(self.node(Item::AnyElement));
        }
        let mut list = Vec::new();
        self.subscripts += 1;
        loop {
            let (from, sort) = deeper(level, || self.sum(level + 1))?;
            self.value(sort)?;
            let mut to = None;
            if self.word("to") {
                self.advance()?;
                let (upper, sort) = deeper(level, || self.sum(level + 1))?;
                self.value(sort)?;
                to = Some(upper);
            }
            list.push((from, to));
            if !self.sign(",") {
                break;
            }
            self.advance()?;
        }
        self.subscripts -= 1;
        self.expect("]")?;
        Ok(self.node(Item::Elements(list)))
    }

    /// A level of `**{…}`; `u32::MAX` is `last`.
    fn any_level(&mut self) -> SqlResult<u32> {
        let level = match &self.token {
            _ if self.word("last") => u32::MAX,
            Token::Number(text, true) => text.replace('_', "").parse().map_err(|_| {
                sql_err!(NUMERIC_VALUE_OUT_OF_RANGE, "value \"{text}\" is out of range for type integer")
            })?,
            _ => return Err(self.unexpected()),
        };
        self.advance()?;
        Ok(level)
    }

    /// What follows a point: a key, `*`, `**` or a method.
    fn member(&mut self) -> SqlResult<NodeId> {
        if self.sign("*") {
            self.advance()?;
            return Ok(self.node(Item::AnyKey));
        }
        if self.sign("**") {
            self.advance()?;
            let (mut first, mut last) = (0, u32::MAX);
            if self.sign("{") {
                self.advance()?;
                first = self.any_level()?;
                last = first;
                if self.word("to") {
                    self.advance()?;
                    last = self.any_level()?;
                }
                self.expect("}")?;
            }
            return Ok(self.node(Item::Any(first, last)));
        }
        match std::mem::replace(&mut self.token, Token::End) {
            Token::String(key) => {
                self.advance()?;
                Ok(self.node(Item::Key(key)))
            }
            Token::Word(word) => {
                self.advance()?;
                if !self.sign("(") {
                    return Ok(self.node(Item::Key(word)));
                }
                let Some(method) = Method::named(&word.to_ascii_lowercase()) else {
                    return Err(self.unexpected());
                };
                self.advance()?;
                self.method(method)
            }
            token => {
                self.token = token;
                Err(self.unexpected())
            }
        }
    }

    /// A method's arguments; the bracket is behind us.
    fn method(&mut self, method: Method) -> SqlResult<NodeId> {
        let mut args = Vec::new();
        let mut template = None;
        if !self.sign(")") {
            match method {
                Method::DateTime => template = Some(self.string()?),
                Method::Time | Method::TimeTz | Method::Timestamp | Method::TimestampTz => {
                    args.push(self.integer(false)?);
                }
                Method::Decimal => loop {
                    args.push(self.integer(true)?);
                    if !self.sign(",") {
                        break;
                    }
                    self.advance()?;
                },
                _ => return Err(self.unexpected()),
            }
        }
        self.expect(")")?;
        if args.len() > 2 {
            return Err(sql_err!(SYNTAX_ERROR, "invalid input syntax for type jsonpath")
                .detail(".decimal() can only have an optional precision[,scale]."));
        }
        Ok(self.node(Item::Method(method, args, template)))
    }

    fn integer(&mut self, signed: bool) -> SqlResult<Numeric> {
        let minus = signed && self.sign("-");
        if minus || (signed && self.sign("+")) {
            self.advance()?;
        }
        let Token::Number(text, true) = &self.token else { return Err(self.unexpected()) };
        let number = Numeric::parse(text)?;
        self.advance()?;
        Ok(if minus { number.negate() } else { number })
    }
}
