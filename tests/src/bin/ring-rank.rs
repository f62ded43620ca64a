//! One rank of a ring, as a test wants it. Rank 0 reads its plan as a line of JSON from standard input, and says at its
//! end what was done; the others take their orders there, with the model's folder and which of their frames fail as
//! arguments: those of at least so many rows, of these one in so many, and so many at most. The place in the ring is
//! in the environment.

use std::error::Error;
use std::io;
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::rc::Rc;
use std::thread;
use std::time::Duration;

use foretoken_engine::checkpoint::Part;
use foretoken_engine::link::{Channel, Clocks, Link, PartOrder};
use foretoken_engine::mlx;
use foretoken_engine::worker::{Faults, Member, Point};
use foretoken_tests::rings::{Played, RingPlan, RingReport, Scene, first_layers, layout};

fn main() -> Result<(), Box<dyn Error>> {
    mlx::environment::prepare(None);
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [model, rows, every, times, rest @ ..] => {
            let faults =
                Faults { rows: rows.parse()?, every: every.parse()?, times: times.parse()?, seen: 0 };
            let strike = rest.first().map(|strike| Strike::parse(strike)).transpose()?;
            let member = Member::new(io::stdin(), io::stdout());
            let done = member.run(model.as_ref(), None, |stage| {
                stage.fail(faults);
                if let Some(strike) = strike {
                    stage.watch(strike.when_reached());
                }
            });
            done.map_err(|report| report.to_string())?;
        }
        _ => lead()?,
    }
    // What was sent last is on its way.
    mlx::synchronize()?;
    Ok(())
}

/// The end of this process, or what is like one, at a point of its work.
struct Strike {
    point: String,
    /// Which time it is reached.
    time: u32,
    /// The signal's name, or SLEEP.
    signal: String,
}

impl Strike {
    /// As "Compute:3:KILL".
    fn parse(text: &str) -> Result<Self, Box<dyn Error>> {
        let [point, time, signal] = text
            .split(':')
            .collect::<Vec<_>>()
            .try_into()
            .map_err(|_| "it must look like POINT:TIME:SIGNAL")?;
        Ok(Self { point: point.to_owned(), time: time.parse()?, signal: signal.to_owned() })
    }

    fn when_reached(self) -> impl FnMut(Point) {
        let mut left = self.time;
        move |point| {
            if format!("{point:?}") == self.point {
                left = left.saturating_sub(1);
                if left == 0 && self.signal == "SLEEP" {
                    // Whatever else it does goes on.
                    thread::sleep(Duration::from_secs(3600));
                } else if left == 0 {
                    let id = std::process::id().to_string();
                    let _ = Command::new("kill").args([&format!("-{}", self.signal), &id]).status();
                }
            }
        }
    }
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
    plan.most_in_flight.iter().for_each(|&most| link.limit_in_flight(most));
    let link = Rc::new(link);
    (first.rest, first.stack.layers_per_piece) = (Some(Rc::clone(&link)), None);
    eprintln!("begun");
    let mut played = Played::default();
    for time in 0..plan.times {
        let scene = plan.scene;
        played = Scene { seed: scene.seed + 1000 * time as u64, ..scene }.play(&first, &plan.known);
        eprintln!("rests");
    }
    // For as long as whoever started it likes.
    io::copy(&mut io::stdin(), &mut io::sink())?;
    let others = link.stop().into_iter().map(|served| served.ok_or("a rank says nothing at its end"));
    let others = others.collect::<Result<_, _>>()?;
    let (messages, deepest) = (link.sent().messages, link.deepest());
    println!("{}", serde_json::to_string(&RingReport { played, messages, deepest, others })?);
    Ok(())
}
