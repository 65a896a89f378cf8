//! By `io::ErrorKind` alone: what any client's errors have somewhere in their chain.

use std::{
    error::Error as StdError,
    io::{Error, ErrorKind},
};

use super::Fault;

pub(super) fn fault(error: &(dyn StdError + 'static)) -> Option<Fault> {
    let kind = error.downcast_ref::<Error>()?.kind();
    match kind {
        // Only making a connection fails in these ways.
        ErrorKind::ConnectionRefused
        | ErrorKind::HostUnreachable
        | ErrorKind::NetworkUnreachable
        | ErrorKind::NetworkDown
        | ErrorKind::AddrNotAvailable => Some(Fault::CONNECT),
        ErrorKind::ConnectionReset
        | ErrorKind::ConnectionAborted
        | ErrorKind::BrokenPipe
        | ErrorKind::NotConnected
        | ErrorKind::UnexpectedEof
        | ErrorKind::TimedOut => Some(Fault::LOST),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Class;

    #[test]
    fn only_failed_connecting_is_known_not_to_have_reached_the_peer() {
        let of = |kind: ErrorKind| super::super::classify(&Error::from(kind));
        assert_eq!(of(ErrorKind::ConnectionRefused), Fault::CONNECT);
        assert_eq!(of(ErrorKind::ConnectionReset).class, Class::ConnectionLost);
        assert!(!of(ErrorKind::ConnectionReset).never_sent);
        assert_eq!(of(ErrorKind::Other), Fault::LOST);
    }
}
