//! What was counted when it was last found good.

use std::{collections::HashMap, fmt::Write, fs, io, path::PathBuf};

use crate::row::Row;

/// How far a row may be from its baseline, in either direction: what became cheaper has to be written down too, lest it
/// be lost unseen.
pub(crate) const BAND: f64 = 0.03;

/// Fractions of so few instructions are no news: a row that costs 20 may cost 22.
const SLACK: f64 = 2.0;

/// What the file says.
#[derive(Debug, Default)]
pub(crate) struct Baseline {
    pub(crate) machine: String,
    pub(crate) rows: HashMap<String, f64>,
}

impl Baseline {
    /// Whether the row is where it was.
    pub(crate) fn holds(&self, row: &Row, count: f64) -> bool {
        row.anchor || self.rows.get(&row.name).is_some_and(|was| (count - was).abs() <= (was * BAND).abs().max(SLACK))
    }
}

pub(crate) fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("baseline/instructions.tsv")
}

pub(crate) fn read() -> io::Result<Baseline> {
    let mut baseline = Baseline::default();
    for line in fs::read_to_string(path())?.lines().filter(|line| !line.starts_with('#')) {
        match line.split('\t').collect::<Vec<_>>()[..] {
            ["counted with", machine] => baseline.machine = machine.to_owned(),
            [name, _, count] => {
                let count = count.parse().map_err(|_| io::Error::other(format!("not a count: {line}")))?;
                baseline.rows.insert(name.to_owned(), count);
            }
            _ => return Err(io::Error::other(format!("not a row: {line}"))),
        }
    }
    Ok(baseline)
}

pub(crate) fn write(machine: &str, rows: &[Row], own: &[f64]) -> io::Result<()> {
    let mut text = String::from(
        "# Instructions a unit, without those of the row below. Written by benches/compare/scripts/instructions.sh --update\n",
    );
    let _ = writeln!(text, "counted with\t{machine}");
    for (row, count) in rows.iter().zip(own).filter(|(row, _)| !row.anchor) {
        let _ = writeln!(text, "{}\t{}\t{count:.1}", row.name, row.unit);
    }
    let path = path();
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, text)
}
