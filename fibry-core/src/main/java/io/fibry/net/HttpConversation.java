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
    void exchangeEnded(RequestHead head, HttpRoutes.RouteEntry route, ServerResponse response, ClientSocket client,
        long begun);

    /** A WebSocket of this route is over. */
    void webSocketEnded(HttpRoutes.RouteEntry route);
  }

  private static final Duration LINGER = Duration.ofSeconds(1);
  private static final int MAX_LINGERED = 1 << 20; // bytes

  @Override
  public void converse() throws IOException {
    socket.step.beginUncounted(null); // until the first exchange
    try {
      while (handleExchange()) {
      }
    } catch (EOFException withinHead) {} finally {
      in.drop();
    }
  }

  /** Whether another may follow. */
  private boolean handleExchange() throws IOException {
    socket.limitEachRead(options.idleLimit);
    int first = awaitRequest();
    if (first < 0) return false;
    long begun = System.nanoTime();
    socket.shutdown.beginHead();
    socket.limitAllReads(options.headerLimit);
    RequestHead head;
    try {
      head = RequestHead.read(first, in, options);
      socket.shutdown.endHead();
    } catch (RequestRefusedException refusal) {
      var response = new ServerResponse(out, true, false, false, false);
      refuse(response, refusal.code);
      server.exchangeEnded(null, null, response, socket, begun);
      linger();
      return false;
    }
    var response =
        new ServerResponse(out, head.http11, head.method.equals("HEAD"), head.keepsAlive, head.expectsContinue);
    var body = response.forRequest(new RequestBody(in, head, options, response));
    var entry = routes.find(head.method, head.target.path());
    response.onUpgraded(() -> server.exchangeEnded(head, entry, response, socket, begun));
    try {
      respond(entry, head, body, response);
    } finally {
      if (response.isUpgraded()) server.webSocketEnded(entry);
      else server.exchangeEnded(head, entry, response, socket, begun);
    }
    if (response.keepsAlive() && readRest(body)) return true;
    body.forbid();
    if (!body.isRead() || hasMore()) linger();
    return false;
  }

  /** {@code entry}: null where no route takes it. */
  private void respond(HttpRoutes.RouteEntry entry, RequestHead head, RequestBody body, ServerResponse response)
      throws IOException {
    var permit = entry == null ? null : server.permit();
    if (entry == null) refuse(response, head, routes.allowedMethods(head.target.path()));
    else if (permit == null) {
      response.closeAfter();
      refuse(response, 503);
    } else {
      in.permit = permit;
      response.permit = permit;
      try {
        respond(entry,
            new ServerExchange(builder, socket, head, body, response, entry.pattern(), routes.bodies, server),
            response, body);
      } finally {
        permit.leave();
      }
    }
  }

  private void respond(HttpRoutes.RouteEntry entry, ServerExchange exchange, ServerResponse response, RequestBody body)
      throws IOException {
    socket.step.begin(exchange);
    try {
      handle(entry.route(), exchange, response, body);
      socket.step.end();
    } catch (Throwable failure) {
      if (socket.isClientError(failure)) socket.step.end();
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
      return socket.shutdown.beginIdle() ? in.read() : -1;
    } catch (IOException ended) {
      if (socket.isClientError(ended)) return -1;
      throw ended;
    } finally {
      socket.shutdown.endIdle();
    }
  }

  private void handle(HttpRoutes.RouteHandler route, ServerExchange exchange, ServerResponse response, RequestBody body)
      throws IOException {
    try {
      route.answer(exchange);
      exchange.finish();
    } catch (Throwable failure) {
      exchange.endHandling();
      fail(failure, exchange, response, body);
    }
  }

  private void fail(Throwable failure, ServerExchange exchange, ServerResponse response, RequestBody body)
      throws IOException {
    if (socket.isHandlerKilled()) { // no answer is sent, and the exchange has failed
      if (response.endsWithConnection()) socket.reset(socket + " was cut off, for its answer broke off");
      // the handler continued, and its response met the closed socket
      if (socket.isClientError(failure)) throw new IOException("the server ended before the response was sent");
      throw Throwables.<IOException>sneakyThrow(failure);
    }
    if (response.isBroken() || socket.isClosed()) {
      response.closeAfter();
      if (!socket.isClientError(failure)
          && !(failure instanceof InterruptedException || failure instanceof CancellationException))
        server.log(failure, exchange, "nobody, for the client was gone");
    } else if (body.failure() != null) { // the handler passed it on
      response.closeAfter();
      if (response.isSent() || !(body.failure() instanceof RequestRefusedException refusal)) socket.close();
      else refuse(response, refusal.code);
    } else if (response.isSent()) {
      server.log(failure, exchange, "by closing: the answer had begun");
      response.closeAfter();
      if (response.endsWithConnection()) socket.reset(socket + " was cut off, for its answer broke off");
      socket.close();
    } else refuse(response, failure, exchange);
    if (failure instanceof VirtualMachineError error && !(failure instanceof StackOverflowError)) {
      socket.close();
      throw error;
    }
  }

  private void refuse(ServerResponse response, Throwable failure, ServerExchange exchange) throws IOException {
    Optional<String> text;
    response.discard();
    try {
      text = routes.responseTo(failure, exchange);
    } catch (Exception unanswerable) { // by a rule
      unanswerable.addSuppressed(failure);
      refuseByKind(response, unanswerable, exchange);
      return;
    }
    if (text.isPresent()) response.writeText(text.get());
    else if (failure instanceof HttpException told) response.writeHandlerError(told.status(), told.getMessage());
    else refuseByKind(response, failure, exchange);
  }

  private void refuseByKind(ServerResponse response, Throwable failure, ServerExchange exchange) throws IOException {
    switch (Throwables.requestExceptionIn(failure)) {
      case MailboxFullException full -> refuse(response, 503);
      case ActorStoppedException stopped -> refuse(response, 503);
      case CircuitOpenException open -> refuse(response, 503);
      case AskTimeoutException late -> refuse(response, 504);
      case RequestException failed when failed.outcome() == Outcome.WILL_BE_DONE -> refuse(response, 504);
      case RequestRefusedException refusal -> refuse(response, refusal.code); // by a file route
      default -> response.writeError(500, "Internal server error " + server.log(failure, exchange, "500") + "\n");
    }
  }

  private static void refuse(ServerResponse response, RequestHead head, String allowed) throws IOException {
    if (allowed.isEmpty()) refuse(response, 404);
    else if (head.method.equals("OPTIONS")) response.writeError(204, "", "Allow", allowed);
    else response.writeError(405, HttpStatus.text(405) + "\n", "Allow", allowed);
  }

  private static void refuse(ServerResponse response, int code) throws IOException {
    var text = HttpStatus.text(code) + "\n";
    switch (code) {
      case 503 -> response.writeError(code, text, "Retry-After", "1");
      case 405 -> response.writeError(code, text, "Allow", "GET, HEAD, POST, PUT, DELETE, PATCH, OPTIONS");
      default -> response.writeError(code, text);
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
