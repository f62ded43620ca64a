use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

use super::*;

/// The two ends of a way that is being joined.
fn way(shape: Option<Shape>) -> (DuplexStream, DuplexStream) {
    let ((a, inner_a), (b, inner_b)) = (duplex(1000), duplex(1000));
    tokio::spawn(join(inner_a, inner_b, shape));
    (a, b)
}

const SHAPES: [Option<Shape>; 2] =
    [None, Some(Shape { delay: Duration::from_millis(2), bytes_per_second: Some(100_000_000) })];

#[tokio::test]
async fn the_end_of_one_direction_leaves_the_other_open() {
    for shape in SHAPES {
        let (mut a, mut b) = way(shape);
        a.write_all(b"question").await.unwrap();
        a.shutdown().await.unwrap();
        let mut question = String::new();
        b.read_to_string(&mut question).await.unwrap();
        b.write_all(b"answer").await.unwrap();
        b.shutdown().await.unwrap();
        let mut answer = String::new();
        a.read_to_string(&mut answer).await.unwrap();
        assert_eq!((question.as_str(), answer.as_str()), ("question", "answer"));
    }
}

#[tokio::test]
async fn whoever_goes_is_missed_at_the_other_end() {
    for shape in SHAPES {
        let (a, mut b) = way(shape);
        drop(a);
        assert_eq!(b.read(&mut [0]).await.unwrap(), 0);
        // The way is gone sooner or later, so this does not go on for ever.
        while b.write_all(&[0; 1000]).await.is_ok() {
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_delay_takes_nothing_from_the_throughput_and_a_rate_does() {
    let time = async |shape, bytes: usize| {
        let (mut a, mut b) = way(Some(shape));
        let start = tokio::time::Instant::now();
        let sent = tokio::spawn(async move {
            a.write_all(&vec![7; bytes]).await.unwrap();
            a
        });
        let mut received = vec![0; bytes];
        b.read_exact(&mut received).await.unwrap();
        assert!(received.iter().all(|byte| *byte == 7));
        drop(sent.await.unwrap());
        start.elapsed()
    };
    let delay = Duration::from_millis(100);
    let delayed = time(Shape { delay, bytes_per_second: None }, 300_000).await;
    assert!(delayed >= delay && delayed < 2 * delay, "{delayed:?}");
    let limited = time(Shape { delay, bytes_per_second: Some(100_000) }, 300_000).await;
    assert!(limited >= Duration::from_secs(3) && limited < Duration::from_secs(4), "{limited:?}");
}
