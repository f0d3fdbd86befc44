package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.net.http.HttpStatus;
import io.fibry.net.http.RequestHead;
import io.fibry.support.Logged;
import io.fibry.testing.Promise;
import io.fibry.testing.StressRuns;
import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Tests that the server responds to any bytes, in any pieces, or closes the connection, and never
 * fails. The server must accept exactly the requests that a second parser accepts.
 */
class HttpFuzzTest {
  private static final String[] SEEDS = {"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /a/b/../c%20d?e=f&g HTTP/1.1\r\nHost: a.b:80\r\nX-Y: z\r\nAccept: */*\r\n\r\n",
    "POST /x HTTP/1.1\r\nHost: [::1]\r\nContent-Length: 3\r\n\r\nabc",
    "PUT /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\na",
    "HEAD http://a/x/./y HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"};
  private static final String[] PIECES =
      {"\r", "\n", "\r\n", "\r\n\r\n", "\0", " ", "\t", ":", "%", "%2e", "%2F", "%00", "..", "/", "//", "/../", "\\",
        "?", "#", "*", "+", "-", ",", ";", "\u0080", "\u00ff", "0", "9999999999999999999", "Host: b\r\n",
        "Content-Length: 3\r\n", "Content-Length: 4\r\n", "Transfer-Encoding: chunked\r\n",
        "Transfer-Encoding: identity\r\n", "Connection: close\r\n", "X:\r\n", " folded\r\n", "HTTP/1.1", "HTTP/2.0",
        "http://a", "GET", "chunked", "x".repeat(300)};

  private static final String TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
  private static final Pattern REQUEST =
      Pattern.compile("(?:\r\n)?(" + TOKEN + ") ([\\x21-\\x7e]+) HTTP/1\\.([01])\r\n((?:" + TOKEN
          + ":[\\t\\x20-\\x7e\\x80-\\xff]*\r\n)*)\r\n", Pattern.DOTALL);
  private static final String SEGMENTS = "(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*";
  private static final Pattern TARGET = Pattern.compile(
      "(?:http://(" + "[^/?]+" + "))?(/" + SEGMENTS + ")?(?:\\?((?:[\\x21\\x22\\x24\\x26-\\x7e]|%[0-9A-Fa-f]{2})*))?",
      Pattern.CASE_INSENSITIVE);
  private static final Pattern HOST =
      Pattern.compile("(?:\\[(?=(?:[^]:]*:){2})[0-9A-Fa-f:.]*\\]|[A-Za-z0-9._~-]+)(?::[0-9]{0,5})?");

  private static final int ROUNDS = Integer.getInteger("fibry.rounds", 1_000);

  private final long seed = StressRuns.seed();
  private final Random random = new Random(seed);

  private String mutatedRequest() {
    var text = new StringBuilder(SEEDS[random.nextInt(SEEDS.length)]);
    for (int n = random.nextInt(4); n > 0; n--) {
      int position = random.nextInt(text.length() + 1);
      switch (random.nextInt(5)) {
        case 0 -> text.insert(position, PIECES[random.nextInt(PIECES.length)]);
        case 1 -> text.delete(position, Math.min(text.length(), position + 1 + random.nextInt(3)));
        case 2 -> text.insert(position, (char) random.nextInt(256));
        case 3 -> {
          int line = text.indexOf("\r\n", position);
          if (line >= 0) text.insert(line + 2, PIECES[random.nextInt(PIECES.length)]);
        }
        default -> {
          if (position < text.length()) text.setCharAt(position, (char) random.nextInt(256));
        }
      }
    }
    return text.toString();
  }

  @Promise("27.1")
  @Test
  void serverParsesRandomRequestsLikeReferenceParser() throws IOException {
    int acceptedCount = 0;
    for (int i = 0; i < 200_000; i++) {
      var sent = mutatedRequest();
      var parsedRequest = parseByServer(sent);
      if (!parsedRequest.isEmpty()) acceptedCount++;

      assertEquals(parseByPatterns(sent), parsedRequest,
          () -> "seed " + seed + ": " + sent.replace("\r", "\\r").replace("\n", "\\n"));
    }
    assertTrue(acceptedCount > 20_000, "too few accepted requests: " + acceptedCount);
  }

  private static String parseByServer(String sent) throws IOException {
    var in = new ByteArrayInputStream(sent.getBytes(StandardCharsets.ISO_8859_1));
    try {
      int first = in.read();
      if (first < 0) return "";
      var settings = HttpOptions.settings(defaults -> defaults);
      var head = new RequestHead(in, settings);
      head.read(first, settings);
      return head.method + " " + head.target.path() + " " + head.isHttp11 + " " + head.bodyLength + " "
          + in.available();
    } catch (HttpStatus.RequestRefusedException | EOFException refusal) {
      return "";
    }
  }

  /**
   * Parses a request with patterns, as the second parser of this test. Returns an empty text if the
   * request is invalid.
   */
  private static String parseByPatterns(String sent) {
    var request = REQUEST.matcher(sent);
    if (!request.lookingAt()
        || !List.of("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS").contains(request.group(1)))
      return "";
    var hosts = new ArrayList<String>();
    var lengths = new ArrayList<String>();
    var codings = new ArrayList<String>();
    boolean http11 = request.group(3).equals("1");
    for (var line : request.group(4).split("\r\n")) {
      if (line.isEmpty()) continue;
      var name = line.substring(0, line.indexOf(':'));
      var value = line.substring(line.indexOf(':') + 1).replaceAll("^[ \t]+|[ \t]+$", "");
      if (name.equalsIgnoreCase("host")) hosts.add(value);
      if (name.equalsIgnoreCase("content-length")) lengths.add(value);
      if (name.equalsIgnoreCase("transfer-encoding")) codings.add(value);
      if (name.equalsIgnoreCase("expect") && http11 && !value.equalsIgnoreCase("100-continue")) return "";
    }
    if (hosts.size() > 1 || hosts.isEmpty() && http11 || !hosts.isEmpty() && !HOST.matcher(hosts.getFirst()).matches())
      return "";
    if (codings.size() + lengths.size() > 1
        || !codings.isEmpty() && (!http11 || !codings.getFirst().equalsIgnoreCase("chunked")))
      return "";
    if (!lengths.isEmpty() && !lengths.getFirst().matches("[0-9]{1,18}")) return "";
    long length = !codings.isEmpty() ? -1 : lengths.isEmpty() ? 0 : Long.parseLong(lengths.getFirst());
    if (length > 1 << 20) return "";
    var target = TARGET.matcher(request.group(2));
    if (!target.matches() || target.group(1) == null && target.group(2) == null) return "";
    if (target.group(1) != null && (!HOST.matcher(target.group(1)).matches() || !hosts.isEmpty()
        && !hosts.getFirst().replaceAll(":80$", "").equalsIgnoreCase(target.group(1).replaceAll(":80$", ""))))
      return "";
    var path = normalizePath(target.group(2) == null ? "/" : target.group(2));
    return path == null ? ""
        : request.group(1) + " " + path + " " + http11 + " " + length + " " + (sent.length() - request.end());
  }

  private static String normalizePath(String rawPath) {
    var normalizedSegments = new ArrayDeque<String>();
    var segments = List.of(rawPath.split("/", -1));
    for (int i = 1; i < segments.size(); i++) {
      var bytes = new StringBuilder();
      for (int k = 0; k < segments.get(i).length(); k++) {
        char c = segments.get(i).charAt(k);
        if (c == '%') {
          c = (char) Integer.parseInt(segments.get(i).substring(k + 1, k + 3), 16);
          k += 2;
          if (c < 0x20 || c == 0x7f || c == '/' || c == '\\') return null;
        }
        bytes.append(c);
      }
      var segment = new String(bytes.toString().getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
      if (segment.contains("\ufffd") && !bytes.toString().contains("\u00ef\u00bf\u00bd")) return null;
      if (segment.chars().anyMatch(Character::isISOControl)) return null;
      boolean isLast = i == segments.size() - 1;
      switch (segment) {
        case "", "." -> {
          if (isLast) normalizedSegments.add("");
        }
        case ".." -> {
          if (normalizedSegments.isEmpty()) return null;
          normalizedSegments.removeLast();
          if (isLast) normalizedSegments.add("");
        }
        default -> normalizedSegments.add(segment);
      }
    }
    return "/" + String.join("/", normalizedSegments);
  }

  @Test
  void anyBytesAtAnySplitGetResponseOrClosedConnection() throws IOException {
    try (ActorScope scope = ActorSystem.openScope("fuzz", o -> o); var logged = new Logged()) {
      var server = HttpServer.open(scope.anonymous(), 0,
          HttpRoutes.none().text("/", exchange -> exchange.method() + exchange.bodyAsText()),
          o -> o);
      for (int round = 0; round < ROUNDS; round++) {
        var sent = mutatedRequest() + (random.nextBoolean() ? mutatedRequest() : "");
        var response = talk(server.port(), sent);

        assertFalse(
            !response.isEmpty() && RawClient.codes(response).isEmpty()
                && !response.startsWith("HTTP/1.1 100 Continue\r\n"),
            () -> "seed " + seed + ": " + sent + " was answered " + response);
      }
      server.close();

      var entries = logged.entriesAbout("io.fibry.net.");
      assertFalse(entries.contains("ERROR"), () -> "seed " + seed + ": " + entries);
    }
  }

  /** Sends the text in pieces and ends the output. Returns the response. */
  private String talk(int port, String sent) throws IOException {
    try (var client = new RawClient(port)) {
      try {
        for (int start = 0; start < sent.length();) {
          int end = Math.min(sent.length(), start + 1 + random.nextInt(sent.length()));
          client.send(sent.substring(start, end));
          start = end;
        }
        client.socket.shutdownOutput();
      } catch (IOException refusal) {
        // the server has closed, but its response may have arrived
      }
      return client.readToEnd();
    }
  }
}
