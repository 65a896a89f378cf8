//! The rows as text.

use std::fmt::Write;

use crate::{
    baseline::{BAND, Baseline},
    row::Row,
};

pub(crate) fn band() -> String {
    format!("{:.0} %", BAND * 100.0)
}

pub(crate) fn render(rows: &[Row], own: &[f64], baseline: Option<&Baseline>) -> String {
    let wide = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
    let mut text = format!("{:<wide$}  {:>8}  {:>12}", "instructions", "of each", "own");
    if baseline.is_some() {
        let _ = write!(text, "  {:>12}  {:>8}", "baseline", "change");
    }
    text.push('\n');
    for (row, count) in rows.iter().zip(own) {
        let _ = write!(text, "{:<wide$}  {:>8}  {:>12}", row.name, row.unit, grouped(*count));
        match baseline.map(|baseline| (baseline, baseline.rows.get(&row.name))) {
            Some((baseline, Some(was))) => {
                // In tenths, so that there is no negative zero.
                let change = ((count / was - 1.0) * 1_000.0).round() / 10.0 + 0.0;
                let _ = write!(text, "  {:>12}  {change:>+7.1}%", grouped(*was));
                if !baseline.holds(row, *count) {
                    text.push_str("  BEYOND");
                }
            }
            Some((_, None)) if !row.anchor => text.push_str("     NOT in the baseline"),
            _ => {}
        }
        text.push('\n');
    }
    text
}

fn grouped(number: f64) -> String {
    let whole = format!("{:.0}", number.abs());
    let thousands: Vec<_> = whole.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    format!("{}{}", if number <= -0.5 { "-" } else { "" }, thousands.join(","))
}
