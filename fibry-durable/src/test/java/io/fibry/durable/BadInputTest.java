package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrowsExactly;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.Request;
import io.fibry.codec.Codec;
import io.fibry.codec.CodecException;
import io.fibry.durable.Durable.Builder;
import io.fibry.mailbox.Mailbox;
import io.fibry.pool.Pools;
import io.fibry.store.Store;
import io.fibry.store.StoreClosedException;
import io.fibry.support.Logged;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that invalid kinds, keys, actors and views are refused, with the expected texts. */
class BadInputTest extends StoreFixture {
  private static final Duration FOR_EVER = Duration.ofSeconds(Long.MAX_VALUE);

  /** Counts a hit; the answer is the number of earlier hits. */
  record Hit(String by) implements Request<Hit, Long> {}

  record Seen(String by) {}

  private static final Builder<Hit> KIND = Durable.kind("hits", Hit.class);
  private static final Durable<Hit> HITS = hits(KIND);
  private static final Durable<Hit> STORING_HITS = hits(KIND.storeMessages(2));

  BadInputTest() {
    super((folder, clock) -> TestStores.inMemory(clock));
  }

  private static Durable<Hit> hits(Builder<Hit> kind) {
    return kind.state(0L).handler((n, hit, context) -> {
      context.reply(hit, n);
      return n + 1;
    });
  }

  private static String refusal(Executable code) {
    return assertThrowsExactly(IllegalArgumentException.class, code).getMessage();
  }

  private static String nullRefusal(Executable code) {
    return assertThrowsExactly(NullPointerException.class, code).getMessage();
  }

  private static void assertStarts(String start, String text) {
    assertTrue(text.startsWith(start), text);
  }

  // ---- names

  @Test
  void exceptionForInvalidKindNameListsAllowedCharacters() {
    assertEquals("'Two words' cannot name a kind: take 1 to 64 lower-case letters, digits and hyphens, a letter first",
        refusal(() -> Durable.kind("Two words", Hit.class)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a b", "1a", "-a", "ä", "A", "a_b", "hits\n", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
      + "aaaaaaaaaaaaaaaaaaaaaaaaa"})
  void invalidKindNameIsRefused(String name) {
    assertTrue(refusal(() -> Durable.kind(name, Hit.class)).contains("cannot name a kind"));
  }

  @Test
  void refusedKindNameIsReportedInOneShortLine() {
    assertStarts("'a\\nforged" + "x".repeat(192) + "… (1000008 characters)' cannot name a kind: ",
        refusal(() -> Durable.kind("a\nforged" + "x".repeat(1_000_000), Hit.class)));
  }

  @Test
  void actorWithoutKeyIsRefused() {
    assertEquals("an actor of kind 'hits' cannot be made: it needs a key: take a builder with a name, such as "
        + "ActorSystem.named(..)", refusal(() -> HITS.newActor(scope.anonymous(), store)));
  }

  @ParameterizedTest
  @MethodSource("keys")
  void invalidKeyIsRefused(String key, String fact) {
    try (var hits = HITS.entities(scope.anonymous(), store, IDLE)) {
      assertEquals("an actor of kind 'hits' cannot be made: its key " + fact, refusal(() -> hits.actor(key)));
    }
  }

  static Stream<Arguments> keys() {
    return Stream.of(Arguments.of("", "takes 0 bytes; 1 to 512 are possible"),
        Arguments.of("ä".repeat(257), "takes 514 bytes; 1 to 512 are possible"),
        Arguments.of("x\ud800", "has half of a surrogate pair"));
  }

  @Test
  void keyMayContainControlAndUnicodeCharacters() {
    try (var hits = HITS.entities(scope.anonymous(), store, IDLE)) {
      hits.actor("a\nb \0\u2028 '%' \ud83d\ude00").ask(new Hit("x"));

      assertEquals(1, hits.actor("a\nb \0\u2028 '%' \ud83d\ude00").ask(new Hit("x")));
    }
  }

  @Test
  void actorIdIsPrintedInOneLine() {
    assertEquals("hits 'a\\nb\\u0000\\u2028c'", new Store.ActorId("hits", "a\nb\0\u2028c").toString());
  }

  // ---- second actors for one key, and closed stores

  @Test
  void secondActorForKeyAtSameStoreIsRefused() {
    HITS.newActor(scope.named("ada"), store);
    try (var otherHits = HITS.entities(scope.anonymous(), store, IDLE)) {
      var failure =
          assertThrowsExactly(IllegalStateException.class, () -> otherHits.actor("ada").ask(new Hit("x")));

      assertEquals("hits 'ada' has an actor at a store in memory; send to that actor, or let entities make it",
          failure.getMessage());
    }
  }

  @Test
  void messageForKeyOfAnotherActorIsLoggedAndStaysPending() {
    var ada = STORING_HITS.newActor(scope.named("ada"), store);
    ada.ask(new Hit("x"));
    try (var otherHits = STORING_HITS.entities(scope.anonymous(), store, IDLE); var logged = new Logged()) {
      assertTrue(otherHits.actor("ada").sendMessage(new Hit("y")));

      eventually(() -> !logged.lines("messages that wait for hits 'ada' could not be delivered").isEmpty());
      assertEquals(1, store.pending(new Store.ActorId("hits", "ada"), Instant.MAX, 9).size());
    }
  }

  @Test
  void secondActorOfViewAtSameStoreIsRefused() {
    var view = Durable.view("hits", Seen.class).named("all");
    view.newActor(scope.anonymous(), store, fact -> {});

    var failure = assertThrowsExactly(IllegalStateException.class,
        () -> view.newActor(scope.anonymous(), store, fact -> {}));

    assertEquals("view 'hits:all' has an actor at a store in memory; close that actor first, or give this view "
        + "another name", failure.getMessage());
  }

  @Test
  void closedStoreCreatesNoActors() {
    store.close();

    for (Executable code : List.<Executable>of(() -> HITS.newActor(scope.named("ada"), store),
        () -> HITS.entities(scope.anonymous(), store, IDLE), () -> STORING_HITS.parked(store),
        () -> Durable.view("hits", Seen.class).newActor(scope.anonymous(), store, fact -> {})))
      assertEquals("the store in memory is closed",
          assertThrowsExactly(StoreClosedException.class, code).getMessage());
  }

  // ---- builders of actors

  @Test
  void selectiveMailboxOfDurableActorIsRefused() {
    assertEquals("an actor of kind 'hits' cannot be made: a turn has the effects of exactly one message, so the "
        + "mailbox cannot be selective",
        refusal(() -> HITS.newActor(scope.named("ada").mailbox(Mailbox.unbounded().selective()), store)));
  }

  @Test
  void poolAsDurableActorIsRefused() {
    var pool = Pools.fixed(scope.named("ada"), 2);

    assertEquals("an actor of kind 'hits' cannot be made: a pool handles several messages at a time; make entities",
        refusal(() -> HITS.newActor(pool, store)));
  }

  // ---- numbers and times

  @ParameterizedTest
  @ValueSource(ints = {0, -1, Integer.MIN_VALUE})
  void kindRefusesOptionValuesBelowOne(int number) {
    String suffix = " " + number + "; give 1 or more";

    assertEquals("kind 'hits': storeMessages" + suffix, refusal(() -> KIND.storeMessages(number)));
    assertEquals("kind 'hits': snapshotEvery" + suffix, refusal(() -> KIND.snapshotEvery(number)));
    assertEquals("kind 'hits': maxUnstoredTurns" + suffix, refusal(() -> KIND.maxUnstoredTurns(number)));
    assertEquals("kind 'hits': deduplicate" + suffix, refusal(() -> KIND.deduplicate(number, FOR_EVER)));
  }

  @Test
  void invalidDurationsAreRefused() {
    assertEquals("kind 'hits': deduplicate for 0 s; give more than zero",
        refusal(() -> KIND.deduplicate(1, Duration.ZERO)));
    assertEquals("kind 'hits': retainEvents -1 s; give zero or more",
        refusal(() -> KIND.retainEvents(Duration.ofSeconds(-1))));
    assertStarts("entities that are idle after 0 s would end before their first message",
        refusal(() -> HITS.entities(scope.anonymous(), store, Duration.ZERO)));
  }

  record Order(String idempotencyKey) implements Idempotent, Request<Order, Long> {}

  @Test
  void answerMayBeRememberedForever() {
    var ada = Durable.kind("orders", Order.class).deduplicate(1, FOR_EVER).state(0L).handler((n, order, context) -> {
      context.reply(order, n);
      return n + 1;
    }).newActor(scope.named("ada"), store);
    ada.ask(new Order("a"));
    ada.ask(new Order("b"));

    assertEquals(1, ada.ask(new Order("b")));
  }

  @Test
  void eventsMayBeRetainedForever() {
    var ada = KIND.retainEvents(FOR_EVER).snapshotEvery(1).events(Seen.class, 0L, (n, seen) -> n + 1)
        .handler((n, hit, context) -> context.reply(hit, context.persist(new Seen("x"))))
        .newActor(scope.named("ada"), store);

    ada.ask(new Hit("x"));

    assertEquals(2, ada.ask(new Hit("x")));
    ada.close();
    assertEquals(1, store.load(new Store.ActorId("hits", "ada")).bodies().size(), "only the snapshot is loaded");
  }

  @Test
  void storedRequestMayHaveInfiniteLimit() {
    assertEquals(0, STORING_HITS.newActor(scope.named("ada"), store).ask(new Hit("x"), FOR_EVER));
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -1, Long.MIN_VALUE})
  void nonPositiveLimitOfStoredRequestIsRefused(long seconds) {
    var ada = STORING_HITS.newActor(scope.named("ada"), store);

    String text = refusal(() -> ada.ask(new Hit("x"), Duration.ofSeconds(seconds)));
    assertEquals(text, refusal(() -> ada.sendMessageReturn(new Hit("x"), Duration.ofSeconds(seconds))));

    assertTrue(text.endsWith(" leaves no time to wait; give more than zero"), text);
    assertEquals(0, ada.ask(new Hit("x")));
  }

  // ---- types

  @SuppressWarnings("rawtypes")
  record Raw(List items) {}

  class Inner {}

  record Pair<T>(T first, T second) {}

  @ParameterizedTest
  @MethodSource("types")
  void unencodableEventIsRefusedWhenKindIsDefined(Class<?> type, String typeName) {
    String start = "the events of kind 'hits' cannot be stored: " + typeName;

    assertStarts(start, refusal(() -> KIND.events(type, 0L, (n, event) -> n)));
    assertStarts(start, refusal(() -> KIND.initialState(() -> 0L).events(type, (n, event) -> n)));
    assertStarts(start, refusal(() -> Durable.view("hits", type)));
  }

  static Stream<Arguments> types() {
    Runnable lambda = () -> {};
    return Stream.of(Arguments.of(Object.class, "java.lang.Object: java.lang.Object cannot be encoded"),
        Arguments.of(List.class, "java.util.List: a raw java.util.List "),
        Arguments.of(Pair.class, Pair.class.getName() + ": a raw " + Pair.class.getName()),
        Arguments.of(Raw.class, Raw.class.getName() + ".items: a raw java.util.List "),
        Arguments.of(Inner.class, Inner.class.getName() + ": " + Inner.class.getName() + " cannot be encoded"),
        Arguments.of(lambda.getClass(), lambda.getClass().getTypeName()));
  }

  @Test
  void unencodableStateIsRefusedWhenKindIsDefined() {
    Supplier<String> lambda = () -> "";
    String start = "the state of kind 'hits' cannot be stored: ";

    assertStarts(start + "java.lang.Object", refusal(() -> KIND.state(new Object())));
    assertStarts(start + "java.util.ArrayList: a raw", refusal(() -> KIND.state(new ArrayList<>())));
    assertStarts(start + Inner.class.getName(), refusal(() -> KIND.state(new Inner())));
    assertStarts(start + lambda.getClass().getTypeName(), refusal(() -> KIND.state(lambda)));
  }

  @Test
  void mutableInitialStateIsRefused() {
    assertEquals("kind 'hits' begins with an object of java.util.ArrayList, which all keys would share, and which can "
        + "be changed; take initialState(() -> ..)",
        refusal(() -> KIND.events(Seen.class, new ArrayList<String>(), (list, seen) -> list)));
  }

  /**
   * A codec that breaks the contract of {@link Codec}: {@code encode} may return null.
   * {@code decode} returns null if the text is "null", and throws if the text is empty.
   */
  private record WrongCodec(byte[] encoded, String decoded) implements Codec<String> {
    @Override
    public byte[] encode(String value) {
      return encoded;
    }

    @Override
    public String decode(byte[] bytes) {
      if (decoded.isEmpty()) throw new IllegalStateException("made up,\nfor a test");
      return decoded.equals("null") ? null : decoded;
    }
  }

  @Test
  void brokenCodecIsRefusedWhenKindIsDefined() {
    String type = WrongCodec.class.getName();

    assertEquals("encode of " + type + " returned null",
        assertThrowsExactly(CodecException.class, () -> KIND.state(new WrongCodec(null, "x"), "")).getMessage());
    assertEquals("decode of " + type + " returned null", assertThrowsExactly(CodecException.class,
        () -> KIND.state(new WrongCodec(new byte[1], "null"), "")).getMessage());
    assertEquals("decode of " + type + " threw java.lang.IllegalStateException: made up,\\nfor a test",
        assertThrowsExactly(CodecException.class, () -> KIND.state(new WrongCodec(new byte[1], ""), "")).getMessage());
  }

  // ---- null

  @Test
  void exceptionNamesNullArgument() {
    var kind = KIND.state(0L);
    var events = KIND.events(Seen.class, 0L, (n, seen) -> n);
    var view = Durable.view("hits", Seen.class);
    Codec<Seen> noCodec = null;
    Class<Seen> noType = null;

    assertEquals("name", nullRefusal(() -> Durable.kind(null, Hit.class)));
    assertEquals("messages", nullRefusal(() -> Durable.kind("hits", null)));
    assertEquals("initial", nullRefusal(() -> KIND.state(null)));
    assertEquals("codec", nullRefusal(() -> KIND.state(null, 0L)));
    assertEquals("initial", nullRefusal(() -> KIND.state(Codec.of(Long.class), null)));
    assertEquals("initial", nullRefusal(() -> KIND.events(Seen.class, null, (n, seen) -> n)));
    assertEquals("events", nullRefusal(() -> KIND.events(noType, 0L, (n, seen) -> n)));
    assertEquals("codec", nullRefusal(() -> KIND.events(noCodec, 0L, (n, seen) -> n)));
    assertEquals("after", nullRefusal(() -> KIND.events(Seen.class, 0L, null)));
    assertEquals("state", nullRefusal(() -> KIND.events(Codec.of(Seen.class), null, 0L, (n, seen) -> n)));
    assertEquals("initial", nullRefusal(() -> KIND.initialState(null)));
    assertEquals("after", nullRefusal(() -> KIND.initialState(() -> 0L).events(Seen.class, null)));
    assertEquals("codec", nullRefusal(() -> KIND.messages(null)));
    assertEquals("time", nullRefusal(() -> KIND.deduplicate(1, null)));
    assertEquals("age", nullRefusal(() -> KIND.retainEvents(null)));
    assertEquals("handler", nullRefusal(() -> kind.handler((Durable.StateHandler<Long, Hit>) null)));
    assertEquals("handler", nullRefusal(() -> kind.handler((Durable.StateHandlerWithContext<Long, Hit>) null)));
    assertEquals("handler", nullRefusal(() -> events.handler(null)));
    assertEquals("name", nullRefusal(() -> Durable.view(null, Seen.class)));
    assertEquals("events", nullRefusal(() -> Durable.view("hits", noType)));
    assertEquals("codec", nullRefusal(() -> Durable.view("hits", noCodec)));
    assertEquals("name", nullRefusal(() -> view.named(null)));
    assertEquals("builder", nullRefusal(() -> view.newActor(null, store, fact -> {})));
    assertEquals("store", nullRefusal(() -> view.newActor(scope.anonymous(), null, fact -> {})));
    assertEquals("handler", nullRefusal(() -> view.newActor(scope.anonymous(), store, null)));
    assertEquals("builder", nullRefusal(() -> HITS.newActor(null, store)));
    assertEquals("store", nullRefusal(() -> HITS.newActor(scope.named("ada"), null)));
    assertEquals("builder", nullRefusal(() -> HITS.entities(null, store, IDLE)));
    assertEquals("store", nullRefusal(() -> HITS.entities(scope.anonymous(), null, IDLE)));
    assertEquals("idleTime", nullRefusal(() -> HITS.entities(scope.anonymous(), store, null)));
    assertEquals("store", nullRefusal(() -> HITS.parked(null)));
    assertEquals("parked", nullRefusal(() -> HITS.retry(store, null)));
    assertEquals("parked", nullRefusal(() -> HITS.discard(store, null)));
  }

  @Test
  void durableActorRefusesNullMessageAndNullLimit() {
    var plainActor = HITS.newActor(scope.named("plain"), store);
    var storingActor = STORING_HITS.newActor(scope.named("kept"), store);
    for (var actor : List.of(plainActor, storingActor)) {
      assertNotNull(nullRefusal(() -> actor.sendMessage(null)));
      assertNotNull(nullRefusal(() -> actor.ask((Hit) null)));
      assertNotNull(nullRefusal(() -> actor.sendMessageReturn((Hit) null)));
      assertEquals("limit", nullRefusal(() -> actor.ask(new Hit("x"), null)));
      assertEquals("limit", nullRefusal(() -> actor.sendMessageReturn(new Hit("x"), null)));
      assertEquals(0, actor.ask(new Hit("x")), "no invalid message was handled");
    }
  }

  @Test
  @SuppressWarnings({"unchecked", "rawtypes"}) // a caller with a raw type could send such a message
  void messageOfWrongTypeIsRefused() {
    var ada = (Actor) STORING_HITS.newActor(scope.named("ada"), store);

    var failure = assertThrowsExactly(CodecException.class, () -> ada.sendMessage("a string"));

    assertEquals("Hit: java.lang.String is no Hit", failure.getMessage());
  }
}
