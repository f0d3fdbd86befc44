package io.fibry.nats;

import static io.fibry.durable.Turning.ADA;
import static io.fibry.durable.Turning.GRACE;
import static io.fibry.durable.Turning.append;
import static io.fibry.durable.Turning.refusal;
import static io.fibry.durable.Turning.turn;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Outcome;
import io.fibry.store.StaleLifeException;
import io.fibry.store.Store;
import io.fibry.store.StoreDamagedException;
import io.fibry.store.StoreException;
import io.fibry.store.StoreFullException;
import io.fibry.store.StoreReadException;
import io.fibry.store.StoreWriteException;
import io.fibry.support.Patience;
import io.nats.client.PurgeOptions;
import io.nats.client.api.StreamConfiguration;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What a store in a stream does, beside the contracts of durable actors. */
class NatsStoreTest extends StreamFixture {
  // ---- what is done

  @Test
  void messageResentByAnotherStoreIsDoneOnce() {
    long life = store.load(ADA).life();
    var aside = new Store.PendingMessage(ADA, "x", Store.PendingMessage.NEVER, new byte[1]);
    append(store, sending(ADA, life, 1, List.of(), aside));
    open().store().enqueue(message(ADA, "x"), Integer.MAX_VALUE).toCompletableFuture().join();
    assertEquals(List.of("x"), store.pending(ADA, Instant.now(), 9).stream().map(Store.PendingMessage::id).toList());

    append(store, sending(ADA, life, 2, List.of("x")));

    assertEquals(List.of(), waiting(ADA));
    Patience.eventually(() -> messages(subjects.messagesFilter(ADA)) == 0);
  }

  @Test
  void repeatedlySentMessageIsPendingOnce() {
    long life = store.load(ADA).life();
    for (int i = 1; i <= 20; i++) append(store, sending(ADA, life, i, List.of(), message(ADA, "r:tick")));
    for (int i = 1; i <= 20; i++) store.enqueue(message(ADA, "r:tock"), 99).toCompletableFuture().join();

    Patience.eventually(() -> messages(subjects.messagesFilter(ADA)) == 2);
    assertEquals(List.of("r:tick", "r:tock"), waiting(ADA));
  }

  @Test
  void handledIdsMustFitIntoMessageOfTheirTurn() {
    long life = store.load(ADA).life();
    var ids = IntStream.range(100, 300).mapToObj(i -> i + "x".repeat(500)).toList();
    for (var one : ids) store.enqueue(message(ADA, one), 999).toCompletableFuture().join();

    var failure = assertInstanceOf(StoreWriteException.class, refusal(store.append(
        new Store.Turn(ADA, life, 1, Instant.now(), false, new byte[960_000], ids, List.of()))));

    assertTrue(failure.getMessage().startsWith("turn 1 of account 'ada' takes 10"), failure.getMessage());
    assertTrue(
        failure.getMessage()
            .endsWith(" bytes with the ids of 200 messages that are done and not deleted yet; the store "
                + "in stream FB_" + app + "_log takes at most 1040384"),
        failure.getMessage());
    life = store.load(ADA).life();
    append(store, sending(ADA, life, 1, ids));
    assertEquals(List.of(), waiting(ADA));
  }

  @Test
  void handledMessagesAreDeleted() {
    long life = store.load(ADA).life();
    store.enqueue(message(ADA, "one"), 9).toCompletableFuture().join();
    append(store, sending(ADA, life, 1, List.of(), message(ADA, "two")));
    append(store, sending(ADA, life, 2, List.of("one", "two", "none")));

    assertEquals(List.of(), waiting(ADA));
    Patience.eventually(() -> messages(subjects.messagesFilter(ADA)) == 0);
  }

  @Test
  void nextLifeDeletesHandledMessagesWhenPurgeFailed() throws Exception {
    var next = open().store();
    long life = store.load(ADA).life();
    store.enqueue(message(ADA, "one"), 9).toCompletableFuture().join();
    faulty.failPurges();
    append(store, sending(ADA, life, 1, List.of("one")));
    append(store, sending(ADA, life, 2, List.of()));
    faulty.cut();
    assertEquals(1, messages(subjects.messagesFilter(ADA)));

    var told = new ArrayList<Store.ActorId>();
    next.forEachPending("account", (id, due) -> told.add(id));
    assertEquals(List.of(ADA), told); // so somebody looks after it
    assertEquals(List.of(), next.load(ADA).pendingIds());
    assertEquals(List.of(), next.pending(ADA, Instant.MAX, 9));
    Patience.eventually(() -> messages(subjects.messagesFilter(ADA)) == 0);
  }

  @Test
  void turnsAreStoredAgainWhenPurgesSucceed() {
    faulty.limitMessages(70 << 10);
    faulty.failPurges();
    long life = store.load(ADA).life();
    StoreException refused = null;
    for (int i = 1; refused == null; i++) {
      String id = i + "-".repeat(500);
      store.enqueue(message(ADA, id), Integer.MAX_VALUE).toCompletableFuture().join();
      var stored = store.append(sending(ADA, life, i, List.of(id))).toCompletableFuture();
      if (stored.handle((none, failure) -> failure != null).join()) refused = (StoreException) refusal(stored);
    }
    assertTrue(refused.getMessage().matches("turn \\d+ of account 'ada' takes \\d+ bytes with the ids of \\d+ messages "
        + "that are done and not deleted yet; the store in stream .* takes at most " + (62 << 10) + ".*"),
        refused.getMessage());
    assertEquals(Outcome.NOT_DONE, refused.outcome());

    faulty.healPurges();
    var last = store.load(ADA);
    assertEquals(1, last.pendingIds().size());
    append(store, sending(ADA, last.life(), last.lastTurn() + 1, last.pendingIds()));
    Patience.eventually(() -> messages(subjects.messagesFilter(ADA)) == 0);
  }

  @Test
  void listOfFormerLeaderIsRefused() {
    var hasty = open(Duration.ofMillis(200));
    hasty.acknowledged(1_000_000);

    var failure = assertThrows(StoreReadException.class, () -> hasty.store().forEachActor(actor -> {}));

    assertTrue(failure.getMessage().contains("it was the leader before"), failure.getMessage());
  }

  /** Its number in the stream is another. */
  @Test
  void messageReusingHandledIdIsPending() {
    long life = store.load(ADA).life();
    store.enqueue(message(ADA, "one"), 9).toCompletableFuture().join();
    append(store, sending(ADA, life, 1, List.of("one")));
    store.enqueue(message(ADA, "one"), 9).toCompletableFuture().join();

    assertEquals(List.of("one"), store.load(ADA).pendingIds());
    assertEquals(List.of("one"), open().store().load(ADA).pendingIds());
  }

  // ---- what is kept of turns

  @Test
  void turnsReplacedByWholeTurnsAreDeleted() {
    long life = store.load(ADA).life();
    for (int i = 1; i <= 200; i++) append(store, turn(ADA, life, i, true, (byte) i));
    Patience.eventually(() -> messages(subjects.turns(ADA)) < 100);

    store.endLife(ADA, life);

    Patience.eventually(() -> messages(subjects.turns(ADA)) < 20);
    assertArrayEquals(new byte[] {(byte) 200}, store.load(ADA).bodies().getFirst());
  }

  @Test
  void actorThatWasOnlyLoadedIsNotListed() {
    store.endLife(ADA, store.load(ADA).life());
    Patience.eventually(() -> messages(subjects.turns(ADA)) == 0);
    long life = store.load(ADA).life();
    store.forEachActor(id -> {
      throw new AssertionError(id);
    });
    append(store, turn(ADA, life, 1));
    var all = new ArrayList<Store.ActorId>();

    store.forEachActor(all::add);

    assertEquals(List.of(ADA), all);
  }

  @Test
  void oldTurnsAreDeletedWhenSnapshotCoversThem() {
    long life = store.load(ADA).life();
    for (int i = 1; i <= 10; i++) append(store, old(life, i));
    append(store, turn(ADA, life, 11));
    store.snapshot(turn(ADA, life, 11, true, (byte) 9));
    Patience.eventually(() -> messages(subjects.snapshot(ADA)) == 1);
    store.setRetention("account", Duration.ofDays(1));
    Patience.eventually(() -> messages(subjects.turns(ADA)) == 1);

    append(store, turn(ADA, life, 12));

    assertEquals(2, store.load(ADA).bodies().size());
    assertEquals(12, open().store().load(ADA).lastTurn());
  }

  /** Its turns may be gone, so the actor could not be read from there. */
  @Test
  void snapshotOfStaleLifeReplacesNone() {
    long life = store.load(ADA).life();
    append(store, turn(ADA, life, 1));
    var other = open().store();
    long next = other.load(ADA).life();
    append(other, turn(ADA, next, 2));
    other.snapshot(turn(ADA, next, 2, true, (byte) 22));
    Patience.eventually(() -> messages(subjects.snapshot(ADA)) == 1);

    store.snapshot(turn(ADA, life, 1, true, (byte) 11));

    assertInstanceOf(StaleLifeException.class, refusal(store.append(turn(ADA, life, 2)))); // after the snapshot
    assertArrayEquals(new byte[] {22}, store.load(ADA).bodies().getFirst());
  }

  @Test
  void oldTurnsWithoutCoveringSnapshotAreRetained() {
    append(store, old(store.load(ADA).life(), 1));
    long grace = store.load(GRACE).life();
    append(store, new Store.Turn(GRACE, grace, 1, Instant.EPOCH, false, new byte[] {1}, List.of(), List.of()));
    append(store, new Store.Turn(GRACE, grace, 2, Instant.EPOCH, false, new byte[] {1}, List.of(), List.of()));
    store.snapshot(turn(GRACE, grace, 2, true, (byte) 9));
    Patience.eventually(() -> messages(subjects.snapshot(GRACE)) == 1);
    store.setRetention("account", Duration.ofDays(1));
    Patience.eventually(() -> messages(subjects.turns(GRACE)) == 1);

    assertEquals(1, store.load(ADA).bodies().size());
    assertEquals(2, store.load(GRACE).lastTurn());
  }

  private static Store.Turn old(long life, long number) {
    return new Store.Turn(ADA, life, number, Instant.EPOCH, false, new byte[] {1}, List.of(), List.of());
  }

  @Test
  void aLongHistoryIsReadInPages() {
    long life = store.load(ADA).life();
    for (int i = 1; i <= 600; i++) append(store, turn(ADA, life, i));

    var bodies = open().store().load(ADA).bodies();

    assertEquals(600, bodies.size());
    for (int i = 0; i < 600; i++) assertEquals((byte) (i + 1), bodies.get(i)[0]);
  }

  @Test
  void aTurnThatIsMissingIsFoundOut() throws Exception {
    long life = store.load(ADA).life();
    for (int i = 1; i <= 3; i++) append(store, turn(ADA, life, i));
    append(store, turn(GRACE, store.load(GRACE).life(), 1));
    streams().deleteMessage(subjects.streamName(), 3); // the first one is the life

    var failure = assertThrows(StoreDamagedException.class, () -> store.load(ADA));

    assertEquals("turn 2 of account 'ada' is missing in stream FB_" + app + "_log. Other actors are not concerned; "
        + "put back a copy of the stream", failure.getMessage());
    assertEquals(1, store.load(GRACE).bodies().size());
  }

  @Test
  void bytesOfOthersAreFoundOut() throws Exception {
    tools.jetStream().publish(subjects.turns(ADA), "no turn".getBytes());
    tools.jetStream().publish(subjects.message(GRACE, "one"), "no message".getBytes());

    var failure = assertThrows(StoreDamagedException.class, () -> store.load(ADA));
    assertTrue(failure.getMessage().startsWith("message 1 of stream FB_" + app + "_log is no turn of account 'ada': "),
        failure.getMessage());
    var other = assertThrows(StoreDamagedException.class, () -> store.load(GRACE));
    assertEquals("message 2 of stream FB_" + app
        + "_log does not say when it is due; take it away by the tools of NATS", other.getMessage());
  }

  // ---- limits

  @Test
  void tooLargeTurnIsRefusedAtOnce() {
    long life = store.load(ADA).life();

    var failure = assertThrows(IllegalArgumentException.class,
        () -> store.append(turn(ADA, life, 1, false, new byte[1 << 20])));
    var many = IntStream.range(0, 1_000).mapToObj(i -> message(GRACE, "m" + i)).toArray(Store.PendingMessage[]::new);
    var tooMany = assertThrows(IllegalArgumentException.class,
        () -> store.append(sending(ADA, life, 1, List.of(), many)));

    assertEquals("a turn of account 'ada' takes 1048576 bytes; the store in stream FB_" + app
        + "_log takes at most 983040, since max_payload of its servers is 1048576", failure.getMessage());
    assertEquals("a turn of account 'ada' sends 1000 messages; the store in stream FB_" + app
        + "_log takes at most 999", tooMany.getMessage());
    append(store, turn(ADA, life, 1, false, new byte[983_040]));
  }

  @Test
  void requestLimitBeyondServerMemoryIsRefused() {
    var failure = assertThrows(IllegalArgumentException.class,
        () -> NatsStore.open(network, app, options -> options.withRequestLimit(Duration.ofSeconds(61))));

    assertEquals("a limit of PT1M1S; give a millisecond to 60 seconds", failure.getMessage());
  }

  @Test
  void aTurnMaySendMany() {
    long life = store.load(ADA).life();
    var many = IntStream.range(0, 999).mapToObj(i -> message(GRACE, "m" + i)).toArray(Store.PendingMessage[]::new);

    append(store, sending(ADA, life, 1, List.of(), many));

    assertEquals(IntStream.range(0, 999).mapToObj(i -> "m" + i).toList(), store.load(GRACE).pendingIds());
  }

  @Test
  void aFullStreamRefusesAndGoesOn() throws Exception {
    long life = store.load(ADA).life();
    var now = streams().getStreamInfo(subjects.streamName()).getConfiguration();
    streams().updateStream(StreamConfiguration.builder(now).maxMessages(1)
        .discardPolicy(io.nats.client.api.DiscardPolicy.New).build());

    var failure = assertInstanceOf(StoreFullException.class, refusal(store.append(turn(ADA, life, 1))));

    assertEquals("the store in stream FB_" + app + "_log has no room for turn 1 of account 'ada': "
        + "maximum messages exceeded [10077]", failure.getMessage());
    streams().updateStream(now);
    append(store, turn(ADA, store.load(ADA).life(), 1));
  }

  @Test
  void aStreamThatWasTakenAwayIsTold() throws Exception {
    var store = open(Duration.ofSeconds(1)).store();
    long life = store.load(ADA).life();
    streams().deleteStream(subjects.streamName());

    var write = assertInstanceOf(StoreWriteException.class, refusal(store.append(turn(ADA, life, 1))));
    var read = assertThrows(RuntimeException.class, () -> store.load(ADA));

    assertEquals("the store in stream FB_" + app + "_log does not take turn 1 of account 'ada', after PT1S: "
        + "nobody gets messages to " + subjects.turns(ADA), write.getMessage());
    assertTrue(read.getMessage().contains(" cannot be read from stream FB_" + app + "_log: stream not found"),
        read.getMessage());
  }

  @Test
  void historiesGoOnAtTheirPlace() throws Exception {
    long life = store.load(ADA).life();
    var all = new ArrayList<CompletableFuture<Void>>();
    for (int i = 1; i <= 50; i++) all.add(store.append(turn(ADA, life, i)).toCompletableFuture());
    all.forEach(CompletableFuture::join); // several in one message
    try (var history = store.history("account", "")) {
      var turns = history.poll();
      assertEquals(50, turns.size());
      for (var past : turns) try (var rest = store.history("account", past.offset())) {
        var next = rest.poll();
        assertEquals(50 - past.number(), next.size());
        if (!next.isEmpty()) assertEquals(past.number() + 1, next.getFirst().number());
      }
    }
    var failure = assertThrows(IllegalArgumentException.class, () -> store.history("account", "x"));
    assertEquals("'x' is no place in the history of kind 'account'", failure.getMessage());
  }

  @Test
  void namesMayBeAnyText() {
    for (var text : List.of("", "a b", "a.b", ">", "*", "=", "=41", "\u00e4\u4e2d\ud83d\ude00", "\0\n", "x".repeat(512),
        "\u4e2d".repeat(170))) {
      var odd = new Store.ActorId("account", text);
      append(store, turn(odd, store.load(odd).life(), 1));
      store.enqueue(message(odd, "r:" + text), 9).toCompletableFuture().join();

      assertEquals(1, store.load(odd).lastTurn(), text);
      assertEquals(List.of("r:" + text), waiting(odd), text);
    }
    var all = new ArrayList<String>();
    store.forEachActor(id -> all.add(id.key()));
    assertTrue(all.contains("\u4e2d".repeat(170)), all.toString());
    assertEquals(11, all.size());
  }

  /** The names that a turn has for them are useless then. */
  @Test
  void manualPurgeDoesNoHarm() throws Exception {
    long life = store.load(ADA).life();
    store.enqueue(message(ADA, "one"), 9).toCompletableFuture().join();
    streams().purgeStream(subjects.streamName(), PurgeOptions.builder().subject(subjects.messagesFilter(ADA)).build());

    append(store, sending(ADA, life, 1, List.of("one")));

    assertEquals(List.of(), waiting(ADA));
    assertEquals(List.of(), open().store().load(ADA).pendingIds());
  }
}
