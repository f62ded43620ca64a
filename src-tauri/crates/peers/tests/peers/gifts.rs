//! Layers of models, from a Mac that uses another to the one that lends itself.

use std::fs;
use std::path::PathBuf;

use foretoken_peers::{Borrower, Gift, GiftFile, GiftPiece, LayerStore, ModelId, PeerError, Sha256};
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::macs::{Laptop, Studio, Work, model, until};
use crate::raw;

/// More than the sockets of both sides hold.
const LARGE: u64 = 64 << 20;
const LAYER: &str = "layer-00007.safetensors";
const NEXT: &str = "layer-00008.safetensors";

struct Macs {
    studio: Studio,
    laptop: Laptop,
    borrower: Borrower,
    store: LayerStore,
    folder: TempDir,
}

impl Macs {
    async fn new(most: u64) -> Self {
        let (studio, laptop) = (Studio::new(Work::None).await, Laptop::new());
        let (borrower, folder) = (studio.paired(&laptop), tempfile::tempdir().unwrap());
        let store = LayerStore::at(folder.path().join("layers"));
        *studio.host.store.lock().unwrap() = Some((store.clone(), most));
        Self { studio, laptop, borrower, store, folder }
    }

    /// A gift of a config and a layer with so many bytes of a model of this name.
    fn gift(&self, name: &str, layer: &str, bytes: u64) -> Gift {
        let file = self.folder.path().join(format!("{name}-{layer}"));
        fs::File::create(&file).unwrap().set_len(bytes).unwrap();
        let config = GiftFile {
            name: "config.json".into(),
            header: "{}".into(),
            length_first: false,
            pieces: Vec::new(),
        };
        let pieces = vec![GiftPiece { file, offset: 0, bytes }];
        let layer = GiftFile { name: layer.into(), header: "{ }".into(), length_first: true, pieces };
        Gift { model: named(name), files: vec![config, layer] }
    }

    /// Where a file of it is kept.
    fn kept(&self, gift: &Gift, name: &str) -> PathBuf {
        let folder = format!("{}-{}", self.laptop.identity.key(), gift.model.digest);
        self.folder.path().join("layers").join(folder).join(name)
    }

    async fn give(&self, gift: &Gift) -> Result<(), PeerError> {
        self.borrower.give(gift, |_, _| {}).await
    }

    /// The same lending Mac, by a way that ends after so many bytes to it.
    async fn cut_after(&self, bytes: u64) -> Borrower {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, to) = (listener.local_addr().unwrap().to_string(), self.studio.address());
        tokio::spawn(async move {
            let (mut near, _) = listener.accept().await.unwrap();
            let mut far = TcpStream::connect(to).await.unwrap();
            let (from_near, mut to_near) = near.split();
            let (mut from_far, mut to_far) = far.split();
            let mut limited = from_near.take(bytes);
            tokio::select! {
                _ = tokio::io::copy(&mut limited, &mut to_far) => {}
                _ = tokio::io::copy(&mut from_far, &mut to_near) => {}
            }
        });
        let (identity, peers) = (self.laptop.identity.clone(), self.laptop.peers.clone());
        Borrower::new(address, identity, self.borrower.key(), peers)
    }
}

/// Models of different names are different ones.
fn named(name: &str) -> ModelId {
    ModelId { name: name.into(), digest: hash(name.as_bytes()) }
}

fn hash(content: &[u8]) -> Sha256 {
    let digits: String = digest(&SHA256, content).as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    Sha256::parse(&digits).unwrap()
}

fn code(given: Result<(), PeerError>) -> String {
    given.unwrap_err().code().to_owned()
}

#[tokio::test]
async fn layers_are_given_once_and_more_of_them_later() {
    let macs = Macs::new(1 << 30).await;
    let gift = macs.gift("qwen", LAYER, 3_000_000);
    let mut told = Vec::new();
    macs.borrower.give(&gift, |done, all| told.push((done, all))).await.unwrap();
    let all = 2 + 8 + 3 + 3_000_000;
    assert_eq!((told[0], *told.last().unwrap()), ((0, all), (all, all)));
    assert!(told.is_sorted());
    let bytes = fs::read(macs.kept(&gift, LAYER)).unwrap();
    assert_eq!(&bytes[..11], b"\x03\0\0\0\0\0\0\0{ }");
    assert_eq!(
        (bytes.len(), fs::read(macs.kept(&gift, "config.json")).unwrap()),
        (3_000_011, b"{}".to_vec())
    );
    // Nothing is sent again.
    fs::remove_file(macs.folder.path().join(format!("qwen-{LAYER}"))).unwrap();
    macs.give(&gift).await.unwrap();
    macs.give(&macs.gift("qwen", NEXT, 7)).await.unwrap();
    let stored = macs.store.stored();
    assert_eq!(
        (stored.len(), stored[0].layers, stored[0].model.as_str(), stored[0].mac.as_str()),
        (1, 2, "qwen", "L")
    );
    assert!(stored[0].bytes > 3_000_000 && !stored[0].in_use);
    let (folder, held) = macs.store.hold(&macs.laptop.identity.key(), &gift.model).unwrap();
    assert_eq!(folder.join(LAYER), macs.kept(&gift, LAYER));
    assert!(macs.store.remove(&stored[0].id).is_err() && macs.store.stored()[0].in_use);
    drop(held);
    macs.store.remove("../..").unwrap();
    macs.store.remove(&stored[0].id).unwrap();
    assert!(macs.store.stored().is_empty());
    // Another Mac does not use what this one has given.
    macs.give(&gift).await.unwrap_err();
    macs.give(&macs.gift("qwen", LAYER, 7)).await.unwrap();
    assert!(macs.store.hold(&macs.studio.identity.key(), &gift.model).is_none());
    assert!(macs.store.hold(&macs.laptop.identity.key(), &model("small")).is_none());
    // Who has the model gets nothing.
    let small = Gift { model: model("small"), ..macs.gift("small", LAYER, 9) };
    macs.borrower.give(&small, |_, _| panic!("nothing is given")).await.unwrap();
}

#[tokio::test]
async fn what_was_cut_goes_on_from_there() {
    let macs = Macs::new(1 << 30).await;
    let gift = macs.gift("qwen", LAYER, LARGE);
    let cut = macs.cut_after(20 << 20).await;
    assert_eq!(code(cut.give(&gift, |_, _| {}).await), "peer_giving_cut");
    let part = macs.kept(&gift, &format!("{LAYER}.part"));
    until(|| fs::metadata(&part).is_ok_and(|part| part.len() > 15 << 20)).await;
    // The lending Mac has to notice.
    let mut first = None;
    loop {
        let given = macs.borrower.give(&gift, |done, _| _ = first.get_or_insert(done)).await;
        match given {
            Ok(()) => break,
            Err(error) => assert_eq!(error.code(), "store_giving"),
        }
    }
    assert!(first.unwrap() > 15 << 20, "{first:?}");
    assert!(!part.exists());
    assert_eq!(fs::metadata(macs.kept(&gift, LAYER)).unwrap().len(), LARGE + 11);
}

#[tokio::test]
async fn what_there_is_of_another_file_is_not_gone_on_with() {
    let macs = Macs::new(1 << 30).await;
    let gift = macs.gift("qwen", LAYER, 100);
    let part = macs.kept(&gift, &format!("{LAYER}.part"));
    fs::create_dir_all(part.parent().unwrap()).unwrap();
    fs::write(&part, [9; 50]).unwrap();
    assert_eq!(code(macs.give(&gift).await), "store_differs");
    assert!(!part.exists() && !macs.kept(&gift, LAYER).exists());
    macs.give(&gift).await.unwrap();
    assert_eq!(fs::metadata(macs.kept(&gift, LAYER)).unwrap().len(), 111);
}

#[tokio::test]
async fn odd_names_and_sizes_are_refused() {
    let macs = Macs::new(1 << 30).await;
    let refused = async |files: Value| {
        let ask = json!({"ask": "give", "model": named("qwen"), "files": files});
        let mut stream = raw::connect_as(&macs.studio.address(), &macs.laptop.identity).await;
        raw::write(&mut stream, ask.to_string().as_bytes()).await;
        raw::refused(raw::read(&mut stream).await)
    };
    for name in ["../config.json", "/etc/passwd", "kept.json", "layer-7.safetensors", ""] {
        assert_eq!(refused(json!([{"name": name, "bytes": 1}])).await, "gift_odd", "{name}");
    }
    assert_eq!(refused(json!([])).await, "gift_odd");
    assert_eq!(refused(json!([{"name": LAYER, "bytes": u64::MAX}])).await, "gift_odd");
    assert_eq!(refused(json!([{"name": LAYER, "bytes": -1}])).await, "ask_not_understood");
    let twice = json!([{"name": LAYER, "bytes": 1}, {"name": LAYER, "bytes": 1}]);
    assert_eq!(refused(twice).await, "gift_odd");
    assert_eq!(refused(json!([{"name": LAYER, "bytes": 1_u64 << 50}])).await, "store_full");
    assert!(macs.store.stored().is_empty());
}

#[tokio::test]
async fn who_keeps_nothing_or_too_little_says_what_to_do() {
    let macs = Macs::new(1000).await;
    let error = macs.give(&macs.gift("qwen", LAYER, 1000)).await.unwrap_err();
    assert_eq!(error.code(), "store_full");
    assert!(error.hint().contains("allow more gigabytes"));
    *macs.studio.host.store.lock().unwrap() = None;
    let error = macs.give(&macs.gift("qwen", LAYER, 10)).await.unwrap_err();
    assert_eq!(error.code(), "store_off");
    assert!(error.hint().contains("allow layers of models to be kept"));
    assert!(macs.store.stored().is_empty());
    // More than the disk has.
    *macs.studio.host.store.lock().unwrap() = Some((macs.store.clone(), u64::MAX));
    let huge = macs.gift("qwen", LAYER, 1 << 43);
    assert_eq!(code(macs.give(&huge).await), "store_disk");
}

#[tokio::test]
async fn what_nobody_uses_makes_way_oldest_first() {
    let macs = Macs::new(2_800_000).await;
    for name in ["first", "second", "third"] {
        macs.give(&macs.gift(name, LAYER, 700_000)).await.unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    let names = || macs.store.stored().into_iter().map(|stored| stored.model).collect::<Vec<_>>();
    assert_eq!(names(), ["third", "second", "first"]);
    let held = macs.store.hold(&macs.laptop.identity.key(), &named("first")).unwrap();
    macs.give(&macs.gift("fourth", LAYER, 800_000)).await.unwrap();
    assert_eq!(names(), ["fourth", "first", "third"]);
    // All but what a loan uses; then other layers of the same model.
    macs.give(&macs.gift("fourth", NEXT, 1_000_000)).await.unwrap();
    assert_eq!(names(), ["fourth", "first"]);
    macs.give(&macs.gift("fourth", "layer-00009.safetensors", 1_300_000)).await.unwrap();
    assert_eq!((names(), macs.store.stored()[0].layers), (vec!["fourth".into(), "first".into()], 1));
    assert_eq!(code(macs.give(&macs.gift("fifth", LAYER, 2_500_000)).await), "store_full");
    drop(held);
    macs.give(&macs.gift("fifth", LAYER, 2_500_000)).await.unwrap();
    assert_eq!(names(), ["fifth"]);
}

#[tokio::test]
async fn one_gives_at_a_time_and_only_as_long_as_it_is_paired() {
    let macs = Macs::new(1 << 30).await;
    let gift = macs.gift("qwen", LAYER, LARGE);
    let part = macs.kept(&gift, &format!("{LAYER}.part"));
    // It stops in the middle.
    let ask = json!({"ask": "give", "model": gift.model, "files": [{"name": LAYER, "bytes": LARGE}]});
    let mut stream = raw::connect_as(&macs.studio.address(), &macs.laptop.identity).await;
    raw::write(&mut stream, ask.to_string().as_bytes()).await;
    assert!(raw::read(&mut stream).await.unwrap()["granted"]["files"].is_array());
    stream.write_all(&[7; 5 << 20]).await.unwrap();
    until(|| fs::metadata(&part).is_ok_and(|part| part.len() >= 1 << 20)).await;
    assert_eq!(code(macs.give(&gift).await), "store_giving");
    assert!(macs.store.stored()[0].in_use);
    macs.studio.peers.remove(&macs.laptop.identity.key());
    let mut end = Vec::new();
    let _ = stream.read_to_end(&mut end).await;
    until(|| !macs.store.stored()[0].in_use).await;
    assert_eq!(code(macs.give(&gift).await), "peer_unknown");
    // What has arrived is its owner's to remove.
    macs.store.remove(&macs.store.stored()[0].id).unwrap();
    // This side notices too.
    macs.studio.paired(&macs.laptop);
    let (peers, key) = (macs.laptop.peers.clone(), macs.borrower.key());
    let given = macs.borrower.give(&gift, |done, _| {
        if done > 0 {
            peers.remove(&key);
        }
    });
    assert_eq!(code(given.await), "peer_not_paired");
}
