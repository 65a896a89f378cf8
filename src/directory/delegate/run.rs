//! One delegated call, from its need to an answer.

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, Request, Response, request::Parts};
use http_body::Body;
use tokio::time::{Instant, timeout_at};
use tower_service::Service;

use super::{
    Alternatives, CredentialsAsk, DelegateBody, DelegateError, Delegated, Fallback, NoEligiblePeer,
    attempt::{Letter, Original, add_credentials},
    body::Watch,
    layer::Config,
    test_call::Test,
};
use crate::{
    call::{self, Binding, Call, CallBody, Operation},
    card::Origin,
    directory::{
        self, Attempt, AttemptEnd, Candidate, Decision, Directory, DirectoryObserver, Exclusion, Need, PeerId, Report,
        ReportKind, Written,
    },
    error::{BoxError, CallError, Failure, Retry, lost},
    limits::{CENTURY, LimitOverrides},
    outcome::{Class, OutcomeKind},
    wire::A2aError,
};

/// What a delegated call goes through.
pub(super) struct Run<S> {
    /// Polled ready by the caller. Given back before anything is waited for.
    ready: Option<S>,
    spare: S,
    directory: Directory,
    config: Arc<Config>,
}

/// How one candidate's turn ended.
enum Turn<P> {
    /// With a flag that is up once its stream has ended well.
    Answered {
        response: Response<P>,
        call: Call,
        written: Written,
        ended_well: Arc<AtomicBool>,
    },
    Failed(CallError),
    NotAsked(Exclusion),
    /// It was asked, by a test.
    Tested(Exclusion),
    /// The client below was not ready for it, which says nothing of it.
    NotReady(CallError),
}

impl<S> Run<S> {
    pub(super) fn new(ready: S, spare: S, directory: Directory, config: Arc<Config>) -> Self {
        Self { ready: Some(ready), spare, directory, config }
    }

    pub(super) async fn answer<B, P, F>(
        mut self,
        request: Request<CallBody<B>>,
        fallback: F,
    ) -> Result<Response<DelegateBody<P>>, DelegateError>
    where
        S: Service<Request<CallBody<B>>, Response = Response<P>> + Clone + Send + 'static,
        S::Future: Send,
        S::Error: Into<BoxError>,
        F: Fallback<B, P>,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Send,
        P: Body<Data = Bytes> + Send + 'static,
        P::Error: Into<BoxError>,
    {
        let (parts, body) = request.into_parts();
        let named = parts.extensions.get::<Call>().cloned();
        let call =
            named.unwrap_or_else(|| call::from_head(&parts.method, &parts.uri, &parts.headers, &parts.extensions));
        let need = need_of(&parts, &call).map_err(|why| DelegateError::not_delegable(why, &call))?;
        let mut original = Original { parts, body: Some(body), call, need };
        let now = Instant::now();
        let deadline = deadline(&original, &self.config, now);
        let decision = self.directory.find_at(&original.need, now, self.directory.next_call());
        let candidates: Vec<Candidate> = decision.eligible().cloned().collect();
        let directory = self.directory.clone();
        let mut record = Record::new(decision, directory.observer());
        let (mut last, mut asked) = (None, 0);
        for candidate in &candidates {
            let began = Instant::now();
            if asked >= self.config.attempts || began >= deadline {
                break;
            }
            record.begin(candidate);
            let turn = self.turn(candidate, &mut original, deadline, &mut record.sent).await;
            let (elapsed, skill) = (began.elapsed(), Some(&*candidate.skill));
            let mut note = |ended| record.note(candidate, ended, elapsed);
            match turn {
                Turn::Answered { response, call, written, ended_well } => {
                    note(AttemptEnd::Success);
                    self.directory.note_seen(candidate, Instant::now());
                    // How a stream ends, its body says. Anything else has ended.
                    let watch = if call.is_streaming() {
                        Some(Watch {
                            evidence: self.directory.evidence().clone(),
                            peer: candidate.peer.clone(),
                            skill: (*candidate.skill).into(),
                            began,
                            ended_well,
                            is_noted: false,
                        })
                    } else {
                        self.directory.evidence().record(&candidate.peer, skill, Report::success(elapsed));
                        None
                    };
                    let uri = call.target().cloned().unwrap_or_default();
                    let decision = record.end(Some(candidate));
                    let (peer, tenant) = (candidate.peer.clone(), call.tenant().map(Into::into));
                    let mut response = response.map(|body| DelegateBody::new(body, call, watch));
                    let delegated = Delegated { peer, uri, written, tenant, decision };
                    response.extensions_mut().insert(delegated);
                    return Ok(response);
                }
                Turn::Failed(error) => {
                    asked += 1;
                    self.directory.evidence().record(&candidate.peer, skill, Report::of_error(&error, elapsed));
                    self.doubt(candidate, &error);
                    let may_go_on = may_go_on(&error);
                    note(AttemptEnd::Failed { outcome: error.outcome(), class: error.class(), may_go_on });
                    last = Some(error);
                    if !may_go_on || original.body.is_none() {
                        break;
                    }
                }
                Turn::NotReady(error) => {
                    asked += 1;
                    note(AttemptEnd::Failed { outcome: error.outcome(), class: error.class(), may_go_on: true });
                    last = Some(error);
                }
                Turn::NotAsked(why) => note(AttemptEnd::NotAsked(why)),
                Turn::Tested(why) => {
                    asked += 1;
                    note(AttemptEnd::NotAsked(why));
                }
            }
        }
        // Nobody is waited for any longer, and the fallback may stand above the same limit.
        self.ready = None;
        if let Some(error) = last {
            return Err(DelegateError::Call { error, decision: Some(record.end(None)) });
        }
        if Instant::now() >= deadline {
            let error = late(&original.call, deadline, true);
            return Err(DelegateError::Call { error, decision: Some(record.end(None)) });
        }
        if fallback.is_there()
            && let Some(body) = original.body.take()
        {
            record.decision.fell_back = true;
            let decision = Some(record.end(None));
            let Original { parts, call, .. } = original;
            return match timeout_at(deadline, fallback.answer(Request::from_parts(parts, body))).await {
                Ok(Some(Ok(response))) => Ok(response.map(|body| DelegateBody::new(body, call, None))),
                Ok(Some(Err(error))) => Err(DelegateError::Call { error: lost(error, &call, false), decision }),
                Ok(None) => Err(DelegateError::not_delegable("the fallback gives no answer", &call)),
                Err(_) => Err(DelegateError::Call { error: late(&call, deadline, false), decision }),
            };
        }
        let decision = record.end(None);
        Err(DelegateError::NoEligiblePeer(NoEligiblePeer::new(decision, &original.call)))
    }

    /// One candidate's turn.
    async fn turn<B, P>(
        &mut self,
        candidate: &Candidate,
        original: &mut Original<B>,
        deadline: Instant,
        sent: &mut bool,
    ) -> Turn<P>
    where
        S: Service<Request<CallBody<B>>, Response = Response<P>> + Clone + Send + 'static,
        S::Future: Send,
        S::Error: Into<BoxError>,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Send,
        P: Body<Data = Bytes> + Send + 'static,
        P::Error: Into<BoxError>,
    {
        let mut letter = match original.letter_to(candidate, &self.config) {
            Ok(letter) => letter,
            Err(why) => return Turn::NotAsked(Exclusion::Unwritable(why)),
        };
        let mut names = Vec::new();
        if self.config.credentials.is_some() {
            self.ready = None;
            let asked = credentials(&self.config, candidate, &original.need, &letter, deadline);
            match asked.await {
                Ok(headers) => names = add_credentials(&mut letter.parts.headers, &headers),
                Err(why) => return Turn::NotAsked(Exclusion::NoCredentials(why)),
            }
        }
        let mut is_tested = false;
        let mut service = loop {
            // Before the last look, and not behind it: it may take long.
            let service = match self.ready_service(&letter.call, deadline).await {
                Ok(service) => service,
                Err(error) => return Turn::NotReady(error),
            };
            match self.directory.last_look(candidate, &original.need, Instant::now()) {
                Ok(false) => break service,
                Ok(true) if is_tested => return Turn::NotAsked(Exclusion::Changed),
                // The test may need the place that this one holds.
                Ok(true) => drop(service),
                Err(why) => {
                    self.ready = Some(service);
                    return Turn::NotAsked(why);
                }
            }
            // Whatever else says for whom it is.
            names.extend(self.config.kept.iter().chain(&self.config.caller_header).cloned());
            if let Err(turn) = self.test(candidate, &letter, &names, deadline).await {
                return turn;
            }
            is_tested = true;
        };
        let (written, ended_well) = (letter.written, Arc::<AtomicBool>::default());
        letter.call = letter.call.with_ended_well(Arc::clone(&ended_well));
        let (request, call) = match original.complete(letter) {
            Ok(complete) => complete,
            Err(why) => {
                self.ready = Some(service);
                return Turn::NotAsked(Exclusion::Unwritable(why));
            }
        };
        *sent = true;
        let answer = service.call(request);
        drop(service);
        match timeout_at(deadline, answer).await {
            Ok(Ok(response)) => Turn::Answered { response, call, written, ended_well },
            Ok(Err(error)) => Turn::Failed(lost(error.into(), &call, false)),
            Err(_) => Turn::Failed(late(&call, deadline, false)),
        }
    }

    /// The one that the caller polled ready, or another one once it is.
    async fn ready_service<B, P>(&mut self, call: &Call, deadline: Instant) -> Result<S, CallError>
    where
        S: Service<Request<CallBody<B>>, Response = Response<P>> + Clone,
        S::Error: Into<BoxError>,
        B: Body<Data = Bytes>,
    {
        if let Some(ready) = self.ready.take() {
            return Ok(ready);
        }
        let mut service = self.spare.clone();
        let ready = std::future::poll_fn(|cx| service.poll_ready(cx).map_err(|error| lost(error.into(), call, true)));
        match timeout_at(deadline, ready).await {
            Ok(ready) => ready.map(|()| service),
            Err(_) => Err(late(call, deadline, true)),
        }
    }

    /// Tests a candidate, once for all calls that come together: the others wait for what comes of it, also if the one that
    /// wanted it first does no longer. What went wrong for the caller's own reasons is that caller's alone.
    async fn test<B, P>(
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

    /// What the failure says of the peer's card is a reason to read it again.
    fn doubt(&self, candidate: &Candidate, error: &CallError) {
        if let Some(why) = directory::drift_of(error) {
            self.directory.doubt(&candidate.peer, why);
        }
    }
}

/// Those for this peer, from whoever gives them.
async fn credentials(
    config: &Config,
    candidate: &Candidate,
    need: &Need,
    letter: &Letter,
    deadline: Instant,
) -> Result<HeaderMap, Box<str>> {
    let Some(credentials) = &config.credentials else { return Ok(HeaderMap::new()) };
    let origin = Origin::of(&letter.parts.uri).map_err(|why| format!("its URL {why}"))?;
    let ask = CredentialsAsk {
        peer: candidate.peer.clone(),
        origin,
        uri: letter.parts.uri.clone(),
        caller: need.caller_name().cloned(),
        skill: Arc::clone(&candidate.skill),
    };
    match timeout_at(deadline, credentials.for_peer(ask)).await {
        Ok(Ok(headers)) => Ok(headers),
        Ok(Err(why)) => Err(why.to_string().into()),
        Err(_) => Err("none in time".into()),
    }
}

/// What is needed, completed by what the request is.
fn need_of(parts: &Parts, call: &Call) -> Result<Need, &'static str> {
    let need = match (parts.extensions.get::<Need>(), call.skill()) {
        (Some(need), _) => need.clone(),
        (None, Some(skill)) => Need::skill(skill),
        (None, None) => return Err("it names no need: put a Need into its extensions, or the skill into its Call"),
    };
    let Some(binding) = call.binding() else {
        return Err("nobody can tell what it is written in: put CallLayer above, or a Call into its extensions");
    };
    if !call.operation().is_some_and(Operation::is_send) || !call.begins_task() {
        return Err("it is about a task, and belongs to whoever has that: call the URI in Delegated");
    }
    let version = call.version().unwrap_or(crate::call::ProtocolVersion::V1_0);
    // What the user's need says of it, only the request can know.
    let mut need = need.rewritten().written(binding, version);
    if let Some(alternatives) = parts.extensions.get::<Alternatives>() {
        for one in &alternatives.list {
            need = need.written(one.written.binding, one.written.version);
        }
    }
    if let Some(tenant) = call.tenant() {
        need = need.tenant(tenant);
    }
    Ok(need)
}

/// When the call is over, whoever is asked.
fn deadline<B: Body>(original: &Original<B>, config: &Config, now: Instant) -> Instant {
    let (call, extensions) = (&original.call, &original.parts.extensions);
    let stream = call.is_streaming();
    let total = match extensions.get::<LimitOverrides>() {
        Some(by) => config.limits.overridden(by).total_of(stream),
        None => config.limits.total_of(stream),
    };
    let asked = match call.binding() {
        Some(Binding::Grpc) => call::grpc_timeout(&original.parts.headers),
        _ => None,
    };
    let total = asked.map_or(total, |asked| asked.min(total)).min(CENTURY);
    now + total.saturating_sub(call.elapsed())
}

fn late(call: &Call, deadline: Instant, never_sent: bool) -> CallError {
    let what = "the call was not over in time, with whom it was delegated to";
    let mut failure = Failure::new(OutcomeKind::Timeout, Class::Total, what, call.clone(), call.elapsed());
    failure.never_sent = never_sent;
    failure.bound = call.began().map(|began| deadline.saturating_duration_since(began));
    CallError::new(failure)
}

/// Whether another peer may be asked: nothing can have been done, and the refusal is not the request's own fault.
fn may_go_on(error: &CallError) -> bool {
    if error.events() > 0 || error.retry() == Retry::Unsafe {
        return false;
    }
    // Whoever asks for a pause may have begun: another one knows nothing of that. But not who says that it is too busy.
    if error.work_may_have_started() && error.class() != Class::Unavailable {
        return false;
    }
    let about_the_request =
        matches!(error.a2a_error(), Some(A2aError::Parse | A2aError::InvalidRequest | A2aError::InvalidParams));
    error.is_routing_signal() || error.outcome() != OutcomeKind::Refused || !about_the_request
}

/// The record of a decision on its way: the observer has it once, also of a call that its caller let go of.
struct Record<'d> {
    decision: Decision,
    observer: &'d dyn DirectoryObserver,
    told: bool,
    /// Whose turn it is, and since when.
    under_way: Option<(PeerId, Instant)>,
    /// The request has gone out to it.
    sent: bool,
}

impl<'d> Record<'d> {
    fn new(decision: Decision, observer: &'d dyn DirectoryObserver) -> Self {
        Self { decision, observer, told: false, under_way: None, sent: false }
    }

    fn begin(&mut self, candidate: &Candidate) {
        self.under_way = Some((candidate.peer.clone(), Instant::now()));
        self.sent = false;
    }

    fn note(&mut self, candidate: &Candidate, ended: AttemptEnd, elapsed: Duration) {
        self.under_way = None;
        self.decision.attempts.push(Attempt { peer: candidate.peer.clone(), ended, elapsed });
    }

    fn end(&mut self, chosen: Option<&Candidate>) -> Arc<Decision> {
        self.decision.chosen = chosen.map(|candidate| candidate.peer.clone());
        self.tell();
        Arc::new(self.decision.clone())
    }

    fn tell(&mut self) {
        if !self.told {
            self.told = true;
            self.observer.decided(&self.decision);
        }
    }
}

impl Drop for Record<'_> {
    fn drop(&mut self) {
        if let Some((peer, began)) = self.under_way.take() {
            let ended = AttemptEnd::Abandoned { sent: self.sent };
            self.decision.attempts.push(Attempt { peer, ended, elapsed: began.elapsed() });
        }
        self.tell();
    }
}
