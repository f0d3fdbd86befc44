package io.fibry.flow;

import static io.fibry.flow.NullAssertion.assertNullRefused;
import static io.fibry.flow.RecordingSubscriber.closeable;
import static io.fibry.flow.RecordingSubscriber.numbersBelow;
import static io.fibry.flow.RecordingSubscriber.read;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.Strategy;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.LeakProbe;
import io.fibry.testing.Promise;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests published sequences; {@code fibry-proof} tests the rules of Reactive Streams. */
class PublisherTest {
  @AfterEach
  void cleanUp() {
    Gate.openAll();
    ActorSystem.setDefaultStrategy(Strategy.FIBER);
  }

  @Test
  void eachSubscriberReadsAllElementsAtItsOwnPace() {
    var publisher = FlowBridges.publisher(numbersBelow(10));
    var slowReader = new RecordingSubscriber();
    var quickReader = new RecordingSubscriber();
    publisher.subscribe(slowReader);
    publisher.subscribe(quickReader);

    slowReader.subscription.request(2);
    quickReader.subscription.request(Long.MAX_VALUE);
    Patience.eventually(() -> slowReader.received.size() == 2);

    assertEquals("complete", Patience.value(quickReader.end));
    assertEquals(10, quickReader.received.size());
    assertFalse(slowReader.end.isDone());
    slowReader.subscription.request(8);
    assertEquals("complete", Patience.value(slowReader.end));
  }

  @Promise("22.9")
  @Test
  void publisherSendsOnlyRequestedElements() {
    var reader = read(numbersBelow(1_000), 3, 4);

    Patience.eventually(() -> reader.received.size() == 7);
    LeakProbe.used(); // takes time, in which a wrong element could arrive

    assertEquals(7, reader.received.size());
    reader.subscription.cancel();
  }

  @Test
  void requestsAddUpWithoutOverflow() {
    var reader = read(new RecordingSubscriber() {
      @Override
      public void onSubscribe(Flow.Subscription subscription) {
        // the sum of the three numbers overflows to zero in 64 bits
        for (long n : new long[] {Long.MAX_VALUE, Long.MAX_VALUE, 2}) subscription.request(n);
      }
    }, numbersBelow(1_000));

    assertEquals("complete", Patience.value(reader.end));
    assertEquals(1_000, reader.received.size());
  }

  @Test
  void subscriberGetsEndOfSequenceWithoutFurtherRequest() {
    var readerOfNothing = read(List.of());
    var exactReader = read(numbersBelow(3), 3);

    assertEquals("complete", Patience.value(readerOfNothing.end));
    assertEquals("complete", Patience.value(exactReader.end));
  }

  @Test
  void requestInsideOnNextDoesNotOverflowTheStack() {
    for (var strategy : List.of(Strategy.FIBER, Strategy.CALLER)) {
      ActorSystem.setDefaultStrategy(strategy);
      var reader = read(new RecordingSubscriber() {
        private int count;

        @Override
        public void onNext(Integer element) {
          count++;
          subscription.request(1);
          if (count == 100_000) received.add(count);
        }
      }, numbersBelow(100_000), 1);

      assertEquals("complete", Patience.value(reader.end));
      assertEquals(List.of(100_000), reader.received);
    }
  }

  @Test
  void noElementArrivesBeforeOnSubscribeReturns() {
    var earlyElements = new CopyOnWriteArrayList<Integer>();
    var reader = read(new RecordingSubscriber() {
      @Override
      public void onSubscribe(Flow.Subscription subscription) {
        subscription.request(10);
        LeakProbe.used(); // takes time, in which a wrong element could arrive
        earlyElements.addAll(received);
        super.onSubscribe(subscription);
      }
    }, numbersBelow(5));

    assertEquals("complete", Patience.value(reader.end));
    assertEquals(List.of(), earlyElements);
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
    Iterable<Integer> nullElement = () -> new ArrayList<Integer>() {
      private static final long serialVersionUID = 1;

      {
        add(null);
      }
    }.iterator();

    var noIteratorReader = read(noIterator, 10);
    var noNextReader = read(noNext, 10);
    var nullElementReader = read(nullElement, 10);

    assertSame(failure, Patience.value(noIteratorReader.end));
    assertSame(failure, Patience.value(noNextReader.end));
    assertEquals(List.of(0, 1, 2), noNextReader.received);
    assertEquals("an element of the sequence is null",
        ((Throwable) Patience.value(nullElementReader.end)).getMessage());
  }

  @Test
  void failureOfProducerFailsStream() {
    var failure = new java.io.IOException("cut");
    try (var scope = ActorSystem.openScope("published")) {
      Generator<Integer> generator =
          Generator.of(scope.anonymous().onFailure(io.fibry.FailurePolicy.resume().withoutLog()), 2, out -> {
            out.yield(1);
            throw failure;
          });

      var reader = read(generator, 10);

      assertSame(failure, Patience.value(reader.end));
      assertEquals(List.of(1), reader.received);
    }
  }

  @Test
  void requestForZeroElementsFailsStream() {
    for (long n : new long[] {0, -1}) {
      var reader = read(numbersBelow(10), n);

      var failure = assertInstanceOf(IllegalArgumentException.class, Patience.value(reader.end));

      assertEquals("a subscriber asked for " + n + " elements; rule 3.9 of Reactive Streams wants at least 1",
          failure.getMessage());
    }
  }

  @Test
  void exceptionOfSubscriberIsLoggedAndCancelsSubscription() {
    var closeLatch = new CountDownLatch(2);
    try (var logged = new Logged()) {
      read(new RecordingSubscriber() {
        @Override
        public void onNext(Integer element) {
          throw new IllegalStateException("onNext");
        }
      }, closeable(numbersBelow(10), closeLatch), 10);
      read(new RecordingSubscriber() {
        @Override
        public void onComplete() {
          throw new IllegalStateException("onComplete");
        }
      }, closeable(numbersBelow(10), closeLatch), 10);
      FlowBridges.publisher(numbersBelow(10)).subscribe(new RecordingSubscriber() {
        @Override
        public void onSubscribe(Flow.Subscription subscription) {
          throw new IllegalStateException("onSubscribe");
        }
      });
      Patience.await(closeLatch);

      for (var text : List.of("onNext", "onComplete", "onSubscribe"))
        assertTrue(logged.text().contains("IllegalStateException: " + text), logged::text);
    }
  }

  @Test
  void exceptionNamesNullArgument() {
    assertNullRefused("sequence", () -> FlowBridges.publisher(null));
    assertNullRefused("subscriber", () -> FlowBridges.publisher(numbersBelow(1)).subscribe(null));
  }
}
