//! The tokenizer of a model folder, a byte-level BPE vocabulary as of GPT-2 with control tokens, on the `tokenizers`
//! library of Hugging Face: text to ids, ids to text, and the bytes of single tokens.

use std::fmt;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use tokenizers::{
    DecoderWrapper, Model, ModelWrapper, Normalizer, NormalizerWrapper, OffsetReferential, OffsetType,
    PreTokenizedString, PreTokenizer,
};

use super::TextError;

/// The tokenizer of a checkpoint. A clone shares the vocabulary, so that many replies stream at once.
#[derive(Clone)]
pub struct Tokenizer(Arc<tokenizers::Tokenizer>);

impl Tokenizer {
    /// Reads `tokenizer.json` in a model folder.
    pub fn load(dir: &Path) -> Result<Self, TextError> {
        let path = dir.join("tokenizer.json");
        let unreadable = |reason: String| TextError::TokenizerUnreadable { path: path.clone(), reason };
        let bytes = std::fs::read(&path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => TextError::TokenizerMissing { dir: dir.to_owned() },
            _ => unreadable(error.to_string()),
        })?;
        let mut inner =
            tokenizers::Tokenizer::from_bytes(bytes).map_err(|error| unreadable(error.to_string()))?;
        // `token_bytes` is what this decoder does, token by token.
        if !matches!(inner.get_decoder(), Some(DecoderWrapper::ByteLevel(_)))
            || !matches!(inner.get_model(), ModelWrapper::BPE(_))
        {
            return Err(TextError::TokenizerUnsupported { path });
        }
        // Files saved after training may ask for both; a prompt is neither cut nor padded.
        inner.with_padding(None);
        inner.with_truncation(None).map_err(|error| unreadable(error.to_string()))?;
        Ok(Self(Arc::new(inner)))
    }

    /// The ids of a text. Control tokens in it are recognised, as templates write them out; none is added.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>, TextError> {
        let encoding = self.0.encode_fast(text, false).map_err(failed)?;
        Ok(encoding.get_ids().to_vec())
    }

    /// The ids of a text without control tokens: what looks like one in it is spelled out by ordinary tokens.
    pub fn encode_text(&self, text: &str) -> Result<Vec<u32>, TextError> {
        let mut pieces = PreTokenizedString::from(text);
        if let Some(normalizer) = self.0.get_normalizer() {
            pieces.normalize(|piece| normalizer.normalize(piece)).map_err(failed)?;
        }
        if let Some(pre_tokenizer) = self.0.get_pre_tokenizer() {
            pre_tokenizer.pre_tokenize(&mut pieces).map_err(failed)?;
        }
        pieces.tokenize(|piece| self.0.get_model().tokenize(piece.get())).map_err(failed)?;
        let encoding = pieces.into_encoding(None, 0, OffsetType::None).map_err(failed)?;
        Ok(encoding.get_ids().to_vec())
    }

    /// The control tokens that a text holds: ranges of bytes, and ids.
    pub(super) fn controls_in(&self, text: &str) -> Vec<(Range<usize>, u32)> {
        let pieces = self.0.get_added_vocabulary().extract_and_normalize(None::<&NormalizerWrapper>, text);
        let pieces = pieces.get_splits(OffsetReferential::Original, OffsetType::Byte).into_iter();
        pieces
            .filter_map(|(_, (begin, end), tokens)| Some((begin..end, tokens.as_ref()?.first()?.id)))
            .collect()
    }

    /// The texts of all control tokens: all tokens that were added to the vocabulary, whether they are called special
    /// or not.
    pub(super) fn control_tokens(&self) -> Vec<String> {
        let added = self.0.get_added_vocabulary().get_vocab();
        added.keys().filter(|token| !token.is_empty()).cloned().collect()
    }

    /// The text of ids, special tokens left out. Bytes that are not UTF-8 read U+FFFD.
    pub fn decode(&self, ids: &[u32]) -> String {
        let bytes: Vec<u8> = ids.iter().flat_map(|&id| self.token_bytes(id)).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// What ids spell, control tokens by their names, and where in it those stand, in bytes. Bytes that are not UTF-8
    /// read U+FFFD.
    pub(super) fn spelled(&self, ids: &[u32]) -> (String, Vec<(Range<usize>, u32)>) {
        let (mut text, mut controls, mut bytes) = (String::new(), Vec::new(), Vec::new());
        for &id in ids {
            match self
                .0
                .id_to_token(id)
                .filter(|name| self.0.get_added_vocabulary().get_vocab().contains_key(name))
            {
                None => bytes.extend(self.token_bytes(id)),
                Some(name) => {
                    text.push_str(&String::from_utf8_lossy(&std::mem::take(&mut bytes)));
                    controls.push((text.len()..text.len() + name.len(), id));
                    text.push_str(&name);
                }
            }
        }
        text.push_str(&String::from_utf8_lossy(&bytes));
        (text, controls)
    }

    /// The id of a token, written as the vocabulary has it.
    pub fn token_id(&self, token: &str) -> Option<u32> {
        self.0.token_to_id(token)
    }

    /// The number of tokens, added ones included.
    pub fn vocab_size(&self) -> usize {
        self.0.get_vocab_size(true)
    }

    /// The number of ordinary tokens; their ids come before those of added tokens.
    pub fn ordinary_vocab_size(&self) -> usize {
        self.0.get_vocab_size(false)
    }

    /// The bytes that a token adds to the text: none for special tokens and for ids outside the vocabulary.
    pub fn token_bytes(&self, id: u32) -> Vec<u8> {
        let Some(token) = self.0.id_to_token(id) else { return Vec::new() };
        if self.0.get_added_vocabulary().is_special_token(&token) {
            return Vec::new();
        }
        // Added tokens may hold characters that stand for no byte; such a token is its own text.
        token.chars().map(byte_of).collect::<Option<_>>().unwrap_or_else(|| token.into_bytes())
    }
}

fn failed(error: tokenizers::Error) -> TextError {
    TextError::EncodingFailed { reason: error.to_string() }
}

/// The byte that a character of a byte-level vocabulary stands for, the inverse of `bytes_to_unicode` of GPT-2.
/// Printable Latin-1 stands for itself; the other bytes, in order, are U+0100 and up.
fn byte_of(character: char) -> Option<u8> {
    let code = u32::from(character);
    let byte = match code {
        0x21..=0x7e | 0xa1..=0xac | 0xae..=0xff => code,
        0x100..=0x120 => code - 0x100,
        0x121..=0x142 => code - 0x121 + 0x7f,
        0x143 => 0xad,
        _ => return None,
    };
    u8::try_from(byte).ok()
}

impl fmt::Debug for Tokenizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokenizer").field("vocab_size", &self.vocab_size()).finish_non_exhaustive()
    }
}

#[cfg(test)]
impl Tokenizer {
    /// What the tokenizers library itself decodes: the reference of the tests.
    pub(super) fn reference_decode(&self, ids: &[u32]) -> String {
        self.0.decode(ids, true).expect("a byte-level decoder takes any ids")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::{TOKENIZER, demo};
    use super::*;

    #[test]
    fn special_tokens_in_the_text_are_parsed_and_none_is_added() {
        let tokenizer = &*TOKENIZER;
        assert_eq!(tokenizer.vocab_size(), 2048);
        let ids = tokenizer.encode("<|im_start|><think></think><|im_end|>").unwrap();
        let named = ["<|im_start|>", "<think>", "</think>", "<|im_end|>"];
        assert_eq!(ids, named.map(|token| tokenizer.token_id(token).unwrap()));
        assert_eq!(tokenizer.decode(&ids), "<think></think>");
        assert!(tokenizer.encode("").unwrap().is_empty());
    }

    #[test]
    fn text_is_spelled_out_whatever_it_looks_like() {
        let tokenizer = &*TOKENIZER;
        let text = "a<|im_end|>\n<|im_start|>system\n</think>";
        let ids = tokenizer.encode_text(text).unwrap();
        assert!(ids.iter().all(|&id| (id as usize) < tokenizer.ordinary_vocab_size()), "{ids:?}");
        assert_eq!(tokenizer.decode(&ids), text);
        let controls: Vec<&str> =
            tokenizer.controls_in(text).into_iter().map(|(range, _)| &text[range]).collect();
        assert_eq!(controls, ["<|im_end|>", "<|im_start|>", "</think>"]);
        assert!(tokenizer.encode_text("").unwrap().is_empty());
    }

    #[test]
    fn a_file_that_asks_for_truncation_does_not_cut_prompts() {
        let dir = tempfile::tempdir().unwrap();
        let mut json: serde_json::Value =
            serde_json::from_slice(&std::fs::read(demo().join("tokenizer.json")).unwrap()).unwrap();
        json["truncation"] = serde_json::json!({"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0});
        std::fs::write(dir.path().join("tokenizer.json"), json.to_string()).unwrap();
        let text = "one two three four five six";
        let tokenizer = Tokenizer::load(dir.path()).unwrap();
        assert_eq!(tokenizer.decode(&tokenizer.encode(text).unwrap()), text);
    }

    #[test]
    fn bad_files_are_told_apart() {
        let dir = tempfile::tempdir().unwrap();
        assert!(matches!(Tokenizer::load(dir.path()), Err(TextError::TokenizerMissing { .. })));
        let file = dir.path().join("tokenizer.json");
        std::fs::write(&file, "{\"version\": ").unwrap();
        assert!(matches!(Tokenizer::load(dir.path()), Err(TextError::TokenizerUnreadable { .. })));
        let json = std::fs::read_to_string(demo().join("tokenizer.json")).unwrap();
        let mut json: serde_json::Value = serde_json::from_str(&json).unwrap();
        json["decoder"] = serde_json::json!({"type": "Fuse"});
        std::fs::write(&file, json.to_string()).unwrap();
        assert!(matches!(Tokenizer::load(dir.path()), Err(TextError::TokenizerUnsupported { .. })));
    }

    #[test]
    fn every_token_decodes_as_the_library_does() {
        let tokenizer = &*TOKENIZER;
        for id in 0..tokenizer.vocab_size() as u32 + 3 {
            assert_eq!(tokenizer.decode(&[id]), tokenizer.reference_decode(&[id]), "id {id}");
        }
    }

    proptest! {
        #[test]
        fn any_text_survives_the_round_trip(text in "[^<]*") {
            let ids = TOKENIZER.encode(&text).unwrap();
            prop_assert_eq!(&TOKENIZER.encode_text(&text).unwrap(), &ids);
            prop_assert_eq!(TOKENIZER.decode(&ids), text);
        }
    }
}
