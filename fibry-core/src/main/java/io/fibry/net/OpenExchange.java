package io.fibry.net;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import javax.net.ssl.SSLSession;

/** An exchange that is handled now. */
final class OpenExchange implements Exchange {

  private final ActorBuilder<Object> builder;
  private final ClientSocket socket;
  private final RequestHead head;
  private final RequestBody body;
  final HttpAnswer answer;
  private String text; // null: not read yet
  private boolean textOnly; // out() is refused
  private ClientOutbox<String> events; // null: not asked for

  OpenExchange(ActorBuilder<Object> builder, ClientSocket socket, RequestHead head, RequestBody body,
      HttpAnswer answer) {
    this.builder = builder;
    this.socket = socket;
    this.head = head;
    this.body = body;
    this.answer = answer;
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
  public InetSocketAddress remoteAddress() {
    return socket.remoteAddress();
  }

  @Override
  public Optional<SSLSession> tls() {
    return socket.tls();
  }

  @Override
  public Optional<String> query(String name) {
    return Optional.ofNullable(head.target.parameter(Objects.requireNonNull(name, "name")));
  }

  @Override
  public Optional<String> header(String name) {
    return Optional.ofNullable(head.header(Objects.requireNonNull(name, "name").toLowerCase(Locale.ROOT)));
  }

  @Override
  public InputStream body() {
    return body;
  }

  @Override
  public String text() {
    if (text != null) return text;
    try {
      return text = new String(body.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException bad) {
      throw new UncheckedIOException(bad);
    }
  }

  @Override
  public Exchange status(int code) {
    answer.status(code);
    return this;
  }

  @Override
  public Exchange header(String name, String value) {
    answer.header(Objects.requireNonNull(name, "name"), Objects.requireNonNull(value, "value"));
    return this;
  }

  @Override
  public OutputStream out() {
    refuseOnText("out()");
    return answer.out();
  }

  @Override
  public Actor<String> eventActor() {
    refuseOnText("eventActor()");
    try {
      if (events == null) {
        events = ServerSentEvents.open(builder, socket, answer);
        socket.leavesTurns(); // the handler may wait here for the client's end
      }
    } catch (IOException gone) {
      throw new UncheckedIOException(gone);
    }
    return events.door;
  }

  private void refuseOnText(String what) {
    if (textOnly) throw new IllegalStateException(
        what + " on a route that answers with the text its handler returns; make " + path() + " a stream(..) route");
  }

  void textOnly() {
    textOnly = true;
  }

  /**
   * The user's code has returned, so the exchange is not at work: a client that has the answer and
   * asks again must not be refused. A stray interrupt would close the socket at the next write; a
   * kill closes it first.
   */
  void endHandling() {
    if (answer.permit != null) answer.permit.leave();
    if (Thread.currentThread().isVirtual()) Thread.interrupted();
  }

  void finish() throws IOException {
    endHandling();
    if (events != null) events.finish();
    answer.finish();
  }

  void end() {
    if (events != null) events.finish();
    answer.end();
  }

  @Override
  public String toString() {
    return method() + " " + path();
  }
}
