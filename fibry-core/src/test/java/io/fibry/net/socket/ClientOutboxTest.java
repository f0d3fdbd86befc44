package io.fibry.net.socket;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.spi.BlockBuilder;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.StressRuns;
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
import javax.net.ServerSocketFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests that the senders to one client count unsent bytes without waiting for each other. */
class ClientOutboxTest {
  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final ListenerLimits LIMITS =
      new ListenerLimits(InetAddress.getLoopbackAddress(), ServerSocketFactory.getDefault(), Optional.empty(), 1, LIMIT,
          LIMIT,
          ListenerLimits.NO_LIMIT, LIMIT, LIMIT,
          LIMIT);
  private static final int OVERHEAD = 32; // bytes added to each message
  private static final int SENDERS = 4;
  private static final int ROUNDS = Soak.ON ? 2_000 : 30;

  private final Set<Object> deadLetters = ConcurrentHashMap.newKeySet(); // messages of dead letters
  private final ActorScope scope =
      ActorSystem.openScope("outbox", o -> o.withDeadLetterListener(letter -> deadLetters.add(letter.message())));
  private final ServerSocket server = new ServerSocket(0, SENDERS, InetAddress.getLoopbackAddress());
  private final List<AutoCloseable> resources = new ArrayList<>(List.of(server));

  ClientOutboxTest() throws IOException {}

  @AfterEach
  void close() throws Exception {
    Gate.openAll();
    scope.closeWithin(Duration.ZERO);
    for (var resource : resources) resource.close();
  }

  private Socket connect() throws IOException {
    var peer = new Socket(server.getInetAddress(), server.getLocalPort());
    resources.add(peer);
    return peer;
  }

  private ClientSocket accept() throws IOException {
    var client =
        new ClientSocket(new PlainTransport(server.accept()), BlockBuilder.of(scope.anonymous()).scheduler(), LIMITS,
            Optional.empty());
    resources.add(client::close);
    return client;
  }

  private static byte[] line(String text) {
    return (text + "\n").getBytes();
  }

  /**
   * While one sender is delayed in the computation of its message's size, its bytes are not counted
   * and other senders are not blocked.
   */
  @Promise("25.8")
  @Test
  void senderDelayedInSizeFunctionBlocksNoOtherSender() throws IOException {
    connect();
    var countGate = new Gate();
    var writeGate = new Gate();
    var outbox =
        new ClientOutbox<String>(scope.anonymous(), "lines", accept(), 1_000, new ClientOutbox.MessageFormat<>(text -> {
          if (text.equals("slow")) countGate.passUninterruptibly();
          return text.length();
        }, text -> {
          writeGate.passUninterruptibly();
          return line(text);
        }));
    var slowSender = Patience.startFiber(() -> outbox.actor.sendMessage("slow"));
    Patience.await(countGate.entered);

    int sent = 0;
    while (sent < 100 && outbox.actor.sendMessage("x")) sent++;

    // the last message exceeded the limit, so the server cut the client off
    assertEquals((1_000 + OVERHEAD) / (1 + OVERHEAD) + 1, sent);
    assertFalse(outbox.actor.sendMessages(List.of("y", "z")));
    countGate.open();
    Patience.awaitEnd(slowSender);
  }

  /** Each line is written once and in the order of its sender, unless the client is cut off. */
  @Promise("25.8")
  @Test
  void linesOfManySendersArriveOnceAndInOrder() throws Exception {
    long seed = StressRuns.seed();
    System.out.println("outbox: -Dfibry.seed=" + seed);
    var random = new Random(seed);
    int cutOffCount = 0;
    for (int round = 0; round < ROUNDS; round++) {
      int linesPerSender = 1 + random.nextInt(200);
      int maxUnsent = random.nextInt(4) == 0 ? 1_000 : SENDERS * linesPerSender * 64;
      var linesFuture = read(connect());
      var client = accept();
      var outbox = new ClientOutbox<>(scope.named("client"), "lines", client, maxUnsent,
          new ClientOutbox.MessageFormat<>(String::length, ClientOutboxTest::line));

      int acceptedCount = send(outbox, linesPerSender, random.nextLong());
      outbox.finish();
      boolean isComplete = !client.isClosed();
      client.close();

      var lines = Patience.value(linesFuture);
      for (int sender = 0; sender < SENDERS; sender++) assertInOrder(sender, lines);
      if (isComplete) assertEquals(acceptedCount, lines.size(), "round " + round);
      if (isComplete) assertEquals(0, outbox.unsent(), "round " + round);
      else cutOffCount++;
      assertTrue(isComplete || maxUnsent == 1_000, "a client with a sufficient limit was cut off in round " + round);
    }
    System.out.println("clients were cut off in " + cutOffCount + " of " + ROUNDS + " rounds");
  }

  /**
   * While a message of one sender waits in {@code admission} behind a message of another sender,
   * later messages of the first sender do not overtake it.
   */
  @Promise("25.8")
  @Test
  void messagesOfOneSenderStayInOrder() throws Exception {
    var linesFuture = read(connect());
    var countGate = new Gate();
    var writeGate = new Gate();
    var sizeCalls = new AtomicInteger(); // counts the requests for the size of "0 0 slow"
    var client = accept();
    var outbox =
        new ClientOutbox<String>(scope.anonymous(), "lines", client, 1_000, new ClientOutbox.MessageFormat<>(text -> {
          if (!text.endsWith("slow")) return text.length();
          // a size above the limit, so `admission` decides about the message
          if (sizeCalls.incrementAndGet() == 1) return 5_000;
          countGate.passUninterruptibly();
          return text.length();
        }, text -> {
          writeGate.passUninterruptibly();
          return line(text);
        }));
    outbox.actor.sendMessage("1 0 " + "x".repeat(900));
    Patience.await(writeGate.entered);
    var slowSender = Patience.startFiber(() -> outbox.actor.sendMessage("0 0 slow"));
    Patience.await(countGate.entered); // `admission` is busy with this message

    // exceeds the limit at present, so it waits in `admission`
    assertTrue(outbox.actor.sendMessage("1 1 " + "x".repeat(200)));
    writeGate.open();
    Patience.eventually(() -> outbox.unsent() == 0);
    assertTrue(outbox.actor.sendMessage("1 2 x"));
    countGate.open();
    Patience.awaitEnd(slowSender);
    outbox.finish();
    client.close();

    var lines = Patience.value(linesFuture);
    assertEquals(4, lines.size(), lines.toString());
    assertInOrder(1, lines);
  }

  /** The limit bounds the unsent bytes in memory, however many senders there are. */
  @Promise("25.8")
  @Test
  void memoryForClientThatReadsNothingIsBounded() throws Exception {
    long seed = StressRuns.seed();
    System.out.println("outbox without a reader: -Dfibry.seed=" + seed);
    var random = new Random(seed);
    for (int round = 0; round < ROUNDS; round++) {
      int maxUnsent = 1_000 + random.nextInt(20_000);
      connect();
      var writeGate = new Gate();
      var acceptedLines = new ConcurrentLinkedQueue<String>();
      var outbox = new ClientOutbox<String>(scope.anonymous(), "lines", accept(), maxUnsent,
          new ClientOutbox.MessageFormat<>(String::length, text -> {
            writeGate.passUninterruptibly();
            return line(text);
          }));
      deadLetters.clear();

      int acceptedCount = send(outbox, 1_000, random.nextLong(), acceptedLines);

      assertTrue(acceptedCount < SENDERS * 1_000, "all lines were accepted in round " + round);
      Patience.eventually(() -> acceptedLines.stream().filter(line -> !deadLetters.contains(line))
          .mapToLong(line -> line.length() + OVERHEAD).sum() <= maxUnsent + OVERHEAD);
      writeGate.open();
    }
  }

  /** Reads lines until the stream ends, or until the server cuts this client off. */
  private static CompletableFuture<List<String>> read(Socket peer) {
    return CompletableFuture.supplyAsync(() -> {
      var receivedLines = new ArrayList<String>();
      try {
        var lines = new BufferedReader(new InputStreamReader(peer.getInputStream()));
        for (var line = lines.readLine(); line != null; line = lines.readLine()) receivedLines.add(line);
      } catch (IOException failure) {
        receivedLines.removeIf(line -> line.split(" ").length < 3); // the last line may be incomplete
      }
      return receivedLines;
    }, code -> Thread.ofVirtual().start(code));
  }

  private static void assertInOrder(int sender, List<String> receivedLines) {
    int lastNumber = -1;
    for (var line : receivedLines) {
      var parts = line.split(" ");
      if (Integer.parseInt(parts[0]) != sender) continue;
      int number = Integer.parseInt(parts[1]);
      assertTrue(number > lastNumber, () -> line + " of " + receivedLines);
      lastNumber = number;
    }
  }

  private static int send(ClientOutbox<String> outbox, int linesPerSender, long seed) {
    return send(outbox, linesPerSender, seed, new ConcurrentLinkedQueue<>());
  }

  /** Sends lines from several threads. Returns how many lines the outbox accepted. */
  private static int send(ClientOutbox<String> outbox, int linesPerSender, long seed, Queue<String> acceptedLines) {
    var acceptedCount = new AtomicInteger();
    var done = new CountDownLatch(SENDERS);
    for (int i = 0; i < SENDERS; i++) {
      int sender = i;
      Thread.startVirtualThread(() -> {
        var random = new Random(seed + sender);
        for (int number = 0; number < linesPerSender;) {
          int blockSize = Math.min(1 + random.nextInt(3), linesPerSender - number);
          var lines = new ArrayList<String>();
          for (int k = 0; k < blockSize; k++)
            lines.add(sender + " " + number++ + " " + "x".repeat(1 + random.nextInt(10)));
          if (blockSize == 1 ? outbox.actor.sendMessage(lines.getFirst()) : outbox.actor.sendMessages(lines)) {
            acceptedCount.addAndGet(blockSize);
            acceptedLines.addAll(lines);
          }
        }
        done.countDown();
      });
    }
    Patience.await(done);
    return acceptedCount.get();
  }
}
