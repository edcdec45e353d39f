//! Triggers as the statements that make them.

use analyze::names::quote_literal;
use base::{Oid, SqlResult};
use catalog::system::{pg_proc, pg_trigger};
use catalog::{CatalogView, RowExt, Table, Trigger, TriggerKind};
use tuple::Datum;
use types::{Call, SessionFn};

use super::text::{name_in_schema, quote_identifier};
use crate::Session;

impl Session {
    /// `pg_get_triggerdef(trigger, pretty)`.
    pub(super) fn trigger_definition(&self, oid: Oid, pretty: bool) -> SqlResult<Datum> {
        use pg_trigger as t;
        let row = self.with_reader(|r| r.find_one(&t::TABLE, t::PG_TRIGGER_OID_INDEX, &[oid.into()]))?;
        let Some((_, row)) = row else { return Ok(Datum::Null) };
        let trigger = Trigger::of_row(&row);
        let Some(table) = self.relation_by_oid(row.oid(t::TGRELID))? else { return Ok(Datum::Null) };
        let constraint = if trigger.constraint.is_valid() { "CONSTRAINT " } else { "" };
        let mut text = format!("CREATE {constraint}TRIGGER {} ", quote_identifier(&trigger.name));
        let kind = trigger.kind;
        text.push_str(match kind {
            kind if kind.before() => "BEFORE",
            kind if kind.instead() => "INSTEAD OF",
            _ => "AFTER",
        });
        text.push_str(&events(&table, &trigger));
        text.push_str(&format!(" ON {} ", self.relation_text(&table, pretty)?));
        if trigger.constraint.is_valid() {
            text.push_str(&self.constraint_clauses(&trigger)?);
        }
        text.push_str(&transitions(&trigger));
        text.push_str(if kind.row() { "FOR EACH ROW " } else { "FOR EACH STATEMENT " });
        if let Some(when) = &trigger.when {
            text.push_str(&format!("WHEN ({}) ", self.trigger_condition_text(&table, when, pretty)?));
        }
        let args: Vec<String> = trigger.args.iter().map(|arg| quote_literal(arg)).collect();
        text.push_str(&format!(
            "EXECUTE FUNCTION {}({})",
            self.function_text(trigger.function)?,
            args.join(", ")
        ));
        Ok(Datum::text(&text))
    }

    fn constraint_clauses(&self, trigger: &Trigger) -> SqlResult<String> {
        let mut text = String::new();
        if trigger.constraint_relation.is_valid()
            && let Some(from) = self.relation_by_oid(trigger.constraint_relation)?
        {
            text.push_str(&format!("FROM {} ", self.relation_text(&from, true)?));
        }
        text.push_str(if trigger.deferrable { "DEFERRABLE " } else { "NOT DEFERRABLE " });
        text.push_str(if trigger.deferred { "INITIALLY DEFERRED " } else { "INITIALLY IMMEDIATE " });
        Ok(text)
    }

    fn trigger_condition_text(&self, table: &Table, when: &str, pretty: bool) -> SqlResult<String> {
        let format = self.format();
        let call = Call::new(&format).with_session(self);
        let expr = analyze::stored::load_expr(when, self)?;
        let names: Vec<String> = table.columns.iter().map(|c| c.name.clone()).collect();
        let deparse = analyze::deparse::Deparse { catalog: self, call: &call, pretty, params: None };
        Ok(deparse.trigger_condition(&expr, &names))
    }

    /// A function's name, with its schema unless it is found without.
    fn function_text(&self, oid: Oid) -> SqlResult<String> {
        let Some(row) = self.with_reader(|r| r.routine_row(oid))? else { return Ok(oid.to_string()) };
        let schema = self.with_reader(|r| r.schema_name(row.oid(pg_proc::PRONAMESPACE)))?.unwrap_or_default();
        let visible = self.object_is_visible(SessionFn::PgFunctionIsVisible, oid)?;
        Ok(name_in_schema(&schema, row.str(pg_proc::PRONAME), visible))
    }
}

fn events(table: &Table, trigger: &Trigger) -> String {
    let columns = trigger.columns.iter().filter_map(|n| table.columns.get(*n as usize - 1));
    let columns: Vec<String> = columns.map(|c| quote_identifier(&c.name)).collect();
    let update = match columns.as_slice() {
        [] => "UPDATE".to_owned(),
        columns => format!("UPDATE OF {}", columns.join(", ")),
    };
    let all = [
        (TriggerKind::INSERT, "INSERT".to_owned()),
        (TriggerKind::DELETE, "DELETE".to_owned()),
        (TriggerKind::UPDATE, update),
        (TriggerKind::TRUNCATE, "TRUNCATE".to_owned()),
    ];
    let named: Vec<String> =
        all.into_iter().filter(|(bit, _)| trigger.kind.has(*bit)).map(|(_, name)| name).collect();
    format!(" {}", named.join(" OR "))
}

fn transitions(trigger: &Trigger) -> String {
    let table = |word: &str, name: &Option<String>| {
        name.as_ref().map(|name| format!("{word} TABLE AS {} ", quote_identifier(name)))
    };
    let tables = [table("OLD", &trigger.old_table), table("NEW", &trigger.new_table)];
    let tables: String = tables.into_iter().flatten().collect();
    if tables.is_empty() { tables } else { format!("REFERENCING {tables}") }
}
