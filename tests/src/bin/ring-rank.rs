//! One rank of a ring, as a test wants it: reads its plan as JSON from standard input, and its place in the ring from
//! the environment; says at its end what it has done.

use std::error::Error;
use std::io;
use std::ops::ControlFlow;
use std::rc::Rc;

use foretoken_engine::link::Link;
use foretoken_engine::mlx::{self, Ring};
use foretoken_engine::model::Stack;
use foretoken_engine::worker::{Stage, serve};
use foretoken_tests::rings::{RankPlan, RankReport, first_layers, layout};

fn main() -> Result<(), Box<dyn Error>> {
    mlx::environment::prepare(None);
    let RankPlan { model, layers, kv_precision, epoch, draft_model, memory, scene, known } =
        serde_json::from_reader(io::stdin())?;
    let ring = Ring::join()?;
    let report = if ring.rank() == 0 {
        let draft = draft_model.as_ref().map(|(folder, _)| folder.as_path());
        let mut first = first_layers(&model, layers.end, kv_precision, draft);
        let link = Rc::new(Link::new(ring, epoch));
        (first.rest, first.stack.layers_per_piece) = (Some(Rc::clone(&link)), None);
        let played = scene.play(&first, &known);
        link.stop()?;
        RankReport { played, ..RankReport::of(link.sent(), 0) }
    } else {
        let (config, layout) = layout(&model, kv_precision);
        let stack = Stack::load(&config, &layout, layers, &mut |_, _| ControlFlow::Continue(()))?;
        let taps = draft_model.map(|(_, taps)| taps).unwrap_or_default();
        let mut stage = Stage::new(stack, kv_precision, taps, memory);
        serve(&ring, &mut stage, epoch)?;
        RankReport::of(ring.sent(), stage.rows())
    };
    println!("{}", serde_json::to_string(&report)?);
    // What was sent last is on its way.
    mlx::synchronize()?;
    Ok(())
}
