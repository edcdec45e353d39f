//! What the operator classes of `hnsw` and `ivfflat` do: distances between vectors, whose keys are the vectors themselves, and the middle of some, which is the centre of a list of `ivfflat`.

use std::cmp::Ordering;
use std::fmt;

use tuple::Datum;
use tuple::tree::{Match, TreeClass, TreeQuery};
use types::registry::Eval;
use types::registry::libraries::Tree;
use types::value::FromDatum;
use types::{Call, FormatContext};

use super::dense::{self, Half, Single, between};
use super::{bits, sparse};

/// The distance of two payloads; none if they have none.
type Between = fn(&[u8], &[u8]) -> Option<f64>;

/// A class.
struct Nearest {
    distance: Eval,
    /// The same of payloads; none of a class for which there is no shorter way.
    between: Option<Between>,
    /// The distance from nothing is not known: such vectors are not in the index.
    needs_length: Option<Eval>,
    /// The vector that some, at least one, lie around; none of a class for which it is not asked.
    middle: Option<fn(&[&Datum]) -> Datum>,
}

impl fmt::Debug for Nearest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("vectors by their distance")
    }
}

/// Classes, by the symbols of their distances.
pub(super) const CLASSES: &[(&str, Tree)] = &[
    (
        "l2_distance",
        plain(&Nearest {
            distance: dense::l2::<Single>,
            between: Some(between::l2::<Single>),
            needs_length: None,
            middle: Some(dense::middle::<Single>),
        }),
    ),
    (
        "vector_negative_inner_product",
        plain(&Nearest {
            distance: dense::negative_inner::<Single>,
            between: Some(between::negative_inner::<Single>),
            needs_length: None,
            middle: Some(dense::direction::<Single>),
        }),
    ),
    (
        "cosine_distance",
        plain(&Nearest {
            distance: dense::cosine::<Single>,
            between: Some(between::cosine::<Single>),
            needs_length: Some(dense::norm::<Single>),
            middle: Some(dense::direction::<Single>),
        }),
    ),
    (
        "l1_distance",
        plain(&Nearest {
            distance: dense::l1::<Single>,
            between: Some(between::l1::<Single>),
            needs_length: None,
            middle: None,
        }),
    ),
    (
        "halfvec_l2_distance",
        plain(&Nearest {
            distance: dense::l2::<Half>,
            between: Some(between::l2::<Half>),
            needs_length: None,
            middle: Some(dense::middle::<Half>),
        }),
    ),
    (
        "halfvec_negative_inner_product",
        plain(&Nearest {
            distance: dense::negative_inner::<Half>,
            between: Some(between::negative_inner::<Half>),
            needs_length: None,
            middle: Some(dense::direction::<Half>),
        }),
    ),
    (
        "halfvec_cosine_distance",
        plain(&Nearest {
            distance: dense::cosine::<Half>,
            between: Some(between::cosine::<Half>),
            needs_length: Some(dense::norm::<Half>),
            middle: Some(dense::direction::<Half>),
        }),
    ),
    (
        "halfvec_l1_distance",
        plain(&Nearest {
            distance: dense::l1::<Half>,
            between: Some(between::l1::<Half>),
            needs_length: None,
            middle: None,
        }),
    ),
    (
        "sparsevec_l2_distance",
        plain(&Nearest { distance: sparse::l2, between: None, needs_length: None, middle: None }),
    ),
    (
        "sparsevec_negative_inner_product",
        plain(&Nearest { distance: sparse::negative_inner, between: None, needs_length: None, middle: None }),
    ),
    (
        "sparsevec_cosine_distance",
        plain(&Nearest {
            distance: sparse::cosine,
            between: None,
            needs_length: Some(sparse::norm),
            middle: None,
        }),
    ),
    (
        "sparsevec_l1_distance",
        plain(&Nearest { distance: sparse::l1, between: None, needs_length: None, middle: None }),
    ),
    (
        "hamming_distance",
        plain(&Nearest {
            distance: bits::hamming,
            between: None,
            needs_length: None,
            middle: Some(bits::majority),
        }),
    ),
    (
        "jaccard_distance",
        plain(&Nearest { distance: bits::jaccard, between: None, needs_length: None, middle: None }),
    ),
];

const fn plain(class: &'static Nearest) -> Tree {
    Tree::Plain(class)
}

/// What a function of this module gives, which asks its call nothing; none after an error.
fn number(function: Eval, args: &[Datum]) -> Option<f64> {
    thread_local! {
        static FORMAT: FormatContext = FormatContext::default();
    }
    let value = FORMAT.with(|format| function(&Call::new(format), args)).ok()?;
    Some(f64::from_datum(&value))
}

impl TreeClass for Nearest {
    fn compress(&self, value: &Datum) -> Datum {
        let has_length = |norm| number(norm, std::slice::from_ref(value)).is_some_and(|length| length > 0.0);
        if self.needs_length.is_none_or(has_length) { value.clone() } else { Datum::Null }
    }

    fn consistent(&self, _key: &Datum, _query: TreeQuery<'_>, _leaf: bool) -> Match {
        Match::Maybe
    }

    fn union(&self, keys: &[&Datum]) -> Datum {
        match (self.middle, keys) {
            (_, []) => Datum::Null,
            (Some(middle), keys) => middle(keys),
            (None, [first, ..]) => (*first).clone(),
        }
    }

    fn same(&self, a: &Datum, b: &Datum) -> bool {
        a == b
    }

    fn penalty(&self, _key: &Datum, _new: &Datum) -> f32 {
        0.0
    }

    fn split(&self, keys: &[&Datum]) -> Vec<bool> {
        (0..keys.len()).map(|at| at >= keys.len() / 2).collect()
    }

    /// NaN of vectors that have no distance.
    fn distance(&self, key: &Datum, query: TreeQuery<'_>, _leaf: bool) -> (f64, bool) {
        (number(self.distance, &[key.clone(), query.value.clone()]).unwrap_or(f64::NAN), false)
    }

    fn between(&self, a: &[u8], b: &[u8]) -> f64 {
        match self.between {
            Some(between) => between(a, b).unwrap_or(f64::NAN),
            None => {
                let both = [a, b].map(|bytes| Datum::Bytes(bytes.into()));
                number(self.distance, &both).unwrap_or(f64::NAN)
            }
        }
    }

    fn order(&self, a: &Datum, b: &Datum) -> Ordering {
        <&[u8]>::from_datum(a).cmp(<&[u8]>::from_datum(b))
    }
}
