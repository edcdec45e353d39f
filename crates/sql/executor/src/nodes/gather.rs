//! # What
//! A part of a plan that several participants run beside each other: the session (the leader), and threads that help it. Each builds a state tree of
//! its own and runs it to the end, with an environment of its own; scans that are marked so take pieces of their table from what
//! they share ([`Team`]). What each has found comes together when all have ended: rows here, groups in the node above ([`super::aggregate`]).
//!
//! # Invariants
//! 1. Helpers have ended when [`together`] comes back. Until then the leader holds its snapshot, of which theirs is lent.
//! 2. If anything fails in any participant, all that was found is thrown away and the leader runs the part alone: the answer, and the first
//!    error, are those of a run without helpers. An interrupt of the leader ends the statement.
//! 3. There are no helpers where a transaction has an xid (it may see rows that only its own session can judge) or is serializable
//!    (what it reads is noted by its session), nor for rows of a statement that is read in part.
//! 4. A helper asks no session: what would need one fails, see 2.
//! 5. What a helper takes of memory is counted, and refused, as its own; what it hands over, as the session's.
//!
//! # Locks
//! None of its own. Helpers take latches and short locks as the leader's scans do.
//!
//! # PostgreSQL counterpart and differences
//! `execParallel.c`, `nodeGather.c`. Helpers are threads, which are started for one run and have no row in `pg_stat_activity`; a plan is not copied for them. Rows
//! are handed on once all have ended.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use base::{CommandId, Oid, SqlError, SqlResult};
use counters::Scan;
use eval::code::{Code, Rows};
use eval::compile::Inputs;
use eval::cx::{Counters, Cx, Env, State};
use eval::needs::Needs;
use eval::node::Batched;
use eval::row_store::{Place, RowStore};
use eval::spill::TempDir;
use eval::team::{Places, Team};
use heap::{Access, ComboCids, KnownHolders};
use parking_lot::Mutex;
use plan::explain::Detail;
use plan::{Expr, ParamId, Plan, Statement};
use runtime::usage::{self, Usage};
use runtime::{Interrupt, Interrupts, ReadAhead};
use tuple::Datum;
use tuple::varlena::Compression;
use txn::{SessionId, Snapshot, SnapshotData, Transaction, TxnSystem};
use types::FormatContext;

use super::gather_helper::{HelperFacilities, known_subplans};
use super::{BoxNode, Builder, Drained, Node, Origin};

/// A part of a plan that several may run.
pub(super) struct Part {
    /// Which of the gatherings of the statement's plan has it below; none can be found that is in a subplan.
    number: Option<usize>,
    /// Threads that are to help.
    workers: usize,
    /// Scans in pieces that it has.
    pub(super) scans: usize,
    /// One helper runs it all; the leader only if there is none.
    single_copy: bool,
    /// The subplans whose values it reads, and what gives these.
    initial: Vec<(usize, Code)>,
    /// The number of its first node, and whether nodes are counted.
    first: usize,
    counting: bool,
}

impl Part {
    /// Of the gathering `gather`, before its nodes are built.
    pub(super) fn new(builder: &mut Builder<'_>, gather: &Plan, workers: u32) -> SqlResult<Part> {
        builder.scans = 0;
        let mut initial = Vec::new();
        note_initial(builder, gather, &mut initial)?;
        Ok(Part {
            number: position(&builder.statement.plan, gather),
            workers: workers as usize,
            scans: 0,
            single_copy: false,
            initial,
            first: builder.counted,
            counting: builder.counting,
        })
    }
}

/// The subplans of a plan that have one value, and what gives these.
fn note_initial(builder: &Builder<'_>, plan: &Plan, found: &mut Vec<(usize, Code)>) -> SqlResult<()> {
    let mut refs = Vec::new();
    plan.for_exprs(&mut |expr| {
        expr.any(&mut |e| {
            if let Expr::SubPlan(sub) = e {
                refs.push((sub.plan, e.clone()));
            }
            false
        });
    });
    for (number, expr) in refs {
        if found.iter().all(|(known, _)| *known != number) {
            found.push((number, builder.compiler().expr(&expr, Inputs::one(&[]))?));
        }
    }
    let mut result = Ok(());
    plan.for_children(&mut |child| {
        if result.is_ok() {
            result = note_initial(builder, child, found);
        }
    });
    result
}

/// Which gathering of a plan this one is.
fn position(plan: &Plan, gather: &Plan) -> Option<usize> {
    let (mut seen, mut found) = (0, None);
    each_gather(None, plan, &mut |_, candidate| {
        if std::ptr::eq(candidate, gather) {
            found = Some(seen);
        }
        seen += 1;
    });
    found
}

/// The plans above and below the gathering of this number.
fn around(plan: &Plan, number: usize) -> Option<Around<'_>> {
    let (mut seen, mut found) = (0, None);
    each_gather(None, plan, &mut |above, gather| {
        if seen == number
            && let plan::Node::Gather { child, .. } = &gather.node
        {
            found = Some((above, &**child));
        }
        seen += 1;
    });
    found
}

fn each_gather<'p>(
    above: Option<&'p Plan>,
    plan: &'p Plan,
    each: &mut dyn FnMut(Option<&'p Plan>, &'p Plan),
) {
    if matches!(plan.node, plan::Node::Gather { .. }) {
        each(above, plan);
    }
    plan.for_children(&mut |child| each_gather(Some(plan), child, each));
}

/// The plans above a gathering, if there is one, and below.
pub(super) type Around<'p> = (Option<&'p Plan>, &'p Plan);

/// What a helper does with its part of the plan: builds it and runs it.
pub(super) type Help<'h, T> =
    dyn for<'p> Fn(&mut Builder<'p>, Around<'p>, &mut Cx<'_>) -> SqlResult<T> + Sync + 'h;

/// Runs a part of the plan by several participants. What the helpers found, and the leader if it took part; none: nobody helps, or it has
/// failed, and the leader is to run the part alone, from its beginning.
pub(super) fn together<T: Send>(
    part: &Part,
    cx: &mut Cx<'_>,
    own: impl FnOnce(&mut Cx<'_>) -> SqlResult<T>,
    help: &Help<'_, T>,
) -> SqlResult<Option<Vec<T>>> {
    let Some(number) = part.number.filter(|_| may_share(cx)) else { return Ok(None) };
    let session = cx.env.session;
    let mut places = session.claim_helpers(part.workers);
    places.leader_works &= !part.single_copy;
    usage::used(|c| &c.helpers_asked, part.workers as u64);
    if places.count == 0 {
        return Ok(None);
    }
    let mut initial = Vec::with_capacity(part.initial.len());
    for (subplan, code) in &part.initial {
        initial.push((*subplan, code.eval(Rows::one(&[]), cx)?));
    }
    let counted = cx.state.counters.clone();
    let lent = Lent::new(part, (number, initial), &places, cx);
    cx.state.team = Some(lent.team.clone());
    // Told again to who looks next.
    let kept = runtime::keep_interrupts();
    let (own, helped) = runtime::alongside(
        places.count,
        || lent.help(help),
        || lent.stop(),
        |launched| {
            cx.tell(|_| Detail::Workers(launched as u64));
            usage::used(|c| &c.helpers_started, launched as u64);
            if launched > 0 && !places.leader_works {
                return Ok(None);
            }
            let own = own(cx).map(Some).inspect_err(|_| lent.stop());
            lent.team.leader_leaves();
            own
        },
    );
    drop(kept);
    cx.state.team = None;
    if let (Ok(own), Ok(helped)) = (own, helped)
        && let Some(found) = lent.collect(own, helped, cx)
    {
        return Ok(Some(found));
    }
    runtime::check_interrupts().map_err(eval::error::interrupted)?;
    cx.state.counters = counted;
    Ok(None)
}

/// Whether a run may have helpers (invariant 3).
fn may_share(cx: &Cx<'_>) -> bool {
    let txn = cx.env.txn.borrow();
    txn.top_xid_if_assigned().is_none() && txn.serializable().is_none() && cx.recheck.is_empty()
}

/// What the leader lends to helpers.
struct Lent<'a> {
    team: Arc<Team>,
    part: &'a Part,
    number: usize,
    /// Values of subplans.
    initial: Vec<(usize, Datum)>,
    statement: &'a Arc<Statement>,
    needs: &'a Needs,
    params: &'a [Datum],
    access: Access<'a>,
    system: Arc<TxnSystem>,
    session: SessionId,
    snapshot: Arc<SnapshotData>,
    command: CommandId,
    fixed_snapshot: bool,
    format: Mutex<FormatContext>,
    limits: index::Limits,
    work_mem: usize,
    hash_mem: usize,
    temp: TempDir,
    compression: Compression,
    nodes: usize,
    timing: bool,
    io_timing: bool,
    read_ahead: ReadAhead,
    /// Of each helper, which take them in the order in which they come.
    interrupts: Box<[Interrupts]>,
    arrived: AtomicUsize,
}

/// What a helper has found, and what else it has to tell.
struct Helped<T> {
    found: SqlResult<T>,
    usage: Usage,
    counters: Option<Vec<Counters>>,
    scans: Vec<(Oid, Scan)>,
}

impl<'a> Lent<'a> {
    fn new(
        part: &'a Part,
        (number, initial): (usize, Vec<(usize, Datum)>),
        places: &Places<'_>,
        cx: &Cx<'a>,
    ) -> Lent<'a> {
        let (env, txn) = (cx.env, cx.env.txn.borrow());
        Lent {
            team: Arc::new(Team::new(part.scans, places.leader_works)),
            part,
            number,
            initial,
            statement: cx.statement,
            needs: cx.needs,
            params: cx.params,
            access: env.access,
            system: txn.system().clone(),
            session: txn.session(),
            snapshot: env.snapshot.data().clone(),
            command: env.command,
            fixed_snapshot: env.fixed_snapshot,
            format: Mutex::new(env.format.clone()),
            limits: env.session.index_limits(),
            work_mem: env.work_mem,
            hash_mem: env.hash_mem,
            temp: env.temp.clone(),
            compression: env.compression,
            nodes: cx.state.counters.as_ref().map_or(0, Vec::len),
            timing: cx.state.timing,
            io_timing: usage::times_io(),
            read_ahead: ReadAhead::current(),
            interrupts: (0..places.count).map(|_| Interrupts::new()).collect(),
            arrived: AtomicUsize::new(0),
        }
    }

    /// Lets all participants come to an end: nothing of what they find is wanted.
    fn stop(&self) {
        self.team.end();
        self.interrupts.iter().for_each(|helper| helper.set(Interrupt::Cancel));
    }

    /// A helper's part.
    fn help<T>(&self, help: &Help<'_, T>) -> Helped<T> {
        // Relaxed: only the number counts.
        let own = &self.interrupts[self.arrived.fetch_add(1, Relaxed) % self.interrupts.len()];
        runtime::with_interrupts(own, || {
            let before = Usage::so_far();
            usage::time_io(self.io_timing);
            self.read_ahead.enter();
            let facilities = HelperFacilities::new(self.limits);
            let mut state = State {
                counters: self.part.counting.then(|| vec![Counters::default(); self.nodes]),
                timing: self.timing,
                team: Some(self.team.clone()),
                helps: true,
                subs: known_subplans(self.statement.subplans.len(), &self.initial),
                ..State::of_cells(self.statement.exec_params)
            };
            let found = self.run(&facilities, &mut state, help);
            let found = found.and_then(|found| facilities.check().map(|()| found));
            if found.is_err() {
                self.team.end();
            }
            let (counters, scans) = (state.counters, facilities.into_scans());
            Helped { found, usage: Usage::so_far() - before, counters, scans }
        })
    }

    fn run<T>(&self, facilities: &HelperFacilities, state: &mut State, help: &Help<'_, T>) -> SqlResult<T> {
        let missing = || SqlError::internal("a gathering that its plan does not have");
        let plan = around(&self.statement.plan, self.number).ok_or_else(missing)?;
        let snapshot = Snapshot::lent(self.snapshot.clone());
        let txn = RefCell::new(Transaction::new(self.system.clone(), self.session));
        let (combo, holders) = (ComboCids::new(), RefCell::new(KnownHolders::default()));
        let format = self.format.lock().clone();
        let env = Env {
            access: self.access,
            txn: &txn,
            combo: &combo,
            holders: &holders,
            snapshot: &snapshot,
            command: self.command,
            fixed_snapshot: self.fixed_snapshot,
            format: &format,
            session: facilities,
            work_mem: self.work_mem,
            hash_mem: self.hash_mem,
            temp: &self.temp,
            compression: self.compression,
        };
        let mut builder = Builder::new(self.statement);
        builder.counting = self.part.counting;
        builder.counted = self.part.first;
        let mut cx = Cx::new(&env, self.needs, self.statement, self.params, state);
        cx.drained = true;
        help(&mut builder, plan, &mut cx)
    }

    /// What all have found, if none has failed; the leader counts as its own what the helpers have used.
    fn collect<T>(&self, own: Option<T>, helped: Vec<Helped<T>>, cx: &mut Cx<'_>) -> Option<Vec<T>> {
        let mut found: Vec<T> = own.into_iter().collect();
        let mut failed = false;
        self.interrupts.iter().for_each(runtime::memory::take_over);
        for helper in helped {
            helper.usage.add_to_running();
            for (relation, scan) in helper.scans {
                let mut counted = counters::Counted::new(relation);
                counted.scan = scan;
                cx.count_scan(&mut counted);
            }
            if let (Some(all), Some(more)) = (&mut cx.state.counters, &helper.counters) {
                all.iter_mut().zip(more).for_each(|(node, more)| node.add(more));
            }
            match helper.found {
                Ok(more) => found.push(more),
                Err(_) => failed = true,
            }
        }
        (!failed).then_some(found)
    }
}

/// Rows of a part of the plan.
pub(super) fn build<'p>(
    builder: &mut Builder<'p>,
    plan: &'p Plan,
    child: &'p Plan,
    (workers, single_copy): (u32, bool),
    drained: Drained,
) -> SqlResult<BoxNode> {
    let mut part = Part::new(builder, plan, workers)?;
    part.single_copy = single_copy;
    let child = builder.build(child)?;
    part.scans = builder.scans;
    Ok(Box::new(Gather { child, part, drained, phase: Phase::Start, row: Vec::new() }))
}

enum Phase {
    Start,
    /// Rows come from the child.
    Alone,
    /// Rows of the participants, how many of the first were given, and where the next is.
    Given {
        stores: Vec<RowStore>,
        at: u64,
        place: Place,
    },
}

struct Gather {
    child: BoxNode,
    part: Part,
    drained: Drained,
    phase: Phase,
    row: Vec<Datum>,
}

/// All rows of a node.
fn rows_of(node: &mut BoxNode, cx: &mut Cx<'_>) -> SqlResult<RowStore> {
    let mut rows = RowStore::default();
    while node.next(cx)? {
        runtime::check_interrupts().map_err(eval::error::interrupted)?;
        rows.push(node.row().to_vec(), cx.env.work_mem, cx.env.temp)?;
    }
    Ok(rows)
}

impl Gather {
    fn start(&mut self, cx: &mut Cx<'_>) -> SqlResult<()> {
        let Gather { child, part, .. } = self;
        self.phase = Phase::Alone;
        if !cx.drained && self.drained != Drained::Surely {
            return Ok(());
        }
        let found = together(
            part,
            cx,
            |cx| {
                child.rescan(cx, &[])?;
                rows_of(child, cx)
            },
            &|builder, (_, plan), cx| {
                let mut node = builder.build(plan)?;
                let rows = rows_of(&mut node, cx);
                node.close(cx);
                rows
            },
        )?;
        match found {
            Some(stores) => self.phase = Phase::Given { stores, at: 0, place: Place::default() },
            None => self.child.rescan(cx, &[])?,
        }
        Ok(())
    }
}

impl Node for Gather {
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        if let Phase::Start = self.phase {
            self.start(cx)?;
        }
        let Phase::Given { stores, at, place } = &mut self.phase else { return self.child.next(cx) };
        runtime::check_interrupts().map_err(eval::error::interrupted)?;
        while let Some(rows) = stores.last() {
            if rows.read(place, *at, &mut self.row)? {
                *at += 1;
                return Ok(true);
            }
            stores.pop();
            (*at, *place) = (0, Place::default());
        }
        Ok(false)
    }

    fn row(&self) -> &[Datum] {
        match self.phase {
            Phase::Given { .. } => &self.row,
            _ => self.child.row(),
        }
    }

    fn batch(&mut self, _cx: &mut Cx<'_>) -> SqlResult<Batched<'_>> {
        Ok(Batched::NotNow)
    }

    fn origins(&self, found: &mut Vec<Origin>) {
        if let Phase::Alone = self.phase {
            self.child.origins(found);
        }
    }

    fn rescan(&mut self, cx: &mut Cx<'_>, changed: &[ParamId]) -> SqlResult<()> {
        self.phase = Phase::Start;
        self.child.rescan(cx, changed)
    }

    fn close(&mut self, cx: &mut Cx<'_>) {
        self.phase = Phase::Start;
        self.child.close(cx);
    }
}
