package io.fibry.net;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.text.Lines;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import javax.net.ssl.SSLSession;

/** An exchange that is handled now. */
final class ServerExchange implements HttpExchange {

  /** Where failures of handlers go. */
  interface HandlerFailureLog {
    /** Returns the number of the failure. */
    String log(Throwable failure, HttpExchange exchange, String answered);
  }

  final ActorBuilder<Object> builder;
  final ClientSocket socket;
  final RequestHead head;
  final RequestBody body;
  final ServerResponse response;
  final HandlerFailureLog failures;
  private final Optional<BodyCodec> bodies;
  private final RoutePattern pattern;
  private byte[] bytes; // null: not read yet
  private Map<String, String> parts; // parts of the path, or null until the handler asks for them
  private String returns; // the returned text, or null while out() is allowed
  private ClientOutbox<String> events; // null: not asked for

  ServerExchange(ActorBuilder<Object> builder, ClientSocket socket, RequestHead head, RequestBody body,
      ServerResponse answer, RoutePattern pattern, Optional<BodyCodec> bodies, HandlerFailureLog failures) {
    this.pattern = pattern;
    this.bodies = bodies;
    this.builder = builder;
    this.socket = socket;
    this.head = head;
    this.body = body;
    this.response = answer;
    this.failures = failures;
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
  public String path(String name) {
    if (parts == null) parts = pattern.parts(path());
    var part = parts.get(Objects.requireNonNull(name, "name"));
    if (part == null) throw new IllegalArgumentException("the route '" + pattern + "' has no {" + name + "}");
    return part;
  }

  @Override
  public InetSocketAddress remoteAddress() {
    return socket.remoteAddress();
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
    return read().clone();
  }

  private byte[] read() {
    if (bytes != null) return bytes;
    try {
      return bytes = body.readAllBytes();
    } catch (IOException bad) {
      throw new UncheckedIOException(bad);
    }
  }

  @Override
  public String bodyAsText() {
    return new String(read(), StandardCharsets.UTF_8);
  }

  @Override
  public Map<String, List<String>> form() {
    checkType("application/x-www-form-urlencoded");
    try {
      var form = new UrlEncodedFields(new String(read(), StandardCharsets.ISO_8859_1)); // it decodes bytes
      int most = body.options.maxFields;
      if (form.hasMoreThan(most)) throw refused(413, "a form of more than " + most + " fields");
      return form.all();
    } catch (IllegalArgumentException malformed) {
      throw refused(400, "the body has " + Lines.message(malformed));
    }
  }

  @Override
  public <T> T bodyAs(Class<T> type) {
    var form = bodies.orElseThrow(() -> new IllegalStateException(
        "nothing says how the body of " + this + " becomes an object; call withBodyCodec(..) of the routes"));
    checkType(form.mediaType());
    var read = read();
    try {
      return Objects.requireNonNull(form.read(read, Objects.requireNonNull(type, "type")), "the object of a body");
    } catch (Exception malformed) {
      throw refused(400, "the body is no " + type.getSimpleName());
    }
  }

  /** A body without a type is taken for one of this. */
  private void checkType(String type) {
    var given = header("Content-Type").map(ServerExchange::withoutParameters);
    if (given.isPresent() && !given.get().equalsIgnoreCase(withoutParameters(type)))
      throw refused(415, "the body is of type " + Lines.line(given.get()) + " instead of " + type);
  }

  private static String withoutParameters(String type) {
    int semicolon = type.indexOf(';');
    return (semicolon < 0 ? type : type.substring(0, semicolon)).strip();
  }

  private static HttpException refused(int code, String why) {
    return new HttpException(code, HttpStatus.text(code) + ": " + why);
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
      if (events == null) {
        events = ServerSentEvents.open(builder, socket, response);
        socket.stopTracking(); // the handler may wait here for the client's end
      }
    } catch (IOException gone) {
      throw new UncheckedIOException(gone);
    }
    return events.actor;
  }

  private void checkMayWrite(String what) {
    if (returns != null) throw new IllegalStateException(
        what + " on a route that answers with " + returns + " its handler returns; make " + this
            + " a stream(..) route");
  }

  /** Its handler must not write. */
  void returnOnly(String what) {
    returns = what;
  }

  /**
   * The user's code has returned, so the exchange is not at work: a client that has the answer and
   * asks again must not be refused. A stray interrupt would close the socket at the next write; a
   * kill closes it first.
   */
  void endHandling() {
    if (response.permit != null) response.permit.leave();
    if (Thread.currentThread().isVirtual()) Thread.interrupted();
  }

  void finish() throws IOException {
    endHandling();
    if (events != null) events.finish();
    response.finish();
  }

  void end() {
    if (events != null) events.finish();
    response.end();
  }

  @Override
  public String toString() {
    return Lines.line(method() + " " + path());
  }
}
