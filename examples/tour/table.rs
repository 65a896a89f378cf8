//! Aligned rows, coloured where that helps: on a terminal, unless `NO_COLOR` is set.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

/// What a cell's colour says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    /// As it should be.
    Good,
    /// Not what its reader needs: a hang, or a failure that looks like a success.
    Bad,
}

#[derive(Clone, Debug)]
pub(crate) struct Cell {
    text: String,
    tone: Tone,
    right: bool,
}

impl Cell {
    pub(crate) fn new(text: impl Into<String>, tone: Tone) -> Self {
        Self { text: text.into(), tone, right: false }
    }

    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self::new(text, Tone::Plain)
    }

    pub(crate) fn right(text: impl Into<String>) -> Self {
        Self { right: true, ..Self::plain(text) }
    }

    pub(crate) fn time(elapsed: Duration) -> Self {
        Self::right(format!("{:.2} s", elapsed.as_secs_f64()))
    }

    fn width(&self) -> usize {
        self.text.chars().count()
    }
}

/// Writes the rows below their header, each column as wide as its widest cell.
pub(crate) fn print<const N: usize>(header: [&str; N], rows: &[[Cell; N]]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let set = |name| std::env::var_os(name).unwrap_or_default();
    let colour = out.is_terminal() && set("NO_COLOR").is_empty() && set("TERM") != "dumb";

    let header = header.map(Cell::plain);
    let mut widths = [0; N];
    for row in std::iter::once(&header).chain(rows) {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.width().max(*width);
        }
    }

    write_row(&mut out, &header, &widths, colour)?;
    writeln!(out, "{}", widths.map(|width| "-".repeat(width)).join("  "))?;
    for row in rows {
        write_row(&mut out, row, &widths, colour)?;
    }
    out.flush()
}

fn write_row(out: &mut impl Write, row: &[Cell], widths: &[usize], colour: bool) -> io::Result<()> {
    let mut line = String::new();
    for (cell, width) in row.iter().zip(widths) {
        if !line.is_empty() {
            line.push_str("  ");
        }
        let padding = " ".repeat(width - cell.width());
        // Padding stays outside the colour, so that widths count what is seen.
        let text = match cell.tone {
            Tone::Good if colour => format!("\x1b[32m{}\x1b[0m", cell.text),
            Tone::Bad if colour => format!("\x1b[31m{}\x1b[0m", cell.text),
            _ => cell.text.clone(),
        };
        if cell.right {
            line.push_str(&padding);
            line.push_str(&text);
        } else {
            line.push_str(&text);
            line.push_str(&padding);
        }
    }
    writeln!(out, "{}", line.trim_end())
}
