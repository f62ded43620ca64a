//! Between text and token ids: tokenizer, chat template, stop sequences, the thinking split.
