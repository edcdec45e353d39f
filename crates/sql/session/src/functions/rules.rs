//! Rules as the statements that make them.

use analyze::names::quote_literal;
use analyze::{RuleAction, deparse, stored};
use base::{Oid, SqlResult};
use catalog::rule::{Rule, RuleEvent};
use catalog::system::pg_rewrite as r;
use catalog::{CatalogView, RowExt};
use tuple::Datum;
use types::Call;

use super::text::quote_identifier;
use crate::Session;

impl Session {
    /// `pg_get_ruledef(rule, pretty)`.
    pub(super) fn rule_definition(&self, oid: Oid, pretty: bool) -> SqlResult<Datum> {
        let by_oid = r::PG_REWRITE_OID_INDEX;
        let Some((_, row)) = self.with_reader(|reader| reader.find_one(&r::TABLE, by_oid, &[oid.into()]))?
        else {
            return Ok(Datum::Null);
        };
        let Some(table) = self.relation_by_oid(row.oid(r::EV_CLASS))? else { return Ok(Datum::Null) };
        let format = self.format();
        let call = Call::new(&format).with_session(self);
        let deparse = deparse::Deparse { catalog: self, call: &call, pretty, params: None };
        let names: Vec<String> = table.columns.iter().map(|column| column.name.clone()).collect();
        let rule = Rule::of_row(&row);
        let event = match rule.as_ref().map(|rule| rule.event) {
            None => "SELECT",
            Some(RuleEvent::Update) => "UPDATE",
            Some(RuleEvent::Insert) => "INSERT",
            Some(RuleEvent::Delete) => "DELETE",
        };
        let (name, relation) = (quote_identifier(row.str(r::RULENAME)), self.relation_text(&table, pretty)?);
        let mut text = format!("CREATE RULE {name} AS\n    ON {event} TO {relation}");
        if let Some(condition) = rule.as_ref().and_then(|rule| rule.condition.as_ref()) {
            let condition = stored::load_expr(condition, self)?;
            text.push_str(&format!("\n   WHERE {}", deparse.trigger_condition(&condition, &names)));
        }
        text.push_str(if row.bool(r::IS_INSTEAD) { " DO INSTEAD " } else { " DO " });
        let Some(rule) = rule else {
            let query = stored::load_query(row.str(r::EV_ACTION), self)?;
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            text.push_str(&deparse.view(&query, &names));
            return Ok(Datum::text(&text));
        };
        let actions = stored::load_actions(&rule.actions, self)?;
        let actions = actions.iter().map(|action| match action {
            RuleAction::Query(query) => deparse.rule_action(query, &names),
            RuleAction::Notify(notify) => {
                let payload = notify.payload.as_deref();
                let payload = payload.map_or_else(String::new, |text| format!(", {}", quote_literal(text)));
                format!("\n NOTIFY {}{payload}", quote_identifier(&notify.channel))
            }
        });
        let actions: Vec<String> = actions.collect();
        if actions.first().is_some_and(|action| actions.len() == 1 && action.starts_with('\n')) {
            text.truncate(text.trim_end().len());
        }
        match actions.as_slice() {
            [] => text.push_str("NOTHING;"),
            [only] => text.push_str(&format!("{only};")),
            many => {
                let many: String = many.iter().map(|action| format!("{action};\n")).collect();
                text.push_str(&format!("({many});"));
            }
        }
        Ok(Datum::text(&text))
    }
}
