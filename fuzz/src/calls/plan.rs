//! What a peer does, and what its caller does.

use std::time::Duration;

use bytes::Bytes;

use super::ask::{Ask, Dialect};
use crate::{cut::pieces, input::Input};

/// One call, and everything that happens to it.
#[derive(Clone, Debug)]
pub struct Plan {
    pub ask: Ask,
    pub dialect: Dialect,
    pub strict: bool,
    pub adapt: bool,
    pub caps: Caps,
    pub readiness: Readiness,
    pub head: Head,
    /// The body, each piece after its pause.
    pub chunks: Vec<(Pause, Bytes)>,
    pub trailers: Trailers,
    pub end: End,
    pub caller: Caller,
}

/// How large things may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caps {
    Large,
    Small,
}

/// When the client below is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {
    Now,
    Later,
    Never,
    Fails,
}

/// What comes of a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Head {
    Never,
    /// The connection is lost.
    Lost,
    Comes {
        after: Duration,
        status: u16,
        media: Option<&'static str>,
        coding: Coding,
        /// Says how long the body is, rightly or not.
        length: Option<i8>,
    },
}

/// A content coding, or that of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    None,
    Identity,
    Gzip,
}

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    None,
    /// The next poll.
    Yield,
    For(Duration),
}

impl Pause {
    #[must_use]
    pub fn time(self) -> Duration {
        match self {
            Self::For(time) => time,
            _ => Duration::ZERO,
        }
    }
}

/// What stands in trailers; of a gRPC call without a body, in its head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trailers {
    None,
    /// Some that say nothing.
    Other,
    Status(&'static str),
    /// Two of them.
    Statuses(&'static str, &'static str),
    /// In the head, and in no trailers.
    InHead(&'static str),
}

/// What comes behind the last piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Clean,
    Reset,
    Hang,
    /// A piece without end, each after so long.
    Endless(&'static str, Duration),
    /// The same, always ready; making one takes so long.
    Flood(&'static str, Duration),
    /// Trailers without end.
    Trailers(Duration),
}

/// What the caller does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    /// Before it reads the first piece, and each one behind it.
    pub pause: Duration,
    /// Polls without being woken.
    pub restless: bool,
    /// Drops everything after so many polls.
    pub drops: Option<u32>,
}

impl Caller {
    /// One that reads at once, to the end.
    pub const PATIENT: Self = Self { pause: Duration::ZERO, restless: false, drops: None };
}

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

impl Plan {
    /// The plan that a fuzzer's bytes spell: choices in front, the body behind.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        let mut input = Input::new(bytes);
        let dialect = input.pick(&Dialect::ALL);
        let ask = input.pick(&Ask::ALL);
        let options = input.byte();
        let (strict, adapt) = (options & 3 == 3, options & 12 == 12);
        let caps = if options & 48 == 48 { Caps::Small } else { Caps::Large };
        let readiness = match options >> 6 {
            0 | 1 => Readiness::Now,
            2 => Readiness::Later,
            _ => input.pick(&[Readiness::Now, Readiness::Now, Readiness::Never, Readiness::Fails]),
        };
        let head = Self::head(&mut input, dialect, ask);
        let trailers = input.pick(&[
            Trailers::Status("0"),
            Trailers::None,
            Trailers::Status("0"),
            Trailers::Other,
            Trailers::Status("5"),
            Trailers::Status("x"),
            Trailers::Statuses("0", "13"),
            Trailers::InHead("0"),
            Trailers::InHead("9"),
        ]);
        let each = input.pick(&[ms(0), ms(1), ms(900), ms(29_000), ms(110_000), ms(140_000)]);
        let text = input.pick(&["x", " ", ": ping\n\n", "data: {}\n\n", "data: ", "\n", "{\"a\":", "\0\0\0\0\0"]);
        let end = match input.byte() % 12 {
            0..=4 => End::Clean,
            5 => End::Reset,
            6 | 7 => End::Hang,
            8 => End::Endless(text, each),
            9 => End::Flood(text, each.max(ms(1))),
            10 => End::Trailers(each.max(ms(1))),
            _ => End::Clean,
        };
        let caller = Caller {
            pause: input.pick(&[ms(0), ms(0), ms(0), ms(50), ms(3_000), ms(130_000)]),
            restless: input.one_in(4),
            drops: None,
        };
        let seed = input.word();
        let pauses = [input.byte(), input.byte(), input.byte(), input.byte()];
        let is_framed = input.one_in(2) && dialect.is_grpc();
        let mut body = input.rest().to_vec();
        if is_framed && body.len() < 1 << 16 {
            let [_, _, high, low] = (body.len() as u32).to_be_bytes();
            body.splice(..0, [0, 0, 0, high, low]);
        }
        let chunks = pieces(&body, seed).into_iter().zip(pauses.into_iter().cycle());
        let chunks = chunks.map(|(piece, pause)| (Self::pause(pause), Bytes::copy_from_slice(piece))).collect();
        Self { ask, dialect, strict, adapt, caps, readiness, head, chunks, trailers, end, caller }
    }

    fn pause(choice: u8) -> Pause {
        match choice {
            0..=150 => Pause::None,
            151..=200 => Pause::Yield,
            201..=220 => Pause::For(ms(1)),
            221..=235 => Pause::For(ms(100)),
            236..=243 => Pause::For(ms(4_000)),
            244..=249 => Pause::For(ms(31_000)),
            250..=253 => Pause::For(ms(121_000)),
            _ => Pause::For(ms(700_000)),
        }
    }

    fn head(input: &mut Input<'_>, dialect: Dialect, ask: Ask) -> Head {
        let after = input.pick(&[ms(0), ms(0), ms(1), ms(2_000), ms(29_000), ms(31_000), ms(290_000), ms(400_000)]);
        let status = input.pick(&[200, 200, 200, 200, 201, 202, 204, 206, 301, 400, 401, 404, 429, 500, 503]);
        let fitting = match (dialect.is_grpc(), ask.is_stream()) {
            (true, _) => "application/grpc",
            (_, true) => "text/event-stream",
            _ => "application/json",
        };
        let media = input.pick(&[
            Some(fitting),
            Some(fitting),
            Some(fitting),
            Some(fitting),
            Some("application/json"),
            Some("text/event-stream"),
            Some("application/a2a+json; charset=utf-8"),
            Some("application/problem+json"),
            Some("application/grpc+proto"),
            Some("text/html"),
            Some("text/plain"),
            Some("image/png"),
            Some("application/x-ndjson"),
            None,
        ]);
        let coding =
            input.pick(&[Coding::None, Coding::None, Coding::None, Coding::None, Coding::Identity, Coding::Gzip]);
        let length = input.pick(&[None, None, None, Some(0), Some(1), Some(-1)]);
        match input.byte() % 16 {
            0 => Head::Never,
            1 => Head::Lost,
            _ => Head::Comes { after, status, media, coding, length },
        }
    }

    /// The bytes of the body, as far as they are planned.
    #[must_use]
    pub fn body(&self) -> Vec<u8> {
        self.chunks.iter().flat_map(|(_, chunk)| chunk.iter().copied()).collect()
    }

    /// How long the peer and its caller wait, all in all, before the last planned piece.
    #[must_use]
    pub fn waits(&self) -> Duration {
        self.chunks.iter().map(|(pause, _)| pause.time()).sum()
    }
}
