//! # What
//! EXPLAIN: plans a statement, runs it if asked, and describes both.
//!
//! # Layout
//! The plan's description is `plan::explain`'s; what stands beside it (settings, planning, times, serialization) is put together here.
//!
//! # PostgreSQL counterpart
//! `commands/explain.c`, `explain_dr.c`.

use std::rc::Rc;
use std::sync::Arc;

use base::settings::Setting;
use base::{Oid, SqlError, SqlResult};
use executor::run::{Execution, Prepared, Progress};
use parse::Statement;
use parse::ast::{self, DefElem};
use plan::explain::document::{Group, Heading, Item, Property, Shape, Value};
use plan::explain::{self, Measured};
use runtime::usage::Usage;
use tuple::Datum;
use types::oids;

use super::beside::Task;
use super::choice::Wanted;
use super::explain_options::{Asked, Form, form};
use super::planning::planner_settings;
use super::statement::{Planned, Source, Work};
use super::{Arguments, Session};
use crate::commands::TableQuery;
use crate::output::{Column, Format, Output, RowEncoder};

/// The column of the result.
pub fn columns(options: &[DefElem]) -> Arc<[Column]> {
    let type_oid = match form(options) {
        Form::Text | Form::Yaml => oids::text,
        Form::Json => oids::json,
        Form::Xml => Oid(142),
    };
    let name = "QUERY PLAN".into();
    let declared = type_oid;
    Arc::from([Column { name, table: Oid::INVALID, number: 0, type_oid, declared, type_len: -1, typmod: -1 }])
}

/// What EXPLAIN is about.
enum Subject<'q> {
    Plan(Box<Explained<'q>>),
    /// A statement without a plan, by name.
    Nothing(&'static str),
}

struct Explained<'q> {
    prepared: Arc<Prepared>,
    /// Its plan, if rules may have made several queries of it.
    planned: Option<Rc<Planned>>,
    /// What it is read from.
    source: Rc<Source>,
    params: Vec<Datum>,
    /// The table that the rows make.
    table: Option<(&'q ast::CreateTableAs, Box<dyn TableQuery>)>,
}

/// What making the plan took.
struct Planning {
    nanos: u64,
    usage: Usage,
}

/// What a run took.
struct Run {
    measured: Vec<Measured>,
    nanos: u64,
    serialized: Serialized,
}

impl Session {
    /// EXPLAIN.
    pub fn explain(
        &self,
        query: &Statement,
        options: &[DefElem],
        text: &str,
        arguments: &Arguments<'_>,
        out: &mut dyn Output,
    ) -> SqlResult<()> {
        let mut asked = Asked::new(options, text)?;
        asked.options.io_timing = self.settings.borrow().fast().track_io_timing;
        runtime::usage::time_io(asked.options.io_timing);
        let (began, before) = (runtime::now(), Usage::so_far());
        let subject = self.subject(query, &asked, text, arguments)?;
        let planning = Planning { nanos: nanos_since(began), usage: Usage::so_far() - before };
        let mut explained = match subject {
            Subject::Nothing(name) => return self.send(&asked, &[Item::Dummy(name)], out),
            Subject::Plan(explained) => explained,
        };
        let planned = explained.planned.clone();
        let Some(beside) = planned.as_ref().and_then(|planned| planned.shared.beside.as_ref()) else {
            let query = self.explained(&mut explained, &asked, &planning)?;
            return self.send(&asked, &[query], out);
        };
        let mut all = Vec::new();
        let own = Task::Plan(explained.prepared.clone());
        let own = (!beside.replaced).then_some(&own);
        for task in beside.before.iter().chain(own).chain(&beside.after) {
            if !all.is_empty() {
                all.push(Item::Line(Some(String::new()), Vec::new()));
            }
            match task {
                Task::Notify(_) if asked.form == Form::Text => {
                    all.push(Item::Line(Some("NOTIFY".to_owned()), Vec::new()));
                }
                Task::Notify(_) => all.push(Item::Dummy("Notify")),
                Task::Plan(prepared) => {
                    explained.prepared = prepared.clone();
                    all.push(self.explained(&mut explained, &asked, &planning)?);
                    self.see_changes()?;
                }
            }
        }
        if all.is_empty() && asked.form == Form::Text {
            all.push(Item::Line(Some("Query rewrites to nothing".to_owned()), Vec::new()));
        }
        self.send(&asked, &all, out)
    }

    /// One plan, run if asked.
    fn explained(
        &self,
        explained: &mut Explained<'_>,
        asked: &Asked,
        planning: &Planning,
    ) -> SqlResult<Item> {
        let run = match asked.options.analyze {
            true => Some(self.measure(explained, asked)?),
            false => {
                self.count_shown(explained)?;
                None
            }
        };
        let items = self.describe(&explained.prepared, asked, planning, run.as_ref());
        Ok(Item::Group(Group {
            kind: "Query",
            label: None,
            shape: Shape::Object,
            heading: Heading::None,
            items,
        }))
    }

    fn subject<'q>(
        &self,
        query: &'q Statement,
        asked: &Asked,
        text: &str,
        arguments: &Arguments<'_>,
    ) -> SqlResult<Subject<'q>> {
        let of = |planned: Rc<Planned>, source, params| {
            let prepared = planned.shared.prepared.clone();
            let planned = Some(planned);
            Subject::Plan(Box::new(Explained { prepared, planned, source, params, table: None }))
        };
        let (query, of_cursor) = match query {
            Statement::DeclareCursor(declare) => (&declare.query, true),
            query => (query, false),
        };
        match query {
            Statement::Execute(execute) => {
                let (source, params) = self.prepared_for_execute(execute, text)?;
                Ok(of(self.planned_for(&source, &params)?, source, params))
            }
            Statement::CreateTableAs(create) => {
                let Some(made) = self.commands().table_query(self, create, text, arguments)? else {
                    return Ok(Subject::Nothing(self.commands().describe(query).tag));
                };
                let (prepared, params) = (made.prepared().clone(), made.params().to_vec());
                let (source, table) = (made.source().clone(), Some((&**create, made)));
                Ok(Subject::Plan(Box::new(Explained { prepared, planned: None, source, params, table })))
            }
            query => {
                let source = match asked.generic {
                    true => Source::nested(text, query, Some(Vec::new())),
                    false if of_cursor => Source::of_cursor(text, query, &arguments.types),
                    false => Source::sharing(text, query, &arguments.types),
                };
                let Work::Query(_) = &source.work else {
                    let name = self.commands().describe(query).tag;
                    return Err(SqlError::not_supported(format!("EXPLAIN {name}")));
                };
                let params = if asked.generic { &[] } else { arguments.values };
                let planned = self.plan_for(&source, params, Wanted::Exact)?;
                planned.shared.check_constants()?;
                self.check_permitted(&planned.shared)?;
                Ok(of(planned, source, params.to_vec()))
            }
        }
    }

    /// A query that is shown and not run counts as one that gave no rows.
    fn count_shown(&self, explained: &Explained<'_>) -> SqlResult<()> {
        if !self.is_watching() {
            return Ok(());
        }
        let mut execution = Execution::new(&explained.prepared)?;
        let nothing = Progress { rows: 0, processed: 0, finished: true };
        let read = (&*explained.source, explained.params.as_slice());
        self.watch_within(read, &mut execution, |_| Ok(nothing)).map(drop)
    }

    /// Runs a plan. Its rows make the table of CREATE TABLE AS, or are thrown away, perhaps after having been encoded.
    fn measure(&self, explained: &mut Explained<'_>, asked: &Asked) -> SqlResult<Run> {
        let prepared = &explained.prepared;
        self.refuse_writes(&prepared.statement)?;
        let began = runtime::now();
        let mut load = match &mut explained.table {
            Some((create, query)) => query.target(self, create)?,
            None => None,
        };
        let nothing = matches!(&explained.table, Some((create, _)) if create.into.skip_data);
        let mut execution = Execution::counting(prepared, asked.options.timing)?;
        let (snapshot, command) = {
            let mut txn = self.txn.borrow_mut();
            (txn.statement_snapshot()?, txn.current_command())
        };
        let mut serializer = Serializer::new(self, prepared, asked)?;
        if !nothing {
            let keeps = load.is_some() || asked.serialize.is_none();
            let read = (&*explained.source, explained.params.as_slice());
            self.watch_within(read, &mut execution, |execution| {
                self.with_env(&snapshot, command, |env| {
                    execution.run(env, &explained.params, &mut |row| match &mut load {
                        Some(load) => load.put(row),
                        None if keeps => Ok(()),
                        None => serializer.row(row),
                    })
                })
            })?;
        }
        if let Some(load) = load {
            load.finish()?;
        }
        let measured = execution.counters().unwrap_or_default().iter().map(measured_of).collect();
        Ok(Run { measured, nanos: nanos_since(began), serialized: serializer.done })
    }

    /// Everything that there is to say.
    fn describe(
        &self,
        prepared: &Prepared,
        asked: &Asked,
        planning: &Planning,
        run: Option<&Run>,
    ) -> Vec<Item> {
        let measured = run.map_or(&[][..], |run| &run.measured);
        let mut items = self.describe_plan(prepared, asked, measured);
        items.extend(planning_item(asked, planning, &prepared.statement));
        if asked.summary {
            items.push(time("Planning Time", planning.nanos));
        }
        if let Some(run) = run {
            items.push(Item::Group(Group::named("Triggers", Shape::Array, Vec::new())));
            items.extend(run.serialized.item(asked));
            if asked.summary {
                items.push(time("Execution Time", run.nanos));
            }
        }
        items
    }

    /// The plan, the settings that shaped it, and the id of the statement.
    pub(super) fn describe_plan(
        &self,
        prepared: &Prepared,
        asked: &Asked,
        measured: &[Measured],
    ) -> Vec<Item> {
        let planner = planner_settings(&self.settings.borrow());
        let mut items = vec![explain::plan(&prepared.statement, asked.options, &planner, measured, self)];
        if asked.settings {
            items.extend(self.changed_settings());
        }
        items.extend(self.identifier(prepared).filter(|_| asked.options.verbose));
        items
    }

    fn identifier(&self, prepared: &Prepared) -> Option<Item> {
        let settings = self.settings.borrow();
        let id = prepared.fingerprint.id;
        let shown = id != 0
            && settings.fast().watch.has_ids()
            && settings.text(Setting::compute_query_id) != "regress";
        shown.then(|| Item::Property(Property::new("Query Identifier", Value::Number(id.to_string()))))
    }

    fn changed_settings(&self) -> Option<Item> {
        let list = self.settings.borrow().explained();
        let text = list.iter().map(|(name, value)| format!("{name} = '{}'", value.replace('\'', "''")));
        let text = text.collect::<Vec<_>>().join(", ");
        let fields = list.into_iter().map(|(name, value)| Property::new(name, value)).collect::<Vec<_>>();
        let line = Item::Line((!text.is_empty()).then(|| format!("Settings: {text}")), fields);
        Some(Item::Group(Group::named("Settings", Shape::Object, vec![line])))
    }

    /// A row for each line of the text format, or one for all.
    fn send(&self, asked: &Asked, document: &[Item], out: &mut dyn Output) -> SqlResult<()> {
        let lines = match asked.form {
            Form::Text => explain::text::lines(document),
            form => vec![form.write(document)],
        };
        let columns = columns(&[]);
        let format = self.format();
        let encoder = RowEncoder { columns: &columns, formats: &[], context: &format, session: self };
        lines.iter().try_for_each(|line| out.data_row(&encoder, &[Datum::text(line)]))
    }
}

pub(super) fn nanos_since(began: runtime::Instant) -> u64 {
    runtime::now().0.saturating_sub(began.0)
}

fn time(label: &'static str, nanos: u64) -> Item {
    Item::Property(Property { label, value: Value::float(nanos as f64 / 1e6, 3), unit: Some("ms") })
}

pub(super) fn measured_of(counters: &eval::cx::Counters) -> Measured {
    let millis = |nanos: u64| nanos as f64 / 1e6;
    Measured {
        rows: counters.rows,
        loops: counters.loops,
        startup: millis(counters.startup),
        total: millis(counters.total),
        filtered: counters.filtered,
        rechecked: counters.rechecked,
        unjoined: counters.unjoined,
        usage: counters.usage,
        detail: counters.detail,
    }
}

/// Pages and memory that planning took.
fn planning_item(asked: &Asked, planning: &Planning, statement: &plan::Statement) -> Option<Item> {
    let mut items = Vec::new();
    let mut shown = false;
    if asked.options.buffers {
        items.extend(explain::usage::buffers(&planning.usage, asked.options.io_timing));
        shown = explain::usage::any_buffers(&planning.usage);
    }
    if asked.memory {
        let bytes = explain::memory(statement);
        let (used, allocated) = (bytes.div_ceil(1024), bytes.next_multiple_of(8192).div_ceil(1024));
        let fields = vec![Property::new("Memory Used", used), Property::new("Memory Allocated", allocated)];
        items.push(Item::Line(Some(format!("Memory: used={used}kB  allocated={allocated}kB")), fields));
        shown = true;
    }
    if items.is_empty() {
        return None;
    }
    let heading = if shown { Heading::Line("Planning:".into()) } else { Heading::Hidden };
    Some(Item::Group(Group { heading, ..Group::named("Planning", Shape::Object, items) }))
}

/// What turning rows into messages took.
#[derive(Default)]
struct Serialized {
    nanos: u64,
    bytes: u64,
    usage: Usage,
}

impl Serialized {
    fn item(&self, asked: &Asked) -> Option<Item> {
        let name = match asked.serialize? {
            Format::Text => "text",
            Format::Binary => "binary",
        };
        let kilobytes = self.bytes.div_ceil(1024);
        let mut text = String::from("Serialization:");
        let mut fields = Vec::new();
        if asked.options.timing {
            let millis = self.nanos as f64 / 1e6;
            text.push_str(&format!(" time={millis:.3} ms "));
            fields.push(Property::new("Time", Value::float(millis, 3)));
        }
        text.push_str(&format!(" output={kilobytes}kB  format={name}"));
        fields.push(Property::new("Output Volume", kilobytes));
        fields.push(Property::new("Format", name));
        let mut items = vec![Item::Line(None, fields)];
        if asked.options.buffers {
            items.extend(explain::usage::buffers(&self.usage, asked.options.io_timing));
        }
        let heading = Heading::Line(text);
        Some(Item::Group(Group { heading, ..Group::named("Serialization", Shape::Object, items) }))
    }
}

/// Encodes rows as for a client, and throws them away.
struct Serializer<'s> {
    session: &'s Session,
    columns: Arc<[Column]>,
    formats: [Format; 1],
    timing: bool,
    bytes: Vec<u8>,
    done: Serialized,
}

impl<'s> Serializer<'s> {
    fn new(session: &'s Session, prepared: &Prepared, asked: &Asked) -> SqlResult<Serializer<'s>> {
        Ok(Serializer {
            session,
            columns: session.result_columns(&prepared.statement.result)?,
            formats: [asked.serialize.unwrap_or_default()],
            timing: asked.options.timing,
            bytes: Vec::new(),
            done: Serialized::default(),
        })
    }

    fn row(&mut self, row: &[Datum]) -> SqlResult<()> {
        let before = Usage::so_far();
        let began = self.timing.then(runtime::now);
        let context = self.session.format();
        let (columns, formats) = (&self.columns[..], &self.formats[..]);
        let encoder = RowEncoder { columns, formats, context: &context, session: self.session };
        self.bytes.clear();
        // As in a message: the number of columns, and the length of each.
        let mut length = 2 + 4 * row.len();
        for (i, value) in row.iter().enumerate() {
            encoder.encode(i, value, &mut self.bytes)?;
        }
        length += self.bytes.len();
        self.done.bytes += length as u64;
        self.done.nanos += began.map_or(0, nanos_since);
        self.done.usage += Usage::so_far() - before;
        Ok(())
    }
}

impl explain::Display for Session {
    fn value(&self, type_oid: Oid, value: &Datum, out: &mut Vec<u8>) -> SqlResult<()> {
        let format = self.format();
        types::output(type_oid, value, &types::Call::new(&format).with_session(self), out)
    }

    fn collation(&self, oid: Oid) -> String {
        types::call::Session::reg_name(self, types::call::RegKind::Collation, oid)
            .unwrap_or_else(|| oid.to_string())
    }

    fn type_name(&self, type_oid: Oid, typmod: Option<i32>) -> String {
        analyze::names::format_type(self, type_oid, typmod)
    }
}
