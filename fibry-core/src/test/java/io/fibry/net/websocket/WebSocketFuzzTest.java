package io.fibry.net.websocket;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.net.ServerScope;
import io.fibry.net.WebSocketMessage;
import io.fibry.net.http.HttpListener;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import io.fibry.testing.StressRuns;
import java.io.ByteArrayOutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests that any frames, in any pieces, get echoes or a close, and leave neither a failure nor a
 * connection.
 */
class WebSocketFuzzTest {
  private static final int ROUNDS = Integer.getInteger("fibry.rounds", 600);

  private final long seed = StressRuns.seed();
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

  /**
   * Returns messages in fragments, with pings between the fragments. Adds the expected responses to
   * the list.
   */
  private byte[] validFrames(List<String> responses) {
    var stream = new ByteArrayOutputStream();
    for (int n = random.nextInt(1, 6); n > 0; n--) {
      boolean isText = random.nextBoolean();
      var data = isText ? text().getBytes(StandardCharsets.UTF_8)
          : new byte[random.nextInt(1, 3) * random.nextInt(700)];
      var pongs = new ArrayList<String>();
      int position = 0;
      boolean isFirst = true;
      boolean isLast = false;
      while (!isLast) {
        int length = random.nextInt(data.length - position + 1);
        isLast = random.nextInt(3) == 0;
        if (isLast) length = data.length - position;
        stream.writeBytes(WebSocketPeer.frame((isLast ? 0x80 : 0) | (isFirst ? isText ? 1 : 2 : 0),
            Arrays.copyOfRange(data, position, position + length)));
        position += length;
        isFirst = false;
        if (random.nextInt(4) == 0) {
          stream.writeBytes(WebSocketPeer.frame(0x89, "" + random.nextInt(9)));
          pongs.add("pong");
        }
      }
      if (isText) responses.add("text " + new String(data, StandardCharsets.UTF_8));
      else responses.add("bytes " + data.length);
    }
    return stream.toByteArray();
  }

  private String text() {
    var text = new StringBuilder();
    for (int i = random.nextInt(300); i > 0; i--)
      text.appendCodePoint(random.nextInt(10) == 0 ? random.nextInt(0x1_0000, 0x11_0000) : random.nextInt(0xd800));
    return text.toString();
  }

  private void send(WebSocketPeer peer, byte[] bytes) {
    for (int position = 0, length; position < bytes.length; position += length) {
      length = Math.min(bytes.length - position, random.nextInt(5) == 0 ? 1 : 1 + random.nextInt(2_000));
      peer.send(Arrays.copyOfRange(bytes, position, position + length));
    }
  }

  private String describe(int round) {
    return "seed " + seed + ", round " + round;
  }

  @Promise("27.15")
  @Test
  void validFramesAtAnySplitAreEchoed() {
    for (int round = 0; round < ROUNDS / 3; round++) {
      var responses = new ArrayList<String>();
      try (var peer = new WebSocketPeer(server.port(), "/")) {
        send(peer, validFrames(responses));
        peer.close(1000);
        responses.addAll(List.of("close 1000", "end"));

        var received = peer.readToEnd();

        received.removeIf(frame -> frame.startsWith("pong"));
        assertEquals(responses, received, describe(round));
      }
    }
    assertNothingIsLeft();
  }

  @Promise("27.15")
  @Test
  void damagedStreamsEndConnectionWithoutFailure() {
    try (var logged = new Logged()) {
      int refused = 0;
      for (int round = 0; round < ROUNDS; round++) {
        try (var peer = new WebSocketPeer(server.port(), "/")) {
          try {
            send(peer, damage(validFrames(new ArrayList<>())));
            if (random.nextInt(4) == 0) continue; // the client disconnects without a close
            peer.socket.shutdownOutput();
          } catch (UncheckedIOException | java.io.IOException refusedEarly) {
            // the server has closed
          }
          var received = peer.readToEnd();
          int currentRound = round;
          assertTrue(received.stream().noneMatch(frame -> frame.startsWith("wrong")),
              () -> describe(currentRound) + received);
          if (received.stream().anyMatch(frame -> frame.startsWith("close 10"))) refused++;
        }
      }
      assertTrue(refused > ROUNDS / 4, "too few connections were refused: " + refused);
      assertNothingIsLeft();
      var problems =
          logged.entriesAbout("io.fibry.net.").lines().filter(line -> line.contains("ERROR") || line.contains("WARN"));
      assertEquals(List.of(), problems.toList(), "seed " + seed);
    }
  }

  private byte[] damage(byte[] stream) {
    for (int n = random.nextInt(4); n > 0 && stream.length > 0; n--) {
      int position = random.nextInt(Math.min(stream.length, 64));
      switch (random.nextInt(4)) {
        case 0 -> stream[position] = (byte) random.nextInt(256);
        case 1 -> stream[position] ^= (byte) (1 << random.nextInt(8));
        case 2 -> stream = Arrays.copyOf(stream, random.nextInt(stream.length + 1));
        default -> {
          var noise = new byte[random.nextInt(20)];
          random.nextBytes(noise);
          stream = WebSocketPeer.join(Arrays.copyOf(stream, position), noise,
              Arrays.copyOfRange(stream, position, stream.length));
        }
      }
    }
    return stream;
  }

  /** Checks that the server still works, and has no other connection. */
  private void assertNothingIsLeft() {
    try (var peer = new WebSocketPeer(server.port(), "/")) {
      assertEquals("text still here", peer.text("still here").next().toString());
      Patience.eventually(() -> ((HttpListener) server).conversations().size() == 1);
    }
    Patience.eventually(() -> ((HttpListener) server).conversations().isEmpty());
    Patience.eventually(() -> net.scope.actors().size() == 1);
  }
}
