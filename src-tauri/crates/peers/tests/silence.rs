//! What listens, and when: nothing before a lending Mac is started, nothing after.

#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;

use async_trait::async_trait;
use foretoken_peers::{
    Book, Borrower, Host, Identity, Inventory, Lender, Lending, Loan, ModelFile, Pairing, Peers, Worker,
};
use foretoken_protocol::ErrorReport;
use tokio::fs::File;

struct Nothing;

#[async_trait]
impl Host for Nothing {
    async fn inventory(&self) -> Inventory {
        Inventory::default()
    }

    async fn start(&self, _: Loan) -> Result<Worker, ErrorReport> {
        unreachable!("nobody is paired")
    }

    async fn files(&self, _: &str) -> Result<Vec<ModelFile>, ErrorReport> {
        unreachable!("nobody is paired")
    }

    async fn open(&self, _: &str, _: &str) -> Result<File, ErrorReport> {
        unreachable!("nobody is paired")
    }
}

/// The addresses at which this process listens.
fn listening() -> Vec<String> {
    let files = fs::read_dir("/proc/self/fd").unwrap().flatten();
    let own: BTreeSet<String> = files
        .filter_map(|file| fs::read_link(file.path()).ok()?.to_str().map(ToOwned::to_owned))
        .filter_map(|link| Some(link.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
        .collect();
    let tables =
        ["/proc/net/tcp", "/proc/net/tcp6"].map(|table| fs::read_to_string(table).unwrap_or_default());
    let lines = tables.iter().flat_map(|table| table.lines().skip(1));
    let rows = lines.map(|line| line.split_whitespace().collect::<Vec<_>>());
    rows.filter(|row| row[3] == "0A" && own.contains(row[9])).map(|row| row[1].to_owned()).collect()
}

#[tokio::test]
async fn nothing_listens_that_was_not_started() {
    let (identity, peers, pairing) =
        (Identity::generate().unwrap(), Peers::new(Book::default()), Pairing::new());
    let opening = pairing.open();
    let borrower = Borrower::new("127.0.0.1:1", identity.clone(), identity.key(), peers.clone());
    assert!(borrower.inventory().await.is_err());
    assert_eq!(listening(), Vec::<String>::new());
    let host = Arc::new(Nothing);
    let lending = Lending { identity, name: "S".into(), peers, pairing: pairing.clone(), host };
    let lender = Lender::start("127.0.0.1:0".parse().unwrap(), lending).await.unwrap();
    assert_eq!(listening(), [format!("0100007F:{:04X}", lender.address().port())]);
    lender.stop().await;
    drop(opening);
    assert_eq!(listening(), Vec::<String>::new());
}
