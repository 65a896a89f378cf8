//! A connection for commands and for one channel, so that what is heard has the order of what is told.

use std::sync::Arc;

use ::redis::{AsyncConnectionConfig, Client, RedisResult, aio::MultiplexedConnection};
use tokio::sync::mpsc;

use super::{ear::listen, message::Message, store::RedisStore};

/// Connects to a store's server, and hears everything that comes by the channel from then on, as `read` understands it.
pub(crate) async fn connect<T, R>(
    store: &Arc<RedisStore>,
    channel: &str,
    read: R,
) -> RedisResult<(MultiplexedConnection, mpsc::Receiver<T>)>
where
    T: Send + 'static,
    R: Fn(&[u8]) -> Message<T> + Send + Sync + 'static,
{
    let client = Client::open(store.config.server.clone())?;
    let (hear, heard) = listen(Arc::clone(store), read);
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(store.config.timeout))
        .set_response_timeout(Some(store.config.timeout))
        .set_push_sender(hear);
    let mut connection = client.get_multiplexed_async_connection_with_config(&config).await?;
    connection.subscribe(channel).await?;
    Ok((connection, heard))
}
