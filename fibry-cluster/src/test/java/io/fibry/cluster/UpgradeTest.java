package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.durable.Durable;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Nodes whose programs are of different versions, as during a rolling restart. */
class UpgradeTest {
  /** The types before the change. */
  static final class Old {
    sealed interface Till {}
    record Pay(long cents) implements Till, Request<Pay, Long> {}
    record Sum() implements Till, Request<Sum, Long> {}
    record Entry(long cents) {}
    record Book(List<Entry> entries) {}
  }

  /** A field and a type more. */
  static final class Next {
    sealed interface Till {}
    record Pay(long cents, Optional<String> note) implements Till, Request<Pay, Long> {}
    record Sum() implements Till, Request<Sum, Long> {}
    record Refund(long cents) implements Till, Request<Refund, Long> {}
    record Entry(long cents, Optional<String> note) {}
    record Book(List<Entry> entries) {}
  }

  /** A field that old nodes need is gone. */
  static final class Wrong {
    sealed interface Till {}
    record Pay(String euros) implements Till, Request<Pay, Long> {}
  }

  private final TestNetwork network = TestNetwork.inMemory();
  private final ActorScope scope = ActorSystem.openScope("upgrade-test");
  private final Cluster a = join("a");
  private final Cluster b = join("b");
  private final LongAdder cents = new LongAdder();

  private Cluster join(String node) {
    return Cluster.join("shop", network, options -> options.withNode(node).withScope(scope).withPartitions(4));
  }

  @AfterEach
  void close() {
    scope.close();
  }

  private Actor<Old.Till> old() {
    return scope.anonymous().newActor((Old.Till message, ActorContext<Old.Till> context) -> {
      switch (message) {
        case Old.Pay pay -> {
          cents.add(pay.cents());
          context.reply(pay, cents.sum());
        }
        case Old.Sum sum -> context.reply(sum, cents.sum());
      }
    });
  }

  @Test
  void olderNodeReadsMessageWithExtraField() {
    a.expose("till", Old.Till.class, old());
    var till = b.actor("till", Next.Till.class);

    assertEquals(5, till.ask(new Next.Pay(5, Optional.of("thanks"))));
    assertEquals(5, till.ask(new Next.Sum()));
  }

  @Test
  void newerNodeReadsMessageWithoutNewField() {
    b.expose("till", Next.Till.class, scope.anonymous()
        .newActor((Next.Till message, ActorContext<Next.Till> context) -> {
          if (message instanceof Next.Pay pay) context.reply(pay, pay.note().isEmpty() ? pay.cents() : -1);
        }));

    assertEquals(5, a.actor("till", Old.Till.class).ask(new Old.Pay(5)));
  }

  @Test
  void typeUnknownToOlderNodeFailsItsRequest() {
    a.host("till", Old.Till.class, scope.anonymous(), Duration.ofMinutes(1), (how, key) -> old());
    var till = b.entities("till", Next.Till.class).actor("t");

    var failure = assertThrows(RemoteFailureException.class, () -> till.ask(new Next.Refund(5)));

    assertTrue(failure.getMessage().contains("Refund"), failure::getMessage);
    assertEquals(7, till.ask(new Next.Pay(7, Optional.empty()))); // it continues
  }

  @Test
  void fieldMissingForOlderNodeFailsItsRequest() {
    a.expose("till", Old.Till.class, old());

    var failure = assertThrows(RemoteFailureException.class,
        () -> b.actor("till", Wrong.Till.class).ask(new Wrong.Pay("5,00")));

    assertTrue(failure.getMessage().contains("cents"), failure::getMessage);
    assertEquals(3, a.actor("till", Old.Till.class).ask(new Old.Pay(3)));
  }

  // ---- durable entities

  private static Durable<Old.Till> oldKept() {
    return Durable.kind("till", Old.Till.class).storeMessages(10).state(new Old.Book(List.of()))
        .handler((book, message, context) -> switch (message) {
          case Old.Pay pay -> {
            context.reply(pay, pay.cents());
            yield new Old.Book(List.of());
          }
          case Old.Sum sum -> {
            context.reply(sum, (long) book.entries().size());
            yield book;
          }
        });
  }

  private static Durable<Next.Till> nextKept() {
    return Durable.kind("till", Next.Till.class).storeMessages(10).state(new Next.Book(List.of()))
        .handler((book, message, context) -> switch (message) {
          case Next.Pay pay -> {
            var entries = new ArrayList<>(book.entries());
            entries.add(new Next.Entry(pay.cents(), pay.note()));
            context.reply(pay, pay.cents());
            yield new Next.Book(entries);
          }
          case Next.Sum sum -> {
            context.reply(sum, book.entries().stream().filter(one -> one.note().isPresent()).count());
            yield book;
          }
          case Next.Refund refund -> book;
        });
  }

  @Test
  void olderNodeErasesNoFieldOfStateOrStoredMessage() {
    var first = b.host(nextKept(), scope.anonymous(), Duration.ofMinutes(1));
    var till = b.entities(nextKept()).actor("t");
    assertEquals(5, till.ask(new Next.Pay(5, Optional.of("first"))));
    first.close();

    var old = a.host(oldKept(), scope.anonymous(), Duration.ofMinutes(1));
    Patience.eventually(() -> till.ask(new Next.Sum()) == 1); // answered by the old node, which writes nothing
    assertTrue(till.sendMessage(new Next.Pay(6, Optional.of("second")))); // kept by it, and not handled
    old.close();

    b.host(nextKept(), scope.anonymous(), Duration.ofMinutes(1));
    Patience.eventually(() -> till.ask(new Next.Sum()) == 2);
  }

  @Test
  void olderNodeErasesNoFieldOfTimedMessage() {
    var first = b.host(nextKept(), scope.anonymous(), Duration.ofMinutes(1));
    var till = b.entities(nextKept()).actor("t");
    assertEquals(5, till.ask(new Next.Pay(5, Optional.of("first"))));
    first.close();

    var old = a.host(oldKept(), scope.anonymous(), Duration.ofMinutes(1));
    Patience.eventually(() -> till.ask(new Next.Sum()) == 1);
    till.sendMessageLater(new Next.Pay(6, Optional.of("second")), Duration.ofMillis(1));
    var waiting = new LongAdder();
    Patience.eventually(() -> {
      a.store().forEachPending("till", (actor, due) -> waiting.increment());
      return waiting.sum() > 0; // kept by the old node, and not handled
    });
    old.close();

    b.host(nextKept(), scope.anonymous(), Duration.ofMinutes(1));
    Patience.eventually(() -> till.ask(new Next.Sum()) == 2);
  }
}
