//! The model's vocabulary as llguidance wants it: the bytes of each token as a trie, and a way to spell bytes by
//! tokens.

use foretoken_calls::CALL_TAGS;
use llguidance::toktrie::{TokRxInfo, TokTrie, TokenId, TokenizerEnv};

use crate::text::Tokenizer;

/// The vocabulary of a model. Control tokens are no text, but for those that calls of tools are written with.
pub(super) struct Vocabulary {
    tokenizer: Tokenizer,
    trie: TokTrie,
}

impl Vocabulary {
    /// `end`: a token that ends replies.
    pub(super) fn new(tokenizer: Tokenizer, end: u32) -> Self {
        let ordinary = tokenizer.ordinary_vocab_size() as u32;
        let tags: Vec<u32> = CALL_TAGS.iter().filter_map(|tag| tokenizer.token_id(tag)).collect();
        let words: Vec<Vec<u8>> = (0..tokenizer.vocab_size() as u32)
            .map(|id| {
                let bytes = tokenizer.token_bytes(id);
                if (id < ordinary || tags.contains(&id)) && !bytes.is_empty() {
                    return bytes;
                }
                let mut name = vec![TokTrie::SPECIAL_TOKEN_MARKER];
                name.extend(format!("<[{id}]>").bytes());
                name
            })
            .collect();
        let trie = TokTrie::from(&TokRxInfo::new(words.len() as u32, end), &words);
        Self { tokenizer, trie }
    }

    /// The ids of a text, if they spell just this: a normalizer may change it, and control tokens are no text.
    fn spelled(&self, text: &str) -> Option<Vec<TokenId>> {
        let spells = |ids: &Vec<TokenId>| ids.iter().flat_map(|&id| self.trie.token(id)).eq(text.as_bytes());
        let with_tags = self.tokenizer.encode(text).ok().filter(spells);
        with_tags.or_else(|| self.tokenizer.encode_text(text).ok().filter(spells))
    }
}

impl TokenizerEnv for Vocabulary {
    fn tok_trie(&self) -> &TokTrie {
        &self.trie
    }

    fn tokenize_bytes(&self, bytes: &[u8]) -> Vec<TokenId> {
        self.trie.tokenize_with_greedy_fallback(bytes, |text| {
            self.spelled(text).unwrap_or_else(|| self.trie.greedy_tokenize(text.as_bytes()))
        })
    }
}
