//! One rank of a ring, as a test wants it. Rank 0 reads its plan as a line of JSON from standard input, and says at its
//! end what was done; the others take their orders there, with the model's folder and how many of their steps fail as
//! arguments. The place in the ring is in the environment.

use std::error::Error;
use std::io;
use std::os::unix::net::UnixStream;
use std::rc::Rc;

use foretoken_engine::checkpoint::Part;
use foretoken_engine::link::{Channel, Clocks, Link, PartOrder};
use foretoken_engine::mlx;
use foretoken_engine::worker::Member;
use foretoken_tests::rings::{RingPlan, RingReport, first_layers, layout};

fn main() -> Result<(), Box<dyn Error>> {
    mlx::environment::prepare(None);
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [model, faults] => {
            let faults = faults.parse()?;
            let member = Member::new(io::stdin(), io::stdout());
            let done = member.run(model.as_ref(), None, |stage| stage.fail(3, faults));
            done.map_err(|report| report.to_string())?;
        }
        _ => lead()?,
    }
    // What was sent last is on its way.
    mlx::synchronize()?;
    Ok(())
}

/// Plays a scene as rank 0.
fn lead() -> Result<(), Box<dyn Error>> {
    let mut plan = String::new();
    io::stdin().read_line(&mut plan)?;
    let plan: RingPlan = serde_json::from_str(&plan)?;
    let connect = |(place, path)| -> io::Result<Channel> {
        let words = UnixStream::connect(path)?;
        let orders = words.try_clone()?;
        Ok(Channel { name: format!("Mac {}", place + 1), words: Box::new(words), orders: Box::new(orders) })
    };
    let channels = plan.channels.iter().enumerate().map(connect).collect::<io::Result<_>>()?;
    let draft = plan.draft_model.as_deref();
    let mut first = first_layers(&plan.model, plan.layers[0], plan.kv_precision, draft);
    let clocks = Clocks { silence: plan.patience, pass: plan.patience, ..Clocks::ONE_MACHINE };
    let (config, layout) = layout(&plan.model, plan.kv_precision);
    let part = PartOrder {
        part: Part::all(&config, &layout)?,
        kv_precision: plan.kv_precision,
        taps: first.draft.as_ref().map_or(Vec::new(), |draft| draft.taps().to_vec()),
        epoch: 77,
        silence: plan.patience,
    };
    let parts = part.spread(&plan.layers);
    let link = Link::form(channels, &parts, clocks, Box::new(|loss| eprintln!("lost: {loss}")))?;
    link.ready(|_, _, _| {});
    let link = Rc::new(link);
    (first.rest, first.stack.layers_per_piece) = (Some(Rc::clone(&link)), None);
    eprintln!("begun");
    let played = plan.scene.play(&first, &plan.known);
    eprintln!("rests");
    // For as long as whoever started it likes.
    io::copy(&mut io::stdin(), &mut io::sink())?;
    let others = link.stop().into_iter().map(|served| served.ok_or("a rank says nothing at its end"));
    let others = others.collect::<Result<_, _>>()?;
    println!("{}", serde_json::to_string(&RingReport { played, messages: link.sent().messages, others })?);
    Ok(())
}
