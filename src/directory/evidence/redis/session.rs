//! Serves one handle, through as many connections as it takes.

use std::{convert::Infallible, future::Future, pin::Pin, sync::Arc};

use ::redis::{RedisError, RedisResult};
use tokio::{
    sync::mpsc,
    time::{Instant, sleep, sleep_until},
};

use super::{
    super::{EvidenceChange, EvidenceLink},
    server::Server,
};
use crate::probe_cache::{
    RedisStore,
    wiring::{BackOff, count, is_usable_after},
};

/// So many changes are told in one step.
const BATCH: usize = 64;

/// So many words that something is to be forgotten are kept for when the server is back.
const MOST_UNTOLD: usize = 1024;

/// Why a connection is not served any longer.
enum Ended {
    /// The last handle is gone.
    Handle,
    /// It was lost.
    Connection(RedisError),
    /// It closed, or more came by it than could be taken in. That is noted already.
    Closed,
}

impl From<RedisError> for Ended {
    fn from(error: RedisError) -> Self {
        Self::Connection(error)
    }
}

/// What the server was asked and has not answered.
type Asked = Pin<Box<dyn Future<Output = RedisResult<()>> + Send>>;

pub(super) async fn serve(store: Arc<RedisStore>, link: EvidenceLink) {
    let _serving = store.status.serving();
    let mut back_off = BackOff::new(store.config.max_back_off);
    let mut session = Session { store: &store, link, in_flight: Vec::new() };
    loop {
        let begun = Instant::now();
        let Err(ended) = session.connection().await;
        match ended {
            Ended::Handle => return,
            Ended::Connection(error) => store.status.failed(&error),
            Ended::Closed => {}
        }
        // Else a server that takes connections only to close them would be asked without a pause.
        if begun.elapsed() > store.config.max_back_off.max(store.config.timeout) {
            back_off.reset();
        }
        if session.meanwhile(sleep(back_off.next())).await.is_err() {
            return;
        }
    }
}

struct Session<'a> {
    store: &'a Arc<RedisStore>,
    link: EvidenceLink,
    /// What the server was told and has not confirmed.
    in_flight: Vec<EvidenceChange>,
}

impl Session<'_> {
    async fn connection(&mut self) -> Result<Infallible, Ended> {
        let connect = Server::connect(Arc::clone(self.store), self.link.replica(), self.link.keep());
        let (server, mut heard) = self.meanwhile(connect).await??;
        self.catch_up(&server).await?;
        let _connected = self.store.status.connected();
        self.carry(&server, &mut heard).await
    }

    /// The server may have lost what it held, and what was told last may not have come to it: all that was counted here
    /// is told. Telling it again does no harm. Then what stands is read.
    async fn catch_up(&mut self, server: &Server) -> Result<(), Ended> {
        // Only that something is to be forgotten would not be told with all the rest; and before that is read again.
        let mut waiting = std::mem::take(&mut self.in_flight);
        while let Some(change) = self.link.ready() {
            waiting.push(change);
        }
        waiting.retain(EvidenceChange::forgets);
        waiting.truncate(MOST_UNTOLD);
        waiting.extend(self.link.known());
        while !waiting.is_empty() {
            let rest = waiting.split_off(BATCH.min(waiting.len()));
            self.in_flight = waiting;
            let told = server.tell(&self.in_flight);
            let ended = match self.meanwhile(told).await {
                Ok(answer) => self.answered(answer),
                Err(ended) => Err(ended),
            };
            if ended.is_err() {
                self.in_flight.extend(rest);
                return ended;
            }
            waiting = rest;
        }
        match self.meanwhile(server.learn()).await? {
            Ok(known) => known.into_iter().for_each(|change| self.take_in(change)),
            Err(error) => self.refused(error)?,
        }
        Ok(())
    }

    /// Carries changes both ways. While the server is asked, peers wait for their turn, each once.
    async fn carry(
        &mut self,
        server: &Server,
        heard: &mut mpsc::Receiver<EvidenceChange>,
    ) -> Result<Infallible, Ended> {
        let mut asked: Option<Asked> = None;
        let mut last_sign = Instant::now();
        loop {
            let ping_at = last_sign + self.store.config.ping_every;
            tokio::select! {
                answer = answer(&mut asked) => {
                    asked = None;
                    self.answered(answer)?;
                    last_sign = Instant::now();
                }
                change = self.link.next(), if asked.is_none() => {
                    self.in_flight.push(change.ok_or(Ended::Handle)?);
                    while self.in_flight.len() < BATCH && let Some(change) = self.link.ready() {
                        self.in_flight.push(change);
                    }
                    asked = Some(Box::pin(server.tell(&self.in_flight)));
                }
                change = heard.recv() => {
                    self.take_in(change.ok_or(Ended::Closed)?);
                    last_sign = Instant::now();
                }
                () = sleep_until(ping_at), if asked.is_none() => asked = Some(Box::pin(server.ping())),
            }
        }
    }

    /// The server answered to what is in flight, or to nothing but whether it is there.
    fn answered(&mut self, answer: RedisResult<()>) -> Result<(), Ended> {
        let told = std::mem::take(&mut self.in_flight);
        match answer {
            Ok(()) => count(&self.store.status.told, told.len()),
            Err(error) => {
                if let Err(ended) = self.refused(error) {
                    self.in_flight = told;
                    return Err(ended);
                }
                count(&self.store.status.untold, told.len());
            }
        }
        Ok(())
    }

    fn refused(&self, error: RedisError) -> Result<(), Ended> {
        if !is_usable_after(&error) {
            return Err(error.into());
        }
        self.store.status.failed(&error);
        Ok(())
    }

    fn take_in(&self, change: EvidenceChange) {
        // Whether the handle is gone is seen by what it waits with.
        self.link.apply(change);
    }

    /// Waits for something, unless the handle goes.
    async fn meanwhile<F: Future>(&self, awaited: F) -> Result<F::Output, Ended> {
        tokio::select! {
            output = awaited => Ok(output),
            () = self.link.closed() => Err(Ended::Handle),
        }
    }
}

async fn answer(asked: &mut Option<Asked>) -> RedisResult<()> {
    match asked {
        Some(asked) => asked.await,
        None => std::future::pending().await,
    }
}
