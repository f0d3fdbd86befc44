package io.fibry.net.websocket;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.net.ServerScope;
import io.fibry.net.WebSocketConnection;
import io.fibry.net.http.HttpListener;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import io.fibry.testing.StressRuns;
import io.fibry.time.ManualScheduler;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests that no frame follows a close frame while both sides send, ping and close at the same time.
 */
class WebSocketStressTest {
  private static final int ROUNDS = Integer.getInteger("fibry.rounds", 300);

  private final long seed = StressRuns.seed();
  private final Random random = new Random(seed);
  // the clock does not advance, because otherwise a client would have only two seconds to close
  private final ServerScope net = new ServerScope(o -> o.withScheduler(new ManualScheduler()));
  private volatile CompletableFuture<WebSocketConnection> connectionFuture;
  private final HttpServer server = HttpServer.open(net.scope.anonymous(), 0, HttpRoutes.none().webSocket("/",
      connection -> {
        connectionFuture.complete(connection);
        for (var message : connection.messages()) assertTrue(message != null);
      }), o -> o);

  @AfterEach
  void close() {
    net.close();
  }

  @Promise({"27.16", "27.19"})
  @Test
  void noFrameFollowsFirstCloseFrame() {
    for (int round = 0; round < ROUNDS; round++) runRound(round);
    Patience.eventually(() -> ((HttpListener) server).conversations().isEmpty());
  }

  private void runRound(int round) {
    int lettersBefore = net.letters.all.size();
    connectionFuture = new CompletableFuture<>();
    try (var peer = new WebSocketPeer(server.port(), "/")) {
      var connection = Patience.value(connectionFuture);
      var threads = new ArrayList<Thread>();
      for (int s = 0; s < 2; s++) {
        int sender = s;
        threads.add(Patience.startFiber(() -> {
          for (int i = 0; i < 40; i++) connection.textActor().sendMessage(sender + " " + i);
        }));
      }
      int pings = random.nextInt(10);
      boolean serverCloses = random.nextBoolean();
      boolean clientCloses = !serverCloses || random.nextBoolean();
      if (serverCloses) for (int i = 0; i < 2; i++) threads.add(Patience.startFiber(() -> connection.close(4000, "")));
      threads.add(Patience.startFiber(() -> {
        try {
          for (int i = 0; i < pings; i++) peer.send(WebSocketPeer.frame(0x89, "" + i));
          if (clientCloses) peer.close(4001);
        } catch (UncheckedIOException closed) {
          // the server has closed after both close frames
        }
      }));

      var received = new ArrayList<String>();
      var lastNumbers = new HashMap<String, Integer>(Map.of("0", -1, "1", -1));
      int pongs = 0;
      for (var frame = peer.next(); frame != null; frame = peer.next()) {
        var text = frame.toString();
        received.add(text);
        if (text.startsWith("pong")) assertEquals("pong " + pongs++, text, () -> describe(round, received));
        else if (text.startsWith("text")) {
          var parts = frame.text().split(" ");
          assertEquals(lastNumbers.get(parts[0]) + 1, Integer.parseInt(parts[1]), () -> describe(round, received));
          lastNumbers.put(parts[0], Integer.parseInt(parts[1]));
        } else {
          assertTrue(List.of("close 4000", "close 4001").contains(text), () -> describe(round, received));
          if (!clientCloses) peer.close(4000); // if `clientCloses` is true, another thread of the client closes
          break;
        }
      }
      threads.forEach(Patience::awaitEnd);
      assertEquals(List.of("end"), peer.readToEnd(), () -> describe(round, received));
      long writtenCount = received.stream().filter(text -> text.startsWith("text")).count();
      // the messages that were not written must be dead letters
      Patience.eventually(() -> writtenCount + net.letters.all.size() - lettersBefore == 80);
    }
  }

  private String describe(int round, List<String> received) {
    return "seed " + seed + ", round " + round + ": " + received;
  }
}
