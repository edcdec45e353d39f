//! # What
//! `cube`: boxes in up to 100 dimensions, and points.
//!
//! # Layout
//! `value`: the payload, text and binary form. `geometry`: what is done with cubes. `tree`: GiST. Here: the functions.
//!
//! # PostgreSQL counterpart and differences
//! `contrib/cube`. Pages of GiST are split along one dimension.

mod geometry;
mod tree;
mod value;

use std::cmp::Ordering;

use base::{Oid, SqlError, SqlResult, sql_err};
use session::module::{Module, ModuleFunction};
use tuple::{Datum, Physical};
use types::Call;
use types::array::Array;
use types::registry::libraries::{LibraryType, Tree, TypeSymbols};
use types::registry::{TypeImp, TypeInfo};
use types::value::FromDatum;

use ModuleFunction::Value;
use value::{Cube, MOST};

/// The extension.
pub static MODULE: Module = Module {
    name: "cube",
    version: "1.5",
    comment: "data type for multidimensional cubes",
    relocatable: true,
    trusted: true,
    script: include_str!("script.sql"),
    types: &[CUBE],
    trees: &[("g_cube", Tree::Plain(&tree::Cubes))],
    functions: &[
        ("cube_a_f8_f8", Value(from_corners)),
        ("cube_a_f8", Value(|_, args| Ok(Cube::point(coordinates(&args[0], "array is too long")?).datum()))),
        ("cube_f8", Value(|_, args| Ok(Cube::point(vec![f64::from_datum(&args[0])]).datum()))),
        (
            "cube_f8_f8",
            Value(|_, args| {
                let [one, other] = [0, 1].map(|at| vec![f64::from_datum(&args[at])]);
                Ok(Cube::between(one, other).datum())
            }),
        ),
        ("cube_c_f8", Value(|_, args| extended(args, 1))),
        ("cube_c_f8_f8", Value(|_, args| extended(args, 2))),
        ("cube_eq", Value(|_, args| Ok(Datum::Bool(order(args).is_eq())))),
        ("cube_ne", Value(|_, args| Ok(Datum::Bool(order(args).is_ne())))),
        ("cube_lt", Value(|_, args| Ok(Datum::Bool(order(args).is_lt())))),
        ("cube_gt", Value(|_, args| Ok(Datum::Bool(order(args).is_gt())))),
        ("cube_le", Value(|_, args| Ok(Datum::Bool(order(args).is_le())))),
        ("cube_ge", Value(|_, args| Ok(Datum::Bool(order(args).is_ge())))),
        ("cube_cmp", Value(|_, args| Ok(Datum::Int4(order(args) as i32)))),
        ("cube_contains", Value(|_, args| Ok(Datum::Bool(two(args, geometry::contains))))),
        ("cube_contained", Value(|_, args| Ok(Datum::Bool(two(args, |a, b| geometry::contains(b, a)))))),
        ("cube_overlap", Value(|_, args| Ok(Datum::Bool(two(args, geometry::overlaps))))),
        ("cube_union", Value(|_, args| Ok(two(args, geometry::union).datum()))),
        ("cube_inter", Value(|_, args| Ok(two(args, geometry::intersection).datum()))),
        ("cube_size", Value(|_, args| Ok(Datum::Float8(geometry::size(&cube(args)))))),
        ("cube_subset", Value(subset)),
        ("cube_distance", Value(|_, args| Ok(Datum::Float8(two(args, geometry::distance))))),
        ("distance_chebyshev", Value(|_, args| Ok(Datum::Float8(two(args, geometry::chebyshev))))),
        ("distance_taxicab", Value(|_, args| Ok(Datum::Float8(two(args, geometry::taxicab))))),
        ("cube_dim", Value(|_, args| Ok(Datum::Int4(cube(args).dimensions() as i32)))),
        ("cube_ll_coord", Value(|_, args| Ok(Datum::Float8(of_dimension(args, Cube::low))))),
        ("cube_ur_coord", Value(|_, args| Ok(Datum::Float8(of_dimension(args, Cube::high))))),
        ("cube_coord", Value(coordinate)),
        ("cube_coord_llur", Value(sorted_coordinate)),
        (
            "cube_is_point",
            Value(|_, args| {
                let of = cube(args);
                Ok(Datum::Bool(of.point || of.one == of.other))
            }),
        ),
        (
            "cube_enlarge",
            Value(|_, args| {
                let dimensions = i32::from_datum(&args[2]).clamp(0, MOST as i32) as usize;
                Ok(geometry::enlarged(&cube(args), f64::from_datum(&args[1]), dimensions).datum())
            }),
        ),
    ],
    ..Module::LIBRARY
};

const CUBE: LibraryType = LibraryType {
    imp: TypeImp {
        row: Some(TypeInfo {
            align: 8,
            storage: b'p',
            ..TypeInfo::new(Oid(9823), "cube", b'U', Physical::Varlena)
        }),
        input: |_, text, _, cx| value::read(text, cx),
        output: |_, value, cx, out| value::write(&Cube::from_datum(value), cx, out),
        receive: |_, reader, _, _| value::receive(reader),
        send: |_, value, _, out| {
            value::send(&Cube::from_datum(value), out);
            Ok(())
        },
        compare: Some(compare),
        equal: Some(|a, b| compare(a, b).is_eq()),
        ..TypeImp::NONE
    },
    symbols: TypeSymbols {
        input: "cube_in",
        output: "cube_out",
        receive: "cube_recv",
        send: "cube_send",
        compare: "cube_cmp",
        ..TypeSymbols::NONE
    },
};

fn compare(a: &Datum, b: &Datum) -> Ordering {
    geometry::compare(&Cube::from_datum(a), &Cube::from_datum(b))
}

fn cube(args: &[Datum]) -> Cube {
    Cube::from_datum(&args[0])
}

fn order(args: &[Datum]) -> Ordering {
    compare(&args[0], &args[1])
}

fn two<T>(args: &[Datum], of: impl FnOnce(&Cube, &Cube) -> T) -> T {
    of(&Cube::from_datum(&args[0]), &Cube::from_datum(&args[1]))
}

fn element(message: &'static str) -> SqlError {
    sql_err!(ARRAY_ELEMENT_ERROR, "{message}")
}

fn too_many(message: &'static str) -> SqlError {
    sql_err!(PROGRAM_LIMIT_EXCEEDED, "{message}")
        .detail(format!("A cube cannot have more than {MOST} dimensions."))
}

fn array(value: &Datum) -> SqlResult<Vec<Datum>> {
    let values = Array::from_payload(<&[u8]>::from_datum(value)).elements().to_vec();
    if values.iter().any(Datum::is_null) {
        return Err(element("cannot work with arrays containing NULLs"));
    }
    Ok(values)
}

fn coordinates(value: &Datum, too_long: &'static str) -> SqlResult<Vec<f64>> {
    let values = array(value)?;
    if values.len() > MOST {
        return Err(too_many(too_long));
    }
    Ok(values.iter().map(f64::from_datum).collect())
}

/// From two arrays.
fn from_corners(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    let [one, other] = [&args[0], &args[1]].map(|value| coordinates(value, "can't extend cube"));
    let (one, other) = (one?, other?);
    if one.len() != other.len() {
        return Err(element("UR and LL arrays must be of same length"));
    }
    Ok(Cube::between(one, other).datum())
}

/// With one dimension more, from one number to another, or at one.
fn extended(args: &[Datum], numbers: usize) -> SqlResult<Datum> {
    let mut of = cube(args);
    if of.dimensions() >= MOST {
        return Err(too_many("can't extend cube"));
    }
    let (from, to) = (f64::from_datum(&args[1]), f64::from_datum(&args[numbers]));
    of.point &= from == to;
    of.one.push(from);
    of.other.push(to);
    Ok(of.datum())
}

/// The dimensions that an array names, in its order.
fn subset(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    let (of, wanted) = (cube(args), array(&args[1])?);
    if wanted.len() > MOST {
        return Err(too_many("array is too long"));
    }
    let mut made = Cube { one: Vec::new(), other: Vec::new(), point: of.point };
    for number in &wanted {
        let at = usize::try_from(i32::from_datum(number) - 1).unwrap_or(usize::MAX);
        let (Some(one), Some(other)) = (of.one.get(at), of.other.get(at)) else {
            return Err(element("Index out of bounds"));
        };
        made.one.push(*one);
        made.other.push(*other);
    }
    Ok(made.datum())
}

fn of_dimension(args: &[Datum], of: fn(&Cube, usize) -> f64) -> f64 {
    usize::try_from(i32::from_datum(&args[1]) - 1).map_or(0.0, |at| of(&cube(args), at))
}

/// The coordinates as they are stored, one corner after the other.
fn coordinate(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    let (of, number) = (cube(args), i32::from_datum(&args[1]));
    let at = usize::try_from(number - 1).unwrap_or(usize::MAX);
    let found = of.one.iter().chain(&of.other).nth(at);
    found
        .map(|number| Datum::Float8(*number))
        .ok_or_else(|| sql_err!(ARRAY_ELEMENT_ERROR, "cube index {number} is out of bounds"))
}

/// The lower and the upper coordinate of one dimension after the other; with the other sign if the number is negative.
fn sorted_coordinate(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    let (of, number) = (cube(args), i32::from_datum(&args[1]));
    if number == 0 {
        return Err(element("zero cube index is not defined"));
    }
    let at = number.unsigned_abs() as usize - 1;
    let found = if at % 2 == 1 { of.high(at / 2) } else { of.low(at / 2) };
    Ok(Datum::Float8(if number < 0 { -found } else { found }))
}
