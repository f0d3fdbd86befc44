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
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests nodes that run different versions of a program, as during a rolling restart. */
class UpgradeTest {
  /** The types before the change. */
  static final class OldTypes {
    sealed interface Till {}
    record Pay(long cents) implements Till, Request<Pay, Long> {}
    record Sum() implements Till, Request<Sum, Long> {}
    record Entry(long cents) {}
    record Book(List<Entry> entries) {}
  }

  /** The types after a change that adds a field and a type. */
  static final class NewTypes {
    sealed interface Till {}
    record Pay(long cents, Optional<String> note) implements Till, Request<Pay, Long> {}
    record Sum() implements Till, Request<Sum, Long> {}
    record Refund(long cents) implements Till, Request<Refund, Long> {}
    record Entry(long cents, Optional<String> note) {}
    record Book(List<Entry> entries) {}
  }

  /** Types without a field that old nodes need. */
  static final class IncompatibleTypes {
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

  private Actor<OldTypes.Till> oldTill() {
    return scope.anonymous().newActor((OldTypes.Till message, ActorContext<OldTypes.Till> context) -> {
      switch (message) {
        case OldTypes.Pay pay -> {
          cents.add(pay.cents());
          context.reply(pay, cents.sum());
        }
        case OldTypes.Sum sum -> context.reply(sum, cents.sum());
      }
    });
  }

  @Test
  void olderNodeReadsMessageWithExtraField() {
    a.expose("till", OldTypes.Till.class, oldTill());
    var till = b.actor("till", NewTypes.Till.class);

    assertEquals(5, till.ask(new NewTypes.Pay(5, Optional.of("thanks"))));
    assertEquals(5, till.ask(new NewTypes.Sum()));
  }

  @Test
  void newerNodeReadsMessageWithoutNewField() {
    b.expose("till", NewTypes.Till.class, scope.anonymous()
        .newActor((NewTypes.Till message, ActorContext<NewTypes.Till> context) -> {
          if (message instanceof NewTypes.Pay pay) context.reply(pay, pay.note().isEmpty() ? pay.cents() : -1);
        }));

    assertEquals(5, a.actor("till", OldTypes.Till.class).ask(new OldTypes.Pay(5)));
  }

  @Test
  void requestOfTypeUnknownToOlderNodeFails() {
    a.host("till", OldTypes.Till.class, scope.anonymous(), Duration.ofMinutes(1), (builder, key) -> oldTill());
    var till = b.entities("till", NewTypes.Till.class).actor("t");

    var failure = assertThrows(RemoteFailureException.class, () -> till.ask(new NewTypes.Refund(5)));

    assertTrue(failure.getMessage().contains("Refund"), failure::getMessage);
    assertEquals(7, till.ask(new NewTypes.Pay(7, Optional.empty()))); // the actor continues
  }

  @Test
  void requestWithoutFieldThatOlderNodeNeedsFails() {
    a.expose("till", OldTypes.Till.class, oldTill());

    var failure = assertThrows(RemoteFailureException.class,
        () -> b.actor("till", IncompatibleTypes.Till.class).ask(new IncompatibleTypes.Pay("5,00")));

    assertTrue(failure.getMessage().contains("cents"), failure::getMessage);
    assertEquals(3, a.actor("till", OldTypes.Till.class).ask(new OldTypes.Pay(3)));
  }

  // ---- durable entities

  private static Durable<OldTypes.Till> oldDefinition() {
    return Durable.kind("till", OldTypes.Till.class).storeMessages(10).state(new OldTypes.Book(List.of()))
        .handler((book, message, context) -> switch (message) {
          case OldTypes.Pay pay -> {
            context.reply(pay, pay.cents());
            yield new OldTypes.Book(List.of());
          }
          case OldTypes.Sum sum -> {
            context.reply(sum, (long) book.entries().size());
            yield book;
          }
        });
  }

  private static Durable<NewTypes.Till> newDefinition() {
    return Durable.kind("till", NewTypes.Till.class).storeMessages(10).state(new NewTypes.Book(List.of()))
        .handler((book, message, context) -> switch (message) {
          case NewTypes.Pay pay -> {
            var entries = new ArrayList<>(book.entries());
            entries.add(new NewTypes.Entry(pay.cents(), pay.note()));
            context.reply(pay, pay.cents());
            yield new NewTypes.Book(entries);
          }
          case NewTypes.Sum sum -> {
            context.reply(sum, book.entries().stream().filter(entry -> entry.note().isPresent()).count());
            yield book;
          }
          case NewTypes.Refund refund -> book;
        });
  }

  @Test
  void olderNodeKeepsNewFieldsOfStateAndStoredMessage() {
    var newEntities = b.host(newDefinition(), scope.anonymous(), Duration.ofMinutes(1));
    var till = b.entities(newDefinition()).actor("t");
    assertEquals(5, till.ask(new NewTypes.Pay(5, Optional.of("first"))));
    newEntities.close();

    var oldEntities = a.host(oldDefinition(), scope.anonymous(), Duration.ofMinutes(1));
    Patience.eventually(() -> till.ask(new NewTypes.Sum()) == 1); // answered by the old node, which writes nothing
    assertTrue(till.sendMessage(new NewTypes.Pay(6, Optional.of("second")))); // stored by the old node, and not handled
    oldEntities.close();

    b.host(newDefinition(), scope.anonymous(), Duration.ofMinutes(1));
    Patience.eventually(() -> till.ask(new NewTypes.Sum()) == 2);
  }

  @Test
  void olderNodeKeepsNewFieldsOfDelayedMessage() {
    var newEntities = b.host(newDefinition(), scope.anonymous(), Duration.ofMinutes(1));
    var till = b.entities(newDefinition()).actor("t");
    assertEquals(5, till.ask(new NewTypes.Pay(5, Optional.of("first"))));
    newEntities.close();

    var oldEntities = a.host(oldDefinition(), scope.anonymous(), Duration.ofMinutes(1));
    Patience.eventually(() -> till.ask(new NewTypes.Sum()) == 1);
    till.sendMessageLater(new NewTypes.Pay(6, Optional.of("second")), Duration.ofMillis(1));
    var pending = new LongAdder();
    Patience.eventually(() -> {
      StoreBackend.of(a.store()).forEachPending("till", (actor, due) -> pending.increment());
      return pending.sum() > 0; // stored by the old node, and not handled
    });
    oldEntities.close();

    b.host(newDefinition(), scope.anonymous(), Duration.ofMinutes(1));
    Patience.eventually(() -> till.ask(new NewTypes.Sum()) == 2);
  }
}
