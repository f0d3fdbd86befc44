package io.fibry.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.DeadLetter.Reason;
import io.fibry.block.Throwables;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.SilencedStdErr;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that a failing weight or key function, or a key whose methods throw, fails only the send
 * that called it.
 */
@ExtendWith(SilencedStdErr.class)
class PoolUserCodeFaultTest extends PoolFixture {
  private final List<Object> handled = new CopyOnWriteArrayList<>();

  /** A key whose methods throw while their suppliers return true. */
  private static final class Key {
    final String name;
    final BooleanSupplier hashThrows;
    final BooleanSupplier equalsThrows;
    final Function<String, Throwable> failure;

    Key(String name, BooleanSupplier hashThrows, BooleanSupplier equalsThrows) {
      this(name, hashThrows, equalsThrows, IllegalStateException::new);
    }

    Key(String name, BooleanSupplier hashThrows, BooleanSupplier equalsThrows, Function<String, Throwable> failure) {
      this.name = name;
      this.hashThrows = hashThrows;
      this.equalsThrows = equalsThrows;
      this.failure = failure;
    }

    @Override
    public int hashCode() {
      if (hashThrows.getAsBoolean()) throw Throwables.<RuntimeException>sneakyThrow(failure.apply("hash of " + name));
      return name.length();
    }

    @Override
    public boolean equals(Object other) {
      if (equalsThrows.getAsBoolean())
        throw Throwables.<RuntimeException>sneakyThrow(failure.apply("equals of " + name));
      return other instanceof Key key && key.name.equals(name);
    }

    @Override
    public String toString() {
      return name;
    }
  }

  private static Key key(String name) {
    return new Key(name, () -> false, () -> false);
  }

  private Actor<Object> pool(Mailbox<Object> mailbox, int workers) {
    return Pools.byKey(builder.mailbox(mailbox), workers, (Object message) -> message).newActor((Object message) -> {
      if (message instanceof Gate gate) gate.pass();
      handled.add(message);
    });
  }

  @Test
  void failureOfHashCodeIsThrownToSenderEvenIfMailboxIsFull() {
    var pool = pool(Mailbox.bounded(1, Overflow.BLOCK), 1);
    var gate = Gate.occupy(pool);
    pool.sendMessage(key("waits"));
    var refusal = new CompletableFuture<Throwable>();
    var failingSender = Patience.startFiber(() -> assertThrows(IllegalStateException.class,
        () -> pool.sendMessage(new Key("bad", () -> true, () -> false))), refusal);
    Patience.eventually(() -> refusal.isDone() || failingSender.getState() == Thread.State.WAITING);
    var waitingSender = Patience.startFiber(() -> pool.sendMessage(key("good")));
    Patience.awaitParked(waitingSender);

    gate.open();

    assertEquals("hash of bad", Patience.value(refusal).getMessage());
    Patience.awaitEnd(waitingSender);
    Patience.eventually(() -> handled.size() == 3);
    assertTrue(pool.sendMessage("next"));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void poolHandlesLaterMessagesAfterEqualsOfKeysThrew(boolean asError) {
    Function<String, Throwable> failure = asError ? AssertionError::new : IllegalStateException::new;
    var pool = pool(Mailbox.bounded(2, Overflow.BLOCK), 1);
    var gate = Gate.occupy(pool);
    var mainThread = Thread.currentThread();
    var keysThrow = new AtomicBoolean();
    pool.sendMessage(new Key("a", () -> keysThrow.get() && Thread.currentThread() != mainThread,
        () -> keysThrow.get() && Thread.currentThread() != mainThread, failure));
    pool.sendMessage(new Key("b", () -> keysThrow.get() && Thread.currentThread() != mainThread,
        () -> keysThrow.get() && Thread.currentThread() != mainThread, failure));
    var waitingSender =
        Patience
            .startFiber(() -> pool.sendMessage(new Key("a", () -> keysThrow.get(), () -> keysThrow.get(), failure)));
    Patience.awaitParked(waitingSender);
    keysThrow.set(true);

    gate.open();

    Patience.eventually(() -> handled.size() == 4);
    keysThrow.set(false);
    assertTrue(pool.sendMessage(key("a")));
    assertTrue(pool.sendMessage(key("b")));
    Patience.eventually(() -> handled.size() == 6);
  }

  @Test
  void sendThatFailsInHashCodeDropsNoQueuedMessage() {
    var pool = pool(Mailbox.bounded(2, Overflow.DROP_OLDEST), 1);
    var gate = Gate.occupy(pool);
    pool.sendMessage("one");
    pool.sendMessage("two");

    assertThrows(IllegalStateException.class, () -> pool.sendMessage(new Key("bad", () -> true, () -> false)));

    gate.open();
    Patience.eventually(() -> handled.size() == 3);
    assertEquals(List.of(), letters.all);
  }

  @Test
  void stackOverflowInWeightOrKeyFunctionIsThrownToSender() {
    var weightedPool =
        echo(Pools.weighted(builder, 2, (Object message) -> recurse(message)));
    var keyedPool = echo(Pools.byKey(builder, 2, (Object message) -> recurse(message)));

    for (int i = 0; i < 10; i++) {
      assertThrows(StackOverflowError.class, () -> weightedPool.sendMessage("deep"));
      assertThrows(StackOverflowError.class, () -> keyedPool.ask("deep"));
    }

    assertEquals("x", weightedPool.ask("x"));
    assertEquals("x", keyedPool.ask("x"));
    assertTrue(scope.awaitQuiescence(Patience.LONG)); // a worker counts its message after it has answered
    assertEquals(2, scope.report().sent());
  }

  private static int recurse(Object message) {
    return message.equals("deep") ? recurse(message) + 1 : 1;
  }

  @Test
  void stackOverflowInHashOfKeyIsThrownToSender() {
    var pool = pool(Mailbox.unbounded(), 2);
    var deepKey = new Key("deep", () -> recurse("deep") > 0, () -> false);

    assertThrows(StackOverflowError.class, () -> pool.sendMessage(deepKey));

    IntStream.range(0, 100).forEach(pool::sendMessage);
    Patience.eventually(() -> handled.size() == 100);
    assertEquals(0, scope.report().queued());
  }

  @Test
  void timerMessageIsDeadLetterWhenWeightFunctionOverflowsStack() {
    var pool = Pools.weighted(builder, 2, (Object message) -> recurse(message)).newActor((Object message) -> {});

    pool.sendMessageLater("deep", Duration.ofMillis(1));

    Patience.eventually(() -> letters.messages(Reason.REJECTED).equals(List.of("deep")));
  }
}
