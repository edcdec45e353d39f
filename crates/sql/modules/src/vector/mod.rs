//! # What
//! `vector`: vectors of numbers, dense ones of single (`vector`) or half precision (`halfvec`) and sparse ones (`sparsevec`), and distances between them.
//!
//! # Layout
//! `form`: the three types' payloads, text and binary forms. `dense`, `sparse`: what is done with them. `half`: numbers of half precision. `bits`: distances
//! between strings of bits. `near`: the operator classes of `hnsw` and `ivfflat`.
//!
//! # PostgreSQL counterpart and differences
//! pgvector 0.8 without `hnsw.scan_mem_multiplier`. The access methods are `storage/hnsw` and `storage/ivfflat`.

mod bits;
mod dense;
mod form;
mod half;
mod near;
mod sparse;

use session::module::{Module, ModuleFunction};
use types::registry::libraries::{LibraryType, TypeSymbols};

use ModuleFunction::Value;
use dense::{Half, Single};

/// The extension.
pub static MODULE: Module = Module {
    name: "vector",
    version: "0.8.0",
    comment: "vector data type and ivfflat and hnsw access methods",
    relocatable: true,
    script: include_str!("script.sql"),
    types: &[VECTOR, HALFVEC, SPARSEVEC],
    trees: near::CLASSES,
    methods: &[("hnswhandler", "hnsw"), ("ivfflathandler", "ivfflat")],
    support: &["hnswhandler", "ivfflathandler", "ivfflat_halfvec_support", "ivfflat_bit_support"],
    functions: &[
        ("l2_distance", Value(dense::l2::<Single>)),
        ("inner_product", Value(dense::inner::<Single>)),
        ("cosine_distance", Value(dense::cosine::<Single>)),
        ("l1_distance", Value(dense::l1::<Single>)),
        ("vector_dims", Value(dense::dims::<Single>)),
        ("vector_norm", Value(dense::norm::<Single>)),
        ("l2_normalize", Value(dense::normalize::<Single>)),
        ("binary_quantize", Value(dense::quantize::<Single>)),
        ("subvector", Value(dense::part::<Single>)),
        ("vector_add", Value(dense::add::<Single>)),
        ("vector_sub", Value(dense::subtract::<Single>)),
        ("vector_mul", Value(dense::multiply::<Single>)),
        ("vector_concat", Value(dense::concat::<Single>)),
        ("vector_lt", Value(dense::less::<Single>)),
        ("vector_le", Value(dense::at_most::<Single>)),
        ("vector_eq", Value(dense::equal::<Single>)),
        ("vector_ne", Value(dense::not_equal::<Single>)),
        ("vector_ge", Value(dense::at_least::<Single>)),
        ("vector_gt", Value(dense::greater::<Single>)),
        ("vector_cmp", Value(dense::three_way::<Single>)),
        ("vector_l2_squared_distance", Value(dense::l2_squared::<Single>)),
        ("vector_negative_inner_product", Value(dense::negative_inner::<Single>)),
        ("vector_spherical_distance", Value(dense::spherical::<Single>)),
        ("vector_accum", Value(dense::accumulate::<Single>)),
        ("vector_avg", Value(dense::average::<Single>)),
        ("vector_combine", Value(dense::combine)),
        ("vector", Value(dense::sized::<Single>)),
        ("array_to_vector", Value(dense::from_array::<Single>)),
        ("vector_to_float4", Value(dense::to_array::<Single>)),
        ("vector_to_halfvec", Value(dense::convert::<Single, Half>)),
        ("vector_to_sparsevec", Value(sparse::from_dense::<Single>)),
        ("halfvec_l2_distance", Value(dense::l2::<Half>)),
        ("halfvec_inner_product", Value(dense::inner::<Half>)),
        ("halfvec_cosine_distance", Value(dense::cosine::<Half>)),
        ("halfvec_l1_distance", Value(dense::l1::<Half>)),
        ("halfvec_vector_dims", Value(dense::dims::<Half>)),
        ("halfvec_l2_norm", Value(dense::norm::<Half>)),
        ("halfvec_l2_normalize", Value(dense::normalize::<Half>)),
        ("halfvec_binary_quantize", Value(dense::quantize::<Half>)),
        ("halfvec_subvector", Value(dense::part::<Half>)),
        ("halfvec_add", Value(dense::add::<Half>)),
        ("halfvec_sub", Value(dense::subtract::<Half>)),
        ("halfvec_mul", Value(dense::multiply::<Half>)),
        ("halfvec_concat", Value(dense::concat::<Half>)),
        ("halfvec_lt", Value(dense::less::<Half>)),
        ("halfvec_le", Value(dense::at_most::<Half>)),
        ("halfvec_eq", Value(dense::equal::<Half>)),
        ("halfvec_ne", Value(dense::not_equal::<Half>)),
        ("halfvec_ge", Value(dense::at_least::<Half>)),
        ("halfvec_gt", Value(dense::greater::<Half>)),
        ("halfvec_cmp", Value(dense::three_way::<Half>)),
        ("halfvec_l2_squared_distance", Value(dense::l2_squared::<Half>)),
        ("halfvec_negative_inner_product", Value(dense::negative_inner::<Half>)),
        ("halfvec_spherical_distance", Value(dense::spherical::<Half>)),
        ("halfvec_accum", Value(dense::accumulate::<Half>)),
        ("halfvec_avg", Value(dense::average::<Half>)),
        ("halfvec", Value(dense::sized::<Half>)),
        ("array_to_halfvec", Value(dense::from_array::<Half>)),
        ("halfvec_to_float4", Value(dense::to_array::<Half>)),
        ("halfvec_to_vector", Value(dense::convert::<Half, Single>)),
        ("halfvec_to_sparsevec", Value(sparse::from_dense::<Half>)),
        ("sparsevec_l2_distance", Value(sparse::l2)),
        ("sparsevec_inner_product", Value(sparse::inner)),
        ("sparsevec_cosine_distance", Value(sparse::cosine)),
        ("sparsevec_l1_distance", Value(sparse::l1)),
        ("sparsevec_l2_norm", Value(sparse::norm)),
        ("sparsevec_l2_normalize", Value(sparse::normalize)),
        ("sparsevec_lt", Value(|_, args| sparse::related(args, |order| order.is_lt()))),
        ("sparsevec_le", Value(|_, args| sparse::related(args, |order| order.is_le()))),
        ("sparsevec_eq", Value(|_, args| sparse::related(args, |order| order.is_eq()))),
        ("sparsevec_ne", Value(|_, args| sparse::related(args, |order| order.is_ne()))),
        ("sparsevec_ge", Value(|_, args| sparse::related(args, |order| order.is_ge()))),
        ("sparsevec_gt", Value(|_, args| sparse::related(args, |order| order.is_gt()))),
        ("sparsevec_cmp", Value(sparse::three_way)),
        ("sparsevec_l2_squared_distance", Value(sparse::l2_squared)),
        ("sparsevec_negative_inner_product", Value(sparse::negative_inner)),
        ("sparsevec", Value(sparse::sized)),
        ("array_to_sparsevec", Value(sparse::from_array)),
        ("sparsevec_to_vector", Value(sparse::to_dense::<Single>)),
        ("sparsevec_to_halfvec", Value(sparse::to_dense::<Half>)),
        ("hamming_distance", Value(bits::hamming)),
        ("jaccard_distance", Value(bits::jaccard)),
    ],
    ..Module::LIBRARY
};

const VECTOR: LibraryType = LibraryType {
    imp: form::dense_type::<Single>(9810),
    symbols: TypeSymbols {
        input: "vector_in",
        output: "vector_out",
        receive: "vector_recv",
        send: "vector_send",
        typmod_in: "vector_typmod_in",
        compare: "vector_cmp",
        ..TypeSymbols::NONE
    },
};

const HALFVEC: LibraryType = LibraryType {
    imp: form::dense_type::<Half>(9811),
    symbols: TypeSymbols {
        input: "halfvec_in",
        output: "halfvec_out",
        receive: "halfvec_recv",
        send: "halfvec_send",
        typmod_in: "halfvec_typmod_in",
        compare: "halfvec_cmp",
        ..TypeSymbols::NONE
    },
};

const SPARSEVEC: LibraryType = LibraryType {
    imp: sparse::TYPE,
    symbols: TypeSymbols {
        input: "sparsevec_in",
        output: "sparsevec_out",
        receive: "sparsevec_recv",
        send: "sparsevec_send",
        typmod_in: "sparsevec_typmod_in",
        compare: "sparsevec_cmp",
        ..TypeSymbols::NONE
    },
};
