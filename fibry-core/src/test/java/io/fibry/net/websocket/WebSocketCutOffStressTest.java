package io.fibry.net.websocket;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.net.ServerScope;
import io.fibry.net.WebSocketConnection;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import io.fibry.testing.StressRuns;
import io.fibry.time.ManualScheduler;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests that a client that is cut off gets whole frames in order and one close frame, while senders
 * exceed the limit and the server closes at the same time.
 */
class WebSocketCutOffStressTest {
  private static final int ROUNDS = Integer.getInteger("fibry.rounds", 200);
  private static final int SENDERS = 3;
  private static final int MESSAGES = 100; // of each sender

  private final long seed = StressRuns.seed();
  private final Random random = new Random(seed);
  // the clock does not advance, so neither the write limit nor the limit of a close expires
  private final ServerScope net = new ServerScope(o -> o.withScheduler(new ManualScheduler()));
  private volatile CompletableFuture<WebSocketConnection> connectionFuture;
  private final HttpServer server = HttpServer.open(net.scope.anonymous(), 0, HttpRoutes.none().webSocket("/",
      connection -> {
        connectionFuture.complete(connection);
        for (var message : connection.messages()) assertTrue(message != null);
      }, o -> o.withMaxUnsent(3_000)), o -> o);

  @AfterEach
  void close() {
    net.close();
  }

  @Promise({"27.16", "27.32"})
  @Test
  void cutOffClientGetsWholeFramesInOrderAndOneClose() {
    int cutOffCount = 0;
    for (int round = 0; round < ROUNDS; round++) if (runRound(round)) cutOffCount++;
    assertTrue(cutOffCount > 0, "no client was cut off");
  }

  /** Returns whether the client was cut off. */
  private boolean runRound(int round) {
    int lettersBefore = net.letters.all.size();
    connectionFuture = new CompletableFuture<>();
    try (var peer = new WebSocketPeer(server.port(), "/")) {
      var connection = Patience.value(connectionFuture);
      var senders = new ArrayList<Thread>();
      for (int s = 0; s < SENDERS; s++) {
        int sender = s;
        senders.add(Patience.startFiber(() -> {
          for (int i = 0; i < MESSAGES; i++) connection.textActor().sendMessage(sender + " " + i + " " + "x".repeat(i));
        }));
      }
      boolean closesEarly = random.nextBoolean();
      var closer = Patience.startFiber(() -> {
        if (!closesEarly) senders.forEach(Patience::awaitEnd);
        connection.close(4000, "");
      });

      var received = new ArrayList<String>();
      var nextNumbers = new int[SENDERS];
      var frame = peer.next();
      for (; frame.toString().startsWith("text"); frame = peer.next()) {
        received.add(frame.text());
        var parts = frame.text().split(" ", -1);
        int number = Integer.parseInt(parts[1]);
        assertEquals(nextNumbers[Integer.parseInt(parts[0])]++, number, () -> describe(round, received));
        assertEquals(number, parts[2].length(), () -> describe(round, received));
      }
      var close = frame.toString();
      assertTrue(List.of("close 1008", "close 4000").contains(close), () -> describe(round, received) + close);
      peer.close(1000);
      Patience.awaitEnd(closer);
      senders.forEach(Patience::awaitEnd);
      assertEquals(List.of("end"), peer.readToEnd(), () -> describe(round, received));
      // each message was received, or is a dead letter
      Patience.eventually(
          () -> received.size() + net.letters.all.size() - lettersBefore == SENDERS * MESSAGES);
      assertEquals(0, connection.unsentBytes(), () -> describe(round, received));
      return close.equals("close 1008");
    }
  }

  private String describe(int round, List<String> received) {
    return "seed " + seed + ", round " + round + ": " + received;
  }
}
