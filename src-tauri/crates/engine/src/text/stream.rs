//! Decodes token ids to text as they come: bytes of a character that is not complete are held back.

use std::str;

use super::Tokenizer;

/// Decodes one reply token by token. The pieces together are what decoding all ids at once gives.
#[derive(Debug)]
pub struct StreamDecoder {
    tokenizer: Tokenizer,
    /// The first bytes of a character whose last ones have not come yet: at most three between pushes.
    incomplete: Vec<u8>,
}

impl StreamDecoder {
    /// A decoder at the start of a reply.
    pub fn new(tokenizer: Tokenizer) -> Self {
        Self { tokenizer, incomplete: Vec::new() }
    }

    /// The text that this token completes; empty while a character is incomplete.
    pub fn push(&mut self, id: u32) -> String {
        self.incomplete.extend(self.tokenizer.token_bytes(id));
        let end = complete_len(&self.incomplete);
        let text = String::from_utf8_lossy(&self.incomplete[..end]).into_owned();
        self.incomplete.drain(..end);
        text
    }

    /// The rest: U+FFFD if the reply ends inside a character.
    pub fn finish(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.incomplete)).into_owned()
    }
}

/// The number of leading bytes whose reading as UTF-8 no later byte can change.
fn complete_len(bytes: &[u8]) -> usize {
    let mut end = 0;
    while let Err(error) = str::from_utf8(&bytes[end..]) {
        end += error.valid_up_to();
        match error.error_len() {
            Some(wrong) => end += wrong,
            None => return end,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::TOKENIZER;
    use super::*;

    fn stream(ids: &[u32]) -> String {
        let mut decoder = StreamDecoder::new(TOKENIZER.clone());
        let mut text: String = ids.iter().map(|&id| decoder.push(id)).collect();
        text.push_str(&decoder.finish());
        text
    }

    #[test]
    fn a_character_appears_with_its_last_byte() {
        let ids = TOKENIZER.encode("🦀").unwrap();
        assert!(ids.len() > 1, "the demo vocabulary has no crab");
        let mut decoder = StreamDecoder::new(TOKENIZER.clone());
        let pieces: Vec<_> = ids.iter().map(|&id| decoder.push(id)).collect();
        assert!(pieces[..pieces.len() - 1].iter().all(String::is_empty));
        assert_eq!(pieces.last().unwrap(), "🦀");
        assert_eq!(decoder.finish(), "");
    }

    #[test]
    fn wrong_bytes_appear_at_once_and_an_open_character_at_the_end() {
        let byte = |byte: char| TOKENIZER.token_id(&byte.to_string()).unwrap();
        // 0x80 continues nothing; 0xF0 0x9F begins an emoji. The vocabulary writes them Ģ, ð and Ł.
        let mut decoder = StreamDecoder::new(TOKENIZER.clone());
        assert_eq!(decoder.push(byte('Ģ')), "\u{fffd}");
        assert_eq!(decoder.push(byte('ð')), "");
        assert_eq!(decoder.push(byte('Ł')), "");
        assert_eq!(decoder.push(byte('a')), "\u{fffd}a");
        assert_eq!(decoder.push(byte('ð')), "");
        assert_eq!(decoder.finish(), "\u{fffd}");
    }

    #[test]
    fn nothing_piles_up() {
        let mut decoder = StreamDecoder::new(TOKENIZER.clone());
        for id in (0..TOKENIZER.vocab_size() as u32).cycle().take(20_000) {
            decoder.push(id);
            assert!(decoder.incomplete.len() <= 3);
        }
    }

    /// Tokens of single bytes, of text, special ones, and ids that mean nothing.
    fn ids() -> impl Strategy<Value = Vec<u32>> {
        let vocab = TOKENIZER.vocab_size() as u32;
        let text = prop_oneof!["\\PC{0,6}", "[🦀👩‍👩‍👧é漢字かな\n]{0,6}", "[a-z ]{0,12}"]
            .prop_map(|text| TOKENIZER.encode(&text).unwrap());
        // Ids below 256 are single bytes.
        let fragments = prop::collection::vec(0u32..256, 0..6);
        let special = prop::collection::vec(vocab - 5..vocab + 3, 0..3);
        let any = prop::collection::vec(0..vocab, 0..8);
        prop::collection::vec(prop_oneof![text, fragments, special, any], 0..12)
            .prop_map(|runs| runs.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]
        #[test]
        fn streamed_text_is_the_one_shot_decode(ids in ids()) {
            let whole = TOKENIZER.reference_decode(&ids);
            prop_assert_eq!(&TOKENIZER.decode(&ids), &whole);
            prop_assert_eq!(&stream(&ids), &whole);
        }
    }
}
