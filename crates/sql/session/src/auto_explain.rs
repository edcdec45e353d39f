//! Plans of slow statements in the log: `auto_explain`.

use base::settings::Setting;
use base::{Severity, SqlError, SqlState};
use executor::run::Execution;
use plan::explain::Options;
use plan::explain::document::{Item, Property};

use super::Session;
use super::explain::measured_of;
use super::explain_options::{Asked, form_of};
use super::watch::Ran;

impl Session {
    /// Logs a plan that ran for so many nanoseconds.
    #[cold]
    pub(super) fn log_plan(&self, nanos: u64, execution: &Execution, ran: &Ran<'_>) {
        let asked = self.asked_for_log(execution.counters().is_some());
        let text = ran.shown.unwrap_or(&ran.source.text);
        let mut items = vec![Item::Property(Property::new("Query Text", text))];
        let length = self.settings.borrow().get(Setting::auto_explain_log_parameter_max_length).as_int();
        let types = ran.source.param_types();
        // The constants of a shape are in the text.
        if ran.shown.is_none()
            && let Some(list) = self.list_parameters(ran.params, &types, length)
        {
            items.push(Item::Property(Property::new("Query Parameters", list)));
        }
        let measured: Vec<_> = execution.counters().unwrap_or_default().iter().map(measured_of).collect();
        items.extend(self.describe_plan(execution.prepared(), &asked, &measured));
        let mut plan = asked.form.write(&items);
        if asked.form.is_json() {
            // One object, not an array of them.
            plan.replace_range(..1, "{");
            plan.replace_range(plan.len() - 1.., "}");
        }
        let (millis, micros) = (nanos / 1_000_000, nanos / 1000 % 1000);
        self.tell_plan(format!("duration: {millis}.{micros:03} ms  plan:\n{plan}"));
    }

    fn asked_for_log(&self, analyzed: bool) -> Asked {
        let settings = self.settings.borrow();
        let on = |setting: Setting| settings.get(setting).as_bool();
        let options = Options {
            costs: true,
            analyze: analyzed,
            timing: analyzed && on(Setting::auto_explain_log_timing),
            verbose: on(Setting::auto_explain_log_verbose),
            buffers: analyzed && on(Setting::auto_explain_log_buffers),
            io_timing: settings.fast().track_io_timing,
            wal: analyzed && on(Setting::auto_explain_log_wal),
        };
        let form = form_of(settings.text(Setting::auto_explain_log_format)).unwrap_or_default();
        Asked { options, form, settings: on(Setting::auto_explain_log_settings), ..Asked::default() }
    }

    fn tell_plan(&self, message: String) {
        let severity = match self.settings.borrow().text(Setting::auto_explain_log_level) {
            "log" => return self.log(message, None),
            "warning" => Severity::Warning,
            "notice" => Severity::Notice,
            "info" => Severity::Info,
            _ => Severity::Debug,
        };
        self.notice(SqlError::with_severity(severity, SqlState::SUCCESSFUL_COMPLETION, message));
    }
}
