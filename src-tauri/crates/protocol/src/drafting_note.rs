//! Why drafts were not used for a reply, or not all the time: a code with its operands for the page, which says it in
//! its own language, and a sentence in English for everyone else.

use std::fmt;

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};
use specta::Type;

/// Why drafts were not used, or not all the time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum DraftingNote {
    /// Whoever asked wanted none.
    SwitchedOff,
    /// Only a draft model was to draft, and none is loaded.
    NoDraftModel,
    /// The model has no MTP head.
    NoHead,
    /// Look-up found little.
    LittleInText,
    /// Look-up found much, but using it would have gained nothing.
    LookupNotPaying,
    /// The best number of drafts yields no more tokens per second than none.
    NotPaying {
        /// How many these are.
        drafts: u32,
        /// The time of a pass with them over that of one without.
        times_as_long: f64,
        /// The tokens of a pass with them over those of one without.
        times_as_many_tokens: f64,
    },
    /// There is room for those of other replies alone, which are right more often.
    OthersAreRightMoreOften,
    /// They would slow down replies that asked for none.
    OthersWouldBeSlower,
}

impl fmt::Display for DraftingNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SwitchedOff => "Drafts were switched off.",
            Self::NoDraftModel => "No draft model is loaded with this model.",
            Self::NoHead => "This model has no MTP head to draft with.",
            Self::LittleInText => "Little of the reply had been in the text before.",
            Self::LookupNotPaying => {
                "Much of the reply had been in the text before, but to draft it did not pay."
            }
            Self::NotPaying { drafts, times_as_long, times_as_many_tokens } => {
                return write!(
                    f,
                    "Drafts do not pay here: to draft and check {drafts} takes {times_as_long:.2} times as long as a \
                     pass without, and yields {times_as_many_tokens:.2} times the tokens."
                );
            }
            Self::OthersAreRightMoreOften => {
                "Drafts were held back: those of the replies beside this one are right more often."
            }
            Self::OthersWouldBeSlower => {
                "Drafts were held back: they would slow down the replies beside this one."
            }
        })
    }
}

/// Reads a note. What is kept of older versions may hold a sentence in its place, and of newer ones a kind that is not
/// known here: both are read as none.
pub(crate) fn known<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<DraftingNote>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Kept {
        Known(DraftingNote),
        Other(IgnoredAny),
    }
    Ok(match Kept::deserialize(deserializer)? {
        Kept::Known(note) => Some(note),
        Kept::Other(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, from_value, json, to_value};

    use super::*;
    use crate::{AutoSpeed, ReplyStats};

    const NOT_PAYING: DraftingNote =
        DraftingNote::NotPaying { drafts: 1, times_as_long: 2.096, times_as_many_tokens: 1.5 };

    #[test]
    fn a_note_is_read_as_it_was_written() {
        for note in [Some(NOT_PAYING), Some(DraftingNote::NoHead), None] {
            let stats = ReplyStats { drafting_note: note, seed: u64::MAX, ..Default::default() };
            let text = serde_json::to_string(&stats).unwrap();
            assert_eq!(serde_json::from_str::<ReplyStats>(&text).unwrap(), stats, "{text}");
        }
        let written =
            json!({"kind": "not_paying", "drafts": 1, "times_as_long": 2.096, "times_as_many_tokens": 1.5});
        assert_eq!(to_value(NOT_PAYING).unwrap(), written);
    }

    /// Chats and benchmarks are kept for years.
    #[test]
    fn the_sentence_of_an_older_version_is_none() {
        let spread = json!({"median": 2.0, "min": 1.0, "max": 3.0});
        let speed =
            |note: &Value| json!({"tokens_per_second": spread, "tokens_per_pass": spread, "note": note});
        for note in
            [json!("Drafts were switched off."), json!({"kind": "of_tomorrow", "drafts": 2}), json!(null)]
        {
            let stats: ReplyStats = from_value(json!({"drafting_note": note, "emitted": 7})).unwrap();
            assert_eq!(stats, ReplyStats { emitted: 7, ..Default::default() }, "{note}");
            assert_eq!(from_value::<AutoSpeed>(speed(&note)).unwrap().note, None, "{note}");
        }
        let mut without = speed(&json!(null));
        without.as_object_mut().unwrap().remove("note");
        assert_eq!(from_value::<AutoSpeed>(without).unwrap().note, None);
    }

    #[test]
    fn a_note_is_a_sentence_with_its_figures() {
        let said = "Drafts do not pay here: to draft and check 1 takes 2.10 times as long as a pass without, and \
                    yields 1.50 times the tokens.";
        assert_eq!(NOT_PAYING.to_string(), said);
    }
}
