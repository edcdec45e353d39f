//! The notation of registry entries.

/// One function an entry: `177 int4pl(int4, int4) -> int4 [immutable strict] { |a: i32, b: i32| … }`.
///
/// The braces hold a closure over Rust values, a closure with the [`Call`](crate::Call) first (`|cx; a: i32| …`), or one of
/// `fn path` (an [`Eval`](crate::Eval)), `set path` (a [`SetFn`](crate::SetFn)), `session Id`, `aggregate`, `window Id`,
/// `input type`, `output type`, `receive type`, `send type`, `typmod_in type`, `typmod_out type`, `catalog_only`.
macro_rules! functions {
    ($( $oid:literal $name:ident ( $($arg:ident),* ) -> $result:ident [ $($flag:ident $( ( $($value:expr),* ) )? )* ] { $($imp:tt)* } )*) => {
        /// Entries of this family.
        pub static FUNCTIONS: &[crate::registry::Function] = &[ $(
            crate::registry::builder::Entry::new($oid, stringify!($name), &[$(crate::oids::$arg),*], crate::oids::$result, imp!($($imp)*))
                $( .$flag( $( $($value),* )? ) )* .0,
        )* ];
    };
}

/// The implementation half of an entry of `functions!`.
macro_rules! imp {
    (| $($arg:ident : $ty:ty),* | $body:expr) => {
        crate::registry::Imp::Native(|_cx, args| {
            let mut _n = 0;
            $( let $arg = <$ty as crate::value::FromDatum>::from_datum(&args[_n]); _n += 1; )*
            crate::value::IntoDatum::into_datum($body)
        })
    };
    (| $cx:ident ; $($arg:ident : $ty:ty),* | $body:expr) => {
        crate::registry::Imp::Native(|$cx, args| {
            let mut _n = 0;
            $( let $arg = <$ty as crate::value::FromDatum>::from_datum(&args[_n]); _n += 1; )*
            let _ = args;
            crate::value::IntoDatum::into_datum($body)
        })
    };
    (|| $body:expr) => {
        crate::registry::Imp::Native(|_cx, _args| crate::value::IntoDatum::into_datum($body))
    };
    (fn $path:path) => { crate::registry::Imp::Native($path) };
    (set $path:path) => { crate::registry::Imp::Set($path) };
    (session $id:ident) => { crate::registry::Imp::Session(crate::registry::SessionFn::$id) };
    (aggregate) => { crate::registry::Imp::Aggregate };
    (window $id:ident) => { crate::registry::Imp::Window(crate::registry::WindowFn::$id) };
    (input $ty:ident) => { crate::registry::Imp::Input(crate::oids::$ty) };
    (output $ty:ident) => { crate::registry::Imp::Output(crate::oids::$ty) };
    (receive $ty:ident) => { crate::registry::Imp::Receive(crate::oids::$ty) };
    (send $ty:ident) => { crate::registry::Imp::Send(crate::oids::$ty) };
    (typmod_in $ty:ident) => { crate::registry::Imp::TypmodIn(crate::oids::$ty) };
    (typmod_out $ty:ident) => { crate::registry::Imp::TypmodOut(crate::oids::$ty) };
    (catalog_only) => { crate::registry::Imp::CatalogOnly };
}
