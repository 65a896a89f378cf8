//! Rules by which cells are judged.

use a2a_guard::Binding::{self, Grpc, HttpJson, JsonRpc};

use crate::expect::Expect;
use crate::line::Line;

/// Whether one answer is asked for or a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mode {
    Unary,
    Stream,
}

pub(crate) const BOTH: &[Mode] = &[Mode::Unary, Mode::Stream];
pub(crate) const UNARY: &[Mode] = &[Mode::Unary];
pub(crate) const STREAM: &[Mode] = &[Mode::Stream];

pub(crate) const ALL: &[Line] = &Line::ALL;

pub(crate) const ANY: &[Binding] = &[JsonRpc, HttpJson, Grpc];
pub(crate) const HTTP: &[Binding] = &[JsonRpc, HttpJson];
pub(crate) const GRPC: &[Binding] = &[Grpc];
pub(crate) const RPC: &[Binding] = &[JsonRpc];
pub(crate) const REST: &[Binding] = &[HttpJson];

/// What the cells of one row come to, on some lines, over some bindings, and why.
#[derive(Debug)]
pub(crate) struct Rule {
    row: &'static str,
    modes: &'static [Mode],
    lines: &'static [Line],
    bindings: &'static [Binding],
    pub(crate) expect: Expect,
    pub(crate) why: &'static str,
}

/// The rule that decides a cell: the last that fits it.
pub(crate) fn rule(rules: &'static [Rule], line: Line, row: &str, mode: Mode, binding: Binding) -> &'static Rule {
    let fits = |rule: &&Rule| {
        rule.row == row && rule.modes.contains(&mode) && rule.lines.contains(&line) && rule.bindings.contains(&binding)
    };
    rules.iter().rfind(fits).unwrap_or_else(|| panic!("no rule for {row} ({mode:?}, {binding:?}) on {line:?}"))
}

impl Rule {
    /// Whether it is for some servers alone, and not the protocol's own word.
    pub(crate) fn departs(&self) -> bool {
        self.lines.len() < ALL.len() || self.bindings.len() < ANY.len()
    }
}

/// The protocol's word, for everyone.
pub(crate) const fn by_protocol(row: &'static str, modes: &'static [Mode], expect: Expect, why: &'static str) -> Rule {
    Rule { row, modes, lines: ALL, bindings: ANY, expect, why }
}

/// Where some servers do otherwise.
pub(crate) const fn but(
    row: &'static str,
    modes: &'static [Mode],
    lines: &'static [Line],
    bindings: &'static [Binding],
    expect: Expect,
    why: &'static str,
) -> Rule {
    Rule { row, modes, lines, bindings, expect, why }
}
