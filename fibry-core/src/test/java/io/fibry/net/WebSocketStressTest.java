package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Promise;
import io.fibry.support.Patience;
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

/** Senders, pings and closes from both sides at once: one close, and nothing after it. */
class WebSocketStressTest {
  private static final int ROUNDS = Integer.getInteger("fibry.rounds", 300);

  private final long seed = Long.getLong("fibry.seed", System.nanoTime());
  private final Random random = new Random(seed);
  // time is stopped: a client has but two seconds to close, too
  private final ServerScope net = new ServerScope(o -> o.withScheduler(new ManualScheduler()));
  private volatile CompletableFuture<WebSocketConnection> connected;
  private final HttpServer server = HttpServer.open(net.scope.anonymous(), 0, HttpRoutes.none().webSocket("/",
      connection -> {
        connected.complete(connection);
        for (var message : connection.messages()) assertTrue(message != null);
      }), o -> o);

  @AfterEach
  void close() {
    net.close();
  }

  @Promise({"27.16", "27.19"})
  @Test
  void nothingFollowsTheOnlyClose() {
    for (int round = 0; round < ROUNDS; round++) round(round);
    Patience.eventually(() -> ((HttpListener) server).conversations().isEmpty());
  }

  private void round(int round) {
    int before = net.letters.all.size();
    connected = new CompletableFuture<>();
    try (var peer = new WebSocketPeer(server.port(), "/")) {
      var connection = Patience.value(connected);
      var threads = new ArrayList<Thread>();
      for (int s = 0; s < 2; s++) {
        int sender = s;
        threads.add(Patience.startFiber(() -> {
          for (int i = 0; i < 40; i++) connection.textActor().sendMessage(sender + " " + i);
        }));
      }
      int pings = random.nextInt(10);
      boolean byServer = random.nextBoolean();
      boolean byClient = !byServer || random.nextBoolean();
      if (byServer) for (int i = 0; i < 2; i++) threads.add(Patience.startFiber(() -> connection.close(4000, "")));
      threads.add(Patience.startFiber(() -> {
        try {
          for (int i = 0; i < pings; i++) peer.send(WebSocketPeer.frame(0x89, "" + i));
          if (byClient) peer.close(4001);
        } catch (UncheckedIOException closedAlready) {
          // by the server, after both closes
        }
      }));

      var got = new ArrayList<String>();
      var last = new HashMap<String, Integer>(Map.of("0", -1, "1", -1));
      int pongs = 0;
      for (var frame = peer.next(); frame != null; frame = peer.next()) {
        var text = frame.toString();
        got.add(text);
        if (text.startsWith("pong")) assertEquals("pong " + pongs++, text, () -> shown(round, got));
        else if (text.startsWith("text")) {
          var parts = frame.text().split(" ");
          assertEquals(last.get(parts[0]) + 1, Integer.parseInt(parts[1]), () -> shown(round, got));
          last.put(parts[0], Integer.parseInt(parts[1]));
        } else {
          assertTrue(List.of("close 4000", "close 4001").contains(text), () -> shown(round, got));
          if (!byClient) peer.close(4000); // otherwise it has closed, or will
          break;
        }
      }
      threads.forEach(Patience::joined);
      assertEquals(List.of("end"), peer.rest(), () -> shown(round, got));
      long written = got.stream().filter(text -> text.startsWith("text")).count();
      Patience.eventually(() -> written + net.letters.all.size() - before == 80); // the others are dead letters
    }
  }

  private String shown(int round, List<String> got) {
    return "seed " + seed + ", round " + round + ": " + got;
  }
}
