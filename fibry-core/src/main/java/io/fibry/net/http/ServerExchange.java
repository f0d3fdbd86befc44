package io.fibry.net.http;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.net.HttpException;
import io.fibry.net.HttpExchange;
import io.fibry.net.socket.ClientOutbox;
import io.fibry.net.socket.ClientSocket;
import io.fibry.net.socket.CurrentStep.NamedSubject;
import io.fibry.text.Lines;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import javax.security.auth.x500.X500Principal;

/** The {@link HttpExchange} that is given to a handler. */
public final class ServerExchange implements HttpExchange, NamedSubject {

  /** Logs the failures of handlers, and clients that were refused or cut off. */
  public interface HandlerFailureLog {
    /**
     * Logs a failure, with the exchange's {@link #failureNumber}.
     *
     * @param outcome ends the sentence "the failure was answered ..", for example with "500"
     */
    void log(Throwable failure, ServerExchange exchange, String outcome);

    /**
     * Logs that a WebSocket was refused because of its Origin header, at most once a minute.
     *
     * @param remedy says which options would allow the origin
     */
    void logForeignOrigin(ServerExchange exchange, String remedy);

    /** Logs that a client was cut off because it exceeded a limit. */
    void logCutOff(Throwable failure);
  }

  public final ActorBuilder<Object> builder;
  public final ClientSocket socket;
  public final RequestHead head;
  public final RequestBody body;
  public final ServerResponse response;
  public final HandlerFailureLog failureLog;
  final RoutePattern pattern;
  final RouteSettings settings; // of the route, and of all routes
  private Map<Class<?>, Object> attributes = Map.of(); // by type; immutable until the first is set
  private TrustedProxies.Origin origin; // the sender of the request; null until needed
  private byte[] bodyBytes; // null until the handler reads the whole body
  // parts of the path by their names in the route's braces; null until the first call of path(name)
  private Map<String, String> pathParts;
  // the result that the handler must return, such as "the text"; null if the handler writes the
  // response itself
  private String requiredResult;
  private String failureNumber; // null until needed
  boolean isFailureLogged; // with the number; set by the log's writer, read by the access log
  private boolean hasDisconnectAction; // whether the handler has called onDisconnect
  private boolean isTimeLimitPassed; // whether the handler took longer than the time limit of its route
  private ClientOutbox<String> eventOutbox; // null until the handler calls eventActor()

  ServerExchange(ActorBuilder<Object> builder, ClientSocket socket, RequestHead head, RequestBody body,
      ServerResponse response, RoutePattern pattern, RouteSettings settings,
      HandlerFailureLog failureLog) {
    this.pattern = pattern;
    this.settings = settings;
    this.builder = builder;
    this.socket = socket;
    this.head = head;
    this.body = body;
    this.response = response;
    this.failureLog = failureLog;
    response.exchange = this; // the access log reads its attributes
  }

  @Override
  public String method() {
    return head.method;
  }

  @Override
  public String path() {
    return head.target.path();
  }

  @Override
  public String typeName() {
    return pattern.text();
  }

  /** Returns the path pattern of the route, such as {@code /rooms/{room}}. */
  public String route() {
    return pattern.path();
  }

  @Override
  public String path(String name) {
    if (pathParts == null) pathParts = pattern.parts(path());
    var part = pathParts.get(Objects.requireNonNull(name, "name"));
    if (part == null) throw new IllegalArgumentException("the route '" + pattern + "' has no {" + name + "}");
    return part;
  }

  @Override
  public InetSocketAddress remoteAddress() {
    return origin().address();
  }

  @Override
  public String scheme() {
    return origin().scheme();
  }

  private TrustedProxies.Origin origin() {
    if (origin == null) origin = body.settings.originOf(socket.remoteAddress(), head::header);
    return origin;
  }

  @Override
  public Optional<SSLSession> tls() {
    return socket.tls();
  }

  @Override
  public Optional<String> queryParameter(String name) {
    return Optional.ofNullable(head.target.query().first(Objects.requireNonNull(name, "name")));
  }

  @Override
  public Map<String, List<String>> queryParameters() {
    return head.target.query().all();
  }

  @Override
  public Optional<String> header(String name) {
    return Optional.ofNullable(head.header(Objects.requireNonNull(name, "name").toLowerCase(Locale.ROOT)));
  }

  @Override
  public Map<String, List<String>> headers() {
    return head.headers();
  }

  @Override
  public InputStream body() {
    return body;
  }

  @Override
  public byte[] bodyAsBytes() {
    return wholeBody().clone();
  }

  private byte[] wholeBody() {
    if (bodyBytes != null) return bodyBytes;
    try {
      return bodyBytes = body.readAllBytes();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  @Override
  public String bodyAsText() {
    return new String(wholeBody(), StandardCharsets.UTF_8);
  }

  @Override
  public Map<String, List<String>> form() {
    checkType("application/x-www-form-urlencoded");
    try {
      var form = new UrlEncodedFields(new String(wholeBody(), StandardCharsets.ISO_8859_1)); // one char per byte
      int maxFields = body.settings.maxFields();
      if (form.hasMoreThan(maxFields)) throw refused(413, "a form of more than " + maxFields + " fields");
      return form.all();
    } catch (IllegalArgumentException malformed) {
      throw refused(400, "the body has " + Lines.message(malformed));
    }
  }

  @Override
  public <T> T bodyAs(Class<T> type) {
    var codec = settings.bodyCodec().orElseThrow(() -> new IllegalStateException(
        "no codec converts the body of " + this + " to an object; call withBodyCodec(..) of the routes"));
    checkType(codec.mediaType());
    var content = wholeBody();
    try {
      return Objects.requireNonNull(codec.read(content, Objects.requireNonNull(type, "type")), "the object of a body");
    } catch (HttpException refusal) {
      throw refusal;
    } catch (Exception failure) {
      throw new IllegalStateException("the body codec cannot read a " + type.getSimpleName() + " for " + this
          + "; if the client has sent a wrong body, let the codec throw an HttpException", failure);
    }
  }

  /** Throws if the body has another type. A body without a type is accepted. */
  private void checkType(String type) {
    var actualType = header("Content-Type").map(ServerExchange::withoutParameters);
    if (actualType.isPresent() && !actualType.get().equalsIgnoreCase(withoutParameters(type)))
      throw refused(415, "the body is of type " + Lines.line(actualType.get()) + " instead of " + type);
  }

  private static String withoutParameters(String type) {
    int semicolon = type.indexOf(';');
    return (semicolon < 0 ? type : type.substring(0, semicolon)).strip();
  }

  private static HttpException refused(int code, String reason) {
    return new HttpException(code, HttpStatus.codeAndReason(code) + ": " + reason);
  }

  @Override
  public <T> HttpExchange attribute(Class<T> type, T value) {
    Objects.requireNonNull(type, "type");
    if (attributes.isEmpty()) attributes = new HashMap<>();
    attributes.put(type, type.cast(Objects.requireNonNull(value, "value")));
    return this;
  }

  @Override
  public <T> Optional<T> attribute(Class<T> type) {
    Object attached = attributes.get(Objects.requireNonNull(type, "type"));
    if (attached == null && type == X500Principal.class) attached = clientSubject();
    return Optional.ofNullable(type.cast(attached));
  }

  /** Returns the subject of the client's verified certificate, or null if there is none. */
  private X500Principal clientSubject() {
    try {
      var session = tls();
      return session.isPresent() && session.get().getPeerPrincipal() instanceof X500Principal subject ? subject : null;
    } catch (SSLPeerUnverifiedException withoutCertificate) {
      return null;
    }
  }

  @Override
  public HttpExchange onDisconnect(Runnable action) {
    Objects.requireNonNull(action, "action");
    if (!body.isFullyRead()) throw new IllegalStateException("a disconnect of the client of " + this
        + " cannot be noticed before its body was read; read the whole body first");
    if (hasDisconnectAction)
      throw new IllegalStateException(this + " has an action for a disconnect already; let one action do all");
    hasDisconnectAction = true;
    socket.notices.onDisconnect(() -> {
      try {
        action.run();
      } catch (Throwable failure) {
        failureLog.log(failure, this, "not at all, because the client has disconnected and this action failed");
      }
    });
    return this;
  }

  @Override
  public HttpExchange status(int code) {
    response.status(code);
    return this;
  }

  @Override
  public HttpExchange header(String name, String value) {
    response.header(Objects.requireNonNull(name, "name"), Objects.requireNonNull(value, "value"));
    return this;
  }

  @Override
  public OutputStream outputStream() {
    checkMayWrite("outputStream()");
    return response.outputStream();
  }

  @Override
  public Actor<String> eventActor() {
    checkMayWrite("eventActor()");
    try {
      if (eventOutbox == null) {
        eventOutbox = ServerSentEvents.open(builder, socket, response);
        socket.stopTracking(); // the handler may wait until the client disconnects
        endTimeLimit();
      }
    } catch (IOException disconnected) {
      throw new UncheckedIOException(disconnected);
    }
    return eventOutbox.actor;
  }

  private void checkMayWrite(String method) {
    if (requiredResult != null) throw new IllegalStateException(
        method + " cannot be used on a route that responds with " + requiredResult + " its handler returns; make "
            + this + " a stream(..) route");
  }

  /**
   * Called before a handler that returns the response. Makes attempts to write the response fail.
   *
   * @param result the handler's result as the exceptions name it, such as "the text"
   */
  void forbidWriting(String result) {
    requiredResult = result;
  }

  /**
   * Called when the user's code has returned. Gives the permit back before the response is
   * complete, so that the client's next request is not refused for lack of a permit.
   */
  public void endHandling() {
    response.releasePermit();
    if (hasDisconnectAction) socket.notices.forgetDisconnect(); // before the client may get the response and disconnect
    endTimeLimit();
    clearInterrupt();
  }

  /** Begins the time limit of the route, if it has one. */
  void beginTimeLimit() {
    settings.timeLimit().ifPresent(socket.notices::limitHandling);
  }

  /** Ends the time limit, if there is one. */
  public void endTimeLimit() {
    if (settings.timeLimit().isPresent() && socket.notices.endLimit()) isTimeLimitPassed = true;
  }

  boolean isTimeLimitPassed() {
    return isTimeLimitPassed;
  }

  /**
   * Clears an interrupt on a virtual thread, where it would close the socket at the next write.
   * This loses no kill, because a kill has closed the socket already.
   */
  static void clearInterrupt() {
    if (Thread.currentThread().isVirtual()) Thread.interrupted();
  }

  /** Returns the number of the failure of this exchange; empty if the log does not have it. */
  Optional<String> loggedFailureNumber() {
    return isFailureLogged ? Optional.of(failureNumber) : Optional.empty();
  }

  /** Returns the number by which a failure of this exchange can be found in the log. */
  public String failureNumber() {
    if (failureNumber == null) failureNumber = HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextInt());
    return failureNumber;
  }

  /** Called when the handler has returned. Sends the rest of the response. */
  void finish() throws IOException {
    endHandling();
    if (eventOutbox != null) eventOutbox.finish();
    response.finish();
  }

  /** Called at the end of each exchange, even if it has failed. Makes all further writes fail. */
  void end() {
    if (eventOutbox != null) eventOutbox.finish();
    response.end();
  }

  @Override
  public String toString() {
    return Lines.line(method() + " " + path());
  }
}
