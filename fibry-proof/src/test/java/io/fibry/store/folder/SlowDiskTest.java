package io.fibry.store.folder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.AskTimeoutException;
import io.fibry.Request;
import io.fibry.durable.Durable;
import io.fibry.support.Patience;
import io.fibry.test.CrashDisk;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the answers of an actor while the disk has not confirmed the previous turns. */
class SlowDiskTest {
  sealed interface Message {}

  record Count() implements Message, Request<Count, Long> {}

  record ReadCount() implements Message, Request<ReadCount, Long> {}

  private final Semaphore handled = new Semaphore(0);
  private final CountDownLatch gate = new CountDownLatch(1);
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = ActorSystem.openScope("blocked", options -> options.withScheduler(clock));
  private final CrashDisk disk = CrashDisk.empty();
  private final FolderStore store = FolderStore.open(disk, options -> options);

  private final Actor<Message> counter =
      Durable.kind("counter", Message.class).state(0L).handler((n, message, context) -> switch (message) {
        case Count count -> {
          context.reply(count, n + 1);
          handled.release();
          yield n + 1;
        }
        case ReadCount read -> {
          context.reply(read, n);
          handled.release();
          yield n;
        }
      }).newActor(scope.named("c"), store);

  @AfterEach
  void close() {
    gate.countDown();
    scope.close();
    store.close();
  }

  private void blockSync() {
    assertEquals(0, counter.ask(new ReadCount())); // the counter has loaded before syncs wait
    handled.drainPermits();
    disk.beforeOperation(operation -> {
      if (operation.startsWith("sync")) awaitGate();
    });
  }

  private void awaitGate() {
    try {
      gate.await();
    } catch (InterruptedException interrupt) {
      throw new AssertionError(interrupt);
    }
  }

  @Test
  void readIsNotAnsweredBeforeTurnThatItReadsIsStored() {
    blockSync();
    var countAnswer = counter.sendMessageReturn(new Count());
    var readAnswer = counter.sendMessageReturn(new ReadCount());

    Patience.acquire(handled, 2); // the next turn begins before the previous turn is stored
    assertFalse(countAnswer.isDone());
    assertFalse(readAnswer.isDone());
    gate.countDown();

    assertEquals(1, Patience.value(countAnswer));
    assertEquals(1, Patience.value(readAnswer));
  }

  @Test
  void turnIsStoredAfterItsRequestTimedOut() {
    blockSync();

    CompletableFuture<AskTimeoutException> timeout = Patience.callOnFiber(
        () -> assertThrows(AskTimeoutException.class, () -> counter.ask(new Count(), Duration.ofHours(1))));
    Patience.acquire(handled);
    Patience.eventually(() -> {
      clock.advance(Duration.ofHours(1));
      return timeout.isDone();
    });
    Patience.value(timeout);
    gate.countDown();

    assertEquals(1, counter.ask(new ReadCount()));
  }

  record Fill(int size) implements Request<Fill, Integer> {}

  @Test
  void turnOfKilledActorIsWholeOrAbsent() {
    var largeKind = Durable.kind("large", Fill.class).state(new byte[1]).handler((bytes, fill, context) -> {
      context.reply(fill, bytes.length);
      handled.release();
      return new byte[fill.size()];
    });
    var slowDisk = CrashDisk.empty();
    try (var smallStore = FolderStore.open(slowDisk, options -> options.withMaxPendingBytes(10_000))) {
      var killedActor = largeKind.newActor(scope.named("l"), smallStore);
      assertEquals(1, killedActor.ask(new Fill(2)));
      handled.drainPermits();
      slowDisk.beforeOperation(operation -> {
        if (operation.startsWith("sync")) awaitGate();
      });
      try {
        killedActor.sendMessageReturn(new Fill(6_000)); // this turn is being stored
        killedActor.sendMessageReturn(new Fill(8_000)); // this turn waits for capacity
        Patience.acquire(handled, 2);

        killedActor.kill();
      } finally { // otherwise the close of the store waits for its syncs
        gate.countDown();
      }
      Patience.awaitEnd(killedActor::waitForExit);

      int size = largeKind.newActor(scope.named("l"), smallStore).ask(new Fill(3));
      assertTrue(size == 6_000 || size == 8_000, size + " bytes");
      assertEquals(1, largeKind.newActor(scope.named("other"), smallStore).ask(new Fill(3)));
    }
  }
}
