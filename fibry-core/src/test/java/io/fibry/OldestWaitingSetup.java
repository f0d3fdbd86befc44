package io.fibry;

import io.fibry.engine.cell.ActorInternals;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Pools;
import io.fibry.testing.Gate;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.Comparator;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Named;

/** The actors of tests of the lower bound for the wait of the oldest message of a mailbox. */
abstract class OldestWaitingSetup {
  static final Duration SECOND = Duration.ofSeconds(1);

  final ManualScheduler clock = new ManualScheduler();
  final ActorScope scope = ActorSystem.openScope("app", o -> o.withScheduler(clock));

  @BeforeEach
  final void forgetWaits() {
    ActorInternals.forgetWaits();
  }

  @AfterEach
  final void close() {
    Gate.openAll();
    scope.closeWithin(Duration.ZERO);
  }

  /** Returns the bound in seconds. */
  final long oldest() {
    return scope.actors().getFirst().oldestWaiting().toSeconds();
  }

  static Stream<Named<UnaryOperator<ActorBuilder<Object>>>> builders() {
    return Stream.concat(buildersInOrderOfArrival(),
        Stream.of(Named.of("thread", b -> b.strategy(Strategy.THREAD)),
            Named.of("dropping", b -> b.mailbox(Mailbox.bounded(1_000, Overflow.DROP_OLDEST))),
            Named.of("by priority", b -> b.mailbox(Mailbox.priority(Comparator.comparing(Object::toString)))),
            Named.of("selective", b -> b.mailbox(Mailbox.unbounded().selective()))));
  }

  static Stream<Named<UnaryOperator<ActorBuilder<Object>>>> buildersInOrderOfArrival() {
    return Stream.of(Named.of("plain", b -> b),
        Named.of("bounded", b -> b.mailbox(Mailbox.bounded(1_000, Overflow.REJECT))),
        Named.of("pool", b -> Pools.fixed(b, 1)), Named.of("pool by key", b -> Pools.byKey(b, 2, message -> "key")));
  }

  /** A handler that waits at a gate, and returns all messages. */
  static Object passGate(Object message) throws InterruptedException {
    if (message instanceof Gate gate) gate.pass();
    return message;
  }
}
