package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.FailurePolicy;
import io.fibry.Request;
import io.fibry.codec.Codec;
import io.fibry.store.Store;
import io.fibry.store.UnknownFieldsException;
import io.fibry.support.Patience;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

/** Programs of two versions at one store, one after the other, as during a rolling upgrade. */
abstract class UpgradeContract extends StoreFixture {
  sealed interface Message {}
  record Add(String name) implements Message, Request<Add, Integer> {}
  record Texts() implements Message, Request<Texts, String> {}
  record Ping(String idempotencyKey) implements Message, Idempotent {}
  record Count(String idempotencyKey) implements Message, Idempotent, Request<Count, Integer> {}
  record Clear() implements Message, Request<Clear, Integer> {}

  /** The types before the change. */
  static final class Before {
    record Item(String name) {}
    record Cart(List<Item> items) {}
  }

  /** A field more, inside. */
  static final class Today {
    record Item(String name, Optional<String> note) {}
    record Cart(List<Item> items) {}
  }

  private static final Store.ActorId ADA = new Store.ActorId("cart", "ada");

  UpgradeContract(TestStores.Maker maker) {
    super(maker);
  }

  private static <T> List<T> with(List<T> items, T one) {
    var all = new ArrayList<>(items);
    all.add(one);
    return List.copyOf(all);
  }

  private static Durable.Builder<Message> kind() {
    return Durable.kind("cart", Message.class).snapshotEvery(3);
  }

  // ---- kinds that keep their state

  private static Durable<Message> before(Durable.Builder<Message> kind) {
    return before(kind, Codec.of(Before.Cart.class));
  }

  private static Durable<Message> before(Durable.Builder<Message> kind, Codec<Before.Cart> codec) {
    return kind.state(codec, new Before.Cart(List.of())).handler((cart, message, context) -> switch (message) {
      case Add add -> {
        context.reply(add, cart.items().size() + 1);
        yield new Before.Cart(with(cart.items(), new Before.Item(add.name())));
      }
      case Texts texts -> {
        context.reply(texts, cart.items().toString());
        yield cart;
      }
      case Ping ping -> cart;
      case Count count -> {
        context.reply(count, cart.items().size());
        yield cart;
      }
      case Clear clear -> {
        context.erase();
        context.reply(clear, 0);
        yield cart;
      }
    });
  }

  private static Durable<Message> today(Durable.Builder<Message> kind) {
    return kind.state(new Today.Cart(List.of())).handler((cart, message, context) -> switch (message) {
      case Add add -> {
        context.reply(add, cart.items().size() + 1);
        yield new Today.Cart(with(cart.items(), new Today.Item(add.name(), Optional.of("for " + add.name()))));
      }
      case Texts texts -> {
        context.reply(texts, cart.items().toString());
        yield cart;
      }
      case Ping ping -> cart;
      case Count count -> cart;
      case Clear clear -> cart;
    });
  }

  // ---- kinds that keep events

  private static Durable<Message> eventsBefore() {
    return kind().events(Before.Item.class, new Before.Cart(List.of()),
        (Before.Cart cart, Before.Item item) -> new Before.Cart(with(cart.items(), item)))
        .handler((cart, message, context) -> {
          if (message instanceof Add add)
            context.reply(add, context.persist(new Before.Item(add.name())).items().size());
          if (message instanceof Texts texts) context.reply(texts, cart.items().toString());
        });
  }

  private static Durable<Message> eventsToday() {
    return kind().events(Today.Item.class, new Today.Cart(List.of()),
        (Today.Cart cart, Today.Item item) -> new Today.Cart(with(cart.items(), item)))
        .handler((cart, message, context) -> {
          if (message instanceof Add add) context
              .reply(add, context.persist(new Today.Item(add.name(), Optional.of("for " + add.name()))).items().size());
          if (message instanceof Texts texts) context.reply(texts, cart.items().toString());
        });
  }

  private Actor<Message> ada(Durable<Message> kind) {
    return kind.newActor(scope.named("ada").onFailure(FailurePolicy.resume()), store);
  }

  private static void end(Actor<Message> actor) {
    actor.close();
    Patience.ended(actor::waitForExit);
  }

  /** Returns the last snapshot, or whole turn, as text. */
  private String firstBody() {
    return new String(store.load(ADA).bodies().getFirst(), java.nio.charset.StandardCharsets.ISO_8859_1);
  }

  private static NotStoredException refused(Actor<Message> old) {
    var refusal = assertThrows(NotStoredException.class, () -> old.ask(new Add("pen")));
    assertInstanceOf(UnknownFieldsException.class, refusal.getCause());
    return refusal;
  }

  // ---- state

  @Test
  void olderCodeErasesNoFieldOfAState() {
    var first = ada(today(kind()));
    first.ask(new Add("book"));
    end(first);

    var old = ada(before(kind()));
    assertEquals("[Item[name=book]]", old.ask(new Texts()));
    String text = refused(old).getMessage();
    assertTrue(text.contains("turn 2 of cart 'ada' would erase field 'note' of Item, which is stored"), text);
    assertTrue(text.contains("evolution.ignoreRemoved(..)"), text);
    refused(old);
    assertEquals("[Item[name=book]]", old.ask(new Texts()));
    end(old);

    var again = ada(today(kind()));
    assertEquals(2, again.ask(new Add("pen")));
    assertEquals("[Item[name=book, note=Optional[for book]], Item[name=pen, note=Optional[for pen]]]",
        again.ask(new Texts()));
  }

  @Test
  void messageWaitsForNewerCodeWhenTurnWouldEraseFields() {
    var first = ada(today(kind().storeMessages(10)));
    first.ask(new Add("book"));
    end(first);

    var old = ada(before(kind().storeMessages(10)));
    old.sendMessage(new Add("pen"));
    old.sendMessage(new Add("cup"));
    assertEquals("[Item[name=book]]", old.ask(new Texts()));
    old.kill(); // a close would wait for the messages
    Patience.ended(old::waitForExit);
    assertEquals(List.of(), before(kind().storeMessages(10)).parked(store));

    var again = ada(today(kind().storeMessages(10)));
    eventually(() -> again.ask(new Texts()).equals("[Item[name=book, note=Optional[for book]], "
        + "Item[name=pen, note=Optional[for pen]], Item[name=cup, note=Optional[for cup]]]"));
  }

  @Test
  void messageWaitsThroughRepeatedStartsOfOlderCode() {
    var first = ada(today(kind().storeMessages(10)));
    first.ask(new Add("book"));
    end(first);

    for (int starts = 0; starts < 7; starts++) {
      var old = ada(before(kind().storeMessages(10)));
      if (starts == 0) old.sendMessage(new Add("pen"));
      assertEquals("[Item[name=book]]", old.ask(new Texts()));
      old.kill(); // a close would wait for the message
      Patience.ended(old::waitForExit);
      assertEquals(List.of(), before(kind().storeMessages(10)).parked(store), "start " + starts);
    }

    var again = ada(today(kind().storeMessages(10)));
    eventually(() -> again.ask(new Texts())
        .equals("[Item[name=book, note=Optional[for book]], Item[name=pen, note=Optional[for pen]]]"));
  }

  @Test
  void parkedMessageKeepsItsFields() {
    record Old(String text) {}
    record Newer(String text, List<String> notes) {}
    var fail = Durable.kind("cart", Old.class).storeMessages(10)
        .messages(Codec.of(Old.class, forms -> forms.named(Old.class, "Text"))).state(0L)
        .handler((count, message, context) -> {
          throw new IllegalStateException("broken");
        });
    var newer = Durable.kind("cart", Newer.class).storeMessages(10)
        .messages(Codec.of(Newer.class, forms -> forms.named(Newer.class, "Text"))).state(0L)
        .handler((count, message) -> count);
    var sender = Durable.kind("sender", String.class).state(0L).handler((count, text, context) -> {
      context.sendMessage(newer, "ada", new Newer(text, List.of("note")));
      return count + 1;
    });
    var ada = fail.newActor(scope.named("ada"), store);
    sender.newActor(scope.named("bob"), store).sendMessage("text");
    eventually(() -> !fail.parked(store).isEmpty());
    ada.kill();
    Patience.ended(ada::waitForExit);

    assertEquals(new Newer("text", List.of("note")), newer.parked(store).getFirst().message());
  }

  @Test
  void olderCodeStoresTurnsThatKeepState() {
    var first = ada(today(kind()));
    first.ask(new Add("book"));
    end(first);

    var old = ada(before(kind()));
    for (int i = 0; i < 50; i++) old.sendMessage(new Ping("ping " + i)); // a turn each, and by turns a whole one
    assertEquals("[Item[name=book]]", old.ask(new Texts()));
    end(old);

    assertEquals("[Item[name=book, note=Optional[for book]]]", ada(today(kind())).ask(new Texts()));
  }

  @Test
  void refusalsAmongConcurrentTurnsLoseNothing() {
    long seed = System.nanoTime();
    var random = new Random(seed);
    var first = ada(today(kind()));
    first.ask(new Add("book"));
    end(first);

    var old = ada(before(kind()));
    var refused = new ArrayList<CompletableFuture<Integer>>();
    var done = new ArrayList<CompletableFuture<Integer>>();
    for (int i = 0; i < 200; i++) switch (random.nextInt(3)) {
      case 0 -> refused.add(old.sendMessageReturn(new Add("pen")));
      case 1 -> done.add(old.sendMessageReturn(new Count("count " + i)));
      default -> done.add(old.sendMessageReturn(new Count("count " + random.nextInt(i + 1))));
    }
    for (var one : refused) assertThrows(ExecutionException.class, one::get, "seed " + seed);
    int handled = 0; // a turn behind a refusal may be refused with it, and is sent again
    for (var one : done) if (!isRefused(one)) handled++;
    assertEquals("[Item[name=book]]", old.ask(new Texts()), "seed " + seed);
    for (int i = 0; i < 200; i++) assertEquals(1, old.ask(new Count("count " + i)), "seed " + seed);
    end(old);

    assertTrue(handled > 0 || done.isEmpty(), "seed " + seed);
    assertEquals("[Item[name=book, note=Optional[for book]]]", ada(today(kind())).ask(new Texts()), "seed " + seed);
  }

  private static boolean isRefused(CompletableFuture<Integer> answer) {
    try {
      return Patience.value(answer) != 1;
    } catch (Exception refused) {
      return true;
    }
  }

  @Test
  void olderCodeMayEndAnActor() {
    var first = ada(today(kind()));
    first.ask(new Add("book"));
    end(first);

    var old = ada(before(kind()));
    assertEquals(0, old.ask(new Clear()));
    assertEquals(1, old.ask(new Add("pen")));
    assertEquals("[Item[name=pen]]", old.ask(new Texts()));
  }

  @Test
  void removedFieldIsNotUnknown() {
    var first = ada(today(kind()));
    first.ask(new Add("book"));
    end(first);

    var later =
        ada(before(kind(), Codec.of(Before.Cart.class, forms -> forms.ignoreRemoved(Before.Item.class, "note"))));
    assertEquals(2, later.ask(new Add("pen")));
    assertEquals("[Item[name=book], Item[name=pen]]", later.ask(new Texts()));
  }

  // ---- events

  @Test
  void olderCodeReplacesNoSnapshotOfNewerCode() {
    var first = ada(eventsToday());
    for (var name : List.of("a", "b", "c")) first.ask(new Add(name));
    end(first);
    assertTrue(firstBody().contains("for a"), firstBody());

    var old = ada(eventsBefore());
    for (int i = 4; i <= 12; i++) assertEquals(i, old.ask(new Add("d")));
    end(old);

    assertTrue(firstBody().contains("for a"), firstBody());
    var again = ada(eventsToday());
    String texts = again.ask(new Texts());
    assertTrue(texts.startsWith("[Item[name=a, note=Optional[for a]], Item[name=b, note=Optional[for b]]"), texts);
    assertTrue(texts.endsWith("Item[name=d, note=Optional.empty]]"), texts);
    again.ask(new Add("e"));
    end(again);
    assertTrue(firstBody().contains("for e"), firstBody()); // newer code continues to store snapshots
  }

  @Test
  void olderCodeMakesNoSnapshotOfEventsOfNewerCode() {
    var first = ada(eventsToday());
    first.ask(new Add("a"));
    end(first);

    var old = ada(eventsBefore());
    for (int i = 2; i <= 12; i++) assertEquals(i, old.ask(new Add("d")));
    end(old);

    assertTrue(firstBody().contains("for a"), firstBody()); // the first event
    assertEquals(12, store.load(ADA).bodies().size());
  }
}
