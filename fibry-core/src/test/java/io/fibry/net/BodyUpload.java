package io.fibry.net;

import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;

/** A random request with a body. It knows which responses the server may send to this request. */
final class BodyUpload {

  /** The behavior of the handler: how it reads the body and responds. */
  enum Route {
    WHOLE, PARTS, FORM, EARLY, LATE, NEVER, FAILS;

    boolean readsBody() {
      return this != NEVER && this != FAILS;
    }
  }

  /**
   * The fault of the body. The client sends only a part of the body if the kind is TORN or GONE.
   */
  enum Kind {
    GOOD, LONG, MALFORMED, TORN, GONE
  }

  private static final Kind[] KINDS = {Kind.GOOD, Kind.GOOD, Kind.GOOD, Kind.GOOD, Kind.GOOD, Kind.GOOD, Kind.LONG,
    Kind.MALFORMED, Kind.TORN, Kind.GONE};
  private static final String[] MALFORMED = {"zz\r\n", "\r\n", "-1\r\n", "0x1\r\n", "fffffffffffffffff\r\n", "1\n",
    "1;\r\n", "1 \r\n", "0\rX", "0\r\nX\r\n"};
  private static final String CHARACTERS = "abcdefghijklmnopqrstuvwxyz=&";

  final int number;
  final Route route;
  final Kind kind;
  final boolean expectsContinue; // sends "Expect: 100-continue"
  final boolean holdsResponse; // the handler waits until all clients have sent, and then responds
  final String body;
  final String head;
  final String wire; // the body as the client sends it
  final AtomicInteger calls = new AtomicInteger(); // calls of the handler
  final StringBuffer received = new StringBuffer(); // the bytes that the handler has read
  private final BodyLimits limits;
  private final boolean chunked;
  private boolean abandoned; // whether the client disconnects, perhaps before the handler has read the body

  /** The limits of the server. */
  record BodyLimits(int maxExchanges, int maxBody, int maxFields) {}

  BodyUpload(int number, BodyLimits limits, SplittableRandom random, boolean isLast, boolean expects) {
    this(number, limits, random, Route.values()[random.nextInt(Route.values().length)],
        KINDS[random.nextInt(isLast ? KINDS.length : KINDS.length - 2)], random.nextBoolean(), isLast, expects);
  }

  BodyUpload(int number, BodyLimits limits, SplittableRandom random, Route route, Kind kind, boolean chunked,
      boolean isLast, boolean expects) {
    this.number = number;
    this.limits = limits;
    this.route = route;
    int length = switch (random.nextInt(3)) {
      case 0 -> limits.maxBody;
      case 1 -> random.nextInt(limits.maxBody + 1);
      default -> random.nextInt(Math.min(limits.maxBody, 20) + 1);
    };
    this.kind = kind == Kind.TORN && length == 0 && !chunked ? Kind.GOOD : kind;
    this.chunked = chunked || kind == Kind.MALFORMED;
    this.body = body(kind == Kind.LONG ? limits.maxBody + 1 : length, random);
    this.expectsContinue = expects;
    this.holdsResponse = !expects && random.nextInt(8) == 0;
    this.head = "POST /" + route + "?n=" + number + " HTTP/1.1\r\nHost: a\r\n" + (isLast ? "Connection: close\r\n" : "")
        + (expects ? "Expect: 100-continue\r\n" : "")
        + (this.chunked ? "Transfer-Encoding: chunked" : "Content-Length: " + body.length()) + "\r\n\r\n";
    this.wire = this.chunked ? chunks(random) : body;
  }

  private static String body(int length, SplittableRandom random) {
    var body = new StringBuilder();
    while (body.length() < length) body.append(CHARACTERS.charAt(random.nextInt(CHARACTERS.length())));
    return body.toString();
  }

  private String chunks(SplittableRandom random) {
    var text = new StringBuilder();
    for (int position = 0, end; position < body.length(); position = end) {
      end = position + 1
          + random.nextInt(random.nextBoolean() ? body.length() - position : Math.min(body.length() - position, 100));
      text.append(Integer.toHexString(end - position)).append(random.nextInt(4) == 0 ? ";a=b\r\n" : "\r\n")
          .append(body, position, end).append("\r\n");
    }
    return text
        .append(kind == Kind.MALFORMED ? MALFORMED[random.nextInt(MALFORMED.length)] : "0\r\n\r\n").toString();
  }

  void abandon() {
    abandoned = true;
  }

  /** Returns whether the server can see from the header alone that the body is too long. */
  private boolean isRefusedUnread() {
    return kind == Kind.LONG && !chunked;
  }

  /** Returns whether the handler begins its response before it finds the fault. */
  boolean mayRespondBeforeFault() {
    return route == Route.EARLY && kind != Kind.GOOD && !isRefusedUnread();
  }

  /** Returns whether the client may send the body after this first response of the server. */
  boolean continuesAfter(String response) {
    return response.startsWith("HTTP/1.1 100 ") || route == Route.EARLY && response.startsWith("HTTP/1.1 200 ");
  }

  String expectedBody() {
    return number + ":" + body;
  }

  private String expectedResponse() {
    if (isRefusedUnread()) return "413 413 Content Too Large: a body of " + body.length() + " bytes; at most "
        + limits.maxBody + " are allowed\n";
    if (kind == Kind.LONG && route.readsBody())
      return "413 413 Content Too Large: a body of more than " + limits.maxBody + " bytes\n";
    if (kind != Kind.GOOD && route.readsBody()) return "400 400 Bad Request: \\x\n";
    return switch (route) {
      case NEVER -> "200 " + number + ":never";
      case FAILS -> "500 Internal server error \\x";
      case LATE -> "409 " + number + ":late\n";
      case FORM -> hasTooManyFields()
          ? "413 413 Content Too Large: a form of more than " + limits.maxFields + " fields\n"
          : "200 " + expectedBody();
      default -> "200 " + expectedBody();
    };
  }

  private boolean hasTooManyFields() {
    var terminatedBody = body.endsWith("&") || body.isEmpty() ? body : body + "&";
    return route == Route.FORM && terminatedBody.chars().filter(c -> c == '&').count() > limits.maxFields;
  }

  /** Returns the fault of this response, or an empty text. */
  String findResponseError(RawResponse response) {
    if (response.code() == 503 && !isRefusedUnread())
      return response.closesConnection() && calls.get() == 0 ? "" : this + " was refused, but handled: " + response;
    if (mayRespondBeforeFault())
      return response.code() == 200 && !response.isComplete() && expectedBody().startsWith(response.body()) ? ""
          : this + " was not broken off: " + response;
    var actual = response.code() + " " + response.body().replaceAll("error [0-9a-f]{8}\n$", "error \\\\x")
        .replaceAll("(400 Bad Request: ).+\n$", "$1\\\\x\n");
    return response.isComplete() && actual.equals(expectedResponse()) ? ""
        : this + " was answered " + response + ", not " + expectedResponse();
  }

  /** Returns the fault of the body that the handler has read, or an empty text. */
  String findBodyError() {
    var text = received.toString();
    if (calls.get() > 1) return this + " was handled twice";
    if (calls.get() == 1 && isRefusedUnread()) return this + " was handled, though its length exceeds the limit";
    if (text.length() > limits.maxBody || !body.startsWith(text))
      return this + " reached its handler as " + text;
    boolean mustBeComplete =
        kind == Kind.GOOD && route.readsBody() && calls.get() == 1 && !hasTooManyFields() && !abandoned;
    return mustBeComplete && !text.equals(body) ? this + " reached its handler as no more than " + text : "";
  }

  @Override
  public String toString() {
    return kind + (expectsContinue ? " expecting" : "") + (holdsResponse ? " holding" : "")
        + (chunked ? " chunked" : "") + " upload "
        + number + " of " + body.length() + " bytes to " + route;
  }
}
