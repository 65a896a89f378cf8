//! What the connection hears, made small where it comes in.

use std::sync::{Arc, Mutex, PoisonError};

use ::redis::{PushInfo, PushKind, Value};
use tokio::sync::mpsc;

use super::{message::Message, status::count, store::RedisStore};

/// So many changes wait to be taken in. Who falls further behind connects anew: then what stands is read as a whole.
const MOST: usize = 1024;

/// Called by the client for whatever the server pushes. What follows is closed when the connection ends, or cannot be
/// kept up with.
pub(super) fn listen<T, R>(
    store: Arc<RedisStore>,
    read: R,
) -> (impl Fn(PushInfo) -> Result<(), Deaf> + Send + Sync + 'static, mpsc::Receiver<T>)
where
    T: Send + 'static,
    R: Fn(&[u8]) -> Message<T> + Send + Sync + 'static,
{
    let (sender, heard) = mpsc::channel(MOST);
    let sender = Mutex::new(Some(sender));
    let hear = move |push: PushInfo| {
        let mut sender = sender.lock().unwrap_or_else(PoisonError::into_inner);
        match push.kind {
            PushKind::Message => {
                let Some(open) = &*sender else { return Err(Deaf) };
                // Channel and payload; this connection is subscribed to one channel.
                let Some(Value::BulkString(payload)) = push.data.get(1) else { return Ok(()) };
                match read(payload) {
                    Message::Own => return Ok(()),
                    Message::Unknown => {
                        count(&store.status.ignored, 1);
                        return Ok(());
                    }
                    Message::Change(change) => {
                        if open.try_send(change).is_ok() {
                            count(&store.status.heard, 1);
                            return Ok(());
                        }
                    }
                }
                store.status.failed(&"more changes came than could be taken in");
            }
            PushKind::Disconnection => store.status.failed(&"the connection was lost"),
            _ => return Ok(()),
        }
        *sender = None;
        Ok(())
    };
    (hear, heard)
}

/// Nobody listens any longer.
#[derive(Debug)]
pub(super) struct Deaf;

#[cfg(test)]
mod tests {
    use super::{super::message, *};
    use crate::probe_cache::Change;

    fn pushed(kind: PushKind, payload: &str) -> PushInfo {
        let text = |text: &str| Value::BulkString(text.into());
        PushInfo { kind, data: vec![text("channel"), text(payload)] }
    }

    #[tokio::test]
    async fn what_cannot_be_kept_up_with_ends_the_connection() {
        let store = Arc::new(RedisStore::new("redis://127.0.0.1").unwrap());
        let (hear, mut heard) = listen(Arc::clone(&store), |payload: &[u8]| message::read(payload, "1f"));
        let drop_all = r#"{"v":1,"from":"2e","do":"drop_all"}"#;
        hear(pushed(PushKind::Message, "garbage")).unwrap();
        hear(pushed(PushKind::Message, &drop_all.replace("2e", "1f"))).unwrap();
        hear(pushed(PushKind::Subscribe, drop_all)).unwrap();
        hear(PushInfo { kind: PushKind::Message, data: Vec::new() }).unwrap();
        for _ in 0..MOST {
            hear(pushed(PushKind::Message, drop_all)).unwrap();
        }
        assert_eq!((store.stats().heard, store.stats().ignored, store.last_error()), (MOST as u64, 1, None));
        hear(pushed(PushKind::Message, drop_all)).unwrap();
        assert!(store.last_error().is_some());
        hear(pushed(PushKind::Message, drop_all)).unwrap_err();
        for _ in 0..MOST {
            assert_eq!(heard.recv().await, Some(Change::DroppedAll));
        }
        assert_eq!(heard.recv().await, None);
    }

    #[tokio::test]
    async fn it_ends_with_the_connection() {
        let store = Arc::new(RedisStore::new("redis://127.0.0.1").unwrap());
        let (hear, mut heard) = listen(store, |payload: &[u8]| message::read(payload, "1f"));
        hear(PushInfo { kind: PushKind::Disconnection, data: Vec::new() }).unwrap();
        assert_eq!(heard.recv().await, None);
    }
}
