//! Functions of the registry that PostgreSQL writes in SQL over a cast to text: `||` with a side that is no text, `quote_literal` and
//! `quote_nullable`. A call is planned as that body, for a cast may say other than what the type puts out: `true`, not `t`.

use base::{Oid, SqlResult};
use catalog::view::CatalogView;
use types::{FormatContext, oids};

use crate::ParamTypes;
use crate::coerce::{Coercion, location_of};
use crate::core::Analyzer;
use crate::expr::{Expr, FuncExpr, OpExpr};

/// `text || anynonarray` and `anynonarray || text`.
const CONCATENATIONS: [Oid; 2] = [Oid(2003), Oid(2004)];
/// `||` of two texts, and its function.
const TEXT_CONCATENATION: (Oid, Oid) = (Oid(654), Oid(1258));
/// `quote_literal(anyelement)` and `quote_nullable(anyelement)`, each with the one for text.
const QUOTES: [(Oid, Oid); 2] = [(Oid(1285), Oid(1283)), (Oid(1290), Oid(1289))];

/// The body of such an operator, its operands put in.
pub fn operator_body(op: &OpExpr, catalog: &dyn CatalogView) -> SqlResult<Option<OpExpr>> {
    if !CONCATENATIONS.contains(&op.function) {
        return Ok(None);
    }
    let (operator, function) = TEXT_CONCATENATION;
    Ok(Some(OpExpr { op: operator, function, args: as_texts(&op.args, catalog)?, ..op.clone() }))
}

/// The body of such a function, its arguments put in.
pub fn function_body(call: &FuncExpr, catalog: &dyn CatalogView) -> SqlResult<Option<Expr>> {
    let args = || as_texts(&call.args, catalog);
    if CONCATENATIONS.contains(&call.function) {
        return Ok(Some(Expr::Op(Box::new(OpExpr {
            op: TEXT_CONCATENATION.0,
            function: TEXT_CONCATENATION.1,
            result_type: oids::text,
            returns_set: false,
            collation: call.collation,
            input_collation: call.input_collation,
            args: args()?,
            location: call.location,
        }))));
    }
    let Some((_, function)) = QUOTES.into_iter().find(|(any, _)| *any == call.function) else {
        return Ok(None);
    };
    Ok(Some(Expr::Func(Box::new(FuncExpr { function, args: args()?, ..call.clone() }))))
}

fn as_texts(args: &[Expr], catalog: &dyn CatalogView) -> SqlResult<Vec<Expr>> {
    let format = FormatContext::default();
    let call = types::Call::new(&format);
    let mut analyzer = Analyzer::new("", ParamTypes::None, catalog, &call);
    let text = |arg: &Expr| {
        let (source, location) = (analyzer.type_of(arg), location_of(arg));
        let cast = analyzer.coerce_to(arg.clone(), oids::text, -1, Coercion::explicit(location))?;
        cast.ok_or_else(|| analyzer.cannot_coerce(source, oids::text, location))
    };
    args.iter().map(text).collect()
}
