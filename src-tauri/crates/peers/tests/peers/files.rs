//! Files of models, from a lending Mac to one that uses it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use foretoken_peers::{Borrower, ModelFile, PeerError, Sha256};
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::macs::{Laptop, Studio, Work};
use crate::raw;

/// More than the sockets of both sides hold.
const LARGE: u64 = 64 << 20;

/// Bytes of which no two pieces are alike.
fn content(length: usize) -> Vec<u8> {
    (0..length).map(|place| (place ^ (place >> 8) ^ (place >> 16)) as u8).collect()
}

fn hash(content: &[u8]) -> Sha256 {
    let digits: String = digest(&SHA256, content).as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    Sha256::parse(&digits).unwrap()
}

struct Macs {
    studio: Studio,
    laptop: Laptop,
    borrower: Borrower,
    folder: TempDir,
}

impl Macs {
    async fn new() -> Self {
        let (studio, laptop) = (Studio::new(Work::None).await, Laptop::new());
        let borrower = studio.paired(&laptop);
        Self { studio, laptop, borrower, folder: tempfile::tempdir().unwrap() }
    }

    /// Where the lending Mac has a file.
    fn there(&self, name: &str) -> PathBuf {
        self.studio.host.model.path().join(name)
    }

    /// Where it is copied to, and where it is until it is whole.
    fn here(&self, name: &str) -> (PathBuf, PathBuf) {
        (self.folder.path().join(name), self.folder.path().join(format!("{name}.part")))
    }

    fn has(&self, name: &str, content: &[u8], sha256: Option<Sha256>) {
        fs::write(self.there(name), content).unwrap();
        self.studio.host.hashes.lock().unwrap().extend(sha256.map(|sha256| (name.to_owned(), sha256)));
    }

    /// A file of zeros that takes no room on the disk.
    fn has_large(&self, name: &str) {
        fs::File::create(self.there(name)).unwrap().set_len(LARGE).unwrap();
    }

    async fn listed(&self, name: &str) -> ModelFile {
        let files = self.borrower.files("small").await.unwrap();
        files.into_iter().find(|file| file.name == name).unwrap()
    }

    async fn fetch(&self, file: &ModelFile, to: &Path) -> Result<(), PeerError> {
        self.borrower.fetch("small", file, to, |_| {}).await
    }

    /// The same lending Mac, by a way that ends after so many bytes from it.
    async fn cut_after(&self, bytes: u64) -> Borrower {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, to) = (listener.local_addr().unwrap().to_string(), self.studio.address());
        tokio::spawn(async move {
            let (mut near, _) = listener.accept().await.unwrap();
            let mut far = TcpStream::connect(to).await.unwrap();
            let (mut from_near, mut to_near) = near.split();
            let (from_far, mut to_far) = far.split();
            let mut limited = from_far.take(bytes);
            tokio::select! {
                _ = tokio::io::copy(&mut limited, &mut to_near) => {}
                _ = tokio::io::copy(&mut from_near, &mut to_far) => {}
            }
        });
        let (identity, peers) = (self.laptop.identity.clone(), self.laptop.peers.clone());
        Borrower::new(address, identity, self.borrower.key(), peers)
    }

    async fn refused(&self, ask: &Value) -> String {
        let mut stream = raw::connect_as(&self.studio.address(), &self.laptop.identity).await;
        raw::write(&mut stream, ask.to_string().as_bytes()).await;
        raw::refused(raw::read(&mut stream).await)
    }
}

#[tokio::test]
async fn a_whole_model_is_copied() {
    let macs = Macs::new().await;
    let large = content((3 << 20) + 7);
    let model = [("config.json", b"{}".to_vec()), ("empty", Vec::new()), ("model.safetensors", large)];
    for (name, content) in &model {
        macs.has(name, content, (*name != "config.json").then(|| hash(content)));
    }
    macs.has(".hidden", b"of the other Mac alone", None);
    let mut files = macs.borrower.files("small").await.unwrap();
    files.sort_by(|a, b| a.name.cmp(&b.name));
    let expected = model.each_ref().map(|(name, content)| {
        let sha256 = (*name != "config.json").then(|| hash(content));
        ModelFile { name: (*name).to_owned(), bytes: content.len() as u64, sha256 }
    });
    assert_eq!(files, expected);
    for (file, (name, content)) in files.iter().zip(&model) {
        let (to, part) = macs.here(name);
        let mut told = Vec::new();
        macs.borrower.fetch("small", file, &to, |bytes| told.push(bytes)).await.unwrap();
        assert_eq!(&fs::read(&to).unwrap(), content);
        assert!(!part.exists());
        assert_eq!((told.first(), told.last()), (Some(&0), Some(&file.bytes)));
        assert!(told.is_sorted());
    }
    // Once more, over what is there.
    macs.fetch(&files[2], &macs.here("config.json").0).await.unwrap();
    assert_eq!(fs::read(macs.here("config.json").0).unwrap(), model[2].1);
}

#[tokio::test]
async fn a_file_goes_on_where_it_was_cut() {
    for sha256 in [true, false] {
        let macs = Macs::new().await;
        let content = content(5 << 20);
        macs.has("weights", &content, sha256.then(|| hash(&content)));
        let (file, (to, part)) = (macs.listed("weights").await, macs.here("weights"));
        fs::write(&to, "before").unwrap();
        let cut = macs.cut_after(3 << 20).await.fetch("small", &file, &to, |_| {}).await.unwrap_err();
        let PeerError::CutShort { name, arrived, bytes } = cut else { panic!("{cut}") };
        assert_eq!((name.as_str(), bytes), ("weights", 5 << 20));
        assert!((2 << 20..3 << 20).contains(&arrived));
        assert_eq!(fs::metadata(&part).unwrap().len(), arrived);
        assert_eq!(fs::read(&to).unwrap(), b"before");
        let mut told = Vec::new();
        // The way is long enough for what is left alone.
        let rest = macs.cut_after(4 << 20).await;
        rest.fetch("small", &file, &to, |bytes| told.push(bytes)).await.unwrap();
        assert_eq!(told.first(), Some(&arrived));
        assert!(fs::read(&to).unwrap() == content && !part.exists());
    }
}

#[tokio::test]
async fn what_was_there_already_need_not_come_again() {
    let macs = Macs::new().await;
    macs.has("weights", b"whole", Some(hash(b"whole")));
    let (file, (to, part)) = (macs.listed("weights").await, macs.here("weights"));
    fs::write(&part, b"whole").unwrap();
    macs.fetch(&file, &to).await.unwrap();
    assert!(fs::read(&to).unwrap() == b"whole" && !part.exists());
}

#[tokio::test]
async fn only_names_of_the_list_are_opened() {
    let macs = Macs::new().await;
    macs.has("weights", b"mine", None);
    macs.has(".hidden", b"secret", None);
    fs::create_dir(macs.there("folder")).unwrap();
    let outside = macs.there("../").canonicalize().unwrap();
    symlink(&outside, macs.there("link")).unwrap();
    let file = |name: &str, from: u64| json!({ "ask": "file", "model": "small", "name": name, "from": from });
    for name in ["../x", "/etc/passwd", "a/b", ".hidden", "..", ".", "", "a\\b", "a\0b", &"x".repeat(251)] {
        assert_eq!(macs.refused(&file(name, 0)).await, "file_name", "{name:?}");
    }
    assert_eq!(macs.refused(&file("other", 0)).await, "file_unknown");
    assert_eq!(*macs.studio.host.opened.lock().unwrap(), Vec::<String>::new());
    for name in ["folder", "link"] {
        assert_eq!(macs.refused(&file(name, 0)).await, "file_unknown");
    }
    assert_eq!(macs.refused(&file("weights", 5)).await, "file_beyond");
    for ask in [json!({ "ask": "files", "model": "../small" }), json!({ "ask": "files", "model": "large" })] {
        assert_eq!(macs.refused(&ask).await, "mac_lacks_model");
    }
    let unknown = ModelFile { name: "../x".into(), bytes: 1, sha256: None };
    let (to, part) = macs.here("x");
    let refused = macs.fetch(&unknown, &to).await.unwrap_err();
    assert_eq!(refused.code(), "file_name");
    assert!(!to.exists() && !part.exists());
    macs.fetch(&macs.listed("weights").await, &to).await.unwrap();
}

#[tokio::test]
async fn a_mac_that_is_not_paired_gets_no_file() {
    let macs = Macs::new().await;
    macs.has("weights", b"mine", None);
    let (file, (to, part)) = (macs.listed("weights").await, macs.here("weights"));
    let stranger = Laptop::new();
    let borrower = macs.studio.unpaired(&stranger);
    assert!(matches!(borrower.files("small").await, Err(PeerError::Unknown)));
    assert!(matches!(borrower.fetch("small", &file, &to, |_| {}).await, Err(PeerError::Unknown)));
    stranger.peers.remove(&macs.studio.identity.key());
    assert!(matches!(borrower.fetch("small", &file, &to, |_| {}).await, Err(PeerError::NotPaired)));
    assert!(macs.studio.host.opened.lock().unwrap().is_empty() && !to.exists() && !part.exists());
}

#[tokio::test]
async fn a_mac_that_is_removed_gets_no_more_of_a_file() {
    for removed_by_lender in [true, false] {
        let macs = Macs::new().await;
        macs.has_large("weights");
        let (file, (to, part)) = (macs.listed("weights").await, macs.here("weights"));
        let remove = |bytes| {
            if bytes > 0 && removed_by_lender {
                macs.studio.peers.remove(&macs.laptop.identity.key());
            } else if bytes > 0 {
                macs.laptop.peers.remove(&macs.studio.identity.key());
            }
        };
        let ended = macs.borrower.fetch("small", &file, &to, remove).await.unwrap_err();
        match ended {
            PeerError::CutShort { .. } => assert!(removed_by_lender),
            PeerError::NotPaired => assert!(!removed_by_lender),
            error => panic!("{error}"),
        }
        let arrived = fs::metadata(&part).unwrap().len();
        assert!(arrived > 0 && arrived < LARGE && !to.exists());
        assert!(macs.fetch(&file, &to).await.is_err());
        assert_eq!(fs::metadata(&part).unwrap().len(), arrived);
    }
}

#[tokio::test]
async fn another_content_than_the_list_says_is_not_kept() {
    let macs = Macs::new().await;
    macs.has("weights", b"right", Some(hash(b"right")));
    let (file, (to, part)) = (macs.listed("weights").await, macs.here("weights"));
    fs::write(&to, "before").unwrap();
    macs.has("weights", b"wrong", None);
    let wrong = macs.fetch(&file, &to).await.unwrap_err();
    assert!(matches!(wrong, PeerError::HashDiffers { name } if name == "weights"));
    assert!(fs::read(&to).unwrap() == b"before" && !part.exists());
    // What was there before may be what is wrong.
    macs.has("weights", b"right", None);
    fs::write(&part, "wro").unwrap();
    assert!(matches!(macs.fetch(&file, &to).await, Err(PeerError::HashDiffers { .. })));
    macs.fetch(&file, &to).await.unwrap();
    assert_eq!(fs::read(&to).unwrap(), b"right");
    macs.has("weights", b"longer", None);
    let longer = macs.fetch(&file, &to).await.unwrap_err();
    assert!(matches!(longer, PeerError::FileChanged { listed: 5, bytes: 6, .. }));
    assert!(fs::read(&to).unwrap() == b"right" && !part.exists());
}

#[tokio::test]
async fn two_files_at_a_time_and_others_wait() {
    let macs = Macs::new().await;
    macs.has_large("large");
    macs.has("small", b"few", None);
    let (small, (to, _)) = (macs.listed("small").await, macs.here("small"));
    let ask = json!({ "ask": "file", "model": "small", "name": "large", "from": 0 }).to_string();
    let mut held = Vec::new();
    for _ in 0..2 {
        let mut stream = raw::connect_as(&macs.studio.address(), &macs.laptop.identity).await;
        raw::write(&mut stream, ask.as_bytes()).await;
        assert_eq!(raw::read(&mut stream).await.unwrap(), json!({ "granted": { "bytes": LARGE } }));
        held.push(stream);
    }
    assert_eq!(macs.fetch(&small, &to).await.unwrap_err().code(), "lender_copies");
    // Others are others.
    let other = Laptop::new();
    macs.studio.paired(&other).fetch("small", &small, &to, |_| {}).await.unwrap();
    held.pop();
    let tos = ["a", "b", "c", "d"].map(|name| macs.here(name).0);
    let [a, b, c, d] = tos.each_ref().map(|to| macs.fetch(&small, to));
    for fetched in <[_; 4]>::from(tokio::join!(a, b, c, d)) {
        fetched.unwrap();
    }
}

/// Says one thing to the first who asks, and closes.
async fn says(macs: &Macs, words: &'static [u8]) -> Borrower {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let identity = macs.studio.identity.clone();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut stream = raw::accept_as(stream, (&identity).into()).await.unwrap();
        raw::read(&mut stream).await.unwrap();
        stream.write_all(words).await.unwrap();
        stream.shutdown().await.unwrap();
        let _ = stream.read_to_end(&mut Vec::new()).await;
    });
    let (identity, peers) = (macs.laptop.identity.clone(), macs.laptop.peers.clone());
    Borrower::new(address, identity, macs.borrower.key(), peers)
}

#[tokio::test]
async fn a_lending_mac_is_not_believed_either() {
    let macs = Macs::new().await;
    for odd in [
        br#"{"granted":[{"name":"config.json","bytes":1},{"name":"../x","bytes":1}]}"#.as_slice(),
        br#"{"granted":[{"name":"/etc/passwd","bytes":1}]}"#,
        br#"{"granted":[{"name":"a","bytes":-1}]}"#,
        br#"{"granted":[{"name":"a","bytes":1,"sha256":"no"}]}"#,
    ] {
        let borrower = says(&macs, &[odd, b"\n"].concat().leak()[..]).await;
        assert!(matches!(borrower.files("small").await, Err(PeerError::NotUnderstood { .. })));
    }
    let (file, (to, part)) = (ModelFile { name: "a".into(), bytes: 4, sha256: None }, macs.here("a"));
    let short = says(&macs, b"{\"granted\":{\"bytes\":4}}\nabc").await;
    let short = short.fetch("small", &file, &to, |_| {}).await.unwrap_err();
    assert!(matches!(short, PeerError::CutShort { arrived: 3, bytes: 4, .. }) && !to.exists());
    let more = says(&macs, b"{\"granted\":{\"bytes\":4}}\nd and more").await;
    more.fetch("small", &file, &to, |_| {}).await.unwrap();
    assert!(fs::read(&to).unwrap() == b"abcd" && !part.exists());
}
