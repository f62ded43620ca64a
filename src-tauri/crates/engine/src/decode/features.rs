//! What the vision tower made of the last pictures: a chat shows the same ones turn by turn.

use indexmap::IndexMap;

use crate::memory::KEPT_FEATURES;
use crate::mlx::Array;

/// Features of pictures `[n, H]` by their keys; over its size, those used longest ago are dropped.
#[derive(Debug, Default)]
pub(super) struct FeatureCache(IndexMap<u32, Array>);

impl FeatureCache {
    /// What is known of a picture.
    pub(super) fn get(&mut self, key: u32) -> Option<Array> {
        let features = self.0.shift_remove(&key)?;
        self.0.insert(key, features.clone());
        Some(features)
    }

    /// Drops what is known of these pictures, which may be wrong.
    pub(super) fn forget(&mut self, keys: impl Iterator<Item = u32>) {
        keys.for_each(|key| _ = self.0.shift_remove(&key));
    }

    /// Keeps what a picture gave.
    pub(super) fn put(&mut self, key: u32, features: Array) {
        self.0.insert(key, features);
        while self.bytes() > KEPT_FEATURES && self.0.shift_remove_index(0).is_some() {}
    }

    /// Bytes of all that is kept.
    pub(super) fn bytes(&self) -> u64 {
        self.0.values().map(|features| features.nbytes() as u64).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mlx::{Dtype, broadcast_to};

    #[test]
    fn what_was_used_longest_ago_goes_first() {
        let zeros = |megabytes: i32| {
            let zero = Array::scalar(0.0, Dtype::Float32).unwrap();
            broadcast_to(&zero, &[megabytes, 1 << 18]).unwrap()
        };
        let mut cache = FeatureCache::default();
        (1..=3).for_each(|key| cache.put(key, zeros(20)));
        assert!(cache.get(1).is_some());
        cache.put(4, zeros(20));
        assert!(cache.get(2).is_none() && cache.get(1).is_some() && cache.get(3).is_some());
        cache.put(5, zeros(65));
        assert!((1..=5).all(|key| cache.get(key).is_none()), "one that is too large is not kept");
    }
}
