package io.fibry.net.http;

import io.fibry.net.ErrorBody;
import io.fibry.net.HttpExchange;
import io.fibry.net.http.ResponseBody.Framing;
import io.fibry.net.socket.ByteBuilder;
import io.fibry.net.socket.ExchangePermit;
import io.fibry.text.Lines;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.function.BiFunction;

/**
 * The response to one request. Status and headers are sent with the first bytes of the body. Used
 * by the thread of its exchange.
 */
public final class ServerResponse implements RequestBody.Expectation, ResponseBody.BodySender {
  private static final byte[] CONTINUE = ByteBuilder.latin1Bytes("HTTP/1.1 100 Continue\r\n\r\n");
  private static final byte[] CONTENT_LENGTH = ByteBuilder.latin1Bytes("Content-Length: ");
  private static final byte[] PLAIN_TEXT = ByteBuilder.latin1Bytes("Content-Type: text/plain; charset=utf-8\r\n");
  private static final byte[] CHUNKED = ByteBuilder.latin1Bytes("Transfer-Encoding: chunked\r\n");
  private static final byte[] CLOSE = ByteBuilder.latin1Bytes("Connection: close\r\n");
  private static final byte[] KEEP_ALIVE = ByteBuilder.latin1Bytes("Connection: keep-alive\r\n");
  private static final byte[] NOTHING = {};
  private static final DateTimeFormatter DATE =
      DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ENGLISH).withZone(ZoneOffset.UTC);

  /** The Date header of one second. */
  private record DateLine(long second, byte[] line) {}

  private static volatile DateLine dateLine = new DateLine(-1, NOTHING); // replaced once a second

  private final OutputStream out;
  ExchangePermit permit; // suspended while a write may wait; null if the exchange was refused or is a probe
  HttpExchange exchange; // null if no handler gets the request
  Throwable exchangeFailure; // exception of the handler by which the exchange has failed; null if it has not failed
  boolean wasServerFull; // whether the exchange was refused, because too many were at work
  private final boolean isHttp11;
  private final boolean isHeadRequest; // the request was HEAD
  private RequestBody requestBody; // null if the request was malformed
  private boolean keepsAlive;
  private boolean needsContinue; // the client waits for 100 Continue
  private int code = 200;
  final ResponseHeaders headers = new ResponseHeaders();
  private long declaredLength = -1; // the handler's Content-Length; -1 means not set
  private boolean isSent; // whether a part of the response was sent, or the exchange is over
  private boolean isStatusSet; // whether the handler has set a status
  private long bytesSent; // bytes of the response with its head, and of a 100 Continue before it
  private boolean isComplete; // no more bytes are written through this object
  private ResponseBody bodyStream; // null until the handler writes
  private byte[] wholeBody; // returned by the handler, and sent when the code around the handler has returned, too
  private byte[] typeLine; // the Content-Type of the whole body, unless a handler has set another
  private IOException failure; // set by a failed write; null before
  private BiFunction<Integer, String, ErrorBody.Content> errorContent = (code, text) -> null;
  private Runnable onUpgraded = () -> {};
  private boolean isUpgraded;

  public ServerResponse(OutputStream out, boolean isHttp11, boolean isHeadRequest, boolean keepsAlive,
      boolean needsContinue) {
    this.out = out;
    this.isHttp11 = isHttp11;
    this.isHeadRequest = isHeadRequest;
    this.keepsAlive = keepsAlive;
    this.needsContinue = needsContinue;
  }

  /**
   * Sets the body of the request. The body decides whether the connection can stay open. Returns
   * the body.
   */
  RequestBody forRequest(RequestBody body) {
    return requestBody = body;
  }

  void status(int code) {
    if (code < 200 || code > 599)
      throw new IllegalArgumentException("a response cannot have the status " + code + "; give 200 to 599");
    requireNotBegun("the status");
    this.code = code;
    isStatusSet = true;
  }

  void header(String name, String value) {
    requireNotBegun("header " + Lines.line(name));
    ResponseHeaders.check(name, value);
    switch (name.toLowerCase(Locale.ROOT)) {
      case "content-length" -> {
        if (value.isEmpty() || value.length() > 18 || !value.chars().allMatch(c -> c >= '0' && c <= '9'))
          throw new IllegalArgumentException("a Content-Length of '" + Lines.line(value) + "'; give a number of bytes");
        declaredLength = Long.parseLong(value);
        return;
      }
      case "connection" -> {
        if (!value.equalsIgnoreCase("close")) throw new IllegalArgumentException(
            "Connection: " + Lines.line(value) + " cannot be set by a handler; give close, or leave the header out");
        keepsAlive = false;
        return;
      }
      case "transfer-encoding", "trailer",
          "upgrade" -> throw new IllegalArgumentException(
              "header " + name + " cannot be set by a handler, because the server sets it; leave it out");
      default -> {}
    }
    headers.set(name, value);
  }

  /** Throws if the response has begun. The action is the subject of the exception's text. */
  public void requireNotBegun(String action) {
    if (bodyStream != null || isSent)
      throw new IllegalStateException(action + " comes too late: the response has begun; do this first");
  }

  @Override
  public boolean needsContinue() {
    return needsContinue;
  }

  @Override
  public void sendContinue() throws IOException {
    if (!needsContinue) return;
    needsContinue = false;
    if (!isSent) write(CONTINUE, CONTINUE.length);
  }

  /** Sets the whole body. Until {@link #finish}, the status and the headers may change. */
  void setText(String text) {
    setWhole(text.getBytes(StandardCharsets.UTF_8), PLAIN_TEXT);
  }

  /** Sets the whole body, like {@link #setText}. */
  void setBytes(String type, byte[] body) {
    if (!headers.hasType()) header("Content-Type", type);
    setWhole(body, NOTHING);
  }

  /** Sets the text of a failure rule. If the rule has set a type, the text is the body as it is. */
  void setErrorOfRule(String text) {
    if (headers.hasType()) setText(text);
    else setErrorText(text);
  }

  /** Sets the text of an error as the whole body, in the form that the routes give to errors. */
  void setError(String line) {
    var content = errorContent.apply(code, line);
    if (content == null) setText(line + "\n");
    else {
      header("Content-Type", content.mediaType()); // also in place of the type that the handler has set
      setWhole(content.text().getBytes(StandardCharsets.UTF_8), NOTHING);
    }
  }

  private void setWhole(byte[] body, byte[] typeLine) {
    if (isSent) throw new IllegalStateException("the response was sent already, and a request has only one");
    this.wholeBody = body;
    this.typeLine = typeLine;
  }

  private void writeWhole(byte[] body, byte[] typeLine) throws IOException {
    if (isSent) throw new IllegalStateException("the response was sent already, and a request has only one");
    boolean needsType = !headers.hasType() && HttpStatus.mayHaveBody(code);
    var message = head(Framing.LENGTH, body.length, needsType ? typeLine : NOTHING);
    if (hasBody()) message.add(body);
    isComplete = true;
    write(message.bytes, message.length);
  }

  /**
   * Discards the body that the handler has returned, or the part that it has written. Called only
   * before the response is sent.
   */
  void discard() {
    if (bodyStream != null) bodyStream.forbidWriting();
    bodyStream = null;
    wholeBody = null;
  }

  /**
   * Sets the status, and replaces the headers of the handler by headers of the server. The headers
   * that code around the route has set stay.
   */
  void reset(int code, String... headers) {
    this.code = code;
    this.headers.replace(headers);
    declaredLength = -1;
  }

  /**
   * Sends a response of the server itself, with the headers that code around the route has set, but
   * without the headers of the handler.
   */
  void writeError(int code, String text, String... headers) throws IOException {
    setServerError(code, text, headers);
    finish();
  }

  /** Sets a response as {@link #writeError} sends it. Code around the route may still change it. */
  public void setServerError(int code, String text, String... headers) {
    reset(code, headers);
    setErrorText(text);
  }

  /** Sends the response of an HttpException, with the headers of the handler. */
  void writeHandlerError(int code, String text) throws IOException {
    this.code = code;
    declaredLength = -1;
    setErrorText(text);
    finish();
  }

  /** Sets the text in the form that the routes give to errors. A status below 400 is no error. */
  private void setErrorText(String text) {
    if (code >= 400) setError(text.endsWith("\n") ? text.substring(0, text.length() - 1) : text);
    else setText(text.isEmpty() || text.endsWith("\n") ? text : text + "\n");
  }

  /**
   * Sets the function that makes the content of an error from its status and text. The function
   * returns null for a plain text.
   */
  void setErrorContent(BiFunction<Integer, String, ErrorBody.Content> errorContent) {
    this.errorContent = errorContent;
  }

  /** Sends the head of a response that ends when the connection ends. */
  void beginUntilClose(String type) throws IOException {
    header("Content-Type", type);
    header("Cache-Control", "no-cache");
    keepsAlive = false;
    isComplete = true;
    var head = head(Framing.CLOSE, -1);
    write(head.bytes, head.length);
  }

  /** Sends the response 101, after which the bytes of the connection are no longer HTTP. */
  public void upgrade(List<String> upgradeHeaders) throws IOException {
    requireNotBegun("an upgrade");
    code = 101;
    keepsAlive = false;
    isComplete = true;
    var head = new ByteBuilder(256);
    head.add("HTTP/1.1 101 Switching Protocols\r\n");
    ResponseHeaders.append(upgradeHeaders, head);
    headers.appendTo(head);
    head.add('\r', '\n');
    write(head.bytes, head.length);
    isUpgraded = true;
    onUpgraded.run();
  }

  /**
   * Sets the action that runs at an upgrade. The action reports the exchange as ended, because the
   * WebSocket may last for hours.
   */
  void onUpgraded(Runnable action) {
    onUpgraded = action;
  }

  boolean isUpgraded() {
    return isUpgraded;
  }

  public OutputStream outputStream() {
    if (isSent && bodyStream == null) throw new IllegalStateException("the response was sent already");
    if (bodyStream == null) bodyStream = new ResponseBody(this, declaredLength);
    return bodyStream;
  }

  /** Sends the rest of the response, if there is any. */
  void finish() throws IOException {
    var body = wholeBody;
    wholeBody = null;
    if (body != null) writeWhole(body, typeLine);
    else if (!isComplete) outputStream().close();
  }

  boolean hasBody() {
    return !isHeadRequest && HttpStatus.mayHaveBody(code);
  }

  @Override
  public Framing chooseFraming(long length) {
    if (!hasBody()) return Framing.NONE;
    if (declaredLength >= 0 || length >= 0) return Framing.LENGTH;
    if (isHttp11) return Framing.CHUNKS;
    keepsAlive = false;
    return Framing.CLOSE;
  }

  @Override
  public ByteBuilder head(Framing framing, long length) {
    return head(framing, length, NOTHING);
  }

  private ByteBuilder head(Framing framing, long length, byte[] typeLine) {
    if (requestBody == null || !requestBody.mayRequestFollow()) keepsAlive = false;
    var head = new ByteBuilder(192 + (int) Math.min(Math.max(length, 0), 8_192));
    head.add(HttpStatus.statusLine(code));
    if (!headers.hasDate()) head.add(dateLine());
    headers.appendTo(head);
    head.add(typeLine);
    long contentLength = HttpStatus.contentLength(code, length);
    if (framing == Framing.CHUNKS) head.add(CHUNKED);
    else if (contentLength >= 0) {
      head.add(CONTENT_LENGTH);
      head.add(Long.toString(contentLength));
      head.add('\r', '\n');
    }
    if (!keepsAlive) head.add(CLOSE);
    else if (!isHttp11) head.add(KEEP_ALIVE);
    head.add('\r', '\n');
    return head;
  }

  @Override
  public void complete(boolean isWhole) {
    if (isWhole) isComplete = true;
    else keepsAlive = false;
  }

  @Override
  public void write(byte[] bytes, int length) throws IOException {
    if (failure != null) throw failure;
    if (bytes != CONTINUE) isSent = true;
    if (permit != null) permit.suspend();
    try {
      out.write(bytes, 0, length);
      this.bytesSent += length;
    } catch (IOException disconnected) {
      failure = disconnected;
      keepsAlive = false;
      throw disconnected;
    } finally {
      if (permit != null) permit.resume();
    }
  }

  /** Called when the exchange is over. Makes all further writes fail. */
  void end() {
    if (bodyStream != null) bodyStream.forbidWriting();
    isSent = true;
  }

  /** Returns whether a status was set, or the body has begun. */
  boolean isBegun() {
    return isStatusSet || bodyStream != null || wholeBody != null || isSent;
  }

  int code() {
    return code;
  }

  long bytesSent() {
    return bytesSent;
  }

  boolean isSent() {
    return isSent;
  }

  /** Returns whether a client would mistake a close now for the end of a complete response. */
  boolean endsWithConnection() {
    return isSent && !isComplete && !isHttp11 && declaredLength < 0;
  }

  boolean isBroken() {
    return failure != null;
  }

  boolean keepsAlive() {
    return keepsAlive && isComplete;
  }

  /** Gives the permit back, because the response is ready or the exchange may last for hours. */
  public void releasePermit() {
    if (permit != null) permit.release();
  }

  void closeConnectionAfter() {
    keepsAlive = false;
  }

  static String date(Instant time) {
    return DATE.format(time);
  }

  private static byte[] dateLine() {
    long second = System.currentTimeMillis() / 1_000;
    var current = dateLine;
    if (current.second != second) {
      var line = ByteBuilder.latin1Bytes("Date: " + date(Instant.ofEpochSecond(second)) + "\r\n");
      dateLine = current = new DateLine(second, line);
    }
    return current.line;
  }
}
