package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Promise;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import java.io.ByteArrayOutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Any frames at any split: echoes or a close, no failure, and nothing is left. */
class WebSocketFuzzTest {
  private static final int ROUNDS = Integer.getInteger("fibry.rounds", 600);

  private final long seed = Long.getLong("fibry.seed", System.nanoTime());
  private final Random random = new Random(seed);
  private final ServerScope net = new ServerScope();
  private final HttpServer server = HttpServer.open(net.scope.anonymous(), 0, HttpRoutes.none().webSocket("/",
      connection -> {
        for (var message : connection.messages()) switch (message) {
          case WebSocketMessage.Text(var text) -> connection.textActor().sendMessage(text);
          case WebSocketMessage.Binary(var data) -> connection.binaryActor().sendMessage(data);
        }
      }), o -> o);

  @AfterEach
  void close() {
    net.close();
  }

  /** Valid messages in fragments, with pings between; adds the answers that are due. */
  private byte[] valid(List<String> answers) {
    var all = new ByteArrayOutputStream();
    for (int n = random.nextInt(1, 6); n > 0; n--) {
      boolean text = random.nextBoolean();
      var data = text ? text().getBytes(StandardCharsets.UTF_8) : new byte[random.nextInt(1, 3) * random.nextInt(700)];
      var pongs = new ArrayList<String>();
      int at = 0;
      boolean first = true;
      boolean last = false;
      while (!last) {
        int some = random.nextInt(data.length - at + 1);
        last = random.nextInt(3) == 0;
        if (last) some = data.length - at;
        all.writeBytes(WebSocketPeer.frame((last ? 0x80 : 0) | (first ? text ? 1 : 2 : 0),
            Arrays.copyOfRange(data, at, at + some)));
        at += some;
        first = false;
        if (random.nextInt(4) == 0) {
          all.writeBytes(WebSocketPeer.frame(0x89, "" + random.nextInt(9)));
          pongs.add("pong");
        }
      }
      if (text) answers.add("text " + new String(data, StandardCharsets.UTF_8));
      else answers.add("bytes " + data.length);
    }
    return all.toByteArray();
  }

  private String text() {
    var text = new StringBuilder();
    for (int i = random.nextInt(300); i > 0; i--)
      text.appendCodePoint(random.nextInt(10) == 0 ? random.nextInt(0x1_0000, 0x11_0000) : random.nextInt(0xd800));
    return text.toString();
  }

  private void send(WebSocketPeer peer, byte[] bytes) {
    for (int at = 0, some; at < bytes.length; at += some) {
      some = Math.min(bytes.length - at, random.nextInt(5) == 0 ? 1 : 1 + random.nextInt(2_000));
      peer.send(Arrays.copyOfRange(bytes, at, at + some));
    }
  }

  private String shown(int round) {
    return "seed " + seed + ", round " + round;
  }

  @Promise("27.15")
  @Test
  void validFramesAtAnySplitAreEchoed() {
    for (int round = 0; round < ROUNDS / 3; round++) {
      var answers = new ArrayList<String>();
      try (var peer = new WebSocketPeer(server.port(), "/")) {
        send(peer, valid(answers));
        peer.close(1000);
        answers.addAll(List.of("close 1000", "end"));

        var got = peer.rest();

        got.removeIf(frame -> frame.startsWith("pong"));
        assertEquals(answers, got, shown(round));
      }
    }
    assertNothingIsLeft();
  }

  @Promise("27.15")
  @Test
  void damagedStreamsEndInACloseOrAnEndAndHarmNobody() {
    try (var logged = new Logged()) {
      int refused = 0;
      for (int round = 0; round < ROUNDS; round++) {
        try (var peer = new WebSocketPeer(server.port(), "/")) {
          try {
            send(peer, damaged(valid(new ArrayList<>())));
            if (random.nextInt(4) == 0) continue; // the client disconnects without a close
            peer.socket.shutdownOutput();
          } catch (UncheckedIOException | java.io.IOException refusedEarly) {
            // by a close
          }
          var got = peer.rest();
          int at = round;
          assertTrue(got.stream().noneMatch(frame -> frame.startsWith("wrong")), () -> shown(at) + got);
          if (got.stream().anyMatch(frame -> frame.startsWith("close 10"))) refused++;
        }
      }
      assertTrue(refused > ROUNDS / 4, "too few are refused: " + refused);
      assertNothingIsLeft();
      assertEquals("", logged.text().lines().filter(line -> line.contains("ERROR") || line.contains("WARN"))
          .reduce("", String::concat), "seed " + seed);
    }
  }

  private byte[] damaged(byte[] stream) {
    for (int n = random.nextInt(4); n > 0 && stream.length > 0; n--) {
      int at = random.nextInt(Math.min(stream.length, 64));
      switch (random.nextInt(4)) {
        case 0 -> stream[at] = (byte) random.nextInt(256);
        case 1 -> stream[at] ^= (byte) (1 << random.nextInt(8));
        case 2 -> stream = Arrays.copyOf(stream, random.nextInt(stream.length + 1));
        default -> {
          var noise = new byte[random.nextInt(20)];
          random.nextBytes(noise);
          stream = WebSocketPeer.join(Arrays.copyOf(stream, at), noise,
              Arrays.copyOfRange(stream, at, stream.length));
        }
      }
    }
    return stream;
  }

  /** The server continues, and has no other connection. */
  private void assertNothingIsLeft() {
    try (var peer = new WebSocketPeer(server.port(), "/")) {
      assertEquals("text still here", peer.text("still here").next().toString());
      Patience.eventually(() -> ((HttpListener) server).conversations().size() == 1);
    }
    Patience.eventually(() -> ((HttpListener) server).conversations().isEmpty());
    Patience.eventually(() -> net.scope.actors().size() == 1);
  }
}
