//! A candidate is tested before the first call goes to it.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderName, Request, Response};
use http_body::Body;
use tokio::time::{Instant, timeout_at};
use tower_service::Service;

use super::{Run, Turn};
use crate::{
    call::CallBody,
    directory::{
        Candidate, Exclusion, ReportKind,
        delegate::{attempt::Letter, test_call::Test},
    },
    error::BoxError,
    limits::CENTURY,
};

impl<S> Run<S> {
    /// Tests a candidate, once for all calls that come together: the others wait for what comes of it, also if the one
    /// that wanted it first does no longer. What went wrong for the caller's own reasons is that caller's alone.
    pub(super) async fn test<B, P>(
        &mut self,
        candidate: &Candidate,
        letter: &Letter,
        names: &[HeaderName],
        deadline: Instant,
    ) -> Result<(), Turn<P>>
    where
        S: Service<Request<CallBody<B>>, Response = Response<P>> + Clone + Send + 'static,
        S::Future: Send,
        S::Error: Into<BoxError>,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Send,
        P: Body<Data = Bytes> + Send + 'static,
        P::Error: Into<BoxError>,
    {
        let peer = &candidate.at;
        let failed_before = peer.state.failed_tests();
        let Ok(mut last_failure) = timeout_at(deadline, peer.state.testing()).await else {
            return Err(Turn::NotAsked(Exclusion::TestFailed("no answer in time".into())));
        };
        if peer.is_tested() {
            return Ok(());
        }
        if peer.state.failed_tests() != failed_before {
            return Err(Turn::NotAsked(Exclusion::TestFailed(last_failure.clone())));
        }
        let failed = |why: Box<str>| Turn::Tested(Exclusion::TestFailed(why));
        let Some(test) = Test::of(letter, names) else {
            return Err(failed("a test cannot be written for this binding".into()));
        };
        let (service, patience) = (self.spare.clone(), self.config.test_timeout.min(CENTURY));
        let (peer, skill) = (Arc::clone(peer), Arc::clone(&candidate.skill));
        let evidence = self.directory.evidence().clone();
        let testing = tokio::spawn(async move {
            let Err(failed) = test.run(service, patience).await else {
                peer.set_tested();
                return Ok(());
            };
            evidence.record(&peer.id, Some(&skill), failed.report);
            if failed.report.kind() != ReportKind::Neutral {
                *last_failure = failed.why.clone();
                peer.state.note_failed_test();
            }
            Err(failed.why)
        });
        match timeout_at(deadline, testing).await {
            Ok(Ok(Ok(()))) => Ok(()),
            Ok(Ok(Err(why))) => Err(failed(why)),
            Ok(Err(_)) => Err(failed("what was testing it ended".into())),
            Err(_) => Err(failed("no answer in time".into())),
        }
    }
}
