package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.FailurePolicy;
import io.fibry.Request;
import io.fibry.codec.Codec;
import io.fibry.store.Store;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Tests snapshots, remembered answers and results of steps that were stored with older types. */
abstract class OldFormsContract extends StoreFixture {
  sealed interface Message {}
  record Pay(long cents) implements Message, Request<Pay, Long> {}
  record Close() implements Message, Request<Close, Long> {}

  record Paid(long cents) {}

  record Total(long cents) {} // the older state

  record Sum(long cents, long payments) {} // the newer state: another name, and one more field

  static final Store.ActorId ADA = new Store.ActorId("till", "ada");
  private static final Codec<Paid> EVENTS = Codec.of(Paid.class);

  OldFormsContract(TestStores.Maker maker) {
    super(maker);
  }

  static Durable.Builder<Message> kind() {
    return Durable.kind("till", Message.class).snapshotEvery(3);
  }

  static Durable<Message> olderKind(Durable.Builder<Message> kind) {
    return kind.events(Paid.class, new Total(0), (Total total, Paid paid) -> new Total(total.cents() + paid.cents()))
        .handler((total, message, context) -> {
          switch (message) {
            case Pay pay -> context.reply(pay, context.persist(new Paid(pay.cents())).cents());
            case Close close -> {
              context.erase();
              context.reply(close, total.cents());
            }
          }
        });
  }

  private static Durable<Message> newerKind(Durable.EventsStep<Sum, Paid, Message> events) {
    return events.handler((sum, message, context) -> {
      switch (message) {
        case Pay pay -> {
          var newSum = context.persist(new Paid(pay.cents()));
          context.reply(pay, 1000 * newSum.payments() + newSum.cents());
        }
        case Close close -> context.erase();
      }
    });
  }

  private static Sum after(Sum sum, Paid paid) {
    return new Sum(sum.cents() + paid.cents(), sum.payments() + 1);
  }

  static Durable<Message> newerKind() {
    return newerKind(kind().events(EVENTS, new Sum(0, 0), OldFormsContract::after));
  }

  <M> Actor<M> ada(Durable<M> kind) {
    return kind.newActor(scope.named("ada").onFailure(FailurePolicy.resume()), store);
  }

  static void end(Actor<?> actor) {
    actor.close();
    Patience.awaitEnd(actor::waitForExit);
  }

  static void pay(Actor<Message> till, int times) {
    for (int i = 0; i < times; i++) till.ask(new Pay(5));
  }

  @Test
  void eventsAreReplayedWhenSnapshotIsUnreadable() {
    var olderTill = ada(olderKind(kind()));
    pay(olderTill, 8); // two snapshots, and then two events
    end(olderTill);

    try (var logged = new Logged()) {
      var till = ada(newerKind());
      assertEquals(9_045, till.ask(new Pay(5)));
      end(till);
      var lines = logged.lines("WARN").stream().filter(line -> line.contains("was read from all its events")).toList();
      assertEquals(1, lines.size(), lines::toString);
      assertTrue(lines.getFirst()
          .contains("till 'ada' was read from all its events, because its snapshot cannot be read: "
              + "turn 6 of till 'ada' cannot be read: "),
          lines::toString);
    }
    assertEquals(1, store.load(ADA).bodies().size()); // only the new snapshot
    assertEquals(10_050, ada(newerKind()).ask(new Pay(5)));
  }

  @Test
  void firstTurnIsReplayedWhenItsSnapshotIsUnreadable() {
    var olderTill = ada(olderKind(kind().snapshotEvery(1)));
    pay(olderTill, 1);
    end(olderTill);

    assertEquals(2_010, ada(newerKind()).ask(new Pay(5)));
  }

  @Test
  void erasedEventsAreNotReplayed() {
    var olderTill = ada(olderKind(kind()));
    pay(olderTill, 4);
    olderTill.ask(new Close());
    pay(olderTill, 7);
    end(olderTill);

    assertEquals(8_040, ada(newerKind()).ask(new Pay(5)));
  }

  @Test
  void eventsOfOtherKeysAreNotReplayed() {
    var otherTill = olderKind(kind()).newActor(scope.named("grace"), store);
    pay(otherTill, 5);
    var olderTill = ada(olderKind(kind()));
    pay(olderTill, 3);
    pay(otherTill, 5);
    end(olderTill);

    assertEquals(4_020, ada(newerKind()).ask(new Pay(5)));
  }

  @Test
  void snapshotOfOldFormIsReadByCodecThatKnowsIt() {
    var olderTill = ada(olderKind(kind()));
    pay(olderTill, 6);
    end(olderTill);

    var codec = Codec.of(Sum.class, forms -> forms.readOld("Total", Total.class, old -> new Sum(old.cents(), 0)));
    try (var logged = new Logged()) {
      var till = ada(newerKind(kind().events(EVENTS, codec, new Sum(0, 0), OldFormsContract::after)));
      assertEquals(1_035, till.ask(new Pay(5)));
      assertFalse(logged.lines("WARN").stream().anyMatch(line -> line.contains("from all its events")));
    }
  }

  // ---- answers and steps

  static final class Old {
    record Receipt(long number) {}
    record Buy(String idempotencyKey) implements Idempotent, Request<Buy, Receipt> {}
  }

  static final class New {
    record Bill(long number, String text) {}
    record Buy(String idempotencyKey) implements Idempotent, Request<Buy, Bill> {}
  }

  private static final Codec<New.Bill> BILLS = Codec.of(New.Bill.class,
      forms -> forms.readOld("Receipt", Old.Receipt.class, old -> new New.Bill(old.number(), "as before")));

  @Test
  void rememberedAnswerOfOldFormIsRead() {
    var olderTill = ada(Durable.kind("till", Old.Buy.class).state(0L).handler((count, buy, context) -> {
      context.reply(buy, new Old.Receipt(count + 1));
      return count + 1;
    }));
    olderTill.ask(new Old.Buy("a"));
    end(olderTill);

    var till = ada(Durable.kind("till", New.Buy.class).answers(New.Buy.class, BILLS).state(0L)
        .handler((count, buy, context) -> {
          context.reply(buy, new New.Bill(count + 1, "new"));
          return count + 1;
        }));
    assertEquals(new New.Bill(1, "as before"), till.ask(new New.Buy("a")));
    assertEquals(new New.Bill(2, "new"), till.ask(new New.Buy("b")));
    assertEquals(new New.Bill(2, "new"), till.ask(new New.Buy("b")));
  }

  @Test
  void stepResultOfOldFormIsRead() {
    var runs = new AtomicInteger();
    var olderTill = ada(Durable.kind("till", Old.Buy.class).state(0L).handler((count, buy, context) -> {
      context.step("charge", Old.Receipt.class, () -> new Old.Receipt(runs.incrementAndGet()));
      throw new IllegalStateException("broken");
    }));
    assertThrows(IllegalStateException.class, () -> olderTill.ask(new Old.Buy("a")));
    end(olderTill);

    var bills = new ArrayList<New.Bill>();
    var till = ada(Durable.kind("till", New.Buy.class).state(0L).handler((count, buy, context) -> {
      var bill = context.step("charge", BILLS, () -> new New.Bill(runs.incrementAndGet(), "new"));
      bills.add(bill);
      context.reply(buy, bill);
      return count + 1;
    }));
    till.ask(new New.Buy("a"));
    assertEquals(List.of(new New.Bill(1, "as before")), bills);
    assertEquals(1, runs.get());
  }
}
