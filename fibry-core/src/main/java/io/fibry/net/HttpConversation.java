package io.fibry.net;

import io.fibry.ActorBuilder;
import io.fibry.ActorStoppedException;
import io.fibry.AskTimeoutException;
import io.fibry.CircuitOpenException;
import io.fibry.MailboxFullException;
import io.fibry.Outcome;
import io.fibry.RequestException;
import io.fibry.block.Throwables;
import io.fibry.net.HttpStatus.RequestRefusedException;
import java.io.EOFException;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CancellationException;

/** Requests and answers in turn. Belongs to the client's actor. */
record HttpConversation(HttpConversation.Server server, HttpRoutes routes, HttpOptions options, ClientSocket socket,
    ClientInput in, ClientOutput out, ActorBuilder<Object> builder)
    implements Listener.Conversation {

  interface Server extends ServerExchange.HandlerFailureLog {
    /** Returns null if too many exchanges run. */
    ExchangePermit permit();

    /**
     * An exchange is over, or became a WebSocket.
     *
     * @param head null: it was malformed
     * @param route null: none
     */
    void note(RequestHead head, HttpRoutes.RouteEntry route, ServerResponse answer, ClientSocket client, long begun);

    /** A WebSocket of this route is over. */
    void noteEnd(HttpRoutes.RouteEntry route);
  }

  private static final Duration LINGER = Duration.ofSeconds(1);
  private static final int MAX_LINGERED = 1 << 20; // bytes

  @Override
  public void converse() throws IOException {
    socket.step.beginUncounted(null); // until the first exchange
    try {
      while (exchange()) {
      }
    } catch (EOFException withinHead) {} finally {
      in.drop();
    }
  }

  /** Whether another may follow. */
  private boolean exchange() throws IOException {
    socket.limitEachRead(options.idleLimit);
    int first = awaitRequest();
    if (first < 0) return false;
    long begun = System.nanoTime();
    socket.listenerEnd.beginHead();
    socket.limitAllReads(options.headerLimit);
    RequestHead head;
    try {
      head = RequestHead.read(first, in, options);
      socket.listenerEnd.endHead();
    } catch (RequestRefusedException refusal) {
      var answer = new ServerResponse(out, true, false, false, false);
      refuse(answer, refusal.code);
      server.note(null, null, answer, socket, begun);
      linger();
      return false;
    }
    var answer =
        new ServerResponse(out, head.http11, head.method.equals("HEAD"), head.keepsAlive, head.expectsContinue);
    var body = answer.to(new RequestBody(in, head, options, answer));
    var entry = routes.find(head.method, head.target.path());
    answer.whenUpgraded(() -> server.note(head, entry, answer, socket, begun));
    try {
      answer(entry, head, body, answer);
    } finally {
      if (answer.isUpgraded()) server.noteEnd(entry);
      else server.note(head, entry, answer, socket, begun);
    }
    if (answer.keepsAlive() && readRest(body)) return true;
    body.forbid();
    if (!body.isRead() || hasMore()) linger();
    return false;
  }

  /** {@code entry}: null where no route takes it. */
  private void answer(HttpRoutes.RouteEntry entry, RequestHead head, RequestBody body, ServerResponse answer)
      throws IOException {
    var permit = entry == null ? null : server.permit();
    if (entry == null) refuse(answer, head, routes.allowed(head.target.path()));
    else if (permit == null) {
      answer.closes();
      refuse(answer, 503);
    } else {
      in.permit = permit;
      answer.permit = permit;
      try {
        answer(entry, new ServerExchange(builder, socket, head, body, answer, entry.pattern(), routes.bodies, server),
            answer, body);
      } finally {
        permit.leave();
      }
    }
  }

  private void answer(HttpRoutes.RouteEntry entry, ServerExchange exchange, ServerResponse answer, RequestBody body)
      throws IOException {
    socket.step.begin(exchange);
    try {
      handle(entry.route(), exchange, answer, body);
      socket.step.end();
    } catch (Throwable failure) {
      if (socket.isClientFault(failure)) socket.step.end();
      else socket.step.fail(); // the conversation counts as failed
      throw failure;
    } finally {
      exchange.end();
    }
  }

  /** In that case a close would be a reset, and destroy the answer. */
  private boolean hasMore() {
    try {
      return in.hasUnread();
    } catch (IOException gone) {
      return false;
    }
  }

  private static boolean readRest(RequestBody body) throws IOException {
    try {
      return body.readRest();
    } catch (RequestRefusedException malformed) {
      return false; // where the next request begins is unknown
    }
  }

  /** Returns the first byte, or -1 if no request comes, which is no failure. */
  private int awaitRequest() throws IOException {
    try {
      return socket.listenerEnd.beginIdle() ? in.read() : -1;
    } catch (IOException ended) {
      if (socket.isClientFault(ended)) return -1;
      throw ended;
    } finally {
      socket.listenerEnd.endIdle();
    }
  }

  private void handle(HttpRoutes.RouteHandler route, ServerExchange exchange, ServerResponse answer, RequestBody body)
      throws IOException {
    try {
      route.answer(exchange);
      exchange.finish();
    } catch (Throwable failure) {
      exchange.endHandling();
      fail(failure, exchange, answer, body);
    }
  }

  private void fail(Throwable failure, ServerExchange exchange, ServerResponse answer, RequestBody body)
      throws IOException {
    if (socket.isHandlerKilled()) { // no answer is sent, and the exchange has failed
      if (answer.endsWithConnection()) socket.reset(socket + " was cut off, for its answer broke off");
      // the handler continued, and its response met the closed socket
      if (socket.isClientFault(failure)) throw new IOException("the server ended before the response was sent");
      throw Throwables.<IOException>as(failure);
    }
    if (answer.isBroken() || socket.isClosed()) {
      answer.closes();
      if (!socket.isClientFault(failure)
          && !(failure instanceof InterruptedException || failure instanceof CancellationException))
        server.log(failure, exchange, "nobody, for the client was gone");
    } else if (body.failure() != null) { // the handler passed it on
      answer.closes();
      if (answer.isSent() || !(body.failure() instanceof RequestRefusedException refusal)) socket.close();
      else refuse(answer, refusal.code);
    } else if (answer.isSent()) {
      server.log(failure, exchange, "by closing: the answer had begun");
      answer.closes();
      if (answer.endsWithConnection()) socket.reset(socket + " was cut off, for its answer broke off");
      socket.close();
    } else refuse(answer, failure, exchange);
    if (failure instanceof VirtualMachineError error && !(failure instanceof StackOverflowError)) {
      socket.close();
      throw error;
    }
  }

  private void refuse(ServerResponse answer, Throwable failure, ServerExchange exchange) throws IOException {
    Optional<String> text;
    answer.withdraw();
    try {
      text = routes.answerTo(failure, exchange);
    } catch (Exception unanswerable) { // by a rule
      unanswerable.addSuppressed(failure);
      refuseByKind(answer, unanswerable, exchange);
      return;
    }
    if (text.isPresent()) answer.text(text.get());
    else if (failure instanceof HttpException told) answer.told(told.status(), told.getMessage());
    else refuseByKind(answer, failure, exchange);
  }

  private void refuseByKind(ServerResponse answer, Throwable failure, ServerExchange exchange) throws IOException {
    switch (Throwables.refusalIn(failure)) {
      case MailboxFullException full -> refuse(answer, 503);
      case ActorStoppedException stopped -> refuse(answer, 503);
      case CircuitOpenException open -> refuse(answer, 503);
      case AskTimeoutException late -> refuse(answer, 504);
      case RequestException failed when failed.outcome() == Outcome.WILL_BE_DONE -> refuse(answer, 504);
      case RequestRefusedException refusal -> refuse(answer, refusal.code); // by a file route
      default -> answer.refuse(500, "Internal server error " + server.log(failure, exchange, "500") + "\n");
    }
  }

  private static void refuse(ServerResponse answer, RequestHead head, String allowed) throws IOException {
    if (allowed.isEmpty()) refuse(answer, 404);
    else if (head.method.equals("OPTIONS")) answer.refuse(204, "", "Allow", allowed);
    else answer.refuse(405, HttpStatus.text(405) + "\n", "Allow", allowed);
  }

  private static void refuse(ServerResponse answer, int code) throws IOException {
    var text = HttpStatus.text(code) + "\n";
    switch (code) {
      case 503 -> answer.refuse(code, text, "Retry-After", "1");
      case 405 -> answer.refuse(code, text, "Allow", "GET, HEAD, POST, PUT, DELETE, PATCH, OPTIONS");
      default -> answer.refuse(code, text);
    }
  }

  /** Reads on: a close while the client sends would destroy the answer. */
  private void linger() {
    if (socket.isClosed()) return;
    try {
      socket.endOutput();
      socket.limitAllReads(LINGER);
      var ignored = new byte[ClientInput.LARGE];
      for (int some, all = 0; all < MAX_LINGERED && (some = in.read(ignored, 0, ignored.length)) >= 0;) all += some;
    } catch (IOException longEnough) {}
  }

  @Override
  public String toString() {
    return socket.toString();
  }
}
