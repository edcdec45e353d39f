//! Functions, procedures and aggregates that users make.

use base::{Oid, SqlResult};
use tuple::Datum;

use super::{Changer, Dependency, ObjectAddress};
use types::text::quote_identifier;

use crate::authority::AclKind;
use crate::database::Reader;
use crate::row::{Row, RowBuilder, RowExt};
use crate::system::{pg_aggregate, pg_depend, pg_language, pg_proc};
use crate::vectors;
use crate::view::{CatalogView, Parameter};

/// A routine to be made (`pg_proc`).
#[derive(Clone, Debug)]
pub struct NewRoutine {
    /// Name.
    pub name: String,
    /// Schema.
    pub schema: Oid,
    /// Owner.
    pub owner: Oid,
    /// Language.
    pub language: Oid,
    /// `f`, `p` or `a`
    pub kind: u8,
    /// `procost`
    pub cost: f32,
    /// `prorows`
    pub rows: f32,
    /// Element type of a trailing VARIADIC argument; 0 if none.
    pub variadic: Oid,
    /// SECURITY DEFINER.
    pub security_definer: bool,
    /// LEAKPROOF.
    pub leakproof: bool,
    /// STRICT.
    pub strict: bool,
    /// SETOF.
    pub returns_set: bool,
    /// `i`, `s` or `v`
    pub volatility: u8,
    /// `s`, `r` or `u`
    pub parallel: u8,
    /// Result type.
    pub result: Oid,
    /// All parameters in order.
    pub parameters: Vec<Parameter>,
    /// Defaults of the last input parameters, as `analyze::stored` writes them.
    pub defaults: Vec<String>,
    /// `prosrc`
    pub source: String,
    /// `probin`: the library of a function in C.
    pub library: Option<String>,
    /// A body in SQL-standard form.
    pub body: Option<Vec<String>>,
    /// SET: `name=value`.
    pub config: Vec<String>,
    /// What defaults and body need.
    pub needs: Vec<ObjectAddress>,
}

impl NewRoutine {
    /// Types of the input parameters: what tells overloads apart.
    pub fn inputs(&self) -> Vec<Oid> {
        let inputs = self.parameters.iter().filter(|p| !matches!(p.mode, b'o' | b't'));
        inputs.map(|p| p.type_oid).collect()
    }

    fn row(&self, oid: Oid) -> SqlResult<Row> {
        use pg_proc as p;
        let inputs = self.inputs();
        let all: Vec<Oid> = self.parameters.iter().map(|p| p.type_oid).collect();
        let modes: Vec<u8> = self.parameters.iter().map(|p| p.mode).collect();
        let names: Vec<&str> = self.parameters.iter().map(|p| p.name.as_str()).collect();
        let plain = modes.iter().all(|mode| *mode == b'i');
        let row = RowBuilder::new(&p::TABLE)
            .set(p::OID, oid)
            .set(p::PRONAME, &*self.name)
            .set(p::PRONAMESPACE, self.schema)
            .set(p::PROOWNER, self.owner)
            .set(p::PROLANG, self.language)
            .set(p::PROCOST, self.cost)
            .set(p::PROROWS, self.rows)
            .set(p::PROVARIADIC, self.variadic)
            .set(p::PROKIND, self.kind)
            .set(p::PROSECDEF, self.security_definer)
            .set(p::PROLEAKPROOF, self.leakproof)
            .set(p::PROISSTRICT, self.strict)
            .set(p::PRORETSET, self.returns_set)
            .set(p::PROVOLATILE, self.volatility)
            .set(p::PROPARALLEL, self.parallel)
            .set(p::PRONARGS, inputs.len() as i16)
            .set(p::PRONARGDEFAULTS, self.defaults.len() as i16)
            .set(p::PRORETTYPE, self.result)
            .set(p::PROARGTYPES, vectors::oid_vector(&inputs))
            .set_some(p::PROALLARGTYPES, (!plain).then(|| vectors::oid_array(&all)).transpose()?)
            .set_some(p::PROARGMODES, (!plain).then(|| vectors::char_array(&modes)).transpose()?)
            .set_some(
                p::PROARGNAMES,
                names.iter().any(|n| !n.is_empty()).then(|| vectors::text_array(&names)),
            )
            .set_some(
                p::PROARGDEFAULTS,
                (!self.defaults.is_empty()).then(|| crate::stored_list::join(&self.defaults)),
            )
            .set(p::PROSRC, &*self.source)
            .set_some(p::PROBIN, self.library.as_deref())
            .set_some(p::PROSQLBODY, self.body.as_ref().map(|body| crate::stored_list::join(body)))
            .set_some(p::PROCONFIG, (!self.config.is_empty()).then(|| vectors::text_array(&self.config)));
        Ok(row.build())
    }
}

impl Changer<'_> {
    /// Enters a routine, in place of `old` if there is one. Returns its OID.
    pub fn create_routine(&mut self, new: &NewRoutine, old: Option<Oid>) -> SqlResult<Oid> {
        let oid = old.unwrap_or_else(|| self.new_oid());
        let mut row = new.row(oid)?;
        let me = ObjectAddress::routine(oid);
        match old {
            None => {
                self.insert(&pg_proc::TABLE, &row)?;
                self.note_new(&AclKind::FUNCTION, me, new.owner, new.schema)?;
            }
            Some(_) => {
                self.edit(&pg_proc::TABLE, pg_proc::PG_PROC_OID_INDEX, &[oid.into()], |before| {
                    row[pg_proc::PROOWNER] = before[pg_proc::PROOWNER].clone();
                    row[pg_proc::PROACL] = before[pg_proc::PROACL].clone();
                    *before = row;
                })?;
                let mine = [me.class.into(), oid.into()];
                self.delete_where(&pg_depend::TABLE, pg_depend::PG_DEPEND_DEPENDER_INDEX, &mine, |_| true)?;
            }
        }
        self.depend(me, ObjectAddress::schema(new.schema), Dependency::Normal)?;
        let language = ObjectAddress { class: pg_language::TABLE.oid, object: new.language, sub: 0 };
        let mut needs = vec![language, ObjectAddress::ty(new.result)];
        needs.extend(new.parameters.iter().map(|p| ObjectAddress::ty(p.type_oid)));
        needs.extend(&new.needs);
        needs.sort_unstable_by_key(|n| (n.class, n.object, n.sub));
        needs.dedup();
        self.depend_on_all(me, needs)?;
        self.next_command()?;
        Ok(oid)
    }

    /// Changes a routine's row.
    pub fn edit_routine(&mut self, oid: Oid, edit: impl FnOnce(&mut Row)) -> SqlResult<()> {
        self.edit(&pg_proc::TABLE, pg_proc::PG_PROC_OID_INDEX, &[oid.into()], edit)?;
        self.next_command()
    }

    /// SET and RESET of a routine: `name=value` strings.
    pub fn set_routine_config(&mut self, oid: Oid, config: &[String]) -> SqlResult<()> {
        let value = if config.is_empty() { Datum::Null } else { vectors::text_array(config) };
        self.edit_routine(oid, |row| row[pg_proc::PROCONFIG] = value)
    }

    /// Has an object depend on `to` instead of `from`.
    pub(super) fn move_dependency(
        &mut self,
        object: ObjectAddress,
        from: ObjectAddress,
        to: ObjectAddress,
    ) -> SqlResult<()> {
        let key = [object.class.into(), object.object.into()];
        self.delete_where(&pg_depend::TABLE, pg_depend::PG_DEPEND_DEPENDER_INDEX, &key, |row| {
            row.oid(pg_depend::REFCLASSID) == from.class && row.oid(pg_depend::REFOBJID) == from.object
        })?;
        self.depend(object, to, Dependency::Normal)?;
        self.next_command()
    }

    pub(super) fn drop_routine(&mut self, oid: Oid) -> SqlResult<()> {
        let key = [oid.into()];
        let aggregate = pg_aggregate::PG_AGGREGATE_FNOID_INDEX;
        self.delete_where(&pg_aggregate::TABLE, aggregate, &key, |_| true)?;
        self.drop_by_oid(pg_proc::TABLE.oid, oid)
    }
}

impl Reader<'_> {
    /// The row of a routine.
    pub fn routine_row(&self, oid: Oid) -> SqlResult<Option<Row>> {
        let row = self.find_one(&pg_proc::TABLE, pg_proc::PG_PROC_OID_INDEX, &[oid.into()])?;
        Ok(row.map(|(_, row)| row))
    }

    /// The routine in a schema with this name and these input types: its OID and kind.
    pub fn routine_oid(&self, schema: Oid, name: &str, inputs: &[Oid]) -> SqlResult<Option<(Oid, u8)>> {
        let key = [name.into(), vectors::oid_vector(inputs), schema.into()];
        let index = pg_proc::PG_PROC_PRONAME_ARGS_NSP_INDEX;
        let row = self.find_one(&pg_proc::TABLE, index, &key)?;
        Ok(row.map(|(_, row)| (row.oid(pg_proc::OID), row.char(pg_proc::PROKIND))))
    }

    /// `function f(integer)`, or `function s.f(integer)` if the search path does not show it.
    pub(super) fn describe_routine(&self, oid: Oid) -> SqlResult<String> {
        let Some(row) = self.routine_row(oid)? else { return Ok(format!("function {oid}")) };
        let name = row.str(pg_proc::PRONAME);
        let schema = row.oid(pg_proc::PRONAMESPACE);
        let types = vectors::oids(&row[pg_proc::PROARGTYPES]);
        let types = types.iter().map(|t| self.type_text(*t)).collect::<SqlResult<Vec<_>>>()?;
        Ok(format!("function {}{}({})", self.prefix(schema)?, quote_identifier(name), types.join(",")))
    }

    /// SQL name of a type, as messages show it.
    pub(super) fn type_text(&self, oid: Oid) -> SqlResult<String> {
        if let Some(name) = types::format_type(oid, None) {
            return Ok(name);
        }
        let Some(def) = CatalogView::type_by_oid(self, oid)? else { return Ok("???".to_owned()) };
        if def.category == 'A' && def.element.is_valid() {
            return Ok(format!("{}[]", self.type_text(def.element)?));
        }
        let visible = CatalogView::type_by_name(self, None, &def.name)?.is_some_and(|found| found.oid == oid);
        let name = quote_identifier(&def.name);
        Ok(if visible { name } else { format!("{}.{name}", quote_identifier(&def.schema_name)) })
    }
}
