//! The disk tier of the prefix cache: read where a prompt begins, written while nobody asks for anything.

use super::Scheduler;
use crate::cache::{DiskTier, DiskTierError, Prefix, PrefixStore};
use crate::decode::row::Row;
use crate::decode::spec::RowSpec;

impl Scheduler {
    /// Gives the prefix cache a disk tier.
    pub fn set_disk(&mut self, disk: DiskTier) {
        self.disk = Some(disk);
    }

    /// Whether something waits to be written.
    pub fn has_to_keep(&self) -> bool {
        self.disk.as_ref().is_some_and(DiskTier::has_work)
    }

    /// Has a thread write some of it, unless it is at work.
    pub fn keep_some(&mut self) {
        self.write(DiskTier::work);
    }

    /// Writes all of it, and returns when it is on the disk.
    pub fn keep_all(&mut self) {
        self.write(DiskTier::finish);
    }

    fn write(&mut self, write: impl FnOnce(&mut DiskTier, &PrefixStore) -> Result<(), DiskTierError>) {
        if let Some(Err(error)) = self.disk.as_mut().map(|disk| write(disk, &self.prefixes)) {
            tracing::warn!("what was read of a chat is not kept: {error}");
        }
    }

    /// What memory or disk has of a prompt.
    pub(super) fn find_prefix(&mut self, spec: &RowSpec, prompt: &[u32]) -> Option<Prefix> {
        let found = self.prefixes.find(prompt);
        let (Some(disk), Some(_)) = (&mut self.disk, spec.remember) else { return found };
        let known = found.as_ref().map_or(0, Prefix::len);
        let read = disk.read(&mut self.prefixes, prompt, known).unwrap_or_else(|error| {
            tracing::warn!("a chat is read anew: {error}");
            None
        });
        read.or(found)
    }

    /// Has what memory has of these tokens kept on disk, where that was asked for. Not behind pictures, which have
    /// other keys in the next process.
    pub(super) fn remember(&mut self, spec: &RowSpec, tokens: &[u32]) {
        let sees = spec.pictures.first().is_some_and(|picture| picture.span.begin < tokens.len());
        if let (Some(disk), Some(owner), false) = (&mut self.disk, spec.remember, sees) {
            disk.keep(tokens, owner);
        }
    }

    /// Removes a row's tokens from disk, where what is there may be unusable.
    pub(super) fn forget_on_disk(&mut self, row: &Row) {
        if let Some(disk) = &mut self.disk {
            disk.forget(&row.keys());
        }
    }
}
