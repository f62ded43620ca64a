//! An HTTP proxy for tests of proxy settings: it forwards plain requests, opens tunnels for `CONNECT`, finds given host
//! names at given addresses, and records the head of each request.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// A running HTTP proxy on a free port of the loopback interface: it passes requests on, and opens tunnels for
/// `CONNECT`. It ends when dropped.
#[derive(Debug)]
pub struct TestProxy {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Vec<String>>>>,
    _server: JoinSet<()>,
}

/// What the proxy needs for each connection.
#[derive(Debug, Clone)]
struct Shared {
    hosts: Arc<HashMap<String, String>>,
    seen: Arc<Mutex<Vec<Vec<String>>>>,
}

impl TestProxy {
    /// A proxy that knows where these hosts are, as `HOST:PORT` each, besides those that have an address.
    pub async fn start(hosts: &[(&str, &str)]) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let hosts = hosts.iter().map(|&(host, place)| (host.to_owned(), place.to_owned())).collect();
        let shared = Shared { hosts: Arc::new(hosts), seen: Arc::default() };
        let seen = shared.seen.clone();
        let mut server = JoinSet::new();
        server.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                // A connection that breaks off is the client's to notice.
                connections.spawn(pass_on(shared.clone(), stream));
            }
        });
        Ok(Self { address, seen, _server: server })
    }

    /// Its address without a scheme: `127.0.0.1:…`.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The heads of the requests so far, oldest first, each line by line.
    pub fn seen(&self) -> Vec<Vec<String>> {
        self.seen.lock().expect("no test proxy thread has panicked").clone()
    }
}

/// One request and all that follows on its connection.
async fn pass_on(shared: Shared, stream: TcpStream) -> io::Result<()> {
    let mut client = BufReader::new(stream);
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        client.read_line(&mut line).await?;
        match line.trim_end() {
            "" => break,
            line => head.push(line.to_owned()),
        }
    }
    shared.seen.lock().expect("no test proxy thread has panicked").push(head.clone());
    let request: Vec<&str> = head.first().map(|line| line.split(' ').collect()).unwrap_or_default();
    let &[method, target, _] = request.as_slice() else { return Err(io::ErrorKind::InvalidData.into()) };
    if method == "CONNECT" {
        let mut server = shared.dial(target).await?;
        client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await?;
        copy_bidirectional(&mut client, &mut server).await?;
        return Ok(());
    }
    let absolute = target.strip_prefix("http://").ok_or(io::ErrorKind::InvalidData)?;
    let (host, path) = absolute.split_at(absolute.find('/').unwrap_or(absolute.len()));
    let mut server = shared.dial(host).await?;
    // Each request gets a connection of its own, so that only heads need to be understood.
    let own = |line: &&String| {
        !["proxy-", "connection:"].iter().any(|name| line.to_ascii_lowercase().starts_with(name))
    };
    let lines: String = head[1..].iter().filter(own).map(|line| format!("{line}\r\n")).collect();
    server
        .write_all(format!("{method} {path} HTTP/1.1\r\n{lines}connection: close\r\n\r\n").as_bytes())
        .await?;
    copy_bidirectional(&mut client, &mut server).await?;
    Ok(())
}

impl Shared {
    async fn dial(&self, host: &str) -> io::Result<TcpStream> {
        TcpStream::connect(self.hosts.get(host).map_or(host, String::as_str)).await
    }
}
