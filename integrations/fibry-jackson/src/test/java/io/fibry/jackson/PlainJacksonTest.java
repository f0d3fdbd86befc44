package io.fibry.jackson;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.annotation.JsonTypeInfo.As;
import com.fasterxml.jackson.annotation.JsonTypeInfo.Id;
import io.fibry.ActorSystem;
import io.fibry.codec.Codec;
import io.fibry.durable.Durable;
import io.fibry.store.MemoryStore;
import io.fibry.store.Store;
import io.fibry.store.folder.FolderStore;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Patience;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

/**
 * Tests that another program can read stored data with Jackson and its own types, without a class
 * of this library.
 */
class PlainJacksonTest {
  private static final JsonMapper PLAIN = new JsonMapper();

  sealed interface Event {}

  record Deposited(long cents, Instant at, Optional<String> note) implements Event {}

  enum Mark implements Event {
    CLOSED
  }

  sealed interface Cart {}

  record Empty() implements Cart {}

  record Full(Map<String, BigDecimal> items, List<byte[]> pictures) implements Cart {}

  /** The types of a program that does not have this library. */
  static final class OtherProgram {
    @JsonTypeInfo(use = Id.SIMPLE_NAME, include = As.WRAPPER_OBJECT)
    sealed interface Event {}

    record Deposited(long cents, Instant at, Optional<String> note) implements Event {}

    enum Mark implements Event {
      CLOSED
    }

    @JsonTypeInfo(use = Id.SIMPLE_NAME, include = As.WRAPPER_OBJECT)
    sealed interface Cart {}

    record Empty() implements Cart {}

    record Full(Map<String, BigDecimal> items, List<byte[]> pictures) implements Cart {}
  }

  private static final Durable<Event> ACCOUNT = Durable.kind("account", Event.class)
      .events(JacksonCodecs.of(Event.class), 0, (count, event) -> count + 1)
      .handler((count, event, context) -> context.persist(event));

  private static final Durable<String> CART = Durable.kind("cart", String.class)
      .state(JacksonCodecs.of(Cart.class), new Empty())
      .handler((cart, item) -> item.isEmpty() ? new Empty()
          : new Full(Map.of(item, new BigDecimal("1.50")), List.of(new byte[] {1, 2})));

  /** The form of a stored turn. */
  record Body(Optional<byte[]> state, List<byte[]> events) {}

  private static void sendMessages(Store store) {
    var account = ACCOUNT.newActor(ActorSystem.named("ada"), store);
    account.sendMessage(new Deposited(500, Instant.EPOCH, Optional.of("a gift")));
    account.sendMessage(Mark.CLOSED);
    account.close();
    var cart = CART.newActor(ActorSystem.named("7"), store);
    cart.sendMessage("");
    cart.sendMessage("cup");
    cart.close();
  }

  /** Returns the two events, as a view reads them. */
  private static List<Event> readWithView(Store store) throws Exception {
    var received = new LinkedBlockingQueue<Event>();
    var view = Durable.view("account", JacksonCodecs.of(Event.class)).newActor(ActorSystem.anonymous(), store,
        fact -> received.add(fact.event()));
    var events = List.of(Patience.nextOf(received), Patience.nextOf(received));
    view.close();
    return events;
  }

  private static List<Body> turns(Store store, String kind, String key) {
    var bodies = Codec.of(Body.class);
    return StoreBackend.of(store).load(new Store.ActorId(kind, key)).bodies().stream().map(bodies::decode).toList();
  }

  private static void check(Store store) throws Exception {
    var events = turns(store, "account", "ada").stream().flatMap(turn -> turn.events().stream())
        .map(json -> PLAIN.readValue(json, OtherProgram.Event.class)).toList();
    var state = PLAIN.readValue(turns(store, "cart", "7").getLast().state().orElseThrow(), OtherProgram.Cart.class);

    assertEquals(List.of(new OtherProgram.Deposited(500, Instant.EPOCH, Optional.of("a gift")),
        OtherProgram.Mark.CLOSED), events);
    assertEquals(List.of(new Deposited(500, Instant.EPOCH, Optional.of("a gift")), Mark.CLOSED), readWithView(store));
    var cart = (OtherProgram.Full) state;
    assertEquals(Map.of("cup", new BigDecimal("1.50")), cart.items());
    assertEquals(2, cart.pictures().getFirst()[1]);
  }

  @Test
  void plainJacksonReadsJsonOfFolderStore(@TempDir Path folder) throws Exception {
    try (var store = FolderStore.open(folder)) {
      sendMessages(store);
    }
    try (var store = FolderStore.open(folder)) {
      check(store);
    }
  }

  @Test
  void plainJacksonReadsJsonOfMemoryStore() throws Exception {
    try (var store = MemoryStore.open()) {
      sendMessages(store);
      check(store.crash());
    }
  }

  /** A topic may thus have writers that use the codec, and others that use plain Jackson. */
  @Test
  void codecReadsEventThatPlainJacksonWrote() {
    var codec = JacksonCodecs.of(Event.class);
    var event = new OtherProgram.Deposited(-1, Instant.MAX, Optional.empty());

    byte[] json = PLAIN.writerFor(OtherProgram.Event.class).writeValueAsBytes(event);

    assertEquals(new Deposited(-1, Instant.MAX, Optional.empty()), codec.decode(json));
    assertTrue(PLAIN.readTree(json).path("Deposited").path("note").isNull());
  }
}
