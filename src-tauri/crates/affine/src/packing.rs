//! Packs the codes of quantized weights into 32-bit words as MLX lays them out, for every width from 1 to 8 bits: one
//! stream of bits, the first code lowest.

/// Bits of a word.
const WORD: usize = 32;

/// The words that hold these codes of `bits` bits each, which must fill them: groups of 32 codes always do.
pub fn pack(codes: impl IntoIterator<Item = u8>, bits: usize) -> impl Iterator<Item = u32> {
    let (mut held, mut count) = (0_u64, 0);
    codes.into_iter().filter_map(move |code| {
        held |= u64::from(code) << count;
        count += bits;
        let is_full = count >= WORD;
        is_full.then(|| {
            let word = held as u32;
            held >>= WORD;
            count -= WORD;
            word
        })
    })
}
