//! An address that nobody listens at.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
};

use tokio::net::TcpSocket;

/// A port that is taken, by nobody who listens: no one else is given it for as long as this is held, as one that is
/// closed may be the next moment.
#[derive(Debug)]
pub(crate) struct Nobody {
    addr: SocketAddr,
    _bound: TcpSocket,
}

impl Nobody {
    pub(crate) fn new() -> io::Result<Self> {
        let bound = TcpSocket::new_v4()?;
        bound.bind((Ipv4Addr::LOCALHOST, 0).into())?;
        Ok(Self { addr: bound.local_addr()?, _bound: bound })
    }

    pub(crate) fn addr(&self) -> SocketAddr {
        self.addr
    }
}
