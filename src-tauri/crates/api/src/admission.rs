//! Who goes on to the engine: a few requests at a time, all of them for one model, and those of one program by turns
//! with those of others. Requests in the background let all others go before them, though not for ever.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use crate::error::ApiError;

/// How many of the last stays the expected wait is the mean of.
const STAYS: usize = 10;
/// The expected wait while none has ended.
const FIRST_GUESS: Duration = Duration::from_secs(5);
/// How many that came later may go before one in the background, and for how long: as in the engine.
const MOST_PASSED: u32 = 4;
const LONGEST_PASSED: Duration = Duration::from_secs(30);

/// Lets requests in.
#[derive(Debug)]
pub(crate) struct Admission {
    rows: usize,
    queue: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Replies of the requests that are in.
    inside: usize,
    /// The folder of the model that they need; empty before the first.
    model: String,
    /// Requests that wait, program by program; the first program's first request is next. None is empty.
    programs: VecDeque<(String, VecDeque<Waiting>)>,
    /// How long the last requests stayed.
    stays: VecDeque<Duration>,
}

/// A request that waits.
#[derive(Debug)]
struct Waiting {
    replies: usize,
    /// The folder of the model that it needs.
    model: String,
    /// Whether it waited for its model when others were let in with that: a model is not loaded twice for what waited
    /// at the same time.
    together: bool,
    /// Whether all others go before it, for as long and as often as that is fair.
    in_background: bool,
    since: Instant,
    /// How many that came later have gone before it.
    passed: u32,
    turn: oneshot::Sender<Entered>,
}

impl Waiting {
    /// Whether it lets others go before it.
    fn yields(&self) -> bool {
        self.in_background && self.passed < MOST_PASSED && self.since.elapsed() < LONGEST_PASSED
    }
}

/// A request that is in, until it is dropped.
#[derive(Debug)]
pub(crate) struct Entered {
    admission: Arc<Admission>,
    replies: usize,
    /// Since when it has been in; `None` while it is being handed over.
    since: Option<Instant>,
}

impl Entered {
    fn begun(mut self) -> Self {
        self.since = Some(Instant::now());
        self
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        let gone = self.admission.leave(self.replies, self.since.map(|since| since.elapsed()));
        // Outside of the lock: those whose requests have gone leave again.
        drop(gone);
    }
}

/// Lets in those who can go on when it is dropped: whoever gave up waiting may have stood in their way.
struct LetsOthersIn<'a>(&'a Arc<Admission>);

impl Drop for LetsOthersIn<'_> {
    fn drop(&mut self) {
        drop(self.0.let_in());
    }
}

impl Admission {
    /// Lets in requests for `rows` replies at a time, while up to `queue` requests wait.
    pub(crate) fn new(rows: usize, queue: usize) -> Self {
        Self { rows, queue, state: Mutex::default() }
    }

    /// Waits until the request of a program for so many replies may go on, and all that are in need the same `model`.
    /// Whoever gives up waiting takes no place, and holds nobody up who waited behind it.
    pub(crate) async fn enter(
        self: &Arc<Self>,
        program: &str,
        model: &str,
        replies: usize,
        in_background: bool,
    ) -> Result<Entered, ApiError> {
        // One for more than there is room for goes on alone.
        let replies = replies.min(self.rows);
        // Goes behind `turn`, and so finds it given up.
        let _behind = LetsOthersIn(self);
        let turn = {
            let mut state = self.state();
            let waiting = state.waiting();
            if waiting == 0 && state.fits(model, replies, self.rows) {
                state.let_in(model, replies);
                return Ok(self.entered(replies).begun());
            }
            if waiting >= self.queue {
                return Err(ApiError::QueueFull { waiting, seconds: state.wait_seconds() });
            }
            let (sender, turn) = oneshot::channel();
            let (model, since) = (model.to_owned(), Instant::now());
            let sender =
                Waiting { replies, model, together: false, in_background, since, passed: 0, turn: sender };
            match state.programs.iter_mut().find(|(name, _)| name == program) {
                Some((_, queue)) => queue.push_back(sender),
                None => state.programs.push_back((program.to_owned(), [sender].into())),
            }
            turn
        };
        // It may go at once before those that let it.
        drop(self.let_in());
        // The sender is dropped only with all that is behind this server.
        turn.await.map(Entered::begun).map_err(|_| ApiError::EngineStopped)
    }

    fn entered(self: &Arc<Self>, replies: usize) -> Entered {
        Entered { admission: Arc::clone(self), replies, since: None }
    }

    /// Takes out a request that leaves, and lets in those that wait next.
    fn leave(self: &Arc<Self>, replies: usize, stay: Option<Duration>) -> Vec<Entered> {
        {
            let mut state = self.state();
            state.stays.extend(stay);
            if state.stays.len() > STAYS {
                state.stays.pop_front();
            }
            state.inside -= replies;
        }
        self.let_in()
    }

    /// Lets in those that wait next, as far as they fit. Answers with the places of those that have gone meanwhile.
    fn let_in(self: &Arc<Self>) -> Vec<Entered> {
        let mut state = self.state();
        let mut gone = Vec::new();
        while let Some(Waiting { replies, turn, .. }) = state.next(self.rows) {
            gone.extend(turn.send(self.entered(replies)).err());
        }
        gone
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Takes the request whose turn it is, once there is room for it, and lets it in.
    fn next(&mut self, rows: usize) -> Option<Waiting> {
        self.waiting();
        let (program, place) = self.turn()?;
        let first = &self.programs[program].1[place];
        if !self.fits(&first.model, first.replies, rows) {
            return None;
        }
        let (name, mut queue) = self.programs.remove(program)?;
        let next = queue.remove(place)?;
        if !queue.is_empty() {
            self.programs.push_back((name, queue));
        }
        if !next.in_background {
            let waiting = self.programs.iter_mut().flat_map(|(_, queue)| queue);
            waiting.filter(|other| other.since < next.since).for_each(|other| other.passed += 1);
        }
        self.let_in(&next.model, next.replies);
        Some(next)
    }

    /// Whose turn it is: the program, and the place in its queue.
    fn turn(&self) -> Option<(usize, usize)> {
        let together = self.programs.iter().enumerate().find_map(|(program, (_, queue))| {
            queue.iter().position(|waiting| waiting.together).map(|place| (program, place))
        });
        let first = |yields: bool| {
            self.programs.iter().enumerate().find_map(|(program, (_, queue))| {
                queue.iter().position(|waiting| waiting.yields() == yields).map(|place| (program, place))
            })
        };
        together.or_else(|| first(false)).or_else(|| first(true))
    }

    /// Whether a request goes beside those that are in.
    fn fits(&self, model: &str, replies: usize, rows: usize) -> bool {
        self.inside + replies <= rows && (model == self.model || self.inside == 0)
    }

    fn let_in(&mut self, model: &str, replies: usize) {
        self.inside += replies;
        if model != self.model {
            self.model = model.to_owned();
            for waiting in self.programs.iter_mut().flat_map(|(_, queue)| queue) {
                waiting.together = waiting.model == self.model;
            }
        }
    }

    /// Requests that wait; those that were given up are forgotten.
    fn waiting(&mut self) -> usize {
        for (_, queue) in &mut self.programs {
            queue.retain(|waiting| !waiting.turn.is_closed());
        }
        self.programs.retain(|(_, queue)| !queue.is_empty());
        self.programs.iter().map(|(_, queue)| queue.len()).sum()
    }

    /// How long to wait before trying again, in seconds: the mean of the last stays.
    fn wait_seconds(&self) -> u64 {
        let known = u32::try_from(self.stays.len()).ok().filter(|count| *count > 0);
        let mean = known.map_or(FIRST_GUESS, |count| self.stays.iter().sum::<Duration>() / count);
        mean.as_secs_f64().ceil().max(1.0) as u64
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::{Pin, pin};
    use std::task::{Context, Waker};

    use super::*;

    fn is_ready<F: Future>(future: Pin<&mut F>) -> bool {
        future.poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    fn inside(admission: &Admission) -> usize {
        admission.state().inside
    }

    #[tokio::test]
    async fn programs_take_turns_and_each_is_served_in_order() {
        let admission = Arc::new(Admission::new(1, 10));
        let first = admission.enter("a", "A", 1, false).await.unwrap();
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut tasks = Vec::new();
        for (program, name) in [("a", 1), ("a", 2), ("a", 3), ("b", 4), ("a", 5), ("c", 6)] {
            let (admission, order) = (Arc::clone(&admission), Arc::clone(&order));
            tasks.push(tokio::spawn(async move {
                let _entered = admission.enter(program, "A", 1, false).await.unwrap();
                order.lock().unwrap().push(name);
            }));
            tokio::task::yield_now().await;
        }
        drop(first);
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(*order.lock().unwrap(), [1, 4, 6, 2, 3, 5]);
        assert_eq!(inside(&admission), 0);
    }

    #[tokio::test]
    async fn a_full_queue_refuses_and_whoever_gave_up_does_not_fill_it() {
        let admission = Arc::new(Admission::new(1, 1));
        let first = admission.enter("a", "A", 1, false).await.unwrap();
        {
            let mut waiting = pin!(admission.enter("a", "A", 1, false));
            assert!(!is_ready(waiting.as_mut()));
            let refused = admission.enter("b", "A", 1, false).await.unwrap_err();
            assert_eq!(refused, ApiError::QueueFull { waiting: 1, seconds: 5 });
        }
        let mut waiting = pin!(admission.enter("b", "A", 1, false));
        assert!(!is_ready(waiting.as_mut()), "there is room again");
        drop(first);
        drop(waiting.await.unwrap());
        assert_eq!(inside(&admission), 0);
    }

    #[tokio::test]
    async fn a_place_that_is_handed_to_somebody_who_has_just_gone_comes_back() {
        let admission = Arc::new(Admission::new(1, 3));
        let first = admission.enter("a", "A", 1, false).await.unwrap();
        let mut last = pin!(admission.enter("c", "A", 1, false));
        {
            let mut gone = pin!(admission.enter("b", "A", 1, false));
            assert!(!is_ready(gone.as_mut()));
            assert!(!is_ready(last.as_mut()));
            // It has the place, and is dropped before it hears of it.
            drop(first);
        }
        drop(last.await.unwrap());
        assert_eq!(inside(&admission), 0);
    }

    #[tokio::test]
    async fn whoever_gave_up_costs_its_program_no_turn() {
        let admission = Arc::new(Admission::new(1, 9));
        let first = admission.enter("a", "A", 1, false).await.unwrap();
        let (mut a, mut b) =
            (pin!(admission.enter("a", "A", 1, false)), pin!(admission.enter("b", "A", 1, false)));
        {
            let mut gone = pin!(admission.enter("a", "A", 1, false));
            assert!(!is_ready(gone.as_mut()) && !is_ready(a.as_mut()) && !is_ready(b.as_mut()));
        }
        drop(first);
        let second = a.await.unwrap();
        assert!(!is_ready(b.as_mut()));
        drop(second);
        drop(b.await.unwrap());
        assert_eq!(admission.state().stays.len(), 3, "only those who were in have stayed");
    }

    #[tokio::test]
    async fn a_request_for_several_replies_waits_for_room_for_all_and_is_not_overtaken() {
        let admission = Arc::new(Admission::new(2, 9));
        let first = admission.enter("a", "A", 1, false).await.unwrap();
        let (mut both, mut one) =
            (pin!(admission.enter("b", "A", 4, false)), pin!(admission.enter("c", "A", 1, false)));
        assert!(!is_ready(both.as_mut()) && !is_ready(one.as_mut()));
        drop(first);
        let both = both.await.unwrap();
        assert_eq!(inside(&admission), 2);
        assert!(!is_ready(one.as_mut()));
        drop(both);
        drop(one.await.unwrap());
        assert_eq!(inside(&admission), 0);
    }

    #[test]
    fn the_wait_is_the_mean_of_the_last_stays() {
        let mut state = State::default();
        assert_eq!(state.wait_seconds(), 5);
        state.stays = [1, 2, 6].map(Duration::from_secs).into();
        assert_eq!(state.wait_seconds(), 3);
        state.stays = [Duration::from_millis(10)].into();
        assert_eq!(state.wait_seconds(), 1);
    }

    #[tokio::test]
    async fn another_model_waits_until_all_are_out_and_what_waited_for_it_goes_together() {
        let admission = Arc::new(Admission::new(2, 10));
        let first = admission.enter("a", "A", 1, false).await.unwrap();
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut tasks = Vec::new();
        let waiting = [("a", "B", 1), ("b", "A", 2), ("a", "A", 3), ("c", "B", 4), ("b", "B", 5)];
        for (program, model, name) in waiting {
            let (admission, order) = (Arc::clone(&admission), Arc::clone(&order));
            tasks.push(tokio::spawn(async move {
                let _entered = admission.enter(program, model, 1, false).await.unwrap();
                let inside = admission.state().model.clone();
                assert_eq!(inside, model);
                order.lock().unwrap().push(name);
                tokio::task::yield_now().await;
            }));
            tokio::task::yield_now().await;
        }
        assert!(
            order.lock().unwrap().is_empty(),
            "there is room beside the first, and yet the model is another"
        );
        drop(first);
        for task in tasks {
            task.await.unwrap();
        }
        let mut order = order.lock().unwrap().clone();
        order[..3].sort_unstable();
        order[3..].sort_unstable();
        assert_eq!(order, [1, 4, 5, 2, 3]);
        assert_eq!(inside(&admission), 0);
    }

    /// The order in which requests go on that wait behind one, of programs and in the background or not.
    async fn order_of(waiting: &[(&'static str, bool, u32)]) -> Vec<u32> {
        let admission = Arc::new(Admission::new(1, 20));
        let first = admission.enter("z", "A", 1, false).await.unwrap();
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut tasks = Vec::new();
        for &(program, in_background, name) in waiting {
            let (admission, order) = (Arc::clone(&admission), Arc::clone(&order));
            tasks.push(tokio::spawn(async move {
                let _entered = admission.enter(program, "A", 1, in_background).await.unwrap();
                order.lock().unwrap().push(name);
            }));
            tokio::task::yield_now().await;
        }
        drop(first);
        for task in tasks {
            task.await.unwrap();
        }
        order.lock().unwrap().clone()
    }

    #[tokio::test]
    async fn requests_in_the_background_let_others_go_first_but_not_for_ever() {
        let waiting = [("a", true, 1), ("a", false, 2), ("b", true, 3), ("a", false, 4), ("c", false, 5)];
        assert_eq!(order_of(&waiting).await, [2, 5, 4, 3, 1], "each class by turns");
        let mut waiting = vec![("a", true, 0)];
        waiting.extend((1..=6).map(|name| ("b", false, name)));
        assert_eq!(order_of(&waiting).await, [1, 2, 3, 4, 0, 5, 6]);
        waiting.rotate_left(1);
        assert_eq!(
            order_of(&waiting).await,
            [1, 2, 3, 4, 5, 6, 0],
            "those that came before are none that pass"
        );
    }

    #[tokio::test]
    async fn where_one_in_the_background_has_no_room_another_that_has_goes_on() {
        let admission = Arc::new(Admission::new(2, 9));
        let first = admission.enter("a", "A", 1, false).await.unwrap();
        let mut both = pin!(admission.enter("b", "A", 2, true));
        assert!(!is_ready(both.as_mut()));
        let one = admission.enter("c", "A", 1, false).await.unwrap();
        assert_eq!(inside(&admission), 2);
        drop((first, one));
        drop(both.await.unwrap());
    }

    #[tokio::test]
    async fn whoever_gives_up_waiting_for_another_model_holds_nobody_up() {
        let admission = Arc::new(Admission::new(2, 10));
        let _first = admission.enter("a", "A", 1, false).await.unwrap();
        let mut beside = pin!(admission.enter("c", "A", 1, false));
        {
            let mut other = pin!(admission.enter("b", "B", 1, false));
            assert!(!is_ready(other.as_mut()) && !is_ready(beside.as_mut()));
        }
        drop(beside.await.unwrap());
    }
}
