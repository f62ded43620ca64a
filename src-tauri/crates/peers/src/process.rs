//! The processes of a ring: what a worker and rank 0 are started with.

use std::ffi::OsString;
use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;

use tempfile::TempDir;
use tokio::process::{Child, Command};

use crate::borrower::{Borrower, Exposed, Ring, expose};
use crate::error::PeerError;
use crate::lender::{Process, Worker};
use crate::loopback::RingPlace;

/// The variables in which MLX looks for a process's place in a ring, and for where the ranks listen.
const RANK: &str = "MLX_RANK";
const HOSTS: &str = "MLX_HOSTFILE";

/// What the process of a place finds in its environment. It reads the file there as it joins.
struct Seated {
    environment: [(OsString, OsString); 2],
    folder: TempDir,
}

impl Seated {
    fn at(place: RingPlace) -> io::Result<Self> {
        // Others on this machine cannot look into it.
        let folder = tempfile::Builder::new().permissions(Permissions::from_mode(0o700)).tempdir()?;
        let of_rank = |rank: u32| match rank {
            rank if rank == place.rank => [place.listen.to_string()],
            rank if rank == (place.rank + 1) % place.size => [place.next.to_string()],
            _ => ["127.0.0.1:1".to_owned()],
        };
        let hosts: Vec<[String; 1]> = (0..place.size).map(of_rank).collect();
        let file = folder.path().join("hosts.json");
        std::fs::write(&file, serde_json::to_string(&hosts)?)?;
        let environment = [(RANK.into(), place.rank.to_string().into()), (HOSTS.into(), file.into())];
        Ok(Self { environment, folder })
    }
}

/// Starts `program worker MODEL` at its place in a ring. `memory`: bytes that it may take; `None`: as many as the
/// machine gives models.
pub fn start_worker(
    program: &Path,
    model: &Path,
    memory: Option<u64>,
    place: RingPlace,
) -> io::Result<Worker> {
    let Seated { environment, folder } = Seated::at(place)?;
    let mut command = Command::new(program);
    command.arg("worker").arg(model).envs(environment);
    if let Some(memory) = memory {
        // Of none at all no model is left.
        command.arg("--memory").arg(format!("{}", memory.max(1) as f64 / 1e9));
    }
    // Ctrl-C in a terminal is for the program that started it, which ends it when it is ready to.
    command.process_group(0);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
    match (child.stdin.take(), child.stdout.take()) {
        (Some(input), Some(output)) => Ok(Worker::new(input, output, Running { child, _folder: folder })),
        _ => Err(io::Error::other("it has no pipes")),
    }
}

/// A worker, and what it reads as it begins.
struct Running {
    child: Child,
    _folder: TempDir,
}

impl Process for Running {
    fn kill(&mut self) {
        // It has ended if this fails.
        let _ = self.child.start_kill();
    }
}

/// What the process that becomes rank 0 is started with, and what must last as long as it.
#[derive(Debug)]
pub struct Lead {
    /// Arguments: the ways to the workers, and how many layers each rank gets.
    pub arguments: Vec<OsString>,
    /// Variables of its environment.
    pub environment: [(OsString, OsString); 2],
    _exposed: Vec<Exposed>,
    _folder: TempDir,
}

impl Lead {
    /// Hands the workers of a ring to a process that does not run yet. `lenders`: who lends them; `layers`: how many
    /// each rank gets, this Mac first.
    pub async fn of(ring: &mut Ring, lenders: &[Borrower], layers: &[usize]) -> Result<Self, PeerError> {
        let seated = Seated::at(ring.place).map_err(|source| PeerError::Local { source })?;
        let Seated { environment, folder } = seated;
        let (mut arguments, mut exposed): (Vec<OsString>, _) = (Vec::new(), Vec::new());
        for (rank, (control, lender)) in ring.controls.drain(..).zip(lenders).enumerate() {
            let mut way = folder.path().join(format!("rank-{}", rank + 1)).into_os_string();
            exposed.push(expose(control, Path::new(&way)).await?);
            way.push("=");
            way.push(lender.name());
            arguments.extend(["--channel".into(), way]);
        }
        let layers: Vec<String> = layers.iter().map(usize::to_string).collect();
        arguments.extend(["--layers".into(), layers.join(",").into()]);
        if lenders.iter().any(Borrower::is_here) {
            arguments.push("--one-machine".into());
        }
        Ok(Self { arguments, environment, _exposed: exposed, _folder: folder })
    }
}
