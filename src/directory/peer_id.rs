//! Who a peer is: the place it is called at.

use std::{fmt, sync::Arc};

use http::Uri;

use crate::{
    card::{CardUrl, Origin, UrlFault},
    wire::text::escape,
};

/// A peer's identity: origin and path of the place that its card was asked of, normalised, and the query where it has
/// one. Never what its card calls itself: a name is a claim, and anybody can claim it.
///
/// A slash at the end makes no difference, for the card is looked for at the same place with and without it.
/// Clones share the text.
///
/// ```
/// # use a2a_guard::directory::PeerId;
/// let peer = PeerId::parse("HTTPS://Agent.Example.com:443/a2a/")?;
/// assert_eq!(peer.as_str(), "https://agent.example.com/a2a");
/// # Ok::<(), a2a_guard::directory::PeerIdFault>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerId(Arc<str>);

/// What makes a text the identity of no peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PeerIdFault {
    /// It is no absolute `http` or `https` URL.
    #[error("a peer's URL {0}")]
    Url(#[from] UrlFault),
    /// It is longer than [`PeerId::MAX`] bytes.
    #[error("a peer's URL is longer than {} bytes", PeerId::MAX)]
    TooLong,
}

impl PeerId {
    /// The most bytes of one. Longer URLs are nobody's identity.
    pub const MAX: usize = 1024;

    /// At most so many characters in a message.
    const SHOWN: usize = 200;

    /// Reads the base URL of an agent. What [`as_str`](Self::as_str) gives is read as the same peer again.
    ///
    /// # Errors
    ///
    /// What makes it none. A user name before the host is refused: it would put a password into logs.
    pub fn parse(url: &str) -> Result<Self, PeerIdFault> {
        if url.len() > Self::MAX {
            return Err(PeerIdFault::TooLong);
        }
        Self::of_url(&CardUrl::parse(url)?)
    }

    /// The peer at the base that this URI names.
    ///
    /// # Errors
    ///
    /// As [`parse`](Self::parse).
    pub fn of(uri: &Uri) -> Result<Self, PeerIdFault> {
        Self::of_url(&CardUrl::of(uri)?)
    }

    fn of_url(url: &CardUrl) -> Result<Self, PeerIdFault> {
        if url.has_user_info() {
            return Err(UrlFault::UserInfo.into());
        }
        let (scheme, authority) = (url.scheme().ok_or(UrlFault::Relative)?, url.authority());
        let path = url.path().trim_end_matches('/');
        let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
        let text = format!("{scheme}://{authority}{path}{query}");
        // Escapes only ever shrink, so that this holds for what was short enough before, but for international names.
        if text.len() > Self::MAX { Err(PeerIdFault::TooLong) } else { Ok(Self(text.into())) }
    }

    /// The normalised URL.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Scheme, host and port, by which credentials are chosen.
    #[must_use]
    pub fn origin(&self) -> Option<Origin> {
        Origin::parse(&self.0).ok()
    }
}

impl fmt::Display for PeerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", escape(&self.0, Self::SHOWN))
    }
}

impl fmt::Debug for PeerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PeerId({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(url: &str) -> PeerId {
        PeerId::parse(url).unwrap()
    }

    #[test]
    fn one_place_is_one_peer_however_it_is_written() {
        let known = peer("https://agent.example.com/a2a");
        for url in [
            "HTTPS://AGENT.example.com/a2a",
            "https://agent.example.com:443/a2a",
            "https://agent.example.com/a2a/",
            "https://agent.example.com/a2a//",
            "https://agent.example.com/%612a",
            "https://agent.example.com/a2a#fragment",
        ] {
            assert_eq!(peer(url), known, "{url}");
        }
        for url in [
            "http://agent.example.com/a2a",
            "https://agent.example.com:8443/a2a",
            "https://agent.example.com",
            "https://agent.example.com/a2a/b",
            "https://agent.example.com/a2a?agent=b",
            "https://agent.example.com/A2A",
        ] {
            assert_ne!(peer(url), known, "{url}");
        }
        assert_eq!(peer("https://a.example/").as_str(), "https://a.example");
    }

    #[test]
    fn the_text_of_a_peer_is_that_peer() {
        for url in ["https://a.example", "http://[::1]:8080/x", "https://a.example/x/y?z=1&w=%2F", "http://10.0.0.1/a"]
        {
            let first = peer(url);
            assert_eq!(peer(first.as_str()), first, "{url}");
            assert_eq!(PeerId::of(&first.as_str().parse().unwrap()).unwrap(), first, "{url}");
        }
    }

    #[test]
    fn what_is_nobody() {
        for (url, fault) in [
            ("agent.example.com", PeerIdFault::Url(UrlFault::Relative)),
            ("ftp://agent.example.com", PeerIdFault::Url(UrlFault::NotHttp)),
            ("https://user:secret@agent.example.com", PeerIdFault::Url(UrlFault::UserInfo)),
            ("https://agent.example.com/a b", PeerIdFault::Url(UrlFault::BadCharacter)),
        ] {
            assert_eq!(PeerId::parse(url), Err(fault), "{url}");
        }
        let long = format!("https://agent.example.com/{}", "a".repeat(PeerId::MAX));
        assert_eq!(PeerId::parse(&long), Err(PeerIdFault::TooLong));
    }

    #[test]
    fn it_displays_on_one_line_and_cut() {
        let long = peer(&format!("https://agent.example.com/{}", "a".repeat(900)));
        assert!(long.to_string().len() < 300);
    }
}
