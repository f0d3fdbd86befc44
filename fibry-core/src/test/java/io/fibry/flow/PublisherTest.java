package io.fibry.flow;

import static io.fibry.flow.NullAssertion.assertNullRefused;
import static io.fibry.flow.RecordingSubscriber.closing;
import static io.fibry.flow.RecordingSubscriber.read;
import static io.fibry.flow.RecordingSubscriber.upTo;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.Gate;
import io.fibry.LeakProbe;
import io.fibry.Promise;
import io.fibry.Strategy;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The rules of Reactive Streams are tested in {@code fibry-proof}. */
class PublisherTest {
  @AfterEach
  void cleanUp() {
    Gate.openAll();
    ActorSystem.setDefaultStrategy(Strategy.FIBER);
  }

  @Test
  void eachSubscriberReadsTheWholeAtItsOwnPace() {
    var publisher = Flows.publisher(upTo(10));
    var slow = new RecordingSubscriber();
    var quick = new RecordingSubscriber();
    publisher.subscribe(slow);
    publisher.subscribe(quick);

    slow.subscription.request(2);
    quick.subscription.request(Long.MAX_VALUE);
    Patience.eventually(() -> slow.seen.size() == 2);

    assertEquals("complete", Patience.value(quick.end));
    assertEquals(10, quick.seen.size());
    assertFalse(slow.end.isDone());
    slow.subscription.request(8);
    assertEquals("complete", Patience.value(slow.end));
  }

  @Promise("22.9")
  @Test
  void noMoreComesThanWasAskedFor() {
    var reader = read(upTo(1_000), 3, 4);

    Patience.eventually(() -> reader.seen.size() == 7);
    LeakProbe.used(); // some time

    assertEquals(7, reader.seen.size());
    reader.subscription.cancel();
  }

  @Test
  void requestsAddUpWithoutOverflow() {
    var reader = read(new RecordingSubscriber() {
      @Override
      public void onSubscribe(Flow.Subscription subscription) {
        // in 64 bits, none
        for (long n : new long[] {Long.MAX_VALUE, Long.MAX_VALUE, 2}) subscription.request(n);
      }
    }, upTo(1_000));

    assertEquals("complete", Patience.value(reader.end));
    assertEquals(1_000, reader.seen.size());
  }

  @Test
  void theEndNeedNotBeAskedFor() {
    var nothing = read(List.of());
    var exact = read(upTo(3), 3);

    assertEquals("complete", Patience.value(nothing.end));
    assertEquals("complete", Patience.value(exact.end));
  }

  @Test
  void aRequestInsideOnNextDoesNotOverflowTheStack() {
    for (var strategy : List.of(Strategy.FIBER, Strategy.CALLER)) {
      ActorSystem.setDefaultStrategy(strategy);
      var reader = read(new RecordingSubscriber() {
        private int count;

        @Override
        public void onNext(Integer element) {
          count++;
          subscription.request(1);
          if (count == 100_000) seen.add(count);
        }
      }, upTo(100_000), 1);

      assertEquals("complete", Patience.value(reader.end));
      assertEquals(List.of(100_000), reader.seen);
    }
  }

  @Test
  void nothingComesBeforeTheSubscriberKnowsItsSubscription() {
    var early = new CopyOnWriteArrayList<Integer>();
    var reader = read(new RecordingSubscriber() {
      @Override
      public void onSubscribe(Flow.Subscription subscription) {
        subscription.request(10);
        LeakProbe.used(); // some time
        early.addAll(seen);
        super.onSubscribe(subscription);
      }
    }, upTo(5));

    assertEquals("complete", Patience.value(reader.end));
    assertEquals(List.of(), early);
  }

  @Test
  void exceptionOfSequenceFailsStream() {
    var failure = new IllegalStateException("cut");
    Iterable<Integer> noIterator = () -> {
      throw failure;
    };
    Iterable<Integer> noNext = () -> IntStream.range(0, 5).map(i -> {
      if (i == 3) throw failure;
      return i;
    }).iterator();
    Iterable<Integer> nullInside = () -> new ArrayList<Integer>() {
      private static final long serialVersionUID = 1;

      {
        add(null);
      }
    }.iterator();

    var noneReader = read(noIterator, 10);
    var someReader = read(noNext, 10);
    var nullReader = read(nullInside, 10);

    assertSame(failure, Patience.value(noneReader.end));
    assertSame(failure, Patience.value(someReader.end));
    assertEquals(List.of(0, 1, 2), someReader.seen);
    assertEquals("an element of the sequence is null", ((Throwable) Patience.value(nullReader.end)).getMessage());
  }

  @Test
  void aProducersFailureIsTheFailureOfTheStream() {
    var failure = new java.io.IOException("cut");
    try (var scope = ActorSystem.openScope("published")) {
      Generator<Integer> generator =
          Generator.of(scope.anonymous().onFailure(io.fibry.FailurePolicy.resume().withoutLog()), 2, out -> {
            out.yield(1);
            throw failure;
          });

      var reader = read(generator, 10);

      assertSame(failure, Patience.value(reader.end));
      assertEquals(List.of(1), reader.seen);
    }
  }

  @Test
  void askingForNothingIsAgainstTheRules() {
    for (long n : new long[] {0, -1}) {
      var reader = read(upTo(10), n);

      var failure = assertInstanceOf(IllegalArgumentException.class, Patience.value(reader.end));

      assertEquals("a subscriber asked for " + n + " elements; rule 3.9 of Reactive Streams wants at least 1",
          failure.getMessage());
    }
  }

  @Test
  void aSubscriberThatThrowsIsLoggedAndCancelled() {
    var closed = new CountDownLatch(2);
    try (var logged = new Logged()) {
      read(new RecordingSubscriber() {
        @Override
        public void onNext(Integer element) {
          throw new IllegalStateException("onNext");
        }
      }, closing(upTo(10), closed), 10);
      read(new RecordingSubscriber() {
        @Override
        public void onComplete() {
          throw new IllegalStateException("onComplete");
        }
      }, closing(upTo(10), closed), 10);
      Flows.publisher(upTo(10)).subscribe(new RecordingSubscriber() {
        @Override
        public void onSubscribe(Flow.Subscription subscription) {
          throw new IllegalStateException("onSubscribe");
        }
      });
      Patience.await(closed);

      for (var text : List.of("onNext", "onComplete", "onSubscribe"))
        assertTrue(logged.text().contains("IllegalStateException: " + text), logged::text);
    }
  }

  @Test
  void badInputIsRefused() {
    assertNullRefused("sequence", () -> Flows.publisher(null));
    assertNullRefused("subscriber", () -> Flows.publisher(upTo(1)).subscribe(null));
  }
}
