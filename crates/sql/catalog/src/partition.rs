//! # What
//! How a table is partitioned: its key, and the bounds of its partitions, as `pg_partitioned_table` and `pg_class.relpartbound` have them.
//!
//! # Layout
//! A stored bound is a list of texts (`stored_list`): a letter for its form (`d`, `h`, `l`, `r`), then
//! modulus and remainder, the constants of a list, or the limits of a range, lower ones first. A limit is `-` (MINVALUE), `+`
//! (MAXVALUE) or a constant. Constants are stored expressions, which are text to this layer.

use std::sync::Arc;

use base::{Oid, SqlError, SqlResult, Xid};

use crate::database::Reader;
use crate::row::{Row, RowExt};
use crate::stored_list;
use crate::system::{pg_class, pg_inherits, pg_partitioned_table};
use crate::tables::Place;
use crate::vectors;

/// Strategy of PARTITION BY.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Strategy {
    List,
    Range,
    Hash,
}

impl Strategy {
    /// `pg_partitioned_table.partstrat`.
    pub fn letter(self) -> u8 {
        match self {
            Strategy::List => b'l',
            Strategy::Range => b'r',
            Strategy::Hash => b'h',
        }
    }

    /// Its word in SQL, in lower case.
    pub fn word(self) -> &'static str {
        match self {
            Strategy::List => "list",
            Strategy::Range => "range",
            Strategy::Hash => "hash",
        }
    }
}

/// How a table is partitioned.
#[derive(Clone, Debug, PartialEq)]
pub struct Partitioning {
    /// Strategy.
    pub strategy: Strategy,
    /// Attribute numbers of the key; 0 for an expression.
    pub keys: Vec<i16>,
    /// Expressions of the zeros in `keys`, in order, as `analyze::stored` writes them.
    pub expressions: Vec<Arc<str>>,
    /// Operator classes of the key.
    pub opclasses: Vec<Oid>,
    /// Collations of the key.
    pub collations: Vec<Oid>,
    /// The DEFAULT partition; 0 if none.
    pub default: Oid,
    /// The partitions, by OID; the one in `detaching` among them, unless it is hidden.
    pub partitions: Vec<Partition>,
    /// The partition that DETACH CONCURRENTLY has begun to take away; there is one at most.
    pub detaching: Option<Detaching>,
}

/// A partition whose row of `pg_inherits` says `inhdetachpending`.
#[derive(Clone, Debug, PartialEq)]
pub struct Detaching {
    /// It.
    pub partition: Partition,
    /// Who marked it: to snapshots that do not see this xid ended it is a partition like the others.
    pub by: Xid,
    /// Whether it is left out, in the description for a snapshot that sees it gone.
    pub hidden: bool,
}

/// What inherits from a relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Child {
    /// Its OID.
    pub oid: Oid,
    /// Who marked it as being detached, if it is.
    pub detached_by: Option<Xid>,
}

/// A partition of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Partition {
    /// Its OID.
    pub oid: Oid,
    /// What it takes.
    pub bound: Bound,
}

/// FOR VALUES of a partition, with constants as `T`: stored expressions here, values above.
#[derive(Clone, Debug, PartialEq)]
pub enum Bound<T = Arc<str>> {
    /// DEFAULT
    Default,
    /// WITH (MODULUS m, REMAINDER r)
    Hash(i32, i32),
    /// IN (constants)
    List(Vec<T>),
    /// FROM (limits) TO (limits)
    Range(Vec<Limit<T>>, Vec<Limit<T>>),
}

/// A column of a range's end.
#[derive(Clone, Debug, PartialEq)]
pub enum Limit<T = Arc<str>> {
    /// MINVALUE
    Min,
    /// A constant.
    Value(T),
    /// MAXVALUE
    Max,
}

impl Partitioning {
    /// What a snapshot that sees these xids ended has of it; none if that is all.
    pub(crate) fn seen_by(&self, sees: impl FnOnce(Xid) -> bool) -> Option<Partitioning> {
        let detaching = self.detaching.as_ref().filter(|d| !d.hidden && sees(d.by))?;
        let mut seen = self.clone();
        seen.partitions.retain(|p| p.oid != detaching.partition.oid);
        seen.detaching = Some(Detaching { hidden: true, ..detaching.clone() });
        Some(seen)
    }

    /// Its partitions with the hidden one: they share out the rows until that is detached.
    pub fn all_partitions(&self) -> impl Iterator<Item = &Partition> {
        let hidden = self.detaching.as_ref().filter(|d| d.hidden).map(|d| &d.partition);
        self.partitions.iter().chain(hidden)
    }
}

impl<T> Limit<T> {
    /// The same with another form of constant.
    pub fn try_map<U>(&self, f: &mut dyn FnMut(&T) -> SqlResult<U>) -> SqlResult<Limit<U>> {
        Ok(match self {
            Limit::Min => Limit::Min,
            Limit::Value(value) => Limit::Value(f(value)?),
            Limit::Max => Limit::Max,
        })
    }
}

impl<T> Bound<T> {
    /// The same with another form of constant.
    pub fn try_map<U>(&self, f: &mut dyn FnMut(&T) -> SqlResult<U>) -> SqlResult<Bound<U>> {
        Ok(match self {
            Bound::Default => Bound::Default,
            Bound::Hash(modulus, remainder) => Bound::Hash(*modulus, *remainder),
            Bound::List(values) => Bound::List(values.iter().map(f).collect::<SqlResult<_>>()?),
            Bound::Range(lower, upper) => Bound::Range(
                lower.iter().map(|l| l.try_map(f)).collect::<SqlResult<_>>()?,
                upper.iter().map(|l| l.try_map(f)).collect::<SqlResult<_>>()?,
            ),
        })
    }
}

impl Bound {
    /// As `relpartbound` keeps it.
    pub fn store(&self) -> String {
        let limit = |limit: &Limit| match limit {
            Limit::Min => "-".to_owned(),
            Limit::Value(stored) => stored.to_string(),
            Limit::Max => "+".to_owned(),
        };
        let parts: Vec<String> = match self {
            Bound::Default => vec!["d".into()],
            Bound::Hash(modulus, remainder) => {
                vec!["h".into(), modulus.to_string(), remainder.to_string()]
            }
            Bound::List(values) => {
                std::iter::once("l".to_owned()).chain(values.iter().map(|v| v.to_string())).collect()
            }
            Bound::Range(lower, upper) => {
                std::iter::once("r".to_owned()).chain(lower.iter().chain(upper).map(limit)).collect()
            }
        };
        stored_list::join(&parts)
    }

    /// What [`Bound::store`] made; none of anything else.
    pub fn load(text: &str) -> Option<Bound> {
        let parts = stored_list::split(text);
        let (form, rest) = parts.split_first()?;
        let limit = |text: &Arc<str>| match &**text {
            "-" => Limit::Min,
            "+" => Limit::Max,
            _ => Limit::Value(text.clone()),
        };
        Some(match (&**form, rest) {
            ("d", []) => Bound::Default,
            ("h", [modulus, remainder]) => Bound::Hash(modulus.parse().ok()?, remainder.parse().ok()?),
            ("l", values) => Bound::List(values.to_vec()),
            ("r", limits) if limits.len() % 2 == 0 => {
                let (lower, upper) = limits.split_at(limits.len() / 2);
                Bound::Range(lower.iter().map(limit).collect(), upper.iter().map(limit).collect())
            }
            _ => return None,
        })
    }
}

impl Reader<'_> {
    /// What inherits from a relation directly, by OID, a partition that is being detached among them.
    pub fn children(&self, parent: Oid) -> SqlResult<Vec<Child>> {
        let rows = self.find(&pg_inherits::TABLE, pg_inherits::PG_INHERITS_PARENT_INDEX, &[parent.into()])?;
        let child = |(place, row): &(Place, Row)| Child {
            oid: row.oid(pg_inherits::INHRELID),
            detached_by: row.bool(pg_inherits::INHDETACHPENDING).then_some(place.inserter),
        };
        let mut children: Vec<Child> = rows.iter().map(child).collect();
        children.sort_unstable_by_key(|child| child.oid);
        Ok(children)
    }

    /// Whether DETACH CONCURRENTLY of a partition has begun and not ended.
    pub fn is_being_detached(&self, partition: Oid) -> SqlResult<bool> {
        let index = pg_inherits::PG_INHERITS_RELID_SEQNO_INDEX;
        let rows = self.find(&pg_inherits::TABLE, index, &[partition.into()])?;
        Ok(rows.iter().any(|(_, row)| row.bool(pg_inherits::INHDETACHPENDING)))
    }

    /// What a relation inherits from directly, in the order of its definition.
    pub fn parents(&self, child: Oid) -> SqlResult<Vec<Oid>> {
        let index = pg_inherits::PG_INHERITS_RELID_SEQNO_INDEX;
        let rows = self.find(&pg_inherits::TABLE, index, &[child.into()])?;
        Ok(rows.iter().map(|(_, row)| row.oid(pg_inherits::INHPARENT)).collect())
    }

    /// The bound of a partition; none of what is no partition.
    pub fn bound(&self, partition: Oid) -> SqlResult<Option<Bound>> {
        let by_oid = pg_class::PG_CLASS_OID_INDEX;
        let Some((_, row)) = self.find_one(&pg_class::TABLE, by_oid, &[partition.into()])? else {
            return Ok(None);
        };
        match row.opt_str(pg_class::RELPARTBOUND) {
            None => Ok(None),
            Some(text) => match Bound::load(text) {
                Some(bound) => Ok(Some(bound)),
                None => Err(SqlError::internal(format!("bound of partition {partition} is corrupt"))),
            },
        }
    }

    /// How a table is partitioned; none while it is being made.
    pub(crate) fn load_partitioning(&self, table: Oid) -> SqlResult<Option<Partitioning>> {
        use pg_partitioned_table as p;
        let row = self.find_one(&p::TABLE, p::PG_PARTITIONED_TABLE_PARTRELID_INDEX, &[table.into()])?;
        let Some((_, row)) = row else { return Ok(None) };
        let (mut partitions, mut detaching) = (Vec::new(), None);
        for Child { oid, detached_by } in self.children(table)? {
            if let Some(bound) = self.bound(oid)? {
                let partition = Partition { oid, bound };
                if let Some(by) = detached_by {
                    detaching = Some(Detaching { partition: partition.clone(), by, hidden: false });
                }
                partitions.push(partition);
            }
        }
        Ok(Some(Partitioning {
            strategy: match row.char(p::PARTSTRAT) {
                b'l' => Strategy::List,
                b'h' => Strategy::Hash,
                _ => Strategy::Range,
            },
            keys: vectors::int2s(&row[p::PARTATTRS]),
            expressions: row.opt_str(p::PARTEXPRS).map(stored_list::split).unwrap_or_default(),
            opclasses: vectors::oids(&row[p::PARTCLASS]),
            collations: vectors::oids(&row[p::PARTCOLLATION]),
            default: row.oid(p::PARTDEFID),
            partitions,
            detaching,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_survive_their_text() {
        let bounds = [
            Bound::Default,
            Bound::Hash(8, 3),
            Bound::List(vec!["1:x".into(), "".into()]),
            Bound::Range(
                vec![Limit::Min, Limit::Value("1:5".into())],
                vec![Limit::Value("7".into()), Limit::Max],
            ),
        ];
        for bound in bounds {
            assert_eq!(Bound::load(&bound.store()).as_ref(), Some(&bound));
        }
        assert_eq!(Bound::load("1:x"), None);
        assert_eq!(Bound::load(""), None);
    }
}
