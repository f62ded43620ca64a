//! One rank of a ring, as a test wants it: reads its plan as a line of JSON from standard input, and its place in the
//! ring from the environment; says at its end what it has done. It ends when standard input does: whoever started it
//! has gone, or ends the ring.

use std::error::Error;
use std::io;
use std::ops::ControlFlow;
use std::process::exit;
use std::rc::Rc;
use std::thread;

use foretoken_engine::link::{Deadline, Link};
use foretoken_engine::mlx::{self, Ring};
use foretoken_engine::model::Stack;
use foretoken_engine::worker::{Served, Stage, serve};
use foretoken_tests::rings::{RankPlan, RankReport, first_layers, layout};

fn main() -> Result<(), Box<dyn Error>> {
    mlx::environment::prepare(None);
    let mut plan = String::new();
    io::stdin().read_line(&mut plan)?;
    let RankPlan { model, layers, kv_precision, epoch, draft_model, faults, patience, scene, known } =
        serde_json::from_str(&plan)?;
    thread::spawn(|| {
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        eprintln!("the ring is ended");
        exit(4)
    });
    let ring = Ring::join()?;
    // The others hear of it when this process ends.
    let deadline = Deadline::new(patience, || {
        eprintln!("the ring stands still");
        exit(3)
    });
    let report = if ring.rank() == 0 {
        let draft = draft_model.as_ref().map(|(folder, _)| folder.as_path());
        let mut first = first_layers(&model, layers.end, kv_precision, draft);
        let link = Rc::new(Link::new(ring, epoch, deadline));
        (first.rest, first.stack.layers_per_piece) = (Some(Rc::clone(&link)), None);
        eprintln!("begun");
        let played = scene.play(&first, &known);
        link.stop()?;
        RankReport { played, ..RankReport::of(link.sent(), (0, 0), 0) }
    } else {
        let (config, layout) = layout(&model, kv_precision);
        let stack = Stack::load(&config, &layout, layers, &mut |_, _| ControlFlow::Continue(()))?;
        let taps = draft_model.map(|(_, taps)| taps).unwrap_or_default();
        let mut stage = Stage::new(stack, kv_precision, taps, u64::MAX);
        stage.fail(3, faults);
        let Served { passes, failed } = serve(&ring, &mut stage, epoch, &deadline)?;
        RankReport::of(ring.sent(), (passes, failed), stage.rows())
    };
    println!("{}", serde_json::to_string(&report)?);
    // What was sent last is on its way.
    mlx::synchronize()?;
    Ok(())
}
