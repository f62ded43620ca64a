//! How many kernels a pass hands to a GPU, counted from the graph that Metal would get. The networks have the layers of
//! the large models at a small width, since neither widths nor heads change a graph.

use foretoken_engine::decode::Batch;
use foretoken_engine::model::FeedForward;
use foretoken_tests::runs::{greedy, read};

use crate::networks::{mixture, with_layers};

/// Dispatches of a step with no draft, one and three, of one row.
fn of_steps(layers: usize, mlp: Option<&FeedForward>, by_kernels: bool) -> [usize; 3] {
    let model = with_layers(layers, mlp);
    let on_metal = if by_kernels { model.for_metal().unwrap() } else { model.clone() };
    let spec = greedy(&(100..120).collect::<Vec<u32>>(), 40);
    [0, 1, 3].map(|depth| {
        let mut batch = Batch::default();
        batch.join(read(&model, 0, &spec)).unwrap();
        batch.step(&model, &[depth]).unwrap();
        let dispatches = batch.into_dispatches(&on_metal, &[depth]).unwrap();
        dispatches.values().sum()
    })
}

#[test]
fn a_pass_hands_a_gpu_no_more_kernels_than_these() {
    let experts = mixture(192);
    for (name, layers, mlp, plain_limit) in [("27B", 64, None, 700), ("35B-A3B", 40, Some(&experts), 750)] {
        let before = of_steps(layers, mlp, false);
        let [plain, one, three] = of_steps(layers, mlp, true);
        println!("{name}: {plain}, {one}, {three} with 0, 1 and 3 drafts; by operations {before:?}");
        assert!(plain <= plain_limit, "{name}: {plain} for a plain token");
        assert!(three <= plain_limit + 3 * 25, "{name}: {three} for verifying three drafts");
        assert!(2 * plain < before[0], "{name}: {plain} of {before:?}");
    }
}
