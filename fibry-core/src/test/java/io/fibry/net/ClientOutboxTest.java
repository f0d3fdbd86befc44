package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Gate;
import io.fibry.Promise;
import io.fibry.StressHarness;
import io.fibry.spi.BlockBuilder;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Senders to one client count what is unsent, without each other and without a wait. */
class ClientOutboxTest {
  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final ListenerLimits LIMITS =
      new ListenerLimits(InetAddress.getLoopbackAddress(), 1, LIMIT, LIMIT, ListenerLimits.NO_LIMIT, LIMIT, LIMIT,
          LIMIT);
  private static final int OVERHEAD = 32; // bytes of each message
  private static final int SENDERS = 4;
  private static final int ROUNDS = Soak.ON ? 2_000 : 30;

  private final Set<Object> lost = ConcurrentHashMap.newKeySet(); // messages of dead letters
  private final ActorScope scope =
      ActorSystem.openScope("outbox", o -> o.withDeadLetters(letter -> lost.add(letter.message())));
  private final ServerSocket server = new ServerSocket(0, SENDERS, InetAddress.getLoopbackAddress());
  private final List<AutoCloseable> opened = new ArrayList<>(List.of(server));

  ClientOutboxTest() throws IOException {}

  @AfterEach
  void close() throws Exception {
    Gate.openAll();
    scope.closeWithin(Duration.ZERO);
    for (var one : opened) one.close();
  }

  private Socket connect() throws IOException {
    var peer = new Socket(server.getInetAddress(), server.getLocalPort());
    opened.add(peer);
    return peer;
  }

  private ClientSocket accept() throws IOException {
    var client =
        new ClientSocket(server.accept(), BlockBuilder.of(scope.anonymous()).scheduler(), LIMITS, Optional.empty());
    opened.add(client::close);
    return client;
  }

  private static byte[] line(String text) {
    return (text + "\n").getBytes();
  }

  /** A sender without a processor neither counts for the others nor holds them. */
  @Promise("25.8")
  @Test
  void eachSenderCountsItsOwnBytes() throws IOException {
    connect();
    var counts = new Gate();
    var writes = new Gate();
    var outbox =
        new ClientOutbox<String>(scope.anonymous(), "lines", accept(), 1_000, new ClientOutbox.MessageFormat<>(text -> {
          if (text.equals("slow")) counts.passDeaf();
          return text.length();
        }, text -> {
          writes.passDeaf();
          return line(text);
        }));
    var slow = Patience.startFiber(() -> outbox.actor.sendMessage("slow"));
    Patience.await(counts.entered);

    int sent = 0;
    while (sent < 100 && outbox.actor.sendMessage("x")) sent++;

    assertEquals((1_000 + OVERHEAD) / (1 + OVERHEAD) + 1, sent); // the last one cut the client off
    assertFalse(outbox.actor.sendMessages(List.of("y", "z")));
    counts.open();
    Patience.joined(slow);
  }

  /** Each line is written once and in the order of its sender, unless the client was cut off. */
  @Promise("25.8")
  @Test
  void manySendersAtOnce() throws Exception {
    long seed = StressHarness.seed();
    System.out.println("an outbox: -Dfibry.seed=" + seed);
    var random = new Random(seed);
    int cutOff = 0;
    for (int round = 0; round < ROUNDS; round++) {
      int each = 1 + random.nextInt(200);
      int room = random.nextInt(4) == 0 ? 1_000 : SENDERS * each * 64;
      var read = read(connect());
      var client = accept();
      var outbox = new ClientOutbox<>(scope.named("client"), "lines", client, room,
          new ClientOutbox.MessageFormat<>(String::length, ClientOutboxTest::line));

      int taken = send(outbox, each, random.nextLong());
      outbox.finish();
      boolean whole = !client.isClosed();
      client.close();

      var lines = Patience.value(read);
      for (int sender = 0; sender < SENDERS; sender++) assertInOrder(sender, lines);
      if (whole) assertEquals(taken, lines.size(), "round " + round);
      if (whole) assertEquals(0, outbox.unsent(), "round " + round);
      else cutOff++;
      assertTrue(whole || room == 1_000, "a client that may have all unsent was cut off in round " + round);
    }
    System.out.println("cut off in " + cutOff + " of " + ROUNDS + " rounds");
  }

  /** A message that waits in the counter for another sender's message is not overtaken. */
  @Promise("25.8")
  @Test
  void senderIsNotOvertakenByItself() throws Exception {
    var read = read(connect());
    var counts = new Gate();
    var writes = new Gate();
    var sizes = new AtomicInteger(); // how often the size of "0 0 slow" was asked for
    var client = accept();
    var outbox =
        new ClientOutbox<String>(scope.anonymous(), "lines", client, 1_000, new ClientOutbox.MessageFormat<>(text -> {
          if (!text.endsWith("slow")) return text.length();
          if (sizes.incrementAndGet() == 1) return 5_000; // too much, so the counter decides
          counts.passDeaf();
          return text.length();
        }, text -> {
          writes.passDeaf();
          return line(text);
        }));
    outbox.actor.sendMessage("1 0 " + "x".repeat(900));
    Patience.await(writes.entered);
    var slow = Patience.startFiber(() -> outbox.actor.sendMessage("0 0 slow"));
    Patience.await(counts.entered); // the counter is busy

    assertTrue(outbox.actor.sendMessage("1 1 " + "x".repeat(200))); // does not fit now
    writes.open();
    Patience.eventually(() -> outbox.unsent() == 0);
    assertTrue(outbox.actor.sendMessage("1 2 x"));
    counts.open();
    Patience.joined(slow);
    outbox.finish();
    client.close();

    var lines = Patience.value(read);
    assertEquals(4, lines.size(), lines.toString());
    assertInOrder(1, lines);
  }

  /** However many senders there are, no more is held in memory than the bound allows. */
  @Promise("25.8")
  @Test
  void memoryForClientThatReadsNothingIsBounded() throws Exception {
    long seed = StressHarness.seed();
    System.out.println("an outbox without a reader: -Dfibry.seed=" + seed);
    var random = new Random(seed);
    for (int round = 0; round < ROUNDS; round++) {
      int bound = 1_000 + random.nextInt(20_000);
      connect();
      var writes = new Gate();
      var accepted = new ConcurrentLinkedQueue<String>();
      var outbox = new ClientOutbox<String>(scope.anonymous(), "lines", accept(), bound,
          new ClientOutbox.MessageFormat<>(String::length, text -> {
            writes.passDeaf();
            return line(text);
          }));
      lost.clear();

      int taken = send(outbox, 1_000, random.nextLong(), accepted);

      assertTrue(taken < SENDERS * 1_000, "all were accepted in round " + round);
      Patience.eventually(() -> accepted.stream().filter(line -> !lost.contains(line))
          .mapToLong(line -> line.length() + OVERHEAD).sum() <= bound + OVERHEAD);
      writes.open();
    }
  }

  /** Until the end, or until it is cut off. */
  private static CompletableFuture<List<String>> read(Socket peer) {
    return CompletableFuture.supplyAsync(() -> {
      var read = new ArrayList<String>();
      try {
        var lines = new BufferedReader(new InputStreamReader(peer.getInputStream()));
        for (var line = lines.readLine(); line != null; line = lines.readLine()) read.add(line);
      } catch (IOException cutOff) {
        read.removeIf(line -> line.split(" ").length < 3); // the last one may be a part
      }
      return read;
    }, code -> Thread.ofVirtual().start(code));
  }

  private static void assertInOrder(int sender, List<String> read) {
    int last = -1;
    for (var line : read) {
      var parts = line.split(" ");
      if (Integer.parseInt(parts[0]) != sender) continue;
      int number = Integer.parseInt(parts[1]);
      assertTrue(number > last, () -> line + " of " + read);
      last = number;
    }
  }

  private static int send(ClientOutbox<String> outbox, int each, long seed) {
    return send(outbox, each, seed, new ConcurrentLinkedQueue<>());
  }

  /** {@return how many lines were accepted} */
  private static int send(ClientOutbox<String> outbox, int each, long seed, Queue<String> accepted) {
    var taken = new AtomicInteger();
    var done = new CountDownLatch(SENDERS);
    for (int i = 0; i < SENDERS; i++) {
      int sender = i;
      Thread.startVirtualThread(() -> {
        var random = new Random(seed + sender);
        for (int number = 0; number < each;) {
          int block = Math.min(1 + random.nextInt(3), each - number);
          var lines = new ArrayList<String>();
          for (int k = 0; k < block; k++) lines.add(sender + " " + number++ + " " + "x".repeat(1 + random.nextInt(10)));
          if (block == 1 ? outbox.actor.sendMessage(lines.getFirst()) : outbox.actor.sendMessages(lines)) {
            taken.addAndGet(block);
            accepted.addAll(lines);
          }
        }
        done.countDown();
      });
    }
    Patience.await(done);
    return taken.get();
  }
}
