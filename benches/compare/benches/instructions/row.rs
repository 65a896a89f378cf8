//! One row: a name, and work that can be done as often as one is told.

use std::fmt;

/// Something whose instructions are counted.
pub(crate) struct Row {
    pub(crate) name: String,
    /// What one of it is: a call, an event, …
    pub(crate) unit: &'static str,
    /// The row whose instructions are not this one's own.
    pub(crate) over: Option<String>,
    /// It is there to be compared with, and has no baseline: somebody else's, or the bare peer.
    pub(crate) anchor: bool,
    /// A batch, and one of twice as many.
    pub(crate) units: usize,
    batch: Box<dyn FnMut(usize)>,
}

impl fmt::Debug for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Row").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Row {
    /// `batch` does its work between two [`mark`](crate::callgrind::mark)s.
    pub(crate) fn new(
        name: impl Into<String>,
        unit: &'static str,
        units: usize,
        batch: impl FnMut(usize) + 'static,
    ) -> Self {
        Self { name: name.into(), unit, over: None, anchor: false, units, batch: Box::new(batch) }
    }

    /// What it takes more than that row is its own.
    pub(crate) fn over(mut self, row: impl Into<String>) -> Self {
        self.over = Some(row.into());
        self
    }

    pub(crate) fn anchor(mut self) -> Self {
        self.anchor = true;
        self
    }

    /// Three batches: one for what is made at first and kept, the two that are compared.
    pub(crate) fn measure(&mut self) {
        (self.batch)(self.units * 2);
        (self.batch)(self.units);
        (self.batch)(self.units * 2);
    }

    /// The least that shows that it runs.
    pub(crate) fn try_out(&mut self) {
        (self.batch)(self.units);
    }
}

/// What each row takes without the row that it stands over.
pub(crate) fn own(rows: &[Row], each: &[f64]) -> Vec<f64> {
    let of = |name: &str| rows.iter().position(|row| row.name == name).map_or(0.0, |at| each[at]);
    rows.iter().zip(each).map(|(row, count)| count - row.over.as_deref().map_or(0.0, of)).collect()
}
