//! Which part of a text serves what, decided by document: no part knows anything of another.

use serde::{Deserialize, Serialize};

use super::{CalibrationError, Document, Source, Texts, digest};

/// Tokens of a sequence at most.
pub const LONGEST_SEQUENCE: usize = 512;

/// A part must have tokens of its own, so there must be as many documents as parts.
const PARTS: usize = 3;

/// Tokens in a hundred that the parts are to have, in the order of [`Split`].
const SHARES: [i128; PARTS] = [70, 10, 20];

/// A document with more than this times the perplexity of the median one is odd.
const ODD: f64 = 4.0;

/// A text in three parts, each a list of sequences of 2 to [`LONGEST_SEQUENCE`] tokens.
///
/// The sequences of a document follow each other in one part; documents stand in the order of their hashes, so that
/// the first sequences of a part are a sample of it, whatever order the text has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// What is chosen by: 70 % of the tokens.
    pub calibrate: Vec<Vec<u32>>,
    /// What decides whether a stage stays: 10 %.
    pub tune: Vec<Vec<u32>>,
    /// What the report is about: 20 %.
    pub report: Vec<Vec<u32>>,
    /// Different documents in all parts together.
    pub documents: usize,
}

impl Split {
    /// Divides documents by their tokens alone, so that the same ones are always divided the same. One that comes twice
    /// counts once, and one of a single token, which predicts nothing, not at all.
    pub fn of(documents: &[Document]) -> Result<Self, CalibrationError> {
        let long_enough = documents.iter().map(|document| &document.ids[..]).filter(|ids| ids.len() > 1);
        let mut documents: Vec<([u8; 32], &[u32])> =
            long_enough.map(|ids| (digest::of_tokens(ids), ids)).collect();
        documents.sort_unstable();
        documents.dedup();
        let count = documents.len();
        if count < PARTS {
            return Err(CalibrationError::TooFewDocuments { documents: count, needed: PARTS });
        }
        let all: i128 = documents.iter().map(|(_, ids)| ids.len() as i128).sum();
        let (mut parts, mut tokens) = ([const { Vec::new() }; PARTS], [0_i128; PARTS]);
        for (i, (_, ids)) in documents.into_iter().enumerate() {
            let is_scarce = count - i <= tokens.iter().filter(|&&tokens| tokens == 0).count();
            let lacking = |part: &usize| SHARES[*part] * all - 100 * tokens[*part];
            let part = (0..PARTS).filter(|&part| !is_scarce || tokens[part] == 0).max_by_key(lacking);
            if let Some(part) = part {
                tokens[part] += ids.len() as i128;
                parts[part].extend(sequences(ids));
            }
        }
        let [calibrate, tune, report] = parts;
        Ok(Self { calibrate, tune, report, documents: count })
    }
}

/// Tokens in as few sequences as they need, all about equally long: a short rest would know little of what it is about.
pub fn sequences(ids: &[u32]) -> impl Iterator<Item = Vec<u32>> {
    let count = ids.len().div_ceil(LONGEST_SEQUENCE);
    (0..count).map(move |i| ids[i * ids.len() / count..(i + 1) * ids.len() / count].to_vec())
}

/// What is kept of a text beside the model that was made with it. It holds nothing of the text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Where it came from.
    pub source: Source,
    /// See [`Texts::sha256`].
    pub sha256: String,
    /// Different documents.
    pub documents: usize,
    /// Documents that were left out because the model found them odd.
    pub odd: usize,
    /// Tokens of each part.
    pub tokens: PartTokens,
}

/// Tokens of each part of a [`Split`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartTokens {
    /// See [`Split::calibrate`].
    pub calibrate: usize,
    /// See [`Split::tune`].
    pub tune: usize,
    /// See [`Split::report`].
    pub report: usize,
}

impl Record {
    /// Of a text of which `odd` documents were left out, and the rest divided.
    pub fn of(texts: &Texts, odd: usize, split: &Split) -> Self {
        let tokens = |part: &[Vec<u32>]| part.iter().map(Vec::len).sum();
        Self {
            source: texts.source,
            sha256: texts.sha256.clone(),
            documents: split.documents,
            odd,
            tokens: PartTokens {
                calibrate: tokens(&split.calibrate),
                tune: tokens(&split.tune),
                report: tokens(&split.report),
            },
        }
    }
}

/// Which documents the unchanged model finds odd, from its perplexity on each: one over four times that of the median
/// document is odd, and so is one that is no number.
pub fn odd(perplexities: &[f64]) -> Vec<usize> {
    let mut known: Vec<f64> =
        perplexities.iter().copied().filter(|perplexity| !perplexity.is_nan()).collect();
    known.sort_unstable_by(f64::total_cmp);
    let most = known.get(known.len().saturating_sub(1) / 2).map_or(0.0, |median| ODD * median);
    let all = perplexities.iter().enumerate();
    all.filter(|(_, perplexity)| !perplexity.is_finite() || **perplexity > most)
        .map(|(index, _)| index)
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn document(ids: impl Into<Vec<u32>>) -> Document {
        Document { ids: ids.into(), place: 1 }
    }

    fn parts(split: &Split) -> [&Vec<Vec<u32>>; 3] {
        [&split.calibrate, &split.tune, &split.report]
    }

    /// Documents of different lengths, of which each token says which document it is of.
    fn documents() -> impl Strategy<Value = Vec<Document>> {
        prop::collection::vec(2_usize..1600, 3..60).prop_map(|lengths| {
            let numbered = (0..).zip(lengths);
            numbered.map(|(number, length)| document(vec![number; length])).collect()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn every_token_is_in_one_sequence_and_no_document_in_two_parts(documents in documents()) {
            let split = Split::of(&documents).unwrap();
            let mut found = vec![0; documents.len()];
            let mut owners = BTreeSet::new();
            for part in parts(&split) {
                prop_assert!(!part.is_empty());
                let mut own = BTreeSet::new();
                for sequence in part {
                    prop_assert!((2..=LONGEST_SEQUENCE).contains(&sequence.len()));
                    prop_assert!(sequence.iter().all(|&id| id == sequence[0]), "two documents in a sequence");
                    found[sequence[0] as usize] += sequence.len();
                    own.insert(sequence[0]);
                }
                for owner in own {
                    prop_assert!(owners.insert(owner), "document {owner} is in two parts");
                }
            }
            let lengths: Vec<usize> = documents.iter().map(|document| document.ids.len()).collect();
            prop_assert_eq!(found, lengths);
        }

        #[test]
        fn neither_order_nor_repetition_matters(
            (documents, mixed) in documents().prop_flat_map(|all| (Just(all.clone()), Just(all).prop_shuffle())),
            twice in any::<prop::sample::Index>(),
        ) {
            let split = Split::of(&documents).unwrap();
            let mut mixed = mixed;
            mixed.push(twice.get(&documents).clone());
            mixed.push(document([7]));
            prop_assert_eq!(&Split::of(&mixed).unwrap(), &split);
            prop_assert_eq!(split.documents, documents.len());
        }

        #[test]
        fn shares_are_met_to_a_document(documents in documents()) {
            let split = Split::of(&documents).unwrap();
            let longest = documents.iter().map(|document| document.ids.len()).max().unwrap() as f64;
            let all: usize = documents.iter().map(|document| document.ids.len()).sum();
            for (part, share) in parts(&split).into_iter().zip([0.7, 0.1, 0.2]) {
                let tokens = part.iter().map(Vec::len).sum::<usize>() as f64;
                let off = (tokens - share * all as f64).abs();
                prop_assert!(off <= 2.0 * longest, "{tokens} of {all} for {share}");
            }
        }
    }

    #[test]
    fn a_document_is_cut_into_about_equal_sequences() {
        let lengths = |tokens: usize| sequences(&vec![0; tokens]).map(|part| part.len()).collect::<Vec<_>>();
        assert_eq!(lengths(512), [512]);
        assert_eq!(lengths(513), [256, 257]);
        assert_eq!(lengths(1100), [366, 367, 367]);
    }

    #[test]
    fn fewer_different_documents_than_parts_are_refused() {
        let documents = [document([1, 2]), document([1, 2]), document([3]), document([4, 5])];
        let error = Split::of(&documents).unwrap_err();
        assert!(matches!(error, CalibrationError::TooFewDocuments { documents: 2, needed: 3 }), "{error}");
        let three = [document([1, 2]), document([3, 4]), document([5; 900])];
        assert!(parts(&Split::of(&three).unwrap()).iter().all(|part| !part.is_empty()));
    }

    #[test]
    fn documents_far_from_the_median_are_odd() {
        // The median of the seven numbers is 12.
        assert_eq!(odd(&[10.0, 8.0, 40.0, 48.1, 12.0, f64::NAN, f64::INFINITY, 3.0]), [3, 5, 6]);
        assert!(odd(&[2.0, 2.5, 8.1]).is_empty());
        assert_eq!(odd(&[2.0, 2.5, 8.1, 1.0, 1.5]), [2], "the median is 2");
        assert!(odd(&[]).is_empty());
    }

    #[test]
    fn a_record_says_what_was_read_and_nothing_of_it() {
        let documents: Vec<Document> = (0..30).map(|i| document(vec![i; 100])).collect();
        let split = Split::of(&documents).unwrap();
        let texts = Texts { source: Source::File, sha256: "ab".repeat(32), documents };
        let record = Record::of(&texts, 2, &split);
        let json = serde_json::to_string(&record).unwrap();
        assert_eq!(
            json,
            format!(
                "{{\"source\":{{\"kind\":\"file\"}},\"sha256\":\"{}\",\"documents\":30,\"odd\":2,\
                 \"tokens\":{{\"calibrate\":2100,\"tune\":300,\"report\":600}}}}",
                texts.sha256
            )
        );
        assert_eq!(serde_json::from_str::<Record>(&json).unwrap(), record);
    }
}
