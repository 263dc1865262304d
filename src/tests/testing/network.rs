//! A network for tests: a line that is slow, stalls or breaks ([`Proxy`]), and two machines on one ([`Namespaces`]).

mod namespaces;
mod proxy;

pub use namespaces::Namespaces;
pub use proxy::Proxy;
