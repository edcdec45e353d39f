//! Expressions of a body that are values made of variables: no statement runs for them.
//!
//! # What
//! A statement whose plan reads no relation is compiled once, and computed over the slots in which a language keeps its variables. Its plan says
//! whether it may still be: a catalog, the search path or the user may have changed meanwhile.
//!
//! # Invariants
//! 1. An expression is asked again ([`Session::is_still_simple`]) when the [`Epoch`] is not the one in which it was found current. Whoever keeps expressions looks at the
//!    epoch when a statement has run, a function of a user or of the session was called, or a transaction or subtransaction has ended.
//!
//! # PostgreSQL counterpart
//! `exec_eval_simple_expr` in `pl_exec.c`.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use analyze::ColumnType;
use base::{CommandId, Oid, SqlResult};
use eval::cx::Env;
use eval::mere::Site;
use eval::simple::{Change, Reach, Simple, SlotUse, Slots};
use tuple::Datum;
use txn::Snapshot;
use types::FormatContext;

use super::{BodyStatement, Sees};
use crate::statement::Versions;
use crate::{Planned, Session};

/// A statement of a body that is one value, compiled.
pub struct SimpleExpression {
    planned: Rc<Planned>,
    code: Simple,
}

/// The environment of an expression that needs neither the catalog nor the session.
pub struct Scene<'a> {
    format: Rc<FormatContext>,
    /// What the function's caller sees.
    sees: Option<(&'a Snapshot, CommandId)>,
    /// Stands where a snapshot is asked for by code that looks at nothing. It holds no horizon back.
    unused: OnceCell<Snapshot>,
    /// The snapshot of the last expression that saw the present: the next one's, as long as no transaction has ended.
    last: RefCell<Option<Snapshot>>,
}

/// What expressions depend on besides their variables: as long as it is the same, those that were found current are.
pub struct Epoch {
    generation: u64,
    versions: Versions,
    format: Rc<FormatContext>,
}

impl Scene<'_> {
    /// The formats of the settings when they were last looked at.
    #[inline]
    pub fn format(&self) -> &FormatContext {
        &self.format
    }

    /// Looks at settings again.
    pub fn refresh(&mut self, session: &Session) {
        self.format = session.format();
    }
}

impl SimpleExpression {
    /// What it asks of the world.
    pub fn reach(&self) -> Reach {
        self.code.reach()
    }

    /// The slots that it reads, and how.
    pub fn uses(&self) -> &[(usize, SlotUse)] {
        self.code.uses()
    }

    /// The slot of an array of which this is a copy with one element set or added, if it is no more than that.
    pub fn changed_array(&self) -> Option<usize> {
        self.code.changed_array()
    }

    /// The expression, if it needs the values in its slots and nothing else.
    #[inline]
    pub fn mere(&self) -> Option<&Simple> {
        Some(&self.code).filter(|code| code.is_mere())
    }

    /// Whether it is current as long as the epoch is the same: no snapshot may be too old for it.
    pub fn lasts(&self) -> bool {
        !self.planned.shared.checks_snapshot
    }

    /// The slot, if the expression is just a slot's value.
    pub fn slot(&self) -> Option<usize> {
        self.code.slot()
    }

    /// The value's type, modifier and collation.
    pub fn result(&self) -> ColumnType {
        let column = &self.planned.shared.prepared.statement.result[0];
        ColumnType {
            name: String::new(),
            type_oid: column.type_oid,
            typmod: column.typmod,
            collation: Oid::INVALID,
        }
    }
}

impl Session {
    /// A statement of a body as one value, if it is no more than that. Its parameter `n` is the value in slot `slots[n]`.
    pub fn simple_in_body(
        &self,
        statement: &BodyStatement,
        slots: &[usize],
    ) -> SqlResult<Option<SimpleExpression>> {
        if !statement.is_query() {
            return Ok(None);
        }
        let planned = self.current_plan(statement.source())?;
        if planned.shared.check_constants().is_err() {
            return Ok(None);
        }
        self.check_permitted(&planned.shared)?;
        let code = Simple::of_statement(&planned.shared.prepared.statement, slots)?;
        Ok(code.map(|code| SimpleExpression { planned, code }))
    }

    /// The present epoch.
    pub fn epoch(&self) -> Epoch {
        Epoch { generation: self.catalog.generation(), versions: self.versions(), format: self.format() }
    }

    /// Whether that is the present epoch.
    #[inline]
    pub fn is_epoch(&self, epoch: &Epoch) -> bool {
        epoch.generation == self.catalog.generation()
            && epoch.versions == self.versions()
            && self.has_format(&epoch.format)
    }

    /// Whether nothing has changed that the expression was made from.
    pub fn is_still_simple(&self, expression: &SimpleExpression) -> bool {
        self.still_holds(&expression.planned)
    }

    /// What expressions of a body find as long as no setting changes.
    pub fn scene<'a>(&self, sees: Option<(&'a Snapshot, CommandId)>) -> Scene<'a> {
        Scene { format: self.format(), sees, unused: OnceCell::new(), last: RefCell::default() }
    }

    /// What an expression that is mere is computed with.
    #[inline]
    pub fn site<'a>(&'a self, slots: &'a [Datum], format: &'a FormatContext) -> Site<'a> {
        Site { params: slots, format, session: self }
    }

    /// Computes an expression. `sees` is what the body's statements see, `scene` what its caller saw.
    pub fn compute_in_body(
        &self,
        expression: &SimpleExpression,
        slots: Slots<'_>,
        sees: Sees<'_>,
        scene: &Scene<'_>,
    ) -> SqlResult<Datum> {
        self.in_scene(expression.reach(), sees, scene, |env| expression.code.eval(env, slots))
    }

    /// Computes what an expression that changes an array is to do to it.
    pub fn change_in_body(
        &self,
        expression: &SimpleExpression,
        slots: Slots<'_>,
        sees: Sees<'_>,
        scene: &Scene<'_>,
    ) -> SqlResult<Change> {
        self.in_scene(expression.reach(), sees, scene, |env| expression.code.change(env, slots))
    }

    /// Computes something of this reach.
    pub(super) fn in_scene<T>(
        &self,
        reach: Reach,
        sees: Sees<'_>,
        scene: &Scene<'_>,
        compute: impl FnOnce(&Env<'_>) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let fixed = match (reach, sees) {
            (Reach::Everything, Sees::Caller(snapshot, command)) => Some((snapshot, command)),
            (Reach::Everything, Sees::Now | Sees::Latest) => None,
            _ => scene.sees,
        };
        match (reach, fixed) {
            (Reach::Nothing, Some((snapshot, command))) => {
                compute(&self.env(snapshot, command, &scene.format))
            }
            (Reach::Nothing, None) => {
                let lent = || Snapshot::lent(self.next_snapshot().data().clone());
                compute(&self.env(scene.unused.get_or_init(lent), CommandId(0), &scene.format))
            }
            (_, Some((snapshot, command))) => self.with_env(snapshot, command, compute),
            (_, None) => {
                self.see_changes()?;
                let (snapshot, command) = {
                    let mut txn = self.txn.borrow_mut();
                    (txn.statement_snapshot()?, txn.current_command())
                };
                scene.last.replace(Some(snapshot.clone()));
                self.with_env(&snapshot, command, compute)
            }
        }
    }
}
