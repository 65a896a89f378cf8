//! Whose a URL is.

use std::fmt;

use http::Uri;

use super::{CardUrl, Scheme, UrlFault, host::Host};

/// Scheme, host and port (RFC 6454), of an agent or of a place that a card may point to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin(CardUrl);

impl Origin {
    /// The origin of a URL; path and query are dropped.
    ///
    /// # Errors
    ///
    /// What makes the text no absolute `http` or `https` URL.
    pub fn parse(url: &str) -> Result<Self, UrlFault> {
        CardUrl::parse(url).map(Self::of_url)
    }

    /// The origin of a request's URI.
    ///
    /// # Errors
    ///
    /// As [`parse`](Self::parse).
    pub fn of(uri: &Uri) -> Result<Self, UrlFault> {
        CardUrl::of(uri).map(Self::of_url)
    }

    pub(in crate::card) fn of_url(url: CardUrl) -> Self {
        Self(CardUrl { path: "/".into(), query: None, user_info: false, ..url })
    }

    /// `http` or `https`.
    #[must_use]
    pub fn scheme(&self) -> Scheme {
        self.0.scheme.unwrap_or(Scheme::Https)
    }

    /// `host`, or `host:port` where the port is not the default one.
    #[must_use]
    pub fn authority(&self) -> String {
        self.0.authority()
    }

    pub(in crate::card) fn url(&self) -> &CardUrl {
        &self.0
    }

    pub(super) fn host(&self) -> &Host {
        &self.0.host
    }

    pub(super) fn is_of(&self, url: &CardUrl) -> bool {
        url.scheme.is_none_or(|scheme| scheme == self.scheme()) && self.0.same_authority(url)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme(), self.authority())
    }
}
