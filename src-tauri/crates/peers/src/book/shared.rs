//! The book as the listener, the connections and the window share it.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use tokio::sync::watch;

use super::{Book, Peer, Role, Terms};
use crate::identity::PublicKey;
use crate::text;

/// The paired Macs, shared: copies are the same book. A change is seen by all at once, and the running connections of a
/// Mac that is removed end.
#[derive(Debug, Clone)]
pub struct Peers {
    state: Arc<watch::Sender<State>>,
}

#[derive(Debug)]
struct State {
    book: Book,
    /// The number of each pairing: one that ended and was made again is not the same.
    pairings: BTreeMap<(PublicKey, Role), u64>,
    next: u64,
}

impl State {
    /// After a change of what a Mac is to this one.
    fn renumber(&mut self, key: PublicKey) {
        for role in [Role::Borrower, Role::Lender] {
            if !self.book.has(&key, role) {
                self.pairings.remove(&(key, role));
            } else if let Entry::Vacant(new) = self.pairings.entry((key, role)) {
                new.insert(self.next);
                self.next += 1;
            }
        }
    }
}

/// The changes of a book.
#[derive(Debug)]
pub struct Changes(watch::Receiver<State>);

impl Changes {
    /// Waits until the book is another than the last one that this returned, and returns it; `None` when nobody has it
    /// any more. Several changes may come as one.
    pub async fn next(&mut self) -> Option<Book> {
        self.0.changed().await.ok()?;
        Some(self.0.borrow_and_update().book.clone())
    }
}

/// That a Mac stays paired, in its role: lasts until it is removed.
pub(crate) type Stay = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Peers {
    /// Shares a book.
    pub fn new(book: Book) -> Self {
        let keys: Vec<_> = book.peers.keys().copied().collect();
        let mut state = State { book, pairings: BTreeMap::new(), next: 0 };
        keys.into_iter().for_each(|key| state.renumber(key));
        Self { state: Arc::new(watch::Sender::new(state)) }
    }

    /// The book as it is now.
    pub fn book(&self) -> Book {
        self.state.borrow().book.clone()
    }

    /// Puts another book in its place, as when it was read again. What is in both goes on.
    pub fn replace(&self, book: Book) {
        self.state.send_modify(|state| {
            let keys: BTreeSet<_> = state.book.peers.keys().chain(book.peers.keys()).copied().collect();
            state.book = book;
            keys.into_iter().for_each(|key| state.renumber(key));
        });
    }

    /// What tells of each change after this call, for whoever stores or shows the book.
    pub fn changes(&self) -> Changes {
        Changes(self.state.subscribe())
    }

    /// Sets on what terms a paired Mac may use this one. `None` ends its running connections. Does nothing for a Mac
    /// that is not paired.
    pub fn set_terms(&self, key: &PublicKey, terms: Option<Terms>) {
        self.state.send_if_modified(|state| {
            let Some(peer) = state.book.peers.get_mut(key) else { return false };
            let is_new = peer.borrows != terms;
            peer.borrows = terms;
            state.renumber(*key);
            is_new
        });
    }

    /// Ends the running connections of a Mac that uses this one. It may come again.
    pub fn interrupt(&self, key: &PublicKey) {
        self.state.send_modify(|state| {
            state.pairings.remove(&(*key, Role::Borrower));
            state.renumber(*key);
        });
    }

    /// Forgets a Mac, and ends all its running connections. Returns whether it was paired.
    pub fn remove(&self, key: &PublicKey) -> bool {
        self.state.send_if_modified(|state| {
            let was_paired = state.book.peers.remove(key).is_some();
            state.renumber(*key);
            was_paired
        })
    }

    /// Pins a Mac in a role, beside the role that it may have.
    pub(crate) fn pin(&self, key: PublicKey, name: &str, role: Role) {
        self.state.send_modify(|state| {
            let new = Peer { name: String::new(), borrows: None, lends: false };
            let peer = state.book.peers.entry(key).or_insert(new);
            peer.name = text::name(name);
            match role {
                Role::Borrower => peer.borrows = peer.borrows.or(Some(Terms::default())),
                Role::Lender => peer.lends = true,
            }
            state.renumber(key);
        });
    }

    /// Whether a Mac is paired in a role.
    pub(crate) fn has(&self, key: &PublicKey, role: Role) -> bool {
        self.state.borrow().book.has(key, role)
    }

    /// On what terms a Mac may use this one.
    pub(crate) fn terms(&self, key: &PublicKey) -> Option<Terms> {
        self.state.borrow().book.peers.get(key)?.borrows
    }

    /// What lasts until a Mac has the role no more; `None` if it has not got it.
    pub(crate) fn stay(&self, key: PublicKey, role: Role) -> Option<Stay> {
        let mut receiver = self.state.subscribe();
        let pairing = receiver.borrow_and_update().pairings.get(&(key, role)).copied()?;
        Some(Box::pin(async move {
            let is_over = |state: &State| state.pairings.get(&(key, role)) != Some(&pairing);
            // An error: nobody can remove anybody any more.
            if receiver.wait_for(is_over).await.is_err() {
                std::future::pending::<()>().await;
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Identity;

    #[tokio::test]
    async fn a_stay_ends_with_its_pairing_even_if_another_follows() {
        let (peers, key) = (Peers::new(Book::default()), Identity::generate().unwrap().key());
        assert!(peers.stay(key, Role::Borrower).is_none());
        peers.pin(key, "A", Role::Borrower);
        assert!(peers.stay(key, Role::Lender).is_none());
        let stay = peers.stay(key, Role::Borrower).unwrap();
        peers.set_terms(&key, Some(Terms { most_bytes: Some(1), only_on_power: true }));
        assert!(peers.remove(&key) && !peers.remove(&key));
        peers.pin(key, "A", Role::Borrower);
        stay.await;
        assert_eq!(peers.terms(&key), Some(Terms::default()));
        let stay = peers.stay(key, Role::Borrower).unwrap();
        peers.interrupt(&key);
        stay.await;
        assert_eq!(peers.terms(&key), Some(Terms::default()));
        let stay = peers.stay(key, Role::Borrower).unwrap();
        peers.set_terms(&key, None);
        peers.set_terms(&key, Some(Terms::default()));
        stay.await;
    }

    #[tokio::test]
    async fn a_book_is_told_of_stored_and_read() {
        let (peers, key) = (Peers::new(Book::default()), Identity::generate().unwrap().key());
        let mut changes = peers.changes();
        peers.pin(key, "Studio", Role::Lender);
        let text = serde_json::to_string(&peers.book()).unwrap();
        assert_eq!(serde_json::from_str::<Book>(&text).unwrap(), peers.book());
        let short = format!(r#"{{"peers":{{"{key}":{{"name":"Studio","lends":true}}}}}}"#);
        assert_eq!(serde_json::from_str::<Book>(&short).unwrap(), peers.book());
        assert_eq!(changes.next().await, Some(peers.book()));
        drop(peers);
        assert_eq!(changes.next().await, None);
    }
}
