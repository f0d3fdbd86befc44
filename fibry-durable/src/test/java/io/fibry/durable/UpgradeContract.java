package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.FailurePolicy;
import io.fibry.Request;
import io.fibry.codec.Codec;
import io.fibry.store.FieldLossException;
import io.fibry.store.Store;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

/** Tests programs of two versions that use one store alternately, as during a rolling upgrade. */
abstract class UpgradeContract extends StoreFixture {
  sealed interface Message {}
  record Add(String name) implements Message, Request<Add, Integer> {}
  record Texts() implements Message, Request<Texts, String> {}
  record Ping(String idempotencyKey) implements Message, Idempotent {}
  record Count(String idempotencyKey) implements Message, Idempotent, Request<Count, Integer> {}
  record Clear() implements Message, Request<Clear, Integer> {}

  /** The types of the older version. */
  static final class Older {
    record Item(String name) {}
    record Cart(List<Item> items) {}
    record Tally(long names) {}
  }

  /** The types of the newer version. Its item has one more field; its tally has other fields. */
  static final class Newer {
    record Item(String name, Optional<String> note) {}
    record Cart(List<Item> items) {}
    record Tally(List<String> longNames, long letters) {}
  }

  private static final Store.ActorId ADA = new Store.ActorId("cart", "ada");

  UpgradeContract(TestStores.Maker maker) {
    super(maker);
  }

  private static <T> List<T> withItem(List<T> items, T item) {
    var newItems = new ArrayList<>(items);
    newItems.add(item);
    return List.copyOf(newItems);
  }

  private static Durable.Builder<Message> kind() {
    return Durable.kind("cart", Message.class).snapshotEvery(3);
  }

  // ---- kinds that store their state

  private static Durable<Message> olderState(Durable.Builder<Message> kind) {
    return olderState(kind, Codec.of(Older.Cart.class));
  }

  private static Durable<Message> olderState(Durable.Builder<Message> kind, Codec<Older.Cart> codec) {
    return kind.state(codec, new Older.Cart(List.of())).handler((cart, message, context) -> switch (message) {
      case Add add -> {
        context.reply(add, cart.items().size() + 1);
        yield new Older.Cart(withItem(cart.items(), new Older.Item(add.name())));
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

  private static Durable<Message> newerState(Durable.Builder<Message> kind) {
    return kind.state(new Newer.Cart(List.of())).handler((cart, message, context) -> switch (message) {
      case Add add -> {
        context.reply(add, cart.items().size() + 1);
        yield new Newer.Cart(withItem(cart.items(), new Newer.Item(add.name(), Optional.of("for " + add.name()))));
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

  // ---- kinds that store events

  private static Durable<Message> olderEvents() {
    return kind().events(Older.Item.class, new Older.Cart(List.of()),
        (Older.Cart cart, Older.Item item) -> new Older.Cart(withItem(cart.items(), item)))
        .handler((cart, message, context) -> {
          if (message instanceof Add add)
            context.reply(add, context.persist(new Older.Item(add.name())).items().size());
          if (message instanceof Texts texts) context.reply(texts, cart.items().toString());
        });
  }

  private static Durable<Message> newerEvents() {
    return kind().events(Newer.Item.class, new Newer.Cart(List.of()),
        (Newer.Cart cart, Newer.Item item) -> new Newer.Cart(withItem(cart.items(), item)))
        .handler((cart, message, context) -> {
          if (message instanceof Add add) context
              .reply(add, context.persist(new Newer.Item(add.name(), Optional.of("for " + add.name()))).items().size());
          if (message instanceof Texts texts) context.reply(texts, cart.items().toString());
        });
  }

  // ---- kinds whose events have the same form in both versions

  record Named(String name) {}

  private static Durable<Message> olderTally() {
    return kind()
        .events(Named.class, new Older.Tally(0), (Older.Tally tally, Named event) -> new Older.Tally(tally.names() + 1))
        .handler((tally, message, context) -> {
          if (message instanceof Add add)
            context.reply(add, (int) context.persist(new Named(add.name())).names());
          if (message instanceof Texts texts) context.reply(texts, tally.toString());
        });
  }

  private static Durable<Message> newerTally() {
    return kind().events(Named.class, new Newer.Tally(List.of(), 0),
        (Newer.Tally tally, Named event) -> new Newer.Tally(
            event.name().length() > 1 ? withItem(tally.longNames(), event.name()) : tally.longNames(),
            tally.letters() + event.name().length()))
        .handler((tally, message, context) -> {
          if (message instanceof Add add)
            context.reply(add, (int) context.persist(new Named(add.name())).letters());
          if (message instanceof Texts texts) context.reply(texts, tally.toString());
        });
  }

  private Actor<Message> ada(Durable<Message> kind) {
    return kind.newActor(scope.named("ada").onFailure(FailurePolicy.resume()), store);
  }

  private static void closeAndAwait(Actor<Message> actor) {
    actor.close();
    Patience.awaitEnd(actor::waitForExit);
  }

  /** Returns the last snapshot or full state as text, or the first event if there is neither. */
  private String firstBody() {
    return new String(store.load(ADA).bodies().getFirst(), java.nio.charset.StandardCharsets.ISO_8859_1);
  }

  private static StorageFailedException assertAddRefused(Actor<Message> olderActor) {
    var refusal = assertThrows(StorageFailedException.class, () -> olderActor.ask(new Add("pen")));
    assertInstanceOf(FieldLossException.class, refusal.getCause());
    return refusal;
  }

  // ---- state

  @Test
  void olderCodeErasesNoFieldOfStoredState() {
    var firstActor = ada(newerState(kind()));
    firstActor.ask(new Add("book"));
    closeAndAwait(firstActor);

    var olderActor = ada(olderState(kind()));
    assertEquals("[Item[name=book]]", olderActor.ask(new Texts()));
    String text = assertAddRefused(olderActor).getMessage();
    assertTrue(text.contains("turn 2 of cart 'ada' would erase field 'note' of Item, which is stored"), text);
    assertTrue(text.contains("evolution.ignoreRemoved(..)"), text);
    assertAddRefused(olderActor);
    assertEquals("[Item[name=book]]", olderActor.ask(new Texts()));
    closeAndAwait(olderActor);

    var newerActor = ada(newerState(kind()));
    assertEquals(2, newerActor.ask(new Add("pen")));
    assertEquals("[Item[name=book, note=Optional[for book]], Item[name=pen, note=Optional[for pen]]]",
        newerActor.ask(new Texts()));
  }

  @Test
  void messageWaitsForNewerCodeWhenTurnWouldEraseFields() {
    var firstActor = ada(newerState(kind().storeMessages(10)));
    firstActor.ask(new Add("book"));
    closeAndAwait(firstActor);

    var olderActor = ada(olderState(kind().storeMessages(10)));
    olderActor.sendMessage(new Add("pen"));
    olderActor.sendMessage(new Add("cup"));
    assertEquals("[Item[name=book]]", olderActor.ask(new Texts()));
    olderActor.kill(); // close() would wait for the messages
    Patience.awaitEnd(olderActor::waitForExit);
    assertEquals(List.of(), olderState(kind().storeMessages(10)).parked(store));

    var newerActor = ada(newerState(kind().storeMessages(10)));
    eventually(() -> newerActor.ask(new Texts()).equals("[Item[name=book, note=Optional[for book]], "
        + "Item[name=pen, note=Optional[for pen]], Item[name=cup, note=Optional[for cup]]]"));
  }

  @Test
  void messageWaitsThroughRepeatedStartsOfOlderCode() {
    var firstActor = ada(newerState(kind().storeMessages(10)));
    firstActor.ask(new Add("book"));
    closeAndAwait(firstActor);

    for (int start = 0; start < 7; start++) {
      var olderActor = ada(olderState(kind().storeMessages(10)));
      if (start == 0) olderActor.sendMessage(new Add("pen"));
      assertEquals("[Item[name=book]]", olderActor.ask(new Texts()));
      olderActor.kill(); // close() would wait for the message
      Patience.awaitEnd(olderActor::waitForExit);
      assertEquals(List.of(), olderState(kind().storeMessages(10)).parked(store), "start " + start);
    }

    var newerActor = ada(newerState(kind().storeMessages(10)));
    eventually(() -> newerActor.ask(new Texts())
        .equals("[Item[name=book, note=Optional[for book]], Item[name=pen, note=Optional[for pen]]]"));
  }

  @Test
  void parkedMessageKeepsFieldsUnknownToOlderCode() {
    record OldText(String text) {}
    record NewText(String text, List<String> notes) {}
    var failingKind = Durable.kind("cart", OldText.class).storeMessages(10)
        .messages(Codec.of(OldText.class, forms -> forms.named(OldText.class, "Text"))).state(0L)
        .handler((count, message, context) -> {
          throw new IllegalStateException("broken");
        });
    var newKind = Durable.kind("cart", NewText.class).storeMessages(10)
        .messages(Codec.of(NewText.class, forms -> forms.named(NewText.class, "Text"))).state(0L)
        .handler((count, message) -> count);
    var senderKind = Durable.kind("sender", String.class).state(0L).handler((count, text, context) -> {
      context.sendMessage(newKind, "ada", new NewText(text, List.of("note")));
      return count + 1;
    });
    var ada = failingKind.newActor(scope.named("ada"), store);
    senderKind.newActor(scope.named("bob"), store).sendMessage("text");
    eventually(() -> !failingKind.parked(store).isEmpty());
    ada.kill();
    Patience.awaitEnd(ada::waitForExit);

    assertEquals(new NewText("text", List.of("note")), newKind.parked(store).getFirst().message());
  }

  @Test
  void olderCodeStoresTurnsThatDoNotChangeState() {
    var firstActor = ada(newerState(kind()));
    firstActor.ask(new Add("book"));
    closeAndAwait(firstActor);

    var olderActor = ada(olderState(kind()));
    for (int i = 0; i < 50; i++) olderActor.sendMessage(new Ping("ping " + i)); // one turn each; some are full states
    assertEquals("[Item[name=book]]", olderActor.ask(new Texts()));
    closeAndAwait(olderActor);

    assertEquals("[Item[name=book, note=Optional[for book]]]", ada(newerState(kind())).ask(new Texts()));
  }

  @Test
  void concurrentTurnsOfOlderCodeEraseNoUnknownField() {
    long seed = Long.getLong("fibry.seed", System.nanoTime());
    var random = new Random(seed);
    var firstActor = ada(newerState(kind()));
    firstActor.ask(new Add("book"));
    closeAndAwait(firstActor);

    var olderActor = ada(olderState(kind()));
    var adds = new ArrayList<CompletableFuture<Integer>>();
    var counts = new ArrayList<CompletableFuture<Integer>>();
    for (int i = 0; i < 200; i++) switch (random.nextInt(3)) {
      case 0 -> adds.add(olderActor.sendMessageReturn(new Add("pen")));
      case 1 -> counts.add(olderActor.sendMessageReturn(new Count("count " + i)));
      default -> counts.add(olderActor.sendMessageReturn(new Count("count " + random.nextInt(i + 1))));
    }
    for (var answer : adds) assertThrows(ExecutionException.class, answer::get, "-Dfibry.seed=" + seed);
    int countsHandled = 0; // may be less than all, because a turn after a refused turn may be refused, too
    for (var answer : counts) if (!isRefused(answer)) countsHandled++;
    assertEquals("[Item[name=book]]", olderActor.ask(new Texts()), "-Dfibry.seed=" + seed);
    for (int i = 0; i < 200; i++) assertEquals(1, olderActor.ask(new Count("count " + i)), "-Dfibry.seed=" + seed);
    closeAndAwait(olderActor);

    assertTrue(countsHandled > 0 || counts.isEmpty(), "-Dfibry.seed=" + seed);
    assertEquals("[Item[name=book, note=Optional[for book]]]", ada(newerState(kind())).ask(new Texts()),
        "-Dfibry.seed=" + seed);
  }

  private static boolean isRefused(CompletableFuture<Integer> answer) {
    try {
      return Patience.value(answer) != 1;
    } catch (Exception failure) {
      return true;
    }
  }

  @Test
  void olderCodeMayEraseActor() {
    var firstActor = ada(newerState(kind()));
    firstActor.ask(new Add("book"));
    closeAndAwait(firstActor);

    var olderActor = ada(olderState(kind()));
    assertEquals(0, olderActor.ask(new Clear()));
    assertEquals(1, olderActor.ask(new Add("pen")));
    assertEquals("[Item[name=pen]]", olderActor.ask(new Texts()));
  }

  @Test
  void fieldDeclaredRemovedMayBeErased() {
    var firstActor = ada(newerState(kind()));
    firstActor.ask(new Add("book"));
    closeAndAwait(firstActor);

    var olderActor =
        ada(olderState(kind(), Codec.of(Older.Cart.class, forms -> forms.ignoreRemoved(Older.Item.class, "note"))));
    assertEquals(2, olderActor.ask(new Add("pen")));
    assertEquals("[Item[name=book], Item[name=pen]]", olderActor.ask(new Texts()));
  }

  // ---- events

  @Test
  void olderCodeReplacesNoSnapshotOfNewerCode() {
    var firstActor = ada(newerEvents());
    for (var name : List.of("a", "b", "c")) firstActor.ask(new Add(name));
    closeAndAwait(firstActor);
    assertTrue(firstBody().contains("for a"), firstBody());

    var olderActor = ada(olderEvents());
    for (int i = 4; i <= 12; i++) assertEquals(i, olderActor.ask(new Add("d")));
    closeAndAwait(olderActor);

    assertTrue(firstBody().contains("for a"), firstBody());
    var newerActor = ada(newerEvents());
    String texts = newerActor.ask(new Texts());
    assertTrue(texts.startsWith("[Item[name=a, note=Optional[for a]], Item[name=b, note=Optional[for b]]"), texts);
    assertTrue(texts.endsWith("Item[name=d, note=Optional.empty]]"), texts);
    newerActor.ask(new Add("e"));
    closeAndAwait(newerActor);
    assertTrue(firstBody().contains("for e"), firstBody()); // newer code continues to store snapshots
  }

  @Test
  void olderCodeStoresNoSnapshotOfNewerEvents() {
    var firstActor = ada(newerEvents());
    firstActor.ask(new Add("a"));
    closeAndAwait(firstActor);

    var olderActor = ada(olderEvents());
    for (int i = 2; i <= 12; i++) assertEquals(i, olderActor.ask(new Add("d")));
    closeAndAwait(olderActor);

    assertTrue(firstBody().contains("for a"), firstBody()); // the first event, so there is no snapshot
    assertEquals(12, store.load(ADA).bodies().size());
  }

  @Test
  void olderCodeReplacesNoSnapshotThatItCannotRead() {
    var firstActor = ada(newerTally());
    for (var name : List.of("a", "bb", "c")) firstActor.ask(new Add(name));
    closeAndAwait(firstActor);
    assertTrue(firstBody().contains("letters"), firstBody());

    try (var logged = new Logged()) {
      var olderActor = ada(olderTally());
      for (int i = 4; i <= 12; i++) assertEquals(i, olderActor.ask(new Add("d")));
      closeAndAwait(olderActor);
      var lines = logged.lines("WARN").stream().filter(line -> line.contains("was read from all its events")).toList();
      assertEquals(1, lines.size(), lines::toString);
      assertTrue(lines.getFirst().contains("The snapshot stays, because this program does not know field"),
          lines::toString);
    }

    assertTrue(firstBody().contains("letters"), firstBody());
    var newerActor = ada(newerTally());
    assertEquals("Tally[longNames=[bb], letters=13]", newerActor.ask(new Texts()));
    assertEquals(14, newerActor.ask(new Add("e")));
    closeAndAwait(newerActor);
    assertEquals(1, store.load(ADA).bodies().size()); // newer code has stored a snapshot
  }
}
