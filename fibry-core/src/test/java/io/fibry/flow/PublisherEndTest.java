package io.fibry.flow;

import static io.fibry.flow.RecordingSubscriber.closeable;
import static io.fibry.flow.RecordingSubscriber.numbersBelow;
import static io.fibry.flow.RecordingSubscriber.read;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Strategy;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.LeakProbe;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests that the end of a subscription releases its sequence, threads and subscriber. */
class PublisherEndTest {
  @AfterEach
  void cleanUp() {
    Gate.openAll();
    ActorSystem.setDefaultStrategy(Strategy.FIBER);
  }

  @Test
  void closeableIteratorIsClosedHoweverStreamEnds() {
    var closeLatch = new CountDownLatch(3);

    read(closeable(numbersBelow(3), closeLatch), 10);
    var cancellingReader = read(closeable(numbersBelow(10), closeLatch), 1);
    var faultyReader = read(closeable(numbersBelow(10), closeLatch), 1);
    Patience.eventually(() -> cancellingReader.received.size() + faultyReader.received.size() == 2);
    cancellingReader.subscription.cancel();
    faultyReader.subscription.request(-1);

    Patience.await(closeLatch);
  }

  @Test
  void cancelInterruptsSequenceThatWaitsForElement() {
    var endLatch = new CountDownLatch(1);
    var startLatch = new CountDownLatch(1);
    Generator<Integer> generator = Generator.of(ActorSystem.anonymous(), 1, out -> {
      startLatch.countDown();
      try {
        new Gate().pass();
      } finally {
        endLatch.countDown();
      }
    });
    try (var logged = new Logged()) {
      var reader = read(generator, 1);
      Patience.await(startLatch);

      reader.subscription.cancel();

      Patience.await(endLatch);
      assertFalse(reader.end.isDone());
      assertEquals("", logged.entriesAbout("subscri", "Generator", "PublisherEndTest"));
    }
  }

  @Test
  void cancelInsideOnNextEndsStreamWithoutInterrupt() {
    var interruptFlag = new CompletableFuture<Boolean>();
    var closeLatch = new CountDownLatch(1);
    var reader = read(new RecordingSubscriber() {
      @Override
      public void onNext(Integer element) {
        super.onNext(element);
        subscription.cancel();
        subscription.request(10);
        interruptFlag.complete(Thread.currentThread().isInterrupted());
      }
    }, closeable(numbersBelow(10), closeLatch), 10);
    Patience.await(closeLatch);

    assertFalse(Patience.value(interruptFlag));
    assertEquals(List.of(0), reader.received);
    assertFalse(reader.end.isDone());
  }

  @Test
  void cancelDoesNotInterruptTheSubscriber() {
    var gate = new Gate();
    var closeLatch = new CountDownLatch(1);
    var wasNotInterrupted = new CompletableFuture<Boolean>();
    var reader = read(new RecordingSubscriber() {
      @Override
      public void onNext(Integer element) {
        gate.passUninterruptibly();
        wasNotInterrupted.complete(!Thread.currentThread().isInterrupted());
      }
    }, closeable(numbersBelow(10), closeLatch), 10);
    Patience.await(gate.entered);

    reader.subscription.cancel();
    gate.open();

    assertTrue(Patience.value(wasNotInterrupted));
    Patience.await(closeLatch);
  }

  @Test
  void iteratorThatOpensAfterKillGraceIsStillClosed() {
    var closeLatch = new CountDownLatch(1);

    openAfterCutOff(closeable(numbersBelow(10), closeLatch));

    Patience.await(closeLatch);
  }

  @Test
  void closeFailureOfIteratorOpenedAfterKillGraceIsLogged() {
    class UncloseableIterator implements Iterator<Integer>, AutoCloseable {
      @Override
      public boolean hasNext() {
        return true;
      }

      @Override
      public Integer next() {
        return 0;
      }

      @Override
      public void close() {
        throw new IllegalStateException("stuck");
      }
    }
    try (var logged = new Logged()) {
      openAfterCutOff(UncloseableIterator::new);

      Patience.eventually(() -> logged.entriesAbout("could not be closed").contains("stuck"));
    }
  }

  /** Opens the sequence after its actor was cut off, and its subscriber has got the failure. */
  private static void openAfterCutOff(Iterable<Integer> sequence) {
    var gate = new Gate();
    var reader = new RecordingSubscriber();
    try (var scope = openScopeWithoutGrace()) {
      FlowBridges.<Integer>publisher(scope.anonymous(), () -> {
        gate.passUninterruptibly();
        return sequence.iterator();
      }).subscribe(reader);
      Patience.await(gate.entered);
    }
    assertEquals("the actor that read the sequence was ended", ((Throwable) Patience.value(reader.end)).getMessage());
    gate.open();
  }

  private static ActorScope openScopeWithoutGrace() {
    return ActorSystem.openScope("hasty", o -> o.withDrainLimit(Duration.ZERO).withKillGrace(Duration.ZERO));
  }

  @Test
  void hangingIteratorIsClosedAfterTheKillGrace() {
    var gate = new Gate();
    var closeLatch = new CountDownLatch(1);
    try (var scope = openScopeWithoutGrace()) {
      var reader = new RecordingSubscriber();
      Iterable<Integer> hangingSequence = () -> IntStream.generate(() -> {
        gate.passUninterruptibly();
        return 1;
      }).iterator();
      FlowBridges.publisher(scope.anonymous(), closeable(hangingSequence, closeLatch)).subscribe(reader);
      reader.subscription.request(1);
      Patience.await(gate.entered);

      reader.subscription.cancel();

      Patience.await(closeLatch);
    }
  }

  @Test
  void threadOfCancelledSubscriptionEnds() {
    ActorSystem.setDefaultStrategy(Strategy.THREAD);
    var readerThread = new CompletableFuture<Thread>();
    var reader = read(new RecordingSubscriber() {
      @Override
      public void onNext(Integer element) {
        readerThread.complete(Thread.currentThread());
      }
    }, numbersBelow(10), 1);
    var thread = Patience.value(readerThread);

    reader.subscription.cancel();

    Patience.awaitEnd(thread);
  }

  @Test
  void subscriberGetsFailureWhenExecutorIsShutDown() {
    ExecutorService executor = Executors.newSingleThreadExecutor();
    ActorSystem.setDefaultStrategy(Strategy.of(executor));
    var reader = read(numbersBelow(10), 1);
    Patience.eventually(() -> reader.received.size() == 1);

    executor.close();
    reader.subscription.request(1);

    assertEquals("the actor that read the sequence was ended", ((Throwable) Patience.value(reader.end)).getMessage());
  }

  @Test
  void cancelledSubscriptionKeepsNoReferenceToSubscriber() {
    var reader = read(numbersBelow(10), 1);
    var subscription = reader.subscription;
    var reference = new WeakReference<>(reader);
    reader = null;

    subscription.cancel();

    assertTrue(LeakProbe.collected(reference));
    subscription.request(1);
  }

  @Test
  void producerOfGeneratorEndsWhenSubscriptionIsUnreferenced() {
    var endLatch = new CountDownLatch(1);
    Generator<Integer> generator = Generator.of(ActorSystem.anonymous(), 1, out -> {
      try {
        for (int i = 0;; i++) out.yield(i);
      } finally {
        endLatch.countDown();
      }
    });
    var firstElement = new CountDownLatch(1);
    read(new RecordingSubscriber() {
      @Override
      public void onNext(Integer element) {
        firstElement.countDown();
      }
    }, generator, 1);
    Patience.await(firstElement);

    assertTrue(LeakProbe.eventually(() -> endLatch.getCount() == 0));
  }
}
