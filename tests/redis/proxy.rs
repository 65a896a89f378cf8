//! A network between one replica and the server, which can fail.

use std::{net::SocketAddr, sync::Arc};

use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinHandle,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Network {
    Whole,
    /// Connections are cut, and new ones too.
    Cut,
    /// Nothing arrives any longer, and nobody is told.
    Silent,
}

pub(crate) struct Proxy {
    address: SocketAddr,
    network: Arc<watch::Sender<Network>>,
    task: JoinHandle<()>,
}

impl Proxy {
    pub(crate) async fn to(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let network = Arc::new(watch::Sender::new(Network::Whole));
        let sender = Arc::clone(&network);
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(carry(client, port, sender.subscribe()));
            }
        });
        Self { address, network, task }
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://{}", self.address)
    }

    pub(crate) fn becomes(&self, network: Network) {
        self.network.send_replace(network);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn carry(mut client: TcpStream, port: u16, mut network: watch::Receiver<Network>) {
    let Ok(mut server) = TcpStream::connect(("127.0.0.1", port)).await else { return };
    tokio::select! {
        _ = network.wait_for(|network| *network != Network::Whole) => {}
        _ = copy_bidirectional(&mut client, &mut server) => return,
    }
    // Held open, and not read, until it is cut or works again: then those of before are gone.
    drop(network.wait_for(|network| *network != Network::Silent).await);
}
