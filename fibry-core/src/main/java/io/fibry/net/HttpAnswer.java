package io.fibry.net;

import io.fibry.net.AnswerBody.End;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The answer to one request: status and headers are gathered, and written together with the
 * beginning of the body, in one go where that is all. Belongs to the thread of its exchange.
 */
final class HttpAnswer implements RequestBody.Expectation, AnswerBody.Sender {
  private static final byte[] CONTINUE = ByteBuilder.latin("HTTP/1.1 100 Continue\r\n\r\n");
  private static final byte[] LENGTH = ByteBuilder.latin("Content-Length: ");
  private static final byte[] PLAIN_TEXT = ByteBuilder.latin("Content-Type: text/plain; charset=utf-8\r\n");
  private static final byte[] CHUNKED = ByteBuilder.latin("Transfer-Encoding: chunked\r\n");
  private static final byte[] CLOSE = ByteBuilder.latin("Connection: close\r\n");
  private static final byte[] KEEP = ByteBuilder.latin("Connection: keep-alive\r\n");
  private static final byte[] NOTHING = {};
  private static final DateTimeFormatter DATE =
      DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ENGLISH).withZone(ZoneOffset.UTC);

  /** The line that tells the time, made anew each second. */
  private record Clock(long second, byte[] line) {}

  private static volatile Clock clock = new Clock(-1, NOTHING); // replaced by whoever finds it old

  private final OutputStream wire;
  ExchangePermit permit; // is given back while a write may wait; null: none
  private final boolean http11;
  private final boolean head; // the answer to HEAD: no body is sent
  // must be out of the way of the next request; null: the request was not understood
  private RequestBody body;
  private boolean keeps; // the connection
  private boolean owesContinue;
  private int code = 200;
  private List<String> headers = List.of(); // names and values in turn
  private long length = -1; // as the handler said; -1: it did not
  private boolean dated; // the handler told the date
  private boolean typed; // the handler told the type
  private boolean sent; // something of it is on its way
  private boolean complete; // all of it is
  private AnswerBody out; // null: not started by the handler
  // the client cannot be reached any more; null: he can, as far as we know
  private IOException broken;

  HttpAnswer(OutputStream wire, boolean http11, boolean head, boolean keeps, boolean owesContinue) {
    this.wire = wire;
    this.http11 = http11;
    this.head = head;
    this.keeps = keeps;
    this.owesContinue = owesContinue;
  }

  /** To the request that has this body. */
  RequestBody to(RequestBody body) {
    return this.body = body;
  }

  // ---- gathered

  void status(int code) {
    if (code < 200 || code > 599)
      throw new IllegalArgumentException("a status of " + code + " is no answer; give 200 to 599");
    refuseLate("the status");
    this.code = code;
  }

  void header(String name, String value) {
    refuseLate("header " + name);
    if (name.isEmpty() || !name.chars().allMatch(RequestHead::isToken)) throw new IllegalArgumentException(
        "'" + shown(name) + "' cannot be the name of a header; give letters, digits and dashes");
    if (!value.chars().allMatch(c -> c >= 0x20 && c < 0x7f || c == '\t' || c >= 0xa0 && c <= 0xff))
      throw new IllegalArgumentException(
          "header " + name + " cannot have the value '" + shown(value) + "': it would end the line; encode it");
    switch (name.toLowerCase(Locale.ROOT)) {
      case "content-length" -> {
        if (value.isEmpty() || value.length() > 18 || !value.chars().allMatch(c -> c >= '0' && c <= '9'))
          throw new IllegalArgumentException("a Content-Length of '" + value + "'; give a number of bytes");
        length = Long.parseLong(value);
        return;
      }
      case "connection" -> {
        if (!value.equalsIgnoreCase("close")) throw new IllegalArgumentException(
            "Connection: " + value + " is the server's business; only close can be asked for");
        keeps = false;
        return;
      }
      case "transfer-encoding", "trailer",
          "upgrade" -> throw new IllegalArgumentException("header " + name + " is the server's business; leave it out");
      case "date" -> dated = true;
      case "content-type" -> typed = true;
      default -> {}
    }
    if (headers.isEmpty()) headers = new ArrayList<>();
    if (!name.equalsIgnoreCase("Set-Cookie")) // of which there can be several
      for (int i = headers.size() - 2; i >= 0; i -= 2)
        if (headers.get(i).equalsIgnoreCase(name)) headers.subList(i, i + 2).clear();
    headers.add(name);
    headers.add(value);
  }

  private static String shown(String text) {
    var shown = text.length() > 100 ? text.substring(0, 100) + ".." : text;
    return shown.replaceAll("[^ -~]", "?");
  }

  private void refuseLate(String what) {
    if (out != null || sent)
      throw new IllegalStateException(what + " comes too late: the answer has begun; set it before");
  }

  // ---- sent

  @Override
  public boolean owesContinue() {
    return owesContinue;
  }

  @Override
  public void sayContinue() throws IOException {
    if (!owesContinue) return;
    owesContinue = false;
    if (!sent) write(CONTINUE, CONTINUE.length);
  }

  /** All of it. */
  void text(String text) throws IOException {
    if (!typed && HttpStatus.hasBody(code)) {
      typed = true;
      bytes(PLAIN_TEXT, text.getBytes(StandardCharsets.UTF_8));
    } else bytes(NOTHING, text.getBytes(StandardCharsets.UTF_8));
  }

  private void bytes(byte[] header, byte[] body) throws IOException {
    var whole = head(End.LENGTH, body.length, header);
    if (!head && HttpStatus.hasBody(code)) whole.add(body, 0, body.length);
    complete = true;
    write(whole.bytes, whole.length);
  }

  /** An answer of the server's own, instead of what was gathered. */
  void refuse(int code, String text, String... headers) throws IOException {
    this.code = code;
    this.headers = List.of(headers);
    dated = typed = false;
    length = -1;
    text(text);
  }

  void refuseSecond() {
    if (out != null || sent)
      throw new IllegalStateException("the answer has begun; server-sent events are an answer of their own");
  }

  /** Begins an answer that ends with the connection, and that others write. */
  void stream(String type) throws IOException {
    header("Content-Type", type);
    header("Cache-Control", "no-cache");
    keeps = false;
    complete = true;
    var begin = head(End.CLOSE, -1);
    write(begin.bytes, begin.length);
  }

  /** The answer to HEAD: there is nothing behind its head. */
  boolean isHeadOnly() {
    return head;
  }

  OutputStream out() {
    if (sent && out == null) throw new IllegalStateException("the answer was given");
    if (out == null) out = new AnswerBody(this, length);
    return out;
  }

  /** When the handler has returned: what it left undone. */
  void finish() throws IOException {
    if (!complete) out().close();
  }

  @Override
  public End end(long all) {
    if (head || !HttpStatus.hasBody(code)) return End.NONE;
    if (length >= 0 || all >= 0) return End.LENGTH;
    if (http11) return End.CHUNKS;
    keeps = false;
    return End.CLOSE;
  }

  @Override
  public ByteBuilder head(End end, long length) {
    return head(end, length, NOTHING);
  }

  private ByteBuilder head(End end, long length, byte[] more) {
    if (body == null || !body.canEnd()) keeps = false;
    var bytes = new ByteBuilder(192 + (int) Math.min(Math.max(length, 0), 8_192));
    bytes.add(HttpStatus.line(code));
    if (!dated) bytes.add(dateLine());
    for (int i = 0; i < headers.size(); i += 2) {
      bytes.add(headers.get(i));
      bytes.add(':', ' ');
      bytes.add(headers.get(i + 1));
      bytes.add('\r', '\n');
    }
    bytes.add(more);
    if (end == End.CHUNKS) bytes.add(CHUNKED);
    else if (length >= 0 && HttpStatus.hasBody(code)) {
      bytes.add(LENGTH);
      bytes.add(Long.toString(length));
      bytes.add('\r', '\n');
    }
    if (!keeps) bytes.add(CLOSE);
    else if (!http11) bytes.add(KEEP);
    bytes.add('\r', '\n');
    return bytes;
  }

  @Override
  public void complete(boolean all) {
    if (all) complete = true;
    else keeps = false;
  }

  @Override
  public void write(byte[] bytes, int length) throws IOException {
    if (broken != null) throw broken;
    try {
      if (bytes != CONTINUE) sent = true;
      if (permit != null) permit.away();
      try {
        wire.write(bytes, 0, length);
      } finally {
        if (permit != null) permit.back();
      }
    } catch (IOException gone) {
      broken = gone;
      keeps = false;
      throw gone;
    }
  }

  /** From here on nothing can be added. */
  void end() {
    if (out != null) out.cut();
    sent = true;
  }

  // ---- seen

  boolean isSent() {
    return sent;
  }

  /** A close would be its end, as if nothing were missing. */
  boolean endsWithTheConnection() {
    return sent && !complete && !http11 && length < 0;
  }

  boolean isBroken() {
    return broken != null;
  }

  /** Whether the next request may come. */
  boolean keeps() {
    return keeps && complete;
  }

  void closes() {
    keeps = false;
  }

  static String date(Instant when) {
    return DATE.format(when);
  }

  static Instant date(String text) {
    return ZonedDateTime.parse(text, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant();
  }

  private static byte[] dateLine() {
    long second = System.currentTimeMillis() / 1_000;
    var now = clock;
    if (now.second != second)
      clock = now = new Clock(second, ByteBuilder.latin("Date: " + date(Instant.ofEpochSecond(second)) + "\r\n"));
    return now.line;
  }

}
