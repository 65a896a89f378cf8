//! A URI as it may stand in a log: without what may be secret in it, which is user information and query.

use std::fmt;

use http::Uri;

use crate::wire::text::escape;

/// At most so many characters of a host, and of a path. No name has more than 253.
const PLACE_TEXT: usize = 256;

/// For a line. A card or a caller of a gateway may have written it: its path may hold any character that is no ASCII.
pub(super) fn place(uri: &Uri) -> impl fmt::Display + '_ {
    struct Place<'a>(&'a Uri);

    impl fmt::Display for Place<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            if let Some((scheme, host)) = origin(self.0) {
                write!(f, "{scheme}://{}", escape(host, PLACE_TEXT))?;
            }
            write!(f, "{}", escape(self.0.path(), PLACE_TEXT))
        }
    }

    Place(uri)
}

/// For what is escaped and cut where it is shown.
pub(crate) fn without_secrets(uri: &Uri) -> String {
    match origin(uri) {
        Some((scheme, host)) => format!("{scheme}://{host}{}", uri.path()),
        None => uri.path().to_owned(),
    }
}

fn origin(uri: &Uri) -> Option<(&str, &str)> {
    let host = uri.authority()?.as_str().rsplit('@').next().unwrap_or_default();
    Some((uri.scheme_str()?, host))
}
