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

/** What an actor says while the disk has not said that it has the turns before. */
class SlowDiskTest {
  sealed interface Message {}

  record Count() implements Message, Request<Count, Long> {}

  record Look() implements Message, Request<Look, Long> {}

  private final Semaphore handled = new Semaphore(0);
  private final CountDownLatch gate = new CountDownLatch(1);
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = ActorSystem.openScope("held", options -> options.withScheduler(clock));
  private final CrashDisk disk = CrashDisk.empty();
  private final FolderStore store = FolderStore.open(disk, options -> options);

  private final Actor<Message> counter =
      Durable.kind("counter", Message.class).state(0L).handler((n, message, context) -> switch (message) {
        case Count count -> {
          context.reply(count, n + 1);
          handled.release();
          yield n + 1;
        }
        case Look look -> {
          context.reply(look, n);
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

  private void hold() {
    assertEquals(0, counter.ask(new Look())); // all actors that are made at the beginning exist
    handled.drainPermits();
    disk.beforeOperation(operation -> {
      if (operation.startsWith("sync")) pass();
    });
  }

  private void pass() {
    try {
      gate.await();
    } catch (InterruptedException interrupt) {
      throw new AssertionError(interrupt);
    }
  }

  @Test
  void readWaitsUntilDataItSawIsStored() {
    hold();
    var counted = counter.sendMessageReturn(new Count());
    var seen = counter.sendMessageReturn(new Look());

    Patience.acquired(handled, 2); // the next turn begins before the last one is stored
    assertFalse(counted.isDone());
    assertFalse(seen.isDone());
    gate.countDown();

    assertEquals(1, Patience.value(counted));
    assertEquals(1, Patience.value(seen));
  }

  @Test
  void lateTurnIsStillStored() {
    hold();

    var late = new CompletableFuture<AskTimeoutException>();
    Patience.startFiber(() -> late
        .complete(assertThrows(AskTimeoutException.class, () -> counter.ask(new Count(), Duration.ofHours(1)))));
    Patience.acquired(handled);
    Patience.eventually(() -> {
      clock.advance(Duration.ofHours(1));
      return late.isDone();
    });
    gate.countDown();

    assertEquals(1, counter.ask(new Look()));
  }

  record Fill(int size) implements Request<Fill, Integer> {}

  @Test
  void aKilledActorsTurnIsWholeOrAbsent() {
    var large = Durable.kind("large", Fill.class).state(new byte[1]).handler((bytes, fill, context) -> {
      context.reply(fill, bytes.length);
      handled.release();
      return new byte[fill.size()];
    });
    var slow = CrashDisk.empty();
    try (var small = FolderStore.open(slow, options -> options.withMaxPendingBytes(10_000))) {
      var killed = large.newActor(scope.named("l"), small);
      assertEquals(1, killed.ask(new Fill(2)));
      handled.drainPermits();
      slow.beforeOperation(operation -> {
        if (operation.startsWith("sync")) pass();
      });
      killed.sendMessageReturn(new Fill(6_000)); // is being stored
      killed.sendMessageReturn(new Fill(8_000)); // waits for room
      Patience.acquired(handled, 2);

      killed.kill();
      gate.countDown();
      Patience.ended(killed::waitForExit);

      int size = large.newActor(scope.named("l"), small).ask(new Fill(3));
      assertTrue(size == 6_000 || size == 8_000, size + " bytes");
      assertEquals(1, large.newActor(scope.named("other"), small).ask(new Fill(3)));
    }
  }
}
