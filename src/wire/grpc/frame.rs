//! Message framing: a flag byte, a length of four bytes, the message (gRPC over HTTP/2, "Length-Prefixed-Message").

/// Bytes in front of each message.
pub const PREFIX: usize = 5;

/// What stands in front of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prefix {
    /// The message is compressed, by the coding that `grpc-encoding` names.
    pub compressed: bool,
    /// Its length in bytes.
    pub len: u32,
}

impl Prefix {
    /// The prefix as it is sent.
    #[must_use]
    pub fn to_bytes(self) -> [u8; PREFIX] {
        let [a, b, c, d] = self.len.to_be_bytes();
        [u8::from(self.compressed), a, b, c, d]
    }

    fn of_bytes([flag, a, b, c, d]: [u8; PREFIX]) -> Option<Self> {
        (flag <= 1).then(|| Self { compressed: flag == 1, len: u32::from_be_bytes([a, b, c, d]) })
    }
}

/// What [`Framing::next`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// A message begins.
    Begin(Prefix),
    /// Bytes of it; none of an empty one.
    Data(&'a [u8]),
    /// It ended.
    End,
    /// All bytes were taken, and something is unfinished or nothing has begun.
    More,
    /// The flag byte is none: this is no gRPC.
    Bad,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// So many bytes of the prefix are there.
    Prefix(u8),
    /// So many bytes of the message are missing.
    Message(u32),
    Bad,
}

/// Finds messages in bytes that come in any cut. It keeps nothing but a prefix.
#[derive(Clone, Debug)]
pub struct Framing {
    prefix: [u8; PREFIX],
    state: State,
}

impl Default for Framing {
    fn default() -> Self {
        Self::new()
    }
}

impl Framing {
    /// Before the first byte.
    #[must_use]
    pub const fn new() -> Self {
        Self { prefix: [0; PREFIX], state: State::Prefix(0) }
    }

    /// True if the next byte begins a message.
    #[must_use]
    pub fn is_between(&self) -> bool {
        self.state == State::Prefix(0)
    }

    /// How many bytes of the message are still to come, its prefix being there.
    #[must_use]
    pub fn missing(&self) -> Option<u32> {
        match self.state {
            State::Message(left) => Some(left),
            _ => None,
        }
    }

    /// A message that begins with `bytes` and is there whole: the usual case, in which nothing is to be remembered.
    /// `None` in any other.
    #[inline(always)]
    pub fn whole<'a>(&self, bytes: &'a [u8]) -> Option<(Prefix, &'a [u8])> {
        if self.state != State::Prefix(0) {
            return None;
        }
        let (prefix, rest) = bytes.split_first_chunk()?;
        let prefix = Prefix::of_bytes(*prefix)?;
        let message = rest.get(..usize::try_from(prefix.len).ok()?)?;
        Some((prefix, message))
    }

    /// Reads on to the next thing there is to say, and says how many bytes that took.
    #[inline]
    pub fn next<'a>(&mut self, bytes: &'a [u8]) -> (usize, Part<'a>) {
        match self.state {
            State::Prefix(0) => match bytes.first_chunk() {
                Some(prefix) => (PREFIX, self.begin(*prefix)),
                None => self.collect(0, bytes),
            },
            State::Prefix(have) => self.collect(have, bytes),
            State::Message(0) => {
                self.state = State::Prefix(0);
                (0, Part::End)
            }
            State::Message(_) if bytes.is_empty() => (0, Part::More),
            State::Message(left) => {
                let piece = usize::try_from(left).ok().and_then(|left| bytes.get(..left)).unwrap_or(bytes);
                // No longer than what is left, which has 32 bits.
                self.state = State::Message(left - piece.len() as u32);
                (piece.len(), Part::Data(piece))
            }
            State::Bad => (0, Part::Bad),
        }
    }

    fn begin<'a>(&mut self, bytes: [u8; PREFIX]) -> Part<'a> {
        match Prefix::of_bytes(bytes) {
            Some(prefix) => {
                self.state = State::Message(prefix.len);
                Part::Begin(prefix)
            }
            None => {
                self.state = State::Bad;
                Part::Bad
            }
        }
    }

    /// A prefix that comes in pieces.
    #[cold]
    fn collect<'a>(&mut self, have: u8, bytes: &[u8]) -> (usize, Part<'a>) {
        let free = self.prefix.get_mut(usize::from(have)..).unwrap_or_default();
        let used = free.len().min(bytes.len());
        for (place, byte) in free.iter_mut().zip(bytes) {
            *place = *byte;
        }
        // At most five.
        let have = have + used as u8;
        self.state = State::Prefix(have);
        // One byte is enough to know that it is none.
        let bad_flag = have > 0 && self.prefix.first().is_some_and(|flag| *flag > 1);
        if bad_flag || usize::from(have) == PREFIX {
            let prefix = self.prefix;
            return (used, self.begin(prefix));
        }
        (used, Part::More)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The messages in some bytes that are cut into pieces of one size.
    fn messages(bytes: &[u8], cut: usize) -> (Vec<(bool, Vec<u8>)>, bool) {
        let mut framing = Framing::new();
        let (mut done, mut open) = (Vec::new(), (false, Vec::new()));
        for piece in bytes.chunks(cut) {
            let mut at = 0;
            loop {
                let (used, part) = framing.next(&piece[at..]);
                at += used;
                match part {
                    Part::Begin(prefix) => open = (prefix.compressed, Vec::new()),
                    Part::Data(data) => open.1.extend_from_slice(data),
                    Part::End => done.push(std::mem::take(&mut open)),
                    Part::More => break,
                    Part::Bad => return (done, true),
                }
            }
            assert_eq!(at, piece.len());
        }
        (done, false)
    }

    #[test]
    fn messages_are_found_in_any_cut() {
        let mut bytes = Vec::new();
        for (compressed, message) in [(false, &b"one"[..]), (true, b""), (false, b""), (false, b"three")] {
            bytes.extend(Prefix { compressed, len: message.len() as u32 }.to_bytes());
            bytes.extend(message);
        }
        let whole = messages(&bytes, bytes.len());
        assert_eq!(whole.0.iter().map(|(_, m)| m.len()).collect::<Vec<_>>(), [3, 0, 0, 5]);
        assert!(whole.0[1].0 && !whole.0[2].0);
        for cut in 1..bytes.len() {
            assert_eq!(messages(&bytes, cut), whole, "{cut}");
        }
    }

    /// Only where the next byte begins one.
    #[test]
    fn a_whole_message_is_one_at_its_beginning() {
        let one = [&Prefix { compressed: true, len: 5 }.to_bytes()[..], &[0; 5]].concat();
        let prefix = Prefix { compressed: true, len: 5 };
        assert_eq!(Framing::new().whole(&one), Some((prefix, &[0; 5][..])));
        assert_eq!(Framing::new().whole(&[&one[..], b"more"].concat()), Some((prefix, &[0; 5][..])));
        for cut in 0..one.len() {
            assert_eq!(Framing::new().whole(&one[..cut]), None, "{cut}");
            let mut framing = Framing::new();
            let mut at = 0;
            while at < cut {
                at += framing.next(&one[at..cut]).0;
            }
            // All that follows may look like a message.
            assert_eq!(framing.whole(&[0; 20]).is_some(), cut == 0, "{cut}");
        }
    }

    #[test]
    fn one_byte_tells_that_it_is_no_grpc() {
        let mut framing = Framing::new();
        assert_eq!(framing.next(b"<"), (1, Part::Bad));
        assert_eq!(framing.next(b"html"), (0, Part::Bad));
        assert!(messages(b"{\"jsonrpc\"", 1).1 && messages(b"{\"jsonrpc\"", 10).1);
    }

    #[test]
    fn a_length_is_known_from_the_prefix_alone() {
        let mut framing = Framing::new();
        assert_eq!(
            framing.next(&[0, 0xff, 0xff, 0xff, 0xff]).1,
            Part::Begin(Prefix { compressed: false, len: u32::MAX })
        );
        assert_eq!(framing.missing(), Some(u32::MAX));
        assert!(!framing.is_between());
    }
}
