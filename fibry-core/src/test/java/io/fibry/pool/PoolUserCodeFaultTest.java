package io.fibry.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.DeadLetter.Reason;
import io.fibry.Gate;
import io.fibry.Hush;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Weights and keys that throw: a failure of their sender only. */
@ExtendWith(Hush.class)
class PoolUserCodeFaultTest extends PoolFixture {
  private final List<Object> handled = new CopyOnWriteArrayList<>();

  /** A key that throws while its suppliers say so. */
  private static final class Key {
    final String name;
    final BooleanSupplier nastyHash;
    final BooleanSupplier nastyEquals;

    Key(String name, BooleanSupplier nastyHash, BooleanSupplier nastyEquals) {
      this.name = name;
      this.nastyHash = nastyHash;
      this.nastyEquals = nastyEquals;
    }

    @Override
    public int hashCode() {
      if (nastyHash.getAsBoolean()) throw new IllegalStateException("hash of " + name);
      return name.length();
    }

    @Override
    public boolean equals(Object other) {
      if (nastyEquals.getAsBoolean()) throw new IllegalStateException("equals of " + name);
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
    return Pools.byKey(how.mailbox(mailbox), workers, (Object message) -> message).newActor((Object message) -> {
      if (message instanceof Gate gate) gate.pass();
      handled.add(message);
    });
  }

  @Test
  void senderOfUnhashableKeyIsToldEvenWhenMailboxIsFull() {
    var pool = pool(Mailbox.bounded(1, Overflow.BLOCK), 1);
    var gate = Gate.occupy(pool);
    pool.sendMessage(key("waits"));
    var refused = new CompletableFuture<Throwable>();
    var bad = Patience.startFiber(() -> refused.complete(
        assertThrows(IllegalStateException.class, () -> pool.sendMessage(new Key("bad", () -> true, () -> false)))));
    Patience.eventually(() -> refused.isDone() || bad.getState() == Thread.State.WAITING);
    var good = Patience.startFiber(() -> pool.sendMessage(key("good")));
    Patience.parked(good);

    gate.open();

    assertEquals("hash of bad", Patience.value(refused).getMessage());
    Patience.joined(good);
    Patience.eventually(() -> handled.size() == 3);
    assertTrue(pool.sendMessage("next"));
  }

  @Test
  void incomparableKeyDelaysNoOtherKey() {
    var pool = pool(Mailbox.bounded(2, Overflow.BLOCK), 1);
    var gate = Gate.occupy(pool);
    var main = Thread.currentThread();
    var nasty = new AtomicBoolean();
    pool.sendMessage(new Key("a", () -> nasty.get() && Thread.currentThread() != main,
        () -> nasty.get() && Thread.currentThread() != main));
    pool.sendMessage(new Key("b", () -> nasty.get() && Thread.currentThread() != main,
        () -> nasty.get() && Thread.currentThread() != main));
    var third = Patience.startFiber(() -> pool.sendMessage(new Key("a", () -> nasty.get(), () -> nasty.get())));
    Patience.parked(third);
    nasty.set(true);

    gate.open();

    Patience.eventually(() -> handled.size() == 4);
    nasty.set(false);
    assertTrue(pool.sendMessage(key("a")));
    assertTrue(pool.sendMessage(key("b")));
    Patience.eventually(() -> handled.size() == 6);
  }

  @Test
  void messageDroppedForFailedSendIsNotLost() {
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
  void aWeightOrAKeyThatOverflowsItsStackIsTheSendersFailure() {
    var heavy =
        echo(Pools.weighted(how, 2, (Object message) -> deep(message)));
    var keyed = echo(Pools.byKey(how, 2, (Object message) -> deep(message)));

    for (int i = 0; i < 10; i++) {
      assertThrows(StackOverflowError.class, () -> heavy.sendMessage("deep"));
      assertThrows(StackOverflowError.class, () -> keyed.ask("deep"));
    }

    assertEquals("x", heavy.ask("x"));
    assertEquals("x", keyed.ask("x"));
    assertTrue(scope.awaitQuiescence(Patience.LONG)); // a worker counts its message after the answer
    assertEquals(2, scope.report().sent());
  }

  private static int deep(Object message) {
    return message.equals("deep") ? deep(message) + 1 : 1;
  }

  @Test
  void aHashThatOverflowsItsStackIsTheSendersFailure() {
    var pool = pool(Mailbox.unbounded(), 2);
    var deep = new Key("deep", () -> deep("deep") > 0, () -> false);

    assertThrows(StackOverflowError.class, () -> pool.sendMessage(deep));

    IntStream.range(0, 100).forEach(pool::sendMessage);
    Patience.eventually(() -> handled.size() == 100);
    assertEquals(0, scope.report().queued());
  }

  @Test
  void aTimersMessageThatIsTooHeavyForItsStackIsADeadLetter() {
    var pool = Pools.weighted(how, 2, (Object message) -> deep(message)).newActor((Object message) -> {});

    pool.sendMessageLater("deep", Duration.ofMillis(1));

    Patience.eventually(() -> letters.messages(Reason.REJECTED).equals(List.of("deep")));
  }
}
