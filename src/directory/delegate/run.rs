//! One delegated call, from its need to an answer.

mod bound;
mod need;
mod record;
mod testing;

use std::sync::{Arc, atomic::AtomicBool};

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body::Body;
use tokio::time::{Instant, timeout_at};
use tower_service::Service;

use self::{
    bound::{deadline, late},
    need::need_of,
    record::Record,
};
use super::{
    CredentialsAsk, DelegateBody, DelegateError, Delegated, Fallback, NoEligiblePeer,
    attempt::{Letter, Original, add_credentials},
    body::Watch,
    layer::Config,
};
use crate::{
    call::{self, Call, CallBody},
    card::Origin,
    directory::{self, AttemptEnd, Candidate, Directory, Exclusion, Need, Report, Written},
    error::{BoxError, CallError, Retry, lost},
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

    /// What the failure says of the peer's card is a reason to read it again.
    fn doubt(&self, candidate: &Candidate, error: &CallError) {
        if let Some(why) = directory::drift_of(error) {
            self.directory.doubt(&candidate.peer, why);
        }
    }
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
