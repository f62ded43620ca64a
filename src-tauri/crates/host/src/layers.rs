//! Where the layers of a model lie that several Macs compute.

/// How the layers of a model lie on several Macs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layers {
    /// How many this Mac has, which are the first.
    pub own: u32,
    /// The other Macs by their keys, and how many each of them has, in order.
    pub others: Vec<(String, u32)>,
}
