//! A guarded hyper client against the official Rust server, over both of its HTTP bindings.
//!
//! Every call is watched three ways: what the caller gets, what the observer is told (exactly once), and what came from
//! the socket below the layer, so that a success can be shown to have passed unchanged.

/// Runs each scenario over JSON-RPC and over HTTP+JSON.
macro_rules! over_both_bindings {
    ($($scenario:ident)*) => {$(
        mod $scenario {
            use a2a_guard::Binding;

            #[tokio::test]
            async fn json_rpc() {
                super::$scenario(Binding::JsonRpc).await;
            }

            #[tokio::test]
            async fn http_json() {
                super::$scenario(Binding::HttpJson).await;
            }
        }
    )*};
}

mod ask;
mod caller;
mod cards;
mod faults;
mod probe;
mod recovery;
mod refusals;
mod streams;
mod tap;
mod unary;
