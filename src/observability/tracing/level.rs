use tracing::Level;

use crate::outcome::{Class, OutcomeKind};

/// How loud a call's end is: by who has to do something about it.
pub(super) const fn of(kind: OutcomeKind, class: Class) -> Level {
    match (kind, class) {
        (OutcomeKind::Success, _) => Level::DEBUG,
        // The agent broke the protocol: nothing that either side can wait out.
        (OutcomeKind::Broken, _) => Level::ERROR,
        // What an operator looks after: credentials, capacity, URLs.
        (
            OutcomeKind::Refused,
            Class::Auth | Class::RateLimited | Class::Unavailable | Class::EndpointNotFound | Class::Redirected,
        )
        | (OutcomeKind::Timeout | OutcomeKind::Transport | OutcomeKind::Card, _) => Level::WARN,
        // The agent said no to what was asked, or says to ask elsewhere; or the caller lost interest.
        (OutcomeKind::Refused | OutcomeKind::Stale | OutcomeKind::Abandoned, _) => Level::INFO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peers_no_is_told_more_quietly_than_its_faults() {
        assert_eq!(of(OutcomeKind::Success, Class::Success), Level::DEBUG);
        assert_eq!(of(OutcomeKind::Refused, Class::PeerError), Level::INFO);
        assert_eq!(of(OutcomeKind::Refused, Class::Auth), Level::WARN);
        assert_eq!(of(OutcomeKind::Timeout, Class::Idle), Level::WARN);
        assert_eq!(of(OutcomeKind::Card, Class::NotFound), Level::WARN);
        assert_eq!(of(OutcomeKind::Broken, Class::Truncated), Level::ERROR);
        assert_eq!(of(OutcomeKind::Abandoned, Class::Abandoned), Level::INFO);
    }
}
