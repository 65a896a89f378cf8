//! One cell: a call, what must come of it, and what did.

use a2a_guard::Binding;

use crate::ask::Ask;
use crate::call::{Ended, Patience, Stack};
use crate::expect::Expect;
use crate::line::{Endpoint, Line};
use crate::rule::{Mode, Rule, rule};

#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(crate) row: &'static str,
    pub(crate) binding: Binding,
    pub(crate) mode: Mode,
    pub(crate) expect: Expect,
    pub(crate) why: &'static str,
    /// Whether this server is not as the protocol says.
    pub(crate) departs: bool,
    /// What is not as it must be.
    pub(crate) wrong: Vec<String>,
    pub(crate) ended: Ended,
}

/// What makes the calls of one part of the table, and judges them.
#[derive(Clone)]
pub(crate) struct Caller {
    pub(crate) line: Line,
    pub(crate) at: Endpoint,
    pub(crate) stack: Stack,
    pub(crate) rules: &'static [Rule],
}

impl Caller {
    pub(crate) fn new(line: Line, at: Endpoint, rules: &'static [Rule]) -> Self {
        Self { line, stack: Stack::new(&at), at, rules }
    }

    pub(crate) async fn cell(&self, row: &'static str, ask: &Ask, binding: Binding, patience: Patience) -> Cell {
        self.cell_with(row, ask, binding, patience, None).await
    }

    /// With what stands in `Authorization`.
    pub(crate) async fn cell_with(
        &self,
        row: &'static str,
        ask: &Ask,
        binding: Binding,
        patience: Patience,
        credentials: Option<&str>,
    ) -> Cell {
        let ended = self.stack.call(ask.request(&self.at, binding, credentials), patience).await;
        self.judged(row, ask.mode(), binding, ended)
    }

    pub(crate) fn judged(&self, row: &'static str, mode: Mode, binding: Binding, ended: Ended) -> Cell {
        let rule = rule(self.rules, self.line, row, mode, binding);
        let wrong = rule.expect.judge(&ended, self.at.version, binding);
        Cell { row, binding, mode, expect: rule.expect, why: rule.why, departs: rule.departs(), wrong, ended }
    }
}

impl Cell {
    pub(crate) fn column(&self) -> String {
        let mode = if self.mode == Mode::Unary { "unary" } else { "stream" };
        format!("{} {mode}", self.binding.as_str())
    }

    /// Columns in this order.
    pub(crate) fn place(&self) -> (u8, Mode) {
        let binding = match self.binding {
            Binding::JsonRpc => 0,
            Binding::HttpJson => 1,
            _ => 2,
        };
        (binding, self.mode)
    }
}
