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

/** The duties of each engine. */
abstract class EngineContract {
  private static final Duration LONG = Duration.ofMinutes(5);
  private static final Optional<String> ALL = Optional.empty();

  private final ClusterTransport a = engine();
  private final ClusterTransport b = engine();
  private final BlockingQueue<WireMessage> got = new LinkedBlockingQueue<>();

  /** A new connection to the same network. */
  abstract ClusterTransport engine();

  @AfterEach
  void close() {
    a.close();
    b.close();
  }

  private static WireMessage wire(String subject, String text) {
    return WireMessage.to(subject, Map.of("Fb-T", "test"), text.getBytes(StandardCharsets.UTF_8));
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
    b.subscribe("x.y", ALL, got::add);

    a.publish(wire("x.y", "hello"));

    var one = Patience.next(got);
    assertEquals("hello", text(one));
    assertEquals(Map.of("Fb-T", "test"), one.headers());
    assertEquals("x.y", one.subject());
    assertTrue(one.replyTo().isEmpty());
  }

  @Test
  void headersMayHaveAnyLetters() throws InterruptedException {
    var headers = Map.of("Fb-Why", "Grüße %41 + ✓ \t 100%", "Fb-S", "", "Fb-K", " a b ");
    b.subscribe("x.y", ALL, got::add);

    a.publish(WireMessage.to("x.y", headers, new byte[0]));

    assertEquals(headers, Patience.next(got).headers());
  }

  @Test
  void messagesKeepTheirOrder() throws InterruptedException {
    b.subscribe("x", ALL, got::add);

    for (int i = 0; i < 1_000; i++) a.publish(wire("x", "" + i));

    for (int i = 0; i < 1_000; i++) assertEquals("" + i, text(Patience.next(got)));
  }

  @Test
  void eachSubscriberAndOneMemberOfEachGroupGetsMessage() throws InterruptedException {
    var first = new LinkedBlockingQueue<WireMessage>();
    var second = new LinkedBlockingQueue<WireMessage>();
    a.subscribe("x", ALL, got::add);
    a.subscribe("x", Optional.of("g"), first::add);
    b.subscribe("x", Optional.of("g"), second::add);

    for (int i = 0; i < 100; i++) a.publish(wire("x", "" + i));
    for (int i = 0; i < 100; i++) Patience.next(got);
    b.request(wire("x", "last"), Duration.ofSeconds(1)); // so that all before have arrived

    assertEquals("last", text(Patience.next(got)));
    Patience.eventually(() -> first.size() + second.size() == 101);
    assertTrue(!first.isEmpty() && !second.isEmpty(), first.size() + " and " + second.size());
  }

  @Test
  void closedSubscriptionGetsNoMessages() throws InterruptedException {
    b.subscribe("x", ALL, got::add).close();
    var other = new LinkedBlockingQueue<WireMessage>();
    b.subscribe("x", ALL, other::add);

    a.publish(wire("x", "late"));

    assertEquals("late", text(Patience.next(other)));
    assertTrue(got.isEmpty());
  }

  @Test
  void aReaderThatThrowsGetsTheNextMessageToo() throws InterruptedException {
    b.subscribe("x", ALL, one -> {
      got.add(one);
      throw new IllegalStateException("made up");
    });

    a.publish(wire("x", "1"));
    a.publish(wire("x", "2"));

    assertEquals("1", text(Patience.next(got)));
    assertEquals("2", text(Patience.next(got)));
  }

  @Test
  void aMessageThatIsTooLargeIsRefused() {
    var large = WireMessage.to("x", Map.of(), new byte[a.maxBodyBytes() + 1]);

    var failure = assertThrows(IllegalArgumentException.class, () -> a.publish(large));

    assertTrue(failure.getMessage().contains(large.body().length + " bytes; at most " + a.maxBodyBytes()),
        failure.getMessage());
    assertThrows(IllegalArgumentException.class, () -> a.request(large, LONG));
  }

  // ---- requests

  @Test
  void aRequestGetsItsAnswer() throws Exception {
    b.subscribe("double", ALL,
        one -> b.publish(wire(one.replyTo().orElseThrow(), text(one) + text(one))));

    var answers = IntStream.range(0, 100).mapToObj(i -> a.request(wire("double", "" + i), LONG)).toList();

    for (int i = 0; i < 100; i++) assertEquals("" + i + i, text(answers.get(i).toCompletableFuture().get()));
  }

  @Test
  void requestWithoutReceiverFailsAtOnce() {
    assertEquals(Failure.NO_RECEIVER, loss(a, "nobody", LONG));
  }

  @Test
  void aRequestThatIsNotAnsweredFailsInTime() {
    b.subscribe("silent", ALL, got::add);

    assertEquals(Failure.TIMED_OUT, loss(a, "silent", Duration.ofMillis(50)));
  }

  @Test
  void closedConnectionRefusesAllCalls() {
    assertEquals(Optional.empty(), a.connectionProblem());
    a.close();
    assertTrue(a.connectionProblem().orElseThrow().startsWith("the connection "), () -> a.connectionProblem().get());

    assertEquals(Failure.DISCONNECTED, loss(a, "x", LONG));
    assertEquals(Failure.DISCONNECTED,
        assertThrows(TransportException.class, () -> a.publish(wire("x", ""))).failure());
    assertEquals(Failure.DISCONNECTED, assertThrows(TransportException.class, () -> a.get("x")).failure());
    assertEquals(Failure.DISCONNECTED,
        assertThrows(TransportException.class, () -> a.subscribe("x", ALL, got::add)).failure());
  }

  @Test
  void pendingRequestFailsWhenConnectionCloses() throws Exception {
    b.subscribe("silent", ALL, got::add);
    var answer = a.request(wire("silent", ""), LONG).toCompletableFuture();
    Patience.next(got);

    a.close();

    assertEquals(Failure.UNKNOWN, ((TransportException) Patience.failure(answer)).failure());
  }

  @Test
  void interruptedThreadStillPublishes() throws InterruptedException {
    b.subscribe("x", ALL, got::add);

    Thread.currentThread().interrupt();
    for (int i = 0; i < 10; i++) a.publish(wire("x", "" + i));

    assertTrue(Thread.interrupted());
    for (int i = 0; i < 10; i++) assertEquals("" + i, text(Patience.next(got)));
  }

  private static Failure loss(ClusterTransport engine, String subject, Duration limit) {
    var answer = engine.request(wire(subject, ""), limit).toCompletableFuture();
    return ((TransportException) Patience.failure(answer)).failure();
  }

  // ---- the table

  @Test
  void anEntryIsMadeOnce() {
    long version = a.create("k.1", bytes("one"), LONG).orElseThrow();

    assertEquals(OptionalLong.empty(), b.create("k.1", bytes("two"), LONG));
    var entry = b.get("k.1").orElseThrow();
    assertArrayEquals(bytes("one"), entry.value().orElseThrow());
    assertEquals(version, entry.version());
    assertEquals("k.1", entry.key());
    assertTrue(b.get("k.2").isEmpty());
  }

  @Test
  void anEntryIsChangedByItsVersion() {
    long first = a.create("k.3", bytes("one"), LONG).orElseThrow();
    long second = b.update("k.3", bytes("two"), first, LONG).orElseThrow();

    assertTrue(second > first);
    assertEquals(OptionalLong.empty(), a.update("k.3", bytes("three"), first, LONG));
    assertArrayEquals(bytes("two"), a.get("k.3").orElseThrow().value().orElseThrow());
    assertFalse(a.delete("k.3", first));
    assertTrue(a.delete("k.3", second));
    assertTrue(a.get("k.3").isEmpty());
    assertFalse(a.delete("k.3", second));
    assertTrue(a.create("k.3", bytes("four"), LONG).orElseThrow() > second);
  }

  @Test
  void aWatcherSeesWhatIsThereAndEachChange() throws InterruptedException {
    long version = a.create("w.1", bytes("one"), LONG).orElseThrow();
    a.create("other", bytes("x"), LONG);
    var seen = new LinkedBlockingQueue<ClusterTransport.Entry>();
    b.watch("w.", seen::add);
    assertEquals("w.1=one", told(Patience.next(seen))); // the network has the last state of each entry only

    version = a.update("w.1", bytes("two"), version, LONG).orElseThrow();
    assertEquals("w.1=two", told(Patience.next(seen)));
    a.create("w.2", bytes("three"), LONG);
    a.delete("w.1", version);

    assertEquals(List.of("w.2=three", "w.1 is gone"), List.of(told(Patience.next(seen)), told(Patience.next(seen))));
  }

  @Test
  void entryExpiresWithItsLease() throws InterruptedException {
    var seen = new LinkedBlockingQueue<ClusterTransport.Entry>();
    b.watch("l.", seen::add);
    long version = a.create("l.1", bytes("one"), Duration.ofSeconds(1)).orElseThrow();

    Patience.eventually(() -> b.get("l.1").isEmpty());

    assertEquals(OptionalLong.empty(), a.update("l.1", bytes("two"), version, LONG));
    assertEquals("l.1=one", told(Patience.next(seen)));
    assertEquals("l.1 is gone", told(Patience.next(seen)));
    assertTrue(a.create("l.1", bytes("two"), LONG).orElseThrow() > version);
    assertEquals("l.1=two", told(Patience.next(seen)));
  }

  @Test
  void updateRenewsLease() {
    var updated = OptionalLong.empty(); // stays so where the lease ran out before the update was there
    String key = "";
    for (int i = 0; updated.isEmpty(); i++) {
      key = "l.2." + i;
      long version = a.create(key, bytes("one"), Duration.ofSeconds(1)).orElseThrow();
      updated = a.update(key, bytes("two"), version, Duration.ofMinutes(5));
    }
    a.create("l.3", bytes("sand"), Duration.ofSeconds(2)).orElseThrow(); // it runs out later

    Patience.eventually(() -> b.get("l.3").isEmpty());

    assertEquals(updated.getAsLong(), b.get(key).orElseThrow().version());
  }

  private static String told(ClusterTransport.Entry entry) {
    return entry.key()
        + entry.value().map(value -> "=" + new String(value, StandardCharsets.UTF_8)).orElse(" is gone");
  }
}
