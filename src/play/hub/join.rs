//! The worker's side: how a machine gets in.

use crate::{
    Connection, HubError, JobKey, Subjects, Token, Verifier, WorkerId,
    admission::{Answer, Request},
    cache::{Cache, of_server},
    connect::{Call, ForeignServer, User},
    directory::{self, failed},
    keys::UserKey,
    manager::user_of,
    members::check_name,
    subjects::{JOIN, JOIN_INBOX},
    token::Entrance,
};
use async_nats::{Client, RequestErrorKind};
use platform::{files, locks::Lock};
use sha2::{Digest, Sha256};
use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};
use tokio::sync::watch;

/// How long the manager has for its answer. It lets a hundred workers in at once.
const ANSWER: Duration = Duration::from_secs(20);
/// How long a manager is waited for that does not listen.
const BACK: Duration = Duration::from_secs(5);
/// Pause before it is asked again.
const AGAIN: Duration = Duration::from_millis(100);

/// How a worker joins.
#[derive(Clone, Debug)]
pub struct JoinOptions {
    /// Directory of this user's workers: their keys, and the files that they were sent.
    pub directory: PathBuf,
    /// Its name for people. It gets a number if another worker of the event has it.
    pub name: String,
    /// A file with credentials, on somebody else's server.
    pub credentials: Option<PathBuf>,
    /// A server with a password in its address, on somebody else's server: the line to join with has none.
    pub server: Option<ForeignServer>,
    /// Limit of the files that are kept, in bytes.
    pub cache_bytes: u64,
}

/// A worker that was let in, with its connection.
#[derive(Debug)]
pub struct Joined {
    client: Client,
    connection: watch::Receiver<Connection>,
    id: WorkerId,
    name: String,
    subjects: Subjects,
    job_key: JobKey,
    cache: Cache,
    _key: HeldKey,
}

/// A worker's key. While it is held, nobody else on this machine is this worker.
#[derive(Debug)]
struct HeldKey {
    key: UserKey,
    _lock: Lock,
}

/// Joins the event of a line.
///
/// # Errors
/// When the server cannot be reached, is another one, or does not know the line; when the manager does not let this worker
/// in; or a file of its own cannot be written.
pub async fn join(token: &Token, options: JoinOptions) -> Result<Joined, HubError> {
    check_name(&options.name)?;
    let held = HeldKey::take(&options.directory, token, &options.name)?;
    let cache = Cache::at(&options.directory.join("files"), options.cache_bytes)?;
    let id = WorkerId::of(&held.key.public());
    let (name, (client, connection)) = match &token.entrance {
        Some(entrance) => enter(token, entrance, &held.key, &options.name).await?,
        None => {
            let server = options.server.filter(|server| server.address == token.server);
            let user = user_of(server.and_then(|server| server.password), options.credentials);
            let call =
                Call { server: &token.server, user, certificate: None, inbox: "_INBOX", name: &options.name };
            (options.name.clone(), call.connect().await?)
        }
    };
    let subjects = Subjects::of(token.event);
    let cache = cache.with(of_server(client.clone(), subjects));
    Ok(Joined { client, connection, id, name, subjects, job_key: token.job_key, cache, _key: held })
}

impl Joined {
    /// The worker's connection. It is made again by itself.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// How the connection stands.
    #[must_use]
    pub fn connection(&self) -> watch::Receiver<Connection> {
        self.connection.clone()
    }

    /// Its identity on the wire, the same at each start under this name on this machine.
    #[must_use]
    pub fn id(&self) -> &WorkerId {
        &self.id
    }

    /// Its name: the one it asked for, with a number if another worker has that.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The event's subjects.
    #[must_use]
    pub fn subjects(&self) -> Subjects {
        self.subjects
    }

    /// What tells the manager's messages from others. `session` is a number that this start of the worker has drawn, and
    /// tells in its hello.
    #[must_use]
    pub fn verifier(&self, session: u64) -> Verifier {
        Verifier::new(self.job_key, self.subjects.event(), self.id.clone(), session)
    }

    /// Files that the manager has sent.
    #[must_use]
    pub fn cache(&self) -> &Cache {
        &self.cache
    }
}

type Connected = (Client, watch::Receiver<Connection>);

/// Gets into a server of the event's own: asks the manager, and connects as oneself. It asks also if the server knows this
/// worker from earlier: so it hears its name, and whether its line is of this event.
async fn enter(
    token: &Token,
    entrance: &Entrance,
    key: &UserKey,
    name: &str,
) -> Result<(String, Connected), HubError> {
    let request = Request::new(token.event, key.public(), name);
    let inbox = format!("{JOIN_INBOX}.{:016x}", rand::random::<u64>());
    let asking = Call {
        server: &token.server,
        user: User::Key(UserKey(entrance.secret)),
        certificate: Some(entrance.certificate),
        inbox: &inbox,
        name: "joining",
    };
    let (client, _) = asking.connect().await?;
    let answer = ask(&client, token, &request).await?;
    drop(client);
    let Answer::Welcome { key: theirs, id, name } = answer else {
        let Answer::No(why) = answer else { unreachable!("there are two answers") };
        return Err(HubError::NotAdmitted(why));
    };
    if theirs != request.key || id != WorkerId::of(&request.key) {
        return Err(HubError::NotAdmitted("its answer is for another worker".to_owned()));
    }
    let entering = Call {
        server: &token.server,
        user: User::Key(key.clone()),
        certificate: Some(entrance.certificate),
        inbox: &Subjects::inbox(&id),
        name: id.as_str(),
    };
    Ok((name, entering.connect().await?))
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
            Ok(message) => return Answer::open(&message.payload, token.job_key, request),
            Err(error) => error,
        };
        match error.kind() {
            RequestErrorKind::NoResponders if Instant::now() < until => tokio::time::sleep(AGAIN).await,
            RequestErrorKind::NoResponders | RequestErrorKind::TimedOut => {
                return Err(HubError::NoManager { address });
            }
            _ => return Err(HubError::Connect { address, cause: error.to_string() }),
        }
    }
}

impl HeldKey {
    /// The key of this name for this hub; made if there is none. Hubs get different keys: nobody who runs two of them sees
    /// the same worker.
    fn take(root: &Path, token: &Token, name: &str) -> Result<Self, HubError> {
        let hub = Sha256::digest(token.job_key.bytes());
        let directory = root.join("keys").join(crate::hex::encode(&hub[..8]));
        files::create_directory(&directory, files::Access::Private).map_err(failed(&directory))?;
        files::owner_alone(&directory).map_err(failed(&directory))?;
        let path = directory.join(format!("{name}.lock"));
        let file = files::open(&path).map_err(failed(&path))?;
        let lock = Lock::exclusive(file);
        let lock = lock.map_err(|_| HubError::NameInUse { name: name.to_owned() })?;
        let file = format!("{name}.nkey");
        let path = directory.join(&file);
        let key = match directory::read(&path).map_err(failed(&path))? {
            Some(bytes) => {
                let key = UserKey::from_seed(&String::from_utf8_lossy(&bytes));
                key.ok_or_else(|| HubError::Keys { path: path.clone() })?
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
