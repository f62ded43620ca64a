//! Between text and token ids: tokenizer, chat template, stop texts, the thinking split, calls of tools.
//!
//! A reply flows one way: [`StreamDecoder`] turns ids into text, [`StopMatcher`] ends it where a stop text appears,
//! [`ThinkingSplit`] tells thinking from answer, `CallParser` finds calls in the answer. [`ReplyText`] is all of them
//! in a row.

mod error;
mod json_file;
mod json_texts;
mod kept;
mod prompt;
mod reply;
mod stand_ins;
mod stop;
mod stop_ids;
mod stream;
mod template;
mod thinking;
mod tokenizer;

pub use error::TextError;
pub use kept::{ChatKey, KeptReplies};
pub use prompt::{MESSAGE_START, PLAIN_TEXT, Prompter, TokenPicture, TokenPrompt};
pub use reply::{ReplyEnd, ReplyText};
pub use stop::{StopMatcher, StopOutcome};
pub use stop_ids::stop_ids;
pub use stream::StreamDecoder;
pub use template::ChatTemplate;
pub(crate) use thinking::CLOSE as CLOSE_THINKING;
pub use thinking::{ReplyStart, Tags, ThinkingSplit};
pub use tokenizer::Tokenizer;

#[cfg(test)]
pub(crate) mod testing {
    use std::path::Path;
    use std::sync::LazyLock;

    use super::Tokenizer;

    /// The demo checkpoint that ships with the app.
    pub(crate) fn demo() -> &'static Path {
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../resources/demo-model/checkpoint"))
    }

    /// Its tokenizer.
    pub(crate) static TOKENIZER: LazyLock<Tokenizer> = LazyLock::new(|| Tokenizer::load(demo()).unwrap());

    /// The demo model's tokenizer with the tags of thinking blocks among the special tokens.
    pub(super) fn with_special_tags() -> Tokenizer {
        with_tags(demo(), true)
    }

    /// The tokenizer of a model; `special`: with all tags among the special tokens.
    pub(super) fn with_tags(model: &Path, special: bool) -> Tokenizer {
        let file = std::fs::read(model.join("tokenizer.json")).unwrap();
        let mut file: serde_json::Value = serde_json::from_slice(&file).unwrap();
        for token in file["added_tokens"].as_array_mut().unwrap() {
            let is_special = token["special"].as_bool().unwrap();
            token["special"] = (is_special || special).into();
        }
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("tokenizer.json"), file.to_string()).unwrap();
        Tokenizer::load(folder.path()).unwrap()
    }

    /// `text` cut at the given places, which are moved down to the next character boundary.
    pub(super) fn chunks(text: &str, cuts: &[usize]) -> Vec<String> {
        let mut places: Vec<usize> =
            cuts.iter().map(|&cut| text.floor_char_boundary(cut % (text.len() + 1))).collect();
        places.extend([0, text.len()]);
        places.sort_unstable();
        places.windows(2).map(|pair| text[pair[0]..pair[1]].to_owned()).collect()
    }
}
