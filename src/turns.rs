//! So many at once, and of one origin not all of them: agents that hang, with many credentials to hang by, must keep
//! nobody from asking others.

use std::{
    collections::HashMap,
    future::{Future, poll_fn},
    pin::pin,
    sync::{Arc, Mutex, PoisonError, Weak},
    task::Poll,
};

use http::{Uri, uri::Scheme};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// So many origins are remembered that nobody waits for any longer, before they are looked through.
const FORGOTTEN_AT: usize = 64;

pub(crate) struct Turns {
    /// A quarter of the places, of which nobody has more than one: whoever has none yet finds one there, however many
    /// others hang.
    firsts: Arc<Semaphore>,
    others: Arc<Semaphore>,
    of_each: usize,
    /// As long as somebody has a turn there, or waits for one.
    origins: Mutex<HashMap<Box<str>, Weak<Origin>>>,
}

/// What one origin may have of both.
struct Origin {
    first: Arc<Semaphore>,
    others: Arc<Semaphore>,
}

/// Held for as long as what it was taken for lasts.
pub(crate) struct Turn {
    _of_all: OwnedSemaphorePermit,
    _own: OwnedSemaphorePermit,
    /// Others of the origin find it as long as this is held.
    _origin: Arc<Origin>,
}

impl Turns {
    /// One origin has up to three quarters of them; of three or fewer, all.
    pub(crate) fn new(max: usize) -> Self {
        let max = max.min(Semaphore::MAX_PERMITS);
        let firsts = max / 4;
        let of_each = max - firsts - usize::from(firsts > 0);
        Self {
            firsts: Arc::new(Semaphore::new(firsts)),
            others: Arc::new(Semaphore::new(max - firsts)),
            of_each,
            origins: Mutex::default(),
        }
    }

    /// Waits for one. `None` is never given: nobody closes them.
    pub(crate) async fn take(&self, target: &Uri) -> Option<Turn> {
        let origin = self.of(target);
        let mut first = pin!(wait(&origin, &origin.first, &self.firsts));
        let mut other = pin!(wait(&origin, &origin.others, &self.others));
        poll_fn(|cx| match first.as_mut().poll(cx) {
            Poll::Pending => other.as_mut().poll(cx),
            taken => taken,
        })
        .await
    }

    /// One that is free now.
    pub(crate) fn try_take(&self, target: &Uri) -> Option<Turn> {
        let origin = self.of(target);
        let take = |own: &Arc<Semaphore>, all: &Arc<Semaphore>| {
            let own = Arc::clone(own).try_acquire_owned().ok()?;
            let of_all = Arc::clone(all).try_acquire_owned().ok()?;
            Some(Turn { _of_all: of_all, _own: own, _origin: Arc::clone(&origin) })
        };
        take(&origin.first, &self.firsts).or_else(|| take(&origin.others, &self.others))
    }

    fn of(&self, target: &Uri) -> Arc<Origin> {
        let name = name(target);
        let mut origins = self.origins.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = origins.get(&*name).and_then(Weak::upgrade) {
            return known;
        }
        if origins.len() >= FORGOTTEN_AT {
            origins.retain(|_, origin| origin.strong_count() > 0);
        }
        let semaphore = |permits| Arc::new(Semaphore::new(permits));
        let origin = Arc::new(Origin { first: semaphore(1), others: semaphore(self.of_each) });
        origins.insert(name.into(), Arc::downgrade(&origin));
        origin
    }

    #[cfg(all(test, not(shuttle)))]
    pub(crate) fn targets(&self) -> usize {
        self.origins.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    #[cfg(all(test, not(shuttle)))]
    pub(crate) fn are_all_free(&self) -> bool {
        Arc::strong_count(&self.firsts) == 1 && Arc::strong_count(&self.others) == 1
    }
}

/// Host and port: one server is one, by whatever scheme.
fn name(target: &Uri) -> String {
    let default = if target.scheme() == Some(&Scheme::HTTPS) { 443 } else { 80 };
    let port = target.port_u16().unwrap_or(default);
    format!("{}:{port}", target.host().unwrap_or_default().to_ascii_lowercase())
}

/// Waits for a place of one's own origin, and then for one of all: who waits for the first holds none of the others'.
async fn wait(origin: &Arc<Origin>, own: &Arc<Semaphore>, all: &Arc<Semaphore>) -> Option<Turn> {
    let own = Arc::clone(own).acquire_owned().await.ok()?;
    let of_all = Arc::clone(all).acquire_owned().await.ok()?;
    Some(Turn { _of_all: of_all, _own: own, _origin: Arc::clone(origin) })
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;

    /// All that one target may have at once.
    fn take_all(turns: &Turns, target: &Uri) -> Vec<Turn> {
        std::iter::from_fn(|| turns.try_take(target)).collect()
    }

    #[test]
    fn one_server_is_one_however_it_is_spelled() {
        for (one, same) in [
            ("https://a.example", "https://a.example:443"),
            ("http://a.example", "http://a.example:80"),
            ("https://a.example:80", "http://a.example"),
            ("https://a.example/one", "https://A.example/other"),
        ] {
            let turns = Turns::new(4);
            let held = take_all(&turns, &Uri::from_static(one));
            assert_eq!(held.len(), 3, "{one}");
            assert!(turns.try_take(&Uri::from_static(same)).is_none(), "{one} {same}");
            assert!(turns.try_take(&Uri::from_static("https://a.example:8443")).is_some(), "{one}");
        }
    }

    #[test]
    fn whoever_has_turns_is_remembered_however_many_others_come_and_go() {
        let turns = Turns::new(400);
        let agent = |number: usize| format!("https://a{number}.example").parse().unwrap();
        let mut held: Vec<_> = (1..FORGOTTEN_AT).filter_map(|number| turns.try_take(&agent(number))).collect();
        assert!(!turns.are_all_free());
        held.extend(take_all(&turns, &agent(0)));
        assert_eq!(turns.targets(), FORGOTTEN_AT);
        for number in FORGOTTEN_AT..4 * FORGOTTEN_AT {
            assert!(turns.try_take(&agent(number)).is_some(), "{number}");
            assert!(turns.try_take(&agent(0)).is_none(), "{number}");
            assert!(turns.targets() <= FORGOTTEN_AT + 1, "{number}: {}", turns.targets());
        }
        drop(held);
        assert!(turns.are_all_free());
    }
}
