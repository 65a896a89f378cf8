//! A future or a body of the service below, whose panics end here where that is wanted.

use std::{
    any::Any,
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

/// At most so many characters of what a panic said.
const SAID: usize = 256;

/// The service below panicked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("panicked: {said}")]
pub(super) struct Panicked {
    said: Box<str>,
}

impl Panicked {
    fn of(payload: Box<dyn Any + Send>) -> Self {
        let said = payload.downcast_ref::<&str>().copied();
        let said = said.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let said = said.unwrap_or("with no message");
        let panicked = Self { said: said.chars().take(SAID).collect() };
        discard(payload);
        panicked
    }
}

/// Drops what a panic left, which may panic too. Where it does so twice it is not dropped at all.
fn discard(payload: Box<dyn Any + Send>) {
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(again);
    }
}

/// What `work` comes to, or that it panicked.
///
/// What it leaves half done is dropped, or is the service below, whose matter it is.
pub(super) fn contain<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(work)).map_err(Panicked::of)
}

pin_project! {
    /// Polls what is in it. Where panics are caught, one that panics is dropped at once and never polled again; it is
    /// Pending then, and [`panicked`](Self::panicked) says so. Its drop is caught as well, whenever it comes.
    pub(super) struct Contained<T> {
        #[pin]
        slot: Slot<T>,
    }

    impl<T> PinnedDrop for Contained<T> {
        fn drop(this: Pin<&mut Self>) {
            let slot = this.project().slot;
            if let Slot::Caught { .. } = *slot {
                empty(slot, None);
            }
        }
    }
}

pin_project! {
    #[project = SlotProj]
    enum Slot<T> {
        Free { #[pin] inner: T },
        Caught { #[pin] inner: T },
        Panicked { panicked: Option<Panicked> },
    }
}

impl<T> Contained<T> {
    #[inline]
    pub(super) fn new(inner: T, catches: bool) -> Self {
        Self { slot: if catches { Slot::Caught { inner } } else { Slot::Free { inner } } }
    }

    /// After a Pending: the panic behind it, once.
    #[inline]
    pub(super) fn panicked(self: Pin<&mut Self>) -> Option<Panicked> {
        match self.project().slot.project() {
            SlotProj::Panicked { panicked } => panicked.take(),
            _ => None,
        }
    }
}

/// Drops what is there.
fn empty<T>(mut slot: Pin<&mut Slot<T>>, panicked: Option<Panicked>) {
    // Where the drop panics, the slot has its new value all the same.
    let _ = contain(|| slot.set(Slot::Panicked { panicked }));
}

#[cold]
fn caught<T, R>(mut slot: Pin<&mut Slot<T>>, poll: impl FnOnce(Pin<&mut T>) -> Poll<R>) -> Poll<R> {
    let polled = match slot.as_mut().project() {
        SlotProj::Caught { inner } => contain(|| poll(inner)),
        // Polled after its panic: nothing comes any more, as of a fused future.
        _ => return Poll::Pending,
    };
    polled.unwrap_or_else(|panicked| {
        empty(slot, Some(panicked));
        Poll::Pending
    })
}

impl<F> Future for Contained<F>
where
    F: Future,
{
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let mut slot = self.project().slot;
        match slot.as_mut().project() {
            SlotProj::Free { inner } => inner.poll(cx),
            _ => caught(slot, |inner| inner.poll(cx)),
        }
    }
}

impl<B> Body for Contained<B>
where
    B: Body<Data = Bytes>,
{
    type Data = Bytes;
    type Error = B::Error;

    #[inline]
    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let mut slot = self.project().slot;
        match slot.as_mut().project() {
            SlotProj::Free { inner } => inner.poll_frame(cx),
            _ => caught(slot, |inner| inner.poll_frame(cx)),
        }
    }

    /// A body that panics over this is asked for its frames.
    #[inline]
    fn is_end_stream(&self) -> bool {
        match &self.slot {
            Slot::Free { inner } => inner.is_end_stream(),
            Slot::Caught { inner } => contain(|| inner.is_end_stream()).unwrap_or(false),
            Slot::Panicked { .. } => false,
        }
    }

    /// A body that panics over this has a size that nobody knows.
    #[inline]
    fn size_hint(&self) -> SizeHint {
        match &self.slot {
            Slot::Free { inner } => inner.size_hint(),
            Slot::Caught { inner } => contain(|| inner.size_hint()).unwrap_or_default(),
            Slot::Panicked { .. } => SizeHint::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{pin::pin, task::Waker};

    use super::*;

    /// Panics when it is polled, and again when it is dropped.
    struct Twice;

    impl Future for Twice {
        type Output = ();

        fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
            std::panic::resume_unwind(Box::new(String::from("polled")))
        }
    }

    impl Drop for Twice {
        fn drop(&mut self) {
            std::panic::resume_unwind(Box::new("dropped"))
        }
    }

    /// A payload whose own drop panics, with another such payload behind it.
    struct Bomb(u8);

    impl Drop for Bomb {
        fn drop(&mut self) {
            if let Some(next) = self.0.checked_sub(1) {
                std::panic::resume_unwind(Box::new(Bomb(next)));
            }
        }
    }

    fn poll<T>(future: Pin<&mut Contained<impl Future<Output = T>>>) -> Poll<T> {
        future.poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn what_panics_is_dropped_at_once_and_says_why() {
        let mut future = pin!(Contained::new(Twice, true));
        assert_eq!(poll(future.as_mut()), Poll::Pending);
        assert!(matches!(future.slot, Slot::Panicked { .. }));
        assert_eq!(future.as_mut().panicked().unwrap().to_string(), "panicked: polled");
        assert_eq!(poll(future.as_mut()), Poll::Pending, "never polled again");
        assert_eq!(future.panicked(), None);
    }

    #[test]
    fn a_drop_that_panics_is_caught_whenever_it_comes() {
        drop(Contained::new(Twice, true));
        let free = catch_unwind(AssertUnwindSafe(|| drop(Contained::new(Twice, false))));
        assert!(free.is_err(), "and is nobody's matter where nothing is caught");
    }

    #[test]
    fn what_a_panic_leaves_may_panic_too() {
        for depth in [1, 2, 9] {
            let panicked = contain(|| std::panic::resume_unwind(Box::new(Bomb(depth))));
            assert_eq!(panicked.unwrap_err().to_string(), "panicked: with no message");
        }
    }

    #[test]
    fn what_was_said_is_cut() {
        let panicked = contain(|| std::panic::resume_unwind(Box::new("ä".repeat(1000)))).unwrap_err();
        assert_eq!(panicked.said.chars().count(), SAID);
    }
}
