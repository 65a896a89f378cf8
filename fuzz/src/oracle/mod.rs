//! What the library is held against: other libraries' readers, and the rules over them, written down once more over
//! trees and whole bytes.

pub mod answer;
pub mod course;
pub mod events;
pub mod messages;
pub mod proto;
pub mod rpc;
pub mod tree;
