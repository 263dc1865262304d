//! The worker's side: how a machine gets in.

use crate::hub::{
    Connection, HubError, Subjects, Token, WorkerId,
    admission::{Answer, Request},
    connect::Call,
    directory::{self, failed},
    keys::UserKey,
    members::check_name,
    subjects::{JOIN, JOIN_INBOX},
};
use async_nats::{Client, RequestErrorKind};
use platform::{files, locks::Lock};
use sha2::{Digest, Sha256};
use std::{
    path::Path,
    time::{Duration, Instant},
};
use tokio::sync::watch;

/// How long the manager has for its answer. It lets a hundred workers in at once.
const ANSWER: Duration = Duration::from_secs(20);
/// How long a manager is waited for that does not listen.
const BACK: Duration = Duration::from_secs(5);
/// Pause before it is asked again.
const AGAIN: Duration = Duration::from_millis(100);

/// A worker that was let in, with its connection.
#[derive(Debug)]
pub struct Joined {
    /// The worker's connection. It is made again by itself.
    pub client: Client,
    /// How the connection stands.
    pub connection: watch::Receiver<Connection>,
    /// Its identity on the wire, the same at each start under this name on this machine.
    pub id: WorkerId,
    /// Its name: the one it asked for, with a number if another worker has that.
    pub name: String,
    /// The event's subjects.
    pub subjects: Subjects,
    _key: HeldKey,
}

/// A worker's key. While it is held, nobody else on this machine is this worker.
#[derive(Debug)]
struct HeldKey {
    key: UserKey,
    _lock: Lock,
}

/// Joins the event of a line, with a key that lies in a directory. Its name for people gets a number if another worker of
/// the event has it.
///
/// # Errors
/// When the server cannot be reached, is another one, or does not know the line; when the manager does not let this worker
/// in; or a file of its own cannot be written.
pub async fn join(token: &Token, directory: &Path, name: &str) -> Result<Joined, HubError> {
    check_name(name)?;
    let held = HeldKey::take(directory, token, name)?;
    let (name, event, (client, connection)) = enter(token, &held.key, name).await?;
    let (id, subjects) = (WorkerId::of(&held.key.public()), Subjects::of(&event));
    Ok(Joined { client, connection, id, name, subjects, _key: held })
}

type Connected = (Client, watch::Receiver<Connection>);

/// Gets into a server: asks the manager, and connects as oneself. It asks also if the server knows this worker from earlier:
/// so it hears its name, and the event.
async fn enter(token: &Token, key: &UserKey, name: &str) -> Result<(String, String, Connected), HubError> {
    let request = Request::new(key.public(), name);
    let inbox = format!("{JOIN_INBOX}.{:016x}", rand::random::<u64>());
    let (server, certificate) = (&token.server, token.certificate);
    let asking = Call { server, user: UserKey(token.secret), certificate, inbox: &inbox, name: "joining" };
    let (client, _) = asking.connect().await?;
    let answer = ask(&client, token, &request).await?;
    drop(client);
    let (theirs, id, event, name) = match answer {
        Answer::Welcome { key, id, event, name } => (key, id, event, name),
        Answer::No(why) => return Err(HubError::NotAdmitted(why)),
    };
    if theirs != request.key || id != WorkerId::of(&request.key) {
        return Err(HubError::NotAdmitted("its answer is for another worker".to_owned()));
    }
    let inbox = Subjects::inbox(&id);
    let entering = Call { server, user: key.clone(), certificate, inbox: &inbox, name: id.as_str() };
    Ok((name, event, entering.connect().await?))
}

/// Asks the manager. Where nobody listens it is asked again for a while: after a restart of the server a worker may be back
/// before the manager is.
async fn ask(client: &Client, token: &Token, request: &Request) -> Result<Answer, HubError> {
    let address = token.server.to_string();
    let body = serde_json::to_vec(request).unwrap_or_default();
    let until = Instant::now() + BACK;
    loop {
        let asked = async_nats::Request::new().payload(body.clone().into()).timeout(Some(ANSWER));
        let error = match client.send_request(JOIN, asked).await {
            Ok(message) => {
                return serde_json::from_slice(&message.payload).map_err(|_| {
                    HubError::NotAdmitted("its answer is of another version of renmei".to_owned())
                });
            }
            Err(error) => error,
        };
        match error.kind() {
            RequestErrorKind::NoResponders if Instant::now() < until => tokio::time::sleep(AGAIN).await,
            RequestErrorKind::NoResponders | RequestErrorKind::TimedOut => {
                return Err(HubError::NoManager(address));
            }
            _ => return Err(HubError::Connect { address, cause: error.to_string() }),
        }
    }
}

impl HeldKey {
    /// The key of this name for this hub; made if there is none. Hubs get different keys: nobody who runs two of them sees
    /// the same worker.
    fn take(root: &Path, token: &Token, name: &str) -> Result<Self, HubError> {
        let hub = Sha256::digest(token.certificate);
        let directory = root.join("keys").join(platform::content::hex(&hub[..8]));
        files::create_directory(&directory, files::Access::Private).map_err(failed(&directory))?;
        files::owner_alone(&directory).map_err(failed(&directory))?;
        let path = directory.join(format!("{name}.lock"));
        let file = files::open(&path).map_err(failed(&path))?;
        let lock = Lock::exclusive(file);
        let lock = lock.map_err(|_| HubError::NameInUse(name.to_owned()))?;
        let file = format!("{name}.nkey");
        let path = directory.join(&file);
        let key = match directory::read(&path).map_err(failed(&path))? {
            Some(bytes) => {
                let key = UserKey::from_seed(&String::from_utf8_lossy(&bytes));
                key.ok_or_else(|| HubError::Keys(path.clone()))?
            }
            None => {
                let key = UserKey::random();
                let text = key.seed() + "\n";
                files::write_below(&directory, Path::new(&file), text.as_bytes(), files::Access::Private)
                    .map_err(failed(&path))?;
                key
            }
        };
        Ok(Self { key, _lock: lock })
    }
}
