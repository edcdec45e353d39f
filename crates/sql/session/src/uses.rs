//! Which objects of users an expression or a query needs: functions, operators, types, relations.

use analyze::{Command, Expr, Query, RteKind, walk};
use base::Oid;
use catalog::change::ObjectAddress;
use catalog::system::pg_operator;
use tuple::Datum;
use types::oids;

/// What an expression needs, columns of its own relation left out.
pub fn of_expr(expr: &Expr, out: &mut Vec<ObjectAddress>) {
    walk::contains(expr, |e, depth| {
        match e {
            Expr::SubLink(sub) if depth == 0 => of_query(&sub.query, out),
            _ => of_node(e, out),
        }
        false
    });
}

fn of_node(expr: &Expr, out: &mut Vec<ObjectAddress>) {
    let mut need = |address: ObjectAddress| {
        if !address.is_pinned() && address.object.is_valid() && !out.contains(&address) {
            out.push(address);
        }
    };
    let operator = |oid: Oid| ObjectAddress { class: pg_operator::TABLE.oid, object: oid, sub: 0 };
    match expr {
        Expr::Func(f) => need(ObjectAddress::routine(f.function)),
        Expr::Aggregate(a) => need(ObjectAddress::routine(a.function)),
        Expr::Window(w) => need(ObjectAddress::routine(w.function)),
        Expr::Op(o) | Expr::Distinct(o) | Expr::NullIf(o) => need(operator(o.op)),
        Expr::ScalarArray(o) => need(operator(o.op)),
        Expr::RowCompare(c) => c.ops.iter().for_each(|op| need(operator(*op))),
        Expr::Collate(c) => need(ObjectAddress::collation(c.collation)),
        Expr::Relabel(r) => need(ObjectAddress::ty(r.result_type)),
        Expr::IoCast(c) => need(ObjectAddress::ty(c.result_type)),
        Expr::ToDomain(d) => need(ObjectAddress::ty(d.domain)),
        Expr::Xml(xml) => need(ObjectAddress::ty(xml.type_oid())),
        Expr::Json(json) => need(ObjectAddress::ty(json.type_oid(&|_| Oid::INVALID))),
        Expr::Const(c) => {
            need(ObjectAddress::ty(c.type_oid));
            match (c.type_oid, &c.value) {
                (oids::regclass, Datum::Oid(oid)) => need(ObjectAddress::relation(Oid(*oid))),
                (oids::regproc | oids::regprocedure, Datum::Oid(oid)) => {
                    need(ObjectAddress::routine(Oid(*oid)))
                }
                (oids::regtype, Datum::Oid(oid)) => need(ObjectAddress::ty(Oid(*oid))),
                _ => {}
            }
        }
        _ => {}
    }
}

/// What a query needs; views as such, columns of relations singly.
pub fn of_query(query: &Query, out: &mut Vec<ObjectAddress>) {
    // A join offers all columns of its sides; it needs those that something else names.
    let mut bare = query.clone();
    for entry in &mut bare.range_table {
        if let RteKind::Join(join) = &mut entry.kind {
            join.columns.clear();
        }
    }
    let query = &bare;
    for entry in &query.range_table {
        match &entry.kind {
            RteKind::Relation(relation) => out.push(ObjectAddress::relation(relation.oid)),
            RteKind::Subquery(sub) if sub.view.is_valid() => out.push(ObjectAddress::relation(sub.view)),
            RteKind::Subquery(sub) => of_query(&sub.query, out),
            _ => {}
        }
    }
    for cte in &query.ctes {
        of_query(&cte.query, out);
    }
    of_change(query, out);
    let never = walk::visit_query::<std::convert::Infallible>(query, 0, &mut |expr, depth| {
        match expr {
            Expr::Var(var) if var.levels_up == depth && var.attno > 0 => {
                let of = match query.range_table.get(var.rte).map(|rte| &rte.kind) {
                    Some(RteKind::Relation(relation)) => relation.oid,
                    Some(RteKind::Subquery(sub)) => sub.view,
                    _ => Oid::INVALID,
                };
                if of.is_valid() {
                    out.push(ObjectAddress::column(of, var.attno));
                }
            }
            Expr::SubLink(sub) if depth == 0 => of_query(&sub.query, out),
            _ if depth == 0 => of_node(expr, out),
            _ => {}
        }
        Ok(true)
    });
    let Ok(()) = never;
}

/// The columns that an INSERT or UPDATE assigns to, and the constraint that it names.
fn of_change(query: &Query, out: &mut Vec<ObjectAddress>) {
    let target = query.target.and_then(|rte| query.range_table.get(rte));
    if let (Some(RteKind::Relation(relation)), Command::Insert | Command::Update) =
        (target.map(|rte| &rte.kind), query.command)
    {
        let assigned = query.targets.iter().filter(|t| !t.junk);
        out.extend(assigned.map(|t| ObjectAddress::column(relation.oid, t.resno)));
    }
    let constraint = query.on_conflict.as_ref().map(|conflict| conflict.constraint);
    out.extend(constraint.filter(|oid| oid.is_valid()).map(ObjectAddress::constraint));
}
