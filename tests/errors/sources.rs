//! What lies behind an error is never hidden.

use std::{error::Error, io};

use a2a_guard::CallError;

use crate::{
    failed,
    mock::{Answer, Dialect, MockBody},
};

use Dialect::V1;

fn io_kind(error: &dyn Error) -> Option<io::ErrorKind> {
    error.source()?.downcast_ref::<io::Error>().map(io::Error::kind)
}

#[tokio::test(start_paused = true)]
async fn the_clients_error_is_the_source() {
    let error = failed(V1.send(), Answer::lost(io::ErrorKind::ConnectionReset)).await;
    assert_eq!(io_kind(&error), Some(io::ErrorKind::ConnectionReset));
    let CallError::Transport(kind) = &error else { panic!("{error}") };
    assert_eq!(io_kind(kind), Some(io::ErrorKind::ConnectionReset));
    assert_eq!(io_kind(&error.clone()), Some(io::ErrorKind::ConnectionReset));
}

#[tokio::test(start_paused = true)]
async fn the_bodys_error_is_the_source() {
    let bodies = [
        (V1.get(), Answer::new(200, "application/json", MockBody::new().data("{").reset())),
        (V1.stream(), Answer::sse(MockBody::new().reset())),
        (V1.stream(), Answer::sse(MockBody::of([V1.task_event("WORKING")]).reset())),
        (V1.request("GET", "/x", String::new()), Answer::new(200, "text/plain", MockBody::new().data("x").reset())),
    ];
    for (request, answer) in bodies {
        let error = failed(request, answer).await;
        assert_eq!(error.class().as_str(), "truncated", "{error}");
        assert_eq!(io_kind(&error), Some(io::ErrorKind::ConnectionReset));
    }
}

/// The source's own sources come behind it.
#[tokio::test(start_paused = true)]
async fn the_whole_chain_is_there() {
    #[derive(Debug)]
    struct Outer(io::Error);

    impl std::fmt::Display for Outer {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("outer")
        }
    }

    impl Error for Outer {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&self.0)
        }
    }

    let refused = Outer(io::ErrorKind::ConnectionRefused.into());
    let error = failed(V1.send(), Answer::fails(refused)).await;
    assert_eq!(error.class().as_str(), "connect", "found behind the outer error");
    let chain: Vec<_> =
        std::iter::successors(error.source(), |&error| error.source()).map(ToString::to_string).collect();
    assert_eq!(chain, ["outer", "connection refused"]);
}

/// A body error behind a status that decides alone: the status is the cause, the error what came of its body.
#[tokio::test(start_paused = true)]
async fn what_the_peer_said_itself_has_no_source() {
    let errors = [
        failed(V1.get(), Answer::json(V1.error(-32001))).await,
        failed(V1.get(), Answer::new(500, "text/html", MockBody::new())).await,
        failed(V1.get(), Answer::json("{")).await,
        failed(V1.get(), Answer::never()).await,
    ];
    for error in errors {
        assert!(error.source().is_none(), "{error}");
    }
}
