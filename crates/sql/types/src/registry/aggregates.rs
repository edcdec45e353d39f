//! `pg_aggregate`, and the `pg_proc` rows of aggregates.

use base::Oid;

use crate::aggregate::{Bits, Kind::*, Regression, Spread};
use crate::json::JsonAgg;
use crate::ordered_set::Sorted;
use crate::range::RangeAgg;
use crate::xml::XmlAgg;

use super::Aggregate;

/// Every built-in aggregate, by OID: function, transition, final and combine functions, state type, first state, sort operator,
/// computation.
#[rustfmt::skip]
pub static AGGREGATES: &[Aggregate] = &[
    agg(2050, 515, 0, 515, 2277, None, 1073, &Max(crate::oids::anyarray)), // max(anyarray)
    agg(2051, 516, 0, 516, 2277, None, 1072, &Min(crate::oids::anyarray)), // min(anyarray)
    agg(2100, 2746, 3389, 2785, 2281, None, 0, &AvgInt), // avg(int8)
    agg(2101, 1963, 1964, 3324, 1016, Some("{0,0}"), 0, &AvgInt), // avg(int4)
    agg(2102, 1962, 1964, 3324, 1016, Some("{0,0}"), 0, &AvgInt), // avg(int2)
    agg(2103, 2858, 1837, 3337, 2281, None, 0, &AvgNumeric), // avg(numeric)
    agg(2104, 208, 1830, 276, 1022, Some("{0,0,0}"), 0, &AvgFloat), // avg(float4)
    agg(2105, 222, 1830, 276, 1022, Some("{0,0,0}"), 0, &AvgFloat), // avg(float8)
    agg(2106, 1843, 1844, 3325, 2281, None, 0, &AvgInterval), // avg(interval)
    agg(2107, 2746, 3388, 2785, 2281, None, 0, &SumInt8), // sum(int8)
    agg(2108, 1841, 0, 463, 20, None, 0, &SumInt), // sum(int4)
    agg(2109, 1840, 0, 463, 20, None, 0, &SumInt), // sum(int2)
    agg(2110, 204, 0, 204, 700, None, 0, &SumFloat4), // sum(float4)
    agg(2111, 218, 0, 218, 701, None, 0, &SumFloat8), // sum(float8)
    agg(2112, 894, 0, 894, 790, None, 0, &SumMoney), // sum(money)
    agg(2113, 1843, 6326, 3325, 2281, None, 0, &SumInterval), // sum(interval)
    agg(2114, 2858, 3178, 3337, 2281, None, 0, &SumNumeric), // sum(numeric)
    agg(2115, 1236, 0, 1236, 20, None, 413, &Max(crate::oids::int8)), // max(int8)
    agg(2116, 768, 0, 768, 23, None, 521, &Max(crate::oids::int4)), // max(int4)
    agg(2117, 770, 0, 770, 21, None, 520, &Max(crate::oids::int2)), // max(int2)
    agg(2118, 1965, 0, 1965, 26, None, 610, &Max(crate::oids::oid)), // max(oid)
    agg(2119, 209, 0, 209, 700, None, 623, &Max(crate::oids::float4)), // max(float4)
    agg(2120, 223, 0, 223, 701, None, 674, &Max(crate::oids::float8)), // max(float8)
    agg(2122, 1138, 0, 1138, 1082, None, 1097, &Max(crate::oids::date)), // max(date)
    agg(2123, 1377, 0, 1377, 1083, None, 1112, &Max(crate::oids::time)), // max(time)
    agg(2124, 1379, 0, 1379, 1266, None, 1554, &Max(crate::oids::timetz)), // max(timetz)
    agg(2125, 898, 0, 898, 790, None, 903, &Max(crate::oids::money)), // max(money)
    agg(2126, 2036, 0, 2036, 1114, None, 2064, &Max(crate::oids::timestamp)), // max(timestamp)
    agg(2127, 1196, 0, 1196, 1184, None, 1324, &Max(crate::oids::timestamptz)), // max(timestamptz)
    agg(2128, 1198, 0, 1198, 1186, None, 1334, &Max(crate::oids::interval)), // max(interval)
    agg(2129, 458, 0, 458, 25, None, 666, &Max(crate::oids::text)), // max(text)
    agg(2130, 1767, 0, 1767, 1700, None, 1756, &Max(crate::oids::numeric)), // max(numeric)
    agg(2131, 1237, 0, 1237, 20, None, 412, &Min(crate::oids::int8)), // min(int8)
    agg(2132, 769, 0, 769, 23, None, 97, &Min(crate::oids::int4)), // min(int4)
    agg(2133, 771, 0, 771, 21, None, 95, &Min(crate::oids::int2)), // min(int2)
    agg(2134, 1966, 0, 1966, 26, None, 609, &Min(crate::oids::oid)), // min(oid)
    agg(2135, 211, 0, 211, 700, None, 622, &Min(crate::oids::float4)), // min(float4)
    agg(2136, 224, 0, 224, 701, None, 672, &Min(crate::oids::float8)), // min(float8)
    agg(2138, 1139, 0, 1139, 1082, None, 1095, &Min(crate::oids::date)), // min(date)
    agg(2139, 1378, 0, 1378, 1083, None, 1110, &Min(crate::oids::time)), // min(time)
    agg(2140, 1380, 0, 1380, 1266, None, 1552, &Min(crate::oids::timetz)), // min(timetz)
    agg(2141, 899, 0, 899, 790, None, 902, &Min(crate::oids::money)), // min(money)
    agg(2142, 2035, 0, 2035, 1114, None, 2062, &Min(crate::oids::timestamp)), // min(timestamp)
    agg(2143, 1195, 0, 1195, 1184, None, 1322, &Min(crate::oids::timestamptz)), // min(timestamptz)
    agg(2144, 1197, 0, 1197, 1186, None, 1332, &Min(crate::oids::interval)), // min(interval)
    agg(2145, 459, 0, 459, 25, None, 664, &Min(crate::oids::text)), // min(text)
    agg(2146, 1766, 0, 1766, 1700, None, 1754, &Min(crate::oids::numeric)), // min(numeric)
    agg(2147, 2804, 0, 463, 20, Some("0"), 0, &Count), // count(any)
    agg(2148, 1836, 1838, 3341, 2281, None, 0, &NumericSpread(Spread::VarSamp)), // variance(int8)
    agg(2149, 1835, 3391, 3338, 2281, None, 0, &NumericSpread(Spread::VarSamp)), // variance(int4)
    agg(2150, 1834, 3391, 3338, 2281, None, 0, &NumericSpread(Spread::VarSamp)), // variance(int2)
    agg(2151, 208, 1831, 276, 1022, Some("{0,0,0}"), 0, &FloatSpread(Spread::VarSamp)), // variance(float4)
    agg(2152, 222, 1831, 276, 1022, Some("{0,0,0}"), 0, &FloatSpread(Spread::VarSamp)), // variance(float8)
    agg(2153, 1833, 1838, 3341, 2281, None, 0, &NumericSpread(Spread::VarSamp)), // variance(numeric)
    agg(2154, 1836, 1839, 3341, 2281, None, 0, &NumericSpread(Spread::StddevSamp)), // stddev(int8)
    agg(2155, 1835, 3393, 3338, 2281, None, 0, &NumericSpread(Spread::StddevSamp)), // stddev(int4)
    agg(2156, 1834, 3393, 3338, 2281, None, 0, &NumericSpread(Spread::StddevSamp)), // stddev(int2)
    agg(2157, 208, 1832, 276, 1022, Some("{0,0,0}"), 0, &FloatSpread(Spread::StddevSamp)), // stddev(float4)
    agg(2158, 222, 1832, 276, 1022, Some("{0,0,0}"), 0, &FloatSpread(Spread::StddevSamp)), // stddev(float8)
    agg(2159, 1833, 1839, 3341, 2281, None, 0, &NumericSpread(Spread::StddevSamp)), // stddev(numeric)
    agg(2236, 1892, 0, 1892, 21, None, 0, &Bits(Bits::And)), // bit_and(int2)
    agg(2237, 1893, 0, 1893, 21, None, 0, &Bits(Bits::Or)), // bit_or(int2)
    agg(2238, 1898, 0, 1898, 23, None, 0, &Bits(Bits::And)), // bit_and(int4)
    agg(2239, 1899, 0, 1899, 23, None, 0, &Bits(Bits::Or)), // bit_or(int4)
    agg(2240, 1904, 0, 1904, 20, None, 0, &Bits(Bits::And)), // bit_and(int8)
    agg(2241, 1905, 0, 1905, 20, None, 0, &Bits(Bits::Or)), // bit_or(int8)
    agg(2242, 1673, 0, 1673, 1560, None, 0, &BitStrings(Bits::And)), // bit_and(bit)
    agg(2243, 1674, 0, 1674, 1560, None, 0, &BitStrings(Bits::Or)), // bit_or(bit)
    agg(2244, 1063, 0, 1063, 1042, None, 1060, &Max(crate::oids::bpchar)), // max(bpchar)
    agg(2245, 1064, 0, 1064, 1042, None, 1058, &Min(crate::oids::bpchar)), // min(bpchar)
    agg(2335, 2333, 2334, 6293, 2281, None, 0, &ArrayAgg), // array_agg(anynonarray)
    agg(2517, 2515, 0, 2515, 16, None, 58, &BoolAnd), // bool_and(bool)
    agg(2518, 2516, 0, 2516, 16, None, 59, &BoolOr), // bool_or(bool)
    agg(2519, 2515, 0, 2515, 16, None, 58, &BoolAnd), // every(bool)
    agg(2641, 1836, 1838, 3341, 2281, None, 0, &NumericSpread(Spread::VarSamp)), // var_samp(int8)
    agg(2642, 1835, 3391, 3338, 2281, None, 0, &NumericSpread(Spread::VarSamp)), // var_samp(int4)
    agg(2643, 1834, 3391, 3338, 2281, None, 0, &NumericSpread(Spread::VarSamp)), // var_samp(int2)
    agg(2644, 208, 1831, 276, 1022, Some("{0,0,0}"), 0, &FloatSpread(Spread::VarSamp)), // var_samp(float4)
    agg(2645, 222, 1831, 276, 1022, Some("{0,0,0}"), 0, &FloatSpread(Spread::VarSamp)), // var_samp(float8)
    agg(2646, 1833, 1838, 3341, 2281, None, 0, &NumericSpread(Spread::VarSamp)), // var_samp(numeric)
    agg(2712, 1836, 1839, 3341, 2281, None, 0, &NumericSpread(Spread::StddevSamp)), // stddev_samp(int8)
    agg(2713, 1835, 3393, 3338, 2281, None, 0, &NumericSpread(Spread::StddevSamp)), // stddev_samp(int4)
    agg(2714, 1834, 3393, 3338, 2281, None, 0, &NumericSpread(Spread::StddevSamp)), // stddev_samp(int2)
    agg(2715, 208, 1832, 276, 1022, Some("{0,0,0}"), 0, &FloatSpread(Spread::StddevSamp)), // stddev_samp(float4)
    agg(2716, 222, 1832, 276, 1022, Some("{0,0,0}"), 0, &FloatSpread(Spread::StddevSamp)), // stddev_samp(float8)
    agg(2717, 1833, 1839, 3341, 2281, None, 0, &NumericSpread(Spread::StddevSamp)), // stddev_samp(numeric)
    agg(2718, 1836, 2514, 3341, 2281, None, 0, &NumericSpread(Spread::VarPop)), // var_pop(int8)
    agg(2719, 1835, 3390, 3338, 2281, None, 0, &NumericSpread(Spread::VarPop)), // var_pop(int4)
    agg(2720, 1834, 3390, 3338, 2281, None, 0, &NumericSpread(Spread::VarPop)), // var_pop(int2)
    agg(2721, 208, 2512, 276, 1022, Some("{0,0,0}"), 0, &FloatSpread(Spread::VarPop)), // var_pop(float4)
    agg(2722, 222, 2512, 276, 1022, Some("{0,0,0}"), 0, &FloatSpread(Spread::VarPop)), // var_pop(float8)
    agg(2723, 1833, 2514, 3341, 2281, None, 0, &NumericSpread(Spread::VarPop)), // var_pop(numeric)
    agg(2724, 1836, 2596, 3341, 2281, None, 0, &NumericSpread(Spread::StddevPop)), // stddev_pop(int8)
    agg(2725, 1835, 3392, 3338, 2281, None, 0, &NumericSpread(Spread::StddevPop)), // stddev_pop(int4)
    agg(2726, 1834, 3392, 3338, 2281, None, 0, &NumericSpread(Spread::StddevPop)), // stddev_pop(int2)
    agg(2727, 208, 2513, 276, 1022, Some("{0,0,0}"), 0, &FloatSpread(Spread::StddevPop)), // stddev_pop(float4)
    agg(2728, 222, 2513, 276, 1022, Some("{0,0,0}"), 0, &FloatSpread(Spread::StddevPop)), // stddev_pop(float8)
    agg(2729, 1833, 2596, 3341, 2281, None, 0, &NumericSpread(Spread::StddevPop)), // stddev_pop(numeric)
    agg(2797, 2795, 0, 2795, 27, None, 2800, &Max(crate::oids::tid)), // max(tid)
    agg(2798, 2796, 0, 2796, 27, None, 2799, &Min(crate::oids::tid)), // min(tid)
    agg(2803, 1219, 0, 463, 20, Some("0"), 0, &CountStar), // count()
    agg(2818, 2805, 0, 463, 20, Some("0"), 0, &Regression(Regression::Count)), // regr_count(float8,float8)
    agg(2819, 2806, 2807, 3342, 1022, Some("{0,0,0,0,0,0}"), 0, &Regression(Regression::Sxx)), // regr_sxx(float8,float8)
    agg(2820, 2806, 2808, 3342, 1022, Some("{0,0,0,0,0,0}"), 0, &Regression(Regression::Syy)), // regr_syy(float8,float8)
    agg(2821, 2806, 2809, 3342, 1022, Some("{0,0,0,0,0,0}"), 0, &Regression(Regression::Sxy)), // regr_sxy(float8,float8)
    agg(2822, 2806, 2810, 3342, 1022, Some("{0,0,0,0,0,0}"), 0, &Regression(Regression::AvgX)), // regr_avgx(float8,float8)
    agg(2823, 2806, 2811, 3342, 1022, Some("{0,0,0,0,0,0}"), 0, &Regression(Regression::AvgY)), // regr_avgy(float8,float8)
    agg(2824, 2806, 2812, 3342, 1022, Some("{0,0,0,0,0,0}"), 0, &Regression(Regression::R2)), // regr_r2(float8,float8)
    agg(2825, 2806, 2813, 3342, 1022, Some("{0,0,0,0,0,0}"), 0, &Regression(Regression::Slope)), // regr_slope(float8,float8)
    agg(2826, 2806, 2814, 3342, 1022, Some("{0,0,0,0,0,0}"), 0, &Regression(Regression::Intercept)), // regr_intercept(float8,float8)
    agg(2827, 2806, 2815, 3342, 1022, Some("{0,0,0,0,0,0}"), 0, &Regression(Regression::CovarPop)), // covar_pop(float8,float8)
    agg(2828, 2806, 2816, 3342, 1022, Some("{0,0,0,0,0,0}"), 0, &Regression(Regression::CovarSamp)), // covar_samp(float8,float8)
    agg(2829, 2806, 2817, 3342, 1022, Some("{0,0,0,0,0,0}"), 0, &Regression(Regression::Corr)), // corr(float8,float8)
    agg(2901, 2900, 0, 0, 142, None, 0, &XmlAgg), // xmlagg(xml)
    agg(3175, 3173, 3174, 0, 2281, None, 0, &JsonAgg { binary: false, object: false, strict: false, unique: false }), // json_agg(anyelement)
    agg(3197, 3180, 3196, 0, 2281, None, 0, &JsonAgg { binary: false, object: true, strict: false, unique: false }), // json_object_agg(any, any)
    agg(3267, 3265, 3266, 0, 2281, None, 0, &JsonAgg { binary: true, object: false, strict: false, unique: false }), // jsonb_agg(anyelement)
    agg(3270, 3268, 3269, 0, 2281, None, 0, &JsonAgg { binary: true, object: true, strict: false, unique: false }), // jsonb_object_agg(any, any)
    agg(3526, 3525, 0, 3525, 3500, None, 3519, &Max(crate::oids::anyenum)), // max(anyenum)
    agg(3527, 3524, 0, 3524, 3500, None, 3518, &Min(crate::oids::anyenum)), // min(anyenum)
    agg(3538, 3535, 3536, 6299, 2281, None, 0, &StringAgg), // string_agg(text,text)
    agg(3545, 3543, 3544, 6299, 2281, None, 0, &StringAgg), // string_agg(bytea,bytea)
    agg(3564, 3562, 0, 3562, 869, None, 1205, &Max(crate::oids::inet)), // max(inet)
    agg(3565, 3563, 0, 3563, 869, None, 1203, &Min(crate::oids::inet)), // min(inet)
    sorted(3972, b'o', 1, 3970, 3973, &Sorted::Discrete), // percentile_disc(float8, anyelement)
    sorted(3974, b'o', 1, 3970, 3975, &Sorted::Continuous), // percentile_cont(float8, float8)
    sorted(3976, b'o', 1, 3970, 3977, &Sorted::Continuous), // percentile_cont(float8, interval)
    sorted(3978, b'o', 1, 3970, 3979, &Sorted::Discrete), // percentile_disc(_float8, anyelement)
    sorted(3980, b'o', 1, 3970, 3981, &Sorted::Continuous), // percentile_cont(_float8, float8)
    sorted(3982, b'o', 1, 3970, 3983, &Sorted::Continuous), // percentile_cont(_float8, interval)
    sorted(3984, b'o', 0, 3970, 3985, &Sorted::Mode), // mode(anyelement)
    sorted(3986, b'h', 1, 3971, 3987, &Sorted::Rank), // rank(any)
    sorted(3988, b'h', 1, 3971, 3989, &Sorted::PercentRank), // percent_rank(any)
    sorted(3990, b'h', 1, 3971, 3991, &Sorted::CumeDist), // cume_dist(any)
    sorted(3992, b'h', 1, 3971, 3993, &Sorted::DenseRank), // dense_rank(any)
    agg(4053, 4051, 4052, 6296, 2281, None, 0, &ArrayAggArray), // array_agg(anyarray)
    agg(4189, 4187, 0, 4187, 3220, None, 3225, &Max(crate::oids::pg_lsn)), // max(pg_lsn)
    agg(4190, 4188, 0, 4188, 3220, None, 3224, &Min(crate::oids::pg_lsn)), // min(pg_lsn)
    agg(4301, 4299, 4300, 0, 2281, None, 0, &RangeAgg::Union), // range_agg(anyrange)
    agg(4389, 4388, 0, 4388, 4537, None, 0, &RangeAgg::IntersectMulti), // range_intersect_agg(anymultirange)
    agg(4450, 4401, 0, 4401, 3831, None, 0, &RangeAgg::Intersect), // range_intersect_agg(anyrange)
    agg(5099, 5097, 0, 5097, 5069, None, 5074, &Max(crate::oids::xid8)), // max(xid8)
    agg(5100, 5098, 0, 5098, 5069, None, 5073, &Min(crate::oids::xid8)), // min(xid8)
    agg(6164, 1894, 0, 1894, 21, None, 0, &Bits(Bits::Xor)), // bit_xor(int2)
    agg(6165, 1900, 0, 1900, 23, None, 0, &Bits(Bits::Xor)), // bit_xor(int4)
    agg(6166, 1906, 0, 1906, 20, None, 0, &Bits(Bits::Xor)), // bit_xor(int8)
    agg(6167, 1675, 0, 1675, 1560, None, 0, &BitStrings(Bits::Xor)), // bit_xor(bit)
    agg(6227, 6225, 6226, 0, 2281, None, 0, &RangeAgg::UnionMulti), // range_agg(anymultirange)
    agg(6276, 6275, 3174, 0, 2281, None, 0, &JsonAgg { binary: false, object: false, strict: true, unique: false }), // json_agg_strict(anyelement)
    agg(6280, 6277, 3196, 0, 2281, None, 0, &JsonAgg { binary: false, object: true, strict: true, unique: false }), // json_object_agg_strict(any, any)
    agg(6281, 6278, 3196, 0, 2281, None, 0, &JsonAgg { binary: false, object: true, strict: false, unique: true }), // json_object_agg_unique(any, any)
    agg(6282, 6279, 3196, 0, 2281, None, 0, &JsonAgg { binary: false, object: true, strict: true, unique: true }), // json_object_agg_unique_strict(any, any)
    agg(6284, 6283, 3266, 0, 2281, None, 0, &JsonAgg { binary: true, object: false, strict: true, unique: false }), // jsonb_agg_strict(anyelement)
    agg(6288, 6285, 3269, 0, 2281, None, 0, &JsonAgg { binary: true, object: true, strict: true, unique: false }), // jsonb_object_agg_strict(any, any)
    agg(6289, 6286, 3269, 0, 2281, None, 0, &JsonAgg { binary: true, object: true, strict: false, unique: true }), // jsonb_object_agg_unique(any, any)
    agg(6290, 6287, 3269, 0, 2281, None, 0, &JsonAgg { binary: true, object: true, strict: true, unique: true }), // jsonb_object_agg_unique_strict(any, any)
    agg(6291, 6292, 0, 6292, 2283, None, 0, &AnyValue), // any_value(anyelement)
    agg(6373, 6375, 0, 6375, 2249, None, 2991, &Max(crate::oids::record)), // max(record)
    agg(6374, 6376, 0, 6376, 2249, None, 2990, &Min(crate::oids::record)), // min(record)
    agg(6395, 6393, 0, 6393, 17, None, 1959, &Max(crate::oids::bytea)), // max(bytea)
    agg(6396, 6394, 0, 6394, 17, None, 1957, &Min(crate::oids::bytea)), // min(bytea)
];

#[allow(clippy::too_many_arguments)]
const fn agg(
    function: u32,
    transition: u32,
    final_function: u32,
    combine: u32,
    transition_type: u32,
    initial: Option<&'static str>,
    sort_operator: u32,
    imp: &'static dyn crate::aggregate::AggregateImp,
) -> Aggregate {
    Aggregate {
        function: Oid(function),
        kind: b'n',
        direct_args: 0,
        transition: Oid(transition),
        final_function: Oid(final_function),
        combine: Oid(combine),
        transition_type: Oid(transition_type),
        initial,
        sort_operator: Oid(sort_operator),
        imp,
    }
}

const fn sorted(
    function: u32,
    kind: u8,
    direct_args: i16,
    transition: u32,
    final_function: u32,
    imp: &'static Sorted,
) -> Aggregate {
    let plain = agg(function, transition, final_function, 0, 2281, None, 0, imp);
    Aggregate { kind, direct_args, ..plain }
}

functions! {
    2050 max(anyarray) -> anyarray [immutable] { aggregate }
    2051 min(anyarray) -> anyarray [immutable] { aggregate }
    2100 avg(int8) -> numeric [immutable] { aggregate }
    2101 avg(int4) -> numeric [immutable] { aggregate }
    2102 avg(int2) -> numeric [immutable] { aggregate }
    2103 avg(numeric) -> numeric [immutable] { aggregate }
    2104 avg(float4) -> float8 [immutable] { aggregate }
    2105 avg(float8) -> float8 [immutable] { aggregate }
    2106 avg(interval) -> interval [immutable] { aggregate }
    2107 sum(int8) -> numeric [immutable] { aggregate }
    2108 sum(int4) -> int8 [immutable] { aggregate }
    2109 sum(int2) -> int8 [immutable] { aggregate }
    2110 sum(float4) -> float4 [immutable] { aggregate }
    2111 sum(float8) -> float8 [immutable] { aggregate }
    2112 sum(money) -> money [immutable] { aggregate }
    2113 sum(interval) -> interval [immutable] { aggregate }
    2114 sum(numeric) -> numeric [immutable] { aggregate }
    2125 max(money) -> money [immutable] { aggregate }
    2141 min(money) -> money [immutable] { aggregate }
    2242 bit_and(bit) -> bit [immutable] { aggregate }
    2243 bit_or(bit) -> bit [immutable] { aggregate }
    3526 max(anyenum) -> anyenum [immutable] { aggregate }
    3527 min(anyenum) -> anyenum [immutable] { aggregate }
    4301 range_agg(anyrange) -> anymultirange [immutable] { aggregate }
    4389 range_intersect_agg(anymultirange) -> anymultirange [immutable] { aggregate }
    4450 range_intersect_agg(anyrange) -> anyrange [immutable] { aggregate }
    6167 bit_xor(bit) -> bit [immutable] { aggregate }
    6227 range_agg(anymultirange) -> anymultirange [immutable] { aggregate }
    6373 max(record) -> record [immutable] { aggregate }
    6374 min(record) -> record [immutable] { aggregate }
    2115 max(int8) -> int8 [immutable] { aggregate }
    2116 max(int4) -> int4 [immutable] { aggregate }
    2117 max(int2) -> int2 [immutable] { aggregate }
    2118 max(oid) -> oid [immutable] { aggregate }
    2119 max(float4) -> float4 [immutable] { aggregate }
    2120 max(float8) -> float8 [immutable] { aggregate }
    2122 max(date) -> date [immutable] { aggregate }
    2123 max(time) -> time [immutable] { aggregate }
    2124 max(timetz) -> timetz [immutable] { aggregate }
    2126 max(timestamp) -> timestamp [immutable] { aggregate }
    2127 max(timestamptz) -> timestamptz [immutable] { aggregate }
    2128 max(interval) -> interval [immutable] { aggregate }
    2129 max(text) -> text [immutable] { aggregate }
    2130 max(numeric) -> numeric [immutable] { aggregate }
    2131 min(int8) -> int8 [immutable] { aggregate }
    2132 min(int4) -> int4 [immutable] { aggregate }
    2133 min(int2) -> int2 [immutable] { aggregate }
    2134 min(oid) -> oid [immutable] { aggregate }
    2135 min(float4) -> float4 [immutable] { aggregate }
    2136 min(float8) -> float8 [immutable] { aggregate }
    2138 min(date) -> date [immutable] { aggregate }
    2139 min(time) -> time [immutable] { aggregate }
    2140 min(timetz) -> timetz [immutable] { aggregate }
    2142 min(timestamp) -> timestamp [immutable] { aggregate }
    2143 min(timestamptz) -> timestamptz [immutable] { aggregate }
    2144 min(interval) -> interval [immutable] { aggregate }
    2145 min(text) -> text [immutable] { aggregate }
    2146 min(numeric) -> numeric [immutable] { aggregate }
    2147 count(any) -> int8 [immutable] { aggregate }
    2148 variance(int8) -> numeric [immutable] { aggregate }
    2149 variance(int4) -> numeric [immutable] { aggregate }
    2150 variance(int2) -> numeric [immutable] { aggregate }
    2151 variance(float4) -> float8 [immutable] { aggregate }
    2152 variance(float8) -> float8 [immutable] { aggregate }
    2153 variance(numeric) -> numeric [immutable] { aggregate }
    2154 stddev(int8) -> numeric [immutable] { aggregate }
    2155 stddev(int4) -> numeric [immutable] { aggregate }
    2156 stddev(int2) -> numeric [immutable] { aggregate }
    2157 stddev(float4) -> float8 [immutable] { aggregate }
    2158 stddev(float8) -> float8 [immutable] { aggregate }
    2159 stddev(numeric) -> numeric [immutable] { aggregate }
    2236 bit_and(int2) -> int2 [immutable] { aggregate }
    2237 bit_or(int2) -> int2 [immutable] { aggregate }
    2238 bit_and(int4) -> int4 [immutable] { aggregate }
    2239 bit_or(int4) -> int4 [immutable] { aggregate }
    2240 bit_and(int8) -> int8 [immutable] { aggregate }
    2241 bit_or(int8) -> int8 [immutable] { aggregate }
    2244 max(bpchar) -> bpchar [immutable] { aggregate }
    2245 min(bpchar) -> bpchar [immutable] { aggregate }
    2335 array_agg(anynonarray) -> anyarray [immutable] { aggregate }
    2517 bool_and(bool) -> bool [immutable] { aggregate }
    2518 bool_or(bool) -> bool [immutable] { aggregate }
    2519 every(bool) -> bool [immutable] { aggregate }
    2641 var_samp(int8) -> numeric [immutable] { aggregate }
    2642 var_samp(int4) -> numeric [immutable] { aggregate }
    2643 var_samp(int2) -> numeric [immutable] { aggregate }
    2644 var_samp(float4) -> float8 [immutable] { aggregate }
    2645 var_samp(float8) -> float8 [immutable] { aggregate }
    2646 var_samp(numeric) -> numeric [immutable] { aggregate }
    2712 stddev_samp(int8) -> numeric [immutable] { aggregate }
    2713 stddev_samp(int4) -> numeric [immutable] { aggregate }
    2714 stddev_samp(int2) -> numeric [immutable] { aggregate }
    2715 stddev_samp(float4) -> float8 [immutable] { aggregate }
    2716 stddev_samp(float8) -> float8 [immutable] { aggregate }
    2717 stddev_samp(numeric) -> numeric [immutable] { aggregate }
    2718 var_pop(int8) -> numeric [immutable] { aggregate }
    2719 var_pop(int4) -> numeric [immutable] { aggregate }
    2720 var_pop(int2) -> numeric [immutable] { aggregate }
    2721 var_pop(float4) -> float8 [immutable] { aggregate }
    2722 var_pop(float8) -> float8 [immutable] { aggregate }
    2723 var_pop(numeric) -> numeric [immutable] { aggregate }
    2724 stddev_pop(int8) -> numeric [immutable] { aggregate }
    2725 stddev_pop(int4) -> numeric [immutable] { aggregate }
    2726 stddev_pop(int2) -> numeric [immutable] { aggregate }
    2727 stddev_pop(float4) -> float8 [immutable] { aggregate }
    2728 stddev_pop(float8) -> float8 [immutable] { aggregate }
    2729 stddev_pop(numeric) -> numeric [immutable] { aggregate }
    2797 max(tid) -> tid [immutable] { aggregate }
    2798 min(tid) -> tid [immutable] { aggregate }
    2803 count() -> int8 [immutable] { aggregate }
    2818 regr_count(float8, float8) -> int8 [immutable] { aggregate }
    2819 regr_sxx(float8, float8) -> float8 [immutable] { aggregate }
    2820 regr_syy(float8, float8) -> float8 [immutable] { aggregate }
    2821 regr_sxy(float8, float8) -> float8 [immutable] { aggregate }
    2822 regr_avgx(float8, float8) -> float8 [immutable] { aggregate }
    2823 regr_avgy(float8, float8) -> float8 [immutable] { aggregate }
    2824 regr_r2(float8, float8) -> float8 [immutable] { aggregate }
    2825 regr_slope(float8, float8) -> float8 [immutable] { aggregate }
    2826 regr_intercept(float8, float8) -> float8 [immutable] { aggregate }
    2827 covar_pop(float8, float8) -> float8 [immutable] { aggregate }
    2828 covar_samp(float8, float8) -> float8 [immutable] { aggregate }
    2829 corr(float8, float8) -> float8 [immutable] { aggregate }
    3175 json_agg(anyelement) -> json [stable] { aggregate }
    3197 json_object_agg(any, any) -> json [stable names(&["key", "value"])] { aggregate }
    3267 jsonb_agg(anyelement) -> jsonb [stable] { aggregate }
    3270 jsonb_object_agg(any, any) -> jsonb [immutable names(&["key", "value"])] { aggregate }
    3538 string_agg(text, text) -> text [immutable names(&["value", "delimiter"])] { aggregate }
    3545 string_agg(bytea, bytea) -> bytea [immutable names(&["value", "delimiter"])] { aggregate }
    3564 max(inet) -> inet [immutable] { aggregate }
    3565 min(inet) -> inet [immutable] { aggregate }
    3972 percentile_disc(float8, anyelement) -> anyelement [immutable] { aggregate }
    3974 percentile_cont(float8, float8) -> float8 [immutable] { aggregate }
    3976 percentile_cont(float8, interval) -> interval [immutable] { aggregate }
    3978 percentile_disc(_float8, anyelement) -> anyarray [immutable] { aggregate }
    3980 percentile_cont(_float8, float8) -> _float8 [immutable] { aggregate }
    3982 percentile_cont(_float8, interval) -> _interval [immutable] { aggregate }
    3984 mode(anyelement) -> anyelement [immutable] { aggregate }
    3986 rank(any) -> int8 [immutable variadic(crate::oids::any) outs(b"v", &[crate::oids::any])] { aggregate }
    3988 percent_rank(any) -> float8 [immutable variadic(crate::oids::any) outs(b"v", &[crate::oids::any])] { aggregate }
    3990 cume_dist(any) -> float8 [immutable variadic(crate::oids::any) outs(b"v", &[crate::oids::any])] { aggregate }
    3992 dense_rank(any) -> int8 [immutable variadic(crate::oids::any) outs(b"v", &[crate::oids::any])] { aggregate }
    4053 array_agg(anyarray) -> anyarray [immutable] { aggregate }
    4189 max(pg_lsn) -> pg_lsn [immutable] { aggregate }
    4190 min(pg_lsn) -> pg_lsn [immutable] { aggregate }
    5099 max(xid8) -> xid8 [immutable] { aggregate }
    5100 min(xid8) -> xid8 [immutable] { aggregate }
    6164 bit_xor(int2) -> int2 [immutable] { aggregate }
    6165 bit_xor(int4) -> int4 [immutable] { aggregate }
    6166 bit_xor(int8) -> int8 [immutable] { aggregate }
    6276 json_agg_strict(anyelement) -> json [stable] { aggregate }
    6280 json_object_agg_strict(any, any) -> json [stable names(&["key", "value"])] { aggregate }
    6281 json_object_agg_unique(any, any) -> json [stable names(&["key", "value"])] { aggregate }
    6282 json_object_agg_unique_strict(any, any) -> json [stable names(&["key", "value"])] { aggregate }
    6284 jsonb_agg_strict(anyelement) -> jsonb [stable] { aggregate }
    6288 jsonb_object_agg_strict(any, any) -> jsonb [immutable names(&["key", "value"])] { aggregate }
    6289 jsonb_object_agg_unique(any, any) -> jsonb [immutable names(&["key", "value"])] { aggregate }
    6290 jsonb_object_agg_unique_strict(any, any) -> jsonb [immutable names(&["key", "value"])] { aggregate }
    6291 any_value(anyelement) -> anyelement [immutable] { aggregate }
    6395 max(bytea) -> bytea [immutable] { aggregate }
    6396 min(bytea) -> bytea [immutable] { aggregate }

}
