//! The analyzer's state: query levels, what names each sees, and where in a statement an expression stands.

use base::{Oid, SqlError, SqlResult};
use catalog::view::CatalogView;
use parse::ast;

use crate::ParamTypes;
use crate::expr::{Expr, Location, RowVersion};
use crate::query::{Cte, RangeTableEntry};

/// Where an expression stands; decides what it may hold and how errors call the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    None,
    JoinOn,
    FromSubselect,
    FromFunction,
    Where,
    Having,
    Filter,
    WindowPartition,
    WindowOrder,
    WindowFrame(ast::FrameUnits),
    SelectTarget,
    UpdateSource,
    GroupBy,
    OrderBy,
    DistinctOn,
    Limit,
    Offset,
    Returning,
    Values,
    CheckConstraint,
    ColumnDefault,
    IndexExpression,
    IndexPredicate,
    AlterTransform,
    ExecuteParameter,
    GeneratedColumn,
    CallArgument,
    CopyWhere,
    PartitionBound,
    PartitionKey,
    Statistics,
    MergeWhen,
    TriggerWhen,
    Policy,
}

impl Place {
    /// The clause's name in error messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Place::None => "invalid expression kind",
            Place::JoinOn => "JOIN/ON",
            Place::FromSubselect => "sub-SELECT in FROM",
            Place::FromFunction => "function in FROM",
            Place::Where | Place::CopyWhere => "WHERE",
            Place::TriggerWhen => "WHEN",
            Place::Policy => "POLICY",
            Place::Having => "HAVING",
            Place::Filter => "FILTER",
            Place::WindowPartition => "window PARTITION BY",
            Place::WindowOrder => "window ORDER BY",
            Place::WindowFrame(ast::FrameUnits::Range) => "window RANGE",
            Place::WindowFrame(ast::FrameUnits::Rows) => "window ROWS",
            Place::WindowFrame(ast::FrameUnits::Groups) => "window GROUPS",
            Place::SelectTarget => "SELECT",
            Place::UpdateSource => "UPDATE",
            Place::GroupBy => "GROUP BY",
            Place::OrderBy => "ORDER BY",
            Place::DistinctOn => "DISTINCT ON",
            Place::Limit => "LIMIT",
            Place::Offset => "OFFSET",
            Place::Returning => "RETURNING",
            Place::Values => "VALUES",
            Place::CheckConstraint => "CHECK",
            Place::ColumnDefault => "DEFAULT",
            Place::IndexExpression => "index expression",
            Place::IndexPredicate => "index predicate",
            Place::AlterTransform => "USING",
            Place::ExecuteParameter => "EXECUTE",
            Place::GeneratedColumn => "GENERATED AS",
            Place::CallArgument => "CALL",
            Place::PartitionBound => "partition bound",
            Place::PartitionKey => "partition key expression",
            Place::Statistics => "statistics expression",
            Place::MergeWhen => "MERGE WHEN",
        }
    }

    /// How messages of the form "... are not allowed in ..." call the place.
    pub(crate) fn forbidden_in(self) -> &'static str {
        match self {
            Place::JoinOn => "JOIN conditions",
            Place::FromFunction => "functions in FROM",
            Place::CheckConstraint => "check constraints",
            Place::ColumnDefault => "DEFAULT expressions",
            Place::IndexExpression => "index expressions",
            Place::IndexPredicate => "index predicates",
            Place::AlterTransform => "transform expressions",
            Place::ExecuteParameter => "EXECUTE parameters",
            Place::GeneratedColumn => "column generation expressions",
            Place::CallArgument => "CALL arguments",
            Place::PartitionKey => "partition key expressions",
            Place::Statistics => "statistics expressions",
            Place::CopyWhere => "COPY FROM WHERE conditions",
            Place::TriggerWhen => "trigger WHEN conditions",
            Place::Policy => "policy expressions",
            Place::WindowPartition | Place::WindowOrder => "window definitions",
            Place::MergeWhen => "MERGE WHEN conditions",
            place => place.name(),
        }
    }
}

/// A column that a name can reach.
#[derive(Clone, Debug)]
pub(crate) struct NsColumn {
    /// Name; empty for a dropped column.
    pub(crate) name: String,
    /// What it stands for, seen from its own level.
    pub(crate) expr: Expr,
    /// Not meant by `*`.
    pub(crate) unlisted: bool,
}

/// A relation that names can reach.
#[derive(Clone, Debug)]
pub(crate) struct NsItem {
    /// Name it goes by.
    pub(crate) name: String,
    /// An alias was given.
    pub(crate) aliased: bool,
    /// Index in the level's range table.
    pub(crate) rte: usize,
    /// Relation's OID, for `schema.table.column`; 0 if none or aliased.
    pub(crate) relation: Oid,
    /// Its columns.
    pub(crate) columns: Vec<NsColumn>,
    /// Its name may qualify columns.
    pub(crate) rel_visible: bool,
    /// Its columns may be named without qualification.
    pub(crate) cols_visible: bool,
    /// Visible to LATERAL items only.
    pub(crate) lateral_only: bool,
    /// Whether a LATERAL reference is allowed (not from the wrong side of an outer join).
    pub(crate) lateral_ok: bool,
    /// OLD or NEW of RETURNING.
    pub(crate) version: RowVersion,
    /// A join: its whole row is made of its columns.
    pub(crate) is_join: bool,
}

/// A query of WITH RECURSIVE that is being analysed.
#[derive(Clone, Debug)]
pub(crate) struct PendingCte {
    pub(crate) name: String,
    /// Known once the non-recursive term is analysed.
    pub(crate) columns: Option<Vec<crate::query::ColumnType>>,
    /// The columns that SEARCH and CYCLE add: references see them, `*` does not mean them.
    pub(crate) added: Vec<crate::query::ColumnType>,
    pub(crate) referenced: bool,
}

/// One query level.
#[derive(Debug)]
pub(crate) struct Level {
    pub(crate) range_table: Vec<RangeTableEntry>,
    pub(crate) namespace: Vec<NsItem>,
    pub(crate) ctes: Vec<Cte>,
    pub(crate) pending: Vec<PendingCte>,
    /// Names of WITH that come later, for the hint.
    pub(crate) future_ctes: Vec<String>,
    /// Column aliases of the query of WITH RECURSIVE that this level is.
    pub(crate) cte_aliases: Vec<String>,
    pub(crate) place: Place,
    pub(crate) target: Option<usize>,
    /// WINDOW and OVER definitions, those of the WINDOW clause first.
    pub(crate) windows: Vec<ast::WindowDef>,
    pub(crate) lateral_active: bool,
    pub(crate) has_aggregates: bool,
    pub(crate) has_windows: bool,
    pub(crate) has_srfs: bool,
    pub(crate) has_sublinks: bool,
    pub(crate) has_modifying_cte: bool,
    /// Unknown literals in the target list become text.
    pub(crate) resolve_unknowns: bool,
    /// Number of multiple assignments met.
    pub(crate) multi_exprs: i32,
    /// RETURNING of a MERGE is being analysed.
    pub(crate) merge_returning: bool,
}

impl Default for Level {
    fn default() -> Level {
        Level {
            range_table: Vec::new(),
            namespace: Vec::new(),
            ctes: Vec::new(),
            pending: Vec::new(),
            future_ctes: Vec::new(),
            cte_aliases: Vec::new(),
            place: Place::None,
            target: None,
            windows: Vec::new(),
            lateral_active: false,
            has_aggregates: false,
            has_windows: false,
            has_srfs: false,
            has_sublinks: false,
            has_modifying_cte: false,
            resolve_unknowns: true,
            multi_exprs: 0,
            merge_returning: false,
        }
    }
}

/// One analysis.
pub(crate) struct Analyzer<'a> {
    pub(crate) text: &'a str,
    pub(crate) catalog: &'a dyn CatalogView,
    pub(crate) call: &'a types::Call<'a>,
    pub(crate) params: ParamTypes,
    /// Innermost last.
    pub(crate) levels: Vec<Level>,
    /// Names of functions are those of procedures: CALL.
    pub(crate) calling: bool,
    /// What VALUE is, in a domain's constraint: type, modifier, collation.
    pub(crate) domain_value: Option<(Oid, i32, Oid)>,
    /// How many levels stand around the statement: that of the rows which a rule is about.
    pub(crate) outside: usize,
    /// Rules do not count: the statement is not a user's.
    pub(crate) beyond_rules: bool,
}

impl<'a> Analyzer<'a> {
    pub(crate) fn new(
        text: &'a str,
        params: ParamTypes,
        catalog: &'a dyn CatalogView,
        call: &'a types::Call<'a>,
    ) -> Analyzer<'a> {
        let levels = Vec::new();
        Analyzer {
            text,
            catalog,
            call,
            params,
            levels,
            calling: false,
            domain_value: None,
            outside: 0,
            beyond_rules: false,
        }
    }

    /// The innermost level.
    pub(crate) fn level(&mut self) -> &mut Level {
        if self.levels.is_empty() {
            self.levels.push(Level::default());
        }
        let last = self.levels.len() - 1;
        &mut self.levels[last]
    }

    /// Runs `f` with a new innermost level, and gives its result.
    pub(crate) fn nested<T>(&mut self, f: impl FnOnce(&mut Self) -> SqlResult<T>) -> SqlResult<T> {
        self.levels.push(Level::default());
        let result = f(self);
        self.levels.pop();
        result
    }

    /// Runs `f` with expressions standing in `place`.
    pub(crate) fn in_place<T>(
        &mut self,
        place: Place,
        f: impl FnOnce(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let before = std::mem::replace(&mut self.level().place, place);
        let result = f(self);
        self.level().place = before;
        result
    }

    pub(crate) fn place(&mut self) -> Place {
        self.level().place
    }

    /// Sets an error's position, unless it has one.
    pub(crate) fn at(&self, error: SqlError, location: Location) -> SqlError {
        match location.offset() {
            Some(offset) if error.report().position.is_none() => error.at(parse::position(self.text, offset)),
            _ => error,
        }
    }

    /// Adds a range table entry to the innermost level.
    pub(crate) fn add_rte(&mut self, rte: RangeTableEntry) -> usize {
        let table = &mut self.level().range_table;
        table.push(rte);
        table.len() - 1
    }

    /// The level `levels_up` out of the innermost.
    pub(crate) fn level_up(&mut self, levels_up: u32) -> SqlResult<&mut Level> {
        let n = self.levels.len();
        n.checked_sub(1 + levels_up as usize)
            .and_then(|i| self.levels.get_mut(i))
            .ok_or_else(|| SqlError::internal("query level out of range"))
    }
}
