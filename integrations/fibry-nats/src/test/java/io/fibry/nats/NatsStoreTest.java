package io.fibry.nats;

import static io.fibry.durable.TestTurns.ADA;
import static io.fibry.durable.TestTurns.GRACE;
import static io.fibry.durable.TestTurns.append;
import static io.fibry.durable.TestTurns.refusal;
import static io.fibry.durable.TestTurns.turn;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.RequestOutcome;
import io.fibry.store.StaleLifeException;
import io.fibry.store.Store;
import io.fibry.store.StoreDamagedException;
import io.fibry.store.StoreException;
import io.fibry.store.StoreFullException;
import io.fibry.store.StoreReadException;
import io.fibry.store.StoreWriteException;
import io.fibry.store.spi.StoreBackend;
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

/** Tests a store in a stream of NATS, in addition to the contracts of durable actors. */
class NatsStoreTest extends StreamFixture {
  // ---- handled messages

  @Test
  void parkedMessageSentAgainByOtherStoreIsPendingOnce() {
    long life = store.load(ADA).life();
    var parkedMessage = new StoreBackend.PendingMessage(ADA, "x", StoreBackend.PendingMessage.NEVER, new byte[1]);
    append(store, turnWithMessages(ADA, life, 1, List.of(), parkedMessage));
    open().store().enqueue(message(ADA, "x"), Integer.MAX_VALUE).toCompletableFuture().join();
    assertEquals(List.of("x"),
        store.pending(ADA, Instant.now(), 9).stream().map(StoreBackend.PendingMessage::id).toList());

    append(store, turnWithMessages(ADA, life, 2, List.of("x")));

    assertEquals(List.of(), pendingIds(ADA));
    Patience.eventually(() -> countMessages(subjects.messagesFilter(ADA)) == 0);
  }

  @Test
  void messageSentAgainWithSameIdIsPendingOnce() {
    long life = store.load(ADA).life();
    for (int i = 1; i <= 20; i++) append(store, turnWithMessages(ADA, life, i, List.of(), message(ADA, "r:tick")));
    for (int i = 1; i <= 20; i++) store.enqueue(message(ADA, "r:tock"), 99).toCompletableFuture().join();

    Patience.eventually(() -> countMessages(subjects.messagesFilter(ADA)) == 2);
    assertEquals(List.of("r:tick", "r:tock"), pendingIds(ADA));
  }

  @Test
  void turnIsRefusedWhenIdsOfHandledMessagesMakeItTooLarge() {
    long life = store.load(ADA).life();
    var ids = IntStream.range(100, 300).mapToObj(i -> i + "x".repeat(500)).toList();
    for (var id : ids) store.enqueue(message(ADA, id), 999).toCompletableFuture().join();

    var failure = assertInstanceOf(StoreWriteException.class, refusal(store.append(
        new StoreBackend.Turn(ADA, life, 1, Instant.now(), false, new byte[960_000], ids, List.of()))));

    assertTrue(failure.getMessage().startsWith("turn 1 of account 'ada' takes 10"), failure.getMessage());
    assertTrue(
        failure.getMessage()
            .endsWith(" bytes with the ids of 200 messages that are done and not deleted yet; the store "
                + "in stream FB_" + app + "_log takes at most 1040384"),
        failure.getMessage());
    life = store.load(ADA).life();
    append(store, turnWithMessages(ADA, life, 1, ids));
    assertEquals(List.of(), pendingIds(ADA));
  }

  @Test
  void handledMessagesAreDeleted() {
    long life = store.load(ADA).life();
    store.enqueue(message(ADA, "one"), 9).toCompletableFuture().join();
    append(store, turnWithMessages(ADA, life, 1, List.of(), message(ADA, "two")));
    append(store, turnWithMessages(ADA, life, 2, List.of("one", "two", "none")));

    assertEquals(List.of(), pendingIds(ADA));
    Patience.eventually(() -> countMessages(subjects.messagesFilter(ADA)) == 0);
  }

  @Test
  void nextLifeDeletesHandledMessagesAfterFailedPurge() throws Exception {
    var nextStore = open().store();
    long life = store.load(ADA).life();
    store.enqueue(message(ADA, "one"), 9).toCompletableFuture().join();
    faulty.failPurges();
    append(store, turnWithMessages(ADA, life, 1, List.of("one")));
    append(store, turnWithMessages(ADA, life, 2, List.of()));
    faulty.closeConnection();
    assertEquals(1, countMessages(subjects.messagesFilter(ADA)));

    var actorsWithPending = new ArrayList<Store.ActorId>();
    nextStore.forEachPending("account", (id, due) -> actorsWithPending.add(id));
    assertEquals(List.of(ADA), actorsWithPending); // the actor is listed, so that a program loads it
    assertEquals(List.of(), nextStore.load(ADA).pendingIds());
    assertEquals(List.of(), nextStore.pending(ADA, Instant.MAX, 9));
    Patience.eventually(() -> countMessages(subjects.messagesFilter(ADA)) == 0);
  }

  @Test
  void storeAcceptsTurnsAgainWhenPurgesSucceed() {
    faulty.limitMessages(70 << 10);
    faulty.failPurges();
    long life = store.load(ADA).life();
    StoreException failure = null;
    for (int i = 1; failure == null; i++) {
      String id = i + "-".repeat(500);
      store.enqueue(message(ADA, id), Integer.MAX_VALUE).toCompletableFuture().join();
      var write = store.append(turnWithMessages(ADA, life, i, List.of(id))).toCompletableFuture();
      if (write.handle((result, thrown) -> thrown != null).join()) failure = (StoreException) refusal(write);
    }
    assertTrue(failure.getMessage().matches("turn \\d+ of account 'ada' takes \\d+ bytes with the ids of \\d+ messages "
        + "that are done and not deleted yet; the store in stream .* takes at most " + (62 << 10) + ".*"),
        failure.getMessage());
    assertEquals(RequestOutcome.NOT_DONE, failure.outcome());

    faulty.allowPurges();
    var loaded = store.load(ADA);
    assertEquals(1, loaded.pendingIds().size());
    append(store, turnWithMessages(ADA, loaded.life(), loaded.lastTurn() + 1, loaded.pendingIds()));
    Patience.eventually(() -> countMessages(subjects.messagesFilter(ADA)) == 0);
  }

  @Test
  void listingActorsFailsWhenFormerLeaderAnswers() {
    var shortLimitStore = open(Duration.ofMillis(200));
    shortLimitStore.pretendAcknowledged(1_000_000);

    var failure = assertThrows(StoreReadException.class, () -> shortLimitStore.store().forEachActor(actor -> {}));

    assertTrue(failure.getMessage().contains("it is a former leader"), failure.getMessage());
  }

  /** A message with the id of a handled message is new if its number in the stream is different. */
  @Test
  void newMessageWithIdOfHandledMessageIsPending() {
    long life = store.load(ADA).life();
    store.enqueue(message(ADA, "one"), 9).toCompletableFuture().join();
    append(store, turnWithMessages(ADA, life, 1, List.of("one")));
    store.enqueue(message(ADA, "one"), 9).toCompletableFuture().join();

    assertEquals(List.of("one"), store.load(ADA).pendingIds());
    assertEquals(List.of("one"), open().store().load(ADA).pendingIds());
  }

  // ---- retained turns

  @Test
  void turnsReplacedByFullStateTurnsAreDeleted() {
    long life = store.load(ADA).life();
    for (int i = 1; i <= 200; i++) append(store, turn(ADA, life, i, true, (byte) i));
    Patience.eventually(() -> countMessages(subjects.turns(ADA)) < 100);

    store.endLife(ADA, life);

    Patience.eventually(() -> countMessages(subjects.turns(ADA)) < 20);
    assertArrayEquals(new byte[] {(byte) 200}, store.load(ADA).bodies().getFirst());
  }

  @Test
  void actorThatWasOnlyLoadedIsNotListed() {
    store.endLife(ADA, store.load(ADA).life());
    Patience.eventually(() -> countMessages(subjects.turns(ADA)) == 0);
    long life = store.load(ADA).life();
    store.forEachActor(id -> {
      throw new AssertionError(id);
    });
    append(store, turn(ADA, life, 1));
    var ids = new ArrayList<Store.ActorId>();

    store.forEachActor(ids::add);

    assertEquals(List.of(ADA), ids);
  }

  @Test
  void oldTurnsAreDeletedWhenSnapshotCoversThem() {
    long life = store.load(ADA).life();
    for (int i = 1; i <= 10; i++) append(store, oldTurn(life, i));
    append(store, turn(ADA, life, 11));
    store.snapshot(turn(ADA, life, 11, true, (byte) 9));
    Patience.eventually(() -> countMessages(subjects.snapshot(ADA)) == 1);
    store.setRetention("account", Duration.ofDays(1));
    Patience.eventually(() -> countMessages(subjects.turns(ADA)) == 1);

    append(store, turn(ADA, life, 12));

    assertEquals(2, store.load(ADA).bodies().size());
    assertEquals(12, open().store().load(ADA).lastTurn());
  }

  /**
   * The turns after the older snapshot may have been deleted. If the older snapshot replaced the
   * newer snapshot, the actor could not be loaded.
   */
  @Test
  void staleLifeDoesNotReplaceSnapshotOfNextLife() {
    long life = store.load(ADA).life();
    append(store, turn(ADA, life, 1));
    var otherStore = open().store();
    long nextLife = otherStore.load(ADA).life();
    append(otherStore, turn(ADA, nextLife, 2));
    otherStore.snapshot(turn(ADA, nextLife, 2, true, (byte) 22));
    Patience.eventually(() -> countMessages(subjects.snapshot(ADA)) == 1);

    store.snapshot(turn(ADA, life, 1, true, (byte) 11));

    assertInstanceOf(StaleLifeException.class, refusal(store.append(turn(ADA, life, 2)))); // written after the snapshot
    assertArrayEquals(new byte[] {22}, store.load(ADA).bodies().getFirst());
  }

  @Test
  void oldTurnsWithoutCoveringSnapshotAreRetained() {
    append(store, oldTurn(store.load(ADA).life(), 1));
    long lifeOfGrace = store.load(GRACE).life();
    append(store,
        new StoreBackend.Turn(GRACE, lifeOfGrace, 1, Instant.EPOCH, false, new byte[] {1}, List.of(), List.of()));
    append(store,
        new StoreBackend.Turn(GRACE, lifeOfGrace, 2, Instant.EPOCH, false, new byte[] {1}, List.of(), List.of()));
    store.snapshot(turn(GRACE, lifeOfGrace, 2, true, (byte) 9));
    Patience.eventually(() -> countMessages(subjects.snapshot(GRACE)) == 1);
    store.setRetention("account", Duration.ofDays(1));
    Patience.eventually(() -> countMessages(subjects.turns(GRACE)) == 1);

    assertEquals(1, store.load(ADA).bodies().size());
    assertEquals(2, store.load(GRACE).lastTurn());
  }

  private static StoreBackend.Turn oldTurn(long life, long number) {
    return new StoreBackend.Turn(ADA, life, number, Instant.EPOCH, false, new byte[] {1}, List.of(), List.of());
  }

  @Test
  void longHistoryIsReadInPages() {
    long life = store.load(ADA).life();
    for (int i = 1; i <= 600; i++) append(store, turn(ADA, life, i));

    var bodies = open().store().load(ADA).bodies();

    assertEquals(600, bodies.size());
    for (int i = 0; i < 600; i++) assertEquals((byte) (i + 1), bodies.get(i)[0]);
  }

  @Test
  void loadOfActorWithMissingTurnIsRefused() throws Exception {
    long life = store.load(ADA).life();
    for (int i = 1; i <= 3; i++) append(store, turn(ADA, life, i));
    append(store, turn(GRACE, store.load(GRACE).life(), 1));
    management().deleteMessage(subjects.streamName(), 3); // message 1 begins the life

    var failure = assertThrows(StoreDamagedException.class, () -> store.load(ADA));

    assertEquals("turn 2 of account 'ada' is missing in stream FB_" + app + "_log. The turns of other actors are "
        + "complete; to recover this actor, restore a copy of the stream, which also sets the other actors back",
        failure.getMessage());
    assertEquals(1, store.load(GRACE).bodies().size());
  }

  @Test
  void loadIsRefusedWhenTurnOrMessageHasForeignBytes() throws Exception {
    client.jetStream().publish(subjects.turns(ADA), "no turn".getBytes());
    client.jetStream().publish(subjects.message(GRACE, "one"), "no message".getBytes());

    var turnFailure = assertThrows(StoreDamagedException.class, () -> store.load(ADA));
    assertTrue(turnFailure.getMessage().startsWith("message 1 of stream FB_" + app
        + "_log is no turn of account 'ada': "), turnFailure.getMessage());
    var messageFailure = assertThrows(StoreDamagedException.class, () -> store.load(GRACE));
    assertEquals("message 2 of stream FB_" + app
        + "_log does not say when it is due; delete it with the tools of NATS", messageFailure.getMessage());
  }

  // ---- limits

  @Test
  void tooLargeTurnIsRefusedAtOnce() {
    long life = store.load(ADA).life();

    var sizeFailure = assertThrows(IllegalArgumentException.class,
        () -> store.append(turn(ADA, life, 1, false, new byte[1 << 20])));
    var sends =
        IntStream.range(0, 1_000).mapToObj(i -> message(GRACE, "m" + i)).toArray(StoreBackend.PendingMessage[]::new);
    var countFailure = assertThrows(IllegalArgumentException.class,
        () -> store.append(turnWithMessages(ADA, life, 1, List.of(), sends)));

    assertEquals("a turn of account 'ada' takes 1048576 bytes; the store in stream FB_" + app
        + "_log takes at most 983040, because max_payload of its servers is 1048576", sizeFailure.getMessage());
    assertEquals("a turn of account 'ada' sends 1000 messages; the store in stream FB_" + app
        + "_log takes at most 999", countFailure.getMessage());
    append(store, turn(ADA, life, 1, false, new byte[983_040]));
  }

  @Test
  void requestLimitBeyond60SecondsIsRefused() {
    var failure = assertThrows(IllegalArgumentException.class,
        () -> NatsStore.open(network, app, options -> options.withRequestLimit(Duration.ofSeconds(61))));

    assertEquals("a request limit of 1 min 1 s; give a millisecond to 60 seconds", failure.getMessage());
  }

  @Test
  void turnMaySend999Messages() {
    long life = store.load(ADA).life();
    var sends =
        IntStream.range(0, 999).mapToObj(i -> message(GRACE, "m" + i)).toArray(StoreBackend.PendingMessage[]::new);

    append(store, turnWithMessages(ADA, life, 1, List.of(), sends));

    assertEquals(IntStream.range(0, 999).mapToObj(i -> "m" + i).toList(), store.load(GRACE).pendingIds());
  }

  @Test
  void storeAcceptsTurnsAgainWhenFullStreamHasSpace() throws Exception {
    long life = store.load(ADA).life();
    var configuration = management().getStreamInfo(subjects.streamName()).getConfiguration();
    management().updateStream(StreamConfiguration.builder(configuration).maxMessages(1)
        .discardPolicy(io.nats.client.api.DiscardPolicy.New).build());

    var failure = assertInstanceOf(StoreFullException.class, refusal(store.append(turn(ADA, life, 1))));

    assertEquals("the store in stream FB_" + app + "_log has no space for turn 1 of account 'ada': "
        + "maximum messages exceeded [10077]", failure.getMessage());
    management().updateStream(configuration);
    append(store, turn(ADA, store.load(ADA).life(), 1));
  }

  @Test
  void writesAndLoadsReportDeletedStream() throws Exception {
    var store = open(Duration.ofSeconds(1)).store();
    long life = store.load(ADA).life();
    management().deleteStream(subjects.streamName());

    var writeFailure = assertInstanceOf(StoreWriteException.class, refusal(store.append(turn(ADA, life, 1))));
    var readFailure = assertThrows(RuntimeException.class, () -> store.load(ADA));

    assertEquals("the store in stream FB_" + app + "_log does not take turn 1 of account 'ada', after 1 s: "
        + "no node receives messages to " + subjects.turns(ADA), writeFailure.getMessage());
    assertTrue(readFailure.getMessage().contains(" cannot be read from stream FB_" + app + "_log: stream not found"),
        readFailure.getMessage());
  }

  @Test
  void historyResumesAfterTurnOfGivenOffset() throws Exception {
    long life = store.load(ADA).life();
    var writes = new ArrayList<CompletableFuture<Void>>();
    for (int i = 1; i <= 50; i++) writes.add(store.append(turn(ADA, life, i)).toCompletableFuture());
    writes.forEach(CompletableFuture::join); // several turns share a message
    try (var history = store.history("account", "")) {
      var turns = history.poll();
      assertEquals(50, turns.size());
      for (var turn : turns) try (var laterHistory = store.history("account", turn.offset())) {
        var laterTurns = laterHistory.poll();
        assertEquals(50 - turn.number(), laterTurns.size());
        if (!laterTurns.isEmpty()) assertEquals(turn.number() + 1, laterTurns.getFirst().number());
      }
    }
    var failure = assertThrows(IllegalArgumentException.class, () -> store.history("account", "x"));
    assertEquals("'x' is no offset in the history of kind 'account'", failure.getMessage());
  }

  @Test
  void turnsAndMessagesOfKeysWithAnyTextAreStored() {
    for (var text : List.of("", "a b", "a.b", ">", "*", "=", "=41", "\u00e4\u4e2d\ud83d\ude00", "\0\n", "x".repeat(512),
        "\u4e2d".repeat(170))) {
      var actor = new Store.ActorId("account", text);
      append(store, turn(actor, store.load(actor).life(), 1));
      store.enqueue(message(actor, "r:" + text), 9).toCompletableFuture().join();

      assertEquals(1, store.load(actor).lastTurn(), text);
      assertEquals(List.of("r:" + text), pendingIds(actor), text);
    }
    var keys = new ArrayList<String>();
    store.forEachActor(id -> keys.add(id.key()));
    assertTrue(keys.contains("\u4e2d".repeat(170)), keys.toString());
    assertEquals(11, keys.size());
  }

  /** The next turn names messages that no longer exist. */
  @Test
  void turnIsStoredThoughItsMessagesWerePurgedManually() throws Exception {
    long life = store.load(ADA).life();
    store.enqueue(message(ADA, "one"), 9).toCompletableFuture().join();
    management().purgeStream(subjects.streamName(),
        PurgeOptions.builder().subject(subjects.messagesFilter(ADA)).build());

    append(store, turnWithMessages(ADA, life, 1, List.of("one")));

    assertEquals(List.of(), pendingIds(ADA));
    assertEquals(List.of(), open().store().load(ADA).pendingIds());
  }
}
