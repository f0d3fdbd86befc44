package io.fibry.net;

import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;

/** A request with a body, at random, and what a server may make of it. */
final class BodyUpload {

  /** What a handler does. */
  enum Route {
    WHOLE, PARTS, FORM, EARLY, LATE, NEVER, FAILS;

    boolean reads() {
      return this != NEVER && this != FAILS;
    }
  }

  /** The fault of the body; of the last two kinds, only a part is sent. */
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
  final boolean expects; // 100 Continue
  final boolean holds; // its handler waits until all clients have sent
  final String body;
  final String head;
  final String wire; // the body as it is sent
  final AtomicInteger calls = new AtomicInteger(); // of the handler
  final StringBuffer seen = new StringBuffer(); // by the handler
  private final BodyLimits limits;
  private final boolean chunked;
  private boolean abandoned; // its client leaves, perhaps before it is read

  /** The limits of the server. */
  record BodyLimits(int maxExchanges, int maxBody, int maxFields) {}

  BodyUpload(int number, BodyLimits limits, SplittableRandom random, boolean last, boolean expects) {
    this(number, limits, random, Route.values()[random.nextInt(Route.values().length)],
        KINDS[random.nextInt(last ? KINDS.length : KINDS.length - 2)], random.nextBoolean(), last, expects);
  }

  BodyUpload(int number, BodyLimits limits, SplittableRandom random, Route route, Kind kind, boolean chunked,
      boolean last, boolean expects) {
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
    this.expects = expects;
    this.holds = !expects && random.nextInt(8) == 0;
    this.head = "POST /" + route + "?n=" + number + " HTTP/1.1\r\nHost: a\r\n" + (last ? "Connection: close\r\n" : "")
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
    var all = new StringBuilder();
    for (int at = 0, to; at < body.length(); at = to) {
      to = at + 1 + random.nextInt(random.nextBoolean() ? body.length() - at : Math.min(body.length() - at, 100));
      all.append(Integer.toHexString(to - at)).append(random.nextInt(4) == 0 ? ";a=b\r\n" : "\r\n")
          .append(body, at, to).append("\r\n");
    }
    return all
        .append(kind == Kind.MALFORMED ? MALFORMED[random.nextInt(MALFORMED.length)] : "0\r\n\r\n").toString();
  }

  void abandon() {
    abandoned = true;
  }

  /** The head alone says that it is too long. */
  private boolean isRefusedUnread() {
    return kind == Kind.LONG && !chunked;
  }

  /** The handler has answered before it finds what is wrong. */
  boolean breaksOff() {
    return route == Route.EARLY && kind != Kind.GOOD && !isRefusedUnread();
  }

  /** Whether the client may continue: the server has answered before the body. */
  boolean goesOnAfter(String answer) {
    return answer.startsWith("HTTP/1.1 100 ") || route == Route.EARLY && answer.startsWith("HTTP/1.1 200 ");
  }

  String answer() {
    return number + ":" + body;
  }

  private String expected() {
    if (isRefusedUnread() || kind == Kind.LONG && route.reads()) return "413 413 Content Too Large\n";
    if (kind != Kind.GOOD && route.reads()) return "400 400 Bad Request\n";
    return switch (route) {
      case NEVER -> "200 " + number + ":never";
      case FAILS -> "500 Internal server error \\x";
      case LATE -> "409 " + number + ":late\n";
      case FORM -> hasTooManyFields()
          ? "413 413 Content Too Large: a form of more than " + limits.maxFields + " fields\n"
          : "200 " + answer();
      default -> "200 " + answer();
    };
  }

  private boolean hasTooManyFields() {
    var ended = body.endsWith("&") || body.isEmpty() ? body : body + "&";
    return route == Route.FORM && ended.chars().filter(c -> c == '&').count() > limits.maxFields;
  }

  /** Returns the fault of this answer, or an empty text. */
  String judge(RawAnswer answer) {
    if (answer.code() == 503 && !isRefusedUnread())
      return answer.closes() && calls.get() == 0 ? "" : this + " was refused, but handled: " + answer;
    if (breaksOff()) return answer.code() == 200 && !answer.whole() && answer().startsWith(answer.body()) ? ""
        : this + " was not broken off: " + answer;
    var got = answer.code() + " " + answer.body().replaceAll("error [0-9a-f]{8}\n$", "error \\\\x");
    return answer.whole() && got.equals(expected()) ? "" : this + " was answered " + answer + ", not " + expected();
  }

  /** Returns the fault of the body that the handler got, or an empty text. */
  String judgeSeen() {
    var got = seen.toString();
    if (calls.get() > 1) return this + " was handled twice";
    if (calls.get() == 1 && isRefusedUnread()) return this + " was handled, though its length is too much";
    if (got.length() > limits.maxBody || !body.startsWith(got)) return this + " reached its handler as " + got;
    boolean all = kind == Kind.GOOD && route.reads() && calls.get() == 1 && !hasTooManyFields() && !abandoned;
    return all && !got.equals(body) ? this + " reached its handler as no more than " + got : "";
  }

  @Override
  public String toString() {
    return kind + (expects ? " expecting" : "") + (holds ? " holding" : "") + (chunked ? " chunked" : "") + " upload "
        + number + " of " + body.length() + " bytes to " + route;
  }
}
