package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.cluster.TransportException.Failure;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.support.Patience;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the contract that each transport must keep. */
abstract class TransportContract {
  private static final Duration FIVE_MINUTES = Duration.ofMinutes(5);
  private static final Optional<String> NO_GROUP = Optional.empty();

  private final ClusterTransport a = newTransport();
  private final ClusterTransport b = newTransport();
  private final BlockingQueue<WireMessage> received = new LinkedBlockingQueue<>();

  /** Opens a connection to the network that all connections of this test use. */
  abstract ClusterTransport newTransport();

  @AfterEach
  void close() {
    a.close();
    b.close();
  }

  private static WireMessage wire(String subject, String text) {
    return WireMessage.oneWay(subject, Map.of("Fb-T", "test"), text.getBytes(StandardCharsets.UTF_8));
  }

  private static String text(WireMessage wire) {
    return new String(wire.body(), StandardCharsets.UTF_8);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  // ---- messages

  @Test
  void messageArrivesUnchanged() throws InterruptedException {
    b.subscribe("x.y", NO_GROUP, received::add);

    a.publish(wire("x.y", "hello"));

    var message = Patience.nextOf(received);
    assertEquals("hello", text(message));
    assertEquals(Map.of("Fb-T", "test"), message.headers());
    assertEquals("x.y", message.subject());
    assertTrue(message.replyTo().isEmpty());
  }

  @Test
  void headersWithAnyCharactersArriveUnchanged() throws InterruptedException {
    var headers = Map.of("Fb-Why", "Grüße %41 + ✓ \t 100%", "Fb-S", "", "Fb-K", " a b ");
    b.subscribe("x.y", NO_GROUP, received::add);

    a.publish(WireMessage.oneWay("x.y", headers, new byte[0]));

    assertEquals(headers, Patience.nextOf(received).headers());
  }

  @Test
  void messagesKeepTheirOrder() throws InterruptedException {
    b.subscribe("x", NO_GROUP, received::add);

    for (int i = 0; i < 1_000; i++) a.publish(wire("x", "" + i));

    for (int i = 0; i < 1_000; i++) assertEquals("" + i, text(Patience.nextOf(received)));
  }

  @Test
  void eachSubscriberAndOneMemberOfEachGroupGetsMessage() throws InterruptedException {
    var receivedByA = new LinkedBlockingQueue<WireMessage>();
    var receivedByB = new LinkedBlockingQueue<WireMessage>();
    a.subscribe("x", NO_GROUP, received::add);
    a.subscribe("x", Optional.of("g"), receivedByA::add);
    b.subscribe("x", Optional.of("g"), receivedByB::add);

    for (int i = 0; i < 100; i++) a.publish(wire("x", "" + i));
    for (int i = 0; i < 100; i++) Patience.nextOf(received);
    b.request(wire("x", "last"), Duration.ofSeconds(1)); // arrives after all earlier messages

    assertEquals("last", text(Patience.nextOf(received)));
    Patience.eventually(() -> receivedByA.size() + receivedByB.size() == 101);
    assertTrue(!receivedByA.isEmpty() && !receivedByB.isEmpty(),
        receivedByA.size() + " and " + receivedByB.size());
  }

  @Test
  void closedSubscriptionGetsNoMessages() throws InterruptedException {
    b.subscribe("x", NO_GROUP, received::add).close();
    var receivedByOpen = new LinkedBlockingQueue<WireMessage>();
    b.subscribe("x", NO_GROUP, receivedByOpen::add);

    a.publish(wire("x", "late"));

    assertEquals("late", text(Patience.nextOf(receivedByOpen)));
    assertTrue(received.isEmpty());
  }

  @Test
  void subscriberThatThrowsStillGetsNextMessage() throws InterruptedException {
    b.subscribe("x", NO_GROUP, message -> {
      received.add(message);
      throw new IllegalStateException("made up");
    });

    a.publish(wire("x", "1"));
    a.publish(wire("x", "2"));

    assertEquals("1", text(Patience.nextOf(received)));
    assertEquals("2", text(Patience.nextOf(received)));
  }

  @Test
  void tooLargeMessageIsRefused() {
    var large = WireMessage.oneWay("x", Map.of(), new byte[a.maxBodyBytes() + 1]);

    var failure = assertThrows(IllegalArgumentException.class, () -> a.publish(large));

    assertTrue(failure.getMessage().contains(large.body().length + " bytes; at most " + a.maxBodyBytes()),
        failure.getMessage());
    assertThrows(IllegalArgumentException.class, () -> a.request(large, FIVE_MINUTES));
  }

  // ---- requests

  @Test
  void requestGetsItsAnswer() throws Exception {
    b.subscribe("double", NO_GROUP,
        message -> b.publish(wire(message.replyTo().orElseThrow(), text(message) + text(message))));

    var answers = IntStream.range(0, 100).mapToObj(i -> a.request(wire("double", "" + i), FIVE_MINUTES)).toList();

    for (int i = 0; i < 100; i++) assertEquals("" + i + i, text(Patience.value(answers.get(i).toCompletableFuture())));
  }

  @Test
  void requestWithoutReceiverFailsAtOnce() {
    assertEquals(Failure.NO_RECEIVER, failureOf(a, "nobody", FIVE_MINUTES));
  }

  @Test
  void unansweredRequestFailsAtItsLimit() {
    b.subscribe("silent", NO_GROUP, received::add);

    assertEquals(Failure.TIMED_OUT, failureOf(a, "silent", Duration.ofMillis(50)));
  }

  @Test
  void closedConnectionRefusesAllCalls() {
    assertEquals(Optional.empty(), a.connectionProblem());
    a.close();
    assertTrue(a.connectionProblem().orElseThrow().startsWith("the connection "), () -> a.connectionProblem().get());

    assertEquals(Failure.DISCONNECTED, failureOf(a, "x", FIVE_MINUTES));
    assertEquals(Failure.DISCONNECTED,
        assertThrows(TransportException.class, () -> a.publish(wire("x", ""))).failure());
    assertEquals(Failure.DISCONNECTED, assertThrows(TransportException.class, () -> a.get("x")).failure());
    assertEquals(Failure.DISCONNECTED,
        assertThrows(TransportException.class, () -> a.subscribe("x", NO_GROUP, received::add)).failure());
  }

  @Test
  void pendingRequestFailsWhenConnectionCloses() throws Exception {
    b.subscribe("silent", NO_GROUP, received::add);
    var answer = a.request(wire("silent", ""), FIVE_MINUTES).toCompletableFuture();
    Patience.nextOf(received);

    a.close();

    assertEquals(Failure.UNKNOWN, ((TransportException) Patience.failure(answer)).failure());
  }

  @Test
  void interruptedThreadStillPublishes() throws InterruptedException {
    b.subscribe("x", NO_GROUP, received::add);

    Thread.currentThread().interrupt();
    for (int i = 0; i < 10; i++) a.publish(wire("x", "" + i));

    assertTrue(Thread.interrupted());
    for (int i = 0; i < 10; i++) assertEquals("" + i, text(Patience.nextOf(received)));
  }

  private static Failure failureOf(ClusterTransport transport, String subject, Duration limit) {
    var answer = transport.request(wire(subject, ""), limit).toCompletableFuture();
    return ((TransportException) Patience.failure(answer)).failure();
  }

  // ---- the table

  @Test
  void createOfExistingEntryChangesNothing() {
    long version = a.create("k.1", bytes("one"), FIVE_MINUTES).orElseThrow();

    assertEquals(OptionalLong.empty(), b.create("k.1", bytes("two"), FIVE_MINUTES));
    var entry = b.get("k.1").orElseThrow();
    assertArrayEquals(bytes("one"), entry.value().orElseThrow());
    assertEquals(version, entry.version());
    assertEquals("k.1", entry.key());
    assertTrue(b.get("k.2").isEmpty());
  }

  @Test
  void entryChangesOnlyIfCallerGivesCurrentVersion() {
    long firstVersion = a.create("k.3", bytes("one"), FIVE_MINUTES).orElseThrow();
    long secondVersion = b.update("k.3", bytes("two"), firstVersion, FIVE_MINUTES).orElseThrow();

    assertTrue(secondVersion > firstVersion);
    assertEquals(OptionalLong.empty(), a.update("k.3", bytes("three"), firstVersion, FIVE_MINUTES));
    assertArrayEquals(bytes("two"), a.get("k.3").orElseThrow().value().orElseThrow());
    assertFalse(a.delete("k.3", firstVersion));
    assertTrue(a.delete("k.3", secondVersion));
    assertTrue(a.get("k.3").isEmpty());
    assertFalse(a.delete("k.3", secondVersion));
    assertTrue(a.create("k.3", bytes("four"), FIVE_MINUTES).orElseThrow() > secondVersion);
  }

  @Test
  void watcherGetsExistingEntriesAndEachChange() throws InterruptedException {
    long version = a.create("w.1", bytes("one"), FIVE_MINUTES).orElseThrow();
    a.create("other", bytes("x"), FIVE_MINUTES);
    var entries = new LinkedBlockingQueue<ClusterTransport.Entry>();
    b.watch("w.", entries::add);
    assertEquals("w.1=one", describe(Patience.nextOf(entries))); // a network stores only the last state of each entry

    version = a.update("w.1", bytes("two"), version, FIVE_MINUTES).orElseThrow();
    assertEquals("w.1=two", describe(Patience.nextOf(entries)));
    a.create("w.2", bytes("three"), FIVE_MINUTES);
    a.delete("w.1", version);

    assertEquals(List.of("w.2=three", "w.1 is gone"),
        List.of(describe(Patience.nextOf(entries)), describe(Patience.nextOf(entries))));
  }

  @Test
  void entryExpiresWithItsLease() throws InterruptedException {
    var entries = new LinkedBlockingQueue<ClusterTransport.Entry>();
    b.watch("l.", entries::add);
    long version = a.create("l.1", bytes("one"), Duration.ofSeconds(1)).orElseThrow();

    Patience.eventually(() -> b.get("l.1").isEmpty());

    assertEquals(OptionalLong.empty(), a.update("l.1", bytes("two"), version, FIVE_MINUTES));
    String text = describe(Patience.nextOf(entries));
    if (text.equals("l.1=one")) text = describe(Patience.nextOf(entries)); // a slow network reports only the last state
    assertEquals("l.1 is gone", text);
    assertTrue(a.create("l.1", bytes("two"), FIVE_MINUTES).orElseThrow() > version);
    assertEquals("l.1=two", describe(Patience.nextOf(entries)));
  }

  @Test
  void updatedEntryOutlivesItsFirstLease() {
    var updated = OptionalLong.empty(); // empty if the lease expired before the update
    String key = "";
    for (int i = 0; updated.isEmpty(); i++) {
      key = "l.2." + i;
      long version = a.create(key, bytes("one"), Duration.ofSeconds(1)).orElseThrow();
      updated = a.update(key, bytes("two"), version, Duration.ofMinutes(5));
    }
    a.create("l.3", bytes("sand"), Duration.ofSeconds(2)).orElseThrow(); // expires after the first lease of `key`

    Patience.eventually(() -> b.get("l.3").isEmpty());

    assertEquals(updated.getAsLong(), b.get(key).orElseThrow().version());
  }

  private static String describe(ClusterTransport.Entry entry) {
    return entry.key()
        + entry.value().map(value -> "=" + new String(value, StandardCharsets.UTF_8)).orElse(" is gone");
  }
}
