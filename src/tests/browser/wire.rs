//! A network between the browser and the program, which can be cut.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{Arc, Mutex, PoisonError},
    thread,
};

/// What passes bytes on; `None` while it is cut.
pub struct Wire {
    /// Where the browser connects to.
    pub address: String,
    connections: Arc<Mutex<Option<Vec<TcpStream>>>>,
}

impl Wire {
    /// A network that leads to this host.
    pub fn to(host: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let connections = Arc::new(Mutex::new(Some(vec![])));
        let (kept, host) = (Arc::clone(&connections), host.to_owned());
        thread::spawn(move || listener.incoming().flatten().for_each(|near| connect(&near, &host, &kept)));
        Self { address, connections }
    }

    /// Ends every connection; further ones end as they begin.
    pub fn cut(&self) {
        let cut = self.connections.lock().unwrap_or_else(PoisonError::into_inner).take();
        cut.into_iter().flatten().for_each(|stream| drop(stream.shutdown(Shutdown::Both)));
    }

    /// Passes bytes on again.
    pub fn mend(&self) {
        *self.connections.lock().unwrap_or_else(PoisonError::into_inner) = Some(vec![]);
    }
}

fn connect(near: &TcpStream, host: &str, kept: &Mutex<Option<Vec<TcpStream>>>) {
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    // A connection that is not kept ends here.
    let (Some(kept), Ok(far)) = (kept.as_mut(), TcpStream::connect(host)) else { return };
    let copies = [near, &far].map(|stream| stream.try_clone().unwrap());
    kept.extend(copies);
    pass(near.try_clone().unwrap(), far.try_clone().unwrap());
    pass(far, near.try_clone().unwrap());
}

fn pass(mut from: TcpStream, mut to: TcpStream) {
    thread::spawn(move || {
        let mut bytes = [0; 16384];
        while let Ok(n @ 1..) = from.read(&mut bytes) {
            if to.write_all(&bytes[..n]).is_err() {
                break;
            }
        }
        let _ended_already = to.shutdown(Shutdown::Both);
    });
}
