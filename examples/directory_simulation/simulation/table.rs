use std::{fmt, time::Duration};

use super::{Plan, run::Routing};

/// What became of the calls that were routed in one way.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) routing: Routing,
    pub(crate) calls: usize,
    pub(crate) succeeded: usize,
    /// Requests that came to a peer; several for one call where it went on to the next.
    pub(crate) sent: usize,
    /// Those that came to one which failed at that time.
    pub(crate) sent_to_failing: usize,
    /// How long calls took, all together.
    pub(crate) took: Duration,
    /// A digest of who was asked, in order.
    pub(crate) course: u64,
}

impl Row {
    pub(crate) fn success(&self) -> f64 {
        self.succeeded as f64 / self.calls as f64
    }

    pub(crate) fn to_failing(&self) -> f64 {
        self.sent_to_failing as f64 / self.sent as f64
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) plan: Plan,
    pub(crate) rows: Vec<Row>,
}

impl Table {
    fn row(&self, routing: Routing) -> Result<&Row, String> {
        self.rows.iter().find(|row| row.routing == routing).ok_or_else(|| format!("no row of {routing}"))
    }

    /// Whether the directory does what it is for.
    pub(crate) fn check(&self) -> Result<(), String> {
        let failing = self.plan.failing as f64 / self.plan.peers as f64;
        let directory = self.row(Routing::Directory)?;
        let holds = |what: &str, holds: bool| if holds { Ok(()) } else { Err(format!("{what}\n{self}")) };
        holds("the directory succeeds in 98 of 100 calls", directory.success() >= 0.98)?;
        holds("an eighth of the failing peers' share comes to them", directory.to_failing() <= failing / 8.0)?;
        for routing in [Routing::FirstRegistered, Routing::Random] {
            let other = self.row(routing)?;
            // So that what it is compared with is what it says it is.
            let off = (other.to_failing() - failing).abs();
            holds("without a directory, failing peers get their share", off < 0.05)?;
            holds("each failing peer fails", other.success() < 1.0 - failing + 0.05)?;
            holds(
                "the directory fails in a fifth of the calls",
                1.0 - directory.success() <= (1.0 - other.success()) / 5.0,
            )?;
            holds("and is faster, all in all", directory.took < other.took)?;
        }
        Ok(())
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Plan { peers, skills, failing, window, seed, .. } = self.plan;
        let window = window.as_secs();
        writeln!(
            f,
            "{peers} peers of {skills} skills; at any time {failing} fail, others each {window} s; seed {seed}"
        )?;
        writeln!(f)?;
        writeln!(f, "| routing          |   calls | success | to failing peers | requests a call | mean ms a call |")?;
        writeln!(f, "| ---------------- | ------: | ------: | ---------------: | --------------: | -------------: |")?;
        for row in &self.rows {
            writeln!(
                f,
                "| {:16} | {:7} | {:5.2} % | {:14.2} % | {:15.3} | {:14.1} |",
                row.routing.to_string(),
                row.calls,
                row.success() * 100.0,
                row.to_failing() * 100.0,
                row.sent as f64 / row.calls as f64,
                row.took.as_secs_f64() * 1000.0 / row.calls as f64,
            )?;
        }
        Ok(())
    }
}
