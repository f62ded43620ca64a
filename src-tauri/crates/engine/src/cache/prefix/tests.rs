//! Tests of the prefix cache: by example, and against a plain set of token sequences under random actions.

use std::collections::BTreeSet;

use foretoken_prefixes::{PrefixFiles, Quota};
use foretoken_protocol::KvPrecision;
use proptest::prelude::*;

use super::*;
use crate::cache::{ContextKv, DeltaState, DraftContext, RowCache, RowKv};
use crate::mlx::{Array, Dtype};

/// A number that stands for a sequence of tokens.
fn mark(tokens: &[u32], salt: u32) -> f32 {
    let hash = tokens.iter().fold(salt, |hash, token| (hash ^ token).wrapping_mul(0x0100_0193));
    (hash >> 8) as f32
}

/// Keys and values `[2, 1, n, 2]`, each position with the mark of the tokens up to it.
fn positions(tokens: &[u32], ends: impl Iterator<Item = usize>, salt: u32) -> Array {
    let marks: Vec<f32> = ends.map(|end| mark(&tokens[..end], salt)).collect();
    let values: Vec<f32> = [&marks, &marks].into_iter().flatten().flat_map(|&mark| [mark, -mark]).collect();
    Array::from_slice(&values, &[2, 1, marks.len() as i32, 2]).unwrap()
}

/// The window of a draft model's second layer: more than the least that is stored, and less than much that is.
const WINDOW: usize = 45;

/// Caches and snapshot of a row that has read these tokens, of a model with two attention layers, a recurrent one and
/// an MTP head, and of a draft model with two layers.
fn row(tokens: &[u32]) -> (RowCache, StateSnapshot) {
    let kv = |from: usize, salt| {
        let mut kv = RowKv::default();
        kv.append(&positions(tokens, from..=tokens.len(), salt)).unwrap();
        kv
    };
    // A pair's second token is one further on.
    let mut draft = DraftContext::new([None, Some(WINDOW)]);
    draft.append(&[7, 8].map(|salt| positions(tokens, 1..=tokens.len(), salt))).unwrap();
    let cache =
        RowCache { kv: vec![kv(1, 1), kv(1, 2)], head: Some(kv(2, 3)), draft: Some(draft), remote: None };
    (cache, snapshot(tokens))
}

fn snapshot(tokens: &[u32]) -> StateSnapshot {
    let values = |count: usize, salt| vec![mark(tokens, salt); count];
    // As on real models, many times what a token takes.
    let state = Array::from_slice(&values(1024, 4), &[1, 1, 1, 32, 32]).unwrap();
    let tail = Array::from_slice(&values(6, 5), &[1, 3, 2]).unwrap();
    let hidden = Array::from_slice(&values(8, 6), &[1, 8]).unwrap();
    StateSnapshot { states: vec![DeltaState::settled(state, tail)], hidden: Some(hidden), remote: None }
}

fn values(snapshot: &StateSnapshot) -> Vec<Vec<f32>> {
    snapshot.arrays().map(|array| array.to_vec().unwrap()).collect()
}

/// Checks that a found prefix gives the caches and the snapshot of a row that has read its tokens.
fn check(prefix: &Prefix, prompt: &[u32]) {
    let tokens = &prompt[..prefix.len()];
    let (expected, snapshot) = row(tokens);
    let restored = prefix.cache(prompt.len()).unwrap();
    let all = |cache: &RowCache| {
        let layers = cache.kv.iter().chain(&cache.head);
        let values =
            |kv: &RowKv| kv.values(Dtype::Float32).unwrap().map(|values| values.to_vec::<f32>().unwrap());
        layers.map(|kv| (kv.len(), values(kv).unwrap_or_default())).collect::<Vec<_>>()
    };
    assert_eq!(all(&restored), all(&expected));
    let [restored, expected] = [restored, expected].map(|cache| cache.draft.expect("what was read"));
    let seen = |layer: &ContextKv| layer.visible().unwrap().unwrap().to_vec::<f32>().unwrap();
    let seen = |context: &DraftContext| context.layers().iter().map(seen).collect::<Vec<_>>();
    assert_eq!((restored.end(), seen(&restored)), (expected.end(), seen(&expected)));
    assert_eq!(values(prefix.snapshot()), values(&snapshot));
}

fn store(budget: u64) -> PrefixStore {
    let mut store = PrefixStore::default();
    store.set_budget(budget);
    store
}

fn insert(store: &mut PrefixStore, tokens: &[u32], likely: bool) {
    let (cache, snapshot) = row(tokens);
    store.insert(tokens, &cache, &snapshot, likely).unwrap();
}

fn found(store: &mut PrefixStore, prompt: &[u32]) -> usize {
    store.find(prompt).map_or(0, |prefix| {
        check(&prefix, prompt);
        prefix.len()
    })
}

fn tokens(range: std::ops::Range<u32>) -> Vec<u32> {
    range.collect()
}

#[test]
fn at_least_one_token_is_left() {
    let mut store = store(u64::MAX);
    insert(&mut store, &tokens(0..100), true);
    for (prompt, expected) in [(99, 0), (100, 0), (101, 100), (102, 100)] {
        assert_eq!(found(&mut store, &tokens(0..prompt)), expected, "{prompt}");
    }
    assert_eq!(found(&mut store, &[]), 0);
    let mut other = tokens(0..200);
    other[99] = 7;
    assert_eq!(found(&mut store, &other), 0);
}

#[test]
fn beginnings_that_are_alike_are_stored_once() {
    let mut store = store(u64::MAX);
    insert(&mut store, &tokens(0..1000), true);
    let once = store.bytes();
    let chat = |last: u32| [tokens(0..1000), vec![last; 40]].concat();
    insert(&mut store, &chat(1), true);
    let more = store.bytes() - once;
    insert(&mut store, &chat(2), true);
    assert_eq!(store.bytes(), once + 2 * more);
    assert!(4 * more < once);
    insert(&mut store, &chat(1), true);
    assert_eq!((store.bytes(), store.snapshots()), (once + 2 * more, 3));
}

#[test]
fn snapshots_that_save_little_are_not_stored() {
    let mut store = store(u64::MAX);
    insert(&mut store, &tokens(0..100), true);
    let before = store.bytes();
    insert(&mut store, &tokens(0..100 + LEAST_GAIN as u32 - 1), true);
    insert(&mut store, &tokens(1..LEAST_GAIN as u32), true);
    assert_eq!((store.bytes(), store.snapshots()), (before, 1));
    insert(&mut store, &tokens(0..100 + LEAST_GAIN as u32), true);
    assert_eq!(store.snapshots(), 2);
}

#[test]
fn caches_that_do_not_hold_the_tokens_are_refused() {
    let mut store = store(u64::MAX);
    let (mut cache, snapshot) = row(&tokens(0..100));
    cache.kv[1].rewind(99);
    store.insert(&tokens(0..100), &cache, &snapshot, true).unwrap();
    let (mut cache, _) = row(&tokens(0..100));
    cache.head.as_mut().unwrap().rewind(98);
    store.insert(&tokens(0..100), &cache, &snapshot, true).unwrap();
    assert_eq!((store.bytes(), store.snapshots()), (0, 0));
}

/// Of a long prompt that was read once, the beginning and the end stay, and what lies between gets thinner.
#[test]
fn the_ends_of_prompts_outlive_their_insides() {
    let whole = tokens(0..640);
    // What is kept of the tokens stays as it was cut.
    let cost = |snapshots: u64| {
        let mut all = store(u64::MAX);
        (64..=640).step_by(64).for_each(|end| insert(&mut all, &whole[..end], true));
        let (_, snapshot) = row(&whole);
        all.bytes() - (10 - snapshots) * snapshot.bytes()
    };
    let mut store = store(cost(4));
    for end in (64..=640).step_by(64) {
        insert(&mut store, &whole[..end], end == 64 || end == 640);
    }
    let (mut kept, _) = store.inspect();
    kept.sort();
    let ends: Vec<usize> = kept.iter().map(Vec::len).collect();
    assert_eq!((ends.len(), ends[0], ends[3]), (4, 64, 640), "{ends:?}");
    assert!(ends.windows(2).all(|pair| pair[1] - pair[0] <= 320), "{ends:?}");
}

#[test]
fn what_was_used_last_stays() {
    let chat = |first: u32| vec![first; 200];
    let mut one = store(u64::MAX);
    insert(&mut one, &chat(0), true);
    let mut store = store(3 * one.bytes());
    for first in 0..3 {
        insert(&mut store, &chat(first), true);
        found(&mut store, &[9; 50]);
    }
    assert_eq!(found(&mut store, &[chat(0), vec![5]].concat()), 200);
    insert(&mut store, &chat(3), true);
    let (kept, _) = store.inspect();
    let firsts: BTreeSet<u32> = kept.iter().map(|tokens| tokens[0]).collect();
    assert_eq!(firsts, BTreeSet::from([0, 2, 3]));
}

/// A prompt for which there is no room keeps its beginning.
#[test]
fn a_prompt_that_is_too_long_leaves_its_beginning() {
    let whole = tokens(0..1000);
    let mut half = store(u64::MAX);
    insert(&mut half, &whole[..500], true);
    let mut store = store(half.bytes());
    for end in (50..=1000).step_by(50) {
        insert(&mut store, &whole[..end], end == 1000);
        assert!(store.bytes() <= store.budget());
    }
    assert!(found(&mut store, &whole) >= 200);
}

/// Chats that part from the forgotten one stand on what it has gone through; others do not, however they begin.
#[test]
fn what_is_forgotten_is_what_lies_along_the_tokens_and_what_stands_on_it() {
    let mut store = store(u64::MAX);
    let other = [tokens(0..100), vec![7; 100]].concat();
    // One begins like the last before the place at which that is cut, and has its tokens to itself.
    let apart = [tokens(0..90), vec![8; 60]].concat();
    for kept in [&apart[..], &tokens(0..100), &tokens(0..200), &other, &[9; 80], &[9; 40]] {
        insert(&mut store, kept, true);
    }
    let all = (store.snapshots(), store.bytes());
    store.forget(&tokens(0..99));
    assert_eq!((store.snapshots(), store.bytes()), all, "it has gone through nothing");

    store.forget(&tokens(0..150));
    for forgotten in [&tokens(0..201), &other] {
        assert!(found(&mut store, forgotten) == 0 && !store.holds(forgotten));
    }
    store.forget(&[9; 60]);
    let (mut kept, bytes) = store.inspect();
    kept.sort_by_key(Vec::len);
    assert_eq!((kept, bytes), (vec![vec![9; 80], apart.clone()], store.bytes()));
    assert_eq!(found(&mut store, &[&apart[..], &[1]].concat()), 150);
    store.forget(&[9; 80]);
    store.forget(&apart);
    assert_eq!((store.snapshots(), store.bytes()), (0, 0));
}

#[test]
fn what_has_no_room_displaces_nobody() {
    let mut one = store(u64::MAX);
    insert(&mut one, &tokens(0..300), true);
    let mut store = store(2 * one.bytes());
    insert(&mut store, &tokens(0..300), true);
    let before = store.bytes();
    insert(&mut store, &[7; 900], true);
    insert(&mut store, &tokens(0..900), true);
    assert_eq!((store.bytes(), found(&mut store, &tokens(0..900))), (before, 300));
}

#[derive(Debug, Clone)]
enum Action {
    Insert { chat: Vec<usize>, cut: usize, likely: bool },
    Find { chat: Vec<usize>, cut: usize },
    Forget { chat: Vec<usize>, cut: usize },
    Budget(u64),
}

/// A chat of messages that are drawn from a few, so that chats begin alike; some are cut anywhere.
fn text(chat: &[usize], cut: usize) -> Vec<u32> {
    let mut text: Vec<u32> =
        chat.iter().flat_map(|&which| (0..20 + 13 * which as u32).map(move |i| i + which as u32)).collect();
    text.truncate(text.len() - cut.min(text.len()));
    text
}

fn action() -> impl Strategy<Value = Action> {
    let chat = || (prop::collection::vec(0usize..4, 1..6), prop_oneof![2 => Just(0), 1 => 0usize..60]);
    prop_oneof![
        6 => (chat(), any::<bool>()).prop_map(|((chat, cut), likely)| Action::Insert { chat, cut, likely }),
        4 => chat().prop_map(|(chat, cut)| Action::Find { chat, cut }),
        1 => chat().prop_map(|(chat, cut)| Action::Forget { chat, cut }),
        1 => (0u64..90_000).prop_map(Action::Budget),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// Against a plain set of beginnings: the longest one is found, with what belongs to it, and the budget holds.
    #[test]
    fn it_is_a_set_of_beginnings_within_a_budget(actions in prop::collection::vec(action(), 1..40)) {
        let mut store = store(60_000);
        let mut known: BTreeSet<Vec<u32>> = BTreeSet::new();
        for action in actions {
            let longest = |known: &BTreeSet<Vec<u32>>, text: &[u32]| {
                known.iter().filter(|known| text.starts_with(known)).map(Vec::len).max().unwrap_or(0)
            };
            match action {
                Action::Insert { chat, cut, likely } => {
                    let text = text(&chat, cut);
                    if text.len() < 2 {
                        continue;
                    }
                    if text.len() >= longest(&known, &text) + LEAST_GAIN {
                        known.insert(text.clone());
                    }
                    insert(&mut store, &text, likely);
                }
                Action::Find { chat, cut } => {
                    let text = text(&chat, cut);
                    let expected = text.len().checked_sub(1).map_or(0, |end| longest(&known, &text[..end]));
                    prop_assert_eq!(found(&mut store, &text), expected);
                }
                Action::Forget { chat, cut } => {
                    let text = text(&chat, cut);
                    store.forget(&text);
                    prop_assert!(!store.holds(&text));
                    let (kept, _) = store.inspect();
                    let apart = |other: &&Vec<u32>| !text.starts_with(&other[..LEAST_GAIN.min(other.len())]);
                    prop_assert!(known.iter().filter(apart).all(|other| kept.contains(other)));
                }
                Action::Budget(bytes) => store.set_budget(bytes),
            }
            let (kept, bytes) = store.inspect();
            prop_assert_eq!(bytes, store.bytes());
            prop_assert!(bytes <= store.budget());
            let kept: BTreeSet<Vec<u32>> = kept.into_iter().collect();
            prop_assert!(kept.is_subset(&known), "nothing that was not put in");
            known = kept;
        }
        store.set_budget(0);
        prop_assert_eq!((store.bytes(), store.snapshots()), (0, 0));
    }
}

fn disk(folder: &std::path::Path) -> DiskTier {
    PrefixFiles::allow(folder).unwrap();
    DiskTier::new(
        PrefixFiles::open(folder, Quota { bytes: u64::MAX, share_of_free: 1.0 }).unwrap(),
        "a model",
    )
}

/// What the disk gives a store that knows nothing.
fn read_back(folder: &std::path::Path, prompt: &[u32]) -> usize {
    let mut memory = store(u64::MAX);
    let read = disk(folder).read(&mut memory, prompt, 0).unwrap();
    let len = read.map_or(0, |prefix| {
        check(&prefix, prompt);
        prefix.len()
    });
    assert_eq!(found(&mut memory, prompt), len, "what was read is in memory too");
    len
}

#[test]
fn what_is_kept_on_disk_comes_back_bit_for_bit_to_whoever_knows_nothing() {
    let folder = tempfile::TempDir::new().unwrap();
    let prompt = tokens(0..300);
    let mut memory = store(u64::MAX);
    [100, 200, 260].iter().for_each(|&end| insert(&mut memory, &prompt[..end], true));
    let mut tier = disk(folder.path());
    tier.keep(&prompt[..200], 1);
    assert!(tier.has_work());
    tier.finish(&memory).unwrap();
    assert!(!tier.has_work());
    drop(tier);
    assert_eq!(read_back(folder.path(), &prompt), 200);
    assert_eq!(read_back(folder.path(), &prompt[..200]), 0, "at the place before nothing was kept");
    // One that goes on has only the rest to write.
    let mut memory = store(u64::MAX);
    let mut tier = disk(folder.path());
    tier.read(&mut memory, &prompt, 0).unwrap();
    insert(&mut memory, &prompt[..280], true);
    tier.keep(&prompt[..280], 1);
    tier.finish(&memory).unwrap();
    let stretches = std::fs::read_dir(folder.path()).unwrap();
    let stretches =
        stretches.filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|end| end == "kv"));
    assert_eq!(stretches.count(), 3);
    assert_eq!(read_back(folder.path(), &prompt), 280);
}

#[test]
fn the_disk_is_read_only_where_it_saves_tokens() {
    let folder = tempfile::TempDir::new().unwrap();
    let prompt = tokens(0..300);
    let mut memory = store(u64::MAX);
    insert(&mut memory, &prompt[..200], true);
    let mut tier = disk(folder.path());
    tier.keep(&prompt[..200], 1);
    tier.finish(&memory).unwrap();
    for (known, is_read) in [(200, false), (200 - LEAST_GAIN + 1, false), (200 - LEAST_GAIN, true), (0, true)]
    {
        let read = tier.read(&mut store(u64::MAX), &prompt, known).unwrap();
        assert_eq!(read.is_some(), is_read, "{known}");
    }
    // A memory tier without room does not keep it, and the prompt goes on all the same.
    let mut none = store(0);
    assert_eq!(tier.read(&mut none, &prompt, 0).unwrap().map(|prefix| prefix.len()), Some(200));
    assert_eq!((none.bytes(), none.snapshots()), (0, 0));
    // What was evicted before its turn came is not written.
    tier.keep(&prompt[..100], 1);
    tier.finish(&memory).unwrap();
    let mut other =
        DiskTier::new(PrefixFiles::open(folder.path(), Quota::default()).unwrap(), "another model");
    assert!(other.read(&mut store(u64::MAX), &prompt, 0).unwrap().is_none());
}

#[test]
fn keys_and_values_in_eight_bits_come_back_from_disk() {
    let folder = tempfile::TempDir::new().unwrap();
    let prompt = tokens(0..101);
    let values: Vec<f32> = (0..2 * 100 * 64).map(|i| (i as f32).sin()).collect();
    let mut kv = RowKv::new(KvPrecision::Eight);
    kv.append(&Array::from_slice(&values, &[2, 1, 100, 64]).unwrap()).unwrap();
    let expected = kv.values(Dtype::Float32).unwrap().unwrap().to_vec::<f32>().unwrap();
    let mut memory = store(u64::MAX);
    // The MTP head's are kept as they are computed.
    let RowCache { head, draft, .. } = row(&prompt[..100]).0;
    let cache = RowCache { kv: vec![kv], head, draft, remote: None };
    let snapshot = snapshot(&prompt[..100]);
    memory.insert(&prompt[..100], &cache, &snapshot, true).unwrap();
    let mut tier = disk(folder.path());
    tier.keep(&prompt[..100], 1);
    tier.finish(&memory).unwrap();
    let read = tier.read(&mut store(u64::MAX), &prompt, 0).unwrap().unwrap();
    let restored = read.cache(101).unwrap();
    assert_eq!(restored.kv[0].precision(), KvPrecision::Eight);
    assert_eq!(restored.head.as_ref().map(RowKv::precision), Some(KvPrecision::Full));
    assert!(restored.draft.is_some());
    assert_eq!(restored.kv[0].values(Dtype::Float32).unwrap().unwrap().to_vec::<f32>().unwrap(), expected);
}

/// As on a full disk, or where a person wants nothing kept any more.
#[test]
fn a_place_that_cannot_be_written_is_given_up() {
    let folder = tempfile::TempDir::new().unwrap();
    let prompt = tokens(0..300);
    let mut memory = store(u64::MAX);
    insert(&mut memory, &prompt[..100], true);
    insert(&mut memory, &prompt[..200], true);
    let mut tier = disk(folder.path());
    PrefixFiles::forbid(folder.path()).unwrap();
    tier.keep(&prompt[..200], 1);
    tier.finish(&memory).unwrap();
    assert!(!tier.has_work());
    PrefixFiles::allow(folder.path()).unwrap();
    tier.keep(&prompt[..200], 1);
    tier.finish(&memory).unwrap();
    assert_eq!(read_back(folder.path(), &prompt), 200, "it is kept once that can be done");
}
