//! Finds peers for a need, and delegates to the best of those that may be asked. Discovery is not authorisation: what a
//! card says makes its agent a candidate, and nothing more.

mod peer_id;

pub use self::peer_id::{PeerId, PeerIdFault};
