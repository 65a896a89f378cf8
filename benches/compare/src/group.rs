//! Rows that are compared with each other, measured in turn.

use std::fmt;
use std::time::{Duration, Instant};

use crate::measure::Cost;

/// What a row is allowed to cost, on top of the row it stands `over`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Budget {
    /// At most so many times what the named row costs.
    Ratio(&'static str, f64),
    /// At most so many nanoseconds a unit.
    Nanoseconds(f64),
    /// At most so many allocations a unit.
    Allocations(f64),
    /// At most so many bytes asked for a unit.
    Bytes(f64),
}

type Batch = Box<dyn FnMut(usize) -> Cost>;

impl fmt::Debug for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Row").field("name", &self.name).field("best", &self.best).finish_non_exhaustive()
    }
}

/// One line of a table.
pub struct Row {
    /// What is measured.
    pub name: &'static str,
    /// The row whose cost is not this one's own: the bare service, the stream passed through.
    pub over: Option<&'static str>,
    /// Whether the others are set in relation to it.
    pub anchor: bool,
    /// What it may cost.
    pub budgets: Vec<Budget>,
    /// The least seen so far.
    pub best: Figures,
    batch: Batch,
}

/// What a unit (a call, or an event) takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// Thread CPU nanoseconds.
    pub nanoseconds: f64,
    /// Allocations.
    pub allocations: f64,
    /// Bytes asked for.
    pub bytes: f64,
}

impl Row {
    /// A row of `batch`, which does as many units as it is told.
    pub fn new(name: &'static str, batch: impl FnMut(usize) -> Cost + 'static) -> Self {
        Self {
            name,
            over: None,
            anchor: false,
            budgets: Vec::new(),
            best: Figures { nanoseconds: f64::INFINITY, allocations: f64::NAN, bytes: f64::NAN },
            batch: Box::new(batch),
        }
    }

    /// What it costs is what it takes more than that row.
    #[must_use]
    pub fn over(mut self, row: &'static str) -> Self {
        self.over = Some(row);
        self
    }

    /// The other rows are set in relation to this one.
    #[must_use]
    pub fn anchor(mut self) -> Self {
        self.anchor = true;
        self
    }

    /// It should stay within this.
    #[must_use]
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budgets.push(budget);
        self
    }
}

/// A table: rows, and how they are measured.
#[derive(Debug)]
pub struct Group {
    /// What is done, with which bytes.
    pub title: String,
    /// What a row's figures are of: "call" or "event".
    pub unit: &'static str,
    /// Units in a batch.
    pub units: usize,
    /// The rows, in the order in which they are measured.
    pub rows: Vec<Row>,
}

impl Group {
    /// Measures for about `span`: every row in turn, over and over. May be called again; the least counts.
    pub fn measure(&mut self, span: Duration) {
        let begin = Instant::now();
        for row in &mut self.rows {
            count_allocations(row, self.units);
        }
        loop {
            for row in &mut self.rows {
                let taken = (row.batch)(self.units).time.as_secs_f64() * 1e9 / self.units as f64;
                row.best.nanoseconds = row.best.nanoseconds.min(taken);
            }
            if begin.elapsed() >= span {
                break;
            }
        }
    }

    /// The row of that name.
    ///
    /// # Panics
    /// If there is none: names are written in this crate only.
    pub fn row(&self, name: &str) -> &Row {
        self.rows.iter().find(|row| row.name == name).unwrap_or_else(|| panic!("no row {name}"))
    }

    /// Whether other rows stand over this one, so that it has no cost of its own.
    pub fn is_base(&self, row: &Row) -> bool {
        self.rows.iter().any(|other| other.over == Some(row.name))
    }

    /// What a row costs by itself: without what the row that it stands over takes.
    pub fn own(&self, row: &Row) -> Figures {
        let Some(below) = row.over.map(|name| self.row(name).best) else {
            return row.best;
        };
        Figures {
            nanoseconds: row.best.nanoseconds - below.nanoseconds,
            allocations: row.best.allocations - below.allocations,
            bytes: row.best.bytes - below.bytes,
        }
    }

    /// Whether `row` stays within `budget`.
    pub fn meets(&self, row: &Row, budget: Budget) -> bool {
        let own = self.own(row);
        match budget {
            Budget::Ratio(anchor, limit) => own.nanoseconds <= limit * self.own(self.row(anchor)).nanoseconds,
            Budget::Nanoseconds(limit) => own.nanoseconds <= limit,
            Budget::Allocations(limit) => own.allocations <= limit,
            Budget::Bytes(limit) => own.bytes <= limit,
        }
    }

    /// How many budgets of its rows are not met.
    pub fn missed(&self) -> usize {
        self.rows
            .iter()
            .flat_map(|row| row.budgets.iter().map(move |budget| (row, *budget)))
            .filter(|(row, budget)| !self.meets(row, *budget))
            .count()
    }
}

/// Allocations a unit, from the difference of two batches, so that what a batch needs once does not count.
fn count_allocations(row: &mut Row, units: usize) {
    let units = units.max(2);
    let few = units / 2;
    // Both once before, for what is made at the first call and kept.
    (row.batch)(few);
    (row.batch)(units);
    let half = (row.batch)(few).allocations;
    let whole = (row.batch)(units).allocations;
    let more = (units - few) as f64;
    row.best.allocations = (whole.count as f64 - half.count as f64) / more;
    row.best.bytes = (whole.bytes as f64 - half.bytes as f64) / more;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alloc::Allocations;

    fn fixed(name: &'static str, nanoseconds: u64, count: u64) -> Row {
        Row::new(name, move |units| {
            let units = units as u64;
            Cost {
                time: Duration::from_nanos(nanoseconds * units),
                allocations: Allocations {
                    // Three that a batch makes once.
                    count: count * units + 3,
                    bytes: 64 * count * units,
                },
            }
        })
    }

    fn group(budget: Budget) -> Group {
        let mut group = Group {
            title: String::new(),
            unit: "call",
            units: 10,
            rows: vec![
                fixed("bare", 100, 2),
                fixed("theirs", 300, 7).over("bare").anchor(),
                fixed("ours", 250, 3).over("bare").budget(budget),
            ],
        };
        group.measure(Duration::ZERO);
        group
    }

    #[test]
    fn a_row_costs_what_it_takes_more_than_the_one_below() {
        let group = group(Budget::Allocations(1.0));
        let own = group.own(group.row("ours"));
        assert_eq!((own.nanoseconds, own.allocations, own.bytes), (150.0, 1.0, 64.0));
        assert_eq!(group.missed(), 0);
    }

    #[test]
    fn budgets_can_be_missed() {
        assert_eq!(group(Budget::Ratio("theirs", 0.75)).missed(), 0);
        assert_eq!(group(Budget::Ratio("theirs", 0.74)).missed(), 1);
        assert_eq!(group(Budget::Nanoseconds(149.0)).missed(), 1);
        assert_eq!(group(Budget::Allocations(0.5)).missed(), 1);
        assert_eq!(group(Budget::Bytes(63.0)).missed(), 1);
    }
}
