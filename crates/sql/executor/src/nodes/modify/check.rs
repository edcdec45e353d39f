//! What policies and views demand of rows that are written.
//!
//! # PostgreSQL counterpart
//! `ExecWithCheckOptions` of `executor/execMain.c`.

use base::{SqlError, SqlResult, sql_err};
use eval::code::{Code, Rows, passes};
use eval::compile::{Compiler, Inputs};
use eval::cx::Cx;
use plan::{CheckKind, RowCheck};
use tuple::Datum;

use super::{ModifyNode, Target, with_row};

/// The checks of a statement.
pub(super) struct RowChecks {
    /// There are some.
    pub(super) any: bool,
    /// Of policies: when they are asked, the policy if it is only one, the conditions.
    policies: Vec<(CheckKind, Option<String>, Box<[Code]>)>,
    /// Views with their conditions, for WITH CHECK OPTION.
    views: Vec<(String, Box<[Code]>)>,
}

impl RowChecks {
    pub(super) fn new(
        compiler: &Compiler<'_>,
        checks: &[RowCheck],
        inputs: Inputs<'_>,
    ) -> SqlResult<RowChecks> {
        let (mut policies, mut views) = (Vec::new(), Vec::new());
        for check in checks {
            let name = check.name.as_deref().map(str::to_owned);
            let code = compiler.list(&check.quals, inputs)?;
            match check.kind {
                CheckKind::View => views.push((name.unwrap_or_default(), code)),
                kind => policies.push((kind, name, code)),
            }
        }
        Ok(RowChecks { any: !checks.is_empty(), policies, views })
    }
}

impl ModifyNode {
    /// What a new row must satisfy before it is stored; its generated columns are filled in.
    pub(super) fn check_row(&mut self, target: &Target, kind: CheckKind, cx: &mut Cx<'_>) -> SqlResult<()> {
        if self.row_checks.any {
            target.complete_row(&mut self.row, cx)?;
            let row = target.to_root(&self.row, &mut self.root_row);
            self.row_checks.check(&self.root.name, row, kind, cx)?;
        }
        target.check_row(&self.root, &mut self.row, cx)
    }

    /// WITH CHECK OPTION: the row just written must be seen through the views.
    pub(super) fn check_views(&mut self, target: &Target, cx: &mut Cx<'_>) -> SqlResult<()> {
        if !self.row_checks.any {
            return Ok(());
        }
        let row = target.to_root(&self.row, &mut self.root_row).to_vec();
        self.check_views_of(&row, cx)
    }

    /// The same for a row of the statement's target.
    pub(super) fn check_views_of(&self, row: &[Datum], cx: &mut Cx<'_>) -> SqlResult<()> {
        for (view, quals) in &self.row_checks.views {
            if !passes(quals, Rows::one(row), cx)? {
                let error = sql_err!(
                    WITH_CHECK_OPTION_VIOLATION,
                    "new row violates check option for view \"{view}\""
                );
                return Err(with_row(error, &self.root, row, cx)?);
            }
        }
        Ok(())
    }
}

impl RowChecks {
    /// The policies of a table, asked of a row that is as the table has it.
    pub(super) fn check(
        &self,
        table: &str,
        row: &[Datum],
        kind: CheckKind,
        cx: &mut Cx<'_>,
    ) -> SqlResult<()> {
        for (_, policy, quals) in self.policies.iter().filter(|(of, ..)| *of == kind) {
            if !passes(quals, Rows::one(row), cx)? {
                return Err(violated(kind, policy.as_deref(), table));
            }
        }
        Ok(())
    }
}

fn violated(kind: CheckKind, policy: Option<&str>, table: &str) -> SqlError {
    let (row, using) = match kind {
        CheckKind::MergeUpdate | CheckKind::MergeDelete => ("target", " (USING expression)"),
        CheckKind::Conflict => ("new", " (USING expression)"),
        _ => ("new", ""),
    };
    let policy = policy.map(|name| format!(" \"{name}\"")).unwrap_or_default();
    let message =
        format!("{row} row violates row-level security policy{policy}{using} for table \"{table}\"");
    sql_err!(INSUFFICIENT_PRIVILEGE, "{message}")
}
