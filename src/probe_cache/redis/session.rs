//! Serves one handle, through as many connections as it takes.

use std::{convert::Infallible, future::Future, pin::Pin, sync::Arc};

use ::redis::{RedisError, RedisResult};
use tokio::{
    sync::mpsc,
    time::{Instant, sleep, sleep_until, timeout},
};

use super::{
    back_off::{BackOff, random},
    message,
    outgoing::Outgoing,
    server::{Server, is_usable_after},
    status::count,
    store::RedisStore,
};
use crate::probe_cache::{Change, Link};

/// So many changes are told in one step.
const BATCH: usize = 64;

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

pub(super) async fn serve(store: Arc<RedisStore>, link: Link) {
    let _serving = store.status.serving();
    let mut back_off = BackOff::new(store.config.max_back_off);
    // Whoever hears this name heard itself.
    let me = format!("{:016x}{:016x}", random(), random());
    let mut session = Session { store: &store, me: me.into(), link, outgoing: Outgoing::default() };
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
    me: Arc<str>,
    link: Link,
    outgoing: Outgoing,
}

impl Session<'_> {
    async fn connection(&mut self) -> Result<Infallible, Ended> {
        let connect = Server::connect(Arc::clone(self.store), Arc::clone(&self.me));
        let (server, mut heard) = self.meanwhile(connect).await??;
        self.catch_up(&server).await?;
        let _connected = self.store.status.connected();
        self.carry(&server, &mut heard).await
    }

    /// Others may have said that something is gone while nobody listened here. All that went well before is forgotten,
    /// what is gone is told, so that it is not learnt anew, and then what stands is read. What stands includes what was
    /// told from here, unless somebody dropped it; it has the rest of its own time, and no more.
    async fn catch_up(&mut self, server: &Server) -> Result<(), Ended> {
        self.outgoing.reconnected(Instant::now());
        for change in self.link.known() {
            if let Change::Available { key, .. } = change {
                self.link.apply(Change::Dropped { key });
            }
        }
        while !self.outgoing.is_empty() {
            let told = server.tell(self.outgoing.take(BATCH, Instant::now()));
            let told = self.meanwhile(told).await?;
            self.told(told)?;
        }
        match self.meanwhile(server.learn()).await? {
            Ok(known) => known.into_iter().for_each(|change| self.take_in(change)),
            Err(error) => self.refused(error)?,
        }
        Ok(())
    }

    /// Carries changes both ways.
    async fn carry(&mut self, server: &Server, heard: &mut mpsc::Receiver<Change>) -> Result<Infallible, Ended> {
        let mut asked: Option<Asked> = None;
        let mut is_told = false;
        let mut last_sign = Instant::now();
        loop {
            if asked.is_none() && !self.outgoing.is_empty() {
                asked = Some(Box::pin(server.tell(self.outgoing.take(BATCH, Instant::now()))));
                is_told = true;
            }
            let ping_at = last_sign + self.store.config.ping_every;
            tokio::select! {
                // What was learnt here first: others may believe otherwise, and what they tell is held against it.
                biased;
                change = self.link.next() => match change {
                    Some(change) => self.add(change),
                    None => {
                        let rest = self.tell_the_rest(server, asked.filter(|_| is_told));
                        drop(timeout(server.patience(), rest).await);
                        return Err(Ended::Handle);
                    }
                },
                answer = answer(&mut asked) => {
                    asked = None;
                    if std::mem::take(&mut is_told) {
                        self.told(answer)?;
                    } else if let Err(error) = answer {
                        self.refused(error)?;
                    }
                    last_sign = Instant::now();
                }
                change = heard.recv() => {
                    self.take_in(change.ok_or(Ended::Closed)?);
                    last_sign = Instant::now();
                }
                () = sleep_until(ping_at), if asked.is_none() => asked = Some(Box::pin(server.ping())),
            }
        }
    }

    /// What waits when the last handle is gone is told as well.
    async fn tell_the_rest(&mut self, server: &Server, mut asked: Option<Asked>) -> Result<(), Ended> {
        if asked.is_some() {
            let told = answer(&mut asked).await;
            self.told(told)?;
        }
        while !self.outgoing.is_empty() {
            let told = server.tell(self.outgoing.take(BATCH, Instant::now())).await;
            self.told(told)?;
        }
        Ok(())
    }

    fn told(&mut self, answer: RedisResult<()>) -> Result<(), Ended> {
        match answer {
            Ok(()) => count(&self.store.status.told, self.outgoing.landed()),
            Err(error) => {
                self.refused(error)?;
                count(&self.store.status.untold, self.outgoing.landed());
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

    fn take_in(&mut self, change: Change) {
        if !self.outgoing.outdates(&change) {
            self.outgoing.withdraw(&change, Instant::now());
            // Whether the handle is gone is seen by its queue.
            self.link.apply(change);
        }
    }

    fn add(&mut self, change: Change) {
        let fits = message::write(&change, &self.me).is_some();
        if !fits || !self.outgoing.add(change, Instant::now()) {
            count(&self.store.status.untold, 1);
        }
    }

    /// Waits for something, and takes in what this process learns in the meantime: calls never find the queue full for
    /// a server that is slow or away.
    async fn meanwhile<F: Future>(&mut self, awaited: F) -> Result<F::Output, Ended> {
        let mut awaited = std::pin::pin!(awaited);
        loop {
            tokio::select! {
                biased;
                change = self.link.next() => match change {
                    Some(change) => self.add(change),
                    None => return Err(Ended::Handle),
                },
                output = &mut awaited => return Ok(output),
            }
        }
    }
}

async fn answer(asked: &mut Option<Asked>) -> RedisResult<()> {
    match asked {
        Some(asked) => asked.await,
        None => std::future::pending().await,
    }
}
