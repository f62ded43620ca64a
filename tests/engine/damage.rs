//! Files of rows that are swapped out are damaged, cut, or cannot be made: such a row is read again, and its text
//! is the same.
//!
//! One test, since the files and their number are the process's.

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::{self, File, OpenOptions};
    use std::io::{Read, Seek, SeekFrom, Write};
    use std::os::fd::AsRawFd;

    use foretoken_engine::decode::{Footprint, Limits, Policy, RowId, RowSpec, Scheduler, SchedulerEvent};
    use foretoken_engine::model::Qwen;
    use foretoken_protocol::{Drafting, Sampling};
    use foretoken_tests::fixtures::{Stored, tiny_dense};
    use foretoken_tests::known::Known;
    use foretoken_tests::rng::Rng;
    use foretoken_tests::runs::greedy;
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    /// The temporary files that this program has open, each of which has no name any more.
    fn temporary_files() -> Vec<File> {
        let open = fs::read_dir("/proc/self/fd").unwrap().flatten().map(|entry| entry.path());
        let folder = std::env::temp_dir();
        let nameless = |path: &std::path::PathBuf| {
            let target = fs::read_link(path).unwrap_or_default();
            target.starts_with(&folder) && target.to_string_lossy().ends_with(" (deleted)")
        };
        let files = open.filter(nameless).map(|path| OpenOptions::new().read(true).write(true).open(path));
        files.map(Result::unwrap).collect()
    }

    fn flip(mut file: &File, at: u64) {
        let mut byte = [0];
        file.seek(SeekFrom::Start(at)).unwrap();
        file.read_exact(&mut byte).unwrap();
        file.seek(SeekFrom::Start(at)).unwrap();
        file.write_all(&[!byte[0]]).unwrap();
    }

    /// Two replies of which the second is preempted. `harm` is done while it waits. Returns how much was read in
    /// all.
    fn run(model: &Qwen, rows: &[Known; 2], harm: &mut dyn FnMut()) -> u64 {
        // Behind 256 positions a row may take more.
        let memory = 2 * Footprint::of(model).row(250);
        let limits = Limits { memory, reserve: 9, ..Limits::default() };
        let mut scheduler = Scheduler::new(model, limits, Policy::default());
        for (id, (row, drafting)) in
            rows.iter().zip([Drafting::Off, Drafting::Fixed { depth: 2 }]).enumerate()
        {
            scheduler.submit(id as RowId, row.spec.clone(), drafting).unwrap();
        }
        let mut written = vec![Vec::new(); rows.len()];
        let (mut waits, mut harmed) = (false, false);
        while !scheduler.is_idle() {
            for event in scheduler.pump(model) {
                match event {
                    SchedulerEvent::Advanced { advance, .. } => {
                        written[advance.row as usize].extend(advance.tokens)
                    }
                    SchedulerEvent::Waiting { row, .. } if !written[row as usize].is_empty() => {
                        assert_eq!(row, 1);
                        waits = true;
                    }
                    SchedulerEvent::Failed { row, error } => panic!("row {row}: {error}"),
                    _ => {}
                }
            }
            // As soon as all of it is in the file, which may take some turns.
            if waits && !harmed && scheduler.resident_bytes() == 0 {
                harmed = true;
                harm();
            }
        }
        assert!(harmed, "nobody had to make room");
        assert_eq!(temporary_files().len(), 0);
        for (row, written) in rows.iter().zip(written) {
            assert_eq!(written, row.tokens);
        }
        scheduler.layers_run()
    }

    #[test]
    fn what_cannot_be_read_back_is_read_again() {
        let model = tiny_dense(Stored::F32);
        let mut rng = Rng::new(60);
        let sampling = Sampling { temperature: 0.9, repetition_penalty: 1.1, ..Sampling::default() };
        // The first goes on long enough for the second to outgrow what was set aside for it, behind 12 tokens of its
        // reply.
        let rows = [(8, 240), (236, 24)].map(|(prompt, length)| {
            Known::new(&model, RowSpec { sampling, seed: 7, ..greedy(&rng.prompt(prompt), length) })
        });
        let unharmed = run(&model, &rows, &mut || assert_eq!(temporary_files().len(), 1));
        assert_eq!(unharmed, 2 * model.stack.layers.len() as u64, "each prompt is read once");

        let harmed = |what: &str, harm: fn(&File, u64)| {
            let read = run(&model, &rows, &mut || {
                let [file] = &temporary_files()[..] else { panic!("one file") };
                harm(file, file.metadata().unwrap().len());
            });
            assert!(read > unharmed, "{what}");
        };
        harmed("its first byte was changed", |file, _| flip(file, 0));
        harmed("a byte in the middle was changed", |file, length| flip(file, length / 2));
        harmed("its last byte was changed", |file, length| flip(file, length - 1));
        harmed("nothing was left", |file, _| file.set_len(0).unwrap());
        harmed("half of it was left", |file, length| file.set_len(length / 2).unwrap());
        harmed("all but its last byte was left", |file, length| file.set_len(length - 1).unwrap());

        // No file more than are open.
        let before = getrlimit(Resource::Nofile);
        let next = File::open("/dev/null").unwrap().as_raw_fd() as u64;
        setrlimit(Resource::Nofile, Rlimit { current: Some(next), ..before }).unwrap();
        let mut none = || setrlimit(Resource::Nofile, before).unwrap();
        let read = run(&model, &rows, &mut none);
        assert!(read > unharmed, "no file could be made");
    }
}
