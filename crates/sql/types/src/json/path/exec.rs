//! Following a path through a document.

use std::{cmp::Ordering, rc::Rc};

use base::{SqlError, SqlResult, sql_err};
use tuple::{Bytes, Datum};

use crate::{
    json::{
        binary::{Builder, Json, Kind},
        depth::deeper,
        walk::compare_scalars,
    },
    numeric::Numeric,
    value::FromDatum,
};

use super::{Arith, Compare, Item, NodeId, Path, Query, moment::Moment};

/// An item of a result.
#[derive(Clone, Debug)]
pub(super) enum Value<'q> {
    /// A part of the document, of the variables.
    Node(Json<'q>),
    /// A node that was made on the way.
    Own(Rc<[u8]>),
    /// A date or time.
    Moment(Moment),
}

impl<'q> Value<'q> {
    /// A node that `write` makes.
    pub(super) fn made(write: impl FnOnce(&mut Builder) -> SqlResult<()>) -> SqlResult<Value<'q>> {
        let mut out = Builder::new();
        write(&mut out)?;
        Ok(Value::Own(<&[u8]>::from_datum(&out.finish()).into()))
    }

    pub(super) fn number(n: &Numeric) -> SqlResult<Value<'q>> {
        Value::made(|out| {
            out.number(n);
            Ok(())
        })
    }

    pub(super) fn bool(value: bool) -> SqlResult<Value<'q>> {
        Value::made(|out| {
            out.bool(value);
            Ok(())
        })
    }

    pub(super) fn string(text: &str) -> SqlResult<Value<'q>> {
        Value::made(|out| out.string(text))
    }

    /// The node; a moment has none.
    pub(super) fn json(&self) -> Json<'_> {
        match self {
            Value::Node(node) => *node,
            Value::Own(bytes) => Json::of(bytes),
            Value::Moment(_) => Json::of(&[]),
        }
    }

    /// Its JSON type; of dates and times `string`.
    pub(super) fn kind(&self) -> Kind {
        match self {
            Value::Moment(_) => Kind::String,
            _ => self.json().kind(),
        }
    }

    pub(super) fn is_moment(&self) -> bool {
        matches!(self, Value::Moment(_))
    }

    /// Text of a string that is no moment.
    pub(super) fn text(&self) -> Option<&str> {
        (!self.is_moment() && self.kind() == Kind::String).then(|| self.json().text())
    }

    fn part(&self, pick: impl for<'x> Fn(Json<'x>) -> Option<Json<'x>>) -> Option<Value<'q>> {
        match self {
            Value::Node(node) => pick(*node).map(Value::Node),
            Value::Own(bytes) => pick(Json::of(bytes)).map(|part| Value::Own(part.bytes().into())),
            Value::Moment(_) => None,
        }
    }

    /// Elements of an array, values of an object.
    pub(super) fn members(&self) -> Vec<Value<'q>> {
        let count = self.json().len();
        (0..count)
            .filter_map(|i| {
                self.part(|node| node.element(i).or_else(|| node.pair(i).map(|(_, value)| value)))
            })
            .collect()
    }

    /// Appends it to a document.
    pub(super) fn append(&self, out: &mut Builder) -> SqlResult<()> {
        match self {
            Value::Moment(moment) => out.string(&moment.text())?,
            _ => out.node(self.json()),
        }
        Ok(())
    }

    /// It as a document.
    pub(super) fn to_datum(&self) -> SqlResult<Datum> {
        match self {
            Value::Moment(moment) => Value::string(&moment.text())?.to_datum(),
            _ => Ok(Datum::Bytes(Bytes::new(self.json().bytes()))),
        }
    }
}

/// Why a path was left.
pub(super) enum Stop {
    /// An error of the path: unknown in a predicate, passed over where that is asked for.
    Soft(SqlError),
    /// Any other error.
    Hard(SqlError),
}

impl From<SqlError> for Stop {
    fn from(error: SqlError) -> Stop {
        Stop::Hard(error)
    }
}

/// Whether something was found.
pub(super) type Step = Result<bool, Stop>;

/// What was found.
#[derive(Default)]
pub(super) struct Found<'q> {
    list: Vec<Value<'q>>,
    /// The first item is enough.
    first_only: bool,
}

impl Found<'_> {
    /// Whether nothing more is wanted once there is an item.
    pub(super) fn is_enough(&self) -> bool {
        self.first_only
    }
}

/// A use of a path under way.
pub(super) struct Exec<'q> {
    pub(super) query: &'q Query<'q>,
    path: &'q Path,
    /// What `@` means.
    current: Value<'q>,
    /// Size of the innermost array whose subscript is evaluated.
    size: Option<i64>,
    /// What a document lacks is no error.
    lenient: bool,
}

/// Items of a path, and whether an error was passed over.
pub(super) fn run<'q>(query: &'q Query<'q>, first_only: bool) -> SqlResult<(Vec<Value<'q>>, bool)> {
    let path: &'q Path = &query.path;
    let target = Value::Node(query.target);
    let mut exec = Exec { query, path, current: target.clone(), size: None, lenient: path.lax };
    let mut found = Found { list: Vec::new(), first_only };
    match exec.item(0, path.root, &target, &mut found, path.lax) {
        Ok(_) => Ok((found.list, false)),
        Err(Stop::Soft(_)) if query.silent => Ok((found.list, true)),
        Err(Stop::Soft(error) | Stop::Hard(error)) => Err(error),
    }
}

pub(super) fn soft<T>(error: SqlError) -> Result<T, Stop> {
    Err(Stop::Soft(error))
}

impl<'q> Exec<'q> {
    /// Whether the path is lax.
    pub(super) fn is_lax(&self) -> bool {
        self.path.lax
    }

    /// Whether what a document lacks is no error here.
    pub(super) fn is_lenient(&self) -> bool {
        self.lenient
    }

    /// Applies a node, and what is chained to it, to a value.
    pub(super) fn item(
        &mut self,
        level: usize,
        id: NodeId,
        value: &Value<'q>,
        found: &mut Found<'q>,
        unwrap: bool,
    ) -> Step {
        match deeper(level, || Ok(self.apply(level + 1, id, value, found, unwrap))) {
            Ok(step) => step,
            Err(error) => Err(Stop::Hard(error)),
        }
    }

    /// Goes on behind a node.
    pub(super) fn next(
        &mut self,
        level: usize,
        id: NodeId,
        value: &Value<'q>,
        found: &mut Found<'q>,
    ) -> Step {
        match self.path.nodes[id].next {
            Some(next) => self.item(level, next, value, found, self.path.lax),
            None => {
                found.list.push(value.clone());
                Ok(true)
            }
        }
    }

    /// The same node for every element of an array.
    pub(super) fn unwrapped(
        &mut self,
        level: usize,
        id: NodeId,
        value: &Value<'q>,
        found: &mut Found<'q>,
    ) -> Step {
        self.each(value.members(), found, |exec, element, found| exec.item(level, id, element, found, false))
    }

    fn each(
        &mut self,
        values: Vec<Value<'q>>,
        found: &mut Found<'q>,
        mut step: impl FnMut(&mut Self, &Value<'q>, &mut Found<'q>) -> Step,
    ) -> Step {
        let mut any = false;
        for value in &values {
            any |= step(self, value, found)?;
            if any && found.first_only {
                break;
            }
        }
        Ok(any)
    }

    fn apply(
        &mut self,
        level: usize,
        id: NodeId,
        value: &Value<'q>,
        found: &mut Found<'q>,
        unwrap: bool,
    ) -> Step {
        let path = self.path;
        let array = value.kind() == Kind::Array;
        match &path.nodes[id].item {
            Item::Root => {
                let root = Value::Node(self.query.target);
                self.next(level, id, &root, found)
            }
            Item::Current => {
                let current = self.current.clone();
                self.next(level, id, &current, found)
            }
            Item::Last => {
                let size = self.size.ok_or_else(|| {
                    SqlError::internal("evaluating jsonpath LAST outside of array subscript")
                })?;
                self.next(level, id, &Value::number(&Numeric::from_i64(size - 1))?, found)
            }
            Item::Null => self.next(level, id, &Value::Node(Json::of(&[0])), found),
            Item::Bool(value) => self.next(level, id, &Value::bool(*value)?, found),
            Item::Number(n) => self.next(level, id, &Value::number(n)?, found),
            Item::String(text) => self.next(level, id, &Value::string(text)?, found),
            Item::Variable(name) => {
                let value = self.query.variable(name)?;
                self.next(level, id, &value, found)
            }
            Item::Key(key) => self.key(level, id, key, value, found, unwrap),
            Item::AnyKey if value.kind() == Kind::Object => {
                self.each(value.members(), found, |exec, v, found| exec.next(level, id, v, found))
            }
            Item::AnyKey if unwrap && array => self.unwrapped(level, id, value, found),
            Item::AnyKey if self.lenient => Ok(false),
            Item::AnyKey => soft(sql_err!(
                SQL_JSON_OBJECT_NOT_FOUND,
                "jsonpath wildcard member accessor can only be applied to an object"
            )),
            Item::AnyElement if array => {
                self.each(value.members(), found, |exec, v, found| exec.next(level, id, v, found))
            }
            Item::AnyElement if path.lax => self.next(level, id, value, found),
            Item::AnyElement if self.lenient => Ok(false),
            Item::AnyElement => soft(sql_err!(
                SQL_JSON_ARRAY_NOT_FOUND,
                "jsonpath wildcard array accessor can only be applied to an array"
            )),
            Item::Elements(list) => self.elements(level, id, list, value, found),
            Item::Any(first, last) => self.any(level, id, (*first, *last), value, found),
            Item::Filter(_) if unwrap && array => self.unwrapped(level, id, value, found),
            Item::Filter(condition) => {
                let before = std::mem::replace(&mut self.current, value.clone());
                let holds = self.truth(level, *condition, value);
                self.current = before;
                if holds? == Some(true) { self.next(level, id, value, found) } else { Ok(false) }
            }
            Item::Arith(op, left, right) => {
                let result = self.arithmetic(level, *op, *left, *right, value)?;
                self.next(level, id, &Value::number(&result)?, found)
            }
            Item::Plus(arg) => self.sign(level, id, *arg, false, value, found),
            Item::Minus(arg) => self.sign(level, id, *arg, true, value, found),
            Item::Method(method, args, template) => {
                if unwrap && array && super::methods::unwraps(*method) {
                    return self.unwrapped(level, id, value, found);
                }
                self.method(level, id, (*method, args, template.as_deref()), value, found)
            }
            _ => {
                let result = match self.truth_of(level, id, value)? {
                    Some(truth) => Value::bool(truth)?,
                    None => Value::Node(Json::of(&[0])),
                };
                self.next(level, id, &result, found)
            }
        }
    }

    fn key(
        &mut self,
        level: usize,
        id: NodeId,
        key: &str,
        value: &Value<'q>,
        found: &mut Found<'q>,
        unwrap: bool,
    ) -> Step {
        match value.kind() {
            Kind::Object => match value.part(|node| node.get(key)) {
                Some(member) => self.next(level, id, &member, found),
                None if self.lenient => Ok(false),
                None => {
                    soft(sql_err!(SQL_JSON_MEMBER_NOT_FOUND, "JSON object does not contain key \"{key}\""))
                }
            },
            Kind::Array if unwrap => self.unwrapped(level, id, value, found),
            _ if self.lenient => Ok(false),
            _ => soft(sql_err!(
                SQL_JSON_MEMBER_NOT_FOUND,
                "jsonpath member accessor can only be applied to an object"
            )),
        }
    }

    /// A subscript's value.
    fn index(&mut self, level: usize, id: NodeId, value: &Value<'q>) -> Result<i64, Stop> {
        let mut list = Found::default();
        self.item(level, id, value, &mut list, self.path.lax)?;
        let number = match list.list.as_slice() {
            [only] if only.kind() == Kind::Number => only.json().number().truncate(0),
            _ => {
                return soft(sql_err!(
                    INVALID_SQL_JSON_SUBSCRIPT,
                    "jsonpath array subscript is not a single numeric value"
                ));
            }
        };
        match number.to_i128().and_then(|n| i32::try_from(n).ok()) {
            Some(n) => Ok(n.into()),
            None => {
                soft(sql_err!(INVALID_SQL_JSON_SUBSCRIPT, "jsonpath array subscript is out of integer range"))
            }
        }
    }

    fn elements(
        &mut self,
        level: usize,
        id: NodeId,
        list: &[(NodeId, Option<NodeId>)],
        value: &Value<'q>,
        found: &mut Found<'q>,
    ) -> Step {
        let array = value.kind() == Kind::Array;
        if !array && !self.path.lax {
            if self.lenient {
                return Ok(false);
            }
            return soft(sql_err!(
                SQL_JSON_ARRAY_NOT_FOUND,
                "jsonpath array accessor can only be applied to an array"
            ));
        }
        let size = if array { value.json().len() as i64 } else { 1 };
        let before = self.size.replace(size);
        let result = self.ranges(level, id, list, (value, array, size), found);
        self.size = before;
        result
    }

    fn ranges(
        &mut self,
        level: usize,
        id: NodeId,
        list: &[(NodeId, Option<NodeId>)],
        (value, array, size): (&Value<'q>, bool, i64),
        found: &mut Found<'q>,
    ) -> Step {
        let mut any = false;
        for (from, to) in list {
            let first = self.index(level, *from, value)?;
            let last = match to {
                Some(to) => self.index(level, *to, value)?,
                None => first,
            };
            if !self.lenient && (first < 0 || first > last || last >= size) {
                return soft(sql_err!(
                    INVALID_SQL_JSON_SUBSCRIPT,
                    "jsonpath array subscript is out of bounds"
                ));
            }
            for i in first.max(0)..=last.min(size - 1) {
                let element =
                    if array { value.part(|node| node.element(i as usize)) } else { Some(value.clone()) };
                let Some(element) = element else { continue };
                any |= self.next(level, id, &element, found)?;
                if any && found.first_only {
                    return Ok(true);
                }
            }
        }
        Ok(any)
    }

    /// `**`: the value itself and all below it, between two depths; `u32::MAX` twice means leaves.
    fn any(
        &mut self,
        level: usize,
        id: NodeId,
        (first, last): (u32, u32),
        value: &Value<'q>,
        found: &mut Found<'q>,
    ) -> Step {
        let before = std::mem::replace(&mut self.lenient, true);
        let mut result = Ok(false);
        if first == 0 {
            result = self.next(level, id, value, found);
        }
        let go_on = match &result {
            Ok(any) => !(*any && found.first_only),
            Err(_) => false,
        };
        if go_on {
            result = self
                .below(level, id, (1, first, last), value, found)
                .map(|any| any || matches!(result, Ok(true)));
        }
        self.lenient = before;
        result
    }

    fn below(
        &mut self,
        level: usize,
        id: NodeId,
        (depth, first, last): (u32, u32, u32),
        value: &Value<'q>,
        found: &mut Found<'q>,
    ) -> Step {
        if depth > last {
            return Ok(false);
        }
        let mut any = false;
        for member in value.members() {
            let container = !member.is_moment() && !member.json().is_scalar();
            if depth >= first || (first == u32::MAX && last == u32::MAX && !container) {
                any |= self.next(level, id, &member, found)?;
                if any && found.first_only {
                    return Ok(true);
                }
            }
            if depth < last && container {
                let deep =
                    deeper(level, || Ok(self.below(level + 1, id, (depth + 1, first, last), &member, found)));
                any |= deep??;
                if any && found.first_only {
                    return Ok(true);
                }
            }
        }
        Ok(any)
    }

    /// All items of an operand; arrays among them give their elements if the path is lax.
    fn operand(
        &mut self,
        level: usize,
        id: NodeId,
        value: &Value<'q>,
        unwrap: bool,
    ) -> Result<Vec<Value<'q>>, Stop> {
        let mut found = Found::default();
        self.item(level, id, value, &mut found, self.path.lax)?;
        if !unwrap || !self.path.lax {
            return Ok(found.list);
        }
        let mut list = Vec::with_capacity(found.list.len());
        for item in found.list {
            if item.kind() == Kind::Array {
                list.extend(item.members());
            } else {
                list.push(item);
            }
        }
        Ok(list)
    }

    fn arithmetic(
        &mut self,
        level: usize,
        op: Arith,
        left: NodeId,
        right: NodeId,
        value: &Value<'q>,
    ) -> Result<Numeric, Stop> {
        let mut side = |id, name: &str| match self.operand(level, id, value, true)?.as_slice() {
            [only] if only.kind() == Kind::Number => Ok(only.json().number()),
            _ => soft(sql_err!(
                SINGLETON_SQL_JSON_ITEM_REQUIRED,
                "{name} operand of jsonpath operator {} is not a single numeric value",
                op.sign()
            )),
        };
        let (a, b) = (side(left, "left")?, side(right, "right")?);
        let result = match op {
            Arith::Add => Ok(a.add(&b)),
            Arith::Sub => Ok(a.sub(&b)),
            Arith::Mul => Ok(a.mul(&b)),
            Arith::Div => a.div(&b),
            Arith::Mod => a.rem(&b),
        };
        result.map_err(Stop::Soft)
    }

    fn sign(
        &mut self,
        level: usize,
        id: NodeId,
        arg: NodeId,
        minus: bool,
        value: &Value<'q>,
        found: &mut Found<'q>,
    ) -> Step {
        let list = self.operand(level, arg, value, true)?;
        let chained = self.path.nodes[id].next.is_some();
        self.each(list, found, |exec, item, found| {
            if item.kind() != Kind::Number {
                if found.first_only && !chained {
                    return Ok(false);
                }
                return soft(sql_err!(
                    SQL_JSON_NUMBER_NOT_FOUND,
                    "operand of unary jsonpath operator {} is not a numeric value",
                    if minus { '-' } else { '+' }
                ));
            }
            if !minus {
                return exec.next(level, id, item, found);
            }
            let negative = Value::number(&item.json().number().negate())?;
            exec.next(level, id, &negative, found)
        })
    }

    /// Truth of a predicate; `None` is unknown.
    fn truth(&mut self, level: usize, id: NodeId, value: &Value<'q>) -> Result<Option<bool>, Stop> {
        if self.path.nodes[id].next.is_some() {
            return Err(Stop::Hard(SqlError::internal("boolean jsonpath item cannot have next item")));
        }
        match deeper(level, || Ok(self.truth_of(level + 1, id, value))) {
            Ok(result) => result,
            Err(error) => Err(Stop::Hard(error)),
        }
    }

    fn truth_of(&mut self, level: usize, id: NodeId, value: &Value<'q>) -> Result<Option<bool>, Stop> {
        let path = self.path;
        Ok(match &path.nodes[id].item {
            Item::And(a, b) => match self.truth(level, *a, value)? {
                Some(false) => Some(false),
                left => match self.truth(level, *b, value)? {
                    Some(true) => left,
                    right => right,
                },
            },
            Item::Or(a, b) => match self.truth(level, *a, value)? {
                Some(true) => Some(true),
                left => match self.truth(level, *b, value)? {
                    Some(false) => left,
                    right => right,
                },
            },
            Item::Not(arg) => self.truth(level, *arg, value)?.map(|truth| !truth),
            Item::IsUnknown(arg) => Some(self.truth(level, *arg, value)?.is_none()),
            Item::Exists(arg) => {
                let mut found = Found { list: Vec::new(), first_only: path.lax };
                match self.item(level, *arg, value, &mut found, path.lax) {
                    Ok(_) => Some(!found.list.is_empty()),
                    Err(Stop::Soft(_)) => None,
                    Err(stop) => return Err(stop),
                }
            }
            Item::Compare(op, a, b) => {
                let op = *op;
                self.predicate(level, (*a, Some(*b)), value, true, |exec, x, y| exec.compare(op, x, y))?
            }
            Item::StartsWith(a, b) => self.predicate(level, (*a, Some(*b)), value, false, |_, x, y| {
                Ok(x.text().zip(y.text()).map(|(text, start)| text.starts_with(start)))
            })?,
            Item::LikeRegex(arg, pattern, flags) => {
                let flags = super::regex_flags(flags);
                self.predicate(level, (*arg, None), value, false, |_, x, _| {
                    let matches = |text| crate::text::regex_matches(text, pattern, &flags);
                    x.text().map(matches).transpose()
                })?
            }
            _ => return Err(Stop::Hard(SqlError::internal("a jsonpath item that is no predicate"))),
        })
    }

    /// Whether a test holds for any pair of items; errors are unknown.
    fn predicate(
        &mut self,
        level: usize,
        (left, right): (NodeId, Option<NodeId>),
        value: &Value<'q>,
        unwrap_right: bool,
        test: impl Fn(&Self, &Value<'q>, &Value<'q>) -> SqlResult<Option<bool>>,
    ) -> Result<Option<bool>, Stop> {
        let mut side = |id, unwrap| match self.operand(level, id, value, unwrap) {
            Ok(list) => Ok(Some(list)),
            Err(Stop::Soft(_)) => Ok(None),
            Err(stop) => Err(stop),
        };
        let Some(lefts) = side(left, true)? else { return Ok(None) };
        let rights = match right {
            Some(right) => side(right, unwrap_right)?,
            None => Some(vec![Value::Node(Json::of(&[0]))]),
        };
        let Some(rights) = rights else { return Ok(None) };
        let (mut any, mut unknown) = (false, false);
        for x in &lefts {
            for y in &rights {
                match test(self, x, y)? {
                    None if !self.path.lax => return Ok(None),
                    None => unknown = true,
                    Some(true) if self.path.lax => return Ok(Some(true)),
                    Some(true) => any = true,
                    Some(false) => {}
                }
            }
        }
        Ok(if any {
            Some(true)
        } else if unknown {
            None
        } else {
            Some(false)
        })
    }

    fn compare(&self, op: Compare, a: &Value<'q>, b: &Value<'q>) -> SqlResult<Option<bool>> {
        let order = match (a, b) {
            (Value::Moment(x), Value::Moment(y)) => x.compare(*y, self.query.zone, self.query.cx)?,
            _ => {
                let (x, y) = (a.kind(), b.kind());
                let moments = a.is_moment() || b.is_moment();
                match (x, y) {
                    // Null is equal to nothing else, and has no order with it.
                    (Kind::Null, y) if y != Kind::Null => return Ok(Some(op == Compare::NotEqual)),
                    (x, Kind::Null) if x != Kind::Null => return Ok(Some(op == Compare::NotEqual)),
                    _ if moments => None,
                    (Kind::Null, Kind::Null)
                    | (Kind::Bool(_), Kind::Bool(_))
                    | (Kind::Number, Kind::Number)
                    | (Kind::String, Kind::String) => Some(compare_scalars(a.json(), b.json())),
                    _ => None,
                }
            }
        };
        Ok(order.map(|order| match op {
            Compare::Equal => order == Ordering::Equal,
            Compare::NotEqual => order != Ordering::Equal,
            Compare::Less => order == Ordering::Less,
            Compare::LessEqual => order != Ordering::Greater,
            Compare::Greater => order == Ordering::Greater,
            Compare::GreaterEqual => order != Ordering::Less,
        }))
    }
}
