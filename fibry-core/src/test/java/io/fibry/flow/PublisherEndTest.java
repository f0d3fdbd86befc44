package io.fibry.flow;

import static io.fibry.flow.RecordingSubscriber.closing;
import static io.fibry.flow.RecordingSubscriber.read;
import static io.fibry.flow.RecordingSubscriber.upTo;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.Gate;
import io.fibry.LeakProbe;
import io.fibry.Strategy;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import java.lang.ref.WeakReference;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A subscription ends, and leaves nothing. */
class PublisherEndTest {
  @AfterEach
  void cleanUp() {
    Gate.openAll();
    ActorSystem.setDefaultStrategy(Strategy.FIBER);
  }

  @Test
  void anIteratorThatCanBeClosedIsClosedAtTheEnd() {
    var closed = new CountDownLatch(3);

    read(closing(upTo(3), closed), 10);
    var cancels = read(closing(upTo(10), closed), 1);
    var breaksTheRules = read(closing(upTo(10), closed), 1);
    Patience.eventually(() -> cancels.seen.size() + breaksTheRules.seen.size() == 2);
    cancels.subscription.cancel();
    breaksTheRules.subscription.request(-1);

    Patience.await(closed);
  }

  @Test
  void cancelInterruptsASequenceThatWaits() {
    var ended = new CountDownLatch(1);
    var begun = new CountDownLatch(1);
    Generator<Integer> never = Generator.of(ActorSystem.anonymous(), 1, out -> {
      begun.countDown();
      try {
        new Gate().pass();
      } finally {
        ended.countDown();
      }
    });
    try (var logged = new Logged()) {
      var reader = read(never, 1);
      Patience.await(begun);

      reader.subscription.cancel();

      Patience.await(ended);
      assertFalse(reader.end.isDone());
      assertEquals("", logged.about("subscri", "Generator", "PublisherEndTest"));
    }
  }

  @Test
  void cancelInsideOnNextIsTheLastOfIt() {
    var flag = new CompletableFuture<Boolean>();
    var closed = new CountDownLatch(1);
    var reader = read(new RecordingSubscriber() {
      @Override
      public void onNext(Integer element) {
        super.onNext(element);
        subscription.cancel();
        subscription.request(10);
        flag.complete(Thread.currentThread().isInterrupted());
      }
    }, closing(upTo(10), closed), 10);
    Patience.await(closed);

    assertFalse(Patience.value(flag));
    assertEquals(List.of(0), reader.seen);
    assertFalse(reader.end.isDone());
  }

  @Test
  void cancelDoesNotInterruptTheSubscriber() {
    var gate = new Gate();
    var closed = new CountDownLatch(1);
    var passed = new CompletableFuture<Boolean>();
    var reader = read(new RecordingSubscriber() {
      @Override
      public void onNext(Integer element) {
        gate.passDeaf();
        passed.complete(!Thread.currentThread().isInterrupted());
      }
    }, closing(upTo(10), closed), 10);
    Patience.await(gate.entered);

    reader.subscription.cancel();
    gate.open();

    assertTrue(Patience.value(passed));
    Patience.await(closed);
  }

  @Test
  void aThreadOfItsOwnEndsWithTheSubscription() {
    ActorSystem.setDefaultStrategy(Strategy.THREAD);
    var where = new CompletableFuture<Thread>();
    var reader = read(new RecordingSubscriber() {
      @Override
      public void onNext(Integer element) {
        where.complete(Thread.currentThread());
      }
    }, upTo(10), 1);
    var thread = Patience.value(where);

    reader.subscription.cancel();

    Patience.joined(thread);
  }

  @Test
  void whenItsExecutorIsShutDownTheSubscriberIsTold() {
    ExecutorService pool = Executors.newSingleThreadExecutor();
    ActorSystem.setDefaultStrategy(Strategy.of(pool));
    var reader = read(upTo(10), 1);
    Patience.eventually(() -> reader.seen.size() == 1);

    pool.close();
    reader.subscription.request(1);

    assertEquals("the actor that read the sequence was ended", ((Throwable) Patience.value(reader.end)).getMessage());
  }

  @Test
  void aCancelledSubscriptionKeepsNothing() {
    var reader = read(upTo(10), 1);
    var subscription = reader.subscription;
    var reference = new WeakReference<>(reader);
    reader = null;

    subscription.cancel();

    assertTrue(LeakProbe.collected(reference));
    subscription.request(1);
  }

  @Test
  void aSubscriptionThatIsForgottenEndsTheProducersOfItsGenerator() {
    var ended = new CountDownLatch(1);
    Generator<Integer> generator = Generator.of(ActorSystem.anonymous(), 1, out -> {
      try {
        for (int i = 0;; i++) out.yield(i);
      } finally {
        ended.countDown();
      }
    });
    var first = new CountDownLatch(1);
    read(new RecordingSubscriber() {
      @Override
      public void onNext(Integer element) {
        first.countDown();
      }
    }, generator, 1);
    Patience.await(first);

    assertTrue(LeakProbe.eventually(() -> ended.getCount() == 0));
  }
}
