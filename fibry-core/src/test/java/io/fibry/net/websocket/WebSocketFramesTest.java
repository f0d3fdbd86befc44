package io.fibry.net.websocket;

import static io.fibry.net.websocket.WebSocketPeer.close;
import static io.fibry.net.websocket.WebSocketPeer.frame;
import static io.fibry.net.websocket.WebSocketPeer.join;
import static io.fibry.net.websocket.WebSocketPeer.masked;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.net.ServerScope;
import io.fibry.net.WebSocketConnection;
import io.fibry.net.WebSocketMessage;
import io.fibry.testing.Promise;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests which frames RFC 6455 permits, with a server that echoes messages. The cases are a short
 * form of sections 1 to 7 of the Autobahn test suite.
 */
class WebSocketFramesTest {
  private static final byte[] NORMAL = close(1000, "");

  private final ServerScope net = new ServerScope();
  private final HttpServer server = HttpServer.open(net.scope.anonymous(), 0, HttpRoutes.none().webSocket("/",
      WebSocketFramesTest::echo, o -> o.withMaxMessage(70_000).withMaxFrame(66_000)), o -> o);

  record Case(String name, String responses, byte[] sent) {
    @Override
    public String toString() {
      return name;
    }
  }

  private static Case frameCase(String name, String responses, byte[]... sent) {
    return new Case(name, responses, join(sent));
  }

  private static void echo(WebSocketConnection connection) {
    for (var message : connection.messages()) switch (message) {
      case WebSocketMessage.Text(var text) -> connection.textActor().sendMessage(text);
      case WebSocketMessage.Binary(var data) -> connection.binaryActor().sendMessage(data);
    }
  }

  private static byte[] hex(String hex) {
    return HexFormat.ofDelimiter(" ").parseHex(hex);
  }

  private static String x(int count) {
    return "x".repeat(count);
  }

  @AfterEach
  void closeServer() {
    net.close();
  }

  static Stream<Case> messages() {
    return Stream.concat(
        IntStream.of(0, 1, 125, 126, 127, 128, 65_535, 65_536).boxed().flatMap(length -> Stream.of(
            frameCase("text of " + length, "text " + x(length) + ", close 1000", frame(0x81, x(length)), NORMAL),
            frameCase("bytes of " + length, "bytes " + length + ", close 1000", frame(0x82, x(length)), NORMAL))),
        Stream.of(
            frameCase("fragments", "text abc, close 1000", frame(1, "a"), frame(0, "b"), frame(0x80, "c"), NORMAL),
            frameCase("empty fragments", "bytes 0, close 1000", frame(2, ""), frame(0, ""), frame(0x80, ""), NORMAL),
            frameCase("a character in fragments", "text aö, close 1000", frame(1, hex("61 c3")), frame(0x80, hex("b6")),
                NORMAL),
            frameCase("pings", "pong , pong a, pong 125, close 1000", frame(0x89, ""), frame(0x89, "a"),
                frame(0x89, x(125)), NORMAL),
            frameCase("a ping that is not UTF-8", "pong 6, close 1000", frame(0x89, hex("00 ff fe fd fc fb")), NORMAL),
            frameCase("unrequested pongs", "close 1000", frame(0x8a, ""), frame(0x8a, "a"), NORMAL),
            frameCase("a ping within fragments", "pong p, text ab, close 1000", frame(1, "a"), frame(0x89, "p"),
                frame(0x80, "b"), NORMAL),
            frameCase("U+10FFFF, noncharacters", "text \udbff\udfff\uffff, close 1000",
                frame(0x81, "\udbff\udfff\uffff"),
                NORMAL)));
  }

  static Stream<Case> violations() {
    return Stream.of(frameCase("no mask", "close 1002", hex("81 01 61")),
        frameCase("no mask of a control frame", "close 1002", hex("89 00")),
        frameCase("reserved bit 1", "close 1002", frame(0xc1, "a")),
        frameCase("reserved bit 2", "close 1002", frame(0xa1, "a")),
        frameCase("reserved bit 3", "close 1002", frame(0x91, "a")),
        frameCase("reserved bit of a ping", "text a, close 1002", frame(0x81, "a"), frame(0xd9, "a")),
        frameCase("a ping in fragments", "close 1002", frame(0x09, "a")),
        frameCase("a close in fragments", "close 1002", frame(0x08, "")),
        frameCase("a ping of 126", "close 1002", frame(0x89, x(126))),
        frameCase("a close of 126", "close 1002", frame(0x88, x(126))),
        frameCase("a last fragment alone", "close 1002", frame(0x80, "a")),
        frameCase("a middle fragment alone", "close 1002", frame(0x00, "a")),
        frameCase("a text within another", "close 1002", frame(0x01, "a"), frame(0x81, "b")),
        frameCase("bytes within a text", "close 1002", frame(0x01, "a"), frame(0x02, "b")),
        frameCase("length 125 encoded in two bytes", "close 1002", hex("82 fe 00 7d"), masked(new byte[125])),
        frameCase("length 65535 encoded in eight bytes", "close 1002", hex("82 ff 00 00 00 00 00 00 ff ff"),
            masked(new byte[65_535])),
        frameCase("a length with its highest bit set", "close 1002", hex("82 ff 80 00 00 00 00 00 00 00")),
        frameCase("a frame too long", "close 1009", hex("82 ff 00 00 00 00 00 01 01 d1")),
        frameCase("a frame of maximum length", "close 1009", hex("82 ff 7f ff ff ff ff ff ff ff")),
        frameCase("a message too long", "close 1009", frame(0x02, x(66_000)), frame(0x80, x(4_001))),
        frameCase("not UTF-8", "close 1007", frame(0x81, hex("ff"))),
        frameCase("half a character", "close 1007", frame(0x81, hex("61 c3"))),
        frameCase("half a character in fragments", "close 1007", frame(0x01, hex("61 c3")), frame(0x80, "")),
        frameCase("a surrogate", "close 1007", frame(0x81, hex("ed a0 80"))),
        frameCase("overlong UTF-8", "close 1007", frame(0x81, hex("c0 af"))),
        frameCase("above U+10FFFF", "close 1007", frame(0x81, hex("f4 90 80 80"))));
  }

  static Stream<Case> unknownOpcodes() {
    return IntStream.of(3, 4, 5, 6, 7, 11, 12, 13, 14, 15).boxed().flatMap(opcode -> Stream.of(
        frameCase("opcode " + opcode, "close 1002", frame(0x80 | opcode, "")),
        frameCase("opcode " + opcode + " within fragments", "close 1002", frame(1, "a"), frame(opcode, "b"))));
  }

  static Stream<Case> closes() {
    var validCodes = IntStream.of(1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999,
        4000, 4999)
        .mapToObj(code -> frameCase("close " + code, "close " + code, close(code, "why"), frame(0x81, "late")));
    var invalidCodes = IntStream.of(0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535)
        .mapToObj(code -> frameCase("close " + code, "close 1002", close(code, "")));
    var otherCases = Stream.of(frameCase("close without a code", "close ", frame(0x88, "")),
        frameCase("close with half a code", "close 1002",
            frame(0x88, "a")),
        frameCase("close with a long reason", "close 1000", close(1000, x(123))),
        frameCase("close with a reason that is not UTF-8", "close 1007", frame(0x88, hex("03 e8 ff"))),
        frameCase("close with half a character as its reason", "close 1007", frame(0x88, hex("03 e8 c3"))),
        frameCase("close within fragments", "close 1000", frame(1, "a"), NORMAL),
        frameCase("close twice", "close 1000", NORMAL, NORMAL));
    return Stream.of(validCodes, invalidCodes, otherCases).flatMap(cases -> cases);
  }

  @Promise("27.15")
  @ParameterizedTest
  @MethodSource({"messages", "violations", "unknownOpcodes", "closes"})
  void serverRespondsToFramesAsRfc6455Requires(Case frames) {
    try (var peer = new WebSocketPeer(server.port(), "/")) {
      peer.send(frames.sent);

      assertAnswers(frames, peer);
    }
  }

  @ParameterizedTest
  @MethodSource("shortCases")
  void framesMayArriveByteByByte(Case frames) {
    try (var peer = new WebSocketPeer(server.port(), "/")) {
      try {
        for (var value : frames.sent) peer.send(new byte[] {value});
      } catch (UncheckedIOException refused) {
        // the server has closed after an invalid frame
      }

      assertAnswers(frames, peer);
    }
  }

  static Stream<Case> shortCases() {
    return Stream.of(messages(), violations(), unknownOpcodes(), closes()).flatMap(cases -> cases)
        .filter(frames -> frames.sent.length <= 1_000);
  }

  private static void assertAnswers(Case frames, WebSocketPeer peer) {
    var responses = peer.readToEnd();
    assertTrue(List.of("end", "reset").contains(responses.removeLast()), responses::toString);
    assertEquals(frames.responses, String.join(", ", responses));
  }

  @Promise("27.15")
  @ParameterizedTest
  @MethodSource("invalidBeginnings")
  void invalidBeginningOfFrameIsRefusedAtOnce(Case frame) {
    try (var peer = new WebSocketPeer(server.port(), "/").send(frame.sent)) {
      assertEquals(frame.responses, peer.next().toString());
    }
  }

  static Stream<Case> invalidBeginnings() {
    return Stream.of(frameCase("reserved bit in the first byte", "close 1002", hex("c1")),
        frameCase("unknown opcode", "close 1002", hex("83")),
        frameCase("an unmasked length", "close 1002", hex("81 05")),
        frameCase("a length that begins with its highest bit", "close 1002", hex("82 ff 80")),
        frameCase("a length that is too long", "close 1009", hex("82 ff 00 00 00 00 7f ff ff ff")),
        frameCase("not UTF-8, of 100 bytes", "close 1007", hex("81 e4 00 00 00 00 61 ff")),
        frameCase("a surrogate at its second byte", "close 1007", hex("81 e4 00 00 00 00 ed a0")),
        frameCase("above U+10FFFF at its second byte", "close 1007", hex("81 e4 00 00 00 00 f4 90")),
        frameCase("not UTF-8, in the first fragment", "close 1007", hex("01 81 00 00 00 00 c0")));
  }

  @Test
  void messageOfManyFragmentsArrivesComplete() {
    try (var peer = new WebSocketPeer(server.port(), "/")) {
      var text = "äöü€".repeat(3_000).getBytes(StandardCharsets.UTF_8);
      var sent = new java.io.ByteArrayOutputStream();
      for (int i = 0; i < text.length; i++)
        sent.writeBytes(frame((i == 0 ? 1 : 0) | (i == text.length - 1 ? 0x80 : 0), new byte[] {text[i]}));

      assertEquals("äöü€".repeat(3_000), peer.send(sent.toByteArray()).next().text());
    }
  }
}
