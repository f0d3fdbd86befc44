package io.fibry.net;

import io.fibry.ActorBuilder;
import io.fibry.ActorStoppedException;
import io.fibry.AskTimeoutException;
import io.fibry.MailboxFullException;
import io.fibry.net.HttpStatus.Refusal;
import java.io.EOFException;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CancellationException;

/**
 * What is said on one connection: requests and answers in turn, until one side has enough. Belongs
 * to the connection's actor.
 */
final class HttpConversation implements Listener.Conversation, OpenExchange.Connection {

  /** What it needs of its server. */
  interface Server {
    HttpRoutes routes();

    HttpOptions options();

    /** Null: no more may be at work. */
    ExchangePermit enter();

    /** Logs what a handler threw; answers the number that the client is told. */
    String log(Throwable failure, Exchange exchange, String answered);
  }

  // so long a refused client may go on sending, and see why
  private static final Duration LINGER = Duration.ofSeconds(1);
  private static final int MOST_LINGERED = 1 << 20;

  private final Server server;
  private final HttpOptions options;
  private final ClientSocket socket;
  private final ClientInput in;
  private final ClientOutput out;
  private final ActorBuilder<Object> how; // named after the client

  HttpConversation(Server server, ClientSocket socket, ActorBuilder<Object> how) {
    this.server = server;
    this.options = server.options();
    this.socket = socket;
    this.in = new ClientInput(socket);
    this.out = new ClientOutput(socket);
    this.how = how;
  }

  /** Until the client or the server ends it. */
  @Override
  public void converse() throws IOException {
    try {
      while (exchange()) {
      }
    } catch (EOFException gone) {
      // in the middle of a head: there is nobody to be told
    } finally {
      in.drop();
    }
  }

  /** One request, one answer; whether another may follow. */
  private boolean exchange() throws IOException {
    socket.readIdle(options.idleLimit);
    int first = first();
    if (first < 0) return false;
    socket.readWithin(options.headerLimit);
    RequestHead head;
    try {
      head = RequestHead.read(first, in, options);
    } catch (Refusal refused) {
      var answer = new HttpAnswer(out, true, false, false, false);
      refuse(answer, refused.code);
      linger();
      return false;
    }
    var answer =
        new HttpAnswer(out, head.http11, head.method.equals("HEAD"), head.keepsAlive, head.expectsContinue);
    var body = answer.to(new RequestBody(in, head, options, answer));
    var route = server.routes().find(head.target.path());
    var exchange = new OpenExchange(this, head, body, answer);
    var permit = route == null ? null : server.enter();
    if (route == null) refuse(answer, 404);
    else if (permit == null) {
      answer.closes();
      refuse(answer, 503);
    } else {
      in.permit = permit;
      answer.permit = permit;
      try {
        handle(route, exchange, answer, body);
      } finally {
        permit.leave();
        exchange.end();
      }
    }
    if (answer.keeps() && readAway(body)) return true;
    body.forbid();
    if (!body.isRead() || hasMore()) linger();
    return false;
  }

  /**
   * Whether something came that nobody will read: a close would then be a reset, and take the
   * answer with it.
   */
  private boolean hasMore() {
    try {
      return in.available() > 0;
    } catch (IOException gone) {
      return false;
    }
  }

  private static boolean readAway(RequestBody body) throws IOException {
    try {
      return body.end();
    } catch (Refusal malformed) {
      // nobody wanted it, and nobody can tell where the next request begins
      return false;
    }
  }

  /** The first byte of the next request; -1: none comes. To end here is no fault of anybody. */
  private int first() throws IOException {
    try {
      return socket.rest() ? in.read() : -1;
    } catch (IOException ended) {
      if (socket.explains(ended)) return -1;
      throw ended;
    } finally {
      socket.wake();
    }
  }

  private void handle(HttpRoutes.Route route, OpenExchange exchange, HttpAnswer answer, RequestBody body)
      throws IOException {
    try {
      route.answer(exchange);
      exchange.finish();
    } catch (Throwable failure) {
      fail(failure, exchange, answer, body);
    }
  }

  /** The handler, or what it called, threw. */
  private void fail(Throwable failure, OpenExchange exchange, HttpAnswer answer, RequestBody body) throws IOException {
    exchange.handled();
    // by the client, by a limit, or by the end of the server: nobody is there to be told
    if (answer.isBroken() || socket.isClosed()) {
      answer.closes();
      if (!socket.explains(failure)
          && !(failure instanceof InterruptedException || failure instanceof CancellationException))
        server.log(failure, exchange, "nobody, for the client was gone");
    } else if (body.failure() != null) {
      // a body that was not fit to be read: the client is told, and the handler has only passed it
      // on
      answer.closes();
      if (answer.isSent() || !(body.failure() instanceof Refusal refused)) socket.close();
      else refuse(answer, refused.code);
    } else if (answer.isSent()) {
      server.log(failure, exchange, "by closing: the answer had begun");
      answer.closes();
      if (answer.endsWithTheConnection()) socket.tear(socket + " was cut off, for its answer broke off");
      socket.close();
    } else refuse(answer, failure, exchange);
    if (failure instanceof VirtualMachineError error && !(failure instanceof StackOverflowError)) {
      socket.close();
      throw error;
    }
  }

  private void refuse(HttpAnswer answer, Throwable failure, OpenExchange exchange) throws IOException {
    switch (failure) {
      case MailboxFullException full -> refuse(answer, 503);
      case ActorStoppedException stopped -> refuse(answer, 503);
      case AskTimeoutException late -> refuse(answer, 504);
      case Refusal refused -> refuse(answer, refused.code); // by a file route
      default -> answer.refuse(500, "Internal server error " + server.log(failure, exchange, "500") + "\n");
    }
  }

  private static void refuse(HttpAnswer answer, int code) throws IOException {
    var text = code + " " + HttpStatus.reason(code) + "\n";
    switch (code) {
      case 503 -> answer.refuse(code, text, "Retry-After", "1");
      case 405 -> answer.refuse(code, text, "Allow", "GET, HEAD, POST, PUT, DELETE, PATCH, OPTIONS");
      default -> answer.refuse(code, text);
    }
  }

  /** The client may still be sending: to close now could tear the answer from its hands. */
  private void linger() {
    if (socket.isClosed()) return;
    try {
      socket.endOutput();
      socket.readWithin(LINGER);
      var away = new byte[ClientInput.LARGE];
      for (int some, all = 0; all < MOST_LINGERED && (some = in.read(away, 0, away.length)) >= 0;) all += some;
    } catch (IOException gone) {
      // it has had its chance
    }
  }

  /** The client as an actor. */
  @Override
  public ServerSentEvents events(HttpAnswer answer) throws IOException {
    return new ServerSentEvents(how, socket, answer);
  }

  @Override
  public String toString() {
    return socket.toString();
  }
}
