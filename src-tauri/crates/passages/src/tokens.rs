//! How many tokens a text will be.

/// Tokens that a text will be, roughly: four letters of a European language each, or two thirds of a Chinese character.
pub fn likely_tokens(text: &str) -> usize {
    let (mut plain, mut others) = (0, 0);
    for character in text.chars() {
        if character.is_ascii() {
            plain += 1;
        } else {
            others += 1;
        }
    }
    plain / 4 + others * 2 / 3
}
