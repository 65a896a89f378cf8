//! The parts of the table, and how they are printed.

use crate::cell::Cell;
use crate::rule::Mode;

/// How much of an answer is shown where a cell is wrong.
const SHOWN: usize = 1_500;

/// A part of the table: cells in rows and columns, and plain checks below them.
#[derive(Debug, Default)]
pub(crate) struct Section {
    pub(crate) title: String,
    pub(crate) cells: Vec<Cell>,
    pub(crate) checks: Vec<Check>,
}

/// Something that must hold and is no call's outcome.
#[derive(Clone, Debug)]
pub(crate) struct Check {
    pub(crate) what: String,
    pub(crate) wrong: Option<String>,
}

impl Check {
    /// That two values are the same.
    pub(crate) fn same<T: PartialEq + std::fmt::Debug>(what: impl Into<String>, is: T, must_be: T) -> Self {
        let wrong = (is != must_be).then(|| format!("{is:?} instead of {must_be:?}"));
        Self { what: what.into(), wrong }
    }
}

impl Section {
    pub(crate) fn failed(&self) -> usize {
        let cells = self.cells.iter().filter(|cell| !cell.wrong.is_empty()).count();
        cells + self.checks.iter().filter(|check| check.wrong.is_some()).count()
    }

    pub(crate) fn passed(&self) -> usize {
        self.cells.len() + self.checks.len() - self.failed()
    }

    /// Prints it, with a note below for each cell where the server departs from the protocol, and everything about
    /// each wrong one.
    pub(crate) fn print(&self) {
        println!("\n== {}", self.title);
        let mut notes: Vec<&str> = Vec::new();
        if !self.cells.is_empty() {
            self.print_cells(&mut notes);
        }
        for (number, note) in notes.iter().enumerate() {
            println!("  {} {note}", letter(number));
        }
        for Check { what, wrong } in &self.checks {
            match wrong {
                None => println!("  ok     {what}"),
                Some(wrong) => println!("  WRONG  {what}: {wrong}"),
            }
        }
        for cell in self.cells.iter().filter(|cell| !cell.wrong.is_empty()) {
            print_wrong(cell);
        }
    }

    fn print_cells<'s>(&'s self, notes: &mut Vec<&'s str>) {
        let mut columns: Vec<((u8, Mode), String)> =
            self.cells.iter().map(|cell| (cell.place(), cell.column())).collect();
        columns.sort();
        columns.dedup();
        let mut rows: Vec<&str> = Vec::new();
        for cell in &self.cells {
            if !rows.contains(&cell.row) {
                rows.push(cell.row);
            }
        }
        let head = std::iter::once(String::new()).chain(columns.iter().map(|(_, name)| name.clone()));
        let mut lines: Vec<Vec<String>> = vec![head.collect()];
        for row in rows {
            let mut line = vec![row.to_owned()];
            for (place, _) in &columns {
                let cell = self.cells.iter().find(|cell| cell.row == row && cell.place() == *place);
                line.push(cell.map_or_else(|| "-".into(), |cell| words(cell, notes)));
            }
            lines.push(line);
        }
        print_aligned(&lines);
    }
}

fn words<'c>(cell: &'c Cell, notes: &mut Vec<&'c str>) -> String {
    if !cell.wrong.is_empty() {
        return format!("WRONG {}", cell.ended.what);
    }
    let mut words = cell.expect.words();
    if cell.departs {
        let number = notes.iter().position(|note| *note == cell.why).unwrap_or_else(|| {
            notes.push(cell.why);
            notes.len() - 1
        });
        words.push_str(&format!(" {}", letter(number)));
    }
    words
}

fn letter(number: usize) -> String {
    format!("[{}]", char::from(b'a' + (number % 26) as u8))
}

fn print_aligned(lines: &[Vec<String>]) {
    let columns = lines.iter().map(Vec::len).max().unwrap_or_default();
    let mut widths = vec![0; columns];
    for line in lines {
        for (cell, width) in line.iter().zip(&mut widths) {
            *width = cell.chars().count().max(*width);
        }
    }
    for line in lines {
        let cells = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        println!("  {}", cells.collect::<Vec<_>>().join("  ").trim_end());
    }
}

fn print_wrong(cell: &Cell) {
    println!("\n  WRONG: {}, {}", cell.row, cell.column());
    for wrong in &cell.wrong {
        println!("    {wrong}");
    }
    println!("    expected {}: {}", cell.expect.words(), cell.why);
    if !cell.ended.message.is_empty() {
        println!("    error: {}", cell.ended.message);
    }
    for exchange in &cell.ended.exchanges {
        println!("    sent {} {}", exchange.request.method, exchange.request.uri);
        match &exchange.head {
            None => println!("    no head came"),
            Some(head) => {
                println!("    head {} {:?}", head.status, head.headers);
                let shown = exchange.body.get(..SHOWN).unwrap_or(&exchange.body);
                println!("    {} bytes: {}", exchange.body.len(), shown.escape_ascii());
            }
        }
    }
}
