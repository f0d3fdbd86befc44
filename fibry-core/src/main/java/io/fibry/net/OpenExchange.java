package io.fibry.net;

import io.fibry.Actor;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;

/** The one exchange. */
final class OpenExchange implements Exchange {

  /** What it comes by. */
  interface Connection {
    ServerSentEvents events(HttpAnswer answer) throws IOException;
  }

  private final Connection connection;
  private final RequestHead head;
  private final RequestBody body;
  private final HttpAnswer answer;
  private String text; // of the body; null: not read yet
  private boolean textOnly; // the route answers with a text
  private ServerSentEvents events; // null: none were asked for

  OpenExchange(Connection connection, RequestHead head, RequestBody body, HttpAnswer answer) {
    this.connection = connection;
    this.head = head;
    this.body = body;
    this.answer = answer;
  }

  // ---- the request

  @Override
  public String method() {
    return head.method;
  }

  @Override
  public String path() {
    return head.target.path();
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

  // ---- the answer

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
      if (events == null) events = connection.events(answer);
    } catch (IOException gone) {
      throw new UncheckedIOException(gone);
    }
    return events.actor();
  }

  private void refuseOnText(String what) {
    if (textOnly) throw new IllegalStateException(
        what + " on a route that answers with the text its handler returns; make " + path() + " a stream(..) route");
  }

  // ---- for the engine

  void textOnly() {
    textOnly = true;
  }

  HttpAnswer answer() {
    return answer;
  }

  /**
   * The user's code has returned: the exchange is no longer at work. Its permit is back before the
   * answer is sent, or a client that has the answer and asks again could be refused. A stray
   * interrupt would close the socket at the next write; one by a kill comes after that was closed.
   */
  void handled() {
    if (answer.permit != null) answer.permit.leave();
    if (Thread.currentThread().isVirtual()) Thread.interrupted();
  }

  /** What the handler sent goes out, and nothing more. */
  void finish() throws IOException {
    handled();
    if (events != null) events.finish();
    answer.finish();
  }

  /** Over: whoever kept it can do nothing more with it. What is left of the body is the talk's. */
  void end() {
    if (events != null) events.finish();
    answer.end();
  }
}
