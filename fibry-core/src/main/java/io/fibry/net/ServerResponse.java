package io.fibry.net;

import io.fibry.net.ResponseBody.Framing;
import io.fibry.text.Lines;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The answer to one request. Status and headers are sent with the first bytes of the body. Belongs
 * to the thread of its exchange.
 */
final class ServerResponse implements RequestBody.Expectation, ResponseBody.BodySender {
  private static final byte[] CONTINUE = ByteBuilder.latin("HTTP/1.1 100 Continue\r\n\r\n");
  private static final byte[] LENGTH = ByteBuilder.latin("Content-Length: ");
  private static final byte[] PLAIN_TEXT = ByteBuilder.latin("Content-Type: text/plain; charset=utf-8\r\n");
  private static final byte[] CHUNKED = ByteBuilder.latin("Transfer-Encoding: chunked\r\n");
  private static final byte[] CLOSE = ByteBuilder.latin("Connection: close\r\n");
  private static final byte[] KEEP_ALIVE = ByteBuilder.latin("Connection: keep-alive\r\n");
  private static final byte[] NOTHING = {};
  private static final DateTimeFormatter DATE =
      DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ENGLISH).withZone(ZoneOffset.UTC);

  /** Made once a second. */
  private record DateLine(long second, byte[] line) {}

  private static volatile DateLine dateLine = new DateLine(-1, NOTHING); // replaced when it is old

  private final OutputStream out;
  ExchangePermit permit; // suspended while a write may wait; null without a permit
  private final boolean http11;
  private final boolean headOnly; // the answer to HEAD
  private RequestBody body; // null: the request was malformed
  private boolean keepsAlive;
  private boolean needsContinue;
  private int code = 200;
  private List<String> headers = List.of(); // names and values in turn
  private long length = -1; // set by the handler; -1 means not set
  private boolean hasDate; // by the handler
  private boolean hasType; // by the handler
  private boolean sent; // perhaps in part
  private boolean begun; // by a status
  private long bytesSent; // of bodies and heads
  private boolean complete;
  private ResponseBody stream;
  private IOException failure; // set by a failed write; null before
  private Runnable onUpgraded = () -> {};
  private boolean upgraded;

  ServerResponse(OutputStream out, boolean http11, boolean headOnly, boolean keepsAlive, boolean owesContinue) {
    this.out = out;
    this.http11 = http11;
    this.headOnly = headOnly;
    this.keepsAlive = keepsAlive;
    this.needsContinue = owesContinue;
  }

  /** Returns the request of this body. */
  RequestBody forRequest(RequestBody body) {
    return this.body = body;
  }

  void status(int code) {
    if (code < 200 || code > 599)
      throw new IllegalArgumentException("a status of " + code + " is no answer; give 200 to 599");
    refuseLate("the status");
    this.code = code;
    begun = true;
  }

  void header(String name, String value) {
    refuseLate("header " + Lines.line(name));
    if (name.isEmpty() || !name.chars().allMatch(RequestHead::isToken)) throw new IllegalArgumentException(
        "'" + Lines.line(name) + "' cannot be the name of a header; give letters, digits and dashes");
    if (!value.chars().allMatch(c -> c >= 0x20 && c < 0x7f || c == '\t' || c >= 0xa0 && c <= 0xff))
      throw new IllegalArgumentException("header " + name + " cannot have the value '" + Lines.line(value)
          + "', which is not one line of Latin-1; encode it");
    switch (name.toLowerCase(Locale.ROOT)) {
      case "content-length" -> {
        if (value.isEmpty() || value.length() > 18 || !value.chars().allMatch(c -> c >= '0' && c <= '9'))
          throw new IllegalArgumentException("a Content-Length of '" + Lines.line(value) + "'; give a number of bytes");
        length = Long.parseLong(value);
        return;
      }
      case "connection" -> {
        if (!value.equalsIgnoreCase("close")) throw new IllegalArgumentException(
            "Connection: " + Lines.line(value) + " is the server's business; only close can be asked for");
        keepsAlive = false;
        return;
      }
      case "transfer-encoding", "trailer",
          "upgrade" -> throw new IllegalArgumentException("header " + name + " is the server's business; leave it out");
      case "date" -> hasDate = true;
      case "content-type" -> hasType = true;
      default -> {}
    }
    if (headers.isEmpty()) headers = new ArrayList<>();
    if (!name.equalsIgnoreCase("Set-Cookie"))
      for (int i = headers.size() - 2; i >= 0; i -= 2)
        if (headers.get(i).equalsIgnoreCase(name)) headers.subList(i, i + 2).clear();
    headers.add(name);
    headers.add(value);
  }

  void refuseLate(String what) {
    if (stream != null || sent)
      throw new IllegalStateException(what + " comes too late: the answer has begun; do this first");
  }

  @Override
  public boolean needsContinue() {
    return needsContinue;
  }

  @Override
  public void sendContinue() throws IOException {
    if (!needsContinue) return;
    needsContinue = false;
    if (!sent) write(CONTINUE, CONTINUE.length);
  }

  void writeText(String text) throws IOException {
    writeWhole(text.getBytes(StandardCharsets.UTF_8), PLAIN_TEXT);
  }

  void writeBytes(String type, byte[] body) throws IOException {
    if (!hasType) header("Content-Type", type);
    writeWhole(body, NOTHING);
  }

  private void writeWhole(byte[] body, byte[] type) throws IOException {
    if (sent) throw new IllegalStateException("the answer was given, and a request has one");
    boolean untyped = !hasType && HttpStatus.hasBody(code);
    var whole = head(Framing.LENGTH, body.length, untyped ? type : NOTHING);
    if (hasBody()) whole.add(body);
    complete = true;
    write(whole.bytes, whole.length);
  }

  /** Forgets what the handler has written and nobody has sent. */
  void discard() {
    if (stream != null) stream.forbid();
    stream = null;
  }

  /** Without what the handler has said so far. */
  void reset(int code) {
    this.code = code;
    this.headers = List.of();
    hasDate = hasType = false;
    length = -1;
  }

  /** Sends an answer of the server's own. */
  void writeError(int code, String text, String... headers) throws IOException {
    reset(code);
    this.headers = List.of(headers);
    writeText(text);
  }

  /** Sends an answer by which a handler ended; its headers stay. */
  void writeHandlerError(int code, String text) throws IOException {
    this.code = code;
    length = -1;
    writeText(text.endsWith("\n") ? text : text + "\n");
  }

  /** Begins an answer that ends with the connection. */
  void begin(String type) throws IOException {
    header("Content-Type", type);
    header("Cache-Control", "no-cache");
    keepsAlive = false;
    complete = true;
    var head = head(Framing.CLOSE, -1);
    write(head.bytes, head.length);
  }

  /** The bytes after this answer are not HTTP. */
  void upgrade(List<String> upgrade) throws IOException {
    refuseLate("an upgrade");
    code = 101;
    keepsAlive = false;
    complete = true;
    var head = new ByteBuilder(256);
    head.add("HTTP/1.1 101 Switching Protocols\r\n");
    addHeaders(head, upgrade);
    addHeaders(head, headers);
    head.add('\r', '\n');
    write(head.bytes, head.length);
    upgraded = true;
    onUpgraded.run();
  }

  /** A WebSocket may last for hours, its answer does not. */
  void onUpgraded(Runnable told) {
    onUpgraded = told;
  }

  boolean isUpgraded() {
    return upgraded;
  }

  private static void addHeaders(ByteBuilder head, List<String> headers) {
    for (int i = 0; i < headers.size(); i += 2) {
      head.add(headers.get(i));
      head.add(':', ' ');
      head.add(headers.get(i + 1));
      head.add('\r', '\n');
    }
  }

  OutputStream outputStream() {
    if (sent && stream == null) throw new IllegalStateException("the answer was given");
    if (stream == null) stream = new ResponseBody(this, length);
    return stream;
  }

  /** Sends what the handler left. */
  void finish() throws IOException {
    if (!complete) outputStream().close();
  }

  boolean hasBody() {
    return !headOnly && HttpStatus.hasBody(code);
  }

  @Override
  public Framing framing(long length) {
    if (!hasBody()) return Framing.NONE;
    if (this.length >= 0 || length >= 0) return Framing.LENGTH;
    if (http11) return Framing.CHUNKS;
    keepsAlive = false;
    return Framing.CLOSE;
  }

  @Override
  public ByteBuilder head(Framing framing, long length) {
    return head(framing, length, NOTHING);
  }

  private ByteBuilder head(Framing framing, long length, byte[] more) {
    if (body == null || !body.canEnd()) keepsAlive = false;
    var head = new ByteBuilder(192 + (int) Math.min(Math.max(length, 0), 8_192));
    head.add(HttpStatus.statusLine(code));
    if (!hasDate) head.add(dateLine());
    addHeaders(head, headers);
    head.add(more);
    long told = HttpStatus.contentLength(code, length);
    if (framing == Framing.CHUNKS) head.add(CHUNKED);
    else if (told >= 0) {
      head.add(LENGTH);
      head.add(Long.toString(told));
      head.add('\r', '\n');
    }
    if (!keepsAlive) head.add(CLOSE);
    else if (!http11) head.add(KEEP_ALIVE);
    head.add('\r', '\n');
    return head;
  }

  @Override
  public void complete(boolean whole) {
    if (whole) complete = true;
    else keepsAlive = false;
  }

  @Override
  public void write(byte[] bytes, int length) throws IOException {
    if (failure != null) throw failure;
    if (bytes != CONTINUE) sent = true;
    if (permit != null) permit.suspend();
    try {
      out.write(bytes, 0, length);
      this.bytesSent += length;
    } catch (IOException gone) {
      failure = gone;
      keepsAlive = false;
      throw gone;
    } finally {
      if (permit != null) permit.resume();
    }
  }

  void end() {
    if (stream != null) stream.forbid();
    sent = true;
  }

  /** Something was said: a status at least. */
  boolean isBegun() {
    return begun || stream != null || sent;
  }

  int code() {
    return code;
  }

  long bytesSent() {
    return bytesSent;
  }

  boolean isSent() {
    return sent;
  }

  /** A close now would look like a complete answer. */
  boolean endsWithConnection() {
    return sent && !complete && !http11 && length < 0;
  }

  boolean isBroken() {
    return failure != null;
  }

  boolean keepsAlive() {
    return keepsAlive && complete;
  }

  void closeAfter() {
    keepsAlive = false;
  }

  static String date(Instant when) {
    return DATE.format(when);
  }

  static Instant date(String text) {
    return ZonedDateTime.parse(text, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant();
  }

  private static byte[] dateLine() {
    long second = System.currentTimeMillis() / 1_000;
    var now = dateLine;
    if (now.second != second) {
      var line = ByteBuilder.latin("Date: " + date(Instant.ofEpochSecond(second)) + "\r\n");
      dateLine = now = new DateLine(second, line);
    }
    return now.line;
  }
}
