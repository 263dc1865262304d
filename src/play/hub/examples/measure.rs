//! What the hub costs on this machine: `cargo run --release -p hub --example measure [WORKERS]`.

use hub::{EventId, Hub, JoinOptions, ServerOptions};
use std::{fs, time::Instant};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let workers: u32 = std::env::args().nth(1).map_or(Ok(10), |word| word.parse())?;
    let directory = tempfile::tempdir()?;
    let options = ServerOptions {
        directory: directory.path().join("event.db-hub"),
        listen: "127.0.0.1:0".parse()?,
        event: EventId::random(),
        host: None,
        program: None,
    };
    for start in ["first start, with keys", "second start"] {
        let began = Instant::now();
        let hub = Hub::start(options.clone()).await?;
        println!("{start}: {} ms until the manager is connected", began.elapsed().as_millis());
        hub.close().await;
    }
    let hub = Hub::start(options).await?;
    let mut joined = Vec::new();
    let began = Instant::now();
    for number in 0..workers {
        let options = JoinOptions {
            directory: directory.path().join("worker"),
            name: format!("box{number}"),
            credentials: None,
            server: None,
            cache_bytes: 1 << 30,
        };
        joined.push(hub::join(hub.token(), options).await?);
    }
    let each = began.elapsed() / workers.max(1);
    println!("{workers} workers joined: {} ms each", each.as_millis());
    let file = directory.path().join("engine");
    fs::write(&file, vec![7; 100_000_000])?;
    let began = Instant::now();
    let sent = hub.depot().put(&file).await?;
    let put = began.elapsed();
    if let Some(worker) = joined.first() {
        worker.cache().fetch(&sent).await?;
        let fetched = began.elapsed() - put;
        println!("100 MB: sent in {} ms, fetched in {} ms", put.as_millis(), fetched.as_millis());
    }
    hub.close().await;
    Ok(())
}
