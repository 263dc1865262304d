//! Who a worker takes for the server.

use crate::support::{Place, need_server, next};
use async_nats::{
    ConnectOptions,
    rustls::{
        self, ClientConfig, DigitallySignedStruct, ServerConfig, ServerConnection, SignatureScheme,
        client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        crypto::{CryptoProvider, ring},
        pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime, pem::PemObject},
        server::{ClientHello, ResolvesServerCert},
        sign::CertifiedKey,
    },
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use machines::hub::{Hub, HubError, Token};
use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener},
    sync::Arc,
    thread::JoinHandle,
};

#[tokio::test]
async fn a_server_with_another_certificate_is_refused() {
    need_server!();
    let (place, other) = (Place::new(), Place::new());
    let (hub, impostor) = (place.hub().await, other.hub().await);
    let elsewhere = hub.token.at("127.0.0.1", impostor.token.port()).unwrap();
    let error = place.join(&elsewhere, "box").await.unwrap_err();
    assert!(matches!(error, HubError::OtherServer { .. }), "{error}");
    assert!(error.to_string().contains("its certificate is another"), "{error}");
    hub.close().await;
    impostor.close().await;
}

#[tokio::test]
async fn a_man_in_the_middle_with_the_certificate_but_another_key_is_refused() {
    need_server!();
    let place = Place::new();
    let hub = place.hub().await;
    let directory = Hub::beside(&place.path("event.db"));
    let certificate = CertificateDer::from_pem_file(directory.join("certificate.pem")).unwrap();
    let own = PrivateKeyDer::from_pem_file(directory.join("private.pem")).unwrap();
    let other = rcgen::KeyPair::generate().unwrap();
    let other = PrivateKeyDer::try_from(other.serialize_der()).unwrap();

    let (address, thread) = server(certificate.clone(), other);
    let error = join_at(&place, &hub.token, address).await;
    assert!(matches!(error, HubError::OtherServer { .. }), "{error}");
    assert!(!thread.join().unwrap(), "nothing may be sent to whoever has another key");
    // The same server with the right key is talked to: it was the key.
    let (address, thread) = server(certificate, own);
    let error = join_at(&place, &hub.token, address).await;
    assert!(!matches!(error, HubError::OtherServer { .. }), "{error}");
    assert!(thread.join().unwrap());
    hub.close().await;
}

async fn join_at(place: &Place, token: &Token, address: SocketAddr) -> HubError {
    let token = token.at(&address.ip().to_string(), address.port()).unwrap();
    place.join(&token, "box").await.unwrap_err()
}

/// A server that shows a certificate, and signs with whatever key it has; it says whether it was spoken to.
fn server(
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
) -> (SocketAddr, JoinHandle<bool>) {
    let provider = Arc::new(ring::default_provider());
    let key = provider.key_provider.load_private_key(key).unwrap();
    let shown = Arc::new(CertifiedKey::new(vec![certificate], key));
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(Always(shown)));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let thread = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let info = "INFO {\"server_id\":\"x\",\"server_name\":\"x\",\"version\":\"2.9.10\",\"proto\":1,\"host\":\"\",\
                    \"port\":1,\"headers\":true,\"max_payload\":1000,\"tls_required\":true,\"nonce\":\"abc\"}\r\n";
        socket.write_all(info.as_bytes()).unwrap();
        let mut connection = ServerConnection::new(Arc::new(config)).unwrap();
        let mut heard = [0; 100];
        let read = rustls::Stream::new(&mut connection, &mut socket).read(&mut heard);
        read.is_ok_and(|bytes| bytes > 0)
    });
    (address, thread)
}

/// Shows this certificate to everybody, whether the key fits or not.
#[derive(Debug)]
struct Always(Arc<CertifiedKey>);

impl ResolvesServerCert for Always {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.clone())
    }
}

#[tokio::test]
async fn the_secret_of_a_line_opens_nothing_but_the_request_to_join() {
    need_server!();
    let place = Place::new();
    let hub = place.hub().await;
    let mut everything = hub.client.subscribe(format!("renmei.{}.>", place.event)).await.unwrap();
    hub.client.flush().await.unwrap();
    let text = hub.token.line().split_once('#').unwrap().1.to_owned();
    let secret: [u8; 32] = URL_SAFE_NO_PAD.decode(text).unwrap()[..32].try_into().unwrap();
    let key = nkeys::KeyPair::new_from_raw(nkeys::KeyPairType::User, secret).unwrap();
    let joining = ConnectOptions::new()
        .nkey(key.seed().unwrap())
        .tls_client_config(trusting())
        .connect(format!("tls://127.0.0.1:{}", hub.token.port()))
        .await
        .unwrap();
    let mut heard = joining.subscribe(">").await.unwrap();
    let mut own = joining.subscribe("_INBOX_join.me").await.unwrap();
    let worker = place.join(&hub.token, "box").await.unwrap();
    let subjects = &hub.subjects;
    for subject in [
        subjects.request(&worker.id, "hello"),
        subjects.to_worker(&worker.id, 1, "job"),
        subjects.all(),
        "$JS.API.INFO".to_owned(),
        "_INBOX_join.me".to_owned(),
    ] {
        joining.publish_with_reply(subject, "_INBOX_join.me", "x".into()).await.unwrap();
    }
    joining.flush().await.unwrap();
    // What is no request is not answered, and harms nobody; an honest one is answered after it.
    for nonsense in [&b""[..], b"{}", b"[[[[", &[b'x'; 5_000]] {
        joining.publish_with_reply("renmei.join", "_INBOX_join.me", nonsense.into()).await.unwrap();
    }
    let request = "{\"protocol\":99,\"key\":\"\",\"name\":\"\"}";
    joining.publish_with_reply("renmei.join", "renmei.elsewhere", request.into()).await.unwrap();
    joining.publish_with_reply("renmei.join", "_INBOX_join.me", request.into()).await.unwrap();
    let answer = next(&mut own).await;
    assert!(String::from_utf8_lossy(&answer.payload).contains("it asks in protocol 99"));
    worker.client.publish(subjects.request(&worker.id, "hello"), "x".into()).await.unwrap();
    assert_eq!(next(&mut everything).await.payload, "x");
    use futures_util::{FutureExt, StreamExt};
    assert!(everything.next().now_or_never().is_none() && heard.next().now_or_never().flatten().is_none());
    hub.close().await;
}

/// Trusts every server: what an attacker with a valid line may do as well.
pub fn trusting() -> ClientConfig {
    ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Trusting(ring::default_provider())))
        .with_no_client_auth()
}

#[derive(Debug)]
struct Trusting(CryptoProvider);

impl ServerCertVerifier for Trusting {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
