//! Groups as text.

use std::fmt::Write;

use crate::group::{Budget, Group, Row};

/// The whole group, aligned.
pub fn render(group: &Group) -> String {
    let anchors: Vec<&Row> = group.rows.iter().filter(|row| row.anchor).collect();
    let mut lines = vec![header(group, &anchors)];
    lines.extend(group.rows.iter().map(|row| cells(group, row, &anchors)));

    let widths: Vec<usize> = (0..lines[0].len())
        .map(|column| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0))
        .collect();
    let mut text = format!("{}\n", group.title);
    for line in &lines {
        let mut row = String::new();
        let last = line.len() - 1;
        for (column, (cell, width)) in line.iter().zip(&widths).enumerate() {
            // Words to the left, figures to the right.
            let _ = match column {
                0 => write!(row, "  {cell:<width$}"),
                _ if column == last => write!(row, "   {cell}"),
                _ => write!(row, "  {cell:>width$}"),
            };
        }
        text.push_str(row.trim_end());
        text.push('\n');
    }
    text
}

fn header(group: &Group, anchors: &[&Row]) -> Vec<String> {
    let mut cells =
        vec![format!("per {}", group.unit), "ns".into(), "own ns".into(), "own allocs".into(), "own bytes".into()];
    cells.extend(anchors.iter().map(|anchor| format!("/ {}", short(anchor.name))));
    cells.push("budget".into());
    cells
}

fn cells(group: &Group, row: &Row, anchors: &[&Row]) -> Vec<String> {
    let own = group.own(row);
    let mut cells = vec![row.name.to_owned(), figure(row.best.nanoseconds)];
    if group.is_base(row) {
        cells.extend(["-".into(), count(row.best.allocations), count(row.best.bytes)]);
    } else {
        cells.extend([figure(own.nanoseconds), count(own.allocations), count(own.bytes)]);
    }
    cells.extend(anchors.iter().map(|anchor| ratio(group, row, anchor)));
    cells.push(budgets(group, row));
    cells
}

/// To the row below: of all that both take. To the others: of what each costs by itself.
fn ratio(group: &Group, row: &Row, anchor: &Row) -> String {
    let of = |row: f64, anchor: f64| format!("{:.2}", row / anchor);
    if group.is_base(anchor) {
        let related = row.over == Some(anchor.name) || row.name == anchor.name;
        return if related { of(row.best.nanoseconds, anchor.best.nanoseconds) } else { "-".into() };
    }
    if group.is_base(row) {
        return "-".into();
    }
    of(group.own(row).nanoseconds, group.own(anchor).nanoseconds)
}

fn budgets(group: &Group, row: &Row) -> String {
    let verdicts = row.budgets.iter().map(|budget| {
        let allowed = match budget {
            Budget::Ratio(anchor, limit) => format!("≤ {limit:.1} of {}", short(anchor)),
            Budget::Nanoseconds(limit) => format!("≤ {limit} ns"),
            Budget::Allocations(0.0) => "no allocation".into(),
            Budget::Allocations(1.0) => "≤ 1 allocation".into(),
            Budget::Allocations(limit) => format!("≤ {limit} allocations"),
            Budget::Bytes(limit) => format!("≤ {} bytes", count(*limit)),
        };
        let verdict = if group.meets(row, *budget) { "met" } else { "NOT met" };
        format!("{allowed}: {verdict}")
    });
    verdicts.collect::<Vec<_>>().join(", ")
}

/// The first words of a row's name, for a column.
fn short(name: &str) -> &str {
    match name.split_once([' ', '+']) {
        Some(("tower" | "serde", second)) => second,
        Some((first, _)) => first,
        None => name,
    }
}

fn figure(nanoseconds: f64) -> String {
    if nanoseconds.abs() < 100.0 {
        format!("{nanoseconds:.1}")
    } else {
        let whole = format!("{nanoseconds:.0}");
        let (sign, digits) = match whole.strip_prefix('-') {
            Some(digits) => ("-", digits),
            None => ("", whole.as_str()),
        };
        let grouped: Vec<String> =
            digits.as_bytes().rchunks(3).rev().map(|three| String::from_utf8_lossy(three).into_owned()).collect();
        format!("{sign}{}", grouped.join(","))
    }
}

fn count(number: f64) -> String {
    if (number - number.round()).abs() < 0.005 || number.abs() >= 100.0 {
        // Adding zero makes a negative zero a plain one.
        figure(number.round() + 0.0).trim_end_matches(".0").to_owned()
    } else {
        format!("{number:.2}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_well() {
        assert_eq!(figure(12.34), "12.3");
        assert_eq!(figure(1_234_567.8), "1,234,568");
        assert_eq!(figure(-1_000.0), "-1,000");
        assert_eq!(count(3.0), "3");
        assert_eq!(count(0.25), "0.25");
        assert_eq!(count(2_048.4), "2,048");
        assert_eq!(count(-0.001), "0");
    }

    #[test]
    fn anchors_have_short_names() {
        assert_eq!(short("tower Timeout"), "Timeout");
        assert_eq!(short("tower-http Timeout + ResponseBodyTimeout"), "tower-http");
        assert_eq!(short("serde IgnoredAny"), "IgnoredAny");
        assert_eq!(short("bare"), "bare");
    }
}
