//! What a connection waits for; what is not there is waited for in vain.

use super::{
    admission::{Decision, LoginRequest},
    connection::Player,
    lobby::{Message, Offer},
};
use referee::game::Order;
use seat::csa_host::CsaHost;
use std::io;
use tokio::{
    io::AsyncReadExt,
    net::tcp::{OwnedReadHalf, OwnedWriteHalf},
    sync::oneshot,
};

pub(super) async fn next_order(seat: &mut Option<Offer>) -> Option<Order> {
    match seat {
        Some(Offer { host, .. }) => CsaHost::order(host).await,
        None => std::future::pending().await,
    }
}

pub(super) async fn handed_over(awaits: &mut Option<oneshot::Receiver<Box<Offer>>>) -> Option<Box<Offer>> {
    match awaits {
        Some(seat) => seat.await.ok(),
        None => std::future::pending().await,
    }
}

pub(super) async fn next_read(read: Option<&mut OwnedReadHalf>, chunk: &mut [u8]) -> io::Result<usize> {
    match read {
        Some(read) => read.read(chunk).await,
        None => std::future::pending().await,
    }
}

pub(super) async fn writable(write: Option<&OwnedWriteHalf>) {
    match write {
        Some(write) => drop(write.writable().await),
        None => std::future::pending().await,
    }
}

pub(super) async fn decision(checking: &mut Option<(LoginRequest, Decision)>) -> bool {
    match checking {
        Some((_, decision)) => decision.await,
        None => std::future::pending().await,
    }
}

pub(super) async fn next_message(player: &mut Option<Player>) -> Option<Message> {
    match player {
        Some(player) => player.mailbox.recv().await,
        None => std::future::pending().await,
    }
}
